"""`make mutants`: plant small errors in the package, one at a time, and see the tests notice them.

Of the runners that exist, mutmut 3 skips every function with a decorator, which leaves out half of
our data classes, and neither it nor cosmic-ray takes a seeded sample; so this is one of our own. It
takes the tests of a mutant from the lines that each test runs (coverage.py) and runs them in a
fork. What it finds is appended to a file at once: a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import json
import math
import os
import random
import sys
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tools import mutation_result, mutation_trial
from tools.mutation import Mutant, find_mutants, module_name

OPENING = 0.5  # seconds of processor time that another test file takes by itself
LONGEST = 900.0  # seconds of processor time that any fork may take


@dataclass(frozen=True)
class Plan:
    """The table [tool.mutants] of pyproject.toml.

    Attributes:
        root: folder of the project.
        package: the package to change.
        seed: of the samples.
        seconds: of tests of other modules that a mutant may survive, as long as they take traced.
        skip: test files that start processes or look at the built book.
        parts: for each part its files and folders, and the size of its sample; 0 for all mutants.
        asked: for each part the pattern of the test files that may be asked.
        least: the share that the tests must kill.
    """

    root: Path
    package: str
    seed: int
    seconds: float
    skip: frozenset[str]
    parts: dict[str, tuple[tuple[str, ...], int]]
    asked: dict[str, str]
    least: float

    @property
    def build(self) -> Path:
        """Folder of what a later run can use."""
        return self.root / ".build/mutants"

    @property
    def listed(self) -> Path:
        """File of the survivors that are known, with the reason."""
        return self.root / "tests/mutants_survivors.toml"

    @property
    def result(self) -> Path:
        """File of the scores."""
        return self.root / "benchmarks/mutants.json"

    def sources(self, part: str) -> list[Path]:
        """The files of a part."""
        paths = [self.root / path for path in self.parts[part][0]]
        return [
            file
            for path in paths
            for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
        ]

    def tests(self, part: str) -> list[str]:
        """The test files that a part may ask."""
        files = sorted((self.root / "tests").glob(self.asked[part]))
        return [str(file.relative_to(self.root)) for file in files if file.name not in self.skip]


def read_plan(root: Path) -> Plan:
    """The plan of a project."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)["tool"]["mutants"]
    parts = {
        name: (tuple(part["paths"]), part.get("sample", 0)) for name, part in table["parts"].items()
    }
    asked = {name: part.get("tests", "test_*.py") for name, part in table["parts"].items()}
    return Plan(
        root,
        table["package"],
        table["seed"],
        table["seconds"],
        frozenset(table["skip"]),
        parts,
        asked,
        table["least"],
    )


