"""The result of a sweep as a file: Parquet or CSV, the same bytes for the same rows."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ntpcli.sweep.columns import COLUMNS, Row
from ntpcli.sweep.journal import Head
from ntpcore.data.dataset import InputError

FORMS = (".parquet", ".csv")


def form_of(path: str) -> str:
    """The ending that tells the form of the result.

    Raises:
        InputError: it is neither of the two, or Parquet cannot be written here.
    """
    for form in FORMS:
        if path.lower().endswith(form):
            if form == ".parquet":
                _arrow()
            return form
    raise InputError(f"--output {path!r}: name a file that ends in {' or '.join(FORMS)}")


def content(rows: Sequence[Row], form: str) -> bytes:
    """The rows as a file of this form."""
    return _parquet(rows) if form == ".parquet" else _csv(rows).encode()


def _arrow() -> Any:
    """The package pyarrow, which is loaded only where it is needed."""
    try:
        return import_module("pyarrow")
    except ImportError:
        raise InputError(
            "Parquet needs the package pyarrow, which is not installed; install ntpcore[sweep], or "
            "give an --output that ends in .csv"
        ) from None


def _parquet(rows: Sequence[Row]) -> bytes:
    """Apache Parquet, with the meaning of each column in its metadata."""
    arrow = _arrow()
    parquet = import_module("pyarrow.parquet")
    types = {int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_(), str: arrow.string()}
    schema = arrow.schema(
        [
            arrow.field(column.name, types[column.kind], metadata={"meaning": column.meaning})
            for column in COLUMNS
        ]
    )
    columns = {column.name: [row[column.name] for row in rows] for column in COLUMNS}
    sink = io.BytesIO()
    parquet.write_table(arrow.table(columns, schema=schema), sink)
    return sink.getvalue()


def _csv(rows: Sequence[Row]) -> str:
    """Comma-separated values; numbers with all their digits, nothing where nothing is defined."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in COLUMNS])
    writer.writerows([_cell(row[column.name]) for column in COLUMNS] for row in rows)
    return out.getvalue()


def _cell(value: int | float | bool | str | None) -> str:
    """One cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def belongs(path: str, form: str, head: Head) -> bool:
    """Whether there is a file, and it is the complete result of this sweep by this code."""
    if not os.path.isfile(path):
        return False
    try:
        if form == ".parquet":
            table = import_module("pyarrow.parquet").read_table(path, columns=["sweep", "code"])
            marks = [(row["sweep"], row["code"]) for row in table.to_pylist()]
        else:
            with open(path, encoding="utf-8", newline="") as stream:
                marks = [(row["sweep"], row["code"]) for row in csv.DictReader(stream)]
    except (OSError, ValueError, KeyError, csv.Error):  # pyarrow's errors are ValueErrors, too
        return False
    return marks == [(head.sweep, head.code)] * head.runs
