"""How many bytes a page takes for a reader who comes for the first time, and how much moves."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser

SHIFTS = """() => new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value;
  }).observe({type: 'layout-shift', buffered: true});
  setTimeout(() => done(sum), 250);
})"""


def shift_and_weight(browser: Browser, address: str) -> tuple[float, int]:
    """Layout shift and bytes received, with empty cache, as `make serve` sends them, packed.

    Figures far below the window are not counted: they come when the reader comes near.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []

    def finished(event: dict[str, Any]) -> None:
        sizes.append(event["encodedDataLength"])

    session.on("Network.loadingFinished", finished)
    page.goto(address, wait_until="load")
    shift = page.evaluate(SHIFTS)
    context.close()
    return float(shift), round(sum(sizes))
