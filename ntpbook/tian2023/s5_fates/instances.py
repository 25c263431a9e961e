"""Classes, flows and weights for the checks on the fates of tokens (tian2023, Section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s5_fates import attention
from ntpcore.tian2023 import decoder
from ntpcore.tian2023.classes import (
    E_prime,
    SequenceClasses,
    common_tokens,
    correlations,
    distinct_tokens,
    equicorrelated_classes,
    layered_classes,
    paired_classes,
    random_classes,
    unit_scores,
    weak_correlations,
)
from ntpverdicts.maths import in_words
from ntpverdicts.numbers import counted
from ntpverdicts.once import once

Floats = NDArray[np.float64]

# Classes at some Z

SIZES = ((2, 5), (2, 100), (3, 100), (5, 1000), (10, 10**4), (20, 10**5), (50, 10**6))  # (K, M)


@dataclass(frozen=True, eq=False)
class Instance:
    """Classes at some Z, in a vocabulary of size M.

    Attributes:
        name: the instance in words.
        classes: the data; columns are the tokens that occur as contexts.
        M: size of the vocabulary.
        z: (L, columns), the rows of Z.
        seed: of what is drawn for the instance, such as coefficients.
    """

    name: str
    classes: SequenceClasses
    M: int
    z: Floats
    seed: tuple[int, ...] = (7,)

    @property
    def f(self) -> Floats:
        """(K, columns), the vectors f_n."""
        return unit_scores(self.classes, self.z)

    @property
    def query(self) -> tuple[int, ...]:
        """psi(n) for each class."""
        return self.classes.query

    @property
    def K(self) -> int:
        """Number of classes."""
        return self.classes.K

    def holds(self, reading: str) -> bool:
        """Whether Assumption 2 holds."""
        return weak_correlations(correlations(self.f), self.M, reading).holds

    def trained(self, modified: bool, rounds: int = 12) -> decoder.DecoderState:
        """A decoder after some rounds over the classes, at these f_n."""
        start = decoder.zero_decoder(self.M, correlations(self.f))
        draws = np.tile(np.arange(self.K), rounds)
        return decoder.run(start, draws, eta=0.5, modified=modified)


def instances(seed: int = 7, sets: int = 2) -> list[Instance]:
    """Random classes with several queries at random Z, for every size of `SIZES`, small first."""
    found = []
    for K, M in SIZES:
        for number in range(sets):
            rng = np.random.default_rng((seed, K, number))
            common, distinct = (1, 2) if M == 5 else (int(rng.integers(1, 6)), 3)
            queries = int(rng.integers(1, K + 1))
            data = random_classes(rng, K, common + K * distinct, common, distinct, queries)
            z = rng.normal(size=(data.L, data.M))
            name = f"$K = {K}$, $M = {M}$, {counted(queries, 'queries')}"
            found.append(Instance(name, data, M, z, (seed, 9, K, number)))
    return found


def weak_instances(seed: int = 7, sets: int = 2) -> list[Instance]:
    """Instances that satisfy Assumption 2 in one of its readings at least, at random small Z."""
    found: list[Instance] = []
    for data, M in _weak_families(seed, 12 * sets):
        rng = np.random.default_rng((seed, len(found), M))
        z = 0.05 * rng.normal(size=(data.L, data.M))
        name = (
            f"$K = {data.K}$, $M = {M}$, {counted(data.L, 'queries')}, "
            f"{counted(len(common_tokens(data)), 'common tokens')}"
        )
        one = Instance(name, data, M, z)
        if one.holds("sqrt(6/M)"):
            found.append(one)
    return found


def _weak_families(seed: int, sets: int) -> Iterator[tuple[SequenceClasses, int]]:
    """Candidates: equal correlations, pairs, one common token at random, several at random."""
    for K, M in ((2, 200), (2, 10**4), (3, 10**4), (5, 10**5), (10, 10**6)):
        top = 1 / (K * (K - 1))
        for share in (0.5, 0.95):
            yield equicorrelated_classes(K, K + 1, top * share), M
    for K, M in ((2, 1000), (10, 10**5), (20, 10**5), (50, 10**6)):
        yield paired_classes(K, 2 * K, 0.8 / K), M
    for number in range(sets):
        rng = np.random.default_rng((seed, 1, number))
        K, M = int(rng.integers(2, 6)), int(10 ** rng.uniform(3.5, 6))
        weight = (0.9 / (K * K)) ** 0.5 * rng.uniform(0.4, 1.0)
        queries = [int(rng.integers(0, 2)) for _ in range(K)]
        queries = [one if len(set(queries)) == 2 else 0 for one in queries]
        tokens = [list(rng.dirichlet(np.ones(3)) + 0.1) for _ in range(K)]
        yield layered_classes([weight], tokens, 1 + 3 * K, queries), M
        mass = float(rng.uniform(0.05, 0.4))
        yield random_classes(rng, K, 4 + 2 * K, 4, 2, int(rng.integers(1, K + 1)), mass), M


def with_a_class_alone(seed: int = 7, sets: int = 2) -> list[Instance]:
    """The first of these with one more class, all of whose tokens are distinct."""
    found = []
    for one in weak_instances(seed, sets)[:2]:
        P = one.classes.probabilities
        wider = np.zeros((len(P) + 1, P.shape[1] + 2))
        wider[:-1, :-2], wider[-1, -2:] = P, 0.5
        z = np.hstack([one.z, np.zeros((len(one.z), 2))])
        found.append(replace(one, classes=SequenceClasses(wider, (*one.query, 0)), z=z))
    return found


def single_common(seed: int = 7, sets: int = 2) -> list[Instance]:
    """Classes of all sizes with one common token, which some of them lack, and any Z."""
    found = []
    for K, M in SIZES:
        for number in range(sets):
            rng = np.random.default_rng((seed, 2, K, number))
            queries = int(rng.integers(1, K + 1))
            data = random_classes(rng, K, 1 + 2 * K, 1, 2, queries, float(rng.uniform(0.05, 0.9)))
            z = rng.normal(size=(data.L, data.M))
            name = f"$K = {K}$, $M = {M}$, {counted(queries, 'queries')}"
            found.append(Instance(name, data, M, z, (seed, 10, K, number)))
    return found


def two_common(seed: int = 7) -> list[Instance]:
    """Classes with two common tokens."""
    data = random_classes(np.random.default_rng(seed), 3, 8, 2, 2)
    return [Instance("two common tokens", data, 100, np.zeros((1, 8)))]


def sample_gradients(one: Instance, state: decoder.DecoderState) -> Floats:
    """(K, columns), the derivative of log alpha_n of each class in the row of its query.

    By complex steps through softmax, norm and exponential: nothing of the paper's is used.
    """
    P, K, step = one.classes.probabilities, one.K, 1e-30
    Y = one.f.T @ state.A
    copies = np.append(np.ones(K), state.M - K)
    out = np.zeros_like(P)
    for n, m in enumerate(one.query):
        inside = np.flatnonzero(P[n] > 0)
        z = np.tile(one.z[m, inside].astype(complex), (len(inside), 1))
        z += 1j * step * np.eye(len(inside))  # row i moves token i
        weights = P[n, inside] * np.exp(z)
        f = weights / np.sqrt((weights**2).sum(axis=1, keepdims=True))
        logits = f @ Y[inside]
        top = logits.real.max()
        total = (copies * np.exp(logits - top)).sum(axis=1)
        out[n, inside] = (logits[:, n] - top - np.log(total)).imag / step
    return out


def sgd_ratio(one: Instance, eta_Y: float = 0.5, steps: int = 800, seed: int = 7) -> float:
    """How far SGD moves Z, over how far (10) with eta_Z / K would, for a small eta_Z.

    The decoder takes random modified updates; Z takes the gradient of each drawn sample. Both
    displacements are per eta_Z, and compared along the printed direction.
    """
    f, query, K = one.f, one.query, one.K
    E = correlations(f)
    state, moved = decoder.zero_decoder(one.M, E), np.zeros_like(one.z)
    mix = np.eye(K) - E_prime(E)  # column n: the coefficients of f_n - F E' e_n in (26)
    for n in np.random.default_rng(seed).integers(K, size=steps).tolist():
        g = decoder.gradient_coefficients(state, n) @ f
        moved[query[n]] += f[n] * (g - f[n] * (f[n] @ g))
        A = state.A + eta_Y * np.outer(mix[:, n], decoder.residual(state.W[n], n, one.M))
        state = decoder.DecoderState(one.M, E, A, state.updates)
    beta = attention.coefficients(E, one.M)
    integral = float(attention.clock(one.M, K, eta_Y, 1.0, float(steps)))  # of gamma / K
    printed = integral * attention.velocity(query, f, beta)
    return float((moved * printed).sum() / (printed**2).sum())


# Two classes and three tokens

Weights = tuple[int, ...]
FIRST: Weights = (2, 1, 0)
SECOND: Weights = (1, 4, 4)


def two_classes(first: Weights = FIRST, second: Weights = SECOND) -> SequenceClasses:
    """Two classes of one query with these weights of their tokens."""
    P = np.array([first, second], dtype=np.float64)
    return SequenceClasses(P / P.sum(axis=1, keepdims=True), (0, 0))


@dataclass(frozen=True)
class Weighted:
    """Two classes of one query, in fractions, at Z = 0.

    Attributes:
        first: weights of the tokens in class 1.
        second: weights of the tokens in class 2.
        M: size of the vocabulary.
    """

    first: Weights
    second: Weights
    M: int

    @property
    def name(self) -> str:
        """The instance in words."""
        return f"weights {self.first} and {self.second}, $M = {self.M}$"

    def speed(self, token: int) -> Fraction:
        """Speed of a token, times |p_1| |p_2| / (eta_Z gamma beta).

        With e = f_1 . f_2, (10) gives beta (e (f_1l^2 + f_2l^2) - 2 f_1l f_2l); the norms of the
        two classes appear squared, so that the product is rational.
        """
        inner = sum(a * b for a, b in zip(self.first, self.second, strict=True))
        one, two = sum(a * a for a in self.first), sum(b * b for b in self.second)
        a, b = self.first[token], self.second[token]
        return inner * (Fraction(a * a, one) + Fraction(b * b, two)) - 2 * a * b

    @property
    def squared(self) -> Fraction:
        """(f_1 . f_2)^2; the eigenvalues of E are +-f_1 . f_2."""
        inner = sum(a * b for a, b in zip(self.first, self.second, strict=True))
        norms = sum(a * a for a in self.first) * sum(b * b for b in self.second)
        return Fraction(inner**2, norms)

    def coefficients(self, modified: bool) -> list[Floats]:
        """gamma beta of decoders at times from early on; under (7) early ones only."""
        E = correlations(unit_scores(two_classes(self.first, self.second)))
        times = np.array([0.1, 3.0, 40.0, 1e3]) if modified else np.array([1e-3, 1e-2, 0.1])
        states = decoder.flow(decoder.zero_decoder(self.M, E), 0.5, times, modified)
        both = ([decoder.gradient_coefficients(state, n) for n in (0, 1)] for state in states)
        return [-np.array(one) for one in both]


@dataclass(frozen=True, eq=False)
class Drawn:
    """A random set of two to five classes with several common tokens, at Z = 0."""

    classes: SequenceClasses
    M: int

    def rises(self) -> bool:
        """Whether some common token grows under (10) with Theorem 1's coefficients."""
        f = unit_scores(self.classes)
        moves = attention.velocity(
            self.classes.query, f, attention.coefficients(correlations(f), self.M)
        )
        return bool((moves[0, common_tokens(self.classes)] > 0).any())

    def holds(self) -> bool:
        """Whether Assumption 2 holds as printed."""
        return weak_correlations(correlations(unit_scores(self.classes)), self.M).holds


