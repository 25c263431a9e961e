"""Very long runs for the reader's data and step size."""

from __future__ import annotations

import math

import numpy as np

from ntpbook.look import interactive
from ntpbook.look.interactive import Axis, Curve, Dial, Moving, View, thinned
from ntpbook.ours.reach import long_runs
from ntpcore.data.examples import example_1
from ntpcore.data.generate import experiment
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import paper_rates, train
from ntpverdicts.numbers import written, written_power

FACTORS = (0.3, 1.0, 3.0, 10.0, 30.0)
SEEDS = 3
POINTS = 48
LOOKS = (("Theorem 1 as stated", "dashed"), ("corrected", "dotted"))


def directions(seed: int) -> Moving:
    """1 - cos up to 1e15 steps with the bounds, for prefix-closed data and step sizes.

    Args:
        seed: of the first random data; the others have the next seeds.
    """
    data = problems(seed)
    return interactive.moving(
        "fig-reach-direction",
        Axis("steps t", log=True),
        Axis("1 − cos to W*", log=True),
        (
            Dial("data", tuple(name for name, _ in data), start=1, slider=False),
            Dial(
                "step size η, in units of the paper’s 0.05/√|V|",
                tuple(f"{factor:g}" for factor in FACTORS),
                start=FACTORS.index(1.0),
            ),
        ),
        lambda place, at: view(long_run(*data[place], FACTORS[at])),
    )


def problems(seed: int) -> list[tuple[str, Problem]]:
    """Example 1 and prefix-closed data of the experiment; on other data the flow takes too long."""
    seeds = range(seed, seed + SEEDS)
    drawn = [(f"random, seed {one}", from_dataset(experiment(one).data)) for one in seeds]
    return [("Example 1", from_dataset(example_1())), *drawn]


def long_run(name: str, problem: Problem, factor: float) -> long_runs.Long:
    """Exact steps and the late flow, at this multiple of the paper's step size."""
    eta0, eta = paper_rates(problem.vocab_size)
    run = train(name, problem, eta0=eta0, eta=factor * eta, steps1=900, steps=long_runs.EXACT)
    return long_runs.Long(run, long_runs.extend(run, run.second, long_runs.EXACT))


def view(one: long_runs.Long) -> View:
    """The run, the bounds, and how much too large each is where it beats the norm bounds."""
    t, values = one.step, one.one_minus_cos
    kept = thinned(t, POINTS)
    curves, told = [Curve("measured", "optimal", "solid", t[kept], values[kept])], []
    for bound, (name, line) in zip(long_runs.BOUNDS, LOOKS, strict=True):
        log_t = np.linspace(math.log(2), math.log(long_runs.LAST), 18)
        allowed = np.exp(bound.log_bound(one.run.constants, log_t))
        curves.append(Curve(name, "bound", line, np.exp(log_t), allowed))
        slack = long_runs.slacks(one, bound)[1]
        told.append(
            f"{name}: improves on the norm bounds from step {written(long_runs.bites(one, bound))}"
            + (f", {written_power(float(slack[0]))} times too large there" if len(slack) else "")
        )
    says = (
        f"{one.run.name}, η = {written(one.run.constants.eta, 3)}: at 10¹⁵ steps 1 − cos is "
        f"{written(float(values[-1]))}. {'; '.join(told)}."
    )
    return View(tuple(curves), says)
