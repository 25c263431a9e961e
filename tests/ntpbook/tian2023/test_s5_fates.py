"""The fates of tokens: equation (10), Theorems 2 and 3, Corollary 2, and what is read from them."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypotheses import broken
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from ntpbook.tian2023.s5_fates import attention, checks, instances
from ntpcore.tian2023 import classes, decoder
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import NotANumberError

PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED


@pytest.fixture(scope="module")
def some() -> list[instances.Instance]:
    return instances.instances(3, 1)[:4]


@pytest.fixture(scope="module")
def flows() -> tuple[instances.ClassFlow, ...]:
    return instances.runs(3)[:7]


@pytest.fixture(scope="module")
def simple(flows) -> instances.ClassFlow:
    """Two classes with one common token of weight 1 and distinct ones of 2 and 1."""
    return flows[0]


def by_hand(P, query=(0, 0), M: int = 1000) -> instances.Instance:
    data = classes.SequenceClasses(np.array(P), query)
    return instances.Instance("by hand", data, M, np.zeros((data.L, data.M)))


def shifted(run: instances.ClassFlow, token: int, amount: float) -> instances.ClassFlow:
    """The run with one score planted wrong after the start."""
    z = run.path.z.copy()
    z[5:, run.path.classes.query[run.n], token] += amount
    return replace(run, path=replace(run.path, z=z))


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
    assert instances.sample_gradients(one, state)[1] == pytest.approx(expected)
    assert instances.sample_gradients(one, state)[0] == pytest.approx(np.zeros(3), abs=1e-15)


def test_tian2023_lem_4_agrees_with_central_differences(some):
    one = some[2]
    state = one.trained(modified=True)
    found = instances.sample_gradients(one, state)
    Y, copies = one.f.T @ state.A, np.append(np.ones(one.K), one.M - one.K)

    def log_alpha(z, n):
        weights = one.classes.probabilities[n] * np.exp(z)
        logits = weights / np.linalg.norm(weights) @ Y
        return logits[n] - math.log(float(copies @ np.exp(logits)))

    for n, m in enumerate(one.query):
        for token in np.flatnonzero(one.classes.probabilities[n]):
            step = np.zeros(one.classes.M)
            step[token] = 1e-5
            rise = log_alpha(one.z[m] + step, n) - log_alpha(one.z[m] - step, n)
            assert found[n, token] == pytest.approx(rise / 2e-5, abs=1e-8)


def test_tian2023_lem_4_differs_by_the_number_of_classes_with_one_sample_a_step(some):
    found = checks.check_tian2023_lem_4.judge(some)
    assert found.verdict is PROVED
    assert [one.verdict for one in found.readings] == [REFUTED]


# Equation (10)


def test_tian2023_eq_10_by_hand():
    one = by_hand(PYTHAGORAS)
    beta = np.array([[0.0, 2.0], [1.0, 0.0]])
    found = attention.velocity((0, 0), one.f, beta)
    # from class 1 with weight 2: 0.6 (0.36 0.6 - 0.6), 0.8 0.36 0.8; from class 2 with weight 1
    assert found[0] == pytest.approx([-3 * 0.36 * 0.64, 2 * 0.64 * 0.36, 0.64 * 0.36])


@pytest.mark.parametrize("planted", ["beta turned", "no projection", "diagonal"])
def test_tian2023_eq_10_notices_a_planted_error_in_the_library(planted, some, monkeypatch):
    true = attention.velocity

    def wrong(query, f, beta):
        if planted == "beta turned":
            return true(query, f, beta.T)
        if planted == "diagonal":
            return true(query, f, beta) - attention.velocity_of_gradient(query, 0.5 * f, f)
        out = np.zeros((max(query) + 1, f.shape[1]))
        np.add.at(out, np.asarray(query), -f * (beta @ f))
        return out

    assert checks.check_tian2023_eq_10.judge(some).verdict is PROVED
    monkeypatch.setattr(attention, "velocity", wrong)
    assert checks.check_tian2023_eq_10.judge(some).verdict is REFUTED


# Lemma 4, corrected


def test_tian2023_lem_4_corrected_by_hand():
    one = by_hand(PYTHAGORAS, query=(0, 1))  # each query has one of two classes
    state = one.trained(modified=True)
    moves = instances.sample_gradients(one, state)
    beta = -np.array([decoder.gradient_coefficients(state, n) for n in (0, 1)])
    # a step moves one row by the whole of (10), half the time
    assert moves == pytest.approx(attention.velocity((0, 1), one.f, beta), rel=1e-9)
    assert checks.check_tian2023_lem_4_corrected.judge([one]).verdict is PROVED


def test_tian2023_lem_4_corrected_agrees_with_stochastic_training(some):
    """The same draws with the whole of Y written out, over eta_Y^-1 (1 - 1/M)^2 x^2/2 of (10).

    tau = (e^x - 1 + (M-1) x)/M, so that gamma d tau = (1 - 1/M)^2 x dx.
    """
    one, eta, steps = some[2], 0.5, 1500
    f, K, M = one.f, one.K, one.M
    dual, Y, moved = np.linalg.pinv(f), np.zeros((f.shape[1], M)), np.zeros_like(one.z)
    for n in np.random.default_rng(7).integers(K, size=steps):
        alpha = np.exp(f[n] @ Y)
        error = np.eye(K, M)[n] - alpha / alpha.sum()
        g = Y @ error
        moved[one.query[n]] += f[n] * (g - f[n] * (f[n] @ g))
        Y += eta * np.outer(dual[:, n], error)  # (26): f_n - F E' e_n is column n of F^+
    tau = eta * steps / K
    x = brentq(lambda x: math.expm1(x) + (M - 1) * x - M * tau, 0, math.log(M * tau + 1))
    beta = attention.coefficients(classes.correlations(f), M)
    printed = (1 - 1 / M) ** 2 * x**2 / (2 * eta) * attention.velocity(one.query, f, beta)
    expected = float((moved * printed).sum() / (printed**2).sum())
    assert instances.sgd_ratio(one, eta, steps) == pytest.approx(expected, rel=1e-9)


def test_tian2023_lem_4_corrected_is_exact_on_average_over_all_draws(some):
    # for a small eta_Y step t moves Z by what t - 1 earlier draws left: 1 + ... + (T-1) on average
    # over the draws, where (10) has T^2/2, which is 1 - 1/T; here T = 2
    found = {}
    for seed in range(100):
        pair = tuple(np.random.default_rng(seed).integers(some[2].K, size=2).tolist())
        found[pair] = instances.sgd_ratio(some[2], 1e-6, 2, seed)
    assert len(found) == some[2].K ** 2
    assert np.mean(list(found.values())) == pytest.approx(1 / 2, rel=1e-5)


# Theorem 2


def test_tian2023_thm_2_by_hand():
    # f_1 . f_2 = 0.36 is below 1/2 and above 6 / sqrt(1000); E' has 0.36 / (1 - 0.36^2)
    one = by_hand(PYTHAGORAS)
    assert one.holds("6/sqrt(M)")
    beta = attention.coefficients(classes.correlations(one.f), 1000)
    prime = 0.36 / (1 - 0.36**2)
    expected = 1000 / 999 * prime + 1000 / 999**2 * (1 + 0.36 * prime)
    assert beta[0, 1] == pytest.approx(expected, rel=1e-14)
    moves = attention.velocity((0, 0), one.f, beta)[0]
    assert moves == pytest.approx(beta[0, 1] * 0.36 * 0.64 * np.array([-2, 1, 1]))
    assert checks.check_tian2023_thm_2.judge([one]).numbers["compared"].value == 3


def test_tian2023_thm_2_the_coefficients_agree_with_the_paper_for_three_classes():
    """(88), corrected, with random theta and sigma, class by class: K, 1/(M-1) and every sign."""
    rng = np.random.default_rng(12)
    f = rng.random((3, 7))
    f /= np.linalg.norm(f, axis=1, keepdims=True)
    E, M = f @ f.T - np.eye(3), 9
    theta, sigma = rng.uniform(-0.2, 0.2, size=(2, 3))
    prime = np.eye(3) - np.linalg.inv(np.eye(3) + E)
    found = attention.coefficients(E, M, theta, sigma)
    for n in range(3):
        for other in {0, 1, 2} - {n}:
            rest = sum((1 + theta[k]) * prime[k, other] for k in range(3) if k != n)
            bracket = M / (M - 1) * (1 + theta[n]) * prime[n, other]
            bracket += M / (M - 1) ** 2 * ((1 + theta[other]) - rest)
            assert found[n, other] == pytest.approx((1 + sigma[n]) * bracket, rel=1e-12)
    xi = [sum(found[n, k] * E[n, k] for k in range(3) if k != n) for n in range(3)]
    assert attention.forces(E, found) == pytest.approx(xi, rel=1e-14)


def test_tian2023_thm_2_agrees_with_the_signs_of_a_trained_decoder():
    for one in instances.weak_instances(3, 1)[:6]:
        state = one.trained(modified=True)
        moves = checks.by_query(one, instances.sample_gradients(one, state))
        for n, m in enumerate(one.query):
            assert (moves[m, list(classes.distinct_tokens(one.classes, n))] > 0).all()
        if len(classes.common_tokens(one.classes)) == 1:
            assert (moves[:, classes.common_tokens(one.classes)] < 0).all()


def test_tian2023_thm_2_is_judged_where_assumption_2_holds():
    weak = instances.weak_instances(3, 1)
    assert all(one.holds("sqrt(6/M)") for one in weak)
    found = checks.check_tian2023_thm_2.judge(weak)
    assert found.numbers["positive"].value == found.numbers["true"].value


# Equation (100)


def test_tian2023_eq_100_by_hand():
    f = by_hand(PYTHAGORAS).f
    beta = np.array([[0.0, 1.0], [-3.0, 0.0]])  # one coefficient may be negative
    xi = attention.forces(classes.correlations(f), beta)
    assert xi == pytest.approx([0.36, -1.08])
    assert attention.velocity((0, 0), f, beta)[0, 0] == pytest.approx(-0.64 * (0.36 - 1.08))


# A common token that grows


def test_ours_common_grows_by_hand():
    # inner product 2 + 4 = 6, squared norms 5 and 33: 6 (4/5 + 1/33) - 4 = 54/55
    one = instances.Weighted((2, 1, 0), (1, 4, 4), 1000)
    assert one.speed(0) == Fraction(54, 55)
    assert one.squared == Fraction(36, 165) < Fraction(1, 4)
    speeds = [one.speed(token) for token in range(3)]
    assert sum(speeds) == 0
    assert speeds[1] < 0 < speeds[2]


def test_ours_common_grows_agrees_with_velocities_under_both_decoders():
    one = instances.Weighted((2, 1, 0), (1, 4, 4), 1000)
    f = classes.unit_scores(instances.two_classes())
    E = classes.correlations(f)
    assert classes.weak_correlations(E, 165 + 1).holds
    assert not classes.weak_correlations(E, 164).holds
    exact = [float(one.speed(token)) for token in range(3)]
    for modified in (True, False):
        for beta in one.coefficients(modified):
            moves = attention.velocity((0, 0), f, beta)[0]
            assert moves / moves[0] == pytest.approx(np.array(exact) / exact[0], rel=1e-6)


def test_ours_common_grows_agrees_with_the_first_order_of_the_true_decoder():
    one = instances.Weighted((2, 1, 0), (1, 4, 4), 500)
    beta = one.coefficients(modified=False)[0]  # eta_Y = 1/2, t = 1/1000
    assert beta[0, 1] == pytest.approx(0.5e-3 / (2 * 500), rel=1e-2)  # eta_Y t / (K M)


def test_ours_common_grows_counts_random_sets_as_a_plain_loop_does():
    drawn = [one for one in instances.common_growing(3, 1) if isinstance(one, instances.Drawn)][:20]
    found = checks.check_ours_common_grows.judge([instances.growing_weights()[1], *drawn])
    grown = 0
    for one in drawn:
        f = classes.unit_scores(one.classes)
        beta = attention.coefficients(f @ f.T - np.diag(np.diag(f @ f.T)), one.M)
        grows = False
        for token in classes.common_tokens(one.classes):
            speed = 0.0
            for n in range(len(f)):
                for k in range(len(f)):
                    if k != n:
                        bracket = float(f[n] @ f[k]) * f[n, token] - f[k, token]
                        speed += beta[n, k] * f[n, token] * bracket
            grows |= speed > 0
        grown += grows
    assert found.numbers["grown"].value == grown > 0
    assert found.numbers["draws"].value == 20


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


def test_tian2023_cor_2_is_judged_where_its_hypotheses_hold():
    for one in instances.symmetric(3)[:3]:
        E = classes.correlations(classes.unit_scores(one.classes))
        assert classes.weak_correlations(E, one.M).holds
        assert one.defect() < 1e-9
    assert instances.noisy(3)[0].defect() > 1e-4  # noise breaks the symmetry of the induction


def test_tian2023_cor_2_a_token_that_rests_does_not_fall():
    one = instances.uneven(3, 1)[0]
    assert checks.check_tian2023_cor_2.judge([one], sign=1).verdict is PROVED
    still = replace(one, beta=np.zeros_like(one.beta))
    assert checks.check_tian2023_cor_2.judge([still], sign=1).verdict is REFUTED
    nothing = replace(one, beta=one.beta * np.nan)
    with pytest.raises(NotANumberError):
        checks.check_tian2023_cor_2.judge([nothing], sign=1)


# Equations (102) to (106)


def test_tian2023_eq_106_by_hand():
    # common 1/3 and distinct 2/3: the square of the norm is 5/9, and the chain says the norm is 5/9
    found = checks.check_tian2023_eq_106()
    assert "common 1/3, distinct 2/3" in found.witness
    assert found.witness.endswith(f"violated by {Fraction(5, 9) - Fraction(25, 81)}")
    assert found.hypotheses == checks.HYPOTHESES_OF_106


def test_tian2023_eq_106_is_not_refuted_where_it_holds():
    # sums of squares that are 1: 9/25 and 16/25
    own = ((Fraction(4, 5),),) * 2
    one = instances.Chain("squares sum to 1", (Fraction(3, 5),), own)
    # these are no probabilities, so that the classes would be no witness
    assert broken(checks.check_tian2023_eq_106, one) == ["(4) $Z(0) = 0$"]
    assert [said.slack for said in checks.chain(one, squared=False)] == [0, 0, 0, 0]


def test_tian2023_eq_106_corrected_by_hand():
    one = instances.chains()[0]
    assert sum(x * x for x in one.scores[0]) == Fraction(5, 9)
    assert checks.check_tian2023_eq_106_corrected.judge([one]).verdict is PROVED


def test_tian2023_eq_106_corrected_agrees_with_norms_in_floats():
    for one in instances.chains(3, 5):
        norm = np.linalg.norm(np.array(one.scores[1], dtype=float))
        assert norm**2 == pytest.approx(float(sum(x * x for x in one.scores[0])))


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


def test_tian2023_thm_3_notices_a_planted_error(simple):
    planted = shifted(simple, 1, -0.05)
    assert checks.check_tian2023_thm_3.judge([planted]).verdict is REFUTED


def test_tian2023_thm_3_counts_runs_without_its_hypothesis(simple):
    found = checks.check_tian2023_thm_3.judge([simple, *instances.growing_run()])
    assert (found.verdict, found.tried) == (PROVED, 1)
    assert list(found.left_out) == [checks.NOT_FALLING]
    alone = checks.check_tian2023_thm_3.judge(instances.growing_run())
    assert alone.verdict is Verdict.OPEN


def test_tian2023_thm_3_bounds_are_strict_by_hand():
    # chi = e^(2 B), f^2 = 1/4: the upper bound is met, the lower one is a quarter of it
    z = np.array([[0.0], [1.0], [2.0]])
    path = SimpleNamespace(B=z, at=np.arange(3.0))
    run = SimpleNamespace(name="", n=0, z=z, f=np.array([[0.5]]), path=path)
    lower, upper = checks.bounds(run, 0)
    assert lower.slack > 0 > upper.slack


def test_tian2023_thm_3_a_common_token_that_rests_does_not_fall(simple, monkeypatch):
    monkeypatch.setattr(instances, "moves_of", lambda path, M: np.zeros_like(path.z))
    assert not instances.run_of("at rest", simple.path.classes, simple.M, simple.n).fall


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


def test_tian2023_eq_11_notices_a_planted_error(flows):
    planted = shifted(flows[0], 2, 1e-5)
    assert checks.check_tian2023_eq_11.judge([planted]).verdict is REFUTED


def test_tian2023_eq_11_is_no_identity_where_both_layers_are_trained():
    # the decoder answers to a move of order eta_Z by one of order eta_Z: the defect is of order
    # eta_Z^2, so that halving eta_Z divides it by 4 - O(eta_Z), which the last line extrapolates
    defects = [instances.defect_of_11(eta_Z, 1e3) for eta_Z in (0.002, 0.001, 0.0005)]
    first, second = defects[0] / defects[1], defects[1] / defects[2]
    assert first < second < 4
    assert 2 * second - first == pytest.approx(4, abs=(4 - second) / 4)


# Equation (12)


def test_tian2023_eq_12_by_hand(simple):
    # f^2(0) = 4/6 of the dominant token; the bounds are attained to first order below, not above
    log_chi, B = 2 * simple.z[1, 1], simple.path.B[1, 0]
    assert log_chi / (2 * B) == pytest.approx(2 / 3, rel=1e-3)


def test_tian2023_eq_12_agrees_with_quadrature_of_the_force():
    """B by the integrator is the integral of the forces along the path, by Simpson's rule."""
    data = classes.layered_classes([1], [[2, 1]] * 2, 5, (0, 0))
    path = attention.flow(data, 100, np.linspace(0, 10, 401))
    forces = []
    for place in range(len(path.at)):
        E = classes.correlations(path.f(place))
        prime = E[0, 1] / (1 - E[0, 1] ** 2)
        forces.append((100 / 99 * prime + 100 / 99**2 * (1 + E[0, 1] * prime)) * E[0, 1])
    weights = np.ones(401)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    assert path.B[-1, 0] == pytest.approx(float(weights @ forces) * 10 / 400 / 3, rel=1e-8)


