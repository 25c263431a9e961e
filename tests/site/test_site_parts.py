"""What makes pages light: formulas, style sheets, drawings, icons; and the book to print."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from bookmath import set_texts, without_needless_marks
from browser import NO_BROWSER, find_browser
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES, Keyword, Text
from tiny_book import ROOT

from ntpbook.catalogue import CATALOGUE
from ntpverdicts.tables import NARROW_MIME
from tools.pipeline import node
from tools.pipeline.node import find_module
from tools.pipeline.outputs import read_narrow
from tools.site import pdf
from tools.site.editions import EditionError
from tools.site.html import evidence_pages, files_of, title_of, with_cards
from tools.site.maths import FONT, GROWING, FormulaError, Setter, font_rule, signs_of
from tools.site.pictures import (
    DARK,
    NUMBERS,
    TWIN,
    dark,
    from_point_to_point,
    place_figures,
    short,
    size_of,
    smaller,
    with_short_names,
    write_narrow,
)
from tools.site.shrink import drop_needless, join_styles, load_joined, mark_versions, put_off
from tools.site.styles import can_match, drop_unasked, slim, used_by

USED = used_by(
    ['<p class="one two" id="here"><b>x</b></p>'], ["word"], ['e.classList.add("given")']
)


# Formulas


@pytest.fixture(scope="module")
def setter() -> Iterator[Setter]:
    """A running Temml."""
    running = Setter(ROOT, {"argmax": r"\operatorname*{arg\,max}"})
    yield running
    running.close()


def test_a_formula_becomes_mathml_the_same_every_time(setter: Setter) -> None:
    first = setter.set(r"\frac{x}{2}", display=False)
    assert "<mfrac><mi>x</mi><mn>2</mn></mfrac>" in first
    assert setter.set(r"\frac{x}{2}", display=False) == first
    assert "max" in setter.set(r"\argmax_x", display=True)
    assert "(7)" in setter.set(r"x \tag{7}", display=True)


def test_the_name_of_a_function_without_an_argument_is_followed_by_no_blank(
    setter: Setter,
) -> None:
    for tex, blanks in ((r"1 - \cos", 0), (r"\cos \le 1", 0), (r"\cos x", 1), (r"\cos\,", 2)):
        formula = setter.set(tex, display=False)
        assert "<mspace" in formula, tex  # what Temml sets
        assert without_needless_marks(formula).count("<mspace") == blanks, tex


def test_no_line_breaks_between_a_formula_and_its_punctuation(setter: Setter) -> None:
    app = SimpleNamespace(ntp_setter=setter)
    math = '<span class="math"><math><mi>x</mi></math></span>'
    found = set_texts(app, f"<p>Let {math}. See ({math}), {math} and {math}</p>", "page")
    assert ".</span> See (" in found
    assert "),</span> <span" in found
    assert found.count("</math></span>") == 2  # nothing is taken that is no punctuation


def test_only_marks_that_a_place_implies_are_left_out(setter: Setter) -> None:
    light = without_needless_marks(setter.set("(-x)", display=False))
    assert '<mrow><mo stretchy="false">(</mo>' in light
    assert '<mo stretchy="false">)</mo></mrow>' in light
    assert '</mo><mo form="prefix" stretchy="false">−</mo><mi>x' in light
    for kept in (
        '<mrow><mo form="prefix">−</mo></mrow>',  # alone it would be an infix
        '<mrow><mi>x</mi><mo form="prefix">−</mo><mi>y</mi></mrow>',
        '<mrow><mo form="postfix">!</mo></mrow>',
        '<mrow><mo form="postfix">)</mo><mi>x</mi></mrow>',
        '<msup><mo form="postfix">)</mo><mn>2</mn></msup>',
    ):
        assert without_needless_marks(kept) == kept


@pytest.mark.parametrize("tex", [r"\frac{x", r"\nosuchcommand", r"x^2^3", r"\left( x"])
def test_a_formula_that_cannot_be_set_is_an_error(setter: Setter, tex: str) -> None:
    with pytest.raises(FormulaError):
        setter.set(tex, display=False)
    assert setter.set("x", display=False)  # and the next one is set


def test_no_formula_defines_anything_for_the_next(setter: Setter) -> None:
    setter.set(r"\gdef\mine{x} \mine", display=False)
    with pytest.raises(FormulaError):
        setter.set(r"\mine + 1", display=False)


def test_the_font_holds_the_signs_in_use_and_says_what_it_lacks(setter: Setter) -> None:
    signs = signs_of([setter.set("h + \\alpha", display=False)])
    assert {"h", "ℎ", "α", "𝛼", "+"} <= set(signs)
    assert len(font_rule(ROOT, signs)) < 20_000
    with pytest.raises(ValueError, match="no sign 漢"):
        font_rule(ROOT, "x漢")


def widths_of_forms(font: TTFont) -> dict[str, set[int]]:
    """For each sign that grows, the widths of its forms."""
    table = font["MATH"].table.MathVariants
    forms = dict(zip(table.VertGlyphCoverage.glyphs, table.VertGlyphConstruction, strict=True))
    found = {}
    for sign in GROWING:
        one = forms[font.getBestCmap()[ord(sign)]]
        names = [form.VariantGlyph for form in one.MathGlyphVariantRecord]
        names += [part.glyph for part in one.GlyphAssembly.PartRecords] if one.GlyphAssembly else []
        found[sign] = {font["hmtx"][name][0] for name in names}
        assert max(font["glyf"][name].xMax / font["hmtx"][name][0] for name in names) < 1.05
    return found


def test_a_sign_of_any_height_is_as_wide_as_the_lowest() -> None:
    """Chromium keeps room for the widest form, which looks like a gap after every root."""
    before = widths_of_forms(TTFont(find_module(ROOT, FONT)))
    data = base64.b64decode(font_rule(ROOT, GROWING + "√‾").partition("base64,")[2].split('"')[0])
    after = widths_of_forms(TTFont(io.BytesIO(data)))
    assert min(map(len, after.values())) == max(map(len, after.values())) == 1
    assert len(before["√"]) > 1
    assert len(before["("]) > 1


def test_without_node_the_message_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(node.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(node.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(node.NodeError, match="make setup"):
        node.find_node()
    with pytest.raises(node.NodeError, match="make setup"):
        node.find_module(tmp_path, "temml/no.cjs")


# Style sheets


@pytest.mark.parametrize("selector", [
    ".one", "p.one > b", "#here", ".word", ".given", ":root", "*", ".one:not(.gone)",
    "[data-x] .two", ".one::before", "p:is(.gone, .one)", "b",
])  # fmt: skip
def test_rules_that_may_match_stay(selector: str) -> None:
    assert can_match(selector, USED)


@pytest.mark.parametrize(
    "selector", [".gone", "p .gone b", "#gone", "table", ".one.gone", ".sm\\:x"]
)
def test_rules_that_cannot_match_go(selector: str) -> None:
    assert not can_match(selector, USED)


def test_a_slim_sheet_keeps_order_conditions_and_quotations() -> None:
    css = """/* c */ .one, .gone { color: red; content: "a;  b" } .gone { x: y }
    @media print { .gone { x: y } .two { --a: 1; top: 0 } } @media screen { .gone { x: y } }
    @font-face { font-family: F; src: url("f.woff") }"""
    assert slim(css, USED).split("\n") == [
        '.one{color:red;content:"a;  b"}', "@media print{.two{--a:1;top:0}", "}",
        '@font-face{font-family:F;src:url("f.woff")}', "",
    ]  # fmt: skip


def test_variables_that_nothing_asks_for_go() -> None:
    sheets = {Path("a.css"): '.x{--one:1;--two:var(--three);--three:"a;b";color:var(--one)}'}
    assert drop_unasked(sheets, [])[Path("a.css")] == ".x{--one:1;color:var(--one)}"
    assert "--two" in drop_unasked(sheets, ["style.getPropertyValue('--two')"])[Path("a.css")]


# Drawings


def test_a_drawing_is_smaller_and_says_its_size(tmp_path: Path) -> None:
    svg = (
        '<svg width="72pt" height="36pt"><metadata>m</metadata><!-- c -->\n'
        '<path d="M 0.123456 1 \nL 2.5 -0.0001 \n" style="x: 1.23456"/></svg>'
    )
    fewer = smaller(svg)
    assert 'd="M.12 1l2.38-1"' in fewer
    assert "1.23456" in fewer
    assert "metadata" not in fewer
    assert short("-3.14159") == "-3.14"
    assert size_of(svg) == (96, 48)
    (tmp_path / "_images").mkdir()
    (tmp_path / "_images" / "a.svg").write_text(svg, encoding="utf-8")
    placed = place_figures('<img src="_images/a.svg" alt="A"/><img src="b.png">', tmp_path)
    assert 'loading="lazy" decoding="async" width="96" height="48" src="_images/a.svg"' in placed
    assert placed.endswith('<img src="b.png">')
    (tmp_path / "_images" / "a-dark.svg").write_text(svg, encoding="utf-8")
    html = '<img src="_images/a.svg" alt="A"/><img class="x" src="_images/a.svg" alt="B"/>'
    twins = re.findall(r"<img[^>]*>", place_figures(html, tmp_path))
    assert [re.search(r'src="([^"]+)"', one)[1] for one in twins] == [
        "_images/a.svg", "_images/a-dark.svg", "_images/a.svg", "_images/a-dark.svg",
    ]  # fmt: skip
    assert ['"ntp-in-light' in one for one in twins] == [True, False, True, False]
    assert ['"ntp-in-dark' in one for one in twins] == [False, True, False, True]
    assert all(one.count("class=") == 1 and "alt=" in one for one in twins)


def corners(path: str) -> list[complex]:
    """All points of a path, where they lie."""
    pen = begin = 0j
    found = []
    for letter, text in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        numbers = [float(word) for word in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", text)]
        points = [complex(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
        if letter in "zZ":
            pen = begin
        else:
            found += [point + pen * letter.islower() for point in points]
            pen = found[-1]
            begin = pen if letter in "mM" else begin
    return found


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*NUMBERS]),
            st.lists(st.integers(-70000, 70000), min_size=6, max_size=6),
        )
    )
)
def test_a_path_that_goes_from_point_to_point_has_the_same_corners(strokes) -> None:
    path = "M 0.1 -0.07 " + " ".join(
        " ".join([letter, *(str(number / 100) for number in numbers[: NUMBERS[letter]])])
        for letter, numbers in strokes
    )
    fewer = from_point_to_point(path)
    assert corners(fewer) == pytest.approx(corners(path), abs=1e-9)
    with pytest.raises(ValueError, match="command 'H'"):
        from_point_to_point(f"{path} H 3")


SIGNS = """<svg width="9pt" height="9pt">
<defs><path id="m1a2b" d="M0 0"/><clipPath id="p3c4d"><rect/></clipPath></defs>
<g id="line2d_1"><g clip-path="url(#p3c4d)">
<use xlink:href="#m1a2b" x="1.23456" y="2" style="fill: #0072b2"/>
<use xlink:href="#m1a2b" x="3" y="4" style="fill: {color}"/>
</g></g>
<g transform="translate(63.62345 0.746) scale(0.015625)"/></svg>"""


def test_signs_of_one_look_have_their_style_once_and_others_keep_theirs() -> None:
    fewer = smaller(SIGNS.format(color="#0072b2"))
    assert '<g clip-path="url(#p3c4d)" style="fill: #0072b2">' in fewer
    assert fewer.count("style=") == 1
    assert "translate(63.62 0.75) scale(0.015625)" in fewer, "a scale keeps all its digits"
    assert smaller(SIGNS.format(color="#d55e00")).count("style=") == 2


def dangling(svg: str) -> set[str]:
    """Names of parts that a drawing refers to and does not hold."""
    return set(re.findall(r'(?:href="|url\()#(\w+)', svg)) - set(re.findall(r' id="([^"]+)"', svg))


def test_short_names_lead_where_the_long_ones_led() -> None:
    svg = SIGNS.format(color="#d55e00")
    short_ones = with_short_names(svg)
    assert dangling(svg) == dangling(short_ones) == set()
    assert re.findall(r' id="([^"]+)"', short_ones) == ["b", "a"]
    assert short_ones.count('href="#b"') == 2
    assert "url(#a)" in short_ones
    assert "#d55e00" in short_ones, "a colour is no name"
    assert dangling(short_ones.replace(' id="b"', "")) == {"b"}


def test_a_drawing_gives_way_to_its_narrow_one_on_a_phone(tmp_path: Path) -> None:
    svg = '<svg width="{wide}pt" height="36pt"></svg>'
    images = tmp_path / "_images"
    images.mkdir()
    for name, wide in (("a", 144), ("b", 72)):
        (images / f"{name}.svg").write_text(svg.format(wide=wide), encoding="utf-8")
    write_narrow(images, {svg.format(wide=144): svg.format(wide=36), "gone": "x"})
    assert sorted(one.name for one in images.iterdir()) == ["a-narrow.svg", "a.svg", "b.svg"]
    for name in ("a", "b", "a-narrow"):
        (images / f"{name}{TWIN}.svg").write_text(svg.format(wide=36), encoding="utf-8")
    html = '<img src="_images/a.svg" alt="A"/><img src="_images/b.svg" alt="B"/>'
    pictures = re.findall(r"<picture>.*?</picture>", placed := place_figures(html, tmp_path))
    sources = [re.search(r'srcset="([^"]+)" width="48" height="48"', one)[1] for one in pictures]
    assert sources == ["_images/a-narrow.svg", "_images/a-narrow-dark.svg"]
    assert all('media="screen and (max-width: 36rem)"' in one for one in pictures)
    assert placed.count("<img") == 4
    assert "b-narrow" not in placed


def test_narrow_drawings_of_a_notebook_reach_the_site_and_not_sphinx(tmp_path: Path) -> None:
    data = {"image/svg+xml": "<svg>wide</svg>\n", NARROW_MIME: "<svg>narrow</svg>"}
    cell = {"cell_type": "code", "source": "", "metadata": {}, "outputs": [{"data": data}]}
    page = tmp_path / "page.ipynb"
    page.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    assert read_narrow(tmp_path, without=()) == {"<svg>wide</svg>": "<svg>narrow</svg>"}
    assert read_narrow(tmp_path, without={"page"}) == {}
    assert NARROW_MIME in page.read_text(encoding="utf-8")
    assert NARROW_MIME not in with_cards(page, {})


PICTURE = re.compile(r"<picture><source media=.*?</picture>")
DRAWN = re.compile(r'<img[^>]*\bsrc="\.\./_images/[^"]*\.svg"')


def wrong_drawings(html: str, evidence: bool) -> list[str]:
    """Drawings of a story without a narrow one, or narrow ones of a page of evidence."""
    return PICTURE.findall(html) if evidence else DRAWN.findall(PICTURE.sub("", html))


def test_every_figure_of_a_story_has_a_narrow_drawing_and_none_of_the_evidence(book: Path) -> None:
    evidence = evidence_pages()
    assert 20 < len(evidence) < 40
    wrong = {
        page.stem: found
        for page in sorted((book / "pages").glob("*.html"))
        if (found := wrong_drawings(page.read_text(encoding="utf-8"), page.stem in evidence))
    }
    assert wrong == {}


def test_a_drawing_without_a_narrow_one_is_noticed() -> None:
    image = '<img alt="A" src="../_images/a.svg"/>'
    picture = f'<picture><source media="m" srcset="../_images/a-narrow.svg">{image}</picture>'
    assert wrong_drawings(image + picture, evidence=False) == [image.removesuffix("/>")]
    assert wrong_drawings(image + picture, evidence=True) == [picture]


HEAT_MAP = """<svg width="9pt" height="9pt"><g id="figure_1">
<g id="patch_1"><path style="fill: #ffffff"/></g>
<g id="axes_1">{image}<g id="patch_3"><path style="stroke: #000000"/></g>
<g id="matplotlib.axis_1"><g id="text_1"><use style="fill: #000000"/></g></g>
<g id="text_2"><g style="fill: #ffffff"><use/></g></g><g id="text_3"><use/></g></g>
<g id="axes_2"><g id="text_4"><use style="fill: #0072b2"/></g></g>
</g></svg>"""


def test_in_the_dark_a_heat_map_keeps_its_colours_and_its_words() -> None:
    drawn = dark(HEAT_MAP.format(image='<image xlink:href="data:..."/>'))
    assert drawn.startswith('<svg fill="#e6e6e6" width="9pt"')
    assert '<g id="patch_1"><path style="fill: #121212"/></g>' in drawn
    assert '<g id="patch_3"><path style="stroke: #e6e6e6"/></g>' in drawn
    assert '<g id="text_1"><use style="fill: #e6e6e6"/></g>' in drawn  # the axis, beside the map
    assert '<g fill="#000000" id="text_2"><g style="fill: #ffffff"><use/></g></g>' in drawn
    assert '<g fill="#000000" id="text_3"><use/></g>' in drawn
    assert '<g id="text_4"><use style="fill: #56b4e9"/></g>' in drawn
    assert 'xlink:href="data:..."' in drawn


def test_in_the_dark_words_on_a_curve_are_light_and_roles_keep_their_hue() -> None:
    drawn = dark(HEAT_MAP.format(image=""))
    assert '<g id="text_2"><g style="fill: #121212"><use/></g></g>' in drawn
    assert '<g id="text_3"><use/></g>' in drawn  # of the colour that the drawing sets
    assert '"#123456"' in dark('<svg a="1" b="#123456"/>')  # a colour without a part in the dark
    mesh = HEAT_MAP.format(image='<g id="QuadMesh_1"><path style="fill: #000000"/></g>')
    assert '<g fill="#000000" id="QuadMesh_1"><path style="fill: #000000"/></g>' in dark(mesh)


def test_every_colour_of_the_books_drawings_has_a_dark_one_that_can_be_read(book: Path) -> None:
    names = sorted(p for p in (book / "_images").glob("*.svg") if not p.stem.endswith(TWIN))
    assert names
    found = {
        color
        for path in names
        for color in re.findall(r"(?:fill|stroke): ?(#[0-9a-f]{6})", path.read_text("utf-8"))
    }
    assert found <= set(DARK)
    assert all(path.with_stem(path.stem + TWIN).is_file() for path in names)


@pytest.mark.parametrize("color", sorted(set(DARK) - {"#ffffff", "#cccccc"}))
def test_dark_colours_stand_out_from_the_dark_ground(color: str) -> None:
    def light(one: str) -> float:  # WCAG 2, relative luminance
        parts = [int(one[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    assert (light(DARK[color]) + 0.05) / (light(DARK["#ffffff"]) + 0.05) > 4.5


# Pages


def test_a_page_loads_what_it_uses() -> None:
    html = (
        '<script src="_static/scripts/bootstrap.js?v=1"></script>'
        '<script src="_static/ledger.js"></script><link href="_static/ntp.css" rel="stylesheet"/>'
        "<p>text</p>"
    )
    assert drop_needless(html) == html[html.index("<link") :]
    assert "ledger.js" in drop_needless(html + '<div class="ntp-ledger-all"></div>')


def test_lines_are_not_indented_around_an_article_and_stay_as_they_are_within() -> None:
    article = "<article>\n  <pre>one\n\n  two</pre>\n</article>"
    page = f"<body>\n\n  <nav>\n    <p></nav>{article}\n\n  </body>"
    assert drop_needless(page) == f"<body>\n<nav>\n<p></nav>{article}\n</body>"


@pytest.mark.parametrize("look", ["light", "dark"])
def test_spans_that_go_from_code_have_the_color_of_the_code(look: str) -> None:
    """Most of a listing is names and punctuation: their spans were a fifteenth of the site."""
    style = get_style_by_name(f"a11y-high-contrast-{look}")
    gone = {
        token for token, name in STANDARD_TYPES.items()
        if name and not drop_needless(f'<span class="{name}"></span>')
    }  # fmt: skip
    assert len(gone) == 3
    as_text = style.style_for_token(Text)
    assert all(style.style_for_token(token) == as_text for token in gone)
    assert style.style_for_token(Keyword) != as_text
    page = '<span class="k">if</span> <span class="n">a</span><span class="p">(</span>'
    assert drop_needless(page) == '<span class="k">if</span> a('


def test_no_page_shows_the_text_of_a_script(book: Path) -> None:
    bare = re.compile(r"<script\b.*?</script>", re.DOTALL)
    assert "requestKernel" in bare.sub("", "<p>x</p>{ requestKernel: true }</script>")
    for page in sorted(book.glob("*/*.html")):
        assert "requestKernel" not in bare.sub("", page.read_text(encoding="utf-8")), page.name


def test_files_bear_a_mark_of_what_they_hold() -> None:
    html = '<link href="../_static/a.css?digest=old"><script src="_static/b.js?v=1"></script>'
    assert mark_versions(html, {"a.css": "x"}) == html  # names are those within the site
    marked = mark_versions(html, {"_static/a.css": "new"})
    assert '"../_static/a.css?v=new"' in marked
    assert '"_static/b.js?v=1"' in marked


def sheets(static: Path, **rules: str) -> None:
    """Write style sheets by name, with _ for a dot."""
    for name, css in rules.items():
        static.joinpath(name.replace("_", ".")).write_text(css, encoding="utf-8")


def test_style_sheets_are_joined_in_the_order_of_the_pages(tmp_path: Path) -> None:
    (tmp_path / "styles").mkdir()
    sheets(tmp_path, icons_css="i{}", proof_css="p{}", ntp_css="n{}", maths_css="m{}")
    joined = join_styles(tmp_path)
    assert (tmp_path / "styles/stack.css").read_text() == "p{}\ni{}\n"
    assert (tmp_path / "styles/own.css").read_text() == "n{}\n"
    assert [path.name for path in tmp_path.glob("*.css")] == ["maths.css"]
    link = '<link rel="stylesheet" href="../_static/{}?v=9" />\n'.format
    html = link("proof.css") + link("icons.css") + link("maths.css") + link("ntp.css") + "<p>"
    found = re.findall(r'href="\.\./_static/([^"?]*)\?', load_joined(html, joined))
    assert found == ["styles/stack.css", "maths.css", "styles/own.css"]
    assert load_joined(html, joined).endswith("<p>")


def test_a_sheet_that_moves_still_finds_its_files(tmp_path: Path) -> None:
    (tmp_path / "styles").mkdir()
    sheets(tmp_path, proof_css="a{background:url(file.png)}b{src:url('c/d.woff')}")
    (tmp_path / "styles/bootstrap.css").write_text('i{src:url("e.svg"),url("data:x/y")}')
    (tmp_path / "styles/theme.css").write_text('@import "../basic.css";\n')
    join_styles(tmp_path)
    assert (tmp_path / "styles/stack.css").read_text().split() == [
        'i{src:url(e.svg),url("data:x/y")}',
        "a{background:url(../file.png)}b{src:url(../c/d.woff)}",
    ]


def test_style_sheets_whose_rules_would_win_are_not_joined(tmp_path: Path) -> None:
    link = '<link rel="stylesheet" href="_static/{}" />'.format
    with pytest.raises(ValueError, match=r"icons.css is loaded after maths.css"):
        load_joined(
            link("proof.css") + link("maths.css") + link("icons.css"),
            {"proof.css": "styles/stack.css", "icons.css": "styles/stack.css"},
        )
    sheets(tmp_path, proof_css="@import 'other.css';")
    with pytest.raises(ValueError, match=r"proof.css imports a sheet"):
        join_styles(tmp_path)


def test_what_is_large_in_folds_comes_in_a_script(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "_static").mkdir()
    html = (
        '<details><summary>S</summary><div class="ntp-later"></div><!--later--><svg>"</svg>'
        '<!--/later--><p>words</p><div class="ntp-later">I</div><!--later--><pre>code</pre>'
        '<i class="a b" id="c" lang="de">="x" </i><!--/later--></details>'
    )
    page = put_off(html, tmp_path / "pages" / "a.html", tmp_path)
    mark = '<div class="ntp-later" data-later="../_static/rests/pages-a.js" data-part="{}">{}</div>'
    assert page == (
        f"<details><summary>S</summary>{mark.format(0, '')}<p>words</p>{mark.format(1, 'I')}"
        "</details>"
    )
    script = (tmp_path / "_static/rests/pages-a.js").read_text(encoding="utf-8")
    parts = json.loads(script.removeprefix("ntpLater(").removesuffix(");\n"))
    assert parts == ['<svg>"</svg>', '<pre>code</pre><i class="a b" id=c lang=de>="x" </i>']


# The book to print


def test_evidence_pages_are_printed_on_request_only() -> None:
    parts = [{"caption": "Start here", "chapters": [{"file": "a"}]},
             {"caption": "Evidence: a paper", "chapters": [{"file": "b"}]}]  # fmt: skip
    assert list(files_of(pdf.without_evidence({"root": "r", "parts": parts}))) == ["r", "a"]
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    kept = set(files_of(pdf.without_evidence(toc)))
    left = set(files_of(toc)) - kept
    assert {"book/claims", "pages/max_margin"} <= kept
    assert {str(claim.page) for claim in CATALOGUE if f"pages/{claim.page}" not in kept} == {
        page.removeprefix("pages/") for page in left
    }


SOME = ["book/preface", "pages/huang2024_s6_max_margin", "book/references"]
TOC = {"root": SOME[0], "parts": [{"caption": "Part", "chapters": [{"file": f} for f in SOME[1:]]}]}


@pytest.fixture(scope="module")
def printed(book: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF of three pages of the site."""
    if find_browser() is None:
        pytest.skip(NO_BROWSER)
    return pdf.make_pdf(book, tmp_path_factory.mktemp("print") / "work", SOME, TOC, "The book")


