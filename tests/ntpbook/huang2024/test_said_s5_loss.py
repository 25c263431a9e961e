"""What the paper says in passing (huang2024), on the page s5_loss."""

import math
from dataclasses import replace

import numpy as np
import pytest

from ntpbook.huang2024.s5_loss import loss_app
from ntpbook.huang2024.s7_experiment import experiment
from ntpbook.shared import rare
from ntpbook.shared.attention import attention
from ntpcore.huang2024 import bounds, runs, training
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


def test_huang2024_app_accuracy_by_hand_for_two_tokens():
    # m_o = 4/5, eps = 1/4: with A = 3 log 8 the wrong token has 1 / (1 + 8^(9/5)) < 1/4
    weights = np.where(EQUAL.problem.is_optimal, math.log(4), 0.0)
    state = replace(EQUAL.second.state, weights=weights)
    run = replace(EQUAL, second=replace(EQUAL.second, state=state))
    found = attention(EQUAL.problem, weights, 3 * math.log(8))
    assert np.exp(found.missing) == pytest.approx([1 / (1 + 8**1.8)] * 2, rel=1e-12)
    assert loss_app.check_huang2024_app_accuracy([run]).verdict is Verdict.CONSISTENT
    far = loss_app.check_huang2024_app_accuracy([run], times=0.1)
    assert far.verdict is Verdict.REFUTED


def test_huang2024_app_accuracy_counts_a_model_as_stuck_beyond_a_hundred_times_eps():
    # m_o = 4/5, eps = 1/4, A = 5: a wrong token has 1 / (1 + e^3) = 0.05, and 100 eps is 25
    weights = np.where(EQUAL.problem.is_optimal, math.log(4), 0.0)
    state = replace(EQUAL.second.state, weights=weights)
    run = replace(EQUAL, second=replace(EQUAL.second, state=state, gap=5.0))
    check = loss_app.check_huang2024_app_accuracy([run])
    assert (check.numbers["runs"], check.numbers["stuck"]) == ("1", "0")
    assert check.readings[1].verdict is Verdict.OPEN


def test_huang2024_app_accuracy_holds_on_trained_models_and_one_reading_fails(trained):
    check = loss_app.check_huang2024_app_accuracy(trained)
    assert check.verdict is Verdict.CONSISTENT
    assert "Not shown in general: that weights come to" in check.evidence
    assert [one.verdict for one in check.readings] == [Verdict.CONSISTENT, Verdict.REFUTED]
    assert loss_app.control_huang2024_app_accuracy(trained).noticed
    untrained = [replace(EQUAL, second=training.run(EQUAL.problem, 0, 0.36, 1.0))]
    assert loss_app.check_huang2024_app_accuracy(untrained).verdict is Verdict.OPEN


def test_huang2024_app_loss_excess_by_hand():
    c = EQUAL.constants  # L = 2, C_1 = 0.36 / 8
    t = np.array([100.0])
    log_u = np.log(2 * 2 / (2 + np.exp(c.C1 * t)))
    x = c.steps1 * c.C0 * np.exp(log_u)
    right = 2 * (math.e - 1) * 2 * c.steps1 * c.C0 * np.exp(-c.C1 * t)
    slack = loss_app._excess_slack(c, t, log_u, 1.0)
    assert slack == pytest.approx(np.log(right) - np.log(np.expm1(x)), rel=1e-10)
    assert bounds.log_eq_4_loss(c, t) == pytest.approx(
        math.log(bounds.loss_floor_printed(c)) + x, rel=1e-12
    )


def test_huang2024_app_loss_excess_is_proved_and_twice_the_rate_is_noticed(trained):
    check = loss_app.check_huang2024_app_loss_excess([EQUAL, *trained])
    assert check.verdict is Verdict.PROVED
    assert [one.verdict for one in check.readings] == [Verdict.PROVED, Verdict.REFUTED]
    assert check.numbers["above"] == check.numbers["runs"] == str(1 + len(trained))
    assert int(check.numbers["points"]) > 10
    assert loss_app.control_huang2024_app_loss_excess([EQUAL, *trained]).noticed


def test_huang2024_app_linear_loss_by_hand_exponents_are_read_off(trained):
    t = trained[0].second.rows.step.astype(float)
    line = with_rows(trained[0], log_excess=1 - 2 * t)
    assert loss_app.loss_exponent(line) == pytest.approx(1, abs=0.01)
    root = with_rows(trained[0], log_excess=1 - 2 * np.sqrt(t))
    assert loss_app.loss_exponent(root) == pytest.approx(0.5, abs=0.05)
    slow = with_rows(trained[0], log_excess=-1e-9 * t)
    assert loss_app.loss_exponent(slow) == pytest.approx(1, abs=0.01)
    rising = with_rows(trained[0], log_excess=t)
    assert loss_app.loss_exponent(rising) == -math.inf


def test_huang2024_app_linear_loss_holds_on_long_runs_and_a_power_law_is_noticed(trained):
    check = loss_app.check_huang2024_app_linear_loss(trained)
    assert (check.verdict, check.tried) == (Verdict.CONSISTENT, len(trained))
    assert float(check.numbers["least_rate"]) == pytest.approx(1, abs=0.02)
    assert loss_app.control_huang2024_app_linear_loss(trained[0]).noticed
