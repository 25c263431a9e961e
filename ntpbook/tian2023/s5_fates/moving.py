"""Fates of tokens for the reader's rates and second distinct token."""

from __future__ import annotations

import numpy as np

from ntpbook.look import interactive
from ntpbook.look.interactive import Axis, Curve, Dial, Moving, View
from ntpbook.tian2023.s5_fates import attention
from ntpcore.tian2023.classes import attention_scores, layered_classes
from ntpverdicts.numbers import written

RATES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SECOND = (0.1, 0.4, 0.7, 0.9, 0.99)
LAST = 1e5
POINTS = 30


def attentions() -> Moving:
    """Attention of the example under (10), for rates of the attention and second tokens."""
    return interactive.moving(
        "fig-fates",
        Axis("steps of batch size 1, t", log=True),
        Axis("attention cₙₗ", low=0),
        (
            Dial(
                "learning rate of the attention η_Z (η_Y = 1)",
                tuple(f"{rate:g}" for rate in RATES),
                start=RATES.index(0.5),
            ),
            Dial(
                "weight of the second distinct token, relative to the first",
                tuple(f"{weight:g}" for weight in SECOND),
                start=SECOND.index(0.7),
            ),
        ),
        lambda r, w: view(RATES[r], SECOND[w]),
    )


def view(rate: float, second: float) -> View:
    """Two common and three distinct tokens of the first of three classes."""
    data = layered_classes([0.5, 0.3], [[1.0, second, 0.4]] * 3, 11, (0, 0, 0))
    steps = np.concatenate([[0.0], np.geomspace(1, LAST, POINTS)])
    path = attention.flow(data, 1000, attention.clock(1000, 3, 1.0, rate, steps))
    c = np.array([attention_scores(data, z)[0] for z in path.z])
    names = (
        ("first common token", "nonoptimal", "solid", 0),
        ("second common token", "nonoptimal", "dashed", 1),
        ("first distinct token", "optimal", "solid", 2),
        ("second distinct token", "optimal", "dashed", 3),
        ("third distinct token, weight 0.4 of the first", "optimal", "dotted", 4),
    )
    curves = tuple(
        Curve(name, role, line, steps[1:], c[1:, token]) for name, role, line, token in names
    )
    common = c[:, :2].sum(axis=1)
    says = (
        f"η_Z = {rate:g}, weight of the second distinct token {second:g} times that of the first: "
        f"the attention on both common tokens together goes from {written(common[0])} to "
        f"{written(common[-1])}, that on the first distinct token from {written(c[0, 2])} to "
        f"{written(c[-1, 2])}, and that on the second from {written(c[0, 3])} to "
        f"{written(c[-1, 3])}. The ratio of the first to the second distinct token goes from "
        f"{written(c[0, 2] / c[0, 3], 3)} to {written(c[-1, 2] / c[-1, 3], 3)}."
    )
    return View(curves, says)
