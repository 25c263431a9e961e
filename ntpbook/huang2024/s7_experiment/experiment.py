"""The paper's experiment on random data sets of both kinds, and with errors planted in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from ntpcore.data import generate
from ntpcore.huang2024 import stage1, training
from ntpcore.huang2024.problem import from_dataset
from ntpcore.huang2024.runs import Run, train
from ntpverdicts.once import once


@dataclass(frozen=True, eq=False)
class Both:
    """Both stages of one run of the paper's experiment.

    Attributes:
        seed: of the data.
        first: measurements of stage 1, iterated step by step.
        run: stage 2.
    """

    seed: int
    first: stage1.Stage1
    run: Run

    @property
    def name(self) -> str:
        """Kind and seed of the data."""
        return self.run.name


@once
def experiments(seed: int, seeds: int, *, prefix_closed: bool = True) -> tuple[Both, ...]:
    """The paper's experiment on random data sets from consecutive seeds."""
    return tuple(made(number, prefix_closed) for number in range(seed, seed + seeds))


def made(seed: int, prefix_closed: bool) -> Both:
    """The experiment on one random data set."""
    setting = generate.experiment(seed, prefix_closed=prefix_closed)
    problem = from_dataset(setting.data)
    grid = np.unique([1, *range(0, setting.steps1 + 1, 10)])
    first, _ = stage1.iterate(problem.following, setting.steps1, setting.eta0, record=grid)
    run = train(
        f"{'prefix-closed' if prefix_closed else 'general'} data, seed {seed}",
        problem,
        eta0=setting.eta0,
        eta=setting.eta,
        steps1=setting.steps1,
        steps=setting.steps2,
        record=[int(step) for step in grid],
    )
    return Both(seed, first, run)


def both_kinds(seed: int = 7, seeds: int = 20) -> Iterator[Both]:
    """Prefix-closed data and others, one of each for every seed."""
    yield from experiments(seed, seeds)
    yield from experiments(seed, seeds, prefix_closed=False)


# Errors planted in the first run


def with_rows(both: Both, rows: training.Rows) -> Both:
    """The same run with other measurements of stage 2."""
    return replace(both, run=replace(both.run, second=replace(both.run.second, rows=rows)))


def backwards(seed: int = 7) -> list[Both]:
    """Losses and angles of stage 2 in the reverse order, from step 1 on; at 0 there is no angle."""
    both = experiments(seed, 1)[0]
    rows = both.run.second.rows
    turned = {
        name: np.append(getattr(rows, name)[:1], getattr(rows, name)[:0:-1])
        for name in ("log_excess", "one_minus_cos")
    }
    return [with_rows(both, replace(rows, **turned))]


def stalled(seed: int = 7) -> list[Both]:
    """All measurements of stage 2 but the step frozen after a third of the run."""
    both = experiments(seed, 1)[0]
    rows = both.run.second.rows
    place = np.minimum(np.arange(len(rows.step)), len(rows.step) // 3)
    names = [one.name for one in fields(rows) if one.name != "step"]
    return [with_rows(both, replace(rows, **{name: getattr(rows, name)[place] for name in names}))]


def slow_norm(seed: int = 7) -> list[Both]:
    """A norm of stage 2 that grows like the square root of the step."""
    both = experiments(seed, 1)[0]
    rows = both.run.second.rows
    return [with_rows(both, replace(rows, norm=rows.norm[-1] * np.sqrt(rows.step / rows.step[-1])))]
