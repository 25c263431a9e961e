"""Sequence classes of Tian et al. (2023): data, attention scores, and how classes correlate.

A class n has one next token (token n of the vocabulary), one query psi(n), and contextual tokens
that are drawn independently from P(.|n). Queries are numbered 0, ..., L - 1 and stand for the rows
of Z that training touches. The paper's matrix F has the vectors f_n as columns; here they are the
rows of an array `f`, so that F is `f.T`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SequenceClasses:
    """K classes of sequences over M tokens (tian2023, Section 3.2).

    Attributes:
        probabilities: (K, M), row n is P(.|n), the distribution of a contextual token of class n.
        query: psi(n) for each class n, as the number of the query.

    Raises:
        ValueError: a row is no distribution, fewer tokens than classes, or a class without query.
    """

    probabilities: Floats
    query: tuple[int, ...]

    def __post_init__(self) -> None:
        p = self.probabilities
        if p.ndim != 2 or p.shape[0] < 1 or p.shape[1] < p.shape[0]:
            raise ValueError(
                f"probabilities have the shape {p.shape}; give K rows of M >= K tokens, K >= 1"
            )
        sums = p.sum(axis=1)
        if not (np.isfinite(p).all() and (p >= 0).all() and np.abs(sums - 1).max() < 1e-9):
            row = int(np.argmax(np.where(np.isfinite(sums), np.abs(sums - 1), np.inf)))
            raise ValueError(
                f"row {row} is no distribution (sum {sums[row]:g}, smallest entry "
                f"{p[row].min():g}); give numbers >= 0 that sum to 1"
            )
        if len(self.query) != p.shape[0] or set(self.query) != set(range(max(self.query) + 1)):
            raise ValueError(
                f"queries {self.query} do not fit {p.shape[0]} classes; give each class one of "
                "0, ..., L - 1 and use every one"
            )

    @property
    def K(self) -> int:
        """Number of classes, which is the number of next tokens."""
        return int(self.probabilities.shape[0])

    @property
    def M(self) -> int:
        """Size of the vocabulary."""
        return int(self.probabilities.shape[1])

    @property
    def L(self) -> int:
        """Number of queries."""
        return max(self.query) + 1

    def of_query(self, m: int) -> tuple[int, ...]:
        """psi^-1(m): the classes whose query is m."""
        return tuple(n for n, query in enumerate(self.query) if query == m)


def occurrences(classes: SequenceClasses, token: int) -> tuple[int, ...]:
    """Omega(l): the classes in which the token l occurs (tian2023, Section 3.2)."""
    return tuple(int(n) for n in np.flatnonzero(classes.probabilities[:, token] > 0))


def distinct_tokens(classes: SequenceClasses, n: int) -> tuple[int, ...]:
    """G_DT(n): the tokens that occur in class n and in no other (tian2023, Section 3.2)."""
    positive = classes.probabilities > 0
    return tuple(int(x) for x in np.flatnonzero(positive[n] & (positive.sum(axis=0) == 1)))


def common_tokens(classes: SequenceClasses) -> tuple[int, ...]:
    """G_CT: the tokens that occur in two or more classes (tian2023, Section 3.2)."""
    return tuple(int(x) for x in np.flatnonzero((classes.probabilities > 0).sum(axis=0) > 1))


def attention_scores(classes: SequenceClasses, z: Floats | None = None) -> Floats:
    """c_n for every class: P(l|n) exp(z_l), normalised to sum 1 (tian2023, equation (5)).

    Args:
        classes: the data.
        z: (L, M), the rows of Z by query; zero when left out.

    Returns:
        (K, M), row n is c_n.

    Raises:
        ValueError: z has another shape.
    """
    if z is None:
        return classes.probabilities.copy()
    if z.shape != (classes.L, classes.M):
        raise ValueError(f"z has the shape {z.shape}, not {(classes.L, classes.M)}")
    scores = z[list(classes.query)]
    inside = classes.probabilities > 0
    top = np.where(inside, scores, -np.inf).max(axis=1, keepdims=True)
    weights = classes.probabilities * np.exp(np.where(inside, scores - top, 0.0))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def unit_scores(classes: SequenceClasses, z: Floats | None = None) -> Floats:
    """f_n = c_n / |c_n| for every class, the decoder's inputs (tian2023, Section 4).

    Args:
        classes: the data.
        z: (L, M), the rows of Z by query; zero when left out.

    Returns:
        (K, M), row n is f_n; the paper's F is its transpose.
    """
    c = attention_scores(classes, z)
    return np.asarray(c / np.linalg.norm(c, axis=1, keepdims=True))


def correlations(f: Floats) -> Floats:
    """E with F^T F = I + E: inner products of different f_n, zero on the diagonal.

    Args:
        f: (K, M), the vectors f_n as rows.

    Source: tian2023, Assumption 2.
    """
    E = f @ f.T
    np.fill_diagonal(E, 0.0)
    return np.asarray((E + E.T) / 2)


def E_prime(E: Floats) -> Floats:
    """E' = I - (I + E)^-1 = E (I + E)^-1, without the cancellation (tian2023, Lemma 14).

    Args:
        E: (K, K), symmetric, with eigenvalues above -1.

    Raises:
        ValueError: I + E is not positive definite.
    """
    if np.linalg.eigvalsh(E)[0] <= -1:
        raise ValueError("I + E is not positive definite: the f_n are linearly dependent")
    solution = np.linalg.solve(np.eye(len(E)) + E, E)
    return np.asarray((solution + solution.T) / 2)


@dataclass(frozen=True)
class Window:
    """Where the eigenvalues of E lie, against the window of Assumption 2 (tian2023).

    Attributes:
        M: size of the vocabulary.
        K: number of classes.
        largest: largest absolute eigenvalue of E.
        smallest: smallest absolute eigenvalue of E.
        lower: the lower bound of the reading that was asked for.
        violations: what fails, in words; empty when Assumption 2 holds.
    """

    M: int
    K: int
    largest: float
    smallest: float
    lower: float
    violations: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether Assumption 2 holds in this reading."""
        return not self.violations


