"""The inner loops of stage 2 for long runs: the numbers of `_kernel`, much sooner.

There are two phases, told apart by the smallest gap W[o, q] - W[j, q] of a comparable pair.

At first, e^W fits into a float. With v_j = (count of j / count of o) e^(W[j] - W[o]) and
R = sum_j v_j, m_o = 1 / (1 + R), m_j = m_o v_j, E_j = e^(A (m_j - m_o)) and S = sum of E over all
wrong tokens, equation (6) reads

    dL/dW[j, q] =  A pi m_j (E_j + m_o S - sum_k m_k E_k) / (1 + S)
    dL/dW[o, q] = -A pi m_o ((1 - m_o) S + sum_k m_k E_k) / (1 + S),

which takes one exponential per entry of W and one per token of a sample. Samples with equally many
rivals stand side by side, so that the processor takes several at once. By how much a step changes
R is looked at precisely only where R itself shows that it could be the smallest change so far.

Once (1 + A) R < 1e-17 for every sample, E_j = e^-A and m_o = 1 to double precision, and so all
samples have the same factor. What is left is the gradient of sum_e C_e e^-(W[a] - W[b]) over the
comparable pairs e = (a, b), with C_e = sum of pi (count of b / count of a). No gap shrinks from
there on, so that this stays true.
"""

from __future__ import annotations

import importlib
from math import inf, sqrt

import numpy as np

from ntpcore.compiled import compiled, compiled_with
from ntpcore.exponential import (
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    ROUND,
    SAFE,
    fast_exp,
    fast_expm1,
    power_of_two,
    reduced,
)
from ntpcore.huang2024.fast.packing import Floats, Merged, Packed, Singles

try:
    prange = importlib.import_module("numba").prange
except ImportError:
    prange = range

LANES = 128  # samples whose numbers fit into the nearest cache together
LARGEST_WEIGHT = 300.0  # e^(+-2 * 300) is a float, and so is the square of a gradient
# Where rows of LANES numbers start in one array: from constant distances the compiler sees that
# they do not overlap, without which it would not use vector instructions.
MINE, BACK, SCALE, X, Y_1, Y_2, TOTAL, SUM, MEAN = (LANES * row for row in range(9))
RIVAL_1, RIVAL_2, RIVAL_3 = (LANES * row for row in range(9, 12))
ROUNDING = 1e-12  # relative, of R in a step: that of W, up to 300, weighs most
LARGEST = 1e30  # instead of infinity, which the compiler may take as impossible


@compiled_with(fastmath=SAFE)
def _exponentials(x: Floats, out: Floats) -> None:
    """e^x for |x| < 700."""
    for i in range(len(x)):
        out[i] = fast_exp(x[i])


@compiled_with(fastmath=SAFE)
def _exponentiate(x: Floats) -> None:
    """The same in place; arrays that might overlap would not be taken by vector instructions."""
    for i in range(len(x)):
        x[i] = fast_exp(x[i])


@compiled_with(fastmath=SAFE)
def _bits(x: float) -> np.int64:
    """The bits of a float: of positive floats the larger has the larger ones."""
    bits: np.int64 = np.float64(x).view(np.int64)
    return bits


