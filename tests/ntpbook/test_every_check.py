"""Every check of the book: its verdict, and each planted error noticed.

Where the book was built from this very code, this reads what its checks said on all instances;
otherwise each check runs on few instances.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from every_check import ELSEWHERE, PINNED, SMALL, assert_row_sound, rows_of_this_code, sound

from ntpbook.catalogue import CATALOGUE, find_check
from ntpverdicts.claims import Verdict

HERE = Path(__file__).parent
LABELS = [claim.label for claim in CATALOGUE if claim.page]


@pytest.mark.parametrize("label", LABELS)
def test_a_check_gives_the_verdict_of_the_book_and_notices_its_planted_errors(label: str):
    if (row := rows_of_this_code().get(label)) is not None:
        assert_row_sound(find_check(label), Verdict(PINNED[label][-1]), row)
    elif label not in ELSEWHERE:  # what trains too long, or needs data, is asked by its chapter
        sound(label)


SPOILT = {
    "another verdict": {"verdict": "not seen"},
    "a planted error that was not tried": {"controls": []},
    "one that was not noticed": {"expected": "proved"},
    "a step that shows nothing": {"shown": []},
    "a step that does not hold": {"holds": False},
    "no proof": {"proof": []},
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_row_that_is_not_sound_is_noticed(name: str):
    one = find_check("huang2024-eq-1")
    row = sound(one.label).to_json()
    assert_row_sound(one, Verdict.PROVED, row)
    ((key, value),) = SPOILT[name].items()
    executed = next(step for step in row["proof"] if step["shown"])
    place = {"expected": row["controls"][0], "shown": executed, "holds": executed["shown"][0]}
    place.get(key, row)[key] = value
    with pytest.raises(AssertionError):
        assert_row_sound(one, Verdict.PROVED, row)


def test_the_verdicts_and_the_small_parameters_are_those_of_the_claims():
    assert set(PINNED) == set(LABELS)
    assert set(ELSEWHERE) <= set(LABELS)
    for label, parameters in SMALL.items():
        assert set(parameters) <= set(find_check(label).defaults), label


@pytest.mark.parametrize("file", sorted(set(ELSEWHERE.values())))
def test_the_chapter_asks_the_same_of_what_is_left_out_here(file: str):
    assert re.search(r"\bassert_sound\(", (HERE / file).read_text(encoding="utf-8"))
