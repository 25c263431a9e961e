"""Drawings of the page on the setting of Tian et al. (2023)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ntpbook.look.plots import BOUND, NONCOMPARABLE, NONOPTIMAL, OPTIMAL, OTHER
from ntpbook.tian2023.s3_setting import counts
from ntpcore.tian2023 import classes as families
from ntpcore.tian2023.classes import SequenceClasses

Floats = NDArray[np.float64]


def draw_classes(axes: Axes, classes: SequenceClasses) -> None:
    """Classes as rows of squares with areas P(l|n): common tokens orange, distinct ones blue discs.

    Args:
        axes: where to draw.
        classes: at most a dozen tokens.
    """
    common = families.common_tokens(classes)
    shown = [int(x) for x in np.flatnonzero(classes.probabilities.sum(axis=0) > 0)]
    for n in range(classes.K):
        y = classes.K - 1 - n
        axes.plot([-0.6, len(shown) - 0.4], [y, y], color=NONCOMPARABLE, linewidth=0.5, zorder=0)
        for place, token in enumerate(shown):
            p = float(classes.probabilities[n, token])
            if p > 0:
                marker, color = ("s", NONOPTIMAL) if token in common else ("o", OPTIMAL)
                axes.plot(place, y, marker, color=color, markersize=44 * p**0.5)
        axes.text(-0.8, y, f"query {classes.query[n]}", ha="right", va="center")
        axes.annotate(
            "",
            (len(shown) + 0.3, y),
            (len(shown) - 0.3, y),
            arrowprops={"arrowstyle": "->", "color": NONCOMPARABLE},
        )
        axes.text(len(shown) + 0.5, y, f"next token {n}", va="center")
    for place, token in enumerate(shown):
        kind = "common" if token in common else "distinct"
        color = NONOPTIMAL if token in common else OPTIMAL
        axes.text(place, -0.75, kind, rotation=45, ha="right", va="top", color=color, fontsize=9)
    axes.set(xlim=(-2.2, len(shown) + 2.4), ylim=(-1.9, classes.K - 0.4))
    axes.set_axis_off()


def draw_distances(axes: Axes, lengths: Sequence[int], measured: Floats, constant: float) -> None:
    """Mean distance of X^T b from c by the length of the context, with its predicted line.

    Args:
        axes: where to draw.
        lengths: numbers of contextual tokens.
        measured: mean distance at each.
        constant: distance times the root of the length, as predicted.
    """
    at = np.asarray(lengths, dtype=float)
    axes.plot(at, measured, "o-", color=OPTIMAL)
    axes.plot(at, constant / np.sqrt(at), "--", color=BOUND)
    axes.text(at[2], measured[2] * 1.5, "measured", color=OPTIMAL)
    axes.text(at[3], constant / np.sqrt(at[3]) * 0.6, "predicted (dashed)", ha="right", va="top")
    axes.axvline(127, color=NONCOMPARABLE, linewidth=0.8)
    axes.text(140, measured[-1], "the paper's\nexperiments", color=NONCOMPARABLE, fontsize=9)
    axes.set(xscale="log", yscale="log", xlabel="contextual tokens $T - 1$")
    axes.set_ylabel("mean of $\\|X^\\top b_T - c\\|_1$")


def draw_failures(axes: Axes, delta: float, tokens: int, longest: int = 40) -> None:
    """Exact probabilities that one token, or some token, strays, against the length.

    Args:
        axes: where to draw.
        delta: allowed probability of failure.
        tokens: number of equally likely tokens.
        longest: largest number of contextual tokens.
    """
    length = np.arange(1, longest + 1)
    radii = [counts.radius(int(n), delta) for n in length]
    one = [counts.token_failure(int(n), 1 / tokens, r) for n, r in zip(length, radii, strict=True)]
    every = [counts.even_failure(int(n), tokens, r) for n, r in zip(length, radii, strict=True)]
    wide = [
        counts.even_failure(int(n), tokens, counts.uniform_radius(int(n), delta, tokens))
        for n in length
    ]
    axes.axhline(delta, color=BOUND, linestyle="--")
    axes.text(longest, delta * 1.03, "allowed, $\\delta$ (dashed)", ha="right")
    for values, color, marker, name in (
        (every, OTHER, "s", "some token, radius of Lemma 18"),
        (one, OPTIMAL, "o", "one token, radius of Lemma 18"),
        (wide, NONCOMPARABLE, "^", "some token, our radius"),
    ):
        axes.plot(length, values, marker + "-", color=color, markersize=4, label=name)
    axes.legend(frameon=False, loc="center right", bbox_to_anchor=(1, 0.65))
    axes.set(xscale="log", ylim=(-0.03, 1.08), xlabel="contextual tokens $T - 1$")
    axes.set_ylabel("probability of a larger deviation")
