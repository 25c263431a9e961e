"""Lemma 7, its inside and the sketch, by hand, by independent numbers, with planted errors."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from every_check import assert_sound, known
from measured import equal_run, with_rows

from ntpbook.huang2024.s5_lemma_7 import checks, inside
from ntpbook.huang2024.s5_stage2_lemmas import instances
from ntpbook.shared import enclosed, rare
from ntpcore.huang2024 import bounds, training
from ntpcore.huang2024.runs import Run
from ntpcore.verdicts.claims import Verdict
from ntpcore.verdicts.compare import NotANumberError

SMALL = {"seed": 5, "sets": 2, "steps": 1500}

VERDICTS = {
    "ours_hidden_sentence": Verdict.PROVED,
    "huang2024_lem_7": Verdict.REFUTED,
    "huang2024_lem_7_corrected": Verdict.PROVED,
    "huang2024_app_violated_sample": Verdict.REFUTED,
    "huang2024_app_violated_sample_corrected": Verdict.PROVED,
    "huang2024_app_sketch_3": Verdict.PROVED,
}


@pytest.mark.parametrize(("name", "verdict"), VERDICTS.items())
def test_each_check_gives_its_verdict_and_notices_its_planted_errors(name: str, verdict: Verdict):
    check = getattr(checks, f"check_{name}")
    found = assert_sound(check, verdict, **known(check, SMALL))
    if verdict is Verdict.REFUTED:
        assert {one.verdict for one in found.readings} == {Verdict.REFUTED}


@pytest.fixture(scope="module")
def frequent() -> list[Run]:
    """Example 1 and four random data sets at two step sizes."""
    return list(instances.frequent_runs(**SMALL))


# Lemma 7


def test_huang2024_lem_7_by_hand():
    # while the rare column waits, the cosines are -1 and -1/sqrt(2), so alpha must be sqrt(2) - 1
    run = rare.rare_run(3000.0, 500, rare.ETA)
    rows = run.second.rows
    assert rows.cos_star[-1] == pytest.approx(-1 / math.sqrt(2))
    assert rows.needed_alpha[-1] == pytest.approx(math.sqrt(2) - 1)
    # N = 4, L_max = 2, ||W*|| = 1: 4 * 4 * 4 / ||W|| (1 + log(4 ||W||))
    norm = float(rows.norm[-1])
    alpha = checks._alpha(run, 4, bounds.N)[-1]
    assert alpha == pytest.approx(64 / norm * (1 + math.log(4 * norm)))


def test_huang2024_lem_7_agrees_with_the_plain_inequality(frequent):
    """The check fails on a row exactly where the inequality, as the lemma writes it, fails."""
    check = checks.check_huang2024_lem_7
    for run in [*frequent, rare.rare_run(3000.0, 6000, rare.ETA)]:
        rows, c = run.second.rows, run.constants
        late = rows.step >= bounds.lem_7_start(c)
        norm = rows.norm[late]
        alpha = 4 * c.sample_count * (c.max_length * c.norm_kq) ** 2 / norm
        alpha *= 1 + np.log(2 * c.max_length * norm)
        holds = rows.cos_weights[late] >= (1 + alpha) * rows.cos_star[late]
        found = check.judge([run])
        if not late.any():
            assert found.verdict is Verdict.OPEN
        else:
            first = found.readings[0].verdict  # the constant 4
            assert (first is Verdict.REFUTED) == (not holds.all())


def test_huang2024_lem_7_is_not_refuted_where_one_reading_holds():
    found = checks.check_huang2024_lem_7.judge([checks.rarest(4)])
    verdicts = [one.verdict for one in found.readings]
    assert verdicts == [Verdict.REFUTED, Verdict.NOT_CONTRADICTED, Verdict.NOT_CONTRADICTED]
    assert found.verdict is Verdict.NOT_CONTRADICTED


@pytest.mark.parametrize("factor", [0.5, 20.0, 50.0])
def test_huang2024_lem_7_is_defeated_with_any_constant(factor):
    hidden = checks.rarest(factor)
    run = hidden.run()
    rows = run.second.rows
    assert rows.step[-1] >= bounds.lem_7_start(run.constants)
    norm = rows.norm[-1]
    assert rows.needed_alpha[-1] > 2 / 5 > factor * 16 * (1 + math.log(4 * norm)) / norm
    with enclosed.digits(30):
        assert checks.hidden_alpha(hidden, factor) < Fraction(2, 5)
        assert enclosed.lower(hidden.needed_alpha()) > Fraction(2, 5)
        assert float(enclosed.lower(hidden.norm())) <= norm
    # the force of the rare column is at most a hundredth
    _, direction = training.gradient(run.problem, run.second.state.weights, run.second.gap)
    sizes = np.sort([np.linalg.norm(direction[run.problem.column(q)]) for q in (0, 1)])
    assert sizes[0] <= sizes[1] / 100


def test_huang2024_lem_7_and_its_correction_refuse_a_nan(frequent):
    run = frequent[1]
    needed = run.second.rows.needed_alpha.copy()
    needed[-1] = np.nan
    for check in (checks.check_huang2024_lem_7, checks.check_huang2024_lem_7_corrected):
        with pytest.raises(NotANumberError):
            check.judge([with_rows(run, needed_alpha=needed)])


def test_huang2024_lem_7_corrected_by_hand():
    # four equal frequencies: 1/pi_min = N
    printed, corrected = (checks._alpha(equal_run(), 4, one) for one in (bounds.N, bounds.PI_MIN))
    assert printed == pytest.approx(corrected)


def test_huang2024_lem_7_corrected_agrees_with_brute_force_on_its_start(frequent):
    """The step from which alpha_t may be below 1, found by doubling and by the formula."""
    run = frequent[0]
    step = math.exp(checks.log_bites(run))
    c = run.constants

    def alpha(t: float) -> float:
        scale = (c.max_length * c.norm_kq) ** 2 * math.exp(-c.log_pi_min)
        return 4 * scale / (t * c.eta) * (1 + math.log(2 * c.max_length * t * c.eta))

    assert alpha(step * 1.001) < 1 < alpha(step * 0.999)


# The inside of Lemma 7


def test_huang2024_app_violated_sample_by_hand():
    # phi_- of a sentence with the optimal token k times and its rival once is 1 / (1 + k e^d)
    often = instances.repeated_run(100)
    problem, W = often.problem, often.second.state.weights
    assert (problem.norm, often.constants.max_length) == (1.0, 101)
    gaps = W[problem.pairs[:, 0]] - W[problem.pairs[:, 1]]
    found = checks.check_huang2024_app_violated_sample.judge([often])
    rows = often.second.rows
    assert rows.least_gap[-1] == pytest.approx(gaps.min(), rel=1e-12)
    assert rows.norm[-1] == pytest.approx(np.linalg.norm(W), rel=1e-12)
    by_hand = -np.logaddexp(0.0, math.log(100) + rows.least_gap) + rows.norm
    worst = by_hand[rows.step >= bounds.lem_7_start(often.constants)].min()
    assert worst < 0
    assert found.verdict is Verdict.REFUTED
    assert found.numbers["missed"].value == pytest.approx(math.exp(-worst), rel=1e-9)
    left = checks.check_huang2024_app_violated_sample.judge([equal_run()])  # a multiple of W*
    assert left.left_out == {"no step from t_0 on has W apart from W*": 1}


@pytest.mark.parametrize("times", [2, 20])
def test_huang2024_app_violated_sample_enclosed_steps_agree_with_a_run(times):
    sure = instances.certain_repeated(times)
    start = math.ceil(8 * (times + 1) / 0.36)
    assert sure.name.endswith(f"step {start}")
    long = instances.repeated_run(times)
    gap = 900 * 0.2 / math.sqrt(2)  # the paper's eta_0 for two tokens
    second = training.run(long.problem, start, 0.36, gap, record=[start])
    rest = -np.logaddexp(0.0, second.rows.least_log_odds[0])
    # each step rounds W by half a digit of its norm, gaps by twice as much; ends are shown rounded
    rounded = start * second.rows.norm[0] * 2**-53 + 1 / enclosed.SHOWN
    assert float(sure.log_rest) == pytest.approx(rest, abs=2 * rounded)
    assert float(sure.log_claimed) == pytest.approx(-second.rows.norm[0], abs=rounded)
    assert sure.log_rest < sure.log_claimed
    assert sure.max_length == times + 1


def test_huang2024_app_violated_sample_corrected_by_hand_and_with_gaps_that_are_too_large():
    # equal frequencies, L = 2, W = c W*: all gaps are r, phi_- = 1 / (1 + e^r)
    rows = equal_run().second.rows
    assert rows.least_gap == pytest.approx(rows.norm)
    assert rows.least_log_odds == pytest.approx(rows.norm)
    check = checks.check_huang2024_app_violated_sample_corrected
    assert check.judge([equal_run()]).verdict is Verdict.PROVED
    found = check.judge([with_rows(equal_run(), least_gap=rows.norm * 1.01)])
    assert (found.verdict, "the gaps" in found.witness) == (Verdict.REFUTED, True)


# The sketch


def test_huang2024_app_sketch_3_refuses_any_alpha_that_does_not_decay(frequent):
    check = checks.check_huang2024_app_sketch_3
    run = frequent[1]  # Example 1, two decades from t_0 on
    norm = run.second.rows.norm
    for size in (1e-6, 1e-3, 0.4):
        constant = with_rows(run, needed_alpha=np.full(len(norm), size))
        assert check.judge([constant]).verdict is Verdict.REFUTED
    with np.errstate(divide="ignore", invalid="ignore"):
        for decay, verdict in (
            (norm**-0.5, Verdict.REFUTED),
            (np.log(norm) ** 2 / norm, Verdict.REFUTED),
            (np.log(norm) / norm, Verdict.PROVED),
            (1 / norm, Verdict.PROVED),
        ):
            found = check.judge([with_rows(run, needed_alpha=decay)])
            assert found.readings[0].verdict is verdict


def test_huang2024_app_sketch_3_by_hand():
    run = rare.rare_run(100.0, 20_000, rare.ETA)
    rows = run.second.rows
    late = rows.step >= 45  # ceil(8 * 2 / 0.36)
    by_hand = np.maximum(rows.needed_alpha[late] * rows.norm[late] / np.log(rows.norm[late]), 0)
    found = checks.check_huang2024_app_sketch_3.judge([run])
    assert found.numbers["most"].value == pytest.approx(by_hand.max())
    short = rare.rare_run(100.0, 4000, rare.ETA)
    left = checks.check_huang2024_app_sketch_3.judge([short]).left_out
    assert left == {"fewer than two decades from t_0 on": 1}


# The inside of Lemma 7's proof


def test_huang2024_app_lem_7_comparison_by_hand():
    # odds of an error on the tokens of the sentence: 2 e^(-A/4) against e^(-A/10), A = 40
    one = inside.pairs_of_samples()[0]
    absent = 2 * math.exp(-20), 3 * math.exp(-22)  # |V| = 5: two and three tokens without mass
    odds = 2 * math.exp(-10) + absent[0], math.exp(-4) + absent[1]
    with enclosed.digits(40):
        found = [float(one.miss(masses).mid) for masses in (one.first, one.second)]
    assert found == pytest.approx([value / (1 + value) for value in odds], rel=1e-12)
    assert sum(one.second) < sum(one.first)
    assert found[0] < found[1]


def test_huang2024_app_lem_7_comparison_is_refuted_and_right_for_one_rival():
    found = assert_sound(inside.check_huang2024_app_lem_7_comparison, Verdict.REFUTED)
    assert "A = 40" in found.witness


def test_huang2024_app_lem_7_weights_by_hand():
    # -1 against 4 * (1/8) * (-1)
    assert Fraction(-1) < 4 * Fraction(1, 8) * Fraction(-1)
    found = assert_sound(inside.check_huang2024_app_lem_7_weights, Verdict.REFUTED)
    assert found.witness.endswith("violated by 1/2")