def test_tian2023_eq_12_notices_a_planted_error(flows):
    planted = shifted(flows[0], 1, 3.0)
    assert checks.check_tian2023_eq_12.judge([planted]).verdict is REFUTED
    turned = replace(flows[0], path=replace(flows[0].path, B=0.5 * flows[0].path.B))
    assert checks.check_tian2023_eq_12.judge([turned]).verdict is REFUTED


def test_tian2023_eq_12_is_open_when_no_run_has_the_hypotheses():
    assert checks.check_tian2023_eq_12.judge(instances.growing_run()).verdict is Verdict.OPEN


# Equation (112)


def test_tian2023_eq_112_by_hand(simple):
    # r(0) dz is 3 dz at t = 0, while d/dt 4 e^(2 (z_1 - z_2)) = 8 (dz_1 - dz_2) = 6 dz_1, as
    # dz_2 = dz_1 / 4; with dz_1 = P_1^2 = 4 these are 12 and 24
    assert simple.moves[0, 2] == pytest.approx(simple.moves[0, 1] / 4)
    one = instances.Quotient(Fraction(2), Fraction(1))
    # the squared norm is 6 and f_1 . f_2 = 1/6: the speeds are 4/36, 1/36 and 2 (1/36 - 1/6)
    assert one.speeds() == (Fraction(1, 9), Fraction(1, 36), Fraction(-5, 18))
    assert (one.formula(), one.slope()) == (Fraction(1, 3), Fraction(2, 3))


