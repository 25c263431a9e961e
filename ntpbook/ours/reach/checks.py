"""Checks on very long runs: the late flow, the reach of the bounds, and common arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ntpbook.ours.reach.long_runs import (
    BOUNDS,
    EXACT,
    LAST,
    Long,
    bites,
    hand_over,
    long_runs,
    offset_error,
    slacks,
)
from ntpbook.ours.reach.naive_runs import LEVELS, PRECISIONS, Walk, logarithmic, short_walks, walks
from ntpbook.shared.levels import within
from ntpverdicts import arrays
from ntpverdicts.compare import Said, count, finite, holds, least, left_out, most
from ntpverdicts.maths import in_words
from ntpverdicts.vocabulary import Variant, check

TOLERANCE = 1e-5  # of the approximation, as an error relative to the offset
SOLVER = "a solver's error; rounded up to a power of ten"
LATE_FLOW = "the late flow, an approximation of training"
DECIDED = "rounding errors, which decide where a run leaves the true path"


@check(
    "ours-late-flow",
    over="runs",
    instances=long_runs,
    observes=True,
    says="On {tried} runs the flow computes the offset "
    r"$v = W_{\mathrm{kq}} - t\eta\, W_{\mathrm{kq}}^*/\|W_{\mathrm{kq}}^*\|$ after one million "
    r"steps with a relative error of at most {steps}. Starting the flow later changes $1 - \cos$ "
    "at $10^{15}$ steps by a relative difference of at most {hand_over}. The check allows errors "
    "of $10^{-5}$.",
    fails="The flow differs from the run, or from a flow that starts later, by a relative error of "
    "more than $10^{-5}$.",
    planted={
        "The flow started as if the run had taken one percent more steps.": {
            "claimed": EXACT + EXACT // 100
        },
        "The flow started with a step size that is 0.1 percent too large.": {"eta": 1.001},
    },
)
def check_ours_late_flow(one: Long, claimed: int = EXACT, eta: float = 1.0) -> Iterator[Said]:
    """||v - v_exact|| / ||v_exact|| at 1e6 steps, and 1 - cos at 1e15, by the time of take-over.

    Args:
        one: a run of 1e5 steps and the flow from there on.
        claimed: how many steps the flow believes were taken when it takes over.
        eta: factor of the step size that it believes in.
    """
    near, later = offset_error(one, claimed, eta), hand_over(one)
    yield within(near, TOLERANCE, f"relative error {in_words(f'{near:.1g}')} at a million steps")
    yield within(
        later, TOLERANCE, f"relative change {in_words(f'{later:.1g}')} by starting the flow later"
    )
    yield most("steps", near, digits=1, origin=LATE_FLOW)
    yield most("hand_over", power_above(later), digits=1, origin=SOLVER)


def power_above(value: float) -> float:
    """The power of ten that a number does not exceed; 1e-16 for what is smaller."""
    return float(10.0 ** math.ceil(math.log10(max(finite(value), 1e-16))))


@check(
    "ours-reach",
    over="runs",
    instances=long_runs,
    observes=True,
    says=r"On {tried} runs the bounds of Theorem 1 on $1 - \cos$, as stated and corrected, become "
    "smaller than the bound from the norms alone between steps {first} and {latest}. From there "
    "to $10^{15}$ steps they hold in all {compared} comparisons, and are too large by a factor of "
    r"at least {at_first}. Beyond $10^5$ steps $1 - \cos$ comes from the late flow, an "
    "approximation.",
    fails="A bound is smaller than the value in a run.",
    planted={
        "Theorem 1's bound with $t^3$ in place of $t$.": {"power": 2},
        "Theorem 1's bound divided by $10^{25}$.": {"divided": 1e25},
    },
)
def check_ours_reach(one: Long, power: int = 0, divided: float = 1.0) -> Iterator[Said]:
    """1 - cos <= 54 N L_max^4 ||W*||^4 log^2 t / (t eta), printed and with 1/pi_min for N.

    From where the right-hand side is below 1 - 1/(sqrt(2) ||W*||), which the norms alone give, to
    1e15 steps; compared as logarithms to the base 10.

    Args:
        one: a run.
        power: of 1/t by which the bounds are multiplied.
        divided: a number by which they are divided.
    """
    for bound in BOUNDS:
        first = bites(one, bound)
        steps, slack = slacks(one, bound)
        yield least("first", first, digits=1)
        yield most("latest", first, digits=1)
        if not len(slack):
            last = in_words(f"{LAST:.0e}")
            yield left_out(f"{bound.what} does not improve on the norm bounds up to {last} steps")
            continue
        left = slack - power * np.log10(steps) - math.log10(divided)
        at = [f"{step:.1e}" for step in steps]
        yield arrays.slack(left, f"{bound.what}, step {{at}}", at=at)
        yield least("at_first", 10.0 ** float(slack[0]), digits=1, origin=LATE_FLOW)
        yield least("at_last", 10.0 ** float(slack[-1]), digits=1, origin=LATE_FLOW)


@check(
    "ours-floating-point",
    over="runs",
    instances=walks,
    observes=True,
    says="All {tried} runs leave the true path: the error reaches ten percent of "
    r"$\|W_{\mathrm{kq}}\|$, or the computed norm of the gradient becomes 0. In float32 the runs "
    "fail in this way between steps {float32_first} and {float32_last}, in float64 between "
    "{float64_first} and {float64_last}. In {stuck} of the runs the computed norm of the "
    "gradient became 0.",
    fails="A run in common arithmetic stays near the true path.",
    planted={
        "The logarithmic form of the gradient in place of softmax minus one-hot.": Variant(
            instances=logarithmic
        ),
        "Only the 900 steps of the paper's experiment.": Variant(instances=short_walks),
    },
)
def check_ours_floating_point(one: Walk) -> Iterator[Said]:
    """||W - true W|| > ||true W|| / 10 at a recorded step, or a computed norm of 0."""
    worst = float(finite(float(one.error.max(initial=0.0)), one.name))
    end = int(one.step[-1]) if len(one.step) else 0
    where = f"{one.precision}, largest error {worst:.0e} in {end} steps"
    yield holds(one.stuck or worst > LEVELS[-1], where)
    yield count("stuck", int(one.stuck))
    if one.lost is not None and one.precision in {word for word, _ in PRECISIONS}:
        yield least(f"{one.precision}_first", float(one.lost), digits=1, origin=DECIDED)
        yield most(f"{one.precision}_last", float(one.lost), digits=1, origin=DECIDED)
