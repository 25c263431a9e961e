"""Stories show statements of their evidence pages, and list all of them at the end.

A statement has one box, on the evidence page where it is proved and checked. `statement` and a
label show that box in a story; `evidence` and names of pages list what stands there.
"""

from __future__ import annotations

from typing import Any

from booklinks import inline, make_badge
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx_proof.nodes import unenumerable_node

logger = logging.getLogger(__name__)


class shown_statement(nodes.Element):  # noqa: N801
    """Stands where a box goes until all pages are read."""


class evidence_list(nodes.Element):  # noqa: N801
    """Stands where the list of statements goes until all pages are read."""


class Statement(SphinxDirective):
    """`statement` and a label: the box of that claim, as its evidence page has it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Leave a place for it."""
        place = shown_statement(label=self.arguments[0])
        self.set_source_info(place)
        return [place]


class Evidence(SphinxDirective):
    """`evidence` and names of pages: their statements, each with its verdict and a link."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Leave a place for it."""
        place = evidence_list(pages=self.arguments[0].split())
        self.env.app.ntp_evidence.update(place["pages"])
        self.set_source_info(place)
        return [place]


def keep_boxes(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the boxes of a page for the stories that show them."""
    for box in doctree.findall(unenumerable_node):
        app.ntp_boxes[box["label"]] = (app.env.docname, box.deepcopy())  # type: ignore[attr-defined]


class FillStories(SphinxPostTransform):
    """Put boxes and lists in their places, before links are resolved."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        """Fill the places of one page."""
        for place in list(self.document.findall(shown_statement)):
            place.replace_self(self.box(place))
        for place in list(self.document.findall(evidence_list)):
            place.replace_self([part for page in place["pages"] for part in self.list(page, place)])

    def box(self, place: nodes.Element) -> list[nodes.Node]:
        """The box of a claim, as a copy whose links start from this page."""
        label, docname = place["label"], self.env.docname
        source, stated = self.app.ntp_boxes.get(label, ("", None))  # type: ignore[attr-defined]
        if stated is None:
            logger.warning("no page states %r", label, location=place)
            return []
        box = stated.deepcopy()
        box["ntp_copy"] = True
        for part in box.findall(nodes.Element):
            if part is not box and part is not box[0]:
                part["ids"] = []  # places of the evidence page, not of this one
        for link in box.findall(addnodes.pending_xref):
            link["refdoc"] = docname
        page = self.app.builder.get_relative_uri(docname, source)
        for link in box.findall(nodes.reference):
            if "refid" in link:  # to a place of the evidence page
                link["refuri"] = f"#{link.attributes.pop('refid')}"
            if link.get("refuri", "").startswith("#"):
                link["refuri"] = page + link["refuri"]
        self.env.get_domain("math").data["has_equations"][docname] = True
        return [box]

    def list(self, page: str, place: nodes.Element) -> list[nodes.Node]:
        """A link to an evidence page, and one to each of its statements."""
        app, docname = self.app, self.env.docname
        target = f"pages/{page}"
        rows = [row for row in self.env.ntp_rows.values() if row["page"] == page]  # type: ignore[attr-defined]
        if target not in self.env.titles or not rows:
            logger.warning("no evidence page is called %r", page, location=place)
            return []
        address = app.builder.get_relative_uri(docname, target)
        title = self.env.titles[target].astext()
        head = nodes.paragraph()
        head += nodes.reference("", title, refuri=address, internal=True)
        head += nodes.Text(" has every statement with its proof and its check:")
        listed = nodes.bullet_list(classes=["ntp-evidence"])
        for row in rows:
            link = nodes.reference("", "", refuri=f"{address}#{row['label']}", internal=True)
            link += inline(f"{row['number']}: {row['title']}")
            # The verdict without a link of its own: it would be too close to this one for a finger.
            badge = make_badge(app, docname, row, linked=False)
            line = nodes.paragraph("", "", link, nodes.Text(" "), badge)
            listed += nodes.list_item("", line)
        return [head, listed]


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.ntp_evidence = set()  # type: ignore[attr-defined]
    app.ntp_boxes = {}  # type: ignore[attr-defined]
    app.connect("doctree-read", keep_boxes, priority=600)  # after links to notebooks are led on
    app.add_node(shown_statement)
    app.add_node(evidence_list)
    app.add_directive("statement", Statement)
    app.add_directive("evidence", Evidence)
    app.add_post_transform(FillStories)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
