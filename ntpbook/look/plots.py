"""Drawings of the book: one look for all figures, and the same bytes on every run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib_inline.backend_inline import set_matplotlib_formats

from ntpbook.look.interactive import signed
from ntpbook.look.narrow import show_narrow_too
from ntpcore.data.order import PartialOrder

OPTIMAL, NONOPTIMAL, NONCOMPARABLE, BOUND = "#0072B2", "#D55E00", "#666666", "#000000"
OTHER = "#117733"  # what something blue is compared with; orange means non-optimal and nothing else
SIZE = (6.4, 3.6)


def use_book_style() -> None:
    """Set the look of all figures: SVG without dates or random ids, plain axes, no title."""
    style.use("default")  # Matplotlib has read a `matplotlibrc` of the folder it was loaded in
    mpl.rcParams.update(
        {
            "figure.figsize": SIZE,
            "font.size": 11,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "svg.hashsalt": "ntpcore",
            "svg.fonttype": "path",
        }
    )
    set_matplotlib_formats("svg", metadata={"Date": None})
    show_narrow_too()
    if "inline" in (backend := plt.get_backend()):
        # A figure is drawn when it is written, and not at the end of its cell, too. The first
        # figure would load the backend and ask for the latter again, so it is loaded here.
        plt.switch_backend(backend)
        plt.uninstall_repl_displayhook()


def new_figure() -> tuple[Figure, Axes]:
    """A figure of the book's size with one pair of axes."""
    return plt.subplots(figsize=SIZE, layout="constrained")


def new_pair() -> tuple[Figure, tuple[Axes, Axes]]:
    """A figure of the book's size with two pairs of axes side by side, on one scale."""
    fig, axes = plt.subplots(1, 2, figsize=SIZE, layout="constrained", sharey=True)
    return fig, (axes[0], axes[1])


def new_two() -> tuple[Figure, tuple[Axes, Axes]]:
    """A figure of the book's size with two pairs of axes side by side, each on its own scale."""
    fig, axes = plt.subplots(1, 2, figsize=SIZE, layout="constrained")
    return fig, (axes[0], axes[1])


def draw_example(axes: Axes, rows: Sequence[tuple[tuple[str, ...], tuple[str, ...], str]]) -> None:
    """Sentences with their next tokens, the optimal token of each framed and filled.

    Args:
        axes: where to draw.
        rows: sentence, optimal tokens in it, next token.
    """
    ordered = sorted(rows, key=lambda row: (len(row[0]), row[0]))
    longest = max(len(sentence) for sentence, _, _ in ordered)
    for y, (sentence, optimal, following) in enumerate(reversed(ordered)):
        for place, token in enumerate(sentence):
            _cell(axes, longest - len(sentence) + place, y, token, token in optimal)
        axes.annotate(
            "",
            (longest + 0.35, y),
            (longest - 0.35, y),
            arrowprops={"arrowstyle": "->", "color": NONCOMPARABLE},
        )
        axes.text(longest + 0.65, y, following, ha="center", va="center", family="monospace")
    axes.set(xlim=(-0.7, longest + 1.1), ylim=(-0.7, len(ordered) - 0.3))
    axes.set_axis_off()


def _cell(axes: Axes, x: float, y: float, token: str, optimal: bool) -> None:
    """One token of a sentence; optimal ones are white on blue in a heavy frame."""
    box = {
        "boxstyle": "square,pad=0.35",
        "facecolor": OPTIMAL if optimal else "white",
        "edgecolor": OPTIMAL if optimal else NONCOMPARABLE,
        "linewidth": 1.6 if optimal else 0.8,
    }
    color = "white" if optimal else "black"
    axes.text(x, y, token, ha="center", va="center", family="monospace", color=color, bbox=box)


def draw_orders(axes: Axes, orders: Mapping[str, PartialOrder], vocabulary: Sequence[str]) -> None:
    """One column per query: optimal tokens above, non-optimal below, the others apart in between.

    Args:
        axes: where to draw.
        orders: the partial orders by query.
        vocabulary: all tokens.
    """
    for place, (query, order) in enumerate(orders.items()):
        left = place * 2.6
        spots = _spread(order.optimal, left, 2.0) | _spread(order.nonoptimal, left, 0.0)
        rest = [token for token in vocabulary if token not in spots]
        for upper, lower in sorted(order.pairs):
            (x, y), (u, v) = spots[upper], spots[lower]
            axes.plot([x, u], [y, v], color=NONCOMPARABLE, linewidth=1, zorder=1)
        for token, (x, y) in spots.items():
            color, marker = (OPTIMAL, "o") if y > 1 else (NONOPTIMAL, "s")
            axes.plot(x, y, marker, color=color, markersize=17, zorder=2)
            axes.text(x, y, token, color="white", ha="center", va="center", zorder=3)
        for token, (x, y) in _spread(rest, left + 0.95, 1.0, 0.42).items():
            axes.text(x, y, token, color=NONCOMPARABLE, ha="center", va="center")
        axes.text(left, 2.75, f"query {query}", ha="center", va="center", weight="bold")
    axes.set(xlim=(-1.0, 2.6 * len(orders) - 0.6), ylim=(-0.6, 3.1))
    axes.set_axis_off()


