"""Checks of the page on realizable data: Definition 1, Assumptions 1 and 3, Example 1 (huang2024).

And what Sections 1, 4 and 5.2 say of them in passing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import numpy as np

from ntpbook.huang2024.s4_realizable.instances import (
    Weights,
    broken_chain,
    closed_chain,
    columns,
    contradictory_orders,
    outnumbered,
    peak_outside,
    repeated_token,
    separating_weights,
    separation,
    shared_next_token,
    smaller_weight,
)
from ntpbook.shared.constraints import constraints
from ntpbook.shared.symbols import at_least_zero, formula
from ntpcore.data import generate, languages, order
from ntpcore.data.dataset import Dataset, from_samples, from_sentences, read
from ntpcore.data.examples import EXAMPLE_1, example_1
from ntpcore.data.order import Pair, PartialOrder, Structure
from ntpcore.exact import repair
from ntpverdicts.claims import Shown, Verdict
from ntpverdicts.compare import (
    Said,
    assume,
    at_least,
    count,
    equal,
    holds,
    least,
    left_out,
    result,
    undecided,
)
from ntpverdicts.once import once
from ntpverdicts.vocabulary import Variant, by_hand, check, executed, relation, uses

# Definition 1, and the roles that tokens have in an order

Roles = Mapping[str, set[str]]


@dataclass(frozen=True)
class Relation:
    """A relation on some tokens, as Definition 1 could make it."""

    tokens: tuple[str, ...]
    order: PartialOrder

    @property
    def name(self) -> str:
        """Tokens and pairs in words."""
        pairs = ", ".join(f"{x} > {y}" for x, y in sorted(self.order.pairs)) or "no pair"
        return f"tokens {', '.join(self.tokens)} with {pairs}"

    def roles(self, printed: bool) -> Roles:
        """The four types: as the paper words them, or with "and something below it" added."""
        if not printed:
            return {
                "optimal": set(self.order.optimal),
                "non-optimal": set(self.order.nonoptimal),
                "non-comparable": set(self.tokens) - self.order.compared,
                "confused": set(self.order.confused),
            }
        above = {y for _, y in self.order.pairs}
        under = {x for x, _ in self.order.pairs}
        return {
            "optimal": set(self.tokens) - above,
            "non-optimal": set(self.tokens) - under,
            "non-comparable": set(self.tokens) - above - under,
            "confused": above & under,
        }


def small_relations(max_tokens: int = 4) -> Iterator[Relation]:
    """Every relation without self-pairs on 1 ... max_tokens tokens."""
    for size in range(1, max_tokens + 1):
        tokens = tuple("abcdefgh"[:size])
        edges = [(x, y) for x, y in product(tokens, tokens) if x != y]
        for chosen in product((False, True), repeat=len(edges)):
            kept = [edge for edge, keep in zip(edges, chosen, strict=True) if keep]
            yield Relation(tokens, PartialOrder.of("a", kept))


def small_orders(max_tokens: int = 4) -> list[Relation]:
    """The relations among them without confused tokens."""
    return [one for one in small_relations(max_tokens) if not one.order.confused]


def _held(one: Relation, printed: bool) -> dict[str, list[str]]:
    """For every token the types that it has."""
    roles = one.roles(printed)
    return {token: [name for name, held in roles.items() if token in held] for token in one.tokens}


def _not_an_order(pairs: frozenset[Pair]) -> str:
    """Which axiom of strict partial orders fails; empty where both hold."""
    for x, y in sorted(pairs):
        if x == y:
            return f"{x} lies above itself"
        for u, v in sorted(pairs):
            if u == y and (x, v) not in pairs:
                return f"{x} > {y} > {v}, and not {x} > {v}"
    return ""


@check(
    "huang2024-def-1",
    over="relations",
    instances=small_relations,
    shows="the order of a query is a strict partial order if no token is confused",
    says="The check tries all relations on a few tokens in which no token lies above itself. In "
    "all {tried} relations "
    "every token has exactly one of the roles of this book, and each of the {orders} relations "
    "without confused tokens is a strict partial order.",
    proof=(
        by_hand(
            "without confused tokens no two pairs form a chain, for any number of tokens",
            at="no-chain",
        ),
    ),
    planted={
        "The roles as the paper words them in place of those of this book.": {"printed": True},
        "Confused tokens allowed.": {"confused": True},
    },
)
def check_huang2024_def_1(
    one: Relation, printed: bool = False, confused: bool = False
) -> Iterator[Said]:
    """Every token has one role; without confused tokens the relation is a strict partial order."""
    for token, held in _held(one, printed).items():
        yield equal(len(held), 1, f"{token} is {' and '.join(held) or 'nothing'}")
    plain = not one.order.confused
    yield count("orders", int(plain))
    if plain or confused:
        fault = _not_an_order(one.order.pairs)
        yield holds(not fault, fault)


# What is in force in Section 4.1, in the order in which it argues

LOSS = "a loss that can be brought arbitrarily close to zero"
NEXT = "one next token for each sentence"
INJECTIVE = "an injective collocation"
PEAKS = r"columns of $W_{\mathrm{ov}}$ that peak at $\mathrm n$"
STRICT = "strict partial orders"
WEIGHTS = "larger attention weights on optimal tokens"


@dataclass(frozen=True)
class OfData:
    """The order of one query of a data set."""

    structure: Structure
    query: str

    @property
    def relation(self) -> Relation:
        """The order on the whole vocabulary."""
        return Relation(self.structure.data.vocabulary, (self.structure.orders or {})[self.query])

    @property
    def name(self) -> str:
        """Tokens and pairs in words."""
        return self.relation.name


def orders_of_closed_data(seed: int = 7, trials: int = 20) -> list[OfData]:
    """The orders of Example 1, then those of random prefix-closed data."""
    found = [order.analyse(one) for one in realizable_data(seed, trials) if one.prefix_closed]
    return [OfData(one, query) for one in found for query in one.orders or {}]


@check(
    "huang2024-app-roles",
    over="partial orders",
    instances=orders_of_closed_data,
    says="In all {tried} orders no token has two of the four types.",
    fails="In {failed} of {tried} orders, including those of Example 1, a token that is compared "
    "with no other is both optimal and non-optimal, because nothing lies above it and nothing "
    "lies below it.",
    hypotheses=(LOSS, order.CLOSURE, INJECTIVE, order.SOURCE, STRICT),
    planted={
        "The roles of this book in place of those of the paper.": Variant(
            {"printed": False}, expected=Verdict.NOT_CONTRADICTED
        ),
    },
)
def check_huang2024_app_roles(one: OfData, printed: bool = True) -> Iterator[Said]:
    """The four types of tokens, as worded, are disjoint.

    Args:
        one: an order of data for which all holds that Section 4.1 has said before.
        printed: whether the types are as worded, or repaired.
    """
    data, known = one.structure.data, order.facts(one.structure)
    yield assume(LOSS, separation(separating_weights(data)) > 0)
    yield assume(INJECTIVE, injective(data))
    yield assume(order.CLOSURE, known[order.CLOSURE])
    yield assume(order.SOURCE, known[order.SOURCE])
    yield assume(STRICT, not _not_an_order(one.relation.order.pairs))
    shared = {t: held for t, held in _held(one.relation, printed).items() if len(held) > 1}
    told = next((f"{token} is {' and '.join(held)} at once" for token, held in shared.items()), "")
    yield holds(not shared, told)
    yield count("failed", int(bool(shared)))


def injective(data: Dataset) -> bool:
    """Whether n is defined on the whole vocabulary and takes no value twice."""
    found = list(order.analyse(data).collocation.values())
    return None not in found and len(set(found)) == len(found)


def four_cases(printed: bool = False) -> Iterator[Shown]:
    """How many of the three roles a token has in each case of above and below."""
    for above, under in product((False, True), repeat=2):
        one = PartialOrder.of("q", [("u", "x")] * above + [("x", "l")] * under)
        roles = Relation(("x",), one).roles(printed)
        number = sum("x" in roles[name] for name in ("optimal", "non-optimal", "non-comparable"))
        case = f"{'something' if above else 'nothing'} above and "
        case += "something below" if under else "nothing below"
        due = 0 if above and under else 1
        words = f"roles of a token with {case}" + (", which is confused" if not due else "")
        yield relation(words, number, "=", due, number - due)


@check(
    "huang2024-app-three-categories",
    over="partial orders",
    instances=small_orders,
    says="In all {tried} orders without confused tokens every token has exactly one role.",
    proof=(
        uses("huang2024-def-1", "what lies above and below a token determines its role"),
        executed(
            "a token that is not confused has exactly one role, whether it has something or "
            "nothing above it and something or nothing below it",
            four_cases,
        ),
    ),
    planted={
        "Confused tokens allowed.": Variant(instances=small_relations),
        "The types as Section 4.1 words them, so that a token may have three.": {"printed": True},
    },
)
def check_huang2024_app_three_categories(one: Relation, printed: bool = False) -> Iterator[Said]:
    """Every token is optimal, non-optimal or non-comparable, and only one of these."""
    for token, held in _held(one, printed).items():
        three = [name for name in held if name != "confused"]
        yield equal(len(three), 1, f"{token} is {' and '.join(three) or 'none of the three'}")


@dataclass(frozen=True)
class Ends:
    """Maximal and minimal elements of a relation, from its pairs alone."""

    maximal: frozenset[str]
    minimal: frozenset[str]


def ends(one: Relation) -> Ends:
    """Elements that no pair has on its lower, or on its upper, side."""
    return Ends(
        frozenset(x for x in one.tokens if all(x != low for _, low in one.order.pairs)),
        frozenset(x for x in one.tokens if all(x != top for top, _ in one.order.pairs)),
    )


def ends_by_logic(swapped: bool = False, alone: bool = False) -> Iterator[Shown]:
    """Roles and ends by their definitions, for A: something lies above, and B: something below.

    Args:
        swapped: whether to take the minimal elements for the maximal ones, a planted error.
        alone: whether to leave the non-comparable tokens out, a planted error.
    """
    import sympy as sp

    A, B = sp.symbols("above below")
    roles = {"optimal": ~A & B, "non-optimal": A & ~B}
    free = sp.false if alone else ~A & ~B
    ends_of = {"optimal": ("maximal", ~A), "non-optimal": ("minimal", ~B)}
    if swapped:
        ends_of = {"optimal": ("minimal", ~B), "non-optimal": ("maximal", ~A)}
    for role, meaning in roles.items():
        kind, end = ends_of[role]
        against = sp.satisfiable(sp.Xor(meaning | free, end))
        words = f"tokens that are {role} or non-comparable, and {kind} elements"
        rest = "some token" if against else "0"
        yield Shown(words, formula(meaning | free), "=", formula(end), rest, not against)


@check(
    "huang2024-app-extremal",
    over="relations",
    instances=small_relations,
    says="In all {tried} relations the maximal elements are the optimal and the non-comparable "
    "tokens, and the minimal elements are the non-optimal and the non-comparable tokens.",
    proof=(
        uses("huang2024-def-1", "what lies above and below a token determines its role"),
        executed(
            "by logic, a token is maximal if and only if it is optimal or non-comparable, and "
            "minimal if and only if it is non-optimal or non-comparable",
            ends_by_logic,
        ),
    ),
    planted={
        "Maximal and minimal elements exchanged.": {"swapped": True},
        "The non-comparable tokens left out.": {"alone": True},
    },
)
def check_huang2024_app_extremal(
    one: Relation, swapped: bool = False, alone: bool = False
) -> Iterator[Said]:
    """Maximal are the optimal, minimal the non-optimal tokens, and the non-comparable are both."""
    roles, found = one.roles(False), ends(one)
    tops, lows = (found.minimal, found.maximal) if swapped else (found.maximal, found.minimal)
    free: set[str] = set() if alone else roles["non-comparable"]
    for role, kind, there in (("optimal", "maximal", tops), ("non-optimal", "minimal", lows)):
        apart = sorted((roles[role] | free) ^ there)
        yield holds(not apart, f"{role} and {kind} differ at {', '.join(apart)}")


# What a loss near zero is said to force

LEAD = (
    "With the parameters shown on the page, the logit of the correct token exceeds every other "
    r"logit by at least {lead} times the scale $B$ of $W_{\mathrm{ov}}$ in every sample, by exact "
    "computation. So the loss tends to zero as $B$ grows, but the conclusion of the paper from "
    "such a loss is false."
)


def _in_force(one: Weights, *names: str) -> Iterator[Said]:
    """What Section 4.1 has said before, asked of data and parameters."""
    data, known = one.data, order.facts(order.analyse(one.data))
    n = order.analyse(data).collocation
    tests = {
        LOSS: lambda: separation(one) > 0,
        NEXT: lambda: len({s.sentence for s in data.samples()}) == data.sample_count,
        INJECTIVE: lambda: injective(data),
        PEAKS: lambda: all(
            score < column[n[x] or ""]
            for x, column in one.W_ov.items()
            for v, score in column.items()
            if v != n[x]
        ),
        order.CLOSURE: lambda: known[order.CLOSURE],
        order.SOURCE: lambda: known[order.SOURCE],
        WEIGHTS: lambda: all(best > rest for _, best, rest in weight_pairs(one, total=False)),
    }
    for name in names:
        yield assume(name, tests[name]())


def _implied(one: Weights, consequence: bool, told: str) -> Iterator[Said]:
    """If the loss tends to zero, the consequence holds."""
    lead = separation(one)
    yield holds(consequence or lead <= 0, told)
    yield least("lead", lead)


def _first_failure(one: Weights, rule: str) -> str:
    """The first failure of a rule of Assumption 1, with the sentences that force it."""
    for failure in order.analyse(one.data).realizable.failures:
        if failure.rule == rule:
            lines = (one.data.lines[at.line].tokens[: at.length + 1] for at in failure.samples)
            words = [[one.data.vocabulary[x] for x in line] for line in lines]
            told = ", ".join(f"{' '.join(line[:-1])} → {line[-1]}" for line in words)
            return f"{failure.message} ({told})"
    return ""


def realizable_weights() -> list[Weights]:
    """Parameters for Example 1 along which its loss tends to zero."""
    return [separating_weights(example_1())]


@check(
    "huang2024-app-injective",
    over="explicit parameters",
    instances=lambda: [shared_next_token()],
    says="No counterexample among {tried} choices of parameters.",
    fails=LEAD,
    hypotheses=(LOSS, order.CLOSURE, NEXT),
    planted={
        r"The same data with a $W_{\mathrm{ov}}$ that prefers no token.": Variant(
            instances=lambda: [replace(shared_next_token(), W_ov=columns("01", (3, 3), (3, 3)))],
            expected=Verdict.NOT_CONTRADICTED,
        ),
        "Example 1, whose collocation is injective.": Variant(
            instances=realizable_weights, expected=Verdict.NOT_CONTRADICTED
        ),
    },
)
def check_huang2024_app_injective(one: Weights) -> Iterator[Said]:
    """If the loss tends to zero, n is injective."""
    yield from _in_force(one, *check_huang2024_app_injective.hypotheses)
    told = _first_failure(one, "collocation-not-injective")
    yield from _implied(one, not told, told)


@check(
    "huang2024-app-peaks",
    over="explicit parameters",
    instances=lambda: [peak_outside()],
    says="No counterexample among {tried} choices of parameters.",
    fails=LEAD,
    hypotheses=(LOSS, order.CLOSURE, NEXT, INJECTIVE, PEAKS),
    planted={
        r"The same data with $W_{\mathrm{ov}} x = e_{\mathrm n(x)}$, for which token 0 does not "
        "have the largest logit after 0 1.": Variant(
            instances=lambda: [
                replace(peak_outside(), W_ov=columns("012", (0, 3, 0), (0, 0, 3), (3, 0, 0)))
            ],
            expected=Verdict.NOT_CONTRADICTED,
        ),
        r"Example 1, where the output peaks at $\mathrm n$ of a token of the sentence.": Variant(
            instances=realizable_weights, expected=Verdict.NOT_CONTRADICTED
        ),
    },
)
def check_huang2024_app_peaks(one: Weights) -> Iterator[Said]:
    """If the loss tends to zero, every next token is n of a token of its sentence."""
    yield from _in_force(one, *check_huang2024_app_peaks.hypotheses)
    told = _first_failure(one, "next-token-unexplained")
    yield from _implied(one, not told, told)


@check(
    "huang2024-app-well-defined",
    over="explicit parameters",
    instances=lambda: [closed_chain()],
    says="No counterexample among {tried} choices of parameters.",
    fails=LEAD,
    hypotheses=(LOSS, order.CLOSURE, NEXT, INJECTIVE, PEAKS, order.SOURCE, WEIGHTS),
    planted={
        r"The same data and $W_{\mathrm{ov}}$ with $W_{\mathrm{kq}} = 0$, where all tokens get "
        "equal attention.": Variant(
            instances=lambda: [replace(closed_chain(), odds={})],
            expected=Verdict.NOT_CONTRADICTED,
        ),
        "Example 1, whose orders are strict.": Variant(
            instances=realizable_weights, expected=Verdict.NOT_CONTRADICTED
        ),
    },
    readings={
        "without the hypothesis that deciding tokens have larger weights, on data where a "
        "repeated token outweighs a single one": Variant(
            instances=lambda: [contradictory_orders()]
        ),
        "without prefix closure, on data where no sentence repeats a token": Variant(
            instances=lambda: [broken_chain()]
        ),
    },
)
def check_huang2024_app_well_defined(one: Weights) -> Iterator[Said]:
    """If the loss tends to zero: no x > x, and x > x' > x'' implies x > x''."""
    yield from _in_force(one, *check_huang2024_app_well_defined.hypotheses)
    faults = [
        f"under query {q}: {fault}"
        for q in one.data.vocabulary
        if (fault := _not_an_order(_pairs(one.data, q)))
    ]
    yield from _implied(one, not faults, faults[0] if faults else "")


