"""Checks of the page on realizable data: Definition 1, Assumptions 1 and 3, Example 1, Figure 1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from ntpcore.data import order
from ntpcore.data.dataset import Dataset, from_sentences
from ntpcore.data.examples import example_1
from ntpcore.data.order import Pair, PartialOrder
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

RELATIONS = "relations"
PRINTED_ORDERS = {  # as Example 1 prints them
    "S": {("S", "P")},
    "V": {("V", "S")},
    "O": {("O", "S"), ("O", "V")},
    "P": {("O", "P")},
}
PRINTED_COLLOCATION = {"S": "V", "V": "O", "O": "P", "P": "S"}


@dataclass(frozen=True)
class Weights:
    """A data set, and parameters along which its loss is driven to zero.

    Attributes:
        data: the data set.
        W_ov: for each token, its column of W_ov; it is multiplied by a scale B that grows.
        odds: for each query, exp(W_kq[x, q]) of the tokens x, 1 where none is given.
    """

    data: Dataset
    W_ov: Mapping[str, Mapping[str, Fraction]]
    odds: Mapping[str, Mapping[str, Fraction]]


def columns(rows: str, *entries: tuple[int, ...]) -> dict[str, dict[str, Fraction]]:
    """W_ov from the entries of its columns, over the tokens named by single letters, by thirds."""
    return {
        token: {row: Fraction(value, 3) for row, value in zip(rows, column, strict=True)}
        for token, column in zip(rows, entries, strict=True)
    }


def peak_outside() -> Weights:
    """Loss near zero with a next token that is not n of any token of its sentence; |V| = 3."""
    data = from_sentences(["0 1 0", "1 2", "2 0"], "R1")
    return Weights(data, columns("012", (9, 10, 0), (9, 0, 10), (10, 0, 0)), {})


def contradictory_orders() -> Weights:
    """Loss near zero with 0 above 1 and 1 above 0 under query 1; |V| = 2."""
    data = from_sentences(["0 1 1 0", "1 0"], "R2")
    return Weights(data, columns("01", (0, 3), (3, 0)), {"1": {"0": Fraction(3, 2)}})


def shared_next_token() -> Weights:
    """Loss near zero with n(0) = n(1) = 0; |V| = 2."""
    return Weights(from_sentences(["0 0", "1 0"], "R3"), columns("01", (3, 0), (3, 0)), {})


def separation(weights: Weights) -> Fraction:
    """Smallest lead of the right logit over any other one, over all samples, at scale B = 1.

    At scale B a sample's loss is at most (|V| - 1) exp(-B times this). So the loss tends to zero
    as B grows exactly if the separation is positive.
    """
    leads = []
    for sample in weights.data.samples():
        odds = weights.odds.get(sample.sentence[-1], {})
        mass = [odds.get(token, Fraction(1)) for token in sample.sentence]
        logit = {
            v: sum(
                (
                    share * weights.W_ov[x][v]
                    for share, x in zip(mass, sample.sentence, strict=True)
                ),
                Fraction(0),
            )
            / sum(mass)
            for v in weights.data.vocabulary
        }
        right = logit.pop(sample.next_token)
        leads.append(right - max(logit.values()))
    return min(leads)


def loss_bound(weights: Weights, scale: float) -> float:
    """(|V| - 1) exp(-B separation): an upper bound of the loss at scale B, in nats."""
    return (len(weights.data.vocabulary) - 1) * math.exp(-scale * float(separation(weights)))


def decay(weights: Weights, scales: Sequence[float]) -> tuple[list[float], list[float]]:
    """The scales, and the bound of the loss at each of them."""
    return list(scales), [loss_bound(weights, scale) for scale in scales]


def small_relations(max_tokens: int) -> Iterator[tuple[tuple[str, ...], PartialOrder]]:
    """Every relation without self-pairs on 1 ... max_tokens tokens."""
    for size in range(1, max_tokens + 1):
        tokens = tuple("abcdefgh"[:size])
        edges = [(x, y) for x, y in product(tokens, tokens) if x != y]
        for chosen in product((False, True), repeat=len(edges)):
            kept = [edge for edge, keep in zip(edges, chosen, strict=True) if keep]
            yield tokens, PartialOrder.of("a", kept)


def literal_roles(tokens: tuple[str, ...], pairs: frozenset[Pair]) -> dict[str, set[str]]:
    """The four types as the paper words them: optimal means nothing above, and nothing more."""
    above = {y for _, y in pairs}
    below = {x for x, _ in pairs}
    return {
        "optimal": set(tokens) - above,
        "confused": above & below,
        "non-optimal": set(tokens) - below,
        "non-comparable": set(tokens) - above - below,
    }


def repaired_roles(tokens: tuple[str, ...], one: PartialOrder) -> dict[str, set[str]]:
    """The four types with "and something below it" (or above it) added."""
    return {
        "optimal": set(one.optimal),
        "confused": set(one.confused),
        "non-optimal": set(one.nonoptimal),
        "non-comparable": set(tokens) - one.compared,
    }


def shared_roles(roles: Mapping[str, set[str]]) -> list[tuple[str, str, str]]:
    """Tokens that have two roles at once, with both roles."""
    names = list(roles)
    return [
        (token, a, b)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        for token in sorted(roles[a] & roles[b])
    ]


def check_huang2024_def_1(max_tokens: int, literal: bool = False) -> Check:
    """Definition 1 with repaired roles: a partition, and a partial order where none is confused."""
    label = "huang2024-def-1"
    tried = orders = 0
    for tokens, one in small_relations(max_tokens):
        tried += 1
        roles = literal_roles(tokens, one.pairs) if literal else repaired_roles(tokens, one)
        overlap = shared_roles(roles)
        problem = f"{overlap[0][0]} is {overlap[0][1]} and {overlap[0][2]}" if overlap else ""
        if set().union(*roles.values()) != set(tokens):
            problem = "a token has no role"
        if not one.confused:
            orders += 1
            problem = problem or _not_an_order(one.pairs)
        if problem:
            return Check(
                label,
                Verdict.REFUTED,
                tried,
                RELATIONS,
                "The construction is not well posed.",
                witness=f"tokens {', '.join(tokens)}, pairs {sorted(one.pairs)}: {problem}",
            )
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        RELATIONS,
        f"On all {tried} relations of up to {max_tokens} tokens every token has exactly one of the "
        f"repaired roles, and each of the {orders} without confused tokens is a strict partial "
        "order.",
        parameters={"max_tokens": max_tokens},
        numbers={"tried": str(tried), "orders": str(orders)},
        by_hand=("without confused tokens no two pairs can be chained, at any size",),
    )


def control_huang2024_def_1(max_tokens: int) -> Control:
    """The roles as worded overlap, and the check must see it."""
    return Control(
        "The roles as the paper words them in place of the repaired ones.",
        Verdict.REFUTED,
        check_huang2024_def_1(max_tokens, literal=True).verdict,
    )


def _not_an_order(pairs: frozenset[Pair]) -> str:
    """Which axiom of strict partial orders fails; empty where all hold."""
    for x, y in pairs:
        if x == y or (y, x) in pairs:
            return f"{x} and {y} break asymmetry"
        for u, v in pairs:
            if u == y and (x, v) not in pairs:
                return f"{x} > {y} > {v} breaks transitivity"
    return ""


def check_huang2024_app_roles(max_tokens: int, repaired: bool = False) -> Check:
    """The four types of tokens, as worded, are disjoint."""
    label = "huang2024-app-roles"
    tried = failed = 0
    witness = ""
    for tokens, one in small_relations(max_tokens):
        if one.confused:
            continue
        tried += 1
        roles = repaired_roles(tokens, one) if repaired else literal_roles(tokens, one.pairs)
        overlap = shared_roles(roles)
        failed += bool(overlap)
        if overlap and one.pairs and not witness:
            token, a, b = overlap[0]
            pairs = ", ".join(f"{x} > {y}" for x, y in sorted(one.pairs))
            witness = f"tokens {', '.join(tokens)} with {pairs}: {token} is {a} and {b} at once."
    if failed:
        return Check(
            label,
            Verdict.REFUTED,
            tried,
            "partial orders",
            f"On {failed} of {tried} orders of up to {max_tokens} tokens a non-comparable token is "
            "optimal and non-optimal as well, having nothing above and nothing below it.",
            witness=witness,
            parameters={"max_tokens": max_tokens},
            numbers={"failed": str(failed), "tried": str(tried)},
        )
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        "partial orders",
        "No token has two roles.",
    )


def control_huang2024_app_roles(max_tokens: int) -> Control:
    """The repaired roles are disjoint, and the check must not refute them."""
    return Control(
        "The repaired roles in place of the printed ones.",
        Verdict.CONSISTENT,
        check_huang2024_app_roles(max_tokens, repaired=True).verdict,
    )


def check_huang2024_app_injective(weights: Weights) -> Check:
    """A loss that tends to zero forces the collocation to be injective."""
    structure = order.analyse(weights.data)
    twins = [f for f in structure.realizable.failures if f.rule == "collocation-not-injective"]
    told = f"{twins[0].message}; sentences 0 0 and 1 0" if twins else ""
    return _realized("huang2024-app-injective", weights, told)


def check_huang2024_app_peaks(weights: Weights) -> Check:
    """With a loss near zero, the output peaks at n of a token of the sentence."""
    structure = order.analyse(weights.data)
    odd = [f for f in structure.realizable.failures if f.rule == "next-token-unexplained"]
    return _realized("huang2024-app-peaks", weights, _sentence(weights, odd))


def check_huang2024_app_well_defined(weights: Weights) -> Check:
    """With a loss near zero, the orders of Definition 1 are partial orders."""
    structure = order.analyse(weights.data)
    confused = [f for f in structure.realizable.failures if f.rule == "confused-token"]
    return _realized("huang2024-app-well-defined", weights, _sentence(weights, confused))


def _sentence(weights: Weights, failures: list[order.Failure]) -> str:
    """The first failure in words, with the sentences that force it."""
    if not failures:
        return ""
    shown = [order.describe_sample(weights.data, sample) for sample in failures[0].samples]
    told = ", ".join(f"{' '.join(_words(s['sentence']))} → {s['next']}" for s in shown)
    return f"{failures[0].message} ({told})"


def _words(value: object) -> list[str]:
    """A described sentence as the list that it is."""
    assert isinstance(value, list)
    return value


def _realized(label: str, weights: Weights, broken: str) -> Check:
    """Refute a consequence of "the loss tends to zero" where the loss does and it fails."""
    lead = separation(weights)
    if broken and lead > 0:
        return Check(
            label,
            Verdict.REFUTED,
            1,
            "explicit parameters",
            "With the parameters shown on the page, the loss tends to zero as their scale B grows: "
            f"the right logit leads by {lead} B in every sample, exactly.",
            witness=f"{len(weights.data.vocabulary)} tokens: {broken}.",
            numbers={"lead": str(lead)},
        )
    reason = "the loss does not tend to zero" if broken else "the consequence holds on these data"
    return Check(label, Verdict.CONSISTENT, 1, "explicit parameters", f"Nothing refuted: {reason}.")


def separating_weights(data: Dataset, favour: int | None = None) -> Weights:
    """Parameters along which the loss of realizable data tends to zero.

    W_ov x = e_n(x); under a query an optimal token gets L_max times the attention of another.

    Args:
        data: data that satisfy Assumption 1, with n known for every token.
        favour: how many times the attention of another token an optimal one gets; L_max if None.
    """
    structure = order.analyse(data)
    names, following = data.vocabulary, structure.collocation
    odds = Fraction(data.max_length if favour is None else favour)
    return Weights(
        data,
        {x: {v: Fraction(following[x] == v) for v in names} for x in names},
        {q: dict.fromkeys(one.optimal, odds) for q, one in (structure.orders or {}).items()},
    )


def check_huang2024_app_near_zero(
    datasets: Iterable[Dataset], favour: int | None = None, **parameters: int
) -> Check:
    """On realizable data the right logit leads by B / L_max^2 or more, so the loss tends to zero.

    Args:
        datasets: data that satisfy Assumption 1.
        favour: as for `separating_weights`.
        parameters: what repeats the data.
    """
    label, unit = "huang2024-app-near-zero", "data sets"
    tried, least = 0, Fraction(1)
    for tried, data in enumerate(datasets, start=1):
        share = separation(separating_weights(data, favour)) * data.max_length**2
        if share < 1:
            told = f"{data.name}: the right logit leads by {share / data.max_length**2} B only"
            return Check(
                label,
                Verdict.REFUTED,
                tried,
                unit,
                "Some lead is too small.",
                witness=told,
                parameters=parameters,
            )
        least = share if tried == 1 else min(least, share)
    if not tried:
        return Check(label, Verdict.OPEN, 0, unit, "No data were given.")
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        unit,
        "With explicit parameters the right logit leads by at least B/L_max^2 in every sample of "
        f"{tried} data sets, exactly; the least lead is {least} times that. Proof on the page.",
        numbers={"tried": str(tried), "least": str(least)},
        parameters=parameters,
        by_hand=("that the lead is at least B/L_max^2 on all realizable data: the page",),
    )


def control_huang2024_app_near_zero() -> Control:
    """With equal attention on all tokens the right one does not lead."""
    return Control(
        "Equal attention on Example 1, where S V O then has three tokens of equal weight.",
        Verdict.REFUTED,
        check_huang2024_app_near_zero([example_1()], favour=1).verdict,
    )


def control_huang2024_app_injective() -> Control:
    """Without separation there is no loss near zero, hence no refutation."""
    weights = shared_next_token()
    flat = Weights(weights.data, columns("01", (3, 3), (3, 3)), {})
    return Control(
        "The same data with a W_ov that prefers no token.",
        Verdict.CONSISTENT,
        check_huang2024_app_injective(flat).verdict,
    )


def control_huang2024_app_peaks() -> Control:
    """The max-margin W_ov of the same data does not separate the odd sentence."""
    weights = peak_outside()
    plain = Weights(weights.data, columns("012", (0, 3, 0), (0, 0, 3), (3, 0, 0)), {})
    return Control(
        "The same data with W_ov x = e_n(x), which gives token 0 no lead in the sentence 0 1.",
        Verdict.CONSISTENT,
        check_huang2024_app_peaks(plain).verdict,
    )


def control_huang2024_app_well_defined() -> Control:
    """With equal attention the two sentences cannot both be predicted."""
    weights = contradictory_orders()
    level = Weights(weights.data, weights.W_ov, {})
    return Control(
        "The same data and W_ov with W_kq = 0, where 0 and 1 get equal attention in 0 1.",
        Verdict.CONSISTENT,
        check_huang2024_app_well_defined(level).verdict,
    )


def check_huang2024_asm_1(holding: Dataset, failing: tuple[Dataset, ...]) -> Check:
    """Assumption 1 can be met, and each of its parts can fail."""
    label = "huang2024-asm-1"
    structures = [order.analyse(data) for data in failing]
    rules = [sorted(s.realizable.counts or {}) for s in structures]
    broken = [f"{s.data.name}: {', '.join(r)}" for s, r in zip(structures, rules, strict=True)]
    if order.analyse(holding).realizable.holds is not True or not all(rules):
        return Check(
            label,
            Verdict.REFUTED,
            1 + len(failing),
            "data sets",
            "A data set is not what it was meant to be.",
            witness="; ".join([holding.name, *broken]),
        )
    return Check(
        label,
        Verdict.PROVED,
        1 + len(failing),
        "data sets",
        f"{holding.name} satisfies it, so it can be met; it is not empty either: "
        f"{'; '.join(broken)}.",
    )


def control_huang2024_asm_1() -> Control:
    """Data that fail in place of Example 1 must be noticed."""
    return Control(
        "A contradictory data set in the place of Example 1.",
        Verdict.REFUTED,
        check_huang2024_asm_1(contradictory_orders().data, ()).verdict,
    )


def check_huang2024_ex_1(data: Dataset) -> Check:
    """Example 1: collocation and orders as printed, Assumptions 1 and 3, prefix closure."""
    label = "huang2024-ex-1"
    structure = order.analyse(data)
    found = {query: set(one.pairs) for query, one in (structure.orders or {}).items()}
    wrong = [
        name
        for name, good in {
            "collocation": dict(structure.collocation) == PRINTED_COLLOCATION,
            "orders": found == PRINTED_ORDERS,
            "Assumption 1": structure.realizable.holds is True,
            "Assumption 3": structure.frequent.holds is True,
            "prefix closure": data.prefix_closed,
        }.items()
        if not good
    ]
    if wrong:
        witness = f"{', '.join(wrong)} on {data.name}"
        return Check(label, Verdict.REFUTED, 1, "data sets", "Not as printed.", witness=witness)
    return Check(
        label,
        Verdict.PROVED,
        1,
        "data sets",
        f"All {data.sample_count} samples were gone through: collocation and the four orders are "
        "exactly the printed ones; Assumptions 1 and 3 and prefix closure hold.",
        numbers={"samples": str(data.sample_count), "max_length": str(data.max_length)},
    )


def control_huang2024_ex_1() -> Control:
    """One changed token must change what is read off."""
    changed = from_sentences(["S V O P", "V O P", "O P S", "P S V"], "Example 1 with OPS for OPP")
    return Control(
        "The sentence OPP changed to OPS.",
        Verdict.REFUTED,
        check_huang2024_ex_1(changed).verdict,
    )


def figure_1_rows(data: Dataset) -> list[tuple[tuple[str, ...], tuple[str, ...], str]]:
    """Sentence, optimal tokens in it, next token: what the left half of Figure 1 shows."""
    structure = order.analyse(data)
    collocation = structure.collocation
    return [
        (
            sample.sentence,
            tuple(x for x in dict.fromkeys(sample.sentence) if collocation[x] == sample.next_token),
            sample.next_token,
        )
        for sample in data.samples()
    ]


def check_huang2024_fig_1(data: Dataset) -> Check:
    """In every sentence the optimal token of the order is the one that n maps to the next token."""
    label = "huang2024-fig-1"
    orders = order.analyse(data).orders or {}
    rows = figure_1_rows(data)
    for sentence, marked, following in rows:
        one = orders.get(sentence[-1])
        by_order = {x for x in sentence if one is not None and x in one.optimal}
        alone = len(set(sentence)) == 1
        if len(marked) != 1 or (not alone and by_order != set(marked)):
            return Check(
                label,
                Verdict.REFUTED,
                len(rows),
                "sentences",
                "Order and collocation mark different tokens.",
                witness=f"{' '.join(sentence)} → {following}: {marked} against {sorted(by_order)}",
            )
    return Check(
        label,
        Verdict.CONSISTENT,
        len(rows),
        "sentences",
        f"In all {len(rows)} sentences of Example 1 exactly one token is optimal, and n maps it to "
        "the next token. The frames of the printed figure cannot be read in our copy, so our own "
        "drawing is computed from the example.",
        numbers={"sentences": str(len(rows))},
    )


def control_huang2024_fig_1() -> Control:
    """Contradictory data have sentences in which the order marks no single optimal token."""
    return Control(
        "A data set with contradictory orders.",
        Verdict.REFUTED,
        check_huang2024_fig_1(contradictory_orders().data).verdict,
    )


def outnumbered() -> Dataset:
    """Smallest data set found that meets Assumption 1 and breaks Assumption 3, for two tokens."""
    return from_sentences(["0 1 1 1", "1 0"], "0 1 1 1 with 1 0")


def check_huang2024_asm_3(holding: Dataset, failing: Dataset) -> Check:
    """Assumption 3 can be met and can fail; its words and its formula are not the same."""
    label = "huang2024-asm-3"
    good, bad = order.analyse(holding), order.analyse(failing)
    in_words = _outnumbered_together(holding)
    if good.frequent.holds is not True or bad.frequent.holds is not False:
        return Check(
            label,
            Verdict.REFUTED,
            2,
            "data sets",
            "A data set is not what it was meant to be.",
            witness=f"{holding.name}: {good.frequent.holds}; {failing.name}: {bad.frequent.holds}",
        )
    readings = [
        Reading("the formula, each non-optimal token by itself: met by Example 1", Verdict.PROVED)
    ]
    if in_words:
        readings.append(
            Reading(
                "the sentence before it, all non-optimal tokens together: "
                f"the paper's own Example 1 breaks it at {in_words}",
                Verdict.REFUTED,
            )
        )
    return Check(
        label,
        Verdict.PROVED,
        2,
        "data sets",
        f"{holding.name} satisfies the formula, so it can be met; {failing.name} satisfies "
        f"Assumption 1 and breaks it: {bad.frequent.failures[0].message}.",
        readings=tuple(readings),
    )


def _outnumbered_together(data: Dataset) -> str:
    """The first sentence whose non-optimal tokens together outnumber the optimal ones."""
    collocation = order.analyse(data).collocation
    for sample in data.samples():
        optimal = sum(collocation[x] == sample.next_token for x in sample.sentence)
        if optimal < len(sample.sentence) - optimal:
            return f"{' '.join(sample.sentence)} → {sample.next_token}"
    return ""


def control_huang2024_asm_3() -> Control:
    """Data that break the assumption, shown as data that satisfy it, must be noticed."""
    return Control(
        "A data set that breaks the formula in the place of Example 1.",
        Verdict.REFUTED,
        check_huang2024_asm_3(outnumbered(), outnumbered()).verdict,
    )