def outline(data: bytes) -> list[str]:
    """The titles in a PDF's outline, as Chromium writes them."""
    found = []
    for plain, coded in re.findall(rb"/Title (?:\(((?:[^()\\]|\\.)*)\)|<([0-9A-Fa-f]+)>)", data):
        text = bytes.fromhex(coded.decode()).decode("utf-16") if coded else plain.decode("latin-1")
        found.append(" ".join(text.split()))
    return found


def test_the_pdf_has_pages_an_outline_and_links(printed: Path) -> None:
    data = printed.read_bytes()
    assert data.startswith(b"%PDF-")
    titles = " ".join(outline(data)).replace(" ", "")
    for title in ("Contents", "Max-margin attention", "References"):
        assert title.replace(" ", "") in titles
    assert 10 < len(re.findall(rb"/Type /Page\b", data)) < 80
    assert data.count(b"/Subtype /Link") > 20


def about(data: bytes) -> dict[str, bool]:
    """What a PDF says of itself for readers who do not see it."""
    catalog = re.search(rb"<</Type /Catalog\b.*?\nendobj", data, re.DOTALL)
    assert catalog is not None
    return {
        "language": b"/Lang (en)" in catalog[0],
        "tags": b"/Marked true" in catalog[0] and b"/StructTreeRoot " in catalog[0],
        "title": b"/DisplayDocTitle true" in catalog[0] and b"<</Title (The book)" in data,
    }


