"""Where the code of every check stands, and what of the project decided it."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ntpverdicts.imports import Package, imported_names, names_in
from tools.pipeline.consistency import OF_CLAIMS
from tools.pipeline.source import OURS, code_cells, parse_code

FOLDER = "source"  # of the site, for the pages that show the code


@dataclass(frozen=True)
class Source:
    """A check function.

    Attributes:
        function: its name.
        file: the module, from the root of the project.
        line: number of the line that names it, from 1.
        first: number of its first line, which a decorator may stand on.
        last: number of its last line.
    """

    function: str
    file: Path
    line: int
    first: int
    last: int

    @property
    def page(self) -> str:
        """The page of the site that shows the module."""
        return source_page(self.file)

    @property
    def anchor(self) -> str:
        """The place of the function on that page."""
        return self.function


def source_page(file: Path) -> str:
    """The page of the site that shows a module of checks."""
    return "/".join((FOLDER, *file.with_suffix("").parts))


def find_sources(root: Path = Path()) -> dict[str, Source]:
    """Every check of a claim in our packages, by the name of its function.

    Raises:
        ValueError: two modules define a function of one name.
    """
    prefixes = tuple("check_" + one.replace("-", "_") for one in OF_CLAIMS)
    defined = re.compile(rf"^def\s+(?:{'|'.join(map(re.escape, prefixes))})", re.MULTILINE)
    found: dict[str, Source] = {}
    for path in sorted(file for name in OURS for file in (root / name).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not defined.search(text):  # nothing to parse for: most modules have no check
            continue
        for node in ast.parse(text, filename=str(path)).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith(prefixes):
                if node.name in found:
                    raise ValueError(f"{node.name} is defined in {found[node.name].file} and again")
                last = node.end_lineno or node.lineno
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                found[node.name] = Source(
                    node.name, path.relative_to(root), node.lineno, first, last
                )
    return found


def deciding_files(notebook: Path, file: Path, package: Package) -> list[Path]:
    """The modules that a verdict depends on: the check's, and all that it or its page imports.

    Args:
        notebook: the text notebook, from the root of the project.
        file: the module of the check, from there too.
        package: the modules of the package.
    """
    _, names = _cells_and_imports((package.root / notebook).read_text(encoding="utf-8"))
    check = package.content(file).decode("utf-8")
    names |= names_in(check, str(file), ".".join(file.parent.parts))
    return sorted({file, *package.closure(names)})


@cache
def code_hash(notebook: Path, file: Path, package: Package) -> str:
    """SHA-256 of the code that decided a verdict: those modules and the cells of the page.

    Kept, because a page has several checks of one module.
    """
    code, _ = _cells_and_imports((package.root / notebook).read_text(encoding="utf-8"))
    files = deciding_files(notebook, file, package)
    parts = [(file.as_posix(), package.content(file)) for file in files]
    return _digest([(notebook.as_posix(), code.encode()), *parts])


@cache
def _cells_and_imports(text: str) -> tuple[str, frozenset[str]]:
    """The code of a text notebook, and the names it imports; kept for its next claim."""
    cells = code_cells(text)
    trees = [tree for cell in cells if (tree := parse_code(cell)) is not None]
    names = frozenset(name for tree in trees for name in imported_names(tree))
    return "\n\n".join(cell.source for cell in cells), names


def _digest(parts: Iterable[tuple[str, bytes]]) -> str:
    """One digest of several named contents."""
    whole = hashlib.sha256()
    for name, content in parts:
        whole.update(f"{name}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()
