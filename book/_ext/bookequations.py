"""Every equation with a number has a stable place and a link to it: `#eq-9`."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

TAG = re.compile(r"\\tag\*?\{([^{}]+)\}")


def numbers_in(formula: str) -> list[str]:
    """The numbers that a display formula bears."""
    return [number.strip() for number in TAG.findall(formula)]


def anchor_of(number: str) -> str:
    """The id of an equation: letters and digits of its number, whatever else stands there."""
    words = re.findall(r"[A-Za-z0-9]+", number.replace("'", " prime"))
    return "-".join(["eq", *words])


def link_equations(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Wrap every numbered display formula into a box with an id and a link for each number."""
    taken: set[str] = set(doctree.ids)
    for formula in list(doctree.findall(nodes.math_block)):
        numbers = numbers_in(formula.astext())
        if not numbers:
            continue
        box = nodes.container(classes=["ntp-equation"])
        formula.replace_self(box)
        box += formula
        links = nodes.inline(classes=["ntp-equation-links"])
        for number in numbers:
            anchor = unused(anchor_of(number), taken)
            taken.add(anchor)
            title = f"Link to equation ({number})"
            link = nodes.reference(
                "", "#", refuri=f"#{anchor}", internal=True, reftitle=title, ids=[anchor],
                classes=["headerlink", "ntp-copy-link"],
            )  # fmt: skip
            links += link
        box += nodes.paragraph("", "", links, classes=["ntp-equation-place"])


def unused(anchor: str, taken: set[str]) -> str:
    """The anchor, or with a number behind it where the page has it already."""
    if anchor not in taken:
        return anchor
    number = 2
    while f"{anchor}-{number}" in taken:
        number += 1
    return f"{anchor}-{number}"


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("doctree-resolved", link_equations)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
