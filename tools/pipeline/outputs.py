"""What the executed notebooks say about the claims: the one source of verdicts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ntpcore.verdicts.claims import MIME, Claim, Verdict
from ntpcore.verdicts.dependencies import Standing, standings
from ntpcore.verdicts.tables import DOWNLOAD_MIME

Data = dict[str, Any]


@dataclass(frozen=True)
class Found:
    """A check in an executed notebook: the page it stands on and its data."""

    page: str
    data: Data

    @property
    def label(self) -> str:
        """Label of the claim."""
        return str(self.data.get("label"))


def read_checks(folder: Path) -> list[Found]:
    """All checks in the outputs of the executed notebooks of a folder, page by page."""
    return [
        Found(path.stem, output["data"][MIME])
        for path in sorted(folder.glob("*.ipynb"))
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", [])
        if MIME in output.get("data", {})
    ]


def read_downloads(folder: Path) -> list[tuple[str, str, str]]:
    """Page, name and text of every file that an executed notebook offers."""
    return [
        (path.stem, output["data"][DOWNLOAD_MIME]["name"], output["data"][DOWNLOAD_MIME]["text"])
        for path in sorted(folder.glob("*.ipynb"))
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", [])
        if DOWNLOAD_MIME in output.get("data", {})
    ]


def ledger(catalogue: Iterable[Claim], found: Iterable[Found]) -> list[Data]:
    """One row per claim, in the order of the catalogue; a planned claim is open."""
    checks = {check.label: check.data for check in found}
    return [_row(claim, checks.get(claim.label)) for claim in catalogue]


def _row(claim: Claim, data: Data | None) -> Data:
    """What claims.json says of one claim."""
    about: Data = {
        "label": claim.label,
        "verdict": "open",
        "page": claim.page,
        "planned": claim.page is None,
        "paper": claim.paper,
        "kind": claim.kind,
        "number": claim.number,
        "title": claim.title,
        "where": claim.where,
        "uses": list(claim.uses),
        "about": list(claim.about),
        "evidence": "planned" if claim.page is None else "not checked",
    }
    return about | (data or {})


def standings_of(rows: Iterable[Data]) -> dict[str, Standing]:
    """For every claim of a ledger what it rests on, and whether that is sound."""
    rows = list(rows)
    uses = {str(row["label"]): row["uses"] for row in rows}
    return standings(uses, {str(row["label"]): Verdict(row["verdict"]) for row in rows})


def count_verdicts(rows: Iterable[Data]) -> str:
    """How many claims have which verdict, in words."""
    rows = list(rows)
    counts = Counter(str(row["verdict"]) for row in rows)
    planned = sum(bool(row["planned"]) for row in rows)
    return (
        f"{counts['proved']} proved, {counts['consistent']} consistent, "
        f"{counts['refuted']} refuted, {counts['open']} open ({planned} of them planned)"
    )
