"""Equation (4) for the reader's number of steps in stage 1."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ntpbook.look import interactive
from ntpbook.look.interactive import Axis, Curve, Dial, Moving, View, thinned
from ntpcore.data.generate import experiment
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.problem import from_dataset
from ntpcore.huang2024.runs import Run, train
from ntpverdicts.numbers import written

FIRST = (100, 300, 900, 3_000, 10_000, 30_000, 100_000, 300_000)
LAST = 30_000
FARTHEST = 1e7  # where the bound ends, which needs no run
SEEDS = 3
POINTS = 32


def loss(seed: int) -> Moving:
    """Loss and right-hand side of equation (4) for lengths of stage 1 and a few data sets.

    Args:
        seed: of the first data set; the others have the next seeds.
    """
    seeds = range(seed, seed + SEEDS)
    return interactive.moving(
        "fig-eq-4",
        Axis("steps t of stage 2", log=True),
        Axis("loss (nats)", log=True, low=1e-6, high=1e3),
        (
            Dial(
                "steps T of stage 1",
                tuple(f"{steps:,}".replace(",", "\u202f") for steps in FIRST),
                start=FIRST.index(900),
            ),
            Dial("seed of the random data", tuple(str(one) for one in seeds)),
        ),
        lambda at, place: view(trained(seeds[place], FIRST[at])),
    )


def trained(seed: int, steps1: int) -> Run:
    """The experiment of the paper, with another stage 1 and more steps in stage 2."""
    setting = experiment(seed)
    return train(
        f"seed {seed}",
        from_dataset(setting.data),
        eta0=setting.eta0,
        eta=setting.eta,
        steps1=steps1,
        steps=LAST,
    )


def view(run: Run) -> View:
    """Loss, bound and uniform guess, and from which step the bound is below the last."""
    rows, c = run.second.rows, run.constants
    keep = rows.step >= 1
    t, values = rows.step[keep], rows.loss[keep]
    kept, later = thinned(t, POINTS), np.geomspace(1, FARTHEST, 3 * POINTS)
    bound, blind = np.exp(bounds.log_eq_4_loss(c, later)), math.log(c.vocab_size)
    loss = f"{written(values[-1])}" if values[-1] > 0 else "less than all floats"
    says = (
        f"T = {c.steps1}, {run.name}: after {LAST} steps of stage 2 the loss is {loss}. "
        f"{spoken(later, bound < blind)}"
    )
    curves = (
        Curve("measured", "optimal", "solid", t[kept], values[kept]),
        Curve("equation (4)", "bound", "dashed", later, bound),
        Curve("uniform guess", "noncomparable", "dotted", (1.0, FARTHEST), (blind, blind)),
    )
    return View(curves, says)


def spoken(steps: NDArray[np.float64], useful: NDArray[np.bool_]) -> str:
    """From where equation (4) is below the loss of a uniform guess, to the spacing of the steps."""
    if not useful.any():
        return (
            f"Up to step {written(FARTHEST)} equation (4) stays above the loss of a uniform guess."
        )
    first = written(float(steps[useful.argmax()]))
    return f"From about step {first} on equation (4) is below the loss of a uniform guess."
