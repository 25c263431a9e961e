"""Figures of the experiments on text of Tian et al. (2023)."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ntpbook.look.plots import OPTIMAL, OTHER, SIZE
from ntpbook.tian2023.s8_wikitext.experiment import Sweep, said
from ntpbook.tian2023.s8_wikitext.text_runs import TextRun, changes, entropies

LOOKS = {True: (OPTIMAL, "o", "-"), False: (OTHER, "s", "-.")}


def map_axes(rows: int, columns: int) -> tuple[Figure, list[list[Axes]]]:
    """A grid of square axes."""
    size = (SIZE[0], SIZE[0] / columns * rows + 0.3)
    fig, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    return fig, [list(row) for row in axes]


def course_axes() -> tuple[Figure, list[list[Axes]]]:
    """Two by two axes, on one vertical scale in each row."""
    size = (SIZE[0], 1.4 * SIZE[1])
    fig, axes = plt.subplots(2, 2, figsize=size, layout="constrained", sharex=True, sharey="row")
    return fig, [list(row) for row in axes]


def draw_maps(axes: Sequence[Axes], run: TextRun, piece: int, steps: Sequence[int]) -> None:
    """Attention of the first layer on one held-out piece, a map for each of some recorded steps.

    Args:
        axes: one for each step.
        run: a run.
        piece: number of the piece.
        steps: recorded numbers of updates.
    """
    for ax, step in zip(axes, steps, strict=True):
        attention = run.attention[run.plan.record.index(step), piece]
        seen = np.where(np.tri(len(attention), dtype=bool), np.sqrt(attention), np.nan)
        ax.imshow(seen, cmap="cividis", vmin=0, vmax=1, interpolation="nearest")
        ax.set(xticks=[], yticks=[])
        ax.xaxis.set_label_position("top")  # beside the map, whose colours are those of numbers
        ax.set_xlabel(f"after {step}", fontsize=9)
    layers = run.plan.layers
    axes[0].set_ylabel(f"{layers} layer{'s' if layers > 1 else ''}")


def draw_course(axes: Axes, runs: Sequence[TextRun], layers: int, measure: str) -> None:
    """Entropy or change of attention over training: mean over seeds, and the range of all.

    Args:
        axes: where to draw.
        runs: all runs.
        layers: which of them.
        measure: "entropy" or "change", the latter since the last record.
    """
    change = measure == "change"
    for positional, (color, marker, line) in LOOKS.items():
        chosen = [r for r in runs if (r.plan.layers, r.plan.positional) == (layers, positional)]
        steps = np.array(chosen[0].plan.record)[1 if change else 0 :]
        values = np.array(
            [changes(r.attention) if change else entropies(r.attention) for r in chosen]
        )
        axes.fill_between(steps, values.min(axis=0), values.max(axis=0), color=color, alpha=0.2)
        axes.plot(
            steps,
            values.mean(axis=0),
            line,
            marker=marker,
            markersize=3,
            color=color,
            label=said(positional),
        )
    axes.annotate(
        f"{layers} layer{'s' if layers > 1 else ''}",
        (0.97, 0.9) if change else (0.05, 0.06),
        xycoords="axes fraction",
        ha="right" if change else "left",
    )
    axes.set_ylim(bottom=0)
    axes.set_xlabel("updates")


def draw_sweep(axes: Axes, sweeps: Sequence[Sweep]) -> None:
    """Entropy against the learning rate: mean and standard deviation over seeds.

    Args:
        axes: where to draw.
        sweeps: with positions and without.
    """
    for one in sweeps:
        color, marker, line = LOOKS[one.positional]
        axes.errorbar(
            one.rates,
            one.entropy.mean(axis=1),
            yerr=one.entropy.std(axis=1, ddof=1),
            fmt=line,
            marker=marker,
            color=color,
            capsize=3,
            label=one.name,
        )
    axes.set_xticks(sweeps[0].rates)
    axes.set(xlabel="learning rate $\\eta$", ylabel="mean attention entropy (nats)")
    axes.legend(frameon=False)
