"""Checks of Lemma 10 and of Remark 4: how often each class is drawn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ntpbook.shared.judge import Case, judge
from ntpcore.tian2023 import sampling
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

DRAWS = (1, 2, 3, 5, 16, 17, 30, 100, 1000, 10_000, 1_000_000)
SHARES = tuple(Fraction(*pair) for pair in ((0, 1), (1, 1000), (1, 50), (1, 10), (1, 3), (1, 2)))
SHARES += (Fraction(9, 10), Fraction(1))
DELTAS = (1e-9, 1e-6, 1e-3, 0.05, 0.3, 0.5, 0.75, 0.9, 0.999)

ROUNDING = 1e-9  # p = 1/50 as a float moves a tail of 1e6 draws by 1e-16 times 1e6 at most

CHERNOFF_BY_HAND = (
    "Markov's inequality for exp(theta N_n), and the sum of the two tails",
    "a function that vanishes at 0 with its derivative and is convex is not negative",
)

# Lemma 10


def check_tian2023_lem_10(draws: Sequence[int] = DRAWS, share: float = 1.0) -> Check:
    """Both radii of equation (58) hold with probability 1 - delta, and the order of the radii.

    The middle radius for every N, the right one and the sign between them from N = 17 on.

    Args:
        draws: values of N.
        share: by what the square root of the middle radius is multiplied; the paper has 1.
    """
    enough = math.floor((6 + 4 * math.sqrt(2)) / math.log(2)) + 1
    first = Fraction(1, 8), 0.75  # N = 1: the centre is 1, the radius below 1, and N_n = 0 is usual
    missed = sampling.outside(1, first[0], 1, sampling.outer_radius(1, first[1]))
    small = {N: sampling.outer_worst_case(N) for N in range(1, enough)}
    exact = all(ratio < 1 for N, ratio in small.items() if N > 1)
    check = judge(
        "tian2023-lem-10",
        _lem_10_cases(draws, share, enough),
        unit="triples of N, P(n) and delta",
        claim=f"N_n is as close to ceil(N P(n)) as (58) says, its last part from N = {enough} "
        "on, with the probability that it says",
        tolerance=ROUNDING,
        numbers={
            "threshold": f"{6 + 4 * math.sqrt(2):.2f}",
            "enough": str(enough),
            "missed": f"{missed:.3f}",
            "missed_delta": f"{first[1]:g}",
            "missed_radius": f"{sampling.outer_radius(1, first[1]):.3f}",
            "small": f"{float(max(r for N, r in small.items() if N > 1)):.3f}",
            **one_example(),
        },
        by_hand=(
            *CHERNOFF_BY_HAND,
            "rounding N P(n) up moves the centre by less than 1",
            "the upper tail of a binomial grows with P(n), the lower one falls (2 <= N <= 16)",
        ),
        proved=hoeffding_symbols() and exact,
    )
    if check.verdict is Verdict.REFUTED:
        return check
    literal = Verdict.REFUTED if missed > first[1] else Verdict.CONSISTENT
    readings = (
        Reading(f"the chain (58) for every delta and N >= {enough}", check.verdict),
        Reading(
            "each of the two radii by itself, for every delta and N >= 2",
            check.verdict if exact else Verdict.REFUTED,
        ),
        Reading(
            "the chain (58) for every delta and every N: the second sign needs "
            "N ln(2/delta) > 6 + 4 sqrt(2); and with N = 1, P(n) = 1/8, delta = 3/4 the right-hand "
            f"radius is missed with probability {missed:g}",
            literal,
        ),
    )
    evidence = check.evidence
    if check.verdict is Verdict.PROVED:
        evidence = (
            "Chernoff's exponent is at least 2 e^2 by symbols, and fractions bound both tails for "
            f"N from 2 to {enough - 1}. {evidence}"
        )
    return replace(check, evidence=evidence, readings=readings)


def _lem_10_cases(draws: Sequence[int], share: float, enough: int) -> Iterator[Case]:
    """1 - P(miss)/delta for both radii, and the relative difference of the radii."""
    for N, p, delta in itertools.product(draws, SHARES, DELTAS):
        middle = share * (sampling.hoeffding_radius(N, delta) - 1) + 1
        outer, c = sampling.outer_radius(N, delta), sampling.centre(N, p)
        where = f"N = {N}, P(n) = {p}, delta = {delta:g}"
        yield Case(where, 1 - sampling.outside(N, p, c, middle) / delta)
        if enough <= N:
            yield Case(where + ", outer radius", 1 - sampling.outside(N, p, c, outer) / delta)
            yield Case(where + ", order", 1 - middle / outer)


def one_example(N: int = 40_000, K: int = 20, delta: float = 0.05) -> dict[str, str]:
    """The radii where classes are many: the two of Lemma 10, ours, and what is needed."""
    middle = sampling.centre(N, Fraction(1, K))
    return {
        "N": str(N),
        "K": str(K),
        "delta": f"{delta:g}",
        "middle": f"{sampling.hoeffding_radius(N, delta):.0f}",
        "outer": f"{sampling.outer_radius(N, delta):.0f}",
        "ours": f"{sampling.bernstein_radius(N, 1 / K, delta):.0f}",
        "needed": str(sampling.true_radius(N, Fraction(1, K), middle, delta)),
    }


def hoeffding_symbols() -> bool:
    """The exponent of Chernoff's bound is at least 2 e^2, and when the second sign of (58) holds.

    With q = p + e: the exponent is KL(q||p); KL - 2 e^2 vanishes at e = 0 with its derivative, and
    its second derivative is (1 - 2q)^2 / (q (1 - q)).
    """
    import sympy as sp

    p, e, r, N, L = sp.symbols("p e r N L", positive=True)
    q, divergence = p + e, divergence_of_coins(p, e)
    odds = q * (e + r) / (p * r)  # exp(theta) at the best theta, where r = 1 - q and 1 - p = e + r
    moment = sp.factor(e + r + p * odds).subs(p, 1 - e - r)  # E exp(theta) of one draw
    chernoff = q * sp.log(odds) - sp.log(sp.simplify(moment))
    same = sp.expand_log(chernoff - q * sp.log(q / p) - r * sp.log(r / (e + r)), force=True)
    same = sp.simplify(sp.expand(same.subs(p, 1 - e - r)))
    stationary = sp.simplify((q - p * odds / moment).subs(p, 1 - e - r))
    gap = divergence - 2 * e**2
    convex = sp.simplify(sp.diff(gap, e, 2) - (1 - 2 * q) ** 2 / (q * (1 - q)))
    flat = [sp.simplify(term.subs(e, 0)) for term in (gap, sp.diff(gap, e))]
    room = sp.sqrt(N * L) - sp.sqrt(N * L / 2) - 1  # the second sign of (58)
    edge = sp.simplify(room.subs(L, (6 + 4 * sp.sqrt(2)) / N))
    return all(term == 0 for term in (same, stationary, convex, edge, *flat))


def divergence_of_coins(p: Any, e: Any) -> Any:
    """KL(p + e || p) of two coins, as an expression of sympy."""
    import sympy as sp

    return (p + e) * sp.log((p + e) / p) + (1 - p - e) * sp.log((1 - p - e) / (1 - p))


def control_tian2023_lem_10() -> Control:
    """Half the variance proxy: sqrt(N/4 ln(2/delta)) + 1 is too small for a fair coin."""
    return Control(
        "The radius sqrt(N/4 ln(2/delta)) + 1, with N/4 for N/2.",
        Verdict.REFUTED,
        check_tian2023_lem_10(share=math.sqrt(0.5)).verdict,
    )


# Remark 4

CLASSES = (2, 3, 5, 10, 20, 50)
MULTIPLES = (4, 16, 100, 1000)  # N / K^2
LIKELY = (1e-6, 1e-3, 0.05, 0.3, 0.5)
JOINT_ROUNDING = 1e-6  # 1 - P errs by 1e-13 and is divided by delta >= 1e-6


def check_tian2023_rem_4(
    classes: Sequence[int] = CLASSES, multiples: Sequence[int] = MULTIPLES, by_class: bool = False
) -> Check:
    """All K counts lie within Delta of ceil(N/K) at once, for delta <= 1/2, by exact probabilities.

    Args:
        classes: values of K.
        multiples: values of N / K^2.
        by_class: plants an error: Delta made of N/K, the variance of a count, instead of N.
    """
    witness = _joint_witness()
    example = _joint_example()
    check = judge(
        "tian2023-rem-4",
        _rem_4_cases(classes, multiples, by_class),
        unit="triples of K, N and delta",
        claim="For delta <= 1/2 all K counts lie within Delta of ceil(N/K) at once, with "
        "probability at least 1 - delta",
        tolerance=JOINT_ROUNDING,
        numbers={**example, **_small_ratio(), "witness": f"{witness[-1]:.1g}"},
    )
    if check.verdict is Verdict.REFUTED:
        return check
    single = judge(
        "tian2023-rem-4",
        _single_cases(classes, multiples),
        unit="triples",
        claim="one class",
        tolerance=JOINT_ROUNDING,
    ).verdict
    K, N, delta, factor, inside = witness
    readings = (
        Reading("one class at a time, delta <= 1/2, with Delta + 1 for Delta", _plus_one()),
        Reading("one class at a time, every delta", single),
        Reading("all K classes at once, delta <= 1/2", check.verdict),
        Reading(
            f"all K classes at once, every delta, with the constant {factor}: for K = {K}, "
            f"N = {N}, delta = {delta:g} all are inside with probability {inside:.1g} only, less "
            f"than {1 - delta:.2g}",
            Verdict.REFUTED if inside < 1 - delta else Verdict.CONSISTENT,
        ),
    )
    return replace(check, readings=readings)


def _rem_4_cases(
    classes: Sequence[int], multiples: Sequence[int], by_class: bool
) -> Iterator[Case]:
    """1 - P(some count outside)/delta."""
    for K, multiple, delta in itertools.product(classes, multiples, LIKELY):
        N = multiple * K * K
        radius = sampling.remark_radius(N // K if by_class else N, delta)
        middle = -(-N // K)
        outside = 1 - sampling.all_inside(N, K, middle - radius, middle + radius)
        where = f"K = {K}, N = {N}, delta = {delta:g}"
        yield Case(where, 1 - outside / delta)
        most = K * math.sqrt(math.log(1 / delta) / N) + K / N  # what "<<" says when N >> K^2
        yield Case(where + ", ratio", 1 - sampling.remark_radius(N, delta) / middle / most)


def _single_cases(classes: Sequence[int], multiples: Sequence[int]) -> Iterator[Case]:
    """The same for one class, with every delta."""
    for K, multiple, delta in itertools.product(classes, multiples, (*LIKELY, 0.75, 0.9, 0.99)):
        N = multiple * K * K
        missed = sampling.outside(N, Fraction(1, K), -(-N // K), sampling.remark_radius(N, delta))
        yield Case(f"K = {K}, N = {N}, delta = {delta:g}", 1 - missed / delta)


def _plus_one() -> Verdict:
    """The middle radius of Lemma 10 is at most Delta + 1 iff ln(2/delta) <= 2 ln(1/delta)."""
    import sympy as sp

    delta = sp.Symbol("delta", positive=True)
    both = sp.expand_log(2 * sp.log(1 / delta) - sp.log(2 / delta), force=True)
    exact = sp.simplify(both - sp.expand_log(sp.log(1 / (2 * delta)), force=True)) == 0
    return Verdict.PROVED if exact and hoeffding_symbols() else Verdict.CONSISTENT


def _joint_witness(
    K: int = 50, N: int = 1_000_000, delta: float = 0.999, factor: int = 4
) -> tuple[int, int, float, int, float]:
    """A delta near 1 at which a multiple of Delta is too small for all classes at once."""
    radius, middle = factor * sampling.remark_radius(N, delta), -(-N // K)
    return K, N, delta, factor, sampling.all_inside(N, K, middle - radius, middle + radius)


def _joint_example(N: int = 40_000, K: int = 20, delta: float = 0.05) -> dict[str, str]:
    """Delta beside the radius that all classes need, and beside the mean count."""
    Delta, mean = sampling.remark_radius(N, delta), -(-N // K)
    return {
        "N": str(N),
        "K": str(K),
        "delta": f"{delta:g}",
        "Delta": str(Delta),
        "mean": str(mean),
        "joint": str(sampling.joint_radius(N, K, delta)),
        "single": str(sampling.true_radius(N, Fraction(1, K), mean, delta)),
    }


def _small_ratio(K: int = 20, delta: float = 0.05) -> dict[str, str]:
    """Delta over the mean count at N = K^2 and at N = 10^4 K^2: the meaning of "<<"."""
    ratios = [sampling.remark_radius(N, delta) * K / N for N in (K * K, 10_000 * K * K)]
    return {"ratio_early": f"{ratios[0]:.2f}", "ratio_late": f"{ratios[1]:.4f}"}


def control_tian2023_rem_4() -> Control:
    """sqrt(N/K ln(1/delta)) is a standard deviation times a number, and too small."""
    return Control(
        "Delta made of N/K, which is about the variance of a count, instead of N.",
        Verdict.REFUTED,
        check_tian2023_rem_4(by_class=True).verdict,
    )