def test_tian2023_eq_112_speeds_agree_with_the_library():
    one = instances.Quotient(Fraction(2), Fraction(1))
    f = classes.unit_scores(classes.layered_classes([1], [[2, 1]] * 2, 5, (0, 0)))
    moves = attention.velocity((0, 0), f, np.ones((2, 2)))[0]
    assert moves[[1, 2, 0]] == pytest.approx([float(x) for x in one.speeds()])


def test_tian2023_eq_112_is_refuted_in_fractions_where_its_hypotheses_hold():
    found = checks.check_tian2023_eq_112.judge([instances.Quotient(Fraction(2), Fraction(1))])
    assert found.witness.endswith("violated by 1/3")
    swapped = instances.Quotient(Fraction(1), Fraction(2))
    assert broken(checks.check_tian2023_eq_112, swapped) == ["$l_0$ dominates"]


def test_tian2023_eq_112_agrees_with_differences_of_the_gain():
    data = classes.layered_classes([1], [[2, 1]] * 2, 5, (0, 0))
    path = attention.flow(data, 100, np.array([0.0, 1e-4]))
    gains = [attention.relative_gain(path.f(place)[0], 1, 2) for place in (0, 1)]
    moved = instances.moves_of(path, 100)[0, 0, 1]
    assert (gains[1] - gains[0]) / 1e-4 == pytest.approx(2 * gains[0] * moved, rel=1e-3)


