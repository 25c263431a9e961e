"""`make jats`: the stories of the built book as one JATS article with sub-articles, by mystmd.

JATS is the XML in which archives keep articles. mystmd knows neither the roles and boxes of this
book nor its figures, so it is given chapters in plain MyST, made from the executed notebooks.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from bs4 import BeautifulSoup

from tools.pipeline.node import NodeError, find_module, find_node
from tools.pipeline.outputs import SVG, read_checks
from tools.pipeline.source import HIDING
from tools.site.downloads import Known, known_of, resolve, texts_of
from tools.site.editions import (
    ROOT,
    START,
    STILL,
    About,
    EditionError,
    about,
    stories,
    write_edition,
)
from tools.site.machine_checked import rows_of
from tools.site.page_text import LINK

WORK = ROOT / ".build" / "jats"
TARGET = ROOT / "_build" / "jats"
NAME = "ntp-companion.xml"
FIRST = "introduction"
MYSTMD = "mystmd/dist/myst.cjs"
RULE = re.compile(r"^---$\n?", re.MULTILINE)  # JATS knows no rules between paragraphs
# mystmd sets a tag as a table that is wide as the page, which MathML in JATS does not know.
TAG = re.compile(r"[ ]*\\tag\{([^}]*)\}")
ROWS = re.compile(r"(?:^\|.*\|[ \t]*(?:\n|\Z))+", re.MULTILINE)
# mystmd leads links between chapters to pages of a site that an article does not have.
LINKS = re.compile(
    r'<ext-link ext-link-type="uri" xlink:href="/([\w-]+)">(.*?)</ext-link>', re.DOTALL
)
RID = re.compile(r'<xref\b[^>]*\brid="([^"]*)"')
DEAD = re.compile(r'<ext-link\b[^>]*xlink:href="(?!https?:)([^"]*)"')
TROUBLE = re.compile(r"⛔|⚠")  # what mystmd writes before errors and warnings


def chapter(
    notebook: Mapping[str, Any], known: Known, chapters: Sequence[str], folder: Path
) -> str:
    """An executed notebook as MyST without roles, cells, and boxes; its figures go into a folder.

    Args:
        notebook: the executed notebook.
        known: what its words are resolved with.
        chapters: names of all chapters, for links between them.
        folder: where the chapter will stand.
    """

    def told_of(metadata: Mapping[str, Any]) -> dict[str, str]:
        shown = metadata.get("mystnb", {})
        caption = prose(shown.get("figure", {}).get("caption", ""), known, chapters)
        return {**shown.get("image", {}), **shown.get("figure", {}), "caption": caption}

    def parts() -> Iterator[str]:
        for place, cell in enumerate(notebook["cells"]):
            text = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                yield prose(text, known, chapters)
                continue
            if not set(cell["metadata"].get("tags", ())) & {*HIDING, "parameters"}:
                yield f"```python\n{text}\n```"
            for number, output in enumerate(cell["outputs"]):
                file = folder / f"{place}-{number}.svg"
                yield from _output(output, told_of(cell["metadata"]), file)

    return "\n\n".join(part for part in parts() if part.strip()) + "\n"


def prose(text: str, known: Known, chapters: Sequence[str]) -> str:
    """A cell of text: plain MyST, with links to chapters only."""

    def link(found: re.Match[str]) -> str:
        target = found["target"]
        if "://" in target:
            return found[0]
        name = target.removesuffix(".ipynb")
        return f"[{found['text']}]({name}.md)" if name in chapters else found["text"]

    plain = TAG.sub(r" \\qquad (\1)", RULE.sub("", resolve(text, known)))
    return ROWS.sub(lambda rows: wrapped(rows[0]), LINK.sub(link, plain))


def wrapped(rows: str) -> str:
    """A table in the frame that JATS wants around it."""
    return f":::{{table}}\n{rows.rstrip()}\n:::\n"


def _output(output: Mapping[str, Any], told: Mapping[str, str], file: Path) -> Iterator[str]:
    """What a cell gave: a figure with its name, alternative text, and caption; a table; or text."""
    data = output.get("data", {})
    if SVG in data:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(data[SVG]), encoding="utf-8")
        options = [
            f":{key}: {' '.join(told[key].split())}" for key in ("name", "alt") if key in told
        ]
        path = f"{file.parent.name}/{file.name}"
        yield "\n".join([f":::{{figure}} {path}", *options, "", told["caption"], ":::"])
    elif "text/html" in data:
        yield from _tables("".join(data["text/html"]))
    elif text := "".join(output.get("text", data.get("text/plain", ""))).rstrip():
        yield f"```text\n{text}\n```"


def _tables(html: str) -> Iterator[str]:
    """The tables of an output; buttons and cards have none, and stay in the browser."""
    for table in BeautifulSoup(html, "html.parser").find_all("table"):
        rows = [
            [
                " ".join(cell.get_text().split()).replace("|", "\\|")
                for cell in row.find_all(["th", "td"])
            ]
            for row in table.find_all("tr")
        ]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        yield wrapped("\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]))


def settings(told: About, chapters: Sequence[str]) -> dict[str, Any]:
    """What mystmd is told: title, authors, licenses, and the order of the chapters."""
    project = {
        "title": told.title,
        "authors": list(told.authors),
        "license": {"content": "CC-BY-4.0", "code": told.code},
        "keywords": list(told.keywords),
        # Without it, the first chapter by name would be the root of all links.
        "toc": [{"file": f"{name}.md"} for name in (FIRST, *chapters)],
        "numbering": {"equation": False, "figure": False},
        "exports": [
            {
                "format": "jats",
                "output": NAME,
                "article": f"{FIRST}.md",
                "sub_articles": [f"{chapter}.md" for chapter in chapters],
            }
        ],
    }
    return {"version": 1, "project": project}


def introduction(start: str) -> str:
    """The title and the first paragraph of the start page, and what is left out."""
    title, paragraph = start.split("\n\n")[:2]
    return f"{title}\n\n{paragraph}\n\n{STILL}\n"


def write_sources(root: Path, pages: Path, folder: Path, chapters: Sequence[str]) -> None:
    """Write what mystmd reads.

    Args:
        root: the project.
        pages: its executed notebooks.
        folder: where the sources go.
        chapters: names of the pages, in their order.

    Raises:
        EditionError: a page was not executed.
    """
    known = known_of(rows_of(read_checks(pages)), texts_of(root).values(), root)
    folder.mkdir(parents=True)
    for name in chapters:
        executed = pages / f"{name}.ipynb"
        if executed.is_file():
            notebook = json.loads(executed.read_text(encoding="utf-8"))
            text = chapter(notebook, known, chapters, folder / name)
        elif (prose_only := root / "book" / f"{name}.md").is_file():
            text = prose(prose_only.read_text(encoding="utf-8"), known, chapters)
        else:
            raise EditionError(f"there is no executed page {name}; run: make book")
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    start = introduction((root / f"{START}.md").read_text(encoding="utf-8"))
    (folder / f"{FIRST}.md").write_text(prose(start, known, chapters), encoding="utf-8")
    told = yaml.safe_dump(settings(about(root), chapters), sort_keys=False)
    (folder / "myst.yml").write_text(told, encoding="utf-8")


def run_mystmd(folder: Path, node: str, program: Path) -> None:
    """Let mystmd write the article beside its sources.

    Raises:
        EditionError: mystmd names an error or a warning, or writes nothing.
    """
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "NO_COLOR": "1"}
    done = subprocess.run(
        [node, str(program), "build", "--jats", "--ci"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = (done.stdout + done.stderr).splitlines()
    trouble = list(dict.fromkeys(line.strip() for line in said if TROUBLE.search(line)))
    if done.returncode or trouble or not (folder / NAME).is_file():
        raise EditionError("mystmd says:\n  " + "\n  ".join(trouble or said[-5:]))


def with_references(article: str) -> str:
    """The article with links to its chapters in place of links to pages.

    Raises:
        EditionError: a link leads to no chapter and to no address.
    """
    article = LINKS.sub(r'<xref ref-type="sec" rid="\1">\2</xref>', article)
    places = set(re.findall(r'\bid="([^"]*)"', article))
    dead = [link for link in RID.findall(article) if link not in places] + DEAD.findall(article)
    if dead:
        raise EditionError(f"links of the article lead nowhere: {', '.join(sorted(set(dead)))}")
    return article


def make_jats(root: Path, pages: Path, work: Path, target: Path, chapters: Sequence[str]) -> Path:
    """Write the article and its files into a folder, in place of what was there.

    Raises:
        EditionError: a page was not executed, mystmd is not installed, or it names an error.
    """
    try:
        node, program = find_node(), find_module(ROOT, MYSTMD)
    except NodeError as error:
        raise EditionError(str(error)) from error
    shutil.rmtree(work, ignore_errors=True)
    write_sources(root, pages, work, chapters)
    run_mystmd(work, node, program)
    article = with_references((work / NAME).read_text(encoding="utf-8"))
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    (target / NAME).write_text(article, encoding="utf-8")
    if (work / "files").is_dir():
        shutil.copytree(work / "files", target / "files")
    return target / NAME


def main() -> int:
    """Write the article beside the site; the exit code is that of `write_edition`."""
    chapters = [Path(page).name for page in stories(ROOT)]
    return write_edition("JATS", lambda: make_jats(ROOT, ROOT / "pages", WORK, TARGET, chapters))


if __name__ == "__main__":
    sys.exit(main())
