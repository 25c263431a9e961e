"""Checks of Figures 3 and 9, which plot the growth bound of Theorem 4."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import relative_error, verdict_of
from ntpcore.tian2023 import decoder, snapping
from ntpcore.tian2023.snapping import Setting
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]


def figure_3(eta_Y: float, C_0: float, t: Floats) -> Floats:
    """e^(2B) at the sizes of Figure 3: K = 10, M = 1000, eta_Z = 0.5."""
    s = Setting(1000, 10, eta_Y, 0.5)
    return np.asarray(np.exp(2 * snapping.growth_at(s, C_0, t)))


def check_tian2023_fig_3(reverse: bool = False) -> Check:
    """Smaller eta_Y at fixed eta_Z: later t_0 and larger growth factor in the end.

    Args:
        reverse: hold the curves against the opposite order.
    """
    rates: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0)
    t = np.linspace(366.0, 700.0, 100)  # after t_0 of the slowest decoder
    order = list(reversed(rates)) if reverse else list(rates)
    ordered = True
    for C_0 in (0.006, 0.1, 1.0):
        curves = [figure_3(rate, C_0, t) for rate in order]
        ordered &= all((a > b).all() for a, b in itertools.pairwise(curves))
    onsets = [decoder.transition(1000, 10, rate) for rate in rates]
    Gamma = float(snapping.total_speed(Setting(1000, 10, 0.5, 0.5), 700.0))
    needed = 4 * Gamma / (600.0**2 - 1)
    ends = {C_0: float(figure_3(0.5, C_0, np.array([700.0]))[0]) for C_0 in (0.1, 1.0)}
    readings = (
        Reading("The order of the curves from the last t_0 on, for any C_0.", verdict_of(ordered)),
        Reading(
            f"The scale, C_0 = 1/K, the least that |f_n| = 1 allows: e^(2B) ends at {ends[0.1]:.0f}"
            " where the axis goes to 600.",
            Verdict.REFUTED,
        ),
        Reading(
            f"The scale, C_0 = 1: e^(2B) ends at {ends[1.0]:.0f}.",
            Verdict.REFUTED,
        ),
        Reading(
            f"The scale with a C_0 chosen for it, {needed:.4f}: possible as a number, but then "
            f"rho_0 = {(10 * needed) ** 0.25:.2f}, and f_n would be longer than 1.",
            Verdict.REFUTED,
        ),
    )
    return Check(
        "tian2023-fig-3",
        verdict_of(ordered),
        3 * len(rates) * len(t),
        "points of curves",
        "The order and the shape of the curves come out for every C_0; the scale of the printed "
        "axis does not come out for any C_0 that (13) allows.",
        witness="" if ordered else "the curves lie in the opposite order",
        numbers={
            "natural": f"{ends[0.1]:.0f}",
            "one": f"{ends[1.0]:.0f}",
            "square": f"{float(figure_3(0.5, 0.01, np.array([700.0]))[0]):.0f}",
            "needed": f"{needed:.4f}",
            "rho": f"{(10 * needed) ** 0.25:.2f}",
            "first_onset": f"{onsets[-1]:.0f}",
            "last_onset": f"{onsets[0]:.0f}",
        },
        readings=readings if ordered else (),
    )


def control_tian2023_fig_3() -> Control:
    """The opposite order."""
    return Control(
        "The curves held against the opposite order.",
        Verdict.REFUTED,
        check_tian2023_fig_3(reverse=True).verdict,
    )


PANELS = ((100, 10.0, 5.0, 0.8), (10_000, 1.0, 50.0, 1.6))  # M, nu, last t, end of the axis


def _fits(K: int, invert: bool) -> tuple[bool, list[float]]:
    """Whether the largest B of each panel ends between 0.85 of the axis and the axis."""
    ends = []
    fits = True
    for M, nu, last, axis in PANELS:
        ratio = 1 / nu if invert else nu
        values = [
            float(snapping.growth_at(Setting(M, K, ratio * e, e), 1.0, last))
            for e in (0.5, 1.0, 2.0, 4.0, 8.0)
        ]
        ends.append(max(values))
        fits &= 0.85 * axis <= max(values) <= axis
    return fits, ends


def check_tian2023_fig_9(K: int = 1, invert: bool = False) -> Check:
    """B(t) for fixed ratios: one value at t_0 for all rates, and the size of both panels.

    Args:
        K: number of classes of the reading that must fit.
        invert: whether nu is eta_Z / eta_Y, as the caption has it.
    """
    fits, ends = _fits(K, invert)
    spread, at = 0.0, []
    for M, nu, _, _ in PANELS:
        runs = [Setting(M, 1, nu * e, e) for e in (0.5, 1.0, 2.0, 4.0, 8.0)]
        B = [float(snapping.growth_at(s, 1.0, s.onset)) for s in runs]
        spread = max(spread, *(relative_error(b, B[0]) for b in B))
        at.append(B[0])
    two, inverted = _fits(2, False)[0], _fits(1, True)[0]
    holds = fits and spread < 1e-12  # rounding
    return Check(
        "tian2023-fig-9",
        verdict_of(holds),
        len(PANELS) * 5,
        "curves",
        "With one class, C_0 = 1 and nu = eta_Y / eta_Z both panels have the printed size, and "
        "all curves of a panel have one value at their t_0.",
        witness="" if holds else f"the largest values are {ends}, the axes end at 0.8 and 1.6",
        numbers={
            "first": f"{at[0]:.3f}",
            "second": f"{at[1]:.3f}",
            "end_first": f"{ends[0]:.3f}",
            "end_second": f"{ends[1]:.3f}",
            "two": f"{_fits(2, False)[1][0]:.3f}",
            "inverted": f"{_fits(1, True)[1][0]:.3f}",
        },
        readings=(
            Reading("K = 1, C_0 = 1, nu = eta_Y / eta_Z.", verdict_of(_fits(1, False)[0])),
            Reading("K = 2, C_0 = 1, nu = eta_Y / eta_Z.", verdict_of(two)),
            Reading("K = 1, C_0 = 1, nu = eta_Z / eta_Y, as in the caption.", verdict_of(inverted)),
        )
        if holds
        else (),
    )


def control_tian2023_fig_9() -> Control:
    """Two classes."""
    return Control(
        "Two classes in the place of one.",
        Verdict.REFUTED,
        check_tian2023_fig_9(K=2).verdict,
    )
