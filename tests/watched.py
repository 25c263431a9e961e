"""What the functions of the checks compute while a test runs, each summed up in one line.

A check prints few of the numbers that it computes: an instance may change, or an error grow a
thousandfold below the tolerance, and it says the same. So `recorded` watches every function at the
top of a module of `ntpcore.checks` and sums up what it is handed and what it gives back; of every
other function of `ntpcore` that such a module calls, the latter; and of sympy's, the former, since
two different expressions may vanish. A sum holds how many calls, how many values, and one number.

Each value x counts as ln(1 + |x| / 1e-6) with the sign of x, times a weight that depends on its
place. So a relative change counts alike at every size, and rounding of some 1e-16 not at all. Of
texts the words count, and not the numbers in them. The caches of the checks are emptied before, so
that a test finds the same alone and after others.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import sys
import types
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from ntpcore.claims import Check, Control

CHECKS = "ntpcore.checks"
NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
SMALL = 1e-6  # below this a value hardly counts
LARGE = 1e300  # stands for what is larger
LONG = 10_000  # entries of an array that are looked at, evenly spread
DEEP = 8  # levels of nested values
NEAR = 1e-3  # by which two sums may differ that are one
PLACES = 4  # decimals of a sum that are kept
SYMPY = (
    *("symbols", "sympify", "simplify", "expand", "factor", "together", "cancel", "diff", "limit"),
    *("integrate", "summation", "solve", "refine", "fraction", "numer", "powsimp", "nsimplify"),
)
CACHED = functools._lru_cache_wrapper
FUNCTIONS = types.FunctionType | CACHED
ROUNDING = "rounding"  # stands for what differs from machine to machine


@dataclasses.dataclass
class Sum:
    """What one function gave back.

    Attributes:
        calls: calls, or values yielded.
        values: numbers, texts and the like in them.
        total: their weighted sum.
    """

    calls: int = 0
    values: int = 0
    total: float = 0.0

    def add(self, value: object) -> None:
        """Count one more returned value."""
        found = numbers(value)
        place = self.values + np.arange(len(found))
        weight = 1.5 + np.cos(place)
        self.total += float(weight @ (np.sign(found) * np.log1p(np.abs(found) / SMALL)))
        self.values += len(found)
        self.calls += 1

    def __str__(self) -> str:
        return f"{self.calls} {self.values} {self.total:.{PLACES}f}"


def alike(pinned: str, found: str) -> bool:
    """Whether two sums are one: same numbers of calls and values, nearly the same total."""
    return ROUNDING in (pinned, found) or _are_near(pinned, found, NEAR)


def same(pinned: str, found: str) -> bool:
    """Whether two sums are one to the last place kept but one: closer than `alike` asks."""
    return ROUNDING in (pinned, found) or _are_near(pinned, found, NEAR / 5)


def _are_near(pinned: str, found: str, most: float) -> bool:
    """Whether two sums have the same counts, and totals that differ by so much at most."""
    if "no" in (pinned, found):
        return False
    *counts, total = pinned.split()
    *others, other = found.split()
    return counts == others and abs(float(total) - float(other)) <= most


def numbers(value: object) -> np.ndarray:
    """All numbers in a value, with codes for texts and other things."""
    parts: list[np.ndarray] = []
    _collect(value, parts, DEEP)
    found = np.concatenate(parts) if parts else np.zeros(0)
    return np.clip(np.nan_to_num(found, nan=1e30), -LARGE, LARGE)


def _collect(value: Any, parts: list[np.ndarray], depth: int) -> None:
    """Append the numbers of a value to the parts."""
    if depth == 0:
        return
    inner: Any = ()
    if isinstance(value, str):
        parts.append(_code(NUMBER.sub("#", value)))
    elif isinstance(value, Check | Control):  # what it says is pinned by itself
        parts.append(_code(str(value.verdict if isinstance(value, Check) else value.obtained)))
    elif isinstance(value, Enum):
        parts.append(_code(value.name))
    elif isinstance(value, bool | int | float | Fraction | np.number | np.bool_):
        parts.append(_plain(value))
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        parts.append(value.ravel()[:: value.size // LONG + 1].astype(float))
        parts.append(np.array(value.shape, dtype=float))
    elif isinstance(value, Mapping):
        inner = [one for pair in value.items() for one in pair]
    elif isinstance(value, set | frozenset):
        inner = sorted(value, key=repr)
    elif isinstance(value, list | tuple):
        inner = [len(value), *value]
    elif isinstance(value, np.ndarray):
        inner = value.ravel().tolist()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif hasattr(value, "free_symbols"):  # an expression or a matrix of sympy
        parts.append(_code(str(value)))
    else:
        parts.append(_code(type(value).__name__))
    for one in inner:
        _collect(one, parts, depth - 1)


def _code(text: str) -> np.ndarray:
    """A number that stands for a text."""
    return np.array([zlib.crc32(text.encode()) / 2**32])


def _plain(value: Any) -> np.ndarray:
    """A number; infinite if it is too large for a float."""
    try:
        found = complex(value)
    except OverflowError:
        found = complex(math.inf if value > 0 else -math.inf)
    return np.array([found.real, found.imag] if found.imag else [found.real])


class Watch:
    """Sums of what functions give back, while it is open."""

    def __init__(self) -> None:
        self.sums: dict[str, Sum] = {}
        self.open = True
        self.inside = 0  # functions that hide what happens inside and are running

    def note(self, name: str, value: object) -> None:
        """Add what a function gave back."""
        if self.open and not self.inside:
            self.sums.setdefault(name, Sum()).add(value)

    def around(
        self, function: Any, name: str, *, anywhere: bool = True, hides: bool = False
    ) -> Any:
        """A function that notes what the given one gives back.

        Args:
            function: a function, with a cache or without.
            name: under which to note it.
            anywhere: note calls from any module, with what they are handed; else the results of
                calls from checks only.
            hides: leave out what happens inside.
        """

        @functools.wraps(function)
        def watched(*args: Any, **options: Any) -> Any:
            if not (self.open and (anywhere or _from_checks())):
                return function(*args, **options)
            if anywhere and not hides:
                self.note(name, (args, options))
                args = tuple(self._argument(one, f"{name} argument") for one in args)
                options = {
                    key: self._argument(one, f"{name} {key}") for key, one in options.items()
                }
            self.inside += hides
            try:
                result = function(*args, **options)
            finally:
                self.inside -= hides
            if isinstance(result, types.GeneratorType):
                return self._items(result, name)
            self.note(name, result)
            return result

        if isinstance(function, CACHED):
            watched.cache_clear = function.cache_clear  # type: ignore[attr-defined]
            watched.cache_info = function.cache_info  # type: ignore[attr-defined]
        watched.unwatched = function  # type: ignore[attr-defined]
        return watched

    def handed(self, function: Any, name: str) -> Any:
        """A function that notes what checks hand to the given one."""

        @functools.wraps(function)
        def watched(*args: Any, **options: Any) -> Any:
            if self.open and _from_checks():
                self.note(name, (args, options))
            return function(*args, **options)

        watched.unwatched = function  # type: ignore[attr-defined]
        return watched

    def _argument(self, value: Any, name: str) -> Any:
        """A generator or a local function that notes what it gives; anything else as it is."""
        if isinstance(value, types.GeneratorType):
            return self._items(value, name)
        local = isinstance(value, types.FunctionType) and "<locals>" in value.__qualname__
        return self.around(value, name) if local and not hasattr(value, "unwatched") else value

    def _items(self, items: Iterator[Any], name: str) -> Iterator[Any]:
        """The items of a generator, each noted."""
        for item in items:
            self.note(name, item)
            yield item


def _from_checks() -> bool:
    """Whether the caller of a watched function is a module of checks."""
    return str(sys._getframe(2).f_globals.get("__name__")).startswith(CHECKS)


@contextmanager
def recorded(test_module: types.ModuleType | None = None) -> Iterator[dict[str, Sum]]:
    """Sums of what the functions of the checks give back meanwhile, by function.

    Args:
        test_module: of the test that runs; what its functions with a cache do is left out.
    """
    watch = Watch()
    made: dict[Callable[..., Any], Any] = {}
    before: list[tuple[types.ModuleType, str, Any]] = []
    for module_name, module in list(sys.modules.items()):
        own = test_module is not None and module is test_module
        if not own and module_name.split(".")[0] != "ntpcore":
            continue
        for name, now in list(vars(module).items()):
            value = getattr(now, "unwatched", now)
            place = getattr(value, "__module__", None) or ""
            if not isinstance(value, FUNCTIONS) or not place.startswith(("ntpcore", module_name)):
                continue
            hides = own and place == module_name and isinstance(value, CACHED)
            if isinstance(value, CACHED) and place.startswith(CHECKS):
                value.cache_clear()
            anywhere = hides or place.startswith(CHECKS)
            if anywhere or (not own and (place == module_name or module_name.startswith(CHECKS))):
                if value not in made:
                    title = f"{place.removeprefix('ntpcore.')}.{value.__name__}"
                    made[value] = watch.around(value, title, anywhere=anywhere, hides=hides)
                before.append((module, name, now))
                setattr(module, name, made[value])
    import sympy

    for name in SYMPY:
        now = getattr(sympy, name)
        function = getattr(now, "unwatched", now)
        before.append((sympy, name, now))
        setattr(sympy, name, watch.handed(function, f"sympy.{name}"))
    try:
        yield watch.sums
    finally:
        watch.open = False
        for module, name, now in before:
            if hasattr(vars(module).get(name), "unwatched"):
                setattr(module, name, now)
