"""The samples of a data set as far as realizability depends on them, none of them spelled out.

Every beginning of a line may be a sample, so that a line of n tokens stands for sentences of
n^2 / 2 tokens. They are kept as the distinct tokens of each line in order of appearance, and for
each sentence the number of these that it has: memory is that of the data.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nsmallest

from ntpcore.data.dataset import Dataset

_SHARES = 5040  # a weight is divided among the tokens of a sentence in parts of this
_HELD = 4_000_000  # candidates of all next tokens together; about 500 MB
_KEPT = 64  # candidates that are kept of each next token; more are counted again when they are due

Ranked = list[tuple[int, int]]  # (- weight, token), the heaviest first


@dataclass(frozen=True, eq=False)
class Table:
    """A data set, its sentences by their sets of tokens.

    Attributes:
        data: the data set, with the tokens of a given collocation in its vocabulary.
        given: next tokens that are not to be chosen.
        fresh: for each line, the distinct tokens of its longest sentence, in order of appearance.
        known: for each line and each length, how many of these tokens a sentence so long has.
    """

    data: Dataset
    given: Mapping[int, int]
    fresh: tuple[array[int], ...]
    known: tuple[array[int], ...]

    def lengths(self, place: int) -> range:
        """Lengths of the sentences of a line."""
        last = len(self.data.lines[place].tokens) - 1
        return range(1 if self.data.prefixes else last, last + 1)

    def beginnings(self, place: int) -> Iterator[tuple[int, set[int]]]:
        """The sentences of a line by their lengths, each with the set of its tokens.

        It is one set, which grows; who wants to keep it makes a copy.
        """
        if not self.data.prefixes:
            yield len(self.data.lines[place].tokens) - 1, set(self.fresh[place])
            return
        tokens = self.data.lines[place].tokens
        seen: set[int] = set()
        for length in range(1, len(tokens)):
            seen.add(tokens[length - 1])
            yield length, seen

    def allows(self, token: int, following: int) -> bool:
        """Whether the given part of the collocation leaves room for n(token) = following."""
        if token in self.given:
            return self.given[token] == following
        return following not in self._taken

    @cached_property
    def weight(self) -> int:
        """Number of all samples, counted as often as they occur."""
        return sum(
            line.count * len(self.lengths(place)) for place, line in enumerate(self.data.lines)
        )

    @cached_property
    def cells(self) -> int:
        """Tokens of the sets of all sentences together."""
        if self.data.prefixes:
            return sum(map(sum, self.known))
        return sum(map(len, self.fresh))

    @cached_property
    def followers(self) -> Mapping[int, set[int]]:
        """For each query, the tokens that follow it."""
        found: dict[int, set[int]] = {}
        for place, line in enumerate(self.data.lines):
            for length in self.lengths(place):
                found.setdefault(line.tokens[length - 1], set()).add(line.tokens[length])
        return found

    @cached_property
    def occurrences(self) -> Mapping[int, tuple[array[int], array[int]]]:
        """For each next token, the lines of its samples, and how many tokens each sentence has."""
        found: dict[int, tuple[array[int], array[int]]] = {}
        for place, line in enumerate(self.data.lines):
            known = self.known[place]
            for length in self.lengths(place):
                following = line.tokens[length]
                if following not in found:
                    found[following] = array("I"), array("I")
                lines, sizes = found[following]
                lines.append(place)
                sizes.append(known[length])
        return found

    @cached_property
    def _taken(self) -> Mapping[int, int]:
        """For each next token that a given pair uses up, its token."""
        return {following: token for token, following in self.given.items()}

    def pair_weights(self, following: int, *, shared: bool = False) -> Counter[int]:
        """C(x, y) for this y: the weight of the samples with x in them that are followed by y.

        A token of a line is in the sentences of that line that are long enough, so each line is
        walked once, from its longest sentence down, however often y occurs in it.

        Args:
            following: y.
            shared: divide the weight of a sample among its tokens (times a common factor).
        """
        found: Counter[int] = Counter()
        lines, sizes = self.occurrences[following]
        end = len(lines)
        while end:
            place, begin = lines[end - 1], end - 1
            while begin and lines[begin - 1] == place:
                begin -= 1
            fresh, count = self.fresh[place], self.data.lines[place].count
            if end - begin == 1 and count == 1 and not shared:
                found.update(fresh[: sizes[begin]])
            else:
                weight = 0
                for at in range(end - 1, begin - 1, -1):
                    weight += count * _SHARES // sizes[at] if shared else count
                    for token in fresh[sizes[at - 1] if at > begin else 0 : sizes[at]]:
                        found[token] += weight
            end = begin
        if following in self._taken:
            only = self._taken[following]
            return Counter({only: found[only]}) if only in found else Counter()
        for token in self.given:
            found.pop(token, None)
        return found

    @cached_property
    def _times(self) -> tuple[dict[tuple[int, int], int], list[int]]:
        """The beginnings that lines share, as a tree, and how often each occurs."""
        children: dict[tuple[int, int], int] = {}
        counts = [0]
        for line, start in zip(self.data.lines, self.data.starts, strict=True):
            node = 0
            for token in line.tokens[: start if self.data.prefixes else 0]:
                if (node, token) not in children:
                    children[node, token] = len(counts)
                    counts.append(0)
                node = children[node, token]
        for line in self.data.lines:
            node = 0
            for token in line.tokens:
                if (node, token) not in children:
                    break
                node = children[node, token]
                counts[node] += line.count
        return children, counts

    def times(self, place: int) -> Iterator[tuple[int, int]]:
        """The samples that no earlier line has, by length, and how often each occurs."""
        children, counts = self._times
        line, start = self.data.lines[place], self.data.starts[place]
        node: int | None = 0
        for length, token in enumerate(line.tokens):
            node = None if node is None else children.get((node, token))
            if length >= start:
                yield length, line.count if node is None else counts[node]


def index(data: Dataset, given: Mapping[int, int]) -> Table:
    """The table of a data set."""
    fresh, known = [], []
    for line in data.lines:
        tokens, seen = line.tokens, dict.fromkeys(line.tokens[:1])
        sizes = array("I", [0])
        for token in tokens[1:]:
            sizes.append(len(seen))
            seen[token] = None
        if tokens[-1] not in tokens[:-1]:
            del seen[tokens[-1]]
        fresh.append(array("I", seen))
        known.append(sizes)
    return Table(data, given, tuple(fresh), tuple(known))


@dataclass(frozen=True, eq=False)
class Choices:
    """Candidates for n^-1(y), for every next token y, the heaviest of each at hand.

    Attributes:
        first: for each y, the heaviest candidates.
        weights: counts all candidates of a y; None where `first` holds them all.
        counted: how often the candidates of a y were counted again.
    """

    first: Mapping[int, Ranked]
    weights: Callable[[int], Mapping[int, int]] | None = None
    counted: dict[int, int] = field(default_factory=dict)

    def more(self, following: int, used: Mapping[int, int]) -> Ranked:
        """The heaviest candidates of y that are not used up, twice as many as the last time.

        In a long line all next tokens want the same few tokens. With a fixed number of candidates
        each of K next tokens would be counted K / 64 times, which is cubic in K.
        """
        if self.weights is None or len(self.first[following]) < _KEPT:
            return []
        self.counted[following] = again = self.counted.get(following, 0) + 1
        most = min(_KEPT << again, max(_KEPT, _HELD // len(self.first)))
        found = self.weights(following).items()
        return sorted((-weight, token) for token, weight in found if token not in used)[:most]


def rank(weights: Mapping[int, int]) -> Ranked:
    """The heaviest candidates."""
    least = sorted(weights.values(), reverse=True)[:_KEPT][-1:]  # a sort of numbers takes no tuples
    heavy = ((-weight, token) for token, weight in weights.items() if [weight] >= least)
    return nsmallest(_KEPT, heavy)
