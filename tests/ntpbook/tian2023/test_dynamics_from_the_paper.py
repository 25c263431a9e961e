"""The dynamics of Tian et al., written once more from the paper: right, and with planted errors.

Each function below computes from an equation of the paper what the library computes, plainly and in
another way. Its keyword arguments plant an error, such as M in the place of M - 1. The library must
agree with the equation, and must not agree with any of the errors: so each constant is noticed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from ntpbook.tian2023.s3_setting import counts
from ntpbook.tian2023.s4_decoder import equicorrelated, shift
from ntpcore.tian2023 import classes, decoder, layer, population
from ntpcore.tian2023.layer import Sample
from ntpcore.tian2023.population import HeadWeights

CLOSE, APART = 1e-9, 1e-3


def distance(found, expected) -> float:
    """Largest difference, relative to the largest expected entry."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    return float(np.abs(found - expected).max() / np.abs(expected).max())


# The height of one class: (33), (45), Lemma 8, Lemma 9


def recursion_33(M: int, eta: float, steps: int, others: int = 1, rate: float = 1.0, late: int = 0):
    """M h*(s) by (33), in fifty digits; `others` tokens are not counted in the denominator."""
    with mpmath.workdps(50):
        heights = [mpmath.mpf(0)]
        for s in range(steps):
            height = heights[max(s - late, 0)]
            gain = rate * mpmath.mpf(eta) / (M - others + mpmath.exp(M * height))
            heights.append(heights[-1] + gain)
        return [float(M * height) for height in heights]


@pytest.mark.parametrize(("M", "eta"), [(3, 0.7), (40, 0.2), (1000, 1.5)])
def test_the_recursion_is_33(M, eta):
    assert distance(decoder.recursion(M, eta, 50), recursion_33(M, eta, 50)) < CLOSE


@pytest.mark.parametrize("wrong", [{"others": 0}, {"others": 2}, {"rate": 1.01}, {"late": 1}])
def test_another_recursion_is_noticed(wrong):
    assert distance(decoder.recursion(3, 0.7, 50), recursion_33(3, 0.7, 50, **wrong)) > APART


def defect_45(M: int, x, tau, slope: int = 1, start: float = 1.0):
    """e^x + (M - 1) x against M tau + 1, relative."""
    left = np.exp(x) + (M - slope) * x
    return np.abs(left - M * tau - start) / (M * tau)


def test_the_height_solves_45_and_no_other_equation():
    for M in (2, 30, 300):
        tau = np.geomspace(0.01, 100, 20)
        x = decoder.height(M, tau)
        assert defect_45(M, x, tau).max() < CLOSE
        assert defect_45(M, x, tau, slope=0).max() > APART
        assert defect_45(M, x, tau, start=0.0).max() > APART


def speed_of_lemma_9(
    M: int, K: int, eta: float, t: float, square: int = 1, others: int = 1, classes_: int = 0
) -> float:
    """gamma(t) = (M - 1)^2 h(t/K)/(M - 1 + e^(M h(t/K))), h by bisection of (45)."""
    tau, low, high = eta * t / (K - classes_), 0.0, eta * t
    for _ in range(100):
        x = (low + high) / 2
        low, high = (x, high) if math.exp(x) + (M - 1) * x < M * tau + 1 else (low, x)
    h = low / M
    return (M - square) ** 2 * h / (M - others + math.exp(M * h))


def test_the_speed_is_that_of_lemma_9_and_no_other():
    arguments = (20, 4, 0.5, 37.0)
    found = float(decoder.speed(*arguments))
    assert found == pytest.approx(speed_of_lemma_9(*arguments), rel=CLOSE)
    for wrong in ({"square": 0}, {"others": 0}, {"classes_": 1}):
        assert abs(found / speed_of_lemma_9(*arguments, **wrong) - 1) > APART


