"""Unseen sentences: Theorem 3, Example 2, and what is said beside them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import plain_example_1
import pytest
from by_label import judge
from every_check import failure
from measured import with_rows

from ntpbook.huang2024.s6_generalization import checks, figures, separation, two_displays
from ntpbook.shared.without_asm_3 import outnumbered_run
from ntpcore.data import order
from ntpcore.data.dataset import from_samples, from_sentences
from ntpcore.data.examples import example_1
from ntpcore.exact import margin
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.problem import from_dataset
from ntpcore.huang2024.runs import Run, train
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import NotANumberError
from ntpverdicts.maths import plain


@pytest.fixture(scope="module")
def some() -> tuple[Run, ...]:
    """Example 1 and four random data sets with Assumption 3, long enough."""
    return checks.trained(3, 2, 4000, True)


@pytest.fixture(scope="module")
def example() -> Run:
    """Example 1 at the paper's step sizes."""
    return checks.example_run(0.1, 0.025, 900, 900)


# All checks of the chapter


# Theorem 3


def test_huang2024_thm_3_time_and_constant_by_hand_on_example_1():
    # S = 13/6, mu = 1/3, K = log 1296, eta = 1: t_3 = 8 S^2 (1 + sqrt(2) K) / mu^2
    run = next(one for one in separation.runs(7, 0) if one is not None)
    t_3 = 8 * (13 / 6) ** 2 * 9 * (1 + math.sqrt(2) * math.log(1296))
    assert separation.separated(run.problem, 1.0) == pytest.approx(t_3)
    claimed = t_3 / 3 / (2 * math.sqrt(2) * 13 / 6)
    rows = run.second.rows
    at = int(np.searchsorted(rows.step, t_3))
    assert rows.least_optimal[at] > claimed
    wrong = with_rows(run, least_optimal=np.full_like(rows.least_optimal, 0.99 * claimed))
    assert "Example 1, η = 1, step" in plain(failure(checks.check_huang2024_thm_3, [wrong]))


def test_huang2024_thm_3_speaks_neither_of_short_runs_nor_without_assumption_3():
    short = checks.example_run(0.1, 0.5, 900, 900)
    found = judge("huang2024-thm-3", short, outnumbered_run())
    assert (found.verdict, found.tried) == (Verdict.OPEN, 0)
    assert len(found.left_out) == 2


def test_huang2024_thm_3_weight_of_the_free_token_by_hand():
    # three rivals at -log 6: x_0 has 1 / (1 + 3/6) = 2/3
    assert all(one.holds for one in checks.weight_of_the_free_token())
    scores = np.exp([0.0, *[-math.log(6)] * 3])
    assert scores[0] / scores.sum() == pytest.approx(2 / 3)


def test_huang2024_thm_3_fails_for_short_runs_as_our_copy_prints_its_time():
    readings = checks.check_huang2024_thm_3.judge([]).readings
    assert [one.verdict for one in readings] == [Verdict.REFUTED]


# Theorem 3 on runs


def test_ours_separation_runs_slope_and_time_of_example_1_by_hand():
    # columns (1/2, -1/2) for S, V, P and (2/3, -1/3, -1/3) for O: least 1/3, norm^2 13/6
    problem = from_dataset(example_1())
    c = bounds.constants(problem, 0.1, 1.0, 900)
    slope = bounds.thm_3_slope(c, problem.solutions.values())
    assert slope == pytest.approx(1 / 3 / math.sqrt(13 / 6))
    # L = 3 and pi_min = 1/9: K = log(2 * 9 * 8 * 9)
    run = checks.example_run(0.1, 0.5, 900, 10)
    by_hand = 3 * math.sqrt(13 / 6) * (4 + math.log(1296) / (2 * 0.5))
    assert checks.settled_from(run) == pytest.approx(by_hand)


def test_ours_separation_runs_separation_agrees_with_the_weights(some):
    for run in some:
        weights, optimal = run.second.state.weights, run.problem.is_optimal
        expected = min(weights[optimal].min(), -weights[~optimal].max())
        assert checks.separation_of(run)[1][-1] == expected
        least = np.abs(run.problem.W_kq_star).min() * run.constants.eta / run.constants.norm_kq
        assert checks.constant(run) == pytest.approx(least / 10)


