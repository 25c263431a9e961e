"""Checks of Corollary 2 of Tian et al. (2023) on symmetric classes, and of its induction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge, relative_error
from ntpbook.tian2023.s5_fates.common_grows import two_classes
from ntpcore.tian2023 import attention
from ntpcore.tian2023.classes import (
    SequenceClasses,
    correlations,
    layered_classes,
    unit_scores,
    weak_correlations,
)
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]
XI_BY_HAND = (
    "xi_n > 0 is Theorem 1(a), proved as ours-xi-positive on the page on the gradient for draws "
    "that are even enough, as t >> K^2 is read"
)

# Corollary 2


@dataclass(frozen=True, eq=False)
class Shared:
    """Classes of one query that share their common tokens.

    Attributes:
        name: the instance in words.
        classes: the data.
        M: size of the vocabulary.
        common: number of common tokens, which come first.
        theta: (K,), noise of the numbers of updates, or None for the mean field.
    """

    name: str
    classes: SequenceClasses
    M: int
    common: int
    theta: Floats | None = None


def symmetric_instances(seed: int) -> list[Shared]:
    """Classes as in Corollary 2 that satisfy Assumption 2 at Z = 0, small first."""
    found = []
    for K, M, common, distinct in (
        (2, 200, 2, 1),
        (2, 10**6, 3, 4),
        (3, 10**4, 4, 2),
        (5, 10**5, 4, 6),
        (10, 10**6, 3, 2),
    ):
        rng = np.random.default_rng((seed, 4, K, M))
        w, d = rng.uniform(0.2, 1, size=common), rng.uniform(0.2, 1, size=distinct)
        epsilon = (36 / M) ** 0.25 / (K * (K - 1)) ** 0.5  # between 6 / sqrt(M) and 1 / (K (K - 1))
        w *= (epsilon / (1 - epsilon)) ** 0.5 * np.linalg.norm(d) / np.linalg.norm(w)
        data = layered_classes(list(w), [list(d)] * K, common + K * distinct, (0,) * K)
        found.append(Shared(f"K = {K}, M = {M}, {common} common tokens", data, M, common))
    return found


def shared_identity() -> object:
    """What must vanish, term by term, for common tokens of shared probabilities and one query.

    With w = rho_l e^(z_l), S the sum of w^2 over the common tokens, and norms o, o' of the two
    classes: f_nl = w / o, f_n'l = w / o', e = f_n . f_n' = S / (o o'), and
    f_nl (e f_nl - f_n'l) = -(w^2 / S) (1 - S / o^2) e.
    """
    import sympy as sp

    w, S, o, other = sp.symbols("w S o other", positive=True)
    e = S / (o * other)
    term = w / o * (e * w / o - w / other)
    return sp.simplify(term + w**2 / S * (1 - S / o**2) * e)


def check_tian2023_cor_2(cases: Iterable[Shared], **parameters: int) -> Check:
    """All common tokens fall at every recorded moment of the flow (10) from Z = 0."""
    used = list(cases)
    clocks = np.concatenate([[0.0], np.geomspace(0.01, 1e3, 26)])
    solved = [attention.flow(one.classes, one.M, clocks, theta=one.theta) for one in used]

    def falls() -> Iterator[Case]:
        for one, path in zip(used, solved, strict=True):
            for place in range(len(clocks)):
                f, query = path.f(place), one.classes.query
                beta = attention.coefficients(correlations(f), one.M, one.theta)
                moves = attention.velocity(query, f, beta)[:, : one.common]
                size = np.zeros((one.classes.L, one.common))
                np.add.at(size, np.asarray(query), f[:, : one.common] ** 2)
                slack = float((-moves / size).min()) if (moves < 0).all() else -1.0
                yield Case(f"{one.name}, clock {clocks[place]:.3g}", slack)

    defects = [_defect(one, path) for one, path in zip(used, solved, strict=True)]
    lost = [
        not weak_correlations(correlations(path.f(-1)), one.M).holds
        for one, path in zip(used, solved, strict=True)
    ]
    return judge(
        "tian2023-cor-2",
        falls(),
        unit="recorded moments",
        claim="Every common token falls",
        tolerance=0.0,  # strict signs, which are -1 when they fail
        numbers={
            "defect": f"{max(defects):.0e}",
            "instances": str(len(used)),
            "lost": str(sum(lost)),
        },
        parameters=parameters,
        by_hand=(
            XI_BY_HAND,
            "the sum of the terms over n and n', some class having a distinct token",
            "at all times: S / o_n^2 falls, so all entries of E do, and |lambda_1| stays below 1/K",
        ),
        proved=shared_identity() == 0,
    )


def _defect(one: Shared, path: attention.Path) -> float:
    """Largest difference over time of z between distinct tokens that the symmetry identifies."""
    distinct = (one.classes.M - one.common) // one.classes.K
    z = path.z[:, 0, one.common : one.common + distinct * one.classes.K]
    images = z.reshape(len(path.at), one.classes.K, distinct)
    return float(np.ptp(images, axis=1).max())


def without_hypotheses(seed: int, draws: int = 200) -> dict[str, str]:
    """Corollary 2 with its hypotheses broken, one by one: in how many instances a token grows."""
    uneven = 0  # (2) and (4): other distinct tokens in each class, random Z, random coefficients
    for number in range(draws):
        rng = np.random.default_rng((seed, 5, number))
        K = int(rng.integers(2, 8))
        data = layered_classes(
            list(rng.uniform(0.1, 1, size=3)),
            [list(rng.uniform(0.1, 3, size=int(rng.integers(1, 4)))) for _ in range(K)],
            3 + 3 * K,
            (0,) * K,
        )
        f = unit_scores(data, rng.normal(size=(1, data.M)))
        moves = attention.velocity(data.query, f, rng.uniform(0.1, 1, size=(K, K)))
        uneven += bool((moves[0, :3] >= 0).any())
    clocks = np.concatenate([[0.0], np.geomspace(0.01, 1e3, 26)])
    queries = attention.flow(two_queries(), 1000, clocks)
    noise = symmetric_instances(seed)[2]
    rng = np.random.default_rng(seed)
    noisy = Shared(
        noise.name, noise.classes, noise.M, noise.common, 0.1 * rng.normal(size=noise.classes.K)
    )
    shaken = attention.flow(noisy.classes, noisy.M, clocks, theta=noisy.theta)
    E = correlations(unit_scores(two_queries()))
    return {
        "uneven": str(uneven),
        "draws": str(draws),
        "queries": f"{np.diff(queries.z[:, :, :2], axis=0).max():.2g}",
        "queries_lambda": f"{np.abs(np.linalg.eigvalsh(E)).max():.2g}",
        "noise_rises": str(int((np.diff(shaken.z[:, 0, : noisy.common], axis=0) >= 0).sum())),
        "noise_defect": f"{_defect(noisy, shaken):.2g}",
    }


def two_queries() -> SequenceClasses:
    """As in Corollary 2, but the third class has a query of its own; strongly correlated."""
    return layered_classes([1.0, 0.5], [[0.1]] * 3, 5, (0, 0, 1))


def control_tian2023_cor_2() -> Control:
    """Hypothesis (3) broken: probabilities of the common tokens that depend on the class."""
    data = two_classes((4, 2, 1, 0), (1, 4, 0, 4))
    return Control(
        "Hypothesis (3) broken: two common tokens with weights 4, 2 in one class and 1, 4 in the "
        "other, each class with a distinct token, under Assumption 2.",
        Verdict.REFUTED,
        check_tian2023_cor_2([Shared("unequal probabilities", data, 1000, 2)]).verdict,
    )


# Equations (102) and (106)


def chain(one: Shared, n: int, squared: bool) -> tuple[float, float, float]:
    """The first three members of (102) for a class at Z = 0: o_n, sum c~^2 and sum P^2 e^(2 z).

    Args:
        one: the instance.
        n: the class.
        squared: whether o carries the square that the proof defines it with.
    """
    P = one.classes.probabilities[n]
    c = P * np.exp(np.zeros_like(P))  # c~ at Z = 0
    norm = float(np.linalg.norm(c))
    return norm ** (2 if squared else 1), float((c**2).sum()), float((P**2).sum())


def check_tian2023_eq_106(cases: Iterable[Shared], squared: bool = False) -> Check:
    """The chain of equalities as printed, whose ends lack their squares."""
    return _judge_chain("tian2023-eq-106", cases, squared)


def check_tian2023_eq_106_corrected(cases: Iterable[Shared], squared: bool = True) -> Check:
    """The chain of equalities with o^2 at its ends."""
    return _judge_chain("tian2023-eq-106-corrected", cases, squared)


def _judge_chain(label: str, cases: Iterable[Shared], squared: bool) -> Check:
    """Both ends and the members in between, for every class of every instance."""
    used = list(cases)

    def errors() -> Iterator[Case]:
        for one in used:
            base = chain(one, 0, squared)
            for n in range(one.classes.K):
                members = chain(one, n, squared)
                wrong = [relative_error(x, y) for x in (base[0], *members) for y in members]
                shown = ", ".join(f"{value:.3g}" for value in members)
                yield Case(f"{one.name}, class {n}, members {shown}", -max(wrong))

    norm = "o_n^2" if squared else "o_n"
    return judge(
        label,
        errors(),
        unit="classes",
        claim=f"{norm}, the sum of c~^2 and that of P^2 e^(2 z) are equal, and equal for all "
        "classes",
        tolerance=1e-12,  # sums of a few rounded terms
        by_hand=(
            "c~ = P e^z by definition",
            "the sum over the distinct tokens of one class, taken in the order of phi, is that of "
            "the other, term by term",
        ),
        proved=squared and chain_identity() == 0,
    )


def chain_identity() -> object:
    """c~^2 - P^2 e^(2 z), what (102) says of one token, as an expression of sympy."""
    import sympy as sp

    P, z = sp.symbols("P z", real=True)
    return sp.simplify((P * sp.exp(z)) ** 2 - P**2 * sp.exp(2 * z))


def smallest() -> Shared:
    """Two classes of two tokens: one common, one distinct, half each."""
    return Shared("two tokens of 1/2", layered_classes([1.0], [[1.0]] * 2, 3, (0, 0)), 100, 1)


def control_tian2023_eq_106(cases: Iterable[Shared]) -> Control:
    """With the squares the chain holds, and must not be refuted."""
    return Control(
        "The chain with its squares put back: a check that refutes everything would refute it, "
        "too.",
        Verdict.PROVED,
        check_tian2023_eq_106(cases, squared=True).verdict,
    )


def control_tian2023_eq_106_corrected() -> Control:
    """Without hypothesis (2) the norms of the classes differ."""
    data = layered_classes([1.0], [[1.0], [2.0]], 3, (0, 0))
    return Control(
        "Hypothesis (2) broken: one class has a heavier distinct token.",
        Verdict.REFUTED,
        check_tian2023_eq_106_corrected([Shared("unequal", data, 100, 1)]).verdict,
    )