def tagged(data: bytes) -> set[str]:
    """The kinds of tags in a PDF."""
    return {kind.decode() for kind in re.findall(rb"<</Type /StructElem\n/S /(\w+)\n", data)}


def test_the_pdf_says_its_language_title_and_tags(printed: Path) -> None:
    data = printed.read_bytes()
    assert about(data) == {"language": True, "tags": True, "title": True}
    kinds = {"Document", "H1", "H2", "P", "L", "LI", "Link", "Table", "TR", "TH", "TD"}
    assert kinds <= tagged(data)


def test_a_table_too_wide_for_the_sheet_shrinks_from_its_own_size() -> None:
    if (executable := find_browser()) is None:
        pytest.skip(NO_BROWSER)
    from playwright.sync_api import sync_playwright

    # Measured in the size of its letters, whichever fonts the machine has.
    wide_cell = '<td><div style="width: 70em"></div></td>'
    html = f"<style>{pdf.LOOK}</style><table><tr>{wide_cell}</tr></table>"
    grows = pdf.FIT.replace("${share * size}px", "${share}em")  # of what stands around it
    assert grows != pdf.FIT
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=pdf.FLAGS)
        page = browser.new_page(viewport={"width": pdf.WIDTH, "height": 600})
        for fit, wide in ((pdf.FIT, 0), (grows.replace("turn < 4", "turn < 1"), 1)):
            page.set_content(html)
            before = page.evaluate("document.querySelector('table').getBoundingClientRect().width")
            assert before > pdf.WIDTH + 1
            assert len(page.evaluate(fit, pdf.WIDTH)) == wide
        browser.close()


