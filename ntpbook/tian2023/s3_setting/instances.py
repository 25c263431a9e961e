"""What the checks of the setting compare on: layers, sequences, classes, lengths of contexts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.enclosure import exact
from ntpbook.shared.ends import upper
from ntpbook.tian2023.s3_setting import counts
from ntpcore.tian2023 import classes as families
from ntpcore.tian2023 import layer, population
from ntpcore.tian2023.classes import SequenceClasses
from ntpcore.tian2023.layer import Embedded, Sample
from ntpverdicts.once import once

Floats = NDArray[np.float64]

# Layers and sequences


@dataclass(frozen=True, eq=False)
class Layer:
    """A random layer with embeddings and a random sequence."""

    name: str
    net: Embedded
    sample: Sample

    @property
    def M(self) -> int:
        """Size of the vocabulary."""
        return len(self.net.U)


def random_layers(seed: int = 7, cases: int = 120) -> Iterator[Layer]:
    """Embeddings of dimension below and above M, with contexts of 1 to 127 tokens."""
    sizes, lengths = ((3, 2), (5, 8), (20, 6), (20, 40)), (1, 3, 17, 127)
    for number in range(cases):
        rng = np.random.default_rng((seed, number))
        (M, d), length = sizes[number % 4], lengths[number // 4 % 4]
        where = f"$M = {M}$, $d = {d}$, contextual tokens: {length}, case {number}"
        yield Layer(where, layer.random_embedded(rng, M, d), layer.random_sample(rng, M, length))


@dataclass(frozen=True, eq=False)
class Embedding:
    """Embeddings U as rows, (M, d), and a vector of attention v, (M,)."""

    name: str
    U: Floats
    v: Floats
    orthonormal: bool


def embeddings(seed: int = 7, cases: int = 60, draws: int = 50) -> Iterator[Embedding]:
    """Orthonormal embeddings of up to 60 tokens, then Gaussian ones of 60 tokens."""
    rng = np.random.default_rng(seed)
    for number in range(cases):
        M = (2, 5, 20, 60)[number % 4]
        d = M + (0, 7)[number % 2]
        U = np.linalg.qr(rng.normal(size=(d, M)))[0].T
        v = rng.dirichlet(np.full(M, 0.3)) + 1e-9
        yield Embedding(f"$M = {M}$, $d = {d}$, orthonormal, case {number}", U, v, True)
    # two embeddings of length 1 with the inner product 1/10: their sum is the extreme direction
    U, v = np.array([[1.0, 0.0], [0.1, math.sqrt(0.99)]]), np.array([0.5, 0.5])
    yield Embedding("M = 2, d = 2, inner product 1/10", U, v, False)
    for d in (16, 64, 256, 1024):
        for number in range(draws):
            U = rng.normal(size=(60, d)) / np.sqrt(d)
            v = rng.dirichlet(np.full(60, 0.3))
            yield Embedding(f"$M = 60$, $d = {d}$, Gaussian, case {number}", U, v, False)


@dataclass(frozen=True, eq=False)
class Weighted:
    """A random sequence with random tables Y and Z, (M, M) each."""

    name: str
    sample: Sample
    Y: Floats
    Z: Floats
    seed: tuple[int, int]

    @property
    def M(self) -> int:
        """Size of the vocabulary."""
        return len(self.Y)


def small_tables(seed: int = 7, cases: int = 200) -> Iterator[Weighted]:
    """Up to eight tokens and twelve positions, entries of sizes from 0.1 to 3."""
    for number in range(cases):
        rng = np.random.default_rng((seed, number))
        M, length = 2 + number % 7, 1 + number % 12
        sample, heat = layer.random_sample(rng, M, length), (0.1, 1.0, 3.0)[number % 3]
        name = f"$M = {M}$, contextual tokens: {length}, case {number}"
        Y, Z = heat * rng.normal(size=(2, M, M))
        yield Weighted(name, sample, Y, Z, (seed, number))


def large_tables(seed: int = 7, cases: int = 60) -> Iterator[Weighted]:
    """Up to eighty tokens and six hundred positions."""
    for number in range(cases):
        rng = np.random.default_rng((seed, number))
        M, length = (5, 20, 80)[number % 3], (1, 10, 100, 600)[number % 4]
        sample = layer.random_sample(rng, M, length)
        name = f"$M = {M}$, contextual tokens: {length}, case {number}"
        Y, Z = rng.normal(size=(2, M, M))
        yield Weighted(name, sample, Y, Z, (seed, number))


# Training, for the sums that it conserves


@dataclass(frozen=True)
class Training:
    """A random run of forty steps from zero, by its number."""

    seed: int
    number: int

    @property
    def name(self) -> str:
        """The number in words."""
        return f"run {self.number}"


def trainings(seed: int = 7, runs: int = 20) -> Iterator[Training]:
    """Runs on sequences of random tokens."""
    return (Training(seed, number) for number in range(runs))


@once
def trained(run: Training, rule: str, steps: int = 40, M: int = 6) -> tuple[Floats, Floats]:
    """Y and Z after some steps of batch size 1 from zero, on sequences of random tokens.

    Args:
        run: what is drawn.
        rule: "gradient", "momentum" (0.9, as in the authors' code) or "adam".
        steps: number of steps.
        M: size of the vocabulary.

    Raises:
        ValueError: the rule is unknown.
    """
    if rule not in ("gradient", "momentum", "adam"):
        raise ValueError(f"{rule!r} is no rule; choose gradient, momentum or adam")
    rng, weights = np.random.default_rng((run.seed, run.number)), np.zeros((2, M, M))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for t in range(1, steps + 1):
        g = np.array(layer.gradients(layer.random_sample(rng, M, 8), weights[0], weights[1]))
        if rule == "gradient":
            weights += 0.5 * g
        elif rule == "momentum":
            first = 0.9 * first + g
            weights += 0.5 * first
        else:
            first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
            scaled = (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
            weights += 0.1 * scaled
    return weights[0], weights[1]


# Classes of sequences


@dataclass(frozen=True, eq=False)
class Named:
    """Classes with a name."""

    name: str
    classes: SequenceClasses
    seed: int = 7


def collection(seed: int = 7, random: int = 30) -> list[Named]:
    """Classes of every family that the book uses, small ones first.

    Args:
        seed: of the random classes.
        random: number of random classes.
    """
    found = [
        Named("two equicorrelated classes", families.equicorrelated_classes(2, 5, 0.3), seed),
        Named("ten equicorrelated classes", families.equicorrelated_classes(10, 50, 0.05), seed),
        Named("four paired classes", families.paired_classes(4, 12, 0.2), seed),
        Named("Syn-Small", families.synthetic_classes(2, 1), seed),
    ]
    for L in (1, 3, 5, 10):
        found.append(Named(f"Syn-Medium, $L = {L}$", families.synthetic_classes(L, 2), seed))
    for number in range(random):
        rng = np.random.default_rng((seed, number))
        K = int(rng.integers(2, 7))
        common, distinct = int(rng.integers(1, 9)), int(rng.integers(1, 4))
        queries = int(rng.integers(1, K + 1))
        one = families.random_classes(rng, K, 40, common, distinct, queries)
        found.append(Named(f"random classes {number}, $K = {K}$", one, seed))
    return found


def disjoint() -> list[Named]:
    """Two classes without a shared token."""
    p = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    return [Named("disjoint classes", SequenceClasses(p, (0, 0)))]


# Long sequences

LENGTHS = (100, 1000, 10**4, 10**5, 10**6)  # numbers of contextual tokens


@dataclass(frozen=True, eq=False)
class Long:
    """A random class with random scores.

    Attributes:
        P: (M,), probabilities of its contextual tokens.
        z: (M,), scores.
        seed: of the sequences.
        samples: how many sequences of each length.
    """

    P: Floats
    z: Floats
    seed: tuple[int, int]
    samples: int

    @property
    def name(self) -> str:
        """Its size and number."""
        return f"class {self.seed[1]} of {len(self.P)} tokens"


def long_sequences(seed: int = 7, samples: int = 2000) -> list[Long]:
    """Classes of 3 to 100 tokens."""
    found = []
    for number, M in enumerate((3, 5, 30, 30, 100)):
        rng = np.random.default_rng((seed, number))
        found.append(Long(rng.dirichlet(np.ones(M)), rng.normal(size=M), (seed, number), samples))
    return found


@once
def distances(one: Long, drift: float = 0.0) -> tuple[Floats, Floats]:
    """Mean of |X^T b - c|_1 at each of `LENGTHS`, and its standard errors.

    Args:
        one: the class.
        drift: share of positions filled with token 0, as the class would not.
    """
    rng = np.random.default_rng(one.seed)
    drawn = (1 - drift) * one.P + drift * np.eye(len(one.P))[0]
    e, means, errors = np.exp(one.z), [], []
    for length in LENGTHS:
        q = rng.multinomial(length, drawn, size=one.samples) / length
        c = one.P * e / (one.P @ e)
        found = np.abs(q * e / (q @ e)[:, None] - c).sum(axis=1)
        means.append(float(found.mean()))
        errors.append(float(found.std(ddof=1)) / math.sqrt(one.samples))
    return np.array(means), np.array(errors)


def context_distance(
    rng: np.random.Generator, one: SequenceClasses, length: int, samples: int
) -> float:
    """Mean of |X^T b - c|_1 over contexts of the first class, at Z = 0."""
    counted = families.draw_counts(rng, one, 0, samples, length)
    return float(np.abs(counted / length - one.probabilities[0]).sum(axis=1).mean())


@once
def decoder_time_movement(ratio: float, M: int = 1000, K: int = 4) -> float:
    """How far the f_n move while the decoder reaches an error of one half.

    Args:
        ratio: eta_Y / eta_Z.
        M: size of the vocabulary.
        K: number of equicorrelated classes.
    """
    one = families.equicorrelated_classes(K, K + 1, 0.3)
    data = population.of_classes(one, M=M)
    times = np.geomspace(1, 100 * K, 120)
    states = population.flow(data, population.start(data), 1.0, 1 / ratio, times)
    before = population.inputs(data, population.scores(data, population.start(data).z))
    likelihoods = np.array([population.log_likelihood(data, state) for state in states])
    half = int(np.argmax(likelihoods > np.log(0.5)))
    after = population.inputs(data, population.scores(data, states[half].z))
    return float(np.linalg.norm(after - before, axis=2).max())


# Counts of tokens: Lemma 18


def _many(length: int) -> str:
    """A number of contextual tokens in words."""
    return f"{length} contextual token" + ("" if length == 1 else "s")


DELTAS = (0.9, 0.5, 0.1, 0.01, 1e-4, 1e-8)


@dataclass(frozen=True)
class Strays:
    """One token of probability p in contexts of some length, with an allowed failure delta."""

    length: int
    delta: float
    p: float

    @property
    def name(self) -> str:
        """All three in words."""
        return rf"{_many(self.length)}, $\delta = {self.delta:g}$, $P = {self.p:g}$"


@dataclass(frozen=True)
class Together:
    """Equally likely tokens, all of which are to keep within the radius of Lemma 18."""

    length: int
    tokens: int

    @property
    def name(self) -> str:
        """Both in words."""
        return f"{_many(self.length)}, vocabulary of {self.tokens} equally likely tokens"


@dataclass(frozen=True)
class Written:
    """A random sequence and a random vector h."""

    seed: int
    number: int

    @property
    def name(self) -> str:
        """The number in words."""
        return f"sequence {self.number}"

    def drawn(self) -> tuple[tuple[int, ...], Floats]:
        """The tokens, and the vector h."""
        rng = np.random.default_rng((self.seed, self.number))
        M, length = int(rng.integers(2, 9)), int(rng.integers(1, 200))
        tokens = tuple(rng.integers(M, size=length).tolist())
        return tokens, rng.normal(size=M)


def written(seed: int = 7, cases: int = 60) -> Iterator[Written]:
    """Sequences of up to eight tokens and 199 positions."""
    return (Written(seed, number) for number in range(cases))


@dataclass(frozen=True)
class Far:
    """A share of a token of probability p that is this far from p, or farther."""

    length: int
    p: float
    distance: float

    @property
    def name(self) -> str:
        """All three in words."""
        return f"{_many(self.length)}, $P = {self.p:g}$, $t = {self.distance:.3g}$"

    def chance(self) -> float:
        """P(|q - p| >= distance), by the binomial law."""
        return counts.token_failure(self.length, self.p, self.distance * (1 - 1e-12))


def distances_of_shares() -> Iterator[Far]:
    """Distances of up to about nine standard deviations of a fair coin."""
    for length, p in product((1, 2, 10, 127, 10**4, 10**6), (1e-3, 0.1, 0.5, 0.9)):
        for exponent in (0.01, 0.5, 2.0, 8.0, 40.0):  # 2 (T - 1) t^2
            distance = math.sqrt(exponent / (2 * length))
            if distance <= 1:
                yield Far(length, p, distance)


Counted = Strays | Together | Written


def counted(seed: int = 7, cases: int = 60) -> Iterator[Counted]:
    """Single tokens, sequences for the identities, and equally likely tokens together."""
    lengths = (1, 2, 5, 10, 50, 127, 1000, 10**4, 10**6)
    chances = (1e-6, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.99)
    yield from (Strays(*one) for one in product(lengths, DELTAS, chances))
    yield from written(seed, cases)
    for length in [*range(1, 31), 40, 80, 127]:
        yield from (Together(length, tokens) for tokens in [*range(2, 41), 50, 100, 1000])


@once
def is_violated(one: Together) -> bool:
    """Whether equally likely tokens break Lemma 18's radius for all tokens at once.

    Every distance that is attained is tried, with the delta whose radius it is.
    """
    p = 1 / one.tokens
    for k in range(one.length + 1):
        distance = abs(k / one.length - p)
        delta = 2 * math.exp(-2 * one.length * distance**2)
        if delta >= 1:
            continue
        # a distance that is reached but not allowed: the radius just below it
        failure = counts.even_failure(one.length, one.tokens, distance - 1e-12)
        if failure > delta + 1e-9:  # failure is one minus a probability
            return True
    return False


def enclosed_failure(length: int, tokens: int, delta: Fraction) -> Fraction:
    """A lower bound of P(some token strays by more than Lemma 18's radius), in exact arithmetic.

    The radius is rounded up from its ball, so that fewer sequences stray.
    """
    radius = upper((exact(2 / delta).log() / (2 * length)).sqrt())
    return counts.joint_failure(length, [Fraction(1, tokens)] * tokens, radius)


@dataclass(frozen=True)
class Distribution:
    """Contexts of some length from tokens with weights, and an allowed failure delta.

    Attributes:
        parts: weights of the tokens; empty for equally likely ones.
        tokens: their number.
    """

    length: int
    delta: float
    tokens: int
    parts: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """All of it in words."""
        what = f"chances {self.parts}" if self.parts else f"{self.tokens} equally likely"
        return rf"{_many(self.length)}, {what}, $\delta = {self.delta:g}$"

    def failure(self, radius: float) -> float:
        """Probability that some token strays by more than the radius, from the multinomial law."""
        if self.parts == (1, 1):  # both stray together
            return counts.token_failure(self.length, 0.5, radius)
        if not self.parts:
            return counts.even_failure(self.length, self.tokens, radius)
        p = [Fraction(part, sum(self.parts)) for part in self.parts]
        return float(counts.joint_failure(self.length, p, Fraction(radius)))


def distributions(largest: int = 12) -> Iterator[Distribution]:
    """Equally likely tokens, up to a thousand; then uneven ones, in contexts of up to `largest`."""
    for length, tokens in product((1, 2, 3, 8, 50, 127, 500), (1, 2, 3, 10, 100, 1000)):
        yield from (Distribution(length, delta, tokens) for delta in DELTAS)
    for length, parts in product((1, 2, 5, largest), ((1, 1), (1, 2, 3), (8, 1, 1, 1, 1))):
        yield from (Distribution(length, delta, len(parts), parts) for delta in DELTAS)
    yield Distribution(2000, 1e-12, 2, (1, 1))  # two tokens that stray together: nearly tight
