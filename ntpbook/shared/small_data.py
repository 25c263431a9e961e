"""Small training data for proofs to be tried on: ends of ranges, random data with heavy tails."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp

from ntpbook.shared import plain_stage2 as plain
from ntpbook.shared.plain_stage2 import Data, Sample, Weights


def shares(*parts: Any) -> list[Any]:
    """Numbers in proportion, with the sum 1."""
    total = mp.fsum(mp.mpf(part) for part in parts)
    return [mp.mpf(part) / total for part in parts]


def example_1() -> Data:
    """The paper's Example 1 by hand: SVOP, VOP, OPP, PSV with S, V, O, P = 0, 1, 2, 3.

    Of the nine samples, each with the share 1/9, these five compare tokens: S V before O, S V O and
    V O before P, O P before P, P S before V.
    """
    S, V, O, P = range(4)  # noqa: E741 (the names of the paper)
    rows = ((V, V, (S,)), (O, O, (S, V)), (O, O, (V,)), (P, O, (P,)), (S, S, (P,)))
    ninth = mp.mpf(1) / 9
    return Data(
        4, tuple(Sample(q, o, 1, tuple((j, 1) for j in rivals), ninth) for q, o, rivals in rows)
    )


def edges() -> dict[str, Data]:
    """Small data at the ends of ranges; query and optimal token stand in every sentence."""
    tiny = mp.exp(-40)
    half = shares(1, 1)
    return {
        "one pair": Data(2, (Sample(1, 0, 1, ((1, 1),), mp.mpf(1)),)),
        "one pair, many tokens": Data(10**6, (Sample(1, 0, 1, ((1, 1),), mp.mpf(1)),)),
        "two pairs, one rare": Data(
            4,
            tuple(
                Sample(2 * i + 1, 2 * i, 1, ((2 * i + 1, 1),), p)
                for i, p in enumerate(shares(1, tiny))
            ),
        ),
        "slack pair": Data(
            5,
            (
                Sample(4, 0, 1, ((2, 1), (3, 1), (4, 1)), half[0]),
                Sample(4, 1, 1, ((4, 1),), half[1]),
            ),
        ),
        "idle pair": Data(
            4, (Sample(3, 0, 1, ((2, 1), (3, 1)), half[0]), Sample(3, 1, 1, ((3, 1),), half[1]))
        ),
        "two optimal tokens": Data(
            6,
            (
                Sample(4, 0, 3, ((2, 1), (4, 3)), half[0]),
                Sample(4, 1, 2, ((3, 2), (4, 1)), half[1]),
            ),
        ),
        "one rival a thousand times": Data(
            4, (Sample(1, 0, 1000, ((1, 1000), (2, 1), (3, 1)), mp.mpf(1)),)
        ),
        "four queries, heavy tails": Data(
            8,
            tuple(
                Sample(q, q, 1 + q, ((q + 4, 1), ((q + 5) % 4 + 4, 1 + q)), p)
                for q, p in enumerate(shares(1, 1e-3, 1e-9, 1e-30))
            ),
        ),
    }


def random_data(rng: np.random.Generator, *, frequent: bool = True) -> Data:
    """Up to three queries with up to three optimal tokens and four rivals; heavy-tailed shares.

    With several optimal tokens the query is a rival in each sentence; else it may be optimal.

    Args:
        rng: source of randomness.
        frequent: whether Assumption 3 holds.
    """
    size = int(rng.integers(3, 9))
    size = 12 if size == 8 else size
    rows: list[tuple[int, int, int, dict[int, int]]] = []
    for query in range(int(rng.integers(1, 4))):
        tokens = [int(v) for v in rng.permutation(size) if v != query % size]
        k = int(rng.integers(1, 3 if size < 6 else 4))
        above, below = tokens[:k], [query % size, *tokens[k:]][: int(rng.integers(1, 5))]
        for a in above:
            for _ in range(int(rng.integers(1, 3))):
                chosen = [b for b in below if b == query % size or rng.random() < 0.6]
                count = int(rng.integers(1, 4))
                most = count + 1 if frequent else 6
                rows.append((query, a, count, {b: int(rng.integers(1, most)) for b in chosen}))
    logs = -rng.exponential(float(rng.choice([0.1, 3.0, 30.0])), len(rows))
    parts = shares(*(mp.exp(value) for value in logs))
    return Data(
        size,
        tuple(
            Sample(q, a, count, tuple(sorted(rivals.items())), pi)
            for (q, a, count, rivals), pi in zip(rows, parts, strict=True)
        ),
    )


def random_state(rng: np.random.Generator, data: Data) -> Weights:
    """Weights of a random size with no negative effective margin, some of them just zero."""
    scale = 10.0 ** rng.uniform(-2, 3)
    W = {place: mp.mpf(float(rng.normal()) * scale) for place in data.star}
    for sample in data.samples:
        least = min(plain.effective_margins(sample, W))
        if least < 0:
            W[sample.query, sample.optimal] -= least
    return W
