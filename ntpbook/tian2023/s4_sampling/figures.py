"""Drawings of the page on randomly drawn classes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL, OTHER
from ntpbook.tian2023.s4_sampling import decoder_rate, sampling
from ntpbook.tian2023.s4_sampling.instances import printed_theta, relative_slope
from ntpcore.tian2023 import decoder

COLORS = (OPTIMAL, OTHER, NONCOMPARABLE)
MARKERS = ("o", "s", "^")


def draw_radii(axes: Axes, N: int, delta: float, classes: Sequence[int]) -> None:
    """What radius the counts need, what Lemma 10 and Remark 4 give, and what the variance gives."""
    K = np.array(classes)
    one = [sampling.true_radius(N, Fraction(1, int(k)), -(-N // int(k)), delta) for k in K]
    every = [sampling.joint_radius(N, int(k), delta) for k in K]
    axes.loglog(K, every, "s-", color=OTHER, markersize=4)
    axes.loglog(K, one, "o-", color=OPTIMAL, markersize=4)
    ours = [sampling.bernstein_radius(N, 1 / k, delta) for k in K]
    axes.loglog(K, ours, ":", color=BOUND)
    end = K[-1] * 1.05
    axes.text(end, every[-1], "needed by all\nclasses at once", color=OTHER, va="bottom")
    axes.text(end, one[-1], "needed by\none class", color=OPTIMAL, va="top")
    axes.text(end, ours[-1], "ours, one class", va="center")
    for level, text in (
        (sampling.hoeffding_radius(N, delta), "Lemma 10, middle"),
        (sampling.remark_radius(N, delta), r"Remark 4, $\Delta$"),
    ):
        axes.loglog(K[[0, -1]], [level, level], "--", color=BOUND)
        axes.text(end, level, text, va="center")
    ticks = [k for k in (2, 5, 10, 20, 50) if k in classes]
    axes.set_xticks(ticks, [str(k) for k in ticks])
    axes.set_xticks([], minor=True)
    axes.set_yticks([50, 100, 200, 400], ["50", "100", "200", "400"])
    axes.set_yticks([], minor=True)
    axes.set(
        xlabel="number of classes $K$",
        ylabel=r"radius around $\lceil N/K \rceil$",
        xlim=(1.9, 190),
        ylim=(40, None),
    )


def draw_slope(axes: Axes, vocabularies: Sequence[int]) -> None:
    """How fast g falls, relative to g and to eta, between the two bounds of Lemma 11."""
    tau = np.logspace(-1, 3, 400)
    for M, color, style in zip(vocabularies, COLORS, ("-", "-.", ":"), strict=True):
        values = relative_slope(M, decoder.height(M, tau))
        axes.loglog(tau, values, style, color=color)
        first = int(np.argmax(values > 1.3e-4))  # where the curve enters the picture
        left = first == 0
        axes.annotate(
            f"$M = {M}$",
            (tau[first], values[first]),
            xytext=(2, -5) if left else (-5, 4),
            textcoords="offset points",
            color=color,
            ha="left" if left else "right",
            va="top" if left else "bottom",
        )
    axes.axhline(1 / 3, linestyle="--", color=BOUND)
    axes.text(0.1, 0.36, "1/3", va="bottom")
    late = tau[tau > 5]
    axes.loglog(late, 2 / late, "--", color=BOUND)
    axes.text(60, 2 / 60 * 1.15, r"$2/\tau$", ha="left", va="bottom")
    axes.set(
        xlabel=r"$\tau = \eta_Y s$",
        ylabel=r"$-\,\mathrm{d} \ln g / \mathrm{d}\tau$",
        ylim=(1e-4, 1),
    )


def draw_theta(
    axes: Axes, rng: np.random.Generator, M: int, eta: float, classes: Sequence[int], delta: float
) -> None:
    """The deviation that holds with probability 1 - delta, exactly and sampled, and its bound."""
    for K, color, marker in zip(classes, COLORS, MARKERS, strict=True):
        N = np.unique(np.logspace(np.log10(4 * K * K), 6, 10).round().astype(int))
        exact = [sampling.row_error_quantile(M, K, eta, int(n), delta) for n in N]
        axes.loglog(N, exact, color=color)
        axes.loglog(N, [printed_theta(K, int(n), delta) for n in N], "--", color=BOUND)
        some = N[::3]
        sampled = [
            np.quantile(sampling.sampled_row_errors(rng, M, K, eta, int(n), 400), 1 - delta)
            for n in some
        ]
        axes.loglog(some, sampled, marker, color=color)
        axes.text(1.3e6, exact[-1], f"$K = {K}$", color=color, va="center")
        axes.text(1.3e6, printed_theta(K, 10**6, delta), f"bound, {K}", va="center")
    axes.set(
        xlabel="number of draws $N$",
        ylabel=r"largest $|\theta_n|$",
        xlim=(10, 2e7),
        ylim=(5e-5, 3),
    )
    axes.set_xticks([10.0**k for k in range(1, 7)])


def draw_steps(axes: Axes, M: int, eta: float, smallest: float) -> None:
    """Updates of one class to an accuracy: exact, counted, and of the printed order."""
    epsilon = np.logspace(np.log10(0.5), np.log10(smallest), 60)
    heights = decoder_rate.heights_until(M, eta, smallest)
    exact = [decoder_rate.steps_to_accuracy(M, eta, float(e)) for e in epsilon]
    axes.loglog(1 / epsilon, exact, color=OPTIMAL)
    some = epsilon[::6]
    counted = [decoder_rate.counted_steps(heights, M, float(e)) for e in some]
    axes.loglog(1 / some, counted, "o", color=OTHER)
    printed = [decoder_rate.printed_steps(M, 1, eta, float(e)) for e in epsilon]
    axes.loglog(1 / epsilon, printed, "--", color=BOUND)
    axes.text(1 / epsilon[36], exact[36] * 0.6, "ours, exact", color=OPTIMAL, va="top")
    axes.text(1 / some[2] * 1.1, counted[2] * 0.75, "counted", color=OTHER, va="top")
    axes.text(1 / epsilon[25], printed[25] * 1.4, "order of Corollary 1", ha="right")
    axes.set(xlabel=r"$1/\epsilon$", ylabel="updates of the class")
