"""Checks of the abstract and the introduction: no token takes all, and training never stops."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s7_discussion.discussion_runs import Trajectory, power_of_ten
from ntpcore.tian2023 import population
from ntpcore.tian2023.population import State
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

# No winner takes all


def winner_gap(runs: Sequence[Trajectory]) -> Iterator[Case]:
    """How far the leading distinct token of each class is from having everything, 0.99, at the end.

    Classes in which it starts with more than 0.9 are left out.
    """
    for run in runs:
        for n in range(run.classes.K):
            share = run.shares(n)[:, -1]
            if share[0] < 0.9:
                yield Case(f"{run.name}, class {n}", 0.99 - float(share.max()))


def takeover_log_time(K: int, epsilon: float, share: float, ratio: float) -> float:
    """ln t at which the leader of two distinct tokens has this share, under (10).

    The classes are symmetric, with one common token and two distinct ones, the leader twice as
    frequent; f_n . f_n' is epsilon at the start, M is large, Theta and sigma are zero. With the
    clock Gamma = eta_Z int gamma dt the right-hand side of (10) has no time in it, and
    Gamma = (eta_Z / eta_Y) (K / 2) ln^2 t for large t, which is equation (128).

    Args:
        K: number of classes.
        epsilon: correlation at the start, below 1.
        share: share of the leader among the distinct tokens of its class.
        ratio: eta_Y / eta_Z.

    Returns:
        ln t.
    """
    from scipy.integrate import solve_ivp

    P = np.array([0.0, 2.0, 1.0])
    P[0] = math.sqrt(epsilon / (1 - epsilon) * float(P[1:] @ P[1:]))

    def squares(z: Floats) -> Floats:
        c = P * np.exp(z - z.max())
        return np.asarray(c**2 / (c @ c))

    def slope(u: float, z: Floats) -> Floats:
        f2 = squares(z)
        e = f2[0]  # f_n . f_n'
        beta = e / ((1 - e) * (1 + (K - 1) * e))  # E' of equal correlations
        xi = (K - 1) * beta * e
        return np.asarray(math.exp(u) * xi * np.array([-K * (1 - e), f2[1], f2[2]]))

    def reached(_: float, z: Floats) -> float:
        c = P * np.exp(z - z.max())
        return float(c[1] / (c[1] + c[2])) - share

    reached.terminal = True  # type: ignore[attr-defined]
    found = solve_ivp(
        slope, (-10.0, 600.0), np.zeros(3), method="LSODA", events=reached, rtol=1e-7, atol=1e-10
    )
    if not found.t_events[0].size:
        raise ArithmeticError(f"the share {share} is not reached before Gamma = e^600")
    return math.exp(0.5 * (float(found.t_events[0][0]) + math.log(2 * ratio / K)))


def check_tian2023_app_no_winner(runs: Sequence[Trajectory], **parameters: int) -> Check:
    """No distinct token takes all attention within the horizon of the runs.

    Args:
        runs: coupled flows from zero.
        parameters: what repeats the runs.
    """
    check = judge(
        "tian2023-app-no-winner",
        winner_gap(runs),
        unit="classes in runs of the coupled flow",
        claim="No token gets 0.99 of the attention on the distinct tokens of its class within "
        f"{power_of_ten(runs)} steps",
        tolerance=0.0,
        parameters=parameters,
    )
    if check.verdict is Verdict.REFUTED:
        return check
    log_time = takeover_log_time(3, 0.2, 0.99, 10.0)
    gains = [
        run.shares(n)[-1, -1] - run.shares(n)[0, -1] for run in runs for n in range(run.classes.K)
    ]
    last = [
        run.shares(n)[-1, -1] - run.shares(n)[-5, -1] for run in runs for n in range(run.classes.K)
    ]
    exponent = math.log10(log_time)
    return replace(
        check,
        numbers={
            **check.numbers,
            "gain": f"{max(gains):.2f}",
            "median": f"{np.median(gains):.3f}",
            "last": f"{max(last):.3f}",
            "takeover": f"{exponent:.0f}",
        },
        readings=(
            Reading("within the horizon of the runs", check.verdict),
            Reading(
                "ever, under (10): growth never ends, B_n tends to infinity, and with it the share "
                "of the leader to 1; for three symmetric classes with f_n . f_n' = 0.2 and the "
                f"ratio 10 it passes 0.99 at ln t = 1e{exponent:.0f}, a number of steps that no "
                "training makes",
                Verdict.REFUTED,
            ),
        ),
    )


def control_tian2023_app_no_winner(run: Trajectory) -> Control:
    """Scores a thousand times as large make one token take all."""
    states = tuple(State(state.Y, 1000 * state.z) for state in run.states)
    planted = replace(run, states=states)
    return Control(
        "Scores a thousand times as large.",
        Verdict.REFUTED,
        check_tian2023_app_no_winner([planted]).verdict,
    )


# No stationary point


def dual_slope(run: Trajectory, state: State) -> tuple[float, float]:
    """The slope of J along D = sum_n d_n e_n^T with d_n . f_k = delta_nk, and what it must be.

    The second number is the mean of 1 - alpha_nn over the classes, which is positive at every
    finite Y; so the gradient is not zero wherever the f_n are linearly independent.
    """
    seen = population.inputs(run.data, population.scores(run.data, state.z))
    error = population.errors(run.data, state, seen)
    slope = population.gradient(run.data, state)
    duals = np.linalg.pinv(seen[0])  # (M, K), d_n as columns
    K = run.classes.K
    found = float((slope.Y[0, :, :K] * duals).sum())
    # the columns of the other outputs are not touched by D; nor are wrong next tokens by d_n
    return found, float(error[np.arange(K), np.arange(K)].mean())


def check_tian2023_app_no_stationary(
    runs: Sequence[Trajectory],
    gradient: Callable[[Trajectory, State], tuple[float, float]] = dual_slope,
    **parameters: int,
) -> Check:
    """The gradient never vanishes, and in the end attention moves no faster than a logarithm.

    Args:
        runs: coupled flows from zero.
        gradient: slope of J along D and its value by the argument, at a state.
        parameters: what repeats the runs.
    """
    exponents = [growth_exponent(run) for run in runs]

    def instances() -> Iterator[Case]:
        for run, exponent in zip(runs, exponents, strict=True):
            for t, state in zip(run.times[::8], run.states[::8], strict=True):
                found, expected = gradient(run, state)
                size = max(abs(found), abs(expected))
                # the relative error, and positivity
                yield Case(
                    f"{run.name}, t = {t:.3g}", min(-abs(found - expected) / size, expected / size)
                )
            yield Case(f"{run.name}, growth of Z", 0.1 - exponent)

    norms = []
    for run in runs:
        slope = population.gradient(run.data, run.states[-1])
        norms.append(math.hypot(np.linalg.norm(slope.Y), np.linalg.norm(slope.z)) * run.times[-1])
    return judge(
        "tian2023-app-no-stationary",
        instances(),
        unit="states and runs of the coupled flow",
        claim="The slope of J along a fixed direction is the mean of 1 - alpha_nn > 0, and the "
        "distance that Z moves in a decade of time grows by less than the power 0.1 of time",
        # condition of the f_n times rounding; the probabilities are exact to rounding
        tolerance=1e-8,
        numbers={
            "norm": f"{min(norms):.2f}",
            "norm_most": f"{max(norms):.2f}",
            "exponent": f"{max(exponents):.2f}",
            "least": f"{min(exponents):.2f}",
            "midway": f"{max(growth_exponent(run, 1e6) for run in runs):.2f}",
        },
        parameters=parameters,
    )


def growth_exponent(run: Trajectory, until: float = math.inf) -> float:
    """Power of time by which the distance that Z moves per decade grew, between the last two.

    0 is the growth of a logarithm; a negative number is slower still.

    Args:
        run: the run.
        until: a time at which to stop, if before the end of the run.
    """
    times = run.times[run.times <= until * 1.000001]
    end = len(times) - 1
    decade, before = (int(np.searchsorted(times, times[-1] / x * 0.999999)) for x in (10, 100))
    last = float(np.linalg.norm(run.z[end] - run.z[decade]))
    earlier = float(np.linalg.norm(run.z[decade] - run.z[before]))
    return math.log10(last / earlier)


def control_tian2023_app_no_stationary(run: Trajectory) -> Control:
    """A direction that is not dual to the f_n does not give the mean of 1 - alpha_nn."""

    def undual(one: Trajectory, state: State) -> tuple[float, float]:
        seen = population.inputs(one.data, population.scores(one.data, state.z))[0]
        slope = population.gradient(one.data, state)
        K = one.classes.K
        return float((slope.Y[0, :, :K] * seen.T).sum()), dual_slope(one, state)[1]

    return Control(
        "The f_n themselves in the place of their dual vectors.",
        Verdict.REFUTED,
        check_tian2023_app_no_stationary([run], gradient=undual).verdict,
    )
