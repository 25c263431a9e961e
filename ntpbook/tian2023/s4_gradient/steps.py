"""Steps of the proofs on the back-propagated gradient, each for every admissible number.

Every matrix here is a function of one symmetric matrix E, so that identities and bounds need only
be shown for an eigenvalue. An inequality counts as shown when, after a change of variables that
reaches all admissible numbers from nonnegative ones, the difference of its sides is a quotient of
polynomials without a negative coefficient.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ntpbook.shared.symbols import identity
from ntpcore.verdicts.claims import Shown

Expression = Any  # sympy has no types


def at_least(name: str, left: Expression, right: Expression) -> Shown:
    """left >= right wherever all symbols are nonnegative: no coefficient of left - right is not.

    Args:
        name: what the inequality says, in words.
        left: a rational expression, derived from definitions.
        right: the smaller side.
    """
    import sympy as sp

    rest = sp.factor(sp.together(left - right))
    parts = [sp.Poly(sp.expand(one), *_symbols(rest)) for one in sp.fraction(rest)]
    good = all(coefficient >= 0 for part in parts for coefficient in part.coeffs())
    return Shown(name, str(sp.simplify(left)), ">=", str(sp.simplify(right)), str(rest), good)


def _symbols(expression: Expression) -> list[Expression]:
    """The symbols of an expression, or one that it does not have if it has none."""
    import sympy as sp

    return sorted(expression.free_symbols, key=str) or [sp.Dummy()]


def eigenvalue() -> tuple[Expression, Expression]:
    """Every r in [0, 1) with every lambda in [-r, r], from nonnegative symbols.

    r = y / (1 + y), lambda = r (a - b) / (a + b).
    """
    import sympy as sp

    a, b, y = sp.symbols("a b y", nonnegative=True)
    r = y / (1 + y)
    return r, r * (a - b) / (a + b)


def prime(value: Expression) -> Expression:
    """The eigenvalue of E' = I - (I + E)^-1 where E has this one."""
    return 1 - 1 / (1 + value)


# Lemmas 13 to 17, equations (90) and (93)


def rayleigh_quotients() -> Iterator[Shown]:
    """The Rayleigh quotients of e_i + e_j and e_i - e_j are E_ij and -E_ij for a zero diagonal."""
    import sympy as sp

    E_ij = sp.symbols("E_ij", nonnegative=True)
    block = sp.Matrix([[0, E_ij], [E_ij, 0]])  # all entries of E that these vectors see
    for word, v, value in (("+", sp.Matrix([1, 1]), E_ij), ("-", sp.Matrix([1, -1]), -E_ij)):
        yield identity(f"of e_i {word} e_j", (v.T * block * v)[0] / (v.T * v)[0], value)


def inverse() -> Iterator[Shown]:
    """1 + lambda >= 0 for |lambda| <= r < 1, and E' has the eigenvalue lambda / (1 + lambda)."""
    import sympy as sp

    x = sp.symbols("lambda")
    yield at_least("I + E has no negative eigenvalue", 1 + eigenvalue()[1], sp.S.Zero)
    yield identity("an eigenvalue of I - (I + E)^-1", prime(x), x / (1 + x))


def largest_of_E_prime(sign: int = -1) -> Iterator[Shown]:
    """|lambda'| <= r / (1 - r) <= r / (1 - l) <= l / (1 - l) for |lambda| <= r <= l < 1."""
    import sympy as sp

    r, x = eigenvalue()
    z = sp.symbols("z", nonnegative=True)
    level = r + (1 - r) * z / (1 + z)  # every l in [r, 1)
    yield at_least("from above", r / (1 + sign * r), prime(x))
    yield at_least("from below", r / (1 + sign * r), -prime(x))
    yield at_least("for every l from r on", r / (1 + sign * level), r / (1 + sign * r))
    yield at_least("r is at most l", level / (1 + sign * level), r / (1 + sign * level))


def second_order() -> Iterator[Shown]:
    """E' = E - E G E with G = (I + E)^-1, on eigenvalues, and G has no negative one."""
    import sympy as sp

    x = sp.symbols("lambda")
    yield identity("E' = E - E G E", prime(x), x - x * (1 / (1 + x)) * x)
    yield at_least("G is not negative", 1 / (1 + eigenvalue()[1]), sp.S.Zero)


def least_of_G(sign: int = 1) -> Iterator[Shown]:
    """G >= I / (1 + r), so that (E G E)_nn >= |E e_n|^2 / (1 + r)."""
    r, x = eigenvalue()
    yield at_least("1 / (1 + lambda)", 1 / (1 + x), 1 / (1 + sign * r))


