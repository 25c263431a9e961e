"""The inequalities of the late phase on exact and on sixty-digit numbers, and its limits on runs.

Nothing here proves anything; it would show an error of the proofs. Data and forces come from
`why_it_turns.model`, which is written from the paper alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from mpmath import mp

from ntpbook.huang2024.why_it_turns import model
from ntpbook.huang2024.why_it_turns.instances import Compared
from ntpbook.huang2024.why_it_turns.model import Data, Pair, Weights, as_real, inner

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


# Lemma H, in fractions


def harmonic(data: Data, p: Mapping[Pair, Fraction], *, power: int = 1) -> Compared:
    """sum of p_e / G_e^power over p_e > 0, at most S for power 1 (Lemma H); exact.

    Args:
        data: for its pairs and W*.
        p: a distribution on pairs.
        power: 1 in truth.
    """
    V = combine(p, data)
    total = sum((x / margin(e, V) ** power for e, x in p.items() if x), Fraction(0))
    return Compared("Lemma H", total, data.S)


def random_distribution(
    rng: np.random.Generator, pairs: Iterable[Pair], largest: int = 10**6
) -> dict[Pair, Fraction]:
    """A distribution of random integers on a random part of the pairs, some of them tiny."""
    chosen = list(pairs)
    keep = rng.random(len(chosen)) < rng.uniform(0.2, 1)
    keep[int(rng.integers(len(chosen)))] = True
    chosen = [e for e, kept in zip(chosen, keep, strict=True) if kept]
    scale = rng.uniform(0, np.log(largest), len(chosen))
    parts = [1 + int(np.exp(x)) for x in scale]
    return {e: Fraction(part, sum(parts)) for e, part in zip(chosen, parts, strict=True)}


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

    @cached_property
    def R(self) -> Vector:
        """The minimiser of F where each query has one optimal token.

        Margins log(C_e (1 + m)) up to a constant, entries of a query summing to zero, R across W*.

        Raises:
            ValueError: a query has several optimal tokens.
        """
        rivals: dict[int, list[Pair]] = {}
        for e in self.data.pairs:
            rivals.setdefault(e[0], []).append(e)
        R = {place: mp.mpf(0) for place in self.data.star}
        for query, pairs in rivals.items():
            if len({a for _, a, _ in pairs}) > 1:
                raise ValueError(f"query {query} has several optimal tokens")
            logs = {e: mp.log(self.C[e] * (1 + len(pairs))) for e in pairs}
            top = mp.fsum(logs.values()) / (1 + len(pairs))
            for e, value in logs.items():
                R[query, e[1]], R[query, e[2]] = top, top - value
        return self.split(R)[1]


def descent_constant(S: Any, eta: Any) -> Any:
    """c of Lemma D: max of (1 - theta) / (1 - theta + 2 theta S), if theta <= 1, and 1 - eta w / 2.

    theta = eta / w; positive iff eta < max(w, 2 / w).
    """
    w = mp.sqrt(S)
    theta = eta / w
    second = 1 - eta * w / 2
    return max((1 - theta) / (1 - theta + 2 * theta * S), second) if theta <= 1 else second


def descent(late: Late, y: Mapping[tuple[int, int], Any], eta: Any, *, better: Any = 1) -> Compared:
    """F(y^) + c s D <= F(y) for one step (Lemma D).

    Args:
        late: the exponential model.
        y: a point across W*.
        eta: the step size.
        better: what multiplies c; 1 in truth.
    """
    new, s, D = late.step(y, eta)
    c = better * descent_constant(late.S, eta)
    return Compared("Lemma D", late.F(new) + c * s * D, late.F(y))


def distances(
    late: Late, y: Mapping[tuple[int, int], Any], v: Mapping[tuple[int, int], Any], eta: Any
) -> Compared:
    """||y^ - v||^2 <= ||y - v||^2 - 2 s (F(y) - F(v)) + (s / c) (F(y) - F(y^)) (Lemma N)."""
    new, s, _ = late.step(y, eta)
    c = descent_constant(late.S, eta)
    before, after = ({k: z[k] - v[k] for k in y} for z in (y, new))
    gain = late.F(y) - late.F(new)
    right = inner(before, before) - 2 * s * (late.F(y) - late.F(v)) + s / c * gain
    return Compared("Lemma N", inner(after, after), right)


# The true loss beside the model


def one_hot(data: Data, A: Any) -> tuple[Any, Any, Any]:
    """(L_star, 1 - T_star, h_star) at one-hot attention; they need not be reached."""
    X = (data.vocab_size - 1) * mp.exp(-A)
    wrong = X / (1 + X)
    return mp.log1p(X), wrong, wrong * data.vocab_size / (data.vocab_size - 1)


def attention(data: Data, W: Mapping[tuple[int, int], Any]) -> list[Any]:
    """1 - m_o of each sample."""
    found = []
    for sample in data.samples:
        rho = mp.fsum(mp.exp(-u) for u in model.effective_margins(sample, W))
        found.append(rho / (1 + rho))
    return found


def losses(data: Data, W: Mapping[tuple[int, int], Any], A: Any) -> list[Any]:
    """The loss of each sample."""
    found = []
    for sample in data.samples:
        part = [mp.exp(-u) for u in model.effective_margins(sample, W)]
        m_o = 1 / (1 + mp.fsum(part))
        X = mp.fsum(mp.exp(-A * m_o * (1 - x)) for x in part)
        X += (data.vocab_size - 1 - len(part)) * mp.exp(-A * m_o)
        found.append(mp.log1p(X))
    return found


def perturbation(data: Data, W: Weights, A: Any, *, three: Any = 3) -> Iterator[Compared]:
    """Lemma P at a state with r = max (1 - m_o) <= 1/4: the forces, and the step if all are tight.

    |log Xi_e| <= (3 A + 4) r, where the total force on e is A h_star C_e Xi_e e^{-u_e}; and
    ||d - d^0|| <= 2 w (e^eps - 1), eps = 2 (3 A + 4) (L - 1) e^{-min u} <= 1.

    Args:
        data: the samples.
        W: the state.
        A: the gap.
        three: the 3 of the bound.

    Raises:
        ValueError: r is above 1/4.
    """
    late, r = Late(data), max(attention(data, W))
    if r > mp.mpf(1) / 4:
        raise ValueError(f"1 - m_o is {mp.nstr(r, 5)}; Lemma P needs at most 1/4")
    b, h_star = model.forces(data, W, A), one_hot(data, A)[2]
    total = dict.fromkeys(data.pairs, mp.mpf(0))
    for sample, values in zip(data.samples, b, strict=True):
        for (j, _), value in zip(sample.rivals, values, strict=True):
            total[sample.query, sample.optimal, j] += value
    for e, value in total.items():
        Xi = value * mp.exp(margin(e, W)) / (A * h_star * late.C[e])
        yield Compared("force", abs(mp.log(Xi)), (three * A + 4) * r)
    u = min(margin(e, W) for e in data.pairs)
    epsilon = 2 * (3 * A + 4) * (data.max_length - 1) * mp.exp(-u)
    if late.all_tight and epsilon <= 1:
        G, (_, y) = model.gradient(data, b), late.split(W)
        g = combine(late.p(y), data)
        sizes = mp.sqrt(inner(G, G)), mp.sqrt(inner(g, g))
        apart = {v: G[v] / sizes[0] - g[v] / sizes[1] for v in G}
        yield Compared("step", mp.sqrt(inner(apart, apart)), 2 * late.w * mp.expm1(epsilon))


def excesses(data: Data, W: Mapping[tuple[int, int], Any], A: Any) -> list[Any]:
    """The loss of each sample above L_star, without cancellation.

    X / X_star = e^{A r} (1 + sum_k (e^{A m_k} - 1) / (|V| - 1)), r = 1 - m_o.
    """
    wrong, found = one_hot(data, A)[1], []
    for sample, r in zip(data.samples, attention(data, W), strict=True):
        part = [mp.exp(-u) for u in model.effective_margins(sample, W)]
        others = mp.fsum(mp.expm1(A * (1 - r) * x) for x in part) / (data.vocab_size - 1)
        found.append(mp.log1p(wrong * mp.expm1(A * r + mp.log1p(others))))
    return found


def loss_excess(data: Data, W: Weights, A: Any, *, two: Any = 2) -> Iterator[Compared]:
    """(14): (1 - T_star) A sum pi r_n <= L - L_star <= 2 A sum pi r_n, r_n = 1 - m_o."""
    wrong = one_hot(data, A)[1]
    pi = [sample.pi for sample in data.samples]
    mean = mp.fsum(p * r for p, r in zip(pi, attention(data, W), strict=True))
    excess = mp.fsum(p * x for p, x in zip(pi, excesses(data, W, A), strict=True))
    yield Compared("excess from below", wrong * A * mean, excess)
    yield Compared("excess from above", excess, two * A * mean)


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


def certify(
    data: Data, W: Weights, t: int, A: Any, eta: Any, delta: Any, *, eight: Any = 8
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
        eight: the 8 of condition (13).
    """
    late = Late(data)
    x, y = late.split(W)
    w, S, theta = late.w, late.S, eta / late.w
    c = descent_constant(S, eta)
    local = c <= 0
    if local:
        c = (2 - theta) / 4
    scale = mp.sqrt(2) * eta * w / c  # Lambda
    away = {v: y[v] - late.R[v] for v in y}
    excess = max(late.F(y) - late.F(late.R), mp.mpf(0))  # R is the minimiser; below is rounding
    omega = mp.sqrt(inner(away, away) + eta * w / c * excess) + 2 * delta
    size = mp.sqrt(inner(late.R, late.R))
    zeta = mp.sqrt(2) * S * omega
    if local and theta / 2 * (1 + zeta) * mp.exp(theta * zeta) > (2 + theta) / 4:
        return None
    left = eight * eta * w * (3 * A + 4) * (data.max_length - 1) * (1 + mp.sqrt(2) * S / eta)
    left *= mp.exp(-x / w + mp.sqrt(2) * (size + omega))
    if left > min(delta, delta**2 / scale):
        return None
    lag = t * eta - x + S / (mp.sqrt(2) * c) * (excess + mp.sqrt(2) * delta) + delta
    return Certificate(t, size + omega, max(size - omega, mp.mpf(0)), lag, eta)


