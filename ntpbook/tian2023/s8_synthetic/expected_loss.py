"""Figure 6 on the expected loss: entropy after training by the ratio of the learning rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.heavy_ball import roll
from ntpcore.tian2023 import coupled
from ntpcore.tian2023.coupled import Symmetric
from ntpverdicts.once import once

Floats = NDArray[np.float64]
RATIOS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


@dataclass(frozen=True)
class Size:
    """Classes of Section 8: queries, and next tokens of each."""

    queries: int
    following: int = 2

    @property
    def name(self) -> str:
        """The size in words."""
        queries = "one query" if self.queries == 1 else f"{self.queries} queries"
        each = "one next token" if self.following == 1 else f"{self.following} next tokens"
        return f"{queries} with {each}" + (" each" if self.queries > 1 else "")

    @property
    def data(self) -> coupled.Symmetric:
        """The classes."""
        return coupled.syn(self.queries, self.following)


def all_sizes() -> list[Size]:
    """The sizes of Figure 6."""
    return [Size(1), Size(3), Size(5), Size(10)]


def dip(data: Symmetric, ratios: Sequence[float], eta_Z: float, beta: float, steps: int) -> Floats:
    """Entropy after the last step for each ratio eta_Y/eta_Z (Figure 6 in the population)."""
    return np.array([float(roll(data, r * eta_Z, eta_Z, beta, [steps]).entropy[0]) for r in ratios])


@once
def dips(size: Size, beta: float) -> Floats:
    """Entropies at `RATIOS` after 100 steps, eta_Z/(1 - beta) = 10."""
    return dip(size.data, RATIOS, 10 * (1 - beta), beta, 100)
