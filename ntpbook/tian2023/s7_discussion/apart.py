"""The residual connection where queries share no contextual token: the force under (26) at Z = 0.

The decoder sees u_n = f_n + x_T of each class. Let G = I + E with the f_n of the classes of one
query, w = G^-1 1, S = sum of w, and a the coefficients of g_n = sum_k a_k u_k up to a positive
factor. The force on a token that is distinct among the classes of its query is f_l^2 times
a_n - sum_k a_k G_nk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from ntpbook.ours.long_times.steps import Identity

Floats = NDArray[np.float64]


def force_steps(query: int = 1) -> tuple[Identity, ...]:
    """a_n - sum_k a_k G_nk for two classes of one query, and for three with given cosines, any M.

    With (G + J)/2 the cosines of the u_n, J full of ones, a is its inverse applied to
    M/(M - 1) e_n - 1/(M - 1). Then a_n - sum_k a_k G_nk is

        2 M/(M - 1) [G^-1_nn - 1 + w_n (1 - w_n)/(1 + S)] + 2/(M - 1) (1 - w_n)/(1 + S).

    Args:
        query: what the query adds to each inner product; 1 for x_T of length 1.
    """
    M, e = sp.symbols("M e", positive=True)
    a, b, c = sp.Rational(1, 7), sp.Rational(1, 5), sp.Rational(2, 11)
    designs = {
        "two classes": sp.Matrix([[1, e], [e, 1]]),
        "three classes": sp.Matrix([[1, a, b], [a, 1, c], [b, c, 1]]),
    }
    found = []
    for name, G in designs.items():
        ones, first = sp.ones(G.rows, 1), sp.eye(G.rows).col(0)
        seen = (G + query * ones * ones.T) / 2
        pulled = seen.inv() * (first * M / (M - 1) - ones / (M - 1))
        inverse = G.inv()
        w = inverse * ones
        S = sum(w)
        claimed = 2 * M / (M - 1) * (inverse[0, 0] - 1 + w[0] * (1 - w[0]) / (1 + S))
        claimed += 2 / (M - 1) * (1 - w[0]) / (1 + S)
        found.append(Identity(f"force, {name}", pulled[0] - (G.row(0) * pulled)[0], claimed))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Apart:
    """Classes of several queries that share no contextual token.

    Attributes:
        blocks: for each query (K_m, N_m), probabilities of its own tokens in its classes.
        outputs: M.
    """

    blocks: tuple[Floats, ...]
    outputs: int

    @property
    def name(self) -> str:
        """The sizes."""
        sizes = ", ".join(str(len(x)) for x in self.blocks)
        return f"queries with {sizes} classes, $M = {self.outputs}$"

    def f(self, shared: bool = False) -> Floats:
        """(K, N), the f_n over the tokens of all queries.

        Args:
            shared: all queries have the same tokens.
        """
        K = sum(len(x) for x in self.blocks)
        width = sum(x.shape[1] for x in self.blocks)
        found, row, column = np.zeros((K, width)), 0, 0
        for x in self.blocks:
            found[row : row + len(x), column : column + x.shape[1]] = x
            row, column = row + len(x), column + (0 if shared else x.shape[1])
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))

    @property
    def largest(self) -> float:
        """The largest size of an eigenvalue of E."""
        f = self.f()
        return float(np.abs(np.linalg.eigvalsh(f @ f.T - np.eye(len(f)))).max())

    def queries(self, contextual: bool = False) -> Floats:
        """(L, N + L), x_T of each query: a token of its own.

        Args:
            contextual: x_T is instead the first token of the next query that is distinct there.
        """
        L, N = len(self.blocks), sum(x.shape[1] for x in self.blocks)
        if not contextual or L == 1:
            return np.eye(L, N + L, N)
        starts = np.cumsum([0, *(x.shape[1] for x in self.blocks[:-1])])
        first = [int(np.argmax((x > 0).sum(axis=0) == 1)) for x in self.blocks]
        return np.asarray(np.eye(N + L)[np.roll(starts + first, -1)])

    def forces(
        self, before: bool = False, shared: bool = False, contextual: bool = False
    ) -> list[float]:
        """Force on every token that is distinct among the classes of its query, dense.

        Args:
            before: x_T is added before the normalization.
            shared: see `f`.
            contextual: see `queries`.
        """
        f = self.f(shared)
        K, N = f.shape
        query = np.repeat(np.arange(len(self.blocks)), [len(x) for x in self.blocks])
        own = self.queries(contextual)[query]
        c = f / f.sum(axis=1, keepdims=True)
        seen = np.pad(c if before else f, ((0, 0), (0, len(self.blocks)))) + own
        length = np.linalg.norm(seen, axis=1)
        units = seen / length[:, None]
        cosines, found = units @ units.T, list[float]()
        for n in range(K):
            s = np.full(K, -1 / (self.outputs - 1))
            s[n] = 1.0
            g = np.linalg.solve(cosines, s) @ units
            for token in np.flatnonzero(f[n] > 0):
                rivals = (query == query[n]) & (f[:, token] > 0)
                if rivals.sum() > 1:
                    continue
                if before:
                    pulled = (g - units[n] * (units[n] @ g))[:N] / length[n]
                    found.append(float(c[n, token] * (pulled[token] - c[n] @ pulled)))
                else:
                    inner = float(f[n] @ g[:N])
                    found.append(float(f[n, token] * (g[token] - f[n, token] * inner)))
        return found


def draw(seed: int = 7, number: int = 40) -> list[Apart]:
    """Random classes of one to three queries with few common tokens, |lambda_1| below 1/K."""
    rng = np.random.default_rng(seed)
    found: list[Apart] = []
    while len(found) < number:
        blocks = []
        for _ in range(int(rng.integers(1, 4))):
            K, C = int(rng.integers(2, 4)), int(rng.integers(1, 3))
            P = np.zeros((K, C + 2 * K))
            P[:, :C] = rng.uniform(0.02, 0.4, (K, C))
            for n in range(K):
                P[n, C + 2 * n : C + 2 * n + 2] = rng.uniform(0.3, 1, 2)
            blocks.append(P / P.sum(axis=1, keepdims=True))
        one = Apart(tuple(blocks), int(rng.choice([50, 1000, 10**6])))
        if one.largest < 1 / sum(len(x) for x in blocks):
            found.append(one)
    return found
