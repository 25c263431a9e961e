"""Numbers that Python prints as 3e+03: pages say 3000, and typeset powers of ten."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tiny_book import build, make_tiny_book

from tools.site.powers import in_page, worded

# What holds no sentence, found without the module that is tested.
ASIDE = re.compile(r"<(code|math|pre|script|style|svg|textarea)\b.*?</\1>|<!--.*?-->", re.DOTALL)
ALOUD = re.compile(r'\s(?:alt|title|aria-label)="([^"]*)"')
BARE = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e[-−+]?\d+(?!\w)")


def bare_numbers(html: str) -> list[str]:
    """Numbers as programs write them in what a page says, shows in tables, and has read aloud."""
    html = ASIDE.sub(" ", html)
    return BARE.findall(" ".join([re.sub(r"<[^>]*>", " ", html), *ALOUD.findall(html)]))


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("3e+03", "3000"),
        ("2.62e+03: violated", "2620: violated"),
        ("9.99e+04", "99900"),
        ("1e+05", "${10^{5}}$"),
        ("(8.4e-05)", r"(${8.4\cdot 10^{-5}}$)"),
        ("1.0e−02", "0.010"),
        ("4.6e-04", r"${4.6\cdot 10^{-4}}$"),
        ("0.0e+00", "0.0"),
        ("1e5 or 4e300.", r"${10^{5}}$ or ${4\cdot 10^{300}}$."),
        ("is -1.1e-07, x-2e+01", r"is ${-1.1\cdot 10^{-7}}$, x-20"),
        ("-3e+03", "−3000"),
    ],
)
def test_a_number_has_its_zeros_or_a_power_of_ten(printed: str, said: str) -> None:
    assert worded(printed) == said


@pytest.mark.parametrize(
    "other", ["0.0025 and 1234", "12e5", "a1e5", "1e5x", "1.2.3e5", "e+1", "1e5.5", "0x1e5", "2e"]
)
def test_what_is_no_such_number_stays(other: str) -> None:
    assert worded(other) == other == in_page(other)


TENTH = '<span class="ntp-tex" data-tex="{10^{-6}}">10⁻⁶</span>'


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<td class="a1e-06">1e−06</td>', f'<td class="a1e-06">{TENTH}</td>'),
        ('<abbr title="to 1e-6 of $5">3e+03</abbr>', '<abbr title="to 10⁻⁶ of $5">3000</abbr>'),
        ('<img alt="x, 4e+02" src="1e-6.svg"/>', '<img alt="x, 400" src="1e-6.svg"/>'),
        ("<!--later-->1e-06<!--/later-->", f"<!--later-->{TENTH}<!--/later-->"),
    ],
)
def test_text_and_what_is_read_aloud_are_set(html: str, found: str) -> None:
    assert in_page(html) == found


@pytest.mark.parametrize(
    "html",
    [
        '<code class="x">1e-6</code>',
        "<pre>x = <span>1e-6</span>\n3e+03</pre>",
        "<script>x = 3e+03</script>",
        '<svg aria-label="x"><text>3e+03</text></svg>',
        "<math><mn>1e5</mn></math>",
        "<!-- 1e5 -->",
        '<a href="#1e5" data-typed="1e5">x</a>',
        '<span class="ntp-tex" data-tex="x \\le 1e5">x ≤ 1e5</span>',
    ],
)
def test_code_drawings_and_formulas_stay(html: str) -> None:
    assert in_page(html) == html


# A tiny book with such numbers in a sentence, a card, a result, a table, and code.
CHANGES = (
    ("ntpbook/tiny.py", "Check, Control,", "Check, Control, Result,"),
    ("ntpbook/tiny.py", '"7/6"}', '"7/6", "few": Result(3e3, 1, "1e-8 of $W_1$")}'),
    ("ntpbook/tiny.py", 'witness="2 < 3"', 'witness="2 < 3, at step 7.9e+09"'),
    ("notebooks/first.md", "`ours-one:sum`", "`ours-one:sum` below {result}`ours-one:few`"),
    ("notebooks/second.md", "For every number", "Below 2e-5, not `2e-5`, for every number"),
    (
        "notebooks/second.md",
        "tiny.check",
        "from ntpverdicts.tables import Table\n\n"
        'display(Table(("at 1e6",), (("4e-16",),)))\ntiny.check',
    ),
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That book."""
    folder = make_tiny_book(tmp_path_factory.mktemp("tiny") / "book")
    for file, old, new in CHANGES:
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    return folder


def pages(folder: Path) -> dict[str, str]:
    """The pages of a book that is built now."""
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    site = folder / "_build/html"
    return {path.stem: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}


def test_a_built_page_says_each_of_them_as_a_reader_writes_it(tiny: Path) -> None:
    found = pages(tiny)
    assert {name: bare_numbers(html) for name, html in found.items() if bare_numbers(html)} == {}
    assert re.search(r'title="[^"]*10⁻⁸ of W_1;[^"]*">3000</abbr>', found["first"])
    assert re.search(
        r'Below <span class="math"><math>.*?</math>,</span> not <code', found["second"]
    )
    for html in (found["second"], found["claims"]):
        assert 'at step <span class="math"><math><mrow><mn>7.9</mn><mo>⋅</mo><msup>' in html
    assert re.search(r'<td><span class="math"><math><mrow><mn>4</mn>', found["second"])
    published = (tiny / "_build/html/claims.json").read_text(encoding="utf-8")
    assert '"shown":"3e+03"' in published
    assert "at step 7.9e+09" in published


def test_a_book_that_leaves_them_is_noticed(tiny: Path, tmp_path: Path) -> None:
    planted = shutil.copytree(tiny, tmp_path / "copy", symlinks=True)
    file = planted / "book/_ext/bookmath.py"
    text = file.read_text(encoding="utf-8")
    assert "typeset(in_page(html)," in text
    file.write_text(text.replace("typeset(in_page(html),", "typeset(html,"), encoding="utf-8")
    found = pages(planted)
    assert sorted(bare_numbers(found["first"])) == ["1e-8", "3e+03"]
    assert sorted(bare_numbers(found["second"])) == ["1e6", "2e-5", "4e−16", "7.9e+09"]
    assert bare_numbers(found["claims"]) == ["7.9e+09"]


def test_no_sentence_of_the_book_has_a_number_as_programs_write_it(book: Path) -> None:
    found = {
        path.relative_to(book).as_posix(): bare
        for path in sorted(book.rglob("*.html"))
        if (bare := bare_numbers(path.read_text(encoding="utf-8")))
    }
    assert found == {}
