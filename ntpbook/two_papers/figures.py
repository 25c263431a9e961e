"""Figures of the page that lays the two papers side by side."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ntpbook.two_papers.two_papers import Choice
from ntpcore.pages.plots import NONCOMPARABLE, NONOPTIMAL, OPTIMAL, SIZE

HATCHES = ("", "//", "..")


def three_axes() -> tuple[Figure, list[Axes]]:
    """A figure of the book's size with three pairs of axes side by side, on one scale."""
    fig, axes = plt.subplots(1, 3, figsize=SIZE, layout="constrained", sharey=True)
    return fig, list(axes)


def draw_choices(axes: Axes, choices: Sequence[Choice], heading: str) -> None:
    """Attention masses of several trainings on the same sentence, as stacked bars.

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


def draw_clocks(
    axes: Axes, curves: Sequence[tuple[str, Sequence[float], Sequence[float], str]]
) -> None:
    """Curves on a logarithmic clock, labelled at their ends.

    Args:
        axes: where to draw.
        curves: name, steps, values, line style.
    """
    for (name, steps, values, style), color in zip(
        curves, (OPTIMAL, NONOPTIMAL, NONCOMPARABLE), strict=False
    ):
        axes.plot(steps, values, style, color=color, label=name)
    axes.set_xscale("log")
