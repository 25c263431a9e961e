"""By how much time the recursion h* runs ahead of the curve h (tian2023, Lemma 7 and Remark 2).

The curve takes the time T(x) = (e^x + (M - 1) x - 1) / (M eta) to reach the height x = M h. The
shift after s updates is c(s) = T(M h*(s)) - s, so that h*(s) = h(s + c(s)) exactly. With
y = M h*(s) and the step g = M eta / (M - 1 + e^y), one update adds e^y (e^g - 1 - g) / (M eta).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SMALL = 1e-2  # below it e^g - 1 - g is summed as a series, which cancels nothing


def passage_time(M: int, eta: float, x: float | Floats) -> Floats:
    """T(x): the number of updates s, not a whole one, at which M h(s) = x.

    Source: tian2023, equation (45), solved for the time.
    """
    x = np.asarray(x, dtype=np.float64)
    return np.asarray((np.expm1(x) + (M - 1) * x) / (M * eta))


def shifts(M: int, eta: float, y: Floats) -> Floats:
    """c(s) for every s, summed step by step.

    Args:
        M: size of the vocabulary.
        eta: eta_Y.
        y: (steps + 1,), M h* as `decoder.recursion` gives it.

    Returns:
        (steps + 1,), zero first, increasing.
    """
    before = y[:-1]
    decayed = np.exp(-before)
    g = M * eta * decayed / (1 + (M - 1) * decayed)
    series = g**2 / 2 * (1 + g / 3 * (1 + g / 4 * (1 + g / 5 * (1 + g / 6))))
    excess = np.where(g < SMALL, series, np.expm1(g) - g)
    # e^y / (M eta) = (1/g) e^y / (M - 1 + e^y), which cannot overflow
    added = excess / g / (1 + (M - 1) * decayed)
    return np.concatenate([[0.0], np.cumsum(added)])


def shift_level(M: int, y: float | Floats) -> Floats:
    """L = ln((M - 1 + e^y) / M), twice the leading term of c(s) at y = M h*(s)."""
    y = np.asarray(y, dtype=np.float64)
    return np.asarray(y + np.log1p((M - 1) * np.exp(-y)) - math.log(M))


def shift_bounds(M: int, eta: float, y: float | Floats) -> tuple[Floats, Floats]:
    """(L - eta) / 2 <= c(s) <= (L + e^eta (e^eta - 1) / 2) / 2 with L of `shift_level`.

    Both are proved on the page of the decoder.
    """
    level = shift_level(M, y)
    above = math.exp(eta) * math.expm1(eta) / 2
    return np.asarray((level - eta) / 2), np.asarray((level + above) / 2)


def passes(M: int, eta: float, target: float) -> float:
    """A number of updates from which on c(s) >= target, by the lower bound.

    h* is never below h, so that M h* has reached ln(M) + 2 target + eta when M h has.

    Args:
        M: size of the vocabulary.
        eta: eta_Y.
        target: a shift, at least 0.
    """
    return float(passage_time(M, eta, math.log(M) + 2 * target + eta))
