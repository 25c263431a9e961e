"""Places for the boxes and lines of a graph without circles, layer by layer.

After Sugiyama, Tagawa and Toda: every node stands below all that it rests on; lines that skip a
layer bend at places kept free for them; the order within layers is improved by barycenters; the
places are least squares with a least distance, which is an isotonic regression. Deterministic.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

SWEEPS = 24  # of each kind; crossings hardly fall after a dozen
BEND = 6.0  # room that a passing line needs
Node = str | tuple[str, str, int]  # a bend is (upper, lower, layer)


@dataclass(frozen=True)
class Layout:
    """Where everything stands.

    Attributes:
        layers: for every node its layer, from 0.
        places: for every node the place of its centre within its layer.
        lines: for every pair (upper, lower) the (place, layer) of all points of its line.
        breadth: the length of the longest layer.
    """

    layers: Mapping[str, int]
    places: Mapping[str, float]
    lines: Mapping[tuple[str, str], tuple[tuple[float, int], ...]]
    breadth: float


def arrange(uses: Mapping[str, Sequence[str]], sizes: Mapping[str, float], gap: float) -> Layout:
    """Arrange a graph.

    Args:
        uses: for every node the nodes above it; a graph without circles.
        sizes: for every node its length along the layer.
        gap: least distance of two neighbours.
    """
    layers = assign_layers(uses)
    rows, chains = _rows_with_bends(uses, layers)
    above = _neighbours(chains, upwards=True)
    below = _neighbours(chains, upwards=False)
    rows = _fewest_crossings(rows, above, below)
    widths = {node: sizes[node] if isinstance(node, str) else BEND for row in rows for node in row}
    places = _places(rows, above, below, widths, gap)
    least = min((places[n] - widths[n] / 2 for row in rows for n in row), default=0.0)
    most = max((places[n] + widths[n] / 2 for row in rows for n in row), default=0.0)
    layer_of = {node: at for at, row in enumerate(rows) for node in row}
    return Layout(
        layers,
        {node: places[node] - least for node in uses},
        {
            (chain[0], chain[-1]): tuple((places[n] - least, layer_of[n]) for n in chain)
            for chain in chains
            if isinstance(chain[0], str) and isinstance(chain[-1], str)
        },
        most - least,
    )


def assign_layers(uses: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """A layer for every node: below all that it rests on, and as near to what uses it as can be."""
    layers: dict[str, int] = {}

    def depth(node: str) -> int:
        if node not in layers:
            layers[node] = 1 + max((depth(used) for used in uses[node]), default=-1)
        return layers[node]

    for node in uses:
        depth(node)
    for node in sorted(uses, key=lambda one: -layers[one]):
        if not uses[node]:
            users = [layers[other] for other, given in uses.items() if node in given]
            layers[node] = min(users, default=1) - 1
    return layers


def _rows_with_bends(
    uses: Mapping[str, Sequence[str]], layers: Mapping[str, int]
) -> tuple[list[list[Node]], list[list[Node]]]:
    """The layers with a bend wherever a line passes, and every line as a chain of neighbours."""
    rows: list[list[Node]] = [[] for _ in range(max(layers.values(), default=-1) + 1)]
    for node in uses:
        rows[layers[node]].append(node)
    chains: list[list[Node]] = []
    for lower, given in uses.items():
        for upper in dict.fromkeys(given):
            bends: list[Node] = [
                (upper, lower, at) for at in range(layers[upper] + 1, layers[lower])
            ]
            for at, bend in enumerate(bends, start=layers[upper] + 1):
                rows[at].append(bend)
            chains.append([upper, *bends, lower])
    return rows, chains


def _neighbours(chains: list[list[Node]], upwards: bool) -> dict[Node, list[Node]]:
    """For every node its neighbours in the layer above, or below."""
    found: dict[Node, list[Node]] = {}
    for chain in chains:
        for one, other in pairwise(reversed(chain) if upwards else chain):
            found.setdefault(one, []).append(other)
    return found


def _fewest_crossings(
    rows: list[list[Node]], above: Mapping[Node, list[Node]], below: Mapping[Node, list[Node]]
) -> list[list[Node]]:
    """The best order within the layers that sweeps down and up have met."""
    best, least = rows, crossings(rows, below)
    for sweep in range(SWEEPS):
        if not least:
            break
        down = sweep % 2 == 0
        rows = [list(row) for row in rows]
        for at in range(len(rows)) if down else reversed(range(len(rows))):
            neighbours = above if down else below
            beside = at - 1 if down else at + 1
            if 0 <= beside < len(rows):
                rank = {node: place for place, node in enumerate(rows[beside])}
                rows[at] = _by_barycenter(rows[at], neighbours, rank)
        count = crossings(rows, below)
        if count < least:
            best, least = rows, count
    return best


def _by_barycenter(
    row: list[Node], neighbours: Mapping[Node, list[Node]], rank: Mapping[Node, int]
) -> list[Node]:
    """A layer sorted by the mean rank of each node's neighbours; others keep their rank."""

    def mean(item: tuple[int, Node]) -> float:
        place, node = item
        ranks = [rank[other] for other in neighbours.get(node, ())]
        return sum(ranks) / len(ranks) if ranks else float(place)

    return [node for _, node in sorted(enumerate(row), key=mean)]


