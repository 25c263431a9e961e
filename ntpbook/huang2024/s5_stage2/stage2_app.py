"""Checks of what the abstract and Section 1 say of both layers: directions and norms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ntpbook.shared import one_sample, stage_1_law
from ntpbook.shared.first_stage import cycle, iterated
from ntpbook.shared.said import settle
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.runs import Run
from ntpcore.verdicts.claims import Check, Control, Verdict

# The abstract promises a rate that is no worse than 1/t up to logarithms.
SLOWEST = -1.0
ROUNDING = 1e-9  # a norm is a sum of up to 1e5 rounded steps


def late_exponent(run: Run) -> float:
    """Exponent of t in 1 - cos over the last decade of a run."""
    rows = run.second.rows
    late = rows.step >= rows.step[-1] / 10
    return float(np.polyfit(np.log(rows.step[late]), np.log(rows.one_minus_cos[late]), 1)[0])


def check_huang2024_app_directions(runs: Iterable[Run], **parameters: int) -> Check:
    """Both layers turn to their max-margin solutions, W_kq at 1/t or faster in the long run.

    Args:
        runs: long runs.
        parameters: what repeats them.
    """
    laws = (*stage_1_law.gradient(), *stage_1_law.sizes())
    broken = [one.name for one in laws if not one.holds]
    fault, exponents, angles = "; ".join(broken), [], []
    for run in runs:
        exponents.append(late_exponent(run))
        angles.append(float(run.second.rows.one_minus_cos[-1]))
        first = iterated(cycle(run.problem.vocab_size), 0.1, 100)
        off = float(np.nanmax(first.rows.one_minus_cos[first.rows.step >= 1]))
        if exponents[-1] > SLOWEST and not fault:
            fault = f"{run.name}: 1 - cos falls like t to the power {exponents[-1]:.2f} at the end"
        if off > ROUNDING and not fault:
            fault = f"|V| = {run.problem.vocab_size}: W_ov is off its direction by {off:.1g}"
    slowest, fastest = max(exponents, default=0), min(exponents, default=0)
    return settle(
        "huang2024-app-directions",
        symbols={},
        fault=fault,
        tried=len(exponents),
        unit="long runs",
        evidence="W_ov has its direction from the first step on, by the exact law. On "
        f"{len(exponents)} long runs 1 - cos of W_kq falls like t to the power {slowest:.2f} to "
        f"{fastest:.2f} over the last decade, and ends at {max(angles, default=0):.1g} at most.",
        numbers={
            "runs": str(len(exponents)),
            "slowest": f"{slowest:.2f}",
            "fastest": f"{fastest:.2f}",
            "angle": f"{max(angles, default=0):.1g}",
        },
        parameters=parameters,
        by_hand=("the induction of the exact law of stage 1",),
    )


def control_huang2024_app_directions(run: Run) -> Control:
    """A direction that levels off a little beside its limit must be noticed."""
    rows = run.second.rows
    beside = replace(rows, one_minus_cos=rows.one_minus_cos + 100 * rows.one_minus_cos[-1])
    off = replace(run, second=replace(run.second, rows=beside))
    return Control(
        "A run that turns to a direction beside W_kq*, at a hundred times its last distance.",
        Verdict.REFUTED,
        check_huang2024_app_directions([off]).verdict,
    )


def check_huang2024_app_linear_norms(runs: Iterable[Run], **parameters: int) -> Check:
    """||W_ov|| = t eta_0, and ||W_kq|| lies between two multiples of t, under Assumption 3.

    Args:
        runs: runs; those without Assumption 3 are passed over.
        parameters: what repeats them.
    """
    fault, tried, shares = "", 0, []
    for run in runs:
        if not run.problem.frequent:
            continue
        tried += 1
        rows, c = run.second.rows, run.constants
        later = rows.step >= 1
        t = rows.step[later].astype(float)
        low, high = bounds.lem_6_norm(c, t)
        slack = np.minimum(rows.norm[later] / low - 1, 1 - rows.norm[later] / high)
        shares.append(float(rows.norm[-1]) / float(t[-1] * c.eta))
        if slack.min() < -ROUNDING and not fault:
            fault = (
                f"{run.name}, step {int(t[slack.argmin()])}: {rows.norm[later][slack.argmin()]:.3g}"
            )
    laws = (*stage_1_law.gradient(), *stage_1_law.sizes())
    return settle(
        "huang2024-app-linear-norms",
        symbols={"W_ov: " + one.name: one.holds for one in laws}
        | {"W_kq: the signs of the gradient": all(one.holds for one in one_sample.signs())},
        fault=fault,
        tried=tried,
        unit="runs",
        evidence="||W_ov|| = t eta_0 by the exact law. ||W_kq|| is at most t eta, and at least "
        f"t eta / (2 L_max ||W_kq*||) by Lemma 6; on {tried} runs it ends at "
        f"{min(shares, default=0):.2f} to {max(shares, default=0):.2f} of t eta.",
        numbers={
            "runs": str(tried),
            "least": f"{min(shares, default=0):.2f}",
            "most": f"{max(shares, default=0):.2f}",
        },
        parameters=parameters,
        by_hand=(
            "the induction of the exact law of stage 1",
            "induction over the steps (Lemma 5)",
            "three lines from the signs to the norm (Lemma 6)",
        ),
    )


def control_huang2024_app_linear_norms(run: Run) -> Control:
    """A norm like the square root of t must be noticed."""
    rows = run.second.rows
    slow = replace(rows, norm=run.constants.eta * np.sqrt(rows.step.astype(float)))
    return Control(
        "A norm that grows like the square root of t.",
        Verdict.REFUTED,
        check_huang2024_app_linear_norms(
            [replace(run, second=replace(run.second, rows=slow))]
        ).verdict,
    )
