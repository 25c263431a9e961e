"""Steps that nobody can wait for are refused, with an estimate from the first of them."""

from __future__ import annotations

import time
from collections.abc import Callable

from ntpcore.data.dataset import InputError

FASTER = 20.0  # how much faster compiled loops may become on the way: `stepping.SPEED`
YEAR = 365.25 * 86400  # seconds
_LOOK = 0.5  # seconds of steps from which the rest is estimated

Progress = Callable[[int, int], None]


def refuse_years(
    progress: Progress | None = None,
    faster: float = FASTER,
    clock: Callable[[], float] = time.monotonic,
) -> Progress:
    """A progress that ends a run which would take longer than a year.

    Args:
        progress: called in turn.
        faster: how much faster later steps may be than the first ones.
        clock: seconds.

    Raises:
        InputError: when called, once the first steps tell that the rest takes years.
    """
    first: list[tuple[float, int]] = []
    decided: list[bool] = []

    def look(done: int, total: int) -> None:
        now = clock()
        if not first:
            first.append((now, done))
        elapsed, steps = now - first[0][0], done - first[0][1]
        if not decided and elapsed >= _LOOK and steps > 0:
            decided.append(True)
            years = elapsed / steps * (total - done) / faster / YEAR
            if years > 1:
                raise InputError(
                    f"--steps {total} would take more than {years:.2g} years, were every step "
                    f"{faster:g} times as fast as the first ones; give fewer"
                )
        if progress is not None:
            progress(done, total)

    return look
