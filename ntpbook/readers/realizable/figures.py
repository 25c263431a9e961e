"""What the page on how far data are from realizable shows: shares of texts, tables, a drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from ntpbook.look.plots import NONCOMPARABLE, OPTIMAL, OTHER
from ntpcore.data import order
from ntpcore.data.dataset import Dataset
from ntpcore.exact import repair, repair_program
from ntpcore.exact.repair import Repair
from ntpverdicts.tables import Table

_EXACT_CELLS = 650  # tokens of all groups; larger data are searched greedily on the page
_SECONDS = 600.0  # never reached on the page, where the search stops after so many nodes
_NODES = 200
_LOOKS = ((OPTIMAL, "o"), (OTHER, "s"), (NONCOMPARABLE, "^"))


@dataclass(frozen=True)
class Share:
    """How much of a beginning of a text the theory can explain.

    Attributes:
        sentences: how many sentences it has.
        found: the realizable part.
    """

    sentences: int
    found: Repair

    @property
    def bound(self) -> float:
        """A share that no realizable part exceeds."""
        return self.found.bound / self.found.table.weight


def grow(data: Dataset, steps: int = 6) -> list[Share]:
    """The realizable parts of ever longer beginnings of a text, each twice the one before it."""
    sizes = sorted({math.ceil(len(data.lines) / 2**step) for step in range(steps)})
    return [Share(size, best_part(_beginning(data, size))) for size in sizes]


def best_part(data: Dataset) -> Repair:
    """The largest realizable part of small data, one found greedily of larger data."""
    table = repair.tabulate(data)
    if repair_program.group_cells(table) > _EXACT_CELLS:
        return repair.solve_greedy(table)
    return repair_program.solve_exact(table, seconds=_SECONDS, nodes=_NODES)


def _beginning(data: Dataset, size: int) -> Dataset:
    """The first distinct lines of a data set; the vocabulary is that of these lines."""
    lines = data.lines[:size]
    used = dict.fromkeys(token for line in lines for token in line.tokens)
    place = {token: number for number, token in enumerate(used)}
    renamed = tuple(
        type(line)(type(line.tokens)("I", [place[t] for t in line.tokens]), line.count, line.number)
        for line in lines
    )
    return Dataset(tuple(data.vocabulary[t] for t in used), renamed, data.prefixes, data.name)


def share_table(studies: Sequence[Sequence[Share]]) -> Table:
    """For each text, as a whole: its size, what is kept, and what could be kept at most."""
    rows = []
    for shares in studies:
        last = shares[-1]
        table = last.found.table
        at_most = "the same" if last.found.gap == 0 else f"{last.bound:.1%}"
        rows.append(
            (
                table.data.name,
                str(len(table.data.vocabulary)),
                str(table.weight),
                f"{last.found.share:.1%}",
                at_most,
                last.found.method,
            )
        )
    header = ("text", "tokens", "next tokens", "explained", "at most", "found by")
    return Table(header, tuple(rows))


def dropped_table(found: Repair, longest: int = 8, most: int = 6) -> Table:
    """The most frequent short sentences that must be dropped, each with the reason."""
    rows = []
    for one in sorted(found.dropped(), key=lambda one: -one.count):
        data = found.table.data
        shown = order.describe_sample(data, one.at)
        words = shown["sentence"]
        assert isinstance(words, list)
        if len(words) <= longest:
            rows.append((" ".join(words), str(shown["next"]), str(one.count), one.reason))
    return Table(("sentence", "next", "times", "why it cannot stay"), tuple(rows[:most]))


def draw_shares(axes: Axes, studies: Sequence[Sequence[Share]]) -> None:
    """Share of next tokens that can be explained, against how much of a text is looked at.

    A filled marker is exact; above a hollow one a bar reaches up to what no part exceeds.

    Args:
        axes: where to draw.
        studies: for each text, its beginnings.
    """
    for shares, (color, marker) in zip(studies, _LOOKS, strict=False):
        xs = [one.found.table.weight for one in shares]
        name = shares[0].found.table.data.name.replace("$", r"\$")
        ys = [one.found.share for one in shares]
        axes.plot(xs, ys, marker=marker, color=color, linewidth=1, label=name)
        for x, one in zip(xs, shares, strict=True):
            exact = one.found.gap == 0
            face = color if exact else "white"
            axes.plot([x, x], [one.found.share, one.bound], color=color, linewidth=1)
            axes.plot(x, one.found.share, marker, color=color, markerfacecolor=face)
    axes.legend(frameon=False, loc="lower left")
    axes.set(xscale="log", ylim=(0, 1.03))
    axes.set(xlabel="next tokens in the text", ylabel="share explained")
