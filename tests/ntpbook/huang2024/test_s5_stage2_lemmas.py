"""Equations (9) to (12) and Lemmas 4 to 6, by hand, against dense matrices, with planted errors."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from every_check import failure, sound
from measured import equal_run, with_rows

from ntpbook.huang2024.s5_stage2_lemmas import checks, instances
from ntpbook.shared import without_asm_3
from ntpbook.shared.attention import attention
from ntpbook.shared.in_force import FACTS
from ntpcore.data import generate
from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, runs, stage1, training, transformer
from ntpcore.huang2024.problem import from_dataset
from ntpcore.huang2024.runs import Run
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import NotANumberError
from ntpverdicts.maths import in_tex

SMALL = {"seed": 5, "sets": 2, "steps": 600}


@pytest.fixture(scope="module")
def frequent() -> list[Run]:
    """Example 1 and four random data sets at two step sizes."""
    return list(instances.frequent_runs(**SMALL))


def random_data(count: int) -> list[Dataset]:
    """Random data, half of them prefix-closed."""
    return [
        generate.random_dataset(np.random.default_rng((3, k)), 5, 8, 5, prefix_closed=k % 2 == 0)
        for k in range(count)
    ]


def a_a_b() -> Dataset:
    """n swaps a and b; the sentence "a a b" is followed by b, so that a is optimal."""
    return from_samples([("a", "b"), ("b", "a"), ("a a b", "b")], "a a b")


# Equations (9) to (12)


def test_huang2024_eq_9_by_hand():
    X = np.eye(2)[:, [0, 0, 1]]
    W = np.array([[0.0, math.log(3)], [0.0, 0.0]])  # a scores log 3 under query b
    assert transformer.attention(X, W) == pytest.approx([3 / 7, 3 / 7, 1 / 7])
    entries, counts = checks.sample_tokens(from_dataset(a_a_b()), 0)
    shares = counts * np.exp(np.array([math.log(3), 0.0])[entries])
    assert counts.tolist() == [2, 1]
    assert shares / shares.sum() == pytest.approx([6 / 7, 1 / 7])


def test_huang2024_eq_10_by_hand():
    # one column with one optimal token and one rival: the first step is eta (1, -1) / sqrt(2)
    state = training.run(from_dataset(a_a_b()), 1, 0.5, 3.0).state
    assert state.weights == pytest.approx([0.5 / math.sqrt(2), -0.5 / math.sqrt(2)])


def test_huang2024_eq_11_by_hand():
    weights = transformer.softmax(np.array([2.0, 0.5, 0.0]))
    assert weights[1] <= weights[1] / weights[0] == pytest.approx(math.exp(-1.5))


def test_huang2024_eq_12_by_hand():
    assert checks.constraints_12(a_a_b()) == {("b", "a", "b")}
    assert checks.constraints_12(a_a_b(), every=True) == {("b", "a", "b")}  # b is followed by a
    assert from_dataset(a_a_b()).W_kq_star.tolist() == [0.5, -0.5]


# Lemma 4


def test_huang2024_lem_4_by_hand():
    # "a a b" at W = 0: m = 2/3, r = 1/3; projected on the entry of a the lemma gives
    # -A m r (1 - T_o + T_b), and with two tokens in all T_b = 1 - T_o = 1 / (1 + e^(A / 3))
    problem, A = from_dataset(a_a_b()), 3.0
    log_norm, direction = training.gradient(problem, np.zeros(2), A)
    wrong = 1 / (1 + math.exp(A / 3))
    share = math.exp(float(problem.log_pi[0]))
    expected = -A * share * (2 / 9) * 2 * wrong
    assert math.exp(log_norm) * direction[0] == pytest.approx(expected)


def test_huang2024_lem_4_with_2_A_on_one_side_is_refuted_by_the_steps_alone(frequent):
    doubled = checks.check_huang2024_lem_4.judge(frequent[:1], factor=2)
    assert doubled.verdict is Verdict.REFUTED
    assert r"$d\,\text{loss}/ds$" in doubled.witness


# Lemma 5


def test_huang2024_lem_5_by_hand():
    rows = training.run(from_dataset(a_a_b()), 1, 1.0, 2.0).rows
    # log-odds start at log 2 and grow by eta sqrt(2) in the first step
    assert rows.least_log_odds == pytest.approx([math.log(2), math.log(2) + math.sqrt(2)])
    assert rows.log_weight[0] == pytest.approx(-math.log(3))


def test_huang2024_lem_5_agrees_with_attention_of_dense_models():
    for data in random_data(6):
        problem = from_dataset(data)
        names, E = data.vocabulary, np.eye(len(data.vocabulary))
        before: dict[tuple[str, ...], float] = {}
        for steps in range(12):
            W = np.zeros((len(names),) * 2)
            state = training.run(problem, steps, 2.0, 6.0).state
            W[problem.entry_token, problem.entry_query] = state.weights
            for sample in data.samples():
                X = transformer.embed(sample.sentence, names, E)
                weights = transformer.attention(X, W)
                best = [
                    weight
                    for token, weight in zip(sample.sentence, weights, strict=True)
                    if names[problem.following[names.index(token)]] == sample.next_token
                ]
                assert min(best) >= 1 / problem.max_length - 1e-15
                assert min(best) >= before.get(sample.sentence, 0.0) - 1e-15
                before[sample.sentence] = min(best)


def test_huang2024_lem_5_notices_a_single_decrease_and_a_small_weight(frequent):
    check = checks.check_huang2024_lem_5
    change = frequent[0].second.rows.change.copy()
    change[7] = -1e-300
    assert check.judge([with_rows(frequent[0], change=change)]).verdict is Verdict.REFUTED
    lighter = frequent[0].second.rows.log_weight - 1e-9
    found = check.judge([with_rows(frequent[0], log_weight=lighter)])
    # at step 0 both sides are log(1/L): what is missing, in shares of the larger side
    amount = 1e-9 / math.log(frequent[0].problem.max_length)
    assert (found.verdict, found.witness.split(",")[-1]) == (
        Verdict.REFUTED,
        f" step 0: violated by ${in_tex(f'{amount:.2g}')}$",
    )


def test_huang2024_lem_5_does_not_pass_over_a_decrease_beside_a_nan(frequent):
    broken = []
    for run in frequent:
        change = np.where(run.second.rows.step > 0, -1.0, np.inf)
        change[-1] = np.nan
        broken.append(with_rows(run, change=change))
    with pytest.raises(NotANumberError, match="nan"):
        checks.check_huang2024_lem_5.judge(broken)


def test_huang2024_lem_5_measures_every_single_step_on_the_runs_of_the_page():
    """The smallest change between two rows, recomputed from all states of a run in between."""
    problem = from_dataset(a_a_b())
    run = training.run(problem, 400, 0.4, 3.0, plain=True)  # gaps go beyond 45
    assert run.rows.least_gap[-1] > 100
    gaps = []
    for step in range(401):
        w = training.run(problem, step, 0.4, 3.0, record=[], plain=True).state.weights
        gaps.append(w[0] - w[1])
    for before, row in zip(run.rows.step[:-1], range(1, len(run.rows.step)), strict=True):
        moves = np.diff(gaps[before : run.rows.step[row] + 1])
        assert run.rows.change[row] == pytest.approx(moves.min(), rel=1e-9)
    full = instances.frequent_runs(**SMALL)[1]  # 200 times the paper's step size
    same = training.run(full.problem, 600, full.constants.eta, full.second.gap, plain=True)
    assert full.second.rows.change.tolist() == same.rows.change.tolist()


def test_huang2024_lem_5_and_lem_6_leave_out_data_without_assumption_3():
    unequal = without_asm_3.outnumbered_run()
    for check in (checks.check_huang2024_lem_5, checks.check_huang2024_lem_6):
        found = check.judge([unequal])
        assert (found.verdict, found.left_out) == (Verdict.OPEN, {"Assumption 3 fails": 1})


# Lemma 5 without Assumption 3


def test_ours_lem_5_needs_asm_3_by_hand():
    # "a a b" alone, A = 3 log 2: logits 2 log 2 and log 2, so T_b = 2 / (4 + 2) = 1/3
    moves = checks.first_moves(a_a_b(), exponent=3)
    # entries are -+ m r (1 - T_o + T_b) = -+ 2/9 * 2/3; log-odds move by twice that
    assert moves == {("a", "a", "b"): Fraction(8, 27)}


def test_ours_lem_5_needs_asm_3_agrees_with_differentiation_of_the_loss():
    """The loss of the five samples by positions, differentiated at W = 0 with forty digits."""
    data = without_asm_3.outnumbered_data()
    following = {"a": "b", "b": "c", "c": "a"}
    with mpmath.workdps(40):
        A = 60 * mpmath.log(2)

        def loss(column: dict[str, Any]) -> Any:
            total = mpmath.mpf(0)
            for sample in data.samples():
                if sample.sentence[-1] == "a" and len(sample.sentence) > 1:
                    phi = [mpmath.exp(column[x]) for x in sample.sentence]
                    logits = dict.fromkeys("abc", mpmath.mpf(0))
                    for x, one in zip(sample.sentence, phi, strict=True):
                        logits[following[x]] += A * one / mpmath.fsum(phi)
                    norm = mpmath.log(mpmath.fsum(map(mpmath.exp, logits.values())))
                    total += norm - logits[sample.next_token]
            return total

        down = {
            x: -mpmath.diff(lambda s, x=x: loss({y: s * (x == y) for y in "abc"}), 0) for x in "abc"
        }
        for words, move in checks.first_moves(data).items():
            m = {x: mpmath.mpf(words.count(x)) / len(words) for x in set(words)}
            odds = down["b"] - sum(m[x] * down[x] for x in m if x != "b") / (1 - m["b"])
            exact = mpmath.mpf(move.numerator) / move.denominator
            assert mpmath.almosteq(odds, A * exact, rel_eps=1e-12)  # it lacks the factor A
    assert min(checks.first_moves(data).values()) < 0
    assert not from_dataset(data).frequent


def test_ours_lem_5_needs_asm_3_takes_integer_powers_only():
    with pytest.raises(ValueError, match="multiple"):
        checks.first_moves(a_a_b(), exponent=4)


# The inside of Lemmas 5 and 6


def test_attention_by_hand_for_two_tokens():
    # the sentence 0 1 with gap d: phi_+ = 1 / (1 + e^-d), logits A phi_+ and A phi_-
    d, A = 1.5, 2.0
    found = attention(equal_run().problem, np.where(equal_run().problem.is_optimal, d, 0.0), A)
    m = 1 / (1 + math.exp(-d))
    wrong = 1 / (1 + math.exp(A * (2 * m - 1)))
    assert np.exp(found.best) == pytest.approx([m, m], rel=1e-14)
    for rest in (found.rest, found.rivals):
        assert np.exp(rest) == pytest.approx([1 - m, 1 - m], rel=1e-14)
    for one in (found.missing, found.wrong):
        assert np.exp(one) == pytest.approx([wrong, wrong], rel=1e-14)


def test_attention_agrees_with_the_transformer():
    data = random_data(2)[1]
    problem, A = from_dataset(data), 3.0
    W = np.zeros((problem.vocab_size,) * 2)
    weights = np.random.default_rng(1).normal(size=len(problem.entry_token))
    W[problem.entry_token, problem.entry_query] = weights
    found, E = attention(problem, weights, A), np.eye(problem.vocab_size)
    for i in range(len(problem.optimal)):
        rivals = slice(problem.start[i], problem.start[i + 1])
        best = int(problem.entry_token[problem.optimal[i]])
        tokens = [best] * int(problem.optimal_count[i])
        for entry, count in zip(problem.rival[rivals], problem.rival_count[rivals], strict=True):
            tokens += [int(problem.entry_token[entry])] * int(count)
        query = int(problem.entry_query[problem.optimal[i]])
        tokens.remove(query)
        X = E[:, [*tokens, query]]
        mass = X @ transformer.attention(X, W)
        T = transformer.softmax(transformer.logits(X, A * stage1.W_ov_star(problem.following), W))
        others = problem.entry_token[problem.rival[rivals]]
        assert np.exp(found.best[i]) == pytest.approx(mass[best], rel=1e-12)
        assert np.exp(found.rivals[rivals]) == pytest.approx(mass[others], rel=1e-12)
        assert np.exp(found.missing[i]) == pytest.approx(1 - T[problem.following[best]], rel=1e-10)
        assert np.exp(found.wrong[rivals]) == pytest.approx(T[problem.following[others]], rel=1e-10)


def test_huang2024_app_induction_notices_a_state_off_its_hypothesis():
    turned = replace(equal_run().second.state, weights=-equal_run().second.state.weights)
    run = replace(equal_run(), second=replace(equal_run().second, state=turned))
    found = checks.check_huang2024_app_induction.judge([run])
    assert found.verdict is Verdict.REFUTED
    assert "at the end, a non-optimal token has a larger mass" in found.witness


def test_huang2024_app_gradient_norm_by_hand_for_two_tokens():
    # at zero phi = 1/2, T_o = 1/2: the bound is 2 A (1/8 + 1/4), the norm A sqrt(2) / 8 by query
    A, problem = 4.0, equal_run().problem
    zero = np.zeros(len(problem.entry_token))
    both = math.exp(float(problem.log_pi[0])) * 2  # the share of the two longer samples
    state = instances.GradientPlace("zero", problem, A, zero)
    assert checks.log_norm_bound(state, 2.0) == pytest.approx(
        math.log(2 * A * (1 / 8 + 1 / 4) * both)
    )
    assert training.gradient(problem, zero, A)[0] == pytest.approx(
        math.log(A / 4 * both), abs=1e-12
    )


# Lemma 6


def test_huang2024_lem_6_by_hand():
    # one column with one rival always walks straight: ||W|| = t eta, ||W*|| = 1/sqrt(2), cos = 1
    problem = from_dataset(a_a_b())
    constants = bounds.constants(problem, 1.0, 0.25, 4)
    run = Run("a a b", problem, constants, training.run(problem, 8, 0.25, 4.0))
    assert run.second.rows.norm == pytest.approx(0.25 * run.second.rows.step)
    found = checks.check_huang2024_lem_6.judge([run])
    assert found.verdict is Verdict.PROVED
    assert found.numbers["sharper"].shown == "1"  # so the sharper constant is attained


def test_huang2024_lem_6_agrees_with_the_matrices_of_dense_steps():
    for data in random_data(6):
        problem, eta, gap = from_dataset(data), 0.7, 5.0
        weights = np.zeros(len(problem.entry_token))
        star = problem.W_kq_star / problem.norm
        for step in range(1, 40):
            _, direction = training.gradient(problem, weights, gap)
            assert -direction @ star >= 1 / (math.sqrt(2) * problem.norm) - 1e-12
            weights = weights - eta * direction
            assert np.linalg.norm(weights) >= step * eta / (math.sqrt(2) * problem.norm) - 1e-12


def test_huang2024_lem_6_fails_from_a_start_far_away_and_says_so(frequent):
    norm = instances.ELSEWHERE_NORM
    assert norm == pytest.approx(math.sqrt(400 + 0.09 + 1800))
    run = instances.from_elsewhere()[0]
    low = 1e3 / (6 * math.sqrt(7 / 6)) - norm  # t eta / (2 L ||W*||) - ||W(0)||
    assert run.second.rows.norm[-1] < low
    readings = checks.check_huang2024_lem_6.judge(frequent).readings
    assert [one.verdict for one in readings] == [Verdict.REFUTED]


@pytest.mark.parametrize(
    ("check", "column", "change"),
    [
        (checks.check_huang2024_lem_6, "norm", lambda x: 5 * x),
        (checks.check_huang2024_app_lem_6_cosine, "cos_star", lambda x: -x),
    ],
)
def test_huang2024_lem_6_notices_a_norm_that_is_too_large_and_a_gradient_turned_round(
    frequent, check, column, change
):
    wrong = change(getattr(frequent[0].second.rows, column))
    assert check.judge([with_rows(frequent[0], **{column: wrong})]).verdict is Verdict.REFUTED
    wrong = wrong.copy()
    wrong[-1] = np.nan
    with pytest.raises(NotANumberError):
        check.judge([with_rows(frequent[0], **{column: wrong})])


def test_huang2024_app_lem_6_cosine_by_hand_for_one_pair():
    # the gradient is a multiple of e_j - e_o, and so is W*: the cosine is 1, sqrt(2) ||W*|| = 1
    (run,) = instances.one_pair()
    assert run.problem.norm == pytest.approx(1 / math.sqrt(2))
    assert run.second.rows.cos_star == pytest.approx(-1.0)
    assert checks.check_huang2024_app_lem_6_cosine.judge([run]).verdict is Verdict.PROVED
    assert failure(checks.check_huang2024_app_lem_6_cosine, [run], root=math.sqrt(2) / 1.01)


def test_huang2024_lem_6_observes_runs_without_assumption_3():
    found = sound("huang2024-lem-6")
    others = runs.collection(5, 2, 600, frequent=False, factors=(1, 200))
    unequal = sum(not run.problem.frequent for run in others)
    assert found.numbers["others"].value == found.left_out["Assumption 3 fails"] == unequal > 0


def test_huang2024_app_sketch_1_by_hand_the_longest_sentence_starts_at_the_bound():
    # both sentences of two tokens have the attention 1/2 on each position, and L_max is 2
    found = checks.check_huang2024_app_sketch_1.judge([equal_run()])
    assert (found.verdict, found.numbers["attained"].shown) == (Verdict.PROVED, "1")
    low = replace(equal_run().second.rows, log_weight=equal_run().second.rows.log_weight - 1e-9)
    run = replace(equal_run(), second=replace(equal_run().second, rows=low))
    assert checks.check_huang2024_app_sketch_1.judge([run]).verdict is Verdict.REFUTED


def test_the_answers_to_the_exercises() -> None:
    alone = from_samples([(("0",), "1", 1), (("1",), "0", 1), (("0", "1"), "0", 1)])
    eta, t = 0.25, 8
    rows = training.run(from_dataset(alone), t, eta, 3.0).rows
    assert rows.norm[-1] == pytest.approx(t * eta, rel=1e-12)
    odds = math.sqrt(2) * eta * t  # of the optimal token 1 against 0
    assert rows.least_log_odds[-1] == pytest.approx(odds, rel=1e-12)
    R = 100 * math.sqrt(2) + math.log(50 * (math.e + 1))
    assert 146 < R < 147
    hidden = (math.e + 1) / 2 * math.exp(math.sqrt(2) * 1000 / 10 - R)
    assert hidden == pytest.approx(1 / 100, rel=1e-9)
    for k, n in ((1, 2), (2, 5)):
        grown = np.repeat([[1.0, -1.0]], k, axis=0), np.zeros((n - k, 2))
        W, star = np.concatenate(grown), np.repeat([[0.5, -0.5]], n, axis=0)
        cosine = np.sum(W * star) / np.linalg.norm(W) / np.linalg.norm(star)
        assert cosine == pytest.approx(math.sqrt(k / n))


# Section 5.3, Step 2


def test_huang2024_app_sketch_2_fails_first_at_this_step_of_example_1():
    problem = instances.from_dataset(example_1())
    eta0, eta = runs.paper_rates(4)
    rows = training.run(
        problem, 600, eta, stage1.gap(4, 900, eta0), record=range(601), plain=True
    ).rows
    behind = np.flatnonzero(-rows.cos_star < rows.least_attention)
    assert behind[0] == checks.FIRST
    sure = instances.certain_example(checks.FIRST)
    assert sure.cosine < sure.weight
    assert float(sure.cosine) == pytest.approx(-rows.cos_star[checks.FIRST], abs=1e-9)
    assert float(sure.weight) == pytest.approx(rows.least_attention[checks.FIRST], abs=1e-9)
    before = instances.certain_example(checks.FIRST - 1)
    assert before.cosine > before.weight


def test_huang2024_app_sketch_2_tests_the_hypotheses_on_example_1():
    sure = instances.certain_example(checks.FIRST)
    assert sure.data.prefix_closed
    found = checks.check_huang2024_app_sketch_2.judge([sure])
    assert found.verdict is Verdict.REFUTED
    assert found.hypotheses == ("zero start", *FACTS)
    other = replace(sure, data=without_asm_3.outnumbered_data())
    spoilt = replace(checks.check_huang2024_app_sketch_2, instances=lambda: [other])
    with pytest.raises(ValueError, match="breaks the hypothesis 'Assumption 3'"):
        spoilt()


def test_huang2024_app_sketch_2_by_hand_where_the_direction_is_exact():
    # equal frequencies: the gradient points along W* exactly, and a weight is below 1
    assert -equal_run().second.rows.cos_star == pytest.approx(
        np.ones(len(equal_run().second.rows.step))
    )
    found = checks.check_huang2024_app_sketch_2.judge([equal_run()])
    assert found.verdict is Verdict.NOT_CONTRADICTED


def test_huang2024_app_sketch_2_cosine_agrees_with_the_dense_gradient(frequent):
    problem, A = frequent[0].problem, frequent[0].second.gap
    start = training.run(problem, 5, 0.3, A, record=[5])
    W_ov, W, star = A * stage1.W_ov_star(problem.following), np.zeros((4, 4)), np.zeros((4, 4))
    W[problem.entry_token, problem.entry_query] = start.state.weights
    star[problem.entry_token, problem.entry_query] = problem.W_kq_star
    G = transformer.attention_gradient(example_1(), W_ov, W, np.eye(4))
    cosine = (G * star).sum() / np.linalg.norm(G) / problem.norm
    assert float(start.rows.cos_star[0]) == pytest.approx(cosine, rel=1e-7)  # T - p cancels
