"""Random training problems and orders of any size, made as arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ntpcore.problem import Problem

Integers = NDArray[np.int64]

MAX_LENGTH = 6  # of a sentence


def random_problem(rng: np.random.Generator, vocab_size: int, samples: int) -> Problem:
    """A realizable problem whose queries have up to three optimal tokens and five others.

    Each sample is a sentence of 3 to 6 tokens: one optimal token of its query, some of the query's
    other tokens, and repetitions.

    Args:
        rng: source of randomness.
        vocab_size: |V|, at least 8.
        samples: N; equal ones are merged, so that fewer remain.
    """
    uppers = rng.integers(1, 4, vocab_size)
    lowers = rng.integers(1, 6, vocab_size)
    first = rng.integers(0, vocab_size, vocab_size)  # a query's tokens are consecutive from here
    query = rng.integers(0, vocab_size, samples)
    optimal = (first[query] + rng.integers(0, uppers[query])) % vocab_size
    length = rng.integers(3, MAX_LENGTH + 1, samples)
    counts = np.zeros((samples, 5), np.int64)
    rows = np.arange(samples)
    for place in range(1, MAX_LENGTH):
        chosen = rng.integers(0, lowers[query])
        counts[rows, chosen] += (place == 1) | ((place < length) & (rng.random(samples) < 0.7))
    best_count = np.maximum(length - counts.sum(axis=1), 1)
    key = np.column_stack([query, optimal, best_count, counts])
    key, often = np.unique(key, axis=0, return_counts=True)
    return _problem(vocab_size, samples, uppers, first, key, often)


def _problem(
    size: int, samples: int, uppers: Integers, first: Integers, key: Integers, often: Integers
) -> Problem:
    """Number the entries and lay the merged samples out."""
    query, optimal, best_count, counts = key[:, 0], key[:, 1], key[:, 2], key[:, 3:]
    sample, slot = np.nonzero(counts)
    rival = (first[query[sample]] + uppers[query[sample]] + slot) % size
    best_key, rival_key = query * size + optimal, query[sample] * size + rival
    entries = np.unique(np.concatenate([best_key, rival_key]))
    return Problem(
        vocabulary=tuple(map(str, range(size))),
        following=np.roll(np.arange(size), -1),
        entry_query=entries // size,
        entry_token=entries % size,
        optimal=np.searchsorted(entries, best_key),
        optimal_count=best_count.copy(),
        start=np.concatenate([[0], np.cumsum(np.bincount(sample, minlength=len(key)))]),
        rival=np.searchsorted(entries, rival_key),
        rival_count=counts[sample, slot],
        log_pi=np.log(often / samples),
        sample_count=samples,
        max_length=MAX_LENGTH,
        log_pi_min=-float(np.log(samples)),
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
