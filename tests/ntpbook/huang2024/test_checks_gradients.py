"""Equations (5) and (6): by hand, against automatic differentiation, and with planted errors."""

from itertools import islice

import jax
import mpmath as mp
import numpy as np
import pytest

from ntpbook.huang2024.a_gradients import gradients
from ntpbook.shared import digits
from ntpcore.data.dataset import from_samples
from ntpcore.huang2024 import transformer
from ntpcore.verdicts.claims import Verdict


def autodiff(point, stage):
    """The gradient of the loss of a stage by jax, in double precision."""
    E, W_ov, W_kq = (digits.as_floats(M) for M in (point.E, point.W_ov, point.W_kq))

    def first(W):
        return -sum(jax.nn.log_softmax(W @ E[:, x])[v] for x, v in enumerate(point.following))

    def second(W):
        total = 0.0
        for pi, X, v in digits.samples(point.data, E):
            y = W_ov @ (X @ jax.nn.softmax(X.T @ W @ X[:, -1]))
            total = total - float(pi) * jax.nn.log_softmax(y)[v]
        return total

    with jax.enable_x64(True):
        return np.asarray(jax.grad(first)(W_ov) if stage == 1 else jax.grad(second)(W_kq))


def test_huang2024_eq_5_by_hand_at_zero():
    G = transformer.stage1_gradient({"a": "b", "b": "a"}, np.zeros((2, 2)), np.eye(2))
    assert G.tolist() == [[0.5, -0.5], [-0.5, 0.5]]


def test_huang2024_eq_5_agrees_with_automatic_differentiation():
    for point in islice(gradients.points(5, 0), 3):
        formula = digits.stage1_gradient(point.following, point.W_ov, point.E)
        assert digits.as_floats(formula) == pytest.approx(autodiff(point, 1), abs=1e-13)


def test_huang2024_eq_5_is_proved_and_its_control_is_noticed():
    check = gradients.check_huang2024_eq_5(seed=2, trials=1)
    assert (check.verdict, check.tried) == (Verdict.PROVED, 9)
    assert float(check.numbers["worst"]) < 1e-35
    assert gradients.control_huang2024_eq_5(seed=2).noticed


def test_huang2024_eq_5_numbers_alone_notice_a_planted_error(monkeypatch):
    monkeypatch.setattr(gradients, "stage1_identities", lambda target: {})
    check = gradients.check_huang2024_eq_5(seed=2, trials=0, target=0)
    assert check.verdict is Verdict.REFUTED
    assert "relative distance" in check.witness
    monkeypatch.setattr(gradients.transformer, "stage1_gradient", lambda n, W, E: 1.001 * W)
    assert gradients.check_huang2024_eq_5(seed=2, trials=0).verdict is Verdict.REFUTED


def test_huang2024_eq_6_by_hand_for_two_tokens():
    # a and b share the attention equally, and a votes for b by a logit of 2 log 3 in all
    data = from_samples([(["a", "b"], "b")])
    W_ov = np.array([[0.0, 2 * np.log(3)], [2 * np.log(3), 0.0]])
    G = transformer.attention_gradient(data, W_ov, np.zeros((2, 2)), np.eye(2))
    # both classes have log 3, so T - p = (1/2, -1/2); inner matrix (1/4) [[1, -1], [-1, 1]]
    assert pytest.approx(np.array([[0, -np.log(3) / 2], [0, np.log(3) / 2]])) == G


def test_huang2024_eq_6_agrees_with_automatic_differentiation():
    for point in islice(gradients.points(5, 0), 3):
        with mp.workdps(digits.DIGITS):
            formula = digits.attention_gradient(point.data, point.W_ov, point.W_kq, point.E)
        assert digits.as_floats(formula) == pytest.approx(autodiff(point, 2), abs=1e-13)


def test_huang2024_eq_6_is_proved_and_its_control_is_noticed():
    check = gradients.check_huang2024_eq_6(seed=2, trials=0)
    assert (check.verdict, check.numbers["identities"]) == (Verdict.PROVED, "7")
    assert gradients.control_huang2024_eq_6(seed=2).noticed


def test_huang2024_eq_6_numbers_alone_notice_a_planted_error(monkeypatch):
    monkeypatch.setattr(gradients, "attention_identities", lambda outer: {})
    monkeypatch.setattr(gradients, "_smallest_case", lambda outer: ())
    check = gradients.check_huang2024_eq_6(seed=2, trials=0, outer=0)
    assert check.verdict is Verdict.REFUTED
    assert "relative distance" in check.witness


def test_difference_quotients_converge_to_the_formulas_like_the_square_of_the_step():
    found = gradients.distances(next(gradients.points(1, 0)), [3, 6])
    for values in found.values():
        assert values[0] / values[1] == pytest.approx(1e6, rel=1e-3)


def test_the_printed_form_loses_all_digits_and_ours_none():
    errors = gradients.float_errors(10.0, [1.0, 60.0])
    assert errors["as printed"][0] < 1e-12
    assert errors["as printed"][1] > 0.1
    assert max(errors["without differences"]) < 1e-14


def test_the_printed_form_is_safe_in_the_experiment_and_noise_much_later():
    table = gradients.errors_in_training(7, datasets=2, steps=(900, 100_000))
    early, late = ([float(cell) for cell in row[1:]] for row in table.rows)
    assert max(early) < 1e-9
    assert min(late) > 0.5
