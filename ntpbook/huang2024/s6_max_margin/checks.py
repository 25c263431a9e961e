"""Checks of the page on max-margin attention: Assumption 2, equations (2), (3), (14) to (16).

And Proposition 2 with what holds without prefix closure (huang2024). Propositions 2 and 4 and
equation (16) are decided by orders alone, so that `ntpcore check` judges them on a reader's data,
too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from ntpbook.huang2024.s6_max_margin.orders import (
    PRESUMED,
    Column,
    certified,
    check_huang2024_eq_16,
    check_huang2024_prop_2,
    check_huang2024_prop_4,
    closed_columns,
)
from ntpbook.shared.constraints import constraints
from ntpbook.shared.symbols import at_least_zero, identity, matrices
from ntpcore.data import generate
from ntpcore.data.dataset import Dataset
from ntpcore.data.examples import FIVE_TOKENS, example_1, realize, small_orders
from ntpcore.data.order import PartialOrder, analyse
from ntpcore.exact import margin
from ntpverdicts.claims import Shown
from ntpverdicts.compare import Said, assume, at_least, count, equal, holds, most, result
from ntpverdicts.once import once
from ntpverdicts.vocabulary import Variant, by_hand, check, cited, executed, uses

__all__ = ["check_huang2024_eq_16", "check_huang2024_prop_2", "check_huang2024_prop_4"]

Exact = np.ndarray[Any, np.dtype[np.object_]]  # entries are fractions

SUFFICIENT = cited(
    "the problem is strictly convex with linear constraints, so its optimality conditions hold "
    "at its unique solution and nowhere else",
    "boyd2004",
    "Section 5.5.3",
)

# Assumption 2


@dataclass(frozen=True)
class Size:
    """A vocabulary size and a dimension."""

    vocabulary: int
    dimension: int

    @property
    def name(self) -> str:
        """The pair in words."""
        return rf"$|\mathcal V| = {self.vocabulary}$, $d = {self.dimension}$"


def sizes(most: int = 6) -> Iterator[Size]:
    """All pairs of a vocabulary size and a dimension up to `most`."""
    return (Size(*pair) for pair in product(range(1, most + 1), repeat=2))


@check(
    "huang2024-asm-2",
    over="pairs of vocabulary size and dimension",
    instances=sizes,
    shows="Assumption 2 can be satisfied, and can fail",
    says=r"One-hot vectors, repeated if $d < |\mathcal V|$, satisfy Assumption 2 if and only if "
    r"$d \ge |\mathcal V|$, for all {tried} pairs of $d$ and $|\mathcal V|$.",
    proof=(
        by_hand(
            r"there are at most $d$ orthonormal vectors, so $d \ge |\mathcal V|$ is needed",
            at="bessel",
        ),
    ),
    planted={
        "Tokens of norm 2.": {"length": 2},
        "Only two different vectors, which the tokens take in turn.": {"period": 2},
        r"The rule $d \ge |\mathcal V| - 1$.": {"spare": 1},
    },
)
def check_huang2024_asm_2(
    one: Size, length: int = 1, period: int = 10**6, spare: int = 0
) -> Iterator[Said]:
    """x^T x' = 1 for x = x', else 0: for the tokens e_1, ..., e_d, e_1, ... iff d >= |V|."""
    every = [
        [length * int(i == j % min(one.dimension, period)) for i in range(one.dimension)]
        for j in range(one.vocabulary)
    ]
    gram = [[sum(x * y for x, y in zip(u, v, strict=True)) for v in every] for u in every]
    orthonormal = all(
        value == int(i == j) for i, row in enumerate(gram) for j, value in enumerate(row)
    )
    yield equal(int(orthonormal), int(one.dimension >= one.vocabulary - spare))


# Equation (2)


def vocabularies(largest: int = 8) -> Iterator[Mapping[str, str]]:
    """Collocations that run around 2 to `largest` tokens."""
    for size in range(2, largest + 1):
        yield {f"t{i}": f"t{(i + 1) % size}" for i in range(size)}


def optimal_feed_forward(extra: int = 0) -> Iterator[Shown]:
    """The gradient of the Lagrangian of (2) vanishes at W_ov_star, for a symbolic |V| = n.

    One column: a is its entry at n(x), b one other entry, c stands for each of the rest.
    """
    import sympy as sp

    n = sp.symbols("n", integer=True, positive=True)
    a, b, c = sp.symbols("a b c", real=True)
    mu = 1 / (n + extra)
    margins = (a - b - 1) + (n - 2) * (a - c - 1)
    lagrangian = a**2 + b**2 + (n - 2) * c**2 - 2 * mu * margins
    at = {a: 1 - 1 / n, b: -1 / n, c: -1 / n}
    yield identity("the margin of one constraint", (a - b).subs(at), sp.Integer(1))
    yield identity(r"derivative at $\mathrm n(x)$", lagrangian.diff(a).subs(at), sp.Integer(0))
    yield identity("derivative at another token", lagrangian.diff(b).subs(at), sp.Integer(0))
    yield at_least_zero("the multiplier", mu, strictly=True)
    squared = n * (a**2 + b**2 + (n - 2) * c**2).subs(at)
    yield identity("squared norm of the $n$ columns", squared, n - 1)


@check(
    "huang2024-eq-2",
    over="collocations",
    instances=vocabularies,
    name=lambda one: rf"$|\mathcal V| = {len(one)}$",
    says=r"At the solution of (2), with the multiplier $1/|\mathcal V| > 0$ on every constraint, "
    r"the gradient of the Lagrangian vanishes for symbolic $|\mathcal V|$, all margins are 1, and "
    r"the squared norm is $|\mathcal V| - 1$. The check confirms these facts constraint by "
    "constraint for {tried} sizes of the vocabulary.",
    proof=(
        uses("huang2024-asm-2", "the tokens are orthonormal"),
        by_hand(
            r"the squared norm is at least the sum of the $\|W x\|^2$, and each constraint "
            "concerns one $W x$, so each column can be minimized by itself",
            at="columns",
        ),
        executed(
            "for one column, the gradient of the Lagrangian vanishes at the solution",
            optimal_feed_forward,
        ),
        SUFFICIENT,
    ),
    planted={
        r"The multiplier $1/(|\mathcal V| + 1)$ in place of $1/|\mathcal V|$.": {"extra": 1},
        r"The entries $-1/|\mathcal V|$ of the solution replaced by 0.": {"mean": 0},
    },
)
def check_huang2024_eq_2(one: Mapping[str, str], extra: int = 0, mean: int = 1) -> Iterator[Said]:
    """W_ov_star x = e_n(x) - (1/|V|) sum e_v, the multiplier of each margin being 1/|V|."""
    size = len(one)
    mu = Fraction(1, size + extra)
    for x, column in margin.W_ov_star(one).items():
        shifted = {v: score + Fraction(1 - mean, size) for v, score in column.items()}
        others = [v for v in one if v != one[x]]
        for v in others:
            yield equal(shifted[one[x]] - shifted[v], 1, f"margin of {v} in column {x}")
            yield equal(shifted[v], -mu, f"entry ({v}, {x})")
        yield equal(shifted[one[x]], len(others) * mu, f"entry ({one[x]}, {x})")
    yield equal(margin.norm_squared(margin.W_ov_star(one).values()), size - 1, "squared norm")


# Equations (3) and (15)


@dataclass(frozen=True)
class Solved:
    """A data set with its orders and the exact columns of W_kq_star."""

    data: Dataset
    orders: Mapping[str, PartialOrder]
    columns: Mapping[str, margin.Solution]

    @property
    def name(self) -> str:
        """The name of the data."""
        return self.data.name


@once
def random_data(seed: int = 7, trials: int = 60) -> tuple[Solved, ...]:
    """Example 1, the five tokens, and random data, prefix-closed ones and others in turn."""
    rng = np.random.default_rng(seed)
    every = [example_1(), realize(FIVE_TOKENS)] + [
        generate.random_dataset(rng, 8, 30, 5, prefix_closed=i % 2 == 0) for i in range(trials)
    ]
    orders = [analyse(one).orders or {} for one in every]
    return tuple(
        Solved(data, found, margin.W_kq_star(found))
        for data, found in zip(every, orders, strict=True)
    )


@check(
    "huang2024-eq-3",
    over="data sets",
    instances=random_data,
    shows="problem (3) has exactly one solution on realizable data",
    says="On {tried} realizable data sets the exact solution satisfies all {constraints} "
    "constraints, taken from the samples one by one, and the multipliers of the solution certify "
    "that no smaller norm is possible.",
    planted={
        "The solution scaled down by a tenth.": {"factor": Fraction(9, 10)},
        "The solution scaled up by a tenth, which satisfies every constraint.": {
            "factor": Fraction(11, 10)
        },
        "Optimal and non-optimal tokens exchanged.": {"factor": Fraction(-1)},
        r"A margin 1.1 times sharper, $\frac{11}{10}$ in place of 1.": {"asked": Fraction(11, 10)},
    },
)
def check_huang2024_eq_3(
    one: Solved, factor: Fraction = Fraction(1), asked: Fraction = Fraction(1)
) -> Iterator[Said]:
    """W_a - W_b >= 1 for every constraint, W = sums of multipliers, positive on tight ones only.

    Args:
        one: data with their solution.
        factor: what the solution is multiplied with.
        asked: the margin of every constraint.
    """
    W = {
        (x, q): factor * score for q, col in one.columns.items() for x, score in col.scores.items()
    }
    forces = {
        (q, a, b): value
        for q, col in one.columns.items()
        for (a, b), value in col.multipliers.items()
    }
    tokens = one.data.vocabulary
    balance = {(x, q): Fraction(0) for x in tokens for q in tokens}
    for (q, a, b), value in forces.items():
        balance[a, q] += value
        balance[b, q] -= value
    every = list(constraints(one.data))
    yield count("constraints", len(every))
    for c in every:
        span = W.get((c.upper, c.query), Fraction(0)) - W.get((c.lower, c.query), Fraction(0))
        force = forces.get((c.query, c.upper, c.lower), Fraction(0))
        yield at_least(span, asked, f"{c.sample}: {c.upper} - {c.lower}")
        yield holds(force >= 0 == force * (span - 1), f"multiplier of {c.upper} > {c.lower}")
    yield holds(
        set(forces) <= {(c.query, c.upper, c.lower) for c in every},
        "a multiplier without constraint",
    )
    for entry, total in balance.items():
        yield equal(W.get(entry, Fraction(0)), total, f"entry {entry}")


@check(
    "huang2024-eq-15",
    over="data sets",
    instances=random_data,
    says="On {tried} realizable data sets, the constraints of (14) are exactly the {pairs} pairs "
    "of the orders, and the solution of (14) for the whole matrix has the same columns as the "
    "solutions of (15) for each column separately.",
    proof=(
        uses("huang2024-eq-14", "the problem (3) in one-hot coordinates"),
        by_hand(
            "a constraint of a sample compares two entries in the column of its query: an "
            "optimal token and a non-optimal one that Definition 1 puts below it (no token is "
            "confused)",
            at="pairs",
        ),
        by_hand(
            "the squared norm is the sum over columns, and no constraint couples two columns, so "
            "each column can be minimized by itself",
            at="columns",
        ),
    ),
    planted={
        "All non-optimal tokens of a query in place of $A_i$.": {"all_below": True},
        "One column of the matrix left out.": {"skipped": 1},
    },
)
def check_huang2024_eq_15(one: Solved, all_below: bool = False, skipped: int = 0) -> Iterator[Said]:
    """min |W| under (14) is min sum_i w_i^2 with w_i - w_j >= 1 for j in A_i, for each query.

    No token is confused.
    """
    asked = {(c.query, c.upper, c.lower) for c in constraints(one.data)}
    yield count("pairs", len(asked))
    if not asked:
        return
    stated = {
        (q, a, b)
        for q, order in one.orders.items()
        for a, below in order.below.items()
        for b in (order.nonoptimal if all_below else below)
    }
    yield holds(asked == stated, "the constraints differ")
    whole = PartialOrder.of("all", {(f"{a}|{q}", f"{b}|{q}") for q, a, b in asked})
    columns = list(one.columns.items())[skipped:]
    apart = {f"{x}|{q}": score for q, col in columns for x, score in col.scores.items()}
    yield holds(margin.solve_scores(whole) == apart, "the columns do not make up the matrix")


# Equation (14)


@dataclass(frozen=True)
class Rotated:
    """Orthogonal U, (d, d), and W, (d, d), both of fractions."""

    name: str
    U: Exact
    W: Exact


def rotations(seed: int = 7, largest: int = 5) -> Iterator[Rotated]:
    """Rational rotations of 2 to `largest` dimensions, products of plane ones, and integer W."""
    rng = np.random.default_rng(seed)
    for d in range(2, largest + 1):
        U = _identity(d)
        for legs in ((3, 4, 5), (5, 12, 13), (8, 15, 17)):
            i, j = rng.choice(d, size=2, replace=False)
            c, s = Fraction(legs[0], legs[2]), Fraction(legs[1], legs[2])
            U[[i, j]] = np.array([c * U[i] - s * U[j], s * U[i] + c * U[j]])
        W = np.array([[Fraction(int(x)) for x in row] for row in rng.integers(-5, 6, size=(d, d))])
        yield Rotated(f"$d = {d}$", U, W)


def _identity(d: int) -> Exact:
    """The identity in fractions."""
    return np.array([[Fraction(int(i == j)) for j in range(d)] for i in range(d)])


def rotated_problem(orthogonal: bool = True) -> Iterator[Shown]:
    """Scores of R = U W U^T on rotated tokens, and R R^T, for a symbolic dimension."""
    import sympy as sp

    d = sp.symbols("d", integer=True, positive=True)
    U, W = sp.MatrixSymbol("U", d, d), sp.MatrixSymbol("W", d, d)
    x, q = sp.MatrixSymbol("x", d, 1), sp.MatrixSymbol("q", d, 1)
    fact = sp.Q.orthogonal(U) if orthogonal else sp.Q.invertible(U)
    R = U * W * U.T
    pairs = (
        (r"scores $(U x)^\top (U W U^\top) (U q)$", (U * x).T * R * (U * q), x.T * W * q),
        (r"$(U W U^\top) (U W U^\top)^\top$", R * R.T, U * (W * W.T) * U.T),
    )
    for name, left, right in pairs:
        found = sp.refine(left.doit(), fact).doit()
        yield matrices(name, found, right)


@check(
    "huang2024-eq-14",
    over="rational rotations",
    instances=rotations,
    says=r"For symbolic dimension and orthogonal $U$, the margins and the norm of $U W U^\top$ on "
    "rotated tokens equal those of $W$ on the original tokens. With exact fractions, the check "
    "confirms both equalities for {tried} rotations.",
    proof=(
        uses(
            "huang2024-asm-2",
            "the tokens are orthonormal, so an orthogonal $U$ takes them to basis vectors",
        ),
        uses("huang2024-eq-3", "the objective and the constraints of (3)"),
        executed(
            r"rotated tokens have the same scores, and $R R^\top = U W W^\top U^\top$ for "
            r"$R = U W U^\top$",
            rotated_problem,
        ),
        cited(
            r"$\operatorname{Tr}(U M U^\top) = \operatorname{Tr}(M U^\top U) = "
            r"\operatorname{Tr}(M)$",
            "horn2013",
            "Section 0.2.5",
        ),
        by_hand(
            r"$W \mapsto U W U^\top$ is a bijection, so the solutions of (3) and (14) correspond",
            at="bijection",
        ),
    ),
    planted={"$U$ only invertible, not orthogonal: a shear.": {"orthogonal": False}},
)
def check_huang2024_eq_14(one: Rotated, orthogonal: bool = True) -> Iterator[Said]:
    """||U W U^T|| = ||W||, and (U x)^T (U W U^T) (U q) = x^T W q."""
    U = one.U
    if not orthogonal:
        U = _identity(len(U))
        U[0, 1] = Fraction(1)
    R = U @ one.W @ U.T
    yield equal(sum((R**2).ravel()), sum((one.W**2).ravel()), "squared norm")
    yield holds(bool((U.T @ R @ U == one.W).all()), "scores")


# Complete orders


def complete_sizes(largest: int = 5) -> list[Column]:
    """Complete orders of up to `largest` optimal and `largest` non-optimal tokens."""
    both = product(range(1, largest + 1), repeat=2)
    return certified(PartialOrder.of("q", product("abcdefgh"[:k], "qtuvwxyz"[:m])) for k, m in both)


def optimal_complete(times: int = 1) -> Iterator[Shown]:
    """The gradient of the Lagrangian of (15) vanishes at the closed form, for symbolic k and m.

    a and b are one optimal and one non-optimal token, A and B stand for each of the others.
    """
    import sympy as sp

    k, m = sp.symbols("k m", integer=True, positive=True)
    a, b, A, B = sp.symbols("a b A B", real=True)
    mu = times / (k + m)
    squares = a**2 + (k - 1) * A**2 + b**2 + (m - 1) * B**2
    margins = (a - b - 1) + (m - 1) * (a - B - 1) + (k - 1) * (A - b - 1)
    margins += (k - 1) * (m - 1) * (A - B - 1)
    lagrangian = squares - 2 * mu * margins
    at = {a: m / (k + m), A: m / (k + m), b: -k / (k + m), B: -k / (k + m)}
    yield identity("the margin of one pair", (a - b).subs(at), sp.Integer(1))
    yield identity("derivative at an optimal token", lagrangian.diff(a).subs(at), sp.Integer(0))
    yield identity("derivative at a non-optimal token", lagrangian.diff(b).subs(at), sp.Integer(0))
    yield at_least_zero("the multiplier", mu, strictly=True)
    yield identity("squared norm", squares.subs(at), k * m / (k + m))


@check(
    "ours-complete-order",
    over="complete orders",
    instances=complete_sizes,
    says="At the closed form, with the multiplier $1/(k+m) > 0$ on each pair, every margin is 1 "
    "and the gradient of the Lagrangian vanishes, for symbolic $k$ and $m$. The exact solver "
    "finds the closed form for all {tried} complete orders.",
    proof=(
        executed("the gradient of the Lagrangian vanishes at the closed form", optimal_complete),
        SUFFICIENT,
    ),
    planted={
        "The multiplier $2/(k+m)$, twice the correct one.": {"times": 2},
        "$k$ and $m$ exchanged.": {"exchanged": True},
    },
)
def check_ours_complete_order(
    one: Column, times: int = 1, exchanged: bool = False
) -> Iterator[Said]:
    """w = m/(k+m) at optimal and -k/(k+m) at non-optimal tokens, with squared norm km/(k+m)."""
    k, m = len(one.order.optimal), len(one.order.nonoptimal)
    high = Fraction(k if exchanged else m, k + m)
    for token, score in one.solution.scores.items():
        yield equal(score, high if token in one.order.below else high - 1, token)
    balance = dict.fromkeys(one.order.compared, Fraction(0))
    for a, b in one.order.pairs:
        balance[a] += Fraction(times, k + m)
        balance[b] -= Fraction(times, k + m)
    yield holds(balance == one.solution.scores, "multipliers")
    yield equal(margin.norm_squared(one.solution.scores), Fraction(k * m, k + m), "squared norm")


# The last step of D.1


def one_number_left(exchanged: bool = False) -> Iterator[Shown]:
    """k (x + 1)^2 + m x^2 has one stationary point, x = -k/(k+m), and opens upwards.

    Args:
        exchanged: whether k and m are exchanged in the point, a planted error.
    """
    import sympy as sp

    k, m = sp.symbols("k m", integer=True, positive=True)
    x = sp.symbols("x", real=True)
    length = k * (x + 1) ** 2 + m * x**2
    (best,) = sp.solve(length.diff(x), x)
    yield identity("the stationary point", best, -(m if exchanged else k) / (k + m))
    yield identity("one unit above it", best + 1, (k if exchanged else m) / (k + m))
    yield at_least_zero("the second derivative", length.diff(x, 2), strictly=True)


def two_pairs_apart() -> list[Column]:
    """Two pairs without a common token."""
    return certified([PartialOrder.of("q", {("a", "q"), ("b", "c")})])


@check(
    "huang2024-app-one-level",
    over="partial orders",
    instances=closed_columns,
    says="In all {tried} orders from prefix-closed data, the pairs connect all compared tokens. "
    "So if all margins are 1, one number $x$ is free, the score of the non-optimal tokens. The "
    r"derivative of the squared norm vanishes at $x = -\frac{k}{k+m}$, which is this score in the "
    "certified solution.",
    hypotheses=PRESUMED,
    proof=(
        uses("ours-prefix-closure", "a query has at most one optimal token"),
        by_hand("if all margins are 1, all non-optimal tokens have the same score $x$, and the "
        "optimal token has the score $x + 1$",
                at="one-number"),
        executed("the squared norm as a function of $x$ and its minimum", one_number_left),
    ),
    planted={
        "$k$ and $m$ exchanged in the minimum.": {"exchanged": True},
        "Two pairs without a common token, which no data have.": Variant(
            {"presumed": False}, two_pairs_apart
        ),
    },
)  # fmt: skip
def check_huang2024_app_one_level(
    one: Column, exchanged: bool = False, presumed: bool = True
) -> Iterator[Said]:
    """If all margins are 1, w is x + 1 above and x below, and k(x+1)^2 + mx^2 is least at -k/(k+m).

    Args:
        one: a column.
        exchanged: whether k and m are exchanged in the minimum.
        presumed: whether what is in force is asked of the data.
    """
    for name, there in one.facts.items() if presumed else ():
        yield assume(name, there)
    k, m = len(one.order.optimal), len(one.order.nonoptimal)
    x = Fraction(-m if exchanged else -k, k + m)
    yield equal(len(joined_by_pairs(one.order)), 1, "groups of tokens that no pair connects")
    yield equal(k * (x + 1) + m * x, 0, "half the derivative of the squared norm")
    for token, score in one.solution.scores.items():
        yield equal(score, x + 1 if token in one.order.below else x, token)


def joined_by_pairs(order: PartialOrder) -> list[set[str]]:
    """The compared tokens in groups that pairs join."""
    groups: list[set[str]] = []
    for pair in order.pairs:
        touched = [group for group in groups if group & set(pair)]
        groups = [group for group in groups if group not in touched]
        groups.append(set(pair).union(*touched))
    return groups


# The block form, and Proposition 2 without prefix closure


@once
def all_orders(seed: int = 7, trials: int = 60, max_tokens: int = 4) -> tuple[Column, ...]:
    """All orders of up to `max_tokens` tokens of each kind, from data or not, and larger ones.

    The small ones have at most 12 possible pairs; the larger are random, of nine by nine tokens.
    """
    rng = np.random.default_rng(seed)
    larger = [generate.random_order(rng, 9, 9, density=0.2) for _ in range(trials)]
    return tuple(certified([*small_orders(max_tokens, max_tokens, 12), *larger]))


def value_of_a_level(exchanged: bool = False) -> Iterator[Shown]:
    """k (1 + z) + m z = 0 gives the scores of a block, and their squares its share of the norm.

    Args:
        exchanged: whether k and m are exchanged in the equation, a planted error.
    """
    import sympy as sp

    k, m = sp.symbols("k m", integer=True, positive=True)
    z = sp.symbols("z", real=True)
    (value,) = sp.solve(m * (1 + z) + k * z if exchanged else k * (1 + z) + m * z, z)
    yield identity("optimal tokens", 1 + value, m / (k + m))
    yield identity("non-optimal tokens", value, -k / (k + m))
    yield identity("squares", k * (1 + value) ** 2 + m * value**2, k * m / (k + m))


@check(
    "ours-block-form",
    over="partial orders",
    instances=all_orders,
    says="For all {tried} orders, from data or not, the solution of the max-margin problem (15), "
    "certified by multipliers, has the block form of the theorem, with up to {blocks} blocks.",
    proof=(
        by_hand(
            "the solution is orthogonal to all vectors that are constant on tight pairs",
            at="orthogonal",
        ),
        by_hand("tokens that are not compared score zero", at="others"),
        by_hand(
            "the equation $k (1 + z) + m z = 0$ holds for the scores $1 + z$ and $z$ of a block",
            at="levels",
        ),
        by_hand("every block has both optimal and non-optimal tokens", at="both-kinds"),
        executed(
            "the equation $k (1 + z) + m z = 0$ gives the scores and the norm of a block",
            value_of_a_level,
        ),
    ),
    planted={
        "$k$ and $m$ exchanged in every block.": {"exchanged": True},
        "One block for all tokens: the closed form of Proposition 2.": {"joined": True},
        r"$\frac1{10}$ in place of 0 at a token that is not compared.": {"apart": Fraction(1, 10)},
    },
)
def check_ours_block_form(
    one: Column,
    exchanged: bool = False,
    joined: bool = False,
    apart: Fraction = Fraction(0),
) -> Iterator[Said]:
    """w = m_i/(k_i+m_i) or -k_i/(k_i+m_i) on each level set of z; |w|^2 = sum k_i m_i/(k_i+m_i).

    Args:
        one: an order with its solution.
        exchanged: whether k and m are exchanged in every block.
        joined: whether all tokens are one block.
        apart: the score of one more token, which is not compared.
    """
    scores = one.solution.scores
    wider = {**scores, "not compared": apart}
    wrong = margin.certificate_errors(one.order, wider, one.solution.multipliers)
    yield holds(not wrong, "a token that is not compared")
    levels: dict[Fraction, list[str]] = {}
    for token, score in scores.items():
        level = score if token in one.order.below else score + 1
        levels.setdefault(Fraction(0) if joined else level, []).append(token)
    norm = Fraction(0)
    for tokens in levels.values():
        k = sum(token in one.order.below for token in tokens)
        m = len(tokens) - k
        yield holds(k > 0 and m > 0, f"block {', '.join(tokens)}")
        high = Fraction(k if exchanged else m, k + m)
        for token in tokens:
            yield equal(scores[token], high if token in one.order.below else high - 1, token)
        norm += Fraction(k * m, k + m)
    yield equal(margin.norm_squared(scores), norm, "squared norm")
    yield most("blocks", len(levels))


@check(
    "huang2024-prop-2-corrected",
    over="partial orders",
    instances=all_orders,
    says="The closed form solves the max-margin problem (15) for {right} of {tried} orders. "
    r"These are exactly the orders in which every set $S$ of optimal tokens satisfies "
    r"$k\,|N(S)| \ge m\,|S|$, where $N(S)$ is the set of tokens below some token of $S$.",
    proof=(
        uses("huang2024-eq-15", "the column of a query is the solution of (15)"),
        by_hand(r"$(k + m) \langle w, d\rangle$ is $m$ times the sum of $d$ over the optimal "
        "tokens minus $k$ times the sum over the non-optimal ones, where $d$ is the difference of "
        "any scores that satisfy the constraints and the closed form $w$",
                at="product"),
        by_hand("if: the condition for the optimal tokens whose entry of $d$ is at most $v$, "
        r"summed over $v$, gives $\langle w, d\rangle \ge 0$",
                at="if"),
        by_hand("only if: lowering the scores of $S$ and $N(S)$ together violates no constraint, "
        "so it does not reduce the norm of the solution", at="only-if"),
    ),
    planted={
        r"The condition $k\,|N(S)| \ge m\,|S|$ for single tokens only.": {"largest": 1},
        r"$k$ and $m$ exchanged in the condition $k\,|N(S)| \ge m\,|S|$.": {"exchanged": True},
    },
)  # fmt: skip
def check_huang2024_prop_2_corrected(
    one: Column, largest: int = 99, exchanged: bool = False
) -> Iterator[Said]:
    """The closed form is W_kq_star iff k |N(S)| >= m |S| for every set S of optimal tokens."""
    printed, scores = margin.closed_form_scores(one.order), one.solution.scores
    right = printed == scores
    yield holds(right == hall_by_subsets(one.order, largest, exchanged))
    yield count("right", int(right))
    if one.order == FIVE_TOKENS:
        yield result("printed", margin.norm_squared(printed))
        yield result("true", margin.norm_squared(scores))


def hall_by_subsets(order: PartialOrder, largest: int = 99, exchanged: bool = False) -> bool:
    """The Hall condition on every subset of at most `largest` tokens; no flow is computed."""
    uppers = order.optimal
    k, m = len(uppers), len(order.nonoptimal)
    if exchanged:
        k, m = m, k
    for chosen in product((False, True), repeat=len(uppers)):
        subset = [a for a, keep in zip(uppers, chosen, strict=True) if keep]
        near = {b for a in subset for b in order.below[a]}
        if len(subset) <= largest and k * len(near) < m * len(subset):
            return False
    return True
