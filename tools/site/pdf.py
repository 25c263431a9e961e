"""`make pdf`: the stories, or all pages, as one PDF, printed by Chromium from the built site."""

from __future__ import annotations

import posixpath
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ntpcli.report.page import BROWSERS
from tools.site.editions import ROOT, SITE, EditionError, about, leads_to, write_edition
from tools.site.html import article_of, files_of, is_evidence, title_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAME = "ntp-companion.pdf"
ABOUT = (
    "A companion to Huang, Liang, Yang (NeurIPS 2024) and Tian, Wang, Chen, Du (NeurIPS 2023): "
    "every statement with its check and its verdict"
)
WORK = ROOT / ".build" / "pdf"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
WIDTH = 658  # pixels between the margins of a sheet of A4: 210 mm without twice 18 mm
MARGIN = "18mm"
TIMEOUT = 300_000  # milliseconds
PRINTS = 3

COQ = re.compile(r'<pre class="ntp-coq">(.*?)</pre>', re.DOTALL)
LONG = 10  # lines of a statement of Coq: what has more is a click away on the screen
ATTRIBUTE = re.compile(r'\b(id|href|src|for|aria-labelledby|aria-describedby|headers)="([^"]*)"')
LOOKS = re.compile(r'<link\b[^>]*\bhref="([^"]+\.css)[^"]*"[^>]*>')
TAG = re.compile(r"<[^>]*>")
FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)
CODE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
SPAN = re.compile(r"</?span[^>]*>")

# A file that Chromium writes: the sheets in their order, and the places that links lead to.
SHEETS = re.compile(rb"/Kids \[([^\]]*)\]")
KIND = re.compile(rb"<</Type /(Pages?)\b")
OBJECT = re.compile(rb"\n(\d+) 0 obj\n(.*?)\nendobj", re.DOTALL)
PLACE = re.compile(rb"/([\w.#-]+) \[(\d+) 0 R /XYZ ")
CATALOG = re.compile(rb"/Type /Catalog\n/Pages (\d+) 0 R\n/Dests (\d+) 0 R")
NUMBERS = """(numbers) => {
  for (const [chapter, number] of Object.entries(numbers))
    document.querySelector(`.ntp-contents [data-chapter="${chapter}"]`).textContent = number;
}"""
CHAPTERS = """() => [...document.querySelectorAll('.ntp-contents [data-chapter]')]
  .map(number => number.dataset.chapter)"""

# What is wider than the sheet becomes smaller until it fits; a table's words wrap anew each time.
FIT = """(width) => {
  const parts = 'div.math > math, table, article svg, pre';
  const wide = part => Math.max(part.scrollWidth || 0, part.getBoundingClientRect().width,
    ...[...part.children].map(c => c.getBoundingClientRect().right
      - part.getBoundingClientRect().left));
  for (const part of document.querySelectorAll(parts)) {
    const room = part.parentElement.clientWidth || width;
    const size = parseFloat(getComputedStyle(part).fontSize);
    for (let share = 1, turn = 0; turn < 4 && share > 0.45 && wide(part) > room + 1; turn += 1) {
      share = Math.max(0.45, share * 0.97 * room / wide(part));
      part.style.fontSize = `${share * size}px`;
    }
  }
  return [...document.querySelectorAll(`${parts}, img`)]
    .filter(part => part.getBoundingClientRect().right > width + 2)
    .map(part => `${part.closest('.ntp-chapter')?.id}: ${part.textContent.trim().slice(0, 60)}`);
}"""
TWINS = re.compile(r'<img\b[^>]*class="ntp-in-dark[^>]*>')  # drawings for a dark page
LOOK = """
@page { size: A4; }
html, body { background: #fff !important; color: #000; }
body { width: auto; margin: 0; font-size: 10.5pt; line-height: 1.4; }
.ntp-chapter, .ntp-contents { break-before: page; }
.ntp-title { padding-top: 30vh; text-align: center; }
.ntp-title p:first-child { font-size: 2.2em; font-weight: 600; }
h1, h2, h3, h4, .ntp-head { break-after: avoid; }
p, li, pre { orphans: 3; widows: 3; }
/* What is long may break, and what is short stays whole. */
.ntp-check, table, .bd-main .bd-content table, div.highlight, div[class*=highlight-]
  { break-inside: auto !important; }
tr, dt, .sd-card, figure, .ntp-check dl { break-inside: avoid; }
div[class*=highlight-], div.highlight { display: block !important; }
.ntp-contents ol { list-style: none; padding-left: 1em; line-height: 1.25; }
.ntp-part { margin-top: 0.5em; }
.ntp-contents li { display: flex; justify-content: space-between; }
.ntp-number { flex: none; width: 3em; text-align: right; }
.headerlink, .ntp-copy, .ntp-filter, p.ntp-shown, .ntp-later, .toggle-button,
.cell details.hide > summary
  { display: none !important; }
pre, code { white-space: pre-wrap !important; overflow-wrap: anywhere; }
.ntp-wide, div.math, .cell_output, .output, table.table { overflow: visible !important; }
table { display: table !important; width: 100%; min-width: 0 !important; max-width: 100%;
  font-size: 0.8em; }
td, th { overflow-wrap: anywhere; }
img, svg { max-width: 100% !important; height: auto; }
summary { list-style: none; }
"""


