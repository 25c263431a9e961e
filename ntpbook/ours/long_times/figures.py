"""Figures of the chapter on long times."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, NONCOMPARABLE, NONOPTIMAL, OPTIMAL, OTHER
from ntpbook.ours.long_times import slow_manifold, stationary, unequal
from ntpbook.shared.reduced_flow import follow
from ntpcore.tian2023.coupled import Symmetric, one_of_each

STYLES = ("-", "--", "-.")
COLOURS = (OPTIMAL, BOUND, NONCOMPARABLE, OPTIMAL)  # with the styles; orange is for roles
MARKERS = ("o", "s", "^", "D")


def draw_attention(axes: Axes, design: Symmetric, ratio: float, last: float, sphere: bool) -> None:
    """Attention c_l of a class against ln t: all common tokens together, and each distinct token.

    Args:
        axes: where to draw.
        design: the classes and the decoder.
        ratio: eta_Y / eta_Z.
        last: ln(1 + eta_Y t/K) at the end of the axis.
        sphere: attention is scaled to length 1; otherwise it is the plain softmax.
    """
    path = follow(design, ratio, np.geomspace(1e-2, 3 * last, 800), sphere)
    seen, C = path.log_time < last, len(design.common)
    when, attention = path.log_time[seen], path.scores[seen]
    common = attention[:, :C].sum(axis=1)
    axes.plot(when, common, "--", color=NONOPTIMAL, linewidth=2, label="common token")
    for token, p in reversed(list(enumerate(design.p[C:], start=C))):
        marker, places = MARKERS[(token - C) % 4], (12 * (token - C), 80)  # markers keep apart
        axes.plot(
            when,
            attention[:, token],
            color=OPTIMAL,
            marker=marker,
            markevery=places,
            markersize=5,
            label=f"distinct, $p = {p:g}$",
        )
    axes.set_xscale("log")
    axes.set_ylim(-0.02, 1.02)


def draw_slopes(axes: Axes, K: int, outputs: tuple[int, ...], last: float) -> None:
    """d ln T/d ln sigma against the clock: the flow up to 1e4, then the slow manifold.

    Args:
        axes: where to draw.
        K: number of classes, one token of each kind, f_n . f_n' = 1/2 at the start, equal rates.
        outputs: numbers M of outputs, each K or above 2 K - 1.
        last: end of the clock.
    """
    for M, style, color in zip(outputs, STYLES, COLOURS, strict=False):
        grid = np.geomspace(1, 1e4, 161)
        path = follow(one_of_each(K, M, 0.5), 1.0, grid)
        T, when = path.tangent, grid
        if M > K:
            far = np.geomspace(1e4, last, 200)
            r = float(np.linalg.norm(path.r[-1]))
            slow = slow_manifold.creep(K, M, far, float(T[-1]), r)
            T, when = np.concatenate([T, slow[1:]]), np.concatenate([when, far[1:]])
        slope = np.diff(np.log(T)) / np.diff(np.log(when))
        axes.plot(when[1:], slope, style, color=color, label=f"M = {M}")
        alpha = (K - 1) / (M - 1)
        axes.axhline(alpha, color=color, linestyle=":", linewidth=1)
    axes.set_xscale("log")
    axes.set_yscale("log")


def draw_onsets(axes: Axes, K: int, M: int, ratios: tuple[float, ...]) -> None:
    """Slope of the distinct token's logit in ln t, by its largest value, for several ratios.

    Args:
        axes: where to draw.
        K: number of classes, one token of each kind, f_n . f_n' = 1/2 at the start.
        M: number of outputs.
        ratios: eta_Y / eta_Z.
    """
    onset = 2 * np.log(M)  # ln t_0 is close to it in units of K/eta_Y, up to ln ln M
    for ratio, style, color in zip(ratios, STYLES, COLOURS, strict=False):
        scale = (ratio / (1 - 1 / K)) ** 0.5
        path = follow(one_of_each(K, M, 0.5), ratio, np.geomspace(1e-2, 20, 3000) * scale)
        slope = np.gradient(path.z[:, 1], path.log_time)
        seen = path.log_time > 0.3
        best = int(np.argmax(np.where(seen, slope, 0)))
        label = f"ratio {ratio:g}"
        axes.plot(path.log_time[seen], slope[seen] / slope[best], style, color=color, label=label)
        axes.plot(path.log_time[best], 1.0, "o", color=color)
    axes.axvline(float(np.log(onset)), color=NONCOMPARABLE, linestyle=":", label="$t_0$")
    axes.set_xscale("log")


def draw_shares(axes: Axes, design: Symmetric, ratio: float, last: float) -> None:
    """Shares of the distinct tokens, on the sphere and on the simplex, on one clock.

    Args:
        axes: where to draw.
        design: the classes and the decoder.
        ratio: eta_Y / eta_Z.
        last: ln(1 + eta_Y t/K) at the end of the axis.
    """
    for sphere, style, color, name in (
        (True, "-", OPTIMAL, "scaled to length 1"),
        (False, "--", OTHER, "softmax alone"),
    ):
        path = follow(design, ratio, np.geomspace(1e-2, 3 * last, 800), sphere)
        seen = path.log_time < last
        lines = axes.plot(path.log_time[seen], path.shares[seen], style, color=color)
        lines[0].set_label(name)
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)


def draw_maxima(axes: Axes, witness: stationary.Witness, steps: tuple[int, ...]) -> None:
    """Slope of w = z_2 - z_1 against w under decoders trained for some steps; dots where it rests.

    Args:
        axes: where to draw.
        witness: the classes.
        steps: of training, attention by frequency.
    """
    P = np.array([[float(x) for x in row] for row in witness.P])
    w = np.linspace(-4.4, 4.4, 441)
    for number, style, color in zip(steps, STYLES, COLOURS, strict=False):
        Y = stationary.trained(P, number)
        axes.plot(w, stationary.scan(P, Y, w), style, color=color, label=f"{number} steps")
        peaks = stationary.stable_points(P, Y, 5.0)
        axes.plot(peaks, np.zeros(len(peaks)), "o", color=color)
    axes.axhline(0, color=NONCOMPARABLE, linewidth=1)
    axes.set_ylim(-0.1, 0.1)


def draw_leaning(axes: Axes, one: unequal.Unequal, last: float) -> None:
    """Attention of the last class on the common token, with and without the L2 scaling.

    Args:
        axes: where to draw.
        one: classes with one common token.
        last: ln(1 + t) at the end, up to 600.
    """
    times = np.geomspace(0.5, last, 60)
    for sphere, line, name in ((True, "-", "scaled to length 1"), (False, "--", "softmax alone")):
        f = unequal.follow(one, times, sphere).f[:, -1]
        axes.semilogx(times, f[:, 0] / f.sum(axis=1), line, color=NONOPTIMAL, label=name)
    axes.set_ylim(0, 1.05)
