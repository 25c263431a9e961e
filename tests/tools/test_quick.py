"""`make quick` runs the tests that reach a change, and no others."""

from __future__ import annotations

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
        ("ntpcore/low.py", {"test_low.py", "test_high.py"}),
        ("ntpcore/high.py", {"test_high.py"}),
        ("ntpcore/other.py", {"test_helped.py"}),
        ("tests/helpers/shared.py", {"test_helped.py"}),
        ("tests/test_low.py", {"test_low.py"}),
        ("book/preface.md", {"test_named.py"}),
        ("README.md", set()),
    ],
)
def test_a_change_is_reached_directly_through_others_or_by_name(
    project: Path, changed: str, tests: set[str]
) -> None:
    found = quick.reaching([Path(changed)], project)
    assert {path.name for path in found} == tests


def test_a_check_of_one_chapter_is_reached_by_its_own_tests() -> None:
    found = quick.reaching([Path("ntpbook/huang2024/s3_setup/checks.py")], ROOT)
    names = {path.as_posix() for path in found}
    assert "tests/ntpbook/huang2024/test_s3_setup.py" in names
    assert not any("tian2023" in name for name in names)
