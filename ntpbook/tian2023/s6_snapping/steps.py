"""Steps of the proofs on scanning and snapping, in symbols and derived from (10), (13), Lemma 6."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ntpbook.shared.symbols import at_least_zero, identity
from ntpverdicts.claims import Shown
from ntpverdicts.numbers import counted
from ntpverdicts.vocabulary import relation


def sums_of_10(f: list[list[Any]], beta: Any = None) -> tuple[list[Any], list[Any]]:
    """Equation (10) over gamma eta_Z for classes of one query, and xi_n over gamma.

    sum over n of diag(f_n) sum over n' != n of beta_nn' (f_n f_n^T - I) f_n', entry by entry.

    Args:
        f: a row for each class; any numbers that multiply, fractions or symbols.
        beta: function of n and n'; None for f_n . f_n'.

    Returns:
        the speed of every token, and xi of every class.
    """

    def dot(x: list[Any], y: list[Any]) -> Any:
        return sum(a * b for a, b in zip(x, y, strict=True))

    speeds, forces = [0 * f[0][0]] * len(f[0]), []
    for n, own in enumerate(f):
        xi = 0 * f[0][0]
        for k, other in enumerate(f):
            if k != n:
                inner = dot(own, other)
                weight = inner if beta is None else beta(n, k)
                xi = xi + weight * inner
                speeds = [
                    s + weight * x * (inner * x - y)
                    for s, x, y in zip(speeds, own, other, strict=True)
                ]
        forces.append(xi)
    return speeds, forces


def _classes(K: int, shares: tuple[Any, ...], common: Any) -> list[list[Any]]:
    """Rows f_n with one common entry and the same distinct entries in places of their own."""
    D = len(shares)
    return [
        [common, *(shares[i - n * D] if n * D <= i < (n + 1) * D else 0 for i in range(K * D))]
        for n in range(K)
    ]


def single_common_token(others: int = 1, factor: int = 1) -> Iterator[Shown]:
    """(10) with beta = f_n . f_n': the common token's speed is -K (1 - c^2) xi, xi = (K-1) c^4.

    Args:
        others: what is taken from K in the number of the other classes; 1 in truth.
        factor: of c^2 in 1 - c^2; 1 in truth.
    """
    import sympy as sp

    c, d, w = sp.symbols("c d w", positive=True)
    for K in (2, 3, 5):
        for shares in ((d,), (d, w)):
            speeds, forces = sums_of_10(_classes(K, shares, c))
            where = f"$K = {K}$, {counted(len(shares), 'distinct tokens')}"
            xi = (K - others) * c**4
            yield identity(rf"{where}: $\xi$", forces[0], xi)
            yield identity(
                f"{where}: speed of the common token", speeds[0], -K * (1 - factor * c**2) * xi
            )


def misses_of_13(one_sample: bool = True) -> Iterator[Shown]:
    """What (13) misses where a step shows one class: a share c^2 of dz/dt, and 1/K of xi.

    From (10) for classes with one distinct token each, so that c^2 + d^2 = 1; and for every K from
    the corrected (13), in which c = e^z/rho_0.

    Args:
        one_sample: whether (10) is divided by K, as the mean over the class of a step.
    """
    import sympy as sp

    c = sp.Symbol("c", positive=True)
    for K in (2, 3, 5):
        speeds, forces = sums_of_10(_classes(K, (sp.sqrt(1 - c**2),), c))
        ratio = -speeds[0] / forces[0] / (K if one_sample else 1)  # dz/dt by -eta_Z xi
        yield identity(rf"$K = {K}$: $-\dot z/(\eta_Z \xi_n)$", ratio, 1 - c**2)
        printed = K * c**4  # e^(4z) / C_0 with C_0 = rho_0^4 / K and c = e^z / rho_0
        yield identity(
            rf"$K = {K}$: $C_0 \xi_n e^{{-4z}}/\gamma$", forces[0] / printed, sp.Rational(K - 1, K)
        )
    N, eta_Z, gamma, rho, power = sp.symbols("K eta_Z gamma rho_0 e^z", positive=True)
    force = (N - 1) / rho**4 * gamma * power**4
    speed = -N * (1 - power**2 / rho**2) * eta_Z * force / (N if one_sample else 1)
    yield identity(
        r"every $K$: $-\dot z/(\eta_Z \xi_n)$", -speed / (eta_Z * force), 1 - power**2 / rho**2
    )
    C_0 = rho**4 / N
    yield identity(
        r"every $K$: $C_0 \xi_n e^{-4z}/\gamma$", C_0 * force / power**4 / gamma, 1 - 1 / N
    )


def integral_of_speed(half: float = 0.5) -> Iterator[Shown]:
    """d/dt (eta_Z/eta_Y) K (M-1)^2 h^2/2 = eta_Z gamma, with h' of Lemma 6 and gamma of Lemma 9."""
    import sympy as sp

    M, K, eta_Y, eta_Z, h = sp.symbols("M K eta_Y eta_Z h", positive=True)
    Gamma = eta_Z / eta_Y * K * (M - 1) ** 2 * sp.nsimplify(half) * h**2
    rate = eta_Y / (M - 1 + sp.exp(M * h)) / K  # Lemma 6, the argument being t / K
    gamma = (M - 1) ** 2 * h / (M - 1 + sp.exp(M * h))
    yield identity(r"$d\Gamma/dt$", sp.diff(Gamma, h) * rate, eta_Z * gamma)
    yield identity(r"$\Gamma$ at $h = 0$", Gamma.subs(h, 0), sp.Integer(0))


