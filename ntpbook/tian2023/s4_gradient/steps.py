"""Steps of the proofs on the back-propagated gradient, each for every admissible number.

Every matrix here is a function of one symmetric matrix E, so that identities and bounds need only
be shown for an eigenvalue. An inequality counts as shown when, after a change of variables that
reaches all admissible numbers from nonnegative ones, the difference of its sides is a quotient of
polynomials without a negative coefficient.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ntpbook.shared.symbols import at_least_zero, at_most, formula, identity, matrices
from ntpverdicts.claims import Shown

Expression = Any  # sympy has no types


def at_least(name: str, left: Expression, right: Expression) -> Shown:
    """left >= right wherever all symbols are nonnegative, both written as sympy simplifies them.

    Args:
        name: what the inequality says, in words.
        left: a rational expression, derived from definitions.
        right: the smaller side.
    """
    import sympy as sp

    return at_most(name, sp.simplify(right), sp.simplify(left))


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


def rayleigh_quotients(diagonal: int = 0) -> Iterator[Shown]:
    """The Rayleigh quotients of e_i + e_j and e_i - e_j are E_ij and -E_ij for a zero diagonal.

    Args:
        diagonal: of E; 0 in truth.
    """
    import sympy as sp

    E_ij = sp.symbols("E_ij", nonnegative=True)
    block = sp.Matrix([[diagonal, E_ij], [E_ij, diagonal]])  # all that these vectors see of E
    for word, v, value in (("+", sp.Matrix([1, 1]), E_ij), ("-", sp.Matrix([1, -1]), -E_ij)):
        yield identity(
            f"Rayleigh quotient of $e_i {word} e_j$", (v.T * block * v)[0] / (v.T * v)[0], value
        )


def inverse(sign: int = 1, denominator: int = 1) -> Iterator[Shown]:
    """1 + lambda >= 1 - r > 0 for |lambda| <= r < 1; E' has the eigenvalue lambda / (1 + lambda).

    Args:
        sign: of the eigenvalue of E'; 1 in truth.
        denominator: sign of lambda in the denominator; 1 in truth.
    """
    import sympy as sp

    r, value = eigenvalue()
    yield at_least("an eigenvalue of $I + E$ is at least $1 - r$", 1 + value, 1 - r)
    yield at_least_zero("$1 - r$ is positive", sp.simplify(1 - r), strictly=True)
    x = sp.symbols("lambda")
    yield identity(
        "an eigenvalue of $I - (I + E)^{-1}$", prime(x), sign * x / (1 + denominator * x)
    )


def largest_of_E_prime(sign: int = -1) -> Iterator[Shown]:
    """|lambda'| <= r / (1 - r) <= r / (1 - l) <= l / (1 - l) for |lambda| <= r <= l < 1."""
    import sympy as sp

    r, x = eigenvalue()
    z = sp.symbols("z", nonnegative=True)
    level = r + (1 - r) * z / (1 + z)  # every l in [r, 1)
    yield at_least("$r/(1 - r)$ bounds an eigenvalue of $E'$", r / (1 + sign * r), prime(x))
    yield at_least("$r/(1 - r)$ bounds minus this eigenvalue", r / (1 + sign * r), -prime(x))
    yield at_least(
        r"$r/(1 - l)$ is at least $r/(1 - r)$ for $l \ge r$",
        r / (1 + sign * level),
        r / (1 + sign * r),
    )
    yield at_least(
        r"$l/(1 - l)$ is at least $r/(1 - l)$ for $l \ge r$",
        level / (1 + sign * level),
        r / (1 + sign * level),
    )


def second_order(times: int = 1) -> Iterator[Shown]:
    """E' = E - E G E with G = (I + E)^-1, on eigenvalues, and G has no negative one.

    Args:
        times: how often E G E is taken off; once in truth.
    """
    import sympy as sp

    x = sp.symbols("lambda")
    yield identity("$E' = E - E G E$", prime(x), x - times * x * (1 / (1 + x)) * x)
    yield at_least("no eigenvalue of $G$ is negative", 1 / (1 + eigenvalue()[1]), sp.S.Zero)