def sample(mutants: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """So many mutants drawn with a seed, in the order drawn, so that the first ones are a sample,
    too; all in their own order for 0."""
    if not 0 < size < len(mutants):
        return mutants
    shuffled = sorted(mutants, key=lambda mutant: mutant.id)
    random.Random(seed).shuffle(shuffled)
    return shuffled[:size]


def digest(*texts: str) -> str:
    """Name of some texts by their content."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def cover(plan: Plan, part: str) -> dict[str, Any]:
    """What each test that a part may ask runs.

    It is kept for each test file as long as this and all that it may import stay.

    Raises:
        SystemExit: a test fails without any mutant.
    """
    folder = plan.build / "coverage"
    folder.mkdir(parents=True, exist_ok=True)
    package = sorted((plan.root / plan.package).rglob("*.py"))
    helpers = [
        file for file in sorted((plan.root / "tests").glob("*.py")) if file.stem[:4] != "test"
    ]
    around = digest(*(file.read_text(encoding="utf-8") for file in (*package, *helpers)))
    seconds: dict[str, float] = {}
    lines: dict[str, dict[int, set[str]]] = {}
    for file in plan.tests(part):
        key = digest(around, (plan.root / file).read_text(encoding="utf-8"))
        kept = folder / f"{Path(file).stem}-{key}.json"
        if not kept.exists():
            print(f"coverage of {file}", flush=True)
            outcome = mutation_trial.in_fork(
                lambda file=file: mutation_trial.coverage_of(plan.root, plan.package, file), LONGEST
            )
            if outcome.answer is None or outcome.answer["failed"]:
                why = ", ".join(outcome.answer["failed"]) if outcome.answer else outcome.error
                sys.exit(f"{file} must pass before anything is changed: {why or 'it stopped'}")
            kept.write_text(json.dumps(outcome.answer), encoding="utf-8")
        found = json.loads(kept.read_text(encoding="utf-8"))
        seconds |= found["seconds"]
        for path, contexts in found["lines"].items():
            for line, names in contexts.items():
                lines.setdefault(path, {}).setdefault(int(line), set()).update(names)
    return {"seconds": seconds, "lines": lines}


def covering(mutant: Mutant, path: str, covered: dict[str, Any], budget: float) -> dict[str, float]:
    """The tests that run a mutant: those of its module, then others up to a budget, faster files
    first.

    Lines that run at import only have no test of their own; they get those of their function, or
    those of the module, among which one may just look at a constant.
    """
    lines, seconds = covered["lines"].get(path, {}), covered["seconds"]

    def contexts(first: int, last: float) -> set[str]:
        return {name for line, names in lines.items() if first <= line <= last for name in names}

    found = contexts(*mutant.lines) or contexts(*mutant.function)
    files = {name.removeprefix(mutation_trial.FROM_FILE) for name in found}
    if not found:
        found = contexts(1, math.inf)
        files = {test.split("::")[0] for test in seconds if is_own(test, mutant.module)}
    tests = {test for test in seconds if test in found or test.split("::")[0] in files}
    fastest: dict[str, float] = {}
    for test in tests:
        file = test.split("::")[0]
        fastest[file] = min(seconds[test], fastest.get(file, math.inf))

    def place(test: str) -> tuple[bool, float, str, float, str]:
        file = test.split("::")[0]
        return not is_own(test, mutant.module), fastest[file], file, seconds[test], test

    taken: dict[str, float] = {}
    opened: set[str] = set()
    spent = 0.0
    for test in sorted(tests, key=place):
        file = test.split("::")[0]
        if not is_own(test, mutant.module):
            spent += seconds[test] + (OPENING if file not in opened else 0)
        if taken and spent > budget:
            break
        taken[test] = seconds[test]
        opened.add(file)
    return taken


def is_own(test: str, module: str) -> bool:
    """Whether a test's file is named for a module: `test_margin` for `margin`, `test_checks_stage1`
    for `stage1_claims`, `test_checks_tian_growth` for `growth_runs`."""
    tested = Path(test.split("::")[0]).stem.removeprefix("test_").removeprefix("checks_")
    tested = tested.removeprefix("tian_")
    return f"_{tested}_" in f"_{module.rsplit('.', 1)[-1]}_"


@cache
def test_text(root: Path, test: str) -> str:
    """Digest of a test's function with its pins and those of fixtures.

    Of its file, where that is what failed or holds no function.
    """
    file, *names = test.split("::")
    text = (root / file).read_text(encoding="utf-8")
    name = names[-1].split("[")[0] if names else ""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            pins = pins_of(root, file)
            fixtures = {key: pin for key, pin in pins.items() if key.startswith("fixture ")}
            return digest(ast.unparse(node), json.dumps([pins.get(names[-1]), fixtures]))
    return digest(text)


@cache
def pins_of(root: Path, file: str) -> dict[str, Any]:
    """What a test file's tests are known to find, by test (`tests/pinned.py`)."""
    pins = root / "tests/pins" / f"{Path(file).stem}.json"
    return json.loads(pins.read_text(encoding="utf-8")) if pins.exists() else {}


def still_true(plan: Plan, record: dict[str, Any], tests: Iterable[str]) -> bool:
    """Whether a record would come out again: a kill as long as the test that killed is the same,
    another one as long as all its tests are."""
    by = record["by"]
    if by is None:
        return bool(record["tests"] == digest(*(test_text(plan.root, test) for test in tests)))
    return (plan.root / by.split("::")[0]).exists() and record["tests"] == test_text(plan.root, by)


def read_outcomes(kept: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Earlier records by mutant and digest of its module; the last line may be broken off."""
    records = {}
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    for line in lines:
        with contextlib.suppress(json.JSONDecodeError):
            record = json.loads(line)
            records[record["id"], record["source"]] = record
    whole = "".join(json.dumps(record) + "\n" for record in records.values())
    fresh = kept.with_suffix(".tmp")
    fresh.write_text(whole, encoding="utf-8")
    fresh.replace(kept)
    return records


def run_part(
    plan: Plan, part: str, covered: dict[str, Any], end: float = math.inf
) -> mutation_result.Part:
    """Try every mutant of a part's sample that no earlier run has tried, until the clock says end.

    What is left then counts as not tried.
    """
    kept = plan.build / "outcomes.jsonl"
    earlier = read_outcomes(kept)
    sources = {module_name(file, plan.root): file for file in plan.sources(part)}
    texts = {name: file.read_text(encoding="utf-8") for name, file in sources.items()}
    mutants = [mutant for name, text in texts.items() for mutant in find_mutants(text, name)]
    chosen = sample(mutants, plan.parts[part][1], plan.seed)
    records, begin = [], time.monotonic()
    for number, mutant in enumerate(chosen, start=1):
        text = texts[mutant.module]
        path = str(sources[mutant.module].relative_to(plan.root))
        tests = covering(mutant, path, covered, plan.seconds)
        old = earlier.get((mutant.id, digest(text)))
        if old is not None and still_true(plan, old, tests):
            records.append(old)
            continue
        if time.monotonic() > end:
            continue
        record = {"id": mutant.id, "source": digest(text), **try_mutant(plan, mutant, text, tests)}
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        records.append(record)
        took = time.monotonic() - begin
        if number % 20 == 0:
            print(f"{part}: {number} of {len(chosen)}, {took:.0f} s", flush=True)
    files = sorted({test.split("::")[0] for test in covered["seconds"]})
    return mutation_result.Part(
        part,
        len(mutants),
        {record["id"]: record["outcome"] for record in records},
        {mutant.id: mutant for mutant in mutants},
        plan.seed,
        digest(*texts.values()),
        digest(*((plan.root / file).read_text(encoding="utf-8") for file in files)),
    )


def try_mutant(plan: Plan, mutant: Mutant, text: str, tests: dict[str, float]) -> dict[str, Any]:
    """Outcome of a mutant: "killed", "timeout", "survived", or "uncovered" if no test runs it."""
    by, outcome, begin = None, "uncovered", _processor()
    if tests:
        changed = mutant.apply(text)
        done = mutation_trial.in_fork(
            lambda: mutation_trial.trial(plan.root, mutant.module, changed, tests), LONGEST
        )
        if done.error:
            sys.exit(f"{mutant.id} could not be tried: {done.error}")
        if done.timed_out:
            outcome = "timeout"
        elif done.answer is None:  # the interpreter itself gave up
            outcome = "killed"
        else:
            by = done.answer["by"]
            outcome = "survived" if by is None else "killed"
    texts = [test_text(plan.root, test) for test in tests]
    return {
        "outcome": outcome,
        "by": by,
        "tests": digest(*texts) if by is None else test_text(plan.root, by),
        "seconds": round(_processor() - begin, 2),
    }


def _processor() -> float:
    """Processor time of this process and its forks so far."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def main(arguments: list[str] | None = None) -> int:
    """Run the parts named, or all; 1 if too few mutants are killed or the list is not right."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("parts", nargs="*", help="parts to run; all if none is named")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--no-preload", action="store_true", help="import nothing before forking")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop trying after these")
    options = parser.parse_args(arguments)
    end = time.monotonic() + 60 * options.minutes
    plan = read_plan(options.root.resolve())
    if unknown := sorted(set(options.parts) - set(plan.parts)):
        parser.error(f"no part {unknown[0]!r}; the parts are {', '.join(plan.parts)}")
    plan.build.mkdir(parents=True, exist_ok=True)
    os.environ["NUMBA_CACHE_DIR"] = str(plan.build / "numba")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("MPLBACKEND", "agg")
    sys.pycache_prefix, sys.dont_write_bytecode = str(plan.build / "pycache"), False
    if not options.no_preload:
        mutation_trial.preload()
    if wrong := [name for name in sys.modules if name.split(".")[0] == plan.package]:
        sys.exit(f"{wrong[0]} is loaded before it can be changed")
    faults = []
    for part in options.parts or plan.parts:
        done = run_part(plan, part, cover(plan, part), end)
        faults += mutation_result.record(plan.result, plan.listed, done, plan.least)
    for fault in faults:
        print(fault)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
