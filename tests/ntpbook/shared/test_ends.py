"""Ends of balls are rounded outwards, and so is what pages print of them."""

from fractions import Fraction

import pytest
from flint import arb, ctx

from ntpbook.shared import ends

NINTH = Fraction(1, ends.SHOWN)


def test_ends_are_rounded_outwards():
    with ctx.workdps(30):
        third = arb(1) / 3
        assert ends.lower(third) < Fraction(1, 3) < ends.upper(third)
        assert ends.upper(third) - ends.lower(third) == NINTH
        assert ends.lower(-third) == -ends.upper(third)
        assert ends.lower(arb(2)) == ends.upper(arb(2)) == 2


def test_ends_of_a_wide_ball_hold_all_of_it():
    with ctx.workdps(30):
        wide = arb(1, 1) / 2  # from 0 to 1
        assert -10 * NINTH < ends.lower(wide) <= 0  # a radius has thirty bits
        assert 1 <= ends.upper(wide) < 1 + 10 * NINTH


@pytest.mark.parametrize("ball", [arb("inf"), arb("nan"), arb(0, arb("inf"))])
def test_a_ball_that_is_not_bounded_has_no_ends(ball):
    for end in (ends.lower, ends.upper, ends.shown):
        with pytest.raises(ArithmeticError, match="is not bounded"):
            end(ball)


def test_a_ball_is_shown_as_an_interval_around_all_of_it():
    with ctx.workdps(30):
        assert ends.shown(arb(1) / 3) == "$[0.3333, 0.3334]$"
        assert (
            ends.shown(-(arb(10) ** -20) / 3) == r"$[-3.334\cdot 10^{-21}, -3.333\cdot 10^{-21}]$"
        )
        assert ends.shown(arb(2)) == "$2$"


def test_shown_ends_are_rounded_to_their_side():
    third = Fraction(1, 3)
    assert (ends.down(third, 2), ends.up(third, 2)) == (0.33, 0.34)
    assert (ends.down(-third, 2), ends.up(-third, 2)) == (-0.34, -0.33)
    assert ends.down(Fraction(1, 4), 2) == ends.up(Fraction(1, 4), 2) == 0.25
