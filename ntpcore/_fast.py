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

import numpy as np

from ntpcore._packing import Floats, Merged, Packed, Singles
from ntpcore.compiled import compiled, compiled_with

try:
    prange = importlib.import_module("numba").prange
except ImportError:
    prange = range

LANES = 128  # samples whose numbers fit into the nearest cache together
LARGEST_WEIGHT = 300.0  # e^(+-2 * 300) is a float, and so is the square of a gradient
# Where rows of LANES numbers start in one array: from constant distances the compiler sees that
# they do not overlap, without which it would not use vector instructions.
MINE, BACK, TOTAL, WRONG, MEAN, SCALE, GROWTH, WEIGHT = (LANES * row for row in range(8))
RIVAL_1, TURN_1, RIVAL_2, TURN_2, RIVAL_3, TURN_3 = (LANES * row for row in range(8, 14))

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_ROUND = 1.5 * 2.0**52  # adding it rounds to an integer, which then stands in the lowest bits
_SAFE = {"contract", "nsz", "nnan", "ninf"}  # not "reassoc": it would cancel _ROUND


@compiled_with(fastmath=_SAFE)
def _reduced(r: float) -> float:
    """e^r - 1 for |r| <= log(2) / 2: the next term of the series is below 2^-52.

    Summed in pairs, so that no term has to wait for all others.
    """
    square = r * r
    fourth = square * square
    low = (1.0 + r * 0.5) + square * (1.0 / 6.0 + r * (1.0 / 24.0))
    middle = (1.0 / 120.0 + r * (1.0 / 720.0)) + square * (1.0 / 5040.0 + r * (1.0 / 40320.0))
    high = (1.0 / 362880.0 + r * (1.0 / 3628800.0)) + square * (
        1.0 / 39916800.0 + r * (1.0 / 479001600.0)
    )
    p = low + fourth * (middle + fourth * high)
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
def _one_rival(
    room: Floats,
    lanes: int,
    count: Singles,
    often: Singles,
    pi: Floats,
    absent: float,
    gap: float,
    wide: float,
) -> None:
    """What `_sweep` does between gathering and scattering, for samples with one rival.

    All numbers of a sample stay in registers. As m_o + m_j = 1, E_j = e^A (e^(-A m_o))^2.

    Args:
        room: (16 LANES,), the rows of a block of samples, then those of their rivals; changed.
        lanes: how many samples there are.
        count, often: (lanes,), occurrences of the optimal token and of the rival.
        pi: (lanes,), as in `Packed`.
        absent: how many tokens are not in a sample.
        gap: A.
        wide: e^A.
    """
    for i in range(lanes):
        v = room[RIVAL_1 + i] * (often[i] / (count[i] * room[SCALE + i]))
        back, mine = room[BACK + i], 1.0 / (1.0 + v)
        grown = back + (1.0 + back) * room[TURN_1 + i]
        room[GROWTH + i] = grown if grown < room[GROWTH + i] else room[GROWTH + i]
        heavy = count[i] * (1.0 + v)
        room[WEIGHT + i] = heavy if heavy > room[WEIGHT + i] else room[WEIGHT + i]
        share = v * mine  # m_j
        x = fast_exp(-gap * mine)
        odds = wide * x * x
        wrong, mean = absent * x + odds, share * odds
        scale = pi[i] / (1.0 + wrong)
        room[BACK + i] = scale * mine * (share * wrong + mean)
        room[RIVAL_1 + i] = scale * share * (odds + mine * wrong - mean)


