"""The gradient that reaches the attention: Theorem 1, the lemmas of its proof, and (7) itself."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypotheses import broken

from ntpbook.tian2023.s4_gradient import checks, gradient, instances, steps
from ntpcore.tian2023 import classes, decoder
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import NotANumberError

PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED
NOT_CONTRADICTED = Verdict.NOT_CONTRADICTED


@pytest.fixture(scope="module")
def spectra() -> tuple[instances.Spectrum, ...]:
    return instances.spectra(3, 200)


@pytest.fixture(scope="module")
def window() -> tuple[instances.Spectrum, ...]:
    return instances.spectra_in_window(4, 200)


@pytest.fixture(scope="module")
def trained() -> tuple[instances.TwoDecoders, ...]:
    return tuple(one for one in instances.trained(3) if len(one.E) <= 5)


def pair(e: float = 0.5) -> instances.Spectrum:
    """Two classes with one overlap."""
    return instances.spectrum("pair", np.array([[0, e], [e, 0]]))


def triple() -> instances.Spectrum:
    """Three classes with equal overlaps 1/4: eigenvalues 1/2, -1/4, -1/4."""
    return instances.spectrum("triple", (np.ones((3, 3)) - np.eye(3)) / 4)


def with_entry(one: instances.Spectrum, value: float) -> instances.Spectrum:
    """The same with one wrong entry of E'."""
    inverse = one.inverse.copy()
    inverse[0, 0] = value
    return replace(one, inverse=inverse)


# Steps of proofs


def test_a_negative_coefficient_is_found():
    a, b = sp.symbols("a b", nonnegative=True)
    assert steps.at_least("", (a + b) / (1 + a * b), sp.S.Zero).holds
    assert not steps.at_least("", (a - b) ** 2 / (1 + a), sp.S.Zero).holds
    assert not steps.at_least("", a, b).holds


def test_the_substitution_reaches_every_eigenvalue():
    r, lam = steps.eigenvalue()
    a, b, y = sorted(lam.free_symbols, key=str)
    at = {a: 3, b: 1, y: 4}
    assert (r.subs(at), lam.subs(at)) == (sp.Rational(4, 5), sp.Rational(2, 5))
    assert lam.subs({a: 0, b: 1, y: 4}) == -sp.Rational(4, 5)


# Lemma 13


def test_tian2023_lem_13_by_hand():
    assert triple().radius == pytest.approx(0.5)
    found = checks.check_tian2023_lem_13.judge([triple()])
    assert found.numbers["reached"].value == pytest.approx(0.5)  # 1/4 by 1/2


def test_tian2023_lem_13_agrees_with_power_iteration(spectra):
    for one in spectra[::20]:
        v = np.ones(one.K) + 0.1 * np.arange(one.K)
        for _ in range(400):
            v = one.E @ (one.E @ v)
            v /= np.linalg.norm(v)
        assert np.linalg.norm(one.E @ v) == pytest.approx(one.radius, rel=1e-3)
        assert one.E.max() <= np.linalg.norm(one.E @ v) * (1 + 1e-3)
        assert one.E.max() <= -one.values[0] + 1e-12  # sharper than the lemma


def test_tian2023_lem_13_notices_a_wrong_eigenvalue():
    planted = replace(pair(), values=np.array([-0.4, 0.4]))
    assert checks.check_tian2023_lem_13.judge([planted]).verdict is REFUTED


def test_tian2023_lem_13_refuses_what_is_no_number():
    planted = replace(pair(), values=np.array([-0.5, np.nan]))
    with pytest.raises(NotANumberError):
        checks.check_tian2023_lem_13.judge([planted])


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


def test_tian2023_lem_14_notices_a_wrong_eigenvalue():
    planted = replace(pair(), values=np.array([-0.5, 0.501]))
    assert checks.check_tian2023_lem_14.judge([planted]).verdict is REFUTED


# Lemma 15


def test_tian2023_lem_15_by_hand():
    # a pair attains the bound: eigenvalues 1/3 and -1, and (1/2) / (1 - 1/2) = 1
    assert np.linalg.eigvalsh(pair().inverse) == pytest.approx([-1, 1 / 3])
    found = checks.check_tian2023_lem_15.judge([pair()])
    assert found.numbers["reached"].value == pytest.approx(1, abs=1e-14)


