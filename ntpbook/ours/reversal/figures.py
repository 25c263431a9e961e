"""Figures of the chapter on why sparsity turns back."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL, OTHER
from ntpbook.shared import heavy_ball, reduced_flow
from ntpcore.tian2023.coupled import Symmetric


def draw_momentum(axes: Axes, data: Symmetric, steps: int) -> None:
    """Entropy over steps at equal rates: momentum 0.9, the same ball ten times finer, and none.

    Args:
        axes: where to draw.
        data: the classes.
        steps: of the ball with momentum 0.9, eta = 1.
    """
    for beta, eta, finer, style, color, name in (
        (0.9, 1.0, 1, "-", OPTIMAL, "momentum 0.9"),
        (0.99, 0.01, 10, ":", "black", "the same, steps ten times finer"),
        (0.0, 10.0, 1, "--", OTHER, "no momentum"),
    ):
        path = heavy_ball.roll(data, eta, eta, beta, range(0, steps * finer + 1, finer))
        axes.plot(path.t[1:] / finer, path.entropy[1:], style, color=color, label=name)
    axes.set_xscale("log")


def draw_turns(axes: Axes, data: Symmetric, ratios: tuple[float, ...]) -> None:
    """Entropy of the flow above its least value, over its clock by the root of the ratio.

    Args:
        axes: where to draw.
        data: the classes.
        ratios: eta_Y / eta_Z.
    """
    looks = (("-", OPTIMAL), ("--", BOUND), ("-.", NONCOMPARABLE))
    for ratio, (style, color) in zip(ratios, looks, strict=False):
        u = np.geomspace(1, 300, 600)
        path = reduced_flow.follow(data, ratio, u * ratio**0.5)
        axes.plot(
            u, path.entropy - path.entropy.min(), style, color=color, label=f"ratio {ratio:g}"
        )
    axes.set_xscale("log")
    axes.set_ylim(-0.001, 0.03)
    axes.axhline(0, color=NONCOMPARABLE, linewidth=1)


def draw_dip(axes: Axes, ratios: tuple[float, ...], on: np.ndarray, off: np.ndarray) -> None:
    """Entropy over the ratio of the rates, with momentum and without.

    Args:
        axes: where to draw.
        ratios: eta_Y / eta_Z.
        on: entropies with momentum.
        off: the same without.
    """
    axes.plot(ratios, on, "o-", color=OPTIMAL, label="momentum 0.9")
    axes.plot(ratios, off, "s--", color=OTHER, label="no momentum")
    axes.set_xscale("log")
    axes.set_xticks(ratios, [f"{x:g}" for x in ratios])
    axes.minorticks_off()
