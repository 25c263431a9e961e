"""Stage 2 in numbers of any kind, written from the paper, without the code that trains.

Slow and small on purpose: it is the second opinion on the proofs. `loss_and_force` takes floats,
balls and mpmath numbers. Elsewhere weights are a dictionary from (query, token) to a number, and
every function works at the precision that mpmath is set to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from mpmath import mp

from ntpbook.shared import digits

Weights = dict[tuple[int, int], Any]
Pair = tuple[int, int, int]  # query, optimal token, rival


@dataclass(frozen=True)
class Sample:
    """A sample that compares tokens; the order of its sentence before the query does not matter.

    Attributes:
        query: the last token of the sentence.
        optimal: the token o of the sentence with n(o) the next token.
        count: how often o occurs.
        rivals: the other tokens, each with how often it occurs.
        pi: its share of the data.
    """

    query: int
    optimal: int
    count: int
    rivals: tuple[tuple[int, int], ...]
    pi: Any

    @property
    def length(self) -> int:
        """Tokens of the sentence."""
        return self.count + sum(count for _, count in self.rivals)


@dataclass(frozen=True)
class Data:
    """Comparing samples under Assumption 1, with the shares that they have among themselves.

    Attributes:
        vocab_size: |V|.
        samples: the samples; a token has one role per query.
    """

    vocab_size: int
    samples: tuple[Sample, ...]

    def __post_init__(self) -> None:
        optimal = {(sample.query, sample.optimal) for sample in self.samples}
        below = {(sample.query, j) for sample in self.samples for j, _ in sample.rivals}
        if optimal & below:
            raise ValueError(f"confused tokens {sorted(optimal & below)}; Assumption 1 must hold")

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs e = (q, a, b), sorted."""
        return tuple(sorted({(n.query, n.optimal, j) for n in self.samples for j, _ in n.rivals}))

    @cached_property
    def max_length(self) -> int:
        """L, the longest sentence."""
        return max(sample.length for sample in self.samples)

    @property
    def frequent(self) -> bool:
        """Whether Assumption 3 holds."""
        return all(count <= n.count for n in self.samples for _, count in n.rivals)

    @property
    def pi_min(self) -> Any:
        """The smallest share."""
        return min(sample.pi for sample in self.samples)

    @cached_property
    def star(self) -> dict[tuple[int, int], Fraction]:
        """W*, exact."""
        found = {}
        for query in {q for q, _, _ in self.pairs}:
            column = max_margin({(a, b) for q, a, b in self.pairs if q == query})
            found.update({(query, token): score for token, score in column.items()})
        return found

    @cached_property
    def S(self) -> Fraction:
        """||W*||^2, exact."""
        return sum((score**2 for score in self.star.values()), Fraction(0))

    @property
    def zero(self) -> Weights:
        """The start of stage 2."""
        return {place: mp.mpf(0) for place in self.star}


def max_margin(pairs: set[tuple[int, int]]) -> dict[int, Fraction]:
    """One column of W*: the shortest vector with w_a - w_b >= 1 for all pairs, by brute force.

    Of the sets of optimal tokens one takes the largest among those with the fewest rivals per
    token: with k tokens and m rivals it scores m / (k + m) and -k / (k + m), and goes.

    Raises:
        ValueError: there are more than 12 optimal tokens, too many sets to look at.
    """
    column: dict[int, Fraction] = {}
    while pairs:
        above = sorted({a for a, _ in pairs})
        if len(above) > 12:
            raise ValueError(f"{len(above)} optimal tokens; at most 12 can be tried")
        near = {a: frozenset(b for x, b in pairs if x == a) for a in above}
        sets = [group for k in range(1, len(above) + 1) for group in combinations(above, k)]
        rivals = {group: frozenset().union(*(near[a] for a in group)) for group in sets}
        best = min(sets, key=lambda group: (Fraction(len(rivals[group]), len(group)), -len(group)))
        k, m = len(best), len(rivals[best])
        column.update(dict.fromkeys(best, Fraction(m, k + m)))
        column.update(dict.fromkeys(rivals[best], Fraction(-k, k + m)))
        pairs = {(a, b) for a, b in pairs if a not in best and b not in rivals[best]}
    return column


def margins(sample: Sample, W: Mapping[tuple[int, int], Any]) -> list[Any]:
    """u_j = W[o, q] - W[j, q] of the rivals."""
    top = W[sample.query, sample.optimal]
    return [top - W[sample.query, j] for j, _ in sample.rivals]


def effective_margins(sample: Sample, W: Mapping[tuple[int, int], Any]) -> list[Any]:
    """u~_j = u_j - log(c_j / c_o) of the rivals."""
    return [
        u - mp.log(mp.mpf(count) / sample.count)
        for u, (_, count) in zip(margins(sample, W), sample.rivals, strict=True)
    ]


def ratios(sample: Sample, W: Mapping[tuple[int, int], Any]) -> list[Any]:
    """m_j / m_o of the rivals."""
    return [mp.exp(-u) for u in effective_margins(sample, W)]


