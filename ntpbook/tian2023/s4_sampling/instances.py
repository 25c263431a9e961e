"""What the checks on classes drawn at random run on (tian2023, Appendix D.4)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s4_sampling import decoder_rate, sampling
from ntpcore.tian2023 import classes as data
from ntpcore.tian2023 import decoder
from ntpverdicts.once import once

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# How often a class is drawn


@dataclass(frozen=True)
class Count:
    """N draws, a class of probability p, and a probability of failure."""

    N: int
    p: Fraction
    delta: float

    @property
    def name(self) -> str:
        """The instance in words."""
        return rf"$N = {self.N}$, $\mathbb P(n) = {self.p}$, $\delta = {self.delta:g}$"


DRAWS = (1, 2, 3, 5, 16, 17, 30, 100, 1000, 10_000, 1_000_000)
SHARES = tuple(Fraction(*pair) for pair in ((0, 1), (1, 1000), (1, 50), (1, 10), (1, 3), (1, 2)))
SHARES += (Fraction(9, 10), Fraction(1))
DELTAS = (1e-9, 1e-6, 1e-3, 0.05, 0.3, 0.5, 0.75, 0.9, 0.999)
EXAMPLE = Count(40_000, Fraction(1, 20), 0.05)
ONE_DRAW = Count(1, Fraction(1, 8), 0.75)  # the centre is 1, the outer radius below 1
ENOUGH = 17  # draws from which on the second sign of (58) holds, see `steps.order_of_radii`


def counts(fewest: int = 1) -> list[Count]:
    """The grid from some number of draws on, and the example of the page."""
    grid = itertools.product(DRAWS, SHARES, DELTAS)
    return [*(Count(*one) for one in grid if one[0] >= fewest), EXAMPLE]


def every_count() -> list[Count]:
    """The grid from one draw on."""
    return [ONE_DRAW, *counts()]


def two_draws() -> list[Count]:
    """The grid from two draws on."""
    return counts(2)


@dataclass(frozen=True)
class Joint:
    """N draws of K equally likely classes, and a probability of failure."""

    K: int
    N: int
    delta: float

    @property
    def name(self) -> str:
        """The instance in words."""
        return rf"$K = {self.K}$, $N = {self.N}$, $\delta = {self.delta:g}$"

    @property
    def mean(self) -> int:
        """ceil(N/K)."""
        return -(-self.N // self.K)

    def outside(self, radius: int) -> float:
        """The probability that some count is further than this from the mean."""
        return 1 - sampling.all_inside(self.N, self.K, self.mean - radius, self.mean + radius)


CLASSES = (2, 3, 5, 10, 20, 50)
MULTIPLES = (4, 16, 100, 1000)  # N / K^2
LIKELY = (1e-10, 1e-6, 1e-3, 0.05, 0.3, 0.5)


def joint() -> list[Joint]:
    """delta up to 1/2."""
    grid = itertools.product(CLASSES, MULTIPLES, LIKELY)
    return [Joint(K, multiple * K * K, delta) for K, multiple, delta in grid]


def joint_every_delta() -> list[Joint]:
    """delta up to nearly 1, then nineteen draws of two classes, where rounding is seen."""
    grid = itertools.product(CLASSES, MULTIPLES, (*LIKELY, 0.75, 0.9, 0.99, 0.9999))
    return [
        *(Joint(K, multiple * K * K, delta) for K, multiple, delta in grid),
        Joint(2, 19, 0.42),
    ]


def joint_near_one() -> list[Joint]:
    """Many classes and a delta next to 1."""
    return [Joint(50, 1_000_000, 0.999)]


# Heights


@dataclass(frozen=True)
class Mean:
    """A mean count of draws, and counts N_n around it, as multiples of it."""

    M: int
    eta: float
    mean: float
    ratios: tuple[float, ...] = (0.0, 0.1, 0.5, 2 / 3, 0.75, 0.9, 0.99, 1.01, 1.1, 1.5, 2.0, 10.0)

    @property
    def name(self) -> str:
        """The instance in words."""
        return rf"$M = {self.M}$, $\eta_Y = {self.eta:g}$, $\bar N = {self.mean:.4g}$"


@dataclass(frozen=True)
class Vocabulary:
    """The slope of ln g in ln s over all times, for one size of the vocabulary."""

    M: int

    @property
    def name(self) -> str:
        """The instance in words."""
        return f"$M = {self.M}$, all times"

    def slopes(self) -> tuple[Floats, Floats, int]:
        """Times tau, -s (dg/ds)/g at them, and the place where the second stage begins."""
        tau = decoder.transition(self.M, 1, 1.0) * np.logspace(-4, 4, 801)
        return tau, relative_slope(self.M, decoder.height(self.M, tau)) * tau, 400


def relative_slope(M: int, x: float | Floats) -> Floats:
    """-(dg/ds)/(eta g) = M e^x / (M - 1 + e^x)^2 at height x, where g = 1/(M - 1 + e^x)."""
    e = np.exp(-np.asarray(x, dtype=np.float64))
    return np.asarray(M * e / (1 + (M - 1) * e) ** 2)


VOCABULARIES = (4, 5, 30, 1000, 50_000, 1_000_000)
RATES = (0.01, 0.1, 0.5, 1.0, 2.0)


def means() -> list[Mean | Vocabulary]:
    """A grid of vocabularies, rates and mean counts, then all times for each vocabulary."""
    grid = itertools.product(VOCABULARIES, RATES, np.logspace(0, 6, 13).tolist())
    return [
        Mean(1000, 1.0, 9.0),
        *(Mean(*one) for one in grid),
        *(Mean(M, 0.5, 30.0) for M in (2, 3)),
        *(Vocabulary(M) for M in VOCABULARIES),
    ]


def means_alone() -> list[Mean]:
    """The mean counts of that grid, from four tokens on."""
    return [one for one in means() if isinstance(one, Mean) and one.M >= 4]


@dataclass(frozen=True)
class Height:
    """A height of the decoder in exact numbers, with the slope that (44) gives it.

    Attributes:
        M: size of the vocabulary.
        eta: eta_Y.
        y: e^(Mh), at least 1.
        slope: dh/ds.
    """

    M: int
    eta: Fraction
    y: Fraction
    slope: Fraction

    @property
    def name(self) -> str:
        """The instance in words."""
        return rf"$M = {self.M}$, $\eta_Y = {self.eta}$, $e^{{Mh}} = {self.y}$"


def few_heights() -> list[Height]:
    """Two vocabularies at the start, where the slope of ln g is largest, and later."""
    found = []
    for M, y in ((1000, 1), (1000, 999), (50_000, 1), (50_000, 10**6)):
        eta = Fraction(1, 2)
        found.append(Height(M, eta, Fraction(y), eta / (M - 1 + y)))
    return found


# Rows of the decoder


@dataclass(frozen=True, eq=False)
class Draws:
    """A size, a rate, and a number of draws.

    Attributes:
        M: size of the vocabulary.
        K: number of classes.
        eta: eta_Y.
        N: number of draws.
    """

    M: int
    K: int
    eta: float
    N: int

    @property
    def name(self) -> str:
        """The instance in words."""
        return rf"$M = {self.M}$, $K = {self.K}$, $\eta_Y = {self.eta:g}$, $N = {self.N}$"


@dataclass(frozen=True, eq=False)
class Sampled(Draws):
    """A decoder trained by (26) with classes drawn at random.

    Attributes:
        state: the decoder.
    """

    state: decoder.DecoderState


def sampled(seed: int, settings: Sequence[tuple[int, int, float, int]]) -> list[Sampled]:
    """N steps of batch size 1 on random classes with two common tokens, by (26)."""
    out = []
    for number, (M, K, eta, N) in enumerate(settings):
        rng = np.random.default_rng((seed, number))
        made = data.random_classes(rng, K, M, common=2, distinct=2)
        start = decoder.zero_decoder(M, data.correlations(data.unit_scores(made)))
        state = decoder.run(start, rng.integers(K, size=N), eta, modified=True)
        out.append(Sampled(M, K, eta, N, state))
    return out


def short_zeta(M: int, K: int) -> Floats:
    """zeta_n of each class for the logits that `DecoderState` keeps, (K, K + 1)."""
    return np.array([decoder.zeta(M, n)[np.r_[:K, -1 if M > K else 0]] for n in range(K)])


@dataclass(frozen=True)
class SamplingSetting(Draws):
    """A size, a rate and a number of draws, for the distribution of all theta_n."""


SIZES = ((30, 2), (1000, 2), (1000, 10), (1000, 50), (1_000_000, 10), (1_000_000, 50))
STEPS = (0.01, 0.5, 1.0)
FAILURES = (1e-3, 0.05, 0.5)
ROWS_EXAMPLE = SamplingSetting(1000, 10, 0.5, 10_000)


def rows(seed: int = 7) -> list[Sampled | SamplingSetting]:
    """Two sampled runs for the form of the rows, and a grid for the size of theta."""
    grid = itertools.product(SIZES, STEPS, MULTIPLES)
    settings = [SamplingSetting(M, K, eta, multiple * K * K) for (M, K), eta, multiple in grid]
    return [*sampled(seed, ((30, 2, 0.5, 61), (200, 5, 2.0, 501))), *settings]


def printed_theta(K: int, N: int, delta: float, exponent: float = 1.0) -> float:
    """(K/sqrt(N))^exponent sqrt(ln(K/delta)): Lemma 12's bound, the paper has the exponent 1."""
    return float((K / math.sqrt(N)) ** exponent * math.sqrt(math.log(K / delta)))


