"""What attention learns from any data, whether Assumption 1 of huang2024 holds or not.

The comparisons under each query form a directed graph. In the max-margin solution W_mm, the tokens
of a cycle share one score. The comparisons in no cycle, the strict part, have margins of at least
1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ntpcore.data import next_tokens, order
from ntpcore.data.dataset import Dataset
from ntpcore.data.next_tokens import Entry
from ntpcore.data.order import PartialOrder
from ntpcore.exact import any_order
from ntpcore.front import MaxMargin, max_margin

MOST_SOLVED = 20_000  # comparisons of all orders that are solved in a few seconds
MOST_PAIRS = 1_000_000  # comparisons that are looked for unasked: some five seconds

Components = Mapping[str, tuple[tuple[str, ...], ...]]  # by query, those of two tokens or more


@dataclass(frozen=True)
class Contexts:
    """Numbers of contexts, by what decides their next token; repeated contexts count repeatedly.

    A context is a sentence with its next token y. A source is a token x of the sentence with
    n(x) = y; a rival is a token of the sentence that is not a source. A context is decided if a
    source scores above all rivals in W_mm.

    Attributes:
        total: all contexts.
        alone: contexts of one distinct token, a source: attention has no choice.
        last: other decided contexts in which the query, the last token, is a source.
        earlier: decided contexts in which only other tokens are sources.
        contested: contexts in which each source lies in a cycle with a rival.
        nowhere: contexts without a source.
    """

    total: int
    alone: int
    last: int
    earlier: int
    contested: int
    nowhere: int


@dataclass(frozen=True)
class Learned:
    """What attention learns from a data set.

    Attributes:
        entries: the next-token map, with the origin of each entry.
        orders: for each query that compares tokens, its relation under the next-token map.
        components: for each query with a cycle, the strongly connected components of two or more
            tokens.
        contexts: numbers of contexts, by what decides their next token.
        solution: W_mm, exact; None if the orders hold too many pairs to solve in a few seconds.
    """

    entries: Mapping[str, Entry]
    orders: Mapping[str, PartialOrder]
    components: Components
    contexts: Contexts
    solution: MaxMargin | None

    @cached_property
    def comparisons(self) -> int:
        """The number of pairs in all orders together."""
        return sum(len(one.pairs) for one in self.orders.values())

    @cached_property
    def strict(self) -> int:
        """The number of pairs, in all orders together, that lie in no cycle."""
        within = 0
        for query, parts in self.components.items():
            part_of = {token: number for number, part in enumerate(parts) for token in part}
            within += sum(
                part_of.get(upper, -1) == part_of.get(lower, -2)
                for upper, lower in self.orders[query].pairs
            )
        return self.comparisons - within


def learn(
    data: Dataset,
    given: Mapping[str, str | None] | None = None,
    *,
    orders: Mapping[str, PartialOrder] | None = None,
    max_pairs: int = MOST_PAIRS,
) -> Learned:
    """What attention learns from a data set, under a next-token map that is inferred where needed.

    Args:
        data: the data set.
        given: the next token of some tokens, None for no next token.
        orders: the orders, if known; None to compute them.
        max_pairs: how many pairs all computed orders may hold together.

    Raises:
        InputError: the computed orders would hold more than `max_pairs` pairs.

    Source: Li et al. (2024), graph-SVM; huang2024, Definition 1.
    """
    data = order.with_tokens(data, next_tokens.without_gaps(given or {}))
    entries = next_tokens.infer(data, given)
    following = next_tokens.map_of(entries)
    if orders is None:
        orders = order.orders_under(data, following, max_pairs=max_pairs)
    components = components_of(orders)
    solved = sum(len(one.pairs) for one in orders.values()) <= MOST_SOLVED
    return Learned(
        entries,
        orders,
        components,
        contexts(data, following, components),
        max_margin(orders) if solved else None,
    )


def components_of(orders: Mapping[str, PartialOrder]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """For each query with a cycle, the strongly connected components of two or more tokens."""
    found = {}
    for query, one in orders.items():
        # Every token of a cycle has tokens above and below it.
        inner = [pair for pair in one.pairs if one.confused.issuperset(pair)]
        parts = tuple(part for part in any_order.components(inner) if len(part) > 1)
        if parts:
            found[query] = parts
    return found


def contexts(
    data: Dataset, following: Mapping[str, str | None], components: Components
) -> Contexts:
    """The numbers of contexts of a data set, by what decides their next token.

    Args:
        data: the data set.
        following: n(x) for each token x, None for no next token.
        components: the result of `components_of` for the orders under `following`.
    """
    names = data.vocabulary
    part_of = {
        query: {token: part for part in parts for token in part}
        for query, parts in components.items()
    }
    counts = dict.fromkeys(("alone", "last", "earlier", "contested", "nowhere"), 0)
    for line in data.lines:
        size = len(line.tokens)
        seen: set[str] = set()
        sources: dict[str | None, list[str]] = {}  # by n, the tokens seen that have it
        for length in range(1, size):
            query, label = names[line.tokens[length - 1]], names[line.tokens[length]]
            if query not in seen:
                seen.add(query)
                sources.setdefault(following.get(query), []).append(query)
            if not data.prefixes and length < size - 1:
                continue
            parts = part_of.get(query, {})
            if label not in sources:
                kind = "nowhere"
            elif len(seen) == 1:
                kind = "alone"
            elif all(
                any(one in seen and following.get(one) != label for one in parts.get(best, ()))
                for best in sources[label]
            ):
                kind = "contested"
            else:
                kind = "last" if following.get(query) == label else "earlier"
            counts[kind] += line.count
    return Contexts(sum(counts.values()), **counts)
