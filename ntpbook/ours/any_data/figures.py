"""Drawings of the page on any data: components of an order, and two kinds of growth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from ntpbook.look.plots import BOUND, OPTIMAL, OTHER
from ntpbook.ours.any_data.systems import PathState, Swing
from ntpcore.data.order import PartialOrder
from ntpcore.exact.any_order import AnySolution

HALF = 0.16  # of a token's box, in scores


def draw_components(axes: Axes, order: PartialOrder, solution: AnySolution) -> None:
    """The tokens of an order at the heights of their scores, each component in a frame.

    Solid arrows are support vectors, with a margin of exactly 1 and a positive multiplier; dotted
    ones have room to spare or carry no force. Thin arrows in a frame are the circle.

    Args:
        axes: where to draw.
        order: the comparisons.
        solution: its exact scores.
    """
    across: dict[str, float] = {}
    heights: dict[float, float] = {}
    for part in solution.components:
        height = float(solution.scores[part[0]])
        for token in part:
            across[token] = heights.get(height, 0.0)
            heights[height] = across[token] + 1.0
        heights[height] += 0.5
    widest = max(heights.values())
    for height, width in heights.items():
        for token, fraction in solution.scores.items():
            if float(fraction) == height:
                across[token] += (widest - width) / 2
    place = {part: number for number, tokens in enumerate(solution.components) for part in tokens}
    for a, b in sorted(order.pairs):
        if place[a] == place[b]:
            way = {"arrowstyle": "-|>", "color": OTHER, "linewidth": 0.9, "shrinkA": 9}
            bend = 0.25 if across[a] > across[b] else 0.0
            ends = (across[b], float(solution.scores[b])), (across[a], float(solution.scores[a]))
            axes.annotate(
                "", *ends, arrowprops=way | {"shrinkB": 9, "connectionstyle": f"arc3,rad={bend}"}
            )
            continue
        line = "-" if (a, b) in solution.multipliers else ":"
        # An arrow past another component bends around it.
        far = solution.scores[a] - solution.scores[b] > 1 and across[a] == across[b]
        axes.annotate(
            "",
            (across[b], float(solution.scores[b]) + HALF),
            (across[a], float(solution.scores[a]) - HALF),
            arrowprops={
                "arrowstyle": "-|>",
                "color": BOUND,
                "linestyle": line,
                "linewidth": 1.1,
                "connectionstyle": f"arc3,rad={-0.9 if far else 0}",
            },
        )
    for part in solution.components:
        xs, score = [across[token] for token in part], float(solution.scores[part[0]])
        color = OPTIMAL if len(part) == 1 else OTHER
        frame = FancyBboxPatch(
            (min(xs) - 0.28, score - HALF),
            max(xs) - min(xs) + 0.56,
            2 * HALF,
            boxstyle="round,pad=0.0,rounding_size=0.08",
            facecolor="white",
            edgecolor=color,
            linewidth=1.8,
        )
        axes.add_patch(frame)
        for token, x in zip(part, xs, strict=True):
            axes.text(x, score, token, ha="center", va="center", fontsize=13)
    axes.set(xlim=(-0.7, widest + 0.1), ylabel="score")
    low, high = min(heights), max(heights)
    axes.set_ylim(low - 0.4, high + 0.4)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def draw_growth(
    axes: Axes, swinging: Sequence[PathState], free: Sequence[PathState], found: Swing
) -> None:
    """The margin of the strict query over the steps, with a contradiction elsewhere and without.

    Args:
        axes: where to draw, the steps on a logarithmic scale.
        swinging: states of the run with a contradiction.
        free: states of the run without one.
        found: the theorem's constants for the first run.
    """
    steps = np.unique(np.geomspace(1, len(swinging) - 1, 120).astype(int))
    apart = [swinging[step].m for step in steps]
    axes.semilogx(steps, apart, "-", color=OTHER, label="one contradiction elsewhere")
    shown = [step for step in steps if step < len(free) and free[step].m < 14]
    alone = [free[step].m for step in shown]
    axes.semilogx(shown, alone, "-.", color=OPTIMAL, label="no contradiction")
    later = steps[steps > 1.2 * found.first.step]
    base = np.exp(found.first.m)
    for slope, label in ((found.lower, "bounds of the theorem"), (found.upper, None)):
        line = np.log(base + slope * (later - found.first.step))
        axes.semilogx(later, line, "--", color=BOUND, linewidth=1, label=label)
    axes.set(xlabel="steps $t$", ylabel="margin $m$ under the query $r$", ylim=(0, 14))
    axes.legend(frameon=False, loc="upper left")
