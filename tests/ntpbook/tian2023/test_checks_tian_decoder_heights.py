"""Tests of the checks on the height of Tian et al.: Lemmas 6 to 9, Remarks 2 and 3, Figure 8."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from ntpbook.tian2023.s4_decoder import decoder_crossings as crossings
from ntpbook.tian2023.s4_decoder import decoder_euler as euler
from ntpbook.tian2023.s4_decoder import decoder_heights as curve
from ntpbook.tian2023.s4_decoder import decoder_shift as ahead
from ntpbook.tian2023.s4_decoder import decoder_stages as stages
from ntpcore.tian2023 import decoder, shift
from ntpcore.verdicts.claims import Verdict


@pytest.fixture(scope="module")
def many() -> list[euler.Heights]:
    """All sizes and rates, 600 updates."""
    return euler.collection(600)


@pytest.fixture(scope="module")
def long() -> list[euler.Heights]:
    """A hundred thousand updates of 5 and of 1000 tokens."""
    return [euler.heights(M, 1.0, 10**5) for M in (5, 1000)]


# Lemma 6 and the closed form


def test_tian2023_lem_6_by_hand():
    # M = 2 at the height x = 1: e + 1 = 2 tau + 1
    assert float(decoder.height(2, math.e / 2)) == pytest.approx(1.0, rel=1e-15)


def test_tian2023_lem_6_agrees_with_a_stiff_integrator():
    found = solve_ivp(
        lambda _, h: 0.7 / (19 + np.exp(20 * h)), (0, 50), [0.0], "Radau", rtol=1e-9, atol=1e-12
    )
    assert 20 * found.y[0, -1] == pytest.approx(float(decoder.height(20, 35.0)), rel=1e-7)


def test_tian2023_lem_6_is_proved_and_its_control_noticed():
    check = curve.check_tian2023_lem_6()
    assert check.verdict is Verdict.PROVED
    assert check.with_control(curve.control_tian2023_lem_6()).control
    assert not curve.implicit_equation_is_proved(slope=0)


def test_ours_lambert_by_hand():
    # M = 2, x = 0 at tau = 0: c = 1 and W_0(e) = 1
    assert float(decoder.closed_form(2, 0.0)) == pytest.approx(0, abs=1e-15)
    assert float(mpmath.lambertw(mpmath.e)) == pytest.approx(1)


def test_ours_lambert_agrees_with_bisection():
    with mpmath.workdps(30):
        root = mpmath.findroot(lambda x: mpmath.exp(x) + 6 * x - 7 * 2.5 - 1, (0, 3), "anderson")
        assert float(decoder.closed_form(7, 2.5)) == pytest.approx(float(root), rel=1e-14)


def test_ours_lambert_is_proved_and_its_control_noticed():
    check = curve.check_ours_lambert()
    assert check.verdict is Verdict.PROVED
    assert check.with_control(curve.control_ours_lambert()).control


# Lemma 7


def test_tian2023_lem_7_by_hand():
    # one update at eta = 1, M = 5: y = 1, and x solves e^x + 4 x = 6
    run = euler.heights(5, 1.0, 1)
    assert run.y[1] == 1
    assert math.exp(run.x[1]) + 4 * run.x[1] == pytest.approx(6)
    assert 0 < run.y[1] - run.x[1] < 1
    assert run.c[1] == pytest.approx((math.e - 2) / 5)


def test_tian2023_lem_7_agrees_with_the_plain_shift(many):
    for run in many:
        ahead = decoder.height(run.M, run.eta * (run.s + run.c))
        assert ahead == pytest.approx(run.y, rel=1e-9, abs=1e-12)


def test_tian2023_lem_7_is_proved_and_its_control_noticed(many):
    check = euler.check_tian2023_lem_7(many)
    assert check.verdict is Verdict.PROVED
    assert float(check.numbers["gap"]) < 1
    assert check.with_control(euler.control_tian2023_lem_7(many)).control


def test_tian2023_lem_7_notices_a_curve_that_is_too_high(many):
    higher = [replace(run, x=run.x * (1 + 1e-3)) for run in many]
    assert euler.check_tian2023_lem_7(higher).verdict is Verdict.REFUTED


# Remark 2


def test_tian2023_rem_2_by_hand():
    # c(s) >= (L - eta)/2 >= C ln M once e^y >= M^(1 + 2 C) e^eta
    s = shift.passes(5, 1.0, math.log(5))
    assert s == pytest.approx((math.e * 125 - 1 + 4 * math.log(125 * math.e)) / 5)
    run = euler.heights(5, 1.0, math.ceil(s))
    assert run.c[-1] > math.log(5)


def test_tian2023_rem_2_agrees_with_a_direct_search():
    """The smallest s whose c, found by root finding on h, passes ln 5 is the witness' s."""
    y = decoder.recursion(5, 1.0, 60)
    found = [
        s for s in range(61) if float(decoder.height(5, s + math.log(5))) < y[s]
    ]  # h(s + ln M) is still below h*(s)
    check = ahead.check_tian2023_rem_2([euler.heights(5, 1.0, 60)])
    assert f"s = {found[0]}," in check.witness


