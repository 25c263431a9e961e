"""Tests of the shift of time between the recursion and the curve."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from ntpbook.tian2023.s4_decoder import shift
from ntpcore.tian2023 import decoder


def test_the_passage_time_inverts_the_height():
    tau = np.geomspace(1e-6, 1e6, 40)
    x = decoder.height(300, tau)
    assert 0.5 * shift.passage_time(300, 0.5, x) == pytest.approx(tau, rel=1e-11)


def test_one_step_by_hand():
    # M = 5, eta = 1: y = 0, 1; T(1) = (e - 1 + 4)/5, so that c(1) = (e - 2)/5
    y = decoder.recursion(5, 1.0, 1)
    assert shift.shifts(5, 1.0, y).tolist() == pytest.approx([0, (np.e - 2) / 5], rel=1e-14)


@pytest.mark.parametrize(("M", "eta"), [(5, 1.0), (50, 0.01), (1000, 2.0), (7, 30.0)])
def test_summed_shifts_agree_with_forty_digits(M, eta):
    steps = 300
    y = decoder.recursion(M, eta, steps)
    c = shift.shifts(M, eta, y)
    with mpmath.workdps(40):
        height = mpmath.mpf(0)
        for s in range(steps + 1):
            time = (mpmath.expm1(height) + (M - 1) * height) / (M * mpmath.mpf(eta))
            # heights differ by rounding, which the slope T' = s turns into 1e-15 s at most
            assert c[s] == pytest.approx(float(time - s), rel=1e-12, abs=1e-12)
            height += M * mpmath.mpf(eta) / (M - 1 + mpmath.exp(height))


def test_the_bounds_enclose_the_shift_and_meet_at_the_start():
    y = decoder.recursion(20, 0.3, 5000)
    c = shift.shifts(20, 0.3, y)
    low, high = shift.shift_bounds(20, 0.3, y)
    assert (low <= c).all()
    assert (c <= high).all()
    assert low[0] == pytest.approx(-0.15)
    assert shift.shift_level(20, 0.0) == pytest.approx(0)


def test_the_level_does_not_overflow():
    assert float(shift.shift_level(10, 5000.0)) == pytest.approx(5000 - np.log(10))


def test_the_promised_time_is_late_enough():
    s = int(np.ceil(shift.passes(5, 1.0, 2.0)))
    c = shift.shifts(5, 1.0, decoder.recursion(5, 1.0, s))
    assert c[-1] >= 2.0