def test_the_contents_of_the_pdf_give_the_sheet_of_each_chapter(tmp_path: Path) -> None:
    if (executable := find_browser()) is None:
        pytest.skip(NO_BROWSER)
    from playwright.sync_api import sync_playwright

    lines = "".join(f'<span data-chapter="{name}"></span>' for name in ("a", "b"))
    html = (
        f'<nav class="ntp-contents">{lines}<a href="#a">A</a><a href="#b">B</a></nav>'
        '<style>div { break-before: page }</style><div id="a">A</div><div>A</div>'
        '<div>A</div><div id="b">B</div>'
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=pdf.FLAGS)
        page = browser.new_page()
        page.set_content(html)
        data = pdf.print_numbered(page)
        assert page.locator("[data-chapter]").all_inner_texts() == ["2", "5"]
        # The first printing has no numbers; here each takes a sheet of its own.
        page.add_style_tag(content="span:not(:empty) { display: block; break-after: page }")
        page.evaluate("document.querySelectorAll('span').forEach(one => one.textContent = '')")
        pdf.print_numbered(page)
        assert page.locator("[data-chapter]").all_inner_texts() == ["4", "7"]
        # And here every change of a number adds a sheet or takes it away.
        page.add_style_tag(content=".odd nav { padding-bottom: 60cm }")
        page.evaluate(
            "new MutationObserver(() => document.body.classList.toggle('odd'))"
            ".observe(document.querySelector('nav'), {childList: true, subtree: true})"
        )
        with pytest.raises(EditionError, match="moved the chapters"):
            pdf.print_numbered(page)
        browser.close()
    assert pdf.sheets(data, ["a", "b"]) == {"a": 2, "b": 5}
    assert about(data)["language"] is about(data)["title"] is False  # it names neither
    with pytest.raises(EditionError, match="no place c"):
        pdf.sheets(data, ["a", "c"])
    with pytest.raises(EditionError, match="no list of places"):
        pdf.sheets(data.replace(b"/Dests", b"/Other"), ["a"])


