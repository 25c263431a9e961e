"""One visit to a page of the built site: what a reader's browser fetches, says and shows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from axe import AXE, judge
from playwright.sync_api import BrowserContext, Page, Request

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


def look_at(
    context: BrowserContext, address: str, site: str, known: Mapping[str, set[str]] | None
) -> list[str]:
    """Everything that is wrong with a page, a sentence each.

    Args:
        context: of a running browser.
        address: of the page.
        site: how every address begins that is not off the site.
        known: what axe judged before (see `axe.judge`), or None to leave axe out.
    """
    page = context.new_page()
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    wrong: list[str] = []
    listen(page, site, wrong)
    page.goto(address, wait_until="load")
    wrong += judge_look(page.evaluate(LOOK))
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
    page.close()
    return wrong


def listen(page: Page, site: str, wrong: list[str]) -> None:
    """Write down what the page fetches from elsewhere or in vain, and what its console says."""

    # Not `page.route`: that would switch off the cache, and each page fetch every file anew.
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
