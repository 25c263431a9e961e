"""Steps of the proof of Lemma 7 that run, in the symbols of the page.

w = ||W_kq||, s = ||W_kq*||, r = w / s, L = L_max, lambda = log(2 L w), and
beta_0 = 2 L^2 s^2 (1 + lambda) / w. From t_0 on w >= 4 s by Lemma 6, and s >= 1/sqrt(2) > 7/10.
"""

from __future__ import annotations

from typing import Any

from ntpbook.shared.symbols import at_least_zero, at_most, identity
from ntpverdicts.claims import Shown
from ntpverdicts.once import once


def sizes() -> tuple[Any, Any, Any, Any]:
    """L = 2 + k, s = 7/10 + d, w = 4 s + v and lambda, all other symbols not negative."""
    import sympy as sp

    k, d, v, lam = sp.symbols("k d v lambda", nonnegative=True)
    s = sp.Rational(7, 10) + d
    return 2 + k, s, 4 * s + v, lam


@once
def least_star(half: str = "1/2") -> tuple[Shown, ...]:
    """||W*||^2 >= 1/2 > (7/10)^2: it holds two scores of one query that differ by 1 or more.

    Args:
        half: what the sum of the two squares is compared with.
    """
    import sympy as sp

    y, gap = sp.symbols("y", real=True), sp.symbols("gap", nonnegative=True)
    x = y + 1 + gap
    room = x**2 + y**2 - sp.sympify(half)
    squares = (x + y) ** 2 / 2 + (gap**2 + 2 * gap) / 2
    return (
        identity(r"$x^2 + y^2 - \frac12$, $x = y + 1 + \text{gap}$", room, squares),
        at_least_zero(r"$\frac12 (x + y)^2 + \frac12\text{gap}\,(\text{gap} + 2)$", squares),
        at_most(r"$(\frac7{10})^2$ against $\frac12$", sp.Rational(49, 100), sp.Rational(1, 2)),
    )


@once
def beta_times_r(beta: int = 2) -> tuple[Shown, ...]:
    """beta_0 r / 2 = L^2 s (1 + lambda), which is at least 1 + lambda.

    Args:
        beta: the constant of beta_0.
    """
    import sympy as sp

    L, s, w, lam = sp.symbols("L s w lambda", positive=True)
    beta_0 = beta * L**2 * s**2 * (1 + lam) / w
    shown = identity(r"$\frac12\beta_0 r$", beta_0 * (w / s) / 2, L**2 * s * (1 + lam))
    L, s, _, _ = sizes()
    return (shown, at_most("1 against $L^2 s$", sp.Integer(1), sp.expand(L**2 * s)))


@once
def one_more_rival(times: int = 1) -> tuple[Shown, ...]:
    """The sum of e^(A m_j) - 1 over the rivals is at most e^(A phi_-) - 1, with one rival more.

    Without a rival both sides are 0, so the bound holds for any number of rivals. Before the step
    e^(A phi_-) is 1 + u and the sum is u - rest; the next rival has e^(A m_j) = 1 + v.

    Args:
        times: how often the next rival counts.
    """
    import sympy as sp

    u, v, rest = sp.symbols("u v rest", nonnegative=True)
    room = (1 + u) * (1 + v) - 1 - (u - rest + times * v)
    return (
        identity("the bound minus the sum, with one rival more", room, u * v + rest),
        at_least_zero(r"$uv + \text{rest}$", u * v + rest),
    )


@once
def odds(power: int = 2) -> tuple[Shown, ...]:
    """X_* e^(A phi) <= X <= X_* e^(2 A phi), X_* = (|V| - 1) e^-A, phi = phi_-.

    X = (1 - T_o) / T_o, the logits being A m_o, A m_j and 0. With e^(A phi) = 1 + z, |V| - 1 =
    1 + n and y the sum of e^(A m_j) - 1, which lies between 0 and z, X is
    e^(-A (1 - phi)) (1 + n + y).

    Args:
        power: the 2 of the right side.
    """
    import sympy as sp

    A, phi, J, n, y, z, rest = sp.symbols("A phi J n y z rest", nonnegative=True)
    right, wrong = sp.exp(A * (1 - phi)), J + y  # the rivals' sum of e^(A m_j) is J + y
    # from the definition again: it judges the closed form of X
    T_o = right / (right + wrong + (1 + n - J))
    X = sp.exp(-A * (1 - phi)) * (1 + n + y)
    by_least = (1 + z) * (1 + n + y) / (1 + n)  # X / X_*, as e^(A phi) = 1 + z
    room = sp.factor((1 + z) ** power - by_least.subs(y, z - rest))  # y = z - rest
    return (
        identity("$(1 - T_o)/T_o$", (1 - T_o) / T_o, X),
        identity("$X/X_*$", X / ((1 + n) * sp.exp(-A)), sp.exp(A * phi) * (1 + n + y) / (1 + n)),
        at_least_zero(r"$X/X_* - e^{A\phi}$", sp.factor(by_least - (1 + z))),
        at_least_zero(r"$e^{2A\phi} - X/X_*$, $y = z - \text{rest}$", room),
    )


