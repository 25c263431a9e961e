"""Long runs of stage 2 on prefix-closed data, at step sizes that are multiples of ||W_kq_star||."""

from __future__ import annotations

import numpy as np

from ntpcore.data import generate
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import asymptotics
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, paper_rates, train
from ntpverdicts.once import once

RATE_FACTORS = (0.05, 0.25, 0.95)  # of ||W_kq_star||; the law is proved below 1


def rate_problems(seed: int, sets: int) -> list[tuple[str, Problem]]:
    """Example 1 and random prefix-closed data on which c is not 0."""
    found = [("Example 1", from_dataset(example_1()))]
    number = 0
    while len(found) <= sets:
        rng = np.random.default_rng((seed, number))
        size = int(rng.integers(4, 9))
        problem = from_dataset(generate.random_dataset(rng, size, 2 * size, 6))
        if asymptotics.star_constant(problem) > 1e-3:  # all frequencies alike give exactly 0
            found.append((f"random {len(found)} ({size} tokens)", problem))
        number += 1
    return found


def rate_run(name: str, problem: Problem, eta: float, steps: int) -> Run:
    """A run of stage 2 after 900 steps of stage 1 at the paper's step size."""
    eta0 = paper_rates(problem.vocab_size)[0]
    return train(name, problem, eta0=eta0, eta=eta, steps1=900, steps=steps)


@once
def runs_at_multiples(
    seed: int, sets: int, steps: int, factors: tuple[float, ...]
) -> tuple[Run, ...]:
    """Each of the problems at these multiples of ||W_kq_star||."""
    return tuple(
        rate_run(name, problem, factor * problem.norm, steps)
        for name, problem in rate_problems(seed, sets)
        for factor in factors
    )


def rate_runs(seed: int = 7, rate_sets: int = 8, rate_steps: int = 20_000) -> tuple[Run, ...]:
    """Each of the problems at three step sizes from 0.05 to 0.95 times ||W_kq_star||."""
    return runs_at_multiples(seed, rate_sets, rate_steps, RATE_FACTORS)
