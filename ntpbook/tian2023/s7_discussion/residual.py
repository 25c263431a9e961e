"""The residual connection of Section 7, in interval and ball arithmetic and by the coupled flow.

Two queries have two classes each. Token 0 is common to all classes, token 1 occurs in one class of
each query, tokens 2 to 5 are distinct, 6 and 7 are the queries. The force on token 1 under the
first query is the right-hand side of (4), averaged over classes, with the residual connection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s7_discussion import enclosed_steps
from ntpbook.tian2023.s7_discussion.instances import VOCABULARY
from ntpcore.tian2023 import population
from ntpcore.tian2023.classes import SequenceClasses
from ntpverdicts.claims import Shown

Floats = NDArray[np.float64]
Interval = Any  # of mpmath, which has no types
Vector = list[Interval]

TOKENS, QUERIES, LOCAL = 10, (6, 7), 1


@dataclass(frozen=True)
class TwoQueries:
    """Weights of the common and of the local token, the distinct tokens having 1.

    Attributes:
        common: weight of token 0.
        local: weight of token 1.
        outputs: M, size of the vocabulary.
    """

    common: Fraction
    local: Fraction
    outputs: int = VOCABULARY

    @property
    def name(self) -> str:
        """Both weights in words."""
        weights = f"weights {self.common} (common to all) and {self.local} (common to the queries)"
        return f"{weights}, $M = {self.outputs}$"

    @property
    def eigenvalues(self) -> Floats:
        """(4,), those of E, from F^T F = I + E with the f_n of (5) at Z = 0."""
        P = self.classes().probabilities
        f = P / np.linalg.norm(P, axis=1, keepdims=True)
        return np.asarray(np.linalg.eigvalsh(f @ f.T - np.eye(len(f))))

    @property
    def weakly_correlated(self) -> bool:
        """Assumption 2 for the f_n of (5): M >> K^2, |lambda_1| < 1/K, |lambda_i| >= 6/sqrt(M).

        The stronger reading of the lower bound, and a thousand for "much larger".
        """
        found, K = np.abs(self.eigenvalues), len(self.rows())
        spread = self.outputs >= 1000 * K**2
        return bool(spread and found.max() < 1 / K and found.min() >= 6 / self.outputs**0.5)

    @property
    def locally_distinct(self) -> bool:
        """Whether token 1 occurs in exactly one class of each query."""
        found = [row[LOCAL] > 0 for row in self.rows()]
        return sum(found[:2]) == 1 == sum(found[2:])

    def rows(self, shared: bool = True) -> list[list[Fraction]]:
        """P(.|n) of the four classes, exactly.

        Args:
            shared: whether the queries share contextual tokens; else tokens 8 and 9 take the
                places of 0 and 1 in the second query.
        """
        rows = []
        for n in range(4):
            row = [Fraction(0)] * TOKENS
            zero, one = (0, LOCAL) if shared or n < 2 else (8, 9)
            row[zero], row[2 + n] = self.common, Fraction(1)
            row[one] = self.local if n in (0, 2) else Fraction(0)
            rows.append([x / sum(row) for x in row])
        return rows

    def classes(self, shared: bool = True) -> SequenceClasses:
        """The same as classes in floating point."""
        return SequenceClasses(np.array(self.rows(shared), dtype=float), (0, 0, 1, 1))


WEIGHTS = tuple(
    TwoQueries(Fraction(common, 10), Fraction(local, 10))
    for common, local in ((1, 3), (1, 10), (3, 3), (3, 10))
)
# Many outputs, so that Assumption 2 holds for the f_n of (5).
WITNESSES = tuple(
    TwoQueries(Fraction(common, 10), Fraction(local, 10), 10**6)
    for common, local in ((1, 4), (2, 3), (2, 4))
)

# Vectors of intervals


def _dot(v: Vector, w: Vector) -> Interval:
    """The inner product."""
    return sum((x * y for x, y in zip(v, w, strict=True)), 0 * v[0])


def _unit(v: Vector) -> Vector:
    """v / |v|."""
    import mpmath

    norm = mpmath.iv.sqrt(_dot(v, v))
    return [x / norm for x in v]


def _mix(weights: Vector, vectors: list[Vector]) -> Vector:
    """A combination of vectors."""
    return [
        sum((a * v[i] for a, v in zip(weights, vectors, strict=True)), 0 * weights[0])
        for i in range(len(vectors[0]))
    ]


def _solve(matrix: list[Vector], right: Vector) -> Vector:
    """The solution of a linear system by elimination, diagonally dominant enough to need no swap.

    Raises:
        ZeroDivisionError: a pivot may be zero.
    """
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i, row in enumerate(rows):
        pivot = row[i]
        rows[i] = [x / pivot for x in row]
        for j in range(len(rows)):
            if j != i:
                factor = rows[j][i]
                rows[j] = [x - factor * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


def intervals(one: TwoQueries, shared: bool) -> list[Vector]:
    """c_n at Z = 0 as intervals."""
    import mpmath

    return [[mpmath.iv.mpf(x.numerator) / x.denominator for x in row] for row in one.rows(shared)]


def seen_vectors(c: list[Vector], skip: str) -> list[Vector]:
    """What the decoder sees of each class: LN(c + x_T) or LN(c) + x_T."""
    found = []
    for n, row in enumerate(c):
        own = [row[0] * 0 + int(token == QUERIES[n // 2]) for token in range(TOKENS)]
        if skip == "before":
            found.append(_unit([x + y for x, y in zip(row, own, strict=True)]))
        else:
            found.append([x + y for x, y in zip(_unit(row), own, strict=True)])
    return found


def _force(c: list[Vector], seen: list[Vector], g: list[Vector], skip: str) -> Interval:
    """Sum over the classes of the first query of the slope of z_1, for g_n = Y (e_n - alpha_n).

    Without the residual inside, it is f * (g - f (f . g)); with it, (diag(c) - c c^T) P_u g / |v|.
    """
    import mpmath

    total = mpmath.iv.mpf(0)
    for n in (0, 1):
        if skip == "after":
            f = _unit(c[n])
            total += f[LOCAL] * (g[n][LOCAL] - f[LOCAL] * _dot(f, g[n]))
            continue
        u = seen[n]
        length = 2 / sum(u, mpmath.iv.mpf(0))  # |c + x_T|, as the entries of c + x_T sum to 2
        along = _dot(u, g[n])
        pulled = [(x - y * along) / length for x, y in zip(g[n], u, strict=True)]
        total += c[n][LOCAL] * (pulled[LOCAL] - _dot(c[n], pulled))
    return total


def force_at_the_start(one: TwoQueries, skip: str, shared: bool = True) -> Interval:
    """The force of the coupled flow from zero to leading order in time, times K / (eta_Y t).

    Y = (eta_Y t / K) sum_k u_k (e_k - 1/M)^T there, u_k being what the decoder sees, and
    (e_k - 1/M) . (e_n - 1/M) = delta_kn - 1/M, so that g_n is u_n - (1/M) sum_k u_k.
    """
    c = intervals(one, shared)
    seen = seen_vectors(c, skip)
    total = [sum((u[i] for u in seen), 0 * seen[0][0]) for i in range(TOKENS)]
    g = [[x - y / one.outputs for x, y in zip(u, total, strict=True)] for u in seen]
    return _force(c, seen, g, skip)


@dataclass(frozen=True)
class Modified:
    """The first class after training the decoder by (26), up to a positive factor.

    Attributes:
        force: on token 1 under the first query.
        same: beta / iota for the other class of the query.
        other: largest beta / iota for a class of the other query.
        printed_same, printed_other: f_n . f_n' + 1 and the largest f_n . f_n' + 0, as Section 7
            has it for beta, with the f_n before the residual connection.
    """

    force: Interval
    same: Interval
    other: Interval
    printed_same: Interval
    printed_other: Interval


def modified_force(one: TwoQueries, skip: str, shared: bool = True) -> Modified:
    """The force of a decoder trained by (26) at Z = 0, in which time is a positive factor only.

    With I + E the cosines of what the decoder sees, (26) keeps W = (M - 1) h Z for the rows zeta_n,
    so that g_n is a positive multiple of sum_k a_k u_k, a = (I + E)^-1 s, and
    s_k = zeta_k . zeta_n up to a factor, 1 for k = n and -1/(M - 1) else.
    """
    import mpmath

    iv = mpmath.iv
    c = intervals(one, shared)
    seen = seen_vectors(c, skip)
    units = [_unit(u) for u in seen]
    cosines = [[_dot(u, v) for v in units] for u in units]
    g: list[Vector] = []
    first: Vector = []
    for n in range(2):
        s = [iv.mpf(1) if k == n else iv.mpf(-1) / (one.outputs - 1) for k in range(4)]
        a = _solve(cosines, s)
        g.append(_mix(a, units))
        first = first or [-x / a[0] for x in a]
    f = [_unit(row) for row in c]
    printed = [_dot(f[0], f[k]) for k in range(4)]
    return Modified(
        _force(c, seen, g, skip),
        first[1],
        max(first[2:], key=lambda x: float(abs(x).b)),
        printed[1] + 1,
        max(printed[2:], key=lambda x: float(x.b)),
    )


def forces_below_zero(overlap: bool = True) -> Iterator[Shown]:
    """The force under (26) on the token of each witness, enclosed: it loses.

    Args:
        overlap: `shared` of `TwoQueries.rows`.
    """
    for one in WITNESSES:
        force = modified_force(one, "after", overlap).force
        low, high = float(force.a), float(force.b)
        text = f"[{low:.6g}, {high:.6g}]"
        yield Shown(f"force, {one.name}", text, "<", "0", text, high < 0)


def enclosed_score(one: TwoQueries, skip: str, steps: int = 100, shared: bool = True) -> Any:
    """A ball around the score of token 1 under the first query after so many gradient steps.

    The rates are 1 and 1/100, of the mean over the classes.
    """
    rates = Fraction(1), Fraction(1, 100)
    with enclosed_steps.bits(3 * steps + 64):
        z = enclosed_steps.scores_after(
            one.rows(shared), (0, 0, 1, 1), QUERIES, one.outputs - 4, rates, steps, skip
        )
        return z[0][LOCAL]


def local_score(
    one: TwoQueries, skip: str, ratio: float = 100.0, time: float = 1e4, shared: bool = True
) -> float:
    """The score of token 1 under the first query after the coupled flow with the connection."""
    data = population.of_classes(one.classes(shared), np.array(QUERIES), one.outputs)
    end = population.flow(data, population.start(data), 1.0, 1 / ratio, np.array([time]), skip)
    return float(end[0].z[0, 0, LOCAL])
