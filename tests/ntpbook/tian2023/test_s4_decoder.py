"""The decoder at fixed attention: cases by hand, other computations, planted errors."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from every_check import failure, sound

from ntpbook.tian2023.s4_decoder import checks, equicorrelated, instances, shift
from ntpcore.tian2023 import decoder
from ntpcore.tian2023.classes import (
    LOWER_BOUNDS,
    E_prime,
    correlations,
    paired_classes,
    synthetic_classes,
    unit_scores,
    weak_correlations,
)
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import NotANumberError

pytestmark = pytest.mark.usefixtures("in_float64")


def some_decoder() -> instances.TrainedClasses:
    """The decoder of twelve tokens and three classes."""
    return next(one for one in instances.random_decoders(5) if one.K == 3)


# Equation (7) and critical points


def test_tian2023_eq_7_by_hand():
    # Y = 0, f = (1, 0), M = 2: the gradient is f (e_1 - 1/2)
    residual = instances.softmax_residual(np.zeros(2), 0)
    assert np.outer([1, 0], residual).tolist() == [[0.5, -0.5], [0, 0]]
    along = instances.slope_of_the_likelihood(np.zeros(2), np.array([1.0, 0.0]), 0)
    assert along == pytest.approx(0.5, rel=1e-15)


def test_tian2023_eq_7_agrees_with_automatic_differentiation():
    one = some_decoder()

    def likelihood(y):  # of the population, classes uniform
        return jnp.mean(jnp.array([jax.nn.log_softmax(one.f[n] @ y)[n] for n in range(3)]))

    residuals = np.array([instances.softmax_residual(one.f[n] @ one.Y, n) for n in range(3)])
    found = np.asarray(jax.grad(likelihood)(one.Y))
    assert one.f.T @ residuals / 3 == pytest.approx(found, abs=1e-14)


def test_tian2023_app_critical_by_hand():
    # one other token at the same logit: (M - 1)/(M - 1 + e^0) = 1/2, attained
    assert instances.softmax_residual(np.zeros(2), 0)[0] == 0.5


def test_tian2023_app_critical_needs_independent_classes():
    # two classes, no other token, one input: the mean gradient vanishes at Y = 0
    f = np.array([[0.6, 0.8], [0.6, 0.8]])
    residuals = np.array([instances.softmax_residual(np.zeros(2), n) for n in range(2)])
    assert np.abs(f.T @ residuals).max() == 0


def test_tian2023_app_critical_agrees_with_an_optimizer_that_never_stops():
    f, Y, norms = some_decoder().f, np.zeros((12, 12)), []
    for step in range(2000):
        residuals = np.array([instances.softmax_residual(f[n] @ Y, n) for n in range(3)])
        gradient = f.T @ residuals
        Y += 2.0 * gradient
        if step in (20, 200, 1999):
            norms.append(float(np.linalg.norm(gradient)))
    assert norms[0] > norms[1] > norms[2] > 0


def test_tian2023_app_critical_mean_of_two_orthogonal_classes_by_hand():
    # f_1, f_2 orthogonal: the squares of both residuals add up; at Y = 0, M = 2, each has 1/2
    residuals = np.array([instances.softmax_residual(np.zeros(2), n) for n in range(2)])
    assert np.linalg.norm(np.eye(2) @ residuals) == pytest.approx(1.0)
    assert not sound("tian2023-app-critical").readings  # the box states both parts


# Assumption 2


def test_tian2023_asm_2_by_hand():
    # two classes with inner product 1/4: eigenvalues +-1/4 < 1/2, and 6/sqrt(M) <= 1/4 from 576 on
    E = np.array([[0, 0.25], [0.25, 0]])
    assert weak_correlations(E, 576).holds
    assert not weak_correlations(E, 575).holds
    assert weak_correlations(E, 96, "sqrt(6/M)").holds
    assert not weak_correlations(E, 95, "sqrt(6/M)").holds


def test_tian2023_asm_2_agrees_with_other_pairs():
    E = correlations(unit_scores(paired_classes(6, 2000, 0.15)))
    other = correlations(unit_scores(instances.grouped_classes((2, 2, 2), 0.15)))
    assert np.abs(E - other).max() < 1e-15
    triple = correlations(unit_scores(instances.grouped_classes((3,), 0.1)))
    assert np.linalg.eigvalsh(triple) == pytest.approx([-0.1, -0.1, 0.2])


def test_tian2023_asm_2_is_never_met_when_the_window_is_closed():
    rng = np.random.default_rng(2)
    for reading, factor in checks.FACTORS.items():
        for K in (1, 2, 5):
            M = factor * K**2
            assert LOWER_BOUNDS[reading](M) == pytest.approx(1 / K)
            E = rng.uniform(0, 2 / K, size=(K, K))
            assert not weak_correlations(np.triu(E, 1) + np.triu(E, 1).T, M, reading).holds


def test_tian2023_asm_2_is_shown_in_both_readings():
    found = sound("tian2023-asm-2")
    assert [reading.verdict for reading in found.readings] == [Verdict.WELL_POSED]
    assert found.numbers["random"].value == 200
    assert found.numbers["random_met"].value < 200


def test_ours_asm_2_experiments_by_hand():
    # squares of 0.1, ..., 1 sum to 3.85, so that 10/13.85 = 200/277
    assert checks.exact_correlation() == Fraction(200, 277)


def test_ours_asm_2_experiments_agrees_with_the_generated_data():
    for one in checks.experiments():
        data = synthetic_classes(one.L, one.following)
        E = correlations(unit_scores(data))
        largest = float(np.linalg.eigvalsh(E)[-1])
        assert largest == pytest.approx(float((data.K - 1) * Fraction(200, 277)), rel=1e-13)
        assert not weak_correlations(E, data.M).holds
        assert not weak_correlations(E, data.M, "sqrt(6/M)").holds


# Lemma 3, (8), (26), the sign of E'


def moves(E_prime_sign: int) -> tuple[Fraction, Fraction]:
    """Rows 1 and 2 of F^T(f_1 - F E' e_1) for f_1 . f_2 = 1/3; (I + E)^-1 has 9/8 and -3/8."""
    x, inverse = Fraction(1, 3), (Fraction(9, 8), Fraction(-3, 8))
    first = 1 - E_prime_sign * (1 - inverse[0])
    second = -E_prime_sign * (0 - inverse[1])
    return first + x * second, second + x * first


def test_tian2023_lem_3_by_hand():
    assert moves(1) == (1, 0)
    assert moves(-1) == (1, Fraction(2, 3))


def test_tian2023_lem_3_agrees_with_a_solver_of_linear_equations():
    """The update of Y that moves row n of F^T Y alone and lies in the span of the f_n."""
    one = some_decoder()
    for n in range(3):
        direction, *_ = np.linalg.lstsq(one.f, np.eye(3)[n], rcond=None)
        mix = (np.eye(3) - checks.inverting(one.E))[:, n]
        assert one.f.T @ mix == pytest.approx(direction)


def test_tian2023_lem_3_has_a_size_that_two_classes_attain():
    # lambda = -x: |F E' v|^2 = x^2/(1 - x) for the eigenvector v = (1, -1)/sqrt(2)
    x = 0.3
    f = np.array([[1, 0], [x, np.sqrt(1 - x**2)]])
    v = np.array([1, -1]) / np.sqrt(2)
    size = np.linalg.norm(f.T @ checks.inverting(correlations(f)) @ v)
    assert size == pytest.approx(x / np.sqrt(1 - x))


def test_tian2023_lem_3_and_eq_26_are_proved_with_the_right_sign_only():
    for label in ("tian2023-lem-3", "tian2023-eq-26"):
        assert [r.verdict for r in sound(label).readings] == [Verdict.REFUTED]


def test_tian2023_lem_3_counts_what_it_leaves_out():
    found = sound("tian2023-lem-3")
    large = [
        one
        for one in instances.random_decoders(3, 1)
        if np.abs(np.linalg.eigvalsh(one.E)).max() >= 1
    ]
    assert list(found.left_out.values()) == [len(large)]
    assert len(large) > 0


def test_tian2023_eq_8_by_hand():
    found = instances.softmax_residual(np.log([2.0, 1.0, 1.0]), 0)
    assert found.tolist() == pytest.approx([0.5, -0.25, -0.25])


def test_tian2023_eq_26_by_hand():
    # f_1 . f_2 = 1/3: E' = [[-1/8, 3/8], [3/8, -1/8]]
    E = np.array([[0, 1], [1, 0]]) / 3
    assert checks.inverting(E) == pytest.approx(np.array([[-1, 3], [3, -1]]) / 8)


def test_tian2023_eq_26_agrees_with_the_library():
    E = some_decoder().E
    state = decoder.run(decoder.zero_decoder(12, E), [0, 1, 1, 2, 0], 0.8, modified=True)
    for n, times in enumerate((2, 2, 1)):
        height = decoder.recursion(12, 0.8, times)[-1]
        assert state.W[n, n] - state.W[n, 3] == pytest.approx(height, rel=1e-12)


def test_tian2023_app_e_prime_by_hand():
    found = sound("tian2023-app-e-prime")
    assert (found.numbers["own"].value, found.numbers["other"].value) == moves(-1)
    assert "violated by 2/3" in found.witness
    # eigenvalues +-1/3 are below 1/2 and, for M = 1000, above 6/sqrt(1000) = 0.19
    assert found.hypotheses == ("Assumption 2", r"$M \ge 100K^2$")
    third = ((Fraction(0), Fraction(1, 3)), (Fraction(1, 3), Fraction(0)))
    assert checks.exact_E_prime(third, -1)[0][0] == Fraction(1, 8)  # against Lemma 16


def test_tian2023_app_e_prime_agrees_with_dense_steps():
    one = some_decoder()
    step = one.f.T @ (np.eye(3) - checks.inverting(one.E, -1))[:, 0]
    assert one.f @ step == pytest.approx((np.eye(3) + 2 * one.E)[:, 0])


def test_tian2023_app_e_prime_is_refuted_in_each_use():
    found = sound("tian2023-app-e-prime")
    assert [reading.verdict for reading in found.readings] == [Verdict.REFUTED] * 3
    one = list(instances.weakly_correlated())
    right = checks.check_tian2023_app_e_prime.judge(one, sign=1)
    assert right.verdict is Verdict.NOT_CONTRADICTED


def test_tian2023_app_e_prime_refuses_classes_that_break_assumption_2():
    half = ((Fraction(0), Fraction(1, 2)), (Fraction(1, 2), Fraction(0)))
    broken = instances.Correlated("too much in common", half, 1000)
    with pytest.raises(ValueError, match="breaks the hypothesis 'Assumption 2'"):
        replace(checks.check_tian2023_app_e_prime, instances=lambda: [broken])()


def test_tian2023_app_e_prime_corrected_by_hand():
    # eigenvalues x of E become x/(1 + x)
    E = np.array([[0, 0.5], [0.5, 0]])
    assert np.linalg.eigvalsh(checks.inverting(E)) == pytest.approx([-1, 1 / 3])


def test_tian2023_app_e_prime_corrected_agrees_with_the_library():
    for one in instances.exact_correlations(4, 1):
        found = np.array(checks.exact_E_prime(one.E, 1), dtype=float)
        assert found == pytest.approx(E_prime(np.array(one.E, dtype=float)), abs=1e-13)


def test_exact_correlations_are_those_of_unit_vectors():
    for one in instances.exact_correlations(4, 1):
        whole = np.eye(len(one.E)) + np.array(one.E, dtype=float)
        assert np.linalg.eigvalsh(whole)[0] > 0
        assert np.diag(whole) == pytest.approx(1.0, abs=0)


# Lemma 5 and equation (33)


def test_tian2023_lem_5_by_hand():
    # M = 3, first step: alpha = 1/3 each, w = eta (2/3, -1/3, -1/3) = 2 h zeta with h = eta/3
    state = decoder.run(decoder.zero_decoder(3, np.zeros((1, 1))), [0], 1.0, True)
    assert state.W.tolist() == [pytest.approx([2 / 3, -1 / 3])]
    assert decoder.zeta(3, 0).tolist() == [1, -0.5, -0.5]
    assert decoder.recursion(3, 1.0, 1)[1] / 3 * 2 == pytest.approx(2 / 3)


def test_tian2023_eq_33_by_hand():
    x = decoder.recursion(2, 1.0, 2)
    assert x.tolist() == pytest.approx([0, 1, 1 + 2 / (1 + np.e)])


# Remark 1


def test_tian2023_rem_1_by_hand():
    # K = 2, M = 3: (2/3 - rho/3, -1/3 + 2 rho/3, -1/3 - rho/3); equal at the end only for rho = 0
    assert checks.first_round(3, Fraction(1, 2)) == (Fraction(1, 2), 0, Fraction(-1, 2))
    none = checks.first_round(3, Fraction(0))
    assert none[1] == none[2]


def small_and_equal() -> list[checks.Equal]:
    """Equal correlations in vocabularies of up to a hundred tokens."""
    sizes = ((3, 2, 2, 1), (5, 2, 10, 10), (50, 10, 2, 2))
    return [checks.Equal(M, K, Fraction(1, x), Fraction(1, y)) for M, K, x, y in sizes]


def test_tian2023_rem_1_agrees_with_dense_mean_updates_of_Y():
    """The enclosed gaps against (7) itself: mean updates of Y for vectors f_n, in floats."""
    for one in small_and_equal():
        M, K, rho, eta = one.M, one.K, float(one.rho), float(one.eta)
        f = np.linalg.cholesky((1 - rho) * np.eye(K) + rho * np.ones((K, K)))
        Y = np.zeros((K, M))
        for u, v in checks.enclosed_rounds(one)[1:]:
            alpha = np.asarray(jax.nn.softmax(f @ Y, axis=1))
            Y = Y + eta * f.T @ (np.eye(M)[:K] - alpha)
            w = f[0] @ Y
            assert float(u.lower()) - 1e-12 <= w[0] - w[1] <= float(u.upper()) + 1e-12
            assert float(v.lower()) - 1e-12 <= w[0] - w[K] <= float(v.upper()) + 1e-12


def test_tian2023_rem_1_agrees_with_one_pass_of_single_samples():
    M, rho, eta = 3, 0.5, 1e-6
    E = np.array([[0, rho], [rho, 0]])
    state = decoder.run(decoder.zero_decoder(M, E), [0, 1], eta, modified=False)
    expected = [float(x) for x in checks.first_round(M, Fraction(1, 2))]
    assert state.W[0] / eta == pytest.approx(expected, abs=1e-6)  # to first order in eta


def test_tian2023_rem_1_draws_in_turn_agree_with_single_samples_of_Y():
    """The enclosed gaps against (7) itself, one class in each step, in floats."""
    for one in small_and_equal():
        M, K, rho, eta = one.M, one.K, float(one.rho), float(one.eta)
        f = np.linalg.cholesky((1 - rho) * np.eye(K) + rho * np.ones((K, K)))
        Y = np.zeros((K, M))
        for u, v in checks.enclosed_rounds_in_turn(one)[1:]:
            for n in range(K):
                alpha = np.asarray(jax.nn.softmax(f[n] @ Y))
                Y = Y + eta * np.outer(f[n], np.eye(M)[n] - alpha)
            w = f[0] @ Y
            assert float(u.lower()) - 1e-12 <= w[0] - w[1] <= float(u.upper()) + 1e-12
            assert float(v.lower()) - 1e-12 <= w[0] - w[K] <= float(v.upper()) + 1e-12


def test_tian2023_rem_1_is_refuted_in_each_reading():
    found = checks.check_tian2023_rem_1()
    assert [reading.verdict for reading in found.readings] == [Verdict.REFUTED] * 4
    assert "$w_{nn} - w_{nj}$ for a token $j$ of no class" in found.witness
    assert r"$K = 2$, $M = 1000$, $\rho = 1/4$" in found.witness
    assert found.numbers["ratio"].value == Fraction(4, 3)  # 1/(1 - rho)
    assert "Assumption 2" in found.hypotheses


def test_tian2023_rem_1_witnesses_meet_assumption_2_by_hand():
    # rho (J - I) has the eigenvalues (K - 1) rho and -rho
    for one in checks.fewer_classes():
        assert (one.K - 1) * one.rho < Fraction(1, one.K)
        assert one.rho >= 6 / math.sqrt(one.M)
    broken = small_and_equal()[0]  # rho = 1/2 is not below 1/K
    with pytest.raises(ValueError, match="breaks the hypothesis 'Assumption 2'"):
        replace(checks.check_tian2023_rem_1, instances=lambda: [broken])()


def test_tian2023_rem_1_holds_for_as_many_classes_as_tokens_by_the_rate_and_not_as_printed():
    judge = checks.check_tian2023_rem_1.judge
    square = list(checks.as_many_classes())
    assert judge(square, reading="rate", mean=True).verdict is not Verdict.REFUTED
    assert judge(square, reading="(43)", mean=True).verdict is Verdict.REFUTED


def test_tian2023_rem_1_corrected_by_hand():
    # M = K = 2, rho = 1/2: u' = (1/2) (p_b + p_b) = 1/(e^u + 1)
    slope, _ = equicorrelated.slopes(2, 2, 0.5, 1.0, 7.0)
    assert slope == pytest.approx(1 / (np.e + 1))


# Lemma 6 and the closed form


def test_tian2023_lem_6_by_hand():
    # M = 2 at the height x = 1: e + 1 = 2 tau + 1
    assert float(decoder.height(2, math.e / 2)) == pytest.approx(1.0, rel=1e-15)


def test_ours_lambert_by_hand():
    # M = 2, x = 0 at tau = 0: c = 1 and W_0(e) = 1
    assert float(decoder.closed_form(2, 0.0)) == pytest.approx(0, abs=1e-15)
    assert float(mpmath.lambertw(mpmath.e)) == pytest.approx(1)


# Lemma 7, Remark 2, Figure 8


def test_tian2023_lem_7_by_hand():
    # one update at eta = 1, M = 5: y = 1, and x solves e^x + 4 x = 6
    one = instances.heights(5, 1.0, 1)
    assert one.y[1] == 1
    assert math.exp(one.x[1]) + 4 * one.x[1] == pytest.approx(6)
    assert 0 < one.y[1] - one.x[1] < 1
    assert one.c[1] == pytest.approx((math.e - 2) / 5)


def test_tian2023_lem_7_agrees_with_the_plain_shift():
    for one in instances.many_heights(600):
        ahead = decoder.height(one.M, one.eta * (one.s + one.c))
        assert ahead == pytest.approx(one.y, rel=1e-9, abs=1e-12)


def test_tian2023_lem_7_notices_a_curve_that_is_too_high():
    higher = [replace(one, x=one.x * (1 + 1e-3)) for one in instances.many_heights(600)]
    assert checks.check_tian2023_lem_7.judge(higher).verdict is Verdict.REFUTED


def test_tian2023_eq_46_by_hand():
    # M = 2, eta = 1: M h* = 0, 1, 1 + 2/(1 + e); half way from 1 to 2 it is 1 + 1/(1 + e)
    one = instances.heights(2, 1.0, 2, 20)
    assert one.y.tolist() == pytest.approx([0, 1, 1 + 2 / (1 + math.e)])
    assert checks.check_tian2023_eq_46.judge([one]).verdict is Verdict.WELL_POSED


def test_tian2023_eq_47_by_hand():
    # at t = 1/2, M = 2, eta = 1: e^x + x = 2, which x = 0.44285 solves, against 1/2
    x = float(decoder.height(2, 0.5))
    assert math.exp(x) + x == pytest.approx(2)
    assert x == pytest.approx(0.44285, abs=1e-5)


def test_tian2023_eq_47_notices_a_curve_above_the_steps():
    one = instances.heights(50, 1.0, 30, 300)
    lower = replace(one, y=one.y * (1 - 1e-3))
    assert failure(checks.check_tian2023_eq_47, [lower])


def test_tian2023_app_lem_7_cases_both_occur():
    """(i) at the first update, (ii) alone once the shift exceeds one update."""
    one = instances.heights(50, 1.0, 300, 3000)
    reached = one.x[1:] >= one.y[:-1]
    falls = np.diff(one.y - one.x) < 0
    assert reached[0]
    assert not reached[-1]
    assert falls[-1]
    assert (reached | falls).all()
    assert one.c[-1] > 1


def test_tian2023_eq_48_by_hand():
    # q = 1, a = 0, M epsilon = ln 2, b = 0: 1/(1 + 2) - 1/(1 + 1) = -1/6
    slope = 1 / (1 + 2) - 1 / (1 + 1)
    assert slope == pytest.approx(-1 * (2 - 1) / ((1 + 2) * (1 + 1)))
    # the third line wants h(s + 1) - h(s) <= epsilon - ln 2/M, and h rises
    for run in instances.whole_heights():
        late = run.y - run.x <= math.log(2)
        assert (np.diff(run.x)[late[:-1]] > (run.y - run.x - math.log(2))[:-1][late[:-1]]).all()


def test_tian2023_app_lem_7_late_by_hand():
    # at eta = 1/10 no gap of the proof is larger than 1/5 < ln 2, so that none will do
    one = next(checks.small_gaps())
    assert one.size == 2 * one.eta < math.log(2)
    x = decoder.height(one.M, 0.1 * np.arange(3.0))
    assert float(one.size) - math.log(2) < 0 < np.diff(x).min()
    assert failure(checks.check_tian2023_app_lem_7_late, [one])


def test_tian2023_eq_49_by_hand():
    # half a logarithm of s over s: after a million updates less than a hundred-thousandth
    one = instances.heights(1000, 1.0, 10**6)
    assert 0 < one.y[-1] - one.x[-1] < 1e-5


def test_tian2023_lem_7_refuses_heights_that_are_no_numbers():
    one = instances.heights(5, 1.0, 100)
    broken = replace(one, x=np.where(one.s == 7, np.nan, one.x))
    with pytest.raises(NotANumberError):
        checks.check_tian2023_lem_7.judge([broken])


def test_tian2023_rem_2_by_hand():
    # c(s) >= (L - eta)/2 >= C ln M once e^y >= M^(1 + 2 C) e^eta
    s = shift.passes(5, 1.0, math.log(5))
    assert s == pytest.approx((math.e * 125 - 1 + 4 * math.log(125 * math.e)) / 5)
    assert instances.heights(5, 1.0, math.ceil(s)).c[-1] > math.log(5)


def test_tian2023_rem_2_bounds_agree_with_the_recursion():
    """Where the recursion can be run, its shift and its lead are above the certified bounds."""
    for M, aim in ((5, 1.0), (5, 3.0), (40, 2.0)):
        late = checks.certified_shift(M, 1.0, aim)
        s = int(late.written)
        assert s == late.s
        y = decoder.recursion(M, 1.0, s)
        with mpmath.workdps(30):  # T(y) - s, straight from (45)
            top = mpmath.mpf(float(y[-1]))
            c = (mpmath.exp(top) + (M - 1) * top - 1) / M - s
        x = float(decoder.height(M, float(s)))
        assert aim == late.shift < float(c)
        assert late.ahead <= s * (y[-1] - x)
        assert (y[-1] - x) / x <= late.share


def test_tian2023_rem_2_times_of_the_card_and_of_the_text_are_the_same():
    """The least s with M h(s) >= ln M + 2 C ln M + 1, from (45): what page and card quote."""
    for C, quoted in ((1, 73), (2, 1706), (5, 26545736)):
        with mpmath.workdps(30):
            x = (1 + 2 * C) * mpmath.log(5) + 1
            s = mpmath.ceil((mpmath.exp(x) + 4 * x - 1) / 5)
        assert s == quoted
        assert checks.certified_shift(5, 1.0, C * math.log(5)).written == str(quoted)
        assert math.ceil(shift.passes(5, 1.0, C * math.log(5))) == quoted


def test_tian2023_rem_2_is_refuted_in_each_reading():
    found = sound("tian2023-rem-2")
    assert [reading.verdict for reading in found.readings] == [Verdict.REFUTED] * 2
    assert r"$\eta_Y = 1$, $c(s)$ is more than $1 \ln M$ after 2718304 updates" in found.witness
    assert "None" not in found.witness


def test_tian2023_rem_2_refuses_a_small_vocabulary_as_a_witness():
    # M = 5: at the first late time h* - h <= eta_Y/M is not yet small beside h
    with pytest.raises(ValueError, match=r"breaks the hypothesis .+ at these times"):
        replace(checks.check_tian2023_rem_2, instances=lambda: instances.long_heights(1000)[:1])()


def test_tian2023_rem_2_corrected_by_hand():
    # at s = 0: y = 0, L = 0, c = 0
    low, high = shift.shift_bounds(9, 0.5, 0.0)
    assert low == pytest.approx(-0.25)
    assert high == pytest.approx(math.exp(0.5) * (math.exp(0.5) - 1) / 4)


def test_tian2023_rem_2_corrected_agrees_with_the_difference_of_heights():
    for one in instances.long_heights(10**5):
        s = one.s[-1]
        gap = one.y[-1] - float(decoder.closed_form(one.M, s))
        assert gap * s / math.log(s) == pytest.approx(0.5, abs=0.05)


def test_tian2023_fig_8_by_hand():
    assert instances.panel(50, (2.0,), 1)[0].y.tolist() == [0, 2]  # the first step is eta_Y/M high


def test_tian2023_fig_8_is_enclosed_point_by_point():
    shown = list(checks.enclosed_gaps())
    assert len(shown) == 10
    assert all(one.holds for one in shown)
    # the largest gap of the figure is 0.212 of eta_Y/M, at the rate 2
    gap = max(float((run.y - run.x).max()) / run.eta for run in instances.figure_8())
    assert 0.2 < gap < 0.22
    assert not all(one.holds for one in checks.enclosed_gaps(share=0.2))
    assert not all(one.holds for one in checks.enclosed_gaps(late=1))


# Lemma 8 and Remark 3


def test_tian2023_lem_8_by_hand():
    # M - 1 = e: the exponential touches the line at x = 1, so that M = 4 crosses it close by
    lower, upper = decoder.crossings(4)
    assert 0.5 < lower < 1 < upper < 1.6


def test_tian2023_rem_3_by_hand():
    # M = 100: the first update at eta = 0.0105 is beyond the crossing near 0.0102
    assert float(decoder.height(100, 0.0105)) > decoder.crossings(100)[0] > 0.01


def test_tian2023_rem_3_agrees_with_the_least_rate():
    for M in (100, 1000, 10**5):
        least = checks.first_stage_time(M)
        lower = decoder.crossings(M)[0]
        assert float(decoder.height(M, least)) == pytest.approx(lower, rel=1e-9)
        assert least < M**-0.99


# Lemma 9


def test_tian2023_lem_9_by_hand():
    # at the crossing e^x = q x, gamma = (q/M) x/(1 + x)
    M = 1000
    x = decoder.crossings(M)[1]
    gamma = float(decoder.speed_at(M, np.asarray(x)))
    assert gamma == pytest.approx((M - 1) / M * x / (1 + x), rel=1e-12)


def test_tian2023_lem_9_agrees_with_the_definition_of_the_stages():
    M, K, eta = 1000, 7, 0.5
    end, begin = K * math.log(M) / eta, decoder.transition(M, K, eta)
    for t in (K, end / 2, end):
        h = float(decoder.height(M, eta * t / K)) / M
        assert math.exp(M * h) <= min(M - 1, (M - 1) * M * h)
        assert float(decoder.speed(M, K, eta, t)) <= eta * t / K
    for t in (begin, 10 * begin, 1000 * begin):
        h = float(decoder.height(M, eta * t / K)) / M
        assert math.exp(M * h) >= max(M - 1, (M - 1) * M * h)
        late = math.log(M * eta * t / K) * K / (eta * t)
        assert late / 5 <= float(decoder.speed(M, K, eta, t)) <= 2 * late


def test_tian2023_lem_9_needs_five_tokens():
    # at M = 4 the first inequality fails at the end of the first stage
    assert float(decoder.height(4, math.log(4))) > math.log(3)
    assert float(decoder.height(5, math.log(5))) <= math.log(4)


@pytest.mark.parametrize("stage", [1, 2])
def test_tian2023_lem_9_notices_a_stage_that_is_too_slow(monkeypatch, stage):
    speed = decoder.speed_at

    def slow(M, x):
        there = (x < math.log(M - 1)) == (stage == 1)
        return speed(M, x) * np.where(there, 0.15, 1.0)  # below a fifth

    monkeypatch.setattr(decoder, "speed_at", slow)
    found = checks.check_tian2023_lem_9.judge([checks.Vocabulary(100)])
    assert found.verdict is Verdict.REFUTED
    assert r", $\gamma$" in found.witness


def test_tian2023_lem_9_is_proved_from_the_first_update_on_and_not_from_zero():
    found = checks.check_tian2023_lem_9()
    assert [r.verdict for r in found.readings] == [Verdict.REFUTED]