LOWER_BOUNDS = {"6/sqrt(M)": lambda M: 6 / M**0.5, "sqrt(6/M)": lambda M: (6 / M) ** 0.5}


def weak_correlations(E: Floats, M: int, reading: str = "6/sqrt(M)") -> Window:
    """Whether 6/sqrt(M) <= |lambda_i(E)| and |lambda_1(E)| < 1/K hold (tian2023, Assumption 2).

    M >> K^2 carries no number and follows from a window that is not empty.

    Args:
        E: (K, K), the correlations.
        M: size of the vocabulary.
        reading: a key of `LOWER_BOUNDS`; the print leaves both possible.

    Raises:
        ValueError: the reading is unknown.
    """
    if reading not in LOWER_BOUNDS:
        raise ValueError(f"{reading!r} is no reading; choose one of {', '.join(LOWER_BOUNDS)}")
    K = len(E)
    sizes = np.abs(np.linalg.eigvalsh(E))
    lower = float(LOWER_BOUNDS[reading](M))
    violations = []
    if lower >= 1 / K:
        violations.append(f"the window is empty: {reading} = {lower:.3g} is not below 1/K")
    if sizes.max() >= 1 / K:
        violations.append(
            f"the largest |eigenvalue| {sizes.max():.3g} is not below 1/K = {1 / K:.3g}"
        )
    if sizes.min() < lower:
        violations.append(f"the smallest |eigenvalue| {sizes.min():.3g} is below {lower:.3g}")
    return Window(M, K, float(sizes.max()), float(sizes.min()), lower, tuple(violations))


def draw_counts(
    rng: np.random.Generator, classes: SequenceClasses, n: int, samples: int, length: int
) -> Integers:
    """Token counts of sequences of class n: all that the model sees of their contexts.

    Args:
        rng: source of randomness.
        classes: the data.
        n: the class.
        samples: number of sequences.
        length: number of contextual tokens of each, T - 1 in the paper.

    Returns:
        (samples, M), counts that sum to `length` in each row.
    """
    inside = np.flatnonzero(classes.probabilities[n] > 0)
    weights = classes.probabilities[n, inside]
    counts = np.zeros((samples, classes.M), dtype=np.int64)
    counts[:, inside] = rng.multinomial(length, weights / weights.sum(), size=samples)
    return counts


# Families of classes


def layered_classes(
    common: Sequence[float], distinct: Sequence[Sequence[float]], M: int, query: Sequence[int]
) -> SequenceClasses:
    """Classes that share all their common tokens, each with distinct tokens of its own.

    Tokens are numbered: common ones first, then the distinct ones class by class; the rest of the
    vocabulary never occurs as a context. Weights are normalised class by class.

    Args:
        common: weights of the common tokens, the same in all classes.
        distinct: weights of the distinct tokens of each class.
        M: size of the vocabulary.
        query: number of the query of each class.

    Raises:
        ValueError: M is too small, or a class has no weight at all.
    """
    K, width = len(distinct), len(common) + sum(len(tokens) for tokens in distinct)
    if width > M:
        raise ValueError(f"{width} tokens do not fit a vocabulary of {M}; raise M")
    p = np.zeros((K, M))
    start = len(common)
    for n, tokens in enumerate(distinct):
        p[n, : len(common)] = common
        p[n, start : start + len(tokens)] = tokens
        start += len(tokens)
    return SequenceClasses(p / p.sum(axis=1, keepdims=True), tuple(query))


