"""Hypothesis strategies: orders, realizable data sets of both kinds, and arbitrary messy data."""

from __future__ import annotations

import random
from itertools import product

import literal
from hypothesis import strategies as st

from ntpcore.data.dataset import Dataset, from_samples, from_sentences
from ntpcore.data.order import PartialOrder

Line = list[str]
RawSample = tuple[list[str], str, int]


@st.composite
def orders(draw: st.DrawFn, max_optimal: int = 4, max_nonoptimal: int = 5) -> PartialOrder:
    """A bipartite order, complete or not, connected or not."""
    lowers = ["q", *(f"b{i}" for i in range(1, draw(st.integers(1, max_nonoptimal))))]
    below = st.sets(st.sampled_from(lowers), min_size=1)
    rows = draw(st.lists(below, min_size=1, max_size=max_optimal))
    return PartialOrder.of("q", {(f"a{i}", b) for i, row in enumerate(rows) for b in row})


def random_order(rng: random.Random, max_optimal: int, max_nonoptimal: int) -> PartialOrder:
    """An order without isolated tokens, sparse or dense."""
    uppers = [f"a{i}" for i in range(rng.randint(1, max_optimal))]
    lowers = [f"b{i}" for i in range(rng.randint(1, max_nonoptimal))]
    density = rng.random() / 2
    pairs = {pair for pair in product(uppers, lowers) if rng.random() < density}
    pairs |= {(a, rng.choice(lowers)) for a in uppers} | {(rng.choice(uppers), b) for b in lowers}
    return PartialOrder.of("q", pairs)


@st.composite
def prefix_closed_data(draw: st.DrawFn) -> Dataset:
    """Realizable text data: lines grow as long as Assumption 1 survives."""
    tokens = [f"t{i}" for i in range(draw(st.integers(2, 5)))]
    n = dict(zip(tokens, draw(st.permutations(tokens)), strict=True))
    lines: list[Line] = [[token, n[token]] for token in tokens]
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.sampled_from(tokens))
        line = [start, n[start]]
        for _ in range(draw(st.integers(0, 5))):
            longer = [*line, n[draw(st.sampled_from(line))]]
            if not literal.read(from_sentences([*lines, longer])).realizable:
                break
            line = longer
        lines.append(line)
    return from_sentences(draw(st.permutations(lines)))


@st.composite
def several_optimal_data(draw: st.DrawFn) -> Dataset:
    """Realizable samples, in which a query may have several optimal tokens.

    Each query divides the tokens into optimal and non-optimal ones; a sentence holds one optimal
    token, often enough for Assumption 3 or not, and some non-optimal ones before its query.
    """
    tokens = [f"t{i}" for i in range(draw(st.integers(3, 7)))]
    n = dict(zip(tokens, draw(st.permutations(tokens)), strict=True))
    samples: list[RawSample] = [([token], n[token], 1) for token in tokens]
    for query in draw(st.lists(st.sampled_from(tokens), min_size=1, max_size=2, unique=True)):
        others = draw(st.permutations([token for token in tokens if token != query]))
        k = draw(st.integers(1, len(others) - 1))
        for optimal in others[:k]:
            for rivals in draw(st.lists(st.sets(st.sampled_from(others[k:])), max_size=2)):
                body = [optimal] * draw(st.integers(1, 2)) + sorted(rivals)
                samples.append(([*body, query], n[optimal], draw(st.integers(1, 3))))
    return from_samples(samples)


def realizable_data() -> st.SearchStrategy[Dataset]:
    """Realizable data of both kinds."""
    return prefix_closed_data() | several_optimal_data()


_TOKENS = st.sampled_from("abcd")


@st.composite
def messy_lines(draw: st.DrawFn) -> list[Line]:
    """Any lines with a sample among them; often the second token is a function of the first."""
    lines = draw(st.lists(st.lists(_TOKENS, max_size=7), max_size=7))
    if draw(st.booleans()):
        n = {token: draw(_TOKENS) for token in "abcd"}
        lines = [[token, n[token]] for token in n] + [
            [line[0], n[line[0]], *line[1:]] for line in lines if line
        ]
    return [*lines, draw(st.lists(_TOKENS, min_size=2, max_size=4))][
        :: draw(st.sampled_from([1, -1]))
    ]


@st.composite
def messy_samples(draw: st.DrawFn) -> list[RawSample]:
    """Any samples; often each token has one next token."""
    sentences = st.lists(_TOKENS, min_size=draw(st.sampled_from([1, 2])), max_size=6)
    samples = draw(
        st.lists(st.tuples(sentences, _TOKENS, st.integers(1, 3)), min_size=1, max_size=8)
    )
    if draw(st.booleans()):
        samples += [([token], draw(_TOKENS), 1) for token in "abcd"]
    return samples


def messy_data() -> st.SearchStrategy[Dataset]:
    """Data of both kinds that may break any assumption."""
    return messy_lines().map(from_sentences) | messy_samples().map(from_samples)


@st.composite
def tiny_data(draw: st.DrawFn) -> Dataset:
    """Data of both kinds with three tokens and six samples at most, so that all parts are tried."""
    token = st.sampled_from("abc")
    if draw(st.booleans()):
        sentence = st.lists(token, min_size=1, max_size=5)
        sample = st.tuples(sentence, token, st.integers(1, 3))
        return from_samples(draw(st.lists(sample, min_size=1, max_size=6)))
    lines = draw(st.lists(st.lists(token, min_size=2, max_size=4), min_size=1, max_size=2))
    return from_sentences(lines * draw(st.integers(1, 2)))