def common_growing(seed: int = 7, sets: int = 2) -> list[Weighted | Drawn]:
    """The two classes of the proposition in several vocabularies, then random sets to count."""
    return [*growing_weights(), *_drawn(seed, 90 * sets)]


def growing_weights() -> list[Weighted]:
    """The weights of the proposition, from the smallest vocabulary that it allows."""
    return [Weighted(FIRST, SECOND, M) for M in (165, 1000, 10**4, 10**6)]


def too_small() -> list[Weighted]:
    """One token less than the smallest vocabulary."""
    return [Weighted(FIRST, SECOND, 164)]


def more_even() -> list[Weighted]:
    """Weights that satisfy Assumption 2, but have the first token more evenly in both classes."""
    return [Weighted(FIRST, (3, 3, 8), 1000)]


@once
def _drawn(seed: int, draws: int) -> tuple[Drawn, ...]:
    """Random sets of classes with M = 10^6."""
    out = []
    for number in range(draws):
        rng = np.random.default_rng((seed, 3, number))
        K = int(rng.integers(2, 6))
        mass = float(rng.uniform(0.05, 0.6))
        data = random_classes(rng, K, 4 + 2 * K, int(rng.integers(2, 5)), 2, 1, mass)
        out.append(Drawn(data, 10**6))
    return tuple(out)


