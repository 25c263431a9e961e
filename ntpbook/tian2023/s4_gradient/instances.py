"""What the checks on the back-propagated gradient run on: matrices E, decoders, and moments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s4_gradient import gradient
from ntpcore.tian2023.classes import E_prime, correlations, random_classes, unit_scores
from ntpcore.tian2023.decoder import (
    DecoderState,
    flow,
    gradient_coefficients,
    height,
    run,
    speed,
    speed_at,
    transition,
    xi,
    zero_decoder,
)
from ntpverdicts.once import once

Floats = NDArray[np.float64]
Exact = tuple[tuple[Fraction, ...], ...]

# Matrices E


@dataclass(frozen=True, eq=False)
class Spectrum:
    """E of some classes with its eigenvalues.

    Attributes:
        name: the instance in words.
        E: (K, K), correlations.
        values: (K,), eigenvalues, ascending.
        vectors: (K, K), eigenvectors as columns.
        inverse: (K, K), E' = I - (I + E)^-1, from a linear system and not from the eigenvalues.
    """

    name: str
    E: Floats
    values: Floats
    vectors: Floats
    inverse: Floats

    @property
    def K(self) -> int:
        """Number of classes."""
        return len(self.E)

    @property
    def radius(self) -> float:
        """|lambda_1|."""
        return float(np.abs(self.values).max())

    @property
    def inverse_radius(self) -> float:
        """The largest absolute eigenvalue of E'."""
        return float(np.abs(np.linalg.eigvalsh(self.inverse)).max())

    @property
    def leading(self) -> Floats:
        """(K,), the sum over k of E'_nk E_nk for every n."""
        return np.asarray(np.einsum("nk,kn->n", self.inverse, self.E))

    @property
    def squares(self) -> Floats:
        """(K,), (E^2)_nn = |E e_n|^2."""
        return np.asarray(np.sum(self.E**2, axis=1))

    @property
    def least_square(self) -> float:
        """The smallest squared eigenvalue."""
        return float((self.values**2).min())


def spectrum(name: str, E: Floats) -> Spectrum:
    """The spectrum of one E."""
    values, vectors = np.linalg.eigh(E)
    return Spectrum(name, E, values, vectors, E_prime(E))


def spectra(seed: int = 7, matrices: int = 1000) -> tuple[Spectrum, ...]:
    """E of random nonnegative vectors with |lambda_1| < 1; K from 2 to 50, small K first."""
    return _spectra(seed, matrices, False)


def spectra_in_window(seed: int = 7, matrices: int = 1000) -> tuple[Spectrum, ...]:
    """E of random nonnegative vectors with |lambda_1| < 1/K, as Assumption 2 has it."""
    return _spectra(seed + 1, matrices, True)


@once
def _spectra(seed: int, count: int, within_window: bool) -> tuple[Spectrum, ...]:
    """Random spectra; every fifth nearly reaches the limit."""
    rng = np.random.default_rng(seed)
    sizes = np.sort(np.floor(2 * 25.5 ** rng.uniform(0, 1, count)).astype(int))
    found = []
    for number, K in enumerate(sizes):
        top = 1 / K if within_window else 1.0
        radius = top * (rng.uniform(0.01, 0.995) if number % 5 else 0.995)
        name = rf"$K = {K}$, $|\lambda_1|$ up to {radius:.3g}, matrix {number} of seed {seed}"
        found.append(spectrum(name, gradient.random_correlations(rng, int(K), radius)))
    return tuple(found)


def allowed(E: Floats | Exact, M: int) -> bool:
    """Whether Assumption 2 holds as printed for E = F^T F - I, M >= 100 K^2 for M >> K^2.

    E must be symmetric and nonnegative with a zero diagonal. An eigenvalue on the border counts
    as allowed up to rounding.
    """
    matrix = np.array(E, dtype=np.float64)
    sizes, K = np.abs(np.linalg.eigvalsh(matrix)), len(matrix)
    vectors = bool((matrix >= 0).all() and not np.diag(matrix).any() and (matrix == matrix.T).all())
    window = sizes.max() < 1 / K and sizes.min() >= 6 / M**0.5 * (1 - 1e-12)
    return vectors and bool(window) and M >= 100 * K * K


