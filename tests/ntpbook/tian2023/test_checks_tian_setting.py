"""Tests of the checks on the setting of Tian et al. (2023)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ntpbook.tian2023.s3_setting import (
    setting,
    setting_counts,
    setting_data,
    setting_gradients,
    setting_limits,
    setting_sums,
    setting_symbols,
)
from ntpcore.tian2023 import classes, counts, layer
from ntpcore.tian2023.layer import Sample
from ntpcore.verdicts.claims import Verdict

CONSISTENT, PROVED, REFUTED = Verdict.CONSISTENT, Verdict.PROVED, Verdict.REFUTED


@pytest.fixture(scope="module")
def data():
    """The paper's classes and a dozen random ones."""
    return setting_data.collection(seed=3, random=12)


def test_all_symbolic_steps_hold():
    assert setting_symbols.likelihood_slope()
    assert setting_symbols.unit_jacobian()
    assert setting_symbols.softmax_jacobian()
    assert setting_symbols.centre_drops()
    assert setting_symbols.counts_are_diagonal()
    assert setting_symbols.errors_sum_to_zero()
    assert setting_symbols.length_cancels()
    assert setting_symbols.orthonormal_norms()
    assert setting_symbols.hoeffding_steps()


# Figure 1 and the roles of tokens


def test_tian2023_fig_1_by_hand():
    two = classes.SequenceClasses(np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]), (0, 0))
    assert setting_data.check_tian2023_fig_1([("two classes", two)]).verdict is CONSISTENT


def test_tian2023_fig_1_holds_for_all_families(data):
    assert setting_data.check_tian2023_fig_1(data).verdict is CONSISTENT


def test_tian2023_fig_1_notices_disjoint_classes():
    assert setting_data.control_tian2023_fig_1().noticed


def test_tian2023_app_classes_agrees_with_counting_by_sets(data):
    check = setting_data.check_tian2023_app_classes(data)
    assert check.verdict is CONSISTENT
    assert check.tried == len(data)


def test_tian2023_app_classes_by_hand():
    small = classes.synthetic_classes(2, 1)
    check = setting_data.check_tian2023_app_classes([("Syn-Small", small)])
    assert (check.numbers["common"], check.numbers["distinct"]) == ("10", "20")
    assert check.numbers["alone"] == "2"


def test_tian2023_app_classes_notices_a_class_that_is_certain_from_a_common_token():
    # in floats: token 0 occurs in both classes, and 0.5 / (0.5 + 1e-20) is 1
    rare = classes.SequenceClasses(np.array([[0.5, 0.5, 0.0], [1e-20, 0.0, 1.0]]), (0, 0))
    check = setting_data.check_tian2023_app_classes([("rare", rare)])
    assert (check.verdict, check.numbers["common"]) == (REFUTED, "1")


def test_tian2023_app_classes_notices_another_definition():
    assert setting_data.control_tian2023_app_classes().noticed


def test_tian2023_app_table_1_by_hand():
    # x_1 = 0, x_2 = 1 and x_3 = 2: with T = 3 the table's query is x_2 = 1, but so is t < T
    own, query = setting.table_1_attention((0, 1, 2), np.zeros(3), 3, 1)
    assert (own, query) == (0.5, 1)
    own, query = setting.table_1_attention((0, 1, 2), np.zeros(3), 2, 0)
    assert (own, query) == (0.0, 1)


def test_tian2023_app_table_1_agrees_with_1_when_counted_from_0():
    check = setting.check_tian2023_app_table_1()
    assert check.verdict is CONSISTENT
    assert [reading.verdict for reading in check.readings] == [CONSISTENT, REFUTED]


def test_tian2023_app_table_1_notices_positions_from_1():
    assert setting.control_tian2023_app_table_1().noticed


# Equations (1) and (2), normalization


def test_tian2023_eq_1_by_hand():
    eye = np.eye(2)
    net = layer.Embedded(eye, math.sqrt(2) * math.log(3) * eye, eye, eye)
    # query 1 scores ln 3 against itself as a key, 0 against token 0
    weights = layer.embedded_weights(net, Sample((1, 0), 1, 0))
    assert weights == pytest.approx([0.75, 0.25, 0.0])


def test_tian2023_eq_1_agrees_with_the_table_z():
    assert setting.check_tian2023_eq_1(cases=32, seed=1).verdict is CONSISTENT


def test_tian2023_eq_1_notices_a_missing_mask():
    assert setting.control_tian2023_eq_1().noticed


