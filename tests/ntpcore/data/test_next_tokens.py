"""The next-token map of any data: what is read off, inferred, and given."""

from __future__ import annotations

import pytest

from ntpcore.data import next_tokens
from ntpcore.data.dataset import InputError, from_samples, from_sentences
from ntpcore.data.next_tokens import GIVEN, INFERRED, NONE, READ, Entry


def test_sentences_of_one_token_come_first_and_then_what_follows_most_often() -> None:
    data = from_sentences(["a b c", "a b d", "b d", "c a", "c d"])
    found = next_tokens.infer(data)
    assert found["a"] == Entry("b", READ, 2, 2)
    assert found["b"] == Entry("d", READ, 1, 1), "its own sentence, though c follows it, too"
    assert found["c"] == Entry("a", INFERRED, 1, 2), "two next tokens alike: the first in the text"
    assert found["d"] == Entry(None, NONE)
    assert next_tokens.infer(data, {"c": "d", "a": None})["c"] == Entry("d", GIVEN)
    assert next_tokens.infer(data, {"c": "d", "a": None})["a"] == Entry(None, GIVEN)


def test_of_a_single_sample_only_the_query_says_what_follows() -> None:
    data = from_samples([(["a", "b"], "c"), (["c"], "a")])
    found = next_tokens.infer(data)
    assert {token: entry.following for token, entry in found.items()} == {
        "a": None, "b": "c", "c": "a",
    }  # fmt: skip


def test_any_data_have_a_structure_under_a_map_that_may_have_gaps() -> None:
    data = from_sentences(["the cat sat", "the dog sat", "the cat ran"])
    with pytest.raises(InputError, match=r"not defined for 'the', 'sat', 'dog', 'ran', so there"):
        next_tokens.structure_of(from_sentences(["the cat sat", "the dog sat", "cat ran"]))
    found = next_tokens.structure_of(data, next_tokens.next_tokens(data))
    assert found.realizable.holds is False
    assert found.collocation == {
        "the": "cat", "cat": "sat", "sat": None, "dog": "sat", "ran": None
    }  # fmt: skip
    assert found.orders is not None
    # "the cat → ran" leads nowhere, so that under "cat" and "dog" each is above "the"
    assert {query: one.pairs for query, one in found.orders.items()} == {
        "cat": {("cat", "the")}, "dog": {("dog", "the")}
    }  # fmt: skip


def test_data_that_satisfy_assumption_1_keep_their_structure() -> None:
    data = from_sentences(["S V O P", "V O P", "O P P", "P S V"])
    found = next_tokens.structure_of(data, next_tokens.next_tokens(data))
    assert found == next_tokens.structure_of(data)
    assert found.realizable.holds is True
