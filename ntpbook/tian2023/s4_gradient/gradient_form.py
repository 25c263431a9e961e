"""Check of equation (9): the gradient is a combination of the f_k."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s4_gradient import gradient_steps as steps
from ntpbook.tian2023.s4_gradient.gradient_runs import ROUNDING
from ntpcore.tian2023.classes import E_prime, correlations, random_classes, unit_scores
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]


def dense_residual(rng: np.random.Generator, modified: bool, moving: bool) -> tuple[str, float]:
    """How far g = Y (x - alpha) of a dense M x M decoder is from the span of the f_k, relatively.

    Args:
        rng: of the classes and the draws.
        modified: the update (26) instead of the gradient (7).
        moving: whether the attention moves half-way, which (9) does not allow.
    """
    K = int(rng.integers(2, 6))
    M, eta = int(rng.integers(3 * K, 40)), float(10 ** rng.uniform(-2, 0.3))
    classes = random_classes(rng, K, M, K, 2)
    Y = np.zeros((M, M))
    for half in range(2):
        z = 0.1 * rng.normal(size=(1, M)) if moving and half else None
        F = unit_scores(classes, z).T
        mix = np.eye(K) - E_prime(correlations(F.T)) if modified else np.eye(K)
        for n in rng.integers(K, size=20):
            Y += eta * np.outer(F @ mix[:, n], _error(Y.T @ F[:, n], n))
    g = Y @ _error(Y.T @ F[:, 0], 0)
    inside = F @ np.linalg.lstsq(F, g, rcond=None)[0]
    where = f"K = {K}, M = {M}, eta_Y = {eta:.3g}, {'(26)' if modified else '(7)'}"
    return where, float(np.linalg.norm(g - inside) / np.linalg.norm(g))


def _error(logits: Floats, n: int) -> Floats:
    """e_n - softmax(logits)."""
    weights = np.exp(logits - logits.max())
    out = -weights / weights.sum()
    out[n] += 1
    return np.asarray(out)


def check_tian2023_eq_9(
    seed: int, count: int = 60, moving: bool = False, **parameters: int
) -> Check:
    """g = gamma (iota_n f_n - sum beta_nk f_k) with some coefficients (tian2023, equation (9)).

    Args:
        seed: of classes and draws.
        count: number of dense decoders for each update.
        moving: whether the attention moves half-way.
        parameters: what repeats the check.
    """
    rng = np.random.default_rng(seed)
    found = [dense_residual(rng, modified, moving) for modified in (False, True) * count]
    check = judge(
        "tian2023-eq-9",
        (Case(where, -residual) for where, residual in found),
        unit="dense decoders",
        claim="The gradient that reaches the attention is a combination of the f_k",
        tolerance=ROUNDING,
        parameters={"seed": seed, **parameters},
        by_hand=("induction over the steps", "the f_k are linearly independent: uniqueness"),
        proved=steps.span_step(),
    )
    return steps.told(check)


def control_tian2023_eq_9(seed: int) -> Control:
    """While the attention moves, the decoder remembers older f_n."""
    return Control(
        "Decoders whose attention moves half-way, so that Y remembers the old f_n.",
        Verdict.REFUTED,
        check_tian2023_eq_9(seed, moving=True).verdict,
    )
