"""Check of a statement of ours: the radius of Lemma 10 when the variance is used."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s4_sampling.sampling import (
    CHERNOFF_BY_HAND,
    DELTAS,
    DRAWS,
    ROUNDING,
    SHARES,
    divergence_of_coins,
    one_example,
)
from ntpcore.tian2023 import sampling
from ntpcore.verdicts.claims import Check, Control, Verdict


def check_ours_bernstein(draws: Sequence[int] = DRAWS, variance: float = 2.0) -> Check:
    """|N_n - N P(n)| is at most L/3 + sqrt(L^2/9 + 2 N v L), L = ln(2/delta), v = P(n) (1 - P(n)).

    Args:
        draws: values of N.
        variance: the factor of N v L in the radius; 2 is right.
    """
    K = 20
    check = judge(
        "ours-bernstein",
        _bernstein_cases(draws, variance),
        unit="triples of N, P(n) and delta",
        claim="The count stays within a radius that knows its variance",
        tolerance=ROUNDING,
        numbers={
            **one_example(),
            "gain": f"{math.sqrt(2 * (K - 1)) / K:.3f}",
            "joint_needed": str(sampling.joint_radius(40_000, K, 0.05)),
            "joint_ours": f"{sampling.bernstein_radius(40_000, 1 / K, 0.05 / K):.0f}",
            "coin": f"{sampling.bernstein_radius(40_000, 0.5, 0.05):.0f}",
            "coin_middle": f"{sampling.hoeffding_radius(40_000, 0.05):.0f}",
        },
        by_hand=(
            *CHERNOFF_BY_HAND,
            "the lower tail is the upper tail of the other classes, with the same variance",
            "several classes at once: their probabilities of failure add up to at most delta",
        ),
        proved=bernstein_symbols(),
    )
    if check.verdict is not Verdict.PROVED:
        return check
    steps = "Each step from Chernoff's bound to the radius is an identity of symbols. "
    return replace(check, evidence=steps + check.evidence)


def _bernstein_cases(draws: Sequence[int], variance: float) -> Iterator[Case]:
    """1 - P(miss)/delta, and the printed radius against ours from the stated N on."""
    for N, p, delta in itertools.product(draws, SHARES, DELTAS):
        share, L = float(p), math.log(2 / delta)
        radius = L / 3 + math.sqrt(L * L / 9 + variance * N * share * (1 - share) * L)
        where = f"N = {N}, P(n) = {p}, delta = {delta:g}"
        yield Case(where, 1 - sampling.outside(N, p, N * share, radius) / delta)
        if 16 * L / 9 <= N:
            yield Case(where + ", order", 1 - radius / sampling.outer_radius(N, delta))


def bernstein_symbols() -> bool:
    """The steps from Chernoff's bound to the radius, for symbolic p, deviation and delta.

    With v = p (1 - p) and Phi(u) = (1 + u) ln(1 + u) - u: KL'' = 1/(q (1 - q)) and
    v + e - q (1 - q) = 2 p e + e^2, so that KL(p + e||p) >= v Phi(e/v). Then
    Phi(u) (2 + 2u/3) - u^2 and its first two derivatives vanish at 0, and the third is
    4u / (3 (1 + u)^2). Last, the radius solves t^2 = L (2 N v + 2t/3).
    """
    import sympy as sp

    p, e, u, N, v, L = sp.symbols("p e u N v L", positive=True)
    q = p + e
    curvature = sp.simplify(sp.diff(divergence_of_coins(p, e), e, 2) - 1 / (q * (1 - q)))
    wider = sp.expand(p * (1 - p) + e - q * (1 - q) - 2 * p * e - e**2)
    Phi = (1 + u) * sp.log(1 + u) - u
    bennett = sp.simplify(sp.diff(v * Phi.subs(u, e / v), e, 2) - 1 / (v + e))
    gap = Phi * (2 + 2 * u / 3) - u**2
    third = sp.simplify(sp.diff(gap, u, 3) - 4 * u / (3 * (1 + u) ** 2))
    flat = [sp.simplify(sp.diff(gap, u, k).subs(u, 0)) for k in range(3)]
    t = L / 3 + sp.sqrt(L**2 / 9 + 2 * N * v * L)
    solved = sp.expand(t**2 - L * (2 * N * v + 2 * t / 3))
    # ours is the smaller radius iff (sqrt(N L) - L/3)^2 - L^2/9 - 2 N v L >= 0
    order = sp.expand((sp.sqrt(N * L) - L / 3) ** 2 - L**2 / 9 - 2 * N * v * L)
    order -= sp.expand(N * L * (1 - 2 * v) - sp.Rational(2, 3) * L * sp.sqrt(N * L))
    corner = (1 - 2 * v) - sp.Rational(2, 3) * sp.sqrt(L / N)
    corner = sp.simplify(corner.subs(v, sp.Rational(1, 4)).subs(N, 16 * L / 9))
    zero = (curvature, wider, bennett, third, solved, sp.simplify(order), corner, *flat)
    return all(term == 0 for term in zero)


def control_ours_bernstein() -> Control:
    """Without the factor 2 of the variance the radius is too small."""
    return Control(
        "The radius with N v L for 2 N v L under the root.",
        Verdict.REFUTED,
        check_ours_bernstein(variance=1.0).verdict,
    )