@compiled_with(fastmath=SAFE)
def _one_rival(
    room: Floats,
    lanes: int,
    count: Singles,
    often: Singles,
    pi: Floats,
    past: Floats,
    absent: float,
    gap: float,
    wide: float,
    limit: float,
) -> tuple[np.int64, np.int64]:
    """What `_sweep` does between gathering and scattering, for samples with one rival.

    In loops: attention, exponentials, gradient, of which each has several samples on the way at
    once. Divisions are dear: 1 / (a b) is both 1 / a and 1 / b by a product. With x = e^(-A m_o)
    and y_j = e^(A m_j), E_j = x y_j, and all y together have the product e^A x.

    Args:
        room: ((9 + R) LANES,), the rows of a block of samples with e^W of the optimal tokens in
            SCALE, then those of their rivals with theirs; in BACK and in the rows of rivals there
            is the gradient afterwards, by A times a constant and in BACK with the other sign.
        lanes: how many samples there are.
        count, often: (lanes,), occurrences of the optimal token and of the rival.
        pi: (lanes,), as in `Packed`.
        past: (lanes,), R in the step before; replaced.
        absent: how many tokens are not in a sample.
        gap: A.
        wide: e^A.
        limit: of R in the step before, as a multiple of R.

    Returns:
        a negative number where R in the step before may be less than limit R; the bits of the
        smallest m_o / (count of o).
    """
    signs, light = np.int64(0), _bits(LARGEST)
    for i in range(lanes):
        best, other = count[i] * room[SCALE + i], often[i] * room[RIVAL_1 + i]
        both = best + other
        inverse = 1.0 / (best * both)
        ratio = other * (both * inverse)
        signs |= _bits(past[i] - limit * ratio)
        past[i] = ratio
        inverse *= best
        bits = _bits(room[SCALE + i] * inverse)
        light = bits if bits < light else light
        mine = best * inverse
        room[MINE + i], room[RIVAL_1 + i] = mine, other * inverse  # m_o and m_j
        room[X + i] = -gap * mine
    _exponentiate(room[X : X + lanes])
    for i in range(lanes):
        mine, share, x = room[MINE + i], room[RIVAL_1 + i], room[X + i]
        odds = wide * x * x
        wrong, mean = absent * x + odds, share * odds
        scale = pi[i] / (1.0 + wrong)
        room[BACK + i] = scale * mine * (share * wrong + mean)
        room[RIVAL_1 + i] = scale * share * (odds + mine * wrong - mean)
    return signs, light


@compiled_with(fastmath=SAFE)
def _two_rivals(
    room: Floats,
    lanes: int,
    count: Singles,
    often_1: Singles,
    often_2: Singles,
    pi: Floats,
    past: Floats,
    absent: float,
    gap: float,
    wide: float,
    limit: float,
) -> tuple[np.int64, np.int64]:
    """The same for samples with two rivals."""
    signs, light = np.int64(0), _bits(LARGEST)
    for i in range(lanes):
        best, other_1 = count[i] * room[SCALE + i], often_1[i] * room[RIVAL_1 + i]
        other_2 = often_2[i] * room[RIVAL_2 + i]
        others = other_1 + other_2
        both = best + others
        inverse = 1.0 / (best * both)
        ratio = others * (both * inverse)
        signs |= _bits(past[i] - limit * ratio)
        past[i] = ratio
        inverse *= best
        bits = _bits(room[SCALE + i] * inverse)
        light = bits if bits < light else light
        mine, share_1 = best * inverse, other_1 * inverse
        room[MINE + i], room[RIVAL_1 + i], room[RIVAL_2 + i] = mine, share_1, other_2 * inverse
        room[X + i], room[Y_1 + i] = -gap * mine, gap * share_1
    _exponentiate(room[X : X + lanes])
    _exponentiate(room[Y_1 : Y_1 + lanes])
    for i in range(lanes):
        mine, x, y_1 = room[MINE + i], room[X + i], room[Y_1 + i]
        share_1, share_2 = room[RIVAL_1 + i], room[RIVAL_2 + i]
        product = wide * x
        whole = (1.0 + x * (absent + y_1)) * y_1 + product * x  # y_1 (1 + S)
        inverse = 1.0 / (y_1 * whole)
        odds_1, odds_2 = x * y_1, x * (product * (whole * inverse))
        wrong, mean = absent * x + odds_1 + odds_2, share_1 * odds_1 + share_2 * odds_2
        scale = pi[i] * (y_1 * (y_1 * inverse))
        room[BACK + i] = scale * mine * ((share_1 + share_2) * wrong + mean)
        rest = mine * wrong - mean
        room[RIVAL_1 + i] = scale * share_1 * (odds_1 + rest)
        room[RIVAL_2 + i] = scale * share_2 * (odds_2 + rest)
    return signs, light


