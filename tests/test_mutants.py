"""`make mutants` on a tiny package with one mutant that is killed and one that is not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_book import ROOT, clean_environment

from tools.mutants import sample
from tools.mutation import Mutant, find_mutants

KILLED, SURVIVES = "tiny.core:larger+1:12:gt-lte", "tiny.core:larger+1:12:gt-gte"
PROJECT = """
[tool.mutants]
package = "tiny"
seed = 1
seconds = 5
least = 0.5
skip = []

[tool.mutants.parts]
core = { paths = ["tiny"] }
"""
CORE = """def larger(a: int, b: int) -> bool:
    return a > b
"""
TEST = """from tiny.core import larger


def test_two_is_larger_than_one():
    assert larger(2, 1)
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A project whose test leaves open what happens to equal numbers."""
    texts = {
        "pyproject.toml": PROJECT,
        "tiny/__init__.py": "",
        "tiny/core.py": CORE,
        "tests/test_core.py": TEST,
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    """`make mutants` in a project, without the imports that only pay in a long run."""
    return subprocess.run(
        [sys.executable, "-m", "tools.mutants", "--no-preload", f"--root={folder}"],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def list_survivor(folder: Path, name: str) -> None:
    """Write a known survivor with a reason."""
    text = f'[survivors]\n"{name}" = "equal numbers never meet"\n'
    (folder / "tests/mutants_survivors.toml").write_text(text, encoding="utf-8")


def outcomes(folder: Path) -> Path:
    """The file to which a run appends."""
    return folder / ".build/mutants/outcomes.jsonl"


def changes(source: str) -> list[str]:
    """What mutants put in place of what."""
    return [f"{mutant.before} -> {mutant.after}" for mutant in find_mutants(source, "m")]


def test_a_survivor_is_printed_and_fails_until_it_is_listed(tiny: Path) -> None:
    first = run(tiny)
    assert first.returncode == 1, first.stderr
    assert f"survived: {SURVIVES}: a > b -> (a >= b)" in first.stdout
    list_survivor(tiny, SURVIVES)
    again = run(tiny)
    assert again.returncode == 0, again.stdout + again.stderr
    part = json.loads((tiny / "benchmarks/mutants.json").read_text(encoding="utf-8"))["parts"]
    core = part["core"]
    assert (core["mutants"], core["sample"], core["killed"], core["survived"]) == (3, 3, 2, 1)
    assert core["score"] == 0.6667
    assert core["survivors"][0]["reason"] == "equal numbers never meet"


def test_a_run_that_was_killed_goes_on_where_it_was(tiny: Path) -> None:
    run(tiny)
    whole = outcomes(tiny).read_text(encoding="utf-8").splitlines()
    outcomes(tiny).write_text(f"{whole[0]}\n{whole[1][:20]}", encoding="utf-8")
    run(tiny)
    lines = outcomes(tiny).read_text(encoding="utf-8").splitlines()
    assert lines[0] == whole[0]
    names = [json.loads(line)["id"] for line in lines if line.endswith("}")]
    assert names == [json.loads(line)["id"] for line in whole]


def test_a_new_test_is_asked_and_old_kills_stand(tiny: Path) -> None:
    run(tiny)
    before = outcomes(tiny).read_text(encoding="utf-8")
    more = "\n\ndef test_no_number_is_larger_than_itself():\n    assert not larger(1, 1)\n"
    (tiny / "tests/test_core.py").write_text(TEST + more, encoding="utf-8")
    assert run(tiny).returncode == 0
    lines = outcomes(tiny).read_text(encoding="utf-8").removeprefix(before).splitlines()
    assert [json.loads(line)["id"] for line in lines] == [SURVIVES]


def test_a_test_that_only_looks_at_a_constant_is_asked(tiny: Path) -> None:
    (tiny / "tiny/core.py").write_text(CORE + "\n\nLIMIT = 3\n", encoding="utf-8")
    look = "\n\ndef test_the_limit_is_three():\n    assert core.LIMIT == 3\n"
    (tiny / "tests/test_core.py").write_text(f"from tiny import core\n{TEST}{look}", "utf-8")
    run(tiny)
    records = map(json.loads, outcomes(tiny).read_text(encoding="utf-8").splitlines())
    assert {r["id"]: r["outcome"] for r in records}["tiny.core:+4:8:number+1"] == "killed"


def test_a_listed_survivor_that_is_killed_or_gone_fails(tiny: Path) -> None:
    list_survivor(tiny, KILLED)
    assert f"listed, but killed: {KILLED}" in run(tiny).stdout
    list_survivor(tiny, "tiny.core:smaller+1:13:lt-lte")
    done = run(tiny)
    assert done.returncode == 1
    assert "listed, but no mutant any more: tiny.core:smaller" in done.stdout


def test_an_endless_loop_counts_as_noticed(tiny: Path) -> None:
    loop = "def larger(a, b):\n    while b < a:\n        b += 1\n    return a == b\n"
    (tiny / "tiny/core.py").write_text(loop, encoding="utf-8")
    run(tiny)
    records = map(json.loads, outcomes(tiny).read_text(encoding="utf-8").splitlines())
    found = {record["id"]: record["outcome"] for record in records}
    assert found["tiny.core:larger+2:8:add-sub"] == "timeout"


def test_a_test_that_fails_without_mutants_stops_everything(tiny: Path) -> None:
    (tiny / "tests/test_core.py").write_text(TEST.replace("2, 1", "1, 2"), encoding="utf-8")
    done = run(tiny)
    assert done.returncode == 1
    assert "must pass before anything is changed" in done.stderr
    assert not outcomes(tiny).exists()


def test_every_kind_of_change_is_made() -> None:
    assert changes("x = a < b") == ["a < b -> (a >= b)", "a < b -> (a <= b)"]
    assert changes("x = a + b") == ["a + b -> (a - b)"]
    assert changes("x = a and b") == ["a and b -> (a or b)"]
    assert changes("x = not a") == ["not a -> (a)"]
    assert changes("x = 1") == ["1 -> (2)"]
    assert changes("x = True") == ["True -> (False)"]
    assert changes("x = min(a)") == ["min(a) -> (max(a))"]
    assert changes("x = Fraction(a, b)") == ["Fraction(a, b) -> (Fraction(b, a))"]
    assert changes("x = sorted(a, key=f)") == ["sorted(a, key=f) -> (list(a))"]
    assert changes("x = a.T") == ["a.T -> (a)"]
    assert changes("f(a)") == ["f(a) -> pass"]
    assert changes("a[b] = c") == ["a[b] = c -> pass"]
    assert changes("a += b") == ["a += b -> a -= b"]
    assert changes("if a:\n    b = c") == ["a -> (not a)"]
    assert changes("x = [a for a in b if a]") == ["a -> (not a)"]
    assert changes("def f():\n    return a") == ["return a -> return None"]
    assert changes("for a in b:\n    break") == ["break -> continue"]
    assert changes("x = 'key'") == ["'key' -> ('key?')"]


def test_prose_annotations_and_invariants_are_left_alone() -> None:
    assert changes('"""Words."""') == []
    assert changes("x = 'some words'") == []
    assert changes("x = f'{a + 1} words'") == []
    assert changes("def f(a: int | None) -> int | None: ...") == []
    assert changes("assert a < b") == []
    assert changes("x = outer(a, a)") == changes("x = 1e300") == []
    assert changes("raise ValueError('one')") == ["raise ValueError('one') -> pass"]


def test_a_mutant_changes_its_place_only_even_behind_other_alphabets() -> None:
    source = 'é = "ü" + a  # ö\nb = é\n'
    (added,) = [m for m in find_mutants(source, "m") if m.id.endswith("add-sub")]
    assert added.apply(source) == "é = ('ü' - a)  # ö\nb = é\n"


def test_names_count_lines_from_the_function() -> None:
    def names(source: str) -> list[str]:
        return [mutant.id for mutant in find_mutants(source, "m")]

    function = "class A:\n    def f(self):\n        return -1\n"
    assert names("x = y\n\n\n" + function) == names(function)
    assert "m:A.f+1:15:usub-dropped" in names(function)


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    mutants = find_mutants("x = [" + ", ".join(map(str, range(100))) + "]", "m")

    def drawn(seed: int) -> list[Mutant]:
        return sample(mutants, 10, seed)

    assert drawn(1) == drawn(1) != drawn(2)
    assert len(set(drawn(1))) == 10
    assert drawn(1)[:5] == sample(mutants, 5, 1)
    assert sample(mutants, 0, 1) == sample(mutants, 100, 1) == mutants
