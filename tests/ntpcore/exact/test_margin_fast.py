"""The fast solver gives the exact answers of the plain one, and its certificate can fail."""

from __future__ import annotations

import importlib.util
import random
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import orders, random_order, realizable_data

from ntpcore.data import generate
from ntpcore.data.examples import FIVE_TOKENS
from ntpcore.data.order import PartialOrder, analyse
from ntpcore.exact import margin, margin_fast
from ntpcore.huang2024 import problem

SETTINGS = settings(max_examples=200)


def fast(order: PartialOrder) -> margin.Solution:
    return margin_fast.W_kq_star({"q": order})["q"]


def agrees(order: PartialOrder) -> bool:
    """Whether both solvers find the same scores and blocks, and the fast one's multipliers fit."""
    ours, plain = fast(order), margin.solve(order)
    errors = margin.certificate_errors(order, ours.scores, ours.multipliers)
    same = ours.scores == plain.scores and list(ours.scores) == list(plain.scores)
    return same and ours.blocks == plain.blocks and errors == []


def graph(rng: np.random.Generator, pairs: int, side: int, power: float = 1.0):
    """About so many pairs of `side` tokens on either side; a power above 1 favours a few."""
    ends = (side * rng.random((2, 2 * pairs)) ** power).astype(int)
    key = rng.permutation(np.unique(ends[0] * side + ends[1]))[:pairs]
    key.sort()
    return key // side, side + key % side


@SETTINGS
@given(orders())
def test_small_orders_have_the_exact_solution(order: PartialOrder):
    assert agrees(order)


def test_random_orders_have_the_exact_solution():
    rng = random.Random(4)
    several = 0
    for _ in range(150):
        order = random_order(rng, 12, 15)
        assert agrees(order)
        several += len(fast(order).blocks) > 1
    assert several > 30


def test_five_tokens_have_two_blocks():
    solution = fast(FIVE_TOKENS)
    assert [block.size for block in solution.blocks] == [(1, 2), (1, 1)]
    assert solution.scores["a"] == Fraction(2, 3)
    columns = margin_fast.solve_pairs(np.array([0, 0, 0, 1]), np.array([2, 3, 4, 4]), 5)
    assert columns.norm_squared == Fraction(7, 6)
    assert columns.k.tolist() == [1, 1, 1, 1, 1]
    assert columns.m.tolist() == [2, 1, 2, 2, 1]
    assert columns.units.tolist() == [1, 1, 0, 1]


@pytest.mark.parametrize(
    "pairs",
    [
        {("a", "b")},
        {("a", f"b{i}") for i in range(30)},
        {(f"a{i}", "b") for i in range(30)},
        {(f"a{i}", f"b{j}") for i in range(7) for j in range(9)},
        {(f"a{i}", f"b{i}") for i in range(20)},
        {(f"a{i}", f"b{j}") for i in range(20) for j in (i, i + 1)},
        {(f"a{i}", f"b{j}") for i in range(12) for j in range(i + 1)},
        {(f"a{p}{i}", f"b{p}{j}") for p in "xyz" for i in range(3) for j in range(1 + ord(p) % 4)},
    ],
    ids=["pair", "star", "star upwards", "complete", "matching", "path", "stairs", "disconnected"],
)
def test_graphs_of_special_form(pairs: set[tuple[str, str]]):
    assert agrees(PartialOrder.of("q", pairs))


@SETTINGS
@given(realizable_data())
def test_all_columns_at_once_are_the_columns_one_by_one(data):
    found = analyse(data).orders or {}
    at_once, one_by_one = margin_fast.W_kq_star(found), margin.W_kq_star(found)
    assert list(at_once) == list(one_by_one)
    assert all(at_once[q].scores == one_by_one[q].scores for q in found)
    assert all(at_once[q].blocks == one_by_one[q].blocks for q in found)