def test_the_second_stage_begins_where_lemma_9_has_it():
    M, K, eta = 1000, 7, 0.5
    with mpmath.workdps(30):  # the larger zero of e^x = (M - 1) x
        x = mpmath.findroot(lambda x: mpmath.exp(x) - (M - 1) * x, 9)
    omega = float(x) / math.log(M) - 1
    assert decoder.transition(M, K, eta) == pytest.approx(
        2 * (1 + omega) * K * math.log(M) / eta, rel=CLOSE
    )
    for factor, classes_ in ((1, K), (2, K - 1)):
        wrong = factor * (1 + omega) * classes_ * math.log(M) / eta
        assert abs(decoder.transition(M, K, eta) / wrong - 1) > APART


# All classes: (7), (26), Theorem 1


def inputs(K: int, M: int) -> np.ndarray:
    """f_n of random classes as rows."""
    rng = np.random.default_rng((K, M))
    return classes.unit_scores(classes.random_classes(rng, K, M, 2, 1, common_mass=0.4))


def dense_run(
    f: np.ndarray, draws, eta: float, modified: bool, sign: int = 1, rest: int = 0, rate: float = 1
) -> np.ndarray:
    """Y after updates (7), or (26) with E' = I - (I + E)^-1, on the whole M x M matrix.

    `sign` is that of E'; `rest` tokens are added to the vocabulary of the softmax.
    """
    K, M = f.shape
    E_prime = np.eye(K) - np.linalg.inv(f @ f.T)
    Y = np.zeros((M, M + rest))
    for n in draws:
        logits = f[n] @ Y
        alpha = np.exp(logits) / np.exp(logits).sum()
        along = f[n] - sign * f.T @ E_prime[:, n] if modified else f[n]
        Y += rate * eta * np.outer(along, np.eye(M + rest)[n] - alpha)
    return Y


@pytest.mark.parametrize("modified", [False, True])
def test_runs_are_7_and_26_and_nothing_else(modified):
    K, M, eta, draws = 3, 12, 0.8, [0, 1, 2, 2, 0, 1, 0]
    f = inputs(K, M)
    start = decoder.zero_decoder(M, classes.correlations(f))
    W = decoder.run(start, draws, eta, modified).W[:, :K]

    def off(**wrong) -> float:
        return distance(W, (f @ dense_run(f, draws, eta, modified, **wrong))[:, :K])

    assert off() < CLOSE
    assert distance(W, (f @ dense_run(f, draws, eta, not modified))[:, :K]) > APART
    for wrong in ({"rest": 1}, {"rate": 1.01}, *([{"sign": -1}] if modified else [])):
        assert off(**wrong) > APART


@pytest.mark.parametrize("modified", [False, True])
def test_the_flow_moves_every_class_at_the_rate_one_over_K(modified):
    """After a short time, W = t eta/K G (e_n - 1/M), with G = I for (26) and I + E for (7)."""
    K, M, eta, t = 3, 12, 0.8, 1e-7
    f = inputs(K, M)
    start = decoder.zero_decoder(M, classes.correlations(f))
    (state,) = decoder.flow(start, eta, np.array([t]), modified)
    gram = np.eye(K) if modified else f @ f.T
    expected = gram @ (np.eye(K) - 1 / M)
    assert distance(state.W[:, :K] * K / (eta * t), expected) < 1e-6
    for wrong in (K - 1, 2 * K):
        assert distance(state.W[:, :K] * wrong / (eta * t), expected) > APART


def force_of_theorem_1(f: np.ndarray, Y: np.ndarray, n: int, left: int = 0, others: int = 0):
    """xi_n = gamma sum_(n' != n) beta_nn' f_n . f_n', with gamma and beta from g = Y (e_n - alpha).

    g is a combination of the f_k, found by least squares; gamma beta_nn' is minus the coefficient
    of f_n'. `left` classes are left out of the sum, `others` outputs out of g.
    """
    logits = f[n] @ Y
    error = np.eye(Y.shape[1])[n] - np.exp(logits) / np.exp(logits).sum()
    kept = Y.shape[1] - others
    coefficients = np.linalg.lstsq(f.T, Y[:, :kept] @ error[:kept], rcond=None)[0]
    other = [k for k in range(len(f)) if k != n][left:]
    return -sum(coefficients[k] * (f[n] @ f[k]) for k in other)


