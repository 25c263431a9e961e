"""The list of numbers that rest on random runs, on a tiny book."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tiny_book import ROOT, build, make_tiny_book

from ntpverdicts.ledger import drawn_with

LISTED = re.compile(r'<details class="ntp-more"><summary>The numbers.*?</details>', re.DOTALL)
# The first check draws its instances and the second does not; both find rounded and exact numbers.
CHANGES = (
    ("ntpbook/tiny.py", "Check, Control,", "Check, Control, Result,"),
    (
        "ntpbook/tiny.py",
        'numbers={"sum": "7/6"}',
        'numbers={"sum": "7/6", "mean": Result(2.5e-7, 2, "rounding"), "unsaid": Result(9)}',
    ),
    (
        "ntpbook/tiny.py",
        'witness="2 < 3",',
        'witness="2 < 3", numbers={"half": Result(0.51, 2, "rounding"), "five": Result(5)},',
    ),
    ("notebooks/second.md", "`ours-one:sum`", "`ours-two:half`, {result}`ours-two:five`"),
    ("notebooks/first.md", "`ours-one:sum`", "`ours-one:sum`, {result}`ours-one:mean`"),
    ("notebooks/first.md", "with the number", "{result}`ours-one:sum`, with the number"),
    ("book/claims.md", "(legend)=", "## By chance\n\n```{random-numbers}\n```\n\n(legend)="),
)


def change(folder: Path, *changes: tuple[str, str, str]) -> None:
    """Change files of a book in one place each, which must be there."""
    for file, old, new in changes:
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")


def listed(folder: Path) -> str:
    """The list as the built page has it, without formulas' marks; the page itself without one."""
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    html = (folder / "_build/html/book/claims.html").read_text(encoding="utf-8")
    found = LISTED.search(html)
    return re.sub(r"</?(?:span|math|m\w+)\b[^>]*>", "", found[0] if found else html)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny book with a list."""
    folder = make_tiny_book(tmp_path_factory.mktemp("tiny") / "book")
    change(folder, *CHANGES)
    return folder


EXPECTED = (
    '<details class="ntp-more"><summary>The numbers, page by page</summary><ul>'
    '<li><a href="../pages/first.html">The first page</a><ul>'
    '<li><a href="../pages/first.html#verdict-ours-one">Theorem (ours)</a> (one is one), seed 0: '
    "2.5⋅10−7; exact: 7/6</li></ul></li></ul></details>"
)


def test_numbers_of_drawn_instances_are_listed_once_and_no_others(tiny: Path) -> None:
    assert listed(tiny) == EXPECTED


def test_a_list_of_all_numbers_is_noticed(tiny: Path, tmp_path: Path) -> None:
    planted = shutil.copytree(tiny, tmp_path / "copy", symlinks=True)
    drawn = "if (drawn := drawn_with(row))"
    change(planted, ("book/_ext/booknumbers.py", drawn, 'if (drawn := drawn_with(row) or "none")'))
    assert listed(planted) != EXPECTED


def test_a_check_that_hides_its_seed_is_missed(tiny: Path, tmp_path: Path) -> None:
    planted = shutil.copytree(tiny, tmp_path / "copy", symlinks=True)
    change(planted, ("ntpbook/tiny.py", 'parameters={"seed": seed},\n', "\n"))
    assert "No number of this book rests on random runs." in listed(planted)


@pytest.mark.parametrize(
    ("row", "seeds"),
    [
        ({}, ""),
        ({"parameters": {"steps": 7}, "numbers": {"one": "7/6"}}, ""),
        ({"parameters": {"sets": 10, "seed": 7}}, "seed 7"),
        ({"parameters": {"seeds_small": 20}}, "20 seeds"),
        ({"numbers": {"miss": {"origin": "the spread of the seeds"}}}, "several seeds"),
        ({"numbers": {"miss": {"origin": "rounding"}}}, ""),
    ],
)
def test_seeds_are_found_in_parameters_and_origins(row: dict[str, object], seeds: str) -> None:
    assert drawn_with(row) == seeds


def test_a_search_for_random_runs_finds_one_heading() -> None:
    pages = [*(ROOT / "book").glob("*.md"), *(ROOT / "notebooks").glob("*.md")]
    found = [
        (page.name, line)
        for page in pages
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("#") and "random runs" in line.lower()
    ]
    assert found == [("claims.md", "## Numbers that rest on random runs")]
