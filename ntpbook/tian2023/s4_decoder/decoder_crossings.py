"""Checks of the two crossings in Tian et al. (2023): Lemma 8 and Remark 3.

The crossings are the x = M h at which e^x = (M - 1) x.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpcore.tian2023 import decoder
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

SIZES = (5, 6, 7, 8, 30, 100, 1000, 10**4, 10**5, 10**6)
ROUNDING = 1e-12  # a handful of rounded operations, with exponents up to 40

# Lemma 8 and Remark 3


@cache
def crossings_are_proved() -> bool:
    """The inequalities behind Lemma 8, exactly; the page says how they combine.

    Lower crossing x_0, with M >= 8 and e^x <= 1 + x + x^2 on [0, 1]: at x = (1 + 3/M)/M the line
    q x is above. Upper crossing x_1, with L = ln M: at x = L + ln L the line is above (it needs
    L + ln L <= M ln L), at x = L + 2 ln L the exponential (it needs L + 2 ln L <= L^2).
    """
    import sympy as sp

    M, L = sp.symbols("M L", positive=True)
    x = (1 + 3 / M) / M
    margin = sp.expand(((M - 1) * x - 1 - x - x**2) * M)
    lower = sp.expand(margin - (1 - 7 / M - 6 / M**2 - 9 / M**3)) == 0
    lower = lower and 1 - sp.Rational(7, 8) - sp.Rational(6, 64) - sp.Rational(9, 512) > 0
    small = all(  # M = 5, 6, 7 with 4 in the place of 3, decided by exact comparison
        bool(sp.exp(sp.Rational(m + 4, m**2)) < (m - 1) * sp.Rational(m + 4, m**2))
        for m in (5, 6, 7)
    )
    above = sp.diff(L**2 - L - 2 * sp.log(L), L)  # 2 L - 1 - 2/L, positive for L > 1.3
    above_rises = sp.simplify(above * L - (2 * L**2 - L - 2)) == 0
    five = sp.log(5)
    upper = bool(five**2 - five - 2 * sp.log(five) > 0) and bool(2 * five**2 - five - 2 > 0)
    # (M - 1) ln L - L rises with M: its derivative is at least ln L - 1/M, positive for M >= 5
    line = bool(4 * sp.log(five) - five > 0) and bool(sp.log(five) > sp.Rational(1, 5))
    return bool(lower and small and above_rises and upper and line)


def check_tian2023_lem_8(seed: int = 7, branch_shift: float = 0.0) -> Check:
    """Where e^x <= (M - 1) x, and how large omega_0 and omega_1 are.

    Args:
        seed: has no effect, as nothing here is random.
        branch_shift: by what omega_1 is lowered, relatively; 0 is right.
    """

    def cases() -> Iterator[Case]:
        for M in SIZES:
            x_0, x_1 = decoder.crossings(M)
            omega_0, omega_1 = decoder.omegas(M)
            x_1 = (1 + omega_1 * (1 - branch_shift)) * math.log(M)
            inside = np.concatenate([[x_0 * (1 + 1e-9)], np.geomspace(1.001 * x_0, x_1, 40)])
            outside = np.array([0.0, x_0 / 2, x_0 * (1 - 1e-6), x_1 * (1 + 1e-6), x_1 + 5, 700.0])
            for x, sign in [(x, 1) for x in inside] + [(x, -1) for x in outside]:
                gap = math.log(M - 1) + math.log(x) - x if x else -math.inf
                yield Case(f"M = {M}, M h = {x:.4g}", sign * gap / max(1.0, x))
            lnln = math.log(math.log(M))
            name = f"M = {M}, omega"
            yield Case(f"{name}_0", 1 - omega_0 * M * math.log(M) / 4)
            yield Case(f"{name}_0 > 0", omega_0)
            yield Case(f"{name}_1, above", 1 - omega_1 * math.log(M) / (2 * lnln))
            yield Case(f"{name}_1, below", omega_1 * math.log(M) / lnln - 1)

    numbers = {}
    for M in (100, 1000, 50272, 10**6):
        omega_0, omega_1 = decoder.omegas(M)
        numbers[f"omega_0_{M}"] = f"{omega_0:.3g}"
        numbers[f"omega_1_{M}"] = f"{omega_1:.3f}"
        numbers[f"ratio_0_{M}"] = f"{omega_0 * math.log(M) * M**0.99:.2f}"
        numbers[f"ratio_1_{M}"] = f"{omega_1 * math.log(M) / math.log(math.log(M)):.2f}"
    check = judge(
        "tian2023-lem-8",
        cases(),
        unit="inequalities",
        claim="For M >= 5 the exponential meets the line twice, 0 < omega_0 <= 4/(M ln M) and "
        "ln ln M/ln M <= omega_1 <= 2 ln ln M/ln M, by exact inequalities",
        tolerance=ROUNDING,
        numbers=numbers,
        parameters={"seed": seed},
        by_hand=(
            "a convex function meets a line in at most two points and lies below it between them",
            "e^x <= 1 + x + x^2 on [0, 1], from the series",
            "signs at the trial points and the growth in M of the differences (proof on the page)",
        ),
        proved=crossings_are_proved(),
    )
    if check.verdict is Verdict.REFUTED:
        return check
    readings = (
        Reading("omega_0 = O(M^-0.99/ln M) and omega_1 = O(ln ln M/ln M)", check.verdict),
        Reading(
            "omega_0 = Theta(M^-0.99/ln M): it is below 4/(M ln M), so that the quotient falls "
            "below every constant, if only like M^-0.01",
            Verdict.REFUTED,
        ),
    )
    return replace(check, readings=readings)


def control_tian2023_lem_8() -> Control:
    """omega_1 a little too small."""
    return Control(
        "omega_1 lowered by one percent.",
        Verdict.REFUTED,
        check_tian2023_lem_8(branch_shift=0.01).verdict,
    )


def check_tian2023_rem_3(seed: int = 7, exponent: float = 0.99) -> Check:
    """From the first update on the height is past the lower crossing, if eta_Y >= M^-exponent.

    Args:
        seed: has no effect, as nothing here is random.
        exponent: the remark has 0.99.
    """

    def cases() -> Iterator[Case]:
        for M in (100, 300, 1000, 10**4, 50272, 10**5, 10**6):
            x_0, _ = decoder.crossings(M)
            for eta in (M**-exponent, 10 * M**-exponent, 0.1, 0.5, 1.0, 2.0):
                name = f"M = {M}, eta_Y = {eta:.3g}"
                first = float(decoder.height(M, eta))
                yield Case(f"{name}, h(1)", first / x_0 - 1)
                yield Case(f"{name}, h*(1)", eta / x_0 - 1)

    # 2 (M - 1) x_0 - 1 <= M eta is what h(1) past x_0 means; x_0 <= (1 + 3/M)/M for M >= 8
    import sympy as sp

    M = sp.Symbol("M", positive=True)
    needed = 2 * (M - 1) * (1 + 3 / M) / M - 1
    exact = sp.expand(needed - (1 + 4 / M - 6 / M**2)) == 0
    exact = exact and Fraction(104, 100) ** 100 <= 100  # 1 + 4/M <= M^0.01 at M = 100
    least = {
        str(size): (2 * (size - 1) * decoder.crossings(size)[0] - 1) / size
        for size in (100, 1000, 10**6)
    }
    return judge(
        "tian2023-rem-3",
        cases(),
        unit="first updates",
        claim="For M >= 100 and eta_Y >= M^-0.99 both h(1) and h*(1) lie beyond the lower "
        "crossing, by 1 + 4/M <= M^0.01, exact at M = 100",
        tolerance=ROUNDING,
        numbers={f"least_{size}": f"{value:.3g}" for size, value in least.items()},
        parameters={"seed": seed},
        by_hand=(
            "x_0 <= (1 + 3/M)/M, from Lemma 8",
            "1 + 4/M falls and M^0.01 rises with M",
            "h and h* do not decrease, so that later values are beyond the crossing, too",
        ),
        proved=bool(exact) and crossings_are_proved() and exponent == 0.99,
    )


def control_tian2023_rem_3() -> Control:
    """A rate below the bound."""
    return Control(
        "eta_Y = M^-1.01, just below the inverse of M.",
        Verdict.REFUTED,
        check_tian2023_rem_3(exponent=1.01).verdict,
    )
