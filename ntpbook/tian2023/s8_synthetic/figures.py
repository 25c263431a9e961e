"""Figures of the synthetic experiments of Tian et al. (2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ntpbook.look.plots import NONCOMPARABLE, OPTIMAL, OTHER, SIZE
from ntpbook.tian2023.s8_synthetic.experiments import ETA_Z, RATIOS, Stream
from ntpbook.tian2023.s8_synthetic.figure_6 import Cell
from ntpbook.tian2023.s8_synthetic.runs import thresholds
from ntpcore.tian2023.classes import attention_scores, distinct_tokens

Floats = NDArray[np.float64]
STYLES = (
    (OPTIMAL, "o", "-"),
    (OTHER, "s", "--"),
    (NONCOMPARABLE, "^", "-."),
    ("#000000", "v", ":"),
)


def four_axes() -> tuple[Figure, list[Axes]]:
    """Four pairs of axes, two by two, on one vertical scale."""
    fig, axes = plt.subplots(
        2, 2, figsize=(SIZE[0], 1.4 * SIZE[1]), layout="constrained", sharey=True
    )
    return fig, list(axes.flat)


def draw_maps(axes: Axes, stream: Stream, cell: int, n: int) -> None:
    """Attention c_n over the recorded steps: common tokens, then distinct ones, a row for each.

    Args:
        axes: where to draw.
        stream: a run.
        cell: which pair of rates.
        n: the class.
    """
    classes = stream.plan.classes
    own = list(range(10)) + list(distinct_tokens(classes, n))
    rows = np.array([attention_scores(classes, z)[n, own] for z in stream.Z[cell]])
    image = axes.imshow(rows, aspect="auto", cmap="cividis", vmin=0)
    axes.axvline(9.5, color="white", linewidth=1.5)
    axes.set_yticks(range(len(rows)), [str(t) for t in stream.plan.record])
    axes.set_xticks([4.5, 14.5], ["common", "distinct"])
    axes.tick_params(axis="x", length=0)
    bar = plt.colorbar(image, ax=axes, location="bottom", shrink=0.9)
    bar.ax.tick_params(labelsize=9)


def draw_losses(axes: Axes, streams: Sequence[Stream]) -> None:
    """Loss of each batch against the iteration: median of the seeds, and the band of all.

    Args:
        axes: where to draw.
        streams: one for each seed.
    """
    for c, (eta_y, eta_z) in enumerate(streams[0].plan.rates):
        losses = np.array([stream.losses[c] for stream in streams])
        color, _, line = STYLES[c]
        t = np.arange(losses.shape[1])
        name = f"$\\eta_Y = {eta_y:g}$, $\\eta_Z = {eta_z:g}$"
        axes.plot(t, np.median(losses, axis=0), line, color=color, label=name)
        axes.fill_between(t, losses.min(axis=0), losses.max(axis=0), color=color, alpha=0.25)
    axes.set_yscale("log")
    axes.set(xlabel="iteration", ylabel="loss of the batch (nats)")
    axes.legend(frameon=False)


def draw_shares(axes: Axes, names: Sequence[str], shares: Sequence[Floats]) -> None:
    """Mean share of each distinct token, from the rarest to the most frequent.

    Args:
        axes: where to draw.
        names: what distinguishes the curves.
        shares: (10,) each.
    """
    for name, row, (color, marker, line) in zip(names, shares, STYLES, strict=False):
        axes.plot(range(len(row)), row, line, marker=marker, color=color, label=name)
    axes.set_xticks(range(len(shares[0])))
    axes.set(xlabel="distinct token, by frequency", ylabel="share of the distinct part")
    axes.legend(frameon=False)


def draw_entropies(axes: Axes, table: Mapping[Cell, Floats], queries: int) -> None:
    """Entropy against the ratio of the rates, a line for each eta_Z.

    Bars with caps are one standard error of the mean, pale ones one standard deviation over seeds.

    Args:
        axes: where to draw.
        table: entropies by cell, one value for each seed.
        queries: L.
    """
    for eta_z, (color, marker, line) in zip(ETA_Z, STYLES, strict=True):
        values = [table[queries, eta_z, ratio] for ratio in RATIOS]
        means = [value.mean() for value in values]
        spreads = [value.std(ddof=1) for value in values]
        axes.errorbar(RATIOS, means, spreads, fmt="none", ecolor=color, elinewidth=4, alpha=0.25)
        axes.errorbar(
            RATIOS,
            means,
            yerr=[value.std(ddof=1) / len(value) ** 0.5 for value in values],
            fmt=line,
            marker=marker,
            color=color,
            capsize=2,
            label=f"$\\eta_Z = {eta_z:g}$",
        )
    axes.set_xscale("log")
    axes.set_xticks(RATIOS, [f"{ratio:g}" for ratio in RATIOS])
    axes.minorticks_off()
    axes.annotate(f"L = {queries}", (0.04, 0.04), xycoords="axes fraction")


def draw_recall(
    axes: Axes, table: Mapping[Cell, Floats], queries: int, *, eta_z: float = 0, ratio: float = 0
) -> None:
    """Recall against the threshold: a line for each ratio at one eta_Z, or the other way round.

    Args:
        axes: where to draw.
        table: recall by cell, a row for each seed.
        queries: L.
        eta_z: the fixed learning rate, or 0.
        ratio: the fixed ratio, or 0.
    """
    lines = [(eta_z, r) for r in RATIOS] if eta_z else [(e, ratio) for e in ETA_Z]
    for (e, r), (color, _, line) in zip(lines, STYLES, strict=True):
        name = f"ratio {r:g}" if eta_z else f"$\\eta_Z = {e:g}$"
        axes.plot(
            thresholds(queries), table[queries, e, r].mean(axis=0), line, color=color, label=name
        )
    fixed = f"$\\eta_Z = {eta_z:g}$" if eta_z else f"ratio {ratio:g}"
    axes.annotate(fixed, (0.97, 0.9), xycoords="axes fraction", ha="right")
