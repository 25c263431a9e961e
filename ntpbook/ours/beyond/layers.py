"""Both layers in plain numpy, trained in ways of which the theory does not speak.

A sentence enters through the counts of its tokens, because the model has no positions. W_ov and
W_kq are |V| x |V| matrices over the tokens, as Assumption 2 allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ntpcore.data.dataset import Dataset
from ntpcore.huang2024 import stage1
from ntpcore.huang2024.problem import Problem

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
OV, KQ = "W_ov", "W_kq"


@dataclass(frozen=True, eq=False)
class Sentences:
    """Samples as arrays.

    Attributes:
        log_counts: (N, |V|), log of how often each token occurs; -inf for one that does not.
        query: (N,), the last token.
        following: (N,), the next token.
        share: (N,), frequencies; those of samples that are kept back are 0.
    """

    log_counts: Floats
    query: Integers
    following: Integers
    share: Floats

    @cached_property
    def with_query(self) -> Floats:
        """(|V|, N), 1 where a sample has this query and else 0."""
        return np.equal.outer(np.arange(self.log_counts.shape[1]), self.query).astype(float)


@dataclass(frozen=True, eq=False)
class Slopes:
    """What the layer says of each sentence, and what it takes to make a step.

    Attributes:
        weights: (N, |V|), attention on the tokens of each sentence.
        logits: (N, |V|), up to a constant for each sentence.
        following: (N,), the next tokens.
        share: (N,), frequencies.
        of: gradients of the loss (1) by the name of the layer, (|V|, |V|) each.
    """

    weights: Floats
    logits: Floats
    following: Integers
    share: Floats
    of: dict[str, Floats]

    @property
    def loss(self) -> float:
        """The loss (1)."""
        own = self.logits[np.arange(len(self.following)), self.following]
        return float((self.share * (np.log(np.exp(self.logits).sum(1)) - own)).sum())

    @property
    def right(self) -> NDArray[np.bool_]:
        """(N,), whether the most probable token is the next one."""
        return np.asarray(self.logits.argmax(1) == self.following)


def sentences(data: Dataset, problem: Problem, kept_back: Iterable[int] = ()) -> Sentences:
    """The samples of a data set; those of these numbers get no share.

    Args:
        data: the data set.
        problem: its training problem, whose vocabulary numbers the tokens.
        kept_back: numbers of samples in the order of `data.samples()`.
    """
    place = {token: number for number, token in enumerate(problem.vocabulary)}
    samples = list(data.samples())
    counts = np.zeros((len(samples), len(place)))
    for row, sample in enumerate(samples):
        for token in sample.sentence:
            counts[row, place[token]] += 1
    share = np.array([float(sample.count) for sample in samples])
    share[list(kept_back)] = 0
    return Sentences(
        logs_of(counts),
        np.array([place[sample.sentence[-1]] for sample in samples]),
        np.array([place[sample.next_token] for sample in samples]),
        share / share.sum(),
    )


def single_tokens(problem: Problem) -> Sentences:
    """Every token as a sentence of its own, on which (1) is the loss of stage 1."""
    size = problem.vocab_size
    share = np.full(size, 1 / size)
    return Sentences(logs_of(np.eye(size)), np.arange(size), problem.following, share)


def logs_of(counts: Floats) -> Floats:
    """Logarithms of counts; -inf for 0."""
    with np.errstate(divide="ignore"):  # a token that does not occur has the weight 0
        return np.asarray(np.log(counts))


def slopes(
    data: Sentences, W_ov: Floats, W_kq: Floats, layers: tuple[str, ...] = (OV, KQ)
) -> Slopes:
    """Outputs, and gradients of the loss by these layers (huang2024, (1) and Appendix A).

    Neither softmax minus one-hot is formed by a subtraction: the entry of the right token, and that
    of the token with the largest attention, are minus the sum of the others.
    """
    # not `joint.descent`, which rounds in another order: the digits of runs would change
    rows = np.arange(len(data.query))
    scores = data.log_counts + W_kq.T[data.query]
    m = np.exp(scores - scores.max(1, keepdims=True))
    m /= m.sum(1, keepdims=True)
    logits = m @ W_ov.T
    logits -= logits.max(1, keepdims=True)
    wrong = np.exp(logits)
    wrong *= (data.share / wrong.sum(1))[:, None]
    wrong[rows, data.following] = 0
    wrong[rows, data.following] = -wrong.sum(1)
    of = {}
    if OV in layers:
        of[OV] = wrong.T @ m
    if KQ in layers:
        pull = wrong @ W_ov
        pull = m * (pull - (m * pull).sum(1, keepdims=True))
        largest = m.argmax(1)
        pull[rows, largest] = 0
        pull[rows, largest] = -pull.sum(1)
        of[KQ] = (data.with_query @ pull).T
    return Slopes(m, logits, data.following, data.share, of)


@dataclass(frozen=True)
class Optimiser:
    """How a step is made of the gradients of the layers that are trained.

    Attributes:
        kind: "normalized" (one norm for all layers), "plain", "sign" or "Adam".
        eta: step size.
        epsilon: what Adam adds to the root of the second moment.
    """

    kind: str
    eta: float
    epsilon: float = 1e-8


@dataclass(frozen=True, eq=False)
class TrainedLayers:
    """Layers at some steps of a run.

    Attributes:
        step: the steps.
        W_ov: one matrix for each.
        W_kq: one matrix for each.
        last: loss and weights at the last of them.
    """

    step: tuple[int, ...]
    W_ov: tuple[Floats, ...]
    W_kq: tuple[Floats, ...]
    last: Slopes


def train(
    data: Sentences,
    start: tuple[Floats, Floats],
    how: Optimiser,
    record: Sequence[int],
    layers: tuple[str, ...] = (OV, KQ),
) -> TrainedLayers:
    """Train some layers from a start up to the last of these steps.

    Args:
        data: the samples.
        start: W_ov and W_kq.
        how: the optimiser.
        record: increasing steps at which the layers are kept.
        layers: those that are trained.
    """
    W = {OV: start[0].copy(), KQ: start[1].copy()}
    moments = {layer: (np.zeros_like(W[layer]), np.zeros_like(W[layer])) for layer in layers}
    kept: list[tuple[Floats, Floats]] = []
    for t in range(record[-1] + 1):
        found = slopes(data, W[OV], W[KQ], layers)
        if t in record:
            kept.append((W[OV].copy(), W[KQ].copy()))
        if t == record[-1]:
            break
        norm = np.sqrt(sum(float((found.of[layer] ** 2).sum()) for layer in layers))
        for layer in layers:
            g = found.of[layer]
            if how.kind == "normalized":
                W[layer] -= how.eta * g / norm
            elif how.kind == "sign":
                W[layer] -= how.eta * np.sign(g)
            elif how.kind == "Adam":
                first, second = moments[layer]
                first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
                moments[layer] = first, second
                root = np.sqrt(second / (1 - 0.999 ** (t + 1))) + how.epsilon
                W[layer] -= how.eta * first / (1 - 0.9 ** (t + 1)) / root
            else:
                W[layer] -= how.eta * g
    of_ov, of_kq = zip(*kept, strict=True)
    return TrainedLayers(tuple(record), of_ov, of_kq, found)


def W_kq_star(problem: Problem) -> Floats:
    """(|V|, |V|), the max-margin attention."""
    star = np.zeros((problem.vocab_size, problem.vocab_size))
    star[problem.entry_token, problem.entry_query] = problem.W_kq_star
    return star


def W_ov_star(problem: Problem) -> Floats:
    """(|V|, |V|), the max-margin feed-forward layer."""
    return stage1.W_ov_star(problem.following)


def one_minus_cos(a: Floats, b: Floats) -> float:
    """1 - cos of the angle between two matrices, from the difference of unit matrices."""
    apart = a / np.linalg.norm(a) - b / np.linalg.norm(b)
    return float((apart**2).sum()) / 2
