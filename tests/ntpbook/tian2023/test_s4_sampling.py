"""Classes drawn at random: Appendix D.4 of Tian et al. (2023)."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from every_check import sound

from ntpbook.tian2023.s4_sampling import checks, decoder_rate, instances, sampling, steps
from ntpcore.tian2023 import classes as data
from ntpcore.tian2023 import decoder
from ntpverdicts.claims import Verdict

PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED
READ_OTHERWISE = (
    "tian2023-lem-10",
    "ours-all-counts",
    "tian2023-lem-11",
    "tian2023-thm-5-exact",
    "tian2023-cor-1",
)


@pytest.mark.parametrize("label", READ_OTHERWISE)
def test_the_other_reading_is_refuted(label):
    assert [reading.verdict for reading in sound(label).readings] == [REFUTED]


# Lemma 10


def test_tian2023_lem_10_by_hand():
    # N = 1, P(n) = 1/8, delta = 3/4: the centre is 1, the radius sqrt(ln(8/3)) < 1, N_n mostly 0
    assert sampling.outer_radius(1, 0.75) == pytest.approx(math.sqrt(math.log(8 / 3)))
    assert sampling.outside(1, Fraction(1, 8), 1, sampling.outer_radius(1, 0.75)) == 7 / 8
    found = checks.check_tian2023_lem_10.judge([instances.ONE_DRAW])
    assert found.verdict is REFUTED
    assert "outer radius" in found.witness
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


def test_tian2023_lem_10_needs_17_draws():
    assert 16 * math.log(2) < 6 + 4 * math.sqrt(2) < 17 * math.log(2)
    assert instances.ENOUGH == 17


def test_tian2023_lem_10_the_exponent_is_that_of_a_numeric_search():
    p, q = 0.2, 0.35
    theta = np.linspace(0.01, 3, 30_000)
    best = (theta * q - np.log(1 - p + p * np.exp(theta))).max()
    p_, e_ = sp.symbols("p e")
    exact = steps.divergence_of_coins(p_, e_).subs({p_: p, e_: q - p})
    assert best == pytest.approx(float(exact), rel=1e-7)
    assert best >= 2 * (q - p) ** 2


# Remark 4


def test_tian2023_rem_4_by_hand():
    # K = 2, N = 16, delta = 1/2: Delta = ceil(sqrt(16 ln 2)) = 4; one count decides for both
    assert sampling.remark_radius(16, 0.5) == 4
    inside = sum(math.comb(16, k) for k in range(4, 13)) / 2**16
    one = instances.Joint(2, 16, 0.5)
    assert one.outside(4) == pytest.approx(1 - inside)
    assert sampling.outside(16, Fraction(1, 2), one.mean, 4) == pytest.approx(1 - inside)


def test_tian2023_rem_4_rounds_the_mean_count_up():
    # 19 draws of 2 classes: the mean is 9.5, its ceiling 10; Delta = 5 for delta = 0.42
    one = instances.Joint(2, 19, 0.42)
    assert one.mean == 10
    assert sampling.remark_radius(19, 0.42) == 5
    bound = 2 * math.sqrt(math.log(1 / 0.42) / 19) + 2 / 19
    assert 5 / 10 <= bound < 5 / 9
    assert checks.check_tian2023_rem_4.judge([one], up=False).verdict is REFUTED
    assert checks.check_tian2023_rem_4.judge([one]).verdict is PROVED


def test_tian2023_rem_4_windows_around_the_mode_hold_their_shares():
    """The step "unimodal": P(|N_n - N-bar| <= m)/m falls with m, up to the count at N-bar."""
    for N, K in ((16, 2), (17, 2), (36, 3), (37, 3), (38, 3), (103, 5)):
        mean = -(-N // K)
        inside = [1 - sampling.outside(N, Fraction(1, K), mean, m) for m in range(1, N)]
        shares = [value / m for m, value in enumerate(inside, 1)]
        assert all(b <= a + 1e-12 for a, b in itertools.pairwise(shares))


def test_ours_all_counts_by_hand():
    # two classes, 16 draws, delta = 1/2: Delta = 4, and 12 from the mean 8 is never left
    one = instances.Joint(2, 16, 0.5)
    assert one.outside(3 * 4) == pytest.approx(0, abs=1e-12)
    assert 2 / 3 * (1 + math.sqrt(math.log(2)) / 2) + math.sqrt(3) + 1 / (
        4 * math.sqrt(math.log(2))
    ) == pytest.approx(2.977, abs=1e-3)


def test_ours_all_counts_agrees_with_sampled_counts():
    rng = np.random.default_rng(2)
    K, N, delta = 5, 100, 0.5
    drawn = rng.multinomial(N, np.full(K, 1 / K), size=20_000)
    radius = sampling.remark_radius(N, delta)
    missed = (np.abs(drawn - 20).max(axis=1) > radius).mean()
    assert missed == pytest.approx(instances.Joint(K, N, delta).outside(radius), abs=0.01)


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


def test_ours_bernstein_is_between_what_is_needed_and_lemma_10():
    found = checks.check_ours_bernstein.judge([instances.EXAMPLE]).numbers
    order = [found[name].value for name in ("needed", "ours", "middle", "outer")]
    assert order == sorted(order)
    assert found["joint_needed"].value < found["joint_ours"].value < found["middle"].value


# Lemma 11


def test_tian2023_lem_11_by_hand():
    # at e^x = M - 1 the slope is its largest, M/(4 (M - 1)), which is 1/3 for M = 4
    assert float(instances.relative_slope(4, math.log(3))) == pytest.approx(1 / 3)
    assert float(instances.relative_slope(1000, math.log(999))) == pytest.approx(250 / 999)
    assert float(instances.relative_slope(3, math.log(2))) > 1 / 3  # so M >= 4 is needed


def height_by_halving(M, tau):
    """The x with e^x + (M - 1) x = M tau + 1, which is (45)."""
    low, high = 0.0, min(tau, 40.0)
    for _ in range(100):
        x = (low + high) / 2
        low, high = (x, high) if math.exp(x) + (M - 1) * x < M * tau + 1 else (low, x)
    return x


@pytest.mark.parametrize("M", [30, 1000])
def test_tian2023_lem_11_slopes_in_the_logarithm_of_time_agree_with_differences(M):
    """-d ln g / d ln s at its times, from (45) alone: a time that is off moves it."""
    tau, found, begin = instances.Vocabulary(M).slopes()
    assert tau[begin] == pytest.approx(decoder.transition(M, 1, 1.0))
    for place in range(100, 801, 100):
        logs = [
            math.log(M - 1 + math.exp(height_by_halving(M, tau[place] * math.exp(h))))
            for h in (-1e-4, 1e-4)
        ]
        assert found[place] == pytest.approx((logs[1] - logs[0]) / 2e-4, rel=1e-4)


def test_tian2023_lem_11_agrees_with_differences():
    M, eta, s, step = 30, 0.5, 12.0, 1e-4
    x = decoder.height(M, eta * np.array([s - step, s, s + step]))
    g = 1 / (M - 1 + np.exp(x))
    found = -(g[2] - g[0]) / (2 * step) / (eta * g[1])  # g falls: the sign of (64) is a slip
    assert found == pytest.approx(float(instances.relative_slope(M, x[1])), rel=1e-6)
    assert found > 0


def test_tian2023_lem_11_stage_2_is_needed_and_62_needs_a_constant():
    found = checks.check_tian2023_lem_11()
    assert found.numbers["late"].value < 2 < found.numbers["never"].value
    M, literal = 1000, instances.Mean(1000, 1.0, 9.0)
    x, middle = height_by_halving(M, 6.0), height_by_halving(M, 9.0)
    change = (M - 1 + math.exp(middle)) / (M - 1 + math.exp(x)) - 1
    assert change > 3 / 3  # eta |N_n - mean| / 3 with N_n = 6: the bound with constant 1
    assert checks.check_tian2023_lem_11.judge([literal], constant=1).verdict is REFUTED


def test_tian2023_lem_11_needs_a_constant_in_stage_2():
    """At the start of stage 2 an error of a quarter passes on as less than six quarters."""
    M = 1000
    start = decoder.transition(M, 1, 1.0)
    g = [1 / (M - 1 + math.exp(height_by_halving(M, s))) for s in (0.75 * start, start)]
    assert 1 / 4 < g[0] / g[1] - 1 < 6 / 4


def test_tian2023_eq_63_by_hand():
    # h = ln(1 + s)/M for M = 1 would be concave; here M = 2 and eta = 1 at 3 against 1 and 2
    x = [height_by_halving(2, s) for s in (1.0, 2.0, 3.0)]
    slope = 2 / (1 + math.exp(x[0]))
    assert x[2] - x[1] <= x[1] - x[0] <= slope <= x[1] / 1


def test_tian2023_eq_64_by_hand():
    # M = 4, eta = 1/2, y = 3, where D = 6: dh/ds = 1/12, dg/ds = -4 * 3 / 12 / 36
    one = instances.Height(4, Fraction(1, 2), Fraction(3), Fraction(1, 12))
    found = checks.check_tian2023_eq_64.judge([one], sign=-1)
    assert found.verdict is Verdict.NOT_CONTRADICTED
    assert "dg/ds = -1/36" in checks.check_tian2023_eq_64.judge([one], sign=1).witness


def test_tian2023_eq_64_refuses_a_witness_outside_the_hypotheses():
    small = instances.Height(4, Fraction(1, 2), Fraction(3), Fraction(1, 12))
    with pytest.raises(ValueError, match=r"breaks the hypothesis .+ 1000"):
        replace(checks.check_tian2023_eq_64, instances=lambda: [small])()


def test_tian2023_eq_64_corrected_by_hand():
    # M = 4 where y = 3: the relative slope is eta 4 * 3 / 36 = eta/3, the bound itself
    peak = (2 / 4 + 3 / 4 * math.log(3)) / 0.5
    assert height_by_halving(4, 0.5 * peak) == pytest.approx(math.log(3))
    one = instances.Mean(4, 0.5, peak)
    judge = checks.check_tian2023_eq_64_corrected.judge
    assert judge([one]).verdict is PROVED
    assert judge([one], sharper=1.01).verdict is REFUTED


def test_tian2023_eq_65_by_hand():
    # the witness against (62) with the constant 1 lies below the mean count; above it, it holds
    M = 1000
    g = {s: 1 / (M - 1 + math.exp(height_by_halving(M, float(s)))) for s in (6, 9, 12)}
    assert abs(g[12] - g[9]) <= g[9] * 3 / 3 < abs(g[6] - g[9])


# Lemma 12


def test_tian2023_lem_12_by_hand():
    # every class drawn as often as on the average, small eta: theta is 0 up to the lead of h*
    theta = sampling.row_errors(1000, 2, 1e-6, 100, np.array([50, 25, 0]))
    assert theta == pytest.approx([0, -0.5, -1], abs=1e-4)
    assert instances.printed_theta(2, 100, 2 / math.e**4) == pytest.approx(0.4)
    # the constant 5/2 at its tightest: N = 16, K = 2, delta near 1
    lead = (math.e - 2) * math.log(1 + (math.e - 1) * 16)
    needed = math.sqrt(math.log(2)) + (1 + lead) / 4
    assert 2 * math.sqrt(math.log(2)) < needed < 2.5 * math.sqrt(math.log(2))


def test_tian2023_lem_12_agrees_with_sampled_runs():
    found = checks.check_tian2023_lem_12.judge([instances.ROWS_EXAMPLE]).numbers
    assert found["sampled"].value == pytest.approx(found["found"].value, rel=0.05)
    assert found["slope_early"].value == pytest.approx(-0.5, abs=0.02)


def test_tian2023_lem_12_exponents_agree_with_the_spread_of_a_count():
    """theta is about x'(tau)/x(tau) eta times the spread of a count, sqrt(N/K): from (45) alone."""
    M, K = 1_000_000, 10

    def predicted(N, eta):
        tau = eta * N / K
        x = height_by_halving(M, tau)
        return eta * M / (M - 1 + math.exp(x)) / x * math.sqrt(N / K)

    draws = np.logspace(3, 5, 7).round()
    early = np.polyfit(np.log(draws), np.log([predicted(N, 1e-3) for N in draws]), 1)[0]
    late = np.polyfit(np.log(draws), np.log([predicted(10 * N, 1.0) for N in draws]), 1)[0]
    found = instances.fitted_exponents()
    assert found["slope_early"] == pytest.approx(early, abs=0.01)
    assert found["slope_late"] == pytest.approx(late, abs=0.01)


