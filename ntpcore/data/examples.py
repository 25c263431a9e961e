"""The data set of the paper's own example, small orders, and data that have a given order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ntpcore.data.dataset import Dataset, from_samples, from_sentences
from ntpcore.data.order import PartialOrder

EXAMPLE_1 = ("S V O P", "V O P", "O P P", "P S V")
# A query with two optimal tokens and a pair that is not tight; no prefix-closed data have it.
FIVE_TOKENS = PartialOrder.of("q", {("a", "c"), ("a", "d"), ("a", "q"), ("b", "q")})


def example_1() -> Dataset:
    """The data set of Example 1 (huang2024): SVOP, VOP, OPP, PSV."""
    return from_sentences(EXAMPLE_1, "Example 1")


def small_orders(max_optimal: int, max_nonoptimal: int, max_pairs: int) -> Iterator[PartialOrder]:
    """Every bipartite order of these sizes, its tokens named; `max_pairs` bounds k times m.

    The first of the non-optimal tokens is the query. Names and their turns are such that the first
    order on which Proposition 2 fails is FIVE_TOKENS itself.
    """
    for k, m in product(range(1, max_optimal + 1), range(1, max_nonoptimal + 1)):
        if k * m > max_pairs:
            continue
        uppers, lowers = "abefghij"[:k], "qcdtuvwx"[:m]
        edges = list(product(uppers, lowers))
        for chosen in product((True, False), repeat=k * m):
            pairs = [edge for edge, keep in zip(edges, chosen, strict=True) if keep]
            if len({a for a, _ in pairs}) == k and len({b for _, b in pairs}) == m:
                yield PartialOrder.of("q", pairs)


def has_data(order: PartialOrder) -> bool:
    """Whether some data set that satisfies Assumption 1 has this order.

    The query ends every sentence. Where it is not optimal itself, it lies below every optimal
    token; where it is, no other token can be.
    """
    if order.query in order.optimal:
        return order.optimal == (order.query,)
    return all(order.query in below for below in order.below.values())


def realize(order: PartialOrder) -> Dataset:
    """A data set with this order: one sentence for each optimal token, all its rivals in it.

    The collocation runs around the tokens in a cycle.

    Raises:
        ValueError: no realizable data set has this order.
    """
    if order.confused or not order.pairs or not has_data(order):
        raise ValueError(f"no realizable data set has the order of query {order.query!r}")
    tokens = sorted(order.compared)
    following = dict(zip(tokens, [*tokens[1:], tokens[0]], strict=True))
    samples: list[tuple[list[str], str]] = [([token], following[token]) for token in tokens]
    for a, below in order.below.items():
        others = [token for token in (a, *below) if token != order.query]
        samples.append(([*others, order.query], following[a]))
    return from_samples(samples, f"order of query {order.query}")
