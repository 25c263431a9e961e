"""The coupled flow of decoder and attention for symmetric classes, in a handful of numbers.

K classes share their common tokens, and class n has D distinct tokens with the same D
probabilities for every n. Y = Z = 0 is invariant under permutations of the classes, and the
expected gradient commutes with them, so that the following numbers carry the whole state:

    a_c        Y[c, k] of common token c, for the next token k of any class;
    u_d, v_d   Y[d, k] of the d-th distinct token of class n, for k = n and for k of another class;
    z_c, z_d   attention logits of the tokens.

The M - K outputs that follow no class take what makes each row of Y sum to 0. Time counts updates
of batch size 1 in expectation: every class has the weight 1/K.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from ntpcore.compiled import compiled
from ntpcore.tian2023.classes import SequenceClasses, layered_classes, unit_scores
from ntpcore.tian2023.integrate import states_at

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Symmetric:
    """Symmetric classes and a decoder (tian2023, Section 3.2, with all classes alike).

    Attributes:
        K: number of classes, at least 2.
        M: number of outputs of the decoder, at least K. In the paper it is the size of the
            vocabulary, which also holds the context tokens (`require_vocabulary`); M = K restricts
            the decoder to the next tokens.
        common: weight of each common token, proportional to its probability within a class; the
            same in all classes.
        distinct: weight of each distinct token of a class; weights need not sum to 1.
        queries: L, each with K / L classes.

    Raises:
        ValueError: there are fewer outputs than classes, a kind of token is missing, or the queries
            do not divide the classes.
    """

    K: int
    M: int
    common: tuple[float, ...]
    distinct: tuple[float, ...]
    queries: int = 1

    def __post_init__(self) -> None:
        C, D = len(self.common), len(self.distinct)
        if self.K < 2 or self.M < self.K or C < 1 or D < 1:
            raise ValueError(
                f"K = {self.K}, M = {self.M}, {C} common and {D} distinct tokens make no classes; "
                "K >= 2, M >= K, and one token of each kind are needed"
            )
        if self.queries < 1 or self.K % self.queries:
            raise ValueError(f"{self.queries} queries do not divide {self.K} classes")
        if min(self.common + self.distinct) <= 0:
            raise ValueError("weights must be positive; leave out a token that never occurs")

    @property
    def probabilities(self) -> tuple[Floats, Floats]:
        """Probabilities of the common and of the distinct tokens within a class."""
        total = sum(self.common) + sum(self.distinct)
        return np.array(self.common) / total, np.array(self.distinct) / total

    @property
    def p(self) -> Floats:
        """(C + D,), probabilities within a class, common tokens first, for runs on a clock."""
        # numpy adds in another order than `probabilities`; the digits of runs rest on each
        weights = np.array(self.common + self.distinct, dtype=np.float64)
        return np.asarray(weights / weights.sum())

    def require_vocabulary(self) -> None:
        """Refuse fewer outputs than tokens: then M is no size of a vocabulary.

        Raises:
            ValueError: M is less than the number of common tokens and K times the distinct ones.
        """
        C, D = len(self.common), len(self.distinct)
        if self.M < C + self.K * D:
            raise ValueError(
                f"K = {self.K}, M = {self.M}, {C} common and {D} distinct tokens do not fit; "
                "M >= common + K distinct is needed"
            )

    def classes(self) -> SequenceClasses:
        """These classes as `SequenceClasses`, token by token."""
        share = self.K // self.queries
        return layered_classes(
            self.common,
            [self.distinct] * self.K,
            self.M,
            [n // share for n in range(self.K)],
        )


def one_of_each(K: int, M: int, epsilon: float) -> Symmetric:
    """One query, one common and one distinct token per class, with f_n . f_n' = epsilon at Z = 0.

    Raises:
        ValueError: epsilon is outside (0, 1).
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon is {epsilon}; choose a number between 0 and 1")
    return Symmetric(K, M, ((epsilon / (1 - epsilon)) ** 0.5,), (1.0,))


