"""The largest realizable part of a data set: which samples to drop so that Assumption 1 holds.

A set of samples is *realizable* if a collocation n, a bijection of the vocabulary, exists such that
the next token of every sample is n of a token of its sentence and no order of Definition 1 has a
confused token (huang2024, Assumption 1). As n is injective, one token o alone of a sentence can be
the one with n(o) = next token, and Definition 1 puts it above all others of the sentence. So only
three things of a sample matter: its set of tokens, its query and its next token. A part is
realizable exactly if there are n and, for each query q, a set U(q) of tokens, such that every kept
sample with tokens X, query q and next token y satisfies

1. o = n^-1(y) is in X, and
2. X meets U(q) in o alone, unless o is the only token of X.

If n and U exist, tokens of U(q) have nothing above them under q and the others nothing below, so
none is confused. If a part is realizable by n, let U(q) hold the tokens with something below them
under q: they have nothing above them, which is 2. Rows 1 and 2 are what the program of
`repair_program` says in integers, and what the greedy search below maintains.

Under q only tokens of T(q) = {n^-1(y): y follows q somewhere} can ever lie above others. So U(q) is
a part of it, and of a sample nothing is needed but o and the tokens that X and T(q) share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush

from ntpcore.data.dataset import Dataset, InputError, from_samples
from ntpcore.data.order import SampleAt, with_tokens
from ntpcore.exact.repair_bounds import HeaviestPairs, rivals_bound
from ntpcore.exact.repair_table import Choices, Ranked, Table, index, rank

MAX_CELLS = 60_000_000  # tokens of all sentences, every beginning by itself; 1 GB
MOST_SPELLED = 20_000_000  # tokens of kept samples that are written one by one; about 1 GB
_SPEED = 500_000  # tokens of sentences that the search takes in a second, as measured
_ROUNDS = 8
COUNTED = "counted"  # the bound: whole numbers, added up

Uppers = Mapping[int, set[int]]  # for each query, the tokens that may lie above others


@dataclass(frozen=True)
class Dropped:
    """A sample to drop.

    Attributes:
        at: where it is.
        count: how often it occurs.
        reason: what it would contradict, in words.
    """

    at: SampleAt
    count: int
    reason: str


@dataclass(frozen=True, eq=False)
class Repair:
    """A realizable part of a data set, and how much larger another one could be.

    Attributes:
        table: the data set.
        sources: the map from y to n^-1(y), for every token of the vocabulary.
        above: for each query, the tokens that a kept sample puts above others.
        flags: for each line and each length, whether the sample is kept.
        kept_weight: number of kept samples, counted as often as they occur.
        bound: no realizable part has more.
        method: how it was found.
        proved: how one knows the bound, in words.
    """

    table: Table
    sources: Mapping[int, int]
    above: Uppers
    flags: tuple[bytearray, ...]
    kept_weight: int
    bound: int
    method: str
    proved: str

    @cached_property
    def collocation(self) -> Mapping[str, str]:
        """n, for every token of the vocabulary."""
        names = self.table.data.vocabulary
        image = {token: following for following, token in self.sources.items()}
        return {name: names[image[number]] for number, name in enumerate(names)}

    @property
    def gap(self) -> int:
        """How many more samples a better part could keep at most; 0 proves this one largest."""
        return self.bound - self.kept_weight

    @property
    def share(self) -> float:
        """Share of next tokens that the kept part explains, each counted as often as it occurs."""
        return self.kept_weight / self.table.weight

    def _samples(self, keep: bool) -> Iterator[tuple[SampleAt, int]]:
        """The distinct samples that are kept, or dropped, and how often each occurs."""
        for place, flags in enumerate(self.flags):
            if any(flags[length] == keep for length in self.table.lengths(place)):
                for length, count in self.table.times(place):
                    if flags[length] == keep:
                        yield SampleAt(place, length), count

    def kept(self) -> Iterator[tuple[SampleAt, int]]:
        """The kept samples in order of first appearance, and how often each occurs."""
        return self._samples(True)

    def dropped(self) -> Iterator[Dropped]:
        """All other samples in order of first appearance, each with the reason."""
        for at, count in self._samples(False):
            yield Dropped(at, count, self._reason(at))

    @cached_property
    def kept_count(self) -> int:
        """Number of distinct samples that are kept."""
        starts = self.table.data.starts
        return sum(sum(flags[start:]) for flags, start in zip(self.flags, starts, strict=True))

    @property
    def dropped_count(self) -> int:
        """Number of distinct samples that are dropped."""
        return self.table.data.sample_count - self.kept_count

    @cached_property
    def unexplained_weight(self) -> int:
        """Weight of the samples whose next token is n of no token of the sentence."""
        return sum(
            line.count
            for place, line in enumerate(self.table.data.lines)
            for length, seen in self.table.beginnings(place)
            if self.sources[line.tokens[length]] not in seen
        )

    def rest(self) -> Dataset | None:
        """The kept samples as a data set; None where nothing can be kept.

        Raises:
            InputError: spelled out one by one, they would not fit.
        """
        rows = [(*spell(self.table, at), count) for at, count in self.listed()]
        return from_samples(rows, f"part of {self.table.data.name}") if rows else None

    def listed(self) -> Iterator[tuple[SampleAt, int]]:
        """The kept samples, to be spelled out one by one.

        Raises:
            InputError: they are too many, or too long.
        """
        size = sum(
            length
            for flags, start in zip(self.flags, self.table.data.starts, strict=True)
            for length in range(start, len(flags))
            if flags[length]
        )
        if size > MOST_SPELLED:
            raise InputError(
                f"{self.table.data.name}: the kept samples, each spelled out, hold {size} tokens, "
                f"and {MOST_SPELLED} fit; use a part of the file"
            )
        return self.kept()

    def _reason(self, at: SampleAt) -> str:
        """Why a sample is dropped, in words."""
        names, line = self.table.data.vocabulary, self.table.data.lines[at.line]
        query, following = line.tokens[at.length - 1], line.tokens[at.length]
        tokens = set(self.table.fresh[at.line][: self.table.known[at.line][at.length]])
        top = self.sources[following]
        if top not in tokens:
            return (
                f"its next token {names[following]!r} is n({names[top]!r}), and "
                f"{names[top]!r} is not in the sentence"
            )
        rivals = (tokens - {top}) & self.above.get(query, set())
        if not rivals:
            return (
                f"it puts {names[top]!r} above others under query {names[query]!r}, where kept "
                "samples put it below"
            )
        return (
            f"it puts {names[top]!r} above {names[min(rivals)]!r}, which kept samples put above "
            f"others under query {names[query]!r}"
        )


def spell(table: Table, at: SampleAt) -> tuple[tuple[str, ...], str]:
    """Sentence and next token of a sample."""
    data = table.data
    words = [data.vocabulary[token] for token in data.lines[at.line].tokens[: at.length + 1]]
    return tuple(words[:-1]), words[-1]


def tabulate(
    data: Dataset, given: Mapping[str, str] | None = None, *, max_cells: int = MAX_CELLS
) -> Table:
    """The samples of a data set, in memory of the size of the data.

    Raises:
        InputError: the given collocation is not injective, or the search would take too long.
    """
    data = with_tokens(data, given or {})
    numbers = {token: number for number, token in enumerate(data.vocabulary)}
    first: dict[str, str] = {}
    for token, following in (given or {}).items():
        if first.setdefault(following, token) != token:
            raise InputError(
                f"{data.name}: the given collocation maps {first[following]!r} and {token!r} to "
                f"{following!r}; no part is realizable with it, so leave one of them out"
            )
    fixed = {numbers[token]: numbers[following] for token, following in (given or {}).items()}
    table = index(data, fixed)
    if table.cells > max_cells:
        minutes = max(1, round(table.cells / _SPEED / 60))
        raise InputError(
            f"{data.name}: its sentences, every beginning by itself, hold {table.cells} distinct "
            f"tokens, more than {max_cells}; the search would take some {minutes} minutes; put one "
            "sentence on a line, use a part of the file, or raise --memory (max_cells= of tabulate)"
        )
    return table


def solve_greedy(table: Table) -> Repair:
    """A realizable part that no single change improves; fast, and often far from the largest.

    First the heaviest pairs become the collocation, then the best tokens of each query its upper
    ones, and the two are chosen anew in turn as long as that helps.

    Time is linear in the cells of the table, the distinct tokens of all sentences together. With
    lines of bounded length, these grow as the text does. A single line of n tokens has up to n^2/2
    of them; with words by Zipf's law, as n^1.8: 1.0 million for 2000 tokens, 3.5 for 4000.
    """
    best: tuple[int, dict[int, int], dict[int, set[int]]] | None = None
    pairs = HeaviestPairs()
    for shared in (True, False):
        sources = _match(table, _choices(table, None if shared else pairs))
        reached = -1
        for _ in range(_ROUNDS):
            uppers, weight = choose_uppers(table, sources)
            if weight <= reached:
                break
            reached = weight
            if best is None or weight > best[0]:
                best = weight, sources, uppers
            sources = _match(table, _explained(table, uppers))
    assert best is not None
    bound = min(pairs.bound(), rivals_bound(table))
    return conclude(table, best[1], best[2], bound, "greedy search", COUNTED)


def _choices(table: Table, pairs: HeaviestPairs | None) -> Choices:
    """The heaviest pairs (x, y), by C(x, y) where their bounds are due, else by shared weights."""
    shared = pairs is None
    first: dict[int, Ranked] = {}
    for following in table.occurrences:
        weights = table.pair_weights(following, shared=shared)
        first[following] = rank(weights)
        if pairs is not None:
            pairs.note(weights)
    return Choices(first, lambda following: table.pair_weights(following, shared=shared))


def _explained(table: Table, uppers: Uppers) -> Choices:
    """For each y the tokens x by the weight of the samples that n(x) = y would explain, given U."""
    weights: dict[int, dict[int, int]] = {}
    nothing: set[int] = set()
    for place, line in enumerate(table.data.lines):
        for length, seen in table.beginnings(place):
            upper = uppers.get(line.tokens[length - 1], nothing)
            tops = upper & seen if len(seen) > 1 else seen
            if len(tops) == 1:
                (top,) = tops
                found = weights.setdefault(line.tokens[length], {})
                found[top] = found.get(top, 0) + line.count
    return Choices(
        {
            following: sorted(
                (-weight, token)
                for token, weight in found.items()
                if table.allows(token, following)
            )
            for following, found in weights.items()
        }
    )


def _match(table: Table, choices: Choices) -> dict[int, int]:
    """An injective collocation, as the map from y to n^-1(y): the heaviest pair first."""
    sources = {following: token for token, following in table.given.items()}
    used = dict(table.given)
    left = {y: iter(ranked) for y, ranked in choices.first.items() if y not in sources}
    heap: list[tuple[int, int, int]] = []
    for following, ranked in left.items():
        heap.extend((*one, following) for one in [next(ranked, None)] if one is not None)
    heapify(heap)
    while heap:
        _, token, following = heappop(heap)
        if token not in used:
            sources[following], used[token] = token, following
            continue
        one = next((one for one in left[following] if one[1] not in used), None)
        if one is None:
            left[following] = iter(choices.more(following, used))
            one = next(left[following], None)
        if one is not None:
            heappush(heap, (*one, following))
    return sources


def _rivals(table: Table, sources: Mapping[int, int]) -> dict[int, frozenset[int]]:
    """T(q) for each query: the tokens n^-1(y) of all y that follow it."""
    return {
        query: frozenset(sources[y] for y in followers if y in sources)
        for query, followers in table.followers.items()
    }


def choose_uppers(table: Table, sources: Mapping[int, int]) -> tuple[dict[int, set[int]], int]:
    """For each query the set U(q), by adding the token that gains most until none gains.

    Returns:
        U, and the weight of the samples that n and U explain.
    """
    rivals = _rivals(table, sources)
    by_query: dict[int, dict[tuple[int, frozenset[int]], int]] = defaultdict(dict)
    reached = 0
    for place, line in enumerate(table.data.lines):
        for length, seen in table.beginnings(place):
            top = sources.get(line.tokens[length])
            if top not in seen or top is None:
                continue
            if len(seen) == 1:
                reached += line.count
                continue
            query = line.tokens[length - 1]
            key = top, rivals[query] & seen
            groups = by_query[query]
            groups[key] = groups.get(key, 0) + line.count
    uppers = {}
    for query, groups in by_query.items():
        uppers[query], weight = _choose_upper(groups)
        reached += weight
    return uppers, reached


def _choose_upper(groups: Mapping[tuple[int, frozenset[int]], int]) -> tuple[set[int], int]:
    """U(q) for the samples of one query, by their o and the tokens that may lie above others.

    A token gains what it could explain of the samples without an upper token, and loses the kept
    ones that it spoils. Every group changes twice at most, so the work is linear in its tokens, but
    for the heap that finds the best one.
    """
    gain: dict[int, int] = defaultdict(int)
    containing: dict[int, list[int]] = defaultdict(list)
    members = [(top, tokens, weight) for (top, tokens), weight in groups.items()]
    for place, (top, tokens, weight) in enumerate(members):
        gain[top] += weight
        for token in tokens:
            containing[token].append(place)
    chosen: set[int] = set()
    state = bytearray(len(members))  # 0: no upper token in it, 1: kept, 2: lost
    heap = [(-value, token) for token, value in gain.items()]
    heapify(heap)
    while heap:
        value, best = heappop(heap)
        if best in chosen or gain[best] <= 0:
            continue
        if gain[best] < -value:  # it lost since; what gains is entered anew at once
            heappush(heap, (-gain[best], best))
            continue
        chosen.add(best)
        for place in containing[best]:
            top, tokens, weight = members[place]
            if state[place] == 0:
                state[place] = 1 if top == best else 2
                if top != best:
                    gain[top] -= weight
                    continue
                for token in tokens:
                    gain[token] -= weight
            elif state[place] == 1:
                state[place] = 2
                for token in tokens:
                    gain[token] += weight
                    if token not in chosen:
                        heappush(heap, (-gain[token], token))
    return chosen, sum(one[2] for one, now in zip(members, state, strict=True) if now == 1)


def conclude(
    table: Table,
    sources: Mapping[int, int],
    uppers: Uppers,
    bound: int,
    method: str,
    proved: str,
) -> Repair:
    """The part that n and U allow, made as large as they leave room for.

    Args:
        table: the data.
        sources: the map from y to n^-1(y), where it is chosen; any other pairs are filled in.
        uppers: U(q) for each query.
        bound: what no part exceeds.
        method: how n and U were found.
        proved: how one knows the bound.
    """
    sources = _complete(table, sources)
    rivals = _rivals(table, sources)
    flags = tuple(bytearray(len(line.tokens)) for line in table.data.lines)
    above: dict[int, set[int]] = defaultdict(set)
    below: dict[int, set[int]] = defaultdict(set)
    weight = 0
    for first in (True, False):  # what n and U explain, then whatever contradicts none of it
        for place, line in enumerate(table.data.lines):
            for length, seen in table.beginnings(place):
                top = sources[line.tokens[length]]
                if flags[place][length] or top not in seen:
                    continue
                query = line.tokens[length - 1]
                if len(seen) > 1:
                    if first:
                        fits = uppers.get(query, set()) & seen == {top}
                    else:
                        fits = top not in below[query] and above[query] & seen <= {top}
                    if not fits:
                        continue
                    above[query].add(top)
                    below[query] |= (rivals[query] & seen) - {top}
                flags[place][length] = True
                weight += line.count
    return Repair(table, sources, above, flags, weight, max(bound, weight), method, proved)


def _complete(table: Table, sources: Mapping[int, int]) -> dict[int, int]:
    """A bijection of the vocabulary; a partial injective map of a finite set always extends."""
    size = len(table.data.vocabulary)
    used = set(sources.values())
    free = (token for token in range(size) if token not in used)
    return {y: sources[y] if y in sources else next(free) for y in range(size)}
