"""Every page of the site in a real browser, axe-core included; and what it must not overlook."""

from __future__ import annotations

import random
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe import AXE, LOOKS, NO_AXE, judge
from browser import serve
from playwright.sync_api import Browser, BrowserContext
from site_kinds import Kinds, cover
from site_links import Links, dead_links, equal_titles, read_site, twin_ids
from site_visit import ROOT, WIDE, Visit, all_pages, look_at

from tools.site.html import toc_pages

GROUPS = 10  # so that two processes share the work
PAGES = all_pages()
CODE = [page for page in PAGES if page.startswith("source/")]
MEDIAN = 300_000  # bytes
LEAST = 50_000  # of a page with what every page loads
WHOLE = 55_000_000  # 18 of them a Python for the browser, which only those load who ask for it

PLANTED = """<!doctype html><html lang="en"><head><title>{title}</title></head><body>
<div class="skip-link"><a href="#main-content">Skip</a></div><main id="main-content"><article>
<h1>One</h1>{part}</article></main></body></html>"""
FAULTS = {
    "another machine": '<img src="http://elsewhere.invalid/p.png" alt="">',
    "answered with 404": '<img src="missing.png" alt="">',
    "console error": "<script>console.error('wrong')</script>",
    "console warning": "<script>console.warn('wrong')</script>",
    "a script fails": "<script>throw new Error('worse')</script>",
    "occurs more than once": '<p id="twin">One</p><p id="twin">Two</p>',
    "has no text": '<figure><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt=""></figure>',
    "or its caption again": (
        '<figure><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="Same">'
        "<figcaption>Same</figcaption></figure>"
    ),
    "0 of 1 formulas": '<span class="math">x</span>',
    "formulas are broken": "<merror>x</merror>",
    "leave out a level": "<h3>Three</h3>",
    "its layout moves by": (
        "<p>One</p><p>Two</p><script>const next = requestAnimationFrame;"
        "addEventListener('load', () => next(() => next(() => {"  # drawn once without it
        "document.body.prepend(Object.assign(document.createElement('div'),"
        "{style: 'height: 300px'}))})))</script>"
    ),
    "pixels sideways": '<div style="width: 900px; height: 1px"></div>',
    "not dark": "",
}
UNFIT = {
    "color-contrast": '<p style="color: #bbb; background: #fff">Hardly to be read.</p>',
    "320 px, dark: color-contrast": (
        "<style>@media (max-width: 400px) { html[data-theme=dark] p { color: #bbb } }</style>"
        '<p style="background: #fff">Hardly to be read.</p>'
    ),
    "320 px: target-size": (
        "<style>@media (max-width: 400px) { .b { width: 9px; height: 9px; padding: 0;"
        " margin: 0; border: 0 } }</style>"
        '<button class="b" aria-label="a"></button><button class="b" aria-label="b"></button>'
    ),
    "768 px: button-name": (
        "<style>.m { display: none } @media (min-width: 500px) and (max-width: 900px)"
        " { .m { display: block } }</style><button class='m'></button>"
    ),
    "768 px: target-size": (
        "<style>.t { width: 9px; height: 9px; padding: 0; margin: 0; border: 0; display: none }"
        " @media (min-width: 500px) and (max-width: 900px) { .t { display: inline } }</style>"
        '<button class="t" aria-label="a"></button><button class="t" aria-label="b"></button>'
    ),
    "1440 px: image-alt": '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">',
    "1440 px: button-name": "<button></button>",
}


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Windows that share what they fetched."""
    made = browser.new_context(viewport=WIDE, color_scheme="light")  # type: ignore[arg-type]
    yield made
    made.close()


@pytest.fixture(scope="module")
def known() -> dict[str, set[str]]:
    """For each look, the kinds of text that axe has judged."""
    return {look: set() for look in LOOKS}


@pytest.fixture(scope="module")
def visited(book: Path) -> list[str]:
    """The pages that are looked at; of those of code, which differ in nothing but their text, some.

    Of pages with checks and of pages with modules of ntpcore the largest and the smallest, and the
    one with the longest line.
    """
    texts = {page: (book / f"{page}.html").read_text(encoding="utf-8") for page in CODE}
    some = set()
    for modules in (True, False):
        kind = [page for page in CODE if page.startswith("source/api/") == modules]
        lines = {page: re.sub("<[^>]*>", "", texts[page]).splitlines() for page in kind}
        some |= {pick(kind, key=lambda page: len(texts[page])) for pick in (min, max)}
        some.add(max(kind, key=lambda page: max(map(len, lines[page]))))
    return [page for page in PAGES if page not in CODE or page in some]


@pytest.fixture(scope="module")
def judged(book: Path, visited: list[str]) -> set[str]:
    """The pages that axe judges: each kind of element, within each tag, is on one of them."""
    texts = {page: (book / f"{page}.html").read_text(encoding="utf-8") for page in visited}
    kinds = {page: Kinds(text).found for page, text in texts.items()}
    return set(cover(kinds, {page: len(text) for page, text in texts.items()}))


@pytest.fixture(scope="module")
def links(book: Path) -> dict[str, Links]:
    """Titles, ids and links of all pages."""
    return read_site(book)


@pytest.fixture(scope="module")
def weights() -> dict[str, int]:
    """What the pages weigh that were looked at, in bytes."""
    return {}


def test_the_site_has_the_pages_that_it_should_and_no_others(links: dict[str, Links]) -> None:
    assert sorted(links) == sorted(["index.html", *(f"{page}.html" for page in PAGES)])
    assert len(toc_pages(ROOT / "_toc.yml")) == len(set(toc_pages(ROOT / "_toc.yml")))


def test_every_link_within_the_site_arrives_and_titles_and_ids_differ(
    book: Path, links: dict[str, Links]
) -> None:
    assert twin_ids(book, links) == []
    assert dead_links(book, links) == []
    assert equal_titles(links) == []


def test_dead_links_equal_titles_and_twins_are_noticed(tmp_path: Path) -> None:
    part = '<a href="other.html#here">1</a><a href="other.html#gone">2</a><a href="no.html">3</a>'
    (tmp_path / "one.html").write_text(PLANTED.format(title="A", part=part), encoding="utf-8")
    (tmp_path / "other.html").write_text(
        PLANTED.format(title="A", part='<p id="here">Here.</p><p id="here">Not here.</p>'),
        encoding="utf-8",
    )
    pages = read_site(tmp_path)
    assert [line.split(",")[0] for line in dead_links(tmp_path, pages)] == [
        "one.html leads to other.html#gone", "one.html leads to no.html"
    ]  # fmt: skip
    assert len(equal_titles(pages)) == 1
    assert twin_ids(tmp_path, pages) == ["other.html has here 2 times"]


@pytest.mark.parametrize("group", range(GROUPS))
def test_pages_are_whole_and_quiet_and_fit_everyone(
    group: int,
    browser: Browser,
    known: dict[str, set[str]],
    visited: list[str],
    judged: set[str],
    weights: dict[str, int],
    book_address: str,
) -> None:
    wrong = {}
    pages = visited[group::GROUPS]
    opened = [Visit(browser, f"{book_address}{pages[0]}.html", book_address)]
    for page, after in zip(pages, [*pages[1:], None], strict=True):
        if after:  # which loads, and is watched for what moves, while this one is judged
            opened.append(Visit(browser, f"{book_address}{after}.html", book_address))
        visit = opened.pop(0)
        visit.judge(known if page in judged else None)
        weights[page] = visit.weight
        if visit.wrong:
            wrong[page] = visit.wrong
    assert wrong == {}
    if not AXE.is_file():
        pytest.skip(NO_AXE)


def test_what_stands_on_one_page_alone_is_judged_and_what_stands_twice_once() -> None:
    plain = '<head><b></b></head><p class="a b">x<br><a href="one">1</a></p><svg><g></g></svg>'
    same = '<p class="b a tag_x">y<br><a href="two">22</a></p><svg></svg><p class="a b">z</p>'
    same += '<p class="a b"><span class="math"><math></math></span></p>'
    texts = {"plain": plain, "same": same}
    for part in (
        '<p class="a b"><i>x</i></p>',
        '<p class="b">x</p>',
        '<p class="a b" role="note">x</p>',
        '<p class="a b" style="color: red">x</p>',
        '<p class="a b">x<br></p><a href="one">below no paragraph</a>',
        "<svg><g></g></svg><g></g>",
        '<p class="a b"><svg></svg></p>',
    ):
        texts[part] = plain + part
    kinds = {page: Kinds(text).found for page, text in texts.items()}
    kinds["same"].add(("", ("head", "", ())))
    size = dict.fromkeys(texts, 1)
    assert sorted(cover(kinds, size)) == sorted(set(texts) - {"plain", "same"})
    assert cover({page: kinds[page] for page in ("plain", "same")}, size) == ["plain"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_noticed(fault: str, browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        PLANTED.format(title="Wrong", part=FAULTS[fault]), encoding="utf-8"
    )
    with serve(tmp_path) as address:
        found = look_at(browser, f"{address}page.html", address)
    assert any(fault in line for line in found), found


@pytest.mark.parametrize("fault", UNFIT)
def test_a_planted_barrier_is_noticed(fault: str, context: BrowserContext) -> None:
    if not AXE.is_file():
        pytest.skip(NO_AXE)
    page = context.new_page()
    page.set_content(PLANTED.format(title="Wrong", part=UNFIT[fault]))
    found = judge(page, {look: set() for look in LOOKS})
    page.close()
    assert any(fault in line for line in found), found


@pytest.mark.parametrize("name", ["book/preface", "pages/huang2024_s6_max_margin", "book/claims"])
def test_a_page_opened_as_a_file_is_as_good(name: str, browser: Browser, book: Path) -> None:
    address = book.resolve().as_uri()
    assert look_at(browser, f"{address}/{name}.html", "file://") == []


def test_search_works_in_files_and_over_http(
    context: BrowserContext, book: Path, book_address: str
) -> None:
    for site in (f"{book.resolve().as_uri()}/", book_address):
        page = context.new_page()
        page.goto(f"{site}search.html?q=snapping")
        page.wait_for_selector("#search-results li a")
        found = page.locator("#search-results li a").all_inner_texts()
        assert any("snapping" in text.lower() for text in found)
        page.goto(f"{site}search.html?q=zzyzx")
        page.wait_for_function(
            "() => /not match|no results|0/i.test("
            "document.querySelector('#search-results').innerText)"
        )
        assert page.locator("#search-results li a").count() == 0
        page.close()


def test_formulas_need_no_script(browser: Browser, book_address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{book_address}book/notation.html")
    assert page.locator("math").count() > 100
    assert page.locator("math").first.bounding_box()["width"] > 3  # type: ignore[index]
    context.close()


def test_menus_drawings_and_copies_work_by_keyboard(
    context: BrowserContext, book_address: str
) -> None:
    page = context.new_page()
    page.goto(f"{book_address}pages/huang2024_s6_max_margin.html")
    menu = page.locator('[data-bs-toggle="dropdown"]').first
    menu.focus()
    page.keyboard.press("Enter")
    assert menu.get_attribute("aria-expanded") == "true"
    page.keyboard.press("Escape")
    assert menu.get_attribute("aria-expanded") == "false"
    assert page.locator("a.ntp-node").count() == 0
    assert page.locator(".ntp-code").count() == 0
    card = page.locator(".ntp-check").first
    assert card.locator("details").count() == 1
    card.locator("summary").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".ntp-check details[open] a.ntp-node")
    assert "def check_" in card.locator(".ntp-code").inner_text()
    copy = page.locator(".ntp-copy:visible").first.element_handle()  # others are folded away
    copy.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("one => one.textContent !== 'copy'", arg=copy)
    page.close()


def test_pages_and_the_whole_site_are_light(
    browser: Browser, visited: list[str], weights: dict[str, int], book: Path, book_address: str
) -> None:
    for page in visited:
        if page not in weights:  # since the test above, which finds it, was left out
            visit = Visit(browser, f"{book_address}{page}.html", book_address)
            visit.judge(None)
            weights[page] = visit.weight
    assert min(weights.values()) > LEAST, "styles and scripts were not counted"
    assert statistics.median(weights.values()) < MEDIAN, sorted(weights.items())
    files = [path for path in book.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < WHOLE


def test_a_heavy_page_is_noticed(browser: Browser, tmp_path: Path) -> None:
    """Bytes are counted as they are sent: what can be packed weighs little."""
    for name, part in (("odd", random.Random(1).randbytes(400_000).hex()), ("even", "a" * 800_000)):
        (tmp_path / f"{name}.html").write_text(
            PLANTED.format(title="Heavy", part=f"<!--{part}-->"), encoding="utf-8"
        )
    with serve(tmp_path) as address:
        odd, even = (Visit(browser, f"{address}{name}.html", address) for name in ("odd", "even"))
        for visit in (odd, even):
            visit.judge(None)
    assert odd.weight > MEDIAN
    assert 0 < even.weight < LEAST
