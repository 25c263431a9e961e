"""The built book, which page tests look at: built once, before or by the first that asks."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pinned
import pytest
import watched
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


RENEWED = pytest.StashKey[dict[str, dict[str, dict[str, Any]]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make pin-evidence` asks for new pins."""
    parser.addoption("--renew-pins", action="store_true", help="write down what checks say")
    parser.addoption("--loosen-pins", action="store_true", help="mark what differs as rounding")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to renew the pins of a part of a file, which would lose the others.

    Raises:
        UsageError: tests are chosen one by one, or run in several processes.
    """
    config.stash[RENEWED] = {}
    option = config.option
    apart = option.keyword or getattr(option, "numprocesses", None) or "::" in " ".join(config.args)
    if (option.renew_pins or option.loosen_pins) and apart:
        raise pytest.UsageError("new pins take whole files, in one process (-n 0)")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Hold what the checks of a test say and compute against its pins."""
    stem, name = item.path.stem, item.nodeid.split("::", 1)[1]
    if not stem.startswith("test_checks_") or hasattr(getattr(item, "obj", None), "hypothesis"):
        return (yield)
    with pinned.recorded() as checks, watched.recorded(getattr(item, "module", None)) as sums:
        result = yield
    _hold(item.config, stem, name, pinned.summary(checks, sums))
    return result


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """The same for a fixture, on which the tests may only look."""
    stem = Path(fixturedef.baseid).stem
    if not stem.startswith("test_checks_"):
        return (yield)
    with pinned.recorded() as checks, watched.recorded(request.module) as sums:
        result = yield
    name = f"{pinned.FIXTURE}{fixturedef.argname}[{request.param_index}]"
    _hold(request.config, stem, name, pinned.summary(checks, sums))
    return result


def _hold(config: pytest.Config, stem: str, name: str, found: dict[str, Any]) -> None:
    """Compare with a pin, or renew it."""
    old = pinned.pins_of(stem).get(name, {})
    if config.option.renew_pins or config.option.loosen_pins:
        new = pinned.renewed(old, found, all_anew=config.option.renew_pins)
        config.stash[RENEWED].setdefault(stem, {})[name] = new
    elif old:
        lines = pinned.differences(pinned.comparable(old), pinned.comparable(found), name)
        assert not lines, "\n".join(["checks say something else;", pinned.HOW, *lines[:9]])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the renewed pins, where all tests of a run passed; a run of one file renews that."""
    if session.config.stash[RENEWED] and not session.testsfailed:
        pinned.FOLDER.mkdir(exist_ok=True)
        for stem, found in session.config.stash[RENEWED].items():
            kept = {name: checks for name, checks in found.items() if checks}
            (pinned.FOLDER / f"{stem}.json").write_text(pinned.to_text(kept), encoding="utf-8")
        if session.config.option.renew_pins:
            file = pinned.FOLDER / pinned.PROCESSORS
            file.write_text(pinned.processor() + "\n", encoding="utf-8")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly when no browser looked at the pages."""
    skipped = terminalreporter.stats.get("skipped", [])
    if any(NO_BROWSER in str(report.longrepr) for report in skipped):
        terminalreporter.write_sep("!", "BROWSER TESTS DID NOT RUN", red=True, bold=True)
        terminalreporter.write_line(f"{NO_BROWSER}; .ci/run installs one where it may.")
    if any(NO_AXE in str(report.longrepr) for report in skipped):
        terminalreporter.write_sep("!", "ACCESSIBILITY WAS NOT TESTED", red=True, bold=True)
        terminalreporter.write_line(f"{NO_AXE}; make setup installs it.")
