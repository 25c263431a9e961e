"""Lengths that the start page promises, measured in a real browser on a screen of 1280 x 800."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
SCREEN = {"width": 1280, "height": 800}
STORIES = sorted(
    path.stem
    for path in (ROOT / "notebooks").glob("*.md")
    if "\n## Evidence\n" in path.read_text(encoding="utf-8")
)
NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMBERS += ["eleven", "twelve", "thirteen", "fourteen"]
# From the title to the heading Evidence, or to the end of a page without one.
LENGTH = """() => {
  const article = document.querySelector('article.bd-article');
  const end = [...article.querySelectorAll('h2')].find(e => e.firstChild.data === 'Evidence');
  const last = end ? end.getBoundingClientRect().top : article.getBoundingClientRect().bottom;
  return last - article.querySelector('h1').getBoundingClientRect().top;
}"""
# How many lines the text of every result has; badges of one line do not count.
LINES = """() => [...document.querySelectorAll('#what-we-found tbody tr')].map(row => {
  const tops = [...row.querySelectorAll('a')].flatMap(e => [...e.getClientRects()])
    .map(box => (box.top + box.bottom) / 2);
  return Math.max(...tops) - Math.min(...tops) < 6 ? 1 : 2;
})"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """A window of the size that the book means by a screen."""
    context = browser.new_context(viewport=SCREEN)
    yield context.new_page()
    context.close()


def screens(page: Page, address: str) -> float:
    """How many screens a page has, with its folds closed."""
    page.goto(address, wait_until="load")
    page.evaluate("document.fonts.ready")
    return float(page.evaluate(LENGTH)) / SCREEN["height"]


def said(page: Page, address: str, pattern: str) -> int:
    """The number that the start page says in words."""
    page.goto(f"{address}book/preface.html")
    found = re.search(pattern, " ".join(page.inner_text("article").split()))
    assert found, f"the start page says nothing like {pattern}"
    return NUMBERS.index(found[1].lower())


@pytest.mark.parametrize("name", STORIES)
def test_a_story_is_no_longer_than_the_start_page_promises(
    page: Page, book_address: str, name: str
) -> None:
    most = said(page, book_address, r"chapters of at most (\w+) screens")
    assert 1 < screens(page, f"{book_address}pages/{name}.html") <= most


def test_the_page_for_those_who_train_is_as_long_as_the_start_page_says(
    page: Page, book_address: str
) -> None:
    whole = said(page, book_address, r"on (\w+) screens")
    assert whole - 1 < screens(page, f"{book_address}book/if_you_train.html") <= whole


def test_the_start_page_counts_the_chapters_of_the_path(page: Page, book_address: str) -> None:
    path = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"][0]
    chapters = [one["file"] for one in path["chapters"] if one["file"].startswith("pages/")]
    assert path["caption"] == "Start here"
    assert said(page, book_address, r"(\w+) chapters of at most") == len(chapters)


def test_every_result_on_the_start_page_is_one_line(page: Page, book_address: str) -> None:
    page.goto(f"{book_address}book/preface.html")
    assert page.evaluate(LINES) == [1] * 6


def test_a_story_that_grows_is_noticed(page: Page, book_address: str) -> None:
    address = f"{book_address}pages/{STORIES[0]}.html"
    before = screens(page, address)
    page.evaluate(
        "html => document.querySelector('article h1').insertAdjacentHTML('afterend', html)",
        '<div style="height: 1600px"></div>',
    )
    assert page.evaluate(LENGTH) / SCREEN["height"] == pytest.approx(before + 2, abs=0.1)
