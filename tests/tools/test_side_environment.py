"""An environment beside `.venv` is made once, again for other pins, and never half."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.pipeline import side_environment
from tools.pipeline.side_environment import set_up


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that are run: venv makes its folder, and pip cannot install `absent`."""
    made: list[list[str]] = []

    def run(command: list[str], *, check: bool) -> SimpleNamespace:
        made.append(command)
        if "venv" in command:
            assert check
            (tmp_path / ".venv-x").mkdir(exist_ok=True)
            (tmp_path / ".venv-x" / "ntpcore-stamp").unlink(missing_ok=True)  # as --clear does
        return SimpleNamespace(returncode=int(command[-1] == "absent"))

    monkeypatch.setattr(side_environment, "ROOT", tmp_path)
    monkeypatch.setattr(subprocess, "run", run)
    return made


def test_it_is_made_once_and_again_for_other_pins(calls: list[list[str]], tmp_path: Path) -> None:
    assert set_up("x", "a==1", [["a==1"]]) == []
    assert [command[1:3] for command in calls] == [["-m", "venv"], ["-m", "pip"]]
    assert calls[1][0] == str(tmp_path / ".venv-x/bin/python")
    assert calls[1][-1] == "a==1"
    assert set_up("x", "a==1", [["a==1"]]) == []
    assert len(calls) == 2
    assert set_up("x", "a==2", [["a==2"]]) == []
    assert len(calls) == 4


def test_it_is_not_finished_where_something_is_missing(calls: list[list[str]]) -> None:
    for times in (1, 2):
        assert set_up("x", "p", [["b"], ["absent"]]) == [["absent"]]
        assert len(calls) == 3 * times


def test_some_may_be_missing_where_that_is_said(calls: list[list[str]]) -> None:
    assert set_up("x", "p", [["absent"], ["b"]], partly=True) == [["absent"]]
    assert calls[-1][-1] == "b"
    assert set_up("x", "p", [["absent"], ["b"]], partly=True) == []
    assert len(calls) == 3
