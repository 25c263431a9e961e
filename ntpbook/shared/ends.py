"""Ends of balls, rounded to the safe side: what checks compare and pages print."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from ntpverdicts.numbers import interval

SHOWN = 10**9  # an end of a ball is rounded outwards to nine digits behind the point


def lower(ball: Any) -> Fraction:
    """A fraction with few digits that is at most every number of a ball.

    Raises:
        ArithmeticError: the ball is not bounded.
    """
    whole = (ball * SHOWN).lower().floor().unique_fmpz()
    if whole is None:
        raise ArithmeticError(f"the ball {ball} is not bounded")
    return Fraction(int(whole), SHOWN)


def upper(ball: Any) -> Fraction:
    """A fraction with few digits that is at least every number of a ball; see `lower`."""
    return -lower(-ball)


def shown(ball: Any, digits: int = 4) -> str:
    """The interval of a ball as a formula, its ends rounded outwards.

    Raises:
        ArithmeticError: the ball is not bounded.
    """
    if not ball.is_finite():
        raise ArithmeticError(f"the ball {ball} is not bounded")
    return interval(_fraction(ball.lower()), _fraction(ball.upper()), digits)


def _fraction(end: Any) -> Fraction:
    """An end of a bounded ball as the fraction that it is."""
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def down(number: Fraction, places: int) -> float:
    """The number rounded down to so many places, as pages print a lower bound."""
    return float(Fraction(math.floor(number * 10**places), 10**places))


def up(number: Fraction, places: int) -> float:
    """The number rounded up to so many places."""
    return float(Fraction(math.ceil(number * 10**places), 10**places))
