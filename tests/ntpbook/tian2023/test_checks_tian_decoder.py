"""Tests of the checks on the decoder of Tian et al.: (7), (8), (26), Lemmas 3 and 5, Remark 1."""

from __future__ import annotations

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ntpbook.tian2023.s4_decoder import decoder as rows_of_w
from ntpbook.tian2023.s4_decoder import decoder_correlations as pairs
from ntpbook.tian2023.s4_decoder import decoder_e_prime as sign
from ntpbook.tian2023.s4_decoder import decoder_equal as equal
from ntpbook.tian2023.s4_decoder import decoder_rows as classes
from ntpbook.tian2023.s4_decoder import decoder_update as update
from ntpcore.tian2023 import decoder, equicorrelated
from ntpcore.tian2023.classes import (
    LOWER_BOUNDS,
    correlations,
    paired_classes,
    synthetic_classes,
    unit_scores,
    weak_correlations,
)
from ntpcore.verdicts.claims import Verdict

jax.config.update("jax_enable_x64", True)


def some_instance() -> tuple[np.ndarray, np.ndarray]:
    """f and Y of the second size."""
    found = [item for item in rows_of_w.instances(5) if item[2].shape == (3, 12)]
    return found[0][2], found[0][3]


# Equation (7)


def test_tian2023_eq_7_by_hand():
    # Y = 0, f = (1, 0), M = 2: the gradient is f (e_1 - 1/2)
    residual = rows_of_w.softmax_residual(np.zeros(2), 0)
    assert np.outer([1, 0], residual).tolist() == [[0.5, -0.5], [0, 0]]


def test_tian2023_eq_7_agrees_with_automatic_differentiation():
    f, Y = some_instance()

    def likelihood(y):  # of the population, classes uniform
        return jnp.mean(jnp.array([jax.nn.log_softmax(f[n] @ y)[n] for n in range(3)]))

    residuals = np.array([rows_of_w.softmax_residual(f[n] @ Y, n) for n in range(3)])
    assert f.T @ residuals / 3 == pytest.approx(np.asarray(jax.grad(likelihood)(Y)), abs=1e-14)


def test_tian2023_eq_7_is_proved_and_its_control_noticed():
    check = rows_of_w.check_tian2023_eq_7(3)
    assert check.verdict is Verdict.PROVED
    assert check.with_control(rows_of_w.control_tian2023_eq_7(3)).control


# Critical points


def test_tian2023_app_critical_by_hand():
    # one other token at the same logit: (M - 1)/(M - 1 + e^0) = 1/2, attained
    assert rows_of_w.softmax_residual(np.zeros(2), 0)[0] == 0.5
    assert rows_of_w.missing_probability_is_positive()


def test_tian2023_app_critical_needs_independent_classes():
    # two classes, no other token, one input: the mean gradient vanishes at Y = 0
    f = np.array([[0.6, 0.8], [0.6, 0.8]])
    residuals = np.array([rows_of_w.softmax_residual(np.zeros(2), n) for n in range(2)])
    assert np.abs(f.T @ residuals).max() == 0


def test_tian2023_app_critical_agrees_with_an_optimizer_that_never_stops():
    f, _ = some_instance()
    Y = np.zeros((12, 12))
    norms = []
    for step in range(2000):
        gradient = f.T @ np.array([rows_of_w.softmax_residual(f[n] @ Y, n) for n in range(3)])
        Y += 2.0 * gradient
        if step in (20, 200, 1999):
            norms.append(float(np.linalg.norm(gradient)))
    assert norms[0] > norms[1] > norms[2] > 0


def test_tian2023_app_critical_is_proved_and_its_control_noticed():
    check = rows_of_w.check_tian2023_app_critical(3)
    assert check.verdict is Verdict.PROVED
    assert [reading.verdict for reading in check.readings] == [Verdict.PROVED] * 2
    assert check.with_control(rows_of_w.control_tian2023_app_critical(3)).control


# Assumption 2


def test_tian2023_asm_2_by_hand():
    # two classes with inner product 1/4: eigenvalues +-1/4 < 1/2, and 6/sqrt(M) <= 1/4 from 576 on
    E = np.array([[0, 0.25], [0.25, 0]])
    assert weak_correlations(E, 576).holds
    assert not weak_correlations(E, 575).holds
    assert weak_correlations(E, 96, "sqrt(6/M)").holds
    assert not weak_correlations(E, 95, "sqrt(6/M)").holds


