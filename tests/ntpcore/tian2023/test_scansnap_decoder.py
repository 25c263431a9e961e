"""Tests of the decoder dynamics: heights, runs and flows against dense and precise computations."""

from __future__ import annotations

import jax
import mpmath
import numpy as np
import pytest

from ntpcore.tian2023 import decoder
from ntpcore.tian2023.classes import E_prime, correlations, random_classes, unit_scores

pytestmark = pytest.mark.usefixtures("in_float64")


def inputs(K: int, M: int, seed: int = 3) -> np.ndarray:
    """f_n of random classes."""
    return unit_scores(random_classes(np.random.default_rng(seed), K, M, 2, 1, common_mass=0.4))


def precise_height(M: int, tau: float) -> float:
    """x of (45) with fifty digits, by bisection, which needs no start."""
    with mpmath.workdps(50):
        low, high = mpmath.mpf(0), mpmath.mpf(tau)  # x <= tau, the slope being at most 1
        for _ in range(200):
            middle = (low + high) / 2
            value = mpmath.expm1(middle) + (M - 1) * middle - M * mpmath.mpf(tau)
            low, high = (middle, high) if value < 0 else (low, middle)
        return float((low + high) / 2)


# Heights


@pytest.mark.parametrize("M", [2, 3, 5, 1000, 10**6, 10**9])
@pytest.mark.parametrize("tau", [1e-12, 1e-6, 0.0999, 0.1, 1.0, 7.0, 40.0, 1e4, 1e9])
def test_height_has_full_precision(M, tau):
    # Newton's last correction is rounded once; x itself has 53 bits
    assert float(decoder.height(M, tau)) == pytest.approx(precise_height(M, tau), rel=2e-15)


def test_height_takes_arrays_and_starts_at_zero():
    x = decoder.height(50, np.array([0.0, 1e-300, 2.0]))
    assert x[0] == 0
    assert x[1] == pytest.approx(1e-300, rel=1e-15)
    assert (np.diff(decoder.height(50, np.geomspace(1e-9, 1e12, 400))) > 0).all()


def test_height_agrees_with_the_closed_form_where_that_is_good():
    tau = np.linspace(1.0, 30.0, 50)
    assert decoder.height(100, tau) == pytest.approx(decoder.closed_form(100, tau), rel=1e-13)


def test_recursion_by_hand():
    x = decoder.recursion(5, 1.0, 2)
    # first step: M eta / M = eta
    assert x.tolist() == pytest.approx([0, 1, 1 + 5 / (4 + np.e)], rel=1e-15)


def test_speed_is_that_of_its_definition():
    M, K, eta, t = 30, 4, 0.5, 37.0
    h = float(decoder.height(M, eta * t / K)) / M
    expected = (M - 1) ** 2 * h / (M - 1 + np.exp(M * h))
    assert float(decoder.speed(M, K, eta, t)) == pytest.approx(expected, rel=1e-13)
    assert float(decoder.speed_at(10, np.asarray(800.0))) == 0  # underflows and does not overflow


def test_crossings_and_omegas_solve_their_equations():
    for M in (4, 5, 1000, 10**6):
        lower, upper = decoder.crossings(M)
        assert lower < 1 < upper
        for x in (lower, upper):
            assert np.exp(x) == pytest.approx((M - 1) * x, rel=1e-12)
    omega_0, omega_1 = decoder.omegas(1000)
    assert 1000 ** (omega_0 - 1) == pytest.approx(decoder.crossings(1000)[0], rel=1e-12)
    assert (1 + omega_1) * np.log(1000) == pytest.approx(decoder.crossings(1000)[1], rel=1e-12)
    expected = 2 * (1 + omega_1) * 7 * np.log(1000) / 0.5
    assert decoder.transition(1000, 7, 0.5) == pytest.approx(expected, rel=1e-14)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="M = 1"):
        decoder.recursion(1, 0.5, 3)
    with pytest.raises(ValueError, match="eta = 0"):
        decoder.recursion(5, 0.0, 3)
    with pytest.raises(ValueError, match="tau = -1"):
        decoder.height(5, -1.0)
    with pytest.raises(ValueError, match="M = 3"):
        decoder.crossings(3)
    with pytest.raises(ValueError, match="K = 3 classes"):
        decoder.zero_decoder(2, np.zeros((3, 3)))


# All classes together


@pytest.mark.parametrize("modified", [False, True])
def test_a_run_is_that_of_dense_matrices(modified):
    K, M, eta = 4, 15, 0.7
    f = inputs(K, M)
    E = correlations(f)
    mix = np.eye(K) - E_prime(E) if modified else np.eye(K)
    draws = np.random.default_rng(1).integers(K, size=50)
    Y = np.zeros((M, M))
    for n in draws:
        alpha = np.asarray(jax.nn.softmax(f[n] @ Y))
        Y += eta * np.outer(f.T @ mix[:, n], np.eye(M)[n] - alpha)
    state = decoder.run(decoder.zero_decoder(M, E), draws, eta, modified)
    assert pytest.approx((f @ Y)[:, : K + 1], abs=1e-12) == state.W
    assert f.T @ state.A[:, :K] == pytest.approx(Y[:, :K], abs=1e-12)
    assert state.updates.tolist() == np.bincount(draws, minlength=K).tolist()


def test_residual_keeps_what_a_difference_would_lose():
    w = np.array([50.0, 0.0, 0.0])  # two classes, 8 other tokens
    found = decoder.residual(w, 0, 10)
    assert found[0] == pytest.approx(9 * np.exp(-50.0), rel=1e-12)
    assert found[0] + found[1] + 8 * found[2] == pytest.approx(0, abs=1e-36)
    square = decoder.residual(np.array([1.0, 0.0, -9.0]), 1, 2)  # K = M: no other token
    assert square[1] == pytest.approx(np.e / (1 + np.e))
    assert square[0] == pytest.approx(-square[1])


@pytest.mark.parametrize("modified", [False, True])
def test_the_flow_is_the_limit_of_small_steps(modified):
    K, M, eta = 3, 20, 1.0
    start = decoder.zero_decoder(M, correlations(inputs(K, M)))
    flow = decoder.flow(start, eta, np.array([6.0, 12.0]), modified)
    errors = []
    for parts in (20, 40):
        state = decoder.run(start, list(range(K)) * (4 * parts), eta / parts, modified)
        errors.append(np.abs(state.W - flow[1].W).max())
    assert errors[1] < 0.6 * errors[0] < 0.05  # the error halves with the step
    if modified:  # then each row follows h by itself
        gap = flow[0].W[0, 0] - flow[0].W[0, 1]
        assert gap == pytest.approx(float(decoder.height(M, eta * 2.0)), rel=1e-7)


def test_coefficients_give_the_gradient_of_the_attention():
    K, M = 3, 14
    f = inputs(K, M)
    state = decoder.run(decoder.zero_decoder(M, correlations(f)), [0, 1, 2, 0, 1], 0.9, False)
    Y = f.T @ np.hstack([state.A[:, :K], np.repeat(state.A[:, K:], M - K, axis=1)])
    for n in range(K):
        residual = np.eye(M)[n] - np.asarray(jax.nn.softmax(f[n] @ Y))
        g = Y @ residual
        coefficients = decoder.gradient_coefficients(state, n)
        assert f.T @ coefficients == pytest.approx(g, abs=1e-14)
        assert decoder.xi(state, n) == pytest.approx(coefficients[n] - f[n] @ g, abs=1e-14)
