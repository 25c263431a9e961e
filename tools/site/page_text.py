"""The prose of a page's source: statements as plain text, and numbers that somebody typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tools.pipeline.source import code_cells

STATEMENT = re.compile(
    r"^(?P<fence>:{3,})\{prf:(?P<kind>\w+)\}(?P<title>[^\n]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
OPTION = re.compile(r"^:([\w-]+):[ \t]*(.*)$")
ROLE = re.compile(r"\{([\w:-]+)\}`([^`]*)`")
MISSING = "…"  # stands for what a check found in a site whose other pages did not run
WITH_TEXT = re.compile(r"^(?P<text>.*?)\s*<[^>]*>$", re.DOTALL)
LINK = re.compile(r"!?\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]*)\)")
DISPLAY = re.compile(r"\$\$.*?\$\$|\\begin\{(?P<name>[a-z]+\*?)\}.*?\\end\{(?P=name)\}", re.DOTALL)
INLINE = re.compile(r"(?<![\\$])\$[^$]+?(?<!\\)\$")
CODE = re.compile(r"(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)", re.DOTALL)
CAPTIONS = ("caption", "alt")  # of a cell's figure: prose, though they stand in a cell's options


def statements(text: str) -> dict[str, str]:
    """For every labelled statement of a page its words; formulas stay as they are typed."""
    found = {}
    for match in STATEMENT.finditer(text):
        lines = match["body"].splitlines()
        options = {}
        while lines and (option := OPTION.match(lines[0])):
            options[option[1]] = option[2].strip()
            lines.pop(0)
        if options.get("label"):
            found[options["label"]] = plain("\n".join(lines))
    return found


def plain(text: str) -> str:
    """Text without the marks of MyST: roles and links by their words, paragraphs in lines."""
    formulas: list[str] = []

    def put_aside(match: re.Match[str]) -> str:
        formulas.append(match[0])
        return f"\0{len(formulas) - 1}\0"

    text = ROLE.sub(lambda match: _role_text(match[1], match[2]), text)
    text = INLINE.sub(put_aside, DISPLAY.sub(put_aside, text))
    text = LINK.sub(lambda match: match["text"], text)
    text = re.sub(r"^:{3,}.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"(?<!\*)\*{1,2}(?=\S)((?:[^*\n]|\n(?!\s))+?)(?<=\S)\*{1,2}(?!\*)", r"\1", text)
    text = re.sub("\0(\\d+)\0", lambda match: formulas[int(match[1])], text)
    paragraphs = re.split(r"\n[ \t]*\n", text.strip())
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.strip())


def _role_text(name: str, content: str) -> str:
    """What a reader sees of a role, as far as the source tells."""
    with_text = WITH_TEXT.match(content)
    if with_text and with_text["text"]:
        return with_text["text"]
    return f"${content}$" if name == "math" else content


# Numbers. A decimal (3.14) or one in scientific notation (1e-5, 2 x 10^5, 10⁻⁵); whole numbers and
# fractions are counted, quoted and named too often to be told apart.
POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
NUMBER = re.compile(
    rf"(?<![\w.])[-−]?(?:\d+\.\d+(?:[eE][+-−]?\d+)?|\d+[eE][+-−]?\d+|10[{POWERS}]+|10\^-?\d+)%?(?![\w.]\w)"
)
# What looks like a decimal and is the name of a place or a version.
NAMED = re.compile(
    r"\b(?:Sections?|Appendix|Appendices|Chapters?|Python|version)[ \u00a0]"
    r"[A-Z]?\.?\d+(?:\.\d+)*(?:(?:,| and| to|–)[ \u00a0][A-Z]?\.?\d+(?:\.\d+)*)*"
)


@dataclass(frozen=True)
class Typed:
    """A number that stands in the prose of a page.

    Attributes:
        number: the number as typed.
        around: the words around it.
    """

    number: str
    around: str


def typed_numbers(text: str) -> list[Typed]:
    """Decimal and scientific numbers in the prose of a page, captions and alternative texts.

    Formulas, code, roles, link targets, the names of sections, comments and the settings at the
    head of the file are no prose.
    """
    return [
        Typed(match[0], " ".join(prose[max(0, match.start() - 50) : match.end() + 50].split()))
        for prose in (page_prose(text), *figure_texts(text))
        for match in NUMBER.finditer(prose)
    ]


def page_prose(text: str) -> str:
    """The prose of a page, with blanks where anything else stood."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^(?P=fence)[ \t]*$", " ", text,
                  flags=re.MULTILINE | re.DOTALL)  # fmt: skip
    text = re.sub(r"^%.*$|<!--.*?-->", " ", text, flags=re.MULTILINE | re.DOTALL)
    return _inline_prose(text)


def _inline_prose(text: str) -> str:
    """Prose without formulas, roles, code, link targets and names of sections."""
    text = DISPLAY.sub(" ", text)
    text = ROLE.sub(" ", text)
    text = CODE.sub(" ", text)
    text = INLINE.sub(" ", text)
    text = LINK.sub(lambda match: f" {match['text']} ", text)
    text = re.sub(r"<https?:[^>]*>|https?://\S+", " ", text)
    return NAMED.sub(" ", text)


def figure_texts(text: str) -> list[str]:
    """Captions and alternative texts of the figures of a text notebook."""
    found = []
    for cell in code_cells(text):
        myst = cell.metadata.get("mystnb")
        for part in myst.values() if isinstance(myst, dict) else ():
            if isinstance(part, dict):
                found += [_inline_prose(str(part[key])) for key in CAPTIONS if key in part]
    return found


def readings_in_words(readings: Iterable[Mapping[str, Any]]) -> str:
    """Readings of a statement, a sentence each, with their verdicts."""
    sentences = ((one["text"].rstrip("."), one["verdict"]) for one in readings)
    return " ".join(f"{text[0].upper()}{text[1:]} ({verdict})." for text, verdict in sentences)
