"""The strongest peers solve the same problems, and a peer that does not is found out."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
from tiny_book import ROOT

from benchmarks import run, solvers, sparse, strongest
from benchmarks.instances import problem_of, random_graph, random_samples
from ntpbook.benchmarks import benchmark
from ntpcore.exact import margin_fast
from ntpcore.huang2024 import training

PYTHON = ROOT / ".venv-bench" / "bin" / "python"
NEEDS = {"JAX": "jax", "PyTorch": "torch", "numba": "numba", "NumPy": "numpy"}


@pytest.mark.parametrize("peer", sparse.PEERS)
def test_a_sparse_peer_takes_the_steps_that_we_take(peer: str):
    pytest.importorskip(NEEDS[peer.partition(",")[0]])
    one = problem_of(random_samples(np.random.default_rng(1), 12, 60))
    ours = training.run(one, 50, 0.02, 4.0, record=[], plain=True).state.weights
    theirs = sparse.PEERS[peer](sparse.flat(one), 4.0, 0.02)(50)
    assert theirs == pytest.approx(ours, rel=1e-9, abs=1e-12)


def test_merged_samples_keep_their_tokens_in_every_form():
    one = problem_of(random_samples(np.random.default_rng(3), 30, 200))
    data = sparse.flat(one)
    for padded in (True, False):
        found = sparse.groups(data, padded=padded)
        assert sum(g.often.sum() for g in found) == data.often.sum()
        assert sum(g.count.sum() for g in found) == data.count.sum()
        assert len(found) == (1 if padded else len(np.unique(np.diff(one.start))))
        assert all((g.there is not None) == padded for g in found)


@pytest.mark.parametrize("wrong", [1e-3, np.nan, np.inf])
def test_a_peer_that_takes_other_steps_is_refused(wrong: float):
    expected = np.zeros(4)
    assert strongest.largest(expected + 1e-12, expected) == pytest.approx(1e-12)
    with pytest.raises(ArithmeticError, match="other steps"):
        strongest.largest(expected + wrong, expected)


def test_a_graph_is_numbered_without_gaps_and_its_margins_are_those_of_the_paper():
    upper, lower = random_graph(np.random.default_rng(0), 60, 40)
    pairs = solvers.pairs_of(upper, lower)
    assert (pairs.used[pairs.upper] == upper).all()
    assert (pairs.used[pairs.lower] == lower).all()
    scores = margin_fast.solve_pairs(upper, lower, 80).scores[pairs.used]
    margins = pairs.margins @ scores
    assert margins.min() == pytest.approx(1)
    assert len(pairs.identity.data) == len(pairs.used)


def test_the_parametric_graph_cuts_at_the_scores():
    """Of 2 optimal tokens above 1 other, the smallest cut changes at x = 1/3: 2 x = 1 - x."""
    pairs = solvers.pairs_of(np.array([0, 1]), np.array([2, 2]))
    arcs = solvers._arcs(pairs, 1.0)
    source, sink = arcs[arcs[:, 0] == 3], arcs[arcs[:, 1] == 4]
    for x, inside in ((0.3, False), (0.35, True)):
        stay, move = (side[:, 2] + side[:, 3] * x for side in (source, sink))
        assert (stay.sum() > move.sum()) == inside


def test_rounds_leave_out_the_first_and_take_turns():
    seen: list[str] = []
    calls = {name: lambda name=name: seen.append(name) for name in "ab"}
    ticks = iter(range(100))
    times = strongest.by_turns(calls, 3, lambda: float(next(ticks)))
    assert "".join(seen) == "abababab"
    assert times == {"a": [1.0] * 3, "b": [1.0] * 3}


def test_solvers_give_our_scores_to_the_digits_that_they_promise():
    if not PYTHON.exists():
        pytest.skip("there is no .venv-bench; make bench makes it")
    command = [str(PYTHON), "-m", "benchmarks.strongest", "columns", "tiny"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    rows = {row["peer"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert set(rows) == set(solvers.SOLVERS)
    for peer, row in rows.items():
        if "absent" not in row and peer != "pseudoflow":
            assert row["error"] < (1e-5 if "1e-12" in peer else 1e-3), peer


def test_pseudoflow_stops_where_a_block_has_the_ratio_of_all():
    """It looks at neither side of a breakpoint at which its first two cuts weigh the same."""
    if not PYTHON.exists():
        pytest.skip("there is no .venv-bench; make bench makes it")
    code = (
        "import json, numpy as np\n"
        "from benchmarks import solvers\n"
        "def scores(upper, lower):\n"
        "    work = solvers._pseudoflow(solvers.pairs_of(np.array(upper), np.array(lower)))\n"
        "    return work.solve(work.set_up()).tolist()\n"
        "two = scores([0, 1, 3, 3], [2, 2, 4, 5])\n"
        "three = scores([0, 1, 3, 3, 6], [2, 2, 4, 5, 7])\n"
        "print(json.dumps([two, three]))\n"
    )
    done = subprocess.run([str(PYTHON), "-c", code], cwd=ROOT, capture_output=True, text=True)
    if "there is no pseudoflow" in done.stderr:
        pytest.skip("pseudoflow is not installed")
    two, three = json.loads(done.stdout)
    thirds = [1 / 3, 1 / 3, -2 / 3, 2 / 3, -1 / 3, -1 / 3]
    assert two == pytest.approx(thirds)
    exact = margin_fast.solve_pairs(np.array([0, 1, 3, 3, 6]), np.array([2, 2, 4, 5, 7]), 8).scores
    assert exact == pytest.approx([*thirds, 0.5, -0.5])
    assert three[6:] == pytest.approx([0.5, -0.5])
    assert three[0] == pytest.approx(0)  # 1/3 is right: the breakpoint below 1/2 is missed


def rows_of(**errors: float) -> dict[str, object]:
    """Results of two runs on one problem; peers are faster in the order of their names."""
    runs = []
    for number in range(2):
        rows: list[dict[str, object]] = [
            {
                "name": "one graph",
                "size": "3 pairs",
                "peer": peer,
                "ours": 1e-6,
                "theirs": (place + 2 + number) * 1e-6,
                "ratio": place + 2.0 + number,
                "low": 1.5,
                "high": 9.0,
                "error": error,
            }
            for place, (peer, error) in enumerate(errors.items())
        ]
        rows.append({"name": "one graph", "size": "3 pairs", "peer": "c", "absent": "no compiler"})
        runs.append({"load": "1.0", "rows": rows})
    return {"runs": runs}


def test_the_strongest_peer_is_the_fastest_that_solves_the_problem():
    right = benchmark.strongest(rows_of(a=1e-9, b=1e-9)).rows
    first, second = "a: 2 (1.5 to 9)", "a: 3 (1.5 to 9)"
    assert right == (("one graph", "3 pairs", first, second),)
    wrong = benchmark.strongest(rows_of(a=0.1, b=1e-9)).rows
    assert wrong[0][2].startswith("b: 3 ")
    assert benchmark.strongest(rows_of(a=0.1)).rows[0][2] == "none solved it"


def test_every_peer_has_its_row_with_the_error_or_the_reason():
    rows = benchmark.peers(rows_of(a=0.1, b=1e-9)).rows
    assert [row[2] for row in rows] == ["a", "b", "c"]
    assert rows[0][-1] == "1e-01"
    assert "no compiler" in rows[2]
    assert not benchmark.peers(rows_of(a=0.1), ("stage 2",)).rows


def test_saved_rows_of_the_strongest_peers_are_complete(tmp_path):
    found = benchmark.read_strongest("benchmarks/strongest.json")
    assert len(found["runs"]) == run.RUNS
    for kind in ("stage 2", "whole", "one graph"):
        assert benchmark.peers(found, (kind,)).rows
    for error in (np.nan, np.inf):
        file = tmp_path / "broken.json"
        file.write_text(json.dumps(rows_of(a=error)), encoding="utf-8")
        with pytest.raises(ValueError, match="make bench"):
            benchmark.read_strongest(str(file))


def test_cost_on_paper_is_that_measured_times_ten_shared_and_waited_for():
    size = "V=100, N=1000, 2000000 nonzeros"
    row = {"theirs": None, "unit": "", "ratio": None, "goal": None, "peer": ""}
    found = {
        "rows": [
            row | {"name": "cost of a nonzero", "size": size, "ours": 4.0},
            row | {"name": "memory of a nonzero", "size": size, "ours": 16.0},
            row | {"name": "stage 2, whole process", "size": "V=100, N=1000", "ours": 50.0},
        ]
    }
    cells = {name: (a, b) for name, a, b in benchmark.on_paper(found, wait=1e-3).rows}
    assert cells["nonzeros"] == ("2,000,000", "20,000,000")
    assert cells["one step, one thread"] == ("8 ms", "80 ms")
    assert cells["one step, 8 machines"] == ("2 ms", "11 ms")
    assert cells["whole process"] == ("50 MB", "at most 500 MB")


def test_a_part_that_is_measured_again_replaces_its_rows_alone(tmp_path, monkeypatch):
    row = {"size": "", "peer": "", "theirs": None, "unit": "", "ratio": None, "goal": None}
    old = {"rows": [row | {"name": "a", "ours": 1.0}, row | {"name": "b", "ours": 2.0}]}
    file = tmp_path / "results.json"
    file.write_text(json.dumps(old), encoding="utf-8")
    monkeypatch.setattr(run, "RESULTS", file)
    again = {"x": lambda _: iter([row | {"name": "b", "ours": 3.0}]), "y": lambda _: iter([])}
    monkeypatch.setattr(run, "PARTS", again)
    monkeypatch.setattr(run.os, "sched_setaffinity", lambda *_: None)
    run.some_parts(["x"])
    found = benchmark.read(str(file))
    assert [(one["name"], one["ours"]) for one in found["rows"]] == [("a", 1.0), ("b", 3.0)]
    assert found["note"].startswith("parts measured anew: x (")
