"""Coefficients of the back-propagated gradient against dense matrices, autodiff and fractions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from ntpbook.tian2023.s4_gradient import gradient
from ntpcore.tian2023 import classes, decoder

pytestmark = pytest.mark.usefixtures("in_float64")


def test_overlaps_are_inner_products_of_zeta():
    for M in (3, 8, 30):
        first, other = decoder.zeta(M, 0), decoder.zeta(M, 1)
        q_1, q_0 = gradient.overlaps(M)
        assert first @ first == pytest.approx(q_1, rel=1e-14)
        assert first @ other == pytest.approx(q_0, rel=1e-12)


def test_deviations_of_a_run_follow_their_definitions():
    M, eta, updates = 40, 0.7, np.array([4, 9, 5])
    found = gradient.deviations(M, eta, updates)
    x_bar = float(decoder.height(M, eta * 6))
    for k, times in enumerate(updates):
        x = decoder.recursion(M, eta, int(times))[-1]
        assert found.theta[k] == pytest.approx(x / x_bar - 1, rel=1e-12)
        ratio = (M - 1 + np.exp(x_bar)) / (M - 1 + np.exp(x))
        assert found.sigma[k] == pytest.approx(ratio - 1, rel=1e-10)
    assert found.gamma == pytest.approx(decoder.speed(M, 3, eta, 18.0))


def test_deviations_need_a_draw():
    with pytest.raises(ValueError, match="no class was drawn"):
        gradient.deviations(10, 0.1, np.zeros(3, dtype=np.int64))


def test_coefficients_agree_with_the_dense_solution_of_theorem_5():
    rng = np.random.default_rng(3)
    data = classes.random_classes(rng, 4, 25, 4, 2)
    f = classes.unit_scores(data)
    E = classes.correlations(f)
    prime, theta, sigma = classes.E_prime(E), rng.uniform(-0.3, 0.3, 4), 0.2
    rows = np.array([decoder.zeta(25, n) for n in range(4)])
    Y = f.T @ (np.eye(4) - prime) @ np.diag(1 + theta) @ rows
    for n in range(4):
        g = Y @ ((1 + sigma) * decoder.zeta(25, n))
        found = gradient.coefficients(25, prime, theta, sigma, n)
        combined = found.iota * f[n] - found.beta @ f
        assert g == pytest.approx(combined, rel=1e-12, abs=1e-14)
        for form in ("q_0 with its sign", "q_0 as a size"):
            other = gradient.coefficients(25, prime, theta, sigma, n, form)
            assert np.abs(other.beta - found.beta).max() > 1e-4


def test_coefficients_refuse_an_unknown_form():
    with pytest.raises(ValueError, match="no form"):
        gradient.coefficients(10, np.zeros((2, 2)), np.zeros(2), 0.0, 0, "else")


@pytest.mark.parametrize("modified", [False, True])
def test_the_gradient_of_a_run_is_the_automatic_derivative_of_the_likelihood(modified):
    rng = np.random.default_rng(5)
    data = classes.random_classes(rng, 3, 20, 3, 2)
    f = classes.unit_scores(data)
    E = classes.correlations(f)
    state = decoder.run(decoder.zero_decoder(20, E), rng.integers(3, size=60), 0.8, modified)
    A = np.hstack([state.A[:, :3], np.repeat(state.A[:, 3:], 17, axis=1)])
    Y = jnp.asarray(f.T @ A)
    for n in range(3):
        g = jax.grad(lambda v, n=n: (Y.T @ v)[n] - jax.nn.logsumexp(Y.T @ v))(jnp.asarray(f[n]))
        found = decoder.gradient_coefficients(state, n) @ f
        assert found == pytest.approx(np.asarray(g), rel=1e-10, abs=1e-13)
        if modified:
            gamma, expected = gradient.of_run(state, classes.E_prime(E), 0.8, n)
            combined = gamma * (expected.iota * f[n] - expected.beta @ f)
            assert combined == pytest.approx(np.asarray(g), rel=1e-10, abs=1e-13)


def test_xi_uniform_agrees_with_forty_digits_and_does_not_cancel():
    for e in (0.3, 1e-3, 1e-9):
        E = e * (np.ones((3, 3)) - np.eye(3))
        with mpmath.workdps(60):
            G = (mpmath.eye(3) + mpmath.matrix(E.tolist())) ** -1
            exact = mpmath.mpf(50) / 49 * (G[0, 0] - 1 - (G[0, 1] + G[0, 2]) / 49)
        assert gradient.xi_uniform(50, E) == pytest.approx([float(exact)] * 3, rel=1e-12)


def test_xi_uniform_agrees_with_the_coefficients():
    rng = np.random.default_rng(1)
    E = gradient.random_correlations(rng, 5, 0.4)
    found = gradient.xi_uniform(30, E)
    for n in range(5):
        expected = gradient.coefficients(30, classes.E_prime(E), np.zeros(5), 0.0, n)
        assert found[n] == pytest.approx(expected.beta @ E[n], rel=1e-11)


def test_the_safe_radius_solves_its_equation():
    assert gradient.safe_radius(2, 0.9) == 1.0
    assert gradient.safe_radius(5) == pytest.approx(1 / 3)
    r = gradient.safe_radius(10, 0.25)
    assert 3 * r / (1 - r) == pytest.approx(0.6)
    with pytest.raises(ValueError, match="theta_bar"):
        gradient.safe_radius(3, 1.0)


def test_a_star_has_the_radius_of_its_weights():
    E = gradient.star(3, 0.4, 0.1)
    assert np.abs(np.linalg.eigvalsh(E)).max() == pytest.approx((3 * 0.16 + 0.01) ** 0.5)


def test_random_correlations_are_overlaps_of_unit_vectors():
    rng = np.random.default_rng(2)
    for K in (2, 3, 8, 30):
        E = gradient.random_correlations(rng, K, 0.3, shared=4)
        assert (E >= 0).all()
        assert (np.diag(E) == 0).all()
        assert (E == E.T).all()
        assert np.abs(np.linalg.eigvalsh(E)).max() <= 0.3 + 1e-12
        assert E.max() > 0
        # nonnegative vectors: what is left of I + E after the distinct tokens has rank <= 4
        assert np.linalg.eigvalsh(np.eye(K) + E)[0] > 0
