"""Checks of the page on the gradient that reaches the attention."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from ntpbook.tian2023.s4_gradient import (
    gradient,
    gradient_bound,
    gradient_coefficients,
    gradient_form,
    gradient_lemmas,
    gradient_runs,
    gradient_sign,
    gradient_steps,
    gradient_true,
)
from ntpcore.tian2023 import classes, decoder
from ntpcore.tian2023.gradient import star
from ntpcore.verdicts.claims import Check, Verdict

SMALL = (2, 3, 5)


@pytest.fixture(scope="module")
def spectra() -> list[gradient_lemmas.Spectrum]:
    return gradient_lemmas.random_spectra(3, 200, within_window=False)


@pytest.fixture(scope="module")
def window() -> list[gradient_lemmas.Spectrum]:
    return gradient_lemmas.random_spectra(4, 200, within_window=True)


@pytest.fixture(scope="module")
def modified() -> list[gradient_runs.Trained]:
    return gradient_runs.trained_decoders(3, True, sizes=SMALL)


@pytest.fixture(scope="module")
def plain() -> list[gradient_runs.Trained]:
    return gradient_runs.trained_decoders(3, False, sizes=SMALL)


@pytest.fixture(scope="module")
def settled() -> list[gradient_true.Settled]:
    return [gradient_true.over_time(*setting, points=20) for setting in gradient_true.SETTINGS]


def pair(e: float = 0.5) -> gradient_lemmas.Spectrum:
    """Two classes with one overlap."""
    return gradient_lemmas.spectrum("pair", np.array([[0, e], [e, 0]]))


def triple() -> gradient_lemmas.Spectrum:
    """Three classes with equal overlaps 1/4: eigenvalues 1/2, -1/4, -1/4."""
    return gradient_lemmas.spectrum("triple", (np.ones((3, 3)) - np.eye(3)) / 4)


def with_entry(one: gradient_lemmas.Spectrum, value: float) -> gradient_lemmas.Spectrum:
    """The same with one wrong entry of E'."""
    inverse = one.inverse.copy()
    inverse[0, 0] = value
    return replace(one, inverse=inverse)


# Symbolic steps


def test_nonnegative_finds_a_negative_coefficient():
    a, b = sp.symbols("a b", nonnegative=True)
    assert gradient_steps.nonnegative((a + b) / (1 + a * b))
    assert not gradient_steps.nonnegative((a - b) ** 2 / (1 + a))


def test_the_substitution_reaches_every_eigenvalue():
    r, lam = gradient_steps.eigenvalue()
    a, b, y = sorted(lam.free_symbols, key=str)
    at = {a: 3, b: 1, y: 4}
    assert (r.subs(at), lam.subs(at)) == (sp.Rational(4, 5), sp.Rational(2, 5))
    assert lam.subs({a: 0, b: 1, y: 4}) == -sp.Rational(4, 5)


def test_a_false_step_is_named():
    assert gradient_steps.failed_steps(gradient_steps.inverse_step) == ()

    def planted() -> bool:
        r, x = gradient_steps.eigenvalue()  # Lemma 17 with a plus
        return gradient_steps.nonnegative(sp.simplify(r**2 / (1 + r) - x**2 / (1 + x)))

    assert gradient_steps.failed_steps(planted) == ("planted",)


# Lemma 13


def test_tian2023_lem_13_by_hand():
    assert triple().radius == pytest.approx(0.5)
    assert gradient_lemmas.check_tian2023_lem_13([triple()]).numbers["worst"] == "0.5"


def test_tian2023_lem_13_agrees_with_power_iteration(spectra):
    for one in spectra[::20]:
        v = np.ones(one.K) + 0.1 * np.arange(one.K)
        for _ in range(400):
            v = one.E @ (one.E @ v)
            v /= np.linalg.norm(v)
        assert np.linalg.norm(one.E @ v) == pytest.approx(one.radius, rel=1e-3)
        assert one.E.max() <= np.linalg.norm(one.E @ v) * (1 + 1e-3)
        assert one.E.max() <= -one.values[0] + 1e-12  # sharper than the lemma


