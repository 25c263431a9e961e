"""Claims of the page on max-margin attention: by hand, by other means, and with planted errors."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import islice, product
from math import comb
from pathlib import Path

import cvxpy as cp
import literal
import numpy as np
import pytest
from hypothesis import given, settings
from strategies import realizable_data

from ntpbook.catalogue import CATALOGUE
from ntpbook.huang2024.s6_max_margin import max_margin
from ntpcore.commands import check as report
from ntpcore.commands import judge as on_data
from ntpcore.data.dataset import Dataset, InputError, from_samples, from_sentences, read
from ntpcore.data.order import PartialOrder, analyse
from ntpcore.exact import margin
from ntpcore.exact.margin import Solution
from ntpcore.verdicts.claims import Check, Verdict

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
EXAMPLE_1 = from_sentences(["S V O P", "V O P", "O P P", "P S V"])
FIVE_TOKENS = read(str(EXAMPLES / "five_tokens.jsonl"))
FIVE_TOKEN_ORDER = PartialOrder.of("q", {("a", "c"), ("a", "d"), ("a", "q"), ("b", "q")})
QUERY_O = PartialOrder.of("O", {("O", "S"), ("O", "V")})
COMPLETE = PartialOrder.of("q", product("ab", "qcd"))


def drawn_orders(count: int, seed: int) -> list[PartialOrder]:
    """Random orders of up to four by four tokens."""
    rng = random.Random(seed)
    every = list(max_margin.small_orders(3, 4, 9))
    return [rng.choice(every) for _ in range(count)]


def minimise_whole(data: Dataset) -> dict[str, dict[str, float]]:
    """W_kq* of a data set from equation (3) itself: one variable per entry of the matrix."""
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


def wrong_solver(change: Callable[[Fraction], Fraction]) -> Callable[[PartialOrder], Solution]:
    """The solver with all its scores changed."""
    right = margin.solve

    def solve(order: PartialOrder) -> Solution:
        solution = right(order)
        scores = {token: change(score) for token, score in solution.scores.items()}
        return Solution(scores, solution.blocks, solution.multipliers)

    return solve


# Assumption 2


def test_huang2024_asm_2_two_tokens_need_two_dimensions():
    check = max_margin.check_huang2024_asm_2(2)
    assert (check.verdict, check.tried) == (Verdict.PROVED, 4)
    assert max_margin._orthonormal([[1, 0], [0, 1]])
    assert not max_margin._orthonormal([[1], [1]])
    assert not max_margin._orthonormal([[1], [0]])


def test_huang2024_asm_2_agrees_with_the_rank_of_random_vectors():
    rng = np.random.default_rng(2)
    for size, dimension in product(range(1, 7), repeat=2):
        vectors = rng.standard_normal((size, dimension))
        independent = np.linalg.matrix_rank(vectors) == size
        assert independent == max_margin._orthonormal(max_margin._one_hot(size, dimension))


def test_huang2024_asm_2_notices_vectors_that_are_not_orthonormal(monkeypatch):
    assert max_margin.control_huang2024_asm_2().noticed
    monkeypatch.setattr(max_margin, "_one_hot", lambda size, d: [[1] * d for _ in range(size)])
    check = max_margin.check_huang2024_asm_2(3)
    assert (check.verdict, check.witness) == (Verdict.REFUTED, "|V| = 1, d = 2")


# Equation (2)


def test_huang2024_eq_2_holds_for_two_tokens_by_hand():
    assert margin.W_ov_star({"a": "b", "b": "a"})["a"] == {
        "a": Fraction(-1, 2),
        "b": Fraction(1, 2),
    }
    assert max_margin.check_huang2024_eq_2().verdict is Verdict.PROVED


def test_huang2024_eq_2_agrees_with_clarabel():
    for size in (2, 3, 5):
        n = {f"t{i}": f"t{(i + 1) % size}" for i in range(size)}
        for token, scores in margin.W_ov_star(n).items():
            constraints = [(n[token], v) for v in n if v != n[token]]
            assert literal.nearly(scores, literal.minimise(constraints))


@pytest.mark.parametrize("multiplier", ["1/(n + 1)", "2/n", "-1/n", "0"])
def test_huang2024_eq_2_notices_a_wrong_multiplier(multiplier: str):
    assert max_margin.control_huang2024_eq_2().noticed
    assert max_margin.check_huang2024_eq_2(multiplier).verdict is Verdict.REFUTED


# Equation (3)


def test_huang2024_eq_3_holds_for_example_1_by_hand():
    check = max_margin.check_huang2024_eq_3([EXAMPLE_1])
    assert (check.verdict, check.tried) == (Verdict.CONSISTENT, 1)
    # SV, OP and PS compare one pair each, SVO two, VO one: query O repeats its pair with V
    right = {q: c.scores for q, c in margin.W_kq_star(analyse(EXAMPLE_1).orders or {}).items()}
    assert max_margin.sample_violations(EXAMPLE_1, right) == ([], 6)


def test_huang2024_eq_3_agrees_with_clarabel_on_the_whole_matrix():
    for data in (EXAMPLE_1, FIVE_TOKENS):
        assert agrees_with_whole(data, margin.W_kq_star(analyse(data).orders or {}))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(realizable_data())
def test_huang2024_eq_3_is_never_refuted_by_realizable_data(data: Dataset):
    compares = bool(analyse(data).orders)
    expected = Verdict.CONSISTENT if compares else Verdict.OPEN
    assert max_margin.check_huang2024_eq_3([data]).verdict is expected


@pytest.mark.parametrize("factor", [Fraction(9, 10), Fraction(11, 10), Fraction(-1)])
def test_huang2024_eq_3_notices_scores_of_another_length(monkeypatch, factor: Fraction):
    assert max_margin.control_huang2024_eq_3(EXAMPLE_1).noticed
    monkeypatch.setattr(margin, "solve", wrong_solver(lambda score: factor * score))
    assert max_margin.check_huang2024_eq_3([EXAMPLE_1]).verdict is Verdict.REFUTED


# Proposition 2 and Proposition 4


def test_huang2024_prop_2_holds_for_query_o_of_example_1():
    assert margin.closed_form_scores(QUERY_O) == {
        "O": Fraction(2, 3),
        "S": Fraction(-1, 3),
        "V": Fraction(-1, 3),
    }
    assert max_margin.check_huang2024_prop_2([QUERY_O]).verdict is Verdict.CONSISTENT


def test_huang2024_prop_2_is_refuted_by_five_tokens():
    order = (analyse(FIVE_TOKENS).orders or {})["q"]
    assert order == FIVE_TOKEN_ORDER == max_margin.FIVE_TOKENS
    check = max_margin.check_huang2024_prop_2([QUERY_O, order])
    assert check.verdict is Verdict.REFUTED
    assert (check.numbers["printed"], check.numbers["true"]) == ("6/5", "7/6")
    assert (check.numbers["failed"], check.numbers["tried"]) == ("1", "2")
    assert check.witness.startswith("query q: a > c, d, q; b > q: ")


def test_huang2024_prop_2_fails_by_clarabel_too():
    scores = literal.minimise(FIVE_TOKEN_ORDER.pairs)
    assert sum(score**2 for score in scores.values()) < 1.167 < 1.2  # 7/6, and 6/5 as printed
    assert not literal.nearly(margin.closed_form_scores(FIVE_TOKEN_ORDER), scores)
    assert literal.nearly(margin.closed_form_scores(COMPLETE), literal.minimise(COMPLETE.pairs))


def test_huang2024_prop_2_shows_the_smallest_failure():
    larger = PartialOrder.of("q", FIVE_TOKEN_ORDER.pairs | {("a", "e")})
    check = max_margin.check_huang2024_prop_2([larger, FIVE_TOKEN_ORDER, larger])
    assert check.witness.startswith("query q: a > c, d, q; b > q:")
    assert check.numbers["failed"] == "3"
    wider = PartialOrder.of("q", FIVE_TOKEN_ORDER.pairs | {("e", "q")})  # a, b and e are optimal
    for orders, fewest in (([wider], "3"), ([wider, FIVE_TOKEN_ORDER, wider], "2")):
        assert max_margin.check_huang2024_prop_2(orders).numbers["fewest"] == fewest


def test_huang2024_prop_2_notices_a_wrong_closed_form(monkeypatch):
    assert max_margin.control_huang2024_prop_2().noticed
    right = margin.closed_form_scores
    monkeypatch.setattr(
        margin, "closed_form_scores", lambda order: {t: -s for t, s in right(order).items()}
    )
    assert max_margin.check_huang2024_prop_2([COMPLETE]).verdict is Verdict.REFUTED


def test_huang2024_prop_2_never_trusts_a_solution_without_certificate(monkeypatch):
    monkeypatch.setattr(margin, "solve", wrong_solver(lambda score: 2 * score))
    with pytest.raises(AssertionError, match="query 'O'"):
        max_margin.check_huang2024_prop_2([QUERY_O])


@pytest.mark.parametrize(
    "check",
    [
        max_margin.check_huang2024_prop_2,
        max_margin.check_huang2024_prop_4,
        max_margin.check_huang2024_eq_16,
    ],
)
def test_claims_on_data_stay_open_without_an_order(
    check: Callable[[Iterable[PartialOrder]], Check],
):
    assert check([]).verdict is Verdict.OPEN


def test_huang2024_prop_4_holds_for_one_optimal_token_and_fails_for_five_tokens():
    assert max_margin.check_huang2024_prop_4([QUERY_O]).verdict is Verdict.CONSISTENT
    check = max_margin.check_huang2024_prop_4([FIVE_TOKEN_ORDER])
    assert (check.label, check.verdict) == ("huang2024-prop-4", Verdict.REFUTED)


def test_huang2024_prop_4_agrees_with_clarabel():
    for order in drawn_orders(25, seed=4):
        printed_is_best = literal.nearly(
            margin.closed_form_scores(order), literal.minimise(order.pairs)
        )
        refuted = max_margin.check_huang2024_prop_4([order]).verdict is Verdict.REFUTED
        assert printed_is_best != refuted


def test_huang2024_prop_4_notices_a_wrong_closed_form(monkeypatch):
    assert max_margin.control_huang2024_prop_4().noticed
    zero = dict.fromkeys(QUERY_O.compared, Fraction(0))
    monkeypatch.setattr(margin, "closed_form_scores", lambda order: zero)
    assert max_margin.check_huang2024_prop_4([QUERY_O]).verdict is Verdict.REFUTED


# Proposition 2, corrected


def test_huang2024_prop_2_corrected_by_hand():
    # k = 2, m = 3, and b alone has one neighbour: 2 * 1 < 3 * 1
    assert not max_margin.hall_by_subsets(FIVE_TOKEN_ORDER)
    assert max_margin.hall_by_subsets(COMPLETE)
    check = max_margin.check_huang2024_prop_2_corrected([FIVE_TOKEN_ORDER, COMPLETE])
    assert (check.verdict, check.numbers["right"]) == (Verdict.CONSISTENT, "1")


def test_huang2024_prop_2_corrected_agrees_with_clarabel_and_plain_subsets():
    for order in drawn_orders(40, seed=5):
        printed_is_best = literal.nearly(
            margin.closed_form_scores(order), literal.minimise(order.pairs)
        )
        assert printed_is_best == literal.hall(order.pairs) == max_margin.hall_by_subsets(order)


def test_huang2024_prop_2_corrected_holds_on_all_small_orders():
    check = max_margin.check_huang2024_prop_2_corrected(max_margin.small_orders(3, 3, 6))
    assert check.verdict is Verdict.CONSISTENT
    assert 0 < int(check.numbers["right"]) < check.tried


@pytest.mark.parametrize("answer", [True, False])
def test_huang2024_prop_2_corrected_notices_a_blind_condition(monkeypatch, answer: bool):
    assert max_margin.control_huang2024_prop_2_corrected().noticed
    monkeypatch.setattr(max_margin, "hall_by_subsets", lambda order: answer)
    check = max_margin.check_huang2024_prop_2_corrected([COMPLETE, FIVE_TOKEN_ORDER])
    assert check.verdict is Verdict.REFUTED


# Complete orders


def test_ours_complete_order_by_hand():
    # k = 1, m = 2: scores 2/3, -1/3, -1/3; each of the two pairs carries 1/3
    multipliers = dict.fromkeys(QUERY_O.pairs, Fraction(1, 3))
    scores = margin.closed_form_scores(QUERY_O)
    assert margin.certificate_errors(QUERY_O, scores, multipliers) == []
    assert max_margin.check_ours_complete_order().verdict is Verdict.PROVED


def test_ours_complete_order_agrees_with_clarabel():
    for k, m in product((1, 2, 4), (1, 3)):
        order = PartialOrder.of("q", {(f"a{i}", f"b{j}") for i in range(k) for j in range(m)})
        assert literal.nearly(margin.closed_form_scores(order), literal.minimise(order.pairs))


@pytest.mark.parametrize("multiplier", ["2/(k + m)", "1/k", "-1/(k + m)", "0"])
def test_ours_complete_order_notices_a_wrong_multiplier(multiplier: str):
    assert max_margin.control_ours_complete_order().noticed
    assert max_margin.check_ours_complete_order(multiplier).verdict is Verdict.REFUTED


# Block form


def test_ours_block_form_of_five_tokens_by_hand():
    solution = margin.solve(FIVE_TOKEN_ORDER)
    assert [block.size for block in solution.blocks] == [(1, 2), (1, 1)]
    assert max_margin.block_errors(solution) == []
    check = max_margin.check_ours_block_form([FIVE_TOKEN_ORDER, COMPLETE])
    assert (check.verdict, check.numbers["blocks"]) == (Verdict.CONSISTENT, "2")


def test_ours_block_form_agrees_with_level_sets_found_by_clarabel():
    """Clarabel knows no blocks: group its scores (exact values differ by 1/20 at least), count."""
    for order in drawn_orders(25, seed=6):
        levels: dict[float, list[int]] = {}
        for token, score in literal.minimise(order.pairs).items():
            upper = token in order.below
            level = levels.setdefault(round(score + (not upper), 3), [0, 0])
            level[not upper] += 1
        assert [block.size for block in margin.solve(order).blocks] == [
            tuple(levels[level]) for level in sorted(levels, reverse=True)
        ]


def test_ours_block_form_notices_planted_errors(monkeypatch):
    assert max_margin.control_ours_block_form().noticed
    solution = margin.solve(FIVE_TOKEN_ORDER)
    reversed_blocks = Solution(solution.scores, solution.blocks[::-1], solution.multipliers)
    assert max_margin.block_errors(reversed_blocks) == [
        "two blocks share a value, or are out of order"
    ]
    monkeypatch.setattr(margin, "solve", lambda order: reversed_blocks)
    assert max_margin.check_ours_block_form([FIVE_TOKEN_ORDER]).verdict is Verdict.REFUTED
    printed = Solution(margin.closed_form_scores(FIVE_TOKEN_ORDER), (), {})
    monkeypatch.setattr(margin, "solve", lambda order: printed)
    assert max_margin.check_ours_block_form([FIVE_TOKEN_ORDER]).verdict is Verdict.REFUTED


# Equation (14)


def rotated(scores: list[list[Fraction]], rotation: list[list[Fraction]]) -> list[list[Fraction]]:
    """U W U^T in exact arithmetic."""
    indices = range(len(scores))
    return [
        [
            sum((rotation[i][a] * scores[a][b] * rotation[j][b]) for a in indices for b in indices)
            for j in indices
        ]
        for i in indices
    ]


def test_huang2024_eq_14_by_hand_for_a_rational_rotation():
    # the tokens (3/5, 4/5) and (-4/5, 3/5): the columns of U
    U = [[Fraction(3, 5), Fraction(-4, 5)], [Fraction(4, 5), Fraction(3, 5)]]
    W = [[Fraction(1, 2), Fraction(0)], [Fraction(-1, 2), Fraction(0)]]
    R = rotated(W, U)
    assert sum(entry**2 for row in R for entry in row) == Fraction(1, 2)
    for token, query in product(range(2), repeat=2):
        x, q = ([U[0][i], U[1][i]] for i in (token, query))
        score = sum(x[i] * R[i][j] * q[j] for i in range(2) for j in range(2))
        assert score == W[token][query]
    assert max_margin.check_huang2024_eq_14().verdict is Verdict.PROVED


def test_huang2024_eq_14_agrees_with_a_random_rotation_in_numpy():
    rng = np.random.default_rng(14)
    U, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    W = rng.standard_normal((6, 6))
    R = U @ W @ U.T
    # rounding of three products of 6 x 6 matrices
    assert np.linalg.norm(R) == pytest.approx(np.linalg.norm(W), rel=1e-13)
    assert np.allclose(U.T @ R @ U, W, rtol=0, atol=1e-13)


def test_huang2024_eq_14_notices_a_matrix_that_is_not_orthogonal():
    assert max_margin.control_huang2024_eq_14().noticed
    check = max_margin.check_huang2024_eq_14(orthogonal=False)
    assert check.verdict is Verdict.REFUTED


# Equation (15)


def test_huang2024_eq_15_adds_up_example_1_by_hand():
    columns = margin.W_kq_star(analyse(EXAMPLE_1).orders or {})
    assert [margin.norm_squared(column.scores) for column in columns.values()] == [
        Fraction(1, 2),
        Fraction(1, 2),
        Fraction(2, 3),
        Fraction(1, 2),
    ]
    assert margin.norm_squared(c.scores for c in columns.values()) == Fraction(13, 6)
    assert max_margin.check_huang2024_eq_15([EXAMPLE_1]).verdict is Verdict.CONSISTENT


def test_huang2024_eq_15_agrees_with_clarabel_on_two_queries():
    n = {t: f"t{(i + 1) % 6}" for i, t in enumerate(f"t{i}" for i in range(6))}
    samples = [([token], following) for token, following in n.items()]
    samples += [(["t2", "t4", "t5", "t0"], "t3"), (["t3", "t0"], "t4")]
    samples += [(["t2", "t5", "t4", "t1"], "t3"), (["t3", "t1"], "t4"), (["t0", "t5", "t1"], "t1")]
    data = from_samples(samples)
    columns = margin.W_kq_star(analyse(data).orders or {})
    assert [len(column.blocks) for column in columns.values()] == [2, 1]
    assert agrees_with_whole(data, columns)
    assert max_margin.check_huang2024_eq_15([data]).verdict is Verdict.CONSISTENT


def test_huang2024_eq_15_notices_a_column_left_out_or_changed(monkeypatch):
    assert max_margin.control_huang2024_eq_15(EXAMPLE_1).noticed
    assert (
        max_margin.check_huang2024_eq_15([from_sentences(["a b", "b a"])]).verdict is Verdict.OPEN
    )
    right = margin.W_kq_star
    monkeypatch.setattr(
        margin, "W_kq_star", lambda orders: dict(islice(right(orders).items(), 1, None))
    )
    assert max_margin.check_huang2024_eq_15([EXAMPLE_1]).verdict is Verdict.REFUTED
    monkeypatch.undo()
    monkeypatch.setattr(margin, "solve", wrong_solver(lambda score: score * 2))
    assert max_margin.check_huang2024_eq_15([EXAMPLE_1]).verdict is Verdict.REFUTED


# Equation (16)


def tight_and_not_negative(order: PartialOrder) -> bool:
    """Whether non-negative multipliers make the gradient vanish, by a linear program."""
    pairs = sorted(order.pairs)
    multipliers = cp.Variable(len(pairs), nonneg=True)
    scores = margin.closed_form_scores(order)
    balance = [
        sum(multipliers[i] * ((a == t) - (b == t)) for i, (a, b) in enumerate(pairs)) == float(s)
        for t, s in scores.items()
    ]
    problem = cp.Problem(cp.Minimize(0), balance)
    problem.solve(solver=cp.CLARABEL)
    return problem.status == cp.OPTIMAL


def test_huang2024_eq_16_asks_five_tokens_for_a_negative_multiplier():
    # c and d need 2/5 each from a, whose score is 3/5: nothing but -1/5 is left for q
    assert max_margin.tight_multipliers(FIVE_TOKEN_ORDER) == {
        ("a", "c"): Fraction(2, 5),
        ("a", "d"): Fraction(2, 5),
        ("a", "q"): Fraction(-1, 5),
        ("b", "q"): Fraction(3, 5),
    }
    check = max_margin.check_huang2024_eq_16([COMPLETE, FIVE_TOKEN_ORDER])
    assert check.verdict is Verdict.REFUTED
    assert check.witness.endswith("the multiplier of a > q would have to be -1/5")


def test_huang2024_eq_16_agrees_with_a_linear_program():
    for order in drawn_orders(25, seed=16):
        refuted = max_margin.check_huang2024_eq_16([order]).verdict is Verdict.REFUTED
        assert tight_and_not_negative(order) != refuted


def test_huang2024_eq_16_names_a_set_where_the_graph_has_a_cycle():
    pairs = {*product("ab", "uvwx"), ("c", "u")}
    check = max_margin.check_huang2024_eq_16([PartialOrder.of("q", pairs)])
    assert check.verdict is Verdict.REFUTED
    assert check.witness.endswith("the optimal tokens c have too few neighbours")


def test_huang2024_eq_16_shows_the_first_of_two_orders_of_one_size():
    other = PartialOrder.of("r", {("a", "c"), ("a", "d"), ("a", "r"), ("b", "r")})
    for first, second in ((FIVE_TOKEN_ORDER, other), (other, FIVE_TOKEN_ORDER)):
        check = max_margin.check_huang2024_eq_16([first, second])
        assert check.numbers["failed"] == "2"
        assert check.witness.startswith(f"query {first.query}: ")


def test_huang2024_eq_16_does_not_refute_complete_orders():
    assert max_margin.control_huang2024_eq_16().noticed
    check = max_margin.check_huang2024_eq_16([COMPLETE, QUERY_O])
    assert (check.verdict, check.tried) == (Verdict.CONSISTENT, 2)


# Small orders, and claims on a reader's data


def test_small_orders_are_all_of_them():
    def count(k: int, m: int) -> int:
        """Graphs on k and m named tokens without isolated ones, by inclusion and exclusion."""
        return sum((-1) ** i * comb(k, i) * (2 ** (k - i) - 1) ** m for i in range(k + 1))

    orders = list(max_margin.small_orders(3, 3, 6))
    sizes = [(k, m) for k, m in product(range(1, 4), repeat=2) if k * m <= 6]
    assert len(orders) == len(set(orders)) == sum(count(k, m) for k, m in sizes)


def test_every_claim_on_data_has_a_judge():
    judged = set(on_data.JUDGES) | set(on_data.TRAINED)
    assert {claim.label for claim in CATALOGUE if claim.on_data} == judged
    with pytest.raises(InputError, match="no such claim"):
        on_data.labels("huang2024-prop-99")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(realizable_data())
def test_claims_on_data_are_refuted_iff_a_query_breaks_hall(data: Dataset):
    found = report.answer(data)
    orders = (found.structure.orders or {}).values()
    right = all(literal.hall(order.pairs) for order in orders)
    expected = Verdict.OPEN if not orders else Verdict.CONSISTENT if right else Verdict.REFUTED
    judged = [check for check in found.checks if check.label in on_data.JUDGES]
    assert [check.verdict for check in judged] == [expected] * 3
    assert found.holds == (found.structure.frequent.holds and expected is not Verdict.REFUTED)


def test_every_claim_of_the_page_has_its_three_tests():
    page = [claim.label for claim in CATALOGUE if claim.page == "huang2024_s6_max_margin"]
    for label in page:
        stem = f"test_{label.replace('-', '_')}_"
        assert sum(name.startswith(stem) for name in globals()) >= 3, label
