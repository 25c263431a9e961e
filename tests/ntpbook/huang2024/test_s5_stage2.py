"""Tests of the page on the direction of stage 2: Theorem 1, its correction, large steps, norms."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from every_check import sound
from flint import ctx
from measured import equal_run, with_rows

from ntpbook.huang2024.s5_stage2 import checks, instances, sums
from ntpbook.ours.late_phase.measured_laws import predicted_growth
from ntpbook.shared import ends, rare, theorem_1
from ntpbook.shared.in_force import FACTS, facts_of_problem
from ntpbook.shared.without_asm_3 import outnumbered_run
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, run_measures, runs, training
from ntpcore.huang2024.problem import from_dataset
from ntpcore.huang2024.runs import Run, train
from ntpverdicts.claims import Verdict


@cache
def small_rare_run() -> Run:
    """A rare sentence that hides for two thousand steps."""
    return rare.rare_run(rare.log_ratio_that_hides(2000, 0.36), 2000, 0.36)


@cache
def few_runs() -> tuple[Run, ...]:
    """Example 1, random data, and the experiment."""
    return instances.ordinary_runs(3, 2, 1000)


@cache
def trained() -> list[Run]:
    """Example 1 and two random data sets, 4000 steps at twenty times the paper's step size."""
    return runs.collection(3, 2, 4000, factors=(20,))


@mpmath.workdps(60)
def two_margins(pi: tuple[float, float], eta: float, gap: float, steps: int) -> list[mpmath.mpf]:
    """Plain gradient descent on the two-token loss by differentiation of its formula."""
    d = [mpmath.mpf(0), mpmath.mpf(0)]

    def loss(x: mpmath.mpf) -> mpmath.mpf:
        m = 1 / (1 + mpmath.exp(-x))
        return -mpmath.log(1 / (1 + mpmath.exp(gap * (1 - 2 * m))))

    for _ in range(steps):
        force = [-p * mpmath.diff(loss, x) for p, x in zip(pi, d, strict=True)]
        size = mpmath.sqrt(force[0] ** 2 + force[1] ** 2)
        d = [x + mpmath.sqrt(2) * eta * f / size for x, f in zip(d, force, strict=True)]
    return d


# Theorem 1


def test_huang2024_thm_1_two_tokens_have_the_constants_by_hand():
    problem = rare.rare_problem(1000.0)
    assert (problem.sample_count, problem.max_length, problem.norm_squared) == (4, 2, 1)
    assert problem.prefix_closed
    assert problem.frequent
    assert problem.log_pi_min == pytest.approx(-1000 - math.log(2))
    bound = bounds.log_thm_1_direction(small_rare_run().constants, math.log(100))
    assert math.exp(bound) == pytest.approx(54 * 4 * 16 * math.log(100) ** 2 / 36)


def test_huang2024_thm_1_run_agrees_with_plain_differentiation():
    gap = 3.0
    problem = rare.rare_problem(math.log(7))
    weights = training.run(problem, 40, 0.36, gap).state.weights
    d = two_margins((7 / 8, 1 / 8), 0.36, gap, 40)
    # entries are those of query 0, then query 1; query 1 belongs to the common sentence
    assert weights == pytest.approx([float(x) / 2 for x in (d[1], -d[1], -d[0], d[0])], rel=1e-9)


def test_huang2024_thm_1_is_refuted_by_a_rare_sentence_in_every_reading():
    found = sound("huang2024-thm-1")
    assert found.witness.startswith("two tokens, one sentence rarer")
    assert found.numbers["measured"].value > 0.29
    assert found.numbers["bound"].value < 0.2801
    assert found.numbers["failing"].value == 1  # the run on the same data, step by step
    assert len(found.readings) == 8
    assert {reading.verdict for reading in found.readings} == {Verdict.REFUTED}


def test_huang2024_thm_1_witness_by_hand():
    # the bound at the step, from the statement; below it, by balls, lies what is measured
    hidden = checks.LIKELIEST.hidden()
    t = hidden.steps
    bound = 54 * 4 * 16 * math.log(t) ** 2 / (t * 0.36)
    assert 0.2799 < bound < checks.LEVEL
    before = 54 * 4 * 16 * math.log(t - 3) ** 2 / ((t - 3) * 0.36)
    assert before > checks.LEVEL
    assert bound < float(checks.LIKELIEST.at(hidden)) < bound + 1e-6  # rounded upwards
    x = 1e-6  # the share: the rare margin by the other
    with ctx.workdps(40):
        apart = float(ends.lower(hidden.one_minus_cos()))
    true = 1 - (1 + x) / math.sqrt(2 + 2 * x * x)
    assert true - 1e-6 < apart <= true  # rounded downwards
    assert hidden.share == Fraction(1, 10**6)