def slope(x: Sequence[float] | Floats | Integers, y: Sequence[float]) -> float:
    """Least-squares slope of log y against log x."""
    return float(np.polyfit(np.log(np.asarray(x)), np.log(np.asarray(y)), 1)[0])


@once
def fitted_exponents(M: int = 1_000_000, delta: float = 0.05) -> dict[str, float]:
    """Slopes of the logarithm of the exact quantile over two decades of N, and over K."""
    draws, many = np.logspace(3, 5, 7).round().astype(int), (5, 10, 20, 50)
    late_draws = 10 * draws
    early = [sampling.row_error_quantile(M, 10, 1e-3, int(N), delta) for N in draws]
    late = [sampling.row_error_quantile(M, 10, 1.0, int(N), delta) for N in late_draws]
    by_K = [sampling.row_error_quantile(M, K, 1e-4, 100_000, delta) for K in many]
    return {
        "slope_early": slope(draws, early),
        "slope_late": slope(late_draws, late),
        "slope_K": slope(many, by_K),
        "slope_K_bound": slope(many, [printed_theta(K, 100_000, delta) for K in many]),
    }


# Theorem 5


@dataclass(frozen=True, eq=False)
class Dense:
    """A dense decoder after N sampled updates (26).

    Attributes:
        M: size of the vocabulary.
        K: number of classes.
        eta: eta_Y.
        f: (K, M), the vectors f_n.
        draws: (N,), the class of each step.
        Y: (M, M), the decoder.
    """

    M: int
    K: int
    eta: float
    f: Floats
    draws: Integers
    Y: Floats

    @property
    def name(self) -> str:
        """The instance in words."""
        return rf"$M = {self.M}$, $K = {self.K}$, $\eta_Y = {self.eta:g}$, $N = {len(self.draws)}$"


