"""The inner loops of stage 2, compiled where numba can be imported and plain Python otherwise.

Each sample moves the entries of its optimal token o and its rivals j. With attention masses m,
r = 1 - m_o, s_j = m_j / r, predicted probabilities T and tau_j = T_j / (1 - T_o), equation (6) is

    dL/dW[j, q] =  A pi r (1 - T_o) s_j (tau_j + m_o - r sum_k s_k tau_k)
    dL/dW[o, q] = -A pi r (1 - T_o) m_o (1 + sum_k s_k tau_k).

Where one rival has nearly all attention, the last bracket of the first line would be a difference
of nearly equal numbers. So tau is counted from that rival h, which has the largest share:
with D_j = tau_h - tau_j >= 0 the bracket is sum_k s_k D_k + m_o (1 + sum_k s_k tau_k) - D_j, and
D_h = 0. D_j itself is computed from how much smaller s_j is than s_h, and not from two taus.

The factor pi r (1 - T_o) is kept as a logarithm and scaled by the largest one: normalized gradient
descent does not see the scale.
"""

from __future__ import annotations

from math import exp, expm1, inf, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ntpcore.compiled import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LARGEST_STEP = 700.0  # expm1 of more overflows; a decrease by more than this is reported as this


class Data(NamedTuple):
    """The fixed part of a run; the arrays are those of `problem.Problem`.

    Attributes:
        optimal: (S,), entry of each sample's optimal token.
        log_count: (S,), log of how often it occurs.
        log_pi: (S,), log of the share of the sample.
        start: (S + 1,), where the rivals of each sample start.
        rival: (M,), entry of each rival.
        log_ratio: (M,), log of its number of occurrences by that of the optimal token.
        vocab_size: |V|.
        gap: A, by how much stage 1 lifts the logit of the next token of a token.
    """

    optimal: Integers
    log_count: Floats
    log_pi: Floats
    start: Integers
    rival: Integers
    log_ratio: Floats
    vocab_size: int
    gap: float


class Buffers(NamedTuple):
    """What `fill_gradient` leaves behind; overwritten by each call.

    Attributes:
        gradient: (K,), the gradient divided by A e^top.
        log_odds: (S,), log m_o / (1 - m_o).
        log_best: (S,), log m_o.
        level: (S,), log pi (1 - m_o) (1 - T_o).
        pull: (S,), m_o (1 + sum_k s_k tau_k).
        share: (M,), s_j.
        push: (M,), s_j (tau_j + m_o - r sum_k s_k tau_k).
        below: (M,), D_j.
    """

    gradient: Floats
    log_odds: Floats
    log_best: Floats
    level: Floats
    pull: Floats
    share: Floats
    push: Floats
    below: Floats


class Track(NamedTuple):
    """What is followed at every step, whether recorded or not.

    Attributes:
        change: smallest change of a sample's log m_o / (1 - m_o) in one step.
        step: the step after which it was seen.
        log_weight: smallest log of the attention weight of one optimal position.
    """

    change: float
    step: int
    log_weight: float


def buffers(data: Data, entries: int) -> Buffers:
    """Room for `fill_gradient`, K being the number of entries of W_kq."""
    samples, rivals = len(data.optimal), len(data.rival)
    return Buffers(
        np.empty(entries),
        np.empty(samples),
        np.empty(samples),
        np.empty(samples),
        np.empty(samples),
        np.empty(rivals),
        np.empty(rivals),
        np.empty(rivals),
    )


@compiled
def softplus(x: float) -> float:
    """log(1 + e^x) without overflow."""
    return x + log1p(exp(-x)) if x > 0.0 else log1p(exp(x))


@compiled
def fallen(x: float, power: float) -> float:
    """1 - e^x for x <= 0, given e^x."""
    if x < -0.5:
        return 1.0 - power
    return -expm1(x) if x < 0.0 else 0.0


