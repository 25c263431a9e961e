"""Which cells the browser can run, what is packed for them, and that they say what was printed."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from ntpverdicts.claims import MIME
from ntpverdicts.maths import in_html
from tools.site import cells, runnable

ROOT = Path(__file__).resolve().parents[2]
MAX_MARGIN = "ntpbook.huang2024.s6_max_margin.checks"


def notebook(*sources: tuple[str, list[str]]) -> dict[str, Any]:
    """A notebook of code cells, each with its tags."""
    return {
        "cells": [
            {"cell_type": "code", "source": source, "metadata": {"tags": tags}, "outputs": []}
            for source, tags in sources
        ]
    }


def test_a_cell_runs_when_nothing_on_its_way_needs_another_package() -> None:
    found = runnable.cells_of(
        notebook(
            ("seed = 7\ndata = ''", ["parameters", "remove-input"]),
            (
                "import numpy as np\nimport sympy as sp\nfrom ntpbook.look import plots\n"
                f"from {MAX_MARGIN.rpartition('.')[0]} import checks, figures\n"
                "plots.use_book_style()\nx = np.arange(2)",
                ["remove-input"],
            ),
            ("sp.Rational(seed, 3)", []),
            ("x.sum()", []),
            ("def twice():\n    return 2 * x", ["hide-input"]),
            ("twice()", []),
            ("checks.check_huang2024_prop_2()", []),
            ("checks.check_huang2024_eq_14()", []),
            ("fig = plots.new_figure()\ny = seed + 1\nplots.draw(fig, y)", ["hide-input"]),
            ("y", []),
            ("x = 1\nx", []),
            ("import scipy", []),
        )
    )
    assert [place for place, one in enumerate(found) if one.run] == [2, 6, 9, 10]
    assert found[0].code == "seed = 7\ndata = ''"
    assert found[1].code == (
        f"import sympy as sp\nfrom {MAX_MARGIN.rpartition('.')[0]} import checks"
    ), "no more than cells want"
    assert found[8].code == "y = seed + 1"
    assert [one.code for one in found if not one.run][2:] == ["", "", "", "", "y = seed + 1", ""]


def test_a_cell_may_ask_numpy_for_what_the_page_has_of_it() -> None:
    found = runnable.cells_of(
        notebook(
            ("import numpy as np\nimport scipy", ["hide-input"]),
            ("E = np.eye(2)\nE.sum()", []),
            ("G = np.linalg.inv(E)", []),
            ("G @ E", []),
            ("import numpy as np", []),
        )
    )
    assert [one.run for one in found] == [False, True, False, False, False]
    assert found[0].code == "from ntpplayground import small_numpy as np"


def test_the_way_through_modules_is_that_of_the_code() -> None:
    assert runnable.packages([(MAX_MARGIN, "check_huang2024_eq_14")]) == {"numpy"}
    assert runnable.packages([(MAX_MARGIN, "check_huang2024_asm_2")]) == set()
    assert runnable.packages([("ntpcore.exact.margin_fast", "solve_rows")]) <= {"numpy", "scipy"}
    assert runnable.to_load("ntpcore.exact.margin") == frozenset()
    assert "numpy" in runnable.to_load("ntpbook.tian2023.s6_snapping.coupled"), "it calls at once"


def test_modules_are_compiled_by_the_python_of_the_browser_without_their_texts() -> None:
    modules = {
        "a/__init__.py": b'"""A text of documentation."""\nx = "kept"\n',
        "a/b.py": b"from a import x\n",
    }
    made = cells.bytecode(modules)
    assert set(made) == {"a/__init__.pyc", "a/b.pyc"}
    assert all(one[4:8] == b"\1\0\0\0" for one in made.values()), "never compared with a source"
    assert b"kept" in made["a/__init__.pyc"]
    assert b"documentation" not in made["a/__init__.pyc"]
    with pytest.raises(RuntimeError, match=r"bytecode\.mjs made nothing") as raised:
        cells.bytecode(modules | {"a/b.py": b"from a import\n"})
    assert "SyntaxError" in str(raised.value)


def test_a_site_brings_sympy_only_if_something_imports_it() -> None:
    def packages(*modules: str) -> set[str]:
        ours = cells.our_files([cells.START, *modules])
        return {path.partition("/")[0] for path in cells.foreign_files(ours, modules)}

    assert packages() == {"IPython"}
    assert packages("sympy") == {"IPython", "mpmath", "sympy"}
    assert packages(MAX_MARGIN) == {"IPython", "mpmath", "networkx", "sympy"}


RUN = """
import json, os, sys
folder, told = sys.argv[1:]
sys.path.insert(0, folder)
sys.dont_write_bytecode = True
os.chdir(folder)
from ntpplayground import cells, stand_ins
stand_ins.stand_in()
for name, texts, asked in json.loads(open(told, encoding="utf-8").read()):
    session = cells.Session()
    for at in asked:
        print(json.dumps([name, at, cells.run(session, texts, at)[at]]), flush=True)
