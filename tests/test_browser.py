"""Every page in a real browser, and one page that does everything wrong, to be caught."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import NO_BROWSER, Seen, find_browser, launch, serve, visit
from playwright.sync_api import Browser, sync_playwright

from tools.html import toc_pages

PAGES = [*toc_pages(Path(__file__).parent.parent / "_toc.yml"), "search", "genindex"]
# The theme's own search page repeats this one.
KNOWN_TWINS = {"search": {"search-input"}}

WRONG = """<!doctype html>
<html lang="en"><head><title>Wrong</title>
<style>body { background: #fff; color: #000; }</style></head>
<body><article>
<p id="twin">One.</p><p id="twin" style="color: #ccc">Hardly readable.</p>
<span class="math">x</span>
<mjx-merror>error</mjx-merror>
<img src="missing.png" alt=""><img src="http://elsewhere.invalid/picture.png" alt="">
<div style="width: 900px; height: 1px"></div>
</article><script>console.error("wrong"); throw new Error("worse");</script></body></html>
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A running browser, or a loud skip."""
    executable = find_browser()
    if executable is None:
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        running = launch(playwright, executable)
        yield running
        running.close()


@pytest.fixture(scope="module")
def visits(browser: Browser, book_address: str) -> dict[str, Seen]:
    """What one visit to each page showed."""
    return {page: visit(browser, f"{book_address}{page}.html", book_address) for page in PAGES}


@pytest.fixture(scope="module")
def wrong(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What a visit to the wrong page showed."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "wrong.html").write_text(WRONG, encoding="utf-8")
    with serve(folder) as address:
        return visit(browser, f"{address}wrong.html", address)


def found(visits: dict[str, Seen], name: str) -> dict[str, object]:
    """Pages on which something was found, with what it was."""
    return {page: value for page, seen in visits.items() if (value := getattr(seen, name))}


def test_no_page_asks_another_machine(visits: dict[str, Seen], wrong: Seen) -> None:
    assert found(visits, "off_site") == {}
    assert wrong.off_site


def test_no_page_logs_an_error(visits: dict[str, Seen], wrong: Seen) -> None:
    assert found(visits, "errors") == {}
    assert {"wrong", "worse"} <= set(wrong.errors)


def test_no_page_asks_for_what_is_missing(visits: dict[str, Seen], wrong: Seen) -> None:
    assert found(visits, "failed") == {}
    assert any("missing.png" in text for text in wrong.failed)


def test_every_formula_is_drawn(visits: dict[str, Seen], wrong: Seen) -> None:
    drawn = {page: (seen.sources, seen.formulas) for page, seen in visits.items()}
    assert {page: pair for page, pair in drawn.items() if pair[0] != pair[1]} == {}
    assert sum(pair[0] for pair in drawn.values()) > 0
    assert wrong.sources != wrong.formulas


def test_no_formula_is_broken(visits: dict[str, Seen], wrong: Seen) -> None:
    assert found(visits, "broken") == {}
    assert wrong.broken == 1


def test_no_id_occurs_twice(visits: dict[str, Seen], wrong: Seen) -> None:
    twins = {page: set(seen.twins) - KNOWN_TWINS.get(page, set()) for page, seen in visits.items()}
    assert {page: ids for page, ids in twins.items() if ids} == {}
    assert wrong.twins == ["twin"]


def test_no_page_scrolls_sideways_on_a_phone(visits: dict[str, Seen], wrong: Seen) -> None:
    assert found(visits, "overflow") == {}
    assert wrong.overflow > 500


def test_every_page_is_dark_for_who_asks(visits: dict[str, Seen], wrong: Seen) -> None:
    assert [page for page, seen in visits.items() if not seen.dark] == []
    assert not wrong.dark


def test_all_text_has_contrast_in_both_looks(visits: dict[str, Seen], wrong: Seen) -> None:
    assert found(visits, "poor") == {}
    assert wrong.poor
