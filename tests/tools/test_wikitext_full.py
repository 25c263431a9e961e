"""`make wikitext` in tiny form: killed, resumed, and alike to the last byte."""

import json
import os
import signal
import subprocess
import sys

import pytest
from tiny_book import ROOT

from ntpbook.tian2023.s8_wikitext import experiment
from tools.pipeline import wikitext_full

ARGUMENTS = ["--seeds", "2", "--iterations", "15", "--width", "4", "--threads", "1"]
FILES = ("sample-text-attention.csv", "sample-text-entropy.csv", "checks.json")


MODULE = "tools.pipeline.wikitext_full"


def start(folder, how=("-m", MODULE), **variables):
    """The command in a process of its own."""
    environment = {k: v for k, v in os.environ.items() if k != "WIKITEXT_DIR"}
    return subprocess.Popen(
        [sys.executable, *how, "--folder", str(folder), *ARGUMENTS],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": str(ROOT)} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_killed_run_goes_on_and_ends_with_the_same_files(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    # Compiled once for all three processes, and plainly, which would take most of the time.
    cache = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false --xla_backend_optimization_level=0",
    }
    with start(whole, **cache) as process:
        out, _ = process.communicate(timeout=3000)
        assert process.returncode == 0
    assert "says nothing about WikiText" in out
    program, kept = str(ROOT / "tests/helpers/killed_after.py"), killed / "runs"
    with start(killed, (program, MODULE, str(kept)), **cache) as process:
        process.communicate(timeout=3000)
        assert process.returncode == -signal.SIGKILL
    assert len(list(kept.glob("*.npz"))) == 2
    with start(killed, **cache) as process:
        process.communicate(timeout=3000)
        assert process.returncode == 0
    for name in FILES:
        assert (whole / name).read_bytes() == (killed / name).read_bytes()
    rows = json.loads((whole / "checks.json").read_text(encoding="utf-8"))
    assert [row["verdict"] for row in rows] == ["undecided"] * 3
    assert not list(whole.glob("tian2023-fig-*"))  # a figure's number stands for WikiText


def test_a_folder_that_is_not_there_ends_in_one_line(tmp_path):
    with start(tmp_path, WIKITEXT_DIR="no/such/place") as process:
        _, errors = process.communicate(timeout=3000)
    assert process.returncode == 1
    assert errors.startswith("wikitext: WIKITEXT_DIR=no/such/place: no such folder.")
    assert len(errors.splitlines()) == 1


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
