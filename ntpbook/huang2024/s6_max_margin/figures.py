"""What the figures of the page on max-margin attention show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes

from ntpbook.huang2024.s6_max_margin.orders import Column
from ntpbook.look.interactive import signed
from ntpbook.look.plots import NONCOMPARABLE, NONOPTIMAL, OPTIMAL
from ntpcore.data.order import PartialOrder
from ntpcore.exact import margin


def failure_counts(columns: Iterable[Column]) -> dict[tuple[int, int], tuple[int, int]]:
    """For each (k, m), on how many orders the closed form fails, and how many there are."""
    counts: dict[tuple[int, int], tuple[int, int]] = {}
    for one in columns:
        size = len(one.order.optimal), len(one.order.nonoptimal)
        failed, tried = counts.get(size, (0, 0))
        wrong = margin.closed_form_scores(one.order) != one.solution.scores
        counts[size] = failed + wrong, tried + 1
    return counts


def with_most_blocks(columns: Iterable[Column], most_tokens: int) -> PartialOrder:
    """The order with the most blocks, then the most slack pairs, among those small enough."""
    drawable = [one for one in columns if len(one.order.compared) <= most_tokens]
    return max(drawable, key=_blocks_and_slack).order


def _blocks_and_slack(one: Column) -> tuple[int, int]:
    """Number of blocks, and number of pairs with a margin above 1."""
    scores = one.solution.scores
    slack = sum(scores[a] - scores[b] > 1 for a, b in one.order.pairs)
    return len(one.solution.blocks), slack


def draw_levers(axes: Axes, sizes: Sequence[tuple[int, int]]) -> None:
    """The closed form for several (k, m): k optimal tokens one unit above m non-optimal ones.

    Args:
        axes: where to draw.
        sizes: the pairs (k, m), from left to right.
    """
    for place, (k, m) in enumerate(sizes):
        up, down = margin.closed_form(k, m)
        axes.plot([place, place], [float(down), float(up)], color="black", linewidth=1.2, zorder=1)
        rows = ((k, up, "o", OPTIMAL, 0.13), (m, down, "s", NONOPTIMAL, -0.13))
        for count, score, marker, color, offset in rows:
            spots = [place + 0.17 * (i - (count - 1) / 2) for i in range(count)]
            axes.plot(spots, [float(score)] * count, marker, color=color, markersize=9)
            axes.text(place, float(score) + offset, signed(score), ha="center", va="center")
    axes.axhline(0, color=NONCOMPARABLE, linewidth=0.8, zorder=0)
    axes.set_xticks(range(len(sizes)), [f"$k = {k}$\n$m = {m}$" for k, m in sizes])
    axes.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(-1.05, 1.1), ylabel="score")
    axes.tick_params(axis="x", length=0)
    axes.spines["bottom"].set_visible(False)
