"""Attention dynamics of Tian et al. (2023): equation (10), its flow, and the fates of tokens.

`classes` may hold fewer columns than the vocabulary has tokens: tokens that never occur as a
context never move. Where the size of the vocabulary matters it is an argument of its own, `M`.

Time enters as the clock s, the integral of eta_Z gamma / K: in it the population dynamics of
single samples with Theorem 1's coefficients has no parameter left but M.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore.tian2023.classes import E_prime, SequenceClasses, correlations, unit_scores
from ntpcore.tian2023.decoder import height, residual
from ntpcore.tian2023.integrate import states_at

Floats = NDArray[np.float64]
RELATIVE = 1e-9  # tolerance of the integrator of both layers

# Right-hand sides


def velocity_of_gradient(query: Sequence[int], f: Floats, g: Floats) -> Floats:
    """sum over the classes n of each query of f_n o (g_n - f_n (f_n . g_n)): (4) at T = infinity.

    Args:
        query: psi(n) for each class.
        f: (K, M), the vectors f_n.
        g: (K, M), the back-propagated gradient of each class.

    Returns:
        (L, M), the derivative of the rows of Z over eta_Z.

    Source: tian2023, equations (4), (6) and (94).
    """
    inner = (f * g).sum(axis=1, keepdims=True)
    out = np.zeros((max(query) + 1, f.shape[1]))
    np.add.at(out, np.asarray(query), f * (g - f * inner))
    return out


def velocity(query: Sequence[int], f: Floats, beta: Floats) -> Floats:
    """Right-hand side of (10) over eta_Z gamma.

    Args:
        query: psi(n) for each class.
        f: (K, M), the vectors f_n.
        beta: (K, K), the coefficients beta_nn'; the diagonal is not used.

    Returns:
        (L, M); row m is sum over n of query m of diag(f_n) sum_n' beta_nn' (f_n f_n^T - I) f_n'.

    Source: tian2023, equation (10).
    """
    others = beta - np.diag(np.diag(beta))
    return velocity_of_gradient(query, f, -(others @ f))


def coefficients(
    E: Floats, M: int, theta: Floats | None = None, sigma: Floats | None = None
) -> Floats:
    """beta_nn' of Theorem 1 with the sign of q_0 put right, under the modified update (26).

    With q_1 = M / (M - 1) and |q_0| = M / (M - 1)^2,
    beta_nn' = (1 + sigma_n) [q_1 (1 + theta_n) E'_nn'
    + |q_0| (1 + theta_n' - sum over k != n of (1 + theta_k) E'_kn')].

    Args:
        E: (K, K), correlations of the f_n.
        M: size of the vocabulary.
        theta: (K,), what the random numbers of updates add; zero in the mean field.
        sigma: (K,), the same for the residuals; zero in the mean field.

    Returns:
        (K, K), with a zero diagonal.

    Source: tian2023, Theorem 1 and equation (88).
    """
    prime, K = E_prime(E), len(E)
    drawn = 1 + (np.zeros(K) if theta is None else theta)
    scale = 1 + (np.zeros(K) if sigma is None else sigma)
    weighted = drawn[:, None] * prime
    rest = drawn[None, :] - (weighted.sum(axis=0)[None, :] - weighted)
    beta = scale[:, None] * (M / (M - 1) * weighted + M / (M - 1) ** 2 * rest)
    np.fill_diagonal(beta, 0.0)
    return np.asarray(beta)


def forces(E: Floats, beta: Floats) -> Floats:
    """xi_n / gamma = sum over n' != n of beta_nn' f_n . f_n' (tian2023, Theorem 1(a)).

    Returns:
        (K,).
    """
    return np.asarray((beta * E).sum(axis=1))


# Clock


def clock(M: int, K: int, eta_Y: float, eta_Z: float, t: float | Floats) -> Floats:
    """s(t) = (eta_Z / K) times the integral of gamma up to step t of batch size 1.

    In closed form s = eta_Z / (2 eta_Y) ((M - 1) / M)^2 x^2 with x = M h(t / K), since
    gamma = (M - 1)^2 h h' / eta_Y.

    Source: tian2023, equation (128), with eta_Z / K for eta_Z.
    """
    x = height(M, eta_Y * np.asarray(t, dtype=np.float64) / K)
    return np.asarray(eta_Z / (2 * eta_Y) * ((M - 1) / M * x) ** 2)


# Flows


@dataclass(frozen=True, eq=False)
class AttentionPath:
    """A solution of the attention dynamics.

    Attributes:
        classes: the data.
        at: (S,), values of the clock, or times.
        z: (S, L, M), the rows of Z by query.
        B: (S, K), B_n of Theorem 3, the integral of xi_n / gamma over the clock.
    """

    classes: SequenceClasses
    at: Floats
    z: Floats
    B: Floats

    def f(self, place: int) -> Floats:
        """(K, M), the vectors f_n at one recorded moment."""
        return unit_scores(self.classes, self.z[place])


def flow(
    classes: SequenceClasses,
    M: int,
    clocks: Floats,
    start: Floats | None = None,
    theta: Floats | None = None,
    relative: float = 1e-10,
) -> AttentionPath:
    """The population dynamics (10) with Theorem 1's coefficients at the current f_n.

    Args:
        classes: the data.
        M: size of the vocabulary.
        clocks: (S,), increasing values of `clock`, the first one 0.
        start: (L, M), Z at the start; zero when left out.
        theta: (K,), as in `coefficients`, held fixed.
        relative: tolerance of the integrator.

    Raises:
        ArithmeticError: the integrator gave up.
    """
    shape = (classes.L, classes.M)
    size = shape[0] * shape[1]

    def slope(_: float, flat: Floats) -> Floats:
        f = unit_scores(classes, flat[:size].reshape(shape))
        E = correlations(f)
        beta = coefficients(E, M, theta)
        return np.concatenate([velocity(classes.query, f, beta).ravel(), forces(E, beta)])

    zero = np.zeros(shape) if start is None else start
    begin = np.concatenate([zero.ravel(), np.zeros(classes.K)])
    found = states_at(clocks, slope, begin, relative=relative, absolute=relative * 1e-2)
    return AttentionPath(classes, clocks, found[:, :size].reshape(-1, *shape), found[:, size:])


def coupled_flow(
    classes: SequenceClasses, M: int, eta_Y: float, eta_Z: float, times: Floats
) -> AttentionPath:
    """Decoder by (7) and attention by (4), both trained from zero, for sequences without end.

    Each moves along the mean over the classes, as steps of batch size 1 do on average. Y is stored
    for the tokens that occur as contexts, with one column for the M - K tokens that follow no
    class. Y remembers older f_n, so that (9) does not define xi_n, and B is zero.

    Args:
        classes: the data.
        M: size of the vocabulary.
        eta_Y: learning rate of the decoder.
        eta_Z: learning rate of the attention.
        times: (S,), increasing numbers of steps of batch size 1, the first one 0.

    Source: tian2023, equations (3), (6) and (7).
    """
    K, shape = classes.K, (classes.L, classes.M)
    size, wide = shape[0] * shape[1], classes.M * (classes.K + 1)
    copies = np.append(np.ones(K), M - K)

    def slope(_: float, flat: Floats) -> Floats:
        f = unit_scores(classes, flat[:size].reshape(shape))
        Y = flat[size:].reshape(classes.M, K + 1)
        W = f @ Y
        errors = np.array([residual(W[n], n, M) for n in range(K)])
        g = (errors * copies) @ Y.T
        z = velocity_of_gradient(classes.query, f, g)
        return np.concatenate([eta_Z / K * z.ravel(), eta_Y / K * (f.T @ errors).ravel()])

    begin = np.zeros(size + wide)
    found = states_at(times, slope, begin, relative=RELATIVE, absolute=RELATIVE * 1e-2)
    return AttentionPath(
        classes, times, found[:, :size].reshape(-1, *shape), np.zeros((len(times), K))
    )


# Distinct tokens


def relative_gain(f: Floats, first: int, second: int) -> Floats:
    """r = f_first^2 / f_second^2 - 1, for two tokens of one class (tian2023, Theorem 3).

    Args:
        f: (..., M), f_n of the class, at one moment or at several.
        first: l, the token that gains.
        second: l', the other one.
    """
    return np.asarray((f[..., first] / f[..., second]) ** 2 - 1)


def growth(z: Floats, start: float) -> Floats:
    """chi = exp(2 (z(t) - z(0))), the growth factor of a token (tian2023, Theorem 3)."""
    return np.exp(2 * (z - start))


def follower(P: float, P_other: float, z: Floats, z_other: float) -> Floats:
    """z of another distinct token of the same class, from the path of one of them.

    Along (10) 1 / (P^2 e^(2 z)) falls equally fast for all distinct tokens of a class, so that
    e^(-2 z'(t)) = e^(-2 z'(0)) + (P' / P)^2 (e^(-2 z(t)) - e^(-2 z(0))); (11) says the same.

    Args:
        P: probability of the token whose path is known.
        P_other: probability of the other one.
        z: (S,), the known path, z(0) first.
        z_other: z'(0).

    Raises:
        ValueError: the other token cannot follow so far: it would have passed infinity.
    """
    left = math.exp(-2 * z_other) + (P_other / P) ** 2 * (np.exp(-2 * z) - math.exp(-2 * z[0]))
    if not (left > 0).all():
        raise ValueError(
            "the other token dominates and is at infinity before the path ends; shorten the path"
        )
    return np.asarray(-0.5 * np.log(left))
