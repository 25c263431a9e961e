"""What the paper says in passing (huang2024), on the page s4_algorithm."""

import math
from dataclasses import replace

import pytest

from ntpbook.huang2024.s4_algorithm import algorithm_app
from ntpbook.huang2024.s7_experiment import experiment
from ntpbook.shared import rare
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import runs
from ntpcore.huang2024.problem import from_dataset
from ntpcore.verdicts.claims import Verdict

EQUAL = rare.rare_run(0.0, 300, 0.36)


def with_rows(run, **columns):
    """A run with other measurements."""
    return replace(run, second=replace(run.second, rows=replace(run.second.rows, **columns)))


@pytest.fixture(scope="module")
def trained():
    """Example 1 and four random data sets, 4000 steps at twenty times the paper's step size."""
    return runs.collection(3, 2, 4000, factors=(20,))


@pytest.fixture(scope="module")
def both():
    """The experiment on one data set of each kind."""
    return [
        *experiment.experiments(3, 1),
        *experiment.experiments(3, 1, prefix_closed=False),
    ]


def test_huang2024_app_decoupling_by_hand_a_single_token_is_all_that_attention_sees():
    problem = from_dataset(example_1())
    assert algorithm_app.seen_by_stage_1(problem, 3.0) == 0.0


def test_huang2024_app_decoupling_loss_goes_to_the_floor_and_the_floor_to_zero():
    found = algorithm_app.runs_of_example(1500, (50, 500))
    check = algorithm_app.check_huang2024_app_decoupling(found)
    assert check.verdict is Verdict.CONSISTENT
    assert "that stage 2 reaches the floor on all data" in check.evidence
    assert check.evidence.count("Not shown in general: that stage 2") == 1  # the limit is shown
    for run in found:
        floor = math.log1p(3 * math.exp(-run.second.gap))
        assert run.second.rows.loss[-1] == pytest.approx(floor, rel=1e-6)
    assert found[1].second.rows.loss[-1] < found[0].second.rows.loss[-1] / 1000
    assert float(check.numbers["most"]) < 1e-4


def test_huang2024_app_decoupling_control_notices_a_single_step():
    assert algorithm_app.control_huang2024_app_decoupling().noticed
    assert algorithm_app.check_huang2024_app_decoupling([]).verdict is Verdict.OPEN
