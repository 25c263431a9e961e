"""Checks of the two stages of the decoder in Tian et al. (2023): Lemma 9.

Everywhere x = M h and tau = eta_Y t / K, so that a grid over M and tau covers all eta_Y and K.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s4_decoder.decoder_crossings import ROUNDING, SIZES, crossings_are_proved
from ntpcore.tian2023 import decoder
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict


def first_stage_time(M: int) -> float:
    """tau from which e^x <= (M - 1) x: (2 (M - 1) x_0 - 1)/M, by (45) at the lower crossing."""
    return (2 * (M - 1) * decoder.crossings(M)[0] - 1) / M


@cache
def stages_are_proved() -> bool:
    """The inequalities behind Lemma 9 in symbols; the page says how they combine.

    With q = M - 1, (45) is e^x + q x = M tau + 1, and x' = M/(q + e^x), per unit of tau.
    """
    import sympy as sp

    M = sp.Symbol("M", positive=True)
    x, y = sp.symbols("x y", positive=True)
    q = M - 1
    # e^x <= q at tau = ln M: the left side of (45) at x = ln q is M ln M + 1 or more for M >= 5
    margin = q + q * sp.log(q) - M * sp.log(M) - 1
    rising = sp.simplify(sp.diff(margin, M) - (1 + sp.log(q / M))) == 0
    rising = rising and bool(margin.subs(M, 5) > 0) and bool(1 + sp.log(sp.Rational(4, 5)) > 0)
    # the second stage begins at or after the crossing: M tau_1 + 1 = 2 q x_1, tau_1 < 2 x_1
    begins = sp.simplify(2 * x - (2 * q * x - 1) / M - (2 * x + 1) / M) == 0
    # x' <= 1 and x' >= 1/2 while 0 <= e^x - 1 and e^x <= q
    slope = M / (q + sp.exp(x))
    at_most = sp.simplify(1 / slope - 1 - (sp.exp(x) - 1) / M) == 0
    at_least = sp.simplify(slope.subs(sp.exp(x), q) - M / (2 * q)) == 0
    # gamma with y = e^x, between its values for y = 1 and y = q, and at most (q^2/M) x/y
    gamma = q**2 / M * x / (q + y)
    ends = sp.simplify(gamma.subs(y, 1) - q**2 / M**2 * x) == 0
    ends = ends and sp.simplify(gamma.subs(y, q) - q / (2 * M) * x) == 0
    ends = ends and sp.simplify(q**2 / M * x / y - gamma - q**3 * x / (M * y * (q + y))) == 0
    return bool(rising and begins and at_most and at_least and ends)


def check_tian2023_lem_9(seed: int = 7, start: float = 1.0, literal: bool = False) -> Check:
    """The inequalities of both stages, and explicit constants for the orders of h and gamma.

    Args:
        seed: has no effect, as nothing here is random.
        start: factor of (1 + omega_1) in the beginning of the second stage; 1 is right.
        literal: whether the first stage begins at t = 0 and not when the crossing is passed.
    """

    def cases() -> Iterator[Case]:
        for M in (*SIZES, 10**9):
            q, L = M - 1, math.log(M)
            begin = 0.0 if literal else first_stage_time(M) * (1 + 1e-9)  # rounding of x_0
            for tau in (begin, *np.geomspace(max(begin, 1e-12), L, 40)):
                x = float(decoder.height(M, tau))
                name = f"M = {M}, eta_Y t/K = {tau:.3g}"
                line = math.log(q) + math.log(x) - x if x else -math.inf
                yield Case(f"{name}, e^(Mh) <= M - 1", math.log(q) - x)
                yield Case(f"{name}, e^(Mh) <= (M - 1) M h", line)
                if tau:
                    gamma = float(decoder.speed_at(M, np.asarray(x))) / tau
                    yield Case(f"{name}, h", min(1 - x / tau, 2 * x / tau - 1))
                    yield Case(f"{name}, gamma", min(1 - gamma, 5 * gamma - 1))
            late = 2 * start * decoder.crossings(M)[1]
            for tau in np.geomspace(late, 1e6 * late, 40):
                x = float(decoder.height(M, tau))
                name = f"M = {M}, eta_Y t/K = {tau:.3g}"
                yield Case(f"{name}, e^(Mh) >= M - 1", x - math.log(q))
                yield Case(f"{name}, e^(Mh) >= (M - 1) M h", x - math.log(q) - math.log(x))
                level = math.log(M * tau)
                gamma = float(decoder.speed_at(M, np.asarray(x))) * tau / level
                yield Case(f"{name}, h", min(1 - x / level, x / (level - math.log(2)) - 1))
                yield Case(f"{name}, gamma", min(1 - gamma / 2, 5 * gamma - 1))

    check = judge(
        "tian2023-lem-9",
        cases(),
        unit="inequalities",
        claim="For M >= 5 and from M h = x_0 on, both stages hold, with eta_Y t/(2MK) <= h <= "
        "eta_Y t/(MK) and gamma between 1/5 and 1 times eta_Y t/K in the first, ln(M tau/2) <= M h "
        "<= ln(M tau) and gamma between 1/5 and 2 times ln(M tau)/tau in the second",
        tolerance=ROUNDING,
        parameters={"seed": seed},
        by_hand=(
            "M h rises, so that an inequality between the crossings holds for all times between",
            "six lines from the executed identities to the constants (proof on the page)",
        ),
        proved=stages_are_proved() and crossings_are_proved(),
    )
    if check.verdict is Verdict.REFUTED or literal:
        return check
    from_zero = check_tian2023_lem_9(seed, start, literal=True)
    peak = {M: _peak(M) for M in (1000, 10**6)}
    numbers = {
        **check.numbers,
        "from_1000": f"{first_stage_time(1000):.4g}",
        "peak_1000": f"{peak[1000][0]:.2f}",
        "height_1000": f"{peak[1000][1]:.2f}",
        "printed": f"{_printed_constant(1000):.1f}",
        **{
            f"{name}_{end}": value
            for name, ends in _constants().items()
            for end, value in zip(("low", "high"), ends, strict=True)
        },
    }
    readings = (
        Reading(
            "from the first update of the class on (t >= K), with M >= 100 and eta_Y >= M^-0.99 as "
            "Remark 3 assumes from there on",
            check.verdict,
        ),
        Reading(
            "for every t from 0 on: at t = 0 it says 1 <= 0, and it fails until M h = x_0",
            from_zero.verdict,
        ),
    )
    return replace(check, readings=readings, numbers=numbers)


def _peak(M: int) -> tuple[float, float]:
    """tau / ln M at the largest gamma, and that gamma."""
    x = np.linspace(0.01, 3 * math.log(M), 20001)
    gamma = decoder.speed_at(M, x)
    best = int(np.argmax(gamma))
    tau = (math.expm1(x[best]) + (M - 1) * x[best]) / M
    return tau, float(gamma[best])


def _printed_constant(M: int) -> float:
    """gamma tau / ln(tau) at t_0: the constant if M is dropped inside the logarithm."""
    tau = 2 * decoder.crossings(M)[1]
    return float(decoder.speed_at(M, decoder.height(M, tau))) * tau / math.log(tau)


def _constants() -> dict[str, tuple[str, str]]:
    """Measured ranges of gamma / tau (first stage) and gamma tau / ln(M tau) (second)."""
    first, second = [], []
    for M in SIZES[5:]:
        tau = np.geomspace(0.01, math.log(M), 200)
        first.append(decoder.speed_at(M, decoder.height(M, tau)) / tau)
        late = np.geomspace(1, 1e8, 200) * 2 * decoder.crossings(M)[1]
        second.append(decoder.speed_at(M, decoder.height(M, late)) * late / np.log(M * late))
    return {
        name: (f"{np.min(values):.2f}", f"{np.max(values):.2f}")
        for name, values in (("first", first), ("second", second))
    }


def control_tian2023_lem_9() -> Control:
    """The second stage begun too early."""
    return Control(
        "The second stage begun five percent earlier than 2 (1 + omega_1) K ln(M)/eta_Y.",
        Verdict.REFUTED,
        check_tian2023_lem_9(start=0.95).verdict,
    )
