"""The strongest peers solve the same problems, and a peer that does not is found out."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
from tiny_book import ROOT

from benchmarks import solvers, sparse, strongest
from benchmarks.instances import problem_of, random_graph, random_samples
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
