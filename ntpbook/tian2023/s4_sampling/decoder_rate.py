"""How many updates of its class a row of the decoder needs for an accuracy (tian2023, Lemma 6).

A class is epsilon-accurate when the probability of all wrong tokens, (M - 1) / (M - 1 + e^(M h)),
is at most epsilon. In continuous time the number of updates is a formula. The recursion (33) runs
ahead of it by a number of updates that is bounded by a logarithm.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ntpcore.tian2023 import decoder

Floats = NDArray[np.float64]


def steps_to_accuracy(M: int, eta: float, epsilon: float) -> float:
    """S = (1/eta) [ (1 - 1/M) (1/epsilon + ln((M - 1)(1 - epsilon)/epsilon)) - 1 ].

    The time at which the solution of (44) is epsilon-accurate.

    Args:
        M: size of the vocabulary.
        eta: eta_Y.
        epsilon: probability left to wrong tokens, below its start 1 - 1/M.

    Raises:
        ValueError: epsilon is not between 0 and 1 - 1/M.
    """
    if not 0 < epsilon <= 1 - 1 / M:
        raise ValueError(f"epsilon = {epsilon}; it lies above 0 and at most at 1 - 1/M")
    odds = math.log(M - 1) + math.log1p(-epsilon) - math.log(epsilon)
    return ((1 - 1 / M) * (1 / epsilon + odds) - 1) / eta


def printed_steps(M: int, K: int, eta: float, epsilon: float) -> float:
    """K / (epsilon eta) ln(M/epsilon), the order of Corollary 1 with a constant of one."""
    return K / (epsilon * eta) * math.log(M / epsilon)


def wrong_probability(M: int, x: float | Floats) -> Floats:
    """(M - 1) / (M - 1 + e^x), what a class of height x = M h leaves to wrong tokens.

    Source: tian2023, equation (71).
    """
    e = np.exp(-np.asarray(x, dtype=np.float64))
    return np.asarray((M - 1) * e / (1 + (M - 1) * e))


def counted_steps(heights: Floats, M: int, epsilon: float) -> int:
    """The first s at which the recursion (33) is epsilon-accurate.

    Args:
        heights: M h*(s) for s = 0, 1, ..., from `decoder.recursion`.
        M: size of the vocabulary.
        epsilon: probability left to wrong tokens.

    Raises:
        ValueError: the recursion is too short.
    """
    need = math.log(M - 1) + math.log1p(-epsilon) - math.log(epsilon)
    s = int(np.searchsorted(heights, need))
    if s == len(heights):
        raise ValueError(f"after {s - 1} updates epsilon = {epsilon} is not reached; run longer")
    return s


def lead(heights: Floats, M: int, eta: float) -> Floats:
    """c(s) with h*(s) = h(s + c(s)): how many updates the recursion is ahead of the flow.

    By equation (45), M eta (s + c) = e^x + (M - 1) x - 1 at x = M h*(s). Each update adds
    e^x (e^D - 1 - D) / (M eta) to c, where D is the change of x; the sum of these does not cancel.

    Args:
        heights: (s + 1,), M h*(s).
        M: size of the vocabulary.
        eta: eta_Y.

    Returns:
        (s + 1,), zero first, nondecreasing.
    """
    # `shift.shifts` of the decoder's page divides in another order; a number of this page differs
    x = heights[:-1]
    e = np.exp(-x)
    change = M * eta * e / (1 + (M - 1) * e)
    small = change**2 * (1 / 2 + change * (1 / 6 + change * (1 / 24 + change / 120)))
    excess = np.where(change < 1e-2, small, np.expm1(change) - change)  # the series errs by 1e-13
    return np.concatenate([[0.0], np.cumsum(excess / e / (M * eta))])


def largest_lead(M: int, eta: float, x: float | Floats) -> Floats:
    """phi(eta) ln((M - 1 + e^x) / M) with phi(u) = (e^u - 1 - u) / u^2, a bound on c(s).

    Args:
        M: size of the vocabulary.
        eta: eta_Y.
        x: M h*(s).
    """
    return np.asarray(
        lead_factor(eta) * (np.logaddexp(math.log(M - 1), np.asarray(x)) - math.log(M))
    )


def lead_factor(eta: float) -> float:
    """phi(eta) = (e^eta - 1 - eta) / eta^2, one half for small eta."""
    if eta < 1e-2:
        return 1 / 2 + eta * (1 / 6 + eta * (1 / 24 + eta / 120))
    return (math.expm1(eta) - eta) / eta**2


def heights_until(M: int, eta: float, epsilon: float) -> Floats:
    """M h*(s) for as many updates as epsilon needs."""
    return decoder.recursion(M, eta, math.ceil(steps_to_accuracy(M, eta, epsilon)) + 1)
