"""What a real browser sees of a page, in one visit: requests, errors, mathematics, look."""

from __future__ import annotations

import functools
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Playwright, Route, expect

from ntpcli.report.page import BROWSERS
from tools.pipeline.serve import Packing

# Milliseconds: a busy machine is slow, not wrong. A page waits seconds for its slowest part on a
# quiet one, and what never comes must not cost the whole run.
PATIENCE = 300_000
expect.set_options(timeout=PATIENCE)
AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"
NO_BROWSER = "no Chromium or Chrome on this machine"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
# Nothing is fetched from another machine, whatever a page asks for.
FLAGS += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"]
NARROW = {"width": 320, "height": 640}
WIDE = {"width": 1280, "height": 900}

COUNT = """() => {
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  return {
    sources: document.querySelectorAll('.math').length,
    formulas: document.querySelectorAll('.math > math').length,
    broken: document.querySelectorAll('merror, .temml-error').length,
    twins: [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))],
  };
}"""

# WCAG 2 contrast of text that this book colours itself, against the nearest opaque background.
CONTRAST = """() => {
  const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0.99) return c;
    }
    return [255, 255, 255];
  };
  const poor = [];
  const parts = 'p, li, dd, dt, td, th, a, summary, figcaption, .ntp-badge, .caption-number';
  for (const e of document.querySelectorAll('article')) for (const p of e.querySelectorAll(parts)) {
    if (!p.textContent.trim() || !p.getClientRects().length) continue;
    if (p.matches('.headerlink')) continue;
    const [a, b] = [light(parse(getComputedStyle(p).color)), light(behind(p))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${p.textContent.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return poor;
}"""

AXE_RUN = """async () => (await axe.run(document.querySelector('article'), {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
})).violations.map(v => `${v.id}: ${v.nodes.map(n => n.html.slice(0, 80)).join(' | ')}`)"""
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
DARK = """() => {
  const c = getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number);
  return (c[3] ?? 1) > 0.5 && c[0] + c[1] + c[2] < 200;
}"""


@dataclass
class Seen:
    """What one visit to a page showed.

    Attributes:
        off_site: addresses that were asked for and lie on another machine.
        errors: what the browser's console called an error, and exceptions of scripts.
        failed: addresses that were answered with 400 or more.
        sources: formulas in the page as it was sent.
        formulas: formulas that are drawn.
        broken: formulas that could not be set.
        twins: ids that occur more than once.
        overflow: by how many pixels a screen of 320 pixels must scroll sideways.
        dark: whether the page is dark for a reader who asks for that.
        poor: texts with too little contrast, in either look.
    """

    off_site: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    sources: int = 0
    formulas: int = 0
    broken: int = 0
    twins: list[str] = field(default_factory=list)
    overflow: int = 0
    dark: bool = False
    poor: list[str] = field(default_factory=list)


class Quiet(Packing):
    """Serve files as `make serve` does, without a line for each."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine while the body runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def find_browser() -> str | None:
    """The browser of this machine, if it has one: Chromium without windows of its own, if it can.

    It lays pages out with the same code, and opens a new reader's window sooner.
    """
    names = ("chromium-headless-shell", *BROWSERS)
    return next((path for name in names if (path := shutil.which(name))), None)


def launch(playwright: Playwright, executable: str) -> Browser:
    """Start the browser, without a window; its pages wait as long as a busy machine takes."""
    running = playwright.chromium.launch(executable_path=executable, args=FLAGS, timeout=PATIENCE)
    new_context = running.new_context

    def patient_context(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.set_default_timeout(PATIENCE)
        return context

    running.new_context = patient_context  # type: ignore[method-assign]
    return running


def hear_trouble(page: Page, trouble: list[str]) -> None:
    """From now on gather the errors and warnings of a page."""
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda line: line.type in ("error", "warning") and trouble.append(line.text))


def colours_at_rest(page: Page) -> None:
    """Wait until no colour changes any more, as it does gradually after a change of the look."""
    page.wait_for_function(
        "() => !document.getAnimations().some(one => one instanceof CSSTransition)"
    )


def fits_and_passes_axe(page: Page) -> None:
    """Whether what the page shows is legible, light and dark, accessible, and fits a phone."""
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=AXE)
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        page.evaluate("scheme => { document.documentElement.dataset.theme = scheme; }", scheme)
        colours_at_rest(page)
        assert page.evaluate(AXE_RUN) == []
        assert page.evaluate(CONTRAST) == []
    page.set_viewport_size(NARROW)
    assert page.evaluate(OVERFLOW) == 0
    page.set_viewport_size(WIDE)


def visit(browser: Browser, address: str, site: str) -> Seen:
    """Visit a page: wide and light, then narrow, then dark.

    Args:
        browser: a running browser.
        address: of the page.
        site: how every address begins that is not off the site.
    """
    seen = Seen()
    context = browser.new_context(viewport=WIDE, color_scheme="light")
    page = context.new_page()

    def route(request: Route) -> None:
        if request.request.url.startswith((site, "data:", "blob:")):
            request.continue_()
        else:
            seen.off_site.append(request.request.url)
            request.abort()

    page.route("**/*", route)
    page.on("console", lambda line: line.type == "error" and seen.errors.append(line.text))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("response", lambda r: r.status >= 400 and seen.failed.append(f"{r.status} {r.url}"))
    page.goto(address, wait_until="load")
    _look(page, seen)
    context.close()
    return seen


def _look(page: Page, seen: Seen) -> None:
    """Read everything off the loaded page."""
    for name, value in page.evaluate(COUNT).items():
        setattr(seen, name, value)
    seen.poor += page.evaluate(CONTRAST)
    page.set_viewport_size(NARROW)
    seen.overflow = page.evaluate(OVERFLOW)
    page.emulate_media(color_scheme="dark")
    page.reload(wait_until="domcontentloaded")
    seen.dark = page.evaluate(DARK)
    seen.poor += [f"{text} (dark)" for text in page.evaluate(CONTRAST)]


# What a reader of the ledger sees and does, as JavaScript.
SHOWN_ROWS = """() => [...document.querySelectorAll('table.ntp-claims tbody tr[id]')]
  .filter(row => row.getClientRects().length).map(row => row.id)"""
