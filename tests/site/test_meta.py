"""What programs read of a page, what reaches into the right column, and the fold of the setup."""

from __future__ import annotations

import json
import re
import types

import bookfolds
import bookmeta as meta
import bookwide as wide
import pytest
from booklinks import make_badge
from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from tiny_book import ROOT


def page_of(*parts: nodes.Node) -> nodes.document:
    """A page with these parts in its first section."""
    from docutils.utils import new_document

    document = new_document("page")
    section = nodes.section("", *parts)
    document += section
    return document


def test_a_description_is_the_first_paragraph_that_says_something() -> None:
    long = nodes.paragraph("", "", nodes.Text("Attention turns to the max-margin direction "))
    long += nodes.math("", r"W^\star")
    long += nodes.Text("(")
    long += nodes.inline("", "refuted", classes=["ntp-badge"])
    long += nodes.Text(") when training goes on for long.")
    said = meta.description(page_of(nodes.paragraph("", "Short."), long))
    assert said == ("Attention turns to the max-margin direction when training goes on for long.")
    cut = meta.description(page_of(nodes.paragraph("", "word " * 60)))
    assert len(cut) <= meta.LONGEST + 2
    assert cut.endswith("word …")
    assert meta.description(page_of(nodes.paragraph("", "Short."))) == ""


@pytest.mark.parametrize("address", ["", "https://code.example/book.git"])
def test_the_address_of_the_code_is_shown_where_the_setting_names_it(address: str) -> None:
    directive = object.__new__(meta.Repository)
    settings = types.SimpleNamespace(ntp_repository=address)
    environment = types.SimpleNamespace(config=settings)
    document = types.SimpleNamespace(settings=types.SimpleNamespace(env=environment))
    directive.state = types.SimpleNamespace(document=document)
    shown = [node.astext() for node in directive.run()]
    assert shown == ([f"git clone {address}"] if address else [])


def test_without_settings_no_address_is_written_and_with_them_all_are() -> None:
    page = meta.Page("A <title>", "It says.", "")
    bare = meta.tags(page, "Book", "Someone", "2026/11/22", "")
    assert "canonical" not in bare
    assert "http" not in bare.replace("https://schema.org", "")
    here = "https://book.example/pages/a.html"
    full = meta.tags(
        meta.Page("A <title>", "It says.", here),
        "Book",
        "Someone",
        "2026/11/22",
        "https://code.example",
    )
    assert f'<link rel="canonical" href="{here}" />' in full
    text = re.findall(r'<script type="application/ld\+json">(.*?)</script>', full)[0]
    assert "<" not in text
    data = json.loads(text)
    assert (data["headline"], data["url"], data["isBasedOn"]) == (
        "A <title>", here, "https://code.example"
    )  # fmt: skip
    assert data["datePublished"] == "2026-11-22"
    assert '<meta name="citation_title" content="A &lt;title&gt;" />' in full


def test_the_citation_of_the_book_is_that_of_its_file() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    who, date = meta.citation(text)
    assert f'name: "{who}"' in text
    assert f"date-released: {date.replace('/', '-')}" in text
    with pytest.raises(ValueError, match="no author"):
        meta.citation("title: x")


def test_cells_with_long_lines_reach_to_the_right_and_others_do_not() -> None:
    class App:
        pass

    cells = [
        nodes.container("", nodes.literal_block("", text), classes=["cell"])
        for text in ("x = 1\n" * 50, "x" * wide.FITS, "x" * (wide.FITS + 1))
    ]
    table = nodes.container("", nodes.raw("", "<table></table>", format="html"), classes=["cell"])
    page = page_of(*cells, table)
    wide.widen(App(), page, "pages/two_papers")  # type: ignore[arg-type]
    assert not any(wide.WIDE in cell["classes"] for cell in cells), "a page without contents"
    page[0] += nodes.section("")
    wide.widen(App(), page, "pages/two_papers")  # type: ignore[arg-type]
    assert [wide.WIDE in cell["classes"] for cell in [*cells, table]] == [False, False, True, False]
    wide.widen(App(), page, "pages/benchmarks")  # type: ignore[arg-type]
    assert wide.WIDE in table["classes"]


def test_folded_code_is_as_wide_as_the_text_and_long_printed_lines_are_not() -> None:
    long = "x" * (wide.FITS + 1)
    code = nodes.container("", nodes.literal_block("", long), nb_element="cell_code_source")
    printed = nodes.container("", nodes.literal_block("", long), nb_element="cell_code_output")
    fold = nodes.container("", code)  # as the stack wraps it
    quiet = nodes.container("", fold, classes=["cell", wide.FOLDED])
    loud = nodes.container("", fold.deepcopy(), printed, classes=["cell", wide.FOLDED])
    page = page_of(quiet, loud)
    page[0] += nodes.section("")
    wide.widen(None, page, "pages/loss")  # type: ignore[arg-type]
    assert [wide.WIDE in cell["classes"] for cell in (quiet, loud)] == [False, True]


