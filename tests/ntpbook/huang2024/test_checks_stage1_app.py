"""What the paper says of stage 1 in passing, and displays inside the proofs of Appendix B."""

import math

import numpy as np
import pytest

from ntpbook.huang2024.s5_stage1 import stage1_app as said
from ntpbook.huang2024.s5_stage1 import stage1_displays as displays
from ntpbook.huang2024.s5_stage1.stage1_claims import cyclic_run
from ntpbook.shared.said import settle
from ntpcore.huang2024 import stage1
from ntpcore.verdicts.claims import Verdict

RUNS = [cyclic_run(size, eta0, 60) for size in (2, 3, 7) for eta0 in (0.1, 2.0)]


def direct_loss(W):
    """L_0 written plainly, for the collocation x -> x + 1."""
    columns = range(len(W))
    return sum(np.log(np.exp(W[:, x] - W[(x + 1) % len(W), x]).sum()) for x in columns)


def settled(**changes):
    """`settle` on a statement that everything speaks for, but for some changes."""
    given = {"symbols": {"a": True}, "fault": "", "tried": 3, "unit": "u", "evidence": "E."}
    return settle("huang2024-app-convex", **{**given, **changes})


def test_settling_takes_the_worst_that_was_found():
    assert settled().verdict is Verdict.PROVED
    assert settled(symbols={}).verdict is Verdict.CONSISTENT
    unseen = settled(symbols={"a": True, "b": False, "c": False})
    assert unseen.verdict is Verdict.CONSISTENT
    assert unseen.evidence == "E. Not shown in general: b, c."
    refuted = settled(fault="here", tried=2)
    assert (refuted.verdict, refuted.witness, refuted.tried) == (Verdict.REFUTED, "here", 2)
    nothing = settled(tried=0)
    assert (nothing.verdict, nothing.tried) == (Verdict.OPEN, 0)
    assert settled(numbers={"a": "1"}, parameters={"seed": 3}).parameters == {"seed": 3}


def test_huang2024_app_stage_1_limit_by_hand_for_two_tokens():
    star = np.array([[-0.5, 0.5], [0.5, -0.5]])
    assert said.log_loss(said.cycle(2), 3 * star) == pytest.approx(
        math.log(2 * math.log(1 + math.exp(-3))), abs=1e-14
    )
    check = said.check_huang2024_app_stage_1_limit((2, 3))
    assert (check.verdict, check.tried) == (Verdict.PROVED, 8)
    assert check.numbers["at_100"] == f"{6 * math.exp(-100):.0e}"


def test_huang2024_app_stage_1_limit_loss_agrees_with_the_plain_formula():
    W = np.random.default_rng(1).normal(size=(5, 5))
    assert math.exp(said.log_loss(said.cycle(5), W)) == pytest.approx(direct_loss(W), rel=1e-13)


def test_huang2024_app_stage_1_limit_control_notices_a_margin_of_zero():
    assert said.control_huang2024_app_stage_1_limit().noticed
    assert "|V| = 2, B = 1: log" in said.check_huang2024_app_stage_1_limit(short=1.0).witness


def test_huang2024_app_convex_second_derivative_agrees_with_differences():
    z, v = np.random.default_rng(2).normal(size=(2, 4))

    def value(s):
        return np.log(np.exp(z + s * v).sum())

    second = (value(1e-4) - 2 * value(0) + value(-1e-4)) / 1e-8
    p = np.exp(z) / np.exp(z).sum()
    by_pairs = sum(p[i] * p[j] * (v[i] - v[j]) ** 2 / 2 for i in range(4) for j in range(4))
    assert second == pytest.approx(by_pairs, rel=1e-6)
    assert said.variance_identities() == dict.fromkeys(said.variance_identities(), True)


def test_huang2024_app_convex_is_proved_and_its_control_notices_another_loss():
    check = said.check_huang2024_app_convex(30)
    assert (check.verdict, check.tried) == (Verdict.PROVED, 30)
    assert float(check.numbers["worst"]) >= 0
    assert said.control_huang2024_app_convex().noticed
    # by hand: two tokens, margins 1 and 9 in each column: the middle lies above the chord
    one, other = np.array([[0.0, 1], [1, 0]]), np.array([[0.0, 9], [9, 0]])
    values = [said._loss(said.cycle(2), W, False) for W in (one, other, (one + other) / 2)]
    assert values[0] == pytest.approx(2 / (1 + math.e))
    assert said._loss(said.cycle(2), one, True) == pytest.approx(2 * math.log(1 + 1 / math.e))


def test_huang2024_app_stage_1_rate_holds_with_the_exact_rate_and_no_larger_one():
    check = said.check_huang2024_app_stage_1_rate(RUNS)
    assert (check.verdict, check.numbers["runs"]) == (Verdict.PROVED, "6")
    assert said.check_huang2024_app_stage_1_rate([]).verdict is Verdict.OPEN
    assert said.control_huang2024_app_stage_1_rate().noticed
    assert said.check_huang2024_app_stage_1_rate(RUNS[1:2], faster=1.0001).witness.startswith(
        "|V| = 2, eta0 = 2: at step"
    )


