"""Drawings of the page on the direction of stage 2."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ntpbook.huang2024.s5_stage2.late_phase import Approach, Late, residual_length
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.runs import Run
from ntpcore.pages.plots import BOUND, NONCOMPARABLE, NONOPTIMAL, OPTIMAL

Floats = NDArray[np.float64]
SERIES = ((OPTIMAL, "o"), (NONOPTIMAL, "s"), (NONCOMPARABLE, "^"))


def draw_direction(axes: Axes, run: Run, *, right: bool = False) -> None:
    """1 - cos of a run with Theorem 1's bound, as printed and with 1 / pi_min.

    Args:
        axes: where to draw.
        run: the run.
        right: whether this is the second of two panels, which needs no label of its own.
    """
    rows, c = run.second.rows, run.constants
    keep = rows.step >= 1
    t = rows.step[keep].astype(float)
    later = np.log(t[t >= 2])
    printed = np.exp(bounds.log_thm_1_direction(c, later))
    corrected = np.exp(bounds.log_thm_1_direction(c, later, rarity=bounds.PI_MIN))
    axes.plot(t, rows.one_minus_cos[keep], color=OPTIMAL)
    axes.plot(np.exp(later), printed, "--", color=BOUND)
    axes.plot(np.exp(later), corrected, ":", color=BOUND)
    axes.axhline(1.0, color=NONCOMPARABLE, linewidth=0.6)
    middle = len(later) // 2
    axes.text(t[-1], corrected[middle] * 8, "corrected (dotted)", ha="right")
    axes.text(1.2, printed[0] / 100, "printed (dashed)")
    axes.text(1.2, 1.6, "a bound says something below this line", fontsize=8)
    axes.text(t[len(t) // 2], rows.one_minus_cos[keep][len(t) // 2] * 4, "measured", color=OPTIMAL)
    axes.set(xscale="log", yscale="log", xlabel="steps $t$")
    axes.text(0.03, 0.03, run.name, transform=axes.transAxes, weight="bold")
    if not right:
        axes.set_ylabel("$1 - \\cos$ to $W_{\\mathrm{kq}}^*$")


def draw_rare(axes: Axes, runs: Sequence[Run]) -> None:
    """1 - cos for rarer and rarer sentences, against the one printed bound for all of them.

    Args:
        axes: where to draw.
        runs: runs of equal N, L_max, norm and step size; the last has the most steps.
    """
    for place, run in enumerate(runs):
        rows = run.second.rows
        keep = rows.step >= 1
        last = place == len(runs) - 1
        color = NONOPTIMAL if last else OPTIMAL
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
    axes.text(3e4, 12, "printed bound, the same for all", ha="right", va="top")
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
    axes.text(150, 12, "printed bound at $t = 2$")
    wrong = measured > bound
    axes.fill_between(etas, bound, measured, where=wrong, color=NONOPTIMAL, alpha=0.2, linewidth=0)
    axes.text(etas[-1] / 1.5, 0.011, "bound too small", color=NONOPTIMAL, ha="right")
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="step size $\\eta$", ylabel="$1 - \\cos$ after two steps")


def draw_rate(axes: Axes, lates: Sequence[Late]) -> None:
    """(t eta)^2 (1 - cos) of a few runs with their predicted constants.

    Args:
        axes: where to draw.
        lates: at most three runs.
    """
    for late, (color, marker) in zip(lates, SERIES, strict=False):
        rows = late.run.second.rows
        keep = rows.step >= 1
        t = rows.step[keep].astype(float)
        values = (t * late.run.constants.eta) ** 2 * rows.one_minus_cos[keep]
        axes.plot(t, values, marker=marker, markevery=12, markersize=4, color=color)
        axes.axhline(late.predicted, color=BOUND, linestyle="--", linewidth=1)
        axes.text(t[-1], late.predicted * 1.12, late.run.name, color=color, ha="right", va="bottom")
    axes.text(1.2, lates[0].predicted * 1.12, "predicted $c$ (dashed)")
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="steps $t$", ylabel="$(t\\eta)^2\\,(1 - \\cos)$")


def draw_residuals(axes: Axes, runs: Sequence[Run], slopes: Sequence[float]) -> None:
    """Length of W across W_kq_star, with lines of the predicted slopes.

    Args:
        axes: where to draw.
        runs: the runs.
        slopes: predicted growth of each for one unit of log t.
    """
    for run, slope in zip(runs, slopes, strict=True):
        rows = run.second.rows
        keep = rows.step >= 1
        t, length = rows.step[keep].astype(float), residual_length(run)[keep]
        color, marker = (NONOPTIMAL, "s") if slope else (OPTIMAL, "o")
        axes.plot(t, length, marker=marker, markevery=12, markersize=4, color=color)
        axes.plot(t, length[-1] + slope * np.log(t / t[-1]), "--", color=BOUND, linewidth=1)
        axes.text(t[-1] * 1.2, length[-1], run.name, color=color, va="center", fontsize=9)
    axes.set(xscale="log", ylim=(0, None), xlim=(1, 3e7))
    axes.set_xticks([10.0**k for k in range(6)])
    axes.set(xlabel="steps $t$", ylabel="length of $W$ across $W_{\\mathrm{kq}}^*$")


def draw_approach(axes: Axes, run: Approach) -> None:
    """1 - cos of one run to the two candidates for its limit.

    Args:
        axes: where to draw.
        run: the distances at increasing times.
    """
    axes.plot(run.steps, run.to_optimum, "o-", color=OPTIMAL)
    axes.plot(run.steps, run.to_closed_form, "s-", color=NONOPTIMAL)
    axes.axhline(run.between, color=BOUND, linestyle="--", linewidth=1)
    axes.text(run.steps[1], run.to_optimum[1], "  to the exact optimum", color=OPTIMAL)
    axes.text(run.steps[1], run.to_closed_form[1] * 2, "to the closed form", color=NONOPTIMAL)
    axes.text(run.steps[1], run.between / 4, "between the two (exact, dashed)")
    axes.set(xscale="log", yscale="log", xlabel="steps $t$", ylabel="$1 - \\cos$")
