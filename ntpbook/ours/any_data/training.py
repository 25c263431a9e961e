"""Stage 2 on random data: the samples need no order, and may contradict each other.

Tokens are numbers, and n is any permutation: the next token of a sample is told by the token of the
sentence that n maps to it. After stage 1, W_ov is c times a solution with margin 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ntpcore.huang2024 import any_data
from ntpcore.huang2024.plain_any import MixedSample

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
class MatrixAtStep:
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
) -> Iterator[MatrixAtStep]:
    """Normalized gradient descent on W_kq from zero, at some steps.

    Args:
        data: the samples.
        marks: the steps, increasing.
        scale: c.
        eta: step size.
    """
    entries: dict[tuple[int, int], int] = {}
    mixed = [
        _mixed(sentence, told, count / sum(data.counts), entries)
        for sentence, told, count in zip(data.sentences, data.told, data.counts, strict=True)
        if len(set(sentence)) > 1
    ]
    token, query = np.array(list(entries)).T
    for now in any_data.descend(any_data.terms(mixed, data.vocabulary), marks, scale, eta):
        W = np.zeros((data.vocabulary, data.vocabulary))
        W[token, query] = now.weights
        yield MatrixAtStep(now.step, W, now.norm)


def _mixed(
    sentence: tuple[int, ...], told: int, share: float, entries: dict[tuple[int, int], int]
) -> MixedSample:
    """A sample with its entries of W_kq; n of a token is written as the token itself."""
    tokens = sorted(set(sentence))
    return MixedSample(
        tuple(entries.setdefault((token, sentence[-1]), len(entries)) for token in tokens),
        tuple(math.log(sentence.count(token)) for token in tokens),
        tuple(map(str, tokens)),
        str(told),
        share,
    )


def margins(point: MatrixAtStep, pairs: Sequence[Pair]) -> Floats:
    """The margins of some comparisons."""
    query, upper, lower = np.array(pairs).T
    found: Floats = point.W[upper, query] - point.W[lower, query]
    return found


@dataclass(frozen=True)
class TrainedSamples:
    """Random data after training.

    Attributes:
        name: in words.
        data: the samples.
        points: training at the steps of `MARKS`.
    """

    name: str
    data: Samples
    points: tuple[MatrixAtStep, ...]

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


def random_runs(seed: int = 7, sets: int = 3, *, cycles: bool = True) -> list[TrainedSamples]:
    """So many random data sets with strict comparisons, with cycles or without, trained.

    Args:
        seed: of the data.
        sets: how many.
        cycles: whether their orders have cycles.
    """
    rng, found = np.random.default_rng(seed), list[TrainedSamples]()
    while len(found) < sets:
        data = random_samples(rng)
        if data.strict and bool(data.contradictory) == cycles:
            points = tuple(train(data, MARKS))
            found.append(TrainedSamples(f"data set {len(found) + 1}", data, points))
    return found
