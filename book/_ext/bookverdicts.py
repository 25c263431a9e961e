"""Sphinx extension of this book: verdicts and results, out of executed notebooks.

Roles `verdict` and `result` and the directive `verdict-card` show what the checks gave; nothing is
typed. Every statement gets a badge, and every verdict what it rests on and a link to its code.
The ledger, formulas, previews, proofs, equations, the glossary, the playground and what makes the
site work offline have extensions of their own, which this one loads. The rest makes ids unique that
the stack repeats.
"""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from bookledger import more_on
from booklinks import inline, make_badge
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx_proof.nodes import unenumerable_node

from ntpbook.catalogue import CATALOGUE
from ntpverdicts import certainty
from ntpverdicts.claims import MIME, render_html, shown_number
from ntpverdicts.imports import Package
from ntpverdicts.ledger import drawn_with, standings_of
from ntpverdicts.maths import plain
from ntpverdicts.tables import DOWNLOAD_MIME
from tools.pipeline.outputs import read_checks
from tools.pipeline.proofs import faults as proof_faults
from tools.pipeline.source import OURS
from tools.site.checksources import code_hash, find_sources
from tools.site.machine_checked import rows_of
from tools.site.page_text import MISSING, ROLE, readings_in_words
from tools.site.published import versions

Rows = dict[str, dict[str, Any]]
EXTENSIONS = (
    "code", "errata", "folds", "ledger", "math", "papers", "previews", "equations", "proofs",
    "glossary", "downloads", "meta", "moving", "numbers", "offline", "playground", "reference",
    "run", "stories", "wide",
)  # fmt: skip
logger = logging.getLogger(__name__)


def read_rows(app: Sphinx) -> None:
    """Before anything else: read the ledger out of the executed notebooks."""
    found = read_checks(Path(app.srcdir) / "pages")
    app.env.ntp_witnesses = {}  # type: ignore[attr-defined]
    app.env.ntp_quoted = {}  # type: ignore[attr-defined]
    rows = rows_of(found)
    if not app.config.ntp_partial:  # else the checks of some claims below did not run
        for fault in (*certainty.faults(rows), *proof_faults(rows)):
            logger.warning(fault)
    app.env.ntp_rows = rows  # type: ignore[attr-defined]
    app.env.ntp_standings = standings_of(rows.values())  # type: ignore[attr-defined]
    functions = {claim.function: claim.label for claim in CATALOGUE if claim.page is not None}
    app.env.ntp_sources = {  # type: ignore[attr-defined]
        functions[name]: source for name, source in find_sources().items() if name in functions
    }
    package = Package(OURS)
    app.env.ntp_digests = {  # type: ignore[attr-defined]
        label: code_hash(Path("notebooks") / f"{rows[label]['page']}.md", source.file, package)
        for label, source in app.env.ntp_sources.items()  # type: ignore[attr-defined]
    }
    app.env.ntp_versions = versions()  # type: ignore[attr-defined]


class English(SearchEnglish):
    """The language of the search, which finds the stem of a word once and not once per page."""

    def init(self, options: dict[str, str]) -> None:
        """Start without any word."""
        super().init(options)
        self.stem = cache(super().stem)


class VerdictRole(SphinxRole):
    """`verdict` and a label: a badge with the verdict, which links to where it was reached."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Make the badge."""
        row = self.env.ntp_rows.get(self.text)
        if row is None:
            logger.warning("no claim has the label %r", self.text, location=self.get_location())
            return [nodes.literal(self.text, self.text)], []
        return [make_badge(self.env.app, self.env.docname, row)], []


