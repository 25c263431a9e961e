"""Drawings of the page on the fates of tokens."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ntpbook.look.plots import BOUND, NONCOMPARABLE, NONOPTIMAL, OPTIMAL
from ntpbook.tian2023.s5_fates import attention
from ntpcore.tian2023.classes import (
    SequenceClasses,
    attention_scores,
    common_tokens,
    distinct_tokens,
    layered_classes,
)

Floats = NDArray[np.float64]


def example(eta_Y: float, eta_Z: float, last: float) -> tuple[attention.AttentionPath, Floats]:
    """Three classes of one query with two common and three distinct tokens each, M = 1000.

    Args:
        eta_Y: learning rate of the decoder.
        eta_Z: learning rate of the attention.
        last: number of steps of batch size 1.

    Returns:
        the flow (10), and the steps at which it is recorded.
    """
    data = layered_classes([0.5, 0.3], [[1.0, 0.7, 0.4]] * 3, 11, (0, 0, 0))
    steps = np.concatenate([[0.0], np.geomspace(1, last, 81)])
    clocks = attention.clock(1000, 3, eta_Y, eta_Z, steps)
    return attention.flow(data, 1000, clocks), steps


def draw_fates(axes: Axes, path: attention.AttentionPath, steps: Floats, n: int = 0) -> None:
    """Attention c_n of one class over time: distinct tokens solid, common ones dash-dotted.

    Args:
        axes: where to draw.
        path: the flow.
        steps: (S,), steps of batch size 1; the first one is 0 and is left out.
        n: the class.
    """
    data: SequenceClasses = path.classes
    c = np.array([attention_scores(data, z)[n] for z in path.z])
    kinds = (
        (distinct_tokens(data, n), "-", OPTIMAL, "distinct"),
        (common_tokens(data), "-.", NONOPTIMAL, "common"),
    )
    for tokens, style, color, word in kinds:
        for token in tokens:
            axes.plot(steps[1:], c[1:, token], style, color=color)
            name = f"{word}, $P$ = {data.probabilities[n, token]:.2f}"
            end, others = c[-1, token], np.delete(c[-1], token)
            crowded = bool(((others > end) & (others < end + 0.03)).any())
            beside = c[steps >= steps[-1] ** 0.6, token]  # where its name has its place
            at, va = (beside.min() - 0.008, "top") if crowded else (beside.max() + 0.006, "bottom")
            axes.text(steps[-1], at, name, color=color, va=va, ha="right", fontsize=9)
    axes.set(xscale="log", xlim=(1, steps[-1]), ylim=(0, None))
    axes.set(xlabel="steps of batch size 1, $t$", ylabel="attention $c_{nl}$")


def draw_growing(
    axes: Axes,
    modified: attention.AttentionPath,
    true: attention.AttentionPath,
    steps: Floats,
    token: int = 0,
) -> None:
    """z of a common token under (10), solid, and under the true flow, dash-dotted.

    Args:
        axes: where to draw.
        modified: the flow (10) with Theorem 1's coefficients.
        true: the flow with the decoder by (7).
        steps: (S,), steps of batch size 1; the first one is 0 and is left out.
        token: the common token.
    """
    looks = (
        ("-", "under (10) with Theorem 1's $\\beta$"),
        ("-.", "both layers trained, (7) and (4)"),
    )
    for path, (style, name), across, up in zip(
        (modified, true), looks, (1.5, 0.4), (0.0, 0.0025), strict=True
    ):
        z = path.z[1:, 0, token]
        axes.plot(steps[1:], z, style, color=NONOPTIMAL)
        top = int(z.argmax())
        axes.plot(steps[1 + top], z[top], "o", color=NONOPTIMAL, markersize=5)
        ha = "left" if across > 1 else "center"
        axes.text(steps[1 + top] * across, z[top] + up, name, color=NONOPTIMAL, ha=ha, fontsize=9)
    axes.axhline(0, color=NONCOMPARABLE, linewidth=0.6, zorder=0)
    axes.set(xscale="log", xlim=(1, steps[-1]), ylim=(-0.03, 0.035))
    axes.set(xlabel="steps of batch size 1, $t$", ylabel="logit $z_l$ of the common token $l$")


def draw_sandwich(axes: Axes, path: attention.AttentionPath, steps: Floats, n: int = 0) -> None:
    """ln chi of the strongest distinct token between the bounds of (12), on logarithmic axes.

    Args:
        axes: where to draw.
        path: the flow.
        steps: (S,), steps of batch size 1; the first one is 0 and is left out.
        n: the class.
    """
    f = path.f(0)[n]
    token = max(distinct_tokens(path.classes, n), key=lambda x: float(f[x]))
    measured = 2 * (path.z[1:, path.classes.query[n], token] - path.z[0, 0, token])
    B = 2 * path.B[1:, n]
    axes.plot(steps[1:], measured, color=OPTIMAL)
    lower = f[token] ** 2 * B
    for values, name, shift, va in (
        (B, "upper bound, $2 B_n$", 1.12, "bottom"),
        (lower, "lower bound, $2 f_{nl_0}^2(0) B_n$", 0.86, "top"),
    ):
        axes.plot(steps[1:], values, "--", color=BOUND)
        axes.text(steps[-1], values[-1] * shift, name, ha="right", va=va, fontsize=9)
    middle = 2 * len(measured) // 3
    axes.text(
        steps[middle],
        measured[middle] * 1.08,
        "measured, $\\ln \\chi_{l_0}$",
        color=OPTIMAL,
        ha="right",
        va="bottom",
        fontsize=9,
    )
    axes.set(xscale="log", yscale="log", xlim=(1, steps[-1]))
    axes.set(xlabel="steps of batch size 1, $t$", ylabel="logarithm of the growth factor")
