"""Answers of the exercises on the pages of Tian et al., computed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import plain_layer
import pytest
import sympy as sp

from ntpbook.ours.long_times import bounds, laws, slow_manifold
from ntpbook.ours.reversal import inertia
from ntpbook.shared import reduced_flow
from ntpbook.tian2023.s3_setting import counts
from ntpbook.tian2023.s4_gradient.gradient import xi_uniform
from ntpbook.tian2023.s4_sampling import decoder_rate
from ntpbook.tian2023.s5_fates import attention
from ntpbook.tian2023.s5_fates.checks import Centred
from ntpbook.tian2023.s6_snapping import snapping
from ntpbook.tian2023.s7_discussion import instances
from ntpbook.tian2023.s8_synthetic.experiments import distinct_entropy
from ntpbook.tian2023.s8_wikitext.text_order import count_contexts
from ntpbook.tian2023.s8_wikitext.text_runs import entropies
from ntpcore.tian2023 import coupled, decoder, population
from ntpcore.tian2023.classes import synthetic_classes
from ntpcore.tian2023.population import Population


def test_setting() -> None:
    weights = np.array([0.75, 0.25]) * np.exp([0.0, math.log(3)])
    assert weights[0] == pytest.approx(weights[1])
    # one class: g = Y (x - alpha) is a multiple of the only f, and nothing moves
    one = Population(np.array([[0.5, 0.3, 0.2]]), np.array([0]), np.array([0]), np.ones(1), 4)
    state = population.descend(one, population.start(one), 5.0, 5.0, 200)
    assert np.abs(state.Y).max() > 1
    assert state.z == pytest.approx(np.zeros((1, 1, 3)), abs=1e-12)
    assert round(counts.radius(127, 0.05), 3) == 0.121
    assert round(counts.radius(127, 0.05, 20), 3) == 0.162


def test_decoder() -> None:
    M = 1000
    tau = (M - 1) / M * (1 + math.log(M))
    assert round(tau, 1) == 7.9
    assert decoder.height(M, np.array([tau]))[0] == pytest.approx(math.log(M))
    wrong = (M - 1) / (M - 1 + M)
    assert 1 - wrong == pytest.approx(M / (2 * M - 1))
    assert 1 - wrong - 0.5 == pytest.approx(1 / (4 * M), rel=1e-3)
    rho = Fraction(1, 2)
    rows = [[int(n == j) - Fraction(1, 3) for j in range(3)] for n in (0, 1)]
    move = [a + rho * b for a, b in zip(*rows, strict=True)]
    assert move == [Fraction(1, 2), 0, Fraction(-1, 2)]
    half = sp.Rational(1, 2)
    E = sp.Matrix([[0, half], [half, 0]])
    prime = E * (sp.eye(2) + E).inv()
    assert (prime[0, 0], prime[1, 0]) == (sp.Rational(-1, 3), sp.Rational(2, 3))
    assert (sp.eye(2) + E) * (sp.eye(2) - prime) == sp.eye(2)


def test_sampling() -> None:
    rng = np.random.default_rng(3)
    unseen = [50 - len(set(rng.integers(50, size=50).tolist())) for _ in range(2000)]
    assert round((49 / 50) ** 50, 3) == 0.364
    assert np.mean(unseen) == pytest.approx(50 * (49 / 50) ** 50, abs=0.2)
    assert round(50 * (49 / 50) ** 50) == 18
    assert round(math.sqrt(2500 / 2 * math.log(2 / 0.05)) + 1, 1) == 68.9
    assert round(math.sqrt(2500 / 50 * 49 / 50), 1) == 7.0
    printed = decoder_rate.printed_steps(1000, 10, 0.5, 0.01)
    assert round(printed) == 23_026
    short = 10 / 0.5 * (1 / 0.01 + math.log(1000 / 0.01))
    assert round(short, -1) == 2230
    exact = 10 * decoder_rate.steps_to_accuracy(1000, 0.5, 0.01)
    assert exact == pytest.approx(short, rel=0.02)


def test_gradient() -> None:
    e, M = 0.01, 10**6
    ratio = (e / M) / xi_uniform(M, e * np.array([[0.0, 1.0], [1.0, 0.0]]))[0]
    assert ratio == pytest.approx((1 - e * e) / (M * e), rel=1e-3)
    assert round(ratio * 1e4, 1) == 1.0
    assert xi_uniform(M, np.zeros((2, 2))).tolist() == [0.0, 0.0]


def test_fates() -> None:
    P = np.array([[0.3, 0.7, 0.0], [0.3, 0.0, 0.7]])
    f = P / np.linalg.norm(P, axis=1, keepdims=True)
    moves = attention.velocity((0, 0), f, np.array([[0.0, 1.0], [1.0, 0.0]]))[0]
    assert moves[0] == pytest.approx(-2 * moves[1])
    first, second = np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.5, 0.25])
    pair = np.array([first / np.linalg.norm(first), second / np.linalg.norm(second)])
    stills = attention.velocity((0, 0), pair, np.array([[0.0, 1.0], [1.0, 0.0]]))[0]
    assert stills[0] == pytest.approx(0, abs=1e-12)
    one = Centred(2, 100, Fraction(1, 50), (Fraction(3, 5), Fraction(19, 50)))
    slopes = one.first_slopes()
    assert slopes[0] < 0
    assert slopes[1] < 0 < slopes[2]
    assert sum(c * c for c in one.distinct) == Fraction(5044, 10000)


def test_snapping() -> None:
    C_0 = 4 / 10
    printed = float(snapping.printed_growth(C_0, np.zeros(1))[0])
    assert round(printed, 3) == -0.229
    assert round(math.exp(2 * printed), 3) == 0.632
    for slope, end in ((1 / 2, 40), (1 / 22, 40_960)):
        assert slope * math.log(end / 20) == pytest.approx(math.log(2) / 2)
    g = np.array([0.3, -0.2])
    f = np.array([0.6, 0.8])
    assert (f * (g - f * (f @ g))).sum() == pytest.approx(0)


def test_discussion() -> None:
    expected = {n: 10 * instances.chance_of_spurious(n, 40, 0.01) for n in (1, 13, 14)}
    assert [round(x, d) for x, d in zip(expected.values(), (1, 3, 3), strict=True)] == [
        4.4,
        0.107,
        0.072,
    ]
    weights = np.exp(-0.1 * np.arange(2000))
    assert round(weights.sum() ** 2 / (weights**2).sum()) == 20
    shares = np.array([0.5, 0.3, 0.2])
    entropy = -(shares * np.log(shares)).sum()
    assert round(float(entropy), 2) == 1.03
    assert round(float(np.exp(entropy)), 1) == 2.8


def test_long_times() -> None:
    assert round(math.log(2) / slow_manifold.law(10, 1000).alpha) == 77
    path = reduced_flow.follow(coupled.one_of_each(2, 2, 0.5), 1.0, np.linspace(7, 10, 3001))
    at = int(np.abs(path.tangent - 10).argmin())
    by_hand = math.sqrt((math.log(10) + 99 / 2) / (3 / 4))  # the closed form with T = 10
    assert round(by_hand, 2) == 8.31
    # dT/dr = 3/2 r/(1/T + T) is about 1.2: the grid's 0.001 misses T = 10 by half of it
    assert path.r[at, 0] == pytest.approx(by_hand, abs=1e-3)
    # the layer with its matrices, on the same clock
    P = plain_layer.tokens((1.0,), (1.0,), 2)
    Y, Z, t = plain_layer.on_the_clock(P, [0, 0], 2, 1.0, 1.0, np.array([0.0, path.sigma[at]]))
    assert math.exp(Z[-1][0, 1] - Z[-1][0, 0]) == pytest.approx(path.tangent[at], rel=1e-7)
    assert Y[-1][1, 0] - Y[-1][1, 1] == pytest.approx(path.r[at, 0], rel=1e-7)
    assert path.log_time[at] == pytest.approx(math.log(1 + t[-1] / 2), rel=1e-7)
    left, right = laws.closed_form(path)
    assert left == pytest.approx(right, rel=1e-6)
    two, thousand = (bounds.keep(coupled.one_of_each(K, K, 0.5)) for K in (2, 1000))
    for K, found in ((2, two), (1000, thousand)):
        twice = Fraction(1, K) / (1 - Fraction(1, 2))  # 2 C_1 = C L/(K (1 - eps_0))
        factor = twice * (1 + twice) ** 3  # C_2/b^2 = 2 C_1/b^3, b = 1/(1 + 2 C_1)
        assert found.C_2 / found.b**2 == pytest.approx(float(factor), rel=1e-12)  # rounding
        assert round(float(factor), 4) == {2: 8, 1000: 0.0020}[K]


def test_two_papers() -> None:
    g = np.array([3.0, 4.0])
    angle = np.linspace(0, math.pi / 2, 100_001)
    best = int((g[0] * np.cos(angle) + g[1] * np.sin(angle)).argmax())
    f = np.array([math.cos(angle[best]), math.sin(angle[best])])
    assert f / f.sum() == pytest.approx([3 / 7, 4 / 7], abs=1e-4)
    share = np.linspace(0, 1, 11)
    assert share[int((g[0] * share + g[1] * (1 - share)).argmax())] == 0


def test_reversal() -> None:
    # v <- beta v - c w, w <- w + eta v in a valley of the curvature c; complex eigenvalues swing
    def swings(c: float) -> bool:
        matrix = np.array([[1 - c, 0.9], [-c, 0.9]])
        return bool(np.abs(np.linalg.eigvals(matrix).imag).max() > 0)

    assert not swings(0.0026)
    assert swings(0.0027)
    assert swings(0.01)
    assert round((1 - math.sqrt(0.9)) ** 2, 4) == 0.0026
    # ten times finer: eta/(1 - beta)^2 stays what it is
    assert pytest.approx(1 / (1 - 0.9) ** 2) == 0.01 / (1 - 0.99) ** 2
    fine, plain = ((1 - math.sqrt(0.99)) ** 2 / 0.01, (1 - math.sqrt(0.9)) ** 2)
    assert fine == pytest.approx(plain, rel=0.06)
    # the layer with its matrices, on a clock of its own
    P = plain_layer.tokens((1.0,) * 10, tuple(x / 10 for x in range(1, 11)), 2)
    turns = []
    for ratio in (100.0, 400.0):
        sigma = np.linspace(0, 15 * math.sqrt(ratio), 1501)
        _, Z, t = plain_layer.on_the_clock(P, [0, 0], 33, ratio, 1.0, sigma)
        least = plain_layer.entropies(P, 10, 10, np.array([z[0] for z in Z])).argmin()
        turns.append(math.log10(t[least]))
        ours = inertia.weak_turn(coupled.syn(1, 2), ratio).at
        # neighbours on the two grids of the clock
        assert math.log10(t[least - 3]) < ours < math.log10(t[least + 3])
    assert [round(x) for x in turns] == [29, 61]
    assert round(turns[0] + 3.2 * 10) == round(turns[1])  # the exercise's answer


def test_synthetic() -> None:
    classes = synthetic_classes(10, 2)
    P = classes.probabilities
    own = P[0][P[0] > 0]
    weights = np.arange(1, 11) / 10
    shares = weights / weights.sum()
    entropy = float(-(shares * np.log(shares)).sum())
    assert distinct_entropy(classes, np.zeros((classes.L, classes.M))) == pytest.approx(entropy)
    assert round(entropy, 2) == 2.15
    assert round(math.exp(entropy), 1) == 8.6
    assert len(own) == 20
    assert round(float(10 / (10 + weights.sum())), 3) == 0.645
    inner = float(10 / (10 + (weights**2).sum()))
    assert round(inner, 3) == 0.722
    f = P / np.linalg.norm(P, axis=1, keepdims=True)
    E = f @ f.T - np.eye(20)
    assert round(float(np.linalg.eigvalsh(E).max()), 1) == 13.7
    assert round(19 * inner, 1) == 13.7


def test_wikitext() -> None:
    even = np.tril(np.ones((35, 35))) / np.arange(1, 36)[:, None]
    assert round(float(entropies(even[None])), 2) == 2.71
    assert round(math.exp(2.71)) == 15
    # key 1, query 0, next tokens 2, 2, 2, 3
    text = np.array([[[1, 0, 2], [1, 0, 2], [1, 0, 2], [1, 0, 3]]], dtype=np.int32)
    assert count_contexts(text, np.array([0], dtype=np.int32), 4).agreement[0, 1] == 0.5
    assert (1 + 0) / (1 + 999) == 0.001
