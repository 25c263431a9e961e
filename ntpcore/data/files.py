"""Write results: no file is replaced unasked, and each file is written whole or not at all.

`read_json` reads a result in JSON, and refuses other files with a message of one sentence.
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
    """Refuse, before the computation, a path to which a result must not be written.

    Args:
        path: the path of the result.
        option: the option of the command line that gave the path, for messages.
        overwrite: whether to replace an existing file.
        inputs: the input files, which no result may replace.

    Raises:
        InputError: the path is empty, not a file name, or an input, or exists and is not a plain
            file (such as a folder); or a file exists there, and `overwrite` is False.
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
    """Refuse, before the computation, a path in whose folder no file can be created.

    Raises:
        InputError: no file can be created in the folder, the name is too long, or the path
            exists and is not a plain file.
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
    """Write files: first all of them under temporary names, then rename each to its path.

    Args:
        contents: the content of each path.
        overwrite: whether to replace existing files.

    Raises:
        InputError: a file cannot be written, or exists and `overwrite` is False. Each path to
            which no file has been renamed by then stays as it was.
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
    """A stream whose content creates or replaces a file in one step when the context ends.

    The content goes to a new file with a random name in the folder of the target. An existing
    target keeps its permissions. If the target is a symbolic link, the file that the link names is
    replaced. If an error occurs before the end, the target stays unchanged.

    Args:
        path: the target.
        overwrite: whether to replace a target that exists at the end. If not, and the target exists
            then, the content is kept in a file with another name.

    Raises:
        OSError: the target cannot be written, or exists and is not a plain file.
        InputError: the target exists at the end, and `overwrite` is False; names the file that
            holds the content.
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
    """Temporary files of a target, left in its folder by a process killed while writing."""
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
        way_out: the remedy if the file is not JSON, for messages.
        pairs: a function from the list of names and values of an object to the object; None for a
            dict.

    Raises:
        InputError: the file cannot be read, or is not JSON.
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
