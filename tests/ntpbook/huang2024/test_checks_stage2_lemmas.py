"""Tests of the checks on the lemmas of stage 2."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from ntpbook.huang2024.s5_stage2_lemmas import stage2_equations, stage2_lemmas
from ntpbook.shared import rare, rare_alpha, without_asm_3
from ntpcore.data import generate
from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, runs, training, transformer
from ntpcore.huang2024.problem import from_dataset
from ntpcore.verdicts.claims import Verdict


@pytest.fixture(scope="module")
def frequent() -> list[runs.Run]:
    """Example 1 and four random data sets at three step sizes."""
    return runs.collection(5, 2, 1500, factors=(1, 20, 400))


@pytest.fixture(scope="module")
def others() -> list[runs.Run]:
    """Four random data sets without Assumption 3."""
    return runs.collection(5, 2, 1500, frequent=False)


@pytest.fixture(scope="module")
def hidden() -> list[runs.Run]:
    """The runs with a rare sample for both readings of Lemma 7."""
    return [rare_alpha.defeating_run(factor) for factor in (4, 8)]


def random_data(count: int) -> list[Dataset]:
    """Random data, half of them prefix-closed."""
    return [
        generate.random_dataset(np.random.default_rng((3, k)), 5, 8, 5, prefix_closed=k % 2 == 0)
        for k in range(count)
    ]


def two_runs() -> Dataset:
    """n swaps a and b; the sentence "a a b" is followed by b, so that a is optimal."""
    return from_samples([("a", "b"), ("b", "a"), ("aab", "b")], "a a b")


# Equation (9)


def test_huang2024_eq_9_by_hand():
    X = np.eye(2)[:, [0, 0, 1]]
    W = np.array([[0.0, math.log(3)], [0.0, 0.0]])  # a scores log 3 under query b
    assert transformer.attention(X, W) == pytest.approx([3 / 7, 3 / 7, 1 / 7])


def test_huang2024_eq_9_agrees_with_the_weights_of_the_library():
    problem = from_dataset(two_runs())
    weights = np.array([math.log(3), 0.0])
    entries, counts = stage2_lemmas.sample_tokens(problem, 0)
    assert counts.tolist() == [2, 1]
    shares = counts * np.exp(weights[entries])
    assert (shares / shares.sum()).tolist() == pytest.approx([6 / 7, 1 / 7])
    assert stage2_equations.check_huang2024_eq_9(random_data(6)).verdict is Verdict.CONSISTENT


def test_huang2024_eq_9_notices_another_query():
    check = stage2_equations.check_huang2024_eq_9([example_1()])
    assert check.with_control(stage2_equations.control_huang2024_eq_9()).control


# Equation (10)


def test_huang2024_eq_10_by_hand():
    # one column with one optimal token and one rival: the first step is eta (1, -1) / sqrt(2)
    state = training.run(from_dataset(two_runs()), 1, 0.5, 3.0).state
    assert state.weights == pytest.approx([0.5 / math.sqrt(2), -0.5 / math.sqrt(2)])


def test_huang2024_eq_10_agrees_with_dense_steps():
    check = stage2_equations.check_huang2024_eq_10(random_data(8))
    assert check.verdict is Verdict.CONSISTENT
    assert check.tried == 8


def test_huang2024_eq_10_notices_plain_gradient_descent():
    assert stage2_equations.control_huang2024_eq_10().noticed
    refuted = stage2_equations.check_huang2024_eq_10(random_data(1), power=0.5)
    assert refuted.verdict is Verdict.REFUTED


# Equation (11)


def test_huang2024_eq_11_by_hand():
    weights = transformer.softmax(np.array([2.0, 0.5, 0.0]))
    assert weights[1] <= weights[1] / weights[0] == pytest.approx(math.exp(-1.5))


def test_huang2024_eq_11_is_proved_with_or_without_assumption_3(frequent, others):
    check = stage2_lemmas.check_huang2024_eq_11([*frequent, *others])
    assert check.verdict is Verdict.PROVED
    assert stage2_lemmas.check_huang2024_eq_11(frequent[:1]).tried == 1


def test_huang2024_eq_11_notices_halved_scores(frequent):
    assert stage2_lemmas.control_huang2024_eq_11(frequent[0]).noticed
    assert stage2_lemmas.control_huang2024_eq_11(frequent[-1]).noticed


# Equation (12)


def test_huang2024_eq_12_by_hand():
    data = two_runs()
    assert stage2_equations.constraints_12(data) == {("b", "a", "b")}
    assert from_dataset(data).W_kq_star.tolist() == [0.5, -0.5]


def test_huang2024_eq_12_agrees_with_a_solver():
    cvxpy = pytest.importorskip("cvxpy")
    for data in random_data(4):
        names = data.vocabulary
        W = cvxpy.Variable((len(names), len(names)))
        constraints = [
            W[names.index(a), names.index(q)] - W[names.index(b), names.index(q)] >= 1
            for q, a, b in stage2_equations.constraints_12(data)
        ]
        cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(W)), constraints).solve("CLARABEL")
        problem = from_dataset(data)
        found = W.value[problem.entry_token, problem.entry_query]
        assert found == pytest.approx(problem.W_kq_star, abs=1e-5)  # the solver's tolerance


def test_huang2024_eq_12_notices_a_shrunk_solution():
    assert stage2_equations.control_huang2024_eq_12().noticed
    check = stage2_equations.check_huang2024_eq_12(random_data(6))
    assert check.verdict is Verdict.CONSISTENT


# Lemma 4


def test_huang2024_lem_4_by_hand():
    # "a a b" at W = 0: m = 2/3, r = 1/3; projected on the entry of a the lemma gives
    # -A m r (1 - T_o + T_b), and with two tokens in all T_b = 1 - T_o = 1 / (1 + e^(A / 3))
    problem, A = from_dataset(two_runs()), 3.0
    log_norm, direction = training.gradient(problem, np.zeros(2), A)
    wrong = 1 / (1 + math.exp(A / 3))
    share = math.exp(float(problem.log_pi[0]))
    expected = -A * share * (2 / 9) * 2 * wrong
    assert math.exp(log_norm) * direction[0] == pytest.approx(expected)


def test_huang2024_lem_4_agrees_with_the_gradient_of_the_library(frequent):
    """<G, W'> from the lemma, written with sums over positions, against `training.gradient`."""
    rng = np.random.default_rng(2)
    for data in random_data(6):
        problem, A = from_dataset(data), 5.0
        names = list(data.vocabulary)
        W, other = rng.normal(size=(2, len(problem.entry_token)))
        dense, toward = np.zeros((2, len(names), len(names)))
        dense[problem.entry_token, problem.entry_query] = W
        toward[problem.entry_token, problem.entry_query] = other
        total, value = sum(s.count for s in data.samples()), 0.0
        for sample in data.samples():
            x = [names.index(token) for token in sample.sentence]
            label = names.index(sample.next_token)
            phi = transformer.softmax(dense[x, x[-1]])
            next_tokens = problem.following[x]
            logits = np.bincount(next_tokens, A * phi, len(names))
            T = transformer.softmax(logits)
            moved = toward[x, x[-1]] - phi @ toward[x, x[-1]]
            factor = T[next_tokens] - (next_tokens == label)
            value += sample.count / total * A * float(factor @ (phi * moved))
        log_norm, direction = training.gradient(problem, W, A)
        assert value == pytest.approx(math.exp(log_norm) * float(direction @ other), rel=1e-9)
    check = stage2_lemmas.check_huang2024_lem_4(frequent)
    assert check.verdict is Verdict.PROVED


