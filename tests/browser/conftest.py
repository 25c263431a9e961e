"""What the browser tests of a file share; a worker runs them in a row."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import NO_BROWSER, find_browser, launch
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A running browser, or a loud skip; closed before other tests, whose loops it would hold."""
    executable = find_browser()
    if executable is None:
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        running = launch(playwright, executable)
        yield running
        running.close()


@pytest.fixture(scope="module")
def playground(book_address: str) -> str:
    """Address of the playground."""
    return f"{book_address}book/playground.html"


@pytest.fixture(scope="module")
def trouble() -> list[str]:
    """Errors and warnings of the page, once `hear_trouble` listens."""
    return []
