"""Drawings of the page on the direction of stage 2."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL, OTHER
from ntpbook.shared import theorem_1
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.runs import Run

Floats = NDArray[np.float64]


def draw_curves(axes: Axes, run: Run) -> tuple[Floats, Floats, Floats, Floats, float]:
    """1 - cos of a run from step 1 on, Theorem B, Theorem 1 as stated (from 2 on), and norms alone.

    Returns:
        The steps and these four, in this order.
    """
    keep = run.second.rows.step >= 1
    t, measured = run.second.rows.step[keep].astype(float), run.second.rows.one_minus_cos[keep]
    later = t[t >= 2]
    printed = np.exp(bounds.log_thm_1_direction(run.constants, np.log(later)))
    ours, trivial = theorem_1.theorem_b(run, t), theorem_1.trivial(run)
    axes.plot(t, measured, color=OPTIMAL)
    axes.plot(t, ours, "--", color=BOUND)
    axes.plot(later, printed, ":", color=BOUND)
    axes.axhline(trivial, color=NONCOMPARABLE, linewidth=1, linestyle="-.")
    axes.set(xscale="log", yscale="log", xlabel="steps $t$")
    return t, measured, ours, printed, trivial


def draw_direction(axes: Axes, run: Run, *, right: bool = False) -> None:
    """1 - cos of a run with Theorem B, Theorem 1 as stated, and the trivial bound.

    Args:
        axes: where to draw.
        run: the run.
        right: whether this is the second of two panels, which needs no label of its own.
    """
    t, measured, _, printed, _ = draw_curves(axes, run)
    place = len(t) // 2
    axes.text(t[-1], printed[len(printed) // 2] * 8, "Theorem 1 (dotted)", ha="right")
    axes.text(t[-1], 30, "Theorem B (dashed)", ha="right")
    axes.text(1.2, 4, "norms alone", fontsize=8, color=NONCOMPARABLE)
    axes.text(t[place] / 3, measured[place] / 8, "measured", color=OPTIMAL, ha="right")
    axes.text(0.03, 0.03, run.name, transform=axes.transAxes, weight="bold")
    if not right:
        axes.set_ylabel("$1 - \\cos$ to $W_{\\mathrm{kq}}^*$")


def draw_rare(axes: Axes, runs: Sequence[Run]) -> None:
    """1 - cos for rarer and rarer sentences, against the one stated bound for all of them.

    Args:
        axes: where to draw.
        runs: runs of equal N, L_max, norm and step size; the last has the most steps.
    """
    for place, run in enumerate(runs):
        rows = run.second.rows
        keep = rows.step >= 1
        last = place == len(runs) - 1
        color = OTHER if last else OPTIMAL
        t, values = rows.step[keep], rows.one_minus_cos[keep]
        axes.plot(t, values, color=color, linewidth=2.2 if last else 1.2)
        exponent = math.log10(-run.problem.log_pi_min)
        name = f"$e^{{-{10 ** (exponent - int(exponent)):.2g} \\times 10^{{{int(exponent)}}}}}$"
        if last:
            axes.text(t[-1] / 40, 0.42, f"$\\pi_{{\\min}}$ = {name}", color=color, ha="center")
        else:
            shown = int(np.argmax(values < 0.05))
            name = f"$e^{{-10^{round(exponent)}}}$"
            axes.text(t[shown] * 0.8, 0.05, name, color=color, ha="right", va="top")
    c, rows = runs[-1].constants, runs[-1].second.rows
    t = rows.step[rows.step >= 2].astype(float)
    bound = np.exp(bounds.log_thm_1_direction(c, np.log(t)))
    axes.plot(t, bound, "--", color=BOUND)
    axes.text(3e4, 12, "stated bound, the same for all", ha="right", va="top")
    axes.set(xscale="log", yscale="log", ylim=(3e-3, 30), xlim=(100, 3e7))
    axes.set(xlabel="steps $t$", ylabel="$1 - \\cos$ to $W_{\\mathrm{kq}}^*$")


def draw_step_sizes(axes: Axes, etas: Floats, measured: Floats, bound: Floats) -> None:
    """1 - cos after two steps against the step size, with Theorem 1's bound at t = 2.

    Args:
        axes: where to draw.
        etas: step sizes.
        measured: 1 - cos at each.
        bound: the bound at each.
    """
    axes.plot(etas, measured, color=OPTIMAL)
    axes.plot(etas, bound, "--", color=BOUND)
    axes.text(3, measured[0] * 1.6, "measured at $t = 2$", color=OPTIMAL)
    axes.text(150, 12, "stated bound at $t = 2$")
    wrong = measured > bound
    axes.fill_between(etas, bound, measured, where=wrong, color=OTHER, alpha=0.2, linewidth=0)
    axes.text(etas[-1] / 1.5, 0.011, "bound too small", color=OTHER, ha="right")
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="step size $\\eta$", ylabel="$1 - \\cos$ after two steps")
