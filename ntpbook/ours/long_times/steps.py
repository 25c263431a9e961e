"""Symbolic steps behind the chapter on long times, each derived from Lemma 1 of the paper.

Setting of all steps: K classes with the same probabilities, K / L of them for each of L queries,
infinitely long sequences, expected gradients (every class has the weight 1/K), M outputs of the
decoder, and the symmetric states that are reached from Y = Z = 0:

    Y[c] = a_c phi,    Y[d of class n] = s_d phi + r_d (e_n - 1_K/K),

with phi = 1 on the K next tokens and -K/(M - K) on the M - K other outputs. With M = K the decoder
has no other outputs and a = s = 0.

How sums over tokens are treated. A state has any number of common and of distinct tokens. Sums over
tokens of polynomials in (f, r) are written in moments: D_ij is the sum of f_d^i r_d^j over the
distinct tokens, C_i that of f_c^i over the common ones. A step that is 0 in moments holds for every
number of tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import sympy as sp

from ntpbook.shared.symbols import at_least_zero, identity
from ntpverdicts.claims import Shown

K, M, L = sp.symbols("K M L", positive=True)
eta_y, eta_z, kappa, nu = sp.symbols("eta_Y eta_Z kappa nu", positive=True)
f, r = sp.symbols("f r", positive=True)  # of one token
R, W = sp.symbols("R W", positive=True)  # sums over tokens: f . r, and the pull W of `change`
eps = sp.Symbol("eps", positive=True)  # the sum of f_c^2 over the common tokens

Triple = tuple[sp.Expr, sp.Expr, sp.Expr]


def inner(u: Triple, v: Triple) -> sp.Expr:
    """Inner product of output vectors given as (own, each other next token, each other output)."""
    return u[0] * v[0] + (K - 1) * u[1] * v[1] + (M - K) * u[2] * v[2]


PHI: Triple = (sp.Integer(1), sp.Integer(1), -K / (M - K))
OWN: Triple = (1 - 1 / K, -1 / K, sp.Integer(0))  # e_n - 1_K/K


def combine(a: sp.Expr, b: sp.Expr) -> Triple:
    """a phi + b (e_n - 1_K/K)."""
    first, second, third = (a * u + b * v for u, v in zip(PHI, OWN, strict=True))
    return first, second, third


def softmax_error(logits: Triple) -> Triple:
    """x_(T+1) - alpha of a class: e_n minus the softmax of its logits, taken against the last."""
    own, other, rest = (sp.exp(sp.expand(sp.cancel(x - logits[2]))) for x in logits)
    total = own + (K - 1) * other + (M - K) * rest
    return 1 - own / total, -other / total, -rest / total


# The clock


def projector_step(sphere: bool = True) -> tuple[Shown, ...]:
    """The attention's gradient with projector and diagonal is f * (g - f (f . g)).

    diag(c) P g / |c| with P = I - c c^T/|c|^2 and f = c/|c|, entry by entry for three tokens, and
    for one among any number: S is the sum of c_j^2 over all others, V that of c_j g_j.

    Args:
        sphere: the gradient is that of the scaled attention; without it that of the softmax,
            (diag(c) - c c^T) g.

    Source: tian2023, Lemma 1 in the limit of Lemma 2.
    """
    c = sp.Matrix(sp.symbols("c1:4", positive=True))
    g = sp.Matrix(sp.symbols("g1:4", real=True))
    size = sp.sqrt((c.T * c)[0])
    P = sp.eye(3) - c * c.T / size**2
    derived = sp.diag(*c) * P * g / size if sphere else (sp.diag(*c) - c * c.T) * g
    unit = c / size
    along = (unit.T * g)[0]
    own, S = sp.symbols("c S", positive=True)
    gain, V = sp.symbols("g V", real=True)
    whole = sp.sqrt(own**2 + S)
    row = (1 - own**2 / whole**2) * gain - own * V / whole**2  # of P, times g
    one = own * row / whole if sphere else own * (1 - own) * gain - own * V
    share = own / whole
    return (
        *(
            identity(f"$z'$ of token {i + 1}", derived[i], unit[i] * (g[i] - unit[i] * along))
            for i in range(3)
        ),
        identity(
            "$z'$ of a token among any number",
            one,
            share * (gain - share * (own * gain + V) / whole),
        ),
    )


def clock_steps(sphere: bool = True, invert: bool = False) -> tuple[Shown, ...]:
    """The coupled flow on the clock sigma, d sigma = (eta_Y/K) delta dt (Lemma 1 of ours).

    a_c' = f_c x,  s_d' = f_d x/K,  r_d' = f_d,  g_c = a_c x mu,  g_d = s_d x mu + r_d (1 - 1/K),
    z_d' = kappa f_d (g_d - f_d G),  z_c' = kappa (K/L) f_c (g_c - f_c G),
    1/x = 1 + K/(M - K) e^(A mu - R/K),  mu = M/(M - K), for M > K, with g in units of delta,
    delta = 1 - p_own + p_other, x = (probability of the M - K other outputs)/delta, A = f . (a, s).

    K, M and L are symbols; one token of each kind stands for all, since a token meets the others
    through A, R and G only.

    Args:
        sphere: the layer scales attention to length 1; without it z' is f (g - G).
        invert: kappa is taken for eta_Y/eta_Z.

    Source: tian2023, Lemma 1 and equation (4), averaged over classes.
    """
    A, a, s, G = sp.symbols("A a s G", real=True)
    error = softmax_error(combine(A, R))
    delta = error[0] - error[1]  # 1 - p_own + p_other
    x = -(M - K) * error[2] / delta
    mu = M / (M - K)
    rate = eta_y / K * delta  # d sigma / dt
    # expected change of a row of Y: f times the error, of every class that has the token
    common = (eta_y / K * f * (error[0] + (K - 1) * error[1]), eta_y / K * f * K * error[2])
    distinct = tuple(eta_y / K * f * e for e in error)
    claimed = combine(f * x / K, f)
    g_common, g_distinct = inner(combine(a, sp.Integer(0)), error), inner(combine(s, r), error)
    g = sp.Symbol("g", real=True)
    # `projector_step`, g and G in units of delta
    moved = f * (delta * g - (f if sphere else 1) * delta * G)
    ratio = eta_y / eta_z if invert else eta_z / eta_y
    return (
        identity("row of a common token, at the next tokens", common[0] / rate, f * x * PHI[0]),
        identity("row of a common token, elsewhere", common[1] / rate, f * x * PHI[2]),
        *(
            identity(f"row of a distinct token, {where}", distinct[i] / rate, claimed[i])
            for i, where in enumerate(("own", "other next tokens", "elsewhere"))
        ),
        identity("$g$ of a common token", g_common / delta, a * x * mu),
        identity("$g$ of a distinct token", g_distinct / delta, s * x * mu + r * (1 - 1 / K)),
        identity("$z'$ of a distinct token", eta_z / K * moved / rate, ratio * f * (g - f * G)),
        identity(
            "$z'$ of a common token, $K/L$ classes for each query",
            eta_z / K * (K / L) * moved / rate,
            ratio * (K / L) * f * (g - f * G),
        ),
        identity("$1/x$", 1 / x, 1 + K / (M - K) * sp.exp(sp.expand(sp.cancel(A * mu - R / K)))),
        identity("the entries of the error add up to zero", inner(error, (1, 1, 1)), sp.Integer(0)),
    )


# M = K: sums over any number of tokens


def over_distinct(expression: sp.Expr) -> sp.Expr:
    """The sum over the distinct tokens of a polynomial in f and r, in moments D_ij."""
    return _moments(expression, lambda i, j: sp.Symbol(f"D{i}{j}"))


def over_common(expression: sp.Expr) -> sp.Expr:
    """The sum over the common tokens of a polynomial in f, in moments C_i."""
    return _moments(expression, lambda i, j: sp.Symbol(f"C{i}"))


def _moments(expression: sp.Expr, name: Callable[[int, int], sp.Symbol]) -> sp.Expr:
    """Replace every monomial f^i r^j by its sum."""
    terms = sp.Poly(sp.expand(expression), f, r).terms()
    return sum((value * name(i, j) for (i, j), value in terms), sp.Integer(0))


def known(expression: sp.Expr) -> sp.Expr:
    """Insert R = sum f_d r_d and |f| = 1, the sum of f_c^2 being eps."""
    return expression.subs({sp.Symbol("D11"): R, sp.Symbol("D20"): 1 - eps, sp.Symbol("C2"): eps})


def bulk_free(sphere: bool = True) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """r_d', z_d' and z_c' on the clock for M = K: `clock_steps` with x = 0, a = s = 0.

    r_d' = f_d,  z_d' = nu f_d (r_d - f_d R),  z_c' = -nu (K/L) f_c^2 R,  nu = kappa (1 - 1/K).

    Args:
        sphere: the layer scales attention to |f|_2 = 1; without it f is the softmax itself, and
            z' = f (g - G) in the place of f (g - f G).
    """
    G = (1 - 1 / K) * R * (f if sphere else 1)
    scale = nu / (1 - 1 / K)  # kappa
    z_d = sp.simplify(scale * f * ((1 - 1 / K) * r - G))
    z_c = sp.simplify(scale * (K / L) * f * (0 - G))
    return f, sp.expand(z_d), sp.expand(z_c)


def change(expression: sp.Expr, moving: bool = True, sphere: bool = True) -> sp.Expr:
    """Derivative on the clock of the sum over the distinct tokens of a polynomial in f and r.

    f_i' = f_i (z_i' - W), where W is the sum over all tokens of f_j^2 z_j' (`unit_step`), or of
    f_j z_j' for the softmax alone.

    Args:
        expression: what is summed.
        moving: the decoder learns; False for a fixed decoder, r' = 0.
        sphere: see `bulk_free`.
    """
    r_slope, z_d, z_c = bulk_free(sphere)
    power = 2 if sphere else 1
    pull = over_distinct(f**power * z_d) + over_common(f**power * z_c)
    slope = sp.diff(expression, f) * f * (z_d - W)
    if moving:
        slope += sp.diff(expression, r) * r_slope
    return over_distinct(slope).subs(W, pull)


def bulk_free_steps(sphere: bool = True, claimed: bool = True, wrong: int = 1) -> tuple[Shown, ...]:
    """M = K: the error of any loss symmetric in the wrong labels, and the rows of `bulk_free`.

    A loss of the differences of logits that treats the wrong labels alike has a gradient (own,
    other) with own + (K - 1) other = 0, so it is delta (e_n - 1_K/K) with delta = own - other.

    Args:
        sphere: the layer whose gradient is taken.
        claimed: the layer of which `bulk_free` speaks.
        wrong: so many of the K labels are right; with any other number than 1 the entries of the
            error do not add up to zero.
    """
    other, G = sp.symbols("other G", real=True)
    own = -(K - wrong) * other
    delta = own - other
    rate = eta_y / K * delta
    # Y (x_(T+1) - alpha) of a distinct token, whose row is r (e_n - 1_K/K)
    g = r * (OWN[0] * own + (K - 1) * OWN[1] * other)
    G = g.subs(r, R)  # the sum of f_i g_i: common tokens have g = 0
    pulled = f * G if sphere else G  # `projector_step`
    r_slope, z_d, z_c = bulk_free(claimed)
    back = {nu: eta_z / eta_y * (1 - 1 / K)}
    return (
        identity(
            r"the entry of the error at the next token, with $\mathrm{other}$ for the entry at "
            "another token",
            own,
            delta * OWN[0],
        ),
        identity("the entry of the error at another token", other, delta * OWN[1]),
        identity("$r'$ of a distinct token", eta_y / K * f * own / rate, r_slope * OWN[0]),
        identity(
            "sum of the errors over the classes, for a common token",
            own + (K - 1) * other,
            sp.Integer(0),
        ),
        identity("$z'$ of a distinct token", eta_z / K * f * (g - pulled) / rate, z_d.subs(back)),
        identity(
            "$z'$ of a common token", eta_z / K * (K / L) * f * (0 - pulled) / rate, z_c.subs(back)
        ),
    )


def soft_free_steps(sphere: bool = False) -> tuple[Shown, ...]:
    """The same for attention that is not scaled, f = c: z' = nu f (r - R) and -nu (K/L) f R.

    Args:
        sphere: the layer whose gradient is taken; the scaled one has other rows.
    """
    return bulk_free_steps(sphere, claimed=False)


def universality_steps(power: float = 0.5) -> tuple[Shown, ...]:
    """M = K: on the clock sqrt(nu) sigma, with r in units of 1/sqrt(nu), nu is gone (Prop. 2).

    Args:
        power: of nu, by which both are scaled.
    """
    r_slope, z_d, z_c = bulk_free()
    rho, P = sp.symbols("rho P", positive=True)
    unit = nu ** sp.nsimplify(power)
    scaled = {r: rho / unit, R: P / unit}
    return (
        identity(r"$d\rho/du$", (r_slope * unit).subs(scaled) / unit, f),
        identity("$dz_d/du$", z_d.subs(scaled) / unit, f * (rho - f * P)),
        identity("$dz_c/du$", z_c.subs(scaled) / unit, -(K / L) * f**2 * P),
    )


def conserved_steps(weight: sp.Expr = L / K) -> tuple[Shown, ...]:
    """M = K: the sum of z_d plus L/K times the sum of z_c stays what it is.

    Args:
        weight: of the common tokens.
    """
    _, z_d, z_c = bulk_free()
    total = known(over_distinct(z_d) + weight * over_common(z_c))
    return (identity(r"$\sum z_d' + (L/K) \sum z_c'$", total, sp.Integer(0)),)


# Theorem 3


def closed_form_steps(exponent: sp.Expr | None = None) -> tuple[Shown, ...]:
    """M = K and C = D = L = 1: ln(T/T_0) + (T^2 - T_0^2)/2 = kappa (K^2 - 1)/(2K) r^2.

    Args:
        exponent: the coefficient of w in z_d that is claimed; 1/(K + 1) when left out.
    """
    T, T_0 = sp.symbols("T T_0", positive=True)
    _, z_d, z_c = bulk_free()
    one = {L: sp.Integer(1), nu: kappa * (1 - 1 / K)}
    sine, cosine = T / sp.sqrt(1 + T**2), 1 / sp.sqrt(1 + T**2)
    z_d = z_d.subs(one).subs({R: sine * r, f: sine})
    z_c = z_c.subs(one).subs({R: sine * r, f: cosine})
    w = sp.simplify(z_d - z_c)
    left = sp.log(T / T_0) + (T**2 - T_0**2) / 2
    right = kappa * (K**2 - 1) / (2 * K) * r**2
    r_squared = left / (kappa * (K**2 - 1) / (2 * K))
    share = 1 / (K + 1) if exponent is None else exponent
    return (
        identity("$z_c' = -K z_d'$", z_c, -K * z_d),
        identity("$z_d' = w'/(K + 1)$", z_d, share * w),
        # T = T_0 e^w, so T' = T w'; r' = f_d
        identity(
            "both sides of the closed form have the same slope",
            sp.diff(left, T) * T * w,
            sp.diff(right, r) * sine,
        ),
        identity("both sides of the closed form at the start", left.subs(T, T_0), right.subs(r, 0)),
        identity(
            "$r^2/T^2$ in the limit", sp.limit(r_squared / T**2, T, sp.oo), K / (kappa * (K**2 - 1))
        ),
        identity("$(1 - f_d) T^2$ in the limit", sp.limit((1 - sine) * T**2, T, sp.oo), sp.S.Half),
    )


# Law 4


def manifold() -> tuple[sp.Expr, sp.Expr, sp.Expr, sp.Expr]:
    """The slow manifold for M > K: T'/T and the balance of x, in y = 1/T^2, x and h.

    On it attention is stationary, f proportional to g, and the margins are equal up to O(1),
    A mu = R/K. Derivatives are by ln r. With S = s/r and h = T^2 (1/(K mu) - S):

        T'/T = (x + xi)/h,   h' = 2 x + xi - h,   xi = (x - 1/mu)/(K y),
        h (1 + y) = 1/(K mu) + (1 - 1/K)/(x mu).

    Returns:
        T'/T, h', and the two sides of the balance.
    """
    y, x, h = sp.symbols("y x h", positive=True)
    mu = M / (M - K)
    xi = (x - 1 / mu) / (K * y)
    return (
        (x + xi) / h,
        2 * x + xi - h,
        h * (1 + y),
        1 / (K * mu) + (1 - 1 / K) / (x * mu),
    )


def manifold_steps() -> tuple[Shown, ...]:
    """The planar system of `manifold` from the clock's equations and the two balances."""
    y, x, h, T, a, s = sp.symbols("y x h T a s", positive=True)
    mu = M / (M - K)
    sine, cosine = T / sp.sqrt(1 + T**2), 1 / sp.sqrt(1 + T**2)
    # the balances: mu (f_c a + f_d s) = f_d r/K, and f proportional to g
    by_margin = sp.solve(mu * (cosine * a + sine * s) - sine * r / K, a)[0]
    by_still = sp.solve(
        (cosine * (s * x * mu + r * (1 - 1 / K)) - sine * a * x * mu).subs(a, by_margin), s
    )[0]
    # in units of r: rates by ln r are those on the clock times r/r', r' = f_d
    S = by_still / r
    speed_s = sine * x / K / sine - S  # d(s/r)/d ln r
    speed_a = cosine * x / sine - by_margin.subs(s, by_still) / r
    slope, speed_h, left, right = manifold()
    # d(a/r) = dT (1/(K mu) - S) - T dS, from a/r = T/(K mu) - T S
    speed_T = (speed_a + T * speed_s) / (1 / (K * mu) - S) / T
    here = {y: 1 / T**2, h: T**2 * (1 / (K * mu) - S)}
    # h' = 2 (T'/T) h - T^2 S'
    moved = 2 * speed_T * here[h] - T**2 * speed_s
    return (
        identity("$T'/T$", speed_T, slope.subs(here)),
        identity("$h'$", moved, speed_h.subs(here)),
        identity("the balance of $h$ and $x$", left.subs(here), right),
    )