def dense_run(f: Floats, draws: Integers, eta: float) -> Floats:
    """Y after the updates (26), with M x M matrices and plain softmax.

    Args:
        f: (K, M), the vectors f_n as rows.
        draws: the class of each step.
        eta: eta_Y.
    """
    K, M = f.shape
    inverse = np.linalg.inv(f @ f.T)
    E_prime = np.eye(K) - inverse
    Y = np.zeros((M, M))
    for n in draws:
        weights = np.exp(Y.T @ f[n])
        error = np.eye(M)[n] - weights / weights.sum()
        Y += eta * np.outer(f[n] - f.T @ E_prime[:, n], error)
    return Y


@dataclass(frozen=True, eq=False)
class Line:
    """Two decoders after the same draws, where Assumption 2 holds: K = 4 classes in pairs.

    Attributes:
        N: number of draws.
        modified: the decoder by (26).
        plain: the decoder by (7).
        eta: eta_Y.
    """

    N: int
    modified: decoder.DecoderState
    plain: decoder.DecoderState
    eta: float = 0.5

    @property
    def name(self) -> str:
        """The instance in words."""
        return rf"$K = 4$ in pairs, $M = 10000$, overlap 1/10, $\eta_Y = 1/2$, $N = {self.N}$"


def off_line(state: decoder.DecoderState) -> Floats:
    """The distance of each row of F^T Y from the line of zeta_n, by the length of the row, (K,)."""
    K = len(state.E)
    often = np.append(np.ones(K), state.M - K)  # the last logit stands for M - K tokens
    zeta, W = short_zeta(state.M, K), state.W
    along = (W * zeta * often).sum(axis=1) / (zeta**2 * often).sum(axis=1)
    rest = W - along[:, None] * zeta
    return np.asarray(np.sqrt((rest**2 * often).sum(axis=1) / (W**2 * often).sum(axis=1)))


