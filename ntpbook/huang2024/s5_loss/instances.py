"""The runs of the page on the loss, and what is measured of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.attention import attention
from ntpcore.data import generate
from ntpcore.data.dataset import from_samples, from_sentences
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, run_measures, runs, stage1, training
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, paper_rates, train
from ntpverdicts.once import once

Floats = NDArray[np.float64]

LATE = 20  # times as many steps in a long run


@once
def frequent(seed: int = 7, sets: int = 10, steps: int = 1000) -> tuple[Run, ...]:
    """Example 1 and random data under Assumption 3, at the paper's step size and 20 times that."""
    return tuple(runs.collection(seed, sets, steps))


@once
def others(seed: int = 7, sets: int = 10, steps: int = 1000) -> tuple[Run, ...]:
    """The same without Assumption 3."""
    return tuple(runs.collection(seed, sets, steps, frequent=False))


@once
def experiment(seed: int = 7) -> Run:
    """A run of the size of the paper's experiment."""
    setting = generate.experiment(seed)
    return train(
        "20 tokens as in Section 7",
        from_dataset(setting.data),
        eta0=setting.eta0,
        eta=setting.eta,
        steps1=setting.steps1,
        steps=setting.steps2,
    )


@once
def long_runs(seed: int = 7, steps: int = 1000) -> tuple[Run, ...]:
    """Runs of 20 times as many steps, of 20 times the paper's step size."""
    return tuple(runs.collection(seed, 4, LATE * steps, factors=(20,)))


def smallest_problem() -> Problem:
    """The data 0 1 0: N = 2, L_max = 2, ||W_kq_star||^2 = 1/2, the frequencies equal."""
    return from_dataset(from_sentences(["0 1 0"], "the sentence 0 1 0"), {"1": "0"})


@cache
def inside() -> Run:
    """A run on the smallest data into the region where the conditions of Theorem 2 hold."""
    problem = smallest_problem()
    eta0, eta = paper_rates(2)[0], 0.26  # ||W_kq_star|| / e = 0.2601
    c = bounds.constants(problem, eta0, eta, 1)
    log_T = bounds.bites_from(lambda s: bounds.log_thm_2_condition_1(c, s))
    log_t = bounds.bites_from(lambda s: bounds.log_thm_2_condition_2(c, s))
    first, steps = math.ceil(math.exp(log_T)) + 1, math.ceil(math.exp(log_t)) + 1
    record = [0, 1, *np.linspace(steps, 1.05 * steps, 20).astype(int).tolist()]
    return train(
        "the sentence 0 1 0",
        problem,
        eta0=eta0,
        eta=eta,
        steps1=first,
        steps=record[-1],
        record=record,
    )


def inside_alone() -> list[Run]:
    """The run that reaches the conditions of Theorem 2."""
    return [inside()]


def under_assumption_3(seed: int = 7, sets: int = 10, steps: int = 1000) -> Iterator[Run]:
    """The run inside the conditions of Theorem 2, ordinary data, and the experiment last."""
    yield inside()
    yield from frequent(seed, sets, steps)
    yield experiment(seed)


def with_and_without(seed: int = 7, sets: int = 10, steps: int = 1000) -> Iterator[Run]:
    """Ordinary data with Assumption 3 and without, and the experiment last."""
    yield from frequent(seed, sets, steps)
    yield from others(seed, sets, steps)
    yield experiment(seed)


@once
def crowd(rivals: int = 19, tokens: int = 30) -> Run:
    """One sentence of an optimal token and nineteen rivals, which all lag behind alike.

    The least margin is that of all rivals, so that the optimal token has the odds e^m / (L - 1),
    and in the end the loss is (|V| - 1) e^-A but for a small share.
    """
    names = [f"x{number}" for number in range(tokens)]
    following = dict(zip(names, [*names[1:], names[0]], strict=True))
    samples: list[tuple[list[str], str]] = [([token], following[token]) for token in names]
    samples.append((names[: rivals + 1], following["x0"]))
    problem = from_dataset(from_samples(samples, "an optimal token and nineteen non-optimal ones"))
    return train(
        "an optimal token and nineteen non-optimal ones",
        problem,
        eta0=1.0,
        eta=1.0,
        steps1=60,
        steps=60,
    )


def with_a_crowd(seed: int = 7, sets: int = 10, steps: int = 1000) -> Iterator[Run]:
    """A sentence of many rivals, and ordinary data with Assumption 3 and without."""
    yield crowd()
    yield from with_and_without(seed, sets, steps)


def at_the_chord(seed: int = 7, steps: int = 1000) -> Run:
    """A long run with T so large that T C_0 u is just below 1 after its last step."""
    run = long_runs(seed, steps)[0]
    c, t = run.constants, float(run.second.rows.step[-1])
    log_u = math.log(2) - float(np.logaddexp(0.0, bounds.thm_2_log_odds(c, t)))
    return replace(run, constants=replace(c, steps1=math.floor(math.exp(-log_u) / c.C0)))


def for_the_excess(seed: int = 7, sets: int = 10, steps: int = 1000) -> Iterator[Run]:
    """Ordinary data under Assumption 3, long runs, and one with the longest possible stage 1."""
    yield from ordinary_and_long(seed, sets, steps)
    yield at_the_chord(seed, steps)


def ordinary_and_long(seed: int = 7, sets: int = 10, steps: int = 1000) -> Iterator[Run]:
    """Ordinary data under Assumption 3, and long runs."""
    yield from frequent(seed, sets, steps)
    yield from long_runs(seed, steps)


def with_excess(run: Run, log_excess: Floats) -> Run:
    """A run with another loss: a planted error."""
    rows = replace(run.second.rows, log_excess=log_excess)
    return replace(run, second=replace(run.second, rows=rows))


# What is measured


def log_loss(run: Run) -> Floats:
    """log L at the recorded steps, also where L is smaller than the smallest float."""
    c = run.constants
    log_floor = stage1.log_loss(c.vocab_size, c.steps1, c.eta0) - math.log(c.vocab_size)
    logs: Floats = np.logaddexp(log_floor, run.second.rows.log_excess)
    return logs


def log_missing(run: Run, gap: float) -> float:
    """Log of the largest probability that a merged sample leaves to its wrong tokens.

    At the end of a run, with the logit of n(x) ahead by `gap`: with the shares m_o of the optimal
    token and m_j of its rivals it is S / (1 + S), S = sum_j e^(gap (m_j - m_o)) + (tokens that do
    not occur) e^(-gap m_o).
    """
    found = attention(run.problem, run.second.state.weights, gap)
    return float(found.missing.max())


def least_T(c: bounds.Constants) -> int:
    """The first T for which (4) gets below log|V| at some t: T C_0 > log(|V| / log|V|)."""
    return math.floor(math.log(c.vocab_size / math.log(c.vocab_size)) / c.C0) + 1


def least_t(c: bounds.Constants) -> float:
    """The first t from which (4) is below log|V|; inf if T is too small for that."""
    if c.steps1 < least_T(c):
        return math.inf
    left = 1 - math.log(c.vocab_size / math.log(c.vocab_size)) / (c.steps1 * c.C0)
    return max(math.log(c.max_length * (2 / left - 1)) / c.C1, 0.0)


def swinging_rate(steps: int) -> float:
    """Fitted rate by (eta / ||W*||) on Example 1 above the largest step size of the law."""
    problem = from_dataset(example_1())
    eta0, eta = paper_rates(problem.vocab_size)[0], 2.2 * problem.norm
    run = train("Example 1", problem, eta0=eta0, eta=eta, steps1=training.STEPS, steps=steps)
    return run_measures.fitted_rate(run)
