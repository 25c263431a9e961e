"""Displays inside the proofs of Lemmas 5 to 7, and the sketch of the proof of Theorem 1."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from ntpbook.huang2024.s5_stage2_lemmas import lemmas_app as said
from ntpbook.huang2024.s5_stage2_lemmas import lemmas_sketch as sketch
from ntpbook.huang2024.s5_stage2_lemmas import lemmas_violated as violated
from ntpbook.shared import rare
from ntpbook.shared.without_asm_3 import outnumbered_run
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, runs, stage1, training, transformer
from ntpcore.verdicts.claims import Verdict

EQUAL = rare.rare_run(0.0, 200, 0.36)


@pytest.fixture(scope="module")
def some():
    """Example 1 and four random data sets, at two step sizes."""
    return runs.collection(3, 2, 1500, factors=(1, 100))


def test_attention_by_hand_for_two_tokens():
    # the sentence 0 1 with gap d: phi_+ = 1 / (1 + e^-d), logits A phi_+ and A phi_-
    d, A = 1.5, 2.0
    problem = EQUAL.problem
    weights = np.where(problem.is_optimal, d, 0.0)
    found = said.attention(problem, weights, A)
    m = 1 / (1 + math.exp(-d))
    wrong = 1 / (1 + math.exp(A * (2 * m - 1)))
    assert np.exp(found.best) == pytest.approx([m, m], rel=1e-14)
    assert np.exp(found.rest) == pytest.approx([1 - m, 1 - m], rel=1e-14)
    assert np.exp(found.rivals) == pytest.approx([1 - m, 1 - m], rel=1e-14)
    assert np.exp(found.missing) == pytest.approx([wrong, wrong], rel=1e-14)
    assert np.exp(found.wrong) == pytest.approx([wrong, wrong], rel=1e-14)


def test_attention_agrees_with_the_transformer(some):
    problem, A = some[2].problem, 3.0
    W = np.zeros((problem.vocab_size,) * 2)
    weights = np.random.default_rng(1).normal(size=len(problem.entry_token))
    W[problem.entry_token, problem.entry_query] = weights
    found = said.attention(problem, weights, A)
    E, W_ov = np.eye(problem.vocab_size), np.zeros_like(W)
    W_ov[problem.following, np.arange(len(W))] = A
    for i in range(len(problem.optimal)):
        rivals = slice(problem.start[i], problem.start[i + 1])
        best = int(problem.entry_token[problem.optimal[i]])
        tokens = [best] * int(problem.optimal_count[i])
        for entry, count in zip(problem.rival[rivals], problem.rival_count[rivals], strict=True):
            tokens += [int(problem.entry_token[entry])] * int(count)
        query = int(problem.entry_query[problem.optimal[i]])
        tokens.remove(query)
        X = E[:, [*tokens, query]]
        phi = transformer.attention(X, W)
        T = transformer.softmax(W_ov @ X @ phi)
        mass = X @ phi
        others = problem.entry_token[problem.rival[rivals]]
        assert np.exp(found.best[i]) == pytest.approx(mass[best], rel=1e-12)
        assert np.exp(found.rivals[rivals]) == pytest.approx(mass[others], rel=1e-12)
        right = problem.following[best]
        assert np.exp(found.missing[i]) == pytest.approx(1 - T[right], rel=1e-11)
        assert np.exp(found.wrong[rivals]) == pytest.approx(T[problem.following[others]], rel=1e-11)


def test_huang2024_app_induction_holds_at_the_start_and_the_end(some):
    check = said.check_huang2024_app_induction(some)
    assert (check.verdict, check.tried) == (Verdict.PROVED, 2 * len(some))
    assert int(check.numbers["entries"]) == 2 * sum(len(r.second.state.weights) for r in some)
    assert said.check_huang2024_app_induction([outnumbered_run()]).verdict is Verdict.OPEN


def test_huang2024_app_induction_control_notices_data_without_assumption_3():
    assert said.control_huang2024_app_induction().noticed
    rows = EQUAL.second.state.weights
    turned = replace(
        EQUAL, second=replace(EQUAL.second, state=replace(EQUAL.second.state, weights=-rows))
    )
    assert said.check_huang2024_app_induction([turned]).witness.endswith("a larger weight")


def test_huang2024_app_gradient_norm_by_hand_for_two_tokens():
    # at zero phi = 1/2, T_o = 1/2: the bound is 2 A (1/8 + 1/4), the norm A sqrt(2) / 8 by query
    A, problem = 4.0, EQUAL.problem
    zero = np.zeros(len(problem.entry_token))
    both = math.exp(float(problem.log_pi[0])) * 2  # the share of the two longer samples
    assert said.log_norm_bound(problem, zero, A, 2.0) == pytest.approx(
        math.log(2 * A * (1 / 8 + 1 / 4) * both)
    )
    assert training.gradient(problem, zero, A)[0] == pytest.approx(
        math.log(A / 4 * both), abs=1e-12
    )


def test_huang2024_app_gradient_norm_holds_and_its_control_notices_a_smaller_factor(some):
    check = said.check_huang2024_app_gradient_norm(some)
    assert (check.verdict, check.tried) == (Verdict.PROVED, 4 * len(some))
    assert float(check.numbers["least"]) >= 1.41
    assert said.control_huang2024_app_gradient_norm().noticed
    assert said.lengths_hold() == {"at most sqrt(2) phi": True}
    names = [name for name, _ in said.states(EQUAL, 1)]
    assert names[:2] == ["start", "end"]
    assert len(names) == 4


def test_huang2024_app_sketch_2_is_refuted_by_runs_and_not_with_the_factor_of_lemma_6(some):
    check = sketch.check_huang2024_app_sketch_2(some)
    assert check.verdict is Verdict.REFUTED
    assert float(check.numbers["cosine"]) < float(check.numbers["weight"])
    assert {one.verdict for one in check.readings} == {Verdict.REFUTED}
    assert sketch.control_huang2024_app_sketch_2(some).noticed
    assert sketch.check_huang2024_app_sketch_2([outnumbered_run()]).verdict is Verdict.OPEN


def test_huang2024_app_sketch_2_by_hand_where_the_direction_is_exact():
    # equal frequencies: the gradient points along W* exactly, and a weight is below 1
    check = sketch.check_huang2024_app_sketch_2([EQUAL])
    assert check.verdict is Verdict.CONSISTENT
    assert -EQUAL.second.rows.cos_star == pytest.approx(np.ones(len(EQUAL.second.rows.step)))


def test_huang2024_app_sketch_2_cosine_agrees_with_the_dense_gradient(some):
    problem, A = some[0].problem, some[0].second.gap
    start = training.run(problem, 5, 0.3, A, record=[5])
    W_ov, W, star = A * stage1.W_ov_star(problem.following), np.zeros((4, 4)), np.zeros((4, 4))
    W[problem.entry_token, problem.entry_query] = start.state.weights
    star[problem.entry_token, problem.entry_query] = problem.W_kq_star
    G = transformer.attention_gradient(example_1(), W_ov, W, np.eye(4))
    cosine = (G * star).sum() / np.linalg.norm(G) / problem.norm
    assert float(start.rows.cos_star[0]) == pytest.approx(cosine, rel=1e-7)  # T - p cancels


def test_huang2024_app_sketch_3_some_constant_serves_but_none_without_frequencies(some):
    hidden = sketch.hidden_runs()
    check = sketch.check_huang2024_app_sketch_3(some, hidden)
    assert check.verdict is Verdict.CONSISTENT
    assert [one.verdict for one in check.readings] == [Verdict.CONSISTENT, Verdict.REFUTED]
    assert check.numbers["beaten"] in "12"
    without = sketch.check_huang2024_app_sketch_3(some)
    assert without.readings[1].verdict is Verdict.CONSISTENT


def test_huang2024_app_sketch_3_by_hand_and_its_control(some):
    run = some[1]
    log_t, constant = sketch.needed_constant(run)
    rows = run.second.rows
    first = int(np.argmax(rows.step >= bounds.lem_7_start(run.constants)))
    first = max(first, int(np.argmax(rows.norm > math.e)))
    assert log_t[0] == pytest.approx(math.log(rows.step[first]))
    by_hand = max(rows.needed_alpha[-1] * rows.norm[-1] / math.log(rows.norm[-1]), 0)
    assert constant[-1] == pytest.approx(by_hand)
    assert sketch.control_huang2024_app_sketch_3(run).noticed
    assert sketch.check_huang2024_app_sketch_3([]).verdict is Verdict.OPEN


def test_huang2024_app_violated_sample_is_refuted_by_sentences_that_repeat_the_optimal_token():
    often = violated.repeated_run(10)
    check = violated.check_huang2024_app_violated_sample([EQUAL, often])
    assert check.verdict is Verdict.REFUTED
    assert check.witness.startswith("two tokens, the optimal one 10 times in a sentence, step")
    assert {one.verdict for one in check.readings} == {Verdict.REFUTED}
    assert check.numbers["failing"] == "1"
    found, claimed = (float(one) for one in re.findall(r"e\^(-[\d.]+)", check.witness))
    assert found < claimed < 0
    twice = violated.check_huang2024_app_violated_sample([often, violated.repeated_run(2)])
    assert twice.witness.startswith("two tokens, the optimal one 2 times")
    assert often.constants.max_length == 11
    assert violated.control_huang2024_app_violated_sample([often]).noticed


def test_huang2024_app_violated_sample_by_hand():
    # phi_- of a sentence with the optimal token k times and its rival once is 1 / (1 + k e^d)
    often = violated.repeated_run(10)
    step, excess = violated.log_weight_excess(often, math.log(3))
    norm, W = often.problem.norm, often.second.state.weights
    gaps = W[often.problem.pairs[:, 0]] - W[often.problem.pairs[:, 1]]
    by_hand = -math.log1p(10 * math.exp(gaps.min())) - math.log(3) + np.linalg.norm(W) / norm
    assert step[-1] == often.second.state.step
    assert excess[-1] == pytest.approx(by_hand, rel=1e-9)
    assert len(violated.log_weight_excess(EQUAL, 0.0)[0]) == 0  # W is a multiple of W*


def test_huang2024_app_violated_sample_names_the_first_step_below_and_the_worst(monkeypatch):
    steps = EQUAL.second.rows.step[-3:]
    excess = np.array([0.0, -5.0, -6.0])  # equality, then below by e^5 and e^6 = 403
    monkeypatch.setattr(violated, "repeated_run", lambda times: EQUAL)
    monkeypatch.setattr(violated, "log_weight_excess", lambda run, log_factor: (steps, excess))
    check = violated.check_huang2024_app_violated_sample([EQUAL])
    assert f", step {steps[1]}: " in check.witness
    assert check.numbers["missed"] == "403"


def test_huang2024_app_violated_sample_corrected_holds_and_nearly_with_equality(some):
    check = violated.check_huang2024_app_violated_sample_corrected([EQUAL, *some])
    assert check.verdict is Verdict.PROVED
    assert check.numbers["runs"] == str(1 + len(some))
    assert float(check.numbers["least"]) >= 1
    assert violated.control_huang2024_app_violated_sample_corrected().noticed
    longer = replace(
        EQUAL,
        second=replace(
            EQUAL.second, rows=replace(EQUAL.second.rows, least_gap=EQUAL.second.rows.norm * 1.01)
        ),
    )
    found = violated.check_huang2024_app_violated_sample_corrected([longer])
    assert found.witness.endswith("all gaps exceed r")
    # by hand: equal frequencies, L = 2, W = c W*: all gaps are r, phi_- = 1 / (1 + e^r)
    rows = EQUAL.second.rows
    assert rows.least_gap == pytest.approx(rows.norm)
    assert rows.least_log_odds == pytest.approx(rows.norm)
