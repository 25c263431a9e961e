"""Both models in plain numpy, as the first chapter prints them: a test holds the two together."""

from __future__ import annotations

from typing import Any

import numpy as np

# Huang, Liang, Yang: Example 1

words = ["S", "V", "O", "P"]
sentences = ["S V O P", "V O P", "O P P", "P S V"]

samples = []  # prefixes, with what follows
for text in sentences:
    tokens = [words.index(word) for word in text.split()]
    samples += [(tokens[:k], tokens[k]) for k in range(1, len(tokens))]

E = np.eye(len(words))  # column x is the vector of the token x
n = {sentence[0]: y for sentence, y in samples if len(sentence) == 1}


def softmax(z: Any) -> Any:
    z = np.exp(z - z.max())
    return z / z.sum()


def forward(sentence: Any, W_ov: Any, W_kq: Any) -> Any:
    X = E[:, sentence]  # one column for each token
    attention = softmax(X.T @ W_kq @ X[:, -1])
    return X, attention, softmax(W_ov @ X @ attention)


def loss(W_ov: Any, W_kq: Any) -> Any:
    right = [forward(s, W_ov, W_kq)[-1][y] for s, y in samples]
    return -np.mean(np.log(right))


def gradient_ov(W_ov: Any) -> Any:
    wrong = {x: softmax(W_ov @ E[x]) - E[y] for x, y in n.items()}
    return sum(np.outer(wrong[x], E[x]) for x in wrong)


def gradient_kq(W_ov: Any, W_kq: Any) -> Any:
    total = np.zeros((4, 4))
    for s, y in samples:
        X, a, p = forward(s, W_ov, W_kq)
        mean = (X @ a)[:, None]
        pull = a * ((X - mean).T @ W_ov.T @ (p - E[y]))
        total = total + np.outer(X @ pull, X[:, -1]) / len(samples)
    return total


def step(W: Any, G: Any, eta: Any) -> Any:
    return W - eta * G / np.sqrt(np.sum(G * G))


def algorithm_1(T: Any, T_1: Any, eta_0: Any, eta: Any) -> Any:
    W_ov, W_kq = [np.zeros((4, 4))], [np.zeros((4, 4))]
    for _ in range(T):
        G = gradient_ov(W_ov[-1])
        W_ov.append(step(W_ov[-1], G, eta_0))
    for _ in range(T_1):
        G = gradient_kq(W_ov[-1], W_kq[-1])
        W_kq.append(step(W_kq[-1], G, eta))
    return W_ov, W_kq


# Tian, Wang, Chen, Du: two classes, one common token and two distinct tokens in each

P = np.array([[0.5, 0.3, 0.2, 0, 0, 0, 0], [0.5, 0, 0, 0.3, 0.2, 0, 0]])
K, M = P.shape
following = np.eye(M)[:K]  # class n is followed by the token n


def layer(Y: Any, z: Any) -> Any:
    c = P * np.exp(z)
    c = c / c.sum(axis=1, keepdims=True)
    f = c / np.sqrt((c * c).sum(axis=1, keepdims=True))
    alpha = np.exp(f @ Y)
    return c, f, alpha / alpha.sum(axis=1, keepdims=True)


def slopes(Y: Any, z: Any) -> Any:
    _, f, alpha = layer(Y, z)
    error = following - alpha
    g = error @ Y.T
    force = f * (g - f * (f * g).sum(axis=1, keepdims=True))
    return f.T @ error / K, force.mean(axis=0)


def scan_and_snap(steps: Any, eta_Y: Any, eta_Z: Any) -> Any:
    path = [(np.zeros((M, M)), np.zeros(M))]
    for _ in range(steps):
        Y, z = path[-1]
        dY, dz = slopes(Y, z)
        path.append((Y + eta_Y * dY, z + eta_Z * dz))
    return path
