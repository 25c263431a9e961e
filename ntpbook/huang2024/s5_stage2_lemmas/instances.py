"""What the checks of the lemmas of stage 2 are tried on: data, runs, and enclosed witnesses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
from flint import ctx
from numpy.typing import NDArray

from ntpbook.shared import enclosure, ends, rare
from ntpbook.shared.enclosed_setting import paper_setting
from ntpcore.data import generate
from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, runs, training
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run
from ntpverdicts.once import once

Floats = NDArray[np.float64]

FACTORS = (1, 200)  # of the paper's step size
RATIOS = (0.0, 30.0, 100.0, 1000.0, 6000.0)  # log of how much rarer one sentence is than the other


# Data with random matrices


@dataclass(frozen=True, eq=False)
class Tried:
    """A data set and the random numbers that a check draws on it.

    Attributes:
        data: realizable data.
        seed: of these numbers.
    """

    data: Dataset
    seed: int

    @property
    def name(self) -> str:
        """The data in words."""
        return rf"{self.data.name}, $|\mathcal V| = {len(self.data.vocabulary)}$"

    def random(self) -> np.random.Generator:
        """The numbers, anew."""
        return np.random.default_rng((self.seed, len(self.data.vocabulary)))


def small_data(seed: int = 7, sets: int = 10) -> Iterator[Tried]:
    """Example 1 and small random data, half of them prefix-closed."""
    yield Tried(example_1(), seed)
    for number in range(2 * sets):
        rng = np.random.default_rng((seed, number))
        closed = number % 2 == 0
        yield Tried(generate.random_dataset(rng, 6, 12, 5, prefix_closed=closed), seed)


def fewer_data(seed: int = 7, sets: int = 10) -> list[Tried]:
    """Half of these data."""
    return list(small_data(seed, sets))[: sets + 1]


# Runs


@once
def _trained(seed: int, sets: int, steps: int, frequent: bool) -> tuple[Run, ...]:
    """Runs at the paper's step size and 200 times that, by the loop that measures every step."""
    found = runs.collection(seed, sets, steps, frequent=frequent, factors=FACTORS)
    return tuple(
        replace(
            run,
            second=training.run(run.problem, steps, run.constants.eta, run.second.gap, plain=True),
        )
        for run in found
    )


@once
def _long(seed: int, sets: int, length: int) -> tuple[Run, ...]:
    """The same data for longer."""
    return tuple(runs.collection(seed, sets, length, factors=FACTORS))


def long_runs(seed: int = 7, sets: int = 10, length: int = 20_000) -> list[Run]:
    """Two sentences from alike to very different in frequency, and the data for longer."""
    rarer = [rare.rare_run(ratio, int(100 * (ratio + 100)), rare.ETA) for ratio in RATIOS]
    return [*rarer, *_long(seed, sets, length)]


def frequent_runs(seed: int = 7, sets: int = 10, steps: int = 2000) -> tuple[Run, ...]:
    """Example 1 and random data with Assumption 3."""
    return _trained(seed, sets, steps, True)


def all_runs(seed: int = 7, sets: int = 10, steps: int = 2000) -> tuple[Run, ...]:
    """The same and random data without Assumption 3."""
    return (*_trained(seed, sets, steps, True), *_trained(seed, sets, steps, False))


@dataclass(frozen=True, eq=False)
class GradientPlace:
    """A place at which a gradient is taken.

    Attributes:
        name: the data and the place, in words.
        problem: the data.
        gap: A.
        weights: (K,), the entries of W_kq.
    """

    name: str
    problem: Problem
    gap: float
    weights: Floats


def states(seed: int = 7, sets: int = 10, steps: int = 2000) -> Iterator[GradientPlace]:
    """On the data of all runs: zero, the end, and two random matrices, near zero and far."""
    rng = np.random.default_rng(seed)
    for run in all_runs(seed, sets, steps):
        end = run.second.state.weights
        places = {"start": np.zeros(len(end)), "end": end}
        for size in (1.0, 10.0):
            places[f"random entries of size {size:g}"] = size * rng.normal(size=len(end))
        for words, weights in places.items():
            yield GradientPlace(f"{run.name}, {words}", run.problem, run.second.gap, weights)


def one_column() -> list[GradientPlace]:
    """The end of a run on two sentences, of which one is so frequent that the other hides."""
    run = rare.rare_run(300.0, 100, rare.ETA)
    return [GradientPlace(run.name, run.problem, run.second.gap, run.second.state.weights)]


@cache
def one_pair() -> tuple[Run, ...]:
    """A run on 0 -> 1, 1 -> 0 and 0 1 -> 0, which compare one pair of tokens."""
    problem = from_dataset(from_samples([("0", "1"), ("1", "0"), ("0 1", "0")], "one pair"))
    return (runs.train("one pair", problem, eta0=0.1, eta=0.25, steps1=100, steps=200),)


# A start far from zero

ELSEWHERE = {"oq": -20.0, "kq": 0.3, "qq": 0.0, "oo": 30.0, "ko": -30.0}
ELSEWHERE_NORM = math.hypot(*ELSEWHERE.values())


