"""The scores of `make mutants` on a page."""

import json
from pathlib import Path

import pytest

from ntpcore.mutation_report import read_mutants

SURVIVOR = {"id": "m:f+1:4:lt-lte", "before": "a < b", "after": "(a <= b)", "covered": True}
PART = {
    "date": "2026-01-02",
    "mutants": 2000,
    "sample": 300,
    "seed": 5,
    "killed": 298,
    "timeouts": 1,
    "survived": 1,
    "score": 0.9967,
    "survivors": [SURVIVOR | {"reason": "a never equals b"}],
}
FOUND = {
    "date": "2026-01-03",
    "machine": {"cpu": "Some CPU", "cores": 2},
    "versions": {"python": "3.11.4"},
    "command": "make mutants",
    "parts": {"margin": PART | {"sample": 2000}, "checks": PART},
}


def written(folder: Path, found: dict[str, object]) -> Path:
    path = folder / "mutants.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def test_a_sample_is_told_from_all_mutants(tmp_path: Path) -> None:
    rows = read_mutants(written(tmp_path, FOUND)).scores.rows
    assert rows[0] == ("margin", "2000", "all", "298", "1", "1", "99.6 %", "2026-01-02")
    assert rows[1][2] == "300 (seed 5)"


def test_survivors_come_with_their_change_and_reason(tmp_path: Path) -> None:
    rows = read_mutants(written(tmp_path, FOUND)).survivors.rows
    assert rows == (("m:f+1:4:lt-lte", "a < b → (a <= b)", "a never equals b"),) * 2


def test_a_survivor_without_a_reason_is_not_hidden(tmp_path: Path) -> None:
    part = PART | {"survivors": [SURVIVOR | {"reason": ""}]}
    found = read_mutants(written(tmp_path, FOUND | {"parts": {"margin": part}}))
    assert found.survivors.rows[0][2] == "not yet explained"


def test_the_summary_names_date_machine_and_command(tmp_path: Path) -> None:
    assert read_mutants(written(tmp_path, FOUND)).summary == (
        "Last run 2026-01-03 with `make mutants` on 2 cores of Some CPU; python 3.11.4."
    )


def test_a_missing_file_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="`make mutants` writes it"):
        read_mutants(tmp_path / "none.json")