@dataclass(frozen=True)
class Pair:
    """Two classes with one rational overlap: everything in (93) is a fraction.

    The eigenvalues of E are the overlap and its negative, and E'E = e^2 / (1 - e^2) I.
    """

    overlap: Fraction
    M: int

    @property
    def name(self) -> str:
        """The instance in words."""
        return f"$K = 2$, $M = {self.M}$, overlap {self.overlap}"

    @property
    def radius(self) -> Fraction:
        """|lambda_1|."""
        return self.overlap

    @property
    def leading(self) -> tuple[Fraction]:
        """The sum over k of E'_1k E_1k; class 2 has the same."""
        return (self.overlap**2 / (1 - self.overlap**2),)

    @property
    def squares(self) -> tuple[Fraction]:
        """(E^2)_11."""
        return (self.overlap**2,)

    @property
    def least_square(self) -> Fraction:
        """The smallest squared eigenvalue."""
        return self.overlap**2

    @property
    def E(self) -> Exact:
        """The two correlations."""
        return ((0 * self.overlap, self.overlap), (self.overlap, 0 * self.overlap))


def pairs() -> list[Pair]:
    """Overlaps that Assumption 2 allows, in the smallest vocabularies and in large ones."""
    third, quarter = Fraction(1, 3), Fraction(1, 4)
    return [Pair(third, 900), Pair(quarter, 900), Pair(Fraction(1, 100), 10**6)]


# Trained decoders

M_GRID = (5, 10, 100, 1000, 1_000_000)
K_GRID = (2, 3, 5, 10, 50)
ETA_GRID = (0.01, 0.1, 1.0, 2.0)


@dataclass(frozen=True, eq=False)
class TwoDecoders:
    """Two decoders after the same random draws, with the gradients that they send back.

    Attributes:
        name: the instance in words.
        eta: eta_Y.
        modified: the decoder trained by (26).
        plain: the decoder trained by (7).
    """

    name: str
    eta: float
    modified: DecoderState
    plain: DecoderState

    @property
    def E(self) -> Floats:
        """(K, K), correlations."""
        return self.modified.E

    @property
    def M(self) -> int:
        """Size of the vocabulary."""
        return self.modified.M

    @property
    def seen(self) -> range:
        """The classes whose gradients are compared."""
        return range(min(len(self.E), 5))

    def gradient(self, n: int, plain: bool = False) -> Floats:
        """(K,), the coefficients of g in the f_k for a sample of class n."""
        return gradient_coefficients(self.plain if plain else self.modified, n)

    def theorem(self, n: int, form: str, sign: int) -> Floats:
        """(K,), what Theorem 1 predicts for them, from the numbers of draws alone.

        Args:
            n: the class.
            form: how (88) is read, a key of `gradient.FORMS`.
            sign: -1 for E' with the sign of Appendix D.1.
        """
        gamma, found = gradient.of_run(self.modified, sign * E_prime(self.E), self.eta, n, form)
        a = -gamma * found.beta
        a[n] = gamma * found.iota
        return np.asarray(a)

    def deviates_little(self) -> bool:
        """Whether theta is so small that the proposition on xi > 0 applies."""
        found = gradient.deviations(self.M, self.eta, self.modified.updates)
        theta = float(np.abs(found.theta).max())
        radius = float(np.abs(np.linalg.eigvalsh(self.E)).max())
        return theta < 1 and radius <= gradient.safe_radius(len(self.E), theta)


def trained(seed: int = 7) -> tuple[TwoDecoders, ...]:
    """Decoders for all fitting M, K and eta_Y of the grid, after about K^2 + 100 steps each."""
    return _trained(seed, 1.0, K_GRID)


def negative_overlaps(seed: int = 7) -> tuple[TwoDecoders, ...]:
    """Up to five classes, all overlaps negative, which nonnegative f_n cannot have."""
    return _trained(seed, -1.0, K_GRID[:3])


@once
def _trained(seed: int, sign: float, sizes: Sequence[int]) -> tuple[TwoDecoders, ...]:
    """The grid; the larger K, which cost most, get the extreme eta_Y only.

    E comes from random nonnegative vectors, with |lambda_1| = 0.9 / K. Every other run draws the
    classes in random rounds, so that all are drawn equally often; the rest draw them at random.
    """
    rng = np.random.default_rng(seed)
    out = []
    for K in sizes:
        for M in (M for M in M_GRID if M > K):
            E = sign * gradient.random_correlations(rng, K, 0.9 / K, M - K)
            for number, eta in enumerate(ETA_GRID if K < 10 else ETA_GRID[::3]):
                rounds = K + 100 // K
                draws = np.concatenate([rng.permutation(K) for _ in range(rounds)])
                if number % 2:
                    draws = rng.integers(K, size=len(draws))
                how = "at random" if number % 2 else "in rounds"
                name = rf"$K = {K}$, $M = {M}$, $\eta_Y = {eta}$, {len(draws)} draws {how}"
                out.append(trained_on(name, M, E, draws, eta))
    return tuple(out)


