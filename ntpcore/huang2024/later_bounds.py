"""What theory says of a run from its state on: Theorem B, and Theorem E for all later steps.

Theorem E is a condition on one state. Where it holds, 1 - cos lies between two multiples of
1 / t^2 for all later t. Here it is evaluated in floats at a float state, so that it speaks of the
exact continuation of that state; `ntpbook.shared.enclosure` evaluates it in balls, for the exact
run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore.huang2024 import asymptotics, bounds, direction
from ntpcore.huang2024.problem import Problem

Floats = NDArray[np.float64]

DELTAS = (0.01, 0.03, 0.1, 0.3, 1.0)  # what perturbations may add; the smallest that will do
ROOM = 0.99  # both sides are sums of some hundreds of floats, far better than a hundredth


@dataclass(frozen=True)
class Band:
    """Bounds on 1 - cos at all steps from t_1 on (`ours-certificate`).

    Attributes:
        step: t_1.
        eta: step size.
        least: ||y_t|| is at least this from there on.
        most: and at most this.
        lag: t eta - lag <= x_t <= t eta.
    """

    step: int
    eta: float
    least: float
    most: float
    lag: float

    def at(self, t: float) -> tuple[float, float]:
        """Numbers below and above 1 - cos at step t >= t_1.

        Raises:
            ValueError: t is before t_1, or t eta does not exceed the lag.
        """
        length = t * self.eta
        if t < self.step or length <= self.lag:
            raise ValueError(f"the bounds from step {self.step} say nothing of step {t:g}")
        low = self.least**2 / (2 * (length**2 + self.most**2))
        return low, self.most**2 / (2 * (length - self.lag) ** 2)


def band(problem: Problem, weights: Floats, step: int, eta: float, gap: float) -> Band | None:
    """Theorem E at a state; None where its condition fails, or its hypotheses do.

    With w = ||W_kq_star||, h = eta / w, c = max((1 - h) / (1 - h + 2 h S), 1 - eta w / 2) and
    omega = sqrt(||y - R||^2 + eta w (F(y) - F(R)) / c) + 2 delta the condition is

        8 eta w (3 A + 4) (L - 1) (1 + sqrt(2) S / eta) e^(-x / w + sqrt(2) (||R|| + omega))
            <= min(delta, delta^2 c / (sqrt(2) eta w)).

    Args:
        problem: the data, with Assumption 3 and one optimal token for each query.
        weights: (K,), W_kq at the step.
        step: t_1.
        eta: step size, below max(w, 2 / w).
        gap: A.

    Source: `ours-certificate` in this project's book.
    """
    one_each = all(len(order.optimal) == 1 for order in problem.orders.values())
    w = problem.norm
    if not problem.frequent or not one_each or eta >= max(w, 2 / w):
        return None
    S, h, root = w**2, eta / w, math.sqrt(2)
    c = max((1 - h) / (1 - h + 2 * h * S) if h < 1 else 0.0, 1 - eta * w / 2)
    pairs, log_C = asymptotics.tight_terms(problem)
    R, star = asymptotics.star_residual(problem), problem.W_kq_star
    x = float(weights @ star) / w
    y = weights - x * star / w

    def potential(z: Floats) -> float:
        values = log_C - z[pairs[:, 0]] + z[pairs[:, 1]]
        top = float(values.max())
        return top + math.log(float(np.exp(values - top).sum()))

    excess = max(0.0, potential(y) - potential(R))
    size, away = float(np.linalg.norm(R)), float((y - R) @ (y - R))
    near = math.sqrt(away + eta * w / c * excess)
    for delta in DELTAS:
        omega = near + 2 * delta
        log_left = math.log(8 * eta * w * (3 * gap + 4) * (problem.max_length - 1))
        log_left += math.log1p(root * S / eta) - x / w + root * (size + omega)
        right = min(delta, delta**2 * c / (root * eta * w))
        if log_left <= math.log(ROOM * right):
            lag = step * eta - x + S / (root * c) * (excess + root * delta) + delta
            return Band(step, eta, max(0.0, size - omega), size + omega, lag)
    return None


def compared(problem: Problem) -> tuple[int, float]:
    """L and the log of pi_min of Theorem A, for the samples that compare tokens.

    Samples of one token have no gradient, and merged samples have one loss, so that they count as
    one. `max_length` and `log_pi_min` of the problem, those of all samples, may give a weaker K.
    """
    rivals = np.add.reduceat(problem.rival_count, problem.start[:-1])
    return int((problem.optimal_count + rivals).max()), float(problem.log_pi.min())


def sentences(
    problem: Problem, constants: bounds.Constants, weights: Floats, step: int, gap: float
) -> list[str]:
    """Theorem B's bound at a step beside the trivial one, and Theorem E's for all later ones.

    Args:
        problem: the data.
        constants: those of the run.
        weights: (K,), W_kq at the step.
        step: steps of stage 2 taken.
        gap: A.
    """
    if not problem.frequent:
        return ["Theorem B does not apply to these data: Assumption 3 fails"]
    if not step:
        return []
    S, eta = problem.norm**2, constants.eta
    k = direction.K(*compared(problem))
    ours, trivial = direction.one_minus_cos(S, k, eta, step), direction.one_minus_cos_trivial(S)
    told = (
        f"Theorem B: 1 - cos is at most {ours:.3g} at this step; the norms alone give {trivial:.3g}"
    )
    found = band(problem, weights, step, eta, gap)
    if found is None:
        return [told]
    low, high = found.least**2 / 2, found.most**2 / 2
    return [
        told,
        f"Theorem E: from step {step} on (t eta)^2 (1 - cos) tends to a number between {low:.3g} "
        f"and {high:.3g}, for the exact continuation of this state",
    ]
