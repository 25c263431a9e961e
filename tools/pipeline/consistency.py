"""Catalogue, checks, pages and tests, held against each other by their names alone."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from ntpbook.catalogue import CATALOGUE, PAPERS
from ntpverdicts.claims import Claim
from tools.pipeline.source import OURS

OF_CLAIMS = tuple(f"{paper}-" for paper in PAPERS)  # how labels of claims begin
# A number of claims in prose; after a word such as Theorem it is the number of that theorem.
COUNT = re.compile(
    r"(?P<before>\b(?:Theorem|Lemma|Proposition|Corollary|Remark|Figure|Section|Step)s?\s+)?"
    r"\b\d+\s+(?:of\s+\d+\s+)?(?:claims|statements|proved|refuted|machine-checked|computed|cited|"
    r"steps?\s+by\s+hand|are\s+(?:proved|refuted|open|seen))\b"
)
PROSE = ("README.md", "CONTRIBUTING.md", "book/*.md", "notebooks/*.md", "docs/letter_*.md")
STATEMENT = re.compile(r"^(?::label: +([\w-]+)|\(([\w-]+)\)=)\s*$", re.MULTILINE)


def mismatches(catalogue: Sequence[Claim], root: Path = Path()) -> list[str]:
    """Where claims, check functions, statements on pages and tests are not one to one.

    Args:
        catalogue: all claims.
        root: folder of the project.
    """
    checked = [claim for claim in catalogue if claim.page is not None]
    files = (file for name in OURS for file in (root / name).rglob("*.py"))
    begins = tuple("check_" + one.replace("-", "_") for one in OF_CLAIMS)
    functions = names_of_functions(files, begins)
    known = {claim.function for claim in checked}
    wrong = [
        f"{claim.label}: {functions[claim.function]} functions {claim.function}, not one"
        for claim in checked
        if functions[claim.function] != 1
    ]
    wrong += [f"{name} checks no claim of the catalogue" for name in functions if name not in known]
    pages = {claim.page for claim in checked if claim.page is not None}
    wrong += [
        f"there is no notebooks/{page}.md, which ntpbook/catalogue.py names"
        for page in sorted(pages)
        if not (root / f"notebooks/{page}.md").is_file()
    ]
    for path in sorted((root / "notebooks").glob("*.md")):
        wrong += wrong_statements(checked, path.stem, path.read_text(encoding="utf-8"))
    wrong += [
        f"{path.relative_to(root).as_posix()}: {line}"
        for pattern in PROSE
        for path in sorted(root.glob(pattern))
        for line in typed_counts(path.read_text(encoding="utf-8"))
    ]
    labels = [claim.label for claim in checked]
    names = names_of_functions((root / "tests").rglob("test_*.py"), "test_")
    tested = {label_of_test(name, labels) for name in names}
    return wrong + [
        f"{label}: no test bears its name (test_{label.replace('-', '_')}_...)"
        for label in labels
        if label not in tested
    ]


def wrong_statements(checked: Iterable[Claim], page: str, text: str) -> list[str]:
    """Claims that a page states too often or not at all, and labels that are no claim's."""
    stated = statement_labels(text)
    mine = {claim.label for claim in checked if claim.page == page}
    wrong = [
        f"page {page} states {label} {stated[label]} times, not once"
        for label in sorted(mine)
        if stated[label] != 1
    ]
    return wrong + [
        f"page {page} states {label}, which the catalogue does not place there"
        for label in stated
        if label.startswith(OF_CLAIMS) and label not in mine
    ]


def typed_counts(text: str) -> list[str]:
    """Numbers of claims that are typed in prose, where the build counts them (the role `tally`)."""
    return [
        f"the count {' '.join(found[0].split())!r} is typed; write it with the role tally"
        for found in COUNT.finditer(text)
        if not found["before"]
    ]


def statement_labels(text: str) -> Counter[str]:
    """Labels on a page, as often as they occur."""
    return Counter(match[1] or match[2] for match in STATEMENT.finditer(text))


def names_of_functions(paths: Iterable[Path], prefix: str | tuple[str, ...]) -> Counter[str]:
    """Top-level functions of some modules whose names begin so."""
    return Counter(
        node.name
        for path in paths
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith(prefix)
    )


def label_of_test(name: str, labels: Iterable[str]) -> str | None:
    """The claim that a test is named for: the longest label that its name goes on from."""
    fitting = [label for label in labels if name.startswith(f"test_{label.replace('-', '_')}_")]
    return max(fitting, key=len, default=None)


def main() -> int:
    """Print what does not match in the whole book; nothing is run."""
    wrong = mismatches(CATALOGUE)
    print("\n".join(wrong) or "claims, checks, statements on pages, and tests match")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
