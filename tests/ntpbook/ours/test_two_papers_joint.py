"""The layer of both papers and its joint training, against automatic differentiation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ntpbook.ours.two_papers import joint
from ntpbook.ours.two_papers.parting_data import rivals
from ntpcore.data.dataset import from_samples, from_sentences

pytestmark = pytest.mark.usefixtures("in_float64")


DATA = from_sentences(["a b c a", "b c a", "c a b", "a c c b a"], "four sentences")


def jax_loss(samples, Y, Z, unit):
    """The loss written with plain softmaxes."""
    total = 0.0
    for i, row in enumerate(samples.counts):
        seen = [x for x, count in enumerate(row) for _ in range(int(count))]
        X = jnp.eye(len(samples.vocabulary))[jnp.array(seen)]
        mixed = X.T @ jax.nn.softmax(X @ Z[samples.query[i]])
        if unit:
            mixed = mixed / jnp.linalg.norm(mixed)
        total -= samples.weight[i] * jax.nn.log_softmax(mixed @ Y)[samples.following[i]]
    return total


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("hide", [False, True])
def test_loss_and_descent_agree_with_automatic_differentiation(hide, unit):
    samples = joint.from_dataset(DATA, hide_query=hide)
    Y, Z = np.random.default_rng(3).normal(size=(2, 3, 3))
    value, slopes = jax.value_and_grad(lambda Y, Z: jax_loss(samples, Y, Z, unit), argnums=(0, 1))(
        jnp.array(Y), jnp.array(Z)
    )
    assert joint.loss(samples, Y, Z, unit=unit) == pytest.approx(float(value), rel=1e-12)
    for ours, slope in zip(joint.descent(samples, Y, Z, unit=unit), slopes, strict=True):
        assert np.abs(ours + np.array(slope)).max() < 1e-13


def test_hidden_queries_leave_one_token_sentences_without_anything_to_attend_to():
    data = from_samples([(("a",), "b"), (("b", "b", "a"), "b")])
    seen = joint.from_dataset(data, hide_query=False)
    hidden = joint.from_dataset(data, hide_query=True)
    assert seen.counts.tolist() == [[1, 0], [1, 2]]
    assert hidden.counts.tolist() == [[0, 2]]
    assert hidden.weight.tolist() == [1.0]
    with pytest.raises(ValueError, match="no sample has a position to attend to"):
        joint.from_dataset(from_samples([(("a",), "b")]), hide_query=True)


def test_attention_by_hand():
    samples = joint.from_dataset(from_samples([(("a", "a", "b"), "a")]), hide_query=False)
    Z = np.array([[0.0, 0.0], [np.log(2.0), 0.0]])
    assert joint.attend(samples, Z)[0] == pytest.approx([4 / 5, 1 / 5])


def test_attention_stays_accurate_where_exponentials_overflow():
    samples = joint.from_dataset(from_samples([(("a", "b", "b"), "a")]), hide_query=False)
    Z = np.array([[0.0, 0.0], [2000.0, 2000.0 - np.log(3.0)]])
    assert joint.attend(samples, Z)[0] == pytest.approx([3 / 5, 2 / 5])


def test_residuals_keep_small_probabilities():
    samples = joint.from_dataset(from_samples([(("a", "b"), "a")]), hide_query=False)
    out = joint.residuals(samples, np.array([[100.0, 0.0]]))
    assert out[0, 0] == pytest.approx(np.exp(-100.0), rel=1e-12)
    assert out.sum() == 0


def test_training_lowers_the_loss_and_repeats_bit_for_bit():
    samples = joint.from_dataset(rivals(2, 3), hide_query=True)
    runs = [joint.train(samples, [0, 10, 50], eta_y=1, eta_z=0.1, unit=True) for _ in range(2)]
    assert np.array_equal(runs[0].Z, runs[1].Z)
    assert (np.diff(runs[0].loss) < 0).all()
    assert (runs[0].Z[0] == 0).all()


def test_a_rate_of_zero_keeps_the_decoder():
    samples = joint.from_dataset(DATA, hide_query=False)
    Y = np.eye(3)
    found = joint.train(samples, [5], eta_y=0, eta_z=1, unit=False, Y=Y)
    assert np.array_equal(found.Y[-1], Y)
    assert found.Z[-1].any()


def test_steps_that_do_not_increase_are_refused():
    samples = joint.from_dataset(DATA, hide_query=False)
    for record in ([], [3, 3], [-1]):
        with pytest.raises(ValueError, match="increasing steps"):
            joint.train(samples, record, eta_y=1, eta_z=1, unit=False)
