"""The largest realizable part of a data set: which samples to drop so that Assumption 1 holds.

A set of samples is *realizable* if a collocation n, a bijection of the vocabulary, exists such that
the next token of every sample is n of a token of its sentence and no order of Definition 1 has a
confused token (huang2024, Assumption 1). As n is injective, one token o alone of a sentence can be
the one with n(o) = next token, and Definition 1 puts it above all others of the sentence. So only
three things of a sample matter: its set of tokens, its query and its next token. Samples that agree
in them form a group, and a part is realizable exactly if there are n and, for each query q, a set
U(q) of tokens, such that every kept group with tokens X, query q and next token y satisfies

1. o = n^-1(y) is in X, and
2. X meets U(q) in o alone, unless o is the only token of X.

If n and U exist, tokens of U(q) have nothing above them under q and the others nothing below, so
none is confused. If a part is realizable by n, let U(q) hold the tokens with something below them
under q: they have nothing above them, which is 2. Rows 1 and 2 are what the program of
`repair_program` says in integers, and what the greedy search below maintains.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from ntpcore.data.dataset import Dataset, InputError, from_samples
from ntpcore.data.order import SampleAt, with_tokens

MAX_CELLS = 10_000_000  # tokens of all sentences, each spelled out; about 1 GB
_ROUNDS = 8

Uppers = dict[int, set[int]]  # for each query, the tokens that may lie above others


@dataclass(frozen=True)
class Group:
    """All samples with the same tokens, query and next token.

    Attributes:
        tokens: the set X of the tokens of the sentence.
        query: its last token.
        following: the next token y.
        weight: how many samples these are, counted as often as they occur.
    """

    tokens: frozenset[int]
    query: int
    following: int
    weight: int


@dataclass(frozen=True)
class Table:
    """A data set, by distinct samples and by groups.

    Attributes:
        data: the data set, with the tokens of a given collocation in its vocabulary.
        given: next tokens that are not to be chosen.
        groups: the groups.
        samples: the distinct samples, in order of first appearance.
        counts: how often each occurs.
        group_of: the group of each.
    """

    data: Dataset
    given: Mapping[int, int]
    groups: tuple[Group, ...]
    samples: tuple[SampleAt, ...]
    counts: tuple[int, ...]
    group_of: tuple[int, ...]

    @cached_property
    def weight(self) -> int:
        """Number of all samples, counted as often as they occur."""
        return sum(self.counts)

    @cached_property
    def cells(self) -> int:
        """Tokens of all groups together: the size of the integer program."""
        return sum(len(group.tokens) for group in self.groups)

    def allows(self, token: int, following: int) -> bool:
        """Whether the given part of the collocation leaves room for n(token) = following."""
        if token in self.given:
            return self.given[token] == following
        return following not in self._taken

    @cached_property
    def _taken(self) -> frozenset[int]:
        return frozenset(self.given.values())


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


@dataclass(frozen=True)
class Repair:
    """A realizable part of a data set, and how much larger another one could be.

    Attributes:
        table: the data set.
        collocation: n, for every token of the vocabulary.
        kept: numbers of the kept samples in the table.
        dropped: all others, each with its reason.
        kept_weight: number of kept samples, counted as often as they occur.
        bound: no realizable part has more.
        method: how it was found.
    """

    table: Table
    collocation: Mapping[str, str]
    kept: tuple[int, ...]
    dropped: tuple[Dropped, ...]
    kept_weight: int
    bound: int
    method: str

    @property
    def gap(self) -> int:
        """How many more samples a better part could keep at most; 0 proves this one largest."""
        return self.bound - self.kept_weight

    @property
    def share(self) -> float:
        """Share of next tokens that the kept part explains, each counted as often as it occurs."""
        return self.kept_weight / self.table.weight

    def rest(self) -> Dataset | None:
        """The kept samples as a data set; None where nothing can be kept."""
        rows = [(*spell(self.table, i), self.table.counts[i]) for i in self.kept]
        return from_samples(rows, f"part of {self.table.data.name}") if rows else None


def spell(table: Table, sample: int) -> tuple[tuple[str, ...], str]:
    """Sentence and next token of a sample."""
    data, at = table.data, table.samples[sample]
    words = [data.vocabulary[token] for token in data.lines[at.line].tokens[: at.length + 1]]
    return tuple(words[:-1]), words[-1]


def tabulate(
    data: Dataset, given: Mapping[str, str] | None = None, *, max_cells: int = MAX_CELLS
) -> Table:
    """The samples and groups of a data set.

    Raises:
        InputError: the given collocation is not injective, or the sentences are too long.
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
    found: dict[bytes, int] = {}
    samples: list[SampleAt] = []
    counts: list[int] = []
    keys: list[tuple[frozenset[int], int, int]] = []
    cells = 0
    for place, length, tokens in _beginnings(data):
        line = data.lines[place]
        words = line.tokens[: length + 1]
        number = found.setdefault(words.tobytes(), len(samples))
        if number == len(samples):
            cells += length
            if cells > max_cells:
                raise InputError(
                    f"{data.name}:{line.number}: the sentences up to here, every beginning by "
                    f"itself, hold more than {max_cells} tokens; put one sentence on a line, or "
                    "use a part of the file"
                )
            samples.append(SampleAt(place, length))
            counts.append(0)
            keys.append((tokens, words[-2], words[-1]))
        counts[number] += line.count
    weights: dict[tuple[frozenset[int], int, int], int] = {}
    for key, count in zip(keys, counts, strict=True):
        weights[key] = weights.get(key, 0) + count
    place_of = {key: place for place, key in enumerate(weights)}
    groups = tuple(Group(*key, weight) for key, weight in weights.items())
    group_of = tuple(place_of[key] for key in keys)
    return Table(data, fixed, groups, tuple(samples), tuple(counts), group_of)


