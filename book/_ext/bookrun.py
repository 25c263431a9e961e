"""Sphinx extension of this book: pages whose cells can be changed and run in the reader's browser.

A page has the bar for that when at least so many of its cells as the setting `ntp_run_least` names
need no more than Python, networkx, sympy, mpmath and a small part of numpy; without the setting
none has it. What they need is loaded on first use.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from bookplayground import FOLDER, copy_engine, version
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from tools.site import cells
from tools.site.background import Beside
from tools.site.runnable import Runnable, cells_of, wanted_modules

BAR = """<div class="ntp-run" role="group" aria-label="Run this page" data-folder="{folder}"
data-page="{page}" data-worker="{worker}">
<p>{words} <noscript>Running code cells needs JavaScript.</noscript></p>
<div class="ntp-run-buttons">
<button type="button" class="ntp-run-main" data-run="start">Run it in the page</button>
<button type="button" class="ntp-run-later" data-run="all">Run all</button>
<button type="button" class="ntp-run-later" data-run="stop" disabled>Stop</button>
<button type="button" class="ntp-run-later" data-run="reset">Reset the page</button>
</div>
<progress hidden aria-label="Progress"></progress>
<p class="ntp-run-status" role="status"></p>
</div>"""
ALL = "All {run} code cells on this page run in your browser, and you can change them."
SOME = """Of the {count} code cells on this page, {run} run in your browser, and you can change
them. The others need matplotlib or parts of numpy that this site does not have."""


def read_cells(app: Sphinx) -> None:
    """Find the pages that can be run, and begin to pack what they need."""
    found: dict[str, list[Runnable]] = {}
    for path in sorted((Path(app.srcdir) / "pages").glob("*.ipynb")):
        every = cells_of(json.loads(path.read_text(encoding="utf-8")))
        if 0 < app.config.ntp_run_least <= sum(one.run for one in every):
            found[f"pages/{path.stem}"] = every
    app.env.ntp_runnable = found  # type: ignore[attr-defined]
    if found:
        folder = Path(app.outdir) / "_static" / FOLDER / "cells"
        modules = sorted({name for every in found.values() for name in wanted_modules(every)})
        app.ntp_cells = Beside(cells.__name__, "write", str(folder), *modules)  # type: ignore[attr-defined]
        if not hasattr(app, "ntp_engine"):
            copy_engine(app)


def mark_cells(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the bar before the first cell, and mark every cell with its place."""
    every = app.env.ntp_runnable.get(docname)  # type: ignore[attr-defined]
    if every is None:
        return
    path = Path(app.srcdir) / f"{docname}.ipynb"
    kinds = [one["cell_type"] for one in json.loads(path.read_text("utf-8"))["cells"]]
    shown, first = 0, None
    for node in doctree.findall(nodes.container):
        if node.get("nb_element") == "cell_code":
            first = first or node
            place = kinds[: node["cell_index"]].count("code")
            node["classes"].append(f"ntp-cell-{place}")
            shown += any(
                one.get("nb_element") == "cell_code_source" for one in node.findall(nodes.container)
            )
    assert first is not None  # a page with cells that run
    first.parent.insert(first.parent.index(first), bar(docname, every, shown))
    write_page(app, docname, every)


def bar(docname: str, every: list[Runnable], shown: int) -> nodes.raw:
    """The bar of a page with so many cells whose code a reader sees."""
    run = sum(one.run for one in every)
    folder = "../" * docname.count("/") + f"_static/{FOLDER}/"
    html = BAR.format(
        folder=escape(folder),
        page=escape(docname.rpartition("/")[2]),
        worker=escape(f"{folder}worker.mjs?v={version()}&cells"),
        words=(ALL if run == shown else SOME).format(run=run, count=shown),
    )
    return nodes.raw("", html, format="html")


def write_page(app: Sphinx, docname: str, every: list[Runnable]) -> None:
    """Write what the page loads of its own."""
    rows: dict[str, dict[str, Any]] = app.env.ntp_rows  # type: ignore[attr-defined]
    claims = {
        label: {"number": row["number"], "title": row["title"]}
        for label, row in rows.items()
        if f"pages/{row.get('page')}" == docname
    }
    folder = Path(app.outdir) / "_static" / FOLDER / "cells"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{docname.rpartition('/')[2]}.json"
    file.write_text(cells.page_data(every, claims), encoding="utf-8")


def add_files(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Load the small script and the styles on pages that can be run, and on no other."""
    if pagename in app.env.ntp_runnable:  # type: ignore[attr-defined]
        app.add_css_file(f"{FOLDER}/run.css")
        app.add_js_file(f"{FOLDER}/run.js", loading_method="defer")


def finish(app: Sphinx, error: Exception | None) -> None:
    """Wait for what was being packed."""
    packing: Beside | None = getattr(app, "ntp_cells", None)
    if packing is not None and error is not None:
        packing.stop()
    elif packing is not None:
        try:
            packing.wait()
        except ValueError as wrong:
            raise ExtensionError(f"the cells of pages cannot be packed: {wrong}") from None


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_config_value("ntp_run_least", 0, "env", int)
    app.connect("builder-inited", read_cells, priority=700)  # after the rows of the ledger
    app.connect("doctree-resolved", mark_cells)
    app.connect("html-page-context", add_files)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
