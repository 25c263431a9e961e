"""Checks of Theorem 3 and of what Section 5 reads from it."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from ntpbook.tian2023.s5_fates import growth, growth_readings, growth_runs
from ntpcore.tian2023 import attention, classes
from ntpcore.verdicts.claims import Verdict


@pytest.fixture(scope="module")
def flows() -> list[growth_runs.Run]:
    return growth_runs.runs(3)[:7]


@pytest.fixture(scope="module")
def simple(flows: list[growth_runs.Run]) -> growth_runs.Run:
    """Two classes with one common token of weight 1 and distinct ones of 2 and 1."""
    return flows[0]


def shifted(run: growth_runs.Run, token: int, amount: float) -> growth_runs.Run:
    """The run with one score planted wrong after the start."""
    z = run.path.z.copy()
    z[5:, run.path.classes.query[run.n], token] += amount
    return replace(run, path=replace(run.path, z=z))


# Theorem 3


def test_tian2023_thm_3_by_hand(simple):
    # f = (1, 2, 1) / sqrt(6): the token of weight 2 dominates, with r(0) = 3
    assert simple.tokens == (1, 2)
    assert simple.f[0, :3] == pytest.approx(np.array([1, 2, 1]) / math.sqrt(6))
    assert attention.relative_gain(simple.f[0], 1, 2) == pytest.approx(3)
    assert simple.fall


def test_tian2023_thm_3_agrees_with_an_arbitrary_force(simple):
    """Any positive force in the place of xi gives the same relation, by plain integration."""
    P = np.array([0.5, 0.3, 0.1])

    def slope(t, z):
        u = (P * np.exp(z)) ** 2
        return (1.5 + np.sin(3 * t)) * u / (u.sum() + 0.2 * math.exp(-t))

    z = solve_ivp(slope, (0, 4), np.array([0.1, -0.2, 0.0]), rtol=1e-10, atol=1e-12).y
    u = (P[:, None] * np.exp(z)) ** 2
    for one, other in ((0, 1), (0, 2), (1, 2), (2, 0)):
        gain = u[one] / u[other] - 1
        chi = attention.growth(z[one], z[one, 0])
        assert gain == pytest.approx(gain[0] * chi, rel=1e-7)


def test_tian2023_thm_3_is_proved_and_a_growing_common_token_noticed(flows):
    check = growth.check_tian2023_thm_3(flows)
    assert check.verdict is Verdict.PROVED
    assert check.with_control(growth.control_tian2023_thm_3()).control
    assert not growth_runs.growing_run().fall


def test_tian2023_thm_3_notices_a_planted_error(simple):
    assert growth.check_tian2023_thm_3([shifted(simple, 1, -0.05)]).verdict is Verdict.REFUTED


def test_tian2023_thm_3_bounds_are_strict_by_hand():
    # chi = e^(2 B), f^2 = 1/4: the upper bound is met, the lower one is a quarter of it
    z = np.array([[0.0], [1.0], [2.0]])
    run = SimpleNamespace(name="", n=0, z=z, f=np.array([[0.5]]), path=SimpleNamespace(B=z))
    assert [case.slack for case in growth._sandwich(run, 0)] == [3.0, -1.0]


def test_tian2023_thm_3_a_common_token_that_rests_does_not_fall(simple, monkeypatch):
    monkeypatch.setattr(growth_runs, "moves_of", lambda path, M: np.zeros_like(path.z))
    assert not growth_runs.run_of("at rest", simple.path.classes, simple.M, simple.n).fall


# Equation (11)


def test_tian2023_eq_11_by_hand(simple):
    # r(0) = 3, so that f_1^2 / f_2^2 = 1 + 3 e^(2 z_1)
    ratio = (simple.f[-1, 1] / simple.f[-1, 2]) ** 2
    assert ratio == pytest.approx(1 + 3 * math.exp(2 * simple.z[-1, 1]), rel=1e-8)
    assert simple.z[-1, 1] > 0.1


def test_tian2023_eq_11_agrees_with_the_follower(flows):
    run = flows[-1]
    P, first = run.path.classes.probabilities[run.n], run.tokens[0]
    for other in run.tokens[1:]:
        found = attention.follower(P[first], P[other], run.z[:, first], run.z[0, other])
        assert found == pytest.approx(run.z[:, other], abs=1e-7)


def test_tian2023_eq_11_is_proved_and_the_other_factor_noticed(flows):
    check = growth.check_tian2023_eq_11(flows)
    assert check.verdict is Verdict.PROVED
    assert check.with_control(growth.control_tian2023_eq_11(flows[:2])).control
    planted = growth.check_tian2023_eq_11([shifted(flows[0], 2, 1e-5)])
    assert planted.verdict is Verdict.REFUTED


def test_tian2023_eq_11_is_no_identity_where_both_layers_are_trained():
    fast, slow = growth.true_flow_defect(0.5, 1e3), growth.true_flow_defect(0.01, 1e3)
    assert 1e-4 < slow < fast < 0.2


# Equation (12)


def test_tian2023_eq_12_by_hand(simple):
    # f^2(0) = 4/6 of the dominant token; the bounds are attained to first order below, not above
    log_chi, B = 2 * simple.z[1, 1], simple.path.B[1, 0]
    assert log_chi / (2 * B) == pytest.approx(2 / 3, rel=1e-3)


def test_tian2023_eq_12_agrees_with_quadrature_of_the_force(simple):
    """B by an integrator is the integral of the forces along the path."""
    forces = []
    for place in range(len(simple.path.at)):
        E = classes.correlations(simple.path.f(place))
        forces.append(attention.forces(E, attention.coefficients(E, simple.M))[0])
    coarse = np.trapezoid(forces, simple.path.at)
    assert simple.path.B[-1, 0] == pytest.approx(coarse, rel=0.1)  # few points of a smooth curve


def test_tian2023_eq_12_is_proved_and_a_weaker_token_noticed(flows):
    check = growth.check_tian2023_eq_12(flows)
    assert check.verdict is Verdict.PROVED
    assert check.with_control(growth.control_tian2023_eq_12(flows[1:4])).control
    assert growth.check_tian2023_eq_12([shifted(flows[0], 1, 3.0)]).verdict is Verdict.REFUTED


def test_tian2023_eq_12_is_open_when_no_run_has_the_hypotheses():
    assert growth.check_tian2023_eq_12([growth_runs.growing_run()]).verdict is Verdict.OPEN


# Equation (112)


def test_tian2023_eq_112_by_hand(simple):
    # r(0) chi dz at t = 0 is 3 dz, while d/dt e^(2 (z_1 - z_2)) 4 = 8 (dz_1 - dz_2) = 6 dz_1,
    # as dz_2 = dz_1 / 4
    moves = growth_runs.moves_of(simple.path, simple.M)[0, 0]
    assert moves[2] == pytest.approx(moves[1] / 4)
    check = growth.check_tian2023_eq_112([simple])
    assert float(check.numbers["printed"]) == pytest.approx(3 * moves[1], rel=1e-2)
    assert float(check.numbers["exact"]) == pytest.approx(6 * moves[1], rel=1e-2)


def test_tian2023_eq_112_is_refuted_but_not_with_its_factor(flows):
    check = growth.check_tian2023_eq_112(flows)
    assert check.verdict is Verdict.REFUTED
    assert check.with_control(growth.control_tian2023_eq_112(flows[:2])).control


def test_tian2023_eq_112_agrees_with_differences_of_the_gain():
    data = classes.layered_classes([1], [[2, 1]] * 2, 5, (0, 0))
    path = attention.flow(data, 100, np.array([0.0, 1e-3]))
    gains = [attention.relative_gain(path.f(place)[0], 1, 2) for place in (0, 1)]
    run = growth_runs.Run("", path, 0, 100, True)
    check = growth.check_tian2023_eq_112([run])
    assert (gains[1] - gains[0]) / 1e-3 == pytest.approx(float(check.numbers["exact"]), rel=1e-2)


def test_tian2023_eq_112_corrected_by_hand(simple):
    check = growth.check_tian2023_eq_112_corrected([simple])
    assert check.numbers["printed"] == check.numbers["exact"]


def test_tian2023_eq_112_corrected_is_proved_and_the_missing_factor_noticed(flows):
    check = growth.check_tian2023_eq_112_corrected(flows)
    assert check.verdict is Verdict.PROVED
    assert check.with_control(growth.control_tian2023_eq_112_corrected(flows[:2])).control
    assert growth_runs.gain_identities()["(112)"] == 0


def test_tian2023_eq_112_corrected_agrees_with_growth_of_logarithms(flows):
    run = flows[3]
    first, other = run.tokens[:2]
    moves = growth_runs.moves_of(run.path, run.M)[4, run.path.classes.query[run.n]]
    r = attention.relative_gain(run.f[4], first, other)
    # d ln(1 + r) = 2 (dz_1 - dz_2) and dr = 2 r dz_1
    assert 2 * r * moves[first] / (1 + r) == pytest.approx(2 * (moves[first] - moves[other]))


# Token scanning


def test_tian2023_app_scanning_by_hand():
    # weights 4, 2, 1: r(0) = 3 and 15; at chi = 2 the quotients are 7 and 31
    data = classes.layered_classes([1.0], [[4.0, 2.0, 1.0]] * 2, 7, (0, 0))
    run = growth_runs.run_of("", data, 100, 0)
    chi = attention.growth(run.z[:, 1], 0.0)
    assert (run.f[:, 1] / run.f[:, 2]) ** 2 == pytest.approx(1 + 3 * chi)
    assert (run.f[:, 1] / run.f[:, 3]) ** 2 == pytest.approx(1 + 15 * chi)
    assert growth_readings.check_tian2023_app_scanning([run]).verdict is Verdict.PROVED


def test_tian2023_app_scanning_agrees_with_the_time_to_a_level():
    data = classes.layered_classes([1.0], [[1.0, 0.55, 0.5]] * 3, 10, (0, 0, 0))
    run = growth_runs.run_of("", data, 1000, 0)
    quotients = (run.f[:, [1]] / run.f[:, [3, 2]]) ** 2  # 4 and 3.3 at the start
    first, second = (quotients >= 4.5).argmax(axis=0).tolist()
    assert 0 < first < second


def test_tian2023_app_scanning_is_proved_and_a_bonus_noticed(flows):
    used = growth_readings.from_zero(flows)
    assert used
    check = growth_readings.check_tian2023_app_scanning(used)
    assert check.verdict is Verdict.PROVED
    assert check.with_control(growth_readings.control_tian2023_app_scanning()).control


# The start as a prior


def test_tian2023_app_prior_by_hand():
    # P differs by a tenth: ln 1.1 = 0.095, which a start of 0.2 outweighs
    starts = [(0.0, 0.0), (0.0, 0.2)]
    check = growth_readings.check_tian2023_app_prior(starts)
    assert (check.numbers["first"], check.numbers["second"]) == ("1", "1")


def test_tian2023_app_prior_agrees_with_the_conserved_difference():
    data = classes.layered_classes([1.0], [[1.1, 1.0], [1.0, 0.5]], 5, (0, 0))
    start = np.zeros((1, 5))
    start[0, 2] = 0.15
    path = attention.flow(data, 1000, growth_runs.CLOCKS, start)
    inverse = (data.probabilities[0, 1:3] * np.exp(path.z[:, 0, 1:3])) ** -2.0
    kept = inverse[:, 0] - inverse[:, 1]
    assert kept[0] > 0  # the second token leads
    assert kept == pytest.approx(np.full(len(kept), kept[0]), rel=1e-7)


def test_tian2023_app_prior_is_proved_and_probabilities_alone_noticed():
    check = growth_readings.check_tian2023_app_prior(growth_readings.starts_around_zero(3, 2))
    assert check.verdict is Verdict.PROVED
    assert check.with_control(growth_readings.control_tian2023_app_prior()).control
