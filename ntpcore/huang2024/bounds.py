"""The right-hand side of every inequality of huang2024 on training, as stated and as corrected.

The text at hand is a damaged scan. Each uncertain constant or exponent is a parameter whose default
is the likeliest reading; `READINGS` lists the other readings. Bounds that may leave the range of a
float are returned as logarithms (`log_...`) and take log t, so that they work for any t.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ntpcore.exact.margin import Solution
from ntpcore.huang2024 import direction, stage1
from ntpcore.huang2024.problem import Problem

Floats = NDArray[np.float64]
Times = TypeVar("Times", float, Floats)

N = "N"  # the number of distinct samples, as printed
PI_MIN = "1/pi_min"  # one over the smallest frequency, as corrected

READINGS: dict[str, dict[str, tuple[float, ...]]] = {
    "huang2024-cor-1": {"power": (5, 7)},
    "huang2024-lem-7": {"factor": (4, 8)},
    "huang2024-thm-1": {"factor": (54, 53)},
    "huang2024-thm-2": {"c0": (1696, 1728, 864, 432)},
    "huang2024-thm-3": {"length_power": (1, 2)},
}


@dataclass(frozen=True)
class Constants:
    """The quantities that the bounds depend on.

    Attributes:
        vocab_size: |V|, the number of tokens.
        sample_count: N, the number of distinct samples.
        max_length: L_max, the length of the longest sentence.
        norm_ov: ||W_ov_star||, norm of the max-margin solution of stage 1.
        norm_kq: ||W_kq_star||, norm of the max-margin solution of stage 2.
        log_pi_min: log of the smallest frequency of a sample.
        eta0: step size of stage 1.
        eta: step size of stage 2.
        steps1: T, the number of steps of stage 1.
    """

    vocab_size: int
    sample_count: int
    max_length: int
    norm_ov: float
    norm_kq: float
    log_pi_min: float
    eta0: float
    eta: float
    steps1: int

    @property
    def C0(self) -> float:
        """C_0 = eta0 / (4 ||W_ov_star||^2), so that the gap A as stated is C_0 T (Theorem 2)."""
        return self.eta0 / (4 * self.norm_ov**2)

    @property
    def C1(self) -> float:
        """C_1 = eta / (4 L_max ||W_kq_star||^2) (Theorem 2)."""
        return self.eta / (4 * self.max_length * self.norm_kq**2)

    def log_rarity(self, rarity: str) -> float:
        """Log of N (as stated) or of 1 / pi_min (as corrected), as `rarity` says.

        Raises:
            ValueError: `rarity` is neither `N` nor `PI_MIN`.
        """
        if rarity == N:
            return math.log(self.sample_count)
        if rarity == PI_MIN:
            return -self.log_pi_min
        raise ValueError(f"rarity is {rarity!r}; give {N!r} or {PI_MIN!r}")


def constants(problem: Problem, eta0: float, eta: float, steps1: int) -> Constants:
    """The constants of a problem with step sizes eta0 and eta and `steps1` steps of stage 1."""
    return Constants(
        problem.vocab_size,
        problem.sample_count,
        problem.max_length,
        stage1.norm_star(problem.vocab_size),
        problem.norm,
        problem.log_pi_min,
        eta0,
        eta,
        steps1,
    )


# Stage 1


def prop_1_norm(c: Constants, t: Times) -> tuple[Times, Times]:
    """Lower and upper bound on ||W_ov|| after t >= 2 steps (Proposition 1).

    The bounds are t eta0 / (2 ||W_ov_star||) and t eta0.
    """
    return lem_1_norm(c, t)


def log_prop_1_direction(
    c: Constants, log_t: Times, *, factor: float = 12, power: float = 3
) -> Times:
    """Log of the upper bound on 1 - cos(W_ov, W_ov_star) for t >= 2 (Proposition 1).

    The bound is factor ||W_ov_star||^power log(2|V|) log t / (t eta0). The exact 1 - cos is 0.
    """
    fixed = math.log(factor * c.norm_ov**power * math.log(2 * c.vocab_size) / c.eta0)
    value: Times = fixed + np.log(log_t) - log_t
    return value


def prop_1_loss_rate(c: Constants, *, exact: bool = False) -> float:
    """Rate r of L_0 = O(e^(-r t)): eta0 / (4 ||W_ov_star||) as stated, 4 times that if `exact`."""
    return c.eta0 / c.norm_ov / (1 if exact else 4)


def lem_1_norm(c: Constants, t: Times, start: float = 0.0) -> tuple[Times, Times]:
    """Lower and upper bound on ||W_ov|| after t steps from ||W_ov|| = start (Lemma 1)."""
    return t * c.eta0 / (2 * c.norm_ov) - start, t * c.eta0 + start


def lem_1_cosine(c: Constants) -> float:
    """Upper bound on the cosine of W_ov_star and the gradient (5), from the proof of Lemma 1."""
    return -1 / (2 * c.norm_ov)


def lem_2_factor(c: Constants, norm: Times) -> Times:
    """The factor 1 + 2 ||W_ov_star|| log(2|V|) / ||W_ov|| of Lemma 2.

    For the gradient G at W_ov, <G, W_ov> / ||W_ov|| >= factor <G, W_ov_star> / ||W_ov_star||.
    """
    return 1 + 2 * c.norm_ov * math.log(2 * c.vocab_size) / norm


def log_cor_1_condition(c: Constants, log_T: Times, *, power: float = 5) -> Times:
    """Log of the ratio 384 ||W_ov_star||^power log(2|V|) log T / (T eta0) (Corollary 1).

    The corollary assumes a ratio of at most 1. It states the power 5; its proof needs 7.
    """
    fixed = math.log(384 * c.norm_ov**power * math.log(2 * c.vocab_size) / c.eta0)
    value: Times = fixed + np.log(log_T) - log_T
    return value


def cor_1_interval(c: Constants) -> tuple[float, float]:
    """Lower and upper bound A and 3 A on the gaps after T steps (Corollary 1).

    A = T eta0 / (4 ||W_ov_star||^2). A gap is W_ov[n(x), x] - W_ov[v, x] with v other than n(x).
    """
    return c.steps1 * c.C0, 3 * c.steps1 * c.C0


def cor_1_corrected(c: Constants) -> float:
    """The gap after T >= 1 steps, T eta0 / sqrt(|V| - 1) (Corollary 1, corrected)."""
    return stage1.gap(c.vocab_size, c.steps1, c.eta0)


# Stage 2


def lem_5_weight(c: Constants) -> float:
    """1 / L_max, a lower bound on the attention weight of an optimal position (Lemma 5)."""
    return 1 / c.max_length


def lem_6_norm(c: Constants, t: Times, start: float = 0.0) -> tuple[Times, Times]:
    """Lower and upper bound on ||W_kq|| after t steps from ||W_kq|| = start (Lemma 6)."""
    return t * c.eta / (2 * c.max_length * c.norm_kq) - start, t * c.eta + start


def lem_6_cosine(c: Constants, weight: Times) -> Times:
    """Upper bound on the cosine of W_kq_star and the gradient (6), from the proof of Lemma 6.

    The bound is -w / (2 ||W_kq_star||), w being the least attention weight of an optimal position.
    With w = 1 / L_max (Lemma 5), this bound gives the lower bound on the norm.
    """
    return -weight / (2 * c.norm_kq)


def lem_7_start(c: Constants) -> int:
    """The step number t_0 = ceil(8 L_max ||W_kq_star||^2 / eta) of Lemma 7."""
    return math.ceil(8 * c.max_length * c.norm_kq**2 / c.eta)


def log_lem_7_alpha(c: Constants, norm: Times, *, factor: float = 4, rarity: str = N) -> Times:
    """Log of alpha_t = factor N L_max^2 ||W_kq_star||^2 (1 + log(2 L_max ||W||)) / ||W|| (Lemma 7).

    W is W_kq after t steps. The later constant 8 N L_max^3 ||W_kq_star||^3 implies the factor 4.
    The proof needs 2 (N + 3) in place of factor N: 4 N suffices for N >= 3, 8 N for every N.
    As corrected, 1 / pi_min replaces N.
    """
    fixed = math.log(factor * (c.max_length * c.norm_kq) ** 2) + c.log_rarity(rarity)
    value: Times = fixed - np.log(norm) + np.log1p(np.log(2 * c.max_length * norm))
    return value


def thm_1_norm(c: Constants, t: Times) -> tuple[Times, Times]:
    """Lower and upper bound on ||W_kq|| after t >= 2 steps (Theorem 1)."""
    return lem_6_norm(c, t)


def thm_1_largest_eta(c: Constants) -> float:
    """The largest eta that the proof of Theorem 1 allows, ||W_kq_star|| / e; stated as O(1)."""
    return c.norm_kq / math.e


def log_thm_1_direction(
    c: Constants,
    log_t: Times,
    *,
    factor: float = 54,
    length_power: float = 4,
    norm_power: float = 4,
    rarity: str = N,
) -> Times:
    """Log of the upper bound on 1 - cos(W_kq, W_kq_star) for t >= 2 (Theorem 1).

    The bound is factor N L_max^length_power ||W_kq_star||^norm_power log^2 t / (t eta). The
    defaults are read off the proofs of Theorems 2 and 3; the constant 1696 = 32 * 53 of Theorem 2
    would imply the factor 53. As corrected, 1 / pi_min replaces N.
    """
    fixed = math.log(factor) + c.log_rarity(rarity) + length_power * math.log(c.max_length)
    fixed += norm_power * math.log(c.norm_kq) - math.log(c.eta)
    value: Times = fixed + 2 * np.log(log_t) - log_t
    return value


def log_thm_2_condition_1(c: Constants, log_T: Times, *, c0: float = 384) -> Times:
    """Log of the ratio c0 ||W_ov_star||^5 log|V| log T / (T eta0) (Theorem 2).

    The theorem assumes a ratio of at most 1.
    """
    fixed = math.log(c0 * c.norm_ov**5 * math.log(c.vocab_size) / c.eta0)
    value: Times = fixed + np.log(log_T) - log_T
    return value


def log_thm_2_condition_2(
    c: Constants, log_t: Times, *, c0: float = 1696, length_power: float = 4, rarity: str = N
) -> Times:
    """Log of the ratio c0 N L_max^length_power ||W_kq_star||^6 log^2 t / (t eta) (Theorem 2).

    The theorem assumes a ratio of at most 1. Its statement has an absolute constant c0; its proof
    has what looks like 1696. With the factor 54 of Theorem 1, the displayed step of the proof needs
    32 * 54 = 1728. A proof that keeps the norm of W_kq needs 16 * 54 = 864, and 8 * 54 = 432 if
    |a - b|^2 = 2 (1 - cos) loses its factor 2. As corrected, 1 / pi_min replaces N.
    """
    fixed = math.log(c0) + c.log_rarity(rarity) + length_power * math.log(c.max_length)
    fixed += 6 * math.log(c.norm_kq) - math.log(c.eta)
    value: Times = fixed + 2 * np.log(log_t) - log_t
    return value


def thm_2_log_odds(c: Constants, t: Times) -> Times:
    """Lower bound on log m_o / (1 - m_o), m_o being the attention mass on the optimal token.

    Equivalently, m_o >= 1 / (1 + L_max e^(-C_1 t)) (Theorem 2).
    """
    return t * c.C1 - math.log(c.max_length)


def log_eq_4_loss(c: Constants, t: Times) -> Times:
    """Log of the upper bound |V| exp(-T C_0 (1 - 2 L_max / (L_max + e^(C_1 t)))) on the loss L.

    This is equation (4). It uses the gap A = C_0 T as stated, a lower bound on the exact gap.
    """
    left = 2 / (1 + np.exp(np.minimum(thm_2_log_odds(c, t), 700.0)))  # e^700 is near the largest
    value: Times = math.log(c.vocab_size) - c.steps1 * c.C0 * (1 - left)
    return value


def eq_13_gap(c: Constants, t: Times) -> Times:
    """Lower bound t eta / (4 L_max ||W_kq_star||^2) on W_kq[o, q] - W_kq[j, q] (equation (13)).

    Under query q, o is an optimal and j a non-optimal token of one sentence.
    """
    return t * c.C1


def loss_floor_printed(c: Constants) -> float:
    """|V| e^(-C_0 T), the least loss according to footnote 3."""
    return c.vocab_size * math.exp(-c.steps1 * c.C0)


def loss_floor(c: Constants) -> float:
    """The least loss at the W_ov of stage 1, log(1 + (|V| - 1) e^-A) with the exact gap A."""
    return math.log1p((c.vocab_size - 1) * math.exp(-cor_1_corrected(c)))


def loss_excess_rate(c: Constants, *, exact: bool = False) -> float:
    """Rate r at which the loss L tends to its least value L_star, L - L_star = O(e^(-r t)).

    The rate is C_1 by equation (4); if `exact`, the observed eta / ||W_kq_star||.
    """
    return c.eta / c.norm_kq if exact else c.C1


# Theorem 3


def thm_3_slope_printed(c: Constants, *, length_power: float = 1) -> float:
    """Slope eta / (2 L_max^length_power ||W_kq_star||^2) that the proof of Theorem 3 leads to.

    The proof bounds the smallest |W_kq_star[x, q]| of a compared token x from below by 1 / L_max
    (length_power 2) or by 1 (length_power 1).
    """
    return c.eta / (2 * math.pow(c.max_length, length_power) * c.norm_kq**2)


def thm_3_slope(c: Constants, solutions: Iterable[Solution]) -> float:
    """Limit of min |W_kq[x, q]| / t over all compared tokens x (Theorem 3, with its constant).

    In W_kq_star, a block of k optimal and m non-optimal tokens has scores m / (k + m) and
    -k / (k + m). So the limit is the least eta min(k, m) / ((k + m) ||W_kq_star||) of all blocks.
    """
    least = min(
        Fraction(min(block.size), sum(block.size))
        for solution in solutions
        for block in solution.blocks
    )
    return c.eta * float(least) / c.norm_kq


# From when a bound says something


def bites_from(log_bound: Callable[[float], float], log_level: float = 0.0) -> float:
    """log t from which an upper bound stays below a level; the default level is 1.

    Args:
        log_bound: log of the bound as a function of log t, decreasing from t = e^2 on, as
            log^2 t / t and log t / t are.
        log_level: log of the level.

    Returns:
        the smallest such log t >= 2; inf if no such log t is below 1e300.
    """

    def above(log_t: float) -> bool:
        return bool(log_bound(log_t) >= log_level)

    low, high = 2.0, 4.0
    if not above(low):
        return low
    while above(high):
        low, high = high, 2 * high
        if high > 1e300:
            return math.inf
    while True:  # until no float lies between
        middle = (low + high) / 2
        if middle in (low, high):
            return high
        low, high = (middle, high) if above(middle) else (low, middle)


def thm_1_speaks_from(c: Constants, *, rarity: str = N) -> float:
    """log t from which Theorem 1's bound on 1 - cos is below the one that norm bounds alone give.

    The result is inf for a single comparable pair, where the norm bounds alone give 1 - cos = 0.

    Args:
        c: the constants of the data and the step sizes.
        rarity: N as stated, or PI_MIN to replace N with 1 / pi_min.
    """
    if 2 * c.norm_kq**2 <= 1 + 1e-9:  # a sum of rounded squares
        return math.inf
    level = direction.one_minus_cos_trivial(c.norm_kq**2)
    return bites_from(lambda s: float(log_thm_1_direction(c, s, rarity=rarity)), math.log(level))
