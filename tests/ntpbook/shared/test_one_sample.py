"""The derivations of the gradient of one sample, against numbers that do not use them."""

import mpmath as mp
import pytest
import sympy as sp

from ntpbook.shared import one_sample


def loss_at(sentence: tuple[int, ...], scores: list[float], gap: float, size: int) -> mp.mpf:
    """Minus the log of the probability of token 1 = n(0), by positions, as the paper defines it."""
    raised = [mp.exp(scores[x]) for x in sentence]
    phi = [one / mp.fsum(raised) for one in raised]
    logits = [mp.mpf(0)] * size
    for x, weight in zip(sentence, phi, strict=True):
        logits[(x + 1) % size] += gap * weight
    return mp.log(mp.fsum(map(mp.exp, logits))) - logits[1]


@mp.workdps(40)
@pytest.mark.parametrize("sentence", [(0, 1), (0, 0, 2), (1, 0, 2, 2, 0), (3, 1, 0, 4)])
def test_the_entries_that_signs_derives_are_derivatives_of_the_loss(sentence):
    """b_k = A m_k ((1 - T_o) m_o + T_k - M), at numbers, for 1 to 3 rivals and |V| = 6."""
    scores, A, size = [0.3, -0.7, 1.1, 0.2, -0.4, 0.0], 2.5, 6
    mass = {x: mp.fsum(mp.exp(scores[y]) for y in sentence if y == x) for x in set(sentence)}
    total = mp.fsum(mass.values())
    mass = {x: one / total for x, one in mass.items()}
    Z = mp.fsum(mp.exp(A * one) for one in mass.values()) + size - len(mass)
    T = {x: mp.exp(A * one) / Z for x, one in mass.items()}
    M = mp.fsum(T[k] * mass[k] for k in mass if k != 0)
    for k in mass:

        def moved(at, k=k):
            return loss_at(sentence, [s + at * (x == k) for x, s in enumerate(scores)], A, size)

        slope = mp.diff(moved, 0)
        if k:
            claimed = A * mass[k] * ((1 - T[0]) * mass[0] + T[k] - M)
        else:
            claimed = -A * mass[0] * ((1 - mass[0]) * (1 - T[0]) + M)
        assert mp.almosteq(slope, claimed, rel_eps=1e-15)


def test_sums_of_different_terms_are_not_taken_for_equal():
    one = one_sample.sample()
    k = one.rivals[0]
    first, second = one.pushed(one.m_k), one.pushed(one.m_k**2)
    assert not one.same("", first, second, ("", "")).holds
    assert one.same("", 2 * first, one.pushed(2 * one.m_k), ("", "")).holds
    shifted = sp.Sum(one.m_k * (one.v_k - one.v_o), one.rivals)
    assert not one.same("", shifted, sp.Sum(one.m_k * one.v_k, one.rivals), ("", "")).holds
    assert one.same("", sp.Sum(3, (k, *one.rivals[1:])), 3 * one.rivals[2], ("", "")).holds
