"""Stage 2 as it is commonly coded: softmax minus one-hot, in float32 or float64.

The formulas are right and the arithmetic is that of automatic differentiation. It is kept to show
where it stops working; `training` is what the book uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpcore.huang2024.problem import Problem

Floats = NDArray[Any]  # of the precision that is looked at
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Batch:
    """Samples side by side; S of them, each of at most w distinct tokens, its optimal one first.

    Attributes:
        entry: (S, w), entry of W_kq of each token; 0 where there is none.
        count: (S, w), how often it occurs; 0 where there is none.
        absent: (S,), how many tokens of the vocabulary do not occur.
        share: (S,), frequency of the sample.
        entries: K.
    """

    entry: Integers
    count: Floats
    absent: Floats
    share: Floats
    entries: int


def batch(problem: Problem, precision: type[np.floating[Any]]) -> Batch:
    """The samples of a problem in some precision."""
    sizes = np.diff(problem.start)
    shape = len(sizes), int(sizes.max()) + 1
    entry, count = np.zeros(shape, np.int64), np.zeros(shape)
    entry[:, 0], count[:, 0] = problem.optimal, problem.optimal_count
    place = np.arange(len(problem.rival)) - problem.start[problem.sample_of] + 1
    entry[problem.sample_of, place] = problem.rival
    count[problem.sample_of, place] = problem.rival_count
    return Batch(
        entry,
        count.astype(precision),
        (problem.vocab_size - 1 - sizes).astype(precision),
        np.exp(problem.log_pi).astype(precision),
        len(problem.entry_token),
    )


def gradient(one: Batch, weights: Floats, gap: float) -> Floats:
    """Equation (6) as it is commonly coded, (K,), in the precision of the weights."""
    scores = np.where(one.count > 0, weights[one.entry], -np.inf)
    attention = one.count * np.exp(scores - scores.max(axis=1, keepdims=True))
    attention /= attention.sum(axis=1, keepdims=True)
    A = weights.dtype.type(gap)
    peak = (A * attention).max(axis=1, keepdims=True)
    terms = np.where(one.count > 0, np.exp(A * attention - peak), 0)
    total = terms.sum(axis=1) + one.absent * np.exp(-peak[:, 0])
    error = terms / total[:, None]  # softmax
    error[:, 0] -= 1  # minus one-hot
    error -= (attention * error).sum(axis=1, keepdims=True)
    parts = one.share[:, None] * A * attention * error
    found = np.zeros(one.entries, weights.dtype)
    np.add.at(found, one.entry, parts)
    return found


def run(
    problem: Problem,
    steps: int,
    eta: float,
    gap: float,
    precision: type[np.floating[Any]],
    record: Integers,
) -> tuple[Integers, Floats]:
    """Normalized gradient descent from zero in this arithmetic.

    Args:
        problem: the data.
        steps: number of steps at most.
        eta: step size.
        gap: A.
        precision: numpy.float32 or numpy.float64.
        record: steps to record, increasing.

    Returns:
        the recorded steps and the entries of W_kq there, (R, K); they end where the norm of the
        gradient is zero.
    """
    one, wanted = batch(problem, precision), set(record.tolist())
    weights, rate = np.zeros(one.entries, precision), precision(eta)
    reached, kept = [], []
    for step in range(steps + 1):
        if step in wanted:
            reached.append(step)
            kept.append(weights.copy())
        found = gradient(one, weights, gap)
        norm = np.sqrt((found * found).sum())
        if norm == 0 or step == steps:
            break
        weights = weights - rate * (found / norm)
    return np.array(reached), np.array(kept)
