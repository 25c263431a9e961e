"""Steps of the proofs on stage 1 that run: each derives what it shows from the loss or from W_ov*.

n stands for |V|, and a column has the symbols of `ntpbook.shared.stage_1_law.column`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ntpbook.shared.stage_1_law import along_the_optimum, column
from ntpbook.shared.symbols import at_least_zero, identity
from ntpcore.verdicts.claims import Shown


@lru_cache
def gradient_is_never_zero() -> tuple[Shown, ...]:
    """The gradient's entry at n(x) is minus the probability of all wrong tokens, so not zero."""
    import sympy as sp

    one = column()
    wrong = sp.exp(one.b) + one.R
    return (
        identity("entry at n(x)", one.right, -wrong / (sp.exp(one.a) + wrong)),
        at_least_zero("minus that", wrong / (sp.exp(one.a) + wrong), strictly=True),
    )


@lru_cache
def projection(margin: str = "1") -> tuple[Shown, ...]:
    """A column of <W_ov*, G> is minus the probability of its wrong tokens, at any logits.

    Args:
        margin: of the matrix that stands for W_ov*.
    """
    import sympy as sp

    one, n = column(), sp.symbols("n", positive=True)
    optimum = sp.sympify(margin) * (1 - 1 / n), -sp.sympify(margin) / n
    projected = optimum[0] * one.right + optimum[1] * (one.wrong + one.others)
    wrong = sp.exp(one.b) + one.R
    return (identity("<W* x, G x>", projected, -wrong / (sp.exp(one.a) + wrong)),)


@lru_cache
def norm_of_a_column() -> tuple[Shown, ...]:
    """A column of G has a squared norm of at most 2 S^2, S being its entry at n(x) but for a sign.

    The others are not negative and have the sum S. Two of them are merged into one, which can only
    raise the sum of their squares; with one left it is S^2.
    """
    import sympy as sp

    one = column()
    p, q = sp.symbols("p q", nonnegative=True)
    return (
        identity("the sum of a column", one.right + one.wrong + one.others, sp.Integer(0)),
        at_least_zero("a wrong entry", one.wrong),
        at_least_zero("(p + q)^2 - p^2 - q^2", sp.expand((p + q) ** 2 - p**2 - q**2)),
    )


@lru_cache
def sum_of_margins() -> tuple[Shown, ...]:
    """<W_ov*, W> is the sum of all margins of W by n; if all were above r, it would exceed this."""
    import sympy as sp

    n, size = sp.symbols("n", positive=True), sp.symbols("w", positive=True)
    top, low = sp.symbols("W_n S", real=True)  # the logit of n(x), and the sum of all others
    star = sp.sqrt(n - 1)
    projected = (1 - 1 / n) * top - low / n
    r = size / star
    return (
        identity("a column of <W*, W>", projected, ((n - 1) * top - low) / n),
        identity("n ||W*|| ||W|| by n (n - 1) margins", n * star * size / (n * (n - 1)), r),
    )


@lru_cache
def log_is_above_its_chord() -> tuple[Shown, ...]:
    """log(1 + z) >= z / 2 on [0, 1]: concave, 0 at 0, and above 0 at 1."""
    import sympy as sp

    z = sp.symbols("z", nonnegative=True)
    rise = sp.log(1 + z) - z / 2
    return (
        at_least_zero("minus its second derivative", sp.simplify(-sp.diff(rise, z, 2))),
        identity("at z = 0", rise.subs(z, 0), sp.Integer(0)),
        at_least_zero("at z = 1", rise.subs(z, 1), strictly=True),
    )


@lru_cache
def far_multiple(times: int = 2, share: str = "1/2") -> tuple[Shown, ...]:
    """n (n - 1) e^-s is at most a share of e^-r if s = r + times log(2 n).

    Args:
        times: how often log(2 n) is added.
        share: the factor of e^-r.
    """
    import sympy as sp

    m, r = sp.symbols("m r", positive=True)
    n = m + 1
    ratio = sp.simplify(n * m * sp.exp(-(r + times * sp.log(2 * n))) / sp.exp(-r))
    room = sp.factor(sp.sympify(share) - ratio)
    return (at_least_zero(f"{share} - n (n - 1) e^(r - s)", room),)