@once
def from_elsewhere(length: int = 10_000) -> tuple[Run, ...]:
    """A run from a start at which a sentence of three tokens reads its optimal one last.

    n: k -> o -> q -> k, sentence k o q -> q with its beginnings, which o decides. Under the query q
    the token o starts far below its two rivals, which take turns at leading and use up the steps;
    under the query o all is learnt from the start.
    """
    samples = [("k", "o"), ("o", "q"), ("q", "k"), ("k o", "q"), ("k o q", "q")]
    problem, eta, gap = from_dataset(from_samples(samples, "from elsewhere")), 0.1, 30.0
    names, fresh = problem.vocabulary, training.run(problem, 0, eta, gap)
    places = zip(problem.entry_token.tolist(), problem.entry_query.tolist(), strict=True)
    weights = np.array([ELSEWHERE[names[x] + names[q]] for x, q in places])
    placed = replace(fresh, state=replace(fresh.state, weights=weights))
    second = training.run(problem, length, eta, gap, record=[length], state=placed, brief=True)
    constants = bounds.constants(problem, 1.0, eta, 1)
    return (
        Run(
            "a start at which the score of $o$ lies 20 below those of the non-optimal tokens",
            problem,
            constants,
            second,
        ),
    )


# Witnesses of numbers that are certain


@dataclass(frozen=True)
class Certain:
    """A step of a run of Algorithm 1, enclosed by ball arithmetic.

    Attributes:
        name: the data and the step, in words.
        cosine: minus the gradient and W_kq* have this cosine at most.
        weight: every optimal token has this weight at least.
        log_rest: log of the weight off the optimal token, in every sample, is this at most.
        log_claimed: -||W_kq|| / ||W_kq*|| is this at least.
        max_length: L_max.
        data: the data.
        step: t.
        start: t_0 of Lemma 7.
        apart: whether W_kq is no multiple of W_kq*, for certain.
    """

    name: str
    cosine: Fraction
    weight: Fraction
    log_rest: Fraction
    log_claimed: Fraction
    max_length: int
    data: Dataset
    step: int
    start: int
    apart: bool


def _certain(data: Dataset, eta: Fraction, step: int) -> Certain:
    """The step enclosed; stage 1 takes 900 steps of the paper's size."""
    setting = replace(paper_setting(data), eta_squared=eta**2)
    (state,) = enclosure.enclose(setting, step, {step})
    missed = enclosure.missed_attention(state)
    with ctx.workprec(state.bits):
        return Certain(
            rf"{data.name}, $\eta = {float(eta):g}$, step {step}",
            ends.upper(enclosure.step_cosine(state)),
            min(ends.lower(1 - one) for one in missed),
            max(ends.upper(one.log()) for one in missed),
            ends.lower(-enclosure.norm(state) / enclosure.exact(setting.S).sqrt()),
            data.max_length,
            data,
            step,
            math.ceil(8 * data.max_length * setting.S / eta),
            bool(enclosure.one_minus_cos(state) > 0),
        )


@once
def certain_example(step: int) -> Certain:
    """Example 1 at the paper's step size 0.05 / sqrt(|V|) = 1/40."""
    return _certain(example_1(), Fraction(1, 40), step)


def repeated_data(times: int) -> Dataset:
    """n swaps 0 and 1; 0 ... 0 1 is followed by 1, and 1 ... 1 0 by 0, two thirds as often.

    Args:
        times: how often the optimal token occurs in each.
    """
    samples = [
        ("0", "1", 3),
        ("1", "0", 3),
        (["0"] * times + ["1"], "1", 3),
        (["1"] * times + ["0"], "0", 2),
    ]
    return from_samples(samples, f"two tokens, the optimal one {times} times in a sentence")


@once
def certain_repeated(times: int) -> Certain:
    """These data at t_0 of Lemma 7, ||W_kq_star|| being 1 and eta 0.36."""
    eta = Fraction(36, 100)
    start = math.ceil(8 * (times + 1) / eta)
    return _certain(repeated_data(times), eta, start)


@cache
def certain_closed() -> Certain:
    """0 is followed by 1, and 1 by 0, 1 0 by 1, 1 0 1 by 0, equally often; at t_0, eta = 0.36.

    A prefix-closed sentence holds a first pair of tokens once, here 1 0. In 1 0 1 the optimal token
    occurs twice. The two queries differ by log 2 in their margins in the end, so that both samples
    have about e^-r / sqrt(2) of the attention off their optimal token.
    """
    data = from_samples(
        [("0", "1"), ("1", "0"), ("1 0", "1"), ("1 0 1", "0")], "the sentences 0 1 and 1 0 1 0"
    )
    return _certain(data, Fraction(36, 100), 67)


def repeated_run(times: int) -> Run:
    """A run on these data, up to three times t_0."""
    problem = from_dataset(repeated_data(times))
    start = bounds.lem_7_start(bounds.constants(problem, 1.0, rare.ETA, 900))
    name = f"two tokens, the optimal one {times} times in a sentence"
    return runs.train(name, problem, eta0=0.1, eta=rare.ETA, steps1=900, steps=3 * start)