def test_the_force_xi_is_that_of_theorem_1():
    K, M, eta, draws = 4, 14, 0.8, [0, 1, 2, 3, 2, 0, 1, 0]
    f = inputs(K, M)
    for modified in (False, True):
        Y = dense_run(f, draws, eta, modified)
        state = decoder.run(decoder.zero_decoder(M, classes.correlations(f)), draws, eta, modified)
        for n in range(K):
            found = decoder.xi(state, n)
            size = abs(force_of_theorem_1(f, Y, n)) + 1e-3
            assert abs(found - force_of_theorem_1(f, Y, n)) < CLOSE * size
        wrongs = [{"left": 1}, {"others": M - K}]  # K - 1 classes; outputs of no class left out
        for wrong in wrongs:
            gaps = [
                abs(decoder.xi(state, n) - force_of_theorem_1(f, Y, n, **wrong)) for n in range(K)
            ]
            assert max(gaps) > APART


def test_equal_correlations_move_as_the_mean_of_7_does():
    """One mean step of (7) on rows written out, against the slopes of u and v."""
    M, K, rho = 9, 4, 0.35
    u, v = 0.8, 1.7
    W = np.full((K, M), -v)
    W[:, :K] = -u
    W[np.arange(K), np.arange(K)] = 0.0
    alpha = np.exp(W) / np.exp(W).sum(axis=1, keepdims=True)

    def gaps(gram: np.ndarray) -> tuple[float, float]:
        moved = gram @ (np.eye(M)[:K] - alpha)
        return moved[0, 0] - moved[0, 1], moved[0, 0] - moved[0, K]

    right = (1 - rho) * np.eye(K) + rho * np.ones((K, K))
    found = equicorrelated.slopes(M, K, rho, u, v)
    assert distance(found, gaps(right)) < CLOSE
    one_less = right.copy()
    one_less[:, K - 1] = [0, 0, 0, 1]  # K - 2 other classes
    for wrong in (np.eye(K), np.eye(K) + rho * np.ones((K, K)), one_less):
        assert distance(found, gaps(wrong)) > APART


def test_the_lead_is_the_zero_of_its_slope():
    M, K, rho = 50, 6, 0.4
    lead = equicorrelated.lead(M, rho)
    for u in (0.5, 3.0):
        slope_u, slope_v = equicorrelated.slopes(M, K, rho, u, u + lead)
        assert abs(slope_v - slope_u) < CLOSE
        slope_u, slope_v = equicorrelated.slopes(M, K, rho, u, u + lead - 0.1)
        assert slope_v - slope_u > 1e-5  # rises below it


# The shift between steps and curve


def test_the_shift_is_the_time_that_45_takes_to_the_height_of_33():
    M, eta, steps = 6, 0.9, 40
    y = recursion_33(M, eta, steps)
    with mpmath.workdps(50):
        times = [
            float((mpmath.exp(x) + (M - 1) * mpmath.mpf(x) - 1) / (M * mpmath.mpf(eta))) for x in y
        ]
    c = np.array(times) - np.arange(steps + 1)
    found = shift.shifts(M, eta, np.array(y))
    assert distance(found, c) < CLOSE
    assert distance(shift.shifts(M + 1, eta, np.array(y)), c) > APART
    assert distance(found, np.array(times) - np.arange(1, steps + 2)) > APART
    below, above = shift.shift_bounds(M, eta, np.array(y))
    assert (below <= c + CLOSE).all()
    assert (c <= above + CLOSE).all()


# One sequence: (1) to (4)


def plain_likelihood(
    sample: Sample, Y: np.ndarray, z: np.ndarray, masked: bool = True, normalised: bool = True
) -> float:
    """log softmax(Y^T LN(X^T b))_(x_(T+1)) by loops over positions and tokens.

    `masked` says whether the query is kept out of (1), `normalised` whether LN is there.
    """
    M = len(Y)
    tokens = [*sample.context] + ([] if masked else [sample.query])
    weights = [math.exp(z[token]) for token in tokens]
    mixed = [0.0] * M
    for token, weight in zip(tokens, weights, strict=True):
        mixed[token] += weight / sum(weights)
    length = math.sqrt(sum(x * x for x in mixed)) if normalised else 1.0
    logits = [sum(Y[i, j] * mixed[i] / length for i in range(M)) for j in range(M)]
    return logits[sample.following] - math.log(sum(math.exp(x) for x in logits))


