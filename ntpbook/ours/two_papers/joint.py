"""The one layer that both papers train, with the switches in which they differ.

Huang et al. attend to every position of a sentence and add the attended tokens up as they are;
Tian et al. hide the query's own position and scale the sum to length 1. W_ov is Y transposed and
W_kq is Z transposed. Only token counts matter, so a sentence is a row of counts here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpcore.data.dataset import Dataset

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples by what the layer sees of them.

    Attributes:
        vocabulary: names of the tokens.
        counts: (N, V), how often each token stands at a position that the query may attend to.
        query: (N,), the query of each sample.
        following: (N,), its next token.
        weight: (N,), its frequency; they sum to 1.
    """

    vocabulary: tuple[str, ...]
    counts: Floats
    query: Integers
    following: Integers
    weight: Floats


def from_dataset(data: Dataset, *, hide_query: bool) -> Samples:
    """The samples of a data set; those that have nothing to attend to are left out.

    Args:
        data: the data.
        hide_query: whether the last position is hidden, as in tian2023, or seen, as in huang2024.

    Raises:
        ValueError: no sample has a position to attend to.
    """
    place = {token: i for i, token in enumerate(data.vocabulary)}
    rows, query, following, weight = [], [], [], []
    for sample in data.samples():
        seen = sample.sentence[:-1] if hide_query else sample.sentence
        if not seen:
            continue
        row = np.zeros(len(place))
        for token in seen:
            row[place[token]] += 1
        rows.append(row)
        query.append(place[sample.sentence[-1]])
        following.append(place[sample.next_token])
        weight.append(sample.count)
    if not rows:
        raise ValueError("no sample has a position to attend to; give longer sentences")
    shares = np.array(weight, dtype=np.float64)
    return Samples(
        data.vocabulary,
        np.array(rows),
        np.array(query, dtype=np.int64),
        np.array(following, dtype=np.int64),
        shares / shares.sum(),
    )


def attend(samples: Samples, Z: Floats) -> Floats:
    """Attention mass on each token, all its positions together.

    Args:
        samples: the samples.
        Z: (V, V), row m holds the scores of the tokens under the query m.

    Returns:
        (N, V), rows that sum to 1.

    Source: huang2024, Section 3; tian2023, equation (1).
    """
    scores = np.where(samples.counts > 0, Z[samples.query], -np.inf)
    mass = samples.counts * np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def logits(samples: Samples, Y: Floats, Z: Floats, *, unit: bool) -> Floats:
    """Logits of the next token, (N, V).

    Args:
        samples: the samples.
        Y: (V, V), row l holds the logits that token l votes for.
        Z: (V, V), scores by query.
        unit: whether the attended sum is scaled to length 1 (tian2023) or not (huang2024).
    """
    b = attend(samples, Z)
    return np.asarray((b / np.linalg.norm(b, axis=1, keepdims=True) if unit else b) @ Y)


def residuals(samples: Samples, scores: Floats) -> Floats:
    """One-hot next token minus softmax, (N, V).

    The entry of the next token is the sum of the other probabilities, so that it stays accurate
    when its own is close to 1.
    """
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    rows = np.arange(len(p))
    others = p.copy()
    others[rows, samples.following] = 0
    out = -p
    out[rows, samples.following] = others.sum(axis=1)
    return np.asarray(out / p.sum(axis=1, keepdims=True))


def loss(samples: Samples, Y: Floats, Z: Floats, *, unit: bool) -> float:
    """Cross-entropy in nats, weighted by frequency (huang2024, (1); tian2023, minus (2))."""
    scores = logits(samples, Y, Z, unit=unit)
    top = scores.max(axis=1)
    normaliser = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    own = scores[np.arange(len(scores)), samples.following]
    return float(samples.weight @ (normaliser - own))


def descent(samples: Samples, Y: Floats, Z: Floats, *, unit: bool) -> tuple[Floats, Floats]:
    """Minus the gradients of the loss by Y and by Z, both (V, V).

    Source: huang2024, (5) and (6); tian2023, (3) and (4).
    """
    # for both papers, with W_ov in training; no form of stage 2 alone does that
    b = attend(samples, Z)
    size = np.linalg.norm(b, axis=1, keepdims=True) if unit else np.ones((len(b), 1))
    f = b / size
    e = residuals(samples, f @ Y) * samples.weight[:, None]
    g = e @ Y.T  # what each token would add to the likelihood, (N, V)
    along = (f * g).sum(axis=1, keepdims=True)
    by_score = f * (g - f * along) if unit else b * (g - along)
    by_query = np.zeros_like(Z)
    np.add.at(by_query, samples.query, by_score)
    return f.T @ e, by_query


@dataclass(frozen=True, eq=False)
class JointRun:
    """A run at the recorded steps.

    Attributes:
        steps: the recorded steps.
        Y: (R, V, V), Y at these steps.
        Z: (R, V, V), Z at these steps.
        loss: (R,), the loss in nats.
    """

    steps: Integers
    Y: Floats
    Z: Floats
    loss: Floats


def train(
    samples: Samples,
    record: Sequence[int] | Integers,
    *,
    eta_y: float,
    eta_z: float,
    unit: bool,
    Y: Floats | None = None,
) -> JointRun:
    """Gradient descent on Y and Z from Z = 0, full batch.

    Args:
        samples: the samples.
        record: increasing steps at which the state is kept; the last one ends the run.
        eta_y: step size of Y; 0 keeps Y as it is.
        eta_z: step size of Z.
        unit: as in `logits`.
        Y: the start of Y; zero when left out.

    Raises:
        ValueError: the steps do not increase.
    """
    steps = np.asarray(record, dtype=np.int64)
    if len(steps) == 0 or steps[0] < 0 or (np.diff(steps) <= 0).any():
        raise ValueError(f"record is {list(steps)}; give increasing steps, at least one")
    V = len(samples.vocabulary)
    now_Y = np.zeros((V, V)) if Y is None else Y.copy()
    now_Z = np.zeros((V, V))
    kept_Y, kept_Z, losses, done = [], [], [], 0
    for step in steps:
        while done < step:
            by_Y, by_Z = descent(samples, now_Y, now_Z, unit=unit)
            now_Y += eta_y * by_Y
            now_Z += eta_z * by_Z
            done += 1
        kept_Y.append(now_Y.copy())
        kept_Z.append(now_Z.copy())
        losses.append(loss(samples, now_Y, now_Z, unit=unit))
    return JointRun(steps, np.array(kept_Y), np.array(kept_Z), np.array(losses))