def test_tian2023_lem_12_rows_are_those_of_dense_matrices():
    """F^T Y after sampled updates (26), against theta from the recursion (33) and the flow (44)."""
    rng = np.random.default_rng(9)
    M, K, eta = 14, 3, 0.6
    f = data.unit_scores(data.random_classes(rng, K, M, common=2, distinct=2))
    draws = rng.integers(K, size=31)
    W = f @ instances.dense_run(f, draws, eta)
    h = [0.0]
    for _ in draws:
        h.append(h[-1] + eta / (M - 1 + math.exp(M * h[-1])))  # (33)
    mean = height_by_halving(M, eta * 11) / M  # ceil(31 / 3) = 11
    theta = sampling.row_errors(M, K, eta, 31, np.bincount(draws, minlength=K))
    for n in range(K):
        zeta = M / (M - 1) * (np.eye(M)[n] - 1 / M)
        times = int((draws == n).sum())
        assert W[n] == pytest.approx((M - 1) * h[times] * zeta, abs=1e-12)
        assert theta[n] == pytest.approx(h[times] / mean - 1, rel=1e-9)


# Theorem 5


def test_tian2023_thm_5_exact_by_hand():
    # one update of each of two classes with f_1 . f_2 = 1/2 moves W by eta zeta_n (M - 1)/M
    f = np.array([[1.0, 0.0, 0.0], [0.5, math.sqrt(0.75), 0.0]])
    Y = instances.dense_run(f, np.array([0, 1]), eta=0.6)
    expected = 0.6 * np.array([[2 / 3, -1 / 3, -1 / 3], [-1 / 3, 2 / 3, -1 / 3]])
    assert f @ Y == pytest.approx(expected, abs=1e-15)
    assert np.array([0.0, 0.0, 1.0]) @ Y == pytest.approx(np.zeros(3))  # columns in the span