@once
def paths(last: float = 1e5) -> tuple[attention.AttentionPath, attention.AttentionPath, Floats]:
    """The two classes under (10) and with both layers trained, eta_Y = 1, eta_Z = 1/2, M = 1000.

    Returns:
        both flows, and the steps of batch size 1 at which they are recorded.
    """
    data = two_classes()
    steps = np.concatenate([[0.0], np.geomspace(1, last, 126)])
    clocks = attention.clock(1000, 2, 1.0, 0.5, steps)
    true = attention.coupled_flow(data, 1000, 1.0, 0.5, steps)
    return attention.flow(data, 1000, clocks), true, steps


# Corollary 2

CLOCKS = np.concatenate([[0.0], np.geomspace(1e-2, 1e3, 26)])


@dataclass(frozen=True, eq=False)
class Shared:
    """Classes that share their common tokens, under (10) from Z = 0.

    Attributes:
        name: the instance in words.
        classes: the data.
        M: size of the vocabulary.
        common: number of common tokens, which come first.
        theta: (K,), noise of the numbers of updates, or None for the mean field.
    """

    name: str
    classes: SequenceClasses
    M: int
    common: int
    theta: Floats | None = None

    @cached_property
    def path(self) -> attention.AttentionPath:
        """The flow (10) with Theorem 1's coefficients."""
        return attention.flow(self.classes, self.M, CLOCKS, theta=self.theta)

    def moments(self) -> Iterator[tuple[str, Floats, Floats]]:
        """Each recorded moment: its clock in words, f, and beta."""
        path = self.path
        for place, clock in enumerate(CLOCKS):
            f = path.f(place)
            beta = attention.coefficients(correlations(f), self.M, self.theta)
            yield f"rescaled time {in_words(f'{clock:.3g}')}", f, beta

    def defect(self) -> float:
        """Largest difference of z between distinct tokens that the symmetry identifies."""
        distinct = (self.classes.M - self.common) // self.classes.K
        path = self.path
        z = path.z[:, 0, self.common : self.common + distinct * self.classes.K]
        images = z.reshape(len(path.at), self.classes.K, distinct)
        return float(np.ptp(images, axis=1).max())

    def keeps_window(self) -> bool:
        """Whether Assumption 2 still holds at the end."""
        return weak_correlations(correlations(self.path.f(-1)), self.M).holds


