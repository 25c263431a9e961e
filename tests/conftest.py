"""The built book, which page tests look at: built once, before or by the first that asks."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe import NO_AXE
from browser import NO_BROWSER, serve
from tiny_book import ROOT, build_command, clean_environment

# A shell that runs the tests in the background makes them deaf to Ctrl-C, and so the processes that
# they start, some of which must hear it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def book() -> Path:
    """Folder of the built site. `make test` builds it first; alone, pytest does."""
    if "NTPCORE_BOOK" not in os.environ:
        command = build_command()
        subprocess.run(command, cwd=ROOT, env=clean_environment(), check=True, timeout=1200)
    return ROOT / os.environ.get("NTPCORE_BOOK", "_build/html")


@pytest.fixture(scope="session")
def book_address(book: Path) -> Iterator[str]:
    """Address at which the built site is served."""
    with serve(book) as address:
        yield address


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a browser or the built site, so that `make quick` can leave it to others.

    Files that take minutes (browser, whole builds) come first: begun last, one would run on while
    the other worker has nothing left to do.
    """
    for item in items:
        if "browser" in item.path.relative_to(ROOT).parts:
            item.add_marker(pytest.mark.browser)
        if {"book", "book_address"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.site)
    items.sort(key=_turn)  # stable: within a kind the order stays


def _turn(item: pytest.Item) -> int:
    """When the file of a test has its turn."""
    parts = item.path.relative_to(ROOT).parts
    return ("browser" not in parts) + ({"browser", "tools"}.isdisjoint(parts[:2]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly when no browser looked at the pages."""
    skipped = terminalreporter.stats.get("skipped", [])
    if any(NO_BROWSER in str(report.longrepr) for report in skipped):
        terminalreporter.write_sep("!", "BROWSER TESTS DID NOT RUN", red=True, bold=True)
        terminalreporter.write_line(f"{NO_BROWSER}; .ci/run installs one where it may.")
    if any(NO_AXE in str(report.longrepr) for report in skipped):
        terminalreporter.write_sep("!", "ACCESSIBILITY WAS NOT TESTED", red=True, bold=True)
        terminalreporter.write_line(f"{NO_AXE}; make setup installs it.")
