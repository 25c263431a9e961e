"""A whole project in miniature: two notebooks, three claims, the real tools. Builds in seconds."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from warm import Warm

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    "Makefile",
    "_config.yml",
    "book/_ext",
    "book/_static",
    "ntpcore/__init__.py",
    "ntpbook/__init__.py",
    "ntpverdicts",
    "package-lock.json",
    "pyproject.toml",
    "requirements.txt",
    "tools",
)

CATALOGUE = '''"""Three claims."""

from ntpverdicts.claims import Claim

PAPERS = {"huang2024": "Huang, Liang, Yang (2024)", "ours": "This book"}
EDITIONS = {"huang2024": "preprint"}
SHORT = {"huang2024": "Huang et al.", "ours": "this book"}
SEARCHED = {"huang2024": "huang liang yang", "ours": "ours this book"}
CATALOGUE = (
    Claim("ours-one", "Theorem (ours)", "one is one", "this book", "first"),
    Claim("ours-two", "Theorem (ours), two", "two is <three>", "this book", "second",
          ("ours-one",)),
    Claim("huang2024-lem-1", "Lemma 1", "not yet", "Appendix B"),
)


def find_check(label: str) -> None:
    """The tools import it; a build reads what checks answered and never asks for one."""
'''

CHECKS = '''"""Checks of the tiny book."""

from ntpverdicts.claims import Check, Control, Verdict
from ntpcore.helper import instances


def check_ours_one(seed: int) -> Check:
    """One is one."""
    control = Control("One was called two.", Verdict.REFUTED, Verdict.REFUTED)
    return Check("ours-one", Verdict.NOT_CONTRADICTED, instances(seed), "numbers",
                 "All were equal.", numbers={"sum": "7/6"}, parameters={"seed": seed},
                 controls=(control,), repeat=f"ntpcore verify ours-one --seed {seed}")


def check_ours_two() -> Check:
    """Two is three."""
    control = Control("Three was called two.", Verdict.REFUTED, Verdict.REFUTED)
    return Check("ours-two", Verdict.REFUTED, 1, "numbers", "They differ.", witness="2 < 3",
                 controls=(control,))
'''

TESTS = '''"""Tests of the tiny book, which nobody runs."""


def test_ours_one_by_hand(): ...


def test_ours_two_by_hand(): ...
'''

HELPER = '''"""Used by the checks only, and so by the pages indirectly."""


def instances(seed: int) -> int:
    """How many numbers are tried."""
    return seed + 1
'''

PAGE = """---
jupytext: {{text_representation: {{extension: .md, format_name: myst}}}}
kernelspec: {{name: python3, display_name: Python 3}}
---

# The {name} page

```{{code-cell}}
---
tags: [parameters, remove-input]
---
seed = 0
```

```{{code-cell}}
---
tags: [remove-input]
---
from ntpbook import tiny
```

:::{{prf:theorem}} {number} (ours)
:label: {label}
:nonumber:

For every number $x$ we have $x = x$.
:::

**In words.** A sentence about {{verdict}}`ours-one` and {{verdict}}`huang2024-lem-1`, long enough
for a page that has something to say, with the number {{result}}`ours-one:sum`.

## Verdict

```{{code-cell}}
tiny.{call}
```
"""

PREFACE = """# Preface

This is a small book, which has a few lines of text so that nobody takes its page for an empty one.
The first theorem is {verdict}`ours-one`, the second {verdict}`ours-two`.

## All claims

They stand in the [ledger](claims.md).
"""

LEDGER = """# Table of claims

All claims of this small book, with counts and what rests on what.

(legend)=
## Ledger

```{ledger}
```

```{graph-legend}
```

```{dependencies} ours
```

```{claims-schema}
```
"""

TOC = """format: jb-book
root: book/preface
chapters:
  - file: pages/first
  - file: pages/second
  - file: book/claims
"""


def make_tiny_book(folder: Path) -> Path:
    """Write the project into a folder, which must not exist, and give it back."""
    for name in COPIED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignore)
        else:
            shutil.copy(ROOT / name, folder / name)
    texts = {
        "ntpbook/catalogue.py": CATALOGUE,
        "ntpcore/helper.py": HELPER,
        "ntpcore/unused.py": '"""Used by no page."""\n',
        "ntpbook/tiny.py": CHECKS,
        "notebooks/first.md": PAGE.format(
            name="first", number=1, label="ours-one", call="check_ours_one(seed)"
        ),
        "notebooks/second.md": PAGE.format(
            name="second", number=2, label="ours-two", call="check_ours_two()"
        ),
        "book/preface.md": PREFACE,
        "book/claims.md": LEDGER,
        "tests/test_tiny.py": TESTS,
        "_toc.yml": TOC,
        "references.bib": "@misc{someone, title={A title}, author={Some One}, year={2026}}\n",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    return folder


def build_command(*arguments: str) -> list[str]:
    """The command behind `make book`, with this Python."""
    return [sys.executable, "-m", "tools.pipeline.build", *arguments]


def clean_environment(**variables: str) -> dict[str, str]:
    """This environment without what an outer make or build left, and some variables of ours."""
    inherited = ("MAKE", "MFLAGS", "NTPCORE", "PYTHON", "JUPYTER", "SEED", "PAGE", "JOBS")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(inherited)}
    if folder := kept.get("WIKITEXT_DIR"):  # of builds in other folders, too
        kept["WIKITEXT_DIR"] = str(ROOT / folder)
    return kept | {"PYTHONDONTWRITEBYTECODE": "1"} | variables


# What a build loads of others and needs a second for.
SLOW = (
    "doit.runner", "fontTools.subset", "fontTools.ttLib.tables.otTables", "jsonschema",
    "jupyter_book.sphinx", "jupytext", "myst_nb.sphinx_ext", "papermill", "pydata_sphinx_theme",
    "rich.progress", "sphinx.application", "sphinx.builders.html", "sphinx_book_theme",
    "sphinx_comments", "sphinx_copybutton", "sphinx_design", "sphinx_external_toc",
    "sphinx_jupyterbook_latex", "sphinx_proof", "sphinx_thebe", "sphinx_togglebutton",
    "sphinxcontrib.bibtex", "tinycss2",
)  # fmt: skip


@cache
def _warm() -> Warm:
    """A Python for builds, whose own environment is that of `kernel.isolate` from the start."""
    fixed = {"PYTHONHASHSEED": "0", "PYTHONNOUSERSITE": "1", "OPENBLAS_NUM_THREADS": "1"}
    warm = Warm(SLOW, clean_environment(**fixed, LC_ALL="C.UTF-8", TZ="UTC"))
    atexit.register(warm.close)
    return warm


def build(
    folder: Path, *arguments: str, parameters: dict[str, str] | None = None, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Build the project in a folder as `make book` would, and give back what it said.

    In a fork of a Python that has loaded what others wrote; `build_anew` takes a new one.
    """
    variables = {**_variables(parameters or {}, settings), "PYTHONHASHSEED": "0"}
    return _warm().run(folder, build_command(*arguments)[1:], clean_environment(**variables))


def _variables(given: dict[str, str], settings: dict[str, str]) -> dict[str, str]:
    """What make hands over in the environment."""
    return {**given, **settings, "NTPCORE_VARIABLES": " ".join([*given, *settings])}


def build_anew(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own from the start, as make does it."""
    return subprocess.run(
        build_command(),
        cwd=folder,
        env=clean_environment(**_variables({}, {}), **variables),
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
