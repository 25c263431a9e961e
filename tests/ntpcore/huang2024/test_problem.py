"""A training problem holds what its data say, merged and by query."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from strategies import realizable_data

from ntpcore.data import dataset, order
from ntpcore.data.dataset import InputError
from ntpcore.huang2024 import problem

EXAMPLE_1 = dataset.read("examples/example1.txt")


def named_samples(one):
    """Query, optimal token with count, rivals with counts, and share of each merged sample."""
    names = one.vocabulary
    for i, best in enumerate(one.optimal):
        rivals = range(one.start[i], one.start[i + 1])
        yield (
            names[one.entry_query[best]],
            (names[one.entry_token[best]], int(one.optimal_count[i])),
            {names[one.entry_token[one.rival[e]]]: int(one.rival_count[e]) for e in rivals},
            math.exp(one.log_pi[i]),
        )


def test_example_1_has_the_samples_with_two_distinct_tokens():
    one = problem.from_dataset(EXAMPLE_1)
    # 4 lines with 3, 2, 2 and 2 beginnings; SVOP and VOP, OPP and PSV have distinct ones
    assert sorted(named_samples(one), key=str) == [
        ("O", ("O", 1), {"S": 1, "V": 1}, pytest.approx(1 / 9)),
        ("O", ("O", 1), {"V": 1}, pytest.approx(1 / 9)),
        ("P", ("O", 1), {"P": 1}, pytest.approx(1 / 9)),
        ("S", ("S", 1), {"P": 1}, pytest.approx(1 / 9)),
        ("V", ("V", 1), {"S": 1}, pytest.approx(1 / 9)),
    ]
    assert (one.sample_count, one.max_length) == (9, 3)
    assert one.norm_squared == problem.Fraction(13, 6)
    assert math.exp(one.log_pi_min) == pytest.approx(1 / 9)
    assert one.prefix_closed
    assert one.frequent
    assert one.following.tolist() == [1, 2, 3, 0]


def test_samples_with_the_same_tokens_are_merged_with_their_weights():
    data = dataset.from_samples(
        [
            ("a", "b", 1),
            ("b", "a", 1),
            ("a a b", "b", 2),
            ("a b a", "b", 3),
            ("a a a b", "b", 5),
            ("a a b a", "b", 4),
        ]
    )
    one = problem.from_dataset(data)
    shares = {(q, best, b["b"]): share for q, best, b, share in named_samples(one)}
    assert shares == {
        ("a", ("a", 2), 1): pytest.approx(3 / 16),
        ("a", ("a", 3), 1): pytest.approx(4 / 16),
        ("b", ("a", 2), 1): pytest.approx(2 / 16),
        ("b", ("a", 3), 1): pytest.approx(5 / 16),
    }
    swapped = dataset.from_samples(
        [("a", "b"), ("b", "a"), ("a a b b", "b", 2), ("a b a b", "b", 3)]
    )
    (merged,) = named_samples(problem.from_dataset(swapped))
    assert merged == ("b", ("a", 2), {"b": 2}, pytest.approx(5 / 7))


@given(realizable_data())
def test_pairs_and_solutions_are_those_of_the_exact_core(data):
    structure = order.analyse(data)
    assume(any(len(set(sample.sentence)) > 1 for sample in data.samples()))
    one = problem.from_dataset(data)
    assert one.orders == dict(structure.orders)
    assert one.sample_count == data.sample_count
    assert one.frequent is structure.frequent.holds
    assert one.prefix_closed is data.prefix_closed
    counts = [sample.count for sample in data.samples()]
    assert one.log_pi_min == pytest.approx(math.log(min(counts) / sum(counts)))
    mixed = sum(s.count for s in data.samples() if len(set(s.sentence)) > 1) / sum(counts)
    assert np.exp(one.log_pi).sum() == pytest.approx(mixed)
    assert float(one.W_kq_star @ one.W_kq_star) == pytest.approx(float(one.norm_squared))


def test_weights_may_differ_by_any_factor():
    data = dataset.from_samples([("a", "b"), ("b", "a"), ("a b", "b"), ("b a", "b")])
    one = problem.from_dataset(data, log_weights=[0.0, 5.0, -1e7, 7.0])
    by_query = {q: one.log_pi[i] for i, (q, *_) in enumerate(named_samples(one))}
    total = math.log(1 + math.exp(5) + math.exp(7))
    assert by_query == {"b": pytest.approx(-1e7 - total), "a": pytest.approx(7 - total)}
    assert one.log_pi_min == pytest.approx(-1e7 - total)


@pytest.mark.parametrize(
    ("weights", "reason"),
    [([0.0], "1 weights for 4 distinct samples"), ([0, 0, 0, math.inf], "not finite")],
)
def test_weights_that_do_not_fit_are_refused(weights, reason):
    data = dataset.from_samples([("a", "b"), ("b", "a"), ("a b", "b"), ("b a", "b")])
    with pytest.raises(InputError, match=reason):
        problem.from_dataset(data, log_weights=weights)


def test_data_with_a_vanishing_gradient_are_refused():
    data = dataset.from_samples([("a", "b"), ("b", "a"), ("a a", "b")])
    with pytest.raises(InputError, match="no sentence has two distinct tokens"):
        problem.from_dataset(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (dataset.read("examples/contradiction.txt"), "lies above"),
        (dataset.from_sentences(["ab", "b a", "ab b"]), "no sentence starts|not defined"),
        (dataset.from_sentences(["a c", "b c", "c a"]), "the same next token"),
        (dataset.from_samples([("a", "b"), ("b", "c"), ("c", "a"), ("a b", "a")]), "is not n of"),
    ],
)
def test_data_that_are_not_realizable_are_refused_with_the_reason(data, reason):
    with pytest.raises(InputError, match=reason) as caught:
        problem.from_dataset(data)
    assert "ntpcore check" in str(caught.value)


def test_a_given_collocation_completes_the_data():
    data = dataset.from_sentences(["a b c"])
    one = problem.from_dataset(data, {"b": "c", "c": "a"})
    assert [sample[:3] for sample in named_samples(one)] == [("b", ("b", 1), {"a": 1})]


def test_a_problem_cannot_be_changed():
    one = problem.from_dataset(EXAMPLE_1)
    for array in (one.rival, one.log_pi, one.W_kq_star, one.log_ratio):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_entries_are_sorted_by_query_and_then_by_token():
    for data in (EXAMPLE_1, dataset.read("examples/five_tokens.jsonl")):
        one = problem.from_dataset(data)
        entries = list(zip(one.entry_query.tolist(), one.entry_token.tolist(), strict=True))
        assert entries == sorted(set(entries))
        assert len(entries) > 4
