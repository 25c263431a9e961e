"""Checks of the proof sketch of Theorem 1 (Section 5.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s5_stage2_lemmas.stage2_lemmas import log_alpha
from ntpbook.shared import rare_alpha
from ntpbook.shared.said import settle
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.runs import Run
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

ROUNDING = 1e-9  # norms of up to some thousands, sums of as many rounded steps
LEVEL = 1e-12  # a cosine of sums of a few hundred terms; by less it does not fall behind

# Section 5.3, Step 2


def check_huang2024_app_sketch_2(
    runs: Iterable[Run], share: float = 1.0, **parameters: int
) -> Check:
    """The cosine of -G and W_kq* is larger than `share` times the least optimal weight.

    Args:
        runs: runs with Assumption 3; others are passed over.
        share: factor of the weight; the sketch has 1.
        parameters: what repeats the runs.
    """
    held = [run for run in runs if run.problem.frequent]
    failing = [run for run in held if _least_lead(run, share)[0] < -LEVEL]
    label, unit = "huang2024-app-sketch-2", "runs"
    if not held:
        return Check(label, Verdict.OPEN, 0, unit, "No run satisfies Assumption 3.")
    if not failing:
        least = min(_least_lead(run, share)[0] for run in held)
        text = f"On all {len(held)} runs the cosine is larger, by {least:.2g} at least."
        return Check(label, Verdict.CONSISTENT, len(held), unit, text, parameters=parameters)
    run = min(failing, key=lambda one: (one.problem.vocab_size, _least_lead(one, share)[0]))
    _, at = _least_lead(run, share)
    rows = run.second.rows
    cosine, weight = -float(rows.cos_star[at]), float(rows.least_attention[at])
    return Check(
        label,
        Verdict.REFUTED,
        len(held),
        unit,
        f"On {len(failing)} of {len(held)} runs the cosine is smaller at some step.",
        witness=f"{run.name}, |V| = {run.problem.vocab_size}, step {int(rows.step[at])}: the "
        f"cosine is {cosine:.4f}, and every optimal token has a weight of {weight:.4f} at least",
        numbers={
            "failing": str(len(failing)),
            "runs": str(len(held)),
            "cosine": f"{cosine:.4f}",
            "weight": f"{weight:.4f}",
        },
        parameters=parameters,
        readings=(
            Reading("the weight of all optimal positions of a sentence", Verdict.REFUTED),
            Reading(
                "the weight of each optimal position",
                Verdict.REFUTED if any(_positions_fail(one) for one in failing) else Verdict.OPEN,
            ),
        ),
    )


def _least_lead(run: Run, share: float) -> tuple[float, int]:
    """The least lead of the cosine over the weight, and the row where it is."""
    rows = run.second.rows
    lead = -rows.cos_star - share * rows.least_attention
    return float(lead.min()), int(lead.argmin())


def _positions_fail(run: Run) -> bool:
    """Whether the cosine falls behind the least weight of a single optimal position, too."""
    rows = run.second.rows
    later = rows.step > 0
    single = np.exp(rows.log_weight)  # the least since the row before: never too large
    return bool((-rows.cos_star[later] < single[later] - LEVEL).any())


def control_huang2024_app_sketch_2(runs: Sequence[Run]) -> Control:
    """With the factor of Lemma 6 the same runs show nothing wrong."""
    verdicts = {
        check_huang2024_app_sketch_2([run], share=1 / (2 * run.problem.norm)).verdict
        for run in runs
        if run.problem.frequent
    }
    return Control(
        "The weight divided by 2||W_kq*||, as Lemma 6 has it: a check that refutes everything "
        "would refute this, too.",
        Verdict.CONSISTENT,
        verdicts.pop() if len(verdicts) == 1 else Verdict.REFUTED,
    )


# Section 5.3, Step 3


def needed_constant(run: Run) -> tuple[Floats, Floats]:
    """Log of the steps, and the C_0 that the inequality needs there, from t_0 on; 0 if none."""
    rows = run.second.rows
    late = (rows.step >= bounds.lem_7_start(run.constants)) & (rows.norm > math.e)
    norm = rows.norm[late]
    constant = np.maximum(rows.needed_alpha[late] * norm / np.log(norm), 0.0)
    return np.log(rows.step[late]), constant


def check_huang2024_app_sketch_3(
    runs: Iterable[Run], hidden: Sequence[Run] = (), **parameters: int
) -> Check:
    """Some C_0 serves all t >= t_0: 1, or what is needed early, still serves late.

    Args:
        runs: runs with Assumption 3; others are passed over.
        hidden: runs with a rare sample, against a C_0 that knows no frequencies.
        parameters: what repeats the runs.
    """
    fault, tried, most = "", 0, 0.0
    for run in runs:
        log_t, constant = needed_constant(run)
        if not run.problem.frequent or len(log_t) < 4:
            continue
        tried += 1
        early = log_t <= (log_t[0] + log_t[-1]) / 2
        before, after = float(constant[early].max()), float(constant[~early].max())
        most = max(most, before, after)
        if after > max(1.0, before) + ROUNDING and not fault:
            fault = f"{run.name}: first {before:.2g} is needed, then {after:.2g}"
    beaten = [run for run in hidden if _beats(run)]
    readings = (
        Reading("C_0 may depend on the data", Verdict.REFUTED if fault else Verdict.CONSISTENT),
        Reading(
            "C_0 is made of N, L_max and ||W_kq*||, as in Lemma 7",
            Verdict.REFUTED if beaten else Verdict.CONSISTENT,
        ),
    )
    return settle(
        "huang2024-app-sketch-3",
        symbols={},
        fault=fault,
        tried=tried,
        unit="runs",
        evidence=f"On {tried} runs the larger of 1 and the C_0 that is needed in the first half of "
        f"the logarithm of t serves in the second; needed is {most:.2g} at most.",
        numbers={"runs": str(tried), "most": f"{most:.2g}", "beaten": str(len(beaten))},
        parameters=parameters,
        readings=() if fault else readings,
    )


def _beats(run: Run) -> bool:
    """Whether Lemma 7 with N and its larger constant fails on this run."""
    rows = run.second.rows
    late = rows.step >= max(1, bounds.lem_7_start(run.constants))
    return bool((np.exp(log_alpha(run, 8, bounds.N, late)) < rows.needed_alpha[late]).any())


def control_huang2024_app_sketch_3(run: Run) -> Control:
    """A gap between the projections that falls like 1 / sqrt||W|| needs a growing C_0."""
    rows = replace(run.second.rows, needed_alpha=1 / np.sqrt(np.maximum(run.second.rows.norm, 1)))
    slow = replace(run, second=replace(run.second, rows=rows))
    return Control(
        "Projections whose difference falls like the inverse root of the norm.",
        Verdict.REFUTED,
        check_huang2024_app_sketch_3([slow]).verdict,
    )


def hidden_runs() -> list[Run]:
    """Runs with a rare sample that defeat Lemma 7 as printed."""
    return [rare_alpha.defeating_run(constant) for constant in (4, 8)]
