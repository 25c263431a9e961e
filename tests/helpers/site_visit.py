"""One visit to a page of the built site: what a reader's browser fetches, says and shows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from axe import AXE, judge
from playwright.sync_api import Browser, Page, Request

from tools.site.checksources import find_sources
from tools.site.html import toc_pages
from tools.site.reference import MODULES

ROOT = Path(__file__).resolve().parents[2]
WIDE = {"width": 1440, "height": 900}
LOOK = """() => {
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  const pictures = [...document.querySelectorAll('article figure img, article .cell_output img')];
  const caption = e => (e.closest('figure')?.querySelector('figcaption')?.innerText || '').trim();
  const seen = e => e.checkVisibility();
  return {
    twins: [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))],
    sources: document.querySelectorAll('.math').length,
    formulas: [...document.querySelectorAll('.math > math')]
      .filter(m => m.children.length && (!seen(m) || m.getBoundingClientRect().width > 1)).length,
    broken: document.querySelectorAll('merror, .temml-error, mjx-merror').length,
    silent: pictures.filter(e => !(e.alt || '').trim() || e.alt.trim() === caption(e))
      .map(e => e.src.split('/').pop()),
    title: document.title,
    main: document.querySelectorAll('main').length,
    skips: document.querySelector('.skip-link a')?.getAttribute('href') || '',
    heads: [...document.querySelectorAll('article h1, article h2, article h3, article h4')]
      .filter(seen).map(e => Number(e.tagName[1])),
  };
}"""
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
# How much of a layout may move while it loads; from 0.1 on it needs improvement (web.dev/cls).
# Figures far below the window are not counted: they come when the reader comes near.
MOST_SHIFT = 0.05
WATCH = """() => {
  window.ntpShift = 0;
  window.ntpAdd = entries => {
    for (const one of entries) if (!one.hadRecentInput) window.ntpShift += one.value;
  };
  window.ntpWatch = new PerformanceObserver(list => window.ntpAdd(list.getEntries()));
  window.ntpWatch.observe({type: 'layout-shift', buffered: true});
}"""
# When all fonts are there and everything has been drawn with them, nothing is left that could move.
SHIFT = """async () => {
  await document.fonts.ready;
  const frame = () => new Promise(done => requestAnimationFrame(done));
  for (let drawn = 0; drawn < 3; drawn++) await frame();
  await new Promise(done => setTimeout(done)); // in which the observer is called
  window.ntpAdd(window.ntpWatch.takeRecords());
  return window.ntpShift;
}"""
DARK = """() => {
  const c = getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number);
  return (c[3] ?? 1) > 0.5 && c[0] + c[1] + c[2] < 200;
}"""


@cache
def source_pages() -> list[str]:
    """The pages that show a module of checks."""
    return sorted({source.page for source in find_sources().values()})


def all_pages() -> list[str]:
    """Every page of the site in the order of the book; index.html only leads to the first."""
    sources = source_pages()
    modules = [f"source/api/{module}" for module in MODULES]
    return [*toc_pages(ROOT / "_toc.yml"), *sources, *modules, "search", "genindex"]


class Visit:
    """A page, opened by a reader who comes for the first time, and what is wrong with it.

    Attributes:
        wrong: everything so far, a sentence each.
    """

    def __init__(self, browser: Browser, address: str, site: str) -> None:
        """Open a page of a site, with nothing in the cache.

        Args:
            browser: a running one.
            address: of the page.
            site: how every address begins that is not off the site.
        """
        self.wrong: list[str] = []
        self._sizes: list[float] = []
        self._context = browser.new_context(
            viewport=WIDE,  # type: ignore[arg-type]
            color_scheme="light",
        )
        self._page = page = self._context.new_page()
        session = self._context.new_cdp_session(page)
        session.send("Network.enable")
        session.on(
            "Network.loadingFinished", lambda told: self._sizes.append(told["encodedDataLength"])
        )
        listen(page, site, self.wrong)
        page.goto(address, wait_until="load")
        page.evaluate(WATCH)

    def judge(self, known: Mapping[str, set[str]] | None) -> None:
        """Look at the page wide and narrow, light and dark; it is closed afterwards.

        Args:
            known: what axe judged before (see `axe.judge`), or None to leave axe out.
        """
        page, wrong = self._page, self.wrong
        wrong += judge_look(page.evaluate(LOOK))
        shift = float(page.evaluate(SHIFT))  # before the size changes, which moves everything
        if shift > MOST_SHIFT:
            wrong.append(f"its layout moves by {shift:.2f} while it loads")
        page.set_viewport_size({"width": 320, "height": 640})
        if over := page.evaluate(OVERFLOW):
            wrong.append(f"a screen of 320 pixels must scroll {over} pixels sideways")
        page.evaluate("() => localStorage.clear()")
        page.emulate_media(color_scheme="dark")
        page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
        if not page.evaluate(DARK):
            wrong.append("it is not dark for who asks for that")
        if known is not None and AXE.is_file():
            wrong += judge(page, dict(known))
        self._context.close()

    @property
    def weight(self) -> int:
        """Bytes received, packed as `make serve` sends them."""
        return round(sum(self._sizes))


def look_at(browser: Browser, address: str, site: str) -> list[str]:
    """Everything that is wrong with one page, axe's findings apart."""
    visit = Visit(browser, address, site)
    visit.judge(None)
    return visit.wrong


def listen(page: Page, site: str, wrong: list[str]) -> None:
    """Write down what the page fetches from elsewhere or in vain, and what its console says."""

    def asked(request: Request) -> None:
        if not request.url.startswith((site, "data:", "blob:")):
            wrong.append(f"it asks another machine: {request.url}")

    def failed(request: Request) -> None:
        wrong.append(f"it cannot fetch {request.url}")

    page.on("request", asked)
    page.on("requestfailed", failed)
    page.on("pageerror", lambda error: wrong.append(f"a script fails: {error}"))
    page.on(
        "console",
        lambda line: (
            line.type in ("error", "warning") and wrong.append(f"console {line.type}: {line.text}")
        ),
    )
    page.on(
        "response",
        lambda answer: (
            answer.status >= 400 and wrong.append(f"answered with {answer.status}: {answer.url}")
        ),
    )


def judge_look(seen: Mapping[str, Any]) -> list[str]:
    """What is wrong with what a page shows."""
    wrong = [f"the id {name} occurs more than once" for name in seen["twins"]]
    wrong += [f"the figure {name} has no text, or its caption again" for name in seen["silent"]]
    if seen["sources"] != seen["formulas"]:
        wrong.append(f"{seen['formulas']} of {seen['sources']} formulas are drawn")
    if seen["broken"]:
        wrong.append(f"{seen['broken']} formulas are broken")
    if not seen["title"].strip():
        wrong.append("it has no title")
    if seen["main"] != 1 or not seen["skips"].startswith("#"):
        wrong.append("it has not one main part that a link skips to")
    heads = seen["heads"]
    if any(b > a + 1 for a, b in zip([0, *heads], heads, strict=False)):
        wrong.append(f"its headings leave out a level: {heads}")
    return wrong


def page_of(address: str) -> str:
    """The path of an address, as a file of the site."""
    return unquote(urlsplit(address).path)
