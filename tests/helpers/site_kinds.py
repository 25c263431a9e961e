"""Kinds of elements in pages, and few pages on which every kind occurs.

The same tools write every page, so that an element of one kind is as good, or as bad, on all of
them: what takes long is asked of a few.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.parser import HTMLParser

# An element without an end tag.
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"}
VOID |= {"track", "wbr"}
# What axe-core does not read, or reads as one thing.
CLOSED = frozenset({"head", "math", "pre", "script", "style", "svg"})
# Classes that name the language of code or the tags of a cell: they look and act alike.
NAMES = ("highlight-", "tag_")
TOLD = ("alt", "for", "href", "role", "style", "tabindex", "title", "type")

Element = tuple[str, str, tuple[tuple[str, str], ...]]
Kind = tuple[str, Element]


class Kinds(HTMLParser):
    """The kinds of elements of a page: tag, classes, and attributes, and the tag of the parent.

    Numbers in classes and values of most attributes do not tell kinds apart.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: set[Kind] = set()
        self._above: list[Element] = []
        self._closed: list[str] = []  # tags within what is read as one thing
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the kind, and go into the element."""
        if self._closed:
            self._closed += [] if tag in VOID else [tag]
            return
        values = {name: value or "" for name, value in attrs}
        words = values.get("class", "").split()
        if "math" in words:  # a formula in a sentence; axe-core reads none
            self._closed.append(tag)
            return
        words = sorted(word for word in words if not word.startswith(NAMES))
        classes = re.sub(r"\d+", "0", " ".join(words))
        told = (name for name in sorted(values) if name in TOLD or name.startswith("aria-"))
        shown = tuple((name, values[name] if name in ("role", "type") else "") for name in told)
        one = tag, classes, shown
        self.found.add((self._above[-1][0] if self._above else "", one))
        if tag in CLOSED:
            self._closed.append(tag)
        elif tag not in VOID:
            self._above.append(one)

    def handle_endtag(self, tag: str) -> None:
        """Leave the element, and those within it that have no end tag."""
        open_tags = self._closed or [one[0] for one in self._above]
        if tag in open_tags:
            inner = open_tags[::-1].index(tag) + 1
            if self._closed:
                del self._closed[-inner:]
            else:
                del self._above[-inner:]


def cover(kinds: Mapping[str, set[Kind]], sizes: Mapping[str, int]) -> list[str]:
    """Pages on which every kind occurs, chosen one by one: most new kinds for its size first.

    Args:
        kinds: of each page.
        sizes: of each page.
    """
    chosen: list[str] = []
    left: set[Kind] = set().union(*kinds.values())
    while left:
        chosen.append(max(kinds, key=lambda page: len(kinds[page] & left) / sizes[page]))
        left -= kinds[chosen[-1]]
    return chosen
