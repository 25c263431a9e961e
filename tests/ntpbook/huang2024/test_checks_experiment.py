"""Checks of the page on the experiment: Figure 2, and the steps from which bounds say something."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ntpbook.huang2024.s7_experiment import experiment
from ntpcore.data import generate
from ntpcore.huang2024 import bounds, stage1
from ntpcore.verdicts.claims import Verdict


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


def changed(values: np.ndarray, place: int, value: float) -> np.ndarray:
    """The same measurements but for one."""
    other = values.copy()
    other[place] = value
    return other


def test_huang2024_fig_2_names_the_panel_that_is_wrong(both: list[experiment.Both]) -> None:
    """One measurement of one panel is planted wrong at a time."""
    one = both[0]
    first, rows = one.first, one.run.second.rows

    def faults(stage_1: dict[str, object], stage_2: dict[str, object]) -> list[str]:
        second = replace(one.run.second, rows=replace(rows, **stage_2))
        run = replace(one.run, second=second)
        return experiment.panel_faults(replace(one, first=replace(first, **stage_1), run=run))

    assert faults({}, {}) == []
    loss, excess, angle = first.log_loss, rows.log_excess, rows.one_minus_cos
    assert faults({"log_loss": changed(loss, 5, loss[4] + 0.01)}, {}) == [
        "the loss of stage 1 does not fall to its minimum"
    ]
    high = np.linspace(loss[0], loss[0] + math.log(0.011), len(loss))
    assert len(faults({"log_loss": high}, {})) == 1
    low = np.linspace(loss[0], loss[0] + math.log(0.009), len(loss))
    assert faults({"log_loss": low}, {}) == []
    assert faults({"one_minus_cos": changed(first.one_minus_cos, 7, 1e-11)}, {}) == [
        "the direction of stage 1 is not that of W_ov*"
    ]
    assert faults({"norm": changed(first.norm, 7, first.norm[7] * (1 + 1e-11))}, {}) == [
        "the norm of stage 1 is not t eta0"
    ]
    assert faults({}, {"log_excess": changed(excess, 9, excess[8] + 0.01)}) == [
        "the loss of stage 2 does not fall to its minimum"
    ]
    for wrong in (changed(angle, 9, angle[8] + 0.01), np.linspace(0.9, 0.11, len(angle))):
        assert faults({}, {"one_minus_cos": wrong}) == [
            "the direction of stage 2 does not approach W_kq*"
        ]
    assert faults({}, {"norm": np.sqrt(rows.step)}) == ["the norm of stage 2 is not linear"]


def test_huang2024_fig_2_limits_are_the_bounds_of_the_first_run(
    both: list[experiment.Both],
) -> None:
    limits, notes = experiment.panel_limits(both[:1])
    c, steps = both[0].run.constants, both[0].first.step[1:].astype(float)
    (_, decay, _, _), (_, right, _, _), (_, floor, _, _) = (
        *limits[experiment.PANELS[0]],
        *limits[experiment.PANELS[1]],
    )
    start = math.exp(both[0].first.log_loss[1])
    assert decay == pytest.approx(start * np.exp(-bounds.prop_1_loss_rate(c) * steps))
    assert right == pytest.approx(np.exp(bounds.log_eq_4_loss(c, steps)))
    assert floor == pytest.approx(np.full(len(steps), bounds.loss_floor(c)))
    for place, both_sides in ((4, bounds.prop_1_norm), (5, bounds.thm_1_norm)):
        (_, below, *_), (_, above, *_) = limits[experiment.PANELS[place]]
        assert below == pytest.approx(both_sides(c, steps)[0])
        assert above == pytest.approx(both_sides(c, steps)[1])
    # 1 - cos at step 900: 12 19^1.5 log 40 log 900 / (900 eta0), by Proposition 1
    far = 12 * 19**1.5 * math.log(40) * math.log(900) / (900 * c.eta0)
    assert (
        notes[experiment.PANELS[2]] == f"Prop. 1 claims ≥ −{far - 1:.0f}\nat the end: off the axis"
    )
    power = float(bounds.log_thm_1_direction(c, math.log(900))) / math.log(10)
    assert f"$10^{{{power:.0f}}}$" in notes[experiment.PANELS[3]]


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