def test_tian2023_eq_112_corrected_by_hand(simple):
    assert checks.check_tian2023_eq_112_corrected.judge([simple]).verdict is PROVED


def test_tian2023_eq_112_corrected_agrees_with_growth_of_logarithms(flows):
    run = flows[3]
    first, other = run.tokens[:2]
    r, moves = attention.relative_gain(run.f[4], first, other), run.moves[4]
    # d ln(1 + r) = 2 (dz_1 - dz_2) and dr = 2 r dz_1
    assert 2 * r * moves[first] / (1 + r) == pytest.approx(2 * (moves[first] - moves[other]))


def test_tian2023_eq_113_by_hand(simple):
    # common 1, distinct 2 and 1: d/dt (f_1/f_0)^2 = 2 * 4 (dz_1 - dz_0) at t = 0
    ahead, behind = simple.moves[0, 1], simple.moves[0, 0]
    later = attention.flow(simple.path.classes, 100, np.array([0.0, 1e-5]))
    f = later.f(1)[0]
    assert ((f[1] / f[0]) ** 2 - 4) / 1e-5 == pytest.approx(8 * (ahead - behind), rel=1e-3)
    assert behind < 0 < ahead


def test_tian2023_app_sparser_by_hand(simple):
    # two shares p and 1 - p with p = 2/3: dH/dt = -p (1 - p) (dz_1 - dz_2) ln 2
    later = attention.flow(simple.path.classes, 100, np.array([0.0, 1e-5])).f(1)[0]
    p = later[1] / (later[1] + later[2])
    entropy = -p * math.log(p) - (1 - p) * math.log(1 - p)
    start = math.log(3) - 2 / 3 * math.log(2)
    slope = -2 / 9 * (simple.moves[0, 1] - simple.moves[0, 2]) * math.log(2)
    assert (entropy - start) / 1e-5 == pytest.approx(slope, rel=1e-3)


