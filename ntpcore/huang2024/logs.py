"""Sums and exponentials of positive numbers that are kept as logarithms, at any size."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TINY = -40.0  # below it, log(1 + e^y) and e^y agree to the last digit


def log_sum(logs: Sequence[float]) -> float:
    """log sum exp of finite numbers."""
    top = max(logs)
    return top + math.log(math.fsum(math.exp(value - top) for value in logs))


def log_softplus(y: Floats | float) -> Floats:
    """log log(1 + e^y)."""
    exact = np.log(np.logaddexp(0.0, np.maximum(y, TINY)))
    return np.where(np.asarray(y) > TINY, exact, y)


def log_expm1(log_x: Floats) -> Floats:
    """log(e^x - 1) from log x."""
    x = np.exp(log_x)
    small = np.clip(x, 1e-300, 1.0)  # below, e^x - 1 and x agree
    large = np.maximum(x, 1.0)
    below = log_x + np.log(np.expm1(small) / small)
    return np.where(x < 1.0, below, large + np.log1p(-np.exp(-large)))
