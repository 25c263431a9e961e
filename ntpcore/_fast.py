"""The inner loops of stage 2 for long runs: the numbers of `_kernel`, much sooner.

There are two phases, told apart by the smallest gap W[o, q] - W[j, q] of a comparable pair.

At first, e^W fits into a float. With v_j = (count of j / count of o) e^(W[j] - W[o]) and
R = sum_j v_j, m_o = 1 / (1 + R), m_j = m_o v_j, E_j = e^(A (m_j - m_o)) and S = sum of E over all
wrong tokens, equation (6) reads

    dL/dW[j, q] =  A pi m_j (E_j + m_o S - sum_k m_k E_k) / (1 + S)
    dL/dW[o, q] = -A pi m_o ((1 - m_o) S + sum_k m_k E_k) / (1 + S),

which takes one exponential per entry of W and one per token of a sample. Samples with equally many
rivals stand side by side, so that the processor takes several at once.

Once (1 + A) R < 1e-17 for every sample, E_j = e^-A and m_o = 1 to double precision, and so all
samples have the same factor. What is left is the gradient of sum_e C_e e^-(W[a] - W[b]) over the
comparable pairs e = (a, b), with C_e = sum of pi (count of b / count of a). No gap shrinks from
there on, so that this stays true.
"""

from __future__ import annotations

import importlib
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ntpcore.compiled import compiled, compiled_with
from ntpcore.problem import Problem

try:
    prange = importlib.import_module("numba").prange
except ImportError:
    prange = range

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Singles = NDArray[np.float32]
Indices = NDArray[np.uint32]

LANES = 128  # samples whose numbers fit into the nearest cache together
CHUNK = 4096  # entries that are dealt with together, all samples of a query in one chunk
LARGEST_WEIGHT = 300.0  # e^(+-2 * 300) is a float, and so is the square of a gradient
LARGEST_GAP = 200.0  # of A: so that e^A is harmless beside that
LARGEST_RATIO = 150.0  # of the logarithms of two frequencies, likewise
LARGEST_COUNT = 2**24  # of occurrences, the last integer that float32 holds
# Where rows of LANES numbers start in one array: from constant distances the compiler sees that
# they do not overlap, without which it would not use vector instructions.
MINE, BACK, TOTAL, WRONG, MEAN, SCALE, GROWTH, WEIGHT = (LANES * row for row in range(8))
NEGLIGIBLE = 1e-17  # a tenth of the last digit of 1

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_ROUND = 1.5 * 2.0**52  # adding it rounds to an integer, which then stands in the lowest bits
_SAFE = {"contract", "nsz", "nnan", "ninf"}  # not "reassoc": it would cancel _ROUND


class Packed(NamedTuple):
    """The fixed part of a run, laid out for the first phase.

    Rivals of a group with n samples stand slot by slot: rival s of its sample i has the place
    group_rival + s n + i.

    Attributes:
        chunk_entry: (C + 1,), where the entries of each chunk start.
        chunk_group: (C + 1,), where its groups start.
        group_sample: (G + 1,), where the samples of each group start.
        group_rival: (G,), where its rivals start.
        group_size: (G,), how many rivals each of its samples has.
        best: (S,), entry of the optimal token.
        best_count: (S,), how often it occurs.
        pi: (S,), share of the sample times a constant that keeps gradients within floats.
        rival: (M,), entry of each rival.
        rival_count: (M,), how often it occurs.
        sign: (K,), 1 for an optimal entry, -1 for others.
        vocab_size: |V|.
        gap: A.
    """

    chunk_entry: Integers
    chunk_group: Integers
    group_sample: Integers
    group_rival: Integers
    group_size: Integers
    best: Indices
    best_count: Singles
    pi: Floats
    rival: Indices
    rival_count: Singles
    sign: Floats
    vocab_size: int
    gap: float


class Merged(NamedTuple):
    """What is left of the data in the second phase.

    Attributes:
        upper: (E,), entry of the optimal token of each comparable pair.
        lower: (E,), entry of the other.
        log_c: (E,), log of C_e.
        least_gap: the second phase begins once no gap is smaller.
    """

    upper: Indices
    lower: Indices
    log_c: Floats
    least_gap: float