@lru_cache
def second_derivative() -> tuple[Shown, ...]:
    """Along a direction v the second derivative of log sum e^z is the variance of v, a mean square.

    With Z = sum e^(z_i + s v_i), Z^(k) / Z is the mean of v^k under the predicted probabilities.
    """
    import sympy as sp

    s, v = sp.symbols("s v", real=True)
    Z = sp.Function("Z")(s)
    means = {k: sp.symbols(f"E_v{k}", real=True) for k in (1, 2)}
    second = sp.expand(sp.diff(sp.log(Z), s, 2))
    second = second.subs({sp.diff(Z, s, 2): means[2] * Z, sp.diff(Z, s): means[1] * Z})
    return (
        identity("second derivative", second, means[2] - means[1] ** 2),
        identity("mean of (v - E v)^2", _mean((v - means[1]) ** 2, v, means), sp.simplify(second)),
    )


def _mean(square: Any, v: Any, means: dict[int, Any]) -> Any:
    """The mean of a quadratic polynomial in v, term by term."""
    import sympy as sp

    free, linear, quadratic = reversed(sp.Poly(square, v).all_coeffs())
    return free + linear * means[1] + quadratic * means[2]


@lru_cache
def loss_along_the_optimum() -> tuple[Shown, ...]:
    """L_0(B W_ov*) = n log(1 + (n - 1) e^-B), whose slope is negative and whose limit is 0."""
    import sympy as sp

    of_a_column, B, m = along_the_optimum(column().loss)
    ratio = sp.simplify(sp.exp(of_a_column))
    loss = (m + 1) * sp.log(ratio)
    return (
        identity("e to the loss of a column", ratio, 1 + m * sp.exp(-B)),
        at_least_zero("minus its slope", sp.simplify(-sp.diff(loss, B)), strictly=True),
        identity("limit", sp.limit(loss, B, sp.oo), sp.Integer(0)),
    )


@lru_cache
def law_is_inside() -> tuple[Shown, ...]:
    """The bounds of Proposition 1 leave room for norm t eta_0, cosine 1 and rate eta_0 / ||W*||.

    With n = 2 + k and t = 2 + u; each difference is written so that its sign can be read off.
    """
    import sympy as sp

    k, u = sp.symbols("k u", nonnegative=True)
    eta0 = sp.symbols("eta_0", positive=True)
    star, t = sp.sqrt(1 + k), 2 + u
    room = t * eta0 - t * eta0 / (2 * star)
    seen = t * eta0 * (4 * k + 3) / (2 * star * (2 * star + 1))
    turn = 12 * star**3 * sp.log(2 * (2 + k)) * sp.log(t) / (t * eta0)
    return (
        identity("t eta_0 - t eta_0 / (2 ||W*||)", room, seen),
        at_least_zero("that", seen),
        at_least_zero("the bound on 1 - cos", turn),
        at_least_zero("rate minus stated rate", t * eta0 / star - t * eta0 / (4 * star)),
    )


@lru_cache
def margin_by_the_printed_A() -> tuple[Shown, ...]:
    """The margin T eta_0 / ||W*|| is 4 sqrt(n - 1) A, which is at least A."""
    import sympy as sp

    k, T = sp.symbols("k T", nonnegative=True)
    eta0 = sp.symbols("eta_0", positive=True)
    star = sp.sqrt(1 + k)
    A = T * eta0 / (4 * star**2)
    return (
        identity("margin", T * eta0 / star, 4 * star * A),
        at_least_zero("square of 4 sqrt(n - 1), minus 1", sp.expand((4 * star) ** 2 - 1)),
    )


@lru_cache
def one_over_t() -> tuple[Shown, ...]:
    """1/t <= log t - log(t - 1) for t > 1: with s = 1/t, equal at 0 and of the larger slope."""
    import sympy as sp

    s, u = sp.symbols("s u", positive=True)
    rise = -sp.log(1 - s) - s
    slope = sp.simplify(sp.diff(rise, s).subs(s, 1 / (1 + u)))
    return (
        identity("-log(1 - s) - s at s = 0", rise.subs(s, 0), sp.Integer(0)),
        at_least_zero("its slope at s = 1 / (1 + u)", slope),
    )


def last_line() -> tuple[Shown, ...]:
    """||W*|| (2 log(2 |V|) - 1) log t >= 1, which the last line needs, where it is smallest."""
    from mpmath import iv

    least = iv.log(2) * (2 * iv.log(4) - 1)
    name = "||W*|| (2 log(2|V|) - 1) log t at |V| = 2, t = 2"
    rest = f"{float(least.a) - 1:.4f}"
    return (Shown(name, "log 2 (2 log 4 - 1)", ">", "1", rest, bool(least.a > 1)),)
