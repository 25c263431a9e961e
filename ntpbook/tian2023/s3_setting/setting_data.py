"""Checks of Section 3.2: sequence classes, Figure 1, distinct and common tokens."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpcore.tian2023 import classes as families
from ntpcore.tian2023.classes import SequenceClasses
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]


def collection(seed: int = 7, random: int = 30) -> list[tuple[str, SequenceClasses]]:
    """Classes of every family that the book uses, small ones first.

    Args:
        seed: of the random classes.
        random: number of random classes.
    """
    found = [
        ("two equicorrelated classes", families.equicorrelated_classes(2, 5, 0.3)),
        ("ten equicorrelated classes", families.equicorrelated_classes(10, 50, 0.05)),
        ("four paired classes", families.paired_classes(4, 12, 0.2)),
        ("Syn-Small", families.synthetic_classes(2, 1)),
    ]
    found += [(f"Syn-Medium, L = {L}", families.synthetic_classes(L, 2)) for L in (1, 3, 5, 10)]
    for number in range(random):
        rng = np.random.default_rng((seed, number))
        K = int(rng.integers(2, 7))
        one = families.random_classes(
            rng,
            K,
            40,
            int(rng.integers(1, 9)),
            int(rng.integers(1, 4)),
            int(rng.integers(1, K + 1)),
        )
        found.append((f"random classes {number}, K = {K}", one))
    return found


# Figure 1


def check_tian2023_fig_1(
    data: list[tuple[str, SequenceClasses]], seed: int = 7, samples: int = 200
) -> Check:
    """Classes are well posed and overlap: contexts are drawn from P, and classes share tokens.

    Args:
        data: named classes.
        seed: of the sequences.
        samples: number of sequences of each class.
    """
    rng = np.random.default_rng(seed)

    def instances() -> Iterator[Case]:
        for name, one in data:
            p = one.probabilities
            stray = 0
            for n in range(one.K):
                counted = families.draw_counts(rng, one, n, samples, 127)
                stray += int(counted[:, p[n] == 0].sum()) + int((counted.sum(axis=1) != 127).sum())
            shared = np.minimum(p[:, None], p[None]).sum(axis=2)[np.triu_indices(one.K, 1)]
            yield Case(name, -float(stray) if stray else float(shared.max()) - 1e-12)

    return judge(
        "tian2023-fig-1",
        instances(),
        unit="sets of classes",
        claim="Sequences hold tokens of their class only, and some classes of each set overlap",
        tolerance=0.0,  # overlap means more than rounding, 1e-12
        parameters={"seed": seed, "samples": samples},
    )


def control_tian2023_fig_1() -> Control:
    """Two classes without a shared token do not overlap."""
    apart = SequenceClasses(np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]), (0, 0))
    return Control(
        "Two classes without a shared token.",
        Verdict.REFUTED,
        check_tian2023_fig_1([("disjoint classes", apart)]).verdict,
    )


# Distinct and common tokens


def check_tian2023_app_classes(
    data: list[tuple[str, SequenceClasses]], seed: int = 7, smallest: int = 2
) -> Check:
    """Common and distinct tokens part the tokens that occur; only a distinct one names its class.

    Args:
        data: named classes.
        seed: of the order in which tokens are counted.
        smallest: how many classes make a token common; the paper has 2.
    """

    def instances() -> Iterator[Case]:
        for name, one in data:
            where: dict[int, set[int]] = {}
            for n, row in enumerate(one.probabilities):
                for token in np.flatnonzero(row).tolist():
                    where.setdefault(token, set()).add(n)
            common = {token for token, inside in where.items() if len(inside) >= smallest}
            distinct = [families.distinct_tokens(one, n) for n in range(one.K)]
            every = [*families.common_tokens(one), *(token for part in distinct for token in part)]
            faults = len(every) - len(set(every))  # a token in two parts
            faults += len(set(every) ^ set(where)) + len(common ^ set(families.common_tokens(one)))
            faults += sum(set(families.occurrences(one, t)) != where[t] for t in where)
            # the chance of the class once a token is seen, for equally frequent classes
            certain = one.probabilities.max(axis=0) / one.probabilities.sum(axis=0).clip(1e-300)
            faults += sum(certain[t] != 1 for part in distinct for t in part)
            faults += sum(not certain[t] < 1 for t in common)
            yield Case(name, -float(faults))

    common = sum(len(families.common_tokens(one)) for _, one in data)
    distinct = sum(len(families.distinct_tokens(one, n)) for _, one in data for n in range(one.K))
    alone = sum(len(one.of_query(m)) == 1 for _, one in data for m in range(one.L))
    return judge(
        "tian2023-app-classes",
        instances(),
        unit="sets of classes",
        claim="Every token that occurs is common or distinct for one class, never both, and the "
        "class is certain from one token exactly when that token is distinct",
        tolerance=0.0,
        numbers={"common": str(common), "distinct": str(distinct), "alone": str(alone)},
        parameters={"seed": seed},
    )


def control_tian2023_app_classes() -> Control:
    """A token of two classes counted as not common leaves the definitions apart."""
    return Control(
        "Common only from three classes on.",
        Verdict.REFUTED,
        check_tian2023_app_classes(collection(random=1), smallest=3).verdict,
    )
