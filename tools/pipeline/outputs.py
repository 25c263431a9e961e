"""What the executed notebooks say about the claims: the one source of verdicts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from ntpverdicts.claims import MIME
from ntpverdicts.ledger import Data
from ntpverdicts.tables import DOWNLOAD_MIME, NARROW_MIME

SVG = "image/svg+xml"


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
        Found(page, with_repeat(data[MIME], page))
        for page, data in shown_in(folder)
        if MIME in data
    ]


def shown_in(folder: Path) -> Iterator[tuple[str, Data]]:
    """Every output of the executed notebooks of a folder: its page, and its data by MIME type."""
    for path in sorted(folder.glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", []):
                yield path.stem, output.get("data", {})


def with_repeat(data: Data, page: str) -> Data:
    """The data of a check with the command that repeats it; where it has none, that of its page."""
    return data | {"repeat": data.get("repeat") or f"make page PAGE={page}"}


def read_downloads(folder: Path) -> list[tuple[str, str, str]]:
    """Page, name and text of every file that an executed notebook offers."""
    return [
        (page, data[DOWNLOAD_MIME]["name"], data[DOWNLOAD_MIME]["text"])
        for page, data in shown_in(folder)
        if DOWNLOAD_MIME in data
    ]


def read_narrow(folder: Path, without: Collection[str]) -> dict[str, str]:
    """For every drawing of the executed notebooks of a folder that has one, its narrow drawing.

    Args:
        folder: where the notebooks lie.
        without: pages that show wide drawings only.
    """
    return {
        "".join(data[SVG]).strip(): "".join(data[NARROW_MIME])
        for page, data in shown_in(folder)
        if page not in without and {SVG, NARROW_MIME} <= data.keys()
    }
