"""Everything that one sentence, or two, can force under a collocation on few tokens.

Sets of tokens and relations are bit masks: token x under query q is bit q |V| + x of a relation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

from ntpverdicts.once import once

HYPOTHESES = {
    "bijection": r"$\mathrm n$ is a bijection",
    "order": "no token is confused",
    "source": r"every next token is $\mathrm n$ of a token of its sentence",
    "closure": "every prefix of a sample is a sample",
}

Map = tuple[int, ...]
Line = tuple[int, ...]
Failing = Callable[[Map, "Relation"], bool]


@dataclass(frozen=True)
class Relation:
    """What the samples of some lines force, for all queries at once.

    Attributes:
        uppers: tokens with something below them, by query.
        lowers: tokens with something above them, by query.
        labels: next tokens of sentences of two or more tokens, by their last token.
    """

    uppers: int = 0
    lowers: int = 0
    labels: int = 0

    def __or__(self, other: Relation) -> Relation:
        return Relation(
            self.uppers | other.uppers, self.lowers | other.lowers, self.labels | other.labels
        )


def cycle_types(size: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """The cycle types of the permutations of this many tokens: its partitions."""
    if size == 0:
        yield ()
    for part in range(min(size, largest or size), 0, -1):
        for rest in cycle_types(size - part, part):
            yield (part, *rest)


def permutation(cycle_type: Iterable[int]) -> Map:
    """One permutation of this cycle type, as the tuple of its values."""
    n: list[int] = []
    for length in cycle_type:
        first = len(n)
        n += [first + (place + 1) % length for place in range(length)]
    return tuple(n)


def sample_relation(n: Map, seen: int, query: int, label: int) -> Relation:
    """What one sample forces (Definition 1), for the set `seen` of the tokens of its sentence."""
    size = len(n)
    sources = sum(1 << x for x in range(size) if seen >> x & 1 and n[x] == label)
    others = seen & ~sources
    uppers, lowers = (sources, others) if sources and others else (0, 0)
    return Relation(uppers << query * size, lowers << query * size)


def reachable(n: Map, dropped: str = "", longest: int | None = None) -> dict[Relation, Line]:
    """What a line can force together with all its beginnings, each with a shortest such line.

    Breadth-first over states (tokens seen, last token, relation). A state decides which tokens may
    follow and what they force, and there are finitely many; so the search, once it finds no new
    state, has covered lines of every length.

    Args:
        n: the collocation.
        dropped: a key of `HYPOTHESES` that lines need not satisfy.
        longest: stop at lines of this many tokens, label included; None runs to the end.
    """
    size = len(n)
    if dropped == "closure":
        return _single_samples(n)
    level: dict[tuple[int, int, Relation], Line]
    level = {(1 << s | 1 << n[s], n[s], Relation()): (s, n[s]) for s in range(size)}
    known = set(level)
    found: dict[Relation, Line] = {}
    length = 2
    while level:
        following: dict[tuple[int, int, Relation], Line] = {}
        for (seen, last, relation), line in level.items():
            found.setdefault(relation, line)
            if longest is not None and length >= longest:
                continue
            for label in range(size):
                if dropped != "source" and not any(seen >> x & 1 for x in _sources(n, label)):
                    continue
                more = relation | sample_relation(n, seen, last, label)
                more = more | Relation(labels=1 << last * size + label)
                state = (seen | 1 << label, label, more)
                if state not in known and (dropped == "order" or not more.uppers & more.lowers):
                    known.add(state)
                    following[state] = (*line, label)
        level, length = following, length + 1
    return found


def _sources(n: Map, label: int) -> Iterator[int]:
    """The tokens that n maps to this label."""
    return (x for x in range(len(n)) if n[x] == label)


def _single_samples(n: Map) -> dict[Relation, Line]:
    """What single samples can force, of sentences whose tokens are all different."""
    size = len(n)
    found: dict[Relation, Line] = {}
    for seen, query in product(range(1, 1 << size), range(size)):
        tokens = [x for x in range(size) if seen >> x & 1]
        if query not in tokens or len(tokens) < 2:
            continue
        sentence = (*(x for x in tokens if x != query), query)
        for label in {n[x] for x in tokens}:
            one = sample_relation(n, seen, query, label)
            one = one | Relation(labels=1 << query * size + label)
            found.setdefault(one, (*sentence, label))
    return found


def two_optimal(n: Map, relation: Relation) -> bool:
    """Whether some query has two tokens with something below and nothing above them."""
    tops = _by_query(n, relation.uppers & ~relation.lowers)
    return any(bits.bit_count() > 1 for bits in tops)


def two_next(n: Map, relation: Relation) -> bool:
    """Whether sentences of two or more tokens with one last token have two next tokens."""
    return any(bits.bit_count() > 1 for bits in _by_query(n, relation.labels))


def off_rule(n: Map, relation: Relation) -> bool:
    """Whether some next token is not f(q) = n(a), or n(q) where q orders nothing."""
    rows = zip(_by_query(n, relation.labels), _by_query(n, relation.uppers), strict=True)
    return any(
        labels and labels != 1 << n[uppers.bit_length() - 1 if uppers else query]
        for query, (labels, uppers) in enumerate(rows)
    )


def _by_query(n: Map, mask: int) -> list[int]:
    """The bits of each query."""
    size = len(n)
    return [mask >> query * size & (1 << size) - 1 for query in range(size)]


@dataclass(frozen=True)
class Pairs:
    """Two lines at a time, for one collocation.

    Attributes:
        relations: number of different relations that single lines force.
        tried: number of pairs of them, a relation with itself included.
        allowed: number of pairs in which no token is confused.
        failures: the pairs of lines that are allowed and break the conclusion.
    """

    relations: int
    tried: int
    allowed: int
    failures: tuple[tuple[Line, Line], ...]


@once
def compare_pairs(n: Map, failing: Failing, dropped: str = "", longest: int | None = None) -> Pairs:
    """Put any two lines together and see whether the conclusion survives."""
    lines = reachable(n, dropped, longest)
    tried = allowed = 0
    failures = []
    for one, other in combinations_with_replacement(lines, 2):
        tried += 1
        both = one | other
        if both.uppers & both.lowers and dropped != "order":
            continue
        allowed += 1
        if failing(n, both):
            failures.append((lines[one], lines[other]))
    return Pairs(len(lines), tried, allowed, tuple(failures))


def collocations(size: int, dropped: str = "") -> Iterator[Map]:
    """One permutation of each cycle type; without "bijection", the maps that are none."""
    if dropped != "bijection":
        yield from (permutation(cycle_type) for cycle_type in cycle_types(size))
    else:
        yield from (n for n in product(range(size), repeat=size) if len(set(n)) < size)
