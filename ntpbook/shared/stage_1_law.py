"""The exact law of stage 1, derived in symbols from the loss of one column of W_ov.

With orthonormal tokens L_0 is a sum over the columns W x. A column has the logit a of n(x), the
logit b of one wrong token, and the sum R of the exponentials of all other logits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ntpbook.shared.symbols import at_least_zero, identity
from ntpverdicts.claims import Shown
from ntpverdicts.vocabulary import by_hand, executed, uses


@dataclass(frozen=True)
class Column:
    """A column of W_ov, its part of the loss, and the gradient of that.

    Attributes:
        a: logit of n(x).
        b: logit of a wrong token.
        R: sum of the exponentials of all other logits.
        loss: minus the logarithm of the probability of n(x).
        right: the gradient's entry at n(x).
        wrong: its entry at the wrong token.
        others: sum of all its other entries.
    """

    a: Any
    b: Any
    R: Any
    loss: Any
    right: Any
    wrong: Any
    others: Any


@lru_cache
def column() -> Column:
    """A column in symbols; as R is a sum of e^z, the entries at these z add up to R dloss/dR."""
    import sympy as sp

    a, b = sp.symbols("a b", real=True)
    R = sp.symbols("R", nonnegative=True)
    loss = -sp.log(sp.exp(a) / (sp.exp(a) + sp.exp(b) + R))
    right, wrong, other = (sp.simplify(sp.diff(loss, one)) for one in (a, b, R))
    return Column(a, b, R, loss, right, wrong, R * other)


def along_the_optimum(expression: Any, low: str = "-1/n") -> tuple[Any, Any, Any]:
    """An expression in the symbols of a column, at W = s W_ov*, with s >= 0 and n = |V| = 1 + m.

    Args:
        expression: of a, b and R.
        low: the entries of W_ov* other than at n(x).

    Returns:
        the expression, s and m.
    """
    import sympy as sp

    one = column()
    m = sp.symbols("m", integer=True, positive=True)
    s = sp.symbols("s", nonnegative=True)
    below = sp.sympify(low, locals={"n": m + 1})
    others = (m - 1) * sp.exp(s * below)
    at = {one.a: s * (1 - 1 / (m + 1)), one.b: s * below, one.R: others}
    return expression.subs(at, simultaneous=True), s, m


@lru_cache
def gradient(low: str = "-1/n") -> tuple[Shown, ...]:
    """At s W_ov* the gradient of L_0 is a negative multiple of W_ov*."""
    import sympy as sp

    one = column()
    right, s, m = along_the_optimum(one.right, low)
    wrong, _, _ = along_the_optimum(one.wrong, low)
    n = m + 1
    factor = n / (sp.exp(s) + m)
    return (
        identity(r"gradient at $\mathrm n(x)$", right, -factor * (1 - 1 / n)),
        identity("gradient elsewhere", wrong, -factor * sp.sympify(low, locals={"n": n})),
        at_least_zero("the factor", factor, strictly=True),
    )


@lru_cache
def sizes(low: str = "-1/n") -> tuple[Shown, ...]:
    """Norm of W_ov*, margins and loss of s W_ov*."""
    import sympy as sp

    loss, s, m = along_the_optimum(column().loss, low)
    n, z = m + 1, sp.symbols("z", positive=True)
    right, wrong = 1 - 1 / n, sp.sympify(low, locals={"n": n})
    of_a_column = sp.simplify(sp.exp(loss))
    late = sp.limit(n * sp.log(of_a_column.subs(sp.exp(-s), z)) / z, z, 0)  # z = e^-s
    return (
        identity(r"squared norm of $W_{\mathrm{ov}}^*$", n * (right**2 + m * wrong**2), n - 1),
        identity(r"margin at $s\,W_{\mathrm{ov}}^*$", s * right - s * wrong, s),
        identity(
            r"$\mathrm e$ to the power of the loss of a column", of_a_column, 1 + m * sp.exp(-s)
        ),
        identity(r"limit of $\mathcal L_0\, e^s$", late, n * m),
    )


@lru_cache
def log_is_below_its_tangent(slope: str = "1") -> tuple[Shown, ...]:
    """log(1 + x) <= x for x >= 0: equal at 0, and the right side has the larger slope.

    Args:
        slope: of the right side.
    """
    import sympy as sp

    x = sp.symbols("x", nonnegative=True)
    gap = sp.sympify(slope) * x - sp.log(1 + x)
    return (
        identity(r"$x - \log(1 + x)$ at $x = 0$", gap.subs(x, 0), sp.Integer(0)),
        at_least_zero("its slope", sp.factor(sp.diff(gap, x))),
    )


LAW = (
    uses(
        "huang2024-eq-2",
        r"$W_{\mathrm{ov}}^*$ has the columns $e_{\mathrm n(x)} - 1/|\mathcal "
        "V|$",
    ),
    executed(
        r"the gradient at $s\,W_{\mathrm{ov}}^*$ is a negative multiple of "
        r"$W_{\mathrm{ov}}^*$",
        gradient,
    ),
    executed(r"norm, margins, and loss of $s\,W_{\mathrm{ov}}^*$", sizes),
    by_hand("with orthonormal tokens the columns $W x$ are independent", at="columns"),
    by_hand(
        r"the entries of a column other than at $\mathrm n(x)$ are equal, so one stands for "
        "all",
        at="alike",
    ),
    by_hand(
        r"induction over $t$: each step adds $\eta_0 W_{\mathrm{ov}}^*/\|W_{\mathrm{ov}}^*\|$",
        at="induction",
    ),
)
BY_LAW = uses(
    "ours-stage-1-law",
    r"$W_{\mathrm{ov}} = s\,W_{\mathrm{ov}}^*$ at every step, with "
    "norm, margins, and loss in terms of $s$",
)
TANGENT = executed(
    r"$\log(1 + x) \le x$",
    log_is_below_its_tangent,
    planted={r"The bound $\log(1 + x) \le \frac9{10}x$.": {"slope": "9/10"}},
)
