"""`make quick`: lint, types of what changed, and the tests that reach it, within a minute.

What changed is told by git: all that differs from the last commit, or, where nothing does, the last
commit itself. A test is run if a changed file is among those that it imports, directly or through
others, or if it names the file. The nearest come first; what has not had its turn when the minute
is over waits for `make test`, and so do tests that need the built site or a browser.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from ntpcore.verdicts.imports import Package, imported_names
from tools.quality.lint import lint_page

ROOT = Path(__file__).resolve().parents[2]
OURS = ("ntpcore", "ntpbook", "tools")
LATER = "not site and not browser and not slow"
NO_TEST = 5  # what pytest ends with when it ran none
SECONDS = 40  # for tests; lint and types take some of the minute before, and what runs ends after


def changed() -> list[Path]:
    """Files that differ from the last commit, or those of the last commit."""
    listed = _git("diff", "--name-only", "HEAD") + _git("ls-files", "-o", "--exclude-standard")
    names = listed or _git("diff", "--name-only", "HEAD~1", "HEAD")
    return sorted({Path(name) for name in names})


def _git(*words: str) -> list[str]:
    """Lines that git prints."""
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.splitlines()


def reaching(files: list[Path], root: Path) -> list[Path]:
    """The test files that import one of these, or name it, or are among them; nearest first."""
    package, wanted = Package(OURS, root), set(files)
    helpers = {path.stem: path for path in (root / "tests/helpers").glob("*.py")}
    found = dict[Path, int]()
    for path in sorted((root / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        names = imported_names(ast.parse(text))
        used = [helpers[name] for name in names if name in helpers]
        for helper in used:
            names |= imported_names(ast.parse(helper.read_text(encoding="utf-8")))
        test = path.relative_to(root)
        own = {test, *(helper.relative_to(root) for helper in used)}
        if own & wanted or any(file.as_posix() in text for file in files):
            found[test] = 0
        else:
            near = (at for at, ring in enumerate(package.rings(names), 1) if ring & wanted)
            if (distance := next(near, None)) is not None:
                found[test] = distance
    return sorted(found, key=lambda test: found[test])


def main() -> int:
    """Run all of it, and stop at the first that fails."""
    files = [file for file in changed() if (ROOT / file).is_file()]
    python = [file for file in files if file.suffix == ".py"]
    typed = [str(file) for file in python if file.parts[0] in ("ntpcore", "ntpbook")]
    steps = [["ruff", "check", "--quiet"], ["ruff", "format", "--check", "--quiet"]]
    steps += [["mypy", "--no-error-summary", *typed]] if typed else []
    tests = [str(test) for test in reaching(files, ROOT)]
    minute = ["-p", "tools.quality.minute", "--seconds", str(SECONDS)]
    steps += [["pytest", *minute, "-q", "-n", "2", "-m", LATER, *tests]] if tests else []
    pages = [file for file in files if file.parts[0] == "notebooks" and file.suffix == ".md"]
    print(f"{len(files)} changed files, {len(tests)} test files reach them", flush=True)
    for step in steps:
        code = subprocess.run([sys.executable, "-m", *step], cwd=ROOT, check=False).returncode
        if code not in (0, NO_TEST if step[0] == "pytest" else 0):
            return code
    return int(any(lint_page(ROOT / page) for page in pages))


if __name__ == "__main__":
    sys.exit(main())
