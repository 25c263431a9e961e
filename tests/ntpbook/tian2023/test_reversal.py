"""Tests of the chapter on why sparsity turns back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ntpbook.tian2023.reversal import checks, figure_6, inertia, noise
from ntpcore.tian2023 import coupled
from ntpcore.tian2023.classes import synthetic_classes
from ntpcore.tian2023.experiments import distinct_entropy, medium, simulate
from ntpcore.verdicts.claims import Verdict

SYN = coupled.syn(5, 2)


# Every check: its verdict, and its planted errors noticed, with other seeds than the page's


@pytest.mark.parametrize("name", ["momentum", "noise", "small", "flow", "dip"])
def test_verdict_and_planted_errors(name: str) -> None:
    parameters = {"seed": 101} if name in ("noise", "small") else {}
    found = getattr(checks, f"check_ours_turn_{name}")(**parameters)
    assert found.verdict is Verdict.SEEN
    assert len(found.controls) >= 2


def test_ours_turn_small_has_two_classes_and_hardly_turns_in_the_population() -> None:
    for size in checks.two_classes():
        assert size.data.K == 2
        assert checks.rise(size, 1.0, 1.0, 0.9, 2000) < 0.01
    assert checks.rise(checks.Size(3), 1.0, 1.0, 0.9, 2000) > 0.09  # six classes


def test_the_interval_of_a_difference_by_hand() -> None:
    less, more = np.zeros(4), np.array([1.0, 2.0, 3.0, 4.0])
    # mean 2.5, standard error (5/3)^(1/2)/2, Student's quantile 3.182
    assert checks.larger(less, more, 0.05) == pytest.approx(2.5 - 3.182 * (5 / 12) ** 0.5, abs=1e-3)


def test_ours_turn_noise_measures_the_far_end_of_the_interval() -> None:
    found = np.array([1.0, 2.0, 3.0, 4.0])
    half = 3.182 * (5 / 12) ** 0.5
    assert checks.away(found, 0.0, 0.05) == pytest.approx(2.5 + half, abs=1e-3)
    assert checks.away(found, 4.0, 0.05) == pytest.approx(1.5 + half, abs=1e-3)


# Momentum in the population


def test_without_momentum_the_heavy_ball_is_plain_descent() -> None:
    ours = inertia.roll(SYN, 2.0, 1.0, 0.0, [0, 1, 50])
    plain = coupled.descend(SYN, 2.0, 1.0, [0, 1, 50])
    assert ours.rows == pytest.approx(plain.rows, abs=1e-15)


def test_two_steps_of_the_heavy_ball_by_hand() -> None:
    data = coupled.Symmetric(2, 4, (1.0,), (1.0,))
    one = inertia.roll(data, 1.0, 1.0, 0.5, [1, 2]).rows
    after = coupled.descend(data, 1.0, 1.0, [1]).rows[0]
    p, f, g, out = np.array([0.5, 0.5]), np.empty(2), np.empty(2), np.empty(5)
    coupled.fill_slopes(after, p, 1, 2, 4, 1, 1.0, 1.0, False, f, g, out)
    assert one[0] == pytest.approx(after, abs=1e-16)
    assert one[1] == pytest.approx(after + 0.5 * after + out, abs=1e-15)


def test_ours_turn_momentum_and_not_its_absence() -> None:
    with_it = inertia.turned(SYN, 1.0, 1.0, 0.9, 2000)
    without = inertia.turned(SYN, 1.0, 10.0, 0.0, 2000)  # the same effective rates
    assert with_it.rise > 0.08
    assert without.rise < 0.002


def test_it_is_inertia_and_not_the_size_of_a_step() -> None:
    # 1 - beta and eta ten times smaller: the same path of a ball in time, ten times finer
    refined = inertia.turned(SYN, 1.0, 0.01, 0.99, 20_000)
    assert refined.rise > 0.08
    # the same steps without inertia
    assert inertia.turned(SYN, 1.0, 1.0, 0.0, 20_000).rise < 0.002


def test_the_turn_vanishes_with_the_ratio_and_grows_with_momentum() -> None:
    rises = [inertia.turned(SYN, r, 1.0, 0.9, 2000).rise for r in (1.0, 2.0, 3.0, 5.0, 10.0)]
    assert sorted(rises, reverse=True) == rises
    assert rises[-1] == 0
    by_beta = [inertia.turned(SYN, 1.0, 10 * (1 - b), b, 2000).rise for b in (0, 0.5, 0.8, 0.9)]
    assert sorted(by_beta) == by_beta


def test_ours_turn_dip_is_moved_and_deepened_by_momentum() -> None:
    ratios = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
    moved = {}
    for L, at in ((1, 1.0), (3, 1.5), (5, 2.0), (10, 3.0)):
        fast = inertia.dip(coupled.syn(L, 2), ratios, 1.0, 0.9, 100)
        slow = inertia.dip(coupled.syn(L, 2), ratios, 10.0, 0.0, 100)
        assert ratios[int(np.argmin(fast))] == at
        moved[L] = ratios[int(np.argmin(slow))]
        assert moved[L] >= at
        if L > 1:  # below the entropy at ratio 1, and at ratio 10
            assert fast[1] - fast.min() > 1.4 * (slow[1] - slow.min())
            assert fast[-1] - fast.min() > 2 * (slow[-1] - slow.min())
    assert moved == {1: 2.0, 3: 5.0, 5: 3.0, 10: 3.0}


@pytest.mark.parametrize("ratio", [1.0, 10.0, 100.0])
def test_ours_turn_flow_weakly_at_every_ratio(ratio: float) -> None:
    turn = inertia.weak_turn(coupled.syn(1, 2), ratio)
    assert 0.005 < turn.rise < 0.02
    in_time = coupled.flow(coupled.syn(1, 2), ratio, 1.0, np.geomspace(1, 1e8, 161))
    if ratio == 1.0:
        seen = inertia.turn(in_time.entropy, np.log10(in_time.t))
        assert seen.at == pytest.approx(turn.at, abs=0.06)  # twenty points in each decade
        assert seen.least == pytest.approx(turn.least, abs=1e-5)
    if ratio == 100.0:  # its turn is at 10^29, beyond the run
        assert inertia.turn(in_time.entropy, in_time.t).rise == 0


def test_the_flows_own_turn_is_timed_in_units_of_the_attention_s_rate() -> None:
    # eta_Y = 1.5 eta_Z: eta_Y and eta_Z exchanged would shift log10(eta_Z t) by 2 log10(1.5)
    in_time = coupled.flow(coupled.syn(1, 2), 1.5, 1.0, np.geomspace(1, 1e8, 161))
    seen = inertia.turn(in_time.entropy, np.log10(in_time.t))
    assert seen.at == pytest.approx(inertia.weak_turn(coupled.syn(1, 2), 1.5).at, abs=0.1)


def test_forgetting_ends_the_flows_own_turn() -> None:
    path = coupled.flow(coupled.syn(1, 2), 1.0, 1.0, np.geomspace(1, 1e8, 81), forget=True)
    assert inertia.turn(path.entropy, path.t).rise < 1e-9


def test_an_entropy_that_is_no_number_is_an_error() -> None:
    with pytest.raises(ValueError, match="not a number"):
        inertia.turn(np.array([1.0, np.nan]), np.arange(2.0))
    with pytest.raises(ValueError, match="beta"):
        inertia.roll(SYN, 1.0, 1.0, 1.0, [1])


# The simulator: noise, finite sequences, momentum


def test_ours_turn_noise_in_the_simulator_it_is_momentum_too() -> None:
    for length in (127, noise.ENDLESS):
        setting = noise.Setting(0.9, 128, length)
        assert noise.simulated(SYN, setting, 1.0, 1, 1000).rise > 0.05
        assert noise.simulated(SYN, replace(setting, momentum=0.0), 1.0, 1, 1000).rise < 0.01
    start = noise.Setting(0.9, 128, 127, True)
    assert noise.simulated(SYN, start, 1.0, 1, 1000).rise > 0.05
    assert noise.simulated(SYN, replace(start, momentum=0.0), 1.0, 1, 1000).rise < 0.01


def test_long_sequences_and_large_batches_are_the_population() -> None:
    setting = noise.Setting(0.9, 4096, noise.ENDLESS)
    seen = noise.simulated(SYN, setting, 2.0, 1, 60)
    exact = inertia.turned(SYN, 2.0, 1.0, 0.9, 60)
    # noise of a batch of 4096 over ten classes, 60 steps
    assert seen.end == pytest.approx(exact.end, abs=0.005)
    short = noise.simulated(SYN, replace(setting, length=127), 2.0, 1, 60)
    assert abs(short.end - exact.end) > abs(seen.end - exact.end)


# Figure 6


def table(means: dict[float, float], sd: float, seeds: int, rng: np.random.Generator):
    """Entropies with given means by ratio, falling with eta_Z, and paired noise."""
    shared = rng.normal(size=seeds)
    return {
        (3, e, r): mean - 0.1 * e + sd * (shared + 0.1 * rng.normal(size=seeds))
        for r, mean in means.items()
        for e in (0.5, 1.0, 2.0)
    }


def test_a_clear_rise_is_seen_and_its_opposite_is_not() -> None:
    rng = np.random.default_rng(0)
    good = table({1.0: 2.1, 2.0: 2.0, 5.0: 2.05, 10.0: 2.1}, 0.05, 20, rng)
    found = figure_6.judge(good)
    assert (found.verdict, len(found.supported)) == ("seen", 14)
    assert figure_6.judge(good, threshold=1.0).verdict == "not seen"
    assert figure_6.dips(good) == {3: "dip"}


def test_no_difference_is_undecided() -> None:
    rng = np.random.default_rng(1)
    flat = table({1.0: 2.0, 2.0: 2.0, 5.0: 2.0, 10.0: 2.0}, 0.5, 20, rng)
    found = figure_6.judge(flat)
    assert found.verdict == "undecided"
    assert not found.against


def test_pairing_resolves_what_separate_streams_do_not() -> None:
    rng = np.random.default_rng(2)
    noisy = table({2.0: 2.0, 5.0: 2.1}, 0.3, 20, rng)
    assert figure_6.judge(noisy).verdict == "seen"
    assert figure_6.judge(noisy, paired=False).verdict == "undecided"


def test_the_interval_by_hand() -> None:
    one, other = np.zeros(4), np.array([1.0, 2.0, 3.0, 4.0])
    mean, error, quantile = figure_6.compare(one, other, 0.05)
    assert mean == 2.5
    assert error == pytest.approx((5 / 3) ** 0.5 / 2)
    assert quantile == pytest.approx(3.182, abs=1e-3)  # Student's t, 3 degrees of freedom
    with pytest.raises(ValueError, match="finite"):
        figure_6.compare(one, np.array([1.0, 2.0, np.nan, 3.0]), 0.05)


def test_the_level_is_kept_where_nothing_differs() -> None:
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(200):
        flat = table({2.0: 2.0, 5.0: 2.0, 10.0: 2.0}, 0.1, 10, rng)
        found = figure_6.judge(flat, level=0.2)
        wrong += any(x.first[1] == x.second[1] for x in (*found.against, *found.supported))
    assert wrong <= 60  # 20 per cent of 200 at most in the mean, and three standard deviations


def test_a_small_sweep_of_the_simulator_is_seen() -> None:
    rates = tuple((r, 1.0) for r in (2.0, 5.0, 10.0)) + tuple(
        (2 * r, 2.0) for r in (2.0, 5.0, 10.0)
    )
    streams = [simulate(medium(3, seed, rates)) for seed in range(1, 11)]
    classes = synthetic_classes(3, 2)
    found = {
        (3, e, y / e): np.array([distinct_entropy(classes, s.Z[c, -1]) for s in streams])
        for c, (y, e) in enumerate(rates)
    }
    outcome = figure_6.judge(found)
    assert outcome.verdict == "seen"
    assert len(outcome.supported) == 7


def test_a_heavy_lower_tail_is_found() -> None:
    values = np.concatenate([np.linspace(1.9, 2.1, 50), [0.8]])
    found = figure_6.tails({(1, 2.0, 10.0): values, (1, 1.0, 1.0): values[:-1]})
    assert list(found) == [(1, 2.0, 10.0)]
