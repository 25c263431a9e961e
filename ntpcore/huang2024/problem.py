"""The training problem of stage 2 as arrays: what Algorithm 1 needs of a data set, and no more.

W_kq is stored as one number for each pair of a query and a token that occurs with this query in a
sentence of at least two distinct tokens. Every other entry of W_kq stays 0. A realizable data set
has one optimal token in each sentence, because its collocation is injective.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ntpcore.data.dataset import Dataset, InputError
from ntpcore.data.order import PartialOrder, Structure, analyse
from ntpcore.exact import margin, margin_fast
from ntpcore.huang2024.logs import log_sum

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FEW = 1000  # pairs that `margin` solves in the time that compiled code takes to load
# query, optimal token, tokens with their numbers of occurrences
_Shape = tuple[int, int, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, eq=False)
class Problem:
    """Data of stage 2 as sparse arrays: K entries of W_kq, S merged samples, M rivals.

    A rival is a non-optimal token of a merged sample; M counts the rivals of all merged samples.

    Samples with the same query, the same optimal token and the same number of occurrences of each
    token have the same loss, so they form one merged sample. Samples with one distinct
    token are left out, because their attention cannot change.

    Attributes:
        vocabulary: the tokens; a token's number is its index in `vocabulary`.
        following: (|V|,), the collocation n by numbers.
        entry_query: (K,), query of each entry of W_kq, non-decreasing.
        entry_token: (K,), token of each entry, increasing within a query.
        optimal: (S,), entry of the optimal token of each merged sample.
        optimal_count: (S,), how often the optimal token occurs in the sentence.
        start: (S + 1,), the rivals of merged sample i are start[i], ..., start[i + 1] - 1.
        rival: (M,), entry of each non-optimal token of a merged sample.
        rival_count: (M,), how often each rival occurs in the sentence.
        log_pi: (S,), log of the share of each merged sample in the data, in nats.
        sample_count: N, the number of distinct samples before merging.
        max_length: L_max, tokens of the longest sentence.
        log_pi_min: log of the smallest share of one distinct sample, in nats.
        prefix_closed: whether every prefix of a sample is a sample.
        frequent: whether Assumption 3 holds.
    """

    vocabulary: tuple[str, ...]
    following: Integers
    entry_query: Integers
    entry_token: Integers
    optimal: Integers
    optimal_count: Integers
    start: Integers
    rival: Integers
    rival_count: Integers
    log_pi: Floats
    sample_count: int
    max_length: int
    log_pi_min: float
    prefix_closed: bool
    frequent: bool

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def vocab_size(self) -> int:
        """|V|, the number of tokens."""
        return len(self.vocabulary)

    @cached_property
    def log_ratio(self) -> Floats:
        """(M,), log of the count of each rival divided by the count of the optimal token."""
        ratio: Floats = np.log(self.rival_count) - np.log(self.optimal_count)[self.sample_of]
        ratio.setflags(write=False)
        return ratio

    @cached_property
    def sample_of(self) -> Integers:
        """(M,), number of the merged sample of each rival."""
        return np.repeat(np.arange(len(self.optimal)), np.diff(self.start))

    @cached_property
    def pairs(self) -> Integers:
        """(E, 2), for each of the E pairs of compared tokens its two entries, sorted.

        The first entry is that of the token above, the second that of the token below.
        """
        both = np.stack([self.optimal[self.sample_of], self.rival], axis=1)
        return np.unique(both, axis=0)

    @cached_property
    def orders(self) -> dict[str, PartialOrder]:
        """The partial order of each query that compares tokens."""
        found: dict[str, list[tuple[str, str]]] = {}
        names = self.vocabulary
        for upper, lower in self.pairs.tolist():
            query = names[self.entry_query[upper]]
            pair = names[self.entry_token[upper]], names[self.entry_token[lower]]
            found.setdefault(query, []).append(pair)
        return {query: PartialOrder.of(query, pairs) for query, pairs in found.items()}

    @cached_property
    def columns(self) -> margin_fast.Columns:
        """The exact max-margin solution W_kq_star, by the numbers of its entries."""
        return margin_fast.solve_pairs(self.pairs[:, 0], self.pairs[:, 1], len(self.entry_query))

    @cached_property
    def solutions(self) -> Mapping[str, margin.Solution]:
        """For each query that compares tokens, the exact column of W_kq_star."""
        if self._many:
            return margin_fast.W_kq_star(self.orders)
        return margin.W_kq_star(self.orders)

    @property
    def _many(self) -> bool:
        """Whether there are so many pairs that compiled code is the quicker solver."""
        return len(self.pairs) > FEW

    @cached_property
    def norm_squared(self) -> Fraction:
        """||W_kq_star||^2, exact."""
        if self._many:
            return self.columns.norm_squared
        return margin.norm_squared(solution.scores for solution in self.solutions.values())

    @cached_property
    def norm(self) -> float:
        """||W_kq_star||, the norm of the max-margin solution."""
        return math.sqrt(self.norm_squared)

    @cached_property
    def W_kq_star(self) -> Floats:
        """(K,), the entries of the exact max-margin solution, each rounded once."""
        if self._many:
            return self.columns.scores
        names, solutions = self.vocabulary, self.solutions
        entries = zip(self.entry_query.tolist(), self.entry_token.tolist(), strict=True)
        values = [float(solutions[names[q]].scores[names[x]]) for q, x in entries]
        star = np.array(values)
        star.setflags(write=False)
        return star

    @cached_property
    def is_optimal(self) -> NDArray[np.bool_]:
        """(K,), whether each entry of W_kq is that of an optimal token, not a non-optimal one."""
        flags = np.zeros(len(self.entry_query), dtype=bool)
        flags[self.optimal] = True
        return flags

    def column(self, query: int) -> slice:
        """The slice of the entries of W_kq that belong to a query."""
        low, high = np.searchsorted(self.entry_query, [query, query + 1])
        return slice(int(low), int(high))


def from_dataset(
    data: Dataset,
    given: Mapping[str, str] | None = None,
    *,
    log_weights: Sequence[float] | None = None,
) -> Problem:
    """The training problem of a realizable data set.

    Args:
        data: the data set.
        given: next tokens of tokens that start no sentence, as for `order.analyse`.
        log_weights: log of the weight of each distinct sample, in the order of `data.samples()`,
            up to a common constant; if None, the weights are the counts of the data.

    Raises:
        InputError: Assumption 1 fails, no sentence has two distinct tokens, or the weights do not
            fit the samples.
    """
    return from_structure(analyse(data, given, max_witnesses=1), log_weights=log_weights)


def from_structure(structure: Structure, *, log_weights: Sequence[float] | None = None) -> Problem:
    """The training problem of a data set that was analyzed already; otherwise as `from_dataset`.

    Raises:
        InputError: as for `from_dataset`.
    """
    _refuse_unrealizable(structure)
    data = structure.data
    numbers = {token: number for number, token in enumerate(data.vocabulary)}
    following = [numbers[str(structure.collocation[token])] for token in data.vocabulary]
    shapes, counts = _distinct_samples(data, following)
    logs = _log_shares(counts, log_weights, data.name)
    merged: dict[_Shape, list[float]] = {}
    for shape, log_share in zip(shapes, logs, strict=True):
        if len(shape[2]) > 1:
            merged.setdefault(shape, []).append(log_share)
    if not merged:
        raise InputError(
            f"{data.name}: no sentence has two distinct tokens, so the gradient of the attention "
            "is zero everywhere and Algorithm 1 would divide by its norm; add a longer sentence"
        )
    return _arrays(structure, following, merged, len(shapes), min(logs))


def _refuse_unrealizable(structure: Structure) -> None:
    """Refuse data on which the max-margin problems of the paper are not defined."""
    failures = structure.realizable.failures
    if not structure.realizable.holds:
        raise InputError(
            f"{structure.data.name}: not realizable (Assumption 1), so there is no max-margin "
            f"solution to train towards: {failures[0].message}; `ntpcore check` lists all reasons"
        )


def _distinct_samples(data: Dataset, following: Sequence[int]) -> tuple[list[_Shape], list[int]]:
    """Shape and count of each distinct sample, in the order of `data.samples()`.

    A sentence with its next token is a node of the tree of beginnings, so equal samples are
    recognised in time linear in the data.
    """
    source = {label: token for token, label in enumerate(following)}
    children: dict[tuple[int, int], int] = {}
    place: dict[int, int] = {}  # node -> place of its sample
    shapes: list[_Shape] = []
    counts: list[int] = []
    for line in data.lines:
        node = 0
        seen: dict[int, int] = {}
        for position, (query, label) in enumerate(pairwise(line.tokens), start=1):
            seen[query] = seen.get(query, 0) + 1
            node = children.setdefault((node, query), len(children) + 1)
            if not data.prefixes and position < len(line.tokens) - 1:
                continue
            sample = children.setdefault((node, label), len(children) + 1)
            if sample not in place:
                place[sample] = len(shapes)
                shapes.append((query, source[label], tuple(sorted(seen.items()))))
                counts.append(0)
            counts[place[sample]] += line.count
    return shapes, counts


def _log_shares(
    counts: Sequence[int], log_weights: Sequence[float] | None, name: str
) -> list[float]:
    """Log of the share of each sample; the shares sum to 1."""
    if log_weights is None:
        total = math.log(sum(counts))
        return [math.log(count) - total for count in counts]
    weights = [float(weight) for weight in log_weights]
    if len(weights) != len(counts):
        raise InputError(
            f"{name}: {len(weights)} weights for {len(counts)} distinct samples; give one for each"
        )
    if not all(math.isfinite(weight) for weight in weights):
        raise InputError(f"{name}: a weight is not finite; give the logarithm of a positive number")
    total = log_sum(weights)
    return [weight - total for weight in weights]


def _arrays(
    structure: Structure,
    following: Sequence[int],
    merged: Mapping[_Shape, Sequence[float]],
    sample_count: int,
    log_pi_min: float,
) -> Problem:
    """Number the entries and lay out the merged samples, sorted by query."""
    shapes = sorted(merged)
    keys = sorted({(query, token) for query, _, tokens in shapes for token, _ in tokens})
    entry = {key: number for number, key in enumerate(keys)}
    rivals = [list(_rivals(shape)) for shape in shapes]
    return Problem(
        vocabulary=structure.data.vocabulary,
        following=_integers(following),
        entry_query=_integers([query for query, _ in keys]),
        entry_token=_integers([token for _, token in keys]),
        optimal=_integers([entry[query, best] for query, best, _ in shapes]),
        optimal_count=_integers([dict(tokens)[best] for _, best, tokens in shapes]),
        start=_integers(np.cumsum([0, *map(len, rivals)]).tolist()),
        rival=_integers([entry[q, x] for many in rivals for q, x, _ in many]),
        rival_count=_integers([count for many in rivals for _, _, count in many]),
        log_pi=np.array([log_sum(merged[shape]) for shape in shapes]),
        sample_count=sample_count,
        max_length=structure.data.max_length,
        log_pi_min=log_pi_min,
        prefix_closed=structure.data.prefix_closed,
        frequent=bool(structure.frequent.holds),
    )


def _rivals(shape: _Shape) -> Iterator[tuple[int, int, int]]:
    """Query, token and count of each non-optimal token of a sample."""
    query, best, tokens = shape
    return ((query, token, count) for token, count in tokens if token != best)


def _integers(values: Sequence[int]) -> Integers:
    """An array of 64-bit integers."""
    return np.array(values, dtype=np.int64)
