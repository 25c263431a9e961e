"""The integer program whose optimum is the largest realizable part of a data set.

Variables, all 0 or 1:

* b[x, y]: n(x) = y;
* u[q, x]: x belongs to U(q), so that it may lie above others under the query q;
* k[g, x]: the group g is kept, and x is its token with n(x) = the next token of g.

Maximize the weight of kept groups subject to

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
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from ntpcore.data.dataset import InputError
from ntpcore.exact.repair import COUNTED, Repair, conclude, solve_greedy
from ntpcore.exact.repair_table import Table

MAX_PROGRAM = 200_000  # variables k
SCALE = 2**32  # multipliers are whole multiples of 1 / SCALE
MAX_WEIGHT = 10**8  # beyond it, the solver's floating point no longer tells samples apart


PROGRAM = "integer program"
CERTIFIED = "certified in whole numbers"
FLOAT = "to 1e-4, by the solver's floating point"


@dataclass(frozen=True)
class Group:
    """All samples with the same tokens, query and next token.

    Attributes:
        tokens: the set X of the tokens of the sentence.
        query: its last token.
        following: the next token y.
        weight: how many samples these are, counted as often as they occur.
    """

    tokens: frozenset[int]
    query: int
    following: int
    weight: int


def groups_of(table: Table) -> tuple[Group, ...]:
    """The groups of data small enough to spell out their sentences, in order of appearance."""
    weights: dict[tuple[frozenset[int], int, int], int] = {}
    for place, line in enumerate(table.data.lines):
        for length, seen in table.beginnings(place):
            key = frozenset(seen), line.tokens[length - 1], line.tokens[length]
            weights[key] = weights.get(key, 0) + line.count
    return tuple(Group(*key, weight) for key, weight in weights.items())


def group_cells(table: Table) -> int:
    """Tokens of all groups together: the variables k of the program, if few enough to count."""
    if table.cells > 100 * MAX_PROGRAM:
        return table.cells
    return sum(len(group.tokens) for group in groups_of(table))


@dataclass(frozen=True)
class Program:
    """The program in numbers: maximize weights * z over 0 <= z <= 1, rows * z <= limits.

    Attributes:
        pairs: for each (x, y), the number of its variable b.
        roles: for each (q, x), the number of its variable u.
        weights: of all variables.
        integers: whether each variable must be an integer.
        rows: coefficients as triples (row, variable, value).
        limits: right-hand sides.
    """

    pairs: dict[tuple[int, int], int]
    roles: dict[tuple[int, int], int]
    weights: list[float]
    integers: list[int]
    rows: list[tuple[int, int, float]]
    limits: list[float]


class _Builder:
    """Collects variables and rows."""

    def __init__(self) -> None:
        self.weights: list[float] = []
        self.integers: list[int] = []
        self.rows: list[tuple[int, int, float]] = []
        self.limits: list[float] = []

    def variable(self, integer: int, weight: float = 0.0) -> int:
        """A new variable between 0 and 1."""
        self.weights.append(weight)
        self.integers.append(integer)
        return len(self.weights) - 1

    def row(self, entries: Iterable[tuple[int, float]], limit: float) -> None:
        """A new row: sum of value * variable <= limit."""
        number = len(self.limits)
        self.rows += [(number, variable, value) for variable, value in entries]
        self.limits.append(limit)


def formulate(table: Table, *, injective: bool = True) -> Program:
    """The program of a data set.

    Args:
        table: the data.
        injective: whether n must be injective; leaving it out is a planted error of the checks.
    """
    build = _Builder()
    pairs: dict[tuple[int, int], int] = {}
    roles: dict[tuple[int, int], int] = {}
    alike: dict[tuple[frozenset[int], int], list[Group]] = {}
    for group in groups_of(table):
        for token in sorted(group.tokens):
            pair = (token, group.following)
            if pair not in pairs and table.allows(*pair):
                pairs[pair] = build.variable(1)
        alike.setdefault((group.tokens, group.query), []).append(group)
    for (tokens, query), groups in alike.items():
        _add_sentence(build, pairs, roles, sorted(tokens), query, groups)
    by_token: dict[int, list[int]] = {}
    by_next: dict[int, list[int]] = {}
    for (token, following), variable in pairs.items():
        by_token.setdefault(token, []).append(variable)
        by_next.setdefault(following, []).append(variable)
    for limited in (by_token, by_next) if injective else (by_token,):
        for variables in limited.values():
            build.row([(variable, 1.0) for variable in variables], 1.0)
    return Program(pairs, roles, build.weights, build.integers, build.rows, build.limits)


def _add_sentence(
    build: _Builder,
    pairs: dict[tuple[int, int], int],
    roles: dict[tuple[int, int], int],
    tokens: list[int],
    query: int,
    groups: list[Group],
) -> None:
    """Variables k and rows of the groups that share sentence and query."""
    if len(tokens) == 1:
        for group in groups:
            pair = (tokens[0], group.following)
            if pair in pairs:
                build.weights[pairs[pair]] += group.weight
        return
    kept: dict[int, list[int]] = {token: [] for token in tokens}
    for group in groups:
        for token in tokens:
            pair = (token, group.following)
            if pair in pairs:
                variable = build.variable(0, float(group.weight))
                build.row([(variable, 1.0), (pairs[pair], -1.0)], 0.0)
                kept[token].append(variable)
    for token in tokens:
        if (query, token) not in roles:
            roles[query, token] = build.variable(1)
        role = roles[query, token]
        others = [variable for x in tokens if x != token for variable in kept[x]]
        build.row([*((variable, 1.0) for variable in kept[token]), (role, -1.0)], 0.0)
        build.row([*((variable, 1.0) for variable in others), (role, 1.0)], 1.0)


def solve_exact(table: Table, *, seconds: float = 60.0, nodes: int | None = None) -> Repair:
    """The largest realizable part, or the best one found when time runs out, with a bound.

    Args:
        table: the data.
        seconds: time after which the solver stops.
        nodes: nodes of the search after which it stops; unlike time, the same on every machine.

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
    divisor = math.gcd(*(group.weight for group in groups_of(table)))
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


