"""What the paper says in passing (huang2024), on the page s5_stage2."""

from dataclasses import replace

import numpy as np
import pytest

from ntpbook.huang2024.s5_stage2 import stage2_app
from ntpbook.huang2024.s7_experiment import experiment
from ntpbook.shared import rare
from ntpbook.shared.without_asm_3 import outnumbered_run
from ntpcore.huang2024 import runs
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


def test_huang2024_app_directions_by_hand_a_power_law_is_read_off(trained):
    t = np.maximum(trained[0].second.rows.step.astype(float), 0.5)
    half = with_rows(trained[0], one_minus_cos=3 * t**-0.5)
    assert stage2_app.late_exponent(half) == pytest.approx(-0.5, abs=1e-9)
    check = stage2_app.check_huang2024_app_directions([half])
    assert check.witness.endswith("falls like t to the power -0.50 at the end")


def test_huang2024_app_directions_hold_on_long_runs_and_the_control_is_noticed(trained):
    check = stage2_app.check_huang2024_app_directions(trained)
    assert (check.verdict, check.tried) == (Verdict.CONSISTENT, len(trained))
    assert float(check.numbers["fastest"]) <= float(check.numbers["slowest"]) < -1.5
    assert stage2_app.control_huang2024_app_directions(trained[0]).noticed
    ends = [float(run.second.rows.one_minus_cos[-1]) for run in trained]
    assert check.numbers["angle"] == f"{max(ends):.1g}"


def test_huang2024_app_linear_norms_by_hand_for_two_equal_sentences():
    # every step adds eta along W*: the norm is t eta
    assert EQUAL.second.rows.norm[-1] == pytest.approx(300 * 0.36, rel=1e-12)
    check = stage2_app.check_huang2024_app_linear_norms([EQUAL])
    assert (check.verdict, check.numbers["least"]) == (Verdict.PROVED, "1.00")


def test_huang2024_app_linear_norms_hold_and_a_root_is_noticed(trained):
    check = stage2_app.check_huang2024_app_linear_norms([*trained, outnumbered_run()])
    assert (check.verdict, check.numbers["runs"]) == (Verdict.PROVED, str(len(trained)))
    assert 0 < float(check.numbers["least"]) <= float(check.numbers["most"]) <= 1
    assert stage2_app.control_huang2024_app_linear_norms(trained[0]).noticed
    longer = with_rows(trained[0], norm=trained[0].second.rows.norm * 1.2)
    assert "step 1" in stage2_app.check_huang2024_app_linear_norms([longer]).witness
