"""The record of a sweep that is under way: one line of JSON for each finished run.

It lies beside the result, `results.parquet.runs`, and is appended to. Whatever kills the sweep, at
most the last line is torn; it is cut off, and its run is done again, as is that of a line which is
no row. The first line says which sweep and which code the record belongs to, so that rows of two
never mix.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ntpcli.sweep.columns import COLUMNS, Row, number_of
from ntpcore.data.dataset import InputError

FORMAT = "ntpcore sweep 2"
WAYS_OUT = (
    "give --restart to throw them away, go back to what they are of, or give another --output"
)
_KINDS = {column.name: column.kind for column in COLUMNS}


@dataclass(frozen=True)
class Head:
    """What a record belongs to.

    Attributes:
        sweep: hash of the runs.
        code: hash of the code.
        runs: how many runs there are.
    """

    sweep: str
    code: str
    runs: int


@dataclass
class Journal:
    """An open record.

    Attributes:
        path: the file.
        rows: what is finished, by the number of the run.
    """

    path: str
    rows: dict[int, Row] = field(default_factory=dict)
    _file: int = -1

    def add(self, row: Row) -> None:
        """Write down a finished run.

        Raises:
            InputError: there is no room, say; what was written before stays.
        """
        number = number_of(row)
        assert number not in self.rows, f"run {number} came twice"
        try:
            _write_all(self._file, json.dumps(row).encode() + b"\n")
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(
                f"{self.path}: cannot be written ({reason}); {len(self.rows)} finished runs are "
                "kept there, so make room and give the same command again"
            ) from None
        self.rows[number] = row

    def remove(self) -> None:
        """Take the record away, its rows being in the result."""
        os.remove(self.path)


def path_for(output: str) -> str:
    """Where the record of a sweep lies whose result goes to `output`."""
    return f"{output}.runs"


@contextlib.contextmanager
def opened(path: str, head: Head, *, restart: bool = False) -> Iterator[Journal]:
    """The record of a sweep, begun or taken up again, and locked against a second sweep.

    Args:
        path: the file.
        head: what it must belong to.
        restart: whether to throw away what another sweep or other code left there.

    Raises:
        InputError: the file cannot be written, belongs to something else, or is in use.
    """
    if os.path.lexists(path) and not os.path.isfile(path):
        raise InputError(
            f"{path}: this is not a plain file; move it away, or give another --output"
        )
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{path}: cannot be written ({reason}); give an --output in a folder you may write to"
        ) from None
    try:
        _lock(descriptor, path)
        journal = _take_up(descriptor, path, head, restart)
        yield journal
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: str) -> None:
    """Keep out a second sweep; the lock ends with the process, however it ends."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(
            f"{path}: another sweep is writing here; wait for it, or give another --output"
        ) from None


def _take_up(descriptor: int, path: str, head: Head, restart: bool) -> Journal:
    """Read what is finished, and cut off what is torn."""
    with open(descriptor, "rb", closefd=False) as stream:
        content = stream.read()
    whole = content[: content.rfind(b"\n") + 1]
    lines = whole.split(b"\n")[:-1]
    first = _first_line(head)
    if not lines and first.startswith(content):
        return _begin(descriptor, path, first)
    if not lines or not content.startswith(b'{"format": "ntpcore sweep'):
        raise InputError(
            f"{path}: this is not the record of a sweep; move it away, or give another --output"
        )
    if restart:
        return _begin(descriptor, path, first)
    if lines[0] + b"\n" != first:
        raise InputError(f"{path}: {_foreign(lines, head)}; {WAYS_OUT}")
    os.ftruncate(descriptor, len(whole))
    rows = [row for line in lines[1:] if (row := _row(line, head))]
    return Journal(path, {number_of(row): row for row in rows}, descriptor)


def _begin(descriptor: int, path: str, first: bytes) -> Journal:
    """An empty record."""
    try:
        os.ftruncate(descriptor, 0)
        _write_all(descriptor, first)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{path}: cannot be written ({reason}); make room, or give another --output"
        ) from None
    return Journal(path, _file=descriptor)


def _foreign(lines: Sequence[bytes], head: Head) -> str:
    """Why a record belongs to something else."""
    finished = f"it holds {len(lines) - 1} finished runs"
    try:
        found = json.loads(lines[0])
        sweep, code = found["sweep"], found["code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"its first line is damaged, so nobody knows what its {len(lines) - 1} runs are of"
    if sweep != head.sweep:
        return f"{finished} of another sweep: the TOML file has changed since"
    if code != head.code:
        return f"{finished} of other code: ntpcore or one of its packages has changed since"
    return f"{finished} in another form"


def _row(line: bytes, head: Head) -> Row | None:
    """The row of a line; None if it is of no run of this sweep."""
    try:
        row: Row = json.loads(line)
        same = (row["sweep"], row["code"]) == (head.sweep, head.code)
        fits = list(row) == list(_KINDS) and all(_fits(name, row[name]) for name in row)
        return row if same and fits and 0 <= number_of(row) < head.runs else None
    except (ValueError, KeyError, TypeError, AssertionError, RecursionError):
        return None


def _fits(name: str, value: object) -> bool:
    """Whether a value is of its column's type."""
    return value is None or type(value) is _KINDS[name]


def _first_line(head: Head) -> bytes:
    """The first line of a record."""
    found = {"format": FORMAT, "sweep": head.sweep, "code": head.code, "runs": head.runs}
    return json.dumps(found).encode() + b"\n"


def _write_all(descriptor: int, content: bytes) -> None:
    """Append bytes, all of them; a torn line is cut off when the record is taken up again."""
    while content:
        content = content[os.write(descriptor, content) :]
