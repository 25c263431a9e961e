"""The largest realizable part of a data set: which samples to drop so that Assumption 1 holds.

A set of samples is *realizable* if a collocation n, a bijection of the vocabulary, exists such that
the next token of every sample is n of a token of its sentence and no order of Definition 1 has a
confused token (huang2024, Assumption 1). As n is injective, at most one token o of a sentence has
n(o) = next token, and Definition 1 puts o above all other tokens of the sentence. So only three
properties of a sample matter: its set of tokens, its query and its next token. A part is realizable
exactly if there are n and, for each query q, a set U(q) of tokens, such that every kept sample with
tokens X, query q and next token y satisfies

1. o = n^-1(y) is in X, and
2. X meets U(q) in o alone, unless o is the only token of X.

If n and U exist, no token lies above a token of U(q) under q, and no token lies below a token
outside U(q), so none is confused. If a part is realizable by n, let U(q) hold the tokens with some
token below them under q: no token lies above these, which is row 2. The program of `repair_program`
states rows 1 and 2 in integers, and the greedy search below maintains them.

Under q only tokens of T(q) = {n^-1(y): y follows q somewhere} can ever lie above others, so U(q) is
a part of T(q). The sentences of a line contain one another. A *block* is all samples of one line
and one query. In a block, row 2 keeps the samples whose sentence has the first token of U(q) in the
line, and not yet the second one. So two numbers describe how U(q) acts on a block, and the search
never spells out a sentence. The cost of a block is the number of tokens that it shares with T(q).
For data of one line, these costs add up to at most the number of samples.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush

from ntpcore.data.dataset import Dataset, InputError, from_samples
from ntpcore.data.order import SampleAt, with_tokens

MOST_SPELLED = 20_000_000  # tokens of kept samples that are written one by one; about 1 GB
_ROUNDS = 8
_LONG = 256  # distinct tokens; a longer line has so many candidates for each of its next tokens
_KEPT = 256  # candidates that are kept of each next token
_SHARES = 720_720  # a weight is divided among the tokens of a sentence in parts of this
_SHORT = (1, 2)  # tokens of the sentences of a text that are compared across its lines
_SPELLED = 1_000_000  # cells of data small enough to compare all sentences across lines
COUNTED = "counted"  # the bound: whole numbers, added up

Uppers = Mapping[int, set[int]]  # for each query, the tokens that may lie above others
Ranks = dict[int, int]  # the distinct tokens of a line, numbered in order of appearance
Choices = Mapping[int, list[int]]  # for each y its candidates for n^-1(y), by `Table.rank`
Class = tuple[int, int | frozenset[int]]  # a query, with a line or a set of tokens


@dataclass(frozen=True, eq=False)
class Table:
    """A data set with the sets of tokens of its sentences, none of them spelled out.

    Attributes:
        data: the data set; its vocabulary includes the tokens of the given collocation.
        given: the given part of the collocation n: a map from token x to n(x), by number.
        fresh: for each line, the distinct tokens of its longest sentence, in order of appearance.
        known: for each line and length l, how many distinct tokens its sentence of length l has.
    """

    data: Dataset
    given: Mapping[int, int]
    fresh: tuple[array[int], ...]
    known: tuple[array[int], ...]

    def lengths(self, place: int) -> range:
        """Lengths of the sentences of line number `place`."""
        last = len(self.data.lines[place].tokens) - 1
        return range(1 if self.data.prefixes else last, last + 1)

    def beginnings(self, place: int) -> Iterator[tuple[int, set[int]]]:
        """The length and the set of tokens of each sentence of line number `place`.

        All sentences share one set object, which grows; copy the set to keep it.
        """
        if not self.data.prefixes:
            yield self.lengths(place)[0], set(self.fresh[place])
            return
        tokens = self.data.lines[place].tokens
        seen: set[int] = set()
        for length in range(1, len(tokens)):
            seen.add(tokens[length - 1])
            yield length, seen

    def allows(self, token: int, following: int) -> bool:
        """Whether the given part of the injective collocation n allows n(token) = following."""
        if token in self.given:
            return self.given[token] == following
        return following not in self._taken

    @cached_property
    def weight(self) -> int:
        """Number of samples, each counted as often as it occurs."""
        return sum(
            line.count * len(self.lengths(place)) for place, line in enumerate(self.data.lines)
        )

    def blocks(self) -> Iterator[tuple[int, Ranks, int, list[int]]]:
        """For each line and query: line number, ranks, query, and lengths of the sentences.

        The sentences are those of the line that end with the query. Ranks number the distinct
        tokens of the longest sentence of the line by first appearance. A sentence of length l of
        line number i has the tokens of rank less than known[i][l].
        """
        for place, line in enumerate(self.data.lines):
            ranks = {token: rank for rank, token in enumerate(self.fresh[place])}
            found: dict[int, list[int]] = {}
            for length in self.lengths(place):
                found.setdefault(line.tokens[length - 1], []).append(length)
            for query, lengths in found.items():
                yield place, ranks, query, lengths

    @cached_property
    def cells(self) -> int:
        """The number of distinct tokens of a sentence, summed over all sentences."""
        return sum(
            known[length]
            for place, known in enumerate(self.known)
            for length in self.lengths(place)
        )

    @cached_property
    def followers(self) -> Mapping[int, set[int]]:
        """For each query, the next tokens of the sentences that end with the query."""
        found: dict[int, set[int]] = {}
        for place, line in enumerate(self.data.lines):
            for length in self.lengths(place):
                found.setdefault(line.tokens[length - 1], set()).add(line.tokens[length])
        return found

    @cached_property
    def occurrences(self) -> Mapping[int, dict[int, array[int]]]:
        """For each next token y and line, how many distinct tokens each sentence before y has."""
        found: dict[int, dict[int, array[int]]] = {}
        for place, line in enumerate(self.data.lines):
            known = self.known[place]
            for length in self.lengths(place):
                lines = found.setdefault(line.tokens[length], {})
                lines.setdefault(place, array("I")).append(known[length])
        return found

    @cached_property
    def by_rarity(self) -> list[int]:
        """All tokens, sorted by the number of lines with the token in a sentence, fewest first."""
        found = Counter(range(len(self.data.vocabulary)))
        for fresh in self.fresh:
            found.update(fresh)
        return sorted(found, key=lambda token: (found[token], token))

    @cached_property
    def _rarity(self) -> dict[int, int]:
        """The place of each token in `by_rarity`."""
        return {token: place for place, token in enumerate(self.by_rarity)}

    def rank(self, weights: Mapping[int, int]) -> list[int]:
        """Tokens sorted by weight, the heaviest first; of tokens of equal weight, the rarest first.

        A token is encoded as its index in `by_rarity` minus the vocabulary size times its weight.
        """
        size, rarity = len(self.data.vocabulary), self._rarity
        return sorted([rarity[token] - size * weight for token, weight in weights.items()])

    @cached_property
    def _taken(self) -> Mapping[int, int]:
        """For each next token that a given pair uses up, its token."""
        return {following: token for token, following in self.given.items()}

    def pair_weights(self, following: int, *, shared: bool = False) -> Counter[int]:
        """For each x, C(x, y): the weight of the samples with x in them and next token y.

        A token that the given collocation does not allow for y is left out. Each line is walked
        once, from its longest sentence down, however often y occurs in the line. Counting all
        tokens of long lines would take quadratic time. So a line with more than 256 distinct tokens
        counts only tokens of its shortest sentence before y, and of these the last 256; the result
        is then only a lower bound on C(x, y).

        Args:
            following: y.
            shared: divide the weight of a sample among its tokens (times a common factor).
        """
        found: Counter[int] = Counter()
        for place, sizes in self.occurrences[following].items():
            fresh, count = self.fresh[place], self.data.lines[place].count
            least = max(0, sizes[0] - _LONG) if len(fresh) > _LONG else 0
            if len(sizes) == 1 and count == 1 and not shared:
                found.update(fresh[least : sizes[0]])
                continue
            weight = 0
            for at in range(len(sizes) - 1, -1, -1):
                weight += count * _SHARES // sizes[at] if shared else count
                if at == 0 or len(fresh) <= _LONG:
                    for token in fresh[sizes[at - 1] if at else least : sizes[at]]:
                        found[token] += weight
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
        """Length, and count in all lines, of each sample of a line that no earlier line has."""
        children, counts = self._times
        line, start = self.data.lines[place], self.data.starts[place]
        node: int | None = 0
        for length, token in enumerate(line.tokens):
            node = None if node is None else children.get((node, token))
            if length >= start:
                yield length, line.count if node is None else counts[node]


def tabulate(data: Dataset, given: Mapping[str, str] | None = None) -> Table:
    """The `Table` of a data set, in memory proportional to the size of the data.

    Raises:
        InputError: the given collocation is not injective.
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
    fresh, known = [], []
    for line in data.lines:
        seen, sizes = dict.fromkeys(line.tokens[:1]), array("I", [0])
        for label in line.tokens[1:]:
            sizes.append(len(seen))
            seen[label] = None
        fresh.append(array("I", list(seen)[: sizes[-1]]))
        known.append(sizes)
    fixed = {numbers[token]: numbers[following] for token, following in (given or {}).items()}
    return Table(data, fixed, tuple(fresh), tuple(known))