def _pairs(data: Dataset, query: str) -> frozenset[Pair]:
    """The order of a query, read off the samples by the words of Definition 1."""
    return frozenset((one.upper, one.lower) for one in constraints(data) if one.query == query)


def weight_pairs(weights: Weights, total: bool) -> Iterator[tuple[str, Fraction, Fraction]]:
    """For each sample with two tokens its least optimal and its largest other attention weight.

    Args:
        weights: the parameters.
        total: whether the weights of equal tokens are added up.
    """
    n = order.analyse(weights.data).collocation
    for sample in weights.data.samples():
        odds = weights.odds.get(sample.sentence[-1], {})
        each = {x: odds.get(x, Fraction(1)) for x in sample.sentence}
        whole = sum((each[x] for x in sample.sentence), Fraction(0))
        share = {x: each[x] / whole * (sample.sentence.count(x) if total else 1) for x in each}
        best = [share[x] for x in each if n[x] == sample.next_token]
        rest = [share[x] for x in each if n[x] != sample.next_token]
        if best and rest:
            yield f"{' '.join(sample.sentence)} → {sample.next_token}", min(best), max(rest)


@check(
    "huang2024-app-weights-larger",
    over="explicit parameters",
    instances=lambda: [smaller_weight()],
    says="No counterexample among {tried} choices of parameters.",
    fails=LEAD,
    hypotheses=(LOSS, order.CLOSURE, NEXT, INJECTIVE, PEAKS, order.SOURCE),
    planted={
        r"Parameters for Example 1 whose columns of $W_{\mathrm{ov}}$ all have the "
        "same norm.": Variant(instances=realizable_weights, expected=Verdict.NOT_CONTRADICTED),
        r"The same data with a $W_{\mathrm{ov}}$ that prefers no token.": Variant(
            instances=lambda: [replace(smaller_weight(), W_ov=columns("01", (3, 3), (3, 3)))],
            expected=Verdict.NOT_CONTRADICTED,
        ),
    },
    readings={
        "the weight of a token summed over its positions in place of the weight of one position": {
            "total": True
        }
    },
)
def check_huang2024_app_weights_larger(one: Weights, total: bool = False) -> Iterator[Said]:
    """If the loss tends to zero, optimal tokens have larger weights than the others."""
    yield from _in_force(one, *check_huang2024_app_weights_larger.hypotheses)
    for told, best, rest in weight_pairs(one, total):
        words = f"{told}: the optimal token has the weight {best}, the other token {rest}"
        yield from _implied(one, best > rest, words)
        yield result("optimal", best)
        yield result("other", rest)


