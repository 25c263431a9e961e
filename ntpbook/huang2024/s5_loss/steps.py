"""Steps on the loss that run: margins near the optimum, what (4) implies, accuracy, the floor."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ntpbook.shared.symbols import at_least_zero, identity
from ntpverdicts.claims import Shown


@lru_cache
def pair_has_norm_root_two(overlap: int = 0) -> tuple[Shown, ...]:
    """(x_* - x) q^T has the norm sqrt(2) for distinct orthonormal tokens x_*, x and a token q.

    In any dimension: first one row, then all rows, with ||q||^2 as one symbol.

    Args:
        overlap: the inner product of x_* and x; 0 in truth.
    """
    import sympy as sp

    i, d = sp.symbols("i d", integer=True)
    best, other, q = (sp.IndexedBase(name, real=True) for name in ("x_*", "x", "q"))
    entry, length = sp.symbols("entry length", real=True)

    def over(term: Any) -> Any:
        return sp.Sum(term, (i, 1, d))

    squares = over(best[i] ** 2), over(best[i] * other[i]), over(other[i] ** 2)
    rows = length * (squares[0] - 2 * squares[1] + squares[2])
    products = dict(zip(squares, (1, overlap, 1), strict=True)) | {length: 1}
    return (
        identity(r"a row of $(x_* - x)\, q^\top$, squared", over((entry * q[i]) ** 2),
                 entry**2 * over(q[i] ** 2)),
        identity("all rows", over((best[i] - other[i]) ** 2 * length), rows),
        identity("their sum for orthonormal tokens", rows.subs(products), sp.S(2)),
    )  # fmt: skip


@lru_cache
def distance_costs_its_norm(side: int = -1) -> tuple[Shown, ...]:
    """<P, W> / ||W|| is <P, U*> + <P, U - U*>, of which the first is 1 / ||W*|| at least.

    P is the matrix of a pair, U and U* are W and W* by their norms. By Cauchy and Schwarz the
    second is at least -||P|| ||U - U*||, with ||P||^2 = 2.

    Args:
        side: the sign of that bound; -1 in truth.
    """
    import sympy as sp

    norm, star, distance = sp.symbols("norm star distance", positive=True)
    on_star, rest = sp.symbols("on_star rest", real=True)  # <P, W*> and <P, U - U*>
    margin = norm * (on_star / star + rest)
    worst = margin.subs({on_star: 1, rest: side * sp.sqrt(2) * distance})
    claimed = norm / star - sp.sqrt(2) * norm * distance
    return (
        identity(
            r"$\langle P, W\rangle$ at $\langle P, W^*\rangle = 1$, where $\langle P, U "
            r"- U^*\rangle$ is smallest",
            worst,
            claimed,
        ),
    )


@lru_cache
def excess_of_4(rate: float = 1.0) -> tuple[Shown, ...]:
    """The bound (4) is |V| e^-x e^(x u), u <= 2 L e^-s, and e^(x u) - 1 <= (e - 1) x u.

    Here x = T C_0, s = C_1 t, u = 2 L / (L + e^s), and x u <= 1.

    Args:
        rate: factor of s in the bound on u; above 1 it is a planted error.
    """
    import sympy as sp

    x, L, s, y = sp.symbols("x L s y", positive=True)
    u = 2 * L / (L + sp.exp(s))
    chord = (sp.E - 1) * y - sp.exp(y) + 1
    factor = sp.simplify(2 * L * sp.exp(-sp.nsimplify(rate) * s) / u)
    return (
        identity(
            r"(4) divided by $|\mathcal V| e^{-x}$",
            sp.exp(-x * (1 - u)) / sp.exp(-x),
            sp.exp(x * u),
        ),
        at_least_zero("$2 L e^{-s}/u - 1$", sp.expand(factor - 1)),
        at_least_zero(
            r"minus the second derivative of the chord minus $(e^y - 1)$", -sp.diff(chord, y, 2)
        ),
        identity("chord minus $e^y - 1$ at $y = 0$", chord.subs(y, 0), sp.S(0)),
        identity("chord minus $e^y - 1$ at $y = 1$", chord.subs(y, 1), sp.S(0)),
    )


@lru_cache
def lead_of_the_right_token(part: str = "1/3") -> tuple[Shown, ...]:
    """With m_o = 1 / (1 + eps), 2 m_o - 1 = (1 - eps) / (1 + eps), which is 1/3 up to eps = 1/2.

    Args:
        part: the 1/3.
    """
    import sympy as sp

    eps, s = sp.symbols("eps s", nonnegative=True)
    lead = 2 / (1 + eps) - 1
    return (
        identity("$2 m_o - 1$", lead, (1 - eps) / (1 + eps)),
        at_least_zero(
            r"lead $- \frac13$, $\epsilon = 1/(2 + s)$",
            sp.factor((lead - sp.Rational(part)).subs(eps, 1 / (2 + s))),
        ),
    )


@lru_cache
def limit_of_the_rate(times: int = 1) -> tuple[Shown, ...]:
    """-log(L - L*) / t tends to r if e^{r t} (L - L*) tends to c > 0.

    From some step on e^{r t} (L - L*) lies between c / 2 and 2 c; both ends have the limit r.

    Args:
        times: what multiplies the rate; 1 in truth.
    """
    import sympy as sp

    r, c, t = sp.symbols("r c t", positive=True)
    ends = (("above", c / 2), ("below", 2 * c))
    return tuple(
        identity(f"from {words}", sp.limit(times * r - sp.log(end) / t, t, sp.oo), r)
        for words, end in ends
    )
