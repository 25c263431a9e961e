"""Loss and force of one sample in numbers of three kinds, against the loss of the dense model."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp

from ntpbook.shared import enclosure
from ntpbook.shared.plain_stage2 import loss_and_force
from ntpcore.huang2024 import transformer

SENTENCE, SIZE, A = (0, 0, 1, 2), 5, 3  # n(x) = x + 1 modulo 5, and n(0) is the next token
SCORES = (math.log(2), math.log(3), 0.0)  # masses 4/8, 3/8, 1/8
RATIOS = (Fraction(3, 4), Fraction(1, 4))


def dense_loss(scores: tuple[float, ...]) -> float:
    X = np.eye(SIZE)[:, SENTENCE]
    W_kq = np.zeros((SIZE, SIZE))
    W_kq[: len(scores), SENTENCE[-1]] = scores
    logits = transformer.logits(X, A * np.roll(np.eye(SIZE), 1, axis=0), W_kq)
    return transformer.logsumexp(logits) - float(logits[1])


def slope(token: int, h: float = 1e-5) -> float:
    """The derivative of the dense loss by the score of a token."""
    up, down = (
        tuple(w + sign * h * (x == token) for x, w in enumerate(SCORES)) for sign in (1, -1)
    )
    return (dense_loss(up) - dense_loss(down)) / (2 * h)


def test_floats_agree_with_the_dense_model():
    one = loss_and_force([float(x) for x in RATIOS], A, SIZE, exp=math.exp, total=math.fsum)
    assert one.m_o == pytest.approx(1 / 2)
    assert math.log1p(one.X) == pytest.approx(dense_loss(SCORES), rel=1e-13)
    assert one.b == pytest.approx([slope(1), slope(2)], rel=1e-8)
    assert sum(one.b) == pytest.approx(-slope(0), rel=1e-8)


def test_digits_lie_in_the_balls():
    with mp.workdps(40), ctx.workdps(30):
        digits = loss_and_force([mp.mpf(x.numerator) / x.denominator for x in RATIOS], A, SIZE)
        balls = loss_and_force(
            [enclosure.exact(x) for x in RATIOS], A, SIZE, exp=arb.exp, total=sum
        )
        assert balls.m_o == arb(1) / 2
        pairs = zip([digits.X, *digits.b], [balls.X, *balls.b], strict=True)
        for value, ball in pairs:
            assert (ball - arb(mp.nstr(value, 38))).contains(0)
            assert ball.rel_accuracy_bits() > 80


def test_nothing_cancels_far_out():
    one = loss_and_force([math.exp(-200)], 40, 2, exp=math.exp, total=math.fsum)
    assert one.b == pytest.approx([40 * math.exp(-200) * 2 * one.X / (1 + one.X)], rel=1e-12)
