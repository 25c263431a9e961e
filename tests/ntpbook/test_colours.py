"""One palette: orange is for non-optimal tokens only; drawings, twins and moved drawings agree."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tiny_book import ROOT

from ntpbook.look import interactive, plots
from tools.site.pictures import DARK

MODULES = sorted(
    path
    for room in ("ntpbook", "ntpcore")
    for path in (ROOT / room).rglob("*.py")
    if "NONOPTIMAL" in path.read_text(encoding="utf-8")
)
LOSES = re.compile(r"\b(non-?optimal|common|rivals?)\b")  # common tokens lose in the second paper
GROUND = {"light": "#ffffff", "dark": "#121212"}


def unsaid(source: str) -> list[str]:
    """Functions that draw in orange and whose docstrings name no token that loses."""
    tree = ast.parse(source)
    found, inside = [], set()
    for one in ast.walk(tree):
        if not isinstance(one, ast.FunctionDef):
            continue
        used = [node for node in ast.walk(one) if is_orange(node)]
        inside |= {id(node) for node in used}
        if used and not LOSES.search(ast.get_docstring(one) or ""):
            found.append(one.name)
    for one in tree.body:  # looks under a name
        if isinstance(one, ast.Assign | ast.AnnAssign):
            loose = [node for node in ast.walk(one) if is_orange(node) and id(node) not in inside]
            found += (
                ["a look"] * len(loose) * (not LOSES.search(ast.get_source_segment(source, one)))
            )
    return found


def is_orange(node: ast.AST) -> bool:
    """Whether a name is that of the colour, and read."""
    return isinstance(node, ast.Name) and node.id == "NONOPTIMAL" and isinstance(node.ctx, ast.Load)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_orange_is_drawn_only_where_tokens_lose(path: Path) -> None:
    assert unsaid(path.read_text(encoding="utf-8")) == []


def test_orange_for_something_else_is_noticed() -> None:
    drawn = 'def draw(axes):\n    """{}"""\n    axes.plot([0], [1], color=NONOPTIMAL)\n'
    assert unsaid(drawn.format("Scores of non-optimal tokens.")) == []
    assert unsaid(drawn.format("Attention without momentum.")) == ["draw"]
    assert unsaid("LOOKS = (OPTIMAL, NONOPTIMAL)") == ["a look"]
    assert unsaid('LOOKS = {"non-optimal": NONOPTIMAL}') == []


def luminance(colour: str) -> float:
    """The relative luminance of a colour."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """The ratio of two luminances, as the guidelines for accessible pages define it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_every_role_has_one_colour_in_drawings_their_twins_and_moved_drawings() -> None:
    css = (ROOT / "book/_static/figures.css").read_text(encoding="utf-8")
    for role in interactive.ROLES:
        colour = getattr(plots, role.upper()).lower()
        light, dark = re.findall(rf"--ntp-{role}: (#[0-9a-f]{{6}});", css)
        assert light == colour
        assert contrast(colour, GROUND["light"]) >= 3, "graphics need a contrast of 3"
        assert min(contrast(one, GROUND["dark"]) for one in (dark, DARK[colour])) >= 3
        assert dark == DARK[colour] or role == "bound"  # pure white where lines are thin
