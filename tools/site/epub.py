"""`make epub`: the stories of the built book as one EPUB 3, with their MathML and their figures.

An e-reader has no sliders, no buttons, and no folds. So a chapter is the article of its page
without them: figures as they stand at first, and the code that the page shows without a click.
"""

from __future__ import annotations

import posixpath
import re
import sys
import uuid
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from html import escape, unescape
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from tools.site.editions import (
    ROOT,
    SITE,
    START,
    STILL,
    About,
    EditionError,
    about,
    leads_to,
    stories,
    write_edition,
)
from tools.site.html import article_of, title_of

TARGET = ROOT / "_build" / "ntp-companion.epub"
FIRST = "first.xhtml"
LAST = ("book/glossary", "book/references")  # what words and citations of the stories lead to
EPOCH = (2000, 1, 1, 0, 0, 0)  # the time of every file in the archive: equal books, equal bytes
# What an e-reader cannot do, or has a way of its own for.
LEFT_OUT = (
    "script, noscript, button, form, progress, output, svg, source, details.hide, .headerlink, "
    ".ntp-in-dark, .ntp-run, .ntp-moves, .ntp-save, .ntp-download, .ntp-copy, .ntp-equation-links"
)
PLAIN = ("class", "id", "href", "src", "alt", "title", "lang", "colspan", "rowspan", "start")
KINDS = {".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg"}
DOCTYPE = re.compile(rb"<!DOCTYPE[^>]*>\s*")  # it names a file elsewhere, which no EPUB may do
BLANK = re.compile(rb"<path(?![^>]*\sd=)")  # the outline of a blank, which browsers take as it is
MATHML = "http://www.w3.org/1998/Math/MathML"
OWN = re.compile(r"class$|style$|data-|id$|scriptlevel$")  # of formulas: no e-reader needs them