def find_browser() -> str:
    """The Chromium of this machine.

    Raises:
        EditionError: it has none.
    """
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise EditionError(
            "no Chromium or Chrome on this machine, which prints the book; "
            "install one (on Debian and Ubuntu: apt install chromium) and repeat: make pdf"
        )
    return found


def slug(page: str) -> str:
    """The id of a chapter."""
    return page.replace("/", "-")


def chapter(html: str, page: str, pages: Mapping[str, str], up: str) -> str:
    """The article of a page as a chapter: ids of its own, links within the book, all unfolded.

    Args:
        html: the page.
        page: its name.
        pages: the slug of every page of the book.
        up: the address of the site, as the book in one file sees it.
    """
    body = _article(html, page)
    body = COQ.sub(short_statement, body)
    body = re.sub(r"<details\b(?![^>]*\bopen\b)", "<details open", body)
    body = re.sub(r"<script\b.*?</script>", "", body, flags=re.DOTALL)
    body = TWINS.sub("", body.replace(' loading="lazy" decoding="async"', ""))
    body = FORMULA.sub(lambda formula: as_one(formula[0]), body)
    body = CODE.sub(lambda code: SPAN.sub("", code[0]), body)
    folder = posixpath.dirname(page)

    def move(found: re.Match[str]) -> str:
        name, value = found[1], unescape(found[2])
        if name == "src":
            moved = (
                value
                if ":" in value
                else f"{up}/{posixpath.normpath(posixpath.join(folder, value))}"
            )
        elif name != "href":
            moved = " ".join(f"{slug(page)}--{one}" for one in value.split())
        else:
            moved = moved_link(value, page, pages)
            if not moved:
                return ""
        return f'{name}="{escape(moved)}"'

    return f'<section class="ntp-chapter" id="{slug(page)}">{ATTRIBUTE.sub(move, body)}</section>'


def short_statement(found: re.Match[str]) -> str:
    """A statement of Coq; of a long one, how long it is and where it stands."""
    lines = found[1].count("\n") + 1
    return found[0] if lines <= LONG else f": {lines} lines, in that file and on the screen"


def as_one(formula: str) -> str:
    """A formula as one thing, named by its signs: each for itself makes the PDF twice as large."""
    signs = " ".join(unescape(TAG.sub(" ", formula)).split())
    return f'<math role="img" aria-label="{escape(signs)}"{formula.removeprefix("<math")}'


def _article(html: str, page: str) -> str:
    """What stands in the article of a page."""
    found = article_of(html)
    if not found:
        raise EditionError(f"the page {page} of the site has no article; run: make book")
    return found


def moved_link(link: str, page: str, pages: Mapping[str, str]) -> str:
    """Where a link leads in the book in one file; empty for what only the site has."""
    found = leads_to(link, page)
    if found is None:
        return link
    target, place = found[0].removesuffix(".html"), found[1]
    if target not in pages:
        return ""
    return f"#{pages[target]}--{place}" if place else f"#{pages[target]}"


def _title(html: str, page: str) -> str:
    """The title of a chapter, without that of the book."""
    found = title_of(html)
    if not found:
        raise EditionError(f"the page {page} of the site has no title; run: make book")
    return found


def contents(toc: object, titles: Mapping[str, str]) -> str:
    """The table of contents: a link to every chapter, and room for the number of its sheet."""

    def lines(entry: object) -> Iterator[str]:
        if isinstance(entry, list):
            for one in entry:
                yield from lines(one)
        elif isinstance(entry, dict):
            if "caption" in entry:
                yield f'<li class="ntp-part"><strong>{escape(entry["caption"])}</strong></li>'
            for key in ("root", "file"):
                if key in entry:
                    name = str(entry[key])
                    link = f'<a href="#{slug(name)}">{escape(titles[name])}</a>'
                    number = f'<span class="ntp-number" data-chapter="{slug(name)}"></span>'
                    yield f"<li>{link}{number}</li>"
            for key in ("parts", "chapters", "sections"):
                yield from lines(entry.get(key))

    return f'<nav class="ntp-contents"><h1>Contents</h1><ol>{"".join(lines(toc))}</ol></nav>'


def whole_book(site: Path, pages: list[str], toc: object, title: str, up: str) -> str:
    """All pages as one."""
    slugs = {page: slug(page) for page in pages}
    texts = {page: (site / f"{page}.html").read_text(encoding="utf-8") for page in pages}
    titles = {}
    looks: dict[str, None] = {}
    for page, html in texts.items():
        titles[page] = _title(html, page)
        folder = posixpath.dirname(page)
        for link in LOOKS.findall(html):
            looks[posixpath.normpath(posixpath.join(folder, link))] = None
    styles = "".join(f'<link rel="stylesheet" href="{up}/{link}">' for link in looks)
    chapters = "".join(chapter(html, page, slugs, up) for page, html in texts.items())
    return (
        f'<!doctype html><html lang="en" data-theme="light" data-mode="light"><head>'
        f'<meta charset="utf-8"><title>{escape(title)}</title>{styles}<style>{LOOK}</style></head>'
        f'<body><main class="bd-content"><div class="ntp-title"><p>{escape(title)}</p>'
        f"<p>{escape(ABOUT)}</p></div>"
        f'{contents(toc, titles)}<article class="bd-article">{chapters}</article></main></body>'
        "</html>"
    )