def test_tian2023_thm_5_exact_dense_runs_agree_with_the_short_ones():
    rng = np.random.default_rng(5)
    f = data.unit_scores(data.random_classes(rng, 3, 15, common=2, distinct=2))
    draws = rng.integers(3, size=50)
    Y = instances.dense_run(f, draws, 0.8)
    start = decoder.zero_decoder(15, data.correlations(f))
    state = decoder.run(start, draws, 0.8, modified=True)
    assert f.T @ state.A[:, :3] == pytest.approx(Y[:, :3], abs=1e-12)
    assert f.T @ np.tile(state.A[:, 3:], 12) == pytest.approx(Y[:, 3:], abs=1e-12)
    assert instances.off_line(state) == pytest.approx(np.zeros(3), abs=1e-12)


def test_tian2023_thm_5_exact_it_is_the_update_that_makes_the_difference():
    (one,) = instances.lines(3, (100,))
    assert instances.off_line(one.modified).max() < 1e-14
    assert instances.off_line(one.plain).max() > 0.01


def test_tian2023_thm_5_exact_notices_a_wrong_entry():
    one = instances.solutions(3)[0]
    Y = one.Y.copy()
    Y[0, 0] += 1e-6 * np.abs(Y).max()
    found = checks.check_tian2023_thm_5_exact.judge([replace(one, Y=Y)])
    assert found.verdict is REFUTED


