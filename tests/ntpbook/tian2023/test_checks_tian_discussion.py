"""Tests of the checks on the abstract and the discussion of Tian et al. (2023)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ntpbook.tian2023.s7_discussion import (
    discussion,
    discussion_end,
    discussion_extra,
    discussion_loses,
    discussion_residual,
    discussion_runs,
)
from ntpcore.tian2023 import layer, population
from ntpcore.verdicts.claims import Verdict

CONSISTENT, PROVED, REFUTED = Verdict.CONSISTENT, Verdict.PROVED, Verdict.REFUTED


@pytest.fixture(scope="module")
def runs():
    """Symmetric and two random sets of classes, with both ratios."""
    return discussion_runs.collection(seed=5, random=2)


# The first stage and the order


def test_tian2023_app_uniform_start_by_hand():
    run = discussion_runs.trajectory("two", discussion_runs.symmetric(2), 10.0, np.array([100.0]))
    assert run.c[0] == pytest.approx(run.classes.probabilities)
    assert run.common == [0]
    assert run.distinct(1) == [5, 6, 7, 8]
    assert run.c[1, 0, 0] < run.c[0, 0, 0]


def test_tian2023_app_uniform_start_agrees_on_average_only(runs):
    check = discussion.check_tian2023_app_uniform_start(runs)
    assert check.verdict is CONSISTENT
    assert [reading.verdict for reading in check.readings] == [CONSISTENT, CONSISTENT, REFUTED]


def test_tian2023_app_uniform_start_notices_the_wrong_sign(runs):
    assert discussion.control_tian2023_app_uniform_start(runs[0]).noticed


def test_tian2023_app_dropping_by_hand(runs):
    # symmetric classes: scores in the order of the probabilities
    z = runs[1].z[-1, 0, runs[1].distinct(0)]
    assert (np.diff(z) > 0).all()
    assert z[0] > 0


def test_tian2023_app_dropping_agrees_with_plain_steps_where_it_fails():
    data = population.of_classes(discussion.disordered_classes(), M=discussion_runs.VOCABULARY)
    start = population.start(data)
    stepped = population.descend(data, start, 0.5, 0.05, 3000)  # 1500 units of time
    flowed = population.flow(data, start, 1.0, 0.1, np.array([1500.0]))[0]
    rare, often = stepped.z[0, 0, 3:]
    assert often < rare < -1e-4
    # the steps are half a unit of time long, against times of a thousand
    assert stepped.z == pytest.approx(flowed.z, abs=2e-3)
    sharper = population.flow(data, start, 1.0, 0.1, np.array([1500.0]), relative=1e-10)[0]
    assert flowed.z == pytest.approx(sharper.z, abs=discussion.INTEGRATOR)


def test_tian2023_app_dropping_depends_on_the_ratio(runs):
    check = discussion.check_tian2023_app_dropping(runs)
    assert check.verdict is CONSISTENT
    assert [reading.verdict for reading in check.readings] == [CONSISTENT, REFUTED, REFUTED]
    broken = discussion_runs.trajectory("example", discussion.disordered_classes(), 10.0)
    assert discussion.check_tian2023_app_dropping([broken], fast=1.0).verdict is REFUTED


def test_tian2023_app_dropping_notices_the_wrong_sign(runs):
    assert discussion.control_tian2023_app_dropping(runs[1]).noticed


# No winner, no end


def test_tian2023_app_no_winner_by_hand(runs):
    shares = runs[0].shares(0)
    assert shares[0] == pytest.approx([0.12, 0.2, 0.28, 0.4])
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(shares)))


def test_tian2023_app_no_winner_agrees_within_the_horizon_only(runs):
    check = discussion_end.check_tian2023_app_no_winner(runs)
    assert check.verdict is CONSISTENT
    assert [reading.verdict for reading in check.readings] == [CONSISTENT, REFUTED]
    early, late = (discussion_end.takeover_log_time(3, 0.2, share, 10.0) for share in (0.8, 0.9))
    assert 1 < early < late < math.inf


def test_tian2023_app_no_winner_notices_stretched_scores(runs):
    assert discussion_end.control_tian2023_app_no_winner(runs[0]).noticed


def test_tian2023_app_no_stationary_by_hand():
    # at Y = 0 every next token has the probability 1 / M
    run = discussion_runs.trajectory("two", discussion_runs.symmetric(2), 10.0, np.array([1.0]))
    found, expected = discussion_end.dual_slope(run, run.states[0])
    assert found == pytest.approx(1 - 1 / 1000)
    assert expected == pytest.approx(1 - 1 / 1000)


def test_tian2023_app_no_stationary_agrees_with_the_dual_slope(runs):
    check = discussion_end.check_tian2023_app_no_stationary(runs)
    assert check.verdict is CONSISTENT
    assert float(check.numbers["exponent"]) < 0.1


def test_tian2023_app_no_stationary_notices_vectors_that_are_not_dual(runs):
    assert discussion_end.control_tian2023_app_no_stationary(runs[0]).noticed


# Heads and positions


def test_tian2023_app_heads_by_hand():
    one = discussion_runs.symmetric(2)
    z = np.zeros((2, 1, 9))
    z[1, 0, 1] = 9.0  # the second head prefers the rarest token of the first class
    assert discussion_extra.winners(one, z) == [(3, 3), (0, 3)]


def test_tian2023_app_heads_agrees_for_other_starts():
    check = discussion_extra.check_tian2023_app_heads(spreads=(0.3,), seed=3)
    assert check.verdict is CONSISTENT
    assert check.numbers["narrow"] == "1"


def test_tian2023_app_heads_notices_equal_starts():
    assert discussion_extra.control_tian2023_app_heads().noticed


def test_tian2023_app_positions_by_hand():
    # a bias of ln 3 on the second of two tokens
    b = layer.softmax(np.array([0.0, math.log(3)]))
    assert b == pytest.approx([0.25, 0.75])


def test_tian2023_app_positions_agrees_and_shortens_contexts():
    check = discussion_extra.check_tian2023_app_positions(cases=16)
    assert check.verdict is PROVED
    assert float(check.numbers["far"]) > 10 * float(check.numbers["flat"])


def test_tian2023_app_positions_notices_a_factor():
    assert discussion_extra.control_tian2023_app_positions().noticed


# Residual connection


def test_tian2023_app_residual_by_hand():
    one = discussion_residual.two_queries(0.1, 1.0)
    assert one.probabilities[0] == pytest.approx(np.array([1, 10, 10] + [0] * 7) / 21)
    apart = discussion_residual.two_queries(0.1, 1.0, shared=False)
    assert apart.probabilities[2, [0, 1, 4, 8, 9]] == pytest.approx(
        np.array([0, 0, 10, 1, 10]) / 21
    )


@pytest.mark.parametrize(("skip", "local"), [("before", 0.3), ("after", 1.0)])
def test_tian2023_app_residual_agrees_with_plain_steps(skip, local):
    one = discussion_residual.two_queries(0.1, local)
    data = population.of_classes(one, discussion_residual.QUERIES, discussion_runs.VOCABULARY)
    end = population.descend(data, population.start(data), 1.0, 0.1, 1000, skip)
    assert end.z[0, 0, 1] < -1e-4
    assert discussion_residual.local_score(one, skip, 10.0, 1000.0) == pytest.approx(
        end.z[0, 0, 1], rel=0.1
    )


def test_tian2023_app_residual_is_refuted_in_every_reading():
    check = discussion_residual.check_tian2023_app_residual()
    assert check.verdict is REFUTED
    assert len(check.readings) == 4
    found = discussion_residual.modified_force(discussion_residual.two_queries(0.1, 1.0), "after")
    assert found.correlation >= 0.5
    assert found.force < 0


def test_tian2023_app_residual_finds_nothing_without_shared_contexts():
    assert discussion_residual.control_tian2023_app_residual().noticed


# Spurious tokens


def test_tian2023_app_spurious_by_hand():
    assert discussion_extra.chance_of_spurious(1, 1, 0.5) == pytest.approx(0.5)
    assert discussion_extra.chance_of_spurious(100, 40, 0.01) < 1e-15


def test_tian2023_app_spurious_agrees_for_other_data():
    check = discussion_extra.check_tian2023_app_spurious(sizes=(1, 4, 32), repeats=4, seed=2)
    assert check.verdict is CONSISTENT


def test_tian2023_app_spurious_notices_the_wrong_sign():
    assert discussion_extra.control_tian2023_app_spurious().noticed


def test_ours_distinct_loses_by_flow_and_by_steps():
    check = discussion_loses.check_ours_distinct_loses(discussion_loses.example())
    assert check.verdict is Verdict.CONSISTENT
    assert all(float(z) < 0 for z in check.numbers["flow"].split(", "))
    assert all(float(z) < 0 for z in check.numbers["steps"].split(", "))


def test_ours_distinct_loses_notices_classes_whose_tokens_gain():
    assert discussion_loses.control_ours_distinct_loses().noticed
    slow = discussion_loses.example(ratio=100.0)
    assert discussion_loses.check_ours_distinct_loses(slow, steps=10).verdict is Verdict.REFUTED