def test_tian2023_asm_2_agrees_with_other_pairs():
    E = correlations(unit_scores(paired_classes(6, 2000, 0.15)))
    other = correlations(unit_scores(pairs.grouped_classes((2, 2, 2), 0.15)))
    assert np.abs(E - other).max() < 1e-15
    eigenvalues = np.linalg.eigvalsh(correlations(unit_scores(pairs.grouped_classes((3,), 0.1))))
    assert eigenvalues == pytest.approx([-0.1, -0.1, 0.2])


def test_tian2023_asm_2_is_never_met_when_the_window_is_closed():
    rng = np.random.default_rng(2)
    for reading, factor in pairs.FACTORS.items():
        for K in (1, 2, 5):
            M = factor * K**2
            assert LOWER_BOUNDS[reading](M) == pytest.approx(1 / K)
            E = rng.uniform(0, 2 / K, size=(K, K))
            assert not weak_correlations(np.triu(E, 1) + np.triu(E, 1).T, M, reading).holds


def test_tian2023_asm_2_is_proved_in_both_readings_and_its_control_noticed():
    check = pairs.check_tian2023_asm_2(3)
    assert check.verdict is Verdict.PROVED
    assert [reading.verdict for reading in check.readings] == [Verdict.PROVED] * 2
    assert check.with_control(pairs.control_tian2023_asm_2(3)).control
    assert check.numbers["random_met"] == "0"


def test_ours_asm_2_experiments_by_hand():
    # squares of 0.1, ..., 1 sum to 3.85, so that 10/13.85 = 200/277
    assert pairs.exact_correlation() == Fraction(200, 277)


def test_ours_asm_2_experiments_agrees_with_the_generated_data():
    for L, following in pairs.EXPERIMENTS:
        data = synthetic_classes(L, following)
        E = correlations(unit_scores(data))
        largest = float(np.linalg.eigvalsh(E)[-1])
        assert largest == pytest.approx(float((data.K - 1) * Fraction(200, 277)), rel=1e-13)
        assert not weak_correlations(E, data.M).holds
        assert not weak_correlations(E, data.M, "sqrt(6/M)").holds
        assert data.M <= 36 * data.K**2


def test_ours_asm_2_experiments_is_proved_and_its_control_noticed():
    check = pairs.check_ours_asm_2_experiments()
    assert check.verdict is Verdict.PROVED
    assert check.numbers["L10"] == "13.7"
    assert check.with_control(pairs.control_ours_asm_2_experiments()).control


# Lemma 3, (8), (26)


def test_tian2023_lem_3_by_hand():
    assert sign.two_class_moves(1) == (1, 0)
    assert sign.two_class_moves(-1) == (1, Fraction(2, 3))


def test_tian2023_lem_3_agrees_with_a_solver_of_linear_equations():
    """The update of Y that moves row n of F^T Y alone and lies in the span of the f_n."""
    f, _ = some_instance()
    E = correlations(f)
    for n in range(3):
        direction, *_ = np.linalg.lstsq(f, np.eye(3)[n], rcond=None)
        assert f.T @ (np.eye(3) - update.right_E_prime(E))[:, n] == pytest.approx(direction)


def test_tian2023_lem_3_has_a_size_that_two_classes_attain():
    # lambda = -x: |F E' v|^2 = x^2/(1 - x) for the eigenvector v = (1, -1)/sqrt(2)
    x = 0.3
    f = np.array([[1, 0], [x, np.sqrt(1 - x**2)]])
    v = np.array([1, -1]) / np.sqrt(2)
    size = np.linalg.norm(f.T @ update.right_E_prime(correlations(f)) @ v)
    assert size == pytest.approx(x / np.sqrt(1 - x))


def test_tian2023_lem_3_is_proved_with_the_right_sign_only():
    check = update.check_tian2023_lem_3(3)
    assert check.verdict is Verdict.PROVED
    assert [r.verdict for r in check.readings] == [Verdict.PROVED, Verdict.REFUTED]
    assert check.with_control(update.control_tian2023_lem_3(3)).control
    assert update.row_moves(1)
    assert not update.row_moves(-1)


def test_tian2023_eq_8_by_hand():
    assert rows_of_w.softmax_residual(np.log([2.0, 1.0, 1.0]), 0).tolist() == pytest.approx(
        [0.5, -0.25, -0.25]
    )