def _beginnings(data: Dataset) -> Iterator[tuple[int, int, frozenset[int]]]:
    """Line, length and set of tokens of every sentence; sentences with equal sets share one."""
    for place, line in enumerate(data.lines):
        last = len(line.tokens) - 1
        if not data.prefixes:
            yield place, last, frozenset(line.tokens[:last])
            continue
        seen: frozenset[int] = frozenset()
        for length in range(1, last + 1):
            if line.tokens[length - 1] not in seen:
                seen |= {line.tokens[length - 1]}
            yield place, length, seen


def simple_bound(table: Table) -> int:
    """A number of samples that no realizable part exceeds: the least of three easy bounds.

    With C(x, y) the weight of the groups that contain x and are followed by y, a part keeps the
    groups of the pairs (n^-1(y), y) at most: one x for every y, and one y for every x. And of the
    groups with the same sentence and query it keeps one, whose next token is n of a token that
    wins there.
    """
    weights = _pair_weights(table)
    by_token: dict[int, int] = {}
    by_next: dict[int, int] = {}
    by_sentence: dict[tuple[frozenset[int], int], int] = {}
    for (token, following), weight in weights.items():
        by_token[token] = max(weight, by_token.get(token, 0))
        by_next[following] = max(weight, by_next.get(following, 0))
    for group in table.groups:
        key = (group.tokens, group.query)
        by_sentence[key] = max(group.weight, by_sentence.get(key, 0))
    return min(sum(best.values()) for best in (by_token, by_next, by_sentence))


def _pair_weights(
    table: Table, uppers: Uppers | None = None, *, shared: bool = False
) -> dict[tuple[int, int], int]:
    """For each pair (x, y), the weight of the groups that n(x) = y would explain.

    Args:
        table: the data.
        uppers: count only groups in which x alone may lie above others.
        shared: divide the weight of a group among its tokens (times a common factor).
    """
    weights: dict[tuple[int, int], int] = {}
    for group in table.groups:
        tokens: Iterable[int] = group.tokens
        if uppers is not None and len(group.tokens) > 1:
            tokens = group.tokens & uppers.get(group.query, set())
            tokens = tokens if len(tokens) == 1 else ()
        weight = group.weight * 5040 // len(group.tokens) if shared else group.weight
        for token in tokens:
            if table.allows(token, group.following):
                pair = (token, group.following)
                weights[pair] = weights.get(pair, 0) + weight
    return weights


def solve_greedy(table: Table) -> Repair:
    """A realizable part that no single change improves; fast, and often far from the largest.

    First the heaviest pairs become the collocation, then the best tokens of each query its upper
    ones, and the two are chosen anew in turn as long as that helps.
    """
    best: tuple[int, dict[int, int], Uppers] | None = None
    for shared in (True, False):
        sources = _match(table, _pair_weights(table, shared=shared))
        reached = -1
        for _ in range(_ROUNDS):
            uppers = choose_uppers(table, sources)
            weight = sum(g.weight for g in table.groups if fits(g, sources, uppers))
            if weight <= reached:
                break
            reached = weight
            if best is None or weight > best[0]:
                best = weight, sources, uppers
            sources = _match(table, _pair_weights(table, uppers))
    assert best is not None
    return conclude(table, best[1], best[2], simple_bound(table), "greedy search")


def _match(table: Table, weights: Mapping[tuple[int, int], int]) -> dict[int, int]:
    """An injective collocation, as the map from y to n^-1(y): the heaviest pair first."""
    sources = {following: token for token, following in table.given.items()}
    used = set(table.given)
    for token, following in sorted(weights, key=lambda pair: (-weights[pair], pair)):
        if following not in sources and token not in used:
            sources[following] = token
            used.add(token)
    return sources


def fits(group: Group, sources: Mapping[int, int], uppers: Uppers) -> bool:
    """Rows 1 and 2 of the module: whether n and U let a group be kept."""
    top = sources.get(group.following)
    if top is None or top not in group.tokens:
        return False
    upper = uppers.get(group.query, set())
    return len(group.tokens) == 1 or (top in upper and upper.isdisjoint(group.tokens - {top}))


