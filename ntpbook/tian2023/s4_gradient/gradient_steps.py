"""Symbolic steps of the proofs on the back-propagated gradient, each for every admissible number.

Every matrix here is a function of one symmetric matrix E, so that identities and bounds need only
be shown for an eigenvalue. An inequality counts as shown when, after a change of variables that
covers all admissible numbers by nonnegative ones, it is a quotient of polynomials without a
negative coefficient. Results are remembered, since controls run the same steps again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from ntpcore.verdicts.claims import Check, Verdict

Expression = Any  # sympy has no types


def nonnegative(expression: Expression) -> bool:
    """Whether numerator and denominator have no negative coefficient in the free symbols."""
    import sympy as sp

    numerator, denominator = sp.fraction(sp.together(sp.sympify(expression)))
    parts = [sp.expand(part) for part in (numerator, denominator)]
    symbols = sorted(expression.free_symbols, key=str) if expression.free_symbols else [sp.Dummy()]
    return all(
        coefficient >= 0 for part in parts for coefficient in sp.Poly(part, *symbols).coeffs()
    )


def eigenvalue() -> tuple[Expression, Expression]:
    """Every r in [0, 1) with every lambda in [-r, r], by nonnegative symbols.

    r = y / (1 + y), lambda = r (a - b) / (a + b).
    """
    import sympy as sp

    a, b, y = sp.symbols("a b y", nonnegative=True)
    r = y / (1 + y)
    return r, r * (a - b) / (a + b)


@cache
def inverse_step() -> bool:
    """Lemma 14: 1 / (1 + x) = 1 - x / (1 + x), so that lambda' = lambda / (1 + lambda)."""
    import sympy as sp

    x = sp.symbols("lambda")
    return bool(sp.simplify(1 / (1 + x) - (1 - x / (1 + x))) == 0)


@cache
def second_order_step() -> bool:
    """x / (1 + x) = x - x^2 / (1 + x) with x^2 / (1 + x) >= 0: E' = E - E^2 G (Lemma 16)."""
    import sympy as sp

    x = sp.symbols("lambda")
    _, value = eigenvalue()
    identity = sp.simplify(x / (1 + x) - (x - x**2 / (1 + x))) == 0
    return bool(identity) and nonnegative(sp.simplify(1 / (1 + value)))  # times a square


@cache
def lemma_15_step() -> bool:
    """|x / (1 + x)| <= r / (1 - r) <= r / (1 - l) for |x| <= r <= l < 1."""
    import sympy as sp

    r, x = eigenvalue()
    z = sp.symbols("z", nonnegative=True)
    above = r + (1 - r) * z / (1 + z)  # every l in [r, 1)
    size = r / (1 - r)
    return all(
        nonnegative(sp.simplify(e))
        for e in (size - x / (1 + x), size + x / (1 + x), r / (1 - above) - size)
    )


@cache
def lemma_17_step() -> bool:
    """x^2 / (1 + x) <= r^2 / (1 - r) for |x| <= r < 1."""
    import sympy as sp

    r, x = eigenvalue()
    return nonnegative(sp.simplify(r**2 / (1 - r) - x**2 / (1 + x)))


@cache
def equation_90_step() -> bool:
    """r / (1 - 1/K) < 1 / (K - 1) for r < 1 / K: r = 1 / (K + w), w > 0, and K = 2 + k."""
    import sympy as sp

    k, w = sp.symbols("k w", nonnegative=True)
    r = 1 / (2 + k + w)
    gap = sp.factor(1 / (1 + k) - r / (1 - 1 / (2 + k)))
    return nonnegative(gap) and bool(sp.simplify(gap / w).subs({w: 0, k: 0}) > 0)


@cache
def lemma_13_step() -> bool:
    """The Rayleigh quotients of e_i + e_j and e_i - e_j are E_ij and -E_ij for a zero diagonal."""
    import sympy as sp

    E_ij = sp.symbols("E_ij", nonnegative=True)
    block = sp.Matrix([[0, E_ij], [E_ij, 0]])  # all entries of E that these vectors see
    plus, minus = sp.Matrix([1, 1]), sp.Matrix([1, -1])
    quotients = [(v.T * block * v)[0] / (v.T * v)[0] for v in (plus, minus)]
    return bool(quotients == [E_ij, -E_ij])


@cache
def equation_93_steps() -> bool:
    """x^2 / (1 + x) >= x^2 / (1 + r); then 6/M / (1 + r) > 3 K r / M for r < 1/K, K >= 2."""
    import sympy as sp

    r, x = eigenvalue()
    k, w, M = sp.symbols("k w M", positive=True)
    small = 1 / (2 + k + w)
    factor = nonnegative(sp.simplify(1 / (1 + x) - 1 / (1 + r)))  # of the square x^2
    return factor and nonnegative(sp.simplify(6 / M / (1 + small) - 3 * (2 + k) * small / M))


@cache
def equation_93_fails_for_pairs() -> bool:
    """For E = e (0 1; 1 0) with 0 < e < 1 the printed bound exceeds the term, under each reading.

    (E' E)_nn = e^2 / (1 - e^2) is below e^2 / (1 - e); both (E^2)_nn and the smallest squared
    eigenvalue are e^2.
    """
    import sympy as sp

    y = sp.symbols("y", positive=True)
    e = y / (1 + y)
    E = sp.Matrix([[0, e], [e, 0]])
    term = sp.simplify((E * (sp.eye(2) + E).inv() * E)[0, 0])
    printed = sp.simplify((E * E)[0, 0] / (1 - e))
    squares = {sp.simplify(value**2) for value in E.eigenvals()}
    same = all(sp.simplify(square - (E * E)[0, 0]) == 0 for square in squares)
    gap = sp.simplify(printed - term)
    return same and nonnegative(gap) and gap != 0


