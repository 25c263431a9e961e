"""Steps of the proofs on scanning and snapping, in symbols and derived from (10), (13), Lemma 6."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ntpbook.shared.symbols import at_least_zero, identity
from ntpcore.verdicts.claims import Shown
from ntpcore.verdicts.vocabulary import relation


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


def single_common_token() -> Iterator[Shown]:
    """(10) with beta = f_n . f_n': the common token's speed is -K (1 - c^2) xi, xi = (K-1) c^4."""
    import sympy as sp

    c, d, w = sp.symbols("c d w", positive=True)
    for K in (2, 3, 5):
        for shares in ((d,), (d, w)):
            speeds, forces = sums_of_10(_classes(K, shares, c))
            where = f"K = {K}, {len(shares)} distinct tokens"
            yield identity(f"{where}: xi", forces[0], (K - 1) * c**4)
            yield identity(f"{where}: speed", speeds[0], -K * (1 - c**2) * (K - 1) * c**4)


def integral_of_speed(half: float = 0.5) -> Iterator[Shown]:
    """d/dt (eta_Z/eta_Y) K (M-1)^2 h^2/2 = eta_Z gamma, with h' of Lemma 6 and gamma of Lemma 9."""
    import sympy as sp

    M, K, eta_Y, eta_Z, h = sp.symbols("M K eta_Y eta_Z h", positive=True)
    Gamma = eta_Z / eta_Y * K * (M - 1) ** 2 * sp.nsimplify(half) * h**2
    rate = eta_Y / (M - 1 + sp.exp(M * h)) / K  # Lemma 6, the argument being t / K
    gamma = (M - 1) ** 2 * h / (M - 1 + sp.exp(M * h))
    yield identity("dGamma/dt", sp.diff(Gamma, h) * rate, eta_Z * gamma)
    yield identity("Gamma at h = 0", Gamma.subs(h, 0), sp.Integer(0))


def solution_of_13(factor: float = 4.0) -> Iterator[Shown]:
    """z = -B, B = ln(1 + 4 Gamma/C_0)/4 solve dB = dGamma e^(4z)/C_0 from 0."""
    import sympy as sp

    C_0, t = sp.symbols("C_0 t", positive=True)
    Gamma = sp.Function("Gamma", positive=True)(t)
    B = sp.log(1 + sp.nsimplify(factor) * Gamma / C_0) / 4
    force = sp.diff(Gamma, t) * sp.exp(-4 * B) / C_0
    yield identity("dB/dt", sp.diff(B, t), force)
    yield identity("B at Gamma = 0", B.subs(Gamma, 0), sp.Integer(0))


def both_stages() -> Iterator[Shown]:
    """The chord of e^x - 1 up to ln M, and tau where e^x = (M - 1) x, from Lemma 6's equation."""
    import sympy as sp

    M, x = sp.symbols("M x", positive=True)
    curve = sp.exp(x) - 1  # M tau = curve + (M - 1) x
    chord = x * curve.subs(x, sp.log(M)) / sp.log(M)
    bound = x * (M - 1) / M * (1 + 1 / sp.log(M))
    yield identity("tau on the chord", (chord + (M - 1) * x) / M, bound)
    yield at_least_zero("e^x - 1 is convex", sp.diff(curve, x, 2))
    upper = (curve + (M - 1) * x).subs(sp.exp(x), (M - 1) * x) / M  # tau at the upper zero
    yield identity("what t_0 has beyond it", 2 * x - upper, (2 * x + 1) / M)


def exponents() -> Iterator[Shown]:
    """z_c = -K z_l, Phi and Psi along (10), and e^2 Phi -> 1, for K = 2, 3, 5 and all K."""
    import sympy as sp

    e, K = sp.symbols("e K", positive=True)
    distinct, xi = (K - 1) * e**2 * (1 - e), (K - 1) * e**2
    for k in (2, 3, 5):
        speeds, forces = sums_of_10(_classes(k, (sp.sqrt(1 - e),), sp.sqrt(e)))
        yield identity(f"K = {k}: speed of a distinct token", speeds[1], distinct.subs(K, k))
        yield identity(f"K = {k}: speed of the common one", speeds[0], -k * speeds[1])
        yield identity(f"K = {k}: xi", forces[0], xi.subs(K, k))
    slope = 2 * e * (1 - e) * (-K - 1) * distinct  # e / (1 - e) goes like exp(2 (z_c - z_l))
    Phi = 1 / e**2 + 4 / e - 6 * sp.log(e / (1 - e)) - 2 / (1 - e)
    Psi = sp.log(e / (1 - e)) + 1 / (1 - e)
    yield identity("dPhi/dGamma", sp.diff(Phi, e) * slope, 4 * (K**2 - 1))
    yield identity("-dPsi/dGamma", -sp.diff(Psi, e) * slope, 2 * (K + 1) * xi)
    yield identity("limit of e^2 Phi", sp.limit(e**2 * Phi, e, 0, "+"), sp.Integer(1))


