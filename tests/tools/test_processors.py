"""Claims are judged a second time with the parameters of the book, page by page."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_book import ROOT

from ntpbook.catalogue import find_check
from tools.pipeline import processors
from tools.pipeline.record import differences

PAGES = {
    "huang2024-eq-1": "first",
    "tian2023-rem-4": "second",
    "huang2024-app-one-token": "first",
}


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    """Rows as a book has them."""
    given = {"seed": 5, "trials": 4}
    found = []
    for label, page in PAGES.items():
        check = find_check(label)
        used = {name: value for name, value in given.items() if name in check.defaults}
        data = check(**used).to_json()
        found.append(data | {"page": page, "certainty": None, "machine_steps": []})
    return found


def document(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"claims": [row | {"vacuous_before": row["vacuous"]} for row in rows]}


def again(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The document of a second judgment of these rows."""
    found = processors.judge_again(rows)
    assert [one.page for one in found] == [row["page"] for row in rows]
    return document([dict(one.data) | {"certainty": None, "machine_steps": []} for one in found])


def test_the_second_judgment_says_what_the_first_said(rows: list[dict[str, Any]]) -> None:
    assert differences(document(rows), again(rows)) == []


def test_another_verdict_or_count_in_the_book_is_noticed(rows: list[dict[str, Any]]) -> None:
    wrong = [dict(row) for row in rows]
    wrong[0]["verdict"] = "refuted"
    wrong[1]["tried"] += 1
    found = differences(document(wrong), again(wrong))
    assert [line.split(":")[0] for line in found] == [wrong[0]["label"], wrong[1]["label"]]


def test_a_page_is_judged_as_one_and_rows_without_a_page_are_not() -> None:
    def parts() -> Iterator[dict[str, Any]]:
        for label, page in [("a", "one"), ("b", None), ("c", "two"), ("d", "one")]:
            yield {"label": label, "page": page}

    pages = [[row["label"] for row in page] for page in processors.by_page(list(parts()))]
    assert pages == [["a", "d"], ["c"]]


def test_the_program_compares_with_the_claims_of_a_book(book: Path, tmp_path: Path) -> None:
    """A book of which two claims are judged again, one of them changed."""
    document = json.loads((book / "claims.json").read_text(encoding="utf-8"))
    judged = {"huang2024-eq-1": False, "tian2023-rem-4": True}
    for row in document["claims"]:
        if row["label"] not in judged:
            row["page"] = None
        elif judged[row["label"]]:
            row["evidence"] = "Something else."
    (tmp_path / "claims.json").write_text(json.dumps(document), encoding="utf-8")
    done = program(tmp_path / "claims.json")
    said = done.stdout.splitlines()
    assert done.returncode == 1, done.stderr
    assert any(line.startswith("tian2023-rem-4: evidence: 'Something else.'") for line in said)
    assert not any(line.startswith("huang2024-eq-1: ") for line in said)


def test_the_program_says_that_there_is_no_book(tmp_path: Path) -> None:
    done = program(tmp_path / "lost.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"error: there is no {tmp_path}/lost.json; run `make book` first" in done.stderr


def program(claims: Path) -> subprocess.CompletedProcess[str]:
    """`python -m tools.pipeline.processors` with the claims of a book."""
    command = [sys.executable, "-m", processors.__name__, str(claims)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=3000
    )
