"""Sweeps: the file of grids, the rows, and what happens when runs or files fail."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from ntpbook.huang2024.s5_stage2 import checks as direction
from ntpcli import cli
from ntpcli.sweep import backends, fingerprint, journal, one_run, output, plan, run
from ntpcli.sweep.columns import CLAIMS, COLUMNS, Row
from ntpcore.data import generate
from ntpcore.data.dataset import InputError
from ntpcore.huang2024 import run_measures, runs, stage1, training
from ntpcore.huang2024.problem import from_dataset
from tools.pipeline.source import OURS

ROOT = Path(__file__).resolve().parents[2]
SMALL = """
[[grid]]
generator = ["prefix-closed", "open", "brackets"]
sentences = 12
seed = { from = 0, to = 2 }
repair = "none"
eta = [0.1, 0.3]
steps = 1500
"""


@pytest.fixture(scope="module")
def small() -> plan.Plan:
    return plan.parse(SMALL)


@pytest.fixture(scope="module")
def table(small: plan.Plan) -> list[Row]:
    """The rows of the small sweep, done once in this process."""
    return run.rows(small)


# The file of grids


def test_a_grid_holds_every_combination_in_order():
    found = plan.parse("[[grid]]\nvocab_size = [5, 7]\nseed = {from = 2, to = 4}\neta = 1\n")
    assert [(c.vocab_size, c.seed) for c in found.cells] == [
        (5, 2), (5, 3), (5, 4), (7, 2), (7, 3), (7, 4)
    ]  # fmt: skip
    first = found.cells[0]
    assert (first.grid, first.eta, type(first.eta), first.eta0) == (1, 1.0, float, None)
    assert (first.steps, first.repair, first.max_depth) == (900, "none", None)


def test_keys_that_do_not_apply_stay_empty_and_languages_are_repaired():
    found = plan.parse('[[grid]]\ngenerator = ["brackets"]\n[[grid]]\ngenerator="server-log"')
    one_cell, other = found.cells
    assert (one_cell.vocab_size, one_cell.max_depth, one_cell.repair) == (None, 3, "greedy")
    assert (other.max_requests, other.max_depth, other.grid) == (4, None, 2)


def test_layout_does_not_change_the_mark_of_a_sweep_and_values_do():
    one_way = plan.parse("[[grid]]\nseed = [0, 1]\nsteps = 5")
    assert plan.parse("# said\n[[grid]]\nsteps=5\nseed={from=0, to=1}").mark == one_way.mark
    assert plan.parse("[[grid]]\nseed = [1, 0]\nsteps = 5").mark != one_way.mark


BAD = [
    ("", "sweep.toml: there is no [[grid]]"),
    ("grid = []", "sweep.toml: no grid"),
    ("grid = 3", "sweep.toml:1: there is no [[grid]]"),
    ("[[grid]]\n\nseeds = 1", "sweep.toml:3: unknown key 'seeds'; the keys are generator"),
    ("name = 1\n[[grid]]", "sweep.toml:1: unknown key 'name'"),
    ("[[grid]]\nseed = 1\n[[grid]]\nseed = -1", "sweep.toml:4: 'seed' is -1; give a whole number"),
    ("[[grid]]\nseed = 1.5", "sweep.toml:2: 'seed' is 1.5; give a whole number"),
    ("[[grid]]\nseed = true", "sweep.toml:2: 'seed' is true"),
    ("[[grid]]\nseed = '1'", "sweep.toml:2: 'seed' is \"1\""),
    ("[[grid]]\nseed = []", "sweep.toml:2: 'seed' is empty"),
    ("[[grid]]\nseed = [3, 4, 3]", "sweep.toml:2: 'seed' has 3 twice"),
    ("[[grid]]\neta = [1, 1.0]", "sweep.toml:2: 'eta' has 1.0 twice"),
    ("[[grid]]\nseed = [[1]]", "sweep.toml:2: 'seed' is [1]"),
    ("[[grid]]\nseed = {from = 1}", "sweep.toml:2: a range has the keys from and to"),
    ("[[grid]]\nseed = {from = 1, to = 0}", "sweep.toml:2: 'seed' is empty"),
    ("[[grid]]\nseed = {from = 0, to = 9223372036854775807}", "9,223,372,036,854,775,808 values"),
    ("[[grid]]\nseed = {from = 0.5, to = 2}", "sweep.toml:2: 'from' is 0.5"),
    ("[[grid]]\neta = {from = 0, to = 2}", "only whole numbers have ranges"),
    ("[[grid]]\neta = nan", "sweep.toml:2: 'eta' is NaN"),
    ("[[grid]]\neta = 0.0", "sweep.toml:2: 'eta' is 0.0"),
    ("[[grid]]\neta = 1e400", "sweep.toml:2: 'eta' is Infinity"),
    ("[[grid]]\nsteps = 1000000001", "sweep.toml:2: 'steps' is 1000000001"),
    ("[[grid]]\nvocab_size = 1", "sweep.toml:2: 'vocab_size' is 1"),
    ("[[grid]]\nfrequent = 1", "sweep.toml:2: 'frequent' is 1; give true or false"),
    ("[[grid]]\ngenerator = 'closed'", "give one of 'prefix-closed', 'open'"),
    ("[[grid]]\ngenerator = 'open'\nmax_depth = 2", "sweep.toml:3: 'max_depth' means nothing"),
    ("[[grid]]\nseed = 1979-05-27", "sweep.toml:2: 'seed' is \"1979-05-27\""),
    ("[[grid]]\n[[grid]]", "grids 1 and 2 both hold the run generator=prefix-closed"),
    ("[[grid]]\nseed = ", "sweep.toml: broken TOML (Invalid value (at end of document))"),
    ("[[grid]]\nseed = 1\nseed = 2\n", "sweep.toml:3: broken TOML"),
    ("[[grid]]\n" + "a." * 200_000 + "b = 1\n", "sweep.toml:2: a key with many dots"),
    ("[[grid]]\nseed = " + "[" * 100_000, "sweep.toml"),
    ("[[grid]]\nseed = " + "9" * 5000, "sweep.toml"),
    ("[[grid]]\nseed = {from=0, to=999}\nsentences = {from=1, to=999}", "999,000 runs"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=range(len(BAD)))
def test_a_bad_file_gets_one_message(text: str, message: str):
    with pytest.raises(InputError) as caught:
        plan.parse(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "not valid UTF-8"),
        (b"#" * 1_000_001, "more than 1,000,000 bytes"),
        (None, "cannot be read (No such file or directory)"),
    ],
)
def test_a_file_that_cannot_be_read_gets_one_message(
    tmp_path: Path, content: bytes | None, message: str
):
    path = tmp_path / "sweep.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(message)):
        plan.read(str(path))


def test_the_example_is_a_sweep_of_more_than_500_runs():
    assert len(plan.read(str(ROOT / "examples/sweep.toml")).cells) >= 500


# Rows


def test_a_row_holds_what_the_library_computes(small: plan.Plan, table: list[Row]):
    cell, row = small.cells[1], table[1]
    data = generate.random_dataset(np.random.default_rng(0), 20, 12, 6, prefix_closed=True)
    problem = from_dataset(data)
    eta0 = 0.2 / 20**0.5
    trajectory = training.run(problem, 1500, 0.3, stage1.gap(20, 900, eta0), brief=True)
    rows = trajectory.rows
    assert (cell.eta, row["eta"], row["eta0"], row["status"]) == (0.3, 0.3, eta0, "ok")
    assert row["one_minus_cos"] == rows.one_minus_cos[-1]
    assert row["log_excess"] == rows.log_excess[-1]
    assert row["norm_kq_star"] == problem.norm
    assert row["samples"] == data.sample_count
    late = rows.step >= 15
    slope = np.polyfit(np.log(rows.step[late]), np.log(rows.one_minus_cos[late]), 1)[0]
    assert row["direction_exponent"] == slope
    made = runs.train("", problem, eta0=eta0, eta=0.3, steps1=900, steps=1500)
    assert row["thm_1_corrected_slack"] == run_measures.thm_1_slack(made, "1/pi_min")[1].min()
    assert {row[label] for label in CLAIMS} == {"holds", "silent"}


def test_every_row_has_every_column_in_order_and_of_its_type(table: list[Row]):
    for row in table:
        assert list(row) == [column.name for column in COLUMNS]
        for column in COLUMNS:
            assert row[column.name] is None or type(row[column.name]) is column.kind, column.name


def test_data_that_cannot_be_trained_on_are_rows_that_say_why(table: list[Row]):
    failed = [row for row in table if row["status"] == "failed"]
    assert {row["generator"] for row in failed} == {"brackets"}
    assert len(failed) == 6
    assert all(row["error"] == "InputError" for row in failed)
    assert all("not realizable (Assumption 1)" in str(row["message"]) for row in failed)
    assert all(row["one_minus_cos"] is None and row["eta"] in (0.1, 0.3) for row in failed)
    assert sum(count for _, count in run.failures(table)) == 6


def test_any_error_in_a_run_is_told_in_its_row(small: plan.Plan, monkeypatch: pytest.MonkeyPatch):
    def fail(cell: plan.Cell) -> Row:
        raise MemoryError("no\nroom")

    monkeypatch.setattr(one_run, "measure", fail)
    row = one_run.run(3, small.cells[3], "mark")
    assert (row["status"], row["error"], row["message"]) == ("failed", "MemoryError", "no room")
    assert (row["run"], row["sweep"]) == (3, "mark")


def test_a_claim_that_fails_on_a_run_is_seen(monkeypatch: pytest.MonkeyPatch, small: plan.Plan):
    outside = one_run.measure(
        replace(
            small.cells[0],
            generator="server-log",
            vocab_size=None,
            max_length=None,
            frequent=None,
            max_requests=4,
            repair="greedy",
        )
    )
    assert outside["assumption_3"] is False
    assert outside["huang2024-thm-1"] == "outside"
    rare = direction.witness()  # defeats the likeliest reading, and not that with 10^12 for 54
    assert one_run.judge("huang2024-thm-1-corrected", rare) == "holds"
    assert one_run.bound_columns(rare)["thm_1_slack"] < 0
    rows = replace(rare.second.rows, norm=1.01 * rare.second.rows.norm)  # longer than t eta
    longer = replace(rare, second=replace(rare.second, rows=rows))
    assert one_run.judge("huang2024-lem-6", longer) == "fails"


def test_a_direction_at_rounding_has_no_exponent():
    cell = plan.parse("[[grid]]\nvocab_size=2\nsentences=1\nmax_length=2\nsteps=1500").cells[0]
    rows = [one_run.run(0, replace(cell, seed=seed), "") for seed in range(6)]
    exact = [row for row in rows if row["status"] == "ok" and row["one_minus_cos"] < 1e-26]
    assert exact
    assert all(row["direction_exponent"] is None and row["loss_rate"] for row in exact)


def test_the_hash_of_the_code_covers_all_that_a_row_depends_on():
    names = {path.as_posix() for path in fingerprint.modules()}
    assert {"ntpcore/huang2024/training.py", "ntpcore/exact/margin.py"} <= names
    loaded = "import sys, ntpcli.sweep.one_run\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True)
    ours = [name for name in done.stdout.split() if name.split(".")[0] in OURS]
    assert len(ours) > 20
    files = {f"{name.replace('.', '/')}.py" for name in ours}
    files |= {f"{name.replace('.', '/')}/__init__.py" for name in ours}
    assert {file for file in files if (ROOT / file).is_file()} <= names


# Files


def test_both_forms_hold_the_rows(table: list[Row], tmp_path: Path):
    path = tmp_path / "r.parquet"
    path.write_bytes(output.content(table, ".parquet"))
    found = pyarrow.parquet.read_table(path)
    assert found.to_pylist() == table
    assert found.schema.field("loss").metadata[b"meaning"] == b"L after the last step, in nats"
    read = list(csv.DictReader(io.StringIO(output.content(table, ".csv").decode())))
    assert [float(row["norm"]) if row["norm"] else None for row in read] == [
        row["norm"] for row in table
    ]
    assert {row["assumption_3"] for row in read} == {"true", ""}


@pytest.mark.parametrize("name", ["r.parquet", "r.csv"])
def test_a_finished_sweep_is_not_done_again(
    small: plan.Plan, table: list[Row], tmp_path: Path, name: str
):
    path = str(tmp_path / name)
    done = run.to_file(small, path, lambda todo, mark: iter(table))
    assert (done.runs, done.kept, done.complete) == (18, 0, False)
    assert os.listdir(tmp_path) == [name]
    assert run.to_file(small, path, never).complete
    other = plan.parse(SMALL.replace("1500", "1501"))
    with pytest.raises(InputError, match="there is such a file already; give --overwrite"):
        run.to_file(other, path, never)


def never(todo: backends.Todo, mark: str) -> Iterator[Row]:
    raise AssertionError(f"{len(todo)} runs of {mark} were begun")


def stopped(table: list[Row], after: int) -> run.Start:
    """A backend that stops after some rows, as if by the reader."""

    def start(todo: backends.Todo, mark: str) -> Iterator[Row]:
        yield from [table[number] for number in todo][:after]
        raise KeyboardInterrupt

    return start


@pytest.fixture
def half(small: plan.Plan, table: list[Row], tmp_path: Path) -> str:
    """The output of a sweep that was stopped after seven rows."""
    path = str(tmp_path / "r.parquet")
    with pytest.raises(KeyboardInterrupt):
        run.to_file(small, path, stopped(table, 7))
    assert os.listdir(tmp_path) == ["r.parquet.runs"]
    return path


def given(table: list[Row], asked: list[int]) -> run.Start:
    """A backend that looks rows up, and notes which were asked for."""

    def start(todo: backends.Todo, mark: str) -> Iterator[Row]:
        asked.extend(todo)
        return (table[number] for number in reversed(todo))

    return start


def test_a_stopped_sweep_goes_on_and_ends_with_the_same_file(
    small: plan.Plan, table: list[Row], half: str
):
    asked: list[int] = []
    done = run.to_file(small, half, given(table, asked))
    assert (done.kept, asked) == (7, list(range(7, 18)))
    assert Path(half).read_bytes() == output.content(table, ".parquet")
    assert not os.path.exists(f"{half}.runs")


def test_a_record_cut_anywhere_loses_the_torn_line_only(
    small: plan.Plan, table: list[Row], half: str
):
    record = Path(f"{half}.runs")
    content = record.read_bytes()
    head = journal.Head(small.mark, fingerprint.code_hash(), 18)
    for cut in [*range(0, 90, 7), *range(100, len(content), 511), len(content) - 1]:
        record.write_bytes(content[:cut])
        with journal.opened(str(record), head) as kept:
            whole = max(0, content[:cut].count(b"\n") - 1)
            assert len(kept.rows) == whole
            kept.add(table[17])
        with journal.opened(str(record), head) as kept:
            assert kept.rows[17] == table[17]


def test_the_run_of_a_line_that_is_no_row_is_done_again(
    small: plan.Plan, table: list[Row], half: str
):
    record = Path(f"{half}.runs")
    lines = record.read_bytes().split(b"\n")
    lines[3] = lines[3].replace(b'"vocab_size": ', b'"vocab_size": "x')
    lines[4] = lines[4].replace(small.mark.encode(), b"another")
    lines[5] = b"\x00\xff"
    record.write_bytes(b"\n".join(lines))
    asked: list[int] = []
    run.to_file(small, half, given(table, asked))
    assert asked == [2, 3, 4, *range(7, 18)]
    assert Path(half).read_bytes() == output.content(table, ".parquet")


@pytest.mark.parametrize("what", ["sweep", "code", "damage"])
def test_a_record_of_something_else_is_refused_until_it_is_thrown_away(
    small: plan.Plan, table: list[Row], half: str, what: str, monkeypatch: pytest.MonkeyPatch
):
    record, message = Path(f"{half}.runs"), "the TOML file has changed since"
    if what == "sweep":
        small = plan.parse(SMALL.replace("1500", "1501"))
        table = run.rows(plan.Plan(small.cells[:1])) * 18
        table = [row | {"run": number, "sweep": small.mark} for number, row in enumerate(table)]
    elif what == "code":
        message = "ntpcore or one of its packages has changed since"
        monkeypatch.setattr(run, "code_hash", lambda: "another")
        table = [row | {"code": "another"} for row in table]
    else:
        message = "its first line is damaged"
        record.write_bytes(record.read_bytes().replace(b'"sweep": "', b'"sweep": ', 1))
    content = record.read_bytes()
    with pytest.raises(InputError, match=message) as caught:
        run.to_file(small, half, never)
    assert "give --restart" in str(caught.value)
    assert record.read_bytes() == content
    asked: list[int] = []
    run.to_file(small, half, given(table, asked), restart=True)
    assert asked == list(range(18))
    assert Path(half).read_bytes() == output.content(table, ".parquet")


def test_a_file_that_is_no_record_is_never_touched(small: plan.Plan, tmp_path: Path):
    foreign = tmp_path / "r.csv.runs"
    for content in (b"my notes\n", b"my notes"):
        foreign.write_bytes(content)
        for restart in (False, True):
            with pytest.raises(InputError, match="not the record of a sweep; move it away"):
                run.to_file(small, str(tmp_path / "r.csv"), never, restart=restart)
        assert foreign.read_bytes() == content


def test_two_sweeps_do_not_write_to_one_record(small: plan.Plan, half: str):
    head = journal.Head(small.mark, fingerprint.code_hash(), 18)
    with journal.opened(f"{half}.runs", head), pytest.raises(InputError, match="another sweep"):
        run.to_file(small, half, never)


def test_targets_that_cannot_be_written_are_refused_before_anything_is_run(
    small: plan.Plan, tmp_path: Path
):
    def refused(path: Path | str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            run.to_file(small, str(path), never)

    (tmp_path / "full.csv").symlink_to("/dev/full")
    (tmp_path / "other.csv.runs").symlink_to("/dev/full")
    refused(tmp_path / "full.csv", "not a plain file")
    refused(tmp_path / "other.csv", "not a plain file")
    refused("/proc/r.csv", r"r\.csv\.runs: cannot be written")  # for root as well
    refused(tmp_path / "nowhere/r.csv", "cannot be written")
    refused(tmp_path / "r.txt", "ends in .parquet or .csv")


def test_a_result_that_cannot_be_written_leaves_all_runs_in_the_record(
    small: plan.Plan, table: list[Row], tmp_path: Path
):
    target = tmp_path / "r.csv"

    def hindered(todo: Mapping[int, plan.Cell], mark: str) -> Iterator[Row]:
        target.mkdir()  # somebody makes a folder of that name meanwhile
        return iter(table)

    with pytest.raises(InputError, match="all 18 runs are kept") as caught:
        run.to_file(small, str(target), hindered)
    assert "not a plain file" in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == ["r.csv", "r.csv.runs"]
    target.rmdir()
    assert run.to_file(small, str(target), never).kept == 18


FULL_DISK = """
import resource, sys
from ntpcore.data.dataset import InputError
from ntpcli.sweep import plan, run
sweep, path = plan.read(sys.argv[1]), sys.argv[2]
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
for limit in (10, 5000, 12345):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        run.to_file(sweep, path)
    except InputError as error:
        print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
