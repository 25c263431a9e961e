"""Checks of Appendix H: token counts of one sequence against their probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s3_setting import setting_symbols as symbols
from ntpcore.tian2023 import counts, layer
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

LENGTHS = (1, 2, 5, 10, 50, 127, 1000, 10**4, 10**6)  # T - 1
DELTAS = (0.9, 0.5, 0.1, 0.01, 1e-4, 1e-8)
CHANCES = (1e-6, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.99)

HOEFFDING = (
    "Markov's inequality for exp(s (count - length P)), and independence of the positions, which "
    "turns its mean into a power",
    "from a second derivative of at most 1/4 to phi(s) <= s^2 / 8, by integrating twice",
)

Radius = Callable[[int, float], float]


def check_tian2023_lem_18(seed: int = 7, cases: int = 60, radius: Radius = counts.radius) -> Check:
    """Lemma 18: the identities at every length, and the exact probability that one token strays.

    Args:
        seed: of the sequences on which the identities are compared.
        cases: number of sequences.
        radius: the allowed distance from (length, delta).
    """

    def instances() -> Iterator[Case]:
        for length, delta, p in product(LENGTHS, DELTAS, CHANCES):
            failure = counts.token_failure(length, p, radius(length, delta))
            where = f"{length} contextual tokens, delta = {delta:g}, P = {p:g}"
            yield Case(where, 1 - failure / delta)

    identities = max(_identity_error(np.random.default_rng((seed, k))) for k in range(cases))
    check = judge(
        "tian2023-lem-18",
        instances(),
        unit="triples of length, delta and probability",
        claim="One token strays by more than the radius with probability at most delta",
        tolerance=1e-9,  # of scipy's binomial tails, relative
        witness="This is the exact binomial probability.",
        parameters={"seed": seed, "cases": cases},
        by_hand=HOEFFDING,
        proved=symbols.hoeffding_steps() and symbols.counts_are_diagonal() and identities < 1e-13,
    )
    if check.verdict is Verdict.REFUTED:
        return check
    three = [Fraction(1, 3)] * 3
    delta = 0.85
    joint = counts.joint_failure(1, three, Fraction(counts.radius(1, delta)))
    lengths, pairs = violated_lengths()
    return replace(
        check,
        evidence=f"{check.evidence} The identities (134) and (135) hold with errors of at most "
        f"{identities:.0e} on {cases} sequences. (T - 1) q_l is binomial, not T q_l.",
        numbers={
            **check.numbers,
            "joint": str(joint),
            "delta": f"{delta:g}",
            "radius": f"{counts.radius(1, delta):.3f}",
            "longest": str(max(lengths)),
            "pairs": str(pairs),
            "identity": f"{identities:.0e}",
            "half": f"{counts.token_failure(127, 0.5, counts.radius(127, 0.5)):.3f}",
        },
        readings=(
            Reading("for each token by itself", check.verdict),
            Reading(
                "for all tokens at once: one contextual token (T = 2), three equally likely tokens "
                f"and delta = {delta:g} give a radius of {counts.radius(1, delta):.3f}, below the "
                f"2/3 by which the drawn token strays: failure has probability {joint}, exactly",
                Verdict.REFUTED,
            ),
        ),
    )


def violated_lengths(longest: int = 127) -> tuple[list[int], int]:
    """Lengths at which equally likely tokens break Lemma 18's radius for all tokens at once.

    Every attainable distance is tried, with the delta whose radius it is.

    Args:
        longest: largest number of contextual tokens.

    Returns:
        the lengths with a violation, and the number of pairs of length and vocabulary tried.
    """
    found, tried = [], 0
    for length in [*range(1, 21), 40, 80, longest]:
        for tokens in (2, 3, 4, 8, 20, 50, 1000):
            tried += 1
            p = 1 / tokens
            for k in range(length + 1):
                distance = abs(k / length - p)
                delta = 2 * math.exp(-2 * length * distance**2)
                if delta >= 1:
                    continue
                # a distance that is reached but not allowed: the radius just below it
                failure = counts.even_failure(length, tokens, distance - 1e-12)
                if failure > delta + 1e-9:  # failure is one minus a probability
                    found.append(length)
                    break
    return sorted(set(found)), tried


def _identity_error(rng: np.random.Generator) -> float:
    """Error of (134) and (135), for a random vector h and a random sequence."""
    M, length = int(rng.integers(2, 9)), int(rng.integers(1, 200))
    tokens = tuple(rng.integers(M, size=length).tolist())
    X, h = layer.one_hot(tokens, M), rng.normal(size=M)
    q = np.bincount(tokens, minlength=M) / length
    first = np.abs(X.T @ (X @ h) / length - q * h).max()
    second = np.abs(X.T @ np.diag(X @ h) @ X / length - np.diag(q * h)).max()
    return float(max(first, second))


def control_tian2023_lem_18() -> Control:
    """A radius without the factor 2 below the root is too small."""
    return Control(
        "A radius that is smaller by the factor 2.",
        Verdict.REFUTED,
        check_tian2023_lem_18(cases=1, radius=lambda n, delta: counts.radius(n, delta) / 2).verdict,
    )


UniformRadius = Callable[[int, float, int], float]


def check_ours_uniform_counts(
    radius: UniformRadius = counts.uniform_radius, largest: int = 12
) -> Check:
    """All tokens at once, within the smaller of two radii: exact multinomial probabilities.

    Args:
        radius: the allowed distance from (length, delta, tokens).
        largest: largest length for which uneven probabilities are treated with exact fractions.
    """

    def instances() -> Iterator[Case]:
        for length, tokens, delta in product(
            (1, 2, 3, 8, 50, 127, 500), (1, 2, 3, 10, 100, 1000), DELTAS
        ):
            failure = counts.even_failure(length, tokens, radius(length, delta, tokens))
            where = f"{length} contextual tokens, {tokens} equally likely, delta = {delta:g}"
            yield Case(where, 1 - failure / delta)
        for length, parts in product((1, 2, 5, largest), ((1, 1), (1, 2, 3), (8, 1, 1, 1, 1))):
            p = [Fraction(part, sum(parts)) for part in parts]
            for delta in DELTAS:
                r = Fraction(radius(length, delta, len(p)))
                failure = float(counts.joint_failure(length, p, r))
                where = f"{length} contextual tokens, chances {parts}, delta = {delta:g}"
                yield Case(where, 1 - failure / delta)

    check = judge(
        "ours-uniform-counts",
        instances(),
        unit="triples of length, distribution and delta",
        claim="All tokens keep within the radius with probability at least 1 - delta",
        # a probability near 1 minus rounding, held against delta = 1e-8
        tolerance=1e-5,
        by_hand=(
            *HOEFFDING,
            "the union bound over the tokens that can occur",
            "for the second radius, the inequality of Dvoretzky, Kiefer and Wolfowitz with "
            "Massart's constant, and the triangle inequality for a difference of two values of a "
            "distribution function",
        ),
        proved=symbols.hoeffding_steps(),
    )
    # where the second radius is the smaller one: 2 S / delta > (2 / delta)^4
    tokens = next(S for S in range(1, 10**7) if math.log(2 * S / 0.5) > 4 * math.log(2 / 0.5))
    numbers = {
        "small": f"{counts.uniform_radius(127, 0.05, 20):.3f}",
        "single": f"{counts.radius(127, 0.05):.3f}",
        "switch": str(tokens),
    }
    return replace(check, numbers={**check.numbers, **numbers})


def control_ours_uniform_counts() -> Control:
    """The radius of one token, demanded of all at once."""
    return Control(
        "The radius of Lemma 18 demanded of all tokens at once.",
        Verdict.REFUTED,
        check_ours_uniform_counts(radius=lambda n, delta, _: counts.radius(n, delta)).verdict,
    )
