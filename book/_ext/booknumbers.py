"""Sphinx extension: the numbers of the text that rest on random runs, page by page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from booklinks import link_to
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from ntpverdicts.claims import shown_number
from ntpverdicts.ledger import drawn_with
from ntpverdicts.maths import in_html

SUMMARY = "The numbers, page by page"
NONE = "No number of this book rests on random runs."


class numbers_at_random(nodes.General, nodes.Element):  # noqa: N801
    """Stands for the list until all pages are read."""


class RandomNumbers(SphinxDirective):
    """`random-numbers`: the numbers of the text whose checks drew their instances."""

    def run(self) -> list[nodes.Node]:
        """Leave a place for them."""
        return [numbers_at_random()]


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """List the numbers that the role `result` quoted on all pages, in the order of the book."""
    for place in list(doctree.findall(numbers_at_random)):
        pages = "".join(of_page(app, docname, page) for page in app.env.collect_relations())
        listed = f'<details class="ntp-more"><summary>{SUMMARY}</summary><ul>{pages}</ul></details>'
        place.replace_self(nodes.raw("", listed if pages else f"<p>{NONE}</p>", format="html"))


def of_page(app: Sphinx, docname: str, page: str) -> str:
    """The numbers of one page by their claims, as an item of a list; empty where there are none."""
    env: Any = app.env
    names: dict[str, list[str]] = {}
    for label, name in dict.fromkeys(env.ntp_quoted.get(page, ())):
        names.setdefault(label, []).append(name)
    claims = "".join(
        f'<li><a href="{escape(link_to(app, docname, row))}">{escape(row["number"])}</a> '
        f"({in_html(row['title'])}), {drawn}: {in_html(values(row['numbers'], names[label]))}</li>"
        for label, row in ((label, env.ntp_rows[label]) for label in names)
        if (drawn := drawn_with(row))
    )
    address = escape(app.builder.get_relative_uri(docname, page))
    title = escape(env.titles[page].astext())
    return f'<li><a href="{address}">{title}</a><ul>{claims}</ul></li>' if claims else ""


def values(numbers: Mapping[str, Any], names: Iterable[str]) -> str:
    """The named numbers, those last that have no rounding, such as counts of what was drawn."""
    floats, exact = [], []
    for number in (numbers[name] for name in names):
        rounded = isinstance(number, dict) and number["digits"] is not None
        (floats if rounded else exact).append(shown_number(number))
    return "; ".join(
        [
            *([", ".join(floats)] if floats else []),
            *([f"exact: {', '.join(exact)}"] if exact else []),
        ]
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_node(numbers_at_random)
    app.add_directive("random-numbers", RandomNumbers)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