def test_huang2024_lem_4_notices_unequal_margins(frequent):
    assert stage2_lemmas.control_huang2024_lem_4(frequent[0]).noticed


def test_huang2024_lem_4_both_sides_agree_at_a_number():
    printed, lemma = stage2_lemmas.projected_both_ways(3)
    symbols = sorted(printed.free_symbols, key=str)  # A, then c, u and w
    values = dict(zip(symbols, [2, 1, 3, -1, 2, 5, 1, 0, 1, 2], strict=True))
    left, right = (float(side.subs(values)) for side in (printed, lemma))
    assert left == pytest.approx(right, rel=1e-12)
    assert abs(left) > 1e-3


# Lemma 5


def test_huang2024_lem_5_by_hand():
    problem = from_dataset(two_runs())
    state = training.run(problem, 1, 1.0, 2.0).rows
    # log-odds start at log 2 and grow by eta sqrt(2) in the first step
    assert state.least_log_odds == pytest.approx([math.log(2), math.log(2) + math.sqrt(2)])
    assert state.log_weight[0] == pytest.approx(-math.log(3))


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


def test_huang2024_lem_5_is_proved_and_its_control_noticed(frequent):
    assert stage2_lemmas.signs_hold()
    check = stage2_lemmas.check_huang2024_lem_5(frequent)
    assert check.verdict is Verdict.PROVED
    assert check.with_control(stage2_lemmas.control_huang2024_lem_5()).control


def test_huang2024_lem_5_notices_a_single_decrease(frequent):
    run = frequent[0]
    change = run.second.rows.change.copy()
    change[7] = -1e-12
    second = replace(run.second, rows=replace(run.second.rows, change=change))
    check = stage2_lemmas.check_huang2024_lem_5([replace(run, second=second)])
    assert check.verdict is Verdict.REFUTED


def test_huang2024_lem_5_is_open_without_assumption_3(others):
    unequal = [run for run in others if not run.problem.frequent]
    assert stage2_lemmas.check_huang2024_lem_5(unequal).verdict is Verdict.OPEN