def one_minus_cos(late: Late, W: Weights) -> Any:
    """1 - cos of the angle between W and W*."""
    x, y = late.split(W)
    z = inner(y, y) / x**2
    return -mp.expm1(-mp.log1p(z) / 2)


# Theorem G


def slow_loss(data: Data, W: Weights, A: Any) -> Iterator[Compared]:
    """<g, W> <= K_2 = 8 L^2 + log(14 L^3) wherever u~ >= 0 and L > |V| e^{-A / 4} (Theorem G)."""
    loss = mp.fsum(n.pi * x for n, x in zip(data.samples, losses(data, W, A), strict=True))
    if loss <= data.vocab_size * mp.exp(-A / 4):
        return
    b = model.forces(data, W, A)
    pulls = [value for values in b for value in values]
    u = [value for sample in data.samples for value in model.margins(sample, W)]
    L = data.max_length
    left = mp.fsum(p * v for p, v in zip(pulls, u, strict=True)) / mp.fsum(pulls)
    yield Compared("Theorem G, state", left, 8 * L**2 + mp.log(14 * L**3))


def loss_after(data: Data, A: Any, eta: Any, *, power: Any = 0.25) -> Compared:
    """log L <= log |V| - A / 4 at the first t > 2 S (1 + 2 K_2 w / eta) (Theorem G)."""
    L, S = data.max_length, as_real(data.S)
    K_2 = 8 * L**2 + mp.log(14 * L**3)
    steps = int(mp.floor(2 * S * (1 + 2 * K_2 * mp.sqrt(S) / eta))) + 1
    *_, W = model.run(data, A, eta, steps)
    loss = mp.fsum(n.pi * x for n, x in zip(data.samples, losses(data, W, A), strict=True))
    return Compared("Theorem G", mp.log(loss), mp.log(data.vocab_size) - A * mp.mpf(power))


