"""Bounds have the values that one computes by hand, under every reading."""

import math

import numpy as np
import pytest

from ntpcore.data import dataset
from ntpcore.huang2024 import bounds, problem, training

EXAMPLE_1 = problem.from_dataset(dataset.read("examples/example1.txt"))
C = bounds.constants(EXAMPLE_1, eta0=0.1, eta=0.025, steps1=900)
KQ2 = 13 / 6  # ||W_kq_star||^2; ||W_ov_star||^2 is 3, N is 9 and L_max is 3


def test_constants_of_example_1():
    assert (C.vocab_size, C.sample_count, C.max_length, C.steps1) == (4, 9, 3, 900)
    assert C.norm_ov == pytest.approx(math.sqrt(3))
    assert C.norm_kq == pytest.approx(math.sqrt(KQ2))
    assert C.log_pi_min == pytest.approx(-math.log(9))
    assert pytest.approx(0.1 / 12) == C.C0
    assert pytest.approx(0.025 / 26) == C.C1


def test_a_bound_takes_the_likeliest_reading_unless_told_otherwise():
    s = math.log(900)
    first = {label: next(iter(read.items())) for label, read in bounds.READINGS.items()}
    for label, bound in (
        ("huang2024-cor-1", lambda **read: bounds.log_cor_1_condition(C, s, **read)),
        ("huang2024-lem-7", lambda **read: bounds.log_lem_7_alpha(C, 20.0, **read)),
        ("huang2024-thm-1", lambda **read: bounds.log_thm_1_direction(C, s, **read)),
        ("huang2024-thm-2", lambda **read: bounds.log_thm_2_condition_2(C, s, **read)),
        ("huang2024-thm-3", lambda **read: bounds.thm_3_slope_printed(C, **read)),
    ):
        name, (likeliest, other, *_) = first[label]
        assert bound() == bound(**{name: likeliest}) != bound(**{name: other})


def test_the_readings_of_each_uncertain_number_begin_with_the_likeliest():
    assert bounds.READINGS == {
        "huang2024-cor-1": {"power": (5, 7)},
        "huang2024-lem-7": {"factor": (4, 8)},
        "huang2024-thm-1": {"factor": (54, 53)},
        "huang2024-thm-2": {"c0": (1696, 1728, 864, 432)},
        "huang2024-thm-3": {"length_power": (1, 2)},
    }


def test_bounds_of_stage_1_by_hand():
    assert bounds.prop_1_norm(C, 100) == (pytest.approx(5 / math.sqrt(3)), pytest.approx(10))
    expected = 12 * 3 * math.sqrt(3) * math.log(8) * math.log(100) / 10
    assert bounds.log_prop_1_direction(C, math.log(100)) == pytest.approx(math.log(expected))
    assert bounds.prop_1_loss_rate(C) == pytest.approx(0.1 / (4 * math.sqrt(3)))
    assert bounds.prop_1_loss_rate(C, exact=True) == pytest.approx(0.1 / math.sqrt(3))
    low, high = bounds.lem_1_norm(C, 100, start=0.5)
    assert (low, high) == (pytest.approx(5 / math.sqrt(3) - 0.5), pytest.approx(10.5))
    assert bounds.lem_1_cosine(C) == pytest.approx(-1 / (2 * math.sqrt(3)))
    assert bounds.lem_2_factor(C, 10.0) == pytest.approx(1 + math.sqrt(3) * math.log(8) / 5)
    assert bounds.cor_1_interval(C) == (pytest.approx(7.5), pytest.approx(22.5))
    # 4 sqrt(|V| - 1) A, above 3 A for every |V|
    assert bounds.cor_1_corrected(C) == pytest.approx(4 * math.sqrt(3) * 7.5)
    for power in bounds.READINGS["huang2024-cor-1"]["power"]:
        needed = 384 * 3 ** (power / 2) * math.log(8) * math.log(900) / 0.1
        ratio = bounds.log_cor_1_condition(C, math.log(900), power=power)
        assert ratio == pytest.approx(math.log(needed / 900))