# Lemma 5 without Assumption 3


def test_ours_lem_5_needs_asm_3_by_hand():
    # "a a b" alone, A = 3 log 2: logits 2 log 2 and log 2, so T_b = 2 / (4 + 2) = 1/3
    moves = without_asm_3.first_moves(two_runs(), exponent=3)
    # entries are -+ m r (1 - T_o + T_b) = -+ 2/9 * 2/3; log-odds move by twice that
    assert moves == {("a", "a", "b"): Fraction(8, 27)}


def test_ours_lem_5_needs_asm_3_agrees_with_eighty_digits():
    data, gap, eta = without_asm_3.outnumbered_data(), 60 * math.log(2), 1e-6
    moves = without_asm_3.first_moves(data)
    problem = from_dataset(data)
    log_norm, direction = training.gradient(problem, np.zeros(len(problem.entry_token)), gap)
    with mpmath.workdps(80):
        W = {
            problem.vocabulary[token]: -eta * mpmath.mpf(float(g))
            for token, g in zip(problem.entry_token, direction, strict=True)
        }
        for words, move in moves.items():
            rivals = [mpmath.exp(W[x] - W["b"]) for x in words if x != "b"]
            change = mpmath.log(len(rivals)) - mpmath.log(mpmath.fsum(rivals))
            assert math.copysign(1, change) == math.copysign(1, move)
            # the exact derivative lacks the factor A pi / ||G||, pi being one in five
            rate = gap / 5 / math.exp(log_norm)
            assert float(change) / eta == pytest.approx(float(move) * rate, rel=1e-4)


def test_ours_lem_5_needs_asm_3_is_proved_and_its_control_noticed():
    check = without_asm_3.check_ours_lem_5_needs_asm_3()
    assert check.verdict is Verdict.PROVED
    assert check.with_control(without_asm_3.control_ours_lem_5_needs_asm_3()).control
    assert not from_dataset(without_asm_3.outnumbered_data()).frequent


def test_ours_lem_5_needs_asm_3_takes_integer_powers_only():
    with pytest.raises(ValueError, match="multiple"):
        without_asm_3.first_moves(two_runs(), exponent=4)


# Lemma 6


def test_huang2024_lem_6_by_hand():
    # one column with one rival always walks straight: ||W|| = t eta, ||W*|| = 1/sqrt(2), cos = 1
    problem = from_dataset(two_runs())
    run = runs.Run(
        "a a b",
        problem,
        bounds.constants(problem, 1.0, 0.25, 4),
        training.run(problem, 8, 0.25, 4.0),
    )
    assert run.second.rows.norm == pytest.approx(0.25 * run.second.rows.step)
    check = stage2_lemmas.check_huang2024_lem_6([run])
    assert check.verdict is Verdict.PROVED
    assert check.numbers["sharper"] == "1.0000"  # so the sharper constant is attained


def test_huang2024_lem_6_agrees_with_the_matrices_of_dense_steps():
    for data in random_data(6):
        problem, eta, gap = from_dataset(data), 0.7, 5.0
        weights = np.zeros(len(problem.entry_token))
        star = problem.W_kq_star / problem.norm
        for step in range(1, 40):
            _, direction = training.gradient(problem, weights, gap)
            assert -direction @ star >= 1 / (math.sqrt(2) * problem.norm) - 1e-12
            weights = weights - eta * direction
            assert np.linalg.norm(weights) >= step * eta / (2 * problem.max_length * problem.norm)


def test_huang2024_lem_6_fails_from_a_start_far_away_and_says_so(frequent):
    norm, low = stage2_lemmas.from_elsewhere()
    assert norm < low == pytest.approx(1e3 / (6 * math.sqrt(7 / 6)) - math.hypot(20, 0.3, 30, 30))
    norm, low = stage2_lemmas.from_elsewhere(start=0.0)
    assert norm > low  # from there it is learnt at once
    check = stage2_lemmas.check_huang2024_lem_6(frequent)
    readings = stage2_lemmas.with_start_readings(check).readings
    assert [one.verdict for one in readings] == [Verdict.PROVED, Verdict.REFUTED]


def test_huang2024_lem_6_is_proved_and_its_control_noticed(frequent, others):
    check = stage2_lemmas.check_huang2024_lem_6([*frequent, *others])
    assert check.verdict is Verdict.PROVED
    assert check.numbers["others_verdict"] == "consistent"
    assert check.with_control(stage2_lemmas.control_huang2024_lem_6(frequent[0])).control


# Lemma 7