@dataclass(frozen=True, eq=False)
class Moment:
    """Classes that share their common tokens at one Z, with any coefficients.

    Attributes:
        name: the instance in words.
        classes: the data.
        common: number of common tokens, which come first.
        f: (K, columns), the vectors f_n.
        beta: (K, K), coefficients.
    """

    name: str
    classes: SequenceClasses
    common: int
    f: Floats
    beta: Floats

    def moments(self) -> Iterator[tuple[str, Floats, Floats]]:
        """The one moment."""
        yield "any Z", self.f, self.beta


def symmetric(seed: int = 7) -> list[Shared]:
    """Classes as in Corollary 2 that satisfy Assumption 2 at Z = 0, small first."""
    found = []
    for K, M, common, distinct in (
        (2, 200, 2, 1),
        (2, 10**6, 3, 4),
        (3, 10**4, 4, 2),
        (5, 10**5, 4, 6),
        (10, 10**6, 3, 2),
    ):
        rng = np.random.default_rng((seed, 4, K, M))
        w, d = rng.uniform(0.2, 1, size=common), rng.uniform(0.2, 1, size=distinct)
        epsilon = (36 / M) ** 0.25 / (K * (K - 1)) ** 0.5  # between 6 / sqrt(M) and 1 / (K (K - 1))
        w *= (epsilon / (1 - epsilon)) ** 0.5 * np.linalg.norm(d) / np.linalg.norm(w)
        data = layered_classes(list(w), [list(d)] * K, common + K * distinct, (0,) * K)
        found.append(
            Shared(f"$K = {K}$, $M = {M}$, {counted(common, 'common tokens')}", data, M, common)
        )
    return found


