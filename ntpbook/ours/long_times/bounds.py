"""The inequalities of the theorems on long times, to be tried on states and along paths.

M = K and Y(0) = 0 throughout (`steps.bulk_free`). A slack is what an inequality leaves; the theorem
says that it is not negative.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.reduced_flow import ClockPath
from ntpcore.tian2023.coupled import Symmetric

Floats = NDArray[np.float64]


def random_design(rng: np.random.Generator) -> Symmetric:
    """Classes with weights over up to six powers of ten, M = K."""
    K = int(rng.integers(2, 9))
    L = int(rng.choice([x for x in range(1, K + 1) if K % x == 0]))
    C, D = int(rng.integers(1, 7)), int(rng.integers(1, 6))
    spread = float(rng.choice([0.3, 1.0, 3.0]))
    weights = 10.0 ** rng.uniform(-spread, spread, size=C + D)
    return Symmetric(K, K, tuple(weights[:C].tolist()), tuple(weights[C:].tolist()), L)


# On single states


def unique_slack(Y: Floats, n: int, f: Floats, other: Floats, sharper: float = 1.0) -> float:
    """h(f) - h(other) for a stationary f with G > 0, less the margin G (1 - f . other) it proves.

    h(f) = ln softmax_n(Y^T f); tangent of a concave function at f, with g <= G f (Theorem 7 (ii)).

    Args:
        Y: (N, M), decoder rows of the tokens.
        n: the next token.
        f: (N,), unit vector, stationary: g_i = G f_i, or f_i = 0 and g_i <= 0.
        other: (N,), any vector >= 0 of length at most 1.
        sharper: by which the margin is multiplied.
    """
    h = [float(Y[:, n] @ v - np.logaddexp.reduce(Y.T @ v)) for v in (f, other)]
    alpha = np.exp(Y.T @ f - np.logaddexp.reduce(Y.T @ f))
    g = Y @ (np.eye(Y.shape[1])[n] - alpha)
    return h[0] - h[1] - sharper * float(f @ g) * float(1 - f @ other)


# Theorem 5'': no token is lost
#
# M = K >= 2, Y(0) = 0, any p > 0 (hence any start of Z), any C, D >= 1, L, rates, and any smooth
# loss of the differences of logits that treats the wrong labels alike and has delta > 0. Then r/|r|
# converges to a unit vector without a zero, f to it on distinct tokens and to 0 on the common ones.
# Beyond `steps.keep_steps` the proof needs, by hand: the derivative of a minimum of finitely many
# functions; the comparison of du/dI; theta -> infinity (were it bounded, q_c would stay above a
# positive number, and the conserved sum would bound |q|); and f_d/f_e = (r_d/r_e)(P_e/P_d), where
# P_e/P_d -> 1 because the spread tends to 0 and P to infinity.


@dataclass(frozen=True)
class Keep:
    """The constants of Theorem 5'' (`steps.keep_steps`).

    Attributes:
        b: P_d >= b theta.
        C_2: nu theta^2 times the sum of q_c^2 is at most this.
        drift: |ln (f_d/f_e) - ln (p_d/p_e)| in the limit is at most this.
    """

    b: float
    C_2: float
    drift: float


def keep(design: Symmetric) -> Keep:
    """b = 1/(1 + 2 C_1), C_2 = 2 C_1/b, and the bound on the drift of shares.

    C_1 = C L/(2 K (1 - eps_0)); drift (C_2/b^2)[1 + ln+(2 sum p_c^2/(3 C_2 b min p_d^2))/2]. None
    of them depends on the rates or on the loss.
    """
    C, p = len(design.common), design.p
    free = float((p[C:] ** 2).sum() / (p**2).sum())  # 1 - eps_0
    twice = C * design.queries / (design.K * free)  # 2 C_1
    b = 1 / (1 + twice)
    C_2 = twice / b
    early = 2 * float((p[:C] ** 2).sum()) / (3 * C_2 * b * float(p[C:].min()) ** 2)
    return Keep(b, C_2, C_2 / b**2 * (1 + max(0.0, log(early)) / 2))


def sharpened(found: Keep, changed: str) -> Keep:
    """Constants of which one is planted: sharper by a tenth, or a drift with another formula.

    Args:
        found: the constants.
        changed: "b" or "C_2"; of the drift "exponent", C_2^2 for C_2, or "factor", without its
            bracket; "" for none.
    """
    if changed == "b":
        return replace(found, b=1.1 * found.b)
    if changed == "C_2":
        return replace(found, C_2=found.C_2 / 1.1)
    if changed:
        plain = found.C_2 / found.b**2
        return replace(found, drift=found.drift * found.C_2 if changed == "exponent" else plain)
    return found


def keep_slacks(path: ClockPath, changed: str = "") -> dict[str, float]:
    """Least slack of each inequality of Theorem 5' (b) and 5'' along a path.

    Relative to the bound; that of the spread is relative to the largest P_d, which it is a small
    difference of at first.

    Args:
        path: M = K, scaled attention, without sigma = 0.
        changed: a constant that is planted, see `sharpened`.
    """
    C, p = len(path.design.common), path.design.p
    found = sharpened(keep(path.design), changed)
    q, clock = p * np.exp(path.z), path.theta
    P = path.r / q[:, C:]
    spread, common = P.max(axis=1) - P.min(axis=1), (q[:, :C] ** 2).sum(axis=1)
    A = path.nu * found.b * float(p[C:].min()) ** 2
    start = path.nu * float((p[:C] ** 2).sum()) * clock**3 / 3
    bound = np.minimum(found.C_2 * clock, start)
    late = clock >= (2 / A) ** 0.5
    bound[late] = np.minimum(bound[late], 2 * found.C_2 / (A * clock[late]))
    moved = np.log(path.r / p[C:])
    drift = float((moved.max(axis=1) - moved.min(axis=1)).max())
    return {
        "z_d >= 0": float(path.z[:, C:].min()),
        "z_c <= 0": -float(path.z[:, :C].max()),
        "P_d <= theta": float((1 - P.max(axis=1) / clock).min()),
        "P_d >= b theta": float((P.min(axis=1) / (found.b * clock) - 1).min()),
        "sum q_c^2": float((1 - common * path.nu * clock**2 / found.C_2).min()),
        "spread of P": float(((bound - spread) / P.max(axis=1)).min()),
        "drift of the decoder's ratios": 1 - drift / found.drift,
    }