def syn(queries: int, next_per_query: int) -> Symmetric:
    """The classes of the paper's synthetic experiments (tian2023, Section 8)."""
    K = queries * next_per_query
    weights = tuple(float(x) for x in np.linspace(0.1, 1.0, 10))
    return Symmetric(K, 10 + 10 * K + queries + K, (1.0,) * 10, weights, queries)


@compiled
def fill_slopes(
    state: Floats,
    p: Floats,
    C: int,
    K: int,
    M: int,
    L: int,
    eta_Y: float,
    eta_Z: float,
    forget: bool,
    f: Floats,
    g: Floats,
    out: Floats,
) -> None:
    """Fill `out` with the expected change of the state in one step, and `f` and `g` for a class.

    A class has C common and D distinct tokens.

    Args:
        state: (2C + 3D,), z of the common then of the distinct tokens, then a, u and v.
        p: (C + D,), probabilities within a class.
        C: number of common tokens.
        K: number of classes.
        M: size of the vocabulary.
        L: number of queries.
        eta_Y: learning rate of the decoder.
        eta_Z: learning rate of the attention.
        forget: replace g on the distinct tokens by its projection on f, as if g lay in the span of
            the current f_n.
        f: (C + D,), filled with the attention vector of a class, of norm 1.
        g: (C + D,), filled with g = Y (e_n - alpha_n) of a class, projected if `forget`.
        out: (2C + 3D,), filled with the change of the state.

    Source: tian2023, Lemma 1 in the limit of Lemma 2.
    """
    N = len(p)
    D = N - C
    A, U, V = N, N + C, N + C + D  # where a, u and v start
    top = state[0]
    for i in range(1, N):
        top = max(top, state[i])
    norm = 0.0
    for i in range(N):
        f[i] = p[i] * exp(state[i] - top)
        norm += f[i] * f[i]
    norm = sqrt(norm)
    own, other = 0.0, 0.0
    for i in range(N):
        f[i] /= norm
        if i < C:
            own += f[i] * state[A + i]
            other += f[i] * state[A + i]
        else:
            own += f[i] * state[U + i - C]
            other += f[i] * state[V + i - C]
    rest = -(own + (K - 1) * other) / (M - K)  # the logits sum to 0 as the rows of Y do
    best = max(own, max(other, rest))
    n_own, n_other, n_rest = exp(own - best), exp(other - best), exp(rest - best)
    total = n_own + (K - 1) * n_other + (M - K) * n_rest
    e_own = ((K - 1) * n_other + (M - K) * n_rest) / total
    e_other, e_rest = -n_other / total, -n_rest / total
    along = 0.0
    for i in range(N):
        if i < C:
            a = state[A + i]
            g[i] = -(M - K) * e_rest * (a + K * a / (M - K))
        else:
            u, v = state[U + i - C], state[V + i - C]
            w = -(u + (K - 1) * v) / (M - K)
            g[i] = u * e_own + (K - 1) * v * e_other + (M - K) * w * e_rest
        along += f[i] * g[i]
    if forget:
        share, size = 0.0, 0.0
        for i in range(C, N):
            share += f[i] * g[i]
            size += f[i] * f[i]
        for i in range(C, N):
            g[i] = f[i] * share / size
    for i in range(N):
        force = f[i] * (g[i] - f[i] * along)
        if i < C:
            out[i] = eta_Z / L * force
            out[A + i] = eta_Y / K * f[i] * (e_own + (K - 1) * e_other)
        else:
            out[i] = eta_Z / K * force
            out[U + i - C] = eta_Y / K * f[i] * e_own
            out[V + i - C] = eta_Y / K * f[i] * e_other


@compiled
def _descend(
    state: Floats,
    p: Floats,
    C: int,
    K: int,
    M: int,
    L: int,
    eta_Y: float,
    eta_Z: float,
    forget: bool,
    record: NDArray[np.int64],
    rows: Floats,
) -> None:
    """Steps of gradient descent; row i of `rows` becomes the state after record[i] steps."""
    f, g, change = np.empty(len(p)), np.empty(len(p)), np.empty(len(state))
    step = 0
    for i in range(len(record)):
        while step < record[i]:
            fill_slopes(state, p, C, K, M, L, eta_Y, eta_Z, forget, f, g, change)
            for j in range(len(state)):
                state[j] += change[j]
            step += 1
        for j in range(len(state)):
            rows[i, j] = state[j]