def trained_on(
    name: str, M: int, E: Floats, draws: Sequence[int] | Floats, eta: float
) -> TwoDecoders:
    """Both decoders after these draws, from Y = 0."""
    both = (run(zero_decoder(M, E), np.asarray(draws), eta, modified) for modified in (True, False))
    return TwoDecoders(name, eta, *both)


def first_step() -> tuple[TwoDecoders, ...]:
    """Four classes in a row after one draw of the third: the first overlaps with the second only.

    Assumption 2 holds with overlaps of 3/20 and M = 10000; E'_13 is negative, and xi_1 is
    eta_Y / M times E'_13.
    """
    E = 0.15 * (np.eye(4, k=1) + np.eye(4, k=-1))
    name = "$K = 4$ in a row, overlaps 3/20, $M = 10000$, one draw of class 3"
    return (trained_on(name, 10_000, E, [2], 0.5),)


@dataclass(frozen=True)
class Even:
    """Classes drawn equally often under (26), exactly, over the factor (1 + theta)(1 + sigma).

    By Theorem 5 all terms share this factor.

    Attributes:
        name: the instance in words.
        M: size of the vocabulary.
        E: (K, K), rational correlations.
    """

    name: str
    M: int
    E: Exact

    @property
    def seen(self) -> range:
        """The classes whose gradients are compared."""
        return range(len(self.E))

    def q(self, n: int) -> list[Fraction]:
        """The inner products of the zeta_k with zeta_n."""
        M = self.M
        return [Fraction(M, M - 1) if k == n else Fraction(-M, (M - 1) ** 2) for k in self.seen]

    def gradient(self, n: int) -> list[Fraction]:
        """The coefficients of g over its speed gamma: the solution a of (I + E) a = q."""
        import sympy as sp

        K = len(self.E)
        whole = sp.eye(K) + sp.Matrix(K, K, lambda i, j: sp.Rational(self.E[i][j]))
        found = whole.LUsolve(sp.Matrix([sp.Rational(one) for one in self.q(n)]))
        return [Fraction(int(one.p), int(one.q)) for one in found]

    def theorem(self, n: int, form: str, sign: int) -> list[Fraction]:
        """The same by (85) to (88) as `form` reads them, from E'."""
        outer, inner = gradient.FORMS[form]
        prime, (q_1, q_0) = self.prime(sign), (self.q(n)[n], Fraction(-self.M, (self.M - 1) ** 2))
        sums = [sum(prime[j][k] for j in self.seen if j != n) for k in self.seen]
        a = [-(q_1 * prime[n][k] + outer * q_0 * (1 + inner * sums[k])) for k in self.seen]
        a[n] = q_1 * (1 - prime[n][n]) - q_0 * sums[n]
        return a

    def prime(self, sign: int = 1) -> list[list[Fraction]]:
        """E' = I - (I + E)^-1, or its negative."""
        import sympy as sp

        K = len(self.E)
        whole = sp.eye(K) + sp.Matrix(K, K, lambda i, j: sp.Rational(self.E[i][j]))
        found = sign * (sp.eye(K) - whole.inv())
        return [[Fraction(int(x.p), int(x.q)) for x in found.row(i)] for i in range(K)]

    def follows_theorem_5(self) -> bool:
        """Whether F^T g is a multiple of W_bar zeta_n: equal heights, residuals along zeta_n.

        The inner products of the rows zeta_k of W_bar with zeta_n are summed over all M entries.
        """
        M, K = self.M, len(self.E)
        factor = Fraction(M, M - 1)
        zeta = [[factor * (int(i == k) - Fraction(1, M)) for i in range(K)] for k in range(K)]
        rest = factor**2 * Fraction(M - K, M * M)  # of the entries beyond the classes
        for n in self.seen:
            a = self.gradient(n)
            for k in self.seen:
                found = a[k] + sum(x * y for x, y in zip(self.E[k], a, strict=True))
                wanted = rest + sum(x * y for x, y in zip(zeta[k], zeta[n], strict=True))
                if found != wanted:
                    return False
        return True

    def xi(self, n: int) -> Fraction:
        """xi_n / gamma = -sum of a_k E_nk, exactly."""
        return -sum((x * y for x, y in zip(self.gradient(n), self.E[n], strict=True)), Fraction(0))


