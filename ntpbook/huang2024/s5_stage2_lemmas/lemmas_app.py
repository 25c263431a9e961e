"""Checks of displays inside the proofs of Lemmas 5 and 6: signs and norm of the gradient."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s5_stage2_lemmas.stage2_lemmas import SIGNS_BY_HAND, signs_hold
from ntpbook.shared import rare
from ntpbook.shared.said import settle
from ntpbook.shared.without_asm_3 import outnumbered_run
from ntpcore.huang2024 import training
from ntpcore.huang2024.problem import Problem
from ntpcore.huang2024.runs import Run
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]

ROUNDING = 1e-10  # logarithms of sums of a few hundred terms, of a size of up to some thousands


@dataclass(frozen=True, eq=False)
class Weights:
    """Attention and prediction in every merged sample, as logarithms.

    Attributes:
        best: (S,), log of the weight phi_+ of the optimal token.
        rest: (S,), log of phi_- = 1 - phi_+.
        rivals: (M,), log of the weight of each rival.
        missing: (S,), log of 1 - T_o, the probability of all wrong next tokens.
        wrong: (M,), log of T_j, the probability of n of each rival.
    """

    best: Floats
    rest: Floats
    rivals: Floats
    missing: Floats
    wrong: Floats


def attention(problem: Problem, weights: Floats, gap: float) -> Weights:
    """Attention and prediction at these entries of W_kq, from equation (9) and the margins A."""
    place, first = problem.sample_of, problem.start[:-1]
    score = problem.log_ratio + weights[problem.rival] - weights[problem.optimal][place]
    odds = np.logaddexp.reduceat(score, first)  # log of phi_- / phi_+
    best = -np.logaddexp(0.0, odds)
    rivals = score + best[place]
    lead = gap * (np.exp(rivals) - np.exp(best)[place])
    absent = np.maximum(problem.vocab_size - 1 - np.diff(problem.start), 0)
    with np.errstate(divide="ignore"):
        others = np.log(absent) - gap * np.exp(best)
    wrong = np.logaddexp(np.logaddexp.reduceat(lead, first), others)
    total = np.logaddexp(0.0, wrong)
    return Weights(best, odds + best, rivals, wrong - total, lead - total[place])


def states(run: Run, seed: int) -> Iterator[tuple[str, Floats]]:
    """Zero, the end of a run, and two random matrices, one near zero and one far."""
    rng = np.random.default_rng(seed)
    size = len(run.second.state.weights)
    yield "start", np.zeros(size)
    yield "end", run.second.state.weights
    for scale in (1.0, 10.0):
        yield f"random entries of size {scale:g}", scale * rng.normal(size=size)


# Lemma 5


def check_huang2024_app_induction(
    runs: Iterable[Run], held_only: bool = True, **parameters: int
) -> Check:
    """While phi_+ is the largest weight, optimal entries rise and the others do not.

    Args:
        runs: runs; those without Assumption 3 are passed over.
        held_only: whether they are, and whether states off the hypothesis are passed over.
        parameters: what repeats the runs.
    """
    fault, tried, entries = "", 0, 0
    for run in runs:
        if held_only and not run.problem.frequent:
            continue
        for where in (np.zeros_like(run.second.state.weights), run.second.state.weights):
            found = attention(run.problem, where, run.second.gap)
            ahead = found.best[run.problem.sample_of] - found.rivals
            tried += 1
            if ahead.min() < -ROUNDING and held_only:
                fault = fault or f"{run.name}: a rival has a larger weight"
            G = training.gradient(run.problem, where, run.second.gap)[1]
            entries += len(G)
            wrong = np.where(run.problem.is_optimal, G >= 0, G < 0)
            if wrong.any():
                place = int(wrong.argmax())
                token = run.problem.vocabulary[run.problem.entry_token[place]]
                query = run.problem.vocabulary[run.problem.entry_query[place]]
                fault = fault or f"{run.name}: token {token} under query {query}"
    return settle(
        "huang2024-app-induction",
        symbols={"the signs, for any number of rivals": signs_hold()},
        fault=fault,
        tried=tried,
        unit="states of runs",
        evidence="The signs of the gradient are identities for any number of rivals. At the start "
        f"and at the end of all runs, {tried} states with {entries} entries, the optimal token has "
        "the largest weight of its sentence and all signs are as displayed.",
        numbers={"states": str(tried), "entries": str(entries)},
        parameters=parameters,
        by_hand=(
            "at the start all positions weigh 1/L, and Assumption 3 compares their numbers",
            *SIGNS_BY_HAND,
        ),
    )


def control_huang2024_app_induction() -> Control:
    """Without Assumption 3 a sign must be seen to be wrong."""
    return Control(
        "Data that violate Assumption 3, on which the hypothesis is wrong from the start.",
        Verdict.REFUTED,
        check_huang2024_app_induction([outnumbered_run()], held_only=False).verdict,
    )


# Lemma 6


@lru_cache
def lengths_hold() -> dict[str, bool]:
    """x_o - xbar and x_j - xbar in orthonormal tokens, for weights with a symbolic rest.

    With phi_- = a + b, two rivals standing for any number: |x_o - xbar|^2 = phi_-^2 + a^2 + b^2,
    and |x_j - xbar|^2 = (1 - m_j)^2 + c^2 + d^2 where c + d = 1 - m_j.
    """
    import sympy as sp

    a, b = sp.symbols("a b", nonnegative=True)
    squared = (a + b) ** 2 + a**2 + b**2
    return {"at most sqrt(2) phi": bool(sp.expand(2 * (a + b) ** 2 - squared).is_nonnegative)}


def check_huang2024_app_gradient_norm(
    runs: Iterable[Run], factor: float = 2.0, seed: int = 7, **parameters: int
) -> Check:
    """||G|| <= 2 A sum_n pi ((1 - T_o) phi_+ phi_- + sum_j T_j m_j), at any W_kq.

    Args:
        runs: runs, whose ends are among the states tried.
        factor: the factor 2.
        seed: of the random states.
        parameters: what repeats the runs.
    """
    fault, tried, least = "", 0, math.inf
    for run in runs:
        for where, weights in states(run, seed):
            tried += 1
            norm = training.gradient(run.problem, weights, run.second.gap)[0]
            slack = log_norm_bound(run.problem, weights, run.second.gap, factor) - norm
            least = min(least, slack)
            if slack < -ROUNDING and not fault:
                fault = f"{run.name}, {where}: the norm is {math.exp(-slack):.3f} times the bound"
    return settle(
        "huang2024-app-gradient-norm",
        symbols=lengths_hold(),
        fault=fault,
        tried=tried,
        unit="states",
        evidence="The tokens are orthonormal, so that an optimal one is at most sqrt(2) phi_- from "
        f"the mean of its sentence and any other at most sqrt(2). At {tried} states the bound is "
        f"at least {math.exp(least):.2f} times the norm.",
        numbers={"states": str(tried), "least": f"{math.exp(least):.2f}"},
        parameters={"seed": seed, **parameters},
        by_hand=(
            "the triangle inequality over positions and samples, with Lemma 4",
            "more than two rivals: a sum of squares is at most the square of the sum",
        ),
    )


def log_norm_bound(problem: Problem, weights: Floats, gap: float, factor: float) -> float:
    """Log of the displayed bound on the norm of the gradient."""
    found = attention(problem, weights, gap)
    both = np.logaddexp.reduceat(found.wrong + found.rivals, problem.start[:-1])
    each = np.logaddexp(found.missing + found.best + found.rest, both)
    return math.log(factor * gap) + float(np.logaddexp.reduce(problem.log_pi + each))


def control_huang2024_app_gradient_norm() -> Control:
    """Half of the bound is too small where two tokens are all there is."""
    run = rare.rare_run(0.0, 200, 0.36)
    return Control(
        "The factor 2 left out, on data of two tokens.",
        Verdict.REFUTED,
        check_huang2024_app_gradient_norm([run], factor=1.0).verdict,
    )
