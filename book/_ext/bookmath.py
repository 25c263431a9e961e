"""Sphinx extension: formulas become MathML when the book is built, and bad ones stop the build."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from ntpverdicts.maths import typeset
from tools.site.maths import FormulaError, Setter, font_rule
from tools.site.powers import in_page

logger = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parent.parent.parent
LOOK = "maths.css"
EARLY = "document.fonts.load('1em \"NTP Math\"')"  # before the first line is set, so nothing moves
PARAGRAPHS = re.compile(r"\n\s*\n")
FIRST = re.compile(r'(<mrow[^>]*><mo) form="prefix"(?=[^<]*</mo>(?!</mrow>))')
LAST = re.compile(r'(</\w+><mo) form="postfix"(?=[^<]*</mo></mrow>)')
# The blank after the name of a function whose argument does not follow.
UNUSED = re.compile(
    r'(<mo>\u2061</mo>)<mspace width="0.1667em"></mspace>'
    r"(?=(?:</mrow>)+(?:</math>|<mo\b[^>]*>[=≤≥≈∼→,.;)\]]))"
)
# A line may break after a formula, but never before the punctuation that follows it.
FOLLOWED = re.compile(r"(</math>)(</span>)([.,:;!?)\]’”]+)")


def start(app: Sphinx) -> None:
    """Start what sets the formulas."""
    root = Path.cwd()
    app.ntp_setter = Setter(root, app.config.ntp_macros)  # type: ignore[attr-defined]


def mathml(app: Sphinx, where: object, tex: str, display: bool) -> str:
    """A formula as MathML; one that cannot be set is a warning, and so an error."""
    try:
        found: str = app.ntp_setter.set(tex, display=display)  # type: ignore[attr-defined]
    except FormulaError as error:
        logger.warning("this formula cannot be set: %s: %s", tex, error, location=where)
        return escape(tex)
    return without_needless_marks(found)


def without_needless_marks(formula: str) -> str:
    """MathML without marks that MathML Core ignores, or infers: a tenth of what formulas weigh.

    The first sign of a row with others is a prefix, and the last one a postfix.
    """
    formula = formula.replace(' fence="true"', "").replace(' separator="true"', "")
    return LAST.sub(r"\1", FIRST.sub(r"\1", UNUSED.sub(r"\1", formula)))


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """A formula in a line of text."""
    formula = mathml(self.builder.app, node, node.astext(), False)
    self.body.append(f"{self.starttag(node, 'span', '', CLASS='math')}{formula}</span>")
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """A formula of its own, with its number and a link to it."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    display = one_display(node.astext(), node["nowrap"])
    self.body.append(mathml(self.builder.app, node, display, True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def set_texts(app: Sphinx, html: str, where: object) -> str:
    """HTML with the formulas of claims and checks typeset, and all numbers of sentences.

    Punctuation that follows a formula becomes part of it, in which no line breaks.
    """
    found = typeset(in_page(html), lambda tex: mathml(app, where, tex, False))
    return FOLLOWED.sub(r"\1\3\2", found)


def one_display(tex: str, whole: bool) -> str:
    """The lines of a display as one formula, as Sphinx reads them for every renderer."""
    if whole:
        return tex
    parts = [part for part in PARAGRAPHS.split(tex) if part.strip()]
    lines = [rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part for part in parts]
    if len(lines) == 1:
        return lines[0]
    return r"\begin{aligned}" + r"\\".join(lines) + r"\end{aligned}"


def finish_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Typeset cards and tables, and give pages with formulas the style sheet for them."""
    if context.get("body"):
        context["body"] = set_texts(app, context["body"], pagename)
    if "<math" in (context.get("body") or ""):
        app.add_css_file(LOOK)
        app.add_js_file(None, body=EARLY)


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write the style sheet with its font, and stop what set the formulas."""
    setter: Setter | None = getattr(app, "ntp_setter", None)
    if setter is None:
        return
    setter.close()
    target = Path(app.outdir) / "_static" / LOOK
    if exception is None and target.is_file():
        try:
            rule = font_rule(Path.cwd(), setter.signs())
        except ValueError as error:
            logger.warning("%s", error)
            return
        target.write_text(rule + target.read_text(encoding="utf-8"), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_config_value("ntp_macros", {}, "env", dict)
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("builder-inited", start)
    app.connect("html-page-context", finish_page)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
