"""Runs of stage 2 with a known course or other measurements, for the tests of several chapters."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from ntpbook.shared import rare
from ntpcore.huang2024.runs import Run


@cache
def equal_run(steps: int = 200) -> Run:
    """Two sentences, equally frequent."""
    return rare.rare_run(0.0, steps, rare.ETA)


def with_rows(run: Run, **columns: Any) -> Run:
    """A run with other measurements."""
    return replace(run, second=replace(run.second, rows=replace(run.second.rows, **columns)))