@compiled_with(fastmath=SAFE)
def _three_rivals(
    room: Floats,
    lanes: int,
    count: Singles,
    often_1: Singles,
    often_2: Singles,
    often_3: Singles,
    pi: Floats,
    past: Floats,
    absent: float,
    gap: float,
    wide: float,
    limit: float,
) -> tuple[np.int64, np.int64]:
    """The same for samples with three rivals."""
    signs, light = np.int64(0), _bits(LARGEST)
    for i in range(lanes):
        best, other_1 = count[i] * room[SCALE + i], often_1[i] * room[RIVAL_1 + i]
        other_2, other_3 = often_2[i] * room[RIVAL_2 + i], often_3[i] * room[RIVAL_3 + i]
        others = other_1 + other_2 + other_3
        both = best + others
        inverse = 1.0 / (best * both)
        ratio = others * (both * inverse)
        signs |= _bits(past[i] - limit * ratio)
        past[i] = ratio
        inverse *= best
        bits = _bits(room[SCALE + i] * inverse)
        light = bits if bits < light else light
        mine, share_1, share_2 = best * inverse, other_1 * inverse, other_2 * inverse
        room[MINE + i], room[RIVAL_1 + i], room[RIVAL_2 + i] = mine, share_1, share_2
        room[RIVAL_3 + i] = other_3 * inverse
        room[X + i], room[Y_1 + i], room[Y_2 + i] = -gap * mine, gap * share_1, gap * share_2
    _exponentiate(room[X : X + lanes])
    _exponentiate(room[Y_1 : Y_1 + lanes])
    _exponentiate(room[Y_2 : Y_2 + lanes])
    for i in range(lanes):
        mine, x, y_1, y_2 = room[MINE + i], room[X + i], room[Y_1 + i], room[Y_2 + i]
        share_1, share_2, share_3 = room[RIVAL_1 + i], room[RIVAL_2 + i], room[RIVAL_3 + i]
        known, product = y_1 * y_2, wide * x
        whole = (1.0 + x * (absent + y_1 + y_2)) * known + product * x  # y_1 y_2 (1 + S)
        inverse = 1.0 / (known * whole)
        odds_1, odds_2, odds_3 = x * y_1, x * y_2, x * (product * (whole * inverse))
        wrong = absent * x + odds_1 + odds_2 + odds_3
        mean = share_1 * odds_1 + share_2 * odds_2 + share_3 * odds_3
        scale = pi[i] * (known * (known * inverse))
        room[BACK + i] = scale * mine * ((share_1 + share_2 + share_3) * wrong + mean)
        rest = mine * wrong - mean
        room[RIVAL_1 + i] = scale * share_1 * (odds_1 + rest)
        room[RIVAL_2 + i] = scale * share_2 * (odds_2 + rest)
        room[RIVAL_3 + i] = scale * share_3 * (odds_3 + rest)
    return signs, light


@compiled_with(fastmath=SAFE)
def _many_rivals(
    room: Floats,
    lanes: int,
    count: Singles,
    often: Singles,
    apart: int,
    pi: Floats,
    past: Floats,
    absent: float,
    gap: float,
    rivals: int,
    limit: float,
) -> tuple[np.int64, np.int64]:
    """The same for any number of rivals, row by row; rival s occurs often[s apart + i] times."""
    signs, light = np.int64(0), _bits(LARGEST)
    for i in range(lanes):
        room[TOTAL + i] = 0.0
    for s in range(rivals):
        row = room[RIVAL_1 + s * LANES : RIVAL_1 + (s + 1) * LANES]
        his = often[s * apart : s * apart + lanes]
        for i in range(lanes):
            row[i] *= his[i]
            room[TOTAL + i] += row[i]
    for i in range(lanes):
        best, others = count[i] * room[SCALE + i], room[TOTAL + i]
        both = best + others
        inverse = 1.0 / (best * both)
        ratio = others * (both * inverse)
        signs |= _bits(past[i] - limit * ratio)
        past[i] = ratio
        inverse *= best
        bits = _bits(room[SCALE + i] * inverse)
        light = bits if bits < light else light
        mine = best * inverse
        room[SCALE + i], room[MINE + i], room[TOTAL + i] = inverse, mine, others * inverse
        room[X + i], room[SUM + i], room[MEAN + i] = -gap * mine, absent, 0.0
    _exponentiate(room[X : X + lanes])
    for s in range(rivals):
        row = room[RIVAL_1 + s * LANES : RIVAL_1 + (s + 1) * LANES]
        for i in range(lanes):
            row[i] *= room[SCALE + i]
            y = fast_exp(gap * row[i])
            room[SUM + i] += y
            room[MEAN + i] += row[i] * y
    for i in range(lanes):
        mine, x = room[MINE + i], room[X + i]
        wrong, mean = x * room[SUM + i], x * room[MEAN + i]
        scale = pi[i] / (1.0 + wrong)
        room[BACK + i] = scale * mine * (room[TOTAL + i] * wrong + mean)
        room[X + i], room[MEAN + i] = scale * x, scale * (mine * wrong - mean)
    for s in range(rivals):
        row = room[RIVAL_1 + s * LANES : RIVAL_1 + (s + 1) * LANES]
        for i in range(lanes):
            row[i] *= room[X + i] * fast_exp(gap * row[i]) + room[MEAN + i]
    return signs, light


