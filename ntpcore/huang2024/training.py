"""Stage 2 of Algorithm 1: normalized gradient descent on W_kq from zero, and what is measured."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ntpcore.data.dataset import InputError
from ntpcore.huang2024.fast import kernel as _kernel
from ntpcore.huang2024.fast import stepping
from ntpcore.huang2024.logs import log_expm1, log_softplus
from ntpcore.huang2024.problem import Problem

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ENTRIES_PER_CALL = 2_000_000  # between two calls of `progress`: well under a second of work


STEPS = 900  # of either stage, as in Section 7 of huang2024
# Beyond these step sizes, squares and exponents of a run leave the range of floats, and rounding
# could refute what holds.
LEAST_RATE, GREATEST_RATE = 1e-12, 1e12


@dataclass(frozen=True)
class Settings:
    """Step counts and step sizes; the defaults are those of huang2024, Section 7, with d = |V|.

    Attributes:
        steps: number of steps of stage 2.
        steps1: number of steps of stage 1.
        eta0: step size of stage 1; None for 0.2 / sqrt(|V|).
        eta: step size of stage 2; None for 0.05 / sqrt(|V|).
    """

    steps: int = STEPS
    steps1: int = STEPS
    eta0: float | None = None
    eta: float | None = None

    def rates(self, vocab_size: int) -> tuple[float, float]:
        """The step sizes eta0 of stage 1 and eta of stage 2 for a vocabulary of this size.

        Raises:
            InputError: a step size is not positive, or is outside 1e-12 to 1e12, or stage 1 takes
                no step.
        """
        eta0 = 0.2 / math.sqrt(vocab_size) if self.eta0 is None else self.eta0
        eta = 0.05 / math.sqrt(vocab_size) if self.eta is None else self.eta
        for name, value in (("--eta0", eta0), ("--eta", eta), ("--steps1", self.steps1)):
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"{name} is {value!r}; give a positive number")
        for name, value in (("--eta0", eta0), ("--eta", eta)):
            if not LEAST_RATE <= value <= GREATEST_RATE:
                raise InputError(
                    f"{name} is {value!r}, where floats no longer carry a run; give a number from "
                    f"{LEAST_RATE:g} to {GREATEST_RATE:g}"
                )
        return eta0, eta


@dataclass(frozen=True, eq=False)
class State:
    """The state of a run of stage 2 after some step.

    Attributes:
        step: number of steps taken.
        weights: (K,), the K entries of W_kq that training can change.
        change: smallest change of a sample's log m_o / (1 - m_o) in one step since the last
            recorded step, m_o being the attention mass on its optimal token; inf if no step was
            taken since then.
        change_step: the step with this smallest change.
        log_weight: smallest log attention weight of one optimal position since the last record.
    """

    step: int
    weights: Floats
    change: float = math.inf
    change_step: int = 0
    log_weight: float = 0.0


@dataclass(frozen=True, eq=False)
class Rows:
    """Measurements of stage 2 at R recorded steps, each an array of shape (R,).

    G is the gradient (6) at W = W_kq. For a sample with query q, o is the optimal token, j a
    non-optimal token, and m_o the attention mass on o. A is the gap of stage 1.

    Attributes:
        step: number t of steps taken.
        loss: L of equation (1), in nats.
        log_excess: log(L - L_star), where L_star = log(1 + (|V| - 1) e^-A) is the least loss.
        norm: ||W||.
        one_minus_cos: 1 - cos of the angle between W and the exact W_kq_star; nan at W = 0.
        least_attention: smallest m_o over all samples.
        least_log_odds: smallest log m_o / (1 - m_o) over all samples.
        least_gap: smallest W[o, q] - W[j, q] over all comparable pairs.
        least_optimal: smallest W[o, q] over all optimal tokens.
        greatest_nonoptimal: largest W[j, q] over all non-optimal tokens; non-comparable tokens
            have 0.
        log_gradient: log ||G||.
        cos_star: <G, W_kq_star> / (||G|| ||W_kq_star||).
        cos_weights: <G, W> / (||G|| ||W||); nan at W = 0.
        needed_alpha: the smallest alpha with <G, W> >= (1 + alpha) <G, W_kq_star> ||W|| /
            ||W_kq_star||, that is cos_weights / cos_star - 1, computed without cancellation; nan
            at W = 0.
        change: smallest change of a sample's log m_o / (1 - m_o) in one step since the previous
            row; inf at step 0. Once every gap W[o, q] - W[j, q] exceeds about 45, the change
            is certain not to be negative, and its size is measured at some steps only.
        change_step: the step with this smallest change.
        log_weight: smallest log of the attention weight of one optimal position, over all states
            from the previous row to this row, both included.
    """

    step: Integers
    loss: Floats
    log_excess: Floats
    norm: Floats
    one_minus_cos: Floats
    least_attention: Floats
    least_log_odds: Floats
    least_gap: Floats
    least_optimal: Floats
    greatest_nonoptimal: Floats
    log_gradient: Floats
    cos_star: Floats
    cos_weights: Floats
    needed_alpha: Floats
    change: Floats
    change_step: Integers
    log_weight: Floats


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A run of stage 2.

    Attributes:
        rows: measurements at the recorded steps.
        state: the state after the last step.
        eta: step size of stage 2.
        gap: A, by how much W_ov of stage 1 lifts the logit of n(x) after token x.
        fingerprint: hash of the problem, see `fingerprint`.
    """

    rows: Rows
    state: State
    eta: float
    gap: float
    fingerprint: str

    @cached_property
    def decreased(self) -> bool:
        """Whether the attention of some sample on its optimal token decreased in some step."""
        return min(float(self.rows.change.min()), self.state.change) < 0


