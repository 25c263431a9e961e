"""Common arithmetic computes the same gradient where it has digits, and loses it later."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import realizable_data

from ntpbook.ours.reach import naive
from ntpcore.data import dataset
from ntpcore.huang2024 import problem, training


@settings(max_examples=60)
@given(realizable_data(), st.integers(0, 2**32 - 1))
def test_the_gradient_is_right_where_no_attention_is_near_one(data, seed):
    assume(any(len(set(sample.sentence)) > 1 for sample in data.samples()))
    one = problem.from_dataset(data)
    weights = np.random.default_rng(seed).normal(size=len(one.entry_token))
    found = naive.gradient(naive.batch(one, np.float64), weights, 2.0)
    expected = training.gradient(one, weights, 2.0)[1]
    assert found / np.linalg.norm(found) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_run_ends_where_the_gradient_is_zero():
    one = problem.from_dataset(dataset.read("examples/example1.txt"))
    record = training.log_grid(3000)
    reached, states = naive.run(one, 3000, 0.025, 50.0, np.float32, record)
    assert states.dtype == np.float32
    assert reached[-1] < 3000
    assert len(reached) == len(states)
    true = training.run(one, 10, 0.025, 50.0, record=[]).state.weights
    assert states[reached.tolist().index(10)] == pytest.approx(true, rel=1e-5)