def uneven(seed: int = 7, draws: int = 200) -> list[Moment]:
    """(2) and (4) broken: other distinct tokens in each class, random Z, random coefficients."""
    found = []
    for number in range(draws):
        rng = np.random.default_rng((seed, 5, number))
        K = int(rng.integers(2, 8))
        data = layered_classes(
            list(rng.uniform(0.1, 1, size=3)),
            [list(rng.uniform(0.1, 3, size=int(rng.integers(1, 4)))) for _ in range(K)],
            3 + 3 * K,
            (0,) * K,
        )
        f = unit_scores(data, rng.normal(size=(1, data.M)))
        beta = rng.uniform(0.1, 1, size=(K, K))
        found.append(Moment(f"draw {number}, $K = {K}$", data, 3, f, beta))
    return found


def noisy(seed: int = 7) -> list[Shared]:
    """Classes drawn at random: deviations of a tenth, so that the symmetry is approximate."""
    one = symmetric(seed)[2]
    rng = np.random.default_rng(seed)
    return [replace(one, theta=0.1 * rng.normal(size=one.classes.K))]


def two_queries() -> list[Shared]:
    """(1) broken: the third class has a query of its own; strongly correlated classes."""
    data = layered_classes([1.0, 0.5], [[0.1]] * 3, 5, (0, 0, 1))
    return [Shared("two queries", data, 1000, 2)]


def unequal_probabilities() -> list[Shared]:
    """(3) broken: probabilities of the common tokens that depend on the class."""
    data = two_classes((4, 2, 1, 0), (1, 4, 0, 4))
    return [Shared("unequal probabilities", data, 1000, 2)]


@dataclass(frozen=True)
class Chain:
    """Two classes of one query in fractions, for (102) to (106).

    Attributes:
        name: the instance in words.
        common: c~ = P e^z of the common tokens, the same in both classes.
        distinct: for each class c~ of its distinct tokens, in the order of the bijection.
        M: size of the vocabulary.
    """

    name: str
    common: tuple[Fraction, ...]
    distinct: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
    M: int = 10**4

    @property
    def scores(self) -> tuple[tuple[Fraction, ...], ...]:
        """c~ of all tokens of each class."""
        return tuple((*self.common, *own) for own in self.distinct)

    @property
    def overlap(self) -> Fraction:
        """(f_1 . f_2)^2; the eigenvalues of E are +-f_1 . f_2."""
        inner = sum(x * x for x in self.common)
        first, second = (sum(x * x for x in one) for one in self.scores)
        return Fraction(inner**2) / (first * second)