def test_tian2023_eq_8_agrees_with_automatic_differentiation():
    f, Y = some_instance()
    W = f @ Y
    for n in range(3):
        gradient = jax.grad(lambda w, n=n: jax.nn.log_softmax(w[n])[n])(jnp.asarray(W))
        expected = np.zeros_like(W)
        expected[n] = rows_of_w.softmax_residual(W[n], n)
        assert expected == pytest.approx(np.asarray(gradient), abs=1e-14)


def test_tian2023_eq_8_is_proved_and_its_control_noticed():
    check = update.check_tian2023_eq_8(3)
    assert check.verdict is Verdict.PROVED
    assert check.with_control(update.control_tian2023_eq_8(3)).control


def test_tian2023_eq_26_by_hand():
    # f_1 . f_2 = 1/3: E' = [[-1/8, 3/8], [3/8, -1/8]]
    E = np.array([[0, 1], [1, 0]]) / 3
    expected = np.array([[-1, 3], [3, -1]]) / 8
    assert update.right_E_prime(E) == pytest.approx(expected)


def test_tian2023_eq_26_agrees_with_the_library():
    f, _ = some_instance()
    E = correlations(f)
    state = decoder.run(decoder.zero_decoder(12, E), [0, 1, 1, 2, 0], 0.8, modified=True)
    for n, times in enumerate((2, 2, 1)):
        height = decoder.recursion(12, 0.8, times)[-1]
        assert state.W[n, n] - state.W[n, 3] == pytest.approx(height, rel=1e-12)


def test_tian2023_eq_26_is_proved_with_the_right_sign_only():
    check = update.check_tian2023_eq_26(3)
    assert check.verdict is Verdict.PROVED
    assert [r.verdict for r in check.readings] == [Verdict.PROVED, Verdict.REFUTED]
    assert check.with_control(update.control_tian2023_eq_26(3)).control


# The sign of E'


def test_tian2023_app_e_prime_by_hand():
    E = np.array([[0, 1], [1, 0]]) / 3
    printed = update.printed_E_prime(E)
    moved = (np.eye(2) + E) @ (np.eye(2) - printed)
    assert moved == pytest.approx(np.eye(2) + 2 * E)  # and not the identity
    assert printed[0, 0] > 0  # against Lemma 16


def test_tian2023_app_e_prime_agrees_with_dense_steps():
    f, _ = some_instance()
    E = correlations(f)
    step = f.T @ (np.eye(3) - update.printed_E_prime(E))[:, 0]
    assert f @ step == pytest.approx((np.eye(3) + 2 * E)[:, 0])


def test_tian2023_app_e_prime_is_refuted_in_each_use():
    check = sign.check_tian2023_app_e_prime(3)
    assert check.verdict is Verdict.REFUTED
    assert [reading.verdict for reading in check.readings] == [Verdict.REFUTED] * 3
    assert check.with_control(sign.control_tian2023_app_e_prime(3)).control


def test_tian2023_app_e_prime_corrected_by_hand():
    # eigenvalues x of E become x/(1 + x)
    E = np.array([[0, 0.5], [0.5, 0]])
    assert np.linalg.eigvalsh(update.right_E_prime(E)) == pytest.approx([-1, 1 / 3])


def test_tian2023_app_e_prime_corrected_agrees_with_the_library():
    from ntpcore.tian2023.classes import E_prime

    E = correlations(some_instance()[0])
    assert update.right_E_prime(E) == pytest.approx(E_prime(E), abs=1e-14)


def test_tian2023_app_e_prime_corrected_is_proved_and_its_control_noticed():
    check = sign.check_tian2023_app_e_prime_corrected(3)
    assert check.verdict is Verdict.PROVED
    assert check.with_control(sign.control_tian2023_app_e_prime_corrected(3)).control


# Lemma 5 and equation (33)


def test_tian2023_lem_5_by_hand():
    # M = 3, first step: alpha = 1/3 each, w = eta (2/3, -1/3, -1/3) = 2 h zeta with h = eta/3
    state = decoder.run(decoder.zero_decoder(3, np.zeros((1, 1))), [0], 1.0, True)
    assert state.W.tolist() == [pytest.approx([2 / 3, -1 / 3])]
    assert decoder.zeta(3, 0).tolist() == [1, -0.5, -0.5]
    assert decoder.recursion(3, 1.0, 1)[1] / 3 * 2 == pytest.approx(2 / 3)


