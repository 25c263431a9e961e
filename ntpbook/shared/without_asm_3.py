"""Data on which optimal attention decreases, because Assumption 3 fails."""

from __future__ import annotations

import math

from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.huang2024 import bounds, stage1, training
from ntpcore.huang2024.problem import from_dataset
from ntpcore.huang2024.runs import Run

EXPONENT = 60  # of two: e^A = 2^60


def outnumbered_data(outnumbered: bool = True) -> Dataset:
    """n: a -> b -> c -> a; "b b a" and a sentence of one b, four a and five c, both followed by c.

    Args:
        outnumbered: whether a and c outnumber b in the second sentence; else each occurs once.
    """
    singles = [("a", "b"), ("b", "c"), ("c", "a")]
    long = "b a a a c c c c c a" if outnumbered else "b c a"
    rows = [*singles, (["b", "b", "a"], "c"), (long.split(), "c")]
    return from_samples(rows, "without Assumption 3" if outnumbered else "one of each")


def outnumbered_run(eta: float = 0.01, steps: int = 2000, outnumbered: bool = True) -> Run:
    """Stage 2 on these data with A = 60 log 2."""
    problem, gap = from_dataset(outnumbered_data(outnumbered)), EXPONENT * math.log(2)
    eta0 = gap * stage1.norm_star(problem.vocab_size) / 100
    constants = bounds.constants(problem, eta0, eta, 100)
    second = training.run(problem, steps, eta, gap, record=range(steps + 1))
    return Run("data without Assumption 3", problem, constants, second)
