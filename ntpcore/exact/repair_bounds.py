"""Numbers of samples that no realizable part of a data set exceeds.

Three relaxations, of which the least counts. With C(x, y) the weight of the samples that contain x
and are followed by y, a part keeps samples of the pairs (n^-1(y), y) alone: one x for every y, and
one y for every x. And it keeps of *rivals* only those with one next token: rivals are samples of
one query, of two tokens at least, whose sets of tokens contain one another. For let X and X' be
such sets, X within X', with next tokens y and y'. If both samples are kept, n^-1(y) and n^-1(y')
lie in U(q) and in X', so that they are one token by row 2 of `repair`, and y = y'. The beginnings
of a line contain one another: of one line and one query only one next token stays. Sentences of
one token repeated meet no row 2; of these the samples with the same token are rivals, by n alone.

What limits it: the two are not joined (`repair_prices` does that), and samples of different lines
contradict one another as well, through the n that they share. The linear relaxation of the integer
program does not see it either: u = 1/2 everywhere makes rows 2 hold for nearly half of everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ntpcore.exact.repair_table import Table

Class = tuple[int, int | frozenset[int]]  # a query, with a line or a set of tokens

_SHORT = (1, 2)  # tokens of the sentences of a text that are compared across its lines
_SPELLED = 1_000_000  # cells of data small enough to compare all sentences across lines


class HeaviestPairs:
    """The bounds by pairs, from C(x, y) for one y after the other."""

    def __init__(self) -> None:
        self.by_token: dict[int, int] = {}
        self.by_next = 0

    def note(self, weights: Mapping[int, int]) -> None:
        """Take in C(x, y) for all x of one y."""
        self.by_next += max(weights.values(), default=0)
        by_token = self.by_token
        for token, weight in weights.items():
            if weight > by_token.get(token, 0):
                by_token[token] = weight

    def bound(self) -> int:
        """One x for every y, and one y for every x, whichever is less."""
        return min(sum(self.by_token.values()), self.by_next)


def simple_bound(table: Table) -> int:
    """The least of the bounds by pairs and by rivals."""
    pairs = HeaviestPairs()
    for following in table.occurrences:
        pairs.note(table.pair_weights(following))
    return min(pairs.bound(), rivals_bound(table))


def rivals_bound(table: Table) -> int:
    """Of samples of one query whose sets contain one another, those with one next token stay.

    Each sample stands in one class of rivals: sentences with equal sets are a class, and so are
    the sentences of a line. The best of some ways to divide them counts.
    """
    spelled = table.cells <= _SPELLED or not table.data.prefixes
    ways = [*_SHORT, table.data.max_length] if spelled else _SHORT
    return min(_heaviest(_classes(table, short)) for short in ways)


def _classes(table: Table, short: int) -> Iterator[tuple[Class, int, int]]:
    """For each sample its class, its next token and its weight.

    Args:
        table: the data.
        short: sentences of up to so many tokens are compared with those of other lines, the
            longer ones with those of their line; 1 at least, as those of one token alone are rivals
            of their like only.
    """
    for place, line in enumerate(table.data.lines):
        for length, seen in table.beginnings(place):
            query, following = line.tokens[length - 1], line.tokens[length]
            if len(seen) <= short or not table.data.prefixes:
                yield (query, frozenset(seen)), following, line.count
            else:
                yield (query, place), following, line.count


def classes(table: Table) -> Iterator[tuple[Class, int, int]]:
    """The classes with which `rivals_bound` compares the most sentences across lines."""
    spelled = table.cells <= _SPELLED or not table.data.prefixes
    return _classes(table, table.data.max_length if spelled else _SHORT[-1])


def _heaviest(samples: Iterable[tuple[Class, int, int]]) -> int:
    """The weight of the heaviest next token of each class, summed over classes."""
    weights: dict[tuple[Class, int], int] = {}
    for one, following, weight in samples:
        weights[one, following] = weights.get((one, following), 0) + weight
    best: dict[Class, int] = {}
    for (one, _), weight in weights.items():
        best[one] = max(weight, best.get(one, 0))
    return sum(best.values())