def test_tian2023_lem_13_is_proved_and_its_control_noticed(spectra):
    assert gradient_lemmas.check_tian2023_lem_13(spectra).verdict is Verdict.PROVED
    assert gradient_lemmas.control_tian2023_lem_13(spectra).noticed
    planted = replace(pair(), values=np.array([-0.4, 0.4]))
    assert gradient_lemmas.check_tian2023_lem_13([planted]).verdict is Verdict.REFUTED


# Lemma 14


def test_tian2023_lem_14_by_hand():
    # e = 1/2: (I + E)^-1 = 4/3 (1, -1/2; -1/2, 1), so E' = (-1/3, 2/3; 2/3, -1/3)
    assert pair().inverse == pytest.approx(np.array([[-1, 2], [2, -1]]) / 3)


def test_tian2023_lem_14_agrees_with_the_neumann_series(spectra):
    for one in spectra[::10]:
        if one.radius < 0.7:
            term, total = np.eye(one.K), np.zeros_like(one.E)
            for _ in range(200):
                term = -term @ one.E
                total += term
            assert -total == pytest.approx(one.inverse, abs=1e-12)


def test_tian2023_lem_14_is_proved_and_its_control_noticed(spectra):
    assert gradient_lemmas.check_tian2023_lem_14(spectra).verdict is Verdict.PROVED
    assert gradient_lemmas.control_tian2023_lem_14(spectra).noticed
    planted = replace(pair(), values=np.array([-0.5, 0.501]))
    assert gradient_lemmas.check_tian2023_lem_14([planted]).verdict is Verdict.REFUTED


# Lemma 15


def test_tian2023_lem_15_by_hand():
    # a pair attains the bound: eigenvalues 1/3 and -1, and (1/2) / (1 - 1/2) = 1
    assert np.linalg.eigvalsh(pair().inverse) == pytest.approx([-1, 1 / 3])
    check = gradient_lemmas.check_tian2023_lem_15([pair()])
    assert abs(float(check.numbers["worst"])) < 1e-14


def test_tian2023_lem_15_agrees_with_eigenvalues_of_the_lemma_before(spectra):
    for one in spectra[::10]:
        expected = np.sort(one.values / (1 + one.values))
        assert np.linalg.eigvalsh(one.inverse) == pytest.approx(expected, abs=1e-10)
        assert np.abs(expected).max() <= one.radius / (1 - one.radius) * (1 + 1e-12)


def test_tian2023_lem_15_is_proved_and_its_control_noticed(spectra):
    assert gradient_lemmas.check_tian2023_lem_15(spectra).verdict is Verdict.PROVED
    assert gradient_lemmas.control_tian2023_lem_15(spectra).noticed
    planted = with_entry(pair(), -0.4)
    assert gradient_lemmas.check_tian2023_lem_15([planted]).verdict is Verdict.REFUTED


# Lemma 16


def test_tian2023_lem_16_by_hand():
    assert pair().inverse[0, 0] == pytest.approx(-1 / 3)  # at most -(1/4) / (3/2) = -1/6
    check = gradient_lemmas.check_tian2023_lem_16([pair()])
    assert float(check.numbers["worst"]) == pytest.approx(0.5)


def test_tian2023_lem_16_agrees_with_what_projection_leaves(spectra):
    """1 / G_nn is the squared distance of f_n from the span of the others, so G_nn > 1."""
    rng = np.random.default_rng(1)
    f = classes.unit_scores(classes.random_classes(rng, 5, 30, 5, 2))
    prime = classes.E_prime(classes.correlations(f))
    for n in range(5):
        others = np.delete(f, n, axis=0)
        rest = f[n] - others.T @ np.linalg.lstsq(others.T, f[n], rcond=None)[0]
        assert 1 - prime[n, n] == pytest.approx(1 / (rest @ rest), rel=1e-10)
        assert prime[n, n] < 0


def test_tian2023_lem_16_is_proved_and_its_control_noticed(spectra):
    assert gradient_lemmas.check_tian2023_lem_16(spectra).verdict is Verdict.PROVED
    assert gradient_lemmas.control_tian2023_lem_16(spectra).noticed
    planted = with_entry(pair(), 0.0)
    assert gradient_lemmas.check_tian2023_lem_16([planted]).verdict is Verdict.REFUTED