@cache
def overlap_steps() -> bool:
    """zeta_n . zeta_n = M / (M - 1), zeta_n . zeta_k = -M / (M - 1)^2, for every M."""
    import sympy as sp

    M = sp.symbols("M", positive=True)
    other = -1 / (M - 1)
    own = 1 + (M - 1) * other**2
    cross = 2 * other + (M - 2) * other**2
    return bool(sp.simplify(own - M / (M - 1)) == 0 and sp.simplify(cross + M / (M - 1) ** 2) == 0)


@cache
def coefficient_steps(K: int, outer: int = -1, inner: int = 1) -> bool:
    """(I - E') (I + Theta) q, by rows, is iota_n and -beta_nk, for symbolic E', theta, q.

    Args:
        K: number of classes.
        outer: sign of the term with q_0 in beta; the right one is -1.
        inner: 1 for the bracket (theta+ - sum), -1 for the printed (theta+ + sum).
    """
    import sympy as sp

    E = sp.Matrix(K, K, lambda i, j: sp.Symbol(f"E{min(i, j)}{max(i, j)}"))  # E' is symmetric
    plus = sp.symbols(f"t0:{K}")
    q_1, q_0 = sp.symbols("q_1 q_0")
    q = sp.Matrix([q_1] + [q_0] * (K - 1))  # n = 0
    a = (sp.eye(K) - E) * sp.diag(*plus) * q
    iota = q_1 * plus[0] * (1 - E[0, 0]) - q_0 * sum(plus[k] * E[k, 0] for k in range(1, K))
    found = [sp.expand(a[0] - iota)]
    for k in range(1, K):
        total = sum(plus[j] * E[j, k] for j in range(1, K))
        beta = q_1 * plus[0] * E[0, k] + outer * q_0 * (plus[k] - inner * total)
        found.append(sp.expand(a[k] + beta))
    return all(value == 0 for value in found)


@cache
def span_step() -> bool:
    """Y = F A stays of that form: F A + (F v) r^T = F (A + v r^T), for symbolic M and K."""
    import sympy as sp

    M, K = sp.symbols("M K", integer=True, positive=True)
    F, A = sp.MatrixSymbol("F", M, K), sp.MatrixSymbol("A", K, M)
    v, r = sp.MatrixSymbol("v", K, 1), sp.MatrixSymbol("r", M, 1)
    both = F * (A + v * r.T) - (F * A + F * v * r.T)
    return bool(sp.expand(both.doit()) == sp.ZeroMatrix(M, M))


@cache
def speed_steps() -> bool:
    """gamma <= tau at every time; gamma tau <= 2 x once e^x >= (M-1) x; that holds from t_0 on.

    With e^x + (M-1) x = M tau + 1 and gamma = ((M-1)^2/M) x / (M-1+e^x).
    """
    import sympy as sp

    x, m, d = sp.symbols("x m d", nonnegative=True)  # M = 1 + m
    M = 1 + m
    grown = 1 + x + d  # e^x >= 1 + x
    tau = (grown - 1 + m * x) / M
    gamma = m**2 / M * x / (m + grown)
    first = nonnegative(sp.simplify(tau - gamma))
    grown = m * x + d  # e^x >= (M - 1) x
    gamma_tau = m**2 / M * x / (m + grown) * (grown - 1 + m * x) / M
    second = nonnegative(sp.simplify(2 * x - gamma_tau))
    arrival = (m * x - 1 + m * x) / M  # tau where e^x = (M - 1) x
    return first and second and nonnegative(sp.simplify(2 * x - arrival))


@cache
def positivity_steps() -> bool:
    """The scalar steps of `ours-xi-positive`.

    |x / (1 + x)| <= r / (1 - r), and s r / (1 - r) <= c iff r <= c / (c + s), s = sqrt(K - 1),
    c = (1 - theta_bar) / (1 + theta_bar); and 1 / K <= 1 / (1 + s).
    """
    import sympy as sp

    s, c, z = sp.symbols("s c z", positive=True)
    r = c / (c + s) / (1 + z)  # every r below the radius
    below = nonnegative(sp.simplify(c - s * r / (1 - r)))
    at = sp.simplify((s * r / (1 - r)).subs(z, 0) - c) == 0
    k = sp.symbols("k", nonnegative=True)  # s = 1 + k, K = 1 + s^2
    window = nonnegative(sp.expand(1 + (1 + k) ** 2 - (1 + (1 + k))))
    return lemma_15_step() and second_order_step() and below and bool(at) and window


def told(check: Check) -> Check:
    """The check, saying in its evidence that a symbolic argument ran, if it is proved."""
    if check.verdict is not Verdict.PROVED:
        return check
    evidence = f"The steps of the proof hold for all admissible symbols. {check.evidence}"
    return replace(check, evidence=evidence)


def failed_steps(*steps: Callable[[], bool]) -> tuple[str, ...]:
    """Names of the steps that do not go through."""
    return tuple(step.__name__ for step in steps if not step())
