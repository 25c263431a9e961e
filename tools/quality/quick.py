"""`make quick`: lint, types of what changed, and the tests that reach it, within a minute.

What changed is told by git: all that differs from the last commit, or, where nothing does, the last
commit itself. A changed file reaches a test file that imports it, directly or through others, or
that names it. Of these, pytest-testmon leaves out what it has seen to execute nothing that changed;
it keeps its record in `.build`, and a fresh clone has none. Some test files run whatever the record
says: those that start processes, which it does not see, and those that reach what no tracer sees,
such as compiled loops, rows of claims, and pages. Changed pages are executed, too. Checks are found
by their labels, which no import tells: those of a chapter run when something changed that the
chapter imports.

The nearest tests come first; what has not had its turn when the minute is over waits for
`make test`, and so do tests that need the built site or a browser. `python -m tools.quality.quick
tests` runs all tests that a change reaches, without a limit, and nothing else, for `make mutants`.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ntpbook.catalogue import CATALOGUE, CHAPTERS
from ntpverdicts.imports import Package, imported_names
from tools.pipeline.consistency import mismatches
from tools.pipeline.source import OURS as PACKAGES
from tools.quality.lint import lint_page

ROOT = Path(__file__).resolve().parents[2]
OURS = (*PACKAGES, "tools")
LATER = "not site and not browser and not slow"
NO_TEST = 5  # what pytest ends with when it ran none
SECONDS = 40  # for tests; lint and types take some of the minute before, and what runs ends after
COMPILED = "ntpcore.compiled"  # whoever imports it has loops that no tracer sees
STARTING = ("multiprocessing", "subprocess")  # whoever imports these starts processes
ROWS = "claims.toml"
READER = "ntpbook.catalogue"  # reads the rows of all chapters
RECORD = Path(".build/testmondata")
EVERY_CHECK = "tests/ntpbook/test_every_check.py"
# What every check is asked by, and with.
ASKING = frozenset(
    Path(one)
    for one in (
        EVERY_CHECK,
        "tests/helpers/every_check.py",
        "tests/small.toml",
        "tests/verdicts.toml",
    )
)
SOUND = "test_a_check_gives_the_verdict_of_the_book_and_notices_its_planted_errors"


@dataclass(frozen=True)
class Reached:
    """A test file that a change reaches.

    Attributes:
        path: of the test file, or of one test in it, relative to the project.
        distance: how many imports lie between it and the change.
        traced: whether a record of what it executed tells what it needs.
        by: what it reaches, of the modules that stand for the changed files.
    """

    path: Path
    distance: int
    traced: bool
    by: frozenset[Path] = frozenset()


def changed() -> list[Path]:
    """Files that differ from the last commit, or those of the last commit."""
    listed = _git("diff", "--name-only", "HEAD") + _git("ls-files", "-o", "--exclude-standard")
    names = listed or _git("diff", "--name-only", "HEAD~1", "HEAD")
    return sorted({Path(name) for name in names})


def touches_proofs(files: Iterable[Path]) -> bool:
    """Whether a row, a check, or a page changed, which have to agree on the steps of proofs."""
    return any(file.parts[0] in ("notebooks", "ntpbook") for file in files)


def _git(*words: str) -> list[str]:
    """Lines that git prints."""
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.splitlines()


def modules_for(file: Path) -> set[Path]:
    """The modules that stand for a file: itself, or those that read the rows of a chapter."""
    if file.name == ROWS:
        return {file, Path("ntpbook/catalogue.py"), file.with_name("checks.py")}
    return {file}


def is_traced(file: Path, root: Path) -> bool:
    """Whether a tracer of Python sees what is executed of a file."""
    if file.suffix != ".py" or not (root / file).is_file():
        return False
    names = imported_names(ast.parse((root / file).read_text(encoding="utf-8")))
    return COMPILED not in names


def reaching(files: Iterable[Path], root: Path) -> list[Reached]:
    """The test files that import one of these, or name it, or are among them; nearest first."""
    files = list(files)
    package = Package(OURS, root)
    wanted = {module for file in files for module in modules_for(file)}
    seen = {file for file in files if is_traced(file, root)}
    helpers = {path.stem: path for path in (root / "tests/helpers").glob("*.py")}
    found = []
    for path in sorted((root / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        names, own = _with_helpers(text, helpers)
        mine = {path.relative_to(root), *(helper.relative_to(root) for helper in own)}
        rings = list(package.rings(names))
        named = {file for file in files if file.as_posix() in text}
        reached = (set[Path]().union(*rings) | mine) & wanted | named
        if reached:
            near = (at for at, ring in enumerate(rings, 1) if ring & wanted)
            all_rows = names & {READER} and {ROWS} & {file.name for file in files}
            distance = 0 if mine & wanted or named or all_rows else next(near)
            traced = reached <= seen and not names & set(STARTING)
            found.append(Reached(path.relative_to(root), distance, traced, frozenset(reached)))
    if (root / EVERY_CHECK).is_file():
        found = [one for one in found if one.path != Path(EVERY_CHECK)]
        asked = frozenset(wanted & ASKING)
        whole = [Reached(Path(EVERY_CHECK), 0, traced=False, by=asked)]
        found += whole if asked else checks_reached(wanted, seen, root, package)
    return sorted(found, key=lambda one: one.distance)


def checks_reached(
    wanted: set[Path], seen: set[Path], root: Path, package: Package
) -> Iterator[Reached]:
    """The checks of every chapter that imports one of these, each as a test of its own."""
    rows = tomllib.loads((root / "tests/small.toml").read_text(encoding="utf-8"))
    for chapter in CHAPTERS:
        own = sorted((root / "ntpbook" / chapter.folder).glob("*.py"))
        names = {f"ntpbook.{chapter.folder.replace('/', '.')}.{path.stem}" for path in own}
        rings = list(package.rings(names))
        reached = set[Path]().union(*rings) & wanted
        distance = next((at for at, ring in enumerate(rings) if ring & wanted), None)
        for claim in CATALOGUE if distance is not None else ():
            if claim.page == chapter.page and "asked_in" not in rows.get(claim.label, {}):
                path = Path(f"{EVERY_CHECK}::{SOUND}[{claim.label}]")
                yield Reached(path, distance or 0, reached <= seen, frozenset(reached))


def unreached(files: Iterable[Path], found: Iterable[Reached]) -> list[Path]:
    """The changed files of code or settings that no test of these reaches.

    Scripts of pages and extensions of the book are among them: they act in the built site alone.
    """
    reached = set[Path]().union(*(one.by for one in found))
    return [file for file in files if file.suffix != ".md" and not modules_for(file) & reached]


def _with_helpers(text: str, helpers: dict[str, Path]) -> tuple[set[str], set[Path]]:
    """What a test file imports, itself and by its helpers, and these helpers."""
    names, own = imported_names(ast.parse(text)), set[Path]()
    while new := {helpers[name] for name in names if name in helpers} - own:
        own |= new
        for helper in new:
            names |= imported_names(ast.parse(helper.read_text(encoding="utf-8")))
    return names, own


def test_steps(found: list[Reached], *options: str) -> list[list[str]]:
    """The calls of pytest: nearest first, and by the record where that knows everything."""
    steps = []
    for near in (True, False):
        for traced, select in ((False, "--testmon-noselect"), (True, "--testmon")):
            tests = [one for one in found if (one.distance <= 1, one.traced) == (near, traced)]
            if tests:
                names = [str(one.path) for one in tests]
                steps.append(["pytest", "-q", "-m", LATER, *options, select, *names])
    return steps


def main(words: list[str]) -> int:
    """Run all of it, and stop at the first that fails."""
    os.chdir(ROOT)
    RECORD.parent.mkdir(exist_ok=True)
    os.environ["TESTMON_DATAFILE"] = str(ROOT / RECORD)
    files = changed()
    there = [file for file in files if file.is_file()]
    found = reaching(files, ROOT)
    if words == ["tests"]:
        return run(test_steps(found, "-x", "-n", "0"))
    typed = [str(file) for file in there
             if file.suffix == ".py" and file.parts[0] in PACKAGES]  # fmt: skip
    pages = [file.stem for file in there if file.parent == Path("notebooks")]
    print(f"{len(files)} changed files, {len(found)} test files reach them", flush=True)
    for file in unreached(there, found):
        print(
            f"{file}: no test reaches it by imports or by its name; make test runs all", flush=True
        )
    if wrong := mismatches(CATALOGUE):
        print("\n".join(wrong))
        return 1
    if any(lint_page(Path("notebooks") / f"{page}.md") for page in pages):
        return 1
    steps = [["ruff", "check", "--quiet"], ["ruff", "format", "--check", "--quiet"]]
    steps += [["mypy", "--no-error-summary", *typed]] if typed else []
    steps += [["tools.pipeline.proofs"]] if touches_proofs(there) else []
    steps += [["tools.quality.page", *pages]] if pages else []
    if code := run(steps):
        return code
    end = time.monotonic() + SECONDS
    for step in test_steps(found, "-p", "tools.quality.time_limit", "-n", "2"):
        left = end - time.monotonic()
        if left <= 0:
            print("the minute is over; make test runs the rest")
            return 0
        if code := run([[*step, "--seconds", f"{left:.0f}"]]):
            return code
    return 0


def run(steps: list[list[str]]) -> int:
    """Run modules of Python one after another, up to the first that fails."""
    for step in steps:
        code = subprocess.run([sys.executable, "-m", *step], check=False).returncode
        if code not in (0, NO_TEST if step[0] == "pytest" else 0):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
