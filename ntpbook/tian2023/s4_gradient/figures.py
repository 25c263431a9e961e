"""Drawings of the page on the gradient that reaches the attention."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL
from ntpbook.tian2023.s4_gradient.gradient import safe_radius
from ntpbook.tian2023.s4_gradient.instances import Settled
from ntpcore.tian2023.decoder import speed, transition


def draw_denominators(axes: Axes) -> None:
    """The leading term of xi for two classes by e^2, with the stated and the right bound."""
    e = np.linspace(0, 0.5, 101)
    axes.plot(e, 1 / (1 - e**2), color=OPTIMAL, linewidth=2)
    axes.plot(e, 1 / (1 - e), ":", color=BOUND, linewidth=2)
    axes.plot(e, 1 / (1 + e), "--", color=BOUND)
    axes.text(0.43, 1.28, "term", color=OPTIMAL, ha="right")
    axes.text(0.37, 1.68, "stated bound: fails", color=BOUND, ha="right")
    axes.text(0.12, 0.71, "corrected bound", color=BOUND)
    axes.set(xlabel="overlap $e = f_1^\\top f_2$", ylabel="$(E'E)_{11}$ in units of $e^2$")
    axes.set(xlim=(0, 0.5))


def draw_radii(axes: Axes, largest: int = 50) -> None:
    """Spectral radii: Assumption 2's, the one that is enough, the one that is too much."""
    K = np.arange(3, largest + 1)
    axes.plot(K, 1 / K, ":", color=NONCOMPARABLE, linewidth=2)
    axes.plot(K, [safe_radius(int(k)) for k in K], color=OPTIMAL, linewidth=2)
    axes.plot(K[1:], 1 / np.sqrt(K[1:] - 2), "--", color=BOUND)
    axes.text(20, 0.038, "Assumption 2: $1/K$", color=NONCOMPARABLE, ha="right", va="top")
    axes.text(7.6, 0.185, "proved: $1/(1+\\sqrt{K-1})$", color=OPTIMAL, va="top")
    axes.text(14, 0.33, "stars fail above $1/\\sqrt{K-2}$", color=BOUND, va="bottom")
    axes.set(xscale="log", yscale="log", xlabel="number of classes $K$")
    axes.set(ylabel="largest eigenvalue $|\\lambda_1(E)|$")
    axes.set_xticks([3, 5, 10, 20, 50], ["3", "5", "10", "20", "50"])
    axes.set_yticks([0.02, 0.05, 0.1, 0.2, 0.5], ["0.02", "0.05", "0.1", "0.2", "0.5"])
    axes.minorticks_off()


def draw_xi(axes: Axes, settled: Settled, *, right: bool = False) -> None:
    """xi over time under (7), with Theorem 1's and the early value.

    Args:
        axes: where to draw.
        settled: xi over time.
        right: whether this is the second of two panels, which needs no label of its own.
    """
    axes.plot(settled.tau, settled.gradient, color=OPTIMAL, linewidth=2)
    axes.plot(settled.tau, settled.theorem, "--", color=BOUND)
    axes.plot(settled.tau, settled.early, ":", color=NONCOMPARABLE, linewidth=2)
    axes.set(xscale="log", yscale="log", xlabel="time $\\tau = \\eta_Y t / K$")
    axes.set(ylim=(3e-15, 1e2), yticks=[1e-12, 1e-9, 1e-6, 1e-3, 1])
    axes.minorticks_off()
    if not right:
        axes.set_ylabel("force on distinct tokens $\\xi$")
    first, at, late = 7, 15, -6
    axes.text(settled.tau[at], settled.theorem[at] * 2, "Theorem 1", ha="right", va="bottom")
    x, y = settled.tau[first], settled.gradient[first] / 3
    axes.text(x, y, "under (7)", color=OPTIMAL, va="top")
    below = settled.early[late] / 30
    axes.text(settled.tau[late], below, "early value", color=NONCOMPARABLE, ha="right", va="top")
    name = (
        f"$K = {settled.K}$, $M = 10^{{{round(math.log10(settled.M))}}}$, $\\rho = {settled.rho}$"
    )
    axes.text(0.97, 0.02, name, transform=axes.transAxes, ha="right", fontsize=10)


def draw_speed(axes: Axes, M: int) -> None:
    """gamma over time between the bounds of the two stages.

    Args:
        axes: where to draw.
        M: size of the vocabulary.
    """
    tau = np.geomspace(1e-2, 1e4, 400)
    first, last = math.log(M), transition(M, 1, 1.0)
    late = tau[tau >= last]
    axes.plot(tau, speed(M, 1, 1.0, tau), color=OPTIMAL, linewidth=2)
    axes.plot(tau[tau <= 300], tau[tau <= 300], "--", color=BOUND)
    axes.plot(late, 2 * np.log(M * late) / late, "--", color=BOUND)
    axes.plot(late, np.log(late) / late, ":", color=BOUND, linewidth=2)
    for at, name in ((first, "$\\ln M$"), (last, "$\\tau_0$")):
        axes.axvline(at, color=NONCOMPARABLE, linewidth=0.8)
        axes.text(at * 1.07, 1.3e-3, name, color=NONCOMPARABLE)
    axes.text(0.05, 0.14, "$\\tau$", ha="right")
    axes.text(600, 0.1, "$2\\ln(M\\tau)/\\tau$", va="bottom")
    axes.text(150, 0.012, "$\\ln\\tau/\\tau$", color=BOUND, ha="right", va="top")
    axes.text(0.3, 0.12, "$\\gamma$", color=OPTIMAL)
    axes.set(xscale="log", yscale="log", ylim=(1e-3, 30))
    axes.set(xlabel="time $\\tau = \\eta_Y t / K$", ylabel="speed coefficient $\\gamma$")