@cache  # the page shows it, and one of its steps compares it
def law_4() -> tuple[sp.Expr, sp.Expr, sp.Expr, sp.Expr]:
    """Expansion of the slow manifold in y = 1/T^2 to first order.

    Returns:
        alpha, the slope d ln T / d ln r at y = 0; its first coefficient in y; the coefficient of y
        in d ln T / d ln sigma (for alpha < 1/2); and h at y = 0.
    """
    y, x, h = sp.symbols("y x h", positive=True)
    xi_0, xi_1 = sp.symbols("xi_0 xi_1")
    slope, speed_h, _, right = manifold()
    mu = M / (M - K)
    x_of = 1 / mu + K * y * (xi_0 + xi_1 * y)
    # to second order in y, x = 1/mu + K y xi_0 + K y^2 xi_1, and h = h_0 + h_1 y
    h_of = sp.series((right / (1 + y)).subs(x, x_of), y, 0, 2).removeO()
    h_0 = sp.simplify(h_of.subs(y, 0))
    h_lin = sp.simplify(sp.diff(h_of, y))
    rate = sp.series(speed_h.subs({x: x_of, h: h_0 + h_lin * y}), y, 0, 2).removeO()
    # h' = h_1 y', y' = -2 (T'/T) y
    growth = sp.series(slope.subs({x: x_of, h: h_0 + h_lin * y}), y, 0, 2).removeO()
    found_0 = sp.solve(rate.subs(y, 0), xi_0)[0]
    alpha = sp.simplify(growth.subs(y, 0).subs(xi_0, found_0))
    balance = (sp.diff(rate, y) - h_lin * (-2 * alpha)).subs(xi_0, found_0)
    found_1 = sp.solve(balance, xi_1)[0]
    first = sp.simplify(sp.diff(growth, y).subs({xi_0: found_0, xi_1: found_1}))
    # r' = f_d = 1 - y/2, y ~ sigma^(-2 alpha): d ln r/d ln sigma = 1 + y alpha/(1 - 2 alpha)
    second = sp.simplify(first + alpha**2 / (1 - 2 * alpha))
    return sp.factor(alpha), first, second, h_0


