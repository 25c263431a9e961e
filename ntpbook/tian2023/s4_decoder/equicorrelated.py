"""The decoder under (7) itself when all classes correlate equally (tian2023, Remark 1).

With f_n . f_n' = rho, uniform classes and Y = 0 at the start, every row w_n of F^T Y has three
different entries: one at n, one at the K - 1 other classes, one at the M - K tokens that follow no
class. Their differences u = w_nn - w_nn' and v = w_nn - w_nj obey two equations in the time
tau = eta_Y t / K.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ntpcore.tian2023.integrate import states_at

Floats = NDArray[np.float64]


def slopes(M: int, K: int, rho: float, u: float, v: float) -> tuple[float, float]:
    """du/dtau and dv/dtau.

    With the probabilities p_n of the right token, p_b of another class, p_c of another token,
    u' = (1 - rho) (1 - p_n + p_b) and v' = 1 - p_n - rho (K - 1) p_b + (1 + (K - 1) rho) p_c.

    Args:
        M: size of the vocabulary.
        K: number of classes, at most M.
        rho: common inner product of different f_n.
        u: gap to the other classes.
        v: gap to the other tokens; without effect when K = M.
    """
    others, strangers = math.exp(-u), math.exp(-v)
    total = 1 + (K - 1) * others + (M - K) * strangers
    wrong = ((K - 1) * others + (M - K) * strangers) / total  # 1 - p_n without cancellation
    p_b, p_c = others / total, strangers / total
    return (
        (1 - rho) * (wrong + p_b),
        wrong - rho * (K - 1) * p_b + (1 + (K - 1) * rho) * p_c,
    )


def gaps(M: int, K: int, rho: float, tau: Floats) -> tuple[Floats, Floats]:
    """u and v at increasing times tau > 0.

    Args:
        M: size of the vocabulary.
        K: number of classes, 2 <= K <= M.
        rho: common inner product, in [0, 1).
        tau: (T,), increasing times.

    Returns:
        u and v, (T,) each.

    Raises:
        ValueError: K or rho outside these ranges.
    """
    if not 2 <= K <= M or not 0 <= rho < 1:
        raise ValueError(f"K = {K}, M = {M}, rho = {rho}; 2 <= K <= M and 0 <= rho < 1 are needed")
    found = states_at(
        tau,
        lambda _, gap: slopes(M, K, rho, gap[0], gap[1]),
        np.zeros(2),
        relative=1e-10,
        absolute=1e-13,
    )
    return found[:, 0], found[:, 1]


def lead(M: int, rho: float) -> float:
    """ln((1 + (M - 1) rho) / (1 - rho)), what v - u rises to and never reaches."""
    return math.log1p((M - 1) * rho) - math.log1p(-rho)
