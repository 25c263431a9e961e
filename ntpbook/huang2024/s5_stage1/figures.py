"""Drawings of the page on stage 1: norm, direction, loss and margins, beside what is claimed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL
from ntpbook.shared.first_stage import First, cycle, iterated
from ntpcore.huang2024 import bounds


def draw_norm(axes: Axes, first: First) -> None:
    """The norm of W_ov from a random start, between the bounds of Lemma 1."""
    t, rows = first.since(0)
    upper = t * first.eta0 + first.start
    lower = t * first.eta0 / (2 * first.norm_star) - first.start
    axes.plot(t, rows.norm, "-", color=OPTIMAL)
    axes.plot(t, upper, "--", color=BOUND, linewidth=1)
    axes.plot(t, lower, "--", color=BOUND, linewidth=1)
    end = t[-1]
    axes.text(end, rows.norm[-1], " measured", color=OPTIMAL, va="center")
    axes.text(end, upper[-1], " upper bound", va="center")
    axes.text(end, lower[-1], " lower bound", va="center")
    axes.axhline(0, color=NONCOMPARABLE, linewidth=0.6)
    axes.set_xlim(0, 1.22 * end)
    axes.set(xlabel="step $t$", ylabel="norm $\\|W_{\\mathrm{ov}}\\|$")


def draw_direction(axes: Axes, first: First) -> None:
    """Rounding-level 1 - cos as measured, far below the bound of Proposition 1 drawn beyond T."""
    t, rows = first.since(1)
    axes.plot(t, np.maximum(rows.one_minus_cos, 1e-33), "o", color=OPTIMAL, markersize=3)
    fixed = math.log(12 * first.norm_star**3 * math.log(2 * first.size) / first.eta0)
    log_from = bounds.bites_from(lambda log_t: fixed + math.log(log_t) - log_t)
    log_t = np.linspace(math.log(2), log_from + 4, 200)
    bound = np.exp(fixed + np.log(log_t) - log_t)
    axes.plot(np.exp(log_t), bound, "--", color=BOUND)
    axes.axhspan(2, 1e9, color=NONCOMPARABLE, alpha=0.15, linewidth=0)
    axes.axvline(t[-1], color=NONCOMPARABLE, linewidth=0.8, linestyle=":")
    axes.plot(math.exp(log_from), 1, "D", color=BOUND)
    axes.text(math.exp(log_from), 1e-5, "below 1\nfrom here", ha="center", va="center")
    axes.text(2, 1e6, "impossible: $1-\\cos$ is at most 2", va="center")
    axes.text(t[-1] * 1.3, 1e-12, "end of the\nexperiment", va="center", color=NONCOMPARABLE)
    axes.text(1.2, 1e-26, "measured (rounding)", color=OPTIMAL, va="center")
    axes.text(math.exp(log_t[-1]), float(bound[-1]) / 30, "bound", ha="right", va="top")
    axes.set(xscale="log", yscale="log", ylim=(1e-34, 1e8))
    axes.set(xlabel="step $t$", ylabel="$1-\\cos$")


def draw_loss(axes: Axes, first: First) -> None:
    """The loss of stage 1 as measured, and the rate that Proposition 1 states."""
    t, rows = first.since(0)
    constant = first.size * (first.size - 1)
    stated = constant * np.exp(-first.eta0 * t / (4 * first.norm_star))
    axes.plot(t, np.exp(rows.log_loss), "-", color=OPTIMAL)
    axes.plot(t, stated, "--", color=BOUND)
    axes.text(t[-1], math.exp(rows.log_loss[-1]), " measured", color=OPTIMAL, va="center")
    axes.text(t[-1], float(stated[-1]), " stated rate", va="center")
    axes.set_xlim(0, 1.22 * t[-1])
    axes.set(yscale="log", xlabel="step $t$", ylabel="loss $\\mathcal{L}_0$ (nats)")


def draw_margins(axes: Axes, sizes: Sequence[int], steps: int = 100) -> None:
    """Measured margins over A by size of vocabulary, the law, and the interval of Corollary 1."""
    runs = [iterated(cycle(size), 1.0, steps) for size in sizes]
    ratios = [
        float(one.rows.greatest_gap[-1]) * 4 * (one.size - 1) / (steps * one.eta0) for one in runs
    ]
    axes.axhspan(1, 3, color=NONCOMPARABLE, alpha=0.25, linewidth=0)
    axes.plot(sizes, ratios, "o", color=OPTIMAL)
    axes.plot(sizes, [4 * math.sqrt(size - 1) for size in sizes], "-", color=OPTIMAL)
    for level in (1, 3):
        axes.axhline(level, linestyle="--", color=BOUND, linewidth=1)
    axes.text(sizes[-1], 1.7, "claimed: between $A$ and $3A$", ha="right", va="center")
    axes.text(sizes[-1] * 0.9, ratios[-1], "measured", color=OPTIMAL, ha="right", va="bottom")
    axes.set(xscale="log", yscale="log", ylim=(0.7, 1.4 * ratios[-1]))
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.set_yticks([1, 3, 4, 10, 30], ["1", "3", "4", "10", "30"])
    axes.minorticks_off()
    axes.set(xlabel="size of the vocabulary $|\\mathcal{V}|$", ylabel="margin divided by $A$")
