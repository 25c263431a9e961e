"""Tests of the coupled flow: against automatic differentiation, dense matrices, and by hand."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ntpcore.tian2023 import coupled
from ntpcore.tian2023.coupled import Symmetric

pytestmark = pytest.mark.usefixtures("in_float64")


SEVERAL = Symmetric(4, 20, (0.7, 0.3), (1.0, 0.5, 0.2), 2)


def likelihood(data: Symmetric, Y: jax.Array, z: jax.Array) -> jax.Array:
    """Expected log-likelihood of the next token, all classes alike."""
    classes = data.classes()
    n = jnp.arange(data.K)
    c = jnp.array(classes.probabilities) * jnp.exp(z[jnp.array(classes.query)])
    c = c / c.sum(axis=1, keepdims=True)
    logits = (c / jnp.linalg.norm(c, axis=1, keepdims=True)) @ Y
    return jnp.mean(logits[n, n] - jax.nn.logsumexp(logits, axis=1))


def reduced_slopes(data: Symmetric, state: np.ndarray, forget: bool = False) -> np.ndarray:
    """What `fill_slopes` gives for the rates 0.3 and 0.7."""
    p = np.concatenate(data.probabilities)
    f, g, out = np.empty(len(p)), np.empty(len(p)), np.empty(len(state))
    sizes = (len(data.common), data.K, data.M, data.queries, 0.3, 0.7)
    coupled.fill_slopes(state, p, *sizes, forget, f, g, out)
    return out


@pytest.mark.parametrize("data", [SEVERAL, Symmetric(3, 4, (1.0,), (2.0,))])
def test_the_reduced_slopes_are_the_gradient_by_automatic_differentiation(data: Symmetric) -> None:
    state = np.random.default_rng(1).normal(size=len(coupled.zero_state(data)))
    Y, z = coupled.dense(data, state)
    by_jax = jax.grad(lambda Y, z: likelihood(data, Y, z), (0, 1))(jnp.array(Y), jnp.array(z))
    reduced = coupled.dense(data, reduced_slopes(data, state))
    assert np.abs(0.3 * np.asarray(by_jax[0]) - reduced[0]).max() < 1e-15
    assert np.abs(0.7 * np.asarray(by_jax[1]) - reduced[1]).max() < 1e-15


def test_the_dense_slopes_are_the_gradient_without_any_symmetry() -> None:
    rng = np.random.default_rng(2)
    Y, z = rng.normal(size=(20, 20)), rng.normal(size=(2, 20))
    by_jax = jax.grad(lambda Y, z: likelihood(SEVERAL, Y, z), (0, 1))(jnp.array(Y), jnp.array(z))
    dense = coupled.dense_slopes(SEVERAL.classes(), Y, z, 1.0, 1.0)
    assert np.abs(np.asarray(by_jax[0]) - dense[0]).max() < 1e-15
    assert np.abs(np.asarray(by_jax[1]) - dense[1]).max() < 1e-15


def test_the_first_step_by_hand() -> None:
    data = Symmetric(2, 4, (1.0,), (1.0,))
    run = coupled.descend(data, 1.0, 1.0, [0, 1])
    f = math.sqrt(0.5)  # both tokens of a class alike
    # probabilities are 1/4: the rest of e_n is 3/4, -1/4; the common row gets half of each
    assert run.rows[0].tolist() == [0.0] * 5
    assert run.rows[1] == pytest.approx([0, 0, f / 4, f * 3 / 8, -f / 8], abs=1e-15)


def test_descent_agrees_with_dense_descent() -> None:
    classes = SEVERAL.classes()
    Y, z = np.zeros((20, 20)), np.zeros((2, 20))
    for _ in range(200):
        change_Y, change_z = coupled.dense_slopes(classes, Y, z, 3.0, 1.0)
        Y, z = Y + change_Y, z + change_z
    run = coupled.descend(SEVERAL, 3.0, 1.0, [50, 200])
    found = coupled.dense(SEVERAL, run.rows[-1])
    assert np.abs(found[0] - Y).max() < 1e-12
    assert np.abs(found[1] - z).max() < 1e-13


def test_flow_is_descent_with_small_steps_and_scales_with_both_rates() -> None:
    data = coupled.one_of_each(3, 30, 0.5)
    slow = coupled.descend(data, 0.02, 0.01, [5000])
    flow = coupled.flow(data, 2.0, 1.0, np.array([50.0]))
    same = coupled.flow(data, 0.02, 0.01, np.array([5000.0]))
    assert slow.rows[-1] == pytest.approx(flow.rows[-1], rel=5e-3)  # the step size is 0.01 of one
    assert same.rows[-1] == pytest.approx(flow.rows[-1], rel=1e-7)  # the integrator's tolerance


def test_rows_of_z_keep_their_sum_and_scores_sum_to_one() -> None:
    run = coupled.flow(SEVERAL, 2.0, 1.0, np.geomspace(1, 1e4, 5))
    total = run.z_common.sum(axis=1) + 2 * run.z_distinct.sum(axis=1)  # two classes per query
    assert np.abs(total).max() < 1e-12
    assert run.scores.sum(axis=1) == pytest.approx(np.ones(5))
    assert run.epsilon[0] < 1
    start = coupled.flow(coupled.one_of_each(4, 20, 0.3), 1.0, 1.0, np.array([1e-6]))
    assert start.epsilon[0] == pytest.approx(0.3, abs=1e-9)


def test_without_memory_the_force_on_a_distinct_token_is_f_squared_times_xi() -> None:
    run = coupled.flow(SEVERAL, 2.0, 1.0, np.array([5.0, 50.0]), forget=True)
    f, g = run.gradients
    kappa = g[:, 2:] / f[:, 2:]
    assert np.ptp(kappa, axis=1).max() < 1e-12
    assert kappa[:, 0] - (f * g).sum(axis=1) == pytest.approx(run.xi)


def test_with_memory_xi_is_what_moves_the_square_of_f_on_the_distinct_tokens() -> None:
    # (98) with one xi for all distinct tokens: sum_d f_d z_d' / f_d is xi times the sum of f_d^2
    run = coupled.flow(SEVERAL, 2.0, 1.0, np.array([5.0, 50.0]))
    f = run.gradients[0][:, 2:]
    for i, row in enumerate(run.rows):
        moved = reduced_slopes(SEVERAL, row)[2:5] / (0.7 / SEVERAL.K)
        assert run.xi[i] == pytest.approx(moved.sum() / (f[i] ** 2).sum(), rel=1e-12)
    assert np.ptp(run.gradients[1][1, 2:] / f[1]) > 1e-3  # here tokens do not move alike


def test_entropy_of_equal_tokens_is_the_logarithm_of_their_number() -> None:
    run = coupled.flow(Symmetric(2, 9, (1.0,), (0.5, 0.5, 0.5)), 1.0, 1.0, np.array([10.0]))
    assert run.entropy[0] == pytest.approx(math.log(3))


def test_what_does_not_fit_is_refused() -> None:
    few = Symmetric(3, 3, (1.0,), (1.0,))  # a decoder of the next tokens alone, no vocabulary
    for refuse in (few.classes, lambda: coupled.descend(few, 1.0, 1.0, [1])):
        with pytest.raises(ValueError, match="do not fit"):
            refuse()
    with pytest.raises(ValueError, match="do not fit"):
        coupled.flow(few, 1.0, 1.0, np.array([1.0]))
    with pytest.raises(ValueError, match="do not fit"):
        coupled.dense(few, np.zeros(5))
    with pytest.raises(ValueError, match="make no classes"):
        Symmetric(3, 2, (1.0,), (1.0,))
    with pytest.raises(ValueError, match="do not divide"):
        Symmetric(4, 20, (1.0,), (1.0,), 3)
    with pytest.raises(ValueError, match="positive"):
        Symmetric(4, 20, (0.0,), (1.0,))
    with pytest.raises(ValueError, match="between 0 and 1"):
        coupled.one_of_each(2, 9, 1.0)
    with pytest.raises(ValueError, match="increasing"):
        coupled.descend(SEVERAL, 1.0, 1.0, [3, 3])


def test_the_paper_s_classes_have_the_paper_s_sizes() -> None:
    data = coupled.syn(5, 2)
    assert (data.K, data.M) == (10, 125)
    assert data.probabilities[0].sum() == pytest.approx(10 / 15.5)
