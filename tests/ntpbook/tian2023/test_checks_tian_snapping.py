"""Tests of the checks on scanning and snapping."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad

from ntpbook.tian2023.s6_snapping import (
    coupled,
    snapping,
    snapping_equations,
    snapping_exponents,
    snapping_figures,
    snapping_insights,
)
from ntpcore.tian2023 import coupled as flows
from ntpcore.tian2023 import decoder
from ntpcore.tian2023 import snapping as formulas
from ntpcore.tian2023.classes import correlations
from ntpcore.tian2023.snapping import Setting
from ntpcore.verdicts.claims import Reading, Verdict

S = Setting(1000, 10, 1.0, 1.0)


@pytest.fixture(scope="module")
def runs() -> list[flows.Path]:
    """The coupled flow at two ratios, and a descent that is long enough to be judged."""
    data = flows.one_of_each(10, 1000, 0.5)
    chosen = [flows.flow(data, r, 1.0, coupled.TIMES) for r in (1.0, 10.0)]
    steps = np.unique(np.geomspace(1, 1e7, 141).astype(np.int64))
    return [*chosen, flows.descend(data, 10.0, 1.0, steps.tolist())]


def verdicts(readings: tuple[Reading, ...]) -> list[Verdict]:
    """The verdicts of some readings, in order."""
    return [reading.verdict for reading in readings]


# Equation (13)


def test_tian2023_eq_13_by_hand_for_two_classes() -> None:
    c, d = 0.1, math.sqrt(0.99)
    f = np.array([[c, d, 0.0], [c, 0.0, d]])
    change, xi = formulas.attention_slopes(f, 1.0, 1.0, correlations(f))
    assert -change[0] / xi[0] == pytest.approx(2 * 0.99)  # K (1 - c^2), not 1


def test_tian2023_eq_13_is_off_by_the_number_of_classes() -> None:
    check = snapping_equations.check_tian2023_eq_13()
    assert check.verdict is Verdict.REFUTED
    assert "K = 2" in check.witness
    assert (check.numbers["sum_2"], check.numbers["mean_2"]) == ("2.0000", "1.0000")


def test_tian2023_eq_13_holds_when_10_is_divided_by_the_number_of_classes() -> None:
    assert snapping_equations.control_tian2023_eq_13().noticed


def test_tian2023_eq_13_corrected_by_hand() -> None:
    c, d = math.sqrt(0.3), math.sqrt(0.7)
    f = np.zeros((3, 4))
    f[:, 0], f[[0, 1, 2], [1, 2, 3]] = c, d
    change, xi = formulas.attention_slopes(f, 1.0, 1.0, correlations(f))
    assert xi[0] == pytest.approx(2 * 0.3**2)
    assert change[0] == pytest.approx(-3 * 0.7 * 2 * 0.3**2)


def test_tian2023_eq_13_corrected_is_proved() -> None:
    check = snapping_equations.check_tian2023_eq_13_corrected()
    assert check.verdict is Verdict.PROVED
    assert float(check.numbers["slope_2"]) == pytest.approx(1 / 6, rel=0.05)  # not 1/4


def test_tian2023_eq_13_corrected_notices_another_power() -> None:
    assert snapping_equations.control_tian2023_eq_13_corrected().noticed


# Equations (124) and (128)


def test_tian2023_eq_124_starts_at_a_quarter_of_the_logarithm_of_its_constant() -> None:
    check = snapping_equations.check_tian2023_eq_124()
    assert check.verdict is Verdict.REFUTED
    assert check.witness.startswith("C_0 = 2, t = 0")
    assert float(check.numbers["at_zero"]) == pytest.approx(math.log(2) / 4, abs=1e-3)
    assert float(check.numbers["factor"]) == pytest.approx(math.sqrt(10), rel=1e-2)


def test_tian2023_eq_124_is_right_for_the_constant_one() -> None:
    assert snapping_equations.control_tian2023_eq_124().noticed
    _, B = formulas.solve_13(S, 1.0, np.array([50.0]))
    assert formulas.printed_growth(1.0, formulas.total_speed(S, np.array([50.0]))) == (
        pytest.approx(B, rel=1e-7)
    )


def test_tian2023_eq_124_corrected_is_proved() -> None:
    check = snapping_equations.check_tian2023_eq_124_corrected()
    assert check.verdict is Verdict.PROVED
    assert float(formulas.growth(2.0, 0.0)) == 0.0
    assert float(formulas.growth(2.0, 1.5)) == pytest.approx(math.log(4) / 4)


def test_tian2023_eq_124_corrected_notices_another_coefficient() -> None:
    assert snapping_equations.control_tian2023_eq_124_corrected().noticed


def test_tian2023_eq_128_is_proved() -> None:
    assert snapping_equations.check_tian2023_eq_128().verdict is Verdict.PROVED


def test_tian2023_eq_128_agrees_with_adaptive_quadrature() -> None:
    total = quad(lambda t: float(decoder.speed(1000, 10, 1.0, t)), 0, 300, limit=200)[0]
    assert float(formulas.total_speed(S, 300.0)) == pytest.approx(total, rel=1e-8)


def test_tian2023_eq_128_notices_a_missing_half() -> None:
    assert snapping_equations.control_tian2023_eq_128().noticed


# Theorem 4


def test_tian2023_thm_4_is_off_by_the_root_of_the_constant() -> None:
    check = snapping.check_tian2023_thm_4()
    assert check.verdict is Verdict.REFUTED
    assert "e^(2B) by 1.414" in check.witness  # C_0 = 2
    assert float(check.numbers["scan"]) == pytest.approx(0.5, abs=0.01)
    assert float(check.numbers["snap"]) == pytest.approx(0.5, abs=0.01)


def test_tian2023_thm_4_judging_accepts_the_corrected_form() -> None:
    assert snapping.control_tian2023_thm_4().noticed


def test_tian2023_eq_14_is_refuted_at_the_start() -> None:
    check = snapping.check_tian2023_eq_14()
    assert check.verdict is Verdict.REFUTED
    assert "C_0 = 2" in check.witness
    printed = formulas.printed_growth(0.4, formulas.first_stage(S, 1e-3))
    assert float(printed) == pytest.approx(math.log(0.4) / 4, abs=1e-3)  # below zero


def test_tian2023_eq_14_judging_accepts_the_corrected_form() -> None:
    assert snapping.control_tian2023_eq_14().noticed


def test_tian2023_thm_4_corrected_is_proved() -> None:
    check = snapping.check_tian2023_thm_4_corrected()
    assert check.verdict is Verdict.PROVED
    assert float(check.numbers["excess_1"]) == pytest.approx(
        0.5 * math.log(1 + 1 / math.log(1000)), abs=1e-3
    )


def test_tian2023_thm_4_corrected_agrees_with_the_integrated_equation() -> None:
    late = np.array([S.onset, 100 * S.onset])
    _, B = formulas.solve_13(S, 0.3, late)
    over = formulas.growth(0.3, formulas.second_stage(S, late)) - B
    assert (over > 0).all()
    assert (over < [snapping.stage_excess(S, float(t), 2) for t in late]).all()


def test_tian2023_thm_4_corrected_notices_half_the_room() -> None:
    assert snapping.control_tian2023_thm_4_corrected().noticed


# Exponents


def test_ours_snapping_exponents_are_proved() -> None:
    check = snapping_exponents.check_ours_snapping_exponents(Ks=(2, 10))
    assert check.verdict is Verdict.PROVED
    assert float(check.numbers["snap_2"]) == pytest.approx(1 / 6, rel=0.02)
    assert float(check.numbers["snap_10"]) == pytest.approx(1 / 22, rel=0.02)


def test_ours_snapping_exponents_by_hand_from_the_closed_form() -> None:
    Gamma = np.array([1e6, 1e8])
    _, B = formulas.solve_closed(3, 0.3, Gamma)
    assert (B[1] - B[0]) / math.log(100) == pytest.approx(1 / 16, rel=1e-2)


def test_ours_snapping_exponents_notice_those_of_theorem_4() -> None:
    assert snapping_exponents.control_ours_snapping_exponents().noticed


# Conclusions


def test_tian2023_eq_131_is_proved() -> None:
    check = snapping_insights.check_tian2023_eq_131()
    assert check.verdict is Verdict.PROVED
    tau = 2 * decoder.crossings(1000)[1]  # of t_0; the second stage puts ln(M tau) for M h
    error = math.log(1000 * tau) / float(decoder.height(1000, tau)) - 1
    assert float(check.numbers["neglected"]) == pytest.approx(error, abs=1e-3)


def test_tian2023_eq_131_by_hand_at_twice_the_upper_zero() -> None:
    x = float(decoder.height(1000, 2 * decoder.crossings(1000)[1]))
    expected = 10 / 2 * (0.999 * x) ** 2
    for rate in (0.1, 7.0):
        s = Setting(1000, 10, rate, rate)
        assert float(formulas.total_speed(s, s.onset)) == pytest.approx(expected)


def test_tian2023_eq_131_notices_a_change_of_ratio() -> None:
    assert snapping_insights.control_tian2023_eq_131().noticed


def test_tian2023_eq_133_holds_for_a_fixed_ratio_only() -> None:
    check = snapping_insights.check_tian2023_eq_133()
    assert check.verdict is Verdict.CONSISTENT
    assert verdicts(check.readings) == [Verdict.CONSISTENT, Verdict.REFUTED, Verdict.REFUTED]
    # nu = K ln(M tau) = 5000, K = 10, C_0 = 1: B is about ln(1 + 2 * 500) / 4
    assert float(check.numbers["joint"]) == pytest.approx(math.log(1001) / 4, abs=0.02)


def test_tian2023_eq_133_late_slope_agrees_with_the_formula() -> None:
    assert snapping_insights.late_slope(S, 1.0) == pytest.approx(0.5, abs=2e-3)


def test_tian2023_eq_133_notices_half_the_coefficient() -> None:
    assert snapping_insights.control_tian2023_eq_133().noticed


def test_tian2023_app_decoder_rate_holds() -> None:
    check = snapping_insights.check_tian2023_app_decoder_rate()
    assert check.verdict is Verdict.CONSISTENT
    assert verdicts(check.readings) == [Verdict.PROVED, Verdict.CONSISTENT]


def test_tian2023_app_decoder_rate_steepest_moment_agrees_with_a_finer_grid() -> None:
    data = flows.one_of_each(10, 1000, 0.5)
    rough = snapping_insights.steepest(flows.flow(data, 0.1, 0.01, snapping_insights.LINES))
    fine = snapping_insights.steepest(flows.flow(data, 0.1, 0.01, np.geomspace(100, 5e3, 400)))
    assert rough == pytest.approx(fine, rel=0.15)  # a point of the rough grid is 12 per cent


def test_tian2023_app_decoder_rate_notices_the_numerator() -> None:
    assert snapping_insights.control_tian2023_app_decoder_rate().noticed


def test_tian2023_app_both_rates_fails_for_entropy_at_equal_rates() -> None:
    check = snapping_insights.check_tian2023_app_both_rates()
    assert check.verdict is Verdict.CONSISTENT
    assert verdicts(check.readings) == [
        Verdict.PROVED,
        Verdict.CONSISTENT,
        Verdict.CONSISTENT,
        Verdict.REFUTED,
    ]


def test_tian2023_app_both_rates_is_waiting_longer() -> None:
    fast = Setting(1000, 10, 3.0, 3.0)
    assert float(formulas.total_speed(fast, 50.0)) == pytest.approx(
        float(formulas.total_speed(S, 150.0))
    )


def test_tian2023_app_both_rates_notices_one_rate_alone() -> None:
    assert snapping_insights.control_tian2023_app_both_rates().noticed


def test_tian2023_app_slow_decoder_holds_far_from_equal_rates() -> None:
    check = snapping_insights.check_tian2023_app_slow_decoder()
    assert check.verdict is Verdict.CONSISTENT
    assert verdicts(check.readings) == [Verdict.PROVED, Verdict.CONSISTENT, Verdict.REFUTED]
    assert check.numbers["best"] == "30"
    assert float(check.numbers["tiny"]) > 0  # M = 5 is an exception


def test_tian2023_app_slow_decoder_agrees_with_descent() -> None:
    data = flows.one_of_each(10, 1000, 0.5)
    gains = [
        float(flows.descend(data, rate, 0.1, [20_000]).z_distinct[-1, 0]) for rate in (0.1, 1, 100)
    ]
    assert gains[0] < gains[1] > gains[2]


def test_tian2023_app_slow_decoder_notices_a_kept_ratio() -> None:
    assert snapping_insights.control_tian2023_app_slow_decoder().noticed


# Figures 3 and 9


def test_tian2023_fig_3_has_the_right_order_and_another_scale() -> None:
    check = snapping_figures.check_tian2023_fig_3()
    assert check.verdict is Verdict.CONSISTENT
    assert verdicts(check.readings) == [Verdict.CONSISTENT, *[Verdict.REFUTED] * 3]
    assert (check.numbers["natural"], check.numbers["one"]) == ("143", "45")


def test_tian2023_fig_3_agrees_with_the_integrated_equation() -> None:
    _, B = formulas.solve_13(Setting(1000, 10, 0.5, 0.5), 0.1, np.array([700.0]))
    assert math.exp(2 * B[0]) == pytest.approx(143, abs=0.5)


def test_tian2023_fig_3_notices_the_opposite_order() -> None:
    assert snapping_figures.control_tian2023_fig_3().noticed


def test_tian2023_fig_9_fits_one_class() -> None:
    check = snapping_figures.check_tian2023_fig_9()
    assert check.verdict is Verdict.CONSISTENT
    assert verdicts(check.readings) == [Verdict.CONSISTENT, Verdict.REFUTED, Verdict.REFUTED]


def test_tian2023_fig_9_end_agrees_with_the_integrated_equation() -> None:
    _, B = formulas.solve_13(Setting(100, 1, 80.0, 8.0), 1.0, np.array([5.0]))
    assert float(snapping_figures.check_tian2023_fig_9().numbers["end_first"]) == pytest.approx(
        B[0], abs=1e-3
    )


def test_tian2023_fig_9_notices_two_classes() -> None:
    assert snapping_figures.control_tian2023_fig_9().noticed


# The coupled flow


def test_ours_coupled_flow_agrees_with_the_dense_model() -> None:
    check = coupled.check_ours_coupled_flow()
    assert check.verdict is Verdict.CONSISTENT
    assert check.numbers["rows"] == "5"


def test_ours_coupled_flow_notices_missing_queries() -> None:
    assert coupled.control_ours_coupled_flow().noticed


def test_ours_coupled_snapping_is_seen(runs: list[flows.Path]) -> None:
    check = coupled.check_ours_coupled_snapping(runs)
    assert check.verdict is Verdict.CONSISTENT
    assert float(check.numbers["speeding"]) > 1
    assert float(check.numbers["weak_over_strong"]) > 1
    assert float(check.numbers["descent"]) < 0.01


def test_ours_coupled_snapping_parts_tokens_by_the_stated_rate() -> None:
    run = coupled.reversal(1.0, False)
    f, g = run.gradients
    kappa, along = g / f, (f * g).sum(axis=1)
    change = f * (g - f * along[:, None])
    stated = (f[:, -1] ** 2 - f[:, 10] ** 2) * (kappa[:, -1] - along)
    stated += f[:, 10] ** 2 * (kappa[:, -1] - kappa[:, 10])
    assert change[:, -1] - change[:, 10] == pytest.approx(stated, abs=1e-14)


def test_ours_coupled_snapping_memory_makes_entropy_rise() -> None:
    assert coupled.rise(coupled.reversal(1.0, False)) > 1e-3
    assert coupled.rise(coupled.reversal(1.0, True)) == 0.0


def test_ours_coupled_snapping_notices_a_logarithm(runs: list[flows.Path]) -> None:
    assert coupled.control_ours_coupled_snapping(runs).noticed


def test_tian2023_fig_2_stages_happen_together() -> None:
    check = coupled.check_tian2023_fig_2()
    assert check.verdict is Verdict.CONSISTENT
    assert verdicts(check.readings) == [Verdict.CONSISTENT, Verdict.REFUTED]
    assert float(check.numbers["overlap"]) > 0.9


def test_tian2023_fig_2_starts_by_frequency() -> None:
    run = flows.flow(flows.syn(1, 2), 1.0, 1.0, np.array([1e-6]))
    assert run.scores[0, :10].sum() == pytest.approx(10 / 15.5)
    assert run.scores[0, -1] == pytest.approx(1 / 15.5)


def test_tian2023_fig_2_slacks_by_hand() -> None:
    data = flows.Symmetric(2, 5, (0.5,), (0.2, 0.3))
    scores = np.array([[0.5, 0.2, 0.3], [0.4, 0.2, 0.4], [0.3, 0.2, 0.5]])
    found = coupled.stages(SimpleNamespace(data=data, scores=scores, t=np.array([1.0, 2.0, 4.0])))
    assert found["start"] == pytest.approx(1e-2)  # the scores begin as the probabilities
    assert found["suppression"] == pytest.approx(0.1)
    assert found["winner"] == pytest.approx(0.1)
    assert found["nobody takes all"] == 0.0
    # ln of 3/2, 2 and 5/2: steps of ln 4/3 at first and ln 5/4 at the end
    assert found["late"] == pytest.approx(np.log(5 / 4) / np.log(4 / 3))


def test_tian2023_fig_2_notices_swapped_roles() -> None:
    assert coupled.control_tian2023_fig_2().noticed
