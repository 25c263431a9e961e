"""Checks of equal correlations in Tian et al. (2023): Remark 1, as printed and corrected."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge, relative_error
from ntpcore.tian2023 import decoder, equicorrelated
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

PRINTED = "(43): w_n = (1 - rho)(M - 1) h*(N/K) zeta_n"
BY_RATE = "the rate: w_n = (M - 1) h*(N/K) zeta_n with (1 - rho) eta_Y in the place of eta_Y"


def claimed_gap(reading: str, M: int, rho: float, tau: Floats) -> Floats:
    """w_nn minus any other logit of row n, by this reading of Remark 1."""
    if reading == PRINTED:
        return np.asarray((1 - rho) * decoder.height(M, tau))
    return decoder.height(M, (1 - rho) * tau)


def first_round(M: int, rho: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Row 1 of W for K = 2 after one mean update of (7) from Y = 0, divided by eta_Y / 2.

    Its entries at the first class, the second class and any other token, exactly.
    """
    part = Fraction(1, M)
    return (1 - part - rho * part, -part + rho * (1 - part), -part - rho * part)


def _remark_cases(reading: str, same_size: bool, which: slice) -> Iterator[Case]:
    """Relative error of the claimed gaps (to other classes, to other tokens) over time."""
    for M in (3, 5, 50, 1000, 10**6):
        for K in (2, 10, 50):
            if K >= M and not same_size:
                continue
            size = K if same_size else M
            if same_size and M > 3:
                continue  # M has no effect then
            for rho in (0.01, 0.1, 0.5):
                tau = np.geomspace(1e-3, 100 * math.log(size + 1), 12)
                u, v = equicorrelated.gaps(size, K, rho, tau)
                claimed = claimed_gap(reading, size, rho, tau)
                both = (u,) if same_size else (u, v)[which]
                for k in range(len(tau)):
                    error = max(relative_error(float(claimed[k]), float(gap[k])) for gap in both)
                    yield Case(
                        f"K = {K}, M = {size}, rho = {rho:g}, eta_Y t/K = {tau[k]:.3g}", -error
                    )


INTEGRATED = 1e-6  # the integrator keeps ten digits per step


def check_tian2023_rem_1(
    same_size: bool = False, reading: str | None = None, seed: int = 7
) -> Check:
    """Remark 1 under (7) with equal correlations and uniform classes.

    Args:
        same_size: whether K = M, the only case in which the sum of all zeta_n vanishes.
        reading: `PRINTED`, `BY_RATE`, or None for both.
        seed: has no effect, as nothing here is random.
    """
    rho = Fraction(1, 2)
    row = first_round(3, rho)
    witness = (
        f"K = 2, M = 3, rho = {rho}: one mean update from Y = 0 makes row 1 of F^T Y proportional "
        f"to ({', '.join(str(x) for x in row)}); in (43) the last two entries are equal."
    )
    found = []
    for text in (PRINTED, BY_RATE) if reading is None else (reading,):
        for part, which in (("", slice(None)), (", for w_nn - w_nn' only", slice(1))):
            check = judge(
                "tian2023-rem-1",
                _remark_cases(text, same_size, which),
                unit="times",
                claim="Under (7) with equal correlations each row grows along zeta_n, at the rate "
                "that Remark 1 claims",
                tolerance=INTEGRATED,
                witness=witness,
                parameters={"seed": seed},
            )
            found.append((text + part, check))
    readings = tuple(Reading(text, check.verdict) for text, check in found)
    first = next((c for _, c in found if c.verdict is not Verdict.REFUTED), found[0][1])
    u, v = equicorrelated.gaps(1000, 10, 0.5, np.array([1e-3, 1.0]))
    numbers = {
        **found[0][1].numbers,
        "ratio": f"{v[0] / u[0]:.3f}",
        "entries": ", ".join(str(x) for x in row),
    }
    return replace(first, readings=readings, numbers=numbers)


def control_tian2023_rem_1() -> Control:
    """With as many classes as tokens the reading by the rate is exact."""
    return Control(
        "K = M, where the sum of all zeta_n does vanish, and the reading by the rate: a check that "
        "refutes every rate would refute this one, too.",
        Verdict.CONSISTENT,
        check_tian2023_rem_1(same_size=True, reading=BY_RATE).verdict,
    )


# Remark 1, corrected