@compiled
def fill_gradient(data: Data, weights: Floats, out: Buffers) -> float:
    """Fill the buffers at these weights; return top, so that the gradient is A e^top times theirs.

    Args:
        data: the fixed part of the run.
        weights: (K,), the entries of W_kq.
        out: what is filled.

    Source: huang2024, equation (6).
    """
    top = -inf
    for i in range(len(data.optimal)):
        first, last = data.start[i], data.start[i + 1]
        largest = -inf
        for e in range(first, last):
            out.share[e] = data.log_ratio[e] + weights[data.rival[e]]
            largest = max(largest, out.share[e])
        total = 0.0
        for e in range(first, last):
            x = out.share[e] - largest
            out.share[e] = exp(x)
            out.below[e] = fallen(x, out.share[e])  # 1 - s_j / s_h
            total += out.share[e]
        odds = weights[data.optimal[i]] - largest - log(total)
        tail = exp(-abs(odds))
        log_best, log_rest = min(odds, 0.0) - log1p(tail), min(-odds, 0.0) - log1p(tail)
        best = (1.0 if odds > 0.0 else tail) / (1.0 + tail)
        rest = (tail if odds > 0.0 else 1.0) / (1.0 + tail)
        # logits of wrong tokens relative to that of n(h), which is the largest of them
        part = 1.0 / total
        reach = data.gap * rest * part  # A m_h
        wrong = (data.vocab_size - 1 - (last - first)) * exp(-reach)
        for e in range(first, last):
            x = -reach * out.below[e]
            out.share[e] *= part
            out.push[e] = exp(x)
            out.below[e] = fallen(x, out.push[e])
            wrong += out.push[e]
        mean = lead = 0.0
        for e in range(first, last):
            mean += out.share[e] * out.push[e]
            lead += out.share[e] * out.below[e]
        part = 1.0 / wrong
        out.pull[i] = best * (1.0 + mean * part)
        lead = lead * part + out.pull[i]
        for e in range(first, last):
            out.below[e] *= part
            out.push[e] = out.share[e] * (lead - out.below[e])
        out.log_odds[i], out.log_best[i] = odds, log_best
        out.level[i] = data.log_pi[i] + log_rest - softplus(data.gap * best - reach - log(wrong))
        top = max(top, out.level[i])
    out.gradient[:] = 0.0
    for i in range(len(data.optimal)):
        scale = exp(out.level[i] - top)
        out.gradient[data.optimal[i]] -= scale * out.pull[i]
        for e in range(data.start[i], data.start[i + 1]):
            out.gradient[data.rival[e]] += scale * out.push[e]
    return top


@compiled
def advance(
    data: Data,
    weights: Floats,
    out: Buffers,
    lift: Floats,
    eta: float,
    first_step: int,
    steps: int,
    change: float,
    change_step: int,
    log_weight: float,
) -> tuple[int, float, int, float]:
    """Take normalized gradient steps in place, W <- W - eta G / ||G||.

    The change of a sample's log-odds is computed from the step itself, not from two states, so
    that its sign is right even where the state no longer shows it.

    Args:
        data: the fixed part of the run.
        weights: (K,), the entries of W_kq; changed.
        out: buffers for the gradient.
        lift: (K,), room for e^(dW) - 1.
        eta: step size.
        first_step: number of steps taken before.
        steps: number of steps to take.
        change, change_step, log_weight: the parts of `Track` so far.

    Returns:
        steps taken (fewer only where the gradient vanished), then the parts of `Track`.

    Source: huang2024, Algorithm 1 and equation (10).
    """
    for step in range(steps):
        fill_gradient(data, weights, out)
        squares = 0.0
        for k in range(len(weights)):
            squares += out.gradient[k] * out.gradient[k]
        if squares == 0.0:
            return step, change, change_step, log_weight
        rate = -eta / sqrt(squares)
        for k in range(len(weights)):
            move = rate * out.gradient[k]
            weights[k] += move
            lift[k] = expm1(min(move, LARGEST_STEP))
        for i in range(len(data.optimal)):
            grown = 0.0
            for e in range(data.start[i], data.start[i + 1]):
                grown += out.share[e] * lift[data.rival[e]]
            moved = rate * out.gradient[data.optimal[i]] - log1p(max(grown, -1.0 + 2.0**-53))
            if moved < change:
                change, change_step = moved, first_step + step + 1
            log_weight = min(log_weight, out.log_best[i] - data.log_count[i])
    return steps, change, change_step, log_weight