def test_ours_separation_runs_is_refuted_where_tokens_stay_on_the_wrong_side_for_ever(some):
    for run in some:
        rows = run.second.rows
        below = with_rows(run, least_optimal=np.full_like(rows.least_optimal, -1e-3))
        above = with_rows(run, greatest_nonoptimal=np.full_like(rows.least_optimal, 1e-3))
        for wrong in (below, above, checks.turned(run)):
            assert judge("ours-separation-runs", wrong).verdict is Verdict.NOT_SEEN
    failing = [checks.turned(run) for run in some]
    assert judge("ours-separation-runs", *some, *failing).verdict is Verdict.NOT_SEEN


def test_ours_separation_runs_time_does_not_hang_on_the_trajectory(some):
    for run in some:
        rows = run.second.rows
        other = with_rows(run, least_optimal=np.full_like(rows.least_optimal, math.nan))
        assert checks.settled_from(other) == checks.settled_from(run)
        assert checks.constant(other) == checks.constant(run)
        with pytest.raises(NotANumberError):
            judge("ours-separation-runs", other)


def test_ours_separation_runs_counts_what_it_leaves_out(some):
    reason = r"$t$ is too small for the data and $\eta$"
    short = checks.example_run(0.1, 0.025, 900, 20)
    found = judge("ours-separation-runs", short)
    assert found.verdict is Verdict.UNDECIDED
    assert found.left_out == {reason: 1}
    both = judge("ours-separation-runs", short, *some)
    assert (both.verdict, both.tried) == (Verdict.SEEN, len(some))
    assert both.left_out[reason] == 1
    assert "Left out in 1 case: $t$ is too small" in both.evidence


def test_ours_separation_runs_leaves_out_sentences_until_t_and_T_are_large(example):
    # C_0 t = 900 * 0.025 / (30 sqrt(13/6)) is 0.5, and log 1 + 3 would be needed
    assert checks.constant(example) * 900 == pytest.approx(900 * 0.025 / 30 / math.sqrt(13 / 6))
    found = judge("ours-separation-runs", example)
    assert found.numbers["sentences"].value == 0
    assert {plain(one) for one in found.left_out} == {"T or t is too small for a sentence"}
    one = checks.Unseen(("S", "P"), "V")
    long = checks.example_run(0.1, 0.5, 900, 900)
    assert checks.decided(long, one)
    assert not checks.decided(replace(long, second=replace(long.second, gap=1.0)), one)


def test_ours_separation_runs_needs_growth_like_t(some):
    assert judge("ours-separation-runs", *some, slowed=True).verdict is Verdict.NOT_SEEN


def test_ours_separation_runs_fails_for_two_kinds_of_tokens(some):
    assert judge("ours-separation-runs", *some, kinds=2).verdict is Verdict.NOT_SEEN


def test_ours_separation_runs_unseen_sentences_of_example_1():
    problem = from_dataset(example_1())
    found = {one.tokens: one.expected for one in checks.unseen_sentences(problem)}
    assert found[("S", "P")] == "V"
    assert found[("V", "P")] == "O"
    seen = {sample.sentence for sample in example_1().samples()}
    assert not seen & set(found)


# Example 2


def test_huang2024_ex_2_answers(example):
    table = figures.answer_table(example, ["SP", "OSP", "VP", "SVP", "SPPPP"])
    assert [row[2] for row in table.rows] == ["V", "P", "O", "V or O", "V"]


def test_huang2024_ex_2_attention_by_hand(example):
    problem, weights = example.problem, example.second.state.weights
    names, column = problem.vocabulary, problem.column(problem.vocabulary.index("P"))
    score = {names[x]: w for x, w in zip(problem.entry_token[column], weights[column], strict=True)}
    assert set(score) == {"O", "P"}
    expected = 1 / (1 + 4 * math.exp(score["P"]))
    assert figures.answer_table(example, ["SPPPP"]).rows[0][1].startswith(f"S {expected:.3f}")


def test_huang2024_ex_2_agrees_with_a_transformer_trained_in_plain_mpmath(example):
    """Gradients from the loss and the softmax alone, at 80 digits; four queries share a step."""
    w = plain_example_1.trained()
    problem = example.problem
    names, column = problem.vocabulary, problem.column(problem.vocabulary.index("P"))
    tokens = [names[x] for x in problem.entry_token[column]]
    trained = dict(zip(tokens, example.second.state.weights[column], strict=True))
    assert trained["O"] == pytest.approx(float(w["P"][0]), rel=1e-9)
    assert trained["P"] == pytest.approx(float(w["P"][1]), rel=1e-9)


