"""Tests of the decoder under equal correlations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from ntpbook.tian2023.s4_decoder import equicorrelated
from ntpcore.tian2023 import decoder


def dense_gaps(M: int, K: int, rho: float, tau: float) -> tuple[float, float]:
    """u and v from the full flow of W with all M logits."""
    gram = np.full((K, K), rho) + (1 - rho) * np.eye(K)

    def slope(_, flat):
        W = flat.reshape(K, M)
        weights = np.exp(W - W.max(axis=1, keepdims=True))
        return (gram @ (np.eye(K, M) - weights / weights.sum(axis=1, keepdims=True))).ravel()

    found = solve_ivp(slope, (0, tau), np.zeros(K * M), rtol=1e-10, atol=1e-12)
    W = found.y[:, -1].reshape(K, M)
    return W[1, 1] - W[1, 0], W[1, 1] - W[1, -1]


@pytest.mark.parametrize(("M", "K", "rho"), [(5, 2, 0.3), (30, 6, 0.7), (12, 11, 0.1)])
def test_gaps_are_those_of_the_dense_flow(M, K, rho):
    u, v = equicorrelated.gaps(M, K, rho, np.array([9.0]))
    assert (u[0], v[0]) == pytest.approx(dense_gaps(M, K, rho, 9.0), rel=1e-7)


def test_first_rates_by_hand():
    assert equicorrelated.slopes(7, 3, 0.25, 0.0, 0.0) == pytest.approx((0.75, 1.0), rel=1e-15)


def test_without_correlation_both_gaps_are_the_height():
    tau = np.array([0.5, 5.0, 50.0])
    u, v = equicorrelated.gaps(40, 6, 0.0, tau)
    assert u == pytest.approx(decoder.height(40, tau), rel=1e-8)
    assert v == pytest.approx(u, rel=1e-8)


def test_the_lead_by_hand():
    assert equicorrelated.lead(3, 0.5) == pytest.approx(np.log(4))
    assert equicorrelated.lead(10, 0.0) == 0


def test_impossible_arguments_are_named():
    with pytest.raises(ValueError, match="K = 6, M = 5"):
        equicorrelated.gaps(5, 6, 0.1, np.array([1.0]))
    with pytest.raises(ValueError, match="rho = 1"):
        equicorrelated.gaps(5, 2, 1.0, np.array([1.0]))
