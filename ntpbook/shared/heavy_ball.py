"""Momentum on and off in the population: descent of symmetric classes on the expected loss.

A heavy ball in the form of the paper's code, v <- beta v + gradient, w <- w + eta v, for the
numbers of `ntpcore.tian2023.coupled`. Its effective rate is eta/(1 - beta).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ntpcore.compiled import compiled
from ntpcore.tian2023 import coupled
from ntpcore.tian2023.coupled import Path, Symmetric

Floats = NDArray[np.float64]


@compiled
def _roll(
    state: Floats,
    p: Floats,
    C: int,
    K: int,
    M: int,
    L: int,
    eta_Y: float,
    eta_Z: float,
    beta: float,
    record: NDArray[np.int64],
    rows: Floats,
) -> None:
    """Steps of the heavy ball; row i becomes the state after record[i] steps."""
    f, g = np.empty(len(p)), np.empty(len(p))
    change, velocity = np.empty(len(state)), np.zeros(len(state))
    step = 0
    for i in range(len(record)):
        while step < record[i]:
            coupled.fill_slopes(state, p, C, K, M, L, eta_Y, eta_Z, False, f, g, change)
            for j in range(len(state)):
                velocity[j] = beta * velocity[j] + change[j]
                state[j] += velocity[j]
            step += 1
        for j in range(len(state)):
            rows[i, j] = state[j]


def roll(data: Symmetric, eta_Y: float, eta_Z: float, beta: float, steps: Sequence[int]) -> Path:
    """The heavy ball from Y = Z = 0.

    Args:
        data: the classes.
        eta_Y: learning rate of the decoder.
        eta_Z: learning rate of the attention.
        beta: momentum; 0 is plain descent.
        steps: increasing numbers of steps after which the state is kept.

    Raises:
        ValueError: beta is outside [0, 1), or steps do not increase.
    """
    record = np.asarray(steps, dtype=np.int64)
    if not 0 <= beta < 1 or len(record) == 0 or record[0] < 0 or (np.diff(record) <= 0).any():
        raise ValueError(f"beta = {beta} must be in [0, 1), steps increasing numbers >= 0")
    p, state = np.concatenate(data.probabilities), coupled.zero_state(data)
    rows = np.empty((len(record), len(state)))
    sizes = (len(data.common), data.K, data.M, data.queries, float(eta_Y), float(eta_Z))
    _roll(state, p, *sizes, float(beta), record, rows)
    return Path(data, eta_Y, eta_Z, record.astype(np.float64), rows, False)
