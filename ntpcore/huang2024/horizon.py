"""Stage 2 far beyond the steps that can be taken one by one: an approximation, not Algorithm 1.

Late in a run, W(t) = s u + v with s = t eta, u = W_kq_star / ||W_kq_star|| and a small offset v.
For small steps, v follows the normalized gradient flow

    dv / d log s = s (P / |P| - u),  P = B^T p,  p_e = C_e exp(-(B v)_e - s slack_e / |W_kq_star|),

with the pairs e and C_e of `_fast`, B v the gaps of v, and slack_e the exact margin of W_kq_star
at e less 1. At s = 1e13 the difference has lost all its digits, and the equation is stiff. So we
do not integrate it as it stands. Call a tight pair a bond if some dual solution is positive on it.
Bonds join entries to components, on each of which W_kq_star sums to zero. Then

* v within the components follows at once: it minimises the convex function sum_e p_e, apart from
  terms of order 1 / s^2;
* the mean z_c of v over a component is moved by the pairs between components only, the others
  cancel in the sum: dz_c / d log s = s (sum of +-p_e over pairs that leave c) / (|P| size of c);
* along u, v loses s |Q P|^2 / (|P| (|P| + <u, P>)), Q P being the component means of P.

Here nothing large is subtracted from anything large, and all rates are of order one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from ntpcore.huang2024.fast import packing as _packing
from ntpcore.huang2024.problem import Problem

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TOLERANCE = 1e-9  # of the integrator; its error is then far below what the flow itself leaves out
NEWTON_STEPS = 100


@dataclass(frozen=True, eq=False)
class Flow:
    """The flow of a problem; K entries, E comparable pairs, c components.

    Attributes:
        upper, lower: (E,), the ends of each pair.
        log_c: (E,), log of C_e.
        rate: (E,), slack_e / ||W_kq_star||.
        unit: (K,), u.
        length: ||W_kq_star||.
        component: (K,), the component of each entry.
        inner: (K, K - c - 1), an orthonormal basis of what sums to 0 on components and is
            orthogonal to u.
        least_gap: the smallest gap from which on the flow has the right gradient.
    """

    upper: Integers
    lower: Integers
    log_c: Floats
    rate: Floats
    unit: Floats
    length: float
    component: Integers
    inner: Floats
    least_gap: float

    def gaps(self, v: Floats) -> Floats:
        """(E,), B v."""
        return v[self.upper] - v[self.lower]

    def logs(self, v: Floats, s: float) -> Floats:
        """(E,), log p_e."""
        values: Floats = self.log_c - self.gaps(v) - s * self.rate
        return values


@dataclass(frozen=True, eq=False)
class Horizon:
    """What the flow gives at the steps asked for; R steps.

    Attributes:
        step: (R,), t.
        offset: (R, K), W(t) - t eta W_kq_star / ||W_kq_star||.
        one_minus_cos: (R,), 1 - cos of the angle between W and W_kq_star.
        norm: (R,), ||W||.
        log_excess: (R,), log(L - L_star).
        jump: largest difference between the offset of the run where the flow takes over and that of
            the flow.
    """

    step: Floats
    offset: Floats
    one_minus_cos: Floats
    norm: Floats
    log_excess: Floats
    jump: float


def flow(problem: Problem, gap: float) -> Flow:
    """The flow of a problem; dense, for small ones.

    Args:
        problem: the data.
        gap: A.
    """
    columns, merged = problem.columns, _packing.merge(problem, gap)
    upper, lower = merged.upper.astype(np.int64), merged.lower.astype(np.int64)
    k, m = columns.k, columns.m
    slack = (m[upper] * k[lower] - k[upper] * m[lower]) / (
        (k[upper] + m[upper]) * (k[lower] + m[lower])
    )
    component = _components(problem)
    unit = problem.W_kq_star / problem.norm
    sizes = np.bincount(component)
    fixed = np.zeros((len(unit), len(sizes) + 1))
    fixed[np.arange(len(unit)), component] = 1 / np.sqrt(sizes[component])
    fixed[:, -1] = unit
    inner = np.linalg.qr(fixed, mode="complete")[0][:, len(sizes) + 1 :]
    return Flow(
        upper,
        lower,
        merged.log_c,
        slack / problem.norm,
        unit,
        problem.norm,
        component,
        inner,
        merged.least_gap,
    )


def _components(problem: Problem) -> Integers:
    """The component of each entry: those that bonds join.

    A tight pair can carry a multiplier iff its ends are strongly connected, forward along tight
    pairs and back along those that ship (see `asymptotics.degenerate_pairs`).
    """
    columns = problem.columns
    upper, lower = columns.upper, columns.lower
    tight = columns.m[upper] * columns.k[lower] == columns.k[upper] * columns.m[lower]
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_edges_from(zip(upper[tight].tolist(), lower[tight].tolist(), strict=True))
    ships = columns.units > 0
    graph.add_edges_from(zip(lower[ships].tolist(), upper[ships].tolist(), strict=True))
    component = np.empty(len(columns.k), np.int64)
    for number, members in enumerate(nx.strongly_connected_components(graph)):
        component[list(members)] = number
    return component


def extend(
    problem: Problem, weights: Floats, step: int, eta: float, gap: float, steps: Floats
) -> Horizon:
    """Follow the flow from a late state of a run.

    Args:
        problem: the data.
        weights: (K,), the entries of W_kq of the run.
        step: how many steps it took.
        eta: step size, less than 2 ||W_kq_star||: with larger ones Algorithm 1 may not settle.
        gap: A.
        steps: (R,), the steps to report, increasing and not below `step`.

    Raises:
        ValueError: the run is too young, a step is before it, or the step size is too large.
    """
    one = flow(problem, gap)
    least = float(one.gaps(weights).min())
    if least < one.least_gap:
        raise ValueError(
            f"the smallest gap is {least:.3g} at step {step}; the flow needs {one.least_gap:.3g}, "
            "so take more steps first"
        )
    if eta >= 2 * one.length:
        raise ValueError(f"eta is {eta!r}; the flow needs less than {2 * one.length:.3g}")
    times = np.asarray(steps, dtype=np.float64)
    if not len(times) or times[0] < step or (np.diff(times) <= 0).any():
        raise ValueError(f"steps must increase from {step} on")
    s = step * eta
    start = weights - s * one.unit
    state = _state(one, start)
    inner = _settle(one, state, s, one.inner.T @ start)
    jump = float(np.abs(_offset(one, state, inner) - start).max())
    logs = np.log(times * eta)
    guess = [inner]  # the last inner part, from which the next one is found in a few steps

    def velocity(log_s: float, at: Floats) -> Floats:
        rate, guess[0] = _velocity(one, log_s, at, guess[0])
        return rate

    solution = solve_ivp(
        velocity,
        (math.log(s), max(logs[-1], math.log(s))),
        state,
        method="DOP853",
        t_eval=logs,
        rtol=TOLERANCE,
        atol=TOLERANCE,
    )
    if not solution.success:
        raise ArithmeticError(f"the flow could not be followed: {solution.message}")
    offsets = []
    for log_s, at in zip(logs, solution.y.T, strict=True):
        inner = _settle(one, at, math.exp(log_s), inner)
        offsets.append(_offset(one, at, inner))
    return _report(one, problem.vocab_size, gap, times, times * eta, np.array(offsets), jump)


def _state(one: Flow, v: Floats) -> Floats:
    """Component means of v, and its part along u."""
    sizes = np.bincount(one.component)
    return np.append(np.bincount(one.component, v) / sizes, one.unit @ v)


def _offset(one: Flow, state: Floats, inner: Floats) -> Floats:
    """v from its parts."""
    v: Floats = state[one.component] + state[-1] * one.unit + one.inner @ inner
    return v


def _settle(one: Flow, state: Floats, s: float, inner: Floats) -> Floats:
    """The part of v within the components that minimises sum_e p_e, by Newton's method."""
    rows = one.inner[one.upper] - one.inner[one.lower]  # (E, K - c - 1)
    fixed = one.logs(_offset(one, state, np.zeros_like(inner)), s)
    for _ in range(NEWTON_STEPS):
        total, p = _log_sum(fixed - rows @ inner)
        slope = rows.T @ p
        move = np.linalg.solve((rows.T * p) @ rows, slope)
        gain, size = float(slope @ move), 1.0
        # far away, whole steps may be too long; close by, rounding hides what they gain
        while gain > 1e-8 and _log_sum(fixed - rows @ (inner + size * move))[0] > total - (
            size * gain / 4
        ):
            size /= 2
        inner = inner + size * move
        if gain < 1e-26:
            return inner
    return inner


