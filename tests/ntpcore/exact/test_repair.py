"""The largest realizable part: by hand, against every part, and as a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import strategies
from hypothesis import given, settings

from ntpbook.readers.realizable.checks import largest_by_force
from ntpcore.commands import cli
from ntpcore.commands import repair as repair_report
from ntpcore.data import files, order
from ntpcore.data.dataset import Dataset, InputError, from_samples, from_sentences, read
from ntpcore.exact import repair, repair_program

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def exact(data: Dataset, n: dict[str, str] | None = None) -> repair.Repair:
    return repair_program.solve_exact(repair.tabulate(data, n))


def greedy(data: Dataset, n: dict[str, str] | None = None) -> repair.Repair:
    return repair.solve_greedy(repair.tabulate(data, n))


def dropped(found: repair.Repair) -> list[tuple[str, str]]:
    numbers = set(range(len(found.table.samples))) - set(found.kept)
    spelled = [repair.spell(found.table, number) for number in sorted(numbers)]
    return [(" ".join(sentence), following) for sentence, following in spelled]


def test_realizable_data_lose_nothing() -> None:
    found = exact(read(str(EXAMPLES / "example1.txt")))
    assert (found.dropped, found.gap, found.share) == ((), 0, 1.0)
    assert found.collocation == {"S": "V", "V": "O", "O": "P", "P": "S"}


def test_the_rarer_of_two_contradicting_samples_goes() -> None:
    data = from_samples([(["a"], "b", 2), (["a"], "a", 5), (["b"], "a", 1)])
    found = exact(data)
    assert dropped(found) == [("a", "b"), ("b", "a")]
    assert (found.kept_weight, found.bound) == (5, 5)
    assert found.dropped[0].reason == "its next token 'b' is n('b'), and 'b' is not in the sentence"


def test_a_given_collocation_is_kept_and_decides() -> None:
    data = from_samples([(["a"], "b", 2), (["a"], "a", 5), (["b"], "a", 1)])
    found = exact(data, {"a": "b"})
    assert dropped(found) == [("a", "a")]
    assert found.collocation == {"a": "b", "b": "a"}
    assert exact(data, {"a": "z"}).kept_weight == 1


def test_a_given_collocation_that_is_not_injective_is_refused() -> None:
    with pytest.raises(InputError, match="maps 'a' and 'b' to 'c'"):
        repair.tabulate(from_sentences(["a c"]), {"a": "c", "b": "c"})


def test_a_part_may_be_empty_where_nothing_fits_the_given_collocation() -> None:
    found = exact(from_samples([(["a"], "b")]), {"a": "a"})
    assert (found.kept, found.rest(), found.share) == ((), None, 0.0)
    with pytest.raises(InputError, match="no sample fits the given collocation"):
        repair_report.rest_lines(found)


def test_equal_samples_of_different_lines_are_counted_together() -> None:
    table = repair.tabulate(from_sentences(["a b c", "a b c", "a b d"]))
    assert table.counts == (3, 2, 1)
    assert table.weight == 6


def test_sentences_too_long_to_be_spelled_out_are_refused_by_line() -> None:
    with pytest.raises(InputError, match="data:2: the sentences up to here"):
        repair.tabulate(from_sentences(["a b", "a b c d e"]), max_cells=5)


def test_data_too_large_for_the_program_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = from_sentences(["a b a c", "b a b a a", "c c a b c"])
    monkeypatch.setattr(repair_program, "MAX_PROGRAM", 3)
    with pytest.raises(InputError, match="add --greedy"):
        exact(data)
    many = from_samples([(s.sentence, s.next_token, 10**9 + 1) for s in data.samples()])
    assert greedy(many).gap > 0


def test_a_solver_without_time_leaves_the_greedy_part_and_its_bound() -> None:
    table = repair.tabulate(read(str(EXAMPLES / "gettysburg.txt")))
    found = repair_program.solve_exact(table, seconds=0.1)
    assert found.kept_weight >= repair.solve_greedy(table).kept_weight
    assert found.kept_weight < found.bound <= repair.simple_bound(table)


@settings(max_examples=60, deadline=None)
@given(strategies.messy_data())
def test_parts_are_realizable_and_bounds_hold(data: Dataset) -> None:
    best, quick = exact(data), greedy(data)
    assert quick.kept_weight <= best.kept_weight == best.bound <= quick.bound
    for found in (best, quick):
        rest = found.rest()
        assert rest is not None
        assert order.analyse(rest, found.collocation).realizable.holds
        assert sum(line.count for line in rest.lines) == found.kept_weight
        assert found.kept_weight + sum(one.count for one in found.dropped) == found.table.weight
    if len(data.vocabulary) <= 3 and len(best.table.samples) <= 8:
        assert best.kept_weight == largest_by_force(data)


@settings(max_examples=30, deadline=None)
@given(strategies.realizable_data())
def test_realizable_data_lose_nothing_ever(data: Dataset) -> None:
    assert not exact(data).dropped


# The command


def run(*arguments: str, folder: Path, code: int = 0, **environment: str) -> str:
    """What the command printed, on standard error if it failed."""
    done = subprocess.run(
        [sys.executable, "-m", "ntpcore", "repair", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(EXAMPLES.parent)} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr if code else done.stdout


def test_what_is_written_passes_the_check(tmp_path: Path) -> None:
    out = run(
        str(EXAMPLES / "gettysburg.txt"),
        "--greedy",
        *("--write", "rest.jsonl", "--write-collocation", "n.txt"),
        folder=tmp_path,
    )
    assert "the rest is in rest.jsonl" in out
    assert sorted(os.listdir(tmp_path)) == ["n.txt", "rest.jsonl"]
    data = read(str(tmp_path / "rest.jsonl"))
    n = order.read_collocation(str(tmp_path / "n.txt"))
    assert order.analyse(data, n).realizable.holds


def test_json_holds_every_dropped_sample(tmp_path: Path) -> None:
    found = json.loads(run(str(EXAMPLES / "contradiction.txt"), "--json", folder=tmp_path))
    assert (found["kept_weight"], found["weight"], found["gap"]) == (3, 4, 0)
    assert [(one["line"], one["next"]) for one in found["dropped"]] == [(1, "0")]


def test_an_existing_file_is_replaced_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("a b\nb a\n")
    (tmp_path / "rest.jsonl").write_text("precious")
    message = run("data.txt", "--write", "rest.jsonl", folder=tmp_path, code=2)
    assert message.startswith("ntpcore: rest.jsonl: there is such a file already; give --overwrite")
    assert (tmp_path / "rest.jsonl").read_text() == "precious"
    run("data.txt", "--write", "rest.jsonl", "--overwrite", folder=tmp_path)
    assert len(read(str(tmp_path / "rest.jsonl")).lines) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--write", "data.txt", "--overwrite"), "data.txt: the data are read from this file"),
        (("--write", ""), "--write '' is no file name"),
        (("--write", "."), ".: this is not a plain file"),
        (("--write", "no/rest"), "no/rest: cannot be written (No such file or directory)"),
        (("--write", "x", "--write-collocation", "./x"), "x: named twice"),
    ],
)
def test_a_target_that_cannot_be_used_gets_one_message(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "data.txt").write_text("a b\nb a\n")
    said = run("data.txt", *options, folder=tmp_path, code=2)
    assert message in said
    assert os.listdir(tmp_path) == ["data.txt"]
    assert (tmp_path / "data.txt").read_text() == "a b\nb a\n"


def test_without_scipy_the_message_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    monkeypatch.setattr(sys, "argv", ["ntpcore", "repair", str(EXAMPLES / "gettysburg.txt")])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 2
    assert "needs SciPy, which is not installed" in capsys.readouterr().err
    assert greedy(read(str(EXAMPLES / "gettysburg.txt"))).kept


def test_tokens_with_white_space_cannot_stand_in_columns(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"sentence": ["a b"], "next": "c"}\n')
    message = run("d.jsonl", "--write-collocation", "n", "--write", "r", folder=tmp_path, code=2)
    assert "the token 'a b' holds white space" in message
    assert os.listdir(tmp_path) == ["d.jsonl"]


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "rest.jsonl").write_text("precious")
    script = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "import sys; from ntpcore.commands import cli;"
        " sys.argv = ['ntpcore', 'repair', sys.argv[1],"
        " '--greedy', '--write', 'rest.jsonl', '--overwrite']; cli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(EXAMPLES / "gettysburg.txt")],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(EXAMPLES.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("ntpcore: rest.jsonl: cannot be written (File too large)")
    assert os.listdir(tmp_path) == ["rest.jsonl"]
    assert (tmp_path / "rest.jsonl").read_text() == "precious"


def test_several_files_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    good, bad = str(tmp_path / "good"), str(tmp_path / "none" / "bad")
    with pytest.raises(InputError, match="cannot be written"):
        files.write_whole({good: b"1", bad: b"2"})
    assert os.listdir(tmp_path) == []
