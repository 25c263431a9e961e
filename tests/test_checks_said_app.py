"""What abstract, introduction and discussion of Huang et al. say beside the numbered statements."""

import math
from dataclasses import replace

import numpy as np
import pytest

from ntpcore import bounds, order, training, transformer
from ntpcore.checks.huang2024 import (
    algorithm_app,
    experiment,
    experiment_app,
    generalization_app,
    lemmas_app,
    loss_app,
    prefix_app,
    rare,
    runs,
    setup_app,
    stage2_app,
)
from ntpcore.checks.huang2024.realizable import example_1
from ntpcore.checks.huang2024.without_asm_3 import outnumbered_run
from ntpcore.claims import Verdict
from ntpcore.dataset import from_samples
from ntpcore.problem import from_dataset

EQUAL = rare.rare_run(0.0, 300, 0.36)


def with_rows(run, **columns):
    """A run with other measurements."""
    return replace(run, second=replace(run.second, rows=replace(run.second.rows, **columns)))


@pytest.fixture(scope="module")
def trained():
    """Example 1 and four random data sets, 4000 steps at twenty times the paper's step size."""
    return runs.collection(3, 2, 4000, factors=(20,))


@pytest.fixture(scope="module")
def both():
    """The experiment on one data set of each kind."""
    return [
        *experiment.experiments(3, 1),
        *experiment.experiments(3, 1, prefix_closed=False),
    ]


# Setup


def test_huang2024_app_reparameterization_by_hand_for_scalars():
    # d = d_1 = d_2 = 1, |V| = 2, the sentence 1 2: scores 3 * 4 * 2 * (1, 2), values 5 * (1, 2)
    X = np.array([[1.0, 2.0]])
    ones = np.ones((1, 1))
    share = 1 / (1 + math.exp(-24))
    mixed = 5 * ((1 - share) + 2 * share)
    by_hand = 1 / (1 + math.exp(-mixed))
    found = setup_app.four_matrices(X, 3 * ones, 4 * ones, 5 * ones, np.array([[0.0], [1.0]]))
    assert found == pytest.approx([1 - by_hand, by_hand], rel=1e-12)
    logits = transformer.logits(X, np.array([[0.0], [5.0]]), 12 * ones)
    assert transformer.softmax(logits) == pytest.approx(found, rel=1e-12)


def test_huang2024_app_reparameterization_is_proved_and_a_transposed_product_is_noticed():
    check = setup_app.check_huang2024_app_reparameterization(10)
    assert (check.verdict, check.tried) == (Verdict.PROVED, 10)
    assert setup_app.same_products() == {"scores": True, "logits": True}
    assert setup_app.control_huang2024_app_reparameterization().noticed
    assert setup_app.reached(np.random.default_rng(1), 3, 4) < 1e-14


def test_huang2024_app_prefixes_by_hand():
    swap = {("0",): "1", ("1",): "0", ("0", "1"): "0", ("1", "0"): "1"}
    model = {**swap, ("0", "0"): "0", ("1", "1"): "1"}
    assert prefix_app.grown(model, "0", 2) == ["0", "1", "0"]
    assert prefix_app.strays(model, ["0", "1", "0"]) == []
    assert prefix_app.strays(model, ["0", "0", "0"]) == ["0 → 0"]
    assert prefix_app.held(("0", "1", "0")) == [["0", "1"], ["0", "1", "0"]]
    assert len(list(prefix_app.models(2))) == 2 ** (2 + 4)


def test_huang2024_app_prefixes_holds_where_sentences_are_grown_and_fails_for_any_others():
    check = prefix_app.check_huang2024_app_prefixes(2)
    assert (check.verdict, check.tried) == (Verdict.CONSISTENT, 2 * 64)
    assert [one.verdict for one in check.readings] == [Verdict.CONSISTENT, Verdict.REFUTED]
    assert prefix_app.control_huang2024_app_prefixes().noticed
    wild = prefix_app.check_huang2024_app_prefixes(2, by_model=False)
    assert wild.witness == "the sentence 0 1 0: ['0 → 1']"
    assert not wild.readings


# Two stages


def test_huang2024_app_decoupling_by_hand_a_single_token_is_all_that_attention_sees():
    problem = from_dataset(example_1())
    assert algorithm_app.seen_by_stage_1(problem, 3.0) == 0.0


