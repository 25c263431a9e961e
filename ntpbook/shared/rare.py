"""Two sentences, one of them as rare as one likes: what bounds without frequencies overlook.

The vocabulary is {0, 1}, n swaps the two, and the data are the sentences 0 1 0 and 1 0 1 with their
beginnings. They are realizable and prefix-closed and satisfy Assumption 3; N = 4, L_max = 2 and
||W_kq_star|| = 1 whatever the frequencies. The gradient treats the two queries alike but for their
frequency, so W_kq has two margins, one for each query.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.huang2024 import stage1
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, paper_rates, train

STEPS_1 = 900  # of stage 1, as in the paper's experiment
SAMPLES = (("0", "1"), ("01", "0"), ("1", "0"), ("10", "1"))


def two_tokens() -> Dataset:
    """The data: 0 -> 1 and 0 1 -> 0, then 1 -> 0 and 1 0 -> 1."""
    return from_samples(SAMPLES, "two tokens")


def rare_problem(log_ratio: float) -> Problem:
    """The training problem, 1 and 1 0 being e^log_ratio times rarer than 0 and 0 1."""
    data = two_tokens()
    weights = [-log_ratio if sample.sentence[0] == "1" else 0.0 for sample in data.samples()]
    return from_dataset(data, log_weights=weights)


def rare_gap() -> float:
    """A after stage 1 at the paper's step size."""
    return stage1.gap(2, STEPS_1, paper_rates(2)[0])


def rare_run(log_ratio: float, steps: int, eta: float, record: Sequence[int] | None = None) -> Run:
    """Algorithm 1 on these data, step by step."""
    return train(
        f"two tokens, one sentence e^{log_ratio:.3g} times rarer than the other",
        rare_problem(log_ratio),
        eta0=paper_rates(2)[0],
        eta=eta,
        steps1=STEPS_1,
        steps=steps,
        record=record,
    )


def log_ratio_that_hides(steps: int, eta: float, gap: float | None = None) -> float:
    """A log ratio so large that the rare query's margin is at most 1 after so many steps.

    Let d_1 and d_2 be the margins of the common and the rare query and R the log ratio. One sample
    pulls its margin d with the force pi A m (1 - m) (1 - T_o + T_j), m = 1 / (1 + e^-d). For d >= 0
    this is at most pi A / 4 and at least pi A e^-d / (4 (e^A + 1)). A step moves (d_1, d_2) by
    sqrt(2) eta in the direction of the forces, so that d_1 <= sqrt(2) eta s after s steps, and

        d_2 <= sum_{s < t} sqrt(2) eta (e^A + 1) e^(sqrt(2) eta s - R)
            <= (e^A + 1) e^(sqrt(2) eta t - R),

    since x <= e^x - 1. This is at most 1 from R = sqrt(2) eta t + log(e^A + 1) on.
    """
    gap = rare_gap() if gap is None else gap
    return math.sqrt(2) * eta * steps + gap + math.log1p(math.exp(-gap))


def one_minus_cos_when_hidden(steps: int, eta: float) -> float:
    """Lower bound on 1 - cos after so many steps, if the rare margin is at most 1.

    Every step moves the margins by sqrt(2) eta in all, so d_1 + d_2 >= sqrt(2) eta t, and with
    x = d_2 / d_1 <= 1 / (sqrt(2) eta t - 1) the cosine (1 + x) / sqrt(2 + 2 x^2) is at most
    (1 + x) / sqrt(2).

    Raises:
        ValueError: too few steps for the bound.
    """
    length = math.sqrt(2) * eta * steps - 1
    if length <= 0:
        raise ValueError(f"{steps} steps of {eta} are too few; sqrt(2) eta t must exceed 1")
    return 1 - (1 + 1 / length) / math.sqrt(2)
