"""Drawings of the first chapter: attention as it turns, digits as they go, a scan and a snap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, NONOPTIMAL, OPTIMAL
from ntpbook.ours.whole_model import plain
from ntpbook.ours.whole_model.checks import Mark


def draw_attention(
    axes: Axes, rows: Sequence[tuple[list[int], int]], W_ov: Any, path: Any, steps: Sequence[int]
) -> None:
    """Each sentence as a bar, cut in the shares of its tokens, after more and more steps.

    Tokens that vote for the next one are blue; the others, non-optimal, are orange.

    Args:
        axes: where to draw.
        rows: sentences of two or more tokens, with their next tokens.
        W_ov: weights after stage 1.
        path: W_kq after every step.
        steps: the columns.
    """
    for place, t in enumerate(steps):
        for y, (sentence, following) in enumerate(reversed(rows)):
            _, weights, _ = plain.forward(sentence, W_ov, path[t])
            left = place * 1.2
            for token, weight in zip(sentence, weights, strict=True):
                best = plain.n[token] == following
                color = OPTIMAL if best else NONOPTIMAL
                axes.barh(y, weight, left=left, height=0.7, color=color, edgecolor="white")
                if weight > 0.12:
                    word = plain.words[token]
                    axes.text(left + weight / 2, y, word, color="white", ha="center", va="center")
                left += weight
        axes.text(place * 1.2 + 0.5, len(rows) - 0.4, f"$t = {t}$", ha="center")
    for y, (sentence, following) in enumerate(reversed(rows)):
        text = f"{' '.join(plain.words[x] for x in sentence)} → {plain.words[following]}"
        axes.text(-0.1, y, text, ha="right", va="center", family="monospace")
    axes.set(xlim=(-1.6, 1.2 * len(steps) - 0.2), ylim=(-0.6, len(rows)))
    axes.set_axis_off()


def draw_digits(axes: Axes, marks: Sequence[Mark], found: Sequence[Any]) -> None:
    """Relative distances of the plain run from the library, under what rounding may do.

    Args:
        axes: where to draw.
        marks: where the plain run stands, with its bounds.
        found: the library's numbers at the same steps.
    """
    steps = [mark.step for mark in marks]
    sizes = [float(np.linalg.norm(one)) for one in found]
    apart = [float(np.linalg.norm(m.numbers - one)) for m, one in zip(marks, found, strict=True)]
    bound = [mark.bound / size for mark, size in zip(marks, sizes, strict=True)]
    measured = [one / size for one, size in zip(apart, sizes, strict=True)]
    axes.semilogy(steps, bound, "--", color=BOUND)
    axes.semilogy(steps, measured, "o-", color=OPTIMAL)
    axes.text(steps[5], bound[5] * 5, "what rounding may do", ha="center", color=BOUND)
    axes.text(steps[5], measured[5] * 4, "measured", ha="center", color=OPTIMAL)
    axes.set(xlabel="steps $t$ of stage 2", ylabel="relative distance of $W_{\\mathrm{kq}}$")
    axes.set_ylim(1e-17, 1e-7)


def draw_scan_and_snap(axes: Axes, path: Sequence[tuple[Any, Any]]) -> None:
    """Attention of class 0 on its common and its two distinct tokens.

    Args:
        axes: where to draw.
        path: Y and z after every step.
    """
    steps = np.unique(np.geomspace(1, len(path), 80).astype(int)) - 1
    c = np.array([plain.layer(*path[t])[0][0, :3] for t in steps])
    looks = (
        ("common token", NONOPTIMAL, "-.", -0.045),
        ("distinct token of frequency 3/10", OPTIMAL, "-", 0.02),
        ("distinct token of frequency 1/5", OPTIMAL, "--", 0.02),
    )
    for place, (label, color, style, up) in enumerate(looks):
        axes.semilogx(steps + 1, c[:, place], style, color=color)
        axes.text(steps[-1], c[-1, place] + up, label, color=color, ha="right")
    axes.set(xlabel="1 + steps taken", ylabel="attention $c_{l|n}$ of a class", ylim=(0, 0.62))
