"""Drawings of the page on the late phase."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL, OTHER
from ntpbook.ours.late_phase.instances import Enclosed
from ntpbook.ours.late_phase.measured_laws import Late, residual_length
from ntpcore.huang2024.runs import Run

SERIES = ((OPTIMAL, "o"), (OTHER, "s"), (NONCOMPARABLE, "^"))


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
        color, marker = (OTHER, "s") if slope else (OPTIMAL, "o")
        axes.plot(t, length, marker=marker, markevery=12, markersize=4, color=color)
        axes.plot(t, length[-1] + slope * np.log(t / t[-1]), "--", color=BOUND, linewidth=1)
        axes.text(t[-1] * 1.2, length[-1], run.name, color=color, va="center", fontsize=9)
    axes.set(xscale="log", ylim=(0, None), xlim=(1, 3e7))
    axes.set_xticks([10.0**k for k in range(6)])
    axes.set(xlabel="steps $t$", ylabel="norm of the residual $y_t$")