def test_tian2023_lem_15_agrees_with_eigenvalues_of_the_lemma_before(spectra):
    for one in spectra[::10]:
        expected = np.sort(one.values / (1 + one.values))
        assert np.linalg.eigvalsh(one.inverse) == pytest.approx(expected, abs=1e-10)
        assert np.abs(expected).max() <= one.radius / (1 - one.radius) * (1 + 1e-12)


def test_tian2023_lem_15_notices_a_wrong_entry():
    assert checks.check_tian2023_lem_15.judge([with_entry(pair(), -0.4)]).verdict is REFUTED


# Lemma 16


def test_tian2023_lem_16_by_hand():
    # -1/3 is at most -(1/4) / (3/2) = -1/6
    assert pair().inverse[0, 0] == pytest.approx(-1 / 3)
    assert checks.check_tian2023_lem_16.judge([pair()]).verdict is PROVED
    assert checks.check_tian2023_lem_16.judge([with_entry(pair(), -0.16)]).verdict is REFUTED


def test_tian2023_lem_16_agrees_with_what_projection_leaves():
    """1 / G_nn is the squared distance of f_n from the span of the others, so G_nn > 1."""
    rng = np.random.default_rng(1)
    f = classes.unit_scores(classes.random_classes(rng, 5, 30, 5, 2))
    prime = classes.E_prime(classes.correlations(f))
    for n in range(5):
        others = np.delete(f, n, axis=0)
        rest = f[n] - others.T @ np.linalg.lstsq(others.T, f[n], rcond=None)[0]
        assert 1 - prime[n, n] == pytest.approx(1 / (rest @ rest), rel=1e-10)
        assert prime[n, n] < 0


def test_tian2023_lem_16_sees_a_class_without_overlap():
    E = np.zeros((3, 3))
    E[0, 1] = E[1, 0] = 0.5
    one = instances.spectrum("pair and one alone", E)
    found = checks.check_tian2023_lem_16.judge([one])
    assert (found.verdict, found.numbers["isolated"].value) == (PROVED, 1)
    inverse = one.inverse.copy()
    inverse[2, 2] = -0.1
    planted = replace(one, inverse=inverse)
    assert checks.check_tian2023_lem_16.judge([planted]).verdict is REFUTED


# Lemma 17


def test_tian2023_lem_17_by_hand():
    # entries differ by 1/3 and by 2/3 - 1/2 = 1/6; the bound is (1/4) / (1/2) = 1/2
    found = checks.check_tian2023_lem_17.judge([pair()])
    assert found.numbers["reached"].value == pytest.approx(2 / 3)


def test_tian2023_lem_17_notices_a_wrong_entry():
    assert checks.check_tian2023_lem_17.judge([with_entry(pair(), -0.6)]).verdict is REFUTED


# Equation (90)


def test_tian2023_eq_90_by_hand():
    # at the overlap 1/4: E'_12 = (1/4) / (15/16) = 4/15 <= 1/3 <= 1/2 <= 1
    assert pair(0.25).inverse[0, 1] == pytest.approx(4 / 15)
    assert pair(0.25).inverse_radius == pytest.approx(1 / 3)
    found = checks.check_tian2023_eq_90.judge([pair(0.25)])
    assert found.numbers["reached"].value == pytest.approx(1 / 2)


def test_tian2023_eq_90_needs_the_window():
    assert checks.check_tian2023_eq_90.judge([pair(0.6)]).verdict is REFUTED


# Equations (91) to (93)


def test_tian2023_eq_92_by_hand():
    # the overlap 1/3: E'_11 = 1 - 9/8 = -1/8, and E_12 E'_12 = (1/3) (3/8)
    one = pair(1 / 3)
    assert one.inverse[0, 0] == pytest.approx(-1 / 8)
    assert one.E[0, 1] * one.inverse[0, 1] == pytest.approx(1 / 8)
    assert checks.check_tian2023_eq_92.judge([one, triple()]).verdict is PROVED


def test_tian2023_eq_92_notices_a_wrong_diagonal():
    assert checks.check_tian2023_eq_92.judge([with_entry(pair(1 / 3), -0.2)]).verdict is REFUTED


