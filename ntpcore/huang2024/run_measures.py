"""What is read off a recorded run: slack of the bounds of Theorem 1, and the rate of the loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ntpcore.huang2024 import bounds
from ntpcore.huang2024.runs import Run

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def allowed(run: Run) -> bool:
    """Whether eta is at most ||W_kq_star|| / e, as the proof of Theorem 1 needs it."""
    return run.constants.eta <= bounds.thm_1_largest_eta(run.constants)


def thm_1_slack(run: Run, rarity: str) -> tuple[Integers, Floats]:
    """Steps, and slack of Theorem 1 for t >= 2, the smallest of its inequalities, each relative.

    Empty where eta exceeds ||W_kq_star|| / e.
    """
    c, rows = run.constants, run.second.rows
    keep = (rows.step >= 2) & allowed(run)
    step = rows.step[keep]
    if not len(step):
        return step, np.empty(0)
    t, norm = step.astype(float), rows.norm[keep]
    low, high = bounds.thm_1_norm(c, t)
    log_bound = bounds.log_thm_1_direction(c, np.log(t), rarity=rarity)
    # far beyond the smallest float the bound is infinitely larger than what it bounds
    direction = 1 - rows.one_minus_cos[keep] * np.exp(np.minimum(-log_bound, 700.0))
    return step, np.minimum(direction, np.minimum(norm / low - 1, 1 - norm / high))


def fitted_rate(run: Run, first: float = 0.1, last: float = 1.0) -> float:
    """Rate at which log(L - L_star) falls between two shares of the steps, by (eta / ||W*||)."""
    rows = run.second.rows
    end = float(rows.step[-1])
    late = (rows.step >= first * end) & (rows.step <= last * end)
    slope = np.polyfit(rows.step[late].astype(float), rows.log_excess[late], 1)[0]
    return -float(slope) / bounds.loss_excess_rate(run.constants, exact=True)
