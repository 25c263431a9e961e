"""Scanning and snapping: the growth bound B_n of Tian et al. (2023), Section 6 and Appendix F.

All closed forms use x = M h at tau = eta_Y t / K, and nu = eta_Y / eta_Z.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore.tian2023 import decoder
from ntpcore.tian2023.classes import E_prime, correlations, equicorrelated_classes, unit_scores
from ntpcore.tian2023.integrate import states_at

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SnapSetting:
    """What equations (13) and (14) need.

    Attributes:
        M: size of the vocabulary.
        K: number of classes.
        eta_y: eta_Y, learning rate of the decoder.
        eta_z: eta_Z, learning rate of the attention.

    Raises:
        ValueError: a size or a rate is too small.
    """

    M: int
    K: int
    eta_y: float
    eta_z: float

    def __post_init__(self) -> None:
        if self.M < 5 or self.K < 1 or not (self.eta_y > 0 and self.eta_z > 0):
            raise ValueError(f"{self.name}: M >= 5, K >= 1 and rates > 0 are needed")

    @property
    def name(self) -> str:
        """The sizes and rates in words."""
        rates = rf"$\eta_Y = {self.eta_y:g}$, $\eta_Z = {self.eta_z:g}$"
        return f"$M = {self.M}$, $K = {self.K}$, {rates}"

    @property
    def first_end(self) -> float:
        """t_0' = K ln(M) / eta_Y, where the first stage ends."""
        return self.K * math.log(self.M) / self.eta_y

    @property
    def onset(self) -> float:
        """t_0 = 2 (1 + omega_1) K ln(M) / eta_Y, where the second stage begins (Lemma 9)."""
        return decoder.transition(self.M, self.K, self.eta_y)

    def tau(self, t: float | Floats) -> Floats:
        """eta_Y t / K."""
        return np.asarray(self.eta_y * np.asarray(t, dtype=np.float64) / self.K)


def total_speed(s: SnapSetting, t: float | Floats) -> Floats:
    """Gamma(t) = eta_Z int_0^t gamma = (eta_Z/eta_Y) K (M-1)^2 h(t/K)^2 / 2 (equation (128))."""
    x = decoder.height(s.M, s.tau(t))
    return np.asarray(s.eta_z / s.eta_y * s.K * ((s.M - 1) / s.M * x) ** 2 / 2)


def printed_growth(C_0: float, Gamma: float | Floats) -> Floats:
    """B as printed: ln(C_0 + 4 Gamma) / 4 (tian2023, equation (124))."""
    return np.asarray(np.log(C_0 + 4 * np.asarray(Gamma)) / 4)


def growth(C_0: float, Gamma: float | Floats) -> Floats:
    """B = ln(1 + 4 Gamma / C_0) / 4, which solves (13) from z = 0."""
    return np.asarray(np.log1p(4 * np.asarray(Gamma) / C_0) / 4)


def growth_at(s: SnapSetting, C_0: float, t: float | Floats) -> Floats:
    """B of equation (13) at times t, from z = 0."""
    return growth(C_0, total_speed(s, t))


def first_stage(s: SnapSetting, t: float | Floats) -> Floats:
    """The first stage's approximation of Gamma, h = eta_Y t / (M K) (equation (14))."""
    return np.asarray(s.eta_z / s.eta_y * s.K * ((s.M - 1) / s.M * s.tau(t)) ** 2 / 2)


def second_stage(s: SnapSetting, t: float | Floats) -> Floats:
    """The second stage's approximation of Gamma, h = ln(M eta_Y t / K) / M (equation (14))."""
    x = np.log(s.M * s.tau(t))
    return np.asarray(s.eta_z / s.eta_y * s.K * ((s.M - 1) / s.M * x) ** 2 / 2)


def solve_13(s: SnapSetting, C_0: float, times: Floats) -> tuple[Floats, Floats]:
    """z and B of equation (13) by an integrator, from z = 0.

    Args:
        s: the setting.
        C_0: the constant of (13).
        times: increasing times > 0.
    """

    def slope(t: float, y: Floats) -> Floats:
        xi = float(decoder.speed(s.M, s.K, s.eta_y, t)) * math.exp(4 * y[0]) / C_0
        return np.array([-s.eta_z * xi, s.eta_z * xi])

    rows = _integrate(slope, np.zeros(2), times, relative=1e-10)
    return rows[:, 0], rows[:, 1]


def _integrate(
    slope: Callable[[float, Floats], Floats], start: Floats, times: Floats, relative: float
) -> Floats:
    """Rows of the solution at these times, integrated in ln(t).

    The start stands for time 0 as well as for a time so early that nothing has moved yet: all
    that is integrated here grows like t^2.
    """
    u = np.log(times)
    return states_at(
        u,
        lambda at, y: math.exp(at) * slope(math.exp(at), y),
        start,
        relative=relative,
        absolute=relative * 1e-4,
        begin=float(u[0]) - 18.0,
        method="DOP853",
    )


# Equation (10) with a single common token


