"""Check of our statement on when xi is positive under the modified update (26)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s4_gradient import gradient_steps as steps
from ntpbook.tian2023.s4_gradient.gradient_runs import xi_slack
from ntpcore.tian2023.classes import E_prime
from ntpcore.tian2023.gradient import coefficients, random_correlations, safe_radius, star
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]


@cache
def three_classes_step() -> bool:
    """For K = 3 the row sums of G off the diagonal are -(E_12 + E_13) (1 - E_23) / det <= 0."""
    import sympy as sp

    a, b, c = sp.symbols("E_12 E_13 E_23", nonnegative=True)
    whole = sp.Matrix([[1, a, b], [a, 1, c], [b, c, 1]])
    cofactors = whole.adjugate()
    row = cofactors[0, 1] + cofactors[0, 2]
    return bool(sp.expand(row + (a + b) * (1 - c)) == 0)


@cache
def star_step() -> bool:
    """For a star, (M-1)(G_11 - 1) - sum_k G_1k = G_11 e ((M-1) e - (m s - 1)) / (1 - m s^2).

    Class 1 overlaps by e with a centre that overlaps by s with each of m leaves; the leaves are
    alike, so that three unknowns do for every m.
    """
    import sympy as sp

    m, s, e, M = sp.symbols("m s e M", positive=True)
    own, centre, leaf = sp.symbols("own centre leaf")
    equations = [own + e * centre - 1, e * own + centre + m * s * leaf, s * centre + leaf]
    G = sp.solve(equations, [own, centre, leaf], dict=True)[0]
    left = (M - 1) * (G[own] - 1) - G[centre] - m * G[leaf]
    right = G[own] * e * ((M - 1) * e - (m * s - 1)) / (1 - m * s**2)
    return bool(sp.simplify(left - right) == 0)


def exact_xi(E: Sequence[Sequence[Fraction]], M: int, n: int) -> Fraction:
    """xi_n / gamma at theta = sigma = 0 in fractions, from G = (I + E)^-1.

    M/(M-1) [G_nn - 1 - (1/(M-1)) sum_(k != n) G_nk], as the corrected coefficients give it.

    Args:
        E: (K, K), correlations.
        M: size of the vocabulary.
        n: the class.
    """
    import sympy as sp

    K = len(E)
    whole = sp.eye(K) + sp.Matrix(K, K, lambda i, j: sp.Rational(E[i][j]))
    column = whole.LUsolve(sp.Matrix(K, 1, lambda i, _: int(i == n)))
    G = [Fraction(int(value.p), int(value.q)) for value in column]
    return Fraction(M, M - 1) * (G[n] - 1 - (sum(G) - G[n]) / (M - 1))


def exact_star(leaves: int, strength: Fraction, link: Fraction) -> list[list[Fraction]]:
    """`star` in fractions."""
    E = [[Fraction(0)] * (leaves + 2) for _ in range(leaves + 2)]
    for k in range(2, leaves + 2):
        E[1][k] = E[k][1] = strength
    E[0][1] = E[1][0] = link
    return E


def positivity_cases(seed: int, count: int, excess: float = 1.0) -> Iterator[Case]:
    """xi with random E, M and theta up to the radius of the proposition.

    Args:
        seed: of everything random.
        count: number of matrices; each is used with every M of a grid.
        excess: by what the radius is multiplied; above 1 stars take the place of random E.
    """
    rng = np.random.default_rng(seed)
    for K in np.sort(np.floor(2 * 25.5 ** rng.uniform(0, 1, count)).astype(int)):
        theta_bar = float(rng.choice([0.0, 0.1, 0.5, 0.9]))
        radius = min(0.995, excess * safe_radius(int(K), theta_bar))
        E = random_correlations(rng, int(K), radius)
        if excess > 1 and K > 3:
            E = star(int(K) - 2, 0.97 * min(1.0, radius) / (K - 2) ** 0.5, 1e-8)
        inverse = E_prime(E)
        theta = theta_bar * rng.choice([-1.0, 1.0], size=K)
        for M in (K, 50, 1000, 10**6):
            where = f"K = {K}, M = {M}, radius {radius:.3g}, |theta| = {theta_bar}"
            yield Case(where, _least_xi(int(M), E, inverse, theta))
    for _ in range(count // 5 if excess == 1 else 0):
        E = random_correlations(rng, 3, float(rng.choice([0.5, 0.9, 0.995])))
        for M in (3, 1000):
            slack = _least_xi(M, E, E_prime(E), np.zeros(3))
            yield Case(f"K = 3, M = {M}, any radius, theta = 0", slack)


def _least_xi(M: int, E: Floats, inverse: Floats, theta: Floats) -> float:
    """Least slack of xi over the classes that overlap with another."""
    return min(
        xi_slack(_signed(coefficients(M, inverse, theta, 0.0, n)), E[n])
        for n in np.flatnonzero(E.any(axis=1)).tolist()
    )


def _signed(found: Any) -> Floats:
    """Coefficients of the gradient itself: iota at n and -beta elsewhere."""
    a = -found.beta
    a[found.n] = found.iota
    return np.asarray(a)


def check_ours_xi_positive(
    seed: int, count: int = 300, excess: float = 1.0, **parameters: int
) -> Check:
    """xi > 0 under (26) up to a radius of 1 / (1 + sqrt(K-1)), for every M and no lower bound.

    Args:
        seed: of the random instances.
        count: number of matrices.
        excess: by what the radius is multiplied.
        parameters: what repeats the check.
    """
    exact = steps.positivity_steps() and three_classes_step() and star_step()
    link = Fraction(1, 30)
    witness = exact_xi(exact_star(2, Fraction(2, 3), link), 10, 0)
    numbers = {
        "star": f"{witness}",
        "star_size": f"{float(witness):.5f}",
        "star_radius": f"{np.abs(np.linalg.eigvalsh(star(2, 2 / 3, 1 / 30))).max():.2f}",
        "safe_4": f"{safe_radius(4):.2f}",
        "safe_50": f"{safe_radius(50):.3f}",
        "star_50": f"{1 / 48**0.5:.3f}",
        "window_50": f"{1 / 50:.3f}",
    }
    check = judge(
        "ours-xi-positive",
        positivity_cases(seed, count, excess),
        unit="pairs of a matrix E and a size M",
        claim="xi is positive for every class that overlaps with another",
        tolerance=0.0,  # a strict sign; a value that is not positive counts as -1
        numbers=numbers,
        parameters={"seed": seed, **parameters},
        by_hand=(
            "the spectral theorem and the inequality of Cauchy and Schwarz",
            "a sum of nonnegative numbers is at least their Euclidean norm",
            "the inverse of a positive definite matrix has a positive diagonal",
        ),
        proved=exact and witness < 0,
    )
    return steps.told(check)


def control_ours_xi_positive(seed: int) -> Control:
    """Beyond the radius a star of classes turns the sign."""
    return Control(
        "A radius three times as large, where stars of classes are allowed.",
        Verdict.REFUTED,
        check_ours_xi_positive(seed, count=100, excess=3.0).verdict,
    )
