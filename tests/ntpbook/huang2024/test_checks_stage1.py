"""Claims on stage 1: by hand, by other means, and with planted errors."""

import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest

from ntpbook.huang2024.s5_stage1 import stage1_claims as claims
from ntpbook.shared import digits
from ntpcore.huang2024 import bounds, stage1
from ntpcore.verdicts.claims import Verdict

PAIR = claims.cyclic_run(2, 1.0, 20)  # W* = (1/2) [[-1, 1], [1, -1]], norm 1
FOUR = claims.cyclic_run(4, 0.1, 60)
RUNS = [PAIR, FOUR, claims.cyclic_run(5, 2.0, 60)]
ROWS = claims.first_stage(PAIR).rows


def literal(size, eta0, steps, start=None):
    """W_ov after some steps of equation (7) in many digits, on one cycle of tokens."""
    following = [(x + 1) % size for x in range(size)]
    E = digits.exact(np.eye(size))
    if start is None:
        return digits.train_ov(following, E, eta0, steps)
    W = digits.exact(start)
    with mp.workdps(digits.DIGITS):
        for _ in range(steps):
            G = digits.stage1_gradient(following, W, E)
            W = W - mp.mpf(eta0) * G / digits.norm(G)
    return W


def planted(**changes):
    """A measurement of stage 1 in which some columns are changed by functions."""

    def measure(run, scale):
        first = claims.first_stage(run, scale)
        columns = {name: change(getattr(first.rows, name)) for name, change in changes.items()}
        return replace(first, rows=replace(first.rows, **columns))

    return measure


# Equation (7)


def test_huang2024_eq_7_by_hand_for_two_tokens():
    _, W = stage1.iterate(np.array([1, 0]), 1, 3.0)
    assert pytest.approx(np.array([[-1.5, 1.5], [1.5, -1.5]]), abs=1e-15) == W


def test_huang2024_eq_7_agrees_with_many_digits_from_a_random_start():
    start = np.random.default_rng(1).normal(size=(3, 3))
    _, W = stage1.iterate(np.array([1, 2, 0]), 25, 0.3, start=start)
    assert pytest.approx(digits.as_floats(literal(3, 0.3, 25, start)), abs=1e-13) == W


def test_huang2024_eq_7_is_proved_and_its_control_is_noticed():
    assert claims.check_huang2024_eq_7(seed=1, trials=4).verdict is Verdict.PROVED
    assert claims.control_huang2024_eq_7(seed=1).noticed


def test_stage_1_runs_begin_with_the_experiment_and_fifty_times_its_step():
    found = claims.collection(3, 0)
    paper = [0.2 / math.sqrt(size) for size in (20, 2, 3, 50, 4)]  # the last one is Example 1
    rates = [run.constants.eta0 for run in found]
    assert rates[::2] == pytest.approx(paper)
    assert rates[1::2] == pytest.approx([50 * rate for rate in paper])


# The law


def test_ours_stage_1_law_by_hand_for_two_tokens():
    assert stage1.weights(np.array([1, 0]), 4, 0.5) == pytest.approx(np.array([[-1, 1], [1, -1]]))
    assert math.exp(stage1.log_loss(2, 4, 0.5)) == pytest.approx(2 * math.log(1 + math.exp(-2)))


def test_ours_stage_1_law_agrees_with_many_digits():
    law = stage1.weights(np.array([1, 2, 3, 4, 0]), 40, 2.0)
    W = literal(5, 2.0, 40)
    assert digits.relative_distance(digits.exact(law), W) < 1e-15
    with mp.workdps(digits.DIGITS):
        loss = digits.stage1_loss([1, 2, 3, 4, 0], W, digits.exact(np.eye(5)))
        assert float(mp.log(loss)) == pytest.approx(stage1.log_loss(5, 40, 2.0), rel=1e-14)