def test_the_contents_of_the_pdf_name_chapters_by_their_titles(book: Path, tmp_path: Path) -> None:
    titles = {page: title_of((book / f"{page}.html").read_text(encoding="utf-8")) for page in SOME}
    listed = pdf.contents(TOC, titles)
    for page, title in titles.items():
        assert "/" not in title
        assert f'<a href="#{pdf.slug(page)}">{title}</a>' in listed
    (tmp_path / "p.html").write_text("<title>Only the book</title>", encoding="utf-8")
    with pytest.raises(EditionError, match="the page p of the site has no title"):
        pdf.whole_book(tmp_path, ["p"], TOC, "t", "up")


def test_links_and_ids_of_chapters_do_not_meet() -> None:
    html = (
        '<article class="bd-article"><h1 id="a">A</h1><a href="#a">1</a><a href="q.html#b">2</a>'
        '<a href="../source/x.html">3</a><a href="https://example.org/">4</a>'
        '<details><summary>s</summary></details><img src="../_images/i.svg">'
        '<img alt="A" class="ntp-in-dark x" src="../_images/i-dark.svg"></article>'
    )
    text = pdf.chapter(html, "pages/p", {"pages/p": "pages-p", "pages/q": "pages-q"}, "up")
    assert 'id="pages-p--a"' in text
    assert '<a href="#pages-p--a">1</a><a href="#pages-q--b">2</a><a >3</a>' in text
    assert 'href="https://example.org/"' in text
    assert "<details open>" in text
    assert 'src="up/_images/i.svg"' in text
    assert "i-dark.svg" not in text


