"""The growth bound for the reader's number of classes and initial correlation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ntpbook.look import interactive
from ntpbook.look.interactive import Axis, Curve, Dial, Moving, View
from ntpbook.tian2023.s6_snapping import snapping
from ntpbook.tian2023.s6_snapping.snapping import SnapSetting
from ntpverdicts.numbers import written

CLASSES = (2, 5, 10, 20)
EPSILONS = (0.1, 0.3, 0.5, 0.7)
POINTS = 48


def growth(M: int) -> Moving:
    """B_n as stated, with its constant, and from (10) in both counts of steps.

    Args:
        M: size of the vocabulary; both rates are 1.
    """
    return interactive.moving(
        "fig-growth-bound",
        Axis("time t (steps)", log=True),
        Axis("growth bound Bₙ"),
        (
            Dial("classes K", tuple(map(str, CLASSES)), start=CLASSES.index(10)),
            Dial(
                "initial inner product fₙ·fₙ′",
                tuple(f"{epsilon:g}" for epsilon in EPSILONS),
                start=EPSILONS.index(0.5),
            ),
        ),
        lambda k, e: view(SnapSetting(M, CLASSES[k], 1.0, 1.0), EPSILONS[e]),
    )


def view(s: SnapSetting, epsilon: float) -> View:
    """The four curves, and where they end."""
    t = np.geomspace(0.005 * s.first_end, 300 * s.onset, POINTS)
    C_0 = 1 / (epsilon**2 * s.K)
    Gamma = snapping.total_speed(s, t)
    of_all = snapping.solve_10(s, epsilon, t, relative=1e-7).B
    # one sample a step: eta_Z/K in (10), and B_n keeps eta_Z
    slow = replace(s, eta_z=s.eta_z / s.K)
    true = s.K * snapping.solve_10(slow, epsilon, t, relative=1e-7).B
    printed, corrected = snapping.printed_growth(C_0, Gamma), snapping.growth(C_0, Gamma)
    at = float(np.interp(np.log(s.onset), np.log(t), true))
    curves = (
        Curve("(10), one sample per step", "optimal", "solid", t, true),
        Curve("(10), the sum over classes", "optimal", "dashed", t, of_all),
        Curve("(14) as stated", "bound", "dashed", t, printed),
        Curve("(14) with its constant", "bound", "dotted", t, corrected),
        Curve("snapping begins, t₀", "noncomparable", "dotted", (s.onset,) * 2, (-0.5, 5.0)),
    )
    ends = [written(float(curve[-1])) for curve in (true, printed, corrected, of_all)]
    says = (
        f"K = {s.K}, fₙ·fₙ′ = {epsilon:g}: with one sample per step, the growth bound by (10) is "
        f"{written(at)} at step t₀ = {s.onset:.0f} and {ends[0]} at the end. By (14) it is "
        f"{ends[1]} at the end as stated, and {ends[2]} with the missing constant. If each step "
        f"sums over all classes, the growth bound by (10) is {ends[3]} at the end."
    )
    return View(curves, says)