def law_4_steps(power: sp.Expr | None = None) -> tuple[Shown, ...]:
    """alpha = (K - 1)/(M - 1) and the coefficient c of 1/T^2.

    d ln T/d ln sigma = alpha + c/T^2 + ...,  c = h_1 + alpha^2/(1 - 2 alpha),
    h_1 = [mu (K - 1)(1 - 2 alpha) - 1](1 - 3 alpha) + K (1 - 2 alpha), for alpha < 1/2.

    Args:
        power: the exponent that is claimed; (K - 1)/(M - 1) when left out.
    """
    alpha, _, c, h_0 = law_4()
    claimed = (K - 1) / (M - 1) if power is None else power
    mu = M / (M - K)
    h_1 = (mu * (K - 1) * (1 - 2 * claimed) - 1) * (1 - 3 * claimed) + K * (1 - 2 * claimed)
    return (
        identity(r"$h$ at $T = \infty$", h_0, 1 - 1 / M),
        identity(r"the exponent $\alpha$", alpha, claimed),
        identity("the coefficient of $1/T^2$", c, h_1 + claimed**2 / (1 - 2 * claimed)),
        identity("$c$ as $M$ grows", sp.limit(c, M, sp.oo), 2 * (K - 1)),
        identity(r"$\alpha$ for $M = K$", alpha.subs(M, K), sp.Integer(1)),
    )


