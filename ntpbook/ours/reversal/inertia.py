"""The turn of a run: the least entropy of the distinct tokens, and how much follows it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared import reduced_flow
from ntpbook.shared.heavy_ball import roll
from ntpcore.tian2023.coupled import Symmetric

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Turn:
    """Least entropy of the distinct tokens in a run, and what follows it.

    Attributes:
        least: the least entropy.
        at: the step, or time, where it is reached.
        end: entropy at the end.
    """

    least: float
    at: float
    end: float

    @property
    def rise(self) -> float:
        """End minus least; 0 if sparsity never turns back."""
        return self.end - self.least


def turn(entropy: Floats, when: Floats) -> Turn:
    """The turn of a recorded entropy.

    Raises:
        ValueError: an entropy is not a number.
    """
    if not np.isfinite(entropy).all():
        raise ValueError("an entropy is not a number; the run has left the floating-point range")
    i = int(np.argmin(entropy))
    return Turn(float(entropy[i]), float(when[i]), float(entropy[-1]))


def turned(data: Symmetric, ratio: float, eta_Z: float, beta: float, steps: int) -> Turn:
    """The turn of the heavy ball with eta_Y = ratio eta_Z, entropies kept after every step.

    Args:
        data: the classes.
        ratio: eta_Y / eta_Z.
        eta_Z: learning rate of the attention.
        beta: momentum.
        steps: how many.
    """
    path = roll(data, ratio * eta_Z, eta_Z, beta, range(steps + 1))
    return turn(path.entropy, path.t)


def weak_turn(data: Symmetric, ratio: float, until: float = 1e4, relative: float = 1e-10) -> Turn:
    """The flow's own turn on the clock sigma, with `at` as log10 of eta_Z t.

    Args:
        data: the classes.
        ratio: eta_Y / eta_Z.
        until: end of the clock.
        relative: tolerance of the integrator.
    """
    sigma = np.concatenate([[0.0], np.geomspace(0.1, until, 4000)])
    path = reduced_flow.follow(data, ratio, sigma, relative=relative, absolute=relative / 100)
    found = turn(path.entropy, path.sigma)
    log_t = float(np.interp(found.at, path.sigma, path.log_time)) + np.log(data.K / ratio)
    return Turn(found.least, log_t / np.log(10), found.end)
