"""`make quick` runs the tests that reach a change, and no others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_book import ROOT

from ntpbook.catalogue import CATALOGUE
from ntpverdicts.claims import MIME
from tools.quality import page, quick


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "ntpcore/__init__.py": "",
        "ntpcore/low.py": "",
        "ntpcore/high.py": "from ntpcore import low\n",
        "ntpcore/other.py": "",
        "tests/helpers/shared.py": "from ntpcore import other\n",
        "tests/test_high.py": "from ntpcore import high\n",
        "tests/test_low.py": "from ntpcore.low import x\n",
        "tests/test_helped.py": "from shared import y\n",
        "tests/test_named.py": "FILE = 'book/preface.md'\n",
        "ntpcore/compiled.py": "",
        "ntpcore/loop.py": "from ntpcore.compiled import compiled\n",
        "ntpbook/catalogue.py": "",
        "ntpbook/one/checks.py": "from ntpcore import loop\n",
        "ntpbook/one/claims.toml": "",
        "tests/helpers/program.py": "import subprocess\n",
        "tests/test_loop.py": "from ntpcore import loop\n",
        "tests/test_checks.py": "from ntpbook.one import checks\n",
        "tests/test_rows.py": "from ntpbook.catalogue import CATALOGUE\n",
        "tests/test_program.py": "import program\nfrom ntpcore import high\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("ntpcore/low.py", ["test_low.py", "test_high.py", "test_program.py"]),
        ("ntpcore/high.py", ["test_high.py", "test_program.py"]),
        ("ntpcore/loop.py", ["test_loop.py", "test_checks.py"]),
        ("ntpbook/one/claims.toml", ["test_rows.py", "test_checks.py"]),
        ("ntpcore/other.py", ["test_helped.py"]),
        ("tests/helpers/shared.py", ["test_helped.py"]),
        ("tests/test_low.py", ["test_low.py"]),
        ("book/preface.md", ["test_named.py"]),
        ("README.md", []),
    ],
)
def test_a_change_is_reached_directly_through_others_or_by_name_and_the_nearest_come_first(
    project: Path, changed: str, tests: list[str]
) -> None:
    found = quick.reaching([Path(changed)], project)
    assert [one.path.name for one in found] == tests


def test_rows_checks_and_pages_are_asked_whether_they_agree_on_proofs() -> None:
    for name in ("ntpbook/huang2024/s5_loss/claims.toml", "notebooks/loss.md"):
        assert quick.touches_proofs([Path("README.md"), Path(name)])
    assert not quick.touches_proofs([Path("ntpcore/front.py"), Path("README.md")])


def test_what_no_test_reaches_is_named(project: Path) -> None:
    low, row, script = Path("ntpcore/low.py"), Path("ntpbook/one/claims.toml"), Path("book/find.js")
    changed = [low, row, script, Path("README.md")]
    assert quick.unreached(changed, quick.reaching(changed, project)) == [script]
    (project / "tests/test_script.py").write_text("FILE = 'book/find.js'\n", encoding="utf-8")
    assert quick.unreached(changed, quick.reaching(changed, project)) == []


@pytest.mark.parametrize(
    ("changed", "traced"),
    [
        ("ntpcore/low.py", {"test_low.py", "test_high.py"}),  # the third starts a process
        ("ntpcore/loop.py", set()),  # compiled
        ("ntpbook/one/claims.toml", set()),
        ("book/preface.md", set()),
        ("tests/test_low.py", {"test_low.py"}),
    ],
)
def test_the_record_decides_only_where_a_tracer_sees_all(
    project: Path, changed: str, traced: set[str]
) -> None:
    found = quick.reaching([Path(changed)], project)
    assert {one.path.name for one in found if one.traced} == traced
    steps = quick.test_steps(found)
    by_record = [step for step in steps if "--testmon" in step]
    assert {Path(word).name for step in by_record for word in step if ".py" in word} == traced
    rest = {Path(word).name for step in steps for word in step if ".py" in word} - traced
    assert rest == {one.path.name for one in found if not one.traced}


@pytest.mark.parametrize(
    ("seconds", "first", "code", "said"),
    [
        (100_000, "pass", 0, "2 passed"),
        (0, "pass", 0, "1 test files had their turn"),
        (0, "1 / 0", 1, "had"),
    ],
)
def test_when_the_minute_is_over_the_rest_waits_and_a_failure_still_counts(
    tmp_path: Path, seconds: int, first: str, code: int, said: str
) -> None:
    (tmp_path / "test_b.py").write_text(f"def test_first(): {first}\n", encoding="utf-8")
    (tmp_path / "test_a.py").write_text("def test_last(): pass\n", encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "tools.quality.time_limit"]
    words += ["--seconds", str(seconds), "test_b.py", "test_a.py"]
    done = subprocess.run(
        words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr


RECORDED = {
    "lib.py": """def double(x):
    return 2 * x


