"""The integer program whose optimum is the largest realizable part, and bounds for large data.

Variables, all 0 or 1:

* b[x, y]: n(x) = y;
* u[q, x]: x belongs to U(q), so that it may lie above others under the query q;
* k[g, x]: the group g is kept, and x is its token with n(x) = the next token of g.

A group is all samples with the same tokens, query and next token. Maximize the weight of kept
groups subject to

* sum over y of b[x, y] <= 1 and sum over x of b[x, y] <= 1 (n is single-valued and injective),
* k[g, x] <= b[x, y] for the next token y of g,
* for each sentence X and query q, summed over the groups g of this X and q: sum of k[g, x]
  <= u[q, x], and sum of k[g, x'] over all x' != x, <= 1 - u[q, x], for every x of X.

A group with a single token needs no u: it is kept with b[x, y].

*Feasible points are realizable parts.* Given a feasible point, keep the groups with some k[g, x] =
1. The rows on b make n injective, and k <= b gives row 1 of `repair`; the last two rows say that x
is in U(q) and that no other token of X is, row 2. Conversely, let n and U make a part realizable in
the sense of `repair`, and set b, u and k accordingly. At most one group of a sentence and query is
kept: two would have different next tokens, hence different tokens n^-1(y), which both belong to
U(q), against row 2. So the sums on the left are 0 or 1, and row 2 bounds them. Hence the optimum of
the program is the weight of the largest realizable part.

With b and u fixed to integers, the best k are integers by themselves; they are left continuous.

*Prices.* For data too large for the program, write w_s for the weight of a sample s, X_s for its
tokens, y_s for its next token, and let classes of rivals be as in `repair.rivals_bound`: of one
class a realizable part keeps samples of one next token only. Divide each weight, 0 <= a_s <= w_s,
and give each token a price p_x >= 0. Then no realizable part weighs more than

    sum_x p_x + sum_y max(0, max_x (A(x, y) - p_x)) + sum over classes c of max_y B(c, y),

where A(x, y) is the sum of a_s over the samples s with x in X_s and y_s = y, and B(c, y) that of
w_s - a_s over the samples of c with y_s = y.

Proof. Let n be the collocation of a part. It keeps a sample only if n^-1(y_s) is in X_s, so that
the kept a_s sum to at most the sum over y of A(n^-1(y), y). Each term is at most p_x + max(0,
max_x' (A(x', y) - p_x')) for x = n^-1(y), and as n is injective no p_x is added twice; none is
negative. The kept w_s - a_s of a class have one next token, so they sum to at most max_y B(c, y).

The bound ignores what a kept sample of one line forbids in other lines (row 2 across lines). The
smallest witness is three samples of one query, "a b q -> x", "b c q -> y" and "c a q -> z". Any two
of them can be kept and the bound is 3. All three need a, b and c in U(q), which then meets every
sentence in two tokens. So the optimum is 2. The linear relaxation of the program is weaker still:
u = 1/2 everywhere makes the rows on u hold for nearly half of everything.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from ntpcore.data.dataset import InputError
from ntpcore.exact.repair import COUNTED, Class, Repair, Table, classes, conclude, solve_greedy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

Groups = Counter[tuple[frozenset[int], int, int]]  # weights, by tokens, query, and next token

MAX_PROGRAM = 200_000  # variables k
SCALE = 2**32  # multipliers are whole multiples of 1 / SCALE
MAX_WEIGHT = 10**8  # beyond it, the solver's floating point no longer tells samples apart
PARTS = 2**16  # of a sample, in which prices are whole
ROUNDS = 100
MOST_CELLS = 20_000_000  # tokens of all sentences together; about 1 GB
_MOST_WEIGHT = 2**62 // PARTS
_SLOWER = 0.2  # of a step of prices, that of shares
_PATIENCE = 8  # rounds without a better bound, after which steps are halved

PROGRAM = "integer program"
CERTIFIED = "certified in whole numbers"
FLOAT = "to 1e-4, by the solver's floating point"


def groups_of(table: Table) -> Groups:
    """The weight of each group (set of tokens, query, next token), in order of appearance.

    The sets are spelled out, so the data must be small enough for this.
    """
    found = Groups()
    for place, line in enumerate(table.data.lines):
        for length, seen in table.beginnings(place):
            found[frozenset(seen), line.tokens[length - 1], line.tokens[length]] += line.count
    return found


def group_cells(table: Table) -> int:
    """Number of tokens of a group, summed over groups: an upper bound on the variables k.

    For large tables, the result is `table.cells`, which is at least as large.
    """
    if table.cells > 10 * MAX_PROGRAM:
        return table.cells
    return sum(len(tokens) for tokens, _, _ in groups_of(table))


@dataclass(frozen=True, eq=False)
class Program:
    """The program in numbers: maximize weights * z over 0 <= z <= 1, rows * z <= limits.

    Attributes:
        pairs: for each (x, y), the number of the variable b that says n(x) = y.
        roles: for each (q, x), the number of the variable u: x may lie above others under query q.
        weights: coefficient of each variable in the objective.
        integers: 1 for each variable that must be an integer, 0 for the others.
        rows: coefficients of the constraints, as triples (row, variable, value).
        limits: right-hand side of each row.
    """

    pairs: dict[tuple[int, int], int] = field(default_factory=dict)
    roles: dict[tuple[int, int], int] = field(default_factory=dict)
    weights: list[float] = field(default_factory=list)
    integers: list[int] = field(default_factory=list)
    rows: list[tuple[int, int, float]] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)

    def variable(self, integer: int, weight: float = 0.0) -> int:
        """Add a variable between 0 and 1 and return its number."""
        self.weights.append(weight)
        self.integers.append(integer)
        return len(self.weights) - 1

    def row(self, entries: Iterable[tuple[int, float]], limit: float) -> None:
        """Add a row for entries (variable, value): sum of value * variable <= limit."""
        number = len(self.limits)
        self.rows.extend((number, variable, value) for variable, value in entries)
        self.limits.append(limit)


def formulate(table: Table, *, injective: bool = True) -> Program:
    """The integer program whose optimum is the largest realizable part of a data set.

    Args:
        table: the data.
        injective: whether n must be injective; leaving it out is a planted error of the checks.
    """
    made = Program()
    alike: dict[tuple[frozenset[int], int], list[tuple[int, int]]] = {}
    for (tokens, query, following), weight in groups_of(table).items():
        for token in sorted(tokens):
            pair = (token, following)
            if pair not in made.pairs and table.allows(*pair):
                made.pairs[pair] = made.variable(1)
        alike.setdefault((tokens, query), []).append((following, weight))
    for (tokens, query), groups in alike.items():
        _add_sentence(made, sorted(tokens), query, groups)
    by_token: dict[int, list[int]] = {}
    by_next: dict[int, list[int]] = {}
    for (token, following), variable in made.pairs.items():
        by_token.setdefault(token, []).append(variable)
        by_next.setdefault(following, []).append(variable)
    for limited in (by_token, by_next) if injective else (by_token,):
        for variables in limited.values():
            made.row([(variable, 1.0) for variable in variables], 1.0)
    return made


def _add_sentence(
    made: Program, tokens: list[int], query: int, groups: list[tuple[int, int]]
) -> None:
    """Variables k and rows of the groups, next token and weight, that share sentence and query."""
    kept: dict[int, list[int]] = {token: [] for token in tokens}
    for following, weight in groups:
        for token in tokens:
            pair = made.pairs.get((token, following))
            if pair is None:
                continue
            if len(tokens) == 1:
                made.weights[pair] += weight
                continue
            variable = made.variable(0, float(weight))
            made.row([(variable, 1.0), (pair, -1.0)], 0.0)
            kept[token].append(variable)
    for token in tokens if len(tokens) > 1 else ():
        if (query, token) not in made.roles:
            made.roles[query, token] = made.variable(1)
        role = made.roles[query, token]
        others = [variable for x in tokens if x != token for variable in kept[x]]
        made.row([*((variable, 1.0) for variable in kept[token]), (role, -1.0)], 0.0)
        made.row([*((variable, 1.0) for variable in others), (role, 1.0)], 1.0)


def solve_exact(table: Table, *, seconds: float = 60.0, nodes: int | None = None) -> Repair:
    """The largest realizable part, or the best part found when time runs out, with a bound.

    The greedy search runs first, and its part is returned if its bound proves it the largest.

    Args:
        table: the data.
        seconds: time after which the solver stops.
        nodes: search nodes after which the solver stops; unlike time, the same on every machine.

    Raises:
        InputError: SciPy is not installed, or the data are too large for the program.
    """
    first = solve_greedy(table)
    if first.gap == 0:
        return first
    size = group_cells(table)
    if size > MAX_PROGRAM:
        raise InputError(
            f"{table.data.name}: the integer program would have {size} variables, and "
            f"{MAX_PROGRAM} are feasible; add --greedy, or use a part of the file"
        )
    divisor = math.gcd(*groups_of(table).values())
    if table.weight // divisor > MAX_WEIGHT:
        raise InputError(
            f"{table.data.name}: the counts add up to {table.weight}, and the solver can tell "
            f"{MAX_WEIGHT} samples apart; add --greedy, or divide the counts"
        )
    program = formulate(table)
    program = replace(program, weights=[weight / divisor for weight in program.weights])
    end = monotonic() + seconds
    found = optimize(program, seconds, nodes)
    best = _better(table, first, program, found.values)
    if found.bound is None or divisor * math.floor(found.bound + 1e-4) >= first.bound:
        return replace(best, method=PROGRAM)  # all it found is no match for counting
    bound = max(divisor * math.floor(found.bound + 1e-4), best.kept_weight)
    proved = FLOAT
    if bound == best.kept_weight:
        left = max(end - monotonic(), 1.0)
        if certify(program, best.kept_weight // divisor, left):
            proved = CERTIFIED
    return replace(best, bound=bound, method=PROGRAM, proved=proved)


def _better(table: Table, first: Repair, program: Program, values: list[float] | None) -> Repair:
    """The better of the greedy part and the solver's, judged in whole numbers."""
    if values is None:
        return first
    sources = {y: x for (x, y), place in program.pairs.items() if values[place] > 0.5}
    sources |= {y: x for x, y in table.given.items()}
    uppers: dict[int, set[int]] = {}
    for (query, token), place in program.roles.items():
        if values[place] > 0.5:
            uppers.setdefault(query, set()).add(token)
    found = conclude(table, sources, uppers, first.bound, PROGRAM, COUNTED)
    return max(first, found, key=lambda one: one.kept_weight)


