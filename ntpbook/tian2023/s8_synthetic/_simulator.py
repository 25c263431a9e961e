"""Inner loop of the synthetic experiments, compiled where numba can be imported.

Only the counts of the tokens of a sample's class matter: f is proportional to count e^z, where e^z
is the same for all samples of a class in a batch; the logits are sum_k f_k Y[token_k], and with
e = onehot - softmax the ascent directions are f_k e for Y and f_k (g_k - f_k f . g),
g_k = Y[token_k] . e, for Z. So a sample costs O(tokens of a class x M). Samples of one class are
taken several at once, so that a row of Y is read, and a row of its direction written, once for all.
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
def fill_attention(
    counts: Integers, tokens: Integers, weights: Floats, scores: Floats, f: Floats
) -> None:
    """Fill f, (S,), with count e^z as a vector of length 1 (tian2023, (2)).

    Args:
        counts: (S,), how often each token occurs.
        tokens: (S,), the tokens of the class.
        weights: (S,), proportional to e^Z on the tokens.
        scores: (M,), the row of Z.
        f: (S,), overwritten.
    """
    size = 0.0
    for k in range(len(f)):
        f[k] = counts[k] * weights[k]
        size += f[k] * f[k]
    if size < SMALLEST:
        weigh(tokens, counts, scores, f)
        size = 0.0
        for k in range(len(f)):
            size += f[k] * f[k]
    size = 1.0 / sqrt(size)
    for k in range(len(f)):
        f[k] *= size


@_compile
def fill_residual(tokens: Integers, f: Floats, Y: Floats, following: int, p: Floats) -> float:
    """Fill p, (M,), with onehot - softmax of the logits; the loss of the sample.

    Args:
        tokens: (S,), the tokens of the class.
        f: (S,), their attention.
        Y: (R, M), rows of the context tokens.
        following: the next token.
        p: (M,), overwritten.
    """
    S, M = len(tokens), len(p)
    for j in range(M):
        p[j] = 0.0
    fours = S - S % 4
    for k in range(0, fours, 4):  # four rows for each time that p is read and written
        f_0, f_1, f_2, f_3 = f[k], f[k + 1], f[k + 2], f[k + 3]
        y_0, y_1, y_2, y_3 = Y[tokens[k]], Y[tokens[k + 1]], Y[tokens[k + 2]], Y[tokens[k + 3]]
        for j in range(M):
            p[j] += f_0 * y_0[j] + f_1 * y_1[j] + f_2 * y_2[j] + f_3 * y_3[j]
    for k in range(fours, S):
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
    return float(log(total) + lead)


@_compile
def add_gradients(
    tokens: Integers, query: int, Y: Floats, f: Floats, p: Floats, by_Y: Floats, by_Z: Floats
) -> None:
    """Add the ascent directions of four samples of one class; one with f = 0 adds nothing.

    Args:
        tokens: (S,), the tokens of the class.
        query: row of by_Z.
        Y: (R, M), rows of the context tokens.
        f: (4, S), attention of each sample.
        p: (4, M), onehot - softmax of each.
        by_Y: (R, M), what is added to.
        by_Z: (L, M), what is added to.
    """
    p_0, p_1, p_2, p_3 = p[0], p[1], p[2], p[3]
    along_0, along_1, along_2, along_3 = 0.0, 0.0, 0.0, 0.0
    for k in range(len(tokens)):
        row, slope = Y[tokens[k]], by_Y[tokens[k]]
        f_0, f_1, f_2, f_3 = f[0, k], f[1, k], f[2, k], f[3, k]
        g_0, g_1, g_2, g_3 = 0.0, 0.0, 0.0, 0.0
        for j in range(p.shape[1]):
            g_0 += row[j] * p_0[j]
            g_1 += row[j] * p_1[j]
            g_2 += row[j] * p_2[j]
            g_3 += row[j] * p_3[j]
            slope[j] += f_0 * p_0[j] + f_1 * p_1[j] + f_2 * p_2[j] + f_3 * p_3[j]
        along_0 += f_0 * g_0
        along_1 += f_1 * g_1
        along_2 += f_2 * g_2
        along_3 += f_3 * g_3
        by_Z[query, tokens[k]] += f_0 * g_0 + f_1 * g_1 + f_2 * g_2 + f_3 * g_3
    for k in range(len(tokens)):
        by_Z[query, tokens[k]] -= (
            f[0, k] * f[0, k] * along_0
            + f[1, k] * f[1, k] * along_1
            + f[2, k] * f[2, k] * along_2
            + f[3, k] * f[3, k] * along_3
        )


@_compile
def fill(array: Floats, value: float) -> None:
    """Set all of a matrix; a loop compiles in a tenth of the time of an assignment to a slice."""
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            array[i, j] = value


@_compile
def keep(array: Floats, kept: Floats) -> None:
    """Copy a matrix, likewise."""
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            kept[i, j] = array[i, j]


@_compile
def gather(classes: Integers, ends: Integers, members: Integers) -> None:
    """Fill members with the samples of class 0, of class 1, ...; class n ends before ends[n]."""
    for n in range(len(ends)):
        ends[n] = 0
    for b in range(len(classes)):
        ends[classes[b]] += 1
    for n in range(1, len(ends)):
        ends[n] += ends[n - 1]
    for b in range(len(classes) - 1, -1, -1):  # backwards: in the end ends[n] begins class n
        ends[classes[b]] -= 1
        members[ends[classes[b]]] = b
    for n in range(len(ends) - 1):
        ends[n] = ends[n + 1]
    ends[-1] = len(classes)


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
    f, p = np.zeros((4, S)), np.zeros((4, Y.shape[1]))
    weights, once = np.zeros(S), np.ones(S, np.int64)
    ends, members = np.zeros(len(tokens), np.int64), np.zeros(B, np.int64)
    place = 0
    if place < len(record) and record[place] == 0:
        keep(Z, kept[place])
        place += 1
    for t in range(T):
        fill(by_Y, 0.0)
        fill(by_Z, 0.0)
        loss = 0.0
        gather(classes[t], ends, members)
        done = 0
        for n in range(len(tokens)):
            scores = Z[queries[n]]
            weigh(tokens[n], once, scores, weights)
            while done < ends[n]:
                four = min(ends[n] - done, 4)
                if four < 4:
                    fill(f, 0.0)
                for i in range(four):
                    fill_attention(counts[t, members[done + i]], tokens[n], weights, scores, f[i])
                    loss += fill_residual(tokens[n], f[i], Y, following[n], p[i])
                add_gradients(tokens[n], queries[n], Y, f, p, by_Y, by_Z)
                done += four
        losses[t] = loss / B
        if adam:
            move_adam(Y, by_Y, first_Y, second_Y, eta_y, 1.0 / B, t + 1)
            move_adam(Z, by_Z, first_Z, second_Z, eta_z, 1.0 / B, t + 1)
        else:
            move_momentum(Y, by_Y, first_Y, eta_y, 1.0 / B, momentum)
            move_momentum(Z, by_Z, first_Z, eta_z, 1.0 / B, momentum)
        if place < len(record) and record[place] == t + 1:
            keep(Z, kept[place])
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
