"""Checks of the modified update of Tian et al. (2023): Lemma 3, equations (8) and (26)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s4_decoder.decoder import (
    TINY,
    instances,
    likelihood_gradient_holds,
    log_likelihood,
    softmax_residual,
)
from ntpcore.tian2023.classes import correlations
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]


def right_E_prime(E: Floats) -> Floats:
    """I - (I + E)^-1, by inverting."""
    one = np.eye(len(E))
    return np.asarray(one - np.linalg.inv(one + E))


def printed_E_prime(E: Floats) -> Floats:
    """(I + E)^-1 - I, as Appendix D.1 prints it."""
    return -right_E_prime(E)


def first_order(E: Floats) -> Floats:
    """E itself, which agrees with E' to first order."""
    return E


@cache
def row_moves(sign: int = 1) -> bool:
    """Whether F^T (f_n - sign F (I - (I + E)^-1) e_n) = e_n, for matrices of symbolic size.

    F^T f_n = (I + E) e_n, so that with A = I + E this asks whether A (I - sign (I - A^-1)) = I.
    """
    import sympy as sp

    K = sp.Symbol("K", integer=True, positive=True)
    A, one = sp.MatrixSymbol("A", K, K), sp.Identity(K)
    product = A * (one - sign * (one - A.inverse()))
    return bool(product.expand().doit() == one)


@cache
def modification_size_holds() -> bool:
    """|F E' v|^2 = v^T E' (I + E) E' v, whose eigenvalues are lambda^2 / (1 + lambda)."""
    import sympy as sp

    x = sp.Symbol("x", real=True)  # an eigenvalue of E; all matrices here are functions of E
    size = (x / (1 + x)) ** 2 * (1 + x)
    falls = sp.factor(sp.diff(x**2 / (1 - x), x)) - x * (2 - x) / (1 - x) ** 2
    return bool(sp.simplify(size - x**2 / (1 + x)) == 0 and sp.simplify(falls) == 0)


def _update_cases(seed: int, E_prime: Callable[[Floats], Floats]) -> Iterator[Case]:
    """Error of the rows of F^T Y after one update (26), relative to the step."""
    for name, _, f, Y, eta in instances(seed):
        E = correlations(f)
        mix = np.eye(len(E)) - E_prime(E)
        before = f @ Y
        for n in range(min(len(f), 5)):
            residual = softmax_residual(before[n], n)
            step = eta * np.outer(f.T @ mix[:, n], residual)
            wanted = np.zeros_like(before)
            wanted[n] = eta * residual
            error = np.abs(f @ step - wanted).max() / np.abs(wanted).max()
            yield Case(f"{name}, class {n}", -float(error))


LINEAR_ALGEBRA = 1e-9  # inverses of matrices with condition numbers up to a few thousand
UNIT = "updates of random decoders"


def check_tian2023_lem_3(
    seed: int = 7, E_prime: Callable[[Floats], Floats] = right_E_prime
) -> Check:
    """(26) moves row n of F^T Y by eta (e_n - alpha_n) and no other, and is close to (7).

    Args:
        seed: of the random instances.
        E_prime: the matrix E' as a function of E.
    """
    moved = judge(
        "tian2023-lem-3",
        _update_cases(seed, E_prime),
        unit=UNIT,
        claim="(I + E)(I - E') = I for matrices of symbolic size with E' = I - (I + E)^-1, so that "
        "only row n of F^T Y moves",
        tolerance=LINEAR_ALGEBRA,
        parameters={"seed": seed},
        by_hand=(
            "F^T f_n = (I + E) e_n by the definition of E",
            "the largest eigenvalue of E'(I + E)E' bounds |F E' e_n|^2, and x^2/(1 + x) is largest "
            "at x = -|lambda_1| among |x| <= |lambda_1|",
        ),
        proved=row_moves(1) and modification_size_holds(),
    )
    if moved.verdict is Verdict.REFUTED:
        return moved
    sizes, loosest = [], 0.0
    for name, _, f, _, _ in instances(seed, etas=(1.0,)):
        E = correlations(f)
        largest = float(np.abs(np.linalg.eigvalsh(E)).max())
        if largest < 1:
            size = float(np.linalg.norm(f.T @ right_E_prime(E), axis=0).max())
            ratio = size / (largest / (1 - largest) ** 0.5)
            sizes.append(Case(f"{name}, size of the modification", 1 - ratio))
            loosest = max(loosest, ratio)
    small = judge(
        "tian2023-lem-3", sizes, unit=UNIT, claim="size", tolerance=LINEAR_ALGEBRA
    )  # at equality only for two classes
    if small.verdict is Verdict.REFUTED:
        return small
    readings = (
        Reading("E' = I - (I + E)^-1, as in Lemma 14", moved.verdict),
        Reading(
            "E' = (I + E)^-1 - I, as in Appendix D.1",
            judge(
                "tian2023-lem-3",
                _update_cases(seed, printed_E_prime),
                unit=UNIT,
                claim="the same",
                tolerance=LINEAR_ALGEBRA,
            ).verdict,
        ),
    )
    numbers = {**moved.numbers, "sizes": str(len(sizes)), "tightest": f"{loosest:.2f}"}
    return replace(moved, readings=readings, numbers=numbers)


