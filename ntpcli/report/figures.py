"""Drawings of `ntpcore report`; tokens are drawn letter by letter, never read as formulas."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from ntpbook.look import plots
from ntpbook.look.plots import BOUND, NONCOMPARABLE, NONOPTIMAL, OPTIMAL
from ntpcli.report.report_tables import Note, Page, Study, undefined
from ntpcli.terminal import show
from ntpcore.data.order import PartialOrder
from ntpcore.huang2024 import bounds

_QUERIES, _SIDE, _MATRIX = 12, 6, 12  # most panels, tokens of a row, rows of a matrix
_LETTERS = 10
NOTHING = Page(())  # what a function returns that had nothing to draw


def use_report_style() -> None:
    """The look of the book, with texts that browsers set in fonts of their own."""
    plots.use_book_style()
    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["font.size"] = 10
    warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)


def label(token: str) -> str:
    """A token as a drawing may hold it: short, printable, and no formula."""
    text = show(token)
    text = text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"
    return text.replace("$", "\\$")


def draw_orders(study: Study) -> Note | None:
    """Hasse diagrams of the orders, a panel for each query."""
    orders = study.structure.orders
    if not orders:
        return Note(undefined(study))
    chosen = list(orders.values())[:_QUERIES]
    rows = math.ceil(len(chosen) / 2)
    fig, axes = plt.subplots(
        rows, 2, figsize=(8.0, 1.9 * rows), layout="constrained", squeeze=False
    )
    for panel in axes.flat:
        panel.set_axis_off()
    for panel, one in zip(axes.flat, chosen, strict=False):
        _draw_order(panel, one)
    if len(orders) > _QUERIES:
        fig.supxlabel(f"and {len(orders) - _QUERIES} more queries", fontsize=9)
    return None


def _draw_order(axes: Axes, one: PartialOrder) -> None:
    """One order: optimal tokens above, non-optimal below, confused in between, lines for pairs."""
    levels = {2.0: one.optimal, 1.0: tuple(sorted(one.confused)), 0.0: one.nonoptimal}
    spots: dict[str, tuple[float, float]] = {}
    for height, tokens in levels.items():
        shown = tokens[:_SIDE]
        for place, token in enumerate(shown):
            spots[token] = (place - (len(shown) - 1) / 2, height)
        if len(tokens) > _SIDE:
            text = f"+{len(tokens) - _SIDE}"
            axes.text(len(shown) / 2 + 0.1, height, text, ha="center", va="center", fontsize=8)
    for upper, lower in sorted(one.pairs):
        if upper in spots and lower in spots:
            (x, y), (u, v) = spots[upper], spots[lower]
            axes.plot([x, u], [y, v], color=NONCOMPARABLE, linewidth=0.9, zorder=1)
    for token, (x, y) in spots.items():
        color = {2.0: OPTIMAL, 0.0: NONOPTIMAL}.get(y, BOUND)
        shape = "round,pad=0.4" if y > 1 else "square,pad=0.35"
        axes.text(
            x,
            y,
            label(token),
            color="white",
            ha="center",
            va="center",
            fontsize=9 if len(spots) < 8 else 7,
            bbox={"boxstyle": shape, "facecolor": color, "edgecolor": color},
            zorder=3,
        )
    axes.set_title(f"query {label(one.query)}", fontsize=10, weight="bold")
    half = max(1.2, max(min(len(tokens), _SIDE + 1) for tokens in levels.values()) / 2 + 0.1)
    axes.set(xlim=(-half, half), ylim=(-0.6, 2.6))


def draw_matrix(study: Study) -> Note | Page | None:
    """W_kq* with its exact entries, where it is small enough to be read."""
    columns, tokens = study.found.columns, study.structure.data.vocabulary
    if not columns or undefined(study):
        return NOTHING
    if len(columns) > _MATRIX or len(tokens) > _MATRIX:
        return Note("Too large to be drawn; the table below lists its entries.")
    names = dict(zip(tokens, _different([label(token) for token in tokens]), strict=True))
    renamed = {
        names[query]: {names[token]: score for token, score in column.scores.items()}
        for query, column in columns.items()
    }
    _, axes = plt.subplots(
        figsize=(2.4 + 0.75 * len(columns), 1.3 + 0.42 * len(tokens)), layout="constrained"
    )
    plots.draw_matrix(axes, renamed, list(names.values()))
    return None


def _different(labels: Sequence[str]) -> list[str]:
    """The same labels, those that were cut to the same letters numbered."""
    found: list[str] = []
    for text in labels:
        number, candidate = 1, text
        while candidate in found:
            number += 1
            candidate = f"{text} ({number})"
        found.append(candidate)
    return found


def draw_loss(study: Study) -> Page | None:
    """The loss minus its infimum."""
    if study.run is None:
        return NOTHING
    rows = study.run.second.rows
    _, axes = plots.new_figure()
    axes.plot(rows.step + 1, rows.log_excess / math.log(10), color=OPTIMAL)
    axes.set(xscale="log", xlabel="step $t + 1$ of stage 2", ylabel="$\\log_{10}(L - L^*)$, nats")
    return None


def draw_direction(study: Study) -> Page | None:
    """1 - cos to W_kq*, and the bound of Theorem 1 on it."""
    if study.run is None:
        return NOTHING
    rows, c = study.run.second.rows, study.run.constants
    keep = rows.step >= 1
    t = rows.step[keep].astype(float)
    _, axes = plots.new_figure()
    axes.plot(t, np.maximum(rows.one_minus_cos[keep], 1e-17), color=OPTIMAL, label="measured")
    log_t = np.log(t[t >= 2])
    for rarity, style, name in (
        (bounds.N, "--", "Theorem 1, as stated"),
        (bounds.PI_MIN, ":", "Theorem 1, corrected"),
    ):
        bound = np.exp(bounds.log_thm_1_direction(c, log_t, rarity=rarity))
        axes.plot(np.exp(log_t), bound, style, color=BOUND, label=name)
    axes.axhline(2.0, color=NONCOMPARABLE, linewidth=0.7)
    axes.text(t[0], 2.3, "never more than 2", color=NONCOMPARABLE, fontsize=9)
    axes.set(xscale="log", yscale="log", xlabel="step $t$", ylabel="$1-\\cos$")
    axes.legend(frameon=False)
    return None


def draw_norm(study: Study) -> Page | None:
    """The norm of W_kq between the bounds of Theorem 1."""
    if study.run is None:
        return NOTHING
    rows, c = study.run.second.rows, study.run.constants
    t = rows.step.astype(float)
    lower, upper = bounds.thm_1_norm(c, t)
    _, axes = plots.new_figure()
    axes.plot(t, rows.norm, color=OPTIMAL, label="measured")
    axes.plot(t, upper, "--", color=BOUND, label="Theorem 1, upper bound")
    axes.plot(t, lower, ":", color=BOUND, label="Theorem 1, lower bound")
    axes.set(xlabel="step $t$", ylabel="norm of $W_{\\mathrm{kq}}$")
    axes.legend(frameon=False)
    return None
