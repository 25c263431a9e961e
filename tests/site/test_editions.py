"""The e-book and the article, which are made from the built book."""

from __future__ import annotations

import posixpath
import re
import shutil
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tiny_book import ROOT

from tools.pipeline.node import NodeError, find_module
from tools.site import editions, epub, jats
from tools.site.downloads import Known

XHTML = "{http://www.w3.org/1999/xhtml}"
OPF = "{http://www.idpf.org/2007/opf}"
MATH = "{http://www.w3.org/1998/Math/MathML}math"
SVG = "{http://www.w3.org/2000/svg}svg"
TOLD = editions.About("A & B", ("One", "Two"), "2026-01-02", ("a",), "MIT", "")
PICTURE = '<!DOCTYPE svg PUBLIC "x" "y.dtd"><svg xmlns="http://www.w3.org/2000/svg"><path/></svg>'
PAGE = (
    '<title>{title} — The book</title><article class="bd-article"><section id="top">'
    '<h1>{title}<a class="headerlink" href="#top">#</a></h1><p>Words, <a href="{to}">there</a> and '
    '<a href="../pages/evidence.html#e">behind</a>.</p><button>Run</button>'
    '<details class="hide"><summary>Show</summary><pre>hidden</pre></details>'
    "<details><summary>Why</summary><p>Because.</p></details>"
    '<picture><source srcset="n.svg"><img src="../_images/i.svg" alt="I"></picture>'
    '<img class="ntp-in-dark" src="../_images/d.svg" alt="I">'
    '<math class="tml"><mi>x</mi></math></section></article>'
)


def faults(path: Path) -> Iterator[str]:
    """What an e-reader could stumble over in an e-book."""
    with zipfile.ZipFile(path) as book:
        names = book.namelist()
        if names[0] != "mimetype" or book.infolist()[0].compress_type != zipfile.ZIP_STORED:
            yield "the type does not come first"
        package = ET.fromstring(book.read("EPUB/package.opf"))
        listed = {
            f"EPUB/{item.get('href')}": str(item.get("properties", ""))
            for item in package.iter(f"{OPF}item")
        }
        spare = {"mimetype", "META-INF/container.xml", "EPUB/package.opf"}
        if set(names) - spare != set(listed):
            yield f"listed and there: {sorted((set(names) - spare) ^ set(listed))}"
        trees = {}
        for name in names:
            if name.endswith((".xhtml", ".svg")):
                try:
                    trees[name] = ET.fromstring(book.read(name))
                except ET.ParseError as error:
                    yield f"{name}: {error}"
        for name, tree in trees.items():
            yield from _page_faults(name, tree, trees, listed)


def _page_faults(
    name: str, tree: ET.Element, trees: dict[str, ET.Element], listed: dict[str, str]
) -> Iterator[str]:
    """What is wrong with one file of an e-book."""
    if tree.tag == SVG:
        return
    if ("mathml" in listed.get(name, "")) != (next(tree.iter(MATH), None) is not None):
        yield f"{name}: formulas are not announced"
    for tag in ("script", "button", "form", "source", "svg"):
        if next(tree.iter(XHTML + tag), None) is not None:
            yield f"{name}: {tag}"
    for element in tree.iter():
        link = element.get("src") or element.get("href") or ""
        if element.get("src") is None and re.match(r"https?:", link):
            continue  # a link that a reader may follow; a picture must be in the book
        target, _, place = link.partition("#")
        file = posixpath.join("EPUB", target) if target else name
        if link and file not in listed:
            yield f"{name}: {link} leads nowhere"
        elif place and place not in {one.get("id") for one in trees[file].iter()}:
            yield f"{name}: {link} leads to no place"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A built book of two chapters and a start page."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "book").mkdir()
    (tmp_path / "_images").mkdir()
    (tmp_path / "_images" / "i.svg").write_text(PICTURE, encoding="utf-8")
    for page, to in (("pages/a", "b.html#top"), ("pages/b", "a.html#gone"), ("book/preface", "#")):
        text = PAGE.format(title=page, to=to)
        (tmp_path / f"{page}.html").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_e_book_of_the_stories_has_no_fault(book: Path, tmp_path: Path) -> None:
    pages = [*editions.stories(ROOT), *epub.LAST]
    epub.make_epub(book, tmp_path / "book.epub", pages, editions.about(ROOT))
    assert list(faults(tmp_path / "book.epub")) == []
    with zipfile.ZipFile(tmp_path / "book.epub") as made:
        text = made.read("EPUB/pages-max_margin.xhtml").decode()
        assert text.count(f'<math xmlns="{MATH[1:-5]}"') > 20
        assert text.count("<img") >= 3
        contents = ET.fromstring(made.read("EPUB/nav.xhtml"))
    assert len(list(contents.iter(f"{XHTML}li"))) == len(pages) >= 20