def test_tian2023_app_sparser_shares_sum_to_one(simple):
    shares = checks.shares_of(simple)
    assert shares[0] == pytest.approx([2 / 3, 1 / 3])
    assert shares.sum(axis=1) == pytest.approx(1)


def test_tian2023_app_frequency_bias_fails_for_attention_itself():
    found = checks.check_tian2023_app_frequency_bias()
    assert found.verdict is PROVED
    assert [one.verdict for one in found.readings] == [REFUTED, REFUTED]
    # common 3, distinct 2 and 1: attention 1/2, 1/3, 1/6, and the common token falls at once
    (one,) = instances.frequent_common()
    assert one.f[0] / one.f[0].sum() == pytest.approx([1 / 2, 1 / 3, 1 / 6, 0, 0])
    assert one.moves[0, 0] < 0


# Token scanning


def test_tian2023_app_scanning_by_hand():
    # weights 4, 2, 1: r(0) = 3 and 15; at chi = 2 the quotients are 7 and 31
    data = classes.layered_classes([1.0], [[4.0, 2.0, 1.0]] * 2, 7, (0, 0))
    run = instances.run_of("", data, 100, 0)
    chi = attention.growth(run.z[:, 1], 0.0)
    assert (run.f[:, 1] / run.f[:, 2]) ** 2 == pytest.approx(1 + 3 * chi)
    assert (run.f[:, 1] / run.f[:, 3]) ** 2 == pytest.approx(1 + 15 * chi)
    assert checks.check_tian2023_app_scanning.judge([run]).verdict is PROVED


