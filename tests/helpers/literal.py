"""The paper's definitions, written out literally: slow, and independent of the library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from typing import NamedTuple

from ntpcore.data.dataset import Dataset
from ntpcore.data.order import Pair

Words = tuple[str, ...]


class Reading(NamedTuple):
    """What Section 4.1 of huang2024 says about a data set.

    `orders` is None without a collocation; the other fields count failures.
    """

    collocation: dict[str, str | None]
    orders: dict[str, set[Pair]] | None
    shared: int
    unexplained: int
    outnumbered: int
    confused: int

    @property
    def realizable(self) -> bool:
        """Assumption 1."""
        return self.orders is not None and not (self.shared or self.unexplained or self.confused)


def samples_of_lines(lines: Iterable[Sequence[str]]) -> list[tuple[Words, str]]:
    """The distinct samples of text lines, by their definition."""
    found = {}
    for line in lines:
        for length in range(1, len(line)):
            found[tuple(line[:length]), line[length]] = None
    return list(found)


def is_prefix_closed(samples: Iterable[tuple[Words, str]]) -> bool:
    """Whether [x1 ... xl] with the next token x(l+1) is a sample, for every sample and every l."""
    known = set(samples)
    return all(
        (sentence[:length], sentence[length]) in known
        for sentence, _ in known
        for length in range(1, len(sentence))
    )


def read(data: Dataset) -> Reading:
    """Collocation, orders and failures from the samples, one by one and pair by pair."""
    samples = [(sample.sentence, sample.next_token) for sample in data.samples()]
    nexts: dict[str, set[str]] = {token: set() for token in data.vocabulary}
    for sentence, following in samples:
        if len(sentence) == 1:
            nexts[sentence[0]].add(following)
    collocation = {t: next(iter(found)) if len(found) == 1 else None for t, found in nexts.items()}
    defined = [following for following in collocation.values() if following is not None]
    shared = len(defined) - len(set(defined))
    if len(defined) < len(collocation):
        return Reading(collocation, None, shared, 0, 0, 0)
    orders: dict[str, set[Pair]] = {}
    unexplained = outnumbered = 0
    for sentence, following in samples:
        for x, y in product(set(sentence), repeat=2):
            if collocation[x] == following != collocation[y]:
                orders.setdefault(sentence[-1], set()).add((x, y))
        optimal = sum(collocation[token] == following for token in sentence)
        rivals = [sentence.count(t) for t in sentence if collocation[t] != following]
        unexplained += not optimal
        outnumbered += bool(optimal) and max(rivals, default=0) > optimal
    confused = sum(len({a for a, _ in ps} & {b for _, b in ps}) for ps in orders.values())
    return Reading(collocation, orders, shared, unexplained, outnumbered, confused)


def hall(pairs: Iterable[Pair]) -> bool:
    """Whether k |N(S)| >= m |S| for every set S of upper tokens, N(S) being what lies below S."""
    pairs = set(pairs)
    uppers, lowers = {a for a, _ in pairs}, {b for _, b in pairs}
    sets = chain.from_iterable(combinations(uppers, size) for size in range(1, len(uppers) + 1))
    return all(
        len(uppers) * len({b for a, b in pairs if a in chosen}) >= len(lowers) * len(chosen)
        for chosen in sets
    )


def minimise(pairs: Iterable[Pair]) -> dict[str, float]:
    """The scores of least norm with a margin of 1 on every pair, by cvxpy and Clarabel."""
    import cvxpy as cp

    pairs = sorted(pairs)
    names = sorted(set(chain.from_iterable(pairs)))
    w = cp.Variable(len(names))
    margins = [w[names.index(a)] - w[names.index(b)] >= 1 for a, b in pairs]
    cp.Problem(cp.Minimize(cp.sum_squares(w)), margins).solve(solver=cp.CLARABEL)
    return {name: float(value) for name, value in zip(names, w.value, strict=True)}


def nearly(exact: dict[str, Fraction], other: dict[str, float]) -> bool:
    """Whether exact scores and those of a float solver agree; Clarabel stops at gaps of 1e-8,
    hence about 1e-4 in the scores."""
    return exact.keys() == other.keys() and all(abs(exact[x] - other[x]) < 5e-4 for x in exact)
