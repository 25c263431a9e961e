"""Attention at steps of a training, beside the one of the max-margin direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ntpcore.data.order import Structure
from ntpcore.exact import margin
from ntpcore.huang2024 import plain

FRAMES = 30


@dataclass(frozen=True)
class Frame:
    """Two attentions of one sentence at one step.

    Attributes:
        step: steps of stage 2 taken.
        attention: weight of each position.
        aim: the same with W_kq_star, stretched to the norm of W_kq at this step.
    """

    step: int
    attention: tuple[float, ...]
    aim: tuple[float, ...]


def frames(
    structure: Structure,
    sentence: Sequence[str],
    steps: int = plain.STEPS,
    progress: plain.Progress | None = None,
) -> tuple[Frame, ...]:
    """Train, and look at one sentence at the start, at up to thirty steps, and at the end.

    Args:
        structure: a realizable data set.
        sentence: its tokens.
        steps: steps of stage 2.
        progress: called with the steps taken and those in all.

    Raises:
        InputError: the data are not realizable, or the sentence has an unknown token.

    Source: huang2024, Algorithm 1 and equation (3).
    """
    start = plain.train(structure, steps=0)  # W_kq is zero; refuses what cannot be trained on
    even = plain.predict(start, sentence).attention
    found = [Frame(0, even, even)]
    columns = {query: one.scores for query, one in margin.W_kq_star(structure.orders or {}).items()}
    size = margin.norm_squared(columns.values())
    every = -(-steps // FRAMES)

    def keep(now: plain.Trained) -> None:
        if now.steps % every and now.steps != steps:
            return
        stretch = math.sqrt(math.fsum(w * w for w in now.weights.values()) / size)
        scores = columns.get(sentence[-1], {})
        weights = {(a, sentence[-1]): stretch * float(score) for a, score in scores.items()}
        aim = plain.predict(plain.Trained(structure, 0.0, weights, now.steps), sentence).attention
        found.append(Frame(now.steps, plain.predict(now, sentence).attention, aim))

    plain.train(structure, steps=steps, keep=keep, progress=progress)
    return tuple(found)
