"""What a page loads to run its cells in the browser: their texts, our modules, and sympy.

Everything goes into one archive, which all pages share: the modules of ours that cells lead to, the
part of networkx that these use, sympy and mpmath without their tests, and what writes values as
notebooks do. Modules of other packages are bytecode. The archive is the same each time, byte for
byte.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import lzma
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Collection, Iterable, Mapping
from importlib.metadata import distribution
from pathlib import Path

from ntpverdicts.imports import imported_names
from tools.pipeline.node import find_module
from tools.pipeline.source import OURS
from tools.site.playground import EMPTIED, ROOT, closure, made_in_pyodide, zip_of
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
PROVERS = ("mpmath", "sympy")  # sympy needs mpmath
BYTECODE_SCRIPT = Path(__file__).with_name("bytecode.mjs")


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


def archived_files(modules: Collection[str]) -> dict[str, bytes]:
    """Every file of the archive by its name in it, for cells that import these modules."""
    ours = our_files(modules)
    foreign = foreign_files(ours, modules)
    files = ours | bytecode(foreign)
    for name in sorted({path.partition("/")[0] for path in foreign}):
        files[f"{name}/LICENSE.txt"] = licence(name)
    for path in sorted((ROOT / "examples").glob("*")):
        if path.is_file():
            files[f"examples/{path.name}"] = path.read_bytes()
    return files


def foreign_files(ours: Mapping[str, bytes], modules: Iterable[str]) -> dict[str, bytes]:
    """The modules of other packages that modules of ours, and cells, load.

    Args:
        ours: modules of ours, by the names of their files.
        modules: those that cells import.
    """
    site = Path(str(distribution("networkx").locate_file("")))
    top = {"networkx/__init__.py": (ROOT / "tools" / "site" / "networkx_init.py").read_bytes()}
    top |= {f"networkx/{name}/__init__.py": b"" for name in EMPTIED}
    wanted = {name for text in ours.values() for name in imported_names(ast.parse(text))}
    wanted |= set(modules)
    files = closure(sorted(wanted), {"networkx": site}, top)
    files |= {"IPython/__init__.py": b"", "IPython/lib/__init__.py": b""}
    files["IPython/lib/pretty.py"] = (site / "IPython/lib/pretty.py").read_bytes()
    if any(name.partition(".")[0] in PROVERS for name in wanted):
        files |= package_files("sympy") | package_files("mpmath")
    return files


def bytecode(modules: Mapping[str, bytes]) -> dict[str, bytes]:
    """Modules as the Python in the browser would compile them, which takes it seconds."""
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "modules.zip"
        sources.write_bytes(zip_of(modules))
        made = made_in_pyodide(BYTECODE_SCRIPT, sources)
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


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


def package_files(name: str) -> dict[str, bytes]:
    """The modules of a package that go into the archive."""
    return {
        path.as_posix(): Path(str(path.locate())).read_bytes()
        for path in distribution(name).files or ()
        if path.parts[0] == name and path.suffix == ".py"
        if not any(part in path.as_posix() for part in LEFT_OUT)
    }


def licence(name: str) -> bytes:
    """The licence of a package, which goes wherever its code goes."""
    for path in distribution(name).files or ():
        if path.name.upper().startswith(("LICENSE", "COPYING")) and ".dist-info" in str(path):
            return Path(str(path.locate())).read_bytes()
    raise ValueError(f"the package {name} comes without a licence")


def page_data(cells: Iterable[Runnable], claims: dict[str, dict[str, str]]) -> str:
    """What a page loads of its own: its cells and how its claims are called."""
    listed = [{"code": one.code, "run": one.run} for one in cells]
    return json.dumps({"cells": listed, "claims": claims}, ensure_ascii=False) + "\n"