# The exponent for M > K, proved


def exponent_steps(edge: str = "") -> tuple[Shown, ...]:
    """One token of each kind, M > K, r as the clock: the slopes of D, Q, E, B and of the edge of F.

    With T = f_d/f_c, k = kappa (K + 1), m = k/(1 + T^2), P = mu (a/T + s) - r/K, D = f_d P,
    Q = r (1 - 1/K) - x mu (T a - s), B = mu a/T - P/(1 + T^2), E = mu x (1/K + 1/T^2) - 1/K and
    F = m Q B:  s' = x/K,  a' = x/T,  (ln T)' = m Q,  x' = -x (1 - x) D'.

    Args:
        edge: "bare" for E without its part 1/T^2, "simplex" for attention that is not scaled.
    """
    T, a, s, x, theta = sp.symbols("T a s x theta", positive=True)
    mu, sine, cosine = M / (M - K), T / sp.sqrt(1 + T**2), 1 / sp.sqrt(1 + T**2)
    k, free = kappa * (K + 1), 1 - 1 / K
    both = 1 / K + (0 if edge == "bare" else 1 / T**2)
    P, Q = mu * (a / T + s) - r / K, r * (1 - 1 / K) - x * mu * (T * a - s)
    m, B, E = k / (1 + T**2), mu * a / T - P / (1 + T**2), mu * x * both - 1 / K
    F, u = m * Q * B, theta * T**2 / (r + T**2)

    def slope(y: sp.Expr) -> sp.Expr:
        """Along the flow, with r as the clock."""
        moved = sp.diff(y, r) + sp.diff(y, s) * x / K + sp.diff(y, a) * x / T
        return moved + sp.diff(y, T) * T * m * Q - sp.diff(y, x) * x * (1 - x) * sine * (E - F)

    g_c, g_d = a * x * mu, s * x * mu + r * free
    G = cosine * g_c + sine * g_d
    sharing = (1, 1) if edge == "simplex" else (sine, cosine)
    turn = kappa * (sine * (g_d - sharing[0] * G) - K * cosine * (g_c - sharing[1] * G)) / sine
    c, y = sp.symbols("c y", positive=True)
    by_y = 1 / (1 + c * sp.exp(y))
    pushed = (
        free * (1 - mu * x**2) + (1 - x) * (r * free - Q) * sine * (E - F) - x * mu * T * a * m * Q
    )
    kept = mu * x * m * Q * (both * (1 - x) * sine * B - 2 / T**2)
    by_edge = m * Q / T**2 * (2 * (1 - u) + 2 * u * r / (r + T**2)) - u / (T**2 * (r + T**2))
    pulled = m * Q * T**2 / (1 + T**2) * (mu * a / T - 2 * P / (1 + T**2))
    return (
        identity(r"$(\ln T)'$", turn, m * Q),
        identity("the exponent in $x$", mu * (cosine * a + sine * s) - sine * r / K, sine * P),
        identity("the derivative of $x$ with respect to $D$", sp.diff(by_y, y), -by_y * (1 - by_y)),
        identity("$D'$", slope(sine * P), sine * (E - F)),
        identity("$P'$", slope(P), E - mu * a / T * m * Q),
        identity("$(aT)'$", slope(a * T), x + a * T * m * Q),
        identity("$Q'$", slope(Q), pushed),
        identity("$E'$", slope(E), -mu * both * x * (1 - x) * sine * E + kept),
        identity("$B'$", slope(B), mu * x / T**2 - E / (1 + T**2) - pulled),
        identity(r"$(\ln m)'$", slope(m) / m, -2 * m * Q * T**2 / (1 + T**2)),
        identity("minus the derivative of $(1 - u)/T^2$", -slope((1 - u) / T**2), by_edge),
        identity(r"$E$ at $x = 1/\mu$", E.subs(x, 1 / mu), 1 / T**2),
        identity("$E$ at its smallest $x$", E.subs(x, 1 / (mu * (1 + K / T**2))), sp.Integer(0)),
    )


