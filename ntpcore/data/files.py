"""Writing results: nothing is replaced unasked, and a file is written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping

from ntpcore.data.dataset import InputError, unwritable


def check_target(path: str, option: str, overwrite: bool, inputs: Iterable[str] = ()) -> None:
    """Refuse a target before anything is computed.

    Args:
        path: where a result is to be written.
        option: the option that named it, for messages.
        overwrite: whether to replace what is there.
        inputs: files that are read, which no result may ever replace.

    Raises:
        InputError: the name is empty or no file name, it is an input, a folder or another thing
            that is no plain file, or there is such a file and nobody asked to replace it.
    """
    if not path or "\0" in path:
        raise InputError(f"{option} {path!r} is no file name; name a file")
    for name in inputs:
        if os.path.realpath(path) == os.path.realpath(name):
            raise InputError(f"{path}: the data are read from this file; give another {option}")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path}: this is not a plain file; give another {option}")
    if os.path.lexists(path) and not overwrite:
        raise InputError(
            f"{path}: there is such a file already; give --overwrite to replace it, or another "
            f"{option}"
        )


def check_place(path: str) -> None:
    """Refuse a target whose folder takes no file, before anything is computed.

    Raises:
        InputError: a file beside it cannot be made.
    """
    part = f"{os.path.realpath(path)}.{os.getpid()}.part"
    try:
        with open(part, "wb"):
            pass
        os.remove(part)
    except OSError as error:
        raise unwritable(path, error) from None


def write_whole(contents: Mapping[str, bytes]) -> None:
    """Write files: first all of them beside their places, then each into its place in one step.

    Raises:
        InputError: one cannot be written; then what was there before is still there.
    """
    parts: dict[str, str] = {}
    path = ""
    try:
        for path, content in contents.items():
            real = os.path.realpath(path)
            parts[real] = f"{real}.{os.getpid()}.part"
            with open(parts[real], "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
        for real, part in parts.items():
            os.replace(part, real)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        for part in parts.values():
            with contextlib.suppress(OSError):
                os.remove(part)
