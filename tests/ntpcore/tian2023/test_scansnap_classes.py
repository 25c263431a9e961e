"""Sequence classes: roles of tokens, scores, correlations, families, and refusals."""

import math

import numpy as np
import pytest

from ntpcore.tian2023 import classes
from ntpcore.tian2023.classes import SequenceClasses

P = np.array([[0.5, 0.25, 0.25, 0.0], [0.5, 0.0, 0.0, 0.5]])
TWO = SequenceClasses(P, (0, 0))


def test_sizes_and_classes_of_a_query():
    one = SequenceClasses(np.eye(4)[:3], (1, 0, 1))
    assert (one.K, one.M, one.L) == (3, 4, 2)
    assert one.of_query(1) == (0, 2)


@pytest.mark.parametrize(
    ("p", "query", "message"),
    [
        (np.ones((3, 2)) / 2, (0, 0, 0), r"shape \(3, 2\)"),
        (np.ones(3) / 3, (0,), "shape"),
        (np.array([[0.5, 0.4]]), (0,), "row 0 is no distribution"),
        (np.array([[1.5, -0.5]]), (0,), "smallest entry -0.5"),
        (np.array([[np.nan, 1.0]]), (0,), "row 0 is no distribution"),
        (P, (0,), "do not fit 2 classes"),
        (P, (0, 2), "use every one"),
    ],
)
def test_what_is_no_set_of_classes_is_refused(p, query, message):
    with pytest.raises(ValueError, match=message):
        SequenceClasses(p, query)


def test_roles_of_tokens_by_hand():
    assert classes.occurrences(TWO, 0) == (0, 1)
    assert classes.common_tokens(TWO) == (0,)
    assert classes.distinct_tokens(TWO, 0) == (1, 2)
    assert classes.distinct_tokens(TWO, 1) == (3,)


def test_scores_by_hand():
    z = np.array([[0.0, math.log(2), 0.0, 9.0]])
    assert classes.attention_scores(TWO, z)[0] == pytest.approx([0.4, 0.4, 0.2, 0.0])
    assert classes.attention_scores(TWO).tolist() == P.tolist()
    assert np.linalg.norm(classes.unit_scores(TWO, z), axis=1) == pytest.approx([1, 1])
    with pytest.raises(ValueError, match=r"not \(1, 4\)"):
        classes.attention_scores(TWO, np.zeros(4))


def test_huge_scores_outside_a_class_do_not_matter():
    z = np.array([[0.0, 0.0, 0.0, 5000.0]])
    assert classes.attention_scores(TWO, z)[0] == pytest.approx(P[0])
    assert classes.attention_scores(TWO, z)[1] == pytest.approx([0, 0, 0, 1])


def test_correlations_and_their_inverse():
    f = classes.unit_scores(TWO)
    E = classes.correlations(f)
    assert E[0, 1] == pytest.approx(0.25 / math.sqrt(0.375 * 0.5))
    assert np.diag(E).tolist() == [0, 0]
    expected = np.eye(2) - np.linalg.inv(np.eye(2) + E)
    assert classes.E_prime(E) == pytest.approx(expected)
    with pytest.raises(ValueError, match="not positive definite"):
        classes.E_prime(np.array([[0.0, 1.0], [1.0, 0.0]]))


def test_the_window_of_assumption_2_and_what_violates_it():
    E = classes.correlations(classes.unit_scores(classes.paired_classes(2, 1000, 0.3)))
    assert classes.weak_correlations(E, 1000).holds
    assert "largest" in classes.weak_correlations(E * 2, 1000).violations[0]
    assert "smallest" in classes.weak_correlations(E / 10, 1000).violations[0]
    assert "window is empty" in classes.weak_correlations(E, 100).violations[0]
    assert classes.weak_correlations(E, 100, "sqrt(6/M)").holds
    with pytest.raises(ValueError, match="is no reading"):
        classes.weak_correlations(E, 1000, "6/M")


@pytest.mark.parametrize(("reading", "lower"), [("6/sqrt(M)", 0.2), ("sqrt(6/M)", 0.2 / 6**0.5)])
def test_the_window_of_assumption_2_ends_where_the_paper_says(reading, lower):
    # M = 900: 6/30, and sqrt(6)/30; two classes whose eigenvalues are +-e, and 1/K = 1/2
    assert classes.weak_correlations(np.zeros((2, 2)), 900, reading).lower == pytest.approx(lower)
    for e, holds in ((lower * 0.999, False), (lower * 1.001, True), (0.499, True), (0.501, False)):
        E = np.array([[0.0, e], [e, 0.0]])
        assert classes.weak_correlations(E, 900, reading).holds is holds


def test_counts_have_the_right_length_and_support():
    counts = classes.draw_counts(np.random.default_rng(1), TWO, 0, 5000, 8)
    assert (counts.sum(axis=1) == 8).all()
    assert (counts[:, 3] == 0).all()
    assert counts.mean(axis=0) == pytest.approx(8 * P[0], abs=0.1)  # five standard errors


def test_layered_classes_by_hand():
    one = classes.layered_classes([1.0], [[1.0], [2.0, 1.0]], 5, [0, 0])
    assert one.probabilities.tolist() == [[0.5, 0.5, 0, 0, 0], [0.25, 0, 0.5, 0.25, 0]]
    with pytest.raises(ValueError, match="do not fit a vocabulary of 3"):
        classes.layered_classes([1.0], [[1.0], [2.0, 1.0]], 3, [0, 0])


@pytest.mark.parametrize(("K", "epsilon"), [(2, 0.5), (5, 0.1), (30, 0.9)])
def test_equicorrelated_classes_are(K, epsilon):
    one = classes.equicorrelated_classes(K, K + 1, epsilon)
    E = classes.correlations(classes.unit_scores(one))
    assert pytest.approx(epsilon * (1 - np.eye(K))) == E
    with pytest.raises(ValueError, match="between 0 and 1"):
        classes.equicorrelated_classes(K, K + 1, 1.0)


def test_paired_classes_have_eigenvalues_of_one_size():
    E = classes.correlations(classes.unit_scores(classes.paired_classes(6, 9, 0.1)))
    assert np.abs(np.linalg.eigvalsh(E)) == pytest.approx(np.full(6, 0.1))
    with pytest.raises(ValueError, match="K must be even"):
        classes.paired_classes(3, 9, 0.1)


def test_random_classes_have_the_roles_that_were_asked_for():
    for seed in range(20):
        one = classes.random_classes(np.random.default_rng(seed), 4, 30, 3, 2, queries=2)
        assert classes.common_tokens(one) == (0, 1, 2)
        assert all(len(classes.distinct_tokens(one, n)) == 2 for n in range(4))
        assert one.query == (0, 1, 0, 1)
    with pytest.raises(ValueError, match="do not fit"):
        classes.random_classes(np.random.default_rng(0), 4, 9, 3, 2)


def test_the_synthetic_data_of_the_paper():
    small = classes.synthetic_classes(2, 1)
    assert (small.K, small.L, small.M) == (2, 2, 34)
    medium = classes.synthetic_classes(10, 2)
    assert (medium.K, medium.L, medium.M) == (20, 10, 240)
    assert medium.query == tuple(n // 2 for n in range(20))
    distinct = [k / 10 for k in range(1, 11)]
    weights = [*[1.0] * 10, *[0.0] * 10, *distinct, *[0.0] * 4]  # of the second class
    assert small.probabilities[1] * 15.5 == pytest.approx(weights)
    E = classes.correlations(classes.unit_scores(small))
    assert E[0, 1] == pytest.approx(10 / (10 + sum(k**2 for k in distinct)))