def solution_of_13(factor: float = 4.0) -> Iterator[Shown]:
    """e^(-4z) - 4 Gamma/C_0 and B + z stand still along every solution of (13), as (120) says.

    At the start Gamma, B and z are 0, so that e^(-4z) = 1 + 4 Gamma/C_0 and B = -z for ever.

    Args:
        factor: of Gamma; 4 in truth.
    """
    import sympy as sp

    C_0, t = sp.symbols("C_0 t", positive=True)
    Gamma, z, B = (sp.Function(name)(t) for name in ("Gamma", "z", "B"))
    force = sp.diff(Gamma, t) * sp.exp(4 * z) / C_0  # eta_Z xi
    laws = {z.diff(t): -force, B.diff(t): force}
    kept = sp.exp(-4 * z) - sp.nsimplify(factor) * Gamma / C_0
    yield identity(r"slope of $e^{-4z} - 4\Gamma/C_0$", kept.diff(t).subs(laws), sp.Integer(0))
    yield identity("slope of $B + z$", (B + z).diff(t).subs(laws), sp.Integer(0))


def first_stage(share: float = 1.0) -> Iterator[Shown]:
    """tau / x grows with x, and tau = ln M gives x >= ln M - Omega, Omega e^Omega = 1.

    Lemma 6 is M tau = e^x - 1 + (M - 1) x. At x = ln M - Omega it gives M tau <= M ln M.

    Args:
        share: by what Omega is multiplied; 1 in truth.
    """
    import sympy as sp

    M, x = sp.symbols("M x", positive=True)
    tau = height_law(M, x)
    slope = sp.diff(tau / x, x) * M * x**2
    yield identity(r"slope of $\tau/x$, times $M x^2$", slope, x * sp.exp(x) - sp.exp(x) + 1)
    # at x = 0 it is 0, and its own slope is x e^x
    yield at_least_zero("the slope of $x e^x - e^x + 1$", sp.diff(slope.expand(), x).simplify())
    W = sp.Symbol("Omega", positive=True)
    at = sp.expand(tau.subs(x, sp.log(M) - sp.nsimplify(share) * W))
    over = (M * (sp.log(M) - at)).expand().subs(sp.exp(-W), W)  # e^(-Omega) = Omega
    yield identity(r"$M (\ln M - \tau)$ at $x = \ln M - \Omega$", over, sp.log(M) + 1 - W)


def second_stage(twice: int = 2) -> Iterator[Shown]:
    """tau(t_0) exceeds tau at the upper crossing of Lemma 8, where e^x = (M - 1) x, by Lemma 6.

    Args:
        twice: tau(t_0) over x at that crossing; 2 in truth.
    """
    import sympy as sp

    M, x = sp.symbols("M x", positive=True)
    upper = height_law(M, x).subs(sp.exp(x), (M - 1) * x)
    yield identity(
        r"$\tau(t_0)$ minus $\tau$ at the upper crossing", twice * x - upper, (2 * x + 1) / M
    )


