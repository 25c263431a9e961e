"""Growth laws of the coupled flow, and when they become visible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.reduced_flow import ClockPath, follow
from ntpcore.tian2023.coupled import Symmetric, one_of_each

Floats = NDArray[np.float64]


def closed_form(path: ClockPath) -> tuple[Floats, Floats]:
    """Both sides of the closed form along a path, for M = K, C = D = L = 1.

    ln(T/T_0) + (T^2 - T_0^2)/2 = (eta_Z/eta_Y)(K^2 - 1)/(2K) r^2, T = T_0 e^w, T_0 = p_d/p_c.

    Raises:
        ValueError: there is not one token of each kind, or not one query.
    """
    K, p = path.design.K, path.design.p
    if len(p) != 2 or path.design.queries != 1:
        raise ValueError("the closed form is for L = 1 and one token of each kind")
    w = path.z[:, 1] - path.z[:, 0]
    left = w + (p[1] / p[0]) ** 2 * np.expm1(2 * w) / 2
    return left, (K**2 - 1) / (2 * K * path.ratio) * path.r[:, 0] ** 2


def offset(path: ClockPath) -> Floats:
    """(S,), w - ln ln t - (1/2) ln[(eta_Z/eta_Y)(K^2 - 1)/K] + ln T_0, which tends to 0.

    Time is measured in units of K/eta_Y, which ln ln t forgets.
    """
    K, p = path.design.K, path.design.p
    w = path.z[:, 1] - path.z[:, 0]
    constant = np.log((K**2 - 1) / (K * path.ratio)) / 2 - np.log(p[1] / p[0])
    return np.asarray(w - np.log(path.log_time) - constant)


def second_coefficient(path: ClockPath, i: int, alpha: float) -> float:
    """(d ln T/d ln sigma - alpha) T^2 at row i, from the rows beside it; tends to c (the law)."""
    T, sigma = path.tangent, path.sigma
    slope = np.log(T[i + 1] / T[i - 1]) / np.log(sigma[i + 1] / sigma[i - 1])
    return float((slope - alpha) * T[i] ** 2)


def turning_time(path: ClockPath, after: float) -> float:
    """ln(1 + eta_Y t/K) at which dz_d/d ln t of the first distinct token is largest.

    Args:
        path: on a fine grid.
        after: earlier times are left out (the scan).

    Raises:
        ValueError: the slope is still rising at the end, or falls from the start.
    """
    late = path.log_time > after
    when = path.log_time[late]
    slope = np.gradient(path.z[late, len(path.design.common)], when)
    best = int(np.argmax(slope))
    if best in (0, len(when) - 1):
        raise ValueError(f"the slope has no interior maximum after {after}")
    return float(when[best])


def relaxation(K: int, epsilon: float) -> float:
    """c with t_relax ~ exp(c sqrt(eta_Y/eta_Z)) for M = K and one token of each kind.

    From the closed form: with nu = 1, r^2 = (2/(K + 1)) [ln(T/T_0) + (T^2 - T_0^2)/2], and the
    slope dw/dR on the clock R = r T/sqrt(1 + T^2), which is ln t but for O(1), is largest at some
    R*. For other rates R scales by 1/sqrt(nu), so c = R*/sqrt(1 - 1/K).
    """
    T_0 = (1 / epsilon - 1) ** 0.5
    T = T_0 * np.exp(np.geomspace(1e-6, 10, 400_001))
    r = np.sqrt(2 / (K + 1) * (np.log(T / T_0) + (T**2 - T_0**2) / 2))
    R = r * T / np.sqrt(1 + T**2)
    slope = np.gradient(np.log(T), R)
    return float(R[int(np.argmax(slope))] / (1 - 1 / K) ** 0.5)


def measured_relaxation(K: int, M: int, epsilon: float, ratio: float) -> float:
    """ln t_relax / sqrt(eta_Y/eta_Z) along a path, after the scan (3 ln M)."""
    scale = (ratio / (1 - 1 / K)) ** 0.5
    path = follow(one_of_each(K, M, epsilon), ratio, np.geomspace(1e-2, 20, 6000) * scale)
    return turning_time(path, 3 * float(np.log(M))) / float(ratio**0.5)


def top_shares(design: Symmetric, ratio: float, log_t: Floats, sphere: bool) -> Floats:
    """Share of the top token among the distinct ones at given times: the one picture.

    Args:
        design: the classes and the decoder.
        ratio: eta_Y / eta_Z.
        log_t: (S,), increasing values of ln(1 + eta_Y t/K), a clock that both layers share.
        sphere: with the L2 scaling, or the softmax alone.

    Raises:
        ValueError: log_t begins below 0.
    """
    if log_t[0] < 0:
        raise ValueError(f"log_t begins at {log_t[0]}; give values >= 0")
    until = 3 * float(log_t[-1]) + 20  # ln t grows at least a third as fast, which is checked
    grid = np.concatenate([[0.0], np.geomspace(1e-3, until, 6000)])
    path = follow(design, ratio, grid, sphere)
    if path.log_time[-1] < log_t[-1]:
        raise ValueError(f"the path ends at ln t = {path.log_time[-1]}, before {log_t[-1]}")
    return np.asarray(np.interp(log_t, path.log_time, path.shares.max(axis=1)))
