"""Settings, states and runs on which the late flow is tried."""

from __future__ import annotations

import numpy as np

from ntpcore.data import dataset, generate
from ntpcore.data.examples import realize
from ntpcore.data.order import PartialOrder
from ntpcore.huang2024 import horizon, problem, stage1, training

PATH = PartialOrder.of("d", {("a", "c"), ("a", "d"), ("b", "d")})
HAND_OVER = 100_000
EPS = np.finfo(float).eps
# of an offset of length one: less than a hundred steps of the integrator, each within TOLERANCE
INTEGRATED = 100 * horizon.TOLERANCE


def setting_of(name: str):
    """Problem, step size and gap."""
    if name == "path":
        return problem.from_dataset(realize(PATH)), 0.05, 8.0
    if name == "Example 1":
        data = dataset.read("examples/example1.txt")
        return problem.from_dataset(data), 0.025, stage1.gap(4, 900, 0.1)
    setting = generate.experiment(int(name), prefix_closed=False)
    return problem.from_dataset(setting.data), setting.eta, stage1.gap(20, 900, setting.eta0)


def late_state(one, eta, gap, step=HAND_OVER) -> np.ndarray:
    return training.run(one, step, eta, gap, record=[]).state.weights


def a_million_steps(one, eta, gap):
    """A run of so many exact steps, its offset, and what the flow gives from two hand-overs."""
    run, far, flows = None, np.array([1e6]), []
    for step in (HAND_OVER, 2 * HAND_OVER):
        run = training.run(one, step, eta, gap, record=[], state=run)
        flows.append(horizon.extend(one, run.state.weights, step, eta, gap, far))
    run = training.run(one, 1_000_000, eta, gap, record=[1_000_000], state=run)
    return run, run.state.weights - 1e6 * eta * one.W_kq_star / one.norm, flows


def left_out(early, later, rounding):
    """Bound on the error of what was found from an early hand-over: it falls like 1 / t.

    So half of it is gone at twice the hand-over. `rounding` is that of the exact steps.
    """
    return 2 * np.linalg.norm(early - later) + rounding
