"""`make bench` runs in small, its rows are complete, and its peers train the same model."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tiny_book import ROOT

from benchmarks import peers
from benchmarks.instances import problem_of, random_graph, random_samples
from benchmarks.run import PARTS, machine, noted, peer_arrays
from ntpbook.benchmarks import benchmark
from ntpcore.data.order import PartialOrder
from ntpcore.huang2024 import training


def test_the_benchmark_runs_in_small(tmp_path: Path):
    file = tmp_path / "results.json"
    command = [sys.executable, "-m", "benchmarks.run", "tiny", str(file)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=3000, stdout=subprocess.DEVNULL)
    found = benchmark.read(str(file))
    assert found["code"] == benchmark.code_hash()
    assert "still the one" in benchmark.origin(found).rows[-1][1]
    names = benchmark.names(found)
    for name in ("stage 2, one step", "whole W_kq_star", "one graph", "late flow, error", "start"):
        assert name in names
    accuracy = [row for row in found["rows"] if "difference" in row["name"]]
    assert len(accuracy) == 2
    assert all(0 <= row["ours"] < row["theirs"] for row in accuracy)  # none at all has no ratio
    for row in found["rows"]:
        assert row["theirs"] is None or not row["ours"] or row["ratio"] > 0
    rows = benchmark.table(found).rows
    assert len(rows) == len(found["rows"])
    assert "goals reached" in benchmark.summary(found)


def test_the_saved_results_can_be_shown():
    found = benchmark.read("benchmarks/results.json")
    assert len(benchmark.origin(found).rows) > 4
    assert len(benchmark.table(found).rows) > 10


def test_results_of_other_code_are_told_apart(tmp_path: Path):
    found = benchmark.read("benchmarks/results.json")
    states = dict(benchmark.origin(found | {"code": "0" * 64}).rows)
    assert "has changed since" in states["code"]
    states = dict(benchmark.origin(found | {"code": benchmark.code_hash()}).rows)
    assert "still the one that was measured" in states["code"]
    broken = found | {"rows": [{"name": "x"}]}
    (tmp_path / "broken.json").write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(ValueError, match="run make bench"):
        benchmark.read(str(tmp_path / "broken.json"))


@pytest.mark.parametrize("peer", ["numpy_dense", "jax_scan"])
def test_a_peer_takes_the_steps_that_we_take(peer: str):
    samples = random_samples(np.random.default_rng(1), 12, 60)
    one = problem_of(samples)
    ours = training.run(one, 50, 0.02, 4.0, record=[]).state.weights
    steps, result = getattr(peers, peer)(peer_arrays(samples, 4.0, 0.02))
    steps(50)
    theirs = np.asarray(result())[one.entry_token, one.entry_query]
    assert theirs == pytest.approx(ours, rel=1e-9, abs=1e-12)


def test_torch_takes_the_steps_that_we_take():
    python = ROOT / ".venv-bench" / "bin" / "python"
    if not python.exists():
        pytest.skip("there is no .venv-bench; make bench makes it")
    samples = random_samples(np.random.default_rng(1), 12, 60)
    one = problem_of(samples)
    ours = training.run(one, 50, 0.02, 4.0, record=[]).state.weights
    from benchmarks.run import ask

    for peer in ("PyTorch, one-hot", "PyTorch, gather"):
        answer = ask(peer, 1.0, {"check": 50, **peer_arrays(samples, 4.0, 0.02)})
        if "absent" in answer:
            pytest.skip(answer["absent"])
        theirs = np.array(answer["result"])[one.entry_token, one.entry_query]
        assert theirs == pytest.approx(ours, rel=1e-9, abs=1e-12)


def test_a_peer_that_is_absent_or_fails_is_a_row_that_says_so(monkeypatch):
    from benchmarks import run

    monkeypatch.setattr(run.environment, "PYTHON", Path("/nowhere/python"))
    found, _ = run.versus("x", "y", "JAX, scan", 1.0, 10.0, 0.1, {"size": 1})
    assert found["theirs"] is found["ratio"] is None
    assert "absent" in found["peer"]
    monkeypatch.setattr(run.environment, "PYTHON", Path(sys.executable))
    found, _ = run.versus("x", "y", "NumPy, dense", 1.0, 10.0, 0.1, {"size": 1})
    assert "fails" in found["peer"]


def test_graphs_are_orders():
    upper, lower = random_graph(np.random.default_rng(0), 200, 60, 2.0)
    order = PartialOrder.of("q", {(str(a), str(b)) for a, b in zip(upper, lower, strict=True)})
    assert len(order.pairs) == 200
    assert not order.confused


def test_samples_are_realizable_sentences():
    samples = random_samples(np.random.default_rng(2), 15, 300)
    assert ((samples.tokens == samples.query[:, None]).any(axis=1)).all()
    assert ((samples.tokens == samples.optimal[:, None]).any(axis=1)).all()
    one = problem_of(samples)
    assert not np.intersect1d(one.optimal, one.rival).size
    assert one.log_pi.size < 300
    assert np.exp(one.log_pi).sum() == pytest.approx(1)
    assert os.path.exists("benchmarks/requirements.txt")


def test_a_note_in_the_results_is_shown():
    found = {"versions": {}, "code": "x", "date": "2026-01-01", "machine": {}, "note": "in parts"}
    assert benchmark.origin(found).rows[-1] == ("note", "in parts")
    del found["note"]
    assert "note" not in dict(benchmark.origin(found).rows)


def test_the_note_knows_all_parts_that_were_measured_anew():
    """A second measurement adds to the note, or takes the place of an older one of its part."""
    before = {"anew": {"margin": "2026-01-01, some processor"}, "rows": [1]}
    found = noted(before, ["start", "text"])
    assert found["rows"] == [1]
    assert found["note"].startswith("parts measured anew: margin (2026-01-01, some processor); ")
    assert "start, text (" in found["note"]
    assert "some processor" not in noted(found, ["margin"])["note"]
    assert "anew" in before
    assert "start" not in before["anew"]


def test_results_are_from_one_machine_once_all_parts_were_measured_on_it() -> None:
    old = {"machine": {"processor": "another"}, "note": "x", "code": "y", "rows": [1], "anew": {}}
    some = noted(old, list(PARTS)[1:])
    assert (some["machine"], some["code"]) == (old["machine"], "y")
    assert some["note"]
    first, second = list(PARTS)[:2]
    for other in ("2026-01-01, another", f"{some['anew'][second]} of other code"):
        mixed = noted({**some, "anew": {**some["anew"], first: other}}, list(PARTS)[2:])
        assert other in mixed["note"], "another machine, or other code"
    every = noted(some, [first])
    assert set(every) == {"date", "machine", "versions", "code", "rows"}
    assert every["machine"]["processor"] == machine()["processor"]
    assert (every["rows"], every["code"]) == ([1], benchmark.code_hash())


def test_every_row_is_on_the_page() -> None:
    page = (ROOT / "notebooks/benchmarks.md").read_text(encoding="utf-8")
    calls = re.findall(r"benchmark\.table\(found, \((.*?)\)\)", page)
    starts = tuple(
        ast.literal_eval(word) for call in calls for word in re.findall(r'"[^"]*"', call)
    )
    names = {row["name"] for row in benchmark.read(str(ROOT / "benchmarks/results.json"))["rows"]}
    assert {name for name in names if not name.startswith(starts)} == set()
