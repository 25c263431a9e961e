"""The planted errors of `make mutants`: how they are drawn, judged and counted."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tools.quality import mutants


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of cosmic-ray with four changes at each of ten places, and one of an annotation."""
    path = tmp_path / "session.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE work_items (job_id)")
        database.execute(
            "CREATE TABLE mutation_specs (job_id, module_path, start_pos_row, start_pos_col,"
            " operator_name, occurrence)"
        )
        database.execute("CREATE TABLE work_results (job_id, test_outcome, diff)")
        for row in range(10):
            operators = ["core/A", "core/B", "core/C", "core/ReplaceBinaryOperator_BitOr_Add"]
            for operator in operators:
                job = f"{operator} {row}"
                database.execute("INSERT INTO work_items VALUES (?)", (job,))
                database.execute(
                    "INSERT INTO mutation_specs VALUES (?, 'm.py', ?, 1, ?, 0)",
                    (job, row, operator),
                )
    return path


def kept(session: Path) -> list[str]:
    with sqlite3.connect(session) as database:
        rows = database.execute("SELECT job_id FROM mutation_specs").fetchall()
        items = database.execute("SELECT job_id FROM work_items").fetchall()
    assert sorted(rows) == sorted(items)
    return sorted(job for (job,) in rows)


def test_changes_are_drawn_by_the_seed_at_different_places(session: Path) -> None:
    assert mutants.draw(session, 6, 7) == (10, 6)
    jobs = kept(session)
    assert len(jobs) == len({job.split()[1] for job in jobs}) == 6
    assert not any("BitOr" in job for job in jobs)


def test_a_group_with_few_places_gives_them_all(session: Path) -> None:
    assert mutants.draw(session, 60, 7) == (10, 10)


def test_what_survived_is_told_from_what_was_noticed(session: Path) -> None:
    with sqlite3.connect(session) as database:
        rows: list[tuple[str, str | None, str]] = [
            ("a", "KILLED", "-x"),
            ("b", "SURVIVED", "-y"),
            ("c", "INCOMPETENT", "-z"),
        ]
        rows.append(("d", None, "-u"))  # nobody judged it
        database.executemany("INSERT INTO work_results VALUES (?, ?, ?)", rows)
    assert mutants.outcomes(session) == (2, ["-y", "-u"])


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