def test_tian2023_eq_93_by_hand():
    # the overlap 1/3: 1/8 is below (1/9) / (2/3) = 1/6
    one = instances.Pair(Fraction(1, 3), 900)
    assert (pair(1 / 3).inverse @ pair(1 / 3).E)[0, 0] == pytest.approx(1 / 8)
    found = checks.check_tian2023_eq_93.judge([one])
    assert found.numbers["term"].value == Fraction(1, 8)
    assert found.numbers["bound"].value == Fraction(1, 6)
    # the whole line: beta f_1 . f_2 by hand, against q_1 / 6 - 3 K e / M
    q_1, q_0 = Fraction(900, 899), Fraction(900, 899**2)
    beta = q_1 * Fraction(3, 8) + q_0 * Fraction(9, 8)
    assert found.numbers["whole"].value == beta / 3
    assert found.numbers["promised"].value == Fraction(900, 899) / 6 - Fraction(2, 900)


def test_tian2023_eq_93_agrees_with_a_mean_of_eigenvalues(window):
    for one in window[::10]:
        weights = one.vectors[0] ** 2
        term = weights @ (one.values**2 / (1 + one.values))
        assert (one.inverse @ one.E)[0, 0] == pytest.approx(term, rel=1e-9)
        assert term >= one.least_square / (1 + one.radius)


def test_tian2023_eq_93_is_refuted_in_fractions_where_assumption_2_holds():
    found = checks.check_tian2023_eq_93()
    assert (
        found.witness == "$K = 2$, $M = 900$, overlap 1/3, the term and the bound: violated by 1/24"
    )
    # M = 100 puts the border 6/sqrt(M) = 0.6 above the overlap, and 1/2 leaves the window
    for e, M in ((Fraction(1, 3), 100), (Fraction(1, 2), 900)):
        assert broken(checks.check_tian2023_eq_93, instances.Pair(e, M)) == ["Assumption 2"]


def test_tian2023_eq_93_fails_for_every_overlap_of_a_pair():
    y = sp.symbols("y", positive=True)
    e = y / (1 + y)
    E = sp.Matrix([[0, e], [e, 0]])
    term = (E * (sp.eye(2) + E).inv() * E)[0, 0]
    assert sp.simplify(e**2 / (1 - e) - term).is_positive


def test_assumption_2_is_tested_as_printed():
    E = np.zeros((4, 4))
    E[:2, 2:] = E[2:, :2] = 0.1  # eigenvalues +-0.2, 0, 0: no M allows the zeros
    assert not instances.allowed(E, 10**9)
    assert instances.allowed(triple().E / 4, 10**4)  # eigenvalues 1/8, -1/16, -1/16
    assert not instances.allowed(triple().E / 4, 9000)  # 6/sqrt(9000) = 0.0632 > 1/16
    assert not instances.allowed(-triple().E / 4, 10**4)


def test_tian2023_eq_93_corrected_by_hand():
    # the overlap 1/3: 1/8 >= (1/9) / (4/3) = 1/12
    one = instances.Pair(Fraction(1, 3), 900)
    assert checks.check_tian2023_eq_93_corrected.judge([one]).verdict is PROVED
    assert one.leading[0] == Fraction(1, 8) > one.squares[0] / (1 + one.radius) == Fraction(1, 12)


def test_tian2023_eq_93_corrected_agrees_with_plain_sums(window):
    for one in window[::10]:
        for n in range(one.K):
            term = sum(one.inverse[n, k] * one.E[n, k] for k in range(one.K) if k != n)
            row = sum(value**2 for value in one.E[n])
            assert one.leading[n] == pytest.approx(term, abs=1e-14)
            assert term >= row / (1 + one.radius) - 1e-14
            assert row >= one.least_square - 1e-14


def test_tian2023_eq_93_corrected_notices_a_smaller_E_prime():
    planted = replace(pair(0.3), inverse=0.6 * pair(0.3).inverse)
    assert checks.check_tian2023_eq_93_corrected.judge([planted]).verdict is REFUTED


# Equation (88)


def test_tian2023_eq_88_by_hand():
    # q_1 = 900/899, |q_0| = 900/899^2, E'_12 = 3/8, E'_22 = -1/8
    q_1, q_0 = Fraction(900, 899), Fraction(900, 899**2)
    one = instances.even_pair()
    true = -one.gradient(0)[1]
    assert true == q_1 * Fraction(3, 8) + q_0 * Fraction(9, 8)
    printed = -one.theorem(0, "q_0 with its sign", 1)[1]
    assert printed == q_1 * Fraction(3, 8) - q_0 * Fraction(7, 8)
    assert true - printed == 2 * q_0
    assert -one.theorem(0, "q_0 with its sign", -1)[1] == -true


