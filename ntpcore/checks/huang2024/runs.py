"""Runs of Algorithm 1 on which statements are held, and how an inequality is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore import bounds, generate, stage1, training
from ntpcore.checks.huang2024.realizable import example_1
from ntpcore.claims import Check, Verdict
from ntpcore.problem import Problem, from_dataset

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Slack of an inequality at some steps, relative to its right-hand side or as the statement has it;
# negative where the inequality fails.
Slack = tuple[Integers, Floats]


@dataclass(frozen=True, eq=False)
class Run:
    """One run of stage 2 after T steps of stage 1, with everything the bounds need.

    Attributes:
        name: what data and step size, for messages.
        problem: the data.
        constants: what the bounds depend on.
        second: the trajectory of stage 2.
    """

    name: str
    problem: Problem
    constants: bounds.Constants
    second: training.Trajectory


def train(
    name: str,
    problem: Problem,
    *,
    eta0: float,
    eta: float,
    steps1: int,
    steps: int,
    record: Sequence[int] | None = None,
) -> Run:
    """Run both stages from zero: the first by its exact law, the second step by step."""
    gap = stage1.gap(problem.vocab_size, steps1, eta0)
    second = training.run(problem, steps, eta, gap, record=record)
    return Run(name, problem, bounds.constants(problem, eta0, eta, steps1), second)


def paper_rates(vocab_size: int) -> tuple[float, float]:
    """eta0 = 0.2 / sqrt(d) and eta = 0.05 / sqrt(d) with d = |V|, as in Section 7."""
    return training.Settings().rates(vocab_size)


def collection(
    seed: int, sets: int, steps: int, *, frequent: bool = True, factors: Sequence[float] = (1, 20)
) -> list[Run]:
    """Example 1 and random data, half of them prefix-closed, at the paper's step size and larger.

    Args:
        seed: of the random data.
        sets: number of prefix-closed data sets, and of others.
        steps: steps of stage 2; stage 1 takes 900.
        frequent: whether the random data satisfy Assumption 3.
        factors: multiples of the paper's eta.
    """
    problems = [("Example 1", from_dataset(example_1()))] if frequent else []
    for number in range(2 * sets):
        rng = np.random.default_rng((seed, number))
        closed = number % 2 == 0
        size = int(rng.integers(4, 13))
        data = generate.random_dataset(
            rng, size, 3 * size, int(rng.integers(3, 8)), prefix_closed=closed, frequent=frequent
        )
        kind = "prefix-closed" if closed else "other"
        problems.append((f"{kind} data {number} (|V| = {size})", from_dataset(data)))
    return [
        train(
            f"{name}, eta times {factor:g}",
            problem,
            eta0=paper_rates(problem.vocab_size)[0],
            eta=factor * paper_rates(problem.vocab_size)[1],
            steps1=900,
            steps=steps,
        )
        for name, problem in problems
        for factor in factors
    ]


def judge_inequality(
    label: str,
    runs: Iterable[Run],
    slack: Callable[[Run], Slack],
    statement: str,
    *,
    tolerance: float,
    parameters: Mapping[str, int | str] | None = None,
    by_hand: tuple[str, ...] = (),
    vacuous: str = "",
) -> Check:
    """Test an inequality at every recorded step of every run.

    Args:
        label: the claim.
        runs: the runs.
        slack: steps and slacks of one run; an empty array where the inequality says nothing.
        statement: what holds, as a sentence to be continued by "on all ...".
        tolerance: how far below zero rounding alone may push a slack.
        parameters: what repeats the runs.
        by_hand: steps of the argument that were done by hand.
        vacuous: from where the bound would say something, if it does not here.
    """
    worst, where, tried, points = np.inf, "", 0, 0
    for run in runs:
        steps, values = slack(run)
        tried += 1
        points += len(values)
        if len(values) and float(values.min()) < worst:
            worst = float(values.min()) + 0.0  # an error of 0 is no slack of -0
            where = f"{run.name}, step {int(steps[values.argmin()])}"
    unit, shown = "runs", dict(parameters or {})
    if not points:
        several = f"none of the {tried} runs reaches" if tried != 1 else "the run does not reach"
        reason = f"Not decided: {several} a step at which the statement says anything."
        return Check(label, Verdict.OPEN, 0, unit, reason, parameters=shown)
    numbers = {"worst": f"{worst:.2g}", "runs": str(tried), "points": str(points)}
    numbers["tolerance"] = f"{tolerance:g}"
    if worst < -tolerance:
        return Check(
            label,
            Verdict.REFUTED,
            tried,
            unit,
            f"The inequality fails on {tried} runs, {points} recorded steps.",
            witness=f"{where}: slack {worst:.2g}",
            numbers=numbers,
            parameters=shown,
        )
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        unit,
        f"{statement} {on_all(tried)} at all {points} recorded steps.",
        slack=f"{worst:.2g} ({where})",
        numbers=numbers,
        parameters=shown,
        by_hand=by_hand,
        vacuous=vacuous,
    )


def on_all(runs: int) -> str:
    """That all runs were examined, for one of them and for many."""
    return "on the run" if runs == 1 else f"on all {runs} runs"
