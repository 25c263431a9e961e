"""What the checks of the decoder compare on: random decoders, exact matrices, heights over time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s4_decoder import shift
from ntpcore.tian2023 import decoder
from ntpcore.tian2023.classes import (
    SequenceClasses,
    attention_scores,
    correlations,
    random_classes,
    unit_scores,
)
from ntpverdicts.once import once

Floats = NDArray[np.float64]

# Random classes with a decoder each

SIZES = ((5, 2), (12, 3), (40, 10), (150, 20), (400, 50))  # M and K


@dataclass(frozen=True, eq=False)
class TrainedClasses:
    """Random classes with a random decoder.

    Attributes:
        name: the sizes in words.
        c: (K, M), the c_n as rows.
        f: (K, M), the f_n as rows.
        Y: (M, M), a decoder.
        eta: eta_Y.
        seed: of directions and draws.
    """

    name: str
    c: Floats
    f: Floats
    Y: Floats
    eta: float
    seed: int

    @property
    def K(self) -> int:
        """Number of classes."""
        return len(self.f)

    @property
    def M(self) -> int:
        """Size of the vocabulary."""
        return int(self.f.shape[1])

    @property
    def E(self) -> Floats:
        """The correlations, (K, K)."""
        return correlations(self.f)


def random_decoders(seed: int = 7, draws: int = 2) -> Iterator[TrainedClasses]:
    """Random classes, scores and decoders with three learning rates, from small to large."""
    for M, K in SIZES:
        for number in range(draws):
            rng = np.random.default_rng((seed, M, number))
            common, mass = int(rng.integers(1, 3)), float(rng.uniform(0.1, 0.6))
            classes = random_classes(rng, K, M, common, 1, common_mass=mass)
            z = rng.normal(size=(1, M))
            c, f = attention_scores(classes, z), unit_scores(classes, z)
            Y = rng.normal(size=(M, M)) * 10.0 ** rng.uniform(-2, 1)
            for eta in (0.01, 0.2, 2.0) if M <= 100 else (0.01,):
                name = rf"$M = {M}$, $K = {K}$, $\eta_Y = {eta:g}$, draw {number}"
                yield TrainedClasses(name, c, f, Y, eta, seed)


def different_decoders(seed: int = 7, draws: int = 2) -> Iterator[TrainedClasses]:
    """Each random decoder once, for what does not depend on the learning rate."""
    return (one for one in random_decoders(seed, draws) if one.eta == 0.01)


def decoders_and_a_pair(seed: int = 7, draws: int = 2) -> Iterator[TrainedClasses]:
    """Random decoders, then two classes that share little: their modification is nearly longest."""
    yield from random_decoders(seed, draws)
    f = np.array([[1.0, 0.0, 0.0], [0.1, math.sqrt(0.99), 0.0]])
    Y = np.random.default_rng(seed).normal(size=(3, 3))
    yield TrainedClasses(
        "two classes with $f_1^\top f_2 = 1/10$", f / f.sum(axis=1)[:, None], f, Y, 0.2, seed
    )


def small_decoders(seed: int = 7) -> Iterator[TrainedClasses]:
    """Those of up to a hundred tokens, one draw each: for many dense steps."""
    return (one for one in random_decoders(seed, 1) if one.M <= 100)


def softmax_residual(w: Floats, n: int) -> Floats:
    """e_n - softmax(w), its entry n as the sum of the other probabilities."""
    weights = np.exp(w - w.max())
    out = -weights / weights.sum()
    out[n] = np.delete(weights, n).sum() / weights.sum()
    return np.asarray(out)


TINY = 1e-30  # an imaginary step, whose square is nothing


def slope_of_the_likelihood(w: Floats, direction: Floats, n: int) -> float:
    """The derivative of log softmax(w)_n along a direction, by a step along the imaginary axis."""
    moved = w + 1j * TINY * direction
    top = w.max()
    logarithm = moved[n] - top - np.log(np.exp(moved - top).sum())
    return float(logarithm.imag) / TINY


# Exact correlations


@dataclass(frozen=True)
class Correlated:
    """Exact correlations of K classes, positive definite with ones on the diagonal added.

    Attributes:
        name: in words.
        E: rows of fractions, zero on the diagonal.
        M: size of the vocabulary, where it matters; 0 elsewhere.
    """

    name: str
    E: tuple[tuple[Fraction, ...], ...]
    M: int = 0


def weakly_correlated() -> Iterator[Correlated]:
    """Two classes, pairs among four and three alike, with vocabularies for Assumption 2."""
    for K, size, x, M in ((2, 2, 3, 1000), (4, 2, 5, 10**4), (3, 3, 10, 10**4)):
        E = tuple(
            tuple(
                Fraction(1, x) if i != j and i // size == j // size else Fraction(0)
                for j in range(K)
            )
            for i in range(K)
        )
        kind = "two classes" if K == 2 else f"{K} classes in groups of {size}"
        yield Correlated(rf"{kind} with $f_1^\top f_2 = 1/{x}$, $M = {M}$", E, M)


def exact_correlations(seed: int = 7, draws: int = 5) -> Iterator[Correlated]:
    """Two classes with inner product 1/3, then random classes whose c_n are whole numbers.

    The inner products of whole vectors are divided by one number, and not by each pair of norms:
    rational, still an E of unit vectors, as adding their own tokens to the c_n shows.
    """
    third = Fraction(1, 3)
    yield Correlated(
        "two classes with $f_1^\top f_2 = 1/3$", ((Fraction(0), third), (third, Fraction(0)))
    )
    for K in (2, 3, 5, 8):
        rng = np.random.default_rng((seed, K))
        for number in range(draws):
            shared = rng.integers(0, 4, size=(K, K + 1))
            gram = shared @ shared.T
            size = int(gram.diagonal().max()) + 1  # every class has a token of its own
            E = tuple(
                tuple(Fraction(int(gram[i, j]) if i != j else 0, size) for j in range(K))
                for i in range(K)
            )
            yield Correlated(f"$K = {K}$, draw {number}", E)


def inverse(A: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """The inverse of an exact matrix."""
    import sympy as sp

    rows = sp.Matrix([[sp.Rational(x.numerator, x.denominator) for x in row] for row in A])
    return [[Fraction(int(x.p), int(x.q)) for x in row] for row in rows.inv().tolist()]


# Families of classes for Assumption 2


def grouped_classes(sizes: tuple[int, ...], epsilon: float) -> SequenceClasses:
    """Classes in groups: inner product epsilon at Z = 0 within a group, zero between groups.

    Each group has one token in common and each class one of its own; M is as small as possible.
    """
    K = sum(sizes)
    odds = (epsilon / (1 - epsilon)) ** 0.5
    p = np.zeros((K, len(sizes) + K))
    p[np.arange(K), np.repeat(np.arange(len(sizes)), sizes)] = odds / (1 + odds)
    p[np.arange(K), len(sizes) + np.arange(K)] = 1 / (1 + odds)
    return SequenceClasses(p, (0,) * K)


def groups(K: int) -> tuple[int, ...]:
    """Pairs, and one triple if K is odd."""
    return (2,) * (K // 2) if K % 2 == 0 else (2,) * ((K - 3) // 2) + (3,)


# Heights over time


@dataclass(frozen=True, eq=False)
class Heights:
    """One run of the recursion beside the curve, with y = M h* and x = M h.

    Attributes:
        M, eta: vocabulary and rate.
        s: (n,), numbers of updates that are kept.
        y: (n,), M h*(s).
        x: (n,), M h(s).
        c: (n,), the shift c(s).
    """

    M: int
    eta: float
    s: Floats
    y: Floats
    x: Floats
    c: Floats

    @property
    def name(self) -> str:
        """Vocabulary and rate in words."""
        return rf"$M = {self.M}$, $\eta_Y = {self.eta:g}$"


@once
def heights(M: int, eta: float, steps: int, points: int = 400) -> Heights:
    """The recursion up to `steps`, kept at about so many numbers of updates, or at every one."""
    everything = decoder.recursion(M, eta, steps)
    c = shift.shifts(M, eta, everything)
    tens = 10 ** np.arange(int(math.log10(steps)) + 1)
    kept = np.unique(np.concatenate([[0], np.geomspace(1, steps, points).astype(int), tens]))
    kept = np.arange(steps + 1) if points > steps else kept
    s = kept.astype(np.float64)
    return Heights(M, eta, s, everything[kept], decoder.height(M, eta * s), c[kept])


def many_heights(steps: int = 3000) -> list[Heights]:
    """Vocabularies from 2 to a million with rates from 0.01 to 100."""
    sizes, rates = (2, 5, 50, 1000, 10**4, 10**6), (0.01, 0.1, 0.5, 1.0, 2.0, 100.0)
    return [heights(M, eta, steps) for M in sizes for eta in rates]


def whole_heights(steps: int = 300) -> list[Heights]:
    """Every update of some runs, with rates up to 2."""
    sizes, rates = (2, 50, 1000, 10**6), (0.01, 0.5, 1.0, 2.0)
    return [heights(M, eta, steps, 10 * steps) for M in sizes for eta in rates]


def long_heights(updates: int = 10**6) -> list[Heights]:
    """Five and a thousand tokens at rate 1 for a million updates."""
    return [heights(M, 1.0, updates) for M in (5, 1000)]


def late_heights(updates: int = 10**5) -> list[Heights]:
    """A thousand tokens at the rates 1 and 1/2, for which late times are certified."""
    return [heights(1000, eta, updates) for eta in (1.0, 0.5)]


def all_heights(steps: int = 3000, updates: int = 10**6) -> list[Heights]:
    """Both of them."""
    return [*many_heights(steps), *long_heights(updates)]


PANELS = ((50, (0.1, 0.2, 0.5, 1.0, 2.0), 80), (1000, (0.2, 0.5, 1.0, 2.0, 4.0), 70))  # Figure 8


@once
def panel(M: int, etas: tuple[float, ...], horizon: int) -> tuple[Heights, ...]:
    """The curves of one panel of Figure 8, at every number of updates."""
    found = []
    for eta in etas:
        s = np.arange(horizon + 1, dtype=float)
        y = decoder.recursion(M, eta, horizon)
        found.append(Heights(M, eta, s, y, decoder.height(M, eta * s), shift.shifts(M, eta, y)))
    return tuple(found)


def figure_8() -> list[Heights]:
    """The ten curves of Figure 8."""
    return [run for each in PANELS for run in panel(*each)]
