"""Proofs on pages, held against the steps of their checks.

Every step by hand has its argument on the page of its claim: an anchor `step-<label>-<at>` inside a
`prf:proof` of that claim, which serves no other step. Every claim that the text of a proof names is
one that its row names. A proof ends before the next statement or cell. What a step cites is in the
bibliography.

`python -m tools.pipeline.proofs PAGE ...` says what is wrong on some pages; no check runs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ntpbook.catalogue import CATALOGUE, find_check
from ntpverdicts import certainty
from ntpverdicts.claims import How, Verdict, anchor_of
from ntpverdicts.vocabulary import Checked

Row = Mapping[str, Any]

BIBLIOGRAPHY = Path("references.bib")
FENCE = re.compile(r"^(:{3,}|`{3,})(?:\{([\w:]+)\})?")
ANCHOR = re.compile(r"^\((step-[\w-]+)\)=\s*$|\{#(step-[\w-]+)\}", re.MULTILINE)
NAMED = re.compile(
    r"\{(?:verdict|prf:ref)\}`(?:[^`<]*<)?([\w-]+)>?`"
    r"|\]\((?:[\w./]*\.md)?#([\w-]+)\)"
)
OTHER = re.compile(r"^\s*(?::{3,}|`{3,})\{(?:prf:\w+|code-cell|statement)\}", re.MULTILINE)
KEY = re.compile(r"^@\w+\{([\w-]+),", re.MULTILINE)


@dataclass(frozen=True)
class Proof:
    """A proof on a page.

    Attributes:
        line: where it begins.
        text: what stands in it.
        closed: whether its end is marked.
    """

    line: int
    text: str
    closed: bool = True

    @property
    def anchors(self) -> list[str]:
        """The anchors of steps in it, as often as they stand there."""
        return [one[1] or one[2] for one in ANCHOR.finditer(self.text)]

    @property
    def names(self) -> set[str]:
        """What its links and roles name."""
        return {one[1] or one[2] for one in NAMED.finditer(self.text)}


def proofs_of(text: str) -> list[Proof]:
    """The proofs on a page, in order."""
    found, lines = [], text.splitlines()
    open_, begin = "", 0
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if open_ and line.strip() == open_:
            found.append(Proof(begin + 1, "\n".join(lines[begin + 1 : number])))
            open_ = ""
        elif fence and fence[2] == "prf:proof" and not open_:
            open_, begin = fence[1], number
    if open_:
        found.append(Proof(begin + 1, "\n".join(lines[begin + 1 :]), closed=False))
    return found


def faults(rows: Mapping[str, Row], root: Path = Path(), pages: Iterable[str] = ()) -> list[str]:
    """What is wrong with the proofs of a book; empty when all is well.

    Args:
        rows: for every label its row, with `page`, `uses`, `about` and `proof`.
        root: folder of the project.
        pages: names of the notebooks that are asked for; none for all.
    """
    chosen = set(pages)
    keys = set(KEY.findall((root / BIBLIOGRAPHY).read_text(encoding="utf-8")))
    wrong = []
    for path in sorted((root / "notebooks").glob("*.md")):
        mine = {label: row for label, row in rows.items() if row["page"] == path.stem}
        if not chosen or path.stem in chosen:
            proofs = proofs_of(path.read_text(encoding="utf-8"))
            wrong += [f"{path.as_posix()}: {one}" for one in _on_page(mine, rows, proofs)]
    for label, row in rows.items():
        if not chosen or row["page"] in chosen:
            wrong += [f"{label}: {one}" for one in _citations(row, keys)]
    return wrong


def _on_page(
    mine: Mapping[str, Row], rows: Mapping[str, Row], proofs: list[Proof]
) -> Iterator[str]:
    """What is wrong with the proofs of one page."""
    wanted = {
        anchor_of(row, step): label
        for label, row in mine.items()
        for step in row.get("proof") or ()
        if step["how"] == How.BY_HAND.value and step["at"]
    }
    there = [anchor for proof in proofs for anchor in proof.anchors]
    for anchor, label in wanted.items():
        if there.count(anchor) != 1:
            times = there.count(anchor)
            yield f"{label}: the anchor {anchor} stands {times} times in a proof, not once"
    for anchor in dict.fromkeys(there):
        if anchor not in wanted:
            yield f"the anchor {anchor} belongs to no step by hand of this page"
    for proof in proofs:
        if not proof.closed or OTHER.search(proof.text):
            yield f"the proof in line {proof.line} does not end before what follows it"
        labels = {wanted[one] for one in proof.anchors if one in wanted}
        if len(labels) > 1:
            both = " and ".join(sorted(labels))
            yield f"the proof in line {proof.line} holds steps of {both}; give each its own proof"
        for label in labels:
            known = {label, *rows[label]["uses"], *rows[label]["about"]}
            for name in sorted(proof.names & set(rows)):
                if name not in known:
                    yield f"the proof of {label} names {name}, which its row does not (uses, about)"


def _citations(row: Row, keys: set[str]) -> Iterator[str]:
    """Steps that cite what the bibliography does not hold."""
    for step in row.get("proof") or ():
        key = step["source"].partition(", ")[0]
        if step["how"] == How.CITED.value and key not in keys:
            yield f"a step cites {key!r}, which {BIBLIOGRAPHY} does not hold"


def declared() -> dict[str, dict[str, Any]]:
    """The claims with the steps of their proofs as their checks declare them; nothing runs."""
    rows = {}
    for claim in CATALOGUE:
        check = find_check(claim.label)
        steps = check.proof if isinstance(check, Checked) else ()
        rows[claim.label] = {
            "label": claim.label,
            "page": claim.page,
            "uses": list(claim.uses),
            "about": list(claim.about),
            "verdict": _expected(check),
            "proof": [
                {"text": one.text, "how": one.how.value, "source": getattr(one, "source", ""),
                 "at": getattr(one, "at", "")}
                for one in steps
            ],
        }  # fmt: skip
    return rows


def _expected(check: object) -> str:
    """What a check says if nothing fails: what it can prove, or that something is well posed."""
    if isinstance(check, Checked) and check.shows:
        return Verdict.WELL_POSED.value
    proved = isinstance(check, Checked) and check.proof
    return Verdict.PROVED.value if proved else Verdict.OPEN.value


def main(pages: list[str]) -> int:
    """Print what is wrong on some pages, or on all."""
    if lost := [page for page in pages if not Path(f"notebooks/{page}.md").is_file()]:
        print("\n".join(f"there is no notebooks/{page}.md" for page in lost))
        return 2
    rows = declared()
    mine = {label for label, row in rows.items() if not pages or row["page"] in pages}
    wrong = faults(rows, pages=pages)
    wrong += [one for one in certainty.faults(rows) if re.split(r"[ :]", one)[0] in mine]
    print("\n".join(wrong) or "every step by hand has its place, every claim in use its name")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
