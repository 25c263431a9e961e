"""Example 1 step by step: the scores of attention turn to the max-margin solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ntpbook.look import interactive
from ntpbook.look.interactive import Axis, Curve, Dial, Moving, View
from ntpbook.look.plots import BOUND, NONOPTIMAL, OPTIMAL
from ntpbook.ours.whole_model import plain
from ntpverdicts.numbers import written

STEPS = (0, 1, 3, 10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 900)
Star = Mapping[str, Mapping[str, Any]]


def turning(W_ov: Any, path: Sequence[Any], star: Star, start: int = 900) -> Moving:
    """The compared entries of W_kq, scaled to the length of W_kq*, after more and more steps.

    Args:
        W_ov: weights after stage 1.
        path: W_kq at the start and after every step, at least 900 of them.
        star: for every query the max-margin score of each token that it compares.
        start: the steps of the printed picture.
    """
    entries = [(q, x) for q in star for x in sorted(star[q], key=lambda x: (-star[q][x], x))]
    return interactive.moving(
        "fig-turning",
        Axis("token, under query", names=tuple(f"{x} | {q}" for q, x in entries)),
        Axis("score, scaled to the length of the max-margin solution", low=-0.8, high=1),
        (Dial("steps t of stage 2", tuple(map(str, STEPS)), STEPS.index(start), plays=True),),
        lambda at: view(W_ov, path[STEPS[at]], STEPS[at], star, entries),
    )


def scores(W_kq: Any, star: Star, entries: Sequence[tuple[str, str]]) -> tuple[Any, Any]:
    """The entries of W_kq, scaled where they are not all zero, and those of W_kq*."""
    number = {word: place for place, word in enumerate(plain.words)}
    exact = np.array([float(star[q][x]) for q, x in entries])
    found = np.array([W_kq[number[x], number[q]] for q, x in entries])
    length = np.linalg.norm(found)
    return (found * np.linalg.norm(exact) / length if length else found), exact


def view(W_ov: Any, W_kq: Any, step: int, star: Star, entries: Sequence[tuple[str, str]]) -> View:
    """Bars of both kinds, the marks they turn to, and a sentence."""
    found, exact = scores(W_kq, star, entries)
    places = np.arange(len(entries), dtype=float)
    up = exact > 0
    least = min(
        sum(a for x, a in zip(s, plain.forward(s, W_ov, W_kq)[1], strict=True) if plain.n[x] == y)
        for s, y in plain.samples
    )
    share = f"every sentence gives its optimal token at least {written(100 * least, 3)} %"
    if found.any():
        angle = np.degrees(np.arccos(min(1.0, found @ exact / (exact @ exact))))
        steps = f"{step} steps" if step > 1 else "one step"
        says = (
            f"After {steps} the angle to the max-margin solution is {written(angle)}°, and {share}"
        )
    else:  # no direction, hence no angle
        says = f"Before the first step all scores are zero: attention is uniform, and {share}"
    return View(
        (
            Curve("optimal tokens", "optimal", "bars", places[up], found[up]),
            Curve("non-optimal tokens", "nonoptimal", "bars", places[~up], found[~up]),
            Curve("max-margin solution", "bound", "points", places, exact),
        ),
        f"{says} of its attention.",
    )


def draw_turning(axes: Any, moved: Moving, at: int) -> None:
    """The printed picture: one view of the moving one, optimal and non-optimal tokens as bars."""
    up, down, goal = moved.views[at].curves
    axes.bar(up.x, up.y, 0.68, color=OPTIMAL, label=up.label)
    axes.bar(down.x, down.y, 0.68, color=NONOPTIMAL, label=down.label)
    axes.plot(goal.x, goal.y, "x", color=BOUND, label=goal.label)
    axes.axhline(0, color=BOUND, linewidth=0.8)
    axes.set_xticks(range(len(moved.x.names)), moved.x.names)
    axes.set(ylim=(moved.y.low, moved.y.high), xlabel="token, under query")
    axes.set_ylabel("score, scaled")
    axes.legend(frameon=False, ncols=3, loc="upper center", borderaxespad=0, fontsize=9)
