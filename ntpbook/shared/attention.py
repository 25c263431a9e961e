"""Attention and prediction in every sample of a problem, as logarithms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore.huang2024.problem import Problem

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Weights:
    """Attention and prediction in every merged sample, as logarithms.

    Attributes:
        best: (S,), log of the weight phi_+ of the optimal token.
        rest: (S,), log of phi_- = 1 - phi_+.
        rivals: (M,), log of the weight of each rival.
        missing: (S,), log of 1 - T_o, the probability of all wrong next tokens.
        wrong: (M,), log of T_j, the probability of n of each rival.
    """

    best: Floats
    rest: Floats
    rivals: Floats
    missing: Floats
    wrong: Floats


def attention(problem: Problem, weights: Floats, gap: float) -> Weights:
    """Attention and prediction at these entries of W_kq, from equation (9) and the margins A."""
    # all samples at once and in logarithms, so that nothing underflows late in a run
    place, first = problem.sample_of, problem.start[:-1]
    score = problem.log_ratio + weights[problem.rival] - weights[problem.optimal][place]
    odds = np.logaddexp.reduceat(score, first)  # log of phi_- / phi_+
    best = -np.logaddexp(0.0, odds)
    rivals = score + best[place]
    lead = gap * (np.exp(rivals) - np.exp(best)[place])
    absent = np.maximum(problem.vocab_size - 1 - np.diff(problem.start), 0)
    with np.errstate(divide="ignore"):
        others = np.log(absent) - gap * np.exp(best)
    wrong = np.logaddexp(np.logaddexp.reduceat(lead, first), others)
    total = np.logaddexp(0.0, wrong)
    return Weights(best, odds + best, rivals, wrong - total, lead - total[place])
