"""Structure of a data set: collocation, query-dependent partial orders, Assumptions 1 and 3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from ntpcore.data.dataset import Dataset, InputError, numbered_lines, path_name

Pair = tuple[str, str]

MAX_PAIRS = 4_000_000  # about 1 GB of pairs with their witnesses
MAX_WITNESSES = 100
ASSUMPTION_1, CLOSURE, SOURCE = "Assumption 1", "prefix closure", "source"
_SHOWN_TOKENS = 40
_SHOWN_LETTERS = 60


@dataclass(frozen=True)
class PartialOrder:
    """What the samples ending in one query say about its tokens (huang2024, Definition 1).

    Attributes:
        query: the token that ends the sentences.
        pairs: (x, y) for every x that lies above y, as Definition 1 assigns them; no closure is
            taken, none being needed where no token is confused.
    """

    query: str
    pairs: frozenset[Pair]

    @classmethod
    def of(cls, query: str, pairs: Iterable[Pair]) -> PartialOrder:
        """The order of these pairs.

        Raises:
            ValueError: a pair relates a token to itself.
        """
        order = cls(query, frozenset(pairs))
        for upper, lower in order.pairs:
            if upper == lower:
                raise ValueError(f"query {query!r}: {upper!r} cannot lie above itself")
        return order

    @cached_property
    def below(self) -> dict[str, tuple[str, ...]]:
        """For each token with something below it, those tokens; all sorted."""
        found: dict[str, list[str]] = {}
        for upper, lower in sorted(self.pairs):
            found.setdefault(upper, []).append(lower)
        return {upper: tuple(lowers) for upper, lowers in found.items()}

    @cached_property
    def confused(self) -> frozenset[str]:
        """Tokens with something above and something below them; none in a realizable data set."""
        return frozenset(self.below) & frozenset(lower for _, lower in self.pairs)

    @cached_property
    def optimal(self) -> tuple[str, ...]:
        """Tokens with nothing above and something below them, sorted.

        The paper asks for nothing above only; then a non-comparable token would be optimal, too.
        """
        return tuple(upper for upper in self.below if upper not in self.confused)

    @cached_property
    def nonoptimal(self) -> tuple[str, ...]:
        """Tokens with nothing below and something above them, sorted."""
        return tuple(sorted({lower for _, lower in self.pairs} - self.confused))

    @cached_property
    def compared(self) -> frozenset[str]:
        """Tokens that occur in some pair; all others are non-comparable."""
        return frozenset(self.below) | frozenset(lower for _, lower in self.pairs)


class SampleAt(NamedTuple):
    """A sample, named by its place: the line that holds it, and the length of its sentence."""

    line: int
    length: int


@dataclass(frozen=True)
class Failure:
    """One way in which an assumption fails.

    Attributes:
        rule: name of the broken rule.
        tokens: the tokens concerned.
        samples: the samples that force it.
        message: the failure in words.
    """

    rule: str
    tokens: tuple[str, ...]
    samples: tuple[SampleAt, ...]
    message: str


@dataclass(frozen=True)
class Assumption:
    """Whether an assumption holds.

    Attributes:
        holds: None where it cannot be decided, because what it speaks of is not defined.
        failures: the first failures of each rule, as many as were asked for.
        counts: for each broken rule, the number of all its failures.
    """

    holds: bool | None
    failures: tuple[Failure, ...] = ()
    counts: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Structure:
    """What Section 4.1 of Huang et al. derives from a data set.

    Attributes:
        data: the data set.
        collocation: n, the next token of each token; None where it is not defined.
        orders: for each query that orders anything, its partial order, in order of vocabulary;
            None as long as the collocation is not defined on the whole vocabulary.
        realizable: Assumption 1.
        frequent: Assumption 3, token by token, as its formula says.
    """

    data: Dataset
    collocation: Mapping[str, str | None]
    orders: Mapping[str, PartialOrder] | None
    realizable: Assumption
    frequent: Assumption


def facts(structure: Structure) -> dict[str, bool]:
    """Whether data satisfy what is in force in Sections 4 to 6 of huang2024, by name.

    The names are Assumption 1 as the paper states it (the collocation is injective, and no token is
    confused, that is, above one token and below another under the same query), prefix closure (each
    sample, cut short, is a sample too; Section 3 of the paper), and source (each next token is n of
    some token of its sentence; Section 4.1 of the paper). `Structure.realizable` joins Assumption 1
    and source.

    Args:
        structure: the data set, analysed with `analyse`.
    """
    broken = set(structure.realizable.counts or {})
    known = structure.orders is not None
    return {
        ASSUMPTION_1: known and broken <= {"next-token-unexplained"},
        CLOSURE: structure.data.prefix_closed,
        SOURCE: known and "next-token-unexplained" not in broken,
    }


class _Failures:
    """Counts failures by rule and keeps the first few of each."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.kept: list[Failure] = []
        self.counts: dict[str, int] = {}

    def note(self, rule: str) -> bool:
        """Count one failure; whether it is among those to be kept."""
        self.counts[rule] = self.counts.get(rule, 0) + 1
        return self.counts[rule] <= self.limit

    def result(self) -> Assumption:
        """The assumption that these failures break, or none."""
        return Assumption(not self.counts, tuple(self.kept), self.counts)


