"""Runs of Algorithm 1 on which statements are held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore.data import generate
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, stage1, training
from ntpcore.huang2024.problem import Problem, from_dataset

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Run:
    """One run of stage 2 after T steps of stage 1, with everything the bounds need.

    Attributes:
        name: what data and step size, for messages.
        problem: the data.
        constants: what the bounds depend on.
        second: the trajectory of stage 2.
    """

    name: str
    problem: Problem
    constants: bounds.Constants
    second: training.Trajectory


def train(
    name: str,
    problem: Problem,
    *,
    eta0: float,
    eta: float,
    steps1: int,
    steps: int,
    record: Sequence[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Run both stages from zero: the first by its exact law, the second step by step."""
    gap = stage1.gap(problem.vocab_size, steps1, eta0)
    second = training.run(problem, steps, eta, gap, record=record, progress=progress, brief=True)
    return Run(name, problem, bounds.constants(problem, eta0, eta, steps1), second)


def paper_rates(vocab_size: int) -> tuple[float, float]:
    """eta0 = 0.2 / sqrt(d) and eta = 0.05 / sqrt(d) with d = |V|, as in Section 7."""
    return training.Settings().rates(vocab_size)


def collection(
    seed: int, sets: int, steps: int, *, frequent: bool = True, factors: Sequence[float] = (1, 20)
) -> list[Run]:
    """Example 1 and random data, half of them prefix-closed, at the paper's step size and larger.

    Args:
        seed: of the random data.
        sets: number of prefix-closed data sets, and of others.
        steps: steps of stage 2; stage 1 takes 900.
        frequent: whether the random data satisfy Assumption 3.
        factors: multiples of the paper's eta.
    """
    problems = [("Example 1", from_dataset(example_1()))] if frequent else []
    for number in range(2 * sets):
        rng = np.random.default_rng((seed, number))
        closed = number % 2 == 0
        size = int(rng.integers(4, 13))
        data = generate.random_dataset(
            rng, size, 3 * size, int(rng.integers(3, 8)), prefix_closed=closed, frequent=frequent
        )
        kind = "prefix-closed" if closed else "general"
        problems.append((f"{kind} data {number} with {size} tokens", from_dataset(data)))
    return [
        train(
            f"{name}, step size times {factor:g}",
            problem,
            eta0=paper_rates(problem.vocab_size)[0],
            eta=factor * paper_rates(problem.vocab_size)[1],
            steps1=900,
            steps=steps,
        )
        for name, problem in problems
        for factor in factors
    ]
