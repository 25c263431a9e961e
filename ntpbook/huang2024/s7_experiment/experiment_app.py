"""Check of what the paper concludes from its experiment: that it verifies the theory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s5_loss.checks import conclusions
from ntpbook.huang2024.s5_stage2.stage2 import ROUNDING, first_bite, power_of_ten, thm_1_slack
from ntpbook.huang2024.s7_experiment.experiment import Both, _slow_norm, panel_faults
from ntpbook.shared.said import settle
from ntpcore.huang2024 import bounds
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]


def bound_faults(both: Both) -> list[str]:
    """Printed bounds of Proposition 1 and Theorems 1 and 2 that the experiment breaks."""
    first, c = both.first, both.run.constants
    later = first.step >= 2
    t = first.step[later].astype(float)
    low, high = bounds.prop_1_norm(c, t)
    allowed = np.exp(bounds.log_prop_1_direction(c, np.log(t)))
    norm = first.norm[later]
    faults = {
        "Proposition 1, norm": bool(((norm >= low) & (norm <= high * (1 + ROUNDING))).all()),
        "Proposition 1, direction": bool((first.one_minus_cos[later] <= allowed).all()),
        "Theorem 1": bool(thm_1_slack(both.run, bounds.N)[1].min() >= -ROUNDING),
        "equation (4)": bool(conclusions(both.run, 1.0)[1].min() >= -ROUNDING),
    }
    return [name for name, holds in faults.items() if not holds]


def log_room(both: Both) -> float:
    """Log of the number by which Theorem 1's bound on 1 - cos may be divided and still hold."""
    rows = both.run.second.rows
    later = rows.step >= 2
    log_bound = bounds.log_thm_1_direction(both.run.constants, np.log(rows.step[later]))
    return float((log_bound - np.log(rows.one_minus_cos[later])).min())


def check_huang2024_app_verifies(both: Iterable[Both], **parameters: int) -> Check:
    """The curves behave as the theorems say, and none of the printed bounds is broken."""
    many = list(both)
    fault = ""
    for one in many:
        for told in (*panel_faults(one), *(f"{name} is broken" for name in bound_faults(one))):
            fault = fault or f"{one.run.name}: {told}"
    room = min((log_room(one) for one in many), default=0.0)
    bite = min((first_bite(one.run, bounds.N) for one in many), default=math.inf)
    words = Reading("the words: loss down, direction right, norm linear", Verdict.CONSISTENT)
    numbers = Reading(
        f"the bounds: with Theorem 1 divided by {power_of_ten(room)} nothing would show",
        Verdict.REFUTED if room > math.log(1e3) else Verdict.CONSISTENT,
    )
    return settle(
        "huang2024-app-verifies",
        symbols={},
        fault=fault,
        tried=len(many),
        unit="random data sets",
        evidence=f"On {len(many)} data sets all six curves behave as described and stay within the "
        "printed bounds. They would do so if the bound on the direction in Theorem 1 were smaller "
        f"by a factor of {power_of_ten(room)}.",
        numbers={"seeds": str(len(many)), "room": power_of_ten(room)},
        parameters=parameters,
        readings=(words, numbers),
        vacuous=f"t = {power_of_ten(bite)} (Theorem 1)" if many else "",
    )


def control_huang2024_app_verifies(both: Sequence[Both]) -> Control:
    """A norm that is not linear must be noticed on every seed."""
    verdicts = {check_huang2024_app_verifies([_slow_norm(one)]).verdict for one in both}
    return Control(
        "A norm that grows like the square root of t.",
        Verdict.REFUTED,
        verdicts.pop() if len(verdicts) == 1 else Verdict.CONSISTENT,
    )
