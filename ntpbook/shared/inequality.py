"""How an inequality is judged at the recorded steps of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ntpcore.huang2024.runs import Run
from ntpcore.verdicts.claims import Check, Verdict

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Slack of an inequality at some steps, relative to its right-hand side or as the statement has it;
# negative where the inequality fails.
Slack = tuple[Integers, Floats]


def judge_inequality(
    label: str,
    runs: Iterable[Run],
    slack: Callable[[Run], Slack],
    statement: str,
    *,
    tolerance: float,
    parameters: Mapping[str, int | str] | None = None,
    by_hand: tuple[str, ...] = (),
    vacuous: str = "",
) -> Check:
    """Test an inequality at every recorded step of every run.

    Args:
        label: the claim.
        runs: the runs.
        slack: steps and slacks of one run; an empty array where the inequality says nothing.
        statement: what holds, as a sentence to be continued by "on all ...".
        tolerance: how far below zero rounding alone may push a slack.
        parameters: what repeats the runs.
        by_hand: steps of the argument that were done by hand.
        vacuous: from where the bound would say something, if it does not here.
    """
    worst, where, tried, points = np.inf, "", 0, 0
    for run in runs:
        steps, values = slack(run)
        tried += 1
        points += len(values)
        if len(values) and float(values.min()) < worst:
            worst = float(values.min()) + 0.0  # an error of 0 is no slack of -0
            where = f"{run.name}, step {int(steps[values.argmin()])}"
    unit, shown = "runs", dict(parameters or {})
    if not points:
        several = f"none of the {tried} runs reaches" if tried != 1 else "the run does not reach"
        reason = f"Not decided: {several} a step at which the statement says anything."
        return Check(label, Verdict.OPEN, 0, unit, reason, parameters=shown)
    numbers = {"worst": f"{worst:.2g}", "runs": str(tried), "points": str(points)}
    numbers["tolerance"] = f"{tolerance:g}"
    if worst < -tolerance:
        return Check(
            label,
            Verdict.REFUTED,
            tried,
            unit,
            f"The inequality fails on {tried} runs, {points} recorded steps.",
            witness=f"{where}: slack {worst:.2g}",
            numbers=numbers,
            parameters=shown,
        )
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        unit,
        f"{statement} {on_all(tried)} at all {points} recorded steps.",
        slack=f"{worst:.2g} ({where})",
        numbers=numbers,
        parameters=shown,
        by_hand=by_hand,
        vacuous=vacuous,
    )


def on_all(runs: int) -> str:
    """That all runs were examined, for one of them and for many."""
    return "on the run" if runs == 1 else f"on all {runs} runs"
