"""The long experiments: resumed after a stop, and written as tables."""

import pytest
from stopped import StoppedError, stopping_after

from tools.pipeline import figures_long

ARGUMENTS = ["--seeds", "2", "--iterations", "101", "--threads", "1"]


def test_a_stopped_run_goes_on_and_ends_with_the_same_tables(tmp_path, capsys):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert figures_long.main(["--folder", str(whole), *ARGUMENTS]) == 0
    kept = stopped / "streams"
    with stopping_after(2, kept), pytest.raises(StoppedError):
        figures_long.main(["--folder", str(stopped), *ARGUMENTS])
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.npz")}
    assert len(before) == 2
    assert figures_long.main(["--folder", str(stopped), *ARGUMENTS]) == 0
    assert "Entropy after 101 iterations" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in before} == before
    for step in (100, 101):
        name = f"tian2023-fig-6-after-{step}.csv"
        assert (whole / name).read_bytes() == (stopped / name).read_bytes()


def test_a_table_for_a_terminal_is_aligned():
    table = figures_long.Table(("a", "long"), (("123", "4"),))
    assert figures_long.as_text(table) == "  a  long\n123     4"


def test_numbers_that_make_no_sense_are_refused(capsys):
    with pytest.raises(SystemExit) as raised:
        figures_long.main(["--seeds", "1"])
    assert raised.value.code == 2
    assert "at least 2 seeds" in capsys.readouterr().err
