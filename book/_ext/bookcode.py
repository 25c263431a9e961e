"""Sphinx extension: pages that show a module of the package, with a place for each of its names."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from tools.site import highlight
from tools.site.background import Beside
from tools.site.reference import MODULES, module_file

Page = tuple[str, dict[str, Any], str]


def folder_of(app: Sphinx) -> Path:
    """Where highlighted code waits for its pages."""
    return Path(app.doctreedir).parent / "code"


def start(app: Sphinx) -> None:
    """Begin to highlight all code that some page shows."""
    files = {source.file for source in app.env.ntp_sources.values()}  # type: ignore[attr-defined]
    if (Path(app.srcdir) / "book" / "reference.md").is_file():
        files |= {module_file(module) for module in MODULES}
    names = sorted(file.as_posix() for file in files)
    app.ntp_code = Beside(highlight.__name__, "write", str(folder_of(app)), *names)  # type: ignore[attr-defined]


def finish(app: Sphinx, problem: Exception | None) -> None:
    """Stop that, whatever became of the build."""
    code: Beside | None = getattr(app, "ntp_code", None)
    if code is not None:
        code.stop()


def code_page(
    app: Sphinx, page: str, file: Path, title: str, intro: str, places: Iterable[tuple[int, str]]
) -> Page:
    """A page with the code of a module.

    Args:
        app: Sphinx, which has begun to highlight the code.
        page: name of the page.
        file: the module, from the root of the project.
        title: what browsers call the page.
        intro: HTML above the code.
        places: numbers of lines, from 1, and the names of places there.
    """
    app.ntp_code.wait()  # type: ignore[attr-defined]
    code = highlight.highlighted(folder_of(app), file).read_text(encoding="utf-8")
    head, _, rest = code.partition("<pre>")
    lines = rest.split("\n")
    for line, name in places:
        lines[line - 1] = f'<span id="{escape(name)}" class="ntp-anchor"></span>{lines[line - 1]}'
    code = f"{head}<pre>{chr(10).join(lines)}"
    body = f'<h1>{escape(file.stem)}</h1>{intro}<div class="ntp-broad">{code}</div>'
    return page, {"title": title, "body": body, "parents": []}, "page.html"


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("builder-inited", start, priority=600)  # after the rows of the ledger are read
    app.connect("build-finished", finish)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
