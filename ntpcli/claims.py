"""The answer of `ntpcore claims`: the catalogue, with the verdicts that a built book published."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from ntpbook.catalogue import CATALOGUE, PAPERS
from ntpcli.terminal import Write, show_name
from ntpcore.data.dataset import InputError
from ntpcore.data.files import read_json
from ntpverdicts.certainty import Certainty, Kind, from_json
from ntpverdicts.claims import MARKS, Claim, Verdict, certainty_words
from ntpverdicts.dependencies import Standing, standings
from ntpverdicts.ledger import count_verdicts
from ntpverdicts.maths import plain

Row = Mapping[str, Any]

PUBLISHED = Path(__file__).resolve().parents[1] / "_build" / "html" / "claims.json"
RECORD = resources.files("ntpbook") / "record.json"
HINT = (
    "No verdicts: no book is built here. Build it with `make book`, or name the claims.json of a "
    "built one with --from FILE."
)


@dataclass(frozen=True)
class Published:
    """What a built book says of the claims, or only the catalogue.

    Attributes:
        rows: for every label what is known of the claim; the order is the catalogue's.
        source: the file with the verdicts; None when there is none.
    """

    rows: Mapping[str, Row]
    source: str | None

    @property
    def judged(self) -> bool:
        """Whether there are verdicts."""
        return self.source is not None


def load(file: str | None, default: Path = PUBLISHED, record: Traversable = RECORD) -> Published:
    """The published claims.

    Args:
        file: the file to read; None for that of the book built in this checkout, if there is one.
        default: where that file lies.
        record: what the book said at its last release, where no book is built.

    Raises:
        InputError: the file cannot be read or does not hold what a book publishes; says why.
    """
    if file is None:
        if not default.is_file():
            return _recorded(record)
        file = str(default)
    data = read_json(file, way_out="build the book anew")
    return Published(_rows(data, file), file)


def _recorded(record: Traversable) -> Published:
    """The catalogue, with what the record of the last release says of its claims."""
    rows = {claim.label: _planned(claim) for claim in CATALOGUE}
    if not record.is_file():
        return Published(rows, None)
    kept = json.loads(record.read_text(encoding="utf-8"))
    told = {row["label"]: row for row in kept["claims"]}
    joined = {label: {**row, **told.get(label, {})} for label, row in rows.items()}
    return Published(joined, f"the record of the release of {kept['date']}")


def _planned(claim: Claim) -> Row:
    """What the catalogue alone says of a claim."""
    return {
        "label": claim.label,
        "kind": claim.kind,
        "number": claim.number,
        "title": claim.title,
        "where": claim.where,
        "page": claim.page,
        "uses": list(claim.uses),
        "about": list(claim.about),
    }


def _rows(data: object, file: str) -> dict[str, Row]:
    """The claims of a decoded file, by their labels.

    Raises:
        InputError: something is missing or is not of its kind.
    """
    claims = data.get("claims") if isinstance(data, dict) else None
    if not isinstance(claims, list):
        raise InputError(f'{file}: no list "claims"; this is not the claims.json of a book')
    rows: dict[str, Row] = {}
    for at, row in enumerate(claims):
        fault = _fault(row)
        if fault:
            raise InputError(f"{file}: claim {at + 1} {fault}; build the book anew")
        rows[row["label"]] = row
    for row in rows.values():
        for used in row["uses"]:
            if used not in rows:
                raise InputError(f"{file}: {row['label']} uses {used}, which is not there")
    return rows


def _fault(row: object) -> str:
    """What is wrong with one claim of a file; empty when nothing is."""
    if not isinstance(row, dict):
        return "is no object"
    for key in ("label", "kind", "verdict", "number", "title", "where", "evidence"):
        if not isinstance(row.get(key), str):
            return f'has no text "{key}"'
    if row["verdict"] not in {verdict.value for verdict in Verdict}:
        return f'has the verdict "{row["verdict"]}", which is none'
    for key in ("uses", "about"):
        listed = row.setdefault(key, [])
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            return f'has no list of labels "{key}"'
    return ""


def choose(
    published: Published,
    *,
    paper: str | None = None,
    kind: str | None = None,
    verdict: str | None = None,
    known_by: str | None = None,
    search: str | None = None,
) -> list[Row]:
    """The claims that fit all filters.

    Raises:
        InputError: a filter can fit nothing, or asks for verdicts where there are none.
    """
    rows = list(published.rows.values())
    _known("--paper", paper, tuple(PAPERS))
    _known("--kind", kind, sorted({str(row["kind"]) for row in rows}))
    _known("--verdict", verdict, [one.value for one in Verdict])
    _known("--known-by", known_by, [one.value for one in Kind])
    for option, value in (("--verdict", verdict), ("--known-by", known_by)):
        if value is not None and not published.judged:
            raise InputError(f"{option} {value}: {HINT}")
    words = (search or "").lower().split()
    return [
        row
        for row in rows
        if (paper is None or row["label"].split("-")[0] == paper)
        and (kind is None or row["kind"] == kind)
        and (verdict is None or row.get("verdict") == verdict)
        and (known_by is None or (row.get("certainty") or {}).get("kind") == known_by)
        and all(word in _words(row) for word in words)
    ]


def _known(option: str, value: str | None, choices: Sequence[str]) -> None:
    """Refuse a value that is none of the choices."""
    if value is not None and value not in choices:
        raise InputError(f"{option} {value}: choose one of {', '.join(choices)}")


def _words(row: Row) -> str:
    """Where a search looks; formulas are found as they are typed and as they are shown."""
    keys = ("label", "number", "title", "where", "evidence", "witness", "statement")
    text = " ".join(str(row.get(key) or "") for key in keys)
    return f"{text} {plain(text)}".lower()


def find(published: Published, label: str) -> Row:
    """One claim.

    Raises:
        InputError: there is none of that label; names close ones.
    """
    if label in published.rows:
        return published.rows[label]
    close = get_close_matches(label, published.rows, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(close)}?" if close else "ntpcore claims lists them all"
    raise InputError(f"{label}: no such claim; {hint}")


def standing_of(published: Published, label: str) -> Standing:
    """What a claim rests on; without a book every verdict counts as open.

    Raises:
        InputError: the claims of the file use each other in a circle.
    """
    verdicts = {one: Verdict(row.get("verdict", "open")) for one, row in published.rows.items()}
    try:
        uses = {one: row["uses"] for one, row in published.rows.items()}
        return standings(uses, verdicts)[label]
    except ValueError as error:
        raise InputError(f"{published.source}: {error}") from None


def certainty_in(published: Published, label: str) -> Certainty | None:
    """How a claim is known, as the book said it; None where it says nothing."""
    return from_json(published.rows.get(label, {}).get("certainty"))


def list_json(published: Published, rows: Sequence[Row]) -> dict[str, object]:
    """What `ntpcore claims --json` prints."""
    return {"source": published.source, "claims": list(rows)}


def explain_json(published: Published, row: Row) -> dict[str, object]:
    """What `ntpcore claims LABEL --json` prints."""
    standing = standing_of(published, row["label"])
    return {
        "source": published.source,
        "claim": row,
        "rests_on": list(standing.ground),
        "tainted_by": list(standing.tainted_by) if published.judged else None,
        "used_by": list(standing.used_by),
    }


def show(text: object) -> str:
    """Text as a terminal may safely print it: formulas in letters, control characters escaped."""
    return show_name(plain(str(text)))


def write_list(published: Published, rows: Sequence[Row], write: Write) -> None:
    """Claims for people, one to a line, and how many have which verdict."""
    wide = max((len(row["label"]) for row in rows), default=0)
    states = max((len(_state(row)[0]) for row in rows), default=0)
    for row in rows:
        label, about = show(row["label"]), show(f"{row['number']}: {row['title']}")
        state, role = _state(row)
        mark = f"{state:<{states + 2}}" if published.judged else ""
        write(f"{mark}{label:<{wide}}  {about}", role)
    total = f"{len(rows)} of {len(published.rows)} claims"
    if published.judged and (counts := count_verdicts(rows)):
        total += f": {counts}"
    write(total, "title")
    write(f"Verdicts from {show(published.source)}" if published.judged else HINT, "faint")


def _state(row: Row) -> tuple[str, str]:
    """Mark and verdict of a claim, and the role that colours them."""
    if "verdict" not in row:
        return "", "plain"
    verdict = Verdict(row["verdict"])
    word = "planned" if row.get("planned") else verdict.value + certainty_words(row)
    return f"{MARKS[verdict]} {word}", verdict.value


def write_claim(published: Published, row: Row, write: Write) -> None:
    """One claim for people: what it says, what became of it, what it rests on."""
    write(f"{show(row['label'])}  {show(row['number'])}: {show(row['title'])}", "title")
    edition = f"; {row['edition']}" if row.get("edition") else ""
    write(f"  {show(row['where'])}{show(edition)}", "faint")
    for line in plain(str(row.get("statement") or "")).splitlines():
        write(f"  {show_name(line)}", "plain")
    if not published.judged:
        write(HINT, "faint")
    elif "verdict" not in row:
        write("No verdict: the claim is younger than the last release.", "faint")
    else:
        state, role = _state(row)
        write(state, role)
        for title, text in _details(row):
            write(f"  {title + ':':<13}{show(text)}", "plain")
    _write_relations(published, row, write)


def _details(row: Row) -> Iterable[tuple[str, object]]:
    """What a verdict comes with, each under its title."""
    yield "evidence", row["evidence"]
    if row.get("tried") is not None:
        yield "tried", f"{row['tried']} ({row.get('unit')})"
    for key, title in (("slack", "worst slack"), ("witness", "witness")):
        if row.get(key):
            yield title, row[key]
    if row.get("vacuous_before"):
        yield "vacuous", f"says nothing before {row['vacuous_before']}"
    for reading in row.get("readings") or ():
        yield "read as", f"{reading['text']} ({reading['verdict']})"
    for step in row.get("proof") or ():
        yield "step", f"{step['text']} ({step['how']})"
    for anchor in (row.get("certainty") or {}).get("by_hand", ()):
        yield "by hand", anchor
    for control in row.get("controls") or ():
        yield (
            "control",
            f"{control['planted']} The check answered {control['obtained']}, as it must.",
        )
    if row.get("repeat"):
        yield "repeat", row["repeat"]
    if row.get("page"):
        yield "page", f"pages/{row['page']}.html#verdict-{row['label']}"
    if row.get("source"):
        yield "source", f"{row['source']['file']}:{row['source']['line']}"


def _write_relations(published: Published, row: Row, write: Write) -> None:
    """What a claim rests on and what rests on it, each with its verdict."""
    standing = standing_of(published, row["label"])
    direct = set(row["uses"])
    further = [label for label in standing.ground if label not in direct]
    for title, labels in (
        ("Its proof uses", row["uses"]),
        ("and through these", further),
        ("It speaks about", row["about"]),
        ("Used by", standing.used_by),
    ):
        if not labels:
            continue
        write(f"{title}:", "title")
        states = max(len(_state(published.rows.get(one, {}))[0]) for one in labels)
        for label in labels:
            other = published.rows.get(label, {"label": label, "number": "", "title": "?"})
            state, role = _state(other)
            text = show(f"{other['number']}: {other['title']}")
            write(f"  {state:<{states}} {show(label)}  {text}", role)
    if published.judged and standing.tainted_by:
        bad = ", ".join(standing.tainted_by)
        write(f"Tainted: what it rests on is refuted or open in part ({show(bad)})", "refuted")
    elif published.judged and standing.grounded and standing.ground:
        write("Grounded: all that it rests on is checked", "proved")
