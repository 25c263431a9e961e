"""How soon a page is there for a reader who comes for the first time, on a slow processor."""

from __future__ import annotations

import functools
import shutil
import statistics
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ntpcli.report.page import BROWSERS

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
SLOWER = 4  # the processor looks so many times slower
VISITS = 3  # of each page, whose median counts: the slowest of single ones would be the unluckiest
TIMES = """() => new Promise(done => {
  let moved = 0;
  new PerformanceObserver(list => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) moved += one.value;
  }).observe({type: 'layout-shift', buffered: true});
  const painted = () => performance.getEntriesByName('first-contentful-paint')[0];
  const wait = () => painted() ? setTimeout(() => done([painted().startTime / 1000, moved]), 300)
    : setTimeout(wait, 20);
  wait();
})"""


class _Quiet(SimpleHTTPRequestHandler):
    """Serve files without a line for each."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def measure(site: Path, pages: list[str]) -> tuple[float, float, float] | None:
    """Seconds to the first render, median and worst page, and the largest layout shift.

    Each visit is a first one; those of a page are spread over the run.

    Returns:
        None where there is no site or no browser.
    """
    executable = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if executable is None or not (site / "index.html").is_file():
        return None
    from playwright.sync_api import sync_playwright  # slow to load, and needed here only

    handler = functools.partial(_Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        site_address = f"http://127.0.0.1:{server.server_port}"
        rounds = [
            [_visit(browser, f"{site_address}/{page}.html") for page in pages]
            for _ in range(VISITS)
        ]
        browser.close()
        server.shutdown()
    first = [
        statistics.median(seconds for seconds, _ in visits) for visits in zip(*rounds, strict=True)
    ]
    moved = max(moved for visits in rounds for _, moved in visits)
    return statistics.median(first), max(first), moved


def _visit(browser: Any, address: str) -> tuple[float, float]:
    """Seconds to the first render of a page, and how much of it moves."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(address, wait_until="load")
    seconds, moved = page.evaluate(TIMES)
    context.close()
    return float(seconds), float(moved)
