"""Claims that orders alone decide: Propositions 2 and 4 and equation (16) (huang2024).

They are judged on columns of W_kq_star whose certificates were verified, those of small orders or
those of a reader's data; neither needs more than the exact core.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.data.order import PartialOrder
from ntpcore.exact import margin
from ntpcore.verdicts.claims import Verdict
from ntpcore.verdicts.compare import Said, Tally, count, equal, holds, least
from ntpcore.verdicts.vocabulary import Checked, Variant, check

FIVE_TOKENS = PartialOrder.of("q", {("a", "c"), ("a", "d"), ("a", "q"), ("b", "q")})


@dataclass(frozen=True)
class Column:
    """An order with its max-margin solution, which its multipliers prove to be the optimum.

    Raises:
        ArithmeticError: they do not prove it; that would be a fault of the solver.
    """

    order: PartialOrder
    solution: margin.Solution

    def __post_init__(self) -> None:
        scores, multipliers = self.solution.scores, self.solution.multipliers
        if errors := margin.certificate_errors(self.order, scores, multipliers):
            raise ArithmeticError(f"query {self.order.query!r}: no certificate; {errors[0]}")

    @property
    def name(self) -> str:
        """The order in words."""
        return describe_order(self.order)


def describe_order(order: PartialOrder) -> str:
    """An order in words, cut where it is long."""
    rows = [f"{a} > {', '.join(below)}" for a, below in list(order.below.items())[:6]]
    more = "; ..." if len(order.below) > len(rows) else ""
    text = f"query {order.query}: {'; '.join(rows)}{more}"
    return text if len(text) <= 300 else text[:297] + "..."


def certified(
    orders: Iterable[PartialOrder], solutions: Mapping[str, margin.Solution] | None = None
) -> list[Column]:
    """The columns of these orders, those of few tokens and then of few pairs first.

    Args:
        orders: the orders.
        solutions: their solutions by query; None for `margin.solve`.
    """
    chosen = sorted(orders, key=lambda one: (len(one.compared), len(one.pairs)))
    return [
        Column(one, margin.solve(one) if solutions is None else solutions[one.query])
        for one in chosen
    ]


# Small orders


def small_orders(max_optimal: int, max_nonoptimal: int, max_pairs: int) -> Iterator[PartialOrder]:
    """Every bipartite order of these sizes, its tokens named; `max_pairs` bounds k times m.

    The first of the non-optimal tokens is the query. Names and their turns are such that the first
    order on which Proposition 2 fails is FIVE_TOKENS itself.
    """
    for k, m in product(range(1, max_optimal + 1), range(1, max_nonoptimal + 1)):
        if k * m > max_pairs:
            continue
        uppers, lowers = "abefghij"[:k], "qcdtuvwx"[:m]
        edges = list(product(uppers, lowers))
        for chosen in product((True, False), repeat=k * m):
            pairs = [edge for edge, keep in zip(edges, chosen, strict=True) if keep]
            if len({a for a, _ in pairs}) == k and len({b for _, b in pairs}) == m:
                yield PartialOrder.of("q", pairs)


def has_data(order: PartialOrder) -> bool:
    """Whether some data set that satisfies Assumption 1 has this order.

    The query ends every sentence. Where it is not optimal itself, it lies below every optimal
    token; where it is, no other token can be.
    """
    if order.query in order.optimal:
        return order.optimal == (order.query,)
    return all(order.query in below for below in order.below.values())


def realize(order: PartialOrder) -> Dataset:
    """A data set with this order: one sentence for each optimal token, all its rivals in it.

    The collocation runs around the tokens in a cycle.

    Raises:
        ValueError: no realizable data set has this order.
    """
    if order.confused or not order.pairs or not has_data(order):
        raise ValueError(f"no realizable data set has the order of query {order.query!r}")
    tokens = sorted(order.compared)
    following = dict(zip(tokens, [*tokens[1:], tokens[0]], strict=True))
    samples: list[tuple[list[str], str]] = [([token], following[token]) for token in tokens]
    for a, below in order.below.items():
        others = [token for token in (a, *below) if token != order.query]
        samples.append(([*others, order.query], following[a]))
    return from_samples(samples, f"order of query {order.query}")


@cache
def small_columns(max_tokens: int = 4, max_pairs: int = 12) -> tuple[Column, ...]:
    """All orders that come from data, of up to so many optimal and so many non-optimal tokens."""
    orders = small_orders(max_tokens, max_tokens, max_pairs)
    return tuple(certified(one for one in orders if has_data(one)))


def complete_columns() -> list[Column]:
    """Orders in which every optimal token lies above every non-optimal one."""
    sizes = product((1, 2, 3), (1, 3))
    return certified(PartialOrder.of("q", product("abc"[:k], "qwx"[:m])) for k, m in sizes)


# Propositions 2 and 4


def _formula(one: Column, reading: str) -> margin.Scores:
    """Scores by a formula in k and m: the printed one, with k and m exchanged, or by block."""
    if reading == "by block":
        parts = [(block.optimal, block.nonoptimal) for block in one.solution.blocks]
    else:
        parts = [(one.order.optimal, one.order.nonoptimal)]
    scores: margin.Scores = {}
    for above, below in parts:
        k, m = len(above), len(below)
        high, low = Fraction(m, k + m), Fraction(-k, k + m)
        if reading == "exchanged":
            high, low = -low, -high
        scores |= dict.fromkeys(above, high) | dict.fromkeys(below, low)
    return scores


def _closed_form(one: Column, reading: str) -> Iterator[Said]:
    """Formula and solution, and for the smallest order on which they differ both squared norms."""
    scores, right = _formula(one, reading), one.solution.scores
    differs = scores != right
    lengths = margin.norm_squared(scores), margin.norm_squared(right)
    yield holds(
        not differs, f"squared norm {lengths[0]} by the formula, {lengths[1]} at the optimum"
    )
    yield count("failed", int(differs))
    if differs:
        yield least("fewest", len(one.order.optimal))
        yield _first("printed", lengths[0])
        yield _first("true", lengths[1])


def _first(name: str, value: Fraction) -> Tally:
    """A number of the first instance that has it."""
    return Tally(name, value, lambda first, later: first)


_SAYS = "The closed form equals the certified solution on all {tried} orders tried."
_FAILS = (
    "The closed form differs from the certified solution on {failed} of {tried} orders, none of "
    "which has fewer than {fewest} optimal tokens."
)
_PLANTED = {
    "Complete orders only, on which the closed form is right.": Variant(
        instances=complete_columns, expected=Verdict.NOT_CONTRADICTED
    ),
    "k and m exchanged in the closed form, on complete orders.": Variant(
        {"reading": "exchanged"}, complete_columns
    ),
    "The closed form applied to each block of an order by itself, which is right.": Variant(
        {"reading": "by block"}, expected=Verdict.NOT_CONTRADICTED
    ),
}


@check(
    "huang2024-prop-2",
    over="partial orders",
    instances=small_columns,
    says=_SAYS,
    fails=_FAILS,
    planted=_PLANTED,
)
def check_huang2024_prop_2(one: Column, reading: str = "printed") -> Iterator[Said]:
    """W_kq_star is m/(k+m) at the k optimal tokens and -k/(k+m) at the m non-optimal ones."""
    yield from _closed_form(one, reading)


@check(
    "huang2024-prop-4",
    over="partial orders",
    instances=small_columns,
    says=f"{_SAYS} All margins are 1.",
    fails="The closed form differs from the certified solution on {failed} of {tried} orders.",
    planted={words: one for words, one in _PLANTED.items() if "block" not in words}
    | {
        "A margin of 2 in the place of 1, on complete orders.": Variant(
            {"margin_of_pairs": 2}, complete_columns
        )
    },
)
def check_huang2024_prop_4(
    one: Column, reading: str = "printed", margin_of_pairs: int = 1
) -> Iterator[Said]:
    """Proposition 2 again; and w_a - w_b = 1 for every pair a > b."""
    yield from _closed_form(one, reading)
    scores = one.solution.scores
    widest, a, b = max((scores[a] - scores[b], a, b) for a, b in one.order.pairs)
    yield equal(widest, margin_of_pairs, f"{a} - {b} is {widest}")


# Equation (16)


@check(
    "huang2024-eq-16",
    over="partial orders",
    instances=small_columns,
    says="On all {tried} orders the gradient of the dual vanishes where the dual is maximal.",
    fails="On {failed} of {tried} orders the gradient of the dual does not vanish where the dual "
    "is maximal over non-negative multipliers.",
    planted={
        "Complete orders only, on which all multipliers are positive.": Variant(
            instances=complete_columns, expected=Verdict.NOT_CONTRADICTED
        ),
        "Twice the multipliers at the maximum, on complete orders.": Variant(
            {"factor": 2}, complete_columns
        ),
        "What a maximum over non-negative multipliers asks for: no derivative is positive, and "
        "only those at multipliers of 0 are negative.": Variant(
            {"at_zero": False}, expected=Verdict.NOT_CONTRADICTED
        ),
    },
)
def check_huang2024_eq_16(one: Column, factor: int = 1, at_zero: bool = True) -> Iterator[Said]:
    """dL*/d l_ab = 2 - 2 sum_b' l_ab' - 2 sum_a' l_a'b = 0 for every pair, at the maximal l >= 0.

    The sums at a maximum are the scores, so they do not depend on which maximum was found.
    """
    multipliers = {pair: factor * value for pair, value in one.solution.multipliers.items()}
    sums = dict.fromkeys(one.order.compared, Fraction(0))
    for (a, b), value in multipliers.items():
        sums[a] += value
        sums[b] += value
    slopes = [
        (2 - 2 * (sums[a] + sums[b]), a, b)
        for a, b in one.order.pairs
        if at_zero or (a, b) in multipliers
    ]
    (low, a, b), high = min(slopes), max(slopes)[0]
    yield holds(high <= 0, f"a derivative of L* at its maximum is {high}")
    yield holds(low >= 0, f"the derivative of L* along the multiplier of {a} > {b} is {low}")
    yield count("failed", int(low != 0))


JUDGED: Mapping[str, Checked] = {
    one.label: one
    for one in (check_huang2024_prop_2, check_huang2024_prop_4, check_huang2024_eq_16)
}
