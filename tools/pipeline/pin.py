"""`make pin`: write down the published verdicts, so that none of them changes unnoticed.

`tests/verdicts.toml` holds for every treated claim the verdicts that it has had, the last one being
the current. A test holds it against the built book, and the changelog against its changes.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ntpverdicts.document import without_data

PUBLISHED = Path("_build/html/claims.json")
PINS = Path("tests/verdicts.toml")
HEAD = """\
# The verdicts of the book, written by `make pin`: for every treated claim those that it has had, in
# order. A claim with more than one has changed its verdict, and each change is a line of
# CHANGELOG.md such as "`label`: not contradicted → refuted", with the reason.
"""

Pins = dict[str, list[str]]


@dataclass(frozen=True)
class Change:
    """How a published verdict differs from the pinned one.

    Attributes:
        label: label of the claim.
        old: the pinned verdict; None for a claim that was not pinned.
        new: the published verdict; None for a claim that is published no more.
    """

    label: str
    old: str | None
    new: str | None

    @property
    def line(self) -> str:
        """The change as the changelog names it."""
        if self.old is None:
            return f"`{self.label}`: {self.new} (new)"
        return f"`{self.label}`: {self.old} → {self.new or 'no longer treated'}"


def published_verdicts(document: Mapping[str, Sequence[Mapping[str, str]]]) -> dict[str, str]:
    """The verdict of every treated claim of a claims.json, in its order."""
    return {row["label"]: row["verdict"] for row in document["claims"] if not row["planned"]}


def changes(
    pins: Pins, published: Mapping[str, str], aside: frozenset[str] = frozenset()
) -> list[Change]:
    """Where published verdicts are not the pinned ones, claims put aside left out."""
    found = [
        Change(label, pins[label][-1] if label in pins else None, verdict)
        for label, verdict in published.items()
        if label not in aside and (label not in pins or pins[label][-1] != verdict)
    ]
    return found + [
        Change(label, history[-1], None)
        for label, history in pins.items()
        if label not in published
    ]


def updated(pins: Pins, published: Mapping[str, str], aside: frozenset[str] = frozenset()) -> Pins:
    """The pins with the published verdicts added where they are others; those put aside stay."""
    return {
        label: history if label in aside or history[-1:] == [verdict] else [*history, verdict]
        for label, verdict in published.items()
        for history in [pins.get(label, [])]
        if label not in aside or history
    }


def to_text(pins: Pins) -> str:
    """The pins as a file."""
    lines = [f"{label} = {json.dumps(history)}" for label, history in pins.items()]
    return "\n".join([HEAD, *lines]) + "\n"


def from_text(text: str) -> Pins:
    """The pins of a file."""
    return {label: list(history) for label, history in tomllib.loads(text).items()}


def main() -> int:
    """Rewrite the pins from the built book, and say what goes into the changelog."""
    if not PUBLISHED.is_file():
        print(f"error: there is no {PUBLISHED}; run `make book` first", file=sys.stderr)
        return 1
    document = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    published, aside = published_verdicts(document), without_data(document)
    pins = from_text(PINS.read_text(encoding="utf-8")) if PINS.is_file() else {}
    found = changes(pins, published, aside)
    PINS.write_text(to_text(updated(pins, published, aside)), encoding="utf-8")
    if not found:
        print(f"{PINS}: all {len(published)} verdicts are as they were")
        return 0
    print(f"{PINS} is written. For the section Verdicts of CHANGELOG.md, each with its reason:")
    for change in found:
        print(f"- {change.line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
