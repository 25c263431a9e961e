"""Code and tables that are wider than the column of text reach into the empty one on the right."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

FITS = 78  # signs of code in a line that the column of text holds on a wide screen
WIDE = "tag_full-width"  # the theme gives such cells the right column, and hides its contents then
TABLES = {"pages/benchmarks"}


def longest_line(cell: nodes.Element) -> int:
    """Length of the longest line of code or printed text in a cell."""
    blocks = (block.astext() for block in cell.findall(nodes.literal_block))
    return max((len(line) for block in blocks for line in block.split("\n")), default=0)


def widen(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give cells with long lines, and wide tables of measurements, the room beside the text."""
    if not any(isinstance(part.parent, nodes.section) for part in doctree.findall(nodes.section)):
        return  # the theme's script fails on a page that has wide cells and no contents
    for cell in doctree.findall(nodes.container):
        tables = docname in TABLES and any(
            "<table" in one.astext() for one in cell.findall(nodes.raw)
        )
        if "cell" in cell["classes"] and (tables or longest_line(cell) > FITS):
            cell["classes"].append(WIDE)


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("doctree-resolved", widen)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