def test_tian2023_thm_5_exact_notices_a_mean_count_that_is_rounded_down():
    for one in instances.dense_runs(3):
        assert len(one.draws) % one.K > 0
        judge = checks.check_tian2023_thm_5_exact.judge
        assert judge([one], up=False).verdict is REFUTED
        assert judge([one]).verdict is PROVED


def test_tian2023_thm_5_by_hand():
    # K = 2, N = 16, delta = 2/e: 2/4 sqrt(1), and with the constant 5/2 more than 1
    assert instances.printed_theta(2, 16, 2 / math.e) == pytest.approx(0.5)
    (one,) = instances.lines(3, (100,))
    found = checks.check_tian2023_thm_5.judge([one])
    assert found.numbers["loose"].value > 9


# Corollary 1


def test_tian2023_cor_1_by_hand():
    # two classes, two draws: each is drawn at least once with probability 1/2
    assert instances.enough(2, 2, 1) == pytest.approx(0.5)
    assert instances.steps_for_all(2, 1, 0.05) == 6  # 2 (1/2)^N <= 0.05


def test_tian2023_cor_1_agrees_with_sampled_runs():
    M, K, eta, epsilon = 100, 4, 0.5, 0.05
    heights = decoder_rate.heights_until(M, eta, epsilon)
    need = decoder_rate.counted_steps(heights, M, epsilon)
    N = instances.steps_for_all(K, need, 0.2)
    rng = np.random.default_rng(6)
    drawn = rng.multinomial(N, np.full(K, 1 / K), size=20_000)
    assert (drawn.min(axis=1) >= need).mean() == pytest.approx(0.8, abs=0.02)
    assert decoder_rate.printed_steps(M, K, eta, epsilon) > N