def test_bounds_of_stage_2_by_hand():
    assert bounds.lem_5_weight(C) == pytest.approx(1 / 3)
    assert bounds.lem_6_norm(C, 1000)[0] == pytest.approx(25 / (6 * math.sqrt(KQ2)))
    low, high = bounds.lem_6_norm(C, 1000, start=1)
    assert (low, high) == (pytest.approx(25 / (6 * math.sqrt(KQ2)) - 1), pytest.approx(26))
    assert bounds.thm_1_norm(C, 1000) == bounds.lem_6_norm(C, 1000)
    assert bounds.lem_6_cosine(C, 1 / 3) == pytest.approx(-1 / (6 * math.sqrt(KQ2)))
    assert bounds.lem_7_start(C) == 2080
    alpha = 4 * 9 * 9 * KQ2 / 20 * (1 + math.log(6 * 20))
    assert bounds.log_lem_7_alpha(C, 20.0) == pytest.approx(math.log(alpha))
    assert bounds.log_lem_7_alpha(C, 20.0, factor=8) == pytest.approx(math.log(2 * alpha))
    assert bounds.thm_1_largest_eta(C) == pytest.approx(math.sqrt(KQ2) / math.e)
    direction = 54 * 9 * 81 * KQ2**2 * math.log(900) ** 2 / (900 * 0.025)
    assert direction == pytest.approx(3.8e5, rel=0.01)
    assert bounds.log_thm_1_direction(C, math.log(900)) == pytest.approx(math.log(direction))
    for c0 in bounds.READINGS["huang2024-thm-2"]["c0"]:
        needed = c0 * 9 * 81 * KQ2**3 * math.log(900) ** 2 / 0.025
        ratio = bounds.log_thm_2_condition_2(C, math.log(900), c0=c0)
        assert ratio == pytest.approx(math.log(needed / 900))
    needed = 384 * 3**2.5 * math.log(4) * math.log(900) / 0.1
    assert bounds.log_thm_2_condition_1(C, math.log(900)) == pytest.approx(math.log(needed / 900))
    assert bounds.thm_2_log_odds(C, 2000) == pytest.approx(50 / 26 - math.log(3))
    assert bounds.eq_13_gap(C, 2000) == pytest.approx(50 / 26)


def test_the_loss_bound_and_both_floors():
    left = 6 / (3 + math.exp(50 / 26))
    assert bounds.log_eq_4_loss(C, 2000) == pytest.approx(math.log(4) - 7.5 * (1 - left))
    assert bounds.log_eq_4_loss(C, 1e7) == pytest.approx(math.log(bounds.loss_floor_printed(C)))
    assert bounds.loss_floor_printed(C) == pytest.approx(4 * math.exp(-7.5))
    assert bounds.loss_floor(C) == training.floor(4, bounds.cor_1_corrected(C))
    assert bounds.loss_floor(C) == pytest.approx(3 * math.exp(-30 * math.sqrt(3)), rel=1e-12)
    assert bounds.loss_excess_rate(C, exact=True) == pytest.approx(0.025 / math.sqrt(KQ2))
    assert bounds.loss_excess_rate(C) == C.C1


def test_the_slope_of_theorem_3_by_hand():
    """Column O scores 2/3, -1/3, -1/3: its least size is 1/3."""
    slope = bounds.thm_3_slope(C, EXAMPLE_1.solutions.values())
    assert slope == pytest.approx(0.025 / 3 / math.sqrt(KQ2))
    assert slope / 0.025 == pytest.approx(0.2265, abs=1e-4)
    assert bounds.thm_3_slope_printed(C) == pytest.approx(0.025 / (6 * KQ2))
    assert bounds.thm_3_slope_printed(C, length_power=2) == pytest.approx(0.025 / (18 * KQ2))


