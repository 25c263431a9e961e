"""Two pairs of axes side by side, each on its own scale."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ntpcore.pages.plots import SIZE


def new_two() -> tuple[Figure, tuple[Axes, Axes]]:
    """A figure of the book's size with two pairs of axes side by side, each on its own scale."""
    fig, axes = plt.subplots(1, 2, figsize=SIZE, layout="constrained")
    return fig, (axes[0], axes[1])
