"""What rests on what, drawn as inline SVG, and the same as a table.

Colours come from the style sheet, so that one drawing serves a light and a dark page and paper.
Colour is never alone: a mark names the verdict, a bar below a box says that all its ground is
checked, a dashed border and an exclamation mark that something it rests on is refuted or open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from html import escape
from itertools import pairwise
from typing import Any

from ntpverdicts.claims import AGAINST, MARKS, Claim, Verdict, certainty_words, css_class
from ntpverdicts.dependencies import Standing, describe, listed, neighbourhood
from ntpverdicts.layout import Layout, arrange
from ntpverdicts.ledger import ledger, standings_of
from ntpverdicts.maths import plain

Row = Mapping[str, Any]
Address = Callable[[Row], str]  # where a claim's box leads

HEIGHT = 28.0  # of a box
CHARACTER = 7.3  # width of one, on average, at the size that the style sheet gives
PADDING = 18.0
GAP = 16.0  # between neighbours
RISE = 30.0  # between layers that stand above each other
RUN = 44.0  # between layers that stand side by side
MARGIN = 10.0
PAPER = (800, 900)  # pixels across and down that a sheet takes with letters large enough

LEGEND = (
    ("grounded", "a bar below: it is proved or not contradicted, and so is all that it rests on"),
    ("tainted", "dashed, with an exclamation mark: it rests on something refuted"),
    ("waiting", "dashed, with a question mark: it rests on something open, and nothing refuted"),
    ("unsound", "plain: it is refuted or open itself, and nothing that it rests on is"),
)


SLUGS = {"lem": "Lemma", "thm": "Theorem", "asm": "Assumption", "eq": "Eq."}
SLUG = re.compile(rf"\b({'|'.join(SLUGS)}) (\d+)")
PLACES = ("Section", "Appendix", "Abstract")  # what a remark is about names it
# Numbers that several claims of this book have, and that name none of them.
KIND = re.compile(
    r"(Theorem|Lemma|Proposition|Corollary|Observation|Conjecture|Remark|Example|Reduction"
    r"|Approximation) \(ours\)|Corollary to "
)


def short_name(row: Row) -> str:
    """What a box calls a claim, in at most some 30 characters."""
    label, number = str(row["label"]), str(row["number"])
    paper, place = label.split("-")[:2]
    first, _, rest = number.partition(", ")
    rest = rest.replace(",", "")
    if paper == "ours" and first.endswith("(ours)") and rest:
        return f"{first.removesuffix(' (ours)')}: {rest} (ours)"
    if paper == "ours" and (KIND.match(number) or not number.endswith("(ours)")):
        words = label.removeprefix("ours-").replace("-", " ")
        return f"{SLUG.sub(lambda slug: f'{SLUGS[slug[1]]} {slug[2]}', words)} (ours)"
    if place == "app" and first.startswith(PLACES) and rest:
        where = (
            first.replace("Sections", "Secs.")
            .replace("Section", "Sec.")
            .replace("Appendix", "App.")
        )
        return f"{rest} ({where})"
    sign = ": " if rest and paper != "ours" else " "
    name = f"{first}{sign}{rest}".strip()
    return name.replace("Equations", "Eqs.").replace("Equation", "Eq.")


def word_of(row: Row) -> str:
    """The verdict in words."""
    return "open, planned" if row["planned"] else str(row["verdict"])


def long_word_of(row: Row) -> str:
    """The verdict in words, with how a proof or a refutation is known."""
    return word_of(row) + certainty_words(row)


def badge(row: Row) -> str:
    """The verdict as a badge without a link."""
    verdict = str(row["verdict"])
    return (
        f'<span class="ntp-badge {css_class(verdict)}"><span aria-hidden="true">'
        f"{MARKS[Verdict(verdict)]}</span> {long_word_of(row)}</span>"
    )


def connected_to(paper: str, rows: Mapping[str, Row]) -> list[str]:
    """Claims of a paper that use or are used, and claims of ours that lines join to them."""
    beside: dict[str, set[str]] = {label: set() for label in rows}
    for label, row in rows.items():
        for used in row["uses"]:
            beside[label].add(used)
            beside[used].add(label)
    found = {label for label, row in rows.items() if row["paper"] == paper and beside[label]}
    waiting = list(found)
    while waiting:
        near = {n for n in beside[waiting.pop()] if rows[n]["paper"] in (paper, "ours")} - found
        found |= near
        waiting += sorted(near)
    return [label for label in rows if label in found]


def draw(
    rows: Mapping[str, Row],
    standings: Mapping[str, Standing],
    shown: Iterable[str],
    address: Address,
    *,
    name: str,
    focus: str = "",
    sideways: bool = False,
    searched: bool = False,
) -> str:
    """The graph of some claims as SVG in a box that scrolls by itself.

    Args:
        rows: for every label its row of the ledger.
        standings: for every label its standing.
        shown: labels of the claims to draw; lines join those among them.
        address: where the box of a claim leads.
        name: what a screen reader calls the drawing.
        focus: label of the claim that is set off.
        sideways: layers from left to right rather than from top to bottom.
        searched: boxes and lines bear labels, by which a script finds what is near a claim.
    """
    members = set(shown)
    chosen = [label for label in rows if label in members]
    uses = {label: [u for u in rows[label]["uses"] if u in members] for label in chosen}
    names = {label: short_name(rows[label]) for label in chosen}
    widths = {label: CHARACTER * (len(names[label]) + 2) + PADDING for label in chosen}
    sizes = dict.fromkeys(chosen, HEIGHT) if sideways else widths
    found = _arranged(
        tuple((label, tuple(uses[label])) for label in chosen),
        tuple(sizes.items()),
        GAP * (0.75 if sideways else 1.0),
    )
    starts = _starts(found, widths, sideways)
    boxes = [
        _box(rows[label], standings[label], names[label], address(rows[label]),
             _corner(found, starts, label, widths[label], sideways), widths[label], label == focus)
        for label in chosen
    ]  # fmt: skip
    pairs = sorted(found.lines)
    lines = [_line(found, starts, pair, widths, standings, sideways) for pair in pairs]
    if searched:
        ends = [f' data-from="{escape(a)}" data-to="{escape(b)}"' for a, b in pairs]
        lines = [line.replace("<path", f"<path{e}", 1) for line, e in zip(lines, ends, strict=True)]
        boxes = [
            box.replace(
                "<a", f'<a data-claim="{escape(label)}" data-name="{escape(names[label])}"', 1
            )
            for label, box in zip(chosen, boxes, strict=True)
        ]
    along, across = found.breadth + 2 * MARGIN, starts[-1] + MARGIN
    width, height = (across, along) if sideways else (along, across)
    return (
        f'<div class="ntp-wide ntp-graph" role="region" tabindex="0" aria-label="{escape(name)}">'
        f'<svg class="ntp-svg" role="group" aria-label="{escape(name)}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">'
        f"{''.join(lines)}{''.join(boxes)}</svg></div>"
    )


@cache
def _arranged(
    uses: tuple[tuple[str, tuple[str, ...]], ...], sizes: tuple[tuple[str, float], ...], gap: float
) -> Layout:
    """The places in a graph; kept, because some are found before the book is set."""
    return arrange(dict(uses), dict(sizes), gap)


def arrange_all(catalogue: Iterable[Claim]) -> None:
    """Find the places in all graphs of claims ahead of time: no verdict moves them."""
    rows = {row["label"]: row for row in ledger(catalogue, ())}
    standings = standings_of(rows.values())
    for label, standing in standings.items():
        shown = neighbourhood(standing)
        draw_narrow(rows, standings, shown, lambda row: "", name=label)


def draw_narrow(
    rows: Mapping[str, Row],
    standings: Mapping[str, Standing],
    shown: Iterable[str],
    address: Address,
    *,
    name: str,
    focus: str = "",
) -> str:
    """The graph from top to bottom, or sideways where only that fits a sheet of paper.

    Args:
        rows: as for `draw`, like the others.
        standings: for every label its standing.
        shown: labels of the claims to draw.
        address: where the box of a claim leads.
        name: what a screen reader calls the drawing.
        focus: label of the claim that is set off.
    """
    labels = list(shown)
    downwards = draw(rows, standings, labels, address, name=name, focus=focus)
    if fits_paper(downwards):
        return downwards
    across = draw(rows, standings, labels, address, name=name, focus=focus, sideways=True)
    return across if fits_paper(across) else downwards


def fits_paper(drawing: str) -> bool:
    """Whether a drawn graph fits a sheet of paper with letters that can be read."""
    found = re.search(r'viewBox="0 0 (\d+) (\d+)"', drawing)
    assert found is not None
    return int(found[1]) <= PAPER[0] and int(found[2]) <= PAPER[1]


def _starts(found: Layout, widths: Mapping[str, float], sideways: bool) -> list[float]:
    """Where each layer begins, and after the last one where all ends."""
    starts = [MARGIN]
    for layer in range(max(found.layers.values(), default=-1) + 1):
        members = [widths[n] for n, at in found.layers.items() if at == layer]
        thick = max(members, default=0.0) if sideways else HEIGHT
        starts.append(starts[-1] + thick + (RUN if sideways else RISE))
    return [*starts[:-1], starts[-1] - (RUN if sideways else RISE)]


def _corner(
    found: Layout, starts: Sequence[float], label: str, width: float, sideways: bool
) -> tuple[float, float]:
    """Upper left corner of a box."""
    start, centre = starts[found.layers[label]], found.places[label] + MARGIN
    return (start, centre - HEIGHT / 2) if sideways else (centre - width / 2, start)


def _box(
    row: Row,
    standing: Standing,
    name: str,
    address: str,
    corner: tuple[float, float],
    width: float,
    focus: bool,
) -> str:
    """One claim as a link."""
    x, y = corner
    state = "" if row["planned"] else f"; {standing.state}"
    says = f"{row['number']}, {plain(str(row['title']))}: {word_of(row)}{state}"
    if name not in says:  # whoever says what stands in the box must be understood
        says = f"{name}, {says}"
    classes = f"ntp-node {css_class(row['verdict'])} ntp-{standing.state}" + (
        " ntp-focus" if focus else ""
    )
    alarm = "!" if standing.refuted else "?"
    parts = [f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{HEIGHT:.0f}" rx="6"/>']
    if standing.state == "grounded":
        parts.append(_bar(x, y, width))
    parts.append(
        f'<text x="{x + width / 2:.1f}" y="{y + HEIGHT / 2 + 4.5:.1f}" aria-hidden="true">'
        f"{MARKS[Verdict(row['verdict'])]} {escape(name)}</text>"
    )
    if standing.state == "tainted":
        parts.append(_alarm(x + width, y, alarm))
    return (
        f'<a class="{classes}" href="{escape(address)}" aria-label="{escape(says)}">'
        f'<title class="nohighlight">{escape(says)}</title>{"".join(parts)}</a>'
    )


def _bar(x: float, y: float, width: float) -> str:
    """The bar below a grounded box."""
    ends = f"M{x + 5:.1f} {y + HEIGHT + 3.5:.1f}h{width - 10:.1f}"
    return f'<path class="ntp-bar" d="{ends}"/>'


def _alarm(x: float, y: float, sign: str) -> str:
    """The sign at the corner of a tainted box: ! for something refuted, ? for something open."""
    kind = "ntp-alarm" if sign == "!" else "ntp-alarm ntp-waits"
    return (
        f'<circle class="{kind}" cx="{x - 2:.1f}" cy="{y + 2:.1f}" r="7"/>'
        f'<text class="{kind}" x="{x - 2:.1f}" y="{y + 6.3:.1f}" aria-hidden="true">{sign}</text>'
    )


def _line(
    found: Layout,
    starts: Sequence[float],
    pair: tuple[str, str],
    widths: Mapping[str, float],
    standings: Mapping[str, Standing],
    sideways: bool,
) -> str:
    """The line from a claim to one that uses it; dashed where it carries a taint."""
    thick = widths[pair[0]] if sideways else HEIGHT
    points = []
    for at, (place, layer) in enumerate(found.lines[pair]):
        start = starts[layer]
        if at == 0:
            points.append((place + MARGIN, start + thick))
        elif at == len(found.lines[pair]) - 1:
            points.append((place + MARGIN, start))
        else:
            later = starts[layer + 1] - (RUN if sideways else RISE)
            points += [(place + MARGIN, start), (place + MARGIN, later)]
    turned = [(b, a) if sideways else (a, b) for a, b in points]
    path = f"M{turned[0][0]:.1f} {turned[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(turned):
        half = ((x0 + x1) / 2, (y0 + y1) / 2)
        bend = ((half[0], y0), (half[0], y1)) if sideways else ((x0, half[1]), (x1, half[1]))
        path += "C" + " ".join(f"{a:.1f} {b:.1f}" for a, b in (*bend, (x1, y1)))
    upper = standings[pair[0]]
    refuted = upper.refuted or upper.verdict in AGAINST
    taint = "" if upper.grounded else " ntp-taint" if refuted else " ntp-waits"
    return f'<path class="ntp-line{taint}" d="{path}"/>'


def legend() -> str:
    """What boxes and lines mean."""
    badges = "".join(
        f'<li><span class="ntp-badge {css_class(v.value)}">{MARKS[v]} {v.value}</span></li>'
        for v in Verdict
    )
    states = "".join(f"<li>{_sample(state)} {escape(text)}</li>" for state, text in LEGEND)
    return (
        f'<div class="ntp-legend"><p>A line leads from a claim to those that use it; a dashed line '
        f"comes from one that is not sound.</p>"
        f'<ul class="ntp-row">{badges}</ul><ul>{states}</ul></div>'
    )


def _sample(state: str) -> str:
    """A box of the legend."""
    extra = {"grounded": _bar(2, 8, 40), "tainted": _alarm(42, 8, "!"),
             "waiting": _alarm(42, 8, "?"), "unsound": ""}[state]  # fmt: skip
    state = "tainted" if state == "waiting" else state
    return (
        f'<svg class="ntp-svg ntp-sample" aria-hidden="true" viewBox="0 0 52 42" width="52" '
        f'height="42"><g class="ntp-node ntp-{state} ntp-open"><rect x="2" y="8" width="40" '
        f'height="{HEIGHT:.0f}" rx="6"/>{extra}</g></svg>'
    )


def table(
    rows: Mapping[str, Row],
    standings: Mapping[str, Standing],
    shown: Iterable[str],
    address: Address,
    *,
    name: str,
) -> str:
    """What the graph shows, as a table."""
    members = set(shown)
    names = {label: short_name(row) for label, row in rows.items()}
    body = "".join(
        _table_row(row, standings[label], names, address(row))
        for label, row in rows.items()
        if label in members
    )
    heads = ("Claim", "Verdict", "What it rests on", "Used by")
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    return (
        f'<div class="ntp-wide" role="region" tabindex="0" aria-label="{escape(name)}, as a table">'
        f'<table class="ntp-ledger ntp-rests"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _table_row(row: Row, standing: Standing, names: Mapping[str, str], address: str) -> str:
    """One claim with what it uses and what uses it."""
    says = describe(standing, names)
    uses = listed(row["uses"], names)
    rests = f"{escape(uses)}: {escape(says)}" if uses else escape(says)
    return (
        f'<tr><th scope="row"><a href="{escape(address)}">{escape(names[standing.label])}</a></th>'
        f"<td>{badge(row)}</td><td>{rests}</td>"
        f"<td>{escape(listed(standing.used_by, names)) or 'none'}</td></tr>"
    )
