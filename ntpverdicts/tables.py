"""Tables on pages."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ntpverdicts.maths import in_html, unbroken

DOWNLOAD_MIME = "application/vnd.ntpcore.download+json"
NARROW_MIME = "application/vnd.ntpcore.narrow+svg"  # a drawing for a phone, beside the wide one


@dataclass(frozen=True)
class Table:
    """Rows of text under a header, for a page.

    Attributes:
        header: names of the columns; formulas between dollar signs are typeset.
        rows: the cells, as they are.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def _repr_html_(self) -> str:
        """The table as HTML."""
        head = "".join(f'<th scope="col">{in_html(cell)}</th>' for cell in self.header)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(unbroken(cell))}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        return f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


@dataclass(frozen=True)
class Download:
    """Numbers of a figure, as a file that the page links to.

    The build writes the file into the folder `data` of the site.

    Attributes:
        name: of the file, such as "tian2023-fig-4.csv".
        header: names of the columns.
        rows: the cells; numbers are written with all their digits.

    Raises:
        ValueError: the name is no plain file name in small letters that ends in .csv, or a row has
            another number of cells than the header.
    """

    name: str
    header: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*\.csv", self.name):
            raise ValueError(f"{self.name!r} is no name such as tian2023-fig-4.csv")
        for number, row in enumerate(self.rows):
            if len(row) != len(self.header):
                raise ValueError(
                    f"{self.name}: row {number} has {len(row)} cells, not {len(self.header)}"
                )

    @property
    def text(self) -> str:
        """The file, as comma-separated values."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(self.rows)
        return out.getvalue()

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        """What a notebook shows: a link, and the file for the build."""
        columns = ", ".join(self.header)
        return {
            "text/plain": f"{self.name}: {len(self.rows)} rows ({columns})",
            "text/html": f'<p class="ntp-download">Numbers: <a href="../data/{self.name}" download>'
            f"{self.name}</a>, {len(self.rows)} rows ({escape(columns)})</p>",
            DOWNLOAD_MIME: {"name": self.name, "text": self.text},
        }
