"""What the forms of the book beside its site have in common: the PDF, the e-book, the article."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

from tools.site.html import files_of, is_evidence

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
START = "book/preface"
# Parts of the table of contents that are not for reading from the first line to the last, and the
# one story that stands there.
FOR_USE = ("Data of your own", "Look up")
ALSO = "pages/any_data"
STILL = (
    "This edition holds the stories of the book, without the evidence. Figures stand still here; "
    "sentences about buttons and sliders are about the book in a browser."
)


class EditionError(Exception):
    """An edition cannot be made; the message says what to do."""


@dataclass(frozen=True)
class About:
    """What is said about the book.

    Attributes:
        title: of the book.
        authors: their names.
        date: of the release, such as 2026-11-26.
        keywords: of the book.
        code: license of the code.
        site: address of the published book; empty if it has none.
    """

    title: str
    authors: tuple[str, ...]
    date: str
    keywords: tuple[str, ...]
    code: str
    site: str


def about(root: Path) -> About:
    """What the files at the root of the project say about the book."""
    config, cited = _read(root / "_config.yml"), _read(root / "CITATION.cff")
    return About(
        config["title"],
        tuple(author["name"] for author in cited["authors"]),
        str(cited["date-released"]),
        tuple(cited["keywords"]),
        cited["license"],
        config["sphinx"]["config"]["ntp_site"],
    )


def stories(root: Path) -> list[str]:
    """The pages for reading, in the order of the table of contents."""
    parts = [part for part in _read(root / "_toc.yml")["parts"] if not is_evidence(part)]
    return [*files_of([part for part in parts if part["caption"] not in FOR_USE]), ALSO]


def _read(path: Path) -> Mapping[str, Any]:
    """A file of settings."""
    found: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def leads_to(link: str, page: str) -> tuple[str, str] | None:
    """The file of the site that a link on a page leads to, and the place in it.

    None for an address outside the site.
    """
    parts = urlsplit(link)
    if parts.scheme:
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path)))
    return (path if parts.path else f"{page}.html"), parts.fragment


def write_edition(kind: str, make: Callable[[], Path]) -> int:
    """Make an edition and say where it is.

    Returns:
        The exit code: 0 done, 2 it cannot be done here.
    """
    try:
        made = make()
    except EditionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{kind} {made.relative_to(ROOT)} ({made.stat().st_size / 1e6:.1f} MB)")
    return 0
