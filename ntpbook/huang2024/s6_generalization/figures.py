"""The table and the curves of the page on unseen sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s6_generalization.checks import likeliest
from ntpcore.huang2024 import prediction, training
from ntpcore.huang2024.problem import Problem
from ntpcore.huang2024.runs import Run
from ntpverdicts.tables import Table

Floats = NDArray[np.float64]


def answer_table(run: Run, sentences: Iterable[str]) -> Table:
    """What a run predicts after sentences of one-letter tokens."""
    rows = []
    for sentence in sentences:
        answer = prediction.predict(run.problem, run.second, tuple(sentence))
        first, weights = likeliest(answer), totals(sentence, answer)
        shown = ", ".join(f"{token} {weight:.3f}" for token, weight in weights.items())
        best = f"{answer.probabilities[first[0]]:.6f}"
        rows.append((" ".join(sentence), shown, " or ".join(first), best))
    return Table(("sentence", "attention", "next token", "its probability"), tuple(rows))


def totals(sentence: str, answer: prediction.Prediction) -> dict[str, float]:
    """Total attention on each token of a sentence."""
    found = dict.fromkeys(sentence, 0.0)
    for token, weight in zip(sentence, answer.attention, strict=True):
        found[token] += weight
    return found


def attention_curves(
    problem: Problem, eta: float, gap: float, sentence: str, steps: Sequence[int]
) -> tuple[dict[str, Floats], dict[str, str]]:
    """Total attention on each token of a sentence at some steps of stage 2, and the roles."""
    state = None
    rows = []
    for stop in steps:
        state = training.run(problem, int(stop), eta, gap, record=[], state=state)
        answer = prediction.predict(problem, state, tuple(sentence))
        rows.append(list(totals(sentence, answer).values()))
    columns = np.array(rows).T
    roles = answer.roles if rows else {}
    return dict(zip(dict.fromkeys(sentence), columns, strict=True)), roles
