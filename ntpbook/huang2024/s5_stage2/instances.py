"""Runs on which the direction of stage 2 is looked at."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared import rare
from ntpbook.shared.rate_runs import rate_runs
from ntpcore.data import generate
from ntpcore.data.dataset import from_sentences
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, training
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, collection, paper_rates, train
from ntpverdicts.once import once

Floats = NDArray[np.float64]

UNEQUAL = (5, 3)  # how often the two sentences of the two-token data occur


@once
def _ordinary(seed: int, sets: int, steps: int) -> tuple[Run, ...]:
    """Example 1, random data, and the experiment of Section 7, prefix-closed and not."""
    runs = collection(seed, sets, steps)
    for closed in (True, False):
        setting = generate.experiment(seed, prefix_closed=closed)
        name = f"the experiment, {'prefix-closed' if closed else 'general'} data"
        runs.append(
            train(
                name,
                from_dataset(setting.data),
                eta0=setting.eta0,
                eta=setting.eta,
                steps1=setting.steps1,
                steps=setting.steps2,
            )
        )
    return tuple(runs)


def ordinary_runs(seed: int = 7, sets: int = 10, steps: int = 5000) -> tuple[Run, ...]:
    """Example 1, random data, and the experiment of Section 7, prefix-closed and not."""
    return _ordinary(seed, sets, steps)


@once
def _examples(seed: int, steps: int) -> tuple[Run, ...]:
    """Example 1 and one random data set of each kind at the paper's step size."""
    runs = []
    for name, problem in (
        ("Example 1", from_dataset(example_1())),
        ("random, prefix-closed", random_problem(seed, prefix_closed=True)),
        ("random, not prefix-closed", random_problem(seed, prefix_closed=False)),
    ):
        eta0, eta = paper_rates(problem.vocab_size)
        grid = [*training.log_grid(steps).tolist(), 900]
        run = train(name, problem, eta0=eta0, eta=eta, steps1=900, steps=steps, record=grid)
        runs.append(run)
    return tuple(runs)


def example_runs(seed: int = 7, longest: int = 100_000) -> tuple[Run, ...]:
    """Example 1 and one random data set of each kind at the paper's step size, for long."""
    return _examples(seed, longest)


def long_runs(seed: int = 7) -> tuple[Run, ...]:
    """These, and prefix-closed data at three step sizes."""
    return (*example_runs(seed), *rate_runs(seed))


def all_runs(seed: int = 7, sets: int = 10, steps: int = 5000) -> tuple[Run, ...]:
    """Ordinary data and long runs."""
    return (*ordinary_runs(seed, sets, steps), *long_runs(seed))


def random_problem(seed: int, *, prefix_closed: bool, vocab_size: int = 8) -> Problem:
    """A random problem with Assumption 3."""
    rng = np.random.default_rng(seed)
    data = generate.random_dataset(rng, vocab_size, 3 * vocab_size, 5, prefix_closed=prefix_closed)
    return from_dataset(data)


def rarer_and_rarer() -> list[Run]:
    """The two-token data with log ratios 1e3, 1e4, 1e5, each run until it has recovered."""
    return [rare.rare_run(ratio, int(15 * ratio), rare.ETA) for ratio in (1e3, 1e4, 1e5)]


@cache
def unequal_problem() -> Problem:
    """0 1 0 five times and 1 0 1 three times."""
    lines = [["0", "1", "0"]] * UNEQUAL[0] + [["1", "0", "1"]] * UNEQUAL[1]
    return from_dataset(from_sentences(lines, "two tokens, 5 to 3"))


def second_step_run(eta: float) -> Run:
    """Two steps on these data."""
    return train(
        f"two tokens, 5 to 3, $\\eta = {eta:g}$",
        unequal_problem(),
        eta0=paper_rates(2)[0],
        eta=eta,
        steps1=rare.STEPS_1,
        steps=2,
    )


def step_size_sweep(points: int) -> tuple[Floats, Floats, Floats]:
    """Step sizes from 1 to 1e7, 1 - cos after two steps at each, and Theorem 1's bound."""
    etas = np.geomspace(1.0, 1e7, points)
    runs = [second_step_run(float(eta)) for eta in etas]
    measured_laws = np.array([run.second.rows.one_minus_cos[-1] for run in runs])
    logs = [bounds.log_thm_1_direction(run.constants, np.log(2)) for run in runs]
    return etas, measured_laws, np.exp(logs)
