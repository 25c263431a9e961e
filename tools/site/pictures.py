"""Figures that are small, take their place before they arrive, and have a twin for the dark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

IMAGE = re.compile(r"<img\b[^>]*>")
SOURCE = re.compile(r'\bsrc="([^"]+)"')
SIZE = re.compile(r'<svg\b[^>]*?\bwidth="([\d.]+)(pt|px)?" height="([\d.]+)(pt|px)?"')
METADATA = re.compile(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", re.DOTALL)
PATH = re.compile(r'\bd="([^"]*)"')
PLACES = re.compile(r'\b[xy]="-?\d+\.\d{3,}"|\btranslate\([^)]*\)')
NUMBER = re.compile(r"-?\d+\.\d{3,}")
STROKE = re.compile(r"([A-Za-z])([^A-Za-z]*)")
NUMBERS = {"M": 2, "L": 2, "C": 6, "Q": 4, "z": 0}  # after each command of a path
POINT = 4 / 3  # pixels
# Colours of the drawings, and those that play their parts on a dark ground. Roles keep their hue;
# what lies on a heat map, whose colours mean numbers, keeps everything.
DARK = {
    "#000000": "#e6e6e6", "#ffffff": "#121212", "#666666": "#b4b4b4", "#cccccc": "#555555",
    "#0072b2": "#56b4e9", "#d55e00": "#ff9a57", "#117733": "#7ccf6b",
    # five steps of cividis, as lines: in the same order, all of them light enough
    "#00224e": "#7f9fd1", "#35456c": "#98a5c0", "#666970": "#b3ad9f", "#948e77": "#d0bc7a",
    "#c8b866": "#f0d04f",
}  # fmt: skip
COLOUR = re.compile(r"(?<=[:\"] )#[0-9a-f]{6}\b|(?<=[:\"])#[0-9a-f]{6}\b")
GROUP = re.compile(r"<g\b[^>]*?(/?)>|</g>")
HEAT = re.compile(r"<image\b|<g id=\"QuadMesh")
USED = re.compile(r'(?:(?<=href=")|(?<=url\())#([\w.-]+)')  # names of parts drawn elsewhere
NAME = re.compile(r' id="([^"]*)"')
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TWIN = "-dark"
PHONE = "-narrow"  # of a drawing for a phone; `ntpbook/look/narrow.py` makes it
NARROW = "screen and (max-width: 36rem)"  # as in `figures.css`
SIGNS = re.compile(r'<g( [^>]*)?>\n((?:<use [^>]*?style="[^"]*"/>\n){2,})</g>')
STYLE = re.compile(r' style="([^"]*)"')


def smaller(svg: str) -> str:
    """A drawing of matplotlib with its curves to a hundredth of a point, without notes.

    Signs of one look in a group have their style there once.
    """
    svg = PATH.sub(lambda found: f'd="{from_point_to_point(found[1])}"', METADATA.sub("", svg))
    svg = PLACES.sub(lambda found: rounded(found[0]), svg)
    return SIGNS.sub(_styled_once, re.sub(r">\s*\n\s*<", ">\n<", svg))


def _styled_once(found: re.Match[str]) -> str:
    """A group of signs; if all have one style and the group none, the style is the group's."""
    styles = set(STYLE.findall(found[2]))
    if len(styles) != 1 or "style=" in (found[1] or ""):
        return found[0]
    signs = STYLE.sub("", found[2])
    return f'<g{found[1] or ""} style="{styles.pop()}">\n{signs}</g>'


def with_short_names(svg: str) -> str:
    """A drawing in which only that has a name which is drawn by it, and a short one."""
    used = list(dict.fromkeys(USED.findall(svg)))
    names = {name: f"{LETTERS[at % 26]}{at // 26 or ''}" for at, name in enumerate(used)}
    svg = NAME.sub(lambda found: f' id="{names[found[1]]}"' if found[1] in names else "", svg)
    return USED.sub(lambda found: f"#{names[found[1]]}", svg)


def dark(svg: str) -> str:
    """The same drawing in the colours of a dark page; heat maps and words on them stay."""
    pieces, last = [], 0
    for begin, end in on_heat_maps(svg):
        pieces.append(recoloured(svg[last:begin]))
        pieces.append(svg[begin:end].replace("<g ", '<g fill="#000000" ', 1))
        last = end
    text = "".join([*pieces, recoloured(svg[last:])])
    return text.replace("<svg ", f'<svg fill="{DARK["#000000"]}" ', 1)  # of text without a colour


def recoloured(svg: str) -> str:
    """A part of a drawing, every colour that has a dark one in that."""
    return COLOUR.sub(lambda found: DARK.get(found[0], found[0]), svg)


