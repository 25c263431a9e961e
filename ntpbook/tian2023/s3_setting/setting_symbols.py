"""Identities behind Section 3 of Tian et al. (2023), by sympy, for a vocabulary of any size.

A vector of any length enters through the entries that a derivative touches; all other entries are
one symbol, the `rest` of the sum. So each identity covers every size.
"""

from __future__ import annotations

from functools import cache


@cache
def softmax_jacobian() -> bool:
    """db_i/ds_j = b_i (delta_ij - b_j) for b = softmax(s)."""
    import sympy as sp

    s, t = sp.symbols("s t", real=True)
    rest = sp.symbols("rest", nonnegative=True)
    whole = sp.exp(s) + sp.exp(t) + rest
    b, other = sp.exp(s) / whole, sp.exp(t) / whole
    same = sp.simplify(sp.diff(b, s) - b * (1 - b))
    across = sp.simplify(sp.diff(b, t) + b * other)
    return bool(same == 0 and across == 0)


@cache
def likelihood_slope() -> bool:
    """The derivative of log alpha_n is 1 - alpha_n in its own logit and -alpha_k in another."""
    import sympy as sp

    a, b = sp.symbols("a b", real=True)
    rest = sp.symbols("rest", nonnegative=True)
    whole = sp.exp(a) + sp.exp(b) + rest
    log_alpha = a - sp.log(whole)
    own = sp.simplify(sp.diff(log_alpha, a) - (1 - sp.exp(a) / whole))
    other = sp.simplify(sp.diff(log_alpha, b) + sp.exp(b) / whole)
    return bool(own == 0 and other == 0)


@cache
def unit_jacobian() -> bool:
    """d(v_i/|v|)/dv_j = (delta_ij - v_i v_j / |v|^2) / |v|, which is P_v / |v|."""
    import sympy as sp

    v, w = sp.symbols("v w", real=True)
    rest = sp.symbols("rest", positive=True)  # the squares of all other entries
    norm = sp.sqrt(v**2 + w**2 + rest)
    own = sp.simplify(sp.diff(v / norm, v) - (1 - v**2 / norm**2) / norm)
    across = sp.simplify(sp.diff(v / norm, w) + v * w / norm**3)
    return bool(own == 0 and across == 0)


@cache
def centre_drops() -> bool:
    """P_v v = 0: an entry is v_i - v_i (v_i^2 + rest) / |v|^2."""
    import sympy as sp

    v, rest = sp.symbols("v rest", positive=True)
    return bool(sp.simplify(v - v * (v**2 + rest) / (v**2 + rest)) == 0)


@cache
def counts_are_diagonal() -> bool:
    """x_l x_k = delta_lk x_l for one-hot rows, so that X^T diag(b) X = diag(X^T b), any b."""
    import sympy as sp

    token, entry, other = sp.symbols("token l k", integer=True)
    product = sp.KroneckerDelta(token, entry) * sp.KroneckerDelta(token, other)
    diagonal = sp.KroneckerDelta(entry, other) * sp.KroneckerDelta(token, entry)
    cases = [(p, q, r) for p in range(3) for q in range(3) for r in range(3)]
    # only which of the three are equal matters, so three values cover all cases
    return all(
        (product - diagonal).subs({token: p, entry: q, other: r}).doit() == 0 for p, q, r in cases
    )


@cache
def errors_sum_to_zero() -> bool:
    """(x_(T+1) - alpha)^T 1 = 0: one minus the sum of all probabilities."""
    import sympy as sp

    a = sp.symbols("a", real=True)
    rest = sp.symbols("rest", positive=True)
    whole = sp.exp(a) + rest
    return bool(sp.simplify(1 - sp.exp(a) / whole - rest / whole) == 0)


@cache
def length_cancels() -> bool:
    """N P e^z / (N P e^z + N rest) = P e^z / (P e^z + rest): equation (5) needs no length."""
    import sympy as sp

    N, P, rest = sp.symbols("N P rest", positive=True)
    z = sp.symbols("z", real=True)
    long = N * P * sp.exp(z) / (N * P * sp.exp(z) + N * rest)
    return bool(sp.simplify(long - P * sp.exp(z) / (P * sp.exp(z) + rest)) == 0)


@cache
def orthonormal_norms() -> bool:
    """|U^T v|^2 = |v|^2 when U U^T = I, for matrices of symbolic size."""
    import sympy as sp

    M, d = sp.symbols("M d", integer=True, positive=True)
    U, v = sp.MatrixSymbol("U", M, d), sp.MatrixSymbol("v", M, 1)
    product = sp.MatMul(v.T, U, U.T, v)
    found = product.subs(U * U.T, sp.Identity(M)).doit()
    left = ((U.T * v).T * (U.T * v)).doit()
    return bool(left == product.doit() and found == (v.T * v).doit())


@cache
def hoeffding_steps() -> bool:
    """The computation in Hoeffding's inequality for a coin, and the radius that gives delta.

    phi(s) = ln(1 - p + p e^s) - p s has phi(0) = phi'(0) = 0 and phi'' = u (1 - u) <= 1/4, so that
    phi(s) <= s^2 / 8; the exponent N (s^2 / 8 - s r) is least at s = 4 r, where it is -2 N r^2.
    """
    import sympy as sp

    s, r = sp.symbols("s r", real=True)
    p, N, delta, S = sp.symbols("p N delta S", positive=True)
    phi = sp.log(1 - p + p * sp.exp(s)) - p * s
    u = p * sp.exp(s) / (1 - p + p * sp.exp(s))
    starts = phi.subs(s, 0).simplify() == 0 and sp.diff(phi, s).subs(s, 0).simplify() == 0
    curved = sp.simplify(sp.diff(phi, s, 2) - u * (1 - u)) == 0
    w = sp.symbols("w", real=True)
    quarter = sp.expand(sp.Rational(1, 4) - w * (1 - w) - (w - sp.Rational(1, 2)) ** 2) == 0
    exponent = N * (s**2 / 8 - s * r)
    best = sp.simplify(exponent.subs(s, 4 * r) + 2 * N * r**2) == 0
    least = sp.diff(exponent, s).subs(s, 4 * r).simplify() == 0
    chosen = sp.sqrt(sp.log(2 * S / delta) / (2 * N))
    total = sp.simplify(2 * S * sp.exp(-2 * N * chosen**2) - delta) == 0
    return bool(starts and curved and quarter and best and least and total)
