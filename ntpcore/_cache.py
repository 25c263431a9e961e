"""numba's cache on disk, in which no damaged, half-written or unwritable file matters.

The files lie beside the modules, as Python's own compiled files do, and are numba's: nothing that
a reader gives is ever read this way. Each ends in a digest of what stands before it. A file whose
digest is wrong counts as missing, so that its function is compiled anew, and a cache that cannot be
written is done without.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

_SIZE = hashlib.sha256().digest_size


class _SoundFiles(IndexDataCacheFile):
    """The files of one function: data before index, and a digest behind both."""

    def save(self, key: object, data: object) -> None:
        """Write the data before the index names them, so that no kill in between matters."""
        overloads = self._load_index()
        taken = set(overloads.values())
        names = (self._data_name(number) for number in range(1, len(taken) + 2))
        name = overloads.get(key) or next(name for name in names if name not in taken)
        self._save_data(name, data)
        overloads[key] = name
        self._save_index(overloads)

    def _dump(self, obj: object) -> bytes:
        """What is written of an object; unpickling stops before the digest."""
        data: bytes = super()._dump(obj)
        return data + hashlib.sha256(data).digest()

    def _load_index(self) -> dict[object, str]:
        """The index; empty where it is missing, of another version, or damaged."""
        head = pickle.dumps(self._version, protocol=-1)
        with contextlib.suppress(OSError), open(self._index_path, "rb") as stream:
            if stream.read(len(head)) == head and _sound(stream.read()):
                found: dict[object, str] = super()._load_index()
                return found
        return {}

    def _load_data(self, name: str) -> object:
        """The compiled function; a damaged file is as good as none."""
        with open(self._data_path(name), "rb") as stream:
            if not _sound(stream.read()):
                raise FileNotFoundError(name)  # which numba answers by compiling
        return super()._load_data(name)


class SoundCache(FunctionCache):
    """The cache of one function, compiled in one way.

    Args:
        function: what is compiled.
        way: part of the names of its files. numba does not tell by itself that a function was
            compiled with other options.

    Raises:
        RuntimeError: no folder can hold it.
    """

    def __init__(self, function: Callable[..., Any], way: str) -> None:
        super().__init__(function)
        files = self._cache_file
        self._cache_file = _SoundFiles(
            cache_path=files._cache_path,
            filename_base=files._index_name.removesuffix(".nbi") + way,
            source_stamp=(files._source_stamp, *_called(function)),
        )

    def save_overload(self, sig: object, data: object) -> None:
        """Keep a compiled function; without room, the next run compiles it again."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


def _called(function: Callable[..., Any]) -> list[str]:
    """Digests of other modules whose compiled functions this one can call, and so holds within.

    numba looks at a function's own module alone, and would keep what it made of older ones.
    """
    found: dict[str, str] = {}
    waiting = [function]
    while waiting:
        for one in waiting.pop().__globals__.values():
            inner = getattr(one, "py_func", None)
            file = getattr(getattr(inner, "__code__", None), "co_filename", None)
            if inner and file and file not in found and file != function.__code__.co_filename:
                found[file] = hashlib.sha256(Path(file).read_bytes()).hexdigest()
                waiting.append(inner)
    return sorted(found.values())


def _sound(data: bytes) -> bool:
    """Whether a file ends in the digest of what stands before it."""
    return hashlib.sha256(data[:-_SIZE]).digest() == data[-_SIZE:]
