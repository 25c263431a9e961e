"""What `ntpcore train` tells of a run, against balls and on data outside of Theorem B."""

from __future__ import annotations

import pytest

from ntpbook.ours.late_phase import instances
from ntpbook.shared.without_asm_3 import outnumbered_run
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import later_bounds, runs
from ntpcore.huang2024.problem import from_dataset


def test_the_band_is_that_of_the_enclosed_state() -> None:
    (one,) = instances.enclosed(1000)
    problem = from_dataset(example_1())
    run = runs.train("x", problem, eta0=0.1, eta=0.025, steps1=900, steps=1000)
    state = run.second.state
    found = later_bounds.band(problem, state.weights, state.step, 0.025, run.second.gap)
    assert found is not None
    for t in (1000, 10**5, 10**8):
        assert found.at(t) == pytest.approx(one.certificate.bounds(t), rel=1e-9)


def test_without_assumption_3_theory_says_that_it_is_silent() -> None:
    rare = outnumbered_run()
    silent = later_bounds.sentences(rare.problem, rare.constants, rare.second.state.weights, 9, 1.0)
    assert silent == ["Theorem B does not speak of these data: Assumption 3 fails"]
