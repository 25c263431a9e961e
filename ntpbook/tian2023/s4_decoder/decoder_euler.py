"""Checks of h* against h in Tian et al. (2023): Lemma 7 and Figure 8.

In units x = M h and y = M h* the recursion is Euler's method for x' = g(x) = M eta/(M - 1 + e^x).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpcore.tian2023 import decoder, shift
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]

SIZES = (5, 50, 1000, 10**4, 10**6)
ETAS = (0.01, 0.1, 0.5, 1.0, 2.0, 100.0)
PANELS = ((50, (0.1, 0.2, 0.5, 1.0, 2.0), 80), (1000, (0.2, 0.5, 1.0, 2.0, 4.0), 70))  # Figure 8

ROUNDING = 1e-10  # heights up to 40 carry errors of 1e-14, divided by rates down to 0.01


@dataclass(frozen=True, eq=False)
class Heights:
    """One run of the recursion beside the curve.

    Attributes:
        M, eta: vocabulary and rate.
        s: (n,), numbers of updates that are kept.
        y: (n,), M h*(s).
        x: (n,), M h(s).
        c: (n,), the shift c(s).
    """

    M: int
    eta: float
    s: Floats
    y: Floats
    x: Floats
    c: Floats


def heights(M: int, eta: float, steps: int, points: int = 400) -> Heights:
    """The recursion up to `steps`, kept at about so many numbers of updates."""
    everything = decoder.recursion(M, eta, steps)
    c = shift.shifts(M, eta, everything)
    tens = 10 ** np.arange(int(math.log10(steps)) + 1)
    kept = np.unique(np.concatenate([[0], np.geomspace(1, steps, points).astype(int), tens]))
    x = decoder.height(M, eta * kept)
    return Heights(M, eta, kept.astype(float), everything[kept], x, c[kept])


def collection(steps: int = 3000) -> list[Heights]:
    """All sizes and rates."""
    return [heights(M, eta, steps) for M in SIZES for eta in ETAS]


# What is executed of the proofs


@cache
def steps_are_proved() -> bool:
    """The identities and signs behind Lemma 7 and the bounds on the shift, in symbols."""
    import sympy as sp

    M, eta, q = sp.symbols("M eta q", positive=True)
    x, y = sp.symbols("x y", real=True)
    a, b, ga, gb = sp.symbols("a b g_a g_b", real=True)
    g, r = sp.symbols("g r", positive=True)
    slope = M * eta / (M - 1 + sp.exp(x))
    falls = sp.simplify(sp.diff(slope, x) + M * eta * sp.exp(x) / (M - 1 + sp.exp(x)) ** 2) == 0
    first = sp.simplify(slope.subs(x, 0) - eta) == 0
    # one step, a = x(s), b = x(s + 1), y = M h*(s), new gap y + g(y) - b: if y >= b the gap loses
    # two terms that are not negative, else it is below g(y)
    loses = sp.expand((y - a) - (y + ga - b) - ((gb - ga) + (b - a - gb))) == 0
    below = sp.expand(ga - (y + ga - b) - (b - y)) == 0
    # the shift gains e^y (e^g - 1 - g)/(M eta) when (q + e^y) g = M eta
    rate = (q + sp.exp(y)) * g
    passed = ((sp.exp(y + g) - sp.exp(y)) + q * g) / rate - 1
    gained = sp.simplify(sp.expand(passed - sp.exp(y) * (sp.exp(g) - 1 - g) / rate)) == 0
    # g^2/2 <= e^g - 1 - g <= (g/2)(e^g - 1): zero at 0 with first derivative zero there, convex
    low, high = sp.exp(g) - 1 - g - g**2 / 2, g / 2 * (sp.exp(g) - 1) - (sp.exp(g) - 1 - g)
    starts = all(sp.diff(f, g, k).subs(g, 0) == 0 for f in (low, high) for k in (0, 1))
    convex = sp.simplify(sp.diff(low, g, 2) - (sp.exp(g) - 1)) == 0
    convex = convex and sp.simplify(sp.diff(high, g, 2) - g * sp.exp(g) / 2) == 0
    # the sum of (g/2) e^y/(q + e^y) is a Riemann sum of ln(q + e^y)/2
    share = sp.exp(y) / (q + sp.exp(y))
    riemann = sp.simplify(sp.diff(sp.log(q + sp.exp(y)), y) - share) == 0
    rises = sp.simplify(sp.diff(share, y) - q * sp.exp(y) / (q + sp.exp(y)) ** 2) == 0
    # r - 1 <= ln r + (r - 1)^2/2 for r >= 1
    taylor = (r - 1) ** 2 / 2 + sp.log(r) - (r - 1)
    above = taylor.subs(r, 1) == 0 and sp.simplify(sp.diff(taylor, r) - (r - 1) ** 2 / r) == 0
    return bool(
        falls
        and first
        and loses
        and below
        and gained
        and starts
        and convex
        and riemann
        and rises
        and above
    )


@cache
def shift_is_half_a_logarithm() -> bool:
    """Along the curve L - ln s tends to ln eta and s x'(s) to 1 as s grows.

    Along the curve M eta s = e^x + (M - 1) x - 1, and L = ln((M - 1 + e^x)/M).
    """
    import sympy as sp

    X = sp.Symbol("X", positive=True)  # e^x
    M, eta = sp.symbols("M eta", positive=True)
    time = X + (M - 1) * sp.log(X) - 1  # M eta s
    level = (M - 1 + X) / time  # e^L / (eta s)
    slope = M * eta / (M - 1 + X) * (time / (M * eta))  # s x'(s), the inverse of it
    return bool(sp.limit(level, X, sp.oo) == 1 and sp.simplify(slope * level) == 1)


# Lemma 7


def check_tian2023_lem_7(
    runs: Sequence[Heights], constant: float = 2.0, **parameters: int
) -> Check:
    """0 <= h* - h <= 2 eta_Y/M, a bounded shift up to ln(M)/eta_Y, and h* - h -> 0.

    Args:
        runs: recursions beside their curves.
        constant: of the bound; the lemma has 2.
        parameters: what repeats the runs.
    """

    def cases() -> Iterator[Case]:
        for run in runs:
            gap = (run.y - run.x) / run.eta
            early = run.s <= math.log(run.M) / run.eta
            slope = run.M / (run.M - 1 + np.exp(np.array([run.x, run.y])))  # x'/eta
            for k, s in enumerate(run.s):
                name = f"M = {run.M}, eta_Y = {run.eta:g}, s = {s:g}"
                yield Case(f"{name}, h* >= h", float(gap[k]))
                yield Case(f"{name}, h* - h", 1 - float(gap[k]) / constant)
                if early[k]:
                    yield Case(f"{name}, shift", 0.5 - float(run.c[k]))
                yield Case(f"{name}, (b) above", float(run.c[k] * slope[0, k] - gap[k]))
                yield Case(f"{name}, (b) below", float(gap[k] - run.c[k] * slope[1, k]))

    gaps = {run.eta: 0.0 for run in runs}
    early_shift = 0.0
    for run in runs:
        gaps[run.eta] = max(gaps[run.eta], float((run.y - run.x).max()) / run.eta)
        early = run.s <= math.log(run.M) / run.eta
        early_shift = max(early_shift, float(run.c[early].max()))
    moderate = [gap for eta, gap in gaps.items() if eta <= 1]
    return judge(
        "tian2023-lem-7",
        cases(),
        unit="inequalities",
        claim="0 <= h* - h <= eta_Y/M, half the printed bound, c(s) < 1/2 for eta_Y s <= ln M, and "
        "h* - h is between c(s) times the slopes of h at the two heights, for symbolic M, eta_Y "
        "and heights",
        tolerance=ROUNDING,
        numbers={
            "gap": f"{max(gaps.values()):.2f}",
            "gap_moderate": f"{max(moderate, default=0.0):.3f}",
            "shift": f"{early_shift:.3f}",
        },
        parameters=parameters,
        by_hand=(
            "induction over s; solutions of x' = g(x) do not cross, and a mean slope lies between "
            "the slopes at the two ends, g falling (proof on the page)",
            "sums over s compared with integrals of functions that rise (proof on the page)",
        ),
        proved=steps_are_proved() and shift_is_half_a_logarithm() and constant >= 1,
    )


def control_tian2023_lem_7(runs: Sequence[Heights]) -> Control:
    """A bound a little below the true supremum."""
    return Control(
        "0.18 in the place of 2 in the bound of part (a).",
        Verdict.REFUTED,
        check_tian2023_lem_7(runs, constant=0.18).verdict,
    )


# Figure 8


def panel(M: int, etas: Sequence[float], horizon: int) -> list[Heights]:
    """The curves of one panel of Figure 8, at every number of updates."""
    found = []
    for eta in etas:
        s = np.arange(horizon + 1, dtype=float)
        y = decoder.recursion(M, eta, horizon)
        found.append(Heights(M, eta, s, y, decoder.height(M, eta * s), shift.shifts(M, eta, y)))
    return found


def check_tian2023_fig_8(late: int = 0, seed: int = 7) -> Check:
    """In both panels the steps h* stay above the curve h and close to it.

    Args:
        late: by how many updates h is evaluated too late; 0 is right.
        seed: has no effect, as nothing here is random.
    """
    worst, ends = 0.0, {}

    def cases() -> Iterator[Case]:
        for M, etas, horizon in PANELS:
            for run in panel(M, etas, horizon):
                x = decoder.height(M, run.eta * (run.s + late))
                for k, s in enumerate(run.s):
                    name = f"M = {M}, eta_Y = {run.eta:g}, s = {s:g}"
                    gap = float(run.y[k] - x[k]) / run.eta
                    yield Case(f"{name}, h* >= h", gap)
                    yield Case(f"{name}, h* - h", 1 - gap)

    for M, etas, horizon in PANELS:
        runs = panel(M, etas, horizon)
        worst = max(worst, *(float((run.y - run.x).max()) / run.eta for run in runs))
        last = [float(run.y[-1]) / M for run in runs]
        ends[f"low_{M}"], ends[f"high_{M}"] = f"{min(last):.3g}", f"{max(last):.3g}"
    return judge(
        "tian2023-fig-8",
        cases(),
        unit="points of ten curves",
        claim="At every number of updates that the figure shows, h* lies above h by at most "
        "eta_Y/M",
        tolerance=ROUNDING,
        numbers={**ends, "gap": f"{worst:.3f}"},
        parameters={"seed": seed},
    )


def control_tian2023_fig_8() -> Control:
    """The curve read one update too late."""
    return Control(
        "h(s + 1) drawn in the place of h(s).",
        Verdict.REFUTED,
        check_tian2023_fig_8(late=1).verdict,
    )
