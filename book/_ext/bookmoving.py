"""Sphinx extension: a moving figure of a notebook, shown again on a page of prose."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

SVG = "image/svg+xml"
FOLDER = "pages/_shown"
logger = logging.getLogger(__name__)


def joined(text: str | list[str]) -> str:
    """Text of a notebook, which may be a list of lines."""
    return text if isinstance(text, str) else "".join(text)


def outputs_of(cell: dict[str, Any]) -> dict[str, str]:
    """What a cell showed, by kind."""
    return {
        kind: joined(data)
        for output in cell.get("outputs", [])
        for kind, data in output.get("data", {}).items()
        if kind in (SVG, "text/html")
    }


def find_figure(notebook: dict[str, Any], name: str) -> tuple[str, str, str] | None:
    """Drawing, alternative text and controls of a moving figure; None if one of them is missing."""
    svg = alt = form = ""
    for cell in notebook["cells"]:
        settings, shown = cell["metadata"].get("mystnb", {}), outputs_of(cell)
        if settings.get("figure", {}).get("name") == name and SVG in shown:
            svg, alt = shown[SVG], " ".join(settings.get("image", {}).get("alt", "").split())
        if f'data-figure="{escape(name)}"' in shown.get("text/html", ""):
            form = shown["text/html"]
    return (svg, alt, form) if svg and alt and form else None


class MovingPicture(SphinxDirective):
    """`moving-picture`, a page and the name of its figure: drawing and controls, nothing else."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Show it; the page must have run."""
        page, name = self.arguments
        source = Path(self.env.srcdir)
        self.env.note_dependency(f"pages/{page}.ipynb")
        file = source / "pages" / f"{page}.ipynb"
        found = file.is_file() and find_figure(json.loads(file.read_text("utf-8")), name)
        if not found and self.config.ntp_partial:
            return []  # the page did not run
        if not found:
            message = "the page %r has no moving figure %r with a drawing and its words"
            logger.warning(message, page, name, location=self.get_location())
            return []
        svg, alt, form = found
        (source / FOLDER).mkdir(exist_ok=True)
        (source / FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")
        return [
            nodes.raw("", f'<figure class="align-default" id="{escape(name)}">', format="html"),
            nodes.image(uri=f"/{FOLDER}/{name}.svg", alt=alt),
            nodes.raw("", "</figure>", format="html"),
            nodes.raw("", form[: form.index("</form>") + len("</form>")], format="html"),
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_directive("moving-picture", MovingPicture)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
