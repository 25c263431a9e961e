"""Stage 2 on any data in numpy: samples may contradict each other, and n may have gaps.

The loss and gradient of `plain_any`, for all samples at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore.huang2024.plain_any import MixedSample

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Terms:
    """The tokens of M samples one after the other, T in all, and S slots of logits.

    A slot is a label of a sample: n of one of its tokens, or its next token. All other labels of
    the vocabulary have the logit 0.

    Attributes:
        sample: (T,), the sample of each token.
        entry: (T,), its entry of W_kq.
        log_count: (T,), log of how often it occurs in the sentence.
        slot: (T,), the slot of its n; S where n is not defined.
        first: (M,), the first token of each sample.
        slot_sample: (S,), the sample of each slot.
        first_slot: (M,), the first slot of each sample, which is that of its next token.
        others: (M,), labels of the vocabulary without a slot.
        share: (M,), frequency pi.
        entries: K, the entries of W_kq that move.
    """

    sample: Integers
    entry: Integers
    log_count: Floats
    slot: Integers
    first: Integers
    slot_sample: Integers
    first_slot: Integers
    others: Floats
    share: Floats
    entries: int


def terms(mixed: Sequence[MixedSample], vocab_size: int) -> Terms:
    """Samples as arrays.

    Raises:
        ValueError: there is no sample.
    """
    if not mixed:
        raise ValueError("no sample has two distinct tokens, so there is nothing to train")
    slots = [list(dict.fromkeys((one.following, *filter(None, one.labels)))) for one in mixed]
    sizes, widths = [len(one.entries) for one in mixed], [len(labels) for labels in slots]
    begin = np.concatenate([[0], np.cumsum(widths)])
    slot = [
        begin[-1] if label is None else begin[number] + slots[number].index(label)
        for number, one in enumerate(mixed)
        for label in one.labels
    ]
    entry = np.array([e for one in mixed for e in one.entries], dtype=np.int64)
    return Terms(
        sample=np.repeat(np.arange(len(mixed)), sizes),
        entry=entry,
        log_count=np.array([log for one in mixed for log in one.log_counts]),
        slot=np.array(slot, dtype=np.int64),
        first=np.concatenate([[0], np.cumsum(sizes)[:-1]]),
        slot_sample=np.repeat(np.arange(len(mixed)), widths),
        first_slot=begin[:-1],
        others=vocab_size - np.array(widths, dtype=np.float64),
        share=np.array([one.share for one in mixed]),
        entries=int(entry.max()) + 1,
    )


def loss_and_gradient(data: Terms, weights: Floats, gap: float) -> tuple[float, Floats]:
    """The cross-entropy of the samples in nats, and its gradient by the entries of W_kq.

    Args:
        data: the samples.
        weights: (K,), the entries.
        gap: A, by how much a full attention to x lifts the logit of n(x); positive.

    Returns:
        the part of the loss that samples of two distinct tokens have, and the gradient, (K,).

    Source: huang2024, equations (1) and (6).
    """
    M, S = len(data.first), len(data.slot_sample)
    logs = data.log_count + weights[data.entry]
    attention = np.exp(logs - np.maximum.reduceat(logs, data.first)[data.sample])
    attention /= np.bincount(data.sample, attention, M)[data.sample]
    logits = gap * np.bincount(data.slot, attention, S + 1)[:S]
    top = np.maximum.reduceat(logits, data.first_slot)  # none is negative
    powers = np.exp(logits - top[data.slot_sample])
    right = powers[data.first_slot].copy()
    powers[data.first_slot] = 0.0
    wrong = np.bincount(data.slot_sample, powers, M) + data.others * np.exp(-top)
    total = right + wrong
    slope = gap * powers / total[data.slot_sample]  # A T for the labels that are not next
    slope[data.first_slot] = -gap * wrong / total  # A (T - 1), without cancellation
    pull = np.append(slope, 0.0)[data.slot]  # g_j
    mean = np.bincount(data.sample, attention * pull, M)
    moved = data.share[data.sample] * attention * (pull - mean[data.sample])
    loss = float(data.share @ (np.log(total) + top - logits[data.first_slot]))
    gradient = np.bincount(data.entry, moved, data.entries)
    return loss, gradient.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Point:
    """Training at one step.

    Attributes:
        step: steps taken.
        weights: (K,), the entries of W_kq.
        loss: of the samples of two distinct tokens, in nats.
        norm: of the gradient.
    """

    step: int
    weights: Floats
    loss: float
    norm: float


def descend(data: Terms, marks: Iterable[int], gap: float, eta: float) -> Iterator[Point]:
    """Normalized gradient descent on W_kq from zero, at some steps.

    Args:
        data: the samples.
        marks: the steps, increasing.
        gap: A after stage 1.
        eta: step size.

    Source: huang2024, Algorithm 1, lines 6 to 8.
    """
    weights, step = np.zeros(data.entries), 0
    for mark in marks:
        while True:
            loss, gradient = loss_and_gradient(data, weights, gap)
            norm = float(np.linalg.norm(gradient))
            if step == mark:
                yield Point(step, weights, loss, norm)
                break
            weights = weights - eta * gradient / (norm or 1.0)
            step += 1