def test_tian2023_lem_5_agrees_with_automatic_differentiation():
    M, eta = 6, 0.9
    w = jnp.zeros(M)
    for _ in range(20):
        w = w + eta * jax.grad(lambda v: jax.nn.log_softmax(v)[2])(w)
    h = decoder.recursion(M, eta, 20)[-1] / M
    assert np.asarray(w) == pytest.approx((M - 1) * h * decoder.zeta(M, 2), rel=1e-12)


def test_tian2023_lem_5_is_proved_and_its_control_noticed():
    check = classes.check_tian2023_lem_5(3)
    assert check.verdict is Verdict.PROVED
    assert check.with_control(classes.control_tian2023_lem_5(3)).control


def test_tian2023_eq_33_by_hand():
    x = decoder.recursion(2, 1.0, 2)
    assert x.tolist() == pytest.approx([0, 1, 1 + 2 / (1 + np.e)])


def test_tian2023_eq_33_agrees_with_the_library():
    h = 0.0
    for _ in range(40):
        h += 0.3 / (99 + np.exp(100 * h))
    assert 100 * h == pytest.approx(decoder.recursion(100, 0.3, 40)[-1], rel=1e-13)


def test_tian2023_eq_33_is_proved_and_its_control_noticed():
    check = classes.check_tian2023_eq_33(3)
    assert check.verdict is Verdict.PROVED
    assert check.with_control(classes.control_tian2023_eq_33(3)).control


# Remark 1


def test_tian2023_rem_1_by_hand():
    # K = 2, M = 3: (2/3 - rho/3, -1/3 + 2 rho/3, -1/3 - rho/3); equal at the end only for rho = 0
    assert equal.first_round(3, Fraction(1, 2)) == (Fraction(1, 2), 0, Fraction(-1, 2))
    none = equal.first_round(3, Fraction(0))
    assert none[1] == none[2]


def test_tian2023_rem_1_agrees_with_one_pass_of_single_samples():
    M, rho, eta = 3, 0.5, 1e-6
    E = np.array([[0, rho], [rho, 0]])
    state = decoder.run(decoder.zero_decoder(M, E), [0, 1], eta, modified=False)
    expected = [float(x) for x in equal.first_round(M, Fraction(1, 2))]
    assert state.W[0] / eta == pytest.approx(expected, abs=1e-6)  # to first order in eta


def test_tian2023_rem_1_is_refuted_in_each_reading():
    check = equal.check_tian2023_rem_1()
    assert check.verdict is Verdict.REFUTED
    assert [reading.verdict for reading in check.readings] == [Verdict.REFUTED] * 4
    assert check.with_control(equal.control_tian2023_rem_1()).control


def test_tian2023_rem_1_printed_formula_fails_for_as_many_classes_as_tokens_too():
    check = equal.check_tian2023_rem_1(same_size=True, reading=equal.PRINTED)
    assert check.verdict is Verdict.REFUTED


def test_tian2023_rem_1_corrected_by_hand():
    # M = K = 2, rho = 1/2: u' = (1/2) (p_b + p_b) = 1/(e^u + 1)
    slope, _ = equicorrelated.slopes(2, 2, 0.5, 1.0, 7.0)
    assert slope == pytest.approx(1 / (np.e + 1))


def test_tian2023_rem_1_corrected_agrees_with_single_samples_of_small_rate():
    M, K, rho = 40, 4, 0.6
    E = rho * (np.ones((K, K)) - np.eye(K))
    state = decoder.run(decoder.zero_decoder(M, E), list(range(K)) * 1000, 0.01, modified=False)
    u, v = equicorrelated.gaps(M, K, rho, np.array([10.0]))
    assert state.W[2, 2] - state.W[2, 1] == pytest.approx(u[0], rel=5e-3)  # of the order of eta
    assert state.W[2, 2] - state.W[2, K] == pytest.approx(v[0], rel=5e-3)


def test_tian2023_rem_1_corrected_is_proved_and_its_control_noticed():
    check = equal.check_tian2023_rem_1_corrected()
    assert check.verdict is Verdict.PROVED
    assert check.with_control(equal.control_tian2023_rem_1_corrected()).control


def test_tian2023_rem_1_corrected_bound_on_the_lead_is_nearly_reached(monkeypatch):
    bound = equicorrelated.lead
    monkeypatch.setattr(equicorrelated, "lead", lambda M, rho: bound(M, rho) - np.log(1.05))
    check = equal.check_tian2023_rem_1_corrected(shapes=equal.SHAPES[:2])
    assert check.verdict is Verdict.REFUTED
    assert ", lead" in check.witness
