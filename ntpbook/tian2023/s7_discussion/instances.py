"""Runs of the coupled dynamics for the claims of the abstract, of Sections 1, 5, 7 and 9."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s7_discussion import enclosed_steps
from ntpcore.tian2023 import classes as families
from ntpcore.tian2023 import population
from ntpcore.tian2023.classes import SequenceClasses
from ntpcore.tian2023.population import HeadWeights, Population
from ntpverdicts.once import once

Floats = NDArray[np.float64]

VOCABULARY = 1000  # size of the vocabulary of outputs in all runs
TIMES = tuple(np.geomspace(1.0, 1e8, 33).tolist())  # expected steps, four times in a decade
LATER = tuple(np.geomspace(1.0, 1e12, 49).tolist())

# Trajectories


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The coupled flow of Y and Z on long sequences, from zero.

    Attributes:
        name: the classes and the ratio of the learning rates.
        classes: the data.
        data: the same as rows of a population.
        ratio: eta_Y / eta_Z, with eta_Y = 1.
        times: (S + 1,), 0 first.
        states: the weights at these times.
    """

    name: str
    classes: SequenceClasses
    data: Population
    ratio: float
    times: Floats
    states: tuple[HeadWeights, ...]

    @property
    def c(self) -> Floats:
        """(S + 1, K, M): the attention scores of the classes at all times."""
        return np.array([population.scores(self.data, state.z)[0] for state in self.states])

    @property
    def z(self) -> Floats:
        """(S + 1, L, M): rows of Z at all times."""
        return np.array([state.z[0] for state in self.states])

    @property
    def common(self) -> list[int]:
        """The common tokens."""
        return list(families.common_tokens(self.classes))

    def distinct(self, n: int) -> list[int]:
        """The distinct tokens of class n, rare ones first."""
        tokens = families.distinct_tokens(self.classes, n)
        return sorted(tokens, key=lambda x: float(self.classes.probabilities[n, x]))

    def shares(self, n: int) -> Floats:
        """(S + 1, D): how the attention on the distinct tokens of class n is split among them."""
        part = self.c[:, n, self.distinct(n)]
        return np.asarray(part / part.sum(axis=1, keepdims=True))

    def with_scores(self, factor: Floats | float) -> Trajectory:
        """The same run with all scores multiplied, by a number or by one for each time: planted."""
        factors = np.broadcast_to(np.asarray(factor, dtype=float), self.times.shape)
        pairs = zip(self.states, factors, strict=True)
        return replace(self, states=tuple(HeadWeights(one.Y, float(x) * one.z) for one, x in pairs))


def trajectory(
    name: str, classes: SequenceClasses, ratio: float, times: tuple[float, ...] = TIMES
) -> Trajectory:
    """The flow with eta_Y = 1 and eta_Z = 1 / ratio.

    Args:
        name: what to call the classes.
        classes: the data, without tokens that never occur.
        ratio: eta_Y / eta_Z.
        times: when to record.
    """
    data = population.of_classes(classes, M=VOCABULARY)
    first, at = population.start(data), np.array(times)
    states = population.flow(data, first, 1.0, 1 / ratio, at)
    where = rf"{name}, $\eta_Y/\eta_Z = {ratio:g}$"
    return Trajectory(where, classes, data, ratio, np.append(0.0, at), (first, *states))


def symmetric(K: int) -> SequenceClasses:
    """One common token of weight 1 and distinct tokens of weights 0.3, 0.5, 0.7, 1 per class."""
    return families.layered_classes([1.0], [[0.3, 0.5, 0.7, 1.0]] * K, 1 + 4 * K, [0] * K)


def irregular(seed: int, number: int) -> SequenceClasses:
    """Random classes of one query: one to three common and three distinct tokens each."""
    rng = np.random.default_rng((seed, number))
    K = int(rng.integers(2, 5))
    one = families.random_classes(rng, K, 40, 1 + number % 3, 3)
    return SequenceClasses(one.probabilities[:, one.probabilities.sum(axis=0) > 0], one.query)


