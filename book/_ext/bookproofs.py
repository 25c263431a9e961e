"""Proofs fold: closed on a screen, open on paper."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx_proof.directive import ProofDirective
from sphinx_proof.nodes import proof_node


class Proof(ProofDirective):
    """A proof whose text stays as it is written.

    That of sphinx-proof puts "Proof. " before the first line, which breaks an anchor there; the
    line that opens the proof says the word.
    """

    def run(self) -> list[nodes.Node]:
        """The proof as a node."""
        box = nodes.admonition(classes=["proof", "proof", *self.options.get("class", [])])
        self.state.nested_parse(self.content, self.content_offset, box)
        proof = proof_node()
        proof += box
        return [proof]


def open_proof(self: Any, node: nodes.Element) -> None:
    """Begin what folds."""
    self.body.append('<details class="ntp-proof"><summary>Proof</summary>')


def close_proof(self: Any, node: nodes.Element) -> None:
    """End what folds."""
    self.body.append("</details>")


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.setup_extension("sphinx_proof")
    app.add_node(proof_node, override=True, html=(open_proof, close_proof))
    app.add_directive_to_domain("prf", "proof", Proof, override=True)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
