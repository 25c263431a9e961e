"""One build at a time in one folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class LockedError(Exception):
    """Another build holds the lock."""


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold the lock; the system lets go of it when the process ends, however it ends.

    Raises:
        LockedError: another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise LockedError(
                f"another build is running in this folder (process {holder}); "
                "wait until it is done, or stop it"
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield
