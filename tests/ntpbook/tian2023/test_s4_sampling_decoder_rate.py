"""Numbers of updates to an accuracy, against the flow, the recursion and plain sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from ntpbook.tian2023.s4_sampling import decoder_rate
from ntpcore.tian2023 import decoder


def test_steps_by_hand():
    # M = 2, epsilon = 1/4: e^x = 3, and e^x + x = 2 eta S + 1 gives S = (2 + ln 3)/(2 eta)
    assert decoder_rate.steps_to_accuracy(2, 0.5, 0.25) == pytest.approx(2 + math.log(3))
    assert decoder_rate.steps_to_accuracy(5, 1.0, 0.8) == pytest.approx(0, abs=1e-15)
    assert decoder_rate.printed_steps(100, 3, 0.5, 0.1) == pytest.approx(60 * math.log(1000))
    with pytest.raises(ValueError, match="1 - 1/M"):
        decoder_rate.steps_to_accuracy(5, 1.0, 0.9)


@pytest.mark.parametrize(("M", "eta", "epsilon"), [(5, 0.3, 0.1), (1000, 2.0, 0.01)])
def test_steps_agree_with_the_integrated_equation(M: int, eta: float, epsilon: float):
    def accurate(_: float, x: np.ndarray) -> float:
        return float(decoder_rate.wrong_probability(M, x[0])) - epsilon

    accurate.terminal = True
    found = solve_ivp(
        lambda _, x: M * eta / (M - 1 + np.exp(x)),
        (0.0, 1e4),
        [0.0],
        method="LSODA",
        events=accurate,
        rtol=1e-10,
        atol=1e-12,
    )
    expected = decoder_rate.steps_to_accuracy(M, eta, epsilon)
    assert found.t_events[0][0] == pytest.approx(expected, rel=1e-7)


def test_counted_steps_are_the_first():
    heights = decoder_rate.heights_until(30, 0.5, 0.01)
    s = decoder_rate.counted_steps(heights, 30, 0.01)
    wrong = decoder_rate.wrong_probability(30, heights)
    assert wrong[s] <= 0.01 < wrong[s - 1]
    with pytest.raises(ValueError, match="run longer"):
        decoder_rate.counted_steps(heights[:5], 30, 0.01)


def test_the_lead_is_where_the_flow_catches_up():
    for M, eta in ((2, 2.0), (5, 0.5), (1000, 1.0)):
        heights = decoder.recursion(M, eta, 3000)
        c = decoder_rate.lead(heights, M, eta)
        later = decoder.height(M, eta * (np.arange(3001) + c))
        assert later == pytest.approx(heights, rel=1e-12)
        assert (np.diff(c) >= 0).all()
        assert (c[1:] < decoder_rate.largest_lead(M, eta, heights)[1:]).all()
        # one half of the logarithm is its size for small eta
        assert c[-1] == pytest.approx(0.5 * math.log(3000 * eta), abs=0.5)


def test_the_factor_is_one_half_and_continuous():
    assert decoder_rate.lead_factor(1e-9) == pytest.approx(0.5)
    assert decoder_rate.lead_factor(0.0099999) == pytest.approx(
        decoder_rate.lead_factor(0.01), 1e-6
    )
    assert decoder_rate.lead_factor(2.0) == pytest.approx((math.e**2 - 3) / 4)


def test_the_bounds_hold_by_hand():
    # M = 2, eta = 1/2: S = 2 + ln 3 = 3.10 updates in continuous time; counted: 3
    heights = decoder_rate.heights_until(2, 0.5, 0.25)
    S = 2 + math.log(3)
    low = S - decoder_rate.lead_factor(0.5) * (math.log(4) + 0.5)
    assert low < decoder_rate.counted_steps(heights, 2, 0.25) == 3 < math.ceil(S)
