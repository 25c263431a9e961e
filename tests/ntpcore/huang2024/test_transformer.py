"""The gradients of the paper are the derivatives of its losses."""

import numpy as np
import pytest
import sympy as sp
from plain_training import jax_attention_gradient, jax_stage1_gradient

from ntpcore.data import dataset, order
from ntpcore.huang2024 import transformer

EXAMPLE_1 = dataset.read("examples/example1.txt")
FIVE_TOKENS = dataset.read("examples/five_tokens.jsonl")
UNEVEN = dataset.from_samples([("a", "b", 2), ("b", "a", 3), ("a a b", "b", 7), ("a b b", "a", 1)])


def embedding(size: int, *, rotated: bool) -> np.ndarray:
    """Orthonormal columns: one-hot, or in two dimensions more and turned at random."""
    if not rotated:
        return np.eye(size)
    rng = np.random.default_rng(4)
    return np.linalg.qr(rng.normal(size=(size + 2, size + 2)))[0][:, :size]


def random_weights(size: int, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """W_ov and W_kq, far from any special point."""
    rng = np.random.default_rng(9)
    return 2 * rng.normal(size=(size, dimension)), rng.normal(size=(dimension, dimension))


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("data", [EXAMPLE_1, FIVE_TOKENS, UNEVEN])
def test_equation_6_is_the_derivative_that_jax_finds(data, rotated):
    size = len(data.vocabulary)
    E = embedding(size, rotated=rotated)
    W_ov, W_kq = random_weights(size, len(E))
    ours = transformer.attention_gradient(data, W_ov, W_kq, E)
    theirs = jax_attention_gradient(data, W_ov, E)(W_kq)
    assert np.abs(ours).max() > 0.01
    assert ours == pytest.approx(theirs, abs=1e-13)  # a few hundred roundings of numbers near 1


@pytest.mark.parametrize("rotated", [False, True])
def test_equation_5_is_the_derivative_that_jax_finds(rotated):
    collocation = order.analyse(EXAMPLE_1).collocation
    E = embedding(4, rotated=rotated)
    W_ov = random_weights(4, len(E))[0]
    ours = transformer.stage1_gradient(collocation, W_ov, E)
    assert ours == pytest.approx(jax_stage1_gradient(collocation, W_ov, E), abs=1e-14)


def test_a_rotation_of_the_embedding_rotates_the_gradient():
    E = embedding(4, rotated=True)
    W_ov, W_kq = random_weights(4, 4)
    plain = transformer.attention_gradient(EXAMPLE_1, W_ov, W_kq, np.eye(4))
    turned = transformer.attention_gradient(EXAMPLE_1, W_ov @ E.T, E @ W_kq @ E.T, E)
    assert turned == pytest.approx(E @ plain @ E.T, abs=1e-14)


def test_forgetting_the_frequencies_is_noticed():
    E = np.eye(2)
    W_ov, W_kq = random_weights(2, 2)
    theirs = jax_attention_gradient(UNEVEN, W_ov, E)(W_kq)
    equal = np.full(4, 0.25)
    wrong = transformer.attention_gradient(UNEVEN, W_ov, W_kq, E, weights=equal)
    assert np.abs(wrong - theirs).max() > 0.01
    counts = np.array([2, 3, 7, 1]) / 13
    right = transformer.attention_gradient(UNEVEN, W_ov, W_kq, E, weights=counts)
    assert right == pytest.approx(theirs, abs=1e-14)


def test_without_frequencies_every_sentence_weighs_the_same():
    E = np.eye(2)
    W_ov, W_kq = random_weights(2, 2)
    once = dataset.from_samples([(s.sentence, s.next_token) for s in UNEVEN.samples()])
    equal = transformer.loss(UNEVEN, W_ov, W_kq, E, weighted=False)
    assert equal == pytest.approx(transformer.loss(once, W_ov, W_kq, E))
    assert equal != pytest.approx(transformer.loss(UNEVEN, W_ov, W_kq, E))


def test_weights_of_another_number_of_samples_are_refused():
    W_ov, W_kq = random_weights(2, 2)
    with pytest.raises(ValueError, match="is shorter"):
        transformer.attention_gradient(UNEVEN, W_ov, W_kq, np.eye(2), weights=np.full(5, 0.2))


def test_two_tokens_have_the_gradient_that_sympy_derives():
    """Sample ab -> b under n = (a -> b, b -> a): attention p = 1 / (1 + e^(v - u)) on a."""
    u, v, s = sp.symbols("u v s", real=True)  # W_kq[a, b], W_kq[b, b], half of the gap
    p = 1 / (1 + sp.exp(v - u))
    logits = (s * (1 - 2 * p), s * (2 * p - 1))  # of a and of b
    loss = sp.log(1 + sp.exp(logits[0] - logits[1]))
    at = {u: 0.3, v: -0.4, s: 1.7}
    expected = [float(sp.diff(loss, w).subs(at)) for w in (u, v)]
    data = dataset.from_samples([("a b", "b")])
    W_ov = 1.7 * np.array([[-1.0, 1.0], [1.0, -1.0]])
    W_kq = np.array([[0.0, 0.3], [0.0, -0.4]])
    gradient = transformer.attention_gradient(data, W_ov, W_kq, np.eye(2))
    assert gradient[:, 1] == pytest.approx(expected, abs=1e-15)
    assert not gradient[:, 0].any()
    assert transformer.loss(data, W_ov, W_kq, np.eye(2)) == pytest.approx(float(loss.subs(at)))


def test_the_loss_of_stage_1_at_zero_is_that_of_guessing():
    collocation = order.analyse(EXAMPLE_1).collocation
    value = transformer.stage1_loss(collocation, np.zeros((4, 4)), np.eye(4))
    assert value == pytest.approx(4 * np.log(4))


def test_scores_of_any_size_have_a_softmax_and_a_logarithm_of_their_sum():
    for size in (1e3, 1e300):
        scores = np.array([size, 0.0, size])
        assert transformer.softmax(scores).tolist() == [0.5, 0.0, 0.5]
        assert transformer.logsumexp(scores) == pytest.approx(size + np.log(2), rel=1e-15)
        assert transformer.logsumexp(-scores) == 0.0
        assert transformer.softmax(-scores).tolist() == [0.0, 1.0, 0.0]
        assert transformer.logsumexp(-scores[:1]) == -size