def test_tian2023_lem_16_sees_a_class_without_overlap():
    E = np.zeros((3, 3))
    E[0, 1] = E[1, 0] = 0.5
    one = gradient_lemmas.spectrum("pair and one alone", E)
    assert gradient_lemmas.check_tian2023_lem_16([one]).verdict is Verdict.PROVED
    inverse = one.inverse.copy()
    inverse[2, 2] = -0.1
    check = gradient_lemmas.check_tian2023_lem_16([replace(one, inverse=inverse)])
    assert check.verdict is Verdict.REFUTED


# Lemma 17


def test_tian2023_lem_17_by_hand():
    # entries differ by 1/3 and by 2/3 - 1/2 = 1/6; the bound is (1/4) / (1/2) = 1/2
    check = gradient_lemmas.check_tian2023_lem_17([pair()])
    assert float(check.numbers["worst"]) == pytest.approx(1 / 3, abs=0.01)


def test_tian2023_lem_17_agrees_with_the_series_from_its_second_term(spectra):
    for one in spectra[::10]:
        if one.radius < 0.5:
            second = sum((-1) ** k * np.linalg.matrix_power(one.E, k) for k in range(2, 80))
            assert one.E - one.inverse == pytest.approx(second, abs=1e-12)
            assert np.abs(second).max() <= one.radius**2 / (1 - one.radius)


def test_tian2023_lem_17_is_proved_and_its_control_noticed(spectra):
    assert gradient_lemmas.check_tian2023_lem_17(spectra).verdict is Verdict.PROVED
    assert gradient_lemmas.control_tian2023_lem_17(spectra).noticed
    planted = with_entry(pair(), -0.6)
    assert gradient_lemmas.check_tian2023_lem_17([planted]).verdict is Verdict.REFUTED


# Equation (90)


def test_tian2023_eq_90_by_hand():
    # at the overlap 1/4: E'_12 = (1/4) / (15/16) = 4/15 <= 1/3 <= 1/2 <= 1
    assert pair(0.25).inverse[0, 1] == pytest.approx(4 / 15)
    assert gradient_lemmas.check_tian2023_eq_90([pair(0.25)]).numbers["worst"] == "0.2"


def test_tian2023_eq_90_agrees_with_entries_by_cofactors(window):
    for one in window[:40]:
        whole = np.eye(one.K) + one.E
        minor = np.delete(np.delete(whole, 0, 0), 1, 1)
        entry = np.linalg.det(minor) / np.linalg.det(whole)
        assert one.inverse[0, 1] == pytest.approx(entry, abs=1e-12)
        assert entry <= 1 / (one.K - 1)


def test_tian2023_eq_90_is_proved_and_its_control_noticed(window):
    assert gradient_lemmas.check_tian2023_eq_90(window).verdict is Verdict.PROVED
    assert gradient_lemmas.control_tian2023_eq_90(window).noticed
    assert gradient_lemmas.check_tian2023_eq_90([pair(0.6)]).verdict is Verdict.REFUTED


# Equation (93)


def test_tian2023_eq_93_by_hand(window):
    one = pair(1 / 3)
    assert (one.inverse @ one.E)[0, 0] == pytest.approx(1 / 8)
    check = gradient_bound.check_tian2023_eq_93([one])
    assert (check.numbers["term"], check.numbers["bound"]) == ("1/8", "1/6")
    # the whole line: xi at theta = sigma = 0 by E', against (1 + delta_1) bound - 3 K e / M
    beta = gradient_coefficients.pair_beta("corrected")
    assert check.numbers["whole"] == f"{float(beta / 3):.4f}"
    assert check.numbers["promised"] == f"{324 / 323 / 6 - 3 * 2 / 3 / 324:.4f}"


def test_tian2023_eq_93_agrees_with_a_mean_of_eigenvalues(window):
    for one in window[::10]:
        weights = one.vectors[0] ** 2
        term = weights @ (one.values**2 / (1 + one.values))
        assert (one.inverse @ one.E)[0, 0] == pytest.approx(term, rel=1e-9)
        assert term >= (one.values**2).min() / (1 + one.radius)


def test_tian2023_eq_93_is_refuted_under_each_reading(window):
    check = gradient_bound.check_tian2023_eq_93(window)
    assert check.verdict is Verdict.REFUTED
    assert {reading.verdict for reading in check.readings} == {Verdict.REFUTED}
    assert gradient_bound.control_tian2023_eq_93(window).noticed
    assert gradient_steps.equation_93_fails_for_pairs()


