"""Check of what the paper says of its two stages: apart, and yet nothing is lost."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ntpbook.shared.said import settle
from ntpcore.data.dataset import from_samples
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import stage1, transformer
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, paper_rates, train
from ntpcore.verdicts.claims import Check, Control, Verdict

LEFT = 0.01  # share of the loss above its floor that may be left at the end


def runs_of_example(steps: int, stages: Iterable[int] = (100, 300, 900, 2700)) -> list[Run]:
    """Algorithm 1 on Example 1 with longer and longer first stages."""
    problem = from_dataset(example_1())
    eta0, eta = paper_rates(problem.vocab_size)
    return [
        train(f"Example 1, T = {T}", problem, eta0=eta0, eta=4 * eta, steps1=T, steps=steps)
        for T in stages
    ]


def check_huang2024_app_decoupling(runs: Iterable[Run], **parameters: int) -> Check:
    """Stage 1 does not see W_kq; stage 2 reaches the least loss at W_ov, which tends to 0 with T.

    Args:
        runs: runs of both stages, ordered by T where the data are the same.
        parameters: what repeats the runs.
    """
    import sympy as sp

    m, A = sp.symbols("m A", positive=True)
    floor = sp.log(1 + m * sp.exp(-A))
    symbols = {
        "the floor tends to 0": sp.limit(floor, A, sp.oo) == 0,
        "that stage 2 reaches the floor on all data": False,
    }
    fault, tried, most, last = "", 0, 0.0, math.inf
    for run in runs:
        tried += 1
        seen = seen_by_stage_1(run.problem, run.second.gap)
        rows = run.second.rows
        left = math.exp(float(rows.log_excess[-1] - rows.log_excess[0]))
        most, last = max(most, left), float(rows.loss[-1])
        if seen > 1e-13 and not fault:  # one softmax of one score
            fault = f"{run.name}: the loss of stage 1 moves with W_kq by {seen:.1g}"
        if left > LEFT and not fault:
            fault = f"{run.name}: {left:.2f} of the loss above the floor is left"
    return settle(
        "huang2024-app-decoupling",
        symbols=symbols,
        fault=fault,
        tried=tried,
        unit="runs of both stages",
        evidence="A sentence of one token has attention 1 on it, whatever W_kq is. At the W_ov of "
        "stage 1 no attention has a loss below log(1 + (|V| - 1) e^-A), which tends to 0 with T; "
        f"on {tried} runs stage 2 leaves at most {most:.0e} of what was above it.",
        numbers={"runs": str(tried), "most": f"{most:.0e}", "last": f"{last:.1g}"},
        parameters=parameters,
        by_hand=("the floor: with weight m_o the right logit leads by A (2 m_o - 1) at most",),
    )


def seen_by_stage_1(problem: Problem, gap: float) -> float:
    """How much the loss of the sentences of one token moves with a random W_kq."""
    names = problem.vocabulary
    pairs = [(name, names[v]) for name, v in zip(names, problem.following, strict=True)]
    data = from_samples(pairs, "sentences of one token")
    size, rng = len(names), np.random.default_rng(len(names))
    W_ov = gap * stage1.W_ov_star(problem.following)
    losses = [
        transformer.loss(data, W_ov, scale * rng.normal(size=(size, size)), np.eye(size))
        for scale in (0.0, 1.0, 100.0)
    ]
    return max(losses) - min(losses)


def control_huang2024_app_decoupling() -> Control:
    """After a single step of stage 2 nearly all is left."""
    return Control(
        "A second stage of one step.",
        Verdict.REFUTED,
        check_huang2024_app_decoupling(runs_of_example(1, [900])).verdict,
    )
