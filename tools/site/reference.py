"""The public functions and classes of a module, read off its code without importing it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ntpbook.catalogue import PAPERS
from ntpverdicts.claims import Claim
from tools.pipeline.source import OURS

# The public API: what a reader of the page From Python, of docs/isotonic.md, or of a script in
# examples/python needs, in that order.
MODULES = (
    *("front", "data.dataset", "data.order", "data.next_tokens", "learned", "exact.any_order"),
    *("exact.margin", "exact.margin_fast"),
    *("exact.repair", "exact.repair_program", "certificate"),
    *("huang2024.problem", "huang2024.stage1", "huang2024.training", "huang2024.prediction"),
    *("huang2024.plain", "huang2024.bounds", "tian2023.decoder", "tian2023.coupled"),
    *("ntpcli.check", "ntpcli.storage", "ntpverdicts.claims", "ntpverdicts.compare"),
    *("ntpverdicts.arrays", "ntpverdicts.vocabulary", "data.generate", "data.files"),
)
EXAMPLE = "Example"
_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Source):[ ]?(.*)$")
_ITEM = re.compile(r"^(\w[\w, ]*): (.+)$", re.DOTALL)
_STATEMENT = re.compile(rf"({'|'.join(PAPERS)}), (\w+?)s? (\(\d+\)|\d+(?:\.\d)?)")
# Pages of sections that docstrings name where no numbered statement is meant.
SECTIONS = {
    "section 3": "huang2024_s3_setup",
    "section 4.1": "huang2024_s4_realizable",
    "section 4.2": "huang2024_s4_algorithm",
    "section 7": "huang2024_s7_experiment",
}


@dataclass(frozen=True)
class Section:
    """A part of a docstring: its title, empty for what comes first, and its paragraphs."""

    title: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A public function, method or class.

    Attributes:
        name: with the class before it, of a method.
        signature: as the code writes it, in one line.
        sections: of its docstring.
        line: where it begins in its module.
    """

    name: str
    signature: str
    sections: tuple[Section, ...]
    line: int


def module_file(module: str) -> Path:
    """The file of a module that the reference describes; names without a room are of ntpcore."""
    path = f"{module.replace('.', '/')}.py"
    return Path(path if module.split(".")[0] in OURS else f"ntpcore/{path}")


def entries(path: Path) -> list[Entry]:
    """The public functions and classes of a module, in the order of its code."""
    found: list[Entry] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            found.append(_entry(node, ""))
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
                    found.append(_entry(inner, f"{node.name}."))
    return found


def _entry(node: ast.ClassDef | ast.FunctionDef, owner: str) -> Entry:
    """One of them."""
    if isinstance(node, ast.FunctionDef):
        names = {name.id for name in node.decorator_list if isinstance(name, ast.Name)}
        arguments = ast.unparse(node.args)
        result = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
        is_value = names & {"property", "cached_property"}
        signature = f"{node.name}{'' if is_value else f'({arguments})'}{result}"
    else:
        fields = [
            ast.unparse(inner)
            for inner in node.body
            if isinstance(inner, ast.AnnAssign) and not ast.unparse(inner).startswith("_")
        ]
        signature = f"class {node.name}({', '.join(fields)})"
    text = ast.get_docstring(node) or ""
    return Entry(owner + node.name, owner + signature, tuple(sections(text)), node.lineno)


def sections(docstring: str) -> list[Section]:
    """The parts of a docstring; in lists of arguments each item is a paragraph.

    What Python would say at its prompt is a part of its own, `Example`, with its lines as they are.
    """
    title, blocks, found = "", [""], []
    for line in inspect.cleandoc(docstring).splitlines():
        if match := _SECTION.match(line):
            found.append(Section(title, _paragraphs(blocks)))
            title, blocks = match[1], [match[2]]
        elif line.startswith(">>> ") and title != EXAMPLE:
            found.append(Section(title, _paragraphs(blocks)))
            title, blocks = EXAMPLE, [line]
        elif title == EXAMPLE:
            blocks[-1] = f"{blocks[-1]}\n{line}"
        elif not line.strip():
            blocks.append("")
        elif title and re.match(r"^ {4}\w[\w, ]*: ", line):
            blocks.append(line.strip())
        else:
            blocks[-1] = f"{blocks[-1]} {line.strip()}".strip()
    found.append(Section(title, _paragraphs(blocks)))
    return [section for section in found if section.paragraphs]


def _paragraphs(blocks: Iterable[str]) -> tuple[str, ...]:
    """Those that hold something."""
    return tuple(block for block in blocks if block.strip())


def item(paragraph: str) -> tuple[str, str]:
    """Name and meaning of an argument or an error; no name where there is none."""
    match = _ITEM.match(paragraph)
    return (match[1], match[2]) if match else ("", paragraph)


def statements(text: str, catalogue: Iterable[Claim]) -> list[tuple[str, str]]:
    """What a docstring names of the papers and the book treats: the words, and page#place."""
    known = {f"huang2024 {name}": page for name, page in SECTIONS.items()}
    for claim in catalogue:
        if claim.page is not None:
            name = f"{claim.label.partition('-')[0]} {claim.number.lower()}"
            known.setdefault(name, f"{claim.page}#{claim.label}")
    found = {match[0]: " ".join(match.groups()).lower() for match in _STATEMENT.finditer(text)}
    return [(words, known[name]) for words, name in found.items() if name in known]
