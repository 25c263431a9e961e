"""Statements and terms as small scripts: what a preview shows, and what the search finds.

Pure functions of the rows of the ledger and of the HTML of their statements; the extension
`bookpreviews` writes what they return.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape, unescape
from typing import Any

from bs4 import BeautifulSoup

from ntpbook.catalogue import PAPERS, SEARCHED, SHORT
from ntpverdicts.graph import badge
from ntpverdicts.maths import in_html, plain

FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
SENTENCE = re.compile(r"(?<=[.:])\s+(?=[A-Z])")  # where one begins
COMMAND = re.compile(r"\\(?:begin|end)\{[^}]*\}|\\[A-Za-z]+|[$^_{}\\&]")


@dataclass(frozen=True)
class Entry:
    """One statement or term.

    Attributes:
        name: its label, or the id of the term; the name of its script.
        kind: "statement", "term", or "section" of a page.
        number: what the paper calls it, such as Theorem 1; empty for a term.
        title: in words.
        paper: words that name its paper.
        short: what the search shows of that.
        verdict: word of the verdict; empty for a term.
        address: where it stands, seen from the root of the site.
        words: what else it says, for the search.
        html: what a preview shows.
        opening: the question that a chapter opens with.
    """

    name: str
    kind: str
    number: str
    title: str
    paper: str
    short: str
    verdict: str
    address: str
    words: str
    html: str
    opening: str = ""


def body_of(html: str) -> str:
    """The HTML of a statement or a term without its title, without ids and without links.

    Links go because a preview has no links but its own, and ids because they are on the page.
    """
    formulas: list[str] = []  # most of the tags; nothing in them changes, so they are not parsed

    def put_aside(found: re.Match[str]) -> str:
        formulas.append(found[0])
        return f"<math>{len(formulas) - 1}</math>"

    soup = BeautifulSoup(FORMULA.sub(put_aside, html), "html.parser")
    for title in soup.select("p.admonition-title, .headerlink, p.ntp-paper"):
        title.decompose()
    for link in soup.find_all("a"):
        link.unwrap()
    for element in soup.find_all(id=True):
        del element["id"]
    box = soup.select_one("div.proof > section") or soup
    body = box.decode_contents().strip()
    return re.sub(r"<math>(\d+)</math>", lambda found: formulas[int(found[1])], body)


def text_of(html: str) -> str:
    """The text of some HTML, with a space for every tag."""
    return unescape(TAG.sub(" ", html))


def plain_words(text: str) -> str:
    """The different words of a text with formulas, in lower case and in order."""
    plain = COMMAND.sub(" ", text)
    words = re.findall(r"[^\W\d_][\w'-]+", plain.lower())
    return " ".join(dict.fromkeys(words))


def statement_entry(row: Mapping[str, Any], address: str, html: str) -> Entry:
    """The entry of a claim.

    Args:
        row: its row of the ledger.
        address: where its statement stands.
        html: its box on that page; empty for a planned claim, which has none.
    """
    shown = body_of(html or "<p>No chapter of this book treats it yet.</p>")
    where = PAPERS[row["paper"]]
    where += f", {row['where']}" if row["where"].lower() != "this book" else ""
    where += f"; {row['edition']}" if row.get("edition") else ""
    head = (
        f'<p class="ntp-head">{badge(row)} <strong>{escape(row["number"])}</strong> '
        f'{in_html(row["title"])} <span class="ntp-small">{escape(where)}</span></p>'
    )
    return Entry(
        row["label"], "statement", row["number"], plain(row["title"]), SEARCHED[row["paper"]],
        SHORT[row["paper"]], "open" if row["planned"] else row["verdict"], address,
        plain_words(text_of(shown)), head + shown,
    )  # fmt: skip


def term_entry(name: str, term: str, address: str, html: str) -> Entry:
    """The entry of a term of the glossary."""
    shown = body_of(html)
    words = plain_words(text_of(shown))
    head = f'<p class="ntp-head"><strong>{escape(term)}</strong></p>'
    return Entry(name, "term", "", term, "glossary", "glossary", "", address, words, head + shown)


def opening_question(paragraphs: Iterable[str]) -> str:
    """The words of the first question in the first paragraph; empty where it asks none.

    Args:
        paragraphs: those below the title of a page, without what readers need and will learn.
    """
    first = next(iter(paragraphs), "")
    asked, mark, _ = first.partition("?")
    sentence = SENTENCE.split(asked)[-1]
    return " ".join(re.findall(r"[^\W_]+", COMMAND.sub(" ", sentence))) if mark else ""


def section_entry(page: str, title: str, address: str, text: str, opening: str = "") -> Entry:
    """The entry of a section of a page.

    Args:
        page: title of the page.
        title: heading of the section.
        address: where it stands, seen from the root of the site.
        text: what it says.
        opening: the question that it opens with.
    """
    words = plain_words(text)
    return Entry("", "section", "", title, page, page, "", address, words, "", opening)


def preview_script(entry: Entry) -> str:
    """The script that hands what a preview shows to the page that asked for it."""
    return f"ntpPreview({_js(entry.name)}, {_js(entry.html)});\n"


def symbols_script(html: str) -> str:
    """The script that hands the tables of the page on notation to an evidence page.

    Args:
        html: that page. Its tables have the symbols in their first column and what they mean in
            their last one; a heading stands above each.

    Raises:
        ValueError: there is no such table.
    """
    parts = []
    for section in BeautifulSoup(html, "html.parser").select("section:has(> h2)"):
        title = section.h2.find(string=True, recursive=False)  # without the link behind it
        for rows in section.select("tbody"):
            lines = [
                f"<tr data-row><td>{body_of(cells[0].decode_contents())}</td>"
                f"<td>{body_of(cells[-1].decode_contents())}</td></tr>"
                for cells in (row.select("td") for row in rows.select("tr"))
            ]
            head = f'<tr><th colspan="2" scope="rowgroup">{escape(title)}</th></tr>'
            parts.append(f'<tbody data-part="{escape(title)}">{head}{"".join(lines)}</tbody>')
    if not parts:
        raise ValueError("the page on notation has no table below a heading")
    table = f"<table>{''.join(parts)}</table>"
    return f"ntpSymbols({_js(table)});\n"


def search_script(found: Iterable[Entry]) -> str:
    """The script with all that the search by number and by words looks through."""
    rows = [
        [e.name, e.kind, e.number, e.title, e.paper, e.short, e.verdict, e.address, e.words]
        + ([e.opening] if e.opening else [])
        for e in found
    ]
    listed = ",\n".join(_js(row) for row in rows)
    return f"window.NTP_STATEMENTS = [\n{listed}\n];\n"


def _js(value: object) -> str:
    """A value as JavaScript that is safe within a script, wherever that stands."""
    return json.dumps(value, ensure_ascii=False).replace("</", "<\\/")
