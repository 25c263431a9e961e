"""Training on data that contradict each other: the gradient of the loss, by independent ways."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import numpy as np
import pytest

from ntpcore.data.dataset import Dataset, from_sentences
from ntpcore.data.order import Structure, analyse, orders_under
from ntpcore.huang2024 import any_data, plain, plain_any, training
from ntpcore.huang2024.problem import from_structure

CONTRARY = from_sentences(["a b c a", "a c b b", "b a d", "c c a b d", "d a c", "a b d"])
FOLLOWING = {"a": "b", "b": "c", "c": None, "d": "b"}  # two share b, and c has none
GAP = 3.0


def structure_of(data: Dataset, following: dict[str, str | None]) -> Structure:
    """A data set with a map that it may contradict."""
    found = analyse(data)
    return Structure(
        data, following, orders_under(data, following), found.realizable, found.frequent
    )


def loss(
    data: Dataset,
    following: dict[str, str | None],
    weights: Mapping[tuple[str, str], float],
    gap: float,
) -> float:
    """The cross-entropy, from its definition: positions, logits, a softmax."""
    whole = sum(sample.count for sample in data.samples())
    total = 0.0
    for sample in data.samples():
        query = sample.sentence[-1]
        powers = [math.exp(weights.get((token, query), 0.0)) for token in sample.sentence]
        logits = dict.fromkeys(data.vocabulary, 0.0)
        for token, power in zip(sample.sentence, powers, strict=True):
            label = following[token]
            if label is not None:
                logits[label] += gap * power / sum(powers)
        below = math.log(sum(math.exp(one) for one in logits.values()))
        total += sample.count / whole * (below - logits[sample.next_token])
    return total


def random_weights(entries: dict[tuple[str, str], int]) -> list[float]:
    """Weights that are not special."""
    dice = random.Random(3)
    return [dice.uniform(-1, 1) for _ in entries]


def test_the_gradient_is_that_of_the_loss() -> None:
    entries: dict[tuple[str, str], int] = {}
    mixed = plain_any.samples(structure_of(CONTRARY, FOLLOWING), entries)
    weights = random_weights(entries)
    found = plain_any.gradient(mixed, weights, GAP, len(CONTRARY.vocabulary))
    step = 1e-6
    slopes = []
    for entry in entries:
        at = dict(zip(entries, weights, strict=True))
        up = loss(CONTRARY, FOLLOWING, at | {entry: at[entry] + step}, GAP)
        down = loss(CONTRARY, FOLLOWING, at | {entry: at[entry] - step}, GAP)
        slopes.append((up - down) / (2 * step))
    assert found == pytest.approx(slopes, abs=1e-8)
    planted = plain_any.gradient(mixed, weights, GAP, len(CONTRARY.vocabulary) + 1)
    assert planted != pytest.approx(slopes, abs=1e-8), "one token more in the softmax"


def test_in_numpy_the_gradient_and_the_loss_are_the_same() -> None:
    entries: dict[tuple[str, str], int] = {}
    structure = structure_of(CONTRARY, FOLLOWING)
    mixed = plain_any.samples(structure, entries)
    weights, size = random_weights(entries), len(CONTRARY.vocabulary)
    terms = any_data.terms(mixed, size)
    value, slopes = any_data.loss_and_gradient(terms, np.array(weights), GAP)
    assert slopes.tolist() == pytest.approx(
        plain_any.gradient(mixed, weights, GAP, size), abs=1e-15
    )
    whole = loss(CONTRARY, FOLLOWING, dict(zip(entries, weights, strict=True)), GAP)
    assert value + plain_any.lone_loss(structure, GAP) == pytest.approx(whole, rel=1e-13)
    _, planted = any_data.loss_and_gradient(any_data.terms(mixed, size + 1), np.array(weights), GAP)
    assert slopes.tolist() != pytest.approx(planted.tolist(), abs=1e-6)
    with pytest.raises(ValueError, match="no sample has two distinct tokens"):
        any_data.terms([], size)


def test_in_numpy_training_is_that_of_the_paper_where_assumption_1_holds() -> None:
    structure = analyse(from_sentences(["S V O P", "V O P", "O P P", "P S V"]))
    problem = from_structure(structure)
    theirs = training.run(problem, 50, 0.025, GAP)
    entries: dict[tuple[str, str], int] = {}
    terms = any_data.terms(plain_any.samples(structure, entries), problem.vocab_size)
    (end,) = any_data.descend(terms, [50], GAP, 0.025)
    places = zip(problem.entry_token.tolist(), problem.entry_query.tolist(), strict=True)
    names = [(problem.vocabulary[token], problem.vocabulary[query]) for token, query in places]
    there = dict(zip(names, theirs.state.weights.tolist(), strict=True))
    assert dict(zip(entries, end.weights.tolist(), strict=True)) == pytest.approx(there, rel=1e-9)


def test_on_realizable_data_it_has_the_direction_of_the_usual_one() -> None:
    data = from_sentences(["S V O P", "V O P", "O P P", "P S V"])
    structure = analyse(data)
    ours: dict[tuple[str, str], int] = {}
    theirs: dict[tuple[str, str], int] = {}
    mixed = plain_any.samples(structure, ours)
    usual = plain._samples(structure, theirs)
    weights = dict(zip(ours, random_weights(ours), strict=True))
    size = len(data.vocabulary)
    one = plain_any.gradient(mixed, [weights[e] for e in ours], GAP, size)
    other = plain.gradient(usual, [weights[e] for e in theirs], GAP, size)
    there = dict(zip(theirs, other, strict=True))
    ratio = math.hypot(*one) / math.hypot(*other)
    assert one == pytest.approx([ratio * there[e] for e in ours], rel=1e-9)


def test_training_anyway_is_training_where_assumption_1_holds() -> None:
    structure = analyse(from_sentences(["S V O P", "V O P", "O P P", "P S V"]))
    assert plain.train(structure, steps=20, anyway=True) == plain.train(structure, steps=20)


def test_training_anyway_lowers_the_loss_of_data_that_contradict_each_other() -> None:
    structure = structure_of(CONTRARY, FOLLOWING)
    start = plain.train(structure, steps=0, anyway=True)
    end = plain.train(structure, steps=50, anyway=True)
    before = loss(CONTRARY, FOLLOWING, dict(start.weights), start.gap)
    assert loss(CONTRARY, FOLLOWING, dict(end.weights), end.gap) < before


def test_a_sample_without_a_gradient_leaves_attention_even() -> None:
    data = from_sentences(["a c", "b c", "a b c"])  # both lead to c, whatever attention is
    trained = plain.train(structure_of(data, {"a": "c", "b": "c", "c": None}), steps=5, anyway=True)
    assert set(trained.weights.values()) == {0.0}


def test_a_token_without_a_next_token_adds_nothing_to_a_prediction() -> None:
    trained = plain.Trained(structure_of(CONTRARY, FOLLOWING), 4.0, {}, 0)
    found = plain.predict(trained, ["c", "c"]).probabilities
    assert found == pytest.approx(dict.fromkeys("abcd", 0.25))
    half = plain.predict(trained, ["a", "c"]).probabilities
    assert half["b"] == pytest.approx(math.exp(2) / (math.exp(2) + 3))


def test_stage_1_shares_its_step_among_the_columns_that_it_trains() -> None:
    # one column of two: its gradient is all there is, so its gap grows sqrt(2) times as fast
    ratio = plain.stage1(2, 7, 0.1, 1) / plain.stage1(2, 7, 0.1)
    assert ratio == pytest.approx(math.sqrt(2))
    many = plain.MANY_STEPS + 1
    law = plain.stage1(5, many, 1e-4, 3)
    assert law == pytest.approx(plain.stage1(5, many - 1, 1e-4, 3), rel=1e-4)


def test_orders_under_a_map_are_those_of_the_analysis_where_it_is_the_map_of_the_data() -> None:
    data = from_sentences(["S V O P", "V O P", "O P P", "P S V"])
    structure = analyse(data)
    assert orders_under(data, structure.collocation) == structure.orders
    without = dict(structure.collocation) | {"S": None}
    lower = orders_under(data, without)
    assert not [query for query, order in lower.items() if "S" in order.below]
    assert [query for query, order in (structure.orders or {}).items() if "S" in order.below]
