"""What a statement or a term says, one small script each, for pages that link to it.

A page loads such a script by a script element when a reader points at a link, which works for pages
opened as files, too, where nothing can be fetched. The same fragments feed the search by number and
by words (`tools/site/statements.py`), which also finds the sections of pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from booklinks import link_to, link_to_row
from bookmath import set_texts
from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx_proof.nodes import depart_unenumerable_node, unenumerable_node

from tools.site.statements import (
    Entry,
    opening_question,
    preview_script,
    search_script,
    section_entry,
    statement_entry,
    symbols_script,
    term_entry,
)

FOLDER = Path("_static") / "previews"
GLOSSARY = "book/glossary"
NOTATION = "book/notation"
# Pages whose sections the search leaves out: lists whose rows it finds by themselves.
UNSEARCHED = {GLOSSARY, "book/reference"}


def open_statement(self: Any, node: nodes.Element) -> None:
    """Open the box of a statement without number; its id stands on its title, and only there."""
    node["ntp_start"] = len(self.body)
    box = node.copy()
    box["ids"] = []
    del box["ntp_start"]
    self.body.append(self.starttag(box, "div", CLASS="admonition"))


def close_statement(self: Any, node: nodes.Element) -> None:
    """Close the box, and keep what it says for those who link to it."""
    depart_unenumerable_node(self, node)
    if node.get("ntp_copy"):  # shown in a story; links lead to the evidence page
        return
    written = "".join(self.body[node["ntp_start"] :])
    self.builder.app.ntp_statements[node["label"]] = written


def terms_of(html: str) -> dict[str, tuple[str, str]]:
    """For the id of every term of the glossary its name and, as HTML, what it means."""
    found = {}
    for term in BeautifulSoup(html, "html.parser").select("dl.glossary > dt"):
        body = term.find_next_sibling("dd")
        for link in term.select("a.headerlink"):
            link.decompose()
        found[str(term["id"])] = (term.get_text().strip(), body.decode_contents() if body else "")
    return found


def entries(app: Sphinx) -> list[Entry]:
    """All statements in the order of the catalogue, all terms, and the sections of pages."""
    found = []
    for label, row in app.env.ntp_rows.items():  # type: ignore[attr-defined]
        link = (link_to_row if row["planned"] else link_to)(app, "index", row)
        address = link.replace(f"#verdict-{label}", f"#{label}")
        html = app.ntp_statements.get(label, "")  # type: ignore[attr-defined]
        entry = statement_entry(row, address, html)
        found.append(replace(entry, html=set_texts(app, entry.html, row["page"])))
    page = Path(app.outdir, f"{GLOSSARY}.html")
    if page.is_file():
        for name, (term, html) in terms_of(page.read_text(encoding="utf-8")).items():
            found.append(term_entry(name, term, f"{GLOSSARY}.html#{name}", html))
    return [*found, *(one for page in app.ntp_sections.values() for one in page)]  # type: ignore[attr-defined]


def is_for_readers(app: Sphinx, docname: str) -> bool:
    """Whether a page is prose: evidence pages are found by their statements."""
    if not docname.startswith(("book/", "pages/")):
        return False
    return docname.removeprefix("pages/") not in app.ntp_evidence  # type: ignore[attr-defined]


def first_paragraphs(page: nodes.section) -> Iterator[str]:
    """The paragraphs right below the title of a page, without the one on what readers need."""
    for part in page.children:
        if isinstance(part, nodes.paragraph) and not isinstance(part.next_node(), nodes.emphasis):
            yield part.astext()


def keep_sections(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Keep headings and words of a page for the search."""
    if docname in UNSEARCHED or not is_for_readers(app, docname):
        return
    page = app.env.titles[docname].astext()
    address = app.builder.get_relative_uri("index", docname)
    found = []
    for section in doctree.findall(nodes.section):
        title = section.next_node(nodes.title)
        if title is None or title.parent is not section:
            continue  # the body of a statement
        top = not isinstance(section.parent, nodes.section)
        said = (
            one.astext()
            for part in section.children
            if not isinstance(part, nodes.section)
            for one in part.findall(nodes.paragraph)
        )
        place = address if top else f"{address}#{section['ids'][0]}"
        opening = opening_question(first_paragraphs(section)) if top else ""
        found.append(section_entry(page, title.astext(), place, " ".join(said), opening))
    app.ntp_sections[docname] = found  # type: ignore[attr-defined]


def write_previews(app: Sphinx, problem: Exception | None) -> None:
    """Write the scripts when all pages are there."""
    if problem is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    found = entries(app)
    for entry in found:
        if not entry.html:
            continue
        (folder / f"{entry.name}.js").write_text(preview_script(entry), encoding="utf-8")
    (folder.parent / "statements.js").write_text(search_script(found), encoding="utf-8")
    page = Path(app.outdir, f"{NOTATION}.html")
    if page.is_file():
        script = symbols_script(page.read_text(encoding="utf-8"))
        (folder / "symbols.js").write_text(script, encoding="utf-8")


def add_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Load the index of statements on the page of the search, and symbols on evidence pages."""
    if pagename == "search":
        app.add_js_file("statements.js", loading_method="")
        app.add_js_file("find.js")
    if pagename.removeprefix("pages/") in app.ntp_evidence:  # type: ignore[attr-defined]
        app.add_js_file("symbols.js")


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.ntp_statements = {}  # type: ignore[attr-defined]
    app.ntp_sections = {}  # type: ignore[attr-defined]
    app.add_node(unenumerable_node, override=True, html=(open_statement, close_statement))
    app.connect("doctree-resolved", keep_sections, priority=400)  # before badges and links
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", write_previews, priority=450)  # before formulas are finished
    return {"parallel_read_safe": False, "parallel_write_safe": False}
