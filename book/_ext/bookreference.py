"""Sphinx extension: the directive `reference`, which shows the public names of a module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from bookcode import Page, code_page
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from ntpbook.catalogue import CATALOGUE
from tools.site.reference import (
    EXAMPLE,
    MODULES,
    Entry,
    Section,
    entries,
    item,
    module_file,
    statements,
)

FOLDER = "source/api"  # of the site, for the pages that show the code


class Reference(SphinxDirective):
    """`reference` and a module: its public functions and classes, from their docstrings."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A section of definitions for each name."""
        name = self.arguments[0]
        file = module_file(name)
        if name not in MODULES or not file.is_file():
            raise self.error(f"there is no reference of a module {name!r}")
        self.env.note_dependency(str(file.resolve()))
        return [node for entry in entries(file) for node in self.show(name, entry)]

    def show(self, module: str, entry: Entry) -> Iterator[nodes.Node]:
        """One name: signature, docstring, link to the code."""
        place = f"{module}.{entry.name}"
        code = self.env.app.builder.get_relative_uri(self.env.docname, f"{FOLDER}/{module}")
        html = (
            f'<div class="ntp-api" id="api-{escape(place)}"><p class="ntp-signature">'
            f"<code>{escape(entry.signature)}</code> "
            f'<a href="{escape(code)}#{escape(entry.name)}">code</a></p>'
            + "".join(self.section(section) for section in entry.sections)
            + "</div>"
        )
        yield nodes.raw("", html, format="html")

    def section(self, section: Section) -> str:
        """A part of a docstring."""
        if section.title == EXAMPLE:
            builder: Any = self.env.app.builder
            lines = builder.highlighter.highlight_block(section.paragraphs[0], "pycon")
            return f"<p><strong>{EXAMPLE}:</strong></p>{lines}"
        if not section.title or section.title in ("Returns", "Source"):
            title = f"<strong>{section.title}:</strong> " if section.title else ""
            return "".join(f"<p>{title}{self.words(text)}</p>" for text in section.paragraphs)
        rows = []
        for name, meaning in map(item, section.paragraphs):
            term = f"<dt><code>{escape(name)}</code></dt>" if name else ""
            rows.append(f"{term}<dd>{self.words(meaning)}</dd>")
        return f"<p><strong>{section.title}:</strong></p><dl>{''.join(rows)}</dl>"

    def words(self, text: str) -> str:
        """A text with its code set as code, and numbered statements as links."""
        html = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
        for named, place in statements(text, CATALOGUE):
            page, _, anchor = place.partition("#")
            address = self.env.app.builder.get_relative_uri(self.env.docname, f"pages/{page}")
            address += f"#{anchor}" if anchor else ""
            link = f'<a href="{escape(address)}">{escape(named)}</a>'
            html = html.replace(escape(named, quote=False), link)
        return html


def show_modules(app: Sphinx) -> Iterator[Page]:
    """A page with the code of each module, if the book has a reference."""
    if "book/reference" not in app.env.found_docs:
        return
    for module in MODULES:
        file = module_file(module)
        intro = f"<p>The file <code>{escape(file.as_posix())}</code>.</p>"
        places = [(entry.line, entry.name) for entry in entries(file)]
        yield code_page(app, f"{FOLDER}/{module}", file, f"{module}.py", intro, places)


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_directive("reference", Reference)
    app.connect("html-collect-pages", show_modules)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