def even_pair(M: int = 900, e: Fraction = Fraction(1, 3)) -> Even:
    """Two classes with one overlap; that of 1/3 is in the window of Assumption 2 at M = 900."""
    return Even(
        f"$K = 2$, $M = {M}$, overlap {e}, drawn equally often", M, ((0 * e, e), (e, 0 * e))
    )


def even_star(leaves: int, strength: Fraction, link: Fraction, M: int) -> Even:
    """A centre that overlaps with some leaves and, weakly, with class 1.

    Args:
        leaves: number of leaves, classes 3, 4, ...
        strength: overlap of the centre, class 2, with each leaf.
        link: overlap of the centre with class 1.
        M: size of the vocabulary.
    """
    E = [[Fraction(0)] * (leaves + 2) for _ in range(leaves + 2)]
    for k in range(2, leaves + 2):
        E[1][k] = E[k][1] = strength
    E[0][1] = E[1][0] = link
    name = f"a star of {leaves} leaves, $s = {strength}$, $e = {link}$, $M = {M}$"
    return Even(name, M, tuple(tuple(row) for row in E))


def even_equal(K: int, M: int, rho: Fraction) -> Even:
    """Classes with equal overlaps: the eigenvalues of E are (K - 1) rho and -rho."""
    E = tuple(tuple(rho * int(i != j) for j in range(K)) for i in range(K))
    return Even(f"$K = {K}$, $M = {M}$, all overlaps {rho}, drawn equally often", M, E)


def allowed_even() -> list[Even]:
    """Classes that Assumption 2 allows, drawn equally often."""
    quarter, small = Fraction(1, 4), Fraction(3, 20)
    return [even_pair(), even_pair(10_000, quarter), even_equal(3, 10_000, small)]


def coefficients_to_compare(seed: int = 7) -> tuple[Even | TwoDecoders, ...]:
    """An exact pair and an exact star, then trained decoders."""
    star = even_star(2, Fraction(1, 5), Fraction(1, 10), 50)
    return (even_pair(), star, *trained(seed))


# Dense decoders


@dataclass(frozen=True, eq=False)
class Dense:
    """A dense decoder after 40 draws, trained without any use of its form.

    Attributes:
        name: the instance in words.
        F: (M, K), the f_n of the end as columns.
        Y: (M, M), the decoder.
    """

    name: str
    F: Floats
    Y: Floats

    def gradient(self, n: int) -> Floats:
        """g = Y (e_n - alpha_n)."""
        return np.asarray(self.Y @ error(self.Y.T @ self.F[:, n], n))


def error(logits: Floats, n: int) -> Floats:
    """e_n - softmax(logits)."""
    weights = np.exp(logits - logits.max())
    out = -weights / weights.sum()
    out[n] += 1
    return np.asarray(out)


def dense(seed: int = 7, decoders: int = 60) -> tuple[Dense, ...]:
    """Dense decoders by (7) and by (26) in turn, small random sizes."""
    return _dense(seed, decoders, False)


def dense_moving(seed: int = 7, decoders: int = 60) -> tuple[Dense, ...]:
    """The same with attention that moves half-way, so that Y remembers the old f_n."""
    return _dense(seed, decoders, True)


@once
def _dense(seed: int, count: int, moving: bool) -> tuple[Dense, ...]:
    """Updates as (7) and (26) stand, with M x M matrices."""
    rng = np.random.default_rng(seed)
    out = []
    for number in range(2 * count):
        modified, K = bool(number % 2), int(rng.integers(2, 6))
        M, eta = int(rng.integers(3 * K, 40)), float(10 ** rng.uniform(-2, 0.3))
        classes = random_classes(rng, K, M, K, 2)
        Y = np.zeros((M, M))
        for half in range(2):
            z = 0.1 * rng.normal(size=(1, M)) if moving and half else None
            F = unit_scores(classes, z).T
            mix = np.eye(K) - E_prime(correlations(F.T)) if modified else np.eye(K)
            for n in rng.integers(K, size=20):
                Y += eta * np.outer(F @ mix[:, n], error(Y.T @ F[:, n], n))
        update = "(26)" if modified else "(7)"
        out.append(Dense(rf"$K = {K}$, $M = {M}$, $\eta_Y = {eta:.3g}$, {update}", F, Y))
    return tuple(out)