def on_heat_maps(svg: str) -> list[tuple[int, int]]:
    """Where in a drawing stand heat maps, and the words that lie on them."""
    found: list[tuple[int, int]] = []
    for begin, end in groups(svg, 0, len(svg), "axes_"):
        if HEAT.search(svg, begin, end):
            inner = svg.index(">", begin) + 1
            for name in ("text_", "QuadMesh"):
                found += groups(svg, inner, end - len("</g>"), name)
    return sorted(found)


def groups(svg: str, begin: int, end: int, name: str) -> list[tuple[int, int]]:
    """Places of the groups whose ids begin so, of those that lie in no other group from here on.

    Figures hold one group, which is looked into.
    """
    found, depth, start = [], 0, begin
    outer = 1 if name == "axes_" else 0  # axes lie in the group of the figure
    for match in GROUP.finditer(svg, begin, end):
        if match[0] == "</g>":
            depth -= 1
            if depth == outer and svg.startswith(f'<g id="{name}', start):
                found.append((start, match.end()))
        elif not match[1]:
            if depth == outer:
                start = match.start()
            depth += 1
    return found


def rounded(text: str) -> str:
    """A text with its numbers to two decimals."""
    return NUMBER.sub(lambda number: short(number[0]), text)


def from_point_to_point(path: str) -> str:
    """A path with its points told from where the pen is, which takes fewer digits.

    Hundredths of a point are whole numbers, so that no error adds up along a path.

    Raises:
        ValueError: the path has commands that matplotlib does not write.
    """
    pen, begin, strokes = (0, 0), (0, 0), []
    for letter, places in STROKE.findall(path):
        points = [round(100 * float(place)) for place in places.split()]
        if NUMBERS.get(letter) != len(points):
            raise ValueError(f"the path {path[:40]!r} has the command {letter!r} {places!r}")
        if letter == "z":
            strokes.append("z")
            pen = begin
        elif letter == "M":
            strokes.append(f"M{_hundredths(points)}")
            pen = begin = (points[0], points[1])
        else:
            moves = [point - pen[at % 2] for at, point in enumerate(points)]
            strokes.append(f"{letter.lower()}{_hundredths(moves)}")
            pen = (points[-2], points[-1])
    return "".join(strokes)


def _hundredths(numbers: Sequence[int]) -> str:
    """Numbers in hundredths, one after the other: `.5 3-.25`."""
    texts = [short(str(number / 100)) for number in numbers]
    bare = [re.sub(r"\b0\.", ".", text) for text in texts]
    return " ".join(bare).replace(" -", "-")


def short(number: str) -> str:
    """A number to two decimals."""
    text = f"{float(number):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def write_narrow(folder: Path, narrow: Mapping[str, str]) -> None:
    """Write narrow drawings beside the wide ones of a site.

    Args:
        folder: where the drawings lie, as the notebooks made them.
        narrow: the narrow drawing for the text of each wide one that has one.
    """
    for path in sorted(folder.glob("*.svg")):
        if (drawing := narrow.get(path.read_text(encoding="utf-8").strip())) is not None:
            path.with_stem(path.stem + PHONE).write_text(drawing, encoding="utf-8")


def size_of(svg: str) -> tuple[int, int] | None:
    """Width and height of a drawing in pixels, if it says them."""
    found = SIZE.search(svg)
    if found is None:
        return None
    wide, high = (float(found[at]) * (POINT if found[at + 1] == "pt" else 1) for at in (1, 3))
    return round(wide), round(high)


def room_of(file: Path) -> str:
    """The size of a drawing as attributes of HTML, if it says its size."""
    size = size_of(file.read_text(encoding="utf-8"))
    return f' width="{size[0]}" height="{size[1]}"' if size else ""


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
        drawn = file.suffix == ".svg"
        if drawn and "width=" not in found[0]:
            extra += room_of(file)
        light = f"<img{extra}{found[0][4:]}"
        if not drawn or not file.with_stem(file.stem + TWIN).is_file():
            return light
        other = source[1].removesuffix(".svg") + f"{TWIN}.svg"
        both = (with_class(light, "ntp-in-light"), with_class(light, "ntp-in-dark"))
        looks = (both[0], both[1].replace(f'src="{source[1]}"', f'src="{other}"'))
        return "".join(with_narrow(look, folder) for look in looks)

    return IMAGE.sub(place, html)


def with_narrow(image: str, folder: Path) -> str:
    """A drawing that gives way to its narrow one on a phone, if it has one."""
    source = SOURCE.search(image)
    stem = source[1].removesuffix(".svg") if source else ""
    name = f"{stem.removesuffix(TWIN)}{PHONE}{TWIN if stem.endswith(TWIN) else ''}.svg"
    if not (folder / name).is_file():
        return image
    narrow = f'<source media="{NARROW}" srcset="{name}"{room_of(folder / name)}>'
    return f"<picture>{narrow}{image}</picture>"


def with_class(tag: str, name: str) -> str:
    """An element that has one more class."""
    if ' class="' in tag:
        return tag.replace(' class="', f' class="{name} ', 1)
    return f'<img class="{name}"{tag[4:]}'
