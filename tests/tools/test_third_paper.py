"""A third paper by what CONTRIBUTING says: five claims of Euler's, and no other chapter."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from euler import CHECKS, CLAIMS
from tiny_book import ROOT, build, clean_environment, make_tiny_book

PAPER = "euler1747"
PAGE = "euler1747_numbers"
LABELS = ("thm-1", "thm-2", "lem-1", "prop-1", "cor-1")
# What is added to each table of the catalogue.
ADDED = {
    "PAPERS": '"euler1747": "Euler (1747)"',
    "SHORT": '"euler1747": "Euler"',
    "SEARCHED": '"euler1747": "leonhard euler 1747 amicable"',
    "EDITIONS": '"euler1747": "Opera omnia"',
}
CHAPTER = f'CHAPTERS = (\n    Chapter("{PAPER}/numbers", "{PAGE}"),\n)\n'
BIB = "@article{euler1747, title={Amicable numbers}, author={Euler, L.}, year={1747}}\n"
HEAD = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---

# Numbers of Euler's

Five statements about primes and divisors, each with a check that runs when this page is built. The
first of them is {verdict}`euler1747-thm-1`.

```{code-cell}
---
tags: [parameters, remove-input]
---
seed = 1747
```

```{code-cell}
---
tags: [remove-input]
---
from ntpbook.euler1747.numbers import checks
```
"""
STATEMENT = """
:::{{prf:property}} {number}
:label: euler1747-{label}
:nonumber:

Here stands, with every hypothesis, what Euler says of the numbers.
:::

**In words.** What that means for whoever adds up divisors.
{proof}
```{{code-cell}}
checks.check_euler1747_{name}()
```
"""
PROOF = """
:::{prf:proof}
(step-euler1747-lem-1-factors)=
A divisor of a product of two numbers without a common factor is a product of two divisors.
:::
"""


def keyed(text: str) -> str:
    """Claims and checks under the key that the paper has in the bibliography."""
    named = re.sub(r"\beuler-", f"{PAPER}-", text).replace("check_euler_", f"check_{PAPER}_")
    return named.replace("from verdicts.", "from ntpverdicts.")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tools and of the program with the paper in it, and no other chapter."""
    folder = make_tiny_book(tmp_path_factory.mktemp("third") / "book")
    for name in ("ntpcli", "ntpcore"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignore, dirs_exist_ok=True)
    for name in ("notebooks/first.md", "notebooks/second.md", "ntpbook/tiny.py"):
        (folder / name).unlink()
    catalogue = (ROOT / "ntpbook/catalogue.py").read_text(encoding="utf-8")
    for table, row in ADDED.items():
        assert catalogue.count(f"\n{table} = {{") == 1
        catalogue = catalogue.replace(f"\n{table} = {{", f"\n{table} = {{{row}, ")
    catalogue, times = re.subn(r"^CHAPTERS = \(\n.*?^\)\n", CHAPTER, catalogue, flags=re.M | re.S)
    assert times == 1
    statements = [
        STATEMENT.format(
            number=label.replace("-", " "),
            label=label,
            name=label.replace("-", "_"),
            proof=PROOF if label == "lem-1" else "",
        )
        for label in LABELS
    ]
    tests = [f"def test_{PAPER}_{one.replace('-', '_')}_by_hand(): ...\n" for one in LABELS]
    preface = (folder / "book/preface.md").read_text(encoding="utf-8")
    texts = {
        "ntpbook/catalogue.py": catalogue,
        f"ntpbook/{PAPER}/__init__.py": '"""Chapters on Euler (1747)."""\n',
        f"ntpbook/{PAPER}/numbers/__init__.py": '"""Amicable numbers."""\n',
        f"ntpbook/{PAPER}/numbers/claims.toml": keyed(CLAIMS),
        f"ntpbook/{PAPER}/numbers/checks.py": keyed(CHECKS),
        f"notebooks/{PAGE}.md": HEAD + "".join(statements),
        "tests/test_tiny.py": "\n\n".join(tests),
        "book/preface.md": re.sub(r"`ours-\w+`", f"`{PAPER}-lem-1`", preface),
        "book/claims.md": (folder / "book/claims.md")
        .read_text(encoding="utf-8")
        .replace("{dependencies} ours", f"{{dependencies}} {PAPER}"),
        "_toc.yml": f"format: jb-book\nroot: book/preface\nchapters:\n  - file: pages/{PAGE}\n"
        "  - file: book/claims\n",
        "references.bib": BIB,
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_its_claims_are_judged_and_published(book: Path) -> None:
    document = json.loads((book / "_build/html/claims.json").read_text(encoding="utf-8"))
    found = {row["label"]: row["verdict"] for row in document["claims"]}
    assert found == {
        "euler1747-thm-1": "not contradicted",
        "euler1747-thm-2": "not contradicted",
        "euler1747-lem-1": "proved",
        "euler1747-prop-1": "refuted",
        "euler1747-cor-1": "proved",
    }
    assert all(row["edition"].startswith("Opera omnia") for row in document["claims"])


def test_its_page_the_ledger_and_the_search_know_it(book: Path) -> None:
    site = book / "_build/html"
    page = (site / f"pages/{PAGE}.html").read_text(encoding="utf-8")
    assert page.count('class="ntp-check') >= len(LABELS)
    assert 'id="step-euler1747-lem-1-factors"' in page
    assert "Euler (1747)" in (site / "book/claims.html").read_text(encoding="utf-8")
    assert '"Euler"' in (site / "_static/statements.js").read_text(encoding="utf-8")
    assert (site / "_static/previews/euler1747-lem-1.js").is_file()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["claims", "--paper", PAPER], "5 of 5 claims: 2 proved (2 by hand), 2 not contradicted"),
        (["verify", f"{PAPER}-prop-1", "--json"], '"refuted"'),
    ],
)
def test_the_program_knows_it(book: Path, words: list[str], expected: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ntpcore", *words],
        cwd=book,
        env=clean_environment(PYTHONPATH=str(book)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert expected in done.stdout
