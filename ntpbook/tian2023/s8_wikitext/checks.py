"""Checks of the experiments on text: Figures 7 and 10, and the order of the theory on real text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.levels import within
from ntpbook.shared.origins import LONG_RUN
from ntpbook.tian2023.s8_wikitext.experiment import (
    Model,
    Order,
    Sweep,
    fine,
    made_up_order,
    made_up_sweeps,
    models,
    opposite_order,
    orders,
    played_backwards,
    restless,
    rising_sweeps,
    said,
    snapping,
    sweeps,
    thirds,
    trend,
)
from ntpbook.tian2023.s8_wikitext.text_order import (
    Context,
    Outcome,
    centred,
    permutation_test,
    strata_of,
)
from ntpbook.tian2023.s8_wikitext.text_runs import TextRun, entropies
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import Said, below, count, holds, missing, most, result, undecided
from ntpverdicts.vocabulary import Variant, check

Floats = NDArray[np.float64]
Measure = Callable[[TextRun], tuple[float, float]]

LEVEL = 0.01  # largest chance that a trend may be due to
LEAST = 10  # fewest common occurrences of a query and a key that counts for it
PERMUTATIONS = 999  # of the keys within their strata, for each half of the order
# A vector unit of another width is enough: entropies at the end differ in their first digit, as
# they do from seed to seed. What is judged must hold for all seeds, and no verdict hangs on a draw.
NO_TEXT = missing(
    "WikiText",
    "set WIKITEXT_DIR to its folder; the runs on the book's own sample text show that the code "
    "works, and say nothing about WikiText",
)
SMALL = (
    "the runs on WikiText at this small size do not show the claim, which does not decide it "
    "at the authors' size"
)


# Figure 7

FREEZES: dict[str, Measure] = {
    "between the thirds of training, as Figure 7 shows it": thirds,
    "between all neighboring records": fine,
}


@check(
    "tian2023-fig-7",
    over="runs",
    instances=models,
    observes=True,
    size=lambda model: len(model.runs),
    says="On WikiText, in transformers of width {width} with positional encoding, all "
    "{runs_judged} runs of {updates} updates, with {seeds} seeds for each model, meet both "
    "criteria: attention is sparser at the end than at the start, and attention changes less "
    "than half as much in the last third of training as in the first third.",
    fails="On WikiText, at the authors' size, attention in some run with positional encoding is "
    "not sparser at the end than at the start, or still changes at least half as much in the "
    "last third of training as in the first third.",
    planted={
        "Synthetic attention that becomes sparse and then stays constant.": Variant(
            {"as_if": True}, instances=snapping, expected=Verdict.SEEN
        ),
        "Synthetic attention with held-out texts exchanged in the last third, so that the "
        "entropy is constant but attention does not freeze.": Variant(
            {"as_if": True, "spoil": restless}, instances=snapping, expected=Verdict.NOT_SEEN
        ),
        "Synthetic attention in reverse order, so that it does not become sparse.": Variant(
            {"as_if": True, "spoil": played_backwards},
            instances=snapping,
            expected=Verdict.NOT_SEEN,
        ),
    },
    readings={
        f"{said(positional)}, change {name}": {"positional": positional, "measure": measure}
        for positional in (True, False)
        for name, measure in FREEZES.items()
        if (positional, measure) != (True, thirds)
    },
)
def check_tian2023_fig_7(
    model: Model,
    positional: bool = True,
    measure: Measure = thirds,
    as_if: bool = False,
    spoil: Callable[[TextRun], TextRun] | None = None,
) -> Iterator[Said]:
    """Entropy at the end < at the start; change in the last third < 1/2 of that in the first.

    Args:
        model: the runs of one model.
        positional: whether the reading is about models with positions.
        measure: of the change.
        as_if: whether the runs are judged like those of the authors' size on WikiText; a small form
            can agree with the figure, but cannot refute it.
        spoil: changes each run.
    """
    yield from figure_7_numbers(model)
    if model.positional is not positional:
        return
    if not (model.real or as_if):
        yield NO_TEXT
        return
    for run in model.runs:
        run = spoil(run) if spoil else run
        start, end = (float(one) for one in entropies(run.attention[[0, -1]]))
        first, last = measure(run)
        where = f"seed {run.plan.seed}"
        both = (
            holds(end < start, f"{where}: entropy {start:.2f} to {end:.2f}"),
            within(last, first / 2, f"{where}: change {first:.3f} in the first third, {last:.3f}"),
        )
        if as_if or model.full or all(one.slack >= 0 for one in both):
            yield from both
        else:
            yield undecided(SMALL)
        yield count("runs_judged")


def figure_7_numbers(model: Model) -> Iterator[Said]:
    """Means over the seeds of a model; names begin with `with_1` for one layer with positions."""
    ends = np.array([entropies(run.attention[[0, -1]]) for run in model.runs])
    moved = np.array([thirds(run) for run in model.runs])
    jitter = np.array([fine(run) for run in model.runs])
    loss = np.mean([run.losses[-1] for run in model.runs])
    means = {
        "start": ends[:, 0].mean(),
        "end": ends[:, 1].mean(),
        "end_spread": ends[:, 1].std(ddof=1),
        "loss": loss,
        "first": moved[:, 0].mean(),
        "last": moved[:, 1].mean(),
        "fine_first": jitter[:, 0].mean(),
        "fine_last": jitter[:, 1].mean(),
    }
    for name, value in means.items():
        yield result(f"{model.key}_{name}", float(value), digits=0, origin=LONG_RUN)
    yield count("runs", len(model.runs))
    yield count("sparser", int((ends[:, 1] < ends[:, 0]).sum()))
    yield most("seeds", len(model.runs))
    yield most("width", model.runs[0].plan.width)
    yield most("updates", model.runs[0].plan.record[-1])


# Figure 10


@check(
    "tian2023-fig-10",
    over="runs in sweeps of the learning rate",
    instances=sweeps,
    observes=True,
    size=lambda sweep: sweep.entropy.size,
    says="On WikiText, in {tried} runs with {seeds} seeds at each of the learning rates "
    "{least_rate} to {greatest_rate}, the entropy of attention in models with positional "
    "encoding decreases as the rate increases, at a significance level of 1 percent.",
    fails="On WikiText the entropy of attention in models with positional encoding does not "
    "decrease as the learning rate increases, at a significance level of 1 percent.",
    planted={
        "Synthetic entropies that decrease with the rate.": Variant(
            {"as_if": True}, instances=made_up_sweeps, expected=Verdict.SEEN
        ),
        "Means that increase with the rate, with the same scatter over seeds.": Variant(
            {"as_if": True}, instances=rising_sweeps, expected=Verdict.NOT_SEEN
        ),
        "Increasing means, judged by whether each step up in the rate lowers the mean.": Variant(
            {"as_if": True, "steps": True}, instances=rising_sweeps, expected=Verdict.NOT_SEEN
        ),
    },
    readings={
        f"{said(positional)}, {text}": {"positional": positional, "steps": steps}
        for positional in (True, False)
        for text, steps in (
            ("each step up in the rate lowers the mean", True),
            ("entropy falls on the whole, by rank correlation", False),
        )
        if (positional, steps) != (True, False)
    },
)
def check_tian2023_fig_10(
    sweep: Sweep, positional: bool = True, steps: bool = False, as_if: bool = False
) -> Iterator[Said]:
    """Mean entropy of held-out attention falls with the rate: at each step, or by its ranks.

    Args:
        sweep: entropies by rate and seed.
        positional: whether the reading is about models with positions.
        steps: whether each step must lower the mean; otherwise the rank correlation of rate and
            entropy must be below zero, and below what permuted rates give at a level of 1 percent.
        as_if: whether the sweep is judged as if it had run on WikiText.
    """
    means, spread = sweep.entropy.mean(axis=1), sweep.entropy.std(axis=1, ddof=1)
    correlation, chance = trend(sweep.entropy)
    key = "with" if sweep.positional else "no"
    ends = {"lowest": 0, "highest": -1}
    for name, place in ends.items():
        yield result(f"{key}_{name}", float(means[place]), digits=0, origin=LONG_RUN)
        yield result(f"{key}_{name}_spread", float(spread[place]), digits=0, origin=LONG_RUN)
    yield result(f"{key}_correlation", correlation, digits=0, origin=LONG_RUN)
    yield result(f"{key}_p", chance, digits=0, origin=LONG_RUN)
    yield result(f"{key}_steps", int((np.diff(means) < 0).sum()))
    yield result("steps", len(means) - 1)
    yield most("seeds", sweep.entropy.shape[1])
    yield result("least_rate", sweep.rates[0], digits=2)
    yield result("greatest_rate", sweep.rates[-1], digits=2)
    if sweep.positional is not positional:
        return
    if not (sweep.real or as_if):
        yield NO_TEXT
    elif steps:
        for (low, a), (high, b) in pairwise(zip(sweep.rates, means.tolist(), strict=True)):
            where = f"from rate {low:g} to {high:g}: mean entropy {a:.3f} to {b:.3f}"
            yield holds(b < a, where)
    else:
        where = f"rank correlation {correlation:.2f}, p = {chance:.4f}"
        yield below(correlation, 0, where)
        yield within(chance, LEVEL, where)


# The order of the theory on real text


def order_tests(scores: Floats, context: Context) -> tuple[Outcome, Outcome]:
    """Permutation tests of both halves of the order.

    Keys count for a query when they occurred with it `LEAST` times or more; the last token, the
    unknown one, is no key. Strata are of like frequency.

    Args:
        scores: (Q, V), how far they moved.
        context: counts of the training text.

    Returns:
        for distinctness, and for co-occurrence among the more distinct half of the keys.
    """
    strata = strata_of(context.frequency)
    used = context.together >= LEAST
    used[:, -1] = False
    agreement = np.where(used, context.agreement, np.nan)
    first = permutation_test(scores, agreement, used, strata, PERMUTATIONS, seed=1)
    rank = centred(np.where(used, agreement, 0.0), used, strata)
    distinct = used & (rank >= 0)
    lift = context.together / np.maximum(context.frequency, 1.0)
    second = permutation_test(scores, lift, distinct, strata, PERMUTATIONS, seed=2)
    return first, second


def by_frequency(order: Order) -> Floats:
    """Scores that know nothing but how frequent a key is."""
    known = np.log1p(order.context.frequency)
    return np.array(np.broadcast_to(known, order.scores.shape))


@check(
    "ours-wikitext-order",
    over="queries",
    instances=orders,
    observes=True,
    size=lambda order: len(order.scores),
    says="On WikiText, over {tried} queries, the change of attention scores in training has "
    "positive rank correlations that are significant at a level of 1 percent: {distinct} with "
    "the distinctness of keys ($p$ = {distinct_p}), and {together} with their co-occurrence with "
    "the query, among the more distinct keys ($p$ = {together_p}).",
    fails="On WikiText at least one rank correlation of the change of attention scores in "
    "training is not significant at a level of 1 percent. With the distinctness of keys it is "
    "{distinct} ($p$ = {distinct_p}, and {distinct_below} for the opposite sign). With their "
    "co-occurrence with the query, among the more distinct keys, it is {together} ($p$ = "
    "{together_p}, and {together_below} for the opposite sign).",
    planted={
        "Synthetic scores that increase with distinctness and co-occurrence.": Variant(
            {"as_if": True}, instances=made_up_order, expected=Verdict.SEEN
        ),
        "Synthetic scores that decrease with distinctness and co-occurrence.": Variant(
            {"as_if": True}, instances=opposite_order, expected=Verdict.NOT_SEEN
        ),
        "Scores replaced by the logarithm of the frequency of the key, the same for all "
        "queries.": Variant({"as_if": True, "known": by_frequency}, expected=Verdict.NOT_SEEN),
    },
)
def check_ours_wikitext_order(
    order: Order, as_if: bool = False, known: Callable[[Order], Floats] | None = None
) -> Iterator[Said]:
    """Scores move up with distinctness, and among the more distinct keys with co-occurrence.

    Args:
        order: how far scores moved, and the counts of the text.
        as_if: whether it is judged as if it had run on WikiText.
        known: makes other scores.
    """
    scores = known(order) if known else order.scores
    distinct, together = order_tests(scores, order.context)
    for name, one in (("distinct", distinct), ("together", together)):
        yield result(name, one.correlation, digits=0, origin=LONG_RUN)
        yield result(f"{name}_p", one.p_above, digits=0, origin=LONG_RUN)
        yield result(f"{name}_below", one.p_below, digits=0, origin=LONG_RUN)
    yield result("queries", len(scores))
    if not (order.real or as_if):
        yield NO_TEXT
        return
    text = "{}: rank correlation {:.3f}, p = {:.3f}, for the opposite {:.3f}"
    for name, one in (("distinctness", distinct), ("co-occurrence", together)):
        where = text.format(name, one.correlation, one.p_above, one.p_below)
        yield within(one.p_above, LEVEL, where)
