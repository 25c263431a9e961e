"""Claims that orders alone decide: Propositions 2 and 4 and equation (16) (huang2024).

They are judged on columns of W_kq_star whose certificates were verified, those of small data sets
or those of a reader's data; neither needs more than the exact core. All three presume what is in
force in Section 6: Assumption 1, prefix closure (Section 3) and source (Section 4.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product

from ntpcore.data.dataset import Dataset, from_sentences
from ntpcore.data.examples import FIVE_TOKENS, has_data, realize, small_orders
from ntpcore.data.order import (
    ASSUMPTION_1,
    CLOSURE,
    SOURCE,
    PartialOrder,
    Structure,
    analyse,
    facts,
)
from ntpcore.exact import margin
from ntpverdicts.claims import Check, Verdict
from ntpverdicts.compare import Said, Tally, assume, count, equal, holds, least
from ntpverdicts.maths import verbatim
from ntpverdicts.vocabulary import Checked, Variant, by_hand, check, uses

SEVEN_TOKENS = ("a A r s q A", "b B q B", "A a", "B b", "r r", "s s", "q q")
PRESUMED = (ASSUMPTION_1, CLOSURE, SOURCE)  # Assumption 2 turns tokens into coordinates, (14)


@dataclass(frozen=True)
class Column:
    """An order with its max-margin solution, which its multipliers prove to be the optimum.

    Attributes:
        order: the order of one query.
        solution: the column of that query.
        others: the tokens that the order does not compare.
        facts: for each name in `PRESUMED` whether the data satisfy it; empty without data.

    Raises:
        ArithmeticError: they do not prove it; that would be a fault of the solver.
    """

    order: PartialOrder
    solution: margin.Solution
    others: tuple[str, ...] = ()
    facts: Mapping[str, bool] = field(default_factory=dict)

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
    return verbatim(text if len(text) <= 300 else text[:297] + "...")


def certified(orders: Iterable[PartialOrder]) -> list[Column]:
    """The columns of these orders, those of few tokens and then of few pairs first."""
    return [Column(one, margin.solve(one)) for one in sorted(orders, key=_size)]


def _size(order: PartialOrder) -> tuple[int, int]:
    """The numbers of tokens and of pairs that an order compares."""
    return len(order.compared), len(order.pairs)


def columns_of(
    structure: Structure, solutions: Mapping[str, margin.Solution] | None = None
) -> list[Column]:
    """The columns of a data set, with what it satisfies.

    Args:
        structure: the data set, analysed.
        solutions: the solutions by query; None for `margin.solve`.
    """
    known, tokens = facts(structure), structure.data.vocabulary
    return [
        Column(
            order,
            margin.solve(order) if solutions is None else solutions[order.query],
            tuple(token for token in tokens if token not in order.compared),
            known,
        )
        for order in sorted((structure.orders or {}).values(), key=_size)
    ]


# Small orders


@cache
def small_columns(max_tokens: int = 4, max_pairs: int = 12) -> tuple[Column, ...]:
    """All orders that come from data, of up to so many optimal and so many non-optimal tokens."""
    orders = small_orders(max_tokens, max_tokens, max_pairs)
    return tuple(certified(one for one in orders if has_data(one)))


def complete_columns() -> list[Column]:
    """Orders in which every optimal token lies above every non-optimal one."""
    sizes = product((1, 2, 3), (1, 3))
    return certified(PartialOrder.of("q", product("abc"[:k], "qwx"[:m])) for k, m in sizes)


# Data under the facts in force, and data that lack one of them


def closed_data(max_tokens: int = 4, longest: int = 5) -> Iterator[Dataset]:
    """All prefix-closed data of one-token sentences and two lines in which source holds.

    One collocation for each cycle type; a line goes on with n of one of its tokens. Of each line
    the beginnings are samples, too.

    Args:
        max_tokens: tokens of the vocabulary, 2 at least.
        longest: tokens of a line, its label included.
    """
    for size in range(2, max_tokens + 1):
        for n in _cycle_types(size):
            singles = [(x, n[x]) for x in range(size)]
            lines = [line for length in range(2, longest + 1) for line in _lines(n, length)]
            for pair in combinations_with_replacement(lines, 2):
                words = [["abcdefgh"[x] for x in line] for line in (*singles, *pair)]
                yield from_sentences(words, f"{size} tokens, two lines")


def _cycle_types(size: int) -> list[tuple[int, ...]]:
    """One permutation of so many tokens for each cycle type."""
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for n in permutations(range(size)):
        orbits = []
        for x in range(size):
            orbit = [x]
            while n[orbit[-1]] != x:
                orbit.append(n[orbit[-1]])
            orbits.append(len(orbit))
        found.setdefault(tuple(sorted(orbits)), n)
    return list(found.values())


def _lines(n: tuple[int, ...], length: int) -> list[tuple[int, ...]]:
    """The lines of so many tokens, each of which is n of one before it."""
    if length == 1:
        return [(x,) for x in range(len(n))]
    shorter = _lines(n, length - 1)
    return [(*line, n[x]) for line in shorter for x in dict.fromkeys(line)]


@cache
def closed_columns(max_tokens: int = 4, longest: int = 5) -> tuple[Column, ...]:
    """The different columns of `closed_data` without confused tokens."""
    found: dict[tuple[PartialOrder, tuple[str, ...]], Column] = {}
    for data in closed_data(max_tokens, longest):
        structure = analyse(data)
        if structure.realizable.holds:
            for one in columns_of(structure):
                found.setdefault((one.order, one.others), one)
    return tuple(found.values())


def without_closure() -> list[Column]:
    """Five tokens: Assumption 1 and source hold, prefix closure does not."""
    return columns_of(analyse(realize(FIVE_TOKENS)))


def without_source() -> list[Column]:
    """Seven tokens: Assumption 1 and prefix closure hold, source does not."""
    return columns_of(analyse(from_sentences(SEVEN_TOKENS, "seven tokens")))


# Propositions 2 and 4


def _presumed(one: Column) -> Iterator[Said]:
    """What is in force, asked of the data."""
    for name, holds_there in one.facts.items():
        yield assume(name, holds_there)


def _formula(one: Column, reading: str, apart: Fraction | int) -> margin.Scores:
    """Scores by a formula in k and m: the printed one, with k and m exchanged, or by block.

    Args:
        one: the column.
        reading: which formula.
        apart: the score of tokens that are not compared.
    """
    if reading == "by block":
        parts = [(block.optimal, block.nonoptimal) for block in one.solution.blocks]
    else:
        parts = [(one.order.optimal, one.order.nonoptimal)]
    scores: margin.Scores = dict.fromkeys(one.others, Fraction(apart))
    for above, below in parts:
        k, m = len(above), len(below)
        high, low = Fraction(m, k + m), Fraction(-k, k + m)
        if reading == "exchanged":
            high, low = -low, -high
        scores |= dict.fromkeys(above, high) | dict.fromkeys(below, low)
    return scores


def _closed_form(one: Column, reading: str, apart: Fraction | int = 0) -> Iterator[Said]:
    """Whether multipliers certify the formula, and both squared norms where they do not.

    Multipliers fix the scores that they certify; so those of the solution certify the formula
    exactly if it is the solution.
    """
    scores = _formula(one, reading, apart)
    differs = bool(margin.certificate_errors(one.order, scores, one.solution.multipliers))
    lengths = margin.norm_squared(scores), margin.norm_squared(one.solution.scores)
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


_COLUMN = uses(
    "huang2024-eq-15",
    r"each column of $W_{\mathrm{kq}}^*$ solves (15) with the order of its "
    "query",
)
_ONE = uses(
    "ours-prefix-closure",
    "on prefix-closed data a query has at most one optimal token, which lies above every "
    "non-optimal one",
)
_COMPLETE = uses(
    "ours-complete-order", "for a complete order the solution of (15) is the closed form"
)
_SAYS = (
    "For each of the {tried} partial orders, multipliers certify that the closed form of "
    "Proposition 2 solves the max-margin problem (15)."
)
_FAILS = (
    "For {failed} of {tried} partial orders, the closed form of Proposition 2 does not solve the "
    "max-margin problem (15)."
)
_ANYWAY = {"presumed": False}
_READINGS = {
    "without prefix closure: five tokens, with Assumption 1 and source": Variant(
        _ANYWAY, without_closure
    ),
    "without source: seven tokens, with Assumption 1 and prefix closure": Variant(
        _ANYWAY, without_source
    ),
    "with any number $k$ of optimal tokens, if each of them lies above every non-optimal one, "
    "whatever the data are": Variant(_ANYWAY, complete_columns, covered=True),
}


@check(
    "huang2024-prop-2",
    over="partial orders",
    instances=closed_columns,
    says=_SAYS,
    fails=_FAILS,
    hypotheses=PRESUMED,
    proof=(
        _COLUMN,
        _ONE,
        _COMPLETE,
        uses("ours-block-form", "tokens that are not compared score zero"),
    ),
    planted={
        "$k$ and $m$ exchanged in the closed form.": {"reading": "exchanged"},
        r"$\frac1{10}$ in place of 0 at non-comparable tokens.": {"apart": Fraction(1, 10)},
        "The closed form applied to each block separately, which is correct even without prefix "
        "closure.": Variant(
            {"reading": "by block"} | _ANYWAY, without_closure, expected=Verdict.NOT_CONTRADICTED
        ),
    },
    readings=_READINGS,
)
def check_huang2024_prop_2(
    one: Column, reading: str = "printed", apart: Fraction | int = 0, presumed: bool = True
) -> Iterator[Said]:
    """W_kq_star is m/(k+m) at the k optimal and -k/(k+m) at the m non-optimal tokens, else 0.

    Args:
        one: a column.
        reading: which formula.
        apart: the score of non-comparable tokens.
        presumed: whether what is in force is asked of the data.
    """
    if presumed:
        yield from _presumed(one)
    yield from _closed_form(one, reading, apart)


@check(
    "huang2024-prop-4",
    over="partial orders",
    instances=closed_columns,
    says=f"{_SAYS} All margins are 1, and non-optimal tokens have equal scores.",
    fails=_FAILS,
    hypotheses=PRESUMED,
    proof=(
        _COLUMN,
        _ONE,
        uses(
            "ours-complete-order",
            "for a complete order the solution of (15) is the closed form, in which all margins "
            "are 1",
        ),
        uses("ours-block-form", "tokens that are not compared score zero"),
    ),
    planted={
        "$k$ and $m$ exchanged in the closed form.": {"reading": "exchanged"},
        "A margin of 2 in place of 1.": {"margin_of_pairs": 2},
        r"$\frac1{10}$ in place of 0 between two non-optimal tokens.": {"apart": Fraction(1, 10)},
    },
    readings=_READINGS,
)
def check_huang2024_prop_4(
    one: Column,
    reading: str = "printed",
    margin_of_pairs: int = 1,
    apart: Fraction | int = 0,
    presumed: bool = True,
) -> Iterator[Said]:
    """Proposition 2 again; w_a - w_b = 1 for every pair a > b, and w_b = w_c for non-optimal b, c.

    Args:
        one: a column.
        reading: which formula.
        margin_of_pairs: what all margins should be.
        apart: the difference of the scores of non-optimal tokens.
        presumed: whether what is in force is asked of the data.
    """
    if presumed:
        yield from _presumed(one)
    yield from _closed_form(one, reading)
    scores = one.solution.scores
    height = margin.in_units(scores, margin.common_unit(scores.values()))
    _, a, b = max((height[a] - height[b], a, b) for a, b in one.order.pairs)
    widest = scores[a] - scores[b]
    yield equal(widest, margin_of_pairs, verbatim(f"{a} - {b} is {widest}"))
    low = sorted((scores[b], b) for b in one.order.nonoptimal)
    if len(low) > 1:
        (least_score, b), (largest_score, c) = low[0], low[-1]
        yield equal(largest_score - least_score, apart, verbatim(f"{c} - {b}, both non-optimal"))


# Equation (16)


def _dual(sums: Mapping[str, int], unit: int, linear: int) -> Fraction:
    """L* of (16): minus the squared sums of multipliers at each token, plus twice all of them."""
    total = Fraction(sum(sums.values()), 2 * unit)  # each one belongs to two tokens
    return linear * total - Fraction(sum(value**2 for value in sums.values()), unit**2)


def _sums(
    one: Column, multipliers: Mapping[tuple[str, str], Fraction]
) -> tuple[dict[str, int], int]:
    """For each token the sum of the multipliers of its pairs, in multiples of 1/u, and u."""
    unit = margin.common_unit(multipliers.values())
    sums = dict.fromkeys(one.order.compared, 0)
    for (a, b), value in margin.in_units(multipliers, unit).items():
        sums[a] += value
        sums[b] += value
    return sums, unit


@check(
    "huang2024-eq-16",
    over="partial orders",
    instances=closed_columns,
    says="For all {tried} partial orders, at the multipliers that certify the solution of (15), "
    "the dual $L^*$ of (16) equals the squared norm of this solution. So these multipliers "
    "maximize the dual. The gradient of the dual vanishes at these multipliers.",
    fails="For {failed} of {tried} partial orders the gradient of the dual $L^*$ of (16) does not "
    "vanish at the maximum over nonnegative multipliers.",
    hypotheses=PRESUMED,
    proof=(
        _COLUMN,
        _ONE,
        by_hand("$L^*$ is the minimum of the Lagrangian over $w$", at="dual"),
        uses(
            "ours-complete-order",
            "for a complete order the multipliers $1/(k+m) > 0$ certify the solution, and all "
            "margins are 1",
        ),
        by_hand(
            "the derivatives of $L^*$ are $2 - 2(w_i - w_j)$, so they vanish if all margins are "
            "1; as $L^*$ is concave, it has its maximum where they vanish",
            at="slopes",
        ),
    ),
    planted={
        "The multipliers doubled.": {"factor": 2},
        "The sum of all multipliers once, not twice, in $L^*$.": {"linear": 1},
        "Only the conditions for a maximum over nonnegative multipliers, which hold even without "
        "prefix closure: no derivative is positive, and only derivatives at multipliers of 0 are "
        "negative.": Variant(
            {"at_zero": False} | _ANYWAY, without_closure, expected=Verdict.NOT_CONTRADICTED
        ),
    },
    readings=_READINGS,
)
def check_huang2024_eq_16(
    one: Column, factor: int = 1, linear: int = 2, at_zero: bool = True, presumed: bool = True
) -> Iterator[Said]:
    """dL*/d l_ab = 2 - 2 sum_b' l_ab' - 2 sum_a' l_a'b = 0 for every pair, at the maximal l >= 0.

    The sums at a maximum are the scores, so they do not depend on which maximum was found.

    Args:
        one: a column.
        factor: what the multipliers are multiplied with.
        linear: what the sum of all multipliers is multiplied with in L*.
        at_zero: whether derivatives at multipliers of 0 must vanish, too.
        presumed: whether what is in force is asked of the data.
    """
    if presumed:
        yield from _presumed(one)
    multipliers = {pair: factor * value for pair, value in one.solution.multipliers.items()}
    length = margin.norm_squared(one.solution.scores)
    sums, unit = _sums(one, multipliers)
    yield equal(_dual(sums, unit, linear), length, "the dual and the squared norm")
    slopes = [
        (2 * unit - 2 * (sums[a] + sums[b]), a, b)
        for a, b in one.order.pairs
        if at_zero or (a, b) in multipliers
    ]
    (least_slope, a, b), (largest_slope, _, _) = min(slopes), max(slopes)
    low, high = Fraction(least_slope, unit), Fraction(largest_slope, unit)
    yield holds(high <= 0, f"a derivative of $L^*$ at its maximum is {high}")
    pair = verbatim(f"{a} > {b}")
    yield holds(low >= 0, f"the derivative of $L^*$ along the multiplier of {pair} is {low}")
    yield count("failed", int(low != 0))


JUDGED: Mapping[str, Checked] = {
    one.label: one
    for one in (check_huang2024_prop_2, check_huang2024_prop_4, check_huang2024_eq_16)
}


def on_data(label: str, columns: list[Column]) -> Check:
    """A claim judged on the columns of one data set.

    Data that break what the statement presumes do not decide it. Then it is open, and the evidence
    says what the data lack and what becomes of the formula on them; where it fails, the place is
    shown as a witness.

    Args:
        label: one of `JUDGED`.
        columns: those of the data set, one at least.
    """
    one = JUDGED[label]
    missing = [name for name, there in columns[0].facts.items() if not there]
    if not missing:
        return one.judge_data(columns)
    found = one.judge(columns, presumed=False)
    lacking = f"The data lack {' and '.join(missing)}, which the statement presumes."
    return Check(
        label,
        Verdict.OPEN,
        found.tried,
        found.unit,
        f"{lacking} {found.evidence}",
        witness=found.witness,
        numbers=found.numbers,
    )
