"""Stage 2 as an expert would write it elsewhere: on merged samples, sparse, gradient by hand.

Each peer is given our merged samples, so that merging is nobody's advantage. It takes steps of
normalized gradient descent from zero weights, and what it returns is compared with our weights.
Numbers are floats of 64 bits.

Tried and slower, so left out: sums over tokens sorted by entry instead of a scatter (by 5 to 20 per
cent), indices of 32 bits and gathers without bounds in JAX (no change).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpcore.huang2024.problem import Problem

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Run = Callable[[int], Floats]


@dataclass(frozen=True, eq=False)
class Flat:
    """Merged samples one after the other.

    Attributes:
        entries: K, the entries of W.
        best, rival: (S,) and (M,), entries of optimal tokens and of rivals.
        count, often: (S,) and (M,), how often they occur, as floats.
        sample: (M,), the sample of each rival, non-decreasing.
        start: (S + 1,), where the rivals of a sample start.
        pi: (S,), shares of the samples.
        absent: (S,), how many tokens are neither optimal nor a rival in a sample.
    """

    entries: int
    best: Integers
    rival: Integers
    count: Floats
    often: Floats
    sample: Integers
    start: Integers
    pi: Floats
    absent: Floats


def flat(one: Problem) -> Flat:
    """A problem in this form."""
    rivals = np.diff(one.start)
    return Flat(
        len(one.entry_token),
        one.optimal,
        one.rival,
        one.optimal_count.astype(float),
        one.rival_count.astype(float),
        np.repeat(np.arange(len(rivals)), rivals),
        one.start,
        np.exp(one.log_pi),
        one.vocab_size - 1.0 - rivals,
    )


@dataclass(frozen=True, eq=False)
class Group:
    """Samples with equally many rivals, R of them, or padded to R.

    Attributes:
        best, count, pi, absent: (S,), as in `Flat`.
        rival, often: (R, S), likewise; a place that is only padding occurs 0 times.
        there: (R, S), 1 for a rival and 0 for padding; None where nothing is padded.
    """

    best: Integers
    count: Floats
    pi: Floats
    absent: Floats
    rival: Integers
    often: Floats
    there: Floats | None


def groups(data: Flat, *, padded: bool) -> list[Group]:
    """Samples by their number of rivals, or all of them padded to the largest number."""
    rivals = np.diff(data.start)
    found = []
    for size in [int(rivals.max())] if padded else np.unique(rivals).tolist():
        chosen = np.flatnonzero(rivals <= size if padded else rivals == size)
        place = data.start[chosen] + np.arange(size)[:, None]
        there = np.arange(size)[:, None] < rivals[chosen]
        place = np.where(there, place, data.start[chosen])
        found.append(
            Group(
                data.best[chosen],
                data.count[chosen],
                data.pi[chosen],
                data.absent[chosen],
                data.rival[place],
                data.often[place] * there,
                there.astype(float) if padded else None,
            )
        )
    return found


def _jax() -> tuple[Any, Any]:
    """JAX with floats of 64 bits, and its NumPy."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    return jax, jax.numpy


def _jax_steps(gradient: Callable[[Any], Any], entries: int, eta: float) -> Run:
    """All steps in one compiled loop, which reuses the memory of the weights."""
    jax, jnp = _jax()

    def step(_: int, w: Any) -> Any:
        found = gradient(w)
        return w - (eta / jnp.sqrt(jnp.vdot(found, found))) * found

    loop = jax.jit(lambda w, n: jax.lax.fori_loop(0, n, step, w), donate_argnums=0)
    return lambda number: np.asarray(loop(jnp.zeros(entries), number))


def _jax_sample(jnp: Any, group: Group, factor: Any, gap: float) -> tuple[Any, Any]:
    """The parts of a gradient from samples as columns: of optimal tokens, and of rivals."""
    best = group.count * factor[group.best]
    rest = group.often * factor[group.rival]
    total = 1.0 / (best + rest.sum(0))
    mine, share = best * total, rest * total
    odds = jnp.exp(gap * (share - mine))
    if group.there is not None:
        odds = odds * group.there
    wrong = odds.sum(0) + group.absent * jnp.exp(-gap * mine)
    mean = (share * odds).sum(0)
    scale = group.pi / (1.0 + wrong)
    return -scale * mine * ((1.0 - mine) * wrong + mean), scale * share * (
        odds + mine * wrong - mean
    )


