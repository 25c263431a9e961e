"""Code and tables that are wider than the column of text reach into the empty one on the right."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

FITS = 78  # signs of code in a line that the column of text holds on a wide screen
WIDE = "tag_full-width"  # the theme gives such cells the right column, and hides its contents then
FOLDED = "tag_hide-input"  # its code scrolls when it is unfolded, so that all folds have one width
TABLES = {"pages/benchmarks"}


def longest_line(cell: nodes.Element) -> int:
    """Length of the longest line of printed text in a cell, and of code that is not folded."""
    parts = [
        part
        for part in cell.children
        if isinstance(part, nodes.Element)
        and (FOLDED not in cell["classes"] or part.get("nb_element") == "cell_code_output")
    ]
    blocks = (block.astext() for part in parts for block in part.findall(nodes.literal_block))
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