def test_tian2023_eq_2_by_hand():
    eye = np.eye(2)
    net = layer.Embedded(eye, eye, eye, math.log(3) * eye)
    found = layer.embedded_log_likelihood(net, Sample((0, 0), 1, 0))
    assert found == pytest.approx(math.log(3 / 4))


def test_tian2023_eq_2_agrees_with_the_table_y():
    assert setting.check_tian2023_eq_2(cases=32, seed=1).verdict is CONSISTENT


def test_tian2023_eq_2_notices_a_forgotten_transpose():
    assert setting.control_tian2023_eq_2().noticed


def test_tian2023_app_normalization_by_hand():
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    assert setting.norm_gap(turn, np.array([3.0, 4.0])) == pytest.approx(0)
    assert setting.norm_gap(2 * turn, np.array([3.0, 4.0])) == pytest.approx(1)


def test_tian2023_app_normalization_is_proved_for_orthonormal_embeddings_only():
    check = setting.check_tian2023_app_normalization()
    assert check.verdict is PROVED
    assert float(check.numbers["gap_16"]) > 5 * float(check.numbers["gap_1024"])
    assert setting.check_tian2023_app_normalization(cases=8, stretch=1e-6).verdict is REFUTED


def test_tian2023_app_normalization_notices_a_longer_embedding():
    assert setting.control_tian2023_app_normalization().noticed


# Lemma 1, equations (3) and (4), sums


def test_tian2023_lem_1_by_hand():
    # two tokens once each, Y = 0: f = (1, 1) / sqrt(2), alpha uniform, Z does not move
    zero = np.zeros((2, 2))
    dY, dZ = layer.gradients(Sample((0, 1), 0, 0), zero, zero)
    assert dY == pytest.approx(np.array([[1, -1], [1, -1]]) / (2 * math.sqrt(2)))
    assert dZ.tolist() == zero.tolist()


def test_tian2023_lem_1_agrees_with_derivatives_along_the_imaginary_axis():
    check = setting_gradients.check_tian2023_lem_1(cases=40, seed=11)
    assert check.verdict is PROVED
    assert check.tried == 40


def test_tian2023_lem_1_notices_a_missing_projection():
    assert setting_gradients.control_tian2023_lem_1().noticed


def test_tian2023_eq_3_by_hand():
    # Y = diag(1, 0): f = (1, 1) / sqrt(2), g = (1 - alpha_0, 0), z' = f (g - f f.g)
    Y = np.diag([1.0, 0.0])
    _, dZ = layer.gradients(Sample((0, 1), 1, 0), Y, np.zeros((2, 2)))
    error = 1 / (1 + math.exp(1 / math.sqrt(2)))
    assert dZ[1] == pytest.approx(np.array([1, -1]) * error / (2 * math.sqrt(2)))
    assert dZ[0].tolist() == [0, 0]


def test_tian2023_eq_3_agrees_with_slopes_along_random_directions():
    assert setting_gradients.check_tian2023_eq_3(cases=24, seed=5).verdict is PROVED


def test_tian2023_eq_3_notices_a_forgotten_transpose():
    assert setting_gradients.control_tian2023_eq_3().noticed


def test_tian2023_eq_4_by_hand():
    Y = np.diag([1.0, 0.0])
    row = layer.row_gradient(Sample((0, 1), 1, 0), Y, np.zeros(2))
    assert row[0] == pytest.approx(-row[1])
    assert row[0] > 0


def test_tian2023_eq_4_agrees_with_the_row_of_3():
    assert setting_gradients.check_tian2023_eq_4(cases=40, seed=5).verdict is PROVED


def test_tian2023_eq_4_notices_a_missing_norm():
    assert setting_gradients.control_tian2023_eq_4().noticed


def test_tian2023_app_row_sums_by_hand():
    sample = Sample((0, 1, 1), 0, 2)
    dY, dZ = layer.gradients(sample, np.arange(9.0).reshape(3, 3), np.eye(3))
    assert dY.sum(axis=1) == pytest.approx(np.zeros(3), abs=1e-15)
    assert dZ.sum(axis=1) == pytest.approx(np.zeros(3), abs=1e-15)
    assert abs(dY.sum(axis=0)).max() > 0.1


def test_tian2023_app_row_sums_agrees_with_runs_of_gradients_and_momentum():
    check = setting_sums.check_tian2023_app_row_sums(runs=4, seed=2)
    assert check.verdict is PROVED
    assert [reading.verdict for reading in check.readings] == [PROVED, REFUTED, REFUTED]


