"""Why the closed form of Proposition 2 is right or wrong under one query, in numbers and words."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from ntpcli.terminal import show
from ntpcore.data.order import PartialOrder
from ntpcore.exact import margin
from ntpplayground.diagram import LISTED, listed


class Hall(NamedTuple):
    """A set S of optimal tokens that breaks the Hall condition.

    Attributes:
        tokens: S.
        below: N(S), all that lies below a token of S.
        push: what the tokens of S must push down together, |S| m / (k+m).
        take: what the tokens of N(S) can take together, |N(S)| k / (k+m).
    """

    tokens: tuple[str, ...]
    below: tuple[str, ...]
    push: Fraction
    take: Fraction


class Comparison(NamedTuple):
    """The closed form of Proposition 2 beside the exact solution of one query.

    Attributes:
        closed: the scores that the closed form gives.
        exact: the exact solution.
        hall: why the two differ; None where they agree.
    """

    closed: margin.Scores
    exact: margin.Solution
    hall: Hall | None


def compare(order: PartialOrder, exact: margin.Solution) -> Comparison:
    """Hold the closed form of a query against its exact solution.

    Raises:
        ValueError: the order compares no two tokens, or has a confused token.
    """
    closed = margin.closed_form_scores(order)
    tokens = tuple(sorted(margin.hall_violation(order)))
    assert bool(tokens) == (closed != exact.scores), "the Hall condition decides who is right"
    if not tokens:
        return Comparison(closed, exact, None)
    k, m = len(order.optimal), len(order.nonoptimal)
    below = tuple(sorted({lower for token in tokens for lower in order.below[token]}))
    high, low = margin.closed_form(k, m)
    push, take = len(tokens) * high, -len(below) * low
    return Comparison(closed, exact, Hall(tokens, below, push, take))


def in_words(order: PartialOrder, found: Comparison) -> list[str]:
    """What the closed form claims, what is true and why, a paragraph each."""
    k, m = len(order.optimal), len(order.nonoptimal)
    upper, lower = margin.closed_form(k, m)
    claimed, true = margin.norm_squared(found.closed), margin.norm_squared(found.exact.scores)
    claim = (
        f"What the closed form claims. Under {show(order.query)} there are k = {k} optimal and "
        f"m = {m} non-optimal tokens. Each optimal token ({listed(order.optimal)}) scores "
        f"m/(k+m) = {upper}, each non-optimal one ({listed(order.nonoptimal)}) "
        f"−k/(k+m) = {_signed(lower)}. For these scores, the squared norm is {claimed}."
    )
    if found.hall is None:
        return [
            claim,
            f"What is true. The exact solution is the same, with squared norm {true}. The Hall "
            "condition holds: k |N(S)| ≥ m |S| for every set S of optimal tokens, N(S) being what "
            "lies below S.",
        ]
    return [claim, _truth(found, claimed, true), *_reason(order, found, found.hall)]


def _truth(found: Comparison, claimed: Fraction, true: Fraction) -> str:
    """What the exact solution is."""
    blocks = "; ".join(
        f"{listed(block.optimal)} {block.value}, {listed(block.nonoptimal)} "
        f"{_signed(block.value - 1)}"
        for block in found.exact.blocks
    )
    return (
        f"What is true. These scores keep every margin at least 1, too: {blocks}. Their squared "
        f"norm is only {true}, which is smaller than {claimed}. So the closed form is not the "
        "solution of smallest norm."
    )


def _reason(order: PartialOrder, found: Comparison, hall: Hall) -> list[str]:
    """Which set breaks the condition, and why that matters."""
    k, m = len(order.optimal), len(order.nonoptimal)
    s, n = len(hall.tokens), len(hall.below)
    one = s == 1
    return [
        f"Why. The closed form needs the Hall condition: k |N(S)| ≥ m |S| for every set S of "
        f"optimal tokens, N(S) being what lies below S. Take S = {{{_members(hall.tokens)}}}. "
        f"Below {'it' if one else 'them'} lies only N(S) = {{{_members(hall.below)}}}, so "
        f"k |N(S)| = {k}·{n} = {k * n}, which is less than m |S| = {m}·{s} = {m * s}.",
        f"In other words. A solution of smallest norm has a non-negative weight on every pair. The "
        f"score of an optimal token is the sum of the weights of its pairs, and the score of a "
        f"non-optimal token is minus the sum of the weights of its pairs. With the scores of the "
        f"closed form, the weights of all pairs of {listed(hall.tokens)} would sum to {hall.push}. "
        f"All of these are also pairs of {listed(hall.below)}. But the weights of all pairs of "
        f"{listed(hall.below)} would sum to only {hall.take}. No such weights exist. The exact "
        f"solution splits the tokens into {len(found.exact.blocks)} blocks, each with scores of "
        f"its own.",
    ]


def _members(tokens: tuple[str, ...]) -> str:
    """The members of a set, the first few of many."""
    more = ", …" if len(tokens) > LISTED else ""
    return ", ".join(show(token) for token in tokens[:LISTED]) + more


def _signed(value: Fraction) -> str:
    """A fraction with a proper minus sign."""
    return str(value).replace("-", "−")
