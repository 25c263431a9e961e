"""Comparisons of arrays: one inequality at many steps, or for many instances at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ntpverdicts.compare import Compared, NotANumberError
from ntpverdicts.maths import AT, placed, plain

Floats = NDArray[np.float64]


def at_most(
    left: ArrayLike,
    right: ArrayLike,
    where: str = "",
    *,
    at: ArrayLike | None = None,
    scale: ArrayLike | None = None,
) -> Compared:
    """Compare left <= right in every entry; slack and place are those of the worst entry.

    Args:
        left: the smaller side; any shape that broadcasts with `right`.
        right: the larger side.
        where: the place, in words; `{at}` in it becomes the entry of `at`.
        at: for every entry what names it, such as its step.
        scale: size against which slacks are measured; None for the larger of the two sides.

    Raises:
        NotANumberError: an entry is a NaN or an infinity.
        ValueError: there is no entry.
    """
    low, high = _numbers(left, where, at), _numbers(right, where, at)
    size = np.maximum(np.abs(low), np.abs(high)) if scale is None else _numbers(scale, where, at)
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
    """Compare left >= right in every entry; arguments as for `at_most`, with the sides swapped."""
    return at_most(right, left, where, at=at, scale=scale)


def equal(
    left: ArrayLike,
    right: ArrayLike,
    where: str = "",
    *,
    at: ArrayLike | None = None,
    scale: ArrayLike | None = None,
) -> Compared:
    """Compare left = right in every entry; the slack is minus the largest relative distance."""
    low, high = _numbers(left, where, at), _numbers(right, where, at)
    size = np.maximum(np.abs(low), np.abs(high)) if scale is None else _numbers(scale, where, at)
    return _worst(-np.abs(high - low), size, where, at)


def slack(values: ArrayLike, where: str = "", *, at: ArrayLike | None = None) -> Compared:
    """The comparison with given slacks, which are negative where the statement is violated."""
    found = _numbers(values, where, at)
    return _worst(found, np.ones_like(found), where, at)


def _numbers(values: ArrayLike, where: str, at: ArrayLike | None) -> Floats:
    """An array of numbers."""
    found = np.atleast_1d(np.asarray(values, dtype=float))
    bad = ~np.isfinite(found)
    if bad.any():
        first = int(bad.ravel().argmax())
        words = plain(_place(where, at, found.shape, first)) or "a comparison"
        raise NotANumberError(f"{words}: {found.ravel()[first]} where a number was due")
    return found


def _worst(gap: Floats, size: Floats, where: str, at: ArrayLike | None) -> Compared:
    """The smallest relative gap and its place."""
    if not gap.size:
        raise ValueError(f"{where or 'a comparison'}: nothing to compare; say that it is left out")
    relative = (gap / np.where(size > 0, size, 1.0)).ravel()
    worst = int(relative.argmin())
    place = _place(where, at, gap.shape, worst)
    return Compared(float(relative[worst]) + 0.0, place, points=gap.size)


def _place(where: str, at: ArrayLike | None, shape: tuple[int, ...], entry: int) -> str:
    """The words for one entry of the compared arrays, counted row by row."""
    if at is None or AT not in where:
        return where.replace(AT, "")
    if np.prod(shape) < np.size(at):  # one number that is compared with many
        return where.replace(AT, "any")
    return placed(where, np.broadcast_to(np.asarray(at), shape).ravel()[entry].item())