def starting_chains() -> list[Chain]:
    """Classes at Z(0) = 0, where c~ are the probabilities; the fewest tokens come first."""
    third, fifth = Fraction(1, 3), Fraction(1, 5)
    two = (2 * fifth, fifth)
    return [
        Chain("common 1/3, distinct 2/3, $Z(0) = 0$", (third,), ((2 * third,),) * 2),
        Chain("common 1/5 twice, distinct 2/5 and 1/5, $Z(0) = 0$", (fifth, fifth), (two, two)),
    ]


def chains(seed: int = 7, draws: int = 20) -> list[Chain]:
    """Classes at the start, then random ones with the hypotheses (2) and (3) at some Z."""
    found = starting_chains()
    for number in range(draws):
        rng = np.random.default_rng((seed, 11, number))
        weights = [Fraction(int(one), 20) for one in rng.integers(1, 40, size=rng.integers(2, 7))]
        total = sum(weights)
        growth = [Fraction(int(one), 10) for one in rng.integers(5, 20, size=len(weights))]  # e^z
        first, *own = (w / total * g for w, g in zip(weights, growth, strict=True))
        name = f"draw {number}, {len(own) + 1} tokens"
        found.append(Chain(name, (first,), (tuple(own), tuple(own))))
    return found


def heavier() -> list[Chain]:
    """(2) broken: one class has a heavier distinct token."""
    half, third = Fraction(1, 2), Fraction(1, 3)
    return [Chain("unequal", (), ((half, half), (third, 2 * third)))]


# Theorem 3

FAMILIES = (  # K, M, common tokens, distinct tokens of each class
    (2, 100, 1, 2),
    (2, 10**6, 1, 4),
    (3, 1000, 3, 3),
    (5, 10**4, 2, 5),
    (10, 10**5, 1, 3),
    (20, 10**6, 1, 2),
)


@dataclass(frozen=True, eq=False)
class ClassFlow:
    """A flow, and one of its classes.

    Attributes:
        name: the instance in words.
        path: the flow.
        n: the class.
        M: size of the vocabulary.
        fall: whether all common tokens of the class fall at every recorded moment.
    """

    name: str
    path: attention.AttentionPath
    n: int
    M: int
    fall: bool

    @property
    def tokens(self) -> tuple[int, ...]:
        """Distinct tokens of the class, the strongest at the start first."""
        f = self.path.f(0)[self.n]
        return tuple(sorted(distinct_tokens(self.path.classes, self.n), key=lambda x: -float(f[x])))

    @cached_property
    def z(self) -> Floats:
        """(S, M), the row of Z of the query of the class."""
        return self.path.z[:, self.path.classes.query[self.n]]

    @cached_property
    def f(self) -> Floats:
        """(S, M), f_n."""
        return np.array([self.path.f(place)[self.n] for place in range(len(self.path.at))])

    @cached_property
    def moves(self) -> Floats:
        """(S, M), dz over the clock, of the query of the class."""
        return moves_of(self.path, self.M)[:, self.path.classes.query[self.n]]


def run_of(
    name: str, classes: SequenceClasses, M: int, n: int, start: Floats | None = None
) -> ClassFlow:
    """One class under the flow (10), over all of `CLOCKS`."""
    path = attention.flow(classes, M, CLOCKS, start)
    common = [x for x in common_tokens(classes) if classes.probabilities[n, x] > 0]
    fall = bool((moves_of(path, M)[:, classes.query[n], common] < 0).all())
    return ClassFlow(name, path, n, M, fall)


def moves_of(path: attention.AttentionPath, M: int) -> Floats:
    """(S, L, M), dz over the clock along a flow (10)."""
    out = np.zeros_like(path.z)
    for place in range(len(path.at)):
        f = path.f(place)
        beta = attention.coefficients(correlations(f), M)
        out[place] = attention.velocity(path.classes.query, f, beta)
    return out


