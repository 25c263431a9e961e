"""What the last `make bench` measured, and whether the code is still the one it measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ntpcore import compiled
from ntpcore.data import digest
from ntpcore.exact import margin_fast
from ntpcore.huang2024 import horizon, training
from ntpcore.huang2024.fast import kernel as _kernel
from ntpcore.huang2024.fast import loops as _fast
from ntpcore.huang2024.fast import packing as _packing
from ntpcore.huang2024.fast import stepping
from ntpcore.verdicts.tables import Table

MEASURED = (_fast, _kernel, _packing, compiled, horizon, margin_fast, stepping, training)


def code_hash() -> str:
    """A hash of the modules whose speed is measured, in hexadecimal."""
    return digest.of_files(Path(str(module.__file__)) for module in MEASURED)


def read(path: str) -> dict[str, Any]:
    """The results of `make bench`: date, machine, versions, code, and rows.

    Each row has name, size, peer, ours, theirs, unit, ratio and goal; ratio and goal are larger for
    better, and null where there is none.

    Raises:
        ValueError: the file holds something else.
    """
    found: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    wanted = {"name", "size", "peer", "ours", "theirs", "unit", "ratio", "goal"}
    if any(set(row) != wanted for row in found["rows"]):
        raise ValueError(f"{path} has rows without {sorted(wanted)}; run make bench")
    return found


def origin(found: dict[str, Any]) -> Table:
    """When and where it was measured, and whether the code has changed since."""
    versions = ", ".join(f"{name} {value}" for name, value in sorted(found["versions"].items()))
    current = found["code"] == code_hash()
    state = "still the one that was measured" if current else "has changed since it was measured"
    rows = [("date", found["date"])]
    rows += [(name, str(value)) for name, value in found["machine"].items()]
    rows += [("versions", versions), ("code", f"{state} ({found['code'][:12]})")]
    if found.get("note"):
        rows.append(("note", str(found["note"])))
    return Table(("measured on", ""), tuple(rows))


def summary(found: dict[str, Any]) -> str:
    """How many goals were reached."""
    judged = [row for row in found["rows"] if row["goal"] is not None and row["ratio"] is not None]
    reached = sum(row["ratio"] >= row["goal"] for row in judged)
    return f"{reached} of {len(judged)} goals reached."


def table(found: dict[str, Any], starts: tuple[str, ...] = ("",)) -> Table:
    """The rows whose name starts in one of these ways, as text."""
    rows = [
        (
            row["name"],
            row["size"],
            row["peer"],
            _number(row["ours"], row["unit"]),
            _number(row["theirs"], row["unit"]),
            _number(row["ratio"]),
            f"{_number(row['goal'])} {_mark(row)}".strip(),
        )
        for row in found["rows"]
        if row["name"].startswith(starts)
    ]
    return Table(("what", "size", "peer or limit", "ours", "theirs", "ratio", "goal"), tuple(rows))


def names(found: dict[str, Any]) -> list[str]:
    """The names of the rows, each once."""
    return list(dict.fromkeys(row["name"] for row in found["rows"]))


def _mark(row: dict[str, Any]) -> str:
    """Whether the goal was reached."""
    if row["goal"] is None or row["ratio"] is None:
        return ""
    return "reached" if row["ratio"] >= row["goal"] else "missed"


def _number(value: float | None, unit: str = "") -> str:
    """A number with three digits and its unit; a dash where there is none."""
    if value is None:
        return "–"
    shown = f"{value:,.0f}" if 1000 <= value < 1e8 else f"{value:.3g}"
    return f"{shown} {unit}".strip()
