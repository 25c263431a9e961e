"""The built book, which page tests look at: built once, before or by the first that asks."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import random_examples  # noqa: F401 (loads how tests make random examples)
from _pytest import approx
from axe import NO_AXE
from browser import NO_BROWSER, serve
from left_behind import threads_at_work
from thorough import left_out
from tiny_book import ROOT, build_command, clean_environment

from tools.pipeline.jobs import at_once
from tools.pipeline.kernel import NEW_OBJECTS

# A shell that runs the tests in the background makes them deaf to Ctrl-C, and so the processes that
# they start, some of which must hear it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# So does nohup to the signal of a terminal that closes.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# A number is compared relative to its own size: pytest would let 1e-12 pass for any smaller one,
# 0 for 1e-300, also where a test asks for twelve digits of it. What should be 0 may be 1e-12 off.
approx.ApproxScalar.DEFAULT_ABSOLUTE_TOLERANCE = property(  # type: ignore[assignment]
    lambda self: 0 if self.expected else 1e-12
)

# Python looks for circles among objects whenever so many are new. While tests are collected none
# are left behind, and what is loaded then stays.
gc.disable()


def pytest_xdist_auto_num_workers() -> int:
    """How many tests run at once: they wait for browsers and child processes, hence one more."""
    return at_once() + 1


@pytest.fixture(scope="session")
def book() -> Path:
    """Folder of the built site. `make test` builds it first; alone, pytest does."""
    if "NTPCORE_BOOK" not in os.environ:
        command = build_command()
        subprocess.run(command, cwd=ROOT, env=clean_environment(), check=True, timeout=3000)
    return ROOT / os.environ.get("NTPCORE_BOOK", "_build/html")


@pytest.fixture(scope="module", autouse=True)
def nothing_goes_on() -> Iterator[None]:
    """A thread that computes on after its tests would slow all others of this process."""
    yield
    until = time.monotonic() + 600
    while threads_at_work() and time.monotonic() < until:  # one that ends may be on its last lines
        time.sleep(0.05)
    assert threads_at_work() == []


@pytest.fixture
def in_float64() -> Iterator[None]:
    """JAX with 64 bits, for the tests that name this and for no other."""
    import jax  # slow to load, and needed by few

    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="session")
def book_address(book: Path) -> Iterator[str]:
    """Address at which the built site is served."""
    with serve(book) as address:
        yield address


# What starts builds, browsers and commands or compiles takes longest, and begins first: then two
# processes end at about the same time. `make test` tells xdist to keep this order.
FIRST = ("tools", "browser", "site", "ntpcli", "ntpbook/tian2023")


def when(item: pytest.Item) -> int:
    """The rank of a test's folder among those that begin first."""
    folder = item.path.parent.relative_to(ROOT / "tests").as_posix()
    return FIRST.index(folder) if folder in FIRST else len(FIRST)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out thorough tests; mark what needs a browser or the built site, for `make quick`."""
    if others := left_out(items, os.environ):
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in set(others)]
    if not any(word.partition("::")[0].endswith(".py") for word in config.args):
        items.sort(key=when)  # who names files wants them in that order
    for item in items:
        if "browser" in item.path.relative_to(ROOT).parts:
            item.add_marker(pytest.mark.browser)
        if {"book", "book_address"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.site)


def pytest_collection_finish() -> None:
    """From now on what is loaded need not be looked through again."""
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly when no browser looked at the pages."""
    skipped = terminalreporter.stats.get("skipped", [])
    if any(NO_BROWSER in str(report.longrepr) for report in skipped):
        terminalreporter.write_sep("!", "BROWSER TESTS DID NOT RUN", red=True, bold=True)
        terminalreporter.write_line(f"{NO_BROWSER}; .ci/run installs one where it may.")
    if any(NO_AXE in str(report.longrepr) for report in skipped):
        terminalreporter.write_sep("!", "ACCESSIBILITY WAS NOT TESTED", red=True, bold=True)
        terminalreporter.write_line(f"{NO_AXE}; make setup installs it.")
