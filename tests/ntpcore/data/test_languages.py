"""The small languages keep their rules."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ntpcore.data import languages
from ntpcore.data.dataset import Dataset


def lines(data: Dataset) -> list[list[str]]:
    return [[data.vocabulary[token] for token in line.tokens] for line in data.lines]


def test_brackets_are_balanced_and_as_deep_as_allowed() -> None:
    deepest = 0
    for words in lines(languages.brackets(np.random.default_rng(1), 200, max_depth=3)):
        opened: list[str] = []
        for word in words[:-1]:
            if word in "([":
                opened.append(word)
            else:
                assert opened.pop() + word in ("()", "[]")
            deepest = max(deepest, len(opened))
        assert (opened, words[-1]) == ([], ".")
    assert deepest == 3


def test_sessions_begin_and_end_as_the_protocol_says() -> None:
    data = languages.server_log(np.random.default_rng(1), 200)
    for words in lines(data):
        assert words[:3] == ["connect", "hello", "login"]
        assert words[-1] == ("timeout" if words[-2] == "read" else "goodbye")
        for one, other in pairwise(words):
            assert one != "write" or other == "confirm"
            assert one != "refused" or other == "login"


def test_the_same_seed_gives_the_same_text() -> None:
    one, other = (languages.brackets(np.random.default_rng(5), 9) for _ in range(2))
    assert one == other
