"""Drawings of the page on scanning and snapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, NONCOMPARABLE, NONOPTIMAL, OPTIMAL, OTHER
from ntpbook.tian2023.s6_snapping import snapping
from ntpbook.tian2023.s6_snapping.snapping import SnapSetting
from ntpcore.tian2023 import decoder
from ntpcore.tian2023.coupled import Path

STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))


def draw_growth(axes: Axes, s: SnapSetting, epsilon: float) -> None:
    """B: as stated, corrected, and integrated from (10) in both counts of steps.

    Args:
        axes: where to draw.
        s: the setting.
        epsilon: f_n . f_n' at the start; rho_0^4 = 1 / epsilon^2.
    """
    t = np.geomspace(0.005 * s.first_end, 300 * s.onset, 80)
    C_0 = 1 / (epsilon**2 * s.K)
    Gamma = snapping.total_speed(s, t)
    # one sample a step: eta_Z/K in (10), and B_n keeps eta_Z
    slow = replace(s, eta_z=s.eta_z / s.K)
    of_one = s.K * snapping.solve_10(slow, epsilon, t, relative=1e-7).B
    of_all = snapping.solve_10(s, epsilon, t, relative=1e-7).B
    axes.semilogx(t, snapping.printed_growth(C_0, Gamma), "--", color=BOUND)
    axes.semilogx(t, snapping.growth(C_0, Gamma), ":", color=BOUND)
    for B, factor, total, style in ((of_one, s.K, Gamma / s.K, "-"), (of_all, 1, Gamma, "-.")):
        _, closed = snapping.solve_closed(s.K, epsilon, total)
        axes.semilogx(t, B, style, color=OPTIMAL)
        axes.semilogx(t[::5], factor * closed[::5], "o", color=OPTIMAL, markersize=4)
    last = t[-1] * 1.1
    for value, text, color, place in (
        (float(snapping.growth(C_0, Gamma[-1])), " (14), corrected", BOUND, "bottom"),
        (float(snapping.printed_growth(C_0, Gamma[-1])), " (14), as stated", BOUND, "top"),
        (float(of_one[-1]), " (10), one sample", OPTIMAL, "center"),
        (float(of_all[-1]), " (10), the sum", OPTIMAL, "center"),
    ):
        axes.text(last, value, text, color=color, va=place)
    for when, text in ((s.first_end, "$t_0'$ "), (s.onset, " $t_0$")):
        axes.axvline(when, color=NONCOMPARABLE, linewidth=0.8)
        axes.text(when, 2.9, text, color=NONCOMPARABLE, ha="right" if "'" in text else "left")
    axes.set(xlabel="time $t$ (steps)", ylabel="growth bound $B_n$", ylim=(-0.4, 3.1))
    axes.set_xlim(t[0], t[-1] * 200)


def draw_attention_bars(axes: Sequence[Axes], run: Path, times: Sequence[float]) -> None:
    """Attention to the common and the distinct tokens of one class at some times, a panel each.

    Bars that are outlined only repeat the panel before, so that one sees what has changed.

    Args:
        axes: where to draw, as many as times.
        run: a run whose times include those that are drawn, up to its grid.
        times: increasing times; the nearest recorded one is drawn.
    """
    C, N = len(run.data.common), run.scores.shape[1]
    place = np.arange(N) + np.where(np.arange(N) < C, 0, 1)  # a gap between the two kinds
    rows = [int(np.argmin(np.abs(np.log(run.t / t)))) for t in times]
    panels = zip(axes, times, rows, [rows[0], *rows[:-1]], strict=True)
    for ax, t, row, before in panels:
        c = run.scores[row]
        ax.bar(place[:C], c[:C], color=NONOPTIMAL, hatch="///", edgecolor="white", linewidth=0)
        ax.bar(place[C:], c[C:], color=OPTIMAL)
        if row != before:
            ax.bar(place, run.scores[before], fill=False, edgecolor=BOUND, linewidth=0.7)
        ax.set_title(f"$t = {_power(t)}$", fontsize=11)
        ax.set_xticks([place[:C].mean(), place[C:].mean()], ["common", "distinct"])
        ax.tick_params(axis="x", length=0)
    axes[0].set_ylabel("attention $c_{nl}$")


def _power(t: float) -> str:
    """1, 10, 100, and higher powers of ten with an exponent."""
    exponent = round(float(np.log10(t)))
    return f"{t:g}" if exponent < 3 else rf"10^{{{exponent}}}"


def draw_figure_3(axes: Axes, rates: Sequence[float], C_0: float) -> None:
    """e^(2B) for some rates of the decoder, each with its t_0 (Figure 3)."""
    t = np.linspace(0.0, 700.0, 400)
    for rate, style in zip(rates, STYLES, strict=False):
        s = SnapSetting(1000, 10, rate, 0.5)
        chi = np.exp(2 * snapping.growth_at(s, C_0, t))
        axes.plot(t, chi, linestyle=style, color=OPTIMAL)
        axes.text(710, chi[-1], f"{rate:g}", color=OPTIMAL, va="center")
        at = float(np.exp(2 * snapping.growth_at(s, C_0, s.onset)))
        axes.plot([s.onset], [at], "o", color=BOUND, markersize=4)
    axes.text(710, 152, r"$\eta_Y$", color=OPTIMAL, va="center")
    axes.set(xlabel="time $t$ (steps)", ylabel=r"growth factor $e^{2B_n}$", xlim=(0, 800))


def draw_figure_9(axes: Axes, M: int, nu: float, last: float, rates: Sequence[float]) -> None:
    """B for rates of one ratio, each with its t_0; one class and C_0 = 1 (Figure 9)."""
    t = np.linspace(0.0, last, 400)
    for rate, style in zip(rates, STYLES, strict=False):
        s = SnapSetting(M, 1, nu * rate, rate)
        axes.plot(t, snapping.growth_at(s, 1.0, t), linestyle=style, color=OPTIMAL)
        axes.plot(
            [s.onset],
            [float(snapping.growth_at(s, 1.0, s.onset))],
            "o",
            color=BOUND,
            markersize=4,
        )
    for rate, shift, va in ((rates[0], -0.03, "top"), (rates[-1], 0.03, "bottom")):
        s = SnapSetting(M, 1, nu * rate, rate)
        end = float(snapping.growth_at(s, 1.0, last))
        axes.text(last, end + shift, rf"$\eta_Z = {rate:g}$", color=OPTIMAL, va=va, ha="right")
    axes.set(xlabel="time $t$ (steps)", ylabel="growth bound $B_n$", xlim=(0, last), ylim=(0, None))


def draw_gains(axes: Axes, runs: Sequence[Path]) -> None:
    """Logit of the distinct token in the coupled flow, with t_0 of each run; descent as dots."""
    for run, style in zip(runs[:-1], STYLES, strict=False):
        z = run.z_distinct[:, 0]
        axes.semilogx(run.t, z, linestyle=style, color=OPTIMAL)
        onset = decoder.transition(run.data.M, run.data.K, run.eta_y)
        axes.plot([onset], [float(np.interp(onset, run.t, z))], "o", color=BOUND, markersize=5)
        low = int(np.argmin(np.abs(z - 0.012)))
        right = run is runs[0]
        axes.annotate(
            f"{run.eta_y:g}",
            (run.t[low], z[low]),
            xytext=(6 if right else -5, 0),
            textcoords="offset points",
            ha="left" if right else "right",
            color=OPTIMAL,
        )
    steps = runs[-1]
    axes.semilogx(
        steps.t[60::8], steps.z_distinct[60::8, 0], "x", color=OTHER, markersize=5, zorder=3
    )
    axes.text(2e3, 0.045, "x  gradient descent, ratio 10", color=OTHER, va="top")
    axes.set(xlabel="time $t$ (steps)", ylabel="logit $z_l$ of the distinct token")


def draw_reversal(axes: Axes, runs: Sequence[Path], below: float = 2.0) -> None:
    """Entropy of the attention on distinct tokens; projected g dashed.

    Args:
        axes: where to draw.
        runs: with memory of ratios that differ, without memory of ratio 1.
        below: the ratio whose curve is labelled from below.
    """
    for run in runs:
        style, color = ("--", BOUND) if run.forget else ("-", OPTIMAL)
        entropy = run.entropy
        axes.semilogx(run.t, entropy, linestyle=style, color=color)
        under = run.forget or run.eta_y == below
        text = rf"$\eta_Y/\eta_Z = {run.eta_y:g}$"
        place = int(np.argmin(np.abs(run.t - 3e5)))
        axes.annotate(
            f"{text}, without memory " if run.forget else text,
            (run.t[place], entropy[place]),
            xytext=(0, -5 if under else 5),
            textcoords="offset points",
            ha="right" if run.forget else "center",
            va="top" if under else "bottom",
            color=color,
        )
        least = int(np.argmin(entropy))
        if least < len(entropy) - 1:
            axes.plot([run.t[least]], [entropy[least]], "o", color=OPTIMAL, markersize=5)
    axes.set(xlabel="time $t$ (steps)", ylabel="entropy on distinct tokens (nats)")


def draw_stages(axes: Axes, run: Path) -> None:
    """Attention on all common tokens, and on the strongest and weakest distinct token."""
    C = len(run.data.common)
    c = run.scores
    place = int(np.argmin(np.abs(run.t - 1e5)))
    for values, style, color, text in (
        (c[:, :C].sum(axis=1), "-", NONOPTIMAL, "all common tokens"),
        (c[:, -1], "-", OPTIMAL, "strongest distinct token"),
        (c[:, C], "--", OPTIMAL, "weakest distinct token"),
    ):
        axes.loglog(run.t, values, style, color=color)
        axes.annotate(
            text,
            (run.t[place], values[place]),
            xytext=(0, 5),
            textcoords="offset points",
            color=color,
            ha="center",
        )
    onset = decoder.transition(run.data.M, run.data.K, run.eta_y)
    axes.axvline(onset, color=NONCOMPARABLE, linewidth=0.8)
    axes.text(onset, 1.0, " $t_0$", color=NONCOMPARABLE, va="top")
    axes.set(xlabel="time $t$ (steps)", ylabel="attention $c_n$", ylim=(4e-3, 1.1))
