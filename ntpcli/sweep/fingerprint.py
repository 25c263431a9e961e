"""Which code made a row: a hash of every module that its numbers depend on, and of the packages."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ntpbook.catalogue import modules_of
from ntpcli.sweep.columns import CLAIMS
from ntpcore.data import digest
from ntpverdicts.imports import Package

ROOT = Path(__file__).resolve().parents[2]  # holds our packages
START = "ntpcli.sweep.one_run"  # makes the rows
PACKAGES_OF_OURS = ("ntpcore", "ntpverdicts", "ntpbook", "ntpcli")
PACKAGES = ("networkx", "numba", "numpy", "scipy")


@cache
def modules() -> tuple[Path, ...]:
    """Every module that a row depends on, relative to the folder that holds the packages."""
    chapters = {module for label in CLAIMS for module in modules_of(label)}
    return tuple(sorted(Package(PACKAGES_OF_OURS, ROOT).closure([START, *chapters])))


@cache
def code_hash() -> str:
    """A hash in hexadecimal; equal hashes mean equal rows on one kind of processor."""
    packages = (f"{name} {_version(name)}" for name in PACKAGES)
    return digest.of_files((ROOT / name for name in modules()), *packages)[:16]


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
