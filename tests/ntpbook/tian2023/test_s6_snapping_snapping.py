"""Tests of the growth bound and of equation (10) with one common token."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from ntpbook.tian2023.s6_snapping import snapping
from ntpbook.tian2023.s6_snapping.snapping import SnapSetting
from ntpcore.tian2023 import decoder
from ntpcore.tian2023.classes import correlations

S = SnapSetting(100, 4, 0.5, 0.25)


def test_gamma_agrees_with_quadrature() -> None:
    for t in (1.0, S.first_end, 5 * S.onset):
        by_quad = quad(
            lambda at: S.eta_z * float(decoder.speed(S.M, S.K, S.eta_y, at)), 0, t, limit=200
        )[0]
        assert float(snapping.total_speed(S, t)) == pytest.approx(by_quad, rel=1e-8)


def test_gamma_is_quadratic_at_first() -> None:
    tau = 1e-4  # x = tau, up to a relative tau
    t = tau * S.K / S.eta_y
    assert float(snapping.total_speed(S, t)) == pytest.approx(2 / 2 * (0.99 * tau) ** 2, rel=1e-3)


def test_the_stages_are_those_of_equation_14() -> None:
    t = 3.0
    assert 4 * float(snapping.first_stage(S, t)) == pytest.approx(
        2 * 99**2 / (4 * 100**2) * 0.5 * 0.25 * 9
    )
    assert 4 * float(snapping.second_stage(S, t)) == pytest.approx(
        2 * 4 * 99**2 / 100**2 * 0.5 * math.log(100 * 0.5 * 3 / 4) ** 2
    )
    assert S.first_end == pytest.approx(4 * math.log(100) / 0.5)


def test_growth_solves_equation_13() -> None:
    times = np.array([1.0, 20.0, 500.0])
    z, B = snapping.solve_13(S, 0.7, times)
    assert snapping.growth(0.7, snapping.total_speed(S, times)) == pytest.approx(B, rel=1e-7)
    assert -z == pytest.approx(B, rel=1e-7)


def test_printed_and_corrected_growth_differ_by_a_constant() -> None:
    Gamma = np.array([0.0, 1.0, 50.0])
    gap = snapping.printed_growth(3.0, Gamma) - snapping.growth(3.0, Gamma)
    assert gap == pytest.approx(np.full(3, math.log(3) / 4))


def test_slopes_of_equation_10_by_hand() -> None:
    c, d = math.sqrt(0.2), math.sqrt(0.8)
    f = np.array([[c, d, 0.0], [c, 0.0, d]])
    change, xi = snapping.attention_slopes(f, 3.0, 0.5, correlations(f))
    assert xi == pytest.approx([3 * 0.04, 3 * 0.04])
    assert change == pytest.approx(0.5 * 0.12 * np.array([-2 * 0.8, 0.8, 0.8]))


def test_the_full_beta_is_that_of_symmetric_classes() -> None:
    K, M, e = 5, 300, 0.2
    beta = snapping.full_beta(e * (np.ones((K, K)) - np.eye(K)), M)
    expected = M / (M - 1) * (e + 1 / (M - 1)) / ((1 - e) * (1 + (K - 1) * e))
    assert beta[0, 1:] == pytest.approx(np.full(K - 1, expected))


@pytest.mark.parametrize("epsilon", [0.4, 0.9, 0.99])
def test_the_closed_solution_is_that_of_equation_10(epsilon: float) -> None:
    times = np.array([0.1, 10.0, 1e4])
    run = snapping.solve_10(S, epsilon, times)
    e, B = snapping.solve_closed(S.K, epsilon, run.Gamma)
    assert run.epsilon == pytest.approx(e, rel=1e-6)
    assert float(np.abs(run.B / B - 1).max()) < 1e-6
    assert run.z[:, 0] == pytest.approx(-S.K * run.z[:, 1])


def test_for_small_epsilon_the_inverse_square_grows_linearly() -> None:
    Gamma = np.array([1e6, 1e8])
    e, _ = snapping.solve_closed(3, 1e-4, Gamma)
    assert e**-2 == pytest.approx(1e8 + 32 * Gamma, rel=1e-3)


@pytest.mark.parametrize(
    ("K", "epsilon", "Gamma"),
    [(1, 0.5, 1.0), (3, 0.0, 1.0), (3, 0.995, 1.0), (3, 1.5, 1.0), (3, 0.5, -1.0)],
)
def test_the_closed_solution_says_where_it_is_none(K: int, epsilon: float, Gamma: float) -> None:
    with pytest.raises(ValueError, match=r"0 < epsilon <= 0\.99 and Gamma >= 0 are needed"):
        snapping.solve_closed(K, epsilon, np.array([2.0, Gamma]))


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="M >= 5"):
        SnapSetting(4, 2, 1.0, 1.0)
    with pytest.raises(ValueError, match="rates > 0"):
        SnapSetting(10, 2, 0.0, 1.0)
