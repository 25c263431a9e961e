"""What theory says of a run from its state on: against balls, against the run, and its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ntpcore.data.dataset import from_samples
from ntpcore.data.examples import FIVE_TOKENS, example_1, realize
from ntpcore.huang2024 import bounds, later_bounds, runs
from ntpcore.huang2024.problem import from_dataset
from ntpcore.huang2024.runs import Run


def example(steps: int, eta: float = 0.025) -> Run:
    """Example 1, trained so far."""
    problem = from_dataset(example_1())
    return runs.train("x", problem, eta0=0.1, eta=eta, steps1=900, steps=steps)


def band(run: Run) -> later_bounds.Band | None:
    """Theorem E at the end of a run."""
    state = run.second.state
    return later_bounds.band(
        run.problem, state.weights, state.step, run.constants.eta, run.second.gap
    )


def test_the_ends_of_a_band_by_hand():
    # at step 8 of the length 1/2: 1 / (2 (16 + 4)) and 4 / (2 (4 - 3)^2)
    assert later_bounds.Band(1, 0.5, 1.0, 2.0, 3.0).at(8) == (1 / 40, 2.0)


def test_a_run_stays_in_its_band():
    found = band(example(1000))
    assert found is not None
    rows = example(20_000).second.rows
    for t, value in zip(rows.step.tolist(), rows.one_minus_cos.tolist(), strict=True):
        if t >= 1000:
            low, high = found.at(t)
            assert low <= value <= high
    with pytest.raises(ValueError, match="say nothing of step 999"):
        found.at(999)


def test_a_run_with_another_constant_leaves_the_band():
    found = band(example(1000))
    assert found is not None
    c = 1.3 * 0.25  # 1 - cos = c / (t eta)^2, where the constant is a quarter
    t = 10**6
    assert not found.at(t)[0] <= c / (t * 0.025) ** 2 <= found.at(t)[1]


def test_there_is_no_band_too_early_nor_with_large_steps_nor_with_several_optimal_tokens():
    assert band(example(300)) is None
    problem = from_dataset(example_1())
    assert band(example(1000, eta=1.01 * max(problem.norm, 2 / problem.norm))) is None
    several = from_dataset(realize(FIVE_TOKENS))
    run = runs.train("x", several, eta0=0.1, eta=0.36, steps1=900, steps=3000)
    assert band(run) is None


def test_samples_of_one_token_do_not_weaken_the_bound():
    lines = [(["a"], "b", 1000), (["b"], "c", 1000), (["a", "b"], "b", 1000)]
    lines += [(["b", "c"], "c", 1000), (["a", "a", "b"], "b", 1000), (["c"] * 8, "a", 1000)]
    rare = from_dataset(from_samples([*lines, (["c"], "a", 1)]))
    assert (rare.max_length, rare.log_pi_min) == (8, pytest.approx(-math.log(6001), rel=1e-12))
    assert later_bounds.compared(rare) == (3, pytest.approx(math.log(1000 / 6001), rel=1e-12))
    weights, c = np.ones(len(rare.entry_query)), bounds.constants(rare, 0.1, 0.03, 10)
    told = later_bounds.sentences(rare, c, weights, 900, 1.0)
    S, K = float(rare.norm_squared), math.log(2 * 9 * 8 * 6001 / 1000)
    bound = 1 - 1 / math.sqrt(1 + 2 * S / 900 * (1 + math.sqrt(2) * K / 0.03))
    assert f"at most {bound:.3g} at this step" in told[0]


def test_sentences_name_both_bounds_and_say_where_theory_is_silent():
    run = example(1000)
    state = run.second.state
    told = later_bounds.sentences(run.problem, run.constants, state.weights, 1000, run.second.gap)
    S, L = float(run.problem.norm_squared), run.constants.max_length
    K = math.log(2 * L**2 * (L - 1) ** 3) - run.constants.log_pi_min
    tan = 2 * S / 1000 * (1 + math.sqrt(2) * K / 0.025)
    assert f"at most {1 - 1 / math.sqrt(1 + tan):.3g} at this step" in told[0]
    assert f"the norms alone give {1 - 1 / math.sqrt(2 * S):.3g}" in told[0]
    assert "from step 1000 on" in told[1]
    assert later_bounds.sentences(run.problem, run.constants, 0 * state.weights, 0, 1.0) == []
