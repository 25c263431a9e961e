"""From which step on each bound of the paper says something."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ntpbook.huang2024.s5_loss.instances import least_T, least_t
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.runs import Run
from ntpverdicts.maths import plain
from ntpverdicts.tables import Table


@dataclass(frozen=True)
class Bite:
    """A bound and the first step at which it says anything.

    Attributes:
        what: the bound, in words.
        key: a name for results.
        counted: the letter of the step that must be large, T or t.
        log_step: its natural logarithm as a function of the constants.
    """

    what: str
    key: str
    counted: str
    log_step: Callable[[bounds.Constants], float]


def _eq_4_T(c: bounds.Constants) -> float:
    """Log of the T that (4) needs."""
    return math.log(least_T(c))


def _eq_4_t(c: bounds.Constants) -> float:
    """Log of the t that (4) needs where T is twice what it needs."""
    return math.log(least_t(replace(c, steps1=2 * least_T(c))))


BITES = (
    Bite(
        "Proposition 1, direction",
        "prop_1",
        "T",
        lambda c: bounds.bites_from(lambda s: bounds.log_prop_1_direction(c, s)),
    ),
    Bite(
        "Theorem 1, direction, as stated",
        "thm_1",
        "t",
        bounds.thm_1_speaks_from,
    ),
    Bite(
        "Theorem 1, direction, corrected",
        "thm_1_corrected",
        "t",
        lambda c: bounds.thm_1_speaks_from(c, rarity=bounds.PI_MIN),
    ),
    Bite(
        "Theorem 2, its condition on $T$",
        "thm_2_T",
        "T",
        lambda c: bounds.bites_from(lambda s: bounds.log_thm_2_condition_1(c, s)),
    ),
    Bite(
        "Theorem 2, its condition on $t$, as stated",
        "thm_2",
        "t",
        lambda c: bounds.bites_from(lambda s: bounds.log_thm_2_condition_2(c, s)),
    ),
    Bite(
        "Theorem 2, its condition on $t$, corrected",
        "thm_2_corrected",
        "t",
        lambda c: bounds.bites_from(
            lambda s: bounds.log_thm_2_condition_2(c, s, rarity=bounds.PI_MIN)
        ),
    ),
    Bite(r"Equation (4) below $\log|\mathcal{V}|$, for any $t$", "eq_4_T", "T", _eq_4_T),
    Bite(r"Equation (4) below $\log|\mathcal{V}|$, at twice the least $T$", "eq_4_t", "t", _eq_4_t),
)


def log_bites(runs: Sequence[Run]) -> dict[str, list[float]]:
    """Natural logarithms of the first steps, by the key of the bound, for each run."""
    return {bite.key: [bite.log_step(run.constants) for run in runs] for bite in BITES}


def bite_table(runs: Sequence[Run], steps: int = 900) -> Table:
    """The first steps at which the bounds say something, against the steps of the experiment."""
    found = log_bites(runs)
    rows = []
    for bite in BITES:
        logs = found[bite.key]
        times = math.exp(min(logs)) / steps
        rows.append((plain(bite.what), bite.counted, _range(logs), str(steps), f"{times:.1g}"))
    header = ("bound", "counts", "informative from step", "steps of the experiment", "ratio")
    return Table(header, tuple(rows))


def _range(logs: Sequence[float]) -> str:
    """Smallest and largest of some numbers given by their logarithms."""
    low, high = f"{math.exp(min(logs)):.1e}", f"{math.exp(max(logs)):.1e}"
    return low if low == high else f"{low} to {high}"
