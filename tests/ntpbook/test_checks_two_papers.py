"""Checks of the page that lays the two papers side by side."""

from fractions import Fraction

import numpy as np
import pytest

from ntpbook.two_papers import two_clocks, two_papers
from ntpcore.data import generate, order
from ntpcore.data.dataset import from_samples
from ntpcore.data.examples import example_1
from ntpcore.tian2023 import classes, decoder
from ntpcore.tian2023.classes import synthetic_classes
from ntpcore.verdicts.claims import Verdict

DATA = [
    generate.random_dataset(np.random.default_rng((7, i)), 6, 20, 5, prefix_closed=i % 2 == 0)
    for i in range(8)
]
OUTNUMBERED = [
    generate.random_dataset(
        np.random.default_rng((7, i)), 8, 30, 6, prefix_closed=False, frequent=False
    )
    for i in range(10)
]


def structures(data):
    """Orders and assumptions of data sets."""
    return [order.analyse(one) for one in data]


def test_ours_two_layer_holds_on_random_matrices():
    check = two_papers.check_ours_two_layer(DATA)
    assert check.verdict is Verdict.CONSISTENT
    assert check.tried > 100
    assert two_papers.control_ours_two_layer(DATA).noticed
    assert two_papers.check_ours_two_layer([]).verdict is Verdict.OPEN


def test_ours_two_layer_notices_a_sentence_read_in_another_way(monkeypatch):
    plain = two_papers.joint.attend
    monkeypatch.setattr(two_papers.joint, "attend", lambda s, Z: plain(s, Z.T))
    assert two_papers.check_ours_two_layer(DATA).verdict is Verdict.REFUTED


def two_classes():
    """Classes a and b of query q; o and r are optimal, d is distinct and not optimal."""
    n = {"o": "a", "r": "b", "d": "o", "c": "r", "q": "d", "a": "c", "b": "q"}
    samples = [((x,), y) for x, y in n.items()]
    samples += [(("o", "o", "d", "c", "q"), "a"), (("r", "c", "q"), "b")]
    return from_samples(samples, "two classes")


def test_ours_two_optimal_distinct_by_hand():
    structure = order.analyse(two_classes())
    assert structure.realizable.holds
    assert structure.orders["q"].optimal == ("o", "r")
    check = two_papers.check_ours_two_optimal_distinct([structure])
    assert (check.verdict, check.tried) == (Verdict.CONSISTENT, 2)
    assert check.numbers["shared"] == "2"  # c and q
    assert "d" in structure.orders["q"].nonoptimal  # distinct, and not optimal


def test_ours_two_optimal_distinct_notices_non_optimal_tokens():
    found = structures(DATA)
    assert two_papers.check_ours_two_optimal_distinct(found).verdict is Verdict.CONSISTENT
    assert two_papers.control_ours_two_optimal_distinct(found).noticed


def test_ours_two_most_frequent_by_hand():
    structure = order.analyse(two_classes())
    rows = two_papers.classes_of_query(structure.data, "q")["a"]
    assert two_papers.context_shares(rows) == {
        "o": Fraction(2, 5),
        "d": Fraction(1, 5),
        "c": Fraction(1, 5),
        "q": Fraction(1, 5),
    }
    check = two_papers.check_ours_two_most_frequent([structure])
    assert check.verdict is Verdict.CONSISTENT
    assert check.numbers["ties"] == "1"


def test_ours_two_most_frequent_needs_assumption_3():
    found = structures(OUTNUMBERED)
    assert all(one.realizable.holds for one in found)
    assert two_papers.control_ours_two_most_frequent(found).noticed


def test_ours_two_example_1_and_its_control():
    check = two_papers.check_ours_two_example_1(example_1())
    assert check.verdict is Verdict.CONSISTENT
    assert check.numbers["score"] == "-1/3"
    assert "S, V, O" in check.evidence
    assert two_papers.control_ours_two_example_1(example_1()).noticed


def test_ours_two_choice_follows_counts_where_no_token_is_seen_alone():
    counts = [(3, 2), (2, 2), (2, 3)]
    assert two_papers.check_ours_two_choice(counts, 200).verdict is Verdict.CONSISTENT
    assert two_papers.control_ours_two_choice([(3, 2)], 200).noticed
    hidden = two_papers.choices(two_papers.rivals(2, 3), 5.0, 0.5, 200)[3]
    assert hidden.training == two_papers.JOINT_HIDDEN
    assert hidden.rival > 1.5 * hidden.optimal


def test_ours_two_choice_data_are_realizable_with_the_optimal_tokens_said():
    for optimal, rival, frequent in ((3, 2, True), (2, 2, True), (2, 3, False)):
        structure = order.analyse(two_papers.rivals(optimal, rival))
        assert structure.realizable.holds
        assert structure.frequent.holds is frequent
        assert structure.orders["q"].optimal == ("o1", "o2")


def test_ours_two_syn_small_and_its_control():
    check = two_papers.check_ours_two_syn_small(synthetic_classes(2, 1), samples=20, seeds=(1,))
    assert check.verdict is Verdict.CONSISTENT
    assert two_papers.control_ours_two_syn_small().noticed


def test_ours_two_speed_on_example_1():
    run = two_clocks.stage_2(example_1(), 4000, 4.0, 3.0)
    assert two_clocks.check_ours_two_speed([run]).verdict is Verdict.CONSISTENT
    assert two_clocks.control_ours_two_speed([run]).noticed
    assert two_clocks.check_ours_two_speed([]).verdict is Verdict.OPEN


DESIGN = two_clocks.Design(3, 1000, 0.4, (0.2, 0.4))


def test_ours_two_path_and_its_control():
    assert two_clocks.check_ours_two_path([DESIGN], 5.0, 0.5, 1e6).verdict is Verdict.CONSISTENT
    assert two_clocks.control_ours_two_path([DESIGN], 5.0, 0.5, 1e6).noticed


def test_ours_two_path_distance_by_hand():
    path, other = np.array([[1.0, -4.0], [2.0, 3.0]]), np.array([[1.0, -3.0], [2.0, 3.5]])
    assert two_clocks.relative_distance(path, other) == 0.25


def test_ours_two_path_direction_is_that_of_equation_10_summed_over_dense_vectors():
    data = classes.layered_classes([0.4], [[0.2, 0.4]] * 3, 1000, (0, 0, 0))
    z = np.array([0.3, -0.1, -0.7])
    row = np.zeros((1, 1000))
    row[0, 0] = z[2]
    row[0, 1:7] = np.tile(z[:2], 3)
    f = classes.unit_scores(data, row)
    force = sum(f[n] * (f[n] * (f[n] @ f[k]) - f[k]) for n in range(3) for k in range(3) if k != n)
    ours = two_clocks.direction(DESIGN, z)
    xi = sum(f[0] @ f[k] for k in (1, 2))
    assert force[[1, 2, 0]] == pytest.approx(xi * ours)


def test_ours_two_path_steering_is_xi_of_the_modified_update():
    data = classes.layered_classes([0.4], [[0.2, 0.4]] * 3, 1000, (0, 0, 0))
    E = classes.correlations(classes.unit_scores(data))
    state = decoder.flow(decoder.zero_decoder(1000, E), 0.5, np.array([100.0]), True)[-1]
    gamma = float(decoder.speed(1000, 3, 0.5, 100.0))
    steering = two_clocks.steering(DESIGN, np.zeros(3))
    assert decoder.xi(state, 0) == pytest.approx(gamma * steering, rel=1e-6)
