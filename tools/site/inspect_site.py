"""Look at the built pages: is everything there, in its place, and nothing fetched from elsewhere?

A book that silently builds nothing must not pass, so nothing here trusts an exit code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path

from ntpverdicts.claims import Claim
from tools.pipeline.outputs import Found

SHORTEST = 80  # characters of text on the shortest page that counts as a page
OFF_SITE = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)
CSS_FETCH = re.compile(r"""(?:url\(|@import)\s*["']?\s*((?:https?:)?//[^\s"')]+)""", re.IGNORECASE)
PART = "\0"  # where a part of a fold begins
CONTROL = re.compile(
    r"(?:It noticed (?:a planted error|\d+ planted errors)"
    r"|It accepted (?:a case that holds|\d+ cases that hold))\s*\S"
)
# What only sets, groups or links text: it fetches nothing, has no id, closes nothing that counts.
PLAIN = re.compile(
    r"</?(?:a|span|m[a-z]+|semantics|em|strong|code|p|td|th|tr|ul|ol|li|dd|dt)"
    r'(?: (?:class|href|title|rel)="[^"]*")*>'
)
# Attributes by which a browser fetches something without being asked to.
FETCHING = ("src", "srcset", "data", "poster", "xlink:href")
# What a link element may name elsewhere: these are for machines that read the page, not browsers.
NAMING = {"alternate", "author", "canonical", "help", "license", "next", "prev", "search"}


class Page(HTMLParser):
    """What the checks need of one HTML page.

    Attributes:
        ids: every id, as often as it occurs.
        fetched: addresses off the site that the page makes a browser fetch.
        text: the text of its article.
        controls: ids of the verdicts that show their planted errors, collapsed.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.ids: Counter[str] = Counter()
        self.fetched: list[str] = []
        self.text = ""
        self.controls: set[str] = set()
        self._inside: list[str] = []
        self._verdict = ""  # the id of the card that is being read, and how deep in it we are
        self._depth = 0
        self._details: str | None = None  # what the collapsed part that is being read says
        self.feed(PLAIN.sub("", html))

    def updatepos(self, i: int, j: int) -> int:
        """Count no lines: nobody asks on which line something stands."""
        return j

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect ids and addresses."""
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.ids[values["id"]] += 1
        fetched = [values[name] for name in FETCHING if name in values]
        if tag == "link" and not set(values.get("rel", "").lower().split()) & NAMING:
            fetched.append(values.get("href", ""))
        if tag in ("image", "use", "feImage"):
            fetched.append(values.get("href", ""))
        self.fetched += [address for address in fetched if OFF_SITE.match(address)]
        self.fetched += CSS_FETCH.findall(values.get("style", ""))
        if tag in ("article", "style", "script"):
            self._inside.append(tag)
        if tag == "div" and values.get("id", "").startswith("verdict-"):
            self._verdict, self._depth, self._details = values["id"], 0, None
        self._depth += tag == "div"
        if tag == "details" and self._verdict and "open" not in values:
            self._details = ""
        if values.get("class") == "ntp-part" and self._details is not None:
            self._details += PART

    def handle_endtag(self, tag: str) -> None:
        """Leave an article, a style sheet or a script."""
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()
        if tag == "div" and self._verdict:
            self._depth -= 1
            if not self._depth:
                self._verdict = ""
        if tag == "details" and self._details is not None:
            if any(CONTROL.match(part.strip()) for part in self._details.split(PART)[1:]):
                self.controls.add(self._verdict)
            self._details = None

    def handle_data(self, data: str) -> None:
        """Collect the article's text and what style sheets fetch."""
        if self._inside and self._inside[-1] == "style":
            self.fetched += CSS_FETCH.findall(data)
        elif self._inside and self._inside[-1] == "article":
            self.text += data
        if self._details is not None:
            self._details += data


def problems(
    site: Path,
    pages: Sequence[str],
    notebooks: Sequence[str],
    catalogue: Sequence[Claim],
    found: Sequence[Found],
) -> list[str]:
    """Everything that is wrong with a built site, one sentence each.

    Args:
        site: folder of the HTML.
        pages: the pages of the table of contents.
        notebooks: names of the notebooks.
        catalogue: all claims.
        found: the checks in the executed notebooks.
    """
    wrong = [f"notebook {n} is not in _toc.yml" for n in notebooks if f"pages/{n}" not in pages]
    wrong += [f"{claim.label}: its page {claim.page} is no notebook" for claim in catalogue
              if claim.page is not None and claim.page not in notebooks]  # fmt: skip
    parsed = {name: read_page(site / f"{name}.html") for name in pages}
    for name, page in parsed.items():
        if page is None:
            wrong.append(f"page {name} is missing from the output")
        elif len(" ".join(page.text.split())) < SHORTEST:
            wrong.append(f"page {name} is empty or nearly so")
    if not (site / "index.html").is_file():
        wrong.append("index.html, the start page, is missing from the output")
    wrong += wrong_checks(catalogue, found)
    for claim in catalogue:
        page = parsed.get(f"pages/{claim.page}")
        if page is not None:
            wrong += wrong_anchors(claim, page) + missing_controls(claim, page)
    known = {site / f"{name}.html": page for name, page in parsed.items() if page is not None}
    return wrong + off_site(site, known)


def read_page(path: Path) -> Page | None:
    """A page of the site, or None when there is none."""
    return Page(path.read_text(encoding="utf-8")) if path.is_file() else None


def wrong_checks(catalogue: Iterable[Claim], found: Iterable[Found]) -> list[str]:
    """Where claims with a page and executed checks are not one to one."""
    wrong, claims, times = [], {claim.label: claim for claim in catalogue}, Counter[str]()
    for check in found:
        claim = claims.get(check.label)
        times[check.label] += 1
        if claim is None:
            wrong.append(f"page {check.page} shows a check of {check.label}, no catalogued claim")
        elif claim.page is None:
            wrong.append(f"page {check.page} shows a check of {check.label}, which is planned only")
        elif claim.page != check.page:
            wrong.append(
                f"page {check.page} shows a check of {check.label}, which belongs on {claim.page}"
            )
    for label, claim in claims.items():
        if claim.page is not None and times[label] != 1:
            wrong.append(f"page {claim.page} must show one check of {label}, not {times[label]}")
    return wrong


def wrong_anchors(claim: Claim, page: Page) -> list[str]:
    """Whether a page states a claim and shows its verdict where links expect them."""
    return [
        f"page {claim.page} has {page.ids[anchor]} places called {anchor}, not one"
        for anchor in (claim.label, f"verdict-{claim.label}")
        if page.ids[anchor] != 1
    ]


def missing_controls(claim: Claim, page: Page) -> list[str]:
    """Whether a page shows the planted error that a claim's check had to notice."""
    if f"verdict-{claim.label}" in page.controls:
        return []
    return [f"page {claim.page} does not show the planted errors of {claim.label}, collapsed"]


def off_site(site: Path, parsed: Mapping[Path, Page] | None = None) -> list[str]:
    """Every place that would make a reader's browser ask another machine.

    Args:
        site: folder of the HTML.
        parsed: pages that have been read before.
    """
    wrong = []
    for path in sorted(site.rglob("*.html")):
        page = (parsed or {}).get(path) or Page(path.read_text(encoding="utf-8"))
        wrong += [f"{path.relative_to(site)} fetches {address}" for address in page.fetched]
    for path in sorted(site.rglob("*.css")):
        fetched = CSS_FETCH.findall(path.read_text(encoding="utf-8"))
        wrong += [f"{path.relative_to(site)} fetches {address}" for address in fetched]
    return wrong
