"""Algorithm 1: by hand, against automatic differentiation, and with planted errors."""

import jax
import numpy as np
import pytest

from ntpbook.huang2024.s4_algorithm import algorithm
from ntpbook.shared import digits
from ntpcore.data.dataset import InputError, from_samples, from_sentences
from ntpcore.huang2024 import problem, stage1, training, transformer
from ntpcore.verdicts.claims import Verdict

EXAMPLE_1 = from_sentences(["S V O P", "V O P", "O P P", "P S V"])


def test_huang2024_alg_1_first_steps_by_hand_for_two_tokens():
    data = from_samples([(["a"], "b"), (["b"], "a"), (["a", "b"], "b")])
    E = digits.exact(np.eye(2))
    # the gradient at zero has the entries -1/2 and 1/2 in each column, and norm 1
    W_ov = digits.train_ov([1, 0], E, 3.0, 1)
    assert digits.as_floats(W_ov).tolist() == [[-1.5, 1.5], [1.5, -1.5]]
    # only query b mixes, a against b: one entry up and one down, of equal size
    W_kq = digits.as_floats(digits.train_kq(data, W_ov, E, 2.0, 1))
    assert W_kq == pytest.approx(np.array([[0, 2**0.5], [0, -(2**0.5)]]), abs=1e-15)


def test_huang2024_alg_1_agrees_with_automatic_differentiation():
    p = problem.from_dataset(EXAMPLE_1)
    gap = stage1.gap(4, 10, 1.0)
    W_ov, W_kq = stage1.weights(p.following, 10, 1.0), np.zeros((4, 4))
    sentences = [
        (transformer.embed(s.sentence, p.vocabulary, np.eye(4)), p.vocabulary.index(s.next_token))
        for s in EXAMPLE_1.samples()
    ]

    def loss(W):
        total = 0.0
        for X, v in sentences:
            y = W_ov @ (X @ jax.nn.softmax(X.T @ W @ X[:, -1]))
            total = total - jax.nn.log_softmax(y)[v] / len(sentences)
        return total

    with jax.enable_x64(True):
        gradient = jax.jit(jax.grad(loss))
        for _ in range(30):
            G = np.asarray(gradient(W_kq))
            W_kq = W_kq - 0.1 * G / np.linalg.norm(G)
    ours = np.zeros((4, 4))
    ours[p.entry_token, p.entry_query] = training.run(p, 30, 0.1, gap).state.weights
    assert ours == pytest.approx(W_kq, abs=1e-12)


def test_huang2024_alg_1_is_consistent_and_its_control_is_noticed():
    check = algorithm.check_huang2024_alg_1(seed=3, steps=8)
    assert (check.verdict, check.tried) == (Verdict.CONSISTENT, 6)
    assert algorithm.control_huang2024_alg_1(seed=3, steps=4).noticed


@pytest.mark.parametrize("name", algorithm.undefined())
def test_huang2024_alg_1_is_undefined_on_the_smallest_inputs(name: str):
    data, steps = algorithm.undefined()[name]
    assert not algorithm.is_defined(data, steps)
    assert algorithm.is_defined(EXAMPLE_1, (1, 1))
    if name.startswith("no sentence"):
        with pytest.raises(InputError, match="no sentence has two distinct tokens"):
            problem.from_dataset(data)


def test_huang2024_alg_1_notices_a_library_that_never_refuses(monkeypatch):
    def run_anything(*_args):
        return None

    monkeypatch.setattr(algorithm, "from_dataset", run_anything)
    monkeypatch.setattr(algorithm.training, "run", run_anything)
    assert len(algorithm.undefined_faults()) == 3


def test_losses_of_the_figure_agree():
    first, second = algorithm.literal_losses([0, 1, 5], T=3)
    lines = algorithm.library_losses([0, 1, 5], T=3)
    assert first == pytest.approx(lines[0], rel=1e-13)
    assert second == pytest.approx(lines[1], rel=1e-13)
    assert first[0] == pytest.approx(4 * np.log(4))