def difference_of_E_prime(sign: int = -1) -> Iterator[Shown]:
    """lambda - lambda' <= r^2 / (1 - r) for |lambda| <= r < 1; it is not negative."""
    import sympy as sp

    r, x = eigenvalue()
    rest = sp.factor(x - prime(x))
    yield at_least("from above", r**2 / (1 + sign * r), rest)
    a, b = sp.symbols("a b", nonnegative=True)
    # the square of (a - b) is what is left of lambda^2 / (1 + lambda) besides nonnegative factors
    yield at_least("not negative", rest / (a - b) ** 2, sp.S.Zero)


def window_of_E_prime(less: int = 1) -> Iterator[Shown]:
    """r / (1 - 1/K) <= 1 / (K - 1) for r < 1/K: r = 1 / (K + w) and K = 2 + k."""
    import sympy as sp

    k, w = sp.symbols("k w", nonnegative=True)
    r = 1 / (2 + k + w)
    yield at_least("below 1/(K-1)", 1 / (2 + k - less), r / (1 - 1 / (2 + k)))
    yield at_least("1/K is larger than r", r / (1 - 1 / (2 + k)), r / (1 - r))


def room_of_93(sign: int = 1) -> Iterator[Shown]:
    """6/M / (1 + r) exceeds 3 K r / M for r < 1/K, K = 2 + k: the last step of (93)."""
    import sympy as sp

    k, w, M = sp.symbols("k w M", positive=True)
    r = 1 / (2 + k + w)
    yield at_least("more than 3 K r / M", 6 / M / (1 + sign * r), 3 * (2 + k) * r / M)


# Equation (88) and Theorem 1


def inner_products() -> Iterator[Shown]:
    """zeta_n . zeta_n and zeta_n . zeta_k for every M, from zeta_n = M/(M-1) (e_n - 1/M)."""
    import sympy as sp

    M = sp.symbols("M", positive=True)
    for name, same, value in (
        ("zeta_n . zeta_n", 1, M / (M - 1)),
        ("zeta_n . zeta_k", 0, -M / (M - 1) ** 2),
    ):
        # (e_n - 1/M).(e_k - 1/M): e_n.e_k, twice e_n.1/M, and M squares of 1/M
        yield identity(name, (M / (M - 1)) ** 2 * (same - 2 / M + M / M**2), value)


def update_of_one_row() -> Iterator[Shown]:
    """F^T (f_n - F E' e_n) = e_n: the update (26) moves row n of F^T Y and no other."""
    import sympy as sp

    K = sp.symbols("K", integer=True, positive=True)
    E, e_n = sp.MatrixSymbol("E", K, K), sp.MatrixSymbol("e_n", K, 1)
    gram = sp.Identity(K) + E  # F^T F
    parts = (gram, sp.Identity(K) - (sp.Identity(K) - sp.Inverse(gram)), e_n)
    rest = sp.expand(sp.MatMul(*parts).doit() - e_n).doit()
    zero = rest == sp.ZeroMatrix(K, 1)
    left = "(I + E) (I - E') e_n with E' = I - (I + E)^-1"
    yield Shown("F^T (f_n - F E' e_n)", left, "=", "e_n", "0" if zero else str(rest), zero)


def coefficients(outer: int = -1, inner: int = -1) -> Iterator[Shown]:
    """(I - E') (I + Theta) q, row by row, is iota_n and -beta_nk: two to five classes.

    q holds the inner products of the zeta_k with zeta_n; E', theta and q are symbols.

    Args:
        outer: sign of the term with q_0 in beta; the right one is -1.
        inner: sign of the sum in its bracket; the right one is -1, the printed one +1.
    """
    for K in (2, 3, 4, 5):
        yield from _coefficients(K, outer, inner)


def _coefficients(K: int, outer: int, inner: int) -> Iterator[Shown]:
    """The same for one number of classes, n being the first one."""
    import sympy as sp

    E = sp.Matrix(K, K, lambda i, j: sp.Symbol(f"E'{min(i, j)}{max(i, j)}"))  # E' is symmetric
    plus = sp.symbols(f"t0:{K}")
    q_1, q_0 = sp.symbols("q_1 q_0")
    a = (sp.eye(K) - E) * sp.diag(*plus) * sp.Matrix([q_1] + [q_0] * (K - 1))
    sums = [sum(plus[j] * E[j, k] for j in range(1, K)) for k in range(K)]
    iota = q_1 * plus[0] * (1 - E[0, 0]) - q_0 * sums[0]
    yield identity(f"iota, K = {K}", sp.expand(a[0]), iota)
    for k in range(1, K):
        beta = q_1 * plus[0] * E[0, k] + outer * q_0 * (plus[k] + inner * sums[k])
        yield identity(f"beta of class {k + 1}, K = {K}", sp.expand(-a[k]), beta)


