"""Drawings of the page on the loss, and the curves in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL, OTHER
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.runs import Run

Floats = NDArray[np.float64]
Curve = tuple[Floats, Floats]


def two_weights(run: Run) -> dict[str, Floats]:
    """Weights of the optimal token in both samples of an untouched run, at its recorded steps.

    The common sample is the one whose log-odds are not the least; since each step moves the two
    margins by sqrt(2) eta in all, and W has two opposite entries for each margin, the norm gives
    its log-odds.
    """
    rows = run.second.rows
    rare_odds = rows.least_log_odds
    common_odds = np.sqrt(np.maximum(2 * rows.norm**2 - rare_odds**2, 0.0))
    return {
        "step": rows.step.astype(float),
        "rare": 1 / (1 + np.exp(-rare_odds)),
        "common": 1 / (1 + np.exp(-common_odds)),
    }


def scaled_excess(
    runs: Sequence[Run], until: float
) -> tuple[dict[str, tuple[Floats, Floats]], tuple[Floats, Floats]]:
    """log(L - L_star) against t eta / ||W*||; for the first run also with the rate of (4)."""
    curves: dict[str, tuple[Floats, Floats]] = {}
    for run in runs:
        rows, c = run.second.rows, run.constants
        times = rows.step.astype(np.float64) * bounds.loss_excess_rate(c, exact=True)
        shown = times <= until
        curves[run.name] = times[shown], rows.log_excess[shown]
    c = runs[0].constants
    times, logs = curves[runs[0].name]
    slower = bounds.loss_excess_rate(c) / bounds.loss_excess_rate(c, exact=True)
    flat: Floats = logs[0] - slower * times
    return curves, (times, flat)


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
        color = OPTIMAL if style == "-" else OTHER
        axes.plot(steps, values, style, color=color)
        height = 0.92 if style == "-" else float(values[-1]) - 0.08
        axes.text(1.2 if style != "-" else 300, height, name, color=color)
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
    """Losses (solid) and bounds on them (dashed), and the loss of a uniform guess.

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
    axes.text(1.1, blind * 0.9, "a uniform guess", color=NONCOMPARABLE, va="top", fontsize=9)
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