def test_a_rare_sample_enters_as_corrected_only():
    rare = problem.from_dataset(
        dataset.from_sentences(["0 1 2", "2 3 0"]),
        {"1": "2", "3": "0"},
        log_weights=[0.0, 0.0, -6.8e6, -6.8e6],
    )
    c = bounds.constants(rare, eta0=0.1, eta=0.36, steps1=900)
    s = math.log(1.4e7)
    printed = math.exp(bounds.log_thm_1_direction(c, s))
    assert printed == pytest.approx(54 * 4 * 16 * s**2 / (1.4e7 * 0.36))
    assert 1 - printed == pytest.approx(0.8143, abs=1e-4)
    corrected = bounds.log_thm_1_direction(c, s, rarity=bounds.PI_MIN)
    assert corrected - math.log(printed) == pytest.approx(6.8e6 + math.log(2 / 4), rel=1e-12)
    assert bounds.bites_from(
        lambda s: bounds.log_thm_1_direction(c, s, rarity=bounds.PI_MIN)
    ) == pytest.approx(6.8e6, rel=1e-3)
    with pytest.raises(ValueError, match="rarity is 'n'; give 'N' or '1/pi_min'"):
        c.log_rarity("n")


def test_the_step_from_which_a_bound_says_something():
    start = bounds.bites_from(lambda s: bounds.log_thm_1_direction(C, s))
    # 54 N L^4 ||W*||^4 log^2 t = t eta; float roots of exponents near 27 are known to 1e-13
    assert 54 * 9 * 3**4 * KQ2**2 * start**2 == pytest.approx(0.025 * math.exp(start), rel=1e-11)
    assert start > 2  # beyond the greatest value of log^2 t / t, where the bound only falls
    assert bounds.log_thm_1_direction(C, start) < 0
    assert bounds.log_thm_1_direction(C, math.nextafter(start, 0)) >= 0
    condition = bounds.bites_from(lambda s: bounds.log_thm_2_condition_2(C, s))
    by_hand = 1696 * 9 * 3**4 * KQ2**3 * condition**2  # is t eta
    assert by_hand == pytest.approx(0.025 * math.exp(condition), rel=1e-11)
    assert condition > 2
    # a bound of twice the size becomes useful later, and one of an easier level sooner
    later = bounds.bites_from(lambda s: bounds.log_thm_1_direction(C, s) + math.log(2))
    assert later > start
    assert bounds.bites_from(lambda s: bounds.log_thm_1_direction(C, s), math.log(2)) < start


def test_a_bound_that_always_or_never_bites():
    assert bounds.bites_from(lambda s: -s) == 2.0
    assert bounds.bites_from(lambda s: 1.0) == math.inf


def test_bounds_take_many_steps_at_once():
    t = np.array([10.0, 100.0, 1000.0])
    for one in (
        lambda t: bounds.log_thm_1_direction(C, np.log(t)),
        lambda t: bounds.log_prop_1_direction(C, np.log(t)),
        lambda t: bounds.log_lem_7_alpha(C, t),
        lambda t: bounds.thm_2_log_odds(C, t),
        lambda t: bounds.log_eq_4_loss(C, t),
        lambda t: bounds.lem_6_norm(C, t)[0],
    ):
        assert one(t) == pytest.approx([one(float(step)) for step in t], rel=1e-14)


def test_the_bound_of_stage_1_at_the_experiment():
    big = bounds.Constants(20, 50, 4, math.sqrt(19), 3.0, -4.0, 0.2 / 20**0.5, 0.05 / 20**0.5, 900)
    value = math.exp(bounds.log_prop_1_direction(big, math.log(900)))
    # 12 (|V| - 1)^(3/2) log(2 |V|) log t / (t eta_0)
    by_hand = 12 * 19**1.5 * math.log(40) / (0.2 / 20**0.5)
    assert value == pytest.approx(by_hand * math.log(900) / 900, rel=1e-12)
    start = bounds.bites_from(lambda s: bounds.log_prop_1_direction(big, s))
    assert by_hand * start == pytest.approx(math.exp(start), rel=1e-11)
    assert start > 1  # beyond the greatest value of log t / t
