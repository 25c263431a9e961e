"""Sphinx extension of this book: verdicts, results and the ledger, out of executed notebooks.

Roles `verdict` and `result` and directives `verdict-card` and `ledger` show what the checks gave;
nothing is typed. The rest repairs what the stack gets wrong for a book that is read offline:
MathJax is copied into the site, scripts that would ask other machines are dropped, and ids are
made unique.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx_proof.nodes import depart_unenumerable_node, unenumerable_node

from ntpcore.catalogue import CATALOGUE
from ntpcore.claims import MARKS, MIME, Verdict, render_html
from tools.outputs import ledger, read_checks

Rows = dict[str, dict[str, Any]]
logger = logging.getLogger(__name__)


def read_rows(app: Sphinx) -> None:
    """Before anything else: read the ledger out of the executed notebooks."""
    found = read_checks(Path(app.srcdir) / "pages")
    app.env.ntp_witnesses = {}  # type: ignore[attr-defined]
    app.env.ntp_rows = {row["label"]: row for row in ledger(CATALOGUE, found)}  # type: ignore[attr-defined]


def mark_of(row: dict[str, Any]) -> str:
    """The sign that stands before the word of a verdict."""
    return MARKS[Verdict(row["verdict"])]


def word_of(row: dict[str, Any]) -> str:
    """The verdict in words."""
    return "open, planned" if row["planned"] else str(row["verdict"])


def link_to(app: Sphinx, docname: str, row: dict[str, Any]) -> str:
    """Address of a claim's verdict, as seen from a page."""
    address = app.builder.get_relative_uri(docname, f"pages/{row['page']}")
    return f"{address}#verdict-{row['label']}"


class VerdictRole(SphinxRole):
    """`verdict` and a label: a badge with the verdict, which links to where it was reached."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Make the badge."""
        row = self.env.ntp_rows.get(self.text)
        if row is None:
            logger.warning("no claim has the label %r", self.text, location=self.get_location())
            return [nodes.literal(self.text, self.text)], []
        classes = ["ntp-badge", f"ntp-{row['verdict']}"]
        text = f"{mark_of(row)} {word_of(row)}"
        title = f"{row['number']}: {row['title']}"
        if row["planned"]:
            return [nodes.inline(text, text, classes=classes)], []
        address = link_to(self.env.app, self.env.docname, row)
        link = nodes.reference(text, text, refuri=address, internal=True, reftitle=title)
        return [nodes.inline("", "", link, classes=classes)], []


class ResultRole(SphinxRole):
    """`result` and `label:name`: one of the numbers that a check found."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Look the number up."""
        label, _, name = self.text.partition(":")
        numbers = self.env.ntp_rows.get(label, {}).get("numbers", {})
        if name not in numbers:
            known = ", ".join(f"{label}:{key}" for key in numbers) or "nothing"
            message = "no check gives %r; known for this label: %s"
            logger.warning(message, self.text, known, location=self.get_location())
            return [nodes.literal(self.text, self.text)], []
        value = str(numbers[name])
        return [nodes.inline(value, value, classes=["ntp-result"])], []


class VerdictCard(SphinxDirective):
    """`verdict-card` and a label: the card of a check, as the claim's own page shows it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Look the check up."""
        row = self.env.ntp_rows.get(self.arguments[0])
        if row is None or row["planned"] or "tried" not in row:
            message = "no check of %r ran, so it has no card"
            logger.warning(message, self.arguments[0], location=self.get_location())
            return []
        return [nodes.raw("", render_html(row), format="html")]


