"""Figure 8 of Tian et al. for the reader's learning rate and vocabulary."""

from __future__ import annotations

import math

import numpy as np

from ntpbook.look import interactive
from ntpbook.look.interactive import Axis, Curve, Dial, Moving, View
from ntpbook.tian2023.s4_decoder import shift
from ntpcore.tian2023 import decoder
from ntpverdicts.numbers import written

SIZES = (5, 20, 50, 200, 1000, 10_000)
RATES = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
UPDATES = 80


def figure_8() -> Moving:
    """M h* and M h for vocabularies and learning rates, over the first updates."""
    return interactive.moving(
        "fig-tian-figure-8",
        Axis("updates of the class s"),
        Axis("height times vocabulary, M h* and M h"),
        (
            Dial("vocabulary M", tuple(map(str, SIZES)), start=SIZES.index(50)),
            Dial(
                "learning rate η_Y",
                tuple(f"{rate:g}" for rate in RATES),
                start=RATES.index(1.0),
            ),
        ),
        lambda m, r: view(SIZES[m], RATES[r]),
    )


def view(M: int, rate: float) -> View:
    """The recursion at every second update, the curve, and how far it is behind."""
    s = np.arange(UPDATES + 1.0)
    steps, curve = decoder.recursion(M, rate, UPDATES), decoder.height(M, rate * s)
    behind = float(shift.shifts(M, rate, steps)[-1])
    passes = steps > math.log(M)
    when = f"passes ln M at update {passes.argmax()}" if passes.any() else "is still below ln M"
    says = (
        f"M = {M}, η_Y = {rate:g}: the recursion M h* {when}. After {UPDATES} updates it is at "
        f"{written(float(steps[-1]), 4)} and the curve M h at {written(float(curve[-1]), 4)}, "
        f"{written(behind)} updates behind; ln M is {written(math.log(M))}."
    )
    curves = (
        Curve("recursion M h*", "optimal", "solid", s[::2], steps[::2]),
        Curve("curve M h of Lemma 6", "bound", "dotted", s[::2], curve[::2]),
        Curve("ln M", "noncomparable", "dashed", (0, UPDATES), (math.log(M),) * 2),
    )
    return View(curves, says)