RISING = (
    (1, 0, 1, 2, 0, 0, 0, 0),
    (3, 4, 0, 0, 1, 3, 0, 0),
    (0, 6, 0, 0, 0, 0, 1, 3),
)  # weights of three classes with two common tokens, which gain together in the first
DISORDERED = (
    (1, 1, 3, 0, 0),
    (4, 0, 0, 1, 2),
)  # weights of two classes with one common token; the rarer distinct token of the second leads


def weighted(weights: tuple[tuple[int, ...], ...]) -> SequenceClasses:
    """Classes of one query with these weights of tokens."""
    p = np.array(weights, dtype=float)
    return SequenceClasses(p / p.sum(axis=1, keepdims=True), (0,) * len(weights))


@once
def collection(
    seed: int = 7, random: int = 8, times: tuple[float, ...] = TIMES
) -> tuple[Trajectory, ...]:
    """Symmetric and random classes, each with the ratios 10 and 100 of the learning rates."""
    data = [(f"{K} symmetric classes", symmetric(K)) for K in (2, 3)]
    data += [(f"random classes {number}", irregular(seed, number)) for number in range(random)]
    return tuple(trajectory(name, one, x, times) for name, one in data for x in (10.0, 100.0))


@once
def example(weights: tuple[tuple[int, ...], ...], ratio: float) -> Trajectory:
    """One of the two examples of the page."""
    return trajectory(f"our example of {len(weights)} classes", weighted(weights), ratio)


def flows(seed: int = 7, random: int = 8) -> list[Trajectory]:
    """The collection, and the example whose common tokens gain in one class."""
    return [*collection(seed, random), example(RISING, 100.0)]


def ordered_flows(seed: int = 7, random: int = 8) -> list[Trajectory]:
    """The collection, and the example whose rarer distinct token leads."""
    return [*collection(seed, random), example(DISORDERED, 10.0)]


def late_flows(seed: int = 7, random: int = 8) -> list[Trajectory]:
    """The collection and those of the next two seeds, to a million million steps."""
    return [run for k in range(3) for run in collection(seed + k, random, LATER)]


# Two ways to train the classes of which one loses


@dataclass(frozen=True, eq=False)
class ScoresOverTime:
    """Scores of the distinct tokens of one class at some times, rare ones first.

    Attributes:
        name: classes and method.
        short: what the method is called in results.
        times: (S,), when.
        scores: (S, D); upper ends where they are enclosed.
        room: what a score must lie below 0, which is no score but rounding; 0 if it is enclosed.
    """

    name: str
    short: str
    times: Floats
    scores: Floats
    room: float = 1e-4


def distinct_losers(steps: int = 20_000, certain: int = 300) -> Iterator[ScoresOverTime]:
    """Our two classes, by plain gradient steps, some in balls, and by the flow, ratio 10.

    Both scores fall below 0 within the first three hundred steps and go on falling.
    """
    yield _in_balls("the two classes of our example", DISORDERED, certain)
    yield from _trained_twice(example(DISORDERED, 10.0), steps)