@once
def runs(seed: int = 7) -> tuple[ClassFlow, ...]:
    """One class of each family, from zero and from a random start, small ones first."""
    small = layered_classes([1], [[2, 1]] * 2, 5, (0, 0))
    found = [run_of("common 1, distinct 2 and 1", small, 100, 0)]
    for K, M, common, distinct in FAMILIES:
        rng = np.random.default_rng((seed, 6, K, M))
        queries = 1 if common > 1 else int(rng.integers(1, 3))
        for start in (False, True):
            data = layered_classes(
                list(rng.uniform(0.2, 1, size=common)),
                [list(rng.uniform(0.2, 1, size=distinct)) for _ in range(K)],
                common + K * distinct,
                [n % queries for n in range(K)],
            )
            z = np.zeros((data.L, data.M))
            z[:, common:] = rng.normal(scale=0.5, size=(data.L, data.M - common)) * start
            initial = "random" if start else "zero"
            name = f"$K = {K}$, $M = {M}$, {counted(common, 'common tokens')}, $Z(0)$ {initial}"
            found.append(run_of(name, data, M, 0, z))
    return tuple(found)


def growing_run() -> list[ClassFlow]:
    """A class with a common token that grows, and so fast that its distinct token loses by it."""
    data = two_classes((20, 5, 1, 0), (1, 6, 0, 6))
    return [run_of("weights (20, 5, 1, 0) and (1, 6, 0, 6)", data, 1000, 0)]


@dataclass(frozen=True)
class Quotient:
    """Two classes of one query, each with two distinct tokens, and a common one, in fractions.

    The unit of speed is eta_Z gamma beta for the one beta of both classes. With norms squared
    everything is rational.

    Attributes:
        first: weight of the dominant token.
        other: weight of the weaker one.
        common: weight of the common token.
        M: size of the vocabulary.
    """

    first: Fraction
    other: Fraction
    common: Fraction = Fraction(1)
    M: int = 10**4

    @property
    def name(self) -> str:
        """The instance in words."""
        own = f"distinct tokens of weights {self.first} and {self.other}"
        return f"two classes, {own} in each, common {self.common}, $Z = 0$"

    @property
    def overlap(self) -> Fraction:
        """f_1 . f_2, which is xi in this unit; the eigenvalues of E are +-f_1 . f_2."""
        return self.common**2 / self._square

    @property
    def _square(self) -> Fraction:
        """The squared norm of the weights of a class."""
        return self.first**2 + self.other**2 + self.common**2

    def speeds(self) -> tuple[Fraction, Fraction, Fraction]:
        """dz/dt of the dominant, the weaker and the common token by (10), summed over classes."""
        a, b, c = (x**2 / self._square for x in (self.first, self.other, self.common))
        e = self.overlap
        # a term of (10) is f_nl (f_n . f_n' f_nl - f_n'l): f_n'l is 0 or f_nl
        return a * e, b * e, 2 * (c * e - c)

    def formula(self) -> Fraction:
        """r(0) dz/dt of the dominant token, r = (f / f')^2 - 1."""
        return ((self.first / self.other) ** 2 - 1) * self.speeds()[0]

    def slope(self) -> Fraction:
        """dr/dt = 2 (f / f')^2 (dz/dt - dz'/dt)."""
        dominant, weaker, _ = self.speeds()
        return 2 * (self.first / self.other) ** 2 * (dominant - weaker)


def quotients() -> list[Quotient]:
    """Pairs of weights, small ones first."""
    return [Quotient(Fraction(a), Fraction(b)) for a, b in ((2, 1), (3, 1), (3, 2))]


def small_and_runs(seed: int = 7) -> list[Quotient | ClassFlow]:
    """Two tokens in fractions, then flows."""
    return [*quotients(), *runs(seed)]


@once
def both_layers(eta_Z: float = 0.5, time: float = 1e4) -> tuple[ClassFlow, ...]:
    """Three classes with both layers trained, by (7) and (4): no path of (10)."""
    data = layered_classes([1.0], [[1.0, 0.7, 0.4]] * 3, 10, (0, 0, 0))
    times = np.concatenate([[0.0], np.geomspace(1, time, 21)])
    path = attention.coupled_flow(data, 1000, 1.0, eta_Z, times)
    return (ClassFlow(rf"both layers, $\eta_Z = {eta_Z}$", path, 0, 1000, True),)


