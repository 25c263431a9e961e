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
        pairs: (x, y) for each x that Definition 1 puts above y. The transitive closure is not
            taken; if no token is confused, it adds no pair.
    """

    query: str
    pairs: frozenset[Pair]

    @classmethod
    def of(cls, query: str, pairs: Iterable[Pair]) -> PartialOrder:
        """The order of a query with these pairs (upper, lower).

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
        """For each token that lies above others, the sorted tuple of the tokens below it."""
        found: dict[str, list[str]] = {}
        for upper, lower in sorted(self.pairs):
            found.setdefault(upper, []).append(lower)
        return {upper: tuple(lowers) for upper, lowers in found.items()}

    @cached_property
    def confused(self) -> frozenset[str]:
        """Tokens that lie above some token and below some token; empty if Assumption 1 holds."""
        return frozenset(self.below) & frozenset(lower for _, lower in self.pairs)

    @cached_property
    def optimal(self) -> tuple[str, ...]:
        """Tokens that lie above some token and below none, sorted.

        The paper requires only that no token lies above an optimal token. By that definition every
        non-comparable token would be optimal, too.
        """
        return tuple(upper for upper in self.below if upper not in self.confused)

    @cached_property
    def nonoptimal(self) -> tuple[str, ...]:
        """Tokens that lie below some token and above none, sorted."""
        return tuple(sorted({lower for _, lower in self.pairs} - self.confused))

    @cached_property
    def compared(self) -> frozenset[str]:
        """Tokens that occur in some pair; all others are non-comparable."""
        return frozenset(self.below) | frozenset(lower for _, lower in self.pairs)


class SampleAt(NamedTuple):
    """A sample, given by the index of its line in `Dataset.lines` and the sentence length."""

    line: int
    length: int


@dataclass(frozen=True)
class Failure:
    """One way in which an assumption fails.

    Attributes:
        rule: the name of the broken rule.
        tokens: the tokens involved.
        samples: the samples that show the failure.
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
        holds: whether the assumption holds; None if the next tokens or orders that the assumption
            is about are not defined, or not computed.
        failures: the first failures of each rule, at most `max_witnesses` of `analyse`.
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
        collocation: the map n from each token to its next token, or to None if n is not defined.
        orders: the partial order of each query that compares tokens, in order of vocabulary; None
            if not computed. `analyse` needs a `collocation` that is defined for every token.
        realizable: whether Assumption 1 holds and each next token is n of a token of its sentence.
        frequent: whether Assumption 3 holds: no token occurs more often in a sentence than all its
            optimal tokens together.
    """

    data: Dataset
    collocation: Mapping[str, str | None]
    orders: Mapping[str, PartialOrder] | None
    realizable: Assumption
    frequent: Assumption


def facts(structure: Structure) -> dict[str, bool]:
    """Whether data satisfy each of three hypotheses of Sections 4 to 6 of huang2024, by name.

    "Assumption 1": the collocation n is injective, and under no query is a token confused, that is,
    above some token and below some token. "prefix closure": ([x1 ... x(l-1)], xl) is a sample for
    each sample ([x1 ... xl], y) with l > 1 (Section 3). "source": each next token is n of a token
    of its sentence (Section 4.1). `Structure.realizable` joins Assumption 1 and source.

    Args:
        structure: the result of `analyse`.
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
    """The collocation in a file with two columns: a token and its next token.

    Raises:
        InputError: the file cannot be read or is empty, a line does not have two columns, or a
            token has two different next tokens.
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
    """The collocation, orders, and assumptions of a data set (huang2024, Section 4.1).

    The number of operations and the memory are linear in the size of the data and in the number of
    pairs that the samples force. Data that exceed the processor's caches take longer per operation:
    the time per sample grew by a factor of 1.6 from 10^4 to 10^5 samples, and of 1.1 from there to
    10^6.

    Args:
        data: the data set.
        given: next tokens of tokens that start no sentence; all its tokens join the vocabulary.
        max_witnesses: how many failures of each rule are listed; all failures are counted.
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
    """The order of each query by Definition 1, under any next-token map n.

    The map may contradict the data, need not be injective, and may be undefined for some tokens. A
    token without a next token lies above no token.

    Args:
        data: the data set.
        following: n(x) for each token x of the vocabulary, or None where n is not defined.
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


def analyse_collocation(data: Dataset, given: Mapping[str, str] | None = None) -> Structure:
    """The structure of a data set without its orders, which may be too large to compute.

    Assumption 1 is refuted if the collocation breaks the assumption, and otherwise left undecided.
    """
    data = with_tokens(data, given or {})
    failures = _Failures(MAX_WITNESSES)
    collocation = find_collocation(data, given or {}, failures)
    found = failures.result()
    realizable = found if found.holds is False else Assumption(None)
    return Structure(data, collocation, None, realizable, Assumption(None))


def with_tokens(data: Dataset, given: Mapping[str, str]) -> Dataset:
    """The data set with all tokens of a given collocation added to its vocabulary."""
    known = dict.fromkeys(data.vocabulary)
    known.update(dict.fromkeys(given))
    known.update(dict.fromkeys(given.values()))
    if len(known) == len(data.vocabulary):
        return data
    return Dataset(tuple(known), data.lines, data.prefixes, data.name)


def find_collocation(
    data: Dataset, given: Mapping[str, str], failures: _Failures
) -> dict[str, str | None]:
    """The map n, from one-token sentences and given next tokens (huang2024, Section 4.1).

    n(x) is None if these name no next token of x, or several; each such failure is noted.
    """
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
    """File, line, length, sentence, and next token of a sample; long sentences are abridged."""
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
