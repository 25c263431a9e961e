"""Checks of equation (88): the coefficients of Theorem 1, printed and corrected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ntpbook.shared.judge import judge
from ntpbook.tian2023.s4_gradient import gradient_steps as steps
from ntpbook.tian2023.s4_gradient.gradient_runs import ROUNDING, UNIT, Trained, identity_cases
from ntpcore.tian2023.gradient import FORMS
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

READINGS_88 = {
    "q_0 negative, E' of Lemma 14": ("q_0 with its sign", 1.0),
    "q_0 as a size, E' of Lemma 14": ("q_0 as a size", 1.0),
    "q_0 negative, E' of Appendix D.1": ("q_0 with its sign", -1.0),
    "q_0 as a size, E' of Appendix D.1": ("q_0 as a size", -1.0),
}


def check_tian2023_eq_88(
    runs: Sequence[Trained], repaired: bool = False, **parameters: int
) -> Check:
    """beta as printed, q_1 theta+_n E'_nk + q_0 (theta+_k + sum theta+_j E'_jk), on (26).

    Args:
        runs: decoders trained by (26).
        repaired: judge the corrected sign in the place of each printed form.
        parameters: what repeats the runs.
    """
    label, readings, checks = "tian2023-eq-88", [], []
    for name, (form, sign) in READINGS_88.items():
        if repaired:
            form, sign = "corrected", 1.0
        check = judge(
            label,
            identity_cases(runs, form, sign),
            unit=UNIT,
            claim="The coefficients (88) are those of the gradient",
            tolerance=ROUNDING,
            parameters=parameters,
        )
        checks.append(check)
        value = pair_beta(form, int(sign))
        text = f"{name}: in the witness, {value}, about {float(value):.5f}."
        readings.append(Reading(text, check.verdict))
    standing = [check for check in checks if check.verdict is not Verdict.REFUTED]
    if standing:
        return replace(standing[0], readings=tuple(readings))
    true, printed = pair_beta("corrected"), pair_beta("q_0 with its sign")
    return replace(
        checks[0],
        witness="K = 2, M = 324, overlap 1/3, classes drawn equally often: beta is "
        f"{true}, about {float(true):.5f}, and (88) gives {printed}, about {float(printed):.5f}.",
        readings=tuple(readings),
        numbers={
            **checks[0].numbers,
            "true": f"{float(true):.5f}",
            "printed": f"{float(printed):.5f}",
            "difference": f"{float(true - printed):.5f}",
            "two_by_M": f"{2 / 324:.5f}",
        },
    )


def pair_beta(form: str, sign: int = 1, M: int = 324) -> Fraction:
    """beta_12 of two classes with the overlap 1/3 at theta = sigma = 0, exactly.

    Args:
        form: a key of `gradient.FORMS`.
        sign: -1 for E' with the sign of Appendix D.1.
        M: size of the vocabulary.
    """
    outer, inner = FORMS[form]
    own, other = Fraction(-sign, 8), Fraction(3 * sign, 8)  # E'_22 and E'_12
    q_1, q_0 = Fraction(M, M - 1), Fraction(-M, (M - 1) ** 2)
    return q_1 * other + outer * q_0 * (1 + inner * own)


def control_tian2023_eq_88(runs: Sequence[Trained]) -> Control:
    """With the right sign the coefficients agree and must not be refuted."""
    return Control(
        "The sign put right: a check that refutes everything would refute it, too.",
        Verdict.CONSISTENT,
        check_tian2023_eq_88(runs, repaired=True).verdict,
    )


def check_tian2023_eq_88_corrected(
    runs: Sequence[Trained], form: str = "corrected", **parameters: int
) -> Check:
    """iota and beta with the right sign are those of the gradient under (26).

    Args:
        runs: decoders trained by (26).
        form: a key of `gradient.FORMS`.
        parameters: what repeats the runs.
    """
    exact = steps.overlap_steps() and all(steps.coefficient_steps(K) for K in (2, 3, 4, 5))
    check = judge(
        "tian2023-eq-88-corrected",
        identity_cases(runs, form),
        unit=UNIT,
        claim="The coefficients with the right sign are those of the gradient under (26)",
        tolerance=ROUNDING,
        parameters=parameters,
        by_hand=(
            "Y = F (I - E') (I + Theta) W_bar, which is Theorem 5",
            "for more than five classes the sums have more terms of the same kind",
        ),
        proved=exact,
    )
    return steps.told(check)


def control_tian2023_eq_88_corrected(runs: Sequence[Trained]) -> Control:
    """The sum inside the bracket has its own sign, which matters at order 1/M^2 or 1/(M K)."""
    return Control(
        "A plus before the sum in the bracket, which changes only a term of order 1/M.",
        Verdict.REFUTED,
        check_tian2023_eq_88_corrected(runs, form="q_0 as a size").verdict,
    )
