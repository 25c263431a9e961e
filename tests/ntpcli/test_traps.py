"""Small traps that a reader's data or shell may set: one message, exit code 2, nothing written."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
from data_file import write
from program import EXAMPLE_1, Run, sentences

from ntpcli import storage, terminal
from ntpcli.report import page as report_page


@pytest.mark.parametrize("text", ['[\n {"sentence": ["a"], "next": "b"}\n]\n', "[]", '[{"a": 1}]'])
def test_a_json_array_is_told_to_become_lines(run: Run, tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text, "a.json")
    code, out, err = run("check", path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{path}:1: this looks like a JSON array; write one object per line" in err


@pytest.mark.parametrize("text", ['{\n "sentence": ["a"],\n "next": "b"\n}\n', '{"next": "b",\n'])
def test_an_object_over_several_lines_is_told_to_become_one(
    run: Run, tmp_path: Path, text: str
) -> None:
    path = write(tmp_path, text, "a.json")
    code, out, err = run("check", path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{path}:1: broken JSON" in err
    assert "this object does not end on its line; write one object per line" in err


def test_a_fault_within_the_line_is_told_by_its_column(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, '{"sentence": ["a"] "next": "b"}\n', "a.jsonl")
    assert f"{path}:1: broken JSON at column 20" in run("check", path).err


def test_a_list_is_no_token_and_cannot_be_quoted(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, '{"sentence": [["a", "b"]], "next": "c"}\n', "a.jsonl")
    err = run("check", path).err
    assert err.endswith('the token ["a", "b"] is a list; give one string for each\n')
    path = write(tmp_path, '{"sentence": [1], "next": "c"}\n', "a.jsonl")
    assert run("check", path).err.endswith("the token 1 is a number; quote it\n")


@pytest.mark.parametrize("count", ["9" * 4000, str(10**15 + 1)])
def test_a_count_of_thousands_of_digits_is_refused_in_a_short_line(
    run: Run, tmp_path: Path, count: str
) -> None:
    path = write(tmp_path, f'{{"sentence": ["a"], "next": "b", "count": {count}}}\n', "a.jsonl")
    code, _, err = run("check", path)
    assert (code, len(err) < 300) == (2, True)
    assert "give a positive integer up to 1e+15" in err
    path = write(tmp_path, f'{{"sentence": ["a"], "next": "a", "count": {10**15}}}\n', "a.jsonl")
    assert run("check", path).code == 0


def test_an_archive_of_zeros_is_refused_before_it_is_unpacked(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "bomb.npz"
    head = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (2**28,)}
    np.lib.format.write_array_header_1_0(head, shape)  # type: ignore[attr-defined]
    with (
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("weights.npy", "w", force_zip64=True) as stream,
    ):
        stream.write(head.getvalue())
        for _ in range(1100):
            stream.write(bytes(2**20))
    assert target.stat().st_size < 10_000_000
    code, out, err = run("predict", str(target), "--sentence", "a")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "it unpacks to 1153 MB, and 1000 MB fit" in err


def test_a_run_of_usual_size_is_unpacked(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = str(tmp_path / "a.npz")
    assert run("train", EXAMPLE_1, "-o", target, "--steps", "3").code == 0
    assert storage.load(target).trajectory.state.step == 3
    monkeypatch.setattr(storage, "ROOM", 100)
    assert "it unpacks to 0 MB" in run("predict", target, "--sentence", "S").err


def test_a_closed_standard_output_is_told() -> None:
    words = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "ntpcore", "check", EXAMPLE_1]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=3000, check=False)
    assert done.returncode == 2
    assert sentences(done.stderr) == ["ntpcore: standard output is closed; send it somewhere"]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("check", EXAMPLE_1, "--steps", "x"), "Invalid value for '--steps'"),
        (("check", EXAMPLE_1, "--steps", "0"), "Invalid value for '--steps'"),
        (("check",), "Missing argument"),
        (("check", EXAMPLE_1, "--nope"), "No such option: --nope"),
        (("nope",), "No such command 'nope'"),
        (("--nope",), "No such option: --nope"),
        (("claims", "a", "b"), "Got unexpected extra argument"),
    ],
)
def test_wrong_options_are_told_in_one_line_as_all_else(
    run: Run, words: tuple[str, ...], message: str
) -> None:
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"ntpcore: {message}")
    command = f"ntpcore {words[0]}" if words[0] in ("check", "claims") else "ntpcore"
    assert err.endswith(f"; {command} --help lists what there is\n")


def test_a_folder_is_no_record_of_claims(run: Run, tmp_path: Path) -> None:
    code, out, err = run("claims", "--from", str(tmp_path))
    assert (code, out, err) == (2, "", f"ntpcore: {tmp_path}: cannot be read (Is a directory)\n")


def test_a_report_reads_its_data_once_even_from_a_pipe(tmp_path: Path) -> None:
    pipe, content = tmp_path / "pipe.txt", b"a b\nb a\n"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True).start()
    with report_page.copied(str(pipe), None) as (data, _):
        assert Path(data).read_bytes() == content
        digest = hashlib.sha256(Path(data).read_bytes()).hexdigest()
    assert digest == hashlib.sha256(content).hexdigest()
    assert not Path(data).exists()


def test_a_report_is_on_the_bytes_that_it_read_first(tmp_path: Path) -> None:
    file = tmp_path / "data.txt"
    file.write_text("a b\n")
    with report_page.copied(str(file), None) as (data, _):
        file.write_text("changed\n")
        assert Path(data).read_text() == "a b\n"


def test_messages_about_a_copy_name_the_file(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, b"\xff\xfe", "bad.txt")
    code, _, err = run("report", path, "-o", str(tmp_path / "r.html"))
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(f"ntpcore: {path}:1: not valid UTF-8")
    assert "ntpcore-" not in err


def test_long_tokens_that_are_cut_stay_apart(run: Run, tmp_path: Path) -> None:
    long = "x" * 40
    tokens = [long + "1", long + "2", long + "1" + long, long + "2" + long, "y" + long]
    shown = [terminal.show(token) for token in tokens]
    assert len(set(shown)) == len(tokens)
    assert all(len(text) == 24 for text in shown)
    assert terminal.show("x" * 24) == "x" * 24
    said = run("check", write(tmp_path, f"{tokens[0]} {tokens[1]}\n{tokens[1]} {tokens[0]}\n")).out
    assert f"{shown[0]} → {shown[1]}" in said


def test_tokens_that_look_alike_are_warned_of_once(run: Run, tmp_path: Path) -> None:
    composed, apart = "\u00e9", "e\u0301"
    said = run("check", write(tmp_path, f"{composed} {apart}\n{apart} {composed}\n")).out
    assert said.count("looks like another") == 1
    assert "1 token looks like another, spelled with other characters (\\xe9 and e\\u0301" in said
    assert "like another" not in run("check", EXAMPLE_1).out


@pytest.mark.parametrize(
    "odd",
    ["a\u200bb", "a\u00adb", "\uff41b", "\ufeffab", "a\u2060b"],
    ids=["zero-width space", "soft hyphen", "full-width letter", "byte order mark", "word joiner"],
)
def test_invisible_characters_and_wide_letters_are_warned_of(odd: str) -> None:
    assert terminal.twins(["ab", odd]) == [("ab", odd)]
    assert terminal.warn_of_twins(["ab", odd, "ba"]).startswith("1 token looks like another")
    assert terminal.twins(["ab", "Ab", "a\u1e05"]) == []


def test_a_report_of_a_file_without_end_is_refused(run: Run, tmp_path: Path) -> None:
    code, _, err = run("report", "/dev/zero", "-o", str(tmp_path / "r.html"))
    assert (code, err.count("\n")) == (2, 1)
    assert "/dev/zero: this looks like a binary file" in err
    assert list(tmp_path.iterdir()) == []
