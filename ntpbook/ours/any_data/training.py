"""Stage 2 on any data, dense in numpy: the samples need no order, and may contradict each other.

Tokens are numbers, and n is any permutation: the next token of a sample is told by the token of the
sentence that n maps to it. After stage 1, W_ov is c times a solution with margin 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Pair = tuple[int, int, int]  # query, upper token, lower token
MARKS = (300, 600, 1200, 3000)  # steps at which random data are looked at


@dataclass(frozen=True)
class Samples:
    """A data set.

    Attributes:
        sentences: tokens of each sentence, the query last.
        told: for each the token whose n is the next token; it stands in the sentence.
        counts: how often each occurs.
        vocabulary: number of tokens.
    """

    sentences: tuple[tuple[int, ...], ...]
    told: tuple[int, ...]
    counts: tuple[int, ...]
    vocabulary: int

    @property
    def pairs(self) -> list[Pair]:
        """Every comparison of Definition 1, sorted."""
        return sorted(
            {
                (sentence[-1], best, other)
                for sentence, best in zip(self.sentences, self.told, strict=True)
                for other in sentence
                if other != best
            }
        )

    @property
    def contradictory(self) -> frozenset[int]:
        """The queries whose comparisons run in a circle."""
        found = set()
        for query in {pair[0] for pair in self.pairs}:
            graph: nx.DiGraph[int] = nx.DiGraph(
                [pair[1:] for pair in self.pairs if pair[0] == query]
            )
            if not nx.is_directed_acyclic_graph(graph):
                found.add(query)
        return frozenset(found)

    @property
    def strict(self) -> list[Pair]:
        """The comparisons under queries that nothing contradicts."""
        return [pair for pair in self.pairs if pair[0] not in self.contradictory]


@dataclass(frozen=True)
class Point:
    """Training at one step.

    Attributes:
        step: steps taken.
        W: W_kq, a column for each query, shape (tokens, tokens).
        norm: of the gradient there.
    """

    step: int
    W: Floats
    norm: float


def train(
    data: Samples, marks: Iterable[int], *, scale: float = 4.0, eta: float = 0.05
) -> Iterator[Point]:
    """Normalized gradient descent on W_kq from zero, at some steps.

    Args:
        data: the samples.
        marks: the steps, increasing.
        scale: c.
        eta: step size.
    """
    V, rows = data.vocabulary, np.arange(len(data.sentences))
    longest = max(map(len, data.sentences))
    # Short sentences end in a token V, which has a row of its own and no attention.
    tokens = np.array([one + (V,) * (longest - len(one)) for one in data.sentences])
    query = np.array([one[-1] for one in data.sentences])
    weight = np.array(data.counts) / sum(data.counts)
    entry, share = tokens * V + query[:, None], rows[:, None] * (V + 1) + tokens
    W, step = np.zeros((V + 1, V)), 0
    for mark in marks:
        while True:
            scores = np.where(tokens < V, W.ravel()[entry], -np.inf)
            attention = np.exp(scores - scores.max(1, keepdims=True))
            attention /= attention.sum(1, keepdims=True)
            seen = np.bincount(share.ravel(), attention.ravel(), len(rows) * (V + 1))
            logits = scale * seen.reshape(len(rows), V + 1)[:, :V]
            wrong = np.exp(logits - logits.max(1, keepdims=True))
            wrong /= wrong.sum(1, keepdims=True)
            wrong[rows, np.array(data.told)] -= 1  # p - e
            slope = np.pad(scale * wrong, ((0, 0), (0, 1)))[rows[:, None], tokens]
            mean = (attention * slope).sum(1, keepdims=True)
            pull = weight[:, None] * attention * (slope - mean)
            G = np.bincount(entry.ravel(), pull.ravel(), (V + 1) * V).reshape(V + 1, V)
            norm = float(np.linalg.norm(G))
            if step == mark:
                yield Point(step, W[:V].copy(), norm)
                break
            W, step = W - eta * G / norm, step + 1


def margins(point: Point, pairs: Sequence[Pair]) -> Floats:
    """The margins of some comparisons."""
    query, upper, lower = np.array(pairs).T
    found: Floats = point.W[upper, query] - point.W[lower, query]
    return found


@dataclass(frozen=True)
class Trained:
    """Random data after training.

    Attributes:
        name: in words.
        data: the samples.
        points: training at the steps of `MARKS`.
    """

    name: str
    data: Samples
    points: tuple[Point, ...]

    @property
    def least(self) -> tuple[float, ...]:
        """The smallest margin under queries that nothing contradicts, at each of the steps."""
        return tuple(float(margins(one, self.data.strict).min()) for one in self.points)


def random_samples(rng: np.random.Generator, vocabulary: int = 6, contexts: int = 8) -> Samples:
    """Sentences of two to four random tokens, each with one of its tokens told, and a count."""
    sentences, told = [], []
    for _ in range(contexts):
        sentence = tuple(map(int, rng.integers(0, vocabulary, int(rng.integers(2, 5)))))
        sentences.append(sentence)
        told.append(int(rng.choice(sentence)))
    counts = tuple(map(int, rng.integers(1, 6, contexts)))
    return Samples(tuple(sentences), tuple(told), counts, vocabulary)


def random_runs(seed: int = 7, sets: int = 3, *, cycles: bool = True) -> list[Trained]:
    """So many random data sets with strict comparisons, with cycles or without, trained.

    Args:
        seed: of the data.
        sets: how many.
        cycles: whether their orders have cycles.
    """
    rng, found = np.random.default_rng(seed), list[Trained]()
    while len(found) < sets:
        data = random_samples(rng)
        if data.strict and bool(data.contradictory) == cycles:
            points = tuple(train(data, MARKS))
            found.append(Trained(f"data set {len(found) + 1}", data, points))
    return found