def test_tian2023_eq_88_agrees_with_a_run_of_the_modified_update():
    M = 324
    one = instances.even_pair(M)
    E = np.array(one.E, dtype=float)
    state = decoder.run(decoder.zero_decoder(M, E), [0, 1] * 30, 0.05, True)
    a, exact = decoder.gradient_coefficients(state, 0), one.gradient(0)
    assert a[1] / a[0] == pytest.approx(float(exact[1] / exact[0]), rel=1e-11)


def test_tian2023_eq_88_is_refuted_in_fractions_with_both_signs_of_e_prime():
    found = checks.check_tian2023_eq_88.judge([instances.even_pair()])
    assert found.verdict is REFUTED
    assert [one.verdict for one in found.readings] == [REFUTED]
    assert found.witness.endswith(f"violated by {2 * Fraction(900, 899**2)}")


def test_tian2023_eq_88_asks_for_the_decoder_of_theorem_5():
    one = instances.even_equal(3, 10_000, Fraction(3, 20))
    assert broken(checks.check_tian2023_eq_88, one) == []
    assert broken(checks.check_tian2023_eq_88, instances.even_pair(100)) == [
        "Assumption 2",
        r"$M \gg 100$",
    ]
    assert one.follows_theorem_5()

    class Other(instances.Even):
        def gradient(self, n):
            return [2 * x for x in super().gradient(n)]

    assert not Other(one.name, one.M, one.E).follows_theorem_5()


def test_tian2023_eq_88_corrected_by_hand():
    # no overlap at all: iota = q_1 and beta = |q_0|, both times 1 + theta and 1 + sigma
    state = decoder.run(decoder.zero_decoder(10, np.zeros((2, 2))), [0, 1], 0.5, True)
    gamma, one = gradient.of_run(state, np.zeros((2, 2)), 0.5, 0)
    a = decoder.gradient_coefficients(state, 0)
    assert a == pytest.approx([gamma * one.iota, -gamma * one.beta[1]], rel=1e-12)
    assert one.beta[1] / one.iota == pytest.approx(1 / 9)


def dense_run(f, draws, eta, modified):
    """Y after the updates (7) or (26) as they stand, with M x M matrices."""
    M = f.shape[1]
    G = np.linalg.inv(f @ f.T)
    Y = np.zeros((M, M))
    for n in draws:
        direction = f.T @ G[:, n] if modified else f[n]  # f_n - F E' e_n = F G e_n
        logits = Y.T @ f[n]
        Y += eta * np.outer(direction, np.eye(M)[n] - np.exp(logits) / np.exp(logits).sum())
    return Y


def dense_gradient(Y, f, n):
    """g = Y (e_n - alpha_n), and its coefficients in the f_k."""
    logits = Y.T @ f[n]
    g = Y @ (np.eye(len(Y))[n] - np.exp(logits) / np.exp(logits).sum())
    return g, np.linalg.lstsq(f.T, g, rcond=None)[0]


def test_tian2023_eq_88_corrected_agrees_with_dense_matrices():
    """theta and sigma from the recursion (33) and the flow (44), written from the paper."""
    rng = np.random.default_rng(8)
    M, K, eta = 22, 3, 0.4
    f = classes.unit_scores(classes.random_classes(rng, K, M, 3, 2))
    draws = np.array([0, 1, 2, 0, 0, 1, 2, 2, 1, 0])
    Y = dense_run(f, draws, eta, True)
    h = [0.0]
    for _ in range(10):
        h.append(h[-1] + eta / (M - 1 + np.exp(M * h[-1])))  # (33)
    counts = np.bincount(draws, minlength=K)
    mean, fine = 0.0, 20_000
    for _ in range(fine):  # (44) up to N_bar = ceil(10/3) = 4
        mean += 4 / fine * eta / (M - 1 + np.exp(M * mean))
    theta = np.array([h[count] for count in counts]) / mean - 1
    prime = np.eye(K) - np.linalg.inv(f @ f.T)
    for n in range(K):
        _, a = dense_gradient(Y, f, n)
        gamma = (M - 1) ** 2 * mean / (M - 1 + np.exp(M * mean))
        sigma = (M - 1 + np.exp(M * mean)) / (M - 1 + np.exp(M * h[counts[n]])) - 1
        for k in range(K):
            others = sum((1 + theta[j]) * prime[j, k] for j in range(K) if j != n)
            own = M / (M - 1) * (1 + theta[n])
            if k == n:
                expected = own * (1 - prime[n, n]) + M / (M - 1) ** 2 * others
            else:
                rest = 1 + theta[k] - others
                expected = -(own * prime[n, k] + M / (M - 1) ** 2 * rest)
            assert a[k] == pytest.approx(gamma * (1 + sigma) * expected, rel=1e-3)


