"""The loss in the form of equation (1)."""

import math

import numpy as np
import pytest
import sympy as sp

from ntpbook.huang2024.s3_setup import checks, figures
from ntpcore.data import dataset
from ntpcore.huang2024 import transformer


def test_huang2024_eq_1_by_hand_is_log_of_the_vocabulary_at_zero():
    data = dataset.from_sentences(["S V O P"])
    zero = np.zeros((4, 4))
    assert transformer.loss(data, zero, zero, np.eye(4)) == pytest.approx(np.log(4), rel=1e-15)


def test_huang2024_eq_1_by_hand_for_two_tokens():
    data = dataset.from_samples([(["a"], "b", 3), (["b"], "a", 1)])
    W_ov = np.array([[0.0, 0.0], [2.0, 5.0]])  # column a leads to b by 2, column b to b by 5
    by_hand = 0.75 * np.log1p(np.exp(-2)) + 0.25 * np.log1p(np.exp(5))
    assert transformer.loss(data, W_ov, np.zeros((2, 2)), np.eye(2)) == pytest.approx(by_hand)


def test_huang2024_eq_1_does_not_depend_on_a_rotation_of_the_tokens():
    rng = np.random.default_rng(1)
    data = dataset.from_sentences(checks.REPEATED)
    U, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    W_ov, W_kq = rng.normal(size=(2, 4, 4))
    plain = transformer.loss(data, W_ov, W_kq, np.eye(4))
    rotated = transformer.loss(data, W_ov @ U.T, U @ W_kq @ U.T, U)
    assert rotated == pytest.approx(plain, rel=1e-13)


def test_attention_weights_sum_to_one_and_prefer_the_larger_score():
    X = transformer.embed(("O", "P"), ("S", "V", "O", "P"), np.eye(4))
    W_kq = np.zeros((4, 4))
    W_kq[2, 3] = np.log(3)
    assert transformer.attention(X, W_kq) == pytest.approx([0.75, 0.25])


def test_huge_logits_do_not_overflow():
    data = dataset.from_sentences(["a b"])
    W_ov = np.array([[0.0, 0.0], [1e5, 0.0]])
    assert transformer.loss(data, W_ov, np.zeros((2, 2)), np.eye(2)) == 0.0


def test_huang2024_app_reparameterization_by_hand_for_scalars():
    # d = d_1 = d_2 = 1, |V| = 2, the sentence 1 2: scores 3 * 4 * 2 * (1, 2), values 5 * (1, 2)
    X, ones = np.array([[1.0, 2.0]]), np.ones((1, 1))
    four = checks.FourMatrices("by hand", X, 3 * ones, 4 * ones, 5 * ones, np.array([[0.0], [1.0]]))
    share = 1 / (1 + math.exp(-24))
    score = 5 * ((1 - share) + 2 * share)
    both = [1 / (1 + math.exp(score)), 1 / (1 + math.exp(-score))]
    assert four.probabilities() == pytest.approx(both, rel=1e-12)
    logits = transformer.logits(X, np.array([[0.0], [5.0]]), 12 * ones)
    assert transformer.softmax(logits) == pytest.approx(four.probabilities(), rel=1e-12)


def test_huang2024_app_one_token_by_hand_for_scalars():
    # d = 1, |V| = 2, the token 2: logits 0 and 3 * 2, whatever W_kq and however often it is said
    X, W_ov = np.array([[2.0]]), np.array([[0.0], [3.0]])
    for length, W_kq in ((1, 5.0), (1, -7.0), (4, 1.0)):
        found = transformer.logits(X.repeat(length, axis=1), W_ov, np.array([[W_kq]]))
        assert found == pytest.approx([0.0, 6.0], rel=1e-14)


def test_the_answers_to_the_exercises():
    p = sp.symbols("p", positive=True)
    surprise = -sp.log(1 - p) / 3 - 2 * sp.log(p) / 3
    assert sp.solve(surprise.diff(p), p) == [sp.Rational(2, 3)]
    least = sp.log(3) - 2 * sp.log(2) / 3
    assert sp.simplify(sp.expand_log(surprise.subs(p, sp.Rational(2, 3))) - least) == 0
    data = dataset.from_sentences(checks.REPEATED)
    rng = np.random.default_rng(5)
    W_ov, W_kq = rng.normal(size=(2, 4, 4))
    raised = W_kq + np.outer(np.ones(4), [0.7, -1.0, 2.0, 0.3])
    before, after = (transformer.loss(data, W_ov, one, np.eye(4)) for one in (W_kq, raised))
    assert after == pytest.approx(before, rel=1e-13)


def test_one_score_decides_what_is_said():
    weight, as_O, as_P = figures.answers(0.0, 6.0)  # both tokens alike
    assert (weight, as_O) == (pytest.approx(1 / 2), pytest.approx(as_P))
    weight, as_O, as_P = figures.answers(np.log(3), 4.0)  # by hand: logits 4 * 3/4, 4 * 1/4, 0, 0
    assert weight == pytest.approx(3 / 4)
    assert as_O == pytest.approx(np.exp(3) / (np.exp(3) + np.exp(1) + 2))
    assert as_P == pytest.approx(np.exp(1) / (np.exp(3) + np.exp(1) + 2))
