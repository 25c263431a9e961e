"""`make mutants`: small errors planted in the code, drawn by a seed, and which a test notices.

cosmic-ray lists all changes that it knows of a group of modules, and makes those that are drawn,
one after another, in a copy of the last commit. Of the changes at one place one is drawn, so that a
sum does not count a dozen times. A change is noticed if one of the tests fails that import the
changed module directly (or, where none does, a module that imports it), or if nothing runs any
more; tests of the built site, of a browser, of `tests/verdicts.toml` and slow ones are left out. So
a change that survives may still be noticed by a test of what uses the module.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from ntpcore.verdicts.imports import imported_names
from tools.pipeline import side_environment
from tools.quality.quick import LATER, NO_TEST, OURS

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).resolve().with_name("mutants_requirements.txt")
GROUPS = {
    "exact core": ("ntpcore/exact", "ntpcore/data/order.py"),
    "transformer and bounds": (
        "ntpcore/huang2024/transformer.py",
        "ntpcore/huang2024/stage1.py",
        "ntpcore/huang2024/bounds.py",
    ),
    "dynamics": ("ntpcore/huang2024/fast", "ntpcore/tian2023"),
    "checks": ("ntpbook/huang2024", "ntpbook/tian2023"),
}
SECONDS = 600  # for the tests of one change; who takes longer is noticed
DRAWN = ("**/figures.py", "**/moving.py")  # pictures are looked at, no test judges them
# Unions of types are annotations; a decorator more or less is no small error.
LEFT_OUT = ("core/ReplaceBinaryOperator_BitOr", "core/RemoveDecorator", "core/Variable")
PLACES = "SELECT job_id, module_path, start_pos_row, start_pos_col, operator_name, occurrence"


def tests_of(module: Path, root: Path) -> list[str]:
    """The test files that import a module, or something out of it, themselves.

    Where there is none, those that import a module that imports it.
    """
    tests = sorted((root / "tests").rglob("test_*.py"))
    found = _importing([_dotted(module)], tests)
    if not found:
        ours = [path for name in OURS for path in sorted((root / name).rglob("*.py"))]
        users = [_dotted(path.relative_to(root)) for path in _importing([_dotted(module)], ours)]
        found = _importing(users, tests)
    return [str(path.relative_to(root)) for path in found]


def _dotted(module: Path) -> str:
    """A module's name in an import."""
    return ".".join(module.with_suffix("").parts)


def _importing(modules: list[str], files: list[Path]) -> list[Path]:
    """The files that import one of these modules, or something out of it."""
    found = []
    for path in files:
        names = imported_names(ast.parse(path.read_text(encoding="utf-8")))
        if any(one == name or one.startswith(f"{name}.") for one in names for name in modules):
            found.append(path)
    return found


def judge() -> int:
    """In a copy with one change: 1 if a test notices it."""
    listed = subprocess.run(["git", "diff", "--name-only"], capture_output=True, text=True)
    tests = [test for line in listed.stdout.split() for test in tests_of(Path(line), Path())]
    if not tests:
        return 0
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-m", LATER, *tests]
    with tempfile.TemporaryDirectory() as cache:
        settings = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": cache}
        code = subprocess.run([*command, "-p", "no:cacheprovider"], env=settings).returncode
    return int(code not in (0, NO_TEST))


def draw(session: Path, number: int, seed: int) -> tuple[int, int]:
    """Leave so many changes in a session, at different places; how many places and changes left."""
    with sqlite3.connect(session) as database:
        rows = database.execute(f"{PLACES} FROM mutation_specs").fetchall()
        places: dict[tuple[str, int, int], list[tuple[str, int, str]]] = {}
        for job, module, row, column, operator, occurrence in rows:
            if not operator.startswith(LEFT_OUT):
                places.setdefault((module, row, column), []).append((operator, occurrence, job))
        rng = random.Random(seed)
        chosen = rng.sample(sorted(places), min(number, len(places)))
        kept = {rng.choice(sorted(places[place]))[2] for place in chosen}
        gone = [(job,) for job, *_ in rows if job not in kept]
        for table in ("mutation_specs", "work_items"):
            database.executemany(f"DELETE FROM {table} WHERE job_id = ?", gone)
    return len(places), len(kept)


def outcomes(session: Path) -> tuple[int, list[str]]:
    """How many changes were noticed, and the others as differences."""
    with sqlite3.connect(session) as database:
        rows = database.execute("SELECT test_outcome, diff FROM work_results").fetchall()
    survived = [
        str(diff)
        for outcome, diff in rows
        if str(outcome).upper().rpartition(".")[2] not in ("KILLED", "INCOMPETENT")
    ]
    return len(rows) - len(survived), survived


def run(group: str, number: int, seed: int, copy: Path) -> str:
    """Plant errors in a group; a line for the table, after the survivors."""
    session, config = copy / "session.sqlite", copy / "cosmic-ray.toml"
    session.unlink(missing_ok=True)
    modules = ", ".join(f'"{name}"' for name in GROUPS[group])
    config.write_text(
        f'[cosmic-ray]\nmodule-path = [{modules}]\ntimeout = {SECONDS}.0\n'
        f"excluded-modules = {list(DRAWN)}\n"
        f'test-command = "{sys.executable} -m tools.quality.mutants --judge"\n'
        '[cosmic-ray.distributor]\nname = "local"\n',
        encoding="utf-8",
    )  # fmt: skip
    tool = str(side_environment.python_of("mutants").with_name("cosmic-ray"))
    subprocess.run([tool, "init", config.name, session.name], cwd=copy, check=True)
    places, drawn = draw(session, number, seed)
    subprocess.run([tool, "exec", config.name, session.name], cwd=copy, check=True)
    noticed, survived = outcomes(session)
    print(*survived, sep="\n", flush=True)
    return f"{group}: {noticed} of {drawn} noticed, drawn from {places} places with seed {seed}"


def main() -> int:
    """Sixty errors in each group, unless told otherwise."""
    parser = argparse.ArgumentParser(description="which small errors the tests notice")
    parser.add_argument("--number", type=int, default=60, help="changes in each group")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--group", choices=GROUPS, action="append")
    parser.add_argument("--judge", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.judge:
        return judge()
    if side_environment.set_up("mutants", FILE.read_text(encoding="utf-8"), [["-r", str(FILE)]]):
        return 1
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(copy)], check=True)
        groups = given.group or list(GROUPS)
        lines = [run(group, given.number, given.seed, copy) for group in groups]
    print(*lines, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