def growth_of_a_share(power: int = 2) -> Iterator[Shown]:
    """(1 + a) / (1 + r^2 a) <= 1/r^2 for a >= 0 and 0 < r <= 1, r = 1 / (1 + s).

    Args:
        power: of r; 2 in truth, as Gamma is a square.
    """
    import sympy as sp

    a, s = sp.symbols("a s", nonnegative=True)
    r = 1 / (1 + s)
    larger = 1 / r**2 - (1 + a) / (1 + r**power * a)
    rest = s * (2 + s) / (1 + a / (1 + s) ** 2)
    yield identity("$1/r^2$ minus $(1 + a)/(1 + r^2 a)$", sp.simplify(larger), rest)
    yield at_least_zero("the right side is not negative", rest)


def exponents(added: int = 1) -> Iterator[Shown]:
    """z_c = -K z_l, Phi and Psi along (10), and e^2 Phi -> 1, for K = 2, 3, 5 and all K.

    Args:
        added: to K in the factor between B and Psi; 1 in truth.
    """
    import sympy as sp

    e, K = sp.symbols("e K", positive=True)
    distinct, xi = (K - 1) * e**2 * (1 - e), (K - 1) * e**2
    for k in (2, 3, 5):
        speeds, forces = sums_of_10(_classes(k, (sp.sqrt(1 - e),), sp.sqrt(e)))
        yield identity(f"$K = {k}$: speed of a distinct token", speeds[1], distinct.subs(K, k))
        yield identity(f"$K = {k}$: speed of the common token", speeds[0], -k * speeds[1])
        yield identity(rf"$K = {k}$: $\xi$", forces[0], xi.subs(K, k))
    slope = 2 * e * (1 - e) * (-K - 1) * distinct  # e / (1 - e) goes like exp(2 (z_c - z_l))
    Phi = 1 / e**2 + 4 / e - 6 * sp.log(e / (1 - e)) - 2 / (1 - e)
    Psi = sp.log(e / (1 - e)) + 1 / (1 - e)
    yield identity(r"$d\Phi/d\Gamma$", sp.diff(Phi, e) * slope, 4 * (K**2 - 1))
    yield identity(r"$-d\Psi/d\Gamma$", -sp.diff(Psi, e) * slope, 2 * (K + added) * xi)
    yield identity(r"limit of $\varepsilon^2 \Phi$", sp.limit(e**2 * Phi, e, 0, "+"), sp.Integer(1))


def height_law(M: Any, x: Any) -> Any:
    """tau at which x = M h: Lemma 6 is e^x - 1 + (M - 1) x = M tau, tau = eta_Y t/K."""
    import sympy as sp

    return (sp.exp(x) - 1 + (M - 1) * x) / M


def onset_without_rates(own: bool = True, both: bool = True) -> Iterator[Shown]:
    """With both rates a times as large, gamma at the own t_0 is the same, and eta_Z dt is, too.

    The clock u = t / t_0 runs from 0 to 1 for both. From Lemma 6 in the form of its equation for
    dx/dt, dx/du holds no rate, and the integrand of (128), eta_Z gamma dt/du, their ratio only,
    nu = eta_Y/eta_Z.

    Args:
        own: whether t_0 is that of the rates that are used.
        both: whether both rates are scaled.
    """
    import sympy as sp

    K, M, eta_Y, eta_Z, a, omega, x = sp.symbols("K M eta_Y eta_Z a omega x", positive=True)
    scaled = {eta_Y: a * eta_Y, eta_Z: a * eta_Z if both else eta_Z}
    t_0 = 2 * (1 + omega) * K * sp.log(M) / eta_Y
    dt_du = t_0 if own else sp.Symbol("t", positive=True)
    dx_du = eta_Y / K / sp.diff(height_law(M, x), x) * dt_du  # d tau / dt = eta_Y / K
    gamma = (M - 1) ** 2 * x / M / (M - 1 + sp.exp(x))
    for name, one in (("$dx/du$", dx_du), (r"$\eta_Z \gamma\, dt/du$", eta_Z * gamma * dt_du)):
        yield identity(f"{name}, rates times $a$", one.subs(scaled, simultaneous=True), one)
    nu = sp.Symbol("nu", positive=True)
    free = 2 * (1 + omega) * sp.log(M) / (M - 1 + sp.exp(x))
    yield identity("$dx/du$ without the rates", dx_du, M * free)
    yield identity(
        r"$\eta_Z \gamma\, dt/du$ at $\eta_Y = \nu\eta_Z$, without the rates",
        (eta_Z * gamma * dt_du).subs(eta_Y, nu * eta_Z),
        K * (M - 1) ** 2 * x * free / (M * nu),
    )


