"""Prose of pages: statements as plain text, and no number that somebody typed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tiny_book import ROOT

from tools.site.page_text import plain, statements, typed_numbers

PAGES = {
    str(path.relative_to(ROOT)): path
    for folder in ("book", "notebooks")
    for path in sorted((ROOT / folder).glob("*.md"))
}
LISTED = ROOT / "tests/typed_numbers.toml"

STATEMENT = r"""# Page

::::{prf:theorem} 1 in a paper
:label: paper-thm-1
:nonumber:

For *every* $x_*$ and {prf:ref}`Lemma 2 <paper-lem-2>`, see [there](x.md),

$$
x^* = {\|x\|^*}
$$
and **that** is
*all of
it*.
::::

:::{prf:proof}
No statement.
:::
"""


def test_a_statement_is_read_as_plain_text_with_its_formulas_untouched() -> None:
    assert statements(STATEMENT) == {
        "paper-thm-1": "For every $x_*$ and Lemma 2, see there,\n"
        r"$$ x^* = {\|x\|^*} $$ and that is all of it."
    }


def test_roles_without_text_show_what_they_name() -> None:
    assert plain("{math}`x*y*z` by {cite:t}`huang2024`") == "$x*y*z$ by huang2024"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is 0.25, or −1.5e-3, or 40.5%.", ["0.25", "−1.5e-3", "40.5%"]),
        ("About 2e5 steps, 10⁻⁵ or 10^6.", ["2e5", "10⁻⁵", "10^6"]),
        ("Half a page: 12 of 40, 7/6 and 2024.", []),
        ("See Section 4.1, Sections 3.1 and 4.2, Appendix C.1, Python 3.11.", []),
        ("$0.5$ and\n$$\n1.5\n$$\nand `2.5` and {result}`a:b` and [x](a-1.5.md).", []),
        ("\\begin{equation*}\n1.5\n\\end{equation*}", []),
        ("```\n0.5\n```\n\n```{code-cell}\nx = 1.5\n```\n", []),
        ("% 1.5\n<!-- 2.5 -->", []),
        ("[0.5](x.md) and {verdict}`a` 1.25", ["0.5", "1.25"]),
        ("---\nformat: 0.13\n---\nText", []),
        ("~~~{note}\n0.5\n~~~", []),
    ],
)
def test_numbers_in_prose_are_told_from_all_others(text: str, found: list[str]) -> None:
    assert [one.number for one in typed_numbers(text)] == found


def test_captions_and_alternative_texts_are_prose() -> None:
    text = (
        "```{code-cell}\n---\nmystnb:\n  figure: {name: f, caption: At 0.5.}\n"
        "  image:\n    alt: >-\n      Near 1.5 and {result}`a:b`.\n---\nx = 2.5\n```\n"
    )
    assert [one.number for one in typed_numbers(text)] == ["0.5", "1.5"]


def listed_numbers() -> dict[tuple[str, str], str]:
    """For every page and number that may be typed there, where the number comes from."""
    rows = tomllib.loads(LISTED.read_text(encoding="utf-8")).get("typed", [])
    return {(row["page"], row["number"]): row["source"] for row in rows}


def number_faults(typed: set[tuple[str, str]], listed: dict[tuple[str, str], str]) -> list[str]:
    """Typed numbers that are not listed, listed ones that are not typed, and missing sources."""
    wrong = [
        f"{page}: {number} is typed; quote it with the role result, or list it with its source"
        for page, number in sorted(typed - set(listed))
    ]
    wrong += [
        f"{page}: {number} is listed and not typed" for page, number in sorted(set(listed) - typed)
    ]
    return wrong + [f"{page}: {number} has no source" for (page, number), s in listed.items()
                    if not re.search(r"\w{3}", s)]  # fmt: skip


def test_no_number_in_prose_is_typed_unless_it_is_listed_with_its_source() -> None:
    typed = {
        (name, one.number)
        for name, path in PAGES.items()
        for one in typed_numbers(path.read_text(encoding="utf-8"))
    }
    assert number_faults(typed, listed_numbers()) == []


def test_typed_unused_and_unsourced_numbers_are_noticed(tmp_path: Path) -> None:
    page = PAGES["book/preface.md"].read_text(encoding="utf-8")
    assert typed_numbers(page + "\nIt was 0.125.\n")[-1].number == "0.125"
    typed = {("a.md", "0.5")}
    assert "a.md: 0.5 is typed" in number_faults(typed, {})[0]
    assert number_faults(typed, {("a.md", "0.5"): "huang2024, Section 7"}) == []
    assert number_faults(typed, {("a.md", "0.5"): " "}) == ["a.md: 0.5 has no source"]
    assert "listed and not typed" in number_faults(set(), {("a.md", "0.5"): "paper"})[0]