def test_ours_stage_1_law_is_proved_and_its_control_is_noticed():
    assert claims.check_ours_stage_1_law(RUNS).verdict is Verdict.PROVED
    assert claims.control_ours_stage_1_law().noticed


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("norm", lambda x: 1.0000001 * x),
        ("one_minus_cos", lambda x: x + 1e-6),
        ("log_loss", lambda x: x + 1e-6),
        ("least_gap", lambda x: 0.999999 * x),
    ],
)
def test_ours_stage_1_law_notices_a_trajectory_that_is_off(column, change):
    check = claims.check_ours_stage_1_law(RUNS, measure=planted(**{column: change}))
    assert check.verdict is Verdict.REFUTED


# Equation (8), Lemmas 1 to 3


def test_huang2024_eq_8_by_hand_at_zero():
    # two mistakes of 1/2, gradient of norm 1
    assert (ROWS.mistakes[0], ROWS.cos_star[0]) == pytest.approx((1.0, -1.0))


def test_huang2024_eq_8_agrees_with_a_dense_product():
    rng = np.random.default_rng(3)
    following, star = [2, 0, 1], stage1.W_ov_star(np.array([2, 0, 1]))
    for _ in range(5):
        W = rng.normal(size=(3, 3)) * 3
        G = digits.as_floats(
            digits.stage1_gradient(following, digits.exact(W), digits.exact(np.eye(3)))
        )
        T = np.exp(W) / np.exp(W).sum(axis=0)
        wrong = T.sum() - T[following, range(3)].sum()
        assert (G * star).sum() == pytest.approx(-wrong, rel=1e-12)


def test_huang2024_eq_8_is_proved_and_its_control_is_noticed():
    assert claims.check_huang2024_eq_8(RUNS).verdict is Verdict.PROVED
    assert claims.control_huang2024_eq_8().noticed


def test_huang2024_lem_1_by_hand_for_two_tokens():
    assert bounds.lem_1_norm(PAIR.constants, 10.0, 1.0) == (4.0, 11.0)
    assert ROWS.norm == pytest.approx(ROWS.step)


def test_huang2024_lem_1_agrees_with_many_digits_from_a_random_start():
    start = np.random.default_rng(4).normal(size=(4, 4))
    norm = float(digits.norm(literal(4, 0.1, 30, start)))
    first = float(np.linalg.norm(start))
    lower, upper = bounds.lem_1_norm(FOUR.constants, 30.0, first)
    assert lower <= norm <= upper
    rows, _ = stage1.iterate(np.array([1, 2, 3, 0]), 30, 0.1, start=start)
    assert rows.norm[-1] == pytest.approx(norm, rel=1e-13)


@pytest.mark.parametrize("factor", [1.001, 0.01])
def test_huang2024_lem_1_notices_scaled_weights(factor):
    assert claims.check_huang2024_lem_1(RUNS).verdict is Verdict.CONSISTENT
    scaled = planted(norm=lambda x: factor * x)
    assert claims.check_huang2024_lem_1(RUNS, scaled).verdict is Verdict.REFUTED
    assert claims.control_huang2024_lem_1().noticed


def test_huang2024_lem_2_by_hand_for_two_tokens():
    # ||W*|| = 1 and |V| = 2: 1 + 2 log 4 / ||W||
    assert bounds.lem_2_factor(PAIR.constants, 4.0) == pytest.approx(1 + math.log(2))
    assert ROWS.cos_weights[1:] == pytest.approx(-1)


def test_huang2024_lem_2_holds_at_random_matrices():
    rng = np.random.default_rng(6)
    n = np.array([1, 2, 3, 0])
    for scale in (0.01, 1.0, 30.0):
        W = rng.normal(size=(4, 4)) * scale
        G = digits.stage1_gradient(n.tolist(), digits.exact(W), digits.exact(np.eye(4)))
        G = digits.as_floats(G)
        norm = np.linalg.norm(W)
        factor = bounds.lem_2_factor(FOUR.constants, norm)
        right = factor * (G * stage1.W_ov_star(n)).sum() * norm / math.sqrt(3)
        assert (G * W).sum() >= right


