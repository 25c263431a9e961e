"""Whether attention on text follows the order of the theory: measures, and a permutation test.

A position of the text is a query, the tokens before it in its segment are its keys, the token after
it is the next token. For a query q and a key k

- co-occurrence is the share of the occurrences of q in which k is among the keys;
- distinctness is the chance that two occurrences of q with k among the keys have the same next
  token. It is 1 if k determines the next token, and its estimate c (c - 1) / (C (C - 1)), summed
  over next tokens, is unbiased, so that rare keys do not seem distinct by accident.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Context:
    """How keys go with queries.

    Attributes:
        together: (Q, V), occurrences of the query with the key before it.
        agreement: (Q, V), distinctness; nan with fewer than two occurrences together.
        frequency: (V,), occurrences of each token.
    """

    together: Floats
    agreement: Floats
    frequency: Floats


@dataclass(frozen=True)
class Outcome:
    """What a permutation test gave.

    Attributes:
        correlation: mean over queries of the rank correlation within strata.
        p_above: share of permutations with at least this statistic.
        p_below: share with at most this one.
    """

    correlation: float
    p_above: float
    p_below: float


def count_contexts(segments: Integers, queries: Integers, vocabulary: int) -> Context:
    """Counts over all positions of all segments.

    Args:
        segments: (S, B, T + 1).
        queries: (Q,), tokens.
        vocabulary: V.
    """
    rows = segments.reshape(-1, segments.shape[-1]).astype(np.int64)
    V, Q = vocabulary, len(queries)
    place = np.full(V, -1)
    place[queries] = np.arange(Q)
    found = []
    for i in range(1, rows.shape[1] - 1):
        chosen = rows[place[rows[:, i]] >= 0]
        keys = np.sort(chosen[:, :i], axis=1)
        first = np.ones(keys.shape, dtype=bool)
        first[:, 1:] = keys[:, 1:] != keys[:, :-1]
        # one number for each triple of a query, a key and a next token
        triples = (place[chosen[:, i]][:, None] * V + keys) * V + chosen[:, i + 1][:, None]
        found.append(triples[first & (keys != chosen[:, i][:, None])])
    triples, counts = np.unique(np.concatenate(found), return_counts=True)
    pairs = triples // V
    together = np.bincount(pairs, counts, minlength=Q * V).astype(np.float64)
    same = np.bincount(pairs, counts * (counts - 1.0), minlength=Q * V)
    many = together > 1
    agreement = np.full(Q * V, np.nan)
    agreement[many] = same[many] / (together[many] * (together[many] - 1))
    frequency = np.bincount(segments[..., 1:].reshape(-1), minlength=V).astype(float)
    return Context(together.reshape(Q, V), agreement.reshape(Q, V), frequency)


def ranks(values: Floats) -> Floats:
    """Ranks from 0 along the last axis, the mean of the places where values are equal."""
    order = np.sort(values, axis=-1)
    below = np.array([np.searchsorted(o, v, "left") for o, v in zip(order, values, strict=True)])
    up_to = np.array([np.searchsorted(o, v, "right") for o, v in zip(order, values, strict=True)])
    return np.asarray((below + up_to - 1) / 2)


def strata_of(frequency: Floats, size: int = 10) -> NDArray[np.int64]:
    """For each token the number of its stratum: tokens in order of frequency, some to a stratum."""
    place = np.empty(len(frequency), dtype=np.int64)
    place[np.argsort(-frequency, kind="stable")] = np.arange(len(frequency))
    return place // size


def centred(values: Floats, used: NDArray[np.bool_], strata: NDArray[np.int64]) -> Floats:
    """Ranks of each row among its used tokens, minus their mean in each stratum; 0 if not used."""
    result = np.zeros(values.shape)
    for row, (value, mask) in enumerate(zip(values, used, strict=True)):
        place = strata[mask]
        rank = ranks(value[mask][None])[0]
        size = np.bincount(place, minlength=strata.max() + 1)
        total = np.bincount(place, rank, minlength=strata.max() + 1)
        result[row, mask] = rank - (total / np.maximum(size, 1))[place]
    return result


def permutation_test(
    scores: Floats,
    measure: Floats,
    used: NDArray[np.bool_],
    strata: NDArray[np.int64],
    permutations: int,
    seed: int,
) -> Outcome:
    """Do scores go with a measure more than they would if keys of like frequency were exchanged?

    One exchange of keys serves all queries, as the scores of a key for different queries are not
    independent.

    Args:
        scores: (Q, V).
        measure: (Q, V).
        used: (Q, V), which keys count for which query.
        strata: (V,), tokens are exchanged within these.
        permutations: how many.
        seed: of the permutations.
    """
    x = centred(np.where(used, measure, 0.0), used, strata)
    length = np.sqrt((x * x).sum(axis=1, keepdims=True))
    x = np.divide(x, length, out=np.zeros_like(x), where=length > 0)
    y = ranks(scores)
    own = centred(scores, used, strata)
    size = np.sqrt((own * own).sum(axis=1))
    each = np.divide((x * own).sum(axis=1), size, out=np.zeros(len(x)), where=size > 0)
    rng = np.random.default_rng(seed)
    observed = float((x * y).sum())
    others = np.empty(permutations)
    for trial in range(permutations):
        order = np.lexsort((rng.random(len(strata)), strata))
        moved = np.empty(len(strata), dtype=np.int64)
        moved[np.lexsort((np.arange(len(strata)), strata))] = order
        others[trial] = (x * y[:, moved]).sum()
    slack = 1e-9 * max(1.0, abs(observed))  # equal sums may differ by rounding
    above = (1 + int((others >= observed - slack).sum())) / (1 + permutations)
    below = (1 + int((others <= observed + slack).sum())) / (1 + permutations)
    return Outcome(float(each.mean()), above, below)
