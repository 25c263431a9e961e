"""Data that satisfy the hypotheses of prefix closure, and the smallest that lack one of them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from ntpbook.huang2024.s4_prefix_closure.line_search import (
    Failing,
    Line,
    Map,
    Relation,
    collocations,
    compare_pairs,
    sample_relation,
    two_optimal,
)
from ntpcore.data.dataset import Dataset, from_samples, from_sentences
from ntpcore.data.examples import example_1
from ntpcore.data.order import Structure, analyse
from ntpverdicts.once import once

_BROKEN_BY = {
    "collocation-missing": "bijection",
    "collocation-ambiguous": "bijection",
    "collocation-not-injective": "bijection",
    "confused-token": "order",
    "next-token-unexplained": "source",
}


def broken_hypotheses(structure: Structure) -> frozenset[str]:
    """The keys of `line_search.HYPOTHESES` that a data set does not satisfy."""
    broken = {_BROKEN_BY[rule] for rule in structure.realizable.counts or {}}
    return frozenset(broken if structure.data.prefix_closed else broken | {"closure"})


@once
def random_structures(seed: int = 7, trials: int = 200) -> tuple[Structure, ...]:
    """Example 1 and random data of six to twelve tokens and sentences of up to eight."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(6, 13, size=trials).tolist()
    return tuple(
        analyse(data)
        for data in (example_1(), *(random_closed(rng, size, 12, 8) for size in sizes))
    )


def random_closed(
    rng: np.random.Generator, vocab_size: int, sentences: int, max_length: int
) -> Dataset:
    """A random data set that satisfies the four hypotheses, built from these alone.

    A sentence goes on with n of a random token of its own, as long as no token gets confused. How
    many optimal tokens a query has is left to chance, so that the theorem is put to the test.

    Args:
        rng: source of randomness.
        vocab_size: |V|; the collocation is a random permutation.
        sentences: how many sentences are drawn beside those of one token.
        max_length: longest sentence before its next token.
    """
    n = tuple(int(x) for x in rng.permutation(vocab_size))
    lines = [[x, n[x]] for x in range(vocab_size)]
    forced = Relation()
    for start in rng.integers(vocab_size, size=sentences):
        line = [int(start), n[int(start)]]
        for _ in range(int(rng.integers(1, max_length))):
            seen = sum(1 << x for x in set(line))
            choices = [
                (n[x], forced | sample_relation(n, seen, line[-1], n[x])) for x in sorted(set(line))
            ]
            choices = [choice for choice in choices if not choice[1].uppers & choice[1].lowers]
            if not choices:
                break
            label, forced = choices[int(rng.integers(len(choices)))]
            line.append(label)
        lines.append(line)
    return from_sentences([[f"t{x}" for x in line] for line in lines], "random, prefix-closed")


@once
def smallest_without(dropped: str, failing: Failing = two_optimal) -> Dataset:
    """The smallest data set that breaks the conclusion without this hypothesis.

    Fewest tokens first, then the shortest longest line, then the fewest places in both lines; no
    sentence has two next tokens.

    Raises:
        ValueError: none exists with up to four tokens and lines of up to six places.
    """
    for size, longest in product(range(1, 5), range(2, 7)):
        found = [
            (sum(map(len, set(pair))), n, pair)
            for n in collocations(size, dropped)
            for pair in compare_pairs(n, failing, dropped, longest).failures
            if _single_valued(*pair)
        ]
        if found:
            _, n, pair = min(found)
            return spelled_out(n, pair, dropped)
    raise ValueError(f"no small data set breaks the conclusion without {dropped!r}")


def _single_valued(one: Line, other: Line) -> bool:
    """Whether two lines never go on differently after the same beginning."""
    shared = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), None)
    return shared is None or shared == 0


def spelled_out(n: Map, pair: Iterable[Line], dropped: str = "") -> Dataset:
    """A data set of these lines and all one-token sentences, its tokens named a, b, c, ..."""
    singles = [(x, n[x]) for x in range(len(n))]
    lines = ["".join("abcdefgh"[x] for x in line) for line in dict.fromkeys([*singles, *pair])]
    name = f"without {dropped!r}"
    if dropped == "closure":
        return from_samples([(tuple(line[:-1]), line[-1]) for line in lines], name)
    return from_sentences([list(line) for line in lines], name)


def describe(data: Dataset) -> str:
    """A small data set in words: its collocation and its longer lines."""
    words = [[data.vocabulary[x] for x in line.tokens] for line in data.lines]
    n = ", ".join(f"{line[0]} → {line[1]}" for line in words if len(line) == 2)
    rest = [f"{' '.join(line[:-1])} → {line[-1]}" for line in words if len(line) > 2]
    return f"n: {n}; {' and '.join(rest)}"


def nested_arcs() -> Dataset:
    """Two sentences around a cycle of eight tokens that would give their last token two rules."""
    cycle = [[str(x), str((x + 1) % 8)] for x in range(8)]
    return from_sentences([*cycle, list("1234563"), list("34565")], "nested arcs")


def all_continuations(size: int = 5, longest: int = 6) -> Dataset:
    """A cycle of tokens, each of which starts a sentence that follows n at every step."""
    lines = [[str((x + step) % size) for step in range(longest + 1)] for x in range(size)]
    return from_sentences(lines, "all continuations")