def exponent_limit_steps(power: sp.Expr | None = None) -> tuple[Shown, ...]:
    """The limits: a T/r -> 1 - 1/M, (ln T)' -> (K - 1)/(M - 1) in ln r; the room left for F.

    Args:
        power: the exponent that is claimed; (K - 1)/(M - 1) when left out.
    """
    mu, free, theta = M / (M - K), 1 - 1 / K, sp.Symbol("theta")
    share = 1 / (K * mu) + free  # of a T/r, from x mu (a T - s) = r (1 - 1/K) at x = 1/mu
    claimed = (K - 1) / (M - 1) if power is None else power
    room = (1 - theta) / mu - free * (1 - 1 / mu) * (1 + theta) - free * 3 * theta
    spare = (M - 1) / M + 3 * free
    return (
        identity("$aT/r$ in the limit", share, 1 - 1 / M),
        identity("the exponent of $T$ in $r$", 1 - 1 / mu / share, claimed),
        identity(
            "slack at the boundary $F = (1 - u)/T^2$ as $T$ grows",
            room,
            (M - 2 * K + 1) / M - theta * spare,
        ),
    )


# Theorem 5


def margin_steps(sphere: bool = True) -> tuple[Shown, ...]:
    """M = K: the derivative of chi = R/|r| (Theorem 5 (i)), for any number of tokens.

    |r| chi' = (1 - eps) - chi^2 + nu [sum_d f_d^2 (r_d - f_d R)^2 + (K/L) R^2 sum_c f_c^4].

    Args:
        sphere: see `bulk_free`; without the scaling the identity fails.
    """
    size, chi = sp.symbols("size chi", positive=True)
    R_slope = known(change(f * r, sphere=sphere))
    square_slope = known(change(r**2, sphere=sphere))
    chi_slope = R_slope / size - R * square_slope / (2 * size) / size**2
    bracket = known(over_distinct(f**2 * (r - f * R) ** 2)) + K / L * R**2 * sp.Symbol("C4")
    left_over = known(over_distinct((r - f * R) ** 2))
    return (
        identity(
            r"$|r|\,|r|'$, where below $\mathrm{size} = |r|$, $\mathrm{eps} = \epsilon$, $D_{ij} = "
            r"\sum_d f_d^i r_d^j$, and $C_4 = \sum_c f_c^4$",
            square_slope / 2,
            R,
        ),
        identity(r"$|r|\,\chi'$", size * chi_slope, 1 - eps - R**2 / size**2 + nu * bracket),
        # used in (iii)
        identity(
            "$|r - f_D R|^2$",
            left_over.subs({sp.Symbol("D02"): size**2, R: chi * size}),
            size**2 * (1 - chi**2 * (1 + eps)),
        ),
        identity(
            r"$1 - \chi^2 (1 + \epsilon)$ against $\sin^2$ of the angle",
            1 - chi**2 * (1 + eps) - (1 - chi**2 / (1 - eps)),
            chi**2 * eps**2 / (1 - eps),
        ),
    )


