"""A command that stops between two of the files that it keeps."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest


class StoppedError(Exception):
    """Raised in the place of the next file."""


@contextlib.contextmanager
def stopping_after(files: int, folder: Path) -> Iterator[None]:
    """Let so many different files be put into a folder, and raise `StoppedError` at the next one.

    A file may be put into place again and again, and counts once.
    """
    put, seen = os.replace, set[Path]()

    def replace(part: str | Path, target: str | Path) -> None:
        if Path(target).parent == folder:
            if Path(target) not in seen and len(seen) == files:
                raise StoppedError
            seen.add(Path(target))
        put(part, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", replace)
        yield
