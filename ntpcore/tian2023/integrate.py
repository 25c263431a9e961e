"""The integrator behind the flows of this folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def states_at(
    times: Floats,
    slope: Callable[[float, Floats], ArrayLike],
    start: Floats,
    *,
    relative: float,
    absolute: float,
    begin: float = 0.0,
    method: Literal["LSODA", "DOP853"] = "LSODA",
) -> Floats:
    """(S, n), the solution of an ordinary differential equation at S increasing times.

    Args:
        times: (S,), not before `begin`.
        slope: the derivative (n,) at a time and a state.
        start: (n,), the state at `begin`.
        relative: tolerance by the size of an entry.
        absolute: tolerance for entries near 0.
        begin: the time of the start.
        method: LSODA changes between stiff and other equations; DOP853 is of order 8.

    Raises:
        ArithmeticError: the integrator gave up.
    """
    from scipy.integrate import solve_ivp

    found = solve_ivp(
        slope,
        (begin, float(times[-1])),
        start,
        method=method,
        t_eval=times,
        rtol=relative,
        atol=absolute,
    )
    if not found.success:
        raise ArithmeticError(f"the integrator gave up: {found.message}")
    return np.asarray(found.y.T)