def test_tian2023_app_scanning_agrees_with_the_time_to_a_level():
    data = classes.layered_classes([1.0], [[1.0, 0.55, 0.5]] * 3, 10, (0, 0, 0))
    run = instances.run_of("", data, 1000, 0)
    quotients = (run.f[:, [1]] / run.f[:, [3, 2]]) ** 2  # 4 and 3.3 at the start
    first, second = (quotients >= 4.5).argmax(axis=0).tolist()
    assert 0 < first < second


def test_tian2023_app_scanning_has_runs_to_judge():
    used = instances.from_zero(3)
    assert len(used) >= 3
    assert not any(run.path.z[0].any() for run in used)


# The start as a prior


def test_tian2023_app_prior_by_hand():
    # P differs by a tenth: ln 1.1 = 0.095, which a start of 0.2 outweighs
    two = [instances.start_of(0.0, 0.0), instances.start_of(0.0, 0.2)]
    found = checks.check_tian2023_app_prior.judge(two)
    assert (found.numbers["first"].value, found.numbers["second"].value) == (1, 1)


def test_tian2023_app_prior_agrees_with_the_conserved_difference():
    one = instances.start_of(0.0, 0.15)
    inverse = (one.P * np.exp(one.z)) ** -2.0
    kept = inverse[:, 0] - inverse[:, 1]
    assert kept[0] > 0  # the second token leads
    assert kept == pytest.approx(np.full(len(kept), kept[0]), rel=1e-7)


