"""Checks of what Sections 1 and 6 say of non-comparable tokens beside Theorem 3."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, product

from ntpbook.shared.said import settle
from ntpcore.data import order
from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.data.order import PartialOrder
from ntpcore.huang2024.runs import Run
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict


def together(data: Dataset, orders: Dataset, alone: bool) -> str:
    """A sentence that holds a token which is non-comparable under its query, or nothing.

    Args:
        data: the sentences.
        orders: the data that the orders are read off.
        alone: whether sentences with one distinct token count.
    """
    found = order.analyse(orders).orders or {}
    for sample in data.samples():
        if len(set(sample.sentence)) == 1 and not alone:
            continue
        one = found.get(sample.sentence[-1])
        for token in sample.sentence:
            if one is None or token not in one.compared:
                told = f"{' '.join(sample.sentence)} → {sample.next_token}"
                return f"{data.name}: {token} in {told}"
    return ""


def check_huang2024_app_never_together(
    datasets: Iterable[Dataset], forget: bool = False, **parameters: int
) -> Check:
    """In a sentence with two different tokens all of them are comparable under its query.

    Args:
        datasets: realizable data.
        forget: whether the orders are read off without the last sentence, a planted error.
        parameters: what repeats the data.
    """
    tried, sentences, fault = 0, 0, ""
    for data in datasets:
        tried += 1
        known = data
        if forget:
            triples = [(list(s.sentence), s.next_token, s.count) for s in data.samples()]
            longest = max(range(len(triples)), key=lambda i: len(set(triples[i][0])))
            known = from_samples([*triples[:longest], *triples[longest + 1 :]], data.name)
        sentences += sum(len(set(sample.sentence)) > 1 for sample in data.samples())
        fault = fault or together(data, known, alone=False)
    swap = from_samples([("a", "b"), ("b", "a")], "n swaps a and b")
    literal = together(swap, swap, alone=True)
    return settle(
        "huang2024-app-never-together",
        symbols={"all sentences of up to four tokens": all_compared(4)},
        fault=fault,
        tried=tried,
        unit="data sets",
        evidence="The token that decides a sentence lies above each other one, and the others lie "
        f"below it; so it is in {sentences} sentences with two different tokens, of {tried} data "
        "sets.",
        numbers={"tried": str(tried), "sentences": str(sentences)},
        parameters=parameters,
        by_hand=("a sentence with more tokens: any two of them with the one that decides",),
        readings=(
            Reading("in sentences with two different tokens", Verdict.PROVED),
            Reading(
                f"in all sentences ({literal})" if literal else "in all sentences",
                Verdict.REFUTED if literal else Verdict.CONSISTENT,
            ),
        ),
    )


def all_compared(most: int) -> bool:
    """Whether every set of tokens, with any of them deciding, compares all its tokens."""
    return all(
        PartialOrder.of("q", {(decides, x) for x in tokens if x != decides}).compared == set(tokens)
        for size in range(2, most + 1)
        for tokens in combinations("abcdefgh", size)
        for decides in tokens
    )


def control_huang2024_app_never_together(datasets: Iterable[Dataset]) -> Control:
    """Orders that missed a sentence leave its tokens without relation."""
    return Control(
        "Orders read off without the sentence that has the most tokens.",
        Verdict.REFUTED,
        check_huang2024_app_never_together(datasets, forget=True).verdict,
    )


def levels_make_an_order(levels: tuple[int, ...] = (2, 1, 0)) -> dict[str, bool]:
    """Whether "on a higher level than" is a strict order that contains optimal over non-optimal.

    Args:
        levels: those of optimal, non-comparable and non-optimal tokens.
    """
    above = {pair: levels[pair[0]] > levels[pair[1]] for pair in product(range(3), repeat=2)}
    transitive = all(
        above[x, z] or not (above[x, y] and above[y, z]) for x, y, z in product(range(3), repeat=3)
    )
    return {
        "no token above itself": not any(above[x, x] for x in range(3)),
        "transitive": transitive,
        "extends the old order": above[0, 2],
        "non-comparable in between": above[0, 1] and above[1, 2],
    }


def check_huang2024_app_extended_order(runs: Iterable[Run], **parameters: int) -> Check:
    """Trained scores put optimal tokens above, and non-optimal ones below, the non-comparable.

    The latter keep the score 0. The same is asked of the exact max-margin scores.

    Args:
        runs: trained models with Assumption 3; others are passed over.
        parameters: what repeats them.
    """
    fault, tried, orders = "", 0, 0
    for run in runs:
        if not run.problem.frequent:
            continue
        tried += 1
        best = run.problem.is_optimal
        for name, scores in (
            ("trained", run.second.state.weights),
            ("exact", run.problem.W_kq_star),
        ):
            if (scores[best] <= 0).any() or (scores[~best] >= 0).any():
                fault = fault or f"{run.name}: {name} scores on the wrong side of 0"
        orders += len(run.problem.orders)
    return settle(
        "huang2024-app-extended-order",
        symbols=levels_make_an_order() | {"that training gets there on all data": False},
        fault=fault,
        tried=tried,
        unit="trained models",
        evidence="Three levels, one above the other, make a strict order that contains the old "
        f"one. In {tried} trained models all {orders} queries have their optimal tokens above 0, "
        "where the non-comparable ones are, and their non-optimal tokens below.",
        numbers={"runs": str(tried), "orders": str(orders)},
        parameters=parameters,
        by_hand=("entries of W_kq at non-comparable tokens have no gradient, so they stay 0",),
    )


def control_huang2024_app_extended_order(run: Run) -> Control:
    """A model trained the wrong way round must be noticed."""
    state = replace(run.second.state, weights=-run.second.state.weights)
    turned = replace(run, second=replace(run.second, state=state))
    return Control(
        "A trained W_kq with its sign turned.",
        Verdict.REFUTED,
        check_huang2024_app_extended_order([turned]).verdict,
    )
