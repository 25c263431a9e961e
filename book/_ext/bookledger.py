"""The ledger, what rests on what, the code of the checks: directives and generated pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bookcode import Page, code_page
from booklinks import LEDGER, link_of_box, link_to, link_to_row, link_to_source
from bookpapers import report
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from ntpbook.catalogue import PAPERS
from ntpverdicts import graph, ledger_table
from ntpverdicts.certainty import Kind
from ntpverdicts.claims import Verdict, heading
from ntpverdicts.dependencies import describe, neighbourhood
from ntpverdicts.document import schema_text
from tools.site import highlight
from tools.site.checksources import FOLDER, Source, source_page
from tools.site.published import field_rows

logger = logging.getLogger(__name__)


class TallyRole(SphinxRole):
    """`tally` and a verdict, or `all`: how many claims have it, as a link to them.

    `proved:by hand` counts those of the proved ones that are known in this way (`Kind`).
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Count them."""
        words = ("all", *(one.value for one in Verdict))
        kinds = tuple(one.value for one in Kind)
        verdict, _, kind = self.text.partition(":")
        if verdict not in words or kind not in ("", *kinds):
            message = "%r is no verdict, or no way to know one; there are %s, and %s"
            listed = (", ".join(words), ", ".join(kinds))
            logger.warning(message, self.text, *listed, location=self.get_location())
            return [nodes.literal(self.text, self.text)], []
        wanted = {"verdict": verdict} if verdict != "all" else {}
        count = ledger_table.count(self.env.ntp_rows.values(), wanted, kind)
        page = self.env.app.builder.get_relative_uri(self.env.docname, LEDGER)
        query = urlencode(wanted | ({"certainty": kind} if kind else {}))
        address = f"{page}?{query}" if query else page
        return [nodes.reference("", str(count), refuri=address, internal=True)], []


class Ledger(SphinxDirective):
    """`ledger`: claims in a table; without options all of them, with counts and a filter."""

    option_spec = {"paper": directives.unchanged, "page": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Make the table."""
        app, docname = self.env.app, self.env.docname
        rows = [
            row
            for row in self.env.ntp_rows.values()
            if all(row[key] == value for key, value in self.options.items())
        ]
        if not rows:
            logger.warning(
                "the ledger has no row for %s", self.options, location=self.get_location()
            )
        standings = self.env.ntp_standings
        html = ledger_table.table(
            rows,
            standings,
            lambda row: "" if row["planned"] else link_to(app, docname, row),
            lambda row: link_to_source(app, docname, row),
            PAPERS,
            anchors=docname == LEDGER and not self.options,
            chapters={} if self.options else chapter_titles(),
        )
        if not self.options:
            above = ledger_table.counts(rows, PAPERS) + ledger_table.filters(
                rows, standings, PAPERS
            )
            html = f'<div class="ntp-ledger-all">{above}{html}</div>'
        return [nodes.raw("", html, format="html")]


def chapter_titles() -> dict[str, str]:
    """The title of every notebook, by its name."""
    titles = {}
    for path in Path("notebooks").glob("*.md"):
        title = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        titles[path.stem] = title[1].removesuffix(": evidence") if title else path.stem
    return titles


class Dependencies(SphinxDirective):
    """`dependencies` and a paper's key: what rests on what there, as graph and table."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Draw the graph."""
        rows, standings = self.env.ntp_rows, self.env.ntp_standings
        paper = self.arguments[0]
        shown = graph.connected_to(paper, rows)
        if not shown:
            message = "no claim of %r rests on another"
            logger.warning(message, paper, location=self.get_location())
            return []
        address = link_of_box(self.env.app, self.env.docname)
        name = f"What rests on what: {PAPERS.get(paper, paper)}"
        drawing = graph.draw(
            rows, standings, shown, address, name=name, sideways=True, searched=True
        )
        listed = graph.table(rows, standings, shown, address, name=name)
        html = (
            f"{drawing}<details class='ntp-more'><summary>The same as a table</summary>{listed}"
            "</details>"
        )
        return [nodes.raw("", html, format="html")]


class GraphLegend(SphinxDirective):
    """`graph-legend`: what boxes and lines of the graphs mean."""

    def run(self) -> list[nodes.Node]:
        """Write it."""
        return [nodes.raw("", graph.legend(), format="html")]


class ClaimsSchema(SphinxDirective):
    """`claims-schema`: the fields of a claim in claims.json, as the schema describes them."""

    def run(self) -> list[nodes.Node]:
        """Make the table."""
        schema = json.loads(schema_text())
        body = "".join(
            f'<tr><th scope="row"><code>{escape(name)}</code></th><td>{escape(kind)}</td>'
            f"<td>{escape(text)}</td></tr>"
            for name, kind, text in field_rows(schema)
        )
        heads = "".join(f'<th scope="col">{text}</th>' for text in ("Field", "Type", "Meaning"))
        html = (
            '<div class="ntp-wide" role="region" tabindex="0" aria-label="Fields of a claim">'
            f'<table class="ntp-ledger"><thead><tr>{heads}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
        )
        return [nodes.raw("", html, format="html")]


def later(html: str) -> str:
    """What comes when a fold opens (`tools.site.shrink`)."""
    return f'<div class="ntp-later"></div><!--later-->{html}<!--/later-->'


