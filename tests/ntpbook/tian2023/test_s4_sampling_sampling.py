"""Counts of classes and their probabilities, against fractions, enumeration and sampling."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from ntpbook.tian2023.s4_sampling import sampling
from ntpcore.tian2023 import decoder


def exact_mass(N: int, p: Fraction, counts: range) -> Fraction:
    """Binomial probabilities of some counts, added as fractions."""
    terms = (math.comb(N, k) * p**k * (1 - p) ** (N - k) for k in counts)
    return sum(terms, Fraction(0))


def test_radii_by_hand():
    # ln(2/delta) = 2 for delta = 2/e^2, so that the radii of N = 100 are 11 and sqrt(200)
    delta = 2 / math.e**2
    assert sampling.hoeffding_radius(100, delta) == pytest.approx(11)
    assert sampling.outer_radius(100, delta) == pytest.approx(math.sqrt(200))
    assert sampling.remark_radius(100, 1 / math.e) == 10
    # L = 2, N v = 18/2: 2/3 + sqrt(4/9 + 36) = 2/3 + sqrt(328)/3
    found = sampling.bernstein_radius(36, 0.5, delta)
    assert found == pytest.approx(2 / 3 + math.sqrt(328) / 3)
    with pytest.raises(ValueError, match="between 0 and 1"):
        sampling.outer_radius(10, 1.0)


def test_outside_agrees_with_fractions():
    for N, p in itertools.product((1, 2, 7, 40), (Fraction(0), Fraction(1, 3), Fraction(1))):
        for middle, radius in ((0, 0.5), (sampling.centre(N, p), 1.0), (N / 3, 2.4), (N, N)):
            inside = range(max(0, math.ceil(middle - radius)), min(N, int(middle + radius)) + 1)
            expected = 1 - exact_mass(N, p, inside)
            assert sampling.outside(N, p, middle, radius) == pytest.approx(
                float(expected), rel=1e-12, abs=0
            )


def test_true_radius_is_the_smallest():
    p, middle = Fraction(1, 5), 20
    radius = sampling.true_radius(100, p, middle, 0.05)
    assert sampling.outside(100, p, middle, radius) <= 0.05
    assert sampling.outside(100, p, middle, radius - 1) > 0.05
    assert sampling.true_radius(5, Fraction(0), 0, 0.5) == 0


def test_the_outer_radius_is_wrong_for_one_draw_only():
    # N = 1: the radius is below 1 iff delta > 2/e, and then N_n = 0 is missed with P up to 1
    assert float(sampling.outer_worst_case(1)) == pytest.approx(math.e / 2)
    assert all(sampling.outer_worst_case(N) < 1 for N in range(2, 17))
    # N = 2, |N_n - c| >= 2 at p near 1/2 from above: (1/2)^2, against 2 e^-2
    assert float(sampling.outer_worst_case(2)) == pytest.approx(math.e**2 / 8)
    with pytest.raises(ValueError, match="at least one"):
        sampling.outer_worst_case(0)


def test_the_worst_case_bounds_a_scan_of_shares():
    worst = {N: float(sampling.outer_worst_case(N)) for N in (2, 3, 5)}
    for N, delta in itertools.product(worst, (0.3, 0.6, 0.9)):
        radius = sampling.outer_radius(N, delta)
        if N * math.log(2 / delta) > 6 + 4 * math.sqrt(2):
            continue
        for k in range(1, 60):
            p = Fraction(k, 60)
            missed = sampling.outside(N, p, sampling.centre(N, p), radius)
            assert missed <= worst[N] * delta


def test_joint_probabilities_agree_with_enumeration():
    N, K = 7, 3
    for low, high in ((0, 7), (1, 4), (2, 3), (3, 3), (2, 2), (5, 4)):
        ways = sum(
            all(low <= draws.count(n) <= high for n in range(K))
            for draws in itertools.product(range(K), repeat=N)
        )
        found = sampling.all_inside(N, K, low, high)
        assert found == pytest.approx(ways / K**N, abs=1e-14)
    assert sampling.all_inside(6, 3, 2, 2) == pytest.approx(90 / 729)


def test_joint_probabilities_of_two_classes_are_binomial():
    for N, radius in ((1000, 30), (1_000_000, 900)):
        both = sampling.all_inside(N, 2, N // 2 - radius, N // 2 + radius)
        one = 1 - sampling.outside(N, Fraction(1, 2), N // 2, radius)
        assert both == pytest.approx(one, abs=1e-12)


def test_joint_radius_agrees_with_sampled_counts():
    rng = np.random.default_rng(7)
    counts = rng.multinomial(2000, np.full(10, 0.1), size=20_000)
    off = np.abs(counts - 200).max(axis=1)
    radius = sampling.joint_radius(2000, 10, 0.05)
    assert (off <= radius).mean() > 0.945  # a standard error is 0.0015
    assert (off <= radius - 1).mean() < 0.955


def test_row_errors_are_those_of_a_run():
    M, K, eta, N = 50, 3, 0.7, 90
    rng = np.random.default_rng(3)
    draws = rng.integers(K, size=N)
    E = np.full((K, K), 0.1) - 0.1 * np.eye(K)
    state = decoder.run(decoder.zero_decoder(M, E), draws, eta, modified=True)
    mean = float(decoder.height(M, eta * 30)) / M * (M - 1)
    theta = sampling.row_errors(M, K, eta, N, state.updates)
    assert np.diag(state.W) / mean - 1 == pytest.approx(theta, abs=1e-13)
    assert (np.diff(sampling.row_errors(M, K, eta, N, np.arange(60))) > 0).all()


def test_quantiles_of_row_errors_agree_with_sampled_ones():
    rng = np.random.default_rng(11)
    M, K, eta, N = 1000, 5, 0.1, 2000
    sampled = sampling.sampled_row_errors(rng, M, K, eta, N, 20_000)
    exact = sampling.row_error_quantile(M, K, eta, N, 0.1)
    assert np.quantile(sampled, 0.9) == pytest.approx(exact, rel=0.03)
    chances = sampling.row_error_chances(M, K, eta, N, [exact, exact * 0.999, 0.0])
    assert chances[0] >= 0.9 > chances[1]
    assert chances[2] <= chances[1]