@pytest.mark.parametrize("planted", ["K - 1", "1/(M - 1)", "sign"])
def test_tian2023_eq_88_corrected_notices_a_planted_error_in_the_library(
    planted, trained, monkeypatch
):
    """A wrong constant in the coefficients of the library is noticed by the check."""
    true = gradient.overlaps

    def wrong(M):
        q_1, q_0 = true(M)
        return {
            "K - 1": (q_1 * (M - 1) / M, q_0),
            "1/(M - 1)": (q_1, q_0 * (M - 1)),
            "sign": (q_1, -q_0),
        }[planted]

    monkeypatch.setattr(gradient, "overlaps", wrong)
    found = checks.check_tian2023_eq_88_corrected.judge(trained)
    assert found.verdict is REFUTED


# Equation (9)


def test_tian2023_eq_9_by_hand():
    # after one step of class 1 from Y = 0, Y = eta f_1 r^T, so g is a multiple of f_1
    state = decoder.run(decoder.zero_decoder(5, pair(0.5).E), [0], 1e-6, False)
    a = decoder.gradient_coefficients(state, 1)
    assert a[1] == 0
    assert a[0] == pytest.approx(-1e-6 / 5, rel=1e-5)  # eta (4/5)^2 zeta_1 . zeta_2 = -eta / 5


def test_tian2023_eq_9_notices_a_decoder_beside_the_span():
    one = instances.dense(4, 1)[0]
    planted = replace(one, Y=one.Y + 1e-6 * np.random.default_rng(0).normal(size=one.Y.shape))
    assert checks.check_tian2023_eq_9.judge([planted]).verdict is REFUTED


# Theorem 1


def test_tian2023_thm_1_by_hand():
    # for small tau, two classes and M rho >> 1: xi is tau rho / M under (7), and close to
    # tau rho^2 by the coefficients of the theorem, so that the ratio is 1 / (M rho)
    one = instances.over_time(2, 10**6, 0.01, points=5)
    assert one.gradient[0] == pytest.approx(1e-3 * 0.01 / 1e6, rel=1e-3)
    assert one.gradient[0] / one.theorem[0] == pytest.approx(1 / (1e6 * 0.01), rel=1e-3)


def test_tian2023_thm_1_agrees_with_a_dense_run_of_the_gradient():
    """The coefficients of Theorem 1 are not those of (7), on a dense decoder."""
    rng = np.random.default_rng(2)
    f = classes.unit_scores(classes.equicorrelated_classes(3, 200, 0.2))
    draws = np.concatenate([rng.permutation(3) for _ in range(20)])
    _, a = dense_gradient(dense_run(f, draws, 0.3, False), f, 0)
    E = classes.correlations(f)
    state = decoder.run(decoder.zero_decoder(200, E), draws, 0.3, True)
    gamma, expected = gradient.of_run(state, classes.E_prime(E), 0.3, 0)
    assert -a[1] < 0.2 * gamma * expected.beta[1]
    assert -a @ E[0] > 0


def test_tian2023_thm_1_holds_under_some_readings_only():
    found = checks.check_tian2023_thm_1()
    good = NOT_CONTRADICTED
    assert [one.verdict for one in found.readings] == [good, REFUTED, good, REFUTED]
    more = checks.check_tian2023_thm_1_corrected(seed=3)
    assert more.numbers["positive"].value == more.numbers["gradients"].value


def test_tian2023_thm_1_a_constant_does_for_small_vocabularies():
    small = [one for one in instances.large_vocabularies() if one.exponent < 9]
    assert checks.check_tian2023_thm_1.judge(small).verdict is NOT_CONTRADICTED
    found = checks.check_tian2023_thm_1.judge(instances.large_vocabularies())
    assert found.verdict is REFUTED
    assert "10^{9}" in found.witness