def late_constant(half: float = 0.5) -> Iterator[Shown]:
    """ln(4 Gamma_2 / C_0)/4 is (132) less ln(C_0)/4, Gamma_2 being (128) at x = ln(M tau).

    Args:
        half: the coefficient of the iterated logarithm; 1/2 in truth.
    """
    import sympy as sp

    K, M, nu, C_0 = sp.symbols("K M nu C_0", positive=True)
    log = sp.Symbol("log", positive=True)  # ln(M eta_Y t/K)
    Gamma = K * (M - 1) ** 2 * (log / M) ** 2 / nu / 2  # (128) with h = log/M
    claimed = sp.nsimplify(half) * sp.log(log) + sp.log(2 * K * (M - 1) ** 2 / M**2 / nu / C_0) / 4
    gap = sp.exp(4 * (sp.log(4 * Gamma / C_0) / 4 - claimed))
    yield identity(
        "the exponential of four times the difference of both",
        sp.powsimp(sp.expand_log(gap)),
        sp.Integer(1),
    )


def fate_of_ratios(others: int = 0) -> Iterator[Shown]:
    """(10): d ln(f_1/f_l) = (f_1^2 - f_l^2) dB, d ln(f_1/f_c) = (f_1^2 + K (1 - f_c^2)) dB.

    Two distinct tokens in each of K = 2, 3 classes, one common token; dB = eta_Z xi dt.

    Args:
        others: what is taken from K in the speed of the common token; 0 in truth.
    """
    import sympy as sp

    c, d, w = sp.symbols("c d w", positive=True)
    for K in (2, 3):
        speeds, forces = sums_of_10(_classes(K, (d, w), c))
        length = {c: sp.sqrt(1 - d**2 - w**2)}
        own = sp.simplify(((speeds[1] - speeds[2]) / forces[0]).subs(length))
        common = sp.simplify(((speeds[1] - speeds[0]) / forces[0]).subs(length))
        yield identity(rf"$K = {K}$: slope of $\ln(d/w)$ in $B_n$", own, d**2 - w**2)
        expected = d**2 + (K - others) * (d**2 + w**2)
        yield identity(rf"$K = {K}$: slope of $\ln(d/c)$ in $B_n$", common, expected)


def scaling_is_waiting(both: bool = True) -> Iterator[Shown]:
    """With both rates a times as large everything runs a times as fast: Lemma 6 and (13).

    Args:
        both: whether both rates are scaled, or that of the decoder only.
    """
    import sympy as sp

    K, M, eta_Y, eta_Z, a, C_0, x, z = sp.symbols("K M eta_Y eta_Z a C_0 x z", positive=True)
    scaled = {eta_Y: a * eta_Y, eta_Z: a * eta_Z if both else eta_Z}
    dx_dt = eta_Y / K / sp.diff(height_law(M, x), x)
    force = eta_Z * (M - 1) ** 2 * x / M / (M - 1 + sp.exp(x)) * sp.exp(4 * z) / C_0
    for name, one in (("$dx/dt$", dx_dt), ("$dB/dt$", force)):
        yield identity(f"{name}, rates times $a$", one.subs(scaled, simultaneous=True), a * one)


def shorter_with_the_rate(exponent: int = 1) -> Iterator[Shown]:
    """t_0 = 2 (1 + omega_1) K ln(M) / eta_Y falls with eta_Y: its slope is -t_0 / eta_Y.

    Args:
        exponent: of 1/eta_Y in t_0; 1 in truth.
    """
    import sympy as sp

    K, eta_Y, top = sp.symbols("K eta_Y x_1", positive=True)  # x_1 = (1 + omega_1) ln M
    t_0 = 2 * top * K / eta_Y**exponent
    yield identity("slope of $t_0$", sp.diff(t_0, eta_Y), -2 * top * K / eta_Y**2)


