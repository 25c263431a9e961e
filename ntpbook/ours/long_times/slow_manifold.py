"""The slow manifold of the coupled flow, which carries it to values of the clock beyond 1e4."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """Law 4: d ln T/d ln sigma = alpha + c/T^2 + ..., for M > K and alpha < 1/2.

    Attributes:
        alpha: (K - 1)/(M - 1).
        c: the first correction (`steps.law_4`).
    """

    alpha: float
    c: float


def law(K: int, M: int) -> Law:
    """The constants of Law 4 for a decoder with M > 2K - 1 outputs.

    Raises:
        ValueError: M <= 2K - 1, where alpha >= 1/2 and the correction has another form.
    """
    if M <= 2 * K - 1:
        raise ValueError(f"M = {M} is not above 2K - 1 = {2 * K - 1}")
    a = (K - 1) / (M - 1)
    first = (M / (M - K) * (K - 1) * (1 - 2 * a) - 1) * (1 - 3 * a) + K * (1 - 2 * a)
    return Law(a, first + a * a / (1 - 2 * a))


def manifold_slope(K: int, M: int, T: float) -> float:
    """d ln T / d ln r on the slow manifold, up to O(1/T^4) (`steps.manifold`).

    The balance h' = 2 x + xi - h is solved with h' = -2 (T'/T) y k, h = h_0 + y k, by iteration.

    Raises:
        ArithmeticError: the iteration did not settle; T is too small for the manifold.
    """
    y, mu, h_0 = 1 / (T * T), M / (M - K), 1 - 1 / M
    xi = h_0 - 2 / mu
    for _ in range(200):
        E = -xi * K * mu * (1 - 1 / K) / (1 + xi * K * mu * y)
        k = (E - h_0) / (1 + y)
        x, h = 1 / mu + K * y * xi, h_0 + y * k
        slope = (x + xi) / h
        new = h - 2 * x - 2 * slope * y * k
        if abs(new - xi) <= 1e-15 * (1 + abs(xi)):
            return slope
        xi = (new + xi) / 2
    raise ArithmeticError(f"no balance found for K = {K}, M = {M}, T = {T}")


def creep(K: int, M: int, sigma: Floats, T: float, r: float) -> Floats:
    """T along the slow manifold from a state with given T and |r| at sigma[0].

    Args:
        K: number of classes.
        M: number of outputs, above K.
        sigma: (S,), increasing values of the clock, as large as 1e300.
        T: |f_D|/|f_C| at sigma[0].
        r: |r| at sigma[0].

    Raises:
        ArithmeticError: the integrator gave up.
    """
    from scipy.integrate import solve_ivp

    def slope(s: float, state: Floats) -> list[float]:
        tangent = exp(state[0])
        sine = tangent / sqrt(1 + tangent * tangent) if tangent < 1e150 else 1.0
        clock = exp(s - state[1]) * sine  # d ln r / d ln sigma
        return [manifold_slope(K, M, tangent) * clock, clock]

    log_sigma = np.log(sigma)
    found = solve_ivp(
        slope,
        (log_sigma[0], log_sigma[-1]),
        [log(T), log(r)],
        method="LSODA",
        t_eval=log_sigma,
        rtol=1e-10,
        atol=1e-12,
    )
    if not found.success:
        raise ArithmeticError(f"the integrator gave up: {found.message}")
    return np.asarray(np.exp(found.y[0]))
