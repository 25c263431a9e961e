"""What a check compares on one instance, and what else it says of it.

A comparison of integers and fractions is exact, whatever tolerance the check has; one of floats has
a slack relative to the size of its sides. A NaN or an infinity is refused here, for all checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from ntpverdicts.claims import Number

ROUNDING = "rounding"
EXACT = (int, Fraction)
NOT_THERE = "was not there:"  # what is said of data that a check could not read


class NotANumberError(ValueError):
    """A comparison met a NaN or an infinity; the message says where."""


@dataclass(frozen=True)
class Compared:
    """One comparison.

    Attributes:
        slack: how far the statement is from being violated, relative to its sides; negative where
            it is violated.
        where: the place, in words; empty for the instance itself.
        exact: whether the slack holds no rounding, so that no tolerance applies.
        points: how many inequalities the comparison stands for.
        fact: whether the comparison is only true or false, without a size.
        bound: whether it compares a quantity with a bound other than zero, so that an error of a
            tenth in the bound should be noticed.
    """

    slack: Number
    where: str = ""
    exact: bool = False
    points: int = 1
    fact: bool = False
    bound: bool = False


@dataclass(frozen=True)
class LeftOut:
    """A note that an instance, or part of an instance, was left out, and by which rule."""

    reason: str


@dataclass(frozen=True)
class Undecided:
    """That an observation could not be decided at its level on a part of an instance."""

    reason: str


@dataclass(frozen=True)
class Tally:
    """A named number that is gathered over all instances.

    Attributes:
        name: under which pages quote it.
        value: what this instance adds.
        gather: how two values become one.
        digits: how many of its digits are good; None for an exact number, 0 for one that other
            rounding draws anew.
        origin: why no more.
        unit: its unit.
    """

    name: str
    value: Number
    gather: Callable[[Number, Number], Number]
    digits: int | None = None
    origin: str = "exact"
    unit: str = ""


@dataclass(frozen=True)
class Assumed:
    """Whether an instance meets a hypothesis that is in force where the statement stands."""

    name: str
    holds: bool


Said = Compared | LeftOut | Undecided | Tally | Assumed


def finite(value: Number, where: str = "") -> Number:
    """The value, if it is a number.

    Raises:
        NotANumberError: it is a NaN or an infinity.
    """
    if not isinstance(value, EXACT) and not math.isfinite(value):
        raise NotANumberError(f"{where or 'a comparison'}: {value} where a number was due")
    return value


def at_most(
    left: Number, right: Number, where: str = "", *, scale: Number | None = None
) -> Compared:
    """Compare left <= right.

    Args:
        left: the smaller side.
        right: the larger side.
        where: the place, in words.
        scale: size against which the slack is measured; None for the larger of the two sides.
    """
    left, right = finite(left, where), finite(right, where)
    bound = left != 0 and right != 0
    if isinstance(left, EXACT) and isinstance(right, EXACT):
        return Compared(right - left, where, exact=True, bound=bound)
    gap, size = float(right - left), _size(left, right, scale, where)
    return Compared(gap / size if size else gap, where, bound=bound)


def _size(left: Number, right: Number, scale: Number | None, where: str) -> float:
    """What a slack is measured against."""
    if scale is not None:
        return float(finite(scale, where))
    return max(abs(float(left)), abs(float(right)))


def at_least(
    left: Number, right: Number, where: str = "", *, scale: Number | None = None
) -> Compared:
    """Compare left >= right; arguments as for `at_most`, but `left` is the larger side."""
    return at_most(right, left, where, scale=scale)


def equal(left: Number, right: Number, where: str = "", *, scale: Number | None = None) -> Compared:
    """Compare left = right; the slack is minus the distance of the sides, relative for floats."""
    left, right = finite(left, where), finite(right, where)
    if isinstance(left, EXACT) and isinstance(right, EXACT):
        distance = right - left
        return Compared(min(distance, -distance), where, exact=True)
    return Compared(-abs(float(right - left)) / (_size(left, right, scale, where) or 1.0), where)


def below(left: Number, right: Number, where: str = "") -> Compared:
    """left < right, strictly: equality fails, and for floats whatever is within rounding of it."""
    found = at_most(left, right, where)
    if found.exact:
        slack = found.slack if found.slack else -1
        return Compared(slack, where, exact=True, bound=found.bound)
    slack = float(found.slack) - 1e-12  # a few thousand roundings
    return Compared(slack, where, bound=found.bound)


def holds(fact: bool, where: str = "") -> Compared:
    """A fact that is true or false."""
    return Compared(0 if fact else -1, where, exact=True, fact=True)


def assume(name: str, holds: bool) -> Assumed:
    """Say whether this instance meets a hypothesis in force at the statement.

    An instance that breaks a hypothesis is no witness: the check stops with an error.

    Args:
        name: the hypothesis, as `hypotheses` of the check lists it.
        holds: what the test of it on this instance gave.
    """
    return Assumed(name, holds)


def left_out(reason: str) -> LeftOut:
    """Say that this instance is left out, by a rule that must not depend on what is tested."""
    return LeftOut(reason)


def undecided(reason: str) -> Undecided:
    """This part of an observation is not decided at the stated level."""
    return Undecided(reason)


def missing(data: str, more: str) -> Undecided:
    """Say that data are missing, so that a statement about these data is undecided."""
    return Undecided(f"{data} {NOT_THERE} {more}")


def count(name: str, number: int = 1) -> Tally:
    """Add a number to the named count."""
    return Tally(name, number, lambda a, b: a + b)


def most(
    name: str, value: Number, digits: int | None = None, origin: str = ROUNDING, unit: str = ""
) -> Tally:
    """Keep the largest value of a named number over all instances."""
    return _tally(name, value, max, digits, origin, unit)


def least(
    name: str, value: Number, digits: int | None = None, origin: str = ROUNDING, unit: str = ""
) -> Tally:
    """Keep the smallest value of a named number over all instances."""
    return _tally(name, value, min, digits, origin, unit)


def result(
    name: str, value: Number, digits: int | None = None, origin: str = ROUNDING, unit: str = ""
) -> Tally:
    """A named number of this instance; of several instances the last one counts."""
    return _tally(name, value, lambda a, b: b, digits, origin, unit)


def _tally(
    name: str,
    value: Number,
    gather: Callable[[Number, Number], Number],
    digits: int | None,
    origin: str,
    unit: str,
) -> Tally:
    """A number with its accuracy: exact ones need none."""
    finite(value, name)
    if digits is None and isinstance(value, EXACT):
        origin = "exact"
    return Tally(name, value, gather, digits, origin, unit)
