"""Short lines of the proofs on the late phase, which a reader would do by hand, in sympy.

Notation as in `steps`. Where there is another argument than that of the page, these lines take it:
the second derivative of F by the inequality of Bhatia and Davis, the mean margin of Theorem G by
entropy.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from ntpbook.ours.late_phase.steps import same
from ntpbook.shared.symbols import at_least_zero, at_most
from ntpverdicts.claims import Shown


def smoothness(part: int = 4) -> tuple[Shown, ...]:
    """0 <= v^T F'' v <= ||v||^2: F is convex, and its gradient has the Lipschitz constant 1.

    For any number of pairs v^T F'' v is the variance of the numbers x_e = <B_e, v> under the shares
    p. Two of them differ by at most ||B_e - B_f|| ||v|| <= 2 ||v||, and a variance is at most a
    quarter of the squared width (Bhatia and Davis): with mean m between low and high, the mean of
    (high - x)(x - low) is not negative, and it is (high - m)(m - low) less the variance.

    Args:
        part: which part of the squared width; 4 in truth.
    """
    e, n, s = sp.Symbol("e", integer=True), sp.Symbol("n", integer=True), sp.Symbol("s", real=True)
    C = sp.IndexedBase("C", positive=True)
    u, x = sp.IndexedBase("u", real=True), sp.IndexedBase("x", real=True)

    def mean(value: Any) -> Any:
        weight = C[e] * sp.exp(-u[e])
        return sp.Sum(weight * value, (e, 1, n)) / sp.Sum(weight, (e, 1, n))

    F = sp.log(sp.Sum(C[e] * sp.exp(-u[e] - s * x[e]), (e, 1, n)))
    variance = mean(x[e] ** 2) - mean(x[e]) ** 2
    low, high, a, b, m, second = sp.symbols("low high a b m second", real=True)
    inside = high * m + low * m - second - high * low  # the mean of (high - x)(x - low)
    return (
        same("$F''$ along $v$", sp.diff(F, s, 2).subs(s, 0), variance),
        same(r"$(\text{high} - m)(m - \text{low})$ minus the variance", inside,
             (high - m) * (m - low) - (second - m**2)),
        same("$(a + b)^2/4 - ab$", (a + b) ** 2 / part - a * b, (a - b) ** 2 / 4),
        *(same(rf"$\|B_e - B_f\|^2$, {words}", value, sp.Integer(most)) for words, value, most in
          _distances()),
    )  # fmt: skip


def _distances() -> tuple[tuple[str, Any, int], ...]:
    """||B_e - B_f||^2 of two pairs: one token has one role per query, so they share one side."""
    a, b, c, d = (sp.eye(4).row(i) for i in range(4))
    cases = (
        ("one optimal token", (a - b) - (a - c), 2),
        ("one rival", (a - b) - (c - b), 2),
        ("four tokens, or two queries", (a - b) - (c - d), 4),
    )
    return tuple((words, apart.dot(apart), most) for words, apart, most in cases)


def elementary(sign: int = 1) -> tuple[Shown, ...]:
    """Lemma D: e^{-x} <= 1 / (1 + x), log x <= x - 1, and the descent lemma for the constant 1.

    The first two functions have their least value 0 where the derivative changes its sign. Third:
    phi(s) = F(y - s grad F) has phi'(0) = -D and phi'' <= D, so that phi(s) <= phi(0) - s D +
    s^2 D / 2; and s = eta / ||g|| <= eta w.

    Args:
        sign: of the second term of the first function; 1 in truth.
    """
    x, s, r, D = sp.symbols("x s r D", positive=True)
    more, step = sp.symbols("more step", nonnegative=True)
    first, second = 1 - sign * (1 + x) * sp.exp(-x), x - 1 - sp.log(x)
    return (
        same("derivative of $1 - (1 + x) e^{-x}$", sp.diff(first, x), x * sp.exp(-x)),
        same("its value at 0", first.subs(x, 0), sp.Integer(0)),
        same(r"derivative of $x - 1 - \log x$", sp.diff(second, x), (x - 1) / x),
        same("its value at 1", second.subs(x, 1), sp.Integer(0)),
        same("Taylor, second order", sp.integrate((s - r) * D, (r, 0, s)), s**2 * D / 2),
        at_most(r"$1 - \eta w/2 \le 1 - s/2$", 1 - (step + more) / 2, 1 - step / 2),
    )


def distance_by_descent(cross: int = 2) -> tuple[Shown, ...]:
    """Lemma N from its expansion: convexity for the cross term, Lemma D for s^2 D; c > 0.

    F(y) - F(v) = fall, <grad F, y - v> = fall + bend with bend >= 0 (convexity), and
    F(y) - F(y') = c s D + more.

    Args:
        cross: how often the fall is taken off on the right; 2 in truth.
    """
    s, c, D, bend, more, fall = sp.symbols("s c D bend more fall", nonnegative=True)
    left = -2 * s * (fall + bend) + s**2 * D
    right = -cross * s * fall + s / c * (c * s * D + more)
    return (
        at_most(r"$\|y' - v\|^2 - \|y - v\|^2$", sp.Integer(0), right - left),
        same(
            "the difference of the two sides minus two non-negative terms",
            (right - left - 2 * s * bend - s * more / c),
            sp.Integer(0),
        ),
    )


def exponentials_of_lemma_p(second: str = "14/5") -> tuple[Shown, ...]:
    """1 - r >= e^{-1.2 r} and 1 - 2 r >= e^{-2.8 r} on [0, 1/4]: concave, 0 at 0, positive at 1/4.

    So m_o h_j / h_* lies between e^{-1.2 r} min(e^{-A r}, e^{-2.8 r}) and e^{3 A r}.

    Args:
        second: the 2.8, as a fraction.
    """
    r = sp.Symbol("r", nonnegative=True)
    found: list[Shown] = []
    for k, a in ((1, sp.Rational(6, 5)), (2, sp.sympify(second))):
        f = 1 - k * r - sp.exp(-a * r)
        found += [
            same(
                f"$f''$ of $1 - {k} r - e^{{-{a} r}}$", sp.diff(f, r, 2), -(a**2) * sp.exp(-a * r)
            ),
            same("at 0", f.subs(r, 0), sp.Integer(0)),
            at_least_zero("at 1/4", f.subs(r, sp.Rational(1, 4)), strictly=True),
        ]
    A = sp.Symbol("A", nonnegative=True)
    exponent = (sp.Rational(6, 5) + A + sp.sympify(second)) * r
    found.append(at_most("the exponents together", exponent, (3 * A + 4) * r))
    return tuple(found)


def step_by_shares(transported: int = 2) -> tuple[Shown, ...]:
    """Lemma P, the step: shares that change by e^{-eps} to e^{eps} turn it by 2 w (e^eps - 1).

    With E = e^{eps/2}: all Xi lie in [1 / E, E], p_e = p0_e Xi_e / mean. A zero-sum v with the
    positive entries u_e and the negative ones -w_f, which have the same total, is the sum of the
    transports u_e w_f / total (e - f). Their total is ||v||_1 / 2, so that ||B^T v|| <= ||v||_1.
    And unit vectors of g and g0 differ by at most 2 ||g - g0|| / ||g0||, by the triangle
    inequality in the identity. Sums over f, then over e; of any number of pairs, and of one entry
    of their matrices.

    Args:
        transported: what divides ||v||_1 in the total of the transports; 2 in truth.
    """
    d, more, n, n_0 = sp.symbols("d more n n_0", nonnegative=True)
    E = 1 + d
    g, g_0, B_e, total = sp.symbols("g g_0 B_e total", real=True)
    e, f, k, m = sp.symbols("e f k m", integer=True)
    u, w, B, C = (sp.IndexedBase(name, real=True) for name in ("u", "w", "B", "C"))

    def over(index: Any, last: Any, term: Any) -> Any:
        return sp.Sum(term, (index, 1, last))

    lost = over(f, m, w[f] * C[f])  # sum of w_f C_f, C_f the entry of the pair f
    gained = over(e, k, u[e] * B[e])
    lost_in_all = sp.Symbol("lost", real=True)
    return (
        at_most(r"$p/p_0 \le e^\epsilon$", E / (1 / E + more), E**2),
        at_most(r"$1 - e^{-\epsilon} \le e^\epsilon - 1$", 1 - 1 / E**2, E**2 - 1),
        same("the transports from $e$", over(f, m, w[f] * (B_e - C[f])),
             B_e * over(f, m, w[f]) - lost),
        same("all transports", over(e, k, u[e] * (B[e] * total - lost_in_all)),
             total * gained - lost_in_all * over(e, k, u[e])),
        same("their total", total * total / total, (total + total) / transported),
        same("unit vectors", g / n - g_0 / n_0, (g - g_0) / n_0 + g / n * (n_0 - n) / n_0),
    )  # fmt: skip


def slope_of_the_loss(wrong: int = 1) -> tuple[Shown, ...]:
    """Loss in Lemma P: from X_* on, d log(1 + X) / d log X = X / (1 + X) is in [1 - T_*, 1].

    Args:
        wrong: whether the lower end is 1 - T_*, as in truth, or T_*.
    """
    star, t = sp.symbols("star t", nonnegative=True)
    slope = (star + t) / (1 + star + t)
    return (
        at_most("$1 - T_*$ is $X_*/(1 + X_*)$", (star if wrong else 1) / (1 + star), slope),
        at_most("the slope is at most 1", slope, sp.Integer(1)),
    )


def long_residual(times: int = 2) -> tuple[Shown, ...]:
    """Theorem C0: a long residual does not grow, a short one by eta, and what idle pairs push.

    At R the shares are p >= p_min, and F(y) - F(R) = log sum p_e e^{b_e} >= log p_min + max b.
    Where this is eta / sqrt2 or more, -2 s (F(y) - F(R)) + s^2 D <= 0, as s >= eta / sqrt2 and
    s^2 D = eta^2 D / (1/S + D) <= eta^2. A share at y is at least a constant times
    e^{-2 sqrt2 ||y||}, since each term of F lies between C e^{-sqrt2 ||y||} and C e^{sqrt2 ||y||}.

    Args:
        times: how often s (F(y) - F(R)) is taken off; 2 in truth.
    """
    eta, D, gamma, more, extra = sp.symbols("eta D gamma more extra", nonnegative=True)
    p, large, rest, a, h, C_0, C_1 = sp.symbols("p large rest a h C_0 C_1", nonnegative=True)
    s, E = eta / sp.sqrt(2) + more, 1 + extra
    return (
        at_most(r"$p_{\min} e^{\max b} \le \sum p e^b$", p * large, (p + a) * large + rest),
        at_most(r"$s^2 D \le \eta^2$", eta**2 * D / (gamma**2 + D), eta**2),
        at_most(r"no growth of $\|y - R\|$", eta**2, times * s * (eta / sp.sqrt(2) + extra)),
        at_most(
            r"growth of $\langle y, v\rangle$ by idle pairs, from below",
            eta / sp.sqrt(2) * p,
            s * (p + a),
        ),
        at_most(
            "a share from below",
            C_0 / (C_0 + C_1) / E**2,
            C_0 * (1 / E + a) / ((C_0 + C_1) * E / (1 + h)),
        ),
    )


def energy_of_a_perturbed_step(lipschitz: int = 1) -> tuple[Shown, ...]:
    """Theorem E: after a push a the energy is at most (root + a)^2 + sqrt2 lam a.

    root^2 = Z^2 + lam f, Z = ||y - R||, f = F(y) - F(R) with the Lipschitz constant sqrt2, and
    lam = eta w / c. And e^x - 1 <= 2 x on [0, 1]: the gap is concave, 0 at 0 and positive at 1.

    Args:
        lipschitz: times sqrt2 on the right; 1 in truth.
    """
    Z, m, a, lam = sp.symbols("Z m a lam", nonnegative=True)
    root = Z + m  # at least Z
    pushed = (Z + a) ** 2 + (root**2 - Z**2) + sp.sqrt(2) * lam * a
    x = sp.Symbol("x", nonnegative=True)
    gap = 2 * x - (sp.exp(x) - 1)
    return (
        at_most("the energy", pushed, (root + a) ** 2 + lipschitz * sp.sqrt(2) * lam * a),
        same("$f''$ of $2x - (e^x - 1)$", sp.diff(gap, x, 2), -sp.exp(x)),
        same("at 0", gap.subs(x, 0), sp.Integer(0)),
        at_least_zero("at 1", gap.subs(x, 1), strictly=True),
    )


def loss_while_large(three: int = 3) -> tuple[Shown, ...]:
    """Theorem G: -log T / (1 - T) falls, log^3 v / v <= 27 e^-3, the lead, the perceptron.

    The derivative of the first is (log x - (x - 1)) / (1 - T)^2 with x = 1 / T, not positive; at
    T = 1 / |V| it is at most 2 log |V|. With v = e^{3 a} the second is 27 (a e^-a)^3, largest at 1.

    Args:
        three: the power of the logarithm; 3 in truth.
    """
    T, x, a = sp.symbols("T x a", positive=True)
    v, A, t, eta, K, w = sp.symbols("v A t eta K w", positive=True)
    ratio, V = -sp.log(T) / (1 - T), 2 + sp.Symbol("more", nonnegative=True)
    slope = (sp.diff(ratio, T) * (1 - T) ** 2).subs(T, 1 / x)
    cubed = (sp.log(v) ** three / v).subs(v, sp.exp(3 * a))
    growth = t * (2 * eta * K * w + eta**2)  # ||W||^2 after t steps, at most
    least = (t * eta) ** 2 / (2 * w**2)  # by the norm bound
    latest = 2 * w**2 * (1 + 2 * K * w / eta)
    b, rest = sp.symbols("b rest", nonnegative=True)
    m_o = 1 - b - rest  # another token has b, the remaining ones the rest
    return (
        same(r"slope of $-\log T/(1 - T)$", slope, sp.log(x) - (x - 1)),
        at_most(r"$|\mathcal V|/(|\mathcal V| - 1) \le 2$", V / (V - 1), sp.Integer(2)),
        same(r"$\log^3 v/v$", sp.expand_log(cubed, force=True), 27 * (a * sp.exp(-a)) ** 3),
        same("derivative of $a e^{-a}$", sp.diff(a * sp.exp(-a), a), (1 - a) * sp.exp(-a)),
        at_most("another logit lies $A (2m_o - 1)$ behind", A * (2 * m_o - 1), A * m_o - A * b),
        same("the two bounds on the norm meet", (growth - least).subs(t, latest), sp.Integer(0)),
    )


def loss_by_entropy(thirds: int = 3) -> tuple[Shown, ...]:
    """Theorem G again: entropy gives K_2' = 2.05 L log(7 (L-1)) + log(14 L (L-1)^2) for K_2.

    In a sample with m_o >= 7/8 let rho = sum_j e^{-u_j} <= 1/7 and q_j = e^{-u_j} / rho. Then
    sum_j m_j u_j <= rho (H(q) - log rho) <= rho log((L - 1) / rho), which grows with rho up to
    (L - 1) / e: at most log(7 (L - 1)) / 7, where the first proof has (L - 1) / e. And
    m_o (1 - m_o) >= 3 / (8 L) on [1/L, 3/4]. So the samples with m_o >= 7/8 add at most
    (2/7) (16/3) L log(7 (L - 1)) log^3|V| / |V| to the mean, and 27 (32/21) e^-3 <= 2.05.

    Args:
        thirds: of 8 L, in the bound on m_o (1 - m_o); 3 in truth.
    """
    x, J = sp.symbols("x J", positive=True)
    L = 2 + sp.Symbol("l", nonnegative=True)
    f = x * sp.log(J / x)
    log_7 = sp.log(7) + (L - 2)  # at least log(7 (L - 1)), by its tangent
    i, j = sp.symbols("i j", nonnegative=True)
    inside = (i / L + j * sp.Rational(3, 4)) / (i + j)  # from 1/L to 3/4
    return (
        same(r"derivative of $x \log(J/x)$", sp.diff(f, x), sp.log(J / x) - 1),
        at_least_zero("which is positive at 1/7", sp.log(7) - 1, strictly=True),
        at_most("$m_o (1 - m_o)$ from $1/L$ to 3/4", thirds / (8 * L), inside * (1 - inside)),
        at_least_zero("the constant", sp.Rational(41, 20) - 27 * sp.Rational(32, 21) * sp.exp(-3)),
        at_most(
            r"$K_2' \le K_2$, but for the logarithms", sp.Rational(41, 20) * L * log_7, 8 * L**2
        ),
    )
