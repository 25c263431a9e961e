"""From a statement to the published paper, and from a verdict to those who can repair it."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from docutils import nodes
from pybtex.plugin import find_plugin, register_plugin
from sphinx.application import Sphinx
from sphinx_proof.nodes import unenumerable_node

from ntpbook.catalogue import PAPERS
from ntpverdicts.claims import heading
from ntpverdicts.maths import plain

ENTRY = re.compile(r"@\w+\{(\w+),(.*?)\n\}", re.DOTALL)
URL = re.compile(r"^\s*url\s*=\s*\{([^}]+)\}", re.MULTILINE)


def papers(bibliography: str) -> dict[str, str]:
    """For every entry of the bibliography that has one its address."""
    found = {key: URL.search(body) for key, body in ENTRY.findall(bibliography)}
    return {key: match[1].strip() for key, match in found.items() if match}


def place_in_paper(row: dict[str, Any]) -> str:
    """Where a statement stands in its paper, such as `Section 6, Proposition 2`, and in which
    edition; or nothing."""
    if row["paper"] not in PAPERS or row["paper"] == "ours" or row["where"] == "this book":
        return ""
    number, where = row["number"], row["where"]
    place = number if number.startswith(where) else f"{where}, {number}"
    return place + (f"; {row['edition']}" if row.get("edition") else "")


def read_papers(app: Sphinx) -> None:
    """The addresses of the papers, from the bibliography."""
    app.env.ntp_papers = {}  # type: ignore[attr-defined]
    file = Path(app.srcdir) / "references.bib"
    if file.is_file():
        app.env.ntp_papers = papers(file.read_text(encoding="utf-8"))  # type: ignore[attr-defined]


def link_papers(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Below every statement of a paper: where it stands there, as a link, and a link to itself."""
    for node in doctree.findall(unenumerable_node):
        row = app.env.ntp_rows.get(node.get("label"))  # type: ignore[attr-defined]
        if row is None:
            continue
        title = f"Link to {row['number']}"
        node[0] += nodes.reference(
            "", "#", refuri=f"#{row['label']}", internal=True, reftitle=title,
            classes=["headerlink", "ntp-copy-link"],
        )  # fmt: skip
        place = place_in_paper(row)
        address = app.env.ntp_papers.get(row["paper"])  # type: ignore[attr-defined]
        if place and address:
            html = (
                f'<p class="ntp-paper">In the paper: <a href="{escape(address)}" rel="external">'
                f"{escape(PAPERS[row['paper']])}, {escape(place)}</a></p>"
            )
            node += nodes.raw("", html, format="html")


def report_text(row: dict[str, Any], digest: str, found: dict[str, str]) -> str:
    """What a report of an error should say from the start."""
    packages = ", ".join(f"{name} {version}" for name, version in found.items())
    return "\n".join(
        (
            f"Claim: {row['label']} ({row['number']}: {plain(row['title'])})",
            f"Verdict: {row['verdict']}",
            f"Page: pages/{row['page']}.html#verdict-{row['label']}",
            f"Code: {digest}",
            f"Versions: {packages}",
            "What is wrong:",
            "What I expected, and why:",
        )
    )


def report(app: Sphinx, row: dict[str, Any]) -> str:
    """What opens beside a verdict for who found an error: a text to copy, and where to send it."""
    digest = app.env.ntp_digests.get(row["label"], "none")  # type: ignore[attr-defined]
    text = report_text(row, digest, app.env.ntp_versions)  # type: ignore[attr-defined]
    tracker = app.config.ntp_tracker
    where = "Send this text to the people who gave you this book"
    if tracker:
        subject = quote(f"{row['number']} ({row['label']})")
        link = escape(tracker.format(title=subject, body=quote(text)))
        where = f'<a href="{link}">Open a report</a> with this text'
    return (
        f'<div class="ntp-report">{heading("Report an error in this check")}'
        f"<p>{where}, and say what is wrong:</p>"
        f'<pre tabindex="0" aria-label="Text of the report">{escape(text)}</pre>'
        '<p><button type="button" class="ntp-copy-text" hidden>Copy the text</button> '
        '<span class="ntp-copied" role="status"></span></p></div>'
    )


def keep_backends() -> None:
    """Find what writes citations once; else all installed packages are looked through for each."""
    for name in ("docutils", "plaintext"):
        backend = find_plugin("pybtex.backends", name)
        register_plugin("pybtex.backends", name, backend, force=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    keep_backends()
    app.add_config_value("ntp_tracker", "", "html", str)
    app.connect("builder-inited", read_papers)
    app.connect("doctree-resolved", link_papers, priority=600)  # after the badge
    return {"parallel_read_safe": False, "parallel_write_safe": False}
