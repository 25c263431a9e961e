"""Checks of what Section 5 of Tian et al. (2023) reads from Theorem 3: scanning, and the prior."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s5_fates.growth_runs import CLOCKS, Run, gain_identities, run_of
from ntpcore.tian2023 import attention
from ntpcore.tian2023.classes import layered_classes
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]
INTEGRATOR = 1e-7  # z is right to about 1e-9, and r is an exponential of it over a difference

# Token scanning


def check_tian2023_app_scanning(cases: Iterable[Run], **parameters: int) -> Check:
    """Rarer distinct tokens are dwarfed first: for every level, and at every moment.

    For Z(0) = 0 and P(l) < P(l') < P(l_0): r_(l_0/l) is larger than r_(l_0/l') at all times, grows
    faster, reaches any level above its start no later, and the quotient f_l0^2 / f_l^2 has grown by
    a larger factor, (1 + r(0) chi) / (1 + r(0)), but never by more than chi.
    """
    numbers: dict[str, str] = {}

    def slacks() -> Iterator[Case]:
        for run in cases:
            P = run.path.classes.probabilities[run.n]
            ranked = sorted(run.tokens, key=lambda x: -float(P[x]))
            first = ranked[0]
            f = run.f
            chi = attention.growth(run.z[:, first], float(run.z[0, first]))
            quotients = [(f[:, first] / f[:, x]) ** 2 for x in ranked[1:]]
            for key, of_these in (("rises", f[1] > f[0]), ("drops", f[-1] < f[0])):
                count = int(of_these[ranked[1:]].sum())
                numbers[key] = str(int(numbers.get(key, 0)) + count)
            numbers["others"] = str(int(numbers.get("others", 0)) + len(ranked) - 1)
            for q in quotients:
                yield Case(f"{run.name}, at most chi", float((chi / (q / q[0]) - 1).min()))
            for common_one, rare in pairwise(quotients):
                yield from _scanned_first(run.name, common_one, rare)

    found = list(slacks())
    return judge(
        "tian2023-app-scanning",
        found,
        unit="comparisons",
        claim="Of two distinct tokens the rarer one is further behind the dominant token, falls "
        "back faster, and by a larger factor",
        tolerance=INTEGRATOR,
        numbers=numbers,
        parameters=parameters,
        by_hand=(
            "chi grows, by Theorem 2, and r(0) is larger for the rarer token",
            "(1 + r chi) / (1 + r) grows in r, as its derivative is (chi - 1) / (1 + r)^2",
        ),
        proved=gain_identities()["(11)"] == 0 and scanning_identity() == 0,
    )


def _scanned_first(name: str, common_one: Floats, rare: Floats) -> Iterator[Case]:
    """Slack of level, speed and factor between the quotients of two tokens of a class."""
    yield Case(f"{name}, level", float((rare / common_one - 1).min()))
    speeds = np.diff(rare) / np.diff(common_one)
    yield Case(f"{name}, speed", float((speeds - 1).min()))
    factors = (rare / rare[0]) / (common_one / common_one[0])
    yield Case(f"{name}, factor", float((factors - 1).min()))


def scanning_identity() -> object:
    """The derivative of (1 + r chi) / (1 + r) in r, minus (chi - 1) / (1 + r)^2."""
    import sympy as sp

    r, chi = sp.symbols("r chi", positive=True)
    return sp.simplify(((1 + r * chi) / (1 + r)).diff(r) - (chi - 1) / (1 + r) ** 2)


def from_zero(cases: Sequence[Run]) -> list[Run]:
    """The runs that start at Z = 0 and have three distinct tokens or more."""
    return [run for run in cases if not run.path.z[0].any() and len(run.tokens) > 2]


def control_tian2023_app_scanning() -> Control:
    """A start that favours the rarest token turns the order round."""
    data = layered_classes([1.0], [[1.0, 0.7, 0.4]] * 2, 7, (0, 0))
    start = np.zeros((1, 7))
    start[0, 3] = 0.8  # the rarest token of the first class gets the second place
    return Control(
        "Z(0) not zero: the rarest of three distinct tokens starts with a bonus.",
        Verdict.REFUTED,
        check_tian2023_app_scanning([run_of("a bonus", data, 100, 0, start)]).verdict,
    )


# The start as a prior


def check_tian2023_app_prior(
    starts: Iterable[tuple[float, float]], with_start: bool = True
) -> Check:
    """Whoever has the larger P e^z at the start stays ahead, and ever further.

    Args:
        starts: z(0) of two tokens of one class; P of the first is larger by a tenth.
        with_start: whether the predicted winner is that of P e^z(0), or that of P alone.
    """
    data = layered_classes([1.0], [[1.1, 1.0], [1.0, 0.5]], 5, (0, 0))
    P, winners = data.probabilities[0], []

    def slacks() -> Iterator[Case]:
        for first, second in starts:
            start = np.zeros((1, 5))
            start[0, 1:3] = first, second
            z = attention.flow(data, 1000, CLOCKS, start).z[:, 0]
            lead = np.log(P[1] / P[2]) + z[:, 1] - z[:, 2]  # ln f_1 / f_2
            expected = lead[0] if with_start else np.log(P[1] / P[2])
            winners.append(bool(lead[-1] > 0))
            steps = np.diff(lead * np.sign(expected))
            slack = float((steps / np.abs(lead[0])).min()) if (steps > 0).all() else -1.0
            yield Case(f"z(0) = ({first:.3g}, {second:.3g})", slack)

    found = list(slacks())
    return judge(
        "tian2023-app-prior",
        found,
        unit="starts",
        claim="The token with the larger P e^z at the start leads for ever, by more and more",
        tolerance=0.0,  # strict signs, which are -1 when they fail
        numbers={"first": str(sum(winners)), "second": str(len(winners) - sum(winners))},
        by_hand=("chi > 0, so that r(t) has the sign of r(0)", "chi grows, by Theorem 2"),
        proved=with_start and gain_identities()["(11)"] == 0,
    )


def starts_around_zero(seed: int, count: int) -> list[tuple[float, float]]:
    """Starts that fluctuate around zero, the first two favouring either token."""
    rng = np.random.default_rng((seed, 8))
    drawn = rng.normal(scale=0.3, size=(count, 2))
    return [(0.0, 0.0), (0.0, 0.2), *((float(a), float(b)) for a, b in drawn)]


def control_tian2023_app_prior() -> Control:
    """The probabilities alone do not tell who wins."""
    return Control(
        "The winner predicted from the probabilities alone.",
        Verdict.REFUTED,
        check_tian2023_app_prior([(0.0, 0.2)], with_start=False).verdict,
    )
