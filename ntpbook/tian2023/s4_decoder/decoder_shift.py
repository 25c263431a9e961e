"""Checks of the shift of time between h* and h in Tian et al. (2023): Remark 2, also corrected."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ntpbook.shared.judge import Case, judge, relative_error
from ntpbook.tian2023.s4_decoder.decoder_euler import (
    ROUNDING,
    Heights,
    shift_is_half_a_logarithm,
    steps_are_proved,
)
from ntpcore.tian2023 import shift
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict


def check_tian2023_rem_2(
    runs: Sequence[Heights], factor: float = 1.0, power: float = math.inf, **parameters: int
) -> Check:
    """A shift of O(ln M) for all s, and h* - h of the order ln M/(M s).

    Args:
        runs: long recursions beside their curves.
        factor: the constant in O(ln M).
        power: judge only eta_Y s <= M^power; infinite in the remark.
        parameters: what repeats the runs.
    """

    def cases(constant: float) -> Iterator[Case]:
        for run in runs:
            for k, s in enumerate(run.s):
                if run.eta * s <= run.M**power:
                    name = f"M = {run.M}, eta_Y = {run.eta:g}, s = {s:g}"
                    share = float(run.c[k]) / (constant * math.log(run.M))
                    yield Case(f"{name}, c = {run.c[k]:.3g}", 1 - share)

    def verdict(constant: float) -> Check:
        return judge(
            "tian2023-rem-2",
            cases(constant),
            unit="numbers of updates",
            claim=f"c(s) <= {constant:g} ln M for all s",
            tolerance=ROUNDING,
            witness="The shift is at least (L - eta_Y)/2 with L = ln((M - 1 + e^(M h*))/M), which "
            "grows without end.",
            parameters=parameters,
        )

    check = verdict(factor)
    if check.verdict is not Verdict.REFUTED:
        return check
    unbounded = steps_are_proved() and shift_is_half_a_logarithm()
    proved_false = Verdict.REFUTED if unbounded else Verdict.CONSISTENT
    thousand = [run for run in runs if run.M == 1000]
    numbers = dict(check.numbers)
    for run in thousand:
        for s in (10**3, 10**5, 10**6):
            if s <= run.s[-1]:
                k = int(np.searchsorted(run.s, s))
                numbers[f"c_1000_{s}"] = f"{run.c[k]:.2f}"
    for C in (1, 2, 5):
        numbers[f"passes_{C}"] = str(math.ceil(shift.passes(5, 1.0, C * math.log(5))))
    readings = (
        Reading("c = O(ln M) for all s, with a constant that depends on nothing", proved_false),
        Reading("the same with a constant that may depend on M and eta_Y, not on s", proved_false),
        Reading(
            "h* - h of the order ln M/(M s): M s (h* - h)/ln s tends to 1/2, so that the quotient "
            "with ln M has no bound",
            proved_false,
        ),
    )
    if not unbounded:
        return replace(check, verdict=Verdict.OPEN, readings=readings)
    return replace(
        check,
        evidence="The shift grows without bound, by a lower bound that holds for symbolic M and "
        f"eta_Y; runs exceed {factor:g} ln M.",
        numbers=numbers,
        readings=readings,
        by_hand=("a sum over s compared with an integral (proof on the page)",),
    )


def control_tian2023_rem_2(runs: Sequence[Heights]) -> Control:
    """For times up to a power of M the remark is right."""
    return Control(
        "Only times up to eta_Y s = M^2, and the constant 2: there the shift is O(ln M), and a "
        "check that refutes every bound would refute this one, too.",
        Verdict.CONSISTENT,
        check_tian2023_rem_2(runs, factor=2.0, power=2.0).verdict,
    )


def check_tian2023_rem_2_corrected(
    runs: Sequence[Heights], half: float = 0.5, **parameters: int
) -> Check:
    """(L - eta)/2 <= c(s) <= (L + e^eta (e^eta - 1)/2)/2, hence M (h* - h) ~ ln(s)/(2 s).

    Args:
        runs: long recursions beside their curves.
        half: what stands for 1/2 before L in the lower bound.
        parameters: what repeats the runs.
    """

    def cases() -> Iterator[Case]:
        for run in runs:
            below, above = shift.shift_bounds(run.M, run.eta, run.y)
            below = below + (half - 0.5) * shift.shift_level(run.M, run.y)
            passed = shift.passage_time(run.M, run.eta, run.y)
            for k, s in enumerate(run.s):
                name, c = f"M = {run.M}, eta_Y = {run.eta:g}, s = {s:g}", float(run.c[k])
                yield Case(f"{name}, below", c - float(below[k]))
                yield Case(f"{name}, above", float(above[k]) - c)
                yield Case(f"{name}, T(M h*)", -relative_error(float(passed[k]), s + c))

    numbers = {}
    for run in runs:
        if run.eta == 1 and run.s[-1] >= 1e5:
            last = float((run.y[-1] - run.x[-1]) * run.s[-1] / math.log(run.s[-1]))
            numbers[f"half_{run.M}"] = f"{last:.2f}"
    proved = steps_are_proved() and shift_is_half_a_logarithm()
    return judge(
        "tian2023-rem-2-corrected",
        cases(),
        unit="inequalities",
        claim="Both bounds on c(s) follow from identities for symbolic M, eta_Y and heights, and "
        "s M (h* - h)/ln s tends to 1/2",
        tolerance=ROUNDING,
        numbers=numbers,
        parameters=parameters,
        by_hand=(
            "sums over s compared with integrals (proof on the page)",
            "h* - h lies between c(s) times the slopes of h at the two heights (Lemma 7)",
        ),
        proved=proved,
    )


def control_tian2023_rem_2_corrected(runs: Sequence[Heights]) -> Control:
    """A shift that grows a little faster."""
    return Control(
        "0.6 in the place of 1/2 before L in the lower bound.",
        Verdict.REFUTED,
        check_tian2023_rem_2_corrected(runs, half=0.6).verdict,
    )
