"""Check of Theorem 5: the decoder after N steps with classes drawn at random."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s4_sampling.sampling_decoder import printed_theta, row_symbols, short_zeta
from ntpcore.tian2023 import classes as data
from ntpcore.tian2023 import decoder, sampling
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

RUNS = ((12, 2, 0.5, 40), (20, 3, 2.0, 90), (30, 5, 0.1, 300), (40, 6, 1.0, 400))  # M, K, eta, N

# Theorem 5


def check_tian2023_thm_5(seed: int = 7, sign: float = 1.0) -> Check:
    """Y = F (I - E')(I + Theta) W-bar after N sampled updates (26), with dense matrices.

    Args:
        seed: of the classes and draws.
        sign: of E' in the solution; the paper has 1.
    """
    departures = gradient_departures(seed)
    first, (N, off) = departures[0], departures[-1]
    bound = printed_theta(4, N, 0.05)
    check = judge(
        "tian2023-thm-5",
        itertools.chain(_solution_cases(seed, sign), _bound_cases()),
        unit="runs and settings",
        claim="After N updates (26) the decoder is F (I - E')(I + Theta) W-bar, which equals the "
        "form with the pseudo-inverse, and Theta is as small as Lemma 12 says",
        tolerance=1e-10,  # a few hundred updates, and the pseudo-inverse of a well conditioned F
        numbers={
            "off_early": f"{first[1]:.3f}",
            "off_late": f"{off:.3f}",
            "N_early": str(first[0]),
            "N_late": str(N),
            "bound": f"{bound:.3f}",
        },
        parameters={"seed": seed},
    )
    if check.verdict is Verdict.REFUTED:
        return check
    readings = (
        Reading(
            "the form of the solution, for the modified update (26)",
            Verdict.PROVED if row_symbols() else check.verdict,
        ),
        Reading("the size of Theta, for the modified update (26)", check.verdict),
        Reading(
            "the same for the gradient (7), which the theorem does not claim: with K = 4 classes "
            "in pairs, M = 10000, correlation 0.1 (Assumption 2 holds) and eta = 0.5, a row is off "
            f"the line of zeta_n by a share of {off:.3f} of its length after N = {N} steps",
            Verdict.REFUTED if off > 1e-6 else Verdict.CONSISTENT,
        ),
    )
    by_hand = (
        "every update (26) is a vector of the span of the f_n times a row, so that Y = F A; then "
        "F^T Y = (I + E) A gives A = (I - E') F^T Y",
    )
    return replace(check, readings=readings, by_hand=by_hand)


def _solution_cases(seed: int, sign: float) -> Iterator[Case]:
    """Minus the relative error of both printed forms against a dense run."""
    for number, (M, K, eta, N) in enumerate(RUNS):
        rng = np.random.default_rng((seed, number))
        f = data.unit_scores(data.random_classes(rng, K, M, common=2, distinct=2))
        draws = rng.integers(K, size=N)
        Y = dense_run(f, draws, eta)
        theta = sampling.row_errors(M, K, eta, N, np.bincount(draws, minlength=K))
        mean = float(decoder.height(M, eta * -(-N // K))) * (M - 1) / M  # (M - 1) h
        W_bar = mean * np.array([decoder.zeta(M, n) for n in range(K)])
        rows = (1 + theta)[:, None] * W_bar
        E_prime = data.E_prime(data.correlations(f))
        forms = {
            "pseudo-inverse": np.linalg.pinv(f.T).T @ rows,
            "E'": f.T @ (np.eye(K) - sign * E_prime) @ rows,
        }
        for name, printed in forms.items():
            error = float(np.abs(printed - Y).max() / np.abs(Y).max())
            yield Case(f"M = {M}, K = {K}, eta = {eta:g}, N = {N}, {name}", -error)


def dense_run(f: Floats, draws: Integers, eta: float) -> Floats:
    """Y after the updates (26), with M x M matrices and plain softmax.

    Args:
        f: (K, M), the vectors f_n as rows.
        draws: the class of each step.
        eta: eta_Y.
    """
    K, M = f.shape
    inverse = np.linalg.inv(f @ f.T)
    E_prime = np.eye(K) - inverse
    Y = np.zeros((M, M))
    for n in draws:
        weights = np.exp(Y.T @ f[n])
        error = np.eye(M)[n] - weights / weights.sum()
        Y += eta * np.outer(f[n] - f.T @ E_prime[:, n], error)
    return Y


def _bound_cases(M: int = 10_000, K: int = 4, eta: float = 0.5) -> Iterator[Case]:
    """1 - P(some |theta_n| above the bound)/delta, at the sizes of the runs with (7)."""
    for N, delta in itertools.product((100, 1000, 10_000), (1e-3, 0.05, 0.5)):
        chance = sampling.row_error_chances(M, K, eta, N, [printed_theta(K, N, delta)])[0]
        where = f"M = {M}, K = {K}, eta = {eta:g}, N = {N}, delta = {delta:g}, Theta"
        yield Case(where, 1 - (1 - chance) / delta)


def gradient_departures(
    seed: int = 7, draws: Sequence[int] = (100, 1000, 10_000), modified: bool = False
) -> list[tuple[int, float]]:
    """How far the rows of F^T Y are from the lines of the zeta_n, as a share of their length.

    Args:
        seed: of the draws.
        draws: increasing values of N.
        modified: the update (26), for which this is zero, instead of the gradient (7).

    Returns:
        pairs of N and the largest share.
    """
    made = data.paired_classes(4, 10_000, 0.1)
    E = data.correlations(data.unit_scores(made))
    assert data.weak_correlations(E, made.M).holds
    rng = np.random.default_rng(seed)
    state, done, out = decoder.zero_decoder(made.M, E), 0, []
    for N in draws:
        state = decoder.run(state, rng.integers(4, size=N - done), 0.5, modified)
        done = N
        out.append((N, float(off_line(state).max())))
    return out


def off_line(state: decoder.DecoderState) -> Floats:
    """The distance of each row of F^T Y from the line of zeta_n, by the length of the row, (K,)."""
    K = len(state.E)
    often = np.append(np.ones(K), state.M - K)  # the last logit stands for M - K tokens
    zeta, W = short_zeta(state.M, K), state.W
    along = (W * zeta * often).sum(axis=1) / (zeta**2 * often).sum(axis=1)
    rest = W - along[:, None] * zeta
    return np.asarray(np.sqrt((rest**2 * often).sum(axis=1) / (W**2 * often).sum(axis=1)))


def control_tian2023_thm_5() -> Control:
    """The sign of E' as Appendix D.1 defines it."""
    return Control(
        "F (I + E') for F (I - E'), the sign of E' in Appendix D.1.",
        Verdict.REFUTED,
        check_tian2023_thm_5(sign=-1.0).verdict,
    )