def read_collocation(path: str) -> dict[str, str]:
    """Read a collocation from a file with two columns: a token and its next token.

    Raises:
        InputError: the file cannot be read, a line does not have two columns, or a token has two.
    """
    collocation: dict[str, str] = {}
    name = path_name(path)
    for number, line in numbered_lines(path):
        words = line.split()
        if len(words) != 2:
            raise InputError(
                f"{name}:{number}: {len(words)} columns where two are needed; write a token, white "
                "space, and its next token"
            )
        token, following = words
        if collocation.setdefault(token, following) != following:
            raise InputError(
                f"{name}:{number}: {_quoted(token)} has the next token "
                f"{_quoted(collocation[token])} further up and {_quoted(following)} here; keep one "
                "of them"
            )
    if not collocation:
        raise InputError(f"{name}: no collocation in it; write a token and its next token per line")
    return collocation


def analyse(
    data: Dataset,
    given: Mapping[str, str] | None = None,
    *,
    max_witnesses: int = MAX_WITNESSES,
    max_pairs: int = MAX_PAIRS,
) -> Structure:
    """Collocation, orders and assumptions of a data set (huang2024, Section 4.1).

    Time and memory are linear in the data and in the number of pairs that the samples force. Beyond
    the caches of the processor each step takes longer: from 10^4 to 10^5 samples the time per
    sample grew by 1.6, from 10^5 to 10^6 by 1.1.

    Args:
        data: the data set.
        given: next tokens of tokens that start no sentence; its tokens join the vocabulary.
        max_witnesses: how many failures of each rule are listed; all are counted.
        max_pairs: how many pairs all orders may hold together.

    Raises:
        InputError: the orders would hold more than `max_pairs` pairs.
    """
    data = with_tokens(data, given or {})
    failures = _Failures(max_witnesses)
    collocation = find_collocation(data, given or {}, failures)
    if any(following is None for following in collocation.values()):
        return Structure(data, collocation, None, failures.result(), Assumption(None))
    total = {token: following for token, following in collocation.items() if following is not None}
    frequent = _Failures(max_witnesses)
    pairs = _Walk(data, total, failures, frequent, max_pairs).run()
    orders = {}
    for query in data.vocabulary:
        if query in pairs:
            orders[query] = PartialOrder(query, frozenset(pairs[query]))
            _note_confused(orders[query], pairs[query], failures)
    return Structure(data, collocation, orders, failures.result(), frequent.result())


def orders_under(
    data: Dataset, following: Mapping[str, str | None], *, max_pairs: int = MAX_PAIRS
) -> dict[str, PartialOrder]:
    """The orders of Definition 1 under any next-token map, also one that is not defined everywhere.

    Nothing is asked of the map: it may contradict the data, and need not be injective. A token
    without a next token is optimal nowhere.

    Args:
        data: the data set.
        following: n, or None, for each token of the vocabulary.
        max_pairs: how many pairs all orders may hold together.

    Raises:
        InputError: the orders would hold more than `max_pairs` pairs.
    """
    nowhere = ""  # no token is empty, so this one follows nothing
    wider = with_tokens(data, {nowhere: nowhere})
    total = {token: following.get(token) or nowhere for token in wider.vocabulary}
    pairs = _Walk(wider, total, _Failures(0), _Failures(0), max_pairs).run()
    return {
        query: PartialOrder(query, frozenset(pairs[query]))
        for query in data.vocabulary
        if query in pairs
    }


def analyse_collocation(
    data: Dataset, given: Mapping[str, str] | None = None, *, max_witnesses: int = MAX_WITNESSES
) -> Structure:
    """The collocation alone, where the orders of a data set would be too large.

    Assumption 1 is not decided, unless the collocation breaks it already.
    """
    data = with_tokens(data, given or {})
    failures = _Failures(max_witnesses)
    collocation = find_collocation(data, given or {}, failures)
    found = failures.result()
    realizable = found if found.holds is False else Assumption(None)
    return Structure(data, collocation, None, realizable, Assumption(None))


