"""Max-margin scores under chains, several levels, and cycles."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ntpcore.data.order import PartialOrder
from ntpcore.exact import any_order, margin


def order(*pairs: str) -> PartialOrder:
    """The relation with these pairs, each two letters, the upper token first."""
    return PartialOrder.of("q", [(pair[0], pair[1]) for pair in pairs])


def scores(*pairs: str) -> dict[str, Fraction]:
    """The scores under a relation, proved."""
    one = order(*pairs)
    found = any_order.solve(one)
    assert any_order.certificate_errors(one, found.scores, found.multipliers) == []
    return found.scores


def test_a_chain_takes_one_step_from_token_to_token() -> None:
    assert scores("ab", "bc") == {"a": 1, "b": 0, "c": -1}
    assert scores("ab", "bc", "ac") == {"a": 1, "b": 0, "c": -1}  # implied: a margin of 2


def test_tokens_of_a_cycle_share_their_score_and_weigh_as_many() -> None:
    # z for a and b, z - 1 for c: 2 z + (z - 1) = 0
    third = Fraction(1, 3)
    assert scores("ab", "ba", "ac") == {"a": third, "b": third, "c": -2 * third}
    found = any_order.solve(order("ab", "ba", "ac"))
    assert found.components == (("a", "b"), ("c",))
    assert found.support_vectors == (("a", "c"),)


def test_a_cycle_alone_scores_nothing() -> None:
    assert scores("ab", "bc", "ca") == {"a": 0, "b": 0, "c": 0}
    assert any_order.solve(order("ab", "ba")).multipliers == {}


def test_paths_of_different_length_between_two_tokens() -> None:
    # a > b > d and a > c > e > d: the long way is tight, and b lies anywhere within its room
    found = scores("ab", "bd", "ac", "ce", "ed")
    assert found["a"] - found["d"] == 3
    assert found["b"] == 0  # the middle, where its square is least


def test_two_levels_are_the_scores_of_the_fast_solver() -> None:
    five = order("ac", "ad", "aq", "bq")
    assert scores("ac", "ad", "aq", "bq") == margin.solve(five).scores
    assert margin.norm_squared(any_order.solve(five).scores) == Fraction(7, 6)


def test_an_empty_relation_is_refused() -> None:
    with pytest.raises(ValueError, match="'q' orders no two tokens"):
        any_order.solve(PartialOrder("q", frozenset()))


relations = st.sets(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")).filter(
        lambda pair: pair[0] != pair[1]
    ),
    min_size=1,
    max_size=20,
)


@given(relations)
@settings(max_examples=150, deadline=None)
def test_any_relation_is_solved_as_fractions_alone_solve_it(pairs: set[tuple[str, str]]) -> None:
    one = PartialOrder.of("q", pairs)
    found = any_order.solve(one)
    assert any_order.certificate_errors(one, found.scores, found.multipliers) == []
    parts = any_order.components(pairs)
    place = {token: number for number, part in enumerate(parts) for token in part}
    edges = sorted({(place[a], place[b]) for a, b in pairs if place[a] != place[b]})
    values, _ = any_order._by_fractions([len(part) for part in parts], edges)
    assert found.scores == {token: values[number] for token, number in place.items()}


@given(relations)
@settings(max_examples=40, deadline=None)
def test_any_relation_is_solved_as_a_float_solver_solves_it(pairs: set[tuple[str, str]]) -> None:
    tokens = sorted({token for pair in pairs for token in pair})
    number = {token: place for place, token in enumerate(tokens)}
    reaches = np.eye(len(tokens), dtype=bool)
    for a, b in pairs:
        reaches[number[a], number[b]] = True
    for middle in range(len(tokens)):  # Warshall
        reaches |= np.outer(reaches[:, middle], reaches[middle])
    w = cp.Variable(len(tokens))
    margins = []
    for a, b in sorted(pairs):
        margin_of = w[number[a]] - w[number[b]]
        one_cycle = reaches[number[b], number[a]]
        margins.append(margin_of == 0 if one_cycle else margin_of >= 1)
    cp.Problem(cp.Minimize(cp.sum_squares(w)), margins).solve(solver=cp.CLARABEL)
    exact = any_order.solve(PartialOrder.of("q", pairs)).scores
    # The solver stops at a gap of 1e-8 in the squared norm, which is 1e-4 in the scores.
    assert w.value == pytest.approx([float(exact[token]) for token in tokens], abs=1e-3)


def test_a_wrong_certificate_is_told() -> None:
    one = order("ab", "bc", "cb", "ad")
    good = any_order.solve(one)

    def wrong(**changes: Fraction) -> list[str]:
        return any_order.certificate_errors(one, good.scores | changes, good.multipliers)

    assert wrong() == []
    assert any("scores that differ" in text for text in wrong(b=good.scores["b"] + 1))
    assert any("the margin is" in text for text in wrong(d=good.scores["a"]))
    assert any("differ by" in text for text in wrong(a=good.scores["a"] + 1))
    less = dict(good.multipliers)
    pair, value = next(iter(less.items()))
    for changed in (less | {pair: -value}, less | {pair: value + 1}, less | {("b", "c"): value}):
        assert any_order.certificate_errors(one, good.scores, changed) != []
    assert any_order.certificate_errors(one, {"a": Fraction(1)}, {})[0] == "token b: no score"