def test_huang2024_app_decoupling_loss_goes_to_the_floor_and_the_floor_to_zero():
    found = algorithm_app.runs_of_example(1500, (50, 500))
    check = algorithm_app.check_huang2024_app_decoupling(found)
    assert check.verdict is Verdict.CONSISTENT
    assert "that stage 2 reaches the floor on all data" in check.evidence
    assert check.evidence.count("Not shown in general: that stage 2") == 1  # the limit is shown
    for run in found:
        floor = math.log1p(3 * math.exp(-run.second.gap))
        assert run.second.rows.loss[-1] == pytest.approx(floor, rel=1e-6)
    assert found[1].second.rows.loss[-1] < found[0].second.rows.loss[-1] / 1000
    assert float(check.numbers["most"]) < 1e-4


def test_huang2024_app_decoupling_control_notices_a_single_step():
    assert algorithm_app.control_huang2024_app_decoupling().noticed
    assert algorithm_app.check_huang2024_app_decoupling([]).verdict is Verdict.OPEN


def test_huang2024_app_directions_by_hand_a_power_law_is_read_off(trained):
    t = np.maximum(trained[0].second.rows.step.astype(float), 0.5)
    half = with_rows(trained[0], one_minus_cos=3 * t**-0.5)
    assert stage2_app.late_exponent(half) == pytest.approx(-0.5, abs=1e-9)
    check = stage2_app.check_huang2024_app_directions([half])
    assert check.witness.endswith("falls like t to the power -0.50 at the end")


def test_huang2024_app_directions_hold_on_long_runs_and_the_control_is_noticed(trained):
    check = stage2_app.check_huang2024_app_directions(trained)
    assert (check.verdict, check.tried) == (Verdict.CONSISTENT, len(trained))
    assert float(check.numbers["fastest"]) <= float(check.numbers["slowest"]) < -1.5
    assert stage2_app.control_huang2024_app_directions(trained[0]).noticed
    ends = [float(run.second.rows.one_minus_cos[-1]) for run in trained]
    assert check.numbers["angle"] == f"{max(ends):.1g}"


def test_huang2024_app_linear_norms_by_hand_for_two_equal_sentences():
    # every step adds eta along W*: the norm is t eta
    assert EQUAL.second.rows.norm[-1] == pytest.approx(300 * 0.36, rel=1e-12)
    check = stage2_app.check_huang2024_app_linear_norms([EQUAL])
    assert (check.verdict, check.numbers["least"]) == (Verdict.PROVED, "1.00")


def test_huang2024_app_linear_norms_hold_and_a_root_is_noticed(trained):
    check = stage2_app.check_huang2024_app_linear_norms([*trained, outnumbered_run()])
    assert (check.verdict, check.numbers["runs"]) == (Verdict.PROVED, str(len(trained)))
    assert 0 < float(check.numbers["least"]) <= float(check.numbers["most"]) <= 1
    assert stage2_app.control_huang2024_app_linear_norms(trained[0]).noticed
    longer = with_rows(trained[0], norm=trained[0].second.rows.norm * 1.2)
    assert "step 1" in stage2_app.check_huang2024_app_linear_norms([longer]).witness


# Loss and accuracy


def test_huang2024_app_accuracy_by_hand_for_two_tokens():
    # m_o = 4/5, eps = 1/4: with A = 3 log 8 the wrong token has 1 / (1 + 8^(9/5)) < 1/4
    weights = np.where(EQUAL.problem.is_optimal, math.log(4), 0.0)
    state = replace(EQUAL.second.state, weights=weights)
    run = replace(EQUAL, second=replace(EQUAL.second, state=state))
    found = lemmas_app.attention(EQUAL.problem, weights, 3 * math.log(8))
    assert np.exp(found.missing) == pytest.approx([1 / (1 + 8**1.8)] * 2, rel=1e-12)
    assert loss_app.check_huang2024_app_accuracy([run]).verdict is Verdict.CONSISTENT
    far = loss_app.check_huang2024_app_accuracy([run], times=0.1)
    assert far.verdict is Verdict.REFUTED


def test_huang2024_app_accuracy_counts_a_model_as_stuck_beyond_a_hundred_times_eps():
    # m_o = 4/5, eps = 1/4, A = 5: a wrong token has 1 / (1 + e^3) = 0.05, and 100 eps is 25
    weights = np.where(EQUAL.problem.is_optimal, math.log(4), 0.0)
    state = replace(EQUAL.second.state, weights=weights)
    run = replace(EQUAL, second=replace(EQUAL.second, state=state, gap=5.0))
    check = loss_app.check_huang2024_app_accuracy([run])
    assert (check.numbers["runs"], check.numbers["stuck"]) == ("1", "0")
    assert check.readings[1].verdict is Verdict.OPEN


