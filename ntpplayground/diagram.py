"""A drawing of one partial order: where its tokens and lines stand, and the same in words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ntpcli.terminal import show
from ntpcore.data.order import Pair, PartialOrder
from ntpverdicts.layout import arrange

MOST_TOKENS, MOST_PAIRS = 40, 240  # beyond, a drawing shows nothing any more
LISTED = 12  # tokens in a sentence
CELL, PADDING, HEIGHT, GAP, LAYER, MARGIN = 9.0, 20.0, 30.0, 18.0, 92.0, 14.0


class Node(NamedTuple):
    """A token: the centre of its box, the width of the box, its role, and what is written."""

    x: float
    y: float
    width: float
    role: str
    label: str


class Line(NamedTuple):
    """A line along these points; `back` where it closes a circle, against the drawing."""

    points: tuple[tuple[float, float], ...]
    back: bool


class Diagram(NamedTuple):
    """A drawing of this size, upper tokens above lower ones."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    words: str


def draw(order: PartialOrder) -> Diagram | None:
    """The drawing of an order that compares something; None where it is too large to draw.

    Every pair that Definition 1 assigns is a line. Where no token is confused this is the Hasse
    diagram: no pair follows from others. Where pairs run in a circle, each circle has a line that
    runs upwards.
    """
    if len(order.compared) > MOST_TOKENS or len(order.pairs) > MOST_PAIRS:
        return None
    back = _circles(order)
    forward = sorted(order.pairs - back)
    uses: dict[str, list[str]] = {token: [] for token in sorted(order.compared)}
    for upper, lower in forward:
        uses[lower].append(upper)
    widths = {token: CELL * cells(show(token)) + PADDING for token in uses}
    layout = arrange(uses, widths, GAP)

    def place(x: float, layer: int) -> tuple[float, float]:
        return round(x + MARGIN, 1), round(layer * LAYER + HEIGHT / 2 + MARGIN, 1)

    nodes = {
        token: Node(*place(x, layout.layers[token]), widths[token], role(token, order), show(token))
        for token, x in layout.places.items()
    }
    lines = [Line(tuple(place(x, at) for x, at in layout.lines[pair]), False) for pair in forward]
    lines += [Line((nodes[a][:2], nodes[b][:2]), True) for a, b in sorted(back)]
    height = max(layout.layers.values()) * LAYER + HEIGHT + 2 * MARGIN
    width = round(layout.breadth + 2 * MARGIN, 1)
    return Diagram(width, height, tuple(nodes.values()), tuple(lines), in_words(order))


def role(token: str, order: PartialOrder) -> str:
    """The role of a compared token: optimal, nonoptimal or confused."""
    if token in order.confused:
        return "confused"
    return "optimal" if token in order.below else "nonoptimal"


def in_words(order: PartialOrder) -> str:
    """The same for who does not see the drawing."""
    above = [f"{show(a)} above {listed(below)}" for a, below in order.below.items()]
    return f"Order under the query {show(order.query)}: {'; '.join(above)}."


def listed(tokens: Iterable[str]) -> str:
    """Tokens as a sentence lists them, the first few of many."""
    words = [show(token) for token in tokens]
    if len(words) > LISTED:
        words = [*words[: LISTED - 1], f"{len(words) - LISTED + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def cells(text: str) -> int:
    """How many cells of a terminal a text takes, about."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _circles(order: PartialOrder) -> frozenset[Pair]:
    """Pairs without which no circle is left: those that lead back on a walk downwards."""
    back: set[Pair] = set()
    state: dict[str, int] = {}  # 1 on the way down, 2 done
    for start in sorted(order.below):
        stack = [] if start in state else [(start, iter(_below(order.below, start)))]
        state.setdefault(start, 1)
        while stack:
            token, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[token] = 2
                stack.pop()
            elif state.get(following) == 1:
                back.add((token, following))
            elif following not in state:
                state[following] = 1
                stack.append((following, iter(_below(order.below, following))))
    return frozenset(back)


def _below(below: Mapping[str, tuple[str, ...]], token: str) -> tuple[str, ...]:
    """What lies directly below a token."""
    return below.get(token, ())
