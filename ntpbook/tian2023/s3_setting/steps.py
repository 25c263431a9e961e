"""Steps of the proofs on the setting that run, for a vocabulary of any size.

A vector of any length enters through the entries that a derivative touches; all other entries are
one symbol, the `rest` of the sum. So each identity covers every size.
"""

from __future__ import annotations

from collections.abc import Iterator

from ntpbook.shared.symbols import at_least_zero, formula, identity
from ntpverdicts.claims import Shown


def positions_shift(base: int = 0) -> Iterator[Shown]:
    """With positions from 0 the sum of (1) ends one place before the query, that one before x_T.

    Args:
        base: number of the first position; the table counts from 0, (1) and (2) from 1.
    """
    import sympy as sp

    T = sp.symbols("T", integer=True, positive=True)
    last = (T - 1) - 1 + base  # of the sum over t = 1, ..., T - 1, all indices one less from 0
    yield identity(
        "position of the query $x_{T-1}$ minus the last position in the sum of (1)",
        (T - 1) - last,
        1,
    )
    yield identity("places from the query to the next token $x_T$", T - (T - 1), 1)


def softmax_jacobian(own: int = 1) -> Iterator[Shown]:
    """db_i/ds_j = b_i (delta_ij - b_j) for b = softmax(s).

    Args:
        own: delta_ii; the right number is 1.
    """
    import sympy as sp

    s, t = sp.symbols("s_i s_j", real=True)
    rest = sp.symbols("rest", nonnegative=True)
    whole = sp.exp(s) + sp.exp(t) + rest
    b, other = sp.exp(s) / whole, sp.exp(t) / whole
    yield identity("$db_i/ds_i$", sp.diff(b, s), b * (own - b))
    yield identity("$db_i/ds_j$", sp.diff(b, t), -b * other)


def likelihood_slope(target: int = 1) -> Iterator[Shown]:
    """The derivative of log alpha_n is 1 - alpha_n in its own logit and -alpha_k in another.

    Args:
        target: entry of x_(T+1) at the next token; the right number is 1.
    """
    import sympy as sp

    w_n, w_k = sp.symbols("w_n w_k", real=True)
    rest = sp.symbols("rest", positive=True)
    whole = sp.exp(w_n) + sp.exp(w_k) + rest
    alpha_n, alpha_k = sp.exp(w_n) / whole, sp.exp(w_k) / whole
    logarithm = sp.expand_log(sp.log(alpha_n))
    yield identity(r"$d \log \alpha_n/dw_n$", sp.diff(logarithm, w_n), target - alpha_n)
    yield identity(r"$d \log \alpha_n/dw_k$", sp.diff(logarithm, w_k), -alpha_k)


def logit_along_a_score(power: int = 2) -> Iterator[Shown]:
    """A logit moves with a score by entry l of X^T diag(b) X (P/|X^T b|) Y_j: f_l (Y_lj - f_l w_j).

    Token l stands at n positions, with the score z: its entry of X^T b is a/S with a = n e^z and S
    the sum of all weights. The other entries have the squares rest/S^2 together and add B/S to
    Y_j^T X^T b. S cancels in LN(X^T b).

    Args:
        power: of |X^T b| under the projected part; the right one is 2.
    """
    import sympy as sp

    n, S, rest = sp.symbols("n S rest", positive=True)
    z, Y, B = sp.symbols("z Y_lj B", real=True)
    a = n * sp.exp(z)
    norm = sp.sqrt(a**2 + rest)  # S |X^T b|
    w, f = (Y * a + B) / norm, a / norm
    slope = sp.diff(w, z)
    yield identity(
        "$dw_j/dz_l - f_l (Y_{lj} - f_l w_j)$", sp.simplify(slope - f * (Y - f * w)), sp.Integer(0)
    )
    v, length, seen = a / S, norm / S, (Y * a + B) / S  # an entry, |X^T b| and Y_j^T X^T b
    entry = v * (Y - v * seen / length**power) / length
    yield identity(
        "the entry of (3) minus $f_l (Y_{lj} - f_l w_j)$",
        sp.simplify(entry - f * (Y - f * w)),
        sp.Integer(0),
    )


