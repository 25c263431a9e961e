"""Checks of the page on the loss: Theorem 2, equations (4) and (13), the floor, the loss rate."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from plain_training import plain_loss

from ntpbook.huang2024.s5_loss import loss_claims
from ntpbook.shared import rare
from ntpcore.data import generate
from ntpcore.data.examples import example_1
from ntpcore.data.order import analyse
from ntpcore.huang2024 import bounds, runs, stage1, training
from ntpcore.huang2024.problem import from_dataset
from ntpcore.verdicts.claims import Verdict


@pytest.fixture(scope="module")
def inside() -> runs.Run:
    """The run that reaches the conditions of Theorem 2."""
    return loss_claims.inside_run()


@pytest.fixture(scope="module")
def some() -> list[runs.Run]:
    """Example 1 and six random data sets."""
    return runs.collection(7, 3, 500)


@pytest.fixture(scope="module")
def late() -> list[runs.Run]:
    """Long runs with a large step size."""
    return runs.collection(7, 1, 20000, factors=(20,))


# Theorem 2


def test_huang2024_thm_2_is_refuted_under_every_reading() -> None:
    check = loss_claims.check_huang2024_thm_2([], loss_claims.READINGS)
    assert check.verdict is Verdict.REFUTED
    assert {reading.verdict for reading in check.readings} == {Verdict.REFUTED}
    assert len(check.readings) == len(loss_claims.READINGS)


def test_huang2024_thm_2_conditions_by_hand() -> None:
    # N = 4, L_max = 2, both norms 1, |V| = 2: T >= 384 log 2 log T / eta0, t >= 1696 64 log^2 t /
    # eta, and the claimed log-odds are t eta / 8 - log 2
    case = loss_claims.hidden_sample(loss_claims.READINGS[0])
    eta0, eta = runs.paper_rates(2)[0], loss_claims.ETA
    assert case.inside
    assert case.steps1 >= 384 * math.log(2) * math.log(case.steps1) / eta0
    assert case.steps >= 1696 * 64 * math.log(case.steps) ** 2 / eta
    assert case.steps - 3 < 1696 * 64 * math.log(case.steps - 3) ** 2 / eta
    assert case.claimed == pytest.approx(case.steps * eta / 8 - math.log(2))
    assert eta < 1 / math.e


def test_huang2024_thm_2_real_runs_stay_below_the_bound_on_the_rare_sample() -> None:
    for eta, steps in ((0.1, 400), (0.36, 2000)):
        ratio = rare.log_ratio_that_hides(steps, eta)
        found = rare.rare_run(ratio, steps, eta).second.rows
        assert 0 < found.least_log_odds[-1] <= 1
        # a ratio that much smaller no longer hides the sample, so the run can tell
        assert rare.rare_run(ratio / 4, steps, eta).second.rows.least_log_odds[-1] > 1


def test_huang2024_thm_2_real_run_breaks_it_with_the_constant_one() -> None:
    run, start = loss_claims.untouched()
    claimed = bounds.thm_2_log_odds(run.constants, run.second.state.step)
    assert run.second.state.step >= start
    assert run.second.rows.least_log_odds[-1] < 1 < claimed
    _, slack = loss_claims.theorem_slack(run, loss_claims.READINGS[3])
    assert slack.min() < -loss_claims.TOLERANCE


def test_huang2024_thm_2_forces_are_those_of_sympy() -> None:
    assert loss_claims.force_errors() == []
    assert loss_claims.force_errors(factor=2) != []


def test_huang2024_thm_2_notices_frequencies_in_the_condition() -> None:
    assert loss_claims.control_huang2024_thm_2().noticed
    common = [loss_claims.hidden_sample(one, log_ratio=0.0) for one in loss_claims.READINGS]
    assert not any(case.refutes for case in common)


def test_huang2024_thm_2_on_ordinary_data_is_open(some: list[runs.Run]) -> None:
    assert loss_claims.check_huang2024_thm_2(some[:1]).verdict is Verdict.OPEN


# Theorem 2, corrected


def test_huang2024_thm_2_corrected_holds_where_its_conditions_do(inside: runs.Run) -> None:
    check = loss_claims.check_huang2024_thm_2_corrected([inside])
    assert check.verdict is Verdict.CONSISTENT
    assert int(check.numbers["points"]) >= 20
    # N = 2, L_max = 2, ||W||^2 = 1/2
    first = inside.second.rows.step[2]
    assert first >= 1696 * 2 * 16 / 8 * math.log(first) ** 2 / 0.26


def test_huang2024_thm_2_corrected_attention_agrees_with_the_weights(some: list[runs.Run]) -> None:
    run = some[0]
    rows, c = run.second.rows, run.constants
    weight = 1 / (1 + c.max_length * np.exp(-rows.step * c.C1))
    early = rows.step <= 200
    assert ((rows.least_attention >= weight) == (loss_claims.attention_slack(run) >= 0))[
        early
    ].all()


def test_huang2024_thm_2_corrected_notices_a_bound_that_is_too_steep(inside: runs.Run) -> None:
    assert loss_claims.control_huang2024_thm_2_corrected(inside).noticed


def test_huang2024_thm_2_corrected_is_open_before_its_conditions(some: list[runs.Run]) -> None:
    assert loss_claims.check_huang2024_thm_2_corrected(some).verdict is Verdict.OPEN


# Equation (4)


def test_huang2024_eq_4_holds_and_says_nothing_in_the_experiment() -> None:
    setting = generate.experiment(7)
    run = runs.train(
        "experiment",
        from_dataset(setting.data),
        eta0=setting.eta0,
        eta=setting.eta,
        steps1=900,
        steps=900,
    )
    check = loss_claims.check_huang2024_eq_4([run])
    assert check.verdict is Verdict.CONSISTENT
    assert check.vacuous.startswith("T = 3.2e+03")  # log(20 / log 20) 4 19 / eta0 = 3226.2
    assert float(check.numbers["right"]) > math.log(20) > float(check.numbers["loss"])


def test_huang2024_eq_4_loss_agrees_with_mpmath() -> None:
    data = example_1()
    problem = from_dataset(data)
    run = runs.train("Example 1", problem, eta0=0.1, eta=0.025, steps1=100, steps=50, record=[50])
    names = problem.vocabulary
    pairs = zip(problem.entry_token, problem.entry_query, run.second.state.weights, strict=True)
    W = {(names[x], names[q]): mp.mpf(float(value)) for x, q, value in pairs}
    following = analyse(data).collocation
    expected = mp.log(plain_loss(data, following, W, mp.mpf(run.second.gap)))
    assert float(expected) == pytest.approx(float(loss_claims.log_loss(run)[0]), rel=1e-12)


def test_huang2024_eq_4_says_something_exactly_from_least_t_on(some: list[runs.Run]) -> None:
    c = replace(some[0].constants, steps1=2 * loss_claims.least_T(some[0].constants))
    t, blind = loss_claims.least_t(c), math.log(math.log(c.vocab_size))
    assert bounds.log_eq_4_loss(c, 1.001 * t) < blind < bounds.log_eq_4_loss(c, 0.999 * t)
    enough = loss_claims.least_T(c)
    assert bounds.log_eq_4_loss(replace(c, steps1=enough), 1e9) < blind
    assert bounds.log_eq_4_loss(replace(c, steps1=enough - 1), 1e9) >= blind
    assert loss_claims.least_t(replace(c, steps1=enough - 1)) == math.inf


def test_huang2024_eq_4_notices_an_exponent_that_is_too_large(late: list[runs.Run]) -> None:
    assert loss_claims.control_huang2024_eq_4(late[0]).noticed


# Equation (13)


def test_huang2024_eq_13_holds_on_example_1_by_hand() -> None:
    # at W = W* both sides are 1; after one step from zero the margins are those of the gradient
    problem = from_dataset(example_1())
    run = runs.train("Example 1", problem, eta0=0.1, eta=1.0, steps1=9, steps=1, record=[0, 1])
    W = -training.gradient(problem, np.zeros(len(problem.W_kq_star)), run.second.gap)[1]
    assert run.second.state.weights == pytest.approx(W)
    apart = np.linalg.norm(W / np.linalg.norm(W) - problem.W_kq_star / problem.norm)
    least = min(W[a] - W[b] for a, b in problem.pairs)
    steps, slack = loss_claims.margin_slack(run)
    assert steps.tolist() == [1]
    assert slack[0] == pytest.approx(least - 1 / problem.norm + math.sqrt(2) * apart, abs=1e-12)


def test_huang2024_eq_13_holds_for_any_matrix() -> None:
    problem = from_dataset(example_1())
    rng = np.random.default_rng(7)
    for _ in range(200):
        W = rng.normal(size=len(problem.W_kq_star)) + 3 * problem.W_kq_star
        size = np.linalg.norm(W)
        apart = np.linalg.norm(W / size - problem.W_kq_star / problem.norm)
        least = min(W[a] - W[b] for a, b in problem.pairs)
        assert least >= size * (1 / problem.norm - math.sqrt(2) * apart) - 1e-12


def test_huang2024_eq_13_readings(some: list[runs.Run]) -> None:
    check = loss_claims.check_huang2024_eq_13(some)
    assert check.verdict is Verdict.CONSISTENT
    assert check.readings[0].verdict is Verdict.CONSISTENT
    assert check.readings[2].verdict is Verdict.REFUTED


def test_huang2024_eq_13_notices_a_wrong_sign(some: list[runs.Run]) -> None:
    assert loss_claims.control_huang2024_eq_13(some).noticed


# The floor


def test_huang2024_app_floor_by_hand() -> None:
    # |V| = 2: log(1 + x) < x < 2 x
    check = loss_claims.check_huang2024_app_floor()
    assert check.verdict is Verdict.REFUTED
    assert (check.numbers["printed"], check.numbers["true"]) == ("11.78", "0.00185")


def test_huang2024_app_floor_is_the_least_loss_over_attentions() -> None:
    rng, A, size = np.random.default_rng(7), 2.5, 5
    least = math.log1p((size - 1) * math.exp(-A))
    for _ in range(500):
        logits = A * np.append(rng.dirichlet(np.full(4, 0.2)), 0.0)
        assert np.log(np.exp(logits).sum()) - logits[0] >= least - 1e-12
    one = A * np.eye(size)[0]
    assert np.log(np.exp(one).sum()) - one[0] == pytest.approx(least)
    assert stage1.log_loss(size, 10, 0.5) == pytest.approx(
        math.log(size * math.log1p((size - 1) * math.exp(-stage1.gap(size, 10, 0.5))))
    )


def test_huang2024_app_floor_notices_a_factor_that_is_too_small() -> None:
    assert loss_claims.control_huang2024_app_floor().noticed
    assert loss_claims.check_huang2024_app_floor("n/2").verdict is Verdict.OPEN


# The rate


def test_ours_loss_rate_by_hand_on_one_pair() -> None:
    # one sample with one rival: the margin grows by sqrt(2) eta in each step, ||W*||^2 = 1/2
    run = runs.train(
        "0 1 0", loss_claims.smallest_problem(), eta0=0.1, eta=0.1, steps1=900, steps=4000
    )
    assert loss_claims.fitted_rate(run) == pytest.approx(1, rel=1e-6)
    assert bounds.loss_excess_rate(run.constants, exact=True) == pytest.approx(0.1 * math.sqrt(2))


def test_ours_loss_rate_agrees_with_the_gradient_norm(late: list[runs.Run]) -> None:
    # the gradient is a sum of the same exponentials, so it falls at the same rate
    for run in late:
        rows = run.second.rows
        half = rows.step >= rows.step[-1] / 10
        slope = np.polyfit(rows.step[half], rows.log_gradient[half], 1)[0]
        rate = bounds.loss_excess_rate(run.constants, exact=True)
        assert -slope == pytest.approx(rate * loss_claims.fitted_rate(run), rel=1e-3)


def test_ours_loss_rate_notices_five_percent(late: list[runs.Run]) -> None:
    assert loss_claims.check_ours_loss_rate(late).verdict is Verdict.CONSISTENT
    assert loss_claims.control_ours_loss_rate(late).noticed
    assert loss_claims.check_ours_loss_rate([]).verdict is Verdict.OPEN


def test_ours_loss_rate_needs_its_bound_on_the_step_size() -> None:
    assert loss_claims.swinging_rate(5000) < 0.97
    problem = loss_claims.smallest_problem()
    run = runs.train("0 1 0", problem, eta0=0.1, eta=3 * problem.norm, steps1=900, steps=50)
    assert loss_claims.check_ours_loss_rate([run]).verdict is Verdict.OPEN


def test_ours_loss_rate_tells_early_rates_beside(late: list[runs.Run], some: list[runs.Run]):
    check = loss_claims.check_ours_loss_rate(late, some[:3])
    rates = [loss_claims.fitted_rate(run, 2 / 9) for run in some[:3]]
    assert check.numbers["early_least"] == f"{min(rates):.2f}"
    assert check.numbers["early_most"] == f"{max(rates):.2f}"
    rows = some[0].second.rows
    after = rows.step >= rows.step[-1] * 2 / 9
    slope = np.polyfit(rows.step[after], rows.log_excess[after], 1)[0]
    assert rates[0] == pytest.approx(
        -slope / bounds.loss_excess_rate(some[0].constants, exact=True)
    )


def test_the_curves_of_the_figure_are_scaled_by_the_rates(some: list[runs.Run]) -> None:
    curves, (times, flat) = loss_claims.scaled_excess(some[:2], 3.0)
    assert list(curves) == [run.name for run in some[:2]]
    for run in some[:2]:
        rows = run.second.rows
        expected = rows.step * run.constants.eta / run.problem.norm
        assert curves[run.name][0] == pytest.approx(expected[expected <= 3.0])
        assert curves[run.name][1] == pytest.approx(rows.log_excess[expected <= 3.0])
    c = some[0].constants
    assert times is curves[some[0].name][0]
    assert flat[0] - flat[-1] == pytest.approx(
        (times[-1] - times[0]) / c.eta * some[0].problem.norm * bounds.loss_excess_rate(c)
    )
    assert flat[0] == pytest.approx(curves[some[0].name][1][0] - 0.0)


# What the evidence counts


def test_huang2024_thm_2_corrected_counts_what_lies_beyond_its_conditions(
    inside: runs.Run, some: list[runs.Run]
) -> None:
    many = [inside, *some[:4]]
    check = loss_claims.check_huang2024_thm_2_corrected(many)
    slacks = np.concatenate(
        [np.minimum(loss_claims.attention_slack(run), loss_claims.loss_slack(run)) for run in many]
    )
    assert check.numbers["all_points"] == str(sum(len(run.second.rows.step) for run in many))
    assert check.numbers["failures"] == str(np.count_nonzero(slacks < -1e-9))
    assert check.numbers["least"] == f"{slacks.min():.2g}"
    assert check.numbers["reached"] == "1"
    assert "on 1 run of 5" in check.evidence
    largest = max(some[:4], key=lambda run: run.constants.vocab_size)
    assert check.vacuous.endswith(f"on {largest.name}; 4 of the 5 runs are too short")
    alone = loss_claims.check_huang2024_thm_2_corrected([inside])
    assert alone.vacuous == ""
    assert alone.evidence.startswith("Where the corrected conditions hold")
    none = loss_claims.check_huang2024_thm_2_corrected(some[:2])
    assert none.verdict is Verdict.OPEN
    assert none.numbers["reached"] == "0"


def test_huang2024_eq_13_chain_is_the_least_margin_over_its_claim(some: list[runs.Run]) -> None:
    check = loss_claims.check_huang2024_eq_13(some)
    least = min(
        gap / (int(step) * run.constants.eta / (4 * run.constants.max_length * run.problem.norm**2))
        for run in some
        for step, gap in zip(run.second.rows.step[1:], run.second.rows.least_gap[1:], strict=True)
    )
    assert float(check.numbers["chain"]) == pytest.approx(least - 1, abs=0.01)
