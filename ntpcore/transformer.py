"""The one-layer transformer of huang2024 and its loss, written plainly from the equations.

Everything here is dense and meant for small examples: each line transcribes a formula.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ntpcore.dataset import Dataset

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
