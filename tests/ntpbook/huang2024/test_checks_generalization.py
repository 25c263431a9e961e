"""Checks of the page on unseen sentences: Theorem 3 and Example 2."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from ntpbook.huang2024.s6_generalization import generalization
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, runs
from ntpcore.huang2024.problem import from_dataset
from ntpcore.verdicts.claims import Verdict


@pytest.fixture(scope="module")
def some() -> list[runs.Run]:
    """Example 1 and four random data sets, long enough."""
    return runs.collection(7, 2, 8000, factors=(4,))


@pytest.fixture(scope="module")
def example() -> runs.Run:
    """Example 1 at the paper's step sizes."""
    return generalization.example_run(0.1, 0.025, 900, 900)


def test_huang2024_thm_3_holds_on_long_runs_and_is_open_on_none(some: list[runs.Run]) -> None:
    assert generalization.check_huang2024_thm_3(some).verdict is Verdict.CONSISTENT
    assert generalization.check_huang2024_thm_3([]).verdict is Verdict.OPEN


def test_huang2024_thm_3_slope_of_example_1_by_hand() -> None:
    # columns (1/2, -1/2) for S, V, P and (2/3, -1/3, -1/3) for O: least 1/3, norm^2 13/6
    problem = from_dataset(example_1())
    c = bounds.constants(problem, 0.1, 1.0, 900)
    slope = bounds.thm_3_slope(c, problem.solutions.values())
    assert slope == pytest.approx(1 / 3 / math.sqrt(13 / 6))


def test_huang2024_thm_3_separation_agrees_with_the_weights(some: list[runs.Run]) -> None:
    for run in some:
        weights, optimal = run.second.state.weights, run.problem.is_optimal
        expected = min(weights[optimal].min(), -weights[~optimal].max())
        assert generalization.separation(run)[1][-1] == expected
        limit = bounds.thm_3_slope(run.constants, run.problem.solutions.values())
        least = np.abs(run.problem.W_kq_star).min() * run.constants.eta / run.constants.norm_kq
        assert limit == pytest.approx(least)


def test_huang2024_thm_3_constant_of_the_proof_fails_for_crowds() -> None:
    # m rivals: norm^2 = m / (m + 1), least entry 1 / (m + 1), L_max = 2
    assert generalization.slope_ratio_squared(generalization.crowd(3), 1) == Fraction(16, 16) * (
        Fraction(3, 4)
    )
    readings, numbers = generalization.slope_readings()
    assert [reading.verdict for reading in readings] == [Verdict.REFUTED] * 2
    assert numbers == {"rivals_1": "3", "rivals_2": "7"}


def test_huang2024_thm_3_notices_slow_growth_and_two_kinds(some: list[runs.Run]) -> None:
    assert generalization.control_huang2024_thm_3(some[:3]).noticed


def test_huang2024_thm_3_unseen_sentences_of_example_1() -> None:
    problem = from_dataset(example_1())
    found = {one.tokens: one.expected for one in generalization.unseen_sentences(problem)}
    assert found[("S", "P")] == "V"
    assert found[("V", "P")] == "O"
    seen = {sample.sentence for sample in example_1().samples()}
    assert not seen & set(found)


def test_huang2024_ex_2_answers(example: runs.Run) -> None:
    check = generalization.check_huang2024_ex_2(example)
    assert check.verdict is Verdict.CONSISTENT
    table = generalization.answer_table(example, ["SP", "OSP", "VP", "SVP", "SPPPP"])
    assert [row[2] for row in table.rows] == ["V", "P", "O", "V or O", "V"]


def test_huang2024_ex_2_attention_by_hand(example: runs.Run) -> None:
    problem, weights = example.problem, example.second.state.weights
    names, column = problem.vocabulary, problem.column(problem.vocabulary.index("P"))
    score = {names[x]: w for x, w in zip(problem.entry_token[column], weights[column], strict=True)}
    assert set(score) == {"O", "P"}
    table = generalization.answer_table(example, ["SPPPP"])
    expected = 1 / (1 + 4 * math.exp(score["P"]))
    assert table.rows[0][1].startswith(f"S {expected:.3f}")


def test_huang2024_ex_2_short_training_prefers_the_crowd() -> None:
    short = generalization.example_run(0.1, 0.025, 100, 100)
    longer = generalization.example_run(0.1, 0.025, 200, 300)
    answers = [generalization.answer_table(run, ["SPPPP"]).rows[0][2] for run in (short, longer)]
    assert answers == ["S", "V"]


def test_huang2024_ex_2_notices_an_untrained_attention(example: runs.Run) -> None:
    assert generalization.control_huang2024_ex_2(example).noticed
    turned = replace(example.second.state, weights=-example.second.state.weights)
    back = replace(example, second=replace(example.second, state=turned))
    assert generalization.check_huang2024_ex_2(back).verdict is Verdict.REFUTED


def test_huang2024_ex_2_curves_end_where_the_run_ends(example: runs.Run) -> None:
    curves, roles = generalization.attention_curves(
        example.problem, example.second.eta, example.second.gap, "OSP", [1, 10, 900]
    )
    shown = generalization.answer_table(example, ["OSP"]).rows[0][1]
    assert shown == ", ".join(f"{token} {values[-1]:.3f}" for token, values in curves.items())
    assert roles == {"O": "optimal", "S": "non-comparable", "P": "non-optimal"}