@dataclass(frozen=True, eq=False)
class Path:
    """A run of the coupled dynamics: S times; C common and D distinct tokens of a class.

    Attributes:
        data: the classes.
        eta_y: eta_Y, learning rate of the decoder.
        eta_z: eta_Z, learning rate of the attention.
        t: (S,), times of the rows.
        rows: (S, 2C + 3D), the states.
        forget: whether g was projected on the current f (see `fill_slopes`).
    """

    data: Symmetric
    eta_y: float
    eta_z: float
    t: Floats
    rows: Floats
    forget: bool

    @property
    def z_common(self) -> Floats:
        """(S, C), attention logits at S times of C common tokens."""
        return self.rows[:, : len(self.data.common)]

    @property
    def z_distinct(self) -> Floats:
        """(S, D), attention logits at S times of D distinct tokens."""
        C, D = len(self.data.common), len(self.data.distinct)
        return self.rows[:, C : C + D]

    @property
    def scores(self) -> Floats:
        """(S, C + D), attention c_n of a class at S times: C common, then D distinct tokens."""
        N = len(self.data.common) + len(self.data.distinct)
        z = self.rows[:, :N]
        weights = np.concatenate(self.data.probabilities) * np.exp(z - z.max(axis=1)[:, None])
        return np.asarray(weights / weights.sum(axis=1)[:, None])

    @property
    def epsilon(self) -> Floats:
        """(S,), inner product f_n . f_n' of two different classes at S times."""
        squares = self.scores**2
        return np.asarray(squares[:, : len(self.data.common)].sum(axis=1) / squares.sum(axis=1))

    @property
    def entropy(self) -> Floats:
        """(S,), entropy in nats, at S times, of attention renormalized to the distinct tokens."""
        c = self.scores[:, len(self.data.common) :]
        c = c / c.sum(axis=1)[:, None]
        return np.asarray(-(c * np.log(c)).sum(axis=1))

    @property
    def gradients(self) -> tuple[Floats, Floats]:
        """f_n and g_n of a class at every time: two arrays (S, C + D).

        f_n is the attention scaled to norm 1, and g_n = Y (e_n - alpha_n) the back-propagated
        gradient, projected if `forget`, at S times, with a column for each of the C common and D
        distinct tokens of the class.
        """
        p = np.concatenate(self.data.probabilities)
        f, g = np.empty((len(self.t), len(p))), np.empty((len(self.t), len(p)))
        out = np.empty(self.rows.shape[1])
        for i, row in enumerate(self.rows):
            fill_slopes(row, p, *_sizes(self), self.forget, f[i], g[i], out)
        return f, g

    @property
    def xi(self) -> Floats:
        """(S,), xi at S times, which drives the distinct tokens of a class.

        It is the mean of g_d / f_d over distinct tokens d with weights f_d^2, minus f . g.
        """
        f, g = self.gradients
        C = len(self.data.common)
        mean = (f * g)[:, C:].sum(axis=1) / (f * f)[:, C:].sum(axis=1)
        return np.asarray(mean - (f * g).sum(axis=1))


def _sizes(run: Path) -> tuple[int, int, int, int, float, float]:
    """C, K, M, L and the rates, in the order of `fill_slopes`."""
    data = run.data
    return len(data.common), data.K, data.M, data.queries, run.eta_y, run.eta_z


def zero_state(data: Symmetric) -> Floats:
    """The state with Y = Z = 0, a vector of zeros.

    Raises:
        ValueError: the tokens do not fit the vocabulary.
    """
    data.require_vocabulary()
    return np.zeros(2 * len(data.common) + 3 * len(data.distinct))


