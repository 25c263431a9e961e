"""Proofs fold: closed on a screen, open on paper."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx_proof.nodes import proof_node

OPENS = "Proof. "  # what sphinx-proof puts before the first word


def fold_proofs(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Take the word from the first sentence; the line that opens the proof says it."""
    for proof in doctree.findall(proof_node):
        first = next(proof.findall(nodes.Text), None)
        if first is not None and first.startswith(OPENS):
            first.parent.replace(first, nodes.Text(first[len(OPENS) :]))


def open_proof(self: Any, node: nodes.Element) -> None:
    """Begin what folds."""
    self.body.append('<details class="ntp-proof"><summary>Proof</summary>')


def close_proof(self: Any, node: nodes.Element) -> None:
    """End what folds."""
    self.body.append("</details>")


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_node(proof_node, override=True, html=(open_proof, close_proof))
    app.connect("doctree-resolved", fold_proofs)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
