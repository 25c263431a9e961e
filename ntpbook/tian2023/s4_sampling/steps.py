"""Steps of the proofs on classes drawn at random, in symbols and in fractions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ntpbook.shared.symbols import at_least_zero, identity, matrices
from ntpcore.tian2023 import sampling
from ntpcore.verdicts.claims import Shown

Expression = Any  # sympy has no types


def divergence_of_coins(p: Expression, e: Expression) -> Expression:
    """KL(p + e || p) of two coins."""
    import sympy as sp

    return (p + e) * sp.log((p + e) / p) + (1 - p - e) * sp.log((1 - p - e) / (1 - p))


# Lemma 10


def chernoff_exponent() -> Iterator[Shown]:
    """The best exponent of E exp(theta N_n) <= (1 - p + p e^theta)^N at q = p + e is KL(q || p)."""
    import sympy as sp

    p, e, r = sp.symbols("p e r", positive=True)  # r = 1 - q, so that 1 - p = e + r
    q = p + e
    odds = q * (e + r) / (p * r)  # e^theta
    whole = {p: 1 - e - r}
    moment = sp.factor(e + r + p * odds).subs(whole)  # of one draw
    slope = (q - p * odds / moment).subs(whole)  # of theta q - ln(moment), in theta
    yield identity("the slope vanishes at e^theta = q (1 - p) / (p (1 - q))", sp.simplify(slope), 0)
    exponent = q * sp.log(odds) - sp.log(sp.simplify(moment))
    expected = q * sp.log(q / p) + r * sp.log(r / (e + r))
    both = (sp.expand_log(one, force=True).subs(whole) for one in (exponent, expected))
    left, right = (sp.expand(one) for one in both)
    yield identity("the exponent", left, right)


def hoeffding_gap(factor: int = 2) -> Iterator[Shown]:
    """KL(p + e || p) >= 2 e^2: the gap vanishes at 0 with its slope, and is convex in e.

    Args:
        factor: of e^2; the right one is 2.
    """
    import sympy as sp

    p, e, r = sp.symbols("p e r", positive=True)
    q = p + e
    gap = divergence_of_coins(p, e) - factor * e**2
    yield identity("the gap at e = 0", gap.subs(e, 0), 0)
    yield identity("its slope there", sp.diff(gap, e).subs(e, 0), 0)
    curvature = sp.diff(gap, e, 2)
    yield identity("its curvature", sp.simplify(curvature), (1 - 2 * q) ** 2 / (q * (1 - q)))
    half = sp.symbols("half", real=True)  # 1 - 2 q
    yield at_least_zero("which is not negative", half**2 / (r * p))


def order_of_radii() -> Iterator[Shown]:
    """sqrt(N L) > sqrt(N L / 2) + 1 iff N L > 6 + 4 sqrt(2), which N >= 17 gives as L > ln 2."""
    import sympy as sp

    y = sp.symbols("y", nonnegative=True)  # sqrt(N L)
    edge = 2 + sp.sqrt(2)
    yield identity("the edge, squared", edge**2, 6 + 4 * sp.sqrt(2))
    room = sp.expand(y + edge - (y + edge) / sp.sqrt(2) - 1)
    yield identity("the room beyond the edge", room, y * (1 - 1 / sp.sqrt(2)))
    yield at_least_zero("17 draws", 17 * sp.log(2) - edge**2, strictly=True)
    yield at_least_zero("not 16", edge**2 - 16 * sp.log(2), strictly=True)


def few_draws() -> Iterator[Shown]:
    """For 2 <= N <= 16 fractions bound P(|N_n - c| > outer radius) / delta below 1, for all p."""
    for N in range(2, 17):
        ratio = sampling.outer_worst_case(N)
        short = (f"{float(ratio):.4f}", f"{float(ratio - 1):.4f}")
        yield Shown(f"N = {N}, a fraction", short[0], "<", "1", short[1], ratio < 1)


# The radius that knows the variance


def bernstein_divergence() -> Iterator[Shown]:
    """KL(p + e || p) >= v Phi(e/v), v = p (1 - p), Phi(u) = (1 + u) ln(1 + u) - u."""
    import sympy as sp

    p, e, v, u = sp.symbols("p e v u", positive=True)
    q = p + e
    left = sp.simplify(sp.diff(divergence_of_coins(p, e), e, 2))
    yield identity("the curvature of KL", left, 1 / (q * (1 - q)))
    Phi = (1 + u) * sp.log(1 + u) - u
    right = sp.simplify(sp.diff(v * Phi.subs(u, e / v), e, 2))
    yield identity("the curvature of v Phi(e/v)", right, 1 / (v + e))
    wider = sp.expand(p * (1 - p) + e - q * (1 - q))
    yield identity("v + e - q (1 - q)", wider, 2 * p * e + e**2)
    yield at_least_zero("which is not negative", 2 * p * e + e**2)


def bernstein_function() -> Iterator[Shown]:
    """Phi(u) (2 + 2u/3) >= u^2: the gap vanishes at 0 with two derivatives, the third is >= 0."""
    import sympy as sp

    u = sp.symbols("u", positive=True)
    gap = ((1 + u) * sp.log(1 + u) - u) * (2 + 2 * u / 3) - u**2
    for order, word in enumerate(("the gap at 0", "its slope there", "its curvature there")):
        yield identity(word, sp.diff(gap, u, order).subs(u, 0), 0)
    third = sp.simplify(sp.diff(gap, u, 3))
    yield identity("its third derivative", third, 4 * u / (3 * (1 + u) ** 2))
    yield at_least_zero("which is not negative", 4 * u / (3 * (1 + u) ** 2))


def bernstein_radius(variance: int = 2) -> Iterator[Shown]:
    """t = L/3 + sqrt(L^2/9 + 2 N v L) solves t^2 = L (2 N v + 2t/3).

    Args:
        variance: the factor of N v L under the root; the right one is 2.
    """
    import sympy as sp

    N, v, L = sp.symbols("N v L", positive=True)
    t = L / 3 + sp.sqrt(L**2 / 9 + variance * N * v * L)
    yield identity("t^2", sp.expand(t**2), sp.expand(L * (2 * N * v + 2 * t / 3)))


def bernstein_order() -> Iterator[Shown]:
    """The radius is at most sqrt(N L) iff 1 - 2v >= (2/3) sqrt(L/N); v <= 1/4, and N = 16 L/9."""
    import sympy as sp

    N, v, L = sp.symbols("N v L", positive=True)
    order = sp.expand((sp.sqrt(N * L) - L / 3) ** 2 - L**2 / 9 - 2 * N * v * L)
    expected = N * L * ((1 - 2 * v) - sp.Rational(2, 3) * sp.sqrt(L / N))
    yield identity("(sqrt(N L) - L/3)^2 less the root squared", order, sp.expand(expected))
    corner = (1 - 2 * v) - sp.Rational(2, 3) * sp.sqrt(L / N)
    at = corner.subs(v, sp.Rational(1, 4)).subs(N, 16 * L / 9)
    yield identity("at v = 1/4 and N = 16 L/9", at, 0)


# Theorem 5


def two_forms_of_the_solution(sign: int = 1) -> Iterator[Shown]:
    """G = (I - E') F^T has G F = I, and F G is symmetric: G is the pseudo-inverse of F.

    Matrices have symbolic size, I + E = F^T F is invertible, and E' = sign (I - (I + E)^-1).

    Args:
        sign: of E'; the right one is 1, Appendix D.1 prints -1.
    """
    import sympy as sp

    K, M = sp.symbols("K M", integer=True, positive=True)
    F, one = sp.MatrixSymbol("F", M, K), sp.Identity(K)
    E_prime = sign * (one - (F.T * F).inverse())
    G = (one - E_prime) * F.T
    yield matrices("(I - E') F^T F", G * F, one)
    yield matrices("F G, transposed", (F * G).T, F * G)


# The exact number of updates


def time_to_accuracy(logarithm: float = 1) -> Iterator[Shown]:
    """S is the time at which (45) has e^x = (M - 1)(1 - epsilon)/epsilon: accuracy epsilon.

    Args:
        logarithm: factor of the logarithm in S; the right one is 1.
    """
    import sympy as sp

    M, eta, epsilon = sp.symbols("M eta epsilon", positive=True)
    odds = (M - 1) * (1 - epsilon) / epsilon  # e^x
    yield identity("the probability of wrong tokens", (M - 1) / (M - 1 + odds), epsilon)
    S = ((1 - 1 / M) * (1 / epsilon + logarithm * sp.log(odds)) - 1) / eta
    yield identity("M eta S by (45)", M * eta * S, odds + (M - 1) * sp.log(odds) - 1)


def growth_of_both() -> Iterator[Shown]:
    """V = e^x + (M-1) x grows by M eta along (44), by M eta + e^x (e^d - 1 - d) in an update."""
    import sympy as sp

    M, eta, x, d = sp.symbols("M eta x d", positive=True)

    def V(at: Expression) -> Expression:
        return sp.exp(at) + (M - 1) * at

    D = M - 1 + sp.exp(x)
    yield identity("along (44), per unit of time", sp.diff(V(x), x) * M * eta / D, M * eta)
    # an update (33) moves x by d = M eta / D
    excess = sp.expand(V(x + d) - V(x) - d * D)
    yield identity("in an update, beyond M eta", excess, sp.exp(x) * (sp.exp(d) - 1 - d))
    wider = sp.expand(D.subs(x, x + d) - D)
    yield identity("D grows by", wider, sp.expand(sp.exp(x) * (sp.exp(d) - 1)))


def ratio_of_growths() -> Iterator[Shown]:
    """An update adds a (e^d - 1 - d)/d to c; by a d, the least growth of ln D, that is phi(d)."""
    import sympy as sp

    M, eta, x, d = sp.symbols("M eta x d", positive=True)
    D = M - 1 + sp.exp(x)
    a = sp.exp(x) / D
    added = (sp.exp(x) * (sp.exp(d) - 1 - d) / (M * eta)).subs(eta, d * D / M)
    yield identity("over a d", sp.simplify(added / (a * d)), (sp.exp(d) - 1 - d) / d**2)
