"""The tables of the page on prefix closure."""

from __future__ import annotations

from ntpbook.huang2024.s4_prefix_closure.checks import last_token_rule
from ntpbook.huang2024.s4_prefix_closure.instances import describe, smallest_without
from ntpbook.huang2024.s4_prefix_closure.line_search import (
    HYPOTHESES,
    Failing,
    collocations,
    compare_pairs,
    two_optimal,
)
from ntpcore.data.dataset import Dataset
from ntpcore.data.order import Structure, analyse
from ntpverdicts.maths import plain
from ntpverdicts.tables import Table


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
    header = (
        "|V|",
        "cycle types",
        "relations",
        "pairs of relations",
        "of these, no confused token",
        "of these, two optimal tokens",
    )
    return Table(header, tuple(rows))


def witness_table(failing: Failing) -> Table:
    """For each hypothesis the smallest data set in which it alone fails, with the conclusion."""
    rows = []
    for dropped, text in HYPOTHESES.items():
        data = smallest_without(dropped, failing)
        n, lines = describe(data).split("; ")
        rows.append((plain(text), n.removeprefix("n: "), lines, _broken_conclusion(data, failing)))
    header = ("Hypothesis dropped", "n", "Sentences besides those of one token", "Result")
    return Table(header, tuple(rows))


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