class Optimum(NamedTuple):
    """What the solver of an integer program found.

    Attributes:
        values: value of each variable; None if the solver found no feasible point in time.
        bound: upper bound on the objective; None if the solver found no bound.
    """

    values: list[float] | None
    bound: float | None


def optimize(program: Program, seconds: float, nodes: int | None = None) -> Optimum:
    """Solve a program with HiGHS: the values of the variables and an upper bound.

    Raises:
        InputError: SciPy is not installed.
    """
    np, optimizing, matrix = _matrix(program)
    if not program.weights:
        return Optimum([], 0.0)
    options: dict[str, Any] = {"time_limit": seconds, "mip_rel_gap": 0.0}
    if nodes is not None:
        options["node_limit"] = nodes
    found = optimizing.milp(
        -np.array(program.weights),
        integrality=np.array(program.integers),
        bounds=optimizing.Bounds(0.0, 1.0),
        constraints=optimizing.LinearConstraint(matrix, -np.inf, np.array(program.limits)),
        options=options,
    )
    values = None if found.x is None else [float(value) for value in found.x]
    dual = getattr(found, "mip_dual_bound", None)
    return Optimum(values, -float(dual) if dual is not None and math.isfinite(dual) else None)


def _matrix(program: Program) -> tuple[Any, Any, Any]:
    """numpy, scipy.optimize, and the rows of a program as a sparse matrix.

    Raises:
        InputError: SciPy is not installed.
    """
    try:
        import numpy as np
        import scipy.optimize as optimizing
        from scipy.sparse import csr_array
    except ImportError:
        raise InputError(
            "the integer program needs SciPy, which is not installed; pip install "
            "'ntpcore[train]', or add --greedy"
        ) from None
    if not program.rows:
        return np, optimizing, None
    row, column, value = (np.array(part) for part in zip(*program.rows, strict=True))
    shape = (len(program.limits), len(program.weights))
    return np, optimizing, csr_array((value, (row, column)), shape=shape)


