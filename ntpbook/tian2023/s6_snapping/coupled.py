"""The coupled flow of decoder and attention: its reduction, and the runs that the checks judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared import reduced_flow
from ntpcore.tian2023 import coupled, decoder
from ntpcore.tian2023.coupled import Path, Symmetric
from ntpverdicts.once import once

Floats = NDArray[np.float64]

TIMES = np.geomspace(0.1, 1e8, 181)  # twenty points in each decade

# The reduction

SHAPES = (
    Symmetric(2, 4, (1.0,), (1.0,)),
    Symmetric(3, 12, (0.5, 0.2), (1.0, 0.3), 1),
    Symmetric(4, 20, (0.7, 0.3), (1.0, 0.5, 0.2), 2),
    Symmetric(6, 60, (2.0,), (1.0, 0.1), 3),
    coupled.syn(2, 2),
)


@dataclass(frozen=True, eq=False)
class Reduced:
    """Symmetric data at a state of the stated form; the state is None for a run from zero."""

    data: Symmetric
    state: Floats | None
    name: str


def reduced_states(seed: int = 7) -> list[Reduced]:
    """Random symmetric states of three sizes, and a run, for every shape."""
    rng = np.random.default_rng(seed)
    found = []
    for data in SHAPES:
        for scale in (0.1, 1.0, 3.0):
            state = scale * rng.normal(size=len(coupled.zero_state(data)))
            found.append(Reduced(data, state, f"{data}, random state of size {scale}"))
        found.append(Reduced(data, None, f"{data}, 300 steps"))
    return found


def both_slopes(data: Symmetric, told: Symmetric, state: Floats) -> tuple[Floats, Floats]:
    """Slopes of Y and z by the reduction of `told`, and by dense matrices, each in one row."""
    p = np.concatenate(data.probabilities)
    f, g, out = np.empty(len(p)), np.empty(len(p)), np.empty(len(state))
    sizes = (len(data.common), data.K, data.M, told.queries, 0.7, 0.3)
    coupled.fill_slopes(state, p, *sizes, False, f, g, out)
    dense = coupled.dense_slopes(data.classes(), *coupled.dense(data, state), 0.7, 0.3)
    return in_a_row(*coupled.dense(data, out)), in_a_row(*dense)


def both_ends(data: Symmetric, told: Symmetric) -> tuple[Floats, Floats]:
    """Y and z after 300 steps from zero, by the reduction of `told` and by dense matrices."""
    classes = data.classes()
    Y, z = np.zeros((data.M, data.M)), np.zeros((data.queries, data.M))
    for _ in range(300):
        change_Y, change_z = coupled.dense_slopes(classes, Y, z, 2.0, 1.0)
        Y += change_Y
        z += change_z
    run = coupled.descend(told, 2.0, 1.0, [300])
    return in_a_row(*coupled.dense(data, run.rows[0])), in_a_row(Y, z)


def in_a_row(Y: Floats, z: Floats) -> Floats:
    """Both matrices as one vector."""
    return np.concatenate([np.ravel(Y), np.ravel(z)])


def told(data: Symmetric, queries: int) -> Symmetric:
    """The data that the reduction is told of: with another number of queries, if one is given."""
    return replace(data, queries=queries) if queries else data


# One common and one distinct token per class


@dataclass(frozen=True)
class OneOfEach:
    """Classes with one common and one distinct token, eta_Z = 1.

    Attributes:
        K: number of classes.
        M: size of the vocabulary.
        epsilon: f_n . f_n' at the start.
        ratio: eta_Y / eta_Z.
        slows: whether the attention has moved by t_0, so that the flow is said to slow down there.
    """

    K: int
    M: int
    epsilon: float
    ratio: float
    slows: bool

    @property
    def name(self) -> str:
        """The design in words."""
        return (
            rf"$K = {self.K}$, $M = {self.M}$, $f_n^\top f_{{n'}} = {self.epsilon:.3g}$ "
            rf"at the start, $\eta_Y/\eta_Z = {self.ratio:.3g}$"
        )

    @property
    def path(self) -> Path:
        """Its coupled flow, up to 1e8 steps."""
        return _path(self.K, self.M, self.epsilon, self.ratio)


@once
def _path(K: int, M: int, epsilon: float, ratio: float) -> Path:
    """The coupled flow of one design."""
    return coupled.flow(coupled.one_of_each(K, M, epsilon), ratio, 1.0, TIMES)


def designs(seed: int = 7, draws: int = 8) -> list[OneOfEach]:
    """The drawn design of ten classes, and random ones of both kinds."""
    rng = np.random.default_rng(seed)
    found = [OneOfEach(10, 1000, 0.5, ratio, True) for ratio in (1.0, 2.0, 10.0)]
    for _ in range(draws):
        M = round(10 ** rng.uniform(2, 3))
        strong = (int(rng.integers(3, 13)), M, rng.uniform(0.5, 0.8), 10 ** rng.uniform(0, 1))
        weak = (int(rng.integers(2, 8)), M, rng.uniform(0.05, 0.1), 10 ** rng.uniform(2, 3))
        found += [OneOfEach(*strong, slows=True), OneOfEach(*weak, slows=False)]
    return found


@once
def paths(
    ratios: Sequence[float] = (1.0, 2.0, 10.0, 100.0), K: int = 10, M: int = 1000
) -> tuple[Path, ...]:
    """The runs that the page draws, eta_Z = 1, f_n . f_n' = 1/2 at the start.

    The last one is gradient descent, 1e7 steps at the ratio 10.
    """
    steps = np.unique(np.geomspace(1, 1e7, 141).astype(np.int64))
    descent = coupled.descend(coupled.one_of_each(K, M, 0.5), 10.0, 1.0, steps.tolist())
    return (*(_path(K, M, 0.5, ratio) for ratio in ratios), descent)


def theorem_1_xi(run: Path) -> Floats:
    """xi of Theorem 1 at theta = sigma = 0 for the F of each moment of a run (modified update)."""
    K, M, e = run.data.K, run.data.M, run.epsilon
    gamma = decoder.speed(M, K, run.eta_y, run.t)
    q1 = M / (M - 1)
    return np.asarray(gamma * q1 * (K - 1) * e * (e + 1 / (M - 1)) / ((1 - e) * (1 + (K - 1) * e)))


def on_logarithms(run: Path) -> Floats:
    """(S,), slope of the distinct token's logit in ln t."""
    return np.asarray(np.gradient(run.z_distinct[:, -1], np.log(run.t)))


