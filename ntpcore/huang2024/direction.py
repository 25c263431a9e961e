"""The bounds of Theorems A and B, and the trivial one that they have to beat.

All under Assumptions 1 to 3, where every next token is n of a token of its sentence, from
W_kq = 0, after at least one step of stage 1: for any step size eta, any gap A > 0, any t >= 1.
S = ||W_kq_star||^2, L is the longest sentence, pi_min the least share of a sample that compares.
A larger L or a smaller pi_min gives a bound that holds, too: `problem.Problem` has those of all
samples, `later_bounds.compared` and certificates (item 4) those of the samples that compare.
"""

from __future__ import annotations

import math
from collections.abc import Callable


def K(max_length: int, log_pi_min: float) -> float:
    """log(2 L^2 (L - 1)^3 / pi_min), the constant of Theorem A.

    Args:
        max_length: L, at least 2.
        log_pi_min: log of the least share.

    Raises:
        ValueError: L is below 2, so that no sentence compares two tokens.
    """
    if max_length < 2:
        raise ValueError(f"L is {max_length}; a sentence that compares two tokens has at least 2")
    return math.log(most_rivals(max_length)) - log_pi_min


def most_rivals(max_length: int) -> int:
    """2 L^2 (L - 1)^3, whose quotient with pi_min has the logarithm `K`."""
    return 2 * max_length**2 * (max_length - 1) ** 3


def tan_squared(S: float, K: float, eta: float, t: float) -> float:
    """(2 S / t) (1 + sqrt(2) K / eta), which bounds ||y||^2 / x^2 (Theorem B)."""
    return 2 * S / t * (1 + math.sqrt(2) * K / eta)


def one_minus_cos_linear(S: float, K: float, eta: float, t: float) -> float:
    """Half of `tan_squared`, the readable bound on 1 - cos; it may exceed 1 (Theorem B)."""
    return tan_squared(S, K, eta, t) / 2


def one_minus_cos(S: float, K: float, eta: float, t: float) -> float:
    """1 - (1 + tan^2)^(-1/2) at `tan_squared`, below 1 for every t (Theorem B)."""
    return -math.expm1(-math.log1p(tan_squared(S, K, eta, t)) / 2)


def one_minus_cos_trivial(S: float) -> float:
    """1 - 1 / (sqrt(2) ||W_kq_star||), what the norm bounds alone give from the first step on."""
    return 1 - 1 / math.sqrt(2 * S)


def margins_from(S: float, K: float, eta: float) -> float:
    """t_A = 32 S^2 max(1, sqrt(2) K / eta), from which `least_margin` holds (Theorem B)."""
    return 32 * S**2 * max(1.0, math.sqrt(2) * K / eta)


def least_margin(S: float, eta: float, t: float) -> float:
    """t eta / (2 sqrt(2) S), which every W[o, q] - W[j, q] reaches from `margins_from` on."""
    return t * eta / (2 * math.sqrt(2) * S)


def log_loss_excess(max_length: int, A: float, S: float, eta: float, t: float) -> float:
    """Log of 2 A (L - 1) exp(-t eta / (2 sqrt(2) S)), which bounds L - L_star from `margins_from`.

    L_star = log(1 + (|V| - 1) e^-A) is the loss that stage 1 leaves where attention is one-hot.
    """
    return math.log(2 * A * (max_length - 1)) - least_margin(S, eta, t)


def separated_from(S: float, K: float, eta: float, mu: float) -> float:
    """8 S^2 (1 + sqrt(2) K / eta) / mu^2, from which `least_separation` holds (`ours-separation`).

    mu is the least |W_kq_star[x, q]| of a token x that is compared under q.
    """
    return 4 * S * tan_squared(S, K, eta, 1.0) / mu**2


def least_separation(S: float, eta: float, mu: float, t: float) -> float:
    """mu t eta / (2 sqrt(2) S), which |W[x, q]| of every compared token reaches from then on."""
    return mu * least_margin(S, eta, t)


def first_step(bound: Callable[[float], float], level: float) -> int:
    """The first t >= 1 at which a decreasing bound is below a level.

    Raises:
        ValueError: it is not below at t = 2^60.
    """
    high = 1
    while bound(high) >= level:
        high *= 2
        if high > 2**60:
            raise ValueError(f"the bound stays above {level}")
    low = high // 2  # 0, or a step at which it is not below
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bound(middle) >= level else (low, middle)
    return high