@dataclass(frozen=True)
class Dropped:
    """A sample to drop.

    Attributes:
        at: line and length that locate the sample.
        count: how often the sample occurs.
        reason: why the sample is dropped, in words.
    """

    at: SampleAt
    count: int
    reason: str


@dataclass(frozen=True, eq=False)
class Repair:
    """A realizable part of a data set, with an upper bound on the size of every such part.

    Attributes:
        table: the data set.
        sources: the map from y to n^-1(y), for every token y; n is the collocation of the part.
        above: for each query, the tokens that a kept sample puts above others.
        flags: for each line and each length, whether the sample is kept.
        kept_weight: number of kept samples, each counted as often as it occurs.
        bound: upper bound on the kept weight of every realizable part.
        method: how the part was found.
        proved: how the bound is known, in words.
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
        """The collocation n: the map from x to n(x), for every token x of the vocabulary."""
        names = self.table.data.vocabulary
        image = {token: following for following, token in self.sources.items()}
        return {name: names[image[number]] for number, name in enumerate(names)}

    @property
    def gap(self) -> int:
        """Bound on how many more samples another part could keep; 0 proves this part largest."""
        return self.bound - self.kept_weight

    @property
    def share(self) -> float:
        """Fraction of the samples that are kept, each counted as often as it occurs."""
        return self.kept_weight / self.table.weight

    def _samples(self, keep: bool) -> Iterator[tuple[SampleAt, int]]:
        """The distinct samples that are kept, or dropped, and how often each occurs."""
        for place, flags in enumerate(self.flags):
            if any(flags[length] == keep for length in self.table.lengths(place)):
                for length, count in self.table.times(place):
                    if flags[length] == keep:
                        yield SampleAt(place, length), count

    def kept(self) -> Iterator[tuple[SampleAt, int]]:
        """The distinct kept samples in order of first appearance, and how often each occurs."""
        return self._samples(True)

    def dropped(self) -> Iterator[Dropped]:
        """The distinct dropped samples in order of first appearance, each with the reason."""
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
        """Number of samples, with repetitions, whose next token is n(x) for no token x in them."""
        return sum(
            line.count
            for place, line in enumerate(self.table.data.lines)
            for length, seen in self.table.beginnings(place)
            if self.sources[line.tokens[length]] not in seen
        )

    def rest(self) -> Dataset | None:
        """The kept samples as a data set; None if no sample is kept.

        Raises:
            InputError: the kept samples have more than `MOST_SPELLED` tokens in all.
        """
        rows = [(*spell(self.table, at), count) for at, count in self.listed()]
        return from_samples(rows, f"part of {self.table.data.name}") if rows else None

    def listed(self) -> Iterator[tuple[SampleAt, int]]:
        """The kept samples and how often each occurs, if they are few enough to spell out.

        Raises:
            InputError: the kept samples have more than `MOST_SPELLED` tokens in all.
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
            f"it puts {names[top]!r} above {names[min(rivals)]!r} under query {names[query]!r}, "
            f"where kept samples put {names[min(rivals)]!r} above others"
        )