@once
def lines(seed: int = 7, draws: tuple[int, ...] = (100, 1000, 10_000)) -> tuple[Line, ...]:
    """Both decoders at increasing numbers of draws."""
    made = data.paired_classes(4, 10_000, 0.1)
    E = data.correlations(data.unit_scores(made))
    assert data.weak_correlations(E, made.M).holds
    rng = np.random.default_rng(seed)
    modified = plain = decoder.zero_decoder(made.M, E)
    done, out = 0, []
    for N in draws:
        some = rng.integers(4, size=N - done)
        modified = decoder.run(modified, some, 0.5, modified=True)
        plain = decoder.run(plain, some, 0.5, modified=False)
        done = N
        out.append(Line(N, modified, plain))
    return tuple(out)


def dense_runs(seed: int = 7) -> list[Dense]:
    """Dense runs of (26), of numbers of draws that are no multiple of the number of classes."""
    found = []
    settings = ((12, 2, 0.5, 41), (20, 3, 2.0, 91), (30, 5, 0.1, 303), (40, 6, 1.0, 401))
    for number, (M, K, eta, N) in enumerate(settings):
        rng = np.random.default_rng((seed, number))
        f = data.unit_scores(data.random_classes(rng, K, M, common=2, distinct=2))
        draws = rng.integers(K, size=N)
        found.append(Dense(M, K, eta, f, draws, dense_run(f, draws, eta)))
    return found


def solutions(seed: int = 7) -> list[Dense | Line]:
    """Dense runs of (26), then the two decoders whose rows should be on their lines."""
    return [*dense_runs(seed), *lines(seed)]


# Numbers of steps


@dataclass(frozen=True)
class Accuracy:
    """A vocabulary, a number of classes, a rate and an accuracy.

    Attributes:
        M: size of the vocabulary.
        K: number of classes.
        eta: eta_Y.
        epsilon: length of the residual.
        need: updates of its class after which the recursion (33) is that accurate in the length
            of its residual.
    """

    M: int
    K: int
    eta: float
    epsilon: float
    need: int

    @property
    def name(self) -> str:
        """The instance in words."""
        rates = rf"$\eta_Y = {self.eta:g}$, $\epsilon = {self.epsilon:g}$"
        return f"$M = {self.M}$, $K = {self.K}$, {rates}"


LONGEST = 200_000  # updates in one run
COARSE = (0.5, 0.1, 0.01, 0.001)


def accuracies(M: int, K: int, eta: float) -> list[Accuracy]:
    """The accuracies that a run of reasonable length reaches."""
    reached = [e for e in COARSE if decoder_rate.steps_to_accuracy(M, eta, e) < LONGEST]
    left = {e: e * math.sqrt(1 - 1 / M) for e in reached}  # probability of wrong tokens
    heights = decoder_rate.heights_until(M, eta, min(left.values()))
    return [Accuracy(M, K, eta, e, decoder_rate.counted_steps(heights, M, left[e])) for e in left]


def residuals_and_steps(seed: int = 7) -> list[Sampled | Accuracy | Spread]:
    """Two sampled runs for the form of the residuals, a grid for the steps, and one for sigma."""
    sizes, rates = ((100, 2), (1000, 2), (1000, 50), (1_000_000, 10)), RATES[:4]  # M, K
    grid = [one for (M, K), eta in itertools.product(sizes, rates) for one in accuracies(M, K, eta)]
    runs = sampled(seed, ((30, 2, 0.5, 80), (1000, 5, 2.0, 900)))
    return [*runs, *accuracies(1000, 10, 0.5)[1:], *grid, *spreads()]


