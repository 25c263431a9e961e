"""The region that a path of the coupled flow cannot leave, for M > K (theorem on the exponent).

One query, one common and one distinct token per class. With r as the clock, T = f_d/f_c,
mu = M/(M - K) and k = (eta_Z/eta_Y)(K + 1) the flow is, by `steps.exponent_steps`,

    s' = x/K,  a' = x/T,  (ln T)' = m Q,  m = k/(1 + T^2),  Q = r (1 - 1/K) - x mu (T a - s),
    1/x = 1 + K/(M - K) e^D,  D = P T/(1 + T^2)^(1/2),  P = mu (a/T + s) - r/K.

With B = mu a/T - P/(1 + T^2), E = mu x (1/K + 1/T^2) - 1/K and F = m Q B the region is

    0 < D,  0 < E,  0 < Q,  F < (1 - u)/T^2,  u = theta T^2/(r + T^2).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.reduced_flow import ClockPath

Floats = NDArray[np.float64]


def theta(K: int, M: int) -> float:
    """(M - 2 K + 1)/(8 M), by which the upper edge of F stays below 1/T^2 at least early."""
    return (M - 2 * K + 1) / (8 * M)


@dataclass(frozen=True)
class Level:
    """What is known of all states with f_d/f_c >= T in the region.

    Attributes:
        K: number of classes.
        M: number of outputs, above K.
        k: (eta_Z/eta_Y)(K + 1).
        T: the least f_d/f_c.
    """

    K: int
    M: int
    k: float
    T: float

    @property
    def mu(self) -> float:
        """M/(M - K)."""
        return self.M / (self.M - self.K)

    @property
    def x(self) -> float:
        """The least x: E > 0 makes mu x > 1/(1 + K/T^2)."""
        return 1 / (self.mu * (1 + self.K / self.T**2))

    @property
    def omega(self) -> float:
        """P/(1 + T^2) is at most omega mu a/T, as P <= r/T^2 and a T >= x r."""
        return (1 + self.K / self.T**2) / self.T**2

    @property
    def enough(self) -> float:
        """From this r on E stays positive: 2 M/((1 - omega) mu x) by f_d."""
        sine = self.T / sqrt(1 + self.T**2)
        return 2 * self.M / ((1 - self.omega) * sine * self.mu * self.x)

    @property
    def room(self) -> float:
        """What is left at F = (1 - u)/T^2, at least: positive if F cannot get there."""
        free, tau = 1 - 1 / self.K, self.T**2 / (1 + self.T**2)
        u = theta(self.K, self.M)
        most = free / ((1 - self.omega) * self.mu * self.x)  # of Q/(B T^2)
        pull = self.x * (1 - u) - most * (3 - (1 - u) * tau * (3 - 2 * self.omega))
        return pull - free * (1 - self.mu * self.x**2) - (1 - self.x) * free * u

    @property
    def powers(self) -> tuple[float, float]:
        """Between which the exponent of T lies, from T at this level alone."""
        free = 1 - 1 / self.K
        least = self.x / (1 / (self.K * self.mu) + free / (self.mu * self.x))
        most = 1 / self.mu / (self.x / self.K + free)
        return 1 - most, 1 - least

    def slacks(self) -> dict[str, float]:
        """The conditions on T, K and M, each positive where it holds."""
        return {
            "omega is below one half": 0.5 - self.omega,
            "T a exceeds s": self.K - 1 - self.K / self.T**2,
            "room below the upper edge of F": self.room,
            "T grows without bound": self.powers[0],
        }

    def at_start(self) -> float:
        """Slack of the condition that makes E positive up to `enough`, from r = 0 on; by T^2."""
        rate = (1 / self.K + 1 / self.T**2) * (1 - self.x)
        needed = self.k * (1 - 1 / self.K) * self.enough**2 * exp(min(rate * self.enough, 600.0))
        return 1 - needed / self.T**2


def parts(K: int, M: int, k: Any, r: Any, s: Any, a: Any, T: Any) -> dict[str, Any]:
    """x, D, P, Q, B, E, F and m of states, real or complex."""
    mu, sine = M / (M - K), T / (1 + T * T) ** 0.5
    P = mu * (a / T + s) - r / K
    x = 1 / (1 + K / (M - K) * np.exp(sine * P))
    Q = r * (1 - 1 / K) - x * mu * (T * a - s)
    m, B = k / (1 + T * T), mu * a / T - P / (1 + T * T)
    E = mu * x * (1 / K + 1 / (T * T)) - 1 / K
    return {"x": x, "D": sine * P, "P": P, "Q": Q, "B": B, "E": E, "F": m * Q * B, "m": m}


def edge(K: int, M: int, r: Any, T: Any) -> Any:
    """(1 - u)/T^2, above which F does not come."""
    return (1 - theta(K, M) * T * T / (r + T * T)) / (T * T)


def outward(K: int, M: int, k: float, r: float, s: float, a: float, T: float) -> float:
    """Slope of F - (1 - u)/T^2 along the flow in r, by a complex step, in units of m B."""
    found = parts(K, M, k, r, s, a, T)
    h = 1e-30j
    moved = (r + h, s + h * found["x"] / K, a + h * found["x"] / T)
    T_moved = T * np.exp(h * found["m"] * found["Q"])
    there = parts(K, M, k, *moved, T_moved)
    slope = (there["F"] - edge(K, M, moved[0], T_moved)).imag / 1e-30
    return float(slope / (found["m"] * found["B"]))


def on_the_edge(level: Level, rng: np.random.Generator) -> tuple[float, ...] | None:
    """A random state with F at its upper edge, all else inside; k is chosen to put F there.

    Returns:
        k, r, s, a, T, or None where the draw is no state of the region.
    """
    K, M = level.K, level.M
    T, r = level.T * 10 ** rng.uniform(0, 2), 10 ** rng.uniform(-1, 6)
    lowest = 1 / (level.mu * (1 + K / T**2))  # where E = 0
    x = rng.uniform(lowest, 1 / level.mu)
    P = float(np.log((1 / x - 1) * (M - K) / K)) * sqrt(1 + T * T) / T
    a = r / T * rng.uniform(level.x, 1.0)
    s = (P + r / K) / level.mu - a / T
    found = parts(K, M, 1.0, r, s, a, T)
    low = r >= P * level.T**2 and 0 <= s <= r / (K * level.mu)
    return (float(edge(K, M, r, T) / found["F"]), r, s, a, T) if low and found["Q"] > 0 else None


@dataclass(frozen=True, eq=False)
class Seen:
    """What a path shows of the region, row by row.

    Attributes:
        r: (S,), the clock.
        T: (S,), f_d/f_c.
        edges: what must be positive, by name; (S,) each, without units.
        moments: what a moment needs besides, by name; (S,) each.
    """

    r: Floats
    T: Floats
    edges: dict[str, Floats]
    moments: dict[str, Floats]

    def first(self, levels: list[Level]) -> int:
        """The first row from which the theorem holds, or -1."""
        fits = np.array(
            [
                min(level.slacks().values()) > 0 and r >= level.enough
                for level, r in zip(levels, self.r, strict=True)
            ]
        )
        for found in (*self.edges.values(), *self.moments.values()):
            fits &= found > 0
        return int(fits.argmax()) if fits.any() else -1


def seen(path: ClockPath, bare: bool = False) -> Seen:
    """The region along a path with one token of each kind.

    Args:
        path: a path with M > K.
        bare: E without its part 1/T^2, whose zero would be x = 1/mu.
    """
    K, M, k = path.design.K, path.design.M, (path.design.K + 1) / path.ratio
    a, s, r = (path.rows[:, i] for i in (2, 3, 4))
    T = path.tangent
    found = parts(K, M, k, r, s, a, T)
    mu = M / (M - K)
    E = found["E"] - (mu * found["x"] / T**2 if bare else 0.0)
    x = 1 / (mu * (1 + K / T**2))
    edges = {
        "D": found["D"] * T**2,
        "E": E * T**2,
        "Q": found["Q"] / r,
        "F": (edge(K, M, r, T) - found["F"]) * T**2,
    }
    moments = {
        "a T against x r": a * T / r - x,
        "s against r/(K mu)": 1 / (K * mu) - s / r,
        "P against r/T^2": 1 - found["P"] * T**2 / r,
    }
    return Seen(np.asarray(r), T, edges, moments)
