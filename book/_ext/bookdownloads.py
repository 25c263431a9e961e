"""The download button of a chapter offers its notebook and its text; both run anywhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from tools.site import downloads
from tools.site.background import Beside

LINK = re.compile(r'(<a href="[^"]*downloads/[^"]+") target="_blank"')


def offer(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Put both links into the theme's button, in place of its link to the executed copy."""
    if not pagename.startswith("pages/"):
        return
    name = pagename.removeprefix("pages/")
    root = context["pathto"](downloads.FOLDER, 1)
    for group in context.get("header_buttons", []):
        if group.get("label") != "download-buttons":
            continue
        links = [
            {
                "type": "link",
                "url": f"{root}/{name}{suffix}",
                "text": f"{suffix} ({words})",
                "tooltip": f"Download this chapter as {words}",
                "icon": icon,
                "label": f"download-{words}-button",
            }
            for suffix, words, icon in (
                (".ipynb", "notebook", "fas fa-file-code"),
                (".md", "text", "fas fa-file"),
            )
        ]
        kept = [one for one in group["buttons"] if one["label"] == "download-pdf-button"]
        group["buttons"] = links + kept


def write_downloads(app: Sphinx) -> None:
    """Begin to write the files."""
    if app.builder.format == "html":
        folders = (str(Path(app.srcdir) / "pages"), str(Path(app.outdir) / downloads.FOLDER))
        app.ntp_downloads = Beside(downloads.__name__, "write", *folders)  # type: ignore[attr-defined]


def link_downloads(app: Sphinx, problem: Exception | None) -> None:
    """Wait for the files, and let links to them save rather than show."""
    if app.builder.format != "html":
        return
    if problem is not None:
        app.ntp_downloads.stop()  # type: ignore[attr-defined]
        return
    app.ntp_downloads.wait()  # type: ignore[attr-defined]
    site = Path(app.outdir)
    for page in (site / "pages").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(LINK.sub(r"\1 download", text), encoding="utf-8")
        (site / "_sources" / "pages" / f"{page.stem}.ipynb").unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("html-page-context", offer, priority=600)
    app.connect("builder-inited", write_downloads)
    app.connect("build-finished", link_downloads)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