# Speeds


@dataclass(frozen=True, eq=False)
class Speed:
    """gamma over the time tau = eta_Y N_bar for one size of the vocabulary.

    Attributes:
        M: size of the vocabulary.
        tau: (T,), times, tau_0 among them.
        gamma: (T,), the speed at them.
        tau_0: where the second stage begins.
        exponent: of M as a power of ten.
        K: number of classes; a time tau is t = K tau / eta steps.
        eta: eta_Y.
        overlap: of any two classes.
    """

    M: int
    tau: Floats
    gamma: Floats
    tau_0: float
    exponent: int
    K: int = 2
    eta: float = 0.02
    overlap: float = 0.25

    @property
    def name(self) -> str:
        """The instance in words."""
        sizes = f"$K = {self.K}$ with overlap {self.overlap:g}, $M = 10^{{{self.exponent}}}$"
        return rf"{sizes}, $\eta_Y = {self.eta:g}$"

    @property
    def E(self) -> Floats:
        """(K, K), equal overlaps."""
        return self.overlap * (np.ones((self.K, self.K)) - np.eye(self.K))


@cache
def speeds() -> tuple[Speed, ...]:
    """Vocabularies from 100 to 10^100, from far before tau_0 to far beyond."""
    out = []
    for exponent in (2, 3, 6, 9, 100):
        M = 10**exponent
        tau_0 = transition(M, 1, 1.0)
        tau = np.sort(np.append(np.geomspace(1e-6, 1e4, 300) * tau_0, tau_0))
        out.append(Speed(M, tau, speed_at(M, height(M, tau)), tau_0, exponent))
    return tuple(out)


def large_vocabularies() -> list[Speed]:
    """Those with M from 1000 on, and times from 100 K^2 steps on."""
    found = []
    for one in speeds():
        steps = one.K * one.tau / one.eta
        late = steps >= 100 * one.K**2
        if one.exponent > 2:
            found.append(replace(one, tau=one.tau[late], gamma=one.gamma[late]))
    return found


def speeds_and_decoders(seed: int = 7) -> tuple[Speed | TwoDecoders, ...]:
    """What Theorem 1 speaks about: speeds first, then gradients of trained decoders."""
    return (*speeds(), *trained(seed))


def speeds_and_negative_overlaps(seed: int = 7) -> tuple[Speed | TwoDecoders, ...]:
    """The same with a hypothesis broken."""
    return (*speeds(), *negative_overlaps(seed))


# Random E for the sign of xi


@dataclass(frozen=True, eq=False)
class Signed:
    """Random deviations of the heights around an E of a certain radius.

    Attributes:
        name: the instance in words.
        M: size of the vocabulary.
        E: (K, K), correlations.
        theta: (K,), deviations of the heights.
    """

    name: str
    M: int
    E: Floats
    theta: Floats


