"""The layer of Tian et al. (2023) for one sequence: attention, likelihood, and their gradients.

Everything is written as the paper's equations print it, with dense matrices, and serves as the
reference for the faster forms elsewhere. The functions `attention`, `unit` and `log_likelihood`
are analytic in Y and Z and accept complex numbers, so that a step along the imaginary axis
differentiates them to rounding error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[Any]  # float64, or complex128 for a step along the imaginary axis


@dataclass(frozen=True)
class Sample:
    """One training sequence (tian2023, Section 3).

    Attributes:
        context: x_1, ..., x_(T-1), the contextual tokens.
        query: x_T.
        following: x_(T+1), the next token.
    """

    context: tuple[int, ...]
    query: int
    following: int

    @property
    def T(self) -> int:
        """Length of the sequence with its query."""
        return len(self.context) + 1


def one_hot(tokens: tuple[int, ...], M: int) -> Floats:
    """X: (len(tokens), M), one row for each token."""
    return np.asarray(np.eye(M)[list(tokens)])


def attention(X: Numbers, z: Numbers) -> Numbers:
    """b_T, the weights of the contextual positions: softmax of X z (tian2023, equation (1)).

    Args:
        X: (T - 1, M), contextual tokens; the query is no row of it, so it is masked.
        z: (M,), the row of Z of the query.
    """
    scores = X @ z
    weights = np.exp(scores - scores.real.max())
    return np.asarray(weights / weights.sum())


def unit(v: Numbers) -> Numbers:
    """LN(v) = v / |v|_2 (tian2023, Section 3)."""
    return np.asarray(v / np.sqrt((v * v).sum()))


def softmax(logits: Numbers) -> Numbers:
    """alpha, the predicted distribution of the next token."""
    weights = np.exp(logits - logits.real.max())
    return np.asarray(weights / weights.sum())


def log_likelihood(sample: Sample, Y: Numbers, Z: Numbers) -> Any:
    """One summand of J: the log probability of the next token (tian2023, equation (2)).

    Args:
        sample: the sequence.
        Y: (M, M), decoder; row l holds the logits that token l adds.
        Z: (M, M), attention; row m holds the scores under the query m.
    """
    X = one_hot(sample.context, len(Y))
    logits = Y.T @ unit(X.T @ attention(X, Z[sample.query]))
    top = logits.real.max()
    return logits[sample.following] - top - np.log(np.exp(logits - top).sum())


def projection(v: Floats) -> Floats:
    """P_v: (M, M), the projection onto the complement of v (tian2023, Lemma 1)."""
    return np.asarray(np.eye(len(v)) - np.outer(v, v) / (v @ v))


def gradients(sample: Sample, Y: Floats, Z: Floats) -> tuple[Floats, Floats]:
    """The right-hand sides of (3) for learning rates 1, term by term as printed.

    dY = LN(X^T b) (x_(T+1) - alpha)^T and
    dZ = x_T (x_(T+1) - alpha)^T Y^T (P / |X^T b|) X^T diag(b) X, P the projection of X^T b.

    Args:
        sample: the sequence.
        Y: (M, M), decoder.
        Z: (M, M), attention.

    Returns:
        dY and dZ, both (M, M).

    Source: tian2023, Lemma 1.
    """
    M = len(Y)
    X = one_hot(sample.context, M)
    b = attention(X, Z[sample.query])
    v = X.T @ b
    error = np.eye(M)[sample.following] - softmax(Y.T @ unit(v))
    dY = np.outer(unit(v), error)
    row = error @ Y.T @ (projection(v) / np.linalg.norm(v)) @ X.T @ np.diag(b) @ X
    return dY, np.outer(np.eye(M)[sample.query], row)


def row_gradient(sample: Sample, Y: Floats, z: Floats) -> Floats:
    """The right-hand side of (4) for learning rate 1: what moves the row z of the query.

    Args:
        sample: the sequence.
        Y: (M, M), decoder.
        z: (M,), the row of Z of the query of this sample.

    Returns:
        (M,).

    Source: tian2023, equation (4).
    """
    M = len(Y)
    X = one_hot(sample.context, M)
    b = attention(X, z)
    v = X.T @ b
    error = np.eye(M)[sample.following] - softmax(Y.T @ unit(v))
    moved = X.T @ np.diag(b) @ X @ (projection(v) / np.linalg.norm(v)) @ Y @ error
    return np.asarray(moved)


def short_row_gradient(sample: Sample, Y: Floats, z: Floats) -> Floats:
    """The same as f * (g - f (f . g)), with f = LN(X^T b) and g = Y (x_(T+1) - alpha).

    It uses X^T diag(b) X = diag(X^T b), which holds because a row of X has a single one.
    """
    X = one_hot(sample.context, len(Y))
    f = unit(X.T @ attention(X, z))
    g = Y @ (np.eye(len(Y))[sample.following] - softmax(Y.T @ f))
    return np.asarray(f * (g - f * (f @ g)))


@dataclass(frozen=True, eq=False)
class Embedded:
    """The layer with embeddings, before its reparametrisation (tian2023, Section 3).

    Attributes:
        U: (M, d), embedding of each token as a row.
        W_Q: (d, d), query projection.
        W_K: (d, d), key projection.
        W_V: (d, d), value projection.
    """

    U: Floats
    W_Q: Floats
    W_K: Floats
    W_V: Floats

    @property
    def Y(self) -> Floats:
        """Y = U W_V^T U^T, (M, M)."""
        return np.asarray(self.U @ self.W_V.T @ self.U.T)

    @property
    def Z(self) -> Floats:
        """Z = U W_Q W_K^T U^T / sqrt(d), (M, M)."""
        d = self.U.shape[1]
        return np.asarray(self.U @ self.W_Q @ self.W_K.T @ self.U.T / np.sqrt(d))


def embedded_weights(layer: Embedded, sample: Sample, *, masked: bool = True) -> Floats:
    """b_T position by position from the embeddings, without X (tian2023, equation (1)).

    Args:
        layer: the weights.
        sample: the sequence.
        masked: whether the query is kept from attending to itself, as the paper does.

    Returns:
        (T,), the weight of each position; the last one, the query, is zero when masked.
    """
    d = layer.U.shape[1]
    tokens = [*sample.context, sample.query]
    asks = layer.W_Q.T @ layer.U[sample.query]
    scores = np.array([asks @ (layer.W_K.T @ layer.U[token]) for token in tokens]) / np.sqrt(d)
    if masked:
        scores[-1] = -np.inf
    return np.asarray(softmax(scores))


def embedded_log_likelihood(layer: Embedded, sample: Sample) -> float:
    """One summand of J from the embeddings: the output of (1) is normalised as U^T LN(X^T b).

    Source: tian2023, equations (1) and (2).
    """
    weights = embedded_weights(layer, sample)
    mass = np.zeros(len(layer.U))
    for token, weight in zip([*sample.context, sample.query], weights, strict=True):
        mass[token] += weight
    output = layer.U.T @ unit(mass)
    logits = layer.U @ (layer.W_V @ output)
    top = float(logits.max())
    return float(logits[sample.following] - top - np.log(np.exp(logits - top).sum()))


def random_sample(rng: np.random.Generator, M: int, length: int) -> Sample:
    """A sequence of `length` contextual tokens, query and next token, all uniform."""
    tokens = rng.integers(M, size=length + 2)
    return Sample(tuple(tokens[:-2].tolist()), int(tokens[-2]), int(tokens[-1]))


def random_embedded(rng: np.random.Generator, M: int, d: int) -> Embedded:
    """A layer with Gaussian weights that keep scores and logits of order one."""
    U = rng.normal(size=(M, d)) / np.sqrt(d)
    return Embedded(U, *(2 * rng.normal(size=(d, d)) for _ in range(3)))
