"""How far the shares of tokens in a sequence lie from their probabilities (tian2023, Appendix H).

Of the T - 1 contextual tokens of a class, (T - 1) q_l are the token l, a binomial number; together
they are multinomial. Failure probabilities are computed from these laws, not sampled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

Floats = NDArray[np.float64]


def radius(length: int, delta: float, tokens: int = 1) -> float:
    """sqrt(ln(2 tokens / delta) / (2 length)), Hoeffding's radius for one or several tokens.

    Args:
        length: number of contextual tokens, T - 1 in the paper.
        delta: allowed probability of failure.
        tokens: over how many tokens the failure is spread; 1 in the paper (Lemma 18).

    Raises:
        ValueError: no token, an empty sequence, or delta outside (0, 1).
    """
    if length < 1 or tokens < 1 or not 0 < delta < 1:
        raise ValueError(
            f"length {length}, delta {delta}, {tokens} tokens; a sequence and a token at least "
            "and delta between 0 and 1 are needed"
        )
    return math.sqrt(math.log(2 * tokens / delta) / (2 * length))


def uniform_radius(length: int, delta: float, tokens: int) -> float:
    """A radius for all tokens at once: the smaller one of two (ours).

    The first spreads delta over the tokens. The second, twice the radius of one token, comes from
    the uniform bound on distribution functions (Dvoretzky, Kiefer and Wolfowitz, with Massart's
    constant): a probability is a difference of two values of one.
    """
    return min(radius(length, delta, tokens), 2 * radius(length, delta))


def inside(length: int, p: Fraction | float, r: Fraction | float) -> tuple[int, int]:
    """Smallest and largest count k with |k / length - p| <= r."""
    return max(0, math.ceil(length * (p - r))), min(length, math.floor(length * (p + r)))


def token_failure(length: int, p: float, r: float) -> float:
    """P(|q_l - p| > r) for one token of probability p, from the binomial law."""
    low, high = inside(length, p, r)
    return float(binom.cdf(low - 1, length, p) + binom.sf(high, length, p))


def joint_failure(length: int, p: Sequence[Fraction], r: Fraction) -> Fraction:
    """P(|q_l - p_l| > r for some token l), exactly, from the multinomial law.

    The coefficient of x^length in the product over tokens of sum_k (p_l x)^k / k!, taken over the
    counts k that are allowed, is the probability that all are, divided by length!.

    Args:
        length: number of contextual tokens.
        p: probabilities of the tokens, which sum to 1.
        r: radius.

    Raises:
        ValueError: the probabilities do not sum to 1.
    """
    if sum(p) != 1:
        raise ValueError(f"the probabilities sum to {sum(p)}, not to 1")
    product = [Fraction(1)] + [Fraction(0)] * length
    for one in p:
        low, high = inside(length, one, r)
        term = [
            one**k / math.factorial(k) if low <= k <= high else Fraction(0)
            for k in range(length + 1)
        ]
        product = [
            sum((product[j] * term[k - j] for j in range(k + 1) if term[k - j]), Fraction(0))
            for k in range(length + 1)
        ]
    return 1 - product[length] * math.factorial(length)


def even_failure(length: int, tokens: int, r: float) -> float:
    """`joint_failure` for equally likely tokens, in floating point, for larger sizes."""
    low, high = inside(length, 1 / tokens, r)
    k = np.arange(length + 1)
    logs = np.array([math.lgamma(int(j) + 1) for j in k])
    allowed = (low <= k) & (k <= high)
    if not allowed.any():
        return 1.0
    # the coefficients of a Poisson law with the same mean for each token keep numbers near one
    mean = length / tokens
    term = np.where(allowed, np.exp(k * math.log(mean) - logs - mean), 0.0)
    product, square, left = np.eye(1, length + 1)[0], term, tokens
    while left:
        if left % 2:
            product = np.convolve(product, square)[: length + 1]
        square, left = np.convolve(square, square)[: length + 1], left // 2
    whole = math.exp(length * math.log(length) - math.lgamma(length + 1) - length)
    return float(1 - product[length] / whole)


def distance_constant(P: Floats, z: Floats) -> float:
    """The limit of sqrt(T - 1) E |X^T b - c|_1 for contexts drawn from P (ours, delta method).

    c depends on the shares q by dc_l/dq_j = (delta_lj e^(z_l) - c_l e^(z_j)) / S with
    S = sum_j P_j e^(z_j), and sqrt(T - 1) (q - P) tends to a Gaussian with covariance
    diag(P) - P P^T.

    Args:
        P: (M,), probabilities of the contextual tokens.
        z: (M,), the row of Z of the query.
    """
    e = np.exp(z - z.max())
    S = P @ e
    slopes = (np.diag(e) - np.outer(P * e / S, e)) / S
    variances = (slopes**2) @ P - (slopes @ P) ** 2
    return float(np.sqrt(2 / math.pi) * np.sqrt(np.maximum(variances, 0)).sum())
