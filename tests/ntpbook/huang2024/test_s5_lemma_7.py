"""Lemma 7, its inside and the sketch, by hand, by independent numbers, with planted errors."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from every_check import failure, sound
from flint import ctx
from measured import equal_run, with_rows
from mpmath import mp

from ntpbook.huang2024.s5_lemma_7 import checks, inside_proof
from ntpbook.huang2024.s5_stage2_lemmas import instances
from ntpbook.shared import ends, rare
from ntpbook.shared.in_force import FACTS
from ntpcore.huang2024 import bounds, training
from ntpcore.huang2024.runs import Run
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import NotANumberError
from ntpverdicts.maths import plain

SMALL = {"seed": 5, "sets": 2, "steps": 1500}


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
        if not late.any() or not run.problem.prefix_closed:
            assert found.verdict is Verdict.OPEN
        else:
            assert (found.verdict is Verdict.REFUTED) == (not holds.all())


def test_huang2024_lem_7_hypotheses_are_tested_on_the_witness():
    # the data of the witness meet all of them; before t_0 the check refuses to call it a witness
    hidden = checks.rarest(4)
    found = checks.check_huang2024_lem_7.judge([hidden])
    assert found.verdict is Verdict.REFUTED
    assert found.hypotheses == (inside_proof.LATE, *FACTS)
    early = rare.Hidden(10, hidden.eta, hidden.share)
    with pytest.raises(ValueError, match="breaks the hypothesis 't ≥ t_0'"):
        replace(checks.check_huang2024_lem_7, instances=lambda: [early])()


def test_huang2024_lem_7_holds_shortly_before_and_a_tenth_decides():
    (run,) = checks.just_before()
    norm = float(run.second.rows.norm[-1])
    alpha = 64 / norm * (1 + math.log(4 * norm))  # N = 4, L_max = 2, ||W*|| = 1
    assert math.sqrt(2) - 1 < alpha < 1.1 * (math.sqrt(2) - 1)


@pytest.mark.parametrize("factor", [0.5, 20.0, 50.0])
def test_huang2024_lem_7_is_defeated_with_any_constant(factor):
    hidden = checks.rarest(factor)
    run = hidden.run()
    rows = run.second.rows
    assert rows.step[-1] >= bounds.lem_7_start(run.constants)
    norm = rows.norm[-1]
    assert rows.needed_alpha[-1] > 2 / 5 > factor * 16 * (1 + math.log(4 * norm)) / norm
    with ctx.workdps(30):
        assert checks.hidden_alpha(hidden, factor) < Fraction(2, 5)
        assert ends.lower(hidden.needed_alpha()) > Fraction(2, 5)
        assert float(ends.lower(hidden.norm())) <= norm
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
    # a force is like the odds e^-d / c, c = 1 and c = 2; the margins d grow alike once these are
    # equal, so d_1 = d_2 + log 2, and r^2 = (d_1^2 + d_2^2) / 2
    sure = instances.certain_closed()
    assert (sure.step, sure.start, sure.max_length, sure.apart) == (67, 67, 3, True)
    assert sure.data.prefix_closed
    r = -float(sure.log_claimed)
    assert 8 * 3 / math.sqrt(2) < r <= 67 * 0.36  # Lemma 6, with t_0 eta >= 8 L_max ||W*||^2
    missing = -math.log(2) / 2 + math.log(2) ** 2 / (8 * r)
    assert float(sure.log_rest - sure.log_claimed) == pytest.approx(missing, abs=1e-4)
    left = checks.check_huang2024_app_violated_sample.judge([equal_run()])  # a multiple of W*
    assert left.left_out == {"$W$ is a multiple of $W^*$ at every step from $t_0$ on": 1}


def test_huang2024_app_violated_sample_needs_w_apart_from_the_optimum():
    alike = replace(instances.certain_closed(), apart=False)
    with pytest.raises(ValueError, match="no multiple"):
        replace(checks.check_huang2024_app_violated_sample, instances=lambda: [alike])()


def test_huang2024_app_violated_sample_without_closure_by_hand():
    # phi_- of a sentence with the optimal token k times and its rival once is 1 / (1 + k e^d)
    often = instances.repeated_run(100)
    problem, W = often.problem, often.second.state.weights
    assert (problem.norm, often.constants.max_length) == (1.0, 101)
    assert not problem.prefix_closed
    gaps = W[problem.pairs[:, 0]] - W[problem.pairs[:, 1]]
    rows = often.second.rows
    assert rows.least_gap[-1] == pytest.approx(gaps.min(), rel=1e-12)
    assert rows.norm[-1] == pytest.approx(np.linalg.norm(W), rel=1e-12)
    late = rows.step >= bounds.lem_7_start(often.constants)
    rest = -np.logaddexp(0.0, math.log(100) + rows.least_gap[late])
    assert (rest + rows.norm[late]).max() < math.log(1 / 10)
    place = failure(checks.check_huang2024_app_violated_sample, [often], closed=False)
    assert "the largest log weight" in place


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
    rounded = start * second.rows.norm[0] * 2**-53 + 1 / ends.SHOWN
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
    assert (found.verdict, "the margins" in found.witness) == (Verdict.REFUTED, True)


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
            assert found.verdict is verdict


def test_huang2024_app_sketch_3_by_hand():
    run = rare.rare_run(100.0, 20_000, rare.ETA)
    rows = run.second.rows
    late = rows.step >= 45  # ceil(8 * 2 / 0.36)
    by_hand = np.maximum(rows.needed_alpha[late] * rows.norm[late] / np.log(rows.norm[late]), 0)
    found = checks.check_huang2024_app_sketch_3.judge([run])
    assert found.numbers["most"].value == pytest.approx(by_hand.max())
    short = rare.rare_run(100.0, 4000, rare.ETA)
    left = checks.check_huang2024_app_sketch_3.judge([short]).left_out
    assert left == {"fewer than two decades of steps from $t_0$ on": 1}


# The inside of Lemma 7's proof


def plain_state() -> inside_proof.Stage2State:
    """Two sentences, e^2 apart in frequency, after 100 steps, with a gap of 3."""
    return inside_proof._two_tokens(2.0, 100, 3.0)


def test_inside_lemma_7_terms_by_hand_for_two_tokens():
    # scores d/2 and -d/2, masses m = 1 / (1 + e^-d) and 1 - m, logits A m and A (1 - m)
    state = plain_state()
    r = float(np.linalg.norm(state.weights))
    for one, entry in zip(state.terms(), state.problem.optimal, strict=True):
        d = 2 * abs(float(state.weights[entry]))
        m, wrong = 1 / (1 + math.exp(-d)), 1 / (1 + math.exp(d))
        miss = 1 / (1 + math.exp(3.0 * (m - wrong)))
        assert float(one.plus) == pytest.approx(m)
        assert float(one.miss) == pytest.approx(miss)
        assert float(one.A_t) == pytest.approx(-miss * m * wrong * d)
        assert float(one.A_star) == pytest.approx(-miss * m * wrong * r)
        assert float(one.B_plus_t) == pytest.approx(-miss * wrong * m * d)  # T_j = 1 - T_o
        assert float(one.B_minus_t) == float(one.B_minus_star) == 0.0


def test_inside_lemma_7_terms_add_up_to_the_projections_of_the_gradient():
    """A sum pi (A + B) is <grad L, W>, and with stars r <grad L, W*>, as Lemma 4 says."""
    for state in (*inside_proof.two_rivals(), plain_state()):
        problem = state.problem
        log_norm, direction = training.gradient(problem, state.weights, state.gap)
        shares = np.exp(problem.log_pi)
        terms = state.terms()
        trained = [float(one.A_t + one.B_plus_t + one.B_minus_t) for one in terms]
        ideal = [float(one.A_star + one.B_plus_star + one.B_minus_star) for one in terms]
        for sides, W in (
            (trained, state.weights),
            (ideal, float(state.w / state.s) * problem.W_kq_star),
        ):
            left = state.gap * float(shares @ np.array(sides))
            assert left == pytest.approx(math.exp(log_norm) * float(direction @ W), rel=1e-9)


def test_inside_lemma_7_type_1_ends_where_phi_is_that_small():
    frequent, rare_one = sorted(inside_proof.rare_states()[1].terms(), key=lambda one: one.minus)
    state = inside_proof.rare_states()[1]
    r = float(state.w)  # ||W*|| = 1
    beta_0 = 8 / r * (1 + math.log(4 * r))
    assert float(mp.log(frequent.minus)) < -(1 + beta_0 / 2) * r
    assert not state.type_1(frequent)
    assert state.type_1(rare_one)
    assert float(rare_one.minus) == pytest.approx(0.5)


def holds_and_is_sharp(check):
    """A bound of the proof holds at its nearly tight states, and not with a tenth less room."""
    assert check.judge(inside_proof.edges()).verdict is Verdict.PROVED
    return failure(check, inside_proof.edges(), sharper=1.1)


def test_huang2024_app_lem_7_a_star_is_attained_by_two_tokens():
    assert holds_and_is_sharp(inside_proof.check_huang2024_app_lem_7_a_star)
    state = plain_state()
    for one in state.terms():  # one rival, so that the weighted difference is the one margin
        assert float(one.A_star) == pytest.approx(
            -float(one.miss * one.plus * one.minus * state.w / state.s)
        )


def test_huang2024_app_lem_7_a_t_notices_a_tenth():
    assert holds_and_is_sharp(inside_proof.check_huang2024_app_lem_7_a_t)


def test_huang2024_app_lem_7_b_star_is_the_part_of_the_optimal_token():
    for one in plain_state().terms():
        assert float(one.B_minus_star) == 0.0
        assert float(one.B_plus_star) == pytest.approx(float(one.A_star))  # T_j = 1 - T_o


def test_huang2024_app_lem_7_b_plus_notices_a_tenth():
    assert holds_and_is_sharp(inside_proof.check_huang2024_app_lem_7_b_plus)


def test_huang2024_app_lem_7_type_1_notices_a_tenth():
    assert holds_and_is_sharp(inside_proof.check_huang2024_app_lem_7_type_1)


def test_huang2024_app_lem_7_type_2_by_hand_for_two_tokens():
    state = inside_proof.rare_states()[1]
    r = float(state.w)  # ||W*|| = 1
    beta_0 = 8 / r * (1 + math.log(4 * r))
    with mp.workdps(inside_proof.DIGITS):
        n, n_0 = sorted(state.terms(), key=lambda one: one.minus)
        # A + B_+ of two tokens: 2 (1 - T) m (1 - m) d, where 1 - m = 1 / (1 + e^d)
        d = mp.log(n.plus / n.minus)
        left = -2 * n.miss * n.plus * n.minus * d
        assert float((n.A_t + n.B_plus_t) / left) == pytest.approx(1)
        right = -beta_0 * n_0.miss * n_0.plus * n_0.minus * r
        assert left > right
        found = inside_proof.check_huang2024_app_lem_7_type_2.judge([state])
        assert found.verdict is Verdict.PROVED
        assert found.numbers["most"].value == pytest.approx(float(left / right), rel=1e-6)


def test_huang2024_app_lem_7_b_minus_is_negative_where_counts_differ():
    # b twice and a once: b has more attention and the lower score
    (state,) = inside_proof.two_rivals()
    with mp.workdps(inside_proof.DIGITS):
        assert min(one.B_minus_t / one.size for one in state.terms()) < 0
        assert all(one.B_minus_t >= 0 for one in plain_state().terms())


def test_huang2024_app_lem_7_comparison_by_hand():
    # odds of an error on the tokens of the sentence: 2 e^(-A/4) against e^(-A/10), A = 40
    one = inside_proof.TwoSamples(inside_proof.QUARTERS, (Fraction(9, 20),), Fraction(40), 5)
    absent = 2 * math.exp(-20), 3 * math.exp(-22)  # |V| = 5: two and three tokens without mass
    odds = 2 * math.exp(-10) + absent[0], math.exp(-4) + absent[1]
    with ctx.workdps(40):
        found = [float(one.miss(masses)) for masses in (one.first, one.second)]
    assert found == pytest.approx([value / (1 + value) for value in odds], rel=1e-12)
    assert found[0] < found[1]
    left = inside_proof.check_huang2024_app_lem_7_comparison.judge([one])
    assert left.left_out == {r"$\phi_-$ of $n$ is more than half of that of $n_0$": 1}
    assert failure(inside_proof.check_huang2024_app_lem_7_comparison, [one], share=Fraction(1))


def test_huang2024_app_lem_7_comparison_lists_the_reason_as_printed_as_a_refuted_reading():
    found = sound("huang2024-app-lem-7-comparison")
    (reading,) = found.readings
    assert reading.verdict is Verdict.REFUTED
    assert plain(reading.witness).startswith(
        "non-optimal tokens of mass 1/4, 1/4 in n_0 and 9/20 in n"
    )
    assert found.numbers["types"].value == 2


def test_ours_lem_7_reason_by_hand():
    found = sound("ours-lem-7-reason")
    # the odds by hand: 2 e^(-10) and e^(-4), beside tokens of the vocabulary without mass
    assert found.numbers["together"].value == pytest.approx(2 * math.exp(-10), rel=1e-3)
    assert found.numbers["alone"].value == pytest.approx(1 / (1 + math.exp(4)), abs=1e-4)


def test_huang2024_app_lem_7_weights_by_hand():
    # the rare sample alone is of type 1: -a against N pi (-a), pi below 10^-200
    ((pi, term),) = inside_proof.RARE.terms()
    assert pi < Fraction(1, 10**200)
    # W moves in one column: norm t eta = 108, the rare masses are still 1/2, T is 1/2
    assert float(term) == pytest.approx(-0.5 * 0.25 * 300 * 0.36, abs=1e-6)
    assert term < 4 * pi * term
    found = inside_proof.check_huang2024_app_lem_7_weights.judge([inside_proof.RARE])
    assert found.verdict is Verdict.REFUTED
    both = inside_proof.EQUAL.terms()
    assert [share for share, _ in both] == [Fraction(1, 4)] * 2


def test_huang2024_app_lem_7_weights_before_t_0_is_no_witness():
    early = replace(
        inside_proof.check_huang2024_app_lem_7_weights,
        instances=lambda: [inside_proof.Weighted(200, 20)],
    )
    with pytest.raises(ValueError, match="t ≥ t_0"):
        early()