def _spread(
    tokens: Sequence[str], center: float, y: float, step: float = 0.9
) -> dict[str, tuple[float, float]]:
    """Places for tokens side by side."""
    start = center - step * (len(tokens) - 1) / 2
    return {token: (start + step * place, y) for place, token in enumerate(tokens)}


def draw_scores(
    axes: Axes, order: PartialOrder, scores: Mapping[str, Fraction], others: Iterable[Fraction] = ()
) -> None:
    """Optimal and non-optimal tokens at the height of their scores; pairs span at least one unit.

    Tight pairs are solid; slack ones dotted, with their margin written on them.

    Args:
        axes: where to draw.
        order: the partial order of one query.
        scores: the score of each compared token.
        others: scores of another drawing, so that both get the same range.
    """
    spots, slack = _columns(order), 0
    for upper, lower in sorted(order.pairs):
        gap = scores[upper] - scores[lower]
        xs, ys = [spots[upper], spots[lower]], [float(scores[upper]), float(scores[lower])]
        axes.plot(xs, ys, color="black", linewidth=1.2, linestyle="-" if gap == 1 else ":")
        if gap != 1:
            down = (0.7, 0.35)[slack % 2]  # at two heights, so that labels keep apart
            x, y = xs[0] + down * (xs[1] - xs[0]), ys[0] + down * (ys[1] - ys[0])
            axes.text(x + 0.06, y, f"margin {gap}", fontsize=9, va="center")
            slack += 1
    for token, score in scores.items():
        above = token in order.optimal
        color, marker = (OPTIMAL, "o") if above else (NONOPTIMAL, "s")
        axes.plot(spots[token], float(score), marker, color=color, markersize=17)
        axes.text(spots[token], float(score), token, color="white", ha="center", va="center")
        offset = 0.13 if above else -0.15
        axes.text(spots[token], float(score) + offset, signed(score), ha="center", va="center")
    reach = [*scores.values(), *others]
    axes.set(ylim=(float(min(reach)) - 0.3, float(max(reach)) + 0.3), xlim=(-0.5, 2.5))
    axes.axhline(0, color=NONCOMPARABLE, linewidth=0.6, zorder=0)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_ylabel("score $x^\\top W_{\\mathrm{kq}}\\, x^q$")


def _columns(order: PartialOrder) -> dict[str, float]:
    """Horizontal places on [0, 2], one row for each role."""
    places: dict[str, float] = {}
    for tokens in (order.optimal, order.nonoptimal):
        width = max(len(tokens) - 1, 1)
        start = 0.0 if len(tokens) > 1 else 1.0
        places |= {token: start + 2 * place / width for place, token in enumerate(tokens)}
    return places


