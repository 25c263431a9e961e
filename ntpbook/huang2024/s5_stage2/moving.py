"""Theorem 1 for the reader's step size and data."""

from __future__ import annotations

import math

import numpy as np

from ntpbook.huang2024.s5_stage2.instances import random_problem
from ntpbook.look import interactive
from ntpbook.look.interactive import Axis, Curve, Dial, Moving, View, thinned
from ntpbook.shared.theorem_1 import theorem_b, trivial
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, training
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, paper_rates, train
from ntpverdicts.numbers import written, written_power

STEPS = 100_000
FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0, 20.0)
POINTS = 34


def direction(seed: int) -> Moving:
    """1 - cos and its bounds for step sizes around the paper's and five data sets.

    Args:
        seed: of the random data; some are drawn from the next seed.
    """
    data = problems(seed)
    return interactive.moving(
        "fig-stage2-direction",
        Axis("steps t", log=True),
        Axis("1 − cos to W*", log=True),
        (
            Dial("data", tuple(data), slider=False),
            Dial(
                "step size η, in units of the paper’s 0.05/√|V|",
                tuple(f"{factor:g}" for factor in FACTORS),
                start=FACTORS.index(1.0),
            ),
        ),
        lambda place, at: view(trained(*list(data.items())[place], FACTORS[at])),
    )


def problems(seed: int) -> dict[str, Problem]:
    """Data sets by name."""
    found = {"Example 1": from_dataset(example_1())}
    for closed, kind in ((True, "prefix-closed"), (False, "not prefix-closed")):
        for one in (seed, seed + 1):
            found[f"random, {kind}, seed {one}"] = random_problem(one, prefix_closed=closed)
    return found


def trained(name: str, problem: Problem, factor: float) -> Run:
    """A run at this multiple of the paper's step size of stage 2."""
    eta0, eta = paper_rates(problem.vocab_size)
    record = training.log_grid(STEPS).tolist()
    return train(name, problem, eta0=eta0, eta=factor * eta, steps1=900, steps=STEPS, record=record)


def view(run: Run) -> View:
    """The measured curve, Theorem 1 as stated up to where it beats the norm bounds, Theorem B."""
    rows, c = run.second.rows, run.constants
    keep = rows.step >= 1
    t, values = rows.step[keep].astype(float), rows.one_minus_cos[keep]
    kept = thinned(t, POINTS)
    beat = bounds.thm_1_speaks_from(run.constants)
    log_t = np.linspace(math.log(2), beat + 2, 14)
    printed = np.exp(bounds.log_thm_1_direction(c, log_t))
    far = np.geomspace(1, t[-1], 14)
    ours = theorem_b(run, far)
    curves = (
        Curve("measured", "optimal", "solid", t[kept], values[kept]),
        Curve("Theorem B", "bound", "dashed", far, ours),
        Curve("Theorem 1 as stated", "bound", "dotted", np.exp(log_t), printed),
    )
    says = (
        f"{run.name}, η = {written(c.eta, 3)}: 1 − cos falls from {written(values[0])} to "
        f"{written(values[-1])} in {written(STEPS)} steps; Theorem B puts it below "
        f"{written(ours[-1])} there. The norms alone put it below {written(trivial(run))}; "
        f"Theorem 1 as stated gives a smaller bound than that only from step "
        f"{written_power(beat / math.log(10))} on."
    )
    if c.eta > bounds.thm_1_largest_eta(c):
        says += " This step size is above ‖W*‖/e, so Theorem 1 makes no claim about it."
    return View(curves, says)