def both_layers_trained() -> tuple[ClassFlow, ...]:
    """The same as a planted error of (11)."""
    return both_layers()


def both_layers_at_equal_rates() -> tuple[ClassFlow, ...]:
    """The same at equal rates and for longer, where entropy has turned back."""
    data = layered_classes([1.0], [[0.3, 0.6, 1.0]] * 3, 10, (0, 0, 0))
    times = np.concatenate([[0.0], np.geomspace(1, 1e7, 31)])
    path = attention.coupled_flow(data, 12, 1.0, 1.0, times)
    return (ClassFlow("both layers, equal rates", path, 0, 12, True),)


def defect_of_11(eta_Z: float, time: float = 1e4) -> float:
    """The largest relative error of (11) for two distinct tokens where both layers are trained."""
    (run,) = both_layers(eta_Z, time)
    worst = 0.0
    for first in run.tokens:
        for other in (token for token in run.tokens if token != first):
            gain = attention.relative_gain(run.f, first, other)
            closed = gain[0] * attention.growth(run.z[:, first], 0.0)
            worst = max(worst, float(np.abs(gain / closed - 1).max()))
    return worst


def from_zero(seed: int = 7) -> list[ClassFlow]:
    """The runs that start at Z = 0 and have three distinct tokens or more."""
    return [run for run in runs(seed) if not run.path.z[0].any() and len(run.tokens) > 2]


def with_a_bonus() -> list[ClassFlow]:
    """Z(0) not zero: the rarest of three distinct tokens starts in the second place."""
    return [_favored("a bonus", 0.8)]


def frequent_common() -> list[ClassFlow]:
    """Classes whose most frequent token is common to both."""
    data = layered_classes([3], [[2, 1]] * 2, 5, (0, 0))
    return [run_of("common 3, distinct 2 and 1", data, 10**4, 0)]


def with_a_large_bonus() -> list[ClassFlow]:
    """Z(0) not zero: the rarest of three distinct tokens starts in the first place."""
    return [_favored("a large bonus", 1.5)]


def _favored(name: str, logit: float) -> ClassFlow:
    """A run where the rarest of three distinct tokens starts with this logit, the others at 0."""
    data = layered_classes([1.0], [[1.0, 0.7, 0.4]] * 2, 7, (0, 0))
    start = np.zeros((1, 7))
    start[0, 3] = logit
    return run_of(name, data, 100, 0, start)


@dataclass(frozen=True, eq=False)
class Start:
    """Two distinct tokens of one class, P of the first larger by a tenth, and their start.

    Attributes:
        first: z(0) of the first token.
        second: z(0) of the second one.
        P: (2,), their probabilities.
        z: (S, 2), their paths under (10).
    """

    first: float
    second: float
    P: Floats
    z: Floats

    @property
    def name(self) -> str:
        """The instance in words."""
        return f"z(0) = ({self.first:.3g}, {self.second:.3g})"


def starts(seed: int = 7, sets: int = 2) -> list[Start]:
    """Starts that fluctuate around zero, the first two favouring either token."""
    drawn = np.random.default_rng((seed, 8)).normal(scale=0.3, size=(5 * sets, 2))
    pairs: Sequence[tuple[float, float]] = [(0.0, 0.0), (0.0, 0.2), *map(tuple, drawn.tolist())]
    return [start_of(first, second) for first, second in pairs]


def start_of(first: float, second: float) -> Start:
    """The flow (10) from this start."""
    data = layered_classes([1.0], [[1.1, 1.0], [1.0, 0.5]], 5, (0, 0))
    start = np.zeros((1, 5))
    start[0, 1:3] = first, second
    z = attention.flow(data, 1000, CLOCKS, start).z[:, 0, 1:3]
    return Start(first, second, data.probabilities[0, 1:3], z)