def span() -> Iterator[Shown]:
    """One step of (7) or (26) from Y = F A leaves Y = F (A + v r^T), with the step's v and r."""
    import sympy as sp

    M, K = sp.symbols("M K", integer=True, positive=True)
    F, A = sp.MatrixSymbol("F", M, K), sp.MatrixSymbol("A", K, M)
    e_n, r = sp.MatrixSymbol("e_n", K, 1), sp.MatrixSymbol("r", M, 1)
    E_prime = sp.MatrixSymbol("E_prime", K, K)
    for name, v in (("(7)", e_n), ("(26)", e_n - E_prime * e_n)):
        moved = F * A + (F * e_n if name == "(7)" else F * e_n - F * E_prime * e_n) * r.T
        rest = sp.expand((F * (A + v * r.T)).doit() - moved).doit()
        zero = sp.expand(rest) == sp.ZeroMatrix(M, M)
        yield Shown(
            f"the update {name}",
            str(moved),
            "=",
            str(F * (A + v * r.T)),
            "0" if zero else str(rest),
            zero,
        )


def speed() -> Iterator[Shown]:
    """gamma <= tau at every time; gamma tau <= 2 x <= 2 ln(M tau) once e^x >= (M-1) x and x >= 1.

    From Lemma 6, M tau = e^x - 1 + (M-1) x, and gamma = (M-1)^2/M x / (M - 1 + e^x).
    """
    import sympy as sp

    x, m, d, u = sp.symbols("x m d u", nonnegative=True)  # M = 1 + m
    M = 1 + m
    grown = 1 + x + d  # e^x >= 1 + x
    gamma, tau = m**2 / M * x / (m + grown), (grown - 1 + m * x) / M
    yield at_least("gamma is at most tau", tau, gamma)
    grown = m * x + d  # e^x >= (M - 1) x
    gamma, tau = m**2 / M * x / (m + grown), (grown - 1 + m * x) / M
    yield at_least("gamma tau is at most 2 x", 2 * x, gamma * tau)
    yield at_least("e^x = (M - 1) x is met by tau = 2 x", 2 * x, (m * x - 1 + m * x) / M)
    late = tau.subs({x: 1 + u, m: 1 + m})
    yield at_least("e^x is at most M tau", (2 + m) * late, grown.subs({x: 1 + u, m: 1 + m}))


# When xi is positive


def radius() -> Iterator[Shown]:
    """sqrt(K-1) r / (1 - r) <= c for r up to c / (c + s), s = sqrt(K-1); and 1/K <= 1/(1 + s)."""
    import sympy as sp

    s, c, z = sp.symbols("s c z", nonnegative=True)
    r = c / (c + s) / (1 + z)  # every r up to the radius
    yield at_least("below the radius", c, s * r / (1 - r))
    at = (s * r / (1 - r)).subs(z, 0)
    yield identity("at the radius", at, c)
    k = sp.symbols("k", nonnegative=True)  # s = 1 + k
    yield at_least("1/K is in it", 1 / (2 + k), 1 / (1 + (1 + k) ** 2))


def two_classes() -> Iterator[Shown]:
    """For K = 2 the sum of the second term is -theta+_2 e^3 / (1 - e^2), from E G E itself."""
    import sympy as sp

    e = sp.symbols("e", positive=True)
    E = sp.Matrix([[0, e], [e, 0]])
    product = E * (sp.eye(2) + E).inv() * E
    yield identity("(E G E)_12 for two classes", product[0, 1], -(e**3) / (1 - e**2))


def three_classes() -> Iterator[Shown]:
    """For K = 3 the row sum of G off the diagonal is -(E_12 + E_13) (1 - E_23) / det(I + E)."""
    import sympy as sp

    a, b, c = sp.symbols("E_12 E_13 E_23", nonnegative=True)
    whole = sp.Matrix([[1, a, b], [a, 1, c], [b, c, 1]])
    cofactors = whole.adjugate()  # det(I + E) G
    row = cofactors[0, 1] + cofactors[0, 2]
    yield identity("G_12 + G_13, times det(I + E)", row, -(a + b) * (1 - c))


