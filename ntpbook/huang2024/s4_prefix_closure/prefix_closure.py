"""Checks of the page on prefix closure: one optimal token per query, and the last-token rule."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from ntpbook.huang2024.s4_prefix_closure.line_search import (
    HYPOTHESES,
    Failing,
    Line,
    Map,
    Relation,
    collocations,
    compare_pairs,
    off_rule,
    sample_relation,
    two_next,
    two_optimal,
)
from ntpcore.data.dataset import Dataset, from_samples, from_sentences
from ntpcore.data.order import Structure, analyse
from ntpcore.verdicts.claims import Check, Control, Verdict
from ntpcore.verdicts.tables import Table

_BROKEN_BY = {
    "collocation-missing": "bijection",
    "collocation-ambiguous": "bijection",
    "collocation-not-injective": "bijection",
    "confused-token": "order",
    "next-token-unexplained": "source",
}
DATASETS = "data sets"
_CLAIMED = 5  # tokens, the bound in the statement of the small theorem


def smallest_without(dropped: str, failing: Failing = two_optimal) -> Dataset:
    """The smallest data set that breaks the conclusion without this hypothesis.

    Fewest tokens first, then the shortest longest line, then the fewest places in both lines; no
    sentence has two next tokens.

    Raises:
        ValueError: none exists with up to four tokens and lines of up to six places.
    """
    for size, longest in product(range(1, 5), range(2, 7)):
        found = [
            (sum(map(len, set(pair))), n, pair)
            for n in collocations(size, dropped)
            for pair in compare_pairs(n, failing, dropped, longest).failures
            if _single_valued(*pair)
        ]
        if found:
            _, n, pair = min(found)
            return _spelled_out(n, pair, dropped)
    raise ValueError(f"no small data set breaks the conclusion without {dropped!r}")


def _single_valued(one: Line, other: Line) -> bool:
    """Whether two lines never go on differently after the same beginning."""
    shared = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), None)
    return shared is None or shared == 0


def _spelled_out(n: Map, pair: Iterable[Line], dropped: str) -> Dataset:
    """A data set of these lines and all one-token sentences, its tokens named a, b, c, ..."""
    singles = [(x, n[x]) for x in range(len(n))]
    lines = ["".join("abcdefgh"[x] for x in line) for line in dict.fromkeys([*singles, *pair])]
    name = f"without {dropped!r}"
    if dropped == "closure":
        return from_samples([(line[:-1], line[-1]) for line in lines], name)
    return from_sentences([list(line) for line in lines], name)


def broken_hypotheses(structure: Structure) -> frozenset[str]:
    """The keys of `HYPOTHESES` that a data set does not satisfy."""
    broken = {_BROKEN_BY[rule] for rule in structure.realizable.counts or {}}
    return frozenset(broken if structure.data.prefix_closed else broken | {"closure"})


def random_closed(
    rng: np.random.Generator, vocab_size: int, sentences: int, max_length: int
) -> Dataset:
    """A random data set that satisfies the four hypotheses, built from these alone.

    A sentence goes on with n of a random token of its own, as long as no token gets confused. How
    many optimal tokens a query has is left to chance, so that the theorem is put to the test.

    Args:
        rng: source of randomness.
        vocab_size: |V|; the collocation is a random permutation.
        sentences: how many sentences are drawn beside those of one token.
        max_length: longest sentence before its next token.
    """
    n = tuple(int(x) for x in rng.permutation(vocab_size))
    lines = [[x, n[x]] for x in range(vocab_size)]
    forced = Relation()
    for start in rng.integers(vocab_size, size=sentences):
        line = [int(start), n[int(start)]]
        for _ in range(int(rng.integers(1, max_length))):
            seen = sum(1 << x for x in set(line))
            choices = [
                (n[x], forced | sample_relation(n, seen, line[-1], n[x])) for x in sorted(set(line))
            ]
            choices = [choice for choice in choices if not choice[1].uppers & choice[1].lowers]
            if not choices:
                break
            label, forced = choices[int(rng.integers(len(choices)))]
            line.append(label)
        lines.append(line)
    return from_sentences([[f"t{x}" for x in line] for line in lines], "random, prefix-closed")


def last_token_rule(structure: Structure) -> dict[str, str]:
    """f: for each query n of its optimal token, or n of itself where it orders nothing.

    A query with two optimal tokens has no rule, nor has one whose tokens are all confused.
    """
    orders = structure.orders or {}
    rule: dict[str, str] = {}
    for query in structure.data.vocabulary:
        tops = orders[query].optimal if query in orders else (query,)
        following = structure.collocation[tops[0]] if len(tops) == 1 else None
        if following is not None:
            rule[query] = following
    return rule


def _off_the_rule(structure: Structure) -> str:
    """The first way in which the corollary fails on a data set, or nothing."""
    data, rule = structure.data, last_token_rule(structure)
    continuations: dict[tuple[str, int], str] = {}
    for sample in data.samples():
        sentence, following = sample.sentence, sample.next_token
        told = f"{' '.join(sentence)} → {following}"
        last = sentence[-1]
        # without a rule the first next token sets it, and a second one breaks it
        if len(sentence) > 1 and rule.setdefault(last, following) != following:
            return f"{told}, but f({last}) = {rule[last]}"
        other = continuations.setdefault((sentence[0], len(sentence)), told)
        if other != told:
            return f"{told} and {other}"
    if data.sample_count > len(data.vocabulary) * data.max_length:
        return f"{data.sample_count} samples, more than |V| L_max"
    return ""


def check_ours_prefix_closure(
    datasets: Iterable[Dataset], dropped: str = "", **parameters: int
) -> Check:
    """No query of a data set that satisfies the four hypotheses has two optimal tokens.

    Data sets that break a hypothesis, other than the one dropped, are passed over.
    """
    label = "ours-prefix-closure"
    tried = ordered = most = longest = 0
    for data in datasets:
        structure = analyse(data)
        if broken_hypotheses(structure) - {dropped}:
            continue
        tried += 1
        orders = structure.orders or {}
        ordered += len(orders)
        most, longest = max(most, len(data.vocabulary)), max(longest, data.max_length)
        for query, order in orders.items():
            if len(order.optimal) > 1:
                return Check(
                    label,
                    Verdict.REFUTED,
                    tried,
                    DATASETS,
                    "A query has two optimal tokens.",
                    witness=f"{describe(data)}: {', '.join(order.optimal)} under query {query}",
                )
    if not tried:
        return Check(label, Verdict.OPEN, 0, DATASETS, "No data set satisfies the hypotheses.")
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        DATASETS,
        f"Each of the {ordered} orders of {tried} random data sets, of up to {most} tokens and "
        f"sentences of up to {longest}, has exactly one optimal token. Proof on the page.",
        numbers={"tried": str(tried), "orders": str(ordered), "tokens": str(most)},
        parameters=parameters,
        by_hand=("the theorem for all data sets, by nested arcs of a cycle",),
    )


def control_ours_prefix_closure() -> Control:
    """Without any one of the hypotheses the check must find two optimal tokens."""
    found = []
    for dropped in HYPOTHESES:
        data = smallest_without(dropped)
        found.append(check_ours_prefix_closure([data]).verdict is Verdict.OPEN)
        found.append(check_ours_prefix_closure([data], dropped).verdict is Verdict.REFUTED)
    return Control(
        "Four data sets that each break one hypothesis, and that hypothesis no longer asked for.",
        Verdict.REFUTED,
        Verdict.REFUTED if all(found) else Verdict.CONSISTENT,
    )


def check_ours_prefix_closure_small(max_vocabulary: int, dropped: str = "") -> Check:
    """No query has two optimal tokens: all n on few tokens, sentences of any length.

    Without one of the hypotheses lines are followed up to six places only.
    """
    label, unit = "ours-prefix-closure-small", "pairs of lines"
    longest = 6 if dropped else None
    types = relations = tried = allowed = 0
    for size in range(1, max_vocabulary + 1):
        for n in collocations(size, dropped):
            pairs = compare_pairs(n, two_optimal, dropped, longest)
            types, relations = types + 1, relations + pairs.relations
            tried, allowed = tried + pairs.tried, allowed + pairs.allowed
            if pairs.failures:
                data = _spelled_out(n, pairs.failures[0], dropped)
                return Check(
                    label,
                    Verdict.REFUTED,
                    tried,
                    unit,
                    "Two lines give a query two optimal tokens.",
                    witness=describe(data),
                )
    complete = max_vocabulary >= _CLAIMED and not dropped
    return Check(
        label,
        Verdict.PROVED if complete else Verdict.CONSISTENT,
        tried,
        unit,
        f"For all {types} cycle types of n on up to {max_vocabulary} tokens, a search that ended "
        f"by itself found the {relations} relations that a sentence of any length can force. Of "
        f"{tried} pairs of them, {allowed} leave no token confused, and none of these has a query "
        "with two optimal tokens.",
        numbers={
            "types": str(types),
            "relations": str(relations),
            "pairs": str(tried),
            "allowed": str(allowed),
        },
        parameters={"max_vocabulary": max_vocabulary},
        by_hand=(
            "two sentences with their beginnings suffice",
            "renaming the tokens, so that one n of each cycle type suffices",
        ),
    )


def control_ours_prefix_closure_small() -> Control:
    """The same search without one of the hypotheses must find two optimal tokens."""
    tokens = {"bijection": 3, "order": 4, "source": 3, "closure": 3}
    found = [
        check_ours_prefix_closure_small(tokens[dropped], dropped).verdict for dropped in HYPOTHESES
    ]
    noticed = all(verdict is Verdict.REFUTED for verdict in found)
    return Control(
        "The same search four times, each time without one of the hypotheses.",
        Verdict.REFUTED,
        Verdict.REFUTED if noticed else Verdict.PROVED,
    )


def check_ours_last_token(
    datasets: Iterable[Dataset], max_vocabulary: int, dropped: str = "", **parameters: int
) -> Check:
    """From two tokens on, the next token is f of the last one; N <= |V| L_max.

    On the data sets sample by sample; and for all n on few tokens by the complete search.
    """
    label = "ours-last-token"
    tried = samples = pairs = 0
    for data in datasets:
        structure = analyse(data)
        if broken_hypotheses(structure) - {dropped}:
            continue
        tried, samples = tried + 1, samples + data.sample_count
        if broken := _off_the_rule(structure):
            witness = f"{describe(data)}: {broken}"
            return Check(label, Verdict.REFUTED, tried, DATASETS, "f fails.", witness=witness)
    for size in range(1, max_vocabulary + 1):
        for n in collocations(size):
            found = compare_pairs(n, off_rule)
            pairs += found.allowed
            if found.failures:
                witness = describe(_spelled_out(n, found.failures[0], ""))
                return Check(label, Verdict.REFUTED, tried, DATASETS, "f fails.", witness=witness)
    if not tried:
        return Check(label, Verdict.OPEN, 0, DATASETS, "No data set satisfies the hypotheses.")
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        DATASETS,
        f"All {samples} samples of {tried} data sets follow the rule, each start token has one "
        f"continuation, and N is at most |V| L_max; so do all {pairs} pairs of lines without a "
        f"confused token on up to {max_vocabulary} tokens, of any length. Proof on the page.",
        numbers={"tried": str(tried), "samples": str(samples), "pairs": str(pairs)},
        parameters={"max_vocabulary": max_vocabulary, **parameters},
        by_hand=("the corollary for all data sets, from the theorem",),
    )


def control_ours_last_token() -> Control:
    """Without any one of the hypotheses the check must find that the last token is not enough."""
    found = [
        check_ours_last_token([smallest_without(dropped, two_next)], 0, dropped).verdict
        for dropped in HYPOTHESES
    ]
    noticed = all(verdict is Verdict.REFUTED for verdict in found)
    return Control(
        "Four data sets that each break one hypothesis, and that hypothesis no longer asked for.",
        Verdict.REFUTED,
        Verdict.REFUTED if noticed else Verdict.CONSISTENT,
    )


def describe(data: Dataset) -> str:
    """A small data set in words: its collocation and its longer lines."""
    words = [[data.vocabulary[x] for x in line.tokens] for line in data.lines]
    n = ", ".join(f"{line[0]} → {line[1]}" for line in words if len(line) == 2)
    rest = [f"{' '.join(line[:-1])} → {line[-1]}" for line in words if len(line) > 2]
    return f"n: {n}; {' and '.join(rest)}"


def search_table(max_vocabulary: int) -> Table:
    """What the complete search meets, by size of the vocabulary."""
    rows = []
    for size in range(1, max_vocabulary + 1):
        found = [compare_pairs(n, two_optimal) for n in collocations(size)]
        sums = [
            sum(column)
            for column in zip(
                *((one.relations, one.tried, one.allowed) for one in found), strict=True
            )
        ]
        failures = sum(len(one.failures) for one in found)
        rows.append(tuple(str(value) for value in (size, len(found), *sums, failures)))
    header = ("|V|", "cycle types", "relations", "pairs", "not confused", "two optimal tokens")
    return Table(header, tuple(rows))


def witness_table(failing: Failing) -> Table:
    """For each hypothesis the smallest data set in which it alone fails, with the conclusion."""
    rows = []
    for dropped, text in HYPOTHESES.items():
        data = smallest_without(dropped, failing)
        n, lines = describe(data).split("; ")
        rows.append((text, n.removeprefix("n: "), lines, _broken_conclusion(data, failing)))
    return Table(("Without", "n", "Sentences beside those of one token", "Then"), tuple(rows))


def _broken_conclusion(data: Dataset, failing: Failing) -> str:
    """What a data set shows that the theorem or the corollary would forbid."""
    if failing is two_optimal:
        orders = (analyse(data).orders or {}).values()
        order = next(one for one in orders if len(one.optimal) > 1)
        return f"{' and '.join(order.optimal)} are optimal under {order.query}"
    followers: dict[str, set[str]] = {}
    for sample in data.samples():
        if len(sample.sentence) > 1:
            followers.setdefault(sample.sentence[-1], set()).add(sample.next_token)
    query, found = next((q, found) for q, found in followers.items() if len(found) > 1)
    return f"{query} is followed by {' and by '.join(sorted(found))}"


def rule_table(structure: Structure) -> Table:
    """For each last token its optimal token, f, and the samples that show it, beside n."""
    orders, rule = structure.orders or {}, last_token_rule(structure)
    rows = []
    for query in structure.data.vocabulary:
        shown = [
            f"{' '.join(sample.sentence)} → {sample.next_token}"
            for sample in structure.data.samples()
            if sample.sentence[-1] == query and len(sample.sentence) > 1
        ]
        optimal = ", ".join(orders[query].optimal) if query in orders else "none"
        alone = structure.collocation[query] or ""
        rows.append((query, optimal, rule.get(query, "none"), ", ".join(shown), alone))
    header = ("last token q", "optimal token", "f(q)", "samples of two or more tokens", "n(q)")
    return Table(header, tuple(rows))


def nested_arcs() -> Dataset:
    """Two sentences around a cycle of eight tokens that would give their last token two rules."""
    cycle = [[str(x), str((x + 1) % 8)] for x in range(8)]
    return from_sentences([*cycle, list("1234563"), list("34565")], "nested arcs")
