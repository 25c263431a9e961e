"""Tests of the laws of the late phase as long runs in floats show them."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import plain_example_1
import pytest
from every_check import sound
from least_norm import least_norm

from ntpbook.huang2024.s5_stage2 import instances
from ntpbook.ours.late_phase import measured_laws
from ntpcore.data import generate
from ntpcore.data.examples import realize
from ntpcore.huang2024 import asymptotics
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run
from ntpverdicts.claims import Verdict

# The rate


def one_minus_cos(a: np.ndarray, b: np.ndarray) -> float:
    """1 - cos of the angle between two vectors."""
    return float(1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def late_entries(problem: Problem, constant: float) -> np.ndarray:
    """W at a late time in the linear model, with margins log(C / lambda) + constant."""
    weights = np.zeros(len(problem.entry_query))
    for o in sorted(set(problem.optimal.tolist())):
        terms: dict[int, float] = {}
        for i in np.flatnonzero(problem.optimal == o):
            for e in range(problem.start[i], problem.start[i + 1]):
                ratio = problem.rival_count[e] / problem.optimal_count[i]
                j = int(problem.rival[e])
                terms[j] = terms.get(j, 0.0) + math.exp(problem.log_pi[i]) * ratio
        margins = {j: math.log(C * (1 + len(terms))) + constant for j, C in terms.items()}
        weights[o] = sum(margins.values()) / (1 + len(terms))
        for j, u in margins.items():
            weights[j] = weights[o] - u
    return weights


def test_ours_rate_constant_by_hand_for_two_queries():
    # margins log(5) + s and log(3) + s, in entries +-d/2: half the difference across W*
    c = asymptotics.star_constant(instances.unequal_problem())
    assert c == pytest.approx((math.log(5 / 3) / 2) ** 2 / 2)


def test_ours_rate_constant_agrees_with_late_weights_written_plainly():
    for seed in range(4):
        data = generate.random_dataset(np.random.default_rng(seed), 6, 12, 5)
        problem = from_dataset(data)
        far = 1e4
        W = late_entries(problem, far)
        c = float(W @ W) * one_minus_cos(W, problem.W_kq_star)
        assert c == pytest.approx(asymptotics.star_constant(problem), rel=1e-5, abs=1e-9)


def test_ours_rate_holds_for_every_step_size_below_the_largest():
    found = sound("ours-rate")
    assert found.tried == 9
    assert found.numbers["error_by_norm"].value < 1e-5


def test_ours_rate_fails_just_above_the_largest_step_as_a_plain_loop_does():
    # two steps ahead the residual is the same, and one step ahead it is another
    path = list(plain_example_1.far(2.2 * math.sqrt(13 / 6), 1001))
    found = [measured_laws.oscillation(steps) for steps in (1000, 1001)]
    for steps, one in zip((1000, 1001), found, strict=True):
        w = path[steps]
        along = plain_example_1.along_star(w)
        aside = [w[q] - along * np.array(plain_example_1.star(q)) for q in w]
        half = sum(column @ column for column in aside) / 2  # ||W||^2 (1 - cos), but for 1 / t^2
        assert one * plain_example_1.constant() == pytest.approx(half, rel=half / along**2)
    assert found[0] < 1 < found[1]


def test_ours_rate_large_steps_are_between_the_proved_and_the_largest():
    chosen = [one for one in measured_laws.large_steps(5, 1) if isinstance(one, Run)]
    assert chosen
    for run in chosen:
        norm = run.problem.norm
        assert max(norm, 2 / norm) <= run.constants.eta < 2 * norm


# The logarithm


@cache
def log_runs() -> tuple[Run, ...]:
    """Data with and without idle pairs."""
    return measured_laws.logarithm_runs(7, 4, 20_000)


def test_ours_rate_logarithm_path_has_one_idle_pair_by_hand():
    problem = from_dataset(realize(measured_laws.PATH))
    assert asymptotics.degenerate(problem) == {"d": {("a", "d")}}
    # a, c up and b, d down by one half separates a > d by 1 and leaves the other two alone
    assert measured_laws.predicted_growth(problem) == pytest.approx(1.0)
    # the length is log s + c up to the next term, (log s)/s with s = t eta; a fitted slope moves by
    # no more than the sum of what its weights make of that
    run = log_runs()[0]
    step = run.second.rows.step
    t = step[step >= step[-1] / 10]
    weights = np.log(t) - np.log(t).mean()
    s = t * run.constants.eta
    room = float((abs(weights) * np.log(s) / s).sum() / (weights**2).sum())
    assert measured_laws.growth(run) == pytest.approx(1.0, abs=room)


def test_ours_rate_logarithm_prediction_agrees_with_another_solver():
    for run in log_runs():
        problem = run.problem
        names = problem.vocabulary
        rows: dict[bool, list[np.ndarray]] = {True: [], False: []}
        idle = asymptotics.degenerate(problem)
        for a, b in problem.pairs.tolist():
            query = names[problem.entry_query[a]]
            scores = problem.solutions[query].scores
            pair = names[problem.entry_token[a]], names[problem.entry_token[b]]
            if scores[pair[0]] - scores[pair[1]] == 1:
                row = np.zeros(len(problem.entry_query))
                row[a], row[b] = 1, -1
                rows[pair in idle.get(query, set())].append(row)
        if not rows[True]:
            assert measured_laws.predicted_growth(problem) == 0.0
            continue
        E, G = np.array(rows[False]), np.array(rows[True])
        G = G - G @ np.linalg.pinv(E) @ E
        length = float(np.linalg.norm(least_norm(G)))
        assert measured_laws.predicted_growth(problem) == pytest.approx(length, rel=1e-5)


def test_ours_rate_logarithm_holds_on_data_of_both_kinds():
    found = measured_laws.check_ours_rate_logarithm.judge(log_runs())
    assert found.verdict is Verdict.PROVED
    assert found.numbers["growing"].value >= 3
    assert found.numbers["settled"].value >= 3
    excess = measured_laws.check_ours_rate_logarithm.judge(log_runs(), excess=True)
    assert excess.verdict is Verdict.REFUTED
