"""Runs with the settings of Section 8, for what the abstract and Section 7 say of training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared import heavy_ball
from ntpbook.tian2023.s8_synthetic import experiments
from ntpbook.tian2023.s8_synthetic.experiments import Stream, distinct_shares
from ntpcore.tian2023 import coupled
from ntpcore.tian2023.classes import SequenceClasses, attention_scores, distinct_tokens
from ntpverdicts import numbers
from ntpverdicts.once import once

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Order:
    """By how much the attention on distinct tokens changes in a run.

    Attributes:
        name: the run in words.
        gains: for each class (D,), ln of the attention at the end by that at the start, rare tokens
            first.
    """

    name: str
    gains: tuple[Floats, ...]

    @property
    def step(self) -> float:
        """The least gain of a token above that of the next rarer one; negative: out of order."""
        return min(float(np.diff(one).min()) for one in self.gains)

    @property
    def rank(self) -> float:
        """Rank correlation of gain and co-occurrence, averaged over the classes."""
        return float(np.mean([_rank(one) for one in self.gains]))

    def spoilt(self, how: str) -> Order:
        """The same with gains "sorted" or with the "opposite" sign; as it is for ""."""
        if how == "sorted":
            return replace(self, gains=tuple(np.sort(one) for one in self.gains))
        return replace(self, gains=tuple(-one for one in self.gains)) if how else self


def _rank(gains: Floats) -> float:
    """Spearman's correlation of numbers with their places."""
    ranks, places = np.argsort(np.argsort(gains)), np.arange(len(gains))
    return float(np.corrcoef(ranks, places)[0, 1])


def gains(classes: SequenceClasses, start: Floats, end: Floats) -> tuple[Floats, ...]:
    """`Order.gains` of scores (L, M) at the start and at the end."""
    before, after = attention_scores(classes, start), attention_scores(classes, end)
    found = []
    for n in range(classes.K):
        own = sorted(distinct_tokens(classes, n), key=lambda x: float(classes.probabilities[n, x]))
        found.append(np.asarray(np.log(after[n, own] / before[n, own])))
    return tuple(found)


def orders(stream: Stream, title: str) -> list[Order]:
    """One order for each pair of rates of a stream with the steps 0 and the last one."""
    return [
        Order(
            rf"{title}, $\eta_Y = {eta_y:g}$, $\eta_Z = {eta_z:g}$, seed {stream.plan.seed}",
            gains(stream.plan.classes, stream.Z[c, 0], stream.Z[c, -1]),
        )
        for c, (eta_y, eta_z) in enumerate(stream.plan.rates)
    ]


@once
def uniform_starts(seeds: int) -> tuple[Order, ...]:
    """Syn-Small at both rates of Figure 4: Y = Z = 0 at the start, which is uniform attention."""
    rates = ((1.0, 1.0), (10.0, 1.0))
    plans = [experiments.small(s, rates, record=(0, 100)) for s in _from(seeds)]
    return tuple(one for x in experiments.simulate_all(plans) for one in orders(x, "Syn-Small"))


@once
def random_starts(seeds: int) -> tuple[Order, ...]:
    """Syn-Medium, where Y and Z start at random, at eta_Z = 1, eta_Y = 2 and 10."""
    plans = [
        experiments.medium(queries, s, ((2.0, 1.0), (10.0, 1.0)), record=(0, 100))
        for queries in experiments.QUERIES
        for s in _from(seeds)
    ]
    found: list[Order] = []
    for stream in experiments.simulate_all(plans):
        found += orders(stream, f"Syn-Medium, {numbers.counted(stream.plan.queries, 'queries')}")
    return tuple(found)


def _from(seeds: int) -> range:
    """The first seeds."""
    return range(1, seeds + 1)


@cache
def expected() -> tuple[Order, ...]:
    """The same sizes without noise: endless sequences, from zero, momentum 0.9, 100 steps."""
    found = []
    for queries, following in ((2, 1), (1, 2), (3, 2), (5, 2), (10, 2)):
        for ratio in (2.0, 10.0):
            data = coupled.syn(queries, following)
            path = heavy_ball.roll(data, ratio, 1.0, 0.9, [100])
            many = numbers.counted(queries, "queries")
            name = f"{many} with {following} next tokens each, ratio {ratio:g}"
            z = path.z_distinct[-1] - path.z_distinct[-1].mean()  # attention up to one factor
            found.append(Order(name, (np.asarray(z),)))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Counted:
    """On how many tokens the attention of each class is.

    Attributes:
        seeds: how many runs.
        numbers: (2, S, K), e to the entropy among distinct tokens, at the start and at the end.
    """

    seeds: int
    numbers: Floats

    @property
    def name(self) -> str:
        """The runs in words."""
        return f"{self.seeds} seeds"


@once
def counted(first: int, seeds: int) -> Counted:
    """Syn-Medium with one query, eta_Z = 3 and eta_Y = 30, for some seeds."""
    plans = [
        experiments.medium(1, seed, ((30.0, 3.0),), record=(0, 100))
        for seed in range(first, first + seeds)
    ]
    streams = experiments.simulate_all(plans)
    shares = np.array(
        [[distinct_shares(x.plan.classes, x.Z[0, at]) for x in streams] for at in (0, -1)]
    )
    entropy = -(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=-1)
    return Counted(seeds, np.exp(entropy))
