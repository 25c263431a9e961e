"""How many bytes a page takes for a reader who comes for the first time, and how much moves."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

WATCH = """() => {
  window.ntpShift = 0;
  new PerformanceObserver(list => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) window.ntpShift += one.value;
  }).observe({type: 'layout-shift', buffered: true});
  window.ntpUntil = performance.now() + 250;
}"""
SHIFT = """async () => {
  const left = window.ntpUntil - performance.now();
  if (left > 0) await new Promise(done => setTimeout(done, left));
  return window.ntpShift;
}"""


def shifts_and_weights(browser: Browser, addresses: Iterable[str]) -> dict[str, tuple[float, int]]:
    """Layout shift and bytes received, with empty cache, as `make serve` sends them, packed.

    Figures far below the window are not counted: they come when the reader comes near. A page is
    watched for a quarter of a second after it has loaded, during which the next one loads.
    """
    found: dict[str, tuple[float, int]] = {}
    watched: list[tuple[str, BrowserContext, Page, list[float]]] = []
    for address in [*addresses, None]:
        if address:
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            page = context.new_page()
            session = context.new_cdp_session(page)
            session.send("Network.enable")
            sizes: list[float] = []
            session.on("Network.loadingFinished", partial(_finished, sizes))
            page.goto(address, wait_until="load")
            page.evaluate(WATCH)
            watched.append((address, context, page, sizes))
        if len(watched) > 1 or not address:
            before, context, page, sizes = watched.pop(0)
            found[before] = float(page.evaluate(SHIFT)), round(sum(sizes))
            context.close()
    return found


def _finished(sizes: list[float], event: dict[str, Any]) -> None:
    """Something has been received whole."""
    sizes.append(event["encodedDataLength"])