# What fails when a hypothesis goes


def equation_4_after_one_step(eta: Any, A: Any = 120) -> Compared:
    """log L <= log |V| - T C_0 (1 - 2 L / (L + e^{C_1 t})) at t = 1 on two pairs, one of them rare.

    |V| = 4, L = 2, S = 1, shares .999 and .001; T C_0 = A / (4 sqrt(3)), C_1 = eta / 8. The printed
    condition is empty at t = 1, since log 1 = 0.
    """
    pi = mp.mpf(999) / 1000, mp.mpf(1) / 1000
    samples = (model.Sample(2 * i + 1, 2 * i, 1, ((2 * i + 1, 1),), p) for i, p in enumerate(pi))
    data = Data(4, tuple(samples))
    (W,) = model.run(data, A, eta, 1)
    loss = mp.fsum(n.pi * x for n, x in zip(data.samples, losses(data, W, A), strict=True))
    exponent = mp.mpf(A) / (4 * mp.sqrt(3)) * (1 - 4 / (2 + mp.exp(mp.mpf(eta) / 8)))
    return Compared("equation (4)", mp.log(loss), mp.log(4) - exponent)


def size_of_the_residual(data: Data, steps: int) -> Compared:
    """||R|| <= sqrt(E) log(|V| (L - 1) / (2 pi_min)) / 2 with R by steps of the exponential model.

    A theorem where each query has one optimal token, and false in general.
    """
    late = Late(data)
    y = data.zero
    for _ in range(steps):
        y = late.step(y, late.w * mp.mpf("0.9"))[0]
    size, L = mp.sqrt(inner(y, y)), data.max_length
    largest = mp.log(data.vocab_size * (L - 1) / (2 * data.pi_min))
    return Compared("size of R", size, mp.sqrt(len(data.pairs)) / 2 * largest)


def long_column(count: int) -> Data:
    """One query with two optimal tokens, four tight pairs and none idle; S = 6 / 5.

    The sentence with count times 0, count times 3 and once 2 is followed by n(0), that with count
    times 1, once 4 and count times 2 by n(1), each half of the data; 2 is the query.
    """
    half = mp.mpf(1) / 2
    first = model.Sample(2, 0, count, ((2, 1), (3, count)), half)
    return Data(5, (first, model.Sample(2, 1, count, ((2, count), (4, 1)), half)))


def without_residual() -> Data:
    """Two queries with one and two rivals, shares .6 and .4: all C_e (1 + m) agree, so R = 0."""
    pi = mp.mpf(6) / 10, mp.mpf(4) / 10
    one = model.Sample(0, 0, 1, ((1, 1),), pi[0])
    return Data(4, (one, model.Sample(2, 2, 1, ((1, 1), (3, 1)), pi[1])))