def least_of_G(sign: int = 1) -> Iterator[Shown]:
    """G >= I / (1 + r), so that (E G E)_nn >= |E e_n|^2 / (1 + r)."""
    r, x = eigenvalue()
    yield at_least(
        r"an eigenvalue $1/(1 + \lambda)$ of $G$ is at least $1/(1 + r)$",
        1 / (1 + x),
        1 / (1 + sign * r),
    )


def difference_of_E_prime(sign: int = -1) -> Iterator[Shown]:
    """lambda - lambda' <= r^2 / (1 - r) for |lambda| <= r < 1; it is not negative."""
    import sympy as sp

    r, x = eigenvalue()
    rest = sp.factor(x - prime(x))
    yield at_least("an eigenvalue of $EGE$", r**2 / (1 + sign * r), rest)
    a, b = sp.symbols("a b", nonnegative=True)
    # the square of (a - b) is what is left of lambda^2 / (1 + lambda) besides nonnegative factors
    yield at_least("the same eigenvalue without its square factor", rest / (a - b) ** 2, sp.S.Zero)


def window_of_E_prime(less: int = 1) -> Iterator[Shown]:
    """r / (1 - 1/K) <= 1 / (K - 1) for r < 1/K: r = 1 / (K + w) and K = 2 + k."""
    import sympy as sp

    k, w = sp.symbols("k w", nonnegative=True)
    r = 1 / (2 + k + w)
    yield at_least(
        "$r/(1 - 1/K)$ is at most $1/(K - 1)$", 1 / (2 + k - less), r / (1 - 1 / (2 + k))
    )
    yield at_least("$r/(1 - r)$ is at most $r/(1 - 1/K)$", r / (1 - 1 / (2 + k)), r / (1 - r))


def room_of_93(sign: int = 1) -> Iterator[Shown]:
    """6/M / (1 + r) exceeds 4 K r / M for r < 1/K, K = 2 + k: more than (93) needs."""
    import sympy as sp

    k = sp.Symbol("k", nonnegative=True)
    w, M = sp.symbols("w M", positive=True)
    r = 1 / (2 + k + w)
    gap = sp.factor(6 / M / (1 + sign * r) - 4 * (2 + k) * r / M)
    yield at_least_zero("$(6/M)/(1 + r) - 4Kr/M$", gap, strictly=True)


def defect_of_the_inverse(times: int = 1) -> Iterator[Shown]:
    """E - E' - E E' = 0 with E' = I - (I + E)^-1, for matrices of every size.

    Args:
        times: how often E E' is taken off; once in truth.
    """
    import sympy as sp

    K = sp.symbols("K", integer=True, positive=True)
    A, one = sp.MatrixSymbol("A", K, K), sp.Identity(K)  # A = I + E
    E, E_prime = A - one, one - A.inverse()
    defect = E - E_prime - times * E * E_prime
    yield matrices("$E - E' - E E'$ with $A = I + E$", defect, sp.ZeroMatrix(K, K))


# Equation (88) and Theorem 1


def inner_products(share: int = 1) -> Iterator[Shown]:
    """zeta_n . zeta_n and zeta_n . zeta_k for M = 4, 7, 12, and for every M from three entries.

    Args:
        share: of 1/M in zeta_n = M/(M-1) (e_n - 1/M); 1 in truth.
    """
    import sympy as sp

    def zeta(n: int, M: int) -> Any:
        e_n = sp.Matrix(M, 1, lambda i, _: int(i == n))
        return sp.Rational(M, M - 1) * (e_n - sp.Rational(share, M) * sp.ones(M, 1))

    for M in (4, 7, 12):
        for name, k, value in (
            (r"$\zeta_n \cdot \zeta_n$", 0, sp.Rational(M, M - 1)),
            (r"$\zeta_n \cdot \zeta_k$", 1, -sp.Rational(M, (M - 1) ** 2)),
        ):
            yield identity(f"$M = {M}$: {name}", (zeta(0, M).T * zeta(k, M))[0], value)
    M = sp.symbols("M", positive=True)
    own, other = M / (M - 1) * (1 - share / M), M / (M - 1) * (0 - share / M)
    yield identity(r"every $M$: $\zeta_n \cdot \zeta_n$", own**2 + (M - 1) * other**2, M / (M - 1))
    pair = 2 * own * other + (M - 2) * other**2
    yield identity(r"every $M$: $\zeta_n \cdot \zeta_k$", pair, -M / (M - 1) ** 2)


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
    yield identity(rf"$\iota$, $K = {K}$", sp.expand(a[0]), iota)
    for k in range(1, K):
        beta = q_1 * plus[0] * E[0, k] + outer * q_0 * (plus[k] + inner * sums[k])
        yield identity(rf"$\beta$ of class {k + 1}, $K = {K}$", sp.expand(-a[k]), beta)


