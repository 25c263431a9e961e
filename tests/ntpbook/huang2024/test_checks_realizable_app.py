"""What Sections 1, 4 and 5.2 say in passing of orders, collocation, weights and frequency."""

from fractions import Fraction

import numpy as np
import pytest

from ntpbook.huang2024.s4_realizable import realizable
from ntpbook.huang2024.s4_realizable import realizable_app as said
from ntpbook.huang2024.s4_realizable import realizable_weights as weighed
from ntpcore.data import generate, order
from ntpcore.data.dataset import from_samples, from_sentences
from ntpcore.data.examples import example_1
from ntpcore.data.order import PartialOrder
from ntpcore.huang2024 import transformer
from ntpcore.verdicts.claims import Verdict


@pytest.fixture(scope="module")
def data():
    """Example 1 and random data of both kinds."""
    rng = np.random.default_rng(5)
    return [
        example_1(),
        *(generate.random_dataset(rng, 6, 12, 5, prefix_closed=bool(i % 2)) for i in range(12)),
    ]


def test_huang2024_app_three_categories_by_hand_under_query_o_of_example_1():
    one = PartialOrder.of("O", {("O", "S"), ("O", "V")})
    roles = realizable.repaired_roles(("S", "V", "O", "P"), one)
    assert roles["optimal"] == {"O"}
    assert roles["non-optimal"] == {"S", "V"}
    assert roles["non-comparable"] == {"P"}
    assert said._not_one_role(("S", "V", "O", "P"), one, literal=False) == ""


def test_huang2024_app_three_categories_counts_the_bipartite_relations_and_notices_overlap():
    # without confused tokens: each pair relation goes from uppers to lowers; 1, 3, 13 on 1..3
    check = said.check_huang2024_app_three_categories(3)
    assert (check.verdict, check.tried) == (Verdict.PROVED, 1 + 3 + 13)
    assert [one.verdict for one in check.readings] == [Verdict.PROVED, Verdict.REFUTED]
    assert said.control_huang2024_app_three_categories().noticed
    witness = said.check_huang2024_app_three_categories(1, literal=True).witness
    assert witness == "tokens a with no pair: a is optimal and non-optimal and non-comparable"


def test_huang2024_app_regenerate_by_hand_on_example_1(data):
    structure = order.analyse(data[0])
    rule = {"S": "V", "SV": "O", "SVO": "P", "OP": "P", "PS": "V"}
    for sentence, label in rule.items():
        assert said.regenerated(structure, tuple(sentence), distinct=True) == label
    assert said.regenerated(structure, ("V", "P"), distinct=True) == ""  # P is not above V


def test_huang2024_app_regenerate_is_proved_and_one_reading_fails(data):
    check = said.check_huang2024_app_regenerate(data)
    assert (check.verdict, check.tried) == (Verdict.PROVED, 13)
    assert check.numbers["samples"] == str(sum(len(list(one.samples())) for one in data))
    assert [one.verdict for one in check.readings] == [Verdict.PROVED, Verdict.REFUTED]
    assert "a a → b, by the rule nothing" in check.readings[1].text
    assert order.analyse(said.repeated_token()).realizable.holds is True
    assert said.check_huang2024_app_regenerate([said.repeated_token()]).verdict is Verdict.PROVED
    assert said._undecided_pairs() == []
    assert said.control_huang2024_app_regenerate().noticed


def test_huang2024_app_length_2_agrees_with_the_collocation_and_misses_an_unseen_start(data):
    check = said.check_huang2024_app_length_2([(one, None) for one in data])
    assert check.verdict is Verdict.CONSISTENT
    assert check.numbers == {"tried": "13", "tokens": str(4 + 12 * 6)}
    assert [one.verdict for one in check.readings] == [Verdict.CONSISTENT, Verdict.REFUTED]
    assert said.control_huang2024_app_length_2().noticed
    partial = said.check_huang2024_app_length_2([said._partial_collocation()])
    assert partial.witness == "the sentence a b a: no sentence of length two begins with b"


def test_huang2024_app_length_2_by_hand_notices_a_wrong_collocation():
    twice = from_samples([("a", "b"), ("b", "a")], "swap")
    assert said.check_huang2024_app_length_2([(twice, None)]).verdict is Verdict.CONSISTENT
    wrong = said.check_huang2024_app_length_2([(twice, {"a": "a"})])
    assert wrong.verdict is Verdict.REFUTED


def test_huang2024_app_weights_larger_by_hand():
    weights = weighed.smaller_weight()
    # logits of 0 and 1 in the sentence 0 1: 2/3 and 5/3
    assert realizable.separation(weights) == 1
    found = list(weighed.weight_pairs(weights))
    third = Fraction(1, 3)
    assert found == [("0 1 → 1", third, 2 * third, third, 2 * third)]
    check = weighed.check_huang2024_app_weights_larger(weights)
    assert check.verdict is Verdict.REFUTED
    assert check.numbers == {"lead": "1", "optimal": "1/3", "other": "2/3"}
    assert order.analyse(weights.data).realizable.holds is True


def test_huang2024_app_weights_larger_loss_tends_to_zero_in_the_transformer():
    data = weighed.smaller_weight().data
    W_kq = np.zeros((2, 2))
    W_kq[0, 1] = -np.log(2)
    losses = [
        transformer.loss(data, B * np.array([[0.0, 1], [5, 0]]), W_kq, np.eye(2))
        for B in (1, 10, 30)
    ]
    assert losses[0] > losses[1] > losses[2]
    assert losses[2] < 1e-12


def test_huang2024_app_weights_larger_is_not_refuted_where_the_weights_are_as_claimed():
    assert weighed.control_huang2024_app_weights_larger().noticed
    weights = weighed.smaller_weight()
    flat = realizable.Weights(weights.data, realizable.columns("01", (3, 3), (3, 3)), weights.odds)
    check = weighed.check_huang2024_app_weights_larger(flat)
    assert "the loss does not tend to zero" in check.evidence
    swapped = realizable.Weights(weights.data, weights.W_ov, {"1": {"0": Fraction(3)}})
    assert "all weights" in weighed.check_huang2024_app_weights_larger(swapped).evidence


def test_huang2024_app_asm_3_practice_counts_by_hand():
    # n swaps: 0 → 1 and 1 → 0; 0 1 → 1 and 0 1 1 → 1 are decided by 0, and 1 then occurs twice
    text = from_sentences(["0 1 1 1", "1 0"], "two words")
    assert weighed.frequent_share(text) == (1, 2)
    check = weighed.check_huang2024_app_asm_3_practice([text])
    assert (check.verdict, check.numbers["share_1"]) == (Verdict.OPEN, "50%")
    once = from_sentences(["0 1 1", "1 0"], "two words")
    good = weighed.check_huang2024_app_asm_3_practice([once])
    assert (good.verdict, good.numbers) == (Verdict.CONSISTENT, {"share_1": "100%", "tried_1": "1"})
    both = weighed.check_huang2024_app_asm_3_practice([once, text])
    assert both.verdict is Verdict.OPEN


def test_huang2024_app_asm_3_practice_agrees_with_the_assumption_of_realizable_data(data):
    for one in data:
        met, tried = weighed.frequent_share(one)
        if order.analyse(one).frequent.holds:
            assert met == tried > 0
    assert weighed.control_huang2024_app_asm_3_practice().noticed
    assert weighed.check_huang2024_app_asm_3_practice([]).verdict is Verdict.OPEN