def log_grid(steps: int, per_decade: int = 20) -> Integers:
    """Steps to record: 0, 1, 2, and so on, then evenly spaced in the logarithm, and the last step.

    Grids for different numbers of steps agree below the last step of the shorter grid.
    """
    number = math.ceil(math.log10(max(steps, 1)) * per_decade)
    points = np.round(10.0 ** (np.arange(number + 1) / per_decade))
    return np.unique(np.array([0, *points.tolist(), steps], dtype=np.int64).clip(0, steps))


def floor(vocab_size: int, gap: float) -> float:
    """The least loss at fixed W_ov with gap A: L_star = log(1 + (|V| - 1) e^-A), in nats."""
    return math.log1p((vocab_size - 1) * math.exp(-gap))


def gradient(problem: Problem, weights: Floats, gap: float) -> tuple[float, Floats]:
    """Log of the norm, and direction, of the gradient G of equation (6) at given W_kq.

    Args:
        problem: the data.
        weights: (K,), the K entries of W_kq in `problem`.
        gap: A, the gap of stage 1.

    Returns:
        log ||G||, and G / ||G|| of shape (K,).
    """
    data = stepping.Loops(problem, gap).data
    out = _kernel.buffers(data, len(weights))
    top = _kernel.fill_gradient(data, weights, out)
    size = math.sqrt(float(out.gradient @ out.gradient))
    if size == 0.0:
        raise InputError(
            f"the gradient vanishes at this point, where a step of normalized gradient descent is "
            f"not defined; change the step size or the gap {gap!r}"
        )
    return math.log(gap) + top + math.log(size), out.gradient / size


