"""Tokens and file names as a terminal may safely print them."""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Callable, Iterable

Write = Callable[[str, str], None]  # text and the role that gives its colour

_CELLS = 24


def show(token: str) -> str:
    """A token as a terminal may safely print it: control characters escaped, blanks quoted.

    A long one is cut, and ends in a checksum, so that no two tokens look alike for being cut.
    """
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in token)
    if len(text) > _CELLS:
        text = f"{text[: _CELLS - 9]}…{zlib.crc32(token.encode('utf-8', 'replace')):08x}"
    return repr(text) if " " in text else text


def look(token: str) -> str:
    """What a reader sees of a token: its letters in their usual form, without invisible signs.

    Composed and full-width letters become the usual ones (NFKC); soft hyphens, zero-width spaces,
    marks of direction and of byte order, all of the category Cf, go.
    """
    usual = unicodedata.normalize("NFKC", token)
    return "".join(sign for sign in usual if unicodedata.category(sign) != "Cf")


def twins(vocabulary: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of different tokens that look alike."""
    first: dict[str, str] = {}
    found = []
    for token in vocabulary:
        other = first.setdefault(look(token), token)
        if other != token:
            found.append((other, token))
    return found


def warn_of_twins(vocabulary: Iterable[str]) -> str:
    """What to say of tokens that look alike; empty where none do."""
    found = twins(vocabulary)
    if not found:
        return ""
    one, other = (token.encode("unicode_escape").decode() for token in found[0])
    many = len(found)
    alike = "1 token looks like another" if many == 1 else f"{many} tokens look like others"
    return (
        f"{alike}, spelled with other characters ({one} and {other}, for one); normalize the text "
        "to NFKC and remove invisible characters if they should be the same"
    )


def show_name(name: str) -> str:
    """A file name as a terminal may safely print it."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