def unit_jacobian(power: int = 2) -> Iterator[Shown]:
    """d(v_i/|v|)/dv_j = (delta_ij - v_i v_j/|v|^2)/|v|, which is P_v/|v|.

    Args:
        power: of |v| under v_i v_j; the right one is 2.
    """
    import sympy as sp

    v, w = sp.symbols("v_i v_j", real=True)
    rest = sp.symbols("rest", positive=True)  # the squares of all other entries
    norm = sp.sqrt(v**2 + w**2 + rest)
    yield identity("$d(v_i/|v|)/dv_i$", sp.diff(v / norm, v), (1 - v**2 / norm**power) / norm)
    yield identity("$d(v_i/|v|)/dv_j$", sp.diff(v / norm, w), -v * w / norm**3)


def centre_drops(share: int = 1) -> Iterator[Shown]:
    """P_v v = 0: row i of P_v times v, over v_i, another v_j and all others.

    Args:
        share: of v v^T/|v|^2 that P takes off; the right number is 1.
    """
    import sympy as sp

    v, w = sp.symbols("v_i v_j", real=True)
    rest = sp.symbols("rest", positive=True)  # the squares of all other entries
    square = v**2 + w**2 + rest
    own, other, others = (1 - share * v**2 / square, *(-share * v * x / square for x in (w, rest)))
    yield identity("row $i$ of $P_v v$", own * v + other * w + others, sp.Integer(0))


def mean_drops(total: int = 1) -> Iterator[Shown]:
    """Standard LayerNorm: which parts of the chain rule stay, v = X^T b with sum 1 over M entries.

    The entries are v_i, v_j and M - 2 others, which enter by their sum only; u = v - 1/M.

    Args:
        total: the sum of all entries; the right number is 1.
    """
    import sympy as sp

    v, w, M = sp.symbols("v_i v_j M", positive=True)
    others = total - v - w  # sum of the others, as all entries sum to 1
    mean = (v + w + others) / M
    yield identity(r"the mean of $X^\top b$", mean, 1 / M)
    # column i of diag(v) - v v^T sums to 0, so subtracting the mean first changes nothing
    column = v * (1 - v) - w * v - others * v
    yield identity(r"column sum of $\mathrm{diag}(v) - v v^\top$", column, sp.Integer(0))
    # row i of P_u 1 is 1 - u_i (sum of u)/|u|^2, so P_u v = P_u (u + 1/M) = 1/M in every row
    u_i, square = v - 1 / M, sp.symbols("square", positive=True)
    whole = (v - 1 / M) + (w - 1 / M) + (others - (M - 2) / M)
    yield identity("row $i$ of $P_u 1$", 1 - u_i * whole / square, sp.Integer(1))


def errors_sum_to_zero(target: int = 1) -> Iterator[Shown]:
    """(x_(T+1) - alpha)^T 1 = 0: one minus the sum of all probabilities of a softmax.

    Args:
        target: entry of x_(T+1) at the next token; the right number is 1.
    """
    import sympy as sp

    w = sp.symbols("w_n", real=True)
    rest = sp.symbols("rest", positive=True)
    whole = sp.exp(w) + rest
    wrong = [target - sp.exp(w) / whole, -rest / whole]  # at the next token; all others together
    yield identity(r"sum of $x_{T+1} - \alpha$", sum(wrong), sp.Integer(0))


