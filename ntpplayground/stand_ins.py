"""Stand-ins for packages that the browser does not bring, so that our modules can be loaded there.

Nothing can be computed with one: while a module is loaded a stand-in gives further stand-ins, as
types and constants ask for; after that every use of it is an error that names the package.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import NoReturn

OURS = ("ntpcore", "ntpverdicts", "ntpbook", "ntpcli", "ntpplayground")
CELL = "<cell"  # how the file names of a page's cells begin
GIVING = (  # operations whose value may be anything, and so a stand-in
    "__call__", "__lt__", "__le__", "__gt__", "__ge__", "__add__", "__radd__", "__sub__",
    "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__", "__pow__", "__rpow__",
    "__neg__", "__abs__", "__matmul__", "__rmatmul__",
)  # fmt: skip
NEVER = (
    "__iter__", "__len__", "__contains__", "__float__", "__int__", "__index__", "__enter__",
    "__exit__",
)  # fmt: skip


class Absent(ModuleType):
    """A package that is not here, or anything in it."""

    __hash__ = object.__hash__

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []  # its parts can be imported, as parts of a package

    def __getattr__(self, name: str) -> Absent:
        """A part of it."""
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")

    def __getitem__(self, key: object) -> Absent:
        """It with arguments of a type."""
        return self

    def __eq__(self, other: object) -> bool:
        """Whether it is the same stand-in, as far as types ask."""
        return self is other if _loading(sys._getframe(1)) else _missing(self)

    def __bool__(self) -> bool:
        """Nobody knows."""
        return _missing(self)

    def __or__(self, other: object) -> Absent:
        """It as one of several types."""
        return self

    __ror__ = __or__

    def __instancecheck__(self, instance: object) -> bool:
        """Whether something is of a type of it: never, as there is none."""
        return isinstance(instance, Absent)

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        """What a class gets of it."""
        return ()


def _missing(one: Absent) -> NoReturn:
    """Say what is not here."""
    package = one.__name__.partition(".")[0]
    raise ModuleNotFoundError(f"this needs {package}, which the page does not bring along")


def _give(self: Absent, *args: object, **named: object) -> Absent:
    """A stand-in while a module of ours is loaded, and else an error."""
    return self if _loading(sys._getframe(1)) else _missing(self)


def _refuse(self: Absent, *args: object) -> NoReturn:
    """An error."""
    _missing(self)


def _loading(frame: FrameType | None) -> bool:
    """Whether a module of ours asks, outside its functions, itself or through other packages."""
    while frame is not None and not frame.f_code.co_filename.startswith(CELL):
        if frame.f_globals.get("__name__", "").partition(".")[0] in OURS:
            return frame.f_code.co_name == "<module>"
        frame = frame.f_back
    return False


for _name in GIVING:
    setattr(Absent, _name, _give)
for _name in NEVER:
    setattr(Absent, _name, _refuse)


class Stand(MetaPathFinder, Loader):
    """Gives a stand-in for what nobody found and a module of ours asked for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The stand-in, unless a reader or another package asks, or the module is one of ours."""
        if fullname.partition(".")[0] in OURS or not _asked_by_ours():
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty one."""
        return Absent(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is in it."""


def _asked_by_ours() -> bool:
    """Whether an import statement of a module of ours is going on, outside its functions.

    Functions, and whoever imports by a call, may try whether a package is there.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("importlib"):
        if frame.f_code.co_name == "import_module":
            return False
        frame = frame.f_back
    if frame is None or frame.f_code.co_name != "<module>":
        return False
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in OURS


def stand_in() -> None:
    """From now on, what is absent has a stand-in."""
    if not any(isinstance(one, Stand) for one in sys.meta_path):
        sys.meta_path.append(Stand())
