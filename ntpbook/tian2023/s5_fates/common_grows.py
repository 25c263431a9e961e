"""Check of ours beside Theorem 2 of Tian et al. (2023): a common token that grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpcore.tian2023 import attention
from ntpcore.tian2023.classes import (
    SequenceClasses,
    common_tokens,
    correlations,
    random_classes,
    unit_scores,
    weak_correlations,
)
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]
Weights = tuple[int, ...]
FIRST: Weights = (2, 1, 0)
SECOND: Weights = (1, 4, 4)


def two_classes(first: Weights = FIRST, second: Weights = SECOND) -> SequenceClasses:
    """Two classes of one query with these weights of their tokens."""
    P = np.array([first, second], dtype=np.float64)
    return SequenceClasses(P / P.sum(axis=1, keepdims=True), (0, 0))


def exact_speed(first: Weights, second: Weights, token: int) -> Fraction:
    """Speed of a token of two classes at Z = 0, times |p_1| |p_2| / (eta_Z gamma beta).

    With e = f_1 . f_2, (10) gives beta (e (f_1l^2 + f_2l^2) - 2 f_1l f_2l); the norms of the two
    classes appear squared, so that the product is rational.
    """
    inner = sum(a * b for a, b in zip(first, second, strict=True))
    one, two = sum(a * a for a in first), sum(b * b for b in second)
    a, b = first[token], second[token]
    return inner * (Fraction(a * a, one) + Fraction(b * b, two)) - 2 * a * b


def exact_correlation_squared(first: Weights, second: Weights) -> Fraction:
    """(f_1 . f_2)^2 at Z = 0; the eigenvalues of E are +-f_1 . f_2."""
    inner = sum(a * b for a, b in zip(first, second, strict=True))
    return Fraction(inner**2, sum(a * a for a in first) * sum(b * b for b in second))


@cache
def two_class_identities() -> dict[str, object]:
    """Expressions of sympy that must vanish: equal beta of two classes, and the criterion."""
    import sympy as sp

    e, a, b, beta, M = sp.symbols("e a b beta M", positive=True)
    prime = sp.eye(2) - sp.Matrix([[1, e], [e, 1]]).inv()
    q1, q0 = M / (M - 1), M / (M - 1) ** 2
    # over k != n only k = n' is left
    betas = [q1 * prime[n, 1 - n] + q0 * (1 - prime[1 - n, 1 - n]) for n in (0, 1)]
    speed = beta * (a * (e * a - b) + b * (e * b - a))
    return {
        "beta": sp.simplify(betas[0] - betas[1]),
        "criterion": sp.simplify(speed - beta * a * b * ((a / b + b / a) * e - 2)),
        "positive": sp.simplify(
            betas[0] - (q1 * e + q0) / (1 - e**2)  # both summands are positive for 0 < e < 1
        ),
    }


def check_ours_common_grows(
    first: Weights = FIRST,
    second: Weights = SECOND,
    vocabularies: Sequence[int] = (200, 1000, 10**4, 10**6),
    draws: int = 300,
    seed: int = 7,
    **parameters: int,
) -> Check:
    """A common token of two classes grows at Z = 0 although Assumption 2 holds: exact fractions.

    Args:
        first: weights of the tokens in class 1.
        second: weights of the tokens in class 2.
        vocabularies: values of M for which Assumption 2 is tested.
        draws: number of random sets of classes that are counted.
        seed: of these.
        parameters: what else repeats the check on its page.
    """
    squared = exact_correlation_squared(first, second)
    speed = exact_speed(first, second, 0)
    scale = sum(a * b for a, b in zip(first, second, strict=True))

    def cases() -> Iterator[Case]:
        for M in vocabularies:
            holds = Fraction(36, M) <= squared < Fraction(1, 4) and first[0] * second[0] > 0
            yield Case(f"M = {M}", float(speed / scale) if holds and speed > 0 else -1.0)

    identities = two_class_identities()
    least = -(-36 * squared.denominator // squared.numerator)
    numbers = {
        "speed": str(speed),
        "squared": str(squared),
        "least_M": str(least),
        **_fate(first, second),
        **_shares(draws, seed),
    }
    return judge(
        "ours-common-grows",
        cases(),
        unit="vocabularies",
        claim="Assumption 2 holds as printed, a token common to both classes grows at Z = 0, in "
        "exact fractions, and beta is equal and positive for both classes",
        tolerance=0.0,  # fractions
        numbers=numbers,
        parameters={"seed": seed, **parameters},
        by_hand=(
            "under (7) beta is equal for both classes, too, as E is symmetric in them, and "
            "positive early: to first order in t every gamma beta_nn' is eta_Y t / (K M)",
            "Assumption 2 gets weaker as M grows, and the sign of the speed does not depend on M",
        ),
        proved=all(value == 0 for value in identities.values()),
    )


def paths(
    first: Weights = FIRST, second: Weights = SECOND, last: float = 1e5
) -> tuple[attention.Path, attention.Path, Floats]:
    """The two classes under (10) and under the true flow, with eta_Y = 1, eta_Z = 1/2, M = 1000.

    Returns:
        both flows, and the steps of batch size 1 at which they are recorded.
    """
    data = two_classes(first, second)
    steps = np.concatenate([[0.0], np.geomspace(1, last, 126)])
    clocks = attention.clock(1000, 2, 1.0, 0.5, steps)
    true = attention.coupled_flow(data, 1000, 1.0, 0.5, steps)
    return attention.flow(data, 1000, clocks), true, steps


def _fate(first: Weights, second: Weights) -> dict[str, str]:
    """How high the common token rises, when it turns, and where it ends."""
    found: dict[str, str] = {}
    *both, steps = paths(first, second)
    for name, path in zip(("", "_true"), both, strict=True):
        z = path.z[:, 0, 0]
        top = int(z.argmax())
        found |= {
            f"peak{name}": f"{z[top]:.2g}",
            f"turn{name}": f"{steps[top]:.0f}",
            f"end{name}": f"{z[-1]:.2g}",
        }
    return found


def _shares(draws: int, seed: int, M: int = 10**6) -> dict[str, str]:
    """In how many random draws at Z = 0 a common token grows, with and without Assumption 2."""
    grown, weak, both = 0, 0, 0
    for number in range(draws):
        rng = np.random.default_rng((seed, 3, number))
        K = int(rng.integers(2, 6))
        mass = float(rng.uniform(0.05, 0.6))
        data = random_classes(rng, K, 4 + 2 * K, int(rng.integers(2, 5)), 2, 1, mass)
        E = correlations(unit_scores(data))
        f, beta = unit_scores(data), attention.coefficients(E, M)
        rises = bool((attention.velocity(data.query, f, beta)[0, common_tokens(data)] > 0).any())
        holds = weak_correlations(E, M).holds
        grown, weak, both = grown + rises, weak + holds, both + (rises and holds)
    return {"draws": str(draws), "grown": str(grown), "weak": str(weak), "both": str(both)}


def control_ours_common_grows() -> Control:
    """More equal shares of the first token: it falls, although Assumption 2 holds."""
    return Control(
        "Weights (2, 1, 0) and (3, 3, 8), which satisfy Assumption 2, but have the first token "
        "more evenly in both classes.",
        Verdict.REFUTED,
        check_ours_common_grows((2, 1, 0), (3, 3, 8), draws=1).verdict,
    )
