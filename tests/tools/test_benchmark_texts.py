"""Rows on texts: what a command takes, and a folder that is not there."""

from __future__ import annotations

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
    assert len(rows) == 6 + 6
    assert all(one["ours"] is None and "WIKITEXT_DIR" in one["peer"] for one in rows)


def test_a_text_that_is_there_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "SIZE", 300)
    (tmp_path / "wiki.valid.tokens").write_text("a b c\nb c a\n", encoding="utf-8")
    monkeypatch.setenv("WIKITEXT_DIR", str(tmp_path))
    rows = list(texts.text_rows(plain_row, Path(__file__).resolve().parents[2]))
    assert [one["ours"] is not None for one in rows] == [True] * 3 + [False] * 9
    (tmp_path / "wiki.test.tokens").write_text("c b a\n", encoding="utf-8")
    rows = list(texts.text_rows(plain_row, Path(__file__).resolve().parents[2]))
    for place in range(0, len(rows), 3):
        clock, processor, memory = (one["ours"] for one in rows[place : place + 3])
        assert 0 < processor < clock + 1
        assert 5 < memory < 1000


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
    assert len(set(shuffled.splitlines())) > 10


def test_memory_of_a_command_is_its_peak() -> None:
    program = "x = bytearray(600_000_000); del x"
    assert 600 < texts.use([sys.executable, "-c", program], Path.cwd()).memory < 700


def test_a_command_that_fails_is_no_measurement() -> None:
    command = [sys.executable, "-c", "raise SystemExit(3)"]
    for codes in ((0,), (1,)):
        with pytest.raises(subprocess.CalledProcessError):
            texts.use(command, Path.cwd(), codes)
    assert texts.use(command, Path.cwd(), (3,)).processor > 0
