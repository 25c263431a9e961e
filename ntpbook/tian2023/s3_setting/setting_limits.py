"""Checks of Section 3.3: Assumption 1, equations (5) and (6), Lemma 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s3_setting import setting_symbols as symbols
from ntpcore.tian2023 import classes as families
from ntpcore.tian2023 import counts, layer, population
from ntpcore.tian2023.classes import SequenceClasses
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]
Scores = Callable[[SequenceClasses, Floats], Floats]


# Assumption 1


def decoder_time_movement(ratio: float, M: int = 1000, K: int = 4) -> float:
    """How far the f_n move while the decoder reaches an error of one half.

    Args:
        ratio: eta_Y / eta_Z.
        M: size of the vocabulary.
        K: number of equicorrelated classes.
    """
    one = families.equicorrelated_classes(K, K + 1, 0.3)
    data = population.of_classes(one, M=M)
    times = np.geomspace(1, 100 * K, 120)
    states = population.flow(data, population.start(data), 1.0, 1 / ratio, times)
    before = population.inputs(data, population.scores(data, population.start(data).z))
    likelihoods = np.array([population.log_likelihood(data, state) for state in states])
    half = int(np.argmax(likelihoods > np.log(0.5)))
    after = population.inputs(data, population.scores(data, states[half].z))
    return float(np.linalg.norm(after - before, axis=2).max())


def check_tian2023_asm_1(seed: int = 7, cases: int = 60, slope: float = 0.0) -> Check:
    """Assumption 1: (a) order does not matter, (b) T = 128 is not yet long, (c) f_n stand still.

    Args:
        seed: of the sequences.
        cases: number of sequences for (a).
        slope: bias of the score per position; the assumption needs 0.
    """
    rng = np.random.default_rng(seed)
    ratios = (1.0, 10.0, 100.0, 1000.0)
    moved = [decoder_time_movement(ratio) for ratio in ratios]

    def instances() -> Iterator[Case]:
        for number in range(cases):
            M, length = 8, 1 + number % 40
            tokens, z = rng.integers(M, size=length), rng.normal(size=M)
            outputs = []
            for order in (np.arange(length), rng.permutation(length)):
                X = layer.one_hot(tuple(tokens[order].tolist()), M)
                scores = X @ z + slope * np.arange(length)
                b = layer.softmax(scores)
                outputs.append(layer.unit(X.T @ b))
            off = float(np.abs(outputs[0] - outputs[1]).max())
            yield Case(f"(a) {length} contextual tokens shuffled, case {number}", -off)
        for quick, slow, ratio in zip(moved, moved[1:], ratios, strict=False):
            yield Case(f"(c) eta_Y / eta_Z from {ratio:g} to {10 * ratio:g}", 1 - slow / quick)

    small = families.synthetic_classes(2, 1)
    check = judge(
        "tian2023-asm-1",
        instances(),
        unit="shuffled sequences and ratios of learning rates",
        claim="Shuffling the context changes nothing, and the faster the decoder is, the less f_n "
        "moves while it learns",
        tolerance=1e-13,  # sums of up to 40 weights in another order
        numbers={
            "distance": f"{context_distance(rng, small, 127, 400):.2f}",
            "moved_1": f"{moved[0]:.2g}",
            "moved_10": f"{moved[1]:.2g}",
            "moved_1000": f"{moved[3]:.2g}",
            "exponent": f"{np.polyfit(np.log(ratios), np.log(moved), 1)[0]:.2f}",
        },
        parameters={"seed": seed, "cases": cases},
    )
    return check


def context_distance(
    rng: np.random.Generator, one: SequenceClasses, length: int, samples: int
) -> float:
    """Mean of |X^T b - c|_1 over contexts of the first class, at Z = 0."""
    counted = families.draw_counts(rng, one, 0, samples, length)
    return float(np.abs(counted / length - one.probabilities[0]).sum(axis=1).mean())


def control_tian2023_asm_1() -> Control:
    """A bias by position makes the order matter."""
    return Control(
        "A bias of a hundredth for each position, against (a).",
        Verdict.REFUTED,
        check_tian2023_asm_1(cases=10, slope=0.01).verdict,
    )


# Equations (5) and (6), Lemma 2


def check_tian2023_eq_5(
    cases: int = 60,
    seed: int = 7,
    formula: Scores = lambda one, z: families.attention_scores(one, z),
) -> Check:
    """(5) is what a sequence attends to whose counts are exactly proportional to P.

    Args:
        cases: number of random classes.
        seed: of the classes and scores.
        formula: c from classes and z.
    """

    def instances() -> Iterator[Case]:
        rng = np.random.default_rng(seed)
        for number in range(cases):
            M = 2 + number % 8
            counted = rng.integers(0, 6, size=M)
            counted[0] += 1
            one = SequenceClasses((counted / counted.sum())[None], (0,))
            z = (0.3, 1.0, 5.0)[number % 3] * rng.normal(size=(1, M))
            # the sequence is written out twice as long: only shares count
            tokens = np.repeat(np.arange(M), 2 * counted)
            X = layer.one_hot(tuple(tokens.tolist()), M)
            expected = X.T @ layer.attention(X, z[0])
            off = float(np.abs(formula(one, z)[0] - expected).max())
            yield Case(f"M = {M}, {len(tokens)} contextual tokens, case {number}", -off)

    return judge(
        "tian2023-eq-5",
        instances(),
        unit="random classes",
        claim="The attention of a sequence, added up by token, is (5) with P the shares of tokens",
        tolerance=1e-13,  # sums of up to a hundred weights
        parameters={"cases": cases, "seed": seed},
        by_hand=("equal tokens of a sequence have equal weights and are added up",),
        proved=symbols.length_cancels() and symbols.counts_are_diagonal(),
    )


def control_tian2023_eq_5() -> Control:
    """Scores without the probabilities forget how often a token occurs."""

    def unweighted(one: SequenceClasses, z: Floats) -> Floats:
        weights = np.exp(z[list(one.query)]) * (one.probabilities > 0)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    return Control(
        "The factor P(l|m,n) left out.",
        Verdict.REFUTED,
        check_tian2023_eq_5(cases=10, formula=unweighted).verdict,
    )


LENGTHS = (10, 100, 1000, 10**4, 10**5, 10**6)  # numbers of contextual tokens


def mean_distances(seed: int, samples: int = 300, drift: float = 0.0) -> tuple[list[float], float]:
    """Mean of |X^T b - c|_1 at each of `LENGTHS` for a random class, and its predicted constant.

    Args:
        seed: of the class and the sequences.
        samples: number of sequences of each length.
        drift: share of positions filled with token 0, as no class would; the lemma needs 0.
    """
    rng = np.random.default_rng(seed)
    P, z = rng.dirichlet(np.ones(30)), rng.normal(size=30)
    drawn = (1 - drift) * P + drift * np.eye(30)[0]
    e = np.exp(z)
    means = []
    for length in LENGTHS:
        q = rng.multinomial(length, drawn, size=samples) / length
        means.append(float(np.abs(q * e / (q @ e)[:, None] - P * e / (P @ e)).sum(axis=1).mean()))
    return means, counts.distance_constant(P, z)


def check_tian2023_lem_2(seed: int = 7, samples: int = 300, drift: float = 0.0) -> Check:
    """X^T b tends to c, with the constant that the delta method gives; the matrices follow.

    Args:
        seed: of the class and the sequences.
        samples: number of sequences of each length.
        drift: share of positions filled with token 0, as no class would; the lemma needs 0.
    """
    means, constant = mean_distances(seed, samples, drift)
    scaled = [mean * length**0.5 for mean, length in zip(means, LENGTHS, strict=True)]
    cases = [
        # an eighth: sampling error of the mean, and finite length at 10
        Case(f"{length} contextual tokens", 0.125 - abs(one / constant - 1))
        for length, one in zip(LENGTHS, scaled, strict=True)
    ]
    return judge(
        "tian2023-lem-2",
        cases,
        unit="lengths",
        claim="The mean distance of X^T b from c, times the root of the length, is the constant of "
        "the delta method up to an eighth",
        tolerance=0.0,
        numbers={
            "exponent": f"{np.polyfit(np.log(LENGTHS), np.log(means), 1)[0]:.3f}",
            "constant": f"{constant:.2f}",
            "least": f"{min(scaled):.2f}",
            "most": f"{max(scaled):.2f}",
        },
        parameters={"seed": seed, "samples": samples},
        by_hand=(
            "the strong law of large numbers: the shares q of the tokens tend to P almost surely",
            "X^T b = q e^z / sum(q e^z) is a continuous function of q near P, the sum being "
            "positive",
        ),
        proved=symbols.length_cancels() and symbols.counts_are_diagonal(),
    )


def control_tian2023_lem_2() -> Control:
    """Sequences in which one token is too frequent tend to another limit."""
    return Control(
        "A hundredth of all positions filled with one token.",
        Verdict.REFUTED,
        check_tian2023_lem_2(drift=0.01).verdict,
    )


def check_tian2023_eq_6(cases: int = 80, seed: int = 7, squared: bool = False) -> Check:
    """Both sides of (6) at finite length: X^T diag(b) X is diag(X^T b), so one limit gives both.

    Args:
        cases: number of random sequences.
        seed: of the sequences.
        squared: compare with the outer product of X^T b instead, which is wrong.
    """

    def instances() -> Iterator[Case]:
        rng = np.random.default_rng(seed)
        for number in range(cases):
            M, length = 2 + number % 12, (1, 5, 40, 300)[number % 4]
            X = layer.one_hot(tuple(rng.integers(M, size=length).tolist()), M)
            z = 2 * rng.normal(size=M)
            b = layer.attention(X, z)
            v = X.T @ b
            expected = np.outer(v, v) if squared else np.diag(v)
            q = X.mean(axis=0)
            off = max(
                float(np.abs(X.T @ np.diag(b) @ X - expected).max()),
                float(np.abs(v - q * np.exp(z) / (q @ np.exp(z))).max()),
            )
            yield Case(f"M = {M}, {length} contextual tokens, case {number}", -off)

    return judge(
        "tian2023-eq-6",
        instances(),
        unit="random sequences",
        claim="At every length X^T b is (5) with the shares of tokens for P, and X^T diag(b) X is "
        "the diagonal matrix of it",
        tolerance=1e-13,  # sums of up to 300 weights
        parameters={"cases": cases, "seed": seed},
        by_hand=("the limits themselves are those of Lemma 2",),
        proved=symbols.length_cancels() and symbols.counts_are_diagonal(),
    )


def control_tian2023_eq_6() -> Control:
    """The outer product of X^T b is not X^T diag(b) X."""
    return Control(
        "The outer product of X^T b with itself in the place of the diagonal matrix.",
        Verdict.REFUTED,
        check_tian2023_eq_6(cases=12, squared=True).verdict,
    )
