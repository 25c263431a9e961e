"""Ends of balls, rounded to the safe side: what checks compare and pages print."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

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


def down(number: Fraction, places: int) -> float:
    """The number rounded down to so many places, as pages print a lower bound."""
    return float(Fraction(math.floor(number * 10**places), 10**places))


def up(number: Fraction, places: int) -> float:
    """The number rounded up to so many places."""
    return float(Fraction(math.ceil(number * 10**places), 10**places))
