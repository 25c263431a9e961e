"""How statements made in passing are judged: an argument by symbols and a search for a failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ntpcore.verdicts.claims import Check, Reading, Verdict


def settle(
    label: str,
    *,
    symbols: Mapping[str, bool],
    fault: str,
    tried: int,
    unit: str,
    evidence: str,
    numbers: Mapping[str, str] | None = None,
    parameters: Mapping[str, int | str] | None = None,
    by_hand: tuple[str, ...] = (),
    readings: Sequence[Reading] = (),
    vacuous: str = "",
) -> Check:
    """Refuted by a failing instance, proved if every symbolic step is shown, else consistent.

    Args:
        label: the claim.
        symbols: for each step of the argument whether sympy, or a complete enumeration, shows it;
            empty where there is no argument.
        fault: the first instance that fails, in words; empty if none does.
        tried: how many instances there were.
        unit: what one instance is, in the plural.
        evidence: what was found, where nothing fails.
        numbers: named results.
        parameters: what repeats the run.
        by_hand: steps of the argument done by hand.
        readings: plausible readings, each with its verdict.
        vacuous: from where a bound would say something.
    """
    used = dict(parameters or {})
    if fault:
        reason = "An instance fails."
        return Check(label, Verdict.REFUTED, tried, unit, reason, witness=fault, parameters=used)
    if not tried:
        return Check(label, Verdict.OPEN, 0, unit, "No instance was given.", parameters=used)
    unseen = [name for name, shown in symbols.items() if not shown]
    told = f" Not shown in general: {', '.join(unseen)}." if unseen else ""
    return Check(
        label,
        Verdict.PROVED if symbols and not unseen else Verdict.CONSISTENT,
        tried,
        unit,
        evidence + told,
        numbers=dict(numbers or {}),
        parameters=used,
        by_hand=by_hand,
        readings=tuple(readings),
        vacuous=vacuous,
    )