def star() -> Iterator[Shown]:
    """For a star, (M-1)(G_11 - 1) - sum_k G_1k = G_11 e ((M-1) e - (m s - 1)) / (1 - m s^2).

    Class 1 overlaps by e with a centre that overlaps by s with each of m leaves; the leaves are
    alike, so that three equations of (I + E) G e_1 = e_1 do for every m.
    """
    import sympy as sp

    m, s, e, M = sp.symbols("m s e M", positive=True)
    own, centre, leaf = sp.symbols("own centre leaf")
    equations = [own + e * centre - 1, e * own + centre + m * s * leaf, s * centre + leaf]
    G = sp.solve(equations, [own, centre, leaf], dict=True)[0]
    left = (M - 1) * (G[own] - 1) - G[centre] - m * G[leaf]
    right = G[own] * e * ((M - 1) * e - (m * s - 1)) / (1 - m * s**2)
    yield identity("xi of class 1, up to a positive factor", left, right)


# The gradient (7)


def first_order() -> Iterator[Shown]:
    """a_k = tau (e_k - 1/M) . (e_n - 1/M) = -tau/M to first order, k != n, for every E and M."""
    import sympy as sp

    M, tau = sp.symbols("M tau", positive=True)
    # at Y = 0 every probability is 1/M; e_k . e_n = 0, 1 . e_n = 1 and 1 . 1 = M
    yield identity("the coefficient of f_k", tau * (0 - 1 / M - 1 / M + M / M**2), -tau / M)


def equal_overlaps(factor: Any = None) -> Iterator[Shown]:
    """xi = (K-1) rho tau / M (1 + 3/2 ((M-K+1) rho - 1) tau / M + ...), and its sign.

    Row k of A has an entry a at k, b at the other classes, c at each of the M - K tokens; their
    speeds are p, -q and -u, the residual of the class. With D = ln(q / u): where D = 0, that is
    q = u, its slope is rho (p + q).

    Args:
        factor: of the second order; None for 3/2.
    """
    import sympy as sp

    K, M, rho, tau = sp.symbols("K M rho tau", positive=True)
    a, b, c, q, u = sp.symbols("a b c q u")
    p = (K - 1) * q + (M - K) * u  # the residual sums to 0
    coefficient = b * p - a * q - (K - 2) * b * q - (M - K) * c * u  # of f_k in A (e_n - alpha_n)
    yield identity(
        "the coefficient of f_k", sp.expand(coefficient), (M - K) * u * (b - c) - q * (a - b)
    )
    own, other, none = logits_of_equal(K, rho, a, b, c)
    second = second_order_of_xi(K, M, rho, tau, (own, other, none), coefficient)
    three_halves = sp.Rational(3, 2) if factor is None else factor
    expected = 1 + three_halves * tau / M * ((M - K + 1) * rho - 1)
    yield identity("xi to second order", second, (K - 1) * rho * tau / M * expected)
    D = other - none
    slope = D.subs({a: sp.Symbol("p"), b: -q, c: -u}, simultaneous=True).subs(u, q)
    yield identity("the slope of ln(q/u) where q = u", sp.expand(slope), rho * (sp.Symbol("p") + q))


def logits_of_equal(
    K: Expression, rho: Expression, a: Expression, b: Expression, c: Expression
) -> tuple[Expression, Expression, Expression]:
    """The logits (I + E) A of the own class, of another one and of a token that follows none."""
    own = a + (K - 1) * rho * b
    other = b + rho * a + (K - 2) * rho * b
    return own, other, c * (1 + (K - 1) * rho)


def second_order_of_xi(
    K: Expression,
    M: Expression,
    rho: Expression,
    tau: Expression,
    logits: tuple[Expression, Expression, Expression],
    coefficient: Expression,
) -> Expression:
    """xi to order tau^2: the first-order logits give first-order speeds, integrated once more."""
    import sympy as sp

    a, b, c, q, u = sp.symbols("a b c q u")
    first = {a: (M - 1) / M * tau, b: -tau / M, c: -tau / M}
    own, other, none = (one.subs(first, simultaneous=True) for one in logits)
    mean = (own + (K - 1) * other + (M - K) * none) / M
    q_1, u_1 = (1 + other - mean) / M, (1 + none - mean) / M  # softmax to first order
    p_1 = (K - 1) * q_1 + (M - K) * u_1
    a_2, b_2, c_2 = (sp.integrate(sp.expand(one), (tau, 0, tau)) for one in (p_1, -q_1, -u_1))
    known = {a: a_2, b: b_2, c: c_2, q: q_1, u: u_1}
    whole = sp.expand(-(K - 1) * rho * coefficient.subs(known, simultaneous=True))
    return sum(sp.factor(whole.coeff(tau, k)) * tau**k for k in (1, 2))
