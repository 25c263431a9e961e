"""The late phase: steps of the proofs in sympy, inequalities on exact numbers, limits on runs."""

from fractions import Fraction

import numpy as np
import pytest
from mpmath import iv, mp

from ntpbook.huang2024.late_phase import instances as late_phase
from ntpbook.huang2024.late_phase import steps
from ntpbook.huang2024.why_it_turns import instances, model

EDGES = instances.edges()
STARS = ("two pairs, one rare", "one rival a thousand times", "four queries, heavy tails")


@pytest.fixture(autouse=True)
def digits():
    """Sixty digits."""
    with mp.workdps(60):
        yield


def broken(compared):
    """Names of the inequalities that fail."""
    found = list(compared)
    assert found
    return {each.name for each in found if each.slack < 0}


def weights(rng, data, scale):
    """Random weights of this size."""
    return {place: mp.mpf(float(rng.normal())) * mp.mpf(scale) for place in data.star}


# Steps


@pytest.mark.parametrize("step", steps.STEPS, ids=lambda step: step.__name__)
def test_every_line_of_a_step_holds(step):
    lines = step()
    assert lines
    assert [line.name for line in lines if not line.holds] == []


@pytest.mark.parametrize(
    ("step", "planted"),
    [
        (steps.harmonic_by_cauchy, {"power": 1}),
        (steps.harmonic_by_duality, {"sign": 1}),
        (steps.descent_pointwise, {"shift": -1}),
        (steps.descent_by_shape, {"shift": -1}),
        (steps.distance, {"factor": 1}),
        (steps.one_step, {"sign": 1}),
        (steps.certificate, {"sign": 0}),
        (steps.loss_without_frequencies, {"factor": 7}),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_step_with_a_planted_error_has_a_line_that_fails(step, planted):
    assert [line.name for line in step(**planted) if not line.holds]


def test_the_two_exponential_bounds_of_lemma_p_at_their_right_end():
    """1 - r >= e^(-1.2 r) and 1 - 2 r >= e^(-2.8 r) at r = 1/4; equal at 0, concave between."""
    assert 0.75 - iv.exp(iv.mpf(-0.3)) > 0
    assert 0.5 - iv.exp(iv.mpf(-0.7)) > 0
    assert not 0.5 - iv.exp(iv.mpf(-0.65)) > 0  # a smaller constant would not do


# Lemma H


def test_lemma_h_by_hand():
    """Two pairs (0; 1), (0; 2) of one query: S = 2/3, and p = (1/2, 1/2) gives G = 3/2 twice."""
    data = model.Data(3, (model.Sample(1, 0, 1, ((1, 1), (2, 1)), mp.mpf(1)),))
    half = dict.fromkeys(data.pairs, Fraction(1, 2))
    compared = late_phase.harmonic(data, half)
    assert compared.left == compared.right == Fraction(2, 3)
    one = {data.pairs[0]: Fraction(1), data.pairs[1]: Fraction(0)}
    assert late_phase.harmonic(data, one).left == Fraction(1, 2)


def test_lemma_h_holds_in_fractions_and_its_planted_error_does_not():
    rng, planted = np.random.default_rng(1), set()
    for _ in range(400):
        data = instances.random_data(rng)
        p = late_phase.random_distribution(rng, data.pairs)
        assert late_phase.harmonic(data, p).slack >= 0
        planted.add(late_phase.harmonic(data, p, power=2).slack < 0)
    assert True in planted


def test_lemma_h_is_an_equality_at_the_dual_solution():
    data = EDGES["slack pair"]
    # W* = (2/3, 1/2, -1/3, -1/3, -1/2): multipliers 1/3, 1/3 on (0; 2), (0; 3), 1/2 on (1; 4)
    third = Fraction(1, 3)
    dual = {(4, 0, 2): third, (4, 0, 3): third, (4, 1, 4): Fraction(1, 2)}
    p = {e: dual.get(e, Fraction(0)) / data.S for e in data.pairs}
    assert sum(p.values()) == 1
    assert late_phase.harmonic(data, p).slack == 0


# Lemmas D, N, P


def test_lemmas_d_and_n_hold_at_random_points_up_to_the_largest_step_size():
    rng, planted = np.random.default_rng(2), set()
    for _ in range(150):
        data = instances.random_data(rng)
        late = late_phase.Late(data)
        y, v = (late.split(weights(rng, data, 10 ** rng.uniform(-6, 2)))[1] for _ in range(2))
        largest = max(late.w, 2 / late.w)
        for eta in (late.w / 100, late.w * mp.mpf("0.7"), largest * mp.mpf("0.999")):
            assert late_phase.descent(late, y, eta).slack >= -(mp.mpf(10) ** -50)
            assert late_phase.distances(late, y, v, eta).slack >= -(mp.mpf(10) ** -50)
            small = late_phase.descent(late, y, eta, better=3)
            planted.add(small.slack < -(mp.mpf(10) ** -50))
    assert planted == {False, True}


def test_the_constant_of_lemma_d_by_hand():
    quarter = mp.mpf(1) / 4
    # S = 1: theta = eta, so (1 - 1/4) / (1 - 1/4 + 1/2) = 3/5 and 1 - 1/8
    assert late_phase.descent_constant(mp.mpf(1), quarter) == 1 - quarter / 2
    # S = 4, eta = 1: theta = 1/2, (1/2) / (1/2 + 4) = 1/9 against 1 - 1 = 0
    assert mp.almosteq(late_phase.descent_constant(mp.mpf(4), mp.mpf(1)), mp.mpf(1) / 9)
    # it is positive up to max(w, 2 / w) and no further: w = 2 here
    assert late_phase.descent_constant(mp.mpf(4), mp.mpf("1.999")) > 0
    assert late_phase.descent_constant(mp.mpf(4), mp.mpf("2.001")) <= 0


def test_a_step_of_the_model_is_a_step_of_the_loss_at_late_times():
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


def late_state(rng, data):
    """A state far along W*."""
    far, near = 10 ** rng.uniform(0.5, 2), weights(rng, data, rng.uniform(0, 1))
    return {place: far * model.as_real(data.star[place]) + near[place] for place in near}


def test_lemma_p_holds_and_needs_its_constant():
    rng, seen, planted = np.random.default_rng(3), set(), set()
    for _ in range(150):
        data, A = instances.random_data(rng), mp.mpf(10 ** rng.uniform(-2, 2.5))
        W = late_state(rng, data)
        if max(late_phase.attention(data, W)) <= mp.mpf(1) / 4:
            compared = list(late_phase.perturbation(data, W, A))
            seen |= {each.name for each in compared}
            assert not broken(compared)
            planted |= broken(late_phase.perturbation(data, W, A, three=1.5))
    assert seen == {"force", "step"}
    assert planted == {"force"}


def test_lemma_p_refuses_early_states():
    data = EDGES["idle pair"]
    with pytest.raises(ValueError, match="at most 1/4"):
        list(late_phase.perturbation(data, data.zero, mp.mpf(1)))


def test_the_loss_lies_between_its_bounds_and_the_planted_one_does_not():
    rng, planted = np.random.default_rng(4), set()
    for _ in range(300):
        data, A = instances.random_data(rng), mp.mpf(10 ** rng.uniform(-2, 2.5))
        W = weights(rng, data, 10 ** rng.uniform(-2, 1.5))
        assert not broken(late_phase.loss_excess(data, W, A))
        planted |= broken(late_phase.loss_excess(data, W, A, two=0.9))
    assert planted == {"excess from above"}


def test_the_excess_without_cancellation_is_the_difference_of_losses():
    data, A = EDGES["two optimal tokens"], mp.mpf(5)
    W = weights(np.random.default_rng(0), data, 1)
    floor = late_phase.one_hot(data, A)[0]
    pairs = zip(late_phase.losses(data, W, A), late_phase.excesses(data, W, A), strict=True)
    assert all(abs(loss - floor - excess) < mp.mpf(10) ** -50 for loss, excess in pairs)


# Theorems C, E, F on runs


@pytest.mark.parametrize("name", STARS)
@pytest.mark.parametrize("part", [0.5, 1.6])
def test_the_residual_the_rate_and_the_loss_converge_as_stated(name, part):
    """To W_hat, R, half of ||R||^2 with its next term, and the constant of the loss."""
    data, A, steps = EDGES[name], mp.mpf(3), 700
    late = late_phase.Late(data)
    eta = late.w * mp.mpf(part)
    *_, W = model.run(data, A, eta, steps)
    x, y = late.split(W)
    t = steps * eta
    lag, size = t - x, mp.sqrt(model.inner(late.R, late.R))
    apart = {place: y[place] - late.R[place] for place in y}
    assert mp.sqrt(model.inner(apart, apart)) < mp.mpf(10) ** -15
    rate = t**2 * late_phase.one_minus_cos(late, W)
    next_term = 1 + 2 * lag / t
    assert abs(rate / (size**2 / 2) - next_term) < 3 * ((size + lag) / t) ** 2
    h_star = late_phase.one_hot(data, A)[2]
    excess = mp.fsum(
        n.pi * each for n, each in zip(data.samples, late_phase.excesses(data, W, A), strict=True)
    )
    constant = A * h_star * mp.exp(late.F(late.R) + lag / late.w)
    assert abs(mp.exp(t / late.w) * excess / constant - 1) < mp.mpf(10) ** -15


def test_a_residual_of_length_0_makes_the_rate_exponential():
    data = late_phase.without_residual()
    late = late_phase.Late(data)
    assert max(abs(value) for value in late.R.values()) < mp.mpf(10) ** -50
    runs = enumerate(model.run(data, mp.mpf(3), late.w / 2, 60), start=1)
    sizes = {t: late_phase.one_minus_cos(late, W) for t, W in runs}
    assert sizes[60] < sizes[30] * mp.mpf(10) ** -6


@pytest.mark.parametrize("part", [0.5, 1.7])
def test_the_certificate_bounds_all_later_steps(part):
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


def test_no_certificate_from_an_early_state():
    data = EDGES["two pairs, one rare"]
    (W,) = model.run(data, 3, 0.3, 1)
    assert late_phase.certify(data, W, 1, mp.mpf(3), mp.mpf("0.3"), mp.mpf(1)) is None


@pytest.mark.parametrize("name", STARS)
def test_the_residual_stays_bounded_for_any_step_size(name):
    """Theorem C0 with kappa_0 >= min p* / 2 and min p* = 1 / (S (1 + max m))."""
    data = EDGES[name]
    late = late_phase.Late(data)
    most = max(len([e for e in data.pairs if e[0] == query]) for query, _, _ in data.pairs)
    least = 1 / (late.S * (1 + most))
    for part in (2.5, 20):
        eta = late.w * mp.mpf(part)
        delta = (mp.log(1 / least) + eta / mp.sqrt(2)) / (least / 2) + eta
        *_, W = model.run(data, mp.mpf(3), eta, 150)
        y = late.split(W)[1]
        apart = {place: y[place] - late.R[place] for place in y}
        assert mp.sqrt(model.inner(apart, apart)) <= delta


# Theorem D


def test_an_idle_pair_makes_the_residual_a_logarithm():
    """a > c, a > d, b > d: v* = (1, -1, 1, -1) / 2 in the order a, b, c, d."""
    data = EDGES["idle pair"]
    late, half = late_phase.Late(data), mp.mpf(1) / 2
    v = {(3, 0): half, (3, 1): -half, (3, 2): half, (3, 3): -half}
    parts = {}
    with mp.workdps(25):
        for t, W in enumerate(model.run(data, mp.mpf(3), half, 2048), start=1):
            if t in (512, 2048):
                y = late.split(W)[1]
                parts[t] = model.inner(y, v)
                assert model.inner(y, y) - parts[t] ** 2 < 1e-9  # nothing beside v*
    slope = (parts[2048] - parts[512]) / mp.log(4)
    assert abs(slope - 1) < 0.02  # a logarithm with coefficient 1; half of it would be a power
    assert late_phase.margin((3, 0, 3), v) == 1  # the idle pair, feasible and shortest


# Theorem G and equation (4)


def test_what_moves_has_small_margins_while_the_loss_is_large():
    rng, tried = np.random.default_rng(6), 0
    for _ in range(400):
        data, A = instances.random_data(rng), mp.mpf(10 ** rng.uniform(-1, 2.5))
        compared = list(late_phase.slow_loss(data, instances.random_state(rng, data), A))
        tried += len(compared)
        assert all(each.slack >= 0 for each in compared)
    assert tried > 100


def test_the_loss_does_not_wait_for_rare_sentences():
    rare = [EDGES["two pairs, one rare"], EDGES["four queries, heavy tails"]]
    assert not broken(late_phase.loss_after(data, mp.mpf(40), mp.mpf(300)) for data in rare)
    planted = {
        late_phase.loss_after(data, mp.mpf(40), mp.mpf(300), power=1.5).slack < 0 for data in rare
    }
    assert True in planted


def test_equation_4_needs_small_steps_at_t_1():
    assert late_phase.equation_4_after_one_step(0.36).slack > 0  # eta <= w / e
    assert late_phase.equation_4_after_one_step(50).slack < 0


# The size of R


def test_the_size_of_the_residual_needs_one_optimal_token():
    for name in ("two pairs, one rare", "one rival a thousand times"):
        assert late_phase.size_of_the_residual(EDGES[name], 300).slack > 0
    long = late_phase.long_column(1000)
    late = late_phase.Late(long)
    assert Fraction(6, 5) == long.S
    assert late.all_tight
    compared = late_phase.size_of_the_residual(long, 300)
    assert compared.slack < 0
    assert abs(compared.left - 10.937) < 1e-3
