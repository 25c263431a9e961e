"""Figures call what a paper says "stated", as the text does."""

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from tiny_book import ROOT

PRINTED = re.compile(r"\bprint(?:ed|s)\b", re.IGNORECASE)
DRAWN = ("ntpbook/**/figures.py", "ntpbook/**/moving.py", "ntpcli/report/figures.py")


def words(code: str) -> Iterator[str]:
    """The strings of a module of figures that are no docstrings."""
    tree = ast.parse(code)
    texts = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {ast.get_docstring(node, clean=False) for node in ast.walk(tree)
                  if isinstance(node, texts)}  # fmt: skip
    strings = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return (one for one in strings if isinstance(one, str) and one not in docstrings)


def test_no_label_or_legend_calls_what_a_paper_states_printed() -> None:
    files = [file for pattern in DRAWN for file in sorted(ROOT.glob(pattern))]
    assert len(files) > 20
    wrong = {
        file.relative_to(ROOT).as_posix(): found
        for file in files
        if (found := [one for one in words(file.read_text("utf-8")) if PRINTED.search(one)])
    }
    assert wrong == {}


def test_a_label_that_says_printed_is_noticed_and_a_docstring_is_not() -> None:
    code = 'def draw(axes):\n    """As printed."""\n    axes.set(label="(14), printed")\n'
    assert [one for one in words(code) if PRINTED.search(one)] == ["(14), printed"]


def test_no_caption_or_alternative_text_calls_what_a_paper_states_printed() -> None:
    pages = sorted((ROOT / "notebooks").glob("*.md"))
    assert pages
    assert {one.name: found for one in pages if (found := said_in_captions(one))} == {}


def said_in_captions(page: Path) -> list[str]:
    """Lines of the settings of cells, captions among them, that say so."""
    inside, found = False, []
    for before, line in itertools.pairwise(page.read_text("utf-8").splitlines()):
        begins = before.startswith("```{code-cell}") and line == "---"
        inside = begins or (inside and line != "---")
        if inside and PRINTED.search(line):
            found.append(line)
    return found


def test_a_caption_that_says_printed_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = "```{code-cell}\n---\nmystnb:\n  caption: The bound as printed.\n---\nprinted = 1\n```\n"
    page.write_text(text, encoding="utf-8")
    assert said_in_captions(page) == ["  caption: The bound as printed."]
