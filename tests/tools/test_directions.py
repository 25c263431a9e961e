"""Imports go down: what each folder of the packages, and each notebook, may use.

The library that stands below all others also stays small.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tokenize
from pathlib import Path

import networkx as nx
import pytest
from tiny_book import ROOT

from ntpbook.catalogue import CHAPTERS, PAPERS
from ntpverdicts.imports import Package, imported_names
from tools.pipeline.source import OURS, code_cells, evidence_of, parse_code

# For each folder what it may import: folders, or single modules of one.
MAY_USE = {
    "ntpcore": set(),
    "ntpverdicts": set(),
    "ntpbook": {"ntpcore", "ntpverdicts"},
    # The program finds checks through the catalogue, and its reports look as the book does.
    "ntpcli": {"ntpcore", "ntpverdicts", "ntpbook.catalogue", "ntpbook.look"},
    "ntpplayground": {"ntpcore", "ntpverdicts", "ntpcli"},
}
# Arrows of single modules beside these.
BESIDE = {
    "ntpcore.__main__": {"ntpcli"},  # `python -m ntpcore` is the program
    "ntpbook.readers": {"ntpcli"},  # chapters on readers' data show what the program answers
    "ntpbook.benchmarks": {"ntpcli"},
    # Its three checks on orders need neither numbers nor the other chapters' rows, and neither
    # has the playground, which loads this module.
    "ntpcli.judge": {"ntpbook.huang2024.s6_max_margin.orders"},
}
# Within ntpcore: what its parts may import of each other; a module at the top is a part of its own.
PARTS = {
    "_cache": set(),
    "certificate": set(),  # a file that runs alone
    "compiled": {"_cache"},
    "exponential": {"compiled"},
    "data": set(),
    "exact": {"data", "compiled"},
    "huang2024": {"data", "exact", "compiled", "exponential"},
    "tian2023": {"data", "compiled", "exponential"},
    "front": {"data", "exact", "huang2024", "tian2023"},
    "learned": {"data", "exact", "front"},
    "__init__": {"front"},
    "__main__": set(),
}
# Within ntpbook: what its rooms may import of each other. Chapters on a paper use what all chapters
# share and each other; chapters of our own results build on them; nothing shared uses a chapter.
SHARED_ROOMS = {"look", "shared"}
ROOMS = {
    "look": {"shared"},
    "shared": {"look"},
    **{paper: SHARED_ROOMS for paper in PAPERS if paper != "ours"},
    "ours": {*SHARED_ROOMS, *PAPERS},
}
# Notebooks of readers' data call the program's answers.
READERS = ("readers_", "benchmarks")
# What all notebooks may use beside their chapter: their last part shows a reader's data as
# `ntpcore report` does.
SHARED = {"ntpcore", "ntpverdicts", "ntpbook.look", "ntpbook.shared", "ntpcli.report"}
HELPERS = ROOT / "tests" / "helpers"
MOST_LINES_OF_NTPCORE = 8000  # of code
NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}
# Tests of ntpcore that also run where nothing else is; the others are held to need no more.
QUICK = [
    f"tests/ntpcore/{name}.py"
    for name in (
        "test_front",
        "data/test_files",
        "data/test_next_tokens",
        "exact/test_any_order",
        "huang2024/test_bounds",
        "huang2024/test_prediction",
        "huang2024/test_stage1",
        "tian2023/test_scansnap_classes",
        "tian2023/test_scansnap_integrate",
    )
]
MODULES = sorted(path for name in OURS for path in (ROOT / name).rglob("*.py"))


def dotted(path: Path) -> str:
    """The name of a module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def used(path: Path) -> set[str]:
    """Modules of ours that a module imports, in functions too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = imported_names(tree, ".".join(dotted(path).split(".")[:-1]))
    return {name for name in names if name.split(".")[0] in OURS}


def within(name: str, places: set[str]) -> bool:
    """Whether a dotted name is one of some places or lies in one."""
    return any(f"{name}.".startswith(f"{place}.") for place in places)


def above(places: set[str]) -> set[str]:
    """The packages that hold some places: importing a.b loads a as well."""
    return {place.rsplit(".", up)[0] for place in places for up in range(1, place.count(".") + 1)}


def faults(name: str, imported: set[str]) -> set[str]:
    """What a module imports and may not."""
    top, _, rest = name.partition(".")
    allowed = {top, *MAY_USE[top]}
    for place, more in BESIDE.items():
        allowed |= more if within(name, {place}) else set()
    wrong = {one for one in imported if not within(one, allowed) and one not in above(allowed)}
    if top == "ntpcore":
        part = rest.split(".")[0]
        for one in imported:
            other = one.partition(".")[2].split(".")[0]
            if one.startswith("ntpcore.") and other in PARTS and other != part:
                wrong |= set() if other in PARTS[part] else {one}
    room = rest.split(".")[0]
    if top == "ntpbook" and room in ROOMS:
        places = {f"ntpbook.{other}" for other in (room, *ROOMS[room])}
        book = {one for one in imported if within(one, {"ntpbook"})}
        wrong |= {one for one in book if not within(one, places) and one not in above(places)}
    return wrong


def chapter_of(name: str) -> str | None:
    """The chapter that holds a module: the first three parts of a name in a room of chapters."""
    parts = name.split(".")
    if parts[0] != "ntpbook" or len(parts) < 3 or parts[1] in SHARED_ROOMS:
        return None
    return ".".join(parts[:3])


def circles(imports: dict[str, set[str]]) -> list[set[str]]:
    """Chapters that import each other, two or more of them in a circle.

    Args:
        imports: for each module what it imports.
    """
    arrows = {
        (chapter_of(name), chapter_of(one)) for name, found in imports.items() for one in found
    }
    graph = nx.DiGraph(pair for pair in arrows if None not in pair)
    return [part for part in nx.strongly_connected_components(graph) if len(part) > 1]


def faults_of_page(page: str, imported: set[str]) -> set[str]:
    """What a notebook imports and may not: of the book its own chapter, and what all may use.

    A story may use the chapters of its evidence.
    """
    text = (ROOT / "notebooks" / f"{page}.md").read_text(encoding="utf-8")
    folders = {one.folder for one in CHAPTERS if one.page in (page, *evidence_of(text))}
    # Chapters of our own results build on each other.
    chapters = {f"ntpbook.{'ours' if 'ours' in one else one.replace('/', '.')}" for one in folders}
    allowed = SHARED | chapters
    if page.startswith(READERS):
        allowed |= {"ntpcli", "ntpbook.readers", "ntpbook.benchmarks"}
    return {one for one in imported if not within(one, allowed) and one not in above(allowed)}


def imported_by(page: Path) -> set[str]:
    """Modules of ours that the cells of a notebook import."""
    cells = code_cells(page.read_text(encoding="utf-8"))
    trees = [tree for cell in cells if (tree := parse_code(cell)) is not None]
    names = {name for tree in trees for name in imported_names(tree)}
    modules = {dotted(path).removesuffix(".__init__") for path in MODULES}
    return {name for name in names if name in modules}


def test_every_module_imports_only_what_its_room_may_use() -> None:
    wrong = {dotted(path): bad for path in MODULES if (bad := faults(dotted(path), used(path)))}
    assert wrong == {}


def test_no_chapters_import_each_other() -> None:
    assert circles({dotted(path): used(path) for path in MODULES}) == []


def test_every_notebook_imports_only_its_chapter_and_what_lies_below() -> None:
    wrong = {
        page.stem: bad
        for page in sorted((ROOT / "notebooks").glob("*.md"))
        if (bad := faults_of_page(page.stem, imported_by(page)))
    }
    assert wrong == {}


def outside_of_ntpcore(path: Path, seen: set[Path]) -> set[str]:
    """What a test of ntpcore imports beside it, itself or through helpers."""
    found = set()
    for name in imported_names(ast.parse(path.read_text(encoding="utf-8"))):
        helper = HELPERS / f"{name}.py"
        if name.split(".")[0] in {*OURS, "tools"} - {"ntpcore"}:
            found.add(name)
        elif helper.is_file() and helper not in seen:
            found |= outside_of_ntpcore(helper, seen | {helper})
    return found


def lines_of_code(path: Path) -> int:
    """How many lines of a module hold code: no blank line, no comment, no docstring."""
    lines: set[int] = set()
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type not in NO_CODE:
                lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            text = node.body[0]
            lines -= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return len(lines)


def test_ntpcore_stays_small() -> None:
    files = (ROOT / "ntpcore").rglob("*.py")
    assert sum(map(lines_of_code, files)) < MOST_LINES_OF_NTPCORE


def test_lines_of_code_are_counted_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        '"""Of a module.\n\nTwo paragraphs.\n"""\n\nx = 1  # counts once\n# does not count\n'
        'text = """counts\n\nthree times"""\n\n\ndef f(\n    a: int,\n) -> int:\n'
        '    """Of a function."""\n\n    # a comment\n    return a\n',
        encoding="utf-8",
    )
    assert lines_of_code(path) == 1 + 3 + 3 + 1


def test_tests_of_ntpcore_need_nothing_else_of_ours() -> None:
    files = sorted((ROOT / "tests/ntpcore").rglob("test_*.py"))
    wrong = {path.name: bad for path in files if (bad := outside_of_ntpcore(path, set()))}
    assert wrong == {}


def test_ntpcore_alone_in_an_empty_folder_loads_and_passes_tests_of_its_own(tmp_path: Path) -> None:
    ignore = shutil.ignore_patterns("*.pyc")  # the loops that numba compiled go along
    for name in ("ntpcore", "tests/ntpcore", "tests/helpers", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignore)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\npythonpath = . tests/helpers\naddopts = -p no:cacheprovider\n", encoding="utf-8"
    )
    (tmp_path / "conftest.py").write_text("import random_examples\n", encoding="utf-8")
    names = [dotted(path) for path in (ROOT / "ntpcore").rglob("*.py") if "__" not in path.name]
    code = f"import importlib\nfor name in {names!r}: importlib.import_module(name)\n"
    # -P, and no path of this environment: what is imported lies in that folder
    for command in (
        ["-c", f"import sys; sys.path.insert(0, '.')\n{code}"],
        ["-m", "pytest", *QUICK],
    ):
        done = subprocess.run(
            [sys.executable, "-P", *command],
            cwd=tmp_path,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert str(ROOT / "ntpcore") not in done.stdout + done.stderr


def test_a_wrong_direction_is_noticed() -> None:
    assert faults("ntpcore.data.x", {"ntpcore.exact.margin"}) == {"ntpcore.exact.margin"}
    assert faults("ntpcore.huang2024.x", {"ntpbook.shared.y"}) == {"ntpbook.shared.y"}
    assert faults("ntpcore.data.x", {"ntpverdicts.claims"}) == {"ntpverdicts.claims"}
    assert faults("ntpcore.data.x", {"ntpcli"}) == {"ntpcli"}
    assert faults("ntpbook.shared.x", {"ntpcli.check"}) == {"ntpcli.check"}
    assert faults("ntpbook.readers.x", {"ntpcli.check"}) == set()
    assert faults("ntpcli.x", {"ntpbook.huang2024.y"}) == {"ntpbook.huang2024.y"}
    assert faults("ntpcli.x", {"ntpbook.catalogue", "ntpbook"}) == set()
    assert faults("ntpverdicts.x", {"ntpcore.data"}) == {"ntpcore.data"}
    assert faults_of_page("huang2024_beyond", {"ntpcli.check"}) == {"ntpcli.check"}
    other = {"ntpbook.huang2024.s5_loss.checks"}
    assert faults_of_page("huang2024_beyond", other) == other
    assert faults_of_page("huang2024_s5_loss", other) == set()


def test_a_chapter_on_a_paper_that_uses_a_chapter_of_ours_is_noticed() -> None:
    ours = {"ntpbook.ours.reversal.noise"}
    assert faults("ntpbook.tian2023.s8_synthetic.x", ours) == ours
    assert faults("ntpbook.tian2023.s8_synthetic.x", {"ntpbook.huang2024.y.z"}) != set()
    assert faults("ntpbook.tian2023.s8_synthetic.x", {"ntpbook.tian2023.y", "ntpbook"}) == set()
    assert faults("ntpbook.ours.reversal.x", {"ntpbook.tian2023.y", *ours}) == set()


def test_something_shared_that_uses_a_chapter_is_noticed() -> None:
    for one in ("ntpbook.ours.reversal.noise", "ntpbook.huang2024.s5_loss", "ntpbook.readers.x"):
        assert faults("ntpbook.shared.x", {one}) == {one}
        assert faults("ntpbook.look.x", {one}) == {one}
    assert faults("ntpbook.shared.x", {"ntpbook.look.plots", "ntpbook.shared.rare"}) == set()


def test_chapters_that_import_each_other_are_noticed() -> None:
    first, second, third = (f"ntpbook.{one}.a" for one in ("tian2023.x", "tian2023.y", "ours.z"))
    shared = {"ntpbook.shared.rare", "ntpcore.data.order"}
    assert circles({first: {second, *shared}, third: {first, second}}) == []
    assert circles({first: {second}, "ntpbook.tian2023.y.b": {"ntpbook.tian2023.x.b"}}) == [
        {"ntpbook.tian2023.x", "ntpbook.tian2023.y"}
    ]
    assert len(circles({first: {second}, second: {third}, third: {first}})[0]) == 3


def test_no_modules_import_each_other_in_a_circle() -> None:
    package = Package(OURS, ROOT)
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
    "from ntpcli import cli\nimport contextlib, io\n"
    "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): cli.main()"
)


def test_a_plain_check_loads_the_orders_and_no_numbers() -> None:
    names = {name.split(".")[0] for name in loaded(CHECK)}
    assert not names & {"numpy", "scipy", "numba", "sympy", "matplotlib"}
    chapters = {name for name in loaded(CHECK) if name.startswith("ntpbook.") and "." in name[8:]}
    assert chapters == {"ntpbook.huang2024.s6_max_margin", "ntpbook.huang2024.s6_max_margin.orders"}


@pytest.mark.parametrize("module", ["data.dataset", "data.order", "exact.margin", "exact.repair"])
def test_the_exact_core_needs_networkx_at_most(module: str) -> None:
    usual = loaded("")
    found = {name.split(".")[0] for name in loaded(f"import ntpcore.{module}") - usual}
    assert found - sys.stdlib_module_names <= {"ntpcore", "networkx"}
