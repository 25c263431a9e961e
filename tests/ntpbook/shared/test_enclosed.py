"""Enclosed runs of stage 2, against sixty digits by the paper's dense formulas."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from ntpbook.shared import digits, enclosed
from ntpcore.data.dataset import from_samples
from ntpcore.data.examples import example_1
from ntpcore.data.order import analyse
from ntpcore.huang2024 import training
from ntpcore.huang2024.problem import from_dataset

REPEATED = from_samples(
    [("0", "1", 3), ("1", "0", 3), ("0 0 1", "1", 3), ("1 1 0", "0", 2)], "twice"
)


def holds(interval, number) -> bool:
    """Whether an interval holds a number."""
    with mp.workdps(60):
        return mp.mpf(interval.a) <= number <= mp.mpf(interval.b)


@pytest.mark.parametrize(
    ("data", "eta"), [(example_1(), Fraction(1, 2)), (REPEATED, Fraction(9, 25))]
)
def test_intervals_hold_what_dense_steps_of_equation_10_give(data, eta):
    steps, A = 4, 3
    with enclosed.digits(50) as iv:
        found = enclosed.follow(data, eta, steps, iv.mpf(A))
    n, size = analyse(data).collocation, len(data.vocabulary)
    with mp.workdps(60):
        W_ov = digits.exact(np.zeros((size, size)))
        for x, token in enumerate(data.vocabulary):
            W_ov[data.vocabulary.index(n[token]), x] = mp.mpf(A)
        E = digits.exact(np.eye(size))
        W = digits.exact(np.zeros((size, size)))
        for _ in range(steps):
            G = digits.attention_gradient(data, W_ov, W, E)
            W = W - mp.mpf(eta.numerator) / eta.denominator * G / digits.norm(G)
        other = W * mp.mpf("1.000000001")
        for (query, token), entry in found.W.items():
            place = data.vocabulary.index(token), data.vocabulary.index(query)
            assert holds(entry, W[place])
            assert not holds(entry, other[place])
            assert float(entry.delta) < 1e-40


def test_intervals_of_a_long_run_agree_with_floats():
    problem = from_dataset(example_1())
    with enclosed.digits() as iv:
        found = enclosed.follow(example_1(), Fraction(1, 40), 100, enclosed.paper_gap(4, 900))
        cosine = enclosed.lower(found.cosine), enclosed.upper(found.cosine)
        gap = float(enclosed.paper_gap(4, 900).mid)
        assert iv.dps == enclosed.DIGITS
    rows = training.run(problem, 100, 0.025, gap, record=[100]).rows
    assert float(cosine[0]) - 1e-8 < -rows.cos_star[0] < float(cosine[1]) + 1e-8
    assert cosine[1] - cosine[0] <= Fraction(2, enclosed.SHOWN)
    assert min(map(float, (one.mid for one in found.weights))) == pytest.approx(
        rows.least_attention[0], rel=1e-12
    )


def test_ends_are_rounded_outwards():
    with enclosed.digits(30) as iv:
        third = iv.mpf(1) / 3
        assert enclosed.lower(third) < Fraction(1, 3) < enclosed.upper(third)
        assert enclosed.upper(third) - enclosed.lower(third) == Fraction(1, enclosed.SHOWN)
        assert enclosed.lower(-third) == -enclosed.upper(third)


def test_the_paper_gap_is_that_of_stage_1():
    # T eta_0 / sqrt(|V| - 1) with eta_0 = 0.2 / sqrt(|V|) = 0.1 and T = 900
    with enclosed.digits(30):
        assert float(enclosed.paper_gap(4, 900).mid) == pytest.approx(90 / 3**0.5, rel=1e-15)
