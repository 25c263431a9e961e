"""Checks of the rows of the decoder in Tian et al. (2023): Lemma 5 and equation (33)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge, relative_error
from ntpcore.tian2023 import decoder
from ntpcore.tian2023.classes import correlations, random_classes, unit_scores
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]

SIZES = (5, 50, 1000, 10**4, 10**6)
CLASSES = (2, 5, 50)
ETAS = (0.01, 0.1, 0.5, 1.0, 2.0)
STEPS = 60

# Lemma 5 and equation (33)


@cache
def step_is_proved() -> bool:
    """One step of the induction, for symbolic M and h.

    From the logits (M - 1) h at n and -h elsewhere follow the printed probabilities and residual,
    and the step eta (e_n - alpha_n) is (M - 1)(h_next - h) zeta_n with h_next of (33).
    """
    import sympy as sp

    M, eta = sp.symbols("M eta", positive=True)
    h = sp.Symbol("h", real=True)
    right, other = sp.exp((M - 1) * h), sp.exp(-h)
    total = right + (M - 1) * other
    D = M - 1 + sp.exp(M * h)
    zeta_n, zeta_j = M / (M - 1) * (1 - 1 / M), -M / (M - 1) / M
    gained = eta / D
    zero = (
        right / total - sp.exp(M * h) / D,  # alpha_nn of (32)
        other / total - 1 / D,  # alpha_nj
        (1 - right / total) - (M - 1) / D * zeta_n,  # e_n - alpha_n along zeta_n
        -other / total - (M - 1) / D * zeta_j,
        (M - 1) * h * zeta_n + eta * (1 - right / total) - (M - 1) * (h + gained) * zeta_n,
        (M - 1) * h * zeta_j - eta * other / total - (M - 1) * (h + gained) * zeta_j,
    )
    return all(sp.simplify(sp.expand(one)) == 0 for one in zero)


BY_INDUCTION = ("induction over the steps from w_n = 0, which is h*(0) = 0",)


def _runs(seed: int) -> Iterator[tuple[str, int, int, float, Floats, int]]:
    """Random correlations for each size, number of classes and rate that fit."""
    for M in SIZES:
        for K in CLASSES:
            if K >= M:
                continue
            rng = np.random.default_rng((seed, K))
            classes = random_classes(rng, K, 2 * K + 3, 2, 1, common_mass=0.3)
            E = correlations(unit_scores(classes))
            for eta in ETAS:
                yield f"M = {M}, K = {K}, eta = {eta:g}", M, K, eta, E, int(rng.integers(K))


def check_tian2023_lem_5(seed: int = 7, late: int = 1) -> Check:
    """Logits, probabilities and residual after s updates of one class.

    Args:
        seed: of the correlations.
        late: alpha_n after s updates is that of h*(s - late); 1 is right.
    """

    def cases() -> Iterator[Case]:
        for name, M, K, eta, E, n in _runs(seed):
            x = decoder.recursion(M, eta, STEPS)
            state, done = decoder.zero_decoder(M, E), 0
            for s in (1, 2, 10, STEPS):
                state = decoder.run(state, [n] * (s - 1 - done), eta, modified=True)
                residual = decoder.residual(state.W[n], n, M)
                state, done = decoder.run(state, [n], eta, modified=True), s
                w = np.full(K + 1, -x[s] / M)
                w[n] = (M - 1) * x[s] / M
                error = float(np.abs(np.delete(state.W, n, axis=0)).max())
                error = max(error, float(np.abs(state.W[n] - w).max())) / x[s]
                D = M - 1 + math.exp(x[max(s - late, 0)])
                expected = np.full(K + 1, -1 / D)
                expected[n] = (M - 1) / D
                off = float(np.abs(residual / expected - 1).max())
                yield Case(f"{name}, s = {s}", -max(error, off))

    return judge(
        "tian2023-lem-5",
        cases(),
        unit="states of the decoder",
        claim="One step of the induction holds for symbolic M, h and eta, and simulated updates "
        "(26) give these logits and probabilities",
        tolerance=1e-10,  # rounding of up to 60 updates through matrices with E up to 1
        parameters={"seed": seed},
        by_hand=BY_INDUCTION,
        proved=step_is_proved(),
    )


def control_tian2023_lem_5(seed: int = 7) -> Control:
    """Probabilities of the logits after the step."""
    return Control(
        "alpha_n computed from h*(s) in the place of h*(s - 1).",
        Verdict.REFUTED,
        check_tian2023_lem_5(seed, late=0).verdict,
    )


def check_tian2023_eq_33(seed: int = 7, others: int = 1) -> Check:
    """The recursion for h*, read off the gap between logits in a softmax of M entries.

    Args:
        seed: has no effect on the cases, which are all of the grid.
        others: the denominator is M - others + e^(M h*); 1 is right.
    """

    def cases() -> Iterator[Case]:
        for M in SIZES[:4]:
            for eta in ETAS:
                w = np.zeros(M)
                h = 0.0
                for s in range(1, STEPS + 1):
                    weights = np.exp(w - w.max())
                    alpha = weights / weights.sum()
                    w -= eta * alpha
                    w[0] += eta
                    h += eta / (M - others + math.exp(M * h))
                    gap = float(w[0] - w[1])  # M h* by Lemma 5
                    yield Case(f"M = {M}, eta = {eta:g}, s = {s}", -relative_error(M * h, gap))

    return judge(
        "tian2023-eq-33",
        cases(),
        unit="steps",
        claim="The step of the induction gives (33) for symbolic M, h and eta, and the gap of the "
        "logits in a full softmax follows it",
        tolerance=1e-11,  # rounding of sums of 10^4 probabilities over 60 steps
        parameters={"seed": seed},
        by_hand=BY_INDUCTION,
        proved=step_is_proved(),
    )


def control_tian2023_eq_33(seed: int = 7) -> Control:
    """M in the place of M - 1."""
    return Control(
        "M in the place of M - 1 in the denominator.",
        Verdict.REFUTED,
        check_tian2023_eq_33(seed, others=0).verdict,
    )
