"""`make mutants`: small errors planted in the code, drawn by a seed, and which a test notices.

cosmic-ray lists all changes that it knows of a group of modules. Of the changes at one place one is
drawn, so that a sum does not count a dozen times; each is made in a copy of the last commit. A
change is noticed if one of the tests fails that import the changed module directly (or, where none
does, a module that imports it), and passes without the change, run in the same order. Tests of the
built site, of a browser, of `tests/verdicts.toml` and slow ones are left out. So a change that
survives may still be noticed by a test of what uses the module.

To be quick, each test file runs in a process split off from one that has loaded the libraries, the
module's own file first; in a file those tests come first that speak of the changed function. The
groups take turns, and what is judged is kept: a stopped run goes on, and its part is a sample, too.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib.util
import inspect
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
TEST_SECONDS = 100  # who takes longer has noticed, if not without the change, too
SECONDS = 600  # for the tests of one file, as nothing stops a compiled loop
PLACES = "SELECT module_path, start_pos_row, start_pos_col, operator_name, occurrence"
COMPILED = "ntpcore.compiled"
# Loaded once, before processes are split off; nothing of ours is among them.
LOADED = (
    *("hypothesis", "matplotlib.pyplot", "mpmath", "networkx", "numba", "numpy", "pytest"),
    *("scipy.optimize", "scipy.sparse.csgraph", "sympy"),
)
MUTATE = """
import json, sys
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
changes = json.load(sys.stdin)
read = lambda path: open(path, encoding="utf-8").read()
json.dump([mutate_code(read(p), get_operator(o)(), n) for p, _, _, o, n in changes], sys.stdout)
"""
Change = tuple[str, int, int, str, int]  # module, row, column, operator, occurrence


class Watch:
    """Lets the tests come first that speak of a function, and ends with one; names what failed."""

    def __init__(self, failed: Path, name: str, last: str = "") -> None:
        self.failed, self.last = failed, last
        self.name = name.removeprefix("_").removeprefix("check_")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Sort tests, and leave those after the last one out."""
        items.sort(key=lambda item: self.name not in _words(item))
        ids = [item.nodeid for item in items]
        if self.last in ids:
            items[:] = items[: ids.index(self.last) + 1]

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write down which test failed."""
        if report.failed:
            self.failed.write_text(report.nodeid, encoding="utf-8")


def _words(item: Any) -> str:
    """The name of a test and what stands in it."""
    text: str = item.nodeid + inspect.getsource(item.function)
    return text.replace("-", "_")


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


def definition(text: str, row: int) -> str:
    """The name of the innermost function around a line, or nothing."""
    inside = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.lineno <= row <= (node.end_lineno or 0)
    ]
    return max(inside, key=lambda node: node.lineno).name if inside else ""


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

    def run(self, test: str, watch: Watch) -> int:
        """What pytest ends with on a file, in a process of its own."""
        watch.failed.unlink(missing_ok=True)
        child = os.fork()
        if not child:
            code = 3
            try:
                code = self._in_child(test, watch)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return 124

    def _in_child(self, test: str, watch: Watch) -> int:
        """Forget what was loaded of ours, and run pytest."""
        os.setsid()
        log = os.open(self.folder / "last.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(self.root)
        sys.path[:] = [str(self.root), *(one for one in sys.path if one not in ("", str(ROOT)))]
        for name in [name for name in sys.modules if name.split(".")[0] in OURS]:
            del sys.modules[name]
        words = ["-x", "-q", "-n", "0", "-m", LATER, "-p", "no:cacheprovider", test]
        words += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is loaded already
        words += [f"--timeout={TEST_SECONDS}", f"--basetemp={self.folder / 'tmp'}"]
        pytest: Any = sys.modules["pytest"]
        return int(pytest.main(words, [watch]))

    def _fill(self, module: Path | None) -> None:
        """The cache of compiled loops, without those that may hold a constant of a module."""
        shutil.rmtree(self.cache, ignore_errors=True)
        self.base.mkdir(exist_ok=True)
        shutil.copytree(self.base, self.cache)
        for stem, files in self.compiled.items():
            if module in files:
                for old in self.cache.rglob(f"{stem}.*"):
                    old.unlink()

    def judge(self, module: str, text: str, test: str, name: str) -> str | None:
        """The test of a file that notices a changed module, or None; the module is put back."""
        path, failed = self.root / module, self.folder / "failed.txt"
        original, stamp = path.read_bytes(), path.stat()
        self._fill(Path(module))
        try:
            path.write_text(text, encoding="utf-8")
            code = self.run(test, Watch(failed, name))
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
        if code in (0, NO_TEST):
            return None
        found = failed.read_text(encoding="utf-8") if failed.exists() else test
        self._fill(None)
        if self.run(test, Watch(failed, name, found)):
            print(f"does not count, as it fails without a change: {found}", flush=True)
            return None
        shutil.rmtree(self.base)
        self.cache.rename(self.base)
        return found


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
    if not session.exists():
        subprocess.run([tool, "init", str(config), f"{session}.new"], cwd=copy, check=True)
        Path(f"{session}.new").rename(session)
    return session


def changed(changes: list[Change], copy: Path) -> list[str]:
    """The text of the module after each change."""
    command = [str(side_environment.python_of("mutants")), "-c", MUTATE]
    done = subprocess.run(
        command, cwd=copy, input=json.dumps(changes), capture_output=True, text=True, check=True
    )
    texts: list[str] = json.loads(done.stdout)
    return texts


def judged(group: str, change: Change, text: str, copy: Copy) -> dict[str, Any]:
    """What became of a change: the test that noticed it, if one did."""
    started, module = time.monotonic(), Path(change[0])
    original = (copy.root / module).read_text(encoding="utf-8")
    tests = tests_of(module, copy.root)
    by = None
    for test in sorted(tests, key=lambda one: f"test_{module.stem}." not in one):
        by = copy.judge(change[0], text, test, definition(original, change[1]))
        if by:
            break
    diff = "\n".join(difflib.unified_diff(original.split("\n"), text.split("\n"), n=2))
    took = round(time.monotonic() - started)
    print(f"{group}: {change[0]}:{change[1]} {change[3]}: {by or 'not noticed'} ({took} s)")
    print("" if by else diff, flush=True)
    return {"group": group, "change": change, "by": by, "seconds": took, "diff": diff}


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
    done = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    for group in given.group or list(GROUPS):
        places[group], changes = draw(listed(group, folder, copy.root), given.number, given.seed)
        texts = changed(changes, copy.root)
        drawn += [(n, group, *one) for n, one in enumerate(zip(changes, texts, strict=True))]
    # The groups take turns, so that a part is a sample of each, too.
    for _, group, change, text in sorted(drawn, key=lambda one: one[0]):
        if not any((one["group"], tuple(one["change"])) == (group, change) for one in done):
            done.append(judged(group, change, text, copy))
            with kept.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(done[-1]) + "\n")
    for group, number in places.items():
        mine = [bool(one["by"]) for one in done if one["group"] == group]
        drew = f"drawn from {number} places with seed {given.seed}"
        print(f"{group}: {sum(mine)} of {len(mine)} noticed, {drew}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
