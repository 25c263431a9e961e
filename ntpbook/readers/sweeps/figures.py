"""Drawings of the page on sweeps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL, OTHER
from ntpcli.sweep import rates
from ntpcli.sweep.columns import Row

_LOOKS = {"no idle pair": (OPTIMAL, "o", -0.13), "an idle pair": (OTHER, "s", 0.13)}
NAMES = {"eta": "step size η", "vocab_size": "tokens |V|", "sentences": "sentences drawn"}


def draw_exponents(axes: Axes, rows: Sequence[Row], factor: str, seed: int) -> None:
    """Exponents of 1 - cos over the last decade by a factor: a dot for each run, median and bar.

    The bar reaches from 5 to 95 percent of the runs.

    Args:
        axes: where to draw.
        rows: the runs.
        factor: the column by whose values runs are grouped.
        seed: of the places of the dots within a group.
    """
    every = rates.finished(rows)
    groups = rates.values_of(every, factor)
    rng = np.random.default_rng(seed)
    for kind, part in rates.kinds(rows):
        color, marker, aside = _LOOKS[kind]
        for place, value in enumerate(groups):
            mine = [row for row in part if row[factor] == value]
            found = rates.spread(mine, "direction_exponent_last", seed)
            if found is None:
                continue
            dots = rates.column_of(mine, "direction_exponent_last")
            xs = place + aside + rng.uniform(-0.08, 0.08, len(dots))
            axes.plot(xs, dots, marker, color=color, markersize=2, alpha=0.35, zorder=1)
            x = place + aside
            axes.plot([x, x], [found.low, found.high], color=color, linewidth=2, zorder=2)
            axes.plot(
                x,
                found.median,
                marker,
                color=color,
                markeredgecolor="white",
                markersize=8,
                zorder=3,
            )
    axes.axhline(-2, color=NONCOMPARABLE, linewidth=1, linestyle=":")
    axes.axhline(-1, color=BOUND, linewidth=1, linestyle="--")
    axes.set_xticks(range(len(groups)), [f"{value:g}" for value in groups])
    axes.set(xlabel=NAMES.get(factor, factor), ylim=(-2.1, -0.9))


def label_exponents(axes: Axes) -> None:
    """The words of the left one of two drawings of exponents."""
    axes.set(ylabel="exponent of 1 − cos in t")
    axes.text(-0.3, -0.985, "bound: −1, up to log² t", fontsize=9, va="bottom")
    for kind, (color, marker, _) in _LOOKS.items():
        axes.plot([], [], marker, color=color, label=kind)
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(0, 0.9))


def draw_rates(axes: Axes, rows: Sequence[Row]) -> None:
    """Rate of the loss excess: measured and by equation (4), against L_max ||W_kq_star||.

    Args:
        axes: where to draw.
        rows: the runs.
    """
    every = [row for row in rates.finished(rows) if row["loss_rate"] is not None]
    longest, norm = (rates.column_of(every, name) for name in ("longest", "norm_kq_star"))
    x = np.array(longest) * np.array(norm)
    axes.plot(x, rates.column_of(every, "loss_rate"), "o", color=OPTIMAL, markersize=4)
    order = np.argsort(x)
    claimed = np.array(rates.column_of(every, "loss_rate_bound"))
    axes.plot(x[order], claimed[order], color=BOUND, linestyle="--")
    axes.set(xscale="log", yscale="log", ylim=(1e-3, 3))
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="longest sentence × ‖W*‖ of attention", ylabel="rate by η / ‖W*‖")
    if len(x):
        axes.text(float(x.min()), 1.25, "measured", color=OPTIMAL, va="bottom")
        axes.text(float(x.min()), 0.4 * float(claimed.max()), "equation (4)", color=BOUND, va="top")
