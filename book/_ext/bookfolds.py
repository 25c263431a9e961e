"""One fold for the setup of a page: its parameters, and the imports right below them."""

from __future__ import annotations

from itertools import pairwise

from bookwide import FOLDED
from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx

PARAMETERS = "tag_parameters"
IMPORTS = ("import ", "from ")
SHOW, HIDE = "Show setup", "Hide setup"


def begins_with_imports(cell: nodes.Element) -> bool:
    """Whether a cell shows code that begins with an import, and nothing else."""
    return len(cell.children) == 1 and cell.astext().lstrip().startswith(IMPORTS)


def fold_setup(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Draw the folds of parameters and imports as one; both cells stay, with their classes."""
    for parent in list(doctree.findall(nodes.section)):
        for cell, following in list(pairwise(parent.children)):
            if is_setup(cell) and is_folded(following) and begins_with_imports(following):
                at = parent.index(cell)
                parent.remove(following)
                parent[at] = one_fold(cell, following)


def is_folded(node: nodes.Node) -> bool:
    """Whether a node is a cell whose code is in a fold."""
    return isinstance(node, nodes.container) and {"cell", FOLDED} <= set(node["classes"])


def is_setup(node: nodes.Node) -> bool:
    """Whether a node is the cell of parameters, in a fold, and shows nothing but them."""
    return is_folded(node) and PARAMETERS in node["classes"] and len(node.children) == 1


def one_fold(*cells: nodes.Element) -> nodes.container:
    """A fold around cells, in place of the folds in them."""
    for cell in cells:
        for inner in list(cell.findall(HideCodeCellNode)):
            inner.parent.replace(inner, inner.children)
    fold = HideCodeCellNode("", *cells, classes=["above-input"], prompt_show=SHOW, prompt_hide=HIDE)
    return nodes.container("", fold, classes=["cell", FOLDED, "ntp-setup"])


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    # Late, because the bar for running cells must first be placed before the first cell.
    app.connect("doctree-resolved", fold_setup, priority=900)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
