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


def draw_rare_weight(
    axes: Axes, steps: Floats, weights: Mapping[str, Floats], claimed: Floats, start: int
) -> None:
    """Attention weights of two samples, and what is claimed of both from some step on.

    Args:
        axes: where to draw.
        steps: recorded steps.
        weights: weight of the optimal token over the steps, by a name for the sample.
        claimed: lower bound on every such weight.
        start: the first step at which the conditions of the bound hold.
    """
    for (name, values), style in zip(weights.items(), ("-", "-."), strict=True):
        color = OPTIMAL if style == "-" else NONOPTIMAL
        axes.plot(steps, values, style, color=color)
        height = 0.9 if style == "-" else float(values[-1]) - 0.08
        axes.text(1.2 if style != "-" else 8, height, name, color=color)
    axes.plot(steps, claimed, "--", color=BOUND)
    axes.text(250, 0.30, "claimed of both", ha="right", va="top")
    axes.annotate(
        "",
        (60, float(np.interp(60, steps, claimed))),
        (100, 0.31),
        arrowprops={"arrowstyle": "-", "color": NONCOMPARABLE},
    )
    axes.axvline(start, color=NONCOMPARABLE, linewidth=1, linestyle=":")
    axes.text(start * 0.9, 0.06, "conditions\nhold from here", ha="right", color=NONCOMPARABLE)
    axes.set(xscale="log", xlim=(1, float(steps[-1])), ylim=(0, 1.05))
    axes.set(xlabel="step $t$", ylabel="weight of the optimal token")


def draw_loss_bound(
    axes: Axes, curves: Mapping[str, Curve], limits: Mapping[str, Curve], blind: float
) -> None:
    """Losses (solid) and bounds on them (dashed), and the loss of a blind guess.

    Args:
        axes: where to draw.
        curves: steps and losses by name.
        limits: steps and bounds by name.
        blind: log |V|.
    """
    for (name, (steps, losses)), color in zip(
        curves.items(), (OPTIMAL, NONCOMPARABLE), strict=False
    ):
        axes.plot(steps, losses, color=color)
        axes.text(1.1, losses[0] * 0.62, name, color=color, va="top")
    for (name, (steps, values)), color in zip(limits.items(), (BOUND, NONCOMPARABLE), strict=False):
        axes.plot(steps, values, "--", color=color)
        axes.text(1.1, values[0] * 1.15, name, color=color, va="bottom")
    axes.axhline(blind, color=NONCOMPARABLE, linewidth=1, linestyle=":")
    axes.text(1.1, blind * 0.9, "a blind guess", color=NONCOMPARABLE, va="top", fontsize=9)
    axes.set(xscale="log", yscale="log", xlim=(1, None), xlabel="step $t$", ylabel="loss (nats)")


def draw_scaled_losses(axes: Axes, curves: Mapping[str, Curve], claimed: Curve) -> None:
    """Log of the loss excess against t eta / ||W*||, where all slopes should become -1.

    Args:
        axes: where to draw.
        curves: scaled times and logs of the excess by name; all but the last share one look.
        claimed: scaled times and logs of the excess with the rate of equation (4).
    """
    for times, logs in curves.values():
        axes.plot(times, logs / np.log(10), color=OPTIMAL, linewidth=1.2)
    last = max(float(times[-1]) for times, _ in curves.values())
    axes.plot([0, last], [0, -last / np.log(10)], ":", color=NONCOMPARABLE, linewidth=1.6)
    axes.text(0.62 * last, -0.26 * last, "slope $-1$", color=NONCOMPARABLE, va="bottom")
    axes.text(0.5 * last, -0.42 * last, "runs", ha="right", color=OPTIMAL)
    axes.plot(claimed[0], claimed[1] / np.log(10), "--", color=BOUND)
    axes.text(0.97 * last, -0.045 * last, "rate $C_1$ of (4), Example 1", ha="right", va="top")
    axes.set(
        xlabel="$t \\eta\\, /\\, ||W_{\\mathrm{kq}}^*||$",
        ylabel="$\\log_{10}(L - L^*)$",
        xlim=(0, last),
        ylim=(None, 0.05 * last),
    )


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
