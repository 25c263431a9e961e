"""Stage 1 of Algorithm 1, training W_ov: its exact solution, and iteration to compare with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ntpcore.data.dataset import InputError
from ntpcore.huang2024.logs import log_softplus

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Stage1:
    """Measurements of stage 1 at R recorded steps, each an array of shape (R,).

    G is the gradient (5) at W = W_ov. T[v, x] is the probability that W predicts for token v after
    the single token x, and n(x) the next token of x.

    Attributes:
        step: number t of steps taken.
        log_loss: log of L_0, the loss summed over the vocabulary.
        norm: ||W||.
        one_minus_cos: 1 - cos of the angle between W and W_ov_star; nan at W = 0.
        least_gap: smallest W[n(x), x] - W[v, x] over all x and all v other than n(x).
        greatest_gap: largest W[n(x), x] - W[v, x] over all x and all v other than n(x).
        spread: largest difference of W[v, x] and W[v', x], v and v' other than n(x) (Lemma 3).
        cos_star: <G, W_ov_star> / (||G|| ||W_ov_star||).
        cos_weights: <G, W> / (||G|| ||W||); nan at W = 0.
        mistakes: sum of T[v, x] over all x and v other than n(x), divided by ||G||; equation (8)
            says cos_star <= -mistakes / ||W_ov_star||.
    """

    step: Integers
    log_loss: Floats
    norm: Floats
    one_minus_cos: Floats
    least_gap: Floats
    greatest_gap: Floats
    spread: Floats
    cos_star: Floats
    cos_weights: Floats
    mistakes: Floats


def norm_star(vocab_size: int) -> float:
    """||W_ov_star|| = sqrt(|V| - 1), the norm of the max-margin solution of stage 1."""
    return math.sqrt(vocab_size - 1)


def W_ov_star(following: Integers) -> Floats:
    """The max-margin solution of equation (2), (|V|, |V|): column x is e_{n(x)} - 1 / |V|."""
    size = len(following)
    star = np.full((size, size), -1.0 / size)
    star[following, np.arange(size)] += 1.0
    return star


def gap(vocab_size: int, steps: int, eta0: float) -> float:
    """The gap A after T steps from zero, exactly T eta0 / sqrt(|V| - 1).

    A is W[n(x), x] - W[v, x] for v other than n(x), W being W_ov (Corollary 1 gives bounds).
    """
    return steps * eta0 / norm_star(vocab_size)


def log_loss(vocab_size: int, steps: int, eta0: float) -> float:
    """log L_0 after T steps from zero; exactly L_0 = |V| log(1 + (|V| - 1) e^-A) with A = `gap`."""
    logit = math.log(vocab_size - 1) - gap(vocab_size, steps, eta0)
    return math.log(vocab_size) + float(log_softplus(logit))


def weights(following: Integers, steps: int, eta0: float) -> Floats:
    """W_ov after T steps from zero, (|V|, |V|), exactly T eta0 W_ov_star / ||W_ov_star||."""
    return gap(len(following), steps, eta0) * W_ov_star(following)


def iterate(
    following: Integers,
    steps: int,
    eta0: float,
    *,
    record: Sequence[int] | Integers | None = None,
    start: Floats | None = None,
) -> tuple[Stage1, Floats]:
    """Normalized gradient descent on the dense matrix W_ov, step by step.

    Args:
        following: (|V|,), the collocation n by numbers, |V| being at least 2.
        steps: number of steps.
        eta0: step size.
        record: steps to record; all steps if None.
        start: (|V|, |V|), initial W_ov; zero if None.

    Returns:
        the measurements, and W_ov after the last step.

    Raises:
        InputError: |V| < 2, steps is negative, or eta0 is not a positive number.

    Source: huang2024, Algorithm 1, lines 3 to 5, and equation (7).
    """
    size = len(following)
    if size < 2:
        raise InputError("stage 1 has nothing to tell apart with one token; give two or more")
    if steps < 0 or not (math.isfinite(eta0) and eta0 > 0):
        raise InputError(f"steps {steps!r} and eta0 {eta0!r} must be positive numbers")
    W = np.zeros((size, size)) if start is None else start.astype(np.float64)
    wanted = set(range(steps + 1)) if record is None else {int(step) for step in record}
    rows = []
    for step in range(steps + 1):
        G, log_L0 = _direction(following, W)
        if step in wanted:
            rows.append(_measure(following, W, G, log_L0) | {"step": step})
        if step < steps:
            W -= eta0 * G
    names = [field.name for field in fields(Stage1)]
    kinds = {name: "i8" if name == "step" else "f8" for name in names}
    return Stage1(**{name: np.array([row[name] for row in rows], kinds[name]) for name in names}), W


def _direction(following: Integers, W: Floats) -> tuple[Floats, float]:
    """G / ||G|| of equation (5), without a probability minus 1, and log L_0."""
    size = len(following)
    columns = np.arange(size)
    relative = W - W[following, columns]
    relative[following, columns] = -np.inf
    log_wrong = np.logaddexp.reduce(relative, axis=0)  # log sum e^(W[v, x] - W[n(x), x])
    log_one_minus = log_wrong - np.logaddexp(0.0, log_wrong)
    log_T = relative - np.logaddexp(0.0, log_wrong)
    top = float(log_T.max())
    G = np.exp(log_T - top)
    G[following, columns] = -np.exp(log_one_minus - top)
    scale = math.sqrt(float((G**2).sum()))
    return G / scale, float(np.logaddexp.reduce(log_softplus(log_wrong)))


def _measure(following: Integers, W: Floats, G: Floats, log_L0: float) -> dict[str, float]:
    """One row of measurements."""
    size = len(following)
    columns = np.arange(size)
    star = W_ov_star(following) / norm_star(size)
    norm = math.sqrt(float((W**2).sum()))
    unit = W / norm if norm else np.full_like(W, math.nan)
    wrong = np.ones((size, size), dtype=bool)
    wrong[following, columns] = False
    gaps = (W[following, columns] - W).T[wrong.T].reshape(size, size - 1)
    return {
        "log_loss": log_L0,
        "norm": norm,
        "one_minus_cos": float(((unit - star) ** 2).sum()) / 2,
        "least_gap": float(gaps.min()),
        "greatest_gap": float(gaps.max()),
        "spread": float((gaps.max(axis=1) - gaps.min(axis=1)).max()),
        "cos_star": float((G * star).sum()),
        "cos_weights": float((G * unit).sum()),
        "mistakes": float(G[wrong].sum()),
    }