def with_tokens(data: Dataset, given: Mapping[str, str]) -> Dataset:
    """The data set with the tokens of a given collocation in its vocabulary."""
    known = dict.fromkeys(data.vocabulary)
    known.update(dict.fromkeys(given))
    known.update(dict.fromkeys(given.values()))
    if len(known) == len(data.vocabulary):
        return data
    return Dataset(tuple(known), data.lines, data.prefixes, data.name)


def find_collocation(
    data: Dataset, given: Mapping[str, str], failures: _Failures
) -> dict[str, str | None]:
    """The map n: next token of each one-token sentence (huang2024, Section 4.1)."""
    names = data.vocabulary
    seen: dict[str, dict[str, SampleAt]] = {}
    for place, line in enumerate(data.lines):
        if data.prefixes or len(line.tokens) == 2:
            token, following = names[line.tokens[0]], names[line.tokens[1]]
            seen.setdefault(token, {}).setdefault(following, SampleAt(place, 1))
    collocation: dict[str, str | None] = {}
    for token in names:
        found = seen.get(token, {})
        choices = dict.fromkeys([*([given[token]] if token in given else []), *found])
        collocation[token] = next(iter(choices)) if len(choices) == 1 else None
        if not choices and failures.note("collocation-missing"):
            message = (
                f"no sentence starts with {_quoted(token)}, so its next token n is not defined; "
                "add a sentence that starts with it, or give the collocation in a file"
            )
            failures.kept.append(Failure("collocation-missing", (token,), (), message))
        if len(choices) > 1 and failures.note("collocation-ambiguous"):
            message = f"{_quoted(token)} has more than one next token: {_listed(choices)}"
            samples = tuple(found.values())[:2]
            failures.kept.append(Failure("collocation-ambiguous", (token,), samples, message))
    _note_shared(collocation, seen, failures)
    return collocation


def _note_shared(
    collocation: Mapping[str, str | None],
    seen: Mapping[str, Mapping[str, SampleAt]],
    failures: _Failures,
) -> None:
    """Note tokens that share their next token: the paper's collocation is injective."""
    first: dict[str, str] = {}
    for token, following in collocation.items():
        if following is None or first.setdefault(following, token) == token:
            continue
        if failures.note("collocation-not-injective"):
            twin = first[following]
            both = [seen[t][following] for t in (twin, token) if following in seen.get(t, {})]
            message = (
                f"{_quoted(twin)} and {_quoted(token)} have the same next token "
                f"{_quoted(following)}"
            )
            failures.kept.append(
                Failure("collocation-not-injective", (twin, token), tuple(both), message)
            )


def _note_confused(
    order: PartialOrder, witnesses: Mapping[Pair, SampleAt], failures: _Failures
) -> None:
    """Note tokens that one sample puts above and another puts below."""
    if not order.confused:
        return
    above: dict[str, Pair] = {}
    below: dict[str, Pair] = {}
    for pair in witnesses:
        below.setdefault(pair[0], pair)
        above.setdefault(pair[1], pair)
    for token in sorted(order.confused):
        if not failures.note("confused-token"):
            continue
        up, down = above[token], below[token]
        message = (
            f"under query {_quoted(order.query)}, {_quoted(up[0])} lies above {_quoted(token)}, "
            f"which lies above {_quoted(down[1])}"
        )
        tokens = (order.query, token, up[0], down[1])
        samples = (witnesses[up], witnesses[down])
        failures.kept.append(Failure("confused-token", tokens, samples, message))


