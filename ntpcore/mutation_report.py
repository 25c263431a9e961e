"""The scores of `make mutants` as tables for a page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ntpcore.tables import Table


@dataclass(frozen=True)
class Mutants:
    """What became of the errors planted in the code.

    Attributes:
        summary: one sentence with date, machine and command.
        scores: a row for each part of the code.
        survivors: a row for each planted error that no test noticed, with the reason.
    """

    summary: str
    scores: Table
    survivors: Table


def read_mutants(path: Path) -> Mutants:
    """The scores in a file that `make mutants` wrote.

    Raises:
        ValueError: there is no such file.
    """
    if not path.is_file():
        raise ValueError(f"there is no file {path}; `make mutants` writes it")
    found = json.loads(path.read_text(encoding="utf-8"))
    parts: dict[str, Any] = found["parts"]
    header = ("Part", "Mutants", "Tried", "Killed", "Timed out", "Survived", "Score", "Date")
    rows = tuple(_row(name, part) for name, part in parts.items())
    survivors = tuple(
        (one["id"], f"{one['before']} → {one['after']}", one["reason"] or "not yet explained")
        for part in parts.values()
        for one in part["survivors"]
    )
    return Mutants(
        _summary(found), Table(header, rows), Table(("Mutant", "Change", "Reason"), survivors)
    )


def _row(name: str, part: dict[str, Any]) -> tuple[str, ...]:
    """A part's numbers; of a sample, its seed."""
    whole = part["sample"] == part["mutants"]
    tried = "all" if whole else f"{part['sample']} (seed {part['seed']})"
    numbers = (str(part[key]) for key in ("killed", "timeouts", "survived"))
    # rounded down, so that no survivor ends in 100.0 %
    score = f"{int(1000 * part['score']) / 10:.1f} %"
    return (name, str(part["mutants"]), tried, *numbers, score, part["date"])


def _summary(found: dict[str, Any]) -> str:
    """When and with what the mutants were run."""
    machine = found["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return (
        f"Last run {found['date']} with `{found['command']}` on {machine['cores']} cores of "
        f"{machine['cpu']}; {versions}."
    )
