"""The next-token map of a text: what is read off, what is inferred, and what the reader writes."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ntpcore.data.dataset import Dataset, InputError, from_samples, from_sentences
from ntpplayground import next_tokens
from ntpplayground.next_tokens import INFERRED, NONE, READ, YOURS, Entry

words = st.lists(st.sampled_from("abcd"), min_size=2, max_size=6)
texts = st.lists(words, min_size=1, max_size=8)
maps = st.fixed_dictionaries({token: st.sampled_from([None, *"abcd"]) for token in "abcd"})


def test_sentences_of_one_token_come_first_and_then_what_follows_most_often() -> None:
    data = from_sentences(["a b c", "a b d", "b d", "c a", "c d"])
    found = next_tokens.infer(data)
    assert found["a"] == Entry("b", READ, 2, 2)
    assert found["b"] == Entry("d", READ, 1, 1), "its own sentence, though c follows it, too"
    assert found["c"] == Entry("a", INFERRED, 1, 2), "two next tokens alike: the first in the text"
    assert found["d"] == Entry(None, NONE)
    assert next_tokens.infer(data, {"c": "d", "a": None})["c"] == Entry("d", YOURS)
    assert next_tokens.infer(data, {"c": "d", "a": None})["a"] == Entry(None, YOURS)


def test_of_a_single_sample_only_the_query_says_what_follows() -> None:
    data = from_samples([(["a", "b"], "c"), (["c"], "a")])
    found = next_tokens.infer(data)
    assert {token: entry.following for token, entry in found.items()} == {
        "a": None, "b": "c", "c": "a",
    }  # fmt: skip


def spelled(data: Dataset, following: dict[str, str | None]) -> Counter[str]:
    """What decides each sample, from the samples spelled out."""
    found: Counter[str] = Counter()
    for sample in data.samples():
        reached = [token for token in sample.sentence if following[token] == sample.next_token]
        last = following[sample.sentence[-1]] == sample.next_token
        found["last" if last else "earlier" if reached else "nowhere"] += sample.count
        found["lone"] += sample.count * (len(set(sample.sentence)) == 1)
        found["total"] += sample.count
    return found


@given(texts, maps)
def test_shares_are_those_of_the_samples_one_by_one(
    lines: list[list[str]], following: dict[str, str | None]
) -> None:
    for data in (from_sentences(lines), from_samples([(one[:-1], one[-1]) for one in lines])):
        found = next_tokens.shares(data, following)
        theirs = spelled(data, following)
        assert {name: getattr(found, name) for name in theirs} == theirs
        assert found.last + found.earlier + found.nowhere == found.total


@given(texts)
def test_the_field_gives_back_the_map_that_it_was_written_from(lines: list[list[str]]) -> None:
    entries = next_tokens.infer(from_sentences(lines))
    guesses = {
        token: entry.following for token, entry in entries.items() if entry.origin == INFERRED
    }
    assert next_tokens.edits_in(next_tokens.written(entries), entries) == (guesses, [])


@pytest.mark.parametrize("line", ["b → c", "b -> c", "b => c", "b\tc", "b c", "  b  →  c  "])
def test_a_line_may_have_an_arrow_or_two_columns(line: str) -> None:
    entries = next_tokens.infer(from_sentences(["a b d", "c a"]))
    assert next_tokens.edits_in(f"{line}\na →\n", entries) == ({"b": "c", "a": None}, [])


@pytest.mark.parametrize("text", ["b", "b c d", "b → c → d", "→ b", "b → c\nb → d"])
def test_other_lines_are_refused_with_an_example_or_the_two_that_differ(text: str) -> None:
    entries = next_tokens.infer(from_sentences(["a b"]))
    with pytest.raises(InputError, match=r"such as the → cat|keep one of them"):
        next_tokens.edits_in(text, entries)
