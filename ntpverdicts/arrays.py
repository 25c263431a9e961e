"""Comparisons of arrays: one inequality at many steps, or for many instances at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ntpverdicts.compare import Compared, NotANumberError

Floats = NDArray[np.float64]


def at_most(
    left: ArrayLike,
    right: ArrayLike,
    where: str = "",
    *,
    at: ArrayLike | None = None,
    scale: ArrayLike | None = None,
) -> Compared:
    """left <= right everywhere; the slack and the place are those of the worst entry.

    Args:
        left: any shape that goes with `right`.
        right: the larger side.
        where: the place, in words; `{at}` in it becomes the entry of `at`.
        at: for every entry what names it, such as its step.
        scale: size against which slacks are measured; None for the larger of the two sides.

    Raises:
        NotANumberError: an entry is a NaN or an infinity.
        ValueError: there is no entry.
    """
    low, high = _numbers(left, where), _numbers(right, where)
    size = np.maximum(np.abs(low), np.abs(high)) if scale is None else _numbers(scale, where)
    found = _worst(high - low, size, where, at)
    return replace(found, bound=bool(low.any() and high.any()))


def at_least(
    left: ArrayLike,
    right: ArrayLike,
    where: str = "",
    *,
    at: ArrayLike | None = None,
    scale: ArrayLike | None = None,
) -> Compared:
    """left >= right everywhere."""
    return at_most(right, left, where, at=at, scale=scale)


def equal(
    left: ArrayLike,
    right: ArrayLike,
    where: str = "",
    *,
    at: ArrayLike | None = None,
    scale: ArrayLike | None = None,
) -> Compared:
    """left = right everywhere; the slack is minus the largest distance."""
    low, high = _numbers(left, where), _numbers(right, where)
    size = np.maximum(np.abs(low), np.abs(high)) if scale is None else _numbers(scale, where)
    return _worst(-np.abs(high - low), size, where, at)


def slack(values: ArrayLike, where: str = "", *, at: ArrayLike | None = None) -> Compared:
    """Slacks that were computed already, negative where the statement is violated."""
    found = _numbers(values, where)
    return _worst(found, np.ones_like(found), where, at)


def _numbers(values: ArrayLike, where: str) -> Floats:
    """An array of numbers."""
    found = np.atleast_1d(np.asarray(values, dtype=float))
    if not np.isfinite(found).all():
        bad = found[~np.isfinite(found)][0]
        raise NotANumberError(f"{where or 'a comparison'}: {bad} where a number was due")
    return found


def _worst(gap: Floats, size: Floats, where: str, at: ArrayLike | None) -> Compared:
    """The smallest relative gap and its place."""
    if not gap.size:
        raise ValueError(f"{where or 'a comparison'}: nothing to compare; say that it is left out")
    relative = (gap / np.where(size > 0, size, 1.0)).ravel()
    worst = int(relative.argmin())
    place: Any = ""
    if at is not None:
        place = np.broadcast_to(np.asarray(at), gap.shape).ravel()[worst]
    return Compared(
        float(relative[worst]) + 0.0, where.replace("{at}", str(place)), points=gap.size
    )