def test_tian2023_rem_2_is_refuted_in_each_reading(long):
    check = ahead.check_tian2023_rem_2(long)
    assert check.verdict is Verdict.REFUTED
    assert [reading.verdict for reading in check.readings] == [Verdict.REFUTED] * 3
    assert check.with_control(ahead.control_tian2023_rem_2(long)).control


def test_tian2023_rem_2_corrected_by_hand():
    # at s = 0: y = 0, L = 0, c = 0
    low, high = shift.shift_bounds(9, 0.5, 0.0)
    assert low == pytest.approx(-0.25)
    assert high == pytest.approx(math.exp(0.5) * (math.exp(0.5) - 1) / 4)


def test_tian2023_rem_2_corrected_agrees_with_the_difference_of_heights(long):
    for run in long:
        s = run.s[-1]
        gap = run.y[-1] - float(decoder.closed_form(run.M, s))
        assert gap * s / math.log(s) == pytest.approx(0.5, abs=0.05)


def test_tian2023_rem_2_corrected_is_proved_and_its_control_noticed(many, long):
    check = ahead.check_tian2023_rem_2_corrected([*many, *long])
    assert check.verdict is Verdict.PROVED
    assert check.with_control(ahead.control_tian2023_rem_2_corrected(long)).control


# Figure 8


def test_tian2023_fig_8_by_hand():
    first = euler.panel(50, (2.0,), 1)[0]
    assert first.y.tolist() == [0, 2]  # the first step is eta_Y/M high


def test_tian2023_fig_8_agrees_with_the_recursion_as_printed():
    for M, etas, horizon in euler.PANELS:
        for run in euler.panel(M, etas, horizon):
            h = 0.0
            for _ in range(horizon):
                h += run.eta / (M - 1 + math.exp(M * h))
            assert run.y[-1] / M == pytest.approx(h, rel=1e-12)


def test_tian2023_fig_8_is_consistent_and_its_control_noticed():
    check = euler.check_tian2023_fig_8()
    assert check.verdict is Verdict.CONSISTENT
    assert (check.numbers["low_50"], check.numbers["high_50"]) == ("0.101", "0.179")
    assert check.with_control(euler.control_tian2023_fig_8()).control


# Lemma 8 and Remark 3


def test_tian2023_lem_8_by_hand():
    # M - 1 = e: the exponential touches the line at x = 1, so that M = 4 crosses it close by
    lower, upper = decoder.crossings(4)
    assert 0.5 < lower < 1 < upper < 1.6


