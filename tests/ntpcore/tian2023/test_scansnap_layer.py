"""The layer of Tian et al. (2023): its gradients are the derivatives that jax finds."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ntpcore.tian2023 import layer
from ntpcore.tian2023.layer import Sample

pytestmark = pytest.mark.usefixtures("in_float64")


def jax_likelihood(X, following, Y, z):
    """J of one sequence, with jax, straight from (1) and (2)."""
    b = jax.nn.softmax(X @ z)
    v = X.T @ b
    return jax.nn.log_softmax(Y.T @ (v / jnp.linalg.norm(v)))[following]


JAX_GRADIENTS = jax.jit(jax.grad(jax_likelihood, argnums=(2, 3)))


@pytest.mark.parametrize(("M", "length"), [(3, 1), (5, 4), (12, 30), (40, 127)])
def test_the_gradients_are_the_derivatives_that_jax_finds(M, length):
    rng = np.random.default_rng((M, length))
    for number in range(60):
        sample = layer.random_sample(rng, M, length)
        Y, Z = (0.3, 1.0, 4.0)[number % 3] * rng.normal(size=(2, M, M))
        X = layer.one_hot(sample.context, M)
        dY, dz = JAX_GRADIENTS(X, sample.following, Y, Z[sample.query])
        ours_Y, ours_Z = layer.gradients(sample, Y, Z)
        scale = np.abs(Y).max()
        assert ours_Y == pytest.approx(np.asarray(dY), abs=1e-14)  # roundings of numbers below 1
        # a product of Y with a difference of probabilities, so rounding is relative to Y
        assert ours_Z[sample.query] == pytest.approx(np.asarray(dz), abs=2e-14 * scale)
        row = layer.row_gradient(sample, Y, Z[sample.query])
        assert row == pytest.approx(np.asarray(dz), abs=2e-14 * scale)
        short = layer.short_row_gradient(sample, Y, Z[sample.query])
        assert short == pytest.approx(np.asarray(dz), abs=2e-14 * scale)


def test_attention_by_hand():
    X = layer.one_hot((0, 0, 1), 3)
    b = layer.attention(X, np.array([math.log(3), 0.0, 9.0]))
    assert b == pytest.approx([3 / 7, 3 / 7, 1 / 7])
    assert layer.unit(X.T @ b) == pytest.approx(np.array([6, 1, 0]) / math.sqrt(37))


def test_the_likelihood_by_hand():
    Y = np.zeros((2, 2))
    Y[0, 1] = math.log(3)  # only token 0 in the context: logits (0, ln 3)
    sample = Sample((0, 0), 1, 1)
    assert layer.log_likelihood(sample, Y, np.zeros((2, 2))) == pytest.approx(math.log(3 / 4))
    assert sample.T == 3


def test_the_projection_removes_its_vector_and_nothing_else():
    v = np.array([3.0, 0.0, 4.0])
    P = layer.projection(v)
    assert pytest.approx(np.zeros(3)) == P @ v
    assert pytest.approx(P) == P @ P
    assert np.trace(P) == pytest.approx(2)


def test_weights_from_embeddings_mask_the_query():
    rng = np.random.default_rng(2)
    net, sample = layer.random_embedded(rng, 5, 4), layer.random_sample(rng, 5, 6)
    assert layer.embedded_weights(net, sample)[-1] == 0
    assert layer.embedded_weights(net, sample, masked=False)[-1] > 0
    assert layer.embedded_weights(net, sample).sum() == pytest.approx(1)


def test_embeddings_and_logits_give_one_likelihood():
    rng = np.random.default_rng(3)
    for M, d in ((4, 3), (6, 9)):
        net, sample = layer.random_embedded(rng, M, d), layer.random_sample(rng, M, 7)
        found = layer.log_likelihood(sample, net.Y, net.Z)
        assert found == pytest.approx(layer.embedded_log_likelihood(net, sample), rel=1e-12)


def test_large_scores_do_not_overflow():
    X = layer.one_hot((0, 1), 2)
    assert layer.attention(X, np.array([2000.0, 0.0])).tolist() == [1.0, 0.0]
    assert layer.softmax(np.array([-3000.0, 0.0])).tolist() == [0.0, 1.0]
