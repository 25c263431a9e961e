"""Checks of the abstract: where attention goes, and what it leaves behind."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s7_discussion.discussion_runs import (
    Trajectory,
    backwards,
    power_of_ten,
    trajectory,
)
from ntpcore.tian2023.classes import SequenceClasses
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

INTEGRATOR = 1e-8  # five times what a tolerance of 1e-11 instead of 1e-8 changes in the runs

# The first stage


def check_tian2023_app_uniform_start(runs: Sequence[Trajectory], **parameters: int) -> Check:
    """Attention starts as P(.|n) and moves to distinct tokens, on average over the classes.

    Args:
        runs: coupled flows from zero.
        parameters: what repeats the runs.
    """

    def instances() -> Iterator[Case]:
        for run in runs:
            c = run.c
            start = float(np.abs(c[0] - run.classes.probabilities).max())
            lost = c[:, :, run.common].sum(axis=2)
            mean = lost.mean(axis=1)
            moved = float((mean[:-1] - mean[1:]).min())
            yield Case(run.name, min(moved, -start if start > 1e-15 else math.inf))

    check = judge(
        "tian2023-app-uniform-start",
        instances(),
        unit="runs of the coupled flow",
        claim="Every token starts with its share of the context, and the attention on common "
        "tokens, averaged over the classes, never rises",
        tolerance=INTEGRATOR,
        parameters=parameters,
    )
    if check.verdict is Verdict.REFUTED:
        return check
    single = [run for run in runs if len(run.common) == 1]
    alone = min(float(-np.diff(run.c[:, :, run.common[0]], axis=0).max()) for run in single)
    rising = trajectory("three classes", rising_common_classes(), 100.0)
    mass = rising.c[:, :, rising.common].sum(axis=2)
    n = int(np.argmax(mass[-1] - mass[0]))
    changes = [run.c[-1][:, run.common].sum() / run.classes.K for run in runs]
    starts = [run.c[0][:, run.common].sum() / run.classes.K for run in runs]
    return replace(
        check,
        numbers={
            **check.numbers,
            "single": str(len(single)),
            "before": f"{mass[0, n]:.4f}",
            "after": f"{mass[-1, n]:.4f}",
            "start": f"{np.mean(starts):.2f}",
            "end": f"{np.mean(changes):.2f}",
        },
        readings=(
            Reading("on average over the classes", check.verdict),
            Reading(
                f"in each class, where there is one common token ({len(single)} runs)",
                Verdict.CONSISTENT if alone >= -INTEGRATOR else Verdict.REFUTED,
            ),
            Reading(
                "in each class, with any number of common tokens: in a class of the three classes "
                f"on the page the common tokens go from {mass[0, n]:.4f} to {mass[-1, n]:.4f}",
                Verdict.REFUTED if mass[-1, n] > mass[0, n] + INTEGRATOR else Verdict.CONSISTENT,
            ),
        ),
    )


def rising_common_classes() -> SequenceClasses:
    """Three classes with two common tokens, in one of which the common tokens gain together."""
    weights = np.array(RISING, dtype=float)
    return SequenceClasses(weights / weights.sum(axis=1, keepdims=True), (0,) * len(weights))


RISING = (
    (1, 0, 1, 2, 0, 0, 0, 0),
    (3, 4, 0, 0, 1, 3, 0, 0),
    (0, 6, 0, 0, 0, 0, 1, 3),
)


def control_tian2023_app_uniform_start(run: Trajectory) -> Control:
    """Scores of the wrong sign turn attention to common tokens."""
    return Control(
        "Scores with the opposite sign.",
        Verdict.REFUTED,
        check_tian2023_app_uniform_start([backwards(run)]).verdict,
    )


# The order in which distinct tokens are left behind


def order_slack(run: Trajectory, until: float = math.inf) -> float:
    """Least lead of a more frequent distinct token over a rarer one of its class, up to a time."""
    worst = math.inf
    for n in range(run.classes.K):
        z = run.z[run.times <= until][:, run.classes.query[n], run.distinct(n)]
        if z.shape[1] > 1:
            worst = min(worst, float(np.diff(z, axis=1).min()))
    return worst


def check_tian2023_app_dropping(
    runs: Sequence[Trajectory], fast: float = 100.0, until: float = 1e6, **parameters: int
) -> Check:
    """Of two distinct tokens the more frequent one gains more, if the decoder is fast, for long.

    Args:
        runs: coupled flows from zero.
        fast: least eta_Y / eta_Z of a run that counts as having a fast decoder.
        until: up to which time the order is demanded.
        parameters: what repeats the runs.
    """
    quick = [run for run in runs if run.ratio >= fast]
    check = judge(
        "tian2023-app-dropping",
        (Case(run.name, order_slack(run, until)) for run in quick),
        unit="runs of the coupled flow",
        claim="Of two distinct tokens of a class the rarer one never leads up to "
        f"{until:.0e} steps, for eta_Y / eta_Z >= {fast:g}",
        tolerance=INTEGRATOR,
        parameters=parameters,
    )
    if check.verdict is Verdict.REFUTED:
        return check
    slow = [run for run in runs if run.ratio < fast]
    broken = sum(order_slack(run) < -INTEGRATOR for run in slow)
    later = sum(order_slack(run) < -INTEGRATOR for run in quick)
    example = trajectory("classes of the page", disordered_classes(), 10.0)
    rare, often = example.z[-1, 0, example.distinct(1)]
    dropped = sum(bool((run.c[-1] < run.c[0])[0, run.distinct(0)[0]]) for run in quick)
    horizon = power_of_ten(runs)
    return replace(
        check,
        numbers={
            **check.numbers,
            "slow": str(len(slow)),
            "broken": str(broken),
            "later": str(later),
            "rare": f"{rare:.3f}",
            "often": f"{often:.3f}",
            "dropped": str(dropped),
        },
        readings=(
            Reading(
                f"the rarer token falls behind, for eta_Y / eta_Z >= {fast:g}, {until:.0e} steps",
                check.verdict,
            ),
            Reading(
                f"the rarer token falls behind, whenever eta_Y > eta_Z, for {horizon} steps: with "
                f"the ratio 10 it leads in {broken} of {len(slow)} runs, from {fast:g} on in "
                f"{later} of {len(quick)}; two classes with the weights {DISORDERED} and the ratio "
                f"10 end with scores of {rare:.3f} for the rarer and {often:.3f} for the other",
                Verdict.REFUTED if rare > often + INTEGRATOR else Verdict.CONSISTENT,
            ),
            Reading(
                "the attention on the rarest token falls below its start: in the first class it "
                f"does so in {dropped} of {len(quick)} runs, since what common tokens lose is "
                "shared by all",
                Verdict.REFUTED if dropped < len(quick) else Verdict.CONSISTENT,
            ),
        ),
    )


DISORDERED = (
    (1, 1, 3, 0, 0),
    (4, 0, 0, 1, 2),
)


def disordered_classes() -> SequenceClasses:
    """Two classes with one common token, in one of which the rarer distinct token stays ahead."""
    weights = np.array(DISORDERED, dtype=float)
    return SequenceClasses(weights / weights.sum(axis=1, keepdims=True), (0,) * len(weights))


def control_tian2023_app_dropping(run: Trajectory) -> Control:
    """Scores of the wrong sign reverse the order."""
    return Control(
        "Scores with the opposite sign, which favour rare tokens.",
        Verdict.REFUTED,
        check_tian2023_app_dropping([backwards(run)]).verdict,
    )
