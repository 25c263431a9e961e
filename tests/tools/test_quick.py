"""`make quick` runs the tests that reach a change, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_book import ROOT

from tools.quality import quick


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
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("ntpcore/low.py", ["test_low.py", "test_high.py"]),
        ("ntpcore/high.py", ["test_high.py"]),
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
    assert [path.name for path in found] == tests


@pytest.mark.parametrize(
    ("seconds", "first", "code", "said"),
    [
        (60, "pass", 0, "2 passed"),
        (0, "pass", 0, "1 test files had their turn"),
        (0, "1 / 0", 1, "had"),
    ],
)
def test_when_the_minute_is_over_the_rest_waits_and_a_failure_still_counts(
    tmp_path: Path, seconds: int, first: str, code: int, said: str
) -> None:
    (tmp_path / "test_b.py").write_text(f"def test_first(): {first}\n", encoding="utf-8")
    (tmp_path / "test_a.py").write_text("def test_last(): pass\n", encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "tools.quality.minute"]
    words += ["--seconds", str(seconds), "test_b.py", "test_a.py"]
    done = subprocess.run(
        words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr


def test_a_check_of_one_chapter_is_reached_by_its_own_tests() -> None:
    found = quick.reaching([Path("ntpbook/huang2024/s3_setup/checks.py")], ROOT)
    names = {path.as_posix() for path in found}
    assert "tests/ntpbook/huang2024/test_s3_setup.py" in names
    assert not any("tian2023" in name for name in names)
