"""Checks of what Sections 1 and 4 say in passing of orders and collocation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations, product

from ntpbook.huang2024.s4_realizable.realizable import (
    contradictory_orders,
    literal_roles,
    repaired_roles,
    small_relations,
)
from ntpbook.shared.said import settle
from ntpcore.data import order
from ntpcore.data.dataset import Dataset, from_samples, from_sentences
from ntpcore.data.order import PartialOrder, Structure
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

# Section 1, contributions


def check_huang2024_app_three_categories(max_tokens: int, literal: bool = False) -> Check:
    """Where no token is confused, each has exactly one of three roles.

    Args:
        max_tokens: all relations on up to so many tokens are gone through.
        literal: whether the roles are those printed in Section 4.1.
    """
    tried, fault = 0, ""
    for tokens, one in small_relations(max_tokens):
        if one.confused:
            continue
        tried += 1
        shared = _not_one_role(tokens, one, literal)
        if shared and not fault:
            pairs = ", ".join(f"{x} > {y}" for x, y in sorted(one.pairs)) or "no pair"
            fault = f"tokens {', '.join(tokens)} with {pairs}: {shared}"
    four = [
        PartialOrder.of("q", [("u", "x")] * above + [("x", "l")] * below)
        for above, below in product((False, True), repeat=2)
    ]
    table = [not one.confused and not _not_one_role(("x",), one, literal) for one in four]
    printed = "" if literal else check_huang2024_app_three_categories(2, literal=True).witness
    return settle(
        "huang2024-app-three-categories",
        symbols={"all four cases of a token": table == [True, True, True, False]},
        fault=fault,
        tried=tried,
        unit="partial orders",
        evidence="A role depends on two questions only: is anything above, is anything below? "
        f"Without confused tokens three answers remain, one for each role. On all {tried} orders "
        f"of up to {max_tokens} tokens without confused ones every token has one role.",
        numbers={"tried": str(tried)},
        parameters={"max_tokens": max_tokens},
        readings=(
            Reading("optimal: something below, nothing above; and so on", Verdict.PROVED),
            Reading(
                "roles as printed in Section 4.1",
                Verdict.REFUTED if printed else Verdict.CONSISTENT,
            ),
        ),
    )


def _not_one_role(tokens: tuple[str, ...], one: PartialOrder, literal: bool) -> str:
    """The first token that has no role or several, in words."""
    roles = literal_roles(tokens, one.pairs) if literal else repaired_roles(tokens, one)
    names = ("optimal", "non-optimal", "non-comparable")
    for token in tokens:
        held = [name for name in names if token in roles[name]]
        if len(held) != 1:
            return f"{token} is {' and '.join(held) or 'nothing'}"
    return ""


def control_huang2024_app_three_categories() -> Control:
    """The printed roles overlap."""
    return Control(
        "The roles as Section 4.1 prints them, where a token without relations has all three.",
        Verdict.REFUTED,
        check_huang2024_app_three_categories(3, literal=True).verdict,
    )


# Section 4.1, after Assumption 1


def regenerated(structure: Structure, sentence: tuple[str, ...], distinct: bool) -> str:
    """The next token by the paper's rule; empty where the rule names none or several.

    Args:
        structure: collocation and orders.
        sentence: the sentence.
        distinct: whether n alone decides for all sentences with one distinct token, or only for
            those of length 1.
    """
    alone = len(set(sentence)) == 1 if distinct else len(sentence) == 1
    if alone:
        return structure.collocation[sentence[0]] or ""
    one = (structure.orders or {}).get(sentence[-1])
    best = {x for x in sentence if one is not None and x in one.optimal}
    return structure.collocation[best.pop()] or "" if len(best) == 1 else ""


def check_huang2024_app_regenerate(
    datasets: Iterable[Dataset], distinct: bool = True, **parameters: int
) -> Check:
    """Collocation and orders give back the next token of every sentence in the data.

    Args:
        datasets: data sets.
        distinct: how "only one token" is read, see `regenerated`.
        parameters: what repeats the data.
    """
    tried = samples = 0
    fault = ""
    for data in datasets:
        tried += 1
        structure = order.analyse(data)
        for sample in data.samples():
            samples += 1
            told = regenerated(structure, sample.sentence, distinct)
            if told != sample.next_token and not fault:
                words = f"{' '.join(sample.sentence)} → {sample.next_token}"
                fault = f"{data.name}: {words}, by the rule {told or 'nothing'}"
    length_1 = ""
    if distinct:
        length_1 = check_huang2024_app_regenerate([repeated_token()], distinct=False).witness
    return settle(
        "huang2024-app-regenerate",
        symbols={"all pairs of samples on three tokens": not _undecided_pairs()},
        fault=fault,
        tried=tried,
        unit="data sets",
        evidence="In a sentence with two different tokens exactly one is optimal, shown on all "
        f"pairs of samples on three tokens; on {tried} data sets the rule gives back the next "
        f"token of all {samples} samples.",
        numbers={"tried": str(tried), "samples": str(samples)},
        parameters=parameters,
        by_hand=("that it is not the only optimal one takes two samples and three tokens at most",),
        readings=(
            Reading("“only one token”: one kind of token", Verdict.PROVED),
            Reading(
                "“only one token”: length 1, without prefix closure"
                + (f" ({length_1})" if length_1 else ""),
                Verdict.REFUTED if length_1 else Verdict.CONSISTENT,
            ),
        ),
    )


def repeated_token() -> Dataset:
    """Realizable data with a sentence that repeats a token which another sentence rates low."""
    return from_samples([("a", "b"), ("b", "a"), ("ba", "a"), ("aa", "b")], "a repeated token")


def _undecided_pairs() -> list[object]:
    """Two samples on three tokens with one query, no token confused, and not one optimal token."""
    samples = [
        (frozenset(tokens), decided)
        for size in (1, 2, 3)
        for tokens in combinations("abc", size)
        for decided in tokens
    ]
    found: list[object] = []
    for one, other in product(samples, repeat=2):
        pairs = {(decided, x) for tokens, decided in (one, other) for x in tokens - {decided}}
        relation = PartialOrder.of("q", pairs)
        if relation.confused:
            continue
        for tokens, decided in (one, other):
            if len(tokens) > 1 and set(relation.optimal) & tokens != {decided}:
                found.append((one, other))
    return found


def control_huang2024_app_regenerate() -> Control:
    """Where tokens are confused the rule names no token."""
    return Control(
        "Data with contradictory orders, which break Assumption 1.",
        Verdict.REFUTED,
        check_huang2024_app_regenerate([contradictory_orders().data]).verdict,
    )


# Section 4.2


def check_huang2024_app_length_2(
    cases: Iterable[tuple[Dataset, Mapping[str, str] | None]], **parameters: int
) -> Check:
    """The sentences of length two, a token and its next one, are the collocation.

    Args:
        cases: data sets; with the collocation where some token starts no sentence.
        parameters: what repeats the data.
    """
    tried, tokens, fault = 0, 0, ""
    for data, given in cases:
        tried += 1
        found: dict[str, set[str]] = {}
        for sample in data.samples():
            if len(sample.sentence) == 1:
                found.setdefault(sample.sentence[0], set()).add(sample.next_token)
        structure = order.analyse(data, given)
        tokens += len(structure.collocation)
        missing = [x for x in structure.collocation if len(found.get(x, ())) != 1]
        wrong = [x for x, n in structure.collocation.items() if x in found and found[x] != {n}]
        if (missing or wrong) and not fault:
            fault = f"{data.name}: no sentence of length two begins with {(missing or wrong)[0]}"
    partial = _partial_collocation()
    realizable = order.analyse(*partial).realizable.holds
    return settle(
        "huang2024-app-length-2",
        symbols={},
        fault=fault,
        tried=tried,
        unit="data sets",
        evidence=f"On {tried} data sets in which every token starts a sentence, their sentences of "
        f"length two are the collocation of all {tokens} tokens.",
        numbers={"tried": str(tried), "tokens": str(tokens)},
        parameters=parameters,
        by_hand=("by prefix closure the first two tokens of a sentence are such a sentence",),
        readings=(
            Reading("every token starts a sentence", Verdict.CONSISTENT),
            Reading(
                "the data only admit a collocation: a → b and a b → a fix n(a), while n(b) is "
                "nowhere to be seen",
                Verdict.REFUTED if realizable else Verdict.OPEN,
            ),
        ),
    )


def _partial_collocation() -> tuple[Dataset, Mapping[str, str]]:
    """Realizable, prefix-closed data in which one token starts no sentence, and its next token."""
    return from_sentences(["a b a"], "the sentence a b a"), {"b": "a"}


def control_huang2024_app_length_2() -> Control:
    """A token that starts no sentence must be missed."""
    return Control(
        "The sentence a b a with its beginning, where no sentence starts with b.",
        Verdict.REFUTED,
        check_huang2024_app_length_2([_partial_collocation()]).verdict,
    )
