"""How often each class is drawn, and what that does to the decoder (tian2023, Appendix D.4).

The number N_n of draws of class n among N is binomial, and all K numbers together are multinomial.
Under the update (26) a row of the decoder depends on its own N_n only and grows with it, so that
every event of Lemmas 10 to 12 is "N_n lies in a window", with a probability that can be computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln

from ntpcore.tian2023 import decoder

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Radii


def hoeffding_radius(N: int, delta: float) -> float:
    """sqrt(N/2 ln(2/delta)) + 1, the middle of equation (58) (tian2023, Lemma 10)."""
    return math.sqrt(N / 2 * _log_2_over(delta)) + 1


def outer_radius(N: int, delta: float) -> float:
    """sqrt(N ln(2/delta)), the right-hand side of equation (58) (tian2023, Lemma 10)."""
    return math.sqrt(N * _log_2_over(delta))


def bernstein_radius(N: int, p: float, delta: float) -> float:
    """L/3 + sqrt(L^2/9 + 2 N p (1-p) L) with L = ln(2/delta): Bernstein's bound, solved exactly."""
    L = _log_2_over(delta)
    return L / 3 + math.sqrt(L * L / 9 + 2 * N * p * (1 - p) * L)


def remark_radius(N: int, delta: float) -> int:
    """Delta = ceil(sqrt(N ln(1/delta))) (tian2023, Remark 4)."""
    return math.ceil(math.sqrt(N * math.log(1 / delta)))


def _log_2_over(delta: float) -> float:
    """ln(2/delta) for a probability delta strictly between 0 and 1."""
    if not 0 < delta < 1:
        raise ValueError(f"delta = {delta}; a probability strictly between 0 and 1 is needed")
    return math.log(2 / delta)


# One class


def centre(N: int, p: Fraction) -> int:
    """ceil(N P(n)), exactly (tian2023, Lemma 10)."""
    return math.ceil(N * p)


def outside(N: int, p: Fraction, middle: float, radius: float) -> float:
    """P(|N_n - middle| > radius) for a binomial N_n, as two incomplete beta functions.

    Args:
        N: number of draws.
        p: probability of the class.
        middle: centre of the window.
        radius: half its width.
    """
    first, last = math.floor(middle + radius) + 1, math.ceil(middle - radius) - 1
    above = float(betainc(first, N - first + 1, float(p))) if 0 < first <= N else float(first <= 0)
    below = float(betainc(N - last, last + 1, float(1 - p))) if 0 <= last < N else float(last >= N)
    return above + below


def true_radius(N: int, p: Fraction, middle: int, delta: float) -> int:
    """The smallest integer r with P(|N_n - middle| > r) <= delta."""
    low, high = -1, max(N, middle)  # outside at `high` is 0
    while high - low > 1:
        half = (low + high) // 2
        low, high = (low, half) if outside(N, p, middle, half) <= delta else (half, high)
    return high


def outer_worst_case(N: int) -> Fraction:
    """Upper bound of P(|N_n - ceil(N p)| > sqrt(N L)) / delta over all p, for N L <= 6 + 4 sqrt(2).

    With L = ln(2/delta). A radius between m - 1 and m leaves out |N_n - c| >= m, and delta is at
    least 2 exp(-m^2/N). For p in ((c-1)/N, c/N] the upper tail is largest at the right end and the
    lower one at the left end, so that both tails are bounded by fractions; exp is bounded from
    below by a fraction too.

    Args:
        N: number of draws; beyond 16 no delta < 1 has N L <= 6 + 4 sqrt(2).

    Returns:
        a number below 1 if the outer radius is right for this N; 0 where no delta is that large.

    Raises:
        ValueError: N < 1.
    """
    if N < 1:
        raise ValueError(f"N = {N}; at least one draw is needed")
    worst = Fraction(0)
    for m in range(1, 5):
        exponent = min(Fraction(m * m), Fraction(116569, 10000)) / N  # above 6 + 4 sqrt(2)
        delta = 2 * _exp_below(exponent)
        if delta < 1:
            worst = max(worst, _both_tails(N, m) / delta)
    return worst


def _both_tails(N: int, m: int) -> Fraction:
    """The largest sum of the two tails at the ends of the cells of p."""

    def mass(p: Fraction, counts: range) -> Fraction:
        terms = (math.comb(N, k) * p**k * (1 - p) ** (N - k) for k in counts)
        return sum(terms, Fraction(0))

    return max(
        mass(Fraction(c, N), range(c + m, N + 1))
        + mass(Fraction(max(c - 1, 0), N), range(0, c - m + 1))
        for c in range(N + 1)
    )


def _exp_below(x: Fraction) -> Fraction:
    """A fraction just below exp(-x), as the inverse of a sum above exp(x), for 0 < x < 20."""
    terms = 80  # the rest of the series is at most its next term times 2, since x < 40
    total = sum((x**k / math.factorial(k) for k in range(terms)), Fraction(0))
    return 1 / (total + 2 * x**terms / math.factorial(terms))


# All classes together


