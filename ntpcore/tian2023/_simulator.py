"""Inner loop of the synthetic experiments, compiled where numba can be imported.

Only the counts of the tokens of a sample's class matter: f is proportional to count e^z, where e^z
is the same for all samples of a class in a batch; the logits are sum_k f_k Y[token_k], and with
e = onehot - softmax the ascent directions are f_k e for Y and f_k (g_k - f_k f . g),
g_k = Y[token_k] . e, for Z. So a sample costs O(tokens of a class x M).
"""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from ntpcore.compiled import compiled_with
from ntpcore.exponential import fast_exp

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SMALLEST = 1e-200  # sum of squares of weights; below it tokens that do not occur weigh far more
# Sums may be taken in another order, so that they vectorise; nothing here is inf or nan.
FAST = {"reassoc", "contract", "nsz", "nnan", "ninf", "arcp"}


_compile = compiled_with(fastmath=FAST, nogil=True)


@_compile
def weigh(tokens: Integers, counts: Integers, row: Floats, weights: Floats) -> None:
    """Fill weights, (S,), with count e^Z, divided by the largest e^Z of a token that occurs."""
    top = -1e300
    for k in range(len(tokens)):
        if counts[k] > 0:
            top = max(top, row[tokens[k]])
    for k in range(len(tokens)):
        weights[k] = counts[k] * exp(row[tokens[k]] - top) if counts[k] > 0 else 0.0


@_compile
def add_gradient(
    tokens: Integers,
    counts: Integers,
    query: int,
    following: int,
    weights: Floats,
    scores: Floats,
    Y: Floats,
    by_Y: Floats,
    by_Z: Floats,
    f: Floats,
    p: Floats,
) -> float:
    """Add one sample's ascent directions; return its loss.

    Args:
        tokens: (S,), the tokens of the class.
        counts: (S,), how often each occurs.
        query: row of by_Z.
        following: the next token.
        weights: (S,), proportional to e^Z on the tokens.
        scores: (M,), the row of Z.
        Y: (R, M), rows of the context tokens.
        by_Y: (R, M), what is added to.
        by_Z: (L, M), what is added to.
        f: (S,), overwritten.
        p: (M,), overwritten.
    """
    S, M = len(tokens), len(p)
    size = 0.0
    for k in range(S):
        f[k] = counts[k] * weights[k]
        size += f[k] * f[k]
    if size < SMALLEST:
        weigh(tokens, counts, scores, f)
        size = 0.0
        for k in range(S):
            size += f[k] * f[k]
    size = 1.0 / sqrt(size)
    for j in range(M):
        p[j] = 0.0
    for k in range(S):
        f[k] *= size
        weight, row = f[k], Y[tokens[k]]
        for j in range(M):
            p[j] += weight * row[j]
    best = p[0]
    for j in range(M):
        best = max(best, p[j])
    lead = best - p[following]
    total = 0.0
    for j in range(M):
        p[j] = fast_exp(max(p[j] - best, -700.0))
        total += p[j]
    scale = -1.0 / total
    for j in range(M):
        p[j] *= scale
    p[following] += 1.0
    along = 0.0
    for k in range(S):
        weight, row, slope, g = f[k], Y[tokens[k]], by_Y[tokens[k]], 0.0
        for j in range(M):
            g += row[j] * p[j]
            slope[j] += weight * p[j]
        along += weight * g
        by_Z[query, tokens[k]] += weight * g
    for k in range(S):
        by_Z[query, tokens[k]] -= f[k] * f[k] * along
    return float(log(total) + lead)


@_compile
def run(
    tokens: Integers,
    queries: Integers,
    following: Integers,
    classes: Integers,
    counts: Integers,
    Y: Floats,
    Z: Floats,
    eta_y: float,
    eta_z: float,
    momentum: float,
    adam: bool,
    record: Integers,
    losses: Floats,
    kept: Floats,
) -> None:
    """Mini-batch training of one pair of learning rates; Y and Z are changed in place.

    Args:
        tokens: (K, S), tokens of each class.
        queries: (K,), query of each class.
        following: (K,), next token of each class.
        classes: (T, B), class of each sample.
        counts: (T, B, S), counts of its tokens.
        Y: (R, M), start and end.
        Z: (L, M), start and end.
        eta_y: learning rate of Y.
        eta_z: learning rate of Z.
        momentum: of SGD, in PyTorch's form v <- momentum v + g, w <- w - eta v.
        adam: use Adam with PyTorch's defaults (0.9, 0.999, 1e-8) instead.
        record: increasing numbers of updates after which Z is kept.
        losses: (T,), filled with the mean loss of each batch before its update.
        kept: (len(record), L, M), filled.
    """
    T, B, S = counts.shape
    by_Y, by_Z = np.zeros_like(Y), np.zeros_like(Z)
    first_Y, first_Z = np.zeros_like(Y), np.zeros_like(Z)
    second_Y, second_Z = np.zeros_like(Y), np.zeros_like(Z)
    f, p = np.zeros(S), np.zeros(Y.shape[1])
    weights, once = np.zeros(tokens.shape), np.ones(S, np.int64)
    place = 0
    if place < len(record) and record[place] == 0:
        kept[place] = Z
        place += 1
    for t in range(T):
        by_Y[:] = 0.0
        by_Z[:] = 0.0
        loss = 0.0
        for n in range(len(tokens)):
            weigh(tokens[n], once, Z[queries[n]], weights[n])
        for b in range(B):
            n = classes[t, b]
            loss += add_gradient(
                tokens[n], counts[t, b], queries[n], following[n], weights[n], Z[queries[n]], Y,
                by_Y, by_Z, f, p,
            )  # fmt: skip
        losses[t] = loss / B
        if adam:
            move_adam(Y, by_Y, first_Y, second_Y, eta_y, 1.0 / B, t + 1)
            move_adam(Z, by_Z, first_Z, second_Z, eta_z, 1.0 / B, t + 1)
        else:
            move_momentum(Y, by_Y, first_Y, eta_y, 1.0 / B, momentum)
            move_momentum(Z, by_Z, first_Z, eta_z, 1.0 / B, momentum)
        if place < len(record) and record[place] == t + 1:
            kept[place] = Z
            place += 1


@_compile
def move_momentum(
    w: Floats, ascent: Floats, velocity: Floats, eta: float, scale: float, momentum: float
) -> None:
    """One step of SGD with momentum uphill, in place; `scale` turns the sum into a mean."""
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            velocity[i, j] = momentum * velocity[i, j] + scale * ascent[i, j]
            w[i, j] += eta * velocity[i, j]


@_compile
def move_adam(
    w: Floats, ascent: Floats, first: Floats, second: Floats, eta: float, scale: float, step: int
) -> None:
    """One step of Adam uphill, in place, with PyTorch's defaults."""
    fix_1, fix_2 = 1.0 - 0.9**step, 1.0 - 0.999**step
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            g = scale * ascent[i, j]
            first[i, j] = 0.9 * first[i, j] + 0.1 * g
            second[i, j] = 0.999 * second[i, j] + 0.001 * g * g
            w[i, j] += eta * (first[i, j] / fix_1) / (sqrt(second[i, j] / fix_2) + 1e-8)
