"""Max-margin scores under any finite relation: chains, several levels, and cycles.

A *component* is a strongly connected component of the graph of pairs. The tokens of a component
share one score, and a pair between two components requires a margin of at least 1. This problem is
the graph-SVM of Li, Huang, Ildiz, Rawat, and Oymak (2024). If no token is confused, the components
are single tokens, and the problem is equation (3) of huang2024.

Floating-point numbers guess which pairs have a margin of exactly 1. Fractions then prove the guess:
scores and multipliers satisfy the conditions of Karush, Kuhn, and Tucker exactly, or the guess is
refined.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ntpcore.data.order import Pair, PartialOrder
from ntpcore.exact.margin import Multipliers, Scores, common_unit

if TYPE_CHECKING:
    import networkx as nx

FIRST_SWEEPS = 64
MOST_SWEEPS = 2**17  # of the guess; then fractions search alone
BELOW = 1e-7  # a multiplier that small is a guess of zero

Edge = tuple[int, int]  # from a component to one that must score at least 1 less


@dataclass(frozen=True)
class AnySolution:
    """Max-margin scores of one query under any relation.

    Attributes:
        scores: the score of each compared token; every other token scores 0.
        components: the strongly connected components, each a sorted tuple of tokens that share a
            score, by decreasing score; most are single tokens.
        multipliers: the positive multipliers by pair; a pair stands for all pairs between its two
            components.
    """

    scores: Scores
    components: tuple[tuple[str, ...], ...]
    multipliers: Multipliers

    @property
    def support_vectors(self) -> tuple[Pair, ...]:
        """The pairs with a positive multiplier, sorted."""
        return tuple(sorted(self.multipliers))


def components(pairs: Iterable[Pair]) -> list[tuple[str, ...]]:
    """The strongly connected components of a relation, each sorted, in a fixed order."""
    import networkx as nx  # slow to load, and needed where tokens are confused

    graph: nx.DiGraph[str] = nx.DiGraph(sorted(pairs))
    return sorted(tuple(sorted(one)) for one in nx.strongly_connected_components(graph))


def solve(order: PartialOrder) -> AnySolution:
    """Exact max-margin scores of one query, with a certificate.

    The problem is min sum w_x^2 subject to w_a = w_b for tokens of one component and
    w_a - w_b >= 1 for every pair between two components.

    Args:
        order: pairs (a, b) of tokens with a above b; any finite relation.

    Raises:
        ValueError: the order has no pair.

    Source: Li et al. (2024), graph-SVM; huang2024, equation (3).
    """
    if not order.pairs:
        raise ValueError(f"query {order.query!r} orders no two tokens, so it has no margin")
    parts = components(order.pairs)
    place = {token: number for number, part in enumerate(parts) for token in part}
    between: dict[Edge, Pair] = {}
    for a, b in sorted(order.pairs):
        if place[a] != place[b]:
            between.setdefault((place[a], place[b]), (a, b))
    values, multipliers = _solve_weighted([len(part) for part in parts], sorted(between))
    by_score = sorted(range(len(parts)), key=lambda number: (-values[number], parts[number]))
    return AnySolution(
        {token: values[number] for number in by_score for token in parts[number]},
        tuple(parts[number] for number in by_score),
        {between[edge]: value for edge, value in sorted(multipliers.items())},
    )


def certificate_errors(
    order: PartialOrder, scores: Mapping[str, Fraction], multipliers: Mapping[Pair, Fraction]
) -> list[str]:
    """The optimality conditions that scores and multipliers violate; empty for a proof.

    The conditions are equal scores within a component, margins of at least 1 between components,
    nonnegative multipliers that are zero unless the margin is 1, and for each component a sum of
    scores equal to the multipliers of the pairs that leave the component minus those that enter.
    The problem is strictly convex, so only one set of scores satisfies the conditions. The check
    uses no code of the solver; it recomputes the components from the pairs.
    """
    errors = []
    parts = _reachable_classes(order.pairs)
    missing = sorted({token for pair in order.pairs for token in pair} - set(scores))
    if missing:
        return [f"token {token}: no score" for token in missing]
    balance: dict[frozenset[str], Fraction] = {}
    for token, part in parts.items():
        balance[part] = balance.get(part, Fraction(0)) + scores[token]
    for a, b in sorted(order.pairs):
        margin = scores[a] - scores[b]
        if parts[a] is parts[b] and margin:
            errors.append(f"pair {a} > {b}: one component, and scores that differ by {margin}")
        if parts[a] is not parts[b] and margin < 1:
            errors.append(f"pair {a} > {b}: the margin is {margin}, below 1")
    for (a, b), value in sorted(multipliers.items()):
        if (a, b) not in order.pairs or parts[a] is parts[b]:
            errors.append(f"pair {a} > {b}: a multiplier, and no pair between two components")
            continue
        if value < 0:
            errors.append(f"pair {a} > {b}: the multiplier {value} is negative")
        if value and scores[a] - scores[b] != 1:
            errors.append(f"pair {a} > {b}: a multiplier, and a margin of {scores[a] - scores[b]}")
        balance[parts[a]] -= value
        balance[parts[b]] += value
    errors += [
        f"component {', '.join(sorted(part))}: scores and multipliers differ by {rest}"
        for part, rest in balance.items()
        if rest
    ]
    errors += [
        f"token {token}: a score of {scores[token]}, and no pair"
        for token in sorted(set(scores) - set(parts))
        if scores[token]
    ]
    return errors


def _reachable_classes(pairs: Iterable[Pair]) -> dict[str, frozenset[str]]:
    """For each token the tokens that it reaches and that reach it, one object for each class."""
    below: dict[str, set[str]] = {}
    for a, b in pairs:
        below.setdefault(a, set()).add(b)
        below.setdefault(b, set())
    reached: dict[str, set[str]] = {}
    for token in below:
        seen, todo = {token}, [token]
        while todo:
            fresh = below[todo.pop()] - seen
            seen |= fresh
            todo += fresh
        reached[token] = seen
    found: dict[str, frozenset[str]] = {}
    for token in below:
        if token not in found:
            both = frozenset(other for other in reached[token] if token in reached[other])
            found |= dict.fromkeys(both, both)
    return found


def _solve_weighted(
    sizes: list[int], edges: list[Edge]
) -> tuple[list[Fraction], dict[Edge, Fraction]]:
    """min sum n_c z_c^2 subject to z_a - z_b >= 1 along the edges of a graph without circles."""
    if not edges:
        return [Fraction(0)] * len(sizes), {}
    needed = _without_implied(edges)
    guess = _Guess(sizes, needed)
    sweeps = FIRST_SWEEPS
    while sweeps <= MOST_SWEEPS:
        guess.sweep(sweeps)
        found = _prove(sizes, needed, guess.active())
        if found is not None:
            return found
        sweeps *= 2
    return _by_fractions(sizes, needed)


def _without_implied(edges: list[Edge]) -> list[Edge]:
    """The edges that no longer path implies: a margin of 2 along it is more than 1."""
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph(edges)
    return sorted(nx.transitive_reduction(graph).edges)


class _Guess:
    """Multipliers in floating point, by ascent along one of them at a time (Hildreth, 1957)."""

    def __init__(self, sizes: list[int], edges: list[Edge]) -> None:
        self.sizes, self.edges = sizes, edges
        self.z = [0.0] * len(sizes)
        self.multipliers = [0.0] * len(edges)

    def sweep(self, times: int) -> None:
        """Go over all edges so many times."""
        z, sizes = self.z, self.sizes
        for _ in range(times):
            for place, (a, b) in enumerate(self.edges):
                step = (1 - z[a] + z[b]) / (1 / sizes[a] + 1 / sizes[b])
                step = max(step, -self.multipliers[place])
                self.multipliers[place] += step
                z[a] += step / sizes[a]
                z[b] -= step / sizes[b]

    def active(self) -> list[Edge]:
        """The edges that seem to carry a positive multiplier."""
        pairs = zip(self.edges, self.multipliers, strict=True)
        return [edge for edge, value in pairs if value > BELOW]


def _prove(
    sizes: list[int], edges: list[Edge], active: list[Edge]
) -> tuple[list[Fraction], dict[Edge, Fraction]] | None:
    """Scores with a margin of exactly 1 on the active edges, and their multipliers, if those prove
    them optimal."""
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(sizes)))
    graph.add_edges_from(active)
    z = [Fraction(0)] * len(sizes)
    for nodes in nx.connected_components(graph):
        depth = _depths(nodes, active)
        if depth is None:
            return None
        shift = Fraction(sum(sizes[n] * d for n, d in depth.items()), sum(sizes[n] for n in depth))
        for node, value in depth.items():
            z[node] = value - shift
    if any(z[a] - z[b] < 1 for a, b in edges):
        return None
    tight = [(a, b) for a, b in edges if z[a] - z[b] == 1]
    shipped = _ship([size * value for size, value in zip(sizes, z, strict=True)], tight)
    return None if shipped is None else (z, shipped)


def _depths(nodes: Iterable[int], active: list[Edge]) -> dict[int, int] | None:
    """Heights that fall by 1 along every active edge among some nodes; None if there are none."""
    members = set(nodes)
    near: dict[int, list[Edge]] = {node: [] for node in members}
    for a, b in active:
        if a in members:
            near[a].append((b, -1))
            near[b].append((a, 1))
    start = min(members)
    depth, todo = {start: 0}, [start]
    while todo:
        node = todo.pop()
        for other, change in near[node]:
            if other not in depth:
                depth[other] = depth[node] + change
                todo.append(other)
            elif depth[other] != depth[node] + change:
                return None
    return depth


def _ship(amounts: list[Fraction], edges: list[Edge]) -> dict[Edge, Fraction] | None:
    """Multipliers that carry every amount away along the edges; None if nothing can."""
    import networkx as nx

    unit = common_unit(amounts)
    whole = [int(amount * unit) for amount in amounts]
    source, sink = len(amounts), len(amounts) + 1
    network: nx.DiGraph[int] = nx.DiGraph()
    network.add_nodes_from((source, sink))
    for node, units in enumerate(whole):
        if units > 0:
            network.add_edge(source, node, capacity=units)
        if units < 0:
            network.add_edge(node, sink, capacity=-units)
    network.add_edges_from(edges)  # unbounded
    value, flow = nx.maximum_flow(network, source, sink)
    supplied, drawn = (sum(max(side * units, 0) for units in whole) for side in (1, -1))
    if not value == supplied == drawn:
        return None
    return {(a, b): Fraction(flow[a][b], unit) for a, b in edges if flow[a][b]}


def _by_fractions(
    sizes: list[int], edges: list[Edge]
) -> tuple[list[Fraction], dict[Edge, Fraction]]:
    """The same in fractions alone: active sets of the dual problem (Lawson and Hanson, 1974).

    The dual problem maximizes the sum of the multipliers minus half the weighted squares of the
    scores. Every turn raises it, so no active set comes back.
    """
    multipliers = dict.fromkeys(edges, Fraction(0))
    active: list[Edge] = []
    while True:
        z = _scores(sizes, multipliers)
        gain = {(a, b): 1 - z[a] + z[b] for a, b in edges if (a, b) not in active}
        entering = max(gain, key=lambda edge: (gain[edge], edge), default=None)
        if entering is None or gain[entering] <= 0:
            return z, {edge: value for edge, value in multipliers.items() if value}
        parts = _combination(sizes, active, entering)
        if parts is not None:  # scores stay, and the entering edge replaces one that it implies
            room = {edge: multipliers[edge] / part for edge, part in parts.items() if part > 0}
            share = min(room.values())
            multipliers[entering] = share
            for edge, part in parts.items():
                multipliers[edge] -= share * part
        active = [edge for edge in (*active, entering) if edge == entering or multipliers[edge] > 0]
        while True:
            wanted = _solve(sizes, active, [Fraction(1)] * len(active))
            if all(value > 0 for value in wanted.values()):
                multipliers |= wanted
                break
            share = min(
                multipliers[edge] / (multipliers[edge] - value)
                for edge, value in wanted.items()
                if value <= 0
            )
            for edge, value in wanted.items():
                multipliers[edge] += share * (value - multipliers[edge])
            active = [edge for edge in active if multipliers[edge] > 0]


def _combination(
    sizes: list[int], active: list[Edge], entering: Edge
) -> dict[Edge, Fraction] | None:
    """The entering edge as a combination of active ones; None if it is independent of them."""
    right = [_product(sizes, edge, entering) for edge in active]
    parts = _solve(sizes, active, right)
    reached = sum((parts[e] * r for e, r in zip(active, right, strict=True)), Fraction(0))
    return parts if reached == _product(sizes, entering, entering) else None


def _product(sizes: list[int], one: Edge, other: Edge) -> Fraction:
    """How much the margin of one edge gains by a unit of the multiplier of another."""
    (a, b), (c, d) = one, other
    top, bottom = int(a == c) - int(a == d), int(b == c) - int(b == d)
    return Fraction(top, sizes[a]) - Fraction(bottom, sizes[b])


def _scores(sizes: list[int], multipliers: Mapping[Edge, Fraction]) -> list[Fraction]:
    """The scores that go with some multipliers."""
    z = [Fraction(0)] * len(sizes)
    for (a, b), value in multipliers.items():
        z[a] += value / sizes[a]
        z[b] -= value / sizes[b]
    return z


def _solve(sizes: list[int], active: list[Edge], right: list[Fraction]) -> dict[Edge, Fraction]:
    """Multipliers of independent edges that give them these margins."""
    rows = [
        [*(_product(sizes, edge, other) for other in active), value]
        for edge, value in zip(active, right, strict=True)
    ]
    return dict(zip(active, _eliminate(rows), strict=True))


def _eliminate(rows: list[list[Fraction]]) -> list[Fraction]:
    """The solution of a regular linear system, in fractions."""
    for column in range(len(rows)):
        pivot = next(r for r in range(column, len(rows)) if rows[r][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        factor = rows[column][column]
        rows[column] = [value / factor for value in rows[column]]
        for r, row in enumerate(rows):
            if r != column and (share := row[column]):
                rows[r] = [x - share * y for x, y in zip(row, rows[column], strict=True)]
    return [row[-1] for row in rows]