class ResultRole(SphinxRole):
    """`result` and `label:name`: one of the numbers that a check found."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Look the number up, and remember that this page quotes it."""
        label, _, name = self.text.partition(":")
        row = self.env.ntp_rows.get(label, {})
        numbers = row.get("numbers", {})
        if label in self.env.ntp_rows and "tried" not in row and self.config.ntp_partial:
            return [nodes.inline(MISSING, MISSING)], []
        if name not in numbers:
            known = ", ".join(f"{label}:{key}" for key in numbers) or "nothing"
            message = "no check gives %r; known for this label: %s"
            logger.warning(message, self.text, known, location=self.get_location())
            return [nodes.literal(self.text, self.text)], []
        self.env.ntp_quoted.setdefault(self.env.docname, []).append((label, name))
        value, where = shown_number(numbers[name]), origin_of(row, numbers[name])
        return [nodes.abbreviation(value, value, classes=["ntp-result"], explanation=where)], []


def origin_of(row: dict[str, Any], number: object) -> str:
    """Where a number comes from, for whoever points at it: its check, its accuracy, its seed."""
    origin = plain(str(number["origin"])) if isinstance(number, dict) else "exact"
    digits = number.get("digits") if isinstance(number, dict) else None
    known = origin if digits is None else f"{digits or 2} digits shown; limited by {origin}"
    drawn = drawn_with(row)
    instances = f"drawn with {drawn}" if drawn else "fixed"
    return f"From the check of {row['number']} ({row['label']}): {known}; instances {instances}."


class VerdictCard(SphinxDirective):
    """`verdict-card` and a label: the card of a check, as the claim's own page shows it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Look the check up."""
        row = self.env.ntp_rows.get(self.arguments[0])
        if row is not None and "tried" not in row and self.config.ntp_partial:
            return []
        if row is None or row["planned"] or "tried" not in row:
            message = "no check of %r ran, so it has no card"
            logger.warning(message, self.arguments[0], location=self.get_location())
            return []
        card = render_html(row, more_on(self.env.app, self.env.docname, self.arguments[0]))
        return [nodes.raw("", card, format="html")]


class WitnessRole(SphinxRole):
    """`witness` and the label of a refuted claim: the counterexample that its check found."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Look the witness up, and remember that this page treats the refutation."""
        row = self.env.ntp_rows.get(self.text, {})
        if "tried" not in row and self.config.ntp_partial:
            return [nodes.inline(MISSING, MISSING)], []
        if row.get("verdict") != "refuted":
            message = "%r is not refuted, so it has no witness"
            logger.warning(message, self.text, location=self.get_location())
            return [nodes.literal(self.text, self.text)], []
        self.env.ntp_witnesses.setdefault(self.env.docname, set()).add(self.text)
        return [nodes.inline("", "", *inline(row["witness"]))], []


class ReadingsRole(SphinxRole):
    """`readings` and a label: how a damaged statement can be read, each with its verdict."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """List the readings that the check recorded."""
        row = self.env.ntp_rows.get(self.text, {})
        readings = row.get("readings")
        if "tried" not in row and self.config.ntp_partial:
            return [nodes.inline(MISSING, MISSING)], []
        if not readings:
            message = "no check recorded readings of %r"
            logger.warning(message, self.text, location=self.get_location())
            return [nodes.literal(self.text, self.text)], []
        return [nodes.inline("", "", *inline(readings_in_words(readings)))], []


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
    """Give the card of every check the id that links to a verdict use, and what it rests on."""
    if not docname.startswith("pages/"):
        return
    notebook = json.loads(source[0])
    for cell in notebook["cells"]:
        fill_alt(app, docname, cell)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            data.pop(DOWNLOAD_MIME, None)  # the build has written the file
            if MIME in data and "text/html" in data:
                label = data[MIME]["label"]
                row = app.env.ntp_rows[label]  # type: ignore[attr-defined]
                card = render_html(row, more_on(app, docname, label))
                data["text/html"] = card.replace("<div ", f'<div id="verdict-{escape(label)}" ', 1)
                del data[MIME]  # from what Sphinx reads only; the download keeps it
    source[0] = json.dumps(notebook, ensure_ascii=False)


def fill_alt(app: Sphinx, docname: str, cell: dict[str, Any]) -> None:
    """Put numbers for the role `result` in the alternative text of a figure, which is no MyST."""
    image = cell["metadata"].get("mystnb", {}).get("image", {})
    if "alt" not in image:
        return

    def number(match: re.Match[str]) -> str:
        label, _, name = match[2].partition(":")
        row = app.env.ntp_rows.get(label, {})  # type: ignore[attr-defined]
        if app.config.ntp_partial and "tried" not in row:
            return MISSING
        if match[1] != "result" or name not in row.get("numbers", {}):
            logger.warning("an alternative text cannot hold %s", match[0], location=docname)
            return match[0]
        return shown_number(row["numbers"][name])

    image["alt"] = ROLE.sub(number, image["alt"])


def badge_statements(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the verdict of every catalogued statement into the title of its box."""
    for node in doctree.findall(unenumerable_node):
        row = app.env.ntp_rows.get(node.get("label"))  # type: ignore[attr-defined]
        if row is not None:
            title = node[0]
            title += nodes.Text(" ")
            title += make_badge(app, docname, row)


