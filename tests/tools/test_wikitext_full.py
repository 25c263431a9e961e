"""`make wikitext` in tiny form: stopped, resumed, and alike to the last byte."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import jax
import pytest
from stopped import StoppedError, stopping_after
from tiny_book import ROOT

from ntpbook.tian2023.s8_wikitext import experiment
from tools.pipeline import wikitext_full

ARGUMENTS = ["--seeds", "2", "--iterations", "15", "--width", "4", "--threads", "1"]
FILES = ("sample-text-attention.csv", "sample-text-entropy.csv", "checks.json")


@pytest.fixture
def compiled_plainly() -> Iterator[None]:
    """Compiling well takes most of the time of so small a training."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    jax.clear_caches()


# That a single run does not depend on where it stopped is asked in tests/ntpbook.
@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.usefixtures("compiled_plainly")
def test_a_stopped_run_goes_on_and_ends_with_the_same_files(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("WIKITEXT_DIR", raising=False)
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert wikitext_full.main(["--folder", str(whole), *ARGUMENTS]) == 0
    assert "says nothing about WikiText" in capsys.readouterr().out
    kept = stopped / "runs"
    with stopping_after(2, kept), pytest.raises(StoppedError):
        wikitext_full.main(["--folder", str(stopped), *ARGUMENTS])
    assert len(list(kept.glob("*.npz"))) == 2
    assert wikitext_full.main(["--folder", str(stopped), *ARGUMENTS]) == 0
    for name in FILES:
        assert (whole / name).read_bytes() == (stopped / name).read_bytes()
    rows = json.loads((whole / "checks.json").read_text(encoding="utf-8"))
    assert [row["verdict"] for row in rows] == ["undecided"] * 3
    assert not list(whole.glob("tian2023-fig-*"))  # a figure's number stands for WikiText


def test_a_folder_that_is_not_there_ends_in_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", wikitext_full.__name__, "--folder", str(tmp_path), *ARGUMENTS],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "WIKITEXT_DIR": "no/such/place"},
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
    assert done.returncode == 1
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("wikitext: ")]
    assert said.startswith("wikitext: WIKITEXT_DIR=no/such/place: no such folder.")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("wrong", [["--seeds", "1"], ["--iterations", "20"], ["--threads", "0"]])
def test_numbers_that_make_no_sense_are_refused(wrong, capsys):
    with pytest.raises(SystemExit) as raised:
        wikitext_full.main(wrong)
    assert raised.value.code == 2
    assert "at least 2 seeds" in capsys.readouterr().err


def test_the_time_left_counts_what_was_made_in_this_run(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(wikitext_full.time, "monotonic", lambda: now[0])
    plans = experiment.figure_10_plans(10, (1,), 60, 4)  # ten plans that cost the same
    clock = wikitext_full.Clock(plans)
    clock.tick(plans[0], 60, True)
    now[0] += 60
    clock.tick(plans[1], 60, False)
    assert capsys.readouterr().out == "  20.0 %, about 8 min left\n"
