"""A bound on the largest realizable part that joins the bounds by pairs and by rivals.

Write w_s for the weight of a sample s, X_s for its tokens, y_s for its next token, and let classes
of rivals be as in `repair_bounds`: of one class a realizable part keeps samples of one next token
only. Divide each weight, 0 <= a_s <= w_s, and give each token a price p_x >= 0. Then no realizable
part weighs more than

    sum_x p_x + sum_y max(0, max_x (A(x, y) - p_x)) + sum over classes c of max_y B(c, y),

where A(x, y) is the sum of a_s over the samples s with x in X_s and y_s = y, and B(c, y) that of
w_s - a_s over the samples of c with y_s = y.

Proof. Let n be the collocation of a part. It keeps a sample only if n^-1(y_s) is in X_s, so that
the kept a_s sum to at most the sum over y of A(n^-1(y), y). Each term is at most p_x + max(0,
max_x' (A(x', y) - p_x')) for x = n^-1(y), and as n is injective no p_x is added twice; none is
negative. The kept w_s - a_s of a class have one next token, so they sum to at most max_y B(c, y).

With a = w and p = 0 this is a bound by pairs, with a = 0 the one by rivals. Every a and p gives a
bound, the best ones that of a linear program; a subgradient search from a = w lowers it. All
numbers are whole multiples of 1 / SCALE, so that the bound is counted, not rounded; only where the
search goes depends on floating point.

What limits it: what a kept sample of one line forbids in others, row 2 of `repair` across lines, is
not in it. The smallest witness is three samples of one query, "a b q -> x", "b c q -> y" and
"c a q -> z": each two of them can be kept and the bound is 3, but a, b and c would all be in U(q),
which then meets every sentence in two tokens. The optimum is 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ntpcore.compiled import compiled
from ntpcore.exact.repair_bounds import Class, classes
from ntpcore.exact.repair_table import Table

Integers = NDArray[np.int64]
Indices = NDArray[np.int32]

SCALE = 2**16  # parts of a sample
ROUNDS = 100
MOST_CELLS = 20_000_000  # tokens of all sentences together; some 500 MB
_MOST_WEIGHT = 2**62 // SCALE
_SLOWER = 0.2  # of a step of prices, that of shares
_PATIENCE = 8  # rounds without a better bound, after which steps are halved


@dataclass(frozen=True, eq=False)
class Cells:
    """The samples of a table, and which pairs (x, y) could explain each.

    Attributes:
        weight: (S,), w_s times SCALE.
        offset: (S + 1,), where the pairs of each sample begin in `pair`.
        pair: the number of the pair (x, y_s) for every x in X_s.
        token: (P,), x of each pair.
        first: (Y + 1,), where the pairs of each y begin; they are numbered by y.
        allowed: (P,), whether the given collocation leaves room for the pair.
        group: (S,), number of class and next token of each sample.
        start: (C + 1,), where the groups of each class begin; they are numbered by class.
        tokens: size of the vocabulary.
    """

    weight: Integers
    offset: Integers
    pair: Indices
    token: Integers
    first: Integers
    allowed: NDArray[np.bool_]
    group: Integers
    start: Integers
    tokens: int


def cells_of(table: Table) -> Cells:
    """The samples of a table as arrays, sorted by their next tokens."""
    size = len(table.data.vocabulary)
    known, lines, last = [], [], []
    for place, line in enumerate(table.data.lines):
        for length in table.lengths(place):
            whole = len(table.fresh[place])
            known.append(table.known[place][length] if table.data.prefixes else whole)
            lines.append(place)
            last.append(line.tokens[length])
    following, places = np.array(last, np.int64), np.array(lines, np.int64)
    order = np.argsort(following, kind="stable")
    ends, numbers, tokens, first = _starts(following[order]), [], [], [0]
    for begin, end in pairwise(ends.tolist()):
        sets = [np.frombuffer(table.fresh[lines[s]], np.uint32, known[s]) for s in order[begin:end]]
        found, inverse = np.unique(np.concatenate(sets), return_inverse=True)
        numbers.append((inverse + first[-1]).astype(np.int32))
        tokens.append(found.astype(np.int64))
        first.append(first[-1] + len(found))
    number: dict[Class, int] = {}
    of_class = [number.setdefault(one, len(number)) for one, _, _ in classes(table)]
    keys = np.array(of_class, np.int64) * size + following
    groups, group = np.unique(keys[order], return_inverse=True)
    counts = np.array([line.count for line in table.data.lines], np.int64)
    token = np.concatenate(tokens)
    named = np.repeat(following[order][ends[:-1]], np.diff(first))
    pairs = zip(token.tolist(), named.tolist(), strict=True)
    return Cells(
        weight=counts[places[order]] * SCALE,
        offset=np.concatenate(([0], np.cumsum(np.array(known, np.int64)[order]))),
        pair=np.concatenate(numbers),
        token=token,
        first=np.array(first, np.int64),
        allowed=np.fromiter((not table.given or table.allows(x, y) for x, y in pairs), np.bool_),
        group=group.astype(np.int64),
        start=_starts(groups // size),
        tokens=size,
    )


def _starts(sorted_keys: Integers) -> Integers:
    """Where each run of equal keys begins, and where the last one ends."""
    changes = np.flatnonzero(np.diff(sorted_keys)) + 1
    return np.concatenate(([0], changes, [len(sorted_keys)])).astype(np.int64)


def price_bound(table: Table, kept: int, *, rounds: int = ROUNDS) -> int | None:
    """A number of samples that no realizable part exceeds; None where the data are too large.

    Args:
        table: the data.
        kept: weight of some realizable part, which only tells how long the steps may be.
        rounds: steps of the search.
    """
    if table.cells > MOST_CELLS or table.weight > _MOST_WEIGHT:
        return None
    cells = cells_of(table)
    share, price = cells.weight.copy(), np.zeros(cells.tokens, np.int64)
    best, scale, waited = table.weight * SCALE, 1.0, 0
    for _ in range(rounds):
        value, price_slope, share_slope = evaluate(cells, share, price)
        waited = 0 if value < best else waited + 1
        best = min(best, value)
        if waited >= _PATIENCE:
            scale, waited = scale / 2, 0
        price_slope[(price == 0) & (price_slope > 0)] = 0
        share_slope[(share == 0) & (share_slope > 0)] = 0
        share_slope[(share == cells.weight) & (share_slope < 0)] = 0
        weights = cells.weight // SCALE
        square = float(price_slope @ price_slope)
        square += _SLOWER * float((share_slope * weights).astype(float) @ share_slope)
        if square == 0:
            break  # no slope is left: this is the optimum
        step = scale * float(value - (best + kept * SCALE) // 2) / square
        price = np.maximum(0, price - (step * price_slope).astype(np.int64))
        moved = (step * _SLOWER * (share_slope * weights)).astype(np.int64)
        share = np.clip(share - moved, 0, cells.weight)
    return best // SCALE


def evaluate(cells: Cells, share: Integers, price: Integers) -> tuple[int, Integers, Integers]:
    """The bound times SCALE at these a and p, and a subgradient of it.

    Args:
        cells: the samples.
        share: (S,), a times SCALE.
        price: (K,), p times SCALE.

    Returns:
        the bound; its slopes by p, and by a in units of one.
    """
    covered, won = np.zeros(len(share), np.int64), np.zeros(cells.start[-1], np.int64)
    used = np.zeros(cells.tokens, np.int64)
    matched = _match(
        cells.offset,
        cells.pair,
        cells.token,
        cells.first,
        cells.allowed,
        share,
        price,
        used,
        covered,
    )
    rest = _rest(cells.weight, cells.group, cells.start, share, won)
    value = sum(price.tolist()) + int(matched) + int(rest)
    return value, 1 - used, covered - won[cells.group]


@compiled
def _match(
    offset: Integers,
    pair: Indices,
    token: Integers,
    first: Integers,
    allowed: NDArray[np.bool_],
    share: Integers,
    price: Integers,
    used: Integers,
    covered: Integers,
) -> int:
    """The sum over y of the best A(x, y) - p_x above 0; fills which x and which samples have it."""
    tally = np.zeros(len(token), np.int64)
    for s in range(len(share)):
        if share[s] > 0:
            for j in range(offset[s], offset[s + 1]):
                tally[pair[j]] += share[s]
    total = 0
    chosen = np.zeros(len(token), np.bool_)
    for y in range(len(first) - 1):
        most, which = 0, -1
        for i in range(first[y], first[y + 1]):
            value = tally[i] - price[token[i]]
            if allowed[i] and value > most:
                most, which = value, i
        if which >= 0:
            total += most
            chosen[which] = True
            used[token[which]] += 1
    for s in range(len(share)):
        for j in range(offset[s], offset[s + 1]):
            if chosen[pair[j]]:
                covered[s] = 1
                break
    return total


@compiled
def _rest(
    weight: Integers, group: Integers, start: Integers, share: Integers, won: Integers
) -> int:
    """The sum over classes of the heaviest rest of one next token; fills which it is."""
    rest = np.zeros(len(won), np.int64)
    for s in range(len(weight)):
        rest[group[s]] += weight[s] - share[s]
    total = 0
    for c in range(len(start) - 1):
        most = start[c]
        for g in range(start[c], start[c + 1]):
            if rest[g] > rest[most]:
                most = g
        total += rest[most]
        won[most] = 1
    return total
