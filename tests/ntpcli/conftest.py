"""Fixtures of these tests."""

from __future__ import annotations

import sys

import pytest
from program import (
    Result,
    Run,
)

from ntpcli import cli


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process."""

    def run(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["ntpcore", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out, err = capsys.readouterr()
        return Result(int(stopped.value.code or 0), out, err)

    return run
