"""What the figures of the page on max-margin attention show."""

from __future__ import annotations

from collections.abc import Iterable

from ntpcore.data.order import PartialOrder
from ntpcore.exact import margin
from ntpcore.exact.judged import Column


def failure_counts(columns: Iterable[Column]) -> dict[tuple[int, int], tuple[int, int]]:
    """For each (k, m), on how many orders the closed form fails, and how many there are."""
    counts: dict[tuple[int, int], tuple[int, int]] = {}
    for one in columns:
        size = len(one.order.optimal), len(one.order.nonoptimal)
        failed, tried = counts.get(size, (0, 0))
        wrong = margin.closed_form_scores(one.order) != one.solution.scores
        counts[size] = failed + wrong, tried + 1
    return counts


def with_most_blocks(columns: Iterable[Column], most_tokens: int) -> PartialOrder:
    """The order with the most blocks, then the most slack pairs, among those small enough."""
    drawable = [one for one in columns if len(one.order.compared) <= most_tokens]
    return max(drawable, key=_blocks_and_slack).order


def _blocks_and_slack(one: Column) -> tuple[int, int]:
    """Number of blocks, and number of pairs with a margin above 1."""
    scores = one.solution.scores
    slack = sum(scores[a] - scores[b] > 1 for a, b in one.order.pairs)
    return len(one.solution.blocks), slack