print(run.to_file(sweep, path).kept)
"""


def test_a_full_disk_loses_nothing_that_is_finished(table: list[Row], tmp_path: Path):
    (tmp_path / "s.toml").write_text(SMALL, encoding="utf-8")
    path = tmp_path / "r.csv"
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "s.toml"), str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert all("cannot be written (File too large)" in line for line in lines[:3])
    kept = [int(n) for n in re.findall(r"(\d+) finished runs are kept", done.stdout)]
    assert len(kept) == 2
    assert 0 < kept[0] < kept[1] == int(lines[3])
    assert path.read_bytes() == output.content(table, ".csv")


KILLED = """
import os, sys
from ntpcli.sweep import backends, plan, run
sweep, path = plan.read(sys.argv[1]), sys.argv[2]
list(backends.here({0: sweep.cells[0], 8: sweep.cells[8]}, sweep.mark))  # loops are compiled now
real = {name: getattr(os, name) for name in ("fsync", "replace", "remove")}
write = os.write


def attempt(line=0, call="", after=False):
    written = 0

    def torn(file, content):  # so many lines of the record are whole, and half of one more
        nonlocal written
        written += 1
        if written < line:
            return write(file, content)
        write(file, content[: len(content) // 2])
        os.kill(os.getpid(), 9)

    def die(*arguments):
        if after:
            real[call](*arguments)
        os.kill(os.getpid(), 9)

    pid = os.fork()
    if pid == 0:
        if call:
            setattr(os, call, die)
        if line:
            os.write = torn
        kept = run.to_file(sweep, path).kept
        os._exit(kept)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


print(*(attempt(line) for line in (1, 4, 5, 1, 0)))  # and the last one may finish
with open(path, "rb") as stream:
    assert stream.read() == open(sys.argv[3], "rb").read()
for call in real:
    for after in (False, True):
        for name in (path, path + ".runs"):
            if os.path.exists(name):
                real["remove"](name)
        print(attempt(call=call, after=after), attempt(), os.listdir())
        with open(path, "rb") as stream:
            assert stream.read() == open(sys.argv[3], "rb").read(), (call, after)
"""


def test_a_sweep_killed_at_any_moment_ends_with_the_same_file(table: list[Row], tmp_path: Path):
    (tmp_path / "s.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "wanted").write_bytes(output.content(table, ".parquet"))
    (tmp_path / "work").mkdir()
    names = [str(tmp_path / name) for name in ("s.toml", "work/r.parquet", "wanted")]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *names],
        cwd=tmp_path / "work",
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=3000,
    )
    assert done.returncode == 0, done.stderr
    in_lines, *at_calls = done.stdout.splitlines()
    # The first line of the record is torn; of the next four, which are it and three rows, two rows
    # are whole; of the next five rows four are; of the next one none is.
    assert in_lines == "-9 -9 -9 -9 6"
    assert at_calls == ["-9 18 ['r.parquet']"] * 6  # all runs were in the record


# Where the runs are done


def test_processes_find_what_this_one_finds_and_a_deadly_run_is_a_row(
    small: plan.Plan, table: list[Row], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(backends, "in_process", deadly)
    todo = {number: small.cells[number] for number in range(4)}
    found = {row["run"]: row for row in backends.on_processes(todo, small.mark, jobs=2)}
    assert sorted(found) == list(range(4))
    assert [found[number] for number in (0, 1, 3)] == [*table[:2], table[3]]
    assert (found[2]["status"], found[2]["error"]) == ("failed", "ProcessDied")


def deadly(number: int, cell: plan.Cell, mark: str) -> Row:
    """A run that kills its process if it is the third."""
    if number == 2:
        os.kill(os.getpid(), 9)
    return backends.here({number: cell}, mark).__next__()


ORPHANS = """
import os, sys, time
from ntpcli.sweep import backends
backends.WATCH_SECONDS = 0.05
reading, writing = os.pipe()
pid = os.fork()
if pid == 0:
    child = os.fork()
    if child == 0:
        backends._leave_with_parent()
        os.write(writing, b"1")
        time.sleep(10**6)
    print(child, flush=True)
    os.read(reading, 1)  # the child watches its parent from now on
    os._exit(0)
os.waitpid(pid, 0)
"""


def test_a_process_ends_when_its_parent_was_killed():
    command = [sys.executable, "-c", ORPHANS]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=3000
    )
    assert done.stdout.strip().isdigit()  # and its output was closed, long before its sleep ends


# The command line


@pytest.fixture
def ntpcore(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ntpcore", "sweep", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        return (int(stopped.value.code or 0), *capsys.readouterr())

    return call


def test_the_command_writes_a_table_and_says_what_failed(
    ntpcore: Callable[..., tuple[int, str, str]], tmp_path: Path
):
    file, out = tmp_path / "s.toml", tmp_path / "r.csv"
    file.write_text("[[grid]]\ngenerator = ['brackets', 'open']\nrepair = 'none'", "utf-8")
    fingerprint, said, errors = ntpcore(str(file), "-o", str(out), "--jobs", "1")
    assert (fingerprint, errors) == (0, "")
    assert "r.csv, 2 rows, 1 of them failed" in said
    assert "1 × InputError: brackets: not realizable" in said
    assert len(out.read_text("utf-8").splitlines()) == 3
    assert "complete already" in ntpcore(str(file), "-o", str(out))[1]


@pytest.mark.parametrize("missing", ["numpy", "joblib"])
def test_what_a_sweep_needs_is_one_extra(
    ntpcore: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, missing: str
):
    """Somebody without numpy would install one extra and then be asked for the other."""

    def without(*_: object, **__: object) -> None:
        raise ModuleNotFoundError(name=missing)

    monkeypatch.setattr(cli, "app", without)
    code, _, errors = ntpcore("grid.toml")
    assert code == 2
    assert f"needs the package {missing}" in errors
    assert "pip install 'ntpcore[sweep]'" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--backend", "slurm"], "--backend 'slurm': give local or dask"),
        (["--backend", "dask"], "needs --scheduler"),
        (["--scheduler", "tcp://127.0.0.1:1"], "only --backend dask has one"),
        (["--backend", "dask", "--scheduler", "x", "--jobs", "2"], "leave it out"),
        (["--backend", "dask", "--scheduler", "foo://x"], "no address; give what `dask scheduler`"),
        (
            ["--backend", "dask", "--scheduler", "127.0.0.1:1", "--patience", "1"],
            "no Dask scheduler",
        ),
    ],
)
def test_options_that_make_no_sense_get_one_message(
    ntpcore: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
    arguments: list[str],
    message: str,
):
    file = tmp_path / "s.toml"
    file.write_text("[[grid]]", encoding="utf-8")
    fingerprint, said, errors = ntpcore(str(file), "-o", str(tmp_path / "r.csv"), *arguments)
    assert (fingerprint, said) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1


def test_a_package_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, small: plan.Plan, tmp_path: Path
):
    for name in ("pyarrow", "joblib", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match="needs the package pyarrow"):
        run.to_file(small, str(tmp_path / "r.parquet"), never)
    with pytest.raises(InputError, match="needs the package joblib"):
        next(backends.on_processes({0: small.cells[0]}, "", jobs=2))


def test_the_command_line_starts_without_what_only_sweeps_need():
    show = "import sys, ntpcli.cli; print(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, "-c", "import json\n" + show]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert "ntpcli.cli" in loaded
    assert not loaded & {
        "numpy",
        "joblib",
        "pyarrow",
        "distributed",
        "dask",
        "ntpcli.sweep.run",
    }


def test_where_no_processes_can_be_started_one_sentence_says_so(tmp_path: Path):
    grid = tmp_path / "grid.toml"
    grid.write_text("[[grid]]\nsteps = 1500\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "ntpcore", "sweep", str(grid), "-o", "r.csv", "--jobs", "2"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "JOBLIB_MULTIPROCESSING": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "joblib can start no processes here" in done.stderr
    assert "give --jobs 1" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "r.csv").exists()
