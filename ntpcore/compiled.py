"""Inner loops compiled by numba where it can be imported; they run as plain Python otherwise."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from typing import Any


def compiled(function: Callable[..., Any]) -> Any:
    """The function compiled by numba and cached on disk; itself where there is no numba."""
    return compiled_with()(function)


def compiled_with(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """The same with further options of `numba.njit`."""

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            njit = importlib.import_module("numba").njit
        except ImportError:
            return function
        loop = njit(error_model="numpy", **options)(function)
        if hasattr(loop, "enable_caching"):  # not where NUMBA_DISABLE_JIT is set
            from ntpcore._cache import SoundCache

            with contextlib.suppress(RuntimeError):  # no folder can hold the cache
                loop._cache = SoundCache(function, ".threads" * options.get("parallel", False))
        return loop

    return decorate


def has_numba() -> bool:
    """Whether loops are compiled."""
    try:
        importlib.import_module("numba")
    except ImportError:
        return False
    return True