def find_notebooks(app: Sphinx, doctree: nodes.document) -> None:
    """Lead links to `name.md`, the text notebook, to the page made from it.

    With an anchor they lead to any place of that page: a heading, a statement, or a figure.
    """
    docname = app.env.docname
    parts = doctree.findall(nodes.Element)
    app.ntp_ids[docname] = {one for part in parts for one in part.get("ids", ())}  # type: ignore[attr-defined]
    for node in list(doctree.findall(addnodes.pending_xref)):
        if node.get("reftype") != "myst" or node.get("refdomain") not in (None, "", "doc"):
            continue
        path, _, anchor = node["reftarget"].partition("#")
        anchor = anchor or node.get("reftargetid") or ""
        page = f"pages/{Path(path).stem}"
        if page not in app.env.found_docs or not (path.endswith(".md") or anchor):
            continue
        if anchor:
            address = f"{app.builder.get_relative_uri(docname, page)}#{anchor}"
            link = nodes.reference("", "", *node.children, refuri=address, internal=True)
            link.source, link.line = node.source, node.line
            node.replace_self(link)
            app.ntp_places.append((docname, page, anchor))  # type: ignore[attr-defined]
        else:
            node["refdomain"], node["reftarget"], node["reftargetid"] = "doc", page, None


def check_places(app: Sphinx, env: Any) -> None:
    """Every place that a link to a notebook names is there."""
    for docname, page, anchor in app.ntp_places:  # type: ignore[attr-defined]
        if anchor not in app.ntp_ids[page]:  # type: ignore[attr-defined]
            logger.warning("%s has no place %r", page, anchor, location=docname)


def rename_twins(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make ids unique that sphinx-proof gives to every body and every proof alike."""
    for number, node in enumerate(doctree.findall(nodes.Element)):
        if node.get("ids") in (["proof-content"], ["proof"]):
            node["ids"] = [f"{node['ids'][0]}-{number}"]


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    for name in EXTENSIONS:
        app.setup_extension(f"book{name}")
    app.add_role("verdict", VerdictRole())
    app.add_role("result", ResultRole())
    app.add_role("witness", WitnessRole())
    app.add_role("readings", ReadingsRole())
    app.add_directive("verdict-card", VerdictCard)
    app.add_config_value("ntp_partial", False, "env")
    app.connect("builder-inited", read_rows)
    app.add_search_language(English)
    app.connect("source-read", name_verdicts)
    app.connect("doctree-read", find_notebooks)
    app.connect("doctree-resolved", rename_twins)
    app.connect("doctree-resolved", badge_statements)
    app.ntp_places, app.ntp_ids = [], {}  # type: ignore[attr-defined]
    app.connect("env-check-consistency", check_errata)
    app.connect("env-check-consistency", check_places)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
