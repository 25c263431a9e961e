"""The planted errors of `make mutants`: how they are drawn, judged and counted."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tools.quality import mutants


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of cosmic-ray with four changes at each of ten places, and one of an annotation."""
    path = tmp_path / "session.sqlite"
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE mutation_specs (job_id, module_path, start_pos_row, start_pos_col,"
            " operator_name, occurrence)"
        )
        for row in range(10):
            operators = ["core/A", "core/B", "core/C", "core/ReplaceBinaryOperator_BitOr_Add"]
            for operator in operators:
                database.execute(
                    "INSERT INTO mutation_specs VALUES (?, 'm.py', ?, 1, ?, 0)",
                    (f"{operator} {row}", row, operator),
                )
    return path


def test_changes_are_drawn_by_the_seed_at_different_places(session: Path) -> None:
    places, changes = mutants.draw(session, 6, 7)
    assert (places, changes) == mutants.draw(session, 6, 7)
    assert places == 10
    assert len(changes) == len({row for _, row, _, _, _ in changes}) == 6
    assert not any("BitOr" in operator for _, _, _, operator, _ in changes)


def test_a_group_with_few_places_gives_them_all(session: Path) -> None:
    places, changes = mutants.draw(session, 60, 7)
    assert places == 10
    assert sorted(row for _, row, _, _, _ in changes) == list(range(10))


JUDGE = """
import sys
from pathlib import Path
from tools.quality import mutants

folder = Path(sys.argv[1])
mutants.LOADED, mutants.SECONDS = ("pytest", "hypothesis"), 20
copy = mutants.Copy(folder)
text = "def double(x):\\n    return 2 * x\\n"
texts = {"same": text + "# a word\\n", "other": text.replace("*", "-")}
texts |= {"broken": text + "(", "endless": text.replace("    r", "    while 1: pass\\n    r")}
for name, changed in texts.items():
    mutants.SECONDS = 2 if name == "endless" else 20
    print(name, copy.judge("ntpcore/small.py", changed, "tests/test_small.py", "double"))
print("flaky", copy.judge("ntpcore/small.py", texts["other"], "tests/test_wrong.py", ""))
print((copy.root / "ntpcore/small.py").read_text() == text)
"""


def test_a_change_is_noticed_if_a_test_fails_that_passes_without_it(tmp_path: Path) -> None:
    """A comment is not noticed; another value, text that cannot be read, a loop without end are."""
    for name, text in {
        "ntpcore/__init__.py": "",
        "ntpcore/small.py": "def double(x):\n    return 2 * x\n",
        "tests/test_small.py": "from ntpcore.small import double\n\n\n"
        "def test_nothing():\n    assert True\n\n\ndef test_double():\n    assert double(3) == 6\n",
        "tests/test_wrong.py": "def test_wrong():\n    assert False\n",
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n'
        'markers = ["site", "browser", "slow"]\naddopts = "--import-mode=importlib"\n',
    }.items():
        path = tmp_path / "copy" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path / "copy", check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path / "copy", check=True)
    command = [sys.executable, "-c", JUDGE, str(tmp_path)]
    done = subprocess.run(command, cwd=mutants.ROOT, capture_output=True, text=True, timeout=200)
    failed = "tests/test_small.py::test_double"
    assert done.stdout.splitlines() == [
        "same None",
        f"other {failed}",
        "broken tests/test_small.py",
        "endless tests/test_small.py",
        "does not count, as it fails without a change: tests/test_wrong.py::test_wrong",
        "flaky None",
        "True",
    ], done.stderr


def test_the_changed_function_is_the_innermost_one() -> None:
    text = "def outer():\n    def inner():\n        return 1\n    return inner\n\n\nTWO = 2\n"
    found = [mutants.definition(text, row) for row in (1, 3, 4, 7)]
    assert found == ["outer", "inner", "outer", ""]


def test_a_change_is_judged_by_the_tests_that_import_its_module() -> None:
    found = mutants.tests_of(Path("ntpcore/exact/margin.py"), mutants.ROOT)
    assert "tests/ntpcore/exact/test_margin.py" in found
    assert "tests/tools/test_mutants.py" not in found


def test_every_group_names_what_there_is() -> None:
    for names in mutants.GROUPS.values():
        assert all((mutants.ROOT / name).exists() for name in names)


def test_a_module_that_no_test_imports_is_judged_by_the_tests_of_what_imports_it(
    tmp_path: Path,
) -> None:
    for name, text in {
        "ntpcore/inner.py": "",
        "ntpcore/outer.py": "from ntpcore import inner",
        "ntpcore/alone.py": "",
        "tests/test_outer.py": "import ntpcore.outer",
        "tests/test_other.py": "import ntpcore.other",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    for module in ("inner", "outer"):
        found = mutants.tests_of(Path(f"ntpcore/{module}.py"), tmp_path)
        assert found == ["tests/test_outer.py"]
    assert mutants.tests_of(Path("ntpcore/alone.py"), tmp_path) == []
