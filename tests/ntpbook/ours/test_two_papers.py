"""The page that lays the two papers side by side."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from ntpbook.ours.long_times import stationary
from ntpbook.ours.two_papers import checks, parting_data, paths
from ntpcore.data import order
from ntpcore.data.dataset import from_samples
from ntpcore.data.examples import example_1
from ntpcore.tian2023 import classes, decoder
from ntpcore.tian2023.coupled import Symmetric
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import NotANumberError

# Each check with few instances: its verdict, and that it notices every error planted in it


# One layer


def test_ours_two_layer_by_hand():
    data = from_samples([(("a", "a", "b"), "b"), (("b",), "a")])
    assert data.vocabulary == ("a", "b")
    Y, Z = np.array([[1.0, 0.0], [0.0, 2.0]]), np.zeros((2, 2))
    Z[1, 0] = np.log(2)  # under the query b, a weighs twice as much
    one = checks.Layer("by hand", data, Y, Z)
    seen = checks.layer_of(("a", "a", "b"), one, False)
    assert seen == pytest.approx([4 / 5, 2 / 5])  # b = (4, 1)/5
    assert checks.layer_of(("a", "a", "b"), one, True) == pytest.approx([1.0, 0.0])
    assert checks.check_ours_two_layer.judge([one]).verdict is Verdict.PROVED


def test_ours_two_layer_notices_a_sentence_read_in_another_way(monkeypatch):
    plain = checks.joint.attend
    monkeypatch.setattr(checks.joint, "attend", lambda s, Z: plain(s, Z.T))
    made = checks.random_layers(sets=2)
    assert checks.check_ours_two_layer.judge(made).verdict is Verdict.REFUTED


def test_ours_two_layer_refuses_a_layer_that_is_no_number():
    one = next(checks.random_layers(sets=1))
    with pytest.raises(NotANumberError):
        checks.check_ours_two_layer.judge([replace(one, Y=one.Y * np.nan)])


# Classes of one query


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
    check = checks.check_ours_two_optimal_distinct.judge([structure])
    assert check.verdict is Verdict.PROVED
    assert check.numbers["optimal"].value == 2
    assert check.numbers["shared"].value == 2  # c and q
    assert "d" in structure.orders["q"].nonoptimal  # distinct, and not optimal


def test_ours_two_most_frequent_by_hand():
    structure = order.analyse(two_classes())
    rows = parting_data.classes_of_query(structure.data, "q")["a"]
    assert parting_data.context_shares(rows) == {
        "o": Fraction(2, 5),
        "d": Fraction(1, 5),
        "c": Fraction(1, 5),
        "q": Fraction(1, 5),
    }
    check = checks.check_ours_two_most_frequent.judge([structure])
    assert check.verdict is Verdict.PROVED
    assert check.numbers["ties"].value == 1


def test_ours_two_most_frequent_needs_assumption_3():
    found = checks.outnumbered(sets=10)
    assert all(one.realizable.holds for one in found)
    assert not all(one.frequent.holds for one in found)


# What trainings choose


def test_ours_two_example_1_scores_of_s_and_v_are_equal_fractions():
    check = checks.check_ours_two_example_1.judge([checks.Rates(5.0, 0.5)])
    assert check.numbers["score"].value == Fraction(-1, 3)
    assert [one.sentence for one in example_1().samples()].count(("S", "V", "O")) == 1


def test_ours_two_choice_follows_counts_where_no_token_is_seen_alone():
    hidden = parting_data.choices(parting_data.rivals(2, 3), 5.0, 0.5, 200)[3]
    assert hidden.training == parting_data.JOINT_HIDDEN
    assert hidden.rival > 1.5 * hidden.optimal


def test_ours_two_choice_data_are_realizable_with_the_optimal_tokens_said():
    for optimal, rival, frequent in ((3, 2, True), (2, 2, True), (2, 3, False)):
        structure = order.analyse(parting_data.rivals(optimal, rival))
        assert structure.realizable.holds
        assert structure.frequent.holds is frequent
        assert structure.orders["q"].optimal == ("o1", "o2")


def test_ours_two_syn_small_has_two_queries_with_one_next_token_each():
    for one in checks.syn_small(samples=5, sets=1):
        data = parting_data.syn_data(one.classes, one.seed, one.samples)
        assert {(s.sentence[-1], s.next_token) for s in data.samples()} == {
            ("q0", "n0"),
            ("q1", "n1"),
        }
        assert {len(s.sentence) for s in data.samples()} == {128}


def test_ours_two_speed_by_a_norm_that_follows_the_law_and_one_that_does_not():
    t = np.geomspace(10, 1e4, 40)
    clocks = paths.Clocks(t, np.log(t), 2 * t, 3 / t, 0.99)
    good = checks.check_ours_two_speed.judge([checks.Stage2("by hand", clocks)])
    assert good.verdict is Verdict.SEEN
    for change in ({"plain": t}, {"normalized": np.log(t)}, {"excess": t**-1.2}, {"cosine": 0.9}):
        one = checks.Stage2("planted", replace(clocks, **change))
        assert checks.check_ours_two_speed.judge([one]).verdict is Verdict.NOT_SEEN


# The sphere and the simplex


def dense(design, sphere, rate, until):
    """Top share and all other attention in steps of the dense layer, true gradients, Y = Z = 0.

    Tokens: one common one, then D of each class; outputs: the next tokens, then M - K others. The
    gradients are those of cross-entropy by f = q/|q| or q/sum q, with q = p e^z.
    """
    K, D = design.K, len(design.distinct)
    p = np.zeros((K, 1 + K * D))
    p[:, 0] = design.p[0]
    for n in range(K):
        p[n, 1 + n * D : 1 + (n + 1) * D] = design.p[1:]
    Y, z = np.zeros((1 + K * D, design.M)), np.zeros(1 + K * D)
    for _ in range(round(until / rate)):
        q = p * np.exp(z)
        c = q / q.sum(axis=1, keepdims=True)
        f = q / np.linalg.norm(q, axis=1, keepdims=True) if sphere else c
        alpha = np.exp(f @ Y)
        error = np.eye(K, design.M) - alpha / alpha.sum(axis=1, keepdims=True)
        g = error @ Y.T
        force = f * (g - (f if sphere else 1) * (f * g).sum(axis=1, keepdims=True))
        Y += rate / K * f.T @ error
        z += rate / K * force.sum(axis=0)
    own = c[0, 1 : 1 + D]
    return own.max() / own.sum(), 1 - own.max()


@pytest.mark.parametrize("sphere", [True, False])
def test_ours_two_ball_is_what_the_dense_layer_does(sphere):
    design = Symmetric(2, 6, (0.5,), (0.1, 0.15, 0.25))
    until = 2000.0
    log_t = float(np.log1p(until / 2))
    shares, others = checks.attention(checks.Race(design, 1.0, log_t), sphere)
    top, rest = dense(design, sphere, 0.1, until)
    # steps of 0.1 in the place of a flow: an error of the order of a step, early on
    assert shares[2].max() == pytest.approx(top, abs=2e-3)
    assert others[2] == pytest.approx(rest, abs=5e-3)


def test_ours_two_ball_weak_tokens_drop_for_all_times_reached():
    (crowd,) = checks.many_common()
    shares, _ = checks.attention(crowd, True)
    assert (np.diff(shares[:, :2], axis=0) < 0).all()
    check = checks.check_ours_two_ball.judge([crowd])
    assert check.verdict is Verdict.NOT_SEEN
    assert "strongest token" in check.witness


def test_ours_two_ball_shares_that_go_on_moving_are_noticed(monkeypatch):
    race = checks.Race(Symmetric(2, 2, (0.5,), (0.1, 0.15, 0.25)), 1.0, 1000.0)
    found = {sphere: checks.attention(race, sphere) for sphere in (True, False)}
    monkeypatch.setattr(checks, "attention", lambda _, sphere: found[sphere])
    shares, rest = found[True]
    for factor, verdict in ((100, Verdict.SEEN), (9, Verdict.NOT_SEEN)):
        # the last move is so much smaller than the one before
        last = shares[1] + (shares[1] - shares[0]) / factor
        found[True] = np.array([*shares[:2], last]), rest
        assert checks.check_ours_two_ball.judge([race]).verdict is verdict


def test_ours_two_circle_the_place_of_rest_is_proportional_to_the_gain():
    # Y learned one step under frequency attention: the share of each distinct token is its count's
    data = Symmetric(2, 1000, (0.5,), (0.1, 0.15, 0.25))
    walk = stationary.normalised(data, 5.0, 1e-9, [1, 100])
    still = stationary.rest(data, walk.path.rows[1])
    assert still[1:] / still[1:].sum() == pytest.approx([0.2, 0.3, 0.5], rel=1e-6)


# Equation (10)

DESIGN = Symmetric(3, 1000, (0.4,), (0.2, 0.4))


def test_ours_two_path_a_decoder_that_stands_still_has_no_winner():
    # The same force with a gain that is not in the span of the current f, but that of the start:
    # three classes of one query with a common token (first) and distinct ones.
    p, r = np.array([0.4, 0.2, 0.4]), np.array([0.0, 0.2, 0.4])
    classes_with_it = np.array([3.0, 1.0, 1.0])

    def attention(z):
        f = p * np.exp(z - z.max())
        return f / np.linalg.norm(f)

    def slope(log_t, z):
        f = attention(z)
        return np.exp(log_t) * classes_with_it * f * (r - f * (f @ r))

    until = (0.0, math.log(1e7))
    found = solve_ivp(slope, until, np.zeros(3), method="LSODA", rtol=1e-10, atol=1e-12)
    along = attention(found.y[:, -1]) @ r
    assert along == pytest.approx(np.linalg.norm(r), rel=1e-5)  # f = r/|r|: shares 1/3 and 2/3
    far = paths.normalized_path(DESIGN, np.array([0.0, 400.0]))[-1]
    assert paths.top_share(DESIGN, far) > 0.999


def test_ours_two_path_plain_gradients_that_get_there_are_noticed():
    fast = next(checks.tens(eta_z=5000.0))
    check = checks.check_ours_two_path.judge([fast])
    assert check.verdict is Verdict.REFUTED
    assert "by plain gradients" in check.witness


def test_ours_two_path_distance_by_hand():
    path, other = np.array([[1.0, -4.0], [2.0, 3.0]]), np.array([[1.0, -3.0], [2.0, 3.5]])
    assert paths.relative_distance(path, other) == 0.25


def test_ours_two_path_direction_is_that_of_equation_10_summed_over_dense_vectors():
    data = classes.layered_classes([0.4], [[0.2, 0.4]] * 3, 1000, (0, 0, 0))
    z = np.array([0.3, -0.1, -0.7])
    row = np.zeros((1, 1000))
    row[0, 0] = z[2]
    row[0, 1:7] = np.tile(z[:2], 3)
    f = classes.unit_scores(data, row)
    force = sum(f[n] * (f[n] * (f[n] @ f[k]) - f[k]) for n in range(3) for k in range(3) if k != n)
    ours = paths.direction(DESIGN, z)
    xi = sum(f[0] @ f[k] for k in (1, 2))
    assert force[[1, 2, 0]] == pytest.approx(xi * ours)


def test_ours_two_path_steering_is_xi_of_the_modified_update():
    data = classes.layered_classes([0.4], [[0.2, 0.4]] * 3, 1000, (0, 0, 0))
    E = classes.correlations(classes.unit_scores(data))
    state = decoder.flow(decoder.zero_decoder(1000, E), 0.5, np.array([100.0]), True)[-1]
    gamma = float(decoder.speed(1000, 3, 0.5, 100.0))
    steering = paths.steering(DESIGN, np.zeros(3))
    assert decoder.xi(state, 0) == pytest.approx(gamma * steering, rel=1e-6)
