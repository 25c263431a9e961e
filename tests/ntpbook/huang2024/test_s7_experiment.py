"""The experiment: Figure 2, what it verifies, and the steps from which bounds say something."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ntpbook.huang2024.s7_experiment import checks, experiment, figures, first_useful_step
from ntpcore.data import generate
from ntpcore.huang2024 import bounds, stage1
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import NotANumberError
from ntpverdicts.maths import plain


@pytest.fixture(scope="module")
def both() -> list[experiment.Both]:
    """The experiment on two seeds of each kind."""
    return list(experiment.both_kinds(7, 2))


def with_rows(one: experiment.Both, **columns: object) -> experiment.Both:
    """A run with other measurements of stage 2."""
    return experiment.with_rows(one, replace(one.run.second.rows, **columns))


@pytest.mark.parametrize("name", ["huang2024_fig_2", "huang2024_app_verifies"])
@pytest.mark.parametrize("broken", [experiment.backwards, experiment.stalled, experiment.slow_norm])
def test_each_broken_trajectory_is_noticed_on_each_of_some_seeds(name, broken) -> None:
    for seed in (7, 8, 9):
        found = getattr(checks, f"check_{name}").judge(broken(seed))
        assert found.verdict is Verdict.NOT_SEEN


def test_a_number_that_is_none_is_an_error_and_no_sight(both) -> None:
    angle = changed(both[0].run.second.rows.one_minus_cos, 9, math.nan)
    with pytest.raises(NotANumberError):
        checks.check_huang2024_fig_2.judge([with_rows(both[0], one_minus_cos=angle)])


def changed(values: np.ndarray, place: int, value: float) -> np.ndarray:
    """The same measurements but for one."""
    other = values.copy()
    other[place] = value
    return other


# Figure 2


def test_huang2024_fig_2_stage_1_follows_the_exact_law(both) -> None:
    first, c = both[0].first, both[0].run.constants
    expected = [stage1.log_loss(20, int(step), c.eta0) for step in first.step]
    # where the loss passes through 1, its logarithm is as far off as the loss is relatively
    assert first.log_loss == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_huang2024_fig_2_straightness_agrees_with_the_correlation() -> None:
    rng = np.random.default_rng(7)
    steps = np.arange(50)
    values = 0.3 * steps + rng.normal(size=50)
    expected = np.corrcoef(steps, values)[0, 1] ** 2
    assert checks.straightness(steps, values) == pytest.approx(expected)
    # of t on [0, 1], sqrt(t) has the covariance 1/15 and the variance 1/18: R^2 = 24/25
    even = np.arange(100_000)
    assert checks.straightness(even, np.sqrt(even)) == pytest.approx(24 / 25, rel=1e-4)


def test_huang2024_fig_2_names_the_panel_that_is_wrong(both) -> None:
    """One measurement of one panel is planted wrong at a time."""
    one = both[0]
    first, rows = one.first, one.run.second.rows
    loss, excess, angle = first.log_loss, rows.log_excess, rows.one_minus_cos
    judge = checks.check_huang2024_fig_2.judge

    def told(stage_1: dict[str, object], stage_2: dict[str, object]) -> str:
        planted = with_rows(replace(one, first=replace(first, **stage_1)), **stage_2)
        return judge([planted]).witness

    assert told({}, {}) == ""
    assert "loss of stage 1, step" in told({"log_loss": changed(loss, 5, loss[4] + 0.01)}, {})
    assert "loss of stage 1, step" in told({"log_loss": changed(loss, 5, loss[4])}, {})
    high = np.linspace(loss[0], loss[0] + math.log(0.011), len(loss))
    assert "loss of stage 1 at the end" in told({"log_loss": high}, {})
    low = np.linspace(loss[0], loss[0] + math.log(0.009), len(loss))
    assert told({"log_loss": low}, {}) == ""
    turned = changed(first.one_minus_cos, 7, 1e-11)
    assert "$1 - \\cos$ of stage 1" in told({"one_minus_cos": turned}, {})
    longer = changed(first.norm, 7, first.norm[7] * (1 + 1e-11))
    assert "norm of stage 1, step" in told({"norm": longer}, {})
    assert "loss of stage 2" in told({}, {"log_excess": changed(excess, 9, excess[8] + 0.01)})
    for wrong in (changed(angle, 9, angle[8] + 0.01), np.linspace(0.9, 0.11, len(angle))):
        assert "$1 - \\cos$ of stage 2" in told({}, {"one_minus_cos": wrong})
    assert "deviation of the norm of stage 2 from a straight line" in told(
        {}, {"norm": np.sqrt(rows.step)}
    )


def test_huang2024_fig_2_numbers_are_those_of_the_worst_run(both) -> None:
    numbers = {
        name: one.value for name, one in checks.check_huang2024_fig_2.judge(both).numbers.items()
    }
    rows = [one.run.second.rows for one in both]
    assert numbers["angle_most"] == max(one.one_minus_cos[-1] for one in rows)
    left = max(one.log_excess[-1] - one.log_excess[0] for one in rows)
    assert numbers["share"] == pytest.approx(100 * math.exp(left))
    speeds = [one.norm[-1] / (900 * 0.05 / math.sqrt(20)) for one in rows]
    ends = numbers["speed_least"], numbers["speed_most"]
    assert ends == pytest.approx((min(speeds), max(speeds)))


def test_huang2024_fig_2_limits_are_the_bounds_of_the_first_run(both) -> None:
    limits, notes = figures.panel_limits(both[:1])
    c, steps = both[0].run.constants, both[0].first.step[1:].astype(float)
    (_, decay, _, _), (_, right, _, _), (_, floor, _, _) = (
        *limits[figures.PANELS[0]],
        *limits[figures.PANELS[1]],
    )
    start = math.exp(both[0].first.log_loss[1])
    assert decay == pytest.approx(start * np.exp(-bounds.prop_1_loss_rate(c) * steps))
    assert right == pytest.approx(np.exp(bounds.log_eq_4_loss(c, steps)))
    assert floor == pytest.approx(np.full(len(steps), bounds.loss_floor(c)))
    for place, both_sides in ((4, bounds.prop_1_norm), (5, bounds.thm_1_norm)):
        (_, below, *_), (_, above, *_) = limits[figures.PANELS[place]]
        assert below == pytest.approx(both_sides(c, steps)[0])
        assert above == pytest.approx(both_sides(c, steps)[1])
    # 1 - cos at step 900: 12 19^1.5 log 40 log 900 / (900 eta0), by Proposition 1
    far = 12 * 19**1.5 * math.log(40) * math.log(900) / (900 * c.eta0)
    assert notes[figures.PANELS[2]] == f"Prop. 1 claims ≥ −{far - 1:.0f}\nat the end: off the axis"
    power = float(bounds.log_thm_1_direction(c, math.log(900))) / math.log(10)
    assert f"$10^{{{power:.0f}}}$" in notes[figures.PANELS[3]]


def test_huang2024_fig_2_panels_hold_all_runs(both) -> None:
    shown = figures.panel_values(both)
    limits, notes = figures.panel_limits(both)
    assert tuple(shown) == figures.PANELS
    assert {values.shape[0] for _, values in shown.values()} == {len(both)}
    assert set(limits) | set(notes) == set(figures.PANELS)


# From when the bounds say something


def test_ours_bites_proposition_1_by_hand(both) -> None:
    # 12 19^1.5 log 40 log t / (t eta0) falls below 1
    t = math.exp(first_useful_step.log_bites([both[0].run])["prop_1"][0])
    eta0 = both[0].run.constants.eta0
    assert 12 * 19**1.5 * math.log(40) * math.log(t) / (t * eta0) == pytest.approx(1)


def test_ours_bites_theorem_1_by_plain_search(both) -> None:
    run = both[0].run
    c = run.constants
    fixed = 54 * c.sample_count * c.max_length**4 * c.norm_kq**4 / c.eta
    norms_alone = 1 - 1 / (math.sqrt(2) * c.norm_kq)
    t = 1e3
    while fixed * math.log(t) ** 2 / t >= norms_alone:
        t *= 1.001
    assert first_useful_step.log_bites([run])["thm_1"][0] == pytest.approx(math.log(t), abs=0.002)


def test_ours_bites_equation_4_by_hand(both) -> None:
    # |V| e^(-T C_0) < log |V| from T C_0 > log(20 / log 20) on, C_0 = eta_0 / (4 19)
    T = math.exp(first_useful_step.log_bites([both[0].run])["eq_4_T"][0])
    needed = math.log(20 / math.log(20)) * 4 * 19 / (0.2 / math.sqrt(20))
    assert needed < T <= needed + 1


def test_ours_bites_asks_for_more_steps_than_were_made(both) -> None:
    first = math.exp(min(first_useful_step.log_bites([both[0].run])["eq_4_T"]))
    judge = checks.check_ours_bites.judge
    assert judge(both[:1], steps=round(first) - 1).verdict is Verdict.SEEN
    enough = judge(both[:1], steps=round(first))
    assert enough.verdict is Verdict.NOT_SEEN
    assert "Equation (4) below log |V|, for any t" in plain(enough.witness)
    assert checks.check_ours_bites.judge([]).verdict is Verdict.UNDECIDED
    table = first_useful_step.bite_table([one.run for one in both])
    assert len(table.rows) == len(first_useful_step.BITES)


# What the figure verifies


def test_huang2024_app_verifies_by_hand_the_room_is_a_quotient(both) -> None:
    one = both[0]
    rows, c = one.run.second.rows, one.run.constants
    log_bound = bounds.log_thm_1_direction(c, math.log(rows.step[-1]))
    assert checks.log_room(one.run) <= log_bound - math.log(rows.one_minus_cos[-1])
    exact = with_rows(one, one_minus_cos=np.full(len(rows.step), 1.0))
    t = rows.step[rows.step >= 2]
    expected = min(bounds.log_thm_1_direction(c, math.log(step)) for step in t)
    assert checks.log_room(exact.run) == pytest.approx(expected)


def test_huang2024_app_verifies_words_but_not_bounds(both) -> None:
    found = checks.check_huang2024_app_verifies.judge(both)
    assert (found.verdict, found.readings[0].verdict) == (Verdict.SEEN, Verdict.NOT_SEEN)
    rooms = []
    for one in both:  # 54 N L^4 ||W*||^4 log^2 t / (t eta), the bound of Theorem 1, by 1 - cos
        rows, c = one.run.second.rows, one.run.constants
        t, apart = rows.step[rows.step >= 2], rows.one_minus_cos[rows.step >= 2]
        fixed = 54 * c.sample_count * (c.max_length * c.norm_kq) ** 4 / (0.05 / math.sqrt(20))
        rooms.append((fixed * np.log(t) ** 2 / t / apart).min())
    assert found.numbers["room"].value == pytest.approx(min(rooms))
    assert found.vacuous.endswith("(Theorem 1)")
    room = math.exp(min(checks.log_room(one.run) for one in both))
    for factor, verdict in ((1.01 * room, Verdict.SEEN), (0.99 * room, Verdict.NOT_SEEN)):
        judged = checks.check_huang2024_app_verifies.judge(
            [min(both, key=lambda one: checks.log_room(one.run))], factor=factor
        )
        assert judged.verdict is verdict


def test_huang2024_app_verifies_notices_each_broken_bound(both) -> None:
    one = both[0]
    rows = one.run.second.rows

    def worst(planted: experiment.Both) -> str:
        said = list(checks.stated_bounds(planted))
        return min(said, key=lambda compared: compared.slack).where

    assert min(said.slack for said in checks.stated_bounds(one)) > -1e-9
    for factor in (1.01, 0.01):
        first = replace(one.first, norm=one.first.norm * factor)
        assert worst(replace(one, first=first)).startswith("Proposition 1, norm")
    turned = replace(one.first, one_minus_cos=one.first.one_minus_cos + 1e9)
    assert worst(replace(one, first=turned)).startswith("Proposition 1, direction")
    for factor in (2, 1e-3):
        assert worst(with_rows(one, norm=rows.norm * factor)).startswith("Theorem 1, norm")
    far = with_rows(one, one_minus_cos=rows.one_minus_cos * 1e30)
    assert worst(far).startswith("Theorem 1, direction")
    lossy = with_rows(one, log_excess=rows.log_excess + 10)
    assert worst(lossy).startswith("equation (4)")


def test_the_answers_to_the_exercises() -> None:
    eta_0 = 1 / (5 * math.sqrt(20))
    losses = [20 * math.log1p(19 * math.exp(-T * eta_0 / math.sqrt(19))) for T in (1027, 1028)]
    assert losses[0] > 0.01 > losses[1]
    size, left = 20, math.log(19 / math.expm1(1 / 2000))
    assert math.ceil(left * math.sqrt(19) * math.sqrt(size) * 5) == 1028
    factors = [math.log(t) ** 2 / t for t in (900, 4.55e6, 4.65e6)]
    assert factors[1] > factors[0] / 1000 > factors[2]
    first = experiment.made(7, prefix_closed=True).first  # a matrix of one direction: t eta_0
    assert np.allclose(first.norm, first.step * generate.experiment(7).eta0, rtol=1e-12)