class _Walk:
    """One pass over the sentences that collects pairs and notes what Assumptions 1 and 3 forbid.

    Along a line the set of tokens only grows. So a query that meets the same next token again
    compares only what is new since, and the work is that of the pairs. Where many tokens share
    their next token, nothing may be looked at that does not lead to a pair.
    """

    def __init__(
        self,
        data: Dataset,
        collocation: Mapping[str, str],
        failures: _Failures,
        frequent: _Failures,
        max_pairs: int,
    ) -> None:
        self.data, self.failures, self.frequent = data, failures, frequent
        self.max_pairs, self.total = max_pairs, 0
        numbers = {token: number for number, token in enumerate(data.vocabulary)}
        self.next_of = [numbers[collocation[token]] for token in data.vocabulary]
        self.pairs: dict[str, dict[Pair, SampleAt]] = {}

    def run(self) -> dict[str, dict[Pair, SampleAt]]:
        """For each query, its pairs with the first sample that forces each."""
        for place in range(len(self.data.lines)):
            self._line(place)
        return self.pairs

    def _line(self, place: int) -> None:
        tokens, start = self.data.lines[place].tokens, self.data.starts[place]
        counts: dict[int, int] = {}
        votes: dict[int, int] = {}  # for each label, how many places of the sentence map to it
        sources: dict[int, list[int]] = {}  # and which of the tokens seen
        # by query and next token: how many seen tokens and sources are compared, what lies below
        compared: dict[tuple[int, int], tuple[int, int, list[int]]] = {}
        seen: list[int] = []
        most = tokens[0]  # the token that occurs most often so far
        for length in range(1, len(tokens)):
            query, following = tokens[length - 1], tokens[length]
            if query not in counts:
                sources.setdefault(self.next_of[query], []).append(query)
                seen.append(query)
            counts[query] = counts.get(query, 0) + 1
            votes[self.next_of[query]] = votes.get(self.next_of[query], 0) + 1
            if counts[query] > counts[most]:
                most = query
            if length < start:
                continue
            sample = SampleAt(place, length)
            if following not in votes:
                self._note_unexplained(sample, following)
                continue
            if counts[most] > votes[following]:
                self._note_outnumbered(sample, most, counts[most], votes[following])
            uppers = sources[following]
            done, above, lowers = compared.get((query, following), (0, 0, []))
            if done < len(seen) and len(uppers) < len(seen):
                fresh = [lower for lower in seen[done:] if self.next_of[lower] != following]
                lowers += fresh
                if fresh:
                    self._compare(uppers[:above], fresh, sample)
                self._compare(uppers[above:], lowers, sample)
                compared[query, following] = len(seen), len(uppers), lowers

    def _compare(self, uppers: list[int], lowers: list[int], sample: SampleAt) -> None:
        """Put each upper token above every lower one."""
        names = self.data.vocabulary
        query = names[self.data.lines[sample.line].tokens[sample.length - 1]]
        for upper in uppers:
            pairs = self.pairs.setdefault(query, {})
            before = len(pairs)
            for lower in lowers:
                pairs.setdefault((names[upper], names[lower]), sample)
            self.total += len(pairs) - before
            if self.total > self.max_pairs:
                line = self.data.lines[sample.line].number
                raise InputError(
                    f"{self.data.name}:{line}: the partial orders hold more than {self.max_pairs} "
                    "pairs; use fewer or shorter sentences, or raise --max-pairs"
                )

    def _note_unexplained(self, sample: SampleAt, following: int) -> None:
        if self.failures.note("next-token-unexplained"):
            token = self.data.vocabulary[following]
            message = f"the next token {_quoted(token)} is not n of any token of its sentence"
            self.failures.kept.append(
                Failure("next-token-unexplained", (token,), (sample,), message)
            )

    def _note_outnumbered(self, sample: SampleAt, most: int, often: int, optimal: int) -> None:
        if self.frequent.note("optimal-token-outnumbered"):
            token = self.data.vocabulary[most]
            message = (
                f"the non-optimal token {_quoted(token)} occurs {often} times in the sentence, "
                f"optimal tokens only {optimal}"
            )
            self.frequent.kept.append(
                Failure("optimal-token-outnumbered", (token,), (sample,), message)
            )


def _quoted(token: str) -> str:
    """A token for a message, cut where it is long."""
    return repr(token if len(token) <= _SHOWN_LETTERS else token[: _SHOWN_LETTERS - 1] + "…")


def _listed(tokens: Iterable[str]) -> str:
    """Tokens for a message, cut after ten."""
    words = [_quoted(token) for token in islice(tokens, 11)]
    return ", ".join(words[:10]) + (", ..." if len(words) > 10 else "")


def describe_sample(data: Dataset, sample: SampleAt) -> dict[str, object]:
    """Where a sample is and what it says; the middle of a long sentence is left out."""
    line = data.lines[sample.line]
    half = _SHOWN_TOKENS // 2
    tokens = line.tokens[: sample.length]
    words = [data.vocabulary[token] for token in tokens]
    if len(words) > _SHOWN_TOKENS:
        words = [*words[:half], "…", *words[-half:]]
    return {
        "file": data.name,
        "line": line.number,
        "length": sample.length,
        "sentence": words,
        "next": data.vocabulary[line.tokens[sample.length]],
    }
