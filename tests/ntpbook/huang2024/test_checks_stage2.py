"""Tests of the checks on Theorem 1 and on the late phase of stage 2."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import mpmath
import numpy as np
import pytest
from scipy.optimize import nnls

from ntpbook.huang2024.s5_stage2 import late_phase, stage2
from ntpbook.shared import rare
from ntpcore.data import generate
from ntpcore.data.examples import example_1
from ntpcore.data.order import analyse
from ntpcore.exact import margin
from ntpcore.exact.judged import FIVE_TOKENS, realize
from ntpcore.huang2024 import asymptotics, bounds, training
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, train
from ntpcore.verdicts.claims import Verdict


@cache
def small_rare_run() -> Run:
    """A rare sentence that hides for two thousand steps."""
    ratio = rare.log_ratio_that_hides(2000, 0.36)
    return rare.rare_run(ratio, 2000, 0.36)


@cache
def witness() -> Run:
    """The counterexample, some nine million steps."""
    return stage2.rare_counterexample()


@cache
def few_runs() -> list[Run]:
    """Example 1, random data, and the experiment."""
    return stage2.ordinary_runs(3, 2, 1000)


def two_margins(pi: tuple[float, float], eta: float, gap: float, steps: int) -> list[mpmath.mpf]:
    """Plain gradient descent on the two-token loss by differentiation of its formula."""
    mpmath.mp.dps = 60
    d = [mpmath.mpf(0), mpmath.mpf(0)]

    def loss(x: mpmath.mpf) -> mpmath.mpf:
        m = 1 / (1 + mpmath.exp(-x))
        return -mpmath.log(1 / (1 + mpmath.exp(gap * (1 - 2 * m))))

    for _ in range(steps):
        force = [-p * mpmath.diff(loss, x) for p, x in zip(pi, d, strict=True)]
        size = mpmath.sqrt(force[0] ** 2 + force[1] ** 2)
        d = [x + mpmath.sqrt(2) * eta * f / size for x, f in zip(d, force, strict=True)]
    return d


# Theorem 1


def test_huang2024_thm_1_two_tokens_have_the_constants_by_hand():
    problem = rare.rare_problem(1000.0)
    assert (problem.sample_count, problem.max_length, problem.norm_squared) == (4, 2, 1)
    assert problem.prefix_closed
    assert problem.frequent
    assert problem.log_pi_min == pytest.approx(-1000 - math.log(2))
    bound = bounds.log_thm_1_direction(small_rare_run().constants, math.log(100))
    assert math.exp(bound) == pytest.approx(54 * 4 * 16 * math.log(100) ** 2 / 36)


def test_huang2024_thm_1_run_agrees_with_plain_differentiation():
    gap = 3.0
    problem = rare.rare_problem(math.log(7))
    weights = training.run(problem, 40, 0.36, gap).state.weights
    d = two_margins((7 / 8, 1 / 8), 0.36, gap, 40)
    # entries are those of query 0, then query 1; query 1 belongs to the common sentence
    assert weights == pytest.approx([float(x) / 2 for x in (d[1], -d[1], -d[0], d[0])], rel=1e-9)


def test_huang2024_thm_1_is_refuted_by_a_rare_sentence():
    check = stage2.check_huang2024_thm_1([*few_runs(), witness()])
    assert check.verdict is Verdict.REFUTED
    assert float(check.numbers["measured"]) > 0.29
    assert float(check.numbers["bound"]) < 0.2801
    assert len(check.readings) == 9
    assert {reading.verdict for reading in check.readings} == {Verdict.REFUTED}


def test_huang2024_thm_1_is_consistent_and_says_nothing_on_ordinary_data():
    check = stage2.check_huang2024_thm_1(few_runs(), seed=3)
    assert check.verdict is Verdict.CONSISTENT
    assert check.vacuous
    assert stage2.check_huang2024_thm_1(few_runs()[:1]).verdict is Verdict.CONSISTENT
    assert stage2.control_huang2024_thm_1().noticed


def test_huang2024_thm_1_says_nothing_of_larger_steps():
    run = train("x", from_dataset(example_1()), eta0=0.1, eta=1.0, steps1=900, steps=10)
    assert stage2.check_huang2024_thm_1([run]).verdict is Verdict.OPEN


# Theorem 1, corrected


def test_huang2024_thm_1_corrected_bound_by_hand():
    c = small_rare_run().constants
    printed = bounds.log_thm_1_direction(c, 5.0)
    corrected = bounds.log_thm_1_direction(c, 5.0, rarity=bounds.PI_MIN)
    assert corrected - printed == pytest.approx(-c.log_pi_min - math.log(4))


def test_huang2024_thm_1_corrected_holds_where_the_printed_one_fails():
    fast = replace(small_rare_run().constants, log_pi_min=-math.log(4.0))
    equal = replace(small_rare_run(), constants=fast)  # what N = 4 equal samples would promise
    _, slack = stage2.thm_1_slack(equal, bounds.PI_MIN)
    _, printed = stage2.thm_1_slack(small_rare_run(), bounds.N)
    assert slack == pytest.approx(printed)
    check = stage2.check_huang2024_thm_1_corrected([*few_runs(), small_rare_run()])
    assert check.verdict is Verdict.PROVED
    assert check.vacuous


def test_huang2024_thm_1_corrected_step_of_first_bite_is_where_the_bound_is_one():
    run = few_runs()[0]
    log_t = stage2.first_bite(run, bounds.PI_MIN)
    at = bounds.log_thm_1_direction(run.constants, log_t, rarity=bounds.PI_MIN)
    assert at == pytest.approx(0.0, abs=1e-9)
    assert stage2.power_of_ten(1e4) == "10^4343"


def test_huang2024_thm_1_corrected_notices_a_wrong_norm_and_n_in_place():
    run = few_runs()[0]
    rows = replace(run.second.rows, norm=1.01 * run.second.rows.norm)
    wrong = replace(run, second=replace(run.second, rows=rows))
    assert stage2.check_huang2024_thm_1_corrected([wrong]).verdict is Verdict.REFUTED
    assert stage2.control_huang2024_thm_1_corrected(witness()).noticed


# Large steps


def test_ours_thm_1_large_eta_direction_after_two_steps_by_hand():
    # (5, 3) / sqrt(34), then (0, 1): the second step goes to the neglected query alone
    u, v = 5 / math.sqrt(34), 3 / math.sqrt(34) + 1
    expected = 1 - (u + v) / math.sqrt(2 * (u * u + v * v))
    run = stage2.second_step_run(1e5)
    assert run.second.rows.one_minus_cos[-1] == pytest.approx(expected, rel=1e-12)
    enclosure, _ = stage2.second_step_enclosure(100_000)
    assert float(enclosure.a) <= expected <= float(enclosure.b)


def test_ours_thm_1_large_eta_is_proved_from_25000_on():
    check = stage2.check_ours_thm_1_large_eta(25_000)
    assert check.verdict is Verdict.PROVED
    assert float(check.numbers["least"]) > float(check.numbers["bound_at"])


def test_ours_thm_1_large_eta_prints_what_the_intervals_allow():
    # 1 - cos is 0.036285 at least, the bound 0.033209 at most
    true, bound = stage2.second_step_enclosure(25_000)
    numbers = stage2.check_ours_thm_1_large_eta(25_000).numbers
    assert 0 < float(true.a) - float(numbers["least"]) < 1e-4
    assert 0 < float(numbers["bound_at"]) - float(bound.b) < 1e-4


def test_ours_thm_1_large_eta_agrees_with_plain_differentiation():
    d = two_margins((5 / 8, 3 / 8), 50.0, rare.rare_gap(), 2)
    exact = 1 - (d[0] + d[1]) / mpmath.sqrt(2 * (d[0] ** 2 + d[1] ** 2))
    run = stage2.second_step_run(50.0)
    assert run.second.rows.one_minus_cos[-1] == pytest.approx(float(exact), rel=1e-9)


def test_ours_thm_1_large_eta_notices_a_step_size_that_is_not_large():
    assert stage2.control_ours_thm_1_large_eta().noticed


# The rate


@cache
def rate_runs() -> list[Run]:
    """Three data sets at four step sizes."""
    return late_phase.rate_runs(5, 2, 20_000)


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
    c = asymptotics.star_constant(stage2.unequal_problem())
    assert c == pytest.approx((math.log(5 / 3) / 2) ** 2 / 2)


def test_ours_rate_constant_agrees_with_late_weights_written_plainly():
    for seed in range(4):
        data = generate.random_dataset(np.random.default_rng(seed), 6, 12, 5)
        problem = from_dataset(data)
        far = 1e4
        W = late_entries(problem, far)
        c = float(W @ W) * late_phase.one_minus_cos(W, problem.W_kq_star)
        assert c == pytest.approx(asymptotics.star_constant(problem), rel=1e-5, abs=1e-9)


def test_ours_rate_is_consistent_for_every_step_size_below_the_largest():
    check = late_phase.check_ours_rate(rate_runs(), seed=5)
    assert check.verdict is Verdict.CONSISTENT
    assert check.numbers["sets"] == "3"
    assert float(check.numbers["error_by_norm"]) < 1e-5


def test_ours_rate_notices_wrong_constants_and_a_step_size_above_the_largest():
    assert late_phase.control_ours_rate(rate_runs()).noticed
    assert abs(late_phase.oscillation(20_000) - 1) > 0.1


# The logarithm


@cache
def log_runs() -> list[Run]:
    """Data with and without idle pairs."""
    return late_phase.logarithm_runs(7, 4, 20_000)


def test_ours_rate_logarithm_path_has_one_idle_pair_by_hand():
    problem = from_dataset(realize(late_phase.PATH))
    assert asymptotics.degenerate(problem) == {"d": {("a", "d")}}
    # a, c up and b, d down by one half separates a > d by 1 and leaves the other two alone
    assert late_phase.predicted_growth(problem) == pytest.approx(1.0)
    assert late_phase.growth(log_runs()[0]) == pytest.approx(1.0, abs=0.01)


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
            assert late_phase.predicted_growth(problem) == 0.0
            continue
        E, G = np.array(rows[False]), np.array(rows[True])
        G = G - G @ np.linalg.pinv(E) @ E
        stacked, target = np.vstack([G.T, np.ones(len(G))]), np.zeros(G.shape[1] + 1)
        target[-1] = 1.0
        left = stacked @ nnls(stacked, target)[0] - target
        length = float(np.linalg.norm(left[:-1] / left[-1]))
        assert late_phase.predicted_growth(problem) == pytest.approx(length, rel=1e-6)


def test_ours_rate_logarithm_is_consistent_on_data_of_both_kinds():
    check = late_phase.check_ours_rate_logarithm(log_runs(), seed=7)
    assert check.verdict is Verdict.CONSISTENT
    assert int(check.numbers["growing"]) >= 3
    assert int(check.numbers["settled"]) >= 3
    assert late_phase.check_ours_rate_logarithm(log_runs()[:1]).verdict is Verdict.OPEN


def test_ours_rate_logarithm_notices_a_wrong_reason():
    assert late_phase.control_ours_rate_logarithm(log_runs()).noticed
    blind = late_phase.check_ours_rate_logarithm(log_runs(), lambda problem: 0)
    assert blind.verdict is Verdict.REFUTED
    assert "path" in blind.witness


# The true optimum


def test_ours_true_optimum_angle_of_the_five_tokens_by_hand():
    # optimum (2/3, 1/2; -1/3, -1/3, -1/2), closed form (3/5, 3/5; -2/5, -2/5, -2/5)
    cosine = (3 / 5 * 7 / 6 + 2 / 5 * 7 / 6) / math.sqrt(7 / 6 * 6 / 5)
    one = late_phase.approach(FIVE_TOKENS, (100, 1000))
    assert one.between == pytest.approx(1 - cosine)


def test_ours_true_optimum_closed_form_agrees_with_exact_fractions():
    problem = from_dataset(realize(FIVE_TOKENS))
    entries = late_phase.closed_form_entries(problem)
    exact = margin.closed_form_scores((analyse(realize(FIVE_TOKENS)).orders or {})["q"])
    assert sorted(entries) == pytest.approx(sorted(map(float, exact.values())))


def test_ours_true_optimum_is_reached_on_every_failing_order():
    orders = late_phase.failing_orders()[:6]
    check = late_phase.check_ours_true_optimum([late_phase.approach(order) for order in orders])
    assert check.verdict is Verdict.CONSISTENT
    assert float(check.numbers["to_optimum"]) < 1e-9


def test_ours_true_optimum_notices_exchanged_candidates():
    assert late_phase.control_ours_true_optimum().noticed
