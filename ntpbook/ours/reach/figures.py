"""Drawings of the pages on very long runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from ntpbook.huang2024.s7_experiment.first_useful_step import BITES, log_bites
from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL, OTHER
from ntpbook.ours.reach.long_runs import BOUNDS, EXACT, Long, bites
from ntpbook.ours.reach.naive_runs import Walk
from ntpbook.shared.theorem_1 import trivial
from ntpcore.huang2024 import bounds

COLORS = (OPTIMAL, OTHER, NONCOMPARABLE)
MARKERS = ("o", "s", "^")
STYLES = ("--", ":")


def draw_reach(axes: Axes, one: Long) -> None:
    """1 - cos of one run up to 1e15 steps, with the bounds and where they beat the norm bounds.

    Args:
        axes: where to draw.
        one: the run.
    """
    t = one.step
    exact = t <= EXACT
    axes.plot(t[exact], one.one_minus_cos[exact], color=OPTIMAL, linewidth=2.2)
    axes.plot(t[~exact], one.one_minus_cos[~exact], color=OPTIMAL, linewidth=1.1)
    late = t[t >= 2]
    norms_alone = trivial(one.run)
    for bound, style in zip(BOUNDS, STYLES, strict=True):
        values = np.exp(bound.log_bound(one.run.constants, np.log(late)))
        axes.plot(late, values, style, color=BOUND)
        first = bites(one, bound)
        axes.plot([first], [norms_alone], marker="D", color=BOUND, markersize=5)
    axes.axhline(norms_alone, color=NONCOMPARABLE, linewidth=0.6)
    axes.set(xscale="log", yscale="log", xlim=(1, 2e15), xlabel="steps $t$")
    axes.set_ylabel("$1 - \\cos$ to $W_{\\mathrm{kq}}^*$")
    middle = len(t) // 2
    axes.text(t[middle] / 5, one.one_minus_cos[middle] / 1e3, "measured", color=OPTIMAL, ha="right")
    axes.text(0.35, 0.93, "Theorem 1", transform=axes.transAxes)
    axes.text(0.03, 0.05, one.run.name, transform=axes.transAxes, weight="bold")


def draw_speaks(axes: Axes, runs: Sequence[Long], steps: int = 900) -> None:
    """From which step on each bound of the paper says anything, one row for each.

    Args:
        axes: where to draw.
        runs: the runs, one marker for each.
        steps: the length of the paper's experiment.
    """
    found = log_bites([one.run for one in runs])
    right = 10 * max(math.exp(max(values)) for values in found.values())
    for row, bite in enumerate(BITES):
        first = [math.exp(value) for value in found[bite.key]]
        axes.plot([min(first), right], [row, row], color=NONCOMPARABLE, linewidth=0.8, zorder=1)
        for x, color, marker in zip(first, COLORS, MARKERS, strict=False):
            axes.plot([x], [row], marker, color=color, markersize=6)
        what = f"{bite.what} ({bite.counted})"
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}  # no line runs through
        axes.text(1.5, row - 0.34, what, va="center", fontsize="small", bbox=ground, zorder=0.5)
    for one, color, marker in zip(runs, COLORS, MARKERS, strict=False):
        axes.plot([], [], marker, color=color, label=one.run.name)
    axes.axvline(steps, color=BOUND, linestyle=":", linewidth=1, zorder=0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(BITES) - 0.5, -0.9)
    axes.set(xscale="log", xlim=(1, right), xlabel="first step at which the bound is informative")
    axes.legend(
        frameon=False,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        fontsize="small",
        columnspacing=1,
        handletextpad=0.1,
    )


def draw_excess(axes: Axes, runs: Sequence[Long]) -> None:
    """How many powers of ten the loss is above its floor, below zero, against the paper's rate.

    Args:
        axes: where to draw.
        runs: the runs; the rate is drawn for each, as stated and corrected.
    """
    for one, color, marker in zip(runs, COLORS, MARKERS, strict=False):
        t, powers = one.step, -one.log_excess / math.log(10)
        shown = powers > 1
        every = slice(None, None, 12)
        axes.plot(t[shown], powers[shown], color=color, label=one.run.name)
        axes.plot(t[shown][every], powers[shown][every], marker, color=color, markersize=4)
        for style, exact in zip(STYLES, (False, True), strict=True):
            rate = bounds.loss_excess_rate(one.run.constants, exact=exact) * t / math.log(10)
            axes.plot(t[rate > 1], rate[rate > 1], style, color=color, linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="steps $t$")
    axes.set_ylabel("$-\\log_{10}$ of the loss excess")
    axes.legend(frameon=False)


def draw_walks(axes: Axes, found: Sequence[Walk]) -> None:
    """Errors of runs in common arithmetic.

    Args:
        axes: where to draw.
        found: the runs.
    """
    names = list(dict.fromkeys(one.name for one in found))
    for one in found:
        color, marker = COLORS[names.index(one.name)], MARKERS[names.index(one.name)]
        single = one.precision == "float32"
        shown = one.error > 1e-16
        label = None if single else one.name
        style = "--" if single else "-"
        form = style + marker
        axes.plot(
            one.step[shown], one.error[shown], form, color=color, label=label, markevery=9, ms=4
        )
        if one.stuck:
            axes.plot(one.step[-1:], one.error[-1:], "X", color=color, markersize=8)
    axes.axhline(1.0, color=BOUND, linewidth=0.6)
    axes.set(xscale="log", yscale="log", xlabel="steps $t$", ylabel="relative error of $W$")
    axes.set_xlim(left=30)
    axes.text(130, 2e-6, "float32 (dashed)")
    axes.text(250, 2e-15, "float64 (solid)")
    axes.legend(frameon=False, loc=(0.28, 0.25))