def test_tian2023_eq_93_is_not_refuted_where_it_holds():
    # a triple without small eigenvalues hides the slip: (1/4)^2 / (1/2) = 1/8 <= 1/10 fails, too
    assert gradient_bound.check_tian2023_eq_93([triple()]).verdict is Verdict.REFUTED
    E = np.zeros((4, 4))
    E[:2, 2:] = E[2:, :2] = 0.1  # eigenvalues +-0.2, 0, 0: with the smallest the bound is 0
    one = gradient_lemmas.spectrum("square", E)
    check = gradient_bound.check_tian2023_eq_93([one])
    assert check.verdict is Verdict.CONSISTENT
    assert [reading.verdict for reading in check.readings] == [
        Verdict.CONSISTENT,
        Verdict.REFUTED,
    ]


def test_tian2023_eq_93_corrected_by_hand():
    # the overlap 1/3: 1/8 >= (1/9) / (4/3) = 1/12
    check = gradient_bound.check_tian2023_eq_93_corrected([pair(1 / 3)])
    assert check.verdict is Verdict.PROVED
    assert float(check.numbers["worst"]) == pytest.approx((1 / 8 - 1 / 12) / (1 / 8), abs=0.01)


def test_tian2023_eq_93_corrected_agrees_with_plain_sums(window):
    for one in window[::10]:
        for n in range(one.K):
            term = sum(one.inverse[n, k] * one.E[n, k] for k in range(one.K) if k != n)
            row = sum(value**2 for value in one.E[n])
            assert term >= row / (1 + one.radius) - 1e-14
            assert row >= (one.values**2).min() - 1e-14


def test_tian2023_eq_93_corrected_is_proved_and_its_control_noticed(window):
    assert gradient_bound.check_tian2023_eq_93_corrected(window).verdict is Verdict.PROVED
    assert gradient_bound.control_tian2023_eq_93_corrected(window).noticed
    planted = replace(pair(0.3), inverse=0.6 * pair(0.3).inverse)
    check = gradient_bound.check_tian2023_eq_93_corrected([planted])
    assert check.verdict is Verdict.REFUTED


# Equation (9)


def test_tian2023_eq_9_by_hand():
    # after one step of class 1 from Y = 0, Y = eta f_1 r^T, so g is a multiple of f_1
    state = decoder.run(decoder.zero_decoder(5, pair(0.5).E), [0], 1e-6, False)
    a = decoder.gradient_coefficients(state, 1)
    assert a[1] == 0
    assert a[0] == pytest.approx(-1e-6 / 5, rel=1e-5)  # eta (4/5)^2 zeta_1 . zeta_2 = -eta / 5


def test_tian2023_eq_9_agrees_with_the_coefficients_of_the_library():
    rng = np.random.default_rng(6)
    data = classes.random_classes(rng, 3, 18, 3, 2)
    f = classes.unit_scores(data)
    E = classes.correlations(f)
    draws = rng.integers(3, size=50)
    for modified in (False, True):
        Y, mix = np.zeros((18, 18)), np.eye(3) - (classes.E_prime(E) if modified else 0)
        for n in draws:
            Y += 0.9 * np.outer(f.T @ mix[:, n], gradient_form._error(Y.T @ f[n], int(n)))
        state = decoder.run(decoder.zero_decoder(18, E), draws, 0.9, modified)
        for n in range(3):
            g = Y @ gradient_form._error(Y.T @ f[n], n)
            found = decoder.gradient_coefficients(state, n) @ f
            assert found == pytest.approx(g, rel=1e-10, abs=1e-13)


def test_tian2023_eq_9_is_proved_and_its_control_noticed():
    assert gradient_form.check_tian2023_eq_9(3, count=10).verdict is Verdict.PROVED
    assert gradient_form.control_tian2023_eq_9(3).noticed
    moving = gradient_form.check_tian2023_eq_9(4, count=2, moving=True)
    assert moving.verdict is Verdict.REFUTED


# Equation (88)


