"""Drawings of the pages on Algorithm 1 and on the gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL, OTHER

Floats = NDArray[np.float64]


def draw_losses(
    axes: Axes,
    steps: Sequence[int],
    literal: tuple[Sequence[float], Sequence[float]],
    library: tuple[Floats, Floats, float],
) -> None:
    """Losses of both stages: the library as lines, the literal algorithm as markers.

    Args:
        axes: where to draw.
        steps: the recorded steps, of either stage.
        literal: losses of stage 1 and of stage 2.
        library: the same, and the floor of stage 2.
    """
    names = ("stage 1, $\\mathcal{L}_0$", "stage 2, $\\mathcal{L}$")
    looks = ((NONCOMPARABLE, "o"), (OPTIMAL, "s"))
    rows = zip(names, literal, library[:2], looks, strict=True)
    for name, markers, line, (color, marker) in rows:
        axes.plot(steps, line, "-", color=color)
        axes.plot(steps, markers, marker, color=color, markerfacecolor="white")
        axes.text(steps[0] * 1.1, line[0] * 1.15, name, color=color, va="bottom")
    axes.axhline(library[2], linestyle="--", color=BOUND, linewidth=1)
    axes.text(steps[0], library[2] * 1.1, "least loss of stage 2", va="bottom")
    axes.set(xscale="log", yscale="log", xlabel="step $t$ of the stage", ylabel="loss (nats)")


def draw_differences(
    axes: Axes,
    exponents: Sequence[int],
    right: Mapping[str, Sequence[float]],
    planted: Sequence[float],
) -> None:
    """Distance of formulas from difference quotients against the step h, with a planted error.

    Args:
        axes: where to draw.
        exponents: k of the steps h = 10^-k.
        right: distances by formula.
        planted: distances of (6) with an error.
    """
    steps = [10.0**-k for k in exponents]
    looks = ((OPTIMAL, "o", "top", 1e-2), (NONCOMPARABLE, "s", "bottom", 1e2))
    for (name, values), (color, marker, side, shift) in zip(right.items(), looks, strict=True):
        axes.plot(steps, values, "-", marker=marker, color=color)
        axes.text(steps[-2], values[-2] * shift, name, color=color, va=side, ha="center")
    axes.plot(steps, planted, "-", marker="x", color=OTHER)
    axes.text(steps[-1], planted[-1] * 1e-1, "(6) with a planted error", color=OTHER, va="top")
    axes.set(xscale="log", yscale="log", xlabel="step $h$ of the difference quotient")
    axes.set_ylabel("relative distance")


def draw_float_errors(
    axes: Axes, scales: Sequence[float], errors: Mapping[str, Sequence[float]]
) -> None:
    """Errors of the direction of a gradient in floats, by the scale of the weights."""
    looks = ((OTHER, "s"), (OPTIMAL, "o"))
    for (name, values), (color, marker) in zip(errors.items(), looks, strict=True):
        axes.plot(scales, np.maximum(values, 1e-17), "-", marker=marker, color=color)
        axes.text(scales[len(scales) // 2] + 3, values[len(scales) // 2] / 900, name, color=color)
    axes.set(yscale="log", ylim=(1e-20, 10), xlabel="scale of $W_{\\mathrm{kq}}$")
    axes.set_ylabel("error of the direction")
