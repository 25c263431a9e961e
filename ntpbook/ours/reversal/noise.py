"""Noise, finite sequences and momentum, each on and off, in the simulator of Section 8.

What is on or off: momentum; the noise of classes (batches); the length T of a sequence, which acts
in two ways, as noise and through the expected gradient of the counts. Without momentum the rates
are ten times as large, so that eta/(1 - beta) is the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ntpbook.ours.reversal.inertia import Turn, turn
from ntpbook.tian2023.s8_synthetic.experiments import (
    Integers,
    Plan,
    distinct_entropy,
    samples_of,
    simulate,
)
from ntpcore.tian2023.coupled import Symmetric

ENDLESS = 10**9  # contextual tokens; their shares are within 1e-4 of the probabilities


@dataclass(frozen=True)
class NoiseSetting:
    """What is on, and what is off.

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


@lru_cache(maxsize=8)  # 20 MB each; a comparison goes through its seeds once for each setting
def _drawn(plan: Plan) -> tuple[Integers, Integers]:
    """Samples, kept."""
    return samples_of(plan)


def drawn(plan: Plan) -> tuple[Integers, Integers]:
    """Samples of a plan, which settings with sequences of one length share."""
    return _drawn(replace(plan, rates=((1.0, 1.0),), uniform_start=False, momentum=0.0))


def simulated(
    data: Symmetric, setting: NoiseSetting, ratio: float, seed: int, steps: int, every: int = 10
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
    stream = simulate(plan, drawn(plan))
    entropy = np.array([distinct_entropy(plan.classes, z) for z in stream.Z[0]])
    return turn(entropy, np.array(plan.record, dtype=np.float64))
