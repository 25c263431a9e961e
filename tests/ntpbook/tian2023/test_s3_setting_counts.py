"""Exact probabilities of token counts."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from ntpbook.tian2023.s3_setting import counts


def test_the_radius_by_hand():
    assert counts.radius(2, 2 / math.e) == pytest.approx(0.5)
    assert counts.radius(8, 0.5, tokens=3) == pytest.approx(math.sqrt(math.log(12) / 16))
    with pytest.raises(ValueError, match="delta between 0 and 1"):
        counts.radius(8, 1.0)


def test_our_radius_is_the_smaller_of_two():
    assert counts.uniform_radius(10, 0.1, 1) == counts.radius(10, 0.1)
    assert counts.uniform_radius(10, 0.1, 10**9) == 2 * counts.radius(10, 0.1)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_joint_failures_by_counting_all_sequences(length):
    p = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    r = Fraction(1, 4)
    total = Fraction(0)
    for tokens in product(range(3), repeat=length):
        strays = any(abs(Fraction(tokens.count(k), length) - p[k]) > r for k in range(3))
        total += strays * math.prod(p[k] for k in tokens)
    assert counts.joint_failure(length, p, r) == total
    single = sum(
        math.comb(length, k) * p[0] ** k * (1 - p[0]) ** (length - k)
        for k in range(length + 1)
        if abs(Fraction(k, length) - p[0]) > r
    )
    assert counts.token_failure(length, 0.5, 0.25) == pytest.approx(float(single))


@pytest.mark.parametrize(("length", "tokens"), [(1, 3), (6, 4), (20, 5), (12, 40)])
def test_even_failures_in_floating_point(length, tokens):
    r = 0.17
    exact = counts.joint_failure(length, [Fraction(1, tokens)] * tokens, Fraction(r))
    assert counts.even_failure(length, tokens, r) == pytest.approx(float(exact), abs=1e-12)


def test_the_constant_of_the_delta_method():
    # z = 0: c = P, and |q_l - P_l| has the standard deviation sqrt(P (1 - P) / length)
    P = np.array([0.5, 0.3, 0.2])
    expected = math.sqrt(2 / math.pi) * np.sqrt(P * (1 - P)).sum()
    assert counts.distance_constant(P, np.zeros(3)) == pytest.approx(expected)


def test_probabilities_that_do_not_sum_to_one_are_refused():
    with pytest.raises(ValueError, match="sum to 1/2"):
        counts.joint_failure(3, [Fraction(1, 2)], Fraction(1, 10))