def check_itself(app: Sphinx, docname: str, label: str) -> str:
    """The code of a check: what is compared, and which errors are planted."""
    source: Source | None = app.env.ntp_sources.get(label)  # type: ignore[attr-defined]
    if source is None:
        return ""
    code = highlight.fragment(source.file, source.first, source.last)
    lines = source.last - source.first + 1
    address = escape(link_to_source(app, docname, app.env.ntp_rows[label]))  # type: ignore[attr-defined]
    box = (
        '<div class="ntp-wide ntp-code" role="region" tabindex="0" aria-label="Code of the check">'
    )
    return (
        f"{heading(f'The check, {lines} lines')}<p><code>{escape(source.file.as_posix())}</code>: "
        f'<a href="{address}">source of this check</a></p>{later(f"{box}{code}</div>")}'
    )


def more_on(app: Sphinx, docname: str, label: str) -> str:
    """What ends the fold of a card: what the claim rests on, the code of its check, a report."""
    row = app.env.ntp_rows[label]  # type: ignore[attr-defined]
    return f"{ground_of(app, docname, label)}{check_itself(app, docname, label)}{report(app, row)}"


def ground_of(app: Sphinx, docname: str, label: str) -> str:
    """What a claim rests on and what uses it: in words, and as a drawing."""
    rows, standings = app.env.ntp_rows, app.env.ntp_standings  # type: ignore[attr-defined]
    row, standing = rows[label], standings[label]
    names = {other: graph.short_name(rows[other]) for other in rows}

    def links(labels: Iterable[str]) -> str:
        addresses = ((one, escape(link_to(app, docname, rows[one]))) for one in labels)
        return ", ".join(f'<a href="{to}">{escape(names[one])}</a>' for one, to in addresses)

    corrected = f"{label}-corrected"
    related = (
        ("Rests on", row["uses"]),
        ("Used by", standing.used_by),
        ("Corrected form", [corrected] if corrected in rows else []),
        ("About", row["about"]),
    )
    lines = [
        f"{word}: {links(known)}"
        for word, labels in related
        if (known := [one for one in labels if one in rows and not rows[one]["planned"]])
    ]
    lines.append(f'<a href="{escape(link_to_row(app, docname, row))}">in the ledger</a>')
    words = describe(standing, names)
    listed = "".join(f"<li>{line}</li>" for line in lines)
    words = escape(words[0].upper() + words[1:])
    html = f"{heading('What it rests on')}<p>{words}.</p><ul>{listed}</ul>"
    return html + (drawing_of(app, docname, label) if standing.ground or standing.used_by else "")


def drawing_of(app: Sphinx, docname: str, label: str) -> str:
    """The claim with what it uses and what uses it, drawn; it comes when the fold opens."""
    rows, standings = app.env.ntp_rows, app.env.ntp_standings  # type: ignore[attr-defined]
    name = f"What {graph.short_name(rows[label])} rests on, and what uses it"
    shown, address = neighbourhood(standings[label]), link_of_box(app, docname)
    drawing = graph.draw_narrow(rows, standings, shown, address, name=name, focus=label)
    large = "" if graph.fits_paper(drawing) else " ntp-large"
    key = escape(f"{app.builder.get_relative_uri(docname, LEDGER)}#legend")
    meaning = f'<p class="ntp-links"><a href="{key}">what boxes and lines mean</a></p>'
    return later(f'<div class="ntp-rest{large}">{drawing}{meaning}</div>')


def show_sources(app: Sphinx) -> Iterator[Page]:
    """A page for each module of checks: its code, with a place for each check."""
    rows, sources = app.env.ntp_rows, app.env.ntp_sources  # type: ignore[attr-defined]
    by_file: dict[Path, list[tuple[str, Source]]] = {}
    for label, source in sources.items():
        by_file.setdefault(source.file, []).append((label, source))
    for file, found in sorted(by_file.items()):
        page, listed = source_page(file), ""
        found.sort(key=lambda pair: pair[1].line)
        for label, source in found:
            back = escape(link_to(app, page, rows[label]))
            listed += (
                f'<li><a href="#{escape(source.anchor)}"><code>{escape(source.function)}</code></a>'
                f' decided <a href="{back}">{escape(rows[label]["number"])}</a></li>'
            )
        intro = (
            f"<p>The file <code>{escape(file.as_posix())}</code> as it "
            f"ran when this book was built. Its checks:</p><ul>{listed}</ul>"
        )
        places = [(source.line, source.anchor) for _, source in found]
        yield code_page(app, page, file, file.as_posix(), intro, places)


def share_navigation(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Pages of code stand in no table of contents: those equally deep have the same navigation."""
    if not pagename.startswith(f"{FOLDER}/"):
        return
    known: dict[object, str] = app.ntp_navigation  # type: ignore[attr-defined]
    make, depth = context["toctree"], pagename.count("/")

    def toctree(**options: Any) -> str:
        key = depth, *sorted(options.items())
        if key not in known:
            known[key] = make(**options)
        return known[key]

    context["toctree"] = toctree


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.ntp_navigation = {}  # type: ignore[attr-defined]
    app.connect("html-page-context", share_navigation, priority=100)
    app.add_role("tally", TallyRole())
    app.add_directive("ledger", Ledger)
    app.add_directive("dependencies", Dependencies)
    app.add_directive("graph-legend", GraphLegend)
    app.add_directive("claims-schema", ClaimsSchema)
    app.connect("html-collect-pages", show_sources)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