def test_huang2024_lem_2_is_consistent_and_its_control_is_noticed():
    check = claims.check_huang2024_lem_2(RUNS)
    assert check.verdict is Verdict.CONSISTENT
    assert [one.verdict for one in check.readings] == [Verdict.PROVED, Verdict.CONSISTENT]
    assert claims.control_huang2024_lem_2().noticed


def test_huang2024_lem_3_by_hand_for_three_tokens():
    W = stage1.weights(np.array([1, 2, 0]), 1, 2**0.5)
    assert W[:, 0] == pytest.approx([-1 / 3, 2 / 3, -1 / 3])


def test_huang2024_lem_3_agrees_with_many_digits():
    W = literal(5, 0.7, 12)
    for x in range(5):
        wrong = [W[v, x] for v in range(5) if v != (x + 1) % 5]
        assert max(wrong) - min(wrong) < 1e-50


def test_huang2024_lem_3_is_proved_and_its_control_is_noticed():
    assert claims.check_huang2024_lem_3(RUNS).verdict is Verdict.PROVED
    assert claims.control_huang2024_lem_3().noticed


# Propositions 1 and 3


def test_huang2024_prop_1_by_hand_for_the_experiment():
    c = claims.cyclic_run(20, 0.2 / 20**0.5, 900).constants
    bound = 12 * 19**1.5 * math.log(40) * math.log(900) / (900 * 0.2 / 20**0.5)
    assert math.exp(bounds.log_prop_1_direction(c, math.log(900))) == pytest.approx(bound)
    numbers, vacuous = claims._vacuity(claims.cyclic_run(20, 0.2 / 20**0.5, 900))
    assert float(numbers["bound"]) == pytest.approx(bound, rel=1e-3)
    assert numbers["from"] == "1.14e6"
    assert vacuous.startswith("t = 1.14e6")


def test_huang2024_prop_1_agrees_with_many_digits():
    c = claims.cyclic_run(5, 2.0, 60).constants
    for t in (2, 7, 60):
        W = literal(5, 2.0, t)
        with mp.workdps(digits.DIGITS):
            loss = digits.stage1_loss([1, 2, 3, 4, 0], W, digits.exact(np.eye(5)))
            assert loss <= 20 * mp.exp(-bounds.prop_1_loss_rate(c) * t)
        lower, upper = bounds.prop_1_norm(c, t)
        assert lower <= float(digits.norm(W)) <= upper * (1 + 1e-15)


@pytest.mark.parametrize("column", ["norm", "log_loss"])
def test_huang2024_prop_1_notices_planted_errors(column):
    assert claims.check_huang2024_prop_1(RUNS).verdict is Verdict.PROVED
    off = planted(**{column: lambda x: x + 10})
    assert claims.check_huang2024_prop_1(RUNS, off).verdict is Verdict.REFUTED
    assert claims.control_huang2024_prop_1().noticed


def test_huang2024_prop_1_speaks_of_a_reader_s_run_alone():
    check = claims.check_huang2024_prop_1([FOUR])
    assert (check.verdict, check.tried, check.numbers["T"]) == (Verdict.PROVED, 1, "60")
    assert claims.check_huang2024_prop_1([]).verdict is Verdict.OPEN


def test_huang2024_prop_3_by_hand_cosine_is_one():
    assert claims.first_stage(PAIR).rows.one_minus_cos[1:].max() < 1e-30


def test_huang2024_prop_3_agrees_with_many_digits():
    W = digits.as_floats(literal(5, 2.0, 9))
    star = stage1.W_ov_star(np.array([1, 2, 3, 4, 0]))
    cosine = (W * star).sum() / np.linalg.norm(W) / 2
    assert cosine == pytest.approx(1, abs=1e-15)


