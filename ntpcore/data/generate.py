"""Random realizable data sets, prefix-closed and not, with and without Assumption 3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ntpcore.data.dataset import Dataset, from_samples, from_sentences
from ntpcore.data.order import PartialOrder


@dataclass(frozen=True)
class Experiment:
    """A data set with the parameters of Algorithm 1.

    Attributes:
        data: the training data.
        eta0: step size of stage 1.
        eta: step size of stage 2.
        steps1: T, the number of steps of stage 1.
        steps2: the number of steps of stage 2.
    """

    data: Dataset
    eta0: float
    eta: float
    steps1: int
    steps2: int


def experiment(
    seed: int,
    *,
    sentences: int = 40,
    max_length: int = 6,
    prefix_closed: bool = True,
    frequent: bool = True,
) -> Experiment:
    """The experiment of the paper: |V| = 20 tokens, dimension d = |V|, 900 steps in each stage.

    The paper says only that its data are random and realizable. The number and the length of the
    sentences are choices of this book.

    Args:
        seed: the seed of the random data.
        sentences: as for `random_dataset`.
        max_length: as for `random_dataset`.
        prefix_closed: as for `random_dataset`.
        frequent: as for `random_dataset`.

    Source: huang2024, Section 7.
    """
    size = 20
    data = random_dataset(
        np.random.default_rng(seed),
        size,
        sentences,
        max_length,
        prefix_closed=prefix_closed,
        frequent=frequent,
    )
    return Experiment(data, 0.2 / size**0.5, 0.05 / size**0.5, 900, 900)


def random_dataset(
    rng: np.random.Generator,
    vocab_size: int,
    sentences: int,
    max_length: int,
    *,
    prefix_closed: bool = True,
    frequent: bool = True,
) -> Dataset:
    """A random data set that satisfies Assumption 1; its collocation is a random permutation.

    Args:
        rng: source of randomness.
        vocab_size: |V|, at least 2.
        sentences: how many sentences are drawn in addition to the |V| one-token sentences; equal
            sentences are merged, and if not `prefix_closed`, some draws give no sentence.
        max_length: the greatest length of a sentence, without its next token, at least 2.
        prefix_closed: whether every prefix of a sample is a sample (huang2024, Section 3). If so,
            each query has at most one optimal token, so the first token and the length determine a
            sentence, and at most |V| max_length samples are distinct. If not, a query may have
            several optimal tokens.
        frequent: whether to enforce Assumption 3, too; if not, Assumption 3 may fail.

    Raises:
        ValueError: a size is too small.
    """
    if vocab_size < 2 or max_length < 2 or sentences < 1:
        raise ValueError("give vocab_size >= 2, max_length >= 2 and sentences >= 1")
    collocation = [int(token) for token in rng.permutation(vocab_size)]
    if prefix_closed:
        return _closed(rng, collocation, sentences, max_length, frequent)
    return _open(rng, collocation, sentences, max_length, frequent)


def _closed(
    rng: np.random.Generator, n: list[int], sentences: int, max_length: int, frequent: bool
) -> Dataset:
    """Grow sentences token by token; each query keeps the first optimal token that it was given."""
    optimal: dict[int, int] = {}
    lines = [[x, n[x]] for x in range(len(n))]
    for start in rng.integers(len(n), size=sentences):
        line = [int(start)]
        for _ in range(int(rng.integers(2, max_length + 1))):
            query, seen = line[-1], sorted(set(line))
            chosen = query
            if len(seen) > 1:
                chosen = optimal.setdefault(query, int(rng.choice(seen)))
            counts = [line.count(token) for token in seen]
            if chosen not in seen or (frequent and line.count(chosen) < max(counts)):
                break
            line.append(n[chosen])
        lines.append(line)
    return from_sentences([[f"t{x}" for x in line] for line in lines], "random, prefix-closed")


def _open(
    rng: np.random.Generator, n: list[int], sentences: int, max_length: int, frequent: bool
) -> Dataset:
    """Give each query a side of optimal and one of non-optimal tokens, then draw sentences."""
    size = len(n)
    above = rng.random((size, size)) < 0.5  # above[q, x]: x may be optimal under query q
    samples: list[tuple[list[str], str]] = [([f"t{x}"], f"t{n[x]}") for x in range(size)]
    for _ in range(sentences):
        query = int(rng.integers(size))
        uppers = [x for x in range(size) if above[query, x]]
        lowers = [x for x in range(size) if not above[query, x]]
        chosen = query if above[query, query] else int(rng.choice(uppers)) if uppers else -1
        if chosen < 0 or not lowers:
            continue
        length = int(rng.integers(2, max_length + 1))
        others = [int(x) for x in rng.choice(lowers, size=length - 1)]
        if query != chosen:
            others[-1] = query
        sentence = _arrange(rng, chosen, others, query, frequent)
        samples.append(([f"t{x}" for x in sentence], f"t{n[chosen]}"))
    return from_samples(samples, "random, not prefix-closed")


def _arrange(
    rng: np.random.Generator, chosen: int, others: list[int], query: int, frequent: bool
) -> list[int]:
    """A sentence of the optimal token and the others that ends in the query.

    For Assumption 3, tokens that would outnumber the optimal one give their places to it.
    """
    kept: list[int] = []
    for token in reversed(others):
        crowded = frequent and token in kept
        kept.append(chosen if crowded else token)
    body = [chosen, *kept]
    body.remove(query)
    return [*(int(x) for x in rng.permutation(body)), query]


def random_order(
    rng: np.random.Generator, max_optimal: int, max_nonoptimal: int, density: float
) -> PartialOrder:
    """A random bipartite order in which each token occurs in at least one pair.

    Args:
        rng: source of randomness.
        max_optimal: the greatest number of optimal tokens, at least 1.
        max_nonoptimal: the greatest number of non-optimal tokens, at least 1.
        density: the probability of each pair; a token left without a pair then receives one.
    """
    k = int(rng.integers(1, max_optimal + 1))
    m = int(rng.integers(1, max_nonoptimal + 1))
    keep = rng.random((k, m)) < density
    for a in range(k):
        keep[a, rng.integers(m)] |= not keep[a].any()
    for b in range(m):
        keep[rng.integers(k), b] |= not keep[:, b].any()
    pairs = [
        (f"a{a}", "q" if b == 0 else f"b{b}") for a in range(k) for b in range(m) if keep[a, b]
    ]
    return PartialOrder.of("q", pairs)