def test_a_chapter_is_its_page_without_what_only_a_browser_can(site: Path) -> None:
    epub.make_epub(site, site / "x.epub", ["pages/a", "pages/b"], TOLD)
    assert list(faults(site / "x.epub")) == []
    with zipfile.ZipFile(site / "x.epub") as made:
        one, other = (made.read(f"EPUB/pages-{name}.xhtml").decode() for name in "ab")
        first = made.read("EPUB/first.xhtml").decode()
        assert b"DOCTYPE" not in made.read("EPUB/i.svg")
        assert "EPUB/d.svg" not in made.namelist()
    assert '<a href="pages-b.xhtml#top">there</a> and behind.' in one
    assert '<a href="pages-a.xhtml">there</a>' in other  # the place is a button, or gone
    assert "hidden" not in one
    assert "Because." in one
    assert "<h1>A &amp; B</h1><p>One, Two, 2026-01-02</p><p>Words, there and behind.</p>" in first


def test_links_to_the_evidence_lead_to_the_published_book(site: Path) -> None:
    html = (site / "pages" / "a.html").read_text(encoding="utf-8")
    text, pictures = epub.chapter(html, "pages/a", {"pages/a": "a.xhtml"}, "https://x.example/b/")
    assert '<a href="https://x.example/b/pages/evidence.html#e">behind</a>' in text
    assert pictures == ["_images/i.svg"]


SPOILT: dict[str, Callable[[str], str]] = {
    "listed and there": lambda text: text.replace('href="i.svg"', 'href="other.svg"'),
    "mismatched tag": lambda text: text.replace("</section>", ""),
    "leads nowhere": lambda text: text.replace("pages-b.xhtml#", "pages-c.xhtml#"),
    "leads to no place": lambda text: text.replace("pages-b.xhtml#top", "pages-b.xhtml#end"),
    "https://x.example/i.svg leads nowhere": lambda text: text.replace(
        'src="i.svg"', 'src="https://x.example/i.svg"'
    ),
    ": button": lambda text: text.replace("<h1>", "<button/><h1>"),
    "formulas are not announced": lambda text: text.replace('properties="mathml"', ""),
}


@pytest.mark.parametrize("fault", SPOILT)
def test_a_fault_of_an_e_book_is_noticed(fault: str, site: Path) -> None:
    epub.make_epub(site, site / "x.epub", ["pages/a", "pages/b"], TOLD)
    with zipfile.ZipFile(site / "x.epub") as made, zipfile.ZipFile(site / "y.epub", "w") as bad:
        for item in made.infolist():
            content = made.read(item)
            if item.filename.endswith((".xhtml", ".opf")):
                content = SPOILT[fault](content.decode()).encode()
            bad.writestr(item, content)
    assert any(fault in one for one in faults(site / "y.epub"))


def test_the_same_book_has_the_same_bytes(site: Path) -> None:
    for name in ("x.epub", "y.epub"):
        epub.make_epub(site, site / name, ["pages/a", "pages/b"], TOLD)
    assert (site / "x.epub").read_bytes() == (site / "y.epub").read_bytes()


@pytest.mark.parametrize("gone", ["pages/b.html", "_images/i.svg"])
def test_without_a_page_or_a_picture_there_is_no_e_book(gone: str, site: Path) -> None:
    (site / gone).unlink()
    with pytest.raises(editions.EditionError, match="run: make book"):
        epub.make_epub(site, site / "x.epub", ["pages/a", "pages/b"], TOLD)
    assert not (site / "x.epub").exists()


def test_a_page_without_an_article_is_an_error(site: Path) -> None:
    (site / "pages" / "a.html").write_text("<p>no book</p>", encoding="utf-8")
    with pytest.raises(editions.EditionError, match="the page pages/a of the site has no article"):
        epub.make_epub(site, site / "x.epub", ["pages/a"], TOLD)


# The article

KNOWN = Known({"ours-a": {"verdict": "seen", "certainty": None}}, {"k": "A et al. (2024)"})


def test_text_of_the_article_has_no_roles_rules_or_links_out_of_it() -> None:
    text = (
        "See {cite:t}`k`, [one](one.md), [two](two.md#x), [far](https://x.example).\n\n---\n\nEnd."
    )
    assert jats.prose(text, KNOWN, ["one"]) == (
        "See A et al. (2024), [one](one.md), two, [far](https://x.example).\n\n\nEnd."
    )


