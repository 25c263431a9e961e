"""Checks of the matrix E' of Tian et al. (2023), as Appendix D.1 prints it and corrected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s4_decoder.decoder_update import (
    LINEAR_ALGEBRA,
    printed_E_prime,
    right_E_prime,
)
from ntpcore.tian2023.classes import correlations, random_classes, unit_scores
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict


def _uses(seed: int, sign: int) -> dict[str, list[Case]]:
    """The three places where the paper uses E', each with this sign of I - (I + E)^-1."""
    rows, inverse, diagonal = [], [], []
    for K in (2, 3, 10, 50):
        rng = np.random.default_rng((seed, K))
        for number in range(5):
            f = unit_scores(random_classes(rng, K, 3 * K + 5, 2, 1, common_mass=0.3))
            E = correlations(f)
            E_prime = right_E_prime(E) if sign > 0 else printed_E_prime(E)
            one, name = np.eye(K), f"K = {K}, draw {number}"
            size = float(np.abs(E).max())
            moved = np.abs((one + E) @ (one - E_prime) - one).max()
            rows.append(Case(name, -float(moved) / size))
            defect = np.abs(np.linalg.inv(one + E) - (one - E_prime)).max()
            inverse.append(Case(name, -float(defect) / size))
            diagonal.append(Case(name, -float(np.diag(E_prime).max()) / size))
    return {
        "F^T(f_n - F E' e_n) = e_n, which (26) needs": rows,
        "(I + E)^-1 = I - E', Lemma 14": inverse,
        "the diagonal of E' is not positive, Lemma 16": diagonal,
    }


def _judge_E_prime(label: str, seed: int, sign: int, witness: str) -> list[tuple[str, Check]]:
    """One verdict for each use."""
    return [
        (
            use,
            judge(
                label,
                cases,
                unit="random classes",
                claim=f"With this sign {use}",
                tolerance=LINEAR_ALGEBRA,
                witness=witness,
                parameters={"seed": seed},
                by_hand=("A (I - (I - A^-1)) = I for every invertible A, with A = I + E",),
            ),
        )
        for use, cases in _uses(seed, sign).items()
    ]


def two_class_moves(sign: int) -> tuple[Fraction, Fraction]:
    """Column 1 of F^T(f_1 - sign F (I - (I + E)^-1) e_1) for two classes with f_1 . f_2 = 1/3.

    (26) multiplies e_1 - alpha_1 by these two numbers and adds the result to rows 1 and 2 of W.
    """
    x = Fraction(1, 3)
    inverse = (1 / (1 - x**2), -x / (1 - x**2))  # first column of (I + E)^-1
    mix = (1 - sign * (1 - inverse[0]), sign * inverse[1])
    return mix[0] + x * mix[1], x * mix[0] + mix[1]


def check_tian2023_app_e_prime(seed: int = 7, sign: int = -1) -> Check:
    """E' = (I + E)^-1 - I of Appendix D.1 does not do what the paper uses E' for.

    Args:
        seed: of the random classes.
        sign: of I - (I + E)^-1; -1 is what Appendix D.1 prints.
    """
    own, other = two_class_moves(sign)
    witness = (
        f"Two classes with f_1 . f_2 = 1/3: (26) moves row 1 by {own} (e_1 - alpha_1) and row 2 by "
        f"{other} (e_1 - alpha_1), not by 1 and 0; the unmodified (7) moves row 2 by 1/3."
    )
    found = _judge_E_prime("tian2023-app-e-prime", seed, sign, witness)
    readings = tuple(Reading(f"as the E' of: {use}", check.verdict) for use, check in found)
    worst = [check for _, check in found if check.verdict is Verdict.REFUTED]
    if len(worst) < len(found):  # some use survives, so that the print is not refuted
        return replace(
            next(check for _, check in found if check.verdict is not Verdict.REFUTED),
            readings=readings,
        )
    numbers = {**found[0][1].numbers, "own": str(own), "other": str(other)}
    return replace(found[0][1], readings=readings, numbers=numbers)


def control_tian2023_app_e_prime(seed: int = 7) -> Control:
    """The right sign survives."""
    return Control(
        "The sign turned round: a check that refutes any E' would refute this one, too.",
        Verdict.CONSISTENT,
        check_tian2023_app_e_prime(seed, sign=1).verdict,
    )


def check_tian2023_app_e_prime_corrected(seed: int = 7, scale: float = 1.0) -> Check:
    """E' = I - (I + E)^-1 = E (I + E)^-1 serves all three uses.

    Args:
        seed: of the random classes.
        scale: factor of E before E' is formed; 1 is right.
    """
    import sympy as sp

    K = sp.Symbol("K", integer=True, positive=True)
    A, one = sp.MatrixSymbol("A", K, K), sp.Identity(K)  # A = I + E
    E_prime = one - A.inverse()
    exact = (A * (one - E_prime)).expand().doit() == one
    exact = exact and ((A - one) * A.inverse()).expand().doit() == E_prime
    x = sp.Symbol("x", real=True)  # an eigenvalue of E, above -1
    exact = exact and sp.simplify(1 - 1 / (1 + x) - x + x**2 / (1 + x)) == 0

    def cases() -> Iterator[Case]:
        for size in (2, 3, 10, 50):
            rng = np.random.default_rng((seed, size))
            for number in range(5):
                f = unit_scores(random_classes(rng, size, 3 * size + 5, 2, 1, common_mass=0.3))
                E, unit = correlations(f), np.eye(size)
                mine = right_E_prime(scale * E)
                largest = float(np.abs(E).max())
                name = f"K = {size}, draw {number}"
                moved = np.abs((unit + E) @ (unit - mine) - unit).max()
                yield Case(f"{name}, (26)", -float(moved) / largest)
                product = np.linalg.solve(unit + E, E)
                yield Case(f"{name}, Lemma 14", -float(np.abs(mine - product).max()) / largest)
                yield Case(f"{name}, Lemma 16", -float(np.diag(mine).max()) / largest)

    return judge(
        "tian2023-app-e-prime-corrected",
        cases(),
        unit="uses of E'",
        claim="(I + E)(I - E') = I and E' = E (I + E)^-1 for matrices of symbolic size, and each "
        "eigenvalue x of E gives x - x^2/(1 + x), so that the diagonal, being zero in E, is not "
        "positive",
        tolerance=LINEAR_ALGEBRA,
        parameters={"seed": seed},
        by_hand=("a matrix with eigenvalues x^2/(1 + x) >= 0 has no negative diagonal entry",),
        proved=bool(exact),
    )


def control_tian2023_app_e_prime_corrected(seed: int = 7) -> Control:
    """Correlations off by a thousandth."""
    return Control(
        "E' formed from correlations that are a thousandth too large.",
        Verdict.REFUTED,
        check_tian2023_app_e_prime_corrected(seed, scale=1.001).verdict,
    )