def triple(x):
    return 3 * x
""",
    "test_lib.py": """import lib


def test_double():
    assert lib.double(1) == 2
""",
    "test_more.py": """import lib


def test_triple():
    assert lib.triple(1) == 3
""",
}


def test_a_recorded_test_runs_when_what_it_executed_changed_and_not_otherwise(
    tmp_path: Path,
) -> None:
    for name, text in RECORDED.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n", encoding="utf-8")

    def ran() -> set[str]:
        words = [sys.executable, "-m", "pytest", "-v", "--testmon"]
        environment = os.environ | {"TESTMON_DATAFILE": str(tmp_path / "record")}
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        lines = done.stdout.splitlines()
        return {line.split()[0].rpartition("::")[2] for line in lines if " PASSED" in line}

    assert ran() == {"test_double", "test_triple"}
    (tmp_path / "lib.py").write_text(RECORDED["lib.py"].replace("3 * x", "x * 3"))
    assert ran() == {"test_triple"}
    assert ran() == set()


def test_a_check_of_one_chapter_is_reached_by_its_own_tests() -> None:
    found = quick.reaching([Path("ntpbook/huang2024/s3_setup/checks.py")], ROOT)
    names = {one.path.as_posix() for one in found}
    assert "tests/ntpbook/huang2024/test_s3_setup.py" in names
    assert not any("tian2023" in name for name in names)


@pytest.mark.parametrize("file", ["checks.py", "claims.toml"])
def test_the_checks_of_a_chapter_are_reached_one_by_one(file: str) -> None:
    page = "huang2024_s3_setup"
    found = quick.reaching([Path("ntpbook/huang2024/s3_setup") / file], ROOT)
    asked = [one for one in found if quick.EVERY_CHECK in one.path.as_posix()]
    nearest = {one.path.as_posix() for one in asked if one.distance == 0}
    labels = {claim.label for claim in CATALOGUE if claim.page == page}
    assert nearest == {f"{quick.EVERY_CHECK}::{quick.SOUND}[{label}]" for label in labels}
    assert len(asked) < 20  # those of a chapter that imports it, too, and not all
    # The name of the test is the one that it has.
    assert f"def {quick.SOUND}(" in (ROOT / quick.EVERY_CHECK).read_text(encoding="utf-8")


@pytest.mark.parametrize("file", sorted(quick.ASKING))
def test_all_checks_are_reached_when_what_asks_them_changes(file: Path) -> None:
    assert (ROOT / file).is_file()
    found = quick.reaching([file], ROOT)
    assert [one.path for one in found].count(Path(quick.EVERY_CHECK)) == 1


# A page that says otherwise


def executed(folder: Path, *checks: dict[str, str]) -> None:
    """The executed copy of a page with these checks."""
    outputs = [{"data": {MIME: one}} for one in checks]
    text = json.dumps({"cells": [{"outputs": outputs}]})
    (folder / "huang2024_s3_setup.ipynb").write_text(text, encoding="utf-8")


def test_a_page_with_another_verdict_or_without_one_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = [claim.label for claim in CATALOGUE if claim.page == "huang2024_s3_setup"]
    monkeypatch.setattr(page, "WORK", tmp_path)
    pins = {label: ["refuted", "proved"] for label in claims}
    right = [{"label": label, "verdict": "proved"} for label in claims]
    executed(tmp_path, *right)
    assert page.wrong("huang2024_s3_setup", pins) == []
    executed(tmp_path, {"label": claims[0], "verdict": "refuted"}, *right[1:])
    assert page.wrong("huang2024_s3_setup", pins) == [
        f"huang2024_s3_setup: {claims[0]} is refuted, and tests/verdicts.toml has proved"
    ]
    executed(tmp_path, *right[1:])
    assert page.wrong("huang2024_s3_setup", pins) == [
        f"huang2024_s3_setup: 0 checks of {claims[0]}, not one"
    ]
