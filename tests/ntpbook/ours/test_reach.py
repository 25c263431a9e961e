"""How far the bounds reach, how good the late flow is, and where common arithmetic ends."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import plain_example_1
import pytest

from ntpbook.huang2024.s7_experiment.first_useful_step import log_bites
from ntpbook.ours.reach import checks, long_runs, naive, naive_runs
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import asymptotics, bounds, training
from ntpcore.huang2024.problem import from_dataset
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import NotANumberError

EXACT = long_runs.EXACT


@pytest.fixture(scope="module")
def runs() -> tuple[long_runs.Long, ...]:
    return long_runs.long_runs(0)


# The late flow


def test_ours_late_flow_misses_example_1_by_little_and_knows_its_offset(runs):
    """On Example 1 the offset is known: the minimiser of the limiting problem."""
    assert long_runs.offset_error(runs[0]) < 1e-6
    assert long_runs.hand_over(runs[0]) < 1e-12
    residual = asymptotics.star_residual(runs[0].run.problem)
    unit = runs[0].run.problem.W_kq_star / runs[0].run.problem.norm
    offset = runs[0].far.offset[-1]
    assert offset - (offset @ unit) * unit == pytest.approx(residual, abs=1e-6)


def test_ours_late_flow_continues_the_rows_of_the_run(runs):
    for one in runs:
        rows, far = one.run.second.rows, one.far
        assert far.step[0] == rows.step[-1] == EXACT
        assert far.one_minus_cos[0] == pytest.approx(rows.one_minus_cos[-1], rel=1e-3)
        assert far.log_excess[0] == pytest.approx(rows.log_excess[-1], rel=1e-6)
        assert (np.diff(one.step) > 0).all()
        assert (np.diff(one.log_excess) < 0).all()


def test_ours_late_flow_error_by_hand_is_that_of_the_offset(runs):
    """v = W - t eta W* / ||W*|| after a million steps, against the flow's offset there."""
    run = runs[0].run
    exact = long_runs.taken(run, 1_000_000)
    assert exact.state.step == 1_000_000
    v = exact.state.weights - 1_000_000 * 0.025 * run.problem.W_kq_star / math.sqrt(13 / 6)
    place = int(np.argmin(np.abs(runs[0].far.step - 1e6)))
    assert runs[0].far.step[place] == pytest.approx(1e6)
    apart = np.linalg.norm(runs[0].far.offset[place] - v) / np.linalg.norm(v)
    assert long_runs.offset_error(runs[0]) == pytest.approx(apart, rel=0.1)


@pytest.mark.parametrize("wrong", [{"claimed": EXACT + 100}, {"eta": 1 + 1e-5}])
def test_ours_late_flow_notices_small_errors_of_what_the_flow_is_told(runs, wrong):
    found = checks.check_ours_late_flow.judge(runs[:1], **wrong)
    assert found.verdict is Verdict.NOT_SEEN
    assert found.witness.startswith("Example 1") or "million steps" in found.witness


def test_ours_late_flow_with_a_number_that_is_none_is_an_error(runs):
    far = replace(runs[0].far, one_minus_cos=np.full(len(runs[0].far.step), math.nan))
    with pytest.raises(NotANumberError):
        checks.check_ours_late_flow.judge([replace(runs[0], far=far)])
    assert checks.power_above(3e-7) == pytest.approx(1e-6)
    assert checks.power_above(0.0) == 1e-16


# The reach


def test_ours_reach_on_example_1_begins_where_the_formula_says(runs):
    """54 N L^4 |W|^4 log^2 t = (1 - 1 / (sqrt 2 |W|)) t eta, N = 9, L = 3, |W|^2 = 13/6."""
    first = long_runs.bites(runs[0], long_runs.BOUNDS[0])
    level = 1 - math.sqrt(3 / 13)
    bound = 54 * 9 * 3**4 * (13 / 6) ** 2 * math.log(first) ** 2 / (first * 0.025)
    assert bound == pytest.approx(level)
    steps, slack = long_runs.slacks(runs[0], long_runs.BOUNDS[0])
    assert steps[0] > first > steps[0] / 10 ** (1 / long_runs.PER_DECADE) / 1.001
    # at 1e15 steps: the bound by the asymptotic 1 - cos = c / (t eta)^2 of Example 1
    c = long_runs.LAST**2 * 0.025**2 * runs[0].one_minus_cos[-1]
    log_bound = math.log10(54 * 9 * 81 * (13 / 6) ** 2 / 0.025 / 1e15) + 2 * math.log10(
        math.log(1e15)
    )
    assert slack[-1] == pytest.approx(log_bound - math.log10(c / (1e15 * 0.025) ** 2))
    # half the squared length of the offset's limit; integrated with relative errors below 1e-6
    assert c == pytest.approx(plain_example_1.constant(), rel=1e-6)