def growth_is_linear(root: str = "1/2") -> Iterator[Shown]:
    """e^(2B) = sqrt(1 + y^2) <= 1 + y, y^2 = 4 Gamma/C_0, for every y >= 0.

    Args:
        root: the power in e^(2B) = (1 + y^2)^root; 1/2 in truth.
    """
    import sympy as sp

    y = sp.Symbol("y", nonnegative=True)
    B = sp.log(1 + y**2) / 4
    square = sp.expand((1 + y) ** 2 - sp.exp(2 * B) ** (4 * sp.Rational(root)))
    yield identity(r"$(1 + y)^2$ minus the square of $e^{2B_n} = \sqrt{1 + y^2}$", square, 2 * y)
    yield at_least_zero("the right side is not negative", 2 * y)


def slower_decoder(sizes: tuple[int, ...] = (6, 7)) -> Iterator[Shown]:
    """x^2/tau falls with x where e^x (x - 2) > (M - 1) x - 2, so for M >= 6 from t_0 on.

    With e^x = (1 + u) (M - 1) x, u >= 0 from the upper crossing of Lemma 8 on, that holds for
    x >= 3; and the upper crossing exceeds 3 where e^3 < 3 (M - 1). For a smaller M it is asked at a
    fraction x between the upper crossing and x(t_0). A fraction p > 1 with e^p < (M - 1) p is below
    the upper crossing, so that tau(t_0) is at least 2 p.

    Args:
        sizes: vocabularies below 8.
    """
    import sympy as sp

    from ntpcore.tian2023 import decoder

    x, M, u, s = sp.symbols("x M u s", positive=True)
    tau = (sp.exp(x) - 1 + (M - 1) * x) / M
    sign = (M - 1) * x - 2 - sp.exp(x) * (x - 2)
    yield identity(r"slope of $x^2/\tau$", sp.diff(x**2 / tau, x) * tau**2 * M / x, sign)
    beyond = (sp.exp(x) * (x - 2) - (M - 1) * x + 2).subs(sp.exp(x), (1 + u) * (M - 1) * x)
    room = sp.expand(beyond.subs({x: 3 + s, M: 1 + M}))
    yield at_least_zero(
        "minus the right side at $e^x = (1 + u)(M - 1) x$, $x = 3 + s$",
        room,
        strictly=True,
    )
    yield at_least_zero(
        "$(M - 1) x - e^x$ at $x = 3$, $M = 8$, which grows with $M$", 21 - sp.exp(3), strictly=True
    )
    for size in sizes:
        crossing = decoder.crossings(size)[1]
        p = sp.Rational(math.floor(100 * crossing), 100)
        at = sp.Rational(math.floor(100 * float(decoder.height(size, 2 * crossing))), 100)
        for name, one in (
            (f"$(M - 1) x - e^x$ at $x = {p}$", (size - 1) * p - sp.exp(p)),
            (f"$e^x - (M - 1) x$ at $x = {at}$", sp.exp(at) - (size - 1) * at),
            (rf"$\tau(t_0) - \tau$ at $x = {at}$", 2 * p - tau.subs({x: at, M: size})),
            (f"minus the right side at $x = {at}$", -sign.subs({x: at, M: size})),
        ):
            yield at_least_zero(f"$M = {size}$: {name}", one, strictly=True)


# The reduction of the coupled flow

# K, M, L, and the entries of f on common and distinct tokens, whose squares sum to 1
SHAPES = (
    (2, 6, 1, ("3/5",), ("4/5",)),
    (2, 8, 2, ("1/3",), ("2/3", "2/3")),
    (3, 12, 1, ("2/7", "3/7"), ("6/7",)),
    (4, 15, 2, ("1/11", "2/11"), ("4/11", "10/11")),
    (6, 20, 3, ("2/3",), ("2/3", "1/3")),
)


def equal_changes(share: bool = True, rest: int = 1) -> Iterator[Shown]:
    """The changes of Y and z by Lemmas 1 and 2, entry by entry, are those of the few numbers.

    Y has the form, f and the probabilities are any rational numbers that are alike in all classes:
    how they come from the logits does not matter. The dense side knows nothing of the form.

    Args:
        share: whether each class adds to its own query only.
        rest: whether the other outputs enter the gain of the few numbers; 1 in truth.
    """
    for K, M, L, common, distinct in SHAPES:
        f_c, f_d = [Fraction(x) for x in common], [Fraction(x) for x in distinct]
        yield from _equal_changes(K, M, L, f_c, f_d, share, rest)


