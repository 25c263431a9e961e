"""Checks of equation (93): the lower bound on the leading term of xi, printed and corrected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s4_gradient import gradient_steps as steps
from ntpbook.tian2023.s4_gradient.gradient_lemmas import (
    ROUNDING,
    SPECTRAL,
    UNIT,
    Spectrum,
    proof,
    relative_slack,
)
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

BOUNDS_93: Mapping[str, Callable[[Spectrum], Floats]] = {
    "the smallest squared eigenvalue of E": lambda one: np.full(
        one.K, float((one.values**2).min())
    ),
    "the entry (E^2)_nn, which is |E e_n|^2": lambda one: np.sum(one.E**2, axis=1),
}


def check_tian2023_eq_93(
    spectra: Sequence[Spectrum], sign: float = -1.0, **parameters: int
) -> Check:
    """(E' E)_nn >= S / (1 - |lambda_1|), S under two readings (tian2023, equation (93)).

    Args:
        spectra: matrices with |lambda_1| < 1/K, a pair first.
        sign: the sign in the denominator; the print has a minus.
        parameters: what repeats the matrices.
    """
    label, readings, failures = "tian2023-eq-93", [], {}
    for name, bound in BOUNDS_93.items():
        slacks = [_slack_93(one, bound(one), sign) for one in spectra]
        failures[name] = sum(slack < -ROUNDING for slack in slacks)
        verdict = Verdict.REFUTED if failures[name] else Verdict.CONSISTENT
        text = f"The numerator is {name}, the denominator 1 - |lambda_1|."
        readings.append(Reading(text, verdict))
    names = list(BOUNDS_93)
    numbers = {"smallest": str(failures[names[0]]), "entry": str(failures[names[1]])}
    strict = BOUNDS_93[names[0]]  # the weaker of the two: it decides the row
    check = judge(
        label,
        (Case(one.where, _slack_93(one, strict(one), sign)) for one in spectra),
        unit=UNIT,
        claim="The leading term of xi is at least S / (1 - |lambda_1|)",
        tolerance=ROUNDING,
        numbers=numbers,
        parameters=parameters,
    )
    if check.verdict is not Verdict.REFUTED:
        return replace(check, readings=tuple(readings))
    e, M = Fraction(1, 3), 324
    term, printed = e**2 / (1 - e**2), e**2 / (1 - e)
    # the whole line at theta = sigma = 0: delta_1 = q_1 - 1, and the rest 3 K |lambda_1| / M
    q_1 = Fraction(M, M - 1)
    whole = q_1 * term + (e + e**3 / (1 - e**2)) * q_1 / (M - 1)
    promised = q_1 * printed - 6 * e / M
    always = " The same happens for every overlap between 0 and 1."
    return replace(
        check,
        readings=tuple(readings),
        witness=f"K = 2 and M = 324 with the overlap {e}: the term is {term}, the bound {printed}."
        + (always if steps.equation_93_fails_for_pairs() else ""),
        numbers={
            **check.numbers,
            "term": str(term),
            "bound": str(printed),
            "overlap": str(e),
            "whole": f"{float(whole):.4f}",
            "promised": f"{float(promised):.4f}",
        },
    )


def _slack_93(one: Spectrum, bound: Floats, sign: float) -> float:
    """Least relative slack of (E' E)_nn >= bound / (1 + sign |lambda_1|), n = 1, ..., K."""
    term = np.einsum("nk,kn->n", one.inverse, one.E)
    found = bound / (1 + sign * one.radius)
    size = max(float(term.max()), 1e-300)  # relative to the largest: small entries are differences
    return float((term - found).min() / size)


def control_tian2023_eq_93(spectra: Sequence[Spectrum]) -> Control:
    """With the right denominator the inequality holds and must not be refuted."""
    return Control(
        "1 + |lambda_1| in the denominator: a check that refutes everything would refute it, too.",
        Verdict.CONSISTENT,
        check_tian2023_eq_93(spectra, sign=1.0).verdict,
    )


def check_tian2023_eq_93_corrected(
    spectra: Iterable[Spectrum], sign: float = 1.0, **parameters: int
) -> Check:
    """(E' E)_nn >= (E^2)_nn / (1+|l1|) >= min l^2 / (1+|l1|), which is > 3 K |l1| / M.

    The last step has min l^2 >= 6/M, true under both readings of Assumption 2; it is judged at
    the smallest M that the weaker reading allows.

    Args:
        spectra: matrices with |lambda_1| < 1/K.
        sign: the sign in the denominator; the right one is a plus.
        parameters: what repeats the matrices.
    """

    def slack(one: Spectrum) -> float:
        both = [_slack_93(one, bound(one), sign) for bound in BOUNDS_93.values()]
        least = float((one.values**2).min())
        both.append(relative_slack(3 * one.K * one.radius * least / 6, least / (1 + one.radius)))
        return min(both)

    return proof(
        "tian2023-eq-93-corrected",
        spectra,
        slack,
        "The leading term of xi is at least S / (1 + |lambda_1|)",
        (steps.second_order_step, steps.equation_93_steps),
        (SPECTRAL, "(E^2)_nn is a mean of squared eigenvalues, so at least the smallest"),
        **parameters,
    )


def control_tian2023_eq_93_corrected(spectra: Iterable[Spectrum]) -> Control:
    """Without any denominator the bound is too large."""
    return Control(
        "The denominator left out.",
        Verdict.REFUTED,
        check_tian2023_eq_93_corrected(spectra, sign=0.0).verdict,
    )