def test_huang2024_ex_2_short_training_prefers_the_crowd():
    short = checks.example_run(0.1, 0.025, 100, 100)
    longer = checks.example_run(0.1, 0.025, 200, 300)
    answers = [figures.answer_table(run, ["SPPPP"]).rows[0][2] for run in (short, longer)]
    assert answers == ["S", "V"]


def test_huang2024_ex_2_curves_end_where_the_run_ends(example):
    curves, roles = figures.attention_curves(
        example.problem, example.second.eta, example.second.gap, "OSP", [1, 10, 900]
    )
    shown = figures.answer_table(example, ["OSP"]).rows[0][1]
    assert shown == ", ".join(f"{token} {values[-1]:.3f}" for token, values in curves.items())
    assert roles == {"O": "optimal", "S": "non-comparable", "P": "non-optimal"}


# Said in Section 6


def test_huang2024_app_never_together_by_hand_on_example_1():
    orders = order.analyse(example_1()).orders
    assert {q: sorted(one.compared) for q, one in orders.items()} == {
        "S": ["P", "S"],
        "V": ["S", "V"],
        "O": ["O", "S", "V"],
        "P": ["O", "P"],
    }
    found = judge("huang2024-app-never-together", example_1())
    assert (found.verdict, found.numbers["sentences"].shown) == (Verdict.PROVED, "5")
    assert [one.verdict for one in found.readings] == [Verdict.REFUTED]


def test_huang2024_app_never_together_notices_a_forgotten_sentence():
    two = from_samples([("a", "b"), ("b", "a"), ("a b", "b")], "two")
    found = judge("huang2024-app-never-together", two, forget=True)
    assert found.witness == "two, a, b in a b → b"
    alone = judge("huang2024-app-never-together", *checks.swap(), alone=True)
    assert plain(alone.witness) == "n swaps a and b, a in a → b"


@pytest.mark.parametrize(
    ("levels", "wrong"),
    [
        ((2, 1, 0), []),
        ((1, 1, 0), ["optimal above non-comparable"]),
        ((2, 0, 0), ["non-comparable above non-optimal"]),
        (
            (0, 1, 2),
            [
                "optimal above non-optimal",
                "optimal above non-comparable",
                "non-comparable above non-optimal",
            ],
        ),
    ],
)
def test_huang2024_app_extended_order_levels_by_hand(levels, wrong):
    assert [one.name for one in checks.three_levels(levels) if not one.holds] == wrong


def test_huang2024_app_extended_order_notices_levels_that_are_not_ordered():
    class Circle(int):
        """Each of 0, 1 and 2 is above the one before, and 0 above 2."""

        def __gt__(self, other):
            return (self - other) % 3 == 1

    class Highest(int):
        """2 is above all, itself among them."""

        def __gt__(self, other):
            return int(self) > int(other) or self == 2

    for kind, failing in (
        (Circle, "chains of three that are not transitive"),
        (Highest, "levels above themselves"),
    ):
        found = checks.three_levels((kind(2), kind(1), kind(0)))
        assert failing in [one.name for one in found if not one.holds]


def test_huang2024_app_extended_order_asks_for_every_score_and_counts_what_lacks_assumption_3(some):
    found = judge("huang2024-app-extended-order", *some, outnumbered_run())
    assert (found.verdict, found.tried) == (Verdict.PROVED, len(some))
    assert found.left_out == {"Assumption 3 fails": 1}
    assert found.numbers["orders"].value == sum(len(run.problem.orders) for run in some)
    rows = some[0].second.rows
    for name, wrong in (("least_optimal", -1e-9), ("greatest_nonoptimal", 0.0)):
        values = getattr(rows, name).copy()
        values[1] = wrong  # a single score on the wrong side at the first step
        run = with_rows(some[0], **{name: values})
        assert judge("huang2024-app-extended-order", run).verdict is Verdict.REFUTED
        values[1] = math.nan
        with pytest.raises(NotANumberError):
            judge("huang2024-app-extended-order", with_rows(some[0], **{name: values}))


def test_huang2024_app_extended_order_exact_scores_by_hand(some):
    exact = some[0].problem.solutions["O"].scores
    assert [exact[x] > 0 for x in ("O", "S", "V")] == [True, False, False]


