"""Independent computations of the training mathematics: high precision, and automatic derivatives.

They go through the samples one by one and share nothing with the modules under test.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np

from ntpcore.data.dataset import Dataset
from ntpcore.huang2024.problem import Problem


def plain_gradient(data, following, W, gap, log_pi=None):
    """Equation (6) with mpmath numbers, position by position: {(token, query): derivative}.

    W maps (token, query) to a number; W_ov lifts the logit of n(x) by the gap.
    """
    samples = list(data.samples())
    total = sum(sample.count for sample in samples)
    gradient = {}
    for place, sample in enumerate(samples):
        pi = mp.mpf(sample.count) / total if log_pi is None else mp.exp(log_pi[place])
        query = sample.sentence[-1]
        phi, T = plain_prediction(data.vocabulary, following, W, gap, sample.sentence)
        error = {v: T[v] - (v == sample.next_token) for v in data.vocabulary}
        pull = [gap * error[following[x]] for x in sample.sentence]  # x^T W_ov^T (T - p)
        mean = mp.fsum(p * a for p, a in zip(phi, pull, strict=True))
        for x, p, a in zip(sample.sentence, phi, pull, strict=True):
            gradient[x, query] = gradient.get((x, query), mp.mpf(0)) + pi * p * (a - mean)
    return gradient


def plain_prediction(vocabulary, following, W, gap, sentence):
    """Attention by position and probabilities by token, with mpmath numbers."""
    query = sentence[-1]
    scores = [mp.exp(W.get((x, query), mp.mpf(0))) for x in sentence]
    phi = [score / mp.fsum(scores) for score in scores]
    logits = dict.fromkeys(vocabulary, mp.mpf(0))
    for x, p in zip(sentence, phi, strict=True):
        logits[following[x]] += gap * p
    terms = {v: mp.exp(logit) for v, logit in logits.items()}
    total = mp.fsum(terms.values())
    return phi, {v: term / total for v, term in terms.items()}


def plain_loss(data, following, W, gap):
    """Equation (1) with mpmath numbers."""
    samples = list(data.samples())
    total = sum(sample.count for sample in samples)
    terms = []
    for sample in samples:
        T = plain_prediction(data.vocabulary, following, W, gap, sample.sentence)[1]
        terms.append(-sample.count * mp.log(T[sample.next_token]) / total)
    return mp.fsum(terms)


def named_following(problem: Problem) -> dict[str, str]:
    """The collocation by names."""
    names = problem.vocabulary
    return {names[x]: names[y] for x, y in enumerate(problem.following.tolist())}


def named_weights(problem: Problem, weights: np.ndarray) -> dict[tuple[str, str], mp.mpf]:
    """Entries of W_kq by names, as exact mpmath numbers."""
    names = problem.vocabulary
    keys = zip(problem.entry_token.tolist(), problem.entry_query.tolist(), strict=True)
    return {
        (names[x], names[q]): mp.mpf(float(w))
        for (x, q), w in zip(keys, weights.tolist(), strict=True)
    }


def plain_direction(problem: Problem, data: Dataset, weights, gap: float, digits: int):
    """G / ||G|| of equation (6) computed with so many digits, rounded at the end: (K,)."""
    with mp.workdps(digits):
        W = named_weights(problem, weights)
        gradient = plain_gradient(data, named_following(problem), W, mp.mpf(gap))
        norm = mp.sqrt(mp.fsum(value**2 for value in gradient.values()))
        return np.array([float(gradient[key] / norm) for key in W])


def dense(problem: Problem, weights) -> np.ndarray:
    """W_kq of one-hot tokens, (|V|, |V|)."""
    W = np.zeros((problem.vocab_size, problem.vocab_size))
    W[problem.entry_token, problem.entry_query] = weights
    return W


def jax_attention_gradient(data: Dataset, W_ov, E):
    """Derivative of equation (1) by W_kq in float64 as a function of W_kq, found automatically.

    Sentences are padded in front to the same length, and the padding gets no attention.
    """
    samples = list(data.samples())
    pi = np.array([sample.count for sample in samples]) / sum(sample.count for sample in samples)
    number = {token: place for place, token in enumerate(data.vocabulary)}
    tokens = np.zeros((len(samples), data.max_length), dtype=int)
    mask = np.full(tokens.shape, -np.inf)
    for row, sample in enumerate(samples):
        length = len(sample.sentence)
        tokens[row, -length:] = [number[token] for token in sample.sentence]
        mask[row, -length:] = 0.0
    labels = np.array([number[sample.next_token] for sample in samples])

    def one(tokens, mask, label, W):
        X = jnp.asarray(E)[:, tokens]
        logits = jnp.asarray(W_ov) @ X @ jax.nn.softmax(X.T @ W @ X[:, -1] + mask)
        return -jax.nn.log_softmax(logits)[label]

    @jax.jit
    @jax.grad
    def derivative(W):
        terms = jax.vmap(one, in_axes=(0, 0, 0, None))(tokens, mask, labels, W)
        return (pi * terms).sum()

    def evaluate(W_kq) -> np.ndarray:
        with jax.enable_x64(True):
            return np.asarray(derivative(jnp.asarray(W_kq, dtype=jnp.float64)))

    return evaluate


def jax_stage1_gradient(collocation, W_ov, E) -> np.ndarray:
    """Derivative of the loss of stage 1 in float64, found automatically."""
    labels = np.array([list(collocation).index(y) for y in collocation.values()])

    def loss(W):
        return -jax.nn.log_softmax(W @ E, axis=0)[labels, np.arange(len(labels))].sum()

    with jax.enable_x64(True):
        return np.asarray(jax.jit(jax.grad(loss))(jnp.asarray(W_ov, dtype=jnp.float64)))