def control_tian2023_lem_3(seed: int = 7) -> Control:
    """E' replaced by its first-order term."""
    return Control(
        "E in the place of E', which differ only in second order.",
        Verdict.REFUTED,
        check_tian2023_lem_3(seed, first_order).verdict,
    )


def check_tian2023_eq_8(seed: int = 7, shown: int = 0) -> Check:
    """The gradient of the log-likelihood with respect to the rows of W = F^T Y is (8).

    Args:
        seed: of the random instances.
        shown: by how many classes the class that is shown is off; 0 is right.
    """

    def cases() -> Iterator[Case]:
        for name, _, f, Y, _ in instances(seed):
            W, K = f @ Y, len(f)
            D = np.random.default_rng(seed).normal(size=W.shape)
            for n in range(min(K, 5)):
                row = (n + shown) % K
                derivative = log_likelihood(W[n] + 1j * TINY * D[n], n).imag / TINY
                terms = softmax_residual(W[row], n) * D[n]
                scale = float(np.abs(terms).sum())
                yield Case(f"{name}, class {n}", -abs(derivative - float(terms.sum())) / scale)

    return judge(
        "tian2023-eq-8",
        cases(),
        unit="random decoders and directions",
        claim="The log-likelihood of class n depends on row n of W alone, and its gradient there "
        "is e_n - alpha_n for symbolic logits",
        tolerance=1e-13,  # sums of up to 400 rounded terms, relative to their sizes
        parameters={"seed": seed},
        by_hand=("the logits of class n are Y^T f_n, which is row n of F^T Y",),
        proved=likelihood_gradient_holds(),
    )


def control_tian2023_eq_8(seed: int = 7) -> Control:
    """Probabilities of another class."""
    return Control(
        "alpha of the next class in the place of alpha_n.",
        Verdict.REFUTED,
        check_tian2023_eq_8(seed, shown=1).verdict,
    )


def _run_cases(seed: int, E_prime: Callable[[Floats], Floats]) -> Iterator[Case]:
    """Rows of F^T Y after 30 updates (26) of Y, against the same number of steps on W."""
    for name, _, f, _, eta in instances(seed, rounds=1):
        K, M = f.shape
        if M > 100:
            continue  # 30 dense steps each
        mix = np.eye(K) - E_prime(correlations(f))
        Y, W = np.zeros((M, M)), np.zeros((K, M))
        for n in np.random.default_rng((seed, M)).integers(K, size=30):
            Y += eta * np.outer(f.T @ mix[:, n], softmax_residual(f[n] @ Y, int(n)))
            W[n] += eta * softmax_residual(W[n], int(n))
        yield Case(f"{name}, 30 steps", -float(np.abs(f @ Y - W).max() / np.abs(W).max()))


def check_tian2023_eq_26(
    seed: int = 7, E_prime: Callable[[Floats], Floats] = right_E_prime
) -> Check:
    """(26) has the same effect on the rows of W as gradient steps on W itself, over many steps.

    Args:
        seed: of the random instances.
        E_prime: the matrix E' as a function of E.
    """
    check, printed = (
        judge(
            "tian2023-eq-26",
            _run_cases(seed, matrix),
            unit="runs of 30 steps",
            claim="(I + E)(I - E') = I for matrices of symbolic size with E' = I - (I + E)^-1, so "
            "that (26) on Y is gradient ascent on W",
            tolerance=LINEAR_ALGEBRA,
            parameters={"seed": seed},
            by_hand=("induction over the steps: alpha_n depends on Y through row n of W only",),
            proved=row_moves(1),
        )
        for matrix in (E_prime, printed_E_prime)
    )
    if check.verdict is Verdict.REFUTED:
        return check
    readings = (
        Reading("E' = I - (I + E)^-1, as in Lemma 14", check.verdict),
        Reading("E' = (I + E)^-1 - I, as in Appendix D.1", printed.verdict),
    )
    return replace(check, readings=readings)


def control_tian2023_eq_26(seed: int = 7) -> Control:
    """E' replaced by its first-order term."""
    return Control(
        "E in the place of E', which differ only in second order.",
        Verdict.REFUTED,
        check_tian2023_eq_26(seed, first_order).verdict,
    )
