"""Trained decoders for the checks of Theorem 1, compared with the coefficients it gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case
from ntpcore.tian2023.classes import E_prime
from ntpcore.tian2023.decoder import DecoderState, gradient_coefficients, run, zero_decoder
from ntpcore.tian2023.gradient import of_run, random_correlations

Floats = NDArray[np.float64]

M_GRID = (5, 10, 100, 1000, 1_000_000)
K_GRID = (2, 3, 5, 10, 50)
ETA_GRID = (0.01, 0.1, 1.0, 2.0)
UNIT = "gradients of trained decoders"
ROUNDING = 1e-11  # up to 2600 steps, each rounded at 1e-16 of numbers that nearly cancel later


@dataclass(frozen=True, eq=False)
class Trained:
    """A decoder after random draws, with the gradients that it sends back.

    Attributes:
        where: the instance in words.
        eta: eta_Y.
        state: the decoder.
        inverse: (K, K), E'.
        found: for some classes n, the coefficients of g in the f_k.
    """

    where: str
    eta: float
    state: DecoderState
    inverse: Floats
    found: tuple[tuple[int, Floats], ...]

    @property
    def radius(self) -> float:
        """|lambda_1(E)|."""
        return float(np.abs(np.linalg.eigvalsh(self.state.E)).max())


def trained_decoders(
    seed: int, modified: bool, sign: float = 1.0, sizes: Sequence[int] = K_GRID
) -> list[Trained]:
    """Decoders for all fitting M, K and eta_Y of the grid, after about K^2 + 100 steps each.

    The larger K, which cost most, get the extreme eta_Y only.

    E comes from random nonnegative vectors, with |lambda_1| = 0.9 / K. Every other run draws the
    classes in random rounds, so that all are drawn equally often; the rest draw them at random.

    Args:
        seed: of the vectors and of the draws.
        modified: the update (26) instead of the gradient (7).
        sign: -1 to flip all overlaps, which breaks a hypothesis.
        sizes: the K.
    """
    rng = np.random.default_rng(seed)
    out = []
    for K in sizes:
        for M in (M for M in M_GRID if M > K):
            E = sign * random_correlations(rng, K, 0.9 / K, M - K)
            inverse = E_prime(E)
            for number, eta in enumerate(ETA_GRID if K < 10 else ETA_GRID[::3]):
                rounds = K + 100 // K
                draws = np.concatenate([rng.permutation(K) for _ in range(rounds)])
                if number % 2:
                    draws = rng.integers(K, size=len(draws))
                state = run(zero_decoder(M, E), draws, eta, modified)
                seen = tuple((n, gradient_coefficients(state, n)) for n in range(min(K, 5)))
                how = "at random" if number % 2 else "in rounds"
                where = f"K = {K}, M = {M}, eta_Y = {eta}, {len(draws)} draws {how}"
                out.append(Trained(where, eta, state, inverse, seen))
    return out


def coefficient_error(one: Trained, n: int, a: Floats, form: str, sign: float = 1.0) -> float:
    """Largest error of iota and of beta, each relative to its size.

    Args:
        one: the run.
        n: the class.
        a: (K,), coefficients of the run's gradient.
        form: how (88) is read.
        sign: -1 for E' with the sign of Appendix D.1.
    """
    gamma, expected = of_run(one.state, sign * one.inverse, one.eta, n, form)
    others = np.arange(len(a)) != n
    beta = -a[others] / gamma
    size = max(np.abs(beta).max(), np.abs(expected.beta).max())
    iota = a[n] / gamma
    error = max(
        float(np.abs(beta - expected.beta[others]).max() / size),
        abs(iota - expected.iota) / max(abs(iota), abs(expected.iota)),
    )
    return float(error)


def identity_cases(runs: Sequence[Trained], form: str, sign: float = 1.0) -> Iterator[Case]:
    """One case for each gradient of each run: minus the error of its coefficients."""
    for one in runs:
        for n, a in one.found:
            error = coefficient_error(one, n, a, form, sign)
            yield Case(f"{one.where}, class {n + 1}", -error)


def xi_slack(a: Floats, row: Floats) -> float:
    """xi = -sum a_k E_nk by the sum of the sizes of its terms; -1 where it is not positive."""
    size = float(np.abs(a) @ np.abs(row))
    if size == 0:
        return 0.0  # a class that overlaps with no other
    value = float(-a @ row) / size
    return value if value > 0 else -1.0