def test_huang2024_app_thm_3_margins_by_hand_from_the_run_of_one_pair():
    # one pair pulls: W[0] - W[1] = sqrt(2) t eta after every step, as the loop finds it
    problem = from_dataset(two_displays.one_pair())
    one = train("one pair", problem, eta0=0.1, eta=0.26, steps1=900, steps=50)
    assert one.second.rows.least_gap[-1] == pytest.approx(math.sqrt(2) * 50 * 0.26, rel=1e-12)
    t_eta, t = 3_000_000 * 0.26, 3_000_000
    claimed = -t_eta / 2 - math.sqrt(108 * 3 * 4 * 0.5 * t_eta) * math.log(t)
    found = two_displays.check_huang2024_app_thm_3_margins().numbers
    assert found["claimed"].value == pytest.approx(claimed, rel=1e-12)
    assert found["margin"].value == pytest.approx(-math.sqrt(2) * t_eta, rel=1e-12)


def test_huang2024_app_thm_3_margins_says_nothing_wrong_of_short_runs():
    early = replace(two_displays.BACKWARD, steps=1000)
    judge = two_displays.check_huang2024_app_thm_3_margins.judge
    assert judge([early]).verdict is Verdict.NOT_CONTRADICTED


def test_huang2024_app_thm_3_probability_by_hand_for_two_tokens():
    # masses .8 and .2, A = 10: the logits differ by 6
    one = two_displays.Sentence("by hand", (0.8,), (0.2,), 2, 0.01)
    assert one.missing(10.0) == pytest.approx(1 / (1 + math.exp(6)), rel=1e-12)
    # |V| = 4: two more tokens with the logit 0
    two = replace(one, vocab_size=4)
    others = math.exp(2) + 2
    assert two.missing(10.0) == pytest.approx(others / (math.exp(8) + others), rel=1e-12)


def test_ours_separation_by_hand_on_the_sentence_of_one_pair():
    # S = 1/2, mu = 1/2, L = 2 and pi_min = 1/2 of the two samples: K = log 16
    problem = from_dataset(from_sentences(["0 1 0"], "one pair"), {"1": "0"})
    assert separation.least_score(problem) == pytest.approx(0.5)
    late = 8 * 0.25 / 0.25 * (1 + math.sqrt(2) * math.log(16) / 0.5)
    assert separation.separated(problem, 0.5) == pytest.approx(late, rel=1e-12)
    one = separation.run_until("one pair", problem, 0.5)
    # the entry is t eta / sqrt(2), and the bound is t eta / (2 sqrt(2))
    found = separation.check_ours_separation.judge([one])
    assert found.numbers["closest"].value == pytest.approx(2, rel=1e-12)


def test_ours_separation_counts_tokens_below_as_well() -> None:
    # one optimal token, three others: 3/4 above and -1/4 below, and S = 9/16 + 3/16
    tokens = ["a", "b", "c", "q"]
    after = dict(zip(tokens, ["b", "c", "q", "a"], strict=True))
    rows = [([x], after[x]) for x in tokens] + [(["a", "b", "c", "q"], "b")]
    problem = from_dataset(from_samples(rows, "one above three"))
    assert problem.norm**2 == pytest.approx(3 / 4)
    assert separation.least_score(problem) == pytest.approx(1 / 4)
    late = 8 * (3 / 4) ** 2 * 16 * (1 + math.sqrt(2) * math.log(2 * 16 * 27 / (1 / 5)))
    assert separation.separated(problem, 1.0) == pytest.approx(late, rel=1e-12)


def test_ours_separation_is_no_more_than_said_where_t_3_is_late():
    problem = from_dataset(from_sentences(["0 1 0"], "one pair"), {"1": "0"})
    assert separation.run_until("one pair", problem, 1e-6) is None


def test_the_answers_to_the_exercises() -> None:
    run = checks.example_run(0.1, 0.025, 900, 900)
    rows = figures.answer_table(run, ["VOP", "PV", "SO"]).rows
    assert [row[2] for row in rows] == ["P", "O", "P"]
    pairs = {(a, b) for a in ("a1", "a2") for b in ("b1", "b2", "q")}
    found = margin.solve(order.PartialOrder.of("q", pairs))
    norm = math.sqrt(margin.norm_squared([found.scores]))
    slope = float(min(map(abs, found.scores.values()))) / norm
    assert slope == pytest.approx(math.sqrt(2 / 15))
    for c in (2, 9):
        for s, wins in ((math.log(c) + 0.01, True), (math.log(c) - 0.01, False)):
            assert (c * math.exp(-s) < 1) == wins
