"""Figure 6 judged by paired differences at a stated level.

All cells of one size and seed see the same samples, so that two cells are compared seed by seed. A
comparison is resolved when the mean difference is outside its confidence interval around 0; the
level is that of all comparisons together (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Cell = tuple[int, float, float]  # queries, eta_Z, eta_Y / eta_Z

SEEDS = {1: 100, 3: 20, 5: 20, 10: 20}  # one query spreads several times as much as ten
LEVEL = 0.01
UNRESOLVED = 0.05  # share of comparisons that may stay open


@dataclass(frozen=True)
class Comparison:
    """Two neighbouring cells.

    Attributes:
        first: cell with the smaller rate or ratio.
        second: cell with the larger one.
        claimed: 1 if the paper says that entropy rises from first to second, -1 if it falls.
        mean: mean of second minus first.
        error: its standard error.
        quantile: of Student's t, how many standard errors resolve a difference.
    """

    first: Cell
    second: Cell
    claimed: int
    mean: float
    error: float
    quantile: float

    @property
    def seen(self) -> int:
        """1 for a resolved rise, -1 for a resolved fall, 0 if nothing is resolved."""
        if abs(self.mean) <= self.quantile * self.error:
            return 0
        return 1 if self.mean > 0 else -1


@dataclass(frozen=True)
class Outcome:
    """What the comparisons say together.

    Attributes:
        verdict: "seen", "not seen" or "undecided".
        supported: comparisons resolved as claimed.
        against: comparisons resolved the other way.
        unresolved: the rest.
    """

    verdict: str
    supported: tuple[Comparison, ...]
    against: tuple[Comparison, ...]
    unresolved: tuple[Comparison, ...]


def claims(table: Mapping[Cell, Floats], threshold: float = 2.0) -> list[tuple[Cell, Cell, int]]:
    """Neighbouring cells: entropy falls with eta_Z, and rises with the ratio from the threshold on.

    Args:
        table: entropies by cell, one for each seed.
        threshold: the ratio from which entropy is said to rise.
    """
    sizes, etas, ratios = (sorted({cell[i] for cell in table}) for i in range(3))
    falls = [
        ((int(q), low, r), (int(q), high, r), -1)
        for q in sizes
        for r in ratios
        for low, high in pairwise(etas)
    ]
    rises = [
        ((int(q), e, low), (int(q), e, high), 1)
        for q in sizes
        for e in etas
        for low, high in pairwise(ratios)
        if low >= threshold
    ]
    return falls + rises


def compare(one: Floats, other: Floats, level: float) -> tuple[float, float, float]:
    """Mean of other minus one, its standard error, and the two-sided quantile of Student's t.

    Args:
        one: (S,), one entropy for each seed.
        other: (S,), for the same seeds: differences are taken seed by seed.
        level: of this comparison.

    Raises:
        ValueError: a value is not finite, or there are fewer than three.
    """
    from scipy.stats import t

    gap = other - one
    if not np.isfinite(gap).all() or len(gap) < 3:
        raise ValueError("three finite values at least are needed on each side")
    error, free = gap.std(ddof=1) / len(gap) ** 0.5, len(gap) - 1.0
    return float(gap.mean()), float(error), float(t.ppf(1 - level / 2, free))


def judge(table: Mapping[Cell, Floats], threshold: float = 2.0, level: float = LEVEL) -> Outcome:
    """Seen if nothing goes against the claim and at most one comparison in twenty stays open.

    Args:
        table: entropies by cell, one for each seed.
        threshold: the ratio from which entropy is said to rise.
        level: probability that any comparison is resolved wrongly, all together.

    Raises:
        ValueError: no comparison, or values that `compare` refuses.
    """
    pairs = claims(table, threshold)
    if not pairs:
        raise ValueError("the table has no neighbouring cells")
    each = level / len(pairs)
    found = [Comparison(a, b, sign, *compare(table[a], table[b], each)) for a, b, sign in pairs]
    against = tuple(x for x in found if x.seen == -x.claimed)
    unresolved = tuple(x for x in found if x.seen == 0)
    supported = tuple(x for x in found if x.seen == x.claimed)
    if against:
        verdict = "not seen"
    else:
        verdict = "seen" if len(unresolved) <= UNRESOLVED * len(found) else "undecided"
    return Outcome(verdict, supported, against, unresolved)


def dips(table: Mapping[Cell, Floats], level: float = LEVEL) -> dict[int, str]:
    """For each size, whether entropy falls from ratio 1 to 2 for every eta_Z ("dip"), rises for
    every eta_Z ("no dip"), or neither is resolved ("undecided")."""
    sizes, etas = sorted({q for q, _, _ in table}), sorted({e for _, e, _ in table})
    found = {}
    for q in sizes:
        signs = set()
        for e in etas:
            mean, error, quantile = compare(
                table[q, e, 1.0], table[q, e, 2.0], level / (len(sizes) * len(etas))
            )
            signs.add(0 if abs(mean) <= quantile * error else int(np.sign(mean)))
        found[q] = "dip" if signs == {-1} else "no dip" if signs == {1} else "undecided"
    return found


def tails(table: Mapping[Cell, Floats], below: float = 4.0) -> dict[Cell, float]:
    """Cells with a heavy lower tail: where the least entropy is, in robust standard deviations.

    Median minus least, by 1.4826 times the median absolute deviation; kept if above `below`.
    """
    found = {}
    for cell, values in table.items():
        middle = np.median(values)
        scale = 1.4826 * float(np.median(np.abs(values - middle)))
        depth = float(middle - values.min()) / scale
        if depth > below:
            found[cell] = depth
    return found
