"""The drawing of the page on Lemma 7."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, OPTIMAL
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.runs import Run


def draw_needed_alpha(axes: Axes, run: Run, factors: Sequence[float]) -> None:
    """The alpha that a run needs, and the printed alpha_t with each of these constants."""
    rows, c = run.second.rows, run.constants
    late = rows.step >= bounds.lem_7_start(c)
    t = rows.step[late]
    axes.loglog(t, rows.needed_alpha[late], color=OPTIMAL)
    middle = int(len(t) * 0.05)
    axes.annotate(
        "needed",
        (t[middle], rows.needed_alpha[late][middle]),
        xytext=(0, 5),
        textcoords="offset points",
        color=OPTIMAL,
    )
    for factor in factors:
        alpha = np.exp(np.asarray(bounds.log_lem_7_alpha(c, rows.norm[late], factor=factor)))
        axes.loglog(t, alpha, "--", color=BOUND)
        place = int(len(t) * 0.45)
        above = factor == max(factors)
        axes.annotate(
            rf"$\alpha_t$ with {factor:g}",
            (t[place], alpha[place]),
            xytext=(5, 5) if above else (-5, -5),
            textcoords="offset points",
            ha="left" if above else "right",
            va="bottom" if above else "top",
        )
    axes.set(xlabel="step $t$", ylabel=r"$\alpha$", ylim=(1e-2, None))