@dataclass(frozen=True)
class Optimum:
    """What the solver found.

    Attributes:
        values: of the variables; None if it found no feasible point in time.
        bound: what no feasible point exceeds; None if it found none.
    """

    values: list[float] | None
    bound: float | None


def optimize(program: Program, seconds: float, nodes: int | None = None) -> Optimum:
    """Solve a program with HiGHS.

    Raises:
        InputError: SciPy is not installed.
    """
    np, optimizing, matrix = _matrix(program)
    if not program.weights:
        return Optimum([], 0.0)
    options: dict[str, Any] = {"time_limit": seconds, "mip_rel_gap": 0.0}
    if nodes is not None:
        options["node_limit"] = nodes
    limits = optimizing.LinearConstraint(matrix, -np.inf, np.array(program.limits))
    found = optimizing.milp(
        -np.array(program.weights),
        integrality=np.array(program.integers),
        bounds=optimizing.Bounds(0.0, 1.0),
        constraints=limits,
        options=options,
    )
    values = None if found.x is None else [float(value) for value in found.x]
    dual = getattr(found, "mip_dual_bound", None)
    if dual is None or not math.isfinite(dual):
        return Optimum(values, None)
    return Optimum(values, -float(dual))


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
    """Whether the linear program shows, in whole numbers, that nothing exceeds the target.

    Floating point only proposes multipliers; `dual_bound` makes an exact bound of whatever they
    are. Where that bound is larger than the target nothing is shown, as integers may do with less.

    Args:
        program: the program; its weights are whole numbers.
        target: what is not to be exceeded.
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
    """SCALE times a number that no feasible point exceeds, for any multipliers l >= 0.

    weights * z <= weights * z + l * (limits - rows * z) <= l * limits + sum over j of the largest
    (weights - rows^T l)_j z_j over 0 <= z_j <= 1. All numbers are whole.

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
