"""Drawing of the page on convergence: a run, and every bound on its direction."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes

from ntpcore.huang2024 import bounds, direction
from ntpcore.huang2024.runs import Run
from ntpcore.pages.plots import BOUND, NONCOMPARABLE, OPTIMAL


def draw_bounds(axes: Axes, run: Run) -> None:
    """1 - cos of a run, Theorem B, Theorem 1 as printed and with 1 / pi_min, the trivial bound.

    Args:
        axes: where to draw.
        run: the run, with its last step far out.
    """
    rows, c = run.second.rows, run.constants
    keep = rows.step >= 1
    t = rows.step[keep].astype(float)
    S, k = c.norm_kq**2, direction.K(c.max_length, c.log_pi_min)
    ours = np.array([direction.one_minus_cos(S, k, c.eta, step) for step in t])
    trivial = direction.one_minus_cos_trivial(S)
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