@dataclass(frozen=True)
class Spread(Draws):
    """sigma of (71) for every count that a class may have after N uniform draws."""

    def is_late(self, delta: float) -> bool:
        """N at least ten times K (sqrt(N ln(1/delta)) + 2 (1 + omega_1) ln(M)/eta_Y)."""
        start = decoder.transition(self.M, 1, self.eta)
        return 10 * self.K * (math.sqrt(self.N * math.log(1 / delta)) + start) <= self.N

    def chance_beyond(self, bound: float) -> float:
        """P(|sigma| > bound) for one class, summed over the binomial counts."""
        sigma, chances = _sigma(self)
        return float(1 - chances[np.abs(sigma) <= bound].sum())


@once
def _sigma(one: Spread) -> tuple[Floats, Floats]:
    """sigma of (71) for the counts that are likely, and their binomial probabilities."""
    from scipy.stats import binom

    mean = -(-one.N // one.K)
    reach = math.ceil(12 * math.sqrt(one.N / one.K)) + 60
    counts = np.arange(max(0, mean - reach), min(one.N, mean + reach) + 1)
    heights = decoder.recursion(one.M, one.eta, int(counts[-1]))[counts]
    middle = float(decoder.height(one.M, one.eta * mean))
    # sigma + 1 = (M - 1 + e^middle)/(M - 1 + e^height)
    top = np.maximum(heights, middle)
    sizes = [(one.M - 1) * np.exp(-top) + np.exp(x - top) for x in (middle, heights)]
    return sizes[0] / sizes[1] - 1, binom.pmf(counts, one.N, 1 / one.K)


def spreads() -> list[Spread]:
    """Early and late numbers of draws, N well above K^2."""
    sizes = ((100, 2), (1000, 10), (1_000_000, 10))
    factors = (10, 100, 1000, 10_000)
    return [
        Spread(M, K, eta, K * K * factor)
        for (M, K), eta, factor in itertools.product(sizes, (0.1, 0.5, 0.99), factors)
    ]


def few_steps() -> list[Accuracy]:
    """Fifty classes and an accuracy of one half: the printed number is about K."""
    return accuracies(1000, 50, 1.0)[:1]


def enough(N: int, K: int, need: int) -> float:
    """P(every class is drawn at least `need` times), up to 1e-12."""
    reach = sampling.bernstein_radius(N, 1 / K, 1e-12 / K)
    low = max(need, math.floor(N / K - reach))
    return sampling.all_inside(N, K, low, math.ceil(N / K + reach))


def steps_for_all(K: int, need: int, delta: float) -> int:
    """The smallest N after which every class was drawn `need` times with probability 1 - delta."""
    low, high = K * need - 1, 2 * K * need + 20 * K
    while enough(high, K, need) < 1 - delta:
        low, high = high, 2 * high
    while high - low > 1:
        half = (low + high) // 2
        low, high = (low, half) if enough(half, K, need) >= 1 - delta else (half, high)
    return high


@dataclass(frozen=True, eq=False)
class Recursion:
    """The recursion (33) for one vocabulary and rate, as long as its accuracies need.

    Attributes:
        M: size of the vocabulary.
        eta: eta_Y.
        epsilons: the accuracies that it reaches.
        heights: M h*(s) for s = 0, 1, ...
    """

    M: int
    eta: float
    epsilons: tuple[float, ...]
    heights: Floats

    @property
    def name(self) -> str:
        """The instance in words."""
        return rf"$M = {self.M}$, $\eta_Y = {self.eta:g}$, {len(self.heights) - 1} updates"


FINE = (0.5, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)


@cache
def recursions() -> tuple[Recursion, ...]:
    """Vocabularies from 2 to 10^6 and rates from 0.01 to 2."""
    out = []
    for M, eta in itertools.product((2, 5, 30, 1000, 1_000_000), RATES):
        reached = tuple(
            epsilon
            for epsilon in FINE
            if epsilon <= 1 - 1 / M and decoder_rate.steps_to_accuracy(M, eta, epsilon) < LONGEST
        )
        heights = decoder_rate.heights_until(M, eta, min(reached))
        out.append(Recursion(M, eta, reached, heights))
    return tuple(out)
