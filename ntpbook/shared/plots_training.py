"""Drawings of the pages on unseen sentences and on the experiment."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ntpbook.look.plots import BOUND, NONCOMPARABLE, NONOPTIMAL, OPTIMAL

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
