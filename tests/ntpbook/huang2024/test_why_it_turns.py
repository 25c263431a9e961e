"""Theorems A and B: their steps in sympy, their inequalities on states and runs, their bounds."""

import pytest
import sympy as sp

from ntpbook.huang2024.why_it_turns import steps

ALL_STEPS = (steps.gradient_from_the_loss, steps.lemma_4, *steps.THEOREM_B)


@pytest.mark.parametrize("step", ALL_STEPS, ids=lambda step: step.__name__)
def test_every_line_of_a_step_holds(step):
    lines = step()
    assert lines
    assert [line.name for line in lines if not line.holds] == []


@pytest.mark.parametrize(
    ("step", "planted"),
    [
        (steps.gradient_from_the_loss, {"factor": 2}),
        (steps.gradient_for_all_rivals, {"factor": 2}),
        (steps.lemma_4, {"factor": -1}),
        (steps.lemma_5, {"drop": 1}),
        (steps.lemma_6, {"length": 1}),
        (steps.theorem_a_bounds_on_h, {"two": 1}),
        (steps.theorem_a_one_sample, {"two": 1}),
        (steps.theorem_a_other_samples, {"shift": 1}),
        (steps.theorem_a_sum, {"power": 1}),
        (steps.theorem_b_recursion, {"sign": -1}),
        (steps.theorem_b_direction, {"factor": 1}),
        (steps.theorem_b_margins, {"factor": 31}),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_step_with_a_planted_error_has_a_line_that_fails(step, planted):
    assert [line.name for line in step(**planted) if not line.holds]


def test_an_inequality_refuses_symbols_that_may_be_negative():
    x = sp.Symbol("x", real=True)
    with pytest.raises(ValueError, match="x may be negative"):
        _ = steps.AtMost("x", sp.Integer(0), x).holds


def test_an_inequality_by_hand():
    x = sp.Symbol("x", nonnegative=True)
    assert steps.AtMost("2 x <= 1 + x^2 is no sum of such terms", 2 * x, 1 + x**2).holds is False
    assert steps.AtMost("x / (1 + x) <= x", x / (1 + x), x).coefficients == (1, 1, 1)
    assert steps.AtMost("1 <= 2", sp.Integer(1), sp.Integer(2)).holds
    assert not steps.AtMost("2 <= 1", sp.Integer(2), sp.Integer(1)).holds


@pytest.mark.parametrize(
    ("sentence", "optimal", "vocab_size"), [((1, 0), 0, 3), ((0, 1, 1), 1, 2), ((2, 0, 1), 2, 5)]
)
def test_the_gradient_holds_for_other_sentences(sentence, optimal, vocab_size):
    assert all(line.holds for line in steps.gradient_from_the_loss(sentence, optimal, vocab_size))
