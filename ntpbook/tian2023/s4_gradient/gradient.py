"""The gradient that the decoder sends back to the attention: coefficients of Theorem 1, and xi.

Under the modified update (26) the decoder is Y = F (I - E') (I + Theta) W_bar, so that the gradient
g = Y (x_(T+1) - alpha_n) is a combination of the f_k with coefficients in closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore.tian2023.decoder import DecoderState, height, recursion, speed_at

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# How the print of (88) may be read: the sign of the term with q_0 and that of the sum in it
FORMS = {
    "corrected": (-1, -1),  # |q_0| ((1 + theta) - sum), which is -q_0 (...)
    "q_0 with its sign": (+1, +1),  # q_0 ((1 + theta) + sum) with q_0 < 0
    "q_0 as a size": (-1, +1),  # |q_0| ((1 + theta) + sum)
}


def overlaps(M: int) -> tuple[float, float]:
    """q_1 = zeta_n . zeta_n = M / (M - 1) and q_0 = zeta_n . zeta_k = -M / (M - 1)^2, k != n.

    Source: tian2023, Appendix D.5.
    """
    return M / (M - 1), -M / (M - 1) ** 2


@dataclass(frozen=True, eq=False)
class Deviations:
    """How far random draws are from equal ones (tian2023, Lemma 12 and Corollary 1).

    Attributes:
        gamma: the speed gamma at the height h(N_bar).
        theta: (K,), theta_k = h*(N_k) / h(N_bar) - 1.
        sigma: (K,), sigma of the residual of each class,
            1 + sigma = (M - 1 + e^(M h(N_bar))) / (M - 1 + e^(M h*(N_n))).
    """

    gamma: float
    theta: Floats
    sigma: Floats


def deviations(M: int, eta: float, updates: Integers) -> Deviations:
    """theta and sigma of a run of the modified update, from how often each class was drawn.

    Args:
        M: size of the vocabulary.
        eta: eta_Y.
        updates: (K,), the numbers N_k, not all zero.

    Raises:
        ValueError: nothing was drawn.
    """
    if updates.sum() < 1:
        raise ValueError("no class was drawn, so that there is no mean height; draw some")
    mean = math.ceil(updates.sum() / len(updates))
    x_bar = float(height(M, eta * mean))
    x = recursion(M, eta, int(updates.max()))[updates]
    # e^(x_bar - x) as a difference from 1, so that equal heights give exactly zero
    sigma = np.exp(x_bar) * -np.expm1(x - x_bar) / (M - 1 + np.exp(x))
    return Deviations(float(speed_at(M, np.asarray(x_bar))), (x - x_bar) / x_bar, sigma)


@dataclass(frozen=True, eq=False)
class Coefficients:
    """The gradient for class n, g = gamma (iota f_n - sum_(k != n) beta_k f_k).

    Attributes:
        n: the class.
        iota: the coefficient of f_n.
        beta: (K,), the coefficients of the others; zero at n.
    """

    n: int
    iota: float
    beta: Floats


def coefficients(
    M: int, E_prime: Floats, theta: Floats, sigma: float, n: int, form: str = "corrected"
) -> Coefficients:
    """iota_n and beta_nk, with theta+ = 1 + theta, q_1 and q_0 as in `overlaps`:

    iota_n  = (1 + sigma) [q_1 theta+_n (1 - E'_nn) - q_0 sum_(k != n) theta+_k E'_kn],
    beta_nk = (1 + sigma) [q_1 theta+_n E'_nk - q_0 (theta+_k - sum_(j != n) theta+_j E'_jk)].

    Args:
        M: size of the vocabulary.
        E_prime: (K, K), E' = I - (I + E)^-1; its negative for the sign of Appendix D.1.
        theta: (K,), deviations of the heights.
        sigma: deviation of the residual of class n.
        n: the class.
        form: a key of `FORMS`; the forms differ in beta only.

    Raises:
        ValueError: the form is unknown.

    Source: tian2023, equations (85) to (88); "corrected" is ours.
    """
    if form not in FORMS:
        raise ValueError(f"{form!r} is no form of (88); choose one of {', '.join(FORMS)}")
    q_1, q_0 = overlaps(M)
    outer, inner = FORMS[form]
    plus = 1 + theta
    others = np.where(np.arange(len(theta)) == n, 0.0, plus)
    sums = E_prime @ others
    iota = q_1 * plus[n] * (1 - E_prime[n, n]) - q_0 * sums[n]
    beta = q_1 * plus[n] * E_prime[n] + outer * q_0 * (plus + inner * sums)
    beta[n] = 0.0
    return Coefficients(n, float((1 + sigma) * iota), np.asarray((1 + sigma) * beta))


def of_run(
    state: DecoderState, E_prime: Floats, eta: float, n: int, form: str = "corrected"
) -> tuple[float, Coefficients]:
    """gamma and the coefficients that Theorem 1 predicts for a run, from its counts alone."""
    found = deviations(state.M, eta, state.updates)
    sigma = float(found.sigma[n])
    return found.gamma, coefficients(state.M, E_prime, found.theta, sigma, n, form)


def xi_uniform(M: int, E: Floats) -> Floats:
    """xi_n / gamma of Theorem 1 for classes drawn equally often, over (1 + theta)(1 + sigma).

    M/(M-1) [(E^2 G)_nn + 1/(M-1) (sum_k E_nk - sum_(k != n) (E^2 G)_nk)] with G = (I + E)^-1: the
    form of `ours-xi-positive`, which does not cancel.

    Args:
        M: size of the vocabulary.
        E: (K, K), symmetric with eigenvalues above -1 and a zero diagonal.

    Returns:
        (K,).
    """
    second = E @ np.linalg.solve(np.eye(len(E)) + E, E)
    diagonal = np.diag(second)
    rest = E.sum(axis=1) - (second.sum(axis=1) - diagonal)
    return np.asarray(M / (M - 1) * (diagonal + rest / (M - 1)))


def safe_radius(K: int, theta_bar: float = 0.0) -> float:
    """The spectral radius of E up to which `ours-xi-positive` guarantees xi > 0.

    The r with sqrt(K-1) r / (1-r) = (1-theta_bar) / (1+theta_bar), theta_bar = max |theta_k| < 1;
    for theta_bar = 0 it is 1 / (1 + sqrt(K-1)). At K = 2 every r < 1 will do.

    Raises:
        ValueError: K < 2 or theta_bar outside [0, 1).
    """
    if K < 2 or not 0 <= theta_bar < 1:
        raise ValueError(f"K = {K}, theta_bar = {theta_bar}; K >= 2 and 0 <= theta_bar < 1 needed")
    if K == 2:
        return 1.0
    ratio = (1 - theta_bar) / (1 + theta_bar)
    return ratio / (ratio + math.sqrt(K - 1))


def star(leaves: int, strength: float, link: float) -> Floats:
    """E of a centre that overlaps with some leaves and, weakly, with class 0.

    Class 0 overlaps with the centre (class 1) only. With more than 1 / strength leaves and a weak
    enough link, xi_0 is negative: the smallest example has two leaves, K = 4.

    Args:
        leaves: number of leaves, classes 2, 3, ...
        strength: overlap of the centre with each leaf.
        link: overlap of the centre with class 0.
    """
    E = np.zeros((leaves + 2, leaves + 2))
    E[1, 2:] = E[2:, 1] = strength
    E[0, 1] = E[1, 0] = link
    return E


def random_correlations(
    rng: np.random.Generator, K: int, radius: float, shared: int | None = None
) -> Floats:
    """E of K random nonnegative unit vectors, scaled to a spectral radius.

    Scaling by s <= 1 stays possible for nonnegative vectors: replace f_n by sqrt(s) f_n and a
    distinct token of weight sqrt(1 - s).

    Args:
        rng: source of randomness.
        K: number of classes, at least 2.
        radius: the largest |eigenvalue| wanted, in (0, 1); smaller where s would exceed 1.
        shared: at most so many tokens are shared, so that M = shared + K is enough.
    """
    tokens = int(rng.integers(2, 2 * K + 2))
    tokens = min(tokens, shared or tokens)
    f = rng.random((K, tokens)) * (rng.random((K, tokens)) < rng.uniform(0.1, 1.0))
    f[: int(rng.integers(2, K + 1)), 0] += 0.1  # some overlap, always
    f = f / np.maximum(np.linalg.norm(f, axis=1, keepdims=True), 1e-9)
    E = f @ f.T
    np.fill_diagonal(E, 0.0)
    E = (E + E.T) / 2
    return np.asarray(E * min(1.0, radius / np.abs(np.linalg.eigvalsh(E)).max()))
