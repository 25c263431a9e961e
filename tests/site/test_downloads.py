"""What readers take home: notebooks and texts that run where there is nothing but the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest
from tiny_book import ROOT

from tools.site import downloads

KNOWN = downloads.Known(
    {
        "ours-a": {
            "planned": False,
            "tried": 1,
            "verdict": "refuted",
            "witness": "2 < 3",
            "numbers": {"sum": "7/6"},
            "readings": [{"text": "one way", "verdict": "refuted"}],
        }
    },
    {"huang2024": "Huang et al. (2024)"},
)
TEXT = """---
kernelspec: {name: python3, display_name: Python 3}
---
# A page
(place)=
%  a comment
See {cite:t}`huang2024`, {verdict}`ours-a`, {result}`ours-a:sum`, {witness}`ours-a`,
{readings}`ours-a`, {prf:ref}`the lemma <ours-a>`, {math}`x^2`, [a page](other.md#there),
[a table](../book/notation.md), [far](https://x.example/y).

:::{prf:lemma} 1 (ours)
:label: ours-a
:nonumber:

Let {prf:ref}`Lemma 2 <ours-b>` be.
:::

:::{prf:proof}
Clear.
:::

```{code-cell}
---
tags: [remove-input]
mystnb: {figure: {caption: "Figure"}}
---
open("examples/a.txt").read()
```
"""
# Small chapters: the first as a notebook, the second, which reads a file, as text.
CHAPTERS = ("huang2024_s3_setup.ipynb", "huang2024_s4_realizable.md")
RUN = """
import sys
import jupytext
from nbclient import NotebookClient
from ntpcli.report.sockets import sockets

with sockets() as how:
    NotebookClient(jupytext.read(sys.argv[1]), timeout=3000, kernel_name="python3", **how).execute()
"""


def markdown(text: str) -> str:
    """The prose of a notebook."""
    cells = nbformat.reads(text, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def test_a_notebook_speaks_plain_markdown() -> None:
    prose = markdown(downloads.notebook(TEXT, KNOWN))
    for words in (
        "Huang et al. (2024), **✘ refuted**, 7/6, 2 < 3",
        "One way (refuted)., the lemma, $x^2$, [a page](other.ipynb)",
        "a table, [far](https://x.example/y)",
        "**Lemma 1 (ours)** (✘ refuted)\n\nLet Lemma 2 be.",
        "**Proof**\n\nClear.",
    ):
        assert words in prose
    assert not re.search(r"\{[\w:]+\}`|:::|:label:|a comment|\(place\)", prose)


def test_a_notebook_has_neither_outputs_nor_the_settings_of_the_book() -> None:
    made = nbformat.reads(downloads.notebook(TEXT, KNOWN), as_version=4)
    [cell] = [cell for cell in made.cells if cell.cell_type == "code"]
    assert cell.outputs == []
    assert cell.metadata == {"tags": ["remove-input"], "jupyter": {"source_hidden": True}}


def test_a_role_that_names_nothing_is_an_error() -> None:
    with pytest.raises(KeyError, match="ours-b"):
        downloads.notebook("{verdict}`ours-b`", KNOWN)


def test_files_that_a_chapter_reads_travel_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert downloads.carried(TEXT) == {}
    (tmp_path / "examples").mkdir()
    file = tmp_path / "examples/a.txt"
    file.write_text('quote " and\nline\n', encoding="utf-8")
    found = downloads.carried(TEXT)
    assert found == {"examples/a.txt": 'quote " and\nline\n'}
    text = downloads.with_files(TEXT, found)
    first, second = (c for c in jupytext.reads(text, "md:myst").cells if c.cell_type == "code")
    assert "examples/a.txt" in second.source
    file.unlink()
    exec(first.source, {})
    assert file.read_text(encoding="utf-8") == 'quote " and\nline\n'
    file.write_text("the reader's own", encoding="utf-8")
    exec(first.source, {})
    assert file.read_text(encoding="utf-8") == "the reader's own"
    file.write_text("x" * (downloads.LARGEST + 1), encoding="utf-8")
    with pytest.raises(ValueError, match="too large"):
        downloads.carried(TEXT)


def test_authors_are_named_as_in_the_book() -> None:
    entry = "@misc{{k,\n author = {{{}}},\n year = {{1999}}\n}}\n"
    assert downloads.citations(entry.format("Ann One"))["k"] == "One (1999)"
    assert downloads.citations(entry.format("Ann One and Bo Two"))["k"] == "One and Two (1999)"
    assert downloads.citations(entry.format("A One and B Two and C T"))["k"] == "One et al. (1999)"


def test_what_folds_in_the_book_is_open_in_a_notebook() -> None:
    known = downloads.Known({}, {})
    text = "Before.\n\n:::{dropdown} Answers\n1. One.\n2. Two.\n:::\n\nAfter.\n"
    made = downloads.resolve(text, known)
    assert made == "Before.\n\n**Answers**\n\n1. One.\n2. Two.\n\n\nAfter.\n"


def faults(folder: Path) -> list[str]:
    """What is wrong with the notebooks of a folder."""
    found = []
    for path in sorted(folder.glob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        made = nbformat.reads(text, as_version=4)
        nbformat.validate(made)
        prose = markdown(text)
        if re.search(r"\{[\w:-]+\}`|^:{3,}|^:label:", prose, re.MULTILINE):
            found.append(f"{path.name}: MyST is left")
        if str(ROOT) in text or re.search(r"/(?:tmp|home|root|work)/", text):
            found.append(f"{path.name}: a path of the build")
        if any(cell.get("outputs") for cell in made.cells):
            found.append(f"{path.name}: outputs")
    return found


def test_every_chapter_is_there_in_both_forms(book: Path, tmp_path: Path) -> None:
    names = {path.stem for path in (ROOT / "notebooks").glob("*.md")}
    assert {path.stem for path in (book / "downloads").glob("*.ipynb")} == names
    assert {path.stem for path in (book / "downloads").glob("*.md")} == names
    assert faults(book / "downloads") == []
    wrong = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("{verdict}`a` /tmp/x")])
    nbformat.write(wrong, tmp_path / "wrong.ipynb")
    assert len(faults(tmp_path)) == 2


def test_the_button_of_every_chapter_saves_both_forms(book: Path) -> None:
    for path in (ROOT / "notebooks").glob("*.md"):
        html = (book / f"pages/{path.stem}.html").read_text(encoding="utf-8")
        for suffix in (".ipynb", ".md"):
            assert f'<a href="../downloads/{path.stem}{suffix}" download' in html
        assert "_sources" not in html


def run_alone(file: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a download in a folder that holds the installed package and nothing else of ours."""
    if not (folder / "site").exists():
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "ntpcore", folder / "site/ntpcore", ignore=ignore)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NTPCORE", "WIKITEXT"))}
    environment = kept | {"PYTHONPATH": str(folder / "site"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", RUN, str(file)],
        cwd=elsewhere,
        env=environment,
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )


def test_downloads_run_outside_the_repository(book: Path, tmp_path: Path) -> None:
    for name in CHAPTERS:
        done = run_alone(book / "downloads" / name, tmp_path)
        assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "elsewhere/examples/contradiction.txt").is_file()


def test_a_chapter_without_its_files_does_not_run_there(tmp_path: Path) -> None:
    text = "# Page\n\n```{code-cell}\nprint(open('examples/example1.txt').read())\n```\n"
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    assert "FileNotFoundError" in run_alone(tmp_path / "page.md", tmp_path).stderr
