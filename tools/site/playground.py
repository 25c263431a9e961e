"""What the playground loads: the core of Pyodide, our exact core as a zip file, and a snapshot.

The snapshot is the memory of a Python that has imported our core and answered once. Restoring it
takes a tenth of the time that starting Python takes. The zip file serves a browser that cannot
restore it. All of it is copied into the site when the site is built, byte for byte the same each
time. The program of Pyodide and the snapshot go in compressed, because no server of static files
compresses them.
"""

from __future__ import annotations

import ast
import gzip
import io
import json
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from importlib.metadata import distribution
from pathlib import Path

from ntpverdicts.imports import imported_names
from tools.pipeline.node import NodeError, find_node
from tools.pipeline.source import OURS

ROOT = Path(__file__).resolve().parents[2]
PYODIDE = ROOT / "node_modules" / "pyodide"
PACKED = "pyodide.asm.wasm"
COPIED = ("pyodide.mjs", "pyodide.asm.mjs", "python_stdlib.zip", "pyodide-lock.json")
BUNDLE = "ntpcore.zip"
SNAPSHOT = "ntpcore.snapshot"
SNAPSHOT_SCRIPT = Path(__file__).with_name("snapshot.mjs")
EMPTY = "empty.zip"  # the library of a Python that has loaded all that it needs
START = "ntpplayground.engine"
# Packages of networkx whose `__init__` loads what nobody here uses; the top one has one of ours.
EMPTIED = (
    "algorithms",
    "algorithms/components",
    "algorithms/flow",
    "algorithms/traversal",
    "generators",
)
PRESETS = {  # name in addresses: file, form, button
    "example-1": ("example1.txt", "text", "Example 1 of the paper"),
    "five-tokens": ("five_tokens.jsonl", "jsonl", "Five tokens without prefix closure"),
    "cycle": ("cycle.jsonl", "jsonl", "A cycle"),
    "two-next-tokens": ("two_next_tokens.txt", "text", "Two next tokens"),
}


class MissingError(Exception):
    """What the set-up should have installed is not there."""


def write_engine(where: str) -> None:
    """Write all that the browser loads before it can compute, and a list of it with sizes.

    Args:
        where: the folder for it.

    Raises:
        MissingError: Pyodide or Node.js is not installed.
    """
    folder = Path(where)
    folder.mkdir(parents=True, exist_ok=True)
    for name in (PACKED, *COPIED):
        if not (PYODIDE / name).is_file():
            raise MissingError("node_modules/pyodide is missing or incomplete; run make setup")
    for name in COPIED:
        shutil.copyfile(PYODIDE / name, folder / name)
    packed = gzip.compress((PYODIDE / PACKED).read_bytes(), 9, mtime=0)
    (folder / f"{PACKED}.packed").write_bytes(packed)
    (folder / BUNDLE).write_bytes(bundle())
    (folder / EMPTY).write_bytes(zip_of({}))
    if f"{START.replace('.', '/')}.py" in bundled_files():  # a book may have no playground
        snapshot = gzip.compress(take_snapshot(folder / BUNDLE), 9, mtime=0)
        (folder / f"{SNAPSHOT}.packed").write_bytes(snapshot)
    sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    (folder / "sizes.json").write_text(json.dumps(sizes, indent=2) + "\n", encoding="utf-8")


def take_snapshot(modules: Path) -> bytes:
    """The memory of Pyodide after it imported the engine out of this zip file and answered once.

    Raises:
        MissingError: Node.js is not installed.
        RuntimeError: Pyodide failed in it.
    """
    return made_in_pyodide(SNAPSHOT_SCRIPT, modules)


def made_in_pyodide(script: Path, modules: Path) -> bytes:
    """What a script for Node.js, which starts Pyodide, makes of the modules in a zip file.

    Raises:
        MissingError: Node.js is not installed.
        RuntimeError: the script failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made"
        try:
            command = [find_node(), str(script), str(PYODIDE), str(modules), str(made)]
        except NodeError as error:
            raise MissingError(str(error)) from None
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not made.is_file():
            raise RuntimeError(f"{script.name} made nothing: {done.stderr[-2000:]}")
        return made.read_bytes()


def bundle() -> bytes:
    """The needed modules of ntpcore and networkx as a zip file, the same each time."""
    return zip_of(bundled_files())


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """These files as a zip file, the same each time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def bundled_files() -> dict[str, bytes]:
    """Every file of the bundle by its name in it."""
    networkx = distribution("networkx")
    site = Path(str(networkx.locate_file("")))
    ours = {"networkx/__init__.py": (ROOT / "tools" / "site" / "networkx_init.py").read_bytes()}
    ours |= {f"networkx/{name}/__init__.py": b"" for name in EMPTIED}
    starts = [START, "networkx"]  # which the solver imports in functions
    files = closure(starts, {"networkx": site, **dict.fromkeys(OURS, ROOT)}, ours)
    for path in networkx.files or ():
        if path.name.startswith("LICENSE") and ".dist-info" in str(path):
            files["networkx/LICENSE.txt"] = Path(str(path.locate())).read_bytes()
    return files


def closure(
    names: Iterable[str], roots: Mapping[str, Path], ours: Mapping[str, bytes]
) -> dict[str, bytes]:
    """The files that importing these modules loads, imports within functions left out.

    Args:
        names: dotted names to start from.
        roots: for every package that counts, the folder that holds it.
        ours: files that stand in for those of a package.
    """
    files: dict[str, bytes] = {}
    waiting, seen = set(names), set()
    while waiting:
        name = waiting.pop()
        if name in seen or name.split(".")[0] not in roots:
            continue
        seen.add(name)
        waiting |= {name.rpartition(".")[0]} - {""}
        path = name.replace(".", "/")
        for file in (f"{path}/__init__.py", f"{path}.py"):
            source = roots[name.split(".")[0]] / file
            if file in ours or source.is_file():
                files[file] = ours[file] if file in ours else source.read_bytes()
                package = name if file.endswith("__init__.py") else name.rpartition(".")[0]
                waiting |= loaded_names(files[file], package)
                break
    return files


def loaded_names(source: bytes, package: str) -> set[str]:
    """Dotted names that a module imports as soon as it is imported itself."""
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return imported_names(tree, package)


def presets() -> list[dict[str, str]]:
    """The presets of the page, out of the examples of the project."""
    return [
        {
            "name": name,
            "label": label,
            "form": form,
            "text": (ROOT / "examples" / file).read_text(encoding="utf-8"),
        }
        for name, (file, form, label) in PRESETS.items()
    ]
