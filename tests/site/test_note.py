"""Tests of the note: MyST as LaTeX, numbers from the build, and that LaTeX sets it."""

from __future__ import annotations

import shutil

import pytest
import yaml

from tools.site import note

PAGE = r"""---
jupytext: {}
---

# A title

Text with 50 % & a_b, **bold** and *soft*, [a link](page.md), {prf:ref}`Lemma 7 <huang2024-lem-7>`
({verdict}`ours-direction`) and {cite:p}`soudry2018`, $a_b$ here, {result}`x:y` there.

```{code-cell}
---
tags: [hide-input]
---
draw()
```

```{code-cell}
checks.check_ours_direction()
```

```{code-cell}
sp.simplify(a - b)  # a % sign
```

:::{prf:theorem} B (ours)
:label: ours-direction
:nonumber:

For $t_1 > 0$

$$
x_t \ge 1 . \tag{a}
$$
:::
"""


def test_a_page_becomes_latex_with_its_mathematics_untouched():
    made = note.convert(PAGE, {"x:y": "0.5"})
    assert r"\section*{A title}" in made
    assert r"50 \% \& a\_b, \textbf{bold} and \emph{soft}, a link, Lemma 7 and" in made
    assert r"\cite{soudry2018}, $a_b$ here, 0.5 there." in made
    assert "\\begin{theorem}[B]\nFor $t_1 > 0$" in made
    assert "x_t \\ge 1 . \\tag{a}" in made
    assert "\\begin{verbatim}\nsp.simplify(a - b)  # a % sign\n\\end{verbatim}" in made
    assert "draw()" not in made
    assert "checks." not in made
    assert "\x00" not in made


def test_a_number_that_no_build_has_is_refused():
    with pytest.raises(ValueError, match="no number 'x:y'"):
        note.convert(PAGE, {})


def test_a_block_that_the_note_does_not_know_is_refused():
    with pytest.raises(ValueError, match="knows no algorithm"):
        note.convert(PAGE.replace("prf:theorem", "prf:algorithm"), {"x:y": "0.5"})


def test_the_citation_file_names_the_note_by_its_title():
    cited = yaml.safe_load((note.ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert note.TITLE in [one["title"] for one in cited["references"]]
    assert str(cited["version"]) in note.edition()


@pytest.mark.site
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX on this machine")
def test_latex_sets_the_note_of_the_built_book(book, tmp_path, monkeypatch):
    results = note.numbers(book / "claims.json")
    texts = [(note.ROOT / "notebooks" / f"{page}.md").read_text("utf-8") for page in note.PAGES]
    made = note.document([note.convert(text, results) for text in texts], note.edition())
    assert made.count("\\begin{proof}") == sum(text.count("{prf:proof}") for text in texts)
    (tmp_path / f"{note.NAME}.tex").write_text(made, encoding="utf-8")
    shutil.copy(note.ROOT / "references.bib", tmp_path)
    monkeypatch.setattr(note, "ROOT", tmp_path)
    assert note.set_in_type(tmp_path) == f"{note.NAME}.pdf"
    log = (tmp_path / f"{note.NAME}.log").read_text(encoding="latin-1")
    assert "undefined" not in log
