"""Read the text notebooks (MyST Markdown) as far as the build must know them before running.

Jupytext makes the notebook that is executed. Loading it takes longer than deciding that nothing
changed, hence this small reader; a test holds its cells against those of Jupytext.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

import yaml

FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})\{code-cell\}")
OPTION = re.compile(r"^:([\w-]+):\s*(.*)$")
SHOWN = re.compile(r"^:{3,}\{statement\}[ ]*(\S+)\n:{3,}$", re.MULTILINE)
EVIDENCE = re.compile(r"^:{3,}\{evidence\}[ ]*([^\n]+)\n:{3,}$", re.MULTILINE)
HIDING = ("remove-cell", "remove-input", "hide-cell", "hide-input")

# Our packages, whose modules decide what a page shows.
OURS = ("ntpcore", "ntpverdicts", "ntpbook", "ntpcli", "ntpplayground")


@dataclass(frozen=True)
class Cell:
    """A code cell of a text notebook.

    Attributes:
        source: its code.
        metadata: its options, as the notebook stores them.
        line: line number of its fence, from 1.
        last: line number of its closing fence.
    """

    source: str
    metadata: dict[str, object]
    line: int
    last: int

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags of the cell."""
        tags = self.metadata.get("tags") or ()
        assert isinstance(tags, list | tuple)
        return tuple(str(tag) for tag in tags)

    @property
    def visible(self) -> bool:
        """Whether a reader sees the code without a click."""
        return not any(tag in self.tags for tag in HIDING)


def shown_statements(text: str) -> list[str]:
    """Labels of the statements that a story shows, in order."""
    return SHOWN.findall(text)


def evidence_of(text: str) -> list[str]:
    """Names of the pages on which the statements of a story are proved and checked."""
    return [page for pages in EVIDENCE.findall(text) for page in pages.split()]


def code_cells(text: str) -> list[Cell]:
    """All code cells of a text notebook, in order."""
    lines, cells, at = text.splitlines(), [], 0
    while at < len(lines):
        opening = FENCE.match(lines[at])
        if opening is None:
            at += 1
            continue
        end = at + 1
        while end < len(lines) and lines[end].rstrip() != opening["fence"]:
            end += 1
        metadata, code = _split_options(lines[at + 1 : end])
        cells.append(Cell("\n".join(code).strip("\n"), metadata, at + 1, end + 1))
        at = end + 1
    return cells


def _split_options(lines: list[str]) -> tuple[dict[str, object], list[str]]:
    """The options of a cell (a YAML block or `:name: value` lines), and the code after them."""
    if lines and lines[0].strip() == "---":
        rest = [line.strip() for line in lines[1:]]
        close = rest.index("---") + 1 if "---" in rest else len(lines) - 1
        return yaml.safe_load("\n".join(lines[1:close])) or {}, lines[close + 1 :]
    options: dict[str, object] = {}
    for number, line in enumerate(lines):
        option = OPTION.match(line)
        if option is None:
            return options, lines[number:]
        options[option[1]] = yaml.safe_load(option[2])
    return options, []


def parse_code(cell: Cell) -> ast.Module | None:
    """The code of a cell as a tree, without IPython magics; None when it is not Python."""
    code = "\n".join(
        "" if line.lstrip().startswith(("%", "!")) else line for line in cell.source.splitlines()
    )
    try:
        return ast.parse(code)
    except SyntaxError:
        return None


def default_parameters(cells: list[Cell]) -> dict[str, object]:
    """Names and default values that the cell tagged `parameters` assigns."""
    found: dict[str, object] = {}
    for cell in cells:
        tree = parse_code(cell) if "parameters" in cell.tags else None
        for node in tree.body if tree else ():
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name, value = node.targets[0].id, node.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name, value = node.target.id, node.value
            else:
                continue
            if value is not None:
                found[name] = ast.literal_eval(value)
    return found