def path_steps(power: int = 2) -> tuple[Shown, ...]:
    """M = K: |f_D - chi r/|r||^2 = 1 - eps - chi^2, and the speed of r/|r| is its root by |r|.

    Args:
        power: of chi.
    """
    size, chi = sp.symbols("size chi", positive=True)
    distance = known(over_distinct((f - chi * r / size) ** 2))
    r_slope, _, _ = bulk_free()
    # (r_d/|r|)' = r_d'/|r| - r_d |r|'/|r|^2, with |r|' = chi
    turning = r_slope / size - r * chi / size**2
    seen = {sp.Symbol("D02"): size**2, R: chi * size}
    claimed = 1 - eps - chi**power
    speed = known(over_distinct(turning**2))
    sigma, rho = sp.symbols("sigma rho", positive=True)
    tail = sp.integrate((rho + chi * sigma) ** -3, (sigma, 0, sp.oo))
    return (
        identity(r"$\bigl|f_D - \chi r/|r|\bigr|^2$", distance.subs(seen), claimed),
        identity(r"$\bigl|(r/|r|)'\bigr|^2 |r|^2$", size**2 * speed.subs(seen), claimed),
        identity(r"tail of $|r|^{-3}$ for $|r|' \ge \chi$", tail, 1 / (2 * chi * rho**2)),
    )


def floor_steps(clock: bool = True) -> tuple[Shown, ...]:
    """M = K: the steps of Theorem 5' (b) and (c), on the clock theta, d theta = d sigma/|q|.

    With P_d = r_d/q_d and beta = R/|q| = sum f_d^2 P_d:  dP_d = 1 + nu r_d q_d (beta - P_d),
    d ln r_d = 1/P_d,  d(1/q_c^2) = 2 nu (K/L) beta.

    Args:
        clock: slopes are on the clock theta; without it they are on sigma.
    """
    q, size, beta = sp.symbols("q size beta", positive=True)  # one q_i, and |q|
    r_slope, z_d, z_c = bulk_free()
    here = {f: q / size, R: beta * size}
    z_d, z_c, r_slope = z_d.subs(here), z_c.subs(here), r_slope.subs(here)
    P, by_theta = r / q, size if clock else sp.Integer(1)
    slope_P = by_theta * (r_slope / q - r / q * z_d)  # q' = q z'
    grown = by_theta * (-2) * z_c / q**2
    return (
        identity(r"$dP_d/d\theta$", slope_P, 1 + nu * r * q * (beta - P)),
        identity(r"$d \ln r_d/d\theta$", by_theta * r_slope / r, 1 / P),
        identity(r"$d(1/q_c^2)/d\theta$", grown, 2 * nu * (K / L) * beta),
    )