def choose_uppers(table: Table, sources: Mapping[int, int]) -> Uppers:
    """For each query the set U(q), by adding the token that gains most until none gains."""
    by_query: dict[int, list[tuple[Group, int]]] = {}
    for group in table.groups:
        top = sources.get(group.following)
        if top in group.tokens and len(group.tokens) > 1 and top is not None:
            by_query.setdefault(group.query, []).append((group, top))
    return {query: _choose_upper(groups) for query, groups in by_query.items()}


def _choose_upper(groups: list[tuple[Group, int]]) -> set[int]:
    """U(q) for the groups of one query, each with its token n^-1(y).

    A token gains what it could explain of the groups without an upper token, and loses the kept
    groups that it spoils. Every group changes twice at most, so the work is linear in its tokens,
    but for the search of the best token.
    """
    gain: dict[int, int] = {}
    containing: dict[int, list[int]] = {}
    for place, (group, top) in enumerate(groups):
        gain[top] = gain.get(top, 0) + group.weight
        for token in group.tokens:
            containing.setdefault(token, []).append(place)
    chosen: set[int] = set()
    state = [0] * len(groups)  # 0: no upper token in it, 1: kept, 2: lost
    while gain:
        best = min(gain, key=lambda token: (-gain[token], token))
        if gain[best] <= 0:
            break
        chosen.add(best)
        for place in containing[best]:
            group, top = groups[place]
            if state[place] == 0:
                gain[top] -= group.weight
                state[place] = 1 if top == best else 2
                change = -group.weight if top == best else 0
            else:
                change = group.weight if state[place] == 1 else 0
                state[place] = 2
            if change:
                for token in group.tokens - {top}:
                    gain[token] = gain.get(token, 0) + change
        del gain[best]
        gain = {token: value for token, value in gain.items() if token not in chosen}
    return chosen


def conclude(
    table: Table, sources: Mapping[int, int], uppers: Uppers, bound: int, method: str
) -> Repair:
    """The part that n and U allow, made as large as they leave room for.

    Args:
        table: the data.
        sources: the map from y to n^-1(y), where it is chosen; any other pairs are filled in.
        uppers: U(q) for each query.
        bound: what no part exceeds.
        method: how n and U were found.
    """
    sources = _complete(table, sources)
    kept = [fits(group, sources, uppers) for group in table.groups]
    above: Uppers = defaultdict(set)
    below: Uppers = defaultdict(set)
    for group, keep in zip(table.groups, kept, strict=True):
        if keep:
            _enter(group, sources, above, below)
    for place, group in enumerate(table.groups):
        if not kept[place] and not _conflict(group, sources, above, below):
            _enter(group, sources, above, below)
            kept[place] = True
    names = table.data.vocabulary
    chosen = [i for i in range(len(table.samples)) if kept[table.group_of[i]]]
    dropped = [
        Dropped(
            table.samples[i],
            table.counts[i],
            _reason(table, table.groups[table.group_of[i]], sources, above, below),
        )
        for i in range(len(table.samples))
        if not kept[table.group_of[i]]
    ]
    collocation = {token: following for following, token in sources.items()}
    weight = sum(table.counts[i] for i in chosen)
    return Repair(
        table,
        {name: names[collocation[number]] for number, name in enumerate(names)},
        tuple(chosen),
        tuple(dropped),
        weight,
        max(min(bound, simple_bound(table)), weight),
        method,
    )


def _complete(table: Table, sources: Mapping[int, int]) -> dict[int, int]:
    """A bijection of the vocabulary; a partial injective map of a finite set always extends."""
    size = len(table.data.vocabulary)
    used = set(sources.values())
    free = (token for token in range(size) if token not in used)
    return {y: sources[y] if y in sources else next(free) for y in range(size)}


def _enter(group: Group, sources: Mapping[int, int], above: Uppers, below: Uppers) -> None:
    """Note the roles that a kept group gives to its tokens."""
    top = sources[group.following]
    if len(group.tokens) > 1:
        above[group.query].add(top)
        below[group.query] |= group.tokens - {top}


def _conflict(group: Group, sources: Mapping[int, int], above: Uppers, below: Uppers) -> bool:
    """Whether a group cannot join the kept ones."""
    top = sources[group.following]
    if top not in group.tokens:
        return True
    others = group.tokens - {top}
    return bool(others) and (top in below[group.query] or not others.isdisjoint(above[group.query]))


def _reason(
    table: Table, group: Group, sources: Mapping[int, int], above: Uppers, below: Uppers
) -> str:
    """Why a group is dropped, in words."""
    names = table.data.vocabulary
    top = sources[group.following]
    if top not in group.tokens:
        return (
            f"its next token {names[group.following]!r} is n({names[top]!r}), and "
            f"{names[top]!r} is not in the sentence"
        )
    rival = next(chain(sorted((group.tokens - {top}) & above[group.query])), None)
    if rival is None:
        return (
            f"it puts {names[top]!r} above others under query {names[group.query]!r}, where kept "
            "samples put it below"
        )
    return (
        f"it puts {names[top]!r} above {names[rival]!r}, which kept samples put above others "
        f"under query {names[group.query]!r}"
    )
