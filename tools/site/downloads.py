"""Each chapter as a notebook and as its text, to be run anywhere: what readers take home.

The notebook is made from the text: without outputs, its MyST resolved to plain Markdown that any
notebook program shows. Both carry the small files of the project that they read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from ntpverdicts.claims import MARKS, Verdict, shown_number
from ntpverdicts.graph import long_word_of
from tools.pipeline.normalise import normalise, to_text
from tools.pipeline.notebooks import named_files
from tools.pipeline.outputs import read_checks
from tools.pipeline.source import EVIDENCE, HIDING, SHOWN, code_cells, parse_code
from tools.site.machine_checked import rows_of
from tools.site.page_text import LINK, MISSING, ROLE, STATEMENT, WITH_TEXT, readings_in_words

FOLDER = "downloads"
LARGEST = 200_000  # characters of one file that a download carries
OPTION = re.compile(r"^:[\w-]+:.*\n?", re.MULTILINE)
COMMENT = re.compile(r"^(?:%.*|\([\w-]+\)=[ \t]*)\n?", re.MULTILINE)
LABEL = re.compile(r"^:label:[ \t]*(\S+)", re.MULTILINE)
DROPDOWN = re.compile(r"^:{3,}\{dropdown\}[ ]*([^\n]*)\n(.*?)^:{3,}$", re.DOTALL | re.MULTILINE)
FIRST_CELL = re.compile(r"^(?:`{3,}|~{3,})\{code-cell\}", re.MULTILINE)
AUTHORS = re.compile(
    r"@\w+\{(?P<key>\w+),.*?author\s*=\s*\{(?P<authors>[^}]*)\}.*?year\s*=\s*\{(?P<year>\d+)\}",
    re.DOTALL,
)

HEAD = """\
*A chapter of* Next-token prediction, checked, *as a notebook. It needs the package `ntpcore` and
what its notebooks import: in a checkout of the project, `pip install ".[book]"`. Words such as
"refuted" and numbers in the text are what the book found; run the cells to see for yourself.*"""
CARRIED = """\
# The files of the project that this chapter reads, so that it runs in any folder; yours are kept.
from pathlib import Path

