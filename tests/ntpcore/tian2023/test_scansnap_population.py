"""The coupled dynamics: gradients by jax and by single sequences, and a flow that follows steps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ntpcore.tian2023 import classes as families
from ntpcore.tian2023 import layer, population
from ntpcore.tian2023.population import HeadWeights

pytestmark = pytest.mark.usefixtures("in_float64")


def random_population(seed, K=4, queries=2, others=3):
    """Random classes over ten tokens, of which the last two are the queries."""
    rng = np.random.default_rng(seed)
    one = families.random_classes(rng, K, 14, 2, 2, queries)
    return population.of_classes(one, np.array([12, 13])[:queries], K + others), rng


def jax_objective(data, skip):
    """J with jax, with one column of Y for every output token."""

    def J(Y, z):
        total = 0.0
        for n in range(len(data.q)):
            logits = 0.0
            for h in range(len(z)):
                weights = data.q[n] * jnp.exp(z[h, data.query[n]])
                v = weights / weights.sum()
                own = jnp.eye(len(v))[data.query_token[data.query[n]]]
                v = v + own if skip == "before" else v
                f = v / jnp.linalg.norm(v)
                f = f + own if skip == "after" else f
                logits = logits + Y[h].T @ f
            total += data.weight[n] * jax.nn.log_softmax(logits)[data.following[n]]
        return total

    return J


def test_scores_do_not_change_where_a_row_is_shifted_however_far():
    """A softmax knows differences alone; a thousand is more than an exponential can hold."""
    data, rng = random_population(3)
    z = rng.normal(size=(2, 2, data.q.shape[1]))
    plain = data.q * np.exp(z[:, data.query])
    plain /= plain.sum(axis=2, keepdims=True)
    for shift in (0, -1000, 1000):
        assert np.allclose(population.scores(data, z + shift), plain, rtol=1e-10, atol=0)


@pytest.mark.parametrize("skip", population.SKIPS)
@pytest.mark.parametrize("heads", [1, 3])
def test_the_gradient_is_the_derivative_that_jax_finds(skip, heads):
    data, rng = random_population(5)
    K, M = data.K, data.q.shape[1]
    state = HeadWeights(rng.normal(size=(heads, M, K + 1)), rng.normal(size=(heads, 2, M)))
    full = np.concatenate([state.Y[:, :, :K]] + [state.Y[:, :, K:]] * data.others, axis=2)
    J = jax_objective(data, skip)
    assert population.log_likelihood(data, state, skip) == pytest.approx(float(J(full, state.z)))
    dY, dz = jax.grad(J, argnums=(0, 1))(full, state.z)
    ours = population.gradient(data, state, skip)
    expected = np.asarray(dY)[:, :, : K + 1]
    assert np.abs(ours.Y - expected).max() < 1e-14
    assert ours.z == pytest.approx(np.asarray(dz), abs=1e-14)  # some tens of roundings


def test_sequences_move_as_the_layer_moves_them():
    rng = np.random.default_rng(6)
    M, K = 6, 3
    samples = [layer.random_sample(rng, M, 9) for _ in range(5)]
    samples = [layer.Sample(one.context, k % 2, k % K) for k, one in enumerate(samples)]
    counts = np.array([np.bincount(one.context, minlength=M) for one in samples])
    data = population.of_counts(
        counts,
        np.array([one.following for one in samples]),
        np.array([one.query for one in samples]),
        M - K,
    )
    Y, z = rng.normal(size=(M, K + 1)), rng.normal(size=(2, M))
    full = np.concatenate([Y[:, :K]] + [Y[:, K:]] * (M - K), axis=1)
    Z = np.concatenate([z, np.zeros((M - 2, M))])
    slopes = [layer.gradients(one, full, Z) for one in samples]
    ours = population.gradient(data, HeadWeights(Y[None], z[None]))
    mean_Y, mean_Z = (np.mean([slope[k] for slope in slopes], axis=0) for k in (0, 1))
    assert ours.Y[0] == pytest.approx(mean_Y[:, : K + 1], abs=1e-14)
    assert ours.z[0] == pytest.approx(mean_Z[:2], abs=1e-14)


def test_the_flow_is_the_limit_of_small_steps():
    data, _ = random_population(7)
    target = population.flow(data, population.start(data), 1.0, 0.3, np.array([20.0]))[0]
    gaps = []
    for steps in (200, 400):
        end = population.descend(data, population.start(data), 20 / steps, 6 / steps, steps)
        gaps.append(np.abs(end.z - target.z).max())
    assert gaps[1] < 0.6 * gaps[0] < 0.02  # the error of Euler's method halves with its step


def test_errors_stay_exact_where_the_prediction_is_right():
    one = families.layered_classes([1.0], [[1.0], [1.0]], 3, [0, 0])
    data = population.of_classes(one, M=50)
    Y = np.zeros((1, 3, 3))
    Y[0, 1, 0] = Y[0, 2, 1] = 100.0
    seen = population.inputs(data, population.scores(data, np.zeros((1, 1, 3))))
    error = population.errors(data, HeadWeights(Y, np.zeros((1, 1, 3))), seen)
    # 48 others and one next token share exp(-100 / sqrt(2)) of the mass each
    assert error[0, 0] == pytest.approx(49 * np.exp(-100 / np.sqrt(2)), rel=1e-12)
    assert error[0] @ [1, 1, 48] == pytest.approx(0, abs=1e-40)


def test_wrong_residual_connections_are_refused():
    data, _ = random_population(8)
    c = population.scores(data, np.zeros((1, 2, 14)))
    with pytest.raises(ValueError, match="choose one of none, before, after"):
        population.inputs(data, c, "beside")
    plain = population.of_classes(families.equicorrelated_classes(2, 5, 0.3))
    with pytest.raises(ValueError, match="query_token"):
        population.inputs(plain, population.scores(plain, np.zeros((1, 1, 5))), "after")