def test_huang2024_thm_1_tests_its_hypotheses_on_the_witness():
    found = checks.check_huang2024_thm_1.judge([checks.TwoTokens()])
    assert found.verdict is Verdict.REFUTED
    assert found.hypotheses == (checks.AFTER, checks.SMALL_STEPS, *FACTS)
    problem = rare.rare_problem(1000.0)
    assert all(one.holds for one in facts_of_problem(problem))
    assert not all(one.holds for one in facts_of_problem(outnumbered_run().problem))
    assert checks.LIKELIEST.step_size <= 1 / math.e


def test_huang2024_thm_1_holds_at_0_3_and_a_tenth_decides():
    # 1 - cos is 1 - 1/sqrt(2) = 0.2929 while the rare sentence hides
    assert 0.3 / 1.1 < 1 - 1 / math.sqrt(2) < 0.3
    at = [checks.TwoTokens(0.3)]
    check = checks.check_huang2024_thm_1
    assert check.judge(at).verdict is Verdict.NOT_CONTRADICTED
    assert check.judge(at, sharper=Fraction(11, 10)).verdict is Verdict.REFUTED


def test_huang2024_thm_1_is_not_contradicted_on_ordinary_data_and_says_nothing_of_larger_steps():
    assert checks.check_huang2024_thm_1.judge(few_runs()).verdict is Verdict.NOT_CONTRADICTED
    run = train("x", from_dataset(example_1()), eta0=0.1, eta=1.0, steps1=900, steps=10)
    found = checks.check_huang2024_thm_1.judge([run])
    assert found.verdict is Verdict.OPEN
    assert found.left_out == {checks.LARGE: 1}


# Theorem 1, corrected


def test_huang2024_thm_1_corrected_bound_by_hand():
    c = small_rare_run().constants
    printed = bounds.log_thm_1_direction(c, 5.0)
    corrected = bounds.log_thm_1_direction(c, 5.0, rarity=bounds.PI_MIN)
    assert corrected - printed == pytest.approx(-c.log_pi_min - math.log(4))


def test_huang2024_thm_1_corrected_holds_where_the_printed_one_fails():
    fast = replace(small_rare_run().constants, log_pi_min=-math.log(4.0))
    equal = replace(small_rare_run(), constants=fast)  # what N = 4 equal samples would promise
    _, slack = run_measures.thm_1_slack(equal, bounds.PI_MIN)
    _, printed = run_measures.thm_1_slack(small_rare_run(), bounds.N)
    assert slack == pytest.approx(printed)
    found = checks.check_huang2024_thm_1_corrected.judge([*few_runs(), small_rare_run()])
    assert found.verdict is Verdict.PROVED
    assert found.vacuous


def test_huang2024_thm_1_corrected_first_beat_is_where_the_bound_is_that_of_the_norms():
    run = few_runs()[0]  # Example 1, ||W*||^2 = 13/6: the norms alone give cos >= sqrt(3 / 13)
    log_t = bounds.thm_1_speaks_from(run.constants, rarity=bounds.PI_MIN)
    at = bounds.log_thm_1_direction(run.constants, log_t, rarity=bounds.PI_MIN)
    assert math.exp(at) == pytest.approx(1 - math.sqrt(3 / 13), abs=1e-9)


def test_huang2024_thm_1_corrected_never_beats_the_norms_where_they_say_all():
    pair = replace(few_runs()[0].constants, norm_kq=math.sqrt(0.5))  # one pair, 1 - cos is 0
    assert bounds.thm_1_speaks_from(pair) == math.inf


def test_a_large_number_is_a_power_of_ten():
    assert theorem_1.power_of_ten(1e4) == "10^4343"


def test_huang2024_thm_1_numbers_of_the_page_by_hand():
    found = checks.check_huang2024_thm_1.judge([checks.TwoTokens()]).numbers
    for name, level in (("crossing", 0.28), ("below_one", 1.0)):
        t = found[name].value  # N = 4, L = 2, ||W*|| = 1, eta = .36
        assert 54 * 4 * 2**4 * math.log(t) ** 2 / (0.36 * t) == pytest.approx(level, rel=1e-6)
    assert found["delay"].value == pytest.approx(math.sqrt(2) * 0.36 * found["crossing"].value)


