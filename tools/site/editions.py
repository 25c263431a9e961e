"""What the forms of the book beside its site have in common: the PDF, the e-book, the article."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.site.html import files_of, is_evidence

START = "book/preface"
# Parts of the table of contents that are not for reading from the first line to the last, and the
# one story that stands there.
FOR_USE = ("Data of your own", "Look up")
ALSO = "pages/any_data"
STILL = (
    "This edition holds the stories of the book, without the evidence. Figures stand still here; "
    "sentences about buttons and sliders are about the book in a browser."
)
LINE = '<p class="ntp-edition" data-file="{name}">{link} ({size:.1f} MB)</p>\n'


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


def link_edition(site: Path, name: str, words: str, size: int) -> None:
    """Link a file at the root of the site from the start page, once.

    Args:
        site: the built book.
        name: of the file.
        words: what the file is.
        size: in bytes.
    """
    path = site / f"{START}.html"
    old = re.compile(f'<p class="ntp-edition" data-file="{re.escape(name)}">.*?</p>\n?', re.DOTALL)
    html = old.sub("", path.read_text(encoding="utf-8"))
    link = f'<a href="../{name}">{words}</a>'
    head, sign, rest = html.partition("</h1>")
    line = LINE.format(name=name, link=link, size=size / 1e6)
    path.write_text(f"{head}{sign}\n{line}{rest}", encoding="utf-8")