LOOK = """\
body { margin: 0 4%; line-height: 1.45; }
h1, h2, h3, figcaption, .admonition-title { text-align: left; page-break-after: avoid; }
figure { margin: 1em 0; page-break-inside: avoid; }
figcaption { font-size: 0.9em; }
img { max-width: 100%; }
pre { font-size: 0.8em; white-space: pre-wrap; border-left: 2px solid #aaa; padding-left: 0.6em; }
table { border-collapse: collapse; font-size: 0.85em; }
td, th { border-bottom: 1px solid #ccc; padding: 0.1em 0.5em; text-align: left; }
.proof, .sd-card { border: 1px solid #aaa; padding: 0 0.8em; margin: 1em 0; }
.admonition-title, .sd-card-header { font-weight: bold; }
.ntp-badge { font-size: 0.8em; border: 1px solid #999; border-radius: 0.4em; padding: 0 0.3em; }
.math.amsmath, div.math { text-align: center; margin: 0.8em 0; overflow-x: auto; }
"""
CONTAINER = """\
<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles>
<rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>
"""
PAGE = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="en" \
xml:lang="en">
<head><title>{title}</title><link rel="stylesheet" href="look.css"/></head>
<body>{body}</body>
</html>
"""
PACKAGE = """\
<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:{id}</dc:identifier>
<dc:title>{title}</dc:title>
<dc:language>en</dc:language>
{creators}
<dc:rights>Text and figures: Creative Commons Attribution 4.0</dc:rights>
<meta property="dcterms:modified">{date}T00:00:00Z</meta>
</metadata>
<manifest>
{items}
</manifest>
<spine>
{order}
</spine>
</package>
"""


def file_of(page: str) -> str:
    """The file of a chapter."""
    return page.replace("/", "-") + ".xhtml"


def chapter(html: str, page: str, files: Mapping[str, str], site: str) -> tuple[str, list[str]]:
    """The article of a page as the body of a chapter, and the pictures that it shows.

    Args:
        html: the page.
        page: its name.
        files: the file of every page of the e-book.
        site: address of the published book, for links to what the e-book does not hold; may be
            empty, and then such links are plain words.

    Raises:
        EditionError: the page is not one of the book.
    """
    article = article_of(html)
    if not article:
        raise EditionError(f"the page {page} of the site has no article; run: make book")
    soup = BeautifulSoup(article, "html.parser")
    for tag in soup.select(LEFT_OUT):
        tag.decompose()
    for tag in soup.select("picture, .cell_input:empty"):
        tag.unwrap()
    for tag in soup.find_all(["details", "summary", "label"]):
        tag.name = "div"
    pictures: list[str] = []
    for tag in soup.find_all(True):
        in_formula = tag.name == "math" or tag.find_parent("math") is not None
        keep = (lambda name: not OWN.match(name)) if in_formula else PLAIN.__contains__
        tag.attrs = {name: value for name, value in tag.attrs.items() if keep(name)}
        if tag.name == "math":
            tag["xmlns"] = MATHML
        elif tag.name == "img":
            picture = posixpath.normpath(posixpath.join(posixpath.dirname(page), str(tag["src"])))
            tag["src"] = posixpath.basename(picture)
            pictures.append(picture)
        elif tag.name == "a" and "href" in tag.attrs:
            _link(tag, page, files, site)
    return soup.decode(formatter="minimal"), pictures


def _link(tag: Tag, page: str, files: Mapping[str, str], site: str) -> None:
    """Lead a link to a chapter, to the published site, or nowhere."""
    found = leads_to(str(tag["href"]), page)
    if found is None:
        return
    path, place = found[0], f"#{found[1]}" if found[1] else ""
    if (target := path.removesuffix(".html")) in files:
        tag["href"] = files[target] + place
    elif site:
        tag["href"] = f"{site.rstrip('/')}/{path}{place}"
    else:
        tag.unwrap()


def without_dead_ends(bodies: dict[str, str]) -> dict[str, str]:
    """Links to places that no chapter has, such as a button, lead to the chapter instead."""
    places = {name: set(re.findall(r'\bid="([^"]+)"', body)) for name, body in bodies.items()}

    def alive(found: re.Match[str]) -> str:
        known = unescape(found[2]) in places.get(found[1], set())
        return found[0] if known else f'href="{found[1]}"'

    link = re.compile(r'href="([^"#:]+\.xhtml)#([^"]+)"')
    return {name: link.sub(alive, body) for name, body in bodies.items()}


def contents(titles: Mapping[str, str]) -> str:
    """The table of contents."""
    items = "".join(
        f'<li><a href="{file}">{escape(title)}</a></li>' for file, title in titles.items()
    )
    nav = f'<nav epub:type="toc" id="toc"><h1>Contents</h1><ol>{items}</ol></nav>'
    return PAGE.format(title="Contents", body=nav)


def first_page(html: str, told: About) -> str:
    """What the book is: its title, the first paragraph of its start page, and what is left out."""
    article = BeautifulSoup(article_of(html), "html.parser")
    paragraphs = article.find_all("p")
    for link in paragraphs[0].find_all("a"):
        link.unwrap()
    made = f"{', '.join(told.authors)}, {told.date}"
    return (
        f"<h1>{escape(told.title)}</h1><p>{escape(made)}</p>{paragraphs[0]}<p>{escape(STILL)}</p>"
    )


def parts(site: Path, pages: Sequence[str], told: About) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file in the e-book, but the first one.

    Args:
        site: the built book.
        pages: the chapters, in their order.
        told: what is said about the book.

    Raises:
        EditionError: a page or a picture is not there.
    """
    files = {page: file_of(page) for page in pages}
    bodies = {FIRST: first_page(_page(site, START), told)}
    titles, pictures = {}, dict[str, None]()
    for page, file in files.items():
        html = _page(site, page)
        bodies[file], shown = chapter(html, page, files, told.site)
        titles[file] = title_of(html)
        pictures |= dict.fromkeys(shown)
    yield "META-INF/container.xml", CONTAINER.encode()
    yield "EPUB/look.css", LOOK.encode()
    yield "EPUB/nav.xhtml", contents(titles).encode()
    items = [
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
        '<item id="look" href="look.css" media-type="text/css"/>',
    ]
    for name, body in without_dead_ends(bodies).items():
        kind = ' properties="mathml"' if "<math" in body else ""
        items.append(
            f'<item id="{Path(name).stem}" href="{name}" media-type="application/xhtml+xml"{kind}/>'
        )
        title = escape(titles.get(name, told.title))
        yield f"EPUB/{name}", PAGE.format(title=title, body=body).encode()
    for place, picture in enumerate(pictures):
        path = site / picture
        if not path.is_file():
            raise EditionError(f"the site has no picture {picture}; run: make book")
        kind = KINDS[path.suffix]
        items.append(f'<item id="picture-{place}" href="{path.name}" media-type="{kind}"/>')
        yield f"EPUB/{path.name}", BLANK.sub(b'<path d=""', DOCTYPE.sub(b"", path.read_bytes()))
    yield (
        "EPUB/package.opf",
        PACKAGE.format(
            title=escape(told.title),
            creators="\n".join(f"<dc:creator>{escape(name)}</dc:creator>" for name in told.authors),
            date=told.date,
            id=uuid.uuid5(uuid.NAMESPACE_URL, "\n".join([told.title, told.date, *files])),
            items="\n".join(items),
            order="\n".join(f'<itemref idref="{Path(name).stem}"/>' for name in bodies),
        ).encode(),
    )


def _page(site: Path, page: str) -> str:
    """A page of the site."""
    path = site / f"{page}.html"
    if not path.is_file():
        raise EditionError(f"the site has no page {page}; run: make book")
    return path.read_text(encoding="utf-8")


def make_epub(site: Path, target: Path, pages: Sequence[str], told: About) -> Path:
    """Write the e-book, all of it or nothing; the same book has the same bytes.

    Raises:
        EditionError: a page or a picture is not there.
    """
    found = dict(parts(site, pages, told))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as book:
        first = zipfile.ZipInfo("mimetype", EPOCH)  # by the format: first, and not compressed
        book.writestr(first, "application/epub+zip", zipfile.ZIP_STORED)
        for name, content in found.items():
            book.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    return target


def main() -> int:
    """Write the e-book beside the site; the exit code is that of `write_edition`."""
    pages = [*stories(ROOT), *LAST]
    return write_edition("EPUB", lambda: make_epub(SITE, TARGET, pages, about(ROOT)))


if __name__ == "__main__":
    sys.exit(main())
