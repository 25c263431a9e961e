"""Numbers as a sentence says them."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from ntpverdicts.maths import DIGITS, in_tex


def written(value: float, digits: int = 2) -> str:
    """A number for a sentence: 0.012, 340, or 3.4·10⁷ where zeros would have to be counted."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        text = f"{value:.{digits}g}"
        return f"{float(text):.0f}" if "e" in text else text
    return written_power(math.log10(abs(value)), digits, "−" if value < 0 else "")


def to_digits(value: float, digits: int, side: int = 0) -> str:
    """A number with so many digits, as Python prints it.

    Args:
        value: the number.
        digits: how many.
        side: 1 to round up, as a number that a sentence calls an upper bound has to be; -1 to round
            down; 0 for the nearest. What differs from the nearest by rounding alone is the nearest.
    """
    nearest = f"{value:.{digits}g}"
    if not side or side * (value - float(nearest)) <= 1e-9 * abs(value):
        return nearest
    context = Context(prec=digits, rounding=ROUND_CEILING if side > 0 else ROUND_FLOOR)
    return f"{float(context.create_decimal_from_float(value)):.{digits}g}"


def written_power(exponent: float, digits: int = 2, sign: str = "") -> str:
    """10 to a power that may be beyond all floats."""
    if -3 <= exponent < 5 and not sign:
        return written(10**exponent, digits)
    whole = math.floor(exponent)
    factor = f"{10 ** (exponent - whole):.{digits}g}"
    if float(factor) == 10:
        factor, whole = "1", whole + 1
    power = f"10{str(whole).translate(DIGITS)}"
    return f"{sign}{power}" if float(factor) == 1 else f"{sign}{factor}·{power}"


def amount(value: Fraction | int, digits: int = 3) -> str:
    """A number as a fraction, or in decimals where the denominator is above a million."""
    found = Fraction(value)
    if found.denominator <= 10**6:
        return str(found)
    size = math.log10(abs(found.numerator)) - math.log10(found.denominator)
    return written_power(size, digits, "−" if found < 0 else "")


def whole(number: int, digits: int = 4) -> str:
    """A whole number for a text; from a billion on as a power of ten with so many digits."""
    if abs(number) < 10**9:
        return str(number)
    return f"${in_tex(f'{Decimal(number):.{digits - 1}e}')}$"


def counted(number: int, plural: str) -> str:
    """So many of what a phrase names in the plural: "1 query", "3 queries"."""
    return f"{number} {singular(plural) if number == 1 else plural}"


def interval(low: Fraction | float, high: Fraction | float, digits: int = 4) -> str:
    """The interval from low to high as a formula, with its ends rounded outwards.

    An interval whose rounded ends are equal is one number, exactly.

    Args:
        low: the left end.
        high: the right end.
        digits: how many of each end are shown.
    """
    ends = [
        in_tex(_rounded(end, digits, side))
        for end, side in ((low, ROUND_FLOOR), (high, ROUND_CEILING))
    ]
    return f"$[{ends[0]}, {ends[1]}]$" if ends[0] != ends[1] else f"${ends[0]}$"


def _rounded(value: Fraction | float, digits: int, side: str) -> str:
    """A number rounded to a side, strictly, as Python prints it."""
    found = Fraction(value)
    context = Context(prec=digits, rounding=side)
    decimal = context.divide(Decimal(found.numerator), Decimal(found.denominator))
    return f"{float(decimal):.{digits}g}"


def power_of_e(exponent: float) -> str:
    r"""e to a power of three digits as TeX: `e^{2360}`, `e^{4.46\cdot 10^{6}}`."""
    if exponent >= 1e6:
        return rf"e^{{{in_tex(f'{exponent:.2e}')}}}"
    return f"e^{{{float(f'{exponent:.3g}'):.6g}}}"


def singular(plural: str) -> str:
    """One of what a phrase names in the plural: "partial orders", "runs from any start"."""
    words = plural.split(" ")
    ends = [
        place for place, word in enumerate(words) if word in _PREPOSITIONS or word.startswith("$")
    ]
    head = (ends[0] if ends else len(words)) - 1
    words[head] = _singular_word(words[head])
    return " ".join(words)


_PREPOSITIONS = ("of", "with", "from", "to", "and", "in", "that")
_IRREGULAR = {"matrices": "matrix", "series": "series", "vertices": "vertex"}


def _singular_word(word: str) -> str:
    """One noun in the singular."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")
