"""Executed notebooks without what differs from run to run: times, paths, random names."""

from __future__ import annotations

import json
from typing import Any

Notebook = dict[str, Any]
UNRUN = "ntp_unrun"  # in the metadata of a notebook that stands beside others without results


def normalise(notebook: Notebook) -> Notebook:
    """The same notebook with cell names c000, c001, ... and neither times nor paths.

    What papermill was given as parameters stays, since it is part of the result.
    """
    cells = [
        _normalise_cell(cell, f"c{number:03d}") for number, cell in enumerate(notebook["cells"])
    ]
    metadata = {key: value for key, value in notebook["metadata"].items() if key != "papermill"}
    parameters = notebook["metadata"].get("papermill", {}).get("parameters", {})
    metadata["papermill"] = {"parameters": parameters}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _normalise_cell(cell: Notebook, name: str) -> Notebook:
    """One cell under its new name, without times."""
    kept = {k: v for k, v in cell["metadata"].items() if k not in ("execution", "papermill")}
    return cell | {"id": name, "metadata": kept}


def to_text(notebook: Notebook) -> str:
    """A notebook as JSON in one canonical form."""
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
