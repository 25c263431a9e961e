"""Several heads, whose logits are added: the gradient in the scores of one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from ntpbook.shared.symbols import identity
from ntpbook.shared.unit_attention import unit_step
from ntpverdicts.claims import Shown

__all__ = ["Layer", "error_step", "layers", "unit_step"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Layer:
    """One sequence in a layer of several heads with one decoder.

    Attributes:
        p: (N,), shares of the tokens in the context.
        Y: (N, M), decoder.
        z: (H, N), scores of the heads under the query.
        n: the next token.
    """

    p: Floats
    Y: Floats
    z: Floats
    n: int

    @property
    def name(self) -> str:
        """The sizes."""
        return f"{len(self.z)} heads, {len(self.p)} tokens, {self.Y.shape[1]} outputs"

    def f(self, z: Floats) -> Floats:
        """(H, N), what the decoder sees of each head."""
        q = self.p * np.exp(z)
        return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))

    def J(self, z: Floats) -> float:
        """Log-likelihood of the next token; the logits of the heads are added."""
        logits = self.f(z).sum(axis=0) @ self.Y
        return float(logits[self.n] - np.logaddexp.reduce(logits))

    def slope(self, h: int) -> Floats:
        """(N,), dJ/dz of one head by central differences."""
        found = np.empty(len(self.p))
        for i in range(len(found)):
            step = np.zeros_like(self.z)
            step[h, i] = 1e-5
            found[i] = (self.J(self.z + step) - self.J(self.z - step)) / 2e-5
        return found

    def single(self, h: int, alone: bool = False, sphere: bool = True) -> Floats:
        """(N,), the gradient of (4) for this head.

        Args:
            h: which head.
            alone: the error is that of this head by itself.
            sphere: attention is scaled to length 1; without it the softmax's gradient.
        """
        f = self.f(self.z)
        logits = (f[h] if alone else f.sum(axis=0)) @ self.Y
        alpha = np.exp(logits - np.logaddexp.reduce(logits))
        g = self.Y @ (np.eye(self.Y.shape[1])[self.n] - alpha)
        if not sphere:
            c = self.p * np.exp(self.z[h]) / (self.p * np.exp(self.z[h])).sum()
            return np.asarray(c * (g - c @ g))
        return np.asarray(f[h] * (g - f[h] * (f[h] @ g)))


def layers(seed: int = 7, number: int = 20) -> list[Layer]:
    """Random layers of two to four heads."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        H, N, M = (int(rng.integers(*ends)) for ends in ((2, 5), (2, 7), (2, 6)))
        p, n = rng.dirichlet(np.ones(N)), int(rng.integers(M))
        found.append(Layer(p, rng.normal(size=(N, M)), rng.normal(size=(H, N)), n))
    return found


def error_step(first_only: bool = False) -> Iterator[Shown]:
    """d ln softmax_n(l)/d l_k = delta_nk - alpha_k, for l = a + b, any number of outputs.

    A head has the logits a, and all other heads together have b.

    Args:
        first_only: alpha is the softmax of the logits of this head alone.
    """
    own, others = sp.symbols("a_n a_k", real=True), sp.symbols("b_n b_k", real=True)
    rest, rest_own = sp.symbols("rest rest_a", positive=True)  # exponentials of all other outputs
    logits = [x + y for x, y in zip(own, others, strict=True)]
    J = logits[0] - sp.log(sum(sp.exp(x) for x in logits) + rest)
    known = list(own) if first_only else logits
    total = sum(sp.exp(x) for x in known) + (rest_own if first_only else rest)
    for k, name in enumerate(("n", "k")):  # a logit of this head moves the sum as much
        claimed = (1 if k == 0 else 0) - sp.exp(known[k]) / total
        yield identity(f"$dJ/da_{name}$", sp.diff(J, own[k]), claimed)
