"""Tests of the chapter on why sparsity turns back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import plain_layer
import pytest

from ntpbook.ours.reversal import checks, inertia, noise
from ntpbook.shared import heavy_ball
from ntpbook.tian2023.s8_synthetic import expected_loss
from ntpcore.tian2023 import coupled
from ntpverdicts.claims import Verdict

SYN = coupled.syn(5, 2)
# rounding of 2000 contracting steps, a few 1e-16 each, with room for what they amplify
STEPS = 1e-9


def plain(queries: int, following: int) -> tuple[np.ndarray, list[int], int]:
    """Classes of Section 8 for the plain layer: probabilities, queries, outputs."""
    K = queries * following
    P = plain_layer.tokens((1.0,) * 10, tuple(x / 10 for x in range(1, 11)), K)
    return P, [n // following for n in range(K)], 10 + 10 * K + queries + K


@cache
def plain_entropies(
    queries: int, following: int, eta_Y: float, eta_Z: float, beta: float, steps: int
) -> np.ndarray:
    """Entropy after each step of the heavy ball on the matrices Y and Z."""
    P, query, M = plain(queries, following)
    Z = plain_layer.heavy_ball(P, query, M, eta_Y, eta_Z, beta, steps)[2]
    return plain_layer.entropies(P, 10, 10, Z)


# Every check: its verdict, and its planted errors noticed, with other seeds than the page's


def test_ours_turn_momentum_is_tried_on_both_sides_of_two_classes() -> None:
    # ten distinct tokens: two classes are two queries with one next token, or one with two
    tried = {(size.queries, size.following) for size in checks.sizes()}
    assert {(1, 2), (2, 1)} == {x for x in tried if x[0] * x[1] == 2}
    assert {(1, 3), (3, 1)} == {x for x in tried if x[0] * x[1] == 3}


@pytest.mark.parametrize(("queries", "following"), [(1, 2), (2, 1), (1, 3), (3, 1)])
def test_ours_turn_momentum_begins_with_three_classes_on_the_plain_layer(
    queries: int, following: int
) -> None:
    on = plain_entropies(queries, following, 1.0, 1.0, 0.9, 2000)
    off = plain_entropies(queries, following, 10.0, 10.0, 0.0, 2000)
    rises = [float(x[-1] - x.min()) for x in (on, off)]
    assert (rises[0] > 10 * rises[1]) == (queries * following > 2)
    size = expected_loss.Size(queries, following)
    ours = [checks.rise(size, 1.0, 1.0, 0.9, 2000), checks.rise(size, 1.0, 10.0, 0.0, 2000)]
    assert ours == pytest.approx(rises, abs=STEPS)


@dataclass(frozen=True)
class Told:
    """A series of runs of Syn-Small whose rises are told: with short sequences and endless ones."""

    short: tuple[float, ...]
    endless: tuple[float, ...]
    size: expected_loss.Size
    seeds: int = 4

    def rises(self, momentum: float, length: int, uniform: bool = False) -> checks.Floats:
        """The rise of each seed."""
        return np.array(self.endless if length == checks.ENDLESS else self.short)


def test_ours_turn_small_says_hardly_for_one_per_cent_of_ln_10_by_hand() -> None:
    def judged(*of: tuple[float, ...]) -> Verdict:
        return checks.check_ours_turn_small.judge([Told(*of, expected_loss.Size(2, 1))]).verdict

    few, most = (0.001, 0.001, 0.002, 0.002), (0.0229, 0.0229, 0.0230, 0.0230)
    assert judged(most, few) is Verdict.SEEN  # ln(10)/100 = 0.023026
    assert judged((*most[:3], 0.0231), few) is Verdict.NOT_SEEN
    assert judged(few, few) is Verdict.NOT_SEEN  # short ones rise no more


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
    ours = heavy_ball.roll(SYN, 2.0, 1.0, 0.0, [0, 1, 50])
    plain = coupled.descend(SYN, 2.0, 1.0, [0, 1, 50])
    assert ours.rows == pytest.approx(plain.rows, abs=1e-15)


def test_two_steps_of_the_heavy_ball_by_hand() -> None:
    data = coupled.Symmetric(2, 4, (1.0,), (1.0,))
    one = heavy_ball.roll(data, 1.0, 1.0, 0.5, [1, 2]).rows
    after = coupled.descend(data, 1.0, 1.0, [1]).rows[0]
    p, f, g, out = np.array([0.5, 0.5]), np.empty(2), np.empty(2), np.empty(5)
    coupled.fill_slopes(after, p, 1, 2, 4, 1, 1.0, 1.0, False, f, g, out)
    assert one[0] == pytest.approx(after, abs=1e-16)
    assert one[1] == pytest.approx(after + 0.5 * after + out, abs=1e-15)


@pytest.mark.parametrize(("beta", "eta"), [(0.9, 1.0), (0.0, 10.0)])
def test_ours_turn_momentum_is_the_plain_heavy_ball(beta: float, eta: float) -> None:
    exact = plain_entropies(3, 1, eta, eta, beta, 2000)
    data = coupled.syn(3, 1)
    assert heavy_ball.roll(data, eta, eta, beta, range(2001)).entropy == pytest.approx(
        exact, abs=STEPS
    )
    found = inertia.turned(data, 1.0, eta, beta, 2000)
    assert (found.least, found.end, found.at) == pytest.approx(
        (exact.min(), exact[-1], exact.argmin()), abs=STEPS
    )


def test_it_is_inertia_and_not_the_size_of_a_step() -> None:
    # 1 - beta and the root of eta halved: the same path of a ball in time, twice as fine
    rises = [
        inertia.turned(SYN, 1.0, 100 * h**2, 1 - h, round(200 / h)).rise
        for h in (0.1, 0.05, 0.025, 0.0125)
    ]
    steps = np.diff(rises)
    # of first order in h with a next term h^2: the quotients of differences come to one half
    missed = np.abs(steps[1:] / steps[:-1] - 0.5)
    assert missed[0] < 0.1  # the next term is smaller by a factor h
    assert missed[1] < 0.6 * missed[0]  # halved up to the next order
    # the same steps without inertia
    assert inertia.turned(SYN, 1.0, 1.0, 0.0, 20_000).rise < 0.1 * rises[0]


def test_the_turn_vanishes_with_the_ratio_and_grows_with_momentum() -> None:
    rises = [inertia.turned(SYN, r, 1.0, 0.9, 2000).rise for r in (1.0, 2.0, 3.0, 5.0, 10.0)]
    assert sorted(rises, reverse=True) == rises
    assert rises[-1] == 0
    by_beta = [inertia.turned(SYN, 1.0, 10 * (1 - b), b, 2000).rise for b in (0, 0.5, 0.8, 0.9)]
    assert sorted(by_beta) == by_beta


def test_ours_turn_dip_is_moved_and_deepened_by_momentum() -> None:
    for L in (1, 3, 5, 10):
        size = expected_loss.Size(L)
        fast, slow = expected_loss.dips(size, 0.9), expected_loss.dips(size, 0.0)
        assert np.argmin(slow) >= np.argmin(fast)
        assert fast[-1] - fast.min() > slow[-1] - slow.min()


@pytest.mark.parametrize(("beta", "eta"), [(0.9, 1.0), (0.0, 10.0)])
def test_ours_turn_dip_is_that_of_the_plain_heavy_ball(beta: float, eta: float) -> None:
    exact = [plain_entropies(1, 2, r * eta, eta, beta, 100)[-1] for r in expected_loss.RATIOS]
    found = expected_loss.dips(expected_loss.Size(1), beta)
    assert found == pytest.approx(np.array(exact), abs=STEPS)
    assert np.argmin(found) == np.argmin(exact)


@pytest.mark.parametrize(("ratio", "until"), [(1.0, 60.0), (100.0, 150.0)])
def test_ours_turn_flow_is_that_of_the_plain_layer(ratio: float, until: float) -> None:
    P, query, M = plain(1, 2)
    sigma = np.concatenate([[0.0], np.geomspace(0.1, until, 4000)])
    _, Z, t = plain_layer.on_the_clock(P, query, M, ratio, 1.0, sigma)
    entropy = plain_layer.entropies(P, 10, 10, np.array([z[0] for z in Z]))
    turn = inertia.weak_turn(coupled.syn(1, 2), ratio, until)
    i = int(entropy.argmin())
    # LSODA with 1e-10 for each of some hundred steps
    assert (turn.least, turn.end) == pytest.approx((entropy[i], entropy[-1]), abs=1e-7)
    assert turn.rise > 0
    # times are 1 + eta_Y t/K there; the least may be one point of the grid away
    times = [np.log10(t[j] + 2 / ratio) for j in (i - 1, i + 1)]
    assert times[0] <= turn.at <= times[1]
    if ratio == 100.0:  # its turn is beyond what a run in time reaches
        in_time = coupled.flow(coupled.syn(1, 2), ratio, 1.0, np.geomspace(1, 1e8, 161))
        assert turn.at > 8
        assert inertia.turn(in_time.entropy, in_time.t).rise == 0


def test_the_flows_own_turn_is_timed_in_units_of_the_attention_s_rate() -> None:
    # eta_Y = 1.5 eta_Z: eta_Y and eta_Z exchanged would shift log10(eta_Z t) by 2 log10(1.5)
    in_time = coupled.flow(coupled.syn(1, 2), 1.5, 1.0, np.geomspace(1, 1e8, 161))
    seen = inertia.turn(in_time.entropy, np.log10(in_time.t))
    assert seen.at == pytest.approx(inertia.weak_turn(coupled.syn(1, 2), 1.5).at, abs=0.1)


def test_forgetting_ends_the_flows_own_turn() -> None:
    P, query, M = plain(1, 2)
    sigma = np.linspace(0, 15, 76)  # to t = 1e3, the turn of a decoder that remembers
    _, Z, t = plain_layer.on_the_clock(P, query, M, 1.0, 1.0, sigma, forget=10)
    exact = plain_layer.entropies(P, 10, 10, np.array([z[0] for z in Z]))
    times = np.array(t[1:])
    path = coupled.flow(coupled.syn(1, 2), 1.0, 1.0, times, forget=True)
    assert path.entropy == pytest.approx(exact[1:], abs=1e-7)  # LSODA with 1e-10 a step
    assert (np.diff(exact) < 0).all()
    later = coupled.flow(coupled.syn(1, 2), 1.0, 1.0, np.geomspace(1, 1e8, 81), forget=True)
    assert (np.diff(later.entropy) < 0).all()


def test_an_entropy_that_is_no_number_is_an_error() -> None:
    with pytest.raises(ValueError, match="not a number"):
        inertia.turn(np.array([1.0, np.nan]), np.arange(2.0))
    with pytest.raises(ValueError, match="beta"):
        heavy_ball.roll(SYN, 1.0, 1.0, 1.0, [1])


# The simulator: noise, finite sequences, momentum


def test_ours_turn_noise_in_the_simulator_it_is_momentum_too_for_every_seed() -> None:
    series = checks.five_queries(101)[0]  # the runs of the check above
    for length, uniform in ((127, False), (noise.ENDLESS, False), (127, True)):
        on, off = (series.rises(beta, length, uniform) for beta in (0.9, 0.0))
        assert (on > 10 * off).all()


def test_long_sequences_and_large_batches_are_the_population() -> None:
    setting = noise.NoiseSetting(0.9, 4096, noise.ENDLESS)
    seen = noise.simulated(SYN, setting, 2.0, 1, 60)
    exact = inertia.turned(SYN, 2.0, 1.0, 0.9, 60)
    # noise of a batch of 4096 over ten classes, 60 steps
    assert seen.end == pytest.approx(exact.end, abs=0.005)
    short = noise.simulated(SYN, replace(setting, length=127), 2.0, 1, 60)
    assert abs(short.end - exact.end) > abs(seen.end - exact.end)
