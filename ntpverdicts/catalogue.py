"""The catalogue of a book: rows in files `claims.toml`, one beside the checks of each chapter."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from ntpverdicts.claims import Claim

FILE = "claims.toml"
_TEXTS = ("number", "title", "where")
_LABELS = ("uses", "about")


class CatalogueError(ValueError):
    """A row that cannot be read; says which and why."""


def read_rows(file: Path, page: str) -> tuple[Claim, ...]:
    """The claims of one chapter, in the order of its file.

    Args:
        file: its `claims.toml`: a table for each label with `number`, `title` and `where`, and, if
            there is something to say, `uses`, `about` (labels), `on_data` (true) and `paper_page`
            (the page of the edition that is judged).
        page: name of the notebook of the chapter.

    Raises:
        CatalogueError: the file is no TOML, or a row lacks something or has a key too many.
    """
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CatalogueError(f"{file}: no TOML ({error})") from None
    return tuple(_claim(file, page, label, row) for label, row in tables.items())


def _claim(file: Path, page: str, label: str, row: object) -> Claim:
    """One row."""
    if not isinstance(row, Mapping):
        raise CatalogueError(f"{file}: {label} is no table; begin its row with [{label}]")
    for key in _TEXTS:
        if not isinstance(row.get(key), str):
            raise CatalogueError(f'{file}: {label} has no {key}; add {key} = "..."')
    unknown = sorted(set(row) - {*_TEXTS, *_LABELS, "on_data", "paper_page"})
    if unknown:
        raise CatalogueError(f"{file}: {label} has a key {unknown[0]!r}, which means nothing here")
    lists = {key: tuple(row.get(key, ())) for key in _LABELS}
    return Claim(
        label,
        row["number"],
        row["title"],
        row["where"],
        page,
        uses=lists["uses"],
        on_data=row.get("on_data", False),
        about=lists["about"],
        paper_page=row.get("paper_page"),
    )


def gather(chapters: Iterable[tuple[Path, str]]) -> tuple[Claim, ...]:
    """The claims of all chapters, in the order given.

    Args:
        chapters: for each its folder and the name of its notebook.

    Raises:
        CatalogueError: two rows have one label, or a row names a claim that is none.
    """
    claims = tuple(one for folder, page in chapters for one in read_rows(folder / FILE, page))
    known: dict[str, Claim] = {}
    for one in claims:
        if one.label in known:
            raise CatalogueError(f"{one.label} stands in {known[one.label].page} and in {one.page}")
        known[one.label] = one
    for one in claims:
        for label in (*one.uses, *one.about):
            if label not in known:
                raise CatalogueError(f"{one.label} names {label}, which is no claim")
    return claims