def spell(table: Table, at: SampleAt) -> tuple[tuple[str, ...], str]:
    """The tokens of the sentence, and the next token, of a sample."""
    data = table.data
    words = [data.vocabulary[token] for token in data.lines[at.line].tokens[: at.length + 1]]
    return tuple(words[:-1]), words[-1]


def solve_greedy(table: Table) -> Repair:
    """A realizable part by greedy search; fast, and often far from the largest.

    First the heaviest pairs (x, y) become the collocation, n(x) = y. Then each query q gets a set
    U(q) of tokens that may lie above others. The search chooses n and U anew in turn as long as the
    kept weight grows, at most eight times from each of two starts, and keeps the best part.
    """
    best: tuple[int, dict[int, int], dict[int, set[int]]] | None = None
    plain, by_pairs = _candidates(table, shared=False)
    for choices in (_candidates(table, shared=True)[0], plain):
        sources, reached = _match(table, choices), -1
        for _ in range(_ROUNDS):
            uppers, weight = choose_uppers(table, sources)
            if weight <= reached:
                break
            reached = weight
            if best is None or weight > best[0]:
                best = weight, sources, uppers
            sources = _match(table, _explained(table, uppers))
    assert best is not None
    bound = min(by_pairs, rivals_bound(table))
    return conclude(table, best[1], best[2], bound, "greedy search", COUNTED)