def test_tian2023_thm_1_asks_for_every_hypothesis():
    one = instances.large_vocabularies()[0]
    assert broken(checks.check_tian2023_thm_1, one) == []
    wrong = {
        "Assumption 2": replace(one, overlap=0.5),
        r"$M^{-0.99} \ll \eta_Y < 1$": replace(one, eta=1.0),
        r"$t \gg K^2$": replace(
            one, tau=one.tau / 1e3, gamma=decoder.speed(one.M, 1, 1, one.tau / 1e3)
        ),
        r"$\gamma$ of (85)": replace(one, gamma=1.01 * one.gamma),
    }
    for name, other in wrong.items():
        assert name in broken(checks.check_tian2023_thm_1, other)


def test_tian2023_thm_1_early_steps_can_turn_the_sign():
    # one draw of class 3 moves row 3 of W only: alpha_1 is uniform, and with r = e_3 - 1/M the
    # coefficients are G_k3 eta r . (e_1 - 1/M) = -G_k3 eta / M, so that xi_1 = eta / M (E G)_13
    E = sp.Rational(3, 20) * sp.Matrix(4, 4, lambda i, j: int(abs(i - j) == 1))
    exact = sp.Rational(1, 2) / 10_000 * (E * (sp.eye(4) + E).inv())[0, 2]
    assert exact < 0
    (one,) = instances.first_step()
    assert decoder.xi(one.modified, 0) == pytest.approx(float(exact), rel=1e-12)
    assert classes.weak_correlations(one.E, one.M).holds
    assert checks.check_tian2023_thm_1.judge([one]).verdict is REFUTED


def test_tian2023_thm_1_needs_a_constant_that_grows_with_the_vocabulary():
    needed = [
        one.gamma[one.tau == one.tau_0][0] * one.tau_0 / np.log(one.tau_0)
        for one in instances.speeds()
    ]
    assert sorted(needed) == needed
    # x >= x_1 = tau_0/2, where e^x = 2 M x_1 + 1 - (M-1) x <= (M+1) x_1 + 1, so that
    # gamma tau_0 = (M-1)^2/M 2 x_1 x/(M-1 + e^x) is at least this, up to rounding
    for one, value in zip(instances.speeds(), needed, strict=True):
        x, m = one.tau_0 / 2, 1 / one.M
        least = (1 - m) ** 2 * 2 * x**2 / ((1 + (1 + m) * x) * np.log(2 * x))
        assert value >= least * (1 - 1e-12)
    M, x = 10**4, 20.0  # gamma tau from the definitions, not from the library's gamma
    tau = (np.exp(x) - 1 + (M - 1) * x) / M
    gamma = (M - 1) ** 2 * (x / M) / (M - 1 + np.exp(x))
    assert decoder.speed(M, 1, 1.0, tau) == pytest.approx(gamma, rel=1e-10)
    assert gamma <= 2 * np.log(M * tau) / tau


def test_tian2023_thm_1_corrected_by_hand():
    # M = 5, x = 1: tau = (e - 1 + 4) / 5, gamma = (16/5) / (4 + e), and gamma <= tau
    assert decoder.speed_at(5, np.array(1.0)) == pytest.approx(16 / 5 / (4 + np.e))
    assert decoder.height(5, (np.e + 3) / 5) == pytest.approx(1.0)
    # M = 4, x = 2: tau = (e^2 - 1 + 6) / 4 is beyond t_0 = 3.02, so that the second bound counts
    e2 = np.e**2
    tau, gamma = (e2 + 5) / 4, 4.5 / (3 + e2)
    assert decoder.transition(4, 1, 1.0) < tau
    assert decoder.speed(4, 1, 1.0, tau) == pytest.approx(gamma)
    assert gamma < 2 * np.log(4 * tau) / tau


@pytest.mark.parametrize("factor", [1.01, 3.0])
def test_tian2023_thm_1_corrected_notices_a_wrong_speed(factor):
    one = instances.speeds()[1]  # gamma / tau starts at (999/1000)^2
    planted = replace(one, gamma=factor * one.gamma)
    assert checks.check_tian2023_thm_1_corrected.judge([one]).verdict is PROVED
    assert checks.check_tian2023_thm_1_corrected.judge([planted]).verdict is REFUTED


def test_tian2023_thm_1_corrected_counts_what_it_does_not_judge(trained):
    # one class drawn far more often than the other: theta is large, so that (a) says nothing
    uneven = instances.trained_on("uneven", 1000, trained[-1].E, [0] * 60 + [1, 2, 3, 4], 0.1)
    found = checks.check_tian2023_thm_1_corrected.judge([uneven])
    assert list(found.left_out.values()) == [1]
    assert found.verdict is PROVED


