"""The coupled dynamics of decoder and attention on a few classes or sequences, without shortcuts.

The gradient is the exact expectation over the rows of a `Population`. A row is a class, with
q = P(.|n) in the limit of long sequences, or a finite sequence, with q its shares of tokens: since
X^T diag(b) X = diag(X^T b), equation (3) sees a sequence through q alone. In Y the output tokens
that follow no class stay alike and share one column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore.tian2023.classes import Integers, SequenceClasses
from ntpcore.tian2023.integrate import states_at

Floats = NDArray[np.float64]
SKIPS = ("none", "before", "after")  # where a residual connection enters, against LN


@dataclass(frozen=True, eq=False)
class Population:
    """What is trained on.

    Attributes:
        q: (N, M), distribution of the contextual tokens of each row.
        following: (N,), number of the next token, 0, ..., K - 1.
        query: (N,), number of the query, 0, ..., L - 1.
        weight: (N,), how often each row is drawn; sums to 1.
        others: number of output tokens that are never a next token, M - K in the paper.
        query_token: (L,), the token that each query is; needed for a residual connection only.
    """

    q: Floats
    following: Integers
    query: Integers
    weight: Floats
    others: int
    query_token: Integers | None = None

    @property
    def K(self) -> int:
        """Number of next tokens."""
        return int(self.following.max()) + 1

    @property
    def L(self) -> int:
        """Number of queries."""
        return int(self.query.max()) + 1


def of_classes(
    classes: SequenceClasses, query_token: Integers | None = None, M: int | None = None
) -> Population:
    """Long sequences: one row for each class, all equally often.

    Args:
        classes: the data; tokens that never occur as a context may be left out of it.
        query_token: the token that each query is, for a residual connection.
        M: size of the vocabulary of outputs; that of `classes` when left out.
    """
    K = classes.K
    return Population(
        classes.probabilities,
        np.arange(K),
        np.array(classes.query),
        np.full(K, 1 / K),
        (classes.M if M is None else M) - K,
        query_token,
    )


def of_counts(counts: Integers, following: Integers, query: Integers, others: int) -> Population:
    """Finite sequences: one row for each, with its shares of tokens, all equally often.

    Args:
        counts: (N, M), token counts of the contexts.
        following: (N,), next tokens.
        query: (N,), queries.
        others: number of output tokens that are never a next token.
    """
    q = counts / counts.sum(axis=1, keepdims=True)
    return Population(q, following, query, np.full(len(q), 1 / len(q)), others)


@dataclass(frozen=True, eq=False)
class HeadWeights:
    """Weights of one or several heads; with several, the logits of the heads are added.

    Attributes:
        Y: (H, M, K + 1), decoder; the last column stands for each of the other output tokens.
        z: (H, L, M), rows of Z by query.
    """

    Y: Floats
    z: Floats


def start(population: Population, z: Floats | None = None) -> HeadWeights:
    """Y = 0, and z as given, (H, L, M), or zero for one head."""
    M = population.q.shape[1]
    z = np.zeros((1, population.L, M)) if z is None else z
    return HeadWeights(np.zeros((len(z), M, population.K + 1)), z)


def scores(population: Population, z: Floats) -> Floats:
    """c: (H, N, M), q exp(z) normalised row by row (tian2023, equation (5))."""
    rows = z[:, population.query]
    rows = rows - np.where(population.q > 0, rows, -np.inf).max(axis=2, keepdims=True)
    weights = population.q * np.exp(np.where(population.q > 0, rows, 0.0))
    return np.asarray(weights / weights.sum(axis=2, keepdims=True))


def inputs(population: Population, c: Floats, skip: str = "none") -> Floats:
    """What the decoder sees: (H, N, M), LN(c), LN(c + x_T) or LN(c) + x_T.

    Raises:
        ValueError: the skip is unknown, or the tokens of the queries are missing.
    """
    if skip not in SKIPS:
        raise ValueError(f"skip is {skip!r}; choose one of {', '.join(SKIPS)}")
    if skip == "none":
        return np.asarray(c / np.linalg.norm(c, axis=2, keepdims=True))
    if population.query_token is None:
        raise ValueError("a residual connection needs query_token, the token of each query")
    own = np.zeros(population.q.shape)
    own[np.arange(len(own)), population.query_token[population.query]] = 1.0
    if skip == "after":
        return np.asarray(c / np.linalg.norm(c, axis=2, keepdims=True) + own)
    return np.asarray((c + own) / np.linalg.norm(c + own, axis=2, keepdims=True))


def errors(population: Population, state: HeadWeights, seen: Floats) -> Floats:
    """x_(T+1) - alpha: (N, K + 1), without subtracting probabilities near 1.

    The last column holds the error of each of the other output tokens.
    """
    logits = np.einsum("hnm,hmk->nk", seen, state.Y)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    counted = weights.copy()
    counted[:, -1] *= population.others
    total = counted.sum(axis=1, keepdims=True)
    out = -weights / total
    rows = np.arange(len(out))
    counted[rows, population.following] = 0.0
    out[rows, population.following] = counted.sum(axis=1) / total[:, 0]
    return np.asarray(out)


def log_likelihood(population: Population, state: HeadWeights, skip: str = "none") -> float:
    """J, the expected log probability of the next token (tian2023, equation (2))."""
    seen = inputs(population, scores(population, state.z), skip)
    error = errors(population, state, seen)
    right = error[np.arange(len(error)), population.following]
    return float(population.weight @ np.log1p(-right))


def backward(population: Population, state: HeadWeights, error: Floats) -> Floats:
    """g = Y (x_(T+1) - alpha) for every row: (H, N, M) (tian2023, equation (9))."""
    counted = error.copy()
    counted[:, -1] *= population.others
    return np.asarray(np.einsum("hmk,nk->hnm", state.Y, counted))


def gradient(population: Population, state: HeadWeights, skip: str = "none") -> HeadWeights:
    """The gradient of J: equation (3) averaged over the rows, for learning rates 1.

    With v the vector that is normalised, z of the query of row n moves by
    (diag(c) - c c^T) P_v g / |v|, which is f * (g - f (f . g)) without a residual connection.

    Args:
        population: the data.
        state: where.
        skip: residual connection: "none", "before" (LN(c + x_T)) or "after" (LN(c) + x_T).

    Source: tian2023, Lemma 1, Lemma 2 and Section 7.
    """
    c = scores(population, state.z)
    seen = inputs(population, c, skip)
    error = errors(population, state, seen)
    dY = np.einsum("n,hnm,nk->hmk", population.weight, seen, error)
    g = backward(population, state, error)
    if skip == "before":
        own = np.einsum("hnm,hnm->hn", seen, g)[..., None]
        # |c + x_T| from c and its direction: c + x_T = |c + x_T| seen, and |c|_1 = 1
        length = 2.0 / seen.sum(axis=2, keepdims=True)
        pulled = (g - seen * own) / length
        moved = c * (pulled - np.einsum("hnm,hnm->hn", c, pulled)[..., None])
    else:
        f = c / np.linalg.norm(c, axis=2, keepdims=True)
        moved = f * (g - f * np.einsum("hnm,hnm->hn", f, g)[..., None])
    dz = np.zeros_like(state.z)
    for m in range(population.L):
        inside = population.query == m
        dz[:, m] = np.einsum("n,hnm->hm", population.weight[inside], moved[:, inside])
    return HeadWeights(dY, dz)


def descend(
    population: Population,
    state: HeadWeights,
    eta_Y: float,
    eta_Z: float,
    steps: int,
    skip: str = "none",
) -> HeadWeights:
    """Plain gradient ascent on J with full gradients, step by step."""
    for _ in range(steps):
        slope = gradient(population, state, skip)
        state = HeadWeights(state.Y + eta_Y * slope.Y, state.z + eta_Z * slope.z)
    return state


def flow(
    population: Population,
    state: HeadWeights,
    eta_Y: float,
    eta_Z: float,
    times: Floats,
    skip: str = "none",
    relative: float = 1e-8,
) -> list[HeadWeights]:
    """The same in continuous time, integrated over the logarithm of 1 + t.

    Args:
        population: the data.
        state: the state at time 0.
        eta_Y: learning rate of the decoder.
        eta_Z: learning rate of the attention.
        times: increasing times > 0, in expected steps of batch size 1.
        skip: residual connection, as in `gradient`.
        relative: tolerance of the integrator.

    Returns:
        one state for each time.

    Raises:
        ArithmeticError: the integrator gave up.
    """
    shape_Y, shape_z, cut = state.Y.shape, state.z.shape, state.Y.size

    def slope(u: float, flat: Floats) -> Floats:
        here = HeadWeights(flat[:cut].reshape(shape_Y), flat[cut:].reshape(shape_z))
        found = gradient(population, here, skip)
        both = np.concatenate([eta_Y * found.Y.ravel(), eta_Z * found.z.ravel()])
        return np.asarray(np.exp(u) * both)

    start = np.concatenate([state.Y.ravel(), state.z.ravel()])
    found = states_at(np.log1p(times), slope, start, relative=relative, absolute=relative * 1e-2)
    return [HeadWeights(row[:cut].reshape(shape_Y), row[cut:].reshape(shape_z)) for row in found]
