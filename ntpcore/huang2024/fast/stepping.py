"""Which inner loop takes the next steps of stage 2: the plain one, or a fast one where it is exact.

The choice depends on nothing but the weights, the step size and the number of the step, so that a
run that was stopped and resumed takes the same loops, and has the same numbers, as one that was
not. Whether it could change within the next steps is known beforehand, as a step moves an entry by
eta at most and a gap by sqrt(2) eta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ntpcore.compiled import has_numba
from ntpcore.huang2024.fast import kernel as _kernel
from ntpcore.huang2024.fast import loops as _fast
from ntpcore.huang2024.fast import packing as _packing
from ntpcore.huang2024.problem import Problem

Floats = NDArray[np.float64]

FOLLOWED = 2**16  # in the second phase, changes of log-odds are measured at every such step
LARGEST_RATE = 100.0  # of eta in the second phase, where it moves exponents by less than 2^10
SPEED = 20  # entries that a fast loop deals with while the plain one deals with one, about
# W[o, q] - W[j, q] from which on the fast loop of the first phase serves: its differences lose as
# many digits as 1 / m_o has. Under Assumption 3 no such gap is below zero.
LEAST_GAP = -9.0
# Tokens that the plain loop deals with at first in a brief run: 20 ms of work, where compiling the
# fast loops takes seconds. Section 7's 900 steps on V = 20 are within it.
BRIEF = 500_000
MANY_ENTRIES = 300_000  # from here on, a second thread makes up for what sharing the work costs


@dataclass(frozen=True, eq=False)
class Loops:
    """A problem as the inner loops take it.

    Attributes:
        problem: the data.
        gap: A.
        threads: how many threads may share the work.
        plain: whether only the plain loop may be used.
        brief: whether the plain loop takes the first steps, `BRIEF` tokens of them.
    """

    problem: Problem
    gap: float
    threads: int = 1
    plain: bool = False
    brief: bool = False

    @cached_property
    def data(self) -> _kernel.Data:
        """The data of the plain loop."""
        problem = self.problem
        return _kernel.Data(
            problem.optimal,
            np.log(problem.optimal_count),
            problem.log_pi,
            problem.start,
            problem.rival,
            problem.log_ratio,
            problem.vocab_size,
            float(self.gap),
        )

    @cached_property
    def merged(self) -> _packing.Merged | None:
        """The data of the fast loop of the second phase."""
        return None if self.plain or not has_numba() else _packing.merge(self.problem, self.gap)

    @cached_property
    def packed(self) -> _packing.Packed | None:
        """The data of the fast loop of the first phase; None where it does not apply."""
        return None if self.merged is None else _packing.pack(self.problem, self.gap)

    @cached_property
    def buffers(self) -> tuple[_kernel.Buffers, Floats]:
        """Room for the plain loop."""
        entries = len(self.problem.entry_token)
        return _kernel.buffers(self.data, entries), np.empty(entries)

    @cached_property
    def room(self) -> Floats:
        """Room for the fast loop of the first phase."""
        most = int(np.diff(self.problem.start).max())
        return np.empty((self.useful_threads, (9 + most) * _fast.LANES))

    @property
    def size(self) -> int:
        """Tokens of all merged samples."""
        return len(self.problem.rival) + len(self.problem.optimal)

    @property
    def first_fast(self) -> int:
        """The first step that a fast loop may take."""
        return BRIEF // self.size if self.brief else 0

    @property
    def useful_threads(self) -> int:
        """How many threads are used."""
        return self.threads if self.size >= MANY_ENTRIES else 1


def advance(
    loops: Loops, weights: Floats, eta: float, step: int, most: int, track: _kernel.Track
) -> tuple[int, _kernel.Track]:
    """Take some normalized gradient steps in place, all by the same loop.

    Args:
        loops: the data.
        weights: (K,), the entries of W_kq; changed.
        eta: step size.
        step: number of steps taken before.
        most: how many to take at most by a fast loop; the plain one stops `SPEED` times sooner.
        track: what is followed, so far.

    Returns:
        steps taken, 0 only where the gradient vanishes; then what is followed. In the second phase
        the change of log-odds is not negative, and its size is measured in the first step after a
        recorded one and at multiples of `FOLLOWED`.
    """
    merged = loops.merged
    if merged is None:
        return _plain(loops, weights, eta, step, max(1, most // SPEED), track)
    if step < loops.first_fast:
        return _plain(loops, weights, eta, step, min(most, loops.first_fast - step), track)
    pairs = loops.problem.pairs
    least = float((weights[pairs[:, 0]] - weights[pairs[:, 1]]).min())
    lacking = merged.least_gap - least
    if lacking <= 0:
        last = FOLLOWED - 1 - step % FOLLOWED  # steps before the next that is followed
        if eta > LARGEST_RATE:
            return _plain(loops, weights, eta, step, max(1, most // SPEED), track)
        if track.change == math.inf or last == 0:
            return _plain(loops, weights, eta, step, 1, track)
        done = min(most, last)
        _fast.advance_merged(merged, weights, eta, done)
        return done, track
    soonest = lacking / (1.5 * eta)  # no gap grows by more than sqrt(2) eta in a step
    room = (_fast.LARGEST_WEIGHT - float(np.abs(weights).max())) / eta
    room = min(room, (least - LEAST_GAP) / (1.5 * eta))
    if loops.packed is None or room < 1:
        back = math.inf if loops.packed is None else 1 - room
        todo = max(1, math.floor(min(most // SPEED, soonest, back)))
        return _plain(loops, weights, eta, step, todo, track)
    todo = max(1, math.floor(min(most, soonest, room)))
    loop = _fast.advance if loops.useful_threads == 1 else _fast.advance_on_threads
    done, *tracked = loop(
        loops.packed, weights, loops.room, eta, step, todo, *track, loops.useful_threads
    )
    if done == 0:  # a gradient below the range of floats, which the plain loop does not need
        return _plain(loops, weights, eta, step, 1, track)
    return done, _kernel.Track(*tracked)


def _plain(
    loops: Loops, weights: Floats, eta: float, step: int, todo: int, track: _kernel.Track
) -> tuple[int, _kernel.Track]:
    """Take so many steps by the plain loop."""
    out, lift = loops.buffers
    done, *tracked = _kernel.advance(loops.data, weights, out, lift, eta, step, todo, *track)
    return done, _kernel.Track(*tracked)
