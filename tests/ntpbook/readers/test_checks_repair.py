"""The proposition on the integer program, and the studies of its page."""

from __future__ import annotations

import numpy as np

from ntpbook.readers.realizable import repair
from ntpcore.data import languages
from ntpcore.data.dataset import from_samples, read
from ntpcore.verdicts.claims import Verdict


def test_ours_repair_by_hand_under_one_query_two_tokens_contradict() -> None:
    rows = [("ab", "b", 1), ("ba", "a", 2), ("ab", "a", 2), ("a", "b", 1), ("b", "a", 1)]
    data = from_samples([(list(sentence), following, count) for sentence, following, count in rows])
    assert repair.largest_by_force(data) == 6
    assert repair.check_ours_repair([data]).verdict is Verdict.CONSISTENT


def test_ours_repair_agrees_with_every_part_of_random_data() -> None:
    rng = np.random.default_rng(3)
    check = repair.check_ours_repair([repair.tiny_data(rng) for _ in range(30)])
    assert (check.verdict, check.tried) == (Verdict.CONSISTENT, 30)


def test_ours_repair_notices_a_program_without_injectivity() -> None:
    rng = np.random.default_rng(7)
    cases = [repair.tiny_data(rng) for _ in range(40)]
    assert repair.control_ours_repair(cases).noticed
    check = repair.check_ours_repair(cases, injective=False)
    assert "the largest realizable part has" in check.witness


def test_a_study_looks_at_ever_longer_beginnings() -> None:
    data = languages.server_log(np.random.default_rng(1), 30)
    shares = repair.grow(data, 3)
    assert [one.sentences for one in shares] == sorted({one.sentences for one in shares})
    assert shares[-1].found.table.weight == sum(
        line.count * (len(line.tokens) - 1) for line in data.lines
    )
    assert all(one.found.share <= one.bound for one in shares)
    assert repair.share_table([shares]).rows[0][0] == "server log"
    assert repair.dropped_table(shares[-1].found).rows


def test_a_beginning_has_the_vocabulary_of_its_lines() -> None:
    data = read("examples/gettysburg.txt")
    first = repair.grow(data, 5)[0].found.table.data
    assert set(first.vocabulary) < set(data.vocabulary)
    assert len(first.lines) == 1