def descent_error(run: Path) -> float:
    """Relative difference of the gain at the last step, between descent and flow."""
    flow = coupled.flow(run.data, run.eta_y, run.eta_z, run.t[-1:])
    return abs(float(run.z_distinct[-1, 0] / flow.z_distinct[-1, 0]) - 1)


# Several distinct tokens


@once
def reversal(ratio: float, forget: bool) -> Path:
    """The coupled flow of the paper's classes with one query and two next tokens, eta_Z = 1."""
    return coupled.flow(coupled.syn(1, 2), ratio, 1.0, TIMES, forget, 1e-9)


def rise(run: Path) -> float:
    """By how much the entropy of the distinct tokens ends above its least value."""
    entropy = run.entropy
    return float(entropy[-1] - entropy.min())


def stages() -> list[Path]:
    """Runs of the paper's classes, of one query and of five, at the ratios 1 and 10."""
    five = coupled.flow(coupled.syn(5, 2), 10.0, 1.0, TIMES, False, 1e-9)
    return [reversal(1.0, False), reversal(10.0, False), five]


# Insights: gains at other rates

LINES = np.geomspace(1e-1, 1e9, 201)


@once
def steepest(rate: float) -> float:
    """Time of the steepest gain on a logarithmic clock: ten classes, eta_Z = 0.01."""
    run = coupled.flow(coupled.one_of_each(10, 1000, 0.5), rate, 0.01, LINES)
    return float(run.t[int(np.argmax(on_logarithms(run)))])