def _equal_changes(
    K: int, M: int, L: int, f_c: list[Fraction], f_d: list[Fraction], share: bool, rest: int
) -> Iterator[Shown]:
    """The same for one shape."""
    C, D = len(f_c), len(f_d)
    a = [Fraction(2 + i, 3) for i in range(C)]
    u, v = [Fraction(5 + i, 2) for i in range(D)], [Fraction(-1 - i, 7) for i in range(D)]
    left = [-(x + (K - 1) * y) / (M - K) for x, y in zip(u, v, strict=True)]
    p_own, p_other = Fraction(1, 3), Fraction(1, 4 * K)
    p_rest = (1 - p_own - (K - 1) * p_other) / (M - K)

    Y = [[Fraction(0)] * M for _ in range(M)]
    for i in range(C):
        Y[i] = [a[i]] * K + [-K * a[i] / (M - K)] * (M - K)
    for n in range(K):
        for i in range(D):
            Y[C + n * D + i] = [u[i] if k == n else v[i] for k in range(K)] + [left[i]] * (M - K)
    change_Y = [[Fraction(0)] * M for _ in range(M)]
    change_z = [[Fraction(0)] * M for _ in range(L)]
    logits = set()
    for n in range(K):
        f = [*f_c, *[Fraction(0)] * (M - C)]
        f[C + n * D : C + (n + 1) * D] = f_d
        gap = [int(k == n) - (p_own if k == n else p_other if k < K else p_rest) for k in range(M)]
        g = [sum((x * y for x, y in zip(row, gap, strict=True)), Fraction(0)) for row in Y]
        along = sum((x * y for x, y in zip(f, g, strict=True)), Fraction(0))
        found = [sum((f[i] * Y[i][k] for i in range(M)), Fraction(0)) for k in range(M)]
        logits.add((found[n], *sorted(set(found[:n] + found[n + 1 : K])), *set(found[K:])))
        for m in range(L) if not share else [n * L // K]:
            change_z[m] = [
                z + x * (y - x * along) / K for z, x, y in zip(change_z[m], f, g, strict=True)
            ]
        for token, x in enumerate(f):
            change_Y[token] = [y + x * e / K for y, e in zip(change_Y[token], gap, strict=True)]

    # the few numbers
    g_c = [(M - K) * p_rest * (x + rest * K * x / (M - K)) for x in a]
    g_d = [
        x * (1 - p_own) - (K - 1) * y * p_other - rest * (M - K) * w * p_rest
        for x, y, w in zip(u, v, left, strict=True)
    ]
    along = sum((x * y for x, y in zip(f_c + f_d, g_c + g_d, strict=True)), Fraction(0))
    few_z = [x * (y - x * along) for x, y in zip(f_c + f_d, g_c + g_d, strict=True)]
    off_z = sum(abs(change_z[m][i] - few_z[i] / L) for m in range(L) for i in range(C))
    for n in range(K):
        for i in range(D):
            off_z += abs(change_z[n * L // K][C + n * D + i] - few_z[C + i] / K)
    off_Y = Fraction(0)
    for i in range(C):
        few = f_c[i] * (1 - p_own - (K - 1) * p_other) / K
        off_Y += sum(abs(change_Y[i][k] - few) for k in range(K))
    for n in range(K):
        for i in range(D):
            row = change_Y[C + n * D + i]
            few_of = [f_d[i] * (1 - p_own if k == n else -p_other) / K for k in range(K)]
            off_Y += sum(abs(x - y) for x, y in zip(row[:K], few_of, strict=True))
    sums = sum((abs(sum(row, Fraction(0))) for row in change_Y), Fraction(0))
    where = f"$K = {K}$, $M = {M}$, {counted(L, 'queries')}"
    yield relation(
        f"{where}: number of different sets of logits over the classes",
        len(logits),
        "=",
        1,
        len(logits) - 1,
    )
    yield relation(f"{where}: distance of full and reduced changes of $z$", off_z, "=", 0, off_z)
    yield relation(f"{where}: distance of full and reduced changes of $Y$", off_Y, "=", 0, off_Y)
    yield relation(f"{where}: sums of the rows of the change of $Y$", sums, "=", 0, sums)
