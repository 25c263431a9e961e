"""Sums over any number of rivals, as the gradient of one sample has them."""

import sympy as sp

from ntpbook.shared import one_sample


def test_sums_of_different_terms_are_not_taken_for_equal():
    one = one_sample.sample()
    k = one.rivals[0]
    first, second = one.pushed(one.m_k), one.pushed(one.m_k**2)
    assert not one.same("", first, second, ("", "")).holds
    assert one.same("", 2 * first, one.pushed(2 * one.m_k), ("", "")).holds
    shifted = sp.Sum(one.m_k * (one.v_k - one.v_o), one.rivals)
    assert not one.same("", shifted, sp.Sum(one.m_k * one.v_k, one.rivals), ("", "")).holds
    assert one.same("", sp.Sum(3, (k, *one.rivals[1:])), 3 * one.rivals[2], ("", "")).holds