@once
def gain(K: int, ratio: float, at: float = 1e5) -> float:
    """Logit of the distinct token at a time: K classes, M = 1000, eta_Z = 0.1."""
    data = coupled.one_of_each(K, 1000, 0.5)
    run = coupled.flow(data, 0.1 * ratio, 0.1, np.array([at / 2, at]))
    return float(run.z_distinct[-1, -1])


@once
def long_run(ratio: float) -> Path:
    """The paper's classes of one query up to 1e9 steps."""
    return coupled.flow(coupled.syn(1, 2), ratio, 1.0, LINES)


# Long times, on the clock of the flow itself


@dataclass(frozen=True)
class Long:
    """Symmetric classes of one query, and ratios of the rates, followed for very long times.

    Attributes:
        design: the classes.
        ratios: values of eta_Y / eta_Z, the slower decoder first.
        eta_z: eta_Z.
        overtaken: a time after the faster decoder has got the sparser attention, as the logarithm,
            base 10, of the number of steps.
        turned: the same for a time after the entropy of the slower decoder has begun to rise.
    """

    design: Symmetric
    ratios: tuple[float, ...]
    eta_z: float
    overtaken: float
    turned: float

    @property
    def name(self) -> str:
        """The classes in words."""
        own = ", ".join(f"{x:g}" for x in self.design.distinct)
        sizes = f"$K = {self.design.K}$, $M = {self.design.M}$"
        return f"{sizes}, weights {self.design.common[0]:g} (common) and {own} (distinct)"

    @property
    def correlations(self) -> Floats:
        """(K, K), E at the start."""
        q, K = self.design.p, self.design.K
        share = float(q[0] ** 2 / (q**2).sum())
        return share * (np.ones((K, K)) - np.eye(K))

    def path(self, ratio: float) -> reduced_flow.ClockPath:
        """The flow on its clock."""
        return _long(self.design, ratio)

    def entropy(self, ratio: float, exponent: float, whole: bool = False) -> float:
        """Entropy of the attention after 10^exponent steps, on the distinct tokens or on all.

        The path holds ln(1 + eta_Y t/K).
        """
        path = self.path(ratio)
        c = path.scores
        values = -(c * np.log(c)).sum(axis=1) if whole else path.entropy
        when = exponent * np.log(10) + np.log(ratio * self.eta_z / self.design.K)
        if not path.log_time[0] <= when <= path.log_time[-1]:
            raise ValueError(
                f"t = 10^{exponent:g} is not on the path; choose a later or earlier one"
            )
        return float(np.interp(when, path.log_time, values))


@once
def _long(design: Symmetric, ratio: float) -> reduced_flow.ClockPath:
    """One flow: for these designs the clock 1000 is beyond 10^300 steps."""
    sigma = np.concatenate([[0.0], np.geomspace(0.01, 2000.0, 4000)])
    return reduced_flow.follow(design, ratio, sigma)


def long_designs() -> list[Long]:
    """Classes that satisfy Assumption 2 at the start, with ratios that satisfy Assumption 1(c).

    The larger the ratios are, the later attention turns back; the earliest comes first.
    """
    three = (0.2, 0.6, 1.0)
    return [
        Long(Symmetric(2, 10**5, (1.0,), three), (10.0, 100.0), 1e-3, 7.0, 16.0),
        Long(Symmetric(2, 10**5, (1.0,), three), (100.0, 1000.0), 1e-4, 24.0, 40.0),
        Long(Symmetric(3, 10**5, (0.5,), three), (100.0, 1000.0), 1e-4, 35.0, 50.0),
        Long(Symmetric(2, 10**6, (0.5,), (0.5, 1.0)), (100.0, 1000.0), 1e-4, 35.0, 40.0),
    ]