@pytest.mark.parametrize(
    ("pairs", "side", "power"), [(2000, 600, 1.0), (4000, 400, 1.0), (3000, 900, 3.0)]
)
def test_large_graphs_are_certified_and_the_smallest_has_the_scores_of_the_plain_solver(
    pairs, side, power
):
    rng = np.random.default_rng(5)
    upper, lower = graph(rng, pairs, side, power)
    columns = margin_fast.solve_pairs(upper, lower, 2 * side)
    assert margin_fast.first_fault(columns) == -1
    assert set(np.flatnonzero(columns.k + columns.m)) == {*upper.tolist(), *lower.tolist()}
    if pairs > 2000:  # the plain solver takes a second for each thousand pairs
        return
    order = PartialOrder.of("q", {(f"a{a}", f"b{b}") for a, b in zip(upper, lower, strict=True)})
    plain = margin.solve_scores(order)
    numerators, sizes = columns.numerators.tolist(), (columns.k + columns.m).tolist()
    named = {f"a{a}": a for a in upper} | {f"b{b}": b for b in lower}
    assert {x: Fraction(numerators[at], sizes[at]) for x, at in named.items()} == plain
    assert columns.norm_squared == margin.norm_squared(plain)
    assert columns.scores == pytest.approx(
        [0.0 if not s else n / s for n, s in zip(numerators, sizes, strict=True)], abs=0
    )


def path(tokens: int):
    """Optimal tokens 0, ..., n - 1, each above the other tokens on its left and on its right."""
    ends = np.arange(2 * tokens)
    return ends // 2, tokens + (ends + 1) // 2


def steps(layers: int):
    """Layers of four optimal tokens and three or four others; each leans on the one below."""
    pairs = [
        (4 * layer + x, 4 * layers + 4 * below + y)
        for layer in range(layers)
        for below in {layer, max(layer - 1, 0)}
        for x in range(4)
        for y in range(3 + below % 2)
        if (x + y + layer) % 3
    ]
    upper, lower = np.array(sorted(set(pairs))).T
    return upper, lower


def star_of_stars(arms: int):
    """One optimal token above all hubs; the hub i lies below i + 1 more optimal tokens."""
    pairs = [(0, 1 + hub) for hub in range(arms)]
    free = 1 + arms
    for hub in range(arms):
        pairs += [(free + x, 1 + hub) for x in range(hub + 1)]
        free += hub + 1
    upper, lower = np.array(pairs).T
    return upper, lower


@pytest.mark.parametrize(
    ("upper", "lower"),
    [path(60), path(60)[::-1], steps(9), steps(9)[::-1], star_of_stars(8), star_of_stars(8)[::-1]],
)
def test_units_that_have_far_to_go_arrive(upper, lower):
    """Shapes that fall apart several times, or whose room lies many pairs away."""
    _, numbers = np.unique(np.concatenate([upper, lower]), return_inverse=True)
    upper, lower = numbers[: len(upper)], numbers[len(upper) :]
    columns = margin_fast.solve_pairs(upper, lower, int(numbers.max()) + 1)
    order = PartialOrder.of("q", {(f"{a}", f"{b}") for a, b in zip(upper, lower, strict=True)})
    plain = margin.solve_scores(order)
    sizes = (columns.k + columns.m).tolist()
    found = [Fraction(n, s) for n, s in zip(columns.numerators.tolist(), sizes, strict=True)]
    assert dict(zip(map(str, range(len(found))), found, strict=True)) == plain


def test_a_path_is_one_block():
    """n optimal tokens between n + 1 others: any j of them have j + 1 below them, or more."""
    columns = margin_fast.solve_pairs(*path(50), 101)
    assert columns.numerators.tolist() == [51] * 50 + [-50] * 51
    assert set((columns.k + columns.m).tolist()) == {101}


def test_the_order_of_the_pairs_does_not_matter():
    rng = np.random.default_rng(6)
    upper, lower = graph(rng, 500, 150)
    one = margin_fast.solve_pairs(upper, lower, 300)
    mixed = rng.permutation(len(upper))
    other = margin_fast.solve_pairs(upper[mixed], lower[mixed], 300)
    assert np.array_equal(one.scores, other.scores)
    again = margin_fast.solve_pairs(upper, lower, 300)
    assert np.array_equal(one.units, again.units)


@pytest.mark.parametrize("part", ["k", "m", "units"])
def test_a_wrong_number_anywhere_spoils_the_certificate(part: str):
    upper, lower = graph(np.random.default_rng(7), 300, 100, 2.0)
    right = margin_fast.solve_pairs(upper, lower, 200)
    used = np.unique(np.concatenate([upper, lower]))
    for at in range(300) if part == "units" else used:
        for change in (-1, 1):
            wrong = getattr(right, part).copy()
            wrong[at] += change
            assert margin_fast.first_fault(replace(right, **{part: wrong})) >= 0, (part, at, change)