def test_huang2024_app_accuracy_holds_on_trained_models_and_one_reading_fails(trained):
    check = loss_app.check_huang2024_app_accuracy(trained)
    assert check.verdict is Verdict.CONSISTENT
    assert "Not shown in general: that weights come to" in check.evidence
    assert [one.verdict for one in check.readings] == [Verdict.CONSISTENT, Verdict.REFUTED]
    assert loss_app.control_huang2024_app_accuracy(trained).noticed
    untrained = [replace(EQUAL, second=training.run(EQUAL.problem, 0, 0.36, 1.0))]
    assert loss_app.check_huang2024_app_accuracy(untrained).verdict is Verdict.OPEN


def test_huang2024_app_loss_excess_by_hand():
    c = EQUAL.constants  # L = 2, C_1 = 0.36 / 8
    t = np.array([100.0])
    log_u = np.log(2 * 2 / (2 + np.exp(c.C1 * t)))
    x = c.steps1 * c.C0 * np.exp(log_u)
    right = 2 * (math.e - 1) * 2 * c.steps1 * c.C0 * np.exp(-c.C1 * t)
    slack = loss_app._excess_slack(c, t, log_u, 1.0)
    assert slack == pytest.approx(np.log(right) - np.log(np.expm1(x)), rel=1e-10)
    assert bounds.log_eq_4_loss(c, t) == pytest.approx(
        math.log(bounds.loss_floor_printed(c)) + x, rel=1e-12
    )


def test_huang2024_app_loss_excess_is_proved_and_twice_the_rate_is_noticed(trained):
    check = loss_app.check_huang2024_app_loss_excess([EQUAL, *trained])
    assert check.verdict is Verdict.PROVED
    assert [one.verdict for one in check.readings] == [Verdict.PROVED, Verdict.REFUTED]
    assert check.numbers["above"] == check.numbers["runs"] == str(1 + len(trained))
    assert int(check.numbers["points"]) > 10
    assert loss_app.control_huang2024_app_loss_excess([EQUAL, *trained]).noticed


def test_huang2024_app_linear_loss_by_hand_exponents_are_read_off(trained):
    t = trained[0].second.rows.step.astype(float)
    line = with_rows(trained[0], log_excess=1 - 2 * t)
    assert loss_app.loss_exponent(line) == pytest.approx(1, abs=0.01)
    root = with_rows(trained[0], log_excess=1 - 2 * np.sqrt(t))
    assert loss_app.loss_exponent(root) == pytest.approx(0.5, abs=0.05)
    slow = with_rows(trained[0], log_excess=-1e-9 * t)
    assert loss_app.loss_exponent(slow) == pytest.approx(1, abs=0.01)
    rising = with_rows(trained[0], log_excess=t)
    assert loss_app.loss_exponent(rising) == -math.inf


def test_huang2024_app_linear_loss_holds_on_long_runs_and_a_power_law_is_noticed(trained):
    check = loss_app.check_huang2024_app_linear_loss(trained)
    assert (check.verdict, check.tried) == (Verdict.CONSISTENT, len(trained))
    assert float(check.numbers["least_rate"]) == pytest.approx(1, abs=0.02)
    assert loss_app.control_huang2024_app_linear_loss(trained[0]).noticed


# Unseen sentences


def test_huang2024_app_never_together_by_hand_on_example_1():
    data = example_1()
    assert generalization_app.together(data, data, alone=False) == ""
    assert generalization_app.together(data, data, alone=True) == ""
    orders = order.analyse(data).orders
    assert {q: sorted(one.compared) for q, one in orders.items()} == {
        "S": ["P", "S"],
        "V": ["S", "V"],
        "O": ["O", "S", "V"],
        "P": ["O", "P"],
    }


def test_huang2024_app_never_together_is_proved_and_a_forgotten_sentence_is_noticed():
    check = generalization_app.check_huang2024_app_never_together([example_1()])
    assert (check.verdict, check.numbers["sentences"]) == (Verdict.PROVED, "5")
    assert [one.verdict for one in check.readings] == [Verdict.PROVED, Verdict.REFUTED]
    assert check.readings[1].text == "in all sentences (n swaps a and b: a in a → b)"
    assert generalization_app.all_compared(3)
    assert generalization_app.control_huang2024_app_never_together([example_1()]).noticed
    two = from_samples([("a", "b"), ("b", "a"), ("ab", "b")], "two")
    found = generalization_app.check_huang2024_app_never_together([two], forget=True)
    assert found.witness == "two: a in a b → b"


