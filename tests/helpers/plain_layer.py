"""The layer of Tian et al. (2023) with its matrices Y and Z, written plainly from Lemma 1.

Nothing here knows of symmetry, of the clock's equations or of the code under test: a class is a row
of probabilities, the projector and the diagonal are matrices, and all classes are summed up.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp


def tokens(common: tuple[float, ...], distinct: tuple[float, ...], K: int) -> np.ndarray:
    """(K, C + K D), probabilities: common tokens first, then those of class 0, 1, ..."""
    C, D = len(common), len(distinct)
    P = np.zeros((K, C + K * D))
    for n in range(K):
        P[n, :C] = common
        P[n, C + n * D : C + (n + 1) * D] = distinct
    return P / P.sum(axis=1, keepdims=True)


def slopes(
    P: np.ndarray,
    query: list[int],
    Y: np.ndarray,
    Z: np.ndarray,
    eta_Y: float,
    eta_Z: float,
    sphere: bool = True,
    forget: int | None = None,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Equation (3) in the limit (6), averaged over classes; and 1 - p_own + p_other of class 0.

    If a number of common tokens is given, the decoder forgets: g on the distinct tokens is
    replaced by its projection on the current f.
    """
    K, N = P.shape
    Y_dot, Z_dot = np.zeros_like(Y), np.zeros_like(Z)
    delta = np.nan
    for n in range(K):
        c = P[n] * np.exp(Z[query[n]])
        c = c / c.sum()
        length = np.sqrt(c @ c)
        seen = c / length if sphere else c
        alpha = np.exp(Y.T @ seen - (Y.T @ seen).max())
        alpha = alpha / alpha.sum()
        error = -alpha
        error[n] = alpha[:n].sum() + alpha[n + 1 :].sum()  # 1 - alpha_n, also where it is 1e-60
        Y_dot += eta_Y / K * np.outer(seen, error)
        if sphere:
            projector = np.eye(N) - np.outer(c, c) / length**2
            g = Y @ error
            if forget is not None:
                own = np.where(np.arange(N) < forget, 0.0, seen)
                g = np.where(np.arange(N) < forget, g, own * (own @ g) / (own @ own))
            Z_dot[query[n]] += eta_Z / K * np.diag(c) @ projector / length @ g
        else:
            Z_dot[query[n]] += eta_Z / K * (np.diag(c) - np.outer(c, c)) @ Y @ error
        if n == 0:
            delta = float(error[0] + alpha[1])
    return Y_dot, Z_dot, delta


def on_the_clock(
    P: np.ndarray,
    query: list[int],
    M: int,
    eta_Y: float,
    eta_Z: float,
    sigma: np.ndarray,
    sphere: bool = True,
    forget: int | None = None,
) -> tuple[list[np.ndarray], list[np.ndarray], list[float]]:
    """Y, Z and t from zero, at values of the clock d sigma = (eta_Y/K) delta dt."""
    K, N = P.shape
    L = max(query) + 1
    cut = N * M

    def slope(_: float, flat: np.ndarray) -> np.ndarray:
        Y, Z = flat[:cut].reshape(N, M), flat[cut:-1].reshape(L, N)
        Y_dot, Z_dot, delta = slopes(P, query, Y, Z, eta_Y, eta_Z, sphere, forget)
        rate = K / (eta_Y * delta)
        return np.concatenate([rate * Y_dot.ravel(), rate * Z_dot.ravel(), [rate]])

    start = np.zeros(cut + L * N + 1)
    found = solve_ivp(
        slope, (0.0, sigma[-1]), start, method="DOP853", t_eval=sigma, rtol=1e-11, atol=1e-13
    )
    assert found.success
    rows = found.y.T
    return (
        [row[:cut].reshape(N, M) for row in rows],
        [row[cut:-1].reshape(L, N) for row in rows],
        [float(row[-1]) for row in rows],
    )


def heavy_ball(
    P: np.ndarray, query: list[int], M: int, eta_Y: float, eta_Z: float, beta: float, steps: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Y, Z after the last step of v <- beta v + slope, w <- w + v; Z of query 0 after each step."""
    Y, Z = np.zeros((P.shape[1], M)), np.zeros((max(query) + 1, P.shape[1]))
    v_Y, v_Z = np.zeros_like(Y), np.zeros_like(Z)
    seen = [Z[0]]
    for _ in range(steps):
        Y_dot, Z_dot, _ = slopes(P, query, Y, Z, eta_Y, eta_Z)
        v_Y, v_Z = beta * v_Y + Y_dot, beta * v_Z + Z_dot
        Y, Z = Y + v_Y, Z + v_Z
        seen.append(Z[0])
    return Y, Z, np.array(seen)


def entropies(P: np.ndarray, common: int, distinct: int, Z: np.ndarray) -> np.ndarray:
    """Entropy of the attention on the distinct tokens of class 0, renormalised, for rows of Z."""
    weights = P[0, common : common + distinct] * np.exp(Z[:, common : common + distinct])
    shares = weights / weights.sum(axis=1, keepdims=True)
    return -(shares * np.log(shares)).sum(axis=1)