def test_the_closed_form_gets_no_certificate_where_it_is_wrong():
    upper, lower = np.array([0, 0, 0, 1]), np.array([2, 3, 4, 4])
    k, m = np.full(5, 2), np.full(5, 3)
    for units in ([3, 0, 0, 3], [1, 1, 1, 3], [2, 2, -1, 3]):  # the last one balances
        wrong = margin_fast.Columns(upper, lower, k, m, np.array(units))
        assert margin_fast.first_fault(wrong) >= 0


def test_scores_below_a_margin_of_one_get_no_certificate():
    upper, lower = np.array([0, 0, 1]), np.array([2, 3, 3])
    split = margin_fast.Columns(
        upper, lower, np.array([1, 1, 1, 1]), np.array([1, 1, 1, 1]), np.array([1, 0, 1])
    )
    assert margin_fast.first_fault(split) == -1
    # token 0 scores 1/3 and token 3 scores -1/2: the pair 0 > 3, which ships nothing, is too close
    k, m = np.array([2, 1, 2, 1]), np.array([1, 1, 1, 1])
    assert margin_fast.first_fault(replace(split, k=k, m=m)) == 1


@pytest.mark.parametrize(
    ("upper", "lower", "entries"),
    [([0, 1], [1, 2], 3), ([0], [0], 1), ([0], [3], 3), ([-1], [0], 3), ([0, 1], [2], 3)],
)
def test_pairs_that_are_no_order_are_refused(upper, lower, entries):
    with pytest.raises(ValueError, match=r"out of range|do not fit"):
        margin_fast.solve_pairs(np.array(upper), np.array(lower), entries)


def test_so_many_pairs_that_their_numbers_do_not_fit_are_refused(monkeypatch):
    """With a limit that a test can reach: numbers of 3 bits."""
    monkeypatch.setattr(margin_fast, "MOST", 2**3)
    upper, lower = np.repeat([0, 1], 4), np.tile([2, 3, 4, 5], 2)  # eight pairs of six tokens
    with pytest.raises(ValueError, match="do not fit"):
        margin_fast.solve_pairs(upper, lower, 6)
    assert len(margin_fast.solve_pairs(upper[:7], lower[:7], 6).units) == 7


def test_a_pair_that_occurs_twice_is_harmless_or_refused():
    columns = margin_fast.solve_pairs(np.array([0, 0]), np.array([1, 1]), 2)
    assert columns.numerators.tolist() == [1, -1]


def test_orders_without_a_problem_are_refused():
    with pytest.raises(ValueError, match="orders no two tokens"):
        fast(PartialOrder.of("q", set()))
    with pytest.raises(ValueError, match="confused token"):
        fast(PartialOrder.of("q", {("a", "b"), ("b", "c")}))


def test_training_has_the_same_maximum_margin_either_way(monkeypatch):
    data = generate.experiment(3, prefix_closed=False).data
    plain, compiled = problem.from_dataset(data), problem.from_dataset(data)
    assert len(plain.pairs) <= problem.FEW
    expected = plain.W_kq_star, plain.norm_squared
    monkeypatch.setattr(problem, "FEW", 0)
    assert np.array_equal(compiled.W_kq_star, expected[0])
    assert compiled.norm_squared == expected[1]


def test_without_numba_the_solver_runs_as_plain_python(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    spec = importlib.util.spec_from_file_location("plain_margin_fast", margin_fast.__file__)
    plain = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "plain_margin_fast", plain)
    spec.loader.exec_module(plain)
    assert type(plain._solve).__name__ == "function"
    upper, lower = graph(np.random.default_rng(8), 300, 100)
    ours = margin_fast.solve_pairs(upper, lower, 200)
    assert np.array_equal(plain.solve_pairs(upper, lower, 200).units, ours.units)


def test_numbers_that_are_no_integers_are_refused():
    with pytest.raises(ValueError, match="pairs of numbers of the kind float64; give integers"):
        margin_fast.solve_pairs(np.array([0.0, 1.7]), np.array([2, 3]), 4)
    assert margin_fast.solve_pairs(np.array([0], np.uint8), np.array([1], np.int32), 2).k[0] == 1
