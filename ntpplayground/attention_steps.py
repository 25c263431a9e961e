"""Attention at steps of a training, beside the one of the max-margin direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ntpcore.data.order import Structure
from ntpcore.front import max_margin
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
        structure: a data set; one that is not realizable is trained on as a whole.
        sentence: its tokens.
        steps: steps of stage 2.
        progress: called with the steps taken and those in all.

    Raises:
        InputError: no sentence has two distinct tokens, or this one has an unknown token.

    Source: huang2024, Algorithm 1 and equation (3); Li et al. (2024) for other orders.
    """
    start = plain.train(structure, steps=0, anyway=True)  # W_kq is zero
    even = plain.predict(start, sentence).attention
    found = [Frame(0, even, even)]
    star = max_margin(structure.orders or {})
    size = star.norm_squared or 1  # zero where all tokens run in circles
    every = -(-steps // FRAMES)

    def keep(now: plain.Trained) -> None:
        if now.steps % every and now.steps != steps:
            return
        stretch = math.sqrt(math.fsum(w * w for w in now.weights.values()) / size)
        scores = star.columns.get(sentence[-1], {})
        weights = {(a, sentence[-1]): stretch * float(score) for a, score in scores.items()}
        aim = plain.predict(plain.Trained(structure, 0.0, weights, now.steps), sentence).attention
        found.append(Frame(now.steps, plain.predict(now, sentence).attention, aim))

    plain.train(structure, steps=steps, keep=keep, progress=progress, anyway=True)
    return tuple(found)
