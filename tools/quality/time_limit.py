"""Ends a run of pytest when its time is over: `pytest -p tools.quality.time_limit --seconds 40`.

A test that runs goes on to its end; the exit code is 1 if one failed, and 0 otherwise.
"""

from __future__ import annotations

import time

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """How long the run may last."""
    parser.addoption("--seconds", type=float, required=True, help="no test begins after so many")


def pytest_configure(config: pytest.Config) -> None:
    """Watch the run where all reports arrive, and in none of its processes."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Minute(config.getoption("--seconds")))


class Minute:
    """What watches the time."""

    def __init__(self, seconds: float) -> None:
        """The time begins now."""
        self.end = time.monotonic() + seconds
        self.failed = False
        self.ended = set[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count what ended; leave once it is time."""
        self.failed |= report.failed
        if report.when != "teardown":
            return
        self.ended.add(report.nodeid.partition("::")[0])
        if time.monotonic() > self.end:
            text = f"the minute is over; {len(self.ended)} test files had their turn"
            pytest.exit(f"{text}, make test runs all", returncode=int(self.failed))
