"""Checks of the page on the experiment: Figure 2, and from when the bounds would say something."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s5_loss.instances import least_T, least_t
from ntpcore.data import generate
from ntpcore.huang2024 import bounds, stage1, training
from ntpcore.huang2024.problem import from_dataset
from ntpcore.huang2024.runs import Run, train
from ntpcore.verdicts.claims import Check, Control, Verdict
from ntpcore.verdicts.tables import Table

Floats = NDArray[np.float64]

EXACT = 1e-12  # relative; some hundred rounded operations on entries of one size
# What "converges" and "linear" are taken to mean within 900 steps; the text gives no numbers.
LEFT_OF_LOSS = 0.01  # share of the loss of stage 1, and of the loss excess of stage 2, at the end
LEFT_OF_ANGLE = 0.1  # 1 - cos of stage 2 at the end
STRAIGHT = 0.999  # R^2 of a straight line through the norms


@dataclass(frozen=True, eq=False)
class Both:
    """Both stages of one run of the paper's experiment.

    Attributes:
        first: measurements of stage 1, iterated step by step.
        run: stage 2.
    """

    first: stage1.Stage1
    run: Run


def experiments(seed: int, seeds: int, *, prefix_closed: bool = True) -> list[Both]:
    """The paper's experiment on random data sets from consecutive seeds."""
    found: list[Both] = []
    for number in range(seed, seed + seeds):
        setting = generate.experiment(number, prefix_closed=prefix_closed)
        problem = from_dataset(setting.data)
        grid = np.unique([1, *range(0, setting.steps1 + 1, 10)])
        first, _ = stage1.iterate(problem.following, setting.steps1, setting.eta0, record=grid)
        run = train(
            f"seed {number}",
            problem,
            eta0=setting.eta0,
            eta=setting.eta,
            steps1=setting.steps1,
            steps=setting.steps2,
            record=[int(step) for step in grid],
        )
        found.append(Both(first, run))
    return found


# The six panels by their vertical labels, stage 1 and stage 2 in turn.
PANELS = (
    "loss $\\mathcal{L}_0$, stage 1",
    "loss $\\mathcal{L}$, stage 2",
    "cosine, stage 1",
    "1 - cosine, stage 2",
    "norm, stage 1",
    "norm, stage 2",
)


def panel_values(both: Sequence[Both]) -> dict[str, tuple[Floats, Floats]]:
    """What each panel shows: steps (R,) and measurements (runs, R), from step 1 on."""
    firsts, seconds = [one.first for one in both], [one.run.second.rows for one in both]
    steps = firsts[0].step[1:].astype(float)
    values = (
        [np.exp(one.log_loss) for one in firsts],
        [one.loss for one in seconds],
        [1 - one.one_minus_cos for one in firsts],
        [one.one_minus_cos for one in seconds],
        [one.norm for one in firsts],
        [one.norm for one in seconds],
    )
    return {name: (steps, np.stack(many)[:, 1:]) for name, many in zip(PANELS, values, strict=True)}


def panel_limits(
    both: Sequence[Both],
) -> tuple[dict[str, list[tuple[str, Floats, float, float]]], dict[str, str]]:
    """The bounds that fit on the axes, medians over the runs, and notes on those that do not."""
    steps = both[0].first.step[1:].astype(float)
    many = [one.run.constants for one in both]
    c, end = many[0], float(steps[-1])
    decay = math.exp(both[0].first.log_loss[1]) * np.exp(-bounds.prop_1_loss_rate(c) * steps)
    right = np.median([np.exp(bounds.log_eq_4_loss(one, steps)) for one in many], axis=0)
    lower = np.median([bounds.thm_1_norm(one, steps)[0] for one in many], axis=0)
    far_1 = math.exp(float(bounds.log_prop_1_direction(c, math.log(end))))
    far_2 = min(float(bounds.log_thm_1_direction(one, math.log(end))) for one in many)
    limits = {
        PANELS[0]: [("rate of Prop. 1", decay, 0.7, 12.0)],
        PANELS[1]: [
            ("equation (4)", right, 0.5, -9.0),
            ("floor", np.full_like(steps, bounds.loss_floor(c)), 0.2, 8.0),
        ],
        PANELS[4]: [
            ("Prop. 1, below", bounds.prop_1_norm(c, steps)[0], 0.6, 10.0),
            ("above", bounds.prop_1_norm(c, steps)[1], 0.62, 12.0),
        ],
        PANELS[5]: [
            ("Theorem 1, below", lower, 0.6, 10.0),
            ("above", bounds.thm_1_norm(c, steps)[1], 0.62, 12.0),
        ],
    }
    notes = {
        PANELS[2]: f"Prop. 1 claims ≥ −{far_1 - 1:.0f}\nat the end: off the axis",
        PANELS[
            3
        ]: f"Theorem 1 allows $10^{{{far_2 / math.log(10):.0f}}}$\nat the end: off the axis",
    }
    return limits, notes


