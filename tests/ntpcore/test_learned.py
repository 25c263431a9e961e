"""What attention learns from any data: cycles, the strict part, and what decides each context."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ntpcore import learned
from ntpcore.data import next_tokens
from ntpcore.data.dataset import Dataset, InputError, from_samples, from_sentences

words = st.lists(st.sampled_from("abcd"), min_size=2, max_size=6)
texts = st.lists(words, min_size=1, max_size=8)
maps = st.fixed_dictionaries({token: st.sampled_from([None, *"abcd"]) for token in "abcd"})
CYCLE = [
    (["r"], "p"), (["p"], "s"), (["s"], "?"), (["?"], "r"),
    (["r", "s", "?"], "p"), (["s", "p", "?"], "?"), (["p", "r", "?"], "s"),
]  # fmt: skip


def test_a_cycle_of_three_above_a_token_by_hand() -> None:
    found = learned.learn(from_samples(CYCLE))
    assert found.components == {"?": (("p", "r", "s"),)}
    assert (found.comparisons, found.strict) == (6, 3)
    assert found.solution is not None
    # three equal scores x above y with x - y = 1 and 3 x + y = 0
    quarter = Fraction(1, 4)
    assert found.solution.columns["?"] == {
        "r": quarter,
        "p": quarter,
        "s": quarter,
        "?": -3 * quarter,
    }
    assert found.solution.certificate_errors() == []
    assert found.contexts == learned.Contexts(7, 4, 0, 0, 3, 0)


def test_without_the_last_sample_there_is_no_cycle_and_attention_decides() -> None:
    found = learned.learn(from_samples(CYCLE[:-1]))
    assert found.components == {}
    assert found.strict == found.comparisons == 4
    assert found.contexts == learned.Contexts(6, 4, 0, 2, 0, 0)


def test_a_token_outside_of_the_cycle_decides_a_context_that_a_cycle_contests() -> None:
    # under q: a and b contradict each other; c, with the same n as a, lies above b alone
    samples = [("a b q", "x"), ("a b q", "y"), ("c b q", "x"), ("c a b q", "x")]
    data = from_samples([(sentence.split(), label) for sentence, label in samples])
    found = learned.learn(data, {"a": "x", "c": "x", "b": "y", "q": "z", "x": None, "y": None})
    assert found.components == {"q": (("a", "b"),)}
    assert (found.contexts.earlier, found.contexts.contested) == (2, 2)


def spelled(data: Dataset, following: dict[str, str | None]) -> Counter[str]:
    """What decides each sample, from the samples spelled out and paths in the graph of pairs."""
    graphs: dict[str, nx.DiGraph] = {}
    for sample in data.samples():
        graph = graphs.setdefault(sample.sentence[-1], nx.DiGraph())
        best = {token for token in sample.sentence if following[token] == sample.next_token}
        graph.add_edges_from((b, rival) for b in best for rival in set(sample.sentence) - best)
    found: Counter[str] = Counter()
    for sample in data.samples():
        graph, tokens = graphs[sample.sentence[-1]], set(sample.sentence)
        best = {token for token in tokens if following[token] == sample.next_token}
        free = [b for b in best if not any(nx.has_path(graph, r, b) for r in tokens - best)]
        if not best:
            kind = "nowhere"
        elif len(tokens) == 1:
            kind = "alone"
        elif not free:
            kind = "contested"
        else:
            kind = "last" if sample.sentence[-1] in best else "earlier"
        found[kind] += sample.count
        found["total"] += sample.count
    return found


@given(texts, maps)
def test_contexts_are_those_of_the_samples_one_by_one(
    lines: list[list[str]], following: dict[str, str | None]
) -> None:
    for data in (from_sentences(lines), from_samples([(one[:-1], one[-1]) for one in lines])):
        known = {token: following[token] for token in data.vocabulary}
        found = learned.learn(data, known)
        assert Counter(vars(found.contexts)) == spelled(data, following)
        within = {
            (query, upper, lower)
            for query, parts in found.components.items()
            for part in parts
            for upper, lower in found.orders[query].pairs
            if upper in part and lower in part
        }
        assert found.strict == found.comparisons - len(within)


def test_large_orders_are_refused_or_left_unsolved(monkeypatch: pytest.MonkeyPatch) -> None:
    data = from_sentences(["a b c d", "b c a d"])
    with pytest.raises(InputError, match="the partial orders hold more than 1 pairs"):
        learned.learn(data, max_pairs=1)
    monkeypatch.setattr(learned, "MOST_SOLVED", 2)
    found = learned.learn(data)
    assert found.solution is None
    assert found.comparisons > 2
    assert next_tokens.map_of(found.entries)["d"] is None