def test_ours_reach_fails_where_a_bound_is_a_hair_too_small(runs):
    least = min(
        float(long_runs.slacks(one, bound)[1].min()) for one in runs for bound in long_runs.BOUNDS
    )
    judge = checks.check_ours_reach.judge
    assert judge(runs, divided=10 ** (least - 0.01)).verdict is Verdict.SEEN
    assert judge(runs, divided=10 ** (least + 0.01)).verdict is Verdict.NOT_SEEN


def test_ours_reach_says_which_bounds_never_speak(runs):
    short = [replace(runs[1], far=replace(runs[1].far, step=runs[1].far.step / 1e12))]
    found = checks.check_ours_reach.judge(short)
    assert found.verdict is Verdict.UNDECIDED
    assert sum(found.left_out.values()) == 2
    assert len(long_runs.reach_table(runs).rows) == 6


def test_ours_reach_agrees_with_the_bounds_module(runs):
    c = runs[1].run.constants
    first = long_runs.bites(runs[1], long_runs.BOUNDS[1])
    before, after = (
        bounds.log_thm_1_direction(c, math.log(first * factor), rarity=bounds.PI_MIN)
        for factor in (0.999, 1.001)
    )
    assert before > math.log(1 - 1 / (math.sqrt(2) * c.norm_kq)) > after


def test_only_equation_4_speaks_within_the_experiment_and_only_on_example_1(runs):
    found = log_bites([one.run for one in runs])
    early = {(key, at) for key in found for at in range(3) if found[key][at] < math.log(900)}
    assert early == {("eq_4_T", 0)}
    rate = [bounds.loss_excess_rate(one.run.constants, exact=True) for one in runs]
    for one, slope in zip(runs, rate, strict=True):  # the dotted lines lie on the solid ones
        assert one.log_excess[-1] == pytest.approx(-slope * one.step[-1], rel=1e-6)


# Common arithmetic


def test_ours_floating_point_loses_example_1_in_either_precision():
    problem = from_dataset(example_1())
    record = training.log_grid(300)[1:]
    true = naive_runs.true_states(problem, 0.025, 52.0, record)
    found = []
    for word, precision in naive_runs.PRECISIONS:
        reached = naive.run(problem, 300, 0.025, 52.0, precision, record)
        found.append(naive_runs.walk("Example 1", word, *reached, true, 300))
    assert found[0].beyond(1e-3) < found[1].beyond(1e-3) < 300
    assert found[0].stuck


def test_ours_floating_point_by_hand():
    step = np.array([1, 10, 100])
    lost = [
        naive_runs.Walk("x", "float32", step, np.array([1e-7, 1e-3, 0.2]), False),
        naive_runs.Walk("x", "float64", step, np.array([1e-16, 1e-9, 1e-3]), True),
    ]
    found = checks.check_ours_floating_point.judge(lost)
    assert found.verdict is Verdict.SEEN
    assert found.numbers["float32_first"].value == found.numbers["float64_last"].value == 100
    assert found.numbers["stuck"].value == 1
    assert naive_runs.walk_table(lost).rows[1][-1] == "after 100"
    fine = replace(lost[1], stuck=False)
    found = checks.check_ours_floating_point.judge([lost[0], fine])
    assert found.verdict is Verdict.NOT_SEEN
    assert found.witness == "x, float64, largest error 1e-03 in 100 steps"
    undefined = replace(lost[0], error=np.array([1e-7, math.nan, 1e-3]))
    with pytest.raises(NotANumberError):
        checks.check_ours_floating_point.judge([undefined])


def two_tokens(ratio: float, eta: float, steps: int) -> float:
    """1 - cos of the late equation on two tokens, each step with two full columns of W_kq."""
    W, star = np.zeros((2, 2)), np.array([[1.0, -1.0], [-1.0, 1.0]]) / 2
    for _ in range(steps):
        margins = np.array([W[0, 0] - W[1, 0], W[1, 1] - W[0, 1]])
        pull = np.array([ratio, 1.0]) * np.exp(-(margins - margins.min()))
        G = np.array([[pull[0], -pull[1]], [-pull[0], pull[1]]])
        W += eta * G / np.linalg.norm(G)
    return 0.5 * float(np.linalg.norm(W / np.linalg.norm(W) - star) ** 2)


def test_the_law_on_two_tokens_and_the_answers_to_the_exercises():
    found = two_tokens(math.exp(2), 0.1, 1_000)  # t eta = 100
    assert found == pytest.approx(1 / 20_000, rel=0.03)
    assert two_tokens(math.exp(2), 0.1, 4_000) == pytest.approx(1 / 320_000, rel=0.01)
    assert two_tokens(1.0, 0.1, 100) < 1e-30
    entries = np.array([3e-170, 4e-170])
    assert float((entries**2).sum()) == 0
    assert np.linalg.norm(entries / entries.max()) == pytest.approx(1.25, rel=1e-15)
    weight = 1 / (1 + math.exp(-40))
    assert (weight - weight**2) / max(weight - weight**2, 5e-324) == 0  # scaled, and still wrong
