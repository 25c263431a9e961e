"""Drawings of the pages on the loss, on unseen sentences and on the experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ntpcore.pages.plots import BOUND, NONCOMPARABLE, NONOPTIMAL, OPTIMAL

Floats = NDArray[np.float64]
Curve = tuple[Floats, Floats]

LOOKS = {
    "optimal": (OPTIMAL, "-"),
    "non-optimal": (NONOPTIMAL, "-."),
    "other": (NONCOMPARABLE, "-"),
}


def new_grid(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """A figure of several panels, row by row."""
    fig, axes = plt.subplots(rows, columns, figsize=size, layout="constrained")
    return fig, list(np.ravel(axes))


def draw_attention(
    axes: Axes, steps: Floats, curves: Mapping[str, Floats], roles: Mapping[str, str]
) -> None:
    """Attention on each token of one sentence over the steps.

    Args:
        axes: where to draw.
        steps: recorded steps.
        curves: total weight on each token.
        roles: optimal, non-optimal or non-comparable, for each token.
    """
    drawn: list[Floats] = []
    for token, values in curves.items():
        color, style = LOOKS.get(roles[token], LOOKS["other"])
        if any(np.abs(values - one).max() < 0.01 for one in drawn):
            color, style = BOUND, "--"  # dashed over the other, so that both are seen
        meets = any(abs(float(values[-1] - one[-1])) < 0.07 for one in drawn)
        drawn.append(values)
        axes.plot(steps, values, linestyle=style, color=color)
        height = float(values[-1]) + (-0.06 if meets else 0.03)
        axes.text(float(steps[-1]) * 1.12, height, token, color=color, va="center")
    axes.set(xscale="log", ylim=(-0.12, 1.08), xlim=(1, float(steps[-1]) * 2.2))


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
            with "loss" or "1 -" get a logarithmic axis.
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