def test_huang2024_app_extended_order_levels_by_hand():
    assert set(generalization_app.levels_make_an_order().values()) == {True}
    flat = generalization_app.levels_make_an_order((1, 1, 0))
    assert [name for name, shown in flat.items() if not shown] == ["non-comparable in between"]
    turned = generalization_app.levels_make_an_order((0, 1, 2))
    assert not turned["extends the old order"]


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
        (Circle, ["transitive", "extends the old order"]),
        (Highest, ["no token above itself"]),
    ):
        found = generalization_app.levels_make_an_order((kind(2), kind(1), kind(0)))
        assert [name for name, shown in found.items() if not shown] == failing


def test_huang2024_app_extended_order_holds_in_trained_models_and_exactly(trained):
    check = generalization_app.check_huang2024_app_extended_order([*trained, outnumbered_run()])
    assert (check.verdict, check.tried) == (Verdict.CONSISTENT, len(trained))
    assert check.numbers["orders"] == str(sum(len(run.problem.orders) for run in trained))
    assert generalization_app.control_huang2024_app_extended_order(trained[0]).noticed
    best = trained[0].problem.is_optimal
    for entry, wrong in ((np.flatnonzero(best)[0], -1e-9), (np.flatnonzero(~best)[-1], 0.0)):
        weights = trained[0].second.state.weights.copy()
        weights[entry] = wrong  # a single score on the wrong side
        state = replace(trained[0].second.state, weights=weights)
        run = replace(trained[0], second=replace(trained[0].second, state=state))
        found = generalization_app.check_huang2024_app_extended_order([run])
        assert found.verdict is Verdict.REFUTED
    exact = trained[0].problem.solutions["O"].scores
    assert [exact[x] > 0 for x in ("O", "S", "V")] == [True, False, False]


# Experiment


def test_huang2024_app_verifies_by_hand_the_room_is_a_quotient(both):
    one = both[0]
    rows, c = one.run.second.rows, one.run.constants
    log_bound = bounds.log_thm_1_direction(c, math.log(rows.step[-1]))
    assert experiment_app.log_room(one) <= log_bound - math.log(rows.one_minus_cos[-1])
    exact = replace(one, run=with_rows(one.run, one_minus_cos=np.full(len(rows.step), 1.0)))
    t = rows.step[rows.step >= 2]
    expected = min(bounds.log_thm_1_direction(c, math.log(step)) for step in t)
    assert experiment_app.log_room(exact) == pytest.approx(expected)


def test_huang2024_app_verifies_words_but_not_bounds(both):
    check = experiment_app.check_huang2024_app_verifies(both)
    assert check.verdict is Verdict.CONSISTENT
    assert [one.verdict for one in check.readings] == [Verdict.CONSISTENT, Verdict.REFUTED]
    assert float(check.numbers["room"]) > 1e6
    assert check.vacuous.endswith("(Theorem 1)")
    assert experiment_app.control_huang2024_app_verifies(both).noticed
    assert experiment_app.check_huang2024_app_verifies([]).verdict is Verdict.OPEN


def test_huang2024_app_verifies_notices_each_broken_bound(both):
    one = both[0]
    assert experiment_app.bound_faults(one) == []
    first = replace(one, first=replace(one.first, norm=one.first.norm * 1.01))
    assert experiment_app.bound_faults(first) == ["Proposition 1, norm"]
    short = replace(one, first=replace(one.first, norm=one.first.norm * 0.01))
    assert experiment_app.bound_faults(short) == ["Proposition 1, norm"]
    huge = replace(one, run=with_rows(one.run, norm=one.run.second.rows.norm * 2))
    assert experiment_app.bound_faults(huge) == ["Theorem 1"]
    lossy = with_rows(one.run, log_excess=one.run.second.rows.log_excess + 10)
    assert experiment_app.bound_faults(replace(one, run=lossy)) == ["equation (4)"]
    turned = replace(one, first=replace(one.first, one_minus_cos=one.first.one_minus_cos + 1e9))
    assert experiment_app.bound_faults(turned) == ["Proposition 1, direction"]
    assert "Theorem 1 is broken" in experiment_app.check_huang2024_app_verifies([huge]).witness
