"""The field of next tokens on the page: written, read back, and refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ntpcore.data import next_tokens
from ntpcore.data.dataset import InputError, from_sentences
from ntpcore.data.next_tokens import INFERRED
from ntpplayground import map_field

words = st.lists(st.sampled_from("abcd"), min_size=2, max_size=6)
texts = st.lists(words, min_size=1, max_size=8)


@given(texts)
def test_the_field_gives_back_the_map_that_it_was_written_from(lines: list[list[str]]) -> None:
    entries = next_tokens.infer(from_sentences(lines))
    guesses = {
        token: entry.following for token, entry in entries.items() if entry.origin == INFERRED
    }
    assert map_field.edits_in(map_field.written(entries), entries) == (guesses, [])


@pytest.mark.parametrize("line", ["b → c", "b -> c", "b => c", "b\tc", "b c", "  b  →  c  "])
def test_a_line_may_have_an_arrow_or_two_columns(line: str) -> None:
    entries = next_tokens.infer(from_sentences(["a b d", "c a"]))
    assert map_field.edits_in(f"{line}\na →\n", entries) == ({"b": "c", "a": None}, [])


@pytest.mark.parametrize("text", ["b", "b c d", "b → c → d", "→ b", "b → c\nb → d"])
def test_other_lines_are_refused_with_an_example_or_the_two_that_differ(text: str) -> None:
    entries = next_tokens.infer(from_sentences(["a b"]))
    with pytest.raises(InputError, match=r"such as the → cat|keep one of them"):
        map_field.edits_in(text, entries)
