"""Checks of the height h in Tian et al. (2023): Lemma 6 and its closed form.

Everywhere x = M h and tau = eta_Y s, s being the number of updates of the class: h depends on M and
tau alone, so that a grid over tau covers all rates and all numbers of classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from ntpbook.shared.judge import Case, judge, relative_error
from ntpcore.tian2023 import decoder
from ntpcore.verdicts.claims import Check, Control, Verdict

SIZES = (5, 6, 7, 8, 30, 100, 1000, 10**4, 10**5, 10**6)

# Lemma 6


@cache
def implicit_equation_is_proved(slope: int = 1) -> bool:
    """d/dt (e^x + (M - 1) x) = M eta along (44), and the left side is 1 at h = 0."""
    import sympy as sp

    M, eta, h = sp.symbols("M eta h", positive=True)
    left = sp.exp(M * h) + (M - slope) * M * h
    moved = sp.diff(left, h) * eta / (M - 1 + sp.exp(M * h))
    return bool(sp.simplify(moved - M * eta) == 0 and left.subs(h, 0) == 1)


def check_tian2023_lem_6(seed: int = 7, slope: int = 1) -> Check:
    """The integrated differential equation (44) solves (45).

    Args:
        seed: has no effect, as nothing here is random.
        slope: (45) has M - slope as the factor of M h; 1 is right.
    """
    from scipy.integrate import solve_ivp

    def cases() -> Iterator[Case]:
        for M in SIZES:
            times = np.geomspace(1e-3, 100 * math.log(M), 12)
            found = solve_ivp(
                lambda _, x, M=M: M / (M - 1 + np.exp(x)),
                (0.0, float(times[-1])),
                [0.0],
                method="DOP853",
                t_eval=times,
                rtol=1e-12,
                atol=1e-14,
            )
            for tau, x in zip(times, found.y[0], strict=True):
                left = math.expm1(x) + (M - slope) * x
                yield Case(f"M = {M}, eta_Y t = {tau:.3g}", -relative_error(left, M * tau))

    return judge(
        "tian2023-lem-6",
        cases(),
        unit="times",
        claim="Along (44) the left side of (45) has the derivative M eta_Y for symbolic M, eta_Y "
        "and h, and (44) integrated numerically satisfies (45)",
        tolerance=1e-9,  # the integrator keeps twelve digits per step
        parameters={"seed": seed},
        by_hand=("two functions with one derivative and one start are equal",),
        proved=implicit_equation_is_proved(slope),
    )


def control_tian2023_lem_6() -> Control:
    """M in the place of M - 1."""
    return Control(
        "M in the place of M - 1 in (45).",
        Verdict.REFUTED,
        check_tian2023_lem_6(slope=0).verdict,
    )


@cache
def lambert_is_proved() -> bool:
    """With w e^w = e^c / q the number x = c - w solves e^x + q x = q c, and q c = M tau + 1."""
    import sympy as sp

    w, M, tau = sp.symbols("w M tau", positive=True)
    q = M - 1
    c = (M * tau + 1) / q
    # e^(c - w) = (e^c / q) q / e^w = w e^w q / e^w
    exponential = sp.simplify(w * sp.exp(w) * q / sp.exp(w))
    x = sp.Symbol("x", real=True)
    rises = sp.diff(sp.exp(x) + q * x, x) - (sp.exp(x) + q)
    solves = sp.simplify(exponential + q * (c - w) - M * tau - 1) == 0
    return bool(solves and rises == 0)


def check_ours_lambert(seed: int = 7, branch: int = 0, offset: int = 1) -> Check:
    """x = c - W_0(e^c / (M - 1)) solves (45), with c = (M tau + 1) / (M - 1).

    Args:
        seed: has no effect, as nothing here is random.
        branch: branch of W; 0 is right, the argument being positive.
        offset: c is (M tau + offset) / (M - 1); 1 is right.
    """
    import mpmath

    def cases() -> Iterator[Case]:
        with mpmath.workdps(40):
            for M in (2, 3, *SIZES, 10**9):
                for tau in (1e-9, 1e-3, 0.5, 3.0, 20.0, 300.0, 1e6):
                    c = (mpmath.mpf(M) * mpmath.mpf(tau) + offset) / (M - 1)
                    w = (
                        mpmath.lambertw(mpmath.exp(c) / (M - 1), branch)
                        if c < 1e6
                        else _large(c, M)
                    )
                    x = mpmath.re(c - w)
                    name = f"M = {M}, eta_Y s = {tau:g}"
                    defect = mpmath.expm1(x) + (M - 1) * x - mpmath.mpf(M) * mpmath.mpf(tau)
                    yield Case(f"{name}, (45)", -float(abs(defect) / (M * tau)))
                    ours = float(decoder.height(M, tau))
                    yield Case(f"{name}, library", -relative_error(float(x), ours))

    return judge(
        "ours-lambert",
        cases(),
        unit="comparisons",
        claim="w e^w = e^c/(M - 1) and x = c - w give e^x + (M - 1) x = M tau + 1 for symbolic M, "
        "tau and w, and forty digits agree with it and with the library",
        tolerance=2e-14,  # the library's 16 digits; forty digits leave 1e-20 after cancellation
        parameters={"seed": seed},
        by_hand=("the left side of (45) rises with x, so that it has no second solution",),
        proved=lambert_is_proved(),
    )


def _large(c: Any, M: int) -> Any:
    """W_0(e^c / (M - 1)) where e^c has a million digits or more: Newton on w + ln w."""
    import mpmath

    target = c - mpmath.log(M - 1)
    w = target - mpmath.log(target)
    for _ in range(8):
        w -= (w + mpmath.log(w) - target) / (1 + 1 / w)
    return w


def control_ours_lambert() -> Control:
    """The integration constant left out."""
    return Control(
        "c = M tau / (M - 1), without the 1 that h(0) = 0 brings.",
        Verdict.REFUTED,
        check_ours_lambert(offset=0).verdict,
    )
