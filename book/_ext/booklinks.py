"""Where verdicts, rows of the ledger and the code of checks stand in the site; and badges."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from ntpverdicts import graph
from ntpverdicts.claims import MARKS, Verdict, certainty_words, css_class
from ntpverdicts.maths import parts, plain
from tools.site.checksources import Source

LEDGER = "book/claims"  # the page on which every claim has a row of its own


def mark_of(row: dict[str, Any]) -> str:
    """The sign that stands before the word of a verdict."""
    return MARKS[Verdict(row["verdict"])]


def link_to(app: Sphinx, docname: str, row: dict[str, Any]) -> str:
    """Address of a claim's verdict, as seen from a page."""
    address = app.builder.get_relative_uri(docname, f"pages/{row['page']}")
    return f"{address}#verdict-{row['label']}"


def link_to_row(app: Sphinx, docname: str, row: dict[str, Any]) -> str:
    """Address of a claim's row in the ledger."""
    return f"{app.builder.get_relative_uri(docname, LEDGER)}#{row['label']}"


def link_to_source(app: Sphinx, docname: str, row: dict[str, Any]) -> str:
    """Address of the code of a claim's check; empty when there is none."""
    source: Source | None = app.env.ntp_sources.get(row["label"])  # type: ignore[attr-defined]
    if source is None:
        return ""
    return f"{app.builder.get_relative_uri(docname, source.page)}#{source.anchor}"


def link_of_box(app: Sphinx, docname: str) -> graph.Address:
    """Where the boxes of a graph on a page lead: to verdicts, or for planned claims to rows."""
    return lambda row: (link_to_row if row["planned"] else link_to)(app, docname, row)


def inline(text: str) -> list[nodes.Node]:
    """A text of a claim or a check as nodes, with its formulas."""
    return [nodes.math(part, part) if tex else nodes.Text(part) for part, tex in parts(text)]


def make_badge(
    app: Sphinx, docname: str, row: dict[str, Any], *, linked: bool = True
) -> nodes.inline:
    """A badge with the verdict, which links to where it was reached unless it shall not."""
    classes = ["ntp-badge", css_class(row["verdict"])]
    words: list[nodes.Node] = [nodes.Text(f"{mark_of(row)} {graph.word_of(row)}")]
    if known := certainty_words(row):
        words.append(nodes.inline(known, known, classes=["ntp-how"]))  # tables on phones hide it
    if row["planned"] or not linked:
        return nodes.inline("", "", *words, classes=classes)
    title = f"{row['number']}: {plain(row['title'])}"
    address = link_to(app, docname, row)
    link = nodes.reference("", "", *words, refuri=address, internal=True, reftitle=title)
    return nodes.inline("", "", link, classes=classes)
