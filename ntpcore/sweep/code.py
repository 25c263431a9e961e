"""Which code made a row: a hash of every module that its numbers depend on, and of the packages."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ntpcore import digest

# A test compares this list with what `ntpcore.sweep.one` imports, directly or through others.
MODULES = (
    "_cache",
    "_fast",
    "_kernel",
    "_packing",
    "asymptotics",
    "bounds",
    "catalogue",
    "catalogue_huang2024",
    "catalogue_tian2023",
    "checks/huang2024/generalization",
    "checks/huang2024/loss_claims",
    "checks/huang2024/rare",
    "checks/huang2024/rare_alpha",
    "checks/huang2024/realizable",
    "checks/huang2024/runs",
    "checks/huang2024/stage2",
    "checks/huang2024/stage2_lemmas",
    "checks/huang2024/without_asm_3",
    "claims",
    "compiled",
    "dataset",
    "digest",
    "generate",
    "languages",
    "logs",
    "margin",
    "margin_fast",
    "order",
    "prediction",
    "problem",
    "repair",
    "stage1",
    "stepping",
    "sweep/code",
    "sweep/columns",
    "sweep/keys",
    "sweep/one",
    "sweep/plan",
    "tables",
    "training",
    "transformer",
)
PACKAGES = ("networkx", "numba", "numpy", "scipy")


@cache
def code_hash() -> str:
    """A hash in hexadecimal; equal hashes mean equal rows on one kind of processor."""
    folder = Path(__file__).resolve().parent.parent
    packages = (f"{name} {_version(name)}" for name in PACKAGES)
    return digest.of_files((folder / f"{name}.py" for name in MODULES), *packages)[:16]


@cache
def package_version() -> str:
    """The version of ntpcore."""
    return _version("ntpcore")


def _version(name: str) -> str:
    """The version of a package that is installed, or "none"."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