@once
def chain(power: int = 2) -> tuple[Shown, ...]:
    """e^(2 A phi_n) <= e^(A phi_n0) if 2 phi_n <= phi_n0.

    With e^(A phi_n) = 1 + z and e^(A phi_n0) = (1 + z)^2 (1 + h).

    Args:
        power: how often phi_n fits into phi_n0 at least.
    """
    import sympy as sp

    z, h = sp.symbols("z h", nonnegative=True)
    room = sp.factor((1 + z) ** power * (1 + h) - (1 + z) ** 2)
    return (at_least_zero(r"$e^{A\phi_{n_0}} - e^{2A\phi_n}$", room),)


@once
def at_most_half(beta: int = 2) -> tuple[Shown, ...]:
    """L e^(-beta_0 r / 2) <= 1/2: the left side is at most L e^-lambda = 1 / (2 w), and w >= 1."""
    import sympy as sp

    L, _, w, _ = sizes()
    return (
        *beta_times_r(beta),
        at_most(r"$L e^{-\lambda}$ against $\frac12$", L / (2 * L * w), sp.Rational(1, 2)),
    )


@once
def own_direction(beta: int = 2) -> tuple[Shown, ...]:
    """1 + lambda + (1 + beta_0 / 2) r <= (1 + beta_0) r, written by `beta_times_r`.

    What is left of the right side is beta_0 r / 2 - (1 + lambda) = (L^2 s - 1) (1 + lambda).
    """
    import sympy as sp

    L, s, _, lam = sizes()
    beta_r = beta * L**2 * s * (1 + lam)  # beta_0 r
    room = sp.expand(beta_r / 2 - (1 + lam))
    return (at_most(r"$1 + \lambda$ against $\frac12\beta_0 r$", sp.Integer(0), room),)


@once
def dropped_terms(beta: int = 2, length: str = "L") -> tuple[Shown, ...]:
    """2 L s e^(-beta_0 r / 2) <= beta_0 by beta_0 r / 2 >= lambda, so that e^... <= 1 / (2 L w).

    Args:
        beta: the constant of beta_0.
        length: what stands for the L of e^lambda = 2 L w.
    """
    import sympy as sp

    L, s, w, lam = sizes()
    power = 2 * sp.sympify(length, locals={"L": L}) * w
    beta_0 = beta * L**2 * s**2 * (1 + lam) / w
    return (
        *beta_times_r(beta),
        at_most(r"$2 L s/(2 L w)$ against $\beta_0$", 2 * L * s / power, beta_0),
    )


@once
def rivals_alone(beta: int = 2, share: str = "L") -> tuple[Shown, ...]:
    """L (1 + log(2 w)) <= beta_0 r phi_+, with phi_+ >= 1 / L and log(2 w) <= lambda.

    Args:
        beta: the constant of beta_0.
        share: 1 / phi_+ at most, by Lemma 5.
    """
    import sympy as sp

    L, s, _, lam = sizes()
    beta_r = beta * L**2 * s * (1 + lam)
    left = L * sp.sympify(share, locals={"L": L}) * (1 + lam)
    return (at_most(r"$L^2 (1 + \lambda)$ against $\beta_0 r$", left, sp.expand(beta_r)),)


@once
def type_1_sum(parts: int = 3) -> tuple[Shown, ...]:
    """The three bounds add up: (1 + beta) A* + (1 + beta) B* + 2 beta A* >= (1 + 3 beta) (A* + B*).

    Args:
        parts: the 3 of the right side.
    """
    import sympy as sp

    a, b, beta = sp.symbols("a b beta", nonnegative=True)  # A* = -a, B* = -b
    left = -(1 + beta) * a - (1 + beta) * b - 2 * beta * a
    room = sp.expand(left + (1 + parts * beta) * (a + b))
    return (at_least_zero("left minus right, $A^* = -a$ and $B^* = -b$", room),)


@once
def type_2_sum(beta: int = 2) -> tuple[Shown, ...]:
    """L^2 (1 + beta_0 + 2 s) e^(-beta_0 r / 2) <= beta_0.

    L^2 s >= 2, so that e^(-beta_0 r / 2) <= e^(-2 lambda) = 1 / (4 L^2 w^2).
    """
    import sympy as sp

    L, s, w, _ = sizes()
    more = sp.symbols("more", nonnegative=True)
    beta_0 = beta * L**2 * s**2 / w + more  # lambda >= 0
    left = (1 + beta_0 + 2 * s) / (4 * w**2)
    return (
        *beta_times_r(beta),
        at_most("2 against $L^2 s$", sp.Integer(2), sp.expand(L**2 * s)),
        at_most(r"$L^2 (1 + \beta_0 + 2 s)/(4 L^2 w^2)$ against $\beta_0$", left, beta_0),
    )


@once
def grows(sign: int = 1) -> tuple[Shown, ...]:
    """phi (1 + lambda - log phi) grows with phi up to 1: its slope is lambda - log phi.

    Args:
        sign: of lambda.
    """
    import sympy as sp

    x, lam = sp.symbols("x lambda", nonnegative=True)  # phi = e^-x
    phi = sp.symbols("phi", positive=True)
    slope = sp.diff(phi * (1 + sign * lam - sp.log(phi)), phi).subs(phi, sp.exp(-x))
    return (at_least_zero(r"slope at $\phi = e^{-x}$", sp.simplify(slope)),)
