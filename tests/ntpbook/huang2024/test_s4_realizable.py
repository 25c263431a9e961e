"""Realizable data: Definition 1, Assumptions 1 and 3, Example 1, and what a small loss forces."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import literal
import numpy as np
import pytest
from by_label import judge
from tiny_book import ROOT

from ntpbook.catalogue import find_check
from ntpbook.huang2024.s4_realizable import checks, instances
from ntpbook.huang2024.s4_realizable.instances import Weights
from ntpcore.data import generate, order
from ntpcore.data.dataset import from_samples, from_sentences, read
from ntpcore.data.examples import example_1
from ntpcore.data.order import PartialOrder
from ntpcore.huang2024 import transformer
from ntpverdicts.claims import Verdict


def dense_loss(weights: Weights, scale: float) -> float:
    """The loss at one scale, through the model itself."""
    names = weights.data.vocabulary
    W_ov = scale * np.array([[float(weights.W_ov[x][v]) for x in names] for v in names])
    odds = [[float(weights.odds.get(q, {}).get(x, 1)) for q in names] for x in names]
    return transformer.loss(weights.data, W_ov, np.log(odds), np.eye(len(names)))


# All checks of the chapter


# Definition 1


def test_huang2024_def_1_by_hand_on_a_fork():
    one = checks.Relation(("a", "b", "c", "d"), PartialOrder.of("q", {("a", "b"), ("a", "c")}))
    assert one.roles(printed=False) == {
        "optimal": {"a"}, "non-optimal": {"b", "c"}, "non-comparable": {"d"}, "confused": set()
    }  # fmt: skip


def test_huang2024_def_1_goes_through_every_relation_of_four_tokens():
    relations = list(checks.small_relations(4))
    assert len(set(relations)) == len(relations) == 1 + 2**2 + 2**6 + 2**12
    # without confused tokens: every pair goes from an upper to a lower token; 1, 3, 13 on 1..3
    assert len(checks.small_orders(3)) == 1 + 3 + 13


def test_huang2024_def_1_calls_a_chain_confused_and_no_order():
    chain = PartialOrder.of("q", {("a", "b"), ("b", "c")})
    assert chain.confused == {"b"}
    assert checks._not_an_order(chain.pairs) == "a > b > c, and not a > c"
    swap = frozenset({("a", "b"), ("b", "a")})
    assert checks._not_an_order(swap) == "a > b > a, and not a > a"
    assert checks._not_an_order(frozenset({("a", "a")})) == "a lies above itself"
    assert not checks._not_an_order(frozenset({("a", "b"), ("b", "c"), ("a", "c")}))


def test_huang2024_app_roles_by_hand_for_the_query_p_of_example_1():
    one = checks.OfData(order.analyse(example_1()), "P")
    roles = one.relation.roles(printed=True)
    assert roles["optimal"] == {"S", "V", "O"}
    assert roles["non-optimal"] == {"S", "V", "P"}
    assert judge("huang2024-app-roles", one).verdict is Verdict.REFUTED
    assert judge("huang2024-app-roles", one, printed=False).verdict is Verdict.NOT_CONTRADICTED


def test_huang2024_app_roles_shows_an_order_of_example_1():
    found = checks.check_huang2024_app_roles(trials=2)
    assert found.witness.startswith("tokens S, V, O, P with S > P, V is optimal and non-optimal")


def test_huang2024_app_extremal_by_hand_for_the_query_p_of_example_1():
    one = checks.Relation(("S", "V", "O", "P"), PartialOrder.of("P", {("O", "P")}))
    assert checks.ends(one) == checks.Ends(frozenset("SVO"), frozenset("SVP"))
    first, _ = find_check("huang2024-app-extremal").body(one, alone=True)
    assert (first.slack, first.where) == (-1, "optimal and maximal differ at S, V")


def test_huang2024_app_extremal_step_fails_if_ends_are_exchanged_or_tokens_left_out():
    assert [one.holds for one in checks.ends_by_logic()] == [True, True]
    assert [one.holds for one in checks.ends_by_logic(swapped=True)] == [False, False]
    assert [one.holds for one in checks.ends_by_logic(alone=True)] == [False, False]


def test_huang2024_app_roles_is_judged_on_data_for_which_all_before_it_holds():
    open_data = checks.OfData(order.analyse(instances.repeated_token()), "a")
    spoilt = replace(checks.check_huang2024_app_roles, instances=lambda: [open_data])
    with pytest.raises(ValueError, match="the instance breaks the hypothesis 'prefix closure'"):
        spoilt()


def test_huang2024_app_three_categories_by_hand_under_query_o_of_example_1():
    one = checks.Relation(("S", "V", "O", "P"), PartialOrder.of("O", {("O", "S"), ("O", "V")}))
    found = judge("huang2024-app-three-categories", one)
    assert (found.verdict, found.numbers["compared"].shown) == (Verdict.PROVED, "4")


def test_huang2024_app_three_categories_judges_the_printed_roles_by_the_same_check():
    alone = checks.Relation(("a",), PartialOrder.of("q", []))
    printed = judge("huang2024-app-three-categories", alone, printed=True)
    assert printed.verdict is Verdict.REFUTED
    assert [one.holds for one in checks.four_cases(printed=True)] == [False, True, True, True]


# What a loss near zero is said to force

CASES = [
    ("huang2024-app-peaks", instances.peak_outside(), Fraction(1, 3)),
    ("huang2024-app-well-defined", instances.closed_chain(), Fraction(2, 5)),
    ("huang2024-app-injective", instances.shared_next_token(), Fraction(1)),
    ("huang2024-app-weights-larger", instances.smaller_weight(), Fraction(1)),
]


@pytest.mark.parametrize(("label", "weights", "lead"), CASES)
def test_each_counterexample_to_the_argument_of_section_4_1(label, weights, lead):
    assert instances.separation(weights) == lead
    found = judge(label, weights)
    assert found.verdict is Verdict.REFUTED
    assert found.numbers["lead"].value == lead


@pytest.mark.parametrize(("label", "weights", "lead"), CASES)
def test_the_loss_of_each_counterexample_lies_below_its_bound(label, weights, lead):
    for scale in (5.0, 20.0, 80.0):
        assert 0 <= dense_loss(weights, scale) <= instances.loss_bound(weights, scale)
    assert dense_loss(weights, 80.0) < 1e-4
    assert instances.decay(weights, [0.0])[1] == [len(weights.data.vocabulary) - 1]


@pytest.mark.parametrize(("label", "weights", "lead"), CASES)
def test_each_counterexample_meets_what_the_paper_has_said_before(label, weights, lead):
    data = weights.data
    samples = [(sample.sentence, sample.next_token) for sample in data.samples()]
    assert literal.is_prefix_closed(samples)
    assert len(dict(samples)) == len(samples)  # one next token for each sentence
    if label != "huang2024-app-injective":
        n = {sentence[0]: following for sentence, following in samples if len(sentence) == 1}
        assert sorted(n) == sorted(n.values()) == sorted(data.vocabulary)
        for x, column in weights.W_ov.items():
            assert [v for v in column if column[v] == max(column.values())] == [n[x]]
    if label in ("huang2024-app-well-defined", "huang2024-app-weights-larger"):
        assert literal.read(data).unexplained == 0
    if label == "huang2024-app-well-defined":
        for _, optimal, other in checks.weight_pairs(weights, total=False):
            assert optimal > other


@pytest.mark.parametrize(("label", "weights", "lead"), CASES)
def test_data_that_lack_what_was_said_before_are_no_witness(label, weights, lead):
    check = find_check(label)
    for one, missing in (
        (instances.broken_chain(), "prefix closure"),
        (replace(weights, W_ov=dict.fromkeys(weights.W_ov, next(iter(weights.W_ov.values())))),
         checks.LOSS),
    ):  # fmt: skip
        if label == "huang2024-app-injective" and missing == checks.LOSS:
            continue  # its columns are equal as they are
        with pytest.raises(ValueError, match=f"breaks the hypothesis '{missing}'"):
            replace(check, instances=lambda one=one: [one])()


def test_huang2024_app_peaks_by_hand_the_mean_of_two_columns_ranks_token_0_first():
    columns = instances.peak_outside().W_ov
    mean = {v: (columns["0"][v] + columns["1"][v]) / 2 for v in "012"}
    assert mean == {"0": 3, "1": Fraction(5, 3), "2": Fraction(5, 3)}


def test_huang2024_app_well_defined_by_hand_a_chain_in_closed_data():
    chain = instances.closed_chain()
    # 0 1 2 → n(0) and 1 2 3 2 → n(2), so 0 > 1, 2 and 2 > 1, 3
    assert order.analyse(chain.data).orders["2"].pairs == {
        ("0", "1"), ("0", "2"), ("2", "1"), ("2", "3")
    }  # fmt: skip
    # weights 9 : 3 : 1 in 0 1 2, 3 : 1 in 1 2, 3 : 1 : 1 in 1 2 3, 6 : 1 : 1 in 1 2 3 2
    leads = [Fraction(6, 13), Fraction(2, 4), Fraction(2, 5), Fraction(5, 8)]
    assert instances.separation(chain) == min(leads)


def test_huang2024_app_well_defined_has_no_witness_with_smaller_weights_on_an_optimal_token():
    check = find_check("huang2024-app-well-defined")
    with pytest.raises(ValueError, match=f"breaks the hypothesis '{checks.WEIGHTS}'"):
        replace(check, instances=lambda: [instances.contradictory_orders()])()


def test_huang2024_app_well_defined_by_hand_attention_of_token_0():
    # 3/2 against one 1, then against two: 3/5 and 3/7
    assert Fraction(3, 2) / (Fraction(3, 2) + 1) > Fraction(1, 2)
    assert Fraction(3, 2) / (Fraction(3, 2) + 2) < Fraction(1, 2)
    structure = order.analyse(instances.contradictory_orders().data)
    assert structure.orders["1"].pairs == {("0", "1"), ("1", "0")}


def test_huang2024_app_well_defined_fails_without_closure_and_without_repeated_tokens():
    chain = instances.broken_chain()
    # odds 9 : 3 : 1 in a b q and 3 : 1 : 1 in b c q: leads (9 - 3)/13 and (3 - 1)/5
    assert instances.separation(chain) == min(Fraction(6, 13), Fraction(2, 5))
    assert all(len(set(s.sentence)) == len(s.sentence) for s in chain.data.samples())
    pairs = order.analyse(chain.data).orders["q"].pairs
    assert {("a", "b"), ("b", "c")} <= pairs
    assert ("a", "c") not in pairs
    assert not chain.data.prefix_closed
    repeated, open_chain = checks.check_huang2024_app_well_defined().readings
    assert repeated.verdict is open_chain.verdict is Verdict.REFUTED
    assert repeated.witness.endswith("under query 1: 0 > 1 > 0, and not 0 > 0")
    assert open_chain.witness.endswith("under query q: a > b > c, and not a > c")


def test_huang2024_app_injective_has_one_next_token_for_two_tokens():
    structure = order.analyse(instances.shared_next_token().data)
    assert structure.collocation == {"0": "0", "1": "0"}


def test_huang2024_app_weights_larger_by_hand():
    weights = instances.smaller_weight()
    # logits of 0 and 1 in the sentence 0 1: 2/3 and 5/3
    third = Fraction(1, 3)
    for total in (False, True):
        pairs = list(checks.weight_pairs(weights, total))
        assert pairs == [("0 1 → 1", third, 2 * third)]
    found = judge("huang2024-app-weights-larger", weights)
    assert [one.verdict for one in found.readings] == [Verdict.REFUTED]
    assert (found.numbers["optimal"].shown, found.numbers["other"].shown) == ("1/3", "2/3")
    assert order.analyse(weights.data).realizable.holds is True


def test_huang2024_app_weights_larger_adds_up_the_weights_of_equal_tokens():
    # 1 1 0 → n(1) with equal attention: 1/3 each by position, 2/3 against 1/3 by token
    data = from_samples([("0", "1"), ("1", "0"), (tuple("110"), "0")])
    even = Weights(data, instances.columns("01", (0, 3), (3, 0)), {})
    assert next(checks.weight_pairs(even, False))[1:] == (Fraction(1, 3), Fraction(1, 3))
    assert next(checks.weight_pairs(even, True))[1:] == (Fraction(2, 3), Fraction(1, 3))
    found = judge("huang2024-app-weights-larger", even, total=True)
    assert found.verdict is Verdict.NOT_CONTRADICTED
    assert judge("huang2024-app-weights-larger", even).verdict is Verdict.REFUTED


def test_huang2024_app_weights_larger_is_not_refuted_where_the_weights_are_as_claimed():
    weights = instances.smaller_weight()
    swapped = Weights(weights.data, weights.W_ov, {"1": {"0": Fraction(3)}})
    assert judge("huang2024-app-weights-larger", swapped).verdict is Verdict.NOT_CONTRADICTED


# Assumptions


def test_huang2024_asm_1_by_hand_each_of_three_data_sets_breaks_one_part():
    for one in checks.meant_to_fail():
        assert tuple(order.analyse(one.data).realizable.counts or {}) == one.broken
    met = checks.Expected(example_1(), ("confused-token",))
    assert judge("huang2024-asm-1", met).verdict is Verdict.REFUTED


def test_huang2024_asm_1_counts_an_unexplained_next_token_as_its_failure():
    data = from_samples([(["a"], "b"), (["b"], "c"), (["c"], "a"), (["a", "b"], "a")])
    assert order.analyse(data).realizable.holds is False


def test_huang2024_asm_3_by_hand_a_rival_that_occurs_twice():
    structure = order.analyse(from_sentences(["0 1 1 1", "1 0"]))
    assert structure.realizable.holds
    assert structure.frequent.counts == {"optimal-token-outnumbered": 1}


def test_huang2024_asm_3_computes_both_readings_and_example_1_decides_between_them():
    found = checks.check_huang2024_asm_3()
    assert [one.verdict for one in found.readings] == [Verdict.REFUTED]
    # in S V O → P the optimal O is alone against S and V
    together = judge("huang2024-asm-3", checks.Frequent(example_1(), True), together=True)
    assert "S V O → P" in together.witness


@pytest.mark.parametrize("closed", [True, False])
def test_huang2024_asm_3_formula_is_what_the_library_decides(closed: bool):
    rng = np.random.default_rng(3)
    for _ in range(15):
        data = generate.random_dataset(rng, 5, 12, 6, prefix_closed=closed, frequent=False)
        met = bool(order.analyse(data).frequent.holds)
        assert judge("huang2024-asm-3", checks.Frequent(data, met)).verdict is Verdict.WELL_POSED


# Example 1 and Figure 1


def test_huang2024_ex_1_is_read_off_by_the_words_of_section_4_1():
    assert [one.holds for one in checks.read_off()] == [True] * 8
    # O P S is O P followed by S = n(P): P then lies above O
    wrong = [one for one in checks.read_off("O P S") if not one.holds]
    assert [(one.name, one.left) for one in wrong] == [("order under $P$", "P O")]
    found = checks.check_huang2024_ex_1()
    assert (found.numbers["samples"].shown, found.numbers["max_length"].shown) == ("9", "3")


def test_huang2024_ex_1_file_of_the_examples_folder_is_the_same_data():
    read_back = read(str(Path(__file__).resolve().parents[3] / "examples" / "example1.txt"))
    assert list(read_back.samples()) == list(example_1().samples())


def test_huang2024_fig_1_is_finite_nine_sentences_and_a_wrong_one_is_noticed():
    shown = list(checks.frames())
    assert [one.left for one in shown] == ["S", "V", "O", "V", "O", "O", "O", "P", "S"]
    assert all(one.holds for one in shown)
    # O P S: the printed order has O above P, and S is n(P)
    (wrong,) = [one for one in checks.frames("O P S") if not one.holds]
    assert (wrong.left, wrong.right) == ("O", "P")


def test_huang2024_fig_1_marks_one_token_in_each_of_nine_sentences():
    rows = checks.figure_1_rows(example_1())
    assert len(rows) == 9
    assert (("S", "V", "O"), ("O",), "P") in rows


# What follows from Assumption 1


def test_huang2024_app_near_zero_by_hand_on_the_sentence_s_v_o():
    weights = instances.separating_weights(example_1())
    assert weights.odds["O"] == {"O": 3}
    # S V O: odds 1, 1, 3, so the right logit has 3/5 and others 1/5 of the scale; that is the least
    # lead, as sentences of two tokens have 3/4 against 1/4
    assert instances.separation(weights) == Fraction(2, 5)
    found = judge("huang2024-app-near-zero", example_1())
    assert (found.verdict, found.numbers["least"].shown) == (Verdict.PROVED, "2")  # 2/5 by 1/5


def test_huang2024_app_near_zero_is_tight_where_one_token_is_alone_against_copies_of_another():
    for copies in (1, 2, 5):  # 0 1 ... 1 → n(0), with L_max = copies + 1
        data = from_sentences([" ".join(["0", *["1"] * copies, "1"]), "1 0"])
        lead = instances.separation(instances.separating_weights(data))
        assert lead == Fraction(1, 2 * data.max_length - 1)
        found = judge("huang2024-app-near-zero", data, sharper=Fraction(11, 10))
        assert found.verdict is Verdict.REFUTED


@pytest.mark.parametrize("closed", [True, False])
def test_huang2024_app_near_zero_agrees_with_the_loss_of_the_model(closed: bool):
    rng = np.random.default_rng(5)
    for _ in range(5):
        data = generate.random_dataset(rng, 5, 12, 5, prefix_closed=closed)
        weights = instances.separating_weights(data)
        for scale in (1.0, 100.0):
            bound = (len(data.vocabulary) - 1) * np.exp(-scale / (2 * data.max_length - 1))
            loss = dense_loss(weights, scale)
            assert 0 <= loss <= instances.loss_bound(weights, scale) <= bound


def test_huang2024_app_near_zero_needs_source():
    # a and a a have one answer, whatever the parameters, and different next tokens
    data = from_samples([("a", "a"), ("b", "b"), (("a", "a"), "b")])
    known = order.facts(order.analyse(data))
    assert known["Assumption 1"]
    assert known["prefix closure"]
    assert not known["source"]
    with pytest.raises(ValueError, match="breaks the hypothesis 'source'"):
        replace(find_check("huang2024-app-near-zero"), instances=lambda: [data])()


def test_huang2024_app_near_zero_fails_for_confused_tokens_and_stays_open_without_data():
    confused = instances.contradictory_orders().data
    assert judge("huang2024-app-near-zero", confused).verdict is Verdict.REFUTED
    assert judge("huang2024-app-near-zero").verdict is Verdict.OPEN


def test_huang2024_app_regenerate_by_hand_on_example_1():
    structure = order.analyse(example_1())
    rule = {"S": "V", "SV": "O", "SVO": "P", "OP": "P", "PS": "V"}
    for sentence, label in rule.items():
        assert checks.regenerated(structure, tuple(sentence)) == label
    assert checks.regenerated(structure, ("V", "P")) == "O"  # under P only P is beaten
    assert checks.regenerated(structure, ("S", "V", "P")) == ""  # neither S nor V is beaten


def test_huang2024_app_regenerate_reads_repeated_tokens_in_prefix_closed_data():
    data = from_sentences(["a a a a", "b c b", "c b"])
    structure = order.analyse(data)
    assert order.facts(structure) == dict.fromkeys(order.facts(structure), True)
    for distinct in (True, False):
        assert checks.regenerated(structure, ("a", "a", "a"), distinct) == "a"
    assert data.sample_count == 6  # a, aa, aaa; b, bc; c
    found = judge("huang2024-app-regenerate", data, distinct=False)
    assert (found.verdict, found.numbers["samples"].shown) == (Verdict.PROVED, "6")


def test_huang2024_app_regenerate_as_printed_fails_without_prefix_closure():
    data = instances.repeated_token()
    assert order.analyse(data).realizable.holds is True
    found = judge("huang2024-app-regenerate", data, distinct=False)
    assert "a a → b, by the rule nothing" in found.witness
    assert judge("huang2024-app-regenerate", data).verdict is Verdict.PROVED
    readings = checks.check_huang2024_app_regenerate(trials=2).readings
    assert [one.verdict for one in readings] == [Verdict.NOT_CONTRADICTED, Verdict.REFUTED]
    assert [one.holds for one in checks.undecided_pairs(confused=True)] == [False]


def test_huang2024_app_length_2_by_hand_notices_a_wrong_collocation_and_an_unseen_start():
    label = "huang2024-app-length-2"
    swap = from_samples([("a", "b"), ("b", "a")], "swap")
    assert judge(label, checks.Collocated(swap, {})).verdict is Verdict.PROVED
    assert judge(label, checks.Collocated(swap, {"a": "a"})).verdict is Verdict.REFUTED
    found = judge(label, *checks.partial_collocation())
    assert found.witness == "the sentence a b a, b is followed by nothing"
    partial = checks.partial_collocation()[0]
    assert order.analyse(partial.data, partial.given).realizable.holds is True


def test_huang2024_app_length_2_needs_the_beginnings_of_sentences():
    (open_data,) = checks.without_beginnings()
    assert order.analyse(open_data.data, open_data.given).realizable.holds is True
    starts = {sample.sentence[0] for sample in open_data.data.samples()}
    assert starts == set(open_data.data.vocabulary)  # every token starts a sentence
    found = judge("huang2024-app-length-2", open_data)
    assert found.verdict is Verdict.REFUTED
    assert found.witness == "a b → a and b → a, a is followed by nothing"
    readings = checks.check_huang2024_app_length_2(trials=2).readings
    assert [one.verdict for one in readings] == [Verdict.REFUTED, Verdict.REFUTED]


# The first ground-truth model


def test_huang2024_app_first_model_by_hand_and_without_a_start():
    one = checks.Modelled((1, 0), (0, 0))  # 0 → 1, 1 → 0; after 0 1 and after 1 0 comes 0
    assert [s.sentence for s in one.data.samples()] == [("0",), ("0", "1"), ("1",), ("1", "0")]
    assert order.analyse(one.data).collocation == {"0": "1", "1": "0"}
    assert judge("huang2024-app-first-model", one).verdict is Verdict.PROVED
    assert judge("huang2024-app-first-model", one, second=True).verdict is Verdict.REFUTED
    found = judge("huang2024-app-first-model", one, first_only=True)
    assert found.witness.endswith("n(1)$ is not defined")


# Assumption 3 in practice


def test_huang2024_app_asm_3_practice_counts_by_hand():
    # n swaps: 0 → 1 and 1 → 0; 0 1 → 1 and 0 1 1 → 1 are decided by 0, and 1 then occurs twice
    half = from_sentences(["0 1 1 1", "1 0"], "two words")
    assert checks.frequent_share(half) == (1, 2)
    once = from_sentences(["0 1 1", "1 0"], "two words")
    assert checks.frequent_share(once) == (1, 1)
    assert checks.frequent_share(once, strict=True) == (0, 1), "one occurrence each is a tie"
    # 0 1 → 0 is decided by 1, a tie; 0 1 0 → 1 is decided by 0, which occurs twice.
    twice = from_sentences(["0 1 0 1", "1 0"], "two words")
    assert checks.frequent_share(twice) == (2, 2)
    assert checks.frequent_share(twice, strict=True) == (1, 2)
    label = "huang2024-app-asm-3-practice"
    assert judge(label, checks.Text(1, "half", (half,))).verdict is Verdict.NOT_SEEN
    assert judge(label, checks.Text(1, "once", (once,))).verdict is Verdict.SEEN
    assert judge(label, checks.Text(1, "both", (half, once))).verdict is Verdict.UNDECIDED


def test_huang2024_app_asm_3_practice_says_what_is_not_at_hand():
    found = judge("huang2024-app-asm-3-practice", checks.Text(1, "the speech", ()))
    assert found.verdict is Verdict.UNDECIDED
    assert found.left_out == {
        "the speech is not at hand, or none of its sentences has two tokens": 1
    }


def test_huang2024_app_asm_3_practice_agrees_with_the_assumption_of_realizable_data():
    for data in checks.realizable_data(seed=5, trials=12):
        met, tried = checks.frequent_share(data)
        if order.analyse(data).frequent.holds:
            assert met == tried > 0


def test_what_the_checks_say_does_not_depend_on_the_hash_of_texts():
    script = (
        "from ntpbook.huang2024.s4_realizable import checks as c;"
        "print(c.check_huang2024_app_well_defined().witness, c.check_huang2024_app_roles().witness)"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(said) == 1


def test_the_answers_to_the_exercises() -> None:
    swapped = [(("a",), "b", 1), (("b",), "a", 1), (("a", "b"), "b", 1)]
    assert order.analyse(from_samples(swapped)).realizable.holds
    more = order.analyse(from_samples([*swapped, (("a", "a", "b"), "a", 1)]))
    assert not more.realizable.holds
    right, others = Fraction(3, 3 + 2), Fraction(1, 3 + 2)  # S V O: O weighs three times as much
    assert right - others == Fraction(2, 5) > Fraction(1, 2 * 3 - 1)
    r = math.sqrt(2)
    leads = [(r - 1) / (r + 1), (2 - r) / (2 + r)]
    assert leads == pytest.approx([3 - 2 * math.sqrt(2)] * 2)
    for other in (1.3, 1.5):  # one lead rises with r and the other falls
        assert min((other - 1) / (other + 1), (2 - other) / (2 + other)) < leads[0]
