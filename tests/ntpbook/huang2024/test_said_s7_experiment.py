"""What the paper says in passing (huang2024), on the page s7_experiment."""

import math
from dataclasses import replace

import numpy as np
import pytest

from ntpbook.huang2024.s7_experiment import experiment, experiment_app
from ntpbook.shared import rare
from ntpcore.huang2024 import bounds, runs
from ntpcore.verdicts.claims import Verdict

EQUAL = rare.rare_run(0.0, 300, 0.36)


def with_rows(run, **columns):
    """A run with other measurements."""
    return replace(run, second=replace(run.second, rows=replace(run.second.rows, **columns)))


@pytest.fixture(scope="module")
def trained():
    """Example 1 and four random data sets, 4000 steps at twenty times the paper's step size."""
    return runs.collection(3, 2, 4000, factors=(20,))


@pytest.fixture(scope="module")
def both():
    """The experiment on one data set of each kind."""
    return [
        *experiment.experiments(3, 1),
        *experiment.experiments(3, 1, prefix_closed=False),
    ]


def test_huang2024_app_verifies_by_hand_the_room_is_a_quotient(both):
    one = both[0]
    rows, c = one.run.second.rows, one.run.constants
    log_bound = bounds.log_thm_1_direction(c, math.log(rows.step[-1]))
    assert experiment_app.log_room(one) <= log_bound - math.log(rows.one_minus_cos[-1])
    exact = replace(one, run=with_rows(one.run, one_minus_cos=np.full(len(rows.step), 1.0)))
    t = rows.step[rows.step >= 2]
    expected = min(bounds.log_thm_1_direction(c, math.log(step)) for step in t)
    assert experiment_app.log_room(exact) == pytest.approx(expected)


def test_huang2024_app_verifies_words_but_not_bounds(both):
    check = experiment_app.check_huang2024_app_verifies(both)
    assert check.verdict is Verdict.CONSISTENT
    assert [one.verdict for one in check.readings] == [Verdict.CONSISTENT, Verdict.REFUTED]
    assert float(check.numbers["room"]) > 1e6
    assert check.vacuous.endswith("(Theorem 1)")
    assert experiment_app.control_huang2024_app_verifies(both).noticed
    assert experiment_app.check_huang2024_app_verifies([]).verdict is Verdict.OPEN


def test_huang2024_app_verifies_notices_each_broken_bound(both):
    one = both[0]
    assert experiment_app.bound_faults(one) == []
    first = replace(one, first=replace(one.first, norm=one.first.norm * 1.01))
    assert experiment_app.bound_faults(first) == ["Proposition 1, norm"]
    short = replace(one, first=replace(one.first, norm=one.first.norm * 0.01))
    assert experiment_app.bound_faults(short) == ["Proposition 1, norm"]
    huge = replace(one, run=with_rows(one.run, norm=one.run.second.rows.norm * 2))
    assert experiment_app.bound_faults(huge) == ["Theorem 1"]
    lossy = with_rows(one.run, log_excess=one.run.second.rows.log_excess + 10)
    assert experiment_app.bound_faults(replace(one, run=lossy)) == ["equation (4)"]
    turned = replace(one, first=replace(one.first, one_minus_cos=one.first.one_minus_cos + 1e9))
    assert experiment_app.bound_faults(turned) == ["Proposition 1, direction"]
    assert "Theorem 1 is broken" in experiment_app.check_huang2024_app_verifies([huge]).witness
