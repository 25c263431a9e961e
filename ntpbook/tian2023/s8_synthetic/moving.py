"""Figure 6 of Tian et al. for the reader's number of queries and seed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ntpbook.look import interactive
from ntpbook.look.interactive import Axis, Curve, Dial, Moving, View
from ntpbook.tian2023.s8_synthetic.experiments import ETA_Z, QUERIES, RATIOS
from ntpbook.tian2023.s8_synthetic.figure_6 import Cell
from ntpverdicts.numbers import written

Table = Mapping[Cell, NDArray[np.float64]]
ROLES = ("optimal", "other", "noncomparable", "bound")
LINES = ("solid", "dashed", "dotted", "dotted")


def entropies(table: Table) -> Moving:
    """Entropy against the ratio of the rates: the mean of all seeds, or one of them.

    Args:
        table: entropies by cell, one value for each seed.
    """
    seeds = min(map(len, table.values()), default=0)
    return interactive.moving(
        "fig-tian-6",
        Axis("ratio η_Y/η_Z", log=True),
        Axis("entropy (nats)"),
        (
            Dial("queries L", tuple(map(str, QUERIES))),
            Dial(
                "seeds",
                ("mean of all", *(f"seed {one}" for one in range(1, seeds + 1))),
                slider=False,
            ),
        ),
        lambda place, seed: view(table, QUERIES[place], seed),
    )


def view(table: Table, queries: int, seed: int) -> View:
    """One curve for each rate of the attention, and where each is lowest.

    Args:
        table: entropies by cell.
        queries: L.
        seed: from 1 on; 0 stands for the mean.
    """
    curves, lowest = [], []
    for eta_z, role, line in zip(ETA_Z, ROLES, LINES, strict=True):
        cells = [table[queries, eta_z, ratio] for ratio in RATIOS]
        values = [float(cell[seed - 1] if seed else cell.mean()) for cell in cells]
        curves.append(Curve(f"η_Z = {eta_z:g}", role, line, RATIOS, values))
        at = int(np.argmin(values))
        lowest.append(f"{written(values[at], 3)} at ratio {RATIOS[at]:g} for η_Z = {eta_z:g}")
    whose = f"seed {seed}" if seed else "mean of all seeds"
    says = f"L = {queries}, {whose}. The entropy is lowest: {'; '.join(lowest)}."
    return View(tuple(curves), says)
