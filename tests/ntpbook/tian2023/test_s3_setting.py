"""The setting of Tian et al.: cases by hand, other computations, planted errors."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from every_check import sound

from ntpbook.tian2023.s3_setting import checks, counts, instances
from ntpcore.tian2023 import classes, layer
from ntpcore.tian2023.layer import Sample
from ntpverdicts.claims import How, Verdict

PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED


# Figure 1 and the roles of tokens


def test_tian2023_fig_1_by_hand():
    two = classes.SequenceClasses(np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]), (0, 0))
    found = checks.check_tian2023_fig_1.judge([instances.Named("two classes", two)])
    assert found.verdict is Verdict.WELL_POSED
    assert checks.check_tian2023_fig_1.judge(instances.disjoint()).verdict is REFUTED


def test_tian2023_app_classes_by_hand():
    small = classes.synthetic_classes(2, 1)
    found = checks.check_tian2023_app_classes.judge([instances.Named("Syn-Small", small)])
    counted = [found.numbers[name].value for name in ("common", "distinct", "alone")]
    assert counted == [10, 20, 2]


def test_tian2023_app_classes_notices_a_class_that_is_certain_from_a_common_token():
    # in floats: token 0 occurs in both classes, and 0.5 / (0.5 + 1e-20) is 1
    rare = classes.SequenceClasses(np.array([[0.5, 0.5, 0.0], [1e-20, 0.0, 1.0]]), (0, 0))
    found = checks.check_tian2023_app_classes.judge([instances.Named("rare", rare)])
    assert found.verdict is REFUTED
    assert "certainty from token 0" in found.witness


def test_tian2023_app_table_1_by_hand():
    # x_1 = 0, x_2 = 1 and x_3 = 2: with T = 3 the table's query is x_2 = 1, but so is t < T
    one = checks.Sequence("by hand", (0, 1, 2), np.zeros(3))
    assert checks.weight_at(one, 1, 3, 1) == 0.5
    assert checks.weight_at(one, 1, 2, 0) == 0.0


def test_tian2023_app_table_1_readings_are_computed():
    found = sound("tian2023-app-table-1")
    assert [reading.verdict for reading in found.readings] == [REFUTED]
    assert found.verdict is PROVED
    assert How.BY_HAND not in [step.how for step in found.proof]


# Equations (1) and (2), normalization


def test_tian2023_eq_1_by_hand():
    eye = np.eye(2)
    net = layer.Embedded(eye, math.sqrt(2) * math.log(3) * eye, eye, eye)
    # query 1 scores ln 3 against itself as a key, 0 against token 0
    weights = layer.embedded_weights(net, Sample((1, 0), 1, 0))
    assert weights == pytest.approx([0.75, 0.25, 0.0])


def test_tian2023_eq_2_by_hand():
    eye = np.eye(2)
    net = layer.Embedded(eye, eye, eye, math.log(3) * eye)
    found = layer.embedded_log_likelihood(net, Sample((0, 0), 1, 0))
    assert found == pytest.approx(math.log(3 / 4))


def test_tian2023_app_normalization_by_hand():
    turn, v = np.array([[0.6, 0.8], [-0.8, 0.6]]), np.array([3.0, 4.0])
    judge = checks.check_tian2023_app_normalization.judge
    turned = instances.Embedding("turned", turn, v, True)
    assert judge([turned]).verdict is PROVED
    assert judge([replace(turned, U=2 * turn)]).verdict is REFUTED  # the norm is doubled
    assert judge([turned], stretch=1e-6).verdict is REFUTED
    # u_1 . u_2 = 1/10: U U^T - I has the eigenvalue 1/10 on (1, 1), where the bound is attained
    U = np.array([[1.0, 0.0], [0.1, math.sqrt(0.99)]])
    near = instances.Embedding("near", U, np.array([0.5, 0.5]), False)
    assert np.linalg.norm(U.T @ near.v) ** 2 / 0.5 == pytest.approx(1.1)
    assert judge([near]).verdict is PROVED
    assert judge([near], sharper=1.001).verdict is REFUTED


def test_tian2023_app_normalization_is_better_for_more_dimensions():
    found = sound("tian2023-app-normalization")
    assert found.numbers["gap_16"].value > 3 * found.numbers["gap_1024"].value


# Lemma 1, equations (3) and (4), sums


def test_tian2023_lem_1_by_hand():
    # two tokens once each, Y = 0: f = (1, 1) / sqrt(2), alpha uniform, Z does not move
    zero = np.zeros((2, 2))
    dY, dZ = layer.gradients(Sample((0, 1), 0, 0), zero, zero)
    assert dY == pytest.approx(np.array([[1, -1], [1, -1]]) / (2 * math.sqrt(2)))
    assert dZ.tolist() == zero.tolist()


def test_tian2023_lem_1_steps_by_hand_are_counted():
    found = sound("tian2023-lem-1")
    how = [step.how for step in found.proof]
    assert (how.count(How.EXECUTED), how.count(How.BY_HAND)) == (3, 1)


def test_tian2023_app_multi_head_by_hand():
    # two equal heads, one token in the context, Y = 0 but Y_00 = 1 in each: alpha has the logits
    # (2, 0), so that both errors are 1/(1 + e^2) and not 1/(1 + e)
    Y = np.zeros((2, 2, 2))
    Y[:, 0, 0] = 1.0
    one = checks.Heads("by hand", Sample((0,), 1, 0), Y, np.zeros((2, 2, 2)))
    assert checks.logits_of_heads(one.sample, one.Y, one.Z).tolist() == [2.0, 0.0]
    judge = checks.check_tian2023_app_multi_head.judge
    assert judge([one]).verdict is PROVED
    assert judge([one], alone=True).verdict is REFUTED


def test_tian2023_app_multi_head_with_one_head_is_lemma_1():
    for small in instances.small_tables(5, 6):
        one = checks.Heads(small.name, small.sample, small.Y[None], small.Z[None])
        whole = checks.logits_of_heads(one.sample, one.Y, one.Z)
        alpha = layer.softmax(whole)
        found = np.log(alpha[one.sample.following])
        assert found == pytest.approx(float(layer.log_likelihood(one.sample, small.Y, small.Z)))
        judge = checks.check_tian2023_app_multi_head.judge
        assert judge([one], alone=True).verdict is PROVED  # nothing else to share alpha with


def test_tian2023_app_layernorm_by_hand():
    # tokens 0, 0, 1 of three: v = (2/3, 1/3, 0), u = (1, 0, -1)/3, LN = (1, 0, -1)/sqrt(2)
    sample, root = Sample((0, 0, 1), 2, 0), math.sqrt(2)
    Y = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])  # columns sum to 0
    one = instances.Weighted("by hand", sample, Y, np.zeros((3, 3)), (0, 0))
    # logits (sqrt 2, 0, 0); g = (1 - alpha_0)(1, 0, -1), along LN: P_u g = 0, nothing moves
    assert checks.layernorm_slopes(one) == pytest.approx(np.zeros(3), abs=1e-12)
    # g = s (1, -1, 0): P_u g = s (1/2, -1, 1/2), |u| = sqrt(2)/3, so z' = v P_u g/|u|
    one = replace(one, Y=np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    s = 1 - math.exp(1 / root) / (math.exp(1 / root) + 2)
    expected = s * np.array([1, -1, 0]) * 3 / root / 3
    assert checks.layernorm_slopes(one) == pytest.approx(expected, abs=1e-12)
    assert checks.check_tian2023_app_layernorm.judge([one]).verdict is PROVED


def test_tian2023_app_layernorm_gradient_of_the_decoder_by_hand():
    # Y = 0: alpha = 1/3 each; tokens 0, 0, 1 have LN = (1, 0, -1)/sqrt(2), and 0 comes next
    zero = np.zeros((3, 3))
    one = instances.Weighted("", Sample((0, 0, 1), 2, 0), zero, zero, (0, 0))
    expected = np.outer([1, 0, -1], [2, -1, -1]) / (3 * math.sqrt(2))
    assert checks.layernorm_decoder_slopes(one) == pytest.approx(expected, abs=1e-12)


def test_tian2023_app_zero_start_by_hand():
    # the stated standard errors, by drawing 300 times
    means, squares = [], []
    for i in range(300):
        found = checks.Drawn(20, 8, (5, i)).entries(own=False)
        means.append(found.mean())
        squares.append((found**2).mean())
    assert np.std(means) == pytest.approx(1 / (math.sqrt(8) * 20), rel=0.15)
    spread = math.sqrt(2 + 6 / 8 + 4 * 19 / 8) / (8 * 20)
    assert np.std(squares) == pytest.approx(spread, rel=0.15)
    assert np.mean(squares) == pytest.approx(1 / 8, rel=0.02)


def test_tian2023_eq_3_by_hand():
    # Y = diag(1, 0): f = (1, 1) / sqrt(2), g = (1 - alpha_0, 0), z' = f (g - f f.g)
    Y = np.diag([1.0, 0.0])
    _, dZ = layer.gradients(Sample((0, 1), 1, 0), Y, np.zeros((2, 2)))
    error = 1 / (1 + math.exp(1 / math.sqrt(2)))
    assert dZ[1] == pytest.approx(np.array([1, -1]) * error / (2 * math.sqrt(2)))
    assert dZ[0].tolist() == [0, 0]


def test_tian2023_eq_4_by_hand():
    Y = np.diag([1.0, 0.0])
    row = layer.row_gradient(Sample((0, 1), 1, 0), Y, np.zeros(2))
    assert row[0] == pytest.approx(-row[1])
    assert row[0] > 0


def test_planted_gradients_without_a_change_are_those_of_the_library():
    """The formula of the planted errors, unchanged but for its form, gives (3)."""
    for one in instances.small_tables(5, 12):
        X = layer.one_hot(one.sample.context, one.M)
        v = X.T @ layer.attention(X, one.Z[one.sample.query])
        unscaled = checks.printed_gradients(one, scaled=False)[1] / np.linalg.norm(v)
        scale = max(1.0, float(np.abs(one.Y).max()))
        assert unscaled == pytest.approx(checks.printed_gradients(one)[1], abs=1e-13 * scale)


def test_tian2023_app_row_sums_by_hand():
    sample = Sample((0, 1, 1), 0, 2)
    dY, dZ = layer.gradients(sample, np.arange(9.0).reshape(3, 3), np.eye(3))
    assert dY.sum(axis=1) == pytest.approx(np.zeros(3), abs=1e-15)
    assert dZ.sum(axis=1) == pytest.approx(np.zeros(3), abs=1e-15)
    assert abs(dY.sum(axis=0)).max() > 0.1


def test_tian2023_app_row_sums_readings_are_computed():
    found = sound("tian2023-app-row-sums")
    assert [reading.verdict for reading in found.readings] == [REFUTED, REFUTED]
    with pytest.raises(ValueError, match="choose gradient"):
        instances.trained(instances.Training(1, 1), "newton")


# Assumption 1, equations (5) and (6), Lemma 2


def test_tian2023_asm_1_by_hand():
    # at equal scores the distance is that of a binomial share
    one = classes.SequenceClasses(np.array([[0.5, 0.5]]), (0,))
    found = instances.context_distance(np.random.default_rng(1), one, 1, 50)
    assert found == pytest.approx(1.0)


def test_tian2023_asm_1_has_a_faster_decoder_moving_less():
    assert instances.decoder_time_movement(1000.0) < instances.decoder_time_movement(1.0) / 20


def test_tian2023_eq_5_by_hand():
    one = classes.SequenceClasses(np.array([[0.25, 0.75]]), (0,))
    z = np.array([[math.log(3), 0.0]])
    assert classes.attention_scores(one, z)[0] == pytest.approx([0.5, 0.5])


def test_tian2023_eq_5_is_well_defined_and_not_called_proved():
    assert sound("tian2023-eq-5").verdict is Verdict.WELL_POSED


def test_tian2023_lem_2_by_hand():
    P = np.array([0.5, 0.5])
    # |q - 1/2| twice, with the standard deviation 1/2
    assert counts.distance_constant(P, np.zeros(2)) == pytest.approx(math.sqrt(2 / math.pi))


def test_tian2023_lem_2_says_what_no_machine_shows():
    found = sound("tian2023-lem-2")
    assert [step.how for step in found.proof] == [
        How.EXECUTED,
        How.EXECUTED,
        How.CITED,
        How.BY_HAND,
    ]


def test_tian2023_lem_2_constant_agrees_with_exact_means_of_two_tokens():
    """E|X^T b - c|_1 for two tokens, summed over the binomial law, tends to the constant."""
    P, z, length = np.array([0.3, 0.7]), np.array([0.4, -0.2]), 4000
    k = np.arange(length + 1)
    logs = np.cumsum(np.log(np.arange(1, length + 1)))
    ways = logs[-1] - np.append(0, logs) - np.append(0, logs)[::-1]
    chance = np.exp(ways + k * np.log(P[0]) + (length - k) * np.log(P[1]))
    first = k * math.exp(z[0]) / (k * math.exp(z[0]) + (length - k) * math.exp(z[1]))
    c = P * np.exp(z) / (P @ np.exp(z))
    mean = 2 * float(chance @ np.abs(first - c[0]))
    assert chance.sum() == pytest.approx(1)
    assert mean * math.sqrt(length) == pytest.approx(counts.distance_constant(P, z), rel=1e-3)


def test_tian2023_lem_2_notices_a_drift_that_an_eighth_would_let_pass():
    one = instances.long_sequences(7)
    judge = checks.check_tian2023_lem_2.judge
    assert judge(one).verdict is PROVED
    assert judge(one, drift=0.003).verdict is REFUTED
    assert judge(one, factor=1.1).verdict is REFUTED


def test_tian2023_eq_6_by_hand():
    X = layer.one_hot((0, 1, 1), 2)
    b = np.array([0.2, 0.3, 0.5])
    assert X.T @ np.diag(b) @ X == pytest.approx(np.diag([0.2, 0.8]))


# Lemma 18


def test_tian2023_eq_137_by_hand():
    # tokens 0, 1, 1 and h = (3, 6): the sum over positions is (3, 12)/3
    X, h = layer.one_hot((0, 1, 1), 2), np.array([3.0, 6.0])
    assert (X.T @ (X @ h) / 3).tolist() == [1.0, 4.0]
    assert (np.array([1 / 3, 2 / 3]) * h).tolist() == [1.0, 4.0]


def test_tian2023_eq_138_by_hand():
    # one fair coin is always 1/2 away: 1 <= 2 exp(-1/2); two are with probability 1/2
    assert instances.Far(1, 0.5, 0.5).chance() == pytest.approx(1.0)
    assert instances.Far(2, 0.5, 0.5).chance() == pytest.approx(0.5)
    assert 2 * math.exp(-1 / 2) > 1
    judge = checks.check_tian2023_eq_138.judge
    far = instances.Far(10**6, 0.5, math.sqrt(40 / 2e6))  # more than six standard deviations
    assert judge([far]).verdict is PROVED
    assert judge([far], sharper=1.1).verdict is REFUTED


def test_tian2023_lem_18_by_hand():
    # one contextual token out of three equally likely ones strays by 2/3, whichever it is
    r = Fraction(counts.radius(1, 0.85))
    assert r < Fraction(2, 3)
    assert counts.joint_failure(1, [Fraction(1, 3)] * 3, r) == 1
    assert counts.token_failure(1, 1 / 3, float(r)) == pytest.approx(1 / 3)


def test_tian2023_lem_18_reading_for_all_tokens_is_computed(monkeypatch):
    found = sound("tian2023-lem-18")
    assert [reading.verdict for reading in found.readings] == [REFUTED]
    # two contextual tokens and two equally likely tokens keep within the radius of a small delta
    monkeypatch.setattr(checks, "TOGETHER", ((2, 2, Fraction(1, 10)),))
    fine = checks.check_tian2023_lem_18.judge([instances.Together(2, 2)], which="together")
    assert fine.verdict is not REFUTED
    assert fine.tried == 1


def test_tian2023_lem_18_exact_failures_are_at_most_those_of_the_float_radius():
    for length, tokens, delta in ((1, 3, 0.85), (2, 4, 0.5), (5, 2, 0.3)):
        exact = instances.enclosed_failure(length, tokens, Fraction(delta))
        assert float(exact) <= counts.even_failure(length, tokens, counts.radius(length, delta)) + (
            1e-12
        )


def test_tian2023_lem_18_is_violated_together_in_contexts_of_at_most_three_tokens():
    together = [one for one in instances.counted() if isinstance(one, instances.Together)]
    violated = {(one.length, one.tokens) for one in together if instances.is_violated(one)}
    assert {length for length, _ in violated} == {1, 2, 3}
    assert {pair for pair in violated if pair[0] == 3} == {(3, 7)}
    # Two or all of three draws from seven agree with probability 1 - 6/7 * 5/7. Then a share
    # deviates by 2/3 - 1/7 or more, which is more than the radius.
    failure, delta = 1 - Fraction(6, 7) * Fraction(5, 7), Fraction(387, 1000)
    assert counts.radius(3, float(delta)) < 2 / 3 - 1 / 7
    assert instances.enclosed_failure(3, 7, delta) == failure > delta


def test_ours_uniform_counts_by_hand():
    assert counts.uniform_radius(127, 0.05, 20) == pytest.approx(
        math.sqrt(math.log(800) / 254), rel=1e-12
    )


def test_ours_uniform_counts_two_tokens_stray_together():
    # the first radius with ln(4/delta) is within a tenth of what two tokens need
    tight = instances.Distribution(2000, 1e-12, 2, (1, 1))
    radius = counts.uniform_radius(2000, 1e-12, 2)
    assert tight.failure(radius) < 1e-12 < tight.failure(radius / 1.1)
    exact = counts.joint_failure(12, [Fraction(1, 2)] * 2, Fraction(3, 10))
    assert instances.Distribution(12, 0.1, 2, (1, 1)).failure(0.3) == pytest.approx(float(exact))


def test_ours_uniform_counts_agrees_with_samples():
    rng = np.random.default_rng(8)
    q = rng.multinomial(50, np.full(30, 1 / 30), size=4000) / 50
    strays = (np.abs(q - 1 / 30) > counts.uniform_radius(50, 0.5, 30)).any(axis=1).mean()
    exact = counts.even_failure(50, 30, counts.uniform_radius(50, 0.5, 30))
    assert strays == pytest.approx(exact, abs=0.01)


def test_ours_uniform_counts_cites_the_inequality_of_its_second_radius():
    found = sound("ours-uniform-counts")
    cited = [step for step in found.proof if step.how is How.CITED]
    assert [step.source for step in cited] == ["massart1990, Corollary 1"]