class Ledger(SphinxDirective):
    """`ledger`: claims in a table, all of them or those of one paper or page."""

    option_spec = {"paper": directives.unchanged, "page": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Make the table."""
        rows = [
            row
            for row in self.env.ntp_rows.values()
            if all(row[key] == value for key, value in self.options.items())
        ]
        if not rows:
            logger.warning(
                "the ledger has no row for %s", self.options, location=self.get_location()
            )
        body = "".join(self._row(row) for row in rows)
        heads = ("Claim", "About", "Verdict", "Evidence")
        head = "".join(f'<th scope="col">{text}</th>' for text in heads)
        table = (
            '<div class="ntp-wide" role="region" tabindex="0" aria-label="Claims and verdicts">'
            f'<table class="ntp-ledger"><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
        )
        return [nodes.raw("", table, format="html")]

    def _row(self, row: dict[str, Any]) -> str:
        """One claim; whatever it says is escaped."""
        number, title = escape(row["number"]), escape(row["title"])
        if not row["planned"]:
            address = link_to(self.env.app, self.env.docname, row)
            number = f'<a class="reference internal" href="{escape(address)}">{number}</a>'
        badge = (
            f'<span class="ntp-badge ntp-{row["verdict"]}"><span aria-hidden="true">'
            f"{mark_of(row)}</span> {word_of(row)}</span>"
        )
        evidence = "" if row["planned"] else escape(row["evidence"])
        return (
            f'<tr class="ntp-row-{row["verdict"]}"><th scope="row">{number}</th><td>{title}</td>'
            f"<td>{badge}</td><td>{evidence}</td></tr>"
        )


class WitnessRole(SphinxRole):
    """`witness` and the label of a refuted claim: the counterexample that its check found."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Look the witness up, and remember that this page treats the refutation."""
        row = self.env.ntp_rows.get(self.text, {})
        if row.get("verdict") != "refuted":
            message = "%r is not refuted, so it has no witness"
            logger.warning(message, self.text, location=self.get_location())
            return [nodes.literal(self.text, self.text)], []
        self.env.ntp_witnesses.setdefault(self.env.docname, set()).add(self.text)
        return [nodes.inline(row["witness"], row["witness"])], []


class ReadingsRole(SphinxRole):
    """`readings` and a label: how a damaged statement can be read, each with its verdict."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """List the readings that the check recorded."""
        readings = self.env.ntp_rows.get(self.text, {}).get("readings")
        if not readings:
            message = "no check recorded readings of %r"
            logger.warning(message, self.text, location=self.get_location())
            return [nodes.literal(self.text, self.text)], []
        listed = "; ".join(f"{reading['text']} ({reading['verdict']})" for reading in readings)
        return [nodes.inline(listed, listed)], []


def check_errata(app: Sphinx, env: Any) -> None:
    """Every refuted statement of a paper stands on the page of its errata."""
    for docname in sorted(env.found_docs):
        _, found, paper = docname.partition("book/errata_")
        refuted = {
            label
            for label, row in env.ntp_rows.items()
            if row["paper"] == paper and row["verdict"] == "refuted"
        }
        missing = refuted - env.ntp_witnesses.get(docname, set()) if found else set()
        for label in sorted(missing):
            logger.warning("%s is refuted and missing here", label, location=docname)


def name_verdicts(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give the card of every check the id that links to a verdict use."""
    if not docname.startswith("pages/"):
        return
    notebook = json.loads(source[0])
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if MIME in data and "text/html" in data:
                html = data["text/html"]
                card = html if isinstance(html, str) else "".join(html)
                name = f'<div id="verdict-{escape(data[MIME]["label"])}" '
                data["text/html"] = card.replace("<div ", name, 1)
                del data[MIME]  # from what Sphinx reads only; the download keeps it
    source[0] = json.dumps(notebook, ensure_ascii=False)


def find_notebooks(app: Sphinx, doctree: nodes.document) -> None:
    """Lead links to `name.md`, the text notebook, to the page made from it."""
    for node in doctree.findall(addnodes.pending_xref):
        if node.get("reftype") != "myst" or node.get("refdomain"):
            continue
        path, _, anchor = node["reftarget"].partition("#")
        page = f"pages/{Path(path).stem}"
        if path.endswith(".md") and page in app.env.found_docs:
            node["refdomain"], node["reftarget"] = "doc", page
            node["reftargetid"] = anchor or None


def rename_twins(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make ids unique that sphinx-proof gives to every body and every proof alike."""
    for number, node in enumerate(doctree.findall(nodes.Element)):
        if node.get("ids") in (["proof-content"], ["proof"]):
            node["ids"] = [f"{node['ids'][0]}-{number}"]


def open_statement(self: Any, node: nodes.Element) -> None:
    """Open the box of a statement without number; its id stands on its title, and only there."""
    box = node.copy()
    box["ids"] = []
    self.body.append(self.starttag(box, "div", CLASS="admonition"))


def drop_foreign_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Drop the scripts of sphinx-thebe: they name another machine, and twice the same constant."""
    context["script_files"] = [
        script
        for script in context.get("script_files", [])
        if "thebe" not in (str(script) + str(getattr(script, "attributes", "")))
    ]


def copy_mathjax(app: Sphinx) -> None:
    """Copy what the pages use of MathJax, program and fonts, into the site."""
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    if spec is None or spec.origin is None:
        raise RuntimeError("the package sphinx-mathjax-offline is missing; run make book")
    source = Path(spec.origin).parent / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    fonts = Path("output", "chtml", "fonts", "woff-v2")
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / "tex-chtml-full.js", target / "tex-chtml-full.js")
    shutil.copytree(source / fonts, target / fonts, dirs_exist_ok=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_role("verdict", VerdictRole())
    app.add_role("result", ResultRole())
    app.add_role("witness", WitnessRole())
    app.add_role("readings", ReadingsRole())
    app.add_directive("verdict-card", VerdictCard)
    app.add_directive("ledger", Ledger)
    statement = (open_statement, depart_unenumerable_node)
    app.add_node(unenumerable_node, override=True, html=statement)
    app.connect("builder-inited", read_rows)
    app.connect("builder-inited", copy_mathjax)
    app.connect("source-read", name_verdicts)
    app.connect("doctree-read", find_notebooks)
    app.connect("doctree-resolved", rename_twins)
    app.connect("env-check-consistency", check_errata)
    app.connect("html-page-context", drop_foreign_scripts, priority=900)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