def print_book(source: Path, target: Path) -> None:
    """Print a page to a PDF.

    Raises:
        EditionError: there is no browser, or something is wider than the sheet.
    """
    from playwright.sync_api import sync_playwright  # slow to load, and needed here only

    executable = find_browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": 1000}, color_scheme="light")
        page.set_default_timeout(TIMEOUT)
        page.emulate_media(media="print", color_scheme="light")
        page.goto(source.resolve().as_uri(), wait_until="load")
        page.evaluate("() => document.fonts.ready.then(() => true)")
        wide = page.evaluate(FIT, WIDTH)
        if wide:
            raise EditionError("wider than a sheet of paper:\n  " + "\n  ".join(wide))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(print_numbered(page))
        browser.close()


def print_numbered(page: Page) -> bytes:
    """Print until the numbers hold: only a printed book tells on which sheet a chapter begins.

    Chromium may set a long book a sheet longer or shorter from one print to the next.

    Raises:
        EditionError: the numbers moved a chapter to another sheet, each time.
    """
    chapters = page.evaluate(CHAPTERS)
    data = _print(page)
    for _ in range(PRINTS if chapters else 0):
        numbers = sheets(data, chapters)
        page.evaluate(NUMBERS, numbers)
        data = _print(page)
        if sheets(data, chapters) == numbers:
            break
    else:
        if chapters:
            raise EditionError("the page numbers in the contents moved the chapters; see LOOK")
    return data


def _print(page: Page) -> bytes:
    """What a browser shows, as a PDF with tags, an outline and a number under each sheet."""
    footer = (
        '<div style="width: 100%; text-align: center; font-size: 8pt; font-family: sans-serif">'
        '<span class="pageNumber"></span></div>'
    )
    return page.pdf(
        format="A4",
        margin=dict.fromkeys(("top", "bottom", "left", "right"), MARGIN),  # type: ignore[arg-type]
        print_background=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=footer,
        outline=True,
        tagged=True,
    )


def sheets(data: bytes, places: Sequence[str]) -> dict[str, int]:
    """The number of the sheet on which each place of a PDF by Chromium stands, from 1.

    Raises:
        EditionError: a place is not in it, or it is not written as Chromium writes.
    """
    objects = {int(number): text for number, text in OBJECT.findall(data)}
    catalog = CATALOG.search(data)
    if catalog is None:
        raise EditionError("the PDF has no list of places; another Chromium may write one")
    order: list[int] = []

    def walk(number: int) -> None:
        kind, kids = KIND.match(objects[number]), SHEETS.search(objects[number])
        if kind and kind[1] == b"Page":
            order.append(number)
        elif kids:
            for kid in re.findall(rb"(\d+) 0 R", kids[1]):
                walk(int(kid))

    walk(int(catalog[1]))
    found = {name.decode(): int(at) for name, at in PLACE.findall(objects[int(catalog[2])])}
    missing = [place for place in places if found.get(place) not in order]
    if missing:
        raise EditionError(f"the PDF has no place {missing[0]}")
    return {place: order.index(found[place]) + 1 for place in places}


def make_pdf(site: Path, work: Path, pages: list[str], toc: object, title: str) -> Path:
    """Print some pages of a site as one book.

    Raises:
        EditionError: the site is not built, there is no browser, or something does not fit.
    """
    find_browser()  # before anything is written
    missing = [page for page in pages if not (site / f"{page}.html").is_file()]
    if missing:
        raise EditionError(f"the site has no page {missing[0]}; run: make book")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    text = whole_book(site, pages, toc, title, site.resolve().as_uri())
    (work / "book.html").write_text(text, encoding="utf-8")
    print_book(work / "book.html", work / NAME)
    return work / NAME


def without_evidence(toc: dict[str, Any]) -> dict[str, Any]:
    """The table of contents without its evidence pages, which are for the screen."""
    parts = [one for one in toc["parts"] if not is_evidence(one)]
    return toc | {"parts": parts}


def main(arguments: Sequence[str]) -> int:
    """Print the book, with the argument `evidence` its evidence pages, too.

    Returns:
        The exit code: 0 done, 2 it cannot be done here.
    """
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    toc = toc if "evidence" in arguments else without_evidence(toc)

    def make() -> Path:
        made = make_pdf(SITE, WORK, list(files_of(toc)), toc, about(ROOT).title)
        return Path(shutil.copy(made, SITE.parent / NAME))

    return write_edition("PDF ", make)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