@compiled_with(fastmath=_SAFE)
def _two_rivals(
    room: Floats,
    lanes: int,
    count: Singles,
    often_1: Singles,
    often_2: Singles,
    pi: Floats,
    absent: float,
    gap: float,
    wide: float,
) -> None:
    """The same for samples with two rivals, for which E_1 E_2 = e^A (e^(-A m_o))^3."""
    for i in range(lanes):
        scale = 1.0 / (count[i] * room[SCALE + i])
        v_1, v_2 = (
            room[RIVAL_1 + i] * (often_1[i] * scale),
            room[RIVAL_2 + i] * (often_2[i] * scale),
        )
        total = v_1 + v_2
        back, mine = room[BACK + i], 1.0 / (1.0 + total)
        turned = v_1 * room[TURN_1 + i] + v_2 * room[TURN_2 + i]
        grown = back + (1.0 + back) * turned / total
        room[GROWTH + i] = grown if grown < room[GROWTH + i] else room[GROWTH + i]
        heavy = count[i] * (1.0 + total)
        room[WEIGHT + i] = heavy if heavy > room[WEIGHT + i] else room[WEIGHT + i]
        share_1, share_2 = v_1 * mine, v_2 * mine
        x = fast_exp(-gap * mine)
        odds_1 = fast_exp(gap * (share_1 - mine))
        odds_2 = wide * (x * x) * x / odds_1
        wrong, mean = absent * x + odds_1 + odds_2, share_1 * odds_1 + share_2 * odds_2
        scale = pi[i] / (1.0 + wrong)
        room[BACK + i] = scale * mine * (total * mine * wrong + mean)
        rest = mine * wrong - mean
        room[RIVAL_1 + i] = scale * share_1 * (odds_1 + rest)
        room[RIVAL_2 + i] = scale * share_2 * (odds_2 + rest)


@compiled_with(fastmath=_SAFE)
def _three_rivals(
    room: Floats,
    lanes: int,
    count: Singles,
    often_1: Singles,
    often_2: Singles,
    often_3: Singles,
    pi: Floats,
    absent: float,
    gap: float,
) -> None:
    """The same for samples with three rivals."""
    for i in range(lanes):
        scale = 1.0 / (count[i] * room[SCALE + i])
        v_1, v_2 = (
            room[RIVAL_1 + i] * (often_1[i] * scale),
            room[RIVAL_2 + i] * (often_2[i] * scale),
        )
        v_3 = room[RIVAL_3 + i] * (often_3[i] * scale)
        total = v_1 + v_2 + v_3
        back, mine = room[BACK + i], 1.0 / (1.0 + total)
        turned = v_1 * room[TURN_1 + i] + v_2 * room[TURN_2 + i] + v_3 * room[TURN_3 + i]
        grown = back + (1.0 + back) * turned / total
        room[GROWTH + i] = grown if grown < room[GROWTH + i] else room[GROWTH + i]
        heavy = count[i] * (1.0 + total)
        room[WEIGHT + i] = heavy if heavy > room[WEIGHT + i] else room[WEIGHT + i]
        share_1, share_2, share_3 = v_1 * mine, v_2 * mine, v_3 * mine
        odds_1 = fast_exp(gap * (share_1 - mine))
        odds_2 = fast_exp(gap * (share_2 - mine))
        odds_3 = fast_exp(gap * (share_3 - mine))
        wrong = absent * fast_exp(-gap * mine) + odds_1 + odds_2 + odds_3
        mean = share_1 * odds_1 + share_2 * odds_2 + share_3 * odds_3
        scale = pi[i] / (1.0 + wrong)
        room[BACK + i] = scale * mine * (total * mine * wrong + mean)
        rest = mine * wrong - mean
        room[RIVAL_1 + i] = scale * share_1 * (odds_1 + rest)
        room[RIVAL_2 + i] = scale * share_2 * (odds_2 + rest)
        room[RIVAL_3 + i] = scale * share_3 * (odds_3 + rest)


