"""The coupled flow of symmetric classes on its own clock, on which it can be followed for ever.

On the clock sigma, d sigma = (eta_Y/K) delta dt with delta = 1 - p_own + p_other, the flow is a
small system with slopes of order one (`clock_steps` of the chapter on long times), and the
logarithm of time grows no faster than sigma. Three layers share it: the decoder with outputs that
no class predicts (M > K), the decoder with the next tokens as its only outputs (M = K), and either
without the L2 scaling of the attention (the softmax alone).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from ntpcore.compiled import compiled
from ntpcore.tian2023.coupled import Symmetric

Floats = NDArray[np.float64]


def state_size(design: Symmetric) -> int:
    """Numbers of a state: z, a, s, r, the clock theta and the logarithm of time."""
    return 2 * len(design.common) + 3 * len(design.distinct) + 2


@compiled
def fill_slopes(
    state: Floats,
    p: Floats,
    C: int,
    K: int,
    M: int,
    L: int,
    ratio: float,
    sphere: bool,
    out: Floats,
) -> None:
    """Slopes on the clock sigma (`clock_steps` of the chapter on long times).

    Args:
        state: z_c, z_d, a_c, s_d, r_d, theta with d theta = d sigma/|q|, and ln(1 + eta_Y t/K).
        p: (C + D,), probabilities within a class.
        C: number of common tokens.
        K: number of classes.
        M: number of outputs.
        L: number of queries.
        ratio: eta_Y / eta_Z.
        sphere: attention is scaled to length 1; otherwise it is the softmax.
        out: what is filled.
    """
    N = len(p)
    D = N - C
    S = N + C  # where s starts; r starts at S + D
    top = state[0]
    for i in range(1, N):
        top = max(top, state[i])
    size = 0.0
    for i in range(N):
        out[i] = p[i] * exp(state[i] - top)
        size += out[i] * out[i] if sphere else out[i]
    size = sqrt(size) if sphere else size
    theta = exp(-top) / size
    A, R = 0.0, 0.0
    for i in range(N):
        out[i] /= size  # f, kept there until its slope is known
        if i < C:
            A += out[i] * state[N + i]
        else:
            A += out[i] * state[S + i - C]
            R += out[i] * state[S + D + i - C]
    pull, late = _error(A, R, K, M)
    G = 0.0
    for i in range(N):
        G += out[i] * _gain(state, i, C, N, D, K, pull)
    x = pull * (M - K) / M
    for i in range(N):
        f, g = out[i], _gain(state, i, C, N, D, K, pull)
        force = f * (g - f * G) if sphere else f * (g - G)
        if i < C:
            out[i] = K / L * force / ratio
            out[N + i] = f * x
        else:
            out[i] = force / ratio
            out[S + i - C] = f * x / K
            out[S + D + i - C] = f
    out[-2] = theta
    out[-1] = exp(-state[-1] - late)


@compiled
def _error(A: float, R: float, K: int, M: int) -> tuple[float, float]:
    """x mu and ln delta from A = f . (a, s) and R; delta = 1 - p_own + p_other."""
    wrong = log(K) - R  # ln of K p_other / p_own
    if M == K:
        return 0.0, wrong - log(1 + (1 - 1 / K) * exp(wrong))
    mu = M / (M - K)
    rest = log(M - K) - A * mu - (1 - 1 / K) * R  # ln of (M - K) p_rest / p_own
    lead = wrong - rest  # (1 - x)/x is its exponential
    x = 1 / (1 + exp(lead)) if lead < 700 else 0.0
    sums = wrong + log(1 + exp(-lead)) if lead > 0 else rest + log(1 + exp(lead))
    return x * mu, sums - log(1 + (1 - 1 / K) * exp(wrong) + exp(rest))


@compiled
def _gain(state: Floats, i: int, C: int, N: int, D: int, K: int, pull: float) -> float:
    """g of token i in units of delta; `pull` is x mu."""
    if i < C:
        return float(state[N + i] * pull)
    return float(state[N + i] * pull + state[N + D + i] * (1 - 1 / K))


@dataclass(frozen=True, eq=False)
class ClockPath:
    """A path of the flow on its clock.

    Attributes:
        design: the classes and the decoder.
        ratio: eta_Y / eta_Z.
        sphere: whether attention is scaled to length 1.
        sigma: (S,), the clock.
        rows: (S, .), states as in `fill_slopes`.
    """

    design: Symmetric
    ratio: float
    sphere: bool
    sigma: Floats
    rows: Floats

    @property
    def z(self) -> Floats:
        """(S, C + D), attention logits, common tokens first."""
        return self.rows[:, : len(self.design.p)]

    @property
    def r(self) -> Floats:
        """(S, D), r_d."""
        return self.rows[:, -2 - len(self.design.distinct) : -2]

    @property
    def theta(self) -> Floats:
        """(S,), the clock of Theorem 5'', d theta = d sigma/|q|."""
        return self.rows[:, -2]

    @property
    def log_time(self) -> Floats:
        """(S,), ln(1 + eta_Y t / K)."""
        return self.rows[:, -1]

    @property
    def weights(self) -> Floats:
        """(S, C + D), q up to a factor for each time."""
        return np.asarray(self.design.p * np.exp(self.z - self.z.max(axis=1, keepdims=True)))

    @property
    def scores(self) -> Floats:
        """(S, C + D), attention c, which sums to 1."""
        return np.asarray(self.weights / self.weights.sum(axis=1, keepdims=True))

    @property
    def f(self) -> Floats:
        """(S, C + D), what the decoder sees."""
        if not self.sphere:
            return self.scores
        return np.asarray(self.weights / np.linalg.norm(self.weights, axis=1, keepdims=True))

    @property
    def tangent(self) -> Floats:
        """(S,), T = |f_D| / |f_C|."""
        C = len(self.design.common)
        q = self.weights
        return np.asarray(np.linalg.norm(q[:, C:], axis=1) / np.linalg.norm(q[:, :C], axis=1))

    @property
    def shares(self) -> Floats:
        """(S, D), attention on the distinct tokens, renormalised."""
        own = self.weights[:, len(self.design.common) :]
        return np.asarray(own / own.sum(axis=1, keepdims=True))

    @property
    def entropy(self) -> Floats:
        """(S,), entropy of `shares` in nats."""
        share = self.shares
        return np.asarray(
            -(share * np.log(share, where=share > 0, out=np.zeros_like(share))).sum(1)
        )

    @property
    def chi(self) -> Floats:
        """(S,), R/|r|, cosine of the angle between attention and decoder (M = K)."""
        own = self.f[:, len(self.design.common) :]
        return np.asarray((own * self.r).sum(axis=1) / np.linalg.norm(self.r, axis=1))

    @property
    def correlation(self) -> Floats:
        """(S,), eps = f_n . f_n', the sum of f_c^2."""
        return np.asarray((self.f[:, : len(self.design.common)] ** 2).sum(axis=1))

    @property
    def nu(self) -> float:
        """nu = (eta_Z/eta_Y)(1 - 1/K)."""
        return (1 - 1 / self.design.K) / self.ratio