def _candidates(table: Table, *, shared: bool) -> tuple[Choices, int]:
    """For each y its heaviest x by `pair_weights`, of equal ones the rarest; and a bound by C.

    A part keeps samples of the pairs (n^-1(y), y) alone: one x for every y, and one y for every x.
    Of C(x, y) the largest for every y add up to a bound, and so do the largest for every x. Both
    need C as it is: not shared, and of no long line.
    """
    found, by_token, by_next = {}, dict[int, int](), 0
    for y in table.occurrences:
        weights = table.pair_weights(y, shared=shared)
        found[y] = table.rank(weights)[:_KEPT]
        by_next += max(weights.values(), default=0)
        for x, weight in weights.items():
            if weight > by_token.get(x, 0):
                by_token[x] = weight
    if shared or any(len(fresh) > _LONG for fresh in table.fresh):
        return found, table.weight
    return found, min(sum(by_token.values()), by_next)


def _explained(table: Table, uppers: Uppers) -> Choices:
    """For each y the tokens x by the weight of the samples that n(x) = y would explain, given U."""
    weights: dict[int, Counter[int]] = defaultdict(Counter)
    for place, ranks, query, lengths in table.blocks():
        line, known = table.data.lines[place], table.known[place]
        first, second, upper = _first_two(uppers.get(query, ()), ranks)
        for length in lengths:
            if known[length] == 1:
                weights[line.tokens[length]][line.tokens[0]] += line.count
            elif first < known[length] <= second:
                weights[line.tokens[length]][upper] += line.count
    return {
        y: table.rank({x: weight for x, weight in found.items() if table.allows(x, y)})
        for y, found in weights.items()
    }


def _match(table: Table, choices: Choices) -> dict[int, int]:
    """An injective collocation, as the map from y to n^-1(y): the heaviest pair first."""
    sources = {following: token for token, following in table.given.items()}
    used = dict(table.given)
    size, token_at = len(table.data.vocabulary), table.by_rarity
    left = {y: iter(ranked) for y, ranked in choices.items() if y not in sources}
    heap = [
        (key, y) for y, ranked in left.items() for key in [next(ranked, None)] if key is not None
    ]
    heapify(heap)
    while heap:
        key, y = heappop(heap)
        token = token_at[key % size]
        if token not in used:
            sources[y], used[token] = token, y
            continue
        free = (key for key in left[y] if token_at[key % size] not in used)
        if (other := next(free, None)) is not None:
            heappush(heap, (other, y))
    return sources


def _rivals(table: Table, sources: Mapping[int, int]) -> dict[int, frozenset[int]]:
    """T(q) for each query: the tokens n^-1(y) of all y that follow it."""
    return {
        query: frozenset(sources[y] for y in followers if y in sources)
        for query, followers in table.followers.items()
    }


def _within(tokens: Collection[int], ranks: Ranks) -> list[tuple[int, int]]:
    """The tokens of a set that a line has, by rank."""
    if len(tokens) < len(ranks):
        return sorted((ranks[token], token) for token in tokens if token in ranks)
    return [(rank, token) for token, rank in ranks.items() if token in tokens]


def _first_two(tokens: Collection[int], ranks: Ranks) -> tuple[float, float, int]:
    """The ranks of the first two tokens of a set in a line, infinite if missing, and the first."""
    (first, upper), (second, _), *_ = [*_within(tokens, ranks), (math.inf, -1), (math.inf, -1)]
    return first, second, upper