def equicorrelated_classes(K: int, M: int, epsilon: float) -> SequenceClasses:
    """One query, one common and one distinct token per class, with f_n . f_n' = epsilon at Z = 0.

    Raises:
        ValueError: epsilon is outside (0, 1), or M < K + 1.
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon is {epsilon}; choose a number between 0 and 1")
    odds = (epsilon / (1 - epsilon)) ** 0.5  # rho / (1 - rho), since rho^2 / |c|^2 = epsilon
    return layered_classes([odds], [[1.0]] * K, M, (0,) * K)


def paired_classes(K: int, M: int, epsilon: float) -> SequenceClasses:
    """One query; classes 2i and 2i + 1 share a token, so that all eigenvalues of E are +-epsilon.

    This is the cheapest way to satisfy Assumption 2: it needs epsilon < 1/K and M > 36 K^2 only.

    Raises:
        ValueError: K is odd, epsilon is outside (0, 1), or M is too small.
    """
    if K % 2 or not 0 < epsilon < 1 or M < K + K // 2:
        raise ValueError(
            f"K = {K}, M = {M}, epsilon = {epsilon} do not fit; K must be even, M >= 3K/2, and "
            "epsilon between 0 and 1"
        )
    odds = (epsilon / (1 - epsilon)) ** 0.5
    p = np.zeros((K, M))
    p[np.arange(K), np.arange(K) // 2] = odds / (1 + odds)
    p[np.arange(K), K // 2 + np.arange(K)] = 1 / (1 + odds)
    return SequenceClasses(p, (0,) * K)


def random_classes(
    rng: np.random.Generator,
    K: int,
    M: int,
    common: int,
    distinct: int,
    queries: int = 1,
    common_mass: float = 0.5,
) -> SequenceClasses:
    """Random classes: each common token occurs in two or more of them, weights are Dirichlet.

    Args:
        rng: source of randomness.
        K: number of classes, at least 2.
        M: size of the vocabulary.
        common: number of common tokens.
        distinct: number of distinct tokens of each class.
        queries: number of queries, handed out in turn.
        common_mass: expected probability of a common token in a class that has some.
    """
    if K < 2 or distinct < 1 or common + K * distinct > M or not 1 <= queries <= K:
        raise ValueError(
            f"K = {K}, M = {M}, {common} common and {distinct} distinct tokens, {queries} queries "
            "do not fit; K >= 2, distinct >= 1, common + K distinct <= M, 1 <= queries <= K"
        )
    p = np.zeros((K, M))
    for x in range(common):
        inside = rng.choice(K, size=int(rng.integers(2, K + 1)), replace=False)
        p[inside, x] = rng.gamma(1.0, size=len(inside)) + 1e-3
    shared = p[:, :common].sum(axis=1, keepdims=True)
    p[:, :common] *= np.divide(common_mass, shared, out=np.zeros_like(shared), where=shared > 0)
    for n in range(K):
        rest = 1 - p[n].sum()
        start = common + n * distinct
        p[n, start : start + distinct] = rest * rng.dirichlet(np.ones(distinct))
    return SequenceClasses(p / p.sum(axis=1, keepdims=True), tuple(n % queries for n in range(K)))


def synthetic_classes(queries: int, next_per_query: int) -> SequenceClasses:
    """The data of the paper's synthetic experiments (tian2023, Section 8, and the authors' code).

    Ten common tokens of weight 1 and ten distinct tokens of each class with weights 0.1, ..., 1;
    queries and next tokens are tokens of their own, so that M = 10 + 10 K + L + K.

    Args:
        queries: L; 2 for Syn-Small, and 1, 3, 5 or 10 for Syn-Medium.
        next_per_query: K / L; 1 for Syn-Small and 2 for Syn-Medium.
    """
    K = queries * next_per_query
    return layered_classes(
        [1.0] * 10,
        [list(np.linspace(0.1, 1.0, 10))] * K,
        10 + 10 * K + queries + K,
        [n // next_per_query for n in range(K)],
    )
