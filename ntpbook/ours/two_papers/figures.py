"""Figures of the page that lays the two papers side by side."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ntpbook.look.plots import NONCOMPARABLE, NONOPTIMAL, OPTIMAL, OTHER, SIZE
from ntpbook.ours.long_times import laws
from ntpbook.ours.two_papers.parting_data import Choice
from ntpcore.tian2023.coupled import Symmetric

HATCHES = ("", "//", "..")


def three_axes() -> tuple[Figure, list[Axes]]:
    """A figure of the book's size with three pairs of axes side by side, on one scale."""
    fig, axes = plt.subplots(1, 3, figsize=SIZE, layout="constrained", sharey=True)
    return fig, list(axes)


def draw_choices(axes: Axes, choices: Sequence[Choice], heading: str) -> None:
    """Attention on the optimal token, its rival and the rest, after several trainings, as bars.

    Args:
        axes: where to draw.
        choices: one for each training.
        heading: what distinguishes the data.
    """
    names = [choice.training.replace(" (", "\n(").replace(", ", ",\n") for choice in choices]
    parts = (
        ("optimal", OPTIMAL, [choice.optimal for choice in choices]),
        ("rival", NONOPTIMAL, [choice.rival for choice in choices]),
        ("rest", NONCOMPARABLE, [choice.common for choice in choices]),
    )
    bottom = np.zeros(len(choices))
    for (name, color, masses), hatch in zip(parts, HATCHES, strict=True):
        bars = axes.bar(
            range(len(choices)), masses, bottom=bottom, color=color, hatch=hatch, label=name
        )
        for bar, mass in zip(bars, masses, strict=True):
            if mass > 0.12:
                axes.annotate(
                    f"{mass:.2f}",
                    (bar.get_x() + bar.get_width() / 2, bar.get_y() + mass / 2),
                    ha="center",
                    va="center",
                    fontsize=9,
                    color="white",
                    bbox={"boxstyle": "round,pad=0.15", "facecolor": color, "edgecolor": "none"},
                )
        bottom += masses
    axes.set_xticks(range(len(choices)), names, rotation=90, fontsize=9)
    axes.set_xlabel(heading)


def draw_winners(axes: Axes, design: Symmetric, ratio: float, last: float) -> None:
    """Share of the top token among the distinct ones, on the sphere and on the simplex.

    Args:
        axes: where to draw.
        design: the classes and the decoder.
        ratio: eta_Y / eta_Z.
        last: ln(1 + eta_Y t/K) at the end of the axis.
    """
    log_t = np.geomspace(0.1, last, 200)
    for sphere, name, style, color in (
        (True, "scaled to length 1: a sphere", "-", OPTIMAL),
        (False, "softmax alone: a simplex", "--", OTHER),
    ):
        shares = laws.top_shares(design, ratio, log_t, sphere)
        axes.plot(log_t, shares, style, color=color, label=name)
    weights = np.array(design.distinct)
    counts = float(weights.max() / weights.sum())
    axes.axhline(counts, color=NONCOMPARABLE, linestyle=":", label="share by counts")
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
