"""How far the bounds reach, how good the late flow is, and where common arithmetic ends."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ntpbook.huang2024.s7_experiment.bites import log_bites
from ntpbook.huang2024.s7_reach import reach
from ntpcore.huang2024 import asymptotics, bounds, training
from ntpcore.verdicts.claims import Verdict


@pytest.fixture(scope="module")
def runs() -> list[reach.Long]:
    return reach.long_runs(0)


def test_ours_late_flow_misses_example_1_by_less_than_a_millionth(runs):
    """On Example 1 the offset is known: the minimiser of the limiting problem."""
    error = reach.error(runs[0])
    assert error.steps < 1e-6
    assert error.hand_over < 1e-12
    residual = asymptotics.residual(runs[0].run.problem)
    unit = runs[0].run.problem.W_kq_star / runs[0].run.problem.norm
    offset = runs[0].far.offset[-1]
    assert offset - (offset @ unit) * unit == pytest.approx(residual, abs=1e-6)
    check = reach.check_ours_late_flow([error])
    assert check.verdict is Verdict.CONSISTENT
    assert check.tried == 1


def test_ours_late_flow_continues_the_rows_of_the_run(runs):
    for one in runs:
        rows, far = one.run.second.rows, one.far
        assert far.step[0] == rows.step[-1] == reach.EXACT
        assert far.one_minus_cos[0] == pytest.approx(rows.one_minus_cos[-1], rel=1e-3)
        assert far.log_excess[0] == pytest.approx(rows.log_excess[-1], rel=1e-6)
        assert (np.diff(one.step) > 0).all()
        assert (np.diff(one.log_excess) < 0).all()


def test_ours_late_flow_notices_a_wrong_number_of_steps(runs):
    assert reach.control_ours_late_flow(runs[0]).noticed
    large = reach.Error("planted", 1e-4, 0.0)
    assert reach.check_ours_late_flow([large]).verdict is Verdict.REFUTED
    undefined = reach.Error("planted", math.nan, 0.0)
    assert reach.check_ours_late_flow([undefined]).verdict is Verdict.REFUTED
    assert reach.check_ours_late_flow([]).verdict is Verdict.OPEN


def test_ours_reach_on_example_1_begins_where_the_formula_says(runs):
    """54 N L^4 |W|^4 log^2 t = t eta with N = 9, L = 3, |W|^2 = 13/6 and eta = 0.025."""
    first = reach.bites(runs[0], reach.BOUNDS[0])
    assert 54 * 9 * 3**4 * (13 / 6) ** 2 * math.log(first) ** 2 == pytest.approx(first * 0.025)
    steps, slack = reach.slacks(runs[0], reach.BOUNDS[0])
    assert steps[0] > first > steps[0] / 10 ** (1 / reach.PER_DECADE) / 1.001
    assert slack.min() > 10


def test_ours_reach_is_consistent_and_says_how_far(runs):
    check = reach.check_ours_reach(runs)
    assert check.verdict is Verdict.CONSISTENT
    assert check.tried == 3
    assert float(check.numbers["first"]) < 1e10 < float(check.numbers["latest"])
    rows = reach.reach_table(runs).rows
    assert len(rows) == 6


def test_ours_reach_notices_a_bound_that_falls_too_fast(runs):
    assert reach.control_ours_reach(runs).noticed
    assert reach.check_ours_reach([]).verdict is Verdict.OPEN
    silent = reach.Reach("never", "never", lambda c, log_t: 100 - 0 * log_t)
    beyond = replace(runs[0], far=runs[0].far)
    assert len(reach.slacks(beyond, silent)[1]) == 0


def test_ours_reach_agrees_with_the_bounds_module(runs):
    c = runs[1].run.constants
    first = reach.bites(runs[1], reach.BOUNDS[1])
    before, after = (
        bounds.log_thm_1_direction(c, math.log(first * factor), rarity=bounds.PI_MIN)
        for factor in (0.999, 1.001)
    )
    assert before > 0 > after


def test_ours_floating_point_loses_example_1_in_either_precision():
    name, problem = reach.problems(0)[0]
    record = training.log_grid(300)[1:]
    true = reach.true_states(problem, 0.025, 52.0, record)
    walks = []
    for word, precision in reach.PRECISIONS:
        found = reach.naive.run(problem, 300, 0.025, 52.0, precision, record)
        walks.append(reach.walk(name, word, *found, true, 300))
    assert walks[0].beyond(1e-3) < walks[1].beyond(1e-3) < 300
    assert walks[0].stuck


def test_ours_floating_point_is_consistent_where_every_walk_is_lost():
    step = np.array([1, 10, 100])
    lost = [
        reach.Walk("x", "float32", step, np.array([1e-7, 1e-3, 0.2]), False),
        reach.Walk("x", "float64", step, np.array([1e-16, 1e-9, 1e-3]), True),
    ]
    check = reach.check_ours_floating_point(lost)
    assert check.verdict is Verdict.CONSISTENT
    assert check.numbers["float32_first"] == check.numbers["float64_last"] == "100"
    assert reach.walk_table(lost).rows[1][-1] == "after 100"
    fine = replace(lost[1], stuck=False)
    assert reach.check_ours_floating_point([lost[0], fine]).verdict is Verdict.REFUTED
    assert reach.check_ours_floating_point(lost[:1]).verdict is Verdict.OPEN


def test_ours_floating_point_notices_arithmetic_that_does_not_break():
    assert reach.control_ours_floating_point(200).noticed


def test_only_equation_4_speaks_within_the_experiment_and_only_on_example_1(runs):
    found = log_bites([one.run for one in runs])
    early = {(key, at) for key in found for at in range(3) if found[key][at] < math.log(900)}
    assert early == {("eq_4_T", 0)}
    rate = [bounds.loss_excess_rate(one.run.constants, exact=True) for one in runs]
    for one, slope in zip(runs, rate, strict=True):  # the dotted lines lie on the solid ones
        assert one.log_excess[-1] == pytest.approx(-slope * one.step[-1], rel=1e-6)
