"""What the trained transformer predicts after a sentence, and its attention to each position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ntpcore.data.dataset import InputError
from ntpcore.huang2024.plain import Prediction
from ntpcore.huang2024.problem import Problem
from ntpcore.huang2024.training import Trajectory, fingerprint
from ntpcore.huang2024.transformer import softmax

__all__ = ["Prediction", "predict"]

Floats = NDArray[np.float64]


def predict(problem: Problem, trajectory: Trajectory, sentence: Sequence[str]) -> Prediction:
    """Next-token probabilities and attention of the transformer at the end of a trajectory.

    W_ov is that of stage 1: for each token x, it lifts the logit of the next token n(x) by the gap.

    Args:
        problem: the data that the trajectory was trained on.
        trajectory: the run of stage 2.
        sentence: tokens of the vocabulary, at least one.

    Raises:
        InputError: the sentence is empty, a token is not in the vocabulary, or the trajectory was
            trained on other data.

    Source: huang2024, Section 4.1.
    """
    if trajectory.fingerprint != fingerprint(problem):
        raise InputError(
            "the run was trained on other data than those given; pass the problem it was trained on"
        )
    numbers = {token: number for number, token in enumerate(problem.vocabulary)}
    if not sentence:
        raise InputError("the sentence is empty; give at least one token")
    for token in sentence:
        if token not in numbers:
            known = " ".join(problem.vocabulary[:20])
            more = ", ..." if problem.vocab_size > 20 else ""
            raise InputError(f"{token!r} is not in the vocabulary; its tokens are {known}{more}")
    X = np.array([numbers[token] for token in sentence])
    column = problem.column(int(X[-1]))
    scores, role = np.zeros(problem.vocab_size), np.zeros(problem.vocab_size, dtype=np.int64)
    tokens = problem.entry_token[column]
    scores[tokens] = trajectory.state.weights[column]
    role[tokens] = np.where(problem.is_optimal[column], 1, -1)
    attention = softmax(scores[X])
    logits = np.zeros(problem.vocab_size)
    np.add.at(logits, problem.following[X], trajectory.gap * attention)
    names = {1: "optimal", -1: "non-optimal", 0: "non-comparable"}
    return Prediction(
        tuple(sentence),
        dict(zip(problem.vocabulary, softmax(logits).tolist(), strict=True)),
        tuple(attention.tolist()),
        {token: names[int(role[numbers[token]])] for token in sentence},
    )
