"""Tables instead of sentences: CSV with a column of sentences, as data sets are often shared."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DELIMITERS = (",", "\t", ";")
NAMES = (  # the likeliest first
    "text", "texts", "sentence", "sentences", "review", "comment", "content", "utterance", "tweet",
    "document", "message", "body", "question", "prompt", "input", "title",
)  # fmt: skip
LONGEST_NAME = 30  # letters of a column's name


@dataclass(frozen=True)
class Table:
    """What a table holds.

    Attributes:
        columns: the names of its columns.
        chosen: which of them has the sentences.
        lines: for every line of the text the sentence that begins there; empty for the header.
    """

    columns: tuple[str, ...]
    chosen: int
    lines: tuple[str, ...]

    @property
    def note(self) -> str:
        """What was done with it."""
        rows = sum(bool(line) for line in self.lines)
        name, others = self.columns[self.chosen], len(self.columns) - 1
        left_out = [f"“{one}”" for at, one in enumerate(self.columns) if at != self.chosen]
        said = (
            f"This is a table (CSV). Its column “{name}” was used, "
            f"{rows} {'sentence' if rows == 1 else 'sentences'}, one in each row"
        )
        if not others:
            return f"{said}; the first line is the name of the column, not a sentence."
        return (
            f"{said}; the first line and the {'column' if others == 1 else 'columns'} "
            f"{', '.join(left_out)} were left out."
        )


def recognize(text: str) -> Table | None:
    """The table in a text; None for sentences as they are.

    A table has a first line of names, and as many cells in every row. The sentences are in the
    column that has a usual name, or else in the only one whose cells have several words.
    """
    first = text.lstrip("\ufeff").partition("\n")[0].strip()
    if first.strip('"').lower() in NAMES:
        return _read(text, ",", alone=True)
    for delimiter in DELIMITERS:
        if delimiter in first:
            found = _read(text, delimiter, alone=False)
            if found is not None:
                return found
    return None


def _read(text: str, delimiter: str, *, alone: bool) -> Table | None:
    """The table with this delimiter; a column that is `alone` may hold it unquoted."""
    numbered = [f"{line}\n" for line in text.lstrip("\ufeff").split("\n")]
    rows: list[tuple[int, list[str]]] = []
    reader = csv.reader(numbered, delimiter=delimiter)
    begun = 0
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append((begun, [" ".join(cell.split()) for cell in row]))
            begun = reader.line_num
    except csv.Error:
        return None
    if len(rows) < 2:
        return None
    (_, names), *body = rows
    if alone:
        body = [(at, [f"{delimiter} ".join(row)]) for at, row in body]
    width = len(names)
    if any(len(row) != width for _, row in body) or not _are_names(names):
        return None
    spaced = f"{delimiter} " in numbered[0]  # as in a sentence with a comma
    chosen = 0 if alone else _sentences(names, [row for _, row in body], named_only=spaced)
    if chosen is None:
        return None
    lines = [""] * len(numbered)
    for at, row in body:
        lines[at] = row[chosen]
    return Table(tuple(names), chosen, tuple(lines))


def _are_names(names: Sequence[str]) -> bool:
    """Whether a first row looks like names of columns: short, different, one word each."""
    short = all(0 < len(name) <= LONGEST_NAME and len(name.split()) == 1 for name in names)
    return short and len(set(names)) == len(names)


def _sentences(
    names: Sequence[str], rows: Sequence[Sequence[str]], *, named_only: bool
) -> int | None:
    """The column of sentences; None where none is, or several could be."""
    named = [at for usual in NAMES for at, name in enumerate(names) if name.lower() == usual]
    if named:
        return named[0]
    several = [
        at for at in range(len(names)) if sum(len(row[at].split()) for row in rows) >= 2 * len(rows)
    ]
    return several[0] if len(several) == 1 and not named_only else None


def take(path: str) -> str:
    """Put the sentences of a table in place of the table; what was done, or an empty text."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
    found = recognize(text)
    if found is None:
        return ""
    Path(path).write_text("\n".join(found.lines), encoding="utf-8")
    return found.note
