"""The checks of Appendix D.4 of Tian et al. (2023): classes drawn at random."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ntpbook.tian2023.s4_sampling import sampling as counts
from ntpbook.tian2023.s4_sampling import (
    sampling_decoder,
    sampling_rate,
    sampling_solution,
    sampling_spread,
    sampling_variance,
)
from ntpcore.tian2023 import classes as data
from ntpcore.tian2023 import decoder, decoder_rate, sampling
from ntpcore.verdicts.claims import Verdict

# Lemma 10


def test_tian2023_lem_10_by_hand():
    # N = 1, P(n) = 1/8, delta = 3/4: the centre is 1, the radius sqrt(ln(8/3)) < 1, N_n mostly 0
    assert sampling.outer_radius(1, 0.75) == pytest.approx(math.sqrt(math.log(8 / 3)))
    assert sampling.outside(1, Fraction(1, 8), 1, sampling.outer_radius(1, 0.75)) == 7 / 8
    # the second sign of (58) at both sides of N ln(2/delta) = 6 + 4 sqrt(2)
    for shift, right in ((1e-6, True), (-1e-6, False)):
        delta = 2 * math.exp(-(6 + 4 * math.sqrt(2) + shift) / 10)
        assert (sampling.hoeffding_radius(10, delta) < sampling.outer_radius(10, delta)) is right


def test_tian2023_lem_10_agrees_with_sampled_counts():
    rng = np.random.default_rng(1)
    drawn = rng.binomial(400, 0.3, size=50_000)
    for delta in (0.5, 0.05):
        off = np.abs(drawn - 120) > sampling.hoeffding_radius(400, delta)
        exact = sampling.outside(400, Fraction(3, 10), 120, sampling.hoeffding_radius(400, delta))
        assert off.mean() == pytest.approx(exact, abs=0.01)
        assert exact <= delta


def test_tian2023_lem_10_is_proved_with_one_refuted_reading():
    check = counts.check_tian2023_lem_10()
    assert check.verdict is Verdict.PROVED
    assert [one.verdict for one in check.readings] == [
        Verdict.PROVED,
        Verdict.PROVED,
        Verdict.REFUTED,
    ]
    assert check.numbers["enough"] == "17"
    assert 16 * math.log(2) < 6 + 4 * math.sqrt(2) < 17 * math.log(2)
    assert check.with_control(counts.control_tian2023_lem_10()).control


# Remark 4


def test_tian2023_rem_4_by_hand():
    # K = 2, N = 16, delta = 1/2: Delta = ceil(sqrt(16 ln 2)) = 4; one count decides for both
    assert sampling.remark_radius(16, 0.5) == 4
    inside = sum(math.comb(16, k) for k in range(4, 13)) / 2**16
    assert sampling.all_inside(16, 2, 4, 12) == pytest.approx(inside)
    check = counts.check_tian2023_rem_4(classes=(2,), multiples=(4,))
    assert check.tried == 2 * len(counts.LIKELY)
    assert check.verdict is Verdict.CONSISTENT


def test_tian2023_rem_4_agrees_with_sampled_counts():
    rng = np.random.default_rng(2)
    K, N, delta = 5, 100, 0.5
    drawn = rng.multinomial(N, np.full(K, 1 / K), size=20_000)
    radius = sampling.remark_radius(N, delta)
    missed = (np.abs(drawn - 20).max(axis=1) > radius).mean()
    exact = 1 - sampling.all_inside(N, K, 20 - radius, 20 + radius)
    assert missed == pytest.approx(exact, abs=0.01)


def test_tian2023_rem_4_is_consistent_unless_delta_is_near_1():
    check = counts.check_tian2023_rem_4()
    assert check.verdict is Verdict.CONSISTENT
    assert [one.verdict for one in check.readings] == [
        Verdict.PROVED,
        Verdict.CONSISTENT,
        Verdict.CONSISTENT,
        Verdict.REFUTED,
    ]
    assert check.with_control(counts.control_tian2023_rem_4()).control


# The radius with the variance


def test_ours_bernstein_by_hand():
    # certain classes: the variance is 0 and the radius 2L/3, and the count is always the mean
    assert sampling.bernstein_radius(50, 1.0, 2 / math.e**3) == pytest.approx(2)
    assert sampling.outside(50, Fraction(1), 50, 2.0) == 0


def test_ours_bernstein_agrees_with_the_inequality_it_solves():
    for N, p, delta in ((10, 0.5, 0.1), (1000, 0.02, 1e-6), (40_000, 0.05, 0.05)):
        t = sampling.bernstein_radius(N, p, delta)
        bound = 2 * math.exp(-t * t / (2 * N * p * (1 - p) + 2 * t / 3))
        assert bound == pytest.approx(delta)


def test_ours_bernstein_is_proved_and_its_control_noticed():
    check = sampling_variance.check_ours_bernstein()
    assert check.verdict is Verdict.PROVED
    assert int(check.numbers["needed"]) < int(check.numbers["ours"]) < int(check.numbers["middle"])
    assert check.with_control(sampling_variance.control_ours_bernstein()).control


# Lemma 11


def test_tian2023_lem_11_by_hand():
    # at e^x = M - 1 the slope is its largest, M/(4 (M - 1)), which is 1/3 for M = 4
    assert float(sampling_spread.relative_slope(4, math.log(3))) == pytest.approx(1 / 3)
    assert float(sampling_spread.relative_slope(1000, math.log(999))) == pytest.approx(250 / 999)
    assert float(sampling_spread.relative_slope(3, math.log(2))) > 1 / 3  # so M >= 4 is needed


def test_tian2023_lem_11_agrees_with_differences():
    M, eta, s, step = 30, 0.5, 12.0, 1e-4
    x = decoder.height(M, eta * np.array([s - step, s, s + step]))
    g = 1 / (M - 1 + np.exp(x))
    found = -(g[2] - g[0]) / (2 * step) / (eta * g[1])  # g falls: the sign of (64) is a slip
    assert found == pytest.approx(float(sampling_spread.relative_slope(M, x[1])), rel=1e-6)
    assert found > 0


def test_tian2023_lem_11_is_consistent_and_planted_errors_are_noticed():
    check = sampling_spread.check_tian2023_lem_11()
    assert check.verdict is Verdict.CONSISTENT
    assert [one.verdict for one in check.readings] == [Verdict.PROVED] * 4 + [Verdict.REFUTED]
    assert float(check.numbers["late"]) < 2 < float(check.numbers["never"])
    assert check.with_control(sampling_spread.control_tian2023_lem_11()).control
    squared = sampling_spread.check_tian2023_lem_11(power=2.0)
    assert squared.verdict is Verdict.REFUTED


# Lemma 12


def test_tian2023_lem_12_by_hand():
    # every class drawn as often as on the average, small eta: theta is 0 up to the lead of h*
    theta = sampling.row_errors(1000, 2, 1e-6, 100, np.array([50, 25, 0]))
    assert theta == pytest.approx([0, -0.5, -1], abs=1e-4)
    assert sampling_decoder.printed_theta(2, 100, 2 / math.e**4) == pytest.approx(0.4)


def test_tian2023_lem_12_agrees_with_sampled_runs():
    check = sampling_decoder.check_tian2023_lem_12(sizes=sampling_decoder.SIZES[:2])
    found, sampled = float(check.numbers["found"]), float(check.numbers["sampled"])
    assert sampled == pytest.approx(found, rel=0.05)
    assert float(check.numbers["slope_early"]) == pytest.approx(-0.5, abs=0.02)


def test_tian2023_lem_12_is_consistent_and_its_control_noticed():
    check = sampling_decoder.check_tian2023_lem_12()
    assert check.verdict is Verdict.CONSISTENT
    assert [one.verdict for one in check.readings] == [Verdict.PROVED, Verdict.CONSISTENT]
    assert check.with_control(sampling_decoder.control_tian2023_lem_12()).control


# Theorem 5


def test_tian2023_thm_5_by_hand():
    # one update of each of two classes with f_1 . f_2 = 1/2 moves W by eta zeta_n (M - 1)/M
    f = np.array([[1.0, 0.0, 0.0], [0.5, math.sqrt(0.75), 0.0]])
    Y = sampling_solution.dense_run(f, np.array([0, 1]), eta=0.6)
    expected = 0.6 * np.array([[2 / 3, -1 / 3, -1 / 3], [-1 / 3, 2 / 3, -1 / 3]])
    assert f @ Y == pytest.approx(expected, abs=1e-15)
    assert np.array([0.0, 0.0, 1.0]) @ Y == pytest.approx(np.zeros(3))  # columns in the span


def test_tian2023_thm_5_dense_runs_agree_with_the_short_ones():
    rng = np.random.default_rng(5)
    f = data.unit_scores(data.random_classes(rng, 3, 15, common=2, distinct=2))
    draws = rng.integers(3, size=50)
    Y = sampling_solution.dense_run(f, draws, 0.8)
    start = decoder.zero_decoder(15, data.correlations(f))
    state = decoder.run(start, draws, 0.8, modified=True)
    assert f.T @ state.A[:, :3] == pytest.approx(Y[:, :3], abs=1e-12)
    assert f.T @ np.tile(state.A[:, 3:], 12) == pytest.approx(Y[:, 3:], abs=1e-12)
    assert sampling_solution.off_line(state) == pytest.approx(np.zeros(3), abs=1e-12)


def test_tian2023_thm_5_is_consistent_for_26_and_refuted_for_7():
    check = sampling_solution.check_tian2023_thm_5()
    assert check.verdict is Verdict.CONSISTENT
    assert [one.verdict for one in check.readings] == [
        Verdict.PROVED,
        Verdict.CONSISTENT,
        Verdict.REFUTED,
    ]
    assert check.with_control(sampling_solution.control_tian2023_thm_5()).control
    kept = sampling_solution.gradient_departures(draws=(100,), modified=True)
    assert kept[0][1] < 1e-14  # so it is the update that makes the difference


# Corollary 1


def test_tian2023_cor_1_by_hand():
    # two classes, two draws: each is drawn at least once with probability 1/2
    assert sampling_rate.enough(2, 2, 1) == pytest.approx(0.5)
    assert sampling_rate.steps_for_all(2, 1, 0.05) == 6  # 2 (1/2)^N <= 0.05


def test_tian2023_cor_1_agrees_with_sampled_runs():
    M, K, eta, epsilon = 100, 4, 0.5, 0.05
    heights = decoder_rate.heights_until(M, eta, epsilon)
    need = decoder_rate.counted_steps(heights, M, epsilon)
    N = sampling_rate.steps_for_all(K, need, 0.2)
    rng = np.random.default_rng(6)
    drawn = rng.multinomial(N, np.full(K, 1 / K), size=20_000)
    assert (drawn.min(axis=1) >= need).mean() == pytest.approx(0.8, abs=0.02)
    assert decoder_rate.printed_steps(M, K, eta, epsilon) > N


def test_tian2023_cor_1_is_consistent_and_its_control_noticed():
    check = sampling_rate.check_tian2023_cor_1()
    assert check.verdict is Verdict.CONSISTENT
    assert [one.verdict for one in check.readings] == [Verdict.CONSISTENT, Verdict.REFUTED]
    assert check.with_control(sampling_rate.control_tian2023_cor_1()).control


# The exact number of updates


def test_ours_decoder_rate_by_hand():
    # M = 2, epsilon = 1/2 is the start: no update is needed
    assert decoder_rate.steps_to_accuracy(2, 1.0, 0.5) == pytest.approx(0)
    check = sampling_rate.check_ours_decoder_rate(vocabularies=(2,))
    assert check.verdict is Verdict.PROVED


def test_ours_decoder_rate_agrees_with_counting():
    x, s = 0.0, 0
    while 999 / (999 + math.exp(x)) > 0.01:
        x, s = x + 500 / (999 + math.exp(x)), s + 1
    check = sampling_rate.check_ours_decoder_rate(vocabularies=(1000,))
    assert check.numbers["steps"] == str(s)
    assert float(check.numbers["S"]) - float(check.numbers["lead"]) == pytest.approx(s, abs=1)


def test_ours_decoder_rate_is_proved_and_its_control_noticed():
    check = sampling_rate.check_ours_decoder_rate()
    assert check.verdict is Verdict.PROVED
    assert check.with_control(sampling_rate.control_ours_decoder_rate()).control