def certify(program: Program, target: int, seconds: float = 60.0) -> bool:
    """Whether the linear relaxation proves in whole numbers that the objective is at most `target`.

    Floating point only proposes multipliers; `dual_bound` turns any multipliers into an exact
    bound. False proves nothing, because the integer optimum can be below that of the relaxation.

    Args:
        program: the program; its weights are whole numbers.
        target: value that the objective should not exceed.
        seconds: time after which the solver gives up.
    """
    np, optimizing, matrix = _matrix(program)
    found = optimizing.linprog(
        -np.array(program.weights),
        A_ub=matrix,
        b_ub=np.array(program.limits),
        bounds=(0.0, 1.0),
        method="highs",
        options={"time_limit": seconds},
    )
    if found.status != 0:
        return False
    multipliers = [max(0, round(-float(value) * SCALE)) for value in found.ineqlin.marginals]
    return dual_bound(program, multipliers) // SCALE <= target


def dual_bound(program: Program, multipliers: Sequence[int]) -> int:
    """SCALE times an upper bound on the objective weights * z, from any multipliers l >= 0.

    For feasible z, weights * z <= weights * z + l * (limits - rows * z). The right-hand side is at
    most l * limits plus the sum over j of max(0, (weights - rows^T l)_j). All numbers are whole.

    Args:
        program: the program; weights, rows and limits are whole numbers.
        multipliers: SCALE times l, for each row.

    Raises:
        ValueError: a multiplier is negative.
    """
    if any(one < 0 for one in multipliers):
        raise ValueError("a multiplier is negative, and then the sum is no bound")
    slopes = [SCALE * int(weight) for weight in program.weights]
    for row, variable, value in program.rows:
        slopes[variable] -= multipliers[row] * int(value)
    total = sum(one * int(limit) for one, limit in zip(multipliers, program.limits, strict=True))
    return total + sum(max(0, slope) for slope in slopes)


