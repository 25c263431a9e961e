"""Links within the site: do all of them arrive, at pages and at places on pages?"""

from __future__ import annotations

import posixpath
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Links(HTMLParser):
    """The title, the ids and the links of a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.ids: set[str] = set()
        self.twins: set[str] = set()  # ids that occur more than once
        self.named: set[str] = set()
        self.targets: list[str] = []
        self.title = ""
        self._in_title = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what links lead to and what they can lead to."""
        values = {name: value or "" for name, value in attrs}
        if own := values.get("id"):
            (self.twins if own in self.ids else self.ids).add(own)
        if name := values.get("name"):
            self.named.add(name)
        self.targets += [values[name] for name in ("href", "src", "data-later") if name in values]
        self._in_title = tag == "title" and not self.title

    def handle_data(self, data: str) -> None:
        """Collect the title."""
        if self._in_title:
            self.title += data

    def handle_endtag(self, tag: str) -> None:
        """Leave the title."""
        self._in_title = False


def read_site(site: Path) -> dict[str, Links]:
    """Every page of a site."""
    return {
        path.relative_to(site).as_posix(): Links(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts  # the theme's own, no pages
    }


def dead_links(site: Path, pages: dict[str, Links]) -> list[str]:
    """Links that arrive nowhere, a sentence each."""
    wrong = []
    for name, page in pages.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
            place = name if not parts.path else path
            if not (site / place).exists():
                wrong.append(f"{name} leads to {target}, which is not there")
            elif (
                place in pages and parts.fragment and parts.fragment != "top"
                and unquote(parts.fragment) not in pages[place].ids | pages[place].named
            ):  # fmt: skip
                wrong.append(f"{name} leads to {target}, a place that is not there")
    return wrong


def twin_ids(pages: dict[str, Links]) -> list[str]:
    """Ids that occur more than once on a page, a sentence each."""
    return [f"{name} has {twin} twice" for name, page in pages.items() for twin in page.twins]


def equal_titles(pages: dict[str, Links]) -> list[str]:
    """Titles that more than one page has, but for the start page, which leads to its first."""
    seen: dict[str, str] = {}
    wrong = []
    for name, page in pages.items():
        if name == "index.html":
            continue
        if page.title in seen:
            wrong.append(f"{name} and {seen[page.title]} are both called {page.title!r}")
        seen[page.title] = name
    return wrong
