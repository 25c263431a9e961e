"""A sweep from its plan to its table: begun, taken up again, finished."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from ntpcli.sweep import backends, journal, output
from ntpcli.sweep.columns import Row, number_of
from ntpcli.sweep.fingerprint import code_hash
from ntpcli.sweep.plan import Plan
from ntpcore.data import files
from ntpcore.data.dataset import InputError

Start = Callable[[backends.Todo, str], Iterator[Row]]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Outcome:
    """How a sweep went.

    Attributes:
        runs: how many runs it has.
        kept: how many of them were finished before, by a sweep that was stopped.
        failures: how often each reason for a failure occurred, the most frequent first.
        complete: whether the result was there already and nothing was done.
    """

    runs: int
    kept: int = 0
    failures: tuple[tuple[str, int], ...] = ()
    complete: bool = False


def rows(plan: Plan, start: Start = backends.here, progress: Progress | None = None) -> list[Row]:
    """The rows of a sweep in the order of its runs, without any file.

    Args:
        plan: the sweep.
        start: where the runs are done.
        progress: called with the runs that are finished, and the runs in all.
    """
    found: dict[int, Row] = {}
    for row in start(dict(enumerate(plan.cells)), plan.mark):
        found[number_of(row)] = row
        if progress is not None:
            progress(len(found), len(plan.cells))
    return [found[number] for number in range(len(plan.cells))]


def to_file(
    plan: Plan,
    path: str,
    start: Start = backends.here,
    *,
    source: str | None = None,
    overwrite: bool = False,
    restart: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Do a sweep, or what is left of it, and write its table all or nothing.

    Args:
        plan: the sweep.
        path: the file to write, Parquet or CSV by its ending.
        start: where the runs are done.
        source: the file of the plan, which is never replaced.
        overwrite: whether to replace what lies at `path`.
        restart: whether to throw away the record of another sweep, or of other code.
        progress: called with the runs that are finished, and the runs in all.

    Raises:
        InputError: a file cannot be written or belongs to something else, or the backend fails.
    """
    form = output.form_of(path)
    head = journal.Head(plan.mark, code_hash(), len(plan.cells))
    record = journal.path_for(path)
    if not overwrite and output.belongs(path, form, head):
        _clear(record, head)
        return Outcome(head.runs, head.runs, complete=True)
    files.check_target(path, "--output", overwrite, [] if source is None else [source])
    with journal.opened(record, head, restart=restart) as kept:
        _tidy(path)
        before = len(kept.rows)
        todo = {n: cell for n, cell in enumerate(plan.cells) if n not in kept.rows}
        if progress is not None:
            progress(before, head.runs)
        if todo:
            for row in start(todo, plan.mark):
                kept.add(row)
                if progress is not None:
                    progress(len(kept.rows), head.runs)
        table = [kept.rows[number] for number in range(head.runs)]
        try:
            files.write_whole({path: output.content(table, form)})
        except InputError as error:
            raise InputError(
                f"{error}; all {head.runs} runs are kept in {record}, so the same command writes it"
            ) from None
        kept.remove()
    return Outcome(head.runs, before, failures(table))


def failures(table: list[Row]) -> tuple[tuple[str, int], ...]:
    """How often each reason for a failure occurs, the most frequent first."""
    counts: dict[str, int] = {}
    for row in table:
        if row["status"] == "failed":
            reason = f"{row['error']}: {row['message']}"
            counts[reason] = counts.get(reason, 0) + 1
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _clear(record: str, head: journal.Head) -> None:
    """Remove the record that a sweep left which was killed just after it wrote its result."""
    if os.path.isfile(record):
        with suppress(InputError), journal.opened(record, head) as kept:  # or it is of another one
            kept.remove()


def _tidy(path: str) -> None:
    """Remove what a sweep left that was killed while it wrote its result."""
    for part in files.leftovers(path):
        os.remove(part)
