"""Claims of the page on max-margin attention: by hand, by other means, and with planted errors."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb
from pathlib import Path

import literal
import numpy as np
import pytest
from hypothesis import given, settings
from strategies import realizable_data

from ntpbook.catalogue import find_check
from ntpbook.huang2024.s6_max_margin import checks, figures
from ntpbook.huang2024.s6_max_margin import orders as judged
from ntpbook.shared.constraints import constraints
from ntpcore.data import examples
from ntpcore.data.dataset import Dataset, from_samples, from_sentences, read
from ntpcore.data.order import PartialOrder, analyse, facts
from ntpcore.exact import margin
from ntpcore.exact.margin import Solution
from ntpverdicts.claims import Check, Verdict
from ntpverdicts.maths import plain

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
EXAMPLE_1 = from_sentences(["S V O P", "V O P", "O P P", "P S V"])
FIVE_TOKENS = read(str(EXAMPLES / "five_tokens.jsonl"))
FIVE_TOKEN_ORDER = PartialOrder.of("q", {("a", "c"), ("a", "d"), ("a", "q"), ("b", "q")})
QUERY_O = PartialOrder.of("O", {("O", "S"), ("O", "V")})
COMPLETE = PartialOrder.of("q", product("ab", "qcd"))
PRESUMING = [*judged.JUDGED]  # claims that presume prefix closure and source


def solved(data: Dataset) -> checks.Solved:
    """A data set with its exact columns."""
    orders = analyse(data).orders or {}
    return checks.Solved(data, orders, margin.W_kq_star(orders))


def judge(label: str, *orders: PartialOrder, **changes: object) -> Check:
    """The check of a claim on these orders, with some arguments of its body changed."""
    presumed = {"presumed": False} if label in PRESUMING else {}  # orders alone have no data
    return find_check(label).judge(judged.certified(orders), **presumed, **changes)


def drawn_orders(number: int, seed: int) -> list[PartialOrder]:
    """Random orders of up to three by four tokens; at least a third break the Hall condition."""
    every = list(examples.small_orders(3, 4, 9))
    broken = [order for order in every if not literal.hall(order.pairs)]
    rng = random.Random(seed)
    return [rng.choice(broken if i % 3 == 0 else every) for i in range(number)]


def minimise_whole(data: Dataset) -> dict[str, dict[str, float]]:
    """W_kq* of a data set from equation (3) itself: one variable per entry of the matrix."""
    import cvxpy as cp

    collocation = {s.sentence[0]: s.next_token for s in data.samples() if len(s.sentence) == 1}
    number = {token: i for i, token in enumerate(data.vocabulary)}
    W = cp.Variable((len(number), len(number)))
    margins = [
        W[number[x], number[s.sentence[-1]]] - W[number[y], number[s.sentence[-1]]] >= 1
        for s in data.samples()
        for x, y in product(dict.fromkeys(s.sentence), repeat=2)
        if collocation[x] == s.next_token != collocation[y]
    ]
    cp.Problem(cp.Minimize(cp.sum_squares(W)), margins).solve(solver=cp.CLARABEL)
    return {q: {x: float(W.value[number[x], number[q]]) for x in number} for q in number}


def agrees_with_whole(data: Dataset, columns: Mapping[str, Solution]) -> bool:
    """Whether exact columns, filled up with zeros, are those of `minimise_whole`."""
    whole = minimise_whole(data)
    zeros = dict.fromkeys(data.vocabulary, Fraction(0))
    return all(
        literal.nearly(zeros | (columns[q].scores if q in columns else {}), whole[q]) for q in whole
    )


# All checks of the chapter


# Assumption 2


def test_huang2024_asm_2_by_hand_for_two_tokens():
    in_the_plane, on_a_line = checks.Size(2, 2), checks.Size(2, 1)
    assert (
        find_check("huang2024-asm-2").judge([in_the_plane, on_a_line]).verdict is Verdict.WELL_POSED
    )
    # without the need for d >= |V| two tokens on a line would have to be orthonormal
    found = find_check("huang2024-asm-2").judge([on_a_line], spare=1)
    witness = plain(found.witness)
    assert (found.verdict, witness) == (Verdict.REFUTED, "|V| = 2, d = 1: violated by 1")


def test_huang2024_asm_2_agrees_with_the_rank_of_random_vectors():
    rng = np.random.default_rng(2)
    for one in checks.sizes(6):
        vectors = rng.standard_normal((one.vocabulary, one.dimension))
        independent = np.linalg.matrix_rank(vectors) == one.vocabulary
        assert independent == (one.dimension >= one.vocabulary)


# Equation (2)


def test_huang2024_eq_2_holds_for_two_tokens_by_hand():
    assert margin.W_ov_star({"a": "b", "b": "a"})["a"] == {
        "a": Fraction(-1, 2),
        "b": Fraction(1, 2),
    }


# Equation (3)


def sample_violations(
    data: Dataset, columns: Mapping[str, Mapping[str, Fraction]]
) -> tuple[list[str], int]:
    """The constraints of (3) that these columns break, sample by sample, and how many there are."""
    wrong, number = [], 0
    for one in constraints(data):
        column = columns.get(one.query, {})
        margin_of_pair = column.get(one.upper, Fraction(0)) - column.get(one.lower, Fraction(0))
        number += 1
        if margin_of_pair < 1:
            wrong.append(f"{one.sample}: {one.upper} - {one.lower} = {margin_of_pair}")
    return wrong, number


def test_huang2024_eq_3_holds_for_example_1_by_hand():
    # SV, OP and PS compare one pair each, SVO two, VO one: query O repeats its pair with V
    asked = {(one.sample, one.upper, one.lower) for one in constraints(EXAMPLE_1)}
    assert asked == {
        ("S V", "V", "S"), ("S V O", "O", "S"), ("S V O", "O", "V"),
        ("V O", "O", "V"), ("O P", "O", "P"), ("P S", "S", "P"),
    }  # fmt: skip
    columns = {q: one.scores for q, one in solved(EXAMPLE_1).columns.items()}
    assert sample_violations(EXAMPLE_1, columns) == ([], 6)
    found = find_check("huang2024-eq-3").judge([solved(EXAMPLE_1)])
    assert (found.verdict, found.numbers["constraints"].shown) == (Verdict.WELL_POSED, "6")


def test_huang2024_eq_3_agrees_with_clarabel_on_the_whole_matrix():
    for data in (EXAMPLE_1, FIVE_TOKENS):
        assert agrees_with_whole(data, solved(data).columns)


@settings(max_examples=40)
@given(realizable_data())
def test_huang2024_eq_3_is_never_refuted_by_realizable_data(data: Dataset):
    assert find_check("huang2024-eq-3").judge([solved(data)]).verdict is Verdict.WELL_POSED


@pytest.mark.parametrize("factor", [Fraction(9, 10), Fraction(11, 10), Fraction(-1)])
def test_huang2024_eq_3_notices_scores_of_another_length(factor: Fraction):
    found = find_check("huang2024-eq-3").judge([solved(EXAMPLE_1)], factor=factor)
    assert found.verdict is Verdict.REFUTED
    assert sample_violations(EXAMPLE_1, {})[0] != []


def test_huang2024_eq_3_notices_an_entry_at_a_token_that_is_not_compared():
    one = solved(EXAMPLE_1)
    moved = replace(one.columns["P"], scores={**one.columns["P"].scores, "V": Fraction(1, 9)})
    found = find_check("huang2024-eq-3").judge([replace(one, columns={**one.columns, "P": moved})])
    assert found.verdict is Verdict.REFUTED
    assert "entry ('V', 'P')" in found.witness


# Equation (14)


def test_huang2024_eq_14_by_hand_for_a_rational_rotation():
    # the tokens (3/5, 4/5) and (-4/5, 3/5): the columns of U
    U = np.array([[Fraction(3, 5), Fraction(-4, 5)], [Fraction(4, 5), Fraction(3, 5)]])
    W = np.array([[Fraction(1, 2), Fraction(0)], [Fraction(-1, 2), Fraction(0)]])
    R = U @ W @ U.T
    assert R.tolist() == [
        [Fraction(21, 50), Fraction(28, 50)], [Fraction(3, 50), Fraction(4, 50)]
    ]  # fmt: skip
    assert find_check("huang2024-eq-14").judge([checks.Rotated("", U, W)]).verdict is Verdict.PROVED


def test_huang2024_eq_14_rotations_are_orthogonal_and_no_identities():
    for one in checks.rotations(largest=4):
        d = len(one.U)
        assert (checks._identity(d) == one.U @ one.U.T).all()
        assert (checks._identity(d) != one.U).any()


# Equation (15)


def test_huang2024_eq_15_adds_up_example_1_by_hand():
    columns = solved(EXAMPLE_1).columns
    assert [margin.norm_squared(column.scores) for column in columns.values()] == [
        Fraction(1, 2),
        Fraction(1, 2),
        Fraction(2, 3),
        Fraction(1, 2),
    ]
    assert margin.norm_squared(c.scores for c in columns.values()) == Fraction(13, 6)
    assert find_check("huang2024-eq-15").judge([solved(EXAMPLE_1)]).verdict is Verdict.PROVED


def test_huang2024_eq_15_agrees_with_clarabel_on_two_queries():
    n = {t: f"t{(i + 1) % 6}" for i, t in enumerate(f"t{i}" for i in range(6))}
    samples = [([token], following) for token, following in n.items()]
    samples += [(["t2", "t4", "t5", "t0"], "t3"), (["t3", "t0"], "t4")]
    samples += [(["t2", "t5", "t4", "t1"], "t3"), (["t3", "t1"], "t4"), (["t0", "t5", "t1"], "t1")]
    one = solved(from_samples(samples))
    assert [len(column.blocks) for column in one.columns.values()] == [2, 1]
    assert agrees_with_whole(one.data, one.columns)
    assert find_check("huang2024-eq-15").judge([one]).verdict is Verdict.PROVED


def test_huang2024_eq_15_notices_a_pair_that_no_sample_asks_for_and_a_missing_column():
    check = find_check("huang2024-eq-15")
    five = solved(FIVE_TOKENS)
    assert check.judge([five], all_below=True).verdict is Verdict.REFUTED  # b over c and d
    assert check.judge([five], skipped=1).verdict is Verdict.REFUTED
    one = replace(five, orders={"q": PartialOrder.of("q", FIVE_TOKEN_ORDER.pairs - {("b", "q")})})
    assert check.judge([one]).verdict is Verdict.REFUTED
    assert check.judge([solved(from_sentences(["a b", "b a"]))]).verdict is Verdict.OPEN


# Complete orders


def test_ours_complete_order_by_hand():
    # k = 1, m = 2: scores 2/3, -1/3, -1/3; each of the two pairs carries 1/3
    multipliers = dict.fromkeys(QUERY_O.pairs, Fraction(1, 3))
    scores = margin.closed_form_scores(QUERY_O)
    assert scores == {"O": Fraction(2, 3), "S": Fraction(-1, 3), "V": Fraction(-1, 3)}
    assert margin.certificate_errors(QUERY_O, scores, multipliers) == []


def test_ours_complete_order_refutes_k_over_k_plus_m_for_an_optimal_token():
    """The planted error that must stay; where k = m it is none."""
    check = find_check("ours-complete-order")
    assert {"exchanged": True} in [variant.changes for variant in check.planted.values()]
    assert judge("ours-complete-order", COMPLETE, exchanged=True).verdict is Verdict.REFUTED
    square = PartialOrder.of("q", product("ab", "cq"))
    assert judge("ours-complete-order", square, exchanged=True).verdict is Verdict.PROVED


# Block form


def test_ours_block_form_of_five_tokens_by_hand():
    # a with c and d: 2/3 and -1/3; b with q: 1/2 and -1/2
    found = judge("ours-block-form", FIVE_TOKEN_ORDER, COMPLETE)
    assert (found.verdict, found.numbers["blocks"].shown) == (Verdict.PROVED, "2")
    assert margin.norm_squared(margin.solve_scores(FIVE_TOKEN_ORDER)) == Fraction(7, 6)


def test_ours_block_form_leaves_zero_to_a_token_that_is_not_compared():
    assert judge("ours-block-form", QUERY_O, apart=Fraction(0)).verdict is Verdict.PROVED
    found = judge("ours-block-form", QUERY_O, apart=Fraction(1, 10))
    assert "a token that is not compared" in found.witness


def test_ours_block_form_needs_more_than_one_block():
    assert judge("ours-block-form", FIVE_TOKEN_ORDER, joined=True).verdict is Verdict.REFUTED
    assert judge("ours-block-form", COMPLETE, joined=True).verdict is Verdict.PROVED


def test_a_column_without_its_certificate_cannot_be_made():
    right = margin.solve(QUERY_O)
    doubled = replace(right, scores={token: 2 * score for token, score in right.scores.items()})
    with pytest.raises(ArithmeticError, match="query 'O': no certificate"):
        judged.Column(QUERY_O, doubled)
    with pytest.raises(ArithmeticError, match="no certificate"):
        judged.Column(QUERY_O, replace(right, multipliers={}))


# Proposition 2, corrected


def test_huang2024_prop_2_corrected_by_hand():
    # k = 2, m = 3, and b alone has one neighbour: 2 * 1 < 3 * 1
    assert not checks.hall_by_subsets(FIVE_TOKEN_ORDER)
    assert checks.hall_by_subsets(COMPLETE)
    found = judge("huang2024-prop-2-corrected", FIVE_TOKEN_ORDER, COMPLETE)
    assert (found.verdict, found.numbers["right"].shown) == (Verdict.PROVED, "1")


def test_huang2024_prop_2_corrected_needs_sets_of_several_tokens():
    # a and b each have 2 of 4 neighbours, 3 * 2 >= 4; together still 2, and 3 * 2 < 4 * 2
    pairs = {*product("ab", "qt"), *product("c", "qtuv")}
    order = PartialOrder.of("q", pairs)
    assert checks.hall_by_subsets(order, largest=1)
    assert not checks.hall_by_subsets(order)
    assert judge("huang2024-prop-2-corrected", order).verdict is Verdict.PROVED
    assert judge("huang2024-prop-2-corrected", order, largest=1).verdict is Verdict.REFUTED


# Propositions 2 and 4


def closed(*lines: str) -> list[judged.Column]:
    """The columns of text lines, with all their beginnings."""
    return judged.columns_of(analyse(from_sentences(lines)))


def test_facts_in_force_by_hand():
    assert facts(analyse(EXAMPLE_1)) == dict.fromkeys(judged.PRESUMED, True)
    lacking = {"prefix closure": judged.without_closure(), "source": judged.without_source()}
    for name, columns in lacking.items():
        for one in columns:
            assert one.facts == dict.fromkeys(judged.PRESUMED, True) | {name: False}
    shared = closed("a c", "b c", "c a", "a c a")  # n(a) = n(b)
    assert {one.facts["Assumption 1"] for one in shared} == {False}


def test_facts_in_force_agree_with_the_words_of_the_paper():
    """Of all two lines on two tokens, whether or not anything is in force."""
    words = ["".join(line) for length in (2, 3, 4) for line in product("ab", repeat=length)]
    for n, pair in product(("ab ba", "aa bb", "ab bb"), product(words, repeat=2)):
        lines = [tuple(line) for line in (*n.split(), *pair)]
        samples = literal.samples_of_lines(lines)
        read_off = literal.read(from_sentences(lines))
        found = facts(analyse(from_sentences(lines)))
        assert found["prefix closure"] == literal.is_prefix_closed(samples)
        if read_off.orders is None:
            assert not found["Assumption 1"]
            continue
        assert found["source"] == (read_off.unexplained == 0)
        assert found["Assumption 1"] == (not read_off.shared and not read_off.confused)


@pytest.mark.parametrize("label", ["huang2024-prop-2", "huang2024-prop-4"])
def test_huang2024_prop_2_and_4_hold_for_example_1_by_hand(label: str):
    found = find_check(label).judge(judged.columns_of(analyse(EXAMPLE_1)))
    assert (found.verdict, found.tried) == (Verdict.PROVED, 4)
    # O over S and V: 2/3 and -1/3; P is not compared
    (query_o,) = (c for c in judged.columns_of(analyse(EXAMPLE_1)) if c.order == QUERY_O)
    assert query_o.others == ("P",)
    assert judged._formula(query_o, "printed", 0) == {
        "P": 0, "O": Fraction(2, 3), "S": Fraction(-1, 3), "V": Fraction(-1, 3)
    }  # fmt: skip


def test_closed_data_are_closed_and_contain_example_1():
    every = list(judged.closed_data(3, 4))
    assert all(
        literal.is_prefix_closed([(s.sentence, s.next_token) for s in data.samples()])
        for data in every
    )
    assert all(facts(analyse(data))["source"] for data in every)
    assert any(not facts(analyse(data))["Assumption 1"] for data in every)  # orders are tested
    wanted = PartialOrder.of("c", {("c", "a"), ("c", "b")})  # S, V and O under the query O
    assert wanted in {one.order for one in judged.closed_columns(4, 4)}


@pytest.mark.parametrize("label", PRESUMING)
def test_an_instance_without_a_fact_in_force_is_no_witness(label: str):
    for columns in (judged.without_closure(), judged.without_source()):
        broken = replace(find_check(label), instances=lambda columns=columns: columns)
        with pytest.raises(ValueError, match="the instance breaks the hypothesis"):
            broken()


@pytest.mark.parametrize("label", ["huang2024-prop-2", "huang2024-prop-4"])
def test_huang2024_prop_2_and_4_need_prefix_closure_by_five_tokens(label: str):
    (five,) = judged.without_closure()
    order = (analyse(FIVE_TOKENS).orders or {})["q"]
    assert order == FIVE_TOKEN_ORDER == examples.FIVE_TOKENS == five.order
    found = judge(label, QUERY_O, order)
    numbers = {name: one.shown for name, one in found.numbers.items()}
    assert found.verdict is Verdict.REFUTED
    assert (numbers["printed"], numbers["true"], numbers["fewest"]) == ("6/5", "7/6", "2")
    assert (numbers["failed"], numbers["tried"]) == ("1", "2")
    assert found.witness.startswith("query q: a > c, d, q; b > q, squared norm 6/5")


@pytest.mark.parametrize("label", ["huang2024-prop-2", "huang2024-prop-4"])
def test_huang2024_prop_2_and_4_need_source_by_seven_tokens(label: str):
    (seven,) = judged.without_source()
    written = read(str(EXAMPLES / "seven_tokens.txt"))
    assert list(written.samples()) == list(from_sentences(judged.SEVEN_TOKENS).samples())
    assert seven.order.below == {"a": ("A", "q", "r", "s"), "b": ("B", "q")}
    # {a; A, r, s}: 1 * 3 / 4; {b; B, q}: 1 * 2 / 3; as one block 2 * 5 / 7
    assert margin.norm_squared(seven.solution.scores) == Fraction(3, 4) + Fraction(2, 3)
    assert margin.norm_squared(margin.closed_form_scores(seven.order)) == Fraction(10, 7)
    scores = literal.minimise(seven.order.pairs)
    assert sum(score**2 for score in scores.values()) == pytest.approx(17 / 12, abs=1e-3)
    found = find_check(label)(max_tokens=3)
    assert [one.verdict for one in found.readings] == [
        Verdict.REFUTED, Verdict.REFUTED, Verdict.PROVED
    ]  # fmt: skip
    assert found.readings[1].witness.endswith("10/7 by the formula, 17/12 at the optimum")


def test_huang2024_prop_2_fails_first_on_the_five_tokens_as_the_page_names_them():
    first = next(
        one for one in judged.small_columns(3) if not literal.hall(one.order.pairs)
    )  # in the order in which the page takes them
    assert first.order == examples.FIVE_TOKENS
    assert first.name == "query q: a > c, d, q; b > q"


def test_huang2024_prop_2_counts_the_orders_on_which_the_formula_fails():
    wider = PartialOrder.of("q", FIVE_TOKEN_ORDER.pairs | {("e", "q")})  # a, b and e are optimal
    found = judge("huang2024-prop-2", FIVE_TOKEN_ORDER, wider, COMPLETE)
    assert found.numbers["failed"].shown == "2"
    assert judge("huang2024-prop-2", wider).numbers["fewest"].shown == "3"


def test_huang2024_prop_2_notices_a_score_at_a_token_that_is_not_compared():
    columns = closed("a b b", "b a", "c c")
    found = find_check("huang2024-prop-2").judge(columns, apart=Fraction(1, 9))
    assert found.verdict is Verdict.REFUTED


def test_huang2024_prop_4_asks_for_margins_of_one():
    found = judge("huang2024-prop-4", COMPLETE, margin_of_pairs=2)
    assert (found.verdict, found.numbers["failed"].shown) == (Verdict.REFUTED, "0")


def test_huang2024_prop_4_asks_for_equal_scores_of_non_optimal_tokens():
    assert judge("huang2024-prop-4", QUERY_O).verdict is Verdict.PROVED  # S and V score -1/3 each
    found = judge("huang2024-prop-4", QUERY_O, apart=Fraction(1, 10))
    assert (found.verdict, found.numbers["failed"].shown) == (Verdict.REFUTED, "0")
    uneven = {"a": Fraction(2, 3), "b": Fraction(1, 2), "c": Fraction(-1, 3), "q": Fraction(-1, 2)}
    scores = margin.solve_scores(FIVE_TOKEN_ORDER)  # without prefix closure they differ
    assert {x: scores[x] for x in uneven} == uneven


@pytest.mark.parametrize("label", judged.JUDGED)
def test_claims_on_data_stay_open_without_an_order(label: str):
    assert judged.JUDGED[label].judge([]).verdict is Verdict.OPEN


@pytest.mark.parametrize("label", judged.JUDGED)
def test_claims_on_data_are_open_where_the_data_lack_what_is_presumed(label: str):
    assert judged.on_data(label, judged.columns_of(analyse(EXAMPLE_1))).verdict is Verdict.PROVED
    for name, columns in (
        ("prefix closure", judged.without_closure()),
        ("source", judged.without_source()),
    ):
        found = judged.on_data(label, columns)
        assert found.verdict is Verdict.OPEN
        assert found.evidence.startswith(f"The data lack {name}, which the statement presumes.")
        assert "1 of 1 partial order" in found.evidence
        assert found.witness.startswith("query q: a > ")


# Equation (16)


def tight_and_not_negative(order: PartialOrder) -> bool:
    """Whether non-negative multipliers make the gradient of (16) vanish, by a linear program."""
    import cvxpy as cp

    pairs = sorted(order.pairs)
    sent = cp.Variable(len(pairs), nonneg=True)
    gradient = [
        2
        - 2 * sum(sent[i] for i, (x, _) in enumerate(pairs) if x == a)
        - 2 * sum(sent[i] for i, (_, y) in enumerate(pairs) if y == b)
        == 0
        for a, b in pairs
    ]
    problem = cp.Problem(cp.Minimize(0), gradient)
    problem.solve(solver=cp.CLARABEL)
    return problem.status == cp.OPTIMAL


def test_huang2024_eq_16_by_hand_for_one_optimal_token():
    # O over S and V: multipliers 1/3 each, L* = -(2/3)^2 - 2 (1/3)^2 + 2 * 2/3 = 2/3
    (one,) = judged.certified([QUERY_O])
    third = dict.fromkeys(QUERY_O.pairs, Fraction(1, 3))
    assert one.solution.multipliers == third
    assert judged._dual(*judged._sums(one, third), 2) == Fraction(2, 3)
    assert judge("huang2024-eq-16", QUERY_O).verdict is Verdict.PROVED


def test_huang2024_eq_16_by_hand_for_five_tokens():
    # at the maximum a sends 1/3 to each of c and d, and b 1/2 to q: along a > q the derivative of
    # L* is 2 - 2 * 2/3 - 2 * 1/2 = -1/3
    found = judge("huang2024-eq-16", COMPLETE, FIVE_TOKEN_ORDER)
    assert found.verdict is Verdict.REFUTED
    assert plain(found.witness).endswith(
        "the derivative of L* along the multiplier of a > q is -1/3"
    )


def test_huang2024_eq_16_dual_is_the_least_value_of_the_lagrangian_by_clarabel():
    import cvxpy as cp

    rng = np.random.default_rng(16)
    for order in drawn_orders(6, seed=16):
        (one,) = judged.certified([order])
        multipliers = {pair: Fraction(int(rng.integers(0, 9)), 8) for pair in order.pairs}
        names = sorted(order.compared)
        w = cp.Variable(len(names))
        lagrangian = cp.sum_squares(w) - 2 * sum(
            float(value) * (w[names.index(a)] - w[names.index(b)] - 1)
            for (a, b), value in multipliers.items()
        )
        least = cp.Problem(cp.Minimize(lagrangian)).solve(solver=cp.CLARABEL)
        assert least == pytest.approx(
            float(judged._dual(*judged._sums(one, multipliers), 2)), abs=1e-5
        )


def test_huang2024_eq_16_agrees_with_a_linear_program():
    outcomes = set()
    for order in drawn_orders(25, seed=16):
        refuted = judge("huang2024-eq-16", order).verdict is Verdict.REFUTED
        assert tight_and_not_negative(order) != refuted
        outcomes.add(refuted)
    assert outcomes == {True, False}


def test_huang2024_eq_16_shows_the_first_of_two_orders_of_one_size():
    other = PartialOrder.of("r", {("a", "c"), ("a", "d"), ("a", "r"), ("b", "r")})
    for first, second in ((FIVE_TOKEN_ORDER, other), (other, FIVE_TOKEN_ORDER)):
        found = judge("huang2024-eq-16", first, second)
        assert found.numbers["failed"].shown == "2"
        assert found.witness.startswith(f"query {first.query}: ")


def test_huang2024_eq_16_does_not_refute_complete_orders():
    found = judge("huang2024-eq-16", COMPLETE, QUERY_O)
    assert (found.verdict, found.tried) == (Verdict.PROVED, 2)


# The last step of D.1


def test_huang2024_app_one_level_by_hand():
    # k = 1, m = 2: x = -1/3, and (x + 1)^2 + 2 x^2 = 4/9 + 2/9
    check = find_check("huang2024-app-one-level")
    assert check.judge(judged.certified([QUERY_O]), presumed=False).verdict is Verdict.PROVED
    found = check.judge(judged.certified([QUERY_O]), presumed=False, exchanged=True)
    assert found.verdict is Verdict.REFUTED
    apart = PartialOrder.of("q", {("a", "q"), ("b", "c")})
    assert checks.joined_by_pairs(COMPLETE) == [{"a", "b", "c", "d", "q"}]
    assert sorted(map(sorted, checks.joined_by_pairs(apart))) == [["a", "q"], ["b", "c"]]


# Small orders and figures


def test_small_orders_are_all_of_them():
    def number(k: int, m: int) -> int:
        """Graphs on k and m named tokens without isolated ones, by inclusion and exclusion."""
        return sum((-1) ** i * comb(k, i) * (2 ** (k - i) - 1) ** m for i in range(k + 1))

    orders = list(examples.small_orders(3, 3, 6))
    sizes = [(k, m) for k, m in product(range(1, 4), repeat=2) if k * m <= 6]
    assert len(orders) == len(set(orders)) == sum(number(k, m) for k, m in sizes)


def test_an_order_has_data_only_if_its_query_lies_below_every_optimal_token():
    assert examples.has_data(PartialOrder.of("q", {("a", "q"), ("b", "q")}))
    assert not examples.has_data(PartialOrder.of("q", {("a", "q"), ("b", "c")}))
    assert examples.has_data(PartialOrder.of("q", {("q", "a"), ("q", "b")}))
    assert not examples.has_data(PartialOrder.of("q", {("q", "a"), ("b", "a")}))


def test_realized_data_have_the_order_and_satisfy_assumption_1():
    for order in drawn_orders(20, seed=8):
        if examples.has_data(order):
            found = analyse(examples.realize(order))
            assert found.realizable.holds
            assert (found.orders or {})["q"] == order


def test_failures_are_counted_by_size():
    columns = judged.certified([FIVE_TOKEN_ORDER, COMPLETE, QUERY_O])
    assert figures.failure_counts(columns) == {(2, 3): (1, 2), (1, 2): (0, 1)}
    assert figures.with_most_blocks(columns, most_tokens=5) == FIVE_TOKEN_ORDER
    assert figures.with_most_blocks(columns, most_tokens=3) == QUERY_O


def test_the_answers_to_the_exercises() -> None:
    for m in (1, 2, 7):
        lonely = margin.solve_scores(PartialOrder.of("y0", {("x", f"y{i}") for i in range(m)}))
        assert lonely == {"x": Fraction(m, m + 1)} | {
            f"y{i}": Fraction(-1, m + 1) for i in range(m)
        }
        assert margin.norm_squared([lonely]) == Fraction(m, m + 1) < 1
    path = PartialOrder.of("d", {("a", "c"), ("a", "d"), ("b", "d")})
    found = margin.solve(path)
    assert set(map(abs, found.scores.values())) == {Fraction(1, 2)}
    assert found.scores == margin.closed_form_scores(path)
    for r in range(1, 7):
        pairs = {("a", "q"), ("b", "q")} | {("a", f"y{i}") for i in range(r)}
        order = PartialOrder.of("q", pairs)
        shortest = margin.norm_squared([margin.solve_scores(order)])
        printed = margin.norm_squared([margin.closed_form_scores(order)])
        assert margin.satisfies_hall(order) == (r < 2)
        assert shortest == Fraction(1, 2) + Fraction(r, r + 1)
        assert printed == Fraction(2 * (r + 1), r + 3)
        assert printed - shortest == Fraction((r - 1) ** 2, 2 * (r + 1) * (r + 3))
