"""Drawings of the pages on Algorithm 1, on stage 1 and on the gradients."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ntpcore.huang2024 import bounds, stage1
from ntpcore.pages.plots import BOUND, NONCOMPARABLE, NONOPTIMAL, OPTIMAL

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


def draw_norm(axes: Axes, rows: stage1.Stage1, c: bounds.Constants, start: float) -> None:
    """The norm of W_ov from a random start, between the bounds of Lemma 1."""
    t = rows.step.astype(np.float64)
    lower, upper = bounds.lem_1_norm(c, t, start)
    axes.plot(t, rows.norm, "-", color=OPTIMAL)
    axes.plot(t, upper, "--", color=BOUND, linewidth=1)
    axes.plot(t, np.asarray(lower), "--", color=BOUND, linewidth=1)
    end = t[-1]
    axes.text(end, rows.norm[-1], " measured", color=OPTIMAL, va="center")
    axes.text(end, float(np.asarray(upper)[-1]), " upper bound", va="center")
    axes.text(end, float(np.asarray(lower)[-1]), " lower bound", va="center")
    axes.axhline(0, color=NONCOMPARABLE, linewidth=0.6)
    axes.set_xlim(0, 1.22 * end)
    axes.set(xlabel="step $t$", ylabel="norm $\\|W_{\\mathrm{ov}}\\|$")


def draw_direction(axes: Axes, c: bounds.Constants, rows: stage1.Stage1) -> None:
    """Rounding-level 1 - cos as measured, far below the bound of Proposition 1 drawn beyond T."""
    later = rows.step >= 1
    t = rows.step[later].astype(np.float64)
    axes.plot(t, np.maximum(rows.one_minus_cos[later], 1e-33), "o", color=OPTIMAL, markersize=3)
    log_from = bounds.bites_from(lambda log_t: bounds.log_prop_1_direction(c, log_t))
    log_t = np.linspace(math.log(2), log_from + 4, 200)
    bound = np.exp(bounds.log_prop_1_direction(c, log_t))
    axes.plot(np.exp(log_t), bound, "--", color=BOUND)
    axes.axhspan(2, 1e9, color=NONCOMPARABLE, alpha=0.15, linewidth=0)
    axes.axvline(c.steps1, color=NONCOMPARABLE, linewidth=0.8, linestyle=":")
    axes.plot(math.exp(log_from), 1, "D", color=BOUND)
    axes.text(math.exp(log_from), 1e-5, "below 1\nfrom here", ha="center", va="center")
    axes.text(2, 1e6, "impossible: $1-\\cos$ is at most 2", va="center")
    axes.text(c.steps1 * 1.3, 1e-12, "end of the\nexperiment", va="center", color=NONCOMPARABLE)
    axes.text(1.2, 1e-26, "measured (rounding)", color=OPTIMAL, va="center")
    axes.text(math.exp(log_t[-1]), float(bound[-1]) / 30, "bound", ha="right", va="top")
    axes.set(xscale="log", yscale="log", ylim=(1e-34, 1e8))
    axes.set(xlabel="step $t$", ylabel="$1-\\cos$")


def draw_stage1_loss(axes: Axes, c: bounds.Constants, rows: stage1.Stage1) -> None:
    """The loss of stage 1 as measured, its exact rate, and the rate that Proposition 1 states."""
    t = rows.step.astype(np.float64)
    constant = c.vocab_size * (c.vocab_size - 1)
    stated = constant * np.exp(-bounds.prop_1_loss_rate(c) * t)
    axes.plot(t, np.exp(rows.log_loss), "-", color=OPTIMAL)
    axes.plot(t, stated, "--", color=BOUND)
    axes.text(t[-1], math.exp(rows.log_loss[-1]), " measured", color=OPTIMAL, va="center")
    axes.text(t[-1], float(stated[-1]), " stated rate", va="center")
    axes.set_xlim(0, 1.22 * t[-1])
    axes.set(yscale="log", xlabel="step $t$", ylabel="loss $\\mathcal{L}_0$ (nats)")


def draw_margins(axes: Axes, sizes: Sequence[int], ratios: Sequence[float]) -> None:
    """Measured margins over A by size of vocabulary, the law, and the interval of Corollary 1."""
    axes.axhspan(1, 3, color=NONCOMPARABLE, alpha=0.25, linewidth=0)
    axes.plot(sizes, ratios, "o", color=OPTIMAL)
    axes.plot(sizes, [4 * stage1.norm_star(size) for size in sizes], "-", color=OPTIMAL)
    for level in (1, 3):
        axes.axhline(level, linestyle="--", color=BOUND, linewidth=1)
    axes.text(sizes[-1], 1.7, "claimed: between $A$ and $3A$", ha="right", va="center")
    axes.text(sizes[-1] * 0.9, ratios[-1], "measured", color=OPTIMAL, ha="right", va="bottom")
    axes.set(xscale="log", yscale="log", ylim=(0.7, 1.4 * ratios[-1]))
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.set_yticks([1, 3, 4, 10, 30], ["1", "3", "4", "10", "30"])
    axes.minorticks_off()
    axes.set(xlabel="size of the vocabulary $|\\mathcal{V}|$", ylabel="margin divided by $A$")


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
    axes.plot(steps, planted, "-", marker="x", color=NONOPTIMAL)
    axes.text(steps[-1], planted[-1] * 1e-1, "(6) with a planted error", color=NONOPTIMAL, va="top")
    axes.set(xscale="log", yscale="log", xlabel="step $h$ of the difference quotient")
    axes.set_ylabel("relative distance")


def draw_float_errors(
    axes: Axes, scales: Sequence[float], errors: Mapping[str, Sequence[float]]
) -> None:
    """Errors of the direction of a gradient in floats, by the scale of the weights."""
    looks = ((NONOPTIMAL, "s"), (OPTIMAL, "o"))
    for (name, values), (color, marker) in zip(errors.items(), looks, strict=True):
        axes.plot(scales, np.maximum(values, 1e-17), "-", marker=marker, color=color)
        axes.text(scales[len(scales) // 2] + 3, values[len(scales) // 2] / 900, name, color=color)
    axes.set(yscale="log", ylim=(1e-20, 10), xlabel="scale of $W_{\\mathrm{kq}}$")
    axes.set_ylabel("error of the direction")
