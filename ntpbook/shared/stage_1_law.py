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
        identity("gradient at n(x)", right, -factor * (1 - 1 / n)),
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
        identity("squared norm of W_ov*", n * (right**2 + m * wrong**2), n - 1),
        identity("margin at s W_ov*", s * right - s * wrong, s),
        identity("e to the loss of a column", of_a_column, 1 + m * sp.exp(-s)),
        identity("limit of L_0 e^s", late, n * m),
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
        identity("x - log(1 + x) at x = 0", gap.subs(x, 0), sp.Integer(0)),
        at_least_zero("its slope", sp.factor(sp.diff(gap, x))),
    )


LAW = (
    uses("huang2024-eq-2", "W_ov* has the columns e_n(x) - 1 / |V|"),
    executed("the gradient at s W_ov* is a negative multiple of W_ov*", gradient),
    executed("norm, margins and loss of s W_ov*", sizes),
    by_hand("with orthonormal tokens the columns W x are independent", at="columns"),
    by_hand("entries of a column other than at n(x) are alike, so one stands for all", at="alike"),
    by_hand("induction over t: each step adds eta_0 W_ov*/||W_ov*||", at="induction"),
)
BY_LAW = uses("ours-stage-1-law", "W_ov = s W_ov* at every step: norm, margins and loss by s")
TANGENT = executed(
    "log(1 + x) <= x",
    log_is_below_its_tangent,
    planted={"Nine tenths of x.": {"slope": "9/10"}},
)