@cache
def gaps_are_proved() -> bool:
    """The equations of `equicorrelated`, their first rates, K = M and the lead, in symbols.

    Row n gets, per unit of tau, its own residual and rho times the residual of every other class;
    the three different entries are a (at n), b (K - 1 times) and c (M - K times).
    """
    import sympy as sp

    M, K, rho = sp.symbols("M K rho", positive=True)
    others, strangers = sp.symbols("e^-u e^-v", positive=True)
    total = 1 + (K - 1) * others + (M - K) * strangers
    p_n, p_b, p_c = 1 / total, others / total, strangers / total
    a = (1 - p_n) - rho * (K - 1) * p_b
    b = -p_b + rho * (1 - p_n) - rho * (K - 2) * p_b
    c = -p_c - rho * (K - 1) * p_c
    u_slope = (1 - rho) * (1 - p_n + p_b)
    v_slope = 1 - p_n - rho * (K - 1) * p_b + (1 + (K - 1) * rho) * p_c
    start = {others: 1, strangers: 1}
    square = (1 - rho) * M / (1 / others + M - 1)  # (44) for x = u at the rate (1 - rho) eta
    bound = (1 + (M - 1) * rho) / (1 - rho)
    zero = (
        a + (K - 1) * b + (M - K) * c,  # rows keep their sum
        a - b - u_slope,
        a - c - v_slope,
        u_slope.subs(start) - (1 - rho),
        v_slope.subs(start) - 1,
        u_slope.subs(K, M) - square,
        (v_slope - u_slope) - (1 - rho) * p_b * (bound * strangers / others - 1),
    )
    return all(sp.cancel(sp.together(one)) == 0 for one in zero)


SHAPES = ((5, 2), (5, 4), (5, 5), (60, 10), (1000, 10), (10**6, 50))  # M and K


def check_tian2023_rem_1_corrected(
    seed: int = 7, lead: float = 1.0, shapes: tuple[tuple[int, int], ...] = SHAPES
) -> Check:
    """The two gaps follow their two equations, and the second leads by less than its bound.

    Args:
        seed: has no effect, as nothing here is random.
        lead: factor inside the logarithm of the bound; 1 is right.
        shapes: M and K of the cases.
    """

    def cases() -> Iterator[Case]:
        for M, K in shapes:
            for rho in (0.01, 0.3, 0.9) if K < 10 else (0.5,):
                tau = np.geomspace(1e-4, 10 * math.log(M), 6)
                u, v = equicorrelated.gaps(M, K, rho, tau)
                E = rho * (np.ones((K, K)) - np.eye(K))
                start = decoder.zero_decoder(M, E)
                times = K * tau if K <= 10 else K * tau[:2]  # many classes are slow
                states = decoder.flow(start, 1.0, times, modified=False, relative=1e-9)
                for k, state in enumerate(states):
                    w, name = state.W[0], f"K = {K}, M = {M}, rho = {rho:g}, tau = {tau[k]:.3g}"
                    error = relative_error(float(w[0] - w[1]), float(u[k]))
                    if K < M:
                        error = max(error, relative_error(float(w[0] - w[K]), float(v[k])))
                    yield Case(f"{name}, against the flow", -error)
                if K == M:
                    rate = decoder.height(M, (1 - rho) * tau)
                    off = float(np.abs(u / rate - 1).max())
                    yield Case(f"K = M = {M}, rho = {rho:g}", -off)
                    continue
                first = equicorrelated.slopes(M, K, rho, 0.0, 0.0)
                off = max(relative_error(first[0], 1 - rho), relative_error(first[1], 1.0))
                yield Case(f"K = {K}, M = {M}, rho = {rho:g}, first rates", -off)
                late = np.geomspace(1.0, 1e8, 30)
                u, v = equicorrelated.gaps(M, K, rho, late)
                rises = float(np.diff(v - u).min())
                most = equicorrelated.lead(M, rho) + math.log(lead)
                yield Case(
                    f"K = {K}, M = {M}, rho = {rho:g}, lead", 1 - float((v - u).max()) / most
                )
                yield Case(f"K = {K}, M = {M}, rho = {rho:g}, rises", rises)

    u, v = equicorrelated.gaps(1000, 10, 0.5, np.array([1e8]))
    numbers = {
        "lead": f"{equicorrelated.lead(1000, 0.5):.2f}",
        "reached": f"{float(v[0] - u[0]):.2f}",
    }
    return judge(
        "tian2023-rem-1-corrected",
        cases(),
        unit="comparisons",
        claim="Both equations, the first rates 1 - rho and 1, the exact rate (1 - rho) eta_Y for "
        "K = M, and the bound on v - u are identities for symbolic K, M, rho, u and v; the flow "
        "of the whole decoder agrees",
        tolerance=INTEGRATED,
        numbers=numbers,
        parameters={"seed": seed},
        by_hand=(
            "rows stay of this form because classes can be renamed and the flow is unique",
            "v - u rises where it is below the bound, and a solution cannot pass the zero of its "
            "slope",
            "v - u reaches every lower value, as u rises without end and u' <= (1 - rho) M p_b, so "
            "that the integral of p_b diverges",
        ),
        proved=gaps_are_proved(),
    )


def control_tian2023_rem_1_corrected() -> Control:
    """A bound that is a little lower."""
    return Control(
        "A bound on v - u that is lower by log(1.05).",
        Verdict.REFUTED,
        check_tian2023_rem_1_corrected(lead=1 / 1.05, shapes=SHAPES[:2]).verdict,
    )
