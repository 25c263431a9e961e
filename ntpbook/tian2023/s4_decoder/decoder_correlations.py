"""Checks of the correlations of classes in Tian et al. (2023): Assumption 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpcore.tian2023.classes import (
    LOWER_BOUNDS,
    SequenceClasses,
    correlations,
    layered_classes,
    random_classes,
    synthetic_classes,
    unit_scores,
    weak_correlations,
)
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

FACTORS = {"6/sqrt(M)": 36, "sqrt(6/M)": 6}  # the window is not empty iff M > factor K^2
EXPERIMENTS = ((2, 1), (1, 2), (3, 2), (5, 2), (10, 2))  # L and next tokens of each query

# Assumption 2


def grouped_classes(sizes: tuple[int, ...], epsilon: float) -> SequenceClasses:
    """Classes in groups: inner product epsilon at Z = 0 within a group, zero between groups.

    Each group has one token in common and each class one of its own; M is as small as possible.
    """
    K = sum(sizes)
    odds = (epsilon / (1 - epsilon)) ** 0.5
    p = np.zeros((K, len(sizes) + K))
    p[np.arange(K), np.repeat(np.arange(len(sizes)), sizes)] = odds / (1 + odds)
    p[np.arange(K), len(sizes) + np.arange(K)] = 1 / (1 + odds)
    return SequenceClasses(p, (0,) * K)


def groups(K: int) -> tuple[int, ...]:
    """Pairs, and one triple if K is odd."""
    return (2,) * (K // 2) if K % 2 == 0 else (2,) * ((K - 3) // 2) + (3,)


@cache
def window_is_proved() -> bool:
    """Eigenvalues of a pair and of a triple, and where the window opens, in symbols."""
    import sympy as sp

    x, odds, M, K = sp.symbols("x o M K", positive=True)
    pair = sp.Matrix([[0, x], [x, 0]]).eigenvals() == {x: 1, -x: 1}
    triple = sp.Matrix([[0, x, x], [x, 0, x], [x, x, 0]]).eigenvals() == {2 * x: 1, -x: 2}
    # inner product of (odds, 1, 0) and (odds, 0, 1), both normalised
    product = sp.simplify((odds**2 / (1 + odds**2)).subs(odds, sp.sqrt(x / (1 - x))) - x) == 0
    opens = all(
        sp.simplify(bound**2 - 1 / K**2 - (factor * K**2 - M) / (M * K**2)) == 0
        for bound, factor in ((6 / sp.sqrt(M), 36), (sp.sqrt(6 / M), 6))
    )
    return pair and triple and product and opens


def check_tian2023_asm_2(seed: int = 7, triple: int = 2) -> Check:
    """Assumption 2 can be met for every K >= 2 when M is large enough, and makes I + E invertible.

    Args:
        seed: of the random classes on which the consequence is tested.
        triple: how much wider the window must be when K is odd: a triple of classes has the
            eigenvalues 2 epsilon and -epsilon.
    """

    def cases(reading: str) -> Iterator[Case]:
        for K in (2, 3, 4, 5, 9, 10, 25, 50):
            width = triple if K % 2 else 1
            least = FACTORS[reading] * (width * K) ** 2 + 1
            for M in (least, 2 * least, 10 * least):
                lower = float(LOWER_BOUNDS[reading](M))
                epsilon = (lower + 1 / (width * K)) / 2  # the middle of what is left
                E = correlations(unit_scores(grouped_classes(groups(K), epsilon)))
                window = weak_correlations(E, M, reading)
                slack = min(1 - K * window.largest, window.smallest / lower - 1)
                yield Case(f"K = {K}, M = {M}, {reading}", slack)
                least_eigenvalue = float(np.linalg.eigvalsh(np.eye(K) + E)[0])
                yield Case(f"K = {K}, M = {M}, I + E", least_eigenvalue - (1 - 1 / K))

    verdicts, check = [], None
    for reading in LOWER_BOUNDS:
        found = judge(
            "tian2023-asm-2",
            cases(reading),
            unit="windows and matrices",
            claim="Classes in pairs have the eigenvalues +-epsilon and triples 2 epsilon and "
            "-epsilon, in symbols, so that for every K >= 2 the assumption can be met as soon as "
            "M > 36 K^2 (K even) or M > 144 K^2 (K odd); then I + E is positive definite",
            tolerance=1e-12,  # rounding of eigenvalues; at M = least the window is 1e-5 wide
            parameters={"seed": seed},
            by_hand=(
                "for 6/sqrt(M) >= 1/K, which is M <= 36 K^2, no number lies in the window",
                "eigenvalues of I + E are at least 1 - 1/K > 0 when |lambda_i| < 1/K, and F^T F = "
                "I + E invertible means full column rank",
            ),
            proved=window_is_proved(),
        )
        verdicts.append(Reading(f"the lower bound is {reading}", found.verdict))
        check = check or found
    assert check is not None
    if check.verdict is Verdict.REFUTED:
        return check
    rng = np.random.default_rng(seed)
    draws = [random_classes(rng, 4, 10**3, 2, 3) for _ in range(200)]
    met = sum(
        weak_correlations(correlations(unit_scores(c)), c.M, "sqrt(6/M)").holds for c in draws
    )
    numbers = {**check.numbers, "random_met": str(met), "random": str(len(draws))}
    return replace(check, readings=tuple(verdicts), numbers=numbers)


def control_tian2023_asm_2(seed: int = 7) -> Control:
    """Triples judged as if they were pairs."""
    return Control(
        "M > 36 K^2 claimed to be enough for the triple of classes that an odd K needs.",
        Verdict.REFUTED,
        check_tian2023_asm_2(seed, triple=1).verdict,
    )


# The experiments


def exact_correlation(common: Fraction = Fraction(1)) -> Fraction:
    """f_n . f_n' at Z = 0 in the synthetic data: common tokens over all, of squared weights."""
    shared = 10 * common**2
    own = sum((Fraction(k, 10) ** 2 for k in range(1, 11)), Fraction(0))
    return shared / (shared + own)


