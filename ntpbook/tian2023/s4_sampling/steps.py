"""Steps of the proofs on classes drawn at random, in symbols and in fractions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ntpbook.shared.symbols import at_least_zero, identity, matrices
from ntpbook.tian2023.s4_sampling import sampling
from ntpverdicts.claims import Shown

Expression = Any  # sympy has no types


def divergence_of_coins(p: Expression, e: Expression) -> Expression:
    """KL(p + e || p) of two coins."""
    import sympy as sp

    return (p + e) * sp.log((p + e) / p) + (1 - p - e) * sp.log((1 - p - e) / (1 - p))


# Lemma 10


def chernoff_exponent(ratio: bool = False) -> Iterator[Shown]:
    """The best exponent of E exp(theta N_n) <= (1 - p + p e^theta)^N at q = p + e is KL(q || p).

    Args:
        ratio: whether e^theta is q/p, which is not the best one, in the place of the odds ratio.
    """
    import sympy as sp

    p, e, r = sp.symbols("p e r", positive=True)  # r = 1 - q, so that 1 - p = e + r
    q = p + e
    odds = q / p if ratio else q * (e + r) / (p * r)  # e^theta
    whole = {p: 1 - e - r}
    moment = sp.factor(e + r + p * odds).subs(whole)  # of one draw
    slope = (q - p * odds / moment).subs(whole)  # of theta q - ln(moment), in theta
    yield identity(
        r"the slope vanishes at $e^\theta = q (1 - p)/(p (1 - q))$", sp.simplify(slope), 0
    )
    exponent = q * sp.log(odds) - sp.log(sp.simplify(moment))
    expected = q * sp.log(q / p) + r * sp.log(r / (e + r))
    both = (sp.expand_log(one, force=True).subs(whole) for one in (exponent, expected))
    left, right = (sp.expand(one) for one in both)
    yield identity(r"the exponent of the Chernoff bound, as $\mathrm{KL}$", left, right)


def hoeffding_gap(factor: int = 2) -> Iterator[Shown]:
    """KL(p + e || p) >= 2 e^2: the gap vanishes at 0 with its slope, and is convex in e.

    Args:
        factor: of e^2; the right one is 2.
    """
    import sympy as sp

    p, e, r = sp.symbols("p e r", positive=True)
    q = p + e
    gap = divergence_of_coins(p, e) - factor * e**2
    yield identity(r"$\mathrm{KL} - 2e^2$ at $e = 0$", gap.subs(e, 0), 0)
    yield identity("the slope of this gap at 0", sp.diff(gap, e).subs(e, 0), 0)
    curvature = sp.diff(gap, e, 2)
    yield identity(
        r"the second derivative of $\mathrm{KL} - 2e^2$",
        sp.simplify(curvature),
        (1 - 2 * q) ** 2 / (q * (1 - q)),
    )
    half = sp.symbols("half", real=True)  # 1 - 2 q
    name = "this second derivative is not negative: a square over a product of positive numbers"
    yield at_least_zero(name, half**2 / (r * p))


def order_of_radii(draws: int = 17) -> Iterator[Shown]:
    """sqrt(N L) > sqrt(N L / 2) + 1 iff N L > 6 + 4 sqrt(2), which N >= 17 gives as L > ln 2.

    Args:
        draws: how many are enough; the right number is 17.
    """
    import sympy as sp

    y = sp.symbols("y", nonnegative=True)  # sqrt(N L)
    edge = 2 + sp.sqrt(2)
    yield identity(
        r"the square of the $\sqrt{NL}$, with $L = \ln(2/\delta)$, at which both radii are equal",
        edge**2,
        6 + 4 * sp.sqrt(2),
    )
    room = sp.expand(y + edge - (y + edge) / sp.sqrt(2) - 1)
    yield identity(
        r"the difference of the radii for larger $\sqrt{NL}$", room, y * (1 - 1 / sp.sqrt(2))
    )
    enough, fewer = draws * sp.log(2) - edge**2, edge**2 - (draws - 1) * sp.log(2)
    yield at_least_zero(
        f"{draws} draws are enough for the second inequality of (58)", enough, strictly=True
    )
    yield at_least_zero(f"{draws - 1} draws are not enough for it", fewer, strictly=True)


def few_draws(fewest: int = 2) -> Iterator[Shown]:
    """For 2 <= N <= 16 fractions bound P(|N_n - c| > outer radius) / delta below 1, for all p.

    Args:
        fewest: the smallest N; for a single draw the radius is too small.
    """
    for N in range(fewest, 17):
        ratio = sampling.outer_worst_case(N)
        short = (f"{float(ratio):.4f}", f"{float(ratio - 1):.4f}")
        yield Shown(
            rf"a bound on the failure probability for $N = {N}$, as a multiple of $\delta$",
            short[0],
            "<",
            "1",
            short[1],
            ratio < 1,
        )


# The radius that knows the variance


def bernstein_divergence(stretch: int = 1) -> Iterator[Shown]:
    """KL(p + e || p) >= v Phi(e/v), v = p (1 - p), Phi(u) = (1 + u) ln(1 + u) - u.

    Args:
        stretch: factor of e/v; the right one is 1.
    """
    import sympy as sp

    p, e, v, u = sp.symbols("p e v u", positive=True)
    q = p + e
    left = sp.simplify(sp.diff(divergence_of_coins(p, e), e, 2))
    yield identity(
        r"the second derivative of $\mathrm{KL}(p + e \,\|\, p)$ in $e$", left, 1 / (q * (1 - q))
    )
    Phi = (1 + u) * sp.log(1 + u) - u
    right = sp.simplify(sp.diff(v * Phi.subs(u, stretch * e / v), e, 2))
    yield identity(r"the second derivative of $v \Phi(e/v)$", right, 1 / (v + e))
    wider = sp.expand(p * (1 - p) + e - q * (1 - q))
    yield identity("$v + e - q (1 - q)$", wider, 2 * p * e + e**2)
    yield at_least_zero("$v + e - q (1 - q)$ is not negative", 2 * p * e + e**2)


def bernstein_function(thirds: int = 2) -> Iterator[Shown]:
    """Phi(u) (2 + 2u/3) >= u^2: the gap vanishes at 0 with two derivatives, the third is >= 0.

    Args:
        thirds: how many thirds of u are added to 2; the right number is 2.
    """
    import sympy as sp

    u = sp.symbols("u", positive=True)
    gap = ((1 + u) * sp.log(1 + u) - u) * (2 + sp.Rational(thirds, 3) * u) - u**2
    for order, word in enumerate(
        (
            r"$\Phi(u) (2 + 2u/3) - u^2$ at 0",
            "the slope of this gap at 0",
            "the second derivative of this gap at 0",
        )
    ):
        yield identity(word, sp.diff(gap, u, order).subs(u, 0), 0)
    third = sp.simplify(sp.diff(gap, u, 3))
    yield identity("the third derivative of this gap", third, 4 * u / (3 * (1 + u) ** 2))
    yield at_least_zero("this third derivative is not negative", 4 * u / (3 * (1 + u) ** 2))


def bernstein_radius(variance: int = 2) -> Iterator[Shown]:
    """t = L/3 + sqrt(L^2/9 + 2 N v L) solves t^2 = L (2 N v + 2t/3).

    Args:
        variance: the factor of N v L under the root; the right one is 2.
    """
    import sympy as sp

    N, v, L = sp.symbols("N v L", positive=True)
    t = L / 3 + sp.sqrt(L**2 / 9 + variance * N * v * L)
    yield identity("$t^2$", sp.expand(t**2), sp.expand(L * (2 * N * v + 2 * t / 3)))


def bernstein_order(ninths: int = 16) -> Iterator[Shown]:
    """The radius is below sqrt(N L) for v <= 1/4 and N > 16 L/9; the limit of their ratio.

    With y = sqrt(N/L) = 4/3 + r and v = 1/4 - w: y - 1/3 > 0, and (y - 1/3)^2 exceeds the square of
    the root over L^2.

    Args:
        ninths: of L, from which N on this holds; the right number is 16.
    """
    import sympy as sp

    N, v, L, r, u = sp.symbols("N v L r u", positive=True)
    w = sp.symbols("w", nonnegative=True)
    order = sp.expand((sp.sqrt(N * L) - L / 3) ** 2 - L**2 / 9 - 2 * N * v * L)
    expected = N * L * ((1 - 2 * v) - sp.Rational(2, 3) * sp.sqrt(L / N))
    yield identity(
        r"$(\sqrt{NL} - L/3)^2$ minus the square of the root", order, sp.expand(expected)
    )
    start = sp.sqrt(sp.Rational(ninths, 9))
    corner = (1 - 2 * v) - sp.Rational(2, 3) * sp.sqrt(L / N)
    at = corner.subs(v, sp.Rational(1, 4)).subs(N, ninths * L / 9)
    yield identity(rf"$1 - 2v - \frac23 \sqrt{{L/N}}$ at $v = 1/4$ and $N = {ninths} L/9$", at, 0)
    room = corner.subs({v: sp.Rational(1, 4) - w, N: (start + r) ** 2 * L})
    beyond = r / (2 * (start + r)) + 2 * w
    yield identity(r"the same for $v = 1/4 - w$ and larger $N$", room, beyond)
    yield at_least_zero("the right side is positive", beyond, strictly=True)
    least = start + r - sp.Rational(1, 3)
    yield at_least_zero(r"$\sqrt{N/L} - 1/3$ is positive", least, strictly=True)
    radius = L / 3 + sp.sqrt(L**2 / 9 + 2 * N * v * L)
    share = sp.simplify((radius / sp.sqrt(N * L)).subs(N, L / u**2))
    yield identity(
        r"the limit of the radius over $\sqrt{NL}$ as $N \to \infty$",
        sp.limit(share, u, 0, "+"),
        sp.sqrt(2 * v),
    )


# Remark 4, and all classes at once


def one_class_within_two_radii(constant: int = 2) -> Iterator[Shown]:
    """P(|N_n - N/K| >= C Delta) <= 2 delta^(2 C^2) <= delta, and what a larger delta needs.

    For delta <= 1/2 the first is enough. For delta > 1/2 the window of delta = 1/2 holds at least
    1 - 2^(1 - 2 C^2); the narrower one at least a share sqrt(ln(1/delta))/(sqrt(ln 2) + 1/4) of it,
    which has to be 1 - delta <= sqrt(1 - delta)/sqrt(2) or more.

    Args:
        constant: C; the right one is 2.
    """
    import sympy as sp

    N, L, delta = sp.symbols("N L delta", positive=True)  # L = ln(1/delta)
    exponent = -2 * (constant * sp.sqrt(N * L)) ** 2 / N
    name = r"the exponent of Hoeffding's bound, with $L = \ln(1/\delta)$"
    yield identity(name, exponent, -2 * constant**2 * L)
    failure = 2 * sp.exp(sp.simplify(exponent).subs(L, -sp.log(delta)))  # Hoeffding's bound
    room = (1 - failure / delta).subs(delta, sp.Rational(1, 2))
    yield at_least_zero(
        r"$1 - 2 \delta^{2C^2}/\delta$ at $\delta = 1/2$, for the radius $C\Delta$", room
    )
    inside = 1 - 2 ** sp.Integer(1 - 2 * constant**2)
    room = 2 * inside**2 - (sp.sqrt(sp.log(2)) + sp.Rational(1, 4)) ** 2
    yield at_least_zero(r"$2 (1 - 2^{1 - 2C^2})^2 - (\sqrt{\ln 2} + 1/4)^2$", room)
    slope = sp.diff(-sp.log(delta) - (1 - delta), delta)  # falls to 0 at delta = 1
    yield identity(r"slope of $\ln(1/\delta) - (1 - \delta)$", slope, -(1 - delta) / delta)


def all_classes_within_three_radii(constant: int = 3) -> Iterator[Shown]:
    """2L/3 + sqrt(2 N L/K) + 1 <= 3 sqrt(N a), a = ln(1/delta) >= ln 2, L = a + ln(2K), a <= N.

    With N >= 4 K^2 and K >= 2 the three terms are shares of sqrt(N a) of at most
    (2/3)(1 + sqrt(ln 2)/2), sqrt(3) and 1/(4 sqrt(ln 2)).

    Args:
        constant: of sqrt(N a); the right one is 3.
    """
    import sympy as sp

    K, a = sp.symbols("K a", positive=True)
    root = sp.sqrt(sp.log(2))
    slope = sp.diff(sp.log(2 * K) / (2 * K), K)
    yield identity(r"slope of $\ln(2K)/(2K)$", slope, (1 - sp.log(2 * K)) / (2 * K**2))
    yield at_least_zero(r"$\ln(2K)/(2K)$ falls from $K = 2$ on", sp.log(4) - 1, strictly=True)
    yield identity(r"$\ln(2K)/(2K)$ at $K = 2$", (sp.log(2 * K) / (2 * K)).subs(K, 2), root**2 / 2)
    variance = (a + sp.log(2 * K)) / K
    yield identity("$L/K$ at $K = 2$", variance.subs(K, 2), a / 2 + sp.log(2))
    total = sp.Rational(2, 3) * (1 + root / 2) + sp.sqrt(3) + 1 / (4 * root)
    yield at_least_zero(
        r"3 minus the sum of the coefficients of $\sqrt{Na}$", constant - total, strictly=True
    )


# Lemma 11, equations (63) to (65)


def slope_of_g(share: float = 1 / 3) -> Iterator[Shown]:
    """-d ln g/ds = eta M y/(M - 1 + y)^2 <= eta M/(4 (M - 1)) <= eta/3, y = e^(Mh), M >= 4.

    Args:
        share: of eta; the right one is 1/3.
    """
    import sympy as sp

    q, eta, y = sp.symbols("q eta y", positive=True)  # q = M - 1
    M, g = q + 1, 1 / (q + y)
    grown = M * eta * g * y  # dy/ds along (44)
    slope = -sp.diff(sp.log(g), y) * grown
    where = r"$-d \ln g/ds$, with $y = e^{Mh}$ and $q = M - 1$"
    yield identity(where, slope, eta * M * y / (q + y) ** 2)
    room = sp.factor(sp.together(eta * M / (4 * q) - slope))
    yield at_least_zero(r"$\eta M/(4 (M - 1))$ minus this rate", sp.factor(room * 4 * q) / (4 * q))
    yield identity("this rate at $y = M - 1$", slope.subs(y, q), eta * M / (4 * q))
    r = sp.symbols("r", nonnegative=True)  # M = 4 + r
    last = sp.nsimplify(share, rational=True, tolerance=1e-12) - M / (4 * q)
    yield at_least_zero("$1/3 - M/(4 (M - 1))$ at $M = 4 + r$", sp.factor(last.subs(q, 3 + r)))


def difference_of_one_over_g(extra: int = 0) -> Iterator[Shown]:
    """Along (44) 1/g rises by at most M eta per unit of time, and 1/g is at least M.

    Args:
        extra: added to M - 1 in the line of (45); the right number is 0.
    """
    import sympy as sp

    q, eta, y = sp.symbols("q eta y", positive=True)  # y = e^(Mh), q = M - 1
    M = q + 1
    rate = M * eta / (q + y)  # d(Mh)/ds
    whole = (y + q + extra) * rate  # of e^(Mh) + (M - 1) Mh
    yield identity("the left side of (45), per unit of time", whole, M * eta)
    yield at_least_zero(r"$M\eta$ minus the rate of $1/g$", sp.factor(M * eta - y * rate))
    yield identity("$1/g$ at $h = 0$", (q + y).subs(y, 1), M)


def slope_in_stage_2(start: float = 1.0) -> Iterator[Shown]:
    """-d ln g/d ln s <= 1 + k, k = (M - 1) x/e^x: at most 2 in stage 2, 3 from 3/4 of its start on.

    The last bounds turn |ln(g/g_m)| <= 3 |ln r| into |g/g_m - 1| <= 6 |r - 1| for r >= 3/4.

    Args:
        start: where stage 2 begins, as a share of 2 x_1/eta; the right one is 1.
    """
    import sympy as sp

    q, y, k = sp.symbols("q y k", positive=True)  # q = M - 1, y = e^x
    slope = (1 + k) * y * y / (q + y) ** 2  # s eta M y/(q + y)^2 with M eta s < (1 + k) y
    yield at_least_zero("$1 + k$ minus the slope", sp.factor(sp.together(1 + k - slope)))
    x_1 = sp.symbols("x_1", positive=True)
    begun = sp.nsimplify(start, rational=True)
    # M eta s >= (3/4) 2 M x_1 and x <= x_1, so that e^x >= (3/2) q x_1 - q x_1
    least = sp.Rational(3, 4) * begun * 2 * q * x_1 - q * x_1
    yield identity("$(M - 1) x_1$ over the least $e^x$", q * x_1 / least, sp.Integer(2))
    u, w = sp.symbols("u w", nonnegative=True)  # r = 1 - u, u = 1/4 - w
    below = 1 + 6 * u - 1 / (1 - u) ** 3
    yield identity("$1 + 6u - (1 - u)^{-3}$ at $u = 0$", below.subs(u, 0), sp.Integer(0))
    end = below.subs(u, sp.Rational(1, 4))
    yield at_least_zero("$1 + 6u - (1 - u)^{-3}$ at $u = 1/4$", end, strictly=True)
    curve = sp.diff(1 / (1 - u) ** 3, u, 2)
    yield identity("$(1 - u)^{-3}$ is convex: its second derivative", curve, 12 / (1 - u) ** 5)
    above = sp.factor(sp.together(3 * w - (1 - 1 / (1 + w) ** 3)))
    yield at_least_zero("$3w - (1 - (1 + w)^{-3})$", above)


# Lemma 12 and Corollary 1


def constant_of_theta(constant: float = 2.5) -> Iterator[Shown]:
    """sqrt(ln(2K/delta)/2) + (1 + c)/sqrt(N) <= 5/2 sqrt(ln(K/delta)), c = phi(1) ln(1 + (e-1) N).

    For K >= 2 and N >= 16; phi(1) = e - 2. The second term falls with N and is largest at N = 16;
    ln(K/delta) is at least ln 2.

    Args:
        constant: the right one is 5/2.
    """
    import sympy as sp

    a, N = sp.symbols("a N", positive=True)  # a = ln(K/delta)
    room = a - (sp.log(2) + a) / 2
    name = r"$a - \ln(2K/\delta)/2$ with $a = \ln(K/\delta)$"
    yield identity(name, room, (a - sp.log(2)) / 2)
    phi, b = sp.E - 2, sp.E - 1
    lead = 1 + phi * sp.log(1 + b * N)
    slope = sp.diff(lead / sp.sqrt(N), N) * 2 * N * sp.sqrt(N)
    expected = 2 * phi * b * N / (1 + b * N) - lead
    name = r"slope of $(1 + c)/\sqrt N$, times $2N^{3/2}$, with $c = (e - 2) \ln(1 + (e - 1) N)$"
    yield identity(name, slope, expected)
    falls = lead.subs(N, 16) - 2 * phi
    name = "a lower bound on the negative of this slope from $N = 16$ on"
    yield at_least_zero(name, falls, strictly=True)
    rest = (sp.nsimplify(constant, rational=True) - 1) * sp.sqrt(sp.log(2)) - lead.subs(N, 16) / 4
    yield at_least_zero(
        r"$(5/2 - 1) \sqrt{\ln 2}$ minus $(1 + c)/\sqrt N$ at $N = 16$", rest, strictly=True
    )


def steps_to_the_accuracy(halves: int = 1) -> Iterator[Shown]:
    """S + 1 <= ln(M/epsilon)/(epsilon eta), and half of N/K is left after the deviation.

    Accuracy epsilon in the length of the residual is epsilon sqrt(1 - 1/M) in the probability.

    Args:
        halves: of K^2 ln(2K/delta), how many times two N must be; the right number is 1.
    """
    import sympy as sp

    K, L, M, epsilon, e_2, w = sp.symbols("K L M epsilon e_2 w", positive=True)
    N = halves * 2 * K**2 * L  # L = ln(2K/delta)
    name = r"$\sqrt{NL/2}$ at $N = 2K^2 L$, with $L = \ln(2K/\delta)$"
    yield identity(name, sp.sqrt(N * L / 2), N / (2 * K))
    short = sp.sqrt(1 - 1 / M) * epsilon
    yield identity(r"$(1 - 1/M)/\epsilon'$, squared", ((1 - 1 / M) / short) ** 2,
                   (1 - 1 / M) / epsilon**2)  # fmt: skip
    # 1/epsilon + l <= l/epsilon for l >= 1/(1 - epsilon), with l = 1/(1 - epsilon) + w
    small = 1 / (1 + e_2)  # any epsilon below 1
    ell = 1 / (1 - small) + w
    yield at_least_zero(
        r"$l/\epsilon - 1/\epsilon - l$ for $l \ge 1/(1 - \epsilon)$",
        sp.factor(sp.together(ell / small - 1 / small - ell)),
    )
    yield at_least_zero(r"$\ln 200 - 2$", sp.log(200) - 2, strictly=True)


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
    yield matrices(r"$(I - E') F^\top F$", G * F, one)
    yield matrices("$F G$, transposed", (F * G).T, F * G)


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
    yield identity(r"$M\eta S$ by (45)", M * eta * S, odds + (M - 1) * sp.log(odds) - 1)


def growth_of_both(less: int = 1) -> Iterator[Shown]:
    """V = e^x + (M-1) x grows by M eta along (44), by M eta + e^x (e^d - 1 - d) in an update.

    Args:
        less: taken from M in V; the right number is 1.
    """
    import sympy as sp

    M, eta, x, d = sp.symbols("M eta x d", positive=True)

    def V(at: Expression) -> Expression:
        return sp.exp(at) + (M - less) * at

    D = M - 1 + sp.exp(x)
    yield identity(
        "growth of $V$ along (44), per unit of time", sp.diff(V(x), x) * M * eta / D, M * eta
    )
    # an update (33) moves x by d = M eta / D
    excess = sp.expand(V(x + d) - V(x) - d * D)
    yield identity(
        r"growth of $V$ in an update, beyond $M\eta$", excess, sp.exp(x) * (sp.exp(d) - 1 - d)
    )
    wider = sp.expand(D.subs(x, x + d) - D)
    yield identity("growth of $D$ in an update", wider, sp.expand(sp.exp(x) * (sp.exp(d) - 1)))


def ratio_of_growths(less: int = 1) -> Iterator[Shown]:
    """An update adds a (e^d - 1 - d)/d to c; by a d, the least growth of ln D, that is phi(d).

    D grows by D a (e^d - 1) in it, which is at most M (e^eta - 1), since a <= 1 and d <= eta.

    Args:
        less: taken from M in D; the right number is 1.
    """
    import sympy as sp

    M, eta, x, d = sp.symbols("M eta x d", positive=True)
    D = M - 1 + sp.exp(x)
    a = sp.exp(x) / (D + 1 - less)
    added = (sp.exp(x) * (sp.exp(d) - 1 - d) / (M * eta)).subs(eta, d * D / M)
    yield identity(
        "what an update adds to $c$, divided by $a d$",
        sp.simplify(added / (a * d)),
        (sp.exp(d) - 1 - d) / d**2,
    )
