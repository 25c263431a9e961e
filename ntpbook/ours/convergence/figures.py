"""Drawings of the page on convergence: a run with every bound on its direction, and two goals."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL, OTHER
from ntpbook.ours.convergence.optimum import Approach
from ntpbook.shared import theorem_1
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.runs import Run


def draw_bounds(axes: Axes, run: Run) -> None:
    """1 - cos of a run, Theorem B, Theorem 1 as printed and with 1 / pi_min, the trivial bound.

    Args:
        axes: where to draw.
        run: the run, with its last step far out.
    """
    rows, c = run.second.rows, run.constants
    keep = rows.step >= 1
    t = rows.step[keep].astype(float)
    ours, trivial = theorem_1.theorem_b(run, t), theorem_1.trivial(run)
    later = np.log(t[t >= 2])
    printed = np.exp(bounds.log_thm_1_direction(c, later))
    axes.plot(t, rows.one_minus_cos[keep], color=OPTIMAL)
    axes.plot(t, ours, "--", color=BOUND)
    axes.plot(np.exp(later), printed, ":", color=BOUND)
    axes.axhline(trivial, color=NONCOMPARABLE, linewidth=1, linestyle="-.")
    axes.text(2, trivial / 7, "norm bounds alone (dash-dotted)", color=NONCOMPARABLE)
    axes.text(t[-1], ours[-1] / 9, "Theorem B (dashed)", ha="right")
    axes.text(t[-1], printed[-1] / 9, "Theorem 1, printed (dotted)", ha="right")
    place = int(np.searchsorted(t, 300))
    value = rows.one_minus_cos[keep][place]
    axes.text(t[place] / 2, value / 4, "measured", color=OPTIMAL, ha="right")
    axes.set(xscale="log", yscale="log", xlabel="steps $t$")
    axes.set_ylabel("$1 - \\cos$ to $W_{\\mathrm{kq}}^*$")
    axes.set_ylim(rows.one_minus_cos[keep].min() / 3, 10 ** math.ceil(math.log10(printed.max())))


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
