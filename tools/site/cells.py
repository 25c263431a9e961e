"""What a page loads to run its cells in the browser: their texts, our modules, and sympy.

Everything goes into one archive, which all pages share: the modules of ours that cells lead to, the
part of networkx that these use, sympy and mpmath without their tests and without the texts of their
documentation, and what writes values as notebooks do. It is the same each time, byte for byte.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import lzma
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution
from pathlib import Path

from ntpverdicts.imports import imported_names
from tools.pipeline.node import find_module
from tools.pipeline.source import OURS
from tools.site.playground import EMPTIED, ROOT, closure
from tools.site.runnable import Runnable, file_of

ARCHIVE = "cells.tar.xz"
START = "ntpplayground.cells"
TEMML = "temml/dist/temml.min.js"
# Parts of sympy that no cell uses and that sympy itself loads only when asked.
LEFT_OUT = (
    "sympy/physics/mechanics", "sympy/physics/vector", "sympy/physics/control",
    "sympy/physics/quantum", "sympy/physics/continuum", "sympy/physics/optics",
    "sympy/physics/hep", "sympy/physics/biomechanics", "sympy/parsing/autolev",
    "sympy/parsing/latex", "sympy/parsing/c/",
    "sympy/parsing/fortran", "sympy/diffgeom/", "sympy/liealgebras/",
    "sympy/crypto/", "sympy/holonomic/", "sympy/sandbox/", "sympy/categories/", "sympy/stats/",
    "sympy/vector/", "sympy/polys/numberfields/resolvent_lookup",
    "/tests/", "/benchmarks/",
)  # fmt: skip
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def write(where: str, *modules: str) -> None:
    """Write the archive, its size, and what sets formulas.

    Args:
        where: the folder for it.
        modules: those that the cells of the pages import.
    """
    folder = Path(where)
    folder.mkdir(parents=True, exist_ok=True)
    archive = packed(archived_files([START, *modules]))
    (folder / ARCHIVE).write_bytes(archive)
    version = hashlib.sha256(archive).hexdigest()[:12]
    told = {"name": ARCHIVE, "size": len(archive), "version": version}
    (folder / "sizes.json").write_text(json.dumps(told) + "\n", encoding="utf-8")
    shutil.copyfile(find_module(ROOT, TEMML), folder / Path(TEMML).name)


def packed(files: dict[str, bytes]) -> bytes:
    """Files as an archive that is the same each time."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            archive.addfile(entry, io.BytesIO(files[name]))
    return lzma.compress(buffer.getvalue(), preset=6)


def archived_files(modules: Iterable[str]) -> dict[str, bytes]:
    """Every file of the archive by its name in it, for cells that import these modules."""
    ours = our_files(modules)
    networkx = distribution("networkx")
    site = Path(str(networkx.locate_file("")))
    top = {"networkx/__init__.py": (ROOT / "tools" / "site" / "networkx_init.py").read_bytes()}
    top |= {f"networkx/{name}/__init__.py": b"" for name in EMPTIED}
    wanted = {name for text in ours.values() for name in imported_names(ast.parse(text))}
    files = ours | closure(sorted(wanted), {"networkx": site}, top)
    files |= {"IPython/__init__.py": b"", "IPython/lib/__init__.py": b""}
    files["IPython/lib/pretty.py"] = (site / "IPython/lib/pretty.py").read_bytes()
    for name in ("sympy", "mpmath"):
        files |= {path: bare(text) for path, text in package_files(name)}
    for name in ("networkx", "sympy", "mpmath", "IPython"):
        files[f"{name}/LICENSE.txt"] = licence(name)
    for path in sorted((ROOT / "examples").glob("*")):
        if path.is_file():
            files[f"examples/{path.name}"] = path.read_bytes()
    return files


def our_files(modules: Iterable[str]) -> dict[str, bytes]:
    """The files of our modules that these load, also those that functions import."""
    files: dict[str, bytes] = {}
    waiting, seen = set(modules), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen or name.partition(".")[0] not in OURS:
            continue
        seen.add(name)
        waiting |= {name.rpartition(".")[0]} - {""}
        file = file_of(name)
        if file is not None:
            files[file.relative_to(ROOT).as_posix()] = file.read_bytes()
            within = name if file.name == "__init__.py" else name.rpartition(".")[0]
            waiting |= imported_names(ast.parse(file.read_bytes()), within)
    return files


def package_files(name: str) -> Iterator[tuple[str, bytes]]:
    """The modules of a package that go into the archive."""
    for path in distribution(name).files or ():
        text = path.as_posix()
        wanted = text.startswith(f"{name}/") and text.endswith(".py")
        if wanted and not any(part in text for part in LEFT_OUT):
            yield text, Path(str(path.locate())).read_bytes()


def licence(name: str) -> bytes:
    """The licence of a package, which goes wherever its code goes."""
    for path in distribution(name).files or ():
        if path.name.upper().startswith(("LICENSE", "COPYING")) and ".dist-info" in str(path):
            return Path(str(path.locate())).read_bytes()
    raise ValueError(f"the package {name} comes without a licence")


def bare(source: bytes) -> bytes:
    """A module with empty lines for its texts of documentation; all code keeps its line."""
    lines = source.split(b"\n")
    for node in with_statements(ast.parse(source)):
        first = node.body[0] if isinstance(node, DOCUMENTED) and node.body else None
        if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
            continue
        text, last = first.value, (first.value.end_lineno or 0) - 1
        if isinstance(text.value, str) and last > text.lineno - 1:
            rest = lines[last][text.end_col_offset :]
            lines[text.lineno - 1] = lines[text.lineno - 1][: text.col_offset] + b'"""'
            lines[text.lineno : last] = [b""] * (last - text.lineno)
            lines[last] = b'"""' + rest
    return b"\n".join(lines)


def with_statements(tree: ast.Module) -> Iterator[ast.AST]:
    """The tree and all of it that stands where statements do; most of a tree is expressions."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        yield (node := waiting.pop())
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(node, part, None)
            waiting += inner if isinstance(inner, list) else []


def page_data(cells: Iterable[Runnable], claims: dict[str, dict[str, str]]) -> str:
    """What a page loads of its own: its cells and how its claims are called."""
    listed = [{"code": one.code, "run": one.run} for one in cells]
    return json.dumps({"cells": listed, "claims": claims}, ensure_ascii=False) + "\n"
