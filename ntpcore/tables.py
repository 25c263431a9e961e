"""Tables on pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Table:
    """Rows of text under a header, for a page.

    Attributes:
        header: names of the columns.
        rows: the cells.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def _repr_html_(self) -> str:
        """The table as HTML."""
        head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in self.header)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(unbroken(cell))}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        return f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def unbroken(cell: str) -> str:
    """A cell with true minus signs in its numbers; lines would break after a hyphen."""
    return re.sub(r"(?<=\de)-(?=\d)|(?<!\w)-(?=\d)", "−", cell)