def orthonormal_norms(scale: int = 1) -> Iterator[Shown]:
    """|U^T v|^2 = v^T U U^T v, which is |v|^2 when U U^T = I, for matrices of symbolic size.

    Args:
        scale: U U^T over I; the right number is 1.
    """
    import sympy as sp

    M, d = sp.symbols("M d", integer=True, positive=True)
    U, v = sp.MatrixSymbol("U", M, d), sp.MatrixSymbol("v", M, 1)
    square = ((U.T * v).T * (U.T * v)).doit()
    known = sp.MatMul(v.T, U, U.T, v)
    rest = (square - known.doit()).doit()
    zero = rest.is_ZeroMatrix is True
    shown = "0" if zero else formula(rest)
    yield Shown(r"$|U^\top v|^2$", formula(square), "=", formula(known), shown, zero)
    length = known.subs(U * U.T, scale * sp.Identity(M)).doit()
    rest = (length - v.T * v).doit()
    zero = rest.is_ZeroMatrix is True
    shown, name = "0" if zero else formula(rest), r"$v^\top U U^\top v$ with $U U^\top = I$"
    yield Shown(name, formula(length), "=", formula(v.T * v), shown, zero)


def gaussian_products(power: int = 1) -> Iterator[Shown]:
    """Moments of a b and of a^2 for independent normal a, b of variance v, by integration.

    Args:
        power: of 1/d in the variance of an inner product; the right one is 1.
    """
    import sympy as sp

    a = sp.symbols("a", real=True)
    v, d = sp.symbols("v d", positive=True)
    density = sp.exp(-(a**2) / (2 * v)) / sp.sqrt(2 * sp.pi * v)
    first, second = (sp.integrate(a**k * density, (a, -sp.oo, sp.oo)) for k in (1, 2))
    yield identity("mean of one product", first * first, sp.Integer(0))  # they are independent
    yield identity("mean of the square of one product", second * second, v**2)
    yield identity(
        "variance of $d$ products at $v = 1/d$", (d * second**2).subs(v, 1 / d), 1 / d**power
    )


def hoeffding(eighth: int = 8) -> Iterator[Shown]:
    """The computation in Hoeffding's inequality for a coin.

    phi(s) = ln E exp(s (coin - p)) has phi(0) = phi'(0) = 0 and phi'' = u (1 - u) <= 1/4, so that
    phi(s) <= s^2/8; the exponent N (s^2/8 - s r) is least at s = 4 r, where it is -2 N r^2.

    Args:
        eighth: what s^2 is divided by; the right number is 8.
    """
    import sympy as sp

    s, r, w = sp.symbols("s r w", real=True)
    p, N = sp.symbols("p N", positive=True)
    mean = (1 - p) * sp.exp(-s * p) + p * sp.exp(s * (1 - p))  # E exp(s (coin - p))
    phi = sp.log(1 - p + p * sp.exp(s)) - p * s
    u = p * sp.exp(s) / (1 - p + p * sp.exp(s))
    zero, half = sp.Integer(0), sp.Rational(1, 2)
    yield identity(r"$e^\phi$ is the mean of $e^{s (\text{coin} - p)}$", sp.exp(phi), mean)
    yield identity(r"$\phi(0)$", phi.subs(s, 0), zero)
    yield identity(r"$\phi'(0)$", sp.diff(phi, s).subs(s, 0), zero)
    yield identity(r"$\phi''$", sp.diff(phi, s, 2), u * (1 - u))
    yield identity("$1/4 - w (1 - w)$", half**2 - w * (1 - w), (w - half) ** 2)
    yield at_least_zero("$1/4 - w (1 - w)$ is a square", (w - half) ** 2)
    exponent = N * (s**2 / eighth - s * r)
    yield identity("slope of the exponent at $s = 4r$", sp.diff(exponent, s).subs(s, 4 * r), zero)
    yield identity("the exponent at $s = 4r$", exponent.subs(s, 4 * r), -2 * N * r**2)


def radius_for_tokens(twice: int = 2) -> Iterator[Shown]:
    """2 S failures 2 exp(-2 N r^2) with the radius r for S tokens are delta.

    Args:
        twice: what N is multiplied by under the root; the right number is 2.
    """
    import sympy as sp

    N, delta, S = sp.symbols("N delta S", positive=True)
    radius = sp.sqrt(sp.log(2 * S / delta) / (twice * N))
    total = 2 * S * sp.exp(-2 * N * radius**2)
    yield identity("$2 S e^{-2 N r^2}$ with the radius for $S$ tokens", total, delta)
