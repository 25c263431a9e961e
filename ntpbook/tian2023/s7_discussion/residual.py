"""The residual connection of Section 7, in ball arithmetic and by the coupled flow.

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
from flint import arb, arb_mat
from numpy.typing import NDArray

from ntpbook.shared.enclosure import exact
from ntpbook.tian2023.s7_discussion import enclosed_steps
from ntpbook.tian2023.s7_discussion.enclosed_steps import Ball, Balls, above, slope, unit
from ntpbook.tian2023.s7_discussion.instances import VOCABULARY
from ntpcore.tian2023.classes import SequenceClasses
from ntpverdicts.claims import Shown
from ntpverdicts.numbers import interval

Floats = NDArray[np.float64]

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

# In balls


def seen_vectors(c: list[Balls], skip: str) -> list[Balls]:
    """What the decoder sees of each class: LN(c + x_T) or LN(c) + x_T."""
    seen = []
    for n, row in enumerate(c):
        v = unit(row) if skip == "after" else list(row)
        v[QUERIES[n // 2]] += 1
        seen.append(v if skip == "after" else unit(v))
    return seen


def _force(c: list[Balls], seen: list[Balls], g: list[Balls], skip: str) -> Ball:
    """Sum over the classes of the first query of the slope of z_1, for g_n = Y (e_n - alpha_n)."""
    return sum((slope(c[n], seen[n], g[n], skip)[LOCAL] for n in (0, 1)), arb(0))


def _alike(same: Fraction, other: Fraction) -> Any:
    """The matrix of the four classes with one number on its diagonal and another one off it."""
    return arb_mat([[exact(same if k == n else other) for k in range(4)] for n in range(4)])


def force_at_the_start(one: TwoQueries, skip: str, shared: bool = True) -> Ball:
    """The force of the coupled flow from zero to leading order in time, times K / (eta_Y t).

    Y = (eta_Y t / K) sum_k u_k (e_k - 1/M)^T there, u_k being what the decoder sees, and
    (e_k - 1/M) . (e_n - 1/M) = delta_kn - 1/M, so that g_n is u_n - (1/M) sum_k u_k.
    """
    c = [[exact(x) for x in row] for row in one.rows(shared)]
    seen, part = seen_vectors(c, skip), Fraction(1, one.outputs)
    g = _alike(1 - part, -part) * arb_mat(seen)
    return _force(c, seen, g.tolist(), skip)


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

    force: Ball
    same: Ball
    other: Ball
    printed_same: Ball
    printed_other: Ball


def modified_force(one: TwoQueries, skip: str, shared: bool = True) -> Modified:
    """The force of a decoder trained by (26) at Z = 0, in which time is a positive factor only.

    With I + E the cosines of what the decoder sees, (26) keeps W = (M - 1) h Z for the rows zeta_n,
    so that g_n is a positive multiple of sum_k a_k u_k, a = (I + E)^-1 s, and
    s_k = zeta_k . zeta_n up to a factor, 1 for k = n and -1/(M - 1) else.

    Raises:
        ZeroDivisionError: the balls do not exclude that I + E is singular.
    """
    c = [[exact(x) for x in row] for row in one.rows(shared)]
    seen = seen_vectors(c, skip)
    U, F = (arb_mat([unit(v) for v in vectors]) for vectors in (seen, c))
    s = _alike(Fraction(1), Fraction(-1, one.outputs - 1))
    a = (U * U.transpose()).solve(s).transpose()  # row n: the a of class n
    _, same, *others = (-x / a[0, 0] for x in a.tolist()[0])
    _, printed_same, *printed_others = (F * F.transpose()).tolist()[0]
    return Modified(
        _force(c, seen, (a * U).tolist(), skip),
        same,
        max(others, key=arb.abs_upper),
        printed_same + 1,
        max(printed_others, key=arb.upper),
    )


def forces_below_zero(overlap: bool = True) -> Iterator[Shown]:
    """The force under (26) on the token of each witness, enclosed: it loses.

    Args:
        overlap: `shared` of `TwoQueries.rows`.
    """
    for one in WITNESSES:
        force = modified_force(one, "after", overlap).force
        low, high = -above(-force), above(force)
        text = interval(low, high)
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
