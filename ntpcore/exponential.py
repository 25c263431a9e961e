"""Exponentials without branches and calls, so that compiled loops use vector instructions."""

from __future__ import annotations

import numpy as np

from ntpcore.compiled import compiled_with

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
ROUND = 1.5 * 2.0**52  # adding it rounds to an integer, which then stands in the lowest bits
SAFE = {"contract", "nsz", "nnan", "ninf"}  # not "reassoc": it would cancel ROUND


@compiled_with(fastmath=SAFE)
def reduced(r: float) -> float:
    """e^r - 1 for |r| <= log(2) / 2: the next term of the series is below 2^-52.

    Summed in pairs, so that no term has to wait for all others.
    """
    square = r * r
    fourth = square * square
    low = (1.0 + r * 0.5) + square * (1.0 / 6.0 + r * (1.0 / 24.0))
    middle = (1.0 / 120.0 + r * (1.0 / 720.0)) + square * (1.0 / 5040.0 + r * (1.0 / 40320.0))
    high = (1.0 / 362880.0 + r * (1.0 / 3628800.0)) + square * (
        1.0 / 39916800.0 + r * (1.0 / 479001600.0)
    )
    p = low + fourth * (middle + fourth * high)
    value: float = p * r
    return value


@compiled_with(fastmath=SAFE)
def power_of_two(n: float) -> float:
    """2^n for an integer n from -1022 to 1023, by its bits."""
    bits = (np.float64(n + ROUND).view(np.int64) + np.int64(1023)) << np.int64(52)
    power: float = np.int64(bits).view(np.float64)
    return power


@compiled_with(fastmath=SAFE)
def fast_exp(x: float) -> float:
    """e^x for |x| < 700, without branches and calls, so that loops use vector instructions."""
    n = x * LOG2_E + ROUND - ROUND
    power = power_of_two(n)
    value: float = reduced(x - n * LN2_HIGH - n * LN2_LOW) * power + power
    return value


@compiled_with(fastmath=SAFE)
def fast_expm1(x: float) -> float:
    """e^x - 1 for |x| < 700, likewise."""
    n = x * LOG2_E + ROUND - ROUND
    power = power_of_two(n)
    value: float = reduced(x - n * LN2_HIGH - n * LN2_LOW) * power + (power - 1.0)
    return value