@cache
def equal_correlations_hold() -> bool:
    """x (J - I) has the eigenvalue (K - 1) x on (1, ..., 1) and -x on e_1 - e_j, for symbolic K."""
    import sympy as sp

    K = sp.Symbol("K", integer=True, positive=True)
    x = sp.Symbol("x", positive=True)
    i = sp.Symbol("i", integer=True)
    on_ones = sp.summation(x, (i, 1, K)) - x  # a row of x (J - I) times (1, ..., 1)
    on_difference = sp.Matrix([[0, x], [x, 0]]) * sp.Matrix([1, -1]) + x * sp.Matrix([1, -1])
    return bool(sp.simplify(on_ones - (K - 1) * x) == 0 and on_difference.is_zero_matrix)


def check_ours_asm_2_experiments(common: Fraction = Fraction(1)) -> Check:
    """The synthetic data of the paper violate Assumption 2 at the start, exactly.

    Args:
        common: weight of each common token; 1 in the paper's data.
    """
    epsilon = exact_correlation(common)

    def cases() -> Iterator[Case]:
        for L, following in EXPERIMENTS:
            K = L * following
            yield Case(f"L = {L}, K = {K}", float((K - 1) * epsilon * K - 1))

    weights = [float(common)] * 10, list(np.linspace(0.1, 1, 10))
    error, sizes, empty = 0.0, {}, []
    for L, following in EXPERIMENTS:
        K = L * following
        M = synthetic_classes(L, following).M
        data = layered_classes(weights[0], [weights[1]] * K, M, [0] * K)
        largest = np.abs(np.linalg.eigvalsh(correlations(unit_scores(data)))).max()
        error = max(error, abs(float(largest) - float((K - 1) * epsilon)))
        name = "small" if following == 1 else f"L{L}"
        sizes[name] = f"{float((K - 1) * epsilon):.3g}"
        empty.append(M <= 36 * K**2)
    assert error < 1e-12  # our two ways to the eigenvalue, up to rounding
    return judge(
        "ours-asm-2-experiments",
        cases(),
        unit="data sets",
        claim=f"With exact fractions f_n . f_n' = {epsilon} for all pairs, so that lambda_1 = "
        f"(K - 1) {epsilon} exceeds 1/K in Syn-Small and in Syn-Medium with L = 1, 3, 5, 10, and "
        f"in {sum(empty)} of these {len(empty)} M <= 36 K^2",
        tolerance=0.0,  # exact
        numbers={**sizes, "correlation": str(epsilon), "empty": str(sum(empty))},
        by_hand=("x(J - I) has no other eigenvalues: these eigenvectors span everything",),
        proved=equal_correlations_hold(),
    )


def control_ours_asm_2_experiments() -> Control:
    """Data whose common tokens are rare."""
    return Control(
        "Common tokens of weight 1/10, as rare as the rarest distinct one.",
        Verdict.REFUTED,
        check_ours_asm_2_experiments(Fraction(1, 10)).verdict,
    )
