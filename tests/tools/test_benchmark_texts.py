"""Rows on texts: what a command takes, and a folder that is not there."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import texts


def plain_row(*cells: Any) -> dict[str, Any]:
    return dict(zip(("name", "size", "peer", "ours", "theirs", "unit", "goal"), cells, strict=True))


def test_without_wikitext_each_row_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WIKITEXT_DIR", raising=False)
    rows = list(texts.text_rows(plain_row, Path.cwd()))
    three = len(texts.Used._fields)  # a row for each thing that is measured
    assert len(rows) == (len(texts.PARTS) + len(texts.KINDS)) * three
    assert all(one["ours"] is None and "WIKITEXT_DIR" in one["peer"] for one in rows)


def test_a_text_that_is_there_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "SIZE", 300)
    (tmp_path / "wiki.valid.tokens").write_text("a b c\nb c a\n", encoding="utf-8")
    monkeypatch.setenv("WIKITEXT_DIR", str(tmp_path))
    rows = list(texts.text_rows(plain_row, Path(__file__).resolve().parents[2]))
    # what takes both files has to wait for the other one
    there = [one["size"] == "WikiText-2, valid" for one in rows]
    assert [one["ours"] is not None for one in rows] == there
    assert any(there)
    (tmp_path / "wiki.test.tokens").write_text("c b a\n", encoding="utf-8")
    rows = list(texts.text_rows(plain_row, Path(__file__).resolve().parents[2]))
    bare = texts.use([sys.executable, "-c", ""], tmp_path)
    for place in range(0, len(rows), 3):
        clock, processor, memory = (one["ours"] for one in rows[place : place + 3])
        # no more than all processors all the time, up to a tick; and Python itself is a part of it
        assert 0 < processor < clock * (os.cpu_count() or 1) + 0.02
        assert bare.memory < memory


def test_a_text_is_enlarged_by_its_own_lines_or_their_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wiki.valid.tokens").write_text("a b c\n\nb c a\n", encoding="utf-8")
    (tmp_path / "wiki.test.tokens").write_text("d e f g\n", encoding="utf-8")
    monkeypatch.setenv("WIKITEXT_DIR", str(tmp_path))
    repeated, shuffled = (texts.enlarged(kind, 400) for kind in texts.KINDS)
    assert set(repeated.splitlines()) == {"a b c", "b c a", "d e f g"}
    for one in (repeated, shuffled):
        assert 400 <= len(one) < 400 + len("a b c\nb c a\nd e f g\n")
        words = [sorted(line.split()) for line in one.splitlines()]
        assert words == [list("abc"), list("abc"), list("defg")] * (len(words) // 3)
    # of 40 lines of three words or more each of the 6 orders is missing with a chance of (5/6)^40
    orders = {" ".join(words) for words in itertools.permutations("abc")}
    assert orders <= set(shuffled.splitlines())


def test_memory_of_a_command_is_its_peak() -> None:
    program = "x = bytearray(600_000_000); del x"
    assert 600 < texts.use([sys.executable, "-c", program], Path.cwd()).memory < 700


def test_a_command_that_fails_is_no_measurement() -> None:
    command = [sys.executable, "-c", "raise SystemExit(3)"]
    for codes in ((0,), (1,)):
        with pytest.raises(subprocess.CalledProcessError):
            texts.use(command, Path.cwd(), codes)
    assert texts.use(command, Path.cwd(), (3,)).processor > 0
