"""The ledger: a row for each claim of a catalogue, with what its check said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ntpverdicts.certainty import Kind
from ntpverdicts.claims import Claim, Verdict
from ntpverdicts.dependencies import Standing, standings

Data = dict[str, Any]


def ledger(catalogue: Iterable[Claim], checks: Iterable[Mapping[str, Any]]) -> list[Data]:
    """One row per claim, in the order of the catalogue; a planned claim is open.

    Args:
        catalogue: all claims.
        checks: what `Check.to_json` gave for those that were checked.
    """
    found = {str(check["label"]): dict(check) for check in checks}
    return [_row(claim, found.get(claim.label)) for claim in catalogue]


def _row(claim: Claim, data: Data | None) -> Data:
    """What is known of one claim."""
    about: Data = {
        "label": claim.label,
        "verdict": "open",
        "page": claim.page,
        "planned": claim.page is None,
        "paper": claim.paper,
        "kind": claim.kind,
        "number": claim.number,
        "title": claim.title,
        "where": claim.where,
        "paper_page": claim.paper_page,
        "uses": list(claim.uses),
        "about": list(claim.about),
        "evidence": "planned" if claim.page is None else "not checked",
    }
    return about | (data or {})


def standings_of(rows: Iterable[Data]) -> dict[str, Standing]:
    """For every claim of a ledger what it rests on, and whether that is sound."""
    rows = list(rows)
    uses = {str(row["label"]): row["uses"] for row in rows}
    return standings(uses, {str(row["label"]): Verdict(row["verdict"]) for row in rows})


def drawn_with(row: Mapping[str, Any]) -> str:
    """With which seeds the instances of a claim were drawn; empty where none was drawn."""
    parameters = row.get("parameters", {})
    if "seed" in parameters:
        return f"seed {parameters['seed']}"
    counts = (value for name, value in parameters.items() if name.startswith("seeds"))
    origins = (one["origin"] for one in row.get("numbers", {}).values() if isinstance(one, dict))
    several = "several seeds" if any("seeds" in one for one in origins) else ""
    return next((f"{count} seeds" for count in counts), several)


def verdicts_in(rows: Iterable[Mapping[str, Any]]) -> list[Verdict]:
    """The verdicts that occur among some rows, in their usual order."""
    there = {str(row["verdict"]) for row in rows}
    return [verdict for verdict in Verdict if verdict.value in there]


def count_verdicts(rows: Iterable[Mapping[str, Any]]) -> str:
    """How many claims have which verdict, in words; the kinds of proof are told apart."""
    rows = list(rows)
    rows = [row for row in rows if "verdict" in row]
    counts = Counter(str(row["verdict"]) for row in rows)
    parts = []
    for verdict in verdicts_in(rows):
        kinds = kinds_of(rows, verdict)
        known = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        parts.append(f"{counts[verdict.value]} {verdict.value}" + (f" ({known})" if known else ""))
    planned = sum(bool(row.get("planned")) for row in rows)
    return ", ".join(parts) + (f" ({planned} planned)" if planned else "")


def kinds_of(rows: Iterable[Mapping[str, Any]], verdict: Verdict) -> dict[str, int]:
    """How many of the rows with a verdict are known in which way, in the order of `Kind`."""
    counts = Counter(
        str(row["certainty"]["kind"])
        for row in rows
        if row["verdict"] == verdict.value and row.get("certainty")
    )
    return {kind.value: counts[kind.value] for kind in Kind if counts[kind.value]}
