"""Checks of what Sections 4.1 and 5.2 say of optimal tokens: larger weights, higher frequency."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from ntpbook.huang2024.s4_realizable.realizable import (
    Weights,
    columns,
    separating_weights,
    separation,
)
from ntpcore.data import order
from ntpcore.data.dataset import Dataset, from_sentences
from ntpcore.data.examples import example_1
from ntpcore.exact import repair
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

# Section 4.1, existence of an order


def smaller_weight() -> Weights:
    """Loss near zero though attention prefers the wrong token; |V| = 2, n swaps 0 and 1.

    The sentence 0 1 is followed by n(0); its token 0 gets a third of the attention, but the column
    of 0 in W_ov is five times as long as that of 1.
    """
    data = from_sentences(["0 1 1", "1 0"], "0 1 → n(0)")
    return Weights(data, columns("01", (0, 15), (3, 0)), {"1": {"0": Fraction(1, 2)}})


def weight_pairs(weights: Weights) -> Iterator[tuple[str, Fraction, Fraction, Fraction, Fraction]]:
    """For each sample with two tokens: weights of optimal and of other tokens.

    Yields:
        the sample; least weight of an optimal position, largest of another one; total weight of
        the optimal tokens, largest total weight of another token.
    """
    collocation = order.analyse(weights.data).collocation
    for sample in weights.data.samples():
        if len(set(sample.sentence)) == 1:
            continue
        odds = weights.odds.get(sample.sentence[-1], {})
        each = {x: odds.get(x, Fraction(1)) for x in sample.sentence}
        total = sum((each[x] for x in sample.sentence), Fraction(0))
        mass = {x: each[x] * sample.sentence.count(x) / total for x in each}
        best = [x for x in each if collocation[x] == sample.next_token]
        rest = [x for x in each if x not in best]
        if best and rest:
            told = f"{' '.join(sample.sentence)} → {sample.next_token}"
            low, high = min(each[x] for x in best) / total, max(each[x] for x in rest) / total
            yield (
                told,
                low,
                high,
                sum((mass[x] for x in best), Fraction(0)),
                max(mass[x] for x in rest),
            )


def check_huang2024_app_weights_larger(weights: Weights) -> Check:
    """With a loss near zero, optimal tokens have larger weights than others.

    Args:
        weights: parameters along which the loss tends to zero, if it does.
    """
    label, unit = "huang2024-app-weights-larger", "explicit parameters"
    lead, pairs = separation(weights), list(weight_pairs(weights))
    by_place = [one for one in pairs if one[1] <= one[2]]
    by_mass = [one for one in pairs if one[3] <= one[4]]
    if lead <= 0 or not (by_place and by_mass):
        reason = "the loss does not tend to zero" if lead <= 0 else "all weights are as claimed"
        return Check(label, Verdict.CONSISTENT, 1, unit, f"Nothing refuted: {reason}.")
    told, _, _, best, rest = by_mass[0]
    return Check(
        label,
        Verdict.REFUTED,
        1,
        unit,
        "With the parameters shown on the page the loss tends to zero as their scale B grows: the "
        f"right logit leads by {lead} B in every sample, exactly.",
        witness=f"two tokens, {told}: the optimal token has the weight {best}, the other {rest}.",
        numbers={"lead": str(lead), "optimal": str(best), "other": str(rest)},
        readings=(
            Reading("the weight of a position", Verdict.REFUTED),
            Reading("the total weight of a token", Verdict.REFUTED),
        ),
    )


def control_huang2024_app_weights_larger() -> Control:
    """Parameters with equal columns have the weights as claimed."""
    return Control(
        "Parameters for Example 1 whose columns of W_ov are all alike.",
        Verdict.CONSISTENT,
        check_huang2024_app_weights_larger(separating_weights(example_1())).verdict,
    )


# Section 5.2, after Assumption 3


def frequent_share(data: Dataset) -> tuple[int, int]:
    """Samples of a realizable part that meet the formula of Assumption 3, and all of them.

    Only samples with two different tokens are counted.
    """
    found = repair.solve_greedy(repair.tabulate(data))
    met = compared = 0
    for number in found.kept:
        at = found.table.samples[number]
        line = data.lines[at.line].tokens[: at.length + 1]
        words = [data.vocabulary[x] for x in line]
        sentence, label = words[:-1], words[-1]
        optimal = sum(found.collocation[x] == label for x in sentence)
        others = [sentence.count(x) for x in sentence if found.collocation[x] != label]
        if others and optimal:
            compared += 1
            met += optimal >= max(others)
    return met, compared


def check_huang2024_app_asm_3_practice(texts: Iterable[Dataset]) -> Check:
    """In realizable parts of texts, most sentences have frequent optimal tokens.

    Args:
        texts: texts; "often" is read as more than half of the samples.
    """
    label, unit = "huang2024-app-asm-3-practice", "texts"
    shares = {data.name: frequent_share(data) for data in texts}
    numbers = {
        key: value
        for number, (met, tried) in enumerate(shares.values(), start=1)
        for key, value in (
            (f"share_{number}", f"{met / max(tried, 1):.0%}"),
            (f"tried_{number}", str(tried)),
        )
    }
    told = "; ".join(f"{name}: {met} of {tried}" for name, (met, tried) in shares.items())
    if not shares or any(2 * met <= tried for met, tried in shares.values()):
        reason = (
            "Not decided: the statement names no data and no measure, optimal tokens are defined "
            f"on realizable data only, and the texts at hand do not speak with one voice ({told})."
        )
        return Check(label, Verdict.OPEN, len(shares), unit, reason, numbers=numbers)
    return Check(
        label,
        Verdict.CONSISTENT,
        len(shares),
        unit,
        "In the realizable part of each text, most sentences with two different tokens satisfy "
        f"the formula of Assumption 3 ({told}).",
        numbers=numbers,
    )


def control_huang2024_app_asm_3_practice() -> Control:
    """Sentences in which the optimal token is outnumbered must not pass."""
    text = from_sentences(["0 1 1 1 1 1", "1 0"], "outnumbered")
    return Control(
        "A text whose longer sentences repeat a non-optimal token.",
        Verdict.OPEN,
        check_huang2024_app_asm_3_practice([text]).verdict,
    )