@compiled_with(fastmath=SAFE)
def _sweep(
    p: Packed,
    chunk: int,
    factor: Floats,
    gradient: Floats,
    past: Floats,
    limit: float,
    room: Floats,
) -> tuple[bool, float]:
    """The gradient, by A times a constant, of the samples of a chunk.

    Args:
        p: the data.
        chunk: of the samples that are dealt with.
        factor: (K,), e^W.
        gradient: (K,), replaced for the entries of the chunk.
        past: (S,), R of each sample in the step before; replaced.
        limit: of R in the step before, as a multiple of R.
        room: ((9 + R) LANES,), rows of numbers of samples, then one for each of their rivals, at
            most R of them.

    Returns:
        whether R in the step before may be less than limit R somewhere; the smallest
        m_o / (count of o).
    """
    gap, wide = p.gap, np.exp(p.gap)
    any_sign, lightest = np.int64(0), _bits(LARGEST)
    gradient[p.chunk_entry[chunk] : p.chunk_entry[chunk + 1]] = 0.0
    for g in range(p.chunk_group[chunk], p.chunk_group[chunk + 1]):
        rivals, last = p.group_size[g], p.group_sample[g + 1]
        number = last - p.group_sample[g]
        absent = p.vocab_size - 1.0 - rivals
        for first in range(p.group_sample[g], last, LANES):
            lanes = min(LANES, last - first)
            best, count = p.best[first : first + lanes], p.best_count[first : first + lanes]
            pi, was = p.pi[first : first + lanes], past[first : first + lanes]
            place = p.group_rival[g] + first - p.group_sample[g]
            for i in range(lanes):
                room[SCALE + i] = factor[best[i]]
            for s in range(rivals):
                rival = p.rival[place + s * number : place + s * number + lanes]
                row = room[RIVAL_1 + s * LANES : RIVAL_1 + (s + 1) * LANES]
                for i in range(lanes):
                    row[i] = factor[rival[i]]
            often = p.rival_count[place : place + (rivals - 1) * number + lanes]
            if rivals == 1:
                signs, light = _one_rival(
                    room, lanes, count, often, pi, was, absent, gap, wide, limit
                )
            elif rivals == 2:
                other = often[number:]
                signs, light = _two_rivals(
                    room, lanes, count, often, other, pi, was, absent, gap, wide, limit
                )
            elif rivals == 3:
                other, third = often[number:], often[2 * number :]
                signs, light = _three_rivals(
                    room, lanes, count, often, other, third, pi, was, absent, gap, wide, limit
                )
            else:
                signs, light = _many_rivals(
                    room, lanes, count, often, number, pi, was, absent, gap, rivals, limit
                )
            any_sign, lightest = any_sign | signs, min(lightest, light)
            for i in range(lanes):
                gradient[best[i]] -= room[BACK + i]
            for s in range(rivals):
                rival = p.rival[place + s * number : place + s * number + lanes]
                row = room[RIVAL_1 + s * LANES : RIVAL_1 + (s + 1) * LANES]
                for i in range(lanes):
                    gradient[rival[i]] += row[i]
    smallest: float = np.int64(lightest).view(np.float64)
    return bool(any_sign < 0), smallest


