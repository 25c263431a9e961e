"""The document `claims.json`: what a book found, for programs, and the schema that it follows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib import resources
from typing import Any

from ntpverdicts.certainty import with_certainty
from ntpverdicts.claims import Claim, Verdict
from ntpverdicts.compare import NOT_THERE
from ntpverdicts.ledger import Data, ledger, standings_of

FILE = "claims.json"
SCHEMA = "claims.schema.json"
OWN_PLACE = "this book"  # `where` of what no paper states
VERSION = 2  # of the schema; 2 says how each claim is known (`certainty`)
# Of a check, in the order of the file; all of it is absent while a claim is planned.
CHECK_FIELDS = ("tried", "unit", "slack", "witness", "witness_kind", "loose")
LISTS = ("readings", "hypotheses", "proof", "controls")
OBJECTS = ("left_out", "numbers", "parameters")


def without_data(document: Mapping[str, Any]) -> frozenset[str]:
    """Labels of claims that a document leaves undecided since their data were not there."""
    return frozenset(
        row["label"]
        for row in document["claims"]
        if row["verdict"] == Verdict.UNDECIDED.value and NOT_THERE in row["evidence"]
    )


def schema_text() -> str:
    """The schema as a file."""
    return resources.files(__package__).joinpath(SCHEMA).read_text(encoding="utf-8")


def publish(
    catalogue: Iterable[Claim],
    checks: Iterable[Mapping[str, Any]],
    *,
    versions: Mapping[str, str],
    statements: Mapping[str, str] | None = None,
    sources: Mapping[str, Data] | None = None,
    hashes: Mapping[str, str] | None = None,
    machine: Mapping[str, Data] | None = None,
    machine_steps: Mapping[str, Sequence[str]] | None = None,
    editions: Mapping[str, str] | None = None,
) -> Data:
    """The whole document.

    Args:
        catalogue: all claims.
        checks: what `Check.to_json` gave for those that were checked.
        versions: of Python and of what the checks compute with.
        statements: for labels the statement in words.
        sources: for labels where the code of the check stands: file, line, function, page.
        hashes: for labels a SHA-256 of the code that decided.
        machine: for labels of claims that a proof assistant read as a whole, what it read.
        machine_steps: for labels the places of the steps by hand that it read.
        editions: for keys of papers the edition that is judged.
    """
    catalogue = list(catalogue)
    rows = list(
        known_rows(catalogue, checks, machine or {}, machine_steps or {}, editions or {}).values()
    )
    standings = standings_of(rows)
    return {
        "schema": SCHEMA,
        "schema_version": VERSION,
        "versions": dict(versions),
        "claims": [
            _entry(row, (statements or {}).get(row["label"]))
            | {
                "source": (sources or {}).get(row["label"]),
                "code_hash": (hashes or {}).get(row["label"]),
                "used_by": list(standings[row["label"]].used_by),
                "rests_on": list(standings[row["label"]].ground),
                "grounded": standings[row["label"]].grounded,
                "tainted_by": list(standings[row["label"]].tainted_by),
            }
            for row in rows
        ],
    }


def known_rows(
    catalogue: Iterable[Claim],
    checks: Iterable[Mapping[str, Any]],
    machine: Mapping[str, Data],
    machine_steps: Mapping[str, Sequence[str]],
    editions: Mapping[str, str],
) -> dict[str, Data]:
    """The rows of the ledger by their labels, each with how the claim is known and where it stands.

    This is the one place where the certainty of a book is computed; pages, ledger, badges and
    `claims.json` read it from here.
    """
    rows = {}
    for row in ledger(catalogue, checks):
        label = str(row["label"])
        steps = list(machine_steps.get(label, ()))
        rows[label] = row | {
            "machine": machine.get(label),
            "machine_steps": steps,
            "edition": edition_of(row, editions),
        }
    return with_certainty(rows)


def edition_of(row: Mapping[str, Any], editions: Mapping[str, str]) -> str | None:
    """The edition that a claim was read in, with the page; None for statements of the book."""
    if row["paper"] not in editions or str(row["where"]).lower() == OWN_PLACE:
        return None
    page = f", page {row['paper_page']}" if row["paper_page"] else ""
    return editions[row["paper"]] + page


def _entry(row: Data, statement: str | None) -> Data:
    """What the document says of one claim, but for its code and what it rests on."""
    return {
        "label": row["label"],
        "paper": row["paper"],
        "kind": row["kind"],
        "number": row["number"],
        "title": row["title"],
        "where": row["where"],
        "paper_page": row["paper_page"],
        "edition": row["edition"],
        "statement": statement,
        "verdict": row["verdict"],
        "planned": row["planned"],
        "vacuous": bool(row.get("vacuous")),
        "vacuous_before": row.get("vacuous"),
        "evidence": row["evidence"],
        **{key: row.get(key) for key in CHECK_FIELDS},
        **{key: row.get(key, []) for key in LISTS},
        **{key: row.get(key, {}) for key in OBJECTS},
        "certainty": row.get("certainty"),
        "machine": row.get("machine"),
        "machine_steps": row["machine_steps"],
        "page": row["page"],
        "repeat": row.get("repeat") or None,
        "uses": row["uses"],
        "about": row["about"],
    }


def to_text(document: Data) -> str:
    """The document as a file, a claim on each line; the same for the same book, byte for byte."""
    dense = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
    head = dense({name: value for name, value in document.items() if name != "claims"})
    claims = ",\n".join(map(dense, document["claims"]))
    return f'{head[:-1]},"claims":[\n{claims}\n]}}\n'