def test_tian2023_eq_88_by_hand():
    # q_1 = 324/323, |q_0| = 324/323^2, E'_12 = 3/8, E'_22 = -1/8
    q_1, q_0 = Fraction(324, 323), Fraction(324, 323**2)
    true = gradient_coefficients.pair_beta("corrected")
    assert true == q_1 * Fraction(3, 8) + q_0 * Fraction(9, 8)
    printed = gradient_coefficients.pair_beta("q_0 with its sign")
    assert printed == q_1 * Fraction(3, 8) - q_0 * Fraction(7, 8)
    assert true - printed == 2 * q_0
    assert gradient_coefficients.pair_beta("q_0 with its sign", -1) == -true


def test_tian2023_eq_88_agrees_with_a_run_of_the_modified_update():
    e, M = 1 / 3, 324
    state = decoder.run(decoder.zero_decoder(M, pair(e).E), [0, 1] * 30, 0.05, True)
    a = decoder.gradient_coefficients(state, 0)
    # equal draws: theta and sigma cancel in the ratio, iota = q_1 (9/8) + |q_0| (3/8)
    q_1, q_0 = M / (M - 1), M / (M - 1) ** 2
    ratio = float(gradient_coefficients.pair_beta("corrected")) / (q_1 * 9 / 8 + q_0 * 3 / 8)
    assert -a[1] / a[0] == pytest.approx(ratio, rel=1e-11)


def test_tian2023_eq_88_is_refuted_under_each_reading(modified):
    check = gradient_coefficients.check_tian2023_eq_88(modified)
    assert check.verdict is Verdict.REFUTED
    assert [reading.verdict for reading in check.readings] == [Verdict.REFUTED] * 4
    assert gradient_coefficients.control_tian2023_eq_88(modified).noticed


def test_tian2023_eq_88_corrected_by_hand():
    # no overlap at all: iota = q_1 and beta = |q_0|, both times 1 + theta and 1 + sigma
    state = decoder.run(decoder.zero_decoder(10, np.zeros((2, 2))), [0, 1], 0.5, True)
    gamma, one = gradient_runs.of_run(state, np.zeros((2, 2)), 0.5, 0)
    a = decoder.gradient_coefficients(state, 0)
    assert a == pytest.approx([gamma * one.iota, -gamma * one.beta[1]], rel=1e-12)
    assert one.beta[1] / one.iota == pytest.approx(1 / 9)


def test_tian2023_eq_88_corrected_agrees_with_symbols_at_numbers():
    for K in (2, 3):
        assert gradient_steps.coefficient_steps(K)
        assert not gradient_steps.coefficient_steps(K, outer=1, inner=-1)
        assert not gradient_steps.coefficient_steps(K, outer=-1, inner=-1)


def test_tian2023_eq_88_corrected_is_proved_and_its_control_noticed(modified, plain):
    check = gradient_coefficients.check_tian2023_eq_88_corrected(modified)
    assert check.verdict is Verdict.PROVED
    assert gradient_coefficients.control_tian2023_eq_88_corrected(modified).noticed
    wrong = gradient_coefficients.check_tian2023_eq_88_corrected(plain)
    assert wrong.verdict is Verdict.REFUTED


# Theorem 1


def test_tian2023_thm_1_by_hand():
    # for small tau, two classes and M rho >> 1: xi is tau rho / M under (7), and close to
    # tau rho^2 by the coefficients of the theorem, so that the ratio is 1 / (M rho)
    one = gradient_true.over_time(2, 10**6, 0.01, points=5)
    assert one.gradient[0] == pytest.approx(1e-3 * 0.01 / 1e6, rel=1e-3)
    assert one.gradient[0] / one.theorem[0] == pytest.approx(1 / (1e6 * 0.01), rel=1e-3)


def test_tian2023_thm_1_agrees_with_a_dense_run_of_the_gradient(plain):
    """The coefficients of Theorem 1 are not those of (7), on a dense decoder."""
    rng = np.random.default_rng(2)
    data = classes.equicorrelated_classes(3, 200, 0.2)
    f = classes.unit_scores(data)
    draws = np.concatenate([rng.permutation(3) for _ in range(20)])
    Y = np.zeros((200, 200))
    for n in draws:
        Y += 0.3 * np.outer(f[n], gradient_form._error(Y.T @ f[n], int(n)))
    g = Y @ gradient_form._error(Y.T @ f[0], 0)
    a = np.linalg.lstsq(f.T, g, rcond=None)[0]
    E = classes.correlations(f)
    state = decoder.run(decoder.zero_decoder(200, E), draws, 0.3, True)
    gamma, expected = gradient_runs.of_run(state, classes.E_prime(E), 0.3, 0)
    assert -a[1] < 0.2 * gamma * expected.beta[1]
    assert -a @ E[0] > 0


