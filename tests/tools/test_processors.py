"""Claims are judged a second time with the parameters of the book, page by page."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ntpbook.catalogue import CATALOGUE, find_check
from ntpverdicts.document import FILE
from tools.pipeline import processors
from tools.pipeline.record import differences, is_drawn

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


def test_long_checks_are_those_of_the_book_and_the_others_are_judged(
    rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {claim.label for claim in CATALOGUE} >= processors.LONG
    monkeypatch.setattr(processors, "LONG", frozenset({"tian2023-rem-4"}))
    given = [row | {"vacuous_before": row["vacuous"]} for row in rows]
    wrong = [row | {"evidence": "another one"} for row in given]
    told = {one.label: one.data for one in processors.judge_short(wrong)}
    right = {one.label: one.data for one in processors.judge_again(given)}
    assert told.pop("tian2023-rem-4") == right.pop("tian2023-rem-4") | {"evidence": "another one"}
    assert told == right
    with pytest.raises(ValueError, match=r"does not have: \['tian2023-rem-4'\]"):
        processors.judge_short([row for row in given if row["label"] != "tian2023-rem-4"])


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the variables are of this kind")
def test_an_older_processor_finds_what_the_book_says_and_an_error_in_it(
    book: Path, tmp_path: Path
) -> None:
    told = json.loads((book / FILE).read_text(encoding="utf-8"))
    fixed = (row for row in told["claims"] if row["page"] and not is_drawn(row))
    wrong = next(row for row in fixed if row["label"] not in processors.LONG)
    wrong["tried"] += 1
    (tmp_path / FILE).write_text(json.dumps(told), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tools.pipeline.processors", str(tmp_path / FILE)],
        cwd=processors.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in done.stdout.splitlines() if not line.startswith("  ")]
    expected = f"{wrong['label']}: tried: {wrong['tried']}, and {wrong['tried'] - 1}"
    assert (done.returncode, said) == (1, [expected]), done.stdout + done.stderr


def test_a_page_is_judged_as_one_and_rows_without_a_page_are_not() -> None:
    def parts() -> Iterator[dict[str, Any]]:
        for label, page in [("a", "one"), ("b", None), ("c", "two"), ("d", "one")]:
            yield {"label": label, "page": page}

    pages = [[row["label"] for row in page] for page in processors.by_page(list(parts()))]
    assert pages == [["a", "d"], ["c"]]
