"""Stage 1 follows its exact law, and its iteration does not lose digits."""

import math

import mpmath as mp
import numpy as np
import pytest
from plain_training import jax_stage1_gradient

from ntpcore.data.dataset import InputError
from ntpcore.huang2024 import stage1, transformer


def permutation(size: int) -> np.ndarray:
    return np.random.default_rng(size).permutation(size)


@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_every_step_is_recorded_unless_some_are_named(steps):
    rows, W = stage1.iterate(permutation(4), steps, 0.5)
    assert rows.step.tolist() == list(range(steps + 1))
    assert rows.norm[-1] == pytest.approx(np.linalg.norm(W), abs=1e-15)


@pytest.mark.parametrize("size", [2, 3, 4, 20])
@pytest.mark.parametrize("eta0", [0.05, 1.0, 5.0])
def test_iteration_agrees_with_the_closed_form(size, eta0):
    following = permutation(size)
    rows, W = stage1.iterate(following, 900, eta0, record=[0, 1, 2, 10, 100, 900])
    gap = stage1.gap(size, 900, eta0)
    # 900 additions, each with a relative rounding error of 1.1e-16
    exact = stage1.weights(following, 900, eta0)
    assert exact == pytest.approx(W, rel=1e-12, abs=1e-12)
    assert rows.norm == pytest.approx(rows.step * eta0, rel=1e-12)
    assert np.isnan(rows.one_minus_cos[0])  # W is zero, and has no direction
    assert rows.one_minus_cos[1:].max() < 1e-24
    assert rows.least_gap[-1] == pytest.approx(gap, rel=1e-12)
    assert rows.greatest_gap[-1] == pytest.approx(gap, rel=1e-12)
    assert rows.spread.max() <= 1e-12 * gap
    expected = [stage1.log_loss(size, int(step), eta0) for step in rows.step]
    assert rows.log_loss == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_dense_loss_agrees_with_the_closed_form():
    following = permutation(5)
    collocation = {f"t{x}": f"t{y}" for x, y in enumerate(following)}
    W = stage1.weights(following, 30, 0.3)
    dense = transformer.stage1_loss(collocation, W, np.eye(5))
    assert math.log(dense) == pytest.approx(stage1.log_loss(5, 30, 0.3), rel=1e-13)


def test_the_direction_agrees_with_automatic_differentiation_from_a_random_start():
    following = permutation(6)
    W = 0.5 * np.random.default_rng(3).normal(size=(6, 6))
    moved = stage1.iterate(following, 1, 0.1, start=W)[1]
    gradient = jax_stage1_gradient({x: int(y) for x, y in enumerate(following)}, W, np.eye(6))
    expected = W - 0.1 * gradient / np.linalg.norm(gradient)
    assert moved == pytest.approx(expected, abs=1e-15)


def test_the_direction_stays_exact_where_probabilities_round_to_one():
    """Two tokens with gaps 300 and 301: the gradient's columns have the ratio 1 to e^-1."""
    W = np.array([[0.0, 301.0], [300.0, 0.0]])
    moved = stage1.iterate(np.array([1, 0]), 1, 1.0, start=W)[1] - W
    expected = np.array([[-1.0, math.exp(-1)], [1.0, -math.exp(-1)]])
    expected /= np.linalg.norm(expected)
    assert moved == pytest.approx(expected, abs=1e-13)  # W near 300 rounds at 3e-14
    naive = jax_stage1_gradient({0: 1, 1: 0}, W, np.eye(2))
    # both columns have lost their largest entry
    assert abs(naive).max() < 1e-100
    assert naive[1, 0] == 0


def test_log_loss_goes_on_below_the_range_of_floats():
    with mp.workdps(700):
        gap = mp.mpf(stage1.gap(20, 10**5, 0.05))
        exact = mp.log(20 * mp.log1p(19 * mp.exp(-gap)))
    assert stage1.log_loss(20, 10**5, 0.05) == pytest.approx(float(exact), rel=1e-14)
    assert exact < -1000


def test_eq_8_is_an_equality_and_projections_are_those_of_the_law():
    rows, _ = stage1.iterate(permutation(7), 50, 0.3)
    norm = stage1.norm_star(7)
    assert rows.cos_star == pytest.approx(-rows.mistakes / norm, rel=1e-13)
    assert rows.cos_star == pytest.approx(-np.ones(51), rel=1e-13)
    assert rows.cos_weights[1:] == pytest.approx(-np.ones(50), rel=1e-13)


def test_angle_and_gaps_of_a_random_start_are_those_of_their_definitions():
    following = permutation(5)
    W = np.random.default_rng(4).normal(size=(5, 5))
    rows, _ = stage1.iterate(following, 0, 0.1, start=W)
    star = np.array([[float(v == following[x]) - 1 / 5 for x in range(5)] for v in range(5)])
    cos = (W * star).sum() / (np.linalg.norm(W) * np.linalg.norm(star))
    assert rows.norm[0] == pytest.approx(np.linalg.norm(W), rel=1e-14)
    assert rows.one_minus_cos[0] == pytest.approx(1 - cos, rel=1e-13)
    gaps = [[W[y, x] - W[v, x] for v in range(5) if v != y] for x, y in enumerate(following)]
    assert rows.least_gap[0] == min(min(column) for column in gaps)
    assert rows.greatest_gap[0] == max(max(column) for column in gaps)
    assert rows.spread[0] == max(max(column) - min(column) for column in gaps)


@pytest.mark.parametrize(("size", "steps", "eta0"), [(1, 3, 0.1), (2, -1, 0.1), (2, 3, 0.0)])
def test_senseless_parameters_are_refused(size, steps, eta0):
    with pytest.raises(InputError, match=r"two or more|positive"):
        stage1.iterate(np.arange(size), steps, eta0)
