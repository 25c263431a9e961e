"""Checks of Sections 5, 7 and 9: heads, positions, spurious tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared import bags
from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s7_discussion.discussion_runs import VOCABULARY
from ntpcore.tian2023 import classes as families
from ntpcore.tian2023 import layer, population
from ntpcore.tian2023.classes import SequenceClasses
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

# Heads

COMPARABLE = (1.0, 0.95, 0.9, 0.85)  # weights of the distinct tokens of each class
FIRST = len(COMPARABLE)


def winners(classes: SequenceClasses, z: Floats) -> list[tuple[int, ...]]:
    """For each head the place of the leading distinct token in each class.

    Args:
        classes: the data, with the common tokens first.
        z: (H, L, M), scores.
    """
    c = population.scores(population.of_classes(classes), z)
    return [
        tuple(
            int(np.argmax(head[n, list(families.distinct_tokens(classes, n))]))
            for n in range(classes.K)
        )
        for head in c
    ]


def check_tian2023_app_heads(
    spreads: Sequence[float] = (0.1, 0.3, 1.0), heads: int = 6, seed: int = 7, time: float = 1e5
) -> Check:
    """Heads with random starts, trained together, end with different leading tokens.

    Args:
        spreads: standard deviations of the scores at the start.
        heads: number of heads, whose logits are added.
        seed: of the starts.
        time: steps of batch size 1.
    """
    one = families.layered_classes([0.6], [COMPARABLE] * 2, 1 + 2 * FIRST, [0, 0])
    data = population.of_classes(one, M=VOCABULARY)
    kept, differing = [], []

    def instances() -> Iterator[Case]:
        for spread in spreads:
            for number in range(3):
                rng = np.random.default_rng((seed, number))
                z = spread * rng.normal(size=(heads, 1, 1 + 2 * FIRST))
                end = population.flow(data, population.start(data, z), 1.0, 0.1, np.array([time]))
                before, after = winners(one, z), winners(one, end[0].z)
                kept.append(before == after)
                differing.append(len(set(after)))
                # more than one combination, and each head led by what its start preferred
                yield Case(
                    f"spread {spread:g}, start {number}",
                    min(differing[-1] - 2.0, 0.0 if kept[-1] else -1.0),
                )

    check = judge(
        "tian2023-app-heads",
        instances(),
        unit="sets of heads",
        claim=f"Of {heads} heads trained together at least two end with different leading tokens, "
        "each with those that P(l|n) exp(z) preferred at its start",
        tolerance=0.0,
        parameters={"seed": seed, "heads": heads},
    )
    if check.verdict is Verdict.REFUTED:
        return check
    # a spread below the gaps of ln P, the least of which is 0.05
    z = 0.01 * np.random.default_rng(seed).normal(size=(heads, 1, 1 + 2 * FIRST))
    numbers = {
        "fewest": str(min(differing)),
        "most": str(max(differing)),
        "heads": str(heads),
        "narrow": str(len(set(winners(one, z)))),
    }
    return replace(check, numbers={**check.numbers, **numbers})


def control_tian2023_app_heads() -> Control:
    """Heads that all start from zero are copies of each other."""
    return Control(
        "All heads start from zero.",
        Verdict.REFUTED,
        check_tian2023_app_heads(spreads=(0.0,)).verdict,
    )


# Positions


def decayed_distance(rng: np.random.Generator, slope: float, length: int, samples: int) -> float:
    """Mean of |X^T b - c|_1 for independent tokens with a bias -slope per step back, at Z = 0."""
    P = rng.dirichlet(np.ones(10))
    weights = np.exp(-slope * np.arange(length)[::-1])
    weights /= weights.sum()
    total = 0.0
    for _ in range(samples):
        q = np.bincount(rng.choice(10, size=length, p=P), weights=weights, minlength=10)
        total += float(np.abs(q - P).sum())
    return total / samples


def check_tian2023_app_positions(cases: int = 80, seed: int = 7, added: bool = True) -> Check:
    """Biases beta_t turn the counts of (5) into weighted counts: a factor beside exp(z).

    Args:
        cases: number of random sequences.
        seed: of the sequences and biases.
        added: whether the bias is added to the scores; otherwise it multiplies them.
    """

    def instances() -> Iterator[Case]:
        rng = np.random.default_rng(seed)
        for number in range(cases):
            M, length = 2 + number % 9, (1, 4, 30, 200)[number % 4]
            X = layer.one_hot(tuple(rng.integers(M, size=length).tolist()), M)
            z, beta = rng.normal(size=M), rng.normal(size=length)
            b = layer.softmax(X @ z + beta if added else X @ z * beta)
            prior = X.T @ np.exp(beta)
            expected = prior * np.exp(z) / (prior @ np.exp(z))
            # a bias b_l that belongs to the token is a start of Z
            start = rng.normal(size=M)
            again = layer.softmax(X @ z + X @ start) - layer.attention(X, z + start)
            off = max(float(np.abs(X.T @ b - expected).max()), float(np.abs(again).max()))
            yield Case(f"M = {M}, {length} contextual tokens, case {number}", -off)

    check = judge(
        "tian2023-app-positions",
        instances(),
        unit="random sequences",
        claim="Attention with biases is (5) with the counts weighted by exp(bias)",
        tolerance=1e-13,  # sums of up to 200 weights
        parameters={"cases": cases, "seed": seed},
        by_hand=("equal tokens are added up; exp(z + beta) = exp(z) exp(beta)",),
        proved=all(x.holds for x in (*bags.shares_decide(), *bags.counts_are_diagonal())),
    )
    if check.verdict is Verdict.REFUTED:
        return check
    rng = np.random.default_rng(seed)
    near, far = (decayed_distance(rng, 0.1, length, 60) for length in (1000, 10000))
    flat = decayed_distance(rng, 0.0, 10000, 60)
    return replace(
        check,
        numbers={
            **check.numbers,
            "near": f"{near:.2f}",
            "far": f"{far:.2f}",
            "flat": f"{flat:.3f}",
        },
        readings=(
            Reading("the bias is a factor beside exp(z), position by position", check.verdict),
            Reading(
                "the bias prefers some tokens although tokens are drawn alike at all positions, as "
                "in Section 3.2: the mean of the weighted shares is P(l|n), whatever the bias",
                Verdict.REFUTED,
            ),
        ),
    )


def control_tian2023_app_positions() -> Control:
    """A bias that multiplies the scores is no prior."""
    return Control(
        "The bias multiplied into the scores instead of added.",
        Verdict.REFUTED,
        check_tian2023_app_positions(cases=8, added=False).verdict,
    )


# Spurious tokens

RARE = 10  # common tokens of small probability, 1, ..., RARE


def rare_classes() -> SequenceClasses:
    """Two classes with a frequent common token, ten rare ones and two distinct ones each."""
    return families.layered_classes([0.5, *[0.1 / RARE] * RARE], [[0.25, 0.15]] * 2, 15, [0, 0])


def chance_of_spurious(samples: int, length: int, p: float) -> float:
    """Probability that a common token of two classes is seen in exactly one of them.

    Args:
        samples: number of sequences of each class.
        length: contextual tokens of each.
        p: probability of the token in both classes.
    """
    missed = float(np.exp(samples * length * np.log1p(-p)))
    return 2 * missed * (1 - missed)


def spurious_scores(
    rng: np.random.Generator, samples: int, length: int = 40, time: float = 1e3
) -> tuple[Floats, Floats]:
    """Scores, after training, of rare common tokens that seem distinct, and of those that do not.

    Args:
        rng: source of randomness.
        samples: number of sequences of each of the two classes.
        length: contextual tokens of each.
        time: steps of batch size 1.
    """
    one = rare_classes()
    counted = [families.draw_counts(rng, one, n, samples, length) for n in range(2)]
    seen = np.array([(part > 0).any(axis=0) for part in counted])[:, 1 : 1 + RARE]
    following = np.repeat(np.arange(2), samples)
    data = population.of_counts(
        np.concatenate(counted), following, np.zeros(2 * samples, dtype=np.int64), 98
    )
    end = population.flow(data, population.start(data), 1.0, 0.1, np.array([time]), relative=1e-5)[
        0
    ]
    z = end.z[0, 0, 1 : 1 + RARE]
    return z[seen.sum(axis=0) == 1], z[seen.all(axis=0)]


def check_tian2023_app_spurious(
    sizes: Sequence[int] = (1, 2, 4, 16, 64), repeats: int = 4, seed: int = 7, sign: float = 1.0
) -> Check:
    """Common tokens that seem distinct vanish with more data, and lose the score that they had.

    Args:
        sizes: numbers of sequences of each class, increasing.
        repeats: data sets of each size.
        seed: of the data.
        sign: factor of all scores; the claim needs 1.
    """
    rows = []
    for size in sizes:
        found = [
            spurious_scores(np.random.default_rng((seed, size, k)), size) for k in range(repeats)
        ]
        seeming = np.concatenate([pair[0] for pair in found])
        common = np.concatenate([pair[1] for pair in found])
        every = np.concatenate([seeming, common])
        rows.append((size, len(seeming) / repeats, sign * float(every.mean()), seeming))
    first, last = rows[0], rows[-1]

    def instances() -> Iterator[Case]:
        yield Case(f"{first[0]} sequence of each class: seeming distinct, they gain", first[2])
        yield Case(f"{last[0]} sequences of each class: seen in both, they lose", -last[2])
        for size, number, _, _ in rows:
            expected = RARE * chance_of_spurious(size, 40, 0.1 / RARE)
            # four standard errors of a mean of `repeats` binomial numbers, at least one in a set
            spread = 4 * np.sqrt(max(expected, 0.1) / repeats)
            yield Case(
                f"{size} sequences: number of seemingly distinct", spread - abs(number - expected)
            )
        for before, after in pairwise(rows[1:]):
            yield Case(f"from {before[0]} to {after[0]} sequences", before[1] - after[1])

    return judge(
        "tian2023-app-spurious",
        instances(),
        unit="comparisons of data sets",
        claim="Rare common tokens gain in the smallest data sets, where they seem distinct, and "
        "lose in the largest, where none does; their number is what chance predicts",
        tolerance=0.0,
        numbers={
            "small": f"{first[2]:+.4f}",
            "large": f"{last[2]:+.4f}",
            "number_small": f"{first[1]:.1f}",
            "number_large": f"{last[1]:.1f}",
            "many": str(last[0]),
        },
        parameters={"seed": seed, "repeats": repeats},
    )


def control_tian2023_app_spurious() -> Control:
    """Scores of the wrong sign favour common tokens with more data."""
    return Control(
        "Scores with the opposite sign.",
        Verdict.REFUTED,
        check_tian2023_app_spurious(sizes=(1, 16, 32), repeats=2, sign=-1.0).verdict,
    )