"""


def outcomes(folder: Path, told: Path) -> dict[tuple[str, int], list[dict[str, str]]]:
    """What cells show where there is nothing but the archive and the standard library."""
    command = [sys.executable, "-I", "-S", "-c", RUN, str(folder), str(told)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=3000)
    return {(name, at): shown for name, at, shown in map(json.loads, done.stdout.splitlines())}


def agrees(shown: list[dict[str, str]], printed: list[dict[str, Any]]) -> bool:
    """Whether texts and evidence are those of the executed notebook, without an error."""
    texts = [one["text"].strip() for one in shown if one["kind"] == "text"]
    html = "".join(one["text"] for one in shown if one["kind"] == "html")
    wanted, evidence = [], []
    for output in printed:
        data = output.get("data", {"text/plain": output.get("text", "")})
        if MIME in data:
            evidence.append(in_html(data[MIME]["evidence"]))
        elif not {"text/html", "text/latex"} & set(data):
            wanted.append("".join(data["text/plain"]).strip())
    told = texts == wanted and all(one in html for one in evidence)
    cards = html.count('class="ntp-check')
    return told and cards == len(evidence) and all(one["kind"] != "error" for one in shown)


@pytest.fixture(scope="module")
def unpacked(book: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of the built site, unpacked, with sources that this Python can read."""
    folder = tmp_path_factory.mktemp("cells")
    with tarfile.open(book / "_static" / "playground" / "cells" / cells.ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    ours = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.py")}
    sources = cells.foreign_files(ours, [])
    compiled = {path.relative_to(folder).as_posix() for path in folder.rglob("*.pyc")}
    assert compiled == {f"{name}c" for name in sources}
    for name, text in sources.items():
        (folder / f"{name}c").unlink()
        (folder / name).write_bytes(text)
    return folder


def test_every_cell_that_can_be_run_says_what_was_printed(
    book: Path, unpacked: Path, tmp_path: Path
) -> None:
    asked, printed = [], {}
    for path in sorted((book / "_static" / "playground" / "cells").glob("*_*.json")):
        known = json.loads(path.read_text(encoding="utf-8"))["cells"]
        source = (ROOT / "pages" / f"{path.stem}.ipynb").read_text(encoding="utf-8")
        every = [one for one in json.loads(source)["cells"] if one["cell_type"] == "code"]
        run = [place for place, one in enumerate(known) if one["run"]]
        asked.append((path.stem, [one["code"] for one in known], run))
        printed |= {(path.stem, place): every[place]["outputs"] for place in run}
    assert len(printed) > 90
    told = tmp_path / "cells.json"
    told.write_text(json.dumps(asked), encoding="utf-8")
    found = outcomes(unpacked, told)
    assert [key for key in printed if not agrees(found[key], printed[key])] == []
    key = next(key for key, shown in found.items() if shown and shown[0]["kind"] == "text")
    assert not agrees([found[key][0] | {"text": "another"}], printed[key]), "a change is noticed"


def test_the_archive_brings_no_other_package_and_every_licence(unpacked: Path) -> None:
    assert {path.name for path in unpacked.iterdir()} == {
        "IPython", "examples", "mpmath", "networkx", "ntpbook", "ntpcore", "ntpplayground",
        "ntpverdicts", "sympy",
    }  # fmt: skip
    for name in ("IPython", "mpmath", "networkx", "sympy"):
        assert "Copyright" in (unpacked / name / "LICENSE.txt").read_text(encoding="utf-8")
