"""Very long runs: steps taken one by one, and the late flow from there to 1e15 steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore.data import generate
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, horizon, training
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, paper_rates, train
from ntpverdicts.once import once
from ntpverdicts.tables import Table

Floats = NDArray[np.float64]

EXACT = 100_000  # steps taken one by one before the flow takes over
MILLION = 1_000_000  # steps taken one by one to compare the flow with
LAST = 1e15
PER_DECADE = 10


@dataclass(frozen=True, eq=False)
class Long:
    """A run, and what the late flow makes of it.

    Attributes:
        run: the steps taken one by one.
        far: the flow from there on.
    """

    run: Run
    far: horizon.Horizon

    @property
    def step(self) -> Floats:
        """t, first exact from 1 on, then by the flow."""
        exact = self.run.second.rows.step
        return np.concatenate([exact[exact >= 1].astype(float), self.far.step[1:]])

    @property
    def one_minus_cos(self) -> Floats:
        """1 - cos at these steps."""
        rows = self.run.second.rows
        return np.concatenate([rows.one_minus_cos[rows.step >= 1], self.far.one_minus_cos[1:]])

    @property
    def log_excess(self) -> Floats:
        """log(L - L_star) at these steps."""
        rows = self.run.second.rows
        return np.concatenate([rows.log_excess[rows.step >= 1], self.far.log_excess[1:]])


def problems(seed: int) -> list[tuple[str, Problem]]:
    """Example 1, and the random data of the experiment, prefix-closed and not."""
    found = [("Example 1", from_dataset(example_1()))]
    for closed, name in ((True, "prefix-closed"), (False, "not prefix-closed")):
        data = generate.experiment(seed, prefix_closed=closed).data
        found.append((f"random, {name}", from_dataset(data)))
    return found


@once
def long_runs(seed: int = 0) -> tuple[Long, ...]:
    """Each of the problems, at the step sizes of the experiment, up to `LAST` steps."""
    found = []
    for name, problem in problems(seed):
        eta0, eta = paper_rates(problem.vocab_size)
        run = train(name, problem, eta0=eta0, eta=eta, steps1=training.STEPS, steps=EXACT)
        found.append(Long(run, extend(run, run.second, EXACT)))
    return tuple(found)


def extend(run: Run, start: training.Trajectory, step: int) -> horizon.Horizon:
    """The flow from a state that was reached in so many steps, on a grid up to `LAST`."""
    number = round((math.log10(LAST) - math.log10(step)) * PER_DECADE)
    grid = np.concatenate([[step], np.geomspace(step, LAST, number + 1)[1:]])
    return horizon.extend(
        run.problem, start.state.weights, step, run.constants.eta, start.gap, grid
    )


def taken(run: Run, steps: int) -> training.Trajectory:
    """The run continued to so many steps, one by one."""
    second = run.second
    return training.run(run.problem, steps, run.constants.eta, second.gap, record=[], state=second)


def offset_error(one: Long, claimed: int = EXACT, eta: float = 1.0) -> float:
    """Relative error of the flow's offset at a million steps, against steps taken one by one.

    Args:
        one: the run.
        claimed: how many steps the flow believes were taken when it takes over.
        eta: factor of the step size that it believes in.
    """
    run = one.run
    second, rate, star = run.second, run.constants.eta, run.problem.W_kq_star / run.problem.norm
    offset = taken(run, MILLION).state.weights - MILLION * rate * star
    far = np.array([float(MILLION)])
    near = horizon.extend(run.problem, second.state.weights, claimed, eta * rate, second.gap, far)
    return float(np.linalg.norm(near.offset[0] - offset) / np.linalg.norm(offset))


def hand_over(one: Long) -> float:
    """Relative difference of 1 - cos at `LAST` to a flow that took over four times later."""
    other = extend(one.run, taken(one.run, 4 * EXACT), 4 * EXACT)
    return abs(float(other.one_minus_cos[-1] / one.far.one_minus_cos[-1]) - 1)


# How far the bounds reach


@dataclass(frozen=True)
class Reach:
    """A bound on 1 - cos as a function of log t.

    Attributes:
        what: the bound, in words.
        rarity: what stands for N in it.
    """

    what: str
    rarity: str

    def log_bound(self, c: bounds.Constants, log_t: Floats) -> Floats:
        """Its logarithm."""
        return bounds.log_thm_1_direction(c, log_t, rarity=self.rarity)


BOUNDS = (
    Reach("Theorem 1, as stated", bounds.N),
    Reach("Theorem 1, corrected", bounds.PI_MIN),
)


def bites(one: Long, bound: Reach) -> float:
    """The first step at which a bound says more than the norm bounds alone."""
    return math.exp(bounds.thm_1_speaks_from(one.run.constants, rarity=bound.rarity))


def slacks(one: Long, bound: Reach) -> tuple[Floats, Floats]:
    """Steps at which a bound says more than the norms alone, log_10 of it by 1 - cos there."""
    log_bound = bound.log_bound(one.run.constants, np.log(np.maximum(one.step, 2)))
    says = one.step >= bites(one, bound)
    slack = (log_bound - np.log(one.one_minus_cos))[says] / math.log(10)
    return one.step[says], slack


def reach_table(runs: Sequence[Long]) -> Table:
    """From where each bound says something, and how far above the truth it is there and at last."""
    rows = []
    for one in runs:
        for bound in BOUNDS:
            slack = slacks(one, bound)[1]
            cells = [f"{bites(one, bound):.1e}"]
            cells += [f"1e{slack[place]:.0f}" for place in (0, -1)] if len(slack) else ["–", "–"]
            rows.append((one.run.name, bound.what, *cells))
    header = (
        "data",
        "bound",
        "improves on the norm bounds from step",
        "factor by which it is too large there",
        "and at step 1e15",
    )
    return Table(header, tuple(rows))