def panel_faults(both: Both) -> list[str]:
    """Which of the six panels does not show what Section 7 says of it."""
    first, rows, c = both.first, both.run.second.rows, both.run.constants
    loss1, excess = first.log_loss, rows.log_excess
    later = first.step > 0
    faults = {
        "the loss of stage 1 does not fall to its minimum": _falls(loss1, LEFT_OF_LOSS),
        "the direction of stage 1 is not that of W_ov*": bool(
            (np.abs(first.one_minus_cos[later]) <= EXACT).all()
        ),
        "the norm of stage 1 is not t eta0": bool(
            np.allclose(first.norm, first.step * c.eta0, rtol=EXACT, atol=0)
        ),
        "the loss of stage 2 does not fall to its minimum": _falls(excess, LEFT_OF_LOSS),
        "the direction of stage 2 does not approach W_kq*": bool(
            (np.diff(rows.one_minus_cos[1:]) < 0).all() and rows.one_minus_cos[-1] < LEFT_OF_ANGLE
        ),
        "the norm of stage 2 is not linear": straightness(rows.step, rows.norm) > STRAIGHT,
    }
    return [text for text, holds in faults.items() if not holds]


def _falls(logs: Floats, share: float) -> bool:
    """Whether something falls at every recorded step, at the end below a share of its start."""
    return bool((np.diff(logs) < 0).all() and logs[-1] - logs[0] < math.log(share))


def straightness(steps: NDArray[np.int64], norms: Floats) -> float:
    """R^2 of the line of least squares through norms."""
    line = np.polyfit(steps, norms, 1)
    left = norms - np.polyval(line, steps)
    return 1 - float(left @ left) / float(((norms - norms.mean()) ** 2).sum())


def exponent_of_angle(run: Run) -> float:
    """Exponent of t in 1 - cos, fitted from step 100 on."""
    rows = run.second.rows
    late = rows.step >= 100
    return float(np.polyfit(np.log(rows.step[late]), np.log(rows.one_minus_cos[late]), 1)[0])


def check_huang2024_fig_2(both: Iterable[Both], **parameters: int) -> Check:
    """All six panels show what the text says of them, on every seed."""
    label, unit = "huang2024-fig-2", "random data sets"
    many = list(both)
    if not many:
        return Check(label, Verdict.OPEN, 0, unit, "There is no run.")
    for one in many:
        faults = panel_faults(one)
        if faults:
            return Check(
                label,
                Verdict.REFUTED,
                len(many),
                unit,
                "A panel does not show what the text says.",
                witness=f"{one.run.name}: {faults[0]}",
                parameters=parameters,
            )
    ends = [one.run.second.rows for one in many]
    share = [math.exp(rows.log_excess[-1] - rows.log_excess[0]) for rows in ends]
    angle = [float(rows.one_minus_cos[-1]) for rows in ends]
    straight = min(straightness(rows.step, rows.norm) for rows in ends)
    speed = [
        float(one.run.second.rows.norm[-1]) / (one.run.second.state.step * one.run.constants.eta)
        for one in many
    ]
    exponents = [exponent_of_angle(one.run) for one in many]
    return Check(
        label,
        Verdict.CONSISTENT,
        len(many),
        unit,
        f"In all six panels on all {len(many)} seeds: in stage 2 at most {max(share):.2%} of the "
        f"loss excess is left, 1 - cos ends at {min(angle):.3f} to {max(angle):.3f}, and the norm "
        f"is a straight line up to R² = {straight:.4f}.",
        numbers={
            "seeds": str(len(many)),
            "share": f"{max(share):.2%}",
            "angle_least": f"{min(angle):.3f}",
            "angle_most": f"{max(angle):.3f}",
            "straight": f"{straight:.4f}",
            "speed": f"{np.median(speed):.2f}",
            "exponent_least": f"{min(exponents):.2f}",
            "exponent_most": f"{max(exponents):.2f}",
            "loss_1": f"{math.exp(float(many[0].first.log_loss[-1])):.2g}",
            "floor": f"{bounds.loss_floor(many[0].run.constants):.2g}",
        },
        parameters=parameters,
    )


def control_huang2024_fig_2(both: Sequence[Both]) -> Control:
    """Each of three broken trajectories must be noticed on each seed."""
    broken = [planted(one) for one in both for planted in (_reversed, _stalled, _slow_norm)]
    verdicts = {check_huang2024_fig_2([one]).verdict for one in broken}
    return Control(
        "Stage 2 played backwards; W_kq stopping after a third of the steps; a norm that grows "
        "like the square root of t.",
        Verdict.REFUTED,
        Verdict.REFUTED if verdicts == {Verdict.REFUTED} else Verdict.CONSISTENT,
    )