def at_the_radius(seed: int = 7, matrices: int = 300) -> list[Signed | Even]:
    """E up to the radius of the proposition, any M; three classes at any radius; stars beyond."""
    stars = [
        even_star(leaves, strength, Fraction(1, 200 * M), M)
        for leaves in (2, 3, 6)
        for strength in (Fraction(101, 100 * leaves), Fraction(int(990 / leaves**0.5), 1000))
        for M in (2 * leaves + 2, 100)
    ]  # spectral radii just above 1 / sqrt(leaves) and just below 1
    page = even_star(2, Fraction(2, 3), Fraction(1, 30), 10)
    return [page, *stars, *_signed(seed, matrices, 1.0), *_three(seed, matrices // 5)]


def beyond_the_radius(seed: int = 7, matrices: int = 300) -> list[Signed]:
    """Stars at three times the radius."""
    return list(_signed(seed, matrices // 3, 3.0))


def _signed(seed: int, count: int, excess: float) -> Iterator[Signed]:
    """Random E, every M of a grid, theta of random signs.

    Args:
        seed: of everything random.
        count: number of matrices.
        excess: by what the radius is multiplied; above 1 stars take the place of random E.
    """
    rng = np.random.default_rng(seed)
    for K in np.sort(np.floor(2 * 25.5 ** rng.uniform(0, 1, count)).astype(int)).tolist():
        theta_bar = float(rng.choice([0.0, 0.1, 0.5, 0.9]))
        radius = min(0.995, excess * gradient.safe_radius(K, theta_bar))
        E = gradient.random_correlations(rng, K, radius)
        if excess > 1 and K > 3:
            E = gradient.star(K - 2, 0.97 * min(1.0, radius) / (K - 2) ** 0.5, 1e-8)
        theta = theta_bar * rng.choice([-1.0, 1.0], size=K)
        for M in (K, 50, 1000, 10**6):
            name = rf"$K = {K}$, $M = {M}$, radius {radius:.3g}, $\bar\theta = {theta_bar}$"
            yield Signed(name, M, E, theta)


def _three(seed: int, count: int) -> Iterator[Signed]:
    """Three classes at any radius below 1, theta = 0."""
    rng = np.random.default_rng((seed, 3))
    for _ in range(count):
        E = gradient.random_correlations(rng, 3, float(rng.choice([0.5, 0.9, 0.995])))
        for M in (3, 1000):
            yield Signed(rf"$K = 3$, $M = {M}$, any radius, $\theta = 0$", M, E, np.zeros(3))


# xi over time


@dataclass(frozen=True, eq=False)
class Settled:
    """xi over time for equal overlaps, class 1.

    Attributes:
        K: number of classes.
        M: size of the vocabulary.
        rho: the overlap.
        tau: eta_Y t / K.
        gradient: xi under (7).
        modified: xi under (26), integrated.
        theorem: gamma times the coefficients of Theorem 1.
        early: gamma (K-1) rho / M.
    """

    K: int
    M: int
    rho: float
    tau: Floats
    gradient: Floats
    modified: Floats
    theorem: Floats
    early: Floats

    @property
    def name(self) -> str:
        """The instance in words."""
        return rf"$K = {self.K}$, $M = {self.M}$, $\rho = {self.rho}$"

    def at_rate(self, c: float) -> Floats:
        """xi of Theorem 1 at the rate c eta_Y, that is at the times c t."""
        E = self.rho * (np.ones((self.K, self.K)) - np.eye(self.K))
        gamma = speed(self.M, self.K, 1.0, c * self.tau * self.K)
        return np.asarray(gamma * gradient.xi_uniform(self.M, E)[0])


SETTINGS = ((2, 1_000_000, 0.01), (10, 1000, 0.5))


@once
def over_time(K: int, M: int, rho: float, points: int = 40) -> Settled:
    """xi of equal overlaps from tau = 0.001 to 1000 ln(M), in continuous time."""
    E = rho * (np.ones((K, K)) - np.eye(K))
    tau = np.geomspace(1e-3, 1000 * np.log(M), points)
    start = zero_decoder(M, E)
    plain, modified = (
        np.array([xi(state, 0) for state in flow(start, 1.0, tau * K, kind)])
        for kind in (False, True)
    )
    gamma = speed(M, K, 1.0, tau * K)
    theorem = gamma * gradient.xi_uniform(M, E)[0]
    return Settled(K, M, rho, tau, plain, modified, theorem, gamma * (K - 1) * rho / M)


@dataclass(frozen=True, eq=False)
class Early:
    """xi of some classes of a random E at one early time, under both updates.

    Attributes:
        name: the instance in words.
        M: size of the vocabulary.
        E: (K, K), correlations.
        tau: the time.
        plain: the decoder by (7).
        modified: the decoder by (26).
    """

    name: str
    M: int
    E: Floats
    tau: float
    plain: DecoderState
    modified: DecoderState


def under_7(seed: int = 7, points: int = 40) -> list[Early | Settled]:
    """Random E at an early time, then equal overlaps over time."""
    return [*_early(seed), *(over_time(*setting, points=points) for setting in SETTINGS)]


@once
def _early(seed: int, tau: float = 1e-4) -> tuple[Early, ...]:
    """One random E for each of six numbers of classes."""
    rng = np.random.default_rng(seed)
    out = []
    for K in (2, 3, 5, 10, 20, 50):
        M = int(rng.choice([2 * K, 100 * K, 10**6]))
        E = gradient.random_correlations(rng, K, float(rng.choice([0.9 / K, 0.9])), M - K)
        start, times = zero_decoder(M, E), np.array([tau * K])
        both = (flow(start, 1.0, times, modified)[0] for modified in (False, True))
        out.append(Early(f"$K = {K}$, $M = {M}$, random E", M, E, tau, *both))
    return tuple(out)