@pytest.mark.parametrize("linked", [False, True])
def test_a_badge_has_a_part_that_tables_on_phones_leave_out(linked: bool) -> None:
    app = types.SimpleNamespace(builder=types.SimpleNamespace(get_relative_uri=lambda *_: "there"))
    row = {"label": "a", "number": "1", "title": "a, b", "page": "page", "planned": False}
    known = row | {"verdict": "proved", "certainty": {"words": "by hand (2)"}}
    badges = [
        make_badge(app, "book/preface", one, linked=linked)  # type: ignore[arg-type]
        for one in (known, row | {"verdict": "seen", "certainty": None})
    ]

    def parts(node: nodes.Element) -> list[str]:
        return [one.astext() for one in node.findall(nodes.inline) if "ntp-how" in one["classes"]]

    assert [parts(one) for one in badges] == [[", by hand (2)"], []]
    said = [one.astext() for one in badges]
    assert said == ["✔ proved, by hand (2)", "● seen"], "who has room reads it as one"


def test_no_place_but_tables_leaves_out_how_a_verdict_is_known() -> None:
    css = (ROOT / "book" / "_static" / "ntp.css").read_text(encoding="utf-8")
    rules = re.findall(r"[^{}]*\.ntp-how[^{}]*", css)
    assert [rule.split() for rule in rules] == [
        [".bd-article", "table.table:not(.ntp-errata)", ".ntp-how"]
    ]


def folded(text: str, *tags: str) -> nodes.container:
    """A cell whose code is in a fold, as it is when the site is set."""
    fold = HideCodeCellNode("", nodes.literal_block(text, text), prompt_show="", prompt_hide="")
    classes = ["cell", *(f"tag_{tag}" for tag in ("hide-input", *tags))]
    return nodes.container("", fold, classes=classes)


def folds_of(*parts: nodes.Node) -> list[str]:
    """What is in each fold of a section with these parts, once the setup has one fold."""
    page = page_of(*parts)
    bookfolds.fold_setup(None, page, "page")  # type: ignore[arg-type]
    return [fold.astext() for fold in page.findall(HideCodeCellNode)]


def test_parameters_and_the_imports_below_them_share_one_fold() -> None:
    parameters, imports = folded("seed = 7", "parameters"), folded("from a import b")
    assert folds_of(parameters, imports, folded("b(seed)")) == [
        "seed = 7\n\nfrom a import b",
        "b(seed)",
    ]
    assert "tag_parameters" in parameters["classes"]
    assert parameters.parent is imports.parent is not None, "both cells stay, for who runs them"


def test_cells_that_are_no_setup_keep_a_fold_of_their_own() -> None:
    output = folded("import a")
    output += nodes.container("", nodes.paragraph("", "drawn"))
    open_cell = nodes.container("", nodes.literal_block("", "import a"), classes=["cell"])
    for count, *parts in (
        (2, folded("seed = 7", "parameters"), folded("b(seed)")),
        (2, folded("seed = 7", "parameters"), nodes.paragraph("", "x"), folded("import a")),
        (2, folded("seed = 7"), folded("import a")),
        (2, folded("seed = 7", "parameters"), output),
        (1, folded("seed = 7", "parameters"), open_cell),
        (1, folded("import a")),
    ):
        assert len(folds_of(*parts)) == count


def cited(entry: str) -> dict[str, str]:
    """The fields of one BibTeX entry, and the version that its note names."""
    fields = dict(re.findall(r"(\w+)\s*= \{+([^{}]+)\}", entry))
    fields["version"] = fields["note"].removeprefix("Version ")
    return fields


def test_the_citation_on_the_page_is_that_of_the_file() -> None:
    page = (ROOT / "book" / "references.md").read_text(encoding="utf-8")
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    told = {
        key: re.search(rf'^\s*(?:- )?{name}: "?([^"\n]+)', text, re.MULTILINE)
        for key, name in (("title", "title"), ("version", "version"), ("author", "name"))
    }
    told_words = {key: found[1] for key, found in told.items() if found}
    told_words["year"] = meta.citation(text)[1][:4]
    found = cited(page.split("```bibtex")[1].split("```")[0])
    assert {key: found[key] for key in ("title", "version", "author", "year")} == told_words
    assert cited("note = {Version 9}")["version"] != told_words["version"]
    for name, words in (("LICENSE", "BSD 3-Clause"), ("LICENSE-CC-BY", "Attribution")):
        assert words in page
        assert words in (ROOT / name).read_text(encoding="utf-8")