def test_huang2024_lem_7_by_hand():
    # while the rare column waits, the cosines are -1 and -1/sqrt(2), so alpha must be sqrt(2) - 1
    run = rare.rare_run(3000.0, 500, rare_alpha.largest_eta())
    rows = run.second.rows
    assert rows.cos_star[-1] == pytest.approx(-1 / math.sqrt(2))
    assert rows.needed_alpha[-1] == pytest.approx(math.sqrt(2) - 1)
    # N = 4, L_max = 2, ||W*|| = 1: 4 * 4 * 4 / ||W|| (1 + log(4 ||W||))
    norm = float(rows.norm[-1])
    alpha = stage2_lemmas.log_alpha(run, 4, bounds.N, rows.step == 500)
    assert np.exp(alpha) == pytest.approx([64 / norm * (1 + math.log(4 * norm))])


def test_huang2024_lem_7_agrees_with_the_plain_inequality(frequent):
    """The judged slack has the sign of the inequality as the lemma writes it."""
    for run in frequent:
        rows, c = run.second.rows, run.constants
        late = rows.step >= bounds.lem_7_start(c)
        steps, slack = stage2_lemmas._alpha_slack(run, 4, bounds.N)
        assert steps.tolist() == rows.step[late].tolist()
        for row, value in zip(np.flatnonzero(late), slack, strict=True):
            norm = rows.norm[row]
            alpha = 4 * c.sample_count * (c.max_length * c.norm_kq) ** 2 / norm
            alpha *= 1 + math.log(2 * c.max_length * norm)
            left, right = rows.cos_weights[row], (1 + alpha) * rows.cos_star[row]
            assert (left >= right) == (value >= 0)


def test_huang2024_lem_7_is_refuted_under_each_reading(frequent, hidden):
    check = stage2_lemmas.check_huang2024_lem_7([*frequent, *hidden])
    assert check.verdict is Verdict.REFUTED
    assert len(check.readings) == 3
    assert {reading.verdict for reading in check.readings} == {Verdict.REFUTED}
    assert check.with_control(stage2_lemmas.control_huang2024_lem_7()).control
    assert all(run.problem.prefix_closed and run.problem.frequent for run in hidden)


def test_huang2024_lem_7_is_not_refuted_where_one_reading_holds(hidden):
    check = stage2_lemmas.check_huang2024_lem_7(hidden[:1])  # defeats 4 but not 8
    assert check.verdict is Verdict.CONSISTENT
    verdicts = [reading.verdict for reading in check.readings]
    assert verdicts == [Verdict.REFUTED, Verdict.CONSISTENT]


def test_huang2024_lem_7_is_defeated_with_any_constant():
    assert rare_alpha.failed_steps() == []
    assert rare_alpha.failed_steps(Fraction(1, 10)) != []
    for factor in (0.5, 20.0, 50.0):
        run = rare_alpha.defeating_run(factor)
        rows = run.second.rows
        assert rows.step[-1] >= bounds.lem_7_start(run.constants)
        assert rows.needed_alpha[-1] > 2 / 5
        log_alpha = stage2_lemmas.log_alpha(run, factor, bounds.N, rows.step == rows.step[-1])
        assert math.exp(log_alpha[0]) < 2 / 5
        # the proof's first half: the force of the rare column is at most a hundredth
        _, direction = training.gradient(run.problem, run.second.state.weights, run.second.gap)
        sizes = np.sort([np.linalg.norm(direction[run.problem.column(q)]) for q in (0, 1)])
        assert sizes[0] <= sizes[1] / 100


# Lemma 7, corrected


def test_huang2024_lem_7_corrected_by_hand():
    run = rare.rare_run(0.0, 200, rare_alpha.largest_eta())  # four equal frequencies: 1/pi_min = N
    late = run.second.rows.step >= 100
    printed, corrected = (
        stage2_lemmas.log_alpha(run, 4, rarity, late) for rarity in (bounds.N, bounds.PI_MIN)
    )
    assert printed == pytest.approx(corrected)


def test_huang2024_lem_7_corrected_is_consistent_with_the_rare_sample(frequent, hidden):
    check = stage2_lemmas.check_huang2024_lem_7_corrected([*frequent, *hidden])
    assert check.verdict is Verdict.CONSISTENT
    assert check.vacuous
    control = stage2_lemmas.control_huang2024_lem_7_corrected(hidden[0])
    assert check.with_control(control).control


def test_huang2024_lem_7_corrected_agrees_with_brute_force_on_its_start(frequent):
    """The step from which alpha_t may be below 1, found by doubling and by the formula."""
    run = frequent[0]
    step = math.exp(stage2_lemmas._log_bites(run))
    c = run.constants

    def alpha(t: float) -> float:
        scale = (c.max_length * c.norm_kq) ** 2 * math.exp(-c.log_pi_min)
        return 4 * scale / (t * c.eta) * (1 + math.log(2 * c.max_length * t * c.eta))

    assert alpha(step * 1.001) < 1 < alpha(step * 0.999)