@dataclass(eq=False)
class _Block:
    """Samples of a line and a query, and what U(q) means for them.

    Attributes:
        members: rank and token of those that may be in U(q), by rank.
        samples: number of distinct tokens, o, and weight of each, by number.
        first: the least rank of a token of U(q).
        second: the next one.
        upper: the token of U(q) with the least rank.
    """

    members: list[tuple[int, int]]
    samples: list[tuple[int, int, int]]
    first: float = math.inf
    second: float = math.inf
    upper: int = -1

    def add(self, token: int, rank: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Put a token into U(q).

        Returns:
            the samples that had no upper token and have one, by o and weight; the samples that are
            kept now by size and weight, with a minus those that no longer are.
        """
        first, second, upper = self.first, self.second, self.upper
        if rank < first:
            self.first, self.second, self.upper = rank, first, token
        else:
            self.second = rank
        left, changed = [], []
        for size, top, weight in self.samples:
            before = first < size <= second and top == upper
            now = self.first < size <= self.second and top == self.upper
            if self.first < size <= first:
                left.append((top, weight))
            if before != now:
                changed.append((size, weight if now else -weight))
        return left, changed


def choose_uppers(table: Table, sources: Mapping[int, int]) -> tuple[dict[int, set[int]], int]:
    """Choose, for each query q, the set U(q) of tokens that may lie above others.

    The choice is greedy: add the token that gains the most weight until no token gains any.

    Args:
        table: the data.
        sources: the map from y to n^-1(y), n being the collocation.

    Returns:
        U, and the weight of the samples that can be kept with n and U.
    """
    rivals = _rivals(table, sources)
    by_query: dict[int, list[_Block]] = defaultdict(list)
    reached = 0
    for place, ranks, query, lengths in table.blocks():
        line, known, samples = table.data.lines[place], table.known[place], []
        for length in lengths:
            size, top = known[length], sources.get(line.tokens[length], -1)
            if ranks.get(top, size) < size:
                if size == 1:
                    reached += line.count
                else:
                    samples.append((size, top, line.count))
        if samples:
            most = samples[-1][0]
            members = [one for one in _within(rivals[query], ranks) if one[0] < most]
            by_query[query].append(_Block(members, samples))
    uppers = {}
    for query, blocks in by_query.items():
        uppers[query], weight = _choose_upper(blocks)
        reached += weight
    return uppers, reached


def _choose_upper(blocks: list[_Block]) -> tuple[set[int], int]:
    """U(q) of one query, and the weight of the samples that it explains.

    A token gains what it could explain of the samples without an upper token, and loses the kept
    ones that it spoils. Every sample changes twice at most, and most changes of a block come at
    once, so that its other tokens are seldom visited.
    """
    gain: dict[int, int] = defaultdict(int)
    containing: dict[int, list[tuple[_Block, int]]] = defaultdict(list)
    for block in blocks:
        for _, top, weight in block.samples:
            gain[top] += weight
        for rank, token in block.members:
            containing[token].append((block, rank))
    chosen: set[int] = set()
    kept = 0
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
        for block, rank in containing[best]:
            if rank > block.second:
                continue
            left, changed = block.add(best, rank)
            for top, weight in left:
                gain[top] -= weight
            kept += sum(weight for _, weight in changed)
            total = 0
            for rank_of, token in reversed(block.members if changed else ()):
                while changed and changed[-1][0] > rank_of:
                    total += changed.pop()[1]
                gain[token] -= total
                if total < 0 and token not in chosen:
                    heappush(heap, (-gain[token], token))
    return chosen, kept


def conclude(
    table: Table,
    sources: Mapping[int, int],
    uppers: Uppers,
    bound: int,
    method: str,
    proved: str,
) -> Repair:
    """The part that a collocation n and sets U allow, and further samples that fit in with it.

    Args:
        table: the data.
        sources: the map from y to n^-1(y), for some y; the other pairs are filled in.
        uppers: U(q), the tokens that may lie above others, for each query q.
        bound: upper bound on the kept weight of every realizable part.
        method: how n and U were found.
        proved: how the bound is known, in words.
    """
    sources = _complete(table, sources)
    rivals = _rivals(table, sources)
    flags = tuple(bytearray(len(line.tokens)) for line in table.data.lines)
    above: dict[int, set[int]] = defaultdict(set)
    below: dict[int, set[int]] = defaultdict(set)
    weight = 0
    for allowed in (uppers, above):  # what n and U explain, then whatever contradicts none of it
        for place, ranks, query, lengths in table.blocks():
            line, known, keep = table.data.lines[place], table.known[place], flags[place]
            first, second, upper = _first_two(allowed.get(query, ()), ranks)
            reach = 0
            for length in lengths:
                size, top = known[length], sources[line.tokens[length]]
                if keep[length] or ranks.get(top, size) >= size:
                    continue
                if size > 1:
                    if allowed is above and size <= first and top not in below[query]:
                        first, second, upper = ranks[top], first, top
                    if not (first < size <= second and top == upper):
                        continue
                    reach = size
                keep[length] = True
                weight += line.count
            if reach:
                above[query].add(upper)
                found = _within(rivals[query], ranks)
                below[query].update(x for rank, x in found if rank < reach and x != upper)
    return Repair(table, sources, above, flags, weight, max(bound, weight), method, proved)


def _complete(table: Table, sources: Mapping[int, int]) -> dict[int, int]:
    """A bijection of the vocabulary; a partial injective map of a finite set always extends."""
    size = len(table.data.vocabulary)
    used = set(sources.values())
    free = (token for token in range(size) if token not in used)
    return {y: sources[y] if y in sources else next(free) for y in range(size)}


def rivals_bound(table: Table) -> int:
    """An upper bound on the weight of every realizable part, by counting rivals.

    Rivals are samples of one query q, with at least two distinct tokens, whose sets of tokens
    contain one another. Of rivals, a realizable part keeps samples of one next token only. To prove
    this, let X within X' be the sets of two rivals, with next tokens y and y'. Let U(q) hold the
    tokens that may lie above others; it meets the set of each kept sample in one token. If both
    samples are kept, n^-1(y) and n^-1(y') lie in U(q) and in X', so they are one token, and y = y'.
    Samples whose sentences repeat one token are rivals if this token is the same, as n has one
    value there. Sentences with equal sets form a class of rivals, and so do the sentences of a line
    with one query. Each sample is in one class. The bound adds up the weight of the heaviest next
    token of each class; it is the least of several divisions into classes.
    """
    return min(_heaviest(_classes(table, short)) for short in _ways(table))


def _ways(table: Table) -> tuple[int, ...]:
    """How long the sentences may be that are compared across lines."""
    spelled = table.cells <= _SPELLED or not table.data.prefixes
    return (*_SHORT, table.data.max_length) if spelled else _SHORT


def classes(table: Table) -> Iterator[tuple[Class, int, int]]:
    """For each sample its class, its next token, and its weight, in one way of `rivals_bound`.

    `rivals_bound` tries several ways to divide the samples into classes. This one compares more
    sentences across lines than the others do: sentences with the same last token and the same set
    of tokens share a class, whatever their lines. A sentence too long for this comparison shares
    its class with the long sentences of its line that have the same last token.
    """
    return _classes(table, _ways(table)[-1])


def _classes(table: Table, short: int) -> Iterator[tuple[Class, int, int]]:
    """For each sample its class, its next token and its weight.

    Args:
        table: the data.
        short: sentences of up to so many tokens are compared with those of other lines, the
            longer ones with those of their line; 1 at least, as those of one token alone are rivals
            of their like only.
    """
    for place, line in enumerate(table.data.lines):
        for length, seen in table.beginnings(place):
            query, following = line.tokens[length - 1], line.tokens[length]
            if len(seen) <= short or not table.data.prefixes:
                yield (query, frozenset(seen)), following, line.count
            else:
                yield (query, place), following, line.count


def _heaviest(samples: Iterable[tuple[Class, int, int]]) -> int:
    """The weight of the heaviest next token of each class, summed over classes."""
    weights: Counter[tuple[Class, int]] = Counter()
    for one, following, weight in samples:
        weights[one, following] += weight
    best: dict[Class, int] = {}
    for (one, _), weight in weights.items():
        best[one] = max(weight, best.get(one, 0))
    return sum(best.values())
