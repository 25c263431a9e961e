"""Plain gradient steps of decoder and attention in ball arithmetic, for scores that are certain.

Written from equation (3), averaged over the classes, with long sequences (Lemma 2) and one head.
Every number is a ball (python-flint, Arb) that contains the truth. Balls grow from step to step, so
that a run starts with many bits; whether enough of them are left shows in the radius of its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from flint import arb, arb_mat, ctx

from ntpbook.shared.enclosure import exact

Ball = Any  # of python-flint, which has no types
Balls = list[Ball]
Rows = Sequence[Sequence[Fraction]]


@contextmanager
def bits(number: int) -> Iterator[None]:
    """Ball arithmetic with so many bits."""
    with ctx.workprec(number):
        yield


def above(one: Ball) -> float:
    """A float that is at least every number of a ball; a NaN where the ball is not bounded."""
    with ctx.workprec(53):
        return float(arb(one).upper())


def dot(v: Balls, w: Balls) -> Ball:
    """The inner product."""
    return sum((x * y for x, y in zip(v, w, strict=True)), arb(0))


def unit(v: Balls) -> Balls:
    """v / |v|."""
    norm = dot(v, v).sqrt()
    return [x / norm for x in v]


def attention(p: Balls, z: Balls) -> Balls:
    """Equation (5): p exp(z) with the sum 1; where p is zero it stays zero."""
    weights = [x * y.exp() if x != 0 else x for x, y in zip(p, z, strict=True)]
    total = sum(weights, arb(0))
    return [x / total for x in weights]


def errors(logits: Sequence[Balls], others: int) -> tuple[list[Balls], list[Balls]]:
    """e_n - alpha_n for each class n, once by columns of Y and once with the others counted.

    The last logit is that of each of the output tokens that follow no class.
    """
    by_column, counted = [], []
    for n, row in enumerate(logits):
        weights = [x.exp() for x in row]
        total = sum(weights[:-1], arb(0)) + others * weights[-1]
        error = [(arb(int(k == n)) - x / total) for k, x in enumerate(weights)]
        by_column.append(error)
        counted.append([*error[:-1], others * error[-1]])
    return by_column, counted


def slope(c: Balls, seen: Balls, g: Balls, skip: str) -> Balls:
    """(diag(c) - c c^T) P_v g / |v| with v = c, or v = c + x_T where x_T is added before LN."""
    if skip == "before":  # |c + x_T| = 2 / sum of its direction, as |c|_1 = 1 and x_T is one-hot
        length, along = 2 / sum(seen, arb(0)), dot(seen, g)
        pulled = [(x - y * along) / length for x, y in zip(g, seen, strict=True)]
        mean = dot(c, pulled)
        return [x * (y - mean) for x, y in zip(c, pulled, strict=True)]
    f = unit(c)
    along = dot(f, g)
    return [x * (y - x * along) for x, y in zip(f, g, strict=True)]


def scores_after(
    rows: Rows,
    queries: Sequence[int],
    tokens: Sequence[int],
    others: int,
    rates: tuple[Fraction, Fraction],
    steps: int,
    skip: str = "none",
) -> list[Balls]:
    """The scores z of each query after so many steps from Y = 0 and z = 0.

    Args:
        rows: P(.|n) of each class.
        queries: the query of each class.
        tokens: the token that each query is; used with a residual connection only.
        others: number of output tokens that follow no class.
        rates: eta_Y and eta_Z of the mean over the classes.
        steps: number of steps.
        skip: residual connection: "none", "before" (LN(c + x_T)) or "after" (LN(c) + x_T).
    """
    K, M = len(rows), len(rows[0])
    p = [[exact(x) for x in row] for row in rows]
    own = [[arb(int(skip != "none" and x == tokens[q])) for x in range(M)] for q in queries]
    eta_Y, eta_Z = (exact(Fraction(rate) / K) for rate in rates)
    Y, z = arb_mat(M, K + 1), [[arb(0)] * M for _ in range(max(queries) + 1)]
    for _ in range(steps):
        c = [attention(p[n], z[queries[n]]) for n in range(K)]
        v = c if skip == "before" else [unit(one) for one in c]
        v = [[x + y for x, y in zip(*pair, strict=True)] for pair in zip(v, own, strict=True)]
        seen = [unit(one) for one in v] if skip == "before" else v
        F = arb_mat(seen)
        error, counted = errors((F * Y).tolist(), others)
        G = (arb_mat(counted) * Y.transpose()).tolist()
        Y = Y + F.transpose() * arb_mat(error) * eta_Y
        for n, q in enumerate(queries):
            step = slope(c[n], seen[n], G[n], skip)
            z[q] = [x + eta_Z * y for x, y in zip(z[q], step, strict=True)]
    return z
