"""Checks of the page on the experiment: Figure 2, and the steps from which bounds say something."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ntpcore import generate, stage1
from ntpcore.checks.huang2024 import experiment
from ntpcore.claims import Verdict


@pytest.fixture(scope="module")
def both() -> list[experiment.Both]:
    """The experiment on two seeds of each kind."""
    return [
        *experiment.experiments(7, 2),
        *experiment.experiments(7, 2, prefix_closed=False),
    ]


def test_huang2024_fig_2_shows_what_the_text_says(both: list[experiment.Both]) -> None:
    check = experiment.check_huang2024_fig_2(both)
    assert check.verdict is Verdict.CONSISTENT
    assert experiment.check_huang2024_fig_2([]).verdict is Verdict.OPEN


def test_huang2024_fig_2_uses_the_parameters_of_the_paper() -> None:
    setting = generate.experiment(7)
    assert len(setting.data.vocabulary) == 20
    assert (setting.steps1, setting.steps2) == (900, 900)
    assert setting.eta0 == pytest.approx(0.2 / math.sqrt(20))
    assert setting.eta == pytest.approx(0.05 / math.sqrt(20))


def test_huang2024_fig_2_stage_1_follows_the_exact_law(both: list[experiment.Both]) -> None:
    first, c = both[0].first, both[0].run.constants
    expected = [stage1.log_loss(20, int(step), c.eta0) for step in first.step]
    assert first.log_loss == pytest.approx(expected, rel=1e-12)


def test_huang2024_fig_2_straightness_agrees_with_the_correlation() -> None:
    rng = np.random.default_rng(7)
    steps = np.arange(50)
    values = 0.3 * steps + rng.normal(size=50)
    expected = np.corrcoef(steps, values)[0, 1] ** 2
    assert experiment.straightness(steps, values) == pytest.approx(expected)


def test_huang2024_fig_2_notices_broken_trajectories(both: list[experiment.Both]) -> None:
    assert experiment.control_huang2024_fig_2(both).noticed


def test_huang2024_fig_2_panels_hold_all_runs(both: list[experiment.Both]) -> None:
    shown = experiment.panel_values(both)
    limits, notes = experiment.panel_limits(both)
    assert tuple(shown) == experiment.PANELS
    assert {values.shape[0] for _, values in shown.values()} == {len(both)}
    assert set(limits) | set(notes) == set(experiment.PANELS)


def test_ours_bites_says_that_nothing_bites(both: list[experiment.Both]) -> None:
    found = [one.run for one in both]
    check = experiment.check_ours_bites(found)
    assert check.verdict is Verdict.CONSISTENT
    assert len(experiment.bite_table(found).rows) == len(experiment.BITES)


def test_ours_bites_proposition_1_by_hand(both: list[experiment.Both]) -> None:
    # 12 19^1.5 log 40 log t / (t eta0) falls below 1
    t = math.exp(experiment.log_bites([both[0].run])["prop_1"][0])
    eta0 = both[0].run.constants.eta0
    assert 12 * 19**1.5 * math.log(40) * math.log(t) / (t * eta0) == pytest.approx(1)


def test_ours_bites_theorem_1_by_plain_search(both: list[experiment.Both]) -> None:
    run = both[0].run
    c = run.constants
    fixed = 54 * c.sample_count * c.max_length**4 * c.norm_kq**4 / c.eta
    t = 1e3
    while fixed * math.log(t) ** 2 / t >= 1:
        t *= 1.001
    assert experiment.log_bites([run])["thm_1"][0] == pytest.approx(math.log(t), abs=0.002)


def test_ours_bites_notices_steps_that_suffice(both: list[experiment.Both]) -> None:
    found = [one.run for one in both]
    assert experiment.control_ours_bites(found).noticed
    assert experiment.check_ours_bites([]).verdict is Verdict.OPEN
