"""The coupled flow of classes that are not alike, followed in the logarithm of time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from ntpcore.compiled import compiled
from ntpcore.tian2023.integrate import states_at

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Unequal:
    """Classes of one query, each with its own weights.

    Attributes:
        common: (K, C), weights of the common tokens in each class.
        distinct: for each class the weights of its distinct tokens, as many as it has.
        M: number of outputs, K or more.
        ratio: eta_Y / eta_Z, with eta_Z = 1.
    """

    common: tuple[tuple[float, ...], ...]
    distinct: tuple[tuple[float, ...], ...]
    M: int
    ratio: float

    def __post_init__(self) -> None:
        if len(self.common) != len(self.distinct) or len(self.common) > self.M:
            raise ValueError(f"{len(self.common)} classes with M = {self.M} make no design")

    @property
    def name(self) -> str:
        """The design in words."""
        sizes = ", ".join(str(len(x)) for x in self.distinct)
        return rf"{sizes} distinct tokens, $M = {self.M}$, $\eta_Y/\eta_Z = {self.ratio:.3g}$"

    @property
    def K(self) -> int:
        """Number of classes."""
        return len(self.common)

    @property
    def many(self) -> Floats:
        """(K + 1,), how many outputs each column of the decoder stands for."""
        return np.append(np.ones(self.K), float(self.M - self.K))

    @property
    def own(self) -> list[slice]:
        """Where the distinct tokens of each class stand among all tokens."""
        ends = len(self.common[0]) + np.cumsum([0, *map(len, self.distinct)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    @property
    def P(self) -> Floats:
        """(K, N), probabilities of the tokens in each class."""
        C = len(self.common[0])
        found = np.zeros((self.K, C + sum(map(len, self.distinct))))
        for n, own in enumerate(self.own):
            found[n, :C], found[n, own] = self.common[n], self.distinct[n]
        return np.asarray(found / found.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Course:
    """What is recorded of a flow.

    Attributes:
        f: (S, K, N), what the decoder sees of each class.
        g: (S, K, N), the gain Y (x_(T+1) - alpha) of each token.
        wrong: (S, K), probability of all wrong next tokens.
        Y: (S, N, K + 1), the decoder; its last column stands for each of the M - K other outputs.
        error: (S, K, K + 1), x_(T+1) - alpha of each class, over the same columns.
    """

    f: Floats
    g: Floats
    wrong: Floats
    Y: Floats
    error: Floats


def look(one: Unequal, z: Floats, Y: Floats, sphere: bool) -> tuple[Floats, Floats, Floats]:
    """f, the errors x_(T+1) - alpha over K + 1 columns, and g of every class.

    The last column of Y stands for each of the M - K outputs that never come next.
    """
    f, g, error = np.empty_like(one.P), np.empty_like(one.P), np.empty((one.K, one.K + 1))
    fill_look(one.P, one.many, z, Y, sphere, f, error, g)
    return f, error, g


@compiled
def fill_look(
    P: Floats, many: Floats, z: Floats, Y: Floats, sphere: bool, f: Floats, error: Floats, g: Floats
) -> None:
    """Fill f and g, (K, N), and the errors x_(T+1) - alpha, (K, columns), of every class.

    Args:
        P: (K, N), probabilities of the tokens in each class.
        many: (columns,), how many outputs each column of Y stands for; one for each next token.
        z: (N,), the scores.
        Y: (N, columns), the decoder; class n has the next token n.
        sphere: attention is scaled to length 1; otherwise it is the softmax.
        f: overwritten.
        error: overwritten.
        g: overwritten.
    """
    K, N = P.shape
    columns = len(many)
    top = z.max()
    for n in range(K):
        size = 0.0
        for i in range(N):
            f[n, i] = P[n, i] * exp(z[i] - top)
            size += f[n, i] ** 2 if sphere else f[n, i]
        size = sqrt(size) if sphere else size
        error[n] = 0.0
        for i in range(N):
            f[n, i] /= size
            for k in range(columns):
                error[n, k] += f[n, i] * Y[i, k]
        best, others = error[n].max(), 0.0
        for k in range(columns):
            error[n, k] = exp(error[n, k] - best)
            if k != n:
                others += error[n, k] * many[k]
        total = error[n, n] + others
        for k in range(columns):
            error[n, k] /= -total
        # 1 - alpha_n as a sum of the others: it is far below the rounding of alpha_n
        error[n, n] = others / total
        for i in range(N):
            g[n, i] = 0.0
            for k in range(columns):
                g[n, i] += error[n, k] * many[k] * Y[i, k]


def follow(one: Unequal, log_t: Floats, sphere: bool = True, start: Floats | None = None) -> Course:
    """The flow of (3), averaged over the classes, from Z = 0, at values of ln(1 + t).

    Args:
        one: the classes.
        log_t: (S,), increasing values > 0; up to 600, beyond which probabilities underflow.
        sphere: attention is scaled to length 1; otherwise it is the softmax.
        start: (N, K + 1), the decoder at first; zero when left out.

    Raises:
        ValueError: log_t goes beyond 600.
    """
    if log_t[-1] > 600:
        raise ValueError(f"log_t goes to {log_t[-1]}; 600 is the most")
    P, many, wide = one.P, one.many, one.K + 1
    N = P.shape[1]
    f, g, error = np.empty_like(P), np.empty_like(P), np.empty((one.K, wide))

    def slope(u: float, state: Floats) -> Floats:
        z, Y = state[:N], state[N:].reshape(N, wide)
        fill_look(P, many, z, Y, sphere, f, error, g)
        inner = (f * g).sum(axis=1, keepdims=True)
        force = f * (g - f * inner) if sphere else f * (g - inner)
        moves = [force.mean(axis=0), (one.ratio / one.K * f.T @ error).ravel()]
        return np.asarray(np.exp(u) * np.concatenate(moves))

    begin = np.zeros(N * (1 + wide))
    if start is not None:
        begin[N:] = start.ravel()
    rows = states_at(log_t, slope, begin, relative=1e-8, absolute=1e-10, begin=0.0)
    seen = [look(one, row[:N], row[N:].reshape(N, wide), sphere) for row in rows]
    wrong = np.array([[error[n, n] for n in range(one.K)] for _, error, _ in seen])
    fs, errors, gs = (np.array([x[i] for x in seen]) for i in range(3))
    return Course(fs, gs, wrong, rows[:, N:].reshape(-1, N, wide), errors)


def draw(rng: np.random.Generator, M: int, ratio: float) -> Unequal:
    """Two to four classes with two to four distinct tokens each and one or two common ones."""
    K, C = int(rng.integers(2, 5)), int(rng.integers(1, 3))
    common = tuple(tuple(rng.uniform(0.2, 1.5, C).tolist()) for _ in range(K))
    sizes = rng.integers(2, 5, K)
    distinct = tuple(tuple((10 ** rng.uniform(-0.7, 0, n)).tolist()) for n in sizes)
    return Unequal(common, distinct, M or K, ratio)
