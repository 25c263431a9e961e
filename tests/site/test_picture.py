"""The picture in the README shows a page of the book as it is."""

from __future__ import annotations

import json
from pathlib import Path

from tiny_book import ROOT

from tools.site import picture


def test_headings_come_without_the_signs_of_their_links() -> None:
    html = '<article><h1>A <em>b</em><a class="headerlink">#</a></h1><h2>C</h2><h3>d</h3></article>'
    assert picture.headings(html) == ["A b", "C"]


def test_the_picture_of_the_readme_shows_a_page_that_exists(book: Path) -> None:
    taken = json.loads((ROOT / picture.HEADINGS).read_text(encoding="utf-8"))
    page = (book / taken["page"]).read_text(encoding="utf-8")
    assert taken["headings"] == picture.headings(page), "take it anew: make picture"
    assert picture.PICTURE.as_posix() in (ROOT / "README.md").read_text(encoding="utf-8")