def draw_matrix(
    axes: Axes, columns: Mapping[str, Mapping[str, Fraction]], vocabulary: Sequence[str]
) -> None:
    """A max-margin matrix with its exact entries; rows are tokens, columns queries.

    Args:
        axes: where to draw.
        columns: for each query, the scores of the tokens that it compares.
        vocabulary: the tokens, in the order of the rows.
    """
    queries = list(columns)
    values = [[columns[q].get(x, Fraction(0)) for q in queries] for x in vocabulary]
    shades = [[float(value) for value in row] for row in values]
    image = axes.imshow(shades, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            compared = vocabulary[i] in columns[queries[j]]
            text = str(value) if compared else "0 (nc)"
            color = "white" if abs(value) > Fraction(3, 5) else "black"
            axes.text(j, i, text, ha="center", va="center", color=color)
    axes.set_xticks(range(len(queries)), queries)
    axes.set_yticks(range(len(vocabulary)), vocabulary)
    axes.set(xlabel="query $x^q$", ylabel="token $x$")
    axes.spines[:].set_visible(False)
    axes.figure.colorbar(image, ax=axes, label="entry of $W_{\\mathrm{kq}}^*$")


def draw_decay(axes: Axes, curves: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> None:
    """Bounds of losses against the scale of the parameters, one labelled curve each.

    Args:
        axes: where to draw.
        curves: for each name, scales and bounds of the loss.
    """
    colors = (OPTIMAL, OTHER, NONCOMPARABLE)
    styles = ("-", "--", "-.")
    for (name, (scales, losses)), color, dashes in zip(curves.items(), colors, styles, strict=True):
        axes.plot(scales, losses, dashes, color=color)
        axes.text(scales[-1], losses[-1], f" {name}", color=color, va="center")
    axes.set_yscale("log")
    axes.set(xlabel="scale $B$ of $W_{\\mathrm{ov}}$", ylabel="bound of the loss (nats)")


def draw_failure_shares(axes: Axes, shares: Mapping[tuple[int, int], tuple[int, int]]) -> None:
    """Share of orders on which a formula fails, by numbers of optimal and non-optimal tokens.

    Args:
        axes: where to draw.
        shares: for each (k, m), how many orders fail and how many there are.
    """
    most_k, most_m = max(k for k, _ in shares), max(m for _, m in shares)
    grid = [
        [_share(shares.get((k, m))) for m in range(1, most_m + 1)] for k in range(1, most_k + 1)
    ]
    axes.imshow(grid, cmap="cividis", vmin=0, vmax=1, aspect="auto", origin="lower")
    for (k, m), (failed, tried) in shares.items():
        color = "white" if failed < 0.55 * tried else "black"
        axes.text(m - 1, k - 1, f"{failed}\nof {tried}", ha="center", va="center", color=color)
    axes.set_xticks(range(most_m), [str(m) for m in range(1, most_m + 1)])
    axes.set_yticks(range(most_k), [str(k) for k in range(1, most_k + 1)])
    axes.set(xlabel="non-optimal tokens $m$", ylabel="optimal tokens $k$")
    axes.spines[:].set_visible(False)


def _share(counts: tuple[int, int] | None) -> float:
    """Failed over tried; not a number where nothing was tried, so that the cell stays blank."""
    return counts[0] / counts[1] if counts else float("nan")


def draw_nested_arcs(
    axes: Axes, cycle: Sequence[str], samples: Mapping[str, str], order: PartialOrder
) -> None:
    """A cycle of tokens, each in its role under one query, with the arcs of two sentences.

    Args:
        axes: where to draw.
        cycle: the tokens, each followed by its n.
        samples: two sentences of one-letter tokens, which run along the cycle up to the query, with
            their next tokens.
        order: what all sentences say about the tokens under the query.
    """
    turn = 2 * math.pi / len(cycle)
    angle = {token: math.pi / 2 - turn * place for place, token in enumerate(cycle)}
    for token, start in angle.items():
        _draw_arc(axes, start - 0.3 * turn, start - 0.72 * turn, 1.0, "-", NONCOMPARABLE, 1.0)
        x, y = math.cos(start), math.sin(start)
        _draw_role(axes, x, y, _role(order, token), 19)
        axes.text(x, y, token, color="white", ha="center", va="center", weight="bold")
    for ring, (sentence, following) in enumerate(samples.items()):
        style, y = ("-", "--")[ring], 1.25 - 0.35 * ring
        first, last = angle[sentence[0]] + 0.2 * turn, angle[sentence[-1]] - 0.1 * turn
        _draw_arc(axes, first, last, 1.3 + 0.22 * ring, style, BOUND, 1.8)
        axes.plot([1.9, 2.3], [y, y], style, color=BOUND, linewidth=1.8)
        source = cycle[cycle.index(following) - 1]
        axes.text(2.45, y, f"{' '.join(sentence)} → {following} = n({source})", va="center")
    for row, role in enumerate(_ROLE_LOOKS):
        _draw_role(axes, 2.1, 0.4 - 0.35 * row, role, 11)
        axes.text(2.45, 0.4 - 0.35 * row, f"{role} under query {order.query}", va="center")
    axes.set(xlim=(-1.7, 5.0), ylim=(-1.65, 1.65), aspect="equal")
    axes.set_axis_off()


_ROLE_LOOKS = {  # marker, colours of its left and right half
    "optimal": ("o", OPTIMAL, OPTIMAL),
    "non-optimal": ("s", NONOPTIMAL, NONOPTIMAL),
    "confused": ("D", OPTIMAL, NONOPTIMAL),
    "non-comparable": ("o", NONCOMPARABLE, NONCOMPARABLE),
}


def _role(order: PartialOrder, token: str) -> str:
    """The role of a token under the query of an order."""
    if token in order.confused:
        return "confused"
    if token in order.optimal:
        return "optimal"
    return "non-optimal" if token in order.nonoptimal else "non-comparable"


def _draw_role(axes: Axes, x: float, y: float, role: str, size: float) -> None:
    """The marker of a role; a confused token wears both colours."""
    marker, left, right = _ROLE_LOOKS[role]
    axes.plot(x, y, marker, color=left, markersize=size, markeredgewidth=0)
    if right != left:
        axes.plot(
            x,
            y,
            marker,
            color=right,
            markersize=size,
            markeredgewidth=0,
            fillstyle="right",
            markerfacecoloralt=left,
        )


def _draw_arc(
    axes: Axes, start: float, end: float, radius: float, style: str, color: str, width: float
) -> None:
    """An arc around the origin, clockwise from one angle to a smaller one, with an arrow head."""
    while end > start:
        end -= 2 * math.pi
    angles = [start + (end - start) * step / 60 for step in range(61)]
    xs, ys = [radius * math.cos(a) for a in angles], [radius * math.sin(a) for a in angles]
    axes.plot(xs, ys, style, color=color, linewidth=width)
    head = {"arrowstyle": "-|>", "color": color, "linewidth": width, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (xs[-1], ys[-1]), (xs[-2], ys[-2]), arrowprops=head)
