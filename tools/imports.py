"""Which files of a package some code needs: found by reading imports, without importing."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE = "ntpcore"


def imported_names(tree: ast.AST, package: str = "") -> set[str]:
    """Dotted names that code imports anywhere, in functions too.

    Args:
        tree: parsed code.
        package: the package that holds the code, which relative imports start from.

    Returns:
        For `from a import b` both `a` and `a.b`, as nothing tells yet whether `b` is a module.
    """
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            names |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return names


def module_file(root: Path, name: str) -> Path | None:
    """File of a module of the package below `root`, relative to it; None when there is none."""
    path = Path(*name.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if (root / candidate).is_file():
            return candidate
    return None


def import_closure(root: Path, trees: Iterable[ast.AST]) -> frozenset[Path]:
    """Files of ntpcore that some code imports, directly or through others.

    Args:
        root: folder that holds the package.
        trees: the parsed code.

    Returns:
        Paths relative to `root`; importing `a.b.c` runs the `__init__` files of `a` and `a.b` too.
    """
    return closure_of(root, {name for tree in trees for name in imported_names(tree)})


def closure_of(root: Path, names: Iterable[str]) -> frozenset[Path]:
    """Files of ntpcore that importing these dotted names loads, relative to `root`."""
    waiting = set(names)
    seen: set[str] = set()
    files: set[Path] = set()
    while waiting:
        name = waiting.pop()
        if name in seen or name.split(".")[0] != PACKAGE:
            continue
        seen.add(name)
        waiting |= {name.rsplit(".", 1)[0]} if "." in name else set()
        file = module_file(root, name)
        if file is None or file in files:
            continue
        files.add(file)
        within = name if file.name == "__init__.py" else name.rsplit(".", 1)[0]
        waiting |= names_in((root / file).read_text(encoding="utf-8"), str(file), within)
    return frozenset(files)


@cache
def names_in(text: str, filename: str, package: str) -> frozenset[str]:
    """Dotted names that the text of a module imports; kept, as many closures ask for the same."""
    return frozenset(imported_names(ast.parse(text, filename=filename), package))
