"""The next-token map n of a text: read off, inferred where that fails, or written by the reader.

The theory takes n(x) from the sentences of one token. Sentences of people begin with few words, so
most tokens have no such sentence. For these n(x) is inferred as the token that follows x most often
anywhere in the text. A token that nothing follows has no next token; none is invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ntpcore.data.dataset import Dataset, InputError

READ, INFERRED, YOURS, NONE = "read", "inferred", "yours", "none"
ORIGINS = (READ, INFERRED, YOURS, NONE)
LONGEST = 60  # letters of a line in a message
ARROW = re.compile(r"\s*(?:→|->|=>)\s*")
SEPARATED = re.compile(r"^(.+?)\s+(?:→|->|=>)(?:\s+(.*))?$")


@dataclass(frozen=True)
class Entry:
    """The next token of one token, and where it comes from.

    Attributes:
        following: n(x); None where there is none.
        origin: READ off the sentences of one token, INFERRED, YOURS for the reader's, or NONE.
        count: how often it follows x where the entry was counted.
        of: how often anything follows x there.
    """

    following: str | None
    origin: str
    count: int = 0
    of: int = 0


@dataclass(frozen=True)
class Shares:
    """What decides the next tokens of the samples, each counted as often as it occurs.

    Attributes:
        total: all samples.
        last: those whose next token is n of the query: the optimal tokens include the last word.
        earlier: those whose next token is n of earlier tokens only.
        nowhere: those whose next token is n of no token of the sentence.
        lone: those whose sentence has one distinct token, so that attention has no choice.
    """

    total: int
    last: int
    earlier: int
    nowhere: int
    lone: int


def infer(data: Dataset, edits: Mapping[str, str | None] | None = None) -> dict[str, Entry]:
    """n of each token of the vocabulary, with its origin.

    Args:
        data: the data set.
        edits: what the reader says of some tokens: their next token, or None for none.
    """
    names = data.vocabulary
    starts: dict[int, dict[int, int]] = {}
    pairs: dict[int, dict[int, int]] = {}
    for line in data.lines:
        size = len(line.tokens)
        for at in range(0 if data.prefixes else size - 2, size - 1):
            token, following = line.tokens[at], line.tokens[at + 1]
            tables = (starts, pairs) if at == 0 else (pairs,)
            for table in tables:
                found = table.setdefault(token, {})
                found[following] = found.get(following, 0) + line.count
    edits = edits or {}
    entries: dict[str, Entry] = {}
    for number, name in enumerate(names):
        if name in edits:
            entries[name] = Entry(edits[name], YOURS)
            continue
        read = starts.get(number, {})
        counted = read if len(read) == 1 else pairs.get(number, {})
        if not counted:
            entries[name] = Entry(None, NONE)
            continue
        best = max(counted, key=counted.__getitem__)  # the first of them in the text
        origin = READ if len(read) == 1 else INFERRED
        entries[name] = Entry(names[best], origin, counted[best], sum(counted.values()))
    return entries


def map_of(entries: Mapping[str, Entry]) -> dict[str, str | None]:
    """The map alone."""
    return {token: entry.following for token, entry in entries.items()}


def shares(data: Dataset, following: Mapping[str, str | None]) -> Shares:
    """What decides the next tokens of the samples under a next-token map."""
    names = data.vocabulary
    total = last = earlier = lone = 0
    for line in data.lines:
        size = len(line.tokens)
        seen: set[int] = set()
        reached: set[str | None] = set()
        for length in range(1, size):
            query, label = line.tokens[length - 1], names[line.tokens[length]]
            seen.add(query)
            reached.add(following.get(names[query]))
            if not data.prefixes and length < size - 1:
                continue
            total += line.count
            lone += line.count * (len(seen) == 1)
            if following.get(names[query]) == label:
                last += line.count
            elif label in reached:
                earlier += line.count
    return Shares(total, last, earlier, total - last - earlier, lone)


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