def test_numbers_of_equations_and_tables_are_written_as_jats_has_them() -> None:
    equation = "$$\nx = 1. \\tag{3}\n$$"
    assert jats.prose(equation, KNOWN, []) == "$$\nx = 1. \\qquad (3)\n$$"
    table = "| a |\n|---|\n| 1 |\n"
    assert jats.prose(f"Before\n\n{table}\nAfter", KNOWN, []) == (
        f"Before\n\n:::{{table}}\n{table}:::\n\nAfter"
    )


def test_cells_become_code_text_tables_and_figures(tmp_path: Path) -> None:
    shown = {"image": {"alt": "An\nalt"}, "figure": {"name": "fig-a", "caption": "[C](two.md)."}}
    table = "<table><tr><th>a</th></tr><tr><td>1 | 2</td></tr></table><button>More</button>"

    def cell(source: str, tags: list[str], *outputs: dict[str, object]) -> dict[str, object]:
        metadata = {"tags": tags, "mystnb": shown}
        return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": outputs}

    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": "# T", "metadata": {}},
            cell("seed = 7", ["parameters"]),
            cell("draw()", ["hide-input"], {"data": {"image/svg+xml": "<svg/>"}}),
            cell("1 + 1", [], {"data": {"text/plain": "2"}}, {"text": "said\n"}),
            cell("t", ["hide-input"], {"data": {"text/html": table, "text/plain": "Table()"}}),
        ]
    }
    assert jats.chapter(notebook, KNOWN, [], tmp_path / "p") == (
        "# T\n\n:::{figure} p/2-0.svg\n:name: fig-a\n:alt: An alt\n\nC.\n:::\n\n"
        "```python\n1 + 1\n```\n\n```text\n2\n```\n\n```text\nsaid\n```\n\n"
        ":::{table}\n| a |\n|---|\n| 1 \\| 2 |\n:::\n\n"
    )
    assert (tmp_path / "p" / "2-0.svg").read_text(encoding="utf-8") == "<svg/>"


def make(folder: Path, pages: Path, chapters: list[str]) -> Path:
    """The article of some chapters of the built book."""
    try:
        find_module(ROOT, jats.MYSTMD)
    except NodeError:
        pytest.skip("no mystmd in node_modules")
    return jats.make_jats(ROOT, pages, folder / "work", folder / "made", chapters)


def test_the_article_of_the_stories_has_every_figure_and_no_dead_link(
    book: Path, tmp_path: Path
) -> None:
    assert book.is_dir()  # and with it the executed notebooks
    chapters = [Path(page).name for page in editions.stories(ROOT)]
    tree = ET.parse(make(tmp_path, ROOT / "pages", chapters))
    assert len(list(tree.iter("sub-article"))) == len(chapters)
    files = {str(one.get("{http://www.w3.org/1999/xlink}href")) for one in tree.iter("graphic")}
    assert len(files) > 40
    assert all((tmp_path / "made" / file).is_file() for file in files)
    places = {one.get("id") for one in tree.iter()}
    links = [one.get("rid") for one in tree.iter("xref")]
    assert len(links) > 40
    assert set(links) <= places
    wrapped = [one for wrap in tree.iter("table-wrap") for one in wrap.iter("table")]
    assert len(list(tree.iter("table"))) == len(wrapped) > 5
    words = "".join(tree.getroot().itertext())
    assert not re.search(r"\{[a-z:-]+\}`|:::", words)
    assert "proved, machine-checked" in words


@pytest.mark.parametrize(
    ("line", "said"),
    [("{nosuch}`x`", "nosuch"), ("[x](gone.md)", "gone"), ("$\\frac{1$", "mystmd says")],
)
def test_what_mystmd_does_not_understand_is_an_error(
    line: str, said: str, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(ROOT / "pages" / "order_of_tokens.ipynb", tmp_path)
    resolved = jats.prose
    monkeypatch.setattr(jats, "prose", lambda *given: f"{resolved(*given)}\n\n{line}\n")
    with pytest.raises(editions.EditionError, match=said):
        make(tmp_path, tmp_path, ["order_of_tokens"])
    assert not (tmp_path / "made").exists()


def test_without_an_executed_page_there_is_no_article(tmp_path: Path) -> None:
    with pytest.raises(editions.EditionError, match="no executed page loss; run: make book"):
        make(tmp_path, tmp_path, ["loss"])
