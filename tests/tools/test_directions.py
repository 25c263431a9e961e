"""Imports point one way: what each room of the packages may use."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_book import ROOT

from ntpcore.verdicts.imports import Package, imported_names

# For each room the rooms of ours that it may import; a module at the top is a room of its own.
MAY_USE = {
    "ntpcore.verdicts": set(),
    "ntpcore.compiled": {"ntpcore._cache"},
    "ntpcore._cache": set(),
    "ntpcore.exponential": {"ntpcore.compiled"},
    "ntpcore.data": set(),
    "ntpcore.exact": {"ntpcore.verdicts", "ntpcore.data", "ntpcore.compiled"},
    "ntpcore.huang2024": {
        "ntpcore.data",
        "ntpcore.exact",
        "ntpcore.compiled",
        "ntpcore.exponential",
    },
    "ntpcore.tian2023": {"ntpcore.data", "ntpcore.compiled", "ntpcore.exponential"},
    "ntpcore.front": {"ntpcore.data", "ntpcore.exact", "ntpcore.huang2024"},
    "ntpcore.pages": {"ntpcore.verdicts", "ntpcore.data"},
}
BELOW = {"ntpcore.verdicts", "ntpcore.data", "ntpcore.exact", "ntpcore.huang2024",
         "ntpcore.tian2023", "ntpcore.pages", "ntpcore.compiled",
         "ntpcore.exponential"}  # fmt: skip
# Chapters on readers' data show what the commands answer.
READERS = ("ntpbook.readers", "ntpbook.benchmarks")
MODULES = sorted(path for name in ("ntpcore", "ntpbook") for path in (ROOT / name).rglob("*.py"))


def dotted(path: Path) -> str:
    """The name of a module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def room(name: str) -> str:
    """The room that a module is in."""
    return ".".join(name.split(".")[:2])


def used_rooms(path: Path) -> set[str]:
    """Rooms of ours that a module imports, its own left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = imported_names(tree, ".".join(dotted(path).split(".")[:-1]))
    ours = {room(name) for name in names if name.split(".")[0] in ("ntpcore", "ntpbook")}
    return ours - {room(dotted(path)), "ntpcore", "ntpbook"}


def faults(name: str, used: set[str]) -> set[str]:
    """What a module imports and may not."""
    if name.startswith("ntpbook."):
        free = name.startswith(READERS)
        return {one for one in used if one.startswith("ntpcore.commands") and not free}
    if name.startswith(("ntpcore.commands", "ntpcore.__main__")):
        return set()  # they stand above all; when they load chapters is tested below
    return used - MAY_USE.get(room(name), set())


def test_every_module_imports_only_what_its_room_may_use() -> None:
    wrong = {
        dotted(path): bad for path in MODULES if (bad := faults(dotted(path), used_rooms(path)))
    }
    assert wrong == {}


def test_a_wrong_direction_is_noticed() -> None:
    assert faults("ntpcore.data.x", {"ntpcore.exact"}) == {"ntpcore.exact"}
    assert faults("ntpcore.huang2024.x", {"ntpbook.shared"}) == {"ntpbook.shared"}
    assert faults("ntpbook.shared.x", {"ntpcore.commands"}) == {"ntpcore.commands"}


def test_no_modules_import_each_other_in_a_circle() -> None:
    package = Package(("ntpcore", "ntpbook"), ROOT)
    names = [dotted(path).removesuffix(".__init__") for path in MODULES]
    for name in names:
        file = package.file(name)
        assert file is not None
        text = package.content(file).decode("utf-8")
        within = name if file.name == "__init__.py" else name.rpartition(".")[0]
        direct = {one for one in imported_names(ast.parse(text), within) if one in names}
        for one in direct - {name}:
            if one in name:  # a package, which holds only a docstring
                continue
            assert file not in package.closure([one]), f"{name} and {one} import each other"


def loaded(code: str) -> set[str]:
    """Names of the modules that some code loads, in a Python of its own."""
    show = f"{code}\nimport sys; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", show], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


CHECK = (
    "import sys; sys.argv = ['ntpcore', 'check', 'examples/five_tokens.jsonl', '--json']\n"
    "from ntpcore.commands import cli\nimport contextlib, io\n"
    "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): cli.main()"
)


def test_a_plain_check_loads_no_chapter_and_no_numbers() -> None:
    names = {name.split(".")[0] for name in loaded(CHECK)}
    assert not names & {"ntpbook", "numpy", "scipy", "numba", "sympy", "matplotlib"}
    assert "ntpcore.exact.margin" in loaded(CHECK)


@pytest.mark.parametrize("module", ["data.dataset", "data.order", "exact.margin", "exact.repair"])
def test_the_exact_core_needs_networkx_at_most(module: str) -> None:
    usual = loaded("")
    found = {name.split(".")[0] for name in loaded(f"import ntpcore.{module}") - usual}
    assert found - sys.stdlib_module_names <= {"ntpcore", "networkx"}