@dataclass(frozen=True, eq=False)
class Cells:
    """The samples of a table, sorted by next token, and the pairs that could explain each.

    S samples, P pairs of a token x and a next token y, Y next tokens, C classes of rivals.

    Attributes:
        weight: (S,), the weight of each sample times PARTS.
        holds: (S, P), sparse, 1 where y is the next token and x is in the sentence.
        token: (P,), x of each pair.
        allowed: (P,), whether the given collocation allows n(x) = y.
        first: (Y + 1,), where the pairs of each y begin; pairs are numbered by y.
        group: (S,), number of each sample's group, that is, its class and next token.
        start: (C + 1,), where the groups of each class begin; groups are numbered by class.
        tokens: size of the vocabulary.
    """

    weight: Integers
    holds: Any
    token: Integers
    allowed: NDArray[np.bool_]
    first: Integers
    group: Integers
    start: Integers
    tokens: int


def cells_of(table: Table) -> Cells:
    """The samples of a table as arrays, see `Cells`."""
    import numpy as np
    from scipy.sparse import csr_array

    size = len(table.data.vocabulary)
    number: dict[Class, int] = {}
    rows = [(number.setdefault(one, len(number)), y, w) for one, y, w in classes(table)]
    places = [(p, n) for p in range(len(table.fresh)) for n in table.lengths(p)]
    order = np.argsort([y for _, y, _ in rows], kind="stable")
    of_class, following, weight = np.array(rows, np.int64)[order].T
    known = np.array([table.known[place][length] for place, length in places])[order]
    keys = np.concatenate(
        [
            np.frombuffer(table.fresh[places[s][0]], np.uint32, count)
            for s, count in zip(order.tolist(), known.tolist(), strict=True)
        ]
    ) + np.repeat(following * size, known)
    pairs, pair = np.unique(keys, return_inverse=True)
    groups, group = np.unique(of_class * size + following, return_inverse=True)
    offset = np.concatenate(([0], np.cumsum(known)))
    named = zip((pairs % size).tolist(), (pairs // size).tolist(), strict=True)
    return Cells(
        weight=weight * PARTS,
        holds=csr_array((np.ones(len(pair), np.int64), pair, offset), (len(rows), len(pairs))),
        token=pairs % size,
        allowed=np.fromiter((not table.given or table.allows(x, y) for x, y in named), np.bool_),
        first=_starts(pairs // size),
        group=group,
        start=_starts(groups // size),
        tokens=size,
    )


def _starts(sorted_keys: Integers) -> Integers:
    """Where each run of equal keys begins, and where the last one ends."""
    import numpy as np

    changes = np.flatnonzero(np.diff(sorted_keys)) + 1
    return np.concatenate(([0], changes, [len(sorted_keys)])).astype(np.int64)


def price_bound(table: Table, kept: int, *, rounds: int = ROUNDS) -> int | None:
    """An upper bound on the weight of every realizable part; None if the data are too large.

    Let 0 <= a <= w be a part of the weight w of each sample, and p >= 0 a price of each token.
    Every a and p give a bound. For p = 0, a = w gives a bound by pairs (x, n(x)), and a = 0 a
    bound by rivals. A subgradient search from a = w and p = 0 lowers the bound. All a and p are
    whole multiples of 1 / PARTS, so the bound is exact; floating point only steers the search.

    Args:
        table: the data.
        kept: weight of some realizable part, used for the step sizes only.
        rounds: steps of the search.
    """
    import numpy as np

    if table.cells > MOST_CELLS or table.weight > _MOST_WEIGHT:
        return None
    cells = cells_of(table)
    share, price = cells.weight.copy(), np.zeros(cells.tokens, np.int64)
    best, scale, waited = table.weight * PARTS, 1.0, 0
    for _ in range(rounds):
        value, price_slope, share_slope = evaluate(cells, share, price)
        waited = 0 if value < best else waited + 1
        best = min(best, value)
        if waited >= _PATIENCE:
            scale, waited = scale / 2, 0
        price_slope[(price == 0) & (price_slope > 0)] = 0
        share_slope[(share == 0) & (share_slope > 0)] = 0
        share_slope[(share == cells.weight) & (share_slope < 0)] = 0
        weights = cells.weight // PARTS
        square = float(price_slope @ price_slope)
        square += _SLOWER * float((share_slope * weights).astype(float) @ share_slope)
        if square == 0:
            break  # no slope is left: this is the optimum
        step = scale * float(value - (best + kept * PARTS) // 2) / square
        price = np.maximum(0, price - (step * price_slope).astype(np.int64))
        moved = (step * _SLOWER * (share_slope * weights)).astype(np.int64)
        share = np.clip(share - moved, 0, cells.weight)
    return best // PARTS


def evaluate(cells: Cells, share: Integers, price: Integers) -> tuple[int, Integers, Integers]:
    """The bound of `price_bound` times PARTS, and a subgradient.

    Args:
        cells: the samples.
        share: (S,), a times PARTS for each of S samples.
        price: (K,), p times PARTS for each of K tokens.

    Returns:
        the bound times PARTS; its slopes by `price`, (K,); its slopes by `share`, (S,).
    """
    import numpy as np

    value = np.where(cells.allowed, cells.holds.T @ share - price[cells.token], 0)
    matched, pair = _largest(value, cells.first)
    chosen = np.zeros(len(value), np.int64)
    chosen[pair[matched > 0]] = 1
    used = np.bincount(cells.token[chosen > 0], minlength=cells.tokens)
    rest, won = np.zeros((2, cells.start[-1]), np.int64)
    np.add.at(rest, cells.group, cells.weight - share)
    most, winner = _largest(rest, cells.start)
    won[winner] = 1
    total = sum(price.tolist()) + int(matched[matched > 0].sum()) + int(most.sum())
    return total, 1 - used, (cells.holds @ chosen > 0).astype(np.int64) - won[cells.group]


def _largest(values: Integers, starts: Integers) -> tuple[Integers, Integers]:
    """The largest value of each run, and where it is first."""
    import numpy as np

    most = np.maximum.reduceat(values, starts[:-1])
    places = np.flatnonzero(values == np.repeat(most, np.diff(starts)))
    return most, places[np.searchsorted(places, starts[:-1])]
