"""Max-margin solutions of equations (2) and (3), exact and with a certificate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, TypeVar

from ntpcore.data.order import Pair, PartialOrder

if TYPE_CHECKING:
    import networkx as nx

Scores = dict[str, Fraction]
Multipliers = dict[Pair, Fraction]
Key = TypeVar("Key")


def closed_form(k: Any, m: Any) -> tuple[Any, Any]:
    """The max-margin scores (m/(k+m), -k/(k+m)) of k optimal and m non-optimal tokens.

    These are the max-margin scores iff the order satisfies the Hall condition (`satisfies_hall`),
    in particular if every optimal token is compared with every non-optimal one. `solve` is right
    for every order.

    Args:
        k: number of optimal tokens; a positive integer, or a symbol of sympy.
        m: number of non-optimal tokens; a positive integer, or a symbol of sympy.

    Returns:
        the score of an optimal and of a non-optimal token: fractions for integers.

    Raises:
        ValueError: k and m are integers, and one is not positive.

    Source: huang2024, Proposition 2.

    >>> closed_form(1, 2)
    (Fraction(2, 3), Fraction(-1, 3))
    """
    if isinstance(k, int) and isinstance(m, int):
        if k < 1 or m < 1:
            raise ValueError(f"closed_form({k}, {m}): both numbers of tokens must be at least 1")
        return Fraction(m, k + m), Fraction(-k, k + m)
    return m / (k + m), -k / (k + m)


@dataclass(frozen=True)
class Block:
    """A level set of a column of W_kq_star: k optimal tokens score m/(k+m), m others -k/(k+m)."""

    optimal: tuple[str, ...]
    nonoptimal: tuple[str, ...]

    @property
    def size(self) -> tuple[int, int]:
        """(k, m), the numbers of optimal and of non-optimal tokens."""
        return len(self.optimal), len(self.nonoptimal)

    @property
    def value(self) -> Fraction:
        """The score m/(k+m) of its optimal tokens."""
        high: Fraction = closed_form(*self.size)[0]
        return high


@dataclass(frozen=True)
class Solution:
    """One column of W_kq_star, restricted to the tokens that its query compares.

    Attributes:
        scores: the score of each compared token; every other token scores 0.
        blocks: the level sets, by decreasing score of their optimal tokens.
        multipliers: the positive multipliers by pair; scores and multipliers satisfy the optimality
            conditions that `certificate_errors` verifies.
    """

    scores: Scores
    blocks: tuple[Block, ...]
    multipliers: Multipliers


def closed_form_scores(order: PartialOrder) -> Scores:
    """The scores of one query by the closed form of the paper, for any order.

    With k optimal and m non-optimal tokens, an optimal one scores m/(k+m) and a non-optimal one
    -k/(k+m). These are the true scores iff the order satisfies the Hall condition
    (`satisfies_hall`); `solve` is right for every order.

    Raises:
        ValueError: the order compares no two tokens, or has a confused token.

    Source: huang2024, Proposition 2.
    """
    check_order(order)
    high, low = closed_form(len(order.optimal), len(order.nonoptimal))
    return dict.fromkeys(order.optimal, high) | dict.fromkeys(order.nonoptimal, low)


def solve(order: PartialOrder) -> Solution:
    """Exact max-margin scores of one query, with blocks and multipliers.

    The problem is min sum w_x^2 subject to w_a - w_b >= 1 for every pair a > b: an isotonic
    regression on a bipartite graph. If the closed form fails on a part of the graph, a minimum cut
    gives a set S of optimal tokens with too few neighbors. The solver then treats S with its
    neighbors, and the remaining tokens, as two separate problems.

    Raises:
        ValueError: the order compares no two tokens, or has a confused token.

    Source: huang2024, equations (3) and (15).
    """
    check_order(order)
    scores: Scores = {}
    multipliers: Multipliers = {}
    todo = _components(order.pairs)
    while todo:
        part = todo.pop()
        uppers, lowers = {a for a, _ in part}, {b for _, b in part}
        k, m = len(uppers), len(lowers)
        flow, stuck = _ship(part)
        if stuck:
            near = {b for a, b in part if a in stuck}
            todo.extend(_components({(a, b) for a, b in part if a in stuck}))
            todo.extend(_components({(a, b) for a, b in part if a not in stuck and b not in near}))
            continue
        high, low = closed_form(k, m)
        scores.update(dict.fromkeys(uppers, high) | dict.fromkeys(lowers, low))
        value = {units: Fraction(units, k + m) for units in set(flow.values())}
        multipliers.update({pair: value[units] for pair, units in flow.items() if units})
    ordered = {token: scores[token] for token in (*order.optimal, *order.nonoptimal)}
    return Solution(ordered, level_sets(order, ordered), dict(sorted(multipliers.items())))


def solve_scores(order: PartialOrder) -> Scores:
    """Exact max-margin scores of one query; see `solve`."""
    return solve(order).scores


def W_kq_star(orders: Mapping[str, PartialOrder]) -> dict[str, Solution]:
    """The max-margin attention matrix by its columns, one for each query that orders anything.

    Raises:
        ValueError: an order compares no two tokens, or has a confused token.

    Source: huang2024, equation (3).
    """
    return {query: solve(order) for query, order in orders.items()}


def W_ov_star(collocation: Mapping[str, str]) -> dict[str, Scores]:
    """The max-margin feed-forward matrix by its columns: W x = e_n(x) - (1/|V|) sum of all e_v.

    Every constraint of the problem is tight, and each has the multiplier 1/|V|; the squared norm
    is |V| - 1.

    Raises:
        ValueError: a next token is not a key of `collocation`.

    Source: huang2024, equation (2).
    """
    size = len(collocation)
    for token, following in collocation.items():
        if following not in collocation:
            raise ValueError(f"n({token}) is {following!r}, which is not in the vocabulary")
    return {
        token: {v: Fraction(v == following) - Fraction(1, size) for v in collocation}
        for token, following in collocation.items()
    }


def norm_squared(columns: Iterable[Scores] | Scores) -> Fraction:
    """Squared Frobenius norm of one column of scores, or of several.

    Equal scores are counted first, because few scores are distinct and a sum of a million fractions
    is slow.
    """
    several = [columns] if isinstance(columns, dict) else columns
    times = Counter(score.as_integer_ratio() for scores in several for score in scores.values())
    return sum((count * Fraction(*ratio) ** 2 for ratio, count in times.items()), Fraction(0))


def satisfies_hall(order: PartialOrder) -> bool:
    """Whether k |N(S)| >= m |S| for every set S of optimal tokens: the Hall condition.

    k and m are the numbers of optimal and of non-optimal tokens; N(S) is the set of tokens below S.
    The closed form of Proposition 2 is right iff the Hall condition holds.
    """
    return not hall_violation(order)


def hall_violation(order: PartialOrder) -> frozenset[str]:
    """A set S of optimal tokens with k |N(S)| < m |S|; empty if the Hall condition holds.

    Raises:
        ValueError: the order compares no two tokens, or has a confused token.
    """
    check_order(order)
    return _ship(order.pairs)[1]


def common_unit(values: Iterable[Fraction]) -> int:
    """The least number u such that all values are whole multiples of 1/u."""
    return lcm(*{value.denominator for value in values})


def in_units(values: Mapping[Key, Fraction], unit: int) -> dict[Key, int]:
    """Values as whole multiples of 1/unit: a million sums of fractions would take a minute.

    Args:
        values: fractions by any names.
        unit: a multiple of all their denominators, such as `common_unit` gives.
    """
    return {key: value.numerator * (unit // value.denominator) for key, value in values.items()}


def certificate_errors(
    order: PartialOrder, scores: Mapping[str, Fraction], multipliers: Mapping[Pair, Fraction]
) -> list[str]:
    """The optimality conditions that scores and multipliers violate; empty for a proof.

    These are the Karush-Kuhn-Tucker conditions for min sum w^2 with the Lagrangian
    sum w^2 - 2 sum l_ab (w_a - w_b - 1): margins at least 1, multipliers nonnegative and zero on
    slack pairs, and each score equal to the sum of the multipliers of pairs with the token as upper
    minus that of pairs with the token as lower. The problem is strictly convex, so only one set of
    scores satisfies the conditions. The check uses no code of the solver.
    """
    errors = []
    unit = common_unit([*scores.values(), *multipliers.values()])
    height, sent = in_units(scores, unit), in_units(multipliers, unit)
    balance = dict.fromkeys(scores, 0)
    for a, b in sorted(order.pairs):
        if a not in scores or b not in scores:
            errors.append(f"pair {a} > {b}: a token has no score")
            continue
        slack = height[a] - height[b] - unit
        multiplier = sent.get((a, b), 0)
        if slack < 0:
            margin = Fraction(slack + unit, unit)
            errors.append(f"pair {a} > {b}: the margin is {margin}, below 1")
        if multiplier < 0:
            errors.append(f"pair {a} > {b}: the multiplier {multipliers[a, b]} is negative")
        if multiplier and slack:
            rest = Fraction(slack, unit)
            errors.append(f"pair {a} > {b}: a multiplier on a pair with slack {rest}")
        balance[a] += multiplier
        balance[b] -= multiplier
    errors += [
        f"pair {a} > {b}: not in the order" for a, b in sorted(set(multipliers) - order.pairs)
    ]
    errors += [
        f"token {token}: score {scores[token]}, but multipliers sum to {Fraction(total, unit)}"
        for token, total in balance.items()
        if total != height[token]
    ]
    return errors


def check_order(order: PartialOrder) -> None:
    """Refuse an order that compares no two tokens or has a confused token."""
    if not order.pairs:
        raise ValueError(f"query {order.query!r} orders no two tokens, so it has no margin")
    if order.confused:
        token = min(order.confused)
        raise ValueError(
            f"query {order.query!r} has the confused token {token!r}; Assumption 1 must hold"
        )


def _components(pairs: Iterable[Pair]) -> list[set[Pair]]:
    """The pairs, by connected component of their graph."""
    pairs = set(pairs)
    if len(pairs) == len({a for a, _ in pairs}) * len({b for _, b in pairs}):
        return [pairs]  # complete, as it is without a second optimal token
    import networkx as nx  # takes half of the time that a command needs to start

    graph = nx.Graph(((a, "above"), (b, "below")) for a, b in pairs)
    number = {
        node: place for place, nodes in enumerate(nx.connected_components(graph)) for node in nodes
    }
    parts: dict[int, set[Pair]] = {}
    for a, b in pairs:
        parts.setdefault(number[a, "above"], set()).add((a, b))
    return list(parts.values())


def _ship(pairs: Iterable[Pair]) -> tuple[dict[Pair, int], frozenset[str]]:
    """Ship m units from each of k optimal tokens so that each of m non-optimal ones gets k.

    The nodes of the network are numbers: the search for the flow keeps sets of nodes, and those of
    strings would be walked in another order in another process, to another flow.

    Returns:
        the shipment and an empty set where that is possible; otherwise what could be shipped and
        a set S of optimal tokens with k |N(S)| < m |S|, from the minimum cut.
    """
    pairs = set(pairs)
    uppers, lowers = {a for a, _ in pairs}, {b for _, b in pairs}
    k, m = len(uppers), len(lowers)
    if len(pairs) == k * m:
        return dict.fromkeys(pairs, 1), frozenset()
    import networkx as nx  # see above

    above = {a: place for place, a in enumerate(sorted(uppers))}
    below = {b: place for place, b in enumerate(sorted(lowers), start=k)}
    source, sink = k + m, k + m + 1
    network: nx.DiGraph[int] = nx.DiGraph()
    network.add_edges_from(((source, node) for node in above.values()), capacity=m)
    network.add_edges_from((above[a], below[b]) for a, b in sorted(pairs))  # unbounded
    network.add_edges_from(((node, sink) for node in below.values()), capacity=k)
    value, flow = nx.maximum_flow(network, source, sink)
    shipped = {(a, b): flow[above[a]][below[b]] for a, b in pairs}
    if value == k * m:
        return shipped, frozenset()
    return shipped, _stuck(shipped, {a for a in uppers if flow[source][above[a]] < m})


def _stuck(shipped: Mapping[Pair, int], start: set[str]) -> frozenset[str]:
    """Optimal tokens on the source side of the minimum cut: reached from those with units left."""
    below: dict[str, list[str]] = {}
    back: dict[str, list[str]] = {}
    for (a, b), units in shipped.items():
        below.setdefault(a, []).append(b)
        if units:
            back.setdefault(b, []).append(a)
    reached, met, todo = set(start), set(), list(start)
    while todo:
        for b in below[todo.pop()]:
            if b not in met:
                met.add(b)
                fresh = [a for a in back.get(b, ()) if a not in reached]
                reached.update(fresh)
                todo.extend(fresh)
    return frozenset(reached)


def level_sets(order: PartialOrder, scores: Scores) -> tuple[Block, ...]:
    """Blocks by decreasing optimal score v; non-optimal tokens of a block score v - 1."""
    groups: dict[Fraction, tuple[list[str], list[str]]] = {}
    for token in order.optimal:
        groups.setdefault(scores[token], ([], []))[0].append(token)
    for token in order.nonoptimal:
        groups.setdefault(scores[token] + 1, ([], []))[1].append(token)
    return tuple(
        Block(tuple(above), tuple(below))
        for _, (above, below) in sorted(groups.items(), reverse=True)
    )