@compiled_with(fastmath=SAFE)
def _growth(p: Packed, chunk: int, factor: Floats, moved: Floats, turn: Floats) -> float:
    """The smallest growth of a sample's 1 / R by the step before, as a ratio less 1.

    Args:
        p: the data.
        chunk: of the samples that are looked at.
        factor: (K,), e^W.
        moved: (K,), what the step before added to W.
        turn: (K,), room.
    """
    for x in range(p.chunk_entry[chunk], p.chunk_entry[chunk + 1]):
        turn[x] = fast_expm1(-moved[x])
    least = LARGEST
    for g in range(p.chunk_group[chunk], p.chunk_group[chunk + 1]):
        first, rivals = p.group_sample[g], p.group_size[g]
        number = p.group_sample[g + 1] - first
        for i in range(number):
            total, turned = 0.0, 0.0
            for s in range(rivals):
                place = p.group_rival[g] + s * number + i
                v = p.rival_count[place] * factor[p.rival[place]]
                total += v
                turned += v * turn[p.rival[place]]
            back = turn[p.best[first + i]]
            least = min(least, (turned / total - back) / (1.0 + back))
    return least


@compiled_with(fastmath=SAFE)
def _move(weights: Floats, factor: Floats, gradient: Floats, moved: Floats, rate: float) -> None:
    """Move entries by -rate times their gradient, and follow with e^W."""
    for x in range(len(weights)):
        moved[x] = -rate * gradient[x]
        weights[x] += moved[x]
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
        room: (threads, (R + 9) LANES), no sample having more than R rivals.
        eta: step size.
        first_step: number of steps taken before.
        steps: number of steps to take.
        change, change_step, log_weight: the parts of `_kernel.Track` so far.
        threads: how many threads share the chunks; the numbers do not depend on it.

    Returns:
        as `_kernel.advance`.
    """
    chunks = len(p.chunk_entry) - 1
    factor, gradient = np.empty_like(weights), np.empty_like(weights)
    moved, turn = np.empty_like(weights), np.empty_like(weights)
    past = np.zeros(len(p.best))
    growth, lightest, squares = np.empty(chunks), np.empty(chunks), np.empty(chunks)
    _exponentials(weights, factor)
    least, light, done = np.expm1(change), LARGEST, steps
    for step in range(steps + 1):
        limit = min((1.0 + least) * (1.0 + ROUNDING), LARGEST) if step > 0 else 0.0
        for t in prange(threads):
            rows = room[t]
            for c in range(t, chunks, threads):
                first, last = p.chunk_entry[c], p.chunk_entry[c + 1]
                less, lightest[c] = _sweep(p, c, factor, gradient, past, limit, rows)
                growth[c] = _growth(p, c, factor, moved, turn) if less else inf
                squares[c] = _squares(gradient[first:last])
        norm = 0.0
        for c in range(chunks):
            norm += squares[c]
            if growth[c] < least:
                least, change, change_step = growth[c], np.log1p(growth[c]), first_step + step
            if step < steps:
                light = min(light, lightest[c])
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
                    gradient[first:last],
                    moved[first:last],
                    eta / norm,
                )
    if light < LARGEST:
        log_weight = min(log_weight, np.log(light))
    return done, change, change_step, log_weight


advance = compiled(_advance)
advance_on_threads = compiled_with(parallel=True)(_advance)


@compiled_with(fastmath=SAFE)
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
    shift = np.floor(top * LOG2_E)
    for _ in range(steps):
        for e in range(len(log_C)):
            terms[e] = weights[lower[e]] - weights[upper[e]]
        for e in range(len(log_C)):
            x = log_C[e] + terms[e]
            n = x * LOG2_E + ROUND - ROUND
            power = power_of_two(n - shift if n - shift > -1000.0 else -1000.0)
            terms[e] = reduced(x - n * LN2_HIGH - n * LN2_LOW) * power + power
        for e in range(len(log_C)):
            gradient[upper[e]] -= terms[e]
            gradient[lower[e]] += terms[e]
        norm = sqrt(_squares(gradient))
        rate = eta / norm
        shift += (np.float64(norm).view(np.int64) >> 52) - 1023
        for x in range(len(weights)):
            weights[x] -= rate * gradient[x]
            gradient[x] = 0.0
