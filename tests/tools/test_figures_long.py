"""The long experiments: resumed after a kill, and written as tables."""

import os
import signal
import subprocess
import sys

import pytest
from tiny_book import ROOT

from tools.pipeline import figures_long

ARGUMENTS = ["--seeds", "2", "--iterations", "101", "--threads", "1"]


MODULE = "tools.pipeline.figures_long"


def run(folder, *how):
    """The command in a process of its own, to its end."""
    return subprocess.run(
        [sys.executable, *how, "--folder", str(folder), *ARGUMENTS],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=3000,
    )


def test_a_killed_run_goes_on_and_ends_with_the_same_tables(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    command, kept = ("-m", MODULE), killed / "streams"
    assert run(whole, *command).returncode == 0
    program = str(ROOT / "tests/helpers/killed_after.py")
    assert run(killed, program, MODULE, str(kept)).returncode == -signal.SIGKILL
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.npz")}
    assert len(before) == 2
    assert "Entropy after 101 iterations" in run(killed, *command).stdout
    assert {path: path.stat().st_mtime_ns for path in before} == before
    for step in (100, 101):
        name = f"tian2023-fig-6-after-{step}.csv"
        assert (whole / name).read_bytes() == (killed / name).read_bytes()


def test_a_table_for_a_terminal_is_aligned():
    table = figures_long.Table(("a", "long"), (("123", "4"),))
    assert figures_long.as_text(table) == "  a  long\n123     4"


def test_numbers_that_make_no_sense_are_refused(capsys):
    with pytest.raises(SystemExit) as raised:
        figures_long.main(["--seeds", "1"])
    assert raised.value.code == 2
    assert "at least 2 seeds" in capsys.readouterr().err