def test_huang2024_thm_1_corrected_table_of_the_page_beats_the_norms_where_it_says():
    run = few_runs()[0]
    printed, beats, corrected, ours = checks.says_at(run)
    assert printed == pytest.approx(
        math.exp(bounds.log_thm_1_direction(run.constants, math.log(900)))
    )
    assert beats == pytest.approx(corrected)  # N = 9 samples, equally frequent
    before, at = theorem_1.theorem_b(run, np.array([ours - 1.0, float(ours)]))
    assert at <= theorem_1.trivial(run) < before
    assert theorem_1.power_of_ten(1e4) == "10^4343"


def test_huang2024_thm_1_corrected_table_knows_recorded_steps_only():
    run = few_runs()[0]
    step = int(run.second.rows.step[-1])
    assert checks.off_at(run, step) == run.second.rows.one_minus_cos[-1]
    with pytest.raises(ValueError, match="no record of step"):
        checks.off_at(run, step + 1)


def test_huang2024_thm_1_corrected_is_implied_by_theorem_b_on_runs():
    for run in few_runs():
        if not run_measures.allowed(run):
            continue
        t = np.geomspace(2, 1e6, 30)
        log_bound = bounds.log_thm_1_direction(run.constants, np.log(t), rarity=bounds.PI_MIN)
        assert (np.log(theorem_1.theorem_b(run, t)) <= log_bound).all()
        assert 0 < theorem_1.trivial(run) < 1


def test_huang2024_thm_1_corrected_notices_a_wrong_norm():
    run = few_runs()[0]
    wrong = with_rows(run, norm=1.01 * run.second.rows.norm)
    assert checks.check_huang2024_thm_1_corrected.judge([wrong]).verdict is Verdict.REFUTED


# Large steps


def test_ours_thm_1_large_eta_direction_after_two_steps_by_hand():
    # (5, 3) / sqrt(34), then (0, 1): the second step goes to the neglected query alone
    u, v = 5 / math.sqrt(34), 3 / math.sqrt(34) + 1
    expected = 1 - (u + v) / math.sqrt(2 * (u * u + v * v))
    run = instances.second_step_run(1e5)
    assert run.second.rows.one_minus_cos[-1] == pytest.approx(expected, rel=1e-12)
    with ctx.workdps(30):
        found = checks.second_step(100_000)
        assert float(ends.lower(found)) <= expected <= float(ends.upper(found))


def test_ours_thm_1_large_eta_is_proved_from_25000_on_and_not_from_1000():
    found = sound("ours-thm-1-large-eta")
    assert found.numbers["least"].value > found.numbers["bound_at"].value
    assert not all(one.holds for one in checks.large_steps(1000))


def test_ours_thm_1_large_eta_force_ratio_agrees_with_plain_differentiation():
    eta, gap = 5.0, rare.rare_gap()
    d = two_margins((5 / 8, 3 / 8), eta, gap, 1)
    forces = []
    for share, x in ((5, d[0]), (3, d[1])):
        m = 1 / (1 + mpmath.exp(-x))
        forces.append(share * m * (1 - m) / (1 + mpmath.exp(gap * (2 * m - 1))))
    with ctx.workdps(30):
        assert forces[0] / forces[1] <= float(ends.upper(checks.force_ratio(eta)))


def test_ours_thm_1_large_eta_agrees_with_plain_differentiation():
    d = two_margins((5 / 8, 3 / 8), 50.0, rare.rare_gap(), 2)
    exact = 1 - (d[0] + d[1]) / mpmath.sqrt(2 * (d[0] ** 2 + d[1] ** 2))
    run = instances.second_step_run(50.0)
    assert run.second.rows.one_minus_cos[-1] == pytest.approx(float(exact), rel=1e-9)


# What the abstract promises


def test_huang2024_app_directions_by_hand_a_power_law_is_read_off():
    run = trained()[0]
    t = np.maximum(run.second.rows.step.astype(float), 0.5)
    half = with_rows(run, one_minus_cos=3 * t**-0.5)
    assert checks.late_exponent(half) == pytest.approx(-0.5, abs=1e-9)
    assert checks.check_huang2024_app_directions.judge([half]).verdict is Verdict.REFUTED


