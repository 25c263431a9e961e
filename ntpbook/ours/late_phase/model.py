"""The late phase in plain high-precision numbers: the exponential model, and the true loss.

Data and forces come from `ntpbook.shared.plain_stage2`, which is written from the paper alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mpmath import mp

from ntpbook.shared import plain_stage2 as plain
from ntpbook.shared.plain_stage2 import Data, Pair, Weights, as_real, inner

Vector = dict[tuple[int, int], Any]


def combine(weights: Mapping[Pair, Any], data: Data) -> Vector:
    """B^T p, the sum of the p_e B_e."""
    found: Vector = {place: 0 * next(iter(weights.values())) for place in data.star}
    for (q, a, b), p in weights.items():
        found[q, a] += p
        found[q, b] -= p
    return found


def margin(pair: Pair, W: Mapping[tuple[int, int], Any]) -> Any:
    """<B_e, W>."""
    q, a, b = pair
    return W[q, a] - W[q, b]


# The exponential model


@dataclass(frozen=True)
class Late:
    """The exponential model of the late phase: F and its gradient step.

    Attributes:
        data: the samples.
    """

    data: Data

    @cached_property
    def C(self) -> dict[Pair, Any]:
        """C_e = sum of pi_n c_j / c_o over the samples, all pairs."""
        found: dict[Pair, Any] = dict.fromkeys(self.data.pairs, mp.mpf(0))
        for n in self.data.samples:
            for j, count in n.rivals:
                found[n.query, n.optimal, j] += n.pi * count / n.count
        return found

    @cached_property
    def tight(self) -> tuple[Pair, ...]:
        """The pairs with margin exactly 1 at W*."""
        return tuple(e for e in self.data.pairs if margin(e, self.data.star) == 1)

    @property
    def all_tight(self) -> bool:
        """Whether no pair is slack."""
        return len(self.tight) == len(self.data.pairs)

    @property
    def S(self) -> Any:
        """||W*||^2."""
        return as_real(self.data.S)

    @property
    def w(self) -> Any:
        """||W*||."""
        return mp.sqrt(self.S)

    def split(self, W: Mapping[tuple[int, int], Any]) -> tuple[Any, Vector]:
        """(x, y), the parts of W along W* and across it."""
        along = inner(W, self.data.star) / self.S
        return along * self.w, {v: W[v] - along * as_real(self.data.star[v]) for v in W}

    def F(self, y: Mapping[tuple[int, int], Any]) -> Any:
        """log sum of C_e e^{-<B_e, y>} over the tight pairs."""
        return mp.log(mp.fsum(self.C[e] * mp.exp(-margin(e, y)) for e in self.tight))

    def p(self, y: Mapping[tuple[int, int], Any]) -> dict[Pair, Any]:
        """The distribution in proportion to these terms."""
        terms = {e: self.C[e] * mp.exp(-margin(e, y)) for e in self.tight}
        total = mp.fsum(terms.values())
        return {e: term / total for e, term in terms.items()}

    def step(self, y: Mapping[tuple[int, int], Any], eta: Any) -> tuple[Vector, Any, Any]:
        """(y - s grad F, s, D) of one step of size eta, s = eta / ||g||, ||g||^2 = gamma^2 + D."""
        g = combine(self.p(y), self.data)
        s = eta / mp.sqrt(inner(g, g))
        _, across = self.split(g)
        D = inner(across, across)
        return {v: y[v] + s * across[v] for v in y}, s, D

    @property
    def one_optimal(self) -> bool:
        """Whether each query has one optimal token; then all pairs are tight and none is idle."""
        return len({(q, a) for q, a, _ in self.data.pairs}) == len({e[0] for e in self.data.pairs})

    @cached_property
    def R(self) -> Vector:
        """The minimiser of F where each query has one optimal token."""
        return self.residual()

    def residual(self, factor: int = 1) -> Vector:
        """The matrix across W* with margins log(C_e (1 + factor m)) up to a constant.

        m is the number of rivals of the query; the entries of a query sum to zero.

        Args:
            factor: of the number of rivals; 1 for the minimiser of F.

        Raises:
            ValueError: a query has several optimal tokens.
        """
        if not self.one_optimal:
            raise ValueError("a query has several optimal tokens")
        rivals: dict[int, list[Pair]] = {}
        for e in self.data.pairs:
            rivals.setdefault(e[0], []).append(e)
        R = {place: mp.mpf(0) for place in self.data.star}
        for pairs in rivals.values():
            logs = {e: mp.log(self.C[e] * (1 + factor * len(pairs))) for e in pairs}
            top = mp.fsum(logs.values()) / (1 + len(pairs))
            for (q, a, j), value in logs.items():
                R[q, a], R[q, j] = top, top - value
        return self.split(R)[1]


def descent_constant(S: Any, eta: Any) -> Any:
    """c of Lemma D: max of (1 - theta) / (1 - theta + 2 theta S), if theta <= 1, and 1 - eta w / 2.

    theta = eta / w; positive iff eta < max(w, 2 / w).
    """
    w = mp.sqrt(S)
    theta = eta / w
    second = 1 - eta * w / 2
    return max((1 - theta) / (1 - theta + 2 * theta * S), second) if theta <= 1 else second


# The true loss beside the model


def one_hot(data: Data, A: Any) -> tuple[Any, Any, Any]:
    """(L_star, 1 - T_star, h_star) at one-hot attention; they need not be reached."""
    X = (data.vocab_size - 1) * mp.exp(-A)
    wrong = X / (1 + X)
    return mp.log1p(X), wrong, wrong * data.vocab_size / (data.vocab_size - 1)


def attention(data: Data, W: Mapping[tuple[int, int], Any]) -> list[Any]:
    """1 - m_o of each sample."""
    odds = [mp.fsum(plain.ratios(sample, W)) for sample in data.samples]
    return [rho / (1 + rho) for rho in odds]


def losses(data: Data, W: Mapping[tuple[int, int], Any], A: Any) -> list[Any]:
    """The loss of each sample."""
    return [mp.log1p(one.X) for one in plain.samples_at(data, W, A)]


def excesses(data: Data, W: Mapping[tuple[int, int], Any], A: Any) -> list[Any]:
    """The loss of each sample above L_star, without cancellation.

    X / X_star = e^{A r} (1 + sum_k (e^{A m_k} - 1) / (|V| - 1)), r = 1 - m_o.
    """
    wrong, found = one_hot(data, A)[1], []
    for sample, r in zip(data.samples, attention(data, W), strict=True):
        # not log(1 + X) less L_star, which cancels
        terms = [mp.expm1(A * (1 - r) * x) for x in plain.ratios(sample, W)]
        others = mp.fsum(terms) / (data.vocab_size - 1)
        found.append(mp.log1p(wrong * mp.expm1(A * r + mp.log1p(others))))
    return found


# Theorem E


@dataclass(frozen=True)
class Certificate:
    """Two-sided bounds on 1 - cos for all later steps, from one state (Theorem E).

    Attributes:
        step: t_1, the step of the state.
        reach: ||R|| + omega, what ||y_t|| never exceeds.
        least: max(||R|| - omega, 0), what it never falls below.
        lag: xi, so that t eta - xi <= x_t <= t eta.
        eta: the step size.
    """

    step: int
    reach: Any
    least: Any
    lag: Any
    eta: Any

    def bounds(self, t: int) -> tuple[Any, Any]:
        """(lower, upper) bound on 1 - cos at step t >= t_1 with t eta > xi."""
        length = t * self.eta
        low = self.least**2 / (2 * (length**2 + self.reach**2))
        return low, self.reach**2 / (2 * (length - self.lag) ** 2)


def omega(late: Late, y: Mapping[tuple[int, int], Any], eta: Any, delta: Any) -> Any:
    """(||y - R||^2 + (eta w / c) (F(y) - F(R)))^{1/2} + 2 delta, with c of `constant`."""
    away = {v: y[v] - late.R[v] for v in y}
    excess = max(late.F(y) - late.F(late.R), mp.mpf(0))  # R is the minimiser; below is rounding
    c = constant(late, eta)[0]
    return mp.sqrt(inner(away, away) + eta * late.w / c * excess) + 2 * delta


def constant(late: Late, eta: Any) -> tuple[Any, bool]:
    """c of Lemma D, or (2 - theta) / 4 where that is not positive; and whether it was not."""
    c = descent_constant(late.S, eta)
    return (c, False) if c > 0 else ((2 - eta / late.w) / 4, True)


def certify(
    data: Data,
    W: Weights,
    t: int,
    A: Any,
    eta: Any,
    delta: Any,
    *,
    eight: Any = 8,
    of_omega: int = 1,
    of_S: int = 1,
) -> Certificate | None:
    """The certificate of Theorem E at a state of a run, or None where its condition fails.

    Supposes that each query has one optimal token, so that all pairs are tight and none is idle.

    Args:
        data: the samples.
        W: W^(t).
        t: the step.
        A: the gap.
        eta: the step size, below 2 w.
        delta: in (0, 1], what perturbations may add.
        eight: the 8 of condition (late).
        of_omega: how often omega stands in the exponent of condition (late); 1 in truth.
        of_S: the power of S in the lag; 1 in truth.
    """
    late = Late(data)
    x, y = late.split(W)
    w, S, theta = late.w, late.S, eta / late.w
    c, local = constant(late, eta)
    scale = mp.sqrt(2) * eta * w / c  # Lambda
    excess = max(late.F(y) - late.F(late.R), mp.mpf(0))
    wide = omega(late, y, eta, delta)
    size = mp.sqrt(inner(late.R, late.R))
    zeta = mp.sqrt(2) * S * wide
    if local and theta / 2 * (1 + zeta) * mp.exp(theta * zeta) > (2 + theta) / 4:
        return None
    left = eight * eta * w * (3 * A + 4) * (data.max_length - 1) * (1 + mp.sqrt(2) * S / eta)
    left *= mp.exp(-x / w + mp.sqrt(2) * (size + of_omega * wide))
    if left > min(delta, delta**2 / scale):
        return None
    lag = t * eta - x + S**of_S / (mp.sqrt(2) * c) * (excess + mp.sqrt(2) * delta) + delta
    return Certificate(t, size + wide, max(size - wide, mp.mpf(0)), lag, eta)


def one_minus_cos(late: Late, W: Weights) -> Any:
    """1 - cos of the angle between W and W*."""
    x, y = late.split(W)
    z = inner(y, y) / x**2
    return -mp.expm1(-mp.log1p(z) / 2)


def K_2(max_length: int) -> Any:
    """8 L^2 + log(14 L^3), what stands for K while the loss is large (Theorem G)."""
    L = mp.mpf(max_length)
    return 8 * L**2 + mp.log(14 * L**3)
