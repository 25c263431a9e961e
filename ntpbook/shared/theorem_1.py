"""The bounds on the direction of a run: Theorem 1, Theorem B, the norm bounds alone."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ntpcore.huang2024 import direction
from ntpcore.huang2024.runs import Run
from ntpverdicts.vocabulary import uses

Floats = NDArray[np.float64]

TURNS = uses(
    "ours-direction",
    r"Theorem B: $\tan^2 \le (2 S/t)(1 + \sqrt2\, K/\eta)$ for every step size and $t \ge 1$",
)

# A norm that is a sum of 1e7 rounded steps is off by some 1e-11; measured 7e-12.
ROUNDING = 1e-9


def first_beat_of_b(run: Run) -> int:
    """The first step at which Theorem B's bound is below what the norm bounds alone say."""
    c = run.constants
    S, k = c.norm_kq**2, direction.K(c.max_length, c.log_pi_min)
    return direction.first_step(lambda t: direction.one_minus_cos(S, k, c.eta, t), trivial(run))


def power_of_ten(log_value: float) -> str:
    """A number, given by its logarithm, as 10^x, or with two digits where a float holds it."""
    if log_value < math.log(1e300):
        return f"{math.exp(log_value):.2g}"
    return f"10^{log_value / math.log(10):.4g}"


def theorem_b(run: Run, t: Floats) -> Floats:
    """Theorem B's bound on 1 - cos of a run at steps t (`ours-direction`)."""
    c = run.constants
    S, k = c.norm_kq**2, direction.K(c.max_length, c.log_pi_min)
    return np.array([direction.one_minus_cos(S, k, c.eta, float(step)) for step in t])


def trivial(run: Run) -> float:
    """What the norm bounds alone say of 1 - cos, at every step (`ours-trivial-bound`)."""
    return direction.one_minus_cos_trivial(run.constants.norm_kq**2)