def test_huang2024_prop_3_notices_a_wrong_direction_where_the_bound_bites():
    assert claims.check_huang2024_prop_3(RUNS).verdict is Verdict.PROVED
    assert claims.control_huang2024_prop_3().noticed
    blind = claims.check_huang2024_prop_3([FOUR], claims.backwards)
    assert blind.verdict is not Verdict.REFUTED  # the bound says nothing at sixty small steps


# Corollary 1


def test_huang2024_cor_1_by_hand_for_two_tokens():
    # A = 20 / 4 = 5, and the margin is 20 > 15
    assert bounds.cor_1_interval(PAIR.constants) == (5.0, 15.0)
    assert ROWS.greatest_gap[-1] == pytest.approx(20)


def test_huang2024_cor_1_is_refuted_by_many_digits_where_its_condition_holds(monkeypatch):
    monkeypatch.setattr(digits, "DIGITS", 300)  # for probabilities of e^-600
    c = claims.cyclic_run(2, 200.0, 3).constants
    assert bounds.log_cor_1_condition(c, math.log(3), power=7) <= 0
    W = digits.as_floats(literal(2, 200.0, 3))
    assert W[1, 0] - W[0, 0] > bounds.cor_1_interval(c)[1]


def test_huang2024_cor_1_is_refuted_under_every_reading_and_its_control_is_noticed():
    check = claims.check_huang2024_cor_1([FOUR, claims.cyclic_run(2, 7.0, 900)])
    assert check.verdict is Verdict.REFUTED
    assert {one.verdict for one in check.readings} == {Verdict.REFUTED}
    assert check.witness.startswith("|V| = 2, eta0 = 7, T = 900: all margins are 6300")
    assert "every T" in claims.check_huang2024_cor_1([FOUR]).witness
    assert claims.control_huang2024_cor_1().noticed


def test_huang2024_cor_1_upper_end_four_survives_one_reading_only():
    assert claims._always_above("3", 1)
    assert not claims._always_above("4", 1)
    assert not claims._always_above("4", 2)  # equality for two tokens


def test_huang2024_cor_1_is_open_where_symbols_and_measurements_disagree(monkeypatch):
    monkeypatch.setattr(claims, "_end", lambda upper, size: 1e9 if size == 2 else 3.0)
    for runs in ([PAIR], [FOUR, PAIR], [PAIR, FOUR]):
        check = claims.check_huang2024_cor_1(runs)
        assert (check.verdict, check.tried) == (Verdict.OPEN, 0)
        assert check.evidence.startswith("By symbols the margins are above the interval, by")
    assert claims.check_huang2024_cor_1([FOUR]).verdict is Verdict.REFUTED


def test_huang2024_cor_1_ratios_by_hand():
    # four tokens: margins T eta0 / sqrt(3), which is 4 sqrt(3) A; two tokens: 4 A
    check = claims.check_huang2024_cor_1([FOUR, PAIR])
    assert (check.numbers["least_ratio"], check.numbers["greatest_ratio"]) == ("4", "6.928")
    assert (check.numbers["ratio"], check.numbers["runs"]) == ("6.928", "2")


def test_huang2024_cor_1_corrected_by_hand_for_five_tokens():
    assert stage1.gap(5, 6, 0.5) == 1.5


def test_huang2024_cor_1_corrected_agrees_with_many_digits():
    W = digits.as_floats(literal(5, 2.0, 7))
    gaps = [W[(x + 1) % 5, x] - W[v, x] for x in range(5) for v in range(5) if v != (x + 1) % 5]
    assert gaps == pytest.approx([7.0] * 20, rel=1e-14)


def test_huang2024_cor_1_corrected_is_proved_and_its_control_is_noticed():
    assert claims.check_huang2024_cor_1_corrected(RUNS).verdict is Verdict.PROVED
    assert claims.control_huang2024_cor_1_corrected().noticed
    other = claims.check_huang2024_cor_1_corrected([FOUR], claims.backwards)
    assert other.verdict is Verdict.REFUTED
