"""What a proof assistant read: for labels of claims the theorems that stand for them.

`proofs/checked.json` is written by `make proofs`. It counts only while the hashes in it are those
of the sources beside it, which can be told without the proof assistant.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ntpbook.catalogue import CATALOGUE, EDITIONS
from ntpverdicts.document import known_rows
from ntpverdicts.ledger import Data
from tools.pipeline.outputs import Found

FOLDER = Path("proofs")


def is_current(folder: Path = FOLDER) -> bool:
    """Whether the record of the last check is one of these sources."""
    spec = importlib.util.spec_from_file_location("prove", folder / "prove.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return bool(module.is_current(folder))


def marks(folder: Path = FOLDER) -> dict[str, Data]:
    """For every marked label what was read; nothing where the record is not that of the sources."""
    record = folder / "checked.json"
    if not record.is_file() or not is_current(folder):
        return {}
    found: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    words = tomllib.loads((folder / "labels.toml").read_text(encoding="utf-8"))
    return {
        label: {
            "by": f"Coq {found['coq']}",
            "says": words[label]["says"],
            "differs": words[label]["differs"],
            "open": words[label]["open"],
            "theorems": entry["theorems"],
        }
        for label, entry in found["labels"].items()
        if entry["mark"]
    }


def read_steps(folder: Path = FOLDER) -> dict[str, list[str]]:
    """For labels the places of the steps by hand that were read; nothing where out of date."""
    record = folder / "checked.json"
    if not record.is_file() or not is_current(folder):
        return {}
    words = tomllib.loads((folder / "labels.toml").read_text(encoding="utf-8"))
    return {label: list(row["steps"]) for label, row in words.items() if row.get("steps")}


def rows_of(found: Iterable[Found]) -> dict[str, Data]:
    """The ledger of the book by labels: what the checks said, and how each claim is known."""
    return known_rows(CATALOGUE, (one.data for one in found), marks(), read_steps(), EDITIONS)
