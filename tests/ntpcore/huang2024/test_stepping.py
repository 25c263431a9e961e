"""Runs by the fast loops are runs by the plain one, repeatable and resumable bit for bit."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from tiny_book import ROOT
from trained import EXAMPLE_1, SETS, fields_equal

from ntpcore.data import dataset
from ntpcore.huang2024 import problem, stage1, training
from ntpcore.huang2024.fast import kernel as _kernel
from ntpcore.huang2024.fast import loops as _fast
from ntpcore.huang2024.fast import packing as _packing
from ntpcore.huang2024.fast import stepping

# Rows that rounding reaches before others: differences of nearly equal numbers.
LOOSE = {"needed_alpha": 1e-8, "change": 1e-9, "one_minus_cos": 1e-9}
LATE = 40_000  # steps, well into the second phase
FOLLOWED = 2**14  # so that some such step comes before


def setting_of(name: str):
    setting = SETS[name]
    one = problem.from_dataset(setting.data)
    return one, setting.eta, stage1.gap(20, setting.steps1, setting.eta0)


def loops_used(monkeypatch, one, steps, eta, gap, **options) -> dict[str, int]:
    """Steps that each loop takes in a run."""
    used: dict[str, int] = {}

    def count(module, name, place):
        real = getattr(module, name)

        def counted(*arguments):
            result = real(*arguments)
            steps = arguments[3] if place is None else result[0]
            used[name] = used.get(name, 0) + steps
            return result

        monkeypatch.setattr(module, name, counted)

    count(_kernel, "advance", 0)
    count(_fast, "advance_merged", None)
    fast = _fast.advance
    monkeypatch.setattr(_fast, "advance", lambda *a: _counted_fast(fast, used, a))
    training.run(one, steps, eta, gap, **options)
    return used


def _counted_fast(fast, used, arguments):
    result = fast(*arguments)
    used["fast"] = used.get("fast", 0) + result[0]
    return result


@pytest.mark.parametrize("name", SETS)
def test_a_run_has_the_rows_of_the_plain_run(name):
    one, eta, gap = setting_of(name)
    plain = training.run(one, 100_000, eta, gap, plain=True)
    ours = training.run(one, 100_000, eta, gap)
    scale = np.abs(plain.state.weights).max()
    assert np.abs(ours.state.weights - plain.state.weights).max() < 1e-12 * scale
    assert ours.rows.step.tolist() == plain.rows.step.tolist()
    early = plain.rows.least_gap < 40  # later, changes are looked at now and then only
    assert 10 < early.sum() < len(early) - 5
    for field in training.Rows.__dataclass_fields__:
        found, expected = getattr(ours.rows, field), getattr(plain.rows, field)
        rows = early if field in ("change", "change_step") else slice(None)
        if field == "change_step":
            continue  # of two steps with nearly the same change, rounding names either
        assert found[rows] == pytest.approx(
            expected[rows], rel=LOOSE.get(field, 1e-10), abs=1e-13, nan_ok=True
        ), field
    assert (ours.rows.change[1:] >= 0).all()
    assert ours.decreased == plain.decreased


def test_every_phase_takes_its_part(monkeypatch):
    one, eta, gap = setting_of("prefix-closed 0")
    record = [0, 30_000]
    used = dict(loops_used(monkeypatch, one, LATE, eta, gap, record=record))
    assert sum(used.values()) == LATE
    # the first phase ends with the step that brings the least gap to where the second may begin
    last = used["fast"]
    rows = training.run(one, last, eta, gap, plain=True, record=[last - 1, last]).rows
    begins = stepping.Loops(one, gap).merged.least_gap
    assert rows.least_gap[-2] < begins <= rows.least_gap[-1]
    # in the second the plain loop measures the change after a row, and at every step so far apart
    followed = range(stepping.FOLLOWED, LATE, stepping.FOLLOWED)
    assert used["advance"] == sum(at > last for at in (*record, *followed))


def test_where_a_fast_loop_does_not_apply_the_plain_one_steps_in(monkeypatch):
    one = problem.from_dataset(EXAMPLE_1)
    assert loops_used(monkeypatch, one, 50, 0.025, 5.0) == {"fast": 50}
    assert loops_used(monkeypatch, one, 50, 0.025, 5.0, plain=True) == {"advance": 50}
    assert loops_used(monkeypatch, one, 50, 0.025, 300.0) == {"advance": 50}
    assert "fast" not in loops_used(monkeypatch, one, 5, 1e6, 5.0)


def test_a_brief_run_begins_with_the_plain_loop_and_goes_on_with_the_fast_one(monkeypatch):
    one = problem.from_dataset(EXAMPLE_1)
    size = stepping.Loops(one, 5.0).size
    monkeypatch.setattr(stepping, "BRIEF", 30 * size + 1)
    assert loops_used(monkeypatch, one, 50, 0.025, 5.0, brief=True) == {"advance": 30, "fast": 20}
    assert loops_used(monkeypatch, one, 20, 0.025, 5.0, brief=True) == {"advance": 20}
    whole = training.run(one, 50, 0.025, 5.0, brief=True)
    plain = training.run(one, 50, 0.025, 5.0, plain=True)
    assert whole.state.weights == pytest.approx(plain.state.weights, rel=1e-12)
    for stop in (7, 30, 41):
        part = training.run(one, stop, 0.025, 5.0, brief=True)
        resumed = training.run(one, 50, 0.025, 5.0, brief=True, state=part)
        assert (resumed.state.weights == whole.state.weights).all()


def test_rates_given_as_integers_are_floats_for_the_loops():
    one = problem.from_dataset(EXAMPLE_1)
    found = training.run(one, 3, 1, 5)
    assert isinstance(found.eta, float)
    assert isinstance(found.gap, float)
    assert (found.state.weights == training.run(one, 3, 1.0, 5.0).state.weights).all()


def test_large_weights_are_left_to_the_plain_loop(monkeypatch):
    one = problem.from_dataset(dataset.from_sentences(["0 1 2 0", "1 2", "2 0"]))
    start = training.run(one, 0, 1.0, 5.0)
    weights = np.zeros(len(one.entry_token))
    weights[~one.is_optimal] = -310.0, 0.0, -1.0
    away = training.Trajectory(
        start.rows, training.State(0, weights), start.eta, start.gap, start.fingerprint
    )
    plain = training.run(one, 1000, 1.0, 5.0, state=away, plain=True)
    used = loops_used(monkeypatch, one, 1000, 1.0, 5.0, state=away)
    assert set(used) == {"advance", "advance_merged"}
    ours = training.run(one, 1000, 1.0, 5.0, state=away)
    assert ours.state.weights == pytest.approx(plain.state.weights, rel=1e-12)


def test_without_numba_every_step_is_plain(monkeypatch):
    one = problem.from_dataset(EXAMPLE_1)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert loops_used(monkeypatch, one, 20, 0.025, 5.0) == {"advance": 20}


@pytest.mark.parametrize("stop", [137, 9_999, 25_000, 2 * FOLLOWED])
def test_a_run_resumed_in_any_phase_has_the_same_numbers(stop, monkeypatch):
    monkeypatch.setattr(stepping, "FOLLOWED", FOLLOWED)
    one, eta, gap = setting_of("not prefix-closed")
    record = [0, 5_000, 20_000, 30_000, LATE]
    whole = training.run(one, LATE, eta, gap, record=record)
    part = training.run(one, stop, eta, gap, record=record)
    resumed = training.run(one, LATE, eta, gap, record=record, state=part)
    assert fields_equal(whole.rows, resumed.rows)
    assert fields_equal(whole.state, resumed.state)


def test_pieces_have_the_same_numbers_in_the_second_phase(monkeypatch):
    one, eta, gap = setting_of("prefix-closed 1")
    whole = training.run(one, LATE, eta, gap)
    monkeypatch.setattr(training, "ENTRIES_PER_CALL", 10_000)
    pieces = training.run(one, LATE, eta, gap)
    assert fields_equal(whole.rows, pieces.rows)
    assert fields_equal(whole.state, pieces.state)


def test_two_threads_have_the_same_numbers(monkeypatch):
    one, eta, gap = setting_of("not prefix-closed")
    monkeypatch.setattr(_packing, "CHUNK", 16)
    alone = training.run(one, 500, eta, gap)
    monkeypatch.setattr(stepping, "MANY_ENTRIES", 0)
    assert stepping.Loops(one, gap, threads=2).useful_threads == 2
    shared = training.run(one, 500, eta, gap, threads=2)
    assert fields_equal(alone.rows, shared.rows)
    assert fields_equal(alone.state, shared.state)


TWO_WAYS = """
import numba, numpy as np, sys
from ntpcore.compiled import compiled, compiled_with
def _total(values):
    found = 0.0
    for i in numba.prange(len(values)):
        found += values[i]
    return found
