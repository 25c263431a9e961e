"""The losses that the figure of the page on Algorithm 1 draws, by the paper and by the library."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared import digits
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import stage1, training
from ntpcore.huang2024.problem import from_dataset
from ntpcore.huang2024.runs import paper_rates


def literal_losses(recorded: Sequence[int], T: int) -> tuple[list[float], list[float]]:
    """Losses of both stages on Example 1 at the recorded steps, from the literal algorithm.

    Args:
        recorded: the steps, of either stage.
        T: steps of stage 1 before stage 2.

    Returns:
        L_0 of stage 1 and L of stage 2.
    """
    data = example_1()
    following = from_dataset(data).following.tolist()
    E, (eta0, eta) = digits.exact(np.eye(4)), paper_rates(4)
    first, second, trained = [], [], digits.train_ov(following, E, eta0, T)
    for step in recorded:
        W_ov = digits.train_ov(following, E, eta0, step)
        first.append(float(digits.stage1_loss(following, W_ov, E)))
        W_kq = digits.train_kq(data, trained, E, eta, step)
        second.append(float(digits.loss(data, trained, W_kq, E)))
    return first, second


def library_losses(
    recorded: Sequence[int], T: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """The same losses from the library, and the floor of the second one."""
    problem = from_dataset(example_1())
    eta0, eta = paper_rates(4)
    gap = stage1.gap(4, T, eta0)
    first = np.exp([stage1.log_loss(4, step, eta0) for step in recorded])
    second = training.run(problem, max(recorded), eta, gap, record=recorded).rows.loss
    return first, second, training.floor(4, gap)
