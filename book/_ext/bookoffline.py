"""What the stack loads and this book does not need goes; what it needs is served from the site.

Icons come as one small font within a style sheet (fonts in files are closed to pages that are
opened as files), and the code that launches live kernels on other machines, with all that belongs
to it, not at all. Formulas need no script; see `bookmath`.
"""

from __future__ import annotations

import base64
import io
import re
import shutil
from pathlib import Path
from typing import Any

from fontTools import subset
from sphinx.application import Sphinx

# Every icon of the theme's templates, scripts and style sheets that pages of this book can show.
ICONS = {
    "angle-left": 0xF104, "angle-right": 0xF105, "angle-down": 0xF107, "arrow-up": 0xF062,
    "bars": 0xF0C9, "list": 0xF03A, "magnifying-glass": 0xF002, "download": 0xF019,
    "expand": 0xF065, "file": 0xF15B, "file-pdf": 0xF1C1, "file-code": 0xF1C9, "xmark": 0xF00D,
    "moon": 0xF186, "sun": 0xF185, "circle-half-stroke": 0xF042, "arrow-right": 0xF061,
    "chevron-down": 0xF078, "chevron-up": 0xF077, "bell": 0xF0F3, "check-circle": 0xF058,
    "exclamation-circle": 0xF06A, "exclamation-triangle": 0xF071, "info-circle": 0xF05A,
    "lightbulb": 0xF0EB, "pencil": 0xF303, "share": 0xF064, "times-circle": 0xF057,
    "external-link": 0xF35D, "search-minus": 0xF010,
}  # fmt: skip
DROPPED = ("vendor", "sphinx-thebe.js", "sphinx-thebe.css", "locales", "play-solid.svg")
# What a script holds goes before its tag: else its text would stand on the page.
ELEMENTS = re.compile(
    r"<script(?: type=\"text/x-thebe-config\")?>"
    r"(?:(?!</script>).)*(?:[Tt]hebe|kernelName|requestKernel)(?:(?!</script>).)*</script>"
    r"|<(?:script|link)\b[^>]*(?:fontawesome|thebe)[^>]*>(?:\s*</script>)?",
    re.DOTALL,
)


def without_launchers(html: str) -> str:
    """A page without the elements that load icons from afar or launch kernels elsewhere."""
    return ELEMENTS.sub("", html)


def icon_style(font: Path) -> str:
    """A style sheet with the icons in use, out of the whole font.

    Args:
        font: the TrueType file of Font Awesome's solid style.

    Raises:
        ValueError: the font lacks an icon.
    """
    options = subset.Options(flavor="woff", layout_features=[], hinting=False)
    loaded = subset.load_font(str(font), options)
    missing = set(ICONS.values()) - set(loaded.getBestCmap())
    if missing:
        raise ValueError(f"{font.name} lacks icons: {sorted(hex(code) for code in missing)}")
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=ICONS.values())
    cutter.subset(loaded)
    written = io.BytesIO()
    loaded["head"].modified = loaded["head"].created  # the same bytes on every day
    loaded.recalcTimestamp = False
    subset.save_font(loaded, written, options)
    data = base64.b64encode(written.getvalue()).decode()
    families = "".join(
        f'@font-face{{font-family:"{family}";font-weight:{weight};font-display:block;'
        f'src:url("data:font/woff;base64,{data}") format("woff")}}\n'
        for family, weight in (("Font Awesome 6 Free", 900),)
    )
    # Readers of screens need not hear icons; browsers that cannot be told so keep the first form.
    marks = "".join(
        f'.fa-{name}::before{{content:"\\{code:x}";content:"\\{code:x}"/""}}\n'
        for name, code in ICONS.items()
    )
    return (
        f"/* Icons of Font Awesome Free (SIL OFL 1.1), those in use only. */\n{families}"
        ':root{--fa-font-solid:normal 900 1em/1 "Font Awesome 6 Free"}\n'
        '.fa,.fas,.fa-solid,.fa-regular{font:normal 900 1em/1 "Font Awesome 6 Free";'
        "display:inline-block;-webkit-font-smoothing:antialiased;text-rendering:auto}\n"
        f".fa-lg{{font-size:1.25em;line-height:.05em;vertical-align:-.075em}}\n{marks}"
    )


def clean_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Drop the scripts of sphinx-thebe: they name another machine, and twice the same constant."""
    for kind in ("script_files", "css_files"):
        context[kind] = [
            file
            for file in context.get(kind, [])
            if "thebe" not in (str(file) + str(getattr(file, "attributes", "")))
        ]


def clean_site(app: Sphinx, problem: Exception | None) -> None:
    """When all is written: icons from the theme's font, and away with what no page uses."""
    if problem is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    static = site / "_static"
    [font] = static.glob("vendor/fontawesome/*/webfonts/fa-solid-900.ttf")
    (static / "icons.css").write_text(icon_style(font), encoding="utf-8")
    for name in DROPPED:
        path = static / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for path in static.rglob("*.map"):
        path.unlink()
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(without_launchers(text), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_css_file("icons.css")
    app.connect("html-page-context", clean_page, priority=900)
    app.connect("build-finished", clean_site)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