def test_tian2023_thm_1_holds_under_some_readings_only(modified, plain):
    check = gradient.check_tian2023_thm_1(modified, plain)
    assert check.verdict is Verdict.CONSISTENT
    assert [reading.verdict for reading in check.readings] == [
        Verdict.CONSISTENT,
        Verdict.CONSISTENT,
        *[Verdict.REFUTED] * 4,
    ]
    assert gradient.control_tian2023_thm_1(3).noticed


def test_tian2023_thm_1_early_steps_can_turn_the_sign():
    # four dense vectors in a row, one update (26) of the third, the gradient of the first
    f = np.zeros((4, 7))
    for n in range(3):
        f[[n, n + 1], n] = 0.15**0.5
    f[range(4), range(3, 7)] = (1 - (f**2).sum(axis=1)) ** 0.5
    gram, error = f @ f.T, -np.full(10_000, 1e-4)
    error[2] += 1
    Y = 0.5 * np.outer(f.T @ np.linalg.inv(gram)[:, 2], error)
    weights = np.exp(f[0] @ Y)
    residual = -weights / weights.sum()
    residual[0] += 1
    a = np.linalg.lstsq(f.T, Y @ residual, rcond=None)[0]
    expected = -a[1:] @ gram[0, 1:]
    assert expected < 0
    assert gradient.first_step_xi() == pytest.approx(expected, rel=1e-6)


def test_tian2023_thm_1_needs_a_constant_that_grows_with_the_vocabulary():
    constants = gradient.stage_2_constants([1e2, 1e4, 1e8, 1e16])
    assert sorted(constants) == constants
    M, x = 10**4, 20.0  # gamma tau from the definitions, not from the library's gamma
    tau = (np.exp(x) - 1 + (M - 1) * x) / M
    gamma = (M - 1) ** 2 * (x / M) / (M - 1 + np.exp(x))
    assert decoder.speed(M, 1, 1.0, tau) == pytest.approx(gamma, rel=1e-10)
    assert gamma <= 2 * np.log(M * tau) / tau


def test_tian2023_thm_1_corrected_by_hand():
    # M = 5, x = 1: tau = (e - 1 + 4) / 5, gamma = (16/5) / (4 + e)
    slack = gradient.speed_slack(5, np.array([1.0]))
    tau, gamma = (np.e - 1 + 4) / 5, 16 / 5 / (4 + np.e)
    assert slack == pytest.approx((tau - gamma) / tau)
    # M = 4, x = 2: tau = (e^2 - 1 + 6) / 4 is beyond t_0 = 3.02, so that the second bound counts
    e2 = np.e**2
    tau, gamma = (e2 + 5) / 4, 4.5 / (3 + e2)
    slack = gradient.speed_slack(4, np.array([2.0]))
    assert slack == pytest.approx(1 - gamma * tau / (2 * np.log(e2 + 5)))
    # M = 3 has no t_0
    tau, gamma = (e2 + 3) / 3, 8 / 3 / (2 + e2)
    assert gradient.speed_slack(3, np.array([2.0])) == pytest.approx(1 - gamma / tau)


def test_tian2023_thm_1_corrected_agrees_with_a_fine_grid_of_heights():
    x = np.geomspace(1e-6, 60, 400)
    for M in (4, 5, 30, 1000, 10**6):
        assert gradient.speed_slack(M, x) >= 0


def test_tian2023_thm_1_corrected_is_proved_and_its_control_noticed(modified, plain):
    check = gradient.check_tian2023_thm_1_corrected(modified)
    assert check.verdict is Verdict.PROVED
    assert gradient.control_tian2023_thm_1_corrected(modified).noticed
    assert gradient.check_tian2023_thm_1_corrected(plain).verdict is Verdict.REFUTED


def test_tian2023_thm_1_corrected_notices_a_force_that_is_not_positive(modified):
    one = modified[-1]
    n, a = one.found[0]
    assert gradient_runs.xi_slack(a, one.state.E[n]) > 0
    assert gradient_runs.xi_slack(-a, one.state.E[n]) == -1


