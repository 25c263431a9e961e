"""The six panels of Figure 2, with the bounds that fit on their axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ntpbook.huang2024.s7_experiment.experiment import Both
from ntpbook.look.plots import BOUND, OPTIMAL
from ntpcore.huang2024 import bounds

Floats = NDArray[np.float64]

# The six panels by their vertical labels, stage 1 and stage 2 in turn.
PANELS = (
    "loss $\\mathcal{L}_0$, stage 1",
    "loss $\\mathcal{L}$, stage 2",
    "cosine, stage 1",
    "1 − cosine, stage 2",
    "norm, stage 1",
    "norm, stage 2",
)


def panel_values(both: Sequence[Both]) -> dict[str, tuple[Floats, Floats]]:
    """What each panel shows: steps (R,) and measurements (runs, R), from step 1 on."""
    firsts, seconds = [one.first for one in both], [one.run.second.rows for one in both]
    steps = firsts[0].step[1:].astype(float)
    values = (
        [np.exp(one.log_loss) for one in firsts],
        [one.loss for one in seconds],
        [1 - one.one_minus_cos for one in firsts],
        [one.one_minus_cos for one in seconds],
        [one.norm for one in firsts],
        [one.norm for one in seconds],
    )
    return {name: (steps, np.stack(many)[:, 1:]) for name, many in zip(PANELS, values, strict=True)}


def panel_limits(
    both: Sequence[Both],
) -> tuple[dict[str, list[tuple[str, Floats, float, float]]], dict[str, str]]:
    """The bounds that fit on the axes, medians over the runs, and notes on those that do not."""
    steps = both[0].first.step[1:].astype(float)
    many = [one.run.constants for one in both]
    c, end = many[0], float(steps[-1])
    decay = math.exp(both[0].first.log_loss[1]) * np.exp(-bounds.prop_1_loss_rate(c) * steps)
    right = np.median([np.exp(bounds.log_eq_4_loss(one, steps)) for one in many], axis=0)
    lower = np.median([bounds.thm_1_norm(one, steps)[0] for one in many], axis=0)
    far_1 = math.exp(float(bounds.log_prop_1_direction(c, math.log(end))))
    far_2 = min(float(bounds.log_thm_1_direction(one, math.log(end))) for one in many)
    limits = {
        PANELS[0]: [("rate of Prop. 1", decay, 0.7, 12.0)],
        PANELS[1]: [
            ("equation (4)", right, 0.5, -9.0),
            ("floor", np.full_like(steps, bounds.loss_floor(c)), 0.2, 8.0),
        ],
        PANELS[4]: [
            ("Prop. 1, below", bounds.prop_1_norm(c, steps)[0], 0.6, 10.0),
            ("above", bounds.prop_1_norm(c, steps)[1], 0.62, 12.0),
        ],
        PANELS[5]: [
            ("Theorem 1, below", lower, 0.6, 10.0),
            ("above", bounds.thm_1_norm(c, steps)[1], 0.62, 12.0),
        ],
    }
    notes = {
        PANELS[2]: f"Prop. 1 claims ≥ −{far_1 - 1:.0f}\nat the end: off the axis",
        PANELS[
            3
        ]: f"Theorem 1 allows $10^{{{far_2 / math.log(10):.0f}}}$\nat the end: off the axis",
    }
    return limits, notes


def draw_band(axes: Axes, steps: Floats, values: Floats) -> None:
    """Median of several runs and the range of the middle four fifths.

    Args:
        axes: where to draw.
        steps: (R,), recorded steps.
        values: (runs, R), measurements.
    """
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9], axis=0)
    axes.fill_between(steps, low, high, color=OPTIMAL, alpha=0.25, linewidth=0)
    axes.plot(steps, middle, color=OPTIMAL)


def draw_limit(axes: Axes, steps: Floats, values: Floats, label: str, at: float, up: float) -> None:
    """A bound, dashed, with its name at a share of the steps, moved up by so many points."""
    axes.plot(steps, values, "--", color=BOUND, linewidth=1.2)
    x = float(steps[0] + at * (steps[-1] - steps[0]))
    axes.annotate(
        label,
        (x, float(np.interp(x, steps, values))),
        (0, up),
        textcoords="offset points",
        fontsize=9,
        ha="center",
        va="center",
    )


def draw_experiment(
    panels: Sequence[Axes],
    measured: Mapping[str, tuple[Floats, Floats]],
    limits: Mapping[str, Sequence[tuple[str, Floats, float, float]]],
    notes: Mapping[str, str],
) -> None:
    """The six panels of the experiment: loss, direction and norm, stage 1 left and stage 2 right.

    Args:
        panels: six axes, row by row.
        measured: for each vertical label, steps (R,) and measurements (runs, R); labels that begin
            with "loss" or "1 −" get a logarithmic axis.
        limits: for each vertical label, bounds to draw: name, values, where to write the name as a
            share of the steps, and how many points above the line.
        notes: for each vertical label, a remark to write into the panel.
    """
    for axes, (name, (steps, values)) in zip(panels, measured.items(), strict=True):
        stage = 1 if name.endswith("1") else 2
        draw_band(axes, steps, values)
        for label, bound, at, up in limits.get(name, ()):
            draw_limit(axes, steps, bound, label, at, up)
        if name in notes:
            axes.text(
                0.97, 0.8, notes[name], transform=axes.transAxes, ha="right", va="top", fontsize=9
            )
        if name.startswith(("loss", "1")):
            axes.set_yscale("log")
        if name.startswith("cosine"):
            axes.set_ylim(0, 1.1)
        axes.set(xlabel="step $T$" if stage == 1 else "step $t$", ylabel=name)
