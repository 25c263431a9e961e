"""Figures that are small, take their place before they arrive, and arrive when they are needed."""

from __future__ import annotations

import re
from pathlib import Path

IMAGE = re.compile(r"<img\b[^>]*>")
SOURCE = re.compile(r'\bsrc="([^"]+)"')
SIZE = re.compile(r'<svg\b[^>]*?\bwidth="([\d.]+)(pt|px)?" height="([\d.]+)(pt|px)?"')
METADATA = re.compile(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", re.DOTALL)
PATH = re.compile(r'\bd="([^"]*)"')
PLACES = re.compile(r'\b(x|y)="(-?\d+\.\d{3,})"')
NUMBER = re.compile(r"-?\d+\.\d{3,}")
AROUND = re.compile(r"[ \n]*([A-Za-z])[ \n]*")
POINT = 4 / 3  # pixels


def smaller(svg: str) -> str:
    """A drawing of matplotlib with its curves to a hundredth of a point, without notes."""

    def path(found: re.Match[str]) -> str:
        numbers = NUMBER.sub(lambda number: short(number[0]), found[1])
        return f'd="{AROUND.sub(lambda letter: letter[1], numbers).strip()}"'

    svg = PATH.sub(path, METADATA.sub("", svg))
    svg = PLACES.sub(lambda found: f'{found[1]}="{short(found[2])}"', svg)
    return re.sub(r">\s*\n\s*<", ">\n<", svg)


def short(number: str) -> str:
    """A number to two decimals."""
    text = f"{float(number):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def size_of(svg: str) -> tuple[int, int] | None:
    """Width and height of a drawing in pixels, if it says them."""
    found = SIZE.search(svg)
    if found is None:
        return None
    wide, high = (float(found[at]) * (POINT if found[at + 1] == "pt" else 1) for at in (1, 3))
    return round(wide), round(high)


def place_figures(html: str, folder: Path) -> str:
    """A page whose drawings say their size and are fetched when the reader comes near.

    Args:
        html: the page.
        folder: where the page lies.
    """

    def place(found: re.Match[str]) -> str:
        source = SOURCE.search(found[0])
        if source is None or "_images/" not in source[1] or "loading=" in found[0]:
            return found[0]
        extra = ' loading="lazy" decoding="async"'
        file = folder / source[1]
        size = size_of(file.read_text(encoding="utf-8")) if file.suffix == ".svg" else None
        if size and "width=" not in found[0]:
            extra += f' width="{size[0]}" height="{size[1]}"'
        return f"<img{extra}{found[0][4:]}"

    return IMAGE.sub(place, html)