def _velocity(one: Flow, log_s: float, state: Floats, inner: Floats) -> tuple[Floats, Floats]:
    """d state / d log s, and the inner part there.

    Args:
        one: the flow.
        log_s: log s.
        state: (c + 1,), component means and the part along u.
        inner: a guess of the inner part.
    """
    s, sizes = math.exp(log_s), np.bincount(one.component)
    inner = _settle(one, state, s, inner)
    p = _log_sum(one.logs(_offset(one, state, inner), s))[1]
    along = float(p @ (1 / one.length + one.rate))  # <u, P>: every (B u)_e is that
    a, b = one.component[one.upper], one.component[one.lower]
    leave = a != b
    net = np.bincount(a[leave], p[leave], len(sizes))
    net -= np.bincount(b[leave], p[leave], len(sizes))
    across = float((net**2 / sizes).sum())  # |Q P|^2
    size = math.sqrt(along**2 + across)
    rate = np.append(s * net / (size * sizes), -s * across / (size * (size + along)))
    return rate, inner


def _report(
    one: Flow, vocab_size: int, gap: float, t: Floats, s: Floats, offset: Floats, jump: float
) -> Horizon:
    """Measurements of the flow, in the same units as those of a run."""
    along = s + offset @ one.unit
    across = offset - np.outer(offset @ one.unit, one.unit)
    tangent = np.sqrt((across**2).sum(axis=1)) / along
    secant = np.sqrt(1 + tangent**2)
    floor = math.log1p((vocab_size - 1) * math.exp(-gap))
    sums = np.array([_log_sum(one.logs(v, at))[0] for v, at in zip(offset, s, strict=True)])
    # late, L - L_star = A |V| e^-A / (1 + (|V| - 1) e^-A) sum_e C_e e^-(gap of e)
    log_excess = math.log(gap * vocab_size) - gap - floor + sums - s / one.length
    return Horizon(
        t, offset, tangent**2 / (secant * (1 + secant)), along * secant, log_excess, jump
    )


def _log_sum(logs: Floats) -> tuple[float, Floats]:
    """log sum exp, and its terms as parts of the sum."""
    top = float(logs.max())
    terms = np.exp(logs - top)
    total = float(terms.sum())
    return top + math.log(total), terms / total
