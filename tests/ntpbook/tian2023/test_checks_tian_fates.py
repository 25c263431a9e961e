"""Checks of the page on the fates of tokens: Lemma 4, Theorem 2, Corollary 2, and ours."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from ntpbook.tian2023.s5_fates import common, common_grows, fates, fates_instances
from ntpcore.tian2023 import attention, classes, decoder
from ntpcore.verdicts.claims import Verdict


@pytest.fixture(scope="module")
def some() -> list[fates_instances.Instance]:
    return fates_instances.instances(3, 1)[:4]


@pytest.fixture(scope="module")
def weak() -> list[fates_instances.Instance]:
    return fates_instances.weak_instances(3, 6)


@pytest.fixture(scope="module")
def symmetric() -> list[common.Shared]:
    return common.symmetric_instances(3)[:3]


def by_hand(P, query=(0, 0), M: int = 1000) -> fates_instances.Instance:
    data = classes.SequenceClasses(np.array(P), query)
    return fates_instances.Instance("by hand", data, M, np.zeros((data.L, data.M)))


PYTHAGORAS = [[3 / 7, 4 / 7, 0.0], [3 / 7, 0.0, 4 / 7]]  # f = (0.6, 0.8, 0) and (0.6, 0, 0.8)


# Lemma 4


def test_tian2023_lem_4_by_hand():
    # after one step of class 1 by (7), g_1 is positive along f_1 and f_1 is projected out, while
    # class 2 has g_2 = a f_1: z moves by f_2 o (a f_1 - f_2 a 0.36)
    one = by_hand(PYTHAGORAS)
    E = classes.correlations(one.f)
    state = decoder.run(decoder.zero_decoder(1000, E), [0], 0.5, modified=False)
    a = decoder.gradient_coefficients(state, 1)[0]
    expected = a * np.array([0.6 * (0.6 - 0.36 * 0.6), 0.0, -0.8 * 0.36 * 0.8])
    assert fates.sample_gradients(one, state)[1] == pytest.approx(expected)
    assert fates.sample_gradients(one, state)[0] == pytest.approx(np.zeros(3), abs=1e-15)


def test_tian2023_lem_4_agrees_with_central_differences(some):
    one = some[2]
    state = fates.trained(one, modified=True)
    found = fates.sample_gradients(one, state)
    Y, copies = one.f.T @ state.A, np.append(np.ones(one.classes.K), one.M - one.classes.K)

    def log_alpha(z, n):
        weights = one.classes.probabilities[n] * np.exp(z)
        logits = weights / np.linalg.norm(weights) @ Y
        return logits[n] - math.log(float(copies @ np.exp(logits)))

    for n, m in enumerate(one.classes.query):
        for token in np.flatnonzero(one.classes.probabilities[n]):
            step = np.zeros(one.classes.M)
            step[token] = 1e-5
            rise = log_alpha(one.z[m] + step, n) - log_alpha(one.z[m] - step, n)
            assert found[n, token] == pytest.approx(rise / 2e-5, abs=1e-8)


def test_tian2023_lem_4_is_proved_in_one_reading_and_its_control_noticed(some):
    check = fates.check_tian2023_lem_4(some)
    assert check.verdict is Verdict.PROVED
    assert [one.verdict for one in check.readings] == [Verdict.PROVED, Verdict.REFUTED]
    assert check.with_control(fates.control_tian2023_lem_4(some)).control


# Equation (10)


def test_tian2023_eq_10_by_hand():
    one = by_hand(PYTHAGORAS)
    beta = np.array([[0.0, 2.0], [1.0, 0.0]])
    found = attention.velocity((0, 0), one.f, beta)
    # from class 1 with weight 2: 0.6 (0.36 0.6 - 0.6), 0.8 0.36 0.8; from class 2 with weight 1
    assert found[0] == pytest.approx([-3 * 0.36 * 0.64, 2 * 0.64 * 0.36, 0.64 * 0.36])


def test_tian2023_eq_10_agrees_with_the_form_of_vectors_and_keeps_sums(some):
    check = fates.check_tian2023_eq_10(some)
    assert check.verdict is Verdict.PROVED
    assert check.tried == 2 * len(some)
    assert all(value == 0 for value in fates.term_identities().values())


def test_tian2023_eq_10_notices_a_missing_factor(some):
    assert fates.control_tian2023_eq_10(some).noticed


# Lemma 4, corrected


def test_tian2023_lem_4_corrected_by_hand():
    one = by_hand(PYTHAGORAS, query=(0, 1))  # each query has one of two classes
    state = fates.trained(one, modified=True)
    moves = fates.sample_gradients(one, state)
    beta = -np.array([decoder.gradient_coefficients(state, n) for n in (0, 1)])
    printed = attention.velocity((0, 1), one.f, beta)
    assert moves == pytest.approx(printed, rel=1e-9)  # a step moves one row by the whole of it,
    assert fates.check_tian2023_lem_4_corrected([one]).verdict is Verdict.PROVED  # half the time


def test_tian2023_lem_4_corrected_agrees_with_stochastic_training(some):
    ratio = fates.sgd_ratio(some[2], steps=1500) * some[2].classes.K
    assert ratio == pytest.approx(1, abs=0.15)  # three classes, 1500 draws


def test_tian2023_lem_4_corrected_notices_the_factor(some):
    check = fates.check_tian2023_lem_4_corrected(some)
    assert check.verdict is Verdict.PROVED
    assert check.with_control(fates.control_tian2023_lem_4_corrected(some)).control


# Theorem 2


def test_tian2023_thm_2_by_hand():
    # f_1 . f_2 = 0.36 is below 1/2 and above 6 / sqrt(1000); E' has 0.36 / (1 - 0.36^2)
    one = by_hand(PYTHAGORAS)
    assert one.holds("6/sqrt(M)")
    E = classes.correlations(one.f)
    beta = attention.coefficients(E, 1000)
    prime = 0.36 / (1 - 0.36**2)
    expected = 1000 / 999 * prime + 1000 / 999**2 * (1 + 0.36 * prime)
    assert beta[0, 1] == pytest.approx(expected)
    moves = attention.velocity((0, 0), one.f, beta)[0]
    assert moves == pytest.approx(beta[0, 1] * 0.36 * 0.64 * np.array([-2, 1, 1]))
    assert fates.check_tian2023_thm_2([one]).tried == 3


def test_tian2023_thm_2_agrees_with_the_signs_of_a_trained_decoder(weak):
    for one in weak[:6]:
        state = fates.trained(one, modified=True)
        moves = np.zeros_like(one.z)
        for n, move in enumerate(fates.sample_gradients(one, state)):
            moves[one.classes.query[n]] += move
        for n, m in enumerate(one.classes.query):
            assert (moves[m, list(classes.distinct_tokens(one.classes, n))] > 0).all()
        if len(classes.common_tokens(one.classes)) == 1:
            assert (moves[:, classes.common_tokens(one.classes)] < 0).all()


def test_tian2023_thm_2_is_proved_and_an_isolated_class_noticed(weak):
    assert all(one.holds("sqrt(6/M)") for one in weak)
    check = fates.check_tian2023_thm_2(weak)
    assert check.verdict is Verdict.PROVED
    assert check.numbers["positive"] == check.numbers["true"]
    assert check.with_control(fates.control_tian2023_thm_2(weak[:1])).control


# Equation (100)


def test_tian2023_eq_100_by_hand():
    f = by_hand(PYTHAGORAS).f
    beta = np.array([[0.0, 1.0], [-3.0, 0.0]])  # one coefficient may be negative
    xi = attention.forces(classes.correlations(f), beta)
    assert xi == pytest.approx([0.36, -1.08])
    assert attention.velocity((0, 0), f, beta)[0, 0] == pytest.approx(-0.64 * (0.36 - 1.08))


def test_tian2023_eq_100_agrees_with_exact_fractions():
    a, b = Fraction(3, 5), Fraction(4, 5)
    f = [[a, b, 0], [a, 0, b]]
    e = sum(x * y for x, y in zip(*f, strict=True))
    speed = sum(f[n][0] * (e * f[n][0] - f[1 - n][0]) for n in (0, 1))
    assert speed == -2 * (1 - a**2) * e


def test_tian2023_eq_100_is_proved_and_two_common_tokens_noticed():
    check = fates.check_tian2023_eq_100(fates_instances.single_common(3, 1))
    assert check.verdict is Verdict.PROVED
    assert check.with_control(fates.control_tian2023_eq_100()).control


# A common token that grows


def test_ours_common_grows_by_hand():
    # inner product 2 + 4 = 6, squared norms 5 and 33: 6 (4/5 + 1/33) - 4 = 54/55
    assert common_grows.exact_speed((2, 1, 0), (1, 4, 4), 0) == Fraction(54, 55)
    assert common_grows.exact_correlation_squared((2, 1, 0), (1, 4, 4)) == Fraction(36, 165)
    assert Fraction(36, 165) == Fraction(36, 165) < Fraction(1, 4)
    speeds = [common_grows.exact_speed((2, 1, 0), (1, 4, 4), token) for token in range(3)]
    assert sum(speeds) == 0
    assert speeds[1] < 0 < speeds[2]


def test_ours_common_grows_agrees_with_velocities_under_both_decoders():
    data = common_grows.two_classes()
    f = classes.unit_scores(data)
    E = classes.correlations(f)
    assert classes.weak_correlations(E, 165 + 1).holds
    assert not classes.weak_correlations(E, 164).holds
    exact = [float(common_grows.exact_speed((2, 1, 0), (1, 4, 4), token)) for token in range(3)]
    start, times = decoder.zero_decoder(1000, E), np.array([0.1, 3.0, 40.0, 1e3])
    for modified in (True, False):
        for state in decoder.flow(start, 0.5, times, modified):
            beta = -np.array([decoder.gradient_coefficients(state, n) for n in (0, 1)])
            assert beta[0, 1] == pytest.approx(beta[1, 0], rel=1e-6)
            assert beta[0, 1] > 0
            moves = attention.velocity((0, 0), f, beta)[0]
            assert moves / moves[0] == pytest.approx(np.array(exact) / exact[0], rel=1e-6)


def test_ours_common_grows_agrees_with_the_first_order_of_the_true_decoder():
    E = classes.correlations(classes.unit_scores(common_grows.two_classes()))
    state = decoder.flow(decoder.zero_decoder(500, E), 1e-3, np.array([1.0]), modified=False)[0]
    found = -decoder.gradient_coefficients(state, 0)[1]
    assert found == pytest.approx(1e-3 / (2 * 500), rel=1e-2)  # eta_Y t / (K M)


def test_ours_common_grows_is_proved_and_its_control_noticed():
    check = common_grows.check_ours_common_grows(draws=40)
    assert check.verdict is Verdict.PROVED
    assert check.numbers["least_M"] == "165"
    assert int(check.numbers["grown"]) > 0
    assert check.with_control(common_grows.control_ours_common_grows()).control


def test_ours_common_grows_needs_assumption_2_too():
    check = common_grows.check_ours_common_grows(vocabularies=(164,), draws=1)
    assert check.verdict is Verdict.REFUTED


# Corollary 2


def test_tian2023_cor_2_by_hand():
    # w = (1, 1), one distinct token of 2: S = 2, o^2 = 6, e = 1/3; each pair gives
    # -(1/2)(1 - 1/3)/3 for a common token
    data = classes.layered_classes([1.0, 1.0], [[2.0], [2.0]], 4, (0, 0))
    moves = attention.velocity((0, 0), classes.unit_scores(data), np.ones((2, 2)))[0]
    assert moves[:2] == pytest.approx([-2 / 9, -2 / 9])


def test_tian2023_cor_2_agrees_with_the_formula_of_the_proof():
    rng = np.random.default_rng(5)
    data = classes.layered_classes([0.4, 0.9], [[1.0, 0.2], [0.3], [2.0]], 8, (0, 0, 0))
    z, beta = rng.normal(size=(1, 8)), rng.uniform(size=(3, 3))
    f = classes.unit_scores(data, z)
    xi = attention.forces(classes.correlations(f), beta)
    # shared weights before normalisation, as the classes have different totals
    totals = np.array([1.3 + 1.2, 1.3 + 0.3, 1.3 + 2.0])
    w = np.array([0.4, 0.9]) * np.exp(z[0, :2])
    shares = 1 - f[:, 0] ** 2 - f[:, 1] ** 2
    expected = -(w**2) / (w**2).sum() * float(shares @ xi)
    assert data.probabilities[:, 0] * totals == pytest.approx(0.4)
    assert attention.velocity((0, 0, 0), f, beta)[0, :2] == pytest.approx(expected)


def test_tian2023_cor_2_is_proved_and_unequal_probabilities_noticed(symmetric):
    for one in symmetric:
        E = classes.correlations(classes.unit_scores(one.classes))
        assert classes.weak_correlations(E, one.M).holds
    check = common.check_tian2023_cor_2(symmetric)
    assert check.verdict is Verdict.PROVED
    assert float(check.numbers["defect"]) < 1e-9
    assert check.with_control(common.control_tian2023_cor_2()).control


def test_tian2023_cor_2_needs_one_query_but_no_symmetry():
    found = common.without_hypotheses(3, draws=40)
    assert found["uneven"] == "0"
    assert found["noise_rises"] == "0"
    assert float(found["noise_defect"]) > 1e-4
    assert float(found["queries"]) > 0


# Equations (102) to (106)


def test_tian2023_eq_106_by_hand():
    # two tokens of 1/2: the norm is sqrt(1/2), the sum of squares 1/2
    assert common.chain(common.smallest(), 0, squared=False) == pytest.approx((0.5**0.5, 0.5, 0.5))


def test_tian2023_eq_106_is_refuted_but_not_with_squares(symmetric):
    cases = [common.smallest(), *symmetric]
    check = common.check_tian2023_eq_106(cases)
    assert check.verdict is Verdict.REFUTED
    assert "0.707, 0.5, 0.5" in check.witness
    assert check.with_control(common.control_tian2023_eq_106(cases)).control


def test_tian2023_eq_106_agrees_with_plain_sums(symmetric):
    one = symmetric[1]
    c = one.classes.probabilities[0].tolist()
    members = common.chain(one, 0, squared=False)
    assert members[1] == pytest.approx(sum(x * x for x in c))
    assert members[2] == pytest.approx(math.hypot(*c) ** 2)


def test_tian2023_eq_106_corrected_by_hand():
    assert common.chain(common.smallest(), 1, squared=True) == pytest.approx((0.5, 0.5, 0.5))


def test_tian2023_eq_106_corrected_agrees_with_symbols():
    P, z = sp.symbols("P z", real=True)
    assert sp.expand((P * sp.exp(z)) ** 2) == P**2 * sp.exp(2 * z)
    assert common.chain_identity() == 0


def test_tian2023_eq_106_corrected_is_proved_and_a_broken_symmetry_noticed(symmetric):
    check = common.check_tian2023_eq_106_corrected(symmetric)
    assert check.verdict is Verdict.PROVED
    assert check.with_control(common.control_tian2023_eq_106_corrected()).control
    heavier = classes.layered_classes([1.0, 1.0], [[1.0], [1.5]], 4, (0, 0))
    broken = replace(symmetric[0], classes=heavier)
    assert common.check_tian2023_eq_106_corrected([broken]).verdict is Verdict.REFUTED
