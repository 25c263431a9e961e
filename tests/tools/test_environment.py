"""The set-up: what it installs for whom, and that a user's settings do not turn it aside."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from tiny_book import ROOT, clean_environment

from ntpverdicts.imports import Package, imported_names
from tools.pipeline import environment
from tools.pipeline.source import OURS

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = """\
# how it was made
base==1.0 \\
    --hash=sha256:00
    # via
    #   lower
    #   project (pyproject.toml)
lower==2.0 ; python_full_version < '3.12' \\
    --hash=sha256:01 \\
    --hash=sha256:02
    # via up-per
lower==2.1 ; python_full_version >= '3.12' \\
    --hash=sha256:03
    # via up-per
other==1.0 \\
    --hash=sha256:04
    # via project (pyproject.toml)
Up_per==3.0 \\
    --hash=sha256:05
    # via project (pyproject.toml)
"""


def names(text: str) -> list[str]:
    """Packages of a part of a lock."""
    return [line.partition("==")[0] for line in text.splitlines() if "==" in line.split(" ")[0]]


def test_the_part_of_a_lock_holds_what_is_needed_through_others_and_nothing_else() -> None:
    assert names(environment.selected(LOCK, {"up-per"})) == ["base", "lower", "lower", "Up_per"]
    assert names(environment.selected(LOCK, {"other"})) == ["other"]
    part = environment.selected(LOCK, {"base"})
    assert part == LOCK[LOCK.index("base") : LOCK.index("lower==2.0")]


def test_a_package_that_the_lock_does_not_pin_is_named() -> None:
    with pytest.raises(SystemExit, match="does not pin missing; run: make lock"):
        environment.selected(LOCK, {"base", "missing"})


def test_a_group_holds_the_groups_that_it_names() -> None:
    project = {
        "name": "a-project",
        "dependencies": ["base>=1"],
        "optional-dependencies": {
            "one": ["First[fast]>=2"],
            "two": ["a_project[one]", "second"],
            "three": ["third"],
        },
    }
    assert environment.directly_needed(project, ["two"]) == {"base", "first", "second"}


def test_the_book_goes_without_what_tests_and_lab_and_sweeps_need() -> None:
    book, test, lab = (set(names(environment.selection([one]))) for one in ("book", "test", "lab"))
    assert {"jupyter-book", "jupytext", "papermill", "numpy", "matplotlib", "sympy", "uv"} <= book
    assert not book & {"jupyterlab", "cvxpy", "pyarrow", "playwright", "mypy", "pytest", "dask"}
    assert book < test
    assert book < lab
    whole = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    groups = list(PROJECT["optional-dependencies"])
    assert set(names(environment.selection(groups))) == set(names(whole))


def test_what_was_installed_once_stays() -> None:
    assert environment.wanted_groups([], None) == {"book"}
    assert environment.wanted_groups(["lab"], {"groups": ["book", "test"]}) == {
        *("book", "lab", "test")
    }


def test_only_where_packages_come_from_is_left_of_a_users_variables() -> None:
    given = {
        "HOME": "/somewhere",
        "PIP_USER": "1",
        "PIP_TARGET": "/x",
        "PIP_INDEX_URL": "mirror",
        "PYTHONHOME": "/x",
        "UV_PROJECT_ENVIRONMENT": "/x",
        "UV_CACHE_DIR": "/cache",
        "VIRTUAL_ENV": "/x",
        "NODE_OPTIONS": "--require /x",
    }
    kept = environment.clean(given)
    assert {name for name in given if name in kept} == {"HOME", "PIP_INDEX_URL", "UV_CACHE_DIR"}
    assert kept["PIP_CONFIG_FILE"] == "/dev/null"


def test_of_a_users_pip_conf_only_where_packages_come_from_counts(tmp_path: Path) -> None:
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip/pip.conf").write_text(
        "[global]\nuser = true\nindex-url = mirror\n[install]\nfind-links = one\n  two\n",
        encoding="utf-8",
    )
    given = {"XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}
    found = environment.with_pip_sources(environment.clean(given))
    assert found["PIP_INDEX_URL"] == found["UV_DEFAULT_INDEX"] == "mirror"
    assert found["PIP_FIND_LINKS"].split() == ["one", "two"]
    assert "PIP_USER" not in found


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The calls of an installation that installs nothing: pip ends well, and uv does not."""
    done: list[list[str]] = []

    def quietly(command: list[object], *_: object) -> None:
        done.append([str(part) for part in command])

    monkeypatch.setattr(environment, "SELECTED", tmp_path / "requirements.txt")
    monkeypatch.setattr(environment, "quietly", quietly)
    monkeypatch.setattr(environment.subprocess, "call", lambda words, **_: done.append(words) or 1)
    return done


