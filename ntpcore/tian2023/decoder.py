"""Decoder dynamics of Tian et al. (2023) at fixed attention: the recursion h*, h, gamma, and runs.

Time enters as tau = eta_Y s, s being the number of updates of one class, and height as x = M h.
In runs only K + 1 logits are stored per class: the M - K tokens that follow no class stay alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import lambertw, wrightomega

from ntpcore.tian2023.classes import E_prime
from ntpcore.tian2023.integrate import states_at

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# One class alone


def zeta(M: int, n: int) -> Floats:
    """zeta_n = M / (M - 1) (e_n - 1/M), the direction of row n of W (tian2023, Appendix D.1).

    Returns:
        (M,), with sum 0 and entry 1 at n.
    """
    out = np.full(M, -1 / (M - 1))
    out[n] = 1.0
    return out


def recursion(M: int, eta: float, steps: int) -> Floats:
    """The discrete heights M h*(s) for s = 0, ..., steps (tian2023, equation (33)).

    Args:
        M: size of the vocabulary, at least 2.
        eta: eta_Y, the learning rate of the decoder.
        steps: number of updates of the class.

    Returns:
        (steps + 1,), nondecreasing, zero first.
    """
    _positive(M, eta)
    x = np.zeros(steps + 1)
    height, rate = 0.0, M * eta
    for s in range(steps):
        # 1 / (M - 1 + e^x), written so that nothing overflows
        height += rate * math.exp(-height) / (1.0 + (M - 1) * math.exp(-height))
        x[s + 1] = height
    return x


def height(M: int, tau: float | Floats) -> Floats:
    """x = M h, the solution of e^x + (M - 1) x = M tau + 1 (tian2023, Lemma 6, equation (45)).

    The closed form x = c - W(e^c / (M - 1)), c = (M tau + 1) / (M - 1), cancels for small and for
    large tau, so it only starts Newton's method on expm1(x) + (M - 1) x = M tau.

    Args:
        M: size of the vocabulary, at least 2.
        tau: eta_Y s >= 0, number or array.
    """
    tau = np.asarray(tau, dtype=np.float64)
    if M < 2 or (tau < 0).any():
        raise ValueError(
            f"M = {M} and smallest tau = {tau.min():g}; M >= 2 and tau >= 0 are needed"
        )
    c = (M * tau + 1) / (M - 1)
    x = math.log(M - 1) + np.log(wrightomega(c - math.log(M - 1)).real)
    x = np.where(tau < 0.1, tau, x)
    for _ in range(4):
        slope = np.exp(x) + (M - 1)
        x = x - (np.expm1(x) + (M - 1) * x - M * tau) / slope
    return np.asarray(x)


def closed_form(M: int, tau: float | Floats) -> Floats:
    """The height x = M h by the Lambert W function, for moderate tau (tian2023, Lemma 6).

    x = c - W_0(e^c / (M - 1)) with c = (M tau + 1) / (M - 1), where tau = eta_Y s after s updates.
    """
    c = (M * np.asarray(tau, dtype=np.float64) + 1) / (M - 1)
    return np.asarray(c - wrightomega(c - math.log(M - 1)).real)


def speed(M: int, K: int, eta: float, t: float | Floats) -> Floats:
    """gamma(t) = (M - 1)^2 h(t/K) / (M - 1 + e^(M h(t/K))) (tian2023, Lemma 9).

    Args:
        M: size of the vocabulary.
        K: number of classes, drawn uniformly.
        eta: eta_Y, the learning rate of the decoder.
        t: number of steps of batch size 1.
    """
    x = height(M, eta * np.asarray(t, dtype=np.float64) / K)
    return speed_at(M, x)


def speed_at(M: int, x: Floats) -> Floats:
    """gamma at height x = M h: ((M - 1)^2 / M) x / (M - 1 + e^x)."""
    return np.asarray((M - 1) ** 2 / M * x * np.exp(-x) / (1 + (M - 1) * np.exp(-x)))


def crossings(M: int) -> tuple[float, float]:
    """The two heights x = M h where e^x = (M - 1) x, the smaller first (tian2023, Lemma 8).

    They are -W_0(-1/(M-1)) and -W_(-1)(-1/(M-1)), real for M - 1 >= e.

    Raises:
        ValueError: M < 4, where the exponential stays above the line.
    """
    if M < 4:
        raise ValueError(f"M = {M}: e^x > (M - 1) x for all x unless M >= 4")
    at = -1 / (M - 1)
    return -float(lambertw(at, 0).real), -float(lambertw(at, -1).real)


def omegas(M: int) -> tuple[float, float]:
    """The numbers omega_0 and omega_1 that describe the two `crossings` x.

    The heights h = x/M are M^-(2-omega_0) and (1+omega_1) ln(M)/M.

    Source: tian2023, Lemma 8.
    """
    lower, upper = crossings(M)
    return 1 + math.log(lower) / math.log(M), upper / math.log(M) - 1


def transition(M: int, K: int, eta: float) -> float:
    """Time t_0 = 2 (1 + omega_1) K ln(M) / eta_Y at which stage 2 begins (tian2023, Lemma 9)."""
    return 2 * (1 + omegas(M)[1]) * K * math.log(M) / eta


# All classes together


@dataclass(frozen=True, eq=False)
class DecoderState:
    """The decoder Y = F A, where the columns of F are the attention vectors f_n of K classes.

    Every gradient (7) and every modified update (26) is a vector in the span of the f_n times a
    row. So Y = F A holds exactly, and A replaces the M x M matrix Y.

    Attributes:
        M: size of the vocabulary.
        E: (K, K), correlations of the f_n: F^T F = I + E.
        A: (K, K + 1), coefficients for the logits of the K next tokens and, in the last column,
            for each of the other M - K tokens, whose logits stay equal.
        updates: (K,), how often each class was drawn.
    """

    M: int
    E: Floats
    A: Floats
    updates: Integers

    @property
    def W(self) -> Floats:
        """F^T Y: row n holds the logits when class n is shown, (K, K + 1)."""
        return np.asarray(self.A + self.E @ self.A)


def zero_decoder(M: int, E: Floats) -> DecoderState:
    """The decoder Y = 0 for M tokens and K classes with correlations E, (K, K).

    Raises:
        ValueError: there are fewer tokens than classes.
    """
    K = len(E)
    if K > M:
        raise ValueError(f"K = {K} classes need at least as many tokens, but M = {M}")
    return DecoderState(M, E, np.zeros((K, K + 1)), np.zeros(K, dtype=np.int64))


def residual(w: Floats, n: int, M: int) -> Floats:
    """e_n minus the predicted probabilities, for logits of K next tokens and one other token.

    Args:
        w: (K + 1,), logits; the last one stands for M - K tokens.
        n: the class.
        M: size of the vocabulary.

    Returns:
        (K + 1,); the entry at n is the sum of the other probabilities, not a difference.
    """
    K = len(w) - 1
    weights = np.exp(w - w.max())
    weights[K] *= M - K
    out = -np.append(weights[:K], np.exp(w[K] - w.max())) / weights.sum()
    out[n] = np.delete(weights, n).sum() / weights.sum()
    return np.asarray(out)


def run(
    start: DecoderState, draws: Sequence[int] | Integers, eta: float, modified: bool
) -> DecoderState:
    """The decoder after updates of batch size 1, one for each drawn class.

    Args:
        start: the state before the first update.
        draws: the class of each step.
        eta: eta_Y, the learning rate.
        modified: whether to take the modified update (26), which moves one row of W only, instead
            of the gradient (7).

    Returns:
        the state after all draws.

    Source: tian2023, equations (7), (8) and (26).
    """
    A, W, updates = start.A.copy(), start.W, start.updates.copy()
    mix = np.eye(len(start.E)) - E_prime(start.E)  # column n: coefficients of f_n - F E' e_n
    gram = np.eye(len(start.E)) + start.E
    for n in np.asarray(draws, dtype=np.int64):
        step = eta * residual(W[n], int(n), start.M)
        if modified:
            A += np.outer(mix[:, n], step)
            W[n] += step
        else:
            A[n] += step
            W += np.outer(gram[:, n], step)
        updates[n] += 1
    return DecoderState(start.M, start.E, A, updates)


def flow(
    start: DecoderState, eta: float, times: Floats, modified: bool, relative: float = 1e-10
) -> list[DecoderState]:
    """The decoder in continuous time, each of the K classes having the weight 1/K.

    Args:
        start: the state at time 0.
        eta: eta_Y, the learning rate.
        times: increasing times in steps of batch size 1, each > 0.
        modified: the update (26) instead of the gradient (7).
        relative: tolerance of the integrator.

    Returns:
        one state for each time; `updates` is not counted.
    """
    K = len(start.E)
    mix = np.eye(K) - E_prime(start.E) if modified else np.eye(K)

    def slope(_: float, flat: Floats) -> Floats:
        state = DecoderState(start.M, start.E, flat.reshape(K, K + 1), start.updates)
        W = state.W
        rows = np.array([residual(W[n], n, start.M) for n in range(K)])
        return np.asarray((eta / K * (mix @ rows)).ravel())

    begin = start.A.ravel()
    found = states_at(times, slope, begin, relative=relative, absolute=relative * 1e-3)
    return [DecoderState(start.M, start.E, row.reshape(K, K + 1), start.updates) for row in found]


def gradient_coefficients(state: DecoderState, n: int) -> Floats:
    """Coefficients of g = Y (x_(T+1) - alpha_n) in the vectors f_k (tian2023, equation (9)).

    With a = A (e_n - alpha_n) this is g = sum_k a_k f_k, so that gamma iota_n = a_n and
    gamma beta_nk = -a_k for k != n.

    Returns:
        (K,).
    """
    e = residual(state.W[n], n, state.M)
    K = len(state.E)
    return np.asarray(state.A[:, :K] @ e[:K] + (state.M - K) * state.A[:, K] * e[K])


def xi(state: DecoderState, n: int) -> float:
    """xi_n = gamma sum_(k != n) beta_nk f_n . f_k, which drives the distinct tokens of class n.

    Source: tian2023, Theorem 1(a).
    """
    return float(-gradient_coefficients(state, n) @ state.E[n])


def _positive(M: int, eta: float) -> None:
    """Refuse a vocabulary of one token and a rate that is not positive."""
    if M < 2 or not eta > 0:
        raise ValueError(f"M = {M} and eta = {eta}; M >= 2 and eta > 0 are needed")
