"""`make picture`: the picture of the book in the README, taken from the built site by Chromium.

Beside the picture lies a list of the headings that it shows. A test compares that list with the
page, so that a picture of a book that no longer exists is noticed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bs4 import BeautifulSoup

from tools.site.editions import SITE, EditionError
from tools.site.pdf import FLAGS, find_browser

PAGE = "book/preface.html"
PICTURE = Path("docs/screenshot.png")
HEADINGS = Path("docs/screenshot.json")
WIDTH, HEIGHT = 1280, 800


def headings(html: str) -> list[str]:
    """The headings of a page, in order, without the signs of their links."""
    soup = BeautifulSoup(html, "html.parser")
    article = soup.select_one("article") or soup
    for link in article.select("a.headerlink"):
        link.decompose()
    return [" ".join(one.get_text().split()) for one in article.find_all(["h1", "h2"])]


def main() -> int:
    """Take the picture."""
    page = SITE / PAGE
    if not page.is_file():
        print(f"error: there is no {page}; run `make book` first", file=sys.stderr)
        return 1
    from playwright.sync_api import sync_playwright

    try:
        program = find_browser()
    except EditionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        view = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        view.goto(page.as_uri())
        view.screenshot(path=str(PICTURE))
        browser.close()
    data = {"page": PAGE, "headings": headings(page.read_text(encoding="utf-8"))}
    HEADINGS.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{PICTURE}: {PAGE}, {WIDTH} x {HEIGHT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