# Assumptions 1 and 3


@dataclass(frozen=True)
class Expected:
    """Data, and the rules of Assumption 1 that they break."""

    data: Dataset
    broken: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the data."""
        return self.data.name


def meant_to_fail() -> list[Expected]:
    """Example 1, and for each rule of Assumption 1 data that break this rule alone."""
    return [
        Expected(example_1()),
        Expected(peak_outside().data, ("next-token-unexplained",)),
        Expected(contradictory_orders().data, ("confused-token",)),
        Expected(shared_next_token().data, ("collocation-not-injective",)),
    ]


def contradictory_example() -> list[Expected]:
    """Contradictory data that are meant to satisfy Assumption 1."""
    return [Expected(contradictory_orders().data)]


@check(
    "huang2024-asm-1",
    over="data sets",
    instances=meant_to_fail,
    shows="Assumption 1 can be satisfied, and each of its parts can fail: the condition source, "
    "injectivity, and the absence of confused tokens",
    says="Of {tried} data sets, Example 1 satisfies all parts of Assumption 1, and each of the "
    r"others violates one part: one has a next token that is $\mathrm n$ of no token of its "
    "sentence, one has a confused token, and one has two tokens with the same follower.",
    planted={
        "Contradictory data in place of Example 1.": Variant(instances=contradictory_example),
        "Injectivity not required.": {"passed_over": "collocation-not-injective"},
    },
)
def check_huang2024_asm_1(one: Expected, passed_over: str = "") -> Iterator[Said]:
    """Exactly the expected rules are broken."""
    broken = sorted(set(order.analyse(one.data).realizable.counts or {}) - {passed_over})
    yield holds(tuple(broken) == one.broken, f"it violates {', '.join(broken) or 'nothing'}")


@dataclass(frozen=True)
class Frequent:
    """Data that satisfy Assumption 1, and whether they are meant to satisfy Assumption 3."""

    data: Dataset
    met: bool

    @property
    def name(self) -> str:
        """The name of the data."""
        return self.data.name


@check(
    "huang2024-asm-3",
    over="data sets",
    instances=lambda: [Frequent(example_1(), True), Frequent(outnumbered(), False)],
    shows="Assumption 3 can be satisfied, and can fail",
    says="The check tries {tried} data sets that satisfy Assumption 1. Example 1 satisfies the "
    "formula of Assumption 3, and the data with the lines 0 1 1 1 and 1 0 violate it.",
    planted={
        "Data that violate the formula in place of Example 1.": Variant(
            instances=lambda: [Frequent(outnumbered(), True)]
        ),
        "Strictly more occurrences required.": {"strictly": True},
    },
    readings={
        "the paper's sentence before the formula, in which all non-optimal tokens are counted "
        "together": {"together": True},
    },
)
def check_huang2024_asm_3(
    one: Frequent, together: bool = False, strictly: bool = False
) -> Iterator[Said]:
    """|l(n)| >= number of x in X^(n), for every non-optimal token x of every sample."""
    structure = order.analyse(one.data)
    yield holds(structure.realizable.holds is True, "Assumption 1")
    short = []
    for sample in one.data.samples():
        others = [x for x in sample.sentence if structure.collocation[x] != sample.next_token]
        optimal = len(sample.sentence) - len(others)
        most = len(others) if together else max(map(others.count, others), default=0)
        if optimal < most or (strictly and others and optimal == most):
            short.append(f"{' '.join(sample.sentence)} → {sample.next_token}")
    yield holds((not short) == one.met, short[0] if short else "nothing fails")
    if not together and not strictly:
        yield holds((not short) == structure.frequent.holds, "the library says otherwise")


# Example 1 and Figure 1

PRINTED_COLLOCATION = {"S": "V", "V": "O", "O": "P", "P": "S"}
PRINTED_ORDERS = {  # as Example 1 prints them
    "S": {("S", "P")},
    "V": {("V", "S")},
    "O": {("O", "S"), ("O", "V")},
    "P": {("O", "P")},
}


def _example(third: str) -> Dataset:
    """Example 1, with this sentence in the place of the third one."""
    sentences = [one if place != 2 else third for place, one in enumerate(EXAMPLE_1)]
    return from_sentences(sentences, "Example 1")


def read_off(third: str = EXAMPLE_1[2]) -> Iterator[Shown]:
    """Collocation and orders of the samples, by the words of Section 4.1, against the printed.

    And what Assumption 1 asks of them.
    """
    data = _example(third)
    samples = list(data.samples())
    singles = sorted({(s.sentence[0], s.next_token) for s in samples if len(s.sentence) == 1})
    yield _same("collocation", singles, sorted(PRINTED_COLLOCATION.items()))
    for query, printed in PRINTED_ORDERS.items():
        yield _same(f"order under ${query}$", sorted(_pairs(data, query)), sorted(printed))
    n = dict(singles)
    twice = 2 * len(singles) - len(n) - len(set(n.values()))
    yield relation("tokens with two followers, and followers of two tokens", twice, "=", 0, twice)
    orders = [_pairs(data, query) for query in data.vocabulary]
    confused = sum(len({a for a, _ in pairs} & {b for _, b in pairs}) for pairs in orders)
    yield relation("confused tokens", confused, "=", 0, confused)
    strange = sum(s.next_token not in {n[x] for x in s.sentence} for s in samples)
    words = r"next tokens that are $\mathrm n$ of no token of their sentence"
    yield relation(words, strange, "=", 0, strange)


def _same(name: str, found: list[Pair], printed: list[Pair]) -> Shown:
    """Whether what was read off is what the paper prints."""
    texts = [", ".join(f"{a} {b}" for a, b in pairs) for pairs in (found, printed)]
    rest = len(set(found) ^ set(printed))
    return Shown(name, texts[0], "=", texts[1], f"{rest} pairs" if rest else "0", not rest)


@check(
    "huang2024-ex-1",
    over="data sets",
    instances=lambda: [EXAMPLE_1],
    name=lambda one: "Example 1",
    says="For all {samples} samples, the collocation and the four orders are exactly those in "
    "the paper, and Assumptions 1 and 3 and prefix closure hold.",
    proof=(
        executed(
            "the definitions of Section 4.1, applied to every sample, give the collocation and "
            "the orders as stated, and the samples satisfy Assumption 1",
            read_off,
        ),
    ),
    planted={"The sentence OPP changed to OPS.": {"third": "O P S"}},
)
def check_huang2024_ex_1(one: tuple[str, ...], third: str = EXAMPLE_1[2]) -> Iterator[Said]:
    """Collocation and orders are as printed; Assumption 1 holds."""
    data = _example(third)
    structure = order.analyse(data)
    orders = {query: set(found.pairs) for query, found in (structure.orders or {}).items()}
    yield holds(dict(structure.collocation) == PRINTED_COLLOCATION, "collocation")
    yield holds(orders == PRINTED_ORDERS, "orders")
    yield holds(structure.realizable.holds is True, "Assumption 1")
    yield holds(structure.frequent.holds is True, "Assumption 3")
    yield holds(data.prefix_closed, "prefix closure")
    yield result("samples", data.sample_count)
    yield result("max_length", data.max_length)


Row = tuple[tuple[str, ...], tuple[str, ...], str]


def figure_1_rows(data: Dataset) -> list[Row]:
    """Sentence, optimal tokens in it, next token: what the left half of Figure 1 shows."""
    n = order.analyse(data).collocation
    return [
        (
            sample.sentence,
            tuple(x for x in dict.fromkeys(sample.sentence) if n[x] == sample.next_token),
            sample.next_token,
        )
        for sample in data.samples()
    ]


@dataclass(frozen=True)
class Framed:
    """A sentence of the figure, with the order of its query."""

    row: Row
    order: PartialOrder | None

    @property
    def name(self) -> str:
        """The sentence and its next token."""
        return f"{' '.join(self.row[0])} → {self.row[2]}"


def framed(data: Dataset) -> list[Framed]:
    """The sentences of some data, as Figure 1 has them."""
    orders = order.analyse(data).orders or {}
    return [Framed(row, orders.get(row[0][-1])) for row in figure_1_rows(data)]


def frames(third: str = EXAMPLE_1[2]) -> Iterator[Shown]:
    """The nine sentences by the printed collocation and orders: which token n maps to the next."""
    known = set[tuple[str, ...]]()
    for place, line in enumerate(EXAMPLE_1):
        tokens = tuple((third if place == 2 else line).split())
        for end in range(1, len(tokens)):
            sentence, following = tokens[:end], tokens[end]
            if tokens[: end + 1] in known:
                continue
            known |= {tokens[: end + 1]}
            mapped = {x for x in sentence if PRINTED_COLLOCATION[x] == following}
            lower = {low for _, low in PRINTED_ORDERS[sentence[-1]]}
            upper = {top for top, _ in PRINTED_ORDERS[sentence[-1]]} - lower
            framed_here = set(sentence) & upper if len(set(sentence)) > 1 else set(sentence)
            apart = len(framed_here ^ mapped) + abs(len(mapped) - 1)
            yield relation(
                f"{' '.join(sentence)} → {following}: the optimal or only token, and "
                f"the token mapped to {following}",
                ", ".join(sorted(framed_here)), "=", ", ".join(sorted(mapped)), apart,
            )  # fmt: skip


@check(
    "huang2024-fig-1",
    over="sentences",
    instances=lambda: framed(example_1()),
    proof=(
        uses("huang2024-ex-1", "the collocation and the orders are as stated"),
        executed(
            "in each sentence, with the stated collocation and orders, the optimal or only token "
            "is the one that is mapped to the next token",
            frames,
            planted={"The sentence OPP changed to OPS.": {"third": "O P S"}},
        ),
    ),
    says=r"In all {tried} sentences of Example 1 $\mathrm n$ maps exactly one token to the next "
    "token. If a sentence has two different tokens, the token that is mapped to the next token is "
    "the only optimal one. In our copy of the paper the frames that mark the optimal tokens in "
    "Figure 1 are illegible, so the check computes from Example 1 which token is optimal.",
    planted={
        "A data set with contradictory orders.": Variant(
            instances=lambda: framed(contradictory_orders().data)
        ),
        "The query of each sentence taken for its optimal token.": {"query": True},
    },
)
def check_huang2024_fig_1(one: Framed, query: bool = False) -> Iterator[Said]:
    """One token is optimal for the query of its sentence, and n maps it to the next token."""
    sentence, marked, _ = one.row
    marked = (sentence[-1],) if query else marked
    yield equal(len(marked), 1, f"{len(marked)} tokens are mapped to the next one")
    if len(set(sentence)) > 1:
        best = {x for x in sentence if one.order is not None and x in one.order.optimal}
        yield holds(best == set(marked), f"optimal by the order: {', '.join(sorted(best))}")


# What follows from Assumption 1


@once
def realizable_data(seed: int = 7, trials: int = 100) -> tuple[Dataset, ...]:
    """Example 1 and random realizable data, prefix-closed ones and others in turn."""
    rng = np.random.default_rng(seed)
    return (
        example_1(),
        *(
            generate.random_dataset(rng, 8, 20, 6, prefix_closed=i % 2 == 0)
            for i in range(trials)
        ),
    )  # fmt: skip


def least_lead(sharper: Fraction = Fraction(1)) -> Iterator[Shown]:
    """The lead and the sum of odds in a sentence of at most L tokens, for symbolic numbers.

    The optimal token occurs c = 1 + e times, the sentence has c + r <= L tokens, L = c + r + s.

    Args:
        sharper: what the bound 1 / (2 L - 1) is multiplied with.
    """
    import sympy as sp

    e, r, s = sp.symbols("e r s", integer=True, nonnegative=True)
    c, L = 1 + e, 1 + e + r + s
    right, others = c * L, r  # odds: L for each optimal position, 1 for each other one
    lead = (right - others) / (right + others)  # at worst all others vote for one token
    bound = sp.Rational(sharper.numerator, sharper.denominator) / (2 * L - 1)
    gap = sp.expand(sp.simplify((lead - bound) * (right + others) * (2 * L - 1)))
    yield at_least_zero(
        r"(lead $- \frac{1}{2L - 1}$) times its two denominators, for $L = L_{\max}$", gap
    )


def near_zero_data(seed: int = 7, trials: int = 100) -> tuple[Dataset, ...]:
    """Realizable data, among them a sentence in which the optimal token is alone against two."""
    return (*realizable_data(seed, trials), outnumbered())


@check(
    "huang2024-app-near-zero",
    over="data sets",
    instances=near_zero_data,
    says=r"With the parameters of the proof, where $B$ is the scale of $W_{\mathrm{ov}}$, the "
    r"correct logit leads every other logit by at least $B/(2L_{\max} - 1)$ in every sample of "
    "{tried} data sets, by exact computation. The smallest ratio of a lead to this bound is "
    "{least}.",
    hypotheses=(order.ASSUMPTION_1, order.SOURCE),
    proof=(
        uses("huang2024-asm-1", r"$\mathrm n$ is injective, and no token is confused"),
        by_hand(
            "every token of a sentence other than the deciding one has a different follower, "
            r"because $\mathrm n$ is injective, and is optimal in no sentence with this query, "
            "because no token is confused",
            at="rivals",
        ),
        by_hand(
            "the logits for the parameters of the proof, and the lead of the correct logit",
            at="logits",
        ),
        executed(r"the lead of the correct logit is at least $B/(2L_{\max} - 1)$", least_lead),
        by_hand("a lower bound on the lead gives an upper bound on the loss", at="loss"),
    ),
    planted={
        "The lower bound on the lead 1.1 times sharper.": {"sharper": Fraction(11, 10)},
        "Equal attention, so that the three tokens of S V O in Example 1 have equal weights.": {
            "favour": 1
        },
        "Contradictory data, which violate Assumption 1.": Variant(
            instances=lambda: [contradictory_orders().data]
        ),
    },
)
def check_huang2024_app_near_zero(
    one: Dataset, favour: int | None = None, sharper: Fraction = Fraction(1)
) -> Iterator[Said]:
    """Some W_ov and W_kq give every right logit a lead of B / (2 L_max - 1) over all others.

    Tokens are one-hot vectors.

    Args:
        one: realizable data.
        favour: how many times the attention of another token an optimal one gets.
        sharper: what the bound is multiplied with.
    """
    known = order.facts(order.analyse(one))
    for name in (order.ASSUMPTION_1, order.SOURCE):
        yield assume(name, known[name])
    share = separation(separating_weights(one, favour)) * (2 * one.max_length - 1)
    yield at_least(share, sharper, r"the lead in units of $B/(2L_{\max} - 1)$")
    yield least("least", share)


def regenerated(structure: Structure, sentence: tuple[str, ...], distinct: bool = True) -> str:
    """The next token by the paper's rule; empty where the rule names none or several.

    Args:
        structure: collocation and orders.
        sentence: the sentence.
        distinct: whether n alone decides for all sentences with one distinct token, and not only
            for those of length 1.
    """
    alone = len(set(sentence)) == 1 if distinct else len(sentence) == 1
    if alone:
        return structure.collocation[sentence[0]] or ""
    one = (structure.orders or {}).get(sentence[-1])
    beaten = {low for _, low in one.pairs} if one is not None else set[str]()
    best = set(sentence) - beaten
    return structure.collocation[best.pop()] or "" if len(best) == 1 else ""


def undecided_pairs(confused: bool = False) -> Iterator[Shown]:
    """Two samples on three tokens with one query: does nothing lie above one token of each alone?

    Args:
        confused: whether pairs that confuse a token are let in, a planted error.
    """
    samples = [
        (frozenset(tokens), decided)
        for size in (2, 3)
        for tokens in combinations("abc", size)
        for decided in tokens
    ]
    tried = wrong = 0
    for one, other in product(samples, repeat=2):
        pairs = {(decided, x) for tokens, decided in (one, other) for x in tokens - {decided}}
        found = PartialOrder.of("q", pairs)
        if found.confused and not confused:
            continue
        tried += 1
        for tokens, decided in (one, other):
            wrong += tokens - {low for _, low in pairs} != {decided}
    words = f"sentences with another token above which nothing lies, in {tried} pairs"
    yield relation(words, wrong, "=", 0, wrong)


@once
def closed_data(seed: int = 7, trials: int = 100) -> tuple[Dataset, ...]:
    """Example 1, a token that repeats itself, and random realizable prefix-closed data."""
    repeats = from_sentences(["a a a a", "b c b", "c b"], "a token that repeats itself")
    return tuple(one for one in (repeats, *realizable_data(seed, trials)) if one.prefix_closed)


@check(
    "huang2024-app-regenerate",
    over="data sets",
    instances=realizable_data,
    says="In a sentence with two different tokens exactly one token has nothing above it; the "
    "check shows this for all pairs of samples on three tokens with one query and no confused "
    "token. On {tried} data sets, the next token of each of the {samples} samples is the follower "
    "of the only or of the optimal token of its sentence, as stated.",
    hypotheses=(order.ASSUMPTION_1, order.SOURCE),
    proof=(
        uses("huang2024-asm-1", r"$\mathrm n$ is injective, and no token is confused"),
        executed(
            "if two samples on three tokens confuse no token, nothing lies above the deciding "
            "token of a sentence, and something lies above each other token of the sentence",
            undecided_pairs,
            planted={"Pairs of samples that confuse a token allowed.": {"confused": True}},
        ),
        by_hand("more than two samples and more than three tokens add no new cases", at="few"),
        by_hand(
            r"a sentence that contains only the token $a$ is followed by $\mathrm n(a)$",
            at="one-token",
        ),
    ),
    planted={
        "Contradictory data, which violate Assumption 1.": Variant(
            instances=lambda: [contradictory_orders().data]
        ),
        r"$\mathrm n$ of the last token in place of $\mathrm n$ of the optimal one.": {
            "last": True
        },
    },
    readings={
        "only a sentence of length 1 counts as having one token, and a token is optimal if "
        "nothing lies above it; with prefix closure": Variant({"distinct": False}, closed_data),
        "only a sentence of length 1 counts as having one token, and a token is optimal if "
        "nothing lies above it; without prefix closure": Variant(
            {"distinct": False}, lambda: [repeated_token()]
        ),
    },
)
def check_huang2024_app_regenerate(
    one: Dataset, distinct: bool = True, last: bool = False
) -> Iterator[Said]:
    """The next token is n(x) for a sentence of x alone, else n of its one optimal token.

    Args:
        one: data.
        distinct: whether sentences that repeat one token count as sentences of one token.
        last: whether n of the last token is taken.
    """
    structure = order.analyse(one)
    for name in (order.ASSUMPTION_1, order.SOURCE):
        yield assume(name, order.facts(structure)[name])
    for sample in one.samples():
        told = regenerated(structure, sample.sentence, distinct)
        if last:
            told = structure.collocation[sample.sentence[-1]] or ""
        words = f"{' '.join(sample.sentence)} → {sample.next_token}"
        yield holds(told == sample.next_token, f"{words}, by the rule {told or 'nothing'}")
    yield count("samples", one.sample_count)


STARTS = "every token starts a sentence"


@dataclass(frozen=True)
class Collocated:
    """Data with the next tokens of tokens that start no sentence."""

    data: Dataset
    given: Mapping[str, str]

    @property
    def name(self) -> str:
        """The name of the data."""
        return self.data.name


def collocated_data(seed: int = 7, trials: int = 100) -> list[Collocated]:
    """Prefix-closed data in which every token starts a sentence."""
    return [Collocated(one, {}) for one in closed_data(seed, trials)]


def partial_collocation() -> list[Collocated]:
    """Realizable, prefix-closed data in which b starts no sentence, and n(b)."""
    return [Collocated(from_sentences(["a b a"], "the sentence a b a"), {"b": "a"})]


def without_beginnings() -> list[Collocated]:
    """Realizable data in which every token starts a sentence, a only a longer one, and n(a)."""
    samples = [("a b", "a"), ("b", "a")]
    split = [(sentence.split(), following) for sentence, following in samples]
    return [Collocated(from_samples(split, "a b → a and b → a"), {"a": "b"})]


@check(
    "huang2024-app-length-2",
    over="data sets",
    instances=collocated_data,
    says="On {tried} data sets in which every token starts a sentence, the sentences of length "
    r"two are exactly the pairs $(x, \mathrm n(x))$ of all {tokens} tokens $x$.",
    hypotheses=(STARTS, order.ASSUMPTION_1, order.CLOSURE),
    proof=(
        uses("huang2024-asm-1", r"$\mathrm n$ is single-valued"),
        by_hand(
            "because the data are prefix-closed, the first two tokens of a sentence are a sample",
            at="first-two",
        ),
        by_hand(
            r"the next token of a sentence of one token $x$ is $\mathrm n(x)$ by definition",
            at="definition",
        ),
    ),
    planted={
        "The last two tokens of each sentence in place of the first two.": {"last": True},
        "A collocation that contradicts the sentences of Example 1.": Variant(
            instances=lambda: [Collocated(example_1(), {"S": "O"})]
        ),
    },
    readings={
        r"some token starts no sentence: a → b and a b → a determine $\mathrm n(a)$, but no "
        r"sentence shows $\mathrm n(b)$": Variant(instances=partial_collocation),
        "without prefix closure": Variant(instances=without_beginnings),
    },
)
def check_huang2024_app_length_2(one: Collocated, last: bool = False) -> Iterator[Said]:
    """{(x, n(x))} = {(X, next token): X has one token}."""
    structure = order.analyse(one.data, one.given)
    starts = {sample.sentence[0] for sample in one.data.samples()}
    yield assume(STARTS, starts == set(one.data.vocabulary))
    for name in (order.ASSUMPTION_1, order.CLOSURE):
        yield assume(name, order.facts(structure)[name])
    found: dict[str, set[str]] = {}
    for sample in one.data.samples():
        if last or len(sample.sentence) == 1:
            found.setdefault(sample.sentence[-1], set()).add(sample.next_token)
    n = structure.collocation
    for token, following in n.items():
        seen = ", ".join(sorted(found.get(token, ()))) or "nothing"
        yield holds(found.get(token) == {following}, f"{token} is followed by {seen}")
    yield count("tokens", len(n))


# The first ground-truth model


@dataclass(frozen=True)
class Modelled:
    """Models on the tokens 0, 1, ...: the values of p_1 at x, and those of p_2 at x p_1(x)."""

    p_1: tuple[int, ...]
    p_2: tuple[int, ...]

    @property
    def name(self) -> str:
        """p_1 in words."""
        return "p_1: " + ", ".join(f"{x} → {y}" for x, y in enumerate(self.p_1))

    @property
    def data(self) -> Dataset:
        """The sentence of two tokens that grows from each token, with its next token."""
        lines = [(x, y, z) for x, (y, z) in enumerate(zip(self.p_1, self.p_2, strict=True))]
        return from_sentences([[str(token) for token in line] for line in lines], self.name)


def models(largest: int = 3) -> Iterator[Modelled]:
    """All models on up to so many tokens."""
    for size in range(1, largest + 1):
        maps = list(product(range(size), repeat=size))
        yield from (Modelled(p_1, p_2) for p_1, p_2 in product(maps, repeat=2))


@check(
    "huang2024-app-first-model",
    over="pairs of models",
    instances=models,
    says="The check tries all {tried} pairs of a model $p_1^*$ of sentences of one token and a "
    "model $p_2^*$ of sentences of two tokens, over vocabularies of at most three tokens. For each "
    r"pair, the map $\mathrm n$ computed from the data that the models generate is $p_1^*$.",
    hypotheses=(STARTS, order.CLOSURE),
    proof=(
        by_hand(
            r"$\mathrm n(x)$ and $p_1^*([x])$ are both the next token of the sample $[x]$",
            at="definition",
        ),
    ),
    planted={
        "The second model in place of the first.": {"second": True},
        "Only the sentence that starts with 0, so that other tokens start none.": {
            "first_only": True
        },
    },
)
def check_huang2024_app_first_model(
    one: Modelled, second: bool = False, first_only: bool = False
) -> Iterator[Said]:
    """n(x) = p_1([x]) for every token x.

    Args:
        one: the models.
        second: whether p_2 takes the place of p_1.
        first_only: whether the sentence of the first token alone is in the data.
    """
    data = one.data
    if first_only:
        words = [data.vocabulary[token] for token in data.lines[0].tokens]
        data = from_sentences([words], one.name)
    yield assume(STARTS, {s.sentence[0] for s in data.samples()} == set(data.vocabulary))
    yield assume(order.CLOSURE, data.prefix_closed)
    n = order.analyse(data).collocation
    for x, following in enumerate(one.p_2 if second else one.p_1):
        if str(x) in n:
            found = n[str(x)]
            yield holds(found == str(following), rf"$\mathrm n({x})$ is {found or 'not defined'}")


# Assumption 3 in practice


@dataclass(frozen=True)
class Text:
    """A text, or several draws of a random one; none where its file is not at hand.

    Attributes:
        place: in the list of texts.
        name: what it is.
        draws: the data.
    """

    place: int
    name: str
    draws: tuple[Dataset, ...]


def practice_texts(seed: int = 7, draws: int = 12, sentences: int = 100) -> list[Text]:
    """A speech, and twelve draws each of the log of a server and of balanced brackets."""
    file = Path(__file__).resolve().parents[3] / "examples" / "gettysburg.txt"
    rngs = [np.random.default_rng([seed, draw]) for draw in range(draws)]
    return [
        Text(1, "the Gettysburg Address", (read(str(file)),) if file.is_file() else ()),
        Text(2, "a server log", tuple(languages.server_log(rng, sentences) for rng in rngs)),
        Text(3, "brackets", tuple(languages.brackets(rng, sentences) for rng in rngs)),
    ]


def outnumbered_text() -> list[Text]:
    """A text whose longer sentences repeat a non-optimal token."""
    return [Text(1, "a text of our own", (from_sentences(["0 1 1 1 1 1", "1 0"]),))]


def frequent_share(data: Dataset, strict: bool = False) -> tuple[int, int]:
    """Samples of a realizable part that meet the formula of Assumption 3, and all of them.

    Only samples with two different tokens are counted.

    Args:
        data: sentences.
        strict: whether the optimal token must occur more often than every other one; the formula
            allows ties.
    """
    found = repair.solve_greedy(repair.tabulate(data))
    met = compared = 0
    for at, _ in found.kept():
        line = data.lines[at.line].tokens[: at.length + 1]
        words = [data.vocabulary[x] for x in line]
        sentence, label = words[:-1], words[-1]
        optimal = sum(found.collocation[x] == label for x in sentence)
        others = [sentence.count(x) for x in sentence if found.collocation[x] != label]
        if others and optimal:
            compared += 1
            met += optimal > max(others) if strict else optimal >= max(others)
    return met, compared


@check(
    "huang2024-app-asm-3-practice",
    over="texts",
    instances=practice_texts,
    observes=True,
    says="In the realizable part of each of {tried} texts, more than half of the sentences with "
    "two different tokens satisfy the formula of Assumption 3, in every draw if the text is "
    "random. The paper names no data and no measure; we chose the texts and the threshold of one "
    "half.",
    planted={
        "A text whose longer sentences repeat a non-optimal token.": Variant(
            instances=outnumbered_text, expected=Verdict.NOT_SEEN
        ),
    },
    readings={
        "the optimal token has to occur strictly more often than every other token, whereas the "
        "formula of Assumption 3 allows ties": Variant({"strict": True}),
    },
)
def check_huang2024_app_asm_3_practice(one: Text, strict: bool = False) -> Iterator[Said]:
    """More than half of the sentences meet |l(n)| >= number of x, for every non-optimal x.

    Args:
        one: a text.
        strict: whether the optimal token must occur more often than every other one.
    """
    counts = [frequent_share(data, strict) for data in one.draws]
    counted = [(met, compared) for met, compared in counts if compared]
    if not counted:
        yield left_out(f"{one.name} is not at hand, or none of its sentences has two tokens")
        return
    shares = sorted(Fraction(met, compared) for met, compared in counted)
    if shares[0] <= Fraction(1, 2) < shares[-1]:
        yield undecided(
            f"in some draws of {one.name}, more than half of the sentences with two different "
            "tokens satisfy the formula of Assumption 3, and in other draws at most half do"
        )
    else:
        yield holds(shares[0] > Fraction(1, 2), f"a share of {shares[0]}")  # a level of ours
    yield result(f"share_{one.place}", 100 * float(shares[len(shares) // 2]), 2, unit="%")
    yield result(f"tried_{one.place}", sum(compared for _, compared in counted))