for name, text in {texts}.items():
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        path.write_text(text, encoding="utf-8")"""


@dataclass(frozen=True)
class Known:
    """What the words of a chapter are resolved with.

    Attributes:
        rows: for every label its row of the ledger.
        citations: for every key of the bibliography its authors and year.
        boxes: for every label its statement in MyST.
    """

    rows: Mapping[str, Mapping[str, Any]]
    citations: Mapping[str, str]
    boxes: Mapping[str, str] = field(default_factory=dict)


def citations(bibliography: str) -> dict[str, str]:
    """For every entry of a bibliography its authors and year, such as Huang et al. (2024)."""
    found = {}
    for match in AUTHORS.finditer(bibliography):
        last = [name.split()[-1] for name in re.split(r"\s+and\s+", match["authors"].strip())]
        names = f"{last[0]} et al." if len(last) > 2 else " and ".join(last)
        found[match["key"]] = f"{names} ({match['year']})"
    return found


def carried(text: str, root: Path = Path()) -> dict[str, str]:
    """Name and text of every file of the project that the cells of a chapter name.

    Raises:
        ValueError: one of them is too large to be carried.
    """
    trees = [tree for cell in code_cells(text) if (tree := parse_code(cell)) is not None]
    found = {}
    for path in sorted(named_files(trees)):
        found[path.as_posix()] = (root / path).read_text(encoding="utf-8")
        if len(found[path.as_posix()]) > LARGEST:
            raise ValueError(f"{path} is too large for a download: {LARGEST} characters at most")
    return found


def with_files(text: str, files: Mapping[str, str]) -> str:
    """A text notebook with a cell, before its first one, that writes the files it reads."""
    if not files:
        return text
    listed = ",\n".join(f"    {name!r}: {content!r}" for name, content in files.items())
    cell = CARRIED.format(texts="{\n" + listed + ",\n}")
    place = FIRST_CELL.search(text)
    at = place.start() if place else len(text)
    return f"{text[:at]}```{{code-cell}}\n{cell}\n```\n\n{text[at:]}"


def resolve(text: str, known: Known) -> str:
    """A cell of MyST as plain Markdown: roles and directives by what a reader of the book sees."""
    text = SHOWN.sub(lambda match: known.boxes[match[1]], text)
    text = EVIDENCE.sub(lambda match: _evidence(match[1].split(), known), text)
    text = STATEMENT.sub(lambda match: _statement(match, known), text)
    text = DROPDOWN.sub(lambda match: f"**{match[1]}**\n\n{match[2].strip()}\n", text)
    text = ROLE.sub(lambda match: _role(match[1], match[2], known), COMMENT.sub("", text))
    return LINK.sub(_link, text)


def texts_of(root: Path) -> dict[Path, str]:
    """The text notebooks of the project."""
    return {
        path: path.read_text(encoding="utf-8") for path in sorted((root / "notebooks").glob("*.md"))
    }


def known_of(rows: Mapping[str, Mapping[str, Any]], texts: Iterable[str], root: Path) -> Known:
    """What words are resolved with, from the rows of the ledger and the texts of all chapters."""
    bibliography = (root / "references.bib").read_text(encoding="utf-8")
    return Known(rows, citations(bibliography), boxes_of(texts))


def boxes_of(texts: Iterable[str]) -> dict[str, str]:
    """For every labelled statement of some pages its box in MyST."""
    return {
        label[1]: match[0]
        for text in texts
        for match in STATEMENT.finditer(text)
        if (label := LABEL.search(match["body"]))
    }


def _evidence(pages: Iterable[str], known: Known) -> str:
    """The statements of some evidence pages as a list with links to their notebooks."""
    return "\n".join(
        f"- [{row['number']}: {row['title']}]({page}.md) **{_verdict(row)}**"
        for page in pages
        for row in known.rows.values()
        if row["page"] == page
    )


def _statement(match: re.Match[str], known: Known) -> str:
    """A statement or a proof, between two rules."""
    kind, title = match["kind"].capitalize(), match["title"].strip()
    label = LABEL.search(match["body"])
    options, _, body = match["body"].partition("\n\n") if label else ("", "", match["body"])
    name = f"{kind} {title}".strip()
    row = known.rows.get(label[1]) if label else None
    badge = f" ({_verdict(row)})" if row else ""
    rest = OPTION.sub("", options)
    return f"---\n\n**{name}**{badge}\n\n{rest}{body.strip()}\n\n---\n"


def _verdict(row: Mapping[str, Any]) -> str:
    """A verdict as mark and word."""
    return f"{MARKS[Verdict(row['verdict'])]} {long_word_of(row)}"


def _role(name: str, content: str, known: Known) -> str:
    """What a reader of the book sees in the place of a role."""
    row = known.rows.get(content.partition(":")[0])
    if name in ("result", "witness", "readings") and row is not None and "tried" not in row:
        return MISSING
    shown: dict[str, Callable[[], str]] = {
        "verdict": lambda: f"**{_verdict(known.rows[content])}**",
        "result": lambda: _result(content, known),
        "witness": lambda: str(known.rows[content]["witness"]),
        "readings": lambda: readings_in_words(known.rows[content]["readings"]),
        "cite:t": lambda: ", ".join(known.citations[key.strip()] for key in content.split(",")),
        "math": lambda: f"${content}$",
    }
    if name in shown:
        return shown[name]()
    with_text = WITH_TEXT.match(content)
    return with_text["text"] if with_text and with_text["text"] else content


def _result(content: str, known: Known) -> str:
    """One of the numbers that a check found."""
    label, _, name = content.partition(":")
    return shown_number(known.rows[label]["numbers"][name])


def _link(match: re.Match[str]) -> str:
    """A link to another chapter leads to its notebook; a page without code has none."""
    target = match["target"].partition("#")[0]
    if "://" in target:
        return match[0]
    chapter = Path(target)
    if chapter.suffix == ".md" and chapter.parent.name in ("", "pages", "notebooks"):
        return f"[{match['text']}]({chapter.stem}.ipynb)"
    return match["text"]


def notebook(text: str, known: Known) -> str:
    """The notebook made from a text notebook, as JSON.

    Raises:
        KeyError: a role names what no check gives.
    """
    made = jupytext.reads(text, fmt="md:myst")
    cells = []
    for cell in made.cells:
        cell.metadata.pop("mystnb", None)
        if cell.cell_type == "markdown":
            cell.source = resolve(cell.source, known).strip()
        elif set(cell.metadata.get("tags", [])) & set(HIDING):
            cell.metadata["jupyter"] = {"source_hidden": True}
        cells.append(cell)
    made.cells = [nbformat.v4.new_markdown_cell(HEAD), *cells]
    made.metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
    }
    plain = normalise(made)
    plain["metadata"].pop("papermill")
    nbformat.validate(plain)
    return to_text(plain)


def write(pages: str, folder: str) -> None:
    """Write both forms of every chapter into a folder.

    Args:
        pages: folder of the executed notebooks, which hold what the checks found.
        folder: where they go.
    """
    write_chapters(Path(folder), rows_of(read_checks(Path(pages))))


def write_chapters(
    folder: Path, rows: Mapping[str, Mapping[str, Any]], root: Path = Path()
) -> None:
    """Write both forms of every chapter, with what the rows of the ledger say."""
    texts = texts_of(root)
    known = known_of(rows, texts.values(), root)
    folder.mkdir(parents=True, exist_ok=True)
    for path, plain in texts.items():
        text = with_files(plain, carried(plain, root))
        (folder / path.name).write_text(text, encoding="utf-8")
        (folder / f"{path.stem}.ipynb").write_text(notebook(text, known), encoding="utf-8")
