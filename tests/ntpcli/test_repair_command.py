"""What `ntpcore repair` says and writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ntpcli import cli
from ntpcli import repair as repair_report
from ntpcore.data import files, order
from ntpcore.data.dataset import InputError, from_samples, from_sentences, read
from ntpcore.exact import repair, repair_program

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_nothing_is_written_where_nothing_fits_the_given_collocation() -> None:
    found = repair_program.solve_exact(repair.tabulate(from_samples([(["a"], "b")]), {"a": "a"}))
    with pytest.raises(InputError, match="no sample fits the given collocation"):
        repair_report.rest_lines(found)


def test_integer_program_is_said_only_where_one_ran(tmp_path: Path) -> None:
    counted = run(str(EXAMPLES / "contradiction.txt"), folder=tmp_path)
    assert "greedy search: no realizable part is larger (gap 0; counted)" in counted
    solved = run(str(EXAMPLES / "cycle.jsonl"), folder=tmp_path)
    assert "integer program: no realizable part is larger (gap 0; certified in" in solved


# The command


def run(*arguments: str, folder: Path, code: int = 0, **environment: str) -> str:
    """What the command printed, on standard error if it failed."""
    done = subprocess.run(
        [sys.executable, "-m", "ntpcore", "repair", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(EXAMPLES.parent)} | environment,
        capture_output=True,
        text=True,
        timeout=3000,
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
    assert repair.solve_greedy(repair.tabulate(read(str(EXAMPLES / "gettysburg.txt")))).kept_count


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
        "import sys; from ntpcli import cli;"
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


def test_samples_that_lines_share_are_counted_once_with_all_their_lines() -> None:
    data = from_sentences(["a b c a", "a b c b", "a b", "b a b c a", "a b c a"])
    table = repair.tabulate(data, None)
    counted: dict[tuple[int, ...], int] = {}
    for place, line in enumerate(data.lines):
        for length, times in table.times(place):
            sample = tuple(line.tokens[: length + 1])
            assert sample not in counted  # no sample comes twice
            counted[sample] = times
    by_hand: dict[tuple[int, ...], int] = {}
    for line in data.lines:
        for length in range(1, len(line.tokens)):
            sample = tuple(line.tokens[: length + 1])
            by_hand[sample] = by_hand.get(sample, 0) + line.count
    assert counted == by_hand
    assert counted[tuple(data.vocabulary.index(x) for x in "ab")] == 4
