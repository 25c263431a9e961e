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
    assert len(rows) == 6
    assert all(one["ours"] is None and "WIKITEXT_DIR" in one["peer"] for one in rows)


def test_a_text_that_is_there_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wiki.valid.tokens").write_text("a b c\nb c a\n", encoding="utf-8")
    monkeypatch.setenv("WIKITEXT_DIR", str(tmp_path))
    rows = list(texts.text_rows(plain_row, Path(__file__).resolve().parents[2]))
    assert [one["ours"] is not None for one in rows] == [True] * 3 + [False] * 3
    clock, processor, memory = (one["ours"] for one in rows[:3])
    assert 0 < processor < clock + 1
    assert clock < 60
    assert 5 < memory < 1000


def test_memory_of_a_command_is_its_peak() -> None:
    program = "x = bytearray(600_000_000); del x"
    assert 600 < texts.use([sys.executable, "-c", program], Path.cwd()).memory < 700


def test_a_command_that_fails_is_no_measurement() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        texts.use([sys.executable, "-c", "raise SystemExit(3)"], Path.cwd())