def test_tian2023_cor_1_chances_of_sigma_agree_with_draws():
    one = instances.Spread(50, 3, 0.5, 200)
    rng = np.random.default_rng(8)
    heights = [0.0]
    for _ in range(200):
        heights.append(heights[-1] + 50 * 0.5 / (49 + math.exp(heights[-1])))  # (33)
    middle = float(decoder.height(50, np.array([0.5 * 67]))[0])
    drawn = np.array(heights)[rng.binomial(200, 1 / 3, size=40_000)]
    sigma = (49 + math.exp(middle)) / (49 + np.exp(drawn)) - 1
    for bound in (0.05, 0.1, 0.2):
        found = float((np.abs(sigma) > bound).mean())
        assert one.chance_beyond(bound) == pytest.approx(found, abs=0.01)
    assert not one.is_late(0.1)
    assert instances.Spread(50, 3, 0.5, 200_000).is_late(0.1)


def test_tian2023_cor_1_residuals_agree_with_softmax():
    (one, _) = instances.sampled(3, ((12, 2, 0.5, 20), (15, 3, 1.0, 30)))
    for n, times in enumerate(one.state.updates.tolist()):
        logits = np.append(one.state.W[n, :2], np.repeat(one.state.W[n, 2], 10))
        wrong = 1 - np.exp(logits[n]) / np.exp(logits).sum()
        h = 0.0
        for _ in range(times):
            h += 0.5 / (11 + math.exp(12 * h))  # (33)
        assert wrong == pytest.approx(11 / (11 + math.exp(12 * h)), rel=1e-12)


def test_tian2023_cor_1_measures_accuracy_by_the_length_of_the_residual():
    M, eta, epsilon = 100, 0.5, 0.1
    (one,) = (a for a in instances.accuracies(M, 2, eta) if a.epsilon == epsilon)
    x, lengths = 0.0, []
    for _ in range(one.need + 1):
        wrong = 99 / (99 + math.exp(x))
        lengths.append(math.hypot(wrong, wrong / math.sqrt(99)))  # 99 equal wrong entries
        x += M * eta / (99 + math.exp(x))
    assert lengths[one.need] <= epsilon < lengths[one.need - 1]


# The exact number of updates


def test_ours_decoder_rate_by_hand():
    # M = 2, epsilon = 1/2 is the start: no update is needed
    assert decoder_rate.steps_to_accuracy(2, 1.0, 0.5) == pytest.approx(0)
    two = [one for one in instances.recursions() if one.M == 2]
    assert checks.check_ours_decoder_rate.judge(two).verdict is PROVED


def test_ours_decoder_rate_agrees_with_counting():
    x, s = 0.0, 0
    while 999 / (999 + math.exp(x)) > 0.01:
        x, s = x + 500 / (999 + math.exp(x)), s + 1
    some = [one for one in instances.recursions() if (one.M, one.eta) == (1000, 0.5)]
    found = checks.check_ours_decoder_rate.judge(some).numbers
    assert found["steps"].value == s
    assert found["S"].value - found["lead"].value == pytest.approx(s, abs=1)


def test_ours_decoder_rate_time_agrees_with_integration():
    """S by summing dt = (M - 1 + e^x) dx / (M eta) up to the height of the accuracy."""
    for M, eta, epsilon in itertools.product((5, 1000), (0.1, 1.0), (0.3, 0.01)):
        goal = math.log((M - 1) * (1 - epsilon) / epsilon)
        x = np.linspace(0, goal, 20_001)
        rate = (M - 1 + np.exp(x)) / (M * eta)
        found = float(np.trapezoid(rate, x))
        assert decoder_rate.steps_to_accuracy(M, eta, epsilon) == pytest.approx(found, rel=1e-6)


def test_ours_decoder_rate_notices_a_wrong_step():
    one = next(one for one in instances.recursions() if (one.M, one.eta) == (1000, 0.5))
    planted = replace(one, heights=one.heights * (1 + 1e-6))
    assert checks.check_ours_decoder_rate.judge([planted]).verdict is REFUTED