def symmetric_gainers(steps: int = 20_000, certain: int = 30) -> Iterator[ScoresOverTime]:
    """Two classes that are alike but for their tokens."""
    weights = ((10, 3, 5, 7, 10, 0, 0, 0, 0), (10, 0, 0, 0, 0, 3, 5, 7, 10))
    yield _in_balls("two symmetric classes", weights, certain)
    yield from _trained_twice(trajectory("two symmetric classes", symmetric(2), 10.0), steps // 10)


@once
def _in_balls(name: str, weights: tuple[tuple[int, ...], ...], steps: int) -> ScoresOverTime:
    """The scores of class 1 after gradient steps in ball arithmetic, rates 1 and 1/10."""
    rows = [[Fraction(weight, sum(row)) for weight in row] for row in weights]
    own = [token for token, weight in enumerate(weights[1]) if weight and not weights[0][token]]
    rates = Fraction(1), Fraction(1, 10)
    with enclosed_steps.bits(7 * steps + 64):
        z = enclosed_steps.scores_after(rows, (0, 0), (), VOCABULARY - 2, rates, steps)[0]
        ends = np.array([[enclosed_steps.above(z[token]) for token in own]])
    return ScoresOverTime(
        f"{name}, {steps} steps in ball arithmetic",
        "balls",
        np.array([float(steps)]),
        ends,
        0.0,
    )


def _trained_twice(run: Trajectory, steps: int) -> Iterator[ScoresOverTime]:
    """The scores of class 1 from its first late times on, and after gradient steps."""
    tokens = run.distinct(1)
    late = run.times >= 1e4
    yield ScoresOverTime(f"{run.name}, flow", "flow", run.times[late], run.z[late][:, 0, tokens])
    state = population.descend(run.data, population.start(run.data), 1.0, 1 / run.ratio, steps)
    found = state.z[0, 0][tokens][None]
    yield ScoresOverTime(f"{run.name}, {steps} steps", "steps", np.array([float(steps)]), found)


# No winner: equation (10) on its clock


@dataclass(frozen=True)
class SymmetricUnder10:
    """K classes with one common token and two distinct ones, the leader twice as frequent.

    Attributes:
        K: number of classes.
        epsilon: f_n . f_n' at the start, below 1.
        ratio: eta_Y / eta_Z.
    """

    K: int
    epsilon: float
    ratio: float

    @property
    def name(self) -> str:
        """All of it in words."""
        return rf"{self.K} symmetric classes under (10), $f_n^\top f_{{n'}} = {self.epsilon:g}$"

    @property
    def P(self) -> Floats:
        """Weights of the common token, the leader and the other distinct token."""
        own = np.array([2.0, 1.0])
        return np.append(math.sqrt(self.epsilon / (1 - self.epsilon) * float(own @ own)), own)

    def share(self, z: Floats) -> float:
        """Share of the leader among the distinct tokens of its class."""
        c = self.P * np.exp(z - z.max())
        return float(c[1] / (c[1] + c[2]))


def scores_under_10(one: SymmetricUnder10, logs: Floats) -> Floats:
    """(S, 3): scores of the three kinds of tokens when the clock Gamma is exp(logs).

    With the clock Gamma = eta_Z int gamma dt the right-hand side of (10) has no time in it; M is
    large, Theta and sigma are zero.
    """
    from ntpcore.tian2023.integrate import states_at

    K = one.K

    def slope(u: float, z: Floats) -> Floats:
        c = one.P * np.exp(z - z.max())
        f2 = c**2 / (c @ c)
        e = f2[0]  # f_n . f_n'
        beta = e / ((1 - e) * (1 + (K - 1) * e))  # E' of equal correlations
        xi = (K - 1) * beta * e
        return np.asarray(math.exp(u) * xi * np.array([-K * (1 - e), f2[1], f2[2]]))

    start = np.zeros(3)
    return states_at(logs, slope, start, relative=1e-9, absolute=1e-11, begin=-10.0)


def log_time(one: SymmetricUnder10, log_clock: float) -> float:
    """ln t at a late value of the clock: Gamma = (eta_Z/eta_Y)(K/2) ln^2 t, equation (128)."""
    return math.exp(0.5 * (log_clock + math.log(2 * one.ratio / one.K)))


def takeover_log_time(one: SymmetricUnder10, share: float) -> float:
    """ln t at which the leader has this share, under (10); on a grid of the clock, interpolated.

    Raises:
        ArithmeticError: the share is not reached before the clock is e^600.
    """
    logs = np.linspace(-9.0, 600.0, 6091)
    shares = np.array([one.share(z) for z in scores_under_10(one, logs)])
    if not shares[-1] > share:
        raise ArithmeticError(f"the share {share} is not reached before Gamma = e^600")
    return log_time(one, float(np.interp(share, shares, logs)))


# Heads

COMPARABLE = (1.0, 0.95, 0.9, 0.85)  # weights of the distinct tokens of each class


@dataclass(frozen=True)
class Heads:
    """Heads that are trained together from random scores.

    Attributes:
        number: number of heads, whose logits are added.
        spread: standard deviation of the scores at the start.
        seed: of the start.
    """

    number: int
    spread: float
    seed: tuple[int, int]

    @property
    def name(self) -> str:
        """Spread and number of the start."""
        return f"spread {self.spread:g}, start {self.seed[1]}"

    @property
    def start(self) -> Floats:
        """(H, 1, M): scores at the start."""
        M = 1 + 2 * len(COMPARABLE)
        return self.spread * np.random.default_rng(self.seed).normal(size=(self.number, 1, M))


def head_classes() -> SequenceClasses:
    """Two classes with one common token and four distinct ones of comparable weights each."""
    count = len(COMPARABLE)
    return families.layered_classes([0.6], [COMPARABLE] * 2, 1 + 2 * count, [0, 0])


def head_starts(seed: int = 7, heads: int = 6) -> Iterator[Heads]:
    """Three spreads with three starts each."""
    for spread in (0.1, 0.3, 1.0):
        yield from (Heads(heads, spread, (seed, number)) for number in range(3))


def equal_starts() -> Iterator[Heads]:
    """Heads that all start from zero."""
    yield Heads(6, 0.0, (7, 0))


@once
def trained_heads(one: Heads, time: float = 1e5) -> Floats:
    """(H, 1, M): scores after training all heads together."""
    data = population.of_classes(head_classes(), M=VOCABULARY)
    first = population.start(data, one.start)
    return population.flow(data, first, 1.0, 0.1, np.array([time]))[0].z


def winners(classes: SequenceClasses, z: Floats) -> list[tuple[int, ...]]:
    """For each head the place of the leading distinct token in each class.

    Args:
        classes: the data, with the common tokens first.
        z: (H, L, M), scores.
    """
    tokens = [list(families.distinct_tokens(classes, n)) for n in range(classes.K)]
    c = population.scores(population.of_classes(classes), z)
    return [tuple(int(np.argmax(head[n, own])) for n, own in enumerate(tokens)) for head in c]


def smallest_lead(classes: SequenceClasses, z: Floats) -> float:
    """The least distance of the two largest attentions on distinct tokens of a class and head."""
    c = population.scores(population.of_classes(classes), z)
    leads = []
    for n in range(classes.K):
        two = np.sort(c[:, n, list(families.distinct_tokens(classes, n))], axis=1)[:, -2:]
        leads.append(float((two[:, 1] - two[:, 0]).min()))
    return min(leads)


# Positions


@dataclass(frozen=True)
class Biased:
    """A random sequence with a bias at each position, by its number."""

    seed: int
    number: int

    @property
    def name(self) -> str:
        """The number in words."""
        return f"sequence {self.number}"


@dataclass(frozen=True)
class Decaying:
    """Independent tokens with a bias of -slope for each step back."""

    seed: int
    slope: float
    length: int
    short: str

    @property
    def name(self) -> str:
        """Slope and length in words."""
        return f"{self.length} tokens, bias {-self.slope:g} per step back"


def biased(seed: int = 7, cases: int = 80) -> Iterator[Biased | Decaying]:
    """Sequences of 1 to 200 tokens, and contexts that a bias shortens."""
    yield from (Biased(seed, number) for number in range(cases))
    for slope, length, short in ((0.1, 1000, "near"), (0.1, 10000, "far"), (0.0, 10000, "flat")):
        yield Decaying(seed, slope, length, short)


def decayed_distance(one: Decaying, samples: int = 60) -> float:
    """Mean of |X^T b - c|_1 for independent tokens with this bias, at Z = 0."""
    rng = np.random.default_rng((one.seed, one.length))
    P = rng.dirichlet(np.ones(10))
    weights = np.exp(-one.slope * np.arange(one.length)[::-1])
    weights /= weights.sum()
    total = 0.0
    for _ in range(samples):
        q = np.bincount(rng.choice(10, size=one.length, p=P), weights=weights, minlength=10)
        total += float(np.abs(q - P).sum())
    return total / samples


@dataclass(frozen=True)
class Drawn:
    """Sequences of two tokens, drawn alike at all positions or not, with weights of positions.

    Attributes:
        chances: probability of token 0 at each position, in percent.
        weights: exp of the bias at each position.
    """

    chances: tuple[int, ...]
    weights: tuple[int, ...]

    @property
    def name(self) -> str:
        """Both in words."""
        return f"chances {self.chances} percent, weights {self.weights}"


def drawn_alike() -> Iterator[Drawn]:
    """Positions with one distribution and unequal weights."""
    for chance in (10, 50, 75):
        yield from (Drawn((chance,) * len(one), one) for one in ((1, 3), (1, 2, 7), (5, 1, 1, 2)))


def drawn_by_position() -> Iterator[Drawn]:
    """Positions with distributions of their own."""
    yield Drawn((10, 80), (1, 3))


# Spurious tokens

RARE = 10  # common tokens of small probability, 1, ..., RARE


def rare_classes() -> SequenceClasses:
    """Two classes with a frequent common token, ten rare ones and two distinct ones each."""
    return families.layered_classes([0.5, *[0.1 / RARE] * RARE], [[0.25, 0.15]] * 2, 15, [0, 0])


def chance_of_spurious(samples: int, length: int, p: float) -> float:
    """Probability that a common token of two classes is seen in exactly one of them.

    Args:
        samples: number of sequences of each class.
        length: contextual tokens of each.
        p: probability of the token in both classes.
    """
    missed = float(np.exp(samples * length * np.log1p(-p)))
    return 2 * missed * (1 - missed)


def spurious_scores(
    rng: np.random.Generator, samples: int, length: int = 40, time: float = 1e3
) -> tuple[Floats, Floats]:
    """Scores, after training, of rare common tokens that seem distinct, and of those that do not.

    Args:
        rng: source of randomness.
        samples: number of sequences of each of the two classes.
        length: contextual tokens of each.
        time: steps of batch size 1.
    """
    one, times = rare_classes(), np.array([time])
    counted = [families.draw_counts(rng, one, n, samples, length) for n in range(2)]
    seen = np.array([(part > 0).any(axis=0) for part in counted])[:, 1 : 1 + RARE]
    following = np.repeat(np.arange(2), samples)
    queries = np.zeros(2 * samples, dtype=np.int64)
    data = population.of_counts(np.concatenate(counted), following, queries, 98)
    first = population.start(data)
    z = population.flow(data, first, 1.0, 0.1, times, relative=1e-5)[0].z[0, 0, 1 : 1 + RARE]
    return z[seen.sum(axis=0) == 1], z[seen.all(axis=0)]


@dataclass(frozen=True)
class DataSets:
    """Data sets of one size.

    Attributes:
        size: sequences of each class.
        seeming: mean number of rare common tokens that are seen in one class only.
        score: mean score of the rare common tokens that occur.
        repeats: how many data sets.
    """

    size: int
    seeming: float
    score: float
    repeats: int


@dataclass(frozen=True)
class Growing:
    """Data sets of growing size."""

    name: str
    rows: tuple[DataSets, ...]


@once
def data_sets(seed: int, size: int, repeats: int) -> DataSets:
    """Data sets of this size, trained on."""
    pairs = [
        spurious_scores(np.random.default_rng((seed, size, number)), size)
        for number in range(repeats)
    ]
    every = np.concatenate([part for pair in pairs for part in pair])
    seeming = sum(len(pair[0]) for pair in pairs) / repeats
    return DataSets(size, seeming, float(every.mean()), repeats)


def growing_data(seed: int = 7, repeats: int = 16) -> Iterator[Growing]:
    """From one to 64 sequences of each class."""
    rows = tuple(data_sets(seed, size, repeats) for size in (1, 2, 4, 16, 64))
    yield Growing(f"{repeats} data sets of each size", rows)
