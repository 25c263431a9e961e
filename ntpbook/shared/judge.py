"""How the checks of this paper judge a list of cases: inequalities, identities, exponents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ntpcore.verdicts.claims import Check, Verdict


@dataclass(frozen=True)
class Case:
    """One instance of a statement.

    Attributes:
        where: the instance in words, with all its parameters.
        slack: how far the statement is from being violated, relative to the size of its sides:
            negative when it is violated. For an identity, minus the relative error.
    """

    where: str
    slack: float


def judge(
    label: str,
    cases: Iterable[Case],
    *,
    unit: str,
    claim: str,
    tolerance: float,
    witness: str = "",
    numbers: Mapping[str, str] | None = None,
    parameters: Mapping[str, int | str] | None = None,
    by_hand: tuple[str, ...] = (),
    vacuous: str = "",
    proved: bool = False,
) -> Check:
    """Refuted by the first case whose slack is below -tolerance; otherwise as the evidence allows.

    List the cases from small to large, so that the first violation is the smallest witness.

    Args:
        label: label of the claim.
        cases: the instances.
        unit: what one instance is, in the plural.
        claim: the statement in one sentence that ends without a full stop.
        tolerance: rounding, relative; its origin belongs in a comment of the caller.
        witness: words that follow the failing case in the witness.
        numbers: results that the page quotes; `worst` (the worst slack), `cases` and `tolerance`
            are added.
        parameters: what repeats the check.
        by_hand: steps that no machine checked.
        vacuous: for a bound that says nothing, from where it would.
        proved: whether the caller has an executed argument for every instance; a single violated
            case outweighs it.
    """
    tried, worst = 0, Case("", float("inf"))
    failed: Case | None = None
    for case in cases:
        tried += 1
        case = replace(case, slack=case.slack + 0.0)  # an error of 0 is no slack of -0
        if not (math.isnan(worst.slack) or case.slack >= worst.slack):  # nan counts as the worst
            worst = case
        if not case.slack >= -tolerance and failed is None:
            failed = case
    found = {**(numbers or {}), "worst": f"{worst.slack:.2g}", "cases": str(tried)}
    found["tolerance"] = f"{tolerance:g}"
    used = dict(parameters or {})
    if not tried:
        return Check(label, Verdict.OPEN, 0, unit, "No instance was given.", parameters=used)
    if failed is not None:
        return Check(
            label,
            Verdict.REFUTED,
            tried,
            unit,
            f"{claim}: this fails.",
            witness=f"{failed.where}: slack {failed.slack:.3g}. {witness}".strip(),
            slack=f"{worst.slack:.3g} ({worst.where})",
            numbers=found,
            parameters=used,
        )
    return Check(
        label,
        Verdict.PROVED if proved else Verdict.CONSISTENT,
        tried,
        unit,
        f"{claim}: no violation in {tried} {unit}.",
        slack=f"{worst.slack:.3g} ({worst.where})",
        numbers=found,
        parameters=used,
        by_hand=by_hand,
        vacuous=vacuous,
    )


def verdict_of(holds: bool) -> Verdict:
    """Consistent or refuted."""
    return Verdict.CONSISTENT if holds else Verdict.REFUTED


def relative_error(found: float, expected: float) -> float:
    """|found - expected| / max(|found|, |expected|), zero when both are zero."""
    size = max(abs(found), abs(expected))
    return abs(found - expected) / size if size else 0.0