def by_differences(sample: Sample, Y: np.ndarray, z: np.ndarray, **wrong):
    """Derivatives of the plain likelihood by Y and by z, by central differences."""
    step, found = 1e-5, []
    for which, shape in ((0, Y.shape), (1, z.shape)):
        slopes = np.zeros(shape)
        for place in np.ndindex(*shape):
            values = []
            for sign in (1, -1):
                moved = [Y.copy(), z.copy()]
                moved[which][place] += sign * step
                values.append(plain_likelihood(sample, *moved, **wrong))
            slopes[place] = (values[0] - values[1]) / (2 * step)
        found.append(slopes)
    return found


def test_the_gradients_of_the_layer_are_those_of_1_and_2():
    rng = np.random.default_rng(5)
    Y, Z = rng.normal(size=(2, 5, 5))
    sample = Sample((0, 3, 3, 1, 4), 2, 1)
    dY, dZ = layer.gradients(sample, Y, Z)

    def off(**wrong) -> float:
        slopes = by_differences(sample, Y, Z[sample.query], **wrong)
        return max(distance(dY, slopes[0]), distance(dZ[sample.query], slopes[1]))

    assert off() < 1e-7  # of central differences
    assert layer.log_likelihood(sample, Y, Z) == pytest.approx(
        plain_likelihood(sample, Y, Z[sample.query]), rel=CLOSE
    )
    for wrong in ({"masked": False}, {"normalised": False}):
        assert off(**wrong) > APART


# The population: coupled dynamics on classes


def plain_objective(
    one: classes.SequenceClasses,
    Y: np.ndarray,
    z: np.ndarray,
    queries,
    skip: str,
    rest: int = 0,
    inner: bool = True,
) -> float:
    """J, the mean over the classes of log softmax(Y^T seen_n)_n, for full Y of shape (M, outputs).

    Args:
        one: the classes.
        Y: a column for each output.
        z: (L, M).
        queries: token of each query.
        skip: residual connection.
        rest: outputs of no class that are forgotten.
        inner: whether X^T b is normalised before x_T is added.
    """
    total = 0.0
    for n in range(one.K):
        c = one.probabilities[n] * np.exp(z[one.query[n]])
        c = c / c.sum()
        own = np.eye(one.M)[queries[one.query[n]]]
        if skip == "before":
            seen = (c + own) / np.linalg.norm(c + own)
        else:
            seen = c / np.linalg.norm(c) if inner else c
            seen = seen + own if skip == "after" else seen
        logits = (seen @ Y)[: Y.shape[1] - rest]
        total += (logits[n] - math.log(np.exp(logits).sum())) / one.K
    return total


@pytest.mark.parametrize("skip", population.SKIPS)
def test_the_population_moves_along_the_mean_likelihood(skip):
    rng = np.random.default_rng(6)
    one, outputs, queries = classes.random_classes(rng, 4, 12, 2, 2, 2), 9, np.array([10, 11])
    data = population.of_classes(one, queries, outputs)
    Y, z = rng.normal(size=(12, 5)), rng.normal(size=(2, 12))
    full = np.hstack([Y[:, :4], np.repeat(Y[:, 4:], outputs - 4, axis=1)])
    found = population.gradient(data, HeadWeights(Y[None], z[None]), skip)

    def off(**wrong) -> float:
        slopes, step = np.zeros_like(z), 1e-5
        for place in np.ndindex(*z.shape):
            values = []
            for sign in (1, -1):
                moved = z.copy()
                moved[place] += sign * step
                values.append(plain_objective(one, full, moved, queries, skip, **wrong))
            slopes[place] = (values[0] - values[1]) / (2 * step)
        return distance(found.z[0], slopes)

    assert off() < 1e-7  # of central differences
    assert population.log_likelihood(data, HeadWeights(Y[None], z[None]), skip) == pytest.approx(
        plain_objective(one, full, z, queries, skip), rel=CLOSE
    )
    # an output of no class forgotten, and the normalisation missing inside the residual connection
    for wrong in ({"rest": 1}, *([{"inner": False}] if skip != "before" else [])):
        assert off(**wrong) > APART


