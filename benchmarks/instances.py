"""Random training problems and orders of any size, made as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore.huang2024.problem import Problem

Integers = NDArray[np.int64]

MAX_LENGTH = 6  # of a sentence
MOST_UPPER, MOST_LOWER = 3, 5  # tokens of a query


@dataclass(frozen=True, eq=False)
class Samples:
    """N sentences, one by one, over the tokens 0, ..., |V| - 1.

    The tokens of query q are q itself and those that follow it in the cycle of all tokens. Some of
    them are optimal, never q itself, which is in each of its sentences.

    Attributes:
        vocab_size: |V|.
        query: (N,), the last token of each sentence.
        optimal: (N,), its optimal token.
        tokens: (N, MAX_LENGTH), its tokens, then -1 where it is shorter.
    """

    vocab_size: int
    query: Integers
    optimal: Integers
    tokens: Integers


def random_samples(rng: np.random.Generator, vocab_size: int, samples: int) -> Samples:
    """Realizable samples of 3 to 6 tokens, whose queries have up to three optimal tokens.

    Args:
        rng: source of randomness.
        vocab_size: |V|, at least 8.
        samples: N.
    """
    uppers = rng.integers(1, MOST_UPPER + 1, vocab_size)
    lowers = rng.integers(0, MOST_LOWER, vocab_size)
    query = rng.integers(0, vocab_size, samples)
    optimal = (query + 1 + rng.integers(0, uppers[query])) % vocab_size
    tokens = np.full((samples, MAX_LENGTH), -1)
    tokens[:, 0], tokens[:, 1] = query, optimal
    length = rng.integers(3, MAX_LENGTH + 1, samples)
    for place in range(2, MAX_LENGTH):
        drawn = rng.integers(0, lowers[query] + 2)  # the optimal token, the query, or another
        other = (query + uppers[query] + drawn - 1) % vocab_size
        chosen = np.where(drawn == 0, optimal, np.where(drawn == 1, query, other))
        tokens[:, place] = np.where(place < length, chosen, -1)
    return Samples(vocab_size, query, optimal, tokens)


def problem_of(samples: Samples) -> Problem:
    """The training problem of some samples, equal ones merged."""
    size, number = samples.vocab_size, len(samples.query)
    ordered = np.sort(samples.tokens, axis=1)
    rows = np.column_stack([samples.query, samples.optimal, ordered])
    rows, often = np.unique(rows, axis=0, return_counts=True)
    query, optimal, tokens = rows[:, 0], rows[:, 1], rows[:, 2:]
    new = np.ones(tokens.shape, bool)
    new[:, 1:] = tokens[:, 1:] != tokens[:, :-1]
    counts = (tokens[:, :, None] == tokens[:, None, :]).sum(axis=2)
    best = tokens == optimal[:, None]
    sample, place = np.nonzero(new & ~best & (tokens >= 0))
    best_key, rival_key = query * size + optimal, query[sample] * size + tokens[sample, place]
    entries = np.unique(np.concatenate([best_key, rival_key]))
    return Problem(
        vocabulary=tuple(map(str, range(size))),
        following=np.roll(np.arange(size), -1),
        entry_query=entries // size,
        entry_token=entries % size,
        optimal=np.searchsorted(entries, best_key),
        optimal_count=best.sum(axis=1),
        start=np.concatenate([[0], np.cumsum(np.bincount(sample, minlength=len(rows)))]),
        rival=np.searchsorted(entries, rival_key),
        rival_count=counts[sample, place],
        log_pi=np.log(often / number),
        sample_count=number,
        max_length=MAX_LENGTH,
        log_pi_min=-float(np.log(number)),
        prefix_closed=False,
        frequent=False,
    )


def random_graph(
    rng: np.random.Generator, pairs: int, side: int, power: float = 1.0
) -> tuple[Integers, Integers]:
    """Distinct pairs of `side` optimal and `side` other tokens; a power above 1 favours a few."""
    ends = (side * rng.random((2, 2 * pairs)) ** power).astype(np.int64)
    key = np.sort(rng.permutation(np.unique(ends[0] * side + ends[1]))[:pairs])
    return key // side, side + key % side


def layered_graph(rng: np.random.Generator, layers: int) -> tuple[Integers, Integers, int]:
    """Pairs in layers, each of which leans on the one below; and the number of entries.

    A layer has 20 optimal tokens, each above 10 others of its own layer and the one below, and
    between 20 and 26 others. So what is too much in one layer finds room many layers away.
    """
    keys: list[Integers] = []
    others = 26 * layers
    for layer in range(layers):
        for token in range(20 * layer, 20 * (layer + 1)):
            for below in {layer, max(layer - 1, 0)}:
                drawn = rng.choice(20 + below % 7, 5, replace=False)
                keys.append(token * others + 26 * below + drawn)
    key = np.sort(np.concatenate(keys))
    return key // others, 20 * layers + key % others, 20 * layers + others
