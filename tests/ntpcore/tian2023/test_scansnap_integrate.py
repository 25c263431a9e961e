"""The integrator of the flows: a solution known by hand, and one that ends too early."""

from __future__ import annotations

import numpy as np
import pytest

from ntpcore.tian2023.integrate import states_at


@pytest.mark.parametrize("method", ["LSODA", "DOP853"])
def test_two_exponentials_from_a_later_start(method: str) -> None:
    found = states_at(
        np.array([1.0, 2.0, 4.0]),
        lambda _, y: np.array([-1.0, 0.5]) * y,
        np.array([3.0, 1.0]),
        relative=1e-10,
        absolute=1e-12,
        begin=1.0,
        method=method,  # type: ignore[arg-type]
    )
    t = np.array([0.0, 1.0, 3.0])
    assert found == pytest.approx(np.stack([3 * np.exp(-t), np.exp(t / 2)], axis=1), rel=1e-8)


def test_a_solution_that_ends_before_the_last_time_is_told() -> None:
    with pytest.raises(ArithmeticError, match="the integrator gave up"):  # 1 / (1 - t)
        states_at(
            np.array([2.0]),
            lambda _, y: y**2,
            np.ones(1),
            relative=1e-6,
            absolute=1e-9,
            method="DOP853",
        )
