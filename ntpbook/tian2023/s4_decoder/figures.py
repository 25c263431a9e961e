"""Drawings of the page on the decoder of Tian et al."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL, OTHER
from ntpbook.tian2023.s4_decoder import equicorrelated, shift
from ntpbook.tian2023.s4_decoder.instances import Heights
from ntpcore.tian2023 import decoder


def draw_window(axes: Axes, experiments: Mapping[str, tuple[int, int, float]]) -> None:
    """The window of Assumption 2 in the plane of M/K^2 and K |lambda|, and data sets in it.

    Args:
        axes: where to draw.
        experiments: K, M and the largest |lambda_i| of each data set.
    """
    ratio = np.geomspace(0.3, 3e3, 200)
    axes.fill_between(
        ratio, 6 / np.sqrt(ratio), 1, where=ratio > 36, color=OPTIMAL, alpha=0.25, linewidth=0
    )
    axes.axhline(1, linestyle="--", color=BOUND)
    for lower, text, side in (
        (6 / np.sqrt(ratio), r"$6/\sqrt{M}$", "bottom"),
        (np.sqrt(6 / ratio), r"$\sqrt{6/M}$", "top"),
    ):
        axes.plot(ratio, lower, "--", color=BOUND, linewidth=1.2)
        above = side == "bottom"
        height = float(np.interp(1.0, ratio, lower)) * (1.15 if above else 0.85)
        axes.text(1.0, height, text, ha="left" if above else "right", va=side)
    axes.text(2.8e3, 1.1, r"below this: $|\lambda_1| < 1/K$", va="bottom", ha="right")
    axes.text(600, 0.55, "allowed", color=OPTIMAL, ha="center", va="center")
    for name, (K, M, largest) in experiments.items():
        axes.plot(M / K**2, K * largest, "s", color=OTHER)
        axes.annotate(
            name,
            (M / K**2, K * largest),
            xytext=(7, 7),
            textcoords="offset points",
            color=OTHER,
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="vocabulary by squared classes $M/K^2$",
        ylabel=r"eigenvalue by its bound, $K\,|\lambda_i|$",
        ylim=(0.1, 500),
        xlim=(0.3, 3e3),
    )


def draw_lead(axes: Axes, M: int, K: int, rho: float, longest: float = 1e6) -> None:
    """The two gaps under (7) with equal correlations, and what Remark 1 makes of both."""
    tau = np.geomspace(0.05, longest, 300)
    u, v = equicorrelated.gaps(M, K, rho, tau)
    axes.semilogx(tau, v, color=OPTIMAL)
    axes.semilogx(tau, u, color=OTHER, linewidth=2.5)
    claimed = decoder.height(M, (1 - rho) * tau)
    axes.semilogx(tau, claimed, "--", color=BOUND)
    k = int(len(tau) * 0.72)
    axes.text(tau[k], v[k] + 0.6, "to other tokens, $v$", color=OPTIMAL, ha="right")
    axes.text(tau[k], u[k] - 0.7, "to other classes, $u$", color=OTHER, ha="left", va="top")
    at = int(len(tau) * 0.5)
    axes.annotate(
        "Remark 1, for both",
        (tau[at], claimed[at]),
        xytext=(-20, 35),
        textcoords="offset points",
        ha="right",
        arrowprops={"arrowstyle": "-", "color": NONCOMPARABLE},
    )
    axes.set(xlabel=r"time $\eta_Y t/K$", ylabel="gap of logits in row $w_n$")


def draw_heights(axes: Axes, runs: Sequence[Heights]) -> None:
    """One panel of Figure 8: steps h*, curve h, one pair for each rate."""
    for k, run in enumerate(runs):
        color = plt.get_cmap("cividis")(0.8 * k / max(len(runs) - 1, 1))
        fine = np.linspace(0, run.s[-1], 400)
        axes.step(run.s, run.y / run.M, where="post", color=color, linewidth=1)
        axes.plot(fine, decoder.height(run.M, run.eta * fine) / run.M, ":", color="black")
        axes.text(run.s[-1] * 1.02, run.y[-1] / run.M, f"{run.eta:g}", va="center", color=color)
    last = runs[0]
    axes.text(last.s[-1] * 1.02, runs[-1].y[-1] / last.M * 1.07, r"$\eta_Y$", va="bottom")
    axes.text(last.s[-1] * 0.97, 0, f"$M = {last.M}$", ha="right", va="bottom")
    axes.set(xlabel="updates of the class $s$", ylabel="height $h^*$, $h$", ylim=(0, None))


def draw_shift(axes: Axes, runs: Sequence[Heights]) -> None:
    """The shift c(s) of runs at one rate, between our bounds, beside ln M."""
    for run, color, marker in zip(runs, (OTHER, OPTIMAL), ("o", "s"), strict=False):
        later = run.s > 0
        s, c = run.s[later], run.c[later]
        axes.semilogx(s, c, color=color, marker=marker, markevery=40)
        k = int(np.searchsorted(c, 0.55))
        left = run is runs[0]
        axes.text(
            s[k] * (0.8 if left else 1.25),
            c[k],
            f"$M = {run.M}$",
            color=color,
            ha="right" if left else "left",
            va="bottom" if left else "top",
        )
        axes.axhline(math.log(run.M), linestyle=":", color=color)
        axes.text(1.0, math.log(run.M) + 0.1, rf"$\ln {run.M}$", color=color, va="bottom")
    run = runs[0]
    later = run.s > 3
    below, above = shift.shift_bounds(run.M, run.eta, run.y[later])
    for bound, text, place in ((below, "lower bound", "top"), (above, "upper bound", "bottom")):
        axes.semilogx(run.s[later], bound, "--", color=BOUND)
        k = int(0.62 * len(bound))
        sign = 1 if place == "bottom" else -1
        axes.text(
            run.s[later][k],
            bound[k] + 0.3 * sign,
            text,
            va=place,
            ha="right" if sign > 0 else "left",
        )
    axes.set(xlabel="updates of the class $s$", ylabel="shift $c(s)$", ylim=(-0.2, None))


def draw_speed(axes: Axes, M: int) -> None:
    """gamma over tau with the bounds of both stages and where these end and begin."""
    tau = np.geomspace(1e-2, 1e4, 400)
    axes.loglog(tau, decoder.speed(M, 1, 1.0, tau), color=OPTIMAL)
    end, begin = math.log(M), 2 * decoder.crossings(M)[1]
    first = tau[tau <= end]
    second = tau[tau >= begin]
    axes.loglog(first, first, "--", color=BOUND)
    axes.loglog(second, 2 * np.log(M * second) / second, "--", color=BOUND)
    for at, text, side in (
        (end, r"$\ln M$", "right"),
        (begin, r"$2(1+\omega_1)\ln M$", "left"),
    ):
        axes.axvline(at, linestyle=":", color=NONCOMPARABLE)
        axes.text(at * (0.93 if side == "right" else 1.07), 0.012, text, ha=side, va="bottom")
    axes.text(0.1, 0.14, r"$\tau$", ha="right", va="bottom")
    axes.text(300, 0.11, r"$2\ln(M\tau)/\tau$", ha="left", va="bottom")
    axes.text(0.3, 0.2, r"$\gamma$", color=OPTIMAL, ha="left", va="top")
    axes.set(xlabel=r"time $\tau = \eta_Y t/K$", ylabel=r"speed coefficient $\gamma$")