def span(beside: int = 0) -> Iterator[Shown]:
    """One step of (7) or (26) from Y = F A leaves Y = F (A + v r^T), with the step's v and r.

    Args:
        beside: how much of another vector b the step adds; 0 in truth.
    """
    import sympy as sp

    M, K = sp.symbols("M K", integer=True, positive=True)
    F, A = sp.MatrixSymbol("F", M, K), sp.MatrixSymbol("A", K, M)
    e_n, r = sp.MatrixSymbol("e_n", K, 1), sp.MatrixSymbol("r", M, 1)
    E_prime, b = sp.MatrixSymbol("E_prime", K, K), sp.MatrixSymbol("b", M, 1)
    for name, v in (("(7)", e_n), ("(26)", e_n - E_prime * e_n)):
        moved = F * A + (F * e_n if name == "(7)" else F * e_n - F * E_prime * e_n) * r.T
        moved = moved + beside * b * r.T if beside else moved
        yield matrices(f"the update {name}", moved, F * (A + v * r.T))


def speed(factor: float = 2.0) -> Iterator[Shown]:
    """gamma <= tau at every time; gamma tau <= 2 x <= 2 ln(M tau) once e^x >= (M-1) x and x >= 1.

    From Lemma 6, M tau = e^x - 1 + (M-1) x, and gamma = (M-1)^2/M x / (M - 1 + e^x).

    Args:
        factor: of x; 2 in truth.
    """
    import sympy as sp

    x, m, d, u = sp.symbols("x m d u", nonnegative=True)  # M = 1 + m
    M = 1 + m
    grown = 1 + x + d  # e^x >= 1 + x
    gamma, tau = m**2 / M * x / (m + grown), (grown - 1 + m * x) / M
    yield at_least(r"$\gamma$ is at most $\tau$", tau, gamma)
    grown = m * x + d  # e^x >= (M - 1) x
    gamma, tau = m**2 / M * x / (m + grown), (grown - 1 + m * x) / M
    yield at_least(r"$\gamma\tau$ is at most $2x$", sp.nsimplify(factor) * x, gamma * tau)
    name = r"where $e^x = (M - 1) x$, $\tau$ is at most $2x$"
    yield at_least(name, 2 * x, (m * x - 1 + m * x) / M)
    late = tau.subs({x: 1 + u, m: 1 + m})
    yield at_least(r"$e^x$ is at most $M\tau$", (2 + m) * late, grown.subs({x: 1 + u, m: 1 + m}))


