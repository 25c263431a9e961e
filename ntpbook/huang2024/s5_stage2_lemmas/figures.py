"""Drawings of the page on the lemmas of stage 2."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, OPTIMAL
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.runs import Run


def draw_attention(axes: Axes, run: Run) -> None:
    """The least optimal attention of a run as log-odds, above the bound of Lemma 5."""
    rows = run.second.rows
    later = rows.step > 0
    level = -np.log(run.problem.max_length - 1)  # log-odds of 1 / L_max
    axes.semilogx(rows.step[later], rows.least_log_odds[later], color=OPTIMAL)
    axes.axhline(level, linestyle="--", color=BOUND)
    axes.text(1, level + 0.15, r"attention $1/L_{\max}$", va="bottom")
    axes.set(xlabel="step $t$", ylabel="least optimal attention, log-odds")


def draw_norm(axes: Axes, run: Run) -> None:
    """||W_kq|| / (t eta) between the bounds of Lemma 6, with the sharper lower one."""
    rows, c = run.second.rows, run.constants
    t = rows.step[rows.step > 0]
    axes.loglog(t, rows.norm[rows.step > 0] / (t * c.eta), color=OPTIMAL, linewidth=4)
    for level, style, text in (
        (1.0, "--", "Lemma 6: 1"),
        (1 / (np.sqrt(2) * c.norm_kq), ":", r"ours: $1/(\sqrt{2}\,\|W^*\|)$"),
        (bounds.lem_6_norm(c, 1.0)[0] / c.eta, "--", r"Lemma 6: $1/(2L_{\max}\|W^*\|)$"),
    ):
        axes.axhline(level, linestyle=style, color=BOUND)
        axes.text(t[0], level * 1.06, text, va="bottom")
    axes.text(t[0], 0.7, "measured", color=OPTIMAL, va="top")
    axes.set(xlabel="step $t$", ylabel=r"$\|W_{\mathrm{kq}}\| \, / \, (t \eta)$", ylim=(None, 2))