class OneSample(NamedTuple):
    """What one sample adds to loss and gradient.

    Attributes:
        m_o: the attention on the optimal token.
        near: T_j / T_o of each rival.
        X: (1 - T_o) / T_o; the loss is log(1 + X).
        b: pi b_j of each rival, b_j = A m_j h_j.
    """

    m_o: Any
    near: list[Any]
    X: Any
    b: list[Any]


def loss_and_force(
    x: Sequence[Any],
    A: Any,
    vocab_size: int,
    pi: Any = 1,
    exp: Callable[[Any], Any] = mp.exp,
    total: Callable[[Iterable[Any]], Any] = mp.fsum,
) -> OneSample:
    """One sample over any numbers with this exponential and sum; nothing cancels where x <= 1.

    h_j = (1 - T_o) (tau_j + m_o s + sum_k (m_o - m_k) tau_k), whose terms are not negative there.

    Args:
        x: m_j / m_o of each rival.
        A: the gap.
        vocab_size: |V|.
        pi: the share of the sample.
        exp: the exponential.
        total: the sum.
    """
    m_o = 1 / (1 + total(x))
    near = [exp(-A * m_o * (1 - part)) for part in x]
    far = (vocab_size - 1 - len(x)) * exp(-A * m_o)
    X = total(near) + far
    pairs = list(zip(x, near, strict=True))
    common = m_o * far / X + total([m_o * (1 - part) * e / X for part, e in pairs])
    scale = pi * A * X / (1 + X)
    return OneSample(m_o, near, X, [scale * m_o * part * (e / X + common) for part, e in pairs])


def samples_at(data: Data, W: Mapping[tuple[int, int], Any], A: Any) -> list[OneSample]:
    """The samples at these weights."""
    return [loss_and_force(ratios(n, W), A, data.vocab_size, n.pi) for n in data.samples]


def forces(data: Data, W: Mapping[tuple[int, int], Any], A: Any) -> list[list[Any]]:
    """pi_n b_nj for each sample and rival."""
    return [one.b for one in samples_at(data, W, A)]


def gradient(data: Data, b: Sequence[Sequence[Any]]) -> Weights:
    """Minus the gradient, sum of pi_n b_nj (e_o - e_j) e_q^T."""
    found = data.zero
    for sample, values in zip(data.samples, b, strict=True):
        for (j, _), value in zip(sample.rivals, values, strict=True):
            found[sample.query, sample.optimal] += value
            found[sample.query, j] -= value
    return found


def plain_gradient(data: Data, W: Mapping[tuple[int, int], Any], A: Any) -> Weights:
    """Minus the gradient by equation (6), position by position; needs many digits.

    X (diag(phi) - phi phi^T) X^T W_ov^T (T - p), with the columns A (e_{n(x)} - 1 / |V|) of W_ov
    and n(x) = x + 1 modulo |V|.
    """
    found = data.zero
    for sample in data.samples:
        tokens = [sample.optimal] * sample.count
        tokens += [j for j, count in sample.rivals for _ in range(count)]
        column = {token: W[sample.query, token] for token in tokens}
        pull = sentence_gradient(tokens, sample.optimal, data.vocab_size, column, A)
        for token, value in pull.items():
            found[sample.query, token] += sample.pi * value
    return found


def sentence_gradient(
    tokens: Sequence[int], before: int, vocab_size: int, column: Mapping[int, Any], A: Any
) -> dict[int, Any]:
    """Minus the gradient of the loss of one sentence, by equation (6).

    Args:
        tokens: the sentence without its order.
        before: the token x with n(x) the next token; the paper supposes that it is in the sentence.
        vocab_size: |V|.
        column: the column of W_kq at the query.
        A: the gap.
    """
    E = np.eye(vocab_size, dtype=object)
    X, W_ov = E[:, list(tokens)], (np.roll(E, 1, axis=0) - mp.mpf(1) / vocab_size) * A
    scores = np.array([column[token] for token in tokens], dtype=object)
    G = digits.sentence_gradient(X, W_ov, scores, (before + 1) % vocab_size)
    return {token: -G[token] for token in dict.fromkeys(tokens)}


def inner(W: Mapping[tuple[int, int], Any], V: Mapping[tuple[int, int], Any]) -> Any:
    """<W, V>."""
    return mp.fdot((as_real(W[place]), as_real(V[place])) for place in W)


def as_real(value: Any) -> Any:
    """A number of mpmath, at its precision, also from a fraction."""
    if isinstance(value, Fraction):
        return mp.mpf(value.numerator) / value.denominator
    return value if isinstance(value, mp.mpf) else mp.mpf(value)


def run(data: Data, A: Any, eta: Any, steps: int, *, plain: bool = False) -> Iterator[Weights]:
    """W^(1), ..., W^(steps) of equation (7) for stage 2, from W = 0.

    Args:
        data: the samples.
        A: the gap of stage 1.
        eta: the step size.
        steps: how many.
        plain: whether the gradient comes from `plain_gradient`.
    """
    W, A, eta = data.zero, mp.mpf(A), mp.mpf(eta)
    for _ in range(steps):
        G = plain_gradient(data, W, A) if plain else gradient(data, forces(data, W, A))
        norm = mp.sqrt(inner(G, G))
        W = {place: W[place] + eta * G[place] / norm for place in W}
        yield W
