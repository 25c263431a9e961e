"""All columns of W_kq_star at once, in integers and with a certificate that is always verified.

The scores are those of `margin`, which is shorter, needs no numpy, and uses `Fraction`. In this
module a pair is two numbers, and one call solves all queries. A column stores the size (k, m) of
the block of each token: an optimal token scores m/(k+m), a non-optimal token -k/(k+m). A pair that
ships f units has the multiplier f/(k+m).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpcore.compiled import compiled
from ntpcore.data.order import PartialOrder
from ntpcore.exact import margin

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Numbers = NDArray[np.int32]  # of entries, pairs and steps: half the memory to walk through

Size = tuple[int, int]  # (k, m), the numbers of optimal and of non-optimal tokens of a block

UPPER, LOWER = 1, 2  # sides of a pair
NOWHERE, ELSEWHERE = -1, -2  # no way to room; not in the part that is being solved
MOST = 2**31  # entries, and pairs: a number takes 32 bits, a product of two sizes or flows 64


@dataclass(frozen=True, eq=False)
class Columns:
    """W_kq_star on K entries and E pairs.

    Attributes:
        upper: (E,), entry of the optimal token of each pair.
        lower: (E,), entry of the non-optimal token of each pair.
        k: (K,), number of optimal tokens in the block of each entry; 0 for an entry without a pair.
        m: (K,), number of non-optimal tokens in the block; 0 for an entry without a pair.
        units: (E,), units that each pair ships; the multiplier of the pair is units / (k + m).
    """

    upper: Integers
    lower: Integers
    k: Integers
    m: Integers
    units: Integers

    @property
    def numerators(self) -> Integers:
        """(K,), the score of each of K entries, times k + m."""
        found = self.m.copy()
        found[self.lower] = -self.k[self.lower]
        return found

    @property
    def scores(self) -> Floats:
        """(K,), the score of each of K entries, rounded once."""
        values: Floats = self.numerators / np.maximum(self.k + self.m, 1)
        return values

    @property
    def norm_squared(self) -> Fraction:
        """The squared Frobenius norm of W_kq_star, exact."""
        sizes = Counter(zip(self.numerators.tolist(), (self.k + self.m).tolist(), strict=True))
        squares = (count * Fraction(x, s) ** 2 for (x, s), count in sizes.items() if s)
        return sum(squares, Fraction(0))


def solve_pairs(upper: Integers, lower: Integers, entries: int) -> Columns:
    """The exact, certified max-margin scores of a bipartite graph of E pairs, connected or not.

    Args:
        upper: (E,), number of the optimal token of each pair.
        lower: (E,), number of the non-optimal token of each pair; no token is in `upper`, too.
        entries: K; token numbers run from 0 to K - 1.

    Raises:
        ValueError: a number is not an integer or out of range, a token is in both arrays, the
            arrays do not have one shape (E,), `entries` is below 1, or `entries` or E is 2^31 or
            more.
        ArithmeticError: the certificate fails: a pair occurs twice, or this module has a bug.

    Source: huang2024, equations (3) and (15).
    """
    upper, lower = np.asarray(upper), np.asarray(lower)
    for numbers in (upper, lower):
        if numbers.size and not np.issubdtype(numbers.dtype, np.integer):
            raise ValueError(
                f"pairs of numbers of the kind {numbers.dtype}; give integers, the tokens' numbers"
            )
    if upper.shape != lower.shape or upper.ndim != 1 or not 0 < entries < MOST > len(upper):
        raise ValueError(f"{upper.shape} and {lower.shape} pairs of {entries} entries do not fit")
    upper = np.ascontiguousarray(upper, dtype=np.int64)
    lower = np.ascontiguousarray(lower, dtype=np.int64)
    side = np.empty(entries, np.int64)
    fault = _sides(upper, lower, side)
    if fault >= 0:
        raise ValueError(
            f"pair {upper[fault]} > {lower[fault]}: out of range, or a token on both sides"
        )
    k, m = np.zeros(entries, np.int64), np.zeros(entries, np.int64)
    units = np.zeros(len(upper), np.int64)
    _solve(upper, lower, side, k, m, units)
    found = Columns(upper, lower, k, m, units)
    if (fault := first_fault(found)) >= 0:
        raise ArithmeticError(f"no certificate at {fault}: a pair occurs twice, or a fault of ours")
    return found


def first_fault(columns: Columns) -> int:
    """The first pair or entry that violates the conditions of optimality; -1 if none does.

    The conditions, which prove the scores optimal, are the Karush-Kuhn-Tucker conditions in
    integers. With w_a = m/(k+m) and
    w_b = -k'/(k'+m'), the margin w_a - w_b is at least 1 iff m k' >= k m'. A pair that ships units
    joins blocks of equal size, so its margin is 1. Each optimal token ships m units and each
    non-optimal token receives k, so multipliers sum to scores. The check uses no solver code.

    Returns:
        the first wrong pair of the E pairs, E + x for an entry x whose units do not balance, or -1.
    """
    at: int = _first_fault(columns.upper, columns.lower, columns.k, columns.m, columns.units)
    return at


def W_kq_star(orders: Mapping[str, PartialOrder]) -> dict[str, margin.Solution]:
    """The columns of W_kq_star by query, as `margin.W_kq_star` gives them.

    If several sets of multipliers prove the scores, the two functions may return different ones.
    The caller chooses the faster module: loading this one takes as long as `margin` needs for some
    thousand pairs (`columns.MANY_PAIRS`).

    Raises:
        ValueError: an order compares no two tokens, or has a confused token.

    Source: huang2024, equation (3).
    """
    if not orders:
        return {}
    number: dict[tuple[str, str], int] = {}
    pairs: list[tuple[int, int]] = []
    for query, order in orders.items():
        margin.check_order(order)
        for token in (*order.optimal, *order.nonoptimal):
            number[query, token] = len(number)
        pairs += ((number[query, a], number[query, b]) for a, b in order.pairs)
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return name_columns(solve_pairs(ends[:, 0], ends[:, 1], len(number)), orders, number)


def name_columns(
    columns: Columns,
    orders: Mapping[str, PartialOrder],
    number: Mapping[tuple[str, str], int],
) -> dict[str, margin.Solution]:
    """The solution of each query, with names of tokens and fractions.

    Args:
        columns: the solution in integers.
        orders: the order of each query; the pairs of all orders are those of `columns`.
        number: the entry of each query and token.
    """
    blocks = list(zip(columns.k.tolist(), columns.m.tolist(), strict=True))
    values = {block: margin.closed_form(*block) for block in set(blocks) if block[0]}
    sizes = (columns.k + columns.m)[columns.upper].tolist()
    shares = list(zip(columns.units.tolist(), sizes, strict=True))
    fractions = {share: Fraction(*share) for share in set(shares)}
    ends = zip(columns.upper.tolist(), columns.lower.tolist(), strict=True)
    share_of = dict(zip(ends, shares, strict=True))
    solutions = {}
    for query, order in orders.items():
        high = {x: blocks[number[query, x]] for x in order.optimal}
        low = {x: blocks[number[query, x]] for x in order.nonoptimal}
        scores = {x: values[block][0] for x, block in high.items()}
        scores |= {x: values[block][1] for x, block in low.items()}
        multipliers: margin.Multipliers = {}
        for a, b in sorted(order.pairs):
            share = share_of[number[query, a], number[query, b]]
            if share[0]:
                multipliers[a, b] = fractions[share]
        solutions[query] = margin.Solution(scores, _level_sets(high, low, values), multipliers)
    return solutions


def _level_sets(
    high: Mapping[str, Size], low: Mapping[str, Size], values: Mapping[Size, tuple[Fraction, Any]]
) -> tuple[margin.Block, ...]:
    """`margin.level_sets` from the sizes (k, m) of the block of each token.

    Blocks of different sizes are one level set if k/m is the same.
    """
    members: dict[Size, tuple[list[str], list[str]]] = {}
    for side, tokens in enumerate((high, low)):
        for token, size in tokens.items():
            members.setdefault(size, ([], []))[side].append(token)
    levels: dict[Fraction, tuple[list[str], list[str]]] = {}
    for size, (above, below) in members.items():
        level = levels.setdefault(values[size][0], ([], []))
        level[0].extend(above)
        level[1].extend(below)
    return tuple(
        margin.Block(tuple(sorted(above)), tuple(sorted(below)))
        for _, (above, below) in sorted(levels.items(), reverse=True)
    )


@compiled
def _sides(upper: Integers, lower: Integers, side: Integers) -> int:
    """Fill `side`, with 0 for an entry without a pair; the first bad pair, or -1."""
    side[:] = 0
    for e in range(len(upper)):
        a, b = upper[e], lower[e]
        if min(a, b) < 0 or max(a, b) >= len(side) or a == b:
            return e
        if side[a] == LOWER or side[b] == UPPER:
            return e
        side[a], side[b] = UPPER, LOWER
    return -1


@compiled
def _first_fault(
    upper: Integers, lower: Integers, k: Integers, m: Integers, units: Integers
) -> int:
    """`first_fault` on arrays."""
    pairs, entries = len(upper), len(k)
    left = np.zeros(entries, np.int64)  # units that an entry still has to ship or to get
    for e in range(pairs):
        left[upper[e]] = m[upper[e]]
        left[lower[e]] = k[lower[e]]
    for e in range(pairs):
        a, b = upper[e], lower[e]
        if min(k[a], m[a], k[b], m[b]) < 1 or units[e] < 0 or m[a] * k[b] < k[a] * m[b]:
            return e
        if units[e] > 0 and (k[a] != k[b] or m[a] != m[b]):
            return e
        left[a] -= units[e]
        left[b] -= units[e]
    for x in range(entries):
        if left[x] != 0:
            return pairs + x
    return -1


@compiled
def _neighbours(
    upper: Integers, lower: Integers, entries: int
) -> tuple[Integers, Numbers, Numbers]:
    """start, pairs and other: from start[x] on, pairs[j] joins x to other[j]."""
    start = np.zeros(entries + 2, np.int64)
    pairs, other = np.empty(2 * len(upper), np.int32), np.empty(2 * len(upper), np.int32)
    for e in range(len(upper)):
        start[upper[e] + 2] += 1
        start[lower[e] + 2] += 1
    for x in range(2, entries + 2):
        start[x] += start[x - 1]
    for e in range(len(upper)):
        for x in (upper[e], lower[e]):
            pairs[start[x + 1]], other[start[x + 1]] = e, upper[e] + lower[e] - x
            start[x + 1] += 1
    return start, pairs, other


@compiled
def _solve(
    upper: Integers, lower: Integers, side: Integers, k_of: Integers, m_of: Integers, flow: Integers
) -> None:
    """Fill k, m and the flow, part by part, beginning with the connected components.

    A part that cannot ship m units from each of its k optimal tokens so that each of its m
    non-optimal ones gets k falls apart at a minimum cut: the tokens whose units find no room, and
    the rest. A pair from the rest into the cut has slack and ships nothing.
    """
    entries = len(side)
    start, pairs, other = _neighbours(upper, lower, entries)
    far = np.full(entries, ELSEWHERE, np.int32)
    nodes, rest = np.empty(entries, np.int64), np.empty(entries + 1, np.int64)
    ends = np.empty(entries + 1, np.int64)
    units, room = np.empty(entries, np.int64), np.empty(entries, np.int64)
    for seed in range(entries):
        if side[seed] == 0 or k_of[seed] > 0:
            continue
        ends[0], ends[1], todo = 0, _component(seed, start, other, far, nodes), 1
        while todo > 0:  # the last part is nodes[ends[todo - 1] : ends[todo]]
            first, last = ends[todo - 1], ends[todo]
            k = 0
            for i in range(first, last):
                x = nodes[i]
                far[x], units[x] = NOWHERE, 0
                k += side[x] == UPPER
            m = last - first - k
            left = 0
            for i in range(first, last):
                x = nodes[i]  # which has the k and m of the part that fell apart, or 0
                if side[x] == UPPER:
                    _spread(x, m, m_of[x], start, pairs, other, far, flow, units)
            for i in range(first, last):
                x = nodes[i]
                k_of[x], m_of[x], room[x] = k, m, 0
                if side[x] == LOWER:
                    room[x], units[x] = max(k - units[x], 0), max(units[x] - k, 0)
                    left += units[x]
            if left == 0 or _ship(
                nodes[first:last], left, start, pairs, other, far, flow, units, room, rest
            ):
                for i in range(first, last):
                    far[nodes[i]] = ELSEWHERE
                todo -= 1
                continue
            near, kept = first, 0
            for i in range(first, last):
                x = nodes[i]
                if far[x] == NOWHERE:
                    nodes[near] = x
                    near += 1
                else:
                    rest[kept] = x
                    kept += 1
                far[x] = ELSEWHERE
            for i in range(kept):  # as a slice it would take two more seconds to compile
                nodes[near + i] = rest[i]
            ends[todo], ends[todo + 1] = near, last
            todo += 1


@compiled
def _component(seed: int, start: Integers, other: Numbers, far: Numbers, nodes: Integers) -> int:
    """List and count all that is connected with an entry; `far` marks what is listed."""
    far[seed], nodes[0] = NOWHERE, seed
    count, done = 1, 0
    while done < count:
        x = nodes[done]
        done += 1
        for j in range(start[x], start[x + 1]):
            y = other[j]
            if far[y] == ELSEWHERE:
                far[y], nodes[count] = NOWHERE, y
                count += 1
    return count


@compiled
def _spread(
    x: int,
    number: int,
    before: int,
    start: Integers,
    pairs: Numbers,
    other: Numbers,
    far: Numbers,
    flow: Integers,
    units: Integers,
) -> None:
    """A first guess of what optimal token x ships to those below it in its part.

    In proportion to what it shipped of `before` units in the larger part that fell apart, where
    there was one; what that leaves of its units, evenly.
    """
    ways, left = 0, number
    for j in range(start[x], start[x + 1]):
        moved = 0
        if far[other[j]] == NOWHERE:
            ways += 1
            if before > 0:
                moved = flow[pairs[j]] * number // before
        flow[pairs[j]] = moved
        units[other[j]] += moved
        left -= moved
    for j in range(start[x], start[x + 1]):
        if far[other[j]] == NOWHERE:
            moved = left // ways
            ways -= 1
            left -= moved
            flow[pairs[j]] += moved
            units[other[j]] += moved


@compiled
def _steps_to_room(
    nodes: Integers,
    start: Integers,
    pairs: Numbers,
    other: Numbers,
    far: Numbers,
    flow: Integers,
    room: Integers,
    queue: Integers,
) -> int:
    """Fill `far`, and list in `queue`, the nearest first, the tokens from which room is reached.

    What is found is written down each time and counted only if it is new: no processor foresees
    a branch here, and taking it wrongly costs more than the writing.
    """
    count, done = 0, 0
    for x in nodes:
        far[x] = NOWHERE
        if room[x] > 0:
            far[x], queue[count] = 1, x
            count += 1
    while done < count:
        x = queue[done]
        done += 1
        step = far[x] + 1
        if step % 2 == 0:
            for j in range(start[x], start[x + 1]):
                y = other[j]
                there = far[y]
                new = there == NOWHERE
                queue[count], far[y] = y, step if new else there
                count += new
        else:  # units come back to an optimal token along its flow only
            for j in range(start[x], start[x + 1]):
                y = other[j]
                there = far[y]
                new = (there == NOWHERE) & (flow[pairs[j]] > 0)
                queue[count], far[y] = y, step if new else there
                count += new
    return count


@compiled
def _ship(
    nodes: Integers,
    left: int,
    start: Integers,
    pairs: Numbers,
    other: Numbers,
    far: Numbers,
    flow: Integers,
    units: Integers,
    room: Integers,
    queue: Integers,
) -> bool:
    """Whether all units of a part find room; if so, the flow says how.

    Units move in waves. Each wave finds how far all tokens are from room, and moves the units of
    all tokens, the farthest first, to tokens that are one nearer; from a non-optimal token they can
    only go back to where units came from. A token next to room fills it and keeps what is too much;
    elsewhere units are spread evenly over all ways. What stays behind is farther from room in the
    next wave.

    Args:
        nodes: entries of the part.
        left: units that have found no room yet.
        start, pairs, other: the pairs of each entry.
        far: (K,), filled for the part: steps from each entry to room, or NOWHERE if there is none.
        flow: (E,), what each pair ships; changed.
        units: (K,), those at each entry; changed.
        room: (K,), for how many units there is room; changed.
        queue: room for the entries and one more.
    """
    while left > 0:
        count = _steps_to_room(nodes, start, pairs, other, far, flow, room, queue)
        moving = False
        for i in range(count - 1, -1, -1):
            x = queue[i]
            if units[x] == 0:
                continue
            moving, nearer = True, far[x] - 1
            if far[x] == 2:
                for j in range(start[x], start[x + 1]):
                    y = other[j]
                    if far[y] == 1 and room[y] > units[y]:
                        moved = min(units[x], room[y] - units[y])
                        flow[pairs[j]] += moved
                        units[x] -= moved
                        units[y] += moved
                continue
            if far[x] % 2 == 0:
                ways = 0
                for j in range(start[x], start[x + 1]):
                    ways += far[other[j]] == nearer
                for j in range(start[x], start[x + 1]):
                    if far[other[j]] == nearer:
                        moved = units[x] // ways
                        ways -= 1
                        flow[pairs[j]] += moved
                        units[x] -= moved
                        units[other[j]] += moved
                continue
            moved = min(units[x], room[x])
            room[x] -= moved
            units[x] -= moved
            left -= moved
            for j in range(start[x], start[x + 1]):
                if far[other[j]] == nearer:
                    moved = min(units[x], flow[pairs[j]])
                    flow[pairs[j]] -= moved
                    units[x] -= moved
                    units[other[j]] += moved
        if not moving:
            return False
    return True