def test_tian2023_app_row_sums_notices_adam_and_the_other_axis():
    assert setting_sums.control_tian2023_app_row_sums().noticed
    other = setting_sums.check_tian2023_app_row_sums(runs=2, axis=0)
    assert other.verdict is REFUTED
    with pytest.raises(ValueError, match="choose gradient"):
        setting_sums.trained(np.random.default_rng(0), "newton")


# Assumption 1, equations (5) and (6), Lemma 2


def test_tian2023_asm_1_by_hand():
    # at equal scores the distance is that of a binomial share
    one = classes.SequenceClasses(np.array([[0.5, 0.5]]), (0,))
    found = setting_limits.context_distance(np.random.default_rng(1), one, 1, 50)
    assert found == pytest.approx(1.0)


def test_tian2023_asm_1_agrees_with_a_faster_decoder_moving_less():
    check = setting_limits.check_tian2023_asm_1(cases=10)
    assert check.verdict is CONSISTENT
    assert float(check.numbers["moved_1000"]) < float(check.numbers["moved_1"]) / 20


def test_tian2023_asm_1_notices_positions():
    assert setting_limits.control_tian2023_asm_1().noticed


def test_tian2023_eq_5_by_hand():
    one = classes.SequenceClasses(np.array([[0.25, 0.75]]), (0,))
    z = np.array([[math.log(3), 0.0]])
    assert classes.attention_scores(one, z)[0] == pytest.approx([0.5, 0.5])


def test_tian2023_eq_5_agrees_with_written_out_sequences():
    assert setting_limits.check_tian2023_eq_5(cases=20, seed=4).verdict is PROVED


def test_tian2023_eq_5_notices_missing_probabilities():
    assert setting_limits.control_tian2023_eq_5().noticed


def test_tian2023_lem_2_by_hand():
    P = np.array([0.5, 0.5])
    # |q - 1/2| twice, with the standard deviation 1/2
    assert counts.distance_constant(P, np.zeros(2)) == pytest.approx(math.sqrt(2 / math.pi))


def test_tian2023_lem_2_agrees_with_the_delta_method():
    for seed in (1, 2, 3):
        check = setting_limits.check_tian2023_lem_2(seed=seed)
        assert check.verdict is PROVED
        assert float(check.numbers["exponent"]) == pytest.approx(-0.5, abs=0.02)


def test_tian2023_lem_2_notices_another_distribution():
    assert setting_limits.control_tian2023_lem_2().noticed


def test_tian2023_eq_6_by_hand():
    X = layer.one_hot((0, 1, 1), 2)
    b = np.array([0.2, 0.3, 0.5])
    assert X.T @ np.diag(b) @ X == pytest.approx(np.diag([0.2, 0.8]))


def test_tian2023_eq_6_agrees_at_every_length():
    assert setting_limits.check_tian2023_eq_6(cases=20, seed=4).verdict is PROVED


def test_tian2023_eq_6_notices_the_outer_product():
    assert setting_limits.control_tian2023_eq_6().noticed


# Lemma 18


def test_tian2023_lem_18_by_hand():
    # one contextual token out of three equally likely ones strays by 2/3, whichever it is
    r = Fraction(counts.radius(1, 0.85))
    assert r < Fraction(2, 3)
    assert counts.joint_failure(1, [Fraction(1, 3)] * 3, r) == 1
    assert counts.token_failure(1, 1 / 3, float(r)) == pytest.approx(1 / 3)


def test_tian2023_lem_18_agrees_with_the_binomial_law_token_by_token():
    check = setting_counts.check_tian2023_lem_18()
    assert check.verdict is PROVED
    assert [reading.verdict for reading in check.readings] == [PROVED, REFUTED]
    assert setting_counts.violated_lengths()[0] == [1, 2]


def test_tian2023_lem_18_notices_a_smaller_radius():
    assert setting_counts.control_tian2023_lem_18().noticed


def test_ours_uniform_counts_by_hand():
    assert counts.uniform_radius(127, 0.05, 20) == pytest.approx(
        math.sqrt(math.log(800) / 254), rel=1e-12
    )


def test_ours_uniform_counts_agrees_with_samples():
    rng = np.random.default_rng(8)
    q = rng.multinomial(50, np.full(30, 1 / 30), size=4000) / 50
    strays = (np.abs(q - 1 / 30) > counts.uniform_radius(50, 0.5, 30)).any(axis=1).mean()
    exact = counts.even_failure(50, 30, counts.uniform_radius(50, 0.5, 30))
    assert strays == pytest.approx(exact, abs=0.01)
    assert setting_counts.check_ours_uniform_counts().verdict is PROVED


def test_ours_uniform_counts_notices_the_radius_of_one_token():
    assert setting_counts.control_ours_uniform_counts().noticed
