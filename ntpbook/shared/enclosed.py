"""Stage 2 on small data in interval arithmetic: numbers that are certain, for witnesses.

Written from equations (9) and (10). Minus the gradient of a sample is A pi sum_k m_k h_k
(e_o - e_k) e_q^T over its rivals k, with h_k = T_k + m_o T_absent + sum_i T_i (m_o - m_i); the
module `one_sample` derives this. Where o leads nothing is subtracted but scores, so that intervals
of sixty digits lose about forty in five hundred steps of Example 1, and stay narrow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ntpcore.data.dataset import Dataset
from ntpcore.data.order import analyse
from ntpcore.exact import margin

DIGITS = 80
SHOWN = 10**9  # an end of an interval is rounded outwards to nine digits behind the point

Entry = tuple[str, str]  # query and token


@contextmanager
def digits(number: int = DIGITS) -> Iterator[Any]:
    """mpmath's interval context with so many digits."""
    from mpmath import iv

    before = iv.dps
    iv.dps = number
    try:
        yield iv
    finally:
        iv.dps = before


def lower(interval: Any) -> Fraction:
    """A fraction with few digits that is at most every number of an interval."""
    return _end(interval.a, -1)


def upper(interval: Any) -> Fraction:
    """A fraction with few digits that is at least every number of an interval."""
    return _end(interval.b, 1)


def _end(end: Any, side: int) -> Fraction:
    """An end of an interval, rounded to the given side."""
    from mpmath import mp

    with mp.workdps(10 * DIGITS):
        scaled = mp.mpf(end) * SHOWN
        return Fraction(int(mp.ceil(scaled) if side > 0 else mp.floor(scaled)), SHOWN)


def down(number: Fraction, places: int) -> float:
    """The number rounded down to so many places, as pages print a lower bound."""
    return float(Fraction(math.floor(number * 10**places), 10**places))


def up(number: Fraction, places: int) -> float:
    """The number rounded up to so many places."""
    return float(Fraction(math.ceil(number * 10**places), 10**places))


@dataclass(frozen=True)
class Enclosed:
    """Stage 2 after some steps; every number is an interval that holds the true one.

    Attributes:
        step: t.
        cosine: of minus the gradient and W_kq*.
        weights: of the optimal token of each sample, all its positions together.
        rests: the weight off it, of each sample.
        r: ||W_kq|| / ||W_kq*||.
        W: the entries of W_kq by query and token.
    """

    step: int
    cosine: Any
    weights: tuple[Any, ...]
    rests: tuple[Any, ...]
    r: Any
    W: dict[Entry, Any]


@dataclass(frozen=True)
class _Sample:
    """A sample with several tokens: its share, query, optimal token, and ratios of counts."""

    pi: Fraction
    query: str
    optimal: str
    ratio: dict[str, Fraction]  # of each rival's count by that of the optimal token


def follow(
    data: Dataset, eta: Fraction, steps: int, gap: Any, counts: Sequence[int] | None = None
) -> Enclosed:
    """Stage 2 from zero, enclosed; call it within `digits`.

    Args:
        data: realizable data with Assumption 3.
        eta: step size.
        steps: number of steps.
        gap: A, an interval.
        counts: how often each sample occurs, in their order; None for the counts of the data.
    """
    from mpmath import iv

    samples = _samples(data, counts)
    star = {
        (query, token): score
        for query, solution in margin.W_kq_star(analyse(data).orders or {}).items()
        for token, score in solution.scores.items()
    }
    W = {entry: iv.mpf(0) for entry in star}
    size = iv.sqrt(_exact(sum((score**2 for score in star.values()), Fraction(0))))
    for step in range(steps + 1):
        moves, odds = _forces(samples, len(data.vocabulary), gap, W)
        length = iv.sqrt(sum((move**2 for move in moves.values()), iv.mpf(0)))
        if step < steps:
            rate = _exact(eta) / length
            W = {entry: W[entry] + rate * moves[entry] for entry in W}
    along = sum((moves[entry] * _exact(star[entry]) for entry in W), iv.mpf(0))
    norm = iv.sqrt(sum((entry**2 for entry in W.values()), iv.mpf(0)))
    weights = tuple(1 / (1 + one) for one in odds)
    rests = tuple(one / (1 + one) for one in odds)
    return Enclosed(steps, along / length / size, weights, rests, norm / size, W)


def _samples(data: Dataset, counts: Sequence[int] | None) -> list[_Sample]:
    """The samples with at least two distinct tokens."""
    n, found = analyse(data).collocation, []
    times = [sample.count for sample in data.samples()] if counts is None else counts
    total = sum(times)
    for sample, often in zip(data.samples(), times, strict=True):
        words = sample.sentence
        best = next(x for x in words if n[x] == sample.next_token)
        rivals = [x for x in dict.fromkeys(words) if x != best]
        ratio = {x: Fraction(words.count(x), words.count(best)) for x in rivals}
        if rivals:
            found.append(_Sample(Fraction(often, total), words[-1], best, ratio))
    return found


def _forces(
    samples: list[_Sample], vocab_size: int, gap: Any, W: dict[Entry, Any]
) -> tuple[dict[Entry, Any], list[Any]]:
    """Minus the gradient divided by A, and the odds against the optimal token of each sample."""
    from mpmath import iv

    moves, against = {entry: iv.mpf(0) for entry in W}, []
    for one in samples:
        best = W[one.query, one.optimal]
        odds = {x: _exact(c) * iv.exp(W[one.query, x] - best) for x, c in one.ratio.items()}
        against.append(sum(odds.values(), iv.mpf(0)))
        m_o = 1 / (1 + against[-1])  # (9)
        lead = {x: m_o * (1 - part) for x, part in odds.items()}
        wrong = {x: iv.exp(-gap * lead[x]) for x in odds}  # T_x / T_o
        absent = (vocab_size - 1 - len(odds)) * iv.exp(-gap * m_o)
        T_o = 1 / (1 + sum(wrong.values(), absent))
        shared = m_o * absent + sum((wrong[x] * lead[x] for x in odds), iv.mpf(0))
        for x, part in odds.items():
            b = _exact(one.pi) * m_o * part * T_o * (wrong[x] + shared)
            moves[one.query, x] -= b
            moves[one.query, one.optimal] += b
    return moves, against


def _exact(number: Fraction) -> Any:
    """A fraction as an interval."""
    from mpmath import iv

    return iv.mpf(number.numerator) / number.denominator


def paper_gap(vocab_size: int, steps1: int) -> Any:
    """A = T eta_0 / sqrt(|V| - 1) with the paper's eta_0 = 0.2 / sqrt(|V|), as an interval."""
    from mpmath import iv

    return iv.mpf(steps1) / (5 * iv.sqrt(vocab_size) * iv.sqrt(vocab_size - 1))
