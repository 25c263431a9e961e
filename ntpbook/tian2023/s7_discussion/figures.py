"""Drawings of the page on the abstract and the discussion of Tian et al. (2023)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, NONCOMPARABLE, NONOPTIMAL, OPTIMAL, OTHER
from ntpbook.tian2023.s7_discussion.instances import Trajectory

MARKERS = ("o", "s", "^", "D")


def draw_attention(axes: Axes, run: Trajectory) -> None:
    """Attention of the first class over time: the common token and each distinct one.

    Args:
        axes: where to draw.
        run: a run with one common token.
    """
    t, c = run.times[1:], run.c[1:, 0]
    token = run.common[0]
    axes.plot(t, c[:, token], color=NONOPTIMAL, linewidth=2)
    half = int(np.searchsorted(t, 1e3))
    axes.text(t[half], c[half, token] - 0.012, "common", color=NONOPTIMAL, ha="right", va="top")
    for place, one in enumerate(run.distinct(0)):
        axes.plot(t, c[:, one], color=OPTIMAL, marker=MARKERS[place % 4], markevery=6, markersize=4)
        weight = run.classes.probabilities[0, one]
        axes.text(t[-1] * 1.4, c[-1, one], f"$P = {weight:.2f}$", color=OPTIMAL, va="center")
        axes.axhline(weight, color=NONCOMPARABLE, linewidth=0.5, linestyle=":")
    axes.set(xscale="log", xlim=(1, t[-1] * 60), ylim=(0, None))
    axes.set(xlabel="steps $t$ (expected, batch size 1)", ylabel="attention $c_{l|n}$")


def draw_distinct_scores(axes: Axes, runs: Sequence[Trajectory], n: int) -> None:
    """Scores of the two distinct tokens of one class, for several ratios of the learning rates.

    Args:
        axes: where to draw.
        runs: runs of the same classes, at most three.
        n: the class.
    """
    styles = (OTHER, NONCOMPARABLE, OPTIMAL)
    for run, color in zip(runs, styles, strict=False):
        for token, style, marker in zip(run.distinct(n), ("-", "--"), ("o", "s"), strict=True):
            z = run.z[1:, 0, token]
            axes.plot(
                run.times[1:], z, style, color=color, marker=marker, markevery=5, markersize=4
            )
        low = min(float(run.z[-1, 0, token]) for token in run.distinct(n))
        name = f"$\\eta_Y/\\eta_Z = {run.ratio:g}$"
        axes.text(run.times[-1] * 1.5, low, name, color=color, va="center", fontsize=9)
    axes.axhline(0, color=BOUND, linewidth=0.6)
    axes.text(
        0.03,
        0.05,
        "solid: the rarer token\ndashed: the more frequent one",
        transform=axes.transAxes,
    )
    axes.set(xscale="log", xlim=(1, runs[0].times[-1] * 60))
    axes.set(xlabel="steps $t$ (expected, batch size 1)", ylabel="score $z_{ml}$")


def draw_spurious(axes: Axes, sizes: Sequence[int], chance: Sequence[float], number: int) -> None:
    """Expected number of common tokens that seem distinct, by the size of the data set.

    Args:
        axes: where to draw.
        sizes: sequences of each class.
        chance: probability that one such token is seen in one class only.
        number: how many such tokens there are.
    """
    axes.plot(sizes, number * np.asarray(chance), "o-", color=NONOPTIMAL)
    axes.set(xscale="log", ylim=(0, None), xlabel="sequences of each class")
    axes.set_ylabel("rare common tokens\nseen in one class only")
