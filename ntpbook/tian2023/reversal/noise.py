"""Noise, finite sequences and momentum, each on and off, in the simulator of Section 8.

What is on or off: momentum; the noise of classes (batches); the length T of a sequence, which acts
in two ways, as noise and through the expected gradient of the counts. Without momentum the rates
are ten times as large, so that eta/(1 - beta) is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ntpbook.tian2023.reversal.inertia import Turn, turn
from ntpcore.tian2023.coupled import Symmetric
from ntpcore.tian2023.experiments import Plan, distinct_entropy, simulate

ENDLESS = 10**9  # contextual tokens; their shares are within 1e-4 of the probabilities


@dataclass(frozen=True)
class Setting:
    """One cell of the table.

    Attributes:
        momentum: 0.9 as in the paper's code, or 0.
        batch: sequences in a batch.
        length: contextual tokens of a sequence.
        uniform_start: the paper's start for Syn-Medium instead of zero.
    """

    momentum: float
    batch: int
    length: int
    uniform_start: bool = False


SETTINGS = (
    Setting(0.9, 128, 127),
    Setting(0.9, 128, 127, True),
    Setting(0.9, 128, 2000),
    Setting(0.9, 128, ENDLESS),
    Setting(0.9, 1024, 127),
    Setting(0.0, 128, 127),
    Setting(0.0, 128, 2000),
    Setting(0.0, 128, ENDLESS),
    Setting(0.0, 1024, 127),
)


def simulated(
    data: Symmetric, setting: Setting, ratio: float, seed: int, steps: int, every: int = 10
) -> Turn:
    """The turn of one simulated run, eta_Z/(1 - beta) = 10.

    Args:
        data: classes of Section 8; only their sizes are used.
        setting: what is on and off.
        ratio: eta_Y / eta_Z.
        seed: of samples and start.
        steps: updates.
        every: entropies are kept after so many.
    """
    eta_z = 10.0 * (1 - setting.momentum)
    plan = Plan(
        data.queries,
        data.K // data.queries,
        seed,
        ((ratio * eta_z, eta_z),),
        steps,
        tuple(range(0, steps + 1, every)),
        setting.uniform_start,
        batch=setting.batch,
        length=setting.length,
        momentum=setting.momentum,
    )
    stream = simulate(plan)
    entropy = np.array([distinct_entropy(plan.classes, z) for z in stream.Z[0]])
    return turn(entropy, np.array(plan.record, dtype=np.float64))
