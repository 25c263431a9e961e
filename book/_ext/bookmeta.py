"""What programs read of a page: a description, its address, how to cite it, and the same as data.

The addresses of the site and of the repository are settings (`ntp_site`, `ntp_repository`); while
one is empty, nothing that needs it is written.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

LONGEST = 160  # signs of a description
YEAR = re.compile(r"^date-released: *(\d{4})-(\d{2})-(\d{2})$", re.MULTILINE)
NAME = re.compile(r'^authors:\n\s*- name: "([^"]+)"$', re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """What is said of a page.

    Attributes:
        title: its title.
        says: its description; empty for none.
        address: where it lies; empty while the site has no address.
    """

    title: str
    says: str
    address: str


def description(doctree: nodes.document) -> str:
    """The first paragraph of a page that is long enough to say something, cut at a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            text = " ".join(plain(paragraph).split())
            if len(text) >= 60:
                break
    else:
        return ""
    if len(text) <= LONGEST:
        return text
    return text[:LONGEST].rsplit(" ", 1)[0].rstrip(",;:(") + " …"


def plain(node: nodes.Element) -> str:
    """The text of a paragraph without formulas in their source and without badges."""
    words = ""
    for text in node.findall(nodes.Text):
        parents, one = [], text.parent
        while one is not None and one is not node:
            parents.append(one)
            one = one.parent
        if not any(isinstance(p, nodes.math | nodes.raw) or _badge(p) for p in parents):
            words += text.astext()
    return re.sub(r"\s*\(\s*\)", "", words)


def _badge(node: nodes.Element) -> bool:
    """Whether a node is the badge of a verdict."""
    return "ntp-badge" in node.get("classes", [])


def citation(text: str) -> tuple[str, str]:
    """Who is cited, and the date of the release, as `CITATION.cff` has them.

    Raises:
        ValueError: the file lacks one of them.
    """
    author, date = NAME.search(text), YEAR.search(text)
    if author is None or date is None:
        raise ValueError("CITATION.cff names no author, or no date of a release")
    return author[1], "/".join(date.groups())


def tags(page: Page, book: str, who: str, date: str, repository: str) -> str:
    """The elements of a page's head; what is empty is not written.

    Args:
        page: title, description and address.
        book: title of the book.
        who: the authors.
        date: of the release, as 2026/11/22.
        repository: address of the code.
    """
    data = {
        "@context": "https://schema.org",
        "@type": "TechArticle",
        "headline": page.title,
        "description": page.says,
        "url": page.address,
        "author": {"@type": "Organization", "name": who},
        "datePublished": date.replace("/", "-"),
        "inLanguage": "en",
        "isPartOf": {"@type": "Book", "name": book},
        "isBasedOn": repository,
    }
    metas = {
        "description": page.says,
        "citation_title": page.title,
        "citation_author": who,
        "citation_publication_date": date,
        "citation_inbook_title": book,
        "citation_language": "en",
        "citation_public_url": page.address,
    }
    text = json.dumps({k: v for k, v in data.items() if v}, ensure_ascii=False)
    lines = [f'<meta name="{k}" content="{escape(v)}" />' for k, v in metas.items() if v]
    lines += [f'<link rel="canonical" href="{escape(page.address)}" />'] if page.address else []
    escaped = text.replace("<", "\\u003c")
    return "\n".join([*lines, f'<script type="application/ld+json">{escaped}</script>'])


def add_tags(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Write them into pages of the book; pages of code and of the search go without."""
    if not isinstance(doctree, nodes.document):
        return
    config = app.config
    site = config.ntp_site.rstrip("/")
    who, date = app.ntp_citation  # type: ignore[attr-defined]
    title = re.sub(r"<[^>]+>", "", context.get("title", ""))
    address = f"{site}/{pagename}.html" if site else ""
    page = Page(title, description(doctree), address)
    found = tags(page, config.html_title, who, date, config.ntp_repository)
    context["metatags"] = context.get("metatags", "") + found


def read_citation(app: Sphinx) -> None:
    """Once for all pages; a book without that file names its authors only."""
    file = Path(app.srcdir) / "CITATION.cff"
    found = (
        citation(file.read_text(encoding="utf-8")) if file.is_file() else (app.config.author, "")
    )
    app.ntp_citation = found  # type: ignore[attr-defined]


class Repository(SphinxDirective):
    """`repository`: the command that gets the code, where the setting names its address."""

    def run(self) -> list[nodes.Node]:
        """Show it, or nothing."""
        address = self.config.ntp_repository
        if not address:
            return []
        command = f"git clone {address}"
        return [nodes.literal_block(command, command, language="none")]


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_config_value("ntp_site", "", "html")
    app.add_config_value("ntp_repository", "", "html")
    app.add_directive("repository", Repository)
    app.connect("builder-inited", read_citation)
    app.connect("html-page-context", add_tags)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