def test_tian2023_app_prior_notices_a_lead_that_shrinks():
    one = instances.start_of(0.0, 0.0)
    shrunk = replace(one, z=one.z * np.array([1.0, 1.0]) * 0.0)  # the lead stays what it was
    assert checks.check_tian2023_app_prior.judge([one]).verdict is PROVED
    assert checks.check_tian2023_app_prior.judge([shrunk]).verdict is REFUTED


# Standard LayerNorm


def likelihood_with_layernorm(z: np.ndarray, P: np.ndarray, Y: np.ndarray) -> float:
    """J for classes with rows P of one query, written out with np.mean and np.linalg.norm."""
    total = 0.0
    for n, row in enumerate(P):
        c = row * np.exp(z)
        c = c / c.sum()
        v = c - c.mean()
        logits = Y.T @ (v / np.linalg.norm(v))
        total += logits[n] - np.log(np.exp(logits).sum())
    return total / len(P)


@pytest.mark.parametrize("shared", [0.1, 0.5])
def test_ours_layernorm_fates_by_differences_of_the_likelihood(shared: float) -> None:
    # 1/sqrt(M) is 0.22; token 1 has three quarters of what is not shared, token 2 a quarter
    M, own = 20, [(1 - shared) * 0.75, (1 - shared) * 0.25]
    P = np.zeros((2, M))
    P[:, 0] = shared
    P[0, 1:3], P[1, 3:5] = own, own
    u = P - P.mean(axis=1, keepdims=True)
    f = u / np.linalg.norm(u, axis=1, keepdims=True)
    step = 1e-4  # of Y by its true gradient from zero
    Y = step * sum(np.outer(f[n], np.eye(M)[n] - 1 / M) for n in range(2)) / 2
    slopes = []
    for token in range(5):
        move = np.eye(M)[token] * 1e-3
        up, down = (likelihood_with_layernorm(s * move, P, Y) for s in (1, -1))
        slopes.append(up - down)
    assert slopes[0] < 0  # the shared token
    assert slopes[2] > 0  # the weak distinct one
    assert bool(slopes[1] > 0) == (shared == 0.5)  # the strong one: only where much is shared


def test_ours_layernorm_fates_by_hand() -> None:
    # p = 0: a token gains if and only if it is weaker than S = 9/16 + 1/16
    one = checks.Centred(2, 12, Fraction(0), (Fraction(3, 4), Fraction(1, 4)))
    slopes = one.first_slopes()
    assert slopes[0] == 0
    assert slopes[1] < 0 < slopes[2]
    assert slopes[1:3] == slopes[3:5]
    alone = checks.Centred(2, 12, Fraction(0), (Fraction(1),))
    assert alone.first_slopes() == [0, 0, 0]