def _with_rows(both: Both, rows: training.Rows) -> Both:
    """The same run with other measurements of stage 2."""
    return replace(both, run=replace(both.run, second=replace(both.run.second, rows=rows)))


def _reversed(both: Both) -> Both:
    """Losses and angles of stage 2 in the reverse order."""
    rows = both.run.second.rows
    return _with_rows(
        both,
        replace(rows, log_excess=rows.log_excess[::-1], one_minus_cos=rows.one_minus_cos[::-1]),
    )


def _stalled(both: Both) -> Both:
    """All measurements of stage 2 but the step frozen after a third of the run."""
    rows = both.run.second.rows
    place = np.minimum(np.arange(len(rows.step)), len(rows.step) // 3)
    frozen = {
        field.name: getattr(rows, field.name)[place]
        for field in fields(rows)
        if field.name != "step"
    }
    return _with_rows(both, replace(rows, **frozen))


def _slow_norm(both: Both) -> Both:
    """A norm like the square root of the step."""
    rows = both.run.second.rows
    return _with_rows(both, replace(rows, norm=rows.norm[-1] * np.sqrt(rows.step / rows.step[-1])))


# From when the bounds say something


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
        "Theorem 1, direction, as printed",
        "thm_1",
        "t",
        lambda c: bounds.bites_from(lambda s: bounds.log_thm_1_direction(c, s)),
    ),
    Bite(
        "Theorem 1, direction, corrected",
        "thm_1_corrected",
        "t",
        lambda c: bounds.bites_from(
            lambda s: bounds.log_thm_1_direction(c, s, rarity=bounds.PI_MIN)
        ),
    ),
    Bite(
        "Theorem 2, its condition on T",
        "thm_2_T",
        "T",
        lambda c: bounds.bites_from(lambda s: bounds.log_thm_2_condition_1(c, s)),
    ),
    Bite(
        "Theorem 2, its condition on t, as printed",
        "thm_2",
        "t",
        lambda c: bounds.bites_from(lambda s: bounds.log_thm_2_condition_2(c, s)),
    ),
    Bite(
        "Theorem 2, its condition on t, corrected",
        "thm_2_corrected",
        "t",
        lambda c: bounds.bites_from(
            lambda s: bounds.log_thm_2_condition_2(c, s, rarity=bounds.PI_MIN)
        ),
    ),
    Bite("Equation (4) below log|V|, whatever t", "eq_4_T", "T", _eq_4_T),
    Bite("Equation (4) below log|V|, with twice that T", "eq_4_t", "t", _eq_4_t),
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
        rows.append((bite.what, bite.counted, _range(logs), str(steps), f"{times:.1g}"))
    header = ("what", "step", "says something from", "steps made", "that is times more")
    return Table(header, tuple(rows))


def _range(logs: Sequence[float]) -> str:
    """Smallest and largest of some numbers given by their logarithms."""
    low, high = f"{math.exp(min(logs)):.1e}", f"{math.exp(max(logs)):.1e}"
    return low if low == high else f"{low} to {high}"


def check_ours_bites(runs: Iterable[Run], steps: int = 900, **parameters: int) -> Check:
    """None of the bounds says anything within the steps of the experiment.

    Args:
        runs: runs of the experiment.
        steps: steps of each stage.
        parameters: what repeats the runs.
    """
    label, unit = "ours-bites", "random data sets"
    many = list(runs)
    if not many:
        return Check(label, Verdict.OPEN, 0, unit, "There is no run.")
    found = log_bites(many)
    numbers = {key: f"{math.exp(min(logs)):.1g}" for key, logs in found.items()}
    early = {
        key: math.exp(min(logs)) for key, logs in found.items() if min(logs) <= math.log(steps)
    }
    if early:
        key = min(early, key=lambda one: early[one])
        what = next(bite.what for bite in BITES if bite.key == key)
        return Check(
            label,
            Verdict.REFUTED,
            len(many),
            unit,
            f"Within {steps} steps a bound says something.",
            witness=f"{what}: from step {early[key]:.1g}",
            numbers=numbers,
            parameters=parameters,
        )
    least = min(found, key=lambda key: min(found[key]))
    return Check(
        label,
        Verdict.CONSISTENT,
        len(many),
        unit,
        f"On {len(many)} data sets each of {len(BITES)} bounds needs more than {steps} steps; the "
        f"first to say something does so from step {numbers[least]}, Theorem 1 from "
        f"{numbers['thm_1']}.",
        numbers=numbers,
        parameters=parameters,
    )


def control_ours_bites(runs: Sequence[Run]) -> Control:
    """In ten million steps Proposition 1 does say something, and the check must tell."""
    return Control(
        "The same question for ten million steps, within which Proposition 1 says something.",
        Verdict.REFUTED,
        check_ours_bites(runs, steps=10**7).verdict,
    )