def run(
    problem: Problem,
    steps: int,
    eta: float,
    gap: float,
    *,
    record: Sequence[int] | Integers | None = None,
    state: Trajectory | None = None,
    progress: Callable[[int, int], None] | None = None,
    keep: Callable[[Trajectory], None] | None = None,
    threads: int = 1,
    plain: bool = False,
    brief: bool = False,
) -> Trajectory:
    """Normalized gradient descent on W_kq from zero, or from the last state of a trajectory.

    A run that was stopped and resumed has the same numbers, bit for bit, as an uninterrupted run.
    Steps taken before `state` cannot be recorded any more. If `record` is None, the row of the step
    where a run stopped is dropped unless `log_grid(steps)` contains this step.

    Args:
        problem: the data.
        steps: number of steps in all, those of `state` included.
        eta: step size.
        gap: A, see `stage1.gap`.
        record: steps to record, in any order; steps outside 0, ..., `steps` are ignored;
            `log_grid(steps)` if None.
        state: the trajectory to resume.
        progress: called now and then with the number of steps taken and the total number.
        keep: called as often as `progress` with the current trajectory, which can be resumed.
        threads: how many threads share the work on large data; the numbers stay the same. More
            threads help only if as many processors are free.
        plain: take every step by the plain loop, the reference for tests of the fast loops.
        brief: take the first steps by the plain loop, so that a short run need not wait until
            numba has compiled the fast loops, which may take the steps after these. The numbers
            of a run with and without `brief` are equal up to rounding, also where it is resumed.

    Raises:
        InputError: steps is negative, eta or gap is not positive, `state` belongs to another run
            or is past `steps`, or the gradient vanishes on the way.

    Source: huang2024, Algorithm 1, lines 6 to 8.
    """
    _check_parameters(steps, eta, gap)
    eta, gap = float(eta), float(gap)  # compiled loops would be compiled again for an integer
    mark = fingerprint(problem)
    if state is None:
        rows: list[dict[str, float]] = []
        at = State(0, np.zeros(len(problem.entry_token)))
    else:
        if (state.fingerprint, state.eta, state.gap) != (mark, eta, gap):
            raise InputError(
                "the trajectory to resume comes from other data, step size or gap; resume it with "
                "those it was made with, or start anew"
            )
        rows, at = _unstack(state.rows), state.state
        if record is None:
            rows, at = _without_last(rows, at, steps)
    if at.step > steps:
        raise InputError(
            f"the trajectory is at step {at.step} already, past {steps}; give --steps {at.step} or "
            "more"
        )
    wanted = {int(step) for step in (log_grid(steps) if record is None else record)}
    last = int(rows[-1]["step"]) if rows else -1
    stops = sorted(step for step in wanted if max(last + 1, at.step) <= step <= steps)
    loops = stepping.Loops(problem, gap, threads, plain, brief)

    def between(now: State) -> None:
        if keep is not None:
            keep(Trajectory(_stack(rows), now, eta, gap, mark))
        if progress is not None:
            progress(now.step, steps)

    for stop in [*stops, steps]:
        at = _advance(loops, at, eta, stop, between)
        if stop in wanted and stop > last:
            rows.append(_measure(problem, loops.data, at))
            at, last = State(at.step, at.weights), stop
    return Trajectory(_stack(rows), at, eta, gap, mark)


def _without_last(
    rows: list[dict[str, float]], at: State, steps: int
) -> tuple[list[dict[str, float]], State]:
    """The rows without that of the stop, if only the stop put it there."""
    if not rows or rows[-1]["step"] != at.step or at.step in log_grid(steps):
        return rows, at
    last = rows[-1]
    track = last["change"], int(last["change_step"]), last["log_weight"]
    return rows[:-1], State(at.step, at.weights, *track)


def _check_parameters(steps: int, eta: float, gap: float) -> None:
    """Refuse what Algorithm 1 does not allow."""
    if steps < 0:
        raise InputError(f"steps is {steps!r}; give 0 or more")
    for name, value in (("the step size eta", eta), ("the gap A of stage 1", gap)):
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{name} is {value!r}; give a positive number")