def test_tian2023_thm_1_corrected_notices_a_force_that_is_not_positive(trained):
    one = trained[-1]
    turned = replace(one.modified, A=-one.modified.A)
    assert checks.positive(one, 0, False).slack > 0
    assert checks.positive(replace(one, modified=turned), 0, False).slack < 0


# When xi is positive


def test_ours_xi_positive_by_hand():
    # K = 2, e = 1/2, M = 3: 3/2 [4/3 - 1 - (1/2)(-2/3)] = 1
    assert instances.even_pair(3, Fraction(1, 2)).xi(0) == 1


def test_ours_xi_positive_agrees_with_fractions_on_the_star():
    link = Fraction(1, 30)
    one = instances.even_star(2, Fraction(2, 3), link, 10)
    assert np.array(one.E, dtype=float) == pytest.approx(gradient.star(2, 2 / 3, 1 / 30))
    e, s, m, M = link, Fraction(2, 3), 2, 10
    D = 1 - m * s**2
    G = 1 / (1 - e**2 / D)
    expected = Fraction(M, M - 1) * G * e * ((M - 1) * e - (m * s - 1)) / D / (M - 1)
    assert one.xi(0) == expected == Fraction(-10, 8019)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_ours_xi_positive_the_library_agrees_with_the_paper_in_fractions(K):
    """xi_n / gamma at theta = sigma = 0 from (87), (88) corrected: K and 1/(M-1) at their places.

    For equal overlaps e the matrix G has 1/(1-e) - s and -s, s = e / ((1-e)(1+(K-1)e)).
    """
    e, M = Fraction(1, 7), 30
    s = e / ((1 - e) * (1 + (K - 1) * e))
    own, other = 1 / (1 - e) - s, -s
    prime_own, prime = 1 - own, -other
    sums = prime_own + (K - 2) * prime  # over the classes besides n, for one of them
    beta = Fraction(M, M - 1) * prime + Fraction(M, (M - 1) ** 2) * (1 - sums)
    expected = float((K - 1) * beta * e)
    E = float(e) * (np.ones((K, K)) - np.eye(K))
    assert gradient.xi_uniform(M, E) == pytest.approx(np.full(K, expected), rel=1e-13)
    even = instances.Even(
        "equal", M, tuple(tuple(e * (i != j) for j in range(K)) for i in range(K))
    )
    assert float(even.xi(0)) == pytest.approx(expected, rel=1e-14)
    found = gradient.coefficients(M, classes.E_prime(E), np.zeros(K), 0.0, 0)
    assert found.beta @ E[0] == pytest.approx(expected, rel=1e-13)


def test_ours_xi_positive_the_star_has_nonnegative_vectors_and_a_run_shows_its_sign():
    r = (2 * (2 / 3) ** 2 + 1 / 900) ** 0.5
    f = np.zeros((4, 6))
    f[1, :3] = np.array([1 / 30, 2 / 3, 2 / 3]) / r
    for row, token in ((0, 0), (2, 1), (3, 2)):
        f[row, [token, 3 + token]] = r, (1 - r**2) ** 0.5
    assert np.linalg.norm(f, axis=1) == pytest.approx(np.ones(4))
    E = classes.correlations(f)
    assert pytest.approx(gradient.star(2, 2 / 3, 1 / 30)) == E
    state = decoder.run(decoder.zero_decoder(10, E), [0, 1, 2, 3] * 20, 0.1, True)
    assert decoder.xi(state, 0) < 0
    assert decoder.xi(state, 1) > 0


def test_ours_xi_positive_notices_a_star_within_the_radius():
    star = instances.even_star(2, Fraction(1, 5), Fraction(1, 10), 50)  # here xi is positive
    assert star.xi(0) > 0
    assert checks.check_ours_xi_positive.judge([star]).verdict is REFUTED


# xi under (7)


def test_ours_xi_true_by_hand():
    # two classes, M = 4, rho = 1/2, tau = 1/10: tau rho / M (1 + 3/2 tau ((M-1) rho - 1) / M)
    first = 0.1 * 0.5 / 4
    assert first * (1 + 1.5 * 0.1 * 0.5 / 4) == pytest.approx(1 / 80 * (1 + 3 / 160))
    one = instances.over_time(2, 4, 0.5, points=3)
    assert one.gradient[0] == pytest.approx(1e-3 / 8 * (1 + 3e-3 / 16), rel=1e-6)


