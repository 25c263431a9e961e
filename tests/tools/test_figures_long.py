"""The long experiments: resumed after a kill, and written as tables."""

import os
import signal
import subprocess
import sys
import time

import pytest
from tiny_book import ROOT

from tools.pipeline import figures_long

ARGUMENTS = ["--seeds", "2", "--iterations", "101", "--threads", "1"]


def start(folder):
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tools.pipeline.figures_long", "--folder", str(folder), *ARGUMENTS],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_killed_run_goes_on_and_ends_with_the_same_tables(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with start(whole) as process:
        process.communicate(timeout=300)
        assert process.returncode == 0
    with start(killed) as process:
        kept = killed / "streams"
        while process.poll() is None and not (kept.exists() and len(list(kept.glob("*.npz"))) > 1):
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.npz")}
    assert 0 < len(before) < 8
    with start(killed) as process:
        out, _ = process.communicate(timeout=300)
    assert "Entropy after 101 iterations" in out
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
