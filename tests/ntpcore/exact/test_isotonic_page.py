"""What docs/isotonic.md shows is what the solver answers."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "isotonic.md"


def test_every_example_of_the_page_gives_what_it_shows() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert (found.failed, found.attempted >= 14) == (0, True)


def test_a_changed_answer_on_the_page_is_noticed(tmp_path: Path) -> None:
    planted = tmp_path / "page.md"
    planted.write_text(PAGE.read_text(encoding="utf-8").replace("'x': '-1/2'", "'x': '-1/3'"))
    assert doctest.testfile(str(planted), module_relative=False, report=False).failed == 1