# Counts of tokens: Lemma 18


def test_the_radius_is_that_of_lemma_18():
    length, delta = 127, 0.05
    right = math.sqrt(math.log(2 / delta) / (2 * length))
    assert counts.radius(length, delta) == pytest.approx(right, rel=CLOSE)
    for wrong in (
        math.sqrt(math.log(1 / delta) / (2 * length)),
        math.sqrt(math.log(2 / delta) / length),
        math.sqrt(math.log(2 / delta) / (2 * (length + 1))),  # T in the place of T - 1
    ):
        assert abs(counts.radius(length, delta) / wrong - 1) > APART


def strays(length: int, p: list[Fraction], r: Fraction, closed: bool = False) -> list[Fraction]:
    """P(token 0 strays) and P(some token strays) by going through all sequences of tokens.

    `closed` counts a distance that equals the radius as straying.
    """
    single = joint = Fraction(0)
    for tokens in product(range(len(p)), repeat=length):
        chance = math.prod(p[k] for k in tokens)
        far = [abs(Fraction(tokens.count(k), length) - p[k]) for k in range(len(p))]
        out = [x >= r if closed else x > r for x in far]
        single += chance * out[0]
        joint += chance * any(out)
    return [single, joint]


def test_failures_are_those_of_all_sequences():
    p, r = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)], Fraction(1, 4)
    for length in (2, 4, 6):
        single, joint = strays(length, p, r)
        assert counts.token_failure(length, 0.5, 0.25) == pytest.approx(float(single))
        assert counts.joint_failure(length, p, r) == joint
    assert counts.joint_failure(4, p, r) != strays(4, p, r, closed=True)[1]
    assert counts.joint_failure(4, p, r) != strays(5, p, r)[1]


# Attention scores and correlations: (5), Lemma 14


def test_attention_scores_are_5():
    rng = np.random.default_rng(8)
    one = classes.random_classes(rng, 3, 10, 2, 2, 2)
    z = rng.normal(size=(2, 10))
    found = classes.attention_scores(one, z)
    for n in range(3):
        weights = one.probabilities[n] * np.exp(z[one.query[n]])
        assert distance(found[n], weights / weights.sum()) < CLOSE
        squared = one.probabilities[n] * np.exp(2 * z[one.query[n]])
        assert distance(found[n], squared / squared.sum()) > APART
        assert distance(found[n], np.exp(z[one.query[n]]) / np.exp(z[one.query[n]]).sum()) > APART


def test_E_prime_undoes_I_plus_E():
    E = classes.correlations(inputs(4, 14))
    found = classes.E_prime(E)
    assert np.abs((np.eye(4) + E) @ (np.eye(4) - found) - np.eye(4)).max() < CLOSE
    assert np.abs((np.eye(4) + E) @ (np.eye(4) + found) - np.eye(4)).max() > APART  # D.1's sign
    assert np.abs(found - E).max() > APART  # its first-order term


def test_the_synthetic_data_are_those_of_section_8():
    for L, following in ((2, 1), (1, 2), (5, 2)):
        one, K = classes.synthetic_classes(L, following), L * following
        assert (one.K, one.L) == (K, L)
        assert one.M == 10 + 10 * K + L + K
        weights = [1.0] * 10 + [k / 10 for k in range(1, 11)]
        for n in range(K):
            row = np.zeros(one.M)
            row[[*range(10), *range(10 + 10 * n, 20 + 10 * n)]] = weights
            assert distance(one.probabilities[n], row / row.sum()) < CLOSE
            assert one.query[n] == n // following
