"""Writing results: nothing is replaced unasked, and a file is written whole or not at all.

And reading a result in JSON again, which is refused in one sentence where it is none.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any

from ntpcore.data.dataset import InputError, unwritable

SUFFIX = ".part"  # of what is written beside a target


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
        InputError: a file beside it cannot be made, or its name is too long.
    """
    real = os.path.realpath(path)
    try:
        _refuse_no_file(real)
        with contextlib.suppress(FileNotFoundError):
            os.lstat(real)  # refuses a name that is too long
        handle, part = _beside(real)
        os.close(handle)
        os.remove(part)
    except OSError as error:
        raise unwritable(path, error) from None


def write_whole(contents: Mapping[str, bytes], *, overwrite: bool = True) -> None:
    """Write files: first all of them beside their places, then each into its place in one step.

    Args:
        contents: for each file what it is to hold.
        overwrite: whether to replace what is there.

    Raises:
        InputError: one cannot be written; then what was there before is still there.
    """
    path = ""
    try:
        with contextlib.ExitStack() as stack:
            for path, content in contents.items():
                stack.enter_context(replacing(path, overwrite=overwrite)).write(content)
    except OSError as error:
        raise unwritable(path, error) from None


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[IO[bytes]]:
    """A stream whose content takes the place of a file in one step, or of nothing.

    It is written to a new file beside the target, whose name nobody can guess and which is never
    there before. The target keeps its permissions; a link to a file stays, and the file that it
    names is replaced. Whatever goes wrong before the end, the target stays as it was.

    Args:
        path: the target.
        overwrite: whether to replace what is there at the end. Where it is not, and another process
            has written the target meanwhile, the content stays under a name of its own.

    Raises:
        OSError: the target cannot be written, or is there and is no plain file.
        InputError: another process has written it meanwhile; names the file that holds the content.
    """
    real = os.path.realpath(path)
    _refuse_no_file(real)
    handle, part = _beside(real)
    try:
        with open(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(part, _mode(real))
        if overwrite:
            os.replace(part, real)
        else:
            _put(part, real)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(part)
        raise


def _put(part: str, real: str) -> None:
    """Give a file the name of a target that must not be there, in one step."""
    try:
        os.link(part, real)
    except FileExistsError:
        kept = f"{real}.{os.path.basename(part).split('.')[-2]}"
        os.replace(part, kept)
        raise InputError(
            f"{real}: another command wrote this file meanwhile; the result of this one is in "
            f"{kept}"
        ) from None
    except OSError:  # a file system without links
        os.replace(part, real)
    else:
        os.remove(part)


def _refuse_no_file(real: str) -> None:
    """Refuse a target that is there and is a folder, a device, or the like."""
    if os.path.exists(real) and not os.path.isfile(real):
        raise OSError("it exists and is not a plain file")


def leftovers(path: str | os.PathLike[str]) -> list[str]:
    """Files beside a target that a process left which was killed while it wrote."""
    folder, name = os.path.split(os.path.realpath(path))
    mark = re.compile(rf"{re.escape(_prefix(name))}\w{{8}}{re.escape(SUFFIX)}")
    found = os.listdir(folder) if os.path.isdir(folder) else []
    return [os.path.join(folder, one) for one in sorted(found) if mark.fullmatch(one)]


def _beside(real: str) -> tuple[int, str]:
    """A new, empty file beside a target, open for writing, and its name."""
    folder, name = os.path.split(real)
    return tempfile.mkstemp(SUFFIX, _prefix(name), folder or ".")


def _prefix(name: str) -> str:
    """How the name of a file beside a target begins: short enough for every file system."""
    return f".{name.encode('utf-8', 'replace')[:64].decode('utf-8', 'ignore')}."


def _mode(real: str) -> int:
    """The permissions of a target: those that it has, or those of any new file."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(os.stat(real).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def read_json(
    path: str, *, way_out: str = "", pairs: Callable[[list[tuple[str, Any]]], Any] | None = None
) -> Any:
    """The content of a file in JSON.

    Args:
        path: the file.
        way_out: what to do where it is no JSON, for messages.
        pairs: what makes an object of its names and values; None for a dict.

    Raises:
        InputError: it cannot be read, or is no JSON.
    """
    advice = f"; {way_out}" if way_out else ""
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream, object_pairs_hook=pairs)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{path}: no JSON at {place} ({error.msg}){advice}") from None
    except RecursionError:
        raise InputError(f"{path}: cannot be read (brackets nested too deep){advice}") from None
    except ValueError as error:  # a number of more digits than Python reads
        raise InputError(f"{path}: cannot be read ({error}){advice}") from None
