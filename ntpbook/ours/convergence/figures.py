"""Drawings of the page on convergence: a direction that turns, its bounds, and two goals."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ntpbook.huang2024.s5_stage2.figures import draw_curves
from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL, OTHER
from ntpbook.ours.convergence.optimum import Approach
from ntpcore.huang2024.runs import Run

Floats = NDArray[np.float64]


def draw_turning(axes: Axes, star: Floats, path: Mapping[int, Floats]) -> None:
    """W / ||W|| after more and more steps, in the plane of W_kq_star and the last W.

    Arrows mark the powers of ten among the steps. What lies outside the plane is not drawn, so
    that an arrow may end inside the unit circle.

    Args:
        axes: where to draw.
        star: (K,), the entries of W_kq_star.
        path: (K,), the entries of W by the number of steps, in increasing order.
    """
    along = star / np.linalg.norm(star)
    last = path[max(path)]
    across = last - (last @ along) * along
    plane = np.array([along, across / np.linalg.norm(across)])
    tips = {t: plane @ W / np.linalg.norm(W) for t, W in path.items()}
    arc = np.linspace(0, 1.2 * max(np.arctan2(y, x) for x, y in tips.values()), 60)
    axes.plot(np.cos(arc), np.sin(arc), color=NONCOMPARABLE, linewidth=0.8, linestyle=":")
    axes.plot([0, 1.22], [0, 0], "--", color=BOUND, linewidth=1.2)
    axes.text(1.235, 0, "$W_{\\mathrm{kq}}^*$", va="center")
    axes.plot(*np.array(list(tips.values())).T, "-", color=OPTIMAL, linewidth=1)
    for t, (x, y) in tips.items():
        if 10 ** round(math.log10(t)) != t:
            continue
        style = {"arrowstyle": "-|>", "color": OPTIMAL, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (x, y), (0, 0), arrowprops=style)
        axes.text(x + 0.015, y + 0.008, f"$t = {t}$", color=OPTIMAL, va="center")
    axes.set(xlim=(0, 1.32), ylim=(-0.03, None), aspect="equal")
    axes.set(xlabel="along $W_{\\mathrm{kq}}^*$", ylabel="across")


def draw_bounds(axes: Axes, run: Run) -> None:
    """1 - cos of a run, Theorem B, Theorem 1 as stated, and the bound from norms alone.

    Args:
        axes: where to draw.
        run: the run, with its last step far out.
    """
    t, measured, ours, printed, trivial = draw_curves(axes, run)
    axes.text(2, trivial / 7, "norm bounds alone (dash-dotted)", color=NONCOMPARABLE)
    axes.text(t[-1], ours[-1] / 9, "Theorem B (dashed)", ha="right")
    axes.text(t[-1], printed[-1] / 9, "Theorem 1 as stated (dotted)", ha="right")
    place = int(np.searchsorted(t, 300))
    axes.text(t[place] / 2, measured[place] / 4, "measured", color=OPTIMAL, ha="right")
    axes.set_ylabel("$1 - \\cos$ to $W_{\\mathrm{kq}}^*$")
    axes.set_ylim(measured.min() / 3, 10 ** math.ceil(math.log10(printed.max())))


def draw_approach(axes: Axes, run: Approach) -> None:
    """1 - cos of one run to the two candidates for its limit.

    Args:
        axes: where to draw.
        run: the distances at increasing times.
    """
    axes.plot(run.steps, run.to_optimum, "o-", color=OPTIMAL)
    axes.plot(run.steps, run.to_closed_form, "s-", color=OTHER)
    axes.axhline(run.between, color=BOUND, linestyle="--", linewidth=1)
    axes.text(run.steps[1], run.to_optimum[1], "  to the exact optimum", color=OPTIMAL)
    axes.text(run.steps[1], run.to_closed_form[1] * 2, "to the closed form", color=OTHER)
    axes.text(run.steps[1], run.between / 4, "between the two (exact, dashed)")
    axes.set(xscale="log", yscale="log", xlabel="steps $t$", ylabel="$1 - \\cos$")