def test_huang2024_app_directions_hold_on_long_runs():
    found = checks.check_huang2024_app_directions.judge(trained())
    assert (found.verdict, found.tried) == (Verdict.PROVED, len(trained()))
    exponents = [checks.late_exponent(run) for run in trained()]
    assert found.numbers["fastest"].value == pytest.approx(min(exponents), abs=1e-12)
    assert found.numbers["slowest"].value == pytest.approx(max(exponents), abs=1e-12)
    for run, exponent in zip(trained(), exponents, strict=True):
        rows = run.second.rows
        late = rows.step >= rows.step[-1] / 10
        t, norm, near = (one[late] for one in (rows.step, rows.norm, rows.one_minus_cos))
        # the norm is t eta - lag: its slope is t eta / (t eta - lag), the most where t is least
        by_norm = -2 * np.polyfit(np.log(t), np.log(norm), 1)[0]
        assert -2 * t[0] * run.constants.eta / norm[0] <= by_norm < -2
        # 1 - cos is |y|^2 / (2 |W|^2) but for its square; idle pairs let y grow by v* log t
        growth = 2 * predicted_growth(run.problem) / (norm[0] * math.sqrt(2 * near[0]))
        assert by_norm - 2 * near[0] <= exponent <= by_norm + growth + 2 * near[0]
    turned = checks.check_huang2024_app_directions.judge(trained()[:1], turned=True)
    assert turned.verdict is Verdict.REFUTED


def test_huang2024_app_linear_norms_by_hand_for_two_equal_sentences():
    # every step adds eta along W*: the norm is t eta
    assert equal_run(300).second.rows.norm[-1] == pytest.approx(300 * 0.36, rel=1e-12)
    found = checks.check_huang2024_app_linear_norms.judge([equal_run(300)])
    assert found.verdict is Verdict.PROVED
    assert found.numbers["least"].value == pytest.approx(1.0)


def test_huang2024_app_linear_norms_hold_and_a_longer_norm_is_noticed():
    found = checks.check_huang2024_app_linear_norms.judge([*trained(), outnumbered_run()])
    assert (found.verdict, found.tried) == (Verdict.PROVED, len(trained()) + 1)
    assert sum(found.left_out.values()) == 1
    assert 0 < found.numbers["least"].value <= found.numbers["most"].value <= 1
    longer = with_rows(trained()[0], norm=trained()[0].second.rows.norm * 1.2)
    found = checks.check_huang2024_app_linear_norms.judge([longer])
    assert "step 1" in found.witness


def test_huang2024_app_thm_1_sums_is_proved_and_smaller_constants_are_noticed():
    found = sound("huang2024-app-thm-1-sums")
    assert found.tried == 5
    assert not found.left_out


def test_huang2024_app_thm_1_sums_by_hand_for_a_straight_path():
    # ||W^(t)|| = t eta along W*: a step's loss is eta^2 / (2 t eta) of eta and more, and the sum of
    # 1 / ||W|| from t_0 = 8 L S / eta = 44 on is the harmonic one
    c = replace(sums.path("two tokens", 1.0).c, eta=0.3636, norm_kq=1.0)
    t = np.arange(400) * c.eta
    one = sums.EveryStep("straight", c, t, t)
    found = {name: (small, large) for name, small, large in sums.lines(one, 2.0, 8.0, 54.0)}
    small, large = found[r"the sum of $1/\|W\|$"]
    assert bounds.lem_7_start(c) == 45
    assert small[1] == pytest.approx((1 / 45 + 1 / 46) / 0.3636, rel=1e-12)
    assert large[1] == pytest.approx(2 * 2 / 0.3636 * math.log(47), rel=1e-12)
    gained, along = found["a step"]
    assert along[0] == pytest.approx(0.3636, rel=1e-9)
    assert gained[0] < 0.3636 - 0.3636 / 90
    small, _ = found["the norm minus the component along $W^*$"]
    assert small == pytest.approx(np.zeros_like(small), abs=1e-12)


def test_huang2024_app_thm_1_sums_least_coefficients_by_hand():
    # at k = d = m = u = 0 and beyond: 54 N L^4 s^4 log^2 t - ... has 4.56, the early bound 1.44
    (last,) = sums.last_line()
    (early,) = sums.early()
    assert (last.left, early.left) == ("4.56", "1.44")
    assert float(early.left) == pytest.approx(6 * 0.5 * math.log(2) ** 2, abs=5e-3)  # of k^3


def test_huang2024_app_thm_1_sums_norm_at_t_0_is_nearly_attained_by_one_pair():
    # eta = 0.258, ||W*||^2 = 1/2, L = 2: t_0 = 32, and W walks straight
    one = sums.one_pair()
    assert bounds.lem_7_start(one.c) == 32
    assert one.norms[32] == pytest.approx(32 * 0.258)
    assert 9 / 1.1 < one.norms[32] < 9  # 9 L ||W*||^2 = 9


def test_huang2024_app_thm_1_sums_a_norm_too_small_breaks_the_first_sum():
    one = sums.path("two tokens", 1.0)
    small = replace(one, norms=one.norms / 20)
    assert sums.check_huang2024_app_thm_1_sums.judge([small]).verdict is Verdict.REFUTED