def _jax_grouped(data: Flat, gap: float, eta: float, *, padded: bool) -> Run:
    """Samples as columns of arrays, one array for each number of rivals, or one for all."""
    _, jnp = _jax()
    parts = groups(data, padded=padded)
    tokens = [np.concatenate([g.best, g.rival.ravel()]) for g in parts]
    everything = np.concatenate(tokens)

    def gradient(w: Any) -> Any:
        factor = jnp.exp(w)
        found = [_jax_sample(jnp, group, factor, gap) for group in parts]
        values = jnp.concatenate([x.ravel() for pair in found for x in pair])
        return jnp.zeros(data.entries).at[everything].add(values)

    return _jax_steps(gradient, data.entries, eta)


def _jax_segments(data: Flat, gap: float, eta: float) -> Run:
    """Rivals of all samples in one array, summed by segments."""
    jax, jnp = _jax()
    sums = partial(
        jax.ops.segment_sum,
        segment_ids=data.sample,
        num_segments=len(data.best),
        indices_are_sorted=True,
    )
    everything = np.concatenate([data.best, data.rival])

    def gradient(w: Any) -> Any:
        factor = jnp.exp(w)
        best, rest = data.count * factor[data.best], data.often * factor[data.rival]
        total = 1.0 / (best + sums(rest))
        mine, share = best * total, rest * total[data.sample]
        odds = jnp.exp(gap * (share - mine[data.sample]))
        wrong = sums(odds) + data.absent * jnp.exp(-gap * mine)
        mean = sums(share * odds)
        scale = data.pi / (1.0 + wrong)
        back = scale * (mine * wrong - mean)
        theirs = share * (scale[data.sample] * odds + back[data.sample])
        values = jnp.concatenate([-scale * mine * ((1.0 - mine) * wrong + mean), theirs])
        return jnp.zeros(data.entries).at[everything].add(values)

    return _jax_steps(gradient, data.entries, eta)


def _jax_autodiff(data: Flat, gap: float, eta: float) -> Run:
    """The loss by segment sums, and the gradient that JAX derives."""
    jax, jnp = _jax()
    sums = partial(
        jax.ops.segment_sum,
        segment_ids=data.sample,
        num_segments=len(data.best),
        indices_are_sorted=True,
    )

    def loss(w: Any) -> Any:
        best = data.count * jnp.exp(w[data.best])
        rest = data.often * jnp.exp(w[data.rival])
        total = best + sums(rest)
        mine, share = best / total, rest / total[data.sample]
        odds = sums(jnp.exp(gap * (share - mine[data.sample])))
        return (data.pi * jnp.log1p(odds + data.absent * jnp.exp(-gap * mine))).sum()

    return _jax_steps(jax.grad(loss), data.entries, eta)


def _torch(data: Flat, gap: float, eta: float) -> Run:
    """PyTorch, sums by index_add, every number written into room made beforehand."""
    import torch

    best, rival = torch.tensor(data.best), torch.tensor(data.rival)
    sample, count = torch.tensor(data.sample), torch.tensor(data.count)
    often, pi, absent = torch.tensor(data.often), torch.tensor(data.pi), torch.tensor(data.absent)
    total, wrong, mean = (torch.empty_like(pi) for _ in range(3))

    @torch.inference_mode()
    def run(number: int) -> Floats:
        w = torch.zeros(data.entries, dtype=torch.float64)
        gradient = torch.empty_like(w)
        for _ in range(number):
            factor = w.exp()
            mine = factor.index_select(0, best).mul_(count)
            share = factor.index_select(0, rival).mul_(often)
            total.copy_(mine).index_add_(0, sample, share).reciprocal_()
            mine.mul_(total)
            share.mul_(total.index_select(0, sample))
            odds = share.sub(mine.index_select(0, sample)).mul_(gap).exp_()
            torch.mul(mine, -gap, out=wrong).exp_().mul_(absent).index_add_(0, sample, odds)
            weighed = share * odds
            mean.zero_().index_add_(0, sample, weighed)
            scale = torch.add(wrong, 1.0).reciprocal_().mul_(pi)
            inside = (mine * wrong).sub_(mean)
            theirs = odds.add_(inside.index_select(0, sample)).mul_(share)
            theirs.mul_(scale.index_select(0, sample))
            ours = wrong.sub(inside).mul_(mine).mul_(scale).neg_()
            gradient.zero_().index_add_(0, best, ours).index_add_(0, rival, theirs)
            w.add_(gradient.mul_(-eta / float(torch.linalg.vector_norm(gradient))))
        return w.numpy()

    return run