def merge(problem: Problem, gap: float) -> Merged:
    """The second phase of a problem, for any data."""
    upper, lower = problem.pairs[:, 0], problem.pairs[:, 1]
    entries = len(problem.entry_token)
    key = problem.optimal[problem.sample_of] * entries + problem.rival
    place = np.searchsorted(upper * entries + lower, key)
    terms = problem.log_pi[problem.sample_of] + problem.log_ratio
    top = np.full(len(upper), -inf)
    np.maximum.at(top, place, terms)
    total = np.bincount(place, np.exp(terms - top[place]), len(upper))
    ratios = np.add.reduceat(np.exp(problem.log_ratio), problem.start[:-1])
    least_gap = float(np.log1p(gap) + np.log(ratios.max()) - np.log(NEGLIGIBLE))
    mixed = _interleaved(np.array([0, len(upper)]))
    log_C = top + np.log(total)
    return Merged(
        upper[mixed].astype(np.uint32), lower[mixed].astype(np.uint32), log_C[mixed], least_gap
    )


def pack(problem: Problem, gap: float) -> Packed | None:
    """The first phase of a problem; None where the numbers could leave the range of floats."""
    spread = float(np.ptp(problem.log_pi))
    most = max(int(problem.optimal_count.max()), int(problem.rival_count.max()))
    if gap > LARGEST_GAP or spread > LARGEST_RATIO or most > LARGEST_COUNT:
        return None
    samples, entries = len(problem.optimal), len(problem.entry_token)
    first = np.searchsorted(problem.entry_query, problem.entry_query)  # of the entry's query
    chunk = first[problem.optimal] // CHUNK
    sizes = np.diff(problem.start)
    order = np.lexsort((np.arange(samples), sizes, chunk))
    new = np.flatnonzero(np.diff(chunk[order]) | np.diff(sizes[order])) + 1
    group_sample = np.concatenate([[0], new, [samples]])
    order = order[_interleaved(group_sample)]
    group_size = sizes[order][group_sample[:-1]]
    numbers = np.diff(group_sample)
    group_rival = np.concatenate([[0], np.cumsum(numbers * group_size)[:-1]])
    group = np.repeat(np.arange(len(numbers)), numbers)
    within = np.arange(samples) - group_sample[group]
    source = np.empty(len(problem.rival), np.int64)
    for slot in range(int(group_size.max())):
        has = sizes[order] > slot
        at = group_rival[group] + slot * numbers[group] + within
        source[at[has]] = problem.start[order][has] + slot
    chunks = np.unique(first // CHUNK)
    return Packed(
        np.append(np.searchsorted(first // CHUNK, chunks), entries),
        np.append(np.searchsorted(chunk[order][group_sample[:-1]], chunks), len(numbers)),
        group_sample,
        group_rival,
        group_size,
        problem.optimal[order].astype(np.uint32),
        problem.optimal_count[order].astype(np.float32),
        np.exp(problem.log_pi[order] - problem.log_pi.max() + gap),
        problem.rival[source].astype(np.uint32),
        problem.rival_count[source].astype(np.float32),
        np.where(problem.is_optimal, 1.0, -1.0),
        problem.vocab_size,
        float(gap),
    )


def _interleaved(start: Integers) -> Integers:
    """Places in an order in which neighbours of one group were far apart before.

    Samples of one query stand together in the data; adding to the same entry many times in a row
    would wait for each sum.
    """
    numbers = np.diff(start)
    group = np.repeat(np.arange(len(numbers)), numbers)
    within = np.arange(start[-1]) - start[group]
    stride = np.maximum(numbers // 8, 1)[group]
    return np.lexsort((within // stride, within % stride, group))


def bytes_of(packed: Packed) -> int:
    """How much memory the arrays take."""
    return sum(part.nbytes for part in packed if isinstance(part, np.ndarray))


@compiled_with(fastmath=_SAFE)
def _reduced(r: float) -> float:
    """e^r - 1 for |r| <= log(2) / 2: the next term of the series is below 2^-52."""
    p = 1.0 / 479001600.0  # 1 / 12!
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    value: float = p * r
    return value


@compiled_with(fastmath=_SAFE)
def _power_of_two(n: float) -> float:
    """2^n for an integer n from -1022 to 1023, by its bits."""
    bits = (np.float64(n + _ROUND).view(np.int64) + np.int64(1023)) << np.int64(52)
    power: float = np.int64(bits).view(np.float64)
    return power


@compiled_with(fastmath=_SAFE)
def fast_exp(x: float) -> float:
    """e^x for |x| < 700, without branches and calls, so that loops use vector instructions."""
    n = x * _LOG2_E + _ROUND - _ROUND
    power = _power_of_two(n)
    value: float = _reduced(x - n * _LN2_HIGH - n * _LN2_LOW) * power + power
    return value


@compiled_with(fastmath=_SAFE)
def fast_expm1(x: float) -> float:
    """e^x - 1 for |x| < 700, likewise."""
    n = x * _LOG2_E + _ROUND - _ROUND
    power = _power_of_two(n)
    value: float = _reduced(x - n * _LN2_HIGH - n * _LN2_LOW) * power + (power - 1.0)
    return value


@compiled_with(fastmath=_SAFE)
def _exponentials(x: Floats, out: Floats) -> None:
    """e^x for |x| < 700."""
    for i in range(len(x)):
        out[i] = fast_exp(x[i])


@compiled_with(fastmath=_SAFE)
def _sweep(
    p: Packed,
    first_group: int,
    last_group: int,
    factor: Floats,
    turn: Floats,
    gradient: Floats,
    work: Floats,
    slots: Floats,
) -> tuple[float, float]:
    """Add the gradient, by A times a constant, of the samples of some groups.

    Args:
        p: the data.
        first_group, last_group: from which group on, and up to which.
        factor: (K,), e^W.
        turn: (K,), e^(sign dW) - 1 of the step before.
        gradient: (K,), added to.
        work: (8 LANES,), room for numbers of samples.
        slots: (2 R LANES,), room for numbers of their rivals, at most R for each.

    Returns:
        the smallest growth of a sample's odds m_o / (1 - m_o) by the step before, as a ratio less
        1; and the largest (count of o) / m_o.
    """
    gap = p.gap
    for i in range(LANES):
        work[GROWTH + i], work[WEIGHT + i] = inf, 0.0
    for g in range(first_group, last_group):
        rivals, last = p.group_size[g], p.group_sample[g + 1]
        number = last - p.group_sample[g]
        absent = p.vocab_size - 1.0 - rivals
        for first in range(p.group_sample[g], last, LANES):
            lanes = min(LANES, last - first)
            best, count = p.best[first : first + lanes], p.best_count[first : first + lanes]
            pi = p.pi[first : first + lanes]
            place = p.group_rival[g] + first - p.group_sample[g]
            for i in range(lanes):
                work[SCALE + i], work[BACK + i] = factor[best[i]], turn[best[i]]
            for i in range(lanes):
                work[SCALE + i] = 1.0 / (count[i] * work[SCALE + i])
                work[TOTAL + i] = 0.0
                work[MEAN + i] = 0.0
            for s in range(rivals):
                both = slots[2 * s * LANES : 2 * (s + 1) * LANES]
                rival = p.rival[place + s * number : place + s * number + lanes]
                often = p.rival_count[place + s * number : place + s * number + lanes]
                for i in range(lanes):
                    both[i], both[LANES + i] = factor[rival[i]], turn[rival[i]]
                for i in range(lanes):
                    both[i] *= often[i] * work[SCALE + i]
                    work[TOTAL + i] += both[i]
                    work[MEAN + i] += both[i] * both[LANES + i]
            for i in range(lanes):
                total, back = work[TOTAL + i], work[BACK + i]
                grown = back + (1.0 + back) * work[MEAN + i] / total
                work[GROWTH + i] = grown if grown < work[GROWTH + i] else work[GROWTH + i]
                heavy = count[i] * (1.0 + total)
                work[WEIGHT + i] = heavy if heavy > work[WEIGHT + i] else work[WEIGHT + i]
                mine = 1.0 / (1.0 + total)  # m_o
                work[MINE + i] = mine
                work[WRONG + i] = absent * fast_exp(-gap * mine)
                work[MEAN + i] = 0.0
            for s in range(rivals):
                both = slots[2 * s * LANES : 2 * (s + 1) * LANES]
                for i in range(lanes):
                    mass = both[i] * work[MINE + i]  # m_j
                    odds = fast_exp(gap * (mass - work[MINE + i]))  # E_j
                    both[i] = mass
                    both[LANES + i] = odds
                    work[WRONG + i] += odds
                    work[MEAN + i] += mass * odds
            for i in range(lanes):
                mine, wrong, mean = work[MINE + i], work[WRONG + i], work[MEAN + i]
                scale = pi[i] / (1.0 + wrong)
                work[SCALE + i] = scale
                work[BACK + i] = scale * mine * (work[TOTAL + i] * mine * wrong + mean)
                work[MEAN + i] = mine * wrong - mean
            for i in range(lanes):
                gradient[best[i]] -= work[BACK + i]
            for s in range(rivals):
                both = slots[2 * s * LANES : 2 * (s + 1) * LANES]
                rival = p.rival[place + s * number : place + s * number + lanes]
                for i in range(lanes):
                    both[i] *= work[SCALE + i] * (both[LANES + i] + work[MEAN + i])
                for i in range(lanes):
                    gradient[rival[i]] += both[i]
    return work[GROWTH : GROWTH + LANES].min(), work[WEIGHT : WEIGHT + LANES].max()


@compiled_with(fastmath=_SAFE)
def _move(
    weights: Floats, factor: Floats, turn: Floats, sign: Floats, gradient: Floats, rate: float
) -> None:
    """Move entries by -rate times their gradient, and follow with e^W and e^(sign dW) - 1."""
    for x in range(len(weights)):
        step = -rate * gradient[x]
        weights[x] += step
        turn[x] = fast_expm1(sign[x] * step)
        factor[x] = fast_exp(weights[x])


@compiled_with(fastmath={"reassoc", "contract"})
def _squares(values: Floats) -> float:
    """Sum of squares."""
    total = 0.0
    for x in range(len(values)):
        total += values[x] * values[x]
    return total


def _advance(
    p: Packed,
    weights: Floats,
    room: Floats,
    eta: float,
    first_step: int,
    steps: int,
    change: float,
    change_step: int,
    log_weight: float,
    threads: int,
) -> tuple[int, float, int, float]:
    """Take normalized gradient steps of the first phase in place.

    Args:
        p: the data.
        weights: (K,), the entries of W_kq; changed.
        room: (threads, (2 R + 8) LANES), no sample having more than R rivals.
        eta: step size.
        first_step: number of steps taken before.
        steps: number of steps to take.
        change, change_step, log_weight: the parts of `_kernel.Track` so far.
        threads: how many threads share the chunks; the numbers do not depend on it.

    Returns:
        as `_kernel.advance`.
    """
    chunks = len(p.chunk_entry) - 1
    factor, turn = np.empty_like(weights), np.zeros_like(weights)
    gradient = np.empty_like(weights)
    growth, heaviest, squares = np.empty(chunks), np.empty(chunks), np.empty(chunks)
    _exponentials(weights, factor)
    least, heavy, done = np.expm1(change), 0.0, steps
    for step in range(steps + 1):
        for t in prange(threads):
            work, slots = room[t, : 8 * LANES], room[t, 8 * LANES :]
            for c in range(t, chunks, threads):
                first, last = p.chunk_entry[c], p.chunk_entry[c + 1]
                gradient[first:last] = 0.0
                growth[c], heaviest[c] = _sweep(
                    p, p.chunk_group[c], p.chunk_group[c + 1], factor, turn, gradient, work, slots
                )
                squares[c] = _squares(gradient[first:last])
        norm = 0.0
        for c in range(chunks):
            norm += squares[c]
            if step > 0 and growth[c] < least:
                least, change, change_step = growth[c], np.log1p(growth[c]), first_step + step
            if step < steps:
                heavy = max(heavy, heaviest[c])
        norm = sqrt(norm)
        if step == steps or norm == 0.0:
            done = step
            break
        for t in prange(threads):
            for c in range(t, chunks, threads):
                first, last = p.chunk_entry[c], p.chunk_entry[c + 1]
                _move(
                    weights[first:last],
                    factor[first:last],
                    turn[first:last],
                    p.sign[first:last],
                    gradient[first:last],
                    eta / norm,
                )
    if heavy > 0.0:
        log_weight = min(log_weight, -np.log(heavy))
    return done, change, change_step, log_weight


advance = compiled(_advance)
advance_on_threads = compiled_with(parallel=True)(_advance)


@compiled_with(fastmath=_SAFE)
def advance_merged(m: Merged, weights: Floats, eta: float, steps: int) -> None:
    """Take normalized gradient steps of the second phase in place.

    A term e^x is kept as e^x 2^-shift, with a shift that follows the largest one: scaling by powers
    of two changes no digit of the direction. A term below 2^-1000 of the largest counts as that.

    Args:
        m: the data.
        weights: (K,), the entries of W_kq; changed.
        eta: step size.
        steps: number of steps to take.
    """
    upper, lower, log_C = m.upper, m.lower, m.log_c
    terms, gradient = np.empty(len(log_C)), np.zeros_like(weights)
    top = -inf
    for e in range(len(log_C)):
        top = max(top, log_C[e] + (weights[lower[e]] - weights[upper[e]]))
    shift = np.floor(top * _LOG2_E)
    for _ in range(steps):
        for e in range(len(log_C)):
            terms[e] = weights[lower[e]] - weights[upper[e]]
        for e in range(len(log_C)):
            x = log_C[e] + terms[e]
            n = x * _LOG2_E + _ROUND - _ROUND
            power = _power_of_two(n - shift if n - shift > -1000.0 else -1000.0)
            terms[e] = _reduced(x - n * _LN2_HIGH - n * _LN2_LOW) * power + power
        for e in range(len(log_C)):
            gradient[upper[e]] -= terms[e]
            gradient[lower[e]] += terms[e]
        norm = sqrt(_squares(gradient))
        rate = eta / norm
        shift += (np.float64(norm).view(np.int64) >> 52) - 1023
        for x in range(len(weights)):
            weights[x] -= rate * gradient[x]
            gradient[x] = 0.0
