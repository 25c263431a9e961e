"""The one-layer transformer of huang2024 and its loss, written plainly from the equations.

Everything here is dense and meant for small examples: each line transcribes a formula.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ntpcore.data.dataset import Dataset

Array = NDArray[np.float64]


def softmax(v: Array) -> Array:
    """phi(v), the softmax of a vector of any length (huang2024, Section 3)."""
    weights = np.exp(v - v.max())
    shares: Array = weights / weights.sum()
    return shares


def logsumexp(v: Array) -> float:
    """log sum exp v_i, shifted by the largest entry so that nothing overflows."""
    top = v.max()
    return float(top + np.log(np.exp(v - top).sum()))


def attention(X: Array, W_kq: Array) -> Array:
    """Attention weights of the positions of a sentence, phi(X^T W_kq x_L).

    Args:
        X: (d, L), the embedded tokens of the sentence as columns; the last one is the query.
        W_kq: (d, d), the joint key-query matrix.

    Returns:
        (L,), non-negative, with sum 1.

    Source: huang2024, Section 3.
    """
    return softmax(X.T @ W_kq @ X[:, -1])


def logits(X: Array, W_ov: Array, W_kq: Array) -> Array:
    """T_theta(X) before the outer softmax, W_ov X phi(X^T W_kq x_L).

    Args:
        X: (d, L), the embedded sentence.
        W_ov: (|V|, d), the joint feed-forward and value matrix.
        W_kq: (d, d), the joint key-query matrix.

    Returns:
        (|V|,), one logit per token.

    Source: huang2024, Section 4.1, above equation (1).
    """
    return W_ov @ X @ attention(X, W_kq)


def embed(sentence: tuple[str, ...], vocabulary: tuple[str, ...], E: Array) -> Array:
    """The columns of the embedding E, (d, |V|), that belong to the tokens of a sentence: (d, L)."""
    return E[:, [vocabulary.index(token) for token in sentence]]


def loss(data: Dataset, W_ov: Array, W_kq: Array, E: Array, *, weighted: bool = True) -> float:
    """The training loss by distinct sentence, in nats.

    L = sum_n pi_n (log sum_v exp(e_v^T T(X_n)) - e_{n(X_n)}^T T(X_n)).

    Args:
        data: the training data.
        W_ov: (|V|, d).
        W_kq: (d, d).
        E: (d, |V|), the embedding.
        weighted: whether pi_n is the frequency of the sentence, as it must be; False takes 1/N,
            which is right only where all sentences are equally frequent.

    Source: huang2024, equation (1).
    """
    samples = list(data.samples())
    total = sum(sample.count for sample in samples)
    value = 0.0
    for sample in samples:
        t = logits(embed(sample.sentence, data.vocabulary, E), W_ov, W_kq)
        pi = sample.count / total if weighted else 1 / len(samples)
        value += pi * (logsumexp(t) - t[data.vocabulary.index(sample.next_token)])
    return float(value)


def cross_entropy(data: Dataset, W_ov: Array, W_kq: Array, E: Array) -> float:
    """The training loss as first defined: the mean of -log of the predicted probability, in nats.

    Repeated samples are gone through one by one, and the probability is formed before its
    logarithm, so that nothing is shared with `loss`.

    Source: huang2024, Section 3.
    """
    terms = []
    for sample in data.samples():
        probabilities = softmax(logits(embed(sample.sentence, data.vocabulary, E), W_ov, W_kq))
        predicted = probabilities[data.vocabulary.index(sample.next_token)]
        terms += [-np.log(predicted)] * sample.count
    return float(np.mean(terms))


def stage1_loss(collocation: Mapping[str, str], W_ov: Array, E: Array) -> float:
    """The loss of stage 1, summed over the whole vocabulary, in nats.

    L_0 = sum_x (log sum_v exp(e_v^T W_ov x) - e_{n(x)}^T W_ov x).

    Args:
        collocation: n; its tokens in the order of the columns of E.
        W_ov: (|V|, d).
        E: (d, |V|), the embedding.

    Source: huang2024, Section 4.2 and Appendix B.
    """
    vocabulary = tuple(collocation)
    value = 0.0
    for place, token in enumerate(vocabulary):
        t = W_ov @ E[:, place]
        value += logsumexp(t) - t[vocabulary.index(collocation[token])]
    return float(value)


def stage1_gradient(collocation: Mapping[str, str], W_ov: Array, E: Array) -> Array:
    """The gradient of the loss of stage 1, sum_x (T_0(x) - e_{n(x)}) x^T, of shape (|V|, d).

    T_0(x) is the softmax of W_ov x. Fine as a definition only: the difference loses all digits once
    a probability rounds to 1.

    Args:
        collocation: n; its tokens in the order of the columns of E.
        W_ov: (|V|, d).
        E: (d, |V|), the embedding.

    Source: huang2024, equation (5).
    """
    vocabulary = tuple(collocation)
    gradient = np.zeros_like(W_ov)
    for place, token in enumerate(vocabulary):
        x = E[:, place]
        error = softmax(W_ov @ x)
        error[vocabulary.index(collocation[token])] -= 1.0
        gradient += np.outer(error, x)
    return gradient


def attention_gradient(
    data: Dataset, W_ov: Array, W_kq: Array, E: Array, *, weights: Array | None = None
) -> Array:
    """The gradient of the loss by W_kq, of shape (d, d).

    sum_n pi_n X_n (diag(phi_n) - phi_n phi_n^T) X_n^T W_ov^T (T_n - p_n) x_L^T, with the attention
    weights phi_n, the predicted probabilities T_n and the one-hot next token p_n.

    Args:
        data: the training data.
        W_ov: (|V|, d).
        W_kq: (d, d).
        E: (d, |V|), the embedding.
        weights: (N,), pi in the order of `data.samples()`; the frequencies of the data if None.

    Source: huang2024, equation (6).
    """
    samples = list(data.samples())
    pi = np.array([sample.count for sample in samples], dtype=np.float64)
    pi = pi / pi.sum() if weights is None else weights
    gradient = np.zeros_like(W_kq)
    for share, sample in zip(pi, samples, strict=True):
        X = embed(sample.sentence, data.vocabulary, E)
        phi = attention(X, W_kq)
        error = softmax(W_ov @ X @ phi)
        error[data.vocabulary.index(sample.next_token)] -= 1.0
        inner = np.diag(phi) - np.outer(phi, phi)
        gradient += share * np.outer(X @ inner @ X.T @ W_ov.T @ error, X[:, -1])
    return gradient
