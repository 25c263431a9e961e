"""The fast loops take the very steps of the plain one, each from any point where it applies."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from plain_training import plain_direction
from strategies import realizable_data

from ntpcore import exponential
from ntpcore.data import dataset, generate
from ntpcore.huang2024 import problem, stage1, training
from ntpcore.huang2024.fast import kernel as _kernel
from ntpcore.huang2024.fast import loops as _fast
from ntpcore.huang2024.fast import packing as _packing
from ntpcore.huang2024.fast import stepping

EXAMPLE_1 = dataset.read("examples/example1.txt")
NOTHING = (math.inf, 0, 0.0)  # followed so far


def one_step(one, weights, gap: float, eta: float, packed=None) -> np.ndarray:
    """The direction of a step of the first phase, -G / ||G||."""
    packed = _packing.pack(one, gap) if packed is None else packed
    most = int(np.diff(one.start).max())
    moved, room = weights.copy(), np.empty((1, (9 + most) * _fast.LANES))
    done, *_ = _fast.advance(packed, moved, room, eta, 0, 1, math.inf, 0, 0.0, 1)
    assert done == 1
    return (moved - weights) / eta


def one_merged_step(one, weights, gap: float, eta: float, merged=None) -> np.ndarray:
    """The direction of a step of the second phase."""
    moved = weights.copy()
    _fast.advance_merged(merged or _packing.merge(one, gap), moved, eta, 1)
    return (moved - weights) / eta


def test_the_exponential_is_right_to_the_last_digits():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-690, 690, 5000), rng.uniform(-1, 1, 5000), [0.0]])
    out = np.empty_like(x)
    _fast._exponentials(x, out)
    assert out == pytest.approx(np.exp(x), rel=1e-15, abs=0)
    small = np.concatenate([x[5000:], 10.0 ** rng.uniform(-300, 0, 200), rng.uniform(-9, 9, 200)])
    ours = np.array([exponential.fast_expm1(value) for value in small])
    assert ours == pytest.approx(np.expm1(small), rel=2e-15, abs=0)


@settings(max_examples=60)
@given(realizable_data(), st.integers(0, 2**32 - 1), st.sampled_from([0.01, 1.0, 8.0, 60.0]))
def test_the_first_phase_has_the_direction_of_the_plain_loop_anywhere(data, seed, gap):
    assume(any(len(set(sample.sentence)) > 1 for sample in data.samples()))
    one = problem.from_dataset(data)
    weights = np.random.default_rng(seed).normal(size=len(one.entry_token))
    expected = training.gradient(one, weights, gap)[1]
    assert one_step(one, weights, gap, 1.0) == pytest.approx(-expected, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("prefix_closed", [True, False])
def test_both_phases_have_the_direction_of_200_digits(prefix_closed):
    """At the true W(t), where differences of W near 200 and near 1000 are rounded."""
    setting = generate.experiment(0, prefix_closed=prefix_closed)
    one = problem.from_dataset(setting.data)
    gap = stage1.gap(20, setting.steps1, setting.eta0)
    for step, direction in ((10_000, one_step), (100_000, one_merged_step)):
        weights = training.run(one, step, setting.eta, gap, record=[]).state.weights
        exact = plain_direction(one, setting.data, weights, gap, digits=200)
        assert np.abs(direction(one, weights, gap, 1.0) + exact).max() < 1e-12


def test_many_rivals_many_samples_and_many_chunks(monkeypatch):
    rng = np.random.default_rng(3)
    data = generate.random_dataset(rng, 40, 3000, 12, prefix_closed=False, frequent=False)
    one = problem.from_dataset(data)
    weights = rng.normal(size=len(one.entry_token))
    expected = -training.gradient(one, weights, 4.0)[1]
    whole = _packing.pack(one, 4.0)
    monkeypatch.setattr(_packing, "CHUNK", 64)
    pieces = _packing.pack(one, 4.0)
    queries, chunks = one.entry_query.tolist(), {}
    for place, query in enumerate(queries):  # a query goes where its first entry is
        chunks.setdefault(queries.index(query) // 64, place)
    assert len(queries) > 64
    assert whole.chunk_entry.tolist() == [0, len(queries)]
    assert pieces.chunk_entry.tolist() == [*chunks.values(), len(queries)]
    assert len(one.optimal) > _fast.LANES  # many samples
    assert np.bincount(one.sample_of).max() > 8  # many rivals, of at most 11
    for packed in (whole, pieces):
        found = one_step(one, weights, 4.0, 1.0, packed)
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-14)


def test_the_smallest_change_is_found_in_whichever_step_it_is():
    """Only where R shows that it may be smaller is the change of a step looked at precisely."""
    later = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data = generate.random_dataset(rng, 8, 30, 6, prefix_closed=False, frequent=False)
        one = problem.from_dataset(data)
        fast, plain = stepping.Loops(one, 8.0), stepping.Loops(one, 8.0, plain=True)
        start = rng.normal(scale=3.0, size=len(one.entry_token))
        found = _fast.advance(fast.packed, start.copy(), fast.room, 0.02, 0, 300, *NOTHING, 1)
        step, track, weights = 0, _kernel.Track(*NOTHING), start.copy()
        while step < 300:
            done, track = stepping.advance(plain, weights, 0.02, step, 300 - step, track)
            step += done
        assert found[1] == pytest.approx(track.change, rel=1e-12, abs=1e-15)
        assert found[2] == track.step
        assert found[3] == pytest.approx(track.log_weight, rel=1e-12)
        later += track.step > 1
    assert later >= 4  # the first step is not always the one


def test_the_layout_takes_little_memory():
    rng = np.random.default_rng(4)
    one = problem.from_dataset(generate.random_dataset(rng, 60, 4000, 6, prefix_closed=False))
    size = len(one.optimal) + len(one.rival)
    assert size > 5000
    assert _packing.bytes_of(_packing.pack(one, 4.0)) < 20 * size


def test_a_planted_error_in_the_layout_is_noticed():
    one = problem.from_dataset(EXAMPLE_1)
    weights = np.random.default_rng(1).normal(size=len(one.entry_token))
    expected = -training.gradient(one, weights, 2.0)[1]
    packed = _packing.pack(one, 2.0)
    assert np.abs(one_step(one, weights, 2.0, 1.0, packed) - expected).max() < 1e-13
    counts = packed.rival_count.copy()
    counts[0] += 1
    wrong = packed._replace(rival_count=counts)
    assert np.abs(one_step(one, weights, 2.0, 1.0, wrong) - expected).max() > 1e-3


def test_the_second_phase_is_right_only_past_its_condition():
    """Where a gap is smaller than asked for, the merged pairs are another gradient."""
    one = problem.from_dataset(EXAMPLE_1)
    merged = _packing.merge(one, 8.0)
    uneven = np.linspace(0.51, 0.6, len(one.entry_token))
    late = np.where(one.is_optimal, uneven, -uneven) * merged.least_gap
    early = late / 10
    for weights, agrees in ((late, True), (early, False)):
        expected = -training.gradient(one, weights, 8.0)[1]
        far = np.abs(one_merged_step(one, weights, 8.0, 1.0, merged) - expected).max()
        assert bool(far < 1e-12) is agrees


def test_the_condition_of_the_second_phase_bounds_the_odds():
    one = problem.from_dataset(generate.experiment(2, prefix_closed=False).data)
    gap = 9.0
    merged = _packing.merge(one, gap)
    terms = np.exp(one.log_ratio - merged.least_gap)
    worst = np.add.reduceat(terms, one.start[:-1]).max()
    assert (1 + gap) * worst / _packing.NEGLIGIBLE == pytest.approx(1, rel=1e-9)


def test_far_apart_terms_neither_overflow_nor_vanish():
    one = problem.from_dataset(EXAMPLE_1)
    for scale in (1e3, 1e5):
        weights = np.where(one.is_optimal, scale, -scale) * np.linspace(1, 2, len(one.entry_token))
        expected = -training.gradient(one, weights, 8.0)[1]
        assert one_merged_step(one, weights, 8.0, 50.0) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("gap", "change"),
    [
        (_packing.LARGEST_GAP + 1, {}),
        (1.0, {"log_pi": -1e3}),
        (1.0, {"rival_count": 2 * _packing.LARGEST_COUNT}),
    ],
)
def test_numbers_beyond_floats_are_left_to_the_plain_loop(gap, change):
    one = problem.from_dataset(EXAMPLE_1)
    for name, value in change.items():
        many = getattr(one, name).copy()
        many[0] = value
        one = replace(one, **{name: many})
    assert _packing.pack(one, gap) is None
