"""Check of our statement that a distinct token may lose score in the coupled flow."""

from __future__ import annotations

import numpy as np

from ntpbook.tian2023.s7_discussion.discussion import disordered_classes
from ntpbook.tian2023.s7_discussion.discussion_runs import Trajectory, symmetric, trajectory
from ntpcore.tian2023 import population
from ntpcore.verdicts.claims import Check, Control, Verdict

RATIO = 10.0
DESCENT_STEPS = 20_000  # ten times the step at which the scores of the flow turn negative


def lowest_scores(run: Trajectory, n: int) -> list[float]:
    """Scores of the distinct tokens of class n at the last recorded time."""
    return [float(run.z[-1, run.classes.query[n], x]) for x in run.distinct(n)]


def descended_scores(run: Trajectory, n: int, steps: int) -> list[float]:
    """The same after plain gradient steps instead of the integrated flow."""
    state = population.descend(run.data, population.start(run.data), 1.0, 1 / run.ratio, steps)
    return [float(state.z[0, run.classes.query[n], x]) for x in run.distinct(n)]


def check_ours_distinct_loses(run: Trajectory, n: int = 1, steps: int = DESCENT_STEPS) -> Check:
    """All distinct tokens of one class lose score, by the integrated flow and by gradient steps.

    Args:
        run: the flow on two classes of one query with one common token.
        n: the class.
        steps: of plain gradient descent.
    """
    label, unit = "ours-distinct-loses", "runs, one of the flow and one of gradient steps"
    flow = lowest_scores(run, n)
    stepped = descended_scores(run, n, steps)
    numbers = {
        "flow": ", ".join(f"{z:.3f}" for z in flow),
        "steps": ", ".join(f"{z:.4f}" for z in stepped),
        "count": f"{steps}",
    }
    alone = len(run.common) == 1 and run.classes.K == 2 and run.classes.L == 1
    if alone and max(flow) < 0 and max(stepped) < 0:
        return Check(
            label,
            Verdict.CONSISTENT,
            2,
            unit,
            f"{run.name}: the scores of the distinct tokens of class {n + 1} stand at "
            f"{numbers['flow']} at t = {run.times[-1]:.0e} (flow), and at {numbers['steps']} after "
            f"{steps} gradient steps; they started at 0.",
            numbers=numbers,
            by_hand=("computed in floating point, without a rigorous bound on the rounding",),
        )
    return Check(
        label,
        Verdict.REFUTED,
        2,
        unit,
        "Not all distinct tokens of the class lose.",
        witness=f"{run.name}: scores {numbers['flow']} by the flow, {numbers['steps']} by steps",
        numbers=numbers,
    )


def example(ratio: float = RATIO) -> Trajectory:
    """The flow on our two classes."""
    return trajectory("two classes", disordered_classes(), ratio, np.geomspace(1.0, 1e8, 9))


def control_ours_distinct_loses() -> Control:
    """Symmetric classes, in which distinct tokens gain."""
    run = trajectory("two symmetric classes", symmetric(2), RATIO, np.geomspace(1.0, 1e6, 5))
    return Control(
        "Two classes that are alike but for their tokens.",
        Verdict.REFUTED,
        check_ours_distinct_loses(run, steps=2000).verdict,
    )
