"""Check of the reparametrisation of Section 3: two products of matrices in place of four."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ntpcore import transformer
from ntpcore.checks.huang2024.said import settle
from ntpcore.claims import Check, Control, Verdict

Floats = NDArray[np.float64]


def four_matrices(X: Floats, W_k: Floats, W_q: Floats, W_v: Floats, W_o: Floats) -> Floats:
    """The transformer of Section 3 with its four matrices: probabilities of the next token, (|V|,).

    Args:
        X: (d, L), the sentence.
        W_k: (d_1, d).
        W_q: (d_1, d).
        W_v: (d_2, d).
        W_o: (|V|, d_2).
    """
    keys, query = W_k @ X, W_q @ X[:, -1]
    mixed = (W_v @ X) @ transformer.softmax(keys.T @ query)
    return transformer.softmax(W_o @ mixed)


def check_huang2024_app_reparameterization(
    trials: int, seed: int = 7, turned: bool = False
) -> Check:
    """The output depends on W_k, W_q, W_v, W_o by W_k^T W_q and W_o W_v only; all are reached.

    Args:
        trials: random sentences and matrices, of all shapes.
        seed: of these.
        turned: whether W_q^T W_k stands for W_k^T W_q, a planted error.
    """
    rng = np.random.default_rng(seed)
    fault, worst = "", 0.0
    for trial in range(trials):
        d, length, d_1, d_2, size = (int(rng.integers(2, 7)) for _ in range(5))
        X, W_k, W_q = (rng.normal(size=(rows, d)) for rows in (length, d_1, d_1))
        X, W_v, W_o = X.T, rng.normal(size=(d_2, d)), rng.normal(size=(size, d_2))
        W_kq = W_q.T @ W_k if turned else W_k.T @ W_q
        logits = transformer.logits(X, W_o @ W_v, W_kq)
        off = np.abs(transformer.softmax(logits) - four_matrices(X, W_k, W_q, W_v, W_o)).max()
        off = max(float(off), reached(rng, d, size))
        worst = max(worst, off)
        if off > 1e-11 and not fault:  # a few dozen sums of products of order one to ten
            fault = f"trial {trial}, d = {d}, d_1 = {d_1}: probabilities differ by {off:.1g}"
    return settle(
        "huang2024-app-reparameterization",
        symbols=same_products(),
        fault=fault,
        tried=trials,
        unit="random sets of matrices",
        evidence="Products of matrices of any shape are associative, for symbolic dimensions; on "
        f"{trials} random sets of matrices the outputs agree to {worst:.0e}. With d_1 >= d and "
        "d_2 >= d every pair of matrices is such a pair of products.",
        numbers={"worst": f"{worst:.0e}", "tried": str(trials)},
        parameters={"seed": seed},
        by_hand=("the softmax is applied to equal vectors",),
    )


def reached(rng: np.random.Generator, d: int, size: int) -> float:
    """How far two random matrices are from products of padded ones, d_1 = d + 1 and d_2 = d."""
    W_kq, W_ov = rng.normal(size=(d, d)), rng.normal(size=(size, d))
    W_k = np.vstack([np.eye(d), np.zeros((1, d))])
    W_q = np.vstack([W_kq, np.zeros((1, d))])
    return float(max(np.abs(W_k.T @ W_q - W_kq).max(), np.abs(W_ov @ np.eye(d) - W_ov).max()))


def same_products() -> dict[str, bool]:
    """The two products of the output, by sympy, for matrices of symbolic shape."""
    import sympy as sp

    d, L, d_1, d_2, n = sp.symbols("d L d_1 d_2 n", integer=True, positive=True)
    X, phi = sp.MatrixSymbol("X", d, L), sp.MatrixSymbol("phi", L, 1)
    x = sp.MatrixSymbol("x", d, 1)
    W_k, W_q = sp.MatrixSymbol("W_k", d_1, d), sp.MatrixSymbol("W_q", d_1, d)
    W_v, W_o = sp.MatrixSymbol("W_v", d_2, d), sp.MatrixSymbol("W_o", n, d_2)
    scores = ((W_k * X).T * (W_q * x)).doit() - (X.T * (W_k.T * W_q) * x).doit()
    logits = (W_o * ((W_v * X) * phi)).doit() - ((W_o * W_v) * X * phi).doit()
    return {
        "scores": scores.doit().is_ZeroMatrix is True,
        "logits": logits.doit().is_ZeroMatrix is True,
    }


def control_huang2024_app_reparameterization() -> Control:
    """The transposed product gives other scores."""
    return Control(
        "The product W_q^T W_k in the place of W_k^T W_q.",
        Verdict.REFUTED,
        check_huang2024_app_reparameterization(5, turned=True).verdict,
    )
