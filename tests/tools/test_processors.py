"""Claims are judged a second time with the parameters of the book, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

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
