"""Where the runs of a sweep are done: in this process, in several of this machine, or by Dask.

Every backend takes the runs that are still to do and gives back their rows as they come. A run that
kills its process is told from its neighbours by doing it once more alone; if the process dies
again, its row says so.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from ntpcli.sweep import one_run
from ntpcli.sweep.columns import Row, number_of
from ntpcli.sweep.plan import Cell
from ntpcore.data.dataset import InputError

Todo = Mapping[int, Cell]

DIED = ("ProcessDied", "the process that did this run died twice, killed or out of memory")
IDLE_SECONDS = 60  # after which a process without work ends
WATCH_SECONDS = 1.0  # between two looks for the parent


def here(todo: Todo, mark: str) -> Iterator[Row]:
    """One run after the other, in this process."""
    for number, cell in todo.items():
        yield one_run.run(number, cell, mark)


def on_processes(todo: Todo, mark: str, jobs: int) -> Iterator[Row]:
    """So many runs at once, each in a process of its own on this machine.

    Raises:
        InputError: joblib is not installed, or can start no processes here.
    """
    joblib = package("joblib", "--jobs with more than one process")
    if joblib.effective_n_jobs(2) == 1:
        raise InputError(
            f"--jobs {jobs}: joblib can start no processes here (/dev/shm cannot be written, or "
            "JOBLIB_MULTIPROCESSING is 0); give --jobs 1"
        )
    died = import_module("joblib.externals.loky.process_executor").TerminatedWorkerError
    waiting = dict(todo)
    while waiting:
        started: list[int] = []
        rows = _parallel(joblib, jobs, waiting, mark, started)
        try:
            for row in rows:
                waiting.pop(number_of(row))
                yield row
        except died:
            for number in [number for number in started if number in waiting]:
                cell = waiting.pop(number)
                try:
                    yield from _parallel(joblib, 2, {number: cell}, mark, [])
                except died:
                    yield one_run.blank(number, cell, mark) | one_run.failure(*DIED)


def _parallel(joblib: Any, jobs: int, todo: Todo, mark: str, started: list[int]) -> Iterator[Row]:
    """Rows from processes of this machine as they come; notes which runs were begun."""

    def tasks() -> Iterator[Any]:
        for number, cell in list(todo.items()):
            started.append(number)
            yield joblib.delayed(in_process)(number, cell, mark)

    settings = {"inner_max_num_threads": 1, "idle_worker_timeout": IDLE_SECONDS}
    with joblib.parallel_config("loky", **settings):
        pool = joblib.Parallel(
            n_jobs=jobs, batch_size=1, max_nbytes=None, return_as="generator_unordered"
        )
    yield from pool(tasks())


def in_process(number: int, cell: Cell, mark: str) -> Row:
    """A run in a process that ends when its parent does."""
    _leave_with_parent()
    return one_run.run(number, cell, mark)


def _leave_with_parent(name: str = "ntpcore-parent") -> None:
    """Watch the parent process, once; a killed one cannot tell its children to stop."""
    if any(thread.name == name for thread in threading.enumerate()):
        return
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name=name, daemon=True).start()


def package(name: str, what: str) -> Any:
    """A package that is loaded only where it is needed.

    Raises:
        InputError: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise InputError(
            f"{what} needs the package {name}, which is not installed; install ntpcore[sweep], or "
            "give --jobs 1"
        ) from None