@pytest.mark.parametrize(("K", "M", "rho"), [(2, 12, 0.4), (3, 12, 0.4), (4, 15, 0.3)])
def test_ours_xi_true_agrees_with_small_dense_steps(K, M, rho):
    f = classes.unit_scores(classes.equicorrelated_classes(K, M, rho))
    Y, count, tau = np.zeros((M, M)), 400, 0.02
    for _ in range(count):
        slope = sum(np.outer(f[n], instances.error(Y.T @ f[n], n)) for n in range(K))
        Y += tau / count * slope
    _, a = dense_gradient(Y, f, 0)
    expected = (K - 1) * rho * tau / M * (1 + 1.5 * tau / M * ((M - K + 1) * rho - 1))
    assert -rho * a[1:].sum() == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("K", "M", "rho"), [(2, 50, 0.1), (4, 200, 0.2)])
def test_ours_xi_true_compares_with_the_theorem_and_its_early_value(K, M, rho):
    """The columns of the figure, from Lemma 6 and the definitions."""
    one = instances.over_time(K, M, rho, points=8)
    E = rho * (np.ones((K, K)) - np.eye(K))
    G = np.linalg.inv(np.eye(K) + E)
    by_paper = M / (M - 1) * (G[0, 0] - 1 - G[0, 1:].sum() / (M - 1))
    for at, tau in enumerate(one.tau):
        low, high = 0.0, min(tau, 40.0)  # the height x with e^x + (M-1) x = M tau + 1, by halving
        for _ in range(200):
            x = (low + high) / 2
            low, high = (x, high) if np.exp(x) + (M - 1) * x < M * tau + 1 else (low, x)
        gamma = (M - 1) ** 2 * x / M / (M - 1 + np.exp(x))
        assert one.theorem[at] == pytest.approx(gamma * by_paper, rel=1e-8)
        assert one.early[at] == pytest.approx(gamma * (K - 1) * rho / M, rel=1e-8)
        assert one.modified[at] == pytest.approx(gamma * by_paper, rel=1e-6)


def test_ours_xi_true_notices_the_values_of_the_theorem_and_one_negative_value():
    one = instances.over_time(*instances.SETTINGS[1], points=20)
    planted = replace(one, gradient=one.theorem)
    assert checks.check_ours_xi_true.judge([one]).verdict is PROVED
    assert checks.check_ours_xi_true.judge([planted]).verdict is REFUTED
    values = one.gradient.copy()
    values[-1] = -1e-9
    assert checks.check_ours_xi_true.judge([replace(one, gradient=values)]).verdict is REFUTED
    values[-1] = np.nan
    with pytest.raises(NotANumberError):
        checks.check_ours_xi_true.judge([replace(one, gradient=values)])


def test_tian2023_app_effective_rate_keeps_the_sign_only():
    found = checks.check_tian2023_app_effective_rate(points=20)
    assert found.verdict is REFUTED
    assert [one.verdict for one in found.readings] == [REFUTED, NOT_CONTRADICTED]
    (one,) = checks.allowed_overlaps(20)
    assert broken(checks.check_tian2023_app_effective_rate, one) == []
    other = instances.over_time(*instances.SETTINGS[1], points=20)  # ten classes, overlaps 1/2
    assert "Assumption 2" in broken(checks.check_tian2023_app_effective_rate, other)


def test_tian2023_app_effective_rate_early_by_hand():
    # to first order in tau: (K-1) rho tau/M under (7); under (26) `xi_uniform` times tau
    one = instances.over_time(2, 1_000_000, 0.01, points=20)
    plain = 0.01 * one.tau[0] / 1e6
    # (E^2 G)_11 = rho^2/(1 - rho^2), (E^2 G)_12 = -rho^3/(1 - rho^2)
    second = 1e-4 / (1 - 1e-4)
    theorem = one.tau[0] * 1e6 / (1e6 - 1) * (second + (0.01 + 1e-6 / (1 - 1e-4)) / (1e6 - 1))
    assert one.gradient[0] == pytest.approx(plain, rel=1e-2)
    assert one.at_rate(1.0)[0] == pytest.approx(theorem, rel=1e-2)
    assert one.at_rate(1.0) == pytest.approx(one.theorem)
    assert one.at_rate(0.5)[0] == pytest.approx(theorem / 2, rel=1e-2)
