"""Checks on very long runs: how far the bounds reach, and where common arithmetic ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpcore.data import generate
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, horizon, naive, training
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, paper_rates, train
from ntpcore.verdicts.claims import Check, Control, Verdict
from ntpcore.verdicts.tables import Table

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

EXACT = 100_000  # steps taken one by one before the flow takes over
LAST = 1e15
PER_DECADE = 10
TOLERANCE = 1e-5  # of the approximation, as an error relative to the offset


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


def long_runs(seed: int) -> list[Long]:
    """Each of the problems, at the step sizes of the experiment, up to `LAST` steps."""
    found = []
    for name, problem in problems(seed):
        eta0, eta = paper_rates(problem.vocab_size)
        run = train(name, problem, eta0=eta0, eta=eta, steps1=900, steps=EXACT)
        found.append(Long(run, extend(run, run.second, EXACT)))
    return found


def extend(run: Run, start: training.Trajectory, step: int) -> horizon.Horizon:
    """The flow from a state that was reached in so many steps, on a grid up to `LAST`."""
    number = round((math.log10(LAST) - math.log10(step)) * PER_DECADE)
    grid = np.concatenate([[step], np.geomspace(step, LAST, number + 1)[1:]])
    return horizon.extend(
        run.problem, start.state.weights, step, run.constants.eta, start.gap, grid
    )


# The approximation


@dataclass(frozen=True)
class Error:
    """How far the flow is from something better.

    Attributes:
        name: the data.
        steps: relative error of the offset at a million steps taken one by one.
        hand_over: relative difference of 1 - cos at `LAST` to a flow that took over four times
            later.
    """

    name: str
    steps: float
    hand_over: float


def error(one: Long, claimed: int = EXACT) -> Error:
    """The errors of one run.

    Args:
        one: the run.
        claimed: how many steps the flow believes were taken when it takes over.
    """
    run, million = one.run, 1_000_000
    second, eta, star = run.second, run.constants.eta, run.problem.W_kq_star / run.problem.norm
    more = {"record": [], "state": second}
    exact = training.run(run.problem, million, eta, second.gap, **more)  # type: ignore[arg-type]
    offset = exact.state.weights - million * eta * star
    near = horizon.extend(
        run.problem, second.state.weights, claimed, eta, second.gap, np.array([float(million)])
    )
    later = training.run(run.problem, 4 * EXACT, eta, second.gap, **more)  # type: ignore[arg-type]
    other = extend(run, later, 4 * EXACT)
    return Error(
        run.name,
        float(np.linalg.norm(near.offset[0] - offset) / np.linalg.norm(offset)),
        abs(float(other.one_minus_cos[-1] / one.far.one_minus_cos[-1]) - 1),
    )


def check_ours_late_flow(errors: Iterable[Error], **parameters: int) -> Check:
    """The late flow agrees with exact steps, and does not depend on where it takes over."""
    label, unit, found = "ours-late-flow", "runs", list(errors)
    if not found:
        return Check(label, Verdict.OPEN, 0, unit, "There is no run.")
    numbers = {
        "steps": f"{max(one.steps for one in found):.0e}",
        "hand_over": f"{max(one.hand_over for one in found):.0e}",
    }
    worst = max(found, key=lambda one: max(one.steps, one.hand_over))
    if not max(worst.steps, worst.hand_over) <= TOLERANCE:
        return Check(
            label,
            Verdict.REFUTED,
            len(found),
            unit,
            "The flow is away from the run.",
            witness=f"{worst.name}: relative error {worst.steps:.1g} at a million steps, "
            f"{worst.hand_over:.1g} by the hand-over",
            numbers=numbers,
            parameters=parameters,
        )
    return Check(
        label,
        Verdict.CONSISTENT,
        len(found),
        unit,
        f"At a million steps the flow misses the exact offset by {numbers['steps']} of its length "
        f"or less; 1 − cos at 1e15 moves by {numbers['hand_over']} when it takes over later.",
        numbers=numbers,
        parameters=parameters,
        by_hand=("the split of the flow into three parts; see the text",),
    )


def control_ours_late_flow(one: Long) -> Control:
    """A flow that takes the run to be one percent older must be noticed."""
    return Control(
        "The flow is told that the run had taken one percent more steps than it had.",
        Verdict.REFUTED,
        check_ours_late_flow([error(one, EXACT + EXACT // 100)]).verdict,
    )


# How far the bounds reach

Bound = Callable[[bounds.Constants, Floats], Floats]


@dataclass(frozen=True)
class Reach:
    """A bound on 1 - cos as a function of log t.

    Attributes:
        what: the bound, in words.
        key: a name for results.
        log_bound: its logarithm.
    """

    what: str
    key: str
    log_bound: Bound


def _printed(c: bounds.Constants, log_t: Floats) -> Floats:
    """Theorem 1 as printed."""
    return bounds.log_thm_1_direction(c, log_t)


def _corrected(c: bounds.Constants, log_t: Floats) -> Floats:
    """Theorem 1 with 1 / pi_min for N."""
    return bounds.log_thm_1_direction(c, log_t, rarity=bounds.PI_MIN)


def _cubed(c: bounds.Constants, log_t: Floats) -> Floats:
    """Theorem 1 with t^3 in the place of t: wrong."""
    return bounds.log_thm_1_direction(c, log_t) - 2 * log_t


BOUNDS = (
    Reach("Theorem 1, as printed", "printed", _printed),
    Reach("Theorem 1, corrected", "corrected", _corrected),
)


def bites(one: Long, bound: Reach) -> float:
    """The first step at which a bound is below 1."""
    c = one.run.constants
    return math.exp(bounds.bites_from(lambda s: float(bound.log_bound(c, np.array(s)))))


def slacks(one: Long, bound: Reach) -> tuple[Floats, Floats]:
    """Steps at which a bound is below 1, and how many powers of ten it is above 1 - cos there."""
    log_bound = bound.log_bound(one.run.constants, np.log(np.maximum(one.step, 2)))
    says = (one.step >= 2) & (log_bound < 0)
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
    header = ("data", "bound", "below 1 from step", "times too large there", "and at 1e15")
    return Table(header, tuple(rows))


def check_ours_reach(
    runs: Iterable[Long], using: Sequence[Reach] = BOUNDS, **parameters: int
) -> Check:
    """Where the bounds on 1 - cos say something, they hold, up to 1e15 steps."""
    label, unit, many = "ours-reach", "runs", list(runs)
    if not many:
        return Check(label, Verdict.OPEN, 0, unit, "There is no run.")
    firsts, least, last = [], math.inf, math.inf
    for one in many:
        for bound in using:
            firsts.append(bites(one, bound))
            steps, slack = slacks(one, bound)
            if not len(slack):
                continue
            if slack.min() < 0:
                return Check(
                    label,
                    Verdict.REFUTED,
                    len(many),
                    unit,
                    "A bound is below what the run shows.",
                    witness=f"{one.run.name}: {bound.what}, step {steps[slack.argmin()]:.1e}, "
                    f"too small by a factor of 1e{-slack.min():.0f}",
                    parameters=parameters,
                )
            least, last = min(least, float(slack[0])), min(last, float(slack[-1]))
    if not math.isfinite(least):
        return Check(label, Verdict.OPEN, 0, unit, "No bound says anything up to 1e15 steps.")
    numbers = {
        "first": f"{min(firsts):.0e}",
        "latest": f"{max(firsts):.0e}",
        "at_first": f"1e{least:.0f}",
        "at_last": f"1e{last:.0f}",
        "runs": str(len(many)),
    }
    return Check(
        label,
        Verdict.CONSISTENT,
        len(many),
        unit,
        f"The bounds on 1 − cos fall below 1 between steps {numbers['first']} and "
        f"{numbers['latest']}. From there to 1e15 they hold, and are too large by a factor of "
        f"{numbers['at_first']} or more.",
        numbers=numbers,
        parameters=parameters,
        by_hand=("beyond 1e5 steps 1 − cos is that of the late flow, an approximation",),
    )


def control_ours_reach(runs: Iterable[Long]) -> Control:
    """A bound that falls like the cube of 1 / t must be noticed."""
    return Control(
        "Theorem 1's bound with t³ in the place of t.",
        Verdict.REFUTED,
        check_ours_reach(runs, [Reach("planted", "planted", _cubed)]).verdict,
    )


# What breaks in floating point

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
        step: recorded steps; they end where the gradient is zero.
        error: ||W - true W|| / ||true W|| there.
        stuck: whether the gradient became zero.
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
        """The first recorded step with an error above a tenth, or the last before a gradient 0."""
        wrong = self.beyond(LEVELS[-1])
        return int(self.step[-1]) if wrong is None and self.stuck else wrong


def walks(seed: int, steps: int) -> list[Walk]:
    """Example 1 and the two random data sets in both precisions."""
    found = []
    for name, problem in problems(seed):
        eta0, eta = paper_rates(problem.vocab_size)
        run = train(name, problem, eta0=eta0, eta=eta, steps1=900, steps=0)
        gap, record = run.second.gap, training.log_grid(steps)[1:]
        true = true_states(problem, eta, gap, record)
        for word, precision in PRECISIONS:
            reached, states = naive.run(problem, steps, eta, gap, precision, record)
            found.append(walk(name, word, reached, states, true, steps))
    return found


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
    """The first recorded steps at which errors pass some levels, and where the gradient is zero."""
    rows = []
    for one in found:
        beyond = [one.beyond(level) for level in LEVELS]
        cells = [str(step) if step is not None else "–" for step in beyond]
        end = f"after {one.step[-1]}" if one.stuck else "–"
        rows.append((one.name, one.precision, *cells, end))
    header = ("data", "precision", *(f"error above {level:g}" for level in LEVELS), "gradient 0")
    return Table(header, tuple(rows))


def check_ours_floating_point(found: Iterable[Walk], **parameters: int) -> Check:
    """Softmax minus one-hot leaves the true path or stops, in either precision."""
    label, unit, many = "ours-floating-point", "runs", list(found)
    if {one.precision for one in many} != {word for word, _ in PRECISIONS}:
        return Check(label, Verdict.OPEN, 0, unit, "Runs in both precisions are needed.")
    kept = [one for one in many if one.lost is None]
    if kept:
        return Check(
            label,
            Verdict.REFUTED,
            len(many),
            unit,
            "A run in common arithmetic stays near the true one.",
            witness=f"{kept[0].name}, {kept[0].precision}: error "
            f"{kept[0].error[-1]:.0e} after {kept[0].step[-1]} steps",
            parameters=parameters,
        )
    numbers = {"stuck": str(sum(one.stuck for one in many)), "runs": str(len(many))}
    for word, _ in PRECISIONS:
        lost = [one.lost for one in many if one.precision == word and one.lost is not None]
        numbers |= {f"{word}_first": str(min(lost)), f"{word}_last": str(max(lost))}
    return Check(
        label,
        Verdict.CONSISTENT,
        len(many),
        unit,
        "Runs are lost, wrong by a tenth or with a gradient of zero, from step "
        f"{numbers['float32_first']} to {numbers['float32_last']} in float32 and from "
        f"{numbers['float64_first']} to {numbers['float64_last']} in float64.",
        numbers=numbers,
        parameters=parameters,
    )


def control_ours_floating_point(steps: int) -> Control:
    """With the true states in the place of those in common arithmetic there is no error."""
    name, problem = problems(0)[0]
    record = training.log_grid(steps)[1:]
    true = true_states(problem, 0.025, 5.0, record)
    fine = [walk(name, word, record, true, true, steps) for word, _ in PRECISIONS]
    return Control(
        "The logarithmic form of the gradient, looked at as if it were the common one.",
        Verdict.REFUTED,
        check_ours_floating_point(fine).verdict,
    )
