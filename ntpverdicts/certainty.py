"""How a statement is known, derived from the steps of its proof and never chosen by hand.

A proved statement is *machine-checked* when a proof assistant read all of it. Otherwise its steps
decide, together with those of every claim that it uses: *by hand (n)* when n of them are arguments
written on a page, *cited* when there are none of these but a theorem of somebody else, *computed*
when all of them ran. A step by hand is counted once, however often it is used, and not at all where
a proof assistant read it. A refutation is known by its witness: machine-checked, exact, enclosed or
in floating point, or by hand (n) where its argument has such steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ntpverdicts.claims import How, Verdict, anchor_of

Row = Mapping[str, Any]

# What a proof may rest on: what is proved, and definitions and assumptions that are well posed.
FIRM = frozenset({Verdict.PROVED.value, Verdict.WELL_POSED.value})
JUDGED = frozenset({Verdict.PROVED.value, Verdict.REFUTED.value})


class Kind(Enum):
    """How a proof or a refutation is known."""

    MACHINE_CHECKED = "machine-checked"
    COMPUTED = "computed"
    CITED = "cited"
    BY_HAND = "by hand"
    EXACT = "exact witness"
    ENCLOSED = "enclosed witness"
    FLOATING_POINT = "floating-point witness"


WITNESSES = {
    "exact": Kind.EXACT,
    "enclosed": Kind.ENCLOSED,
    "floating point": Kind.FLOATING_POINT,
}


@dataclass(frozen=True)
class Certainty:
    """How one statement is known.

    Attributes:
        kind: the kind of proof or of witness.
        by_hand: anchors of all arguments by hand on which it rests, each once, its own first.
        cited: the theorems of others on which it rests, each once.
    """

    kind: Kind
    by_hand: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What a badge says."""
        if self.kind is Kind.BY_HAND:
            return f"{self.kind.value} ({len(self.by_hand)})"
        return str(self.kind.value)

    def to_json(self) -> dict[str, object]:
        """The certainty as plain data."""
        return {
            "kind": self.kind.value,
            "words": self.words,
            "by_hand": list(self.by_hand),
            "cited": list(self.cited),
        }


def from_json(data: Mapping[str, Any] | None) -> Certainty | None:
    """What `Certainty.to_json` gave."""
    if data is None:
        return None
    return Certainty(Kind(data["kind"]), tuple(data["by_hand"]), tuple(data["cited"]))


def certainties(rows: Mapping[str, Row]) -> dict[str, Certainty | None]:
    """How each claim of a ledger is known; None for what is neither proved nor refuted.

    Args:
        rows: for every label its row: `verdict`, `proof`, `witness_kind`, and from a proof
            assistant `machine` (it read the whole statement) and `machine_steps` (anchors of the
            steps that it read).

    Raises:
        ValueError: claims use each other in a circle.
    """
    found: dict[str, Certainty | None] = {}
    for label in rows:
        _add(label, rows, found, ())
    return {label: found[label] for label in rows}


def with_certainty(rows: Mapping[str, Row]) -> dict[str, dict[str, Any]]:
    """The rows of a ledger with their certainty, as plain data, under `certainty`.

    Where the check of a claim below did not run, as in a page that is built alone, the steps by
    hand are not all known. Such a row gets no certainty, and its badge names what it uses.
    """
    known = certainties(rows)
    found = {}
    for label, row in rows.items():
        one = known[label]
        whole = all("tried" in rows.get(other, {}) for other in _below(label, rows))
        found[label] = {**row, "certainty": one.to_json() if one else None} if whole else {**row}
    return found


def _below(label: str, rows: Mapping[str, Row]) -> set[str]:
    """All claims that a proof uses, directly or through others."""
    seen: set[str] = set()
    todo = used_in(rows[label])
    while todo:
        other = todo.pop()
        if other not in seen:
            seen.add(other)
            todo += used_in(rows[other]) if other in rows else []
    return seen


def _add(
    label: str, rows: Mapping[str, Row], found: dict[str, Certainty | None], above: tuple[str, ...]
) -> None:
    """Find the certainty of a claim after that of the claims it uses."""
    if label in found:
        return
    if label in above:
        raise ValueError(f"claims use each other in a circle: {' uses '.join((*above, label))}")
    row = rows[label]
    for used in used_in(row):
        if used in rows:
            _add(used, rows, found, (*above, label))
    found[label] = certainty_of(row, found)


def certainty_of(row: Row, found: Mapping[str, Certainty | None]) -> Certainty | None:
    """The certainty of one claim.

    Args:
        row: its row, as `certainties` takes it.
        found: the certainty of the claims that it uses, by label.
    """
    if row["verdict"] not in JUDGED:
        return None
    if row.get("machine"):
        return Certainty(Kind.MACHINE_CHECKED)
    read = set(row.get("machine_steps") or ())
    by_hand: dict[str, None] = {}
    cited: dict[str, None] = {}
    for step in row.get("proof") or ():
        if step["how"] == How.BY_HAND.value and step["at"] not in read:
            by_hand[anchor_of(row, step)] = None
        elif step["how"] == How.CITED.value:
            cited[step["source"]] = None
    for used in used_in(row):
        below = found.get(used)
        by_hand |= dict.fromkeys(below.by_hand if below else ())
        cited |= dict.fromkeys(below.cited if below else ())
    if by_hand:
        kind = Kind.BY_HAND
    elif row["verdict"] == Verdict.REFUTED.value:
        kind = WITNESSES[row.get("witness_kind") or "floating point"]
    else:
        kind = Kind.CITED if cited else Kind.COMPUTED
    return Certainty(kind, tuple(by_hand), tuple(cited))


def used_in(row: Row) -> list[str]:
    """The labels of the claims that the steps of a proof use, each once."""
    steps = row.get("proof") or ()
    return list(dict.fromkeys(s["source"] for s in steps if s["how"] == How.USES.value))


def faults(rows: Mapping[str, Row]) -> list[str]:
    """What makes the certainty of some claims doubtful; a book with any is not built.

    A proof rests on proved claims, definitions and assumptions only. The claims that its steps use
    are those that its row of the catalogue names.
    """
    wrong = []
    for label, row in rows.items():
        used = used_in(row)
        if not row.get("proof"):
            continue
        for other in dict.fromkeys((*used, *row["uses"])):
            verdict = rows[other]["verdict"] if other in rows else "no claim"
            if row["verdict"] in JUDGED and other in used and verdict not in FIRM:
                wrong.append(
                    f"{label} is {row['verdict']} and rests on {other}, which is {verdict}"
                )
            if other not in used:
                wrong.append(
                    f"{label} names {other} under `uses`, and no step of its proof uses it"
                )
            if other not in row["uses"]:
                wrong.append(f"{label}: a step uses {other}, which its row does not name in `uses`")
        wrong += _misplaced(row)
    return wrong


def _misplaced(row: Row) -> Iterable[str]:
    """Steps by hand whose argument has no place, or shares it."""
    seen = set()
    for step in row["proof"]:
        if step["how"] != How.BY_HAND.value:
            continue
        if not step["at"]:
            yield f"{row['label']}: the step by hand {step['text']!r} has no place on the page"
        elif step["at"] in seen:
            yield f"{row['label']}: two steps by hand are placed at {step['at']!r}"
        seen.add(step["at"])