def test_tian2023_lem_8_agrees_with_root_finding():
    for M in (5, 100, 10**6):
        with mpmath.workdps(30):
            start, end = mpmath.mpf(1) / M, mpmath.log(M) + 2 * mpmath.log(mpmath.log(M))

            def defect(x, M=M):
                return x - mpmath.log(x) - mpmath.log(M - 1)

            lower = mpmath.findroot(defect, (start, 1), "anderson")
            upper = mpmath.findroot(defect, (1, end), "anderson")
        assert decoder.crossings(M) == pytest.approx((float(lower), float(upper)), rel=1e-13)


def test_tian2023_lem_8_is_proved_and_its_control_noticed():
    check = crossings.check_tian2023_lem_8()
    assert check.verdict is Verdict.PROVED
    assert [r.verdict for r in check.readings] == [Verdict.PROVED, Verdict.REFUTED]
    assert check.with_control(crossings.control_tian2023_lem_8()).control


def test_tian2023_rem_3_by_hand():
    # M = 100: the first update at eta = 0.0105 is beyond the crossing near 0.0102
    assert float(decoder.height(100, 0.0105)) > decoder.crossings(100)[0] > 0.01


def test_tian2023_rem_3_agrees_with_the_least_rate():
    for M in (100, 1000, 10**5):
        least = stages.first_stage_time(M)
        lower = decoder.crossings(M)[0]
        assert float(decoder.height(M, least)) == pytest.approx(lower, rel=1e-9)
        assert least < M**-0.99


def test_tian2023_rem_3_is_proved_and_its_control_noticed():
    check = crossings.check_tian2023_rem_3()
    assert check.verdict is Verdict.PROVED
    assert check.with_control(crossings.control_tian2023_rem_3()).control


# Lemma 9


def test_tian2023_lem_9_by_hand():
    # at the crossing e^x = q x, gamma = (q/M) x/(1 + x)
    M = 1000
    x = decoder.crossings(M)[1]
    gamma = float(decoder.speed_at(M, np.asarray(x)))
    assert gamma == pytest.approx((M - 1) / M * x / (1 + x), rel=1e-12)


def test_tian2023_lem_9_agrees_with_the_definition_of_the_stages():
    M, K, eta = 1000, 7, 0.5
    end, begin = K * math.log(M) / eta, decoder.transition(M, K, eta)
    for t in (K, end / 2, end):
        h = float(decoder.height(M, eta * t / K)) / M
        assert math.exp(M * h) <= min(M - 1, (M - 1) * M * h)
        assert float(decoder.speed(M, K, eta, t)) <= eta * t / K
    for t in (begin, 10 * begin, 1000 * begin):
        h = float(decoder.height(M, eta * t / K)) / M
        assert math.exp(M * h) >= max(M - 1, (M - 1) * M * h)
        late = math.log(M * eta * t / K) * K / (eta * t)
        assert late / 5 <= float(decoder.speed(M, K, eta, t)) <= 2 * late


def test_tian2023_lem_9_needs_five_tokens():
    # at M = 4 the first inequality fails at the end of the first stage
    assert float(decoder.height(4, math.log(4))) > math.log(3)
    assert float(decoder.height(5, math.log(5))) <= math.log(4)


@pytest.mark.parametrize("stage", [1, 2])
def test_tian2023_lem_9_notices_a_stage_that_is_too_slow(monkeypatch, stage):
    speed = decoder.speed_at

    def slow(M, x):
        there = (x < math.log(M - 1)) == (stage == 1)
        return speed(M, x) * np.where(there, 0.15, 1.0)  # below a fifth

    monkeypatch.setattr(decoder, "speed_at", slow)
    check = stages.check_tian2023_lem_9()
    assert check.verdict is Verdict.REFUTED
    assert ", gamma" in check.witness


def test_tian2023_lem_9_is_proved_from_the_first_update_on():
    check = stages.check_tian2023_lem_9()
    assert check.verdict is Verdict.PROVED
    assert [r.verdict for r in check.readings] == [Verdict.PROVED, Verdict.REFUTED]
    assert check.with_control(stages.control_tian2023_lem_9()).control