def _numba_steps(
    best: Integers,
    count: Floats,
    start: Integers,
    rival: Integers,
    often: Floats,
    pi: Floats,
    absent: Floats,
    entries: int,
    gap: float,
    eta: float,
    number: int,
) -> Floats:
    """Sample by sample, as the formulas stand on paper."""
    w, gradient, factor = np.zeros(entries), np.zeros(entries), np.zeros(entries)
    most = 0
    for i in range(len(best)):
        most = max(most, start[i + 1] - start[i])
    share, odds = np.zeros(most), np.zeros(most)
    for _ in range(number):
        for x in range(entries):
            factor[x] = np.exp(w[x])
            gradient[x] = 0.0
        for i in range(len(best)):
            first, rivals = start[i], start[i + 1] - start[i]
            mine = count[i] * factor[best[i]]
            total = mine
            for j in range(rivals):
                share[j] = often[first + j] * factor[rival[first + j]]
                total += share[j]
            mine /= total
            wrong, mean = absent[i] * np.exp(-gap * mine), 0.0
            for j in range(rivals):
                share[j] /= total
                odds[j] = np.exp(gap * (share[j] - mine))
                wrong += odds[j]
                mean += share[j] * odds[j]
            scale = pi[i] / (1.0 + wrong)
            gradient[best[i]] -= scale * mine * ((1.0 - mine) * wrong + mean)
            for j in range(rivals):
                gradient[rival[first + j]] += scale * share[j] * (odds[j] + mine * wrong - mean)
        norm = 0.0
        for x in range(entries):
            norm += gradient[x] * gradient[x]
        for x in range(entries):
            w[x] -= eta / np.sqrt(norm) * gradient[x]
    return w


def _numba(data: Flat, gap: float, eta: float) -> Run:
    """numba as one writes it: plain loops, fastmath."""
    import numba

    loop = numba.njit(fastmath=True, error_model="numpy")(_numba_steps)
    arguments = (data.best, data.count, data.start, data.rival, data.often, data.pi, data.absent)
    return lambda number: np.asarray(loop(*arguments, data.entries, gap, eta, number))


def _numpy(data: Flat, gap: float, eta: float) -> Run:
    """NumPy, sums by reduceat and bincount."""
    rows, begins = data.sample, data.start[:-1]
    everything = np.concatenate([data.best, data.rival])

    def run(number: int) -> Floats:
        w = np.zeros(data.entries)
        for _ in range(number):
            factor = np.exp(w)
            mine, share = data.count * factor[data.best], data.often * factor[data.rival]
            total = mine + np.add.reduceat(share, begins)
            mine /= total
            share /= total[rows]
            odds = np.exp(gap * (share - mine[rows]))
            wrong = np.add.reduceat(odds, begins) + data.absent * np.exp(-gap * mine)
            mean = np.add.reduceat(share * odds, begins)
            scale = data.pi / (1.0 + wrong)
            ours = -scale * mine * ((1.0 - mine) * wrong + mean)
            theirs = share * ((scale * (mine * wrong - mean))[rows] + scale[rows] * odds)
            values = np.concatenate([ours, theirs])
            gradient = np.bincount(everything, values, data.entries)
            w -= (eta / np.sqrt(gradient @ gradient)) * gradient
        return w

    return run


PEERS: dict[str, Callable[[Flat, float, float], Run]] = {
    "JAX, segment sums": _jax_segments,
    "JAX, padded rows": partial(_jax_grouped, padded=True),
    "JAX, rows by size": partial(_jax_grouped, padded=False),
    "JAX, autodiff": _jax_autodiff,
    "PyTorch, index_add": _torch,
    "numba, plain loops": _numba,
    "NumPy, reduceat": _numpy,
}
