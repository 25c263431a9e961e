"""Sphinx extension: the errata of a paper as one table, and the place of the authors' reply."""

from __future__ import annotations

from html import escape
from pathlib import Path

from booklinks import inline
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from tools.site.errata import COLUMNS, GROUPS, HEADINGS, Erratum, as_latex, as_text, read_errata

FILE = Path("book/errata.toml")
logger = logging.getLogger(__name__)
REPLY = "This place is theirs."


def errata_of(env: object, paper: str) -> list[Erratum]:
    """The errata of a paper out of the ledger of this build."""
    file = Path(env.srcdir) / FILE  # type: ignore[attr-defined]
    partial = env.config.ntp_partial  # type: ignore[attr-defined]
    text, rows = file.read_text(encoding="utf-8"), env.ntp_rows  # type: ignore[attr-defined]
    return read_errata(text, rows, paper, partial=partial)


def table_source(errata: list[Erratum]) -> list[str]:
    """The tables in MyST, one for each group; the witness comes by a role."""
    lines = []
    for group in GROUPS:
        mine = [one for one in errata if one.group == group]
        if mine:
            lines += [f"**{HEADINGS[group]}: {len(mine)}**", "", *_table(mine), ""]
    return lines


def _table(errata: list[Erratum]) -> list[str]:
    """One table."""
    lines = [
        "```{list-table}",
        ":header-rows: 1",
        ":class: ntp-errata",
        ":widths: 16 27 32 25",
        "",
    ]
    rows = [COLUMNS] + [
        (
            f"{{ref}}`{one.place} <erratum-{one.label}>`, {one.severity} {{verdict}}`{one.label}`",
            one.printed,
            f"{one.read}" + (f". *{one.note}*" if one.note else ""),
            f"{{shown}}`{one.label}`",
        )
        for one in errata
    ]
    for row in rows:
        for place, cell in enumerate(row):
            lines.append(f"{'  ' if place else '* '}- {cell}")
    return [*lines, "```"]


def copies(errata: list[Erratum]) -> str:
    """The same as text and as LaTeX, each in a fold with a button."""
    return "".join(
        f'<details class="ntp-report"><summary>The table as {name}</summary>'
        f'<pre tabindex="0" aria-label="Errata as {name}">{escape(text)}</pre>'
        '<p><button type="button" class="ntp-copy-text" hidden>Copy</button> '
        '<span class="ntp-copied" role="status"></span></p></details>'
        for name, text in (("text", as_text(errata)), ("LaTeX", as_latex(errata)))
    )


class ErrataTable(SphinxDirective):
    """`errata-table` and a paper's key: all errata, the most severe first."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the table and its copies."""
        self.env.note_dependency(str(Path(self.env.srcdir) / FILE))
        try:
            errata = errata_of(self.env, self.arguments[0])
            folded = copies(errata)
        except ValueError as problem:
            logger.warning("%s", problem, location=self.get_location())
            return []
        box = nodes.container(classes=["ntp-wide"])
        self.state.nested_parse(StringList(table_source(errata), "errata"), 0, box)
        return [box, nodes.raw("", folded, format="html")]


class ShownRole(SphinxRole):
    """`shown` and a label: what shows this erratum."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Look it up."""
        paper = self.env.ntp_rows.get(self.text, {}).get("paper", "")
        for one in errata_of(self.env, paper) if paper else ():
            if one.label == self.text:
                return [nodes.inline("", "", *inline(one.witness))], []
        logger.warning("%r is no erratum", self.text, location=self.get_location())
        return [nodes.literal(self.text, self.text)], []


class ReplyRole(SphinxRole):
    """`reply` and a label: what the authors answered, or the place that is kept for it."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Look it up."""
        paper = self.env.ntp_rows.get(self.text, {}).get("paper", "")
        for one in errata_of(self.env, paper) if paper else ():
            if one.label == self.text:
                text = one.reply or REPLY
                return [nodes.inline(text, text, classes=["ntp-reply"])], []
        logger.warning("%r is no erratum", self.text, location=self.get_location())
        return [nodes.literal(self.text, self.text)], []


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_directive("errata-table", ErrataTable)
    app.add_role("shown", ShownRole())
    app.add_role("reply", ReplyRole())
    return {"parallel_read_safe": False, "parallel_write_safe": False}
