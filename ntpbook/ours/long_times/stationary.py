"""The stationary attention Z*(Y) of a fixed decoder, and normalised steps towards it.

Several classes that share one query and two tokens: attention has one number, w = z_2 - z_1, and
the classes' mean log-likelihood J(w) one slope. Signs of that slope are enclosed in balls, so
that several stable attentions are proved and not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import sqrt

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from ntpbook.shared.enclosure import exact
from ntpbook.tian2023.s7_discussion.enclosed_steps import Ball, Balls, above, dot, unit
from ntpcore.compiled import compiled
from ntpcore.tian2023 import coupled
from ntpcore.tian2023.coupled import Symmetric

Floats = NDArray[np.float64]
Rows = Sequence[Sequence[Fraction]]

# Two tokens, several classes, in balls


@dataclass(frozen=True)
class Witness:
    """A fixed decoder under which several attentions are stable.

    Attributes:
        P: (K, 2), probabilities of the two tokens in each class.
        Y: (2, M), decoder; None for one trained by `train`.
        steps: steps of training from Y = 0, eta_Y = 1, attention by frequency.
        brackets: increasing values of w, where the slope of J is +, -, +, -, ... in turn.
    """

    P: tuple[tuple[Fraction, Fraction], ...]
    Y: tuple[tuple[Fraction, ...], ...] | None
    steps: int
    brackets: tuple[Fraction, ...]


def _pairs(*first: str) -> tuple[tuple[Fraction, Fraction], ...]:
    """Rows (p, 1 - p)."""
    return tuple((Fraction(x), 1 - Fraction(x)) for x in first)


ARBITRARY = Witness(
    _pairs("0.5171", "0.0371"),
    (
        (Fraction("-1.695"), Fraction("1.695")),
        (Fraction("6.514"), Fraction("-6.514")),
    ),
    0,
    (Fraction(-9), Fraction(-8), Fraction(-1), Fraction(0)),
)
TRAINED = Witness(
    _pairs("0.001", "0.01", "0.999", "0.99"),
    None,
    1000,
    (Fraction(-5), Fraction(-3), Fraction(-1, 2), Fraction(1, 2), Fraction(3), Fraction(5)),
)
TAME = Witness(
    _pairs("0.2", "0.3", "0.8", "0.7"),
    None,
    1000,
    (Fraction(-5), Fraction(-3), Fraction(-1, 2), Fraction(1, 2), Fraction(3), Fraction(5)),
)


def _units(P: Rows, w: Fraction) -> list[Balls]:
    """f of every class for z = (0, w)."""
    grow = exact(w).exp()
    return [unit([exact(first), exact(second) * grow]) for first, second in P]


def _errors(f: Balls, Y: list[Balls], n: int) -> Balls:
    """e_n - softmax(Y^T f)."""
    M = len(Y[0])
    weights = [dot(f, [row[k] for row in Y]).exp() for k in range(M)]
    total = sum(weights, arb(0))
    return [(1 if k == n else 0) - weights[k] / total for k in range(M)]


def train(P: Rows, steps: int) -> list[Balls]:
    """Y after gradient steps from 0 on the mean loss, eta_Y = 1, attention by frequency, enclosed.

    Balls grow at every step; `flint.ctx.dps` must have the digits for that, which the radius of the
    result shows.
    """
    K = len(P)
    f = _units(P, Fraction(0))
    Y = [[arb(0)] * K for _ in range(2)]
    for _ in range(steps):
        errors = [_errors(f[n], Y, n) for n in range(K)]
        Y = [
            [
                Y[i][k] + sum((f[n][i] * errors[n][k] for n in range(K)), arb(0)) / K
                for k in range(K)
            ]
            for i in range(2)
        ]
    return Y


def slope(P: Rows, Y: list[Balls], w: Fraction) -> Ball:
    """The slope of w under the gradient of J in z, with learning rate 1, as a ball.

    z_i' = mean over classes of f_i (g_i - f_i f . g), g = Y (e_n - alpha); w' = z_2' - z_1'.
    """
    total = arb(0)
    for n, f in enumerate(_units(P, w)):
        error = _errors(f, Y, n)
        g = [dot(row, error) for row in Y]
        along = dot(f, g)
        total += f[1] * (g[1] - f[1] * along) - f[0] * (g[0] - f[0] * along)
    return total / len(P)


def enclosed_slopes(witness: Witness, digits: int = 200) -> tuple[tuple[float, float], ...]:
    """Enclosures of the slope at the brackets of a witness, as pairs of floats rounded outwards.

    Args:
        witness: what is tried.
        digits: of the balls.
    """
    with ctx.workdps(digits):
        if witness.Y is None:
            Y = train(witness.P, witness.steps)
        else:
            Y = [[exact(y) for y in row] for row in witness.Y]
        found = [slope(witness.P, Y, w) for w in witness.brackets]
    return tuple((-above(-x), above(x)) for x in found)


def stable_between(slopes: Sequence[tuple[float, float]]) -> int:
    """Pairs of neighbours with the signs +, -: between them a maximum of J, a stable attention.

    Raises:
        ArithmeticError: an interval contains 0 or is not finite.
    """
    signs = []
    for low, high in slopes:
        if not (np.isfinite(low) and np.isfinite(high)) or low <= 0 <= high:
            raise ArithmeticError(f"the sign of [{low}, {high}] is not decided")
        signs.append(low > 0)
    return sum(a and not b for a, b in pairwise(signs))


def scan(P: Floats, Y: Floats, w: Floats) -> Floats:
    """The same slope in floating point, at many w.

    Args:
        P: (K, 2).
        Y: (2, M).
        w: (S,).
    """
    q = np.stack([np.broadcast_to(P[:, 0], (len(w), len(P))), P[:, 1] * np.exp(w)[:, None]], axis=2)
    f = q / np.linalg.norm(q, axis=2, keepdims=True)
    logits = f @ Y
    weights = np.exp(logits - logits.max(axis=2, keepdims=True))
    error = -weights / weights.sum(axis=2, keepdims=True)
    n = np.arange(len(P))
    error[:, n, n] += 1
    g = error @ Y.T
    moved = f * (g - f * (f * g).sum(axis=2, keepdims=True))
    return np.asarray((moved[:, :, 1] - moved[:, :, 0]).mean(axis=1))


def stable_points(P: Floats, Y: Floats, reach: float = 15.0) -> Floats:
    """Values of w at which the slope changes from + to -, on a grid of step 0.005."""
    w = np.arange(-reach, reach, 0.005)
    found = scan(P, Y, w)
    return np.asarray(w[:-1][(found[:-1] > 0) & (found[1:] <= 0)] + 0.0025)


def trained(P: Floats, steps: int) -> Floats:
    """`train` in floating point."""
    f = P / np.linalg.norm(P, axis=1, keepdims=True)
    K = len(P)
    Y = np.zeros((2, K))
    for _ in range(steps):
        weights = np.exp(f @ Y - (f @ Y).max(axis=1, keepdims=True))
        Y = Y + f.T @ (np.eye(K) - weights / weights.sum(axis=1, keepdims=True)) / K
    return Y


# Normalised steps of Z with true gradients, symmetric classes


@compiled
def _normalised(
    state: Floats,
    p: Floats,
    C: int,
    K: int,
    M: int,
    L: int,
    eta_Y: float,
    eta_Z: float,
    record: NDArray[np.int64],
    rows: Floats,
    flips: NDArray[np.int64],
) -> None:
    """Gradient steps of Y, steps of length eta_Z of Z; counts turns of Z above 90 degrees."""
    N = len(p)
    f, g, change = np.empty(N), np.empty(N), np.empty(len(state))
    before = np.zeros(N)
    step, turned = 0, 0
    for i in range(len(record)):
        while step < record[i]:
            coupled.fill_slopes(state, p, C, K, M, L, eta_Y, 1.0, False, f, g, change)
            size, along = 0.0, 0.0
            for j in range(N):  # every query has the common tokens, and K/L classes
                copies = L if j < C else K
                size += copies * change[j] ** 2
                along += copies * change[j] * before[j]
            if along < 0:
                turned += 1
            for j in range(N):
                before[j] = change[j]
                state[j] += eta_Z * change[j] / sqrt(size)
            for j in range(N, len(state)):
                state[j] += change[j]
            step += 1
        flips[i] = turned
        for j in range(len(state)):
            rows[i, j] = state[j]


@dataclass(frozen=True, eq=False)
class Walk:
    """A run with normalised steps of Z.

    Attributes:
        path: times and states, as of the flow in time.
        flips: (S,), steps so far whose gradient points against the one before.
    """

    path: coupled.Path
    flips: NDArray[np.int64]


def normalised(
    data: Symmetric,
    eta_Y: float,
    length: float,
    steps: Sequence[int],
    start: Floats | None = None,
) -> Walk:
    """Descent in Y with true gradients, normalised steps of given length in Z.

    Args:
        data: the classes.
        eta_Y: learning rate of the decoder.
        length: of each step of Z.
        steps: increasing numbers of steps after which the state is kept.
        start: the state at first; zero for Z and one plain step of Y when left out, since Z has
            no gradient at Y = 0.
    """
    p = np.concatenate(data.probabilities)
    if start is None:
        start = coupled.descend(data, eta_Y, 1e-300, [1]).rows[0]
    record = np.asarray(steps, dtype=np.int64)
    rows, flips = np.empty((len(record), len(start))), np.zeros(len(record), dtype=np.int64)
    sizes = (len(data.common), data.K, data.M, data.queries, float(eta_Y), float(length))
    _normalised(start.copy(), p, *sizes, record, rows, flips)
    return Walk(coupled.Path(data, eta_Y, length, record.astype(float), rows, False), flips)


def rest(data: Symmetric, state: Floats, gap: float = 1e-12) -> Floats:
    """Z*(Y): the attention scores at which the flow of Z comes to rest while Y is held fixed.

    f is iterated to g(f)/|g(f)|, damped, which is stationary where it stops (Theorem 7 (i)).

    Raises:
        ArithmeticError: no rest within 100 000 rounds, or g has a negative entry.
    """
    p = np.concatenate(data.probabilities)
    C, N = len(data.common), len(p)
    f, g, out = np.empty(N), np.empty(N), np.empty(len(state))
    here = state.copy()
    for _ in range(100_000):
        coupled.fill_slopes(here, p, C, data.K, data.M, data.queries, 1.0, 1.0, False, f, g, out)
        aim = g / np.linalg.norm(g)
        if aim.min() <= 0:
            raise ArithmeticError(f"g has the entry {aim.min()}, so that Z*(Y) is on the boundary")
        move = np.log(aim) - np.log(f)
        if np.abs(move).max() < gap:
            return np.asarray(f / f.sum())
        here[:N] += 0.5 * move
    raise ArithmeticError("no rest within 100 000 rounds")
