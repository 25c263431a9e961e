"""TeX to MathML at build time, and the font with just the signs that the book needs.

A reader's browser draws MathML by itself: no script, nothing moves while a page loads, screen
readers read it, and it works in a file, on paper and in the dark.
"""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

from tools.pipeline.node import find_module, find_node

if TYPE_CHECKING:
    from fontTools.ttLib import TTFont

PROGRAM = Path(__file__).with_name("maths.cjs")
TEMML = "temml/dist/temml.cjs"
FONT = "@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff"
TAG = re.compile(r"<[^>]*>")
GROWING = "√()[]{}|‖∥⟨⟩⌈⌉⌊⌋"  # signs that become as high as what they enclose
SPACE = re.compile(r"[\s⁡]+")
# Where browsers look for the slanted form of a letter that stands alone.
SLANTED = (("A", "Z", 0x1D434), ("a", "z", 0x1D44E), ("Α", "Ω", 0x1D6E2), ("α", "ω", 0x1D6FC))
SLANTED_ALONE = {"h": "ℎ", "∂": "𝜕", "ϵ": "𝜖", "ϑ": "𝜗", "ϰ": "𝜘", "ϕ": "𝜙", "ϱ": "𝜚", "ϖ": "𝜛"}


class FormulaError(ValueError):
    """A formula that cannot be set."""


class Setter:
    """A running Temml. Every formula is set once; its result does not depend on the others."""

    def __init__(self, root: Path, macros: Mapping[str, str]) -> None:
        """Start it.

        Raises:
            NodeError: Node.js or Temml is missing.
        """
        names = {f"\\{name}": text for name, text in macros.items()}
        command = [find_node(), str(PROGRAM), str(find_module(root, TEMML).resolve())]
        self._process = subprocess.Popen(
            [*command, json.dumps(names)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self._known: dict[tuple[str, bool], str] = {}

    def set(self, tex: str, *, display: bool) -> str:
        """A formula as MathML.

        Raises:
            FormulaError: it is no TeX that Temml knows.
        """
        key = (tex, display)
        if key not in self._known:
            answer = self._ask({"tex": tex, "display": display})
            if "error" in answer:
                raise FormulaError(answer["error"])
            self._known[key] = answer["mathml"]
        return self._known[key]

    def _ask(self, question: Mapping[str, object]) -> dict[str, str]:
        """One question to the process, and its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{PROGRAM.name} stopped; its message stands above")
        answer: dict[str, str] = json.loads(line)
        return answer

    def signs(self) -> str:
        """All characters that the formulas set so far are drawn with."""
        return signs_of(self._known.values())

    def close(self) -> None:
        """Stop the process."""
        self._process.communicate()


def signs_of(formulas: Iterable[str]) -> str:
    """The characters of MathML, and the slanted letters that stand for some of them."""
    used = set("√‾")  # what browsers put over roots by themselves
    for formula in formulas:
        used |= set(SPACE.sub("", unescape(TAG.sub("", formula))))
    return "".join(sorted(used | {slanted(sign) for sign in used}))


def slanted(sign: str) -> str:
    """What browsers draw for a letter that stands alone."""
    for first, last, start in SLANTED:
        if first <= sign <= last:
            return SLANTED_ALONE.get(sign) or chr(start + ord(sign) - ord(first))
    return SLANTED_ALONE.get(sign, sign)


def narrow_tall_signs(font: TTFont) -> None:
    """Give brackets and root signs of all heights the width of the lowest, in place.

    Beside a sign that can grow, Chromium leaves room for its widest form, however low it is:
    a gap after every root and inside every pair of brackets.
    """
    from fontTools.pens.recordingPen import DecomposingRecordingPen
    from fontTools.pens.transformPen import TransformPen
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    named, glyphs, widths = font.getBestCmap(), font.getGlyphSet(), font["hmtx"].metrics
    table = font["MATH"].table.MathVariants
    growing = dict(zip(table.VertGlyphCoverage.glyphs, table.VertGlyphConstruction, strict=True))
    for lowest in [named[ord(sign)] for sign in GROWING if named.get(ord(sign)) in growing]:
        taller = [one.VariantGlyph for one in growing[lowest].MathGlyphVariantRecord]
        if growing[lowest].GlyphAssembly:
            taller += [one.glyph for one in growing[lowest].GlyphAssembly.PartRecords]
        for name in taller:
            width, left = widths[name]
            share = min(1.0, widths[lowest][0] / width)
            outline, drawn = DecomposingRecordingPen(glyphs), TTGlyphPen(None)
            glyphs[name].draw(outline)
            outline.replay(TransformPen(drawn, (share, 0, 0, 1, 0, 0)))
            font["glyf"][name] = drawn.glyph()
            widths[name] = round(width * share), round(left * share)


def font_rule(root: Path, signs: str) -> str:
    """The rule of a style sheet that carries a font with some signs inside itself.

    Inside, because text that waits for its font moves, and because a page that was opened as a
    file may not fetch one.

    Raises:
        NodeError: the font is not installed.
        ValueError: the font lacks a sign.
    """
    from fontTools import subset, ttLib  # slow to load, and needed once in a build

    font = ttLib.TTFont(find_module(root, FONT), recalcTimestamp=False)
    missing = sorted(sign for sign in signs if ord(sign) not in font.getBestCmap())
    if missing:
        raise ValueError(f"the font of formulas has no sign {' '.join(missing)}")
    options = subset.Options(
        layout_features=["ssty", "dtls", "ss01", "ss04"],
        name_IDs=[0, 1, 2, 13, 14],  # whose it is, what it is called, and its licence
        hinting=False,
    )
    cutter = subset.Subsetter(options)
    cutter.populate(text=signs)
    cutter.subset(font)
    narrow_tall_signs(font)
    font.flavor = "woff"
    file = io.BytesIO()
    font.save(file, reorderTables=False)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return (
        '@font-face { font-family: "NTP Math"; '
        f'src: url("data:font/woff;base64,{data}") format("woff"); }}\n'
    )
