"""Levels that this book chose: tolerances of measurements, and what counts as slow or fast.

No statement holds such a number, so that nothing is learned from making it a tenth sharper.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpverdicts import arrays
from ntpverdicts.compare import Compared, at_most

Floats = NDArray[np.float64]


def within(value: float, level: float, where: str = "") -> Compared:
    """value <= level, with an absolute slack."""
    return replace(at_most(value, level, where, scale=1.0), bound=False)


def beyond(value: float, level: float, where: str = "") -> Compared:
    """value >= level, with an absolute slack."""
    return within(-value, -level, where)


def never_rises(values: Floats, where: str = "") -> Compared:
    """Every row is at most the one before, entry by entry; the slack has the unit of the values.

    Args:
        values: (S, ...), by time.
        where: the place, in words.
    """
    return arrays.slack(values[:-1] - values[1:], where)
