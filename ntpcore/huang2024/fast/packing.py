"""How the data of stage 2 are laid out for the fast loops of `_fast`."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ntpcore.huang2024.problem import Problem

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Singles = NDArray[np.float32]
Indices = NDArray[np.uint32]

CHUNK = 4096  # entries that are dealt with together, all samples of a query in one chunk
ABREAST = 8  # so many floats a vector instruction takes at once, at most
LARGEST_GAP = 200.0  # of A: so that e^A is harmless beside e^(+-2 * 300), see `_fast`
LARGEST_RATIO = 150.0  # of the logarithms of two frequencies, likewise
LARGEST_COUNT = 2**24  # of occurrences, the last integer that float32 holds
NEGLIGIBLE = 1e-17  # a tenth of the last digit of 1


class Packed(NamedTuple):
    """The fixed part of a run, laid out for the first phase.

    Rivals of a group with n samples stand slot by slot: rival s of its sample i has the place
    group_rival + s n + i. Groups are filled up to full vectors by copies of samples with pi = 0.

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
    order, group_sample, real = _filled(order, group_sample)
    samples, numbers = len(order), np.diff(group_sample)
    group_rival = np.concatenate([[0], np.cumsum(numbers * group_size)[:-1]])
    group = np.repeat(np.arange(len(numbers)), numbers)
    within = np.arange(samples) - group_sample[group]
    source = np.empty(int((numbers * group_size).sum()), np.int64)
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
        np.where(real, np.exp(problem.log_pi[order] - problem.log_pi.max() + gap), 0.0),
        problem.rival[source].astype(np.uint32),
        problem.rival_count[source].astype(np.float32),
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


def _filled(order: Integers, start: Integers) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    """Each group filled up to a multiple of `ABREAST` by its first samples; which are no copies."""
    numbers = np.diff(start)
    full = -(-numbers // ABREAST) * ABREAST
    new = np.concatenate([[0], np.cumsum(full)])
    group = np.repeat(np.arange(len(numbers)), full)
    within = np.arange(new[-1]) - new[group]
    return order[start[group] + within % numbers[group]], new, within < numbers[group]


def bytes_of(packed: Packed) -> int:
    """How much memory the arrays take, with R of each sample, which the loop keeps."""
    parts = [part for part in packed if isinstance(part, np.ndarray)]
    return sum(part.nbytes for part in parts) + packed.pi.nbytes
