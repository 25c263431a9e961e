"""Steps of the proofs on the late phase in sympy, with second derivations of the risky ones.

Notation: e = (q, a, b) a pair, B_e = (e_a - e_b) e_q^T; p a distribution on the tight pairs,
G = B B^T p; S = ||W*||^2, w = ||W*||, gamma = 1 / w; F(y) = log sum_e C_e e^{-<B_e, y>} over the
tight pairs, D the squared length of its gradient, theta = eta / w.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import sympy as sp

from ntpbook.shared.symbols import at_most, identity
from ntpverdicts.claims import Shown
from ntpverdicts.once import once

same = partial(identity, expand=False)  # quotients, which simplify best as they are


def harmonic_by_cauchy(power_of_scores: int = 2) -> tuple[Shown, ...]:
    """Lemma H, sum_e p_e / G_e <= S: each term by Cauchy, G_e = P_a + P_b.

    <B_e, B_f> counts the tokens of e = (q, a, b) that f has in the same role, as no token has both
    roles under a query; so G_e = P_a + P_b, P_v the mass at v. And 1 <= (W*_a - W*_b)^2 <=
    (W*_a^2 / P_a + W*_b^2 / P_b) (P_a + P_b); summed with the weights p_e each token counts once:
    sum of p_e / P_a over the pairs at a is 1.

    Args:
        power_of_scores: of the scores; 2 in truth.
    """
    P_a, P_b, up, down = sp.symbols("P_a P_b up down", positive=True)  # W*_a and -W*_b
    gap = (up**power_of_scores / P_a + down**power_of_scores / P_b) * (P_a + P_b) - (up + down) ** 2
    a, b, c, d = (sp.eye(4).row(i) for i in range(4))
    others = (
        ("the same pair", a - b, 2),
        ("one optimal token", a - c, 1),
        ("one rival", c - b, 1),
        ("four tokens, or two queries", c - d, 0),
    )
    return (
        *(
            same(rf"$\langle B_e, B_f\rangle$, {words}", (a - b).dot(f), sp.Integer(counted))
            for words, f, counted in others
        ),
        same("the Cauchy–Schwarz inequality", gap, (up * P_b - down * P_a) ** 2 / (P_a * P_b)),
    )


def harmonic_by_duality(between: int = -1) -> tuple[Shown, ...]:
    """Lemma H again, another way: from <B_e, B_f> >= 0 for all pairs, tight or not.

    With x_e = p_e / G_e and Q = B B^T, sum_e p_e / G_e - x^T Q x is half the sum over e, f of
    Q_ef p_e p_f (1 / G_e - 1 / G_f)^2, not negative as no two pairs point against each other: a
    token has one role per query (Assumption 1). And for every x >= 0, sum x <= <B^T x, W*> <=
    ||B^T x|| w, so that (sum x)^2 <= S x^T Q x <= S sum x. So the lemma holds for any max-margin
    problem whose data vectors have no negative inner product. The terms of two pairs e, f are
    compared, in both orders; a term with e = f is zero on both sides.

    Args:
        between: between 1 / G_e and 1 / G_f; -1 in truth.
    """
    p_e, p_f, G_e, G_f = sp.symbols("p_e p_f G_e G_f", positive=True)
    Q_ef = sp.Symbol("Q_ef", nonnegative=True)
    f, n = sp.Symbol("f", integer=True), sp.Symbol("n", integer=True, positive=True)
    Q, p = sp.IndexedBase("Q", nonnegative=True), sp.IndexedBase("p", positive=True)
    row = sp.Sum(Q[f] * p[f], (f, 1, n))  # (Q p)_e, which is G_e
    mean = p_e / G_e**2 * Q_ef * p_f + p_f / G_f**2 * Q_ef * p_e
    quadratic = 2 * Q_ef * (p_e / G_e) * (p_f / G_f)
    square = Q_ef * p_e * p_f * (1 / G_e + between / G_f) ** 2
    return (
        same("$p_e (Qp)_e/G_e^2$ is $p_e/G_e$", (p_e * row / G_e**2).subs(G_e, row), p_e / row),
        same(r"two pairs: this sum minus $x^\top Q x$ is a square", mean - quadratic, square),
    )


def descent_pointwise(descent_shift: int = 0) -> tuple[Shown, ...]:
    """Lemma D, first constant: z / (1 + v z) >= c z + (1 - c) z / (1 + z) on (-1, 2 S - 1].

    v = s gamma^2 <= theta <= 1 and c = (1 - v) / (1 + v (2 S - 1)). The bracket is linear in z, and
    not negative at both ends, as S >= 1/2. With E z = D / gamma^2, E z / (1 + z) >= 0 (Lemma H) and
    e^{-v z} <= 1 / (1 + v z): E e^{-v z} <= 1 - c s D, and log x <= x - 1.

    Args:
        descent_shift: added to 2 S - 1 in c; 0 in truth.
    """
    z, u, i, m, k = sp.symbols("z u i m k", nonnegative=True)
    v = 1 / (1 + u)  # any v in (0, 1]
    top = k  # 2 S - 1
    c = (1 - v) / (1 + v * (top + descent_shift))
    left = z / (1 + v * z) - c * z - (1 - c) * z / (1 + z)
    bracket = (1 - c - v) - c * v * z
    inside = (top * i - m) / (i + m)  # from -1 to 2 S - 1
    return (
        same("the gap", left, z**2 * bracket / ((1 + z) * (1 + v * z))),
        at_most("the bracket between its ends", sp.Integer(0), bracket.subs(z, inside)),
    )


def descent_by_shape(descent_shift: int = 0) -> tuple[Shown, ...]:
    """Lemma D again, another way: one function of z is convex, then concave.

    f(z) = (1 + z) (1 - c v z - e^{-v z}) - (1 - c) v z must not be negative on (-1, 2 S - 1]. Then
    E f(z) / (1 + z) >= 0 is E e^{-v z} <= 1 - c v E z - (1 - c) v E z / (1 + z). f and f' vanish at
    0, and f'' / v = (2 - v (1 + z)) e^{-v z} - 2 c is positive, then negative: it falls where
    v (1 + z) < 3, and is negative beyond 2. f'' is not negative at 0, as c <= 1 - v / 2. So f >= 0
    up to the turn, and beyond it f is at least the smaller of its values at the turn and at
    2 S - 1, the latter by e^{-x} <= 1 / (1 + x).

    Args:
        descent_shift: added to 2 S - 1 in c; 0 in truth.
    """
    z, u, k = sp.symbols("z u k", nonnegative=True)
    v = 1 / (1 + u)
    c = (1 - v) / (1 + v * (k + descent_shift))
    f = (1 + z) * (1 - c * v * z - sp.exp(-v * z)) - (1 - c) * v * z
    slope = sp.diff(f, z)
    second = (2 - v * (1 + z)) * sp.exp(-v * z) - 2 * c
    third = -v * (3 - v * (1 + z)) * sp.exp(-v * z)
    end = (1 + k) * (1 - c * v * k - 1 / (1 + v * k)) - (1 - c) * v * k
    return (
        same("$f$ at 0", f.subs(z, 0), sp.Integer(0)),
        same("$f'$ at 0", slope.subs(z, 0), sp.Integer(0)),
        same("$f''$", sp.diff(slope, z) / v, second),
        same("$f'''$", sp.diff(second, z), third),
        at_most("$f''$ at 0 is not negative", 2 * c, 2 - v),
        at_most("$f$ at $2S - 1$", sp.Integer(0), sp.simplify(end)),
    )


def distance(cross: int = 2) -> tuple[Shown, ...]:
    """Lemma N: ||y^ - v||^2 = ||y - v||^2 - 2 s <grad F, y - v> + s^2 D for y^ = y - s grad F.

    By convexity <grad F, y - v> >= F(y) - F(v), and s^2 D <= (s / c) (F(y) - F(y^)) by Lemma D.

    Args:
        cross: the 2; by hand the rest.
    """
    s = sp.Symbol("s", positive=True)
    i, n = sp.symbols("i n", integer=True)
    y, v, g = (sp.IndexedBase(name, real=True) for name in "yvg")

    def entries(term: Any) -> Any:
        return sp.Sum(term, (i, 1, n))

    left = entries((y[i] - s * g[i] - v[i]) ** 2)
    right = entries((y[i] - v[i]) ** 2) - cross * s * entries(g[i] * (y[i] - v[i]))
    return (same("expanded", left, right + s**2 * entries(g[i] ** 2)),)


@once
def one_step(downhill: int = -1) -> tuple[Shown, ...]:
    """The exponential model: across W_hat a step is gradient descent on F with s = eta / ||g||.

    For any number of tight pairs the derivative of F along a direction v is -<g, v>, so that grad F
    is minus the part of g across W_hat. And <g, W*> = 1, as <B_e, W*> = 1 on tight pairs, so that
    this part has the squared length ||g||^2 - 1 / S. All of it again in coordinates for two tight
    pairs (a; b) and (a; c) of one query, W* = (2, -1, -1) / 3, with general C and y.

    Args:
        downhill: of the gradient; -1 in truth.
    """
    e, n, r = sp.Symbol("e", integer=True), sp.Symbol("n", integer=True), sp.Symbol("r", real=True)
    size, at = sp.IndexedBase("C", positive=True), sp.IndexedBase("u", real=True)
    along = sp.IndexedBase("v", real=True)  # <B_e, v>

    def pairs(term: Any) -> Any:
        return sp.Sum(term, (e, 1, n))

    slope = sp.diff(sp.log(pairs(size[e] * sp.exp(-at[e] - r * along[e]))), r).subs(r, 0)
    weights = size[e] * sp.exp(-at[e])
    of_g, of_star, whole = sp.IndexedBase("g"), sp.IndexedBase("w"), sp.Symbol("S", positive=True)
    squared, product = pairs(of_g[e] ** 2), pairs(of_g[e] * of_star[e])  # over entries here
    part = pairs((of_g[e] - of_star[e] / whole) ** 2)
    C = sp.symbols("C_1:3", positive=True)
    y = sp.symbols("y_1:4", real=True)
    B = [sp.Matrix([1, -1, 0]), sp.Matrix([1, 0, -1])]
    star = sp.Matrix([2, -1, -1]) / 3
    S = star.dot(star)
    terms = [C[e] * sp.exp(-B[e].dot(sp.Matrix(y))) for e in range(2)]
    value = sp.log(sum(terms))
    gradient = sp.Matrix([sp.diff(value, place) for place in y])
    gradient -= star * gradient.dot(star) / S  # across W_hat
    g = sum((term * pair for term, pair in zip(terms, B, strict=True)), sp.zeros(3, 1)) / sum(terms)
    across = g - star * g.dot(star) / S
    return (
        same(r"$\nabla F$ along $v$", slope, downhill * pairs(weights * along[e]) / pairs(weights)),
        same(
            "the part of $g$ across $W^*$, squared",
            part,
            squared - 2 * product / whole + pairs(of_star[e] ** 2) / whole**2,
        ),
        same(
            r"its last two terms, $\langle g, W^*\rangle = 1$ and $\|W^*\|^2 = S$",
            -sp.Integer(2) / whole + whole / whole**2,
            -1 / whole,
        ),
        *(same(rf"$\nabla F$, entry {k}", gradient[k], downhill * across[k]) for k in range(3)),
        same(r"$\langle g, W^*\rangle = 1$", g.dot(star), sp.Integer(1)),
        same(r"$\|g\|^2 = 1/S + \|\nabla F\|^2$", g.dot(g), 1 / S + gradient.dot(gradient)),
    )


def perturbation(power: int = 2) -> tuple[Shown, ...]:
    """Lemma P on one sample: bounds on X, tau_j and h_j by r = 1 - m_o and E = e^{A r}.

    g = sum_k (e^{A m_k} - 1) lies between 0 and E - 1, since x -> e^x - 1 is superadditive (by
    induction over the rivals), and X = e^{-A (1 - r)} (|V| - 1 + g). The sum of the tau_k is at
    most 1, and their mean of the m_k is at most r. The logarithms are in
    `short_steps.exponentials_of_lemma_p`.

    Args:
        power: of e^{A r} in the upper bound on X; 2 in truth.
    """
    v, g, short, d, t, star = sp.symbols("v g short d t star", nonnegative=True)
    V, E = 2 + v, 1 + g + short  # e^{A r}
    a = 1 + d  # e^{A m_j}, at most E
    X, X_star = E * (V - 1 + g) * star, (V - 1) * star  # e^{-A} = star
    tau = a / (V - 1 + g)
    one = sp.Symbol("mean", nonnegative=True)  # m_o - sum_k tau_k m_k, from 1 - 2 r to 1
    low = sp.Symbol("low", nonnegative=True)  # min(e^{-A r}, 1 - 2 r)
    x, y, mass, rest, u = sp.symbols("x y mass rest u", nonnegative=True)
    r = mass + rest  # mass is the mean of the m_k with the weights tau_k
    return (
        at_most("$e^a - 1$ is superadditive, $x = e^a - 1$", x + y, (1 + x) * (1 + y) - 1),
        at_most(r"$m_o - \sum_k \tau_k m_k$ from below", 1 - 2 * r, 1 - r - mass / (1 + u)),
        at_most("$X$ from below", X_star * E, X),
        at_most("$X$ from above", X, X_star * E**power),
        at_most("$1 - T_o$ from below", X_star / (1 + X_star), (X_star + t) / (1 + X_star + t)),
        at_most(
            "$1 - T_o$ from above",
            X / (1 + X),
            E**2 * X_star / (1 + X_star),
        ),
        at_most(r"$\tau$ from below", 1 / ((V - 1) * E), tau),
        at_most(r"$\tau$ from above", tau, (a + t) / (V - 1)),
        at_most(
            "$h/h_*$ from below",
            low * (1 / (V - 1) + 1),
            (low + t) / (V - 1) + (low + one),
        ),
        at_most("$h/h_*$ from above", E / (V - 1) + 1, E * (1 / (V - 1) + 1)),
    )


def loss_of_one_sample(votes: int = 1) -> tuple[Shown, ...]:
    """The loss in Lemma P, and its first order in r: l_n - l_* = A h_* r + ..., m_k = r f_k.

    h_* = (1 - T_*) |V| / (|V| - 1), for one sample with two rivals that share r as f to 1 - f.
    By hand: log(1 + X) rises in log X with a slope between 1 - T_* and 1 from X_* on.

    Args:
        votes: power of |V| / (|V| - 1) in h_*; 1 in truth.
    """
    A, V, f = sp.symbols("A V f", positive=True)
    r = sp.Symbol("r", nonnegative=True)
    masses = (1 - r, r * f, r * (1 - f))
    # from the definition again: its slope judges A h_*
    X = sp.exp(-A * masses[0]) * (sum(sp.exp(A * m) for m in masses[1:]) + V - 3)
    X_star = (V - 1) * sp.exp(-A)
    h_star = X_star / (1 + X_star) * (V / (V - 1)) ** votes
    x = sp.Symbol("x", real=True)  # log X
    return (
        same("slope at one-hot attention", sp.diff(sp.log(1 + X), r).subs(r, 0), A * h_star),
        same(r"slope in $\log X$", sp.diff(sp.log(1 + sp.exp(x)), x), sp.exp(x) / (1 + sp.exp(x))),
    )


def certificate(sum_sign: int = 1) -> tuple[Shown, ...]:
    """Theorem E: sums of perturbations, the geometric tail, and 1 - cos from ||y|| / x.

    e_{k+1}^2 <= (e_k + a_k)^2 + b_k gives e_k <= e_0 + sum a + sqrt(sum b), by induction: with
    M = e_0 + sum a and sums B, B + b of the b, (M + sqrt(B))^2 + b <= (M + sqrt(B + b))^2.

    Args:
        sum_sign: of b; 1 in truth.
    """
    M, root, more, a, extra, k = sp.symbols("M root more a extra k", nonnegative=True)
    b = (root + more) ** 2 - root**2
    exponential = 1 + a + extra  # e^a
    c = 1 / (1 + k)
    z = 1 / c**2 - 1
    return (
        at_most("induction", (M + root) ** 2 + b, (M + root + sum_sign * more) ** 2),
        at_most(r"$1/(1 - e^{-a}) \le 1 + 1/a$", 1 / (1 - 1 / exponential), 1 + 1 / a),
        at_most(r"$1 - \cos$ from above", 1 - c, z / 2),
        at_most(r"$1 - \cos$ from below", z / (2 * (1 + z)), 1 - c),
    )


def lateness_of_the_certificate(eight: int = 8) -> tuple[Shown, ...]:
    """What condition (late) of Theorem E implies: epsilon <= 1/2 and r <= 1/16, as in Lemma P.

    Its left side is 8 eta w (3 A + 4) (L - 1) (1 + sqrt(2) S / eta) E and epsilon is at most
    2 (3 A + 4) (L - 1) E, E the exponential; the left side is at least 2 epsilon, as S >= 1/2. And
    r is at most (L - 1) E.

    Args:
        eight: the 8 of condition (late).
    """
    eta, A, rest, E, e = sp.symbols("eta A rest E e", nonnegative=True)
    w = 1 / sp.sqrt(2) + e
    epsilon = 2 * (3 * A + 4) * (1 + rest) * E
    left = eight * eta * w * (3 * A + 4) * (1 + rest) * (1 + sp.sqrt(2) * w**2 / eta) * E
    return (
        at_most(r"$2\epsilon$", 2 * epsilon, left),
        at_most(r"$8r \le \epsilon$", 8 * (1 + rest) * E, epsilon),
    )


def loss_without_frequencies(eight: int = 8) -> tuple[Shown, ...]:
    """Theorem G: total force, margins of what moves, perceptron.

    By hand: -log T / (1 - T) falls; log^3 v / v <= 27 e^-3; samples with m_o >= 3/4 or 7/8 apart.

    Args:
        eight: the 8 of K_2 = 8 L^2 + log(14 L^3).
    """
    m_o, m_j, T_o, T_j = sp.symbols("m_o m_j T_o T_j", positive=True)
    k, r = sp.Symbol("k", integer=True), sp.Symbol("r", integer=True, positive=True)
    T, m = sp.IndexedBase("T", positive=True), sp.IndexedBase("m", positive=True)
    mean = T_j * m_j + sp.Sum(T[k] * m[k], (k, 1, r))
    others = 1 - m_o - m_j  # masses of the rivals beside j
    b_j = m_j * ((1 - T_o) * m_o + T_j - mean)
    b_rest = others * ((1 - T_o) * m_o - mean) + sp.Sum(T[k] * m[k], (k, 1, r))
    longer = sp.Symbol("l", nonnegative=True)
    L = 2 + longer
    i, j = sp.symbols("i j", nonnegative=True)
    inside = (i / L + j * sp.Rational(3, 4)) / (i + j)  # from 1/L to 3/4
    return (
        same(r"$\sum_j b_j/A$", b_j + b_rest, m_o * ((1 - m_o) * (1 - T_o) + mean)),
        at_most("$m_o (1 - m_o)$ from $1/L$ to 3/4", 1 / (4 * L), inside * (1 - inside)),
        at_most(r"$14 L (L - 1)^2 \le 14 L^3$", 14 * L * (L - 1) ** 2, 14 * L**3),
        at_most(r"$16/e \cdot 27/e^3 \le 8$", 432 * sp.exp(-4), sp.Integer(eight)),
    )


def logarithm_by_energy(half: int = 2) -> tuple[Shown, ...]:
    """Theorem D (iv) again, another way: an energy bound in the place of the recursion for rho.

    In tau = log t, with w_e = <B~_e, z> - tau and N = sum_e of the pushes, z moves at the rate
    sum_e n_e B~_e, n_e <= C e^{-w_e}. Then d/dtau ||z||^2 / 2 = sum n_e <B~_e, z> <= tau N + C', as
    w e^{-w} <= 1 / e, and d/dtau <z, v*> >= N. Integrating by parts, ||z||^2 / 2 <= tau <z, v*> -
    integral of <z, v*> + C' tau; and <z, v*> >= (||v*||^2 - o(1)) tau by (12) and v* = sum alpha_e
    B~_e with complementary slackness. With zeta = z / tau: ||zeta||^2 / 2 <= <zeta, v*> -
    ||v*||^2 / 2 + o(1), which is ||zeta - v*||^2 / 2 <= o(1). Sums for integrals: by hand.

    Args:
        half: what divides ||zeta||^2; 2 in truth.
    """
    tau = sp.Symbol("tau", positive=True)
    x = sp.Symbol("x", real=True)
    zeta, v = (sp.Matrix(sp.symbols(f"{name}_1:3", real=True)) for name in ("zeta", "v"))
    energy = zeta.dot(zeta) / half - zeta.dot(v) + v.dot(v) / 2
    f = sp.Function("f")
    whole = tau * f(tau) - sp.Integral(f(x), (x, 1, tau))
    return (
        same("the energy", energy, (zeta - v).dot(zeta - v) / 2),
        same("by parts", sp.diff(whole, tau), tau * sp.diff(f(tau), tau)),
        same(r"integral of $\tau$", sp.integrate(x, (x, 0, tau)), tau**2 / 2),
        same("largest $w e^{-w}$", sp.diff(x * sp.exp(-x), x).subs(x, 1), sp.Integer(0)),
    )
