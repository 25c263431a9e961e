"""Algorithm 1: by hand, against automatic differentiation, and with planted errors."""

from __future__ import annotations

import math

import jax
import numpy as np
import pytest

from ntpbook.huang2024.s4_algorithm import checks, figures
from ntpbook.ours.whole_model import plain
from ntpbook.shared import digits
from ntpcore.data.dataset import InputError, from_samples, from_sentences
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import problem, stage1, training, transformer
from ntpverdicts import maths
from ntpverdicts.claims import Verdict

EXAMPLE_1 = from_sentences(["S V O P", "V O P", "O P P", "P S V"])


# All checks of the chapter


# Algorithm 1


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


@pytest.mark.parametrize("one", checks.smallest_undefined(), ids=lambda one: one.name)
def test_huang2024_alg_1_is_undefined_on_the_smallest_inputs(one: checks.Undefined):
    assert not checks.is_defined(one)
    assert checks.is_refused(one)
    if one.name.startswith("no sentence"):
        with pytest.raises(InputError, match="no sentence has two distinct tokens"):
            problem.from_dataset(one.data)


def test_huang2024_alg_1_is_defined_after_one_step_of_stage_1():
    (one,) = checks.example_1_with_a_step()
    assert checks.is_defined(one)
    assert not checks.is_refused(one)
    found = checks.check_huang2024_alg_1.judge([one])
    assert (found.verdict, maths.plain(found.witness)) == (
        Verdict.REFUTED,
        "T = 1, line 7, the literal algorithm runs",
    )


def test_huang2024_alg_1_notices_a_library_that_never_refuses(monkeypatch):
    monkeypatch.setattr(checks, "from_dataset", lambda data: None)
    monkeypatch.setattr(checks.training, "run", lambda *arguments: None)
    found = checks.check_huang2024_alg_1.judge(checks.smallest_undefined())
    assert found.verdict is Verdict.REFUTED
    assert found.witness.endswith("the library runs")


def test_losses_of_the_figure_agree():
    first, second = figures.literal_losses([0, 1, 5], T=3)
    lines = figures.library_losses([0, 1, 5], T=3)
    assert first == pytest.approx(lines[0], rel=1e-13)
    assert second == pytest.approx(lines[1], rel=1e-13)
    assert first[0] == pytest.approx(4 * np.log(4))


# Two stages lose nothing


def test_huang2024_app_decoupling_by_hand_a_single_token_is_all_that_attention_sees():
    example = problem.from_dataset(example_1())
    assert checks.seen_by_stage_1(example, 3.0) == 0.0
    assert checks.seen_by_stage_1(example, 3.0, pairs=True) > 0.1


def test_huang2024_app_decoupling_loss_goes_to_the_floor_and_the_floor_to_zero():
    short, long = checks.runs_of_example(1500, (50, 500))
    for run in (short, long):
        floor = math.log1p(3 * math.exp(-run.second.gap))
        assert run.second.rows.loss[-1] == pytest.approx(floor, rel=1e-6)
    assert long.second.rows.loss[-1] < short.second.rows.loss[-1] / 1000


def test_huang2024_app_decoupling_notices_a_second_stage_of_one_step():
    check = checks.check_huang2024_app_decoupling
    found = check.judge(checks.runs_of_example(1, (900,)))
    assert found.verdict is Verdict.REFUTED
    assert "of the excess loss remains" in found.witness
    assert check.judge([]).verdict is Verdict.OPEN


def test_huang2024_app_decoupling_least_loss_is_no_larger_than_any_other_attention():
    # one sample with the optimal token and two rivals, |V| = 5, A = 4: masses at random
    rng = np.random.default_rng(4)
    floor = math.log1p(4 * math.exp(-4.0))
    for m in rng.dirichlet([1, 1, 1], size=200):
        z = np.array([*(4.0 * m), 0.0, 0.0])
        assert np.log(np.exp(z).sum()) - z[0] > floor


# The loss of stage 1


def test_huang2024_app_stage_1_loss_by_hand_for_two_tokens():
    # n swaps a and b; logits of a: 0 and 2, of b: 0 and 5, so L_0 = log(1 + e^-2) + log(1 + e^5)
    data = from_samples([(["a"], "b"), (["b"], "a")])
    W_ov, W_kq = np.array([[0.0, 0.0], [2.0, 5.0]]), np.array([[1.0, -3.0], [0.5, 2.0]])
    mean = transformer.cross_entropy(data, W_ov, W_kq, np.eye(2))
    assert 2 * mean == pytest.approx(math.log1p(math.exp(-2)) + math.log1p(math.exp(5)))
    check = checks.check_huang2024_app_stage_1_loss
    one = checks.Singles("by hand", data, W_ov, W_kq, np.eye(2))
    assert check.judge([one]).verdict is Verdict.PROVED
    assert check.judge([one], mean=True).verdict is Verdict.REFUTED


def test_huang2024_app_stage_1_loss_counts_each_sentence_once():
    (reading,) = checks.check_huang2024_app_stage_1_loss(trials=3).readings
    assert reading.verdict is Verdict.REFUTED


def test_the_answers_to_the_exercises():
    for size in (2, 4, 9):
        slopes = np.full((size, size), 1 / size) - np.eye(size)  # said minus right, at zero
        assert np.linalg.norm(slopes) == pytest.approx(np.sqrt(size - 1))
    runs = [plain.algorithm_1(10 * n, 8 * n, 0.1 / n, 0.05 / n) for n in (1, 2, 4)]
    first, second, third = runs
    np.testing.assert_allclose(first[0][-1], second[0][-1], rtol=1e-12)
    # Euler and Maclaurin: half the steps move the end by a quarter of a step for each unit that the
    # direction turns on the way, and half as far when halved again, but for one step in eight
    moved = [np.linalg.norm(a[1][-1] - b[1][-1]) for a, b in ((first, second), (second, third))]
    sides = np.diff(plain.algorithm_1(10, 9, 0.1, 0.05)[1], axis=0)
    assert moved[0] == pytest.approx(np.linalg.norm(sides[-1] - sides[0]) / 4, rel=1 / 8)
    assert moved[1] == pytest.approx(moved[0] / 2, rel=1 / 8)
    W_ov, W_kq = first[0][-1], first[1][-1]
    ten = plain.step(W_kq, 10 * plain.gradient_kq(W_ov, W_kq), 0.05)
    once = plain.step(W_kq, plain.gradient_kq(W_ov, W_kq), 0.05)
    np.testing.assert_allclose(ten, once, rtol=1e-12, atol=1e-15)