def least_constant(room: int = 1) -> Iterator[Shown]:
    """At tau_0 = 2 x_1 gamma tau is at least x_1, and x_1 >= ln M: (b) needs x_1 / ln(2 x_1).

    x_1 is the upper crossing of Lemma 8, e^(x_1) = (M-1) x_1, and x = x_1 + d, d >= 0, is the
    height at tau_0. M = 100 + m and x_1 = 3 + s, as e^3 < 99 * 3; Lemma 6 gives
    e^x = 2 M x_1 + 1 - (M-1) x.

    Args:
        room: of x_1 in the first bound; 1 in truth.
    """
    import sympy as sp

    m, s, d = sp.symbols("m s d", nonnegative=True)
    three = 99 * 3 - sp.exp(3)
    yield at_least_zero("$(M - 1)x - e^x$ at $x = 3$, for $M = 100$", three, strictly=True)
    M, x_1 = 100 + m, 3 + s
    at_zero = 2 * M * x_1 + 1 - ((M - 1) * x_1 + (M - 1) * x_1)  # M tau_0 + 1 less Lemma 6 at x_1
    yield at_least(r"$x$ is at least $x_1$ at $\tau_0$", at_zero, sp.S.Zero)
    x = x_1 + d
    # gamma falls with e^x, and e^x is at most its value for the least x
    most = 2 * M * x_1 + 1 - (M - 1) * x_1
    gamma = (M - 1) ** 2 / M * x / (M - 1 + most)
    yield at_least(r"$\gamma\tau_0$ is at least $x_1$", gamma * 2 * x_1, room * x_1)
    # ln M <= x_1, since e^(x_1) = (M-1) x_1 >= M
    yield at_least("$e^{x_1}$ is at least $M$", (M - 1) * x_1, M)
    grown = sp.Symbol("x_1", positive=True)
    limit = sp.limit(grown / sp.log(2 * grown), grown, sp.oo)
    text = r"$x_1/\ln(2x_1)$ is unbounded: its limit"
    yield Shown(text, formula(limit), "=", formula(sp.oo), "0", limit == sp.oo)


def room_for_deviations(larger: int = 1) -> Iterator[Shown]:
    """s r / (1 - r) <= (1 - t) / (1 + t) for r <= 1/K and t <= (s - 1) / (s + 1), s = sqrt(K-1).

    s = 1 + k, so that K = 1 + s^2; t is the largest |theta_k|.

    Args:
        larger: by what 1/K is multiplied; 1 in truth.
    """
    import sympy as sp

    k, z, a, b = sp.symbols("k z a b", nonnegative=True)
    s = 1 + k
    r = larger / (1 + s**2 + z)  # every r up to 1/K
    t = k / (k + 2) * a / (a + b)  # every t from 0 to (s - 1)/(s + 1)
    yield at_least(
        r"$\sqrt{K - 1}\, r/(1 - r)$ is at most $(1 - \bar\theta)/(1 + \bar\theta)$",
        (1 - t) / (1 + t),
        s * r / (1 - r),
    )


# When xi is positive


def radius(larger: int = 1) -> Iterator[Shown]:
    """sqrt(K-1) r / (1 - r) <= c for r up to c / (c + s), s = sqrt(K-1); and 1/K <= 1/(1 + s).

    Args:
        larger: by what the radius is multiplied; 1 in truth.
    """
    import sympy as sp

    s, c, z = sp.symbols("s c z", nonnegative=True)
    r = larger * c / (c + s) / (1 + z)  # every r up to the radius
    name = r"the condition $sr/(1 - r) \le c$, with $s = \sqrt{K - 1}$, holds for every smaller $r$"
    yield at_least(name, c, s * r / (1 - r))
    at = (s * r / (1 - r)).subs(z, 0)
    yield identity("equality at the largest $r$", at, c)
    k = sp.symbols("k", nonnegative=True)  # s = 1 + k
    yield at_least(
        "$1/K$ is at most the largest $r$, for $c = 1$", 1 / (2 + k), 1 / (1 + (1 + k) ** 2)
    )


def two_classes(diagonal: int = 0) -> Iterator[Shown]:
    """For K = 2 the sum of the second term is -theta+_2 e^3 / (1 - e^2), from E G E itself.

    Args:
        diagonal: of E; 0 in truth.
    """
    import sympy as sp

    e = sp.symbols("e", positive=True)
    E = sp.Matrix([[diagonal, e], [e, diagonal]])
    product = E * (sp.eye(2) + E).inv() * E
    yield identity("$(E G E)_{12}$ for two classes", product[0, 1], -(e**3) / (1 - e**2))


