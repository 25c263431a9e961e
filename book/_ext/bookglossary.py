"""Terms of the glossary become links where a page first uses them, once in each section.

Nobody marks them by hand: a term, or another word for it, is found in running text, never in
headings, links, code or formulas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from docutils import nodes
from sphinx.application import Sphinx

GLOSSARY = "book/glossary"
# Pages that are lists or tables, or about something else.
PLAIN = {GLOSSARY, "book/claims", "book/notation", "book/references", "pages/benchmarks"}
CLOSED = (
    nodes.reference, nodes.title, nodes.literal, nodes.literal_block, nodes.math, nodes.math_block,
    nodes.raw, nodes.caption, nodes.term, nodes.strong, nodes.table,
)  # fmt: skip
# Too common in other senses for a link at every first use.
QUIET = {
    "query", "verdict", "witness", "counterexample", "direction", "tight", "confused", "stage 1",
    "stage 2", "logit", "softmax",
}  # fmt: skip


def term_pattern(names: Mapping[str, str]) -> re.Pattern[str] | None:
    """What finds a term in text, the longest first; None without terms."""
    listed = sorted((n for n in names if n.lower() not in QUIET), key=len, reverse=True)
    if not listed:
        return None
    choice = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in listed)
    return re.compile(rf"(?<![\w-])({choice})(?:s|es)?(?![\w-])", re.IGNORECASE)


def terms(app: Sphinx) -> dict[str, str]:
    """For every term, in lower case, the id of its entry."""
    objects = app.env.domains["std"].get_objects()
    return {
        name.lower(): anchor
        for name, _, kind, docname, anchor, _ in objects
        if kind == "term" and docname == GLOSSARY
    }


def sections(doctree: nodes.document) -> Iterator[nodes.section]:
    """The sections of the second level, and the page itself for what stands above them."""
    for section in doctree.findall(nodes.section):
        depth, parent = 1, section.parent
        while parent is not None:
            depth += isinstance(parent, nodes.section)
            parent = parent.parent
        if depth <= 2:
            yield section


def own_texts(section: nodes.section) -> Iterator[nodes.Text]:
    """Running text of a section; for the page itself what stands above its first section."""
    top = not isinstance(section.parent, nodes.section)
    for child in section.children:
        if top and isinstance(child, nodes.section):
            continue
        yield from (text for text in child.findall(nodes.Text) if is_prose(text, section))


def is_prose(text: nodes.Text, section: nodes.section) -> bool:
    """Whether a text stands in nothing that takes no links."""
    node, inside = text.parent, False
    while node is not None and node is not section:
        if isinstance(node, CLOSED) or "ntp-badge" in node.get("classes", []):
            return False
        inside = inside or isinstance(node, nodes.paragraph)
        node = node.parent
    return inside


def link_terms(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Link the first use of every term in every section of a page."""
    known = terms(app)
    pattern = term_pattern(known)
    if docname in PLAIN or pattern is None:
        return
    address = app.builder.get_relative_uri(docname, GLOSSARY)
    for section in sections(doctree):
        seen: set[str] = set()
        for text in list(own_texts(section)):
            pieces = linked(text.astext(), pattern, known, seen, address)
            if len(pieces) > 1 or not isinstance(pieces[0], nodes.Text):
                text.parent.replace(text, pieces)


def linked(
    text: str, pattern: re.Pattern[str], known: Mapping[str, str], seen: set[str], address: str
) -> list[nodes.Node]:
    """A text with links in place of the terms that were not seen before; `seen` grows."""
    pieces: list[nodes.Node] = []
    at = 0
    for match in pattern.finditer(text):
        anchor = known[" ".join(match[1].lower().split())]
        if anchor in seen:
            continue
        seen.add(anchor)
        pieces.append(nodes.Text(text[at : match.start()]))
        uri = f"{address}#{anchor}"
        pieces.append(
            nodes.reference("", match[0], refuri=uri, internal=True, classes=["ntp-term"])
        )
        at = match.end()
    pieces.append(nodes.Text(text[at:]))
    kept = [piece for piece in pieces if piece.astext()]
    return kept or [nodes.Text(text)]


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("doctree-resolved", link_terms, priority=400)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
