"""What a screen reader says for a formula of the printed book, made from its MathML.

The words are those of MathSpeak, which says where each fraction, norm and exponent ends. Two
things of this book it cannot know: a superscript in brackets is an index and no power, and a
raised down tack is a transpose.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

from tools.pipeline.node import find_module, find_node

PROGRAM = Path(__file__).with_name("speech.cjs")
ENGINE = "speech-rule-engine/lib/sre.js"
ITERATES = frozenset("Wθ")  # what gradient descent moves; any other index counts samples
GROUPS = ("mrow", "mpadded", "mstyle")
SECONDS = 600


class SpeechError(Exception):
    """A formula that cannot be read aloud."""


def spoken(root: Path, formulas: Iterable[str]) -> dict[str, str]:
    """The words of every formula, given as MathML.

    Raises:
        NodeError: Node.js or the speech rule engine is missing.
        SpeechError: the engine stopped, or has no words for a formula.
    """
    asked = list(dict.fromkeys(formulas))
    done = subprocess.run(
        [find_node(), str(PROGRAM), str(find_module(root, ENGINE).resolve())],
        input=json.dumps([marked(formula) for formula in asked]),
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    if done.returncode:
        raise SpeechError(f"{PROGRAM.name} stopped: {done.stderr.strip()}")
    words = dict(zip(asked, map(_told, json.loads(done.stdout)), strict=True))
    silent = [formula for formula, text in words.items() if not text or not text.isascii()]
    if silent:
        raise SpeechError(f"no words for {len(silent)} formulas, the first: {silent[0]}")
    return words


def _told(words: str) -> str:
    """The words of the engine, with the names that this book has for double bars and hats."""
    return " ".join(words.replace("Metric", "Norm").replace("ˆ", "hat").split())


def marked(formula: str) -> str:
    """MathML whose indices in raised brackets and transposes are named by words.

    Raises:
        SpeechError: it is no MathML.
    """
    try:
        tree = ElementTree.fromstring(formula)
    except ElementTree.ParseError as error:
        raise SpeechError(f"no MathML: {error}: {formula}") from error
    for node in tree.iter():
        if node.tag in ("msup", "msubsup") and len(node):
            for sign in node[-1].iter():
                if sign.text == "⊤":
                    sign.tag, sign.text = "mtext", "transpose"
            _name_index(node[-1], "iterate" if _text(node[0]) in ITERATES else "index")
    return ElementTree.tostring(tree, encoding="unicode")


def _name_index(raised: ElementTree.Element, name: str) -> None:
    """Put a name in place of the brackets with which a superscript begins, if it does."""
    while raised.tag in GROUPS and len(raised) and raised[0].tag in GROUPS:
        if any(_text(rest) != "transpose" for rest in raised[1:]):
            return  # a product that begins with brackets
        raised = raised[0]
    signs = [_text(sign) for sign in raised]
    if signs[:1] != ["("] or signs[-1] != ")" or signs.count("(") > 1:
        return
    raised[0].tag, raised[0].text, raised[0].attrib = "mtext", name, {}
    raised.remove(raised[-1])


def _text(node: ElementTree.Element) -> str:
    """The signs of a part of a formula."""
    return unescape("".join(node.itertext())).strip()
