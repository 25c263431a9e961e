"""Links within the site: do all of them arrive, at pages and at places on pages?"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools.site.inspect_site import Page


class Links(HTMLParser):
    """The title, the ids and the links of a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.ids: set[str] = set()
        self.targets: list[str] = []
        self.title = ""
        self._in_title = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what links lead to and what they can lead to."""
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if values.get(name)}
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
                and unquote(parts.fragment) not in pages[place].ids
            ):  # fmt: skip
                wrong.append(f"{name} leads to {target}, a place that is not there")
    return wrong


def twin_ids(site: Path, pages: Iterable[str]) -> list[str]:
    """Ids that occur more than once on a page, a sentence each."""
    return [
        f"{name} has {found} {often} times"
        for name in pages
        for found, often in Page((site / name).read_text(encoding="utf-8")).ids.items()
        if often > 1
    ]


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
