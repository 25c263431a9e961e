"""The runs of a sweep on a Dask cluster, whose workers may come, go and die."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import CancelledError
from importlib import import_module
from typing import Any

from ntpcli.sweep import one_run
from ntpcli.sweep.backends import DIED, Todo, package
from ntpcli.sweep.columns import Row
from ntpcli.sweep.fingerprint import code_hash
from ntpcli.sweep.plan import Cell
from ntpcore.data.dataset import InputError

ADDRESS = re.compile(r"((tcp|tls)://)?(\[[0-9a-fA-F:.]+\]|[\w.-]+):\d{1,5}")
# What Dask raises where a scheduler went: closed connections, and futures cancelled with it.
_GONE = (OSError, TimeoutError, CancelledError, asyncio.CancelledError)
PATIENCE = 30.0  # seconds without a scheduler or a worker after which a sweep stops
SPARE_SECONDS = 5.0  # beyond the patience, in which Dask should give up by itself
LOOK_SECONDS = 0.5  # between two looks at the cluster while no row comes
AHEAD = 4  # runs that a cluster is given at once, for each thread of its workers


def on_dask(todo: Todo, mark: str, address: str, patience: float = PATIENCE) -> Iterator[Row]:
    """The rows of the runs as the workers of a cluster finish them.

    Args:
        todo: the runs.
        mark: hash of the sweep.
        address: of the scheduler, such as tcp://127.0.0.1:8786.
        patience: seconds to wait for a scheduler and for a first worker, at the beginning and
            whenever none is left.

    Raises:
        InputError: Dask is not installed, no scheduler answers, no worker is there, or a worker has
            other code.
    """
    package("distributed", "--backend dask")
    client = connect(address, patience)
    try:
        check_workers(client, address, patience)
        yield from _rows(client, todo, mark, address, patience)
    except _GONE as error:  # between two looks, where nothing else was asked of the cluster
        raise InputError(_lost(address, patience)) from error
    finally:
        with contextlib.suppress(*_GONE):  # nobody is there to say good-bye to
            client.close(timeout=2)


def connect(address: str, patience: float) -> Any:
    """A client of the scheduler.

    Raises:
        InputError: none answers at this address, or it is no address.
    """
    if not ADDRESS.fullmatch(address):
        raise InputError(
            f"--scheduler {address!r}: no address; give what `dask scheduler` prints, such as "
            "tcp://127.0.0.1:8786"
        )
    distributed = import_module("distributed")  # which sets levels of its own
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # they tell what we tell in words
    made: list[Any] = []

    def make() -> None:
        try:
            made.append(distributed.Client(address, timeout=patience, set_as_default=False))
        except (OSError, ValueError, TypeError) as error:
            made.append(error)

    # What takes a connection and does not answer, as a dashboard does, keeps Dask waiting for ever.
    thread = threading.Thread(target=make, name="ntpcore-connect", daemon=True)
    thread.start()
    thread.join(patience + SPARE_SECONDS)
    found = made[0] if made else TimeoutError("another program, a dashboard perhaps, is there")
    if isinstance(found, Exception):
        reason = " ".join(str(found).split())[:200]
        raise InputError(
            f"--scheduler {address}: no Dask scheduler answers there within {patience:g} seconds "
            f"({reason}); start one with `dask scheduler`, and give the address that it prints"
        )
    return found


def check_workers(client: Any, address: str, patience: float) -> None:
    """Wait for a first worker, and see that all of them have this code.

    Raises:
        InputError: there is none, or one cannot do these runs.
    """
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        raise InputError(
            f"--scheduler {address}: no worker came within {patience:g} seconds; start some with "
            f"`dask worker {address}`"
        ) from None
    for worker, found in client.run(code_hash, on_error="return").items():
        if isinstance(found, BaseException):
            raise InputError(
                f"worker {worker} cannot run ntpcore ({found}); install it there as it is here"
            )
        _check_code(found, f"worker {worker}")


def _check_code(found: object, who: str) -> None:
    """Refuse rows of other code."""
    if found != code_hash():
        raise InputError(
            f"{who} has other code than this process ({found}, not {code_hash()}); install the "
            "same ntpcore with the same packages on all of them"
        )


def _rows(
    client: Any, todo: Todo, mark: str, address: str, patience: float, again: bool = False
) -> Iterator[Row]:
    """Rows as they come; runs whose workers kept dying come last, each once more and alone.

    A run whose workers die then, too (`again`), is a failure.
    """
    distributed = import_module("distributed")
    watch, waiting = _Watch(client, address, patience), deque(todo.items())
    flying: dict[Any, tuple[int, Cell]] = {}
    deadly: list[tuple[int, Cell]] = []
    while waiting or flying:
        room = AHEAD * watch.threads() - len(flying)
        for _ in range(min(room, len(waiting))):
            number, cell = waiting.popleft()
            flying[client.submit(one_run.run, number, cell, mark, pure=False)] = number, cell
        if flying:
            with client.as_current(), contextlib.suppress(*_GONE):  # the futures tell
                distributed.wait(list(flying), LOOK_SECONDS, return_when="FIRST_COMPLETED")
        else:  # nobody is there to take what is left
            time.sleep(LOOK_SECONDS)
        done = [future for future in flying if future.done()]
        if not done:
            watch.look()
        for future in done:
            task = flying.pop(future)
            try:
                row: Row = future.result(timeout=LOOK_SECONDS)
            except TimeoutError:  # it lies on a worker that does not answer; others come first
                flying[future] = task
                watch.look()
            except distributed.KilledWorker:
                if again:
                    yield one_run.blank(*task, mark) | one_run.failure(*DIED)
                else:
                    deadly.append(task)
            except _GONE as error:  # the scheduler went, and what it knew with it
                watch.outlast(error)
                waiting.appendleft(task)
            else:
                _check_code(row["code"], "a worker")
                yield row
    for number, cell in deadly:
        yield from _rows(client, {number: cell}, mark, address, patience, again=True)


def _lost(address: str, patience: float) -> str:
    """What to say of a cluster that went and did not come back."""
    return (
        f"--scheduler {address}: the scheduler or all its workers are gone since {patience:g} "
        "seconds; what is finished is kept, so start them and give the same command again"
    )


class _Watch:
    """Looks whether the cluster is still there."""

    def __init__(self, client: Any, address: str, patience: float) -> None:
        self.client, self.address, self.patience = client, address, patience
        self.seen = time.monotonic()

    def look(self) -> None:
        """Note whether a worker is there.

        Raises:
            InputError: none was for too long.
        """
        if self.client.status == "running" and self.threads():
            self.seen = time.monotonic()
        elif time.monotonic() - self.seen > self.patience:
            raise InputError(_lost(self.address, self.patience))

    def outlast(self, error: BaseException) -> None:
        """Wait until the cluster is there again, where an error says no more than that it went.

        Raises:
            InputError: it did not come back.
            BaseException: the error is another one.
        """
        if self.client.status == "running" and not isinstance(error, _GONE):
            raise error
        while self.client.status != "running" or not self.threads():
            self.look()
            time.sleep(LOOK_SECONDS)

    def threads(self) -> int:
        """How many runs the workers can do at once; none where nobody answers."""
        try:
            return sum(self.client.ncores().values())
        except (*_GONE, RuntimeError, ValueError):
            return 0
