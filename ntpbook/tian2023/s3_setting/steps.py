"""Steps of the proofs on the setting that run, for a vocabulary of any size.

A vector of any length enters through the entries that a derivative touches; all other entries are
one symbol, the `rest` of the sum. So each identity covers every size.
"""

from __future__ import annotations

from collections.abc import Iterator

from ntpbook.shared.symbols import at_least_zero, identity
from ntpcore.verdicts.claims import Shown


def softmax_jacobian() -> Iterator[Shown]:
    """db_i/ds_j = b_i (delta_ij - b_j) for b = softmax(s)."""
    import sympy as sp

    s, t = sp.symbols("s_i s_j", real=True)
    rest = sp.symbols("rest", nonnegative=True)
    whole = sp.exp(s) + sp.exp(t) + rest
    b, other = sp.exp(s) / whole, sp.exp(t) / whole
    yield identity("db_i/ds_i", sp.diff(b, s), b * (1 - b))
    yield identity("db_i/ds_j", sp.diff(b, t), -b * other)


def likelihood_slope() -> Iterator[Shown]:
    """The derivative of log alpha_n is 1 - alpha_n in its own logit and -alpha_k in another."""
    import sympy as sp

    w_n, w_k = sp.symbols("w_n w_k", real=True)
    rest = sp.symbols("rest", positive=True)
    whole = sp.exp(w_n) + sp.exp(w_k) + rest
    alpha_n, alpha_k = sp.exp(w_n) / whole, sp.exp(w_k) / whole
    logarithm = sp.expand_log(sp.log(alpha_n))
    yield identity("d log alpha_n/dw_n", sp.diff(logarithm, w_n), 1 - alpha_n)
    yield identity("d log alpha_n/dw_k", sp.diff(logarithm, w_k), -alpha_k)


def unit_jacobian() -> Iterator[Shown]:
    """d(v_i/|v|)/dv_j = (delta_ij - v_i v_j/|v|^2)/|v|, which is P_v/|v|."""
    import sympy as sp

    v, w = sp.symbols("v_i v_j", real=True)
    rest = sp.symbols("rest", positive=True)  # the squares of all other entries
    norm = sp.sqrt(v**2 + w**2 + rest)
    yield identity("d(v_i/|v|)/dv_i", sp.diff(v / norm, v), (1 - v**2 / norm**2) / norm)
    yield identity("d(v_i/|v|)/dv_j", sp.diff(v / norm, w), -v * w / norm**3)


def centre_drops() -> Iterator[Shown]:
    """P_v v = 0: row i of P_v times v, over v_i, another v_j and all others."""
    import sympy as sp

    v, w = sp.symbols("v_i v_j", real=True)
    rest = sp.symbols("rest", positive=True)  # the squares of all other entries
    square = v**2 + w**2 + rest
    own, other, others = 1 - v**2 / square, -v * w / square, -v * rest / square
    yield identity("row i of P_v v", own * v + other * w + others, sp.Integer(0))


def mean_drops() -> Iterator[Shown]:
    """Standard LayerNorm: which parts of the chain rule stay, v = X^T b with sum 1 over M entries.

    The entries are v_i, v_j and M - 2 others, which enter by their mean m only; u = v - 1/M.
    """
    import sympy as sp

    v, w, M = sp.symbols("v_i v_j M", positive=True)
    m = (1 - v - w) / (M - 2)  # mean of the others, as all entries sum to 1
    mean = sp.simplify((v + w + (M - 2) * m) / M)
    yield identity("the mean of X^T b", mean, 1 / M)
    # column i of diag(v) - v v^T sums to 0, so subtracting the mean first changes nothing
    column = v * (1 - v) - w * v - (M - 2) * m * v
    yield identity("column sum of diag(v) - v v^T", column, sp.Integer(0))
    # row i of P_u 1 is 1 - u_i (sum of u)/|u|^2, so P_u v = P_u (u + 1/M) = 1/M in every row
    u_i, square = v - 1 / M, sp.symbols("square", positive=True)
    total = (v - 1 / M) + (w - 1 / M) + (M - 2) * (m - 1 / M)
    yield identity("row i of P_u 1", 1 - u_i * total / square, sp.Integer(1))


