"""The derivative of attention that is scaled to length 1, in symbols (tian2023)."""

from __future__ import annotations

import sympy as sp

from ntpbook.shared.symbols import identity
from ntpverdicts.claims import Shown


def unit_step(sphere: bool = True) -> tuple[Shown, ...]:
    """f_i' = f_i (z_i' - W), W the sum of f_j^2 z_j', for f = q/|q| and q_i = p_i e^(z_i).

    For three tokens, and for one among any number: S is the sum of q_j^2 over all others, and V
    that of q_j^2 z_j', so that S' = 2 V.

    Args:
        sphere: f is scaled to length 1; without it f = q/sum(q), whose W is the sum of f_j z_j'.
    """
    t = sp.Symbol("t")
    p = sp.symbols("p1:4", positive=True)
    z = [sp.Function(f"z{i + 1}")(t) for i in range(3)]
    q = [p[i] * sp.exp(z[i]) for i in range(3)]
    size = sp.sqrt(sum(x**2 for x in q)) if sphere else sum(q)
    unit = [x / size for x in q]
    pull = sum(unit[i] ** 2 * sp.diff(z[i], t) for i in range(3))
    S, V = sp.Function("S", positive=True)(t), sp.Symbol("V", real=True)
    whole = sp.sqrt(q[0] ** 2 + S) if sphere else q[0] + S
    moved = sp.diff(q[0] / whole, t).subs(sp.diff(S, t), 2 * V if sphere else V)
    drawn = (q[0] ** 2 * sp.diff(z[0], t) + V) / whole**2
    return (
        *(
            identity(
                f"$f'$ of token {i + 1}", sp.diff(unit[i], t), unit[i] * (sp.diff(z[i], t) - pull)
            )
            for i in range(3)
        ),
        identity(
            "$f'$ of a token among any number", moved, q[0] / whole * (sp.diff(z[0], t) - drawn)
        ),
    )