@compiled_with(fastmath=_SAFE)
def _many_rivals(
    room: Floats,
    lanes: int,
    count: Singles,
    often: Singles,
    apart: int,
    pi: Floats,
    absent: float,
    gap: float,
    rivals: int,
) -> None:
    """The same for any number of rivals, row by row; rival s occurs often[s apart + i] times."""
    for i in range(lanes):
        room[SCALE + i] = 1.0 / (count[i] * room[SCALE + i])
        room[TOTAL + i] = 0.0
        room[MEAN + i] = 0.0
    for s in range(rivals):
        both = room[RIVAL_1 + 2 * s * LANES : RIVAL_1 + 2 * (s + 1) * LANES]
        his = often[s * apart : s * apart + lanes]
        for i in range(lanes):
            both[i] *= his[i] * room[SCALE + i]
            room[TOTAL + i] += both[i]
            room[MEAN + i] += both[i] * both[LANES + i]
    for i in range(lanes):
        total, back = room[TOTAL + i], room[BACK + i]
        grown = back + (1.0 + back) * room[MEAN + i] / total
        room[GROWTH + i] = grown if grown < room[GROWTH + i] else room[GROWTH + i]
        heavy = count[i] * (1.0 + total)
        room[WEIGHT + i] = heavy if heavy > room[WEIGHT + i] else room[WEIGHT + i]
        mine = 1.0 / (1.0 + total)  # m_o
        room[MINE + i] = mine
        room[WRONG + i] = absent * fast_exp(-gap * mine)
        room[MEAN + i] = 0.0
    for s in range(rivals):
        both = room[RIVAL_1 + 2 * s * LANES : RIVAL_1 + 2 * (s + 1) * LANES]
        for i in range(lanes):
            share = both[i] * room[MINE + i]  # m_j
            odds = fast_exp(gap * (share - room[MINE + i]))  # E_j
            both[i] = share
            both[LANES + i] = odds
            room[WRONG + i] += odds
            room[MEAN + i] += share * odds
    for i in range(lanes):
        mine, wrong, mean = room[MINE + i], room[WRONG + i], room[MEAN + i]
        scale = pi[i] / (1.0 + wrong)
        room[SCALE + i] = scale
        room[BACK + i] = scale * mine * (room[TOTAL + i] * mine * wrong + mean)
        room[MEAN + i] = mine * wrong - mean
    for s in range(rivals):
        both = room[RIVAL_1 + 2 * s * LANES : RIVAL_1 + 2 * (s + 1) * LANES]
        for i in range(lanes):
            both[i] *= room[SCALE + i] * (both[LANES + i] + room[MEAN + i])


@compiled_with(fastmath=_SAFE)
def _sweep(
    p: Packed,
    first_group: int,
    last_group: int,
    factor: Floats,
    turn: Floats,
    gradient: Floats,
    room: Floats,
) -> tuple[float, float]:
    """Add the gradient, by A times a constant, of the samples of some groups.

    Args:
        p: the data.
        first_group, last_group: from which group on, and up to which.
        factor: (K,), e^W.
        turn: (K,), e^(sign dW) - 1 of the step before.
        gradient: (K,), added to.
        room: ((8 + 2 R) LANES,), rows of numbers of samples, then two for each of their rivals, at
            most R of them.

    Returns:
        the smallest growth of a sample's odds m_o / (1 - m_o) by the step before, as a ratio less
        1; and the largest (count of o) / m_o.
    """
    gap, wide = p.gap, np.exp(p.gap)
    for i in range(LANES):
        room[GROWTH + i], room[WEIGHT + i] = inf, 0.0
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
                room[SCALE + i], room[BACK + i] = factor[best[i]], turn[best[i]]
            for s in range(rivals):
                rival = p.rival[place + s * number : place + s * number + lanes]
                row = room[RIVAL_1 + 2 * s * LANES : RIVAL_1 + 2 * (s + 1) * LANES]
                for i in range(lanes):
                    row[i], row[LANES + i] = factor[rival[i]], turn[rival[i]]
            often = p.rival_count[place : place + (rivals - 1) * number + lanes]
            if rivals == 1:
                _one_rival(room, lanes, count, often, pi, absent, gap, wide)
            elif rivals == 2:
                other = often[number:]
                _two_rivals(room, lanes, count, often, other, pi, absent, gap, wide)
            elif rivals == 3:
                other, third = often[number:], often[2 * number :]
                _three_rivals(room, lanes, count, often, other, third, pi, absent, gap)
            else:
                _many_rivals(room, lanes, count, often, number, pi, absent, gap, rivals)
            for i in range(lanes):
                gradient[best[i]] -= room[BACK + i]
            for s in range(rivals):
                rival = p.rival[place + s * number : place + s * number + lanes]
                row = room[RIVAL_1 + 2 * s * LANES : RIVAL_1 + (2 * s + 1) * LANES]
                for i in range(lanes):
                    gradient[rival[i]] += row[i]
    return room[GROWTH : GROWTH + LANES].min(), room[WEIGHT : WEIGHT + LANES].max()


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
            rows = room[t]
            for c in range(t, chunks, threads):
                first, last = p.chunk_entry[c], p.chunk_entry[c + 1]
                gradient[first:last] = 0.0
                growth[c], heaviest[c] = _sweep(
                    p, p.chunk_group[c], p.chunk_group[c + 1], factor, turn, gradient, rows
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
