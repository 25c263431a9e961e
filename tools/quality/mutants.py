"""`make mutants`: small errors planted in the code, drawn by a seed, and which a test notices.

cosmic-ray lists all changes that it knows of a group of modules. Of the changes at one place one is
drawn, so that a sum does not count a dozen times; each is made in a copy of the last commit. First
every test file runs once on the unchanged copy, in a process of its own, and the lines that it runs
are kept. A change is then judged by the files that run the changed statement (and, where a module
has compiled loops, whose lines nobody sees, by those that load it): a file that does not come there
does the same as before. Those that import the module themselves come first, and cheap ones before
dear ones. A change is noticed if one of them fails or takes ten times as long. Tests of the built
site, of a browser, of `tests/verdicts.toml` and slow ones are left out.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ntpcore.verdicts.imports import Package, imported_names
from tools.pipeline import side_environment
from tools.quality.quick import LATER, NO_TEST, OURS

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).resolve().with_name("mutants_requirements.txt")
KEPT = ROOT / ".build" / "mutants"  # what a stopped run goes on from
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
DRAWN = ("**/figures.py", "**/moving.py")  # pictures are looked at, no test judges them
# Unions of types are annotations; a decorator more or less is no small error.
LEFT_OUT = ("core/ReplaceBinaryOperator_BitOr", "core/RemoveDecorator", "core/Variable")
PLACES = "SELECT module_path, start_pos_row, start_pos_col, operator_name, occurrence"
COMPILED = "ntpcore.compiled"
# Loaded once, before processes are split off; nothing of ours is among them.
LOADED = ("matplotlib.pyplot", "mpmath", "networkx", "numba", "numpy", "pytest", "scipy.optimize")
LOADED += ("scipy.sparse.csgraph", "sympy", "coverage", "hypothesis")
PINS = ("verdicts.toml", "pipeline import pin", "record.json")
MUTATE = """
import json, sys
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
changes = json.load(sys.stdin)
read = lambda path: open(path, encoding="utf-8").read()
json.dump([mutate_code(read(p), get_operator(o)(), n) for p, _, _, o, n in changes], sys.stdout)
"""
Change = tuple[str, int, int, str, int]  # module, row, column, operator, occurrence


@dataclass(frozen=True)
class Ran:
    """What a test file does on the unchanged copy: its seconds, and which tests run which line."""

    seconds: float
    lines: dict[str, dict[str, list[str]]]


class Watch:
    """Tells coverage which test runs; in other runs, lets some tests of a file come first."""

    def __init__(self, watch: Any, first: list[str]) -> None:
        self.watch, self.first = watch, set(first)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items.sort(key=lambda item: item.nodeid not in self.first)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self.watch is not None:
            self.watch.switch_context(nodeid)


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


def draw(session: Path, number: int, seed: int) -> tuple[int, list[Change]]:
    """So many changes of a session, at different places, in random order; how many places."""
    with sqlite3.connect(session) as database:
        rows = database.execute(f"{PLACES} FROM mutation_specs").fetchall()
    places: dict[tuple[str, int, int], list[tuple[str, int]]] = {}
    for module, row, column, operator, occurrence in rows:
        if not operator.startswith(LEFT_OUT):
            places.setdefault((module, row, column), []).append((operator, occurrence))
    rng = random.Random(seed)
    chosen = rng.sample(sorted(places), min(number, len(places)))
    return len(places), [(*place, *rng.choice(sorted(places[place]))) for place in chosen]


def statement(text: str, row: int) -> range:
    """The lines of the innermost statement at a line; of one that holds others, its head."""
    lines = range(row, row + 1)
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            continue
        inner = getattr(node, "body", None)
        first = min([getattr(node, "lineno", row), *(_decorators(node))])
        last = inner[0].lineno - 1 if inner else getattr(node, "end_lineno", row)
        if first <= row <= max(first, last):
            lines = range(first, max(first, last) + 1)
    return lines


def _decorators(node: ast.AST) -> list[int]:
    """The lines on which decorators of a definition stand."""
    return [one.lineno for one in getattr(node, "decorator_list", [])]


def judges(
    change: Change, text: str, tests: list[str], ran: dict[str, Ran]
) -> dict[str, list[str]]:
    """Of some test files those that may notice a change, cheap first; tests that begin in each."""
    module, row = change[:2]
    compiled = COMPILED in imported_names(ast.parse(text))
    found = {}
    for test in sorted((test for test in tests if test in ran), key=lambda one: ran[one].seconds):
        lines = ran[test].lines.get(module, {})
        there = [line for line in map(str, statement(text, row)) if line in lines]
        if there or (compiled and lines):
            found[test] = sorted({name for line in there for name in lines[line]})
    return found


class Copy:
    """A copy of the last commit, in which test files run one at a time, each in a new process."""

    def __init__(self, folder: Path) -> None:
        self.root, self.cache, self.base = folder / "copy", folder / "cache", folder / "base"
        self.folder = folder
        if not self.root.exists():
            command = ["git", "clone", "--quiet", "--shared", str(ROOT), str(self.root)]
            subprocess.run(command, check=True)
        subprocess.run(["git", "checkout", "--quiet", "."], cwd=self.root, check=True)
        os.environ |= {"NUMBA_CACHE_DIR": str(self.cache), "OPENBLAS_NUM_THREADS": "1"}
        os.environ |= {"HYPOTHESIS_STORAGE_DIRECTORY": str(self.cache / "hypothesis")}
        os.environ |= {"PYTHONPATH": str(self.root)}  # for programs that tests start
        for name in LOADED:
            importlib.import_module(name)
        hypothesis: Any = sys.modules["hypothesis"]
        quick = [one for one in hypothesis.Phase if one.name in ("explicit", "generate")]
        hypothesis.settings.register_profile("mutants", phases=quick)  # nobody reads what it finds
        hypothesis.settings.load_profile("mutants")
        self.compiled = {}  # modules with compiled loops, and all that they load
        package = Package(OURS, self.root)
        for file in (one for name in OURS for one in (self.root / name).rglob("*.py")):
            names = imported_names(ast.parse(file.read_text(encoding="utf-8")))
            if COMPILED in names:
                here = file.relative_to(self.root)
                self.compiled[file.stem] = {*package.closure(names), here}

    def run(self, test: str, seconds: float, first: list[str], lines: Path | None = None) -> int:
        """What pytest ends with on a file; with a path, which tests ran which lines goes there."""
        child = os.fork()
        if not child:
            code = 3
            try:
                code = self._in_child(test, first, lines)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return 124

    def _in_child(self, test: str, first: list[str], lines: Path | None) -> int:
        """Forget what was loaded of ours, and run pytest on a file."""
        os.setsid()
        log = os.open(self.folder / "last.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(self.root)
        sys.path[:] = [str(self.root), *(one for one in sys.path if one not in ("", str(ROOT)))]
        for name in [name for name in sys.modules if name.split(".")[0] in OURS]:
            del sys.modules[name]
        sys.dont_write_bytecode = lines is None  # compiled anew: what was changed, and no other
        words = ["-x", "-q", "-n", "0", "-m", LATER, "-p", "no:cacheprovider", test]
        words += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is loaded already
        words += [f"--basetemp={self.folder / 'tmp'}"]
        pytest: Any = sys.modules["pytest"]
        if lines is None:
            return int(pytest.main(words, [Watch(None, first)]))
        watch: Any = sys.modules["coverage"].Coverage(data_file=None, source=list(OURS))
        watch.start()
        code = int(pytest.main(words, [Watch(watch, [])]))
        watch.stop()
        data = watch.get_data()
        found = {
            Path(name).relative_to(self.root).as_posix(): data.contexts_by_lineno(name)
            for name in data.measured_files()
        }
        lines.write_text(json.dumps(found), encoding="utf-8")
        return code

    def record(self, test: str) -> Ran | None:
        """What a file runs; one that fails without a change judges nothing, and is named."""
        kept = self.folder / "lines" / f"{test.replace('/', '.')}.json"
        taken = kept.with_suffix(".seconds")
        if not taken.exists():
            kept.parent.mkdir(exist_ok=True)
            self._fill(None)
            started = time.monotonic()
            code = self.run(test, 1200, [], kept)
            shutil.rmtree(self.base, ignore_errors=True)
            self.cache.rename(self.base)
            taken.write_text(f"{time.monotonic() - started} {code}", encoding="utf-8")
        seconds, code = taken.read_text(encoding="utf-8").split()
        if int(code) not in (0, NO_TEST):
            print(f"left out, as it fails without a change: {test}", flush=True)
            return None
        return Ran(float(seconds), json.loads(kept.read_text(encoding="utf-8")))

    def _fill(self, module: Path | None) -> None:
        """The cache of compiled loops, without those that may hold a constant of a module."""
        shutil.rmtree(self.cache, ignore_errors=True)
        self.base.mkdir(exist_ok=True)
        shutil.copytree(self.base, self.cache)
        for stem, files in self.compiled.items():
            if module in files:
                for old in self.cache.rglob(f"{stem}.*"):
                    old.unlink()

    def judge(
        self, module: str, text: str, tests: dict[str, list[str]], ran: dict[str, Ran]
    ) -> str | None:
        """The file that notices a changed module, or None; the module is put back."""
        path = self.root / module
        original, stamp = path.read_bytes(), path.stat()
        self._fill(Path(module))
        try:
            path.write_text(text, encoding="utf-8")
            for test, first in tests.items():
                if self.run(test, 60 + 10 * ran[test].seconds, first) not in (0, NO_TEST):
                    return test
            return None
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def listed(group: str, folder: Path, copy: Path) -> Path:
    """cosmic-ray's list of the changes of a group."""
    session, config = folder / f"{group}.sqlite", folder / "cosmic-ray.toml"
    modules = ", ".join(f'"{name}"' for name in GROUPS[group])
    config.write_text(
        f"[cosmic-ray]\nmodule-path = [{modules}]\ntimeout = 1.0\n"
        f'excluded-modules = {list(DRAWN)}\ntest-command = "false"\n'
        '[cosmic-ray.distributor]\nname = "local"\n',
        encoding="utf-8",
    )
    tool = str(side_environment.python_of("mutants").with_name("cosmic-ray"))
    session.unlink(missing_ok=True)
    subprocess.run([tool, "init", str(config), str(session)], cwd=copy, check=True)
    return session


