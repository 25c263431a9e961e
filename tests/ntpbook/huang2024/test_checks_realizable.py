"""Realizable data: Definition 1, Assumptions 1 and 3, Example 1, and what a small loss forces."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from ntpbook.catalogue import find_claim
from ntpbook.huang2024.s4_realizable import realizable
from ntpcore.data import generate, order
from ntpcore.data.dataset import from_samples, from_sentences, read
from ntpcore.data.examples import example_1
from ntpcore.data.order import PartialOrder
from ntpcore.huang2024 import transformer
from ntpcore.verdicts.claims import Verdict


def dense_loss(weights, scale):
    """The loss at one scale, through the model itself."""
    names = weights.data.vocabulary
    W_ov = scale * np.array([[float(weights.W_ov[x][v]) for x in names] for v in names])
    odds = [[float(weights.odds.get(q, {}).get(x, 1)) for q in names] for x in names]
    return transformer.loss(weights.data, W_ov, np.log(odds), np.eye(len(names)))


def test_huang2024_def_1_by_hand_on_a_fork():
    one = PartialOrder.of("q", {("a", "b"), ("a", "c")})
    roles = realizable.repaired_roles(("a", "b", "c", "d"), one)
    assert roles["optimal"] == {"a"}
    assert roles["non-optimal"] == {"b", "c"}
    assert roles["non-comparable"] == {"d"}
    assert roles["confused"] == set()


def test_huang2024_def_1_is_consistent_on_every_relation_of_four_tokens():
    check = realizable.check_huang2024_def_1(max_tokens=4)
    assert check.verdict is Verdict.CONSISTENT
    assert check.tried == 1 + 2**2 + 2**6 + 2**12


def test_huang2024_def_1_calls_a_chain_confused():
    one = PartialOrder.of("q", {("a", "b"), ("b", "c")})
    assert one.confused == {"b"}
    assert realizable._not_an_order(one.pairs)


def test_huang2024_def_1_control_notices_the_printed_roles():
    assert realizable.control_huang2024_def_1(max_tokens=3).noticed


def test_huang2024_app_roles_is_refuted_by_a_token_that_nothing_touches():
    check = realizable.check_huang2024_app_roles(max_tokens=3)
    assert check.verdict is Verdict.REFUTED
    assert "a is optimal and non-optimal at once" in check.witness


def test_huang2024_app_roles_by_hand_for_the_query_p_of_example_1():
    roles = realizable.literal_roles(("S", "V", "O", "P"), frozenset({("O", "P")}))
    assert roles["optimal"] == {"S", "V", "O"}
    assert roles["non-optimal"] == {"S", "V", "P"}


def test_huang2024_app_roles_control_does_not_refute_the_repaired_roles():
    assert realizable.control_huang2024_app_roles(max_tokens=3).noticed


CASES = [
    (
        "peaks",
        realizable.peak_outside(),
        realizable.check_huang2024_app_peaks,
        realizable.control_huang2024_app_peaks,
        Fraction(1, 3),
    ),
    (
        "well_defined",
        realizable.contradictory_orders(),
        realizable.check_huang2024_app_well_defined,
        realizable.control_huang2024_app_well_defined,
        Fraction(1, 7),
    ),
    (
        "injective",
        realizable.shared_next_token(),
        realizable.check_huang2024_app_injective,
        realizable.control_huang2024_app_injective,
        Fraction(1),
    ),
]


@pytest.mark.parametrize(("name", "weights", "check", "control", "lead"), CASES)
def test_each_counterexample_to_the_argument_of_section_4_1(name, weights, check, control, lead):
    assert realizable.separation(weights) == lead
    assert check(weights).verdict is Verdict.REFUTED
    assert weights.data.prefix_closed
    assert control().noticed


@pytest.mark.parametrize(("name", "weights", "check", "control", "lead"), CASES)
def test_the_loss_of_each_counterexample_lies_below_its_bound(name, weights, check, control, lead):
    for scale in (5.0, 20.0, 80.0):
        assert 0 <= dense_loss(weights, scale) <= realizable.loss_bound(weights, scale)
    assert dense_loss(weights, 80.0) < 1e-4


def test_huang2024_app_peaks_by_hand_the_mean_of_two_columns_ranks_token_0_first():
    columns = realizable.peak_outside().W_ov
    mean = {v: (columns["0"][v] + columns["1"][v]) / 2 for v in "012"}
    assert mean == {"0": 3, "1": Fraction(5, 3), "2": Fraction(5, 3)}


def test_huang2024_app_well_defined_by_hand_attention_of_token_0():
    # 3/2 against one 1, then against two: 3/5 and 3/7
    assert Fraction(3, 2) / (Fraction(3, 2) + 1) > Fraction(1, 2)
    assert Fraction(3, 2) / (Fraction(3, 2) + 2) < Fraction(1, 2)
    structure = order.analyse(realizable.contradictory_orders().data)
    assert structure.orders["1"].pairs == {("0", "1"), ("1", "0")}


def test_huang2024_app_injective_has_one_next_token_for_two_tokens():
    structure = order.analyse(realizable.shared_next_token().data)
    assert structure.collocation == {"0": "0", "1": "0"}


def test_huang2024_asm_1_can_be_met_and_can_fail():
    check = realizable.check_huang2024_asm_1(example_1(), (realizable.contradictory_orders().data,))
    assert check.verdict is Verdict.PROVED


def test_huang2024_asm_1_notices_data_that_were_meant_to_fail_and_hold():
    check = realizable.check_huang2024_asm_1(example_1(), (example_1(),))
    assert check.verdict is Verdict.REFUTED
    assert realizable.control_huang2024_asm_1().noticed


def test_huang2024_asm_1_counts_an_unexplained_next_token_as_its_failure():
    data = from_samples([(["a"], "b"), (["b"], "c"), (["c"], "a"), (["a", "b"], "a")])
    assert order.analyse(data).realizable.holds is False


def test_huang2024_asm_2_stands_on_the_page_of_max_margin_problems():
    assert find_claim("huang2024-asm-2").page == "huang2024_s6_max_margin"


def test_huang2024_asm_3_by_hand_a_rival_that_occurs_twice():
    structure = order.analyse(from_sentences(["0 1 1 1", "1 0"]))
    assert structure.realizable.holds
    assert structure.frequent.counts == {"optimal-token-outnumbered": 1}


def test_huang2024_asm_3_records_both_readings_and_example_1_decides_between_them():
    check = realizable.check_huang2024_asm_3(example_1(), realizable.outnumbered())
    assert check.verdict is Verdict.PROVED
    assert [reading.verdict for reading in check.readings] == [Verdict.PROVED, Verdict.REFUTED]


def test_huang2024_asm_3_control_notices_swapped_data():
    assert realizable.control_huang2024_asm_3().noticed


def test_huang2024_ex_1_is_proved_by_going_through_its_samples():
    check = realizable.check_huang2024_ex_1(example_1())
    assert check.verdict is Verdict.PROVED
    assert check.numbers == {"samples": "9", "max_length": "3"}


def test_huang2024_ex_1_control_notices_a_changed_sentence():
    assert realizable.control_huang2024_ex_1().noticed


def test_huang2024_ex_1_file_of_the_examples_folder_is_the_same_data():
    read_back = read(str(Path(__file__).resolve().parents[3] / "examples" / "example1.txt"))
    assert list(read_back.samples()) == list(example_1().samples())


def test_huang2024_fig_1_marks_one_token_in_each_of_nine_sentences():
    rows = realizable.figure_1_rows(example_1())
    assert len(rows) == 9
    assert (("S", "V", "O"), ("O",), "P") in rows
    assert realizable.check_huang2024_fig_1(example_1()).verdict is Verdict.CONSISTENT


def test_huang2024_fig_1_control_notices_contradictory_orders():
    assert realizable.control_huang2024_fig_1().noticed


def test_huang2024_app_near_zero_by_hand_on_the_sentence_s_v_o():
    weights = realizable.separating_weights(example_1())
    assert weights.odds["O"] == {"O": 3}
    # S V O: odds 1, 1, 3, so the right logit has 3/5 and others 1/5 of the scale; that is the least
    # lead, as sentences of two tokens have 3/4 against 1/4
    assert realizable.separation(weights) == Fraction(2, 5)
    check = realizable.check_huang2024_app_near_zero([example_1()])
    assert (check.verdict, check.numbers["least"]) == (Verdict.CONSISTENT, "18/5")


@pytest.mark.parametrize("closed", [True, False])
def test_huang2024_app_near_zero_agrees_with_the_loss_of_the_model(closed):
    rng = np.random.default_rng(5)
    for _ in range(5):
        data = generate.random_dataset(rng, 5, 12, 5, prefix_closed=closed)
        weights = realizable.separating_weights(data)
        for scale in (1.0, 100.0):
            bound = (len(data.vocabulary) - 1) * np.exp(-scale / data.max_length**2)
            assert 0 <= dense_loss(weights, scale) <= realizable.loss_bound(weights, scale) <= bound


def test_huang2024_app_near_zero_notices_equal_attention_and_data_that_are_not_realizable():
    assert realizable.control_huang2024_app_near_zero().noticed
    twins = [realizable.shared_next_token().data, realizable.contradictory_orders().data]
    verdicts = [realizable.check_huang2024_app_near_zero([data]).verdict for data in twins]
    assert verdicts[1] is Verdict.REFUTED  # with confused tokens no W_kq of this form does
    assert realizable.check_huang2024_app_near_zero([]).verdict is Verdict.OPEN