def crossings(rows: list[list[Node]], below: Mapping[Node, list[Node]]) -> int:
    """How many pairs of lines cross between neighbouring layers."""
    count = 0
    for upper, lower in pairwise(rows):
        rank = {node: place for place, node in enumerate(lower)}
        ends = [sorted(rank[other] for other in below.get(node, ())) for node in upper]
        before: list[int] = []  # ends of the lines so far, sorted
        for end in (end for each in ends for end in each):
            place = bisect_right(before, end)
            count += len(before) - place
            before.insert(place, end)
    return count


def _places(
    rows: list[list[Node]],
    above: Mapping[Node, list[Node]],
    below: Mapping[Node, list[Node]],
    widths: Mapping[Node, float],
    gap: float,
) -> dict[Node, float]:
    """Places within the layers: near to the neighbours, in order, and not too close."""
    places: dict[Node, float] = {}
    for row in rows:
        places.update(zip(row, _spread([0.0] * len(row), row, widths, gap), strict=True))
    settled = 0  # sweeps in a row, one down and one up, that moved nothing: nor will others
    for sweep in range(SWEEPS):
        before, down = dict(places), sweep % 2 == 0
        for row in rows if down else reversed(rows):
            wanted = []
            for node in row:
                beside = (above if down else below).get(node) or (below if down else above).get(
                    node, []
                )
                around = [places[other] for other in beside]
                wanted.append(sum(around) / len(around) if around else places[node])
            places.update(zip(row, _spread(wanted, row, widths, gap), strict=True))
        settled = settled + 1 if places == before else 0
        if settled == 2:
            break
    return places


def _spread(
    wanted: Sequence[float], row: Sequence[Node], widths: Mapping[Node, float], gap: float
) -> list[float]:
    """The places nearest to the wanted ones, in least squares, that keep the distances."""
    offsets = [0.0]
    for one, other in pairwise(row):
        offsets.append(offsets[-1] + (widths[one] + widths[other]) / 2 + gap)
    pools: list[tuple[float, int]] = []  # mean and number: pool adjacent violators
    for value, offset in zip(wanted, offsets, strict=False):
        mean, number = value - offset, 1
        while pools and pools[-1][0] > mean:
            last, members = pools.pop()
            mean = (mean * number + last * members) / (number + members)
            number += members
        pools.append((mean, number))
    flat = [mean for mean, number in pools for _ in range(number)]
    return [mean + offset for mean, offset in zip(flat, offsets, strict=False)]
