"""The gradient of stage 2 on any data: samples may contradict each other, and n may have gaps.

`plain` trains by it where Assumption 1 fails. There the loss need not tend to zero, so the plain
formula of the gradient does not lose its direction in rounding, and no logarithms are needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ntpcore.data.order import Structure

Group = tuple[str, str, tuple[tuple[str, int], ...]]  # query, next token, tokens with counts


@dataclass(frozen=True)
class MixedSample:
    """Samples that have the same gradient; entries of W_kq by number, one for each distinct token.

    Attributes:
        entries: entry of each token.
        log_counts: log of how often each token occurs in the sentence.
        labels: n of each token; None where it is not defined.
        following: the next token of the sample.
        share: frequency pi.
    """

    entries: tuple[int, ...]
    log_counts: tuple[float, ...]
    labels: tuple[str | None, ...]
    following: str
    share: float


def grouped(structure: Structure) -> tuple[dict[Group, int], int]:
    """Samples that differ at most in the order of their tokens, with counts, and how many in all.

    Returns:
        for each group of samples with two or more distinct tokens (query, next token, and how often
        each token occurs, sorted) its count; and the count of all samples, those of one token too.
    """
    counts: dict[Group, int] = {}
    total = 0
    for sample in structure.data.samples():
        total += sample.count
        seen: dict[str, int] = {}
        for token in sample.sentence:
            seen[token] = seen.get(token, 0) + 1
        if len(seen) > 1:
            key = (sample.sentence[-1], sample.next_token, tuple(sorted(seen.items())))
            counts[key] = counts.get(key, 0) + sample.count
    return counts, total


def samples(structure: Structure, entries: dict[tuple[str, str], int]) -> list[MixedSample]:
    """All samples of two or more distinct tokens; their entries of W_kq are numbered on the way.

    A sample of one token has no gradient: its attention is 1 whatever W_kq is.
    """
    counts, total = grouped(structure)
    return [
        MixedSample(
            tuple(entries.setdefault((token, query), len(entries)) for token, _ in tokens),
            tuple(math.log(number) for _, number in tokens),
            tuple(structure.collocation[token] for token, _ in tokens),
            following,
            count / total,
        )
        for (query, following, tokens), count in sorted(counts.items())
    ]


def lone_loss(structure: Structure, gap: float) -> float:
    """The part of the cross-entropy that samples of one distinct token have, in nats.

    Their attention is 1 whatever W_kq is, so this part is constant in stage 2.

    Source: huang2024, equation (1).
    """
    size, total = len(structure.data.vocabulary), 0
    parts = []
    for sample in structure.data.samples():
        total += sample.count
        if len(set(sample.sentence)) == 1:
            label = structure.collocation[sample.sentence[0]]
            lifted = 0.0 if label is None else gap
            below = lifted + math.log1p((size - 1) * math.exp(-lifted))
            parts.append(sample.count * (below - (lifted if label == sample.next_token else 0.0)))
    return math.fsum(parts) / total


def gradient(
    mixed: Sequence[MixedSample], weights: Sequence[float], gap: float, vocab_size: int
) -> list[float]:
    """The gradient of the cross-entropy by each entry of W_kq.

    With attention a and probabilities T, the entry of token j has the derivative
    a_j (g_j - sum_k a_k g_k), where g_j = A (T_n(j) - [n(j) is the next token]), and g_j = 0 where
    n(j) is not defined.

    Source: huang2024, equations (1) and (6).
    """
    found = [0.0] * len(weights)
    for sample in mixed:
        # dense, by distinct tokens; for browsers, which have no numpy
        logs = [log + weights[e] for e, log in zip(sample.entries, sample.log_counts, strict=True)]
        attention = _softmax(logs)
        slopes = _slopes(sample, attention, gap, vocab_size)
        mean = math.fsum(a * g for a, g in zip(attention, slopes, strict=True))
        for entry, a, g in zip(sample.entries, attention, slopes, strict=True):
            found[entry] += sample.share * a * (g - mean)
    return found


def _slopes(
    sample: MixedSample, attention: Sequence[float], gap: float, vocab_size: int
) -> list[float]:
    """The derivative of the cross-entropy by the attention to each token."""
    logits: dict[str, float] = {sample.following: 0.0}
    for label, a in zip(sample.labels, attention, strict=True):
        if label is not None:
            logits[label] = logits.get(label, 0.0) + gap * a
    top = max(logits.values())  # none is negative
    powers = {label: math.exp(logit - top) for label, logit in logits.items()}
    others = (vocab_size - len(logits)) * math.exp(-top)  # tokens to which nothing leads
    total = math.fsum(powers.values()) + others
    rest = math.fsum(power for label, power in powers.items() if label != sample.following) + others
    slope = {label: gap * power / total for label, power in powers.items()}
    slope[sample.following] = -gap * rest / total  # T - 1, without cancellation
    return [0.0 if label is None else slope[label] for label in sample.labels]


def _softmax(logs: Sequence[float]) -> list[float]:
    """Shares that sum to one."""
    top = max(logs)
    powers = [math.exp(one - top) for one in logs]
    total = math.fsum(powers)
    return [power / total for power in powers]
