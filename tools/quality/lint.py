"""`make lint`: ruff on the code, ruff on the cells of the pages, types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jupytext

ROOT = Path(__file__).resolve().parents[2]
# On pages only what is wrong in any code: cells end in bare names, and imports follow parameters.
PAGE_RULES = ("--select=F,E9,B,UP,SIM", "--ignore=B018", "--quiet")


def lint_page(path: Path) -> int:
    """Run ruff on the code of one text notebook, as the script that Jupytext makes of it."""
    script = jupytext.writes(jupytext.read(path), fmt="py:percent")
    name = f"--stdin-filename={path.with_suffix('.py').name}"
    command = [sys.executable, "-m", "ruff", "check", *PAGE_RULES, name, "-"]
    return subprocess.run(command, input=script, text=True, check=False).returncode


def main() -> int:
    """Run everything, and fail if anything fails."""
    with subprocess.Popen(  # the longest, on a processor of its own; it speaks last
        [sys.executable, "-m", "mypy"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as types:
        codes = [
            subprocess.run([sys.executable, "-m", "ruff", *words], cwd=ROOT, check=False).returncode
            for words in (["check"], ["format", "--check"])
        ]
        codes += [lint_page(path) for path in sorted((ROOT / "notebooks").glob("*.md"))]
        said, _ = types.communicate()
    sys.stdout.write(said.decode("utf-8", "replace"))
    return int(any(codes) or types.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
