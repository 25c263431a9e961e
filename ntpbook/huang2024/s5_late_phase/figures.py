"""Drawings of the page on the late phase."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from ntpbook.huang2024.s5_late_phase.instances import Enclosed
from ntpcore.huang2024.runs import Run
from ntpcore.pages.plots import BOUND, OPTIMAL


def draw_certificate(axes: Axes, run: Run, one: Enclosed) -> None:
    """(t eta)^2 (1 - cos) of a run, and the band that one enclosed state leaves later on.

    Args:
        axes: where to draw.
        run: a run of the same data in floats.
        one: the enclosed run with its certificate.
    """
    rows, eta = run.second.rows, run.constants.eta
    keep = rows.step >= 10
    t = rows.step[keep].astype(float)
    axes.plot(t, (t * eta) ** 2 * rows.one_minus_cos[keep], color=OPTIMAL)
    first = one.certificate.state.step
    later = np.geomspace(first, t[-1], 60)
    band = np.array([one.certificate.bounds(int(step)) for step in later])
    low, high = ((later.astype(int) * eta) ** 2 * band[:, side] for side in (0, 1))
    axes.fill_between(later, low, high, color=BOUND, alpha=0.15, linewidth=0)
    axes.plot(later, low, "--", later, high, "--", color=BOUND, linewidth=1)
    axes.axvline(first, color=BOUND, linewidth=0.6, linestyle=":")
    axes.text(first * 1.15, high[0] * 1.04, "proved for all later steps")
    place = int(np.searchsorted(t, 300))
    value = (t[place] * eta) ** 2 * rows.one_minus_cos[keep][place]
    axes.text(t[place] * 0.8, value, "measured", color=OPTIMAL, ha="right")
    axes.set(xscale="log", ylim=(0, 1.2 * high[0]), xlabel="steps $t$")
    axes.set_ylabel("$(t\\eta)^2\\,(1 - \\cos)$")
