"""Instances for the checks of Lemma 4 and Theorem 2 of Tian et al. (2023)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore.tian2023.classes import (
    SequenceClasses,
    common_tokens,
    correlations,
    equicorrelated_classes,
    layered_classes,
    paired_classes,
    random_classes,
    unit_scores,
    weak_correlations,
)

Floats = NDArray[np.float64]
SIZES = ((2, 5), (2, 100), (3, 100), (5, 1000), (10, 10**4), (20, 10**5), (50, 10**6))  # (K, M)


@dataclass(frozen=True, eq=False)
class Instance:
    """Classes at some Z, in a vocabulary of size M.

    Attributes:
        name: the instance in words.
        classes: the data; columns are the tokens that occur as contexts.
        M: size of the vocabulary.
        z: (L, columns), the rows of Z.
    """

    name: str
    classes: SequenceClasses
    M: int
    z: Floats

    @property
    def f(self) -> Floats:
        """(K, columns), the vectors f_n."""
        return unit_scores(self.classes, self.z)

    def holds(self, reading: str) -> bool:
        """Whether Assumption 2 holds."""
        return weak_correlations(correlations(self.f), self.M, reading).holds


def instances(seed: int, sets: int) -> list[Instance]:
    """Random classes with several queries at random Z, for every size of `SIZES`, small first."""
    found = []
    for K, M in SIZES:
        for number in range(sets):
            rng = np.random.default_rng((seed, K, number))
            common, distinct = (1, 2) if M == 5 else (int(rng.integers(1, 6)), 3)
            queries = int(rng.integers(1, K + 1))
            data = random_classes(rng, K, common + K * distinct, common, distinct, queries)
            z = rng.normal(size=(data.L, data.M))
            found.append(Instance(f"K = {K}, M = {M}, {queries} queries", data, M, z))
    return found


def weak_instances(seed: int, sets: int) -> list[Instance]:
    """Instances that satisfy Assumption 2 in one of its readings at least, at random small Z."""
    found: list[Instance] = []
    for data, M in _weak_families(seed, sets):
        rng = np.random.default_rng((seed, len(found), M))
        z = 0.05 * rng.normal(size=(data.L, data.M))
        name = f"K = {data.K}, M = {M}, {data.L} queries, {len(common_tokens(data))} common tokens"
        one = Instance(name, data, M, z)
        if one.holds("sqrt(6/M)"):
            found.append(one)
    return found


def _weak_families(seed: int, sets: int) -> Iterator[tuple[SequenceClasses, int]]:
    """Candidates: equal correlations, pairs, one common token at random, several at random."""
    for K, M in ((2, 200), (2, 10**4), (3, 10**4), (5, 10**5), (10, 10**6)):
        top = 1 / (K * (K - 1))
        for share in (0.5, 0.95):
            yield equicorrelated_classes(K, K + 1, top * share), M
    for K, M in ((2, 1000), (10, 10**5), (20, 10**5), (50, 10**6)):
        yield paired_classes(K, 2 * K, 0.8 / K), M
    for number in range(sets):
        rng = np.random.default_rng((seed, 1, number))
        K, M = int(rng.integers(2, 6)), int(10 ** rng.uniform(3.5, 6))
        weight = (0.9 / (K * K)) ** 0.5 * rng.uniform(0.4, 1.0)
        queries = [int(rng.integers(0, 2)) for _ in range(K)]
        queries = [one if len(set(queries)) == 2 else 0 for one in queries]
        tokens = [list(rng.dirichlet(np.ones(3)) + 0.1) for _ in range(K)]
        yield layered_classes([weight], tokens, 1 + 3 * K, queries), M
        mass = float(rng.uniform(0.05, 0.4))
        yield random_classes(rng, K, 4 + 2 * K, 4, 2, int(rng.integers(1, K + 1)), mass), M


def single_common(seed: int, sets: int) -> list[Instance]:
    """Classes of all sizes with one common token, which some of them lack, and any beta and Z."""
    found = []
    for K, M in SIZES:
        for number in range(sets):
            rng = np.random.default_rng((seed, 2, K, number))
            queries = int(rng.integers(1, K + 1))
            data = random_classes(rng, K, 1 + 2 * K, 1, 2, queries, float(rng.uniform(0.05, 0.9)))
            z = rng.normal(size=(data.L, data.M))
            found.append(Instance(f"K = {K}, M = {M}, {queries} queries", data, M, z))
    return found
