"""Attention dynamics: right-hand sides against derivatives, closed forms against integration."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from ntpbook.tian2023.s5_fates import attention
from ntpcore.tian2023 import classes, decoder

pytestmark = pytest.mark.usefixtures("in_float64")


def drawn(seed: int, queries: int = 2, K: int = 4) -> tuple[classes.SequenceClasses, np.ndarray]:
    """Random classes and a random Z."""
    rng = np.random.default_rng(seed)
    data = classes.random_classes(rng, K, 20, 4, 3, queries)
    return data, rng.normal(size=(data.L, data.M))


def likelihood(z, P, query, Y):
    """Sum over the classes of log softmax(Y^T f_n)_n, every class at its own next token n."""
    total = 0.0
    for n, m in enumerate(query):
        weights = P[n] * jnp.exp(z[m])
        f = weights / jnp.linalg.norm(weights)
        total += jax.nn.log_softmax(Y.T @ f)[n]
    return total


@pytest.mark.parametrize("seed", range(4))
def test_the_velocity_is_the_gradient_of_the_summed_likelihood(seed):
    data, z = drawn(seed, queries=1 + seed % 3)
    rng = np.random.default_rng(seed + 100)
    Y = rng.normal(size=(data.M, data.M))
    f = classes.unit_scores(data, z)
    alpha = np.array([jax.nn.softmax(Y.T @ one) for one in f])
    g = (np.eye(data.M)[: data.K] - alpha) @ Y.T
    found = attention.velocity_of_gradient(data.query, f, g)
    expected = jax.grad(likelihood)(jnp.asarray(z), data.probabilities, data.query, Y)
    assert found == pytest.approx(np.asarray(expected), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("modified", [True, False])
def test_equation_10_is_the_gradient_of_the_likelihood_at_a_trained_decoder(modified):
    data, z = drawn(5)
    f = classes.unit_scores(data, z)
    E = classes.correlations(f)
    draws = np.random.default_rng(1).integers(data.K, size=60)
    state = decoder.run(decoder.zero_decoder(data.M, E), draws, 0.7, modified)
    others = np.tile(state.A[:, -1:], (1, data.M - data.K))  # one column for each other token
    Y = f.T @ np.hstack([state.A[:, : data.K], others])
    beta = -np.array([decoder.gradient_coefficients(state, n) for n in range(data.K)])
    expected = jax.grad(likelihood)(jnp.asarray(z), data.probabilities, data.query, Y)
    found = attention.velocity(data.query, f, beta)
    assert found == pytest.approx(np.asarray(expected), rel=1e-9, abs=1e-13)


def test_coefficients_agree_with_runs_of_the_modified_update():
    data, z = drawn(6)
    E = classes.correlations(classes.unit_scores(data, z))
    M, eta, rounds = 300, 0.3, 40
    state = decoder.run(
        decoder.zero_decoder(M, E), list(range(data.K)) * rounds, eta, modified=True
    )
    x = decoder.recursion(M, eta, rounds)[rounds]
    gamma = decoder.speed_at(M, x)
    beta = -np.array([decoder.gradient_coefficients(state, n) for n in range(data.K)]) / gamma
    np.fill_diagonal(beta, 0.0)
    assert beta == pytest.approx(attention.coefficients(E, M), rel=1e-9, abs=1e-12)
    xi = [decoder.xi(state, n) / gamma for n in range(data.K)]
    assert attention.forces(E, beta) == pytest.approx(xi, rel=1e-10)


def test_coefficients_with_random_counts_agree_with_a_run():
    data, z = drawn(7)
    E = classes.correlations(classes.unit_scores(data, z))
    M, eta = 200, 0.4
    draws = np.random.default_rng(3).integers(data.K, size=120)
    state = decoder.run(decoder.zero_decoder(M, E), draws, eta, modified=True)
    path = decoder.recursion(M, eta, 120)
    mean = path[30]
    theta = path[state.updates] / mean - 1
    gamma = decoder.speed_at(M, mean)
    own = (M - 1 + np.exp(mean)) / (M - 1 + np.exp(path[state.updates]))
    beta = -np.array([decoder.gradient_coefficients(state, n) for n in range(data.K)]) / gamma
    np.fill_diagonal(beta, 0.0)
    expected = attention.coefficients(E, M, theta, own - 1)
    assert beta == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_velocity_by_hand():
    # f_1 = (0.6, 0.8, 0), f_2 = (0.6, 0, 0.8): f_1 . f_2 = 0.36, the common token has
    # -2 * (1 - 0.36) * 0.36, a distinct one 0.64 * 0.36
    f = np.array([[0.6, 0.8, 0.0], [0.6, 0.0, 0.8]])
    beta = np.array([[5.0, 1.0], [1.0, 7.0]])  # what stands on the diagonal plays no role
    found = attention.velocity((0, 0), f, beta)
    assert found == pytest.approx(np.array([[-2 * 0.64 * 0.36, 0.64 * 0.36, 0.64 * 0.36]]))


def test_the_clock_is_the_integral_of_the_speed():
    M, K, eta_Y, eta_Z = 1000, 5, 0.7, 0.2
    value, _ = quad(lambda t: float(decoder.speed(M, K, eta_Y, t)), 0, 300, limit=200)
    assert attention.clock(M, K, eta_Y, eta_Z, 300.0) == pytest.approx(eta_Z / K * value, rel=1e-8)


def test_the_flow_agrees_with_small_explicit_steps():
    data, start = drawn(8)
    path = attention.flow(data, 100, np.linspace(0, 0.2, 3), start)
    z, steps = start.copy(), 4000
    for _ in range(steps):
        f = classes.unit_scores(data, z)
        beta = attention.coefficients(classes.correlations(f), 100)
        z += 0.2 / steps * attention.velocity(data.query, f, beta)
    assert path.z[-1] == pytest.approx(z, abs=1e-4)  # steps of Euler have an error of this order
    assert path.z[-1].sum(axis=1) == pytest.approx(start.sum(axis=1), abs=1e-9)
    assert path.f(0) == pytest.approx(classes.unit_scores(data, start))


def test_the_coupled_flow_agrees_with_gradient_steps_of_jax():
    data = classes.layered_classes([1.0, 0.5], [[1.0, 0.6], [0.8, 0.3]], 8, (0, 1))
    M, eta_Y, eta_Z, time, steps = 8, 0.5, 0.3, 6.0, 3000

    def mean_loss(z, Y):
        return likelihood(z, data.probabilities, data.query, Y) / data.K

    gradient = jax.jit(jax.grad(mean_loss, argnums=(0, 1)))
    z, Y = np.zeros((2, 8)), np.zeros((8, 8))
    for _ in range(steps):
        dz, dY = gradient(z, Y)
        z, Y = z + eta_Z * time / steps * dz, Y + eta_Y * time / steps * dY
    path = attention.coupled_flow(data, M, eta_Y, eta_Z, np.array([0.0, time]))
    size = np.abs(path.z[-1]).max()
    assert path.z[-1] == pytest.approx(np.asarray(z), abs=2e-3 * size)  # the error of Euler's steps


def test_the_follower_and_the_growth_factor_agree_with_the_flow():
    data = classes.layered_classes([1.0], [[1.0, 0.5, 0.3], [0.9, 0.2]], 100, (0, 0))
    start = np.zeros((1, 100))
    start[0, 2] = 0.2
    path = attention.flow(data, 100, np.linspace(0, 20, 9), start)
    z, P = path.z[:, 0], data.probabilities[0]
    found = attention.follower(P[1], P[2], z[:, 1], z[0, 2])
    assert found == pytest.approx(z[:, 2], abs=1e-7)
    first, last = (attention.relative_gain(path.f(place)[0], 1, 2) for place in (0, -1))
    assert last == pytest.approx(first * attention.growth(z[-1, 1], z[0, 1]), rel=1e-7)


def test_a_dominating_follower_is_refused():
    with pytest.raises(ValueError, match="dominates"):
        attention.follower(0.1, 0.9, np.linspace(0, 5, 5), 0.0)