total = compiled(_total)
total_on_threads = compiled_with(parallel=True)(_total)
if __name__ == "__main__":
    used = globals()[sys.argv[1]]
    assert used(np.ones(10_000)) == 10_000
    try:
        layer = numba.threading_layer()
    except ValueError:
        layer = "none"
    print(layer, sum(used.stats.cache_hits.values()))
"""


def test_a_threaded_loop_has_threads_also_when_both_come_from_the_cache(tmp_path):
    """One function compiled in two ways: numba's own cache would take one for the other."""
    (tmp_path / "two_ways.py").write_text(TWO_WAYS)
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    found = [
        subprocess.run(
            [sys.executable, "two_ways.py", loop],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for loop in ("total", "total_on_threads", "total", "total_on_threads")
    ]
    assert [cached for _, cached in found] == ["0", "0", "1", "1"]
    assert found[0][0] == found[2][0] == "none"
    assert found[1][0] == found[3][0] != "none"
    assert _fast.advance_on_threads.targetoptions["parallel"]
    assert not _fast.advance.targetoptions.get("parallel")


def test_small_data_are_not_shared():
    one = problem.from_dataset(EXAMPLE_1)
    assert stepping.Loops(one, 5.0, threads=2).useful_threads == 1


def test_the_first_step_after_a_row_is_looked_at_in_the_second_phase():
    one, eta, gap = setting_of("prefix-closed 0")
    record = [0, 30_000, 30_010, 30_020]
    plain = training.run(one, 30_020, eta, gap, record=record, plain=True)
    ours = training.run(one, 30_020, eta, gap, record=record)
    assert ours.rows.change_step[2:].tolist() == [30_001, 30_011]
    assert (ours.rows.change[2:] < math.inf).all()
    assert ours.rows.change[2:] == pytest.approx(plain.rows.change[2:], rel=1e-3)
    assert ours.rows.log_weight == pytest.approx(plain.rows.log_weight, rel=1e-12, abs=1e-15)
