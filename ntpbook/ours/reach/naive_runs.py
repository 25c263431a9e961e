"""Runs in common arithmetic, softmax minus one-hot, beside the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpbook.ours.reach import naive
from ntpbook.ours.reach.long_runs import problems
from ntpcore.huang2024 import training
from ntpcore.huang2024.problem import Problem
from ntpcore.huang2024.runs import paper_rates, train
from ntpverdicts.once import once
from ntpverdicts.tables import Table

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

PRECISIONS: tuple[tuple[str, type[np.floating[Any]]], ...] = (
    ("float32", np.float32),
    ("float64", np.float64),
)
LEVELS = (1e-6, 1e-3, 0.1)


@dataclass(frozen=True, eq=False)
class Walk:
    """A run in common arithmetic beside the true one.

    Attributes:
        name: the data.
        precision: of the numbers.
        step: recorded steps; they end where the computed norm of the gradient is zero.
        error: ||W - true W|| / ||true W|| there.
        stuck: whether that norm became zero, by underflow of the squares.
    """

    name: str
    precision: str
    step: Integers
    error: Floats
    stuck: bool

    def beyond(self, level: float) -> int | None:
        """The first recorded step with a larger error."""
        where = np.flatnonzero(self.error > level)
        return int(self.step[where[0]]) if len(where) else None

    @property
    def lost(self) -> int | None:
        """The first recorded step with an error above a tenth, or the last before a norm of 0."""
        wrong = self.beyond(LEVELS[-1])
        return int(self.step[-1]) if wrong is None and self.stuck else wrong


@once
def walks(seed: int = 0, steps: int = 20_000) -> tuple[Walk, ...]:
    """Example 1 and the two random data sets in both precisions."""
    found = []
    for name, problem in problems(seed):
        eta0, eta = paper_rates(problem.vocab_size)
        run = train(name, problem, eta0=eta0, eta=eta, steps1=training.STEPS, steps=0)
        gap, record = run.second.gap, training.log_grid(steps)[1:]
        true = true_states(problem, eta, gap, record)
        for word, precision in PRECISIONS:
            reached, states = naive.run(problem, steps, eta, gap, precision, record)
            found.append(walk(name, word, reached, states, true, steps))
    return tuple(found)


def short_walks(seed: int = 0) -> tuple[Walk, ...]:
    """The same for the steps of the paper's experiment."""
    return walks(seed, training.STEPS)


def logarithmic(seed: int = 0, steps: int = 300) -> list[Walk]:
    """The true states in the place of those in common arithmetic, on Example 1: no error."""
    name, problem = problems(seed)[0]
    eta0, eta = paper_rates(problem.vocab_size)
    gap = train(name, problem, eta0=eta0, eta=eta, steps1=training.STEPS, steps=0).second.gap
    record = training.log_grid(steps)[1:]
    true = true_states(problem, eta, gap, record)
    return [walk(name, word, record, true, true, steps) for word, _ in PRECISIONS]


def true_states(problem: Problem, eta: float, gap: float, record: Integers) -> Floats:
    """The entries of W_kq at some steps, (R, K)."""
    states, run = [], None
    for step in record.tolist():
        run = training.run(problem, step, eta, gap, record=[], state=run)
        states.append(run.state.weights)
    return np.array(states)


def walk(
    name: str, precision: str, reached: Integers, states: NDArray[Any], true: Floats, steps: int
) -> Walk:
    """Compare a run in common arithmetic with the true one."""
    right = true[: len(reached)]
    apart = np.linalg.norm(states.astype(float) - right, axis=1) / np.linalg.norm(right, axis=1)
    return Walk(name, precision, reached, apart, len(reached) == 0 or int(reached[-1]) < steps)


def walk_table(found: Sequence[Walk]) -> Table:
    """The first recorded steps at which errors pass some levels, and where the norm is 0."""
    rows = []
    for one in found:
        beyond = [one.beyond(level) for level in LEVELS]
        cells = [str(step) if step is not None else "–" for step in beyond]
        end = f"after {one.step[-1]}" if one.stuck else "–"
        rows.append((one.name, one.precision, *cells, end))
    header = ("data", "precision", *(f"error above {level:g}" for level in LEVELS), "norm 0")
    return Table(header, tuple(rows))