def test_long_statements_of_coq_are_not_printed_and_short_ones_are() -> None:
    short, long = "\n".join("s" * pdf.LONG), "\n".join("t" * (pdf.LONG + 1))
    shown = f'<pre class="ntp-coq">{short}</pre>'
    html = f'<article class="bd-article">{shown}<pre class="ntp-coq">{long}</pre></article>'
    text = pdf.chapter(html, "pages/p", {"pages/p": "pages-p"}, "up")
    assert shown in text
    assert long not in text
    assert f": {pdf.LONG + 1} lines, in that file and on the screen" in text


def test_what_is_wider_than_paper_is_an_error(tmp_path: Path) -> None:
    if find_browser() is None:
        pytest.skip(NO_BROWSER)
    page = tmp_path / "wide.html"
    page.write_text(
        '<section class="ntp-chapter" id="c"><pre style="width: 5000px">w</pre></section>',
        encoding="utf-8",
    )
    with pytest.raises(EditionError, match="wider than a sheet"):
        pdf.print_book(page, tmp_path / "no.pdf")
    assert not (tmp_path / "no.pdf").exists()


def test_without_a_browser_make_pdf_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pdf.shutil, "which", lambda _: None)
    assert pdf.main([]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: no Chromium or Chrome")
    assert said.count("\n") == 1