def all_inside(N: int, K: int, low: int, high: int) -> float:
    """P(low <= N_n <= high for all n) for N draws of K equally likely classes.

    Independent Poisson numbers of mean N/K, given that their sum is N, are multinomial. Their sum
    inside the window is a K-fold convolution, done by one Fourier transform; the error is absolute,
    about 1e-14.

    Args:
        N: number of draws.
        K: number of classes.
        low: smallest number allowed.
        high: largest number allowed.
    """
    low, high = max(low, 0), min(high, N)
    if low > high or low * K > N or high * K < N:
        return 0.0
    weights = _poisson(np.arange(low, high + 1), N / K)
    length = 1 << (K * (high - low)).bit_length()
    at = np.fft.irfft(np.fft.rfft(weights, length) ** K, length)[N - K * low] if high > low else 0
    if high == low:
        at = float(weights[0]) ** K
    return min(1.0, float(at) / float(_poisson(np.array([N]), float(N))[0]))


def _poisson(k: Integers, mean: float) -> Floats:
    """Poisson probabilities without the cancellation between k ln(mean), mean and ln(k!)."""
    k = np.asarray(k, dtype=np.float64)
    safe = np.maximum(k, 1)
    u = (mean - safe) / safe
    series = 1 / (12 * safe) - 1 / (360 * safe**3) + 1 / (1260 * safe**5) - 1 / (1680 * safe**7)
    direct = gammaln(safe + 1) - (safe * np.log(safe) - safe + np.log(2 * math.pi * safe) / 2)
    stirling = np.where(safe < 20, direct, series)
    out = np.exp(safe * (np.log1p(u) - u) - stirling) / np.sqrt(2 * math.pi * safe)
    return np.where(k == 0, math.exp(-mean), out)


def joint_radius(N: int, K: int, delta: float) -> int:
    """The smallest integer r with |N_n - ceil(N/K)| <= r for all n with probability 1 - delta."""
    middle = -(-N // K)
    low, high = -1, 1
    while all_inside(N, K, middle - high, middle + high) < 1 - delta:
        low, high = high, 2 * high
    while high - low > 1:
        half = (low + high) // 2
        good = all_inside(N, K, middle - half, middle + half) >= 1 - delta
        low, high = (low, half) if good else (half, high)
    return high


# Rows of the decoder


def row_errors(M: int, K: int, eta: float, N: int, counts: Integers) -> Floats:
    """theta of each count: M h*(N_n) / (M h(ceil(N/K))) - 1 (tian2023, Lemma 12).

    Args:
        M: size of the vocabulary.
        K: number of classes.
        eta: eta_Y.
        N: number of draws.
        counts: any shape, how often a class was drawn.

    Returns:
        the same shape; nondecreasing in the count.
    """
    heights = decoder.recursion(M, eta, int(counts.max()))
    return np.asarray(heights[counts] / float(decoder.height(M, eta * -(-N // K))) - 1)


def row_error_quantile(M: int, K: int, eta: float, N: int, delta: float) -> float:
    """The smallest b with |theta_n| <= b for all n with probability 1 - delta, exactly.

    Args:
        M: size of the vocabulary.
        K: number of classes, equally likely.
        eta: eta_Y.
        N: number of draws.
        delta: probability of failure, well above 1e-12.
    """
    counts, theta = _table(M, K, eta, N)
    sizes = np.unique(np.abs(theta))
    low, high = -1, len(sizes) - 1
    while high - low > 1:
        half = (low + high) // 2
        good = _chance(counts, theta, K, N, float(sizes[half])) >= 1 - delta
        low, high = (low, half) if good else (half, high)
    return float(sizes[high])


def row_error_chances(M: int, K: int, eta: float, N: int, bounds: Sequence[float]) -> list[float]:
    """P(|theta_n| <= bound for all n) for each bound, up to 1e-12."""
    counts, theta = _table(M, K, eta, N)
    return [_chance(counts, theta, K, N, bound) for bound in bounds]


def sampled_row_errors(
    rng: np.random.Generator, M: int, K: int, eta: float, N: int, runs: int
) -> Floats:
    """max_n |theta_n| of runs that draw their classes at random, (runs,)."""
    counts = rng.multinomial(N, np.full(K, 1 / K), size=runs)
    return np.asarray(np.abs(row_errors(M, K, eta, N, counts)).max(axis=1))


def _table(M: int, K: int, eta: float, N: int) -> tuple[Integers, Floats]:
    """theta for all counts but those that together have a probability below 1e-12."""
    reach = math.ceil(bernstein_radius(N, 1 / K, 1e-12 / K)) + 1
    middle = -(-N // K)
    counts = np.arange(max(0, middle - reach), min(N, middle + reach) + 1)
    return counts, row_errors(M, K, eta, N, counts)


def _chance(counts: Integers, theta: Floats, K: int, N: int, bound: float) -> float:
    """P(|theta| <= bound for all classes); theta grows with the count, so this is a window."""
    inside = counts[np.abs(theta) <= bound]
    return all_inside(N, K, int(inside[0]), int(inside[-1])) if len(inside) else 0.0
