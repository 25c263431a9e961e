"""Every check of the book on few instances: its verdict, and each planted error noticed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from every_check import ELSEWHERE, PINNED, SMALL, sound

from ntpbook.catalogue import CATALOGUE, find_check

HERE = Path(__file__).parent
LABELS = [claim.label for claim in CATALOGUE if claim.page]


@pytest.mark.parametrize("label", [label for label in LABELS if label not in ELSEWHERE])
def test_a_check_gives_the_verdict_of_the_book_and_notices_its_planted_errors(label: str):
    sound(label)


def test_the_verdicts_and_the_small_parameters_are_those_of_the_claims():
    assert set(PINNED) == set(LABELS)
    assert set(ELSEWHERE) <= set(LABELS)
    for label, parameters in SMALL.items():
        assert set(parameters) <= set(find_check(label).defaults), label


@pytest.mark.parametrize("file", sorted(set(ELSEWHERE.values())))
def test_the_chapter_asks_the_same_of_what_is_left_out_here(file: str):
    assert re.search(r"\bassert_sound\(", (HERE / file).read_text(encoding="utf-8"))