def test_where_uv_fails_pip_installs_the_same_packages_by_the_same_hashes(
    calls: list[list[str]], tmp_path: Path
) -> None:
    environment.install_packages(["book"])
    uv_itself, by_uv, by_pip = calls
    assert uv_itself[-1] == str(tmp_path / "uv-requirements.txt")
    assert names((tmp_path / "uv-requirements.txt").read_text(encoding="utf-8")) == ["uv"]
    installed = names((tmp_path / "requirements.txt").read_text(encoding="utf-8"))
    assert {*installed, "uv"} == set(names(environment.selection(["book"])))
    assert "uv" not in installed  # where it cannot be had, pip must not ask for it again
    assert by_uv[0].endswith("uv")
    assert by_uv[-1] == by_pip[-1] == str(tmp_path / "requirements.txt")
    for words in calls:
        assert {"--require-hashes", "--no-deps"} <= set(words)


def test_without_a_network_one_sentence_says_so(
    calls: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "quietly", lambda *_: "ERROR: no route")
    with pytest.raises(SystemExit, match=r"^set-up: .*\(ERROR: no route\); with a network"):
        environment.install_packages(["book"])


def test_a_command_that_fails_gives_its_last_complaint_and_one_that_ends_well_nothing() -> None:
    code = "print('ERROR: first'); print('ERROR: last'); print('more'); raise SystemExit({})"
    asked = [[sys.executable, "-c", code.format(end)] for end in (1, 0)]
    assert [environment.quietly(words, None) for words in asked] == ["ERROR: last", None]


def test_make_hands_no_variable_of_pythons_on(tmp_path: Path) -> None:
    (tmp_path / "show.mk").write_text(f"include {ROOT}/Makefile\nshow:\n\t@env\n", encoding="utf-8")
    given = clean_environment(PYTHONHOME="/nowhere", PYTHONSAFEPATH="1", PYTHONOPTIMIZE="2")
    command = ["make", "-f", "show.mk", "show", "PYTHON=python3.12"]
    said = subprocess.run(
        command, cwd=tmp_path, env=given, capture_output=True, text=True, check=True
    ).stdout
    assert [line for line in said.splitlines() if line.startswith("PYTHON")] == [
        "PYTHON=python3.12"
    ]


def foreign(files: set[Path]) -> set[str]:
    """Packages, as registries call them, that modules import somewhere and that are not ours."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    tops = {name.partition(".")[0] for tree in trees for name in imported_names(tree)}
    owners = packages_distributions()
    return {
        environment.normal(owner)
        for top in tops - sys.stdlib_module_names - {*OURS, "tools"}
        for owner in owners.get(top, [top])[:1]
    }


def test_a_build_imports_nothing_that_is_not_installed_for_it() -> None:
    """A machine with the packages of tests would not notice."""
    package = Package((*OURS, "tools"), ROOT)
    used = package.closure(["tools.pipeline.build", "tools.pipeline.processors"])
    installed = set(names(environment.selection(["book"])))
    assert len(used) > 50
    assert foreign({ROOT / file for file in used}) <= {environment.normal(one) for one in installed}


def test_a_package_of_other_groups_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def late():\n    import yaml, os, joblib\n", encoding="utf-8")
    assert foreign({tmp_path / "one.py"}) == {"pyyaml", "joblib"}
