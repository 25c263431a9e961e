"""Runs of the coupled dynamics for the claims of the abstract, of Sections 1, 7 and 9."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore.tian2023 import classes as families
from ntpcore.tian2023 import population
from ntpcore.tian2023.classes import SequenceClasses
from ntpcore.tian2023.population import Population, State

Floats = NDArray[np.float64]

VOCABULARY = 1000  # size of the vocabulary of outputs in all runs
HORIZON = 1e8  # expected steps of batch size 1
TIMES = np.geomspace(1.0, HORIZON, 33)  # four times in a decade


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
    states: tuple[State, ...]

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


def trajectory(
    name: str, classes: SequenceClasses, ratio: float, times: Floats = TIMES
) -> Trajectory:
    """The flow with eta_Y = 1 and eta_Z = 1 / ratio.

    Args:
        name: what to call the classes.
        classes: the data, without tokens that never occur.
        ratio: eta_Y / eta_Z.
        times: when to record.
    """
    data = population.of_classes(classes, M=VOCABULARY)
    first = population.start(data)
    states = population.flow(data, first, 1.0, 1 / ratio, times)
    return Trajectory(
        f"{name}, eta_Y / eta_Z = {ratio:g}",
        classes,
        data,
        ratio,
        np.append(0.0, times),
        (first, *states),
    )


def symmetric(K: int) -> SequenceClasses:
    """One common token of weight 1 and distinct tokens of weights 0.3, 0.5, 0.7, 1 per class."""
    return families.layered_classes([1.0], [[0.3, 0.5, 0.7, 1.0]] * K, 1 + 4 * K, [0] * K)


def irregular(seed: int, number: int) -> SequenceClasses:
    """Random classes of one query: one to three common and three distinct tokens each."""
    rng = np.random.default_rng((seed, number))
    K = int(rng.integers(2, 5))
    one = families.random_classes(rng, K, 40, 1 + number % 3, 3)
    return SequenceClasses(one.probabilities[:, one.probabilities.sum(axis=0) > 0], one.query)


def collection(
    seed: int = 7, random: int = 8, ratios: tuple[float, ...] = (10.0, 100.0)
) -> list[Trajectory]:
    """Symmetric and random classes, each with every ratio of the learning rates.

    Args:
        seed: of the random classes.
        random: number of random sets of classes.
        ratios: eta_Y / eta_Z.
    """
    data = [(f"{K} symmetric classes", symmetric(K)) for K in (2, 3)]
    data += [(f"random classes {number}", irregular(seed, number)) for number in range(random)]
    return [trajectory(name, one, ratio) for name, one in data for ratio in ratios]


def backwards(run: Trajectory) -> Trajectory:
    """The run with the scores of all its states negated: attention that moves the other way."""
    states = tuple(State(state.Y, -state.z) for state in run.states)
    return Trajectory(run.name, run.classes, run.data, run.ratio, run.times, states)


def power_of_ten(runs: Sequence[Trajectory]) -> str:
    """The horizon of the runs as a power of ten."""
    return f"1e{math.log10(runs[0].times[-1]):.0f}" if runs else "no"