def descend(
    data: Symmetric, eta_Y: float, eta_Z: float, steps: Sequence[int], forget: bool = False
) -> Path:
    """Gradient descent from Y = Z = 0 on the expected loss, both layers at once.

    Args:
        data: the classes.
        eta_Y: learning rate of the decoder.
        eta_Z: learning rate of the attention.
        steps: increasing numbers of steps after which the state is kept.
        forget: see `fill_slopes`.
    """
    record = np.asarray(steps, dtype=np.int64)
    if len(record) == 0 or record[0] < 0 or (np.diff(record) <= 0).any():
        raise ValueError("steps must be increasing numbers >= 0, at least one")
    p, start = np.concatenate(data.probabilities), zero_state(data)
    rows = np.empty((len(record), len(start)))
    C = len(data.common)
    _descend(
        start, p, C, data.K, data.M, data.queries, float(eta_Y), float(eta_Z), forget, record, rows
    )
    return Path(data, eta_Y, eta_Z, record.astype(np.float64), rows, forget)


def flow(
    data: Symmetric,
    eta_Y: float,
    eta_Z: float,
    times: Floats,
    forget: bool = False,
    relative: float = 1e-10,
) -> Path:
    """Gradient flow from Y = Z = 0 on the expected loss, both layers at once.

    Args:
        data: the classes.
        eta_Y: learning rate of the decoder.
        eta_Z: learning rate of the attention.
        times: increasing times > 0 at which the state is kept.
        forget: see `fill_slopes`.
        relative: tolerance of the integrator.
    """
    p = np.concatenate(data.probabilities)
    f, g = np.empty(len(p)), np.empty(len(p))
    out = np.empty(len(zero_state(data)))
    sizes = (len(data.common), data.K, data.M, data.queries, float(eta_Y), float(eta_Z))

    def slope(_: float, state: Floats) -> Floats:
        fill_slopes(state, p, *sizes, forget, f, g, out)
        return out.copy()

    start = zero_state(data)
    found = states_at(times, slope, start, relative=relative, absolute=relative * 1e-2)
    return Path(data, eta_Y, eta_Z, np.asarray(times, dtype=np.float64), found.copy(), forget)


def dense(data: Symmetric, state: Floats) -> tuple[Floats, Floats]:
    """The matrices Y and z that a reduced state stands for, with M tokens and L queries.

    Returns:
        Y (M, M), row by context token and column by output, and z (L, M).

    Raises:
        ValueError: the tokens do not fit the vocabulary.
    """
    data.require_vocabulary()
    C, D, K, M = len(data.common), len(data.distinct), data.K, data.M
    z_c, z_d = state[:C], state[C : C + D]
    a, u, v = state[C + D : 2 * C + D], state[2 * C + D : 2 * C + 2 * D], state[2 * C + 2 * D :]
    Y, z = np.zeros((M, M)), np.zeros((data.queries, M))
    z[:, :C] = z_c
    Y[:C, :K] = a[:, None]
    Y[:C, K:] = -K * a[:, None] / (M - K)
    for n in range(K):
        rows = slice(C + n * D, C + (n + 1) * D)
        Y[rows, :K] = v[:, None]
        Y[rows, n] = u
        Y[rows, K:] = -(u + (K - 1) * v)[:, None] / (M - K)
        z[n // (K // data.queries), rows] = z_d
    return Y, z


def dense_slopes(
    classes: SequenceClasses, Y: Floats, z: Floats, eta_Y: float, eta_Z: float
) -> tuple[Floats, Floats]:
    """Expected change of Y and z in one step, token by token (tian2023, Lemma 1 with Lemma 2).

    Args:
        classes: any classes.
        Y: (M, M).
        z: (L, M).
        eta_Y: learning rate of the decoder.
        eta_Z: learning rate of the attention.
    """
    f = unit_scores(classes, z)
    logits = f @ Y
    weights = np.exp(logits - logits.max(axis=1)[:, None])
    error = -weights / weights.sum(axis=1)[:, None]
    error[np.arange(classes.K), np.arange(classes.K)] += 1.0
    g = error @ Y.T
    force = f * (g - f * (f * g).sum(axis=1)[:, None])
    change = np.zeros_like(z)
    for n, m in enumerate(classes.query):
        change[m] += eta_Z / classes.K * force[n]
    return eta_Y / classes.K * f.T @ error, change
