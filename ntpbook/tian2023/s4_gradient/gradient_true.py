"""Check of our statement on xi under the gradient (7) itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s4_gradient import gradient_steps as steps
from ntpcore.tian2023.decoder import flow, speed, xi, zero_decoder
from ntpcore.tian2023.gradient import random_correlations, xi_uniform
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]


@cache
def first_order_step() -> bool:
    """a_k = ((M-1)/M)^2 tau zeta_k . zeta_n + ... = -tau / M + ... for k != n, every E and M."""
    import sympy as sp

    M = sp.symbols("M", positive=True)
    both = ((M - 1) / M) ** 2 * (-M / (M - 1) ** 2)
    return steps.overlap_steps() and bool(sp.simplify(both + 1 / M) == 0)


def equal_overlaps() -> tuple[Any, Any, Any]:
    """For equal overlaps rho: symbols, and xi to second order in tau under (7).

    A has the entries a at its own class, b at the other classes, c at each of the M - K tokens;
    their speeds are p, -q, -u, the residual of the class.

    Returns:
        the symbols (K, M, rho, tau), xi to order tau^2, and a_k - (u (M-K) (b-c) - q (a-b)).
    """
    import sympy as sp

    K, M, rho, tau = sp.symbols("K M rho tau", positive=True)
    a, b, c, q, u = sp.symbols("a b c q u")
    p = (K - 1) * q + (M - K) * u
    coefficient = b * p - a * q - (K - 2) * b * q - (M - K) * c * u
    rest = sp.expand(coefficient - ((M - K) * u * (b - c) - q * (a - b)))
    # first order: a = (M-1)/M tau, b = c = -tau/M; then the logits and the softmax
    first = {a: (M - 1) / M * tau, b: -tau / M, c: -tau / M}
    own, other, none = (
        e.subs(first)
        for e in (a + (K - 1) * rho * b, b + rho * a + (K - 2) * rho * b, c * (1 + (K - 1) * rho))
    )
    mean = (own + (K - 1) * other + (M - K) * none) / M
    q_1, u_1 = (1 + other - mean) / M, (1 + none - mean) / M  # to first order
    p_1 = (K - 1) * q_1 + (M - K) * u_1
    a_2, b_2, c_2 = (sp.integrate(sp.expand(e), (tau, 0, tau)) for e in (p_1, -q_1, -u_1))
    known = {a: a_2, b: b_2, c: c_2, q: q_1, u: u_1}
    xi_2 = sp.expand(-(K - 1) * rho * coefficient.subs(known, simultaneous=True))
    xi_2 = sum(sp.factor(xi_2.coeff(tau, k)) * tau**k for k in (1, 2))
    return (K, M, rho, tau), xi_2, rest


@cache
def equal_overlaps_steps() -> bool:
    """xi = (K-1) rho tau / M (1 + 3/2 ((M-K+1) rho - 1) tau / M + ...), and its sign.

    With s = a - b, d = b - c and D = (1 + (K-1) rho) d + rho s, the log of q / u: where D = 0,
    that is q = u, dD/dtau = rho (p + q), so that D stays positive and d stays negative.
    """
    import sympy as sp

    (K, M, rho, tau), second, rest = equal_overlaps()
    expected = (K - 1) * rho * tau / M * (1 + 3 * tau / (2 * M) * ((M - K + 1) * rho - 1))
    p, q, u, a, b, c = sp.symbols("p q u a b c")
    other, none = b + rho * a + (K - 2) * rho * b, c * (1 + (K - 1) * rho)
    log_ratio = (1 + (K - 1) * rho) * (b - c) + rho * (a - b)
    slope = log_ratio.subs({a: p, b: -q, c: -u}, simultaneous=True)
    return bool(
        rest == 0
        and sp.simplify(second - expected) == 0
        and sp.expand(other - none - log_ratio) == 0
        and sp.expand(slope.subs(u, q) - rho * (p + q)) == 0
    )


@dataclass(frozen=True, eq=False)
class Settled:
    """xi over time for equal overlaps, class 1.

    Attributes:
        K: number of classes.
        M: size of the vocabulary.
        rho: the overlap.
        tau: eta_Y t / K.
        gradient: xi under (7).
        modified: xi under (26), integrated.
        theorem: gamma times the coefficients of Theorem 1.
        early: gamma (K-1) rho / M.
    """

    K: int
    M: int
    rho: float
    tau: Floats
    gradient: Floats
    modified: Floats
    theorem: Floats
    early: Floats


SETTINGS = ((2, 1_000_000, 0.01), (10, 1000, 0.5))


def over_time(K: int, M: int, rho: float, points: int = 40, modified: bool = False) -> Settled:
    """xi of equal overlaps from tau = 0.001 to 1000 ln(M), in continuous time.

    Args:
        K: number of classes.
        M: size of the vocabulary.
        rho: the overlap.
        points: number of times.
        modified: integrate (26) in the place of (7), for the control.
    """
    E = rho * (np.ones((K, K)) - np.eye(K))
    tau = np.geomspace(1e-3, 1000 * np.log(M), points)
    start = zero_decoder(M, E)
    first, second = (
        np.array([xi(state, 0) for state in flow(start, 1.0, tau * K, kind)])
        for kind in (modified, True)
    )
    gamma = speed(M, K, 1.0, tau * K)
    theorem = gamma * xi_uniform(M, E)[0]
    return Settled(K, M, rho, tau, first, second, theorem, gamma * (K - 1) * rho / M)


def _true_cases(settled: Sequence[Settled], seed: int, modified: bool) -> Iterator[Case]:
    """First order for random E, second order and sign for equal overlaps."""
    rng = np.random.default_rng(seed)
    tau = 1e-4
    for K in (2, 3, 5, 10, 20, 50):
        M = int(rng.choice([2 * K, 100 * K, 10**6]))
        E = random_correlations(rng, K, float(rng.choice([0.9 / K, 0.9])), M - K)
        (state,) = flow(zero_decoder(M, E), 1.0, np.array([tau * K]), modified)
        for n in range(min(K, 4)):
            expected = tau / M * E[n].sum()
            if expected > 0:
                error = abs(xi(state, n) / expected - 1)
                yield Case(f"K = {K}, M = {M}, random E, class {n + 1}", 1 - error / (10 * tau))
    for one in settled:
        name = f"K = {one.K}, M = {one.M}, rho = {one.rho}"
        first = (one.K - 1) * one.rho * one.tau / one.M
        factor = 1 + 1.5 * one.tau / one.M * ((one.M - one.K + 1) * one.rho - 1)
        early = one.tau < 0.1
        error = np.abs(one.gradient / (first * factor) - 1)[early]
        yield Case(f"{name}, second order", float((1 - error / one.tau[early] ** 2).min()))
        positive = one.gradient.min() > 0
        yield Case(f"{name}, sign at {len(one.tau)} times", 0.0 if positive else -1.0)


def check_ours_xi_true(
    settled: Sequence[Settled], seed: int, modified: bool = False, **parameters: int
) -> Check:
    """xi under (7): (tau/M) sum_k E_nk to first order, and positive for equal overlaps.

    Args:
        settled: xi over time for equal overlaps.
        seed: of the random E.
        modified: use (26) for the random E, for the control.
        parameters: what repeats the check.
    """
    numbers = {}
    for place, one in enumerate(settled):
        ratio, early = one.gradient / one.theorem, one.gradient / one.early
        for name, moment in (("start", one.tau[0]), ("half", 0.5), ("two", 2.0), ("end", np.inf)):
            at = int(np.argmin(np.abs(np.log(one.tau) - np.log(min(moment, one.tau[-1])))))
            numbers[f"{name}_{place}"] = f"{ratio[at]:.2g}"
            numbers[f"early_{name}_{place}"] = f"{early[at]:.3f}"
        numbers[f"modified_{place}"] = f"{np.abs(one.modified / one.theorem - 1).max():.0e}"
    check = judge(
        "ours-xi-true",
        _true_cases(settled, seed, modified),
        unit="expansions and signs",
        claim="Under (7) xi starts as (tau/M) times the sum of the overlaps, and is positive for "
        "equal overlaps",
        tolerance=0.0,  # errors are compared with the size of the next term, with room
        numbers=numbers,
        parameters={"seed": seed, **parameters},
        by_hand=(
            "equal overlaps keep the three kinds of entries alike",
            "a continuous D with D = 0 and dD/dtau > 0 at 0 and at each later zero stays positive",
            "with positive D, q > u, so b - c falls from 0 while a - b grows",
        ),
        proved=first_order_step() and equal_overlaps_steps(),
    )
    return steps.told(check)


def control_ours_xi_true(seed: int) -> Control:
    """Under (26) the expansion is another one."""
    settled = [over_time(*SETTINGS[1], points=12, modified=True)]
    return Control(
        "The modified update (26) in the place of the gradient (7).",
        Verdict.REFUTED,
        check_ours_xi_true(settled, seed, modified=True).verdict,
    )