def _advance(
    loops: stepping.Loops,
    at: State,
    eta: float,
    stop: int,
    between: Callable[[State], None],
) -> State:
    """The state after `stop` steps in all; tells of those on the way."""
    weights = at.weights.copy()
    step, track = at.step, _kernel.Track(at.change, at.change_step, at.log_weight)
    chunk = max(1, ENTRIES_PER_CALL * stepping.SPEED // loops.size)
    while step < stop:
        done, track = stepping.advance(loops, weights, eta, step, min(chunk, stop - step), track)
        step += done
        if done == 0:
            raise InputError(
                f"the gradient vanishes at step {step}, where normalized gradient descent is not "
                "defined; change the step size or the gap"
            )
        between(State(step, weights.copy(), *track))
    return State(step, weights, *track)


def _measure(problem: Problem, data: _kernel.Data, at: State) -> dict[str, float]:
    """The row of a state."""
    out = _kernel.buffers(data, len(at.weights))
    top = _kernel.fill_gradient(data, at.weights, out)
    size = math.sqrt(float(out.gradient @ out.gradient))
    direction, star = out.gradient / size, problem.W_kq_star / problem.norm
    norm = math.sqrt(float(at.weights @ at.weights))
    unit = at.weights / norm if norm else np.full(len(star), math.nan)
    cos_star = float(direction @ star)
    log_excess = _log_excess(data, out)
    upper, lower = problem.pairs[:, 0], problem.pairs[:, 1]
    log_weight = float((out.log_best - data.log_count).min())
    least_odds = float(out.log_odds.min())
    return {
        "step": at.step,
        "loss": floor(data.vocab_size, data.gap) + math.exp(log_excess),
        "log_excess": log_excess,
        "norm": norm,
        "one_minus_cos": float(((unit - star) ** 2).sum()) / 2,
        "least_attention": math.exp(float(out.log_best.min())),
        "least_log_odds": least_odds,
        "least_gap": float((at.weights[upper] - at.weights[lower]).min()),
        "least_optimal": float(at.weights[problem.is_optimal].min()),
        "greatest_nonoptimal": float(at.weights[~problem.is_optimal].max()),
        "log_gradient": math.log(data.gap) + top + math.log(size),
        "cos_star": cos_star,
        "cos_weights": float(direction @ unit),
        "needed_alpha": float(direction @ (unit - star)) / cos_star,
        "change": at.change,
        "change_step": at.change_step,
        "log_weight": min(at.log_weight, log_weight),
    }


def _log_excess(data: _kernel.Data, out: _kernel.Buffers) -> float:
    """log(L - L_star) from the attention weights.

    A sample with u distinct tokens has the excess log1p(e^y) with e^y (1 + (|V| - 1) e^-A) e^A =
    sum_j expm1(A (r + m_j)) + (|V| - u) expm1(A r), summed over its rivals j, r = 1 - m_o.
    """
    counts = np.diff(data.start)
    log_rest = out.log_best - out.log_odds
    log_gap = math.log(data.gap)
    rivals = log_expm1(log_gap + np.repeat(log_rest, counts) + np.log1p(out.share))
    absent = data.vocab_size - 1 - counts
    with np.errstate(divide="ignore"):
        others = np.log(absent) + log_expm1(log_gap + log_rest)
    y = np.logaddexp(np.logaddexp.reduceat(rivals, data.start[:-1]), others)
    y -= data.gap + floor(data.vocab_size, data.gap)
    return float(np.logaddexp.reduce(data.log_pi + log_softplus(y)))


def _stack(rows: Sequence[dict[str, float]]) -> Rows:
    """Rows as columns."""
    names = [field.name for field in fields(Rows)]
    kinds = {name: "i8" if "step" in name else "f8" for name in names}
    return Rows(**{name: np.array([row[name] for row in rows], kinds[name]) for name in names})


def _unstack(rows: Rows) -> list[dict[str, float]]:
    """Columns as rows."""
    names = [field.name for field in fields(Rows)]
    columns = [getattr(rows, name).tolist() for name in names]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def fingerprint(problem: Problem) -> str:
    """A hash of the vocabulary and the arrays of a problem, in hexadecimal."""
    digest = hashlib.sha256("\0".join(problem.vocabulary).encode())
    for field in fields(problem):
        value = getattr(problem, field.name)
        if isinstance(value, np.ndarray):
            digest.update(f"{field.name}{value.dtype}{value.shape}".encode())
            digest.update(value.tobytes())
    return digest.hexdigest()
