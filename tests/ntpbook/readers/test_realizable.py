"""The proposition on the integer program, and the studies of its page."""

from __future__ import annotations

import numpy as np

from ntpbook.readers.realizable import checks, figures
from ntpcore.data import languages
from ntpcore.data.dataset import from_samples, read
from ntpverdicts.claims import Verdict

CHECK = checks.check_ours_repair


def test_ours_repair_by_hand_under_one_query_two_tokens_contradict() -> None:
    rows = [("ab", "b", 1), ("ba", "a", 2), ("ab", "a", 2), ("a", "b", 1), ("b", "a", 1)]
    data = from_samples([(list(sentence), following, count) for sentence, following, count in rows])
    assert checks.largest_by_force(data) == 6
    assert CHECK.judge([checks.Tiny(data)]).verdict is Verdict.PROVED


def test_ours_repair_notices_a_program_without_injectivity() -> None:
    # a → c and b → c: one of the two must go, and the one that counts twice can stay
    data = from_samples([("a", "c", 2), ("b", "c", 1)])
    assert checks.largest_by_force(data) == 2
    found = CHECK.judge([checks.Tiny(data)], injective=False)
    assert found.witness.startswith("a → c; b → c, optimum 3")


def test_ours_repair_by_force_agrees_with_a_part_that_is_realizable_as_it_is() -> None:
    data = from_samples([("a", "b", 3), ("b", "a", 1), ("a b", "b", 2)])
    assert checks.largest_by_force(data) == 6


def test_a_study_looks_at_ever_longer_beginnings() -> None:
    data = languages.server_log(np.random.default_rng(1), 30)
    shares = figures.grow(data, 3)
    assert [one.sentences for one in shares] == sorted({one.sentences for one in shares})
    assert shares[-1].found.table.weight == sum(
        line.count * (len(line.tokens) - 1) for line in data.lines
    )
    assert all(one.found.share <= one.bound for one in shares)
    assert figures.share_table([shares]).rows[0][0] == "server log"
    assert figures.dropped_table(shares[-1].found).rows


def test_a_beginning_has_the_vocabulary_of_its_lines() -> None:
    data = read("examples/gettysburg.txt")
    first = figures.grow(data, 5)[0].found.table.data
    assert set(first.vocabulary) < set(data.vocabulary)
    assert len(first.lines) == 1