def onset_without_rates() -> Iterator[Shown]:
    """eta_Y t_0/K is free of the rates, and Gamma at given tau holds their ratio only."""
    import sympy as sp

    K, M, eta_Y, eta_Z, a, omega, x = sp.symbols("K M eta_Y eta_Z a omega x", positive=True)
    t_0 = 2 * (1 + omega) * K * sp.log(M) / eta_Y
    tau = eta_Y * t_0 / K
    Gamma = eta_Z / eta_Y * K * ((M - 1) / M * x) ** 2 / 2
    scaled = {eta_Y: a * eta_Y, eta_Z: a * eta_Z}
    yield identity("tau(t_0) by eta_Y", sp.diff(tau, eta_Y), sp.Integer(0))
    yield identity("Gamma, both rates scaled", Gamma.subs(scaled, simultaneous=True), Gamma)


def neglected_constant(half: float = 0.5) -> Iterator[Shown]:
    """ln(4 Gamma_2)/4 is the right-hand side of (132), Gamma_2 being Gamma at x = ln(M tau)."""
    import sympy as sp

    K, M, nu = sp.symbols("K M nu", positive=True)
    log = sp.Symbol("log", positive=True)  # ln(M eta_Y t/K)
    Gamma = K * (M - 1) ** 2 * (log / M) ** 2 / nu / 2  # (128) with h = log/M
    claimed = sp.nsimplify(half) * sp.log(log) + sp.log(2 * K * (M - 1) ** 2 / M**2 / nu) / 4
    gap = sp.exp(4 * (sp.log(4 * Gamma) / 4 - claimed))
    yield identity("e^(4 (B - (132))) at C_0 = 0", sp.powsimp(sp.expand_log(gap)), sp.Integer(1))


def fate_of_ratios() -> Iterator[Shown]:
    """(10): d ln(f_1/f_l) = (f_1^2 - f_l^2) dB, d ln(f_1/f_c) = (f_1^2 + K (1 - f_c^2)) dB.

    Two distinct tokens in each of K = 2, 3 classes, one common token; dB = eta_Z xi dt.
    """
    import sympy as sp

    c, d, w = sp.symbols("c d w", positive=True)
    for K in (2, 3):
        speeds, forces = sums_of_10(_classes(K, (d, w), c))
        length = {c: sp.sqrt(1 - d**2 - w**2)}
        own = sp.simplify(((speeds[1] - speeds[2]) / forces[0]).subs(length))
        common = sp.simplify(((speeds[1] - speeds[0]) / forces[0]).subs(length))
        yield identity(f"K = {K}: two distinct tokens", own, d**2 - w**2)
        yield identity(f"K = {K}: distinct against common", common, d**2 + K * (d**2 + w**2))


def scaling_is_waiting() -> Iterator[Shown]:
    """Gamma for rates (a eta_Y, a eta_Z) at t is that for (eta_Y, eta_Z) at a t."""
    import sympy as sp

    K, M, eta_Y, eta_Z, a, t = sp.symbols("K M eta_Y eta_Z a t", positive=True)
    x = sp.Function("x", positive=True)
    Gamma = eta_Z / eta_Y * K * ((M - 1) / M * x(eta_Y * t / K)) ** 2 / 2
    scaled = Gamma.subs({eta_Y: a * eta_Y, eta_Z: a * eta_Z}, simultaneous=True)
    yield identity("Gamma, both rates scaled", scaled, Gamma.subs(t, a * t))


def slower_decoder() -> Iterator[Shown]:
    """x^2/tau falls with x where e^x (x - 2) > (M - 1) x - 2, so for M >= 6 from t_0 on.

    With e^x = u (M - 1) x, u >= 1 from the upper zero of Lemma 8 on, that holds for x >= 3.
    """
    import sympy as sp

    from ntpcore.tian2023 import decoder

    x, M, u, s = sp.symbols("x M u s", positive=True)
    tau = (sp.exp(x) - 1 + (M - 1) * x) / M
    sign = (M - 1) * x - 2 - sp.exp(x) * (x - 2)
    yield identity("slope of x^2/tau", sp.diff(x**2 / tau, x) * tau**2 * M / x, sign)
    beyond = (sp.exp(x) * (x - 2) - (M - 1) * x + 2).subs(sp.exp(x), (1 + u) * (M - 1) * x)
    room = sp.expand(beyond.subs({x: 3 + s, M: 1 + M}))
    yield at_least_zero("its negative at e^x = (1 + u)(M - 1) x, x = 3 + s", room, strictly=True)
    first = decoder.crossings(8)[1]
    yield relation("upper zero for M = 8, which grows with M", f"{first:.4f}", ">", 3, first - 3)
    for size in (6, 7):
        at = float(decoder.height(size, 2 * decoder.crossings(size)[1]))
        left, right = math.exp(at) * (at - 2), (size - 1) * at - 2
        yield relation(f"M = {size} at t_0", f"{left:.4f}", ">", f"{right:.4f}", left - right)