def three_classes(sign: int = -1) -> Iterator[Shown]:
    """For K = 3 the row sum of G off the diagonal is -(E_12 + E_13) (1 - E_23) / det(I + E).

    Args:
        sign: of E_23; -1 in truth.
    """
    import sympy as sp

    a, b, c = sp.symbols("E_12 E_13 E_23", nonnegative=True)
    whole = sp.Matrix([[1, a, b], [a, 1, c], [b, c, 1]])
    cofactors = whole.adjugate()  # det(I + E) G
    row = cofactors[0, 1] + cofactors[0, 2]
    yield identity(r"$G_{12} + G_{13}$, times $\det(I + E)$", row, -(a + b) * (1 + sign * c))


def star(own_leaves: int = 0) -> Iterator[Shown]:
    """For a star, (M-1)(G_11 - 1) - sum_k G_1k = G_11 e ((M-1) e - (m s - 1)) / (1 - m s^2).

    Class 1 overlaps by e with a centre that overlaps by s with each of m leaves; the leaves are
    alike, so that three equations of (I + E) G e_1 = e_1 do for every m.

    Args:
        own_leaves: leaves with which class 1 overlaps, too; none in truth.
    """
    import sympy as sp

    m, s, e, M = sp.symbols("m s e M", positive=True)
    own, centre, leaf = sp.symbols("own centre leaf")
    equations = [
        own + e * centre + own_leaves * e * leaf - 1,
        e * own + centre + m * s * leaf,
        s * centre + leaf,
    ]
    G = sp.solve(equations, [own, centre, leaf], dict=True)[0]
    left = (M - 1) * (G[own] - 1) - G[centre] - m * G[leaf]
    right = G[own] * e * ((M - 1) * e - (m * s - 1)) / (1 - m * s**2)
    yield identity(r"$\xi$ of class 1, up to a positive factor", left, right)


# The gradient (7)


def first_order(start: int = 0) -> Iterator[Shown]:
    """a_k = -tau/M to first order, k != n, from the softmax at Y = 0 and one step of (7).

    Row k of A moves by e_k - alpha_k, and g = F A (e_n - alpha_n): with alpha the softmax of M
    equal logits. For small K and M entry by entry, and for every M from three kinds of entries.

    Args:
        start: the logit of the first token at the start; 0 in truth.
    """
    import sympy as sp

    tau = sp.Symbol("tau", positive=True)
    for K, size in ((2, 3), (3, 5), (4, 8)):
        logits = [sp.Integer(start)] + [sp.Integer(0)] * (size - 1)
        weights = [sp.exp(x) for x in logits]
        alpha = [x / sum(weights) for x in weights]
        gaps = [[int(i == k) - alpha[i] for i in range(size)] for k in range(K)]
        for k in range(1, K):  # the class is n = 0
            found = tau * sum(x * y for x, y in zip(gaps[k], gaps[0], strict=True))
            name = f"$K = {K}$, $M = {size}$: the coefficient of $f_{{{k + 1}}}$"
            yield identity(name, sp.simplify(found), -tau / size)
    M, y = sp.symbols("M y", positive=True)
    p = sp.exp(y) / (M * sp.exp(y))  # softmax of M logits that are all y
    # tokens n and k, and M - 2 others
    found = tau * ((1 - p) * (-p) + (-p) * (1 - p) + (M - 2) * p**2)
    yield identity("every $M$: the coefficient of $f_k$", sp.simplify(found), -tau / M)


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
        "the coefficient of $f_k$", sp.expand(coefficient), (M - K) * u * (b - c) - q * (a - b)
    )
    own, other, none = logits_of_equal(K, rho, a, b, c)
    second = second_order_of_xi(K, M, rho, tau, (own, other, none), coefficient)
    three_halves = sp.Rational(3, 2) if factor is None else factor
    expected = 1 + three_halves * tau / M * ((M - K + 1) * rho - 1)
    yield identity(
        r"the force $\xi_n$ to second order in $\tau$", second, (K - 1) * rho * tau / M * expected
    )
    D = other - none
    slope = D.subs({a: sp.Symbol("p"), b: -q, c: -u}, simultaneous=True).subs(u, q)
    yield identity(
        r"the slope of $\ln(q/u)$ where $q = u$", sp.expand(slope), rho * (sp.Symbol("p") + q)
    )


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
