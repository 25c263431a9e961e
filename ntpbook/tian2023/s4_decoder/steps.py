"""Steps of the proofs on the decoder that run: in symbols, and in exact numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ntpbook.shared.symbols import at_least_zero, formula, identity, matrices
from ntpverdicts.claims import Shown
from ntpverdicts.vocabulary import relation

# The likelihood of one class, equations (7) and (8)


def slope_in_the_decoder(target: int = 1) -> Iterator[Shown]:
    """Derivatives of log alpha_n by Y_ln and Y_lj, for the logits w = Y^T f of any vocabulary.

    What else adds to the two logits, and the weight of all other tokens, is arbitrary.

    Args:
        target: entry of e_n at the next token; the right one is 1.
    """
    import sympy as sp

    f, Y_ln, Y_lj, a, b = sp.symbols("f_l Y_ln Y_lj a b", real=True)
    rest = sp.Symbol("rest", nonnegative=True)  # 0 for two tokens
    w_n, w_j = f * Y_ln + a, f * Y_lj + b
    total = sp.exp(w_n) + sp.exp(w_j) + rest
    alpha_n, alpha_j = sp.exp(w_n) / total, sp.exp(w_j) / total
    logarithm = sp.expand_log(sp.log(alpha_n))
    yield identity(
        "derivative with respect to the entry of the next token",
        sp.diff(logarithm, Y_ln),
        f * (target - alpha_n),
    )
    yield identity(
        "derivative with respect to the entry of another token",
        sp.diff(logarithm, Y_lj),
        -f * alpha_j,
    )


def slope_in_the_rows(target: int = 1) -> Iterator[Shown]:
    """Derivatives of log softmax(w_n)_n by the logits of row n, for any vocabulary.

    Args:
        target: entry of e_n at the next token; the right one is 1.
    """
    import sympy as sp

    w_n, w_j = sp.symbols("w_nn w_nj", real=True)
    rest = sp.Symbol("rest", nonnegative=True)  # 0 for two tokens
    total = sp.exp(w_n) + sp.exp(w_j) + rest
    alpha_n, alpha_j = sp.exp(w_n) / total, sp.exp(w_j) / total
    yield identity(
        "derivative with respect to the logit of the next token",
        sp.diff(sp.log(alpha_n), w_n),
        target - alpha_n,
    )
    yield identity(
        "derivative with respect to the logit of another token",
        sp.diff(sp.log(alpha_n), w_j),
        -alpha_j,
    )


def missing_probability(spread: float = 1.0) -> Iterator[Shown]:
    """1 - alpha_nn = S/(e^w + S) > 0, rising with S, and its value at S = (M - 1) e^(w - D).

    Args:
        spread: factor of D in the exponent of the bound; the right one is 1.
    """
    import sympy as sp

    w, D = sp.symbols("w D", real=True)
    S, wrong = sp.symbols("S q", positive=True)  # weight of the wrong tokens; q = M - 1 of them
    missing = 1 - sp.exp(w) / (sp.exp(w) + S)
    yield identity(r"the missing probability $1 - \alpha_{nn}$", missing, S / (sp.exp(w) + S))
    yield at_least_zero("the missing probability is positive", sp.together(missing), strictly=True)
    slope = sp.factor(sp.diff(missing, S))
    yield at_least_zero(
        "the missing probability rises with the weight $S$ of the wrong tokens", slope
    )
    least = missing.subs(S, wrong * sp.exp(w - D))
    bound = wrong / (wrong + sp.exp(sp.nsimplify(spread) * D))
    yield identity(
        "the missing probability if all $q = M - 1$ wrong logits are $D$ below $w_{nn}$",
        least,
        bound,
    )


# Matrices of symbolic size


def rows_move_alone(sign: int = 1) -> Iterator[Shown]:
    """F^T (F - F E') = I for E' = sign (I - (I + E)^-1), with I + E = F^T F."""
    import sympy as sp

    K, M = sp.symbols("K M", integer=True, positive=True)
    F, one = sp.MatrixSymbol("F", M, K), sp.Identity(K)
    E = F.T * F - one
    E_prime = sign * (one - (one + E).doit().inverse())
    moved = F.T * (F - F * E_prime)
    yield matrices(r"a step along $f_n - F E' e_n$ moves $F^\top Y$ by $e_n$", moved, one)


def forms_of_E_prime(sign: int = 1) -> Iterator[Shown]:
    """I - (I + E)^-1 undoes I + E, and is E (I + E)^-1; an eigenvalue x becomes x - x^2/(1 + x).

    Args:
        sign: of E'; the right one is 1, Appendix D.1 prints -1.
    """
    import sympy as sp

    K = sp.Symbol("K", integer=True, positive=True)
    A, one = sp.MatrixSymbol("A", K, K), sp.Identity(K)  # A = I + E
    E_prime = sign * (one - A.inverse())
    undone = A * (one - E_prime)
    tex = formula(E_prime).strip("$")
    yield matrices("$(I + E)(I - E')$ with $A = I + E$", undone, one, rf"$A (I - ({tex}))$")
    yield matrices("$E (I + E)^{-1}$ with $E = A - I$", (A - one) * A.inverse(), E_prime)
    p = sp.Symbol("p", positive=True)  # 1 + x, an eigenvalue of I + E
    yield identity(
        "the eigenvalue of $E'$ for the eigenvalue $x = p - 1$ of $E$",
        sign * (1 - 1 / p),
        (p - 1) - (p - 1) ** 2 / p,
    )
    yield at_least_zero("$x$ minus this eigenvalue is not negative", (p - 1) ** 2 / p)


def size_of_the_modification(power: int = 2) -> Iterator[Shown]:
    """|F E' v|^2 = v^T E' (I + E) E' v: an eigenvalue x of E gives x^2/(1 + x), most for x < 0.

    Args:
        power: of x; the right one is 2.
    """
    import sympy as sp

    p, r = sp.symbols("p r", positive=True)
    x = p - 1  # an eigenvalue of E; I + E has p
    yield identity(
        "the eigenvalue of $E' (I + E) E'$ for an eigenvalue $p$ of $I + E$",
        (1 - 1 / p) * p * (1 - 1 / p),
        x**power / (1 + x),
    )
    # every size below 1 is l = r/(1 + r), rising with r
    size = r / (1 + r)
    negative, positive = size**2 / (1 - size), size**2 / (1 + size)
    yield at_least_zero(
        "$x^2/(1 - x)$ rises with $x = r/(1 + r)$", sp.factor(sp.diff(sp.cancel(negative), r))
    )
    gap = sp.factor(sp.cancel(sp.together(negative - positive)))
    yield at_least_zero("$x^2/(1 - x)$ minus $x^2/(1 + x)$, for $x = r/(1 + r)$", gap)


# Assumption 2


def window_of_assumption_2(square: int = 36) -> Iterator[Shown]:
    """Eigenvalues of a pair and of a triple of classes, and where the window opens.

    Args:
        square: M/K^2 from which on 6/sqrt(M) is below 1/K; the right number is 36.
    """
    import sympy as sp

    x, odds, M, K = sp.symbols("x o M K", positive=True)
    first, second = sp.Matrix([odds, 1, 0]), sp.Matrix([odds, 0, 1])
    product = first.dot(second) / sp.sqrt(first.dot(first) * second.dot(second))
    chosen = product.subs(odds, sp.sqrt(x / (1 - x)))
    yield identity("squared inner product of two classes that share a token", chosen**2, x**2)
    pair, triple = x * (sp.ones(2) - sp.eye(2)), x * (sp.ones(3) - sp.eye(3))
    t = sp.Symbol("t")
    yield identity(
        r"two classes: eigenvalues $\pm x$", pair.charpoly(t).as_expr(), (t - x) * (t + x)
    )
    yield identity(
        "three classes: eigenvalues $2x$, $-x$, $-x$",
        triple.charpoly(t).as_expr(),
        (t - 2 * x) * (t + x) ** 2,
    )
    for bound, factor in ((6 / sp.sqrt(M), square), (sp.sqrt(6 / M), 6)):
        gap = bound**2 - 1 / K**2
        yield identity(f"{formula(bound)} against $1/K$", gap * M * K**2, factor * K**2 - M)


def equal_correlations(less: int = 1) -> Iterator[Shown]:
    """x (J - I) has the eigenvalue (K - 1) x on (1, ..., 1) and -x on e_1 - e_2, for symbolic K.

    Args:
        less: taken from K; the right number is 1.
    """
    import sympy as sp

    K = sp.Symbol("K", integer=True, positive=True)
    x = sp.Symbol("x", positive=True)
    E = x * (sp.OneMatrix(K, K) - sp.Identity(K))
    ones = sp.OneMatrix(K, 1)
    yield identity(r"an entry of $E (1, \dots, 1)^\top$", (E * ones)[0, 0].doit(), (K - less) * x)
    i = sp.Symbol("i", integer=True)
    first, second = (x * (1 - sp.KroneckerDelta(i, j)) for j in (1, 2))  # columns 1 and 2 of E
    difference = sp.KroneckerDelta(i, 1) - sp.KroneckerDelta(i, 2)
    yield identity("entry $i$ of $E (e_1 - e_2)$", first - second, -x * difference)


# One class for many steps: Lemma 5


def step_of_the_rows(less: int = 1) -> Iterator[Shown]:
    """One step (8) from the logits (M - 1) h at n and -h elsewhere, for symbolic M and h.

    Args:
        less: taken from M in the denominator of (33); the right number is 1.
    """
    import sympy as sp

    M, eta = sp.symbols("M eta", positive=True)
    h = sp.Symbol("h", real=True)
    right, other = sp.exp((M - 1) * h), sp.exp(-h)
    total = right + (M - 1) * other
    alpha_n, alpha_j = right / total, other / total
    D = M - less + sp.exp(M * h)
    zeta_n, zeta_j = M / (M - 1) * (1 - 1 / M), -M / (M - 1) / M
    later = (M - 1) * (h + eta / D)  # with h* of (33) after the step
    yield identity(r"$\alpha_{nn}$", alpha_n, sp.exp(M * h) / D)
    yield identity(r"$\alpha_{nj}$", alpha_j, 1 / D)
    yield identity(r"$e_n - \alpha_n$ at $n$", 1 - alpha_n, (M - 1) / D * zeta_n)
    yield identity(r"$e_n - \alpha_n$ at $j$", -alpha_j, (M - 1) / D * zeta_j)
    yield identity(
        "the logit of $n$ after the step", (M - 1) * h + eta * (1 - alpha_n), later * zeta_n
    )
    yield identity("another logit after the step", -h - eta * alpha_j, later * zeta_j)


# Equal correlations: Remark 1


def gaps_of_equal_correlations(slow: bool = False) -> Iterator[Shown]:
    """u and v under the mean of (7) with f_n . f_n' = rho, from the residuals of all classes.

    Row n moves by its own residual and rho times that of every other class; its three different
    entries move by a (at n), b (at K - 1 other classes) and c (at M - K other tokens).

    Args:
        slow: whether v, too, has the rate 1 - rho, as Remark 1 has it.
    """
    import sympy as sp

    M, K, rho = sp.symbols("M K rho", positive=True)
    others, strangers = sp.symbols("e^-u e^-v", positive=True)
    total = 1 + (K - 1) * others + (M - K) * strangers
    p_n, p_b, p_c = 1 / total, others / total, strangers / total
    a = (1 - p_n) - rho * (K - 1) * p_b
    b = -p_b + rho * (1 - p_n) - rho * (K - 2) * p_b
    c = -p_c - rho * (K - 1) * p_c
    u_slope = (1 - rho) * (1 - p_n + p_b)
    v_slope = 1 - p_n - rho * (K - 1) * p_b + (1 + (K - 1) * rho) * p_c
    v_slope = (1 - rho) * (1 - p_n + p_c) if slow else v_slope
    start = {others: 1, strangers: 1}
    square = (1 - rho) * M / (1 / others + M - 1)  # (44) for x = u at the rate (1 - rho) eta
    bound = (1 + (M - 1) * rho) / (1 - rho)
    zero = sp.Integer(0)
    yield identity(
        "the slopes of all entries of a row of $W$ add up to zero",
        a + (K - 1) * b + (M - K) * c,
        zero,
    )
    yield identity("the slope of $u$", a - b, u_slope)
    yield identity("the slope of $v$", a - c, v_slope)
    yield identity("the initial slope of $u$", (a - b).subs(start), 1 - rho)
    yield identity("the initial slope of $v$", (a - c).subs(start), sp.Integer(1))
    yield identity("the slope of $u$ for $K = M$", (a - b).subs(K, M), square)
    lead = (1 - rho) * p_b * (bound * strangers / others - 1)
    yield identity("the slope of $v - u$", b - c, lead)


# The height in continuous time: Lemma 6


def integrated_height(slope: int = 1) -> Iterator[Shown]:
    """d/dt (e^(Mh) + (M - 1) M h) = M eta along (44), and 1 at h = 0.

    Args:
        slope: taken from M in the linear term; the right number is 1.
    """
    import sympy as sp

    M, eta, h = sp.symbols("M eta h", positive=True)
    left = sp.exp(M * h) + (M - slope) * M * h
    moved = sp.diff(left, h) * eta / (M - 1 + sp.exp(M * h))
    yield identity("derivative of the left side of (45) along (44)", moved, M * eta)
    yield identity("value of the left side of (45) at $h = 0$", left.subs(h, 0), sp.Integer(1))


def closed_height(offset: int = 1) -> Iterator[Shown]:
    """With w e^w = e^c/q the number x = c - w solves e^x + q x = q c, and q c = M tau + 1.

    Args:
        offset: added to M tau in c; the right number is 1.
    """
    import sympy as sp

    w, q, M, tau = sp.symbols("w q M tau", positive=True)  # q = M - 1
    c = (M * tau + offset) / q
    exponential = q * (w * sp.exp(w)) / sp.exp(w)  # e^(c - w) = e^c/e^w
    yield identity("(45) at $x = c - w$", exponential + q * (c - w), M * tau + 1)
    x = sp.Symbol("x", real=True)
    slope = sp.diff(sp.exp(x) + q * x, x)
    yield at_least_zero("the left side of (45) rises with $x$", slope, strictly=True)


# Steps and curve: Lemma 7, Remark 2


def steps_above_the_curve(start: int = 1) -> Iterator[Shown]:
    """The slope g(x) = M eta/(M - 1 + e^x) falls from eta, by how much between two heights.

    Args:
        start: the slope at 0 over eta; the right number is 1.
    """
    import sympy as sp

    q, eta = sp.symbols("q eta", positive=True)  # q = M - 1
    x, y, b = sp.symbols("x y b", real=True)
    slope = (q + 1) * eta / (q + sp.exp(x))
    yield at_least_zero("the slope $g(x)$ decreases", -sp.diff(slope, x), strictly=True)
    yield identity("the slope $g(0)$", slope.subs(x, 0), start * eta)
    fall = (slope.subs(x, b) - slope.subs(x, y)) * (q + sp.exp(y)) * (q + sp.exp(b))
    yield identity(
        "$g(b) - g(y)$, times both denominators", fall, (q + 1) * eta * (sp.exp(y) - sp.exp(b))
    )


def difference_of_slopes(less: int = 1) -> Iterator[Shown]:
    """1/(q + e^(a+e)) - 1/(q + e^b) = -e^a (e^e - e^(b-a))/((q + e^(a+e))(q + e^b)), e = M epsilon.

    Args:
        less: factor of e^(b - a); the right number is 1.
    """
    import sympy as sp

    q = sp.symbols("q", positive=True)
    a, b, e = sp.symbols("a b d", real=True)  # shown as d: e looks like Euler's number
    first, second = q + sp.exp(a + e), q + sp.exp(b)
    numerator = sp.expand((1 / first - 1 / second) * first * second)
    expected = -sp.exp(a) * (sp.exp(e) - less * sp.exp(b - a))
    yield identity(
        r"the numerator of the difference of slopes, with $a = Mh(s)$, $b = Mh(s + 1)$, "
        r"$d = M\epsilon$",
        sp.simplify(numerator),
        expected,
    )


def growth_of_the_shift(less: int = 1) -> Iterator[Shown]:
    """One update adds e^y (e^g - 1 - g)/(M eta) to the shift, and two bounds on e^g - 1 - g.

    Args:
        less: taken from M in the line of (45); the right number is 1.
    """
    import sympy as sp

    q, g, y = sp.symbols("q g y", positive=True)
    rate = (q + sp.exp(y)) * g  # M eta, as g = M eta/(q + e^y)

    def passage(x: Any) -> Any:
        return (sp.exp(x) + (q + 1 - less) * x - 1) / rate  # T(x) of (45)

    added = passage(y + g) - passage(y) - 1
    yield identity(
        "what one update from $y = Mh^*$ adds to the shift",
        added,
        sp.exp(y) * (sp.exp(g) - 1 - g) / rate,
    )
    low, high = sp.exp(g) - 1 - g - g**2 / 2, g / 2 * (sp.exp(g) - 1) - (sp.exp(g) - 1 - g)
    for name, function in (
        ("$e^g - 1 - g - g^2/2$", low),
        ("$g(e^g - 1)/2 - (e^g - 1 - g)$", high),
    ):
        for order in (0, 1):
            value = sp.diff(function, g, order).subs(g, 0)
            yield identity(f"{name} at $g = 0$, derivative of order {order}", value, sp.Integer(0))
    # both are convex: their second derivatives are e^g - 1 and g e^g/2
    yield identity(
        "second derivative of $e^g - 1 - g - g^2/2$",
        sp.diff(low, g, 2),
        sp.exp(g) - 1,
    )
    yield at_least_zero(
        "second derivative of $g(e^g - 1)/2 - (e^g - 1 - g)$", sp.simplify(sp.diff(high, g, 2))
    )


def sums_and_integrals(square: int = 2) -> Iterator[Shown]:
    """e^y/(q + e^y), the derivative of ln(q + e^y), rises; and r - 1 <= ln r + (r - 1)^2/2.

    The first is the integrand of the lower bound's Riemann sum, the second serves the upper bound.

    Args:
        square: the power of r - 1 in the bound on r - 1 - ln r; the right one is 2.
    """
    import sympy as sp

    q, r = sp.symbols("q r", positive=True)
    y = sp.Symbol("y", real=True)
    share = sp.exp(y) / (q + sp.exp(y))
    yield identity(
        r"the integrand, which is the derivative of $\ln(q + e^y)$",
        sp.diff(sp.log(q + sp.exp(y)), y),
        share,
    )
    yield at_least_zero("the integrand increases with $y$", sp.factor(sp.diff(share, y)))
    taylor = (r - 1) ** square / 2 + sp.log(r) - (r - 1)  # at least 0 for r >= 1
    yield identity(
        r"$r - 1 \le \ln r + (r - 1)^2/2$: both sides at $r = 1$", taylor.subs(r, 1), sp.Integer(0)
    )
    yield at_least_zero(r"slope of $\ln r + (r - 1)^2/2 - (r - 1)$", sp.factor(sp.diff(taylor, r)))


def half_a_logarithm(limit: int = 1) -> Iterator[Shown]:
    """Along the curve e^L/(eta s) and s x'(s) tend to 1, with M eta s = e^x + (M - 1) x - 1.

    Args:
        limit: of both; the right number is 1.
    """
    import sympy as sp

    X, M, eta = sp.symbols("X M eta", positive=True)  # X = e^x
    s = (X + (M - 1) * sp.log(X) - 1) / (M * eta)  # (45)
    level, slope = (M - 1 + X) / M, M * eta / (M - 1 + X)  # e^L and x'
    one = sp.Integer(limit)
    yield identity(
        r"limit of $e^L/(\eta s)$ as $x \to \infty$", sp.limit(level / (eta * s), X, sp.oo), one
    )
    yield identity(r"limit of $s x'(s)$ as $x \to \infty$", sp.limit(s * slope, X, sp.oo), one)


# Where the exponential takes over: Lemma 8, Remark 3


def lower_crossing(least: int = 8) -> Iterator[Shown]:
    """The line (M - 1) x is above e^x at x = (1 + 3/M)/M for M >= 8; M = 5, 6, 7 with 4 for 3.

    Args:
        least: the smallest M for which 3 is enough; the right number is 8.
    """
    import sympy as sp

    M = sp.Symbol("M", positive=True)
    x = (1 + 3 / M) / M
    margin = sp.expand(((M - 1) * x - (1 + x + x**2)) * M)  # e^x <= 1 + x + x^2 on [0, 1]
    yield identity(
        "the line minus $1 + x + x^2$ at $x = (1 + 3/M)/M$, times $M$",
        margin,
        1 - 7 / M - 6 / M**2 - 9 / M**3,
    )
    r = sp.Symbol("r", nonnegative=True)  # M = 8 + r
    grown = sp.factor(sp.together(margin.subs(M, least + r)))
    yield at_least_zero(f"this difference for $M = {least} + r$", grown, strictly=True)
    y = sp.Symbol("y", nonnegative=True)
    gap = 1 + y + y**2 - sp.exp(y)  # 0 at 0 with its slope; its slope 1 + 2y - e^y is concave
    yield identity("$1 + y + y^2 - e^y$ at 0", gap.subs(y, 0), sp.Integer(0))
    yield identity("slope of $1 + y + y^2 - e^y$ at 0", sp.diff(gap, y).subs(y, 0), sp.Integer(0))
    yield at_least_zero(
        "slope of $1 + y + y^2 - e^y$ at 1", sp.diff(gap, y).subs(y, 1), strictly=True
    )
    yield at_least_zero(
        "minus the third derivative of $1 + y + y^2 - e^y$", -sp.diff(gap, y, 3), strictly=True
    )
    for m in (5, 6, 7):
        at = sp.Rational(m + 4, m**2)
        yield at_least_zero(
            f"the line minus the exponential at $x = (1 + 4/{m})/{m}$", (m - 1) * at - sp.exp(at)
        )


def upper_crossing(double: int = 2) -> Iterator[Shown]:
    """With L = ln M the line is above e^x at x = L + ln L, and below it at x = L + 2 ln L.

    Args:
        double: factor of ln L in the second; 2 is enough.
    """
    import sympy as sp

    L = sp.Symbol("L", positive=True)
    five = sp.log(5)
    gap = L**double - L - double * sp.log(L)  # e^x - M x at x = L + 2 ln L, divided by M
    yield identity(
        r"slope of $L^2 - L - 2 \ln L$, times $L$", sp.diff(gap, L) * L, 2 * L**2 - L - 2
    )
    yield at_least_zero(
        "this slope times $L$, which rises with $L$, at $M = 5$",
        2 * five**2 - five - 2,
        strictly=True,
    )
    yield at_least_zero(
        r"$e^x - Mx$ at $x = L + 2 \ln L$ for $M = 5$, divided by $M$",
        gap.subs(L, five),
        strictly=True,
    )
    # (M - 1)(L + ln L) - M L = (M - 1) ln L - L, whose slope in M is at least ln L - 1/M
    yield at_least_zero(
        r"the line minus the exponential at $x = L + \ln L$ for $M = 5$",
        4 * sp.log(five) - five,
        strictly=True,
    )
    yield at_least_zero(
        "the slope in $M$ of the line minus the exponential, at $M = 5$",
        sp.log(five) - sp.Rational(1, 5),
        strictly=True,
    )


def first_update(power: int = 100) -> Iterator[Shown]:
    """h(1) is past the lower crossing if M eta >= 2 (M - 1) x_0 - 1, which is at most 1 + 4/M.

    Args:
        power: one over the exponent 0.01 of M; the right number is 100.
    """
    import sympy as sp

    M = sp.Symbol("M", positive=True)
    needed = 2 * (M - 1) * (1 + 3 / M) / M - 1  # with x_0 <= (1 + 3/M)/M
    yield identity(
        r"a value of $M\eta$ that takes $h(1)$ to the lower crossing",
        sp.expand(needed),
        1 + 4 / M - 6 / M**2,
    )
    found = Fraction(104, 100) ** power
    rest = sp.expand(1 + 4 / M - needed)
    yield at_least_zero(r"$1 + 4/M$ minus this value", rest, strictly=True)
    yield relation(
        rf"$(1 + 4/M)^{{{power}}} \le M$ at $M = 100$",
        f"$1.04^{{{power}}}$",
        "<=",
        100,
        found - 100,
    )
    yield at_least_zero("minus the slope of $1 + 4/M$", -sp.diff(1 + 4 / M, M), strictly=True)


# Two stages: Lemma 9


def two_stages(less: int = 1) -> Iterator[Shown]:
    """The inequalities behind both stages; with q = M - 1, (45) is e^x + q x = M tau + 1.

    Args:
        less: taken from M in q; the right number is 1.
    """
    import sympy as sp

    M, x, y = sp.symbols("M x y", positive=True)  # y = e^x
    q = M - less
    margin = q + q * sp.log(q) - M * sp.log(M) - 1  # (45) at x = ln q against tau = ln M
    yield identity(
        r"slope in $M$ of $q + q \ln q - M \ln M - 1$", sp.diff(margin, M), 1 + sp.log(q / M)
    )
    yield at_least_zero(
        "this slope, which rises with $M$, at $M = 5$", 1 + sp.log(sp.Rational(4, 5)), strictly=True
    )
    yield at_least_zero(
        r"$e^x \le q$ at $\tau = \ln M$, for $M = 5$", margin.subs(M, 5), strictly=True
    )
    # M tau_1 + 1 = 2 q x_1 at the upper crossing
    yield identity(r"$2x_1 - \tau_1$", 2 * x - (2 * q * x - 1) / M, (2 * x + 1) / M)
    slope = M / (q + y)
    yield identity("$1/x' - 1$, with $y = e^x$", 1 / slope - 1, (y - 1) / M)
    p = sp.Symbol("q", positive=True)
    half = (p + 1) / (p + p) - sp.Rational(1, 2)
    yield at_least_zero("$x' - 1/2$ where $e^x = q$", sp.factor(half))
    gamma = q**2 / M * x / (q + y)
    yield identity(r"$\gamma$ where $e^x = 1$", gamma.subs(y, 1), q**2 / M**2 * x)
    yield identity(r"$\gamma$ where $e^x = q$", gamma.subs(y, q), q / (2 * M) * x)
    rest = p**3 * x / ((p + 1) * y * (p + y))
    above = (p**2 / (p + 1) * x / y) - gamma.subs(M, p + 1)
    yield identity(r"$(q^2/M) x e^{-x} - \gamma$", sp.together(above), rest)