def follow(
    design: Symmetric,
    ratio: float,
    sigma: Floats,
    sphere: bool = True,
    relative: float = 1e-10,
    absolute: float = 1e-12,
    start: Floats | None = None,
) -> ClockPath:
    """The flow from Y = Z = 0, integrated over ln(1 + sigma).

    Args:
        design: the classes and the decoder.
        ratio: eta_Y / eta_Z.
        sigma: (S,), increasing values >= 0 of the clock.
        sphere: attention is scaled to length 1; otherwise it is the softmax.
        relative: tolerance of the integrator, by the size of an entry.
        absolute: tolerance for entries near 0, those of rare tokens above all.
        start: another state at sigma = 0.

    Raises:
        ValueError: sigma does not increase from 0 or more.
        ArithmeticError: the integrator gave up.
    """
    from scipy.integrate import solve_ivp

    sigma = np.asarray(sigma, dtype=np.float64)
    if sigma.ndim != 1 or len(sigma) == 0 or sigma[0] < 0 or (np.diff(sigma) <= 0).any():
        raise ValueError("sigma must be increasing numbers >= 0, at least one")
    p, out = design.p, np.empty(state_size(design))
    sizes = (len(design.common), design.K, design.M, design.queries, float(ratio), sphere)

    def slope(u: float, state: Floats) -> Floats:
        fill_slopes(state, p, *sizes, out)
        return np.asarray(out * exp(u))

    begin = np.zeros(state_size(design)) if start is None else start
    clock = np.log1p(sigma)
    found = solve_ivp(
        slope,
        (0.0, float(clock[-1])),
        begin,
        method="LSODA",
        t_eval=clock,
        rtol=relative,
        atol=absolute,
    )
    if not found.success or len(found.t) != len(sigma) or not np.isfinite(found.y).all():
        raise ArithmeticError(f"the integrator gave up: {found.message}")
    return ClockPath(design, ratio, sphere, sigma, np.asarray(found.y.T))
