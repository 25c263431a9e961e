"""Tests of the claim that training goes to the true optimum, not to the closed form."""

from __future__ import annotations

import math

import pytest
from every_check import sound

from ntpbook.ours.convergence import optimum
from ntpcore.data.examples import FIVE_TOKENS, realize
from ntpcore.data.order import analyse
from ntpcore.exact import margin
from ntpcore.huang2024.problem import from_dataset


def test_ours_true_optimum_angle_of_the_five_tokens_by_hand():
    # optimum (2/3, 1/2; -1/3, -1/3, -1/2), closed form (3/5, 3/5; -2/5, -2/5, -2/5)
    cosine = (3 / 5 * 7 / 6 + 2 / 5 * 7 / 6) / math.sqrt(7 / 6 * 6 / 5)
    one = optimum.approach(FIVE_TOKENS, (100, 1000))
    assert one.between == pytest.approx(1 - cosine)


def test_ours_true_optimum_closed_form_agrees_with_exact_fractions():
    problem = from_dataset(realize(FIVE_TOKENS))
    entries = optimum.closed_form_entries(problem)
    exact = margin.closed_form_scores((analyse(realize(FIVE_TOKENS)).orders or {})["q"])
    assert sorted(entries) == pytest.approx(sorted(map(float, exact.values())))


def test_ours_true_optimum_is_reached_on_every_failing_order():
    found = sound("ours-true-optimum")
    assert found.tried == 6
    assert found.numbers["to_optimum"].value < 1e-9