def changed(changes: list[Change], copy: Path) -> list[str]:
    """The text of the module after each change."""
    command = [str(side_environment.python_of("mutants")), "-c", MUTATE]
    done = subprocess.run(
        command, cwd=copy, input=json.dumps(changes), capture_output=True, text=True, check=True
    )
    texts: list[str] = json.loads(done.stdout)
    return texts


def users_of(module: Path, root: Path) -> list[str]:
    """The test files that load a module through others."""
    package, found = Package(OURS, root), []
    for path in sorted((root / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        reached = package.closure(imported_names(ast.parse(text)))
        if module in reached and not any(pin in text for pin in PINS):
            found.append(str(path.relative_to(root)))
    return found


def judged(kept: Path, work: list[tuple[str, Change, str]], copy: Copy, users: bool) -> None:
    """Judge what is not judged yet, and write it down: by direct tests, or by those of users."""
    ran: dict[str, Ran] = {}
    direct_of = cache(lambda module: tests_of(module, copy.root))
    users_of_ = cache(lambda module: users_of(module, copy.root))
    for group, change, text in work:
        lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
        before = [one for one in lines if (one["group"], tuple(one["change"])) == (group, change)]
        if any(one["users"] == users or one["by"] for one in before):
            continue
        module, started = Path(change[0]), time.monotonic()
        direct = direct_of(module)
        tests = sorted(set(users_of_(module)) - set(direct)) if users else direct
        for test in tests:
            found = None if test in ran else copy.record(test)
            ran |= {test: found} if found else {}
        original = (copy.root / module).read_text(encoding="utf-8")
        chosen = judges(change, original, tests, ran)
        by = copy.judge(change[0], text, chosen, ran)
        diff = list(difflib.unified_diff(original.split("\n"), text.split("\n"), n=2))
        one = {"group": group, "change": change, "users": users, "by": by, "tests": len(chosen)}
        took = round(time.monotonic() - started, 1)
        with kept.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(one | {"seconds": took, "diff": diff}) + "\n")
        name = f"{group}: {change[0]}:{change[1]} {change[3]}"
        print(f"{name}: {by or 'SURVIVED'} ({len(chosen)} files, {took} s)", flush=True)


def table(kept: Path, places: dict[str, int]) -> str:
    """How many changes of each group were noticed, and by which tests."""
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    rows = []
    for group, number in places.items():
        mine = [one for one in lines if one["group"] == group]
        drawn = len({tuple(one["change"]) for one in mine})
        direct = sum(bool(one["by"]) for one in mine if not one["users"])
        users = sum(bool(one["by"]) for one in mine if one["users"])
        tried = sum(one["users"] for one in mine)
        rows.append(
            f"{group}: {number} places, {drawn} judged, {direct} noticed by tests that import the "
            f"module, {users} more by those of what uses it ({tried} tried), "
            f"{drawn - direct - users} not noticed"
        )
    return "\n".join(rows)


def main() -> int:
    """Sixty errors in each group, unless told otherwise."""
    parser = argparse.ArgumentParser(description="which small errors the tests notice")
    parser.add_argument("--number", type=int, default=60, help="changes in each group")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--group", choices=GROUPS, action="append")
    given = parser.parse_args()
    if side_environment.set_up("mutants", FILE.read_text(encoding="utf-8"), [["-r", str(FILE)]]):
        return 1
    named = ["git", "rev-parse", "--short=10", "HEAD"]
    commit = subprocess.run(named, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folder = KEPT / commit.strip()
    folder.mkdir(parents=True, exist_ok=True)
    copy, kept = Copy(folder), folder / f"seed-{given.seed}.jsonl"
    kept.touch()
    places, drawn = {}, []
    for group in given.group or list(GROUPS):
        places[group], changes = draw(listed(group, folder, copy.root), given.number, given.seed)
        texts = changed(changes, copy.root)
        drawn += [(n, group, *one) for n, one in enumerate(zip(changes, texts, strict=True))]
    # A part of the groups in turn is a sample, too.
    work = [
        (group, change, text) for _, group, change, text in sorted(drawn, key=lambda one: one[0])
    ]
    for users in (False, True):
        judged(kept, work, copy, users)
    print(table(kept, places))
    return 0


if __name__ == "__main__":
    sys.exit(main())