def errors_sum_to_zero() -> Iterator[Shown]:
    """(x_(T+1) - alpha)^T 1 = 0: one minus the sum of all probabilities of a softmax."""
    import sympy as sp

    w = sp.symbols("w_n", real=True)
    rest = sp.symbols("rest", positive=True)
    whole = sp.exp(w) + rest
    wrong = [1 - sp.exp(w) / whole, -rest / whole]  # at the next token; all others together
    yield identity("sum of x_(T+1) - alpha", sum(wrong), sp.Integer(0))


def orthonormal_norms() -> Iterator[Shown]:
    """|U^T v|^2 = v^T U U^T v, which is |v|^2 when U U^T = I, for matrices of symbolic size."""
    import sympy as sp

    M, d = sp.symbols("M d", integer=True, positive=True)
    U, v = sp.MatrixSymbol("U", M, d), sp.MatrixSymbol("v", M, 1)
    square = ((U.T * v).T * (U.T * v)).doit()
    known = sp.MatMul(v.T, U, U.T, v)
    rest = (square - known.doit()).doit()
    zero = rest.is_ZeroMatrix is True
    yield Shown("|U^T v|^2", str(square), "=", str(known), "0" if zero else str(rest), zero)
    length = known.subs(U * U.T, sp.Identity(M)).doit()
    rest = (length - v.T * v).doit()
    zero = rest.is_ZeroMatrix is True
    yield Shown(f"{known} with U U^T = I", str(length), "=", "v.T*v", str(rest), zero)


def gaussian_products() -> Iterator[Shown]:
    """Moments of a b and of a^2 for independent normal a, b of variance v, by integration."""
    import sympy as sp

    a = sp.symbols("a", real=True)
    v, d = sp.symbols("v d", positive=True)
    density = sp.exp(-(a**2) / (2 * v)) / sp.sqrt(2 * sp.pi * v)
    first, second = (sp.integrate(a**k * density, (a, -sp.oo, sp.oo)) for k in (1, 2))
    yield identity("mean of one product", first * first, sp.Integer(0))  # they are independent
    yield identity("mean of its square", second * second, v**2)
    yield identity("d times that at v = 1/d", (d * second**2).subs(v, 1 / d), 1 / d)


def hoeffding() -> Iterator[Shown]:
    """The computation in Hoeffding's inequality for a coin, and the radius that gives delta.

    phi(s) = ln E exp(s (coin - p)) has phi(0) = phi'(0) = 0 and phi'' = u (1 - u) <= 1/4, so that
    phi(s) <= s^2/8; the exponent N (s^2/8 - s r) is least at s = 4 r, where it is -2 N r^2.
    """
    import sympy as sp

    s, r, w = sp.symbols("s r w", real=True)
    p, N, delta, S = sp.symbols("p N delta S", positive=True)
    mean = (1 - p) * sp.exp(-s * p) + p * sp.exp(s * (1 - p))  # E exp(s (coin - p))
    phi = sp.log(1 - p + p * sp.exp(s)) - p * s
    u = p * sp.exp(s) / (1 - p + p * sp.exp(s))
    zero, half = sp.Integer(0), sp.Rational(1, 2)
    yield identity("exp(phi) is the mean of exp(s (coin - p))", sp.exp(phi), mean)
    yield identity("phi(0)", phi.subs(s, 0), zero)
    yield identity("phi'(0)", sp.diff(phi, s).subs(s, 0), zero)
    yield identity("phi''", sp.diff(phi, s, 2), u * (1 - u))
    yield identity("1/4 - w (1 - w)", half**2 - w * (1 - w), (w - half) ** 2)
    yield at_least_zero("a square", (w - half) ** 2)
    exponent = N * (s**2 / 8 - s * r)
    yield identity("slope of the exponent at s = 4 r", sp.diff(exponent, s).subs(s, 4 * r), zero)
    yield identity("the exponent there", exponent.subs(s, 4 * r), -2 * N * r**2)
    radius = sp.sqrt(sp.log(2 * S / delta) / (2 * N))
    total = 2 * S * sp.exp(-2 * N * radius**2)
    yield identity("2 S failures with the radius for S tokens", total, delta)
