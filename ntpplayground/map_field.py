"""The field of next tokens on the page: the map n as text, and what the reader wrote into it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ntpcore.data.dataset import InputError
from ntpcore.data.next_tokens import INFERRED, Entry

LONGEST = 60  # letters of a line in a message
ARROW = re.compile(r"\s*(?:→|->|=>)\s*")
SEPARATED = re.compile(r"^(.+?)\s+(?:→|->|=>)(?:\s+(.*))?$")


def written(entries: Mapping[str, Entry]) -> str:
    """The map as the field of the page holds it, one token to a line."""
    lines = [
        f"{token} → {entry.following or ''}".rstrip()
        for token, entry in entries.items()
        if fits_a_line(token) and fits_a_line(entry.following or "x")
    ]
    return "".join(f"{line}\n" for line in lines)


def fits_a_line(token: str) -> bool:
    """Whether a line of the field can hold a token: a JSON string may contain anything."""
    return token == token.strip() and len(token.splitlines()) == 1 and not ARROW.search(token)


def edits_in(text: str, entries: Mapping[str, Entry]) -> tuple[dict[str, str | None], list[str]]:
    """What the reader changed in the field, and the tokens in it that the text does not have.

    Args:
        text: lines of the field: a token, an arrow, and its next token, nothing after the arrow for
            none.
        entries: what the page found by itself.

    Raises:
        InputError: a line has another shape, or two lines contradict each other.
    """
    said: dict[str, str | None] = {}
    for line in text.split("\n"):
        if not line.strip():
            continue
        token, following = _parts(line.strip())
        if said.setdefault(token, following) != following:
            raise InputError(
                f"Next tokens: {_quoted(token)} has two next tokens, {_quoted(said[token])} and "
                f"{_quoted(following)}; keep one of them"
            )
    unknown = [token for token in said if token not in entries]
    changed = {
        token: following
        for token, following in said.items()
        if token in entries and not _was_there(entries[token], following)
    }
    return changed, unknown


def _was_there(entry: Entry, following: str | None) -> bool:
    """Whether a line repeats what the text says; a guess that is repeated is affirmed."""
    return entry.following == following and entry.origin != INFERRED


def _parts(line: str) -> tuple[str, str | None]:
    """A token and its next token, out of a line of the field."""
    match = SEPARATED.match(line)
    parts: Iterable[str | None] = match.groups() if match else line.split()
    found = [part.strip() if part else None for part in parts]
    if len(found) != 2 or not found[0] or any(ARROW.search(part or "") for part in found):
        raise InputError(
            f"Next tokens: the line {_quoted(line)} is not a token, an arrow, and its next token, "
            "such as the → cat; leave out what follows the arrow where there is no next token"
        )
    return found[0], found[1]


def _quoted(text: str | None) -> str:
    """A text for a message, cut where it is long."""
    shown = text or "none"
    return repr(shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…")