def test_huang2024_app_stage_1_rate_by_hand():
    # |V| = 2, eta_0 = 2, t = 60: L_0 = 2 log(1 + e^-120)
    assert stage1.log_loss(2, 60, 2.0) == pytest.approx(math.log(2) - 120, rel=1e-15)
    first = said.first_stage(RUNS[1])
    assert said._claimed(first, 1.0)[-1] == pytest.approx(math.log(2) - 120, rel=1e-15)


def test_huang2024_app_constant_a_margins_are_equal_and_four_roots_times_the_printed_one():
    check = displays.check_huang2024_app_constant_a(RUNS)
    assert check.verdict is Verdict.PROVED
    assert check.numbers == {"least": "4", "most": f"{4 * math.sqrt(6):.3g}"}
    assert [one.verdict for one in check.readings] == [
        Verdict.PROVED,
        Verdict.PROVED,
        Verdict.REFUTED,
        Verdict.REFUTED,
    ]
    alone = displays.check_huang2024_app_constant_a(RUNS[:2]).readings  # |V| = 2 only
    assert [one.verdict for one in alone][2:] == [Verdict.REFUTED, Verdict.CONSISTENT]


def test_huang2024_app_constant_a_control_notices_a_random_start():
    assert displays.control_huang2024_app_constant_a().noticed
    assert "margins differ" in displays.check_huang2024_app_constant_a(RUNS[2:3], 1.0).witness


def test_huang2024_app_lem_2_lower_by_hand_for_two_tokens():
    # margins 2 and 0: ||W||^2 = 2, r = sqrt 2, the least margin 0, L_0 = log 2 + log(1 + e^-2)
    W = np.array([[-1.0, 0.0], [1.0, 0.0]])
    assert displays.ratio(W) == pytest.approx(math.sqrt(2))
    loss = math.exp(said.log_loss(said.cycle(2), W))
    assert loss == pytest.approx(math.log(2) + math.log(1 + math.exp(-2)))
    assert loss >= math.log1p(math.exp(-math.sqrt(2))) >= math.exp(-math.sqrt(2)) / 2


def test_huang2024_app_lem_2_lower_is_proved_and_near_equality_is_tried():
    check = displays.check_huang2024_app_lem_2_lower(100)
    assert check.verdict is Verdict.PROVED
    assert 0 <= float(check.numbers["closest"]) < 1e-6
    assert displays.control_huang2024_app_lem_2_lower().noticed
    nearly = displays.check_huang2024_app_lem_2_lower(100, share=0.999)
    assert nearly.verdict is Verdict.REFUTED
    assert len({len(W) for W in displays.matrices(5, 7)}) == 5


def test_huang2024_app_lem_2_upper_by_hand_for_two_tokens():
    r = 1.5
    W = (r + 2 * math.log(4)) * stage1.W_ov_star(said.cycle(2))
    loss = 2 * math.log(1 + math.exp(-r) / 16)
    assert math.exp(said.log_loss(said.cycle(2), W)) == pytest.approx(loss, rel=1e-13)
    assert loss <= math.exp(-r) / 4


def test_huang2024_app_lem_2_upper_is_proved_with_both_readings_of_its_factor():
    check = displays.check_huang2024_app_lem_2_upper(100)
    assert check.verdict is Verdict.PROVED
    assert [one.verdict for one in check.readings] == [Verdict.PROVED] * 2
    assert 0.2 < float(check.numbers["most"]) < 0.25
    assert displays.control_huang2024_app_lem_2_upper().noticed


def test_huang2024_app_prop_1_sum_by_hand_and_where_the_last_step_fails():
    check = displays.check_huang2024_app_prop_1_sum(1000)
    assert (check.verdict, check.tried) == (Verdict.PROVED, 999)
    assert [one.verdict for one in check.readings] == [Verdict.PROVED, Verdict.REFUTED]
    # t = 2: the sum is empty; t = 3: 1/2 against log 3
    assert float(check.numbers["slack"]) == pytest.approx(
        math.log(1000) - sum(1 / t for t in range(2, 1000)), abs=5e-4
    )
    # |V| = 2, t = 2, eta_0 = 50: 100 + (100 + 4 log 4) log 2 against 6 log 4 log 2
    assert "|V| = 2, t = 2, η₀ = 50" in check.readings[1].text
    assert displays._last_step(100, 0.5) == ""
    assert displays._last_step(100, 0.9).startswith("fails at |V| = 2, t = 2")


def test_huang2024_app_prop_1_sum_last_step_by_hand_for_five_tokens(monkeypatch):
    # ||W*|| = 2, eta_0 = 4, t = 2: 8 + (16 + 16 log 10) log 2 = 44.6 against 24 log 10 log 2 = 38.3
    monkeypatch.setattr(displays, "SIZES", (5,))
    assert displays._last_step(3, 2.0) == "fails at |V| = 5, t = 2, η₀ = 2‖W*‖"
    assert displays._last_step(3, 1.3) == ""  # it takes 1.34 and more


def test_huang2024_app_prop_1_sum_control_notices_a_sum_begun_too_early():
    assert displays.control_huang2024_app_prop_1_sum().noticed
    assert displays.check_huang2024_app_prop_1_sum(9, begin=1).witness == (
        "t = 2: the sum of 1/t' is 1"
    )
