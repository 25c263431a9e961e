"""Checks of Theorem 3 of Tian et al. (2023) and of its equations (11), (12) and (112)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ntpbook.shared.judge import Case, judge, relative_error
from ntpbook.tian2023.s5_fates.growth_runs import Run, gain_identities, growing_run, moves_of
from ntpcore.tian2023 import attention
from ntpcore.tian2023.classes import layered_classes
from ntpcore.verdicts.claims import Check, Control, Verdict

INTEGRATOR = 1e-7  # z is right to about 1e-9, and r is an exponential of it over a difference
XI_BY_HAND = (
    "xi_n > 0 is Theorem 1(a), proved as ours-xi-positive on the page on the gradient for draws "
    "that are even enough, as t >> K^2 is read"
)

# Theorem 3


def check_tian2023_thm_3(cases: Iterable[Run], falling: bool = True, **parameters: int) -> Check:
    """Closed form, growth of z and f of the dominant token, and the bounds, on runs.

    Args:
        cases: runs; those without the hypotheses are skipped.
        falling: whether runs in which a common token does not fall are skipped.
        parameters: what repeats the runs.
    """
    used = [run for run in cases if run.fall or not falling]

    def slacks() -> Iterator[Case]:
        for run in used:
            first = run.tokens[0]
            for word, values in (("z", run.z[:, first]), ("f", run.f[:, first] ** 2)):
                steps = np.diff(values)
                slack = float((steps / np.abs(values[1:])).min())
                yield Case(f"{run.name}, growth of {word}", slack if (steps > 0).all() else -1.0)
            yield from _sandwich(run, first)
            yield from _gains(run, used_token=0)

    identities = gain_identities()
    return judge(
        "tian2023-thm-3",
        slacks(),
        unit="inequalities and equations",
        claim="r(t) = r(0) chi(t); z and f of the dominant token grow; (12) holds",
        tolerance=INTEGRATOR,
        numbers={"runs": str(len(used))},
        parameters=parameters,
        by_hand=(
            XI_BY_HAND,
            "the dominant token stays ahead of the other distinct ones by (11) and of the falling "
            "common ones, so that every term of d ln f^2 / dt is positive",
            "f^2 lies between its start and 1, and the integral keeps this",
        ),
        proved=all(value == 0 for value in identities.values()),
    )


def control_tian2023_thm_3() -> Control:
    """A common token that grows pushes the dominant distinct token down."""
    return Control(
        "A class in which a common token grows, against the hypothesis.",
        Verdict.REFUTED,
        check_tian2023_thm_3([growing_run()], falling=False).verdict,
    )


# Equation (11)


def check_tian2023_eq_11(cases: Iterable[Run], used_token: int = 0, **parameters: int) -> Check:
    """r(t) = r(0) chi(t) for all pairs of distinct tokens of the class.

    Args:
        cases: runs, with falling common tokens or without.
        used_token: whose growth factor is used: 0 for that of l, 1 for that of l'.
        parameters: what repeats the runs.
    """
    return judge(
        "tian2023-eq-11",
        (case for run in cases for case in _gains(run, used_token)),
        unit="pairs of tokens",
        claim="The relative gain is its start times the growth factor, at all recorded moments",
        tolerance=INTEGRATOR,
        parameters=parameters,
        by_hand=("(98), proved with Theorem 2, is the law of motion that is used",),
        proved=used_token == 0 and gain_identities()["(11)"] == 0,
    )


def _gains(run: Run, used_token: int) -> Iterator[Case]:
    """Minus the largest relative error of (11), for every ordered pair of distinct tokens."""
    f, z = run.f, run.z
    for first in run.tokens:
        for other in run.tokens:
            if first == other:
                continue
            gain = attention.relative_gain(f, first, other)
            one = (first, other)[used_token]
            closed = gain[0] * attention.growth(z[:, one], float(z[0, one]))
            error = max(relative_error(x, y) for x, y in zip(gain, closed, strict=True))
            yield Case(f"{run.name}, tokens {first} and {other}", -error)


def true_flow_defect(eta_Z: float, time: float = 1e4) -> float:
    """How far (11) is off where both layers are trained for real: the largest relative error."""
    data = layered_classes([1.0], [[1.0, 0.7, 0.4]] * 3, 10, (0, 0, 0))
    times = np.concatenate([[0.0], np.geomspace(1, time, 21)])
    path = attention.coupled_flow(data, 1000, 1.0, eta_Z, times)
    run = Run("both layers", path, 0, 1000, True)
    return -min(case.slack for case in _gains(run, 0))


def control_tian2023_eq_11(cases: Iterable[Run]) -> Control:
    """The growth factor is that of the first token."""
    return Control(
        "The growth factor of l' in the place of that of l.",
        Verdict.REFUTED,
        check_tian2023_eq_11(cases, used_token=1).verdict,
    )


# Equation (12)


def check_tian2023_eq_12(cases: Iterable[Run], place: int = 0, **parameters: int) -> Check:
    """exp(2 f^2(0) B) <= chi <= exp(2 B) at every recorded moment.

    Args:
        cases: runs; those in which a common token does not fall are skipped.
        place: which distinct token is taken, the dominant one being 0.
        parameters: what repeats the runs.
    """
    used = [run for run in cases if run.fall]
    last = [run.path.B[-1, run.n] for run in used]
    return judge(
        "tian2023-eq-12",
        (case for run in used for case in _sandwich(run, run.tokens[place])),
        unit="bounds",
        claim="The growth factor lies between the two exponentials, strictly for t > 0",
        tolerance=0.0,  # strict, which `_sandwich` turns into -1 when it fails
        numbers={"least_B": f"{min(last, default=0):.2g}", "most_B": f"{max(last, default=0):.2g}"},
        parameters=parameters,
        by_hand=(
            XI_BY_HAND,
            "dz/dt = eta_Z xi_n f^2 with f^2 between its start and 1, integrated",
        ),
        proved=place == 0 and gain_identities()["(114)"] == 0,
    )


def _sandwich(run: Run, token: int) -> Iterator[Case]:
    """Least distance of ln chi from either bound, relative to the bound, after the start."""
    log_chi = 2 * (run.z[1:, token] - run.z[0, token])
    B, share = run.path.B[1:, run.n], float(run.f[0, token] ** 2)
    for word, gap in (
        ("lower", log_chi / (2 * share * B) - 1),
        ("upper", 1 - log_chi / (2 * B)),
    ):
        yield Case(f"{run.name}, {word} bound", float(gap.min()) if (gap > 0).all() else -1.0)


def control_tian2023_eq_12(cases: Iterable[Run]) -> Control:
    """The lower bound needs the dominant token."""
    return Control(
        "A distinct token that does not dominate.",
        Verdict.REFUTED,
        check_tian2023_eq_12(cases, place=1).verdict,
    )


# Equation (112)


def check_tian2023_eq_112(cases: Iterable[Run], factor: int = 1, **parameters: int) -> Check:
    """The printed derivative of r, against that of a quotient of squares."""
    return _judge_derivative("tian2023-eq-112", cases, factor, parameters)


def check_tian2023_eq_112_corrected(
    cases: Iterable[Run], factor: int = 2, **parameters: int
) -> Check:
    """The derivative with its factor 2."""
    return _judge_derivative("tian2023-eq-112-corrected", cases, factor, parameters)


def _judge_derivative(
    label: str, cases: Iterable[Run], factor: int, parameters: dict[str, int]
) -> Check:
    """factor r(0) chi dz/dt against d/dt of f_l0^2 / f_l^2, which is 2 (...) (dz_l0 - dz_l)."""
    numbers: dict[str, str] = {}

    def errors() -> Iterator[Case]:
        for run in cases:
            f, z, first = run.f, run.z, run.tokens[0]
            moves = moves_of(run.path, run.M)[:, run.path.classes.query[run.n]]
            chi = attention.growth(z[:, first], float(z[0, first]))
            for other in run.tokens[1:]:
                ratio = (f[:, first] / f[:, other]) ** 2
                exact = 2 * ratio * (moves[:, first] - moves[:, other])
                printed = factor * (ratio[0] - 1) * chi * moves[:, first]
                numbers.setdefault("printed", f"{printed[0]:.3g}")
                numbers.setdefault("exact", f"{exact[0]:.3g}")
                error = max(relative_error(x, y) for x, y in zip(printed, exact, strict=True))
                yield Case(f"{run.name}, token {other}", -error)

    found = list(errors())
    words = "r(0) chi dz/dt" if factor == 1 else f"{factor} r(0) chi dz/dt"
    return judge(
        label,
        found,
        unit="pairs of tokens",
        claim=f"The derivative of the relative gain is {words}",
        tolerance=INTEGRATOR,
        witness=f"At t = 0 the formula gives {numbers.get('printed')} per unit of the clock, the "
        f"quotient grows by {numbers.get('exact')}.",
        numbers=numbers,
        parameters=parameters,
        by_hand=("(11), proved above, is what is differentiated",),
        proved=factor == 2 and gain_identities()["(112)"] == 0,
    )


def control_tian2023_eq_112(cases: Iterable[Run]) -> Control:
    """With the factor the formula holds, and must not be refuted."""
    return Control(
        "The formula with its factor 2: a check that refutes everything would refute it, too.",
        Verdict.PROVED,
        check_tian2023_eq_112(cases, factor=2).verdict,
    )


def control_tian2023_eq_112_corrected(cases: Iterable[Run]) -> Control:
    """Without the factor it fails."""
    return Control(
        "The factor 2 left out.",
        Verdict.REFUTED,
        check_tian2023_eq_112_corrected(cases, factor=1).verdict,
    )
