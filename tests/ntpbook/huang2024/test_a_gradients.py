"""Equations (5) and (6): by hand, and with errors in one part alone."""

from itertools import islice

import numpy as np
import pytest
from every_check import failure

from ntpbook.huang2024.a_gradients import checks, figures
from ntpcore.data.dataset import from_samples
from ntpcore.huang2024 import transformer


def test_huang2024_eq_5_numbers_alone_notice_code_that_is_wrong_by_one_part_in_a_thousand(
    monkeypatch,
):
    right = transformer.stage1_gradient
    monkeypatch.setattr(checks.transformer, "stage1_gradient", lambda *args: 1.001 * right(*args))
    found = failure(checks.check_huang2024_eq_5, islice(checks.points(2, 0), 1))
    assert "our code, in floats: relative distance 1.0e-03" in found


def test_huang2024_eq_6_numbers_alone_notice_formulas_without_a_part():
    for wrong in ({"outer": 0}, {"weighted": False}):
        check = checks.check_huang2024_eq_6
        one = next(islice(checks.points(2, 0), 3, None))  # Example 1 with repetitions
        said = list(check.body(one, **wrong))
        assert "in sixty digits: relative distance" in said[0].where
        assert said[0].slack < 0


def test_huang2024_eq_5_by_hand_at_zero():
    G = transformer.stage1_gradient({"a": "b", "b": "a"}, np.zeros((2, 2)), np.eye(2))
    assert G.tolist() == [[0.5, -0.5], [-0.5, 0.5]]


def test_huang2024_eq_6_by_hand_for_two_tokens():
    # a and b share the attention equally, and a votes for b by a logit of 2 log 3 in all
    data = from_samples([(["a", "b"], "b")])
    W_ov = np.array([[0.0, 2 * np.log(3)], [2 * np.log(3), 0.0]])
    G = transformer.attention_gradient(data, W_ov, np.zeros((2, 2)), np.eye(2))
    # both classes have log 3, so T - p = (1/2, -1/2); inner matrix (1/4) [[1, -1], [-1, 1]]
    assert pytest.approx(np.array([[0, -np.log(3) / 2], [0, np.log(3) / 2]])) == G


def test_difference_quotients_converge_to_the_formulas_like_the_square_of_the_step():
    found = figures.distances(next(checks.points(1, 0)), [3, 6])
    for values in found.values():
        assert values[0] / values[1] == pytest.approx(1e6, rel=1e-3)


def test_the_printed_form_loses_all_digits_and_ours_none():
    errors = figures.float_errors(10.0, [1.0, 60.0])
    assert errors["as stated"][0] < 1e-12
    assert errors["as stated"][1] > 0.1
    assert max(errors["without differences"]) < 1e-14


def test_the_printed_form_is_safe_in_the_experiment_and_noise_much_later():
    table = figures.errors_in_training(7, datasets=2, steps=(900, 100_000))
    early, late = ([float(cell) for cell in row[1:]] for row in table.rows)
    assert max(early) < 1e-9
    assert min(late) > 0.5


def test_the_answers_to_the_exercises() -> None:
    rng = np.random.default_rng(3)
    W_ov, W_kq = rng.normal(size=(2, 3, 3))
    n = {"a": "b", "b": "c", "c": "a"}
    columns = transformer.stage1_gradient(n, W_ov, np.eye(3)).sum(axis=0)
    assert np.allclose(columns, 0, atol=1e-15)
    assert not np.allclose(transformer.stage1_gradient(n, W_ov, np.eye(3)), 0, atol=0.01)
    for sentence, moves in (("aaa", False), ("aba", True)):
        data = from_samples([(tuple(sentence), "b"), (("b",), "c"), (("c",), "a")], sentence)
        found = transformer.attention_gradient(data, W_ov, W_kq, np.eye(3))
        assert (float(abs(found).max()) > 1e-3) is moves
        assert moves or float(abs(found).max()) < 1e-15
    for s, zero in ((36, False), (37, True)):
        weight = 1 / (1 + float(np.exp(-s)))
        assert (weight - weight**2 == 0) is zero
