"""Comfort of reading, as far as the build makes it: previews, terms, equations, papers, reports."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path

import bookequations
import bookglossary
import bookoffline
import bookpapers
import pytest
from docutils import nodes
from fontTools import ttLib
from tiny_book import ROOT

from ntpbook.catalogue import CATALOGUE
from ntpverdicts.maths import plain
from tools.pipeline import lab
from tools.pipeline.source import shown_statements
from tools.site import statements
from tools.site.downloads import boxes_of
from tools.site.html import toc_pages
from tools.site.inspect_site import Page

CHECKED = [claim for claim in CATALOGUE if claim.page is not None]
PAGES = toc_pages(ROOT / "_toc.yml")
ELSEWHERE = re.compile(r"x-thebe|sphinx-thebe|THEBE_|kernelName|mybinder|unpkg|jsdelivr|cdnjs")
LINK = re.compile(r'href="[^"]*#(?:verdict-)?((?:huang2024|tian2023|ours|term)-[\w-]+)"')
ROW = {
    "label": "ours-x", "number": "Theorem (ours)", "title": "one < two", "paper": "ours",
    "where": "this book", "verdict": "refuted", "planned": False, "page": "first",
}  # fmt: skip
BOX = """<div class="proof theorem admonition">
<p class="admonition-title" id="ours-x">Theorem <a href="#x">badge</a></p>
<section class="theorem-content" id="proof-content-3">
<p>For <span class="math" id="f">\\(x &lt; y\\)</span> see <a href="there.html">there</a>.</p>
<p class="ntp-paper">In the paper</p></section></div>"""


# Previews and the index of the search


def test_a_preview_says_the_statement_without_title_ids_and_links() -> None:
    body = statements.body_of(BOX)
    assert body == '<p>For <span class="math">\\(x &lt; y\\)</span> see there.</p>'


def test_a_preview_shows_the_verdict_and_cannot_end_its_script() -> None:
    entry = statements.statement_entry(ROW, "pages/first.html#ours-x", BOX)
    script = statements.preview_script(entry)
    assert "✘" in script
    assert "one &lt; two" in script
    assert "</" not in script
    name, html = json.loads("[" + script.removeprefix("ntpPreview(").removesuffix(");\n") + "]")
    assert (name, html) == ("ours-x", entry.html)


def test_a_planned_claim_has_a_preview_that_says_so() -> None:
    entry = statements.statement_entry(ROW | {"planned": True, "verdict": "open"}, "a#b", "")
    assert "No chapter of this book treats it yet" in entry.html
    assert entry.verdict == "open"


def test_words_for_the_search_are_words_and_no_commands() -> None:
    text = r"Let \(\mathcal V\) be Hall's $\frac{1}{2}$ set, the set"
    assert statements.plain_words(text) == "let be hall's set the"


def test_the_search_knows_the_question_that_a_chapter_opens_with() -> None:
    paragraphs = [r"Huang et al. [HLY24] ask. Does $\eta$ grow, as Theorem 2 claims? Yes.", "Why?"]
    opening = statements.opening_question(paragraphs)
    assert opening == "Does grow as Theorem 2 claims"
    assert statements.opening_question(["No question.", "Why?"]) == ""
    assert statements.opening_question([]) == ""
    section = statements.section_entry("Page", "Title", "a", "text", opening)
    term = statements.term_entry("t", "Term", "b", "<p>what</p>")
    rows = json.loads(
        statements.search_script([section, term]).partition(" = ")[2].removesuffix(";\n")
    )
    assert [row[9:] for row in rows] == [[opening], []]


def preview_faults(book: Path) -> list[str]:
    """Claims without a preview, and links for which the script of a preview would be missing."""
    known = {path.stem for path in (book / "_static/previews").glob("*.js")}
    faults = [claim.label for claim in CATALOGUE if claim.label not in known]
    for name in PAGES:
        html = (book / f"{name}.html").read_text(encoding="utf-8")
        faults += [f"{name}: {label}" for label in LINK.findall(html) if label not in known]
    return faults


def test_every_link_to_a_statement_or_a_term_has_a_preview(book: Path, tmp_path: Path) -> None:
    assert preview_faults(book) == []
    (tmp_path / "_static/previews").mkdir(parents=True)
    for name in PAGES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.html").write_text('<a href="x.html#term-y">y</a>', encoding="utf-8")
    assert len(preview_faults(tmp_path)) == len(CATALOGUE) + len(PAGES)


def test_the_search_knows_every_statement_where_it_stands(book: Path) -> None:
    script = (book / "_static/statements.js").read_text(encoding="utf-8")
    listed = json.loads(script.removeprefix("window.NTP_STATEMENTS = ").removesuffix(";\n"))
    found = {row[0]: row for row in listed if row[1] == "statement"}
    assert list(found) == [claim.label for claim in CATALOGUE]
    for claim in CHECKED:
        _, _, number, title, _, _, _, address, _ = found[claim.label]
        assert (number, title) == (claim.number, plain(claim.title))
        assert address == f"pages/{claim.page}.html#{claim.label}"
    assert sum(len(row[-1].split()) > 5 for row in found.values()) > 150


# The glossary


def glossary_terms(book: Path) -> list[str]:
    """Ids of the terms of the glossary."""
    html = (book / "book/glossary.html").read_text(encoding="utf-8")
    return re.findall(r'<dt id="(term-[\w-]+)"', html)


def test_the_glossary_has_the_words_of_the_field_and_pages_lead_to_them(book: Path) -> None:
    terms = glossary_terms(book)
    assert len(terms) > 40
    assert {"term-collocation", "term-Hall-condition", "term-c_n", "term-snap"} <= set(terms)
    linked = {
        page: set(re.findall(r'class="ntp-term[^>]*#(term-[\w-]+)"', text))
        for page in PAGES
        if (text := (book / f"{page}.html").read_text(encoding="utf-8"))
    }
    assert set().union(*linked.values()) <= set(terms)
    assert linked["book/preface"]
    assert linked["book/if_you_train"]
    assert sum(bool(found) for found in linked.values()) > 25
    assert not linked["book/glossary"]


def test_the_first_use_of_a_term_becomes_a_link_and_the_second_does_not() -> None:
    known = {"optimal token": "term-optimal-token", "snap": "term-snap"}
    pattern = bookglossary.term_pattern(known)
    assert pattern is not None
    seen: set[str] = set()
    text = "An Optimal\ntoken, a non-optimal token, optimal tokens. Snapshots snap."
    pieces = bookglossary.linked(text, pattern, known, seen, "glossary.html")
    links = [piece for piece in pieces if isinstance(piece, nodes.reference)]
    assert [link.astext() for link in links] == ["Optimal\ntoken", "snap"]
    assert links[0]["refuri"] == "glossary.html#term-optimal-token"
    assert "".join(piece.astext() for piece in pieces) == text
    again = bookglossary.linked("snap", pattern, known, seen, "glossary.html")
    assert [type(piece) for piece in again] == [nodes.Text]


def test_headings_code_and_links_take_no_terms() -> None:
    section = nodes.section()
    section += nodes.title("", "snap")
    section += nodes.paragraph("", "", nodes.Text("a "), nodes.literal("", "snap"))
    section += nodes.paragraph("", "", nodes.reference("", "snap", refuri="x"))
    prose = [text.astext() for text in bookglossary.own_texts(section)]
    assert prose == ["a "]


# Equations, proofs


def test_numbers_of_equations_become_places() -> None:
    assert bookequations.numbers_in(r"a \tag{9} \\ b \tag*{ 10' } \text{tag}") == ["9", "10'"]
    assert bookequations.anchor_of("9") == "eq-9"
    assert bookequations.anchor_of("10'") == "eq-10-prime"
    assert bookequations.unused("eq-9", {"eq-9", "eq-9-2"}) == "eq-9-3"


def counted(pattern: str, folder: Path, suffix: str) -> dict[str, int]:
    """How often something occurs in the files of a folder, by name."""
    return {
        path.stem: len(re.findall(pattern, path.read_text(encoding="utf-8")))
        for path in folder.glob(f"*.{suffix}")
    }


def test_every_numbered_equation_has_a_place_of_its_own(book: Path) -> None:
    tags = counted(r"\\tag\*?\{", ROOT / "notebooks", "md")
    texts = [path.read_text("utf-8") for path in (ROOT / "notebooks").glob("*.md")]
    boxes = boxes_of(texts)
    for path in (ROOT / "notebooks").glob("*.md"):
        shown = [boxes[label] for label in shown_statements(path.read_text("utf-8"))]
        tags[path.stem] += sum(len(re.findall(r"\\tag\*?\{", box)) for box in shown)
    places = counted(
        r'<a class="headerlink[^>]*id="eq-[^>]*title="Link to equation', book / "pages", "html"
    )
    assert {name: places[name] for name in tags} == tags
    assert sum(tags.values()) > 40


def test_every_proof_folds_and_says_so_once(book: Path) -> None:
    proofs = counted(r"\{prf:proof\}", ROOT / "notebooks", "md")
    folds = counted(r'<details class="ntp-proof"><summary>Proof</summary>', book / "pages", "html")
    assert {name: folds[name] for name in proofs} == proofs
    assert sum(proofs.values()) > 15
    assert sum(counted(r"<p>Proof\. ", book / "pages", "html").values()) == 0


# Papers and reports


def test_places_in_the_papers_are_named() -> None:
    row = {"paper": "huang2024", "where": "Section 6", "number": "Proposition 2"}
    assert bookpapers.place_in_paper(row) == "Section 6, Proposition 2"
    assert bookpapers.place_in_paper(row | {"number": "Section 6, end"}) == "Section 6, end"
    assert bookpapers.place_in_paper(row | {"where": "this book"}) == ""
    assert bookpapers.papers(
        "@a{key,\n  url = {https://x.example/y}\n}\n@b{other,\n x = {1}\n}\n"
    ) == {"key": "https://x.example/y"}


def test_every_statement_of_a_paper_leads_to_the_paper(book: Path) -> None:
    for page in {claim.page for claim in CHECKED}:
        html = (book / f"pages/{page}.html").read_text(encoding="utf-8")
        links = re.findall(r'<p class="ntp-paper">In the paper: <a href="https://[^"]+"', html)
        rows = [
            claim for claim in CHECKED
            if claim.page == page and claim.paper != "ours" and claim.where != "this book"
        ]  # fmt: skip
        assert len(links) == len(rows), page


def test_every_verdict_has_a_report_with_label_verdict_and_code(book: Path) -> None:
    rows = json.loads((book / "claims.json").read_text(encoding="utf-8"))["claims"]
    for row in rows:
        html = (book / f"pages/{row['page']}.html").read_text(encoding="utf-8")
        card = html[html.index(f'id="verdict-{row["label"]}"') :]
        text = card[card.index('class="ntp-report"') :].split("</pre>")[0]
        assert f"Claim: {row['label']} (" in text
        assert f"Verdict: {row['verdict']}\n" in text
        assert f"Code: {row['code_hash']}\n" in text


# Nothing from elsewhere


def test_no_page_and_no_script_names_a_launcher(book: Path) -> None:
    for page in book.rglob("*.html"):
        assert not ELSEWHERE.search(page.read_text(encoding="utf-8")), page
    files = {path.relative_to(book).as_posix() for path in book.rglob("*")}
    assert not [name for name in files if re.search(r"thebe|fontawesome|\.map$|tex-chtml", name)]
    assert not [name for name in files if "mathjax" in name.lower()]


def test_launchers_and_icons_from_afar_are_taken_out() -> None:
    kept = '<script src="a.js"></script><script>let b = 1;</script><link href="a.css" />'
    gone = (
        '<script src="../vendor/fontawesome/js/all.min.js"></script><link href="sphinx-thebe.css"/>'
        '<script type="text/x-thebe-config">{ requestKernel: true }</script>'
        "<script>kernelName = 'python3'</script>"
        "<script>const THEBE_JS_URL = 'https://x'; thebe</script>"
    )
    assert ELSEWHERE.search(gone)
    assert bookoffline.without_launchers(f"{gone}{kept}{gone}") == kept


def test_icons_in_use_are_in_the_font(book: Path) -> None:
    style = (book / "_static/styles/stack.css").read_text(encoding="utf-8")
    (font,) = re.findall(r"data:font/woff;base64,([\w+/=]+)", style)
    cut = set(ttLib.TTFont(io.BytesIO(base64.b64decode(font))).getBestCmap())
    assert cut == set(bookoffline.ICONS.values()), "the signs of the icons, and no others"
    signs = dict(re.findall(r'\.fa-([\w-]+)::before\{content:"(.)"', style))
    for name in PAGES:
        html = (book / f"{name}.html").read_text(encoding="utf-8")
        for icon in re.findall(r'<i class="fa\w* (?:fa-solid )?fa-([\w-]+)', html):
            assert ord(signs[icon]) in cut, icon


# Binder


def test_binder_finds_all_it_needs_at_the_root(tmp_path: Path) -> None:
    assert (ROOT / "runtime.txt").read_text(encoding="utf-8") == "python-3.11\n"
    assert (ROOT / "postBuild").stat().st_mode & 0o111
    assert (ROOT / "postBuild").read_text(encoding="utf-8").startswith("#!/bin/sh\n")
    assert not [name for name in ("binder", ".binder") if (ROOT / name).exists()]
    lab.prepare(tmp_path / "prefix", tmp_path / "home")
    settings = tmp_path / "prefix/etc/jupyter/labconfig/default_setting_overrides.json"
    assert "Jupytext Notebook" in settings.read_text(encoding="utf-8")
    startup = (tmp_path / "home/.ipython" / lab.STARTUP).read_text(encoding="utf-8")
    assert startup == f"import os\n\nos.chdir({str(ROOT)!r})\n"


def test_the_start_page_says_what_was_found_and_leads_on(book: Path) -> None:
    html = (book / "book/preface.html").read_text(encoding="utf-8")
    rows = json.loads((book / "claims.json").read_text(encoding="utf-8"))["claims"]
    refuted = sum(row["verdict"] == "refuted" for row in rows)
    found = html[html.index("<h2>What we found") : html.index('id="if-you-train-transformers"')]
    assert f'href="claims.html?verdict=refuted">{refuted}</a>' in found
    assert f'href="claims.html">{len(rows)}</a>' in found
    assert found.count("<tr") == 1 + 6, "six results"
    assert 'href="if_you_train.html"' in html[html.index('id="if-you-train-transformers"') :]
    stops = html[html.index('id="if-you-have-ten-minutes"') :].split("</ol>")[0]
    assert stops.count("<li>") == 5
    assert len(set(re.findall(r'href="[^"]+#((?:huang2024|tian2023)-[\w-]+)"', stops))) >= 5
    assert Page(html).ids["ten-minutes"] == 1


# Symbols

NOTATION = """<section id="n"><h1>Notation</h1><p>Words.</p>
<section id="t"><h2>Training<a>#</a></h2>
<table><thead><tr><th>Symbol</th></tr></thead><tbody><tr>
<td><math><mi>t</mi></math></td><td><code>steps</code></td><td>a <a href="x" id="y">step</a></td>
</tr></tbody></table></section></section>"""


def test_symbols_are_the_first_and_the_last_column_of_the_tables_on_notation() -> None:
    script = statements.symbols_script(NOTATION)
    table = json.loads(script.removeprefix("ntpSymbols(").removesuffix(");\n"))
    assert table == (
        '<table><tbody data-part="Training"><tr><th colspan="2" scope="rowgroup">Training</th></tr>'
        "<tr data-row><td><math><mi>t</mi></math></td><td>a step</td></tr></tbody></table>"
    )


def test_a_page_on_notation_without_tables_is_refused() -> None:
    with pytest.raises(ValueError, match="no table"):
        statements.symbols_script(NOTATION.replace("tbody", "tfoot"))