# When xi is positive


def test_ours_xi_positive_by_hand():
    # K = 2, e = 1/2, M = 3: 3/2 [4/3 - 1 - (1/2)(-2/3)] = 1
    E = [[Fraction(0), Fraction(1, 2)], [Fraction(1, 2), Fraction(0)]]
    assert gradient_sign.exact_xi(E, 3, 0) == 1


def test_ours_xi_positive_agrees_with_fractions_on_the_star():
    link = Fraction(1, 30)
    E = gradient_sign.exact_star(2, Fraction(2, 3), link)
    assert np.array(E, dtype=float) == pytest.approx(star(2, 2 / 3, 1 / 30))
    e, s, m, M = link, Fraction(2, 3), 2, 10
    D = 1 - m * s**2
    G = 1 / (1 - e**2 / D)
    expected = Fraction(M, M - 1) * G * e * ((M - 1) * e - (m * s - 1)) / D / (M - 1)
    assert gradient_sign.exact_xi(E, M, 0) == expected == Fraction(-10, 8019)


def test_ours_xi_positive_the_star_has_nonnegative_vectors_and_a_run_shows_its_sign():
    r = (2 * (2 / 3) ** 2 + 1 / 900) ** 0.5
    f = np.zeros((4, 6))
    f[1, :3] = np.array([1 / 30, 2 / 3, 2 / 3]) / r
    for row, token in ((0, 0), (2, 1), (3, 2)):
        f[row, [token, 3 + token]] = r, (1 - r**2) ** 0.5
    assert np.linalg.norm(f, axis=1) == pytest.approx(np.ones(4))
    E = classes.correlations(f)
    assert pytest.approx(star(2, 2 / 3, 1 / 30)) == E
    state = decoder.run(decoder.zero_decoder(10, E), [0, 1, 2, 3] * 20, 0.1, True)
    assert decoder.xi(state, 0) < 0
    assert decoder.xi(state, 1) > 0


def test_ours_xi_positive_is_proved_and_its_control_noticed():
    assert gradient_sign.star_step()
    assert gradient_sign.three_classes_step()
    assert gradient_sign.check_ours_xi_positive(3, count=60).verdict is Verdict.PROVED
    assert gradient_sign.control_ours_xi_positive(3).noticed


# xi under (7)


def test_ours_xi_true_by_hand():
    # two classes, tau small: xi = tau rho / M (1 + 3/2 tau ((M-1) rho - 1) / M)
    (K, M, rho, tau), second, rest = gradient_true.equal_overlaps()
    at = second.subs({K: 2, M: 4, rho: sp.Rational(1, 2), tau: sp.Rational(1, 10)})
    assert at == sp.Rational(1, 80) * (1 + sp.Rational(3, 160))
    assert rest == 0


def test_ours_xi_true_agrees_with_small_dense_steps():
    data = classes.equicorrelated_classes(3, 12, 0.4)
    f = classes.unit_scores(data)
    Y, steps, tau = np.zeros((12, 12)), 400, 0.02
    for _ in range(steps):
        slope = sum(np.outer(f[n], gradient_form._error(Y.T @ f[n], n)) for n in range(3))
        Y += tau / steps * slope
    g = Y @ gradient_form._error(Y.T @ f[0], 0)
    a = np.linalg.lstsq(f.T, g, rcond=None)[0]
    expected = 2 * 0.4 * tau / 12 * (1 + 1.5 * tau / 12 * (10 * 0.4 - 1))
    assert -a[1] * 0.4 - a[2] * 0.4 == pytest.approx(expected, rel=1e-3)


def test_ours_xi_true_is_proved_and_its_control_noticed(settled):
    check = gradient_true.check_ours_xi_true(settled, 3)
    assert check.verdict is Verdict.PROVED
    assert gradient_true.control_ours_xi_true(3).noticed
    planted = [replace(one, gradient=one.theorem) for one in settled]
    assert gradient_true.check_ours_xi_true(planted, 3).verdict is Verdict.REFUTED


def test_ours_xi_true_notices_one_negative_value(settled):
    values = settled[1].gradient.copy()
    values[-1] = -1e-9
    check: Check = gradient_true.check_ours_xi_true([replace(settled[1], gradient=values)], 3)
    assert check.verdict is Verdict.REFUTED