def keep_steps(power: int = 1) -> tuple[Shown, ...]:
    """M = K: the steps of Theorem 5'', no token is lost and the shares converge.

    On the clock theta of `floor_steps`, with y = min P_d, I its integral from 0, eps_0 = eps(0) and
    C_1 = C L/(2 K (1 - eps_0)):

    1. beta >= (1 - eps) y, and q_d^2 eps <= sum q_c^2; so y' >= 1 - nu y^2 sum q_c^2.
    2. q_c^-2 >= 2 nu (K/L) (1 - eps_0) I; so y' >= 1 - C_1 y^2/I.
    3. u = y^2 as a function of I has du/dI >= 2 - 2 C_1 u/I; so u >= 2 I/(1 + 2 C_1), and
       y >= b theta with b = 1/(1 + 2 C_1).
    4. sum q_c^2 <= C_2/(nu theta^2), C_2 = 2 C_1/b. The spread S of the P_d has
       S' <= -nu b p_min^2 theta S + C_2, and 2 C_2/(A theta), A = nu b p_min^2, is above it once
       theta^2 >= 2/A.
    5. (ln r_d/r_e)' = 1/P_d - 1/P_e, at most S/(b theta)^2, which is integrable.

    Args:
        power: of b in the place of b.
    """
    area, theta, C, C_1, e_0 = sp.symbols("I theta C C_1 e_0", positive=True)
    A, C_2 = sp.symbols("A C_2", positive=True)
    y, begin, size, q, beta = sp.symbols("y begin size q beta", positive=True)
    r_slope, z_d, z_c = bulk_free()
    here = {f: q / size, R: beta * size}
    # 1: the slope of P_d = r_d/q_d at the least one, P_d = y, and beta at its least
    slope = (size * (r_slope / q - r / q * z_d)).subs(here)
    least = slope.subs({r: q * y, beta: (1 - eps) * y})
    # 2: 1/q_c^2 grows by at least `grown`, whose integral has I in the place of y
    grown = (-2 * size * z_c / q**2).subs(here).subs(beta, (1 - e_0) * y)
    q_squared = 1 / (grown / y * area)  # of one common token, at most
    of_C_1 = {C_1: C * L / (2 * K * (1 - e_0))}
    # 3: equality in the comparison; y = b theta has the integral I = b theta^2/2
    b = (1 + 2 * C_1) ** -power
    u, solved = 2 * area / (1 + 2 * C_1), b * theta**2 / 2
    # 4: the bound on S and its slope
    bound = 2 * C_2 / (A * theta)
    excess = sp.diff(bound, theta) - (-A * theta * bound + C_2)
    total = C * q_squared.subs(area, b * theta**2 / 2)
    # 5: S is at most C_2 theta before theta^2 = 2/A
    turn = sp.sqrt(2 / A)
    late = sp.integrate(bound / (b * theta) ** 2, (theta, turn, sp.oo))
    middle = sp.integrate(C_2 * theta / (b * theta) ** 2, (theta, begin, turn))
    return (
        identity(
            r"slope of the least $P_d$ at the least $\beta$", least, 1 - nu * y**2 * eps * q**2
        ),
        identity(
            r"$\nu y^2 \sum q_c^2$", nu * y**2 * C * q_squared, (C_1 * y**2 / area).subs(of_C_1)
        ),
        identity("$u = 2I/(1 + 2C_1)$", sp.diff(u, area), 2 - 2 * C_1 * u / area),
        identity(r"$y^2 = u$ at $y = b\theta$", sp.diff(solved, theta) ** 2, u.subs(area, solved)),
        identity(
            r"$\nu \theta^2 \sum q_c^2$",
            nu * theta**2 * total.subs(of_C_1),
            (2 * C_1 * (1 + 2 * C_1)).subs(of_C_1),
        ),
        identity(
            "the slope of the bound on $S$ minus what is allowed",
            excess,
            C_2 * (1 - 2 / (A * theta**2)),
        ),
        identity(r"the integral of the drift from $\theta_1$ on", late, C_2 / (2 * b**2)),
        identity(
            r"the integral of the drift from $\theta_0$ to $\theta_1$",
            middle,
            C_2 / b**2 * (sp.log(2 / A) / 2 - sp.log(begin)),
        ),
    )


# Theorem 6


