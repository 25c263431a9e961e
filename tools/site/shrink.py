"""What the built site does without: so that a page is there at once, on a phone, too.

The stack loads for every page all of Bootstrap, and scripts of extensions that the page has no use
for. The pages look and do the same without them. Of the folds of cards, drawings of what a claim
rests on and listings of code, which are larger than the rest of their page, come in a script of
their own when the first fold opens; a script, because a page that was opened as a file may fetch
nothing else. What they say stands in words and behind a link beside them. Style sheets of nearly
all pages are joined to two: a dozen requests keep a slow processor from drawing.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from functools import partial
from pathlib import Path

from tools.site.figure_controls import frame_figures
from tools.site.pictures import TWIN, dark, place_figures, smaller, with_short_names
from tools.site.styles import drop_unasked, slim, used_by

LATER = re.compile(
    r'<div class="ntp-later">(.*?)</div><!--later-->(.*?)<!--/later-->', re.DOTALL
)  # `book/_ext/bookledger.py` writes it
RESTS = Path("_static/rests")
TAG = re.compile(r"<[a-z][^<>]*>")
PLAIN = re.compile(r'(?<==)"([\w.-]+)"(?=[\s>])')  # a value that needs no quotes
# Scripts and style sheets that no page needs, or only some pages. What Bootstrap and
# the buttons for copying did for this book, `menus.js` does.
ONLY_WITH = {
    "scripts/bootstrap.js": None,
    "design-tabs.js": r"sd-tab-set",
    "togglebutton": r'class="[^"]*(?<![\w-])(?:toggle|tag_hide|dropdown admonition)',
    "clipboard.min.js": None,
    "copybutton": None,
    "ledger.js": r"ntp-ledger-all",
    "graphs.js": r"data-claim=",
}
# In the order in which pages load them; what only some pages load lies between or after them.
JOINED = {
    "styles/stack.css": (
        "basic.css", "styles/theme.css", "styles/bootstrap.css", "styles/pydata-sphinx-theme.css",
        "pygments.css", "styles/sphinx-book-theme.css", "togglebutton.css",
        "mystnb.*.css", "proof.css", "icons.css", "sphinx-design.min.css",
    ),
    "styles/own.css": ("playground/run.css", "ntp.css", "figures.css", "reading.css"),
}  # fmt: skip
BASIC = '@import "../basic.css"'  # all that the first sheet of every page says
FILE = re.compile(r"""url\(\s*["']?(?!["']?(?:data:|#))([^)"'\s]+)["']?\s*\)""")
UNLOADED = (
    "scripts/bootstrap.js", "clipboard.min.js", "copybutton.js", "copybutton.css",
    "copybutton_funcs.js",
)  # fmt: skip
# Scripts of the theme, of Sphinx and of its extensions; all others are ours.
STACK = {
    "pydata-sphinx-theme.js", "sphinx-book-theme.js", "doctools.js", "sphinx_highlight.js",
    "searchtools.js", "language_data.js", "design-tabs.js", "togglebutton.js",
}  # fmt: skip
# The theme repeats title and contents of every page for print, where both stand already.
REPEATED = re.compile(r'<div id="jb-print-docs-body".*?(?=<div id="searchbox">)', re.DOTALL)
# This button says more than "Search", so that name must go: its text is its name.
SEARCH = 'class="btn search-button-field search-button__button" title="Search" aria-label="Search"'
# The text of this summary, "Show source", says more than its name.
HIDDEN = ' aria-label="Toggle hidden content"'
INDENT = re.compile(r"\n\s+")
# Names, punctuation, and spaces of code, which have the color of all text in code.
UNCOLORED = re.compile(r'<span class="(?:n|p|w)">([^<>]*)</span>')
FIELD = 'id="search-input"'  # on every page, and on the search page once more
LOADING = re.compile(
    r'<script\b[^>]*\bsrc="([^"]+)"[^>]*>\s*</script>\n?|<link\b[^>]*\bhref="([^"]+)"[^>]*>\n?'
)
MAP = re.compile(r"\s*(?://|/\*)# sourceMappingURL=\S*(?:\s*\*/)?\s*$")
VERSION = re.compile(r'((?:href|src)="((?:\.\./)*)(_static/[^"?]+)\?)(?:v|digest)=[^"]*"')


def slim_site(site: Path) -> None:
    """Make a built site light, in place.

    Raises:
        ValueError: a style sheet cannot be read.
    """
    for picture in sorted((site / "_images").glob("*.svg")):
        drawing = smaller(picture.read_text(encoding="utf-8"))
        for path, look in (
            (picture, drawing),
            (picture.with_stem(picture.stem + TWIN), dark(drawing)),
        ):
            path.write_text(with_short_names(look), encoding="utf-8")
    pages = {}
    for path in sorted(site.rglob("*.html")):
        html = drop_needless(path.read_text(encoding="utf-8"))
        pages[path] = frame_figures(place_figures(html, path.parent), path.stem)
    drop_files(site)
    slim_styles(site, list(pages.values()))
    joined = join_styles(site / "_static")
    pages = {path: put_off(load_joined(html, joined), path, site) for path, html in pages.items()}
    marks = {
        path.relative_to(site).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:8]
        for path in sorted((site / "_static").rglob("*"))
        if path.suffix in (".css", ".js")
    }
    for path, html in pages.items():
        path.write_text(mark_versions(html, marks), encoding="utf-8")


