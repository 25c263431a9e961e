"""What the last `make bench` measured, and whether the code is still the one it measured."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from ntpcore import compiled, exponential
from ntpcore.data import digest
from ntpcore.exact import margin_fast
from ntpcore.huang2024 import horizon, training
from ntpcore.huang2024.fast import kernel as _kernel
from ntpcore.huang2024.fast import loops as _fast
from ntpcore.huang2024.fast import packing as _packing
from ntpcore.huang2024.fast import stepping
from ntpverdicts.tables import Table

SOLVED = 1e-3  # a peer with a larger error solves something else
MEASURED = (
    _fast, _kernel, _packing, compiled, exponential, horizon, margin_fast, stepping, training
)  # fmt: skip


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


def read_strongest(path: str) -> dict[str, Any]:
    """The results of `make bench PART=peers`: date, machine, versions, code, and runs.

    Each run has its load and rows; a row has name, size and peer, and either a reason why the peer
    is absent, or seconds of ours and theirs, their ratio with its spread over rounds, and the error
    of the peer.

    Raises:
        ValueError: the file holds something else, or an error is not a number.
    """
    found: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    wanted = {"name", "size", "peer", "ours", "theirs", "ratio", "low", "high", "error"}
    for run in found["runs"]:
        for row in run["rows"]:
            if "absent" not in row and not (wanted <= set(row) and math.isfinite(row["error"])):
                raise ValueError(f"{path} has rows without {sorted(wanted)}; run make bench")
    return found


def strongest(found: dict[str, Any]) -> Table:
    """For each problem the peer with the smallest ratio that solves it, in each run."""
    rows: list[tuple[str, ...]] = []
    for row in found["runs"][0]["rows"]:
        key = row["name"], row["size"]
        if key in [(name, size) for name, size, *_ in rows]:
            continue
        cells = []
        for run in found["runs"]:
            solved = [
                other
                for other in run["rows"]
                if (other["name"], other["size"]) == key and other.get("error", 1.0) < SOLVED
            ]
            best = min(solved, key=lambda other: float(other["ratio"]), default=None)
            cells.append(f"{best['peer']}: {_spread(best)}" if best else "none solved it")
        rows.append((*key, *cells))
    runs = [f"strongest in run {i + 1}" for i in range(len(found["runs"]))]
    return Table(("what", "size", *runs), tuple(rows))


def peers(found: dict[str, Any], starts: tuple[str, ...] = ("",)) -> Table:
    """All rows of the strongest peers whose name starts in one of these ways."""
    later = [
        {(row["name"], row["size"], row["peer"]): row for row in run["rows"]}
        for run in found["runs"][1:]
    ]
    rows = []
    for row in found["runs"][0]["rows"]:
        if not row["name"].startswith(starts):
            continue
        key = row["name"], row["size"], row["peer"]
        if "absent" in row:
            rows.append((*key, "–", "–", "–", row["absent"], *("–" for _ in later), "–"))
            continue
        again = [_spread(run[key]) for run in later]
        set_up = _seconds(row["set_up"]) if "set_up" in row else "–"
        times = _seconds(row["ours"]), set_up, _seconds(row["theirs"])
        rows.append((*key, *times, _spread(row), *again, f"{row['error']:.0e}"))
    runs = [f"ratio, run {i + 1}" for i in range(len(found["runs"]))]
    head = ("what", "size", "peer", "ours", "their set-up", "theirs", *runs, "their error")
    return Table(head, tuple(rows))


def on_paper(found: dict[str, Any], tenfold: int = 10, wait: float = 50e-6) -> Table:
    """What the largest measured problem and one `tenfold` larger ask of machines.

    A step on some machines takes its share of the time of one, and `wait` seconds for the sum of
    squares, which is assumed of their network; all else is measured, or that times `tenfold`.
    """
    of = {(row["name"], row["size"]): row for row in found["rows"]}
    (_, size), cost = [x for x in of.items() if x[0][0] == "cost of a nonzero"][-1]
    vocabulary, number = (int(word.split("=")[1]) for word in size.split(", ")[:2])
    nonzeros = int(size.split(", ")[2].split()[0])
    seconds = nonzeros * cost["ours"] * 1e-9
    packed = nonzeros * of["memory of a nonzero", size]["ours"] / 2**20
    whole = of["stage 2, whole process", f"V={vocabulary}, N={number}"]["ours"]
    one = [
        (
            "|V|, N",
            f"{vocabulary:,}, {number:,}",
            f"{tenfold * vocabulary:,}, {tenfold * number:,}",
        ),
        ("nonzeros", f"{nonzeros:,}", f"{tenfold * nonzeros:,}"),
        ("packed data", f"{packed:,.0f} MB", f"{tenfold * packed:,.0f} MB"),
        ("whole process", f"{whole:,.0f} MB", f"at most {tenfold * whole:,.0f} MB"),
        ("one step, one thread", _seconds(seconds), _seconds(tenfold * seconds)),
        ("900 steps", _seconds(900 * seconds), _seconds(900 * tenfold * seconds)),
    ]
    shared = [
        (f"one step, {machines} machines", *(_seconds(t / machines + wait) for t in both))
        for machines in (8, 64, 512)
        for both in [(seconds, tenfold * seconds)]
    ]
    return Table(("", "measured", "on paper"), (*one, *shared))


def _spread(row: dict[str, Any]) -> str:
    """A ratio and its spread; below 1 the peer is faster."""
    if "absent" in row:
        return "–"
    return f"{row['ratio']:.2g} ({row['low']:.2g} to {row['high']:.2g})"


def _seconds(value: float) -> str:
    """A time with three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"


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
