"""The late phase: steps of the proofs in sympy, inequalities on exact numbers, limits on runs."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

from ntpbook.ours.late_phase import (
    checks,
    float_error,
    instances,
    second_derivations,
)
from ntpbook.ours.late_phase import model as late_phase
from ntpbook.shared import enclosure, small_data
from ntpbook.shared import plain_stage2 as model
from ntpbook.shared.enclosed_setting import example_1_setting
from ntpverdicts.claims import Verdict

EDGES = small_data.edges()


@pytest.fixture(autouse=True)
def sixty_digits():
    """Sixty digits."""
    with mp.workdps(60):
        yield


# Lemmas H, D, P


def test_ours_harmonic_by_hand():
    """Two pairs (0; 1), (0; 2) of one query: S = 2/3, and p = (1/2, 1/2) gives G = 3/2 twice."""
    data = model.Data(3, (model.Sample(1, 0, 1, ((1, 1), (2, 1)), mp.mpf(1)),))
    half = dict.fromkeys(data.pairs, Fraction(1, 2))
    one = instances.Distribution("by hand", data, half)
    found = checks.check_ours_harmonic.judge([one])
    assert found.numbers["equalities"].value == 1
    assert data.S == Fraction(2, 3) == Fraction(1, 2) / Fraction(3, 2) * 2
    alone = dict(zip(data.pairs, (Fraction(1), Fraction(0)), strict=True))
    other = instances.Distribution("", data, alone)
    assert checks.check_ours_harmonic.judge([other]).numbers["equalities"].value == 0


def test_ours_descent_pointwise_by_hand_at_both_ends():
    # S = 1, t = 1/2: c = (1/2) / (3/2) = 1/3; at z = 1 both sides are 2/3, else -2/3 and -5/6
    c, t = Fraction(1, 3), Fraction(1, 2)
    for z, left, right in (
        (1, Fraction(2, 3), Fraction(2, 3)),
        (-t, -Fraction(2, 3), -Fraction(5, 6)),
    ):
        assert z / (1 + t * z) == left
        assert c * z + (1 - c) * Fraction(z) / (1 + z) == right
        found = checks.check_ours_descent_pointwise.judge(
            [instances.Triple(Fraction(z), t, Fraction(1))]
        )
        assert found.verdict is Verdict.PROVED
        assert found.numbers["equalities"].value == int(left == right)


def test_ours_descent_constant_by_hand():
    quarter = mp.mpf(1) / 4
    # S = 1: theta = eta, so (1 - 1/4) / (1 - 1/4 + 1/2) = 3/5 and 1 - 1/8
    assert late_phase.descent_constant(mp.mpf(1), quarter) == 1 - quarter / 2
    # S = 4, eta = 1: theta = 1/2, (1/2) / (1/2 + 4) = 1/9 against 1 - 1 = 0
    assert mp.almosteq(late_phase.descent_constant(mp.mpf(4), mp.mpf(1)), mp.mpf(1) / 9)
    # it is positive up to max(w, 2 / w) and no further: w = 2 here
    assert late_phase.descent_constant(mp.mpf(4), mp.mpf("1.999")) > 0
    assert late_phase.descent_constant(mp.mpf(4), mp.mpf("2.001")) <= 0


def test_ours_perturbation_a_step_of_the_model_is_a_step_of_the_loss_at_late_times():
    """Far along W* the direction of the gradient is that of the exponential model."""
    data = EDGES["four queries, heavy tails"]
    late = late_phase.Late(data)
    W = {place: 200 * model.as_real(score) for place, score in data.star.items()}
    G = model.gradient(data, model.forces(data, W, mp.mpf(3)))
    x, y = late.split({p: value / mp.sqrt(model.inner(G, G)) for p, value in G.items()})
    new, s, D = late.step(late.split(W)[1], 1)
    assert max(abs(new[place] - y[place]) for place in y) < mp.mpf(10) ** -50
    assert abs(x - s / late.w) < mp.mpf(10) ** -50  # a = gamma / ||g|| = gamma s / eta
    assert abs(1 / s**2 - 1 / late.S - D) < mp.mpf(10) ** -50


def test_ours_perturbation_the_excess_without_cancellation_is_the_difference_of_losses():
    data, A = EDGES["two optimal tokens"], mp.mpf(5)
    W = instances.random_weights(np.random.default_rng(0), data, 1)
    floor = late_phase.one_hot(data, A)[0]
    pairs = zip(late_phase.losses(data, W, A), late_phase.excesses(data, W, A), strict=True)
    assert all(abs(loss - floor - excess) < mp.mpf(10) ** -50 for loss, excess in pairs)


def test_ours_perturbation_bounds_the_loss_at_any_state():
    """(14) needs no late state."""
    rng = np.random.default_rng(4)
    for _ in range(100):
        data, A = small_data.random_data(rng), mp.mpf(10 ** rng.uniform(-2, 2.5))
        W = instances.random_weights(rng, data, 10 ** rng.uniform(-2, 1.5))
        missed = late_phase.attention(data, W)
        mean = mp.fsum(n.pi * r for n, r in zip(data.samples, missed, strict=True))
        excess = checks.mean_loss(data, W, A) - late_phase.one_hot(data, A)[0]  # shares sum to 1
        wrong = late_phase.one_hot(data, A)[1]
        assert wrong * A * mean * (1 - mp.mpf(10) ** -20) <= excess <= 2 * A * mean


# Theorems C, C0, D


def test_ours_sharp_rate_finds_the_residual_of_example_1_by_hand():
    """Margins log 2 with one rival, log 3 and log 6 with the rivals S and V, up to a constant."""
    late = late_phase.Late(small_data.example_1())
    u = {0: [mp.log(2)], 1: [mp.log(2)], 3: [mp.log(2)], 2: [mp.log(3), mp.log(6)]}
    places = {0: (0, (3,)), 1: (1, (0,)), 3: (2, (3,)), 2: (2, (0, 1))}
    R = {}
    for q, (o, rivals) in places.items():
        top = mp.fsum(u[q]) / (1 + len(rivals))
        R[q, o] = top
        R |= {(q, j): top - value for j, value in zip(rivals, u[q], strict=True)}
    by_hand = late.split(R)[1]
    assert max(abs(by_hand[place] - late.R[place]) for place in by_hand) < mp.mpf(10) ** -50


def test_ours_sharp_rate_is_exponential_where_the_residual_is_zero():
    """Two queries with one and two rivals, shares .6 and .4: all C_e (1 + m) agree."""
    pi = mp.mpf(6) / 10, mp.mpf(4) / 10
    one = model.Sample(0, 0, 1, ((1, 1),), pi[0])
    data = model.Data(4, (one, model.Sample(2, 2, 1, ((1, 1), (3, 1)), pi[1])))
    late = late_phase.Late(data)
    assert max(abs(value) for value in late.R.values()) < mp.mpf(10) ** -50
    runs = enumerate(model.run(data, mp.mpf(3), late.w / 2, 60), start=1)
    sizes = {t: late_phase.one_minus_cos(late, W) for t, W in runs}
    assert sizes[60] < sizes[30] * mp.mpf(10) ** -6


def test_ours_bounded_residual_swings_at_huge_steps():
    """At 20 ||W*|| the residual does not settle, and does not grow."""
    run = instances.huge_steps()[-1]
    (_, W) = run.states[-1]
    assert checks.distance(run.late, W, run.late.R) > 1
    assert run.longest < 20 * run.eta


def test_ours_logarithm_law_has_the_shortest_feasible_direction():
    """a > c, a > d, b > d: v* = (1, -1, 1, -1) / 2 in the order a, b, c, d."""
    data = EDGES["idle pair"]
    v = instances.idle_direction()
    assert late_phase.margin((3, 0, 3), v) == 1  # the idle pair
    assert late_phase.margin((3, 0, 2), v) == late_phase.margin((3, 1, 3), v) == 0
    assert model.inner(data.star, v) == 0


def test_ours_logarithm_law_has_the_next_term_of_the_path():
    """2 e^q / K is s - log s + c, K^2 the ratio of the shares; a step of Euler adds eta^2 / 2s."""
    for run, K in zip(instances.with_an_idle_pair(), (1, 3, 1), strict=True):
        v = instances.idle_direction()
        first, second = (
            2 * mp.exp(model.inner(run.late.split(W)[1], v)) / K for _, W in run.states[1:]
        )
        s = 512 * run.eta
        grown = s - (1 - run.eta / 2) * mp.log(2)
        assert abs(second - first - grown) < mp.log(s) / s


# Theorem E


@pytest.mark.parametrize("part", [0.5, 1.7])
def test_ours_certificate_in_high_precision_bounds_all_later_steps(part):
    data, A = EDGES["two pairs, one rare"], mp.mpf(3)
    late = late_phase.Late(data)
    eta, found, planted = late.w * mp.mpf(part), [], 0
    for t, W in enumerate(model.run(data, A, eta, 300), start=1):
        measured = late_phase.one_minus_cos(late, W)
        for certificate in found:
            low, high = certificate.bounds(t)
            assert low <= measured <= high
            assert t * eta - certificate.lag <= late.split(W)[0] <= t * eta
            tighter = late_phase.Certificate(
                certificate.step, certificate.least, certificate.reach, certificate.lag, eta
            )
            planted += not tighter.bounds(t)[0] <= measured <= tighter.bounds(t)[1]
        if t in (50, 100, 200):
            made = late_phase.certify(data, W, t, A, eta, mp.mpf("0.1"))
            found += [made] if made else []
    assert found
    assert planted


def test_ours_certificate_is_refused_at_an_early_state():
    data = EDGES["two pairs, one rare"]
    (W,) = model.run(data, 3, 0.3, 1)
    assert late_phase.certify(data, W, 1, mp.mpf(3), mp.mpf("0.3"), mp.mpf(1)) is None
    (early,) = enclosure.enclose(example_1_setting(), 100, (100,))
    assert enclosure.certify(early, Fraction(1, 100)) is None


# Theorems F and G, equation (4)


def test_ours_loss_law_of_one_pair_by_hand():
    """S = 1/2, w = 1 / sqrt(2), R = 0 and xi = 0: the loss falls like A h* e^{-sqrt(2) eta t}."""
    data, A, eta = EDGES["one pair"], mp.mpf(3), mp.mpf(1)
    *_, W = model.run(data, A, eta, 40)
    excess = late_phase.excesses(data, W, A)[0]
    wrong = 1 / (mp.exp(A) + 1)  # |V| = 2, and h* is twice that
    assert abs(mp.exp(mp.sqrt(2) * 40) * excess / (A * 2 * wrong) - 1) < mp.mpf(10) ** -20


def test_ours_loss_law_least_value_with_an_idle_pair_by_hand():
    # a > c and b > d with the margins log 3 and -log 3: .9/3 + .1 * 3 = .6; a > d drops out
    late = instances.with_an_idle_pair()[1].late
    half, far = mp.log(3) / 2, mp.mpf(40)
    y = {(3, 0): half, (3, 1): -half, (3, 2): -half, (3, 3): half}
    y = {place: y[place] + far * v for place, v in instances.idle_direction().items()}
    assert abs(late.F(y) - mp.log(mp.mpf("0.6"))) < 1e-15
    assert abs(checks.least_value(late) - mp.log(mp.mpf("0.6"))) < 1e-20


def test_ours_loss_law_of_a_run_whose_clock_is_off_by_a_step_is_refuted():
    run, idle = instances.converging()[0], instances.with_an_idle_pair()[0]
    (early, W), last = run.states
    late = replace(run, states=((early + 1, W), last))  # xi is off by eta
    assert checks.check_ours_loss_law.judge([run, idle]).verdict is Verdict.PROVED
    assert checks.check_ours_loss_law.judge([late, idle]).verdict is Verdict.REFUTED


def test_ours_loss_soon_holds_at_states_with_a_large_loss():
    found = checks.check_ours_loss_soon.judge(instances.soon(9, 200))
    assert found.witness == ""
    assert found.numbers["states"].value > 50


def test_ours_eq_4_printed_needs_small_steps_at_t_1():
    judge = checks.check_ours_eq_4_printed.judge
    assert "t = 1" in judge(instances.a_long_first_step()).witness
    assert judge(instances.first_steps()).witness == ""


def test_ours_rate_large_steps_fails_beyond_twice_the_norm():
    assert all(one.distance > 1e-3 for one in instances.above_the_limit())


SECOND = (
    (second_derivations.step_at_the_limit, 2.0),
    (second_derivations.worst_perturbations, 0.1),
    (second_derivations.least_value_by_duality, 2),
    (second_derivations.beyond_stars, "1/2"),
    (second_derivations.worst_states, 0.03),
)


@pytest.mark.parametrize(("step", "wrong"), SECOND, ids=lambda one: getattr(one, "__name__", ""))
def test_second_derivations_hold_and_fail_with_another_constant(step, wrong):
    found = step()
    assert len(found) >= 3
    assert all(one.holds for one in found)
    assert not all(one.holds for one in step(wrong))


def test_ours_loss_soon_loss_and_force_of_one_sample_are_those_of_plain_numbers():
    """Three rivals of one margin among seven tokens, A = 5."""
    u, A = 0.7, mp.mpf(5)
    data = model.Data(7, (model.Sample(1, 0, 1, ((1, 1), (2, 1), (3, 1)), mp.mpf(1)),))
    W = data.zero | {(1, 0): mp.mpf(u)}
    loss, force = second_derivations._loss_and_force(7, 3, 5.0, u)
    assert loss == pytest.approx(float(late_phase.losses(data, W, A)[0]), rel=1e-12)
    assert force == pytest.approx(float(mp.fsum(model.forces(data, W, A)[0])), rel=1e-12)


def test_the_second_derivative_of_f_at_its_minimiser_is_that_of_differences():
    late = late_phase.Late(instances.star_data()["Example 1"])
    rng = np.random.default_rng(3)
    v = second_derivations._across(late, rng)
    far = mp.mpf(10) ** -15
    ends = [late.F(second_derivations._moved(late.R, v, sign * far)) for sign in (1, -1)]
    by_differences = (ends[0] + ends[1] - 2 * late.F(late.R)) / far**2
    assert (
        abs(model.inner(v, second_derivations.second_derivative(late, v)) - by_differences) < 1e-25
    )


def test_ours_float_runs_ten_steps_of_example_1_in_plain_numbers():
    data = instances.star_data()["Example 1"]
    A = mp.mpf(900) * mp.mpf("0.1") / mp.sqrt(3)
    (*_, last) = model.run(data, A, mp.mpf("0.025"), 10)
    found = late_phase.one_minus_cos(late_phase.Late(data), last)
    state = next(state for state in float_error.in_balls(7, 0) if state.step == 10)
    assert abs(float(enclosure.one_minus_cos(state)) / float(found) - 1) < 1e-14
