"""Check of Section 3.1: sums that training conserves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s3_setting import setting_symbols as symbols
from ntpbook.tian2023.s3_setting.setting_gradients import with_error
from ntpcore.tian2023 import layer
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]


def trained(
    rng: np.random.Generator, rule: str, steps: int = 40, M: int = 6
) -> tuple[Floats, Floats]:
    """Y and Z after some steps of batch size 1 from zero, on sequences of random tokens.

    Args:
        rng: source of randomness.
        rule: "gradient", "momentum" (0.9, as in the authors' code) or "adam".
        steps: number of steps.
        M: size of the vocabulary.

    Raises:
        ValueError: the rule is unknown.
    """
    if rule not in ("gradient", "momentum", "adam"):
        raise ValueError(f"{rule!r} is no rule; choose gradient, momentum or adam")
    weights = np.zeros((2, M, M))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for t in range(1, steps + 1):
        g = np.array(layer.gradients(layer.random_sample(rng, M, 8), weights[0], weights[1]))
        if rule == "gradient":
            weights += 0.5 * g
        elif rule == "momentum":
            first = 0.9 * first + g
            weights += 0.5 * first
        else:
            first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
            scaled = (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
            weights += 0.1 * scaled
    return weights[0], weights[1]


def check_tian2023_app_row_sums(
    runs: int = 20, seed: int = 7, rules: tuple[str, ...] = ("gradient", "momentum"), axis: int = 1
) -> Check:
    """Y 1 = 0 and Z 1 = 0 all along, for gradients and momentum.

    Args:
        runs: number of random runs for each rule.
        seed: of the runs.
        rules: update rules under which the sums must stay zero.
        axis: along which the sums are taken; 1 sums the entries of each row.
    """

    def largest(rule: str, axis: int) -> float:
        rng = np.random.default_rng(seed)
        worst = 0.0
        for _ in range(runs):
            Y, Z = trained(rng, rule)
            worst = max(worst, *(float(np.abs(W.sum(axis=axis)).max()) for W in (Y, Z)))
        return worst

    adam, columns = largest("adam", 1), largest("gradient", 0)
    check = judge(
        "tian2023-app-row-sums",
        [Case(f"update rule: {rule}", -largest(rule, axis)) for rule in rules],
        unit="update rules",
        claim=f"After 40 steps from zero the entries of each row sum to zero, in {runs} runs each",
        tolerance=1e-13,  # 40 steps, each adding rounding of sums of six numbers near one
        numbers={"adam": f"{adam:.2g}", "columns": f"{columns:.2g}"},
        parameters={"runs": runs, "seed": seed},
        by_hand=(
            "X 1 = 1, so that P X^T diag(b) X 1 = P X^T b = 0",
            "a sum of updates with zero sums has zero sums, which covers batches, momentum and "
            "weight decay",
        ),
        proved=symbols.errors_sum_to_zero() and symbols.centre_drops(),
    )
    if check.verdict is Verdict.REFUTED:
        return check
    return replace(
        with_error(check),
        readings=(
            Reading(
                "the entries of each row sum to zero, under gradients or momentum", check.verdict
            ),
            Reading(
                f"the rows, added as vectors, give zero: after gradient steps the largest entry of "
                f"the sum is {columns:.2g}",
                Verdict.REFUTED,
            ),
            Reading(
                f"the entries of each row sum to zero under Adam, which the paper also uses: the "
                f"largest sum is {adam:.2g}",
                Verdict.REFUTED,
            ),
        ),
    )


def control_tian2023_app_row_sums() -> Control:
    """Adam divides entry by entry, which does not keep the sums."""
    return Control(
        "The same sums demanded of runs with Adam.",
        Verdict.REFUTED,
        check_tian2023_app_row_sums(runs=3, rules=("adam",)).verdict,
    )