def attention_slopes(f: Floats, gamma: float, eta_Z: float, beta: Floats) -> tuple[Floats, Floats]:
    """Right-hand side of (10) for one query, and xi_n (tian2023, Lemma 4 and Theorem 1).

    Args:
        f: (K, M), the vectors f_n as rows.
        gamma: the speed at this time.
        eta_Z: learning rate of the attention.
        beta: (K, K), the coefficients beta_nn'; the diagonal is not used.

    Returns:
        the change (M,) of z, summed over the classes, and xi (K,).
    """
    weights = beta - np.diag(np.diag(beta))
    others = weights @ f  # row n: sum of beta_nn' f_n'
    along = (f * others).sum(axis=1)
    change = eta_Z * gamma * (f * (along[:, None] * f - others)).sum(axis=0)
    return np.asarray(change), np.asarray(gamma * along)


def full_beta(E: Floats, M: int) -> Floats:
    """beta_nn' of Theorem 1 at theta = sigma = 0, corrected (tian2023, equation (88))."""
    prime = E_prime(E)
    q1, q0 = M / (M - 1), M / (M - 1) ** 2
    outside = prime.sum(axis=0)[None, :] - prime  # sum over k != n of E'_kn'
    return np.asarray(q1 * prime + q0 * (1 - outside))


@dataclass(frozen=True, eq=False)
class ModelRun:
    """A solution of (10) for equicorrelated classes.

    Attributes:
        t: (S,), times.
        Gamma: (S,), eta_Z times the integral of gamma.
        z: (S, K + 1), the common token and the distinct tokens of the classes.
        B: (S,), eta_Z times the integral of xi of the first class.
        epsilon: (S,), f_n . f_n' of the first two classes.
    """

    t: Floats
    Gamma: Floats
    z: Floats
    B: Floats
    epsilon: Floats


def solve_10(
    s: SnapSetting, epsilon: float, times: Floats, full: bool = False, relative: float = 1e-9
) -> ModelRun:
    """Equation (10), token by token: one query, one common and one distinct token per class.

    Args:
        s: the setting, K >= 2.
        epsilon: f_n . f_n' at Z = 0.
        times: increasing times > 0.
        full: beta of Theorem 1; otherwise the paper's approximation beta_nn' = f_n . f_n'.
        relative: tolerance.
    """
    small = equicorrelated_classes(s.K, max(s.K + 1, 5), epsilon)  # other tokens never occur

    def slope(t: float, y: Floats) -> Floats:
        z = np.zeros((1, small.M))
        z[0, : s.K + 1] = y[:-1]
        f = unit_scores(small, z)
        E = correlations(f)
        beta = full_beta(E, s.M) if full else E
        gamma = float(decoder.speed(s.M, s.K, s.eta_y, t))
        change, xi = attention_slopes(f, gamma, s.eta_z, beta)
        return np.append(change[: s.K + 1], s.eta_z * xi[0])

    rows = _integrate(slope, np.zeros(s.K + 2), times, relative)
    odds = (epsilon / (1 - epsilon)) ** 0.5 * np.exp(rows[:, 0] - rows[:, 1])
    return ModelRun(
        np.asarray(times),
        total_speed(s, times),
        rows[:, :-1],
        rows[:, -1],
        odds**2 / (1 + odds**2),
    )


def clock(epsilon: float | Floats) -> Floats:
    """Phi(e) = 1/e^2 + 4/e - 6 ln(e/(1-e)) - 2/(1-e); it grows by 4 (K^2 - 1) Gamma under (10)."""
    e = np.asarray(epsilon, dtype=np.float64)
    return np.asarray(1 / e**2 + 4 / e - 6 * np.log(e / (1 - e)) - 2 / (1 - e))


def ladder(epsilon: float | Floats) -> Floats:
    """Psi(e) = ln(e/(1-e)) + 1/(1-e); B = (Psi(e_0) - Psi(e)) / (2 (K + 1)) under (10)."""
    e = np.asarray(epsilon, dtype=np.float64)
    return np.asarray(np.log(e / (1 - e)) + 1 / (1 - e))


def solve_closed(K: int, epsilon: float, Gamma: Floats) -> tuple[Floats, Floats]:
    """f_n . f_n' and B after Gamma, under (10) with beta_nn' = f_n . f_n' (this book).

    Args:
        K: number of classes, at least 2.
        epsilon: f_n . f_n' at the start, above 0 and at most 0.99: closer to 1 digits cancel.
        Gamma: (S,), >= 0.

    Raises:
        ValueError: one of them is outside its range.
    """
    from scipy.optimize import brentq

    if K < 2 or not 0 < epsilon <= 0.99 or not (np.asarray(Gamma) >= 0).all():
        raise ValueError(
            f"K = {K}, epsilon = {epsilon:g} and least Gamma = {np.min(Gamma):g}; K >= 2, "
            "0 < epsilon <= 0.99 and Gamma >= 0 are needed"
        )
    goal = clock(epsilon) + 4 * (K * K - 1) * np.asarray(Gamma)
    found = []
    for value in goal:
        # ln(epsilon) lies between low and the start
        low = -0.5 * math.log(max(value, 0.0) + 10) - 3
        found.append(
            math.exp(
                brentq(
                    lambda y, value=value: float(clock(math.exp(y))) - value,
                    low,
                    math.log(epsilon) + 1e-12,
                    xtol=1e-14,
                )
            )
        )
    e = np.array(found)
    return e, np.asarray((ladder(epsilon) - ladder(e)) / (2 * (K + 1)))