def put_off(html: str, page: Path, site: Path) -> str:
    """A page without what its folds need not hold, which goes into a script beside the styles."""
    up = "../" * len(page.relative_to(site).parent.parts)
    name = "-".join(page.relative_to(site).with_suffix(".js").parts)
    parts: list[str] = []

    def take(found: re.Match[str]) -> str:
        parts.append(TAG.sub(lambda tag: PLAIN.sub(r"\1", tag[0]), found[2]))
        address = f"{up}{(RESTS / name).as_posix()}"
        return (
            f'<div class="ntp-later" data-later="{address}" data-part="{len(parts) - 1}">'
            f"{found[1]}</div>"
        )

    html = LATER.sub(take, html)
    if parts:
        (site / RESTS).mkdir(exist_ok=True)
        text = json.dumps(parts, ensure_ascii=False)
        (site / RESTS / name).write_text(f"ntpLater({text});\n", encoding="utf-8")
    return html


def drop_needless(html: str) -> str:
    """A page without the scripts and style sheets that it has no use for."""
    html = REPEATED.sub("", html).replace(SEARCH, SEARCH.partition(" aria-label")[0])
    html = UNCOLORED.sub(r"\1", without_indents(html.replace(HIDDEN, "")))
    first, sign, rest = html.partition(FIELD)
    html = first + sign + rest.replace(FIELD, 'id="search-input-here"')
    bare = LOADING.sub("", html)

    def judge(found: re.Match[str]) -> str:
        address = found[1] or found[2]
        for name, sign in ONLY_WITH.items():
            if f"_static/{name}" in address and (sign is None or not re.search(sign, bare)):
                return ""
        return found[0]

    # Roles of the list of references that are deprecated, or want children that it does not have.
    html = html.replace(' role="doc-biblioentry"', "")
    html = html.replace('<div role="list" class="citation-list">', '<div class="citation-list">')
    return LOADING.sub(judge, html)


def without_indents(html: str) -> str:
    """A page whose lines are not indented around its article, within which code may be."""
    head, sign, rest = html.partition("<article")
    article, end, foot = rest.rpartition("</article>")
    if not sign or not end:
        return html
    return f"{INDENT.sub(chr(10), head)}{sign}{article}{end}{INDENT.sub(chr(10), foot)}"


def drop_files(site: Path) -> None:
    """Remove what nothing loads any more."""
    for name in UNLOADED:
        (site / "_static" / name).unlink(missing_ok=True)
    for path in [*own_scripts(site), *sorted((site / "_static").rglob("*.css"))]:
        text = path.read_text(encoding="utf-8")
        if (fewer := MAP.sub("\n", text)) != text:
            path.write_text(fewer, encoding="utf-8")


def own_scripts(site: Path) -> list[Path]:
    """Scripts that work on pages, by folder; a program for a worker names no element."""
    static = site / "_static"
    folders = ("*.js", "scripts/*.js", "playground/*.js")
    return sorted(path for folder in folders for path in static.glob(folder))


def slim_styles(site: Path, pages: list[str]) -> None:
    """Write every style sheet anew without what nothing needs."""
    scripts = {path: path.read_text(encoding="utf-8") for path in own_scripts(site)}
    stack = [text for path, text in scripts.items() if path.name in STACK]
    ours = [text for path, text in scripts.items() if path.name not in STACK]
    used = used_by(pages, ours, stack)
    sheets = {
        path: slim(path.read_text(encoding="utf-8"), used)
        for path in sorted((site / "_static").rglob("*.css"))
    }
    for path, css in drop_unasked(sheets, [*pages, *scripts.values()]).items():
        path.write_text(css, encoding="utf-8")


def join_styles(static: Path) -> dict[str, str]:
    """Join style sheets in place; the sheet that each of those is part of which are gone.

    Raises:
        ValueError: one of them imports another that does not stand before it.
    """
    joined: dict[str, str] = {}
    for name, members in JOINED.items():
        texts = []
        for path in (path for member in members for path in sorted(static.glob(member))):
            css = path.read_text(encoding="utf-8").replace(BASIC, "").strip(";\n")
            if "@import" in css:
                raise ValueError(f"{path.name} imports a sheet, so that it cannot join {name}")
            folder = path.parent.relative_to(static).as_posix()
            texts.append(FILE.sub(partial(_moved, folder, posixpath.dirname(name)), css))
            path.unlink()
            joined[path.relative_to(static).as_posix()] = name
        if texts:
            (static / name).parent.mkdir(exist_ok=True)
            (static / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    return joined


def _moved(old: str, new: str, found: re.Match[str]) -> str:
    """The address of a file, in a style sheet that moves from one folder to another."""
    return f"url({posixpath.relpath(posixpath.join(old, found[1]), new)})"


def load_joined(html: str, joined: dict[str, str]) -> str:
    """A page that loads joined style sheets, each where it loaded the first of its members.

    Raises:
        ValueError: the page loads a member after the sheet that follows the joined one, so that
            other rules would win.
    """
    seen: list[str] = []

    def judge(found: re.Match[str]) -> str:
        up, _, name = (found[2] or "").partition("?")[0].partition("_static/")
        if not name.endswith(".css"):
            return found[0]
        new = joined.get(name, name)
        if new in seen:
            if seen[-1] != new:
                raise ValueError(f"{name} is loaded after {seen[-1]}, but belongs to {new}")
            return ""
        seen.append(new)
        return found[0].replace(found[2], f"{up}_static/{new}?v=0") if name in joined else found[0]

    return LOADING.sub(judge, html)


def mark_versions(html: str, marks: dict[str, str]) -> str:
    """A page that names files as they are now, so that no browser shows an old one."""

    def mark(found: re.Match[str]) -> str:
        return f'{found[1]}v={marks[found[3]]}"' if found[3] in marks else found[0]

    return VERSION.sub(mark, html)