def simplex_steps(sphere: bool = False) -> tuple[Shown, ...]:
    """M = K, without the L2 scaling: the decoder sees the attention c itself (Theorem 6).

    r_d' = c_d,  z_d' = nu c_d (r_d - R),  z_c' = -nu (K/L) c_c R, and
    (ln c_j/c_1)' = -nu [c_1 (r_1 - R) + c_j (R - r_j)] for two distinct tokens.

    Args:
        sphere: see `bulk_free`; with the scaling the last two identities fail.
    """
    c = sp.Matrix(sp.symbols("c1:4", positive=True))
    g = sp.Matrix(sp.symbols("g1:4", real=True))
    mean = (c.T * g)[0]
    derived = (sp.diag(*c) - c * c.T) * g  # the softmax's Jacobian
    own, gain, V = sp.symbols("c g V", real=True)  # V: the sum of c_j g_j over all others
    c_1, c_j, r_1, r_j = sp.symbols("c_1 c_j r_1 r_j", positive=True)
    _, z_d, z_c = bulk_free(sphere)
    first, later = {f: c_1, r: r_1}, {f: c_j, r: r_j}
    return (
        *(identity(f"$z'$ of token {i + 1}", derived[i], c[i] * (g[i] - mean)) for i in range(3)),
        identity(
            "$z'$ of a token among any number",
            own * (1 - own) * gain - own * V,
            own * (gain - (own * gain + V)),
        ),
        identity(
            r"$(\ln c_j/c_1)'$, distinct",
            z_d.subs(later) - z_d.subs(first),
            -nu * (c_1 * (r_1 - R) + c_j * (R - r_j)),
        ),
        identity(
            r"$(\ln c_j/c_1)'$, common",
            z_c.subs(later) - z_d.subs(first),
            -nu * (c_1 * (r_1 - R) + K / L * c_j * R),
        ),
    )


def simplex_limit_steps(sphere: bool = False) -> tuple[Shown, ...]:
    """The contradiction of Theorem 6: what falls like sigma if another token keeps a share.

    With c_j = v c_1, r_j = v r_1 and R = rho r_1 the slope of ln(c_j/c_1) is, for a distinct token,
    -nu c_1 r_1 [(1 - v)(1 - rho) + v (1 - v)], and for a common one
    -nu c_1 r_1 [(1 - rho) + (K/L) v rho]: for 0 < rho < 1 the first bracket is positive for
    0 < v < 1, the second for every v > 0.

    Args:
        sphere: see `bulk_free`; with the scaling both fail.
    """
    c_1, r_1, rho, v = sp.symbols("c_1 r_1 rho v", positive=True)
    _, z_d, z_c = bulk_free(sphere)
    first = z_d.subs({f: c_1, r: r_1})
    distinct = z_d.subs({f: v * c_1, r: v * r_1}) - first
    common = z_c.subs(f, v * c_1) - first
    unit = -nu * c_1 * r_1
    ends = ((1 - v) * (1 - rho) + v * (1 - v), (1 - rho) + K / L * v * rho)
    i, j = sp.symbols("i j", positive=True)
    inside = {rho: 1 / (1 + j)}
    return (
        identity(
            r"$(\ln c_j/c_1)'$ in the limit, distinct", distinct.subs(R, rho * r_1) / unit, ends[0]
        ),
        identity(
            r"$(\ln c_j/c_1)'$ in the limit, common", common.subs(R, rho * r_1) / unit, ends[1]
        ),
        at_least_zero(
            r"the first bracket at $v = 1/(1 + i)$, $\rho = 1/(1 + j)$",
            sp.factor(ends[0].subs({**inside, v: 1 / (1 + i)})),
            strictly=True,
        ),
        at_least_zero(
            r"the second bracket at $\rho = 1/(1 + j)$",
            sp.factor(ends[1].subs(inside)),
            strictly=True,
        ),
    )


# Theorem 7


def still_steps(moving: bool = False) -> tuple[Shown, ...]:
    """M = K, a fixed decoder, one class of a query from any start (Theorem 7 (iii)).

    z_d' = delta f_d (r_d - f_d R) and z_c' = -w_c, where w_c sums over all classes of the query and
    S is the sum of f_c^2 w_c. Then, with delta = 1,

        R' = sum_d f_d^2 (r_d - f_d R)^2 + R S,
        (sum_d r_d/q_d)' = -(|r|^2 - R^2)/|q|,      (sum_d z_d)' = eps R.

    Args:
        moving: the decoder learns, r_d' = f_d, in the place of a fixed one.
    """
    size, S = sp.symbols("size S", positive=True)
    z_d = f * (r - f * R)
    r_slope = f if moving else sp.Integer(0)
    # f_d' = f_d (z_d' - W), where W sums f_i^2 z_i' over all tokens (`unit_step`)
    pull = over_distinct(f**2 * z_d) - S
    R_slope = known(over_distinct(r * f * z_d) - R * pull + over_distinct(f * r_slope))
    square = known(over_distinct(f**2 * (r - f * R) ** 2))
    # (r_d/q_d)' = r_d'/q_d - (r_d/q_d) z_d', with q_d = f_d |q|
    psi = known(over_distinct(sp.expand((r_slope - r * z_d) / f))) / size
    return (
        identity("$R'$", R_slope, square + R * S),
        identity(r"$\Psi'$", psi, -(sp.Symbol("D02") - R**2) / size),
        identity(r"$\sum z_d'$", known(over_distinct(z_d)), eps * R),
    )
