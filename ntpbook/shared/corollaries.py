"""What Theorems A, B and G say of the paper's own statements, in every reading of their constants.

Each function returns inequalities between rational expressions in L, w = ||W_kq_star||, pi and the
step sizes, for all values in their ranges at once: L = 2 + l, w = 1 / sqrt(2) + e (as S >= 1/2),
1 / pi_min = 1 + q, and l, e, q not negative. Logarithms are bounded by tangents, log x <= x - 1:
log L <= log 2 + (L - 2) / 2, log(L - 1) <= L - 2, log(1 / pi) <= 1 / pi - 1, which gives
K <= 3 log 2 + 4 (L - 2) + q; and log t >= log 2 for t >= 2. Defaults are the smallest readings of
damaged constants and powers of L, so that the larger ones, which claim less, follow.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from ntpbook.shared.symbols import at_least_zero, at_most, identity
from ntpverdicts.claims import Shown
from ntpverdicts.once import once

LOG2 = sp.log(2)


def _ranges() -> tuple[Any, Any, Any, Any]:
    """(L, w, 1 / pi_min, an upper bound on K)."""
    longer, e, q = sp.symbols("l e q", nonnegative=True)
    return 2 + longer, 1 / sp.sqrt(2) + e, 1 + q, 3 * LOG2 + 4 * longer + q


def _step_size(w: Any) -> Any:
    """Any eta in (0, w / e]."""
    return w / (sp.E * (1 + sp.Symbol("h", nonnegative=True)))


def tangents(slope: Any = 1) -> tuple[Shown, ...]:
    """log x <= x - 1 for x > 0, and log t >= log 2 for t >= 2.

    x - 1 - log x vanishes at 1; it grows with s for x = 1 + s, and for x = 1 / (1 + s).

    Args:
        slope: of the tangent; 1 in truth.
    """
    s = sp.Symbol("s", nonnegative=True)
    gap = [sp.sympify(slope) * (x - 1) - sp.log(x) for x in (1 + s, 1 / (1 + s))]
    found = []
    for one, side in zip(gap, ("right", "left"), strict=True):
        found.append(identity(rf"$x - 1 - \log x$ at 1, {side}", one.subs(s, 0), sp.Integer(0)))
        rise = sp.factor(sp.diff(one, s))
        found.append(at_least_zero(f"it grows to the {side}", rise))
    found.append(at_least_zero(r"$\log t$ grows", sp.diff(sp.log(2 + s), s)))
    return tuple(found)


def upper_bound_on_K(square: int = 2) -> tuple[Shown, ...]:
    """K <= 3 log 2 + 4 (L - 2) + 1 / pi - 1 by the tangents of log L, log(L - 1), log(1 / pi).

    K = log(2 L^2 (L - 1)^3 / pi) is log 2 + 2 log L + 3 log(L - 1) + log(1 / pi).

    Args:
        square: power of L in K; 2 in truth.
    """
    L, pi = sp.symbols("L pi", positive=True)
    low, lower, rare = sp.symbols("low lower rare", nonnegative=True)  # what the tangents leave
    K = sp.log(2) + 2 * sp.log(L) + 3 * sp.log(L - 1) + sp.log(1 / pi)
    whole = sp.log(2 * L**square * (L - 1) ** 3 / pi)
    longer, _, rarity, bound = _ranges()
    logs = LOG2 + 2 * (LOG2 + (longer - 2) / 2 - low) + 3 * (longer - 2 - lower)
    return (
        identity(
            "$K$ as a sum of logarithms",
            sp.expand_log(whole, force=True),
            sp.expand_log(K, force=True),
        ),
        at_most("$K$ by its tangents", logs + rarity - 1 - rare, bound),
    )


def lemma_7(factor: int = 4, rarity_power: int = 1) -> tuple[Shown, ...]:
    """Theorem A gives Lemma 7 with 1 / pi_min for N: K w <= factor L^2 S (1 + log(2 L ||W||)) / pi.

    For t >= t_0 = 8 L S / eta the norm bound gives ||W|| >= 4 L, so that the log is at least
    log(8 L^2) >= log 32. For every step size.

    Args:
        factor: the reading of the damaged constant.
        rarity_power: of 1 / pi_min; 1 in truth.

    Source: huang2024, Lemma 7.
    """
    L, w, rarity, K = _ranges()
    alpha = factor * L**2 * w**2 * (1 + sp.log(32)) * rarity**rarity_power
    return (
        at_most(r"$\|W\| \ge 4L$ from $t_0$ on", 4 * L, 8 * L * w**2 / (sp.sqrt(2) * w)),
        at_most(r"$Kw \le \alpha \|W\|$", K * w, alpha),
    )


@once
def theorem_1(factor: int = 53, length_power: int = 1, rarity_power: int = 1) -> tuple[Shown, ...]:
    """Theorem B gives Theorem 1 with 1 / pi_min for N, for eta <= w / e and t >= 2.

    (S / t) (1 + sqrt(2) K / eta) <= factor L^4 S^2 log^2 t / (pi_min t eta); the norm bounds are
    those of Lemma 6.

    Args:
        factor: the reading of the damaged constant.
        length_power: the reading of the power of L.
        rarity_power: of 1 / pi_min; 1 in truth.

    Source: huang2024, Theorem 1.
    """
    L, w, rarity, K = _ranges()
    eta, S = _step_size(w), w**2
    t = 2 + sp.Symbol("t", nonnegative=True)
    squared_log = LOG2**2 + sp.Symbol("g", nonnegative=True)
    ours = S / t * (1 + sp.sqrt(2) * K / eta)
    printed = factor * L**length_power * S**2 * squared_log * rarity**rarity_power / (t * eta)
    return (
        at_most(r"$1 - \cos$", ours, printed),
        at_most("the lower bound on the norm", t * eta / (2 * L * w), t * eta / (sp.sqrt(2) * w)),
    )


@once
def theorem_1_on_the_page(factor: float = 54) -> tuple[Shown, ...]:
    """The same with 54 and L^4, at t = 2 and the largest step size in what helps least.

    The least coefficient of the difference, a polynomial in l, e and q, is shown.

    Args:
        factor: the constant of Theorem 1.
    """
    L, w, rarity, K = _ranges()
    printed = factor * L**4 * w**4 * LOG2**2 * rarity
    ours = w**2 * (w / sp.E + sp.sqrt(2) * K)
    gap = sp.expand(printed - ours)
    sizes = sorted(gap.free_symbols, key=str)
    least = min(sp.N(one, 3) for one in sp.Poly(gap, *sizes).coeffs())
    name = "the least coefficient of the difference"
    return (
        at_most(r"$(S/t)(1 + \sqrt2\, K/\eta)$, times $t\eta$", ours, printed),
        Shown(name, str(least), ">", "0", str(least), bool(least > 0)),
    )


@once
def theorem_2(c0: int = 432, length_power: int = 2, rarity_power: int = 1) -> tuple[Shown, ...]:
    """Theorem B gives Theorem 2 with 1 / pi_min for N, for eta <= w / e, without a condition on T.

    For t >= 2 the condition on t puts t beyond t_A, where every margin is at least C_1 t, so that
    m_o = 1 / (1 + sum_j (c_j / c_o) e^{-u_j}) >= 1 / (1 + L e^{-C_1 t}). At t = 1, where the
    condition is empty, the claim is at most 1 / L, as C_1 <= 1 / L <= -log(1 - 1 / L).

    Args:
        c0: the reading of the damaged constant.
        length_power: the reading of the power of L.
        rarity_power: of 1 / pi_min; 1 in truth.

    Source: huang2024, Theorem 2.
    """
    L, w, rarity, K = _ranges()
    eta, S = _step_size(w), w**2
    t, g = sp.symbols("t g", nonnegative=True)
    condition = c0 * L**length_power * S**3 * (LOG2**2 + g) * rarity**rarity_power / eta
    E, short, more = sp.symbols("E short more", nonnegative=True)
    rho = (L - 1) * E / (1 + short)  # sum of the c_j e^{-u_j} / c_o, E = e^{-C_1 t}
    return (
        at_most(r"$t \ge t_A$, first part", 32 * sp.sqrt(2) * K * S**2 / eta, condition),
        at_most(r"$t \ge t_A$, second part", 32 * S**2, condition),
        at_most(
            "the lower bound on the margins", t * eta / (4 * L * S), t * eta / (2 * sp.sqrt(2) * S)
        ),
        at_most("the attention on the optimal token", 1 / (1 + L * E), 1 / (1 + rho)),
        at_most(r"$C_1 \le 1/L$", eta / (4 * L * S), 1 / L),
        at_most("the attention claimed at $t = 1$", 1 / (1 + L * (1 - 1 / L + more)), 1 / L),
    )


@once
def equation_4(c0: int = 432, length_power: int = 2) -> tuple[Shown, ...]:
    """Equation (4) under the condition of Theorem 2 with 1 / pi_min for N, and eta <= w / e.

    m_o >= 1 / (1 + L e^{-C_1 t}) gives 2 m_o - 1 >= 1 - 2 L / (L + e^{C_1 t}), which is positive
    for t >= 2 as C_1 t > log L; every other logit falls short by at least A (2 m_o - 1), and
    A >= T C_0. For t = 1 see `equation_4_at_once`.

    Args:
        c0: the reading of the damaged constant.
        length_power: the reading of the power of L.

    Source: huang2024, equation (4).
    """
    L, w, rarity, _ = _ranges()
    eta, S = _step_size(w), w**2
    g, E, more, v, step = sp.symbols("g E more v step", nonnegative=True)
    exponent = c0 * L**length_power * S**3 * (LOG2**2 + g) * rarity / eta * eta / (4 * L * S)
    m_o = E / (E + L) + more
    root = 1 + v  # sqrt(|V| - 1)
    return (
        at_most(r"$\log L \le C_1 t$", LOG2 + (L - 2) / 2, exponent),
        at_most("$2m_o - 1$", 1 - 2 * L / (L + E), 2 * m_o - 1),
        at_most(r"$T C_0 \le A$", step / (4 * root**2), step / root),
    )


def equation_4_at_once(larger: int = 1) -> tuple[Shown, ...]:
    """Equation (4) at t = 1, where its condition is empty: C_1 <= log 2 <= log L, so that its right
    side is at least |V|, and no loss is larger than log |V|. For eta <= w / e.

    Args:
        larger: times w / e, the largest step size; 1 in truth.
    """
    L, w, _, _ = _ranges()
    C_1 = larger * _step_size(w) / (4 * L * w**2)
    E, less = 1 + sp.Symbol("more", nonnegative=True), sp.Symbol("less", nonnegative=True)
    longer = E + less  # L, at least e^{C_1}
    return (
        at_most(r"$C_1 \le \log 2$", C_1, LOG2),
        at_most(r"$1 - 2L/(L + e^{C_1}) \le 0$", 1 - 2 * longer / (longer + E), sp.Integer(0)),
    )


@once
def equation_4_as_printed(c0: Any = 55, length_power: int = 4) -> tuple[Shown, ...]:
    """Equation (4) under the printed condition, with N for the rarity, by Theorem G.

    The loss is at most |V| e^{-A / 4} once t > 2 S (1 + 2 K_2 w / eta), K_2 = 8 L^2 + log(14 L^3);
    the right side of (4) is at least |V| e^{-T C_0} and T C_0 = A / (4 sqrt(|V| - 1)) <= A / 4.
    Only N >= 1 is used. For t >= 2 and eta <= w / e; for t = 1 see `equation_4_at_once`.

    Args:
        c0: the reading of the damaged constant.
        length_power: the reading of the power of L.

    Source: huang2024, equation (4).
    """
    L, w, N, _ = _ranges()
    eta, S = _step_size(w), w**2
    log_L = LOG2 + (L - 2) / 2
    step, more = sp.symbols("step more", nonnegative=True)
    root = 1 + more  # sqrt(|V| - 1)
    K_2 = 8 * L**2 + sp.log(14) + 3 * log_L
    return (
        at_most(
            "the condition is late enough",
            2 * S * (1 + 2 * K_2 * w / eta),
            c0 * N * L**length_power * S**3 * LOG2**2 / eta,
        ),
        at_most(r"$T C_0 \le A/4$", step / (4 * root**2), step / root / 4),
    )


def equation_4_by_powers(third: Any = 109, second: Any = 218) -> tuple[Shown, ...]:
    """`equation_4_as_printed` with the third power of L and c_0 = 109, the second and 218.

    Args:
        third: c_0 with the third power.
        second: c_0 with the second one.
    """
    return (*equation_4_as_printed(third, 3), *equation_4_as_printed(second, 2))
