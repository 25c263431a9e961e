"""Orders of every kind: chains, several levels, and cycles."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ntpcore.data.order import PartialOrder
from ntpcore.exact import any_order


@dataclass(frozen=True)
class Solved:
    """An order with the solution that the book's solver gives.

    Attributes:
        name: its pairs.
        order: the comparisons.
        solution: scores, components, and multipliers.
    """

    name: str
    order: PartialOrder
    solution: any_order.AnySolution


def solved(pairs: list[tuple[str, str]]) -> Solved:
    """The order of these pairs, solved."""
    order = PartialOrder.of("q", pairs)
    words = ", ".join(f"{a} > {b}" for a, b in sorted(order.pairs))
    return Solved(words, order, any_order.solve(order))


def all_small() -> Iterator[Solved]:
    """Every relation on three tokens that compares two of them."""
    every = list(itertools.permutations("abc", 2))
    for size in range(1, len(every) + 1):
        for pairs in itertools.combinations(every, size):
            yield solved(list(pairs))


def orders(seed: int = 7, trials: int = 100) -> Iterator[Solved]:
    """Every relation on three tokens, and random ones on four to nine."""
    yield from all_small()
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        tokens = "abcdefghi"[: int(rng.integers(4, 10))]
        every = list(itertools.permutations(tokens, 2))
        chosen = rng.choice(len(every), int(rng.integers(2, 2 * len(tokens))), replace=False)
        yield solved([every[place] for place in sorted(map(int, chosen))])


def independent(order: PartialOrder) -> dict[str, float]:
    """The same scores in floats, by Hildreth's method: one multiplier after the other.

    Nothing of the solver is used, its components neither: w_a = w_b is asked for where each token
    reaches the other along the pairs.
    """
    tokens = sorted({token for pair in order.pairs for token in pair})
    place = {token: number for number, token in enumerate(tokens)}
    reach = np.eye(len(tokens), dtype=bool)
    for upper, lower in order.pairs:
        reach[place[upper], place[lower]] = True
    for middle in range(len(tokens)):  # Warshall
        reach |= np.outer(reach[:, middle], reach[middle])
    rows = [
        (place[upper], place[lower], 0.0 if reach[place[lower], place[upper]] else 1.0)
        for upper, lower in sorted(order.pairs)
    ]
    w, kept = np.zeros(len(tokens)), np.zeros(len(rows))
    for _ in range(20_000):
        before = w.copy()
        for number, (a, b, margin) in enumerate(rows):
            gap = margin - (w[a] - w[b]) + 2 * kept[number]
            push = gap / 2 if margin == 0 else max(gap / 2, 0.0)
            change = push - kept[number]
            w[a] += change
            w[b] -= change
            kept[number] = push
        if np.abs(w - before).max() < 1e-13:
            break
    return {token: float(w[place[token]]) for token in tokens}
