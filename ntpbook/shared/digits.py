"""Huang et al.'s loss, gradients and training, transcribed in numbers of any number of digits.

Arrays hold mpmath numbers, so that subtraction leaves digits as long as logits differ by less than
some hundred; slow, and for small data only.
The formulas are those of the paper, dense, with no use of the structure of the problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

from ntpcore.data.dataset import Dataset
from ntpverdicts.compare import Compared, NotANumberError

DIGITS = 60

Numbers = NDArray[Any]  # of mpmath numbers


def exact(values: NDArray[np.float64]) -> Numbers:
    """Floats as mpmath numbers, digit for digit."""
    numbers: Numbers = np.vectorize(mp.mpf, otypes=[object])(values)
    return numbers


def rotation(rng: np.random.Generator, dimension: int) -> Numbers:
    """A random orthogonal matrix, orthogonal to the last digit."""
    with mp.workdps(DIGITS):
        Q, _ = mp.qr(mp.matrix(rng.normal(size=(dimension, dimension)).tolist()))
        rows: Numbers = np.array(Q.tolist(), dtype=object)
    return rows


def norm(M: Numbers) -> Any:
    """The Frobenius norm."""
    return mp.sqrt(mp.fsum(entry**2 for entry in M.flat))


def softmax(v: Numbers) -> Numbers:
    """phi(v), straight from its definition: so many digits need no care for overflow."""
    terms = np.array([mp.exp(entry) for entry in v], dtype=object)
    shares: Numbers = terms / mp.fsum(terms)
    return shares


def samples(data: Dataset, E: Numbers) -> list[tuple[Any, Numbers, int]]:
    """Frequency, embedded sentence (d, L) and number of the next token of each distinct sample."""
    number = {token: place for place, token in enumerate(data.vocabulary)}
    total = sum(sample.count for sample in data.samples())
    return [
        (
            mp.mpf(sample.count) / total,
            E[:, [number[token] for token in sample.sentence]],
            number[sample.next_token],
        )
        for sample in data.samples()
    ]


def stage1_loss(following: Sequence[int], W_ov: Numbers, E: Numbers) -> Any:
    """L_0, the sum of -log T_0(x)[n(x)] over the vocabulary (Section 4.2)."""
    return -mp.fsum(mp.log(softmax(W_ov @ E[:, x])[v]) for x, v in enumerate(following))


def loss(data: Dataset, W_ov: Numbers, W_kq: Numbers, E: Numbers) -> Any:
    """L, the mean of -log T(X)[n(X)] (Section 3)."""
    return -mp.fsum(
        pi * mp.log(softmax(W_ov @ X @ softmax(X.T @ W_kq @ X[:, -1]))[v])
        for pi, X, v in samples(data, E)
    )


def stage1_gradient(
    following: Sequence[int], W_ov: Numbers, E: Numbers, target: int = 1
) -> Numbers:
    """Equation (5); `target` is the factor of e_In(x), 1 but for a planted error."""
    gradient = 0 * W_ov
    for x, v in enumerate(following):
        error = softmax(W_ov @ E[:, x])
        error[v] -= target
        gradient = gradient + np.outer(error, E[:, x])
    return gradient


def attention_gradient(
    data: Dataset, W_ov: Numbers, W_kq: Numbers, E: Numbers, outer: int = 1
) -> Numbers:
    """Equation (6); `outer` is the factor of phi phi^T, 1 but for a planted error."""
    gradient = 0 * W_kq
    for pi, X, v in samples(data, E):
        left = sentence_gradient(X, W_ov, X.T @ W_kq @ X[:, -1], v, outer)
        gradient = gradient + np.outer(left, X[:, -1]) * pi  # pi * array would print the array
    return gradient


def sentence_gradient(X: Numbers, W_ov: Numbers, scores: Numbers, v: int, outer: int = 1) -> Any:
    """What stands before x_L^T in the term of one sentence in equation (6), (d,).

    Args:
        X: (d, L), the embedded sentence.
        W_ov: (|V|, d).
        scores: (L,), of its positions.
        v: number of the next token.
        outer: as above.
    """
    # `transformer` again, in digits: the check of equation (6) compares the two
    phi = softmax(scores)
    error = softmax(W_ov @ (X @ phi))
    error[v] -= 1
    inner = np.diag(phi) - outer * np.outer(phi, phi)
    return X @ (inner @ (X.T @ (W_ov.T @ error)))  # from the right: vectors only


def train_ov(following: Sequence[int], E: Numbers, eta0: float, steps: int) -> Numbers:
    """Stage 1 of Algorithm 1, lines 3 to 5, from zero.

    Args:
        following: (|V|,), the collocation n by numbers.
        E: (d, |V|), the embedding.
        eta0: step size.
        steps: T, how often line 4 is run.

    Raises:
        ZeroDivisionError: a gradient is zero, and line 4 divides by its norm.
    """
    with mp.workdps(DIGITS):
        W_ov = exact(np.zeros(E.shape[::-1]))
        for _ in range(steps):
            G = stage1_gradient(following, W_ov, E)
            W_ov = W_ov - G * mp.mpf(eta0) / norm(G)  # line 4
    return W_ov


def train_kq(data: Dataset, W_ov: Numbers, E: Numbers, eta: float, steps: int) -> Numbers:
    """Stage 2 of Algorithm 1, lines 6 to 8, from zero.

    Args:
        data: the data set.
        W_ov: (|V|, d), as stage 1 left it.
        E: (d, |V|), the embedding.
        eta: step size.
        steps: T_1, how often line 7 is run.

    Raises:
        ZeroDivisionError: a gradient is zero, and line 7 divides by its norm.
    """
    with mp.workdps(DIGITS):
        W_kq = exact(np.zeros((len(E), len(E))))
        for _ in range(steps):
            G = attention_gradient(data, W_ov, W_kq, E)
            W_kq = W_kq - G * mp.mpf(eta) / norm(G)  # line 7
    return W_kq


def central_differences(function: Any, W: Numbers, h: Any) -> Numbers:
    """The gradient of a function of a matrix by central differences with step h."""
    gradient = 0 * W
    for place in product(*map(range, W.shape)):
        for sign in (1, -1):
            moved = W.copy()
            moved[place] += sign * h
            gradient[place] += sign * function(moved) / (2 * h)
    return gradient


def relative_distance(M: Numbers, other: Numbers) -> float:
    """||M - other|| / ||other||."""
    with mp.workdps(DIGITS):
        return float(norm(M - other) / norm(other))


def as_floats(rows: Iterable[Any]) -> NDArray[np.float64]:
    """Numbers rounded to floats."""
    return np.array([[float(entry) for entry in row] for row in rows])


def at_most(left: Any, right: Any, where: str = "") -> Compared:
    """left <= right for mpmath numbers; the slack, relative to the larger side, has their digits.

    It compares with a bound, as `ntpverdicts.compare.at_most` does, where no side is zero.

    Raises:
        NotANumberError: a side is a NaN or an infinity.
    """
    left, right = mp.mpf(left), mp.mpf(right)
    if not (mp.isfinite(left) and mp.isfinite(right)):
        raise NotANumberError(f"{where or 'a comparison'}: {left} <= {right} compares no numbers")
    size = max(abs(left), abs(right))
    slack = float((right - left) / size) if size else 0.0
    return Compared(slack, where, bound=left != 0 and right != 0)
